/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/paths/cardinality.h - orders of the switches by maximum cardinality search.
 *
 * The next switch is always one with most neighbours among those placed (Tarjan,
 * Yannakakis, 1984).  As an order for up/down routes, the first on top: every
 * switch has ways up, most have several, and next to the top there are many of
 * them, where breadth first orders leave everybody the few cables of the root.
 * Random graphs of 60 switches bear half the worst load of breadth first orders,
 * dragonflies less than half.
 */
#ifndef PLUGINS_COMMON_PATHS_CARDINALITY_H
#define PLUGINS_COMMON_PATHS_CARDINALITY_H

#include "plugins/common/paths/order.h"

/* Of several with as many neighbours placed: */
enum fm_tie {
	FM_TIE_STALE,  /* the one whose last neighbour was placed first */
	FM_TIE_NEW,    /* the one whose first neighbour was placed last */
	FM_TIE_RECENT, /* the one whose last neighbour was placed last */
	FM_TIES
};

/*
 * ids: [n_switches] the lower the higher up (struct fm_levels); components after that
 * of root begin at their first switch.  O(arcs log switches).  FM_E_RESOURCE.
 */
int fm_cardinality_ids(const struct fm_host *host, const struct fm_arcs *arcs, fm_sw root,
    enum fm_tie tie, int64_t **ids, struct fm_error *err);

#endif
