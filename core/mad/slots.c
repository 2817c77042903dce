/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/slots.c - TIDs.  See slots.h.
 */
#include "core/mad/slots.h"

#include <stdlib.h>

#include "lib/hash.h"

#define GENERATION_MASK ((1u << GENERATION_BITS) - 1)

bool
slots_init(struct slots *s, uint32_t n_min, uint64_t seed)
{
	uint32_t first = (uint32_t)fm_mix64(seed) & GENERATION_MASK;

	*s = (struct slots){ .n = 64 };
	while (s->n < n_min && s->n < MAX_SLOTS)
		s->n *= 2;
	s->slot = calloc(s->n, sizeof(*s->slot));
	s->free = calloc(s->n, sizeof(*s->free));
	if (s->slot == NULL || s->free == NULL)
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		s->slot[i].generation = first;
		s->free[i] = i;
	}
	s->n_free = s->n;
	return true;
}

void
slots_fini(struct slots *s)
{
	free(s->slot);
	free(s->free);
}

uint32_t
slots_take(struct slots *s, void *owner)
{
	uint32_t i = s->free[s->free_head];
	struct slot *slot = &s->slot[i];

	s->free_head = (s->free_head + 1) & (s->n - 1);
	s->n_free--;
	slot->owner = owner;
	slot->generation = (slot->generation + 1) & GENERATION_MASK;
	return slot->generation << SLOT_BITS | i;
}

void
slots_release(struct slots *s, uint32_t tid, bool answered)
{
	uint32_t i = tid & (MAX_SLOTS - 1);

	s->slot[i].owner = NULL;
	s->slot[i].answered = answered;
	s->free[(s->free_head + s->n_free) & (s->n - 1)] = i;
	s->n_free++;
}

static const struct slot *
slot_of(const struct slots *s, uint32_t tid)
{
	uint32_t i = tid & (MAX_SLOTS - 1);

	return i < s->n ? &s->slot[i] : NULL;
}

static uint32_t
generation_of(uint32_t tid)
{
	return tid >> SLOT_BITS & GENERATION_MASK;
}

void *
slots_owner(const struct slots *s, uint32_t tid)
{
	const struct slot *slot = slot_of(s, tid);

	return slot != NULL && slot->generation == generation_of(tid) ? slot->owner : NULL;
}

/* The use before the present one is remembered as well, older ones are not. */
enum slot_stray
slots_stray(const struct slots *s, uint32_t tid)
{
	const struct slot *slot = slot_of(s, tid);
	uint32_t age;

	if (slot == NULL)
		return STRAY_FOREIGN;
	age = (slot->generation - generation_of(tid)) & GENERATION_MASK;
	if (age > 1 || (age == 0 && slot->owner != NULL))
		return STRAY_FOREIGN;
	return age == 0 && slot->answered ? STRAY_DUPLICATE : STRAY_LATE;
}
