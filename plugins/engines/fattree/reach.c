/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Costs as layers of bits.
 *
 * A switch is at one of very few distances from most others, so its row of
 * the cost matrix is kept as sets of columns, one for each distance that
 * occurs (2 to 5 in a three-tier tree), and a link is worked off 64 columns
 * at a time:
 *
 *	down[s]  hops by down-links alone; ascending in the order:
 *	         min over lower neighbours c of down[c] + 1
 *	cost[s]  of the route from s: down[s] where that exists, else (descending)
 *	         min over upper neighbours p of cost[p] + 1
 *
 * Routes follow falling costs; who can get down, gets down, so a route never
 * turns up after a down-link.  Switches of equal order are independent and
 * done in parallel.  O(links * distances * switches / 64).
 */
#include "plugins/engines/fattree/fattree.h"

typedef uint64_t vec __attribute__((vector_size(64), aligned(8), may_alias));

struct reach {
	struct ft *ft;
	const fm_sw *level; /* switches of this order */
	uint64_t **acc;	    /* [n_workers] [FT_MAX_COST + 1][words], all 0 between switches */
};

/* Ranges are widened to whole vectors: words is a multiple of 8. */
static inline void
or_into(uint64_t *to, const uint64_t *from, struct ft_range range)
{
	for (size_t w = range.from & ~7u; w < range.to; w += 8)
		*(vec *)(to + w) |= *(const vec *)(from + w);
}

/* row &= ~seen; seen |= row.  Where row is not 0. */
static inline struct ft_range
take_new(uint64_t *row, uint64_t *seen, size_t words)
{
	struct ft_range range = { 0, 0 };

	for (size_t w = 0; w < words; w++) {
		row[w] &= ~seen[w];
		seen[w] |= row[w];
		if (row[w] == 0)
			continue;
		if (range.to == 0)
			range.from = (uint16_t)w;
		range.to = (uint16_t)(w + 1);
	}
	return range;
}

static uint64_t *
accumulator(struct reach *r, unsigned worker)
{
	const struct fm_host *host = r->ft->host;

	if (r->acc[worker] == NULL)
		r->acc[worker] = host->scratch_worker(
		    host, worker, (FT_MAX_COST + 1) * r->ft->words * sizeof(uint64_t));
	if (r->acc[worker] == NULL)
		atomic_store(&r->ft->no_memory, true);
	return r->acc[worker];
}

/* Layers of a neighbour, one hop farther, into acc. */
static uint64_t
add_layers(const struct ft *ft, uint64_t *acc, const struct ft_layers *l)
{
	uint64_t left = l->present & ~(UINT64_C(1) << (FT_MAX_COST - 1));

	for (unsigned i = 0; left != 0; left &= left - 1, i++)
		or_into(acc + ((size_t)__builtin_ctzll(left) + 1) * ft->words,
		    l->bits + i * ft->words, l->range[i]);
	return (l->present & ~(UINT64_C(1) << (FT_MAX_COST - 1))) << 1;
}

static uint64_t
add_demoted(const struct ft *ft, uint64_t *acc, const struct ft_layers *l)
{
	for (unsigned k = 0; k + 1 < FT_MAX_COST; k++) {
		const uint64_t *row = ft_layer(ft, l, k);

		for (size_t w = 0; row != NULL && w < ft->words; w++)
			acc[(k + 1) * ft->words + w] |= row[w] & ft->demoted_cols[w];
	}
	return (l->present & ~(UINT64_C(1) << (FT_MAX_COST - 1))) << 1;
}

/* Each column in its nearest layer only; keep what is not empty; acc to 0. */
static void
finish(struct ft *ft, uint64_t *acc, uint64_t present, unsigned worker, struct ft_layers *out,
    uint64_t *seen)
{
	struct ft_range range[FT_MAX_COST];
	size_t words = ft->words, n = 0;
	char *block;

	for (uint64_t left = present; left != 0; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctzll(left);

		range[n] = take_new(acc + k * words, seen, words);
		if (range[n].to == 0)
			continue;
		out->present |= UINT64_C(1) << k;
		out->index[k] = (uint8_t)n++;
	}
	block = ft->host->scratch_worker(
	    ft->host, worker, n * (words * sizeof(uint64_t) + sizeof(*range)) + 64);
	if (block == NULL) {
		atomic_store(&ft->no_memory, true);
		out->present = 0;
	}
	out->bits = (uint64_t *)(void *)block;
	out->range = (struct ft_range *)(void *)(out->bits + n * words);
	for (uint64_t left = present; left != 0; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctzll(left);

		if ((out->present >> k) & 1) {
			memcpy(out->bits + out->index[k] * words, acc + k * words,
			    words * sizeof(*acc));
			out->range[out->index[k]] = range[out->index[k]];
		}
		memset(acc + k * words, 0, words * sizeof(*acc));
	}
}

static void
reach_down(void *arg, uint32_t i, unsigned worker)
{
	struct reach *r = arg;
	struct ft *ft = r->ft;
	fm_sw s = r->level[i];
	uint64_t *acc = accumulator(r, worker), present = 1;

	if (acc == NULL)
		return;
	acc[ft->col_of[s] / 64] |= UINT64_C(1) << (ft->col_of[s] % 64);
	FT_EACH_GROUP (ft, g, s) {
		if (ft->order[g->to] >= ft->order[s])
			continue;
		if (ft_is_restricted(ft, s, g->to))
			present |= add_demoted(ft, acc, &ft->down[g->to]);
		else
			present |= add_layers(ft, acc, &ft->down[g->to]);
	}
	finish(ft, acc, present, worker, &ft->down[s], ft->below[s]);
}

static void
reach_up(void *arg, uint32_t i, unsigned worker)
{
	struct reach *r = arg;
	struct ft *ft = r->ft;
	fm_sw s = r->level[i];
	uint64_t *acc = accumulator(r, worker), present = 0, *seen;
	const struct ft_layers *down = &ft->down[s];
	unsigned n = 0;

	if (acc == NULL)
		return;
	FT_EACH_GROUP (ft, g, s)
		if (ft->order[g->to] > ft->order[s])
			present |= add_layers(ft, acc, &ft->cost[g->to]);
	for (uint64_t left = present; left != 0; left &= left - 1) {
		uint64_t *a = acc + (size_t)__builtin_ctzll(left) * ft->words;

		for (size_t w = 0; w < ft->words; w++)
			a[w] &= ~ft->below[s][w];
	}
	for (uint64_t left = down->present; left != 0; left &= left - 1, n++)
		or_into(acc + (size_t)__builtin_ctzll(left) * ft->words, down->bits + n * ft->words,
		    down->range[n]);
	seen = acc + FT_MAX_COST * ft->words;
	finish(ft, acc, present | down->present, worker, &ft->cost[s], seen);
	memset(seen, 0, ft->words * sizeof(*seen));
}

static void
run_level(struct reach *r, const fm_sw *level, uint32_t n, void (*fn)(void *, uint32_t, unsigned))
{
	r->level = level;
	if (n < 16)
		for (uint32_t i = 0; i < n; i++)
			fn(r, i, 0);
	else
		r->ft->host->parallel_for(r->ft->host, n, fn, r);
}

/* All switches ascending by order. */
static fm_sw *
sort_by_order(const struct ft *ft)
{
	fm_sw *sorted = ft_alloc(ft, ft->n, sizeof(*sorted));
	uint32_t *at =
	    ft_alloc(ft, 2u * FT_ORDER_STEP * ft->max_rank + FT_ORDER_STEP + 2u, sizeof(*at));

	if (sorted == NULL || at == NULL)
		return NULL;
	for (fm_sw s = 0; s < ft->n; s++)
		at[ft->order[s] + 1]++;
	for (uint32_t o = 0; o < 2u * FT_ORDER_STEP * ft->max_rank + FT_ORDER_STEP + 1u; o++)
		at[o + 1] += at[o];
	for (fm_sw s = 0; s < ft->n; s++)
		sorted[at[ft->order[s]]++] = s;
	return sorted;
}

static void
run_levels(struct reach *r, const fm_sw *sorted)
{
	const struct ft *ft = r->ft;

	for (uint32_t from = 0, to; from < ft->n; from = to) {
		for (to = from; to < ft->n && ft->order[sorted[to]] == ft->order[sorted[from]];)
			to++;
		run_level(r, sorted + from, to - from, reach_down);
	}
	for (uint32_t to = ft->n, from; to > 0; to = from) {
		for (from = to;
		     from > 0 && ft->order[sorted[from - 1]] == ft->order[sorted[to - 1]];)
			from--;
		run_level(r, sorted + from, to - from, reach_up);
	}
}

int
ft_reach(struct ft *ft, struct fm_error *err)
{
	struct reach r = { .ft = ft };
	uint64_t *below;
	fm_sw *sorted;

	ft->words = ((size_t)ft->n + 511) / 512 * 8;
	r.acc = ft_alloc(ft, ft->host->n_workers(ft->host), sizeof(*r.acc));
	sorted = sort_by_order(ft);
	ft->down = ft_alloc(ft, ft->n, sizeof(*ft->down));
	ft->cost = ft_alloc(ft, ft->n, sizeof(*ft->cost));
	ft->below = ft_alloc(ft, ft->n, sizeof(*ft->below));
	below = ft_alloc(ft, (size_t)ft->n * ft->words, sizeof(*below));
	ft->demoted_cols = ft_alloc(ft, ft->words, sizeof(*ft->demoted_cols));
	if (!r.acc || !sorted || !ft->down || !ft->cost || !ft->below || !below ||
	    !ft->demoted_cols)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++) {
		ft->below[s] = below + s * ft->words;
		if (ft->demoted[s])
			ft->demoted_cols[ft->col_of[s] / 64] |= UINT64_C(1) << (ft->col_of[s] % 64);
	}
	run_levels(&r, sorted);
	return atomic_load(&ft->no_memory) ? ft_out_of_memory(ft, err) : 0;
}
