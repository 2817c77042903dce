/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finished trees made more even, route by route (plugins/common/sssp/local_search.c): what comes
 * over the fullest link goes by another neighbour, on a path no longer, if the lanes admit all
 * paths that are moved with it under the SLs that their pairs have.
 *
 * O(hops * switches behind the one that moves) for each move that is tried.
 */
#include "plugins/common/sssp/local_search.h"
#include "plugins/engines/nue/nue.h"

/* The arc that the tables have from s to a LID. */
static fm_arc
arc_of(const struct nue_trees *g, fm_sw s, uint16_t lid)
{
	return g->graph->port_arc[g->graph->port_base[s] + g->out->lft[s][lid]];
}

/* at and all switches whose paths to the LID come by it, into waiting[]; how many. */
static uint32_t
find_behind(struct nue_trees *g, fm_sw at, uint16_t lid)
{
	const struct fm_arcs *arcs = g->graph->arcs;
	uint32_t n = 0;

	g->waiting[n++] = at;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw v = g->waiting[i];

		for (fm_arc a = arcs->first[v]; a < arcs->first[v + 1]; a++)
			if (arcs->to[a] != g->root &&
			    arc_of(g, arcs->to[a], lid) == g->graph->reverse[a])
				g->waiting[n++] = arcs->to[a];
	}
	return n;
}

static bool
admits_all(struct nue_trees *g, uint32_t n_behind, uint16_t lid)
{
	for (uint32_t i = 0; i < n_behind; i++) {
		fm_sw source = g->waiting[i];
		uint32_t n = 0;

		for (fm_sw s = source; s != g->root && g->graph->n_sources[source] > 0;
		     s = g->graph->arcs->to[g->path[n++]])
			g->path[n] = arc_of(g, s, lid);
		if (n > 0 && !nue_lanes_admit(g->lanes, source, g->root, g->path, n, false))
			return false;
	}
	return true;
}

/* May what comes by `at` on its way to the LID take this link instead?  take: it does. */
static bool
admits_move(void *arg, uint16_t lid, fm_sw at, fm_link by, bool take)
{
	struct nue_trees *g = arg;
	const struct fm_fabric *fab = g->graph->fab;
	uint8_t before = g->out->lft[at][lid];
	uint32_t n_behind;
	bool ok;

	g->root = fab->end_sw[fab->lid_end[lid]];
	n_behind = find_behind(g, at, lid);
	nue_lanes_mark(g->lanes);
	g->out->lft[at][lid] = fab->link_port[by];
	ok = admits_all(g, n_behind, lid);
	if (ok && take)
		return true;
	nue_lanes_undo(g->lanes);
	g->out->lft[at][lid] = before;
	return ok;
}

int
nue_trees_even(const struct fm_host *host, const struct fm_fabric *fab, struct nue_trees *g,
    struct fm_error *err)
{
	const struct fm_local_search_rule how = {
		.admits = admits_move, .arg = g, .load = g->load
	};
	uint64_t most;

	if (g->lanes == NULL || g->lead != NULL || !fm_local_search_applies(fab))
		return 0;
	return fm_local_search(host, fab, g->graph->arcs, &how, g->out, &most, err);
}
