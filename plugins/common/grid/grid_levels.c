/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the dimension of each arc to coordinates.
 *
 * The switches of one coordinate of dimension d, a *level*, hang together
 * by the arcs of the other dimensions.  So for each d those arcs are contracted;
 * what is left is one switch per level and the arcs of d among them: a line, a
 * ring, or a complete graph, whose order is the coordinate.
 *
 *	faults may leave a level in pieces, so
 *	 - the near ends of a bundle of parallel arcs are of one level too;
 *	 - what lies above one level is one level (and below): pieces are folded
 *	   together until each level has one above and one below at most.
 *
 * The few switches whose arcs are all of unknown dimension go where a free cell
 * is beside all their neighbours.
 *
 * O(dimensions * arcs).
 */
#include <string.h>

#include "lib/algo/ufind.h"
#include "plugins/common/grid/grid_internal.h"

struct levels {
	struct grid_work *w;
	uint32_t *level;      /* [n_switches] disjoint sets of this dimension */
	fm_sw *above, *below; /* [n_switches] of a root: a switch there, or FM_NONE */
	fm_sw *stack;	      /* [4 * n_switches] pairs to be folded */
	uint32_t n_stack;
	fm_sw *near_end;    /* [n_arcs] by bundle: the first near end met */
	uint32_t *numbered; /* [n_switches] of a root: its coordinate, or FM_NONE */
};

static int
bad_shape(const struct grid_work *w, const char *why, fm_sw sw, struct fm_error *err)
{
	return w->host->fail(w->host, err, FM_E_TOPOLOGY,
	    "the switches form no mesh, torus, hypercube or HyperX: %s (%s)", why,
	    w->fab->sw_name[sw]);
}

static void
contract(struct levels *s, unsigned d)
{
	const struct grid_work *w = s->w;

	fm_ufind_init(s->level, w->arcs->n_switches);
	memset(s->near_end, 0xff, w->arcs->n_arcs * sizeof(*s->near_end));
	for (fm_arc a = 0; a < w->arcs->n_arcs; a++) {
		fm_sw u = w->from[a];
		fm_sw *first = &s->near_end[w->bundle[a]];

		if (w->dim[a] == GRID_NO_DIM)
			continue;
		if (w->dim[a] != d) {
			if (u < w->arcs->to[a])
				fm_ufind_join(s->level, u, w->arcs->to[a]);
		} else if (w->clique[w->part[u]][d])
			continue;
		else if (*first == FM_NONE)
			*first = u;
		else
			fm_ufind_join(s->level, u, *first);
	}
}

/* x is in one level with y: so is what is above them, and below.  Each join pushes
 * two pairs at most and there are fewer joins than switches. */
static void
fold(struct levels *s, fm_sw x, fm_sw y)
{
	s->stack[s->n_stack++] = x;
	s->stack[s->n_stack++] = y;
	while (s->n_stack > 0) {
		fm_sw b = fm_ufind(s->level, s->stack[--s->n_stack]);
		fm_sw a = fm_ufind(s->level, s->stack[--s->n_stack]);
		fm_sw root = fm_ufind_join(s->level, a, b), other = root == a ? b : a;

		if (a == b)
			continue;
		for (unsigned up = 0; up < 2; up++) {
			fm_sw *next = up ? s->above : s->below;

			if (next[root] == FM_NONE)
				next[root] = next[other];
			else if (next[other] != FM_NONE) {
				s->stack[s->n_stack++] = next[root];
				s->stack[s->n_stack++] = next[other];
			}
		}
	}
}

static void
fold_all(struct levels *s, unsigned d)
{
	const struct grid_work *w = s->w;

	memset(s->above, 0xff, w->arcs->n_switches * sizeof(*s->above));
	memset(s->below, 0xff, w->arcs->n_switches * sizeof(*s->below));
	for (fm_arc a = 0; a < w->arcs->n_arcs; a++) {
		fm_sw u = fm_ufind(s->level, w->from[a]), v = w->arcs->to[a];
		fm_sw *next = w->up[a] ? &s->above[u] : &s->below[u];

		if (w->dim[a] != d || w->clique[w->part[u]][d])
			continue;
		if (*next == FM_NONE)
			*next = v;
		else
			fold(s, *next, v);
	}
}

/* Coordinates of a line or ring along above[], from the root `first` on. */
static uint32_t
number_up(struct levels *s, fm_sw first)
{
	uint32_t n = 0;
	fm_sw at = first;

	do {
		s->numbered[at] = n++;
		at = s->above[at] == FM_NONE ? FM_NONE : fm_ufind(s->level, s->above[at]);
	} while (at != FM_NONE && s->numbered[at] == FM_NONE);
	return n;
}

/* The lowest level of the line of root, or root if below it there is a ring.  FM_NONE: below
 * it there is a ring that root is not of, so ups and downs contradict each other. */
static fm_sw
find_lowest(const struct levels *s, fm_sw root, bool *is_ring)
{
	fm_sw at = root;

	*is_ring = false;
	for (uint32_t n = 0; n <= s->w->arcs->n_switches; n++) {
		if (s->below[at] == FM_NONE)
			return at;
		at = fm_ufind(s->level, s->below[at]);
		if (at == root) {
			*is_ring = true;
			return root;
		}
	}
	return FM_NONE;
}

/* Each level of d, by its first switch: number it, and the levels of its line. */
static int
number_levels(struct levels *s, unsigned d, struct fm_error *err)
{
	struct grid_work *w = s->w;

	memset(s->numbered, 0xff, w->arcs->n_switches * sizeof(*s->numbered));
	for (fm_sw u = 0; u < w->arcs->n_switches; u++) {
		struct fm_grid *g = &w->grid[w->part[u]];
		fm_sw root = fm_ufind(s->level, u), start;
		bool is_ring;

		if (!w->placed[u] || d >= w->n_dims[w->part[u]] || s->numbered[root] != FM_NONE)
			continue;
		if (w->clique[w->part[u]][d]) {
			g->kind[d] = FM_GRID_CLIQUE;
			s->numbered[root] = g->size[d]++;
			continue;
		}
		if (g->size[d] != 0)
			return bad_shape(w, "the switches of a row do not hang together", u, err);
		start = find_lowest(s, root, &is_ring);
		g->kind[d] = is_ring ? FM_GRID_RING : FM_GRID_LINE;
		g->size[d] = start != FM_NONE ? number_up(s, start) : 0;
		if (g->size[d] < (g->kind[d] == FM_GRID_RING ? 3u : 2u))
			return bad_shape(w, "a row folds back on itself", u, err);
	}
	return 0;
}

static int
coordinate(struct levels *s, unsigned d, struct fm_error *err)
{
	struct grid_work *w = s->w;
	int rc;

	contract(s, d);
	fold_all(s, d);
	if ((rc = number_levels(s, d, err)) != 0)
		return rc;
	for (fm_sw u = 0; u < w->arcs->n_switches; u++)
		if (w->placed[u] && d < w->n_dims[w->part[u]])
			w->at[u][d] = (uint16_t)s->numbered[fm_ufind(s->level, u)];
	return 0;
}

/* The largest piece that arcs of known dimension hold together, in each component. */
static int
choose_placed(struct grid_work *w, uint32_t *set, struct fm_error *err)
{
	uint32_t n = w->arcs->n_switches, *count = fm_scratch_array(w->host, n, uint32_t);
	fm_sw *best = fm_scratch_array(w->host, w->n_parts, fm_sw);

	if (count == NULL || best == NULL)
		return fm_no_scratch(w->host, "pieces of a grid", err);
	fm_ufind_init(set, n);
	memset(best, 0xff, w->n_parts * sizeof(*best));
	for (fm_arc a = 0; a < w->arcs->n_arcs; a++)
		if (w->dim[a] != GRID_NO_DIM && w->from[a] < w->arcs->to[a])
			fm_ufind_join(set, w->from[a], w->arcs->to[a]);
	for (fm_sw u = 0; u < n; u++) {
		fm_sw root = fm_ufind(set, u), *b = &best[w->part[u]];

		count[root]++;
		if (*b == FM_NONE || count[root] > count[*b])
			*b = root;
	}
	for (fm_sw u = 0; u < n; u++)
		w->placed[u] = fm_ufind(set, u) == best[w->part[u]];
	return 0;
}

/* Cliques of 3 are rings, of 2 lines. */
static void
rename_small(struct grid_work *w)
{
	for (uint32_t p = 0; p < w->n_parts; p++)
		for (uint32_t d = 0; d < w->n_dims[p]; d++)
			if (w->grid[p].kind[d] == FM_GRID_CLIQUE && w->grid[p].size[d] < 4)
				w->grid[p].kind[d] =
				    w->grid[p].size[d] == 3 ? FM_GRID_RING : FM_GRID_LINE;
}

int
grid_measure(const struct grid_work *w, struct fm_grid *g, struct fm_error *err)
{
	uint64_t n = 1;

	for (uint32_t d = g->n_dims; d-- > 0;) {
		g->stride[d] = (uint32_t)n;
		n *= g->size[d];
		if (n > 2 * (uint64_t)g->n_switches + 2)
			return w->host->fail(w->host, err, FM_E_TOPOLOGY,
			    "the switches form no mesh, torus, hypercube or HyperX: %u of them lie "
			    "in a grid of %llu places or more",
			    g->n_switches, (unsigned long long)n);
	}
	g->n_cells = (uint32_t)n;
	g->cell_sw = fm_scratch_array(w->host, g->n_cells, fm_sw);
	if (g->cell_sw == NULL)
		return fm_no_scratch(w->host, "cells of a grid", err);
	memset(g->cell_sw, 0xff, g->n_cells * sizeof(*g->cell_sw));
	return 0;
}

uint32_t
grid_cell(const struct fm_grid *g, const uint16_t *at)
{
	uint32_t cell = 0;

	for (uint32_t d = 0; d < g->n_dims; d++)
		cell += at[d] * g->stride[d];
	return cell;
}

bool
grid_beside(const struct fm_grid *g, const uint16_t *a, const uint16_t *b, uint32_t *dim)
{
	uint32_t n = 0, apart;

	for (uint32_t d = 0; d < g->n_dims; d++)
		if (a[d] != b[d]) {
			*dim = d;
			n++;
		}
	if (n != 1)
		return false;
	apart = a[*dim] > b[*dim] ? (uint32_t)a[*dim] - b[*dim] : (uint32_t)b[*dim] - a[*dim];
	return apart == 1 || g->kind[*dim] == FM_GRID_CLIQUE ||
	    (g->kind[*dim] == FM_GRID_RING && apart == g->size[*dim] - 1u);
}

static int
fill_cells(struct grid_work *w, struct fm_error *err)
{
	for (fm_sw u = 0; u < w->arcs->n_switches; u++) {
		struct fm_grid *g = &w->grid[w->part[u]];
		fm_sw *there;

		if (!w->placed[u])
			continue;
		there = &g->cell_sw[grid_cell(g, w->at[u])];
		if (*there != FM_NONE)
			return w->host->fail(w->host, err, FM_E_TOPOLOGY,
			    "the switches form no mesh, torus, hypercube or HyperX: %s and %s fall "
			    "on the same place",
			    w->fab->sw_name[*there], w->fab->sw_name[u]);
		*there = u;
	}
	return 0;
}

/* Is `at` beside every placed neighbour of u? */
static bool
agrees(const struct grid_work *w, const struct fm_grid *g, fm_sw u, const uint16_t *at)
{
	uint32_t dim;

	for (fm_arc a = w->arcs->first[u]; a < w->arcs->first[u + 1]; a++)
		if (w->placed[w->arcs->to[a]] && !grid_beside(g, at, w->at[w->arcs->to[a]], &dim))
			return false;
	return true;
}

/* A free cell for u beside all of its neighbours that have one. */
static bool
place_one(struct grid_work *w, fm_sw u)
{
	struct fm_grid *g = &w->grid[w->part[u]];
	uint16_t at[FM_GRID_MAX_DIMS], was;
	fm_arc a = w->arcs->first[u];

	while (a < w->arcs->first[u + 1] && !w->placed[w->arcs->to[a]])
		a++;
	if (a == w->arcs->first[u + 1])
		return false;
	memcpy(at, w->at[w->arcs->to[a]], sizeof(at));
	for (uint32_t d = 0; d < g->n_dims; d++) {
		was = at[d];
		for (at[d] = 0; at[d] < g->size[d]; at[d]++) {
			fm_sw *there = &g->cell_sw[grid_cell(g, at)];

			if (*there != FM_NONE || !agrees(w, g, u, at))
				continue;
			*there = u;
			memcpy(w->at[u], at, sizeof(at));
			w->placed[u] = 1;
			return true;
		}
		at[d] = was;
	}
	return false;
}

static int
place_rest(struct grid_work *w, struct fm_error *err)
{
	fm_sw left = FM_NONE;
	bool more = true;

	while (more) {
		more = false;
		left = FM_NONE;
		for (fm_sw u = 0; u < w->arcs->n_switches; u++) {
			if (w->placed[u])
				continue;
			if (place_one(w, u))
				more = true;
			else
				left = u;
		}
	}
	return left == FM_NONE ? 0 : bad_shape(w, "no place is left for a switch", left, err);
}

int
grid_levels(struct grid_work *w, struct fm_error *err)
{
	uint32_t n = w->arcs->n_switches, most = 0;
	struct levels s = { .w = w };
	int rc;

	s.level = fm_scratch_array(w->host, n, uint32_t);
	s.above = fm_scratch_array(w->host, n, fm_sw);
	s.below = fm_scratch_array(w->host, n, fm_sw);
	s.stack = fm_scratch_array(w->host, 4 * (size_t)n + 4, fm_sw);
	s.near_end = fm_scratch_array(w->host, w->arcs->n_arcs, fm_sw);
	s.numbered = fm_scratch_array(w->host, n, uint32_t);
	w->at = fm_scratch_bytes(w->host, n, sizeof(*w->at));
	w->placed = fm_scratch_array(w->host, n, uint8_t);
	if (s.level == NULL || s.above == NULL || s.below == NULL || s.stack == NULL ||
	    s.near_end == NULL || s.numbered == NULL || w->at == NULL || w->placed == NULL)
		return fm_no_scratch(w->host, "coordinates of a grid", err);
	if ((rc = choose_placed(w, s.level, err)) != 0)
		return rc;
	for (uint32_t p = 0; p < w->n_parts; p++)
		most = w->n_dims[p] > most ? w->n_dims[p] : most;
	for (uint32_t d = 0; d < most; d++)
		if ((rc = coordinate(&s, d, err)) != 0)
			return rc;
	rename_small(w);
	for (uint32_t p = 0; p < w->n_parts; p++) {
		w->grid[p].n_dims = w->n_dims[p];
		if ((rc = grid_measure(w, &w->grid[p], err)) != 0)
			return rc;
	}
	if ((rc = fill_cells(w, err)) != 0)
		return rc;
	return place_rest(w, err);
}
