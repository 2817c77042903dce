/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mcast/mcast_internal.h - what the makers of multicast trees share.
 */
#ifndef CORE_MCAST_MCAST_INTERNAL_H
#define CORE_MCAST_MCAST_INTERNAL_H

#include "core/mcast/mcast.h"
#include "core/plan/plan.h"
#include "lib/arena.h"
#include "lib/vec.h"

/* The dependencies of unicast, and of the trees inserted so far. */
struct mcast_check;

/* NULL with *cyclic: unicast has a cycle of its own.  NULL without: out of memory. */
struct mcast_check *mcast_check_new(
    const struct plan *p, enum verify_sl_model model, uint16_t sls, bool *cyclic);
void mcast_check_free(struct mcast_check *c); /* NULL is fine */

enum mcast_answer { MCAST_FITS, MCAST_CYCLE, MCAST_NOMEM };
/* May switch v hang by link `up` on the tree parent[]?  Then its turns are inserted. */
enum mcast_answer mcast_check_hang(
    struct mcast_check *c, const fm_link *parent, fm_sw v, fm_link up);
/* What was inserted since the last of these two stays; or goes. */
void mcast_check_keep(struct mcast_check *c);
void mcast_check_forget(struct mcast_check *c);
/* The turns of a whole tree between switches with hosts, under one SL.  On a cycle
 * nothing is inserted, and *at is a switch at which it turns. */
enum mcast_answer mcast_check_tree(
    struct mcast_check *c, const fm_link *parent, unsigned sl, fm_sw *at);

/* How a switch may hang on a tree. */
enum mcast_rule { MCAST_DOWN, MCAST_CHECKED, MCAST_ANY };

/* A root for one component, and how good it is. */
struct mcast_root {
	uint32_t component;
	uint32_t missed; /* switches with hosts that it does not reach */
	uint32_t depth;	 /* of the deepest of them */
	uint64_t sum;	 /* of their depths */
	fm_sw sw;
};

struct mcast_grower {
	const struct plan *p;
	const struct fm_fabric *fab;
	const struct mcast_wish *wish;
	struct mcast_trees *trees;
	struct mcast_check *check; /* NULL: levelled, or nothing is promised */
	struct fm_arena mem;
	bool levelled;
	uint32_t *level; /* [n_switches] snapshot_find_levels() */
	uint32_t *depth; /* [n_switches] in the tree at hand, UINT32_MAX: not in it */
	fm_sw *layer[2]; /* [n_switches] */
	uint32_t *stamp; /* [n_switches] layer in which it was looked at */
	uint32_t n_stamps, n_rounds;
	uint32_t *n_uses;  /* [n_links] trees that use the cable, by either direction */
	uint64_t *refused; /* [n_links] bits: does not fit, and never will */
	fm_link *toward;   /* [n_switches] by which unicast goes to the root, FM_NONE */
	fm_link *kept;	   /* [n_switches] parent in the tree of before, as a link of today */
	FM_VEC(struct mcast_root) roots; /* by component, best first */
};

/* mcast_trees.c; all 0 or FM_E_RESOURCE. */
/* A tree more, all switches apart; false: no memory. */
bool mcast_add_tree(struct mcast_trees *t);
void mcast_drop_tree(struct mcast_trees *t); /* the last */
int mcast_find_roots(struct mcast_grower *g);
/* How many trees are worth making: more than roots would be the same again. */
unsigned mcast_n_different_roots(const struct mcast_grower *g);
/* Tree number k, added to g->trees. */
int mcast_grow_tree(struct mcast_grower *g, unsigned k);
/* From the n switches of layer[0], which are in the tree (depth), outwards. */
int mcast_grow(struct mcast_grower *g, enum mcast_rule rule, struct mcast_tree *tree, uint32_t n);
/* Its cables are not in use any more. */
void mcast_forget_uses(struct mcast_grower *g, const struct mcast_tree *tree);
/* Does a switch with hosts hang by an unproven way? */
bool mcast_has_odd_hosts(const struct mcast_grower *g, const struct mcast_tree *tree);

/* Does the switch have an end other than its own port 0? */
static inline bool
mcast_has_hosts(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return true;
	return false;
}

/* mcast_turns.c: do all packets of p go up and then down by these levels?  False: out of memory. */
bool mcast_legal_turns(const struct plan *p, const uint32_t *level, bool *legal);

#endif
