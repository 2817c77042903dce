/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/levels.h - the turn model for tables: up and then down is legal.
 *
 * A switch has a level: hops to the nearest switch with a host.  The turns up-up, up-down and
 * down-down have no cycle, all of them together (the up-down rule of Schroeder et al., "Autonet",
 * IEEE J. Selected Areas in Communications 9, 1991): they are *legal*.  Up after down, and any turn
 * to or from a link between switches of one level, is *prohibited*.  On trees nearly all paths make
 * legal turns only.  A graph of all legal turns and the prohibited ones that packets make has a
 * cycle whenever the true dependencies have one; a LID whose packets make no prohibited turn, by
 * old entries, new ones or mixtures, needs no look at all.
 *
 * What is known of a plan is kept in it (plan.levels): the levels; *suspects*, LIDs with an entry
 * that would make a prohibited turn if it were used; and the LIDs with such an entry that is used.
 *
 * Cost of a change: its entries, and O(switches) per changed suspect.  For the first
 * of a plan one scan of its tables, O(switches x LIDs).
 */
#ifndef CORE_PLAN_LEVELS_H
#define CORE_PLAN_LEVELS_H

#include "core/plan/plan.h"

struct plan_levels {
	bool apply;	   /* few LIDs make prohibited turns */
	uint32_t n_lids;   /* of suspect */
	uint64_t *suspect; /* bitset */
	uint32_t *level;   /* [n_switches of the plan's fabric] UINT32_MAX: no way to a host */
	FM_VEC(uint16_t) prohibited;
};
void plan_levels_free(struct plan_levels *l); /* NULL is fine */
/* p has prev's tables, with columns that are copies of others: as level as they. */
void levels_keep(const struct plan *prev, struct plan *p);

/* Look at p by itself, once: p->levels.  False: out of memory. */
bool levels_look(struct plan *p);

/* The LIDs of a change from prev to p that may make prohibited turns: *lids, malloced.
 * *apply false: too many, or levels differ; nothing is known then. */
struct turn_lids {
	FM_VEC(uint16_t) changed; /* may make them by old, new or mixed entries */
	FM_VEC(uint16_t) stay;	  /* made them before, and do not change */
};
bool levels_find(struct plan *prev, struct plan *p, struct turn_lids *lids, bool *apply);
/* What is known of p in the end: these LIDs make prohibited turns. */
bool levels_note(struct plan *p, const struct plan *prev, const uint16_t *lids, size_t n);

/* All legal turns of a fabric, and prohibited ones, counted. */
struct turn_graph;
struct turn_graph *turn_graph_new(const struct fm_fabric *fab); /* NULL: out of memory */
void turn_graph_free(struct turn_graph *g);
bool turn_graph_is_prohibited(const struct turn_graph *g, fm_link from, fm_link to);
bool turn_graph_add(struct turn_graph *g, fm_link from, fm_link to); /* false: no memory */
void turn_graph_remove(struct turn_graph *g, fm_link from, fm_link to);
/* O(switches x ports). */
bool turn_graph_is_acyclic(struct turn_graph *g);

#endif
