/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/notices.h - events and who is told of them.
 *
 *	64, 65	a port is in the subnet, is not any more: from one view to the next
 *	66, 67	a multicast group was made, is gone: the registry's events
 *	others	traps of nodes, as the loop hands them over
 *
 * A subscriber (registry.h) is sent a Report where the event is what it asked for and it
 * may know of it: it shares a P_Key with the port that the event is about, or has that of
 * the group (IBA 13.4.8.3, 13.5.3).  A Report that is not answered is repeated a few times; then
 * the subscription is dropped.  An event like one a moment ago is not told again.
 *
 * Reports that wait for an answer are bounded, and no client has more of them than are left for
 * all others: who does not answer keeps nobody from being told.
 *
 * Pure: the clock is a parameter, Reports leave by a function.
 */
#ifndef CORE_SA_NOTICES_H
#define CORE_SA_NOTICES_H

#include "core/sa/registry.h"
#include "core/sa/sa.h"

enum { NOTICE_PORT_IN = 64, NOTICE_PORT_OUT = 65, NOTICE_GROUP_MADE = 66, NOTICE_GROUP_GONE = 67 };

struct notice_counts {
	uint64_t events, repeated;		      /* repeated: suppressed */
	uint64_t reports, retries, answered, dropped; /* dropped: subscriptions */
	uint64_t untold;  /* Reports not sent: too many wait for an answer */
	uint32_t waiting; /* Reports, now */
};

struct notices;
/* Both borrowed.  NULL: no memory. */
struct notices *notices_new(struct registry *r, const struct sa_out *out);
void notices_free(struct notices *n); /* NULL is fine */

/* Tell of an event; n->issuer 0: ours. */
void notices_tell(
    struct notices *n, const struct sa_view *v, const struct sa_notice *event, int64_t now_ms);
/* Look at a view: ports that are new or gone since the last are told, and those that stay
 * away leave the registry. */
void notices_look(struct notices *n, struct sa_view *v, int64_t now_ms);
/* Groups made and gone. */
void notices_group(
    struct notices *n, const struct sa_view *v, const struct group_event *e, int64_t now_ms);
/* A ReportResp came. */
void notices_answered(struct notices *n, uint64_t tid);
/* Repeat, drop.  When next; INT64_MAX. */
int64_t notices_tick(struct notices *n, int64_t now_ms);
const struct notice_counts *notices_counts(const struct notices *n);

#endif
