/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/reader/pace.h - how many requests leave in a slot of a sweep.
 *
 * They are spread over most of the interval, and what was lost is asked again in the rest.  While
 * fmd writes to switches, whose agents have one processor for all, it is half as many as would be
 * even, and what that leaves is made up for afterwards; it is never more than twice as many.  A
 * sweep that somebody waits for has that pace only while fmd writes.
 */
#ifndef PERF_READER_PACE_H
#define PERF_READER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_SLOT_MS 10
#define PACE_BUSY_PERCENT 80 /* of an interval */
#define PACE_MOST 2048	     /* in a slot: more than are answered, and the slot has an end */

struct pace {
	int64_t n_slots; /* in which all is to be asked */
	int64_t even;	 /* requests in each */
	bool hurries;	 /* somebody waits */
};

static inline struct pace
pace_begin(uint32_t interval_ms, uint32_t n_requests, bool hurries)
{
	int64_t n_slots = (int64_t)interval_ms * PACE_BUSY_PERCENT / 100 / PACE_SLOT_MS;

	return (struct pace){ n_slots, (n_requests + n_slots - 1) / n_slots, hurries };
}

/* In slot `slot` of it, with so many requests left. */
static inline uint32_t
pace_budget(const struct pace *p, int64_t slot, uint32_t left, bool fmd_writes)
{
	int64_t rest = p->n_slots > slot ? p->n_slots - slot : 1;
	bool hurries = p->hurries && !fmd_writes;
	int64_t budget = hurries ? left : (left + rest - 1) / rest;
	int64_t most = hurries ? PACE_MOST : fmd_writes ? (p->even + 1) / 2 : 2 * p->even;

	return (uint32_t)(budget < most ? budget : most);
}

#endif
