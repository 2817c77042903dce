/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sssp - shortest paths, balanced over the whole fabric.
 *
 * Idea.  One destination tree after the other is grown, each choosing among
 * equally short paths the one whose links bear least so far (Hoefler, Schneider,
 * Lumsdaine, "Optimized Routing for Large-Scale InfiniBand Networks", HOTI 2009).
 * Destinations are taken in turn over the switches, and small fabrics get
 * further rounds in which every tree is taken out and grown again.  On levelled
 * fabrics (trees) the choice is a digit of the destination's number instead
 * (plugins/common/tree/dmodk.c), which is even by construction.  The work is done by
 * plugins/common/sssp/sssp.h.
 *
 * When to use.  On fabrics without a closed form (random graphs, dragonflies,
 * degraded ones) where credit loops are excluded otherwise, or as the measure of
 * what balance is possible.  dfsssp is the same with lanes.
 *
 * Promises.  Shortest paths, every connected pair, the same tables for the same
 * fabric.  None about credit loops: trees have none, rings have them.
 *
 * Options.  compute_nodes and io_nodes: traffic among the former is balanced
 * first, then that from them to the latter, then the rest.
 * avoid_throttled_links: a link at half its nominal rate is given half the
 * routes.  With any of these in use trees are balanced by load too.
 *
 * Refuses nothing.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "plugins/common/sssp/balance.h"

struct sssp_options {
	struct fm_nodeset compute, io;
	bool avoid_throttled_links;
};

static const struct fm_option options[] = {
	{ .name = "compute_nodes",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct sssp_options, compute),
	    .help = "Balance routes between these hosts first; all hosts alike when empty." },
	{ .name = "io_nodes",
	    .type = FM_OPT_NODES,
	    .offset = offsetof(struct sssp_options, io),
	    .help = "Balance routes from the compute nodes to these hosts next." },
	{ .name = "avoid_throttled_links",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct sssp_options, avoid_throttled_links),
	    .def = "false",
	    .help = "Give links that run below their nominal rate less in proportion." },
	{ .type = FM_OPT_END },
};

static int
sssp_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct sssp_options *o = opts;
	const struct fm_choice digits = { .by_digits = true };
	struct fm_sssp_plan plan = {
		.compute = &o->compute, .io = &o->io, .avoid_throttled = o->avoid_throttled_links
	};
	struct fm_paths found;
	struct fm_shape shape;
	int rc;

	(void)req;
	fm_sssp_warn_of_strays(host, fab, &plan);
	if ((rc = fm_shape_build(host, fab, &shape, err)) != 0)
		return rc;
	if (shape.tree.levelled && !fm_sssp_favours(fab, &plan))
		return fm_balance(host, fab, &shape, NULL, digits, out, &found, err);
	plan.arcs = &shape.arcs;
	return fm_sssp_route(host, fab, &plan, out, &found, err);
}

FM_OWN_ENGINE(sssp, NULL,
    .summary = "Shortest paths, balanced globally; credit loops are possible off trees",
    .traits = FM_PROVIDES_LFT | FM_WRITES_WHOLE_ROWS | FM_NUMBERED_BY_CABLES, .options = options,
    .options_size = sizeof(struct sssp_options), .route = sssp_route);
