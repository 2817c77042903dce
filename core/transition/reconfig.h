/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/reconfig.h - deadlock-free reconfiguration: the steps from old tables to new.
 *
 * While tables change, packets follow old entries, new ones, and mixtures: a packet that left a
 * switch before it was written meets the next one after it was (core/cdg/deps.h).  All these
 * dependencies together, with those of the LIDs that do not change, must be free of cycles.  Each
 * LID that changes gets the first of these that keeps them so:
 *
 *	any order	old, new and mixed dependencies fit together
 *	next hop first	all fit but those of packets that meet an old entry after a new one.
 *			Each entry is written after the next changed one on its new path
 *			(transition.h), which excludes these.
 *	deferred	the same holds when the LIDs of the step before are written and a packet's
 *			life time has passed, so that their old and mixed dependencies are gone
 *	conflicting	none of these: the LID keeps its old entries, or is drained, or the plan is
 *			not used
 *
 * A conflicting LID whose old paths are whole keeps them; the tables that result are proven once
 * more.  Where a *loss* has cut its old paths it is drained: the entries that change, most of
 * which lead to what is lost, are emptied, and filled a packet's life time later.  If the kept
 * and the drained do not go together, all conflicting LIDs are drained after a loss; for a
 * *recovery* or *rebalance* nothing is changed, except that new switches join as stubs of the old
 * tables (stub.h).  Another *engine* is taken up only if no LID conflicts, or when an
 * administrator says that it may drain.
 *
 * A host that was told an SL goes on with it until it has been notified and has asked again.  So
 * all steps are proven under old SLs, on new paths, too, and new paths under new SLs.  A drained
 * LID has no such proof; its entries stay empty (reconfig_awaits_hosts()) and end packets under
 * old SLs there, the sweep ends, and the sweep after it notifies the hosts before it fills the
 * entries.  Where old and new SLs have a cycle together on entries that do not even change, LIDs
 * are drained with all their entries (reconfig_partition.c).
 *
 * Where writing was interrupted (plan_request.installed) the reconfiguration begins at what the
 * switches hold.  Which of its packets are in flight is not known: until they are gone only legal
 * turns are written.  A LID that was deferred and finds no step now is drained.
 *
 * Cost.  Where nearly all paths go up and then down (core/plan/levels.h; trees) only entries that
 * change are looked at, and the few LIDs that may make prohibited turns.  Else the dependencies of
 * the LIDs that change, and O(dependencies) a few times; once before that, in the background,
 * those of all LIDs (reconfig_prepare()).
 *
 * Sources: Dally and Seitz, IEEE Trans. Computers 36, 1987 (cycles of channel dependencies);
 * Duato, Lysne, Pang and Pinkston, "A theory for deadlock-free dynamic network reconfiguration",
 * IEEE Trans. Parallel and Distributed Systems 16, 2005 (old, new and mixed dependencies together);
 * Lysne, Montanana, Flich, Duato, Pinkston and Skeie, "An efficient and deadlock-free network
 * reconfiguration protocol", IEEE Trans. Computers 57, 2008 (on each link old packets go before new
 * ones; here the packets of a step are gone before the next).  Why all four kinds of dependencies:
 * doc/design.md.
 */
#ifndef CORE_TRANSITION_RECONFIG_H
#define CORE_TRANSITION_RECONFIG_H

#include "core/plan/plan.h"

/* May writing `now` over `was` be interrupted between two steps?  SLs and VLs must be the same. */
bool reconfig_may_interrupt(const struct plan *was, const struct plan *now);
/* Do the entries that are emptied first stay so until hosts have been notified that their paths
 * carry other SLs (plan_change.sls_clash), and SL-to-VL maps are written? */
bool reconfig_awaits_hosts(const struct plan *now);

/* From q->prev to *plan, which was just made and has not been given out: fills plan.change and
 * plan.rules.  A plan that may not be taken up gives way to another one with the tables of
 * q->prev as far as they go.  0, or an error of memory or of verify: *plan is released then, and
 * NULL. */
int reconfig_plan(
    struct router *r, const struct plan_request *q, struct plan **plan, struct fm_error *err);

/* Count what all LIDs depend on, where levels do not say it, so that the next reconfig_plan() from
 * p need not.  0 or FM_E_RESOURCE. */
struct reconfig_counts;
int reconfig_prepare(struct router *r, struct plan *p, struct fm_error *err);
void reconfig_counts_free(struct reconfig_counts *k); /* NULL is fine */

#endif
