/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/hash.h"

#include <stdlib.h>
#include <string.h>

void
fm_hash_fini(struct fm_hash *h)
{
	free(h->slots);
	memset(h, 0, sizeof(*h));
}

/* The slot that holds key, or the free slot where it would go. */
static size_t
slot_of(const struct fm_hash *h, uint64_t key)
{
	size_t i = fm_mix64(key) & h->mask;

	while (h->slots[i].used && h->slots[i].key != key)
		i = (i + 1) & h->mask;
	return i;
}

static bool
resize(struct fm_hash *h, size_t n_slots)
{
	struct fm_hash old = *h;
	struct fm_hash_slot *slots = calloc(n_slots, sizeof(*slots));

	if (slots == NULL)
		return false;
	h->slots = slots;
	h->mask = n_slots - 1;
	for (size_t i = 0; old.slots != NULL && i <= old.mask; i++)
		if (old.slots[i].used)
			h->slots[slot_of(h, old.slots[i].key)] = old.slots[i];
	free(old.slots);
	return true;
}

bool
fm_hash_reserve(struct fm_hash *h, size_t n)
{
	size_t n_slots = h->slots != NULL ? h->mask + 1 : 16;

	while (n_slots < 2 * n)
		n_slots *= 2;
	if (h->slots != NULL && n_slots == h->mask + 1)
		return true;
	return resize(h, n_slots);
}

uint32_t
fm_hash_find(const struct fm_hash *h, uint64_t key)
{
	size_t i;

	if (h->slots == NULL)
		return FM_HASH_NONE;
	i = slot_of(h, key);
	return h->slots[i].used ? h->slots[i].value : FM_HASH_NONE;
}

bool
fm_hash_put(struct fm_hash *h, uint64_t key, uint32_t value)
{
	size_t i;

	if (!fm_hash_reserve(h, h->n + 1))
		return false;
	i = slot_of(h, key);
	h->n += !h->slots[i].used;
	h->slots[i] = (struct fm_hash_slot){ .key = key, .value = value, .used = true };
	return true;
}

bool
fm_hash_remove(struct fm_hash *h, uint64_t key)
{
	size_t hole, i, home;

	if (h->slots == NULL)
		return false;
	hole = slot_of(h, key);
	if (!h->slots[hole].used)
		return false;
	/* Pull every later member of the run that may live in the hole into it. */
	for (i = (hole + 1) & h->mask; h->slots[i].used; i = (i + 1) & h->mask) {
		home = fm_mix64(h->slots[i].key) & h->mask;
		if (((i - home) & h->mask) >= ((i - hole) & h->mask)) {
			h->slots[hole] = h->slots[i];
			hole = i;
		}
	}
	h->slots[hole].used = false;
	h->n--;
	return true;
}
