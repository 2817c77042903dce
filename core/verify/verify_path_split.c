/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache line of a row of tables as sets: which of its 64 LIDs have which port, or SL.
 *
 * A switch sends the LIDs of a line by few ports.  So each value is taken in turn, and all 64
 * bytes are compared with it at once.
 */
#include <endian.h>
#include <string.h>

#include "core/verify/verify_path.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define SPLIT(equal_to) \
	uint32_t n = 0; \
\
	while (wanted != 0) { \
		uint8_t value = line[__builtin_ctzll(wanted)]; \
		uint64_t lids = equal_to(line, value) & wanted; \
\
		part[n++] = (struct path_part){ lids, value }; \
		wanted &= ~lids; \
	} \
	return n

/* Eight bytes at a time: bit i of the result, byte i is 0. */
static inline uint64_t
zero_bytes(uint64_t bytes)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7f;
	uint64_t high = ~(((bytes & low) + low) | bytes | low); /* 0x80 where a byte is 0 */

	return (high >> 7) * 0x0102040810204080 >> 56;
}

static inline uint64_t
equal_plain(const uint8_t *line, uint8_t value)
{
	uint64_t lids = 0;

	for (unsigned i = 0; i < LANES / 8; i++) {
		uint64_t bytes;

		memcpy(&bytes, line + i * sizeof(bytes), sizeof(bytes));
		lids |= zero_bytes(le64toh(bytes) ^ value * 0x0101010101010101u) << i * 8;
	}
	return lids;
}

static uint32_t
split_plain(const uint8_t *line, uint64_t wanted, struct path_part *part)
{
	SPLIT(equal_plain);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static inline uint64_t
equal_avx2(const uint8_t *line, uint8_t value)
{
	__m256i all = _mm256_set1_epi8((char)value), half[2];

	memcpy(half, line, sizeof(half));
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(half[0], all)) |
	    (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(half[1], all)) << 32;
}

__attribute__((target("avx2,bmi"))) static uint32_t
split_avx2(const uint8_t *line, uint64_t wanted, struct path_part *part)
{
	SPLIT(equal_avx2);
}
#endif

uint32_t
verify_path_split(const uint8_t *line, uint64_t wanted, struct path_part *part)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
		return split_avx2(line, wanted, part);
#endif
	return split_plain(line, wanted, part);
}
