/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/regions/compose_component.h - a connected part of a region, and the cables that leave it.
 *
 * A component's *gates* are its switches with cables to other components, its *exits*
 * those cables, its *sides* the components they lead to.  Switches are numbered as in the
 * whole fabric unless they are called local.
 */
#ifndef CORE_REGIONS_COMPOSE_COMPONENT_H
#define CORE_REGIONS_COMPOSE_COMPONENT_H

#include "core/engine/ordered.h"
#include "core/graph/snapshot.h"
#include "core/graph/tables.h"

struct exit {
	fm_link link;
	fm_sw near, far;
	uint32_t to;		      /* component */
	uint32_t near_gate, far_gate; /* numbers among the gates of their components */
	uint32_t nth;		      /* among those to the same far switch */
	uint32_t n_lids;	      /* that leave by it */
};

struct side {
	uint32_t component;
	uint32_t first_exit, n_exits; /* into the component's exits */
};

struct component {
	uint16_t region;
	fm_sw *sw; /* [n] ascending */
	uint32_t n;
	struct side *side; /* [n_sides] ascending by component */
	uint32_t n_sides;
	struct exit *exit; /* [n_exits] by (side, nth, far switch) */
	uint32_t n_exits;
	fm_sw *gate; /* [n_gates] local, ascending */
	uint32_t n_gates;
	uint16_t *dist;	      /* [n_gates][n] hops inside the component */
	uint8_t *gate_serves; /* [n_gates] all switches with sources reach it */
	uint8_t *reach;	      /* [n][n] local; 0: the engine has no route.  NULL: it has all */
	uint32_t n_sources;   /* ends that send */
	uint16_t *lid;	      /* [n_lids] hosts' first, switch by switch */
	uint32_t n_lids, n_host_lids;
	uint32_t first_host,
	    first_other; /* numbers of its first LIDs among all hosts', all others' */
	uint32_t fabric_component;
	uint8_t n_vls; /* least of its cables and the router */
	bool mended;   /* an island of which some columns are not those of its nearest gates */
	/* as routed */
	uint64_t routed_mark;  /* of what it was last routed with; 0: not yet */
	struct snapshot *view; /* of an engine with SLs, with its tables */
	struct tables *tables;
	struct {
		uint64_t routed_mark;
		struct snapshot *view;
		struct tables *tables;
	} other; /* as routed for the other kind of join: for islands, or not */
};

/* A switch's own LID to which packets at another switch of a component have no way. */
struct soft_hole {
	uint32_t component;
	fm_sw from;
	uint16_t lid;
};

static inline bool
has_reach(const struct component *p, uint32_t from, uint32_t to)
{
	return p->reach == NULL || p->reach[(size_t)from * p->n + to];
}

/* The number of the owner's i-th LID, by which it picks its cables. */
static inline uint32_t
compose_lid_number(const struct component *owner, uint32_t i)
{
	return i < owner->n_host_lids ? owner->first_host + i
				      : owner->first_other + i - owner->n_host_lids;
}

#endif
