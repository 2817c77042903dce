/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/stub.h - switches that come, as leaves of tables that stay.
 *
 * All that was there keeps its entries, SLs and VLs.  Each new switch hangs by one cable on the
 * next that is nearer to those there were; all it and what hangs on it sends goes up by that
 * cable, and down by it comes what is sent to their LIDs, which have columns and SLs of an end
 * of the old switch at the root.  So packets of theirs depend on what packets of that switch
 * depend on already, and on the cables between, behind which nothing goes on: what was free of
 * cycles is, and no order of writing is asked for.
 *
 * No route for good: it is what a plan starts from for which no order was found.
 */
#ifndef CORE_TRANSITION_STUB_H
#define CORE_TRANSITION_STUB_H

#include "core/plan/plan.h"

/* Was the switch, which is there now, not there for the plan? */
bool stub_is_new(const struct plan *was, const struct fm_fabric *now, fm_sw sw);
/* A plan for q->snap with the tables of prev, where new switches are leaves and other new ends
 * have columns of those beside them: *out, or NULL where that is not safe or joins fewer pairs
 * than `instead`.  What the plan was
 * to be instead comes next: where that was repaired, a repair.  FM_E_RESOURCE. */
int stub_attach(struct router *r, const struct plan_request *q, const struct plan *prev,
    const struct plan *instead, struct plan **out, struct fm_error *err);
/* The plan gets all of prev that is no table. */
bool stub_copy_attributes(struct plan *p, const struct plan_request *q, const struct plan *prev);

#endif
