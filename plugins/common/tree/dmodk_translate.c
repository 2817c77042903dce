/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From slot numbers to port numbers, byte by byte through a table: most of
 * what the engine writes passes here, so it must run at the speed of memory.
 *
 * With AVX2, 32 bytes at a time: a table of up to 250 entries is a sequence of
 * 16-byte pieces for pshufb.  Piece j answers where slot - 16 j is in 0..15:
 * adding 0x70 with saturation sets bit 7 of all other indices, for which
 * pshufb gives 0.  Pieces hold the complement of the ports, so that "no piece
 * answered" (slot 255) comes out as 255 after the final complement.
 */
#include "plugins/common/tree/dmodk_tree.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_AVX2_PATH 1
#endif

static size_t
translate_bytes(uint8_t *row, const uint8_t *slot, size_t from, size_t n, const uint8_t table[256],
    uint32_t n_slots, uint16_t *lost, size_t n_lost)
{
	for (size_t i = from; i < n; i++) {
		row[i] = table[slot[i]];
		if (lost != NULL && row[i] == FM_PORT_NONE && slot[i] < n_slots)
			lost[n_lost++] = (uint16_t)i;
	}
	return n_lost;
}

#ifdef HAVE_AVX2_PATH
__attribute__((target("avx2"))) static size_t
translate_avx2(uint8_t *row, const uint8_t *slot, size_t n, const uint8_t table[256],
    uint32_t n_slots, uint16_t *lost, size_t *done)
{
	unsigned n_pieces = (n_slots + 15) / 16;
	__m256i piece[16], ones = _mm256_set1_epi8(-1), far = _mm256_set1_epi8(0x70);
	size_t i, n_lost = 0;

	for (unsigned j = 0; j < n_pieces; j++)
		piece[j] = _mm256_xor_si256(ones,
		    _mm256_broadcastsi128_si256(
			_mm_loadu_si128((const __m128i *)(const void *)(table + 16 * j))));
	for (i = 0; i + 32 <= n; i += 32) {
		__m256i in = _mm256_loadu_si256((const __m256i *)(const void *)(slot + i));
		__m256i out = _mm256_setzero_si256();
		uint32_t holes;

		for (unsigned j = 0; j < n_pieces; j++) {
			__m256i at = _mm256_sub_epi8(in, _mm256_set1_epi8((char)(16 * j)));

			out = _mm256_or_si256(
			    out, _mm256_shuffle_epi8(piece[j], _mm256_adds_epu8(at, far)));
		}
		_mm256_storeu_si256((__m256i *)(void *)(row + i), _mm256_xor_si256(out, ones));
		if (lost == NULL)
			continue;
		holes = (uint32_t)_mm256_movemask_epi8(_mm256_andnot_si256(
		    _mm256_cmpeq_epi8(in, ones), _mm256_cmpeq_epi8(out, _mm256_setzero_si256())));
		for (; holes != 0; holes &= holes - 1)
			lost[n_lost++] = (uint16_t)(i + (unsigned)__builtin_ctz(holes));
	}
	*done = i;
	return n_lost;
}
#endif

size_t
ft_translate(uint8_t *row, const uint8_t *slot, size_t n, const uint8_t table[256],
    uint32_t n_slots, uint16_t *lost)
{
	size_t done = 0, n_lost = 0;

#ifdef HAVE_AVX2_PATH
	if (__builtin_cpu_supports("avx2"))
		n_lost = translate_avx2(row, slot, n, table, n_slots, lost, &done);
#endif
	return translate_bytes(row, slot, done, n, table, n_slots, lost, n_lost);
}
