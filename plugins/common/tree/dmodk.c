/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	shape     blocks of siblings, planes, order of leaves: no names needed
 *	costs     from every switch to every switch, as bit sets
 *	slots     slots, dividers, templates
 *	settle    numbers on whose digits all sources agree, if asked for
 *	leads     one template row per set of siblings
 *	up        a byte translation of it per switch, lost LIDs dealt one by one
 *	down      what children serve; tops of a block share a row likewise
 *	fill      all rows, in tasks
 *
 * With an order a route never goes up after down.  The tables depend on structure and on
 * GUIDs or indices, not on LIDs or ports.  Little more than the time of writing them.
 */
#include <stdlib.h>

#include "plugins/common/tree/dmodk_tree.h"

/* The arcs from s up, or down, as groups. */
static uint32_t
add_groups(struct fm_dmodk_routes *ft, fm_sw s, bool up, uint32_t n)
{
	const struct fm_arcs *arcs = ft->how->arcs;

	for (fm_arc a = arcs->first[s]; a < arcs->first[s + 1]; a++) {
		fm_sw to = arcs->to[a];
		uint32_t width = fm_arc_width(arcs, a);

		if (ft->rank[to] == ft->rank[s] || (ft->rank[to] > ft->rank[s]) != up)
			continue;
		ft->groups[n++] = (struct ft_group){ to, arcs->link[a], width };
		ft->parallel |= width > 1;
	}
	return n;
}

static int
collect_groups(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	const struct fm_fabric *fab = ft->fab;
	uint32_t n = 0;

	ft->first_group = ft_alloc(ft, (size_t)ft->n + 1, sizeof(*ft->first_group));
	ft->groups = ft_alloc(ft, ft->how->arcs->n_arcs, sizeof(*ft->groups));
	ft->first_child = ft_alloc(ft, ft->n, sizeof(*ft->first_child));
	ft->n_hosts = ft_alloc(ft, ft->n, sizeof(*ft->n_hosts));
	if (!ft->first_group || !ft->groups || !ft->first_child || !ft->n_hosts)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++) {
		ft->first_group[s] = n;
		ft->first_child[s] = n = add_groups(ft, s, true, n);
		n = add_groups(ft, s, false, n);
		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
			ft->n_hosts[s] += fm_is_host(fab, e);
		if (ft->rank[s] > ft->max_rank)
			ft->max_rank = ft->rank[s];
	}
	ft->first_group[ft->n] = n;
	return 0;
}

static int
by_height(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Heights in as few numbers as they take; without an order those of the tiers. */
static int
find_levels(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	const int64_t *height = ft->how->order != NULL ? ft->how->order->height : NULL;
	int64_t *sorted = ft_alloc(ft, ft->n, sizeof(*sorted));
	uint32_t n = 0;

	ft->level = ft_alloc(ft, ft->n, sizeof(*ft->level));
	if (sorted == NULL || ft->level == NULL)
		return ft_out_of_memory(ft, err);
	if (height == NULL) {
		memcpy(ft->level, ft->rank, ft->n * sizeof(*ft->level));
		ft->demoted = ft->aside = ft_alloc(ft, ft->n, sizeof(*ft->demoted));
		return ft->demoted != NULL ? 0 : ft_out_of_memory(ft, err);
	}
	ft->demoted = ft->how->order->demoted;
	ft->aside = ft->how->order->aside;
	memcpy(sorted, height, ft->n * sizeof(*sorted));
	qsort(sorted, ft->n, sizeof(*sorted), by_height);
	for (uint32_t i = 0; i < ft->n; i++)
		if (i == 0 || sorted[i] != sorted[n - 1])
			sorted[n++] = sorted[i];
	for (fm_sw s = 0; s < ft->n; s++) {
		const int64_t *at = bsearch(&height[s], sorted, n, sizeof(*sorted), by_height);

		ft->level[s] = (uint16_t)(at - sorted);
	}
	return 0;
}

int
fm_dmodk_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_dmodk *how,
    const struct fm_tables *out, const struct fm_dmodk_routes **routes, struct fm_error *err)
{
	struct fm_dmodk_routes *ft = fm_scratch_array(host, 1, struct fm_dmodk_routes);
	struct fm_dmodk *kept = fm_scratch_array(host, 1, struct fm_dmodk);
	int rc;

	if (ft == NULL || kept == NULL)
		return fm_no_scratch(host, "routes of the tree", err);
	*kept = *how;
	ft->host = host;
	ft->fab = fab;
	ft->how = kept;
	ft->out = out;
	ft->n = fab->n_switches;
	ft->rank = how->rank;
	ft->has_lmc = fm_has_lmc(fab);
	*routes = ft;
	if ((rc = collect_groups(ft, err)) != 0 || (rc = find_levels(ft, err)) != 0 ||
	    (rc = ft_shape(ft, err)) != 0 || (rc = ft_costs(ft, err)) != 0 ||
	    (rc = ft_slots(ft, err)) != 0)
		return rc;
	return ft_fill(ft, err);
}

/* Columns that switch s has no route to. */
static void
look_from(const struct fm_dmodk_routes *ft, fm_sw s, const uint32_t *component, uint64_t *met,
    struct fm_dmodk_paths *out)
{
	memset(met, 0, ft->words * sizeof(*met));
	for (uint32_t w = ft->below[s].from; w < ft->below[s].to; w++)
		met[w] = ft->below[s].bits[w - ft->below[s].from];
	for (uint64_t left = ft->up[s] != NULL ? ft->up[s]->present : 0; left != 0;
	     left &= left - 1) {
		const struct ft_set *set = &ft->up[s]->layer[__builtin_ctzll(left)];

		for (uint32_t w = set->from; w < set->to; w++)
			met[w] |= set->bits[w - set->from];
	}
	for (uint32_t w = 0; w < ft->words; w++)
		for (uint64_t left = ~met[w]; left != 0; left &= left - 1) {
			uint32_t c = w * 64 + (uint32_t)__builtin_ctzll(left);

			if (c >= ft->n || component[ft->col_sw[c]] != component[s])
				continue;
			out->unjoined++;
			out->unjoined_hosts += ft->n_hosts[ft->col_sw[c]] > 0;
		}
}

int
fm_dmodk_look(const struct fm_dmodk_routes *ft, const uint32_t *component,
    struct fm_dmodk_paths *out, struct fm_error *err)
{
	uint64_t *met = ft_alloc(ft, ft->words, sizeof(*met)), present = 0;

	*out = (struct fm_dmodk_paths){ 0 };
	if (met == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++) {
		present |= ft->down[s].present | (ft->up[s] != NULL ? ft->up[s]->present : 0);
		if (ft->n_hosts[s] > 0)
			look_from(ft, s, component, met, out);
	}
	out->max_hops = present != 0 ? 63u - (unsigned)__builtin_clzll(present) : 0;
	return 0;
}
