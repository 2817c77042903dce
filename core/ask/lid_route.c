/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs by LID.  A directed SMP is passed on by the agent of every switch on its way; a
 * LID-routed one is forwarded like any packet, so that an agent has only its own to do.
 * A mixed one (IBA 14.2.2) goes by LID to the switch before the node and directed from
 * there: for nodes that have no LID yet, or whose tables cannot bring the answer home.
 *
 * Both travel by the tables that are being written.  Invariant: a node is reached by LID
 * only through switches that have told, by the answer to a Set or a Get, that they hold
 * the entries of its LID and of ours, which will not change any more in this sweep.
 *
 * Not everything takes them, and SMPs may pass links in INIT by IBA, but not everything
 * that is in use lets LID-routed ones do so.  So each of three ways is opened by an
 * answer to some Gets for which nobody waits:
 *
 *	WAY_BY_LID	over links that are ACTIVE
 *	WAY_INACTIVE	over others
 *	WAY_MIXED
 *
 * While they are out all goes by directed routes.  All of them may be lost by chance, so what
 * was closed is tried again after 2, 4, 8 .. 1024 sweeps.  A switch is asked one thing by LID
 * before it is asked all; who does not answer, or does not pass mixed ones on, is remembered,
 * if that was all that was wrong.
 *
 * The trials are in lid_trial.c.
 *
 * O(hops) a route, O(1) to a switch that has had one in this sweep.
 */
#include "core/ask/doubt.h"
#include "core/ask/internal.h"
#include "lib/bitset.h"

#define TRIES_MAX 2
#define LOST_ON_END_MAX 8 /* switches, and no answer meanwhile: it is not they */
#define CLOSED_MAX 10	  /* a way is closed for 2^10 sweeps at most */
#define LOST_MAX 16	  /* in one sweep: a switch on the way has lost its tables */

static const struct plan *
tables_of(const struct sweeper *s)
{
	return s->next != NULL ? s->next : s->plan;
}

/* Does the switch hold the entry that `tables` says, and will it? */
static bool
is_settled(const struct sweeper *s, const struct plan *tables, fm_sw sw, uint16_t lid)
{
	const struct inv_node *n = inv_node(&s->inv, s->inv.switches.item[sw]);

	if (!node_usable(n) || n->quiet || n->sw.linear_fdb_top < lid)
		return false;
	if (tables == s->next)
		return s->ways.is_settled(s, n, lid);
	return n->lft == LFT_OURS && !fm_bit_test(n->lft_doubt, lid / TRANSITION_BLOCK_LIDS);
}

static enum road
cable(const struct inventory *inv, uint32_t slot, uint8_t port)
{
	const struct inv_port *p = &inv_node(inv, slot)->ports[port], *far;

	if (p->edge != EDGE_LINKED)
		return ROAD_NONE;
	far = &inv_node(inv, p->peer)->ports[p->peer_port];
	if (!inv_port_up(p) || !inv_port_up(far))
		return ROAD_NONE;
	return p->info.port_state == WIRE_PORT_ACTIVE && far->info.port_state == WIRE_PORT_ACTIVE
	    ? ROAD_ACTIVE
	    : ROAD_INACTIVE;
}

static enum road
worse(enum road a, enum road b)
{
	if (a == ROAD_NONE || b == ROAD_NONE)
		return ROAD_NONE;
	return a > b ? a : b;
}

/* From a switch to whoever has the LID. */
static enum road
road_from(const struct sweeper *s, const struct plan *tables, fm_sw sw, uint16_t lid)
{
	const struct fm_fabric *fab = &tables->snap->fab;
	fm_end end = lid <= fab->max_lid ? fab->lid_end[lid] : FM_NONE;
	enum road road = ROAD_ACTIVE;

	for (uint32_t n = 0; end != FM_NONE && n < fab->n_switches; n++) {
		uint8_t port = tables->tables->t.lft[sw][lid];
		uint32_t slot = s->inv.switches.item[sw];
		fm_link l;

		if (!is_settled(s, tables, sw, lid))
			return ROAD_NONE;
		if (fab->end_sw[end] == sw && fab->end_port[end] != port)
			return ROAD_NONE;
		if (fab->end_sw[end] == sw)
			return port == 0 ? road : worse(road, cable(&s->inv, slot, port));
		l = snapshot_link_at(tables->snap, sw, port);
		road = l == FM_NONE ? ROAD_NONE : worse(road, cable(&s->inv, slot, port));
		if (road == ROAD_NONE)
			return ROAD_NONE;
		sw = fab->link_to[l];
	}
	return ROAD_NONE;
}

/* Our LID, and the switch that we are cabled to; 0 while our port has not got it. */
static uint16_t
our_place(const struct sweeper *s, const struct plan *tables, fm_sw *sw)
{
	const struct inv_port *us;
	fm_end end;

	if (tables == NULL || tables->tables == NULL || s->inv.local == INV_NONE)
		return 0;
	us = &inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port];
	if (us->lid == 0 || us->info.lid != us->lid || us->lid > tables->snap->fab.max_lid)
		return 0;
	end = tables->snap->fab.lid_end[us->lid];
	if (end == FM_NONE || tables->snap->fab.end_sw[end] == FM_NONE)
		return 0;
	*sw = tables->snap->fab.end_sw[end];
	return us->lid;
}

enum road
lid_road_to(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct plan *tables = tables_of(s);
	struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_node *at = inv_is_switch(n) ? n : inv_node(&s->inv, n->ports[port].peer);
	uint16_t lid = n->ports[port].lid, ours;
	enum road road;
	fm_sw from;

	if (inv_is_switch(n) && n->by_lid.epoch == s->ways.epoch)
		return n->by_lid.inactive ? ROAD_INACTIVE : ROAD_ACTIVE;
	ours = our_place(s, tables, &from);
	if (ours == 0 || lid == 0 || n->ports[port].info.lid != lid || !inv_is_switch(at) ||
	    at->sw_index >= tables->snap->fab.n_switches)
		return ROAD_NONE;
	road = worse(road_from(s, tables, from, lid), road_from(s, tables, at->sw_index, ours));
	if (inv_is_switch(n) && road != ROAD_NONE) {
		n->by_lid.epoch = s->ways.epoch;
		n->by_lid.inactive = road == ROAD_INACTIVE;
	}
	return road;
}

bool
lid_road_is_open(const struct sweeper *s, enum road road)
{
	return road != ROAD_NONE && s->ways.way[WAY_BY_LID] == WAY_OPEN &&
	    (road == ROAD_ACTIVE || s->ways.way[WAY_INACTIVE] == WAY_OPEN);
}

void
lid_route_make(struct smp_route *route, uint16_t lid)
{
	route->directed = false;
	route->lid = lid;
	route->n_hops = 0;
	route->max_tries = TRIES_MAX;
}

/* route: the directed one. */
void
lid_route_make_mixed(const struct sweeper *s, struct smp_route *route, uint32_t via)
{
	route->lid = inv_node(&s->inv, via)->ports[0].lid;
	route->slid = inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port].lid;
	route->path[1] = route->path[route->n_hops];
	route->n_hops = 1;
	route->max_tries = TRIES_MAX;
}

static bool
go_by_lid(struct ask *a, struct smp_route *route)
{
	struct sweeper *s = a->s;
	struct inv_node *n = inv_node(&s->inv, a->node);
	unsigned port = inv_is_switch(n) ? 0 : a->port;

	if (n->by_lid.fails || n->by_lid.on_trial ||
	    !lid_road_is_open(s, lid_road_to(s, a->node, port)))
		return false;
	n->by_lid.on_trial = inv_is_switch(n) && !n->by_lid.takes;
	lid_route_make(route, n->ports[port].lid);
	s->report.by_lid.sent++;
	return true;
}

static bool
go_mixed(struct ask *a, struct smp_route *route)
{
	struct sweeper *s = a->s;
	uint32_t via;

	if (s->ways.way[WAY_MIXED] != WAY_OPEN || route->n_hops <= NEAR_HOPS)
		return false;
	via = inv_before(&s->inv, a->node, a->port);
	if (via == INV_NONE || inv_node(&s->inv, via)->by_lid.mixed_fails ||
	    inv_node(&s->inv, via)->by_lid.fails || !lid_road_is_open(s, lid_road_to(s, via, 0)))
		return false;
	lid_route_make_mixed(s, route, via);
	a->via = via;
	s->report.by_lid.mixed++;
	return true;
}

void
lid_route_choose(struct ask *a, struct smp_route *route)
{
	struct sweeper *s = a->s;

	if (!s->set.sweep.lid_routed_smps || s->set.dry_run || s->run.phase < PHASE_TABLES ||
	    route->n_hops < NEAR_HOPS || s->ways.way[WAY_BY_LID] != WAY_OPEN ||
	    s->report.by_lid.lost + s->report.by_lid.mixed_lost >= LOST_MAX)
		return;
	/* hosts: mixed first, for they get their LIDs on the way */
	if (inv_is_switch(inv_node(&s->inv, a->node)))
		(void)(go_by_lid(a, route) || go_mixed(a, route));
	else
		(void)(go_mixed(a, route) || go_by_lid(a, route));
}

void
lid_route_close(struct sweeper *s, enum smp_way way, const char *what)
{
	s->ways.way[way] = WAY_CLOSED;
	if (s->ways.n_closed[way]++ == 0)
		log_notice("sweep", "%s", what);
	s->ways.closed_until[way] = s->report.number +
	    (UINT64_C(1) << (s->ways.n_closed[way] < CLOSED_MAX ? s->ways.n_closed[way]
								: CLOSED_MAX));
}

/* ------------------------------------------------------------------ answers */

/* Who is to blame is asked, or passed through, so no more. */
static void
note_lost(struct ask *a)
{
	struct sweeper *s = a->s;
	bool mixed = smp_is_mixed(&a->route);
	struct inv_node *n = inv_node(&s->inv, mixed ? a->via : a->node);
	bool *blamed = mixed ? &n->by_lid.mixed_fails : &n->by_lid.fails;
	char name[128];

	if (!*blamed && !n->quiet)
		log_info("sweep",
		    mixed ? "%s does not pass a mixed SMP on: beyond it directed ones are used"
			  : "%s does not answer a LID-routed SMP: asked by directed ones",
		    inv_name(n, name, sizeof(name)));
	if (!*blamed && !n->quiet && ++s->ways.n_lost_on_end[mixed] == LOST_ON_END_MAX)
		lid_route_close(s, mixed ? WAY_MIXED : WAY_BY_LID,
		    mixed ? "mixed SMPs are not answered any more: directed ones are used"
			  : "LID-routed SMPs are not answered any more: directed ones are used");
	*blamed = *blamed || !n->quiet;
	if (!mixed && n->by_lid.takes) {
		doubt_switch(s, a->node); /* it may have lost its LID, and all it held */
		doubt_port(s, a->node, inv_is_switch(n) ? 0 : a->port);
	}
	if (mixed)
		s->report.by_lid.mixed_lost++;
	else
		s->report.by_lid.lost++;
}

bool
lid_route_again(struct ask *a, enum txn_status status)
{
	struct sweeper *s = a->s;
	struct inv_node *n = a->at_node ? inv_node(&s->inv, a->node) : NULL;
	bool mixed = smp_is_mixed(&a->route);

	if (n == NULL)
		return false;
	if (a->route.max_tries == 0)
		return status == TXN_TIMEOUT && a->seq <= n->by_lid.redirect_seq &&
		    !s->run.failed && !n->quiet && inv_route(&s->inv, a->node, a->port, &a->route);
	if (status == TXN_OK || status == TXN_REFUSED)
		s->ways.n_lost_on_end[mixed] = 0;
	if (!mixed) {
		n->by_lid.on_trial = false;
		n->by_lid.takes = n->by_lid.takes || status == TXN_OK || status == TXN_REFUSED;
	}
	if (status != TXN_TIMEOUT || s->run.failed || n->quiet)
		return false;
	if (a->seq > n->by_lid.redirect_seq) {
		note_lost(a);
		n->by_lid.redirect_seq = s->reading.seq;
		txn_give_up(s->p.txn, n->guid);
	}
	if (!inv_route(&s->inv, a->node, a->port, &a->route))
		return false;
	a->n_tries = 0;
	return true;
}

void
lid_route_forgive(struct ask *a)
{
	struct sweeper *s = a->s;

	inv_node(&s->inv, a->node)->by_lid.fails = false;
	if (a->via != INV_NONE)
		inv_node(&s->inv, a->via)->by_lid.mixed_fails = false;
	s->ways.epoch++; /* nor does it pass on what is for others */
}
