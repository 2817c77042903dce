/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/judge/props.h - properties that every engine must have, as tests.
 *
 * The engine tests of this tree and fmd-engine-check use them alike:
 *
 *	pure	 the same bytes twice, and with 1, 2 and 8 workers
 *	memory	 with the 1st, 2nd, 3rd, ... scratch allocation failing:
 *		 FM_E_RESOURCE each time, and the same bytes once none fails
 *	rows	 for an engine that writes whole rows, or SLs: no entry keeps what
 *		 the memory held before
 *	bounds	 nothing is written beside the rows, nor for LIDs beyond max_lid
 *	verdict	 every pair routed, no loop, no wrong host, VLs within the
 *		 budget, no credit loop where the engine promises none
 *	names	 with other GUIDs, names, LIDs and node order: the same pairs, hops
 *		 and verdict, the largest load within a tenth
 *	lmc	 verdict, bytes and refusal once more where each host has two LIDs
 *	stop	 told to stop before it begins: FM_E_CANCELLED, or the same bytes
 *	refusal	 of kind TOPOLOGY or RESOURCE, with a sentence (one line of 10
 *		 characters or more), the same with 1, 2 and 8 workers
 *
 * Engines with adaptive routing are asked for it: these are properties of their
 * groups too, and of all alternatives together.
 */
#ifndef LAB_JUDGE_PROPS_H
#define LAB_JUDGE_PROPS_H

#include "core/plan/plan.h"
#include "core/verify/verify.h"

/* What other names may change. */
enum props_names {
	PROPS_NAMES_ALIKE,   /* the largest load, by a tenth, hops by a thousandth */
	PROPS_NAMES_EQUAL,   /* no load: a closed form on a whole fabric */
	PROPS_NAMES_ROUGHLY, /* hops by a twentieth, the largest load by a quarter */
	PROPS_NAMES_MATTER   /* all but the pairs that have a path */
};

/* Routers that many checks use, one for each number of workers; begins zeroed.
 * Making them costs more than routing a small fabric. */
struct props_routers {
	struct router made[3];
	unsigned n_workers[3]; /* 0: not made yet */
};
void props_routers_fini(struct props_routers *r);

/* What is learned on the way, whatever the outcome; begins zeroed. */
struct props_found {
	struct verdict verdict; /* of the first tables, where there are any */
	bool asks;		/* the engine has asked should_stop() */
};

struct props {
	const struct fm_engine *engine;
	const struct option_values *values; /* NULL = defaults */
	struct snapshot *snap;
	uint8_t n_vls;
	bool pairs_may_lack;	  /* a pair without a path is no fault (it is counted) */
	bool memory_suffices;	  /* allocations are not made to fail: that is many calls */
	struct snapshot *renamed; /* the same fabric under other names; NULL: not checked */
	enum props_names names;
	struct snapshot *with_lmc; /* the same fabric with LMC 1; NULL: not checked */
	struct props_found *found; /* NULL: not wanted */
	/* NULL, or told what is tried before the engine is called, as "stop" or
	 * "memory: scratch allocation 7 fails" */
	void (*trying)(void *arg, const char *what);
	void *arg;
	struct props_routers *routers; /* NULL: new ones for each call */
};

enum props_outcome { PROPS_HOLD, PROPS_BROKEN, PROPS_REFUSED };

/* PROPS_REFUSED: the engine says it cannot route this fabric (FM_E_TOPOLOGY)
 * or not within its VLs (FM_E_RESOURCE), no fault of it.  report gets a
 * sentence unless all holds; n_allocs the allocations that were failed one by
 * one. */
enum props_outcome props_check(
    const struct props *p, uint64_t *n_allocs, char *report, size_t room);

/* What hundreds of faults can be tried with: verdict, the same bytes with 1
 * worker and with many, refusal.  *verdict is that of tables made. */
enum props_outcome props_check_quick(
    const struct props *p, struct verdict *verdict, char *report, size_t room);

/* A digest of everything an engine may fill. */
uint64_t props_digest(const struct fm_fabric *fab, const struct fm_tables *t);

#endif
