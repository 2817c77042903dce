/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/levels.h - turns up and then down, and the odd ones.
 *
 * A switch has a level: hops to the nearest with a host.  Channels up and down and
 * the turns up-up, up-down and down-down have no cycle, all of them together.  On
 * trees nearly all ways are such; the few turns that are not (up after down, or
 * sideways) are odd.  So a graph of all level turns and the odd ones that packets
 * take has a cycle whenever the true dependencies have one, and whose destination
 * makes no odd turn, in old tables, new ones or mixtures, needs no look at all.
 *
 * What is known of a plan is kept in it (plan.levels): levels; suspects, LIDs with an entry
 * that would be odd if it were used, and the odd LIDs, with one that is.
 *
 * Cost of a change: its entries, and O(switches) per changed suspect.  For the first
 * of a plan one scan of its tables, O(switches x LIDs).
 */
#ifndef CORE_PLAN_LEVELS_H
#define CORE_PLAN_LEVELS_H

#include "core/plan/plan.h"

struct plan_levels {
	bool apply;	   /* there are few odd LIDs */
	uint32_t n_lids;   /* of suspect */
	uint64_t *suspect; /* bitset */
	uint32_t *level;   /* [n_switches of the plan's fabric] UINT32_MAX: no way to a host */
	FM_VEC(uint16_t) odd;
};
void plan_levels_free(struct plan_levels *l); /* NULL is fine */
/* p has prev's tables, with columns that are copies of others: as level as they. */
void levels_keep(const struct plan *prev, struct plan *p);

/* Look at p by itself, once: p->levels.  False: out of memory. */
bool levels_look(struct plan *p);

/* The LIDs of a change from prev to p that may make odd turns: *lids, malloced.
 * *apply false: too many, or levels differ; nothing is known then. */
struct odd_lids {
	FM_VEC(uint16_t) changed; /* may take odd turns in old, new or mixed ways */
	FM_VEC(uint16_t) stay;	  /* odd before and as they were */
};
bool levels_find(struct plan *prev, struct plan *p, struct odd_lids *lids, bool *apply);
/* What is known of p in the end: these LIDs are odd. */
bool levels_note(struct plan *p, const struct plan *prev, const uint16_t *odd, size_t n);

/* All level turns of a fabric, and odd ones, counted. */
struct odd_graph;
struct odd_graph *odd_graph_new(const struct fm_fabric *fab); /* NULL: out of memory */
void odd_graph_free(struct odd_graph *g);
bool odd_graph_is_odd(const struct odd_graph *g, fm_link from, fm_link to);
bool odd_graph_add(struct odd_graph *g, fm_link from, fm_link to); /* false: no memory */
void odd_graph_remove(struct odd_graph *g, fm_link from, fm_link to);
/* O(switches x ports). */
bool odd_graph_acyclic(struct odd_graph *g);

#endif
