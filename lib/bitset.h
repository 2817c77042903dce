/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/bitset.h - sets of small integers as words of 64 bits.
 * Memory belongs to the caller: FM_BITSET_WORDS(n) words.
 */
#ifndef FM_LIB_BITSET_H
#define FM_LIB_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_BITSET_WORDS(n) (((size_t)(n) + 63) / 64)

static inline bool
fm_bit_test(const uint64_t *set, size_t i)
{
	return (set[i / 64] >> (i % 64)) & 1;
}

static inline void
fm_bit_set(uint64_t *set, size_t i)
{
	set[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void
fm_bit_clear(uint64_t *set, size_t i)
{
	set[i / 64] &= ~((uint64_t)1 << (i % 64));
}

/* The least member >= i, or n when there is none.  O(words). */
static inline size_t
fm_bit_next(const uint64_t *set, size_t n, size_t i)
{
	size_t w = i / 64;
	uint64_t word;

	if (i >= n)
		return n;
	word = set[w] & (~(uint64_t)0 << (i % 64));
	while (word == 0) {
		if (++w >= FM_BITSET_WORDS(n))
			return n;
		word = set[w];
	}
	i = w * 64 + (size_t)__builtin_ctzll(word);
	return i < n ? i : n;
}

/* for each member i of set[0..n-1], ascending */
#define FM_EACH_BIT(i, set, n) \
	for (size_t i = fm_bit_next((set), (n), 0); i < (size_t)(n); \
	     i = fm_bit_next((set), (n), i + 1))

static inline size_t
fm_bit_count(const uint64_t *set, size_t n)
{
	size_t sum = 0;

	for (size_t w = 0; w < FM_BITSET_WORDS(n); w++)
		sum += (size_t)__builtin_popcountll(set[w]);
	return sum;
}

#endif
