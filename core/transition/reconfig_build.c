/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What packets depend on by the tables before, on the cables that there are.
 *
 * Cost: in one VL a look-up per entry, or less (core/cdg/depend.h); else O(switches x SLs) for each
 * LID.
 */
#include <stdlib.h>
#include <string.h>

#include "core/transition/reconfig_internal.h"

/* The rows of a plan, with empty entries for switches and LIDs that have come since; *padding: what
 * they need.  NULL: out of memory. */
static uint8_t **
pad_rows(const struct plan *of, const struct fm_fabric *fab, uint32_t size, uint8_t **padding)
{
	const struct fm_tables *t = &of->tables->t;
	uint32_t n_was = of->snap->fab.n_switches;
	uint32_t n_short = t->lft_stride < size ? fab->n_switches : 1;
	uint8_t **rows = malloc((fab->n_switches + 1u) * sizeof(*rows));

	*padding = malloc((size_t)n_short * size);
	if (rows == NULL || *padding == NULL) {
		free(rows);
		return NULL;
	}
	memset(*padding, FM_PORT_NONE, (size_t)n_short * size);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		rows[sw] = n_short > 1 ? *padding + (size_t)sw * size : *padding;
		if (sw < n_was && n_short > 1)
			memcpy(rows[sw], t->lft[sw], t->lft_stride);
		else if (sw < n_was)
			rows[sw] = t->lft[sw];
	}
	return rows;
}

/* From a switch to a LID; what would close a cycle is left out. */
static bool
follow_one(struct depend *g, uint8_t *const *rows, fm_sw sw, uint16_t lid)
{
	uint32_t in = FM_NONE, out;

	for (uint32_t n = 0; n < g->n_switches; n++) {
		out = depend_channel(g, sw, rows[sw][lid]);
		if (out == FM_NONE || g->to[out] == FM_NONE)
			break;
		if (in != FM_NONE && depend_insert(g, in, out, 0) == DEPEND_NOMEM)
			return false;
		in = out;
		sw = g->to[out];
	}
	return true;
}

/* Whose ends do not answer sends all the same. */
static bool
add_silent(const struct reconfig *c, struct depend *g, uint8_t *const *rows)
{
	for (fm_sw sw = 0; sw < g->n_switches; sw++)
		for (uint32_t lid = 1;
		     c->sends[sw] && !deps_has_sender(c->fab, sw) && lid <= c->fab->max_lid; lid++)
			if (graph_has_owner(c->fab, lid) && !follow_one(g, rows, sw, (uint16_t)lid))
				return false;
	return true;
}

/* Whoever has not noticed that a LID has gone sends to it all the same (linger.h). */
static bool
add_absent(const struct reconfig *c, struct depend *g, uint8_t *const *rows, const struct plan *p,
    uint32_t n_lids)
{
	for (size_t i = 0; i < p->absent.n; i++) {
		uint16_t lid = p->absent.item[i].lid;

		for (fm_sw sw = 0; lid < n_lids && sw < g->n_switches; sw++)
			if (c->sends[sw] && !graph_has_owner(c->fab, lid) &&
			    !follow_one(g, rows, sw, lid))
				return false;
	}
	return true;
}

/* In one VL. */
static struct depend *
follow_entries(const struct reconfig *c)
{
	uint32_t n = (c->p->top_lid > c->fab->max_lid ? c->p->top_lid : c->fab->max_lid) + 1u;
	uint8_t *padding, **rows = pad_rows(c->prev, c->fab, n, &padding);
	struct depend *g = NULL;

	if (rows != NULL) {
		struct fm_tables t = { .lft = rows, .lft_stride = n };

		g = depend_build(c->fab, c->fab, &t, NULL, c->model, c->r->workers);
		if (g != NULL && !g->cyclic &&
		    !(add_silent(c, g, rows) && add_absent(c, g, rows, c->prev, n) &&
			add_absent(c, g, rows, c->p, n))) {
			depend_free(g);
			g = NULL;
		}
	}
	free(rows);
	free(padding);
	return g;
}

/* With several VLs. */
static struct depend *
follow_lids(const struct reconfig *c)
{
	struct depend *g = depend_new(c->fab, c->n_vls, c->model);
	bool ok = g != NULL;

	for (uint32_t lid = 1; ok && lid <= c->fab->max_lid; lid++)
		if (graph_has_owner(c->fab, lid))
			ok = depend_note_deps(g, c->fab, c->deps, (uint16_t)lid,
			    deps_changes(c->deps, (uint16_t)lid) ? DEPS_OLD : DEPS_NEW);
	if (ok) {
		depend_sort(g);
		return g;
	}
	depend_free(g);
	return NULL;
}

struct depend *
reconfig_build(const struct reconfig *c)
{
	struct depend *g = c->n_vls == 1 ? follow_entries(c) : follow_lids(c);

	if (g != NULL && depend_allow_levels(g, c->fab))
		return g;
	depend_free(g);
	return NULL;
}
