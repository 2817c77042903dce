/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/tree/tiers.h - which tier of a fat tree is a switch of, or why this is no tree.
 */
#ifndef PLUGINS_COMMON_TREE_TIERS_H
#define PLUGINS_COMMON_TREE_TIERS_H

#include "plugins/common/paths/arcs.h"

#define FM_NO_TIER UINT16_MAX
#define FM_TIERS_MAX 31 /* the highest tier: routes of twice as many hops fit the costs (dmodk.h) */

struct fm_tiers {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_nodeset *roots; /* top switches; NULL or not given: found from the hosts */
	uint32_t n;			/* switches */
	/* the rest is found */
	uint32_t *n_hosts; /* [n] CA and router ports */
	uint16_t *rank;	   /* [n] tier, leaves lowest */
	uint16_t max_rank;
	uint32_t n_ignored; /* cables between switches of one tier, a few: they are no ways */
	fm_arc ignored;	    /* one of them */
};

/* O(links), except for finding roots: O(leaves * links), which regular trees never need.
 * FM_E_RESOURCE, FM_E_TOPOLOGY. */
int fm_tiers_find(struct fm_tiers *t, struct fm_error *err);

/* The leaves alone, into rank: 0, and FM_NO_TIER for all others.  They are the switches with
 * hosts; while two are joined, the one that is joined to most is struck off.  *refused: FM_NONE,
 * or one that was not, as it would leave more than a third of the hosts of its component
 * without a leaf; with forests that is no matter where there is no cycle.
 * O(links + leaves * switches struck off).  FM_E_RESOURCE. */
int fm_tiers_find_leaves(struct fm_tiers *t, bool forests, fm_sw *refused, struct fm_error *err);

#endif
