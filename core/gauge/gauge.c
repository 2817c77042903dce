/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts in order, and what links carry of the packets between them.
 */
#include "core/gauge/gauge.h"

#include <stdlib.h>
#include <string.h>

#include "core/graph/switch_order.h"
#include "lib/error.h"

int
gauge_no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while measuring tables");
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
		return gauge_no_memory(err);
	for (fm_end e = 0; e < fab->sw_first_end[n_sw]; e++)
		is_leaf[fab->end_sw[e]] |= is_host(fab, e);
	rc = switch_order(n_sw, fab->sw_first_link, fab->link_to, is_leaf, order, err);
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
by_lid(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int
sort_hosts(struct gauge *g, struct fm_error *err)
{
	g->by_lid = fm_arena_array(&g->mem, g->n_hosts + 1, uint32_t);
	if (g->by_lid == NULL)
		return gauge_no_memory(err);
	/* LID and host number both fit 16 bits */
	for (uint32_t i = 0; i < g->n_hosts; i++)
		g->by_lid[i] = (uint32_t)g->host_lid[i] << 16 | i;
	qsort(g->by_lid, g->n_hosts, sizeof(*g->by_lid), by_lid);
	for (uint32_t i = 0; i < g->n_hosts; i++)
		g->by_lid[i] &= 0xffff;
	return 0;
}

static int
index_ports(struct gauge *g, struct fm_error *err)
{
	const struct fm_fabric *fab = g->fab;
	struct hop *hop;
	size_t n = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		n += fab->sw_n_ports[sw] + 2u;
	g->row = fm_arena_array(&g->mem, fab->n_switches + 1, struct gauge_row);
	hop = fm_arena_array(&g->mem, n + 1, struct hop);
	if (g->row == NULL || hop == NULL)
		return gauge_no_memory(err);
	memset(hop, 0xff, n * sizeof(*hop));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		g->row[sw] = (struct gauge_row){ g->t->lft[sw], hop, fab->sw_n_ports[sw] };
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			hop[fab->link_port[l]] = (struct hop){ l, fab->link_to[l] };
		hop += fab->sw_n_ports[sw] + 2;
	}
	return 0;
}

uint32_t
gauge_follow(const struct gauge *g, fm_sw sw, uint32_t host, uint16_t lid, fm_link *path)
{
	uint32_t n = 0;

	for (;;) {
		struct hop hop = gauge_hop(g, sw, lid);

		if (hop.link == FM_NONE)
			break;
		if (n == g->fab->n_switches)
			return FM_NONE;
		path[n++] = hop.link;
		sw = hop.to;
	}
	return sw == g->host_sw[host] && g->row[sw].lft[lid] == g->fab->end_port[g->host_end[host]]
	    ? n
	    : FM_NONE;
}

uint32_t
gauge_longest(const struct gauge *g, const struct walk *walk)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < g->n_workers; i++)
		most = walk->w[i].max_open > most ? walk->w[i].max_open : most;
	return most;
}

uint64_t
gauge_load(const struct gauge *g, const struct walk *walk, fm_link l)
{
	uint64_t load = 0;

	for (unsigned i = 0; i < g->n_workers; i++)
		load += walk->w[i].load[l];
	return load;
}

int
gauge_prepare(struct gauge *g, struct fm_error *err)
{
	int rc;

	g->n_workers = fm_pool_size(g->workers);
	fm_arena_init(&g->mem, SIZE_MAX);
	if ((rc = number_hosts(g, err)) == 0 && (rc = sort_hosts(g, err)) == 0)
		rc = index_ports(g, err);
	return rc;
}

int
gauge_open(struct gauge *g, struct walk *walk, struct fm_error *err)
{
	int rc = gauge_prepare(g, err);

	if (rc != 0)
		return rc;
	if (!gauge_walk_setup(g, walk, 1))
		return gauge_no_memory(err);
	gauge_walk_all(walk);
	g->max_links = gauge_longest(g, walk);
	return 0;
}

void
gauge_close(struct gauge *g, struct walk *walk)
{
	gauge_walk_fini(walk);
	fm_arena_fini(&g->mem);
}

bool
gauge_has_several_lids(const struct fm_fabric *fab)
{
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_lmc[e] > 0)
			return true;
	return false;
}

int
link_loads(const struct snapshot *snap, const struct fm_tables *tables, struct fm_pool *workers,
    uint64_t *load, struct fm_error *err)
{
	struct gauge g = { .fab = &snap->fab, .t = tables, .workers = workers };
	struct walk walk = { 0 };
	int rc = gauge_open(&g, &walk, err);

	for (fm_link l = 0; rc == 0 && l < snap->fab.n_links; l++)
		load[l] = gauge_load(&g, &walk, l);
	gauge_close(&g, &walk);
	return rc;
}
