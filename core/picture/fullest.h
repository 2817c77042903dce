/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/fullest.h - a warning where the fullest cable between switches has become much
 * fuller: what is lost may leave all paths as long as before, and their packets on half the cables.
 */
#ifndef CORE_PICTURE_FULLEST_H
#define CORE_PICTURE_FULLEST_H

#include "core/plan/plan.h"

struct fullest {
	double routes; /* over the fullest cable, the fewest since the last warning; 0: not known */
	double pairs;  /* that had paths; where there are more, it may carry as much more */
};

/* The routes over each link of a plan (loads.h) beside those of before: from so many times as many
 * on the fullest an event tells of it.  O(links). */
#define FULLEST_TIMES 1.25
void fullest_look(struct fullest *f, const struct plan *p, const uint64_t *load);

#endif
