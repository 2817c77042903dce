/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/layers/layered.h - what dfsssp and lash have in common: shortest-path trees, and
 * virtual layers for them (layers.h) as many as it takes to have no credit loop.
 */
#ifndef PLUGINS_COMMON_LAYERS_LAYERED_H
#define PLUGINS_COMMON_LAYERS_LAYERED_H

#include "plugins/common/layers/layers.h"
#include "plugins/common/sssp/balance.h"

struct fm_layered {
	struct fm_sssp_plan trees; /* .arcs and .component are found here; trees_per_switch 0: as
				    * many as time and lanes allow */
	unsigned start_vl;
	bool paired, balance_vls;
	bool even; /* the lanes needed get as many paths each */
};

/* LFT, SL, SL2VL, n_vls_used.  On levelled fabrics, unless some traffic counts more than other,
 * up/down paths, which need one lane; else FM_E_TOPOLOGY when lanes do not suffice. */
int fm_route_layered(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const struct fm_layered *how, struct fm_tables *out,
    struct fm_error *err);

/* Trees and the lanes of their paths. */
struct fm_lanes {
	struct fm_sssp_trees trees;
	struct fm_layers layers;
};

/* By dimension order, on grids, with replies; where a region is to have shortest paths,
 * on whole ones only.  FM_E_TOPOLOGY: no grid, or the lanes do not suffice. */
int fm_lanes_by_dimensions(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, unsigned allowed, struct fm_lanes *out, struct fm_error *err);
int fm_lanes_write(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_lanes *lanes, struct fm_tables *out, struct fm_error *err);

#endif
