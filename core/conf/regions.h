/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/regions.h - which switch belongs to which region, and by what chain
 * it is routed.
 */
#ifndef CORE_CONF_REGIONS_H
#define CORE_CONF_REGIONS_H

#include "core/route/plan.h"

enum region_replies { REPLIES_PREFER, REPLIES_REQUIRE, REPLIES_IGNORE };
struct region {
	const char *name;   /* "default" for region 0 */
	struct chain chain; /* entries of this region; allow_credit_loops, fallback as the default's */
};
struct region_set {
	const struct region *region; /* [n_regions]; region 0 takes what no other claims */
	uint32_t n_regions;
	int replies;		/* enum region_replies */
	uint16_t reserved_sls;	/* bit i: SL i is kept for QoS, compose must not use it */
	const uint16_t *order;	/* region numbers, top level first, as the administrator wants them; NULL: found */
	uint32_t n_order;
	const struct region_members *members; /* how they are named; opaque outside core/conf */
};
/* sw_region[n_switches]: region number of each switch.  FM_E_CONFIG with FILE:LINE for a switch that two regions claim,
 * and (strict) for a region or group without switches; not strict: those are logged, for they come and go at run time. */
int regions_resolve(const struct region_set *set, const struct snapshot *snap, bool strict,
    uint16_t *sw_region, struct fm_error *err);
/* struct plan_request gains: const struct region_set *regions; (NULL: one region, q->chain)  The chain mark covers them. */

#endif
