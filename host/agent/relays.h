/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/relays.h - which relay of its list an agent goes to.
 *
 * Those that have failed lately, a full one among them, come last, the one that failed first of all
 * before the others; of the rest the nearest is first, and behind those whose distance is known
 * come those of which it is not.  Among equals the order is a hash of the host's port and the
 * relay, another one for each host: a thousand hosts with one list spread evenly over relays that
 * are as near, and over those that are left when one of these dies.  O(relays).
 */
#ifndef HOST_AGENT_RELAYS_H
#define HOST_AGENT_RELAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"

#define RELAYS_MOST 64
#define RELAYS_FORGET_MS (INT64_C(10) * 60 * 1000) /* a failure; see above */

struct relay_entry {
	const char *word; /* as it was given, without @NODE: files:... or redis:... */
	const char *node; /* the host that it runs on: its name, port GUID or LID; NULL: not said */
	unsigned hops;	  /* switches that a packet to there passes; 0: not known */
	int64_t
	    failed_ms; /* when it failed last, CLOCK_MONOTONIC; 0: it has answered since */
	uint64_t told; /* hash of what was told of it last; 0: nothing, or that it answers */
};

struct relays {
	uint64_t host; /* GUID of its first port */
	struct relay_entry item[RELAYS_MOST];
	unsigned n;
};

/* Another one.  The word is cut in two where @NODE begins, and is borrowed.  FM_E_CONFIG: there are
 * too many. */
int relays_add(struct relays *r, char *word, struct fm_error *err);
/* Where to go; r->n is more than 0. */
unsigned relays_best(const struct relays *r, int64_t now_ms);
/* One that has not failed lately and is nearer than the i-th; r->n: there is none. */
unsigned relays_nearer(const struct relays *r, unsigned i, int64_t now_ms);

#endif
