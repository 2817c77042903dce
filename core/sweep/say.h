/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/say.h - what is logged of a new plan beside the old one: only
 * what is news.  Either may be NULL, and both the same.
 */
#ifndef CORE_SWEEP_SAY_H
#define CORE_SWEEP_SAY_H

#include "core/plan/plan.h"

/* Why entries of the chains were passed over. */
void say_refusals(const struct plan *old, const struct plan *p);
/* What `auto` took, and why; who took which region, and how they were joined. */
void say_choice(const struct plan *old, const struct plan *p);
/* That no engine of the chain routes, and what does in its place; or that one does again. */
void say_mended(const struct plan *old, const struct plan *p);
/* Credit loops in tables that are used, as credit_loops = warn lets them; those of regions
 * that allow their own are told by the composer.  Under the same engine they are no news. */
void say_credit_loops(const struct plan *old, const struct plan *p);
/* That paths between the hosts there were have become clearly longer. */
void say_longer_paths(const struct plan *old, const struct plan *p);
/* How the way from the one to the other is free of deadlocks, where that takes more
 * than an order; packet_life_ms: how long entries are emptied. */
/* holds: what is emptied stays so till hosts have been told of other SLs. */
void say_change(const struct plan *old, const struct plan *p, int64_t packet_life_ms, bool holds);
/* What has come of adaptive routing, which was asked for. */
void say_adaptive(const struct plan *old, const struct plan *p);

#endif
