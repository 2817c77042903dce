/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/mcast_tree.h - multicast trees as a plan holds them; who makes them: mcast.h.
 */
#ifndef CORE_GRAPH_MCAST_TREE_H
#define CORE_GRAPH_MCAST_TREE_H

#include <stdatomic.h>

#include "core/graph/snapshot.h"
#include "lib/hash.h"

#define MCAST_TREES_MAX 8
#define MCAST_MLID_FIRST 0xc000u /* IBA 4.1.3 */
#define MCAST_MLID_LAST 0xfffeu

struct mcast_tree {
	fm_link *parent; /* [n_switches] towards the root; FM_NONE: a root, one a component */
	uint64_t *odd;	 /* [n_switches] bits: hung on without a proof */
};

struct mcast_trees {
	atomic_uint refs;
	struct snapshot *snap; /* one reference */
	uint16_t sls;	       /* bit i: made for groups of SL i */
	uint16_t
	    safe_sls; /* of these: no cycle with unicast, all trees and all of these SLs together */
	uint8_t n;
	bool by_engine;
	struct mcast_tree tree[MCAST_TREES_MAX];
	struct fm_hash end_of_guid; /* port GUID -> fm_end */
	char told[256];		    /* why some SL is not safe; "" */
};

struct mcast_trees *mcast_trees_get(struct mcast_trees *t); /* NULL is fine */
void mcast_trees_put(struct mcast_trees *t);		    /* NULL is fine */

/* The tree of a group. */
static inline const struct mcast_tree *
mcast_tree_of(const struct mcast_trees *t, uint16_t mlid)
{
	return &t->tree[(mlid - MCAST_MLID_FIRST) % t->n];
}

#endif
