/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/grid/grid_internal.h - what the parts of grid recognition hand on.
 */
#ifndef PLUGINS_COMMON_GRID_GRID_INTERNAL_H
#define PLUGINS_COMMON_GRID_GRID_INTERNAL_H

#include "plugins/common/grid/grid.h"

#define GRID_NO_DIM 0xff

struct grid_work {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const fm_arc *rev; /* [n_arcs] */
	fm_sw *from;	   /* [n_arcs] the switch an arc leaves */
	uint32_t n_parts;  /* components */
	uint32_t *part;	   /* [n_switches] */

	/* grid_classes.c: which arcs are of one dimension */
	uint32_t *bundle; /* [n_arcs] root of the arcs parallel to this one, the same way */
	uint8_t *dim;	  /* [n_arcs] dimension in its component, GRID_NO_DIM: not known */
	uint8_t *up;	  /* [n_arcs] of its two ways, up; 0 in cliques */
	uint32_t *n_dims; /* [n_parts] */
	uint8_t (*clique)[FM_GRID_MAX_DIMS]; /* [n_parts] has triangles */

	/* grid_levels.c: where the switches are */
	uint16_t (*at)[FM_GRID_MAX_DIMS]; /* [n_switches] coordinates */
	uint8_t *placed;		  /* [n_switches] */
	struct fm_grid *grid;		  /* [n_parts] sizes and kinds */
};

int grid_classes(struct grid_work *w, struct fm_error *err);
int grid_levels(struct grid_work *w, struct fm_error *err);

/* Strides and number of cells from sizes. */
int grid_measure(const struct grid_work *w, struct fm_grid *g, struct fm_error *err);

uint32_t grid_cell(const struct fm_grid *g, const uint16_t *at);
bool grid_beside(const struct fm_grid *g, const uint16_t *a, const uint16_t *b, uint32_t *dim);

/* The view by which a grid is shown to everyone (grid_view.c). */
int grid_choose_view(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const struct fm_grids *grids, uint32_t which,
    struct fm_grid_view *view, struct fm_error *err);

/* Pairs of lines of 2 whose halves share their ports, or any (grid_view.c). */
int grid_find_fours(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const struct fm_grids *grids, uint32_t which, bool any,
    uint32_t *partner /* [FM_GRID_MAX_DIMS] FM_NONE: none */, struct fm_error *err);

#endif
