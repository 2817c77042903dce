/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Up/down over one total order: the ranks, and an engine made of them.
 */
#include "core/engine/ordered.h"

#include <string.h>

#include "lib/error.h"

void
ordered_sort(struct ordered_graph *g)
{
	for (uint32_t v = 0; v < g->n; v++)
		g->by_place[g->place[v]] = v;
}

/* Backwards from the target along steps down. */
static void
find_down(const struct ordered_graph *g, uint32_t target, struct ordered_ways *w)
{
	uint32_t n = 0;

	memset(w->rank, 0xff, g->n * sizeof(*w->rank));
	memset(w->down, 0, g->n);
	w->rank[target] = 0;
	w->down[target] = 1;
	w->queue[n++] = target;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = w->queue[i];

		for (uint32_t a = g->first[v]; a < g->first[v + 1]; a++) {
			uint32_t u = g->to[a];

			if (g->place[u] > g->place[v] || w->rank[u] != ORDERED_NO_RANK)
				continue;
			w->rank[u] = (uint16_t)(w->rank[v] + 1);
			w->down[u] = 1;
			w->queue[n++] = u;
		}
	}
}

void
ordered_find(const struct ordered_graph *g, uint32_t target, struct ordered_ways *w)
{
	find_down(g, target, w);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t u = g->by_place[i];
		uint16_t best = ORDERED_NO_RANK;

		if (w->rank[u] != ORDERED_NO_RANK)
			continue;
		for (uint32_t a = g->first[u]; a < g->first[u + 1]; a++)
			if (g->place[g->to[a]] < g->place[u] && w->rank[g->to[a]] < best)
				best = w->rank[g->to[a]];
		if (best != ORDERED_NO_RANK)
			w->rank[u] = (uint16_t)(best + 1);
	}
}

/* ------------------------------------------------------------- the engine */

struct job {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	struct ordered_graph g;
	struct ordered_ways *ways; /* [workers] */
	struct fm_tables *out;
};

/* Search from root: place[] from *at on.  The last found is farthest. */
static fm_sw
search(struct ordered_graph *g, fm_sw root, uint32_t *at)
{
	uint32_t i = *at;

	g->place[root] = *at;
	g->by_place[(*at)++] = root;
	for (; i < *at; i++)
		for (uint32_t a = g->first[g->by_place[i]]; a < g->first[g->by_place[i] + 1]; a++)
			if (g->place[g->to[a]] == FM_NONE) {
				g->place[g->to[a]] = *at;
				g->by_place[(*at)++] = g->to[a];
			}
	return g->by_place[*at - 1];
}

/* About the middle of the component of s: half-way between two far apart. */
static fm_sw
middle(struct ordered_graph *g, struct ordered_ways *w, fm_sw s)
{
	uint32_t n = 0;
	fm_sw far;

	for (unsigned turn = 0; turn < 2; turn++) {
		n = 0;
		far = s;
		memset(w->rank, 0xff, g->n * sizeof(*w->rank));
		w->rank[s] = 0;
		w->queue[n++] = s;
		for (uint32_t i = 0; i < n; i++) {
			far = w->queue[i];
			for (uint32_t a = g->first[far]; a < g->first[far + 1]; a++)
				if (w->rank[g->to[a]] == ORDERED_NO_RANK) {
					w->rank[g->to[a]] = (uint16_t)(w->rank[far] + 1);
					w->queue[n++] = g->to[a];
				}
		}
		s = far;
	}
	for (uint32_t half = w->rank[s] / 2u; w->rank[s] > half;)
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			if (w->rank[g->to[a]] < w->rank[s]) {
				s = g->to[a];
				break;
			}
	return s;
}

static int
prepare(struct job *j, struct fm_error *err)
{
	const struct fm_host *host = j->host;
	uint32_t n = j->fab->n_switches, at = 0;
	unsigned n_workers = host->n_workers(host);

	j->g = (struct ordered_graph){ .n = n,
		.first = j->fab->sw_first_link,
		.to = j->fab->link_to,
		.place = host->scratch(host, n * sizeof(uint32_t)),
		.by_place = host->scratch(host, n * sizeof(uint32_t)) };
	j->ways = host->scratch(host, n_workers * sizeof(*j->ways));
	if (j->g.place == NULL || j->g.by_place == NULL || j->ways == NULL)
		return host->fail(
		    host, err, FM_E_RESOURCE, "out of memory for an order of switches");
	for (unsigned i = 0; i < n_workers; i++) {
		j->ways[i] = (struct ordered_ways){ host->scratch(host, n * sizeof(uint16_t)),
			host->scratch(host, n), host->scratch(host, n * sizeof(uint32_t)) };
		if (j->ways[i].rank == NULL || j->ways[i].down == NULL || j->ways[i].queue == NULL)
			return host->fail(
			    host, err, FM_E_RESOURCE, "out of memory for an order of switches");
	}
	memset(j->g.place, 0xff, n * sizeof(uint32_t));
	for (fm_sw s = 0; s < n; s++)
		if (j->g.place[s] == FM_NONE)
			search(&j->g, middle(&j->g, &j->ways[0], s), &at);
	return 0;
}

/* The entries of u for the ends of t, spread over its right next steps. */
static void
fill_entries(const struct job *j, const struct ordered_ways *w, fm_sw u, fm_sw t)
{
	const struct fm_fabric *fab = j->fab;
	uint8_t ports[256], *row = j->out->lft[u];
	uint32_t n = 0, number = u;

	for (fm_link l = fab->sw_first_link[u]; u != t && l < fab->sw_first_link[u + 1]; l++)
		if (ordered_is_step(&j->g, w->rank, w->down, u, fab->link_to[l]))
			ports[n++] = fab->link_port[l];
	for (fm_end e = fab->sw_first_end[t]; e < fab->sw_first_end[t + 1]; e++)
		for (uint32_t i = 0; fab->end_lid[e] != 0 && i < 1u << fab->end_lmc[e]; i++)
			row[fab->end_lid[e] + i] = u == t ? fab->end_port[e]
			    : n > 0			  ? ports[number++ % n]
							  : FM_PORT_NONE;
}

static void
fill_columns(void *arg, uint32_t t, unsigned worker)
{
	const struct job *j = arg;
	const struct fm_fabric *fab = j->fab;
	bool wanted = false;

	for (fm_end e = fab->sw_first_end[t]; !wanted && e < fab->sw_first_end[t + 1]; e++)
		wanted = fab->end_lid[e] != 0;
	if (!wanted || j->host->should_stop(j->host))
		return;
	ordered_find(&j->g, t, &j->ways[worker]);
	for (fm_sw u = 0; u < fab->n_switches; u++)
		fill_entries(j, &j->ways[worker], u, t);
}

static int
ordered_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct job j = { .host = host, .fab = fab, .out = out };
	int rc = prepare(&j, err);

	if (rc != 0)
		return rc;
	host->parallel_for(host, fab->n_switches, fill_columns, &j);
	return host->should_stop(host) ? host->fail(host, err, FM_E_CANCELLED, "stopped") : 0;
}

const struct fm_engine ordered_engine = {
	.magic = FM_ABI_MAGIC,
	.abi_major = FM_ABI_MAJOR,
	.abi_minor = FM_ABI_MINOR,
	.size = sizeof(struct fm_engine),
	.option_row_size = sizeof(struct fm_option),
	.name = "ordered",
	.summary = "Up/down over one order of the switches",
	.traits = FM_PROVIDES_LFT | FM_PROMISES_NO_CREDIT_LOOPS,
	.route = ordered_route,
};
