/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ask/ask.c - questions of the sweep, on the transaction engine.
 *
 * An ask carries what its callback needs to know.  It is taken from a free
 * list (ask_pool.c), counted in `pending` while it is out, and returned after its
 * callback.  This is also the one place through which a Set can leave, so
 * that a dry run sends none.
 */
#include "core/ask/ask.h"
#include "core/ask/internal.h"
#include "core/ask/late.h"
#include "core/ask/sweeper.h"
#include "lib/faultpoint.h"

#define EARLY_TRIES_MAX 4
#define EARLY_ANSWERS 16
#define TRIES_MAX 6
#define UNHEARD_MAX 3

static void on_end(void *arg, enum txn_status status, const uint8_t *reply);

/* Requests to one node share its small window; one past it that may be lost holds none of it up. */
static uint64_t
window_key(const struct ask *a)
{
	return a->node == INV_NONE || (a->wait == ASK_BESIDE && !a->at_node)
	    ? 0
	    : inv_node(&a->s->inv, a->node)->guid;
}

static bool
is_waited_for(const struct ask *a)
{
	return a->wait <= ASK_MAY_BE_LATE;
}

static int64_t
now_ns(const struct sweeper *s)
{
	return s->p.transport->ops->now_ns(s->p.transport);
}

void
ask_send(struct ask *a)
{
	a->n_tries++;
	a->seq = ++a->s->reading.seq;
	a->s->run.pending += is_waited_for(a);
	if (a->wait == ASK_MAY_BE_LATE)
		a->s->reading.stirred_ns = now_ns(a->s);
	txn_smp(a->s->p.txn, &a->route, a->method, a->attr, a->modifier,
	    a->method == WIRE_SET || a->attr == WIRE_ATTR_SM_INFO ? a->data : NULL, window_key(a),
	    on_end, a);
}

static bool
is_set_aside(const void *arg)
{
	const struct ask *a = arg;

	return a->route.aside;
}

void
ask_set_aside(struct sweeper *s)
{
	txn_set_aside(s->p.txn, on_end, is_set_aside);
}

/* Retries that were of use tell. */
bool
ask_is_lossy(const struct sweeper *s)
{
	const struct txn_counts *now = txn_counts(s->p.txn), *was = &s->run.counts_at_start;

	return (now->useful_retries - was->useful_retries) * 32 > now->sent - was->sent;
}

/* The first answers of a sweep tell nothing of losses yet, and if the first
 * cable is given up there is no sweep. */
static bool
is_early(const struct sweeper *s, const struct ask *a)
{
	return s->report.scope == SWEEP_HEAVY && a->n_tries < EARLY_TRIES_MAX &&
	    txn_counts(s->p.txn)->received - s->run.counts_at_start.received < EARLY_ANSWERS;
}

/* On a fabric that loses packets a request is put again, but not to a node that has left so many
 * unanswered in a row: chance does not do that.  Nor is an SM asked so, which may be dead while its
 * node answers: core/sms says how often. */
static bool
is_worth_another(struct sweeper *s, struct ask *a)
{
	struct inv_node *n = a->node != INV_NONE ? inv_node(&s->inv, a->node) : NULL;

	if (s->run.failed || a->attr == WIRE_ATTR_SM_INFO || (n != NULL && (n->silent || n->quiet)))
		return false;
	if (a->at_node && n->n_unheard < UINT8_MAX)
		n->n_unheard++;
	return (is_early(s, a) || (ask_is_lossy(s) && a->n_tries < TRIES_MAX)) &&
	    (n == NULL || n->n_unheard <= UNHEARD_MAX);
}

/* A node that leaves one question unanswered, all tries told, is asked no
 * more in this sweep: each further round would cost all its time-outs again. */
static void
note_quiet(struct ask *a)
{
	struct sweeper *s = a->s;
	struct inv_node *n;
	char name[128];

	if (!a->at_node)
		return;
	n = inv_node(&s->inv, a->node);
	if (n->quiet)
		return;
	n->quiet = true;
	lid_route_forgive(a);
	txn_give_up(s->p.txn, n->guid);
	if (s->run.phase < PHASE_ROUTE)
		return; /* discovery says what it means */
	s->report.n_silent++;
	if (!n->ports[inv_is_switch(n) ? 0 : a->port].foreign_key) {
		log_info("sweep", "%s has stopped answering", inv_name(n, name, sizeof(name)));
		return; /* when the sweep ends all are told in one line (todo.h) */
	}
	fm_log_rl(&s->logs.silent, n->warned ? FM_LOG_DEBUG : FM_LOG_WARN, "sweep",
	    "%s takes no Set under our M_Key; what is still to be set in it waits for the next "
	    "sweep",
	    inv_name(n, name, sizeof(name)));
	n->warned = true;
}

static void
note_heard(const struct ask *a, enum txn_status status)
{
	if ((status == TXN_OK || status == TXN_REFUSED) && a->node != INV_NONE && !a->route.beyond)
		inv_node(&a->s->inv, a->node)->heard_ns = now_ns(a->s);
}

static void
on_end(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct ask *a = arg;
	struct sweeper *s = a->s;
	bool stale = ask_is_stale(a);

	if (stale)
		status = TXN_CANCELLED;
	note_heard(a, status);
	if (a->wait == ASK_BESIDE) {
		a->done(a, status, reply);
		ask_drop(a);
		return;
	}
	s->run.pending -= is_waited_for(a);
	if (a->wait == ASK_MAY_BE_LATE)
		s->reading.stirred_ns = now_ns(s);
	if (!stale && lid_route_again(a, status)) {
		ask_send(a);
		return;
	}
	if (a->at_node && !stale && (status == TXN_OK || status == TXN_REFUSED))
		inv_node(&s->inv, a->node)->n_unheard = 0;
	if (status == TXN_TIMEOUT && is_worth_another(s, a)) {
		ask_send(a);
		return;
	}
	if (a->wait != ASK_HOLDS_UP)
		TAILQ_REMOVE(&s->reading.out, a, in);
	if (a->wait == ASK_IS_LATE) {
		late_end(a, status, reply);
		return;
	}
	if (status == TXN_TIMEOUT)
		note_quiet(a);
	if (a->method == WIRE_SET)
		fm_fault_point("answer", wire_attr_name(a->attr));
	a->done(a, status, reply);
	ask_drop(a);
}

static void
list_and_send(struct ask *a)
{
	if (a->wait == ASK_MAY_BE_LATE)
		TAILQ_INSERT_TAIL(&a->s->reading.out, a, in);
	ask_send(a);
}

void
ask_get(
    struct ask *a, const struct smp_route *route, uint16_t attr, uint32_t modifier, ask_done done)
{
	a->done = done;
	a->method = WIRE_GET;
	a->attr = attr;
	a->modifier = modifier;
	a->route = *route;
	list_and_send(a);
}

void
ask_set(struct ask *a, const struct smp_route *route, uint16_t attr, uint32_t modifier,
    const uint8_t *data, ask_done done)
{
	struct sweeper *s = a->s;

	if (s->set.dry_run) {
		const struct sweep_would one = { a->node, (uint8_t)attr };

		if (!fm_vec_push(&s->would, one))
			sweep_fail(s, FM_E_RESOURCE, "out of memory for what a dry run tells");
		s->report.would_set++;
		s->report.would_set_by_attr[attr & 0xff]++;
		ask_drop(a);
		return;
	}
	a->done = done;
	a->method = WIRE_SET;
	a->attr = attr;
	a->modifier = modifier;
	a->route = *route;
	memcpy(a->data, data, sizeof(a->data));
	list_and_send(a);
}

/* Has the node stopped answering in this sweep, or, of a host, its switch? */
static bool
is_quiet(const struct inventory *inv, uint32_t node, unsigned port)
{
	const struct inv_node *n = inv_node(inv, node);

	if (n->quiet || inv_is_switch(n) || n->ports[port].edge != EDGE_LINKED)
		return n->quiet;
	return inv_node(inv, n->ports[port].peer)->quiet;
}

/* The way to the node itself, if it is worth going. */
static bool
way_to(struct ask *a, struct smp_route *route)
{
	const struct inventory *inv = &a->s->inv;

	if (is_quiet(inv, a->node, a->port) || !inv_route(inv, a->node, a->port, route)) {
		ask_drop(a);
		return false;
	}
	a->at_node = true;
	lid_route_choose(a, route);
	return true;
}

bool
ask_get_at(struct ask *a, uint16_t attr, uint32_t modifier, ask_done done)
{
	struct smp_route route;

	if (!way_to(a, &route))
		return false;
	ask_get(a, &route, attr, modifier, done);
	return true;
}

bool
ask_set_at(struct ask *a, uint16_t attr, uint32_t modifier, const uint8_t *data, ask_done done)
{
	struct smp_route route;

	if (!way_to(a, &route))
		return false;
	ask_set(a, &route, attr, modifier, data, done);
	return true;
}
