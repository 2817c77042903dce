/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/grid/grid.h - meshes, tori, hypercubes and HyperX, found in the
 * switch graph alone.
 *
 * A grid is a product of lines, rings and complete graphs: each switch has
 * coordinates, and an arc changes exactly one of them, by one (on a ring round
 * the end too), in a complete graph to any other value.
 *
 *	LINE	0 - 1 - 2 - 3		mesh; of size 2 also a side of a hypercube
 *	RING	0 - 1 - 2 - 3 - 0	torus; size 3 or more
 *	CLIQUE	every pair		HyperX; size 4 or more, else LINE or RING
 *
 * A ring of 4 is the product of two lines of 2: a 4x4 torus and a hypercube of
 * 4 dimensions are the same graph.  FM_GRID_SPLIT_FOURS takes lines of 2 all
 * the way (shortest routes need no second VL then), FM_GRID_JOIN_FOURS pairs all
 * of them to rings (a cut ring still has a way round), FM_GRID_CABLED_FOURS
 * asks the port numbers: the two halves of a ring use the same pair of ports.
 *
 * Cables and switches may be missing, up to a quarter.  Cells without a switch
 * are holes.
 *
 * Which coordinate is which does not depend on the order of switches, and as
 * little as possible on any one of them, so that a failure renames nothing:
 * dimensions and directions follow port numbers where three of four switches
 * agree, origins follow GUIDs where three of four rows agree; where they do
 * not, the lowest number (by GUID, or by cables) decides.
 */
#ifndef PLUGINS_COMMON_GRID_GRID_H
#define PLUGINS_COMMON_GRID_GRID_H

#include "plugins/common/paths/arcs.h"

#define FM_GRID_MAX_DIMS 16

enum fm_grid_kind { FM_GRID_LINE, FM_GRID_RING, FM_GRID_CLIQUE };
enum fm_grid_fours { FM_GRID_CABLED_FOURS, FM_GRID_SPLIT_FOURS, FM_GRID_JOIN_FOURS };

/* One component of the fabric. */
struct fm_grid {
	uint32_t n_dims; /* 0: a switch by itself */
	uint32_t size[FM_GRID_MAX_DIMS];
	uint32_t stride[FM_GRID_MAX_DIMS]; /* cell = sum of coordinate * stride */
	uint8_t kind[FM_GRID_MAX_DIMS];	   /* enum fm_grid_kind */
	uint32_t n_cells;
	fm_sw *cell_sw; /* [n_cells] FM_NONE: a hole */
	uint32_t n_switches, n_holes;
	uint32_t n_neighbours; /* pairs of switches on neighbouring cells */
	uint32_t n_cut;	       /* those without any cable */
};

struct fm_grids {
	uint32_t n_grids;
	struct fm_grid *grid; /* [n_grids] by their first switch */
	uint32_t *grid_of;    /* [n_switches] */
	uint32_t *cell;	      /* [n_switches] in its grid */
	uint8_t *arc_dim;     /* [n_arcs] */
	/* [n_arcs] +1 up and -1 down, on a ring round the end as well; in a clique the sign */
	int8_t *arc_step;
	fm_arc *arc_rev; /* [n_arcs] the same arc the other way */
};

/*
 * Recognise every component.  FM_E_TOPOLOGY with the reason where one is no
 * grid, FM_E_RESOURCE, FM_E_CANCELLED.
 * O(arcs * degree); 4,096 switches of a 3D torus take about 2 ms.
 */
int fm_grid_find(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, enum fm_grid_fours fours, struct fm_grids *out,
    struct fm_error *err);

static inline uint32_t
fm_grid_at(const struct fm_grid *g, uint32_t cell, uint32_t dim)
{
	return cell / g->stride[dim] % g->size[dim];
}

/* The cell beside this one, or FM_NONE at the end of a line.  Not for cliques. */
uint32_t fm_grid_step(const struct fm_grid *g, uint32_t cell, uint32_t dim, int step);

/* "torus 8x8x4", "mesh 3x4", "hypercube 5", "HyperX 12x12", "grid 4x3 (ring, line)". */
void fm_grid_name(const struct fm_grid *g, char *text, size_t room);

/* Turn and name dimensions otherwise: new dimension i is old dimension dim[i], counted
 * from old coordinate origin[i], downwards if flip[i]. */
struct fm_grid_view {
	uint32_t dim[FM_GRID_MAX_DIMS];
	uint32_t origin[FM_GRID_MAX_DIMS];
	bool flip[FM_GRID_MAX_DIMS];
};
int fm_grid_turn(const struct fm_host *host, const struct fm_arcs *arcs, struct fm_grids *grids,
    uint32_t which, const struct fm_grid_view *view, struct fm_error *err);

/* Lines of 2, first and second, become one ring of 4 in place of the first. */
int fm_grid_join(const struct fm_host *host, const struct fm_arcs *arcs, struct fm_grids *grids,
    uint32_t which, uint32_t first, uint32_t second, struct fm_error *err);

#endif
