/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/heard.h - what is believed of the fabric at this moment, and on what it rests.
 *
 * Nothing is kept for it but when each node was heard last.  A switch that answers and shows no
 * PortStateChange vouches for all its links, and so for the hosts behind them.
 */
#ifndef CORE_SWEEP_HEARD_H
#define CORE_SWEEP_HEARD_H

#include "core/sweep/sweep.h"

struct sweep_heard {
	uint32_t n_ports_active, n_ports_not_active; /* cabled ports, as last read */
	uint64_t
	    n_unreachable; /* pairs that cables join and that have no path, by the plan in force */
	uint32_t n_in_doubt;  /* switches whose tables are perhaps not that plan's */
	uint32_t n_not_heard; /* nodes that did not answer when last asked */
	int64_t oldest_ms; /* since the oldest answer of a switch here, or of our node; -1: none */
};
/* O(ports). */
void sweeper_heard(const struct sweeper *s, struct sweep_heard *out);

#endif
