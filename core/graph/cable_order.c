/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colour refinement over the graph with its ports (Weisfeiler and Leman 1968): a
 * switch's first colour is what it is by itself (ports, what hangs off each); in each
 * round it takes in, for each cable, the two ports, the rate and the colour behind.  Equal
 * colours after r rounds: nothing within r hops tells the two apart.  It ends when one
 * switch of every component stands alone, or no round tells any more apart.
 *
 * The walk of a component starts from its rarest colour; next is always what is behind the
 * lowest port that leads to anything new, and behind that port of the earliest switch.  So
 * a torus is taken row by row, plane by plane, a dragonfly group by group: much as such
 * fabrics are numbered by those who build them.  As the ports of a switch all differ, where
 * it starts settles everything, and names matter only between switches that stay alike to
 * the end.  In a fabric of equal ports all over (a torus) any will do: it looks the same
 * from each.
 *
 * What it costs: a lost cable is what tells most switches of a regular fabric apart, so
 * the walk may start elsewhere then.  Tables in use are not touched by that, as they are
 * repaired, not made anew (repair.h); those made anew by load differ widely anyway.
 */
#include "core/graph/cable_order.h"

#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "lib/error.h"
#include "lib/hash.h"

#define N_PORTS 256

struct tint {
	uint64_t colour;
	fm_sw sw;
};

/* A component: where its walk starts, and what it is compared by. */
struct start {
	uint64_t mark; /* of all its colours together */
	fm_sw sw;
	uint32_t n_alike; /* switches of the colour of sw */
};

struct painter {
	const struct fm_fabric *fab;
	uint64_t *colour, *next;   /* [n_switches] */
	struct tint *sorted;	   /* [n_switches] by colour */
	uint32_t *n_alike;	   /* [n_switches] of its colour */
	const uint32_t *component; /* [n_switches] */
	uint32_t n_components, n_alone, n_colours;
	struct start *start; /* [n_components] */
};

struct walk {
	const struct fm_fabric *fab;
	size_t *first;	     /* [n_switches] */
	fm_sw *behind;	     /* by switch and port */
	uint8_t *met;	     /* [n_switches] */
	fm_sw *order;	     /* [n] so far */
	uint32_t n, highest; /* port of any switch */
	uint32_t at[N_PORTS];
};

/* ------------------------------------------------------------------ colours */

/* The LMC that all ends of a kind have at least. */
static void
find_least_lmc(const struct fm_fabric *fab, uint8_t *least /* [UINT8_MAX + 1] */)
{
	memset(least, UINT8_MAX, UINT8_MAX + 1);
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_lmc[e] < least[fab->end_kind[e]])
			least[fab->end_kind[e]] = fab->end_lmc[e];
}

/* Ends are told by what their LMC has above that of all: what all have changes no order, so that
 * base LIDs go as if there were no others. */
static void
paint_first(const struct painter *p)
{
	const struct fm_fabric *fab = p->fab;
	uint8_t least[UINT8_MAX + 1];

	find_least_lmc(fab, least);
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		uint64_t sum = 0;

		for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
			sum += fm_mix64(1 +
			    (fab->end_port[e] | (uint64_t)fab->end_kind[e] << 8 |
				(uint64_t)(fab->end_lmc[e] - least[fab->end_kind[e]]) << 16 |
				(uint64_t)fab->end_n_vls[e] << 24));
		p->colour[s] = fm_mix64(sum + fab->sw_n_ports[s] + 1);
	}
}

/* Sums, so that the order of the links does not matter: that is by number. */
static void
paint_again(const struct painter *p)
{
	const struct fm_fabric *fab = p->fab;

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		uint64_t sum = 0;

		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			sum += fm_mix64(p->colour[fab->link_to[l]] ^
			    fm_mix64(fab->link_port[l] |
				(uint64_t)fab->link_port[fab->link_rev[l]] << 8 |
				(uint64_t)fab->link_n_vls[l] << 16 |
				(uint64_t)fab->link_mbps[l] << 24));
		p->next[s] = fm_mix64(p->colour[s] + 3 * sum + 1);
	}
	memcpy(p->colour, p->next, fab->n_switches * sizeof(*p->colour));
}

static int
by_colour(const void *a, const void *b)
{
	const struct tint *x = a, *y = b;

	if (x->colour != y->colour)
		return x->colour < y->colour ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

static void
count_colours(struct painter *p)
{
	uint32_t n = p->fab->n_switches;

	for (fm_sw s = 0; s < n; s++)
		p->sorted[s] = (struct tint){ p->colour[s], s };
	qsort(p->sorted, n, sizeof(*p->sorted), by_colour);
	p->n_colours = p->n_alone = 0;
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && p->sorted[end].colour == p->sorted[i].colour;)
			end++;
		for (uint32_t k = i; k < end; k++)
			p->n_alike[p->sorted[k].sw] = end - i;
		p->n_colours++;
		p->n_alone += end - i == 1;
	}
}

/* Has every component a switch that stands alone? */
static bool
are_told_apart(const struct painter *p)
{
	uint32_t n = 0;

	if (p->n_alone < p->n_components)
		return false;
	for (uint32_t c = 0; c < p->n_components; c++)
		p->start[c].n_alike = 0;
	for (fm_sw s = 0; s < p->fab->n_switches; s++)
		if (p->n_alike[s] == 1 && p->start[p->component[s]].n_alike++ == 0)
			n++;
	return n == p->n_components;
}

static void
paint(struct painter *p)
{
	uint32_t before = 0;

	paint_first(p);
	count_colours(p);
	while (!are_told_apart(p) && p->n_colours > before) {
		before = p->n_colours;
		paint_again(p);
		count_colours(p);
	}
}

/* ------------------------------------------------------------------ the walk */

static int
by_mark(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->mark != y->mark)
		return x->mark < y->mark ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* Of each component a switch of the rarest colour, and among those of the least. */
static void
choose_starts(const struct painter *p)
{
	for (uint32_t c = 0; c < p->n_components; c++)
		p->start[c] = (struct start){ .sw = FM_NONE, .n_alike = UINT32_MAX };
	for (fm_sw s = 0; s < p->fab->n_switches; s++) {
		struct start *at = &p->start[p->component[s]];

		at->mark += fm_mix64(p->colour[s]);
		if (p->n_alike[s] < at->n_alike ||
		    (p->n_alike[s] == at->n_alike && p->colour[s] < p->colour[at->sw])) {
			at->sw = s;
			at->n_alike = p->n_alike[s];
		}
	}
	qsort(p->start, p->n_components, sizeof(*p->start), by_mark);
}

/* behind[first[s] + port]: the switch there, FM_NONE where none is. */
static void
list_ports(struct walk *w)
{
	const struct fm_fabric *fab = w->fab;
	size_t at = 0;

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		w->first[s] = at;
		at += fab->sw_n_ports[s] + 1u;
		w->highest = fab->sw_n_ports[s] > w->highest ? fab->sw_n_ports[s] : w->highest;
	}
	memset(w->behind, 0xff, at * sizeof(*w->behind));
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			w->behind[w->first[s] + fab->link_port[l]] = fab->link_to[l];
}

/* The switch behind this port of the earliest one that has a new one there; FM_NONE: no one
 * has.  What is not new stays so, so each port goes through the order once. */
static fm_sw
next_behind(struct walk *w, uint32_t port)
{
	for (; w->at[port] < w->n; w->at[port]++) {
		fm_sw s = w->order[w->at[port]], to = FM_NONE;

		if (port <= w->fab->sw_n_ports[s])
			to = w->behind[w->first[s] + port];
		if (to != FM_NONE && !w->met[to])
			return to;
	}
	return FM_NONE;
}

static void
walk_from(struct walk *w, fm_sw to)
{
	while (to != FM_NONE) {
		w->met[to] = 1;
		w->order[w->n++] = to;
		to = FM_NONE;
		for (uint32_t port = 1; to == FM_NONE && port <= w->highest; port++)
			to = next_behind(w, port);
	}
}

static size_t
count_ports(const struct fm_fabric *fab)
{
	size_t n = 0;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		n += fab->sw_n_ports[s] + 1u;
	return n;
}

int
cable_order_find(const struct fm_fabric *fab, fm_sw *order, struct fm_error *err)
{
	size_t n = fab->n_switches;
	struct painter p = { .fab = fab };
	struct walk w = { .fab = fab, .order = order };
	struct fm_arena mem;
	uint32_t *component;
	fm_sw *stack;

	fm_arena_init(&mem, SIZE_MAX);
	p.colour = fm_arena_array(&mem, n + 1, uint64_t);
	p.next = fm_arena_array(&mem, n + 1, uint64_t);
	p.sorted = fm_arena_array(&mem, n + 1, struct tint);
	p.n_alike = fm_arena_array(&mem, n + 1, uint32_t);
	p.start = fm_arena_array(&mem, n + 1, struct start);
	p.component = component = fm_arena_array(&mem, n + 1, uint32_t);
	stack = fm_arena_array(&mem, n + 1, fm_sw);
	w.met = fm_arena_array(&mem, n + 1, uint8_t);
	w.first = fm_arena_array(&mem, n + 1, size_t);
	w.behind = fm_arena_array(&mem, count_ports(fab) + 1, fm_sw);
	if (p.colour == NULL || p.next == NULL || p.sorted == NULL || p.n_alike == NULL ||
	    p.start == NULL || component == NULL || stack == NULL || w.met == NULL ||
	    w.first == NULL || w.behind == NULL) {
		fm_arena_fini(&mem);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the order of the switches");
	}
	memset(component, 0xff, n * sizeof(*component));
	for (fm_sw root = 0; root < n; root++) /* a switch alone is a component */
		if (component[root] == FM_NONE)
			snapshot_number_joined(fab, root, p.n_components++, component, stack);
	paint(&p);
	choose_starts(&p);
	list_ports(&w);
	for (uint32_t c = 0; c < p.n_components; c++)
		walk_from(&w, p.start[c].sw);
	fm_arena_fini(&mem);
	return 0;
}

bool
cable_order_is_tree(const struct fm_fabric *fab)
{
	size_t n = fab->n_switches;
	uint32_t *level = malloc((2 * n + 1) * sizeof(*level)), highest = 0;
	bool is = level != NULL;

	if (is)
		snapshot_find_levels(fab, level, level + n);
	for (fm_sw s = 0; is && s < n; s++) {
		for (fm_link l = fab->sw_first_link[s]; is && l < fab->sw_first_link[s + 1]; l++)
			is = level[s] != level[fab->link_to[l]];
		highest = level[s] != UINT32_MAX && level[s] > highest ? level[s] : highest;
	}
	free(level);
	return is && highest > 0;
}
