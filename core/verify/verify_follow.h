/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/verify/verify_follow.h - every LID followed from every source over all next hops.
 *
 *	verify_follow.c		where its packets can get to
 *	verify_follow_deps.c	the dependencies this makes
 */
#ifndef CORE_VERIFY_VERIFY_FOLLOW_H
#define CORE_VERIFY_VERIFY_FOLLOW_H

#include "core/verify/verify_internal.h"

/* LIDs behind one switch that have the same next hops at all others, and are
 * handed to their owners there; or one LID by itself. */
struct lid_set {
	fm_sw sw;
	uint32_t first, n;	/* lids[first..first + n - 1], ascending */
	uint32_t n_switch_lids; /* among them; the others are ends that send */
};

enum follow_mark {
	MARK_OPEN = 1,	  /* packets from here are being followed */
	MARK_FAILS = 2,	  /* some path from here does not arrive */
	MARK_ARRIVES = 4, /* some path does */
	MARK_WRONG = 8	  /* hands the LID to another's port */
};

/* A switch on the path that is being followed, and the next hops left to be tried there. */
struct follow_step {
	fm_sw sw;
	uint64_t slots[PORT_WORDS];
};

/* One worker's memory. */
struct follower {
	struct tally *sums;
	uint32_t stamp;
	uint32_t *seen;		  /* [n_switches] stamp of the set whose packets came last */
	uint8_t *mark;		  /* [n_switches] enum follow_mark */
	uint16_t *hops;		  /* [n_switches] switches on the longest path, both ends counted */
	uint64_t *slots;	  /* [n_switches][words] next hops: positions of egress links */
	struct follow_step *step; /* [n_switches] */
	/* [n_switches] switches met, each after all it leads to, unless there is a loop */
	fm_sw *order;
	uint32_t n_order, n_carry; /* the first n_carry by packets of sources */
	uint32_t *place;	   /* [n_switches] in order */
	bool loops, no_memory;
	/* with several VLs */
	uint16_t *link_sls;	     /* [n_links] SLs of the packets on a link */
	uint16_t (*link_vls)[N_SLS]; /* [n_links][SL] VLs */
	uint16_t *reply_sls;	     /* [n_switches] SLs of replies from row reply_row */
	uint32_t reply_row;
};

struct following {
	struct judge *j;
	unsigned words;	     /* of a set of slots, at most PORT_WORDS */
	uint16_t *rep;	     /* [max_lid + 1] the first LID behind the same switch */
	uint8_t *alike;	     /* [max_lid + 1] 1 = the same next hops as that one */
	struct lid_set *set; /* [n_sets] */
	uint32_t n_sets;
	uint16_t *lids;
	struct follower *followers; /* [j->n_workers] */
};

static inline uint64_t *
slots_of(const struct following *f, const struct follower *w, fm_sw sw)
{
	return w->slots + (size_t)sw * f->words;
}

/* Has anybody at sw, where there are sources, a pair with a LID of the set? */
static inline bool
follow_has_pairs(const struct judge *j, const struct lid_set *c, fm_sw sw)
{
	return sw != c->sw || j->n_sources[sw] > 1 || c->n_switch_lids > 0;
}

/* Note the dependencies of the packets of a set; order[0..n_carry-1] is known. */
void verify_follow_deps(const struct following *f, struct follower *w, const struct lid_set *c);

#endif
