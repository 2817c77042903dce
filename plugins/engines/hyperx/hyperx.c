/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hyperx - dimension order on HyperX and flattened butterflies, on one VL.
 *
 * The idea: in a HyperX (Ahn et al., SC 2009; flattened butterfly: Kim, Dally and Abts,
 * ISCA 2007) the switches that differ in one coordinate are cabled each to each, so
 * one hop puts one coordinate right.  The coordinates are put right in order; every
 * path is shortest, and as turns only lead to later dimensions, no channels form a
 * cycle, on a single VL.  Parallel cables are dealt out by destination.
 *
 * When to use it: any number of dimensions, each complete; hypercubes and rings of 3 are
 * such, too.  Dimensions are found (plugins/common/grid/grid.h); there are no options.
 *
 * Promises: no credit loops on 1 VL, replies included, as all SLs are 0.  Shortest paths
 * on intact fabrics, and for all pairs whose cables are there.
 *
 * Failures: a pair of a row without cable goes by a third switch of the row, one that
 * lacks fewer cables than both; so ways down that order come before ways up and
 * none closes a cycle.  The traffic of such a pair is spread over up to eight third switches.
 * A switch missing where a path would turn is passed by taking the later dimensions
 * first.  Where anything is missing the turns of the finished tables are sorted, and what does
 * not sort is refused.
 *
 * Refused: what is no HyperX; pairs of a row that no third switch joins; turns round missing
 * switches that close a cycle.
 *
 * O(switches * LIDs) bytes written, rows in parallel.
 */
#include <fmd/engine.h>
#include <fmd/own.h>

#include "lib/log.h"
#include "plugins/common/grid/grid_steps.h"
#include "plugins/engines/hyperx/turns.h"

static int
check_shape(const struct fm_host *host, const struct fm_grids *grids, struct fm_error *err)
{
	for (uint32_t i = 0; i < grids->n_grids; i++)
		for (uint32_t d = 0; d < grids->grid[i].n_dims; d++) {
			const struct fm_grid *g = &grids->grid[i];

			if (g->kind[d] != FM_GRID_CLIQUE &&
			    !(g->kind[d] == FM_GRID_RING && g->size[d] == 3) && g->size[d] != 2)
				return host->fail(host, err, FM_E_TOPOLOGY,
				    "dimension %u is a %s of %u, not cabled each to each: no "
				    "HyperX",
				    d + 1, g->kind[d] == FM_GRID_RING ? "ring" : "line",
				    g->size[d]);
		}
	return 0;
}

static bool
is_damaged(const struct fm_host *host, const struct fm_grids *grids)
{
	bool damaged = false;
	char name[160];

	for (uint32_t i = 0; i < grids->n_grids; i++) {
		const struct fm_grid *g = &grids->grid[i];
		bool here = g->n_cut + g->n_holes > 0;

		fm_grid_name(g, name, sizeof(name));
		host->log(host, here ? FM_LOG_NOTICE : FM_LOG_INFO,
		    "%s: switches=%u missing_switches=%u cut_links=%u", name, g->n_switches,
		    g->n_holes, g->n_cut);
		damaged = damaged || here;
	}
	return damaged;
}

static int
check_turns(const struct fm_grid_steps *s, const struct fm_tables *out, struct fm_error *err)
{
	struct fm_turns turns;
	int rc = fm_turns_check(s->host, s->fab, s->arcs, s->grids->grid_of, out, &turns, err);

	if (rc != 0)
		return rc;
	if (turns.n_unrouted > 0)
		return s->host->fail(s->host, err, FM_E_TOPOLOGY,
		    "too much is missing: %llu routes have no way in the order of dimensions",
		    (unsigned long long)turns.n_unrouted);
	if (turns.cyclic)
		return s->host->fail(s->host, err, FM_E_TOPOLOGY,
		    "the ways round what is missing would close a cycle at %s on one VL",
		    s->fab->sw_name[turns.on_cycle]);
	return 0;
}

static int
hyperx_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct fm_arcs arcs;
	struct fm_grids grids;
	struct fm_grid_steps steps;
	struct fm_grid_fill fill;
	int rc;

	(void)req;
	(void)opts;
	if ((rc = fm_arcs_build(host, fab, &arcs, err)) != 0 ||
	    (rc = fm_grid_find(host, fab, &arcs, FM_GRID_SPLIT_FOURS, &grids, err)) != 0 ||
	    (rc = check_shape(host, &grids, err)) != 0 ||
	    (rc = fm_grid_steps_build(host, fab, &arcs, &grids, FM_TIES_DEALT, &steps, err)) != 0)
		return rc;
	if (steps.n_torn > 0)
		return host->fail(host, err, FM_E_TOPOLOGY,
		    "%s; %u pair%s so: mend a cable of each", steps.torn, steps.n_torn,
		    steps.n_torn == 1 ? " is" : "s are");
	if ((rc = fm_grid_fill_init(&steps, NULL, &fill, err)) != 0 ||
	    (rc = fm_grid_fill_rows(&fill, out, err)) != 0)
		return rc;
	return is_damaged(host, &grids) ? check_turns(&steps, out, err) : 0;
}

FM_OWN_ENGINE(hyperx, NULL, .aliases = (const char *const[]){ "flattened-butterfly", NULL },
    .summary = "Dimension order on HyperX and flattened butterflies, without credit loops on 1 VL",
    .traits = FM_PROVIDES_LFT | FM_PROMISES_NO_CREDIT_LOOPS | FM_WRITES_WHOLE_ROWS,
    .route = hyperx_route);
