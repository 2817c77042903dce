/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/counts.h - choosing among equal next steps by two counts, as the
 * Omni-Path fabric manager does.
 */
#ifndef PLUGINS_COMMON_SSSP_COUNTS_H
#define PLUGINS_COMMON_SSSP_COUNTS_H

#include "plugins/common/sssp/balance.h"
#include "plugins/common/sssp/divergence.h"

struct fm_counting {
	const struct fm_shape *shape;
	const fm_end *order; /* [n_order] destinations in turn; with a LID and a switch */
	uint32_t n_order;
	bool grouped; /* the order is to be even part by part */
	/* switches with hosts choose for all destinations before the others do */
	bool edge_first;
	/* in a switch that has a neighbour in its own chassis, steps to such
	 * neighbours go before equal ones that leave it */
	bool spine_first;
};

/*
 * Fill every row of out->lft up to max_lid.  Right paths are those of the least
 * sum of 1 / data rate.  Of the fastest of equal next steps the one is taken
 * over which fewest hosts' LIDs go, then the one to the switch that fewest enter
 * from anywhere, then the lowest port.  LIDs of switches are led the same
 * way and not counted.
 *
 * On levelled fabrics whose links and chassis make no difference, digits are as even at
 * each switch as counts, and along paths too: there, unless grouped, they decide.
 *
 * Several LIDs of one end leave a switch for different chassis, else switches,
 * else by different cables; its first LID is balanced among first LIDs.
 *
 * O(LIDs * links), the choices in one thread; by digits O(table bytes).
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_route_by_counts(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_counting *how, const struct fm_tables *out, struct fm_error *err);

#endif
