/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/algo/heap.h - a 4-ary min-heap of item numbers by key, with decrease.
 *
 *	items[]: heap order        at[item]: position in items[], or NONE
 *
 * Ties are broken by the smaller item, so that the order of pops depends on
 * the contents alone.  Memory belongs to the caller.  push, decrease and pop
 * O(log n).
 */
#ifndef FM_LIB_ALGO_HEAP_H
#define FM_LIB_ALGO_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define FM_HEAP_NONE UINT32_MAX

struct fm_heap {
	uint32_t *items; /* [capacity] */
	uint32_t *at;	 /* [capacity] position of each item, FM_HEAP_NONE = not in the heap */
	uint64_t *key;	 /* [capacity] key of each item */
	uint32_t n;
};

/* Arrays of `capacity` elements each; at[] is initialised here. */
void fm_heap_init(
    struct fm_heap *h, uint32_t *items, uint32_t *at, uint64_t *key, uint32_t capacity);
/* Add an item, or lower its key; a higher key than the present one is ignored. */
void fm_heap_push(struct fm_heap *h, uint32_t item, uint64_t key);
/* Remove and return the least item, FM_HEAP_NONE when empty. */
uint32_t fm_heap_pop(struct fm_heap *h);

#endif
