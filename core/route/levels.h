/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/levels.h - do all ways go up and then down, old, new and mixed?
 *
 * A switch has a level: hops to the nearest with a host.  Channels up and turns
 * up-up, up-down and down-down have no cycle, all of them together.  So where no
 * switch that is entered from above sends up (or sideways), in old tables, new
 * ones, or any mixture, there is no deadlock and nothing else has to be looked at.
 *
 * For two tables that is a look at their changed entries, if it holds for one of
 * them: O(changed entries).  For one table: O(switches x LIDs), until it is known
 * not to hold; off trees soon.
 */
#ifndef CORE_ROUTE_LEVELS_H
#define CORE_ROUTE_LEVELS_H

#include "core/route/plan.h"

/* Of prev and p, which has not been given out yet: are they and their mixtures so?
 * What is found out about either alone is kept in it (plan.levelled).  False: out
 * of memory. */
bool levels_hold(struct plan *prev, struct plan *p, bool *hold);
/* p has prev's tables, with columns that are copies of others: as level as they. */
void levels_keep(const struct plan *prev, struct plan *p);

#endif
