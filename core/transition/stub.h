/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/stub.h - new switches attached as stubs of tables that stay.
 *
 * All old switches keep their entries, SLs and VLs.  Each new switch is attached by one cable to
 * the next switch that is nearer to the old ones.  All that it and the stubs behind it send goes up
 * by that cable, and what is sent to their LIDs comes down by it; these LIDs have columns and SLs
 * of an end of the old switch at the root.  So their packets depend on what packets of that
 * switch depend on already, and on the cables of the stub, behind which nothing goes on: tables
 * that were free of cycles stay so, and need no order of writing.
 *
 * A stub is no route for good: it is where a plan starts for which no steps were found.
 */
#ifndef CORE_TRANSITION_STUB_H
#define CORE_TRANSITION_STUB_H

#include "core/plan/plan.h"

/* Is the switch there now and was not for the plan? */
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
