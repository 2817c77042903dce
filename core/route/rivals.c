/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/route/rivals.h"

#include <limits.h>

#include "core/gauge/gauge.h"
#include "lib/error.h"

#define LEAST_SAMPLES 20u
#define MOST_SAMPLES 500u
#define STRIPED_LESS 10u /* a stripe is followed by itself, twice */

static uint32_t
n_samples(const struct gauge *g)
{
	uint32_t n = RIVALS_FLOWS / (g->n_hosts / 2 + 1);

	return n < LEAST_SAMPLES ? LEAST_SAMPLES : n > MOST_SAMPLES ? MOST_SAMPLES : n;
}

static void
sum_loads(const struct gauge *g, const struct walk *walk, struct measured *out)
{
	uint64_t sum = 0;

	for (fm_link l = 0; l < g->fab->n_links; l++) {
		uint64_t load = gauge_load(g, walk, l);

		sum += load;
		out->most = load > out->most ? load : out->most;
	}
	out->mean = g->fab->n_links > 0 ? (double)sum / g->fab->n_links : 0;
}

int
rivals_fullest(const struct snapshot *snap, const struct fm_tables *t, struct fm_pool *workers,
    uint64_t *most, struct fm_error *err)
{
	struct gauge g = { .fab = &snap->fab, .t = t, .workers = workers };
	struct walk walk = { 0 };
	struct measured m = { 0 };
	int rc = gauge_open(&g, &walk, err);

	if (rc == 0)
		sum_loads(&g, &walk, &m);
	gauge_close(&g, &walk);
	*most = m.most;
	return rc;
}

int
rivals_measure(const struct snapshot *snap, const struct fm_tables *t, struct fm_pool *workers,
    struct measured *out, struct fm_error *err)
{
	struct gauge g = { .fab = &snap->fab, .t = t, .workers = workers };
	struct walk walk = { 0 };
	struct striped striped = { 0 };
	int rc = gauge_open(&g, &walk, err);

	*out = (struct measured){ 0 };
	if (rc == 0) {
		sum_loads(&g, &walk, out);
		rc = gauge_bisect(&g, n_samples(&g), 1, &out->ebb, err);
	}
	if (rc == 0 && gauge_has_several_lids(&snap->fab))
		rc = gauge_stripe(&g, n_samples(&g) / STRIPED_LESS + 1, 1, &striped, err);
	out->striped = striped.share;
	out->several = striped.several;
	gauge_close(&g, &walk);
	return rc;
}

/* How far tables are from what is as good as the best: 1 at most, they are. */
static double
distance(const struct measured *m, uint64_t fewest, double best_ebb)
{
	double fuller =
	    fewest > 0 ? ((double)m->most / (double)fewest - 1) / (RIVALS_FULLER - 1) : 0;
	double slower = (best_ebb - m->ebb) / RIVALS_EBB;

	return fuller > slower ? fuller : slower;
}

/* By all LIDs, of tables that are as good by their base LIDs. */
static bool
is_better_striped(const struct measured *m, const struct measured *than)
{
	bool several = m->several >= RIVALS_SEVERAL, others = than->several >= RIVALS_SEVERAL;

	return several == others ? m->striped > than->striped + RIVALS_EBB : several;
}

size_t
rivals_choose(const struct measured *m, size_t n)
{
	uint64_t fewest = UINT64_MAX;
	double best_ebb = 0;
	unsigned least_vls = UINT_MAX;
	size_t nearest = 0, chosen = n;

	for (size_t i = 0; i < n; i++) {
		fewest = m[i].most < fewest ? m[i].most : fewest;
		best_ebb = m[i].ebb > best_ebb ? m[i].ebb : best_ebb;
	}
	for (size_t i = 0; i < n; i++) {
		double d = distance(&m[i], fewest, best_ebb);

		if (d < distance(&m[nearest], fewest, best_ebb))
			nearest = i;
		if (d <= 1 && m[i].n_vls < least_vls)
			least_vls = m[i].n_vls;
	}
	for (size_t i = n; i-- > 0;)
		if (distance(&m[i], fewest, best_ebb) <= 1 && m[i].n_vls <= least_vls + 1)
			chosen = i;
	for (size_t i = 0; chosen < n && i < n; i++)
		if (distance(&m[i], fewest, best_ebb) <= 1 &&
		    (m[i].n_vls <= least_vls + 1 || m[i].n_vls <= RIVALS_VLS) &&
		    is_better_striped(&m[i], &m[chosen]))
			chosen = i;
	return chosen < n ? chosen : nearest;
}
