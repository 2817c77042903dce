/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * New switches attached as stubs of tables that stay.
 *
 * All old switches keep their entries, SLs and VLs.  Each new switch is attached by one cable to
 * the next switch that is nearer to the old ones.  All that it and the stubs behind it send goes up
 * by that cable, and what is sent to their LIDs comes down by it; these LIDs have columns and SLs
 * of an end of the old switch at the root.  So their packets depend on what packets of that
 * switch depend on already, and on the cables of the stub, behind which nothing goes on: tables
 * that were free of cycles stay so, and need no order of writing.
 *
 * A stub is no route for good: it is where a plan starts for which no steps were found.
 *
 * Stubs are found breadth first from the old switches.  Then columns are copied in a copy of their
 * tables (core/plan/keep.h), and the rows of the new switches are made.
 */
#include <stdlib.h>
#include <string.h>

#include "core/plan/keep.h"
#include "core/transition/reconfig_internal.h"
#include "lib/error.h"

struct stubs {
	struct keeping k;
	const struct reconfig *c;
	const struct fm_fabric *fab;
	fm_link *up;  /* [n_switches] of a new switch; FM_NONE: old, or not attached */
	fm_sw *order; /* [n_switches] old switches, then new ones from the roots down */
	uint32_t n_order, n_old;
};

bool
stub_is_new(const struct plan *was, const struct fm_fabric *now, fm_sw sw)
{
	return !graph_is_gone(now, sw) &&
	    (sw >= was->snap->fab.n_switches || graph_is_gone(&was->snap->fab, sw));
}

/* ----------------------------------------------------------------- the stubs */

static void
find_order(struct stubs *g)
{
	const struct fm_fabric *fab = g->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		g->up[sw] = FM_NONE;
		if (!graph_is_gone(fab, sw) && !stub_is_new(g->k.prev, fab, sw))
			g->order[g->n_order++] = sw;
	}
	g->n_old = g->n_order;
	for (uint32_t i = 0; i < g->n_order; i++) {
		fm_sw sw = g->order[i];

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			fm_sw to = fab->link_to[l];

			if (g->up[to] != FM_NONE || !stub_is_new(g->k.prev, fab, to))
				continue;
			g->up[to] = fab->link_rev[l];
			g->order[g->n_order++] = to;
		}
	}
}

static fm_sw
root_of(const struct stubs *g, fm_sw sw)
{
	while (g->up[sw] != FM_NONE)
		sw = g->fab->link_to[g->up[sw]];
	return sw;
}

/* Are the columns of its LIDs proven with the tables? */
static bool
is_proven(const struct stubs *g, fm_end e)
{
	return g->fab->end_lid[e] != 0 &&
	    graph_has_owner(&g->k.prev->snap->fab, g->fab->end_lid[e]) && keep_has_column(&g->k, e);
}

/* The n-th end of a root, round and round, hosts before its own port.  FM_NONE: it has none. */
static fm_end
model_for(const struct stubs *g, fm_sw root, uint32_t n)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t n_hosts = 0, seen = 0;
	fm_end model = FM_NONE;

	for (fm_end e = fab->sw_first_end[root]; e < fab->sw_first_end[root + 1]; e++)
		n_hosts += fab->end_kind[e] != FM_END_SWITCH && is_proven(g, e);
	for (fm_end e = fab->sw_first_end[root]; e < fab->sw_first_end[root + 1]; e++)
		if (is_proven(g, e) &&
		    (n_hosts == 0 || (fab->end_kind[e] != FM_END_SWITCH && seen++ <= n % n_hosts)))
			model = e;
	return model;
}

/* Which end's columns does each new end get?  An end that finds none stays without a path. */
static bool
find_joiners(struct stubs *g)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t n = 0;

	for (fm_end e = 0; e < fab->n_ends; e++) {
		fm_sw sw = fab->end_sw[e];
		struct keep_joiner j = { .end = e };

		if (sw == FM_NONE || fab->end_lid[e] == 0 ||
		    (!stub_is_new(g->k.prev, fab, sw) && is_proven(g, e)) ||
		    stub_is_new(g->k.prev, fab, root_of(g, sw))) /* it is not attached */
			continue;
		j.like = model_for(g, root_of(g, sw), n++);
		if (j.like != FM_NONE && !fm_vec_push(&g->k.joiners, j))
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- their rows */

static void
set_entry(struct fm_tables *t, fm_sw sw, uint32_t lid, uint8_t port)
{
	t->lft[sw][lid] = port;
	if (tables_are_adaptive(t))
		t->ar_group[sw][lid] = 0;
}

/* Empty entries of old switches over links that were not there when all was proven: no packet has
 * come by them, and none is to. */
static void
clear_dead(const struct stubs *g, struct fm_tables *t, fm_sw sw)
{
	const struct fm_fabric *fab = g->fab;

	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
		if (reconfig_has_link(
			&g->k.prev->snap->fab, sw, fab->link_to[l], fab->link_port[l]))
			continue;
		for (uint32_t lid = 1; lid <= g->k.p->top_lid; lid++)
			if (t->lft[sw][lid] == fab->link_port[l])
				set_entry(t, sw, lid, FM_PORT_NONE);
	}
}

/* Entries of a new switch to all that the root has a path to. */
static void
lead_up(const struct stubs *g, struct fm_tables *t, fm_sw sw)
{
	const uint8_t *root = t->lft[root_of(g, sw)];
	uint8_t port = g->fab->link_port[g->up[sw]];

	for (uint32_t lid = 1; lid <= g->k.p->top_lid; lid++)
		set_entry(t, sw, lid, root[lid] != FM_PORT_NONE ? port : FM_PORT_NONE);
}

/* Entries to the LIDs of an end behind a new switch, from its root on. */
static void
lead_down(const struct stubs *g, struct fm_tables *t, fm_end e)
{
	const struct fm_fabric *fab = g->fab;

	for (uint32_t i = 0; i < 1u << fab->end_lmc[e]; i++) {
		uint32_t lid = fab->end_lid[e] + i;

		set_entry(t, fab->end_sw[e], lid, fab->end_port[e]);
		for (fm_sw sw = fab->end_sw[e]; g->up[sw] != FM_NONE; sw = fab->link_to[g->up[sw]])
			set_entry(t, fab->link_to[g->up[sw]], lid,
			    fab->link_port[fab->link_rev[g->up[sw]]]);
	}
}

/* Ends of stubs send by the SLs of the root.  Across regions switches share rows of SLs. */
static bool
give_sls(const struct stubs *g, struct tables *t)
{
	uint32_t n = g->fab->n_switches;
	fm_sw *row_of;

	if (t->t.sl_shape != FM_SL_BY_SW_DLID)
		return true;
	for (uint32_t i = g->n_old; g->k.p->regions == NULL && i < g->n_order; i++)
		memcpy(t->t.sl[g->order[i]], t->t.sl[root_of(g, g->order[i])],
		    g->k.p->top_lid + (size_t)1);
	if (g->k.p->regions == NULL)
		return true;
	row_of = malloc((n + 1) * sizeof(*row_of));
	if (row_of == NULL)
		return false;
	tables_sl_rows(t, n, row_of);
	for (uint32_t i = g->n_old; i < g->n_order; i++)
		row_of[g->order[i]] = row_of[root_of(g, g->order[i])];
	tables_share_sl(t, row_of, n);
	free(row_of);
	return true;
}

/* Packets that come to a root from a stub get the VLs of those that the model end there sends. */
static void
map_in_port(const struct stubs *g, struct fm_tables *t, fm_sw leaf)
{
	const struct fm_fabric *fab = g->fab;
	fm_sw root = fab->link_to[g->up[leaf]];
	size_t row = (fab->sw_n_ports[root] + 1u) * (size_t)16;
	fm_end like = model_for(g, root, 0);
	uint8_t *rows;

	if (t->sl2vl_shape != FM_SL2VL_BY_IN_OUT || g->up[root] != FM_NONE || like == FM_NONE)
		return;
	rows = t->sl2vl + (size_t)t->sl2vl_first[root] * 16;
	memcpy(rows + fab->link_port[fab->link_rev[g->up[leaf]]] * row,
	    rows + fab->end_port[like] * row, row);
}

static bool
make_rows(const struct stubs *g)
{
	struct fm_tables *t = &g->k.p->tables->t;

	for (uint32_t i = 0; i < g->n_old; i++)
		clear_dead(g, t, g->order[i]);
	for (uint32_t i = g->n_old; i < g->n_order; i++) {
		lead_up(g, t, g->order[i]);
		map_in_port(g, t, g->order[i]);
	}
	for (size_t i = 0; i < g->k.joiners.n; i++)
		if (stub_is_new(g->k.prev, g->fab, g->fab->end_sw[g->k.joiners.item[i].end]))
			lead_down(g, t, g->k.joiners.item[i].end);
	return give_sls(g, g->k.p->tables);
}

/* ------------------------------------------------------------------ the plan */

static bool
note_absent(struct plan *p, uint16_t lid, int64_t since_ms)
{
	const struct fm_fabric *now = &p->snap->fab;
	bool is_owned = lid <= now->max_lid && now->lid_end[lid] != FM_NONE;

	return is_owned || fm_vec_push(&p->absent, ((struct plan_absent){ lid, since_ms }));
}

/* All columns of prev stay, also those of LIDs that have no owner now. */
static bool
keep_absent(struct plan *p, const struct plan *prev, int64_t now_ms)
{
	const struct fm_fabric *was = &prev->snap->fab;
	bool ok = true;

	for (size_t i = 0; ok && i < prev->absent.n; i++)
		ok = note_absent(p, prev->absent.item[i].lid, prev->absent.item[i].since_ms);
	for (uint32_t lid = 1; ok && lid <= was->max_lid; lid++)
		if (was->lid_end[lid] != FM_NONE)
			ok = note_absent(p, (uint16_t)lid, now_ms);
	return ok;
}

bool
stub_copy_attributes(const struct reconfig *c, struct plan *p)
{
	const struct plan *prev = reconfig_last(c);

	p->top_lid = prev->top_lid > p->snap->fab.max_lid ? prev->top_lid : p->snap->fab.max_lid;
	p->made = PLAN_KEPT;
	plan_copy_maker(p, prev);
	return keep_absent(p, prev, c->now_ms) &&
	    fm_vec_append(&p->deviations, prev->deviations.item, prev->deviations.n);
}

/* Note entries that differ from those to which the repair would have reverted: the next one
 * will. */
static bool
note_deviations(struct plan *p, const struct plan *repaired)
{
	const struct plan_entry *e = repaired->deviations.item;
	size_t n = repaired->deviations.n;

	p->deviations.n = 0;
	for (uint32_t lid = 1; repaired->made == PLAN_REPAIRED && lid <= repaired->top_lid; lid++)
		for (fm_sw sw = 0; sw < p->snap->fab.n_switches; sw++) {
			uint8_t port = repaired->tables->t.lft[sw][lid];

			if (n > 0 && e->lid == lid && e->sw == sw) {
				port = e->port;
				e++;
				n--;
			}
			if (port != FM_PORT_NONE && port != p->tables->t.lft[sw][lid] &&
			    !fm_vec_push(
				&p->deviations, ((struct plan_entry){ sw, (uint16_t)lid, port })))
				return false;
		}
	return true;
}

/* Verify p.  Regions that allow credit loops within are given their switches; new ones are in
 * none. */
static int
verify_plan(struct router *r, struct plan *p, struct fm_error *err)
{
	struct verify_request req = { .n_vls = r->set.n_vls, .sl_model = plan_sl_model(r, p) };
	const struct plan_regions *of = p->regions;
	uint32_t n = p->snap->fab.n_switches;
	uint16_t *within = NULL;
	int rc;

	if (of != NULL && of->loops_within != NULL) {
		within = calloc(n + 1u, sizeof(*within));
		if (within == NULL)
			return fm_fail(err, FM_E_RESOURCE, "out of memory for regions");
		memcpy(within, of->loops_within,
		    (of->n_switches < n ? of->n_switches : n) * sizeof(*within));
		req.loops_within = within;
	}
	rc = verify_tables(p->snap, &p->tables->t, &req, r->workers, &p->verdict, err);
	free(within);
	return rc;
}

static int
make_tables(struct stubs *g, struct fm_error *err)
{
	int rc;

	if (!stub_copy_attributes(g->c, g->k.p))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for switches that join");
	find_order(g);
	g->k.p->graph = snapshot_get(g->k.snap);
	g->k.p->change.n_stubs = g->n_order - g->n_old;
	if (!find_joiners(g))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for switches that join");
	rc = keep_copy(&g->k, err);
	if (rc == 0 && (!make_rows(g) || !note_deviations(g->k.p, g->c->p)))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for switches that join");
	return rc != 0 ? rc : verify_plan(g->k.r, g->k.p, err);
}

int
stub_attach(const struct reconfig *c, struct plan **out, struct fm_error *err)
{
	struct snapshot *snap = c->p->snap;
	size_t n = snap->fab.n_switches + (size_t)1;
	struct stubs g = { .k = { .r = c->r,
			       .prev = reconfig_last(c),
			       .snap = snap,
			       .began_ms = plan_now_ms() },
		.c = c,
		.fab = &snap->fab };
	int rc = FM_E_RESOURCE;
	bool serves;

	*out = NULL;
	g.k.p = plan_new(snap, err);
	g.up = malloc(n * sizeof(*g.up));
	g.order = malloc(n * sizeof(*g.order));
	if (g.k.p != NULL && g.up != NULL && g.order != NULL)
		rc = make_tables(&g, err);
	else
		fm_fail(err, FM_E_RESOURCE, "out of memory for switches that join");
	free(g.up);
	free(g.order);
	serves = rc == 0 && verdict_is_safe(&g.k.p->verdict, c->allow_credit_loops) &&
	    g.k.p->verdict.unreachable_pairs <= c->p->verdict.unreachable_pairs;
	return keep_end(&g.k, rc, serves, out);
}
