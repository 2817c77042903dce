/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/weighing.h - rivals of `auto` weighed beside the tables in force (weigh.h), on the
 * thread of all plans, as work that can wait: what else is asked of it ends the weighing.
 */
#ifndef CORE_ROUTE_WEIGHING_H
#define CORE_ROUTE_WEIGHING_H

#include "core/route/worker.h"

struct weighing;

/* Of p, for which it is due (weigh_is_due()).  A reference is taken to p, and the settings are
 * copied; the chain is borrowed until it has ended.  NULL: out of memory. */
struct weighing *weighing_start(struct plan_worker *w, struct router *router, struct plan *p,
    const struct chain *chain, const struct route_settings *set);
bool weighing_has_ended(const struct weighing *w);
/* Of one that has ended, or whose worker has been freed; w is freed.  True: *out, with the
 * references; false: it was given up, or memory ran out, and may be begun anew. */
bool weighing_take(struct weighing *w, struct plan_weighed *out);

#endif
