/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In this order: shapes with routes in closed form, best balanced and without
 * credit loops; then any graph.  A fat tree may look like a HyperX with missing
 * cables, or a HyperX of unequal sides like a dragonfly, but not the other way
 * round.  For graphs of no shape balance comes first (dfsssp), then what never
 * runs out of VLs (nue), then what needs a single one.
 *
 * Digits, by which fattree routes, suit trees whose pods are alike; routes in closed form suit
 * shapes that are whole.  Where they leave links uneven, or need several VLs, the best of these and
 * of their rivals' is taken (core/route/rivals.h).  minhop promises no freedom from credit loops;
 * that of its tables is proven, as that of all.  The bounds on LIDs * links are where updn still
 * evens trees, and where dfsssp (some 200 switches) and nue (some 900) take about a second of one
 * core; beyond them they are asked when it is quiet (core/route/weigh.h).
 */
#include "core/engine/auto.h"

#define TREES_MOST 24000000u
#define DFSSSP_MOST 4000000u
#define NUE_MOST 100000000u

static const struct auto_rival of_trees[AUTO_RIVALS] = {
	{ "updn", "a ragged tree: up/down by load spreads it better", TREES_MOST },
	{ "minhop", "a ragged tree: shortest paths by load spread it better", TREES_MOST }
};
static const struct auto_rival of_shapes[AUTO_RIVALS] = {
	{ "dfsssp",
	    "a shape whose own routes are uneven or need many VLs: balanced shortest paths are "
	    "better",
	    DFSSSP_MOST },
	{ "nue", "a shape whose own routes are uneven or need many VLs: nue is better", NUE_MOST }
};
static const struct auto_rival of_any_graph[AUTO_RIVALS] = { { "nue",
    "no regular shape: nue is better than shortest paths, or needs fewer VLs", NUE_MOST } };

const struct auto_step auto_steps[AUTO_N_STEPS] = {
	{ .engine = "fattree",
	    .because = "a tree: cables join neighbouring tiers",
	    .rivals = of_trees },
	{ .engine = "hyperx",
	    .because = "a HyperX: switches in lines, each joined to all of its line",
	    .rivals = of_shapes },
	{ .engine = "dragonfly",
	    .because = "a dragonfly: groups of joined switches, cables between all groups",
	    .rivals = of_shapes },
	{ .engine = "torus2qos",
	    .because = "a torus or mesh of two or three dimensions",
	    .rivals = of_shapes },
	{ .engine = "dor", .because = "a mesh or hypercube", .rivals = of_shapes },
	{ .engine = "dfsssp",
	    .because = "no regular shape: shortest paths balanced over the whole fabric",
	    .rivals = of_any_graph },
	{ .engine = "nue",
	    .because = "no regular shape, and shortest paths need more VLs than are allowed" },
	{ .engine = "updn",
	    .because = "no regular shape, and nothing better fits the VLs allowed" },
};

const struct fm_engine auto_engine = {
	.magic = FM_ABI_MAGIC,
	.abi_major = FM_ABI_MAJOR,
	.abi_minor = FM_ABI_MINOR,
	.size = sizeof(struct fm_engine),
	.option_row_size = sizeof(struct fm_option),
	.name = "auto",
	.summary = "Looks at the fabric and takes the engine that suits it: fattree, hyperx, "
		   "dragonfly, torus2qos, dor, else dfsssp, nue, updn",
};
