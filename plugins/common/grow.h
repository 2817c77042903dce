/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/grow.h - choosing among equal next steps anywhere by load.
 */
#ifndef PLUGINS_COMMON_GROW_H
#define PLUGINS_COMMON_GROW_H

#include "plugins/common/order.h"

/* What was learnt about the paths on the way. */
struct fm_paths {
	uint64_t max_load; /* routes from hosts to hosts' LIDs on one link; 0 by digits */
	uint32_t max_hops; /* links on the longest path */
	/* (switch with hosts, destination switch) of one component without a path */
	uint64_t unjoined;
	uint64_t unjoined_hosts; /* those whose destination switch has hosts too */
};

/*
 * Fill every row of out->lft up to max_lid: for one destination LID after the
 * other its tree is grown along shortest (with an order: shortest legal
 * up/down) paths, each switch taking the next step from which the path bears
 * the least load so far.
 * Destinations are taken in turn over the switches; fabrics that are small
 * enough get a second round in which every tree is taken out and grown again.
 *
 * Several LIDs of one end go to different chassis, else different switches,
 * else different cables, as far as equal paths allow.
 *
 * With scatter, a seed other than 0, chance takes the place of load, the same for
 * the same seed.
 *
 * O(LIDs * links), one thread: each choice depends on those before.
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_grow(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    const uint32_t *component, const struct fm_order *order, uint64_t scatter,
    const struct fm_tables *out, struct fm_paths *found, struct fm_error *err);

#endif
