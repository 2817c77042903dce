/* SPDX-License-Identifier: BSD-2-Clause */
#include "lab/sim/events.h"

static inline bool
is_before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

bool
events_keep(struct sim_events *q, const struct sim_event *e)
{
	size_t i = q->heap.n, up;

	if (!fm_vec_reserve(&q->heap, i + 1))
		return false;
	q->heap.n++;
	for (; i > 0; i = up) {
		up = (i - 1) / 2;
		if (!is_before(e, &q->heap.item[up]))
			break;
		q->heap.item[i] = q->heap.item[up];
	}
	q->heap.item[i] = *e;
	return true;
}

static bool
push(struct sim_events *q, struct sim_event e, enum sim_event_kind kind)
{
	e.order = q->n_pushed++ << 8 | kind;
	return events_keep(q, &e);
}

bool
events_push_packet(
    struct sim_events *q, int64_t at_ns, enum sim_event_kind kind, struct sim_packet *p)
{
	return push(q, (struct sim_event){ .at_ns = at_ns, .packet = p }, kind);
}

bool
events_push(struct sim_events *q, int64_t at_ns, enum sim_event_kind kind, uintptr_t number)
{
	return push(q, (struct sim_event){ .at_ns = at_ns, .number = number }, kind);
}

struct sim_event
events_pop(struct sim_events *q)
{
	struct sim_event *h = q->heap.item, top = h[0], last = h[q->heap.n - 1];
	size_t n = --q->heap.n, i = 0, down;

	for (; (down = 2 * i + 1) < n; i = down) {
		if (down + 1 < n && is_before(&h[down + 1], &h[down]))
			down++;
		if (!is_before(&h[down], &last))
			break;
		h[i] = h[down];
	}
	h[i] = last;
	return top;
}
