/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adaptive routing: every neighbour on a route of least cost is an alternative.
 *
 * The rule is that of the tables (reach.c): who can get down to a column gets
 * down, the others go up, always to where the cost is one less.  So the routes
 * over all alternatives together still never turn up after a down-link.
 * O(links * distances * columns / 64 + what is written).
 */
#include "plugins/common/paths/alternatives.h"
#include "plugins/common/tree/dmodk_tree.h"

/* Word w of a set that need not have it, or be there. */
static inline uint64_t
word_at(const struct ft_set *set, size_t w)
{
	return set != NULL && w >= set->from && w < set->to ? set->bits[w - set->from] : 0;
}

/* Columns of word w that s reaches over `to` at least cost, k hops from there. */
static uint64_t
common_word(const struct fm_dmodk_routes *ft, fm_sw s, fm_sw to, unsigned k, size_t w)
{
	uint64_t x = word_at(ft_layer(&ft->down[to], k), w), below = word_at(&ft->below[s], w);

	if (!ft_is_up(ft, s, to)) {
		if (ft_is_restricted(ft, s, to))
			x &= ft->aside_cols[w];
		return x & word_at(ft_layer(&ft->down[s], k + 1), w);
	}
	x |= word_at(ft_layer(ft->up[to], k), w) & ~word_at(&ft->below[to], w);
	return x & word_at(ft_layer(ft->up[s], k + 1), w) & ~below;
}

/* Distances, as bits, at which columns are k hops from `to` and k + 1 from s. */
static uint64_t
common_layers(const struct fm_dmodk_routes *ft, fm_sw s, fm_sw to)
{
	uint64_t there = ft->down[to].present, here = ft->down[s].present;

	if (ft->level[to] == ft->level[s] || ft->rank[to] == ft->rank[s])
		return 0;
	if (ft_is_up(ft, s, to)) {
		there |= ft->up[to] != NULL ? ft->up[to]->present : 0;
		here = ft->up[s] != NULL ? ft->up[s]->present : 0;
	}
	return there & here >> 1;
}

static void
add_group(
    const struct fm_dmodk_routes *ft, fm_sw s, const struct ft_group *g, struct fm_ports *towards)
{
	struct fm_ports ports = { { 0 } };

	for (fm_link l = g->first; l < g->first + g->n; l++)
		fm_ports_add(&ports, ft->fab->link_port[l]);
	for (uint64_t left = common_layers(ft, s, g->to); left != 0; left &= left - 1)
		for (size_t w = 0; w < ft->words; w++) {
			unsigned k = (unsigned)__builtin_ctzll(left);

			for (uint64_t x = common_word(ft, s, g->to, k, w); x != 0; x &= x - 1) {
				fm_sw to = ft->col_sw[w * 64 + (unsigned)__builtin_ctzll(x)];

				for (unsigned i = 0; i < 4; i++)
					towards[to].set[i] |= ports.set[i];
			}
		}
}

static void
find_ports(const void *arg, fm_sw s, unsigned worker, struct fm_ports *towards)
{
	const struct fm_dmodk_routes *ft = arg;

	FT_EACH_GROUP (ft, g, s)
		add_group(ft, s, g, towards);
}

int
fm_dmodk_alternatives(const struct fm_dmodk_routes *ft, struct fm_tables *out, struct fm_error *err)
{
	return fm_alternatives_write(ft->host, ft->fab, find_ports, ft, NULL, out, err);
}
