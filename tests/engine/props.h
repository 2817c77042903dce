/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/engine/props.h - what any engine must hold on any fabric.
 *
 * Each returns 0, or fails with the sentence of what does not hold.  An
 * engine that refuses a fabric (FM_E_TOPOLOGY, or FM_E_RESOURCE for VLs) holds
 * them all; *refused tells, if given.
 */
#ifndef TESTS_ENGINE_PROPS_H
#define TESTS_ENGINE_PROPS_H

#include "core/route/plan.h"

struct prop_case {
	const struct fm_engine *engine;
	const void *opts; /* as from options_bind() */
	struct snapshot *snap;
	uint8_t n_vls;
};

/* The same bytes twice, and at 1, 2 and 8 workers. */
int prop_pure(const struct prop_case *c, bool *refused, struct fm_error *err);

/* Every scratch allocation failing in turn gives FM_E_RESOURCE, no crash and
 * nothing kept; at most max_points of them, evenly spread. */
int prop_survives_no_memory(const struct prop_case *c, uint32_t max_points, struct fm_error *err);

/* Verified: no loop, wrong host or VL error; no credit loop where the engine
 * promises none.  *v is the verdict when not refused. */
int prop_safe(const struct prop_case *c, struct verdict *v, bool *refused, struct fm_error *err);

#endif
