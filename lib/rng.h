/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/rng.h - a seeded generator (xoshiro256**), the same numbers on every
 * machine.  Not for secrets.
 */
#ifndef FM_LIB_RNG_H
#define FM_LIB_RNG_H

#include <stdint.h>

#include "lib/hash.h"

struct fm_rng {
	uint64_t s[4];
};

static inline void
fm_rng_seed(struct fm_rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = fm_mix64(seed += UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t
fm_rng_next(struct fm_rng *r)
{
	uint64_t *s = r->s, x = s[1] * 5, t = s[1] << 17;

	x = ((x << 7) | (x >> 57)) * 9;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return x;
}

/* Uniform in 0..n-1 (bias below n/2^32); n > 0. */
static inline uint32_t
fm_rng_below(struct fm_rng *r, uint32_t n)
{
	return (uint32_t)(((fm_rng_next(r) >> 32) * n) >> 32);
}

/* Uniform in [0, 1). */
static inline double
fm_rng_unit(struct fm_rng *r)
{
	return (double)(fm_rng_next(r) >> 11) * 0x1.0p-53;
}

#endif
