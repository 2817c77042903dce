/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/transition_internal.h - what the parts of a transition share.
 *
 *	transition.c		blocks, and what switches may hold by now
 *	transition_plan.c	which entries need an order
 *	transition_admit.c	may this entry be written now
 *	transition_send.c	which block next
 */
#ifndef CORE_TRANSITION_TRANSITION_INTERNAL_H
#define CORE_TRANSITION_TRANSITION_INTERNAL_H

#include <string.h>

#include "core/transition/transition.h"
#include "lib/arena.h"
#include "lib/bitset.h"
#include "lib/vec.h"

#define LANES TRANSITION_BLOCK_LIDS

/* Where a port leads, for one destination: a switch, or one of these. */
#define HOP_HOME (FM_NONE - 1) /* the destination */
#define HOP_HOLE FM_NONE       /* lost */

/* Sets of lanes: bit i = LID 64 * index + i. */
struct tblock {
	fm_sw sw;
	uint32_t index;
	const uint8_t *was, *want; /* [LANES] */
	uint64_t changed;
	uint64_t risky;	  /* to be admitted; no_hole, down and "next hop first" say for what else */
	uint64_t no_hole; /* all paths below must arrive by now */
	uint64_t down;	  /* nobody whom it matters to may still send through here */
	uint64_t sent, done;	     /* the new content */
	uint64_t emptying, emptied;  /* drained destinations, and what had no way from the start */
	uint64_t to_empty;	     /* new entries that lead nowhere: emptied is done */
	uint8_t last_refused;	     /* lane that was not admitted last time */
	bool in_flight, lost, fixed; /* fixed: not to be written (any more) */
	bool given;		     /* fixed from the start */
	bool unknown;		     /* ... and nobody knows what it holds */
	bool behind;		     /* ... with something else than wanted, where packets come */
};

enum { PHASE_EMPTY, PHASE_STEPS, PHASE_FILL, PHASE_OVER };

struct transition {
	const struct fm_fabric *fab;
	const struct fm_tables *want;
	uint32_t n_blocks; /* of a switch */
	uint32_t top_lid;
	uint8_t *rule; /* [n_blocks * LANES] */
	bool has_rules, unordered, warm;
	struct fm_arena mem;
	uint32_t *port_first;	/* [n_switches + 1] into next */
	fm_sw *next;		/* [port_first[n_switches]] behind a port, FM_NONE */
	uint64_t *cold, *shaky; /* bitsets of the same index: not active yet; nobody knows */
	bool any_cold, any_shaky, any_unknown;
	uint32_t *at; /* [n_switches * n_blocks] into block, + 1; 0 = holds what is wanted */
	FM_VEC(struct tblock) block; /* planned: by index, then switch, which is their order */
	uint64_t *due;		     /* [n_blocks] lanes of this step */
	/* sending */
	int phase;
	uint8_t step, last_step;
	bool has_drains, has_wholes;
	uint32_t cursor;	  /* in block: free ones before it are sent */
	FM_VEC(uint32_t) waiting; /* blocks with entries to be admitted */
	uint32_t scan;		  /* place in waiting */
	bool scanning, splitting, scan_hit;
	uint32_t n_in_flight, n_answers; /* since the last scan */
	/* walks */
	uint32_t epoch;
	uint32_t *seen; /* [n_switches] */
	fm_sw *stack;	/* [n_switches] */
	struct transition_counts counts;
};

static inline struct tblock *
block_at(const struct transition *t, fm_sw sw, uint32_t index)
{
	uint32_t at = t->at[(size_t)sw * t->n_blocks + index];

	return at == 0 ? NULL : &t->block.item[at - 1];
}

static inline bool
is_unknown_at(const struct transition *t, fm_sw sw, uint32_t index)
{
	const struct tblock *b = t->any_unknown ? block_at(t, sw, index) : NULL;

	return b != NULL && b->unknown;
}

static inline size_t
port_index(const struct transition *t, fm_sw sw, uint8_t port)
{
	return t->port_first[sw] + (size_t)port;
}

/* May a packet sent out here get lost, because the link is not active yet, or leads
 * to a switch that may be silent or gone? */
static inline bool
may_lose_at(const struct transition *t, fm_sw sw, uint8_t port)
{
	bool cold = t->any_cold && !t->warm;

	if ((!cold && !t->any_shaky) || port > t->fab->sw_n_ports[sw])
		return false;
	return (cold && fm_bit_test(t->cold, port_index(t, sw, port))) ||
	    (t->any_shaky && fm_bit_test(t->shaky, port_index(t, sw, port)));
}

static inline fm_sw
hop_by(const struct transition *t, fm_sw sw, uint8_t port, fm_end end)
{
	fm_sw to;

	if (port > t->fab->sw_n_ports[sw])
		return HOP_HOLE;
	to = t->next[port_index(t, sw, port)];
	if (to != FM_NONE)
		return to;
	return end != FM_NONE && t->fab->end_sw[end] == sw && t->fab->end_port[end] == port
	    ? HOP_HOME
	    : HOP_HOLE;
}

static inline fm_end
owner_of(const struct transition *t, uint32_t lid)
{
	return lid <= t->fab->max_lid ? t->fab->lid_end[lid] : FM_NONE;
}

/* Are entries of the LID written next hop first? */
static inline bool
is_next_hop_first(const struct transition *t, uint32_t lid)
{
	return (t->rule[lid] & TRANSITION_DRAIN_COLUMN) == TRANSITION_NEXT_HOP_FIRST;
}

/* The ports by which sw may send lid by now (transition.c): 1 or 2. */
unsigned transition_ports(const struct transition *t, fm_sw sw, uint32_t lid, uint8_t port[2]);
/* The port by which it will in the end. */
uint8_t transition_last_port(const struct transition *t, fm_sw sw, uint32_t lid);
void transition_set_due(struct transition *t);

/* May this entry be written now? */
bool transition_admits(struct transition *t, const struct tblock *b, uint32_t lane);

#endif
