/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All legal turns of a fabric, and the prohibited ones that packets make, counted: is there a
 * cycle?  The legal turns alone have none, so only what can be reached from a prohibited turn is
 * walked.
 * Ports of a switch are bits of a word, and so are the channels out of it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/plan/levels_internal.h"
#include "lib/arena.h"
#include "lib/hash.h"

struct turn_graph {
	const struct fm_fabric *fab;
	uint32_t *level; /* [n_switches] */
	struct fm_arena mem;
	uint64_t *up, *down; /* [n_switches] ports: bit p - 1 */
	uint64_t
	    *prohibited; /* [n_links] ports by which packets of a link make a prohibited turn */
	uint64_t *seen, *open; /* [n_switches] channels out: visited; on the path */
	fm_link *path;	       /* [n_links] */
	uint32_t *link_of;     /* [n_switches][MASK_PORTS] */
	struct fm_hash counts; /* from << 32 | to -> times */
};

struct turn_graph *
turn_graph_new(const struct fm_fabric *fab)
{
	struct turn_graph *g = calloc(1, sizeof(*g));
	size_t n = fab->n_switches + 1u;
	fm_sw *queue;

	if (g == NULL)
		return NULL;
	g->fab = fab;
	fm_arena_init(&g->mem, SIZE_MAX);
	g->level = fm_arena_array(&g->mem, n, uint32_t);
	queue = fm_arena_array(&g->mem, n, fm_sw);
	g->up = fm_arena_array(&g->mem, n, uint64_t);
	g->down = fm_arena_array(&g->mem, n, uint64_t);
	g->seen = fm_arena_array(&g->mem, n, uint64_t);
	g->open = fm_arena_array(&g->mem, n, uint64_t);
	g->prohibited = fm_arena_array(&g->mem, fab->n_links + 1u, uint64_t);
	g->path = fm_arena_array(&g->mem, fab->n_links + 1u, fm_link);
	g->link_of = fm_arena_array(&g->mem, n * MASK_PORTS, uint32_t);
	if (g->level == NULL || queue == NULL || g->up == NULL || g->down == NULL ||
	    g->seen == NULL || g->open == NULL || g->prohibited == NULL || g->path == NULL ||
	    g->link_of == NULL) {
		turn_graph_free(g);
		return NULL;
	}
	snapshot_find_levels(fab, g->level, queue);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			uint64_t bit = UINT64_C(1) << (fab->link_port[l] - 1);
			enum way way = level_way(g->level, sw, fab->link_to[l]);

			g->link_of[sw * (size_t)MASK_PORTS + fab->link_port[l] - 1] = l;
			g->up[sw] |= way == UP ? bit : 0;
			g->down[sw] |= way == DOWN ? bit : 0;
		}
	return g;
}

void
turn_graph_free(struct turn_graph *g)
{
	if (g == NULL)
		return;
	fm_hash_fini(&g->counts);
	fm_arena_fini(&g->mem);
	free(g);
}

static enum way
way_of(const struct turn_graph *g, fm_link l)
{
	return level_way(g->level, g->fab->link_to[g->fab->link_rev[l]], g->fab->link_to[l]);
}

bool
turn_graph_is_prohibited(const struct turn_graph *g, fm_link from, fm_link to)
{
	enum way a = way_of(g, from), b = way_of(g, to);

	return a == ASIDE || b == ASIDE || (a == DOWN && b == UP);
}

static uint64_t
key_of(fm_link from, fm_link to)
{
	return ((uint64_t)from + 1) << 32 | to;
}

bool
turn_graph_add(struct turn_graph *g, fm_link from, fm_link to)
{
	uint32_t n = fm_hash_find(&g->counts, key_of(from, to));

	g->prohibited[from] |= UINT64_C(1) << (g->fab->link_port[to] - 1);
	return fm_hash_put(&g->counts, key_of(from, to), n == FM_HASH_NONE ? 1 : n + 1);
}

void
turn_graph_remove(struct turn_graph *g, fm_link from, fm_link to)
{
	uint32_t n = fm_hash_find(&g->counts, key_of(from, to));

	if (n == FM_HASH_NONE)
		return;
	if (n > 1) {
		fm_hash_put(&g->counts, key_of(from, to), n - 1); /* in its place */
		return;
	}
	fm_hash_remove(&g->counts, key_of(from, to));
	g->prohibited[from] &= ~(UINT64_C(1) << (g->fab->link_port[to] - 1));
}

/* By which ports packets of a channel may go on. */
static uint64_t
goes_on(const struct turn_graph *g, fm_link l)
{
	fm_sw to = g->fab->link_to[l];

	switch (way_of(g, l)) {
	case UP:
		return g->up[to] | g->down[to] | g->prohibited[l];
	case DOWN:
		return g->down[to] | g->prohibited[l];
	case NOWHERE:
	case ASIDE:
		break;
	}
	return g->prohibited[l];
}

static uint64_t
bit_of(const struct turn_graph *g, fm_link l)
{
	return UINT64_C(1) << (g->fab->link_port[l] - 1);
}

/* Depth first; a channel met again while on the path is a cycle. */
static bool
is_cycle_from(struct turn_graph *g, fm_link root)
{
	const struct fm_fabric *fab = g->fab;
	uint32_t n = 0;
	fm_link l = root;

	for (;;) {
		fm_sw from = fab->link_to[fab->link_rev[l]], to = fab->link_to[l];
		uint64_t next = goes_on(g, l);

		g->seen[from] |= bit_of(g, l);
		g->open[from] |= bit_of(g, l);
		if (next & g->open[to])
			return true;
		next &= ~g->seen[to];
		if (next != 0) {
			g->path[n++] = l;
			l = g->link_of[to * (size_t)MASK_PORTS + (uint32_t)__builtin_ctzll(next)];
			continue;
		}
		g->open[from] &= ~bit_of(g, l);
		if (n == 0)
			return false;
		l = g->path[--n];
	}
}

/* A cycle has a prohibited turn. */
bool
turn_graph_is_acyclic(struct turn_graph *g)
{
	const struct fm_fabric *fab = g->fab;

	memset(g->seen, 0, fab->n_switches * sizeof(*g->seen));
	memset(g->open, 0, fab->n_switches * sizeof(*g->open));
	for (fm_link l = 0; l < fab->n_links; l++)
		if (g->prohibited[l] != 0 &&
		    !(g->seen[fab->link_to[fab->link_rev[l]]] & bit_of(g, l)) &&
		    is_cycle_from(g, l))
			return false;
	return true;
}
