/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/regions/compose_gateways.h - the one exit of each (component, LID), and islands, which
 * are left and entered by the nearest.
 */
#ifndef CORE_REGIONS_COMPOSE_GATEWAYS_H
#define CORE_REGIONS_COMPOSE_GATEWAYS_H

#include "core/regions/compose_internal.h"

/* Fill gateway[]; with c->blamed set where an engine's own routes leave none. */
int compose_find_gateways(struct composer *c, struct fm_error *err);

/* gate_serves of x, for its own traffic; of a component of the core for that of islands to d
 * too. */
void compose_mark_gates(struct composer *c, uint32_t x);
void compose_mark_core_gates(struct composer *c, uint32_t component, uint32_t d);
/* lid_ingress of an island's LIDs, and phi[switches of it]: hops from the nearest gate that the
 * core hands over at.  nearest: room for its cables. */
void compose_find_ingresses(
    struct composer *c, uint32_t island, uint16_t *phi, uint32_t *nearest);

/* c->island for an attempt: 0, 1, and then more while the one before failed for a credit
 * loop.  False: there is no such choice. */
bool compose_choose_islands(struct composer *c, unsigned attempt);
/* c->island: whole regions as islands, as many of their switches as may be.  False: none. */
bool compose_choose_leaves(struct composer *c);
/* Merge all regions but the chosen, and cut the fabric anew.  *any false: nothing to merge. */
int compose_merge_regions(struct composer *c, bool *any, struct fm_error *err);

/* Entries for foreign LIDs of island x: out by a nearest gateway. */
int compose_leave_island(struct composer *c, uint32_t x, struct fm_error *err);
/* Where the core has no route from a cable to a LID, the island leaves by the others. */
int compose_mend_islands(struct composer *c, struct fm_error *err);

#endif
