/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/keep.h - tables that serve a later fabric too.
 *
 * Most events are hosts that reboot and leaves that go and come back.  The
 * switches and cables that carry anybody's traffic are then what they were,
 * and so are the right tables: no engine is called.
 *
 *	gone	a port's entries stay in the switches for linger_ms (plan.absent):
 *		whoever is back by then finds them, and nothing is written; unless
 *		they would close a cycle (linger.h)
 *	new	a LID on a switch that has hosts gets the column of one of them: it
 *		leads along the same channels, so nothing acyclic gets a cycle
 *
 * Refused, so that repair (repair.h) or an engine sees it: a cable or switch
 * that is new or back, or that was lost and carried traffic of somebody who is
 * still there; another rate or number of VLs; a host on a switch where none is;
 * more new LIDs than a sixteenth of the fabric since the engine ran.
 */
#ifndef CORE_PLAN_KEEP_H
#define CORE_PLAN_KEEP_H

#include "core/graph/graph_diff.h"
#include "core/plan/plan.h"

/* The new plan beside the old: what keeping, going back and repairing (repair.h) need of both. */
struct keep_joiner {
	fm_end end, like; /* like: whose columns it gets, mostly an end of the same switch */
};

struct keeping {
	struct router *r;
	const struct plan *prev; /* borrowed, as is snap */
	struct snapshot *snap;
	bool allow_credit_loops;
	bool older; /* packets of tables before prev's may be under way */
	double began_ms;
	struct graph_diff diff; /* prev->graph against snap, which are comparable */
	bool same_ends;		/* those of prev */
	FM_VEC(struct keep_joiner) joiners;
	FM_VEC(uint16_t) dropped; /* LIDs whose columns go */
	struct plan *p; /* the new plan, without tables; NULL: prev's serve for no such plan */
};

/* Begin a plan for q->snap on q->prev's tables: joiners, dropped, and of the plan all that is no
 * table, as absent, top_lid, engine.  k->p NULL: an engine has to see this fabric.  Then any of
 * the functions below may give the plan tables that are proven: *done.  keep_end() ends it, also
 * after a failure: *out gets the plan when rc is 0 and it serves.  Returns rc.
 * O(links + ends).  FM_E_RESOURCE. */
int keep_begin(
    struct keeping *k, struct router *r, const struct plan_request *q, struct fm_error *err);
int keep_end(struct keeping *k, int rc, bool serve, struct plan **out);
/* The tables of prev; with a LID new or dropped a copy of them.  One verification. */
int keep_tables(struct keeping *k, bool *done, struct fm_error *err);
/* A copy of them without the deviations of prev, or without one of each LID, where all cables that
 * this needs are there.  One verification. */
int keep_go_back(struct keeping *k, bool one_each, bool *done, struct fm_error *err);

/* The tables did not do: the plan is again what keep_begin() made it. */
void keep_take_back(struct keeping *k);
/* Do the tables of prev lead to all LIDs of the end, from its switch on? */
bool keep_has_column(const struct keeping *k, fm_end e);
/* The plan's tables: a copy of prev's with the columns of joiners and dropped as they are to be;
 * rows of switches that prev has none of are empty. */
int keep_copy(struct keeping *k, struct fm_error *err);

/* Has a LID of absent been gone for linger_ms? */
bool plan_lingers_too_long(const struct plan *p, int64_t now_ms, int64_t linger_ms);

#endif
