/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/route.h - from a snapshot and a chain to verified tables.
 *
 * Where the tables of the plan before still serve (keep.h) they are kept, and
 * verified again.  Where cables or switches of theirs are lost or back, the
 * entries that this touches are repaired (repair.h).  Else the chain's entries
 * are tried in order: options bound, probe, route, verify.  What refuses or fails
 * is recorded with its reason and the chain goes on; the implicit last entry is
 * the core's own up/down.  Where that is not wanted (fallback = no) and none of the
 * others routes, the tables of the plan before are mended (plan.mended): kept or repaired
 * though the chain is another, else all by up/down; the chain is tried again when the
 * fabric changes.
 * Nothing unproven leaves plan_make().
 */
#ifndef CORE_ROUTE_ROUTE_H
#define CORE_ROUTE_ROUTE_H

#include "core/plan/plan.h"

/* n_workers 0 = one per CPU; the settings are the default ones. */
int router_init(struct router *r, unsigned n_workers, struct fm_error *err);
void router_fini(struct router *r); /* after the last plan_put() */

/* 0 with *out (one reference); when nothing of the chain could be verified
 * its tables are NULL and refused says why, entry by entry.  FM_E_RESOURCE
 * when memory ran out outside the engines. */
int plan_make(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err);
/* Would a quiet pass have entries of p go back, try to rebalance it, try once more to take up
 * tables that wait, or give it groups of adaptive routing?  (NULL: no) */
bool plan_wants_quiet_pass(const struct plan *p, const struct chain *chain,
    const struct route_settings *set, enum plan_rebalance when);

#endif
