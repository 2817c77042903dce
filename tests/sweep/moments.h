/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/sweep/moments.h - a judge who looks at a simulated fabric after every
 * Set of a forwarding table that an agent has handled.
 *
 * Every LID whose entry has just changed is followed from every switch, over the
 * tables as they stand and all links that are up:
 *
 *	loop	a packet goes round in a circle
 *	hole	it is lost, though the way that the tables gave before the first Set
 *		of the sweep arrived, and the one after the last does
 */
#ifndef TESTS_SWEEP_MOMENTS_H
#define TESTS_SWEEP_MOMENTS_H

#include "tests/sweep/rig.h"

struct moments {
	struct rig *rig;
	uint32_t n_nodes, n_lids;
	uint8_t *tables;	 /* [n_nodes][n_lids] as they were at the last Set */
	uint8_t *before;	 /* [n_nodes][n_lids] 1: arrived at the first Set */
	uint8_t *lost;		 /* [n_nodes][n_lids] 1: did not at some moment */
	struct sim_place *owner; /* [n_lids] */
	uint32_t sweep;		 /* the Sets belong to: rig.n_reports */
	uint64_t n_sets;
	uint64_t n_needless;	   /* of them, that changed nothing */
	uint32_t n_loops, n_holes; /* (switch, LID) moments; (switch, LID) */
	char first[160];	   /* what was wrong first */
	/* this node falls silent at the so-many-th Set from now; 0 = never */
	uint32_t silence_node, silence_at;
};

/* From here on; the fabric has LIDs up to n_lids - 1. */
void moments_watch(struct moments *m, struct rig *r, uint32_t n_lids);
/* After a loss of power: tables changed without a Set. */
void moments_refresh(struct moments *m);
/* The sweeps are over: holes of the last are counted. */
void moments_end(struct moments *m);
/* Sweeps that traps have asked for, and a look at what went unnoticed; the end. */
void moments_settle(struct moments *m);
/* Power off at a switch, with what follows; it is on again when this returns. */
void moments_power_cycle(struct moments *m, uint32_t node);
void moments_fini(struct moments *m);

#endif
