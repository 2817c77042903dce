/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How good tables are.
 *
 * All hosts of a switch go the same way, so loads are found by following each
 * destination from each switch with hosts, and adding that switch's number of
 * hosts to every link on the way: O(leaves x hosts x hops), never hosts
 * squared.  Destinations are taken in blocks, because neighbouring LIDs share
 * cache lines in every row.
 */
#include "core/route/metrics_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/subnet/lid.h"
#include "lib/error.h"

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while measuring tables");
}

uint32_t
gauge_follow(const struct gauge *g, fm_sw sw, uint32_t host, fm_link *path)
{
	uint16_t lid = g->host_lid[host];
	uint32_t n = 0;
	fm_link l;

	while ((l = gauge_link(g, sw, lid)) != FM_NONE) {
		if (n == g->fab->n_switches)
			return FM_NONE; /* a loop */
		path[n++] = l;
		sw = g->fab->link_to[l];
	}
	return sw == g->host_sw[host] && g->t->lft[sw][lid] == g->fab->end_port[g->host_end[host]]
	    ? n
	    : FM_NONE;
}

static bool
is_host(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] == FM_END_CA && fab->end_lid[e] != 0;
}

/* Number the hosts along the walk of the switches. */
static int
number_hosts(struct gauge *g, struct fm_error *err)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t n_sw = fab->n_switches;
	uint8_t *is_leaf = fm_arena_array(&g->mem, n_sw + 1, uint8_t);
	uint32_t *order = fm_arena_array(&g->mem, n_sw + 1, uint32_t);
	int rc;

	g->host_end = fm_arena_array(&g->mem, fab->n_ends + 1, fm_end);
	g->host_lid = fm_arena_array(&g->mem, fab->n_ends + 1, uint16_t);
	g->host_sw = fm_arena_array(&g->mem, fab->n_ends + 1, fm_sw);
	g->sw_from = fm_arena_array(&g->mem, n_sw + 1, uint32_t);
	g->sw_hosts = fm_arena_array(&g->mem, n_sw + 1, uint32_t);
	g->leaf = fm_arena_array(&g->mem, n_sw + 1, fm_sw);
	if (is_leaf == NULL || order == NULL || g->host_end == NULL || g->host_lid == NULL ||
	    g->host_sw == NULL || g->sw_from == NULL || g->sw_hosts == NULL || g->leaf == NULL)
		return no_memory(err);
	for (fm_end e = 0; e < fab->sw_first_end[n_sw]; e++)
		is_leaf[fab->end_sw[e]] |= is_host(fab, e);
	rc = lid_switch_order(n_sw, fab->sw_first_link, fab->link_to, is_leaf, order, err);
	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < n_sw; i++) {
		fm_sw sw = order[i];

		g->sw_from[sw] = g->n_hosts;
		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
			if (is_host(fab, e)) {
				g->host_end[g->n_hosts] = e;
				g->host_sw[g->n_hosts] = sw;
				g->host_lid[g->n_hosts++] = fab->end_lid[e];
			}
		g->sw_hosts[sw] = g->n_hosts - g->sw_from[sw];
		if (g->sw_hosts[sw] > 0)
			g->leaf[g->n_leaves++] = sw;
	}
	return 0;
}

static int
index_ports(struct gauge *g, struct fm_error *err)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t n = 0;

	g->port_first = fm_arena_array(&g->mem, fab->n_switches + 1, uint32_t);
	if (g->port_first == NULL)
		return no_memory(err);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		g->port_first[sw] = n;
		n += fab->sw_n_ports[sw] + 1u;
	}
	g->port_first[fab->n_switches] = n;
	g->port_link = fm_arena_array(&g->mem, n + 1, fm_link);
	if (g->port_link == NULL)
		return no_memory(err);
	memset(g->port_link, 0xff, n * sizeof(*g->port_link));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			g->port_link[g->port_first[sw] + fab->link_port[l]] = l;
	return 0;
}

struct loads {
	struct gauge *g;
	struct load_worker {
		uint64_t *load; /* [n_links] */
		fm_link *path;	/* [n_switches] */
		uint32_t max_links;
	} * w;
};

static void
add_loads(void *arg, uint32_t block, unsigned worker)
{
	struct loads *a = arg;
	const struct gauge *g = a->g;
	struct load_worker *w = &a->w[worker];
	uint32_t from = block * DEST_BLOCK, to = from + DEST_BLOCK;

	to = to < g->n_hosts ? to : g->n_hosts;
	for (uint32_t host = from; host < to; host++)
		for (uint32_t i = 0; i < g->n_leaves; i++) {
			fm_sw sw = g->leaf[i];
			uint32_t n;

			if (sw == g->host_sw[host])
				continue;
			n = gauge_follow(g, sw, host, w->path);
			if (n == FM_NONE)
				continue;
			for (uint32_t k = 0; k < n; k++)
				w->load[w->path[k]] += g->sw_hosts[sw];
			w->max_links = n > w->max_links ? n : w->max_links;
		}
}

static void
sum_loads(const struct loads *a, struct metrics *m)
{
	struct gauge *g = a->g;
	uint32_t n_links = g->fab->n_links;
	uint64_t sum = 0;

	m->load_min = n_links > 0 ? UINT64_MAX : 0;
	for (unsigned i = 0; i < g->n_workers; i++)
		g->max_links = a->w[i].max_links > g->max_links ? a->w[i].max_links : g->max_links;
	for (fm_link l = 0; l < n_links; l++) {
		uint64_t load = 0;

		for (unsigned i = 0; i < g->n_workers; i++)
			load += a->w[i].load[l];
		sum += load;
		m->load_min = load < m->load_min ? load : m->load_min;
		m->load_max = load > m->load_max ? load : m->load_max;
	}
	m->load_avg = n_links > 0 ? (double)sum / n_links : 0;
	m->a2a_max_over_avg = sum > 0 ? (double)m->load_max / m->load_avg : 1;
}

static int
measure_loads(struct gauge *g, struct metrics *m, struct fm_error *err)
{
	struct loads a = { .g = g };

	a.w = fm_arena_array(&g->mem, g->n_workers, struct load_worker);
	if (a.w == NULL)
		return no_memory(err);
	for (unsigned i = 0; i < g->n_workers; i++) {
		a.w[i].load = fm_arena_array(&g->mem, g->fab->n_links + 1, uint64_t);
		a.w[i].path = fm_arena_array(&g->mem, g->fab->n_switches + 1, fm_link);
		if (a.w[i].load == NULL || a.w[i].path == NULL)
			return no_memory(err);
	}
	fm_pool_for(g->workers, (g->n_hosts + DEST_BLOCK - 1) / DEST_BLOCK, add_loads, &a);
	sum_loads(&a, m);
	return 0;
}

int
metrics_compute(const struct snapshot *snap, const struct fm_tables *tables,
    const struct metrics_request *req, struct fm_pool *workers, struct metrics *out,
    struct fm_error *err)
{
	struct gauge g = { .fab = &snap->fab, .t = tables, .workers = workers };
	struct metrics m = { .ebb = 1 };
	int rc;

	g.n_workers = fm_pool_size(workers);
	fm_arena_init(&g.mem, SIZE_MAX);
	if ((rc = number_hosts(&g, err)) == 0 && (rc = index_ports(&g, err)) == 0 &&
	    (rc = measure_loads(&g, &m, err)) == 0 && (rc = gauge_shift(&g, &m.sp_max, err)) == 0 &&
	    (rc = gauge_ebb(&g, req, &m.ebb, err)) == 0)
		*out = m;
	fm_arena_fini(&g.mem);
	return rc;
}
