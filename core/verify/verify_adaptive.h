/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/verify/verify_adaptive.h - judging the union of all alternatives.
 *
 *	verify_adaptive.c	classes of LIDs, where their packets can get to
 *	verify_adaptive_deps.c	the dependencies this makes
 */
#ifndef CORE_VERIFY_VERIFY_ADAPTIVE_H
#define CORE_VERIFY_VERIFY_ADAPTIVE_H

#include "core/verify/verify_internal.h"

/* LIDs behind one switch that have the same choices at all others, and are
 * handed to their owners there; or one LID by itself. */
struct adaptive_class {
	fm_sw sw;
	uint32_t first, n;	/* lids[first..first + n - 1], ascending */
	uint32_t n_switch_lids; /* among them; the others are ends that send */
};

enum adaptive_mark {
	MARK_OPEN = 1,	  /* packets from here are being followed */
	MARK_FAILS = 2,	  /* some way from here does not arrive */
	MARK_ARRIVES = 4, /* some way does */
	MARK_WRONG = 8	  /* hands the LID to another's port */
};

/* A switch on the way that is being followed, and what is left to be tried there. */
struct adaptive_step {
	fm_sw sw;
	uint64_t ports[PORT_WORDS];
};

struct adaptive_walker {
	struct walker *sums; /* and clues, and the SLs of replies */
	uint32_t stamp;
	uint32_t *seen; /* [n_switches] stamp of the class whose packets came last */
	uint8_t *mark;	/* [n_switches] enum adaptive_mark */
	uint16_t *hops; /* [n_switches] switches on the longest way, both ends counted */
	uint64_t (*slots)[PORT_WORDS]; /* [n_switches] egress links, by their position */
	struct adaptive_step *step;    /* [n_switches] */
	/* [n_switches] switches met, each after all it leads to, unless there is a loop */
	fm_sw *order;
	uint32_t n_order, n_carry; /* the first n_carry by packets of sources */
	uint32_t *place;	   /* [n_switches] in order */
	bool loops, no_memory;
	/* VL mode: what is on a link */
	uint16_t *link_sls;	     /* [n_links] */
	uint16_t (*link_vls)[N_SLS]; /* [n_links][SL] VLs */
};

struct adaptive {
	struct judge *j;
	uint16_t *rep;		      /* [max_lid + 1] the first LID behind the same switch */
	uint8_t *alike;		      /* [max_lid + 1] 1 = the same choices as that one */
	struct adaptive_class *class; /* [n_classes] */
	uint32_t n_classes;
	uint16_t *lids;
	struct adaptive_walker *walkers; /* [j->n_walkers] */
};

/* Has anybody at sw, where there are sources, a pair with a LID of the class? */
static inline bool
adaptive_has_pairs(const struct judge *j, const struct adaptive_class *c, fm_sw sw)
{
	return sw != c->sw || j->n_sources[sw] > 1 || c->n_switch_lids > 0;
}

/* Note the dependencies of the packets of a class; order[0..n_carry-1] is known. */
void verify_adaptive_deps(
    const struct adaptive *a, struct adaptive_walker *w, const struct adaptive_class *c);

#endif
