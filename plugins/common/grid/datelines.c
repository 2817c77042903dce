/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugins/common/grid/datelines.h"

#include <string.h>

#include "lib/wide.h"

#define NO_RING 16
#define MAX_RINGS 4 /* SL bits */

/* SLs side by side. */
typedef uint8_t line __attribute__((vector_size(64)));
#define N_LINE ((uint32_t)sizeof(line))

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
			return s->host->fail(s->host, err, FM_E_TOPOLOGY,
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

/* One ring dimension of a grid: all its rows, in fm_datelines.row from `first` on. */
struct ring {
	uint32_t grid, dim, first;
};

struct rows_job {
	const struct fm_datelines *d;
	const struct fm_grid_fill *fill;
	const struct ring *rings;
};

/* SL bits of the way from x, by parity of its next coordinate, to all cells. */
static void
mark_cells(const struct fm_datelines *d, const struct ring *r, uint32_t x, uint32_t parity,
    uint8_t *by_cell)
{
	const struct fm_grid *g = &d->steps->grids->grid[r->grid];
	uint32_t size = g->size[r->dim], stride = g->stride[r->dim],
		 n_next = r->dim + 1 < g->n_dims ? g->size[r->dim + 1] : 1, run = stride / n_next;
	uint8_t bit = d->ring[r->grid][r->dim];

	for (uint32_t y = 0; y < size; y++) {
		uint8_t sl[2] = { 0, 0 };

		for (uint32_t odd = 0; x != y && odd < 2; odd++)
			sl[odd] = crossing(g, r->dim, x, y, parity + odd, bit);
		for (uint32_t base = y * stride; base < g->n_cells; base += size * stride)
			for (uint32_t next = 0; next < n_next; next++)
				memset(by_cell + base + next * run, sl[next & 1], run);
	}
}

static void
make_rows(void *arg, uint32_t i, unsigned worker)
{
	const struct rows_job *j = arg;
	const struct ring *r = &j->rings[i / 2];
	const struct fm_datelines *d = j->d;
	const struct fm_grid *g = &d->steps->grids->grid[r->grid];
	uint32_t parity = i & 1;

	if (parity != 0 && r->dim + 1 == g->n_dims)
		return; /* nobody has a next coordinate */
	for (uint32_t x = 0; x < g->size[r->dim]; x++) {
		mark_cells(d, r, x, parity, fm_grid_cells(j->fill, worker));
		fm_grid_lay(
		    j->fill, worker, r->grid, d->row + (r->first + 2 * x + parity) * d->row_bytes);
	}
}

FM_WIDE static void
or_rows(uint8_t *to, const uint8_t *const *from, uint32_t n, size_t n_bytes)
{
	for (size_t at = 0; at < n_bytes; at += N_LINE) {
		line all, one;

		memcpy(&all, from[0] + at, sizeof(all));
		for (uint32_t i = 1; i < n; i++) {
			memcpy(&one, from[i] + at, sizeof(one));
			all |= one;
		}
		memcpy(to + at, &all, sizeof(all));
	}
}

/* As fm_grid_fill.sls. */
static void
write_sls(const void *arg, fm_sw u, uint8_t *row)
{
	const struct fm_datelines *d = arg;
	const struct fm_grids *grids = d->steps->grids;
	uint32_t grid = grids->grid_of[u], n = 0;
	const struct fm_grid *g = &grids->grid[grid];
	const uint8_t *from[MAX_RINGS];

	for (uint32_t k = 0; k < g->n_dims; k++) {
		uint32_t x = fm_grid_at(g, grids->cell[u], k);
		uint32_t next = k + 1 < g->n_dims ? fm_grid_at(g, grids->cell[u], k + 1) : 0;

		if (d->ring[grid][k] != NO_RING)
			from[n++] =
			    d->row + (d->ring_row[grid][k] + 2 * x + (next & 1)) * d->row_bytes;
	}
	if (n > 0)
		or_rows(row, from, n, d->row_bytes);
	else
		memset(row, 0, d->row_bytes);
}

/* The rings of all grids, and where their rows are. */
static uint32_t
list_rings(const struct fm_datelines *d, struct ring *rings, uint32_t *n_rows)
{
	const struct fm_grids *grids = d->steps->grids;
	uint32_t n = 0;

	for (uint32_t i = 0; i < grids->n_grids; i++)
		for (uint32_t k = 0; k < grids->grid[i].n_dims; k++) {
			if (d->ring[i][k] == NO_RING)
				continue;
			rings[n++] = (struct ring){ i, k, *n_rows };
			d->ring_row[i][k] = *n_rows;
			*n_rows += 2 * grids->grid[i].size[k];
		}
	return n;
}

int
fm_datelines_fill(struct fm_datelines *d, struct fm_grid_fill *fill, struct fm_error *err)
{
	const struct fm_host *host = d->steps->host;
	uint32_t n_grids = d->steps->grids->n_grids, n_rows = 0, n;
	struct ring *rings = fm_scratch_array(host, (size_t)n_grids * MAX_RINGS, struct ring);
	struct rows_job j = { .d = d, .fill = fill, .rings = rings };

	d->ring_row = fm_scratch_bytes(host, n_grids, sizeof(*d->ring_row));
	if (rings == NULL || d->ring_row == NULL)
		return fm_no_scratch(host, "datelines", err);
	n = list_rings(d, rings, &n_rows);
	d->row_bytes = (fill->lids.max_lid + N_LINE) / N_LINE * N_LINE;
	d->row = fm_scratch_bytes(host, n_rows, d->row_bytes);
	if (d->row == NULL)
		return fm_no_scratch(host, "SLs by coordinate", err);
	host->parallel_for(host, 2 * n, make_rows, &j);
	fill->sls = write_sls;
	fill->arg = d;
	return 0;
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
		return host->fail(host, err, FM_E_TOPOLOGY,
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
	bool long_ring = false;
	int rc;

	if ((rc = number_rings(&d, &long_ring, err)) != 0 ||
	    (rc = share_vls(&d, long_ring, vls, levels, err)) != 0)
		return rc;
	*out = d;
	return 0;
}

/* VLs of all SLs over a link of a ring, or none; turned: come from a later dimension. */
static void
map_sls(const struct fm_datelines *d, unsigned ring, bool turned, uint8_t *vl)
{
	for (unsigned sl = 0; sl < 16; sl++) {
		vl[sl] = turned ? d->vl_turned : 0;
		if (ring < MAX_RINGS && (sl >> ring & 1))
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

#define N_FROM (FM_GRID_MAX_DIMS + 1)

struct map_job {
	const struct fm_datelines *d;
	struct fm_tables *out;
	uint8_t vl[MAX_RINGS + 1][2][16]; /* by ring of the link, the last for none; turned */
};

static void
map_switch(void *arg, uint32_t u, unsigned worker)
{
	const struct map_job *j = arg;
	const struct fm_grid_steps *s = j->d->steps;
	uint32_t grid = s->grids->grid_of[u], n = s->fab->sw_n_ports[u] + 1u, first_in[N_FROM];
	uint8_t *rows = j->out->sl2vl + (size_t)j->out->sl2vl_first[u] * 16;
	int8_t of_port[256];

	(void)worker;
	memset(first_in, 0xff, sizeof(first_in));
	list_ports(s, u, of_port);
	for (uint32_t in = 0; in < n; in++) {
		uint8_t *row = rows + (size_t)in * n * 16;
		uint32_t *first = &first_in[of_port[in] + 1];

		if (*first != FM_NONE) { /* ports of one dimension are alike */
			memcpy(row, rows + (size_t)*first * n * 16, (size_t)n * 16);
			continue;
		}
		*first = in;
		memset(row, 0, (size_t)n * 16);
		for (uint32_t to = 0; to < n; to++) {
			uint8_t ring;

			if (of_port[to] < 0)
				continue;
			ring = j->d->ring[grid][of_port[to]];
			memcpy(row + (size_t)to * 16,
			    j->vl[ring != NO_RING ? ring : MAX_RINGS][of_port[in] > of_port[to]],
			    16);
		}
	}
}

void
fm_datelines_sl2vl(const struct fm_datelines *d, struct fm_tables *out)
{
	struct map_job j = { .d = d, .out = out };

	for (unsigned ring = 0; ring <= MAX_RINGS; ring++)
		for (unsigned turned = 0; turned < 2; turned++)
			map_sls(d, ring, turned, j.vl[ring][turned]);
	out->sl_shape = FM_SL_BY_SW_DLID;
	out->sl2vl_shape = FM_SL2VL_BY_IN_OUT;
	out->n_vls_used = d->n_vls;
	d->steps->host->parallel_for(d->steps->host, d->steps->fab->n_switches, map_switch, &j);
}
