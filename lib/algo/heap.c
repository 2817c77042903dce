/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/algo/heap.h"

#include <string.h>

#define ARITY 4

void
fm_heap_init(struct fm_heap *h, uint32_t *items, uint32_t *at, uint64_t *key, uint32_t capacity)
{
	h->items = items;
	h->at = at;
	h->key = key;
	h->n = 0;
	memset(at, 0xff, capacity * sizeof(*at));
}

static bool
before(const struct fm_heap *h, uint32_t a, uint32_t b)
{
	return h->key[a] != h->key[b] ? h->key[a] < h->key[b] : a < b;
}

static void
place_item(struct fm_heap *h, uint32_t pos, uint32_t item)
{
	h->items[pos] = item;
	h->at[item] = pos;
}

static void
sift_up(struct fm_heap *h, uint32_t pos)
{
	uint32_t item = h->items[pos], parent;

	while (pos > 0) {
		parent = (pos - 1) / ARITY;
		if (!before(h, item, h->items[parent]))
			break;
		place_item(h, pos, h->items[parent]);
		pos = parent;
	}
	place_item(h, pos, item);
}

static void
sift_down(struct fm_heap *h, uint32_t pos)
{
	uint32_t item = h->items[pos];

	for (;;) {
		uint32_t first = pos * ARITY + 1, least = first;

		if (first >= h->n)
			break;
		for (uint32_t c = first + 1; c < first + ARITY && c < h->n; c++)
			if (before(h, h->items[c], h->items[least]))
				least = c;
		if (!before(h, h->items[least], item))
			break;
		place_item(h, pos, h->items[least]);
		pos = least;
	}
	place_item(h, pos, item);
}

void
fm_heap_push(struct fm_heap *h, uint32_t item, uint64_t key)
{
	if (h->at[item] == FM_HEAP_NONE) {
		h->key[item] = key;
		place_item(h, h->n++, item);
	} else if (key < h->key[item]) {
		h->key[item] = key;
	} else {
		return;
	}
	sift_up(h, h->at[item]);
}

uint32_t
fm_heap_pop(struct fm_heap *h)
{
	uint32_t least, last;

	if (h->n == 0)
		return FM_HEAP_NONE;
	least = h->items[0];
	last = h->items[--h->n];
	h->at[least] = FM_HEAP_NONE;
	if (h->n > 0) {
		place_item(h, 0, last);
		sift_down(h, 0);
	}
	return least;
}
