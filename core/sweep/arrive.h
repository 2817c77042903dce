/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/arrive.h - who answers behind a cable, and what is in doubt of it.
 */
#ifndef CORE_SWEEP_ARRIVE_H
#define CORE_SWEEP_ARRIVE_H

#include "core/ask/sweeper.h"

enum doubt {
	DOUBT_NONE,
	DOUBT_NODE = 1,
	DOUBT_PLACE = 2,
	DOUBT_LINK = 4,
	DOUBT_LOOP = 8,
	DOUBT_PORT = 16,
	IS_FOREIGN = 32,  /* there is no doubt */
	STILL_THERE = 64, /* a switch is where it was, and may be here as well, by another cable */
	DOUBT_WAY = 128
};

/* Somebody behind node:port. */
struct arrival {
	uint32_t node;
	uint8_t port;
	const uint8_t *data; /* NodeInfo as it came */
	uint64_t m_key;
	struct wire_node_info info;
	unsigned settled; /* of enum doubt */
	/* the one in doubt, and its port */
	uint32_t owner;
	uint8_t owner_port;
};

static inline bool
is_local(const struct sweeper *s, uint32_t slot, uint8_t port)
{
	return slot == s->inv.local && port == s->inv.local_port;
}

/* The next thing that is to be asked before the arrival is believed. */
enum doubt arrive_doubt(const struct sweeper *s, struct arrival *v);
/* Its links may just be asked anew.  False: the way to the switch is the cable of the arrival. */
bool arrive_own_way(const struct sweeper *s, const struct arrival *v, struct smp_route *route);
/* Where to ask; false: there is nowhere, so that who was known is gone. */
bool arrive_place(
    const struct sweeper *s, enum doubt d, const struct arrival *v, struct smp_route *route);
/* Is the one in doubt where it was? */
bool arrive_is_still_there(const struct sweeper *s, enum doubt d, const struct arrival *v,
    const struct wire_node_info *found);
/* Both are new: does the newcomer go before the one in doubt? */
bool arrive_goes_before(const struct sweeper *s, const struct arrival *v);

#endif
