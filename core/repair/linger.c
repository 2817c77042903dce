/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric that packets to absent LIDs see: the cables that the tables were made for, the
 * ends that are there, and for each absent LID an end of no host behind the switch
 * to which its column leads, so that replies get the SLs of its requests.
 */
#include "core/repair/linger.h"

#include <stdlib.h>
#include <string.h>

#include "core/cdg/deps.h"
#include "core/graph/graph_diff.h"
#include "core/repair/repair_entry.h"
#include "lib/error.h"
#include "lib/log.h"

/* Is there an end behind a switch that has the LID?  Then it does not linger. */
static bool
is_back(const struct plan *p, uint16_t lid)
{
	return lid <= p->snap->fab.max_lid && repair_is_owned(&p->snap->fab, lid);
}

struct view {
	struct fm_fabric fab;
	fm_sw *end_sw;	 /* [n_ends + absent] */
	fm_end *lid_end; /* [top_lid + 1] */
	struct fm_tables t;
	struct deps *deps;
};

/* The switch to which the column of a LID leads, FM_NONE: it leads nowhere. */
static fm_sw
find_last(const struct depend *g, const struct fm_tables *t, uint16_t lid)
{
	for (fm_sw from = 0; from < g->n_switches; from++) {
		fm_sw sw = from;

		for (uint32_t n = 0; n < g->n_switches; n++) {
			uint32_t c = depend_channel(g, sw, t->lft[sw][lid]);

			if (c == FM_NONE)
				break;
			if (g->back[c] == FM_NONE)
				return sw;
			sw = g->to[c];
		}
	}
	return FM_NONE;
}

static void
fill_view(struct view *v, const struct depend *g, const struct plan *p)
{
	const struct fm_fabric *ends = &p->snap->fab;

	memcpy(v->end_sw, ends->end_sw, ends->n_ends * sizeof(*v->end_sw));
	memset(v->lid_end, 0xff, (p->top_lid + 1u) * sizeof(*v->lid_end));
	memcpy(v->lid_end, ends->lid_end, (ends->max_lid + 1u) * sizeof(*v->lid_end));
	for (uint32_t i = 0; g->n_vls > 1 && i < p->absent.n; i++) {
		uint16_t lid = p->absent.item[i].lid;

		if (is_back(p, lid))
			continue;
		v->lid_end[lid] = ends->n_ends + i;
		v->end_sw[ends->n_ends + i] = find_last(g, &p->tables->t, lid);
	}
	v->fab = p->graph->fab;
	v->fab.max_lid = p->top_lid;
	v->fab.lid_end = v->lid_end;
	v->fab.n_ends = ends->n_ends;
	v->fab.sw_first_end = ends->sw_first_end;
	v->fab.end_sw = v->end_sw;
	v->fab.end_port = ends->end_port;
	v->fab.end_lid = ends->end_lid;
	v->fab.end_lmc = ends->end_lmc;
	v->fab.end_kind = ends->end_kind;
}

static bool
make_view(struct view *v, const struct depend *g, const struct plan *p)
{
	struct deps_side side = { &v->fab, &v->t, p->top_lid };

	v->end_sw = malloc((p->snap->fab.n_ends + p->absent.n + 1) * sizeof(*v->end_sw));
	v->lid_end = malloc((p->top_lid + 1u) * sizeof(*v->lid_end));
	if (v->end_sw == NULL || v->lid_end == NULL)
		return false;
	fill_view(v, g, p);
	v->t = p->tables->t;
	v->t.n_vls_used = (uint8_t)g->n_vls;
	v->deps = deps_new(side, side, g->sl_model);
	return v->deps != NULL;
}

static void
free_view(struct view *v)
{
	deps_free(v->deps);
	free(v->end_sw);
	free(v->lid_end);
}

bool
linger_insert(struct depend *g, const struct plan *p, struct linger_lids *dropped)
{
	struct view v = { 0 };
	bool ok = make_view(&v, g, p);

	for (size_t i = 0; ok && i < p->absent.n; i++) {
		uint16_t lid = p->absent.item[i].lid;
		enum depend_result rc = DEPEND_HELD;

		if (is_back(p, lid))
			continue;
		g->added.n = 0;
		rc = depend_insert_deps(g, &v.fab, v.deps, lid, DEPS_NEW);
		if (rc == DEPEND_CYCLE) {
			depend_undo(g, 0);
			ok = fm_vec_push(&dropped->lids, lid);
		}
		ok = ok && rc != DEPEND_NOMEM;
	}
	g->added.n = 0;
	free_view(&v);
	return ok;
}

/* ------------------------------------------------------------------ emptying */

/* Does p say which entries differ from those before? */
static bool
lists_delta(const struct plan *p)
{
	return p->made == PLAN_REPAIRED || p->delta_base != 0;
}

static bool
empty_column(struct plan *p, uint16_t lid)
{
	struct fm_tables *t = &p->tables->t;

	for (fm_sw sw = 0; sw < p->snap->fab.n_switches; sw++) {
		if (t->lft[sw][lid] == FM_PORT_NONE)
			continue;
		t->lft[sw][lid] = FM_PORT_NONE;
		if (lists_delta(p) &&
		    !fm_vec_push(&p->delta, ((struct plan_entry){ sw, lid, FM_PORT_NONE })))
			return false;
	}
	return true;
}

static int
by_switch(const void *a, const void *b)
{
	const struct plan_entry *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->lid < y->lid ? -1 : x->lid > y->lid;
}

static bool
is_dropped(const struct linger_lids *dropped, uint16_t lid)
{
	for (size_t i = 0; i < dropped->lids.n; i++)
		if (dropped->lids.item[i] == lid)
			return true;
	return false;
}

/* They are absent no more, and nothing of theirs is to go back. */
static void
forget(struct plan *p, const struct linger_lids *dropped)
{
	size_t n_absent = 0, n = 0;

	for (size_t i = 0; i < p->absent.n; i++)
		if (!is_dropped(dropped, p->absent.item[i].lid))
			p->absent.item[n_absent++] = p->absent.item[i];
	for (size_t i = 0; i < p->deviations.n; i++)
		if (!is_dropped(dropped, p->deviations.item[i].lid))
			p->deviations.item[n++] = p->deviations.item[i];
	p->absent.n = n_absent;
	p->deviations.n = n;
}

/* What repairs keep is let go; tables that others have as well are copied first. */
static int
empty_columns(
    struct router *r, struct plan *p, const struct linger_lids *dropped, struct fm_error *err)
{
	struct tables *own;
	bool ok = true;
	int rc;

	repair_state_free(r->repair);
	r->repair = NULL;
	if (atomic_load(&p->tables->refs) != 1) {
		rc = tables_clone(r->tables, r->workers, &p->snap->fab, p->tables, &own, err);
		if (rc != 0)
			return rc;
		tables_put(p->tables);
		p->tables = own;
	}
	for (size_t i = 0; ok && i < dropped->lids.n; i++)
		ok = empty_column(p, dropped->lids.item[i]);
	if (!ok)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for absent LIDs");
	if (p->delta.n > 0)
		qsort(p->delta.item, p->delta.n, sizeof(p->delta.item[0]), by_switch);
	p->delta_blocks = plan_count_blocks(p);
	forget(p, dropped);
	log_info("route",
	    "entries of LIDs that have gone are emptied before their time, as they would close a "
	    "credit loop with those of others, lids=%zu first=%u",
	    dropped->lids.n, dropped->lids.item[0]);
	return 0;
}

/* -------------------------------------------------------------- which of them */

/* Dependencies of all LIDs that have an owner. */
static struct depend *
collect(struct router *r, const struct plan *p, struct fm_error *err)
{
	struct graph_diff diff = { 0 };
	struct depend *g = NULL;
	uint64_t *lost = NULL;

	if (graph_compare(&p->graph->fab, &p->snap->fab, &diff, err) == 0) {
		lost = repair_lost_of(&p->graph->fab, &diff);
		if (lost != NULL)
			g = depend_build(&p->graph->fab, &p->snap->fab, &p->tables->t, lost,
			    plan_sl_model(r, p), r->workers);
	}
	graph_diff_fini(&diff);
	free(lost);
	return g;
}

static bool
find_dropped(
    struct router *r, const struct plan *p, struct linger_lids *dropped, struct fm_error *err)
{
	struct repair_state *st = r->repair;
	bool at_hand = st != NULL && st->tables == p->tables && st->graph == p->graph, ok;
	struct depend *g;

	if (at_hand && st->holds_absent)
		return true;
	g = at_hand ? st->g : collect(r, p, err);
	ok = g != NULL && linger_insert(g, p, dropped);
	if (at_hand)
		st->holds_absent = ok;
	else
		depend_free(g);
	return ok;
}

int
linger_settle(struct router *r, struct plan *p, struct fm_error *err)
{
	struct linger_lids dropped = { 0 };
	int rc = 0;

	if (p->absent.n == 0 || p->tables == NULL || p->graph == NULL ||
	    p->verdict.credit_loops > 0 || !depend_applies(&p->tables->t))
		return 0;
	if (!find_dropped(r, p, &dropped, err))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for absent LIDs");
	else if (dropped.lids.n > 0)
		rc = empty_columns(r, p, &dropped, err);
	fm_vec_fini(&dropped.lids);
	return rc;
}
