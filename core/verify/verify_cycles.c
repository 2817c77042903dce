/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is the channel dependency graph free of cycles?  (Dally and Seitz 1987: if
 * so, no deadlock can arise.)
 *
 * With one VL per link a vertex is a link, its row of bytes says to which of
 * the next switch's links packets go on, and the rows of one switch's
 * in-links have one length.  Kahn's algorithm then works on rows: in-degrees
 * are sums of rows, and to remove a link is to subtract its row, 16 links at
 * a time.  Only what remains, normally nothing, goes through Tarjan's
 * algorithm, which counts the components that are cyclic.
 *
 * Merging and Kahn: O(links x degree / 16).
 */
#include <string.h>

#include "core/verify/verify_internal.h"
#include "lib/algo/scc.h"
#include "lib/arena.h"
#include "lib/error.h"

typedef uint8_t v16 __attribute__((vector_size(16), aligned(16), may_alias));
typedef uint64_t v2x64 __attribute__((vector_size(16), may_alias));

#define MERGE_RUN 512u	 /* links per item */
#define CYCLE_STARTS 64u /* vertices from which a shortest cycle is looked for */

static uint32_t
degree(const struct fm_fabric *fab, fm_sw sw)
{
	return fab->sw_first_link[sw + 1] - fab->sw_first_link[sw];
}

/* All workers' rows into those of the first; a row with anything in it: in use. */
static void
merge_rows(void *arg, uint32_t item, unsigned worker)
{
	struct judge *j = arg;
	fm_link from = item * MERGE_RUN, to = from + MERGE_RUN;

	to = to < j->fab->n_links ? to : j->fab->n_links;
	for (fm_link l = from; l < to; l++) {
		uint32_t n = j->dep_row[l + 1] - j->dep_row[l];
		size_t at = (size_t)j->dep_row[l] * ROW_UNIT;
		v16 *sum = (v16 *)(j->walkers[0].dep + at), any = { 0 };

		for (uint32_t k = 0; k < n; k++) {
			v16 row = sum[k];

			for (unsigned i = 1; i < j->n_walkers; i++)
				row |= ((const v16 *)(j->walkers[i].dep + at))[k];
			sum[k] = row;
			any |= row;
		}
		j->vl_used[l] = (((v2x64)any)[0] | ((v2x64)any)[1]) != 0;
	}
}

struct kahn {
	const struct judge *j;
	const uint8_t *dep;
	uint32_t *unit; /* [n_switches + 1] a switch's in-degrees start here, in ROW_UNITs */
	uint8_t *in;	/* in-degree of each link, by (switch, slot); at most 254 */
	fm_link *ready; /* [n_links] */
	uint32_t n_ready;
};

/* Take away what link l leads to; links that nothing leads to any more are ready. */
static void
remove_row(struct kahn *k, fm_link l)
{
	const struct judge *j = k->j;
	fm_sw to = j->fab->link_to[l];
	uint32_t n = k->unit[to + 1] - k->unit[to];
	const v16 *row = (const v16 *)(k->dep + (size_t)j->dep_row[l] * ROW_UNIT);
	v16 *in = (v16 *)(k->in + (size_t)k->unit[to] * ROW_UNIT);

	for (uint32_t i = 0; i < n; i++) {
		v16 left = in[i] - row[i];
		v2x64 freed = (v2x64)((v16)(left == 0) & (v16)(row[i] != 0));

		in[i] = left;
		for (uint32_t half = 0; half < 2; half++)
			for (uint64_t word = freed[half]; word != 0;) {
				uint32_t byte = (uint32_t)__builtin_ctzll(word) / 8;
				uint32_t slot = i * ROW_UNIT + half * 8 + byte;

				word &= ~((uint64_t)0xff << (byte * 8));
				if (slot < degree(j->fab, to))
					k->ready[k->n_ready++] = j->fab->sw_first_link[to] + slot;
			}
	}
}

static void
add_up(struct kahn *k)
{
	const struct judge *j = k->j;
	const struct fm_fabric *fab = j->fab;

	for (fm_link l = 0; l < fab->n_links; l++) {
		fm_sw to = fab->link_to[l];
		const v16 *row = (const v16 *)(k->dep + (size_t)j->dep_row[l] * ROW_UNIT);
		v16 *in = (v16 *)(k->in + (size_t)k->unit[to] * ROW_UNIT);

		for (uint32_t i = 0; i < k->unit[to + 1] - k->unit[to]; i++)
			in[i] += row[i];
	}
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t slot = 0; slot < degree(fab, sw); slot++)
			if (k->in[(size_t)k->unit[sw] * ROW_UNIT + slot] == 0)
				k->ready[k->n_ready++] = fab->sw_first_link[sw] + slot;
}

/* Remove links from the front until none is ready.  gone[l] = 1: in no cycle. */
static uint32_t
peel(struct judge *j, uint8_t *gone, struct fm_error *err)
{
	const struct fm_fabric *fab = j->fab;
	struct kahn k = { .j = j, .dep = j->walkers[0].dep };
	uint32_t n = UINT32_MAX;

	k.unit = malloc((fab->n_switches + 1) * sizeof(*k.unit));
	k.ready = malloc((fab->n_links + 1) * sizeof(*k.ready));
	if (k.unit == NULL || k.ready == NULL)
		goto out;
	k.unit[0] = 0;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		k.unit[sw + 1] = k.unit[sw] + (degree(fab, sw) + ROW_UNIT) / ROW_UNIT;
	k.in = aligned_alloc(64, ((size_t)k.unit[fab->n_switches] * ROW_UNIT + 127) / 64 * 64);
	if (k.in == NULL)
		goto out;
	memset(k.in, 0, (size_t)k.unit[fab->n_switches] * ROW_UNIT);
	add_up(&k);
	for (n = 0; n < k.n_ready; n++) {
		gone[k.ready[n]] = 1;
		remove_row(&k, k.ready[n]);
	}
out:
	free(k.unit);
	free(k.ready);
	free(k.in);
	if (n == UINT32_MAX)
		fm_fail(err, FM_E_RESOURCE, "out of memory while looking for credit loops");
	return n;
}

/* Those of the 64 vertices from `first` on that are in the word and not gone, into to[]
 * (or only counted). */
static uint32_t
take_word(const uint8_t *gone, uint32_t first, uint64_t word, uint32_t *to)
{
	uint32_t n = 0;

	for (; word != 0; word &= word - 1) {
		uint32_t next = first + (uint32_t)__builtin_ctzll(word);

		if (gone[next])
			continue;
		if (to != NULL)
			to[n] = next;
		n++;
	}
	return n;
}

/* The successors of vertex v that are not gone, into to[] (or only counted). */
static uint32_t
successors(const struct judge *j, const uint8_t *gone, uint32_t v, uint32_t *to)
{
	const struct fm_fabric *fab = j->fab;
	fm_link l = v / j->n_vls;
	fm_sw at = fab->link_to[l];
	uint32_t n_slots = degree(fab, at) * j->n_vls, first = fab->sw_first_link[at] * j->n_vls;
	size_t words = (n_slots + 63) / 64;
	uint32_t n = 0;

	if (j->as_bits) {
		const uint64_t *bits = j->vl_dep + j->vl_row[l] + v % j->n_vls * words;

		for (uint32_t w = 0; w < words; w++)
			n += take_word(gone, first + w * 64, bits[w], to != NULL ? to + n : NULL);
		return n;
	}
	for (uint32_t i = 0; i < n_slots; i++)
		if (j->walkers[0].dep[(size_t)j->dep_row[l] * ROW_UNIT + i] != 0)
			n += take_word(gone, first + i, 1, to != NULL ? to + n : NULL);
	return n;
}

/* The vertices that remain, in CSR form. */
struct graph {
	uint32_t n;
	uint32_t *first; /* [n + 1] */
	uint32_t *to;
	uint32_t *component; /* [n] strongly connected */
	uint32_t n_components;
};

static bool
build_graph(const struct judge *j, const uint8_t *gone, struct fm_arena *mem, struct graph *g)
{
	g->n = j->fab->n_links * j->n_vls;
	g->first = fm_arena_array(mem, (size_t)g->n + 1, uint32_t);
	g->component = fm_arena_array(mem, (size_t)g->n + 1, uint32_t);
	if (g->first == NULL || g->component == NULL)
		return false;
	for (uint32_t v = 0; v < g->n; v++)
		g->first[v + 1] = g->first[v] + (gone[v] ? 0 : successors(j, gone, v, NULL));
	g->to = fm_arena_array(mem, (size_t)g->first[g->n] + 1, uint32_t);
	if (g->to == NULL)
		return false;
	for (uint32_t v = 0; v < g->n; v++)
		if (!gone[v])
			successors(j, gone, v, g->to + g->first[v]);
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
count_loops(struct judge *j, const uint8_t *gone, struct cycle *cycle)
{
	struct fm_arena mem;
	struct graph g = { 0 };
	uint32_t smallest = 0;
	bool ok;

	fm_arena_init(&mem, SIZE_MAX);
	ok = build_graph(j, gone, &mem, &g) && count_cyclic(j, &g, &mem, &smallest) &&
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
verify_find_cycles(
    struct judge *j, struct fm_pool *workers, struct cycle *cycle, struct fm_error *err)
{
	uint32_t n_links = j->fab->n_links, n_gone = 0;
	uint8_t *gone = calloc((size_t)n_links * j->n_vls + 1, 1);
	int rc = 0;

	if (gone == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory while looking for credit loops");
	if (!j->as_bits) {
		fm_pool_for(workers, (n_links + MERGE_RUN - 1) / MERGE_RUN, merge_rows, j);
		n_gone = peel(j, gone, err);
		if (n_gone == UINT32_MAX)
			rc = FM_E_RESOURCE;
	}
	if (rc == 0 && n_gone < n_links && !count_loops(j, gone, cycle))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory while looking for credit loops");
	if (rc == 0 && j->out->credit_loops > 0 && j->req->on_cycle != NULL)
		mark_cycle(j, cycle);
	free(gone);
	return rc;
}
