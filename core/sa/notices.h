/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/notices.h - events and who is told of them.
 *
 *	64, 65	a port is in the subnet, is not any more: from one view to the next
 *	66, 67	a multicast group was made, is gone: the registry's events
 *	others	traps of nodes, as the loop hands them over
 *
 * A subscriber (registry.h) is sent a Report (reports.h) where the event is what it asked for and
 * it may know of it: it shares a P_Key with the port that the event is about, or has that of the
 * group (IBA 13.4.8.3, 13.5.3).  An event like one a moment ago is not told again.
 *
 * Events wait in a queue, and between two ticks 4096 subscriptions are looked at for them:
 * however many events and subscribers there are, requests have their turn.
 *
 * Pure: the clock is a parameter, Reports leave by a function.
 */
#ifndef CORE_SA_NOTICES_H
#define CORE_SA_NOTICES_H

#include "core/sa/reports.h"

enum { NOTICE_PORT_IN = 64, NOTICE_PORT_OUT = 65, NOTICE_GROUP_MADE = 66, NOTICE_GROUP_GONE = 67 };

#define NOTICES_AT_ONCE 4096 /* subscriptions looked at between two ticks */

struct notices;
/* Both borrowed.  NULL: no memory. */
struct notices *notices_new(struct registry *r, const struct sa_out *out);
void notices_free(struct notices *n); /* NULL is fine */

/* Tell of an event; n->issuer 0: ours. */
void notices_tell(
    struct notices *n, struct sa_view *v, const struct sa_notice *event, int64_t now_ms);
/* Look at a view: ports that are new or gone since the last are told, and those that stay
 * away leave the registry. */
void notices_look(struct notices *n, struct sa_view *v, int64_t now_ms);
/* Groups made and gone. */
void notices_group(
    struct notices *n, struct sa_view *v, const struct group_event *e, int64_t now_ms);
/* A ReportResp came from the port of that GUID. */
void notices_answered(struct notices *n, uint64_t client, uint64_t tid, int64_t now_ms);
/* Go on, repeat, drop.  When next; INT64_MAX. */
int64_t notices_tick(struct notices *n, int64_t now_ms);
const struct sa_report_counts *notices_counts(const struct notices *n);

#endif
