/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/grid/dimensions.h - trees by dimension order on grids, and two
 * lanes that free them of credit loops.
 *
 * A path sets one coordinate after the other, on a ring the shorter way round.
 * A dependency cycle can only lie within one ring; it takes paths across the
 * ring's end (from its last coordinate to 0, the dateline; Dally and Seitz,
 * IEEE ToC 36, 1987) and others.  So those that cross the dateline of a ring
 * use the second lane on that ring, all the way: they are at most half a ring
 * long, so none passes the switch opposite.  One bit a ring says which, and as
 * the SL goes with the packet, the SL is those bits.
 *
 * Half a ring away both ways are equal.  The choice looks the same from both
 * ends, so that a path and the way back cross the same datelines, and have
 * the same SL.
 *
 * A ring with a gap is a line, and has no cycle in any lane: where the shorter
 * way has the gap the longer is taken, with the same SL.  With two gaps, or on
 * a line, the path is broken: such a switch goes round to the nearest one whose
 * path is not.  That is not regular, and needs a lane elsewhere.
 */
#ifndef PLUGINS_COMMON_GRID_DIMENSIONS_H
#define PLUGINS_COMMON_GRID_DIMENSIONS_H

#include "plugins/common/grid/grid.h"

#define FM_STEP_NONE UINT8_MAX /* at the root; or no path */
#define FM_MAX_DATELINES 4     /* SLs are 16 */

struct fm_dimensions {
	const struct fm_arcs *arcs;
	const struct fm_grids *grids;
	uint8_t *order; /* [n_grids][FM_GRID_MAX_DIMS] dimensions in the order they are set */
	uint16_t *at;	/* [n_switches][FM_GRID_MAX_DIMS] coordinates, in that order */
	uint8_t
	    *dateline; /* [n_grids][FM_GRID_MAX_DIMS] bit of the i-th set, or FM_MAX_DATELINES */
	unsigned n_datelines; /* of the grid that has most */
	/* where cables or switches are missing, else NULL: */
	uint8_t *
	    regular; /* [n_switches][n_switches] by root: the path of the tree is the regular one */
	uint16_t *run; /* [n_switches][FM_GRID_MAX_DIMS][2] arcs up and down a ring without a gap */
};

/* FM_E_TOPOLOGY: no grid, or too many rings; FM_E_RESOURCE, FM_E_CANCELLED. */
int fm_dimensions_find(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, struct fm_dimensions *out, struct fm_error *err);

/* Steps towards root (FM_STEP_NONE: none) and the switches on the tree, nearest first;
 * their number. */
uint32_t fm_dimensions_tree(const struct fm_dimensions *d, fm_sw root, uint8_t *step, fm_sw *order);

static inline bool
fm_is_regular(const struct fm_dimensions *d, fm_sw root, fm_sw s)
{
	return d->regular == NULL || d->regular[(size_t)root * d->arcs->n_switches + s];
}

/* Datelines crossed between two switches, either way. */
unsigned fm_datelines(const struct fm_dimensions *d, fm_sw s, fm_sw t);

/* The dateline bit of the ring that an arc is part of; FM_MAX_DATELINES: none. */
unsigned fm_dateline_of(const struct fm_dimensions *d, fm_arc a);

#endif
