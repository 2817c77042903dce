/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/reconfig.h - no deadlock between old tables and new ones.
 *
 * While tables change packets follow old entries, new ones, and mixtures: one
 * that left a switch before it was written meets the next after it was (deps.h).
 * All these dependencies together, with those of the destinations that stay, must
 * be free of cycles.  For each destination that changes the first that holds:
 *
 *	free	  all four kinds of dependencies fit: any order
 *	ordered	  all but new-old fit: rule N (transition.h), which excludes those
 *	later	  the same when the ones before are through and a packet's life time
 *		  has passed, so that their old and mixed dependencies are gone
 *	stuck	  left over: drained, or left as it is, or the plan is not used
 *
 * Who is stuck and whose old ways are whole keeps them, proven once more with the rest, and
 * with packets under new SLs (replies go by those of other destinations).  Whose are not,
 * because of a *loss*, is drained: those entries lead to what is lost.  If that does not go
 * together everything stuck is drained after a loss, and nothing is changed by a *recovery* or
 * *rebalance*, but that new switches are added to what there is as leaves (stub.h); the next
 * climb begins there.  These come first where ways that there were would be drained, and where
 * they join fewer pairs it is done as by a loss.  Another *engine* is taken up only if nothing is
 * stuck, or when an administrator says that it may drain.
 *
 * Whose path carries another SL goes on with the old one until it has been told and has asked
 * again, so all steps are proven under old SLs, on new ways, too, and new ways under new ones.
 * Who is drained has no such proof: under the new SLs alone is the whole known to be free of
 * cycles.  Where old and new SLs have a cycle together on entries that do not even change, LIDs
 * are drained with all their entries (reconfig_partition.c).  So the entries stay empty
 * (reconfig_awaits_hosts()): packets under the old SLs end there, as the writing is broken off before
 * they are filled, and the sweep after tells the hosts before it goes on.
 *
 * Writing that was broken off (plan_request.held) is gone on with from what the switches
 * hold, which is between the plan before and that before it.  Packets that it has met on
 * the way are gone a life time later: till then only what level turns allow is written.
 * Who was to be written later and finds no step now is drained.
 *
 * Where nearly all ways go up and then down (levels.h; trees) only the changed
 * entries are looked at, and the few LIDs that may make other turns.  Else the
 * dependencies of the LIDs that change, and O(dependencies) a few times; before that, once,
 * those of all LIDs (reconfig_prepare(); reconfig_counts.c).
 *
 * Why all four kinds: doc/design.md.
 */
#ifndef CORE_TRANSITION_RECONFIG_H
#define CORE_TRANSITION_RECONFIG_H

#include "core/plan/plan.h"

/* May writing `now` over `was` be broken off?  SLs and VLs have to be the same. */
bool reconfig_may_interrupt(const struct plan *was, const struct plan *now);
/* Are the entries that are emptied first (plan_change.sls_clash) to stay so till hosts have
 * been told that their paths carry other SLs, and SL-to-VL maps are written? */
bool reconfig_awaits_hosts(const struct plan *now);

/* From q->prev to *plan, which was just made and has not been given out: its change
 * and rules are filled.  What may not be taken up gives way to another plan, with
 * the tables of q->prev as far as they go.  On failure *plan is let go. */
int reconfig_plan(
    struct router *r, const struct plan_request *q, struct plan **plan, struct fm_error *err);

/* Count what all LIDs depend on where levels say nothing, so that the next climb from p
 * need not.  FM_E_RESOURCE. */
struct reconfig_counts;
int reconfig_prepare(struct router *r, struct plan *p, struct fm_error *err);
void reconfig_counts_free(struct reconfig_counts *k); /* NULL is fine */

#endif
