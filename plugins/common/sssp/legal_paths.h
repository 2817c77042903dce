/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/legal_paths.h - cheapest legal up/down paths to several switches at once.
 *
 * A legal path goes up, then down, and where a switch can go down all the way
 * it does (steps.h).  So costs to a destination settle in two sweeps that are the
 * same for all destinations:
 *
 *	down	from the lowest switch to the highest, over down arcs
 *	up	from the highest to the lowest, over up arcs, for those that cannot
 *		go down
 *
 * That makes them vectors, a lane per destination: no search and no queue.
 */
#ifndef PLUGINS_COMMON_SSSP_LEGAL_PATHS_H
#define PLUGINS_COMMON_SSSP_LEGAL_PATHS_H

#include "plugins/common/grid/dimensions.h"

#define FM_LEGAL_LANES 16 /* destinations at a time */

/* Never passed by value: the calling convention of wide vectors depends on the machine. */
typedef float fm_legal_costs __attribute__((vector_size(FM_LEGAL_LANES * sizeof(float))));

typedef uint8_t fm_legal_bytes __attribute__((vector_size(FM_LEGAL_LANES)));

struct fm_legal_arc {
	fm_arc arc;
	fm_sw to;
};

struct fm_legal_paths {
	const struct fm_arcs *arcs;
	const struct fm_order *order;
	fm_sw *by_height; /* [n_switches] lowest first */
	/* [n_arcs] of each switch, in the places of arcs->first: down ones, then from
	 * first_up[switch] on those that go up */
	struct fm_legal_arc *arc;
	uint32_t *first_up;
	uint8_t *aside;	 /* [n_arcs] in the same places */
	float *arc_cost; /* [n_arcs] */
	/* of the destinations in hand */
	fm_legal_costs *cost; /* [n_switches] */
	/* [n_switches] the arc taken, as a place among those of the switch in .arc;
	 * FM_STEP_NONE: no path, or the root */
	fm_legal_bytes *place;
	uint32_t (*passing)[FM_LEGAL_LANES]; /* [n_switches] sources behind and at the switch */
};

/* Room for orders of these arcs.  FM_E_RESOURCE. */
int fm_legal_init(const struct fm_host *host, const struct fm_arcs *arcs,
    struct fm_legal_paths *out, struct fm_error *err);

/* Follow this order from now on.  O(arcs). */
void fm_legal_follow(struct fm_legal_paths *s, const struct fm_order *order);

/* What arcs cost from now on, by their load and how many cables share it.  With detours
 * a crowded arc is worth hops round it; else the fewest hops come first (on paths of up
 * to 256), then the load, or its square.  O(arcs). */
enum fm_legal_cost { FM_LEGAL_HOPS, FM_LEGAL_LINEAR, FM_LEGAL_DETOURS };
void fm_legal_weigh(
    struct fm_legal_paths *s, const double *load, const float *capacity, enum fm_legal_cost how);

/* Into .place.  n: at most FM_LEGAL_LANES.  O(arcs). */
void fm_legal_find(struct fm_legal_paths *s, const fm_sw *root, uint32_t n);

/* The sources of each switch down the paths in hand, into .passing; then times the
 * weight of each lane to the load of the arcs. */
void fm_legal_add(struct fm_legal_paths *s, uint32_t n, const uint16_t *const *sources,
    const double *weight, double *load);

/* Counted from the first arc of the switch in their own order; or FM_STEP_NONE. */
static inline uint8_t
fm_legal_step(const struct fm_legal_paths *s, fm_sw sw, unsigned lane)
{
	uint8_t place = s->place[sw][lane];

	if (place == FM_STEP_NONE)
		return place;
	return (uint8_t)(s->arc[s->arcs->first[sw] + place].arc - s->arcs->first[sw]);
}

#endif
