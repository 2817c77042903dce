/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/plan_cut.h - whom a plan leaves without a path.
 */
#ifndef CORE_PLAN_PLAN_CUT_H
#define CORE_PLAN_PLAN_CUT_H

#include "core/plan/plan.h"

/* Ends of hosts to which some switch with hosts has no path by the tables of p, though cables join
 * them, into list (by number).  At once where the verdict has no such pair, else
 * O(LIDs * switches).  False: out of memory. */
struct plan_cut {
	FM_VEC(fm_end) ends;
};
bool plan_find_cut(const struct plan *p, struct plan_cut *list);

#endif
