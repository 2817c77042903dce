/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/speck32.h - a keyed permutation of 32 bits: who knows some of its values does not know the
 * next one.
 *
 * It is the block cipher SPECK32 of Beaulieu et al., The SIMON and SPECK Families of Lightweight
 * Block Ciphers (2013), with a round key of its own for each of the 22 rounds in place of those
 * that SPECK derives from 64 bits: a key of 352 bits.  20 to 30 ns each way.
 */
#ifndef FM_LIB_SPECK32_H
#define FM_LIB_SPECK32_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>

#include "lib/rng.h"

#define FM_SPECK32_ROUNDS 22

struct fm_speck32 {
	uint16_t key[FM_SPECK32_ROUNDS];
};

/* seed 0: a key that nobody knows, by getrandom(2), which waits till the kernel has one; false when
 * it refuses.  Else the key is a function of the seed, for tests. */
static inline bool
fm_speck32_init(struct fm_speck32 *c, uint64_t seed)
{
	struct fm_rng rng;
	ssize_t n;

	if (seed == 0) {
		do
			n = getrandom(c->key, sizeof(c->key), 0);
		while (n < 0 && errno == EINTR);
		return n == (ssize_t)sizeof(c->key);
	}
	fm_rng_seed(&rng, seed);
	for (int i = 0; i < FM_SPECK32_ROUNDS; i++)
		c->key[i] = (uint16_t)fm_rng_next(&rng);
	return true;
}

static inline uint16_t
fm_speck32_turn(uint16_t x, unsigned left)
{
	return (uint16_t)(x << left | x >> (16 - left));
}

static inline uint32_t
fm_speck32_encrypt(const struct fm_speck32 *c, uint32_t plain)
{
	uint16_t x = (uint16_t)(plain >> 16), y = (uint16_t)plain;

	for (int i = 0; i < FM_SPECK32_ROUNDS; i++) {
		x = (uint16_t)((uint16_t)(fm_speck32_turn(x, 9) + y) ^ c->key[i]);
		y = fm_speck32_turn(y, 2) ^ x;
	}
	return (uint32_t)x << 16 | y;
}

static inline uint32_t
fm_speck32_decrypt(const struct fm_speck32 *c, uint32_t secret)
{
	uint16_t x = (uint16_t)(secret >> 16), y = (uint16_t)secret;

	for (int i = FM_SPECK32_ROUNDS; i-- > 0;) {
		y = fm_speck32_turn(x ^ y, 14);
		x = fm_speck32_turn((uint16_t)((x ^ c->key[i]) - y), 7);
	}
	return (uint32_t)x << 16 | y;
}

#endif
