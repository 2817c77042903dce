/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/algo/scc.h"

#include <stdbool.h>
#include <string.h>

#define UNSEEN 0u /* order[] counts from 1 */

struct search {
	const uint32_t *first, *to;
	uint32_t *component;
	uint32_t *order; /* [n] when first seen */
	uint32_t *low;	 /* [n] least order reachable within the open vertices */
	uint32_t *edge;	 /* [n] next edge to follow */
	uint32_t *path;	 /* [n] the depth-first path */
	uint32_t *open;	 /* [n] seen, component unknown */
	uint32_t n_path, n_open, n_seen, n_components;
};

static void
enter(struct search *s, uint32_t v)
{
	s->order[v] = s->low[v] = ++s->n_seen;
	s->edge[v] = s->first[v];
	s->path[s->n_path++] = v;
	s->open[s->n_open++] = v;
}

/* All edges of v are done: close its component if v is the root of one. */
static void
leave(struct search *s, uint32_t v)
{
	uint32_t w, parent;

	s->n_path--;
	if (s->low[v] == s->order[v]) {
		do {
			w = s->open[--s->n_open];
			s->component[w] = s->n_components;
		} while (w != v);
		s->n_components++;
	}
	if (s->n_path == 0)
		return;
	parent = s->path[s->n_path - 1];
	if (s->low[v] < s->low[parent])
		s->low[parent] = s->low[v];
}

static void
search_from(struct search *s, uint32_t root)
{
	enter(s, root);
	while (s->n_path > 0) {
		uint32_t v = s->path[s->n_path - 1], w;

		if (s->edge[v] == s->first[v + 1]) {
			leave(s, v);
			continue;
		}
		w = s->to[s->edge[v]++];
		if (s->order[w] == UNSEEN)
			enter(s, w);
		else if (s->component[w] == UINT32_MAX && s->order[w] < s->low[v])
			s->low[v] = s->order[w];
	}
}

uint32_t
fm_scc(uint32_t n, const uint32_t *first, const uint32_t *to, uint32_t *component,
    struct fm_arena *mem)
{
	struct search s = { .first = first, .to = to, .component = component };

	s.order = fm_arena_array(mem, n, uint32_t);
	s.low = fm_arena_array(mem, n, uint32_t);
	s.edge = fm_arena_array(mem, n, uint32_t);
	s.path = fm_arena_array(mem, n, uint32_t);
	s.open = fm_arena_array(mem, n, uint32_t);
	if (s.order == NULL || s.low == NULL || s.edge == NULL || s.path == NULL || s.open == NULL)
		return UINT32_MAX;
	memset(component, 0xff, n * sizeof(*component));
	for (uint32_t v = 0; v < n; v++)
		if (s.order[v] == UNSEEN)
			search_from(&s, v);
	return s.n_components;
}
