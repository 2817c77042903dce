/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/algo/ufind.h - disjoint sets: parent[x] of x, itself at a root.
 *
 * The lesser of two roots stays root, so that the result does not depend on
 * the order of the unions.  Path halving: O(log n) amortised.
 */
#ifndef FM_LIB_ALGO_UFIND_H
#define FM_LIB_ALGO_UFIND_H

#include <stdint.h>

static inline void
fm_ufind_init(uint32_t *parent, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		parent[i] = i;
}

static inline uint32_t
fm_ufind(uint32_t *parent, uint32_t x)
{
	while (parent[x] != x) {
		parent[x] = parent[parent[x]];
		x = parent[x];
	}
	return x;
}

/* The root of both from now on. */
static inline uint32_t
fm_ufind_join(uint32_t *parent, uint32_t x, uint32_t y)
{
	x = fm_ufind(parent, x);
	y = fm_ufind(parent, y);
	if (x > y) {
		uint32_t t = x;

		x = y;
		y = t;
	}
	parent[y] = x;
	return x;
}

#endif
