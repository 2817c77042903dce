/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/transact.c - requests and their answers.
 *
 * A request is always in exactly one place:
 *
 *	txn_smp --> node's queue --> on the wire (tries[i]) --> callback
 *	             (per-node       |        ^
 *	              window)        v        |
 *	                         timed out --> again[] (fabric window)
 *
 * Nodes that have something to send and room in their window stand in a ring
 * and are served in turn, so one slow switch holds up only itself.  All
 * requests in their i-th try have the same timeout, so each tries[] list is
 * ordered by deadline as it is appended to: timers cost O(1), whatever their
 * number.
 *
 * The lower 32 bits of a TID name a slot, the upper belong to the kernel:
 *
 *	 31 .. 29 | 28 ........ 12 | 11 ... 0
 *	   try    |   generation   |   slot
 *
 * All tries of a request share slot and generation: the answer to any of them
 * is the answer.  The kernel's rule (a request unanswered after its timeout
 * comes back with ETIMEDOUT) ends a try early only if it names that try.
 *
 * Callbacks run from txn_poll() and txn_free() only, last in whatever called
 * them: they may start requests, which may be sent at once.
 * Every operation is O(1).
 */
#include "core/mad/transact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/mad/window.h"
#include "core/mad/wire.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/vec.h"

#define MIN_WINDOW 4
#define SLOT_BITS 12
#define GENERATION_BITS 17
#define MAX_SLOTS (1u << SLOT_BITS)
#define MAX_WINDOW (MAX_SLOTS / 4) /* the rest wait for a retry, or remember what is late */
#define GENERATION_MASK ((1u << GENERATION_BITS) - 1)
#define N_TIMEOUTS 8 /* the timeout doubles this often at most; fits the TID's try */
#define N_CHUNK 256
#define MAX_IDLE_NODES 16384 /* as many keys as a big fabric has switches */
#define DRAIN_STEP_NS 50000000 /* how often txn_drain() asks whether to stop */

enum place { IN_NODE_QUEUE, ON_WIRE, AGAIN };

struct request {
	TAILQ_ENTRY(request) in; /* the list of its place */
	txn_done done;
	void *arg;
	struct node *node;
	int64_t sent_ns, deadline_ns; /* of this try */
	uint32_t tid;		      /* of the first try */
	uint32_t modifier;
	uint16_t attr;
	uint8_t method, n_tries;
	bool has_data;
	enum place place;
	struct smp_route route;
	uint8_t data[WIRE_SMP_DATA_BYTES];
};
TAILQ_HEAD(requests, request);

/* Requests with one node_key.  Without any it is idle: found again by its key,
 * until so many are that the longest idle is forgotten. */
struct node {
	TAILQ_ENTRY(node) in; /* the ring, or idle_nodes */
	struct requests queue;
	uint64_t key;
	uint32_t index; /* in nodes */
	unsigned n_sent, n_queued;
	bool in_ring, is_idle;
};
TAILQ_HEAD(ring, node);

struct slot {
	struct request *request; /* NULL: free */
	uint32_t generation;
	bool answered; /* the last request here ended with an answer */
};

struct txn_engine {
	struct transport *transport;
	struct txn_limits limits;
	uint64_t m_key;
	struct window window;
	unsigned n_on_wire, n_outstanding;
	bool closing;

	struct requests again;		   /* lost, to be sent again before anything new */
	struct requests tries[N_TIMEOUTS]; /* on the wire, by try: earliest deadline first */
	struct ring ring;		   /* nodes that may send */

	struct slot *slots;   /* [n_slots] */
	uint32_t *free_slots; /* [n_slots] a queue, so that a slot rests before it is used again */
	uint32_t n_slots, free_head, n_free;

	struct fm_hash node_of_key; /* key -> index in nodes */
	FM_VEC(struct node *) nodes;
	struct ring idle_nodes; /* longest idle first */
	unsigned n_idle;
	struct requests free_requests;
	FM_VEC(struct request *) chunks; /* of N_CHUNK each */

	txn_unsolicited unsolicited;
	void *unsolicited_arg;
	struct txn_counts counts;
	struct fm_log_bucket send_log;
};

/* ---- storage */

static struct request *
take_request(struct txn_engine *e)
{
	struct request *r = TAILQ_FIRST(&e->free_requests);

	if (r == NULL) {
		struct request *chunk = calloc(N_CHUNK, sizeof(*chunk));

		if (chunk == NULL || !fm_vec_push(&e->chunks, chunk)) {
			free(chunk);
			return NULL;
		}
		for (int i = 0; i < N_CHUNK; i++)
			TAILQ_INSERT_TAIL(&e->free_requests, &chunk[i], in);
		r = chunk;
	}
	TAILQ_REMOVE(&e->free_requests, r, in);
	return r;
}

static void
release_request(struct txn_engine *e, struct request *r)
{
	TAILQ_INSERT_HEAD(&e->free_requests, r, in);
}

static void
wake_node(struct txn_engine *e, struct node *n)
{
	if (!n->is_idle)
		return;
	TAILQ_REMOVE(&e->idle_nodes, n, in);
	e->n_idle--;
	n->is_idle = false;
}

static void
rest_node(struct txn_engine *e, struct node *n)
{
	if (n->n_sent != 0 || n->n_queued != 0)
		return;
	TAILQ_INSERT_TAIL(&e->idle_nodes, n, in);
	e->n_idle++;
	n->is_idle = true;
}

/* The longest idle of too many, without its key; or a new one. */
static struct node *
new_node(struct txn_engine *e)
{
	struct node *n = TAILQ_FIRST(&e->idle_nodes);

	if (e->n_idle >= MAX_IDLE_NODES) {
		fm_hash_remove(&e->node_of_key, n->key);
		return n;
	}
	n = calloc(1, sizeof(*n));
	if (n == NULL || !fm_hash_reserve(&e->node_of_key, e->nodes.n + 1) ||
	    !fm_vec_push(&e->nodes, n)) {
		free(n);
		return NULL;
	}
	n->index = (uint32_t)(e->nodes.n - 1);
	TAILQ_INIT(&n->queue);
	rest_node(e, n);
	return n;
}

/* The node of a key; idle when it had no requests. */
static struct node *
find_node(struct txn_engine *e, uint64_t key)
{
	uint32_t i = fm_hash_find(&e->node_of_key, key);
	struct node *n;

	if (i != FM_HASH_NONE)
		return e->nodes.item[i];
	n = new_node(e);
	if (n != NULL) {
		n->key = key;
		fm_hash_put(&e->node_of_key, key, n->index); /* has room */
	}
	return n;
}

/* ---- per-node windows */

static void
enter_ring_if_ready(struct txn_engine *e, struct node *n)
{
	bool has_room = n->key == 0 || n->n_sent < e->limits.per_node_max;

	if (n->in_ring || n->n_queued == 0 || !has_room)
		return;
	TAILQ_INSERT_TAIL(&e->ring, n, in);
	n->in_ring = true;
}

/* The next request of the next node in turn; NULL when nobody may send. */
static struct request *
take_next_new(struct txn_engine *e)
{
	struct node *n = TAILQ_FIRST(&e->ring);
	struct request *r;

	if (n == NULL)
		return NULL;
	TAILQ_REMOVE(&e->ring, n, in);
	n->in_ring = false;
	r = TAILQ_FIRST(&n->queue);
	TAILQ_REMOVE(&n->queue, r, in);
	n->n_queued--;
	n->n_sent++;
	enter_ring_if_ready(e, n);
	return r;
}

/* ---- slots and TIDs */

static bool
has_free_slot(const struct txn_engine *e)
{
	return e->n_free > 0;
}

static void
take_slot(struct txn_engine *e, struct request *r)
{
	uint32_t i = e->free_slots[e->free_head];
	struct slot *s = &e->slots[i];

	e->free_head = (e->free_head + 1) & (e->n_slots - 1);
	e->n_free--;
	s->request = r;
	s->generation = (s->generation + 1) & GENERATION_MASK;
	r->tid = s->generation << SLOT_BITS | i;
}

static void
release_slot(struct txn_engine *e, const struct request *r, bool answered)
{
	uint32_t i = r->tid & (MAX_SLOTS - 1);

	e->slots[i].request = NULL;
	e->slots[i].answered = answered;
	e->free_slots[(e->free_head + e->n_free) & (e->n_slots - 1)] = i;
	e->n_free++;
}

static struct slot *
slot_of(const struct txn_engine *e, uint32_t tid)
{
	uint32_t i = tid & (MAX_SLOTS - 1);

	return i < e->n_slots ? &e->slots[i] : NULL;
}

static uint32_t
generation_of(uint32_t tid)
{
	return tid >> SLOT_BITS & GENERATION_MASK;
}

static unsigned
try_index(const struct request *r)
{
	return r->n_tries - 1u < N_TIMEOUTS ? r->n_tries - 1u : N_TIMEOUTS - 1;
}

/* ---- sending */

static int64_t
now_ns(const struct txn_engine *e)
{
	return e->transport->ops->now_ns(e->transport);
}

static void
build_mad(const struct txn_engine *e, const struct request *r, struct mad *m)
{
	struct wire_header h = {
		.base_version = 1,
		.mgmt_class = r->route.directed ? WIRE_CLASS_SMP_DR : WIRE_CLASS_SMP_LID,
		.class_version = 1,
		.method = r->method,
		.tid = (uint64_t)try_index(r) << (SLOT_BITS + GENERATION_BITS) | r->tid,
		.attr = r->attr,
		.modifier = r->modifier,
		.m_key = e->m_key,
		.dr_slid = WIRE_LID_PERMISSIVE,
		.dr_dlid = WIRE_LID_PERMISSIVE,
	};

	*m = (struct mad){ .addr.lid = r->route.lid };
	if (r->route.directed) {
		m->addr.lid = WIRE_LID_PERMISSIVE;
		h.hop_count = r->route.n_hops;
		memcpy(m->bytes + WIRE_DR_INITIAL_PATH_AT, r->route.path, r->route.n_hops + 1u);
	}
	wire_header_put(m->bytes, &h);
	if (r->has_data)
		memcpy(m->bytes + WIRE_SMP_DATA_AT, r->data, WIRE_SMP_DATA_BYTES);
}

static uint32_t
timeout_ms(const struct txn_engine *e, const struct request *r)
{
	return e->limits.timeout_ms << try_index(r);
}

/* A send that fails is a MAD that was lost: its timer runs and it is tried again. */
static void
send_request(struct txn_engine *e, struct request *r)
{
	struct fm_error err;
	struct mad m;

	build_mad(e, r, &m);
	m.timeout_ms = timeout_ms(e, r);
	r->place = ON_WIRE;
	r->sent_ns = now_ns(e);
	r->deadline_ns = r->sent_ns + (int64_t)m.timeout_ms * 1000000;
	TAILQ_INSERT_TAIL(&e->tries[try_index(r)], r, in);
	e->n_on_wire++;
	e->counts.sent++;
	if (e->transport->ops->send(e->transport, &m, &err) != 0)
		fm_log_rl(&e->send_log, FM_LOG_WARN, "mad", "a MAD could not be sent: %s", err.msg);
}

static void
count_first_send(struct txn_engine *e, const struct request *r)
{
	if (r->method == WIRE_SET)
		e->counts.sets_by_attr[r->attr & 0xff]++;
	else
		e->counts.gets_by_attr[r->attr & 0xff]++;
}

/* Send what the windows admit: what was lost first, then the nodes in turn. */
static void
fill_window(struct txn_engine *e)
{
	struct request *r;

	while (e->n_on_wire < e->window.size) {
		r = TAILQ_FIRST(&e->again);
		if (r != NULL) {
			TAILQ_REMOVE(&e->again, r, in);
			e->counts.retries++;
		} else {
			r = has_free_slot(e) ? take_next_new(e) : NULL;
			if (r == NULL) {
				window_idle(&e->window);
				return;
			}
			take_slot(e, r);
			count_first_send(e, r);
		}
		r->n_tries++;
		send_request(e, r);
	}
}

/* ---- ends */

static void
leave_wire(struct txn_engine *e, struct request *r)
{
	TAILQ_REMOVE(&e->tries[try_index(r)], r, in);
	e->n_on_wire--;
}

/* The request is on no list any more.  The callback is the last act: it may
 * start requests, and whoever called this must not rely on what it knew. */
static void
finish(struct txn_engine *e, struct request *r, enum txn_status status, const uint8_t *reply)
{
	struct node *n = r->node;
	txn_done done = r->done;
	void *arg = r->arg;

	release_slot(e, r, reply != NULL);
	e->n_outstanding--;
	n->n_sent--;
	enter_ring_if_ready(e, n);
	rest_node(e, n);
	release_request(e, r);
	done(arg, status, reply);
}

/* This try has had no answer (its timer or the kernel says so, or BUSY came). */
static void
end_try(struct txn_engine *e, struct request *r)
{
	leave_wire(e, r);
	if (r->n_tries <= e->limits.n_retries) {
		r->place = AGAIN;
		TAILQ_INSERT_TAIL(&e->again, r, in);
		return;
	}
	e->counts.timeouts++;
	finish(e, r, TXN_TIMEOUT, NULL);
}

static void
expire_timers(struct txn_engine *e)
{
	int64_t now = now_ns(e);

	for (int i = 0; i < N_TIMEOUTS; i++) {
		struct request *r;

		while ((r = TAILQ_FIRST(&e->tries[i])) != NULL && r->deadline_ns <= now) {
			window_loss(&e->window, r->sent_ns, now);
			end_try(e, r);
		}
	}
}

/* ---- receiving */

/* IBA 13.4.7: BUSY asks us to try again; the timer of this try does that. */
static bool
shall_wait(const struct txn_engine *e, const struct request *r, uint16_t status)
{
	return (status & WIRE_STATUS_BUSY) != 0 && r->n_tries <= e->limits.n_retries;
}

static void
take_answer(struct txn_engine *e, struct request *r, const struct mad *m, uint16_t status)
{
	if (shall_wait(e, r, status))
		return;
	if (r->place == ON_WIRE)
		leave_wire(e, r);
	else
		TAILQ_REMOVE(&e->again, r, in);
	if (window_answer(&e->window))
		window_judge(&e->window, now_ns(e));
	if (status != 0)
		e->counts.refused++;
	finish(e, r, status ? TXN_REFUSED : TXN_OK, m->bytes);
}

/* Our own request came back unanswered.  Of a try that is over already there
 * is nothing to be learnt; one that came back at once had no way to go, which
 * is no congestion. */
static void
take_returned(struct txn_engine *e, uint32_t tid)
{
	struct slot *s = slot_of(e, tid);
	struct request *r = s && s->generation == generation_of(tid) ? s->request : NULL;
	int64_t now = now_ns(e);

	if (r == NULL || r->place != ON_WIRE ||
	    tid >> (SLOT_BITS + GENERATION_BITS) != try_index(r))
		return;
	if (2 * (now - r->sent_ns) > r->deadline_ns - r->sent_ns)
		window_loss(&e->window, r->sent_ns, now);
	end_try(e, r);
}

/* An answer that nobody waits for.  A generation is remembered for one more use of its slot. */
static void
count_stray(struct txn_engine *e, const struct slot *s, uint32_t generation)
{
	uint32_t age = s ? (s->generation - generation) & GENERATION_MASK : GENERATION_MASK;

	if (age > 1 || (age == 0 && s->request != NULL))
		e->counts.foreign++;
	else if (age == 0 && s->answered)
		e->counts.duplicates++;
	else
		e->counts.late++;
}

static void
take_response(struct txn_engine *e, const struct mad *m)
{
	struct wire_header h;
	struct slot *s;
	struct request *r;

	wire_header_get(m->bytes, &h);
	s = slot_of(e, (uint32_t)h.tid);
	if (s == NULL || s->request == NULL || s->generation != generation_of((uint32_t)h.tid)) {
		count_stray(e, s, generation_of((uint32_t)h.tid));
		return;
	}
	r = s->request;
	if (h.attr != r->attr || h.method != WIRE_GET_RESP ||
	    h.mgmt_class != (r->route.directed ? WIRE_CLASS_SMP_DR : WIRE_CLASS_SMP_LID)) {
		e->counts.foreign++;
		return;
	}
	take_answer(e, r, m, h.status);
}

static void
on_mad(void *arg, const struct mad *m)
{
	struct txn_engine *e = arg;

	if (m->status == ETIMEDOUT)
		take_returned(e, (uint32_t)wire_get64(m->bytes + 8));
	else if (m->status != 0)
		e->counts.foreign++;
	else if (m->bytes[3] & WIRE_RESPONSE_BIT) {
		e->counts.received++;
		take_response(e, m);
	} else {
		e->counts.received++;
		if (e->unsolicited)
			e->unsolicited(e->unsolicited_arg, m);
	}
	fill_window(e);
}

/* ---- the outside */

static struct txn_limits
sane_limits(const struct txn_limits *l, const struct transport *t)
{
	struct txn_limits s = *l;

	if (s.timeout_ms == 0)
		s.timeout_ms = 1;
	if (s.timeout_ms > UINT32_MAX >> N_TIMEOUTS)
		s.timeout_ms = UINT32_MAX >> N_TIMEOUTS;
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

static bool
init_slots(struct txn_engine *e)
{
	uint32_t first_generation = (uint32_t)fm_mix64((uint64_t)now_ns(e));

	for (e->n_slots = 64; e->n_slots < 4u * e->limits.window_max;)
		e->n_slots *= 2;
	e->slots = calloc(e->n_slots, sizeof(*e->slots));
	e->free_slots = calloc(e->n_slots, sizeof(*e->free_slots));
	if (e->slots == NULL || e->free_slots == NULL)
		return false;
	for (uint32_t i = 0; i < e->n_slots; i++) {
		e->slots[i].generation = first_generation & GENERATION_MASK;
		e->free_slots[i] = i;
	}
	e->n_free = e->n_slots;
	return true;
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
	window_init(&e->window, MIN_WINDOW, e->limits.window_max);
	TAILQ_INIT(&e->again);
	TAILQ_INIT(&e->ring);
	TAILQ_INIT(&e->idle_nodes);
	TAILQ_INIT(&e->free_requests);
	for (int i = 0; i < N_TIMEOUTS; i++)
		TAILQ_INIT(&e->tries[i]);
	if (!init_slots(e)) {
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
	for (int i = 0; i < N_TIMEOUTS; i++)
		if ((r = TAILQ_FIRST(&e->tries[i])) != NULL) {
			leave_wire(e, r);
			return r;
		}
	r = take_next_new(e);
	if (r != NULL)
		take_slot(e, r);
	return r;
}

void
txn_free(struct txn_engine *e)
{
	struct request *r;

	if (e == NULL)
		return;
	e->closing = true;
	while ((r = take_any(e)) != NULL)
		finish(e, r, TXN_CANCELLED, NULL);
	if (e->transport->on_mad_arg == e) {
		e->transport->on_mad = NULL;
		e->transport->on_mad_arg = NULL;
	}
	for (size_t i = 0; i < e->nodes.n; i++)
		free(e->nodes.item[i]);
	for (size_t i = 0; i < e->chunks.n; i++)
		free(e->chunks.item[i]);
	fm_vec_fini(&e->nodes);
	fm_vec_fini(&e->chunks);
	fm_hash_fini(&e->node_of_key);
	free(e->slots);
	free(e->free_slots);
	free(e);
}

static void
init_request(struct request *r, const struct smp_route *route, const uint8_t *data)
{
	r->n_tries = 0;
	r->place = IN_NODE_QUEUE;
	r->route.directed = route->directed;
	r->route.lid = route->lid;
	r->route.n_hops = route->n_hops <= DR_MAX_HOPS ? route->n_hops : DR_MAX_HOPS;
	memcpy(r->route.path, route->path, r->route.n_hops + 1u);
	r->has_data = data != NULL;
	if (data != NULL)
		memcpy(r->data, data, sizeof(r->data));
}

void
txn_smp(struct txn_engine *e, const struct smp_route *route, uint8_t method, uint16_t attr,
    uint32_t modifier, const uint8_t *data, uint64_t node_key, txn_done done, void *arg)
{
	struct node *n = find_node(e, node_key);
	struct request *r = n ? take_request(e) : NULL;

	if (r == NULL) {
		done(arg, TXN_CANCELLED, NULL);
		return;
	}
	init_request(r, route, data);
	r->method = method;
	r->attr = attr;
	r->modifier = modifier;
	r->done = done;
	r->arg = arg;
	r->node = n;
	wake_node(e, n);
	TAILQ_INSERT_TAIL(&n->queue, r, in);
	n->n_queued++;
	e->n_outstanding++;
	enter_ring_if_ready(e, n);
	if (!e->closing)
		fill_window(e);
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
	return e->window.size;
}

const struct txn_counts *
txn_counts(const struct txn_engine *e)
{
	return &e->counts;
}

int64_t
txn_next_ns(const struct txn_engine *e)
{
	int64_t next = INT64_MAX;

	for (int i = 0; i < N_TIMEOUTS; i++) {
		const struct request *r = TAILQ_FIRST(&e->tries[i]);

		if (r != NULL && r->deadline_ns < next)
			next = r->deadline_ns;
	}
	return next;
}

int
txn_poll(struct txn_engine *e, int64_t until_ns, struct fm_error *err)
{
	int64_t next;
	int rc;

	expire_timers(e);
	fill_window(e);
	next = txn_next_ns(e);
	rc = e->transport->ops->poll(e->transport, next < until_ns ? next : until_ns, err);
	if (rc < 0)
		return rc;
	expire_timers(e);
	fill_window(e);
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
