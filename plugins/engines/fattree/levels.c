/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is above whom: plugins/common/paths/order.h on the tiers, its heights.  Cables inside a tier are no ways.
 *
 * Where the fabric has proxies (it is a region of a larger one) the plain
 * tiers are kept: regions are composed along them, and a pair without a legal
 * route is the host's to place elsewhere.  O(links).
 */
#include <stdlib.h>

#include "plugins/common/paths/order.h"
#include "plugins/engines/fattree/fattree.h"

/* Neighbours of other tiers. */
static int
list_arcs(const struct ft *ft, struct fm_arcs *out, struct fm_error *err)
{
	fm_arc *first = ft_alloc(ft, (size_t)ft->n + 1, sizeof(*first)), n = 0;
	fm_sw *to = ft_alloc(ft, ft->first_group[ft->n], sizeof(*to));

	if (first == NULL || to == NULL)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++) {
		first[s] = n;
		FT_EACH_GROUP (ft, g, s)
			if (ft->rank[g->to] != ft->rank[s])
				to[n++] = g->to;
	}
	first[ft->n] = n;
	*out = (struct fm_arcs){ .n_switches = ft->n, .n_arcs = n, .first = first, .to = to };
	return 0;
}

static int
by_height(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Heights in as few numbers as they take. */
static int
number_levels(struct ft *ft, const int64_t *height, struct fm_error *err)
{
	int64_t *sorted = ft_alloc(ft, ft->n, sizeof(*sorted));
	uint32_t n = 0;

	ft->order = ft_alloc(ft, ft->n, sizeof(*ft->order));
	if (sorted == NULL || ft->order == NULL)
		return ft_out_of_memory(ft, err);
	memcpy(sorted, height, ft->n * sizeof(*sorted));
	qsort(sorted, ft->n, sizeof(*sorted), by_height);
	for (uint32_t i = 0; i < ft->n; i++)
		if (i == 0 || sorted[i] != sorted[n - 1])
			sorted[n++] = sorted[i];
	for (fm_sw s = 0; s < ft->n; s++) {
		const int64_t *at = bsearch(&height[s], sorted, n, sizeof(*sorted), by_height);

		ft->order[s] = (uint16_t)(at - sorted);
	}
	return 0;
}

int
ft_levels(struct ft *ft, struct fm_error *err)
{
	uint32_t *rank = ft_alloc(ft, ft->n, sizeof(*rank));
	struct fm_levels levels = { .level = rank, .turn = !fm_has_proxies(ft->fab) };
	struct fm_order order;
	struct fm_arcs arcs;
	int rc = list_arcs(ft, &arcs, err);

	if (rc < 0 || rank == NULL)
		return rc < 0 ? rc : ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++)
		rank[s] = ft->rank[s];
	if ((rc = fm_order_build(ft->host, &arcs, &levels, &order, err)) != 0)
		return rc;
	ft->demoted = order.demoted;
	ft->aside = order.aside;
	return number_levels(ft, order.height, err);
}
