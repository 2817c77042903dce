/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Edges hang in two small vectors a vertex (out with counts, in), found by a
 * scan: degrees are those of switch ports.
 */
#include "lib/algo/acyclic.h"

#include <stdlib.h>

#include "lib/algo/topo_order.h"
#include "lib/vec.h"

struct edge {
	uint32_t to, count;
};

struct vertex {
	FM_VEC(struct edge) out;
	FM_VEC(uint32_t) in;
};

struct fm_acyclic {
	uint32_t n;
	struct vertex *vertices; /* [n] */
	struct fm_topo order;
	void *memory; /* of the order */
};

struct fm_acyclic *
fm_acyclic_new(uint32_t n, const uint32_t *position)
{
	struct fm_acyclic *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	g->n = n;
	g->vertices = calloc(n + 1, sizeof(*g->vertices));
	g->memory = calloc(1, fm_topo_bytes(n) + 1);
	if (g->vertices == NULL || g->memory == NULL) {
		fm_acyclic_free(g);
		return NULL;
	}
	fm_topo_init(&g->order, n, g->memory);
	for (uint32_t v = 0; position != NULL && v < n; v++)
		fm_topo_place(&g->order, v, position[v]);
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
	free(g->memory);
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
	return g->order.position[v];
}

FM_TOPO_INLINE bool
each_next(void *graph, uint32_t v, fm_topo_visit visit, void *arg)
{
	const struct vertex *is = &((const struct fm_acyclic *)graph)->vertices[v];

	for (size_t i = 0; i < is->out.n; i++)
		if (!visit(arg, is->out.item[i].to))
			return false;
	return true;
}

FM_TOPO_INLINE bool
each_previous(void *graph, uint32_t v, fm_topo_visit visit, void *arg)
{
	const struct vertex *is = &((const struct fm_acyclic *)graph)->vertices[v];

	for (size_t i = 0; i < is->in.n; i++)
		if (!visit(arg, is->in.item[i]))
			return false;
	return true;
}

enum fm_acyclic_result
fm_acyclic_insert(struct fm_acyclic *g, uint32_t from, uint32_t to)
{
	struct vertex *a = &g->vertices[from], *b = &g->vertices[to];
	struct fm_topo_graph edges = { g, each_next, each_previous };
	struct edge *e = find_edge(g, from, to);

	if (e != NULL) {
		e->count++;
		return FM_ACYCLIC_HELD;
	}
	if (!fm_vec_reserve(&a->out, a->out.n + 1) || !fm_vec_reserve(&b->in, b->in.n + 1))
		return FM_ACYCLIC_NOMEM;
	if (!fm_topo_allow(&g->order, &edges, from, to))
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
