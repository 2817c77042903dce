/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/tree/tree.h - the fat tree in a fabric: ranks, pods, planes.
 *
 *	rank	hops from the nearest switch with hosts; hosts' own switches are
 *		leaves, rank 0.  Levelled: every arc joins neighbouring ranks.
 *	pod	switches of ranks 0..r joined by arcs among them
 *	plane	switches of ranks r and r+1 joined by arcs among them: in a
 *		complete tree all children are cabled to all parents of a plane
 *	slot	place of a parent among the parents of its plane.  Planes are
 *		numbered from the top, so that equal slots of different pods
 *		lead to the same switches above: with that, and with hosts
 *		numbered pod by pod, digits of a host's number are a routing
 *		(D-mod-K; Dmodc, arXiv 2211.13101) without knowing the tree's
 *		parameters, and a missing cable leaves the other slots alone.
 *		Neighbouring slots are of different chassis where there are several.
 */
#ifndef PLUGINS_COMMON_TREE_TREE_H
#define PLUGINS_COMMON_TREE_TREE_H

#include "plugins/common/paths/arcs.h"

#define FM_RANK_NONE UINT32_MAX
#define FM_SLOT_NONE UINT32_MAX
#define FM_TREE_MAX_RANKS 12

struct fm_tree {
	/* more than one rank, at most FM_TREE_MAX_RANKS, all arcs between neighbouring ranks */
	bool levelled;
	uint32_t n_ranks; /* highest rank + 1; 0 without hosts */
	uint32_t *rank;	  /* [n_switches] FM_RANK_NONE: no way to a host */
	/* switches as a tree is drawn: by rank, pod by pod, then by index */
	fm_sw *order; /* [n_switches] */
	/* the rest only when levelled */
	uint32_t *slot;	   /* [n_switches] among the parents of the plane below, or FM_SLOT_NONE */
	uint32_t *width;   /* [n_switches] parents in the plane above, 0 = top */
	uint32_t *divider; /* [n_switches] product of the widths below: which digit to look at */
	uint32_t *lower_width, *lower_divider; /* [n_switches] of the children, 0 and 0 at leaves */
	uint32_t *slot_first;		       /* [n_switches + 1] offsets into slot_arc */
	fm_arc *slot_arc; /* up arc by slot, FM_NONE where the cable is missing */
	bool complete;	  /* no FM_NONE in slot_arc */
};

/* O(ranks * links).  FM_E_RESOURCE. */
int fm_tree_build(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, struct fm_tree *out, struct fm_error *err);

#endif
