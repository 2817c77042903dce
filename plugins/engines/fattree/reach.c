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

static inline void
or_into(uint64_t *to, const uint64_t *from, size_t words)
{
	for (size_t w = 0; w < words; w += 8)
		*(vec *)(to + w) |= *(const vec *)(from + w);
}

/* to |= from & ~seen; seen |= from. */
static inline bool
take_new(uint64_t *row, uint64_t *seen, size_t words)
{
	uint64_t any = 0;

	for (size_t w = 0; w < words; w++) {
		row[w] &= ~seen[w];
		seen[w] |= row[w];
		any |= row[w];
	}
	return any != 0;
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
	const uint64_t *row = l->bits;
	uint64_t left = l->present & ~(UINT64_C(1) << (FT_MAX_COST - 1));

	for (; left != 0; left &= left - 1, row += ft->words)
		or_into(acc + ((size_t)__builtin_ctzll(left) + 1) * ft->words, row, ft->words);
	return (l->present & ~(UINT64_C(1) << (FT_MAX_COST - 1))) << 1;
}

/* Each column in its nearest layer only; keep what is not empty; acc to 0. */
static void
finish(struct ft *ft, uint64_t *acc, uint64_t present, unsigned worker, struct ft_layers *out,
    uint64_t *seen)
{
	uint64_t kept = 0;
	size_t words = ft->words;
	uint64_t *bits;

	for (uint64_t left = present; left != 0; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctzll(left);

		if (take_new(acc + k * words, seen, words))
			kept |= UINT64_C(1) << k;
	}
	bits = ft->host->scratch_worker(
	    ft->host, worker, (size_t)__builtin_popcountll(kept) * words * sizeof(*bits) + 64);
	if (bits == NULL) {
		atomic_store(&ft->no_memory, true);
		kept = 0;
	}
	out->present = kept;
	out->bits = bits;
	for (uint64_t left = present; left != 0; left &= left - 1) {
		uint64_t *row = acc + (size_t)__builtin_ctzll(left) * words;

		if ((kept >> __builtin_ctzll(left)) & 1) {
			memcpy(bits, row, words * sizeof(*bits));
			bits += words;
		}
		memset(row, 0, words * sizeof(*row));
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
	FT_EACH_GROUP(ft, g, s)
	{
		if (ft->order[g->to] >= ft->order[s])
			continue;
		if (ft->demoted[g->to] && ft->rank[g->to] > ft->rank[s]) {
			uint32_t c = ft->col_of[g->to];

			acc[ft->words + c / 64] |= UINT64_C(1) << (c % 64);
			present |= 2;
		} else {
			present |= add_layers(ft, acc, &ft->down[g->to]);
		}
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
	const uint64_t *row = ft->down[s].bits;

	if (acc == NULL)
		return;
	FT_EACH_GROUP(ft, g, s)
	if (ft->order[g->to] > ft->order[s])
		present |= add_layers(ft, acc, &ft->cost[g->to]);
	for (uint64_t left = present; left != 0; left &= left - 1) {
		uint64_t *a = acc + (size_t)__builtin_ctzll(left) * ft->words;

		for (size_t w = 0; w < ft->words; w++)
			a[w] &= ~ft->below[s][w];
	}
	for (uint64_t left = ft->down[s].present; left != 0; left &= left - 1, row += ft->words)
		or_into(acc + (size_t)__builtin_ctzll(left) * ft->words, row, ft->words);
	seen = acc + FT_MAX_COST * ft->words;
	finish(ft, acc, present | ft->down[s].present, worker, &ft->cost[s], seen);
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
	uint32_t *at = ft_alloc(ft, 8u * ft->max_rank + 16u, sizeof(*at));

	if (sorted == NULL || at == NULL)
		return NULL;
	for (fm_sw s = 0; s < ft->n; s++)
		at[ft->order[s] + 1]++;
	for (uint32_t o = 0; o < 8u * ft->max_rank + 15u; o++)
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
	if (!r.acc || !sorted || !ft->down || !ft->cost || !ft->below || !below)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++)
		ft->below[s] = below + s * ft->words;
	run_levels(&r, sorted);
	return atomic_load(&ft->no_memory) ? ft_out_of_memory(ft, err) : 0;
}
