/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/paths/reach.h - who lies on a shortest path to whom, as bit sets.
 *
 * For every arc u -> v the set of destination switches for which v is a right
 * next step from u.  Destinations are numbered as columns in an order the
 * caller chooses; 512 columns make a block, one vector of the compiler.
 */
#ifndef PLUGINS_COMMON_PATHS_REACH_H
#define PLUGINS_COMMON_PATHS_REACH_H

#include "lib/wide.h"
#include "plugins/common/paths/order.h"

#define FM_LANES 512 /* columns in a block */

/* Never passed by value: the calling convention of wide vectors depends on the machine. */
typedef uint64_t fm_lanes __attribute__((vector_size(FM_LANES / 8)));

struct fm_reach {
	uint32_t n_columns, n_blocks;
	const fm_sw *column_sw;		/* [n_columns] borrowed from the caller */
	const fm_lanes *const *towards; /* [n_blocks][n_arcs] */
};

/*
 * Shortest paths, or with an order (NULL: none) shortest legal up/down paths of
 * a routing by destination: where a switch can go down all the way it does,
 * else it goes up.
 *
 * Multi-source breadth first search (Then et al., VLDB 2015), a block of
 * columns per worker: O(arcs * blocks * hops) vector operations.
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_reach_build(const struct fm_host *host, const struct fm_arcs *arcs,
    const struct fm_order *order, const fm_sw *column_sw, uint32_t n_columns, struct fm_reach *out,
    struct fm_error *err);

static inline bool
fm_lane_test(const fm_lanes *set, uint32_t column)
{
	return (((const uint64_t *)set)[column / 64] >> (column % 64)) & 1;
}

static inline const fm_lanes *
fm_towards(const struct fm_reach *r, const struct fm_arcs *arcs, uint32_t block, fm_arc a)
{
	return &r->towards[block][a];
}

#endif
