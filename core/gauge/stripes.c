/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a flow gets that is parted evenly among the LIDs of its destination.
 *
 * Of a flow of a random bisection each LID carries an equal stripe, which gets 1 / (flows on its
 * fullest link), stripes counted as parts of a flow, and at most 1; the flow gets the mean of its
 * stripes.  With one LID that is eBB.  In passing the flows are counted whose LIDs go several ways.
 */
#include <string.h>

#include "core/gauge/gauge.h"
#include "lib/error.h"
#include "lib/hash.h"

/* What all samples so far have come to. */
struct sums {
	double share;
	uint64_t n_far, n_several; /* flows between switches; of these by more paths than one */
};

static uint64_t
hash_path(const fm_link *path, uint32_t hops)
{
	uint64_t h = 0;

	for (uint32_t i = 0; hops != FM_NONE && i < hops; i++)
		h = fm_mix64(h ^ (path[i] + UINT64_C(1)));
	return h;
}

/* Hosts to[2 i] and to[2 i + 1] send to one another. */
static void
stripe(const struct gauge *g, const uint16_t *to, double *load, fm_link *path, struct sums *sums)
{
	uint32_t n_flows = g->n_hosts / 2 * 2;
	double sum = 0;

	memset(load, 0, g->fab->n_links * sizeof(*load));
	for (int counts = 1; counts >= 0; counts--) /* first the loads, then the shares */
		for (uint32_t i = 0; i < n_flows; i++) {
			fm_sw from = g->host_sw[to[i]];
			uint32_t dest = to[i ^ 1], n = gauge_n_lids(g, dest);
			uint64_t first = 0;
			bool several = false;

			for (uint32_t k = 0; k < n; k++) {
				uint32_t hops = gauge_follow(
				    g, from, dest, (uint16_t)(g->host_lid[dest] + k), path);
				uint64_t h0 = counts ? 0 : hash_path(path, hops);
				double most = 1;

				first = k == 0 ? h0 : first;
				several |= hops != FM_NONE && h0 != first;
				for (uint32_t h = 0; hops != FM_NONE && h < hops; h++) {
					load[path[h]] += counts ? 1.0 / n : 0;
					most = load[path[h]] > most ? load[path[h]] : most;
				}
				sum += counts || hops == FM_NONE ? 0 : 1 / most / n;
			}
			sums->n_far += !counts && from != g->host_sw[dest];
			sums->n_several += several;
		}
	sums->share += n_flows > 0 ? sum / n_flows : 1;
}

int
gauge_stripe(
    struct gauge *g, uint32_t n_samples, uint64_t seed, struct striped *out, struct fm_error *err)
{
	fm_link *path = fm_arena_array(&g->mem, g->fab->n_switches + 1u, fm_link);
	uint16_t *to = fm_arena_array(&g->mem, g->n_hosts + 1u, uint16_t);
	double *load = fm_arena_array(&g->mem, g->fab->n_links + 1u, double);
	struct sums sums = { 0 };

	if (path == NULL || to == NULL || load == NULL)
		return gauge_no_memory(err);
	for (uint32_t k = 0; k < n_samples; k++) {
		gauge_shuffle(g, seed + k, to);
		stripe(g, to, load, path, &sums);
	}
	out->share = sums.share / n_samples;
	out->several = sums.n_far > 0 ? (double)sums.n_several / (double)sums.n_far : 0;
	return 0;
}
