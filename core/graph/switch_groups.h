/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/switch_groups.h - switches that stand together, for drawings and tables of a fabric.
 *
 * What is found first is taken: chassis, as soon as most switches are in one with another; else, of
 * a fabric with levels, the parts that are left without its top level (pods), and the top level by
 * what it joins (planes); else names up to their last number ("rack3-" of "rack3-17").
 *
 * A host cabled to a spine makes a leaf of it: then pods are joined over that spine, and so told as
 * one.  What an engine has found of a fabric (the groups of a dragonfly) is not asked for.
 */
#ifndef CORE_GRAPH_SWITCH_GROUPS_H
#define CORE_GRAPH_SWITCH_GROUPS_H

#include "core/graph/snapshot.h"

enum switch_grouping { GROUPED_BY_CHASSIS, GROUPED_BY_LEVELS, GROUPED_BY_NAMES };

struct switch_groups {
	enum switch_grouping by;
	uint32_t n;
	uint32_t *group; /* [n_switches] FM_NONE: of a switch that has gone */
	fm_sw *first;	 /* [n] the first switch of each: the group is called by it */
};

/* level: of snapshot_find_levels().  All of mem.  O(links).  FM_E_RESOURCE. */
int switch_groups_find(const struct fm_fabric *fab, const uint32_t *level, struct fm_arena *mem,
    struct switch_groups *out, struct fm_error *err);
/* Bytes of a name up to its last number; all, where it has none. */
size_t switch_group_stem(const char *name);

#endif
