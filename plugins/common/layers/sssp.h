/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/layers/sssp.h - what sssp, dfsssp and lash have in common: trees
 * balanced by the load of all paths, and lanes for them.
 */
#ifndef PLUGINS_COMMON_LAYERS_SSSP_H
#define PLUGINS_COMMON_LAYERS_SSSP_H

#include "plugins/common/layers/layers.h"
#include "plugins/common/sssp/balance.h"
#include "plugins/common/sssp/forest.h"

struct fm_sssp {
	const struct fm_nodeset *compute, *io; /* or NULL: struct fm_forest_plan */
	bool avoid_throttled;
	uint32_t trees_per_switch; /* 0: as many as time (and with lanes, lanes) allow */
	/* with lanes */
	unsigned start_vl;
	bool paired, balance_vls;
};

/* Shortest paths; by digits on levelled fabrics unless some traffic counts more
 * than other.  FM_E_RESOURCE, FM_E_CANCELLED. */
int fm_route_sssp(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp *how, const struct fm_tables *out, struct fm_error *err);

/* The same without credit loops: LFT, SL, SL2VL, n_vls_used.  On levelled fabrics
 * up/down paths, which need one lane; else FM_E_TOPOLOGY when lanes do not suffice. */
int fm_route_in_lanes(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const struct fm_sssp *how, struct fm_tables *out,
    struct fm_error *err);

/* Trees and the lanes of their paths. */
struct fm_lanes {
	struct fm_forest forest;
	struct fm_layers layers;
};

/* By dimension order, on grids, with replies; where a region is to have shortest paths,
 * on whole ones only.  FM_E_TOPOLOGY: no grid, or the lanes do not suffice. */
int fm_lanes_by_dimensions(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, unsigned allowed, struct fm_lanes *out, struct fm_error *err);
int fm_lanes_write(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_lanes *lanes, struct fm_tables *out, struct fm_error *err);

#endif
