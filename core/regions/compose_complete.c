/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to the switches' own LIDs that engines have left out.
 *
 * What an engine owes is to join hosts.  A spine with a gateway of its own has no legal way
 * to another spine of its tree, nor a leaf without its cable to a spine to that spine, as
 * fattree may not turn at leaves where traffic passes on.  Such a hole refuses no engine and
 * keeps no gateway from being one (*soft*): once the join has been proven without these ways,
 * they are looked for in the component's one VL, by dependencies that are held, else by new ones
 * that close no cycle (repair_complete.h), and all is proven once more.
 *
 * Where the whole is not free of credit loops with them, they are taken out; and where a pair
 * is left without a path for that, or any reason, all is composed with holes that are not soft,
 * and what joins more is taken (compose.c).
 */
#include <stdlib.h>

#include "core/regions/compose_steps.h"
#include "core/repair/repair_complete.h"

static int
by_lid(const void *pa, const void *pb)
{
	const struct soft_hole *a = pa, *b = pb;

	if (a->component != b->component)
		return a->component < b->component ? -1 : 1;
	if (a->lid != b->lid)
		return a->lid < b->lid ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* Holes [n] of component x, which has a single VL for them; what entries were goes to undo. */
static int
complete_component(struct composer *c, uint32_t x, const struct soft_hole *soft, size_t n,
    struct repair_entries *undo, struct fm_error *err)
{
	const struct component *p = &c->component[x];
	struct repair_hole *holes = fm_arena_array(&c->mem, n + 1, struct repair_hole);
	size_t before = undo->e.n;
	struct snapshot *view;
	struct tables *t = NULL;
	int rc;

	if (holes == NULL)
		return compose_no_memory(err);
	for (size_t i = 0; i < n; i++)
		holes[i] =
		    (struct repair_hole){ .sw = c->sw_local[soft[i].from], .lid = soft[i].lid };
	if ((rc = compose_view(c, x, VIEW_PROXIES, &view, err)) != 0)
		return rc;
	rc = tables_over(
	    c->tables, p->sw, c->r->workers, &view->fab, FM_PROVIDES_LFT, true, &t, err);
	if (rc == 0)
		rc = repair_complete(c->r, view, t, holes, n, undo, err);
	for (size_t i = before; i < undo->e.n; i++)
		undo->e.item[i].sw = p->sw[undo->e.item[i].sw];
	tables_put(t);
	snapshot_put(view);
	return rc;
}

int
compose_complete(struct composer *c, struct repair_entries *undo, struct fm_error *err)
{
	struct soft_hole *list = c->soft_holes.item;
	size_t n = c->soft_holes.n;
	int rc = 0;

	if (n > 1)
		qsort(list, n, sizeof(*list), by_lid);
	for (size_t i = 0, next; rc == 0 && i < n; i = next) {
		for (next = i + 1; next < n && list[next].component == list[i].component;)
			next++;
		if (c->component[list[i].component].tables == NULL)
			rc =
			    complete_component(c, list[i].component, list + i, next - i, undo, err);
	}
	return rc;
}
