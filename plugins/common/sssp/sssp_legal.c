/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batched trees (sssp.h) by legal paths, several at a time (legal_paths.h): those of a batch
 * find the links as the batches before have left them.
 */
#include <string.h>

#include "plugins/common/sssp/legal_paths.h"
#include "plugins/common/sssp/sssp_internal.h"

#define LINEAR_BATCH 1u /* trees that do not see each other lie in the same gaps */

struct legal {
	struct grower *g;
	struct fm_legal_paths paths;
	float *capacity; /* [n_arcs] */
};

/* From lanes to the rows of a tree. */
static void
keep_tree(const struct legal *l, uint32_t lane, uint32_t tree)
{
	uint8_t *step = fm_grower_steps(l->g, tree);
	uint16_t *passing = fm_grower_passing(l->g, lane, tree);
	bool loads = l->g->weight[tree] > 0;

	for (fm_sw u = 0; u < l->g->fab->n_switches; u++) {
		step[u] = fm_legal_step(&l->paths, u, lane);
		passing[u] = loads ? (uint16_t)l->paths.passing[u][lane] : 0;
	}
}

static void
grow_batch(void *arg, uint32_t n)
{
	struct legal *l = arg;
	struct grower *g = l->g;
	const uint16_t *sources[FM_LEGAL_LANES];
	double weight[FM_LEGAL_LANES];
	fm_sw root[FM_LEGAL_LANES];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t tree = (uint32_t)g->turns[g->batch + i];

		if (g->again)
			fm_grower_load(g, i, tree, -1);
		root[i] = g->f->root[tree];
		weight[i] = g->weight[tree];
		sources[i] = fm_grower_sources(g, tree);
	}
	fm_legal_weigh(&l->paths, g->load, l->capacity,
	    g->plan->rule.detours ? FM_LEGAL_DETOURS
		: g->plan->linear ? FM_LEGAL_LINEAR
				  : FM_LEGAL_HOPS);
	fm_legal_find(&l->paths, root, n);
	fm_legal_add(&l->paths, n, sources, weight, g->load);
	for (uint32_t i = 0; i < n; i++)
		keep_tree(l, i, (uint32_t)g->turns[g->batch + i]);
}

int
fm_sssp_grow_legal(struct grower *g, uint32_t rounds, struct fm_error *err)
{
	uint32_t most = g->n_batch < FM_LEGAL_LANES ? g->n_batch : FM_LEGAL_LANES;
	struct legal l = { .g = g,
		.capacity = fm_scratch_array(g->host, g->plan->arcs->n_arcs, float) };
	int rc = fm_legal_init(g->host, g->plan->arcs, &l.paths, err);

	if (rc != 0)
		return rc;
	if (l.capacity == NULL)
		return fm_no_scratch(g->host, "widths of the links", err);
	for (fm_arc a = 0; a < g->plan->arcs->n_arcs; a++)
		l.capacity[a] = (float)(1 / g->per_route[a]);
	if (g->plan->linear && most > LINEAR_BATCH)
		most = LINEAR_BATCH;
	fm_legal_follow(&l.paths, g->plan->rule.order);
	return fm_grower_run(g, rounds, most, grow_batch, &l, err);
}
