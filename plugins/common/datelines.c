/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/datelines.h"

#include <string.h>

#define NO_RING 16
#define MAX_RINGS 4 /* SL bits */

/* SL bits of 16 coordinates side by side. */
typedef uint8_t sixteen __attribute__((vector_size(16)));
#define N_SIXTEEN ((uint32_t)sizeof(sixteen))

/* ------------------------------------------------------------ SLs */

/* Rings get SL bits in the order of their dimensions. */
static int
number_rings(struct fm_datelines *d, bool *long_ring, struct fm_error *err)
{
	const struct fm_grid_steps *s = d->steps;

	d->ring = fm_scratch_bytes(s->host, s->grids->n_grids, sizeof(*d->ring));
	if (d->ring == NULL)
		return fm_no_scratch(s->host, "datelines", err);
	for (uint32_t i = 0; i < s->grids->n_grids; i++) {
		const struct fm_grid *g = &s->grids->grid[i];
		uint8_t n = 0;

		memset(d->ring[i], NO_RING, sizeof(d->ring[i]));
		for (uint32_t k = 0; k < g->n_dims; k++)
			if (g->kind[k] == FM_GRID_RING) {
				d->ring[i][k] = n++;
				*long_ring = *long_ring || g->size[k] > 3;
			}
		if (n > MAX_RINGS)
			return s->host->fail(err, FM_E_TOPOLOGY,
			    "a torus of %u rings needs an SL bit for each, and an SL has %u bits",
			    n, MAX_RINGS);
		d->n_rings = n > d->n_rings ? n : d->n_rings;
	}
	return 0;
}

/* SL bit of the way from x to y on a ring that nothing is missing of. */
static uint8_t
crossing(
    const struct fm_grid *g, uint32_t dim, uint32_t x, uint32_t y, uint32_t parity, uint8_t bit)
{
	bool up = fm_ring_goes_up(g->size[dim], x, y, dim + 1 < g->n_dims ? parity : 0);

	return (uint8_t)((up ? x > y : x < y) << bit);
}

static void
note_crossings(struct fm_datelines *d, fm_sw u)
{
	const struct fm_grid_steps *s = d->steps;
	uint32_t grid = s->grids->grid_of[u], cell = s->grids->cell[u];
	const struct fm_grid *g = &s->grids->grid[grid];

	for (uint32_t k = 0; k < g->n_dims; k++) {
		uint32_t x = fm_grid_at(g, cell, k);
		uint32_t next = k + 1 < g->n_dims ? fm_grid_at(g, cell, k + 1) : 0;
		uint8_t(*sl)[2] = &d->sl[s->first_slot[u] + s->dim_slot[grid][k]];

		if (d->ring[grid][k] == NO_RING)
			continue;
		for (uint32_t y = 0; y < g->size[k]; y++)
			for (uint32_t parity = 0; y != x && parity < 2; parity++)
				sl[y][parity] =
				    crossing(g, k, x, y, next + parity, d->ring[grid][k]);
		for (uint32_t y = 0; k + 1 == g->n_dims && y < g->size[k]; y++)
			d->last[(size_t)u * d->last_stride + y] = sl[y][0];
	}
}

struct sl_row {
	const struct fm_grid *g;
	const uint32_t *dim_slot;
	uint8_t (*sl)[2]; /* of the switch */
	uint8_t *by_cell;
	const uint8_t *last; /* [last_stride] */
};

/* Cells of a line of the last dimension, those behind its end as well: they are
 * written after it.  even, odd: bits so far, by the parity of the coordinate. */
static inline void
fill_line(const struct sl_row *r, uint8_t *cells, uint32_t size, uint8_t even, uint8_t odd)
{
	uint16_t two = (uint16_t)(odd << 8 | even);
	uint64_t eight = two * UINT64_C(0x0001000100010001);
	sixteen so_far;

	memcpy(&so_far, &eight, 8);
	memcpy((char *)&so_far + 8, &eight, 8);
	for (uint32_t x = 0; x < size; x += N_SIXTEEN) {
		sixteen line;

		memcpy(&line, r->last + x, N_SIXTEEN);
		line |= so_far;
		memcpy(cells + x, &line, N_SIXTEEN);
	}
}

/* Cells from base on: dimension k and behind.  so_far: bits of the dimensions before;
 * before: those of dimension k - 1, by the parity of coordinate k. */
static void
fill_sls(const struct sl_row *r, uint32_t k, uint32_t base, uint8_t so_far, const uint8_t *before)
{
	uint8_t(*sl)[2] = &r->sl[r->dim_slot[k]];
	uint32_t size = r->g->size[k], stride = r->g->stride[k];

	if (k + 1 == r->g->n_dims) {
		fill_line(r, r->by_cell + base, size, so_far | before[0], so_far | before[1]);
		return;
	}
	for (uint32_t x = 0; x < size; x++)
		fill_sls(r, k + 1, base + x * stride, so_far | before[x & 1], sl[x]);
}

void
fm_datelines_sls(const void *arg, fm_sw u, uint8_t *by_cell)
{
	const struct fm_datelines *d = arg;
	const struct fm_grid_steps *s = d->steps;
	uint32_t grid = s->grids->grid_of[u];
	struct sl_row r = { .g = &s->grids->grid[grid],
		.dim_slot = s->dim_slot[grid],
		.sl = &d->sl[s->first_slot[u]],
		.by_cell = by_cell,
		.last = d->last + (size_t)u * d->last_stride };
	static const uint8_t none[2] = { 0, 0 };

	if (r.g->n_dims == 0)
		by_cell[0] = 0;
	else
		fill_sls(&r, 0, 0, 0, none);
}

/* ------------------------------------------------------------ VLs */

uint8_t
fm_datelines_vls(const struct fm_fabric *fab, const struct fm_request *req)
{
	uint8_t n = req->n_vls;

	for (fm_link l = 0; l < fab->n_links; l++)
		n = fab->link_n_vls[l] < n ? fab->link_n_vls[l] : n;
	return n;
}

static int
share_vls(
    struct fm_datelines *d, bool long_ring, uint8_t vls, unsigned levels, struct fm_error *err)
{
	const struct fm_host *host = d->steps->host;
	uint8_t n = long_ring ? 2 : 1, need = d->steps->turns ? (uint8_t)(2 * n) : n;

	if (vls < need)
		return host->fail(err, FM_E_TOPOLOGY,
		    "needs %u VLs on every link between switches%s, %u are allowed", need,
		    d->steps->turns ? " to go round missing switches" : "", vls);
	d->vl_crossed = long_ring;
	/* The turns are mapped where there is room, so that a switch that fails changes no map. */
	if (vls >= 2 * n)
		d->vl_turned = n;
	d->n_vls = d->vl_turned ? (uint8_t)(2 * n) : n;
	if (levels > 1 && d->n_rings < MAX_RINGS && vls >= 2 * d->n_vls) {
		d->vl_level = d->n_vls;
		d->n_vls = (uint8_t)(2 * d->n_vls);
	}
	return 0;
}

int
fm_datelines_build(const struct fm_grid_steps *steps, uint8_t vls, unsigned levels,
    struct fm_datelines *out, struct fm_error *err)
{
	struct fm_datelines d = { .steps = steps };
	const struct fm_fabric *fab = steps->fab;
	bool long_ring = false;
	int rc;

	if ((rc = number_rings(&d, &long_ring, err)) != 0 ||
	    (rc = share_vls(&d, long_ring, vls, levels, err)) != 0)
		return rc;
	for (uint32_t i = 0; i < steps->grids->n_grids; i++) {
		const struct fm_grid *g = &steps->grids->grid[i];
		uint32_t size = g->n_dims > 0 ? g->size[g->n_dims - 1] : 0;

		d.last_stride = size > d.last_stride ? size : d.last_stride;
	}
	d.last_stride = (d.last_stride + N_SIXTEEN - 1) / N_SIXTEEN * N_SIXTEEN;
	d.sl = fm_scratch_bytes(steps->host, steps->first_slot[fab->n_switches], sizeof(*d.sl));
	d.last = fm_scratch_bytes(steps->host, fab->n_switches, d.last_stride);
	if (d.sl == NULL || d.last == NULL)
		return fm_no_scratch(steps->host, "datelines", err);
	for (fm_sw u = 0; u < fab->n_switches; u++)
		note_crossings(&d, u);
	*out = d;
	return 0;
}

/* VLs of all SLs over one link, come from a link of dimension `from` (none: -1). */
static void
map_sls(const struct fm_datelines *d, uint32_t grid, int from, unsigned to, uint8_t *vl)
{
	uint8_t ring = d->ring[grid][to], turned = from > (int)to ? d->vl_turned : 0;

	for (unsigned sl = 0; sl < 16; sl++) {
		vl[sl] = turned;
		if (ring != NO_RING && (sl >> ring & 1))
			vl[sl] = (uint8_t)(vl[sl] + d->vl_crossed);
		if (d->n_rings < MAX_RINGS && (sl & 8))
			vl[sl] = (uint8_t)(vl[sl] + d->vl_level);
	}
}

/* Dimension of the link on each port, -1: none, into of_port[]. */
static void
list_ports(const struct fm_grid_steps *s, fm_sw u, int8_t *of_port)
{
	memset(of_port, -1, 256);
	for (fm_arc a = s->arcs->first[u]; a < s->arcs->first[u + 1]; a++)
		for (fm_link l = s->arcs->link[a]; l < s->arcs->link[a + 1]; l++)
			of_port[s->fab->link_port[l]] = (int8_t)s->grids->arc_dim[a];
}

struct map_job {
	const struct fm_datelines *d;
	struct fm_tables *out;
};

static void
map_switch(void *arg, uint32_t u, unsigned worker)
{
	const struct map_job *j = arg;
	const struct fm_grid_steps *s = j->d->steps;
	uint32_t grid = s->grids->grid_of[u], n_ports = s->fab->sw_n_ports[u];
	uint8_t *row = j->out->sl2vl + (size_t)j->out->sl2vl_first[u] * 16;
	uint8_t vl[FM_GRID_MAX_DIMS + 1][FM_GRID_MAX_DIMS][16];
	int8_t of_port[256];

	(void)worker;
	list_ports(s, u, of_port);
	for (uint32_t to = 0; to < s->grids->grid[grid].n_dims; to++)
		for (uint32_t from = 0; from <= s->grids->grid[grid].n_dims; from++)
			map_sls(j->d, grid, (int)from - 1, to, vl[from][to]);
	for (uint32_t in = 0; in <= n_ports; in++)
		for (uint32_t to = 0; to <= n_ports; to++, row += 16)
			if (of_port[to] >= 0)
				memcpy(row, vl[of_port[in] + 1][of_port[to]], 16);
}

void
fm_datelines_sl2vl(const struct fm_datelines *d, struct fm_tables *out)
{
	struct map_job j = { .d = d, .out = out };

	out->sl_shape = FM_SL_BY_SW_DLID;
	out->sl2vl_shape = FM_SL2VL_BY_IN_OUT;
	out->n_vls_used = d->n_vls;
	d->steps->host->parallel_for(d->steps->host, d->steps->fab->n_switches, map_switch, &j);
}
