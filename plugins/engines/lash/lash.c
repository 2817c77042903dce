/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lash - layered shortest paths: one path for each pair of switches, in lanes without loops.
 *
 * Idea.  One balanced tree to each switch, and for each pair of switches the
 * first lane that its paths fit into without a cycle of channel dependencies (Skeie,
 * Lysne, Theiss, "Layered Shortest Path (LASH) Routing in Irregular System Area
 * Networks", IPDPS 2002).  Pairs then move from lanes with many to lanes with few, as far as
 * that closes no cycle.  In the end routes are led round the fullest links, each in its lane, so
 * that LIDs of a switch may part.  The cables between two switches are shared by the LIDs.
 * Levelled fabrics, and grids by their analysis into dimensions, are routed as
 * by dfsssp: up/down on one lane, in dimension order on one or two.
 *
 * When to use.  As dfsssp, where fewer lanes count more than the last bit of balance;
 * or where the lowest lanes belong to others (start_vl).
 *
 * Promises.  No credit loops, replies included (paired: the SL of a pair is the
 * same both ways).  Shortest paths, with the exceptions of dfsssp.  Disconnected
 * fabrics are routed part by part.
 *
 * Options.  start_vl: the first lane and SL.  paired = false: enough where
 * sl_model = forward.  balance_vls: use all lanes.
 *
 * Refuses fabrics that need more lanes than are allowed, and says how many.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "plugins/common/layers/layered.h"

struct lash_options {
	int64_t start_vl;
	bool paired, balance_vls;
};

static const struct fm_option options[] = {
	{ .name = "start_vl",
	    .type = FM_OPT_INT,
	    .offset = offsetof(struct lash_options, start_vl),
	    .def = "0",
	    .min = 0,
	    .max = FM_MAX_VLS - 1,
	    .help = "First VL to use; lower ones are left to other traffic." },
	{ .name = "paired",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct lash_options, paired),
	    .def = "true",
	    .help = "One SL both ways, so that replies are safe; without, only for sl_model = "
		    "forward." },
	{ .name = "balance_vls",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct lash_options, balance_vls),
	    .def = "false",
	    .help = "Spread the paths over all VLs allowed, not only over those needed." },
	{ .type = FM_OPT_END },
};

/* One tree to a switch, but different ones to the LIDs of an end, to so many. */
static uint32_t
count_trees(const struct fm_fabric *fab)
{
	uint32_t lmc = 0;

	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_lmc[e] > lmc)
			lmc = fab->end_lmc[e];
	return lmc < 2 ? 1u << lmc : 4;
}

static int
lash_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct lash_options *o = opts;
	struct fm_layered how = { .trees = { .trees_per_switch = count_trees(fab) },
		.start_vl = (unsigned)o->start_vl,
		.paired = o->paired,
		.even = true,
		.balance_vls = o->balance_vls };

	return fm_route_layered(host, fab, req, &how, out, err);
}

FM_OWN_ENGINE(lash, NULL, .summary = "Layered shortest paths; no credit loops, by VLs",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROMISES_NO_CREDIT_LOOPS |
	FM_WRITES_WHOLE_ROWS | FM_WRITES_WHOLE_SLS | FM_NUMBERED_BY_CABLES,
    .options = options, .options_size = sizeof(struct lash_options), .route = lash_route);
