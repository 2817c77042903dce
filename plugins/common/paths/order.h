/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/paths/order.h - who is above whom, such that up/down joins all.
 *
 * Up/down routes follow a strict order of the switches.  Taken from levels
 * alone (ranks of a tree, hops from several roots) it has many highest
 * switches, and pairs with none above both have no legal route.  With a single
 * highest switch in each component every pair has one: up to it and down.
 *
 * The turn gives any levels that property and leaves nearly all shortest
 * routes as they are.  One switch T of the lowest level, the *turning switch*,
 * is put above everything, and what was above it (its cone) is turned upside
 * down.  In a tree leaf A - L2 - spine - L2' - T was up, up, down, down and now
 * is up, up, up, up; A - L2 - spine - L2'' - B stays up, up, down, down.
 *
 * Where a leaf has some of its cables to the cone and some to other switches, the latter alone
 * serve what comes down to it from further up: down comes first.  In a director a leaf beside T
 * may lose nearly all of its cables so.  There a line board, which all spines are above, is the
 * better T: its cone takes one cable of each leaf below it.
 *
 * Switches that cannot climb into the cone, as they have lost the cables to
 * it, are *demoted*: put, upside down too, right below a switch s that can.
 * From s, going down to such a one would be a way down to all below it, and
 * down comes first; so these arcs are *aside*: only for destinations that
 * could not climb before the demotion.  From the others nothing changes.
 */
#ifndef PLUGINS_COMMON_PATHS_ORDER_H
#define PLUGINS_COMMON_PATHS_ORDER_H

#include "plugins/common/paths/arcs.h"

enum fm_arc_way {
	FM_ARC_DOWN = 0,
	FM_ARC_UP = 1,	 /* a bit: set where the arc goes up */
	FM_ARC_ASIDE = 2 /* a bit: the down one of this pair of arcs is for .aside only */
};

struct fm_order {
	const uint8_t *way;	/* [n_arcs] enum fm_arc_way */
	const uint8_t *aside;	/* [n_switches] destinations that aside arcs are for */
	const uint8_t *demoted; /* [n_switches] */
	/* [n_switches] Grows along up arcs, but where two neighbours are of one level.  NULL:
	 * the order is by ids alone. */
	const int64_t *height;
};

static inline bool
fm_goes_up(const struct fm_order *o, fm_arc a)
{
	return o->way[a] & FM_ARC_UP;
}

/* Which switch is made the single highest one of its component, if any. */
enum fm_turn {
	FM_TURN_NONE,
	FM_TURN_LOWEST, /* one of the lowest level */
	FM_TURN_ANY	/* one further up where that keeps more ways; for trees */
};

struct fm_levels {
	const uint32_t *level; /* [n_switches] higher is up */
	const int64_t *ids;    /* [n_switches] within a level the lower id is up; NULL: the index */
	enum fm_turn turn;
};

/* O(links), with a turn O(links + switches * demoted).  FM_E_RESOURCE. */
int fm_order_build(const struct fm_host *host, const struct fm_arcs *arcs,
    const struct fm_levels *levels, struct fm_order *out, struct fm_error *err);

/* By ids alone, which differ between neighbours: the lower is up.  O(arcs).  FM_E_RESOURCE. */
int fm_order_by_ids(const struct fm_host *host, const struct fm_arcs *arcs, const int64_t *ids,
    struct fm_order *out, struct fm_error *err);

/* The switches, each behind all below it, into by_height[n_switches]; n_below[n_switches]
 * is scratch.  O(arcs). */
void fm_order_sort(
    const struct fm_arcs *arcs, const struct fm_order *order, uint32_t *n_below, fm_sw *by_height);

#endif
