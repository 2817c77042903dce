/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which egress ports a switch uses for a class: one pass over the tables, the
 * OR of 1 << (port - 1) over the LIDs of the class.  Nearly all the time of
 * verifying goes into this, so AVX2 does it four LIDs at a time where it is
 * there: its variable shift makes 0 of every count above 63, and the OR of
 * the counts tells afterwards whether there was one.
 */
#include <string.h>

#include "core/verify/verify_class.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* What is known of the LIDs seen: the ports, and the OR of port - 1. */
struct seen {
	uint64_t ports, counts;
};

static inline void
see(struct seen *s, uint8_t port)
{
	uint64_t count = (uint64_t)port - 1;

	s->ports |= count < MASK_PORTS ? (uint64_t)1 << (count & 63) : 0;
	s->counts |= count;
}

static inline struct seen
see_run(const uint8_t *row, uint32_t n)
{
	struct seen s = { 0 };

	for (uint32_t i = 0; i < n; i++)
		see(&s, row[i]);
	return s;
}

#define CLASS_MASKS(see_run) \
	uint64_t odd = 0; \
\
	for (uint32_t c = 0; c < n; c++) { \
		uint32_t r = class[c].first_run, end = class[c + 1].first_run; \
		struct seen s = see_run(row + run[r].first, run[r].n); \
\
		while (++r < end) { \
			struct seen more = see_run(row + run[r].first, run[r].n); \
\
			s.ports |= more.ports; \
			s.counts |= more.counts; \
		} \
		masks[c * stride] = s.ports; \
		odd |= (uint64_t)(s.counts >= MASK_PORTS) << c; \
	} \
	return odd

static uint64_t
masks_plain(const uint8_t *row, const struct lid_class *class, const struct lid_run *run,
    uint32_t n, uint64_t *masks, size_t stride)
{
	CLASS_MASKS(see_run);
}

#if defined(__x86_64__)
#define FOUR_LIDS 4u

__attribute__((target("avx2,bmi2"))) static inline void
see_four(const uint8_t *at, __m256i *ports, __m256i *counts)
{
	int32_t four;
	__m256i count;

	memcpy(&four, at, sizeof(four));
	count =
	    _mm256_add_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four)), _mm256_set1_epi64x(-1));
	*ports = _mm256_or_si256(*ports, _mm256_sllv_epi64(_mm256_set1_epi64x(1), count));
	*counts = _mm256_or_si256(*counts, count);
}

__attribute__((target("avx2,bmi2"))) static inline struct seen
see_run_avx2(const uint8_t *row, uint32_t n)
{
	__m256i ports = _mm256_setzero_si256(), counts = ports, low, high;
	__m128i both;

	if (n == 1) {
		struct seen s = { 0 };

		see(&s, row[0]);
		return s;
	}
	if (n < FOUR_LIDS)
		return see_run(row, n);
	for (uint32_t i = 0; i + FOUR_LIDS < n; i += FOUR_LIDS)
		see_four(row + i, &ports, &counts);
	see_four(row + n - FOUR_LIDS, &ports, &counts);
	/* lanes 0 and 2 of both become the sums of the ports, 1 and 3 of the counts */
	low = _mm256_unpacklo_epi64(ports, counts);
	high = _mm256_unpackhi_epi64(ports, counts);
	low = _mm256_or_si256(low, high);
	both = _mm_or_si128(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
	return (
	    struct seen){ (uint64_t)_mm_cvtsi128_si64(both), (uint64_t)_mm_extract_epi64(both, 1) };
}

__attribute__((target("avx2,bmi2"))) static uint64_t
masks_avx2(const uint8_t *row, const struct lid_class *class, const struct lid_run *run, uint32_t n,
    uint64_t *masks, size_t stride)
{
	CLASS_MASKS(see_run_avx2);
}
#endif

uint64_t
verify_class_masks(const uint8_t *row, const struct lid_class *class, const struct lid_run *run,
    uint32_t n, uint64_t *masks, size_t stride)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		return masks_avx2(row, class, run, n, masks, stride);
#endif
	return masks_plain(row, class, run, n, masks, stride);
}

/* ------------------------------------------------- several next hops */

/*
 * With adaptive routing: the OR of the groups' sets over the LIDs, and of the ports of those
 * without a group.  Mostly all LIDs of a run have one group: two runs of memory compared, and
 * one set.  A switch is mixed where they differ; the groups' numbers are compared, not the
 * sets.  Time: three bytes read per (switch, LID).
 */
struct seen_sets {
	uint64_t ports;
	bool odd, mixed;
};

static void
see_set(struct seen_sets *s, uint64_t ports)
{
	s->odd |= ports == 0;
	s->mixed |= s->ports != 0 && s->ports != ports;
	s->ports |= ports;
}

static void
see_run_sets(const struct judge *j, fm_sw u, struct lid_run run, struct seen_sets *s)
{
	const uint16_t *group = j->t->ar_group[u] + run.first;
	const uint8_t *lft = j->t->lft[u] + run.first;
	bool one_group = memcmp(group, group + 1, (run.n - 1u) * sizeof(*group)) == 0;

	if (one_group &&
	    ((group[0] != 0 && group[0] <= j->t->ar_n_groups[u]) ||
		memcmp(lft, lft + 1, run.n - 1u) == 0)) {
		see_set(s, verify_class_ports(j, u, run.first));
		return;
	}
	for (uint32_t i = 0; i < run.n; i++)
		if (i == 0 || group[i] != group[i - 1] || lft[i] != lft[i - 1])
			see_set(s, verify_class_ports(j, u, (uint16_t)(run.first + i)));
}

uint64_t
verify_class_choices(
    const struct classes *k, struct class_walker *w, uint32_t first, uint32_t n, fm_sw u)
{
	uint64_t odd = 0;

	w->mixed[u] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct lid_class *c = &k->class[first + i];
		struct seen_sets s = { 0 };

		for (uint32_t r = c->first_run; r < c[1].first_run; r++)
			see_run_sets(k->j, u, k->run[r], &s);
		w->mask[i * k->mask_stride + u] = s.ports;
		w->mixed[u] |= (uint16_t)(s.mixed << i);
		odd |= (uint64_t)s.odd << i;
	}
	return odd;
}
