/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effective bisection bandwidth (Hoefler, Schneider, Lumsdaine, CLUSTER'08):
 * the hosts are matched at random and partners send to one another; a flow
 * gets 1 / (flows on its fullest link) of a link.  The mean over flows and
 * samples.
 *
 * All flows of a sample take a step at a time, so that the cache misses of
 * different flows overlap.  A sample has random numbers of its own, and the
 * samples are added in order: the same result at any number of workers.
 * O(samples x hosts x hops).
 */
#include <string.h>

#include "core/route/metrics_internal.h"
#include "lib/error.h"
#include "lib/rng.h"

#define DEFAULT_SAMPLES 1000u

struct ebb_worker {
	uint32_t *host;	 /* [n_hosts] permuted; flow i is host[i] -> host[partner(i)] */
	fm_sw *at;	 /* [n_flows] where each flow has come */
	fm_link *path;	 /* [max_links][n_flows], FM_NONE = arrived before */
	uint32_t *load;	 /* [n_links] flows of this sample */
	uint32_t *worst; /* [n_flows] flows on the fullest link so far; 0 = does not arrive */
};

struct ebb {
	const struct gauge *g;
	uint64_t seed;
	uint32_t n_flows; /* even; an odd host out sits still */
	struct ebb_worker *w;
	double *sample; /* [n_samples] */
};

static void
shuffle(const struct gauge *g, struct ebb_worker *w, uint64_t seed)
{
	struct fm_rng r;

	fm_rng_seed(&r, seed);
	for (uint32_t i = 0; i < g->n_hosts; i++)
		w->host[i] = i;
	for (uint32_t i = g->n_hosts; i > 1; i--) {
		uint32_t k = fm_rng_below(&r, i), keep = w->host[k];

		w->host[k] = w->host[i - 1];
		w->host[i - 1] = keep;
	}
}

static uint32_t
dest_of(const struct ebb *e, const struct ebb_worker *w, uint32_t flow)
{
	uint32_t half = e->n_flows / 2;

	return w->host[flow < half ? flow + half : flow - half];
}

/* All flows one link on. */
static void
step(const struct ebb *e, struct ebb_worker *w, fm_link *path)
{
	const struct gauge *g = e->g;

	for (uint32_t i = 0; i < e->n_flows; i++) {
		path[i] = gauge_link(g, w->at[i], g->host_lid[dest_of(e, w, i)]);
		if (path[i] != FM_NONE)
			w->at[i] = g->fab->link_to[path[i]];
	}
}

static bool
has_arrived(const struct ebb *e, const struct ebb_worker *w, uint32_t flow)
{
	const struct gauge *g = e->g;
	uint32_t dest = dest_of(e, w, flow);
	fm_sw sw = w->at[flow];

	return sw == g->host_sw[dest] &&
	    g->t->lft[sw][g->host_lid[dest]] == g->fab->end_port[g->host_end[dest]];
}

/* Flows that arrive load their links, then each takes its share. */
static double
share(const struct ebb *e, struct ebb_worker *w)
{
	const struct gauge *g = e->g;
	size_t n_steps = g->max_links, n = e->n_flows;
	double sum = 0;

	memset(w->load, 0, g->fab->n_links * sizeof(*w->load));
	for (uint32_t i = 0; i < n; i++)
		w->worst[i] = has_arrived(e, w, i);
	for (size_t k = 0; k < n_steps * n; k++)
		if (w->path[k] != FM_NONE && w->worst[k % n])
			w->load[w->path[k]]++;
	for (size_t s = 0; s < n_steps; s++)
		for (uint32_t i = 0; i < n; i++) {
			fm_link l = w->path[s * n + i];

			if (l != FM_NONE && w->load[l] > w->worst[i] && w->worst[i] > 0)
				w->worst[i] = w->load[l];
		}
	for (uint32_t i = 0; i < n; i++)
		sum += w->worst[i] > 0 ? 1.0 / w->worst[i] : 0;
	return sum / (double)n;
}

static void
run_sample(void *arg, uint32_t sample, unsigned worker)
{
	struct ebb *e = arg;
	struct ebb_worker *w = &e->w[worker];

	shuffle(e->g, w, fm_mix64(e->seed + sample));
	for (uint32_t i = 0; i < e->n_flows; i++)
		w->at[i] = e->g->host_sw[w->host[i]];
	for (uint32_t s = 0; s < e->g->max_links; s++)
		step(e, w, w->path + (size_t)s * e->n_flows);
	e->sample[sample] = share(e, w);
}

static bool
alloc_workers(struct gauge *g, struct ebb *e)
{
	e->w = fm_arena_array(&g->mem, g->n_workers, struct ebb_worker);
	for (unsigned i = 0; e->w != NULL && i < g->n_workers; i++) {
		struct ebb_worker *w = &e->w[i];

		w->host = fm_arena_array(&g->mem, g->n_hosts, uint32_t);
		w->at = fm_arena_array(&g->mem, e->n_flows, fm_sw);
		w->path = fm_arena_array(&g->mem, (size_t)g->max_links * e->n_flows + 1, fm_link);
		w->load = fm_arena_array(&g->mem, g->fab->n_links + 1, uint32_t);
		w->worst = fm_arena_array(&g->mem, e->n_flows, uint32_t);
		if (w->host == NULL || w->at == NULL || w->path == NULL || w->load == NULL ||
		    w->worst == NULL)
			return false;
	}
	return e->w != NULL;
}

int
gauge_ebb(struct gauge *g, const struct metrics_request *req, double *ebb, struct fm_error *err)
{
	uint32_t n_samples = req->ebb_samples > 0 ? req->ebb_samples : DEFAULT_SAMPLES;
	struct ebb e = { .g = g, .seed = req->seed, .n_flows = g->n_hosts / 2 * 2 };
	double sum = 0;

	*ebb = 1;
	if (e.n_flows == 0)
		return 0;
	e.sample = fm_arena_array(&g->mem, n_samples, double);
	if (e.sample == NULL || !alloc_workers(g, &e))
		return fm_fail(err, FM_E_RESOURCE, "out of memory while measuring bisections");
	fm_pool_for(g->workers, n_samples, run_sample, &e);
	for (uint32_t i = 0; i < n_samples; i++)
		sum += e.sample[i];
	*ebb = sum / n_samples;
	return 0;
}
