/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/plan_absent.h - what packets to LIDs that nobody owns now (plan.absent) depend on.
 */
#ifndef CORE_PLAN_PLAN_ABSENT_H
#define CORE_PLAN_PLAN_ABSENT_H

#include "core/cdg/depend.h"
#include "core/plan/plan.h"

/* Insert what packets to the LIDs of p->absent depend on, one LID after another, into the
 * dependencies g of all others; those that do not fit go into dropped.  O(absent LIDs x
 * switches).  False: out of memory. */
struct absent_lids {
	FM_VEC(uint16_t) lids;
};
bool plan_insert_absent(struct depend *g, const struct plan *p, struct absent_lids *dropped);

#endif
