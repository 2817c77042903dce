/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/levels_internal.h - what levels.c and turn_graph.c mean by up and down.
 */
#ifndef CORE_PLAN_LEVELS_INTERNAL_H
#define CORE_PLAN_LEVELS_INTERNAL_H

#include "core/plan/levels.h"

#define MASK_PORTS 64u /* of a switch, at most: a word has a bit for each */

enum way { NOWHERE, UP, DOWN, ASIDE };

/* From a switch to another, or to none.  level: [n_switches] */
static inline enum way
level_way(const uint32_t *level, fm_sw sw, fm_sw to)
{
	if (to == FM_NONE)
		return NOWHERE;
	if (level[to] == level[sw])
		return ASIDE;
	return level[to] > level[sw] ? UP : DOWN;
}

#endif
