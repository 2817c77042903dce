/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/reconfig_internal.h - what the parts of a reconfiguration share.  Each calls only
 * those above it:
 *
 *	reconfig_compare.c	what two plans have in common
 *	reconfig_build.c	what packets depend on by the tables of one plan
 *	mixtures.c		one VL: what a LID that changes adds to that
 *	order.c			a rule for each LID that changes
 *	reconfig_partition.c	old and new SLs that have a cycle together
 *	stub.c			new switches as stubs of the old tables
 *	reconfig_conflicts.c	the LIDs that found no rule
 *	reconfig_resume.c	where writing was interrupted
 *	reconfig.c		from one plan to the next
 *
 * Functions that return bool without more said return false when out of memory.
 */
#ifndef CORE_TRANSITION_RECONFIG_INTERNAL_H
#define CORE_TRANSITION_RECONFIG_INTERNAL_H

#include "core/cdg/depend.h"
#include "core/graph/graph_diff.h"
#include "core/transition/reconfig.h"

#define DEFERRED 1 /* the step of LIDs that wait till older packets are gone */

/* What was found for a LID that changes. */
enum mark {
	CONFLICTING, /* no rule, so far */
	MUST_DRAIN,  /* none, nor may its old entries stay */
	ANY_ORDER,
	NEXT_HOP_FIRST,
	KEEPS_OLD /* it conflicts, and its old entries stay */
};

/* Packets that have chosen by groups of the tables before. */
enum choices {
	NO_CHOICES,
	CHOICES_HELD,	 /* what they depend on is in the graph */
	CHOICES_NOT_HELD /* they count as older packets */
};

struct reconfig {
	struct router *r;
	/* What the switches hold, and what they are to; p was just made, and may still change */
	const struct plan *prev;
	struct plan *p;
	const struct plan *target; /* of writing that was interrupted at prev; else NULL */
	const struct plan_flight *flight;
	enum plan_drain drain;
	bool allow_credit_loops;
	int64_t now_ms;
	const struct fm_fabric *fab, *usable; /* of all entries; of new ones, perhaps less */
	struct fm_fabric was;		      /* fab, as far as the tables before have rows */
	enum verify_sl_model model;
	uint32_t n_vls;
	bool same_vls; /* by both plans every packet has the same VL */
	bool at_hand;  /* g is the graph of repair, which made the new tables */
	enum choices choices;
	bool in_flight;	       /* of older plans than the one before */
	struct depend *g;      /* what packets in the fabric depend on, perhaps more */
	struct deps *deps;     /* several VLs: of LIDs as a whole */
	uint8_t *sends;	       /* [n_switches] 1: an end there sends */
	uint8_t *rules;	       /* [top_lid + 1] of writing (transition.h) */
	uint8_t *mark;	       /* [top_lid + 1] enum mark */
	uint8_t *arrivals;     /* [2 * n_switches] room of reconfig_compare.c */
	FM_VEC(uint16_t) lids; /* that change */
	uint32_t n_conflicting;
	bool clashes;	  /* old and new SLs together have a cycle, in old or in new tables */
	bool keeps_parts; /* of some columns: reconfig_keep_old_path() */
	bool parted;	  /* conflicting LIDs are drained whole, all others are proven together */
	uint32_t n_cut;	  /* conflicting LIDs whose old paths are whole; by reconfig_partition() */
};

/* The last plan that was given out. */
static inline const struct plan *
reconfig_last(const struct reconfig *c)
{
	return c->target != NULL ? c->target : c->prev;
}

static inline bool
reconfig_conflicts(const struct reconfig *c, uint16_t lid)
{
	return c->mark[lid] == CONFLICTING || c->mark[lid] == MUST_DRAIN;
}

/* reconfig_compare.c; dependencies are those on c->fab, NULL: out of memory */
struct deps *reconfig_deps(const struct reconfig *c);
/* is_asked_for: other tables than those of prev are wanted. */
enum plan_change_kind reconfig_kind(
    const struct plan *prev, const struct plan *p, bool is_asked_for);
bool reconfig_has_link(const struct fm_fabric *fab, fm_sw sw, fm_sw to, uint8_t port);
/* Is the SL of every path that both know the same? */
bool reconfig_same_sls(const struct plan *was, const struct plan *now);
/* Do packets from all switches that p joins to the LID arrive by the old entries as well? */
bool reconfig_old_path_is_whole(const struct reconfig *c, uint16_t lid);
/* Into column [n_switches], NULL: nowhere: old entries, but the new ones of switches that p joins
 * to the LID and the old entries do not.  False: that is p's column. */
bool reconfig_keep_old_path(const struct reconfig *c, uint16_t lid, uint8_t *column);

/* reconfig_build.c: by the tables of the plan before.  NULL: out of memory. */
struct depend *reconfig_build(const struct reconfig *c);
/* order.c: c->lids and a rule for each, beside what is in c->g, which is not cyclic. */
bool reconfig_order(struct reconfig *c);
/* The same where c->g is cyclic by old and new SLs; c->deps is known. */
bool reconfig_partition(struct reconfig *c);
/* stub.c: is the switch there now and was not for the plan? */
bool stub_is_new(const struct plan *was, const struct fm_fabric *now, fm_sw sw);
/* A plan for the fabric of c->p with the tables of the last one, where new switches are stubs and
 * other new ends have columns of those beside them: *out, or NULL where that is not safe or joins
 * fewer pairs than c->p.  That comes next: where it was repaired, a repair.  FM_E_RESOURCE. */
int stub_attach(const struct reconfig *c, struct plan **out, struct fm_error *err);
/* p gets all of the last plan that is no table. */
bool stub_copy_attributes(const struct reconfig *c, struct plan *p);
/* Conflicting LIDs keep their entries, are drained, or *stays is a plan with the tables that there
 * are, in place of c->p. */
int reconfig_resolve_conflicts(struct reconfig *c, struct plan **stays, struct fm_error *err);
/* What is installed, as a plan on the way to target.  NULL: *err. */
struct plan *reconfig_resume(struct router *r, const struct plan *target,
    const struct plan_flight *flight, struct fm_error *err);
#endif
