/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric that packets to absent LIDs see: the cables that the tables were made for, the
 * ends that are there, and for each absent LID an end of no host behind the switch
 * to which its column leads, so that replies get the SLs of its requests.
 */
#include "core/plan/plan_absent.h"

#include <stdlib.h>
#include <string.h>

#include "core/cdg/deps.h"
#include "core/graph/graph_diff.h"

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

		if (graph_has_owner(ends, lid))
			continue; /* it does not linger */
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
plan_insert_absent(struct depend *g, const struct plan *p, struct absent_lids *dropped)
{
	struct view v = { 0 };
	bool ok = make_view(&v, g, p);

	for (size_t i = 0; ok && i < p->absent.n; i++) {
		uint16_t lid = p->absent.item[i].lid;
		enum depend_result rc = DEPEND_HELD;

		if (graph_has_owner(&p->snap->fab, lid))
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
