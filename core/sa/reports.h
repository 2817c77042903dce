/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/reports.h - Reports to subscribers, each until it is answered (IBA 13.4.8.3).
 *
 * A client (a port) has a line of them, of which some are on the wire:
 *
 *	client 7: [late][sent][sent][waits][waits]...
 *
 * A Report without an answer for a second is late, and repeated after 1, 2, 4, 8 s more.  32 may
 * be sent or late; while a client answers nothing, one may be sent beside those late, and the
 * first of these alone is repeated, ever more slowly.  A client that has answered nothing for
 * 31 s when this is due is given up, with the subscriptions that its line is for.  Of one that
 * answers, only the subscription is dropped that gets no answer for so long; a Report to who
 * answers others of the same is given up by itself, when it was sent 10 times.
 *
 * Bounds: 65536 Reports of all, and no client has more of them than are left for all others;
 * between two ticks 256 are sent, in turns of clients.
 *
 * Pure: the clock is a parameter, Reports leave by a function.
 */
#ifndef CORE_SA_REPORTS_H
#define CORE_SA_REPORTS_H

#include "core/registry/registry.h"
#include "core/sa/sa.h"

#define REPORTS_MAX 65536
#define REPORTS_OF_ONE 32   /* sent or late, of one client */
#define REPORTS_AT_ONCE 256 /* sent between two ticks */

struct reports;
/* All borrowed; those of *counts that tell of Reports are kept here.  NULL: no memory. */
struct reports *reports_new(
    struct registry *r, const struct sa_out *out, struct sa_report_counts *counts);
void reports_free(struct reports *r); /* NULL is fine */

/* One more for who has subscribed. */
void reports_add(
    struct reports *r, const struct subscription *s, const struct sa_notice *event, int64_t now_ms);
/* A ReportResp came from a client: nothing, unless its line has a Report of that TID (of which
 * the upper half is the kernel's). */
void reports_answered(struct reports *r, uint64_t client, uint64_t tid, int64_t now_ms);
/* Send, repeat, give up.  When next; INT64_MAX. */
int64_t reports_tick(struct reports *r, int64_t now_ms);

#endif
