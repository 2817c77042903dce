/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/graph_diff.h - which cables between switches are lost, of those
 * that tables were made for.
 *
 * Tables go by ports, so they can be kept or repaired as long as every switch
 * has its number, its name and its ports, and every cable there is now was
 * there then, between the same ports, at the same rate, with as many VLs.
 */
#ifndef CORE_GRAPH_GRAPH_DIFF_H
#define CORE_GRAPH_GRAPH_DIFF_H

#include <fmd/engine.h>

#include "lib/vec.h"

/* One direction of a cable, by what does not change its number. */
struct graph_channel {
	fm_sw sw;
	uint8_t port;
};

struct graph_diff {
	bool comparable; /* false: something is new or not what it was; the rest is not filled */
	/* both directions, ascending by switch; those of a switch that is gone too */
	FM_VEC(struct graph_channel) lost;
};

static inline bool
graph_is_gone(const struct fm_fabric *fab, fm_sw sw)
{
	return fab->sw_first_link[sw] == fab->sw_first_link[sw + 1] &&
	    fab->sw_first_end[sw] == fab->sw_first_end[sw + 1];
}

/* Has an end behind a switch the LID, which may be any? */
static inline bool
graph_has_owner(const struct fm_fabric *fab, uint32_t lid)
{
	return lid <= fab->max_lid && fab->lid_end[lid] != FM_NONE &&
	    fab->end_sw[fab->lid_end[lid]] != FM_NONE;
}

/* The same cable, seen from the same side? */
bool graph_same_link(const struct fm_fabric *a, fm_link x, const struct fm_fabric *b, fm_link y);

/* The same ends in the same order, at the same ports, with the same LIDs?  O(ends). */
bool graph_same_ends(const struct fm_fabric *a, const struct fm_fabric *b);

/* Compare; diff begins zeroed or used.  O(links).  FM_E_RESOURCE. */
int graph_compare(const struct fm_fabric *was, const struct fm_fabric *now, struct graph_diff *diff,
    struct fm_error *err);
void graph_diff_fini(struct graph_diff *diff);

#endif
