/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The channel dependency graph of tables, and whether it is free of cycles.  (Dally and Seitz,
 * IEEE ToC C-36, 1987: if so, no deadlock can arise.)
 *
 * A vertex is a channel: a directed link and a VL.  There is an edge from one to another when
 * packets go on from the one to the other.  As they can go on only to the links of the next
 * switch, the edges of a vertex are a row of bits: (position of the link, VL).
 *
 * Cycles are counted as strongly connected components (Tarjan) of more than one vertex.
 *
 * Time: O(vertices + edges).
 */
#include <string.h>

#include "core/verify/verify_internal.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/algo/scc.h"

#define CYCLE_STARTS 64u /* vertices from which a shortest cycle is looked for */

/* ------------------------------------------------------------------ the graph */

static uint32_t
degree(const struct fm_fabric *fab, fm_sw sw)
{
	return fab->sw_first_link[sw + 1] - fab->sw_first_link[sw];
}

/* The most of n rows of VLs; mostly a row is as the one before. */
static unsigned
most_of(const uint8_t *rows, size_t n)
{
	const uint8_t *end = rows + n * N_SLS, *last = NULL;
	unsigned max = 0;

	for (const uint8_t *row = rows; row < end; row += N_SLS) {
		if (last != NULL && memcmp(row, last, N_SLS) == 0)
			continue;
		for (unsigned sl = 0; sl < N_SLS; sl++)
			max = row[sl] > max ? row[sl] : max;
		last = row;
	}
	return max;
}

static unsigned
count_vls(const struct judge *j)
{
	const struct fm_tables *t = j->t;
	unsigned max;

	if (t->sl2vl_shape == FM_SL2VL_MODULO)
		return t->n_vls_used < 1 ? 1 : t->n_vls_used > N_SLS ? N_SLS : t->n_vls_used;
	max = most_of(t->sl2vl,
	    t->sl2vl_shape == FM_SL2VL_BY_OUT ? j->fab->n_links
					      : t->sl2vl_first[j->fab->n_switches]);
	return max < N_SLS ? max + 1 : N_SLS;
}

bool
verify_graph_setup(struct judge *j)
{
	const struct fm_fabric *fab = j->fab;
	size_t words = 0;

	j->n_vls = j->one_vl ? 1 : count_vls(j);
	j->dep_row = malloc((fab->n_links + 1) * sizeof(*j->dep_row));
	if (j->dep_row == NULL)
		return false;
	for (fm_link l = 0; l < fab->n_links; l++) {
		j->dep_row[l] = words;
		words += j->n_vls * (((size_t)degree(fab, fab->link_to[l]) * j->n_vls + 63) / 64);
	}
	j->dep_row[fab->n_links] = words;
	j->dep = calloc(words + 1, sizeof(*j->dep));
	j->used = calloc((size_t)fab->n_links * j->n_vls + 1, 1);
	return j->dep != NULL && j->used != NULL;
}

unsigned
verify_vl_at(const struct judge *j, fm_sw sw, uint8_t in_port, fm_link out, unsigned sl)
{
	unsigned vl = j->one_vl ? 0 : tables_vl(j->fab, j->t, sw, in_port, out, (uint8_t)sl);

	return vl < j->n_vls ? vl : j->n_vls - 1;
}

void
verify_graph_use(struct judge *j, fm_link l, unsigned vl)
{
	uint8_t *used = &j->used[(size_t)l * j->n_vls + vl];

	if (!__atomic_load_n(used, __ATOMIC_RELAXED))
		__atomic_store_n(used, 1, __ATOMIC_RELAXED);
}

void
verify_graph_add(struct judge *j, fm_link l, unsigned vl, uint32_t slot, unsigned vl_after)
{
	size_t words = (j->dep_row[l + 1] - j->dep_row[l]) / j->n_vls;
	size_t bit = (size_t)slot * j->n_vls + vl_after;

	add_shared_bits(&j->dep[j->dep_row[l] + vl * words + bit / 64], (uint64_t)1 << (bit % 64));
}

/* ------------------------------------------------------------------ its cycles */

/* Those of the 64 vertices from `first` on that are in the word, into to[] (or only
 * counted). */
static uint32_t
take_word(uint32_t first, uint64_t word, uint32_t *to)
{
	uint32_t n = 0;

	if (to == NULL)
		return (uint32_t)__builtin_popcountll(word);
	for (; word != 0; word &= word - 1)
		to[n++] = first + (uint32_t)__builtin_ctzll(word);
	return n;
}

/* The successors of vertex v, into to[] (or only counted). */
static uint32_t
successors(const struct judge *j, uint32_t v, uint32_t *to)
{
	const struct fm_fabric *fab = j->fab;
	fm_link l = v / j->n_vls;
	fm_sw at = fab->link_to[l];
	uint32_t n_slots = degree(fab, at) * j->n_vls, first = fab->sw_first_link[at] * j->n_vls;
	size_t words = (n_slots + 63) / 64;
	const uint64_t *bits = j->dep + j->dep_row[l] + v % j->n_vls * words;
	uint32_t n = 0;

	for (uint32_t w = 0; w < words; w++)
		n += take_word(first + w * 64, bits[w], to != NULL ? to + n : NULL);
	return n;
}

/* The vertices in CSR form. */
struct graph {
	uint32_t n;
	uint32_t *first; /* [n + 1] */
	uint32_t *to;
	uint32_t *component; /* [n] strongly connected */
	uint32_t n_components;
};

static bool
build_graph(const struct judge *j, struct fm_arena *mem, struct graph *g)
{
	g->n = j->fab->n_links * j->n_vls;
	g->first = fm_arena_array(mem, (size_t)g->n + 1, uint32_t);
	g->component = fm_arena_array(mem, (size_t)g->n + 1, uint32_t);
	if (g->first == NULL || g->component == NULL)
		return false;
	for (uint32_t v = 0; v < g->n; v++)
		g->first[v + 1] = g->first[v] + successors(j, v, NULL);
	g->to = fm_arena_array(mem, (size_t)g->first[g->n] + 1, uint32_t);
	if (g->to == NULL)
		return false;
	for (uint32_t v = 0; v < g->n; v++)
		successors(j, v, g->to + g->first[v]);
	g->n_components = fm_scc(g->n, g->first, g->to, g->component, mem);
	return g->n_components != UINT32_MAX;
}

/* The number (request.loops_within) that both switches of a link have, or 0. */
static uint16_t
number_of(const struct judge *j, fm_link l)
{
	const uint16_t *number = j->req->loops_within;
	fm_sw from = j->fab->link_to[j->fab->link_rev[l]], to = j->fab->link_to[l];

	return number != NULL && number[from] == number[to] ? number[to] : 0;
}

/* other[c]: component c has a link that may not be on a loop, or links of two numbers. */
static bool
mark_others(const struct judge *j, const struct graph *g, struct fm_arena *mem, uint8_t **other)
{
	uint16_t *number = fm_arena_array(mem, (size_t)g->n_components + 1, uint16_t);

	*other = fm_arena_array(mem, (size_t)g->n_components + 1, uint8_t);
	if (number == NULL || *other == NULL)
		return false;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t c = g->component[v];
		uint16_t here = number_of(j, v / j->n_vls);

		(*other)[c] |= here == 0 || (number[c] != 0 && number[c] != here);
		number[c] = here;
	}
	return true;
}

/* How many components are cyclic, and which of them is the smallest (the first such, of
 * those that are not allowed if there are any).  A link never leads to itself, so one
 * vertex is no cycle. */
static bool
count_cyclic(const struct judge *j, const struct graph *g, struct fm_arena *mem, uint32_t *smallest)
{
	uint32_t *size = fm_arena_array(mem, (size_t)g->n_components + 1, uint32_t),
		 least = UINT32_MAX;
	uint8_t *other;
	bool bad = false;

	if (size == NULL || !mark_others(j, g, mem, &other))
		return false;
	for (uint32_t v = 0; v < g->n; v++)
		size[g->component[v]]++;
	for (uint32_t c = 0; c < g->n_components; c++)
		bad |= size[c] > 1 && other[c];
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t n = size[g->component[v]];

		if (n > 1 && n < least && (!bad || other[g->component[v]])) {
			least = n;
			*smallest = g->component[v];
		}
	}
	j->out->credit_loops = j->out->loops_allowed = 0;
	for (uint32_t c = 0; c < g->n_components; c++) {
		j->out->credit_loops += size[c] > 1;
		j->out->loops_allowed += size[c] > 1 && !other[c];
	}
	return true;
}

/* Breadth first from v until v is met again: the length of a
 * shortest cycle through v; from[] leads back from *last to v. */
static uint32_t
cycle_through(const struct graph *g, uint32_t v, uint32_t *from, uint32_t *queue, uint32_t *last)
{
	uint32_t head = 0, tail = 0;

	memset(from, 0xff, (size_t)g->n * sizeof(*from));
	queue[tail++] = v;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			uint32_t w = g->to[i], n = 1;

			if (w == v) {
				for (*last = u; u != v; u = from[u])
					n++;
				return n;
			}
			if (g->component[w] == g->component[v] && from[w] == UINT32_MAX) {
				from[w] = u;
				queue[tail++] = w;
			}
		}
	}
	return UINT32_MAX;
}

/* A cycle to show: the shortest through any of the first vertices of the component. */
static bool
pick_cycle(const struct graph *g, struct fm_arena *mem, uint32_t component, struct cycle *cycle)
{
	uint32_t *from = fm_arena_array(mem, g->n, uint32_t),
		 *queue = fm_arena_array(mem, g->n, uint32_t);
	uint32_t starts = 0, last = 0;

	cycle->vertex = malloc((size_t)g->n * sizeof(*cycle->vertex));
	if (from == NULL || queue == NULL || cycle->vertex == NULL)
		return false;
	cycle->n = UINT32_MAX;
	for (uint32_t v = 0; v < g->n && starts < CYCLE_STARTS; v++) {
		uint32_t n;

		if (g->component[v] != component)
			continue;
		starts++;
		n = cycle_through(g, v, from, queue, &last);
		if (n >= cycle->n)
			continue;
		cycle->n = n;
		for (uint32_t u = last; n > 0; u = from[u])
			cycle->vertex[--n] = u;
	}
	return true;
}

static bool
count_loops(struct judge *j, struct cycle *cycle)
{
	struct fm_arena mem;
	struct graph g = { 0 };
	uint32_t smallest = 0;
	bool ok;

	fm_arena_init(&mem, SIZE_MAX);
	ok = build_graph(j, &mem, &g) && count_cyclic(j, &g, &mem, &smallest) &&
	    (j->out->credit_loops == 0 || pick_cycle(&g, &mem, smallest, cycle));
	fm_arena_fini(&mem);
	return ok;
}

static void
mark_cycle(const struct judge *j, const struct cycle *cycle)
{
	for (uint32_t i = 0; i < cycle->n; i++)
		j->req->on_cycle[j->fab->link_to[cycle->vertex[i] / j->n_vls]] = 1;
}

int
verify_find_cycles(struct judge *j, struct cycle *cycle, struct fm_error *err)
{
	if (!count_loops(j, cycle))
		return fm_fail(err, FM_E_RESOURCE, "out of memory while looking for credit loops");
	if (j->out->credit_loops > 0 && j->req->on_cycle != NULL)
		mark_cycle(j, cycle);
	return 0;
}
