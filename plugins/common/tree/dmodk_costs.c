/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Costs as layers of bits.
 *
 * A switch is at one of very few distances from most others, so its row of
 * the cost matrix is kept as sets of columns, one for each distance that
 * occurs (2 to 5 in a three-tier tree), and a link is worked off 512 columns
 * at a time:
 *
 *	down[s]  hops by down-links alone; ascending in the order:
 *	         min over lower neighbours c of down[c] + 1
 *	up[s]    hops by an up-link first; descending:
 *	         min over upper neighbours p of cost[p] + 1
 *	cost[s]  of the route from s: down[s] where that exists, else up[s].
 *	         Never stored.
 *
 * Routes follow falling costs; who can get down, gets down, so a route never
 * turns up after a down-link.  Switches with the same upper neighbours share
 * up[]: a whole tree of three tiers has one for each pod and each plane.
 * Switches of equal order are independent and done in parallel.
 * O(links * distances * switches / 512).
 */
#include "plugins/common/tree/dmodk_tree.h"

#define SERIAL_BELOW 48	      /* switches: fewer are not worth waking workers for */
#define ROOM_WORDS (1u << 13) /* memory for results is taken in pieces of so many */

/* One switch at a time, by one worker.  Rows are all 0 between switches. */
struct acc {
	uint64_t *rows; /* [FT_MAX_COST + 1][words]; the last one: columns seen so far */
	struct ft_set row[FT_MAX_COST + 1];
	uint64_t present;
	uint64_t *room; /* unused rest of the piece */
	size_t n_room;
};

/* Switches with equal upper neighbours. */
struct parents {
	fm_sw sw; /* one of them */
	uint64_t hash;
	struct ft_layers up;
};

struct reach {
	struct fm_dmodk_routes *ft;
	const fm_sw *level;	 /* switches of this order */
	struct parents *classes; /* [n_classes] descending by order */
	uint32_t n_classes, first_class;
	struct acc **acc; /* [n_workers] */
	unsigned hops;	  /* without an order: the round in hand */
	bool *met;	  /* [n] anything in it */
	uint32_t *n_met;  /* [n] columns up to the last one */
};

/* Words for results, zeroed. */
static void *
take_words(struct reach *r, struct acc *a, unsigned worker, size_t words)
{
	const struct fm_host *host = r->ft->host;
	uint64_t *at;

	words = (words + FT_LINE - 1) / FT_LINE * FT_LINE;
	if (words > a->n_room) {
		size_t n = words > ROOM_WORDS ? words : ROOM_WORDS;

		a->room = host->scratch_worker(host, worker, n * sizeof(*a->room));
		a->n_room = a->room != NULL ? n : 0;
	}
	if (words > a->n_room) {
		atomic_store(&r->ft->no_memory, true);
		return NULL;
	}
	at = a->room;
	a->room += words;
	a->n_room -= words;
	return at;
}

static struct acc *
accumulator(struct reach *r, unsigned worker)
{
	const struct fm_host *host = r->ft->host;
	struct acc *a = r->acc[worker];

	if (a != NULL)
		return a;
	a = host->scratch_worker(host, worker, sizeof(*a));
	if (a == NULL ||
	    (a->rows = host->scratch_worker(
		 host, worker, (FT_MAX_COST + 1) * r->ft->words * sizeof(uint64_t))) == NULL) {
		atomic_store(&r->ft->no_memory, true);
		return NULL;
	}
	for (unsigned k = 0; k <= FT_MAX_COST; k++)
		a->row[k].bits = a->rows + k * r->ft->words;
	return r->acc[worker] = a;
}

static inline void
widen(struct ft_set *row, uint16_t from, uint16_t to)
{
	if (row->to == 0)
		row->from = from;
	row->from = from < row->from ? from : row->from;
	row->to = to > row->to ? to : row->to;
}

/* Layers of a neighbour, one hop farther.  mask: only these columns; without:
 * not these; either may be NULL. */
FM_WIDE static void
add_layers(
    struct acc *a, const struct ft_layers *l, const uint64_t *mask, const struct ft_set *without)
{
	uint64_t left = l->present & ~(UINT64_C(1) << (FT_MAX_COST - 1));

	a->present |= left << 1;
	for (; left != 0; left &= left - 1) {
		const struct ft_set *from = &l->layer[__builtin_ctzll(left)];
		struct ft_set *to = &a->row[__builtin_ctzll(left) + 1];

		widen(to, from->from, from->to);
		for (size_t w = from->from; w < from->to; w += FT_LINE) {
			ft_vec x = *(const ft_vec *)(from->bits + (w - from->from));

			if (mask != NULL)
				x &= *(const ft_vec *)(mask + w);
			if (without != NULL && w >= without->from && w < without->to)
				x &= ~*(const ft_vec *)(without->bits + (w - without->from));
			*(ft_vec *)(to->bits + w) |= x;
		}
	}
}

/* Leave each column in its nearest layer only.  The last row collects them. */
FM_WIDE static void
keep_nearest(struct acc *a)
{
	struct ft_set *seen = &a->row[FT_MAX_COST];

	for (uint64_t left = a->present; left != 0; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctzll(left);
		struct ft_set *row = &a->row[k], used = { row->bits, 0, 0 };

		widen(seen, row->from, row->to);
		for (size_t w = row->from; w < row->to; w += FT_LINE) {
			ft_vec *x = (ft_vec *)(row->bits + w), *y = (ft_vec *)(seen->bits + w);
			ft_vec new = *x & ~*y;
			uint64_t any = 0;

			*x = new;
			*y |= new;
			for (unsigned j = 0; j < FT_LINE; j++)
				any |= new[j];
			if (any != 0)
				widen(&used, (uint16_t)w, (uint16_t)(w + FT_LINE));
		}
		*row = used;
		if (used.to == 0)
			a->present &= ~(UINT64_C(1) << k);
	}
}

static struct ft_set
move_row(struct ft_set *row, uint64_t *to)
{
	size_t n = (size_t)(row->to - row->from);
	struct ft_set out = { to, row->from, row->to };

	memcpy(to, row->bits + row->from, n * sizeof(*to));
	memset(row->bits + row->from, 0, n * sizeof(*to));
	row->from = row->to = 0;
	return out;
}

/* The result from the rows, which become 0; the set of all columns too, if wanted. */
static void
finish(struct reach *r, struct acc *a, unsigned worker, struct ft_layers *out, struct ft_set *all)
{
	struct ft_set *seen = &a->row[FT_MAX_COST];
	unsigned n_layers;
	size_t words = 0;
	uint64_t *at;

	keep_nearest(a);
	if (a->present == 0)
		return;
	n_layers = 64u - (unsigned)__builtin_clzll(a->present);
	for (uint64_t left = a->present; left != 0; left &= left - 1) {
		const struct ft_set *row = &a->row[__builtin_ctzll(left)];

		words += (size_t)(row->to - row->from);
	}
	words += all != NULL ? (size_t)(seen->to - seen->from) : 0;
	at = take_words(r, a, worker, words + n_layers * sizeof(struct ft_set) / sizeof(*at));
	if (at == NULL)
		return;
	out->present = a->present;
	out->layer = (struct ft_set *)(void *)(at + words);
	for (; a->present != 0; a->present &= a->present - 1) {
		unsigned k = (unsigned)__builtin_ctzll(a->present);

		out->layer[k] = move_row(&a->row[k], at);
		at += out->layer[k].to - out->layer[k].from;
	}
	if (all != NULL) {
		*all = move_row(seen, at);
		return;
	}
	memset(seen->bits + seen->from, 0, (size_t)(seen->to - seen->from) * sizeof(*seen->bits));
	seen->from = seen->to = 0;
}

static void
reach_down(void *arg, uint32_t i, unsigned worker)
{
	struct reach *r = arg;
	struct fm_dmodk_routes *ft = r->ft;
	fm_sw s = r->level[i];
	struct acc *a = accumulator(r, worker);
	uint16_t w = (uint16_t)(ft->col_of[s] / 64);

	if (a == NULL)
		return;
	a->present = 1;
	widen(&a->row[0], w / FT_LINE * FT_LINE, (w / FT_LINE + 1) * FT_LINE);
	a->row[0].bits[w] |= UINT64_C(1) << (ft->col_of[s] % 64);
	FT_EACH_GROUP (ft, g, s)
		if (ft->level[g->to] < ft->level[s])
			add_layers(a, &ft->down[g->to],
			    ft_is_restricted(ft, s, g->to) ? ft->aside_cols : NULL, NULL);
	finish(r, a, worker, &ft->down[s], &ft->below[s]);
}

static void
reach_up(void *arg, uint32_t i, unsigned worker)
{
	struct reach *r = arg;
	struct fm_dmodk_routes *ft = r->ft;
	struct parents *c = &r->classes[r->first_class + i];
	struct acc *a = accumulator(r, worker);

	if (a == NULL)
		return;
	FT_EACH_GROUP (ft, g, c->sw) {
		if (ft->level[g->to] <= ft->level[c->sw])
			continue;
		add_layers(a, &ft->down[g->to], NULL, NULL);
		if (ft->up[g->to] != NULL)
			add_layers(a, ft->up[g->to], NULL, &ft->below[g->to]);
	}
	finish(r, a, worker, &c->up, NULL);
}

/* Without an order: what a neighbour met in the last round and s has not met yet. */
FM_WIDE static void
meet(const struct reach *r, fm_sw s, struct ft_set *row)
{
	const struct fm_dmodk_routes *ft = r->ft;
	const ft_vec *below = (const ft_vec *)ft->below[s].bits;

	for (uint16_t w = 0; w < ft->words; w += FT_LINE) {
		ft_vec x = { 0 };
		uint64_t any = 0;

		FT_EACH_GROUP (ft, g, s) {
			const struct ft_set *set = ft_layer(&ft->down[g->to], r->hops - 1);

			if (set != NULL && w >= set->from && w < set->to)
				x |= *(const ft_vec *)(set->bits + (w - set->from));
		}
		x &= ~below[w / FT_LINE];
		for (unsigned j = 0; j < FT_LINE; j++)
			any |= x[j];
		if (any == 0)
			continue;
		*(ft_vec *)(row->bits + w) = x;
		widen(row, w, (uint16_t)(w + FT_LINE));
	}
}

static void
reach_near(void *arg, uint32_t s, unsigned worker)
{
	struct reach *r = arg;
	struct acc *a = accumulator(r, worker);
	struct ft_set *row;
	uint64_t *at;

	r->met[s] = false;
	if (a == NULL || r->n_met[s] == r->ft->n)
		return;
	row = &a->row[r->hops];
	meet(r, s, row);
	if (row->to == 0 || (at = take_words(r, a, worker, (size_t)(row->to - row->from))) == NULL)
		return;
	r->ft->down[s].layer[r->hops] = move_row(row, at);
	r->met[s] = true;
}

static void
run(struct reach *r, uint32_t n, void (*fn)(void *, uint32_t, unsigned))
{
	if (n < SERIAL_BELOW)
		for (uint32_t i = 0; i < n; i++)
			fn(r, i, 0);
	else
		r->ft->host->parallel_for(r->ft->host, n, fn, r);
}

/* All switches ascending by order.  Their levels may be more than there are switches, as tiers
 * are. */
static fm_sw *
sort_by_order(const struct fm_dmodk_routes *ft)
{
	fm_sw *sorted = ft_alloc(ft, ft->n, sizeof(*sorted));
	uint32_t n_levels = 0, *at;

	for (fm_sw s = 0; s < ft->n; s++)
		if (ft->level[s] >= n_levels)
			n_levels = ft->level[s] + 1u;
	at = ft_alloc(ft, (size_t)n_levels + 1, sizeof(*at));
	if (sorted == NULL || at == NULL)
		return NULL;
	for (fm_sw s = 0; s < ft->n; s++)
		at[ft->level[s] + 1]++;
	for (uint32_t o = 0; o < n_levels; o++)
		at[o + 1] += at[o];
	for (fm_sw s = 0; s < ft->n; s++)
		sorted[at[ft->level[s]]++] = s;
	return sorted;
}

/* 0: no upper neighbour. */
static uint64_t
hash_parents(const struct fm_dmodk_routes *ft, fm_sw s)
{
	uint64_t h = 0;

	FT_EACH_GROUP (ft, g, s)
		if (ft->level[g->to] > ft->level[s])
			h = ((h ^ (g->to + 1)) * UINT64_C(0x9e3779b97f4a7c15)) | 1;
	return h;
}

static bool
equal_parents(const struct fm_dmodk_routes *ft, fm_sw a, fm_sw b)
{
	const struct ft_group *x = &ft->groups[ft->first_group[a]];
	const struct ft_group *y = &ft->groups[ft->first_group[b]];
	const struct ft_group *x_end = &ft->groups[ft->first_group[a + 1]];
	const struct ft_group *y_end = &ft->groups[ft->first_group[b + 1]];

	if (ft->level[a] != ft->level[b])
		return false;
	for (;; x++, y++) {
		while (x < x_end && ft->level[x->to] <= ft->level[a])
			x++;
		while (y < y_end && ft->level[y->to] <= ft->level[b])
			y++;
		if (x == x_end || y == y_end)
			return x == x_end && y == y_end;
		if (x->to != y->to)
			return false;
	}
}

/* Classes descending by order; up[s] points into its class. */
static int
find_classes(struct reach *r, const fm_sw *sorted, struct fm_error *err)
{
	struct fm_dmodk_routes *ft = r->ft;
	uint32_t mask = 1;
	uint32_t *slot;

	while (mask < 2 * ft->n)
		mask *= 2;
	slot = ft_alloc(ft, mask, sizeof(*slot)); /* class + 1, by hash */
	r->classes = ft_alloc(ft, ft->n, sizeof(*r->classes));
	if (slot == NULL || r->classes == NULL)
		return ft_out_of_memory(ft, err);
	mask--;
	for (uint32_t i = ft->n; i > 0; i--) {
		fm_sw s = sorted[i - 1];
		uint64_t hash = hash_parents(ft, s);
		uint32_t at = (uint32_t)(hash >> 32) & mask;

		if (hash == 0)
			continue;
		for (; slot[at] != 0; at = (at + 1) & mask)
			if (r->classes[slot[at] - 1].hash == hash &&
			    equal_parents(ft, r->classes[slot[at] - 1].sw, s))
				break;
		if (slot[at] == 0) {
			r->classes[r->n_classes++] = (struct parents){ .sw = s, .hash = hash };
			slot[at] = r->n_classes;
		}
		ft->up[s] = &r->classes[slot[at] - 1].up;
	}
	return 0;
}

static void
run_levels(struct reach *r, const fm_sw *sorted)
{
	const struct fm_dmodk_routes *ft = r->ft;

	for (uint32_t from = 0, to; from < ft->n; from = to) {
		for (to = from; to < ft->n && ft->level[sorted[to]] == ft->level[sorted[from]];)
			to++;
		r->level = sorted + from;
		run(r, to - from, reach_down);
	}
	for (uint32_t from = 0, to; from < r->n_classes; from = to) {
		uint16_t order = ft->level[r->classes[from].sw];

		for (to = from; to < r->n_classes && ft->level[r->classes[to].sw] == order;)
			to++;
		r->first_class = from;
		run(r, to - from, reach_up);
	}
}

/* Every switch met itself. */
static bool
start_shortest(struct reach *r)
{
	struct fm_dmodk_routes *ft = r->ft;

	r->met = ft_alloc(ft, ft->n, sizeof(*r->met));
	r->n_met = ft_alloc(ft, ft->n, sizeof(*r->n_met));
	if (r->met == NULL || r->n_met == NULL)
		return false;
	for (fm_sw s = 0; s < ft->n; s++) {
		uint16_t w = (uint16_t)(ft->col_of[s] / 64);

		ft->below[s].bits = ft_alloc(ft, ft->words + FT_LINE, sizeof(uint64_t));
		ft->below[s].to = (uint16_t)ft->words;
		ft->down[s].layer = ft_alloc(ft, FT_MAX_COST, sizeof(struct ft_set));
		if (ft->below[s].bits == NULL || ft->down[s].layer == NULL)
			return false;
		ft->below[s].bits[w] = UINT64_C(1) << (ft->col_of[s] % 64);
		r->n_met[s] = 1;
		ft->down[s].present = 1;
		ft->down[s].layer[0].bits = ft->below[s].bits + ft->words;
		ft->down[s].layer[0].bits[w % FT_LINE] = ft->below[s].bits[w];
		ft->down[s].layer[0].from = (uint16_t)(w / FT_LINE * FT_LINE);
		ft->down[s].layer[0].to = (uint16_t)(ft->down[s].layer[0].from + FT_LINE);
	}
	return true;
}

/* Breadth first from all columns at once.  All costs are in down[]. */
static int
reach_shortest(struct reach *r, struct fm_error *err)
{
	struct fm_dmodk_routes *ft = r->ft;
	bool any = true;

	if (!start_shortest(r))
		return ft_out_of_memory(ft, err);
	for (r->hops = 1; any && r->hops < FT_MAX_COST && !atomic_load(&ft->no_memory); r->hops++) {
		run(r, ft->n, reach_near);
		any = false;
		for (fm_sw s = 0; s < ft->n && !atomic_load(&ft->no_memory); s++) {
			const struct ft_set *set = &ft->down[s].layer[r->hops];

			if (!r->met[s])
				continue;
			any = true;
			ft->down[s].present |= UINT64_C(1) << r->hops;
			for (uint32_t w = set->from; w < set->to; w++) {
				ft->below[s].bits[w] |= set->bits[w - set->from];
				r->n_met[s] +=
				    (uint32_t)__builtin_popcountll(set->bits[w - set->from]);
			}
		}
	}
	return atomic_load(&ft->no_memory) ? ft_out_of_memory(ft, err) : 0;
}

int
ft_costs(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	struct reach r = { .ft = ft };
	fm_sw *sorted;
	int rc;

	ft->words = ((size_t)ft->n + 64 * FT_LINE - 1) / (64 * FT_LINE) * FT_LINE;
	r.acc = ft_alloc(ft, ft->host->n_workers(ft->host), sizeof(*r.acc));
	sorted = sort_by_order(ft);
	ft->down = ft_alloc(ft, ft->n, sizeof(*ft->down));
	ft->up = ft_alloc(ft, ft->n, sizeof(*ft->up));
	ft->below = ft_alloc(ft, ft->n, sizeof(*ft->below));
	ft->aside_cols = ft_alloc(ft, ft->words, sizeof(*ft->aside_cols));
	if (!r.acc || !sorted || !ft->down || !ft->up || !ft->below || !ft->aside_cols)
		return ft_out_of_memory(ft, err);
	for (fm_sw s = 0; s < ft->n; s++)
		if (ft->aside[s])
			ft->aside_cols[ft->col_of[s] / 64] |= UINT64_C(1) << (ft->col_of[s] % 64);
	if (ft->how->order == NULL)
		return reach_shortest(&r, err);
	if ((rc = find_classes(&r, sorted, err)) < 0)
		return rc;
	run_levels(&r, sorted);
	return atomic_load(&ft->no_memory) ? ft_out_of_memory(ft, err) : 0;
}
