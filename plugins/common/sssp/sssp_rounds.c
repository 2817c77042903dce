/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batched trees, whether shortest (sssp_batched.c) or legal (sssp_legal.c): rounds over all of
 * them, batch after batch, and what the links bear by those that are grown.
 */
#include "plugins/common/sssp/sssp_internal.h"

/* The power makes one crowded arc worse than several busy ones. */
static inline void
set_cost(struct grower *g, fm_arc a)
{
	double bears = g->load[a] * g->per_route[a] + 1;

	bears *= bears;
	bears *= bears;
	g->arc_cost[a] = bears * bears;
}

void
fm_grower_load(struct grower *g, uint32_t i, uint32_t tree, int sign)
{
	const struct fm_arcs *arcs = g->plan->arcs;
	const uint16_t *passing = fm_grower_passing(g, i, tree);
	const uint8_t *step = fm_grower_steps(g, tree);
	double weight = (double)sign * g->weight[tree];

	if (g->weight[tree] == 0)
		return;
	for (fm_sw u = 0; u < arcs->n_switches; u++) {
		fm_arc a = arcs->first[u] + step[u];

		if (step[u] == FM_STEP_NONE)
			continue;
		g->load[a] += passing[u] * weight;
		if (g->arc_cost != NULL)
			set_cost(g, a);
	}
}

int
fm_grower_run(struct grower *g, uint32_t rounds, uint32_t most, void (*grow)(void *arg, uint32_t n),
    void *arg, struct fm_error *err)
{
	uint32_t n_trees = g->f->n_trees, n;

	for (uint32_t r = 0; r < rounds; r++) {
		g->again = r > 0;
		for (g->batch = 0; g->batch < n_trees; g->batch += n) {
			n = n_trees - g->batch < most ? n_trees - g->batch : most;
			grow(arg, n);
			g->n_done += n;
			g->host->progress(g->host, g->n_done, g->n_total);
			if (g->host->should_stop(g->host))
				return g->host->fail(g->host, err, FM_E_CANCELLED,
				    "stopped while destination trees were grown");
		}
	}
	return 0;
}
