/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/balance.h - from a rule of which next steps are right to
 * balanced tables: by digits on trees, by load elsewhere.
 */
#ifndef PLUGINS_COMMON_SSSP_BALANCE_H
#define PLUGINS_COMMON_SSSP_BALANCE_H

#include "plugins/common/paths/arcs.h"
#include "plugins/common/sssp/sssp.h"
#include "plugins/common/tree/tree.h"

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
 * paths.  On fabrics that are not too large, what digits and trees leave too much on
 * one link is led round it in the end (local_search.h).
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_balance(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, struct fm_choice choice,
    const struct fm_tables *out, struct fm_paths *found, struct fm_error *err);

/*
 * The same by load, whatever the fabric (sssp.h).  With detours (and an order, but not with
 * scatter) longer legal paths are taken where the shortest are crowded.
 */
int fm_balance_by_load(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_order *order, bool detours,
    struct fm_choice choice, const struct fm_tables *out, struct fm_paths *found,
    struct fm_error *err);

#endif
