/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Row by row.  A row is looked at once, for breaks and holes; then the slots of
 * its switches follow from coordinates.
 */
#include "plugins/common/grid/grid_steps.h"

#include <stdio.h>
#include <string.h>

/* The row at work. */
struct row {
	struct fm_grid_steps *s;
	const struct fm_grid *g;
	uint32_t grid, dim, size;
	uint32_t first; /* cell of coordinate 0 */
	fm_sw *sw;	/* [size] */
	fm_arc *way;	/* [size][2] arcs down and up; of cliques [size][size] by coordinate */
	uint32_t *rank; /* [size] along a cut ring; of cliques: missing cables */
	uint32_t n_breaks;
};

/* The slots of the switch at x, by coordinate. */
static uint32_t *
slots_of(const struct row *r, uint32_t x)
{
	const struct fm_grid_steps *s = r->s;

	return &s->slot[s->first_slot[r->sw[x]] + s->dim_slot[r->grid][r->dim]];
}

static bool
is_last_dim(const struct row *r)
{
	return r->dim + 1 == r->g->n_dims;
}

/* What names a torn row, once. */
static void
note_torn(struct row *r, uint32_t x, uint32_t y)
{
	static const char *const kinds[] = { "line", "ring", "row" };
	struct fm_grid_steps *s = r->s;

	if (s->n_torn++ > 0)
		return;
	if (r->g->kind[r->dim] == FM_GRID_CLIQUE)
		snprintf(s->torn, sizeof(s->torn),
		    "%s and %s of one row are joined by no cable and no third switch",
		    s->fab->sw_name[r->sw[x]], s->fab->sw_name[r->sw[y]]);
	else
		snprintf(s->torn, sizeof(s->torn),
		    "the %s of %s in dimension %u of %u is in pieces: nothing goes up from %s or "
		    "%s",
		    kinds[r->g->kind[r->dim]], s->fab->sw_name[r->sw[x]], r->dim + 1, r->g->n_dims,
		    s->fab->sw_name[r->sw[x]], s->fab->sw_name[r->sw[y]]);
}

static uint32_t
add_choice(struct fm_grid_steps *s, const fm_arc *arc, uint32_t n)
{
	struct fm_grid_choice *c = &s->several[s->n_several];

	c->n = n;
	memcpy(c->arc, arc, n * sizeof(*arc));
	return FM_STEP_SEVERAL | s->n_several++;
}

/* ------------------------------------------------------------ lines and rings */

static void
load_ways(struct row *r)
{
	const struct fm_grid_steps *s = r->s;

	memset(r->way, 0xff, 2 * (size_t)r->size * sizeof(*r->way));
	for (uint32_t x = 0; x < r->size; x++) {
		fm_sw u = r->sw[x];

		for (fm_arc a = u != FM_NONE ? s->arcs->first[u] : 0;
		     u != FM_NONE && a < s->arcs->first[u + 1]; a++)
			if (s->grids->arc_dim[a] == r->dim)
				r->way[2 * x + (s->grids->arc_step[a] > 0)] = a;
	}
}

/* Where nothing goes up; ranks from behind the last such place on. */
static void
find_breaks(struct row *r)
{
	uint32_t before = FM_NONE, last = 0;

	r->n_breaks = 0;
	for (uint32_t x = 0; x < r->size; x++) {
		if (r->sw[x] == FM_NONE || r->way[2 * x + 1] != FM_NONE)
			continue;
		r->n_breaks++;
		before = last;
		last = x;
	}
	for (uint32_t i = 0; r->n_breaks > 0 && i < r->size; i++)
		r->rank[(last + 1 + i) % r->size] = i;
	if (r->n_breaks > 1)
		note_torn(r, last, before);
}

/* Missing switches side by side, round the end of a ring too. */
static void
find_wide_holes(struct row *r)
{
	uint32_t n = r->g->kind[r->dim] == FM_GRID_RING ? r->size : r->size - 1;
	fm_sw some = FM_NONE;

	for (uint32_t x = 0; x < r->size; x++)
		some = r->sw[x] != FM_NONE ? r->sw[x] : some;
	for (uint32_t x = 0; x < n && some != FM_NONE && !is_last_dim(r); x++)
		if (r->sw[x] == FM_NONE && r->sw[(x + 1) % r->size] == FM_NONE) {
			r->s->n_wide_holes++;
			r->s->beside_wide_hole = some;
		}
}

/* Up from x to y, where both are on the row; for a hole y: whichever way is nearer. */
static bool
goes_up(const struct row *r, uint32_t x, uint32_t y, uint32_t parity)
{
	if (r->g->kind[r->dim] == FM_GRID_LINE)
		return y > x;
	if (r->n_breaks > 0 && r->sw[y] != FM_NONE)
		return r->rank[y] > r->rank[x];
	return fm_ring_goes_up(r->size, x, y, parity);
}

static uint32_t
step_to_hole(struct row *r, uint32_t x, uint32_t y)
{
	bool up = goes_up(r, x, y, 0);
	uint32_t next = up ? (x + 1) % r->size : (x + r->size - 1) % r->size;

	if (is_last_dim(r))
		return FM_NONE;
	if (next != y)
		return r->way[2 * x + up];
	r->s->turns = true;
	return FM_STEP_TURN;
}

static uint32_t
tied_step(struct row *r, uint32_t x, uint32_t y)
{
	fm_arc arc[2];
	/* the next coordinate of this row's switches is the same for all of them */
	uint32_t here = is_last_dim(r) ? 0 : fm_grid_at(r->g, r->first, r->dim + 1);

	for (uint32_t parity = 0; parity < 2; parity++) {
		bool up = r->s->ties == FM_TIES_MIRRORED
		    ? fm_ring_goes_up(r->size, x, y, here + parity)
		    : ((y + parity) & 1) == 0;

		arc[parity] = r->way[2 * x + up];
	}
	if (is_last_dim(r) && r->s->ties == FM_TIES_MIRRORED)
		return arc[0];
	return add_choice(r->s, arc, 2);
}

static void
step_row(struct row *r)
{
	bool ring = r->g->kind[r->dim] == FM_GRID_RING;

	load_ways(r);
	find_breaks(r);
	find_wide_holes(r);
	for (uint32_t x = 0; x < r->size; x++) {
		uint32_t *slot = r->sw[x] != FM_NONE ? slots_of(r, x) : NULL;

		for (uint32_t y = 0; slot != NULL && y < r->size; y++) {
			bool tie = ring && 2 * (y > x ? y - x : x - y) == r->size;

			if (x == y)
				continue;
			slot[y] = r->sw[y] == FM_NONE ? step_to_hole(r, x, y)
			    : tie && r->n_breaks == 0 ? tied_step(r, x, y)
						      : r->way[2 * x + goes_up(r, x, y, 0)];
		}
	}
}

/* ------------------------------------------------------------ cliques */

static void
load_clique(struct row *r)
{
	const struct fm_grid_steps *s = r->s;

	memset(r->way, 0xff, (size_t)r->size * r->size * sizeof(*r->way));
	memset(r->rank, 0, r->size * sizeof(*r->rank));
	for (uint32_t x = 0; x < r->size; x++) {
		fm_sw u = r->sw[x];

		for (fm_arc a = u != FM_NONE ? s->arcs->first[u] : 0;
		     u != FM_NONE && a < s->arcs->first[u + 1]; a++)
			if (s->grids->arc_dim[a] == r->dim)
				r->way[x * r->size +
				    fm_grid_at(r->g, s->grids->cell[s->arcs->to[a]], r->dim)] = a;
		for (uint32_t y = 0; y < r->size; y++)
			r->rank[x] += y != x && r->way[x * r->size + y] == FM_NONE;
	}
}

/* Is z before x in the order of those that lack few cables? */
static bool
lacks_less(const struct row *r, uint32_t z, uint32_t x)
{
	return r->rank[z] != r->rank[x] ? r->rank[z] < r->rank[x] : z < x;
}

static uint32_t
by_a_third(struct row *r, uint32_t x, uint32_t y)
{
	fm_arc arc[FM_STEP_CHOICES];
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->size && n < FM_STEP_CHOICES; i++) {
		uint32_t z = (x + y + i) % r->size;

		if (r->way[x * r->size + z] != FM_NONE && r->way[z * r->size + y] != FM_NONE &&
		    lacks_less(r, z, x) && lacks_less(r, z, y))
			arc[n++] = r->way[x * r->size + z];
	}
	if (n == 0) {
		note_torn(r, x, y);
		return FM_NONE;
	}
	return n == 1 ? arc[0] : add_choice(r->s, arc, n);
}

static void
step_clique(struct row *r)
{
	load_clique(r);
	for (uint32_t x = 0; x < r->size; x++) {
		uint32_t *slot = r->sw[x] != FM_NONE ? slots_of(r, x) : NULL;

		for (uint32_t y = 0; slot != NULL && y < r->size; y++) {
			if (x == y)
				continue;
			slot[y] = r->way[x * r->size + y];
			if (slot[y] != FM_NONE)
				continue;
			if (r->sw[y] != FM_NONE)
				slot[y] = by_a_third(r, x, y);
			else if (!is_last_dim(r)) {
				slot[y] = FM_STEP_TURN;
				r->s->turns = true;
			}
		}
	}
}

/* ------------------------------------------------------------ all rows */

static int
step_rows(struct fm_grid_steps *s, uint32_t grid, uint32_t dim, struct fm_error *err)
{
	const struct fm_grid *g = &s->grids->grid[grid];
	uint32_t size = g->size[dim], stride = g->stride[dim];
	bool clique = g->kind[dim] == FM_GRID_CLIQUE;
	struct row r = { .s = s, .g = g, .grid = grid, .dim = dim, .size = size };

	r.sw = fm_scratch_array(s->host, size, fm_sw);
	r.rank = fm_scratch_array(s->host, size, uint32_t);
	r.way = fm_scratch_array(s->host, (size_t)size * (clique ? size : 2), fm_arc);
	if (r.sw == NULL || r.rank == NULL || r.way == NULL)
		return fm_no_scratch(s->host, "rows of a grid", err);
	for (uint32_t base = 0; base < g->n_cells; base += size * stride)
		for (r.first = base; r.first < base + stride; r.first++) {
			for (uint32_t x = 0; x < size; x++)
				r.sw[x] = g->cell_sw[r.first + x * stride];
			if (clique)
				step_clique(&r);
			else
				step_row(&r);
		}
	return 0;
}

/* Slots that may hold several arcs. */
static uint32_t
most_choices(const struct fm_grids *grids)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < grids->n_grids; i++) {
		const struct fm_grid *g = &grids->grid[i];

		for (uint32_t d = 0; d < g->n_dims; d++)
			if (g->kind[d] == FM_GRID_RING && g->size[d] % 2 == 0)
				n += g->n_switches;
		n += 2 * g->n_cut;
	}
	return n;
}

static int
number_slots(struct fm_grid_steps *s, struct fm_error *err)
{
	const struct fm_grids *grids = s->grids;
	uint32_t n_switches = s->fab->n_switches, n = 0;

	s->dim_slot = fm_scratch_bytes(s->host, grids->n_grids, sizeof(*s->dim_slot));
	s->first_slot = fm_scratch_array(s->host, (size_t)n_switches + 1, uint32_t);
	if (s->dim_slot == NULL || s->first_slot == NULL)
		return fm_no_scratch(s->host, "steps on a grid", err);
	for (fm_sw u = 0; u < n_switches; u++) {
		const struct fm_grid *g = &grids->grid[grids->grid_of[u]];
		uint32_t at = 0;

		s->first_slot[u] = n;
		for (uint32_t d = 0; d < g->n_dims; d++) {
			s->dim_slot[grids->grid_of[u]][d] = at;
			at += g->size[d];
		}
		n += at;
	}
	s->first_slot[n_switches] = n;
	s->slot = fm_scratch_array(s->host, n, uint32_t);
	s->several = fm_scratch_array(s->host, most_choices(grids), struct fm_grid_choice);
	if (s->slot == NULL || s->several == NULL)
		return fm_no_scratch(s->host, "steps on a grid", err);
	memset(s->slot, 0xff, n * sizeof(*s->slot));
	return 0;
}

int
fm_grid_steps_build(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const struct fm_grids *grids, enum fm_ties ties,
    struct fm_grid_steps *out, struct fm_error *err)
{
	struct fm_grid_steps s = {
		.host = host, .fab = fab, .arcs = arcs, .grids = grids, .ties = ties
	};
	int rc = number_slots(&s, err);

	for (uint32_t i = 0; i < grids->n_grids; i++)
		for (uint32_t d = 0; rc == 0 && d < grids->grid[i].n_dims; d++)
			rc = step_rows(&s, i, d, err);
	if (rc == 0)
		*out = s;
	return rc;
}
