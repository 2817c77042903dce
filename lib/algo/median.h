/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/algo/median.h - the figure to tell of several measurements.
 */
#ifndef FM_LIB_ALGO_MEDIAN_H
#define FM_LIB_ALGO_MEDIAN_H

#include <stdlib.h>

static inline int
fm_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Of v[n], which is sorted by this; 0 of none. */
static inline double
fm_median(double *v, size_t n)
{
	if (n == 0)
		return 0;
	qsort(v, n, sizeof(*v), fm_by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

#endif
