/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/judge/compare.h - what lies between two sets of tables: what has to be
 * written into switches, and what becomes of every pair.
 *
 * The two sides may be of different fabrics, as before and after an outage:
 * switches and end-ports are matched by GUID, addresses by LID.  Words and
 * counting of pairs are those of verify.h, so
 *
 *	kept + moved + lost   = reachable pairs before
 *	kept + moved + gained = reachable pairs after
 */
#ifndef LAB_JUDGE_COMPARE_H
#define LAB_JUDGE_COMPARE_H

#include "core/graph/snapshot.h"
#include "lib/pool.h"
#include "lib/vec.h"

struct compare_side {
	const struct snapshot *snap;
	const struct fm_tables *tables;
	uint16_t top_lid; /* highest LID with entries */
};

struct compare_pair {
	fm_end from, to; /* of the side before */
	uint16_t lid;
};

struct compare_report {
	/* What is written.  A switch that is gone cannot be; one that is new, or back, is
	 * taken for empty and gets all its blocks. */
	uint64_t entries;      /* (switch, LID) that differ */
	uint64_t entries_cut;  /* of these: no port any more */
	uint64_t blocks;       /* (switch, 64 LIDs) with at least one of them */
	uint64_t switch_infos; /* Sets of LinearFDBTop */
	uint64_t sl2vl;	       /* (switch, in port, out port) rows of SLs that differ */
	uint64_t smps;	       /* the three together */
	uint32_t switches;     /* with at least one block */
	/* What becomes of the pairs. */
	uint64_t kept, moved; /* reachable before and after: by the same ports, by others */
	uint64_t sl_changed;  /* of both: under another SL */
	uint64_t gained;
	uint64_t lost;
	uint64_t lost_gone;		   /* of these: one of the two is not there any more */
	uint64_t lost_apart;		   /* no cables join the two any more */
	uint64_t lost_unrouted;		   /* cables do, tables do not */
	FM_VEC(struct compare_pair) pairs; /* lost, with both still there; max_pairs of them */
	FM_VEC(fm_end) gone;		   /* end-ports of the side before, by LID; no switches */
};

/* Fill *out; compare_fini() in any case.  O((switches + ends) LIDs), on the
 * workers.  FM_E_RESOURCE. */
int compare_tables(const struct compare_side *before, const struct compare_side *after,
    uint32_t max_pairs, struct fm_pool *workers, struct compare_report *out, struct fm_error *err);
void compare_fini(struct compare_report *r);

#endif
