/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mcast/mcast.h - multicast trees of a plan.
 *
 * A few spanning trees of all switches are made for a plan, each with another root
 * so that groups spread over the cables.  A group lies in one of them (by its MLID)
 * and uses of it what joins its members: a join or leave touches one branch
 * (mcast_net.h), and what is proven of a tree holds for every group in it.
 *
 * Proven is that the turns of all trees together with unicast close no cycle of
 * channel dependencies.  Where unicast turns up and then down only (mcast_turns.c) so do
 * trees that hang from their root, and nothing has to be searched.  Elsewhere a
 * switch is hung on a tree only where the turns this makes can be inserted into the
 * dependency graph of unicast (mcast_check.c); or the engine supplies the tree, and
 * it is judged in the same graph.
 *
 * Only turns between switches that have hosts count: who else joins (port 0 of a
 * spine) hangs by the shortest way, and is listed as such (mcast_tree.odd).
 *
 * Cost: levelled O(trees x links); else one scan of the dependencies of unicast.
 */
#ifndef CORE_MCAST_MCAST_H
#define CORE_MCAST_MCAST_H

#include "core/graph/mcast_tree.h"

struct plan;
struct plan_request;
struct router;

/* What trees are wanted. */
struct mcast_wish {
	uint16_t sls;			/* bit i: there are groups of SL i; 0: none are wanted */
	uint8_t n_trees;		/* 1..MCAST_TREES_MAX */
	const struct mcast_trees *prev; /* NULL, or trees to stay close to */
	/* NULL, or the engine that made the tables, with its options as bound */
	const struct fm_engine *engine;
	const void *opts;
};

/* One reference in *out.  FM_E_RESOURCE. */
int mcast_trees_make(struct router *r, struct plan *p, const struct mcast_wish *wish,
    struct mcast_trees **out, struct fm_error *err);

#endif
