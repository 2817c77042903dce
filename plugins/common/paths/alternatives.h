/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/paths/alternatives.h - adaptive routing: from the ports towards each
 * switch to groups in the tables (FM_PROVIDES_AR).
 *
 * The forwarding tables are written first; what is added here are the equally
 * good ports beside theirs.  All does nothing where the host has not asked
 * (out->ar_group NULL).  What an engine promises about credit loops it
 * promises over all alternatives: give none that are not legal.
 */
#ifndef PLUGINS_COMMON_PATHS_ALTERNATIVES_H
#define PLUGINS_COMMON_PATHS_ALTERNATIVES_H

#include "plugins/common/paths/reach.h"

struct fm_ports {
	uint64_t set[4]; /* bit p: port p */
};

static inline void
fm_ports_add(struct fm_ports *ports, uint8_t port)
{
	ports->set[port / 64] |= (uint64_t)1 << (port % 64);
}

/* The ports by which sw may send to the ends of switch to, into towards[to], for
 * all others; it is empty before.  Called on the host's workers. */
typedef void (*fm_towards_fn)(
    const void *arg, fm_sw sw, unsigned worker, struct fm_ports *towards /* [n_switches] */);

/*
 * Give every entry whose port is one of several towards its switch a group.
 * Equal sets are one group of a switch; where it has not room for all, those
 * stay that serve the most LIDs, the entries of the others are static and
 * counted in out->ar_dropped.  fixed: as below.
 *
 * O(switches * (switches + LIDs)) and the calls.  FM_E_RESOURCE.
 */
int fm_alternatives_write(const struct fm_host *host, const struct fm_fabric *fab,
    fm_towards_fn towards, const void *arg, const uint64_t *fixed, struct fm_tables *out,
    struct fm_error *err);

/*
 * The same for the right next steps over shortest paths (order NULL) or shortest
 * legal up/down paths (as fm_reach_build()), by any of their cables; if also_shortest,
 * only those of them that are on a shortest path of all.  fixed: bitset [max_lid + 1] of
 * LIDs that have no alternatives, or NULL.
 * FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_alternatives(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const struct fm_order *order, bool also_shortest,
    const uint64_t *fixed, struct fm_tables *out, struct fm_error *err);

#endif
