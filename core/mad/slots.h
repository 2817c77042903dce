/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/slots.h - from a TID to what it belongs to, without searching.
 *
 * The lower 32 bits of a TID name a slot, the upper belong to the kernel:
 *
 *	 31 .. 29 | 28 ........ 14 | 13 ... 0
 *	   try    |   generation   |   slot
 *
 * The generation counts the uses of a slot.  Free slots stand in a queue, so
 * that one rests as long as possible before it is used again and an answer
 * that comes too late is known for what it is.  All O(1).
 */
#ifndef CORE_MAD_SLOTS_H
#define CORE_MAD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define SLOT_BITS 14
#define GENERATION_BITS 15
#define MAX_SLOTS (1u << SLOT_BITS)
#define TID_TRY_SHIFT (SLOT_BITS + GENERATION_BITS)
#define TID_MAX_TRIES 8

struct slot {
	void *owner; /* NULL: free */
	uint32_t generation;
	bool answered; /* the last owner got an answer */
};

struct slots {
	struct slot *slot; /* [n] */
	uint32_t *free;	   /* [n] a ring: n_free from free_head */
	uint32_t n, n_free, free_head;
};

enum slot_stray { STRAY_FOREIGN, STRAY_LATE, STRAY_DUPLICATE };

/* Room for n_min owners at least; seed makes the first generations those of
 * this run.  False when memory is out. */
bool slots_init(struct slots *s, uint32_t n_min, uint64_t seed);
void slots_fini(struct slots *s);
/* A TID for owner, with try 0; needs s->n_free > 0. */
uint32_t slots_take(struct slots *s, void *owner);
void slots_release(struct slots *s, uint32_t tid, bool answered);
/* Whose TID it is, or NULL. */
void *slots_owner(const struct slots *s, uint32_t tid);
/* What a TID without an owner must be. */
enum slot_stray slots_stray(const struct slots *s, uint32_t tid);

#endif
