/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/rivals.h - which of several proven tables `auto` takes, by what they would bear.
 *
 * Two figures count: the routes on the fullest link, and the share of a link that a flow of a
 * random bisection gets (eBB).  Tables are as good as the best where they have at most
 * RIVALS_FULLER of the fewest routes and at most RIVALS_EBB less than the most of a share.  Of
 * those the first is taken that needs at most one VL more than the fewest; where there is none
 * such, what is nearest to it by the worse of its two figures.  Where ends have several LIDs,
 * tables as good go before it, up to RIVALS_VLS VLs, that have several paths to RIVALS_SEVERAL of
 * the hosts where it has not; or as it has or has not, and give more than RIVALS_EBB more over all
 * LIDs.
 *
 * Cost: rivals_measure() follows all routes, and some RIVALS_FLOWS flows of bisections.
 */
#ifndef CORE_ROUTE_RIVALS_H
#define CORE_ROUTE_RIVALS_H

#include "core/graph/snapshot.h"
#include "lib/pool.h"

#define RIVALS_MOST 4 /* tables that are compared */
#define RIVALS_FULLER 1.05
#define RIVALS_EBB 0.005
#define RIVALS_FLOWS 500000u
#define RIVALS_VLS 4
#define RIVALS_SEVERAL 0.75

struct measured {
	uint64_t most; /* routes between hosts on the fullest link between switches */
	double mean;   /* of all such links */
	double ebb;
	unsigned n_vls; /* that the tables use; the caller sets it */
	/* Where ends have several LIDs, else 0: eBB over all LIDs of an end, and the share of flows
	 * between switches by several paths. */
	double striped, several;
};

/* The routes on the fullest link alone: no bisection is followed.  FM_E_RESOURCE. */
int rivals_fullest(const struct snapshot *snap, const struct fm_tables *t, struct fm_pool *workers,
    uint64_t *most, struct fm_error *err);
/* FM_E_RESOURCE */
int rivals_measure(const struct snapshot *snap, const struct fm_tables *t, struct fm_pool *workers,
    struct measured *out, struct fm_error *err);
/* Which of n, 1 at least. */
size_t rivals_choose(const struct measured *m, size_t n);

#endif
