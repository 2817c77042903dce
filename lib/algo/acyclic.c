/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Edges hang in two small vectors a vertex (out with counts, in), found by a
 * scan: degrees are those of switch ports.  An insertion that disagrees with
 * the order searches forward from `to` and backward from `from` inside the
 * affected range of positions and deals the positions it found out anew:
 * first to those that reach `from`, then to those that `to` reaches.
 */
#include "lib/algo/acyclic.h"

#include <stdlib.h>
#include <string.h>

#include "lib/vec.h"

struct edge {
	uint32_t to, count;
};

struct vertex {
	FM_VEC(struct edge) out;
	FM_VEC(uint32_t) in;
	uint32_t ord;
	bool mark;
};

typedef FM_VEC(uint32_t) list;

struct fm_acyclic {
	uint32_t n;
	struct vertex *vertices; /* [n] */
	list forward, backward, positions;
};

struct fm_acyclic *
fm_acyclic_new(uint32_t n, const uint32_t *position)
{
	struct fm_acyclic *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	g->n = n;
	g->vertices = calloc(n + 1, sizeof(*g->vertices));
	/* every search fits, so that one that has begun cannot run out */
	if (g->vertices == NULL || !fm_vec_reserve(&g->forward, n) ||
	    !fm_vec_reserve(&g->backward, n) || !fm_vec_reserve(&g->positions, n)) {
		fm_acyclic_free(g);
		return NULL;
	}
	for (uint32_t v = 0; v < n; v++)
		g->vertices[v].ord = position != NULL ? position[v] : v;
	return g;
}

void
fm_acyclic_free(struct fm_acyclic *g)
{
	if (g == NULL)
		return;
	for (uint32_t v = 0; g->vertices != NULL && v < g->n; v++) {
		fm_vec_fini(&g->vertices[v].out);
		fm_vec_fini(&g->vertices[v].in);
	}
	free(g->vertices);
	fm_vec_fini(&g->forward);
	fm_vec_fini(&g->backward);
	fm_vec_fini(&g->positions);
	free(g);
}

static struct edge *
find_edge(const struct fm_acyclic *g, uint32_t from, uint32_t to)
{
	const struct vertex *v = &g->vertices[from];

	for (size_t i = 0; i < v->out.n; i++)
		if (v->out.item[i].to == to)
			return &v->out.item[i];
	return NULL;
}

bool
fm_acyclic_holds(const struct fm_acyclic *g, uint32_t from, uint32_t to)
{
	return find_edge(g, from, to) != NULL;
}

uint32_t
fm_acyclic_position(const struct fm_acyclic *g, uint32_t v)
{
	return g->vertices[v].ord;
}

static void
unmark(struct fm_acyclic *g, const list *vs)
{
	for (size_t i = 0; i < vs->n; i++)
		g->vertices[vs->item[i]].mark = false;
}

static void
visit(struct fm_acyclic *g, list *found, uint32_t v)
{
	if (g->vertices[v].mark)
		return;
	g->vertices[v].mark = true;
	fm_vec_push(found, v); /* reserved */
}

/* Collect what `from` reaches at positions up to `limit`; false when `target` is among it. */
static bool
search_forward(struct fm_acyclic *g, uint32_t from, uint32_t target, uint32_t limit)
{
	g->forward.n = 0;
	visit(g, &g->forward, from);
	for (size_t i = 0; i < g->forward.n; i++) {
		const struct vertex *v = &g->vertices[g->forward.item[i]];

		for (size_t e = 0; e < v->out.n; e++) {
			if (v->out.item[e].to == target)
				return false;
			if (g->vertices[v->out.item[e].to].ord < limit)
				visit(g, &g->forward, v->out.item[e].to);
		}
	}
	return true;
}

/* Collect what reaches `to` from positions down to `limit`. */
static void
search_backward(struct fm_acyclic *g, uint32_t to, uint32_t limit)
{
	g->backward.n = 0;
	visit(g, &g->backward, to);
	for (size_t i = 0; i < g->backward.n; i++) {
		const struct vertex *v = &g->vertices[g->backward.item[i]];

		for (size_t e = 0; e < v->in.n; e++)
			if (g->vertices[v->in.item[e]].ord > limit)
				visit(g, &g->backward, v->in.item[e]);
	}
}

static int
by_ord(const void *a, const void *b, void *arg)
{
	const struct fm_acyclic *g = arg;
	uint32_t x = g->vertices[*(const uint32_t *)a].ord,
		 y = g->vertices[*(const uint32_t *)b].ord;

	return x < y ? -1 : x > y;
}

static int
by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Deal the positions of both sets out anew: the backward set first, each set in its old order. */
static void
reorder(struct fm_acyclic *g)
{
	size_t n_backward = g->backward.n;

	qsort_r(g->backward.item, g->backward.n, sizeof(uint32_t), by_ord, g);
	qsort_r(g->forward.item, g->forward.n, sizeof(uint32_t), by_ord, g);
	g->positions.n = 0;
	for (size_t i = 0; i < n_backward; i++)
		fm_vec_push(&g->positions, g->vertices[g->backward.item[i]].ord);
	for (size_t i = 0; i < g->forward.n; i++)
		fm_vec_push(&g->positions, g->vertices[g->forward.item[i]].ord);
	qsort(g->positions.item, g->positions.n, sizeof(uint32_t), by_value);
	for (size_t i = 0; i < n_backward; i++)
		g->vertices[g->backward.item[i]].ord = g->positions.item[i];
	for (size_t i = 0; i < g->forward.n; i++)
		g->vertices[g->forward.item[i]].ord = g->positions.item[n_backward + i];
}

/* Make room in the order for from -> to; false when that would close a cycle. */
static bool
make_room(struct fm_acyclic *g, uint32_t from, uint32_t to)
{
	uint32_t upper = g->vertices[from].ord, lower = g->vertices[to].ord;
	bool ok;

	if (from == to)
		return false;
	if (upper < lower)
		return true;
	ok = search_forward(g, to, from, upper);
	if (ok) {
		search_backward(g, from, lower);
		reorder(g);
		unmark(g, &g->backward);
	}
	unmark(g, &g->forward);
	return ok;
}

enum fm_acyclic_result
fm_acyclic_insert(struct fm_acyclic *g, uint32_t from, uint32_t to)
{
	struct vertex *a = &g->vertices[from], *b = &g->vertices[to];
	struct edge *e = find_edge(g, from, to);

	if (e != NULL) {
		e->count++;
		return FM_ACYCLIC_HELD;
	}
	if (!fm_vec_reserve(&a->out, a->out.n + 1) || !fm_vec_reserve(&b->in, b->in.n + 1))
		return FM_ACYCLIC_NOMEM;
	if (!make_room(g, from, to))
		return FM_ACYCLIC_CYCLE;
	fm_vec_push(&a->out, ((struct edge){ .to = to, .count = 1 }));
	fm_vec_push(&b->in, from);
	return FM_ACYCLIC_ADDED;
}

void
fm_acyclic_remove(struct fm_acyclic *g, uint32_t from, uint32_t to)
{
	struct vertex *a = &g->vertices[from], *b = &g->vertices[to];
	struct edge *e = find_edge(g, from, to);

	if (e == NULL || --e->count > 0)
		return;
	*e = a->out.item[--a->out.n];
	for (size_t i = 0; i < b->in.n; i++)
		if (b->in.item[i] == from) {
			b->in.item[i] = b->in.item[--b->in.n];
			break;
		}
}
