/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/flight.c - what is on the wire, by deadline.  See flight.h.
 */
#include "core/mad/flight.h"

#define MIN_WINDOW 4
#define PARK_TRIPS 8
#define PARK_MIN_NS 2000000
#define UNPROVEN_PER_PLACE 2
#define TRIP_OUTLIER 4 /* times the smoothed one; more is taken for so much */

void
flight_init(struct flight *f, unsigned window_max)
{
	*f = (struct flight){ .most = window_max, .heard_ns = INT64_MIN };
	window_init(&f->window, MIN_WINDOW, window_max);
	for (int i = 0; i < FLIGHT_LISTS; i++)
		TAILQ_INIT(&f->tries[i]);
}

static unsigned
list_of(const struct request *r)
{
	if (r->route.wait_ms != 0)
		return FLIGHT_OWN_TIME;
	return r->route.brief ? FLIGHT_BRIEF : request_try(r);
}

/* Earliest deadline first. */
static void
put_in(struct requests *list, struct request *r)
{
	struct request *before = TAILQ_LAST(list, requests);

	while (before != NULL && before->deadline_ns > r->deadline_ns)
		before = TAILQ_PREV(before, requests, in);
	if (before != NULL)
		TAILQ_INSERT_AFTER(list, before, r, in);
	else
		TAILQ_INSERT_HEAD(list, r, in);
}

bool
flight_has_room(const struct flight *f, enum lane lane)
{
	return f->n_placed[lane] < f->window.size;
}

void
flight_add(struct flight *f, struct request *r, enum lane lane, int64_t now_ns, uint32_t timeout_ms)
{
	unsigned i = list_of(r);

	r->place = ON_WIRE;
	r->lane = lane;
	r->sent_ns = now_ns;
	r->deadline_ns = now_ns + (int64_t)timeout_ms * 1000000;
	put_in(&f->tries[i], r);
	if (f->young[i] == NULL)
		f->young[i] = r;
	if (i == 0 && f->unproven == NULL)
		f->unproven = r;
	f->n_placed[lane]++;
}

/* Nothing that was sent later has been answered: perhaps it is not its node that is silent.
 * Only first tries go by the window. */
static bool
is_unproven(const struct flight *f, const struct request *r)
{
	return r->lane == LANE_WINDOW && list_of(r) == 0 && r->sent_ns >= f->heard_ns;
}

void
flight_remove(struct flight *f, struct request *r)
{
	unsigned i = list_of(r);

	if (f->young[i] == r)
		f->young[i] = TAILQ_NEXT(r, in);
	if (f->unproven == r)
		f->unproven = TAILQ_NEXT(r, in);
	TAILQ_REMOVE(&f->tries[i], r, in);
	if (r->is_parked) {
		f->n_parked--;
		f->n_unproven -= is_unproven(f, r);
	} else {
		f->n_placed[r->lane]--;
	}
	r->is_parked = false;
}

/* What was sent before an answered one has been overtaken. */
static void
prove(struct flight *f, int64_t heard_ns)
{
	struct request *r;

	for (r = f->unproven; r != NULL && r->sent_ns < heard_ns; r = TAILQ_NEXT(r, in))
		f->n_unproven -= r->is_parked && is_unproven(f, r);
	f->unproven = r;
	f->heard_ns = heard_ns;
}

/* One answer that took long says little. */
static void
note_trip(struct flight *f, int64_t trip_ns)
{
	if (f->trip_ns == 0) {
		f->trip_ns = trip_ns > 0 ? trip_ns : 1;
		return;
	}
	if (trip_ns > TRIP_OUTLIER * f->trip_ns)
		trip_ns = TRIP_OUTLIER * f->trip_ns;
	f->trip_ns += (trip_ns - f->trip_ns) / 8;
}

void
flight_answered(struct flight *f, const struct request *r, bool last_try, int64_t now_ns)
{
	if (r->n_tries == 1)
		note_trip(f, now_ns - r->sent_ns);
	if (last_try && r->sent_ns > f->heard_ns)
		prove(f, r->sent_ns);
	if (r->lane == LANE_WINDOW && window_answer(&f->window))
		window_judge(&f->window, now_ns);
}

/* Before the first answer nobody knows how long one takes. */
static int64_t
park_ns(const struct flight *f)
{
	if (f->trip_ns == 0)
		return INT64_MAX / 2;
	return PARK_TRIPS * f->trip_ns > PARK_MIN_NS ? PARK_TRIPS * f->trip_ns : PARK_MIN_NS;
}

static bool
may_park(const struct flight *f, const struct request *r)
{
	return !is_unproven(f, r) || f->n_unproven < UNPROVEN_PER_PLACE * f->most;
}

static void
park(struct flight *f, struct nodes *nodes, struct request *r)
{
	r->is_parked = true;
	f->n_placed[r->lane]--;
	f->n_parked++;
	f->n_unproven += is_unproven(f, r);
	nodes_step_aside(nodes, r);
}

void
flight_park(struct flight *f, struct nodes *nodes, int64_t now_ns)
{
	int64_t before = now_ns - park_ns(f);
	struct request *r;

	for (int i = 0; i < FLIGHT_LISTS; i++) {
		for (r = f->young[i]; r != NULL && r->sent_ns <= before && may_park(f, r);
		     r = TAILQ_NEXT(r, in))
			park(f, nodes, r);
		f->young[i] = r;
	}
}

int64_t
flight_next_park_ns(const struct flight *f)
{
	int64_t next = INT64_MAX;

	for (int i = 0; i < FLIGHT_LISTS; i++) {
		const struct request *r = f->young[i];

		if (r != NULL && may_park(f, r) && r->sent_ns + park_ns(f) < next)
			next = r->sent_ns + park_ns(f);
	}
	return next;
}

struct request *
flight_overdue(const struct flight *f, int64_t now_ns)
{
	for (int i = 0; i < FLIGHT_LISTS; i++) {
		struct request *r = TAILQ_FIRST(&f->tries[i]);

		if (r != NULL && r->deadline_ns <= now_ns)
			return r;
	}
	return NULL;
}

int64_t
flight_next_deadline_ns(const struct flight *f)
{
	int64_t next = INT64_MAX;

	for (int i = 0; i < FLIGHT_LISTS; i++) {
		const struct request *r = TAILQ_FIRST(&f->tries[i]);

		if (r != NULL && r->deadline_ns < next)
			next = r->deadline_ns;
	}
	return next;
}

void
flight_last_tries(struct flight *f)
{
	struct request *r;

	for (int i = 0; i < FLIGHT_LISTS; i++)
		TAILQ_FOREACH(r, &f->tries[i], in)
	r->route.max_tries = 1;
}

struct request *
flight_any(const struct flight *f)
{
	for (int i = 0; i < FLIGHT_LISTS; i++)
		if (!TAILQ_EMPTY(&f->tries[i]))
			return TAILQ_FIRST(&f->tries[i]);
	return NULL;
}
