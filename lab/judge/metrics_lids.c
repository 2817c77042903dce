/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several LIDs an end are good for: how many of the paths to them differ.
 *
 * O(switches with hosts * LIDs * LIDs of an end * hops^2)
 */
#include <string.h>

#include "lab/judge/metrics_internal.h"
#include "lib/error.h"

#define STRIPED_SAMPLES 100u

#define MOST_LIDS 128u /* of an end, with the greatest LMC */

/* The paths from a switch to the LIDs of a host. */
struct lid_paths {
	uint32_t n;
	uint32_t hops[MOST_LIDS];
	fm_link *link[MOST_LIDS]; /* [n_switches + 1] each */
};

static void
follow_all(const struct gauge *g, fm_sw sw, uint32_t host, struct lid_paths *p)
{
	p->n = 0;
	for (uint32_t k = 0; k < gauge_n_lids(g, host); k++) {
		p->hops[p->n] =
		    gauge_follow(g, sw, host, (uint16_t)(g->host_lid[host] + k), p->link[p->n]);
		p->n += p->hops[p->n] != FM_NONE;
	}
}

static bool
are_equal(const struct lid_paths *p, uint32_t a, uint32_t b)
{
	return p->hops[a] == p->hops[b] &&
	    memcmp(p->link[a], p->link[b], p->hops[a] * sizeof(fm_link)) == 0;
}

static bool
share_a_cable(const struct gauge *g, const struct lid_paths *p, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < p->hops[a]; i++)
		for (uint32_t k = 0; k < p->hops[b]; k++)
			if (p->link[a][i] == p->link[b][k] ||
			    p->link[a][i] == g->fab->link_rev[p->link[b][k]])
				return true;
	return false;
}

static uint32_t
count_different(const struct lid_paths *p)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < p->n; k++) {
		uint32_t i = 0;

		while (i < k && !are_equal(p, i, k))
			i++;
		n += i == k;
	}
	return n;
}

static bool
are_any_apart(const struct gauge *g, const struct lid_paths *p)
{
	for (uint32_t k = 1; k < p->n; k++)
		for (uint32_t i = 0; i < k; i++)
			if (!share_a_cable(g, p, i, k))
				return true;
	return false;
}

static void
measure_paths(const struct gauge *g, struct lid_paths *p, struct metrics *m)
{
	uint64_t n = 0, several = 0, apart = 0, sum = 0;

	for (uint32_t l = 0; l < g->n_leaves; l++)
		for (uint32_t h = 0; h < g->n_hosts; h++) {
			uint32_t found;

			if (g->host_sw[h] == g->leaf[l])
				continue;
			follow_all(g, g->leaf[l], h, p);
			found = count_different(p);
			n++;
			sum += found;
			several += found > 1;
			apart += are_any_apart(g, p);
		}
	m->paths_avg = n > 0 ? (double)sum / (double)n : 1;
	m->paths_several = n > 0 ? (double)several / (double)n : 0;
	m->paths_apart = n > 0 ? (double)apart / (double)n : 0;
}

int
gauge_lids(struct gauge *g, uint64_t seed, struct metrics *m, struct fm_error *err)
{
	size_t each = g->fab->n_switches + (size_t)1;
	struct lid_paths paths;
	struct striped striped = { 0 };
	uint32_t most = 1;
	int rc;

	for (uint32_t h = 0; h < g->n_hosts; h++)
		most = gauge_n_lids(g, h) > most ? gauge_n_lids(g, h) : most;
	paths.link[0] = fm_arena_array(&g->mem, most * each, fm_link);
	if (paths.link[0] == NULL)
		return gauge_no_memory(err);
	for (uint32_t k = 1; k < most; k++)
		paths.link[k] = paths.link[0] + k * each;
	measure_paths(g, &paths, m);
	rc = gauge_stripe(g, STRIPED_SAMPLES, seed, &striped, err);
	m->ebb_striped = striped.share;
	return rc;
}
