/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/engines/hyperx/turns.h - the turns that finished tables take, on one VL.
 */
#ifndef PLUGINS_ENGINES_HYPERX_TURNS_H
#define PLUGINS_ENGINES_HYPERX_TURNS_H

#include "plugins/common/paths/arcs.h"

struct fm_turns {
	uint64_t n_unrouted; /* (switch, LID) entries without a port, within a component */
	bool cyclic;	     /* some turns close a cycle: routing or credit loops are possible */
	fm_sw on_cycle;	     /* a switch on it, or FM_NONE */
};

/*
 * Follow every LID from every switch one turn at a time, and sort the arcs so that all
 * turns go forward (Dally and Seitz: possible if and only if there is no cycle).
 * part: component of each switch.  O(switches * LIDs).  FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_turns_check(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const uint32_t *part, const struct fm_tables *out,
    struct fm_turns *turns, struct fm_error *err);

#endif
