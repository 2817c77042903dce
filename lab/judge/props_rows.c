/* SPDX-License-Identifier: BSD-2-Clause */
/* What an engine writes, and where. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fmd/own.h>

#include "core/abi/options.h"
#include "core/route/route.h"
#include "lab/judge/props_internal.h"
#include "lib/arena.h"
#include "lib/error.h"

/* The first tables are poisoned and let go; the second get the same memory. */
enum props_outcome
props_check_rows(const struct props *p, uint64_t digest, char *report, size_t room)
{
	struct props_entry left;
	struct props_trial first = { .poison = true }, second = { .unwritten = &left };
	struct router r;
	struct fm_error err;
	int rc;

	if ((p->engine->traits & (FM_WRITES_WHOLE_ROWS | FM_WRITES_WHOLE_SLS)) == 0)
		return PROPS_HOLD;
	props_trying(p, "rows: in memory that was used before");
	rc = router_init(&r, 1, &err);
	if (rc != 0)
		return props_broken(report, room, "rows", err.msg);
	if ((rc = props_run(p, &r, &first, &err)) == 0)
		rc = props_run(p, &r, &second, &err);
	router_fini(&r);
	if (rc != 0)
		return props_broken(report, room, "rows", err.msg);
	if (left.sw != FM_NONE) {
		snprintf(report, room,
		    "rows: the entry of LID %" PRIu32
		    " at switch %s is not written, though the engine promises whole rows",
		    left.lid, p->snap->fab.sw_name[left.sw]);
		return PROPS_BROKEN;
	}
	if (second.digest != digest)
		return props_broken(
		    report, room, "rows: other bytes in memory that was used before", "");
	return PROPS_HOLD;
}

/* ------------------------------------------------------------ beside the rows */

/* The rows of a fabric lie one in two, as 1, 3, 5, ... of these; the others are guards. */
struct guarded {
	struct tables *all;
	fm_sw *rows; /* [n_switches] */
	uint32_t n;  /* guards: n_switches + 1 */
};

static int
make_guards(struct router *r, const struct fm_fabric *fab, struct guarded *g, struct fm_error *err)
{
	struct fm_fabric shape = *fab;
	int rc;

	g->n = fab->n_switches + 1;
	g->rows = calloc(g->n, sizeof(*g->rows));
	if (g->rows == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for rows with guards");
	for (fm_sw s = 0; s < fab->n_switches; s++)
		g->rows[s] = 2 * s + 1;
	shape.n_switches = 2 * fab->n_switches + 1;
	rc = tables_new(r->tables, r->workers, &shape, FM_PROVIDES_LFT, 0, &g->all, err);
	for (uint32_t i = 0; rc == 0 && i < g->n; i++)
		memset(g->all->t.lft[2 * i], PROPS_POISON, g->all->t.lft_stride);
	return rc;
}

/* An entry of guard i that is written, as one of the row that is nearer. */
static void
tell_guard(const struct fm_fabric *fab, const struct guarded *g, uint32_t i, size_t k, char *out,
    size_t room)
{
	size_t stride = g->all->t.lft_stride;
	bool before = i == 0 || (i < fab->n_switches && k >= stride / 2);

	snprintf(out, room,
	    "lft[s][%s%zu] is written, at switch %s; a row has lft_stride = %zu entries",
	    before ? "-" : "", before ? stride - k : stride + k, fab->sw_name[before ? i : i - 1],
	    stride);
}

/* The first thing that is where nothing may be, as a sentence; false: there is none. */
static bool
find_beside(const struct fm_fabric *fab, const struct guarded *g, char *out, size_t room)
{
	const struct fm_tables *t = &g->all->t;

	for (uint32_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < t->lft_stride; k++)
			if (t->lft[2 * i][k] != PROPS_POISON) {
				tell_guard(fab, g, i, k, out, room);
				return true;
			}
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (size_t lid = (size_t)fab->max_lid + 1; lid < t->lft_stride; lid++)
			if (t->lft[g->rows[s]][lid] != FM_PORT_NONE) {
				snprintf(out, room,
				    "LID %zu has an entry at switch %s, the highest in use is %u",
				    lid, fab->sw_name[s], fab->max_lid);
				return true;
			}
	return false;
}

static int
route_guarded(const struct props *p, struct router *r, struct guarded *g, struct fm_error *err)
{
	struct route_job job = { .engine = p->engine, .fab = &p->snap->fab };
	struct tables *made = NULL;
	struct fm_arena mem;
	void *opts = NULL;
	int rc = make_guards(r, job.fab, g, err);

	fm_arena_init(&mem, SIZE_MAX);
	if (rc == 0)
		rc = options_bind(p->engine, p->values, p->snap, &mem, &opts, err);
	job.opts = opts;
	job.into = g->all;
	job.rows = g->rows;
	if (rc == 0)
		rc = route_run(r, &job, &made, err);
	tables_put(made);
	fm_arena_fini(&mem);
	return rc;
}

enum props_outcome
props_check_bounds(const struct props *p, char *report, size_t room)
{
	enum props_outcome outcome = PROPS_HOLD;
	struct guarded g = { 0 };
	struct fm_error err = { 0 };
	struct router r;
	char where[200];

	props_trying(p, "bounds: in rows with guards between them");
	if (router_init(&r, 1, &err) != 0)
		return props_broken(report, room, "bounds", err.msg);
	r.set.n_vls = p->n_vls;
	if (route_guarded(p, &r, &g, &err) != 0)
		outcome = props_broken(report, room, "bounds", err.msg);
	else if (find_beside(&p->snap->fab, &g, where, sizeof(where)))
		outcome = props_broken(report, room, "bounds", where);
	tables_put(g.all);
	free(g.rows);
	router_fini(&r);
	return outcome;
}

/* ---------------------------------------------------------------- differences */

/* Rows of SLs that both have. */
static uint32_t
sl_rows(const struct fm_fabric *fab, const struct fm_tables *a, const struct fm_tables *b)
{
	if (a->sl_shape != b->sl_shape || a->sl_shape == FM_SL_ZERO)
		return 0;
	return a->sl_shape == FM_SL_BY_DLID ? 1 : fab->n_switches;
}

void
props_tell_difference(const struct fm_fabric *fab, const struct fm_tables *a,
    const struct fm_tables *b, char *out, size_t room)
{
	uint32_t n = sl_rows(fab, a, b);

	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
			if (a->lft[s][lid] != b->lft[s][lid]) {
				snprintf(out, room,
				    "LID %" PRIu32 " has port %u at switch %s, before %u", lid,
				    b->lft[s][lid], fab->sw_name[s], a->lft[s][lid]);
				return;
			}
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
			if (a->sl[s][lid] != b->sl[s][lid]) {
				snprintf(out, room, "LID %" PRIu32 " has SL %u%s%s, before %u", lid,
				    b->sl[s][lid], n > 1 ? " from switch " : "",
				    n > 1 ? fab->sw_name[s] : "", a->sl[s][lid]);
				return;
			}
	snprintf(out, room, "the LFTs are the same, but not shapes, SLs, VLs, groups or order");
}
