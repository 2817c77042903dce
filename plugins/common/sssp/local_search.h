/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/sssp/local_search.h - finished trees made more even, route by route: a local
 * search (hill climbing) for a lower load of the fullest link.
 *
 * Trees that were grown one after the other, or by digits where the digits do not
 * come out even, leave some links with more than others although there are ways
 * round them.  Here the fullest link is taken, and what comes over it is led round it,
 * one switch's routes to one destination at a time, as long as the fullest link gets
 * emptier.  Every step is a right one all the time, so paths stay as long and as legal as
 * the rule of the steps says (steps.h).
 */
#ifndef PLUGINS_COMMON_SSSP_LOCAL_SEARCH_H
#define PLUGINS_COMMON_SSSP_LOCAL_SEARCH_H

#include "plugins/common/paths/steps.h"

#define FM_LOCAL_SEARCH_MOST 24000000u /* LIDs * links */
#define FM_AS_IT_IS 1e9 /* times the mean is enough: nothing is moved, all is counted */

/* Is the fabric small enough, whole, and each LID free to go its own way? */
static inline bool
fm_local_search_applies(const struct fm_fabric *fab)
{
	return (uint64_t)fm_count_lids(fab) * fab->n_links <= FM_LOCAL_SEARCH_MOST &&
	    !fm_has_proxies(fab) && !fm_has_lmc(fab);
}

struct fm_load_sums {
	double sum, squares;
};

/* Whether paths may be as they would be after a move: each of these is asked for, from every switch
 * behind the one that moves, till one is refused. */
struct fm_admission {
	void *arg;
	void (*begin)(void *arg); /* a move; what was admitted before stays so */
	/* path[n] links from source to root, at least one */
	bool (*admit)(void *arg, fm_sw source, fm_sw root, const fm_link *path, uint32_t n);
	void (*undo)(void *arg); /* all of this move */
};

/* What may be done to the routes. */
struct fm_local_search_rule {
	struct fm_rule rule;	     /* right next steps, those of the tables; without weights */
	const struct fm_order *also; /* an order that new steps have to follow too, or NULL */
	/* instead of both: [n_arcs] which go up (FM_ARC_UP); any path up and then down is right,
	 * and such are those of the tables */
	const uint8_t *way;
	/* instead of all of these: any link will do by which paths are no longer and which this
	 * admits */
	const struct fm_admission *admission;
	double enough; /* of the mean, for the fullest link; 0: nearly the mean */
	/* rows before, to which what moves had best go back; or NULL */
	const uint8_t *const *prev_lft;
	bool *moved;		   /* is set where some routes were moved; or NULL */
	struct fm_load_sums *sums; /* of what the links bear in the end; or NULL */
	uint64_t *load;		   /* [n_links] is set to that; or NULL */
};

/*
 * *most: routes from hosts to hosts' LIDs that are left on the fullest link.
 *
 * O(switches * arcs), and O(switches * hops) for each LID on each link that is emptied, until
 * a number of steps is spent (local_search.c).  FM_E_RESOURCE, FM_E_CANCELLED.
 */
int fm_local_search(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_arcs *arcs, const struct fm_local_search_rule *how, const struct fm_tables *out,
    uint64_t *most, struct fm_error *err);

#endif
