/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/engine/ordered.h - up/down over one total order, for any graph.
 *
 * Vertices have places, the lowest is on top, and no two share one.  A legal
 * path goes up, then down.  By destination: who can go down all the way does;
 * the others go up towards the nearest who can.  With a place order in which
 * everybody but the top has somebody above (a search from the top) all pairs
 * are joined, and no set of such paths has a cycle of channels.
 *
 * Regions are ordered so among each other, and switches inside a region where
 * no engine is to have a say (compose.h).
 */
#ifndef CORE_ENGINE_ORDERED_H
#define CORE_ENGINE_ORDERED_H

#include <fmd/engine.h>

#define ORDERED_NO_RANK UINT16_MAX

struct ordered_graph {
	uint32_t n;
	const uint32_t *first, *to; /* [n + 1], [first[n]] neighbours, both ways */
	uint32_t *place;	    /* [n] 0 = top */
	uint32_t *by_place;	    /* [n] */
};

/* The ways to one target. */
struct ordered_ways {
	uint16_t *rank;	 /* [n] steps to the target, ORDERED_NO_RANK: no legal way */
	uint8_t *down;	 /* [n] 1 = goes down all the way; the target too */
	uint32_t *queue; /* [n] scratch */
};

/* by_place out of place, a permutation. */
void ordered_sort(struct ordered_graph *g);

/* O(vertices + edges). */
void ordered_find(const struct ordered_graph *g, uint32_t target, struct ordered_ways *w);

/* Is v a right next step of u? */
static inline bool
ordered_is_step(const struct ordered_graph *g, const uint16_t *rank, const uint8_t *down,
    uint32_t u, uint32_t v)
{
	if (rank[v] >= rank[u])
		return false;
	return down[u] ? g->place[v] > g->place[u] && down[v] : g->place[v] < g->place[u];
}

/* The engine: switches ordered by a search from one in the middle.  Joins every pair of a
 * component, proxies included.  O(switches * (links + LIDs)). */
extern const struct fm_engine ordered_engine;

#endif
