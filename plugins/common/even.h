/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/even.h - finished trees made more even, route by route.
 *
 * Trees that were grown one after the other, or by digits where the digits do not
 * come out even, leave some links with more than others although there are ways
 * round them.  Here the fullest link is taken, and what comes over it is led round it,
 * one switch's routes to one destination at a time, as long as the fullest link gets
 * emptier.  Every step is a right one all the time, so paths stay as long and as legal as
 * the rule of the steps says (steps.h).
 */
#ifndef PLUGINS_COMMON_EVEN_H
#define PLUGINS_COMMON_EVEN_H

#include "plugins/common/steps.h"

#define FM_EVEN_MOST 12000000u	    /* LIDs * links */
#define FM_EVEN_MOST_LEGAL 4000000u /* the same with detours, of which there are many */

/* Is the fabric small enough, whole, and each LID free to go its own way? */
static inline bool
fm_may_even(const struct fm_fabric *fab, uint32_t most)
{
	return (uint64_t)fab->max_lid * fab->n_links <= most && !fm_has_proxies(fab) &&
	    !fm_has_lmc(fab);
}

/*
 * For tables of this rule of next steps, without weights.  also: an order that new steps
 * have to follow as well, or NULL.
 *
 * O(switches * arcs), and O(switches * hops) for each LID on each link that is emptied, until
 * a number of steps is spent (even.c).  FM_E_RESOURCE.
 */
int fm_even_tables(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, struct fm_rule rule, const struct fm_order *also,
    const struct fm_tables *out, struct fm_error *err);

#endif
