/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dor - dimension order routing on meshes, tori, hypercubes and HyperX.
 *
 * The idea: put the coordinates right one dimension after the other, each by the shorter
 * way.  On meshes, hypercubes and HyperX no channels form a cycle: turns only lead to
 * later dimensions and a row is straight.  On a ring of more than 3 they do, one all
 * round; there a dateline and a second VL break it, as in torus2qos
 * (plugins/common/grid/datelines.h), if datelines are on and 2 VLs are allowed.
 *
 * When to use it: where OpenSM's dor or the Omni-Path mesh/torus and hypercube
 * routings were used.  Dimensions are found by themselves (plugins/common/grid/grid.h): ports need
 * not be numbered alike on all switches.  A 4x4 torus is taken as the hypercube it
 * also is: the same hops, and no dateline needed.  For a torus that has to keep its SLs through
 * failures take torus2qos.
 *
 * Promises: nothing by itself, because whether credit loops are excluded depends on fabric and
 * VLs: the log says which, and verify judges.  Half round an even ring both ways
 * are used alike: evenly without datelines; with them see torus2qos.
 *
 * Failures: a cut ring is gone round the other way, missing switches are passed by an
 * early turn (with a VL more).  Where that is not enough - a line cut, a ring cut
 * twice - all routes are shortest ones that take the first dimension they can, as
 * OpenSM's dor does anywhere: the log says that credit loops are possible then.
 *
 * Refused: what is no grid.
 *
 * O(switches * LIDs) bytes written, rows in parallel; torn grids O(arcs * switches / 512 *
 * hops) more.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "lib/log.h"
#include "plugins/common/grid/datelines.h"
#include "plugins/common/paths/reach.h"

struct dor_options {
	bool datelines;
};

static const struct fm_option options[] = {
	{ .name = "datelines",
	    .type = FM_OPT_BOOL,
	    .offset = offsetof(struct dor_options, datelines),
	    .def = "yes",
	    .help = "Break the cycles of rings by SLs and a second VL; without, a torus has credit "
		    "loops." },
	{ .type = FM_OPT_END },
};

struct dor {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	struct fm_arcs arcs;
	struct fm_grids grids;
	struct fm_grid_steps steps;
	struct fm_grid_fill fill;
	struct fm_reach reach; /* torn grids */
};

static bool
has_long_ring(const struct fm_grids *grids)
{
	for (uint32_t i = 0; i < grids->n_grids; i++)
		for (uint32_t d = 0; d < grids->grid[i].n_dims; d++)
			if (grids->grid[i].kind[d] == FM_GRID_RING && grids->grid[i].size[d] > 3)
				return true;
	return false;
}

/* ------------------------------------------------------------ torn grids */

/* Of the next steps of shortest paths, those of the first dimension that has any, up before
 * down, shared out by destination. */
static uint8_t
first_arc(const struct dor *d, fm_sw u, const fm_arc *sorted, uint32_t column)
{
	fm_arc steps[256];
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->arcs.first[u + 1] - d->arcs.first[u]; i++) {
		if (n > 0 && d->grids.arc_dim[sorted[i]] != d->grids.arc_dim[steps[0]])
			break;
		steps[n] = sorted[i];
		n += fm_lane_test(fm_towards(&d->reach, &d->arcs, column / FM_LANES, sorted[i]),
		    column % FM_LANES);
	}
	return n > 0 ? d->fab->link_port[d->arcs.link[steps[column % n]]] : FM_PORT_NONE;
}

static void
sort_arcs(const struct dor *d, fm_sw u, fm_arc *sorted)
{
	uint32_t n = 0;

	for (fm_arc a = d->arcs.first[u]; a < d->arcs.first[u + 1]; a++) {
		uint32_t i = n++;

		for (; i > 0; i--) {
			fm_arc b = sorted[i - 1];

			if (d->grids.arc_dim[b] < d->grids.arc_dim[a] ||
			    (d->grids.arc_dim[b] == d->grids.arc_dim[a] &&
				d->grids.arc_step[b] >= d->grids.arc_step[a]))
				break;
			sorted[i] = b;
		}
		sorted[i] = a;
	}
}

/* As fm_grid_fill.ways. */
static void
shortest_ways(const void *arg, fm_sw u, uint8_t *by_cell)
{
	const struct dor *d = arg;
	const struct fm_grid *g = &d->grids.grid[d->grids.grid_of[u]];
	uint32_t column = d->fill.grid_column[d->grids.grid_of[u]];
	fm_arc sorted[256];

	sort_arcs(d, u, sorted);
	for (uint32_t cell = 0; cell < g->n_cells; cell++) {
		by_cell[cell] = FM_PORT_NONE;
		if (g->cell_sw[cell] != FM_NONE)
			by_cell[cell] = first_arc(d, u, sorted, column++);
	}
}

static int
route_torn(struct dor *d, struct fm_tables *out, struct fm_error *err)
{
	int rc;

	d->host->log(d->host, FM_LOG_WARN,
	    "credit loops are possible: no dimension order where the grid is torn (%s); shortest "
	    "paths by first dimension instead",
	    d->steps.n_torn > 0 ? d->steps.torn : "missing switches next to each other");
	out->sl_shape = FM_SL_ZERO;
	out->sl2vl_shape = FM_SL2VL_MODULO;
	out->n_vls_used = 1;
	if ((rc = fm_grid_fill_init(&d->steps, NULL, &d->fill, err)) != 0 ||
	    (rc = fm_reach_build(d->host, &d->arcs, NULL, d->fill.lids.column_sw,
		 d->fill.lids.n_columns, &d->reach, err)) != 0)
		return rc;
	d->fill.ways = shortest_ways;
	d->fill.arg = d;
	return fm_grid_fill_rows(&d->fill, out, err);
}

/* ------------------------------------------------------------ whole grids */

static int
route_in_order(
    struct dor *d, struct fm_datelines *lines, struct fm_tables *out, struct fm_error *err)
{
	int rc = fm_grid_fill_init(&d->steps, NULL, &d->fill, err);

	if (rc != 0)
		return rc;
	if (lines != NULL) {
		fm_datelines_sl2vl(lines, out);
		if ((rc = fm_datelines_fill(lines, &d->fill, err)) != 0)
			return rc;
	}
	return fm_grid_fill_rows(&d->fill, out, err);
}

/* Datelines where they are needed and possible; *lines_used tells. */
static int
build_datelines(struct dor *d, const struct dor_options *o, uint8_t vls, struct fm_datelines *lines,
    bool *lines_used, struct fm_error *err)
{
	bool needed = has_long_ring(&d->grids) || d->steps.turns;
	int rc;

	*lines_used = false;
	if (!needed)
		return 0;
	if (o->datelines) {
		rc = fm_datelines_build(&d->steps, vls, 1, lines, err);
		*lines_used = rc == 0;
		if (rc != FM_E_TOPOLOGY)
			return rc;
	}
	d->host->log(d->host, FM_LOG_WARN, "credit loops are possible: %s%s",
	    o->datelines ? "breaking them " : "datelines = no",
	    o->datelines ? err->msg : " in a fabric with rings or missing switches");
	return 0;
}

static int
build_steps(struct dor *d, enum fm_ties ties, struct fm_error *err)
{
	return fm_grid_steps_build(d->host, d->fab, &d->arcs, &d->grids, ties, &d->steps, err);
}

static int
dor_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct dor_options *o = opts;
	struct dor d = { .host = host, .fab = fab };
	struct fm_datelines lines;
	bool lines_used = false;
	int rc;

	if ((rc = fm_arcs_build(host, fab, &d.arcs, err)) != 0 ||
	    (rc = fm_grid_find(host, fab, &d.arcs, FM_GRID_SPLIT_FOURS, &d.grids, err)) != 0 ||
	    (rc = build_steps(&d, FM_TIES_MIRRORED, err)) != 0)
		return rc;
	if (d.steps.n_torn > 0 || d.steps.n_wide_holes > 0)
		return route_torn(&d, out, err);
	if ((rc = build_datelines(&d, o, fm_datelines_vls(fab, req), &lines, &lines_used, err)) !=
		0 ||
	    (!lines_used && (rc = build_steps(&d, FM_TIES_DEALT, err)) != 0))
		return rc;
	if ((rc = route_in_order(&d, lines_used ? &lines : NULL, out, err)) != 0)
		return rc;
	return d.fill.n_lost > 0 ? route_torn(&d, out, err) : 0;
}

FM_OWN_ENGINE(dor, NULL, .aliases = (const char *const[]){ "dimension-order", NULL },
    .summary = "Dimension order on meshes, tori, hypercubes and HyperX, which it recognises",
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_WRITES_WHOLE_ROWS | FM_WRITES_WHOLE_SLS |
	FM_NUMBERED_BY_CABLES,
    .options = options, .options_size = sizeof(struct dor_options), .route = dor_route);
