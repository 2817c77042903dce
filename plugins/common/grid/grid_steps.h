/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/grid/grid_steps.h - routing a grid dimension by dimension.
 *
 * At each switch the first dimension in which the destination lies elsewhere is
 * looked up by the coordinate wanted there: a *slot*.  It holds an arc, several to
 * choose from, or FM_STEP_TURN.
 *
 *	line	towards it
 *	ring	the shorter way; a ring that is cut is a line that goes the long way.
 *		Half round is a tie: see enum fm_ties
 *	clique	straight there; without a cable by way of a third switch of the row
 *		that lacks fewer cables than both (so that no chain of such ways closes)
 *	hole	a missing switch is approached up to the one before it; from
 *		there FM_STEP_TURN: later dimensions first, this one again behind it
 *
 * A ring cut twice, a line cut once, and a pair of a clique without third are *torn*:
 * some pairs have no way along the row.
 */
#ifndef PLUGINS_COMMON_GRID_GRID_STEPS_H
#define PLUGINS_COMMON_GRID_GRID_STEPS_H

#include "plugins/common/grid/grid.h"
#include "plugins/common/paths/lids.h"

#define FM_STEP_TURN (FM_NONE - 1)
#define FM_STEP_SEVERAL 0x80000000u /* | index into several[] */
#define FM_STEP_CHOICES 8

/* How rings of even size use both ways for what lies half round. */
enum fm_ties {
	/* by the destination: even load */
	FM_TIES_DEALT,
	/* a to b and b to a on the same half: what crosses a dateline one way does
	 * so the other way too.  Even load but in the last dimension, where ring n
	 * has n * n / 8 + 1 where n * n / 8 would be even. */
	FM_TIES_MIRRORED
};

struct fm_grid_choice {
	uint32_t n;
	fm_arc arc[FM_STEP_CHOICES]; /* by the destination's next coordinate mod n; in the
				      * last dimension by the destination's number */
};

struct fm_grid_steps {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_grids *grids;
	enum fm_ties ties;
	uint32_t (*dim_slot)[FM_GRID_MAX_DIMS]; /* [n_grids] slots before a dimension */
	uint32_t *first_slot;			/* [n_switches + 1] */
	uint32_t *slot; /* of switch u: [first_slot[u] + dim_slot[d] + coordinate] */
	struct fm_grid_choice *several;
	uint32_t n_several;
	uint32_t n_torn; /* rows */
	char torn[160];	 /* the first of them: "the ring of sw-0-1 is cut behind sw-1-1 ..." */
	bool turns;	 /* FM_STEP_TURN occurs */
	uint32_t n_wide_holes; /* missing neighbours of a dimension but the last */
	fm_sw beside_wide_hole;
};

/* FM_E_RESOURCE.  O(switches * sum of sizes). */
int fm_grid_steps_build(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const struct fm_grids *grids, enum fm_ties ties,
    struct fm_grid_steps *out, struct fm_error *err);

/* On a whole ring: up from x to y?  Of a tie, mirrored: parity is that of the next
 * coordinate of both ends together (0 in the last dimension). */
static inline bool
fm_ring_goes_up(uint32_t size, uint32_t x, uint32_t y, uint32_t parity)
{
	uint32_t up = y > x ? y - x : y + size - x;

	if (2 * up != size)
		return 2 * up < size;
	return x < y ? ((x + parity) & 1) == 0 : ((y + parity) & 1) != 0;
}

/* Tables of ports for all switches from the steps; SL rows by the caller. */
struct fm_grid_fill {
	const struct fm_grid_steps *steps;
	struct fm_lids lids;   /* columns: all cells with a switch, grid after grid */
	uint32_t *grid_column; /* [n_grids] first column */
	uint32_t *number;      /* [n_positions] of a destination, dealt to parallel cables */
	uint32_t most_cells;   /* of a grid */
	uint64_t n_lost;       /* (switch, switch) without a way between missing switches */
	struct fm_grid_worker **workers; /* [n_workers] */
	/* Called from workers; NULL: from the steps; no SLs. */
	/* first port of the arc from u towards each cell of its grid, or FM_PORT_NONE */
	void (*ways)(const void *arg, fm_sw u, uint8_t *by_cell);
	/* SLs from u into a row of them, entries 0..max_lid; up to 64 bytes may be rounded up to */
	void (*sls)(const void *arg, fm_sw u, uint8_t *row);
	const void *arg;
};

/* port_order: place of each port among those of its switch, NULL: as numbered. */
int fm_grid_fill_init(const struct fm_grid_steps *steps, const uint8_t *port_order,
    struct fm_grid_fill *out, struct fm_error *err);

/* Whole rows of out->lft, and with fill->sls of out->sl, on all workers; n_lost is set. */
int fm_grid_fill_rows(struct fm_grid_fill *fill, const struct fm_tables *out, struct fm_error *err);

/* Rows of something else than ports: on a worker, a value for each cell of a grid into
 * fm_grid_cells(), then laid out by LID into a row, 0 for LIDs behind no switch of the grid. */
uint8_t *fm_grid_cells(const struct fm_grid_fill *fill, unsigned worker); /* [most_cells] */
void fm_grid_lay(const struct fm_grid_fill *fill, unsigned worker, uint32_t grid, uint8_t *row);

#endif
