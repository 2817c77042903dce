/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lower bound in an array sorted by GUID.
 */
#include "plugins/engines/file/guids.h"

#include <stdlib.h>

static int
by_guid(const void *a, const void *b)
{
	const struct fm_guid *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void
fm_guids_sort(struct fm_guid *guids, uint32_t n)
{
	qsort(guids, n, sizeof(*guids), by_guid);
}

uint32_t
fm_guids_find(const struct fm_guid *guids, uint32_t n, uint64_t guid)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (guids[mid].guid < guid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && guids[low].guid == guid ? low : n;
}
