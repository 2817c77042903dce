/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How to call dimensions, directions and origins of a grid so that tomorrow, with
 * a cable or a switch less, everything is called the same.
 *
 * Each question is put to a vote of switches or rows.  Grids are cabled
 * alike everywhere, so the vote is nearly unanimous and survives any failure.
 * Where fewer than three of four agree (ports cabled at random, GUIDs in no order)
 * there is nothing to agree on, and the lowest number decides: it changes with a
 * failure of just that switch.  Numbers follow GUIDs, or cables (FM_NUMBERED_BY_CABLES).
 *
 *	order of dimensions	place of their lowest ports among the ports of a switch
 *	which way is up		the lower of the two ports
 *	origin of a ring	where the first switch of each row is
 */
#include <string.h>

#include "plugins/common/grid/grid_internal.h"

struct viewer {
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_grids *grids;
	const struct fm_grid *g;
	uint32_t which;
	/* [dim] */
	uint32_t rank_sum[FM_GRID_MAX_DIMS];
	uint32_t n_ranked; /* switches with arcs of every dimension */
	uint32_t n_both[FM_GRID_MAX_DIMS], n_up_lower[FM_GRID_MAX_DIMS];
	/* of the dimension looked at */
	uint32_t
	    *row_first;	    /* [n_cells] by the row's cell of coordinate 0: whose switch is first */
	fm_sw *level_first; /* [largest size] */
	uint32_t *votes;    /* [largest size] rows whose first switch is there */
	uint32_t n_rows;
};

static uint8_t
lowest_port(const struct viewer *v, fm_arc a)
{
	return v->fab->link_port[v->arcs->link[a]];
}

/* Ports of one switch: rank of each dimension, up against down. */
static void
look_at_ports(struct viewer *v, fm_sw u)
{
	unsigned port[FM_GRID_MAX_DIMS], side[FM_GRID_MAX_DIMS][2] = { { 0 } }, n = 0;

	for (uint32_t d = 0; d < v->g->n_dims; d++)
		port[d] = 256;
	for (fm_arc a = v->arcs->first[u]; a < v->arcs->first[u + 1]; a++) {
		uint8_t d = v->grids->arc_dim[a], p = lowest_port(v, a);

		n += port[d] == 256;
		port[d] = p < port[d] ? p : port[d];
		side[d][v->grids->arc_step[a] > 0] = p;
	}
	for (uint32_t d = 0; d < v->g->n_dims; d++)
		if (side[d][0] != 0 && side[d][1] != 0) {
			v->n_both[d]++;
			v->n_up_lower[d] += side[d][1] < side[d][0];
		}
	if (n < v->g->n_dims)
		return;
	v->n_ranked++;
	for (uint32_t d = 0; d < v->g->n_dims; d++)
		for (uint32_t e = 0; e < v->g->n_dims; e++)
			v->rank_sum[d] += port[e] < port[d];
}

static fm_sw
sw_at(const struct viewer *v, uint32_t cell)
{
	return v->g->cell_sw[cell];
}

/* First switches of the rows and levels of d. */
static void
look_at_numbers(struct viewer *v, uint32_t d)
{
	const struct fm_grid *g = v->g;

	memset(v->row_first, 0xff, g->n_cells * sizeof(*v->row_first));
	memset(v->level_first, 0xff, g->size[d] * sizeof(*v->level_first));
	memset(v->votes, 0, g->size[d] * sizeof(*v->votes));
	v->n_rows = 0;
	for (uint32_t cell = 0; cell < g->n_cells; cell++) {
		uint32_t x = fm_grid_at(g, cell, d),
			 *first = &v->row_first[cell - x * g->stride[d]];

		if (g->cell_sw[cell] == FM_NONE)
			continue;
		if (*first == FM_NONE || sw_at(v, cell) < sw_at(v, *first))
			*first = cell;
		if (sw_at(v, cell) < v->level_first[x])
			v->level_first[x] = sw_at(v, cell);
	}
	for (uint32_t cell = 0; cell < g->n_cells; cell++)
		if (v->row_first[cell] != FM_NONE) {
			v->n_rows++;
			v->votes[fm_grid_at(g, v->row_first[cell], d)]++;
		}
}

/* The level that most rows vote for, or that of the first switch of all. */
static uint32_t
choose_origin(const struct viewer *v, uint32_t d)
{
	uint32_t best = 0;

	for (uint32_t x = 0; x < v->g->size[d]; x++)
		if (4 * v->votes[x] > 3 * v->n_rows)
			return x;
	for (uint32_t x = 0; x < v->g->size[d]; x++)
		if (v->level_first[x] < v->level_first[best])
			best = x;
	return best;
}

static bool
choose_flip(const struct viewer *v, uint32_t d, uint32_t origin)
{
	uint32_t n = v->g->size[d];
	const fm_sw *first = v->level_first;

	if (n > 2 && 4 * v->n_up_lower[d] > 3 * v->n_both[d])
		return false;
	if (n > 2 && 4 * v->n_up_lower[d] < v->n_both[d])
		return true;
	if (v->g->kind[d] == FM_GRID_RING)
		return first[(origin + n - 1) % n] < first[(origin + 1) % n];
	if (4 * v->votes[0] > 3 * v->n_rows || 4 * v->votes[n - 1] > 3 * v->n_rows)
		return v->votes[n - 1] > v->votes[0];
	return first[n - 1] < first[0];
}

/* The first switch on the axis of d through the origin, itself left out. */
static fm_sw
axis_first(const struct viewer *v, uint32_t d, const uint32_t *origin)
{
	fm_sw least = FM_NONE;
	uint32_t cell = 0;

	for (uint32_t e = 0; e < v->g->n_dims; e++)
		cell += origin[e] * v->g->stride[e];
	for (uint32_t x = 0; x < v->g->size[d]; x++) {
		uint32_t there = cell + x * v->g->stride[d] - origin[d] * v->g->stride[d];

		if (x != origin[d] && v->g->cell_sw[there] != FM_NONE && sw_at(v, there) < least)
			least = sw_at(v, there);
	}
	return least;
}

/* Dimensions by the rank of their ports if that is nearly the same everywhere. */
static bool
rank_dims(const struct viewer *v, uint64_t *key)
{
	uint32_t seen = 0, n = v->n_ranked;

	for (uint32_t d = 0; d < v->g->n_dims && n > 0; d++) {
		uint32_t rank = (v->rank_sum[d] + n / 2) / n;
		uint32_t off = rank * n > v->rank_sum[d] ? rank * n - v->rank_sum[d]
							 : v->rank_sum[d] - rank * n;

		if (4 * off > n || (seen >> rank & 1))
			return false;
		seen |= 1u << rank;
		key[d] = rank;
	}
	return n > 0;
}

static void
sort_dims(const struct viewer *v, const uint32_t *origin, uint32_t *dim)
{
	uint64_t key[FM_GRID_MAX_DIMS];

	if (!rank_dims(v, key))
		for (uint32_t d = 0; d < v->g->n_dims; d++)
			key[d] = axis_first(v, d, origin);
	for (uint32_t d = 0; d < v->g->n_dims; d++) {
		uint32_t i = d;

		for (; i > 0 && key[dim[i - 1]] > key[d]; i--)
			dim[i] = dim[i - 1];
		dim[i] = d;
	}
}

int
grid_choose_view(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const struct fm_grids *grids, uint32_t which,
    struct fm_grid_view *view, struct fm_error *err)
{
	struct viewer v = {
		.fab = fab, .arcs = arcs, .grids = grids, .g = &grids->grid[which], .which = which
	};
	uint32_t origin[FM_GRID_MAX_DIMS] = { 0 };
	bool flip[FM_GRID_MAX_DIMS] = { false };

	v.row_first = fm_scratch_array(host, v.g->n_cells, uint32_t);
	v.level_first = fm_scratch_array(host, v.g->n_cells, fm_sw);
	v.votes = fm_scratch_array(host, v.g->n_cells, uint32_t);
	if (v.row_first == NULL || v.level_first == NULL || v.votes == NULL)
		return fm_no_scratch(host, "view of a grid", err);
	for (uint32_t cell = 0; cell < v.g->n_cells; cell++)
		if (v.g->cell_sw[cell] != FM_NONE)
			look_at_ports(&v, v.g->cell_sw[cell]);
	for (uint32_t d = 0; d < v.g->n_dims; d++) {
		look_at_numbers(&v, d);
		origin[d] = choose_origin(&v, d);
		if (v.g->kind[d] != FM_GRID_CLIQUE)
			flip[d] = choose_flip(&v, d, origin[d]);
	}
	sort_dims(&v, origin, view->dim);
	for (uint32_t d = 0; d < v.g->n_dims; d++) {
		uint32_t from = view->dim[d];

		view->flip[d] = flip[from];
		view->origin[d] = v.g->kind[from] != FM_GRID_LINE ? origin[from]
		    : flip[from]				  ? v.g->size[from] - 1
								  : 0;
	}
	return 0;
}

/* ------------------------------------------------------------ rings of 4 */

/* How many of the ports of d are ports of e, of four. */
static uint32_t
ports_in_common(const uint32_t *d, const uint32_t *e)
{
	uint64_t common = 0, all = 0;

	for (unsigned p = 0; p < 256; p++) {
		common += d[p] < e[p] ? d[p] : e[p];
		all += d[p];
	}
	return all == 0 ? 0 : (uint32_t)(4 * common / all);
}

/* Pair d with the one other line of 2 that shares three of four ports with it. */
static void
pair_by_ports(
    const struct fm_grid *g, uint32_t (*ports)[256], uint32_t *partner /* [FM_GRID_MAX_DIMS] */)
{
	uint32_t likely[FM_GRID_MAX_DIMS];

	for (uint32_t d = 0; d < g->n_dims; d++) {
		uint32_t n = 0;

		likely[d] = FM_NONE;
		for (uint32_t e = 0; g->size[d] == 2 && e < g->n_dims; e++)
			if (e != d && g->size[e] == 2 && ports_in_common(ports[d], ports[e]) >= 3) {
				likely[d] = e;
				n++;
			}
		if (n != 1)
			likely[d] = FM_NONE;
	}
	for (uint32_t d = 0; d < g->n_dims; d++)
		if (likely[d] != FM_NONE && likely[likely[d]] == d)
			partner[d] = likely[d];
}

int
grid_find_fours(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    const struct fm_grids *grids, uint32_t which, bool any, uint32_t *partner, struct fm_error *err)
{
	const struct fm_grid *g = &grids->grid[which];
	uint32_t(*ports)[256] = fm_scratch_bytes(host, FM_GRID_MAX_DIMS, sizeof(*ports));
	uint32_t left = FM_NONE;

	if (ports == NULL)
		return fm_no_scratch(host, "ports of a grid", err);
	memset(partner, 0xff, FM_GRID_MAX_DIMS * sizeof(*partner));
	for (uint32_t cell = 0; cell < g->n_cells; cell++) {
		fm_sw u = g->cell_sw[cell];

		for (fm_arc a = u != FM_NONE ? arcs->first[u] : 0;
		     u != FM_NONE && a < arcs->first[u + 1]; a++)
			ports[grids->arc_dim[a]][fab->link_port[arcs->link[a]]]++;
	}
	pair_by_ports(g, ports, partner);
	for (uint32_t d = 0; any && d < g->n_dims; d++) {
		if (g->size[d] != 2 || partner[d] != FM_NONE)
			continue;
		if (left == FM_NONE) {
			left = d;
			continue;
		}
		partner[d] = left;
		partner[left] = d;
		left = FM_NONE;
	}
	return 0;
}
