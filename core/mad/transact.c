/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/transact.c - requests and their answers.
 *
 * A request is always in exactly one place:
 *
 *	txn_smp --> node's queue --> on the wire (flight.h) --> callback
 *	             (per-node       |        ^
 *	              window)        v        |
 *	                         timed out --> again[] (lane of probes)
 *
 * or, when the caller has given its node up, from the queue to given_up[].
 *
 * The window falls with the first loss of a node that had answered since its last, not with all
 * that a silent node leaves unanswered.
 *
 * All tries of a request share the slot and generation of its number (slots.h):
 * the answer to any of them is the answer.  The kernel's rule (a request
 * unanswered after its timeout comes back with ETIMEDOUT) ends a try early
 * only if it names that try.
 *
 * Any host may send answers.  To be believed one has the TID of a try that has been sent, which
 * cannot be told from others, and is as its request in all that an answer has from it
 * (request_is_answered_by()).  Else it is counted as forged, and its request goes on waiting.
 *
 * Callbacks run from txn_poll() and txn_free() only, last in whatever called
 * them: they may start requests, which may be sent at once.
 * Every operation is O(1).
 */
#include "core/mad/transact.h"

#include <errno.h>
#include <stdlib.h>

#include "core/mad/flight.h"
#include "core/mad/requests.h"
#include "core/wire/wire.h"
#include "lib/faultpoint.h"
#include "lib/log.h"

#define MAX_WINDOW 1024
#define BRIEF_PART 8	       /* of the time-out */
#define DRAIN_STEP_NS 50000000 /* how often txn_drain() asks whether to stop */

struct txn_engine {
	struct transport *transport;
	struct txn_limits limits;
	uint64_t m_key;
	unsigned n_outstanding;
	bool closing, held, impatient;

	struct flight flight;	  /* on the wire */
	struct requests again;	  /* lost, to be sent again before anything new */
	struct requests given_up; /* unsent, to be ended by the next poll */
	struct nodes nodes;	  /* those that wait, and per-node windows */
	struct slots slots;

	struct request_store requests;

	txn_unsolicited unsolicited;
	void *unsolicited_arg;
	bool (*may_send)(void *arg); /* NULL: always */
	void *may_send_arg;
	struct txn_counts counts;
	struct fm_log_bucket send_log;
};

/* ---- sending */

static int64_t
now_ns(const struct txn_engine *e)
{
	return e->transport->ops->now_ns(e->transport);
}

static uint32_t
timeout_ms(const struct txn_engine *e, const struct request *r)
{
	if (r->route.wait_ms != 0)
		return r->route.wait_ms;
	if (r->route.brief)
		return e->limits.timeout_ms / BRIEF_PART + 1;
	return e->limits.timeout_ms << request_try(r);
}

/* The number of its present try. */
static uint32_t
numbered_try(const struct request *r)
{
	return request_try(r) << TID_TRY_SHIFT | r->number;
}

/* A send that fails is a MAD that was lost: its timer runs and it is tried again. */
static void
send_request(struct txn_engine *e, struct request *r, enum lane lane)
{
	struct fm_error err;
	struct mad m;

	if (r->method == WIRE_SET && r->gmp.mgmt_class == 0)
		fm_fault_point("send", wire_attr_name(r->attr));
	request_to_mad(r, e->m_key, &m);
	wire_put64(m.bytes + WIRE_TID_AT, slots_tid(&e->slots, numbered_try(r)));
	m.timeout_ms = timeout_ms(e, r);
	flight_add(&e->flight, r, lane, now_ns(e), m.timeout_ms);
	e->counts.sent++;
	if (e->transport->ops->send(e->transport, &m, &err) != 0)
		fm_log_rl(&e->send_log, FM_LOG_WARN, "mad", "a MAD could not be sent: %s", err.msg);
}

static void
count_first_send(struct txn_engine *e, const struct request *r)
{
	if (r->gmp.mgmt_class != 0)
		return;
	if (r->method == WIRE_SET)
		e->counts.sets_by_attr[r->attr & 0xff]++;
	else
		e->counts.gets_by_attr[r->attr & 0xff]++;
}

/* What goes next in a lane, with a TID; NULL when nothing does.  Losses before anything new. */
static struct request *
next_request(struct txn_engine *e, enum lane lane)
{
	struct request *r = lane == LANE_PROBES ? TAILQ_FIRST(&e->again) : NULL;

	if (r != NULL) {
		TAILQ_REMOVE(&e->again, r, in);
		e->counts.retries++;
		return r;
	}
	r = e->slots.n_free > 0 ? nodes_take(&e->nodes, lane) : NULL;
	if (r != NULL) {
		r->number = slots_take(&e->slots, r);
		count_first_send(e, r);
	}
	return r;
}

static bool
has_next(const struct txn_engine *e, enum lane lane)
{
	return (lane == LANE_PROBES && !TAILQ_EMPTY(&e->again)) ||
	    (e->slots.n_free > 0 && !TAILQ_EMPTY(&e->nodes.ring[lane]));
}

/* The process may have stood still since the turn of the loop began. */
static bool
fence_opens(struct txn_engine *e)
{
	if (!e->held && e->may_send != NULL && !e->may_send(e->may_send_arg))
		e->held = true;
	return !e->held;
}

static void
fill_lane(struct txn_engine *e, enum lane lane)
{
	struct request *r;

	while (flight_has_room(&e->flight, lane) && has_next(e, lane) && fence_opens(e)) {
		r = next_request(e, lane);
		r->n_tries++;
		send_request(e, r, lane);
	}
}

static bool
lane_is_full(const struct txn_engine *e, enum lane lane)
{
	return !flight_has_room(&e->flight, lane) && has_next(e, lane);
}

/* Does something wait for a place, in a lane or at its node? */
static bool
is_held_up(const struct txn_engine *e)
{
	return e->nodes.n_crowded > 0 || lane_is_full(e, LANE_WINDOW) ||
	    lane_is_full(e, LANE_PROBES);
}

/* What has no node, up to its first Set. */
static void
send_beside(struct txn_engine *e)
{
	struct node *n = nodes_find(&e->nodes, 0);
	struct request *r;

	while (n != NULL && (r = TAILQ_FIRST(&n->queue)) != NULL && r->method != WIRE_SET &&
	    e->slots.n_free > 0) {
		nodes_take_from(&e->nodes, n);
		r->number = slots_take(&e->slots, r);
		count_first_send(e, r);
		r->n_tries++;
		send_request(e, r, LANE_WINDOW);
	}
}

/* Send what the windows admit, who answers first, the nodes in turn. */
static void
fill_lanes(struct txn_engine *e)
{
	if (e->held) {
		send_beside(e);
		return;
	}
	if (is_held_up(e))
		flight_park(&e->flight, &e->nodes, now_ns(e));
	fill_lane(e, LANE_WINDOW);
	fill_lane(e, LANE_PROBES);
	if (flight_has_room(&e->flight, LANE_WINDOW))
		window_idle(&e->flight.window);
}

/* ---- ends */

/* The request is on no list any more.  The callback is the last act: it may
 * start requests, and whoever called this must not rely on what it knew. */
static void
finish(struct txn_engine *e, struct request *r, enum txn_status status, const uint8_t *reply)
{
	txn_done done = r->done;
	void *arg = r->arg;

	slots_release(&e->slots, r->number, reply != NULL);
	e->n_outstanding--;
	nodes_done(&e->nodes, r);
	requests_give_back(&e->requests, r);
	done(arg, status, reply);
}

static void
end_given_up(struct txn_engine *e, enum txn_status status)
{
	struct request *r;

	while ((r = TAILQ_FIRST(&e->given_up)) != NULL) {
		txn_done done = r->done;
		void *arg = r->arg;

		TAILQ_REMOVE(&e->given_up, r, in);
		e->counts.given_up++;
		if (r->place == GIVEN_UP) {
			finish(e, r, status, NULL);
			continue;
		}
		e->n_outstanding--; /* it has neither a TID nor a place in its node's window */
		requests_give_back(&e->requests, r);
		done(arg, status, NULL);
	}
}

static bool
has_tries_left(const struct txn_engine *e, const struct request *r)
{
	return r->n_tries <= e->limits.n_retries && !r->route.brief && r->route.wait_ms == 0 &&
	    (r->route.max_tries == 0 || r->n_tries < r->route.max_tries);
}

static void
note_loss(struct txn_engine *e, struct request *r, int64_t now)
{
	if (r->route.max_tries != 0 || r->route.beyond || r->route.brief || r->route.wait_ms != 0 ||
	    r->route.aside)
		return; /* it may be the way, or nobody is there */
	if (nodes_lost(&e->nodes, r->node))
		window_loss(&e->flight.window, r->sent_ns, now);
}

/* This try has had no answer (its timer or the kernel says so, or BUSY came). */
static void
end_try(struct txn_engine *e, struct request *r)
{
	flight_remove(&e->flight, r);
	if (has_tries_left(e, r) && !r->node->is_given_up &&
	    !(e->impatient && r->method == WIRE_SET)) {
		nodes_step_aside(&e->nodes, r);
		r->place = AGAIN;
		TAILQ_INSERT_TAIL(&e->again, r, in);
		return;
	}
	e->counts.timeouts += r->gmp.mgmt_class == 0;
	finish(e, r, TXN_TIMEOUT, NULL);
}

static void
expire_timers(struct txn_engine *e)
{
	int64_t now = now_ns(e);
	struct request *r;

	while ((r = flight_overdue(&e->flight, now)) != NULL) {
		note_loss(e, r, now);
		end_try(e, r);
	}
}

/* ---- receiving */

/* IBA 13.4.7: BUSY asks us to try again; the timer of this try does that. */
static bool
shall_wait(const struct txn_engine *e, const struct request *r, uint16_t status)
{
	return (status & WIRE_STATUS_BUSY) != 0 && has_tries_left(e, r);
}

static void
take_answer(
    struct txn_engine *e, struct request *r, bool last_try, const struct mad *m, uint16_t status)
{
	if (shall_wait(e, r, status))
		return;
	if (r->place == ON_WIRE)
		flight_remove(&e->flight, r);
	else
		TAILQ_REMOVE(r->place == AGAIN ? &e->again : &e->given_up, r, in);
	nodes_heard(&e->nodes, r->node);
	flight_answered(&e->flight, r, last_try, now_ns(e));
	if (status != 0)
		e->counts.refused += r->gmp.mgmt_class == 0;
	e->counts.useful_retries += r->route.aside ? 0 : r->n_tries - 1u;
	finish(e, r, status ? TXN_REFUSED : TXN_OK, m->bytes);
}

/* Our own request came back unanswered.  Of a try that is over already there
 * is nothing to be learnt; one that came back at once had no way to go, which
 * is no congestion. */
static void
take_returned(struct txn_engine *e, uint64_t tid)
{
	uint32_t number = slots_number(&e->slots, tid);
	struct request *r = slots_owner(&e->slots, number);
	int64_t now = now_ns(e);

	if (r == NULL || r->place != ON_WIRE || number != numbered_try(r))
		return;
	if (2 * (now - r->sent_ns) > r->deadline_ns - r->sent_ns)
		note_loss(e, r, now);
	end_try(e, r);
}

static void
count_stray(struct txn_engine *e, uint32_t number)
{
	switch (slots_stray(&e->slots, number)) {
	case STRAY_DUPLICATE:
		e->counts.duplicates++;
		break;
	case STRAY_LATE:
		e->counts.late++;
		break;
	case STRAY_FORGED:
		e->counts.forged++;
	}
}

static void
take_response(struct txn_engine *e, const struct mad *m)
{
	struct wire_header h;
	struct request *r;
	uint32_t number;

	wire_header_get(m->bytes, &h);
	number = slots_number(&e->slots, h.tid);
	r = slots_owner(&e->slots, number);
	if (r == NULL)
		count_stray(e, number);
	else if (number > numbered_try(r) || !request_is_answered_by(r, m, &h))
		e->counts.forged++;
	else
		take_answer(e, r, number == numbered_try(r), m, h.status);
}

static void
on_mad(void *arg, const struct mad *m)
{
	struct txn_engine *e = arg;

	if (m->status == ETIMEDOUT)
		take_returned(e, wire_get64(m->bytes + WIRE_TID_AT));
	else if (m->status != 0)
		e->counts.failed++;
	else if (m->bytes[3] & WIRE_RESPONSE_BIT) {
		e->counts.received++;
		take_response(e, m);
	} else {
		e->counts.received++;
		if (e->unsolicited)
			e->unsolicited(e->unsolicited_arg, m);
	}
	fill_lanes(e);
}

/* ---- the outside */

static struct txn_limits
sane_limits(const struct txn_limits *l, const struct transport *t)
{
	struct txn_limits s = *l;

	if (s.timeout_ms == 0)
		s.timeout_ms = 1;
	if (s.timeout_ms > UINT32_MAX >> TID_MAX_TRIES)
		s.timeout_ms = UINT32_MAX >> TID_MAX_TRIES;
	if (t->max_window != 0 && s.window_max > t->max_window)
		s.window_max = (uint16_t)t->max_window;
	if (s.window_max > MAX_WINDOW)
		s.window_max = MAX_WINDOW;
	if (s.window_max == 0)
		s.window_max = 1;
	if (s.per_node_max == 0)
		s.per_node_max = 1;
	return s;
}

struct txn_engine *
txn_new(struct transport *t, const struct txn_limits *limits, uint64_t m_key)
{
	struct txn_engine *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->transport = t;
	e->limits = sane_limits(limits, t);
	e->m_key = m_key;
	e->send_log = (struct fm_log_bucket){ .burst = 3, .every_ms = 10000 };
	flight_init(&e->flight, e->limits.window_max);
	TAILQ_INIT(&e->again);
	requests_init(&e->requests);
	TAILQ_INIT(&e->given_up);
	nodes_init(&e->nodes, e->limits.per_node_max);
	if (!slots_init(&e->slots, MAX_SLOTS, limits->tid_seed)) {
		txn_free(e);
		return NULL;
	}
	t->on_mad = on_mad;
	t->on_mad_arg = e;
	return e;
}

/* Any request, wherever it is; off its list.  NULL when there is none. */
static struct request *
take_any(struct txn_engine *e)
{
	struct request *r = TAILQ_FIRST(&e->again);

	if (r != NULL) {
		TAILQ_REMOVE(&e->again, r, in);
		return r;
	}
	r = flight_any(&e->flight);
	if (r != NULL) {
		flight_remove(&e->flight, r);
		return r;
	}
	r = nodes_take(&e->nodes, LANE_WINDOW);
	if (r == NULL)
		r = nodes_take(&e->nodes, LANE_PROBES);
	if (r != NULL)
		r->number = slots_take(&e->slots, r);
	return r;
}

void
txn_set_m_key(struct txn_engine *e, uint64_t m_key)
{
	e->m_key = m_key;
}

void
txn_free(struct txn_engine *e)
{
	struct request *r;

	if (e == NULL)
		return;
	e->closing = true;
	do {
		end_given_up(e, TXN_CANCELLED);
		while ((r = take_any(e)) != NULL)
			finish(e, r, TXN_CANCELLED, NULL);
	} while (!TAILQ_EMPTY(&e->given_up));
	if (e->transport->on_mad_arg == e) {
		e->transport->on_mad = NULL;
		e->transport->on_mad_arg = NULL;
	}
	requests_fini(&e->requests);
	nodes_fini(&e->nodes);
	slots_fini(&e->slots);
	free(e);
}

/* A request of the node with this key, whose way and data are to be filled in; NULL when memory is
 * out, and done has been called. */
static struct request *
new_request(struct txn_engine *e, uint64_t node_key, txn_done done, void *arg)
{
	struct node *n = nodes_find(&e->nodes, node_key);
	struct request *r = n ? requests_take(&e->requests) : NULL;

	if (r == NULL) {
		done(arg, TXN_CANCELLED, NULL);
		return NULL;
	}
	r->done = done;
	r->arg = arg;
	r->node = n;
	return r;
}

static void
queue_request(
    struct txn_engine *e, struct request *r, uint8_t method, uint16_t attr, uint32_t modifier)
{
	r->method = method;
	r->attr = attr;
	r->modifier = modifier;
	r->node->is_given_up = false;
	e->n_outstanding++;
	nodes_queue(&e->nodes, r->node, r);
	if (!e->closing)
		fill_lanes(e);
}

void
txn_smp(struct txn_engine *e, const struct smp_route *route, uint8_t method, uint16_t attr,
    uint32_t modifier, const uint8_t *data, uint64_t node_key, txn_done done, void *arg)
{
	struct request *r = new_request(e, node_key, done, arg);

	if (r == NULL)
		return;
	request_fill(r, route, data);
	queue_request(e, r, method, attr, modifier);
}

void
txn_gmp(struct txn_engine *e, const struct gmp_route *route, uint8_t method, uint16_t attr,
    uint32_t modifier, const uint8_t *data, uint64_t node_key, txn_done done, void *arg)
{
	struct request *r = new_request(e, node_key, done, arg);

	if (r == NULL)
		return;
	request_fill_gmp(r, route, data);
	queue_request(e, r, method, attr, modifier);
}

void
txn_give_up(struct txn_engine *e, uint64_t node_key)
{
	struct node *n = nodes_find(&e->nodes, node_key);
	struct request *r, *next;

	if (n == NULL)
		return;
	n->is_given_up = true;
	nodes_drop(&e->nodes, n, &e->given_up);
	for (r = TAILQ_FIRST(&e->again); r != NULL; r = next) {
		next = TAILQ_NEXT(r, in);
		if (r->node != n)
			continue;
		TAILQ_REMOVE(&e->again, r, in);
		TAILQ_INSERT_TAIL(&e->given_up, r, in);
		r->place = GIVEN_UP;
	}
}

/* Those of a list that have left their node's queue give their places up at once. */
static void
set_aside_of(struct txn_engine *e, struct requests *list, bool sent, txn_done done,
    bool (*is_meant)(const void *arg))
{
	struct request *r;

	TAILQ_FOREACH(r, list, in)
	{
		if (r->done != done || !is_meant(r->arg))
			continue;
		r->route.aside = true;
		if (sent)
			nodes_step_aside(&e->nodes, r);
	}
}

void
txn_set_aside(struct txn_engine *e, txn_done done, bool (*is_meant)(const void *arg))
{
	for (size_t i = 0; i < e->nodes.all.n; i++)
		set_aside_of(e, &e->nodes.all.item[i]->queue, false, done, is_meant);
	for (int i = 0; i < FLIGHT_LISTS; i++)
		set_aside_of(e, &e->flight.tries[i], true, done, is_meant);
	set_aside_of(e, &e->again, true, done, is_meant);
}

void
txn_impatient(struct txn_engine *e, bool on)
{
	e->impatient = on;
}

void
txn_hold(struct txn_engine *e, bool held)
{
	e->held = held;
	fill_lanes(e);
}

void
txn_set_fence(struct txn_engine *e, bool (*may_send)(void *arg), void *arg)
{
	e->may_send = may_send;
	e->may_send_arg = arg;
}

void
txn_cancel(struct txn_engine *e)
{
	struct request *r;

	for (size_t i = 0; i < e->nodes.all.n; i++)
		nodes_drop(&e->nodes, e->nodes.all.item[i], &e->given_up);
	while ((r = TAILQ_FIRST(&e->again)) != NULL) {
		TAILQ_REMOVE(&e->again, r, in);
		TAILQ_INSERT_TAIL(&e->given_up, r, in);
		r->place = GIVEN_UP;
	}
	flight_last_tries(&e->flight);
	end_given_up(e, TXN_CANCELLED);
}

void
txn_set_unsolicited(struct txn_engine *e, txn_unsolicited handler, void *arg)
{
	e->unsolicited = handler;
	e->unsolicited_arg = arg;
}

/* IBA 14.2.1.2: on its way back a directed SMP carries the D bit. */
int
txn_reply(struct txn_engine *e, const struct mad *reply, struct fm_error *err)
{
	struct mad m = *reply;

	if (m.bytes[1] == WIRE_CLASS_SMP_DR)
		m.bytes[4] |= 0x80;
	m.status = 0;
	m.timeout_ms = 0;
	return e->transport->ops->send(e->transport, &m, err);
}

unsigned
txn_outstanding(const struct txn_engine *e)
{
	return e->n_outstanding;
}

unsigned
txn_window(const struct txn_engine *e)
{
	return e->flight.window.size;
}

struct txn_places
txn_places(const struct txn_engine *e)
{
	return (struct txn_places){ .window = e->flight.n_placed[LANE_WINDOW],
		.lane = e->flight.n_placed[LANE_PROBES],
		.parked = e->flight.n_parked,
		.unproven = e->flight.n_unproven };
}

const struct txn_counts *
txn_counts(const struct txn_engine *e)
{
	return &e->counts;
}

int64_t
txn_next_ns(const struct txn_engine *e)
{
	int64_t park = !e->held && is_held_up(e) ? flight_next_park_ns(&e->flight) : INT64_MAX;
	int64_t deadline = flight_next_deadline_ns(&e->flight);

	return park < deadline ? park : deadline;
}

/* What has arrived is taken before a try is called lost: we may have been busy for long. */
int
txn_poll(struct txn_engine *e, int64_t until_ns, struct fm_error *err)
{
	int64_t next;
	int rc;

	fill_lanes(e);
	next = TAILQ_EMPTY(&e->given_up) ? txn_next_ns(e) : now_ns(e);
	rc = e->transport->ops->poll(e->transport, next < until_ns ? next : until_ns, err);
	if (rc < 0)
		return rc;
	expire_timers(e);
	end_given_up(e, TXN_TIMEOUT);
	fill_lanes(e);
	return 0;
}

int
txn_drain(struct txn_engine *e, bool (*should_stop)(void *), void *arg, struct fm_error *err)
{
	while (e->n_outstanding > 0) {
		int rc;

		if (should_stop != NULL && should_stop(arg))
			return fm_fail(err, FM_E_CANCELLED,
			    "stopped while %u requests were unanswered", e->n_outstanding);
		rc = txn_poll(e, now_ns(e) + DRAIN_STEP_NS, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}
