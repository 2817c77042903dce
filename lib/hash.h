/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/hash.h - a map from uint64_t (GUIDs, packed keys) to uint32_t (indices).
 *
 * Open addressing, linear probing, power-of-two size, at most half full;
 * removal shifts back, so there are no tombstones.  All operations O(1)
 * expected.  Iteration order is unspecified: never let it reach a result.
 */
#ifndef FM_LIB_HASH_H
#define FM_LIB_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FM_HASH_NONE UINT32_MAX

struct fm_hash {
	struct fm_hash_slot *slots; /* [mask + 1] */
	size_t mask;
	size_t n;
};

struct fm_hash_slot {
	uint64_t key;
	uint32_t value;
	bool used;
};

/* A zeroed struct is an empty map. */
void fm_hash_fini(struct fm_hash *h);
/* Room for n keys without growing again; false when memory is out. */
bool fm_hash_reserve(struct fm_hash *h, size_t n);
/* The value of key, or FM_HASH_NONE. */
uint32_t fm_hash_find(const struct fm_hash *h, uint64_t key);
/* Insert or replace; false when memory is out. */
bool fm_hash_put(struct fm_hash *h, uint64_t key, uint32_t value);
/* Remove; false when it was not there. */
bool fm_hash_remove(struct fm_hash *h, uint64_t key);

/* A good mix of 64 bits (the finaliser of splitmix64). */
static inline uint64_t
fm_mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Many bytes to 64 bits, going on from a seed; not for enemies. */
static inline uint64_t
fm_hash_bytes(uint64_t seed, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	uint64_t h = fm_mix64(seed ^ n), word;

	for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	word = 0;
	if (n > 0) /* there may be no bytes at all */
		memcpy(&word, at, n);
	return fm_mix64(h ^ word);
}

#endif
