/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/sweep/storm_truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep/todo.h"
#include "lab/sim/sma.h"

struct look {
	struct storm *s;
	struct rig *r;
	const struct sim_fabric *f;
	const struct inventory *inv;
	const struct plan *plan;
	/* [n_nodes] over live links from our port; over those that are not isolated */
	bool *reached, *joined;
	char *wrong;
	size_t size;
};

#define SAY(l, ...) (snprintf((l)->wrong, (l)->size, __VA_ARGS__), false)

static const char *
name(const struct look *l, uint32_t node)
{
	return l->f->nodes[node].id;
}

static bool
is_switch(const struct look *l, uint32_t node)
{
	return l->f->nodes[node].type == WIRE_NODE_SWITCH;
}

static bool
is_isolated(const struct look *l, uint32_t node, unsigned port)
{
	uint32_t far = l->f->port_node[l->f->live[l->f->nodes[node].first_port + port]];
	unsigned far_port = port_number(l->f, l->f->live[l->f->nodes[node].first_port + port]);
	uint64_t guid = l->f->nodes[node].guid, far_guid = l->f->nodes[far].guid;
	const struct isolated *set = &l->s->isolated;

	return is_switch(l, node) && is_switch(l, far) &&
	    (isolated_has(set, guid, 0) || isolated_has(set, far_guid, 0) ||
		isolated_has(set, guid, (uint8_t)port) ||
		isolated_has(set, far_guid, (uint8_t)far_port));
}

static void
find_reached(struct look *l, bool *reached, bool isolated)
{
	uint32_t *queue = calloc(l->f->n_nodes, sizeof(*queue)), head = 0, tail = 0;

	queue[tail++] = l->r->place;
	reached[l->r->place] = true;
	while (head < tail) {
		uint32_t n = queue[head++], first = l->f->nodes[n].first_port;

		if (!is_switch(l, n) && n != l->r->place)
			continue;
		for (unsigned p = 1; p <= l->f->nodes[n].n_ports; p++) {
			uint32_t far = l->f->live[first + p], to;

			if (far == SIM_NONE || reached[to = l->f->port_node[far]] ||
			    (!isolated && is_isolated(l, n, p)))
				continue;
			reached[to] = true;
			queue[tail++] = to;
		}
	}
	free(queue);
}

/* A port whose link is up: ACTIVE there and believed so, with the neighbour it has. */
static bool
port_is_true(struct look *l, uint32_t node, const struct inv_node *n, unsigned port)
{
	uint32_t here = l->f->nodes[node].first_port + port, far = l->f->live[here], slot;
	const struct inv_port *p = &n->ports[port];

	if (far == SIM_NONE)
		return p->edge != EDGE_LINKED ||
		    SAY(l, "%s port %u has no link and is taken for linked", name(l, node), port);
	if (port_state(&l->f->ports[here]) != WIRE_PORT_ACTIVE)
		return SAY(l, "%s port %u is in state %u", name(l, node), port,
		    port_state(&l->f->ports[here]));
	slot = inv_find(l->inv, l->f->nodes[l->f->port_node[far]].guid);
	if (p->edge != EDGE_LINKED || p->peer != slot || p->peer_port != port_number(l->f, far))
		return SAY(l, "%s port %u is not taken for linked (edge %u)", name(l, node), port,
		    p->edge);
	if (!p->known || p->info.port_state != WIRE_PORT_ACTIVE)
		return SAY(l, "%s port %u is ACTIVE and not known to be", name(l, node), port);
	return true;
}

static bool
end_is_true(struct look *l, uint32_t node, const struct inv_node *n, unsigned port)
{
	struct wire_port_info info, ours;

	sim_port_info(l->r->sim, node, port, &info);
	sim_port_info(l->r->sim, l->r->place, l->r->port, &ours);
	if (info.lid == 0 || info.lid != n->ports[port].lid)
		return SAY(l, "%s port %u has LID %u, not %u", name(l, node), port, info.lid,
		    n->ports[port].lid);
	if (info.master_sm_lid != ours.lid)
		return SAY(l, "%s port %u has SM LID %u, not %u", name(l, node), port,
		    info.master_sm_lid, ours.lid);
	return true;
}

static bool
node_is_true(struct look *l, uint32_t node)
{
	uint32_t slot = inv_find(l->inv, l->f->nodes[node].guid);
	const struct inv_node *n = slot == INV_NONE ? NULL : inv_node(l->inv, slot);

	if (!l->reached[node])
		return n == NULL || !n->present ||
		    SAY(l, "%s has gone and is taken for present", name(l, node));
	if (n == NULL || !n->present)
		return SAY(l, "%s is not known", name(l, node));
	if (is_switch(l, node) && !end_is_true(l, node, n, 0))
		return false;
	for (unsigned p = 1; p <= n->n_ports; p++) {
		uint32_t far = l->f->live[l->f->nodes[node].first_port + p];

		if (far != SIM_NONE && !l->reached[l->f->port_node[far]])
			continue; /* behind another port of a host */
		if (!is_switch(l, node) && far == SIM_NONE)
			continue;
		if (!port_is_true(l, node, n, p) ||
		    (!is_switch(l, node) && !end_is_true(l, node, n, p)))
			return false;
	}
	return true;
}

/* Every entry of the plan, of LIDs that somebody has. */
static bool
table_is_true(struct look *l, uint32_t node, fm_sw sw)
{
	const struct fm_fabric *fab = &l->plan->snap->fab;
	struct wire_switch_info si;
	uint8_t data[64];

	if (!sma_peek(sim_fabric(l->r->sim), (struct sim_place){ .node = node },
		WIRE_ATTR_SWITCH_INFO, 0, data))
		return SAY(l, "%s has no SwitchInfo", name(l, node));
	wire_switch_info_get(data, &si);
	if (si.linear_fdb_top < fab->max_lid)
		return SAY(l, "%s has LinearFDBTop %u, the highest LID is %u", name(l, node),
		    si.linear_fdb_top, fab->max_lid);
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		uint8_t want = l->plan->tables->t.lft[sw][lid],
			has = sim_lft(l->r->sim, node, (uint16_t)lid);

		if (fab->lid_end[lid] != FM_NONE && has != want)
			return SAY(l, "%s leads LID %u by port %u, the plan by %u", name(l, node),
			    lid, has, want);
	}
	return true;
}

static bool
map_is_true(struct look *l, uint32_t node, fm_sw sw, unsigned in, fm_link link)
{
	const struct fm_fabric *fab = &l->plan->snap->fab;
	unsigned out = fab->link_port[link];
	uint8_t data[64] = { 0 }, vl[16];

	if (!sma_peek(sim_fabric(l->r->sim), (struct sim_place){ .node = node }, WIRE_ATTR_SL2VL,
		in << 8 | out, data))
		return SAY(l, "%s has no map from port %u to %u", name(l, node), in, out);
	wire_sl2vl_get(data, vl);
	for (uint8_t sl = 0; sl < 16; sl++)
		if (vl[sl] != tables_vl(fab, &l->plan->tables->t, sw, (uint8_t)in, link, sl))
			return SAY(l, "%s maps SL %u from port %u to %u to VL %u, not the plan's",
			    name(l, node), sl, in, out, vl[sl]);
	return true;
}

static bool
maps_are_true(struct look *l, uint32_t node, fm_sw sw)
{
	const struct fm_fabric *fab = &l->plan->snap->fab;

	if (l->plan->tables->t.n_vls_used <= 1)
		return true;
	for (fm_link k = fab->sw_first_link[sw]; k < fab->sw_first_link[sw + 1]; k++)
		for (unsigned in = 0; in <= l->f->nodes[node].n_ports; in++) {
			if (in != 0 && l->f->live[l->f->nodes[node].first_port + in] == SIM_NONE)
				continue;
			if (!map_is_true(l, node, sw, in, k))
				return false;
		}
	return true;
}

static bool
switch_is_true(struct look *l, uint32_t node)
{
	uint32_t slot = inv_find(l->inv, l->f->nodes[node].guid);
	fm_sw sw = inv_node(l->inv, slot)->sw_index;

	if (sw >= l->plan->snap->fab.n_switches)
		return SAY(l, "%s is not in the plan", name(l, node));
	return table_is_true(l, node, sw) && maps_are_true(l, node, sw);
}

static bool
pair_is_true(struct look *l, uint32_t from, uint32_t to)
{
	struct wire_port_info info;
	struct sim_way way;

	sim_port_info(l->r->sim, to, 1, &info);
	if (sim_walk(l->r->sim, (struct sim_place){ from, 1 }, info.lid, &way) && way.at.node == to)
		return true;
	return SAY(l, "no packet from %s to %s arrives", name(l, from), name(l, to));
}

static bool
hosts_are_true(struct look *l)
{
	for (uint32_t a = 0; a < l->f->n_nodes; a++)
		for (uint32_t b = 0; b < l->f->n_nodes; b++)
			if (a != b && l->joined[a] && l->joined[b] && !is_switch(l, a) &&
			    !is_switch(l, b) && !pair_is_true(l, a, b))
				return false;
	return true;
}

/* What may be left in a quiet fabric: tables that are not taken up wait for a person, who may
 * prefer those in force to emptied entries; a cable that has flapped is left out for some time. */
static uint32_t
n_rightly_unfinished(const struct todo_list *todo)
{
	return todo->n_of[TODO_WAITING] + todo->n_of[TODO_FLAPPING];
}

/* What fmd itself still has to do, or cannot: nothing else of it may be left. */
static bool
nothing_is_unfinished(struct look *l)
{
	const struct todo_list *todo = sweeper_todo(l->r->sweeper);
	char text[512];

	if (!sweeper_idle(l->r->sweeper))
		return SAY(l, "a sweep still runs, in phase %s",
		    sweep_phase_names[sweeper_phase(l->r->sweeper)]);
	if (todo->n > n_rightly_unfinished(todo))
		return SAY(l, "%zu entries are unfinished: %s", todo->n,
		    todo_say(l->inv, todo, &todo->item[0], text, sizeof(text)));
	return true;
}

/* What `fmctl status` would tell of the sweep that ended last. */
static bool
report_is_true(struct look *l)
{
	const struct sweep_report *last = &l->r->last;

	if (last->outcome != SWEEP_UP && last->outcome != SWEEP_UNCHANGED)
		return SAY(l, "the last sweep ended with outcome %u", last->outcome);
	if (last->n_unreachable != 0)
		return SAY(l, "%llu pairs are said to have no path",
		    (unsigned long long)last->n_unreachable);
	if (last->n_ports_not_active != 0)
		return SAY(l, "%u ports are said not to be ACTIVE", last->n_ports_not_active);
	if (last->n_troubles != n_rightly_unfinished(sweeper_todo(l->r->sweeper)))
		return SAY(l, "%u troubles are told of", last->n_troubles);
	if (l->s->second.sweeper == NULL &&
	    (last->other[0] != '\0' || sweeper_n_other_sms(l->r->sweeper) != 0))
		return SAY(l, "another SM is told of: %s", last->other);
	return true;
}

static bool
all_is_true(struct look *l)
{
	bool ok = true;

	if (l->f->live[l->f->nodes[l->r->place].first_port + l->r->port] == SIM_NONE)
		return true; /* our own cable is out */
	if (l->r->ha.state != WIRE_SM_MASTER || !sweeper_is_up(l->r->sweeper))
		return SAY(l, "the subnet is not up");
	if (l->plan == NULL)
		return SAY(l, "there is no plan");
	for (uint32_t n = 0; n < l->f->n_nodes && ok; n++)
		ok = node_is_true(l, n);
	for (uint32_t n = 0; n < l->f->n_nodes && ok; n++)
		ok = !l->reached[n] || !is_switch(l, n) || switch_is_true(l, n);
	if (!ok || !hosts_are_true(l) || !nothing_is_unfinished(l) || !report_is_true(l))
		return false;
	/* hosts have registered with ours */
	return l->r != &l->s->rig || wishes_are_true(l->s, l->joined, l->wrong, l->size);
}

bool
storm_is_true(struct storm *s, struct rig *r, char *wrong, size_t size)
{
	struct look l = { .s = s,
		.r = r,
		.f = sim_fabric(r->sim),
		.inv = sweeper_inventory(r->sweeper),
		.plan = sweeper_plan(r->sweeper),
		.wrong = wrong,
		.size = size };
	bool ok;

	l.reached = calloc(2 * l.f->n_nodes, sizeof(*l.reached));
	l.joined = l.reached + l.f->n_nodes;
	find_reached(&l, l.reached, true);
	find_reached(&l, l.joined, false);
	ok = all_is_true(&l);
	free(l.reached);
	return ok;
}
