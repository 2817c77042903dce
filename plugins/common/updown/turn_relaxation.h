/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/updown/turn_relaxation.h - routes for pairs that no legal up/down path joins.
 *
 * In the turn model (C. J. Glass, L. M. Ni, ISCA 1992) up/down routing prohibits all turns from
 * down to up.  That is more than is needed: single ones are allowed again as long as the channel
 * dependencies stay without a cycle (W. J. Dally, C. L. Seitz, IEEE Transactions on Computers 36,
 * 1987).
 */
#ifndef PLUGINS_COMMON_UPDOWN_TURN_RELAXATION_H
#define PLUGINS_COMMON_UPDOWN_TURN_RELAXATION_H

#include "plugins/common/sssp/balance.h"

enum fm_relax_flags {
	FM_RELAX_HOSTS = 1 << 0,    /* whatever a switch with hosts has no route to */
	FM_RELAX_SWITCHES = 1 << 1, /* routes between switches too (connect_roots) */
};

/* (switch, LID) still missing of those asked for, and those that got a route. */
struct fm_missing {
	uint64_t to_hosts, to_others;
	uint64_t n_led;
};

/*
 * Complete tables made with this order: a missing route is led to a neighbour that
 * has one, if the turns this adds close no cycle with all turns the tables
 * hold.  What cannot be added stays FM_PORT_NONE.
 *
 * O(switches * LIDs) when anything is missing at all.  FM_E_RESOURCE.
 */
int fm_relax_turns(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, unsigned flags,
    const struct fm_tables *out, struct fm_missing *left, struct fm_error *err);

#endif
