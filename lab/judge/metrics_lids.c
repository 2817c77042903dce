/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several LIDs an end are good for: how many of the paths to them differ.
 *
 * O(switches with hosts * LIDs * hops)
 */
#include "lab/judge/metrics_internal.h"
#include "lib/error.h"
#include "lib/hash.h"

#define STRIPED_SAMPLES 100u

/* Different paths from a switch to the LIDs of a host. */
static uint32_t
count_paths(const struct gauge *g, fm_sw sw, uint32_t host, fm_link *path)
{
	uint64_t seen[128];
	uint32_t n = 0;

	for (uint32_t k = 0; k < gauge_n_lids(g, host); k++) {
		uint32_t hops = gauge_follow(g, sw, host, (uint16_t)(g->host_lid[host] + k), path),
			 i;
		uint64_t mark = 1;

		for (i = 0; hops != FM_NONE && i < hops; i++)
			mark = fm_mix64(mark + path[i]);
		for (i = 0; i < n && seen[i] != mark; i++)
			;
		if (hops != FM_NONE && i == n)
			seen[n++] = mark;
	}
	return n;
}

static void
measure_paths(const struct gauge *g, fm_link *path, struct metrics *m)
{
	uint64_t n = 0, several = 0, sum = 0;

	for (uint32_t l = 0; l < g->n_leaves; l++)
		for (uint32_t h = 0; h < g->n_hosts; h++) {
			uint32_t found;

			if (g->host_sw[h] == g->leaf[l])
				continue;
			found = count_paths(g, g->leaf[l], h, path);
			n++;
			sum += found;
			several += found > 1;
		}
	m->paths_avg = n > 0 ? (double)sum / (double)n : 1;
	m->paths_several = n > 0 ? (double)several / (double)n : 0;
}

int
gauge_lids(struct gauge *g, uint64_t seed, struct metrics *m, struct fm_error *err)
{
	fm_link *path = fm_arena_array(&g->mem, g->fab->n_switches + 1u, fm_link);

	if (path == NULL)
		return gauge_no_memory(err);
	measure_paths(g, path, m);
	return gauge_stripe(g, STRIPED_SAMPLES, seed, &m->ebb_striped, err);
}
