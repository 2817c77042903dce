/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/repair.h - tables for a fabric that has lost, or got back, cables
 * or switches: only the entries that this touches are chosen anew.
 *
 *	back	an entry that differs from the last full route goes back to its
 *		nominal port as soon as the nominal path leads to the LID again
 *	lost	an entry whose port leads nowhere gets another one: the old length
 *		along channels that packets already take one after another; else
 *		the same length with new dependencies; else those behind it try the
 *		same, and who still has none takes the shortest way that closes no
 *		cycle of dependencies; or one over switches that no packets come
 *		through (repair_lead.c).  Nominal port, old port, least loaded port
 *
 * A choice and its dependencies are one step (depend.h), so nothing has to be
 * taken back later.  What carries no packets and has no way is left as it was:
 * it leads to a dead port, and is right again when that comes back.
 *
 * Repaired tables have no groups of adaptive routing: those that a repair would leave are not
 * proven, and a quiet pass gives them others (route.h).
 *
 * SLs and VLs stay what they are, but where pairs have SLs of layers and no way is free of
 * credit loops by them: those that would close a cycle get others (repair_move.c).  Not
 * repaired, so that the chain routes anew: what is new and not back; VLs
 * that go by the numbers of links (FM_SL2VL_BY_OUT); credit loops; a pair that would be left
 * without a path though there are cables.
 */
#ifndef CORE_REPAIR_REPAIR_H
#define CORE_REPAIR_REPAIR_H

#include "core/plan/keep.h"

/* k's plan gets tables that are repaired from those of the plan before, and their verdict: *done;
 * else an engine has to do it.  FM_E_RESOURCE. */
int plan_repair(struct keeping *k, bool *done, struct fm_error *err);

/* LIDs with a byte in lids[0..top_lid] have entries of prev after all, in p->tables, too: take
 * these out of what p says it has changed.  False: out of memory. */
bool repair_revert(struct router *r, struct plan *p, const struct plan *prev, const uint8_t *lids);

/* Make what the first repair of p needs, so that it need not wait: dependencies,
 * loads, sums of the verdict and two copies of the tables, one turned round.  About as long as
 * a verification.  FM_E_RESOURCE. */
int repair_prepare(struct router *r, const struct plan *p, struct fm_error *err);
void repair_state_free(struct repair_state *st); /* NULL is fine */

#endif
