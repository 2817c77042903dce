/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/flight.c - what is on the wire, by deadline.  See flight.h.
 */
#include "core/mad/flight.h"

#define MIN_WINDOW 4
#define PARK_TRIPS 8
#define PARK_MIN_NS 2000000

void
flight_init(struct flight *f, unsigned window_max)
{
	*f = (struct flight){ .most = window_max };
	window_init(&f->window, MIN_WINDOW, window_max);
	for (int i = 0; i < TID_MAX_TRIES; i++)
		TAILQ_INIT(&f->tries[i]);
}

bool
flight_has_room(const struct flight *f)
{
	return f->n_on_wire - f->n_parked < f->window.size && f->n_on_wire < f->most;
}

void
flight_add(struct flight *f, struct request *r, int64_t now_ns, uint32_t timeout_ms)
{
	unsigned i = request_try(r);

	r->place = ON_WIRE;
	r->sent_ns = now_ns;
	r->deadline_ns = now_ns + (int64_t)timeout_ms * 1000000;
	TAILQ_INSERT_TAIL(&f->tries[i], r, in);
	if (f->young[i] == NULL)
		f->young[i] = r;
	f->n_on_wire++;
}

void
flight_remove(struct flight *f, struct request *r)
{
	unsigned i = request_try(r);

	if (f->young[i] == r)
		f->young[i] = TAILQ_NEXT(r, in);
	TAILQ_REMOVE(&f->tries[i], r, in);
	f->n_on_wire--;
	if (r->is_parked && r->route.beyond)
		nodes_unpark(r->node);
	f->n_parked -= r->is_parked;
	r->is_parked = false;
}

void
flight_answered(struct flight *f, const struct request *r, int64_t now_ns)
{
	if (r->n_tries == 1)
		f->trip_ns += (now_ns - r->sent_ns - f->trip_ns) / (f->trip_ns != 0 ? 8 : 1);
	if (window_answer(&f->window))
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

void
flight_park(struct flight *f, struct nodes *nodes, int64_t now_ns)
{
	int64_t before = now_ns - park_ns(f);

	for (int i = 0; i < TID_MAX_TRIES; i++)
		while (f->young[i] != NULL && f->young[i]->sent_ns <= before) {
			f->young[i]->is_parked = true;
			if (f->young[i]->route.beyond)
				nodes_park(nodes, f->young[i]->node);
			f->young[i] = TAILQ_NEXT(f->young[i], in);
			f->n_parked++;
		}
}

int64_t
flight_next_park_ns(const struct flight *f)
{
	int64_t next = INT64_MAX;

	for (int i = 0; i < TID_MAX_TRIES; i++)
		if (f->young[i] != NULL && f->young[i]->sent_ns + park_ns(f) < next)
			next = f->young[i]->sent_ns + park_ns(f);
	return next;
}

struct request *
flight_overdue(const struct flight *f, int64_t now_ns)
{
	for (int i = 0; i < TID_MAX_TRIES; i++) {
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

	for (int i = 0; i < TID_MAX_TRIES; i++) {
		const struct request *r = TAILQ_FIRST(&f->tries[i]);

		if (r != NULL && r->deadline_ns < next)
			next = r->deadline_ns;
	}
	return next;
}

struct request *
flight_any(const struct flight *f)
{
	for (int i = 0; i < TID_MAX_TRIES; i++)
		if (!TAILQ_EMPTY(&f->tries[i]))
			return TAILQ_FIRST(&f->tries[i]);
	return NULL;
}
