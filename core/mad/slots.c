/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/slots.c - TIDs.  See slots.h.
 */
#include "core/mad/slots.h"

#include <stdlib.h>

#define GENERATION_MASK ((1u << GENERATION_BITS) - 1)
#define USES_OF_A_KEY (1u << (SLOT_BITS + GENERATION_BITS - 1))
#define LATE_GENERATIONS 16 /* a random number is as young in one case of 2,048 */

bool
slots_init(struct slots *s, uint32_t n_min, uint64_t seed)
{
	*s = (struct slots){ .n = 64, .seed = seed };
	while (s->n < n_min && s->n < MAX_SLOTS)
		s->n *= 2;
	s->slot = calloc(s->n, sizeof(*s->slot));
	s->free = calloc(s->n, sizeof(*s->free));
	if (s->slot == NULL || s->free == NULL)
		return false;
	for (uint32_t i = 0; i < s->n; i++)
		s->free[i] = i;
	s->n_free = s->n;
	return fm_speck32_init(&s->cipher, seed);
}

void
slots_fini(struct slots *s)
{
	free(s->slot);
	free(s->free);
}

/* Without another the old key goes on, for whose numbers there is still as much room again. */
static void
change_key(struct slots *s)
{
	struct fm_speck32 next;

	s->n_uses = 0;
	if (s->seed != 0)
		s->seed++;
	if (fm_speck32_init(&next, s->seed))
		s->cipher = next;
}

uint32_t
slots_take(struct slots *s, void *owner)
{
	uint32_t i = s->free[s->free_head];
	struct slot *slot = &s->slot[i];

	if (s->n_uses++ >= USES_OF_A_KEY && s->n_free == s->n)
		change_key(s);
	s->free_head = (s->free_head + 1) & (s->n - 1);
	s->n_free--;
	slot->owner = owner;
	slot->generation = (slot->generation + 1) & GENERATION_MASK;
	return slot->generation << SLOT_BITS | i;
}

uint32_t
slots_tid(const struct slots *s, uint32_t number)
{
	return fm_speck32_encrypt(&s->cipher, number);
}

uint32_t
slots_number(const struct slots *s, uint64_t tid)
{
	return fm_speck32_decrypt(&s->cipher, (uint32_t)tid);
}

void
slots_release(struct slots *s, uint32_t number, bool answered)
{
	uint32_t i = number & (MAX_SLOTS - 1);

	s->slot[i].owner = NULL;
	s->slot[i].answered = answered;
	s->free[(s->free_head + s->n_free) & (s->n - 1)] = i;
	s->n_free++;
}

static const struct slot *
slot_of(const struct slots *s, uint32_t number)
{
	uint32_t i = number & (MAX_SLOTS - 1);

	return i < s->n ? &s->slot[i] : NULL;
}

static uint32_t
generation_of(uint32_t number)
{
	return number >> SLOT_BITS & GENERATION_MASK;
}

void *
slots_owner(const struct slots *s, uint32_t number)
{
	const struct slot *slot = slot_of(s, number);

	return slot != NULL && slot->generation == generation_of(number) ? slot->owner : NULL;
}

/* How the last use of a slot ended is remembered, of older ones only that they have been. */
enum slot_stray
slots_stray(const struct slots *s, uint32_t number)
{
	const struct slot *slot = slot_of(s, number);
	uint32_t age;

	if (slot == NULL)
		return STRAY_FORGED;
	age = (slot->generation - generation_of(number)) & GENERATION_MASK;
	if (age > LATE_GENERATIONS || (age == 0 && slot->owner != NULL))
		return STRAY_FORGED;
	return age == 0 && slot->answered ? STRAY_DUPLICATE : STRAY_LATE;
}
