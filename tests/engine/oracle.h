/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/engine/oracle.h - what tests of engines know of a fabric without asking one.
 */
#ifndef TESTS_ENGINE_ORACLE_H
#define TESTS_ENGINE_ORACLE_H

#include <stdlib.h>
#include <string.h>

#include <fmd/engine.h>

/* Hops from every switch to root, by breadth first search: the oracle. */
static inline void
count_hops(const struct fm_fabric *fab, fm_sw root, uint32_t *hops)
{
	fm_sw *queue = calloc(fab->n_switches, sizeof(*queue));
	uint32_t n = 0;

	memset(hops, 0xff, fab->n_switches * sizeof(*hops));
	hops[root] = 0;
	queue[n++] = root;
	for (uint32_t i = 0; i < n; i++)
		for (fm_link l = fab->sw_first_link[queue[i]]; l < fab->sw_first_link[queue[i] + 1];
		     l++)
			if (hops[fab->link_to[l]] == FM_NONE) {
				hops[fab->link_to[l]] = hops[queue[i]] + 1;
				queue[n++] = fab->link_to[l];
			}
	free(queue);
}

static inline bool
is_ca(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] == FM_END_CA && fab->end_sw[e] != FM_NONE;
}

#endif
