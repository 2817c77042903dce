/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/balance.h - from a rule of which next steps are right to
 * balanced tables: by digits on trees, by load elsewhere.
 */
#ifndef PLUGINS_COMMON_BALANCE_H
#define PLUGINS_COMMON_BALANCE_H

#include "plugins/common/arcs.h"
#include "plugins/common/grow.h"
#include "plugins/common/tree.h"

/* What an engine wants to know of a fabric before it routes. */
struct fm_shape {
	struct fm_arcs arcs;
	struct fm_tree tree;
	uint32_t n_components;
	uint32_t *component; /* [n_switches] */
};

int fm_shape_build(const struct fm_host *host, const struct fm_fabric *fab, struct fm_shape *out,
    struct fm_error *err);

/*
 * Tables over shortest paths (order NULL), or over shortest legal up/down
 * paths.
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_balance(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, struct fm_choice choice,
    const struct fm_tables *out, struct fm_paths *found, struct fm_error *err);

/*
 * The same on a levelled fabric, by digits or by load, whichever leaves less on the
 * fullest link: digits are even where the switches of a rank are all alike and a
 * leaf's hosts are a multiple of its cables up.  Only fabrics of a few thousand LIDs
 * are tried both ways; by digits the others.
 */
int fm_balance_best(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, const struct fm_tables *out,
    struct fm_paths *found, struct fm_error *err);

/* Routes from hosts to hosts' LIDs on the fullest link of tables.  O(LIDs * switches). */
int fm_weigh(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_tables *out,
    uint64_t *max, struct fm_error *err);

/*
 * The same by load, whatever the fabric: by the forest (forest.h), or where there are
 * wishes or ends of several LIDs, LID by LID (grow.h).  With detours (and an order, but
 * not with scatter) longer legal paths are taken where the shortest are crowded.
 */
int fm_balance_by_load(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, bool detours,
    struct fm_choice choice, const struct fm_tables *out, struct fm_paths *found,
    struct fm_error *err);

#endif
