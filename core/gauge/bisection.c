/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effective bisection bandwidth (Hoefler, Schneider, Lumsdaine, CLUSTER'08):
 * the hosts are matched at random and partners send to one another; a flow
 * gets 1 / (flows on its fullest link) of a link.  The mean over flows and
 * samples.
 *
 * Many samples are taken at once: all their flows to a block of neighbouring
 * LIDs are followed together, so that the lines of the tables are fetched once
 * for all of them.  A chunk of samples is matched sample by sample, followed
 * block by block, and counted sample by sample again.  A sample has random
 * numbers of its own, and shares are added in the order of the flows, then of
 * the samples: the same result at any number of workers.
 * O(samples x hosts x hops).
 */
#include <string.h>

#include "core/gauge/gauge.h"
#include "lib/error.h"
#include "lib/pages.h"
#include "lib/rng.h"

#define CHUNK_BYTES ((size_t)64 << 20)

struct ebb_worker {
	uint16_t *load;	 /* [n_links + 2] flows of this sample; n_hosts < 2^16 */
	uint16_t *worst; /* [n_hosts] by destination: flows on the fullest link; 0 = lost */
};

/* A route is padded to `width` links; these stand behind the links of the fabric. */
enum { ARRIVED, LOST };

struct ebb {
	const struct gauge *g;
	uint64_t seed;
	uint32_t n_flows; /* even; an odd host out sends to itself */
	uint32_t width;	  /* links of a route, 1 at least */
	uint32_t chunk;	  /* samples taken at once */
	uint32_t first, n;
	uint16_t *order;   /* [chunk][n_hosts] flow i is order[i] -> order[i +- n_flows / 2] */
	uint16_t *partner; /* [chunk][n_hosts] */
	fm_link *path;	   /* [chunk][n_hosts][width] by the destination's place in by_lid */
	struct ebb_worker *w;
	double *sample; /* [n_samples] */
};

void
gauge_shuffle(const struct gauge *g, uint64_t seed, uint16_t *order)
{
	struct fm_rng r;

	fm_rng_seed(&r, fm_mix64(seed));
	for (uint32_t i = 0; i < g->n_hosts; i++)
		order[i] = (uint16_t)i;
	for (uint32_t i = g->n_hosts; i > 1; i--) {
		uint32_t at = fm_rng_below(&r, i);
		uint16_t keep = order[at];

		order[at] = order[i - 1];
		order[i - 1] = keep;
	}
}

/* Match the hosts. */
static void
match(void *arg, uint32_t k, unsigned worker)
{
	struct ebb *e = arg;
	uint32_t n = e->g->n_hosts, half = e->n_flows / 2;
	uint16_t *order = e->order + (size_t)k * n, *partner = e->partner + (size_t)k * n;

	(void)worker;
	gauge_shuffle(e->g, e->seed + e->first + k, order);
	for (uint32_t i = 0; i < half; i++) {
		partner[order[i]] = order[i + half];
		partner[order[i + half]] = order[i];
	}
	if (e->n_flows < n)
		partner[order[n - 1]] = order[n - 1];
}

/* Flows of one sample to a block of hosts. */
struct flows {
	const uint32_t *dest; /* [n] */
	uint32_t n;
	uint16_t lid[DEST_BLOCK];
	fm_sw at[DEST_BLOCK];
	fm_link *path; /* [n][width] */
};

/* All flows a link on: side by side, so that their cache misses overlap. */
static void
step(const struct ebb *e, struct flows *f, uint32_t s)
{
	fm_link none = e->g->fab->n_links + ARRIVED;

	for (uint32_t i = 0; i < f->n; i++) {
		struct hop hop = gauge_hop(e->g, f->at[i], f->lid[i]);

		f->path[i * e->width + s] = hop.link == FM_NONE ? none : hop.link;
		f->at[i] = hop.link == FM_NONE ? f->at[i] : hop.to;
	}
}

/* No route that arrives has more than max_links. */
static void
strike_lost(const struct ebb *e, struct flows *f)
{
	const struct gauge *g = e->g;

	for (uint32_t i = 0; i < f->n; i++) {
		if (gauge_arrives(g, f->at[i], f->dest[i]))
			continue;
		for (uint32_t s = 0; s < e->width; s++)
			f->path[i * e->width + s] = g->fab->n_links + LOST;
	}
}

static void
follow_samples(void *arg, uint32_t block, unsigned worker)
{
	struct ebb *e = arg;
	const struct gauge *g = e->g;
	uint32_t from = block * DEST_BLOCK, to = from + DEST_BLOCK;
	struct flows f = { .dest = g->by_lid + from };

	(void)worker;
	to = to < g->n_hosts ? to : g->n_hosts;
	f.n = to - from;
	for (uint32_t i = 0; i < f.n; i++)
		f.lid[i] = g->host_lid[f.dest[i]];
	for (size_t k = 0; k < e->n; k++) {
		const uint16_t *partner = e->partner + k * g->n_hosts;

		f.path = e->path + (k * g->n_hosts + from) * e->width;
		for (uint32_t i = 0; i < f.n; i++)
			f.at[i] = g->host_sw[partner[f.dest[i]]];
		for (uint32_t s = 0; s < e->width; s++)
			step(e, &f, s);
		strike_lost(e, &f);
	}
}

/* Flows load their links, then each takes its share. */
static void
share(void *arg, uint32_t k, unsigned worker)
{
	struct ebb *e = arg;
	const struct gauge *g = e->g;
	struct ebb_worker *w = &e->w[worker];
	size_t n = (size_t)g->n_hosts * e->width;
	const fm_link *path = e->path + k * n;
	const uint16_t *order = e->order + (size_t)k * g->n_hosts;
	uint32_t half = e->n_flows / 2;
	double sum = 0;

	memset(w->load, 0, g->fab->n_links * sizeof(*w->load));
	for (size_t i = 0; i < n; i++)
		w->load[path[i]]++;
	w->load[g->fab->n_links + ARRIVED] = 1;
	w->load[g->fab->n_links + LOST] = 0;
	for (uint32_t i = 0; i < g->n_hosts; i++, path += e->width) {
		uint16_t max = 0;

		for (uint32_t s = 0; s < e->width; s++)
			max = w->load[path[s]] > max ? w->load[path[s]] : max;
		w->worst[g->by_lid[i]] = max;
	}
	for (uint32_t i = 0; i < e->n_flows; i++) {
		uint16_t worst = w->worst[order[i < half ? i + half : i - half]];

		sum += worst > 0 ? 1.0 / worst : 0;
	}
	e->sample[e->first + k] = sum / e->n_flows;
}

static size_t
path_bytes(const struct ebb *e)
{
	return (size_t)e->chunk * e->g->n_hosts * e->width * sizeof(*e->path);
}

static bool
alloc_chunk(struct gauge *g, struct ebb *e, uint32_t n_samples)
{
	size_t of_sample = g->n_hosts * (e->width * sizeof(*e->path) + 2 * sizeof(*e->order));

	e->chunk =
	    CHUNK_BYTES / of_sample < n_samples ? (uint32_t)(CHUNK_BYTES / of_sample) : n_samples;
	e->chunk = e->chunk > 0 ? e->chunk : 1;
	e->sample = fm_arena_array(&g->mem, n_samples, double);
	e->order = fm_arena_array(&g->mem, (size_t)e->chunk * g->n_hosts, uint16_t);
	e->partner = fm_arena_array(&g->mem, (size_t)e->chunk * g->n_hosts, uint16_t);
	e->w = fm_arena_array(&g->mem, g->n_workers, struct ebb_worker);
	for (unsigned i = 0; e->w != NULL && i < g->n_workers; i++) {
		e->w[i].load = fm_arena_array(&g->mem, g->fab->n_links + 2, uint16_t);
		e->w[i].worst = fm_arena_array(&g->mem, g->n_hosts, uint16_t);
		if (e->w[i].load == NULL || e->w[i].worst == NULL)
			return false;
	}
	if (e->sample == NULL || e->order == NULL || e->partner == NULL || e->w == NULL)
		return false;
	e->path = fm_pages_map(path_bytes(e));
	return e->path != NULL;
}

int
gauge_bisect(struct gauge *g, uint32_t n_samples, uint64_t seed, double *ebb, struct fm_error *err)
{
	struct ebb e = { .g = g, .seed = seed, .n_flows = g->n_hosts / 2 * 2 };
	double sum = 0;

	if (n_samples == 0)
		n_samples = GAUGE_SAMPLES;
	*ebb = 1;
	if (e.n_flows == 0)
		return 0;
	e.width = g->max_links > 0 ? g->max_links : 1;
	if (!alloc_chunk(g, &e, n_samples))
		return fm_fail(err, FM_E_RESOURCE, "out of memory while measuring bisections");
	for (e.first = 0; e.first < n_samples; e.first += e.n) {
		e.n = n_samples - e.first < e.chunk ? n_samples - e.first : e.chunk;
		fm_pool_for(g->workers, e.n, match, &e);
		fm_pool_for(
		    g->workers, (g->n_hosts + DEST_BLOCK - 1) / DEST_BLOCK, follow_samples, &e);
		fm_pool_for(g->workers, e.n, share, &e);
	}
	for (uint32_t i = 0; i < n_samples; i++)
		sum += e.sample[i];
	*ebb = sum / n_samples;
	fm_pages_unmap(e.path, path_bytes(&e));
	return 0;
}
