/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/keep.h - tables that serve a later fabric too.
 *
 * Most events are hosts that reboot and leaves that go and come back.  The
 * switches and cables that carry anybody's traffic are then what they were,
 * and so are the right tables: no engine is called.
 *
 *	gone	a port's entries stay in the switches for linger_ms (plan.absent):
 *		whoever is back by then finds them, and nothing is written
 *	new	a LID on a switch that has hosts gets the column of one of them: it
 *		leads along the same channels, so nothing acyclic gets a cycle
 *
 * Refused, so that an engine runs: a cable or switch that is new, or that was
 * lost and carried traffic of somebody who is still there; another rate or
 * number of VLs; a host on a switch where none is; more new LIDs than a
 * sixteenth of the fabric since the engine ran.
 */
#ifndef CORE_ROUTE_KEEP_H
#define CORE_ROUTE_KEEP_H

#include "core/route/plan.h"

/* The plan for q->snap made of q->prev's tables: *out, not yet verified, or
 * NULL when they do not serve.  O(links + ends); with a LID new or dropped
 * one copy of the tables.  FM_E_RESOURCE. */
int plan_keep(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err);

/* Has a LID of absent been gone for linger_ms? */
bool plan_lingers_too_long(const struct plan *p, int64_t now_ms, int64_t linger_ms);

#endif
