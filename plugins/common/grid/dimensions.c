/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long rings first: paths turn off them early, and the last dimension, the only
 * one where the choice of half a ring is not evened out by the others, is the
 * one with least load.
 */
#include "plugins/common/grid/dimensions.h"

#include <string.h>

static const struct fm_grid *
grid_of(const struct fm_dimensions *d, fm_sw s)
{
	return &d->grids->grid[d->grids->grid_of[s]];
}

/* Stable: equal sizes keep their order. */
static void
order_dims(const struct fm_grid *g, uint8_t *order)
{
	for (uint32_t i = 0; i < g->n_dims; i++) {
		uint32_t k = i;

		for (; k > 0 && g->size[order[k - 1]] < g->size[i]; k--)
			order[k] = order[k - 1];
		order[k] = (uint8_t)i;
	}
}

static bool
number_datelines(struct fm_dimensions *d, uint32_t which)
{
	const struct fm_grid *g = &d->grids->grid[which];
	uint8_t *order = d->order + (size_t)which * FM_GRID_MAX_DIMS;
	uint8_t *dateline = d->dateline + (size_t)which * FM_GRID_MAX_DIMS;
	unsigned n = 0;

	order_dims(g, order);
	for (uint32_t i = 0; i < g->n_dims; i++) {
		bool is_long = g->kind[order[i]] == FM_GRID_RING && g->size[order[i]] > 3;

		if (is_long && n == FM_MAX_DATELINES)
			return false;
		dateline[i] = (uint8_t)(is_long ? n++ : FM_MAX_DATELINES);
	}
	d->n_datelines = n > d->n_datelines ? n : d->n_datelines;
	return true;
}

/* The arc from s to the coordinate `to` of its i-th dimension, or FM_NONE where it is missing. */
static fm_arc
arc_to(const struct fm_dimensions *d, fm_sw s, uint32_t i, uint32_t to)
{
	const struct fm_grid *g = grid_of(d, s);
	uint32_t dim = d->order[d->grids->grid_of[s] * FM_GRID_MAX_DIMS + i];
	uint32_t from = d->at[(size_t)s * FM_GRID_MAX_DIMS + i];
	fm_sw next = g->cell_sw[d->grids->cell[s] + (to - from) * g->stride[dim]];

	return next == FM_NONE ? FM_NONE : fm_arc_find(d->arcs, s, next);
}

/* Arcs that follow one another from s on, up or down the i-th dimension, a ring. */
static uint16_t
count_run(const struct fm_dimensions *d, fm_sw s, uint32_t i, uint32_t size, uint32_t step)
{
	uint32_t n = 0;

	while (n < size) {
		uint32_t to = (d->at[(size_t)s * FM_GRID_MAX_DIMS + i] + step) % size;
		fm_arc a = arc_to(d, s, i, to);

		if (a == FM_NONE)
			break;
		s = d->arcs->to[a];
		n++;
	}
	return (uint16_t)n;
}

static int
look_for_gaps(const struct fm_host *host, struct fm_dimensions *d, struct fm_error *err)
{
	size_t n = d->arcs->n_switches;

	d->regular = fm_scratch_array(host, n * n, uint8_t);
	d->run = fm_scratch_array(host, n * FM_GRID_MAX_DIMS * 2, uint16_t);
	if (d->regular == NULL || d->run == NULL)
		return fm_no_scratch(host, "gaps in the grid", err);
	for (fm_sw s = 0; s < n; s++)
		for (uint32_t i = 0; i < grid_of(d, s)->n_dims; i++) {
			const struct fm_grid *g = grid_of(d, s);
			uint32_t dim = d->order[d->grids->grid_of[s] * FM_GRID_MAX_DIMS + i];
			uint16_t *run = d->run + (s * FM_GRID_MAX_DIMS + i) * 2;

			if (g->kind[dim] != FM_GRID_RING)
				continue;
			run[0] = count_run(d, s, i, g->size[dim], 1);
			run[1] = count_run(d, s, i, g->size[dim], g->size[dim] - 1);
		}
	return 0;
}

int
fm_dimensions_find(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, struct fm_dimensions *out, struct fm_error *err)
{
	struct fm_grids *grids = fm_scratch_array(host, 1, struct fm_grids);
	size_t n = arcs->n_switches;
	bool whole = true;
	int rc;

	if (grids == NULL)
		return fm_no_scratch(host, "dimensions", err);
	if ((rc = fm_grid_find(host, fab, arcs, FM_GRID_SPLIT_FOURS, grids, err)) != 0)
		return rc;
	*out = (struct fm_dimensions){ .arcs = arcs, .grids = grids };
	out->order = fm_scratch_array(host, (size_t)grids->n_grids * FM_GRID_MAX_DIMS, uint8_t);
	out->dateline = fm_scratch_array(host, (size_t)grids->n_grids * FM_GRID_MAX_DIMS, uint8_t);
	out->at = fm_scratch_array(host, n * FM_GRID_MAX_DIMS, uint16_t);
	if (out->order == NULL || out->dateline == NULL || out->at == NULL)
		return fm_no_scratch(host, "dimensions", err);
	for (uint32_t i = 0; i < grids->n_grids; i++) {
		if (!number_datelines(out, i))
			return host->fail(host, err, FM_E_TOPOLOGY, "a torus of more than %d rings",
			    FM_MAX_DATELINES);
		whole &= grids->grid[i].n_cut == 0 && grids->grid[i].n_holes == 0;
	}
	for (fm_sw s = 0; s < n; s++)
		for (uint32_t i = 0; i < grid_of(out, s)->n_dims; i++)
			out->at[s * FM_GRID_MAX_DIMS + i] = (uint16_t)fm_grid_at(grid_of(out, s),
			    grids->cell[s], out->order[grids->grid_of[s] * FM_GRID_MAX_DIMS + i]);
	return whole ? 0 : look_for_gaps(host, out, err);
}

/* From u to t half round the i-th ring: is it the way that crosses no dateline? */
static bool
stays_inside(const uint16_t *u, const uint16_t *t, uint32_t i, uint32_t n_dims)
{
	unsigned parity = u[i] < t[i] ? u[i] : t[i];

	while (++i < n_dims)
		parity += u[i] + t[i];
	return parity % 2 == 0;
}

/* +1 or -1 along the i-th dimension, a ring, from u towards t; they differ there. */
static int
ring_step(const uint16_t *u, const uint16_t *t, uint32_t i, uint32_t n_dims, uint32_t size)
{
	uint32_t up = u[i] < t[i] ? (uint32_t)t[i] - u[i] : t[i] + size - u[i];

	if (2 * up != size)
		return 2 * up < size ? 1 : -1;
	return (u[i] < t[i]) == stays_inside(u, t, i, n_dims) ? 1 : -1;
}

unsigned
fm_datelines(const struct fm_dimensions *d, fm_sw s, fm_sw t)
{
	const struct fm_grid *g = grid_of(d, s);
	const uint8_t *order = d->order + (size_t)d->grids->grid_of[s] * FM_GRID_MAX_DIMS;
	const uint8_t *dateline = d->dateline + (size_t)d->grids->grid_of[s] * FM_GRID_MAX_DIMS;
	const uint16_t *u = d->at + (size_t)s * FM_GRID_MAX_DIMS,
		       *v = d->at + (size_t)t * FM_GRID_MAX_DIMS;
	unsigned crossed = 0;

	for (uint32_t i = 0; i < g->n_dims; i++) {
		if (dateline[i] == FM_MAX_DATELINES || u[i] == v[i])
			continue;
		if ((ring_step(u, v, i, g->n_dims, g->size[order[i]]) > 0) != (u[i] < v[i]))
			crossed |= 1u << dateline[i];
	}
	return crossed;
}

unsigned
fm_dateline_of(const struct fm_dimensions *d, fm_arc a)
{
	uint32_t which = d->grids->grid_of[d->arcs->to[a]];

	for (uint32_t i = 0; i < d->grids->grid[which].n_dims; i++)
		if (d->order[which * FM_GRID_MAX_DIMS + i] == d->grids->arc_dim[a])
			return d->dateline[which * FM_GRID_MAX_DIMS + i];
	return FM_MAX_DATELINES;
}

/* Where the i-th dimension of s, a ring, goes on towards t: the shorter way, or that without
 * a gap; FM_NONE: there is none. */
static uint32_t
ring_next(const struct fm_dimensions *d, fm_sw s, fm_sw t, uint32_t i, uint32_t size)
{
	const uint16_t *u = d->at + (size_t)s * FM_GRID_MAX_DIMS,
		       *v = d->at + (size_t)t * FM_GRID_MAX_DIMS;
	uint32_t up = u[i] < v[i] ? (uint32_t)v[i] - u[i] : v[i] + size - u[i];
	bool goes_up = ring_step(u, v, i, grid_of(d, s)->n_dims, size) > 0;

	if (d->run != NULL) {
		const uint16_t *run = d->run + ((size_t)s * FM_GRID_MAX_DIMS + i) * 2;
		bool can_up = run[0] >= up, can_down = run[1] >= size - up;

		if (!can_up && !can_down)
			return FM_NONE;
		goes_up = goes_up ? can_up : !can_down;
	}
	return (u[i] + (goes_up ? 1 : size - 1)) % size;
}

/* The next arc of the regular path from s to t, or FM_NONE where it is missing. */
static fm_arc
regular_arc(const struct fm_dimensions *d, const struct fm_grid *g, fm_sw s, fm_sw t)
{
	const uint8_t *order = d->order + (size_t)d->grids->grid_of[s] * FM_GRID_MAX_DIMS;
	const uint16_t *u = d->at + (size_t)s * FM_GRID_MAX_DIMS,
		       *v = d->at + (size_t)t * FM_GRID_MAX_DIMS;
	uint32_t i = 0, to;

	while (u[i] == v[i])
		i++;
	if (g->kind[order[i]] == FM_GRID_CLIQUE)
		to = v[i];
	else if (g->kind[order[i]] == FM_GRID_LINE)
		to = u[i] < v[i] ? u[i] + 1u : u[i] - 1u;
	else
		to = ring_next(d, s, t, i, g->size[order[i]]);
	return to == FM_NONE ? FM_NONE : arc_to(d, s, i, to);
}

/* Switches whose regular path is whole, nearest first. */
static uint32_t
find_regular(const struct fm_dimensions *d, fm_sw root, uint8_t *step, fm_sw *order)
{
	const struct fm_grid *g = grid_of(d, root);
	uint32_t n = 0;

	memset(step, FM_STEP_NONE, d->arcs->n_switches);
	for (uint32_t c = 0; c < g->n_cells; c++) {
		fm_sw s = g->cell_sw[c];
		fm_arc a = s == FM_NONE || s == root ? FM_NONE : regular_arc(d, g, s, root);

		if (a != FM_NONE)
			step[s] = (uint8_t)(a - d->arcs->first[s]);
	}
	/* outwards along the steps: what points at a switch of the tree is on it */
	order[n++] = root;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw v = order[i];

		for (fm_arc a = d->arcs->first[v]; a < d->arcs->first[v + 1]; a++) {
			fm_sw u = d->arcs->to[a];

			if (u != root && step[u] != FM_STEP_NONE &&
			    d->arcs->to[d->arcs->first[u] + step[u]] == v)
				order[n++] = u;
		}
	}
	return n;
}

/* Let those with broken paths go round; they are irregular. */
static uint32_t
attach_others(const struct fm_dimensions *d, fm_sw root, uint8_t *step, fm_sw *order, uint32_t n)
{
	uint8_t *regular = d->regular + (size_t)root * d->arcs->n_switches;

	memset(regular, 0, d->arcs->n_switches);
	for (uint32_t i = 0; i < n; i++)
		regular[order[i]] = 1;
	for (fm_sw s = 0; s < d->arcs->n_switches; s++)
		step[s] = regular[s] ? step[s] : FM_STEP_NONE;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw v = order[i];

		for (fm_arc a = d->arcs->first[v]; a < d->arcs->first[v + 1]; a++) {
			fm_sw u = d->arcs->to[a];

			if (regular[u] || step[u] != FM_STEP_NONE)
				continue;
			step[u] = (uint8_t)(fm_arc_find(d->arcs, u, v) - d->arcs->first[u]);
			order[n++] = u;
		}
	}
	return n;
}

uint32_t
fm_dimensions_tree(const struct fm_dimensions *d, fm_sw root, uint8_t *step, fm_sw *order)
{
	uint32_t n = find_regular(d, root, step, order);

	return d->regular == NULL ? n : attach_others(d, root, step, order, n);
}
