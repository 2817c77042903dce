/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of what is held, and the order of their vertices: made, sorted, added to one by one
 * and cut.
 */
#include "core/cdg/depend.h"

#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/graph/tables.h"
#include "lib/bitset.h"

bool
depend_applies(const struct fm_tables *t)
{
	return t->sl2vl_shape != FM_SL2VL_BY_OUT;
}

void
depend_free(struct depend *g)
{
	if (g == NULL)
		return;
	free(g->first);
	free(g->back);
	free(g->back_port);
	free(g->at);
	free(g->to);
	free(g->next);
	free(g->prev);
	free(g->order_memory);
	free(g->level);
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
	g->back_port = calloc(g->n_channels + 1, 1);
	g->at = malloc((g->n_channels + 1) * sizeof(*g->at));
	g->to = malloc((g->n_channels + 1) * sizeof(*g->to));
	g->next = calloc(n * g->words, sizeof(*g->next));
	g->prev = calloc(n * g->words, sizeof(*g->prev));
	g->order_memory = calloc(1, fm_ranks_bytes((uint32_t)n));
	if (g->order_memory != NULL)
		fm_ranks_init(&g->order, (uint32_t)n - 1, g->order_memory);
	return g->back != NULL && g->back_port != NULL && g->at != NULL && g->to != NULL &&
	    g->next != NULL && g->prev != NULL && g->order_memory != NULL;
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
			g->back_port[c] = graph->link_port[graph->link_rev[l]];
			g->back[c] = g->first[g->to[c]] + g->back_port[c];
		}
	}
	return true;
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

FM_TOPO_INLINE bool
each_next(void *graph, uint32_t v, fm_topo_visit visit, void *arg)
{
	struct depend *g = graph;

	if (g->back[channel_of(g, v)] == FM_NONE)
		return true;
	FM_EACH_BIT (bit, row_of(g->next, g, v), (size_t)g->words * 64)
		if (!visit(arg, next_vertex(g, v, bit)))
			return false;
	return true;
}

FM_TOPO_INLINE bool
each_previous(void *graph, uint32_t v, fm_topo_visit visit, void *arg)
{
	struct depend *g = graph;

	FM_EACH_BIT (bit, row_of(g->prev, g, v), (size_t)g->words * 64)
		if (!visit(arg, prev_vertex(g, v, bit)))
			return false;
	return true;
}

static void
find_order(struct depend *g)
{
	struct fm_topo_graph edges = { g, each_next, each_previous };

	g->cyclic = !fm_ranks_sort(&g->order, &edges);
}

struct depend *
depend_new(const struct fm_fabric *graph, uint32_t n_vls, enum verify_sl_model sl_model)
{
	struct depend *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	g->n_switches = graph->n_switches;
	g->sl_model = sl_model;
	g->n_vls = n_vls;
	if (number_channels(g, graph))
		return g;
	depend_free(g);
	return NULL;
}

void
depend_sort(struct depend *g)
{
	turn_rows(g);
	find_order(g);
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
	depend_sort(g);
}

/* They are held from now on. */
static bool
keep_levels(struct depend *g, const uint32_t *level)
{
	g->level = malloc(g->n_switches + 1);
	for (fm_sw sw = 0; g->level != NULL && sw < g->n_switches; sw++)
		g->level[sw] = (uint8_t)(level[sw] < UINT8_MAX ? level[sw] : UINT8_MAX);
	return g->level != NULL;
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
		} else {
			ok = keep_levels(g, level);
		}
	}
	free(level);
	free(queue);
	free(was);
	return ok;
}

bool
depend_is_by_levels(const struct depend *g)
{
	if (g->level == NULL || g->n_vls != 1)
		return false;
	for (uint32_t c = 0; c < g->n_channels; c++)
		if (g->to[c] != FM_NONE)
			FM_EACH_BIT (port, g->next + (size_t)c * g->words, (size_t)g->words * 64)
				if (!depend_is_level_turn(
					g, g->at[c], g->to[c], g->to[next_vertex(g, c, port)]))
					return false;
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
	struct fm_topo_graph edges = { g, each_next, each_previous };

	if (fm_bit_test(row_of(g->next, g, from), e.bit))
		return DEPEND_HELD;
	if (!fm_vec_reserve(&g->added, g->added.n + 1))
		return DEPEND_NOMEM;
	if (!g->cyclic && !fm_ranks_allow(&g->order, &edges, from, to))
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
