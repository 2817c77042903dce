/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/overlay/overlay.h - MLNX_OFED's routing chains: steps laid over one another.
 *
 * Each step routes a part of the fabric, its topology, with an engine of its own
 * and for one path bit (LID = base + path-bit); its entries replace those of the
 * steps before it.  The first has the whole fabric.  A step marked as fallback
 * runs if the step it names has failed.
 *
 * What the original leaves open:
 *	- any engine may stand in a step; an entry that it leaves empty stays as it was
 *	- a path bit that no step of the port names goes the way of path bit 0
 *	- a step that fails without a fallback that works fails the whole, so that
 *	  the next entry of the chain is asked
 *	- a step with SLs has SLs and VLs of its own, those of a path being of the last
 *	  step that has both its source switch and its LID; steps without share SL 0,
 *	  unless they close a credit loop together
 *	- the result is verified like that of any engine
 */
#ifndef CORE_OVERLAY_OVERLAY_H
#define CORE_OVERLAY_OVERLAY_H

#include "core/overlay/rchain.h"
#include "core/plan/plan.h"

struct overlay_step {
	struct chain_entry entry;
	uint32_t id, topology; /* as written; index of rchain.topologies */
	uint32_t fallback_to;  /* index of the step that must have failed; FM_NONE */
	uint8_t path_bit;
};

struct overlay {
	const struct rchain *rchain;	  /* groups and topologies */
	const struct overlay_step *steps; /* [n_steps] by ascending id */
	uint32_t n_steps;
};

/* For lists, help and the name in a chain; it has no route(). */
extern const struct fm_engine chains_engine;

/* Tables of p->snap: *out, one reference, not yet verified; steps that have failed and the
 * fallback in the place of each are put among p->refused.  FM_E_TOPOLOGY naming the
 * step, with the reason of its engine; FM_E_RESOURCE. */
int overlay_route(struct router *r, const struct overlay *o, struct plan *p, struct tables **out,
    struct fm_error *err);

enum overlay_fate {
	OVERLAY_ROUTES,
	OVERLAY_FAILED,	   /* why stands among the plan's refusals */
	OVERLAY_NOT_NEEDED /* a fallback, and its step routes */
};
/* What became of step i of o in p, a plan that o has made. */
enum overlay_fate overlay_fate(const struct overlay *o, uint32_t i, const struct plan *p);

#endif
