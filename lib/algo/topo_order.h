/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/algo/topo_order.h - a topological order that is kept while edges are inserted.
 *
 * Algorithm PK of D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort Algorithm for
 * Directed Acyclic Graphs", ACM Journal of Experimental Algorithmics 11, 2006.  An edge that
 * agrees with the order costs one comparison.  For another the vertices at the positions between
 * its ends are searched, forward from its head and backward from its tail; they share their
 * positions anew, those that reach the tail before those that the head reaches.
 *
 * The edges are the caller's, in whatever form: two functions visit the neighbours of a vertex.
 * They and the searches are inlined into one another, as an edge costs a few instructions only.
 * Removing an edge leaves the order valid.
 */
#ifndef FM_LIB_ALGO_TOPO_ORDER_H
#define FM_LIB_ALGO_TOPO_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/bitset.h"

#ifdef __SANITIZE_THREAD__ /* gcc does not inline what it calls by a pointer then */
#define FM_TOPO_INLINE static inline
#else
#define FM_TOPO_INLINE static inline __attribute__((always_inline))
#endif

/* False ends the visits. */
typedef bool (*fm_topo_visit)(void *arg, uint32_t v);
/* Visit each neighbour of v once.  False: a visit said so, or the graph gives the search up. */
typedef bool (*fm_topo_each)(void *graph, uint32_t v, fm_topo_visit visit, void *arg);

struct fm_topo_graph {
	void *graph;
	fm_topo_each next, prev; /* where the edges from v lead, and where those to v come from */
};

/* What one search met. */
struct fm_topo_met {
	uint64_t *set;	  /* their positions; empty between searches */
	uint32_t *vertex; /* [n] in the order met */
	uint32_t n;
};

struct fm_topo {
	uint32_t n;
	uint32_t *position; /* [n] of a vertex: every edge leads to a higher one */
	uint32_t *at;	    /* [n] the vertex at a position */
	struct fm_topo_met before, after;
	uint32_t *found, *list; /* [n] room of searches */
};

/* memory: fm_topo_bytes(n), zeroed, aligned for uint64_t, the caller's.  Vertex v is at
 * position v. */
size_t fm_topo_bytes(uint32_t n);
void fm_topo_init(struct fm_topo *t, uint32_t n, void *memory);

/* Put v at position p: to be done for all vertices, while there are no edges. */
static inline void
fm_topo_place(struct fm_topo *t, uint32_t v, uint32_t p)
{
	t->at[p] = v;
	t->position[v] = p;
}

/* ------------------------------------------------------------- one insertion */

struct fm_topo_search {
	const uint32_t *position;
	struct fm_topo_met met;
	uint32_t lo, hi, stop; /* positions */
};

FM_TOPO_INLINE bool
fm_topo_meet(void *arg, uint32_t v)
{
	struct fm_topo_search *s = (struct fm_topo_search *)arg;
	uint32_t p = s->position[v];

	if (p < s->lo || p > s->hi || fm_bit_test(s->met.set, p))
		return true;
	if (p == s->stop)
		return false;
	fm_bit_set(s->met.set, p);
	s->met.vertex[s->met.n++] = v;
	return true;
}

/* Meet v and all that is reached from it at positions between those of v and stop.  False: what
 * is at stop is among it, or the graph gave up. */
FM_TOPO_INLINE bool
fm_topo_search(const struct fm_topo *t, void *graph, fm_topo_each each, uint32_t v, uint32_t stop,
    struct fm_topo_met *met)
{
	uint32_t start = t->position[v];
	struct fm_topo_search s = { .position = t->position,
		.met = *met,
		.lo = start < stop ? start : stop,
		.hi = start < stop ? stop : start,
		.stop = stop };
	bool ok = fm_topo_meet(&s, v);

	for (uint32_t i = 0; ok && i < s.met.n; i++)
		ok = each(graph, s.met.vertex[i], fm_topo_meet, &s);
	met->n = s.met.n;
	return ok;
}

/* Of fm_topo_allow(): the searches are done.  Share the positions anew if ok. */
void fm_topo_settle(struct fm_topo *t, uint32_t lo, uint32_t hi, bool ok);

/* Change the order so that it allows an edge from -> to, which is not there yet.  False: the edge
 * would close a cycle, or the graph gave up; the order is as before. */
FM_TOPO_INLINE bool
fm_topo_allow(struct fm_topo *t, const struct fm_topo_graph *g, uint32_t from, uint32_t to)
{
	uint32_t lo = t->position[to], hi = t->position[from];
	bool ok;

	if (hi <= lo)
		return hi < lo;
	t->before.n = t->after.n = 0;
	t->after.vertex = t->found;
	ok = fm_topo_search(t, g->graph, g->next, to, hi, &t->after);
	/* what leads to the tail is none of what the head leads to, or there were a cycle */
	t->before.vertex = t->found + t->after.n;
	ok = ok && fm_topo_search(t, g->graph, g->prev, from, lo, &t->before);
	fm_topo_settle(t, lo, hi, ok);
	return ok;
}

/* ------------------------------------------------------------- a whole graph */

FM_TOPO_INLINE bool
fm_topo_count(void *arg, uint32_t v)
{
	((struct fm_topo *)arg)->found[v]++;
	return true;
}

/* Which has one edge less from a vertex that has no position yet. */
FM_TOPO_INLINE bool
fm_topo_release(void *arg, uint32_t v)
{
	struct fm_topo *t = (struct fm_topo *)arg;

	if (--t->found[v] == 0)
		t->at[t->before.n++] = v;
	return true;
}

/* The order of a whole graph (A. B. Kahn, Communications of the ACM 5, 1962).  False: it has a
 * cycle, and there is no order.  O(vertices + edges). */
FM_TOPO_INLINE bool
fm_topo_sort(struct fm_topo *t, const struct fm_topo_graph *g)
{
	memset(t->found, 0, t->n * sizeof(*t->found));
	for (uint32_t v = 0; v < t->n; v++)
		g->next(g->graph, v, fm_topo_count, t);
	t->before.n = 0;
	for (uint32_t v = 0; v < t->n; v++)
		if (t->found[v] == 0)
			t->at[t->before.n++] = v;
	for (uint32_t i = 0; i < t->before.n; i++) {
		t->position[t->at[i]] = i;
		g->next(g->graph, t->at[i], fm_topo_release, t);
	}
	return t->before.n == t->n;
}

#endif
