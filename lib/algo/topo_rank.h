/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/algo/topo_rank.h - ranks of the vertices of an acyclic graph, kept while edges are inserted:
 * every edge leads to a higher rank.
 *
 * An edge that agrees with the ranks costs one comparison.  For another its head is raised above
 * its tail, and what the head leads to as far as it has to be, each vertex once, in the order of
 * ranks.  At the same time what leads to the tail is searched backward.  Where the edge would
 * close a cycle the two meet, mostly soon, and no rank changes.
 *
 * Unrelated vertices may share a rank.  So what has been raised once is out of the way of further
 * edges to the same part of the graph, where an order without ties (lib/algo/topo_order.h) moves it
 * for each of them.  In return more may be visited than lies between the ends of an edge: at worst
 * all that the head leads to.
 *
 * Edges are visited as in lib/algo/topo_order.h.  Removing an edge leaves the ranks valid.
 */
#ifndef FM_LIB_ALGO_TOPO_RANK_H
#define FM_LIB_ALGO_TOPO_RANK_H

#include "lib/algo/heap.h"
#include "lib/algo/topo_order.h"

struct fm_ranks {
	uint32_t n;
	uint64_t *rank;	     /* [n] */
	uint64_t *want;	     /* [n] what it is to become, 0: as it is; all 0 between searches */
	uint64_t *behind;    /* bits of those that lead to the tail; likewise */
	struct fm_heap heap; /* of those that are raised and not followed yet, by ranks */
	/* [n] from the front on those that have been followed, from the end on those behind */
	uint32_t *list;
	uint32_t n_raised, n_behind;
};

/* memory: fm_ranks_bytes(n), zeroed, aligned for uint64_t, the caller's.  All ranks are 0. */
size_t fm_ranks_bytes(uint32_t n);
void fm_ranks_init(struct fm_ranks *t, uint32_t n, void *memory);

/* ------------------------------------------------------------- one insertion */

struct fm_ranks_search {
	struct fm_ranks *t;
	uint64_t least;	 /* forward: the rank that is asked for */
	uint64_t lowest; /* backward: the rank of the head, which leads to no lower one */
};

FM_TOPO_INLINE bool
fm_ranks_raise(void *arg, uint32_t v)
{
	const struct fm_ranks_search *s = (const struct fm_ranks_search *)arg;
	struct fm_ranks *t = s->t;

	if (t->rank[v] >= s->least)
		return true;
	if (fm_bit_test(t->behind, v))
		return false;
	if (t->want[v] == 0)
		fm_heap_push(&t->heap, v, t->rank[v]);
	if (t->want[v] < s->least)
		t->want[v] = s->least;
	return true;
}

FM_TOPO_INLINE bool
fm_ranks_meet(void *arg, uint32_t v)
{
	const struct fm_ranks_search *s = (const struct fm_ranks_search *)arg;
	struct fm_ranks *t = s->t;

	if (t->want[v] != 0)
		return false;
	if (t->rank[v] < s->lowest || fm_bit_test(t->behind, v))
		return true;
	fm_bit_set(t->behind, v);
	t->list[t->n - ++t->n_behind] = v;
	return true;
}

/* Of fm_ranks_allow(): the searches are done.  Raise what has been found if ok. */
void fm_ranks_settle(struct fm_ranks *t, bool ok);

/* Change the ranks so that they allow an edge from -> to, which is not there yet.  False: the edge
 * would close a cycle; the ranks are as before. */
FM_TOPO_INLINE bool
fm_ranks_allow(struct fm_ranks *t, const struct fm_topo_graph *g, uint32_t from, uint32_t to)
{
	struct fm_ranks_search s = { t, t->rank[from] + 1, t->rank[to] };
	bool ok;

	if (t->rank[to] > t->rank[from])
		return true;
	ok = fm_ranks_meet(&s, from) && fm_ranks_raise(&s, to);
	for (uint32_t i = 0; ok && t->heap.n > 0; i++) {
		uint32_t v = fm_heap_pop(&t->heap);

		t->list[t->n_raised++] = v;
		s.least = t->want[v] + 1;
		ok = g->next(g->graph, v, fm_ranks_raise, &s);
		if (ok && i < t->n_behind)
			ok = g->prev(g->graph, t->list[t->n - 1 - i], fm_ranks_meet, &s);
	}
	fm_ranks_settle(t, ok);
	return ok;
}

/* ------------------------------------------------------------- a whole graph */

FM_TOPO_INLINE bool
fm_ranks_count(void *arg, uint32_t v)
{
	((struct fm_ranks *)arg)->want[v]++;
	return true;
}

/* Which has one edge less from a vertex that has no final rank yet: the last one of these has the
 * highest, as they come by ranks. */
FM_TOPO_INLINE bool
fm_ranks_release(void *arg, uint32_t v)
{
	struct fm_ranks *t = (struct fm_ranks *)arg;

	if (--t->want[v] == 0) {
		t->rank[v] = t->rank[t->list[t->n_behind]] + 1;
		t->list[t->n_raised++] = v;
	}
	return true;
}

/* The ranks of a whole graph, each as low as can be (A. B. Kahn, Communications of the ACM 5,
 * 1962).  False: it has a cycle, and there are none.  O(vertices + edges). */
FM_TOPO_INLINE bool
fm_ranks_sort(struct fm_ranks *t, const struct fm_topo_graph *g)
{
	bool ok;

	memset(t->rank, 0, t->n * sizeof(*t->rank));
	for (uint32_t v = 0; v < t->n; v++)
		g->next(g->graph, v, fm_ranks_count, t);
	for (uint32_t v = 0; v < t->n; v++)
		if (t->want[v] == 0)
			t->list[t->n_raised++] = v;
	for (; t->n_behind < t->n_raised; t->n_behind++)
		g->next(g->graph, t->list[t->n_behind], fm_ranks_release, t);
	ok = t->n_raised == t->n;
	t->n_raised = t->n_behind = 0;
	memset(t->want, 0, t->n * sizeof(*t->want));
	return ok;
}

#endif
