/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/regions/regions.h - which switch belongs to which region, and by what
 * chain each is routed.
 *
 * Regions are sets of switches without overlap, by number: 0 is the default
 * region, which takes what no other claims, the others follow as they are
 * written.  A set lives as long as the configuration it comes from.
 */
#ifndef CORE_REGIONS_REGIONS_H
#define CORE_REGIONS_REGIONS_H

#include "core/nodes/groups.h"
#include "core/plan/plan.h"

#define REGION_DEFAULT "default"
#define REGIONS_MAX 1024

/* REPLIES_PREFER and REPLIES_REQUIRE mean the same: every join is proven for replies, too. */
enum region_replies { REPLIES_PREFER, REPLIES_REQUIRE, REPLIES_IGNORE };

struct region {
	const char *name;	/* REGION_DEFAULT for region 0 */
	struct chain chain;	/* fallback, credit loops as the default's */
	const char *chain_text; /* as written */
	bool has_chain;		/* wrote one; else it is the default's */
};

/* How a region's switches are named. */
struct region_members {
	const struct node_item *items; /* [n_items] */
	size_t n_items;
	const char *file; /* where */
	unsigned line;
};

struct region_set {
	const struct region *region; /* [n_regions] */
	uint32_t n_regions;	     /* 1: nothing is cut */
	int replies;		     /* enum region_replies */
	uint16_t reserved_sls; /* bit i: SL i is kept for QoS, regions are joined without it */
	const uint16_t *order; /* [n_order] regions, top level first; NULL: to be found */
	uint32_t n_order;
	const struct region_members *members; /* [n_regions], of 0 nothing */
	const struct node_groups *groups;     /* all there are, to be looked at; may be NULL */
	atomic_uint_fast64_t *said; /* remarks that were logged last, as a hash; may be NULL */
};

/* sw_region[n_switches]: region number of each switch.  strict: FM_E_CONFIG with
 * "FILE:LINE: ..." for what names nothing in this fabric (a region without
 * switches, an item, a group) and for a switch that two regions claim, whose two
 * lines are told.  Else all that is logged, once until it changes, for switches
 * come and go, and one that two regions claim stays with the first.  FM_E_RESOURCE.
 * Items of the engines' options that name nothing are warned of where strict.
 * Cost as node_set_resolve()'s a region, and a list. */
int regions_resolve(const struct region_set *set, const struct snapshot *snap, bool strict,
    uint16_t *sw_region, struct fm_error *err);
/* The same, not strict, into *sw_region, which the caller frees: NULL where it fails. */
int regions_find(const struct region_set *set, const struct snapshot *snap, uint16_t **sw_region,
    struct fm_error *err);
/* A switch that has gone keeps its number, but nothing hangs on it: no region is
 * the fuller for it. */
bool regions_is_there(const struct fm_fabric *fab, fm_sw s);
/* Between the two: overlaps are refused, the rest is logged, engines' options too.  For
 * a file that is new, on a fabric that is there. */
int regions_check(const struct region_set *set, const struct snapshot *snap, struct fm_error *err);

#endif
