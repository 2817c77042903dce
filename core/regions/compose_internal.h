/* SPDX-License-Identifier: BSD-2-Clause */
/* core/regions/compose_internal.h - the state of composing, which all of its steps share. */
#ifndef CORE_REGIONS_COMPOSE_INTERNAL_H
#define CORE_REGIONS_COMPOSE_INTERNAL_H

#include "core/regions/compose.h"
#include "core/regions/compose_component.h"
#include "core/regions/regions.h"
#include "lib/error.h"
#include "lib/vec.h"

#define N_SLS 16u
#define NO_EXIT UINT16_MAX

struct region_state {
	uint32_t at;				     /* entry of the chain that is in force */
	uint32_t n_switches, n_components, n_routed; /* n_routed: of more than one switch */
	uint8_t most_vls;			     /* its engine uses by itself */
	bool is_merged; /* its switches are of region composer.merged */
};

/* Who is above whom, and the ways that follow. */
struct order {
	struct ordered_graph graph; /* of components */
	uint16_t *level;	    /* [n_components] */
	uint16_t *rank; /* [n_components][n_components] of the second on the way to the first */
	uint8_t *down;	/* likewise: goes down all the way */
};

struct composer {
	struct router *r;
	const struct region_set *set;
	const struct chain *outside; /* of regions: the chain of those that are merged */
	struct snapshot *snap;
	const struct fm_fabric *fab;
	struct fm_arena mem;
	struct plan *p;
	struct region_state *region;	/* [set->n_regions] */
	const uint16_t *sw_region;	/* [n_switches] */
	uint32_t merged; /* region that is the core of many (compose_merge_regions.c), FM_NONE */
	const uint16_t *sw_named; /* [n_switches] of the configuration, whoever is merged */

	uint32_t n_components;
	struct component *component;
	uint32_t *sw_component;	 /* [n_switches] FM_NONE: gone */
	uint32_t *sw_local;	 /* [n_switches] */
	uint32_t *sw_gate;	 /* [n_switches] FM_NONE: no gate */
	uint32_t *link_exit;	 /* [n_links] among its component's, FM_NONE: inside */
	fm_link *link_number;	 /* [n_links] in the view being made */
	uint32_t *lid_component; /* [max_lid + 1] FM_NONE: nobody's */
	size_t n_lid_room;	 /* max_lid + 1 */

	struct order whole;	   /* of all components */
	struct order inner;	   /* of the core, while there are islands: these touch nothing */
	const struct order *order; /* of the two the one for the join in hand */

	bool islands;	      /* the join in hand */
	uint32_t core;	      /* the only component with several neighbours, or FM_NONE */
	uint8_t *island; /* [n_components] 1: an island, if the join is islands; 0: of the core */
	/* [n_switches] 1: on the credit loop that was found in the tables judged last, and in
	 * those of the join flat */
	uint8_t *on_cycle, *flat_cycle;
	/* [n_lid_room] of islands: the component of the core that hands it over */
	uint32_t *lid_ingress;
	uint16_t *gateway; /* [n_components][n_lid_room] exit of the component, or NO_EXIT */
	struct tables *tables, *other; /* other: for the other kind of join */
	bool soft;		       /* holes to switches refuse nobody */
	FM_VEC(struct soft_hole) soft_holes;
	/* who stands in the way: a region whose engine fails or cannot serve a gateway */
	uint32_t blamed; /* FM_NONE: nobody */
	bool by_order;	 /* ... as gateways are: by another order it might do */
	char blame[640];
	char reason[640]; /* why the tables judged last will not do */
};

static inline int
compose_no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while composing regions");
}

/* Does anything but the switch itself send from there? */
static inline bool
compose_sends(const struct fm_fabric *fab, fm_sw sw)
{
	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		if (fab->end_kind[e] != FM_END_SWITCH)
			return true;
	return false;
}

static inline bool
is_island(const struct composer *c, uint32_t x)
{
	return c->islands && c->island[x];
}

static inline uint16_t
rank_to(const struct composer *c, uint32_t d, uint32_t x)
{
	return c->order->rank[(size_t)d * c->n_components + x];
}

/* May traffic to d go on from x to y? */
static inline bool
is_next(const struct composer *c, uint32_t d, uint32_t x, uint32_t y)
{
	size_t row = (size_t)d * c->n_components;

	return ordered_is_step(&c->order->graph, c->order->rank + row, c->order->down + row, x, y);
}

static inline uint16_t *
gateways_of(const struct composer *c, uint32_t x)
{
	return c->gateway + (size_t)x * c->n_lid_room;
}

static inline struct exit *
exit_of(const struct composer *c, uint32_t x, uint32_t lid)
{
	uint16_t e = gateways_of(c, x)[lid];

	return e == NO_EXIT ? NULL : &c->component[x].exit[e];
}

#endif
