/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/sim/events.h - what happens when: a binary heap by time, first come
 * first served within the same nanosecond.  push and pop O(log n).
 */
#ifndef LAB_SIM_EVENTS_H
#define LAB_SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/vec.h"

struct sim_packet;

enum sim_event_kind {
	EVENT_AT_NODE,	 /* packet: arrives at an agent */
	EVENT_SERVE,	 /* packet: the agent has time for it */
	EVENT_AT_CLIENT, /* packet: arrives at a transport */
	EVENT_DELIVER,	 /* packet: the transport has time for it */
	EVENT_EXPIRE,	 /* client of the port: unanswered requests */
	EVENT_TRAIN,	 /* port */
	EVENT_FALL,	 /* port */
	EVENT_RELINK,	 /* port */
	EVENT_POWER_ON,	 /* node */
	EVENT_TRAP,	 /* node * SIM_TRAP_SLOTS + slot */
	EVENT_ACTION,	 /* index of a script's action */
	EVENT_FLOWS	 /* 0 */
};

struct sim_event {
	int64_t at_ns;
	uint64_t order; /* serial number << 8 | kind */
	union {
		struct sim_packet *packet;
		uintptr_t number;
	};
};

struct sim_events {
	FM_VEC(struct sim_event) heap; /* heap.item[0] is the next */
	uint64_t n_pushed;
};

static inline enum sim_event_kind
event_kind(const struct sim_event *e)
{
	return (enum sim_event_kind)(e->order & 0xff);
}

/* False when memory is out. */
bool events_push_packet(
    struct sim_events *q, int64_t at_ns, enum sim_event_kind kind, struct sim_packet *p);
bool events_push(struct sim_events *q, int64_t at_ns, enum sim_event_kind kind, uintptr_t number);
/* An event of another queue, with its place in the order. */
bool events_keep(struct sim_events *q, const struct sim_event *e);
/* The next event; the queue must not be empty. */
struct sim_event events_pop(struct sim_events *q);

static inline int64_t
events_next_ns(const struct sim_events *q)
{
	return q->heap.n > 0 ? q->heap.item[0].at_ns : INT64_MAX;
}

#endif
