/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs by LID.  A directed SMP is passed on by the agent of every switch on its way; a
 * LID-routed one is forwarded like any packet, so that an agent has only its own to do.
 * It travels by the tables that are being written: a switch is programmed so only where
 * the entries on the way, both ways, do not change, and over ACTIVE links (IBA lets SMPs
 * pass in INIT, but not everything that is in use does).
 *
 * Not everything takes them: the first is a Get of a light sweep, where nobody waits for
 * it.  A switch that does not answer one is asked by a directed route again, and, if
 * that was all that was wrong, from then on.
 *
 * O(hops) a route.
 */
#include "core/sweep/internal.h"
#include "lib/bitset.h"

/* Does the switch hold the entry that `tables` says, and will it? */
static bool
is_settled(const struct sweeper *s, const struct plan *tables, fm_sw sw, uint16_t lid)
{
	const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[sw]);

	if (!node_usable(n) || n->lft != LFT_OURS)
		return false;
	if (s->transition != NULL && tables == s->next)
		return transition_keeps(s->transition, sw, lid);
	return !fm_bit_test(n->lft_doubt, lid / TRANSITION_BLOCK_LIDS);
}

static bool
is_active(const struct inventory *inv, uint32_t slot, uint8_t port)
{
	const struct inv_port *p = &inv_node(inv, slot)->ports[port];

	return p->edge == EDGE_LINKED && p->info.port_state == WIRE_PORT_ACTIVE &&
	    inv_node(inv, p->peer)->ports[p->peer_port].info.port_state == WIRE_PORT_ACTIVE;
}

static bool
arrives(const struct sweeper *s, const struct plan *tables, fm_sw sw, uint16_t lid)
{
	const struct fm_fabric *fab = &tables->snap->fab;
	fm_end end = lid <= fab->max_lid ? fab->lid_end[lid] : FM_NONE;

	for (uint32_t n = 0; end != FM_NONE && n < fab->n_switches; n++) {
		uint8_t port = tables->tables->t.lft[sw][lid];
		uint32_t slot = s->inv.switches.item[sw];
		fm_link l;

		if (!is_settled(s, tables, sw, lid))
			return false;
		if (fab->end_sw[end] == sw)
			return fab->end_port[end] == port &&
			    (port == 0 || is_active(&s->inv, slot, port));
		l = fm_link_at(fab, sw, port);
		if (l == FM_NONE || !is_active(&s->inv, slot, port))
			return false;
		sw = fab->link_to[l];
	}
	return false;
}

bool
lid_route(
    const struct sweeper *s, uint32_t slot, const struct plan *tables, struct smp_route *route)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *us;
	uint16_t lid = n->ports[0].lid, ours;
	fm_end end;

	if (tables == NULL || tables->tables == NULL || s->inv.local == INV_NONE || n->n_hops < 2 ||
	    n->no_lid_smps || n->sw_index >= tables->snap->fab.n_switches)
		return false;
	us = &inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port];
	ours = us->lid;
	if (lid == 0 || n->ports[0].info.lid != lid || ours == 0 || us->info.lid != ours ||
	    ours > tables->snap->fab.max_lid)
		return false;
	end = tables->snap->fab.lid_end[ours];
	if (end == FM_NONE || tables->snap->fab.end_sw[end] == FM_NONE ||
	    !arrives(s, tables, tables->snap->fab.end_sw[end], lid) ||
	    !arrives(s, tables, n->sw_index, ours))
		return false;
	route->directed = false;
	route->lid = lid;
	route->n_hops = 0;
	return true;
}

static void
end_trial(struct sweeper *s, enum txn_status status)
{
	if (status == TXN_CANCELLED) {
		s->lid_smps = LID_SMPS_UNTRIED;
	} else if (status == TXN_TIMEOUT) {
		s->lid_smps = LID_SMPS_ARE_LOST;
		log_notice("sweep",
		    "LID-routed SMPs are not answered here: forwarding tables are written by "
		    "directed ones");
	} else {
		s->lid_smps = LID_SMPS_ARRIVE;
	}
}

bool
lid_route_again(struct ask *a, enum txn_status status)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	char name[128];

	if (s->lid_smps == LID_SMPS_ON_TRIAL)
		end_trial(s, status);
	if (status != TXN_TIMEOUT || s->failed || !inv_route(&s->inv, a->node, a->port, &a->route))
		return false;
	if (!n->no_lid_smps && s->lid_smps == LID_SMPS_ARRIVE)
		log_info("sweep", "%s does not answer a LID-routed SMP: asked by directed ones",
		    inv_name(n, name, sizeof(name)));
	n->no_lid_smps = true;
	s->report.by_lid_lost++;
	a->n_tries = 0;
	return true;
}
