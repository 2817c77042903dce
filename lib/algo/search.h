/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/algo/search.h - where in a sorted array something is, or would be.
 *
 *	size_t at;
 *	fm_lower_bound(at, v.n, i, v.item[i].key < key);
 *
 * sets at to the first i in 0..n-1 of which the condition is false, n when it is
 * true of all.  It must be true of a head of the array and false behind it; it
 * is asked O(log n) times.
 */
#ifndef FM_LIB_ALGO_SEARCH_H
#define FM_LIB_ALGO_SEARCH_H

#include <stddef.h>

#define fm_lower_bound(at, n, i, is_before) \
	do { \
		size_t fm_low_ = 0, fm_high_ = (n); \
\
		while (fm_low_ < fm_high_) { \
			size_t i = fm_low_ + (fm_high_ - fm_low_) / 2; \
\
			if (is_before) \
				fm_low_ = i + 1; \
			else \
				fm_high_ = i; \
		} \
		(at) = fm_low_; \
	} while (0)

#endif
