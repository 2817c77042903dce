/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/tree/tree.h - is the fabric a fat tree, seen from its hosts?
 *
 *	rank	hops from the nearest leaf, rank 0: switches with hosts that are joined to
 *		none (tiers.h).  Levelled: every arc joins neighbouring ranks.
 */
#ifndef PLUGINS_COMMON_TREE_TREE_H
#define PLUGINS_COMMON_TREE_TREE_H

#include "plugins/common/paths/arcs.h"

#define FM_RANK_NONE UINT32_MAX
#define FM_TREE_MAX_RANKS 12

struct fm_tree {
	/* more than one rank, at most FM_TREE_MAX_RANKS, all arcs between neighbouring ranks */
	bool levelled;
	uint32_t n_ranks; /* highest rank + 1; 0 without hosts */
	uint32_t *rank;	  /* [n_switches] FM_RANK_NONE: no way to a host */
};

/* O(links).  FM_E_RESOURCE. */
int fm_tree_build(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, struct fm_tree *out, struct fm_error *err);

/* Are the switches of each rank all alike, and the hosts of a leaf dealt evenly to its ways
 * up, so that digits leave nothing uneven?  rank: [n_switches] hops from the leaves.  O(links). */
bool fm_tree_is_regular(
    const struct fm_fabric *fab, const struct fm_arcs *arcs, const uint16_t *rank);

/* Switches unlike most others of their rank, in hosts and in cables up and down.  O(links). */
uint32_t fm_tree_count_unlike(
    const struct fm_fabric *fab, const struct fm_arcs *arcs, const uint16_t *rank);

#endif
