/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/grid/datelines.h - SLs and VLs for dimension order on rings.
 *
 * Between the last and the first coordinate of a ring runs its dateline (W. J. Dally,
 * C. L. Seitz, IEEE Transactions on Computers 36, 1987).
 *
 *	SL	| level | ring 2 | ring 1 | ring 0 |	bit r: the path crosses the dateline of
 *							ring r (Torus-2QoS, opensm)
 *	VL	| level | turned | crossed |		crossed: the SL's bit of the ring
 *							this link is of; turned: the hop
 *							before was of a later dimension
 *
 * A packet that crosses is on the one VL all round and goes no more than half round, so
 * neither VL holds a whole ring.  That needs ties mirrored (grid_steps.h): a reply travels
 * under the SL of its request, and would cross where that says it does not.  As
 * it is, SL(s,d) = SL(d,s).
 *
 * SLs depend on coordinates alone, not on what is missing: a ring that is cut is a
 * line, which needs no dateline, whatever the SL says.
 */
#ifndef PLUGINS_COMMON_GRID_DATELINES_H
#define PLUGINS_COMMON_GRID_DATELINES_H

#include "plugins/common/grid/grid_steps.h"

struct fm_datelines {
	const struct fm_grid_steps *steps;
	uint8_t (*ring)[FM_GRID_MAX_DIMS]; /* [n_grids] SL bit of a dimension, or 16 */
	/* Bits of one ring by the destination's LID: rows for the coordinate of the source and
	 * the parity of its next one.  The SLs of a switch are those of its rings together. */
	uint8_t *row; /* [rows][row_bytes] */
	size_t row_bytes;
	uint32_t (
	    *ring_row)[FM_GRID_MAX_DIMS]; /* [n_grids] first row; += 2 * coordinate + parity */
	uint8_t n_rings;		  /* most of a grid */
	uint8_t n_vls;
	uint8_t vl_crossed, vl_turned, vl_level; /* added to the VL; 0: not told apart */
};

/*
 * vls: how many may be used; levels: of quality, 1 or 2.  Needs 2 VLs where a ring has
 * more than 3 switches, twice that with turns (steps->turns), 8 for the second level;
 * without those the second level shares the VLs of the first.
 * FM_E_TOPOLOGY with the number needed; FM_E_RESOURCE.
 */
int fm_datelines_build(const struct fm_grid_steps *steps, uint8_t vls, unsigned levels,
    struct fm_datelines *out, struct fm_error *err);

/* Have fm_grid_fill_rows() write SLs; *d must live on.  Two rows of LIDs for each coordinate
 * of each ring.  FM_E_RESOURCE. */
int fm_datelines_fill(struct fm_datelines *d, struct fm_grid_fill *fill, struct fm_error *err);

/* Shapes, all of sl2vl, and n_vls_used. */
void fm_datelines_sl2vl(const struct fm_datelines *d, struct fm_tables *out);

/* The least VLs of the links, or of the request. */
uint8_t fm_datelines_vls(const struct fm_fabric *fab, const struct fm_request *req);

#endif
