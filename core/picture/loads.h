/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/loads.h - what the cables carry by the plan in force, found beside the loop.
 *
 * Following each host's packets to every other takes too long for the loop (core/gauge/gauge.h), so
 * the plan worker does it, for a plan that is asked for; until then nothing is known.
 */
#ifndef CORE_PICTURE_LOADS_H
#define CORE_PICTURE_LOADS_H

#include "core/route/worker.h"

struct loads;

/* workers: of the router of worker; both borrowed.  NULL: out of memory. */
struct loads *loads_new(struct plan_worker *worker, struct fm_pool *workers);
void loads_free(struct loads *l); /* when the worker has been freed; NULL is fine */

/* Routes over each directed link of the plan's snapshot, [n_links]; NULL: not known yet.  Good
 * until the next call of either function. */
const uint64_t *loads_of(struct loads *l, const struct plan *p);
/* Have them found, if they are not, and nothing else is being found.  False: nothing is, as they
 * are known, or cannot be found. */
bool loads_ask(struct loads *l, const struct plan *p);
/* Look how full the fullest is (fullest.h).  True: they are being found, look again. */
bool loads_look_at_fullest(struct loads *l, const struct plan *p);

#endif
