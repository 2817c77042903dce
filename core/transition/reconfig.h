/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/reconfig.h - deadlock-free reconfiguration: from old tables to new.
 *
 * While tables change, packets follow old entries, new ones, and mixtures: a packet that left a
 * switch before it was written meets the next one after it was (core/cdg/deps.h).  All these
 * dependencies together, with those of the LIDs that do not change, must be free of cycles.  They
 * are kept in one graph (order.c).  Each LID that changes gets the first of these rules that keeps
 * it acyclic:
 *
 *	any order	old, new and mixed dependencies fit
 *	next hop first	all fit but those of packets that meet an old entry after a new one.
 *			Each entry is written after the next changed one on its new path
 *			(transition.h), which excludes these.
 *	conflicting	neither: the LID keeps its old entries, or is drained, or the plan is not
 *			used
 *
 * LIDs are *deferred* by a packet's life time where older packets may meet what they become.
 *
 * A conflicting LID whose old paths are whole keeps them; the tables that result are proven once
 * more.  Where a *loss* has cut its old paths it is drained: the entries that change, most of
 * which lead to what is lost, are emptied, and filled a packet's life time later.  If the kept
 * and the drained do not go together, all conflicting LIDs are drained after a loss; for a
 * *recovery* or *rebalance* nothing is changed, except that new switches join as stubs of the old
 * tables (stub.c).  Another *engine* is taken up only if no LID conflicts, or when an
 * administrator says that it may drain.
 *
 * A host that was told an SL goes on with it until it has been notified and has asked again.  So
 * all rules are proven under old SLs, on new paths, too, and new paths under new SLs.  A drained
 * LID has no such proof; its entries stay empty (reconfig_awaits_hosts()) and end packets under
 * old SLs there, the sweep ends, and the sweep after it notifies the hosts before it fills the
 * entries.  Where old and new SLs have a cycle together on entries that do not even change, LIDs
 * are drained with all their entries (reconfig_partition.c).
 *
 * Where writing was interrupted (plan_flight.installed) the reconfiguration begins at what the
 * switches hold.
 *
 * Cost: order.c.  Where repair did not make the plan, a graph is built first (reconfig_build.c).
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

#endif
