/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From trees to the LFT: a column of a tree is the same port for all its LIDs,
 * unless several cables lead to the next switch; those are dealt by row.
 */
#include <stdlib.h>
#include <string.h>

#include "plugins/common/paths/lids.h"
#include "plugins/common/sssp/sssp_internal.h"

#define WRITE_ROWS 64 /* rows of a task: their steps of one tree are a cache line */

struct writer {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_sssp_trees *f;
	const struct fm_tables *out;
	double *bears;	/* [n_links] routes by capacity */
	uint64_t *wide; /* [n_workers][n_lids] LIDs of a row that go over several cables */
	size_t n_lids;
};

/* The cable of an arc that bears least; it will bear these routes too. */
static fm_link
deal_cable(const struct writer *w, fm_arc a, uint32_t n_routes)
{
	fm_link best = w->f->arcs->link[a];

	for (fm_link l = best + 1; l < w->f->arcs->link[a + 1]; l++)
		if (w->bears[l] < w->bears[best])
			best = l;
	w->bears[best] += (double)n_routes / (double)w->f->capacity[best];
	return best;
}

static bool
is_base(const struct fm_fabric *fab, uint16_t lid)
{
	return fab->end_lid[fab->lid_end[lid]] == lid;
}

/* The heaviest first, so that the light ones make even what those leave; base LIDs before all
 * others, as if there were none. */
static void
deal_cables(const struct writer *w, fm_sw sw, uint64_t *wide)
{
	const struct fm_sssp_trees *f = w->f;
	size_t n = 0;

	for (uint32_t t = 0; t < f->n_trees; t++) {
		fm_arc a = fm_sssp_arc(f, t, sw);
		uint16_t passing;

		if (a == FM_NONE || fm_arc_width(f->arcs, a) == 1)
			continue;
		passing = f->passing[(size_t)t * f->arcs->n_switches + sw];
		for (uint32_t i = f->lid_first[t]; i < f->lid_first[t + 1]; i++)
			wide[n++] =
			    (uint64_t)(uint16_t)~passing << 48 | (uint64_t)t << 16 | f->lid[i];
	}
	qsort(wide, n, sizeof(*wide), fm_by_number);
	for (size_t i = 0; i < 2 * n; i++) {
		uint64_t of = wide[i % n];
		uint16_t passing = (uint16_t) ~(of >> 48), lid = (uint16_t)of;
		fm_arc a = fm_sssp_arc(f, (uint32_t)(of >> 16), sw);

		if (is_base(w->fab, lid) == (i < n))
			w->out->lft[sw][lid] = w->fab->link_port[deal_cable(w, a, passing)];
	}
}

/* The columns of one tree in rows from..to-1; on arcs of several cables the first. */
static void
write_tree(const struct writer *w, uint32_t tree, fm_sw from, fm_sw to)
{
	const struct fm_sssp_trees *f = w->f;
	const uint16_t *lid = f->lid + f->lid_first[tree];
	uint32_t n = f->lid_first[tree + 1] - f->lid_first[tree];

	for (fm_sw s = from; s < to; s++) {
		fm_arc a = fm_sssp_arc(f, tree, s);
		uint8_t port;

		if (a == FM_NONE)
			continue;
		port = w->fab->link_port[f->arcs->link[a]];
		for (uint32_t i = 0; i < n; i++)
			w->out->lft[s][lid[i]] = port;
	}
}

static void
write_rows(void *arg, uint32_t task, unsigned worker)
{
	const struct writer *w = arg;
	fm_sw from = task * WRITE_ROWS, to = from + WRITE_ROWS;

	to = to < w->fab->n_switches ? to : w->fab->n_switches;
	for (fm_sw s = from; s < to; s++)
		memset(w->out->lft[s], FM_PORT_NONE, (size_t)w->fab->max_lid + 1);
	for (uint32_t t = 0; t < w->f->n_trees; t++)
		write_tree(w, t, from, to);
	for (fm_sw s = from; s < to; s++) {
		if (w->f->passing != NULL && fm_has_wide_arcs(w->f->arcs))
			deal_cables(w, s, w->wide + worker * w->n_lids);
		fm_lids_local(w->fab, s, w->out->lft[s]);
	}
}

int
fm_sssp_write(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_trees *f, const struct fm_tables *out, struct fm_error *err)
{
	struct writer w = { .host = host, .fab = fab, .f = f, .out = out };

	w.n_lids = fm_has_wide_arcs(f->arcs) ? f->lid_first[f->n_trees] : 0;
	w.bears = fm_scratch_array(host, fab->n_links, double);
	w.wide = fm_scratch_array(host, host->n_workers(host) * w.n_lids, uint64_t);
	if (w.bears == NULL || w.wide == NULL)
		return fm_no_scratch(host, "loads of cables", err);
	host->parallel_for(host, (fab->n_switches + WRITE_ROWS - 1) / WRITE_ROWS, write_rows, &w);
	return 0;
}
