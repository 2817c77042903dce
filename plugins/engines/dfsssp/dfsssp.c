/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dfsssp - shortest paths, balanced over the whole fabric, free of credit loops by lanes.
 *
 * Idea.  The trees of sssp, and virtual lanes such that no lane has a cycle of
 * channel dependencies (Domke, Hoefler, Nagel, "Deadlock-Free Oblivious Routing
 * for Arbitrary Topologies", IPDPS 2011).  Paths are put into lanes one by one,
 * each into the first that stays acyclic (plugins/common/layers/layers.c); breaking
 * cycles afterwards, as in the paper, takes more lanes.  Several trees to a
 * switch balance better; as many are grown as four lanes take.  Where that is one, up/down on
 * one lane is routed too, and the better is taken and told (the squares of all loads, the fullest
 * link; fabrics that are not too large).  In the end routes are led round the fullest links, each
 * in its lane (plugins/common/layers/layers_even.c).  Some fabrics need
 * no search: levelled ones are routed up/down on one lane, grids (tori,
 * meshes, hypercubes, HyperX) by dimension order on one, with rings on two
 * (plugins/common/grid/dimensions.c).
 *
 * When to use.  On any fabric that no engine of its own exists for.
 *
 * Promises.  No credit loops, replies included: as those travel under the
 * requester's SL, all paths between two switches, either way, share a lane
 * (paired).  Shortest paths, except up/down on damaged trees and round the gaps of
 * damaged grids.  The same tables for the same fabric.
 *
 * Options.  Those of sssp; paired = false takes fewer lanes and is enough where
 * sl_model = forward; balance_vls; trees_per_switch.
 *
 * Refuses fabrics that need more lanes than are allowed or than their links
 * have, and says how many; the number of lanes grows slowly: 3 on 125 random
 * switches, 4 on 250.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "plugins/common/layers/layered.h"

struct dfsssp_options {
	struct fm_nodeset compute, io;
	bool avoid_throttled_links, paired, balance_vls;
	int64_t trees_per_switch;
};

static const struct fm_option options[] = {
	{ .name = "compute_nodes",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct dfsssp_options, compute),
	    .help = "Balance routes between these hosts first; all hosts alike when empty." },
	{ .name = "io_nodes",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct dfsssp_options, io),
	    .help = "Balance routes from the compute nodes to these hosts next." },
	{ .name = "avoid_throttled_links",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct dfsssp_options, avoid_throttled_links),
	    .def = "false",
	    .help = "Give links that run below their nominal rate less in proportion." },
	{ .name = "paired",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct dfsssp_options, paired),
	    .def = "true",
	    .help = "One SL both ways, so that replies are safe; without, only for sl_model = "
		    "forward." },
	{ .name = "balance_vls",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct dfsssp_options, balance_vls),
	    .def = "false",
	    .help = "Spread the paths over all VLs allowed, not only over those needed." },
	{ .name = "trees_per_switch",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct dfsssp_options, trees_per_switch),
	    .def = "0",
	    .min = 0,
	    .max = 256,
	    .unit = "trees",
	    .help = "Trees to one switch, which its LIDs share till routes are led round full "
		    "links; 0 takes as many as the VLs allow, and where that is one, compares "
		    "with up/down on one VL." },
	{ .type = FM_OPT_END },
};

static int
dfsssp_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct dfsssp_options *o = opts;
	struct fm_layered how = { .trees = { .compute = &o->compute,
				      .io = &o->io,
				      .avoid_throttled = o->avoid_throttled_links,
				      .trees_per_switch = (uint32_t)o->trees_per_switch },
		.paired = o->paired,
		.balance_vls = o->balance_vls };

	return fm_route_layered(host, fab, req, &how, out, err);
}

FM_OWN_ENGINE(dfsssp, NULL, .summary = "Shortest paths, balanced globally; no credit loops, by VLs",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROMISES_NO_CREDIT_LOOPS |
	FM_WRITES_WHOLE_ROWS | FM_WRITES_WHOLE_SLS | FM_NUMBERED_BY_CABLES,
    .options = options, .options_size = sizeof(struct dfsssp_options), .route = dfsssp_route);
