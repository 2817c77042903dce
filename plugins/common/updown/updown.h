/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/updown/updown.h - up/down routing of any fabric.
 *
 * Every arc is given a direction so that the up arcs form no cycle.  A legal
 * path goes up, then down, never up again; channels of legal paths can be
 * ordered, so there are no credit loops (Autonet, Schroeder et al. 1991).
 */
#ifndef PLUGINS_COMMON_UPDOWN_UPDOWN_H
#define PLUGINS_COMMON_UPDOWN_UPDOWN_H

#include "plugins/common/updown/turn_relaxation.h"

struct fm_updown {
	const fm_sw *roots; /* [n_roots] given, or none: found */
	uint32_t n_roots;
	bool by_leaves;	    /* levels are hops from the hosts' switches, whatever the fabric */
	const int64_t *ids; /* [n_switches] order among switches of one rank, or NULL: by index */
	struct fm_choice choice;
	unsigned relax; /* enum fm_relax_flags: which missing pairs get routes all the same */
};

/*
 * Without roots every pair of a component gets a legal route, between switches
 * too: a levelled fabric points away from its leaves, turned as in order.h; others
 * follow the best of several orders (estimate.h): by hops from one well-centred root
 * per component, by the index of the switches, by searches (cardinality.h), or with
 * by_leaves by levels and searches among equals; and they take detours round crowded
 * cables.  Except where there are proxies: then the plain levels are kept.
 *
 * With roots, or proxies, pairs may be left that no legal path joins.  relax says
 * which of them get a route that adds no cycle of channels; *left counts what
 * is missing after that.
 *
 * Where the host asks for adaptive routing, all equally long legal next steps
 * are alternatives; none if turns had to be relaxed.
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_route_updown(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_shape *shape, const struct fm_updown *how, struct fm_tables *out,
    struct fm_missing *left, struct fm_error *err);

#endif
