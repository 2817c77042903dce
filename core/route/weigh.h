/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/weigh.h - an entry of `auto` beside its rivals: the best of all their tables.
 *
 * Rivals that are too slow for tables that are waited for are asked later, beside tables in force.
 *
 * Cost: each rival routes, is verified and measured (rivals.h): seconds at 2,000 switches.
 */
#ifndef CORE_ROUTE_WEIGH_H
#define CORE_ROUTE_WEIGH_H

#include "core/route/entry.h"

/* The tables of `own` are good.  Where they leave links uneven or need several VLs, or ends have
 * several LIDs, those rivals that the fabric is not too large for route, too, and the best of all
 * tables are taken.  FM_E_RESOURCE. */
int weigh_rivals(struct search *s, struct candidate *own, struct fm_error *err);

#define WEIGH_BESIDE_MS 30000 /* that a rival may route for */

/* Were rivals of the entry that made p not all asked, as the fabric is too large?  NULL: no. */
bool weigh_is_due(const struct plan *p, const struct chain *chain, enum plan_rebalance when);
/* The tables of q->prev, for which that is due, beside those of all rivals, on its own snapshot:
 * *out (one reference) has what was measured (plan.weighed), and the best tables; NULL if these are
 * those in force.  FM_E_CANCELLED: given up (route_host_give_up()).  FM_E_RESOURCE. */
int weigh_beside(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err);

#endif
