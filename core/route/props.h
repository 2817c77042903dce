/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/props.h - properties that every engine must have, as tests.
 *
 * The engine tests of this tree and fmd-engine-check use them alike:
 *
 *	pure	 the same bytes twice, and with 1, 2 and 8 workers
 *	memory	 with the 1st, 2nd, 3rd, ... scratch allocation failing:
 *		 FM_E_RESOURCE each time, and the same bytes once none fails
 *	rows	 for an engine that writes whole rows: no entry keeps what the
 *		 memory held before
 *	verdict	 every pair routed, no loop, no wrong host, VLs within the
 *		 budget, no credit loop where the engine promises none
 */
#ifndef CORE_ROUTE_PROPS_H
#define CORE_ROUTE_PROPS_H

#include "core/route/plan.h"

struct props {
	const struct fm_engine *engine;
	const struct option_values *values; /* NULL = defaults */
	struct snapshot *snap;
	uint8_t n_vls;
};

enum props_outcome { PROPS_HOLD, PROPS_BROKEN, PROPS_REFUSED };

/* PROPS_REFUSED: the engine says it cannot route this fabric (FM_E_TOPOLOGY),
 * no fault of it.  report gets a sentence unless all holds; n_allocs the
 * allocations that were failed one by one. */
enum props_outcome props_check(
    const struct props *p, uint64_t *n_allocs, char *report, size_t room);

/* A digest of everything an engine may fill. */
uint64_t props_digest(const struct fm_fabric *fab, const struct fm_tables *t);

#endif
