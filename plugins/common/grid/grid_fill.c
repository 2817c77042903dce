/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of the LFT from the steps of one switch.
 *
 * In the order of cells (the last coordinate runs fastest) what a switch sends one
 * way is a few runs: a plane for each coordinate of the first dimension it differs
 * in, within its own plane a line, within its own line a cell.  So a row is
 * written by memset, by *code* (the first port of an arc, or a number for a choice of
 * arcs), then laid out by destination and by LID.  Where every arc is one cable the code
 * is the port, the same for all destinations of a cell.
 *
 *	cells 0 .. n-1	| x = 0 plane | own plane: lines, own line: cells | x = 2 plane |
 *
 * Grids are cabled alike everywhere: the next switch of a line sends all that is not in
 * its line by the same ports, or the one after it.  Where that is so (it is looked at), its
 * row is a copy of the one before, and only its own line is written anew, cell by cell.
 *
 * O(table bytes), memory bound; rows in parallel.
 */
#include <string.h>

#include "plugins/common/grid/grid_steps.h"

#define NO_WAY 255

/* What a code stands for: cables to deal over. */
struct way {
	uint16_t first, n; /* in ports[] */
};

struct fm_grid_worker {
	uint8_t *by_cell, *by_column, *by_place, *by_position;
	uint32_t first, next; /* columns whose rows this worker wrote last: first..next-1 */
	struct way way[256];
	uint8_t ports[256 * FM_STEP_CHOICES];
	uint32_t n_ports;
	uint32_t n_several, several[256]; /* indices of several[] that have codes */
	uint8_t code_of_several[256];
	bool single; /* every way of this switch is one cable: codes are ports */
};

struct job {
	const struct fm_grid_fill *fill;
	const struct fm_grid_steps *s;
	const struct fm_tables *out;
	uint64_t n_lost;
};

/* ------------------------------------------------------------ ways of a switch */

static void
add_ports(struct fm_grid_worker *w, const struct fm_grid_steps *s, fm_arc a)
{
	for (fm_link l = s->arcs->link[a]; l < s->arcs->link[a + 1]; l++)
		w->ports[w->n_ports++] = s->fab->link_port[l];
}

static inline uint8_t
code_of(const struct fm_grid_steps *s, fm_arc a)
{
	return s->fab->link_port[s->arcs->link[a]];
}

static void
load_ways(struct fm_grid_worker *w, const struct fm_grid_steps *s, fm_sw u)
{
	const struct fm_grid *g = &s->grids->grid[s->grids->grid_of[u]];
	uint32_t last_size = g->n_dims > 0 ? g->size[g->n_dims - 1] : 0;

	w->n_ports = w->n_several = 0;
	w->single = true;
	memset(w->way, 0, sizeof(w->way));
	for (fm_arc a = s->arcs->first[u]; a < s->arcs->first[u + 1]; a++) {
		struct way *way = &w->way[code_of(s, a)];

		way->first = (uint16_t)w->n_ports;
		add_ports(w, s, a);
		way->n = (uint16_t)(w->n_ports - way->first);
		w->single = w->single && way->n == 1;
	}
	/* Choices of the last dimension are dealt by destination. */
	for (uint32_t i = s->first_slot[u + 1] - last_size; i < s->first_slot[u + 1]; i++)
		if (s->slot[i] < FM_STEP_TURN && (s->slot[i] & FM_STEP_SEVERAL) != 0)
			w->single = false;
}

/* A way over all arcs of a choice, cable by cable in turn; the first arc when codes run out. */
static uint8_t
code_of_several(struct fm_grid_worker *w, const struct fm_grid_steps *s, uint32_t several)
{
	const struct fm_grid_choice *c = &s->several[several];
	uint32_t code = 0;
	struct way *way;

	for (uint32_t i = 0; i < w->n_several; i++)
		if (w->several[i] == several)
			return w->code_of_several[i];
	while (code < NO_WAY && w->way[code].n > 0)
		code++;
	if (w->single || code == NO_WAY || w->n_ports + 255 > sizeof(w->ports))
		return code_of(s, c->arc[0]);
	way = &w->way[code];
	w->several[w->n_several] = several;
	w->code_of_several[w->n_several++] = (uint8_t)code;
	way->first = (uint16_t)w->n_ports;
	for (uint32_t k = 0, more = 1; more; k++) {
		more = 0;
		for (uint32_t i = 0; i < c->n; i++)
			if (k < fm_arc_width(s->arcs, c->arc[i])) {
				w->ports[w->n_ports++] =
				    s->fab->link_port[s->arcs->link[c->arc[i]] + k];
				more = 1;
			}
	}
	way->n = (uint16_t)(w->n_ports - way->first);
	return (uint8_t)code;
}

/* ------------------------------------------------------------ cells */

struct plane {
	struct fm_grid_worker *w;
	const struct fm_grid_steps *s;
	const struct fm_grid *g;
	const uint32_t *dim_slot;
	fm_sw u;
	uint32_t cell; /* of u */
};

/* What lies in the cells from base on, strides of dimension d, another coordinate of d. */
static void
fill_choice(struct plane *p, uint32_t d, uint32_t base, uint32_t several)
{
	const struct fm_grid_choice *c = &p->s->several[several];
	uint8_t *cells = p->w->by_cell + base;
	uint32_t stride;

	if (d + 1 == p->g->n_dims) {
		*cells = code_of_several(p->w, p->s, several);
		return;
	}
	stride = p->g->stride[d + 1];
	for (uint32_t y = 0; y < p->g->size[d + 1]; y++, cells += stride)
		memset(cells, code_of(p->s, c->arc[y % c->n]), stride);
}

/* Cells that have the coordinates of base up to dimension d. */
static void
fill_cells(struct plane *p, uint32_t d, uint32_t base)
{
	const uint32_t *slot;
	uint32_t own, stride;

	if (d == p->g->n_dims) {
		p->w->by_cell[base] = NO_WAY;
		return;
	}
	slot = &p->s->slot[p->s->first_slot[p->u] + p->dim_slot[d]];
	own = fm_grid_at(p->g, p->cell, d);
	stride = p->g->stride[d];
	for (uint32_t x = 0; x < p->g->size[d]; x++) {
		uint32_t at = base + x * stride;

		if (x == own || slot[x] == FM_STEP_TURN)
			fill_cells(p, d + 1, at);
		else if (slot[x] == FM_NONE)
			memset(p->w->by_cell + at, NO_WAY, stride);
		else if (slot[x] & FM_STEP_SEVERAL)
			fill_choice(p, d, at, slot[x] & ~FM_STEP_SEVERAL);
		else
			memset(p->w->by_cell + at, code_of(p->s, slot[x]), stride);
	}
}

/* ------------------------------------------------------------ positions */

/* Positions from..to-1 of destinations that all go one way. */
static void
deal(struct fm_grid_worker *w, const struct fm_grid_fill *f, uint8_t code, uint32_t from,
    uint32_t to)
{
	const struct way *way = &w->way[code];
	const uint8_t *ports = w->ports + way->first;

	if (code == NO_WAY || way->n == 1)
		memset(w->by_position + from, code == NO_WAY ? NO_WAY : ports[0], to - from);
	else
		for (uint32_t i = from; i < to; i++)
			w->by_position[i] = ports[f->number[i] % way->n];
}

/* Runs of equal ones of cells from..to-1, the first of which is `column`, to positions from
 * start on. */
static void
lay_runs(struct fm_grid_worker *w, const struct fm_grid_fill *f, const struct fm_grid *g,
    uint32_t from, uint32_t to, uint32_t column, const uint32_t *first, uint32_t start)
{
	while (from < to) {
		uint32_t begin = start + first[column];
		uint8_t value = w->by_cell[from];

		for (; from < to && w->by_cell[from] == value; from++)
			column += g->cell_sw[from] != FM_NONE;
		deal(w, f, value, begin, start + first[column]);
	}
}

/* Codes of cells from..to-1 by destination. */
static void
lay_positions(struct fm_grid_worker *w, const struct fm_grid_fill *f, uint32_t grid, uint32_t from,
    uint32_t to, uint32_t column)
{
	for (unsigned i = 0; i < FM_SPACES; i++) {
		const struct fm_lid_space *space = &f->lids.space[i];

		for (uint32_t offset = 0; offset < space->n_offsets; offset++)
			lay_runs(w, f, &f->steps->grids->grid[grid], from, to, column, space->first,
			    space->start + offset * space->n);
	}
}

/* Codes of cells by destination into a row of the LFT. */
static void
lay_codes(struct fm_grid_worker *w, const struct fm_grid_fill *f, uint32_t grid, uint8_t *row)
{
	if (f->steps->grids->n_grids > 1)
		memset(w->by_position, NO_WAY, f->lids.n_positions);
	lay_positions(w, f, grid, 0, f->steps->grids->grid[grid].n_cells, f->grid_column[grid]);
	fm_lids_scatter(&f->lids, w->by_position, row);
}

/* Values of cells, whatever the destination there, into a row. */
static void
lay_values(struct fm_grid_worker *w, const struct fm_grid_fill *f, uint32_t grid, uint8_t nobody,
    uint8_t *row)
{
	const struct fm_grid *g = &f->steps->grids->grid[grid];
	const uint8_t *by_column = w->by_cell;

	if (f->steps->grids->n_grids > 1 || g->n_holes > 0) {
		uint8_t *to = w->by_column + f->grid_column[grid];

		memset(w->by_column, nobody, f->lids.n_columns);
		for (uint32_t cell = 0; cell < g->n_cells; cell++)
			if (g->cell_sw[cell] != FM_NONE)
				*to++ = w->by_cell[cell];
		by_column = w->by_column;
	}
	fm_lids_lay_columns(&f->lids, by_column, w->by_place, nobody, row);
}

uint8_t *
fm_grid_cells(const struct fm_grid_fill *fill, unsigned worker)
{
	return fill->workers[worker]->by_cell;
}

void
fm_grid_lay(const struct fm_grid_fill *fill, unsigned worker, uint32_t grid, uint8_t *row)
{
	lay_values(fill->workers[worker], fill, grid, 0, row);
}

/* ------------------------------------------------------------ rows like others */

/* Do both arcs have the same cables, port by port? */
static inline bool
is_same_way(const struct fm_grid_steps *s, fm_arc a, fm_arc b)
{
	uint32_t n = fm_arc_width(s->arcs, a);
	const uint8_t *x = s->fab->link_port + s->arcs->link[a],
		      *y = s->fab->link_port + s->arcs->link[b];

	return n == fm_arc_width(s->arcs, b) && x[0] == y[0] && (n == 1 || memcmp(x, y, n) == 0);
}

static bool
is_same_slot(const struct fm_grid_steps *s, uint32_t a, uint32_t b)
{
	const struct fm_grid_choice *x, *y;

	if (a >= FM_STEP_TURN || b >= FM_STEP_TURN)
		return a == b;
	if (((a | b) & FM_STEP_SEVERAL) == 0)
		return is_same_way(s, a, b);
	if ((a & b & FM_STEP_SEVERAL) == 0)
		return false;
	x = &s->several[a & ~FM_STEP_SEVERAL];
	y = &s->several[b & ~FM_STEP_SEVERAL];
	for (uint32_t i = 0; i < x->n; i++)
		if (x->n != y->n || !is_same_way(s, x->arc[i], y->arc[i]))
			return false;
	return true;
}

/* Do both, which lie apart in dimension d and none before, go the same ways in those? */
static bool
is_alike(const struct plane *p, fm_sw other, uint32_t d)
{
	const struct fm_grid_steps *s = p->s;
	const uint32_t *x = &s->slot[s->first_slot[p->u]], *y = &s->slot[s->first_slot[other]];

	for (uint32_t i = 0; i < p->dim_slot[d]; i++)
		if (!is_same_slot(s, x[i], y[i]))
			return false;
	return true;
}

/* A switch whose row this worker wrote, one or two cells back in dimension *d, that is
 * alike: ties are mirrored, so it may take two.  FM_NONE: none. */
static fm_sw
find_alike(const struct plane *p, uint32_t n_written, uint32_t *d)
{
	if (p->g->n_holes > 0)
		return FM_NONE;
	for (*d = p->g->n_dims; (*d)-- > 1;)
		for (uint32_t k = 1; k <= 2 && k <= fm_grid_at(p->g, p->cell, *d); k++) {
			fm_sw other = p->g->cell_sw[p->cell - k * p->g->stride[*d]];

			if (k * p->g->stride[*d] > n_written)
				break;
			if (is_alike(p, other, *d))
				return other;
		}
	return FM_NONE;
}

/* The row of the switch from one that was written; false if it must be made from nothing. */
static bool
row_like(const struct job *j, struct plane *p, uint32_t n_written)
{
	const struct fm_grid_fill *f = j->fill;
	uint32_t grid = j->s->grids->grid_of[p->u], d, base, n, column;
	fm_sw other = find_alike(p, n_written, &d);
	uint8_t *row = j->out->lft[p->u];

	if (other == FM_NONE)
		return false;
	n = p->g->stride[d - 1];
	base = p->cell / n * n;
	column = f->grid_column[grid] + base;
	fill_cells(p, d, base);
	lay_positions(p->w, f, grid, base, base + n, column);
	memcpy(row, j->out->lft[other], (size_t)j->s->fab->max_lid + 1);
	fm_lids_put_columns(&f->lids, j->s->fab, p->w->by_position, column, column + n, row);
	return true;
}

/* Cells that have a switch, but no way there. */
static void
count_lost(struct job *j, const struct plane *p)
{
	uint64_t n = 0;

	for (uint32_t cell = 0; cell < p->g->n_cells; cell++)
		n += p->w->by_cell[cell] == NO_WAY && p->g->cell_sw[cell] != FM_NONE &&
		    cell != p->cell;
	if (n > 0)
		__atomic_fetch_add(&j->n_lost, n, __ATOMIC_RELAXED);
}

static void
whole_row(struct job *j, struct plane *p)
{
	const struct fm_grid_fill *f = j->fill;
	uint32_t grid = j->s->grids->grid_of[p->u];
	struct fm_grid_worker *w = p->w;

	if (f->ways != NULL) {
		w->single = false;
		f->ways(f->arg, p->u, w->by_cell);
	} else {
		fill_cells(p, 0, 0);
		if (p->g->n_holes > 0)
			count_lost(j, p);
	}
	if (w->single)
		lay_values(w, f, grid, FM_PORT_NONE, j->out->lft[p->u]);
	else
		lay_codes(w, f, grid, j->out->lft[p->u]);
}

static void
fill_row(void *arg, uint32_t i, unsigned worker)
{
	struct job *j = arg;
	const struct fm_grid_fill *f = j->fill;
	const struct fm_grid_steps *s = j->s;
	struct fm_grid_worker *w = f->workers[worker];
	fm_sw u = f->lids.column_sw[i];
	uint32_t grid = s->grids->grid_of[u];
	struct plane p = { .w = w,
		.s = s,
		.g = &s->grids->grid[grid],
		.dim_slot = s->dim_slot[grid],
		.u = u,
		.cell = s->grids->cell[u] };

	if (s->host->should_stop(s->host))
		return;
	if (i != w->next)
		w->first = i;
	w->next = i + 1;
	load_ways(w, s, u);
	if (f->ways != NULL || !row_like(j, &p, i - w->first))
		whole_row(j, &p);
	fm_lids_local(s->fab, u, j->out->lft[u]);
	if (f->sls != NULL)
		f->sls(f->arg, u, j->out->sl[u]);
}

/* ------------------------------------------------------------ set-up */

static int
list_columns(struct fm_grid_fill *f, struct fm_error *err)
{
	const struct fm_grid_steps *s = f->steps;
	fm_sw *columns = fm_scratch_array(s->host, s->fab->n_switches, fm_sw);
	uint32_t n = 0;

	f->grid_column = fm_scratch_array(s->host, s->grids->n_grids, uint32_t);
	if (columns == NULL || f->grid_column == NULL)
		return fm_no_scratch(s->host, "columns of a grid", err);
	for (uint32_t i = 0; i < s->grids->n_grids; i++) {
		const struct fm_grid *g = &s->grids->grid[i];

		f->grid_column[i] = n;
		f->most_cells = g->n_cells > f->most_cells ? g->n_cells : f->most_cells;
		for (uint32_t cell = 0; cell < g->n_cells; cell++)
			if (g->cell_sw[cell] != FM_NONE)
				columns[n++] = g->cell_sw[cell];
	}
	return fm_lids_build(s->host, s->fab, columns, n, &f->lids, err);
}

/* The ends of a column, numbered in the order of their ports, on from the column before. */
static void
number_column(struct fm_grid_fill *f, const struct fm_lid_space *space, uint32_t column,
    const uint8_t *port_order)
{
	const uint8_t *port = f->steps->fab->end_port;
	uint32_t from = space->first[column], to = space->first[column + 1];

	for (uint32_t i = from; i < to; i++) {
		uint32_t before = 0;

		for (uint32_t k = from; k < to && port_order != NULL; k++) {
			uint8_t a = port_order[port[space->end[k]]],
				b = port_order[port[space->end[i]]];

			before += a < b || (a == b && k < i);
		}
		if (port_order == NULL)
			before = i - from;
		for (uint32_t offset = 0; offset < space->n_offsets; offset++)
			f->number[space->start + offset * space->n + i] = from + before + offset;
	}
}

static int
take_workers(struct fm_grid_fill *f, struct fm_error *err)
{
	const struct fm_host *host = f->steps->host;
	unsigned n = host->n_workers(host);

	f->workers = fm_scratch_array(host, n, struct fm_grid_worker *);
	for (unsigned i = 0; f->workers != NULL && i < n; i++) {
		struct fm_grid_worker *w = fm_scratch_array(host, 1, struct fm_grid_worker);

		if (w != NULL) {
			w->by_cell = fm_scratch_array(host, f->most_cells, uint8_t);
			w->by_column = fm_scratch_array(host, f->lids.n_columns, uint8_t);
			w->by_place = fm_scratch_array(host, f->lids.n_columns, uint8_t);
			w->by_position = fm_scratch_array(
			    host, (size_t)f->lids.n_positions + FM_RUN_BYTES, uint8_t);
		}
		if (w == NULL || w->by_cell == NULL || w->by_column == NULL ||
		    w->by_place == NULL || w->by_position == NULL)
			return fm_no_scratch(host, "rows of tables", err);
		f->workers[i] = w;
	}
	return f->workers != NULL ? 0 : fm_no_scratch(host, "rows of tables", err);
}

int
fm_grid_fill_init(const struct fm_grid_steps *steps, const uint8_t *port_order,
    struct fm_grid_fill *out, struct fm_error *err)
{
	struct fm_grid_fill f = { .steps = steps };
	int rc = list_columns(&f, err);

	if (rc != 0)
		return rc;
	f.number = fm_scratch_array(steps->host, f.lids.n_positions, uint32_t);
	if (f.number == NULL)
		return fm_no_scratch(steps->host, "order of destinations", err);
	if ((rc = take_workers(&f, err)) != 0)
		return rc;
	for (unsigned i = 0; i < FM_SPACES; i++)
		for (uint32_t column = 0; column < f.lids.n_columns; column++)
			number_column(&f, &f.lids.space[i], column, port_order);
	*out = f;
	return 0;
}

int
fm_grid_fill_rows(struct fm_grid_fill *fill, const struct fm_tables *out, struct fm_error *err)
{
	const struct fm_grid_steps *s = fill->steps;
	struct job j = { .fill = fill, .s = s, .out = out };

	for (unsigned i = 0; i < s->host->n_workers(s->host); i++)
		fill->workers[i]->next = FM_NONE;
	s->host->parallel_for(s->host, fill->lids.n_columns, fill_row, &j);
	if (s->host->should_stop(s->host))
		return s->host->fail(
		    s->host, err, FM_E_CANCELLED, "stopped while filling the tables");
	fill->n_lost = j.n_lost;
	return 0;
}
