/* SPDX-License-Identifier: BSD-2-Clause */
/* core/ask/late.c - reads that nobody waits for any more. */
#include "core/ask/late.h"

#include "core/ask/doubt.h"
#include "core/ask/internal.h"

#define LATE_NS 25000000 /* a request is put again after 200 ms */

/* ---------------------------------------------------------------- letting go */

int64_t
late_since_ns(const struct sweeper *s)
{
	const struct ask *a;

	LATE_EACH(a, s)
	if (a->wait == ASK_MAY_BE_LATE)
		return s->reading.stirred_ns + LATE_NS;
	return INT64_MAX;
}

static void
note_late(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	n->n_late++;
	if (!n->was_silent) {
		n->quiet = true;
	} else if (!n->silent) {
		n->silent = true;
		s->report.n_silent++;
	}
}

static bool
is_of_switch(const struct ask *a)
{
	return a->about != INV_NONE && inv_is_switch(inv_node(&a->s->inv, a->about));
}

void
late_let_go(struct sweeper *s)
{
	struct ask *a;

	s->reading.stirred_ns = s->p.transport->ops->now_ns(s->p.transport);
	LATE_EACH(a, s)
	{
		if (a->wait != ASK_MAY_BE_LATE || is_of_switch(a))
			continue;
		a->wait = ASK_IS_LATE;
		a->route.aside = true;
		s->run.pending--;
		if (a->attr == WIRE_ATTR_NODE_INFO)
			inv_node(&s->inv, a->node)->ports[a->port].late_probe = true;
		if (a->about != INV_NONE)
			note_late(s, a->about);
	}
}

static void
nobody_asks(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	(void)a;
	(void)status;
	(void)reply;
}

static void
uncount(struct ask *a)
{
	if (a->wait == ASK_IS_LATE && a->attr == WIRE_ATTR_NODE_INFO)
		inv_node(&a->s->inv, a->node)->ports[a->port].late_probe = false;
	if (a->wait == ASK_MAY_BE_LATE)
		a->s->run.pending--;
	else if (a->about != INV_NONE)
		inv_node(&a->s->inv, a->about)->n_late--;
}

/* It is out still, and its answer counts for nothing. */
static void
abandon(struct ask *a)
{
	TAILQ_REMOVE(&a->s->reading.out, a, in);
	a->wait = ASK_BESIDE;
	a->route.aside = true;
	a->done = nobody_asks;
}

/* ------------------------------------------------------------------- answers */

/* Has it been read, or is it gone, or known to be silent, so that no answer tells nothing? */
static bool
tells_nothing(const struct ask *a)
{
	const struct inv_node *n = inv_node(&a->s->inv, a->node);

	if (!n->present)
		return true;
	switch (a->attr) {
	case WIRE_ATTR_NODE_INFO:
		return n->ports[a->port].edge == EDGE_SILENT;
	case WIRE_ATTR_PORT_INFO:
		return n->silent || n->ports[a->port].read_seq > a->seq;
	default:
		return n->silent;
	}
}

static bool
may_take(const struct sweeper *s)
{
	return s->run.phase == PHASE_DISCOVER || s->run.phase == PHASE_REREAD;
}

void
late_end(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;

	if (status == TXN_CANCELLED || (status != TXN_OK && tells_nothing(a))) {
		uncount(a);
		ask_drop(a);
		return;
	}
	a->status = status;
	if (reply != NULL)
		memcpy(a->data, reply + WIRE_SMP_DATA_AT, sizeof(a->data));
	TAILQ_INSERT_TAIL(&s->reading.come, a, in);
	if (may_take(s))
		late_take(s);
}

bool
late_is_due(const struct sweeper *s)
{
	return !TAILQ_EMPTY(&s->reading.come);
}

static void
deliver_answer(struct ask *a)
{
	uint8_t reply[MAD_BYTES] = { 0 };

	uncount(a);
	if (ask_is_stale(a)) {
		ask_drop(a);
		return;
	}
	if (a->about != INV_NONE && a->status != TXN_TIMEOUT)
		inv_node(&a->s->inv, a->about)->quiet = false;
	memcpy(reply + WIRE_SMP_DATA_AT, a->data, sizeof(a->data));
	a->done(a, a->status, reply);
	ask_drop(a);
}

void
late_take(struct sweeper *s)
{
	struct ask *a;

	while ((a = TAILQ_FIRST(&s->reading.come)) != NULL) {
		TAILQ_REMOVE(&s->reading.come, a, in);
		deliver_answer(a);
	}
}

void
late_forget(struct sweeper *s, uint32_t slot)
{
	struct ask *a, *next;

	for (a = TAILQ_FIRST(&s->reading.out); a != NULL; a = next) {
		next = TAILQ_NEXT(a, in);
		if (a->wait != ASK_IS_LATE || (slot != INV_NONE && a->about != slot))
			continue;
		uncount(a);
		abandon(a);
	}
	for (a = TAILQ_FIRST(&s->reading.come); a != NULL; a = next) {
		next = TAILQ_NEXT(a, in);
		if (slot != INV_NONE && a->about != slot)
			continue;
		uncount(a);
		TAILQ_REMOVE(&s->reading.come, a, in);
		ask_drop(a);
	}
}
