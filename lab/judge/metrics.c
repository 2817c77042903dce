/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How good tables are: adding up what the other parts measure.
 */
#include "lab/judge/metrics_internal.h"

#define MAX_RANGES ((size_t)8 << 20)

static void
sum_loads(struct gauge *g, const struct walk *walk, struct metrics *m)
{
	uint32_t n_links = g->fab->n_links;
	uint64_t sum = 0;

	m->load_min = n_links > 0 ? UINT64_MAX : 0;
	g->max_links = gauge_longest(g, walk);
	for (fm_link l = 0; l < n_links; l++) {
		uint64_t load = gauge_load(g, walk, l);

		sum += load;
		m->load_min = load < m->load_min ? load : m->load_min;
		m->load_max = load > m->load_max ? load : m->load_max;
	}
	m->load_avg = n_links > 0 ? (double)sum / n_links : 0;
	m->a2a_max_over_avg = sum > 0 ? (double)m->load_max / m->load_avg : 1;
}

/* Loads and shifts come from the same walk. */
static int
measure_routes(
    struct gauge *g, const struct metrics_request *req, struct metrics *m, struct fm_error *err)
{
	struct walk walk = { 0 };
	int rc = 0;

	if (!gauge_walk_setup(g, &walk, req->max_ranges > 0 ? req->max_ranges : MAX_RANGES)) {
		gauge_walk_fini(&walk);
		return gauge_no_memory(err);
	}
	gauge_walk_all(&walk);
	sum_loads(g, &walk, m);
	rc = gauge_shift(g, &walk, &m->sp_max, err);
	gauge_walk_fini(&walk);
	return rc;
}

int
metrics_compute(const struct snapshot *snap, const struct fm_tables *tables,
    const struct metrics_request *req, struct fm_pool *workers, struct metrics *out,
    struct fm_error *err)
{
	struct gauge g = { .fab = &snap->fab, .t = tables, .workers = workers };
	struct metrics m = { .ebb = 1 };
	int rc = gauge_prepare(&g, err);

	if (rc == 0 && (rc = measure_routes(&g, req, &m, err)) == 0 &&
	    (rc = gauge_bisect(&g, req->ebb_samples, req->seed, &m.ebb, err)) == 0)
		rc = gauge_has_several_lids(&snap->fab) ? gauge_lids(&g, req->seed, &m, err) : 0;
	if (rc == 0)
		*out = m;
	fm_arena_fini(&g.mem);
	return rc;
}
