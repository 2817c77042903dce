/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/flight.h - the tries of requests that are on the wire.
 *
 * All requests in their i-th try have the same timeout, so each list is ordered by deadline as
 * it is appended to: timers cost O(1), whatever their number.
 *
 * Silence is no congestion.  A try that has been out for PARK_TRIPS round trips is parked: it
 * may still be answered, and holds no place in the window any more, so that nodes that do not
 * answer keep nobody waiting.
 */
#ifndef CORE_MAD_FLIGHT_H
#define CORE_MAD_FLIGHT_H

#include "core/mad/nodes.h"
#include "core/mad/slots.h"
#include "core/mad/window.h"

struct flight {
	struct window window;
	unsigned most;		      /* on the wire, parked or not */
	unsigned n_on_wire, n_parked; /* of them: without a place in the window */
	int64_t trip_ns;	      /* smoothed time of an answer to a first try, 0: none yet */
	struct requests tries[TID_MAX_TRIES]; /* by try: earliest deadline first */
	struct request *young[TID_MAX_TRIES]; /* the first of each that is not parked, or NULL */
};

void flight_init(struct flight *f, unsigned window_max);
bool flight_has_room(const struct flight *f);
/* r is sent now. */
void flight_add(struct flight *f, struct request *r, int64_t now_ns, uint32_t timeout_ms);
/* r is on the wire no more: it was answered, or its try is over. */
void flight_remove(struct flight *f, struct request *r);
/* r, which has been removed or was lost before, was answered. */
void flight_answered(struct flight *f, const struct request *r, int64_t now_ns);
/* Places of tries that have been out for long go to others. */
void flight_park(struct flight *f, struct nodes *nodes, int64_t now_ns);
/* When the next try is to be parked; INT64_MAX: none is out. */
int64_t flight_next_park_ns(const struct flight *f);
/* A try whose time is over, or NULL. */
struct request *flight_overdue(const struct flight *f, int64_t now_ns);
/* The next deadline; INT64_MAX: none. */
int64_t flight_next_deadline_ns(const struct flight *f);
/* Any that is on the wire, or NULL. */
struct request *flight_any(const struct flight *f);

#endif
