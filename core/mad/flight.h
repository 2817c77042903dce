/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/flight.h - the tries of requests that are on the wire, and the places they hold.
 *
 * All requests in their i-th try have the same timeout, and brief ones have theirs, so each list
 * is ordered by deadline as it is appended to: timers cost O(1), whatever their number.  Those that
 * say themselves how long they wait are few, and sorted in.
 *
 * Silence is no congestion, and nobody who answers waits for it:
 *
 *	lane	what goes there				places
 *	window	first tries, of nodes that answer	the adaptive window
 *	probes	what is sent again, and all that goes	as many again
 *		to nodes that are late
 *
 * A try that has been out for PARK_TRIPS round trips is parked: it is waited for as before, but
 * its place is another's.  So that a standstill of all (a stalled fabric, a stopped machine)
 * makes no flood, only UNPROVEN_PER_PLACE tries of each place in the window are parked while
 * nothing that was sent later has been answered.  Probes are not counted there: each was sent
 * once already, and waits longer with each try.  Nor are brief ones, which are over soon,
 * and those that say how long they wait.
 */
#ifndef CORE_MAD_FLIGHT_H
#define CORE_MAD_FLIGHT_H

#include "core/mad/nodes.h"
#include "core/mad/window.h"

/* Behind those of tries: of requests that say how long they wait, of brief ones. */
enum { FLIGHT_OWN_TIME = TID_MAX_TRIES, FLIGHT_BRIEF, FLIGHT_LISTS };

struct flight {
	struct window window;
	unsigned most;		    /* places in the window */
	unsigned n_placed[N_LANES]; /* tries that hold a place */
	unsigned n_parked;	    /* that hold none */
	unsigned n_unproven;	    /* of the parked: of the window, sent at heard_ns or later */
	struct request *unproven;   /* the first try of tries[0] sent so, or NULL */
	int64_t heard_ns;	    /* the latest sending that was answered */
	int64_t trip_ns;	    /* smoothed time of an answer to a first try, 0: none yet */
	struct requests tries[FLIGHT_LISTS]; /* by try: earliest deadline first */
	struct request *young[FLIGHT_LISTS]; /* the first of each that is not parked, or NULL */
};

void flight_init(struct flight *f, unsigned window_max);
bool flight_has_room(const struct flight *f, enum lane lane);
/* r is sent now, in this lane. */
void flight_add(
    struct flight *f, struct request *r, enum lane lane, int64_t now_ns, uint32_t timeout_ms);
/* r is on the wire no more: it was answered, or its try is over. */
void flight_remove(struct flight *f, struct request *r);
/* r, which has been removed or was lost before, was answered: its last try, or perhaps not. */
void flight_answered(struct flight *f, const struct request *r, bool last_try, int64_t now_ns);
/* Places of tries that have been out for long go to others. */
void flight_park(struct flight *f, struct nodes *nodes, int64_t now_ns);
/* When the next try is to be parked; INT64_MAX: none that is out. */
int64_t flight_next_park_ns(const struct flight *f);
/* A try whose time is over, or NULL. */
struct request *flight_overdue(const struct flight *f, int64_t now_ns);
/* The next deadline; INT64_MAX: none. */
int64_t flight_next_deadline_ns(const struct flight *f);
/* What is on the wire now is not sent again. */
void flight_last_tries(struct flight *f);
/* Any that is on the wire, or NULL. */
struct request *flight_any(const struct flight *f);

#endif
