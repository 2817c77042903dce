/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/judge/compare_internal.h - what the parts of a comparison share.
 *
 *	compare.c	who is who on the other side; what has to be written
 *	compare_pairs.c	what becomes of every pair
 */
#ifndef LAB_JUDGE_COMPARE_INTERNAL_H
#define LAB_JUDGE_COMPARE_INTERNAL_H

#include "core/graph/snapshot.h"
#include "lab/judge/compare.h"
#include "lib/arena.h"

#define BLOCK_LIDS 64u

/* One side, indexed. */
struct side {
	const struct snapshot *snap;
	const struct fm_fabric *fab; /* of snap */
	const struct fm_tables *t;
	uint32_t top_lid;
	fm_sw *twin_sw;	  /* [n_switches] the same switch of the other side, FM_NONE */
	fm_end *twin_end; /* [n_ends] the same end-port on the same switch port */
	uint32_t *n_both; /* [n_switches] sources that the other side has too */
	uint32_t *n_own;  /* [n_switches] sources that it has not */
	bool any_own;
};

/* A worker's. */
struct scratch {
	uint8_t *way_before, *way_after; /* [n_switches] enum way */
	uint8_t *same;			 /* [n_switches] of after: enum way, ARRIVES = the same */
	fm_sw *path;			 /* [n_switches] */
	bool alike;			 /* every path to this LID is the same on both sides */
	struct compare_report sums;
};

struct comparison {
	struct side before, after;
	const struct snapshot *snap_after;
	struct scratch *scratch; /* [n_workers] */
	uint64_t (*moved)[4];	 /* [n_switches of after] ports that lead elsewhere than before */
	bool *any_moved;	 /* [n_switches of after] */
	bool no_sls;		 /* SL 0 on both sides */
	uint8_t *has_lost;	 /* [n_blocks] pairs were lost that pairs[] may name */
	uint32_t max_pairs;
	struct compare_report *out;
	struct fm_arena mem;
};

static inline bool
is_source(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] != FM_END_SWITCH && fab->end_sw[e] != FM_NONE;
}

static inline uint8_t
port_of(const struct side *s, fm_sw sw, uint32_t lid)
{
	return lid < s->t->lft_stride ? s->t->lft[sw][lid] : FM_PORT_NONE;
}

/* A switch that has left keeps its number, without links and ends. */
static inline bool
is_there(const struct side *s, fm_sw sw)
{
	const struct fm_fabric *fab = s->fab;

	return sw != FM_NONE &&
	    (fab->sw_first_link[sw] < fab->sw_first_link[sw + 1] ||
		fab->sw_first_end[sw] < fab->sw_first_end[sw + 1]);
}

/* Both sides are indexed: fill the pairs' part of *c->out.  False: no memory. */
bool compare_pairs(struct comparison *c, struct fm_pool *workers);

#endif
