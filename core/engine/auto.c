/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In this order: shapes with routes in closed form, best balanced and without
 * credit loops; then any graph.  A fat tree may look like a HyperX with missing
 * cables, or a HyperX of unequal sides like a dragonfly, but not the other way
 * round.  For graphs of no shape balance comes first (dfsssp), then what never
 * runs out of VLs (nue), then what needs a single one.
 */
#include "core/engine/auto.h"

const struct auto_step auto_steps[AUTO_N_STEPS] = {
	{ "fattree", "a tree: cables join neighbouring tiers" },
	{ "hyperx", "a HyperX: switches in lines, each joined to all of its line" },
	{ "dragonfly", "a dragonfly: groups of joined switches, cables between all groups" },
	{ "torus2qos", "a torus or mesh of two or three dimensions" },
	{ "dor", "a mesh or hypercube" },
	{ "dfsssp", "no regular shape: shortest paths balanced over the whole fabric" },
	{ "nue", "no regular shape, and shortest paths need more VLs than are allowed" },
	{ "updn", "no regular shape, and nothing better fits the VLs allowed" },
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
