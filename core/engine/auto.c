/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In this order: shapes with routes in closed form, best balanced and without
 * credit loops; then any graph.  A fat tree may look like a HyperX with missing
 * cables, or a HyperX of unequal sides like a dragonfly, but not the other way
 * round.  For graphs of no shape balance comes first (dfsssp), then what never
 * runs out of VLs (nue), then what needs a single one.
 *
 * Digits, by which fattree routes, suit trees whose pods are alike.  Where they leave links
 * uneven, the better of fattree and updn is taken (core/route/route.c).
 */
#include "core/engine/auto.h"

const struct auto_step auto_steps[AUTO_N_STEPS] = {
	{ .engine = "fattree",
	    .because = "a tree: cables join neighbouring tiers",
	    .rival = "updn",
	    .rival_because = "a ragged tree: up/down by load spreads it better" },
	{ .engine = "hyperx",
	    .because = "a HyperX: switches in lines, each joined to all of its line" },
	{ .engine = "dragonfly",
	    .because = "a dragonfly: groups of joined switches, cables between all groups" },
	{ .engine = "torus2qos", .because = "a torus or mesh of two or three dimensions" },
	{ .engine = "dor", .because = "a mesh or hypercube" },
	{ .engine = "dfsssp",
	    .because = "no regular shape: shortest paths balanced over the whole fabric" },
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
