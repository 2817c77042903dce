/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/layers/layers.h - virtual lanes for given trees, so that no lane has
 * a credit loop.
 *
 * A layer is a virtual lane with a dependency graph of its own that is kept
 * acyclic (channels.h).  Every path from a switch with ends goes into the first
 * layer that takes all of its dependencies, so the first layers get most; they may be made
 * even in the end.
 *
 *	forward	 each (switch, tree) by itself
 *	paired	 all paths between two switches, both ways, in one layer: the
 *		 SL is the same both ways, and replies, which travel under the
 *		 requester's SL, are as safe as requests
 */
#ifndef PLUGINS_COMMON_LAYERS_LAYERS_H
#define PLUGINS_COMMON_LAYERS_LAYERS_H

#include "plugins/common/sssp/sssp.h"

struct fm_layer_plan {
	const struct fm_dimensions *dimensions; /* of which the trees are, or NULL */
	unsigned allowed;			/* lanes 0..allowed-1 may be used */
	unsigned start;				/* the first one used */
	unsigned enough; /* give up beyond so many; 0: count on, to say how many it takes */
	bool paired;
	bool even;    /* as many paths in each layer, as far as that closes no cycle */
	bool balance; /* spread the paths over all lanes allowed */
};

/*
 * SL start + 0 .. : with dimensions the datelines crossed, 2^n_datelines of them on
 * one or two lanes; then one SL and one lane for each layer.
 */
struct fm_layers {
	const struct fm_dimensions *dimensions;
	unsigned n;	/* layers */
	unsigned start; /* the first SL and the first VL */
	bool paired;
	/* [n_switches if paired, else n_trees][n_switches] of source switches: SL - start;
	 * NULL: all 0 */
	uint8_t *layer;
	uint64_t n_paths[FM_MAX_VLS]; /* by layer */
};

/* SLs and lanes before those of the layers. */
static inline unsigned
fm_first_sl(const struct fm_layers *l)
{
	return l->dimensions == NULL ? 0 : 1u << l->dimensions->n_datelines;
}

static inline unsigned
fm_first_lane(const struct fm_layers *l)
{
	return l->dimensions == NULL ? 0 : l->dimensions->n_datelines > 0 ? 2 : 1;
}

static inline unsigned
fm_layer_of(const struct fm_layers *l, const struct fm_sssp_trees *f, uint32_t tree, fm_sw source)
{
	size_t row = l->paired ? f->root[tree] : tree;

	return l->layer == NULL ? 0 : l->layer[row * f->arcs->n_switches + source];
}

/* Lanes that the request allows and all links between switches have. */
unsigned fm_layers_allowed(const struct fm_fabric *fab, const struct fm_request *req);

/*
 * FM_E_RESOURCE, FM_E_CANCELLED; FM_E_TOPOLOGY when more lanes are needed than are
 * allowed, in a sentence that says how many.
 *
 * O(trees * switches) look-ups and the searches for new dependencies; with
 * paired, O(trees * switches * hops); with even, for each layer once more.
 */
int fm_layers_build(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_trees *f, const struct fm_layer_plan *plan, struct fm_layers *out,
    struct fm_error *err);

/* Lead routes to hosts round the fullest links, in the tables of the trees, by paths no longer in
 * the same layers.  Layers that are paired alone, and fabrics with one LID an end (base) that are
 * not too large; else nothing is done.  FM_E_RESOURCE, FM_E_CANCELLED. */
int fm_layers_even(const struct fm_host *host, const struct fm_fabric *base,
    const struct fm_sssp_trees *f, const struct fm_layers *layers, const struct fm_tables *out,
    struct fm_error *err);

/* Divide the paths of full layers among all lanes allowed. */
void fm_layers_balance(struct fm_layers *layers, const struct fm_sssp_trees *f, unsigned allowed);

/* out->sl and what belongs to it.  Rows in parallel. */
void fm_layers_write(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_sssp_trees *f, const struct fm_layers *layers, struct fm_tables *out);

#endif
