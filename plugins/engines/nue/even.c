/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finished trees made more even, route by route (plugins/common/sssp/local_search.c): what comes
 * over the fullest link goes by another neighbour, on a path no longer, if the lanes admit all
 * paths that are moved with it under the SLs that their pairs have.
 *
 * O(hops) for each path that is asked for.
 */
#include "plugins/common/sssp/local_search.h"
#include "plugins/engines/nue/nue.h"

static void
begin(void *arg)
{
	nue_lanes_mark(((struct nue_trees *)arg)->lanes);
}

static void
undo(void *arg)
{
	nue_lanes_undo(((struct nue_trees *)arg)->lanes);
}

static bool
admit(void *arg, fm_sw source, fm_sw root, const fm_link *path, uint32_t n)
{
	struct nue_trees *g = arg;
	const struct nue_graph *graph = g->graph;
	fm_sw s = source;

	if (graph->n_sources[source] == 0)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t port = graph->fab->link_port[path[i]];

		g->path[i] = graph->port_arc[graph->port_base[s] + port];
		s = graph->arcs->to[g->path[i]];
	}
	return nue_lanes_admit(g->lanes, source, root, g->path, n, false);
}

int
nue_trees_even(const struct fm_host *host, const struct fm_fabric *fab, struct nue_trees *g,
    struct fm_error *err)
{
	const struct fm_admission by_lanes = { g, begin, admit, undo };
	const struct fm_local_search_rule how = { .admission = &by_lanes, .load = g->load };
	uint64_t most;

	if (g->lanes == NULL || g->lead != NULL || !fm_local_search_applies(fab))
		return 0;
	return fm_local_search(host, fab, g->graph->arcs, &how, g->out, &most, err);
}
