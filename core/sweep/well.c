/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/sweep/well.h"

#include "core/inventory/flaps.h"
#include "core/inventory/isolated.h"
#include "core/sweep/internal.h"
#include "lib/bitset.h"

bool
sweeper_is_due_between(const struct sweeper *s)
{
	return mcast_is_due(s) || aliases_are_due(s);
}

bool
sweeper_is_well(const struct sweeper *s)
{
	bool only_looks = s->run.phase == PHASE_IDLE ||
	    (s->run.phase != PHASE_MCAST && s->report.scope == SWEEP_LIGHT);

	return sweeper_was_up(s) && s->p.ha->state == WIRE_SM_MASTER &&
	    s->todo->n == s->todo->n_of[TODO_FLAPPING] && s->reading.doubted.n == 0 &&
	    s->run.wanted < SWEEP_NAMED && only_looks && !sweeper_is_due_between(s);
}

/* ------------------------------------------------------- is the plan of this fabric? */

/* What the plan in force has not, and what it has that is not there. */
struct gap {
	uint32_t n_cables_gone, n_cables_new; /* between switches */
	uint32_t n_hosts_gone, n_hosts_new;   /* their ports; in another place: both */
};

/* The switch behind a port, by a cable that a plan of this fabric would use; FM_NONE. */
static fm_sw
switch_behind(const struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(&s->inv, slot), *far;
	const struct inv_port *p = &n->ports[port];

	if (!node_usable(n) || !link_usable(&s->inv, p))
		return FM_NONE;
	far = inv_node(&s->inv, p->peer);
	return inv_is_switch(far) && !links_is_put_off(s, n, port) &&
		!flaps_leave_out(&s->inv, slot, port) &&
		!isolated_is_cable(s->set.isolated, &s->inv, slot, port)
	    ? far->sw_index
	    : FM_NONE;
}

/* Each cable is counted at the end with the lesser number. */
static void
compare_switch(const struct sweeper *s, uint32_t slot, struct gap *gap)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct snapshot *snap = s->plan->snap;
	const struct fm_fabric *fab = &snap->fab;

	for (unsigned p = 1; p <= n->n_ports; p++) {
		fm_sw is = switch_behind(s, slot, p);
		fm_link l = n->sw_index < fab->n_switches ? snapshot_link_at(snap, n->sw_index, p)
							  : FM_NONE;
		fm_sw was = l != FM_NONE ? fab->link_to[l] : FM_NONE;

		if (is == was &&
		    (l == FM_NONE || fab->link_port[fab->link_rev[l]] == n->ports[p].peer_port))
			continue;
		gap->n_cables_gone += was != FM_NONE && n->sw_index < was;
		gap->n_cables_new += is != FM_NONE && n->sw_index < is;
	}
}

/* The plan knows a host's port where it is, by the LID that it has. */
static bool
knows_host(const struct sweeper *s, const struct inv_port *p)
{
	const struct fm_fabric *fab = &s->plan->snap->fab;
	const struct inv_node *far = inv_node(&s->inv, p->peer);
	fm_end e = p->lid != 0 && p->lid <= fab->max_lid ? fab->lid_end[p->lid] : FM_NONE;

	if (e == FM_NONE || fab->end_guid[e] != p->guid)
		return false;
	if (!inv_is_switch(far))
		return fab->end_sw[e] == FM_NONE;
	return fab->end_sw[e] == far->sw_index && fab->end_port[e] == p->peer_port;
}

static void
compare_hosts(const struct sweeper *s, struct gap *gap)
{
	const struct fm_fabric *fab = &s->plan->snap->fab;

	for (fm_end e = 0; e < fab->n_ends; e++)
		gap->n_hosts_gone += fab->end_kind[e] != FM_END_SWITCH;
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);

		for (unsigned p = 1; n->present && !inv_is_switch(n) && p <= n->n_ports; p++) {
			if (!port_wants_lid(&s->inv, i, p))
				continue;
			if (knows_host(s, &n->ports[p]))
				gap->n_hosts_gone--;
			else
				gap->n_hosts_new++;
		}
	}
}

/* False: there is none.  While writing is to be gone on with, what is behind links that are put off
 * is not in the plan, and the list has both. */
static bool
find_gap(const struct sweeper *s, struct gap *gap)
{
	*gap = (struct gap){ 0 };
	if (s->plan == NULL || s->plan->tables == NULL || apply_is_unfinished(s))
		return false;
	for (size_t i = 0; i < s->inv.switches.n; i++)
		compare_switch(s, s->inv.switches.item[i], gap);
	compare_hosts(s, gap);
	return gap->n_cables_gone + gap->n_cables_new + gap->n_hosts_gone + gap->n_hosts_new > 0;
}

/* ----------------------------------------------------------- of the fabric as a whole */

static bool
has_old_plan(const struct sweeper *s, char *text, size_t size)
{
	struct gap g;

	if (!find_gap(s, &g))
		return false;
	snprintf(text, size,
	    "the forwarding tables are older than the fabric: cables between switches that are "
	    "gone: %u, that have come: %u; ports of hosts that are gone: %u, that have come: %u",
	    g.n_cables_gone, g.n_cables_new, g.n_hosts_gone, g.n_hosts_new);
	return true;
}

/* Tables that wait are the reason and have an entry of their own. */
static bool
has_other_conf(const struct sweeper *s, char *text, size_t size)
{
	const struct plan *p = s->plan;

	if (p == NULL || p->tables == NULL || p->change.waiting[0] != '\0')
		return false;
	if (p->mended)
		snprintf(text, size,
		    "no engine of the chain can route the fabric: the tables in force, of engine "
		    "%s, are mended till one can (fmctl routes tells why)",
		    p->engine);
	else if (p->mark != s->p.chain->mark)
		snprintf(text, size,
		    "the forwarding tables in force, of engine %s, are not those that the "
		    "configuration asks for",
		    p->engine);
	else if (p->regions != NULL && p->regions->join == PLAN_WHOLE)
		snprintf(text, size,
		    "the regions are not joined, and engine %s routes the whole fabric (fmctl "
		    "regions tells why)",
		    p->engine);
	return text[0] != '\0';
}

static void
say_not_master(const struct sweeper *s, char *text, size_t size)
{
	if (s->p.ha->state == WIRE_SM_NOT_ACTIVE)
		snprintf(text, size, "this fmd is not active, and writes nothing");
	else
		snprintf(text, size,
		    "another SM is or will be master, and what is unfinished is its to tell: %s",
		    s->report.other);
}

static bool
is_not_master(const struct sweeper *s)
{
	return s->p.ha->state == WIRE_SM_STANDBY || s->p.ha->state == WIRE_SM_NOT_ACTIVE;
}

bool
well_lacks(const struct sweeper *s, enum todo_why why, bool is_up, char *text, size_t size)
{
	const struct sweep_report *r = &s->report;
	bool no_link = r->outcome == SWEEP_NO_LINK;

	text[0] = '\0';
	if (s->set.dry_run)
		return false;
	switch (why) {
	case TODO_NOT_MASTER:
		say_not_master(s, text, size);
		return is_not_master(s);
	case TODO_NO_LINK:
		snprintf(text, size, "our own port has no link");
		return no_link;
	case TODO_NOT_UP:
		snprintf(text, size, "the subnet has not come up yet");
		return !is_up && !no_link && !is_not_master(s);
	case TODO_FAILED:
		if (r->outcome == SWEEP_FAILED || r->outcome == SWEEP_NOT_ROUTED)
			snprintf(text, size, "the last sweep failed: %s", r->error.msg);
		return text[0] != '\0';
	case TODO_OLD_PLAN:
		return is_up && has_old_plan(s, text, size);
	case TODO_WAITING:
		if (is_up && s->plan != NULL)
			snprintf(text, size, "%s", s->plan->change.waiting);
		return text[0] != '\0';
	case TODO_OTHER_CONF:
		return is_up && has_other_conf(s, text, size);
	default:
		return false;
	}
}

/* ----------------------------------------------------------------- what is believed */

/* Is each row of the switch the last plan's, as it was read or acknowledged? */
static bool
holds_plan(const struct inv_node *n)
{
	return n->lft == LFT_OURS && !n->lft_remembered && !doubt_has_a_block(n);
}

/* Nodes here that are silent, and nodes behind links that are up; once each, if they are known.
 * seen: [nodes] bits, or NULL: no memory, once for each link. */
static uint32_t
count_not_heard(const struct inventory *inv, uint64_t *seen)
{
	uint32_t n_not = 0;

	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		if (!n->present)
			continue;
		n_not += n->silent || n->quiet;
		for (unsigned p = 1; p <= n->n_ports; p++) {
			uint32_t who = n->ports[p].peer;

			if (n->ports[p].edge != EDGE_SILENT ||
			    (who != INV_NONE && inv_node(inv, who)->present))
				continue;
			if (seen == NULL || who == INV_NONE || !fm_bit_test(seen, who))
				n_not++;
			if (seen != NULL && who != INV_NONE)
				fm_bit_set(seen, who);
		}
	}
	return n_not;
}

/* The list was made when the last sweep ended, and what changes the fabric begins another: between
 * the two it says so, and nothing has to be compared. */
static bool
is_plan_old(const struct sweeper *s)
{
	struct gap gap;

	if (s->run.phase == PHASE_IDLE && s->run.wanted == SWEEP_NONE && sweeper_was_up(s) &&
	    !s->set.dry_run)
		return s->todo->n_of[TODO_OLD_PLAN] > 0;
	return find_gap(s, &gap);
}

void
sweeper_heard(const struct sweeper *s, struct sweep_heard *out)
{
	const struct inventory *inv = &s->inv;
	uint64_t *seen = calloc(FM_BITSET_WORDS(inv->nodes.n + 1), sizeof(*seen));
	int64_t now = s->p.transport->ops->now_ns(s->p.transport);

	*out = (struct sweep_heard){ .oldest_ms = -1 };
	if (s->plan != NULL)
		out->n_unreachable = s->plan->verdict.unreachable_pairs;
	out->plan_is_old = is_plan_old(s);
	inv_count_ports(inv, &out->n_ports_active, &out->n_ports_not_active);
	out->n_not_heard = count_not_heard(inv, seen);
	free(seen);
	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);
		bool is_heard, holds;

		if (!n->present || (!inv_is_switch(n) && i != inv->local))
			continue;
		is_heard = !n->silent && !n->quiet;
		holds = !inv_is_switch(n) || holds_plan(n);
		out->n_in_doubt += !holds || (inv_is_switch(n) && !is_heard);
		out->n_not_held += !holds && is_heard;
		if (n->heard_ns != 0 && (now - n->heard_ns) / 1000000 > out->oldest_ms)
			out->oldest_ms = (now - n->heard_ns) / 1000000;
	}
}
