/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/slots.h - from a TID to what it belongs to, without searching.
 *
 * The lower 32 bits of a TID are ours, the upper belong to the kernel.  Ours are a number in
 * cipher, so that who sees the TIDs of some requests does not know those of others:
 *
 *	 31 .. 29 | 28 ........ 14 | 13 ... 0
 *	   try    |   generation   |   slot
 *
 * The generation counts the uses of a slot.  Free slots stand in a queue, so
 * that one rests as long as possible before it is used again and an answer
 * that comes too late is known for what it is.  All O(1).
 *
 * The numbers come round after 2^29 requests.  The key is another before that, as soon as nothing
 * is outstanding; the answers to requests before are then taken for forged.
 */
#ifndef CORE_MAD_SLOTS_H
#define CORE_MAD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/speck32.h"

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
	uint32_t n_uses; /* under this key */
	uint64_t seed;
	struct fm_speck32 cipher;
};

enum slot_stray { STRAY_FORGED, STRAY_LATE, STRAY_DUPLICATE };

/* Room for n_min owners at least.  seed: as fm_speck32_init() takes it.  False when memory is out,
 * or the kernel has no random numbers. */
bool slots_init(struct slots *s, uint32_t n_min, uint64_t seed);
void slots_fini(struct slots *s);
/* A number for owner, with try 0; needs s->n_free > 0. */
uint32_t slots_take(struct slots *s, void *owner);
void slots_release(struct slots *s, uint32_t number, bool answered);
/* A number, with its try, to a TID and back. */
uint32_t slots_tid(const struct slots *s, uint32_t number);
uint32_t slots_number(const struct slots *s, uint64_t tid);
/* Whose number it is, of whatever try, or NULL. */
void *slots_owner(const struct slots *s, uint32_t number);
/* What a number without an owner must be. */
enum slot_stray slots_stray(const struct slots *s, uint32_t number);

#endif
