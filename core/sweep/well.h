/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/well.h - is the subnet as it is to be, by what was read; and on what that rests.
 *
 * All who say so ask sweeper_is_well().  Nothing is kept for it: what is not well is on the list
 * (todo.h), port by port, and what concerns the fabric as a whole is derived here when a sweep
 * ends.  A switch that answers and shows no PortStateChange vouches for all its links, and so for
 * the hosts behind them.
 */
#ifndef CORE_SWEEP_WELL_H
#define CORE_SWEEP_WELL_H

#include "core/sweep/sweep.h"

/* We are master, the subnet is up, nothing is unfinished, no sweep is on its way that reads more
 * than whether something has changed, and no groups or alias GUIDs are to be written.  Cables that
 * flap are trouble, and the subnet is as it is to be without them, as without isolated ones.
 * O(1). */
bool sweeper_is_well(const struct sweeper *s);

/* Of the fabric as a whole: is it so?  Then text, [size], is the sentence.  is_up: the subnet has
 * come up under our rule.  O(ports). */
bool well_lacks(const struct sweeper *s, enum todo_why why, bool is_up, char *text, size_t size);

struct sweep_heard {
	uint32_t n_ports_active, n_ports_not_active; /* cabled ports, as last read */
	uint64_t n_unreachable; /* pairs that cables join and that have no path, by the plan in
				 * force on the cables that it was made for */
	bool plan_is_old;	/* there are others by now, and n_unreachable is of the past */
	uint32_t n_in_doubt;	/* switches whose tables are perhaps not that plan's */
	uint32_t n_not_held;	/* ... of which answer: n_unreachable is of what is to be */
	uint32_t n_not_heard;	/* nodes that did not answer when last asked */
	int64_t oldest_ms; /* since the oldest answer of a switch here, or of our node; -1: none */
};
/* O(ports). */
void sweeper_heard(const struct sweeper *s, struct sweep_heard *out);

#endif
