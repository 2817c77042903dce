/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building: every (source switch, LID) is followed until a packet of the same
 * VL has gone on from there before; all workers set bits of the same rows.
 * Then the rows are turned round, and Kahn's algorithm gives the first order.
 *
 * Inserting an edge that disagrees with the order searches forward from its
 * head and backward from its tail within the positions between them, and deals
 * the positions found out anew: first to those that reach the tail.
 */
#include "core/route/depend.h"

#include <stdlib.h>
#include <string.h>

#include "core/route/snapshot.h"
#include "lib/bitset.h"

#define N_SLS 16u

bool
depend_applies(const struct fm_tables *t)
{
	return t->sl2vl_shape != FM_SL2VL_BY_OUT && t->ar_max_groups == 0;
}

void
depend_free(struct depend *g)
{
	if (g == NULL)
		return;
	free(g->first);
	free(g->back);
	free(g->at);
	free(g->to);
	free(g->next);
	free(g->prev);
	free(g->ord);
	free(g->list);
	free(g->mark);
	fm_vec_fini(&g->added);
	free(g);
}

/* --------------------------------------------------------- the channels */

static bool
alloc_rows(struct depend *g, uint32_t most_ports)
{
	size_t n = (size_t)g->n_channels * g->n_vls + 1;

	g->words = (uint32_t)FM_BITSET_WORDS((most_ports + 1u) * g->n_vls);
	g->back = malloc((g->n_channels + 1) * sizeof(*g->back));
	g->at = malloc((g->n_channels + 1) * sizeof(*g->at));
	g->to = malloc((g->n_channels + 1) * sizeof(*g->to));
	g->next = calloc(n * g->words, sizeof(*g->next));
	g->prev = calloc(n * g->words, sizeof(*g->prev));
	g->ord = malloc(n * sizeof(*g->ord));
	g->list = malloc(2 * n * sizeof(*g->list));
	g->mark = calloc(n, 1);
	return g->back != NULL && g->at != NULL && g->to != NULL && g->next != NULL &&
	    g->prev != NULL && g->ord != NULL && g->list != NULL && g->mark != NULL;
}

static bool
number_channels(struct depend *g, const struct fm_fabric *graph)
{
	uint32_t most_ports = 0;

	g->first = malloc((g->n_switches + 1) * sizeof(*g->first));
	if (g->first == NULL)
		return false;
	for (fm_sw sw = 0; sw < g->n_switches; sw++) {
		uint32_t n_ports = graph->sw_n_ports[sw];

		g->first[sw] = g->n_channels;
		g->n_channels += n_ports + 1;
		most_ports = n_ports > most_ports ? n_ports : most_ports;
	}
	g->first[g->n_switches] = g->n_channels;
	if (!alloc_rows(g, most_ports))
		return false;
	memset(g->back, 0xff, g->n_channels * sizeof(*g->back));
	memset(g->to, 0xff, g->n_channels * sizeof(*g->to));
	for (fm_sw sw = 0; sw < g->n_switches; sw++) {
		for (uint32_t c = g->first[sw]; c < g->first[sw + 1]; c++)
			g->at[c] = sw;
		for (fm_link l = graph->sw_first_link[sw]; l < graph->sw_first_link[sw + 1]; l++) {
			uint32_t c = g->first[sw] + graph->link_port[l];

			g->to[c] = graph->link_to[l];
			g->back[c] = g->first[g->to[c]] + graph->link_port[graph->link_rev[l]];
		}
	}
	return true;
}

/* ------------------------------------------------------- following packets */

static uint16_t
vl_bit(const struct depend *g, uint8_t sl)
{
	return (uint16_t)(1u << (sl % g->n_vls));
}

/* What comes back from sw to requests of `to`, and 0 in *sends when nobody there sends. */
static uint16_t
reply_vls(const struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t, fm_sw sw,
    fm_sw to, uint16_t *sends)
{
	bool replies = t->sl_shape != FM_SL_ZERO && g->sl_model == VERIFY_BOTH;
	const uint8_t *row = replies ? t->sl[t->sl_shape == FM_SL_BY_DLID ? 0 : to] : NULL;
	uint16_t vls = 0;

	*sends = 0;
	for (fm_end e = ends->sw_first_end[sw]; e < ends->sw_first_end[sw + 1]; e++) {
		if (ends->end_kind[e] == FM_END_SWITCH)
			continue;
		*sends = UINT16_MAX;
		for (uint32_t i = 0; replies && ends->end_lid[e] != 0 && i < 1u << ends->end_lmc[e];
		     i++)
			vls |= vl_bit(g, row[ends->end_lid[e] + i]);
	}
	return vls;
}

uint16_t
depend_own_vls(const struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    fm_sw sw, uint16_t lid, fm_sw to)
{
	uint16_t sends, replies = reply_vls(g, ends, t, sw, to, &sends);

	return replies | (vl_bit(g, tables_sl(t, sw, lid)) & sends);
}

struct follow {
	struct depend *g;
	const struct fm_fabric *ends;
	const struct fm_tables *t;
	const uint64_t *lost;
	uint16_t *seen; /* [n_workers][n_switches] VLs that have gone on from here to this LID */
	/* [n_workers][n_switches], of what starts here for this switch: VLs of
	 * replies; all ones where somebody sends */
	uint16_t *replies, *sends;
};

static void
set_next(struct depend *g, uint32_t in, uint32_t out, unsigned vl)
{
	uint32_t bit = (out - g->first[g->at[out]]) * g->n_vls + vl;
	uint64_t *word = g->next + ((size_t)in * g->n_vls + vl) * g->words + bit / 64;
	uint64_t mask = (uint64_t)1 << (bit % 64);

	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & mask))
		__atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
}

/* From sw to lid: note each step, as long as it is news. */
static void
follow_one(const struct follow *f, uint16_t *seen, fm_sw sw, uint32_t lid, unsigned vl)
{
	struct depend *g = f->g;
	uint32_t in = FM_NONE, out;

	for (;;) {
		out = depend_channel(g, sw, f->t->lft[sw][lid]);
		if (out == FM_NONE || g->back[out] == FM_NONE)
			return;
		if (in != FM_NONE)
			set_next(g, in, out, vl);
		if (f->lost != NULL && fm_bit_test(f->lost, out))
			return;
		if (seen[sw] >> vl & 1)
			return;
		seen[sw] |= (uint16_t)(1u << vl);
		in = out;
		sw = g->to[out];
	}
}

static void
follow_vls(const struct follow *f, uint16_t *seen, fm_sw sw, uint32_t lid, uint16_t vls)
{
	for (unsigned vl = 0; vls >> vl != 0; vl++)
		if (vls >> vl & 1)
			follow_one(f, seen, sw, lid, vl);
}

/* Everything to the LIDs on switch `to`. */
static void
follow_all(void *arg, uint32_t to, unsigned worker)
{
	const struct follow *f = arg;
	const struct fm_fabric *ends = f->ends;
	uint32_t n = f->g->n_switches;
	size_t at = (size_t)worker * n;
	uint16_t *seen = f->seen + at, *replies = f->replies + at, *sends = f->sends + at;

	for (fm_sw sw = 0; sw < n && ends->sw_first_end[to] < ends->sw_first_end[to + 1]; sw++)
		replies[sw] = reply_vls(f->g, ends, f->t, sw, to, &sends[sw]);
	for (fm_end e = ends->sw_first_end[to]; e < ends->sw_first_end[to + 1]; e++)
		for (uint32_t i = 0; ends->end_lid[e] != 0 && i < 1u << ends->end_lmc[e]; i++) {
			uint32_t lid = ends->end_lid[e] + i;

			memset(seen, 0, n * sizeof(*seen));
			for (fm_sw sw = 0; sw < n; sw++)
				if (sw != to && sends[sw] != 0)
					follow_vls(f, seen, sw, lid,
					    replies[sw] |
						vl_bit(f->g, tables_sl(f->t, sw, (uint16_t)lid)));
		}
}

static bool
follow_tables(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers)
{
	size_t n = (size_t)fm_pool_size(workers) * g->n_switches + 1;
	struct follow f = { .g = g,
		.ends = ends,
		.t = t,
		.lost = lost,
		.seen = malloc(n * sizeof(*f.seen)),
		.replies = malloc(n * sizeof(*f.replies)),
		.sends = malloc(n * sizeof(*f.sends)) };
	bool ok = f.seen != NULL && f.replies != NULL && f.sends != NULL;

	if (ok)
		fm_pool_for(workers, g->n_switches, follow_all, &f);
	free(f.seen);
	free(f.replies);
	free(f.sends);
	return ok;
}

/* ------------------------------------------------------------- the order */

static uint32_t
channel_of(const struct depend *g, uint32_t vertex)
{
	return vertex / g->n_vls;
}

/* The vertex that bit `bit` of the next row of v stands for. */
static uint32_t
next_vertex(const struct depend *g, uint32_t v, size_t bit)
{
	return g->first[g->to[channel_of(g, v)]] * g->n_vls + (uint32_t)bit;
}

/* Likewise of its prev row. */
static uint32_t
prev_vertex(const struct depend *g, uint32_t v, size_t bit)
{
	uint32_t in = g->first[g->at[channel_of(g, v)]] + (uint32_t)bit / g->n_vls;

	return g->back[in] * g->n_vls + (uint32_t)bit % g->n_vls;
}

static uint64_t *
row_of(uint64_t *rows, const struct depend *g, uint32_t v)
{
	return rows + (size_t)v * g->words;
}

/* The bit of v in the prev rows of the switch after. */
static uint32_t
bit_in_prev(const struct depend *g, uint32_t v)
{
	uint32_t back = g->back[channel_of(g, v)];

	return (back - g->first[g->at[back]]) * g->n_vls + v % g->n_vls;
}

static void
turn_rows(struct depend *g)
{
	uint32_t n = g->n_channels * g->n_vls;

	for (uint32_t v = 0; v < n; v++)
		if (g->back[channel_of(g, v)] != FM_NONE)
			FM_EACH_BIT (bit, row_of(g->next, g, v), (size_t)g->words * 64)
				fm_bit_set(
				    row_of(g->prev, g, next_vertex(g, v, bit)), bit_in_prev(g, v));
}

/* Kahn; what is left over lies on or behind a cycle. */
static void
find_order(struct depend *g)
{
	uint32_t n = g->n_channels * g->n_vls, n_ready = 0, done = 0;
	uint32_t *ready = g->list, *degree = g->list + n;

	for (uint32_t v = 0; v < n; v++) {
		degree[v] = (uint32_t)fm_bit_count(row_of(g->prev, g, v), (size_t)g->words * 64);
		if (degree[v] == 0)
			ready[n_ready++] = v;
	}
	for (; done < n_ready; done++) {
		uint32_t v = ready[done];

		g->ord[v] = done;
		if (g->back[channel_of(g, v)] == FM_NONE)
			continue;
		FM_EACH_BIT (bit, row_of(g->next, g, v), (size_t)g->words * 64)
			if (--degree[next_vertex(g, v, bit)] == 0)
				ready[n_ready++] = next_vertex(g, v, bit);
	}
	g->cyclic = done < n;
}

static void
clear_rows(struct depend *g)
{
	size_t n = (size_t)g->n_channels * g->n_vls * g->words;

	memset(g->next, 0, n * sizeof(*g->next));
	memset(g->prev, 0, n * sizeof(*g->prev));
}

static uint32_t
count_vls(const struct fm_tables *t)
{
	if ((t->sl_shape == FM_SL_ZERO && !depend_by_ports(t)) || t->n_vls_used < 1)
		return 1;
	return t->n_vls_used > N_SLS ? N_SLS : t->n_vls_used;
}

struct depend *
depend_build(const struct fm_fabric *graph, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, enum verify_sl_model sl_model, struct fm_pool *workers)
{
	struct depend *g = calloc(1, sizeof(*g));
	bool by_ports = depend_by_ports(t);

	if (g == NULL)
		return NULL;
	g->n_switches = graph->n_switches;
	g->sl_model = sl_model;
	g->n_vls = count_vls(t);
	if (!number_channels(g, graph))
		goto failed;
	if (!by_ports && depend_sweep_applies(g)) {
		if (!depend_sweep(g, ends, t, lost, workers))
			goto failed;
		turn_rows(g);
		find_order(g);
		if (!g->cyclic)
			return g;
		clear_rows(g); /* it was too much, perhaps */
	}
	if (by_ports ? !depend_follow_ports(g, ends, t, lost, workers)
		     : !follow_tables(g, ends, t, lost, workers))
		goto failed;
	turn_rows(g);
	find_order(g);
	return g;
failed:
	depend_free(g);
	return NULL;
}

/* Turns of channel c, in one VL, by levels of switches: up and on, or down and on down. */
static void
add_level_turns(struct depend *g, uint32_t c, const uint32_t *level)
{
	fm_sw at = g->at[c], to = g->to[c];

	for (uint32_t out = g->first[to] + 1; out < g->first[to + 1]; out++)
		if (g->to[out] != FM_NONE && out != g->back[c] && level[g->to[out]] != level[to] &&
		    (level[to] > level[at] || level[g->to[out]] < level[to]))
			fm_bit_set(row_of(g->next, g, c), out - g->first[to]);
}

static void
order_again(struct depend *g)
{
	memset(g->prev, 0, (size_t)g->n_channels * g->words * sizeof(*g->prev));
	turn_rows(g);
	find_order(g);
}

bool
depend_allow_levels(struct depend *g, const struct fm_fabric *graph)
{
	size_t n_bytes = (size_t)g->n_channels * g->words * sizeof(*g->next);
	uint32_t *level = malloc((g->n_switches + 1) * sizeof(*level));
	fm_sw *queue = malloc((g->n_switches + 1) * sizeof(*queue));
	uint64_t *was = malloc(n_bytes + 1);
	bool ok = level != NULL && queue != NULL && was != NULL;

	if (ok && g->n_vls == 1 && !g->cyclic) {
		memcpy(was, g->next, n_bytes);
		snapshot_find_levels(graph, level, queue);
		for (uint32_t c = 0; c < g->n_channels; c++)
			if (g->to[c] != FM_NONE && level[g->to[c]] != level[g->at[c]])
				add_level_turns(g, c, level);
		order_again(g);
		if (g->cyclic) {
			memcpy(g->next, was, n_bytes);
			order_again(g);
		}
	}
	free(level);
	free(queue);
	free(was);
	return ok;
}

/* -------------------------------------------------------------- inserting */

static bool
visit(struct depend *g, uint32_t *list, uint32_t *n, uint32_t v)
{
	if (g->mark[v])
		return false;
	g->mark[v] = 1;
	list[(*n)++] = v;
	return true;
}

/* What `from` reaches at positions up to limit, into list; false when target is among it. */
static bool
search_forward(struct depend *g, uint32_t from, uint32_t target, uint32_t *list, uint32_t *n)
{
	uint32_t limit = g->ord[target];

	visit(g, list, n, from);
	for (uint32_t i = 0; i < *n; i++)
		FM_EACH_BIT (bit, row_of(g->next, g, list[i]), (size_t)g->words * 64) {
			uint32_t to = next_vertex(g, list[i], bit);

			if (to == target)
				return false;
			if (g->ord[to] < limit)
				visit(g, list, n, to);
		}
	return true;
}

/* What reaches `to` from positions down to limit. */
static void
search_backward(struct depend *g, uint32_t to, uint32_t limit, uint32_t *list, uint32_t *n)
{
	visit(g, list, n, to);
	for (uint32_t i = 0; i < *n; i++)
		FM_EACH_BIT (bit, row_of(g->prev, g, list[i]), (size_t)g->words * 64) {
			uint32_t from = prev_vertex(g, list[i], bit);

			if (g->ord[from] > limit)
				visit(g, list, n, from);
		}
}

static int
by_ord(const void *a, const void *b, void *arg)
{
	const struct depend *g = arg;
	uint32_t x = g->ord[*(const uint32_t *)a], y = g->ord[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

static int
by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The positions of both sets dealt out anew, those that come first to the
 * backward set.  list: n of the one, then m of the other. */
static void
reorder(struct depend *g, uint32_t *list, uint32_t n, uint32_t m)
{
	uint32_t *position = list + n + m;

	qsort_r(list, n, sizeof(*list), by_ord, g);
	qsort_r(list + n, m, sizeof(*list), by_ord, g);
	for (uint32_t i = 0; i < n + m; i++)
		position[i] = g->ord[list[i]];
	qsort(position, n + m, sizeof(*position), by_value);
	for (uint32_t i = 0; i < n + m; i++)
		g->ord[list[i]] = position[i];
}

/* Make room in the order for from -> to; false when that would close a cycle. */
static bool
make_room(struct depend *g, uint32_t from, uint32_t to)
{
	uint32_t n_forward = 0, n_backward = 0, *list = g->list;
	bool ok;

	if (g->cyclic || g->ord[from] < g->ord[to])
		return true;
	ok = from != to && search_forward(g, to, from, list, &n_forward);
	for (uint32_t i = 0; i < n_forward; i++)
		g->mark[list[i]] = 0;
	if (!ok)
		return false;
	/* the two sets are disjoint, or there were a cycle; the backward one goes first */
	memmove(list + g->n_channels * g->n_vls, list, n_forward * sizeof(*list));
	search_backward(g, from, g->ord[to], list, &n_backward);
	for (uint32_t i = 0; i < n_backward; i++)
		g->mark[list[i]] = 0;
	memmove(list + n_backward, list + g->n_channels * g->n_vls, n_forward * sizeof(*list));
	reorder(g, list, n_backward, n_forward);
	return true;
}

enum depend_result
depend_insert(struct depend *g, uint32_t in, uint32_t out, unsigned vl)
{
	return depend_insert_turn(g, in, vl, out, vl);
}

enum depend_result
depend_insert_turn(struct depend *g, uint32_t in, unsigned in_vl, uint32_t out, unsigned out_vl)
{
	uint32_t from = in * g->n_vls + in_vl, to = out * g->n_vls + out_vl;
	struct depend_edge e = { from, (out - g->first[g->at[out]]) * g->n_vls + out_vl };

	if (fm_bit_test(row_of(g->next, g, from), e.bit))
		return DEPEND_HELD;
	if (g->frozen)
		return DEPEND_FROZEN;
	if (!fm_vec_reserve(&g->added, g->added.n + 1))
		return DEPEND_NOMEM;
	if (!make_room(g, from, to))
		return DEPEND_CYCLE;
	fm_vec_push(&g->added, e);
	g->changes++;
	fm_bit_set(row_of(g->next, g, from), e.bit);
	fm_bit_set(row_of(g->prev, g, to), bit_in_prev(g, from));
	return DEPEND_ADDED;
}

void
depend_undo(struct depend *g, size_t n)
{
	while (g->added.n > n) {
		struct depend_edge e = g->added.item[--g->added.n];

		g->changes++;
		fm_bit_clear(row_of(g->next, g, e.from), e.bit);
		fm_bit_clear(
		    row_of(g->prev, g, next_vertex(g, e.from, e.bit)), bit_in_prev(g, e.from));
	}
}

void
depend_cut(struct depend *g, uint32_t channel)
{
	size_t bits = (size_t)g->words * 64;

	if (g->back[channel] == FM_NONE)
		return;
	g->changes++;
	for (uint32_t v = channel * g->n_vls; v < (channel + 1) * g->n_vls; v++) {
		uint64_t *next = row_of(g->next, g, v), *prev = row_of(g->prev, g, v);
		uint32_t bit = (channel - g->first[g->at[channel]]) * g->n_vls + v % g->n_vls;

		FM_EACH_BIT (i, next, bits)
			fm_bit_clear(row_of(g->prev, g, next_vertex(g, v, i)), bit_in_prev(g, v));
		FM_EACH_BIT (i, prev, bits)
			fm_bit_clear(row_of(g->next, g, prev_vertex(g, v, i)), bit);
		memset(next, 0, g->words * sizeof(*next));
		memset(prev, 0, g->words * sizeof(*prev));
	}
}

/* ----------------------------------------------------------- a whole LID */

static enum depend_result
insert_way(struct depend *g, const struct fm_tables *t, const uint64_t *lost, uint16_t *seen,
    fm_sw sw, uint16_t lid, unsigned vl)
{
	uint32_t in = FM_NONE, out;
	enum depend_result rc;

	for (;;) {
		out = depend_channel(g, sw, t->lft[sw][lid]);
		if (out == FM_NONE || g->back[out] == FM_NONE || fm_bit_test(lost, out))
			return DEPEND_HELD;
		rc = in != FM_NONE ? depend_insert(g, in, out, vl) : DEPEND_HELD;
		if (rc >= DEPEND_CYCLE || (seen != NULL && seen[sw] >> vl & 1))
			return rc;
		if (seen != NULL)
			seen[sw] |= (uint16_t)(1u << vl);
		in = out;
		sw = g->to[out];
	}
}

enum depend_result
depend_insert_lid(struct depend *g, const struct fm_fabric *ends, const struct fm_tables *t,
    const uint64_t *lost, fm_sw from, uint16_t lid, uint16_t *seen)
{
	fm_sw to = ends->end_sw[ends->lid_end[lid]], end = from + 1;
	enum depend_result rc = DEPEND_HELD;

	if (from == FM_NONE) {
		from = 0;
		end = g->n_switches;
		memset(seen, 0, g->n_switches * sizeof(*seen));
	} else {
		seen = NULL; /* one way only */
	}
	for (fm_sw sw = from; rc < DEPEND_CYCLE && sw < end; sw++) {
		uint16_t vls = sw != to ? depend_own_vls(g, ends, t, sw, lid, to) : 0;

		for (unsigned vl = 0; rc < DEPEND_CYCLE && vls >> vl != 0; vl++)
			if (vls >> vl & 1)
				rc = insert_way(g, t, lost, seen, sw, lid, vl);
	}
	return rc;
}
