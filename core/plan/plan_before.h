/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/plan_before.h - tables there were before, taken up again where they serve.
 */
#ifndef CORE_PLAN_PLAN_BEFORE_H
#define CORE_PLAN_PLAN_BEFORE_H

#include "core/plan/plan.h"

/* The plan before, if its tables serve and are found safe: *out, or NULL. */
int plan_try_to_keep(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err);
/* The tables of the plan before without its deviations, or without one of each LID, where all
 * cables that they need are there: *out, proven anew, or NULL. */
int plan_go_back(struct router *r, const struct plan_request *q, bool one_each, struct plan **out,
    struct fm_error *err);

#endif
