/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/sweep/moments.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bitset.h"

#define DOWN_NS INT64_C(90000000000) /* longer than what settles takes */

enum fate { ARRIVES, LOST, UNKNOWN, CIRCLES }; /* UNKNOWN: lost, but who could know? */

/* Does the SM take the link at this port for one that carries packets?  Of a link
 * that has just been lost, or come up, it may not know yet, for traps are lost, too. */
static bool
is_believed(const struct moments *m, uint32_t node, unsigned port)
{
	const struct inventory *inv = sweeper_inventory(m->rig->sweeper);
	uint32_t slot = inv_find(inv, m->rig->nl.nodes[node].guid);
	const struct inv_port *p;

	if (slot == INV_NONE)
		return false;
	p = &inv_node(inv, slot)->ports[port];
	return p->edge == EDGE_LINKED && p->info.port_state == WIRE_PORT_ACTIVE;
}

/* Who has which LID now. */
static void
find_owners(struct moments *m)
{
	for (uint32_t lid = 0; lid < m->n_lids; lid++)
		m->owner[lid].node = SIM_NONE;
	for (uint32_t n = 0; n < m->n_nodes; n++)
		for (unsigned p = rig_is_switch(m->rig, n) ? 0 : 1;
		     p <= (rig_is_switch(m->rig, n) ? 0u : m->rig->nl.nodes[n].n_ports); p++) {
			struct wire_port_info info;

			sim_port_info(m->rig->sim, n, p, &info);
			if (info.lid != 0 && info.lid < m->n_lids)
				m->owner[info.lid] =
				    (struct sim_place){ .node = n, .port = (uint8_t)p };
		}
}

static bool
is_active(const struct sim_fabric *f, uint32_t port)
{
	return port_state(&f->ports[port]) == WIRE_PORT_ACTIVE;
}

/* By the tables as they were at the last Set; lost where a link is not up or, if asked
 * for, not ACTIVE. */
static enum fate
follow(const struct moments *m, uint32_t node, uint16_t lid, bool active)
{
	const struct sim_fabric *f = sim_fabric(m->rig->sim);
	struct sim_place to = m->owner[lid];

	for (uint32_t hops = 0; hops <= m->n_nodes; hops++) {
		uint8_t out = m->tables[(size_t)node * m->n_lids + lid];
		uint32_t here, there;

		if (out == 0 || out > f->nodes[node].n_ports)
			return out == 0 && to.node == node ? ARRIVES : LOST;
		here = f->nodes[node].first_port + out;
		there = f->live[here];
		if (there == SIM_NONE || (active && !(is_active(f, here) && is_active(f, there))))
			return is_believed(m, node, out) ? UNKNOWN : LOST;
		if (active && !is_believed(m, node, out) &&
		    rig_is_switch(m->rig, f->port_node[there]))
			return UNKNOWN; /* it has just come up */
		node = f->port_node[there];
		if (!rig_is_switch(m->rig, node))
			return node == to.node && port_number(f, there) == to.port ? ARRIVES : LOST;
	}
	return CIRCLES;
}

static void
say_first(struct moments *m, const char *what, uint32_t node, uint16_t lid, uint32_t at)
{
	if (m->first[0] == '\0')
		snprintf(m->first, sizeof(m->first), "a %s: LID %u from %s, after Set %llu, in %s",
		    what, lid, m->rig->nl.nodes[node].id, (unsigned long long)m->n_sets,
		    m->rig->nl.nodes[at].id);
}

static void
look_at(struct moments *m, uint16_t lid, uint32_t changed_at)
{
	for (uint32_t n = 0; n < m->n_nodes; n++) {
		if (!rig_is_switch(m->rig, n))
			continue;
		if (follow(m, n, lid, false) == CIRCLES) {
			m->n_loops++;
			say_first(m, "loop", n, lid, changed_at);
		}
		if (m->owner[lid].node != SIM_NONE && m->before[n * m->n_lids + lid] &&
		    follow(m, n, lid, true) == LOST)
			m->lost[n * m->n_lids + lid] = 1;
	}
}

static void
remember_ways(struct moments *m)
{
	for (uint32_t n = 0; n < m->n_nodes; n++)
		for (uint32_t lid = 1; rig_is_switch(m->rig, n) && lid < m->n_lids; lid++)
			m->before[n * m->n_lids + lid] = m->owner[lid].node != SIM_NONE &&
			    follow(m, n, (uint16_t)lid, true) == ARRIVES;
	memset(m->lost, 0, (size_t)m->n_nodes * m->n_lids);
}

/* Does the SM know whose LID it is?  Entries of a switch that it takes for lost linger. */
static bool
is_known(const struct moments *m, uint32_t lid)
{
	const struct plan *p = sweeper_plan(m->rig->sweeper);

	return p != NULL && lid <= p->snap->fab.max_lid && p->snap->fab.lid_end[lid] != FM_NONE;
}

static void
count_holes(struct moments *m)
{
	for (uint32_t n = 0; n < m->n_nodes; n++)
		for (uint32_t lid = 1; lid < m->n_lids; lid++)
			if (m->lost[n * m->n_lids + lid] && !fm_bit_test(m->rig->drained, lid) &&
			    is_known(m, lid) && follow(m, n, (uint16_t)lid, true) == ARRIVES) {
				m->n_holes++;
				say_first(m, "hole", n, (uint16_t)lid, n);
			}
	memset(m->rig->drained, 0, sizeof(m->rig->drained));
}

/* The first Set of a sweep. */
static void
next_sweep(struct moments *m)
{
	count_holes(m);
	m->sweep = m->rig->n_reports;
	find_owners(m);
	remember_ways(m);
}

static void
on_set(void *arg, const struct sim_trace *e)
{
	struct moments *m = arg;
	uint8_t *row = m->tables + (size_t)e->node * m->n_lids;
	bool changes = false;

	if (e->method != WIRE_SET || e->attr != WIRE_ATTR_LFT)
		return;
	if (m->sweep != m->rig->n_reports || m->n_sets == 0)
		next_sweep(m);
	m->n_sets++;
	if (m->silence_at > 0 && --m->silence_at == 0)
		sim_silence(m->rig->sim, m->silence_node, true);
	for (uint32_t lid = e->modifier * 64; lid < e->modifier * 64 + 64 && lid < m->n_lids;
	     lid++) {
		uint8_t now = sim_lft(m->rig->sim, e->node, (uint16_t)lid);

		if (lid == 0 || row[lid] == now)
			continue;
		row[lid] = now;
		changes = true;
		look_at(m, (uint16_t)lid, e->node);
	}
	m->n_needless += !changes;
}

/* A switch without power forgets without a Set. */
void
moments_refresh(struct moments *m)
{
	for (uint32_t n = 0; n < m->n_nodes; n++)
		for (uint32_t lid = 1; rig_is_switch(m->rig, n) && lid < m->n_lids; lid++)
			m->tables[n * m->n_lids + lid] = sim_lft(m->rig->sim, n, (uint16_t)lid);
}

void
moments_end(struct moments *m)
{
	count_holes(m);
	memset(m->lost, 0, (size_t)m->n_nodes * m->n_lids);
}

void
moments_settle(struct moments *m)
{
	rig_let_pass(m->rig, 3000);
	rig_run(m->rig, SWEEP_LIGHT);
	rig_let_pass(m->rig, 3000);
	moments_end(m);
}

void
moments_power_cycle(struct moments *m, uint32_t node)
{
	int64_t on_ns = sim_now_ns(m->rig->sim) + DOWN_NS;

	sim_reboot(m->rig->sim, node, DOWN_NS);
	moments_settle(m);
	ck_assert_int_lt(sim_now_ns(m->rig->sim), on_ns);
	sim_run(m->rig->sim, on_ns);
	moments_refresh(m); /* its tables are gone */
	moments_settle(m);
}

void
moments_watch(struct moments *m, struct rig *r, uint32_t n_lids)
{
	size_t n = (size_t)r->nl.n_nodes * n_lids;

	*m = (struct moments){ .rig = r, .n_nodes = r->nl.n_nodes, .n_lids = n_lids };
	m->tables = calloc(n, 1);
	m->before = calloc(n, 1);
	m->lost = calloc(n, 1);
	m->owner = calloc(n_lids, sizeof(*m->owner));
	ck_assert(m->tables && m->before && m->lost && m->owner);
	moments_refresh(m);
	sim_set_trace(r->sim, on_set, m);
}

void
moments_fini(struct moments *m)
{
	free(m->tables);
	free(m->before);
	free(m->lost);
	free(m->owner);
	memset(m, 0, sizeof(*m));
}
