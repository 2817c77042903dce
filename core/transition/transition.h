/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/transition/transition.h - a consistent update: from old tables to new ones, block by block,
 * with no moment in between at which a packet goes round in a loop or is lost.
 *
 * A block is 64 entries of one switch, written by one SMP at some moment between sending and
 * acknowledgement; meanwhile either content is possible:
 *
 *	OLD --send--> FLIGHT --acknowledged--> NEW	unanswered: FLIGHT for ever
 *
 * Loops.  Every loop of any mixture lies in one strongly connected component of the
 * destination's union of old and new next hops; almost all entries lie in none and may be written
 * at any time.  The others are *admitted*: an entry is written when no path leads from its new next
 * hop back to the switch over what switches may hold by now.  So the graph of all possible next
 * hops never gets a loop.
 *
 * Losses.  An entry does not point to a switch from which, by what switches may hold by now, a
 * packet can be lost; and a switch from which the destination will not be reached any more is
 * written after those that still send through it.
 *
 * Waiting ends: of the entries that wait for one another, the one with everything below it on its
 * new path written is admitted.  Where the entries of two blocks wait for one another crosswise a
 * block is *split*: it is sent with the admitted entries new and the others old, which is one more
 * SMP.
 *
 * Freedom from deadlock (reconfig.h) may ask for more: the entries of a destination are written
 * next hop first; or a packet's life time later than those of others (steps); or they are drained,
 * that is, emptied, and filled a life time after the last step.
 *
 * Pure: no clock, no transport.  Cost: the changed entries and what is below them; whole tables:
 * O(switches x LIDs).  Why this suffices: doc/design.md.  The order of a loop-free update of one
 * destination is that of Francois and Bonaventure, "Avoiding transient loops during the convergence
 * of link-state routing protocols", IEEE/ACM Trans. Networking 15, 2007; here blocks of 64
 * destinations are written at a time, so entries are admitted by what is acknowledged.
 */
#ifndef CORE_TRANSITION_TRANSITION_H
#define CORE_TRANSITION_TRANSITION_H

#include <fmd/engine.h>

#define TRANSITION_BLOCK_LIDS 64u

/* What is asked of the entries of a LID beside neither loop nor loss. */
#define TRANSITION_STEP 0x3f	       /* bits: they are written in this step, 0 first */
#define TRANSITION_NEXT_HOP_FIRST 0x40 /* each after the next changed one on its new path */
#define TRANSITION_DRAIN 0x80	       /* emptied first, filled after all steps */
/* drained, and so are entries that do not change but lead to another switch */
#define TRANSITION_DRAIN_COLUMN 0xc0

struct transition_counts {
	uint32_t blocks;       /* that differ and can be written */
	uint32_t risky;	       /* of them, with entries in an order */
	uint32_t destinations; /* LIDs with such entries */
	uint32_t writes;       /* Sets handed out */
	uint32_t splits;       /* of them, for blocks that were not admitted whole */
	uint32_t rounds;       /* times that waiting blocks were admitted, and 1 for the free */
	uint32_t held;	       /* blocks that were never admitted whole */
	uint32_t drained;      /* LIDs */
	uint32_t waits;	       /* for a packet's life time */
};

enum transition_action {
	TRANSITION_SEND, /* here is a block */
	TRANSITION_BUSY, /* answers have to come first */
	TRANSITION_COLD, /* links have to become active first: transition_warm() */
	TRANSITION_WAIT, /* a packet's life time has to pass: transition_waited() */
	TRANSITION_DONE	 /* nothing is in flight, nothing can be sent */
};

struct transition_block {
	fm_sw sw;
	uint32_t block;
	uint8_t bytes[TRANSITION_BLOCK_LIDS];
};

struct transition;

/* From no known tables to those of `want`, which, with fab, must outlive it.  rules:
 * [top_lid + 1] as above, copied; NULL = 0 for all.  NULL: out of memory. */
struct transition *transition_new(const struct fm_fabric *fab, const struct fm_tables *want,
    uint16_t top_lid, const uint8_t *rules);
void transition_free(struct transition *t); /* NULL is fine */

/* Before transition_plan().  All false: out of memory. */

/* Memory for a block's content that lives as long as t; NULL: out of memory. */
uint8_t *transition_copy(struct transition *t, const uint8_t *bytes);
/* A block to be written.  was: what it holds, must outlive t; NULL = empty, as after reset.
 * Nothing is done where it holds what it should, unless that is to be emptied. */
bool transition_add(struct transition *t, fm_sw sw, uint32_t block, const uint8_t *was);
/* A block that cannot be written: it holds was or, if given, perhaps maybe; both
 * must outlive t.  was NULL: no memory, false. */
bool transition_fix(
    struct transition *t, fm_sw sw, uint32_t block, const uint8_t *was, const uint8_t *maybe);
/* A block of which nothing is known and that cannot be written: no path is led there, as packets
 * may be lost and may go round. */
bool transition_unknown(struct transition *t, fm_sw sw, uint32_t block);
/* A link that may carry packets though fab does not have it, to a switch that does not
 * answer: they may go round by it, and they may be lost there. */
void transition_link(struct transition *t, fm_sw sw, uint8_t port, fm_sw to);
/* A link of fab that carries no packets yet. */
void transition_cold(struct transition *t, fm_sw sw, uint8_t port);
/* Find the entries in need of an order. */
bool transition_plan(struct transition *t);

enum transition_action transition_next(struct transition *t, struct transition_block *out);
/* The answer to a block handed out. */
void transition_done(struct transition *t, fm_sw sw, uint32_t block);
/* The block was not answered, or refused: nobody knows what the switch holds of it. */
void transition_lost(struct transition *t, fm_sw sw, uint32_t block);
/* Nothing more can be written to this switch. */
void transition_quarantine(struct transition *t, fm_sw sw);
/* All links of fab are active now. */
void transition_warm(struct transition *t);
void transition_waited(struct transition *t);
/* After TRANSITION_WAIT: is all written but what is drained? */
bool transition_is_to_fill(const struct transition *t);

/* Was the writing partial: is there a switch that did not take what it was to hold, or cannot be
 * asked to, so that entries of drained destinations may not be empty, and others not new? */
bool transition_is_partial(const struct transition *t);

/* Has the block been written whole, or been right from the start? */
bool transition_is_new(const struct transition *t, fm_sw sw, uint32_t block);
/* What a block that was added or fixed and is not new may hold: 1 or 2 contents. */
unsigned transition_may_hold(
    const struct transition *t, fm_sw sw, uint32_t block, uint8_t bytes[2][TRANSITION_BLOCK_LIDS]);
bool transition_is_unknown(const struct transition *t, fm_sw sw, uint32_t block);
/* Has the block been added or fixed? */
bool transition_has(const struct transition *t, fm_sw sw, uint32_t block);
/* Does the entry of a LID, in such a block, lead for sure as it will in the end? */
bool transition_settled(const struct transition *t, fm_sw sw, uint16_t lid);
/* Is it known for sure what it holds, and that it is still to be written? */
bool transition_is_pending(const struct transition *t, fm_sw sw, uint32_t block);
/* Blocks added and fixed, 0..n-1, once planned. */
uint32_t transition_n_blocks(const struct transition *t);
void transition_name(const struct transition *t, uint32_t i, fm_sw *sw, uint32_t *block);
const struct transition_counts *transition_counts(const struct transition *t);

/* For tests that have to see what comes of it: hand blocks out in any order. */
void transition_unordered(struct transition *t);

#endif
