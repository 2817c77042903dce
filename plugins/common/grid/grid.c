/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recognising grids, in three steps: which arcs are of one dimension
 * (grid_classes.c), where the switches are (grid_levels.c), how to call it all
 * (grid_view.c).  That every arc joins neighbouring cells is checked at the end,
 * so a mistake of the steps before can refuse a fabric but not describe it wrongly.
 */
#include "plugins/common/grid/grid.h"

#include <stdio.h>
#include <string.h>

#include "plugins/common/grid/grid_internal.h"

static int
find_reverses(struct grid_work *w, fm_arc *rev, struct fm_error *err)
{
	const struct fm_arcs *arcs = w->arcs;
	fm_arc *arc_of = fm_scratch_array(w->host, w->fab->n_links, fm_arc);

	if (arc_of == NULL)
		return fm_no_scratch(w->host, "arcs of a grid", err);
	for (fm_sw u = 0; u < arcs->n_switches; u++)
		for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++) {
			w->from[a] = u;
			for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++)
				arc_of[l] = a;
		}
	for (fm_arc a = 0; a < arcs->n_arcs; a++) {
		rev[a] = arc_of[w->fab->link_rev[arcs->link[a]]];
		if (arcs->to[a] == w->from[a])
			return w->host->fail(w->host, err, FM_E_TOPOLOGY, "%s is cabled to itself",
			    w->fab->sw_name[w->from[a]]);
	}
	return 0;
}

/* Components, numbered by their first switch. */
static int
find_parts(struct grid_work *w, struct fm_error *err)
{
	const struct fm_arcs *arcs = w->arcs;
	fm_sw *queue = fm_scratch_array(w->host, arcs->n_switches, fm_sw);

	if (queue == NULL)
		return fm_no_scratch(w->host, "pieces of a grid", err);
	memset(w->part, 0xff, arcs->n_switches * sizeof(*w->part));
	for (fm_sw root = 0; root < arcs->n_switches; root++) {
		uint32_t head = 0, tail = 0;

		if (w->part[root] != FM_NONE)
			continue;
		w->part[root] = w->n_parts;
		queue[tail++] = root;
		while (head < tail) {
			fm_sw u = queue[head++];

			for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
				if (w->part[arcs->to[a]] == FM_NONE) {
					w->part[arcs->to[a]] = w->n_parts;
					queue[tail++] = arcs->to[a];
				}
		}
		w->n_parts++;
	}
	w->grid = fm_scratch_array(w->host, w->n_parts, struct fm_grid);
	if (w->grid == NULL)
		return fm_no_scratch(w->host, "pieces of a grid", err);
	for (fm_sw u = 0; u < arcs->n_switches; u++)
		w->grid[w->part[u]].n_switches++;
	return 0;
}

static int
start(struct grid_work *w, struct fm_grids *out, struct fm_error *err)
{
	uint32_t n = w->arcs->n_switches, n_arcs = w->arcs->n_arcs;
	fm_arc *rev = fm_scratch_array(w->host, n_arcs, fm_arc);

	w->from = fm_scratch_array(w->host, n_arcs, fm_sw);
	w->part = fm_scratch_array(w->host, n, uint32_t);
	out->cell = fm_scratch_array(w->host, n, uint32_t);
	out->arc_dim = fm_scratch_array(w->host, n_arcs, uint8_t);
	out->arc_step = fm_scratch_array(w->host, n_arcs, int8_t);
	if (rev == NULL || w->from == NULL || w->part == NULL || out->cell == NULL ||
	    out->arc_dim == NULL || out->arc_step == NULL)
		return fm_no_scratch(w->host, "arcs of a grid", err);
	w->rev = rev;
	out->arc_rev = rev;
	out->grid_of = w->part;
	return find_reverses(w, rev, err);
}

/* Dimension and step between two cells; false: they are not neighbours.  Cells that
 * differ in dimension d alone lie stride[d] to (size[d] - 1) * stride[d] apart.
 * at: coordinates of from. */
static bool
step_between(const struct fm_grid *g, uint32_t from, const uint32_t *at, uint32_t to, uint8_t *dim,
    int8_t *step)
{
	uint32_t apart = to > from ? to - from : from - to, d = 0, n;

	while (d < g->n_dims && apart < g->stride[d])
		d++;
	if (d == g->n_dims)
		return false;
	n = apart == g->stride[d] ? 1 : apart / g->stride[d];
	*dim = (uint8_t)d;
	*step = to > from ? 1 : -1;
	if (n * g->stride[d] != apart || (to > from ? at[d] + n >= g->size[d] : n > at[d]))
		return false;
	if (g->kind[d] == FM_GRID_CLIQUE || n == 1)
		return true;
	*step = (int8_t) - *step;
	return g->kind[d] == FM_GRID_RING && n + 1 == g->size[d];
}

/* Pairs of neighbouring cells, both with a switch. */
static uint32_t
count_neighbours(const struct fm_grid *g)
{
	uint32_t n = 0;

	for (uint32_t d = 0; g->n_holes == 0 && d < g->n_dims; d++) {
		uint32_t size = g->size[d], in_row = size - 1;

		if (g->kind[d] == FM_GRID_RING)
			in_row = size;
		if (g->kind[d] == FM_GRID_CLIQUE)
			in_row = size * (size - 1) / 2;
		n += g->n_cells / size * in_row;
	}
	for (uint32_t d = 0; g->n_holes > 0 && d < g->n_dims; d++)
		for (uint32_t cell = 0; cell < g->n_cells; cell++) {
			uint32_t x, next;

			if (g->cell_sw[cell] == FM_NONE)
				continue;
			x = fm_grid_at(g, cell, d);
			if (g->kind[d] == FM_GRID_RING && x + 1 == g->size[d])
				n += g->cell_sw[cell - x * g->stride[d]] != FM_NONE;
			for (next = cell; ++x < g->size[d];) {
				next += g->stride[d];
				n += g->cell_sw[next] != FM_NONE;
				if (g->kind[d] != FM_GRID_CLIQUE)
					break;
			}
		}
	return n;
}

/* Coordinates of the next cell. */
static void
count_on(const struct fm_grid *g, uint32_t *at)
{
	for (uint32_t d = g->n_dims; d-- > 0;) {
		if (++at[d] < g->size[d])
			return;
		at[d] = 0;
	}
}

/* The arcs of one grid, from the cells of its switches. */
static int
label_arcs(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    struct fm_grids *grids, uint32_t which, struct fm_error *err)
{
	struct fm_grid *g = &grids->grid[which];
	uint32_t n_arcs = 0, at[FM_GRID_MAX_DIMS] = { 0 };

	for (uint32_t cell = 0; cell < g->n_cells; cell++, count_on(g, at)) {
		fm_sw u = g->cell_sw[cell];

		for (fm_arc a = u != FM_NONE ? arcs->first[u] : 0;
		     u != FM_NONE && a < arcs->first[u + 1]; a++, n_arcs++)
			if (!step_between(g, cell, at, grids->cell[arcs->to[a]], &grids->arc_dim[a],
				&grids->arc_step[a]))
				return host->fail(host, err, FM_E_TOPOLOGY,
				    "the switches form no mesh, torus, hypercube or HyperX: %s and "
				    "%s are cabled but would not be neighbours",
				    fab->sw_name[u], fab->sw_name[arcs->to[a]]);
	}
	g->n_holes = g->n_cells - g->n_switches;
	g->n_neighbours = count_neighbours(g);
	g->n_cut = g->n_neighbours - n_arcs / 2;
	return 0;
}

static int
place_cells(struct grid_work *w, struct fm_grids *out, struct fm_error *err)
{
	int rc = 0;

	for (fm_sw u = 0; u < w->arcs->n_switches; u++)
		out->cell[u] = grid_cell(&w->grid[w->part[u]], w->at[u]);
	for (uint32_t i = 0; i < w->n_parts && rc == 0; i++) {
		const struct fm_grid *g = &out->grid[i];

		rc = label_arcs(w->host, w->fab, w->arcs, out, i, err);
		if (rc == 0 && 4 * g->n_holes > g->n_cells)
			rc = w->host->fail(w->host, err, FM_E_TOPOLOGY,
			    "the switches form no mesh, torus, hypercube or HyperX: %u of %u "
			    "places would be empty",
			    g->n_holes, g->n_cells);
		else if (rc == 0 && 4 * (uint64_t)g->n_cut > g->n_neighbours)
			rc = w->host->fail(w->host, err, FM_E_TOPOLOGY,
			    "the switches form no mesh, torus, hypercube or HyperX: %u of %u "
			    "neighbours would lack a cable",
			    g->n_cut, g->n_neighbours);
	}
	return rc;
}

static int
show(const struct grid_work *w, struct fm_grids *out, uint32_t which, struct fm_error *err)
{
	struct fm_grid_view view;
	int rc = grid_choose_view(w->host, w->fab, w->arcs, out, which, &view, err);

	return rc != 0 ? rc : fm_grid_turn(w->host, w->arcs, out, which, &view, err);
}

static int
join_fours(
    const struct grid_work *w, struct fm_grids *out, uint32_t which, bool any, struct fm_error *err)
{
	uint32_t partner[FM_GRID_MAX_DIMS];
	uint32_t n_dims = out->grid[which].n_dims;
	int rc = grid_find_fours(w->host, w->fab, w->arcs, out, which, any, partner, err);
	bool joined = false;

	/* From the last on: joining moves the dimensions behind. */
	for (uint32_t d = n_dims; rc == 0 && d-- > 0;)
		if (partner[d] != FM_NONE && d < partner[d]) {
			joined = true;
			rc = fm_grid_join(w->host, w->arcs, out, which, d, partner[d], err);
			for (uint32_t e = 0; e < d; e++)
				if (partner[e] != FM_NONE && partner[e] > partner[d])
					partner[e]--;
		}
	return rc != 0 || !joined ? rc : show(w, out, which, err);
}

int
fm_grid_find(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    enum fm_grid_fours fours, struct fm_grids *out, struct fm_error *err)
{
	struct grid_work w = { .host = host, .fab = fab, .arcs = arcs };
	struct fm_grids grids = { 0 };
	int rc;

	if ((rc = start(&w, &grids, err)) != 0 || (rc = find_parts(&w, err)) != 0 ||
	    (rc = grid_classes(&w, err)) != 0 || (rc = grid_levels(&w, err)) != 0)
		return rc;
	grids.n_grids = w.n_parts;
	grids.grid = w.grid;
	if ((rc = place_cells(&w, &grids, err)) != 0)
		return rc;
	for (uint32_t i = 0; i < grids.n_grids; i++) {
		if ((rc = show(&w, &grids, i, err)) != 0)
			return rc;
		if (fours != FM_GRID_SPLIT_FOURS &&
		    (rc = join_fours(&w, &grids, i, fours == FM_GRID_JOIN_FOURS, err)) != 0)
			return rc;
	}
	*out = grids;
	return 0;
}

uint32_t
fm_grid_step(const struct fm_grid *g, uint32_t cell, uint32_t dim, int step)
{
	uint32_t x = fm_grid_at(g, cell, dim), size = g->size[dim], stride = g->stride[dim];

	if (step > 0)
		return x + 1 < size		   ? cell + stride
		    : g->kind[dim] == FM_GRID_RING ? cell - x * stride
						   : FM_NONE;
	return x > 0			   ? cell - stride
	    : g->kind[dim] == FM_GRID_RING ? cell + (size - 1) * stride
					   : FM_NONE;
}

/* ------------------------------------------------------------ other views */

struct remap {
	struct fm_grid to;
	uint32_t (*move)(const struct remap *, const struct fm_grid *from, uint32_t cell);
	const struct fm_grid_view *view;
	uint32_t first, second; /* of fm_grid_join() */
};

/* Move every switch of a grid to its cell in r->to, whose n_dims, sizes and kinds are set. */
static int
remap(const struct fm_host *host, const struct fm_arcs *arcs, struct fm_grids *grids,
    uint32_t which, struct remap *r, struct fm_error *err)
{
	struct grid_work w = { .host = host };
	struct fm_grid *g = &grids->grid[which];
	int rc = grid_measure(&w, &r->to, err);

	if (rc != 0)
		return rc;
	for (uint32_t cell = 0; cell < g->n_cells; cell++) {
		fm_sw u = g->cell_sw[cell];

		if (u == FM_NONE)
			continue;
		grids->cell[u] = r->move(r, g, cell);
		r->to.cell_sw[grids->cell[u]] = u;
	}
	*g = r->to;
	return label_arcs(host, NULL, arcs, grids, which, err);
}

static uint32_t
turn_cell(const struct remap *r, const struct fm_grid *from, uint32_t cell)
{
	const struct fm_grid_view *v = r->view;
	uint32_t to = 0;

	for (uint32_t d = 0; d < r->to.n_dims; d++) {
		uint32_t x = fm_grid_at(from, cell, v->dim[d]), n = r->to.size[d];

		x = v->flip[d] ? v->origin[d] + n - x : x + n - v->origin[d];
		to += x % n * r->to.stride[d];
	}
	return to;
}

int
fm_grid_turn(const struct fm_host *host, const struct fm_arcs *arcs, struct fm_grids *grids,
    uint32_t which, const struct fm_grid_view *view, struct fm_error *err)
{
	const struct fm_grid *g = &grids->grid[which];
	struct remap r = { .to = *g, .move = turn_cell, .view = view };

	for (uint32_t d = 0; d < g->n_dims; d++) {
		r.to.size[d] = g->size[view->dim[d]];
		r.to.kind[d] = g->kind[view->dim[d]];
	}
	return remap(host, arcs, grids, which, &r, err);
}

/* Round the square: (0,0), (1,0), (1,1), (0,1). */
static uint32_t
join_cell(const struct remap *r, const struct fm_grid *from, uint32_t cell)
{
	uint32_t x = fm_grid_at(from, cell, r->first), y = fm_grid_at(from, cell, r->second);
	uint32_t to = (y ? 3 - x : x) * r->to.stride[r->first];

	for (uint32_t d = 0, e = 0; d < from->n_dims; d++) {
		if (d == r->second)
			continue;
		if (d != r->first)
			to += fm_grid_at(from, cell, d) * r->to.stride[e];
		e++;
	}
	return to;
}

int
fm_grid_join(const struct fm_host *host, const struct fm_arcs *arcs, struct fm_grids *grids,
    uint32_t which, uint32_t first, uint32_t second, struct fm_error *err)
{
	const struct fm_grid *g = &grids->grid[which];
	struct remap r = { .to = *g, .move = join_cell, .first = first, .second = second };

	for (uint32_t d = second; d + 1 < g->n_dims; d++) {
		r.to.size[d] = g->size[d + 1];
		r.to.kind[d] = g->kind[d + 1];
	}
	r.to.n_dims--;
	r.to.size[first] = 4;
	r.to.kind[first] = FM_GRID_RING;
	return remap(host, arcs, grids, which, &r, err);
}

/* ------------------------------------------------------------ words */

static const char *
shape_word(const struct fm_grid *g)
{
	uint32_t n_rings = 0, n_lines = 0, n_cliques = 0, n_twos = 0, n_threes = 0;

	for (uint32_t d = 0; d < g->n_dims; d++) {
		n_rings += g->kind[d] == FM_GRID_RING;
		n_lines += g->kind[d] == FM_GRID_LINE;
		n_cliques += g->kind[d] == FM_GRID_CLIQUE;
		n_twos += g->size[d] == 2;
		n_threes += g->kind[d] == FM_GRID_RING && g->size[d] == 3;
	}
	if (n_cliques > 0 && n_cliques + n_twos + n_threes == g->n_dims)
		return "HyperX";
	if (n_rings > 0 && n_rings + n_twos == g->n_dims)
		return "torus";
	return n_lines == g->n_dims ? "mesh" : "grid";
}

void
fm_grid_name(const struct fm_grid *g, char *text, size_t room)
{
	static const char *const kinds[] = { "line", "ring", "clique" };
	const char *word = shape_word(g);
	bool twos = true;
	size_t at;

	for (uint32_t d = 0; d < g->n_dims; d++)
		twos = twos && g->size[d] == 2;
	if (g->n_dims == 0)
		snprintf(text, room, "one switch");
	else if (twos && g->n_dims > 1)
		snprintf(text, room, "hypercube %u", g->n_dims);
	if (g->n_dims == 0 || (twos && g->n_dims > 1))
		return;
	at = (size_t)snprintf(text, room, "%s ", word);
	for (uint32_t d = 0; d < g->n_dims && at < room; d++)
		at += (size_t)snprintf(text + at, room - at, "%s%u", d ? "x" : "", g->size[d]);
	if (strcmp(word, "grid") != 0)
		return;
	for (uint32_t d = 0; d < g->n_dims && at < room; d++)
		at += (size_t)snprintf(text + at, room - at, "%s%s%s", d ? ", " : " (",
		    kinds[g->kind[d]], d + 1 == g->n_dims ? ")" : "");
}
