/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/regions/compose.h - one whole out of regions that different engines route.
 *
 * A *component* is a connected part of a region.  Components stand in an order; between
 * them traffic goes up, then down, and each boundary brings it nearer to the
 * component of its destination: that alone excludes loops.  Within a component its
 * engine routes, and sees the LIDs beyond as proxies on gateway ports.
 *
 *	beginning	compose_begin.c		regions and the first entries of their chains
 *	components	compose_components.c	parts of regions, cables between them
 *	order		compose_order.c		who is above whom; ranks by destination
 *	gateways	compose_gateways.c	one for each (component, LID)
 *	views		compose_view.c		a component as the fabric its engine sees
 *	engines		compose_engines.c	each component by the chain of its region
 *	islands		compose_islands.c	out by the nearest gateway
 *	core		compose_core.c		which components are islands, which their core
 *	ingresses	compose_ingress.c	where the core hands over to islands
 *	merging		compose_merge_regions.c	which regions are one, as the last resort
 *	tables		compose_sl_tables.c	SL and SL2VL tables
 *	completing	compose_complete.c	ways to switches that engines have left out
 *	report		compose_report.c	what the plan says of it, busiest cables
 *
 * Parts without credit loops do not make a whole without (four switches suffice
 * to show it), so there are joins, and verify is the only judge: flat and
 * islands.  What fails all of them takes the next entry of a region's chain.
 */
#ifndef CORE_REGIONS_COMPOSE_H
#define CORE_REGIONS_COMPOSE_H

#include "core/plan/plan.h"

/* snap by the regions of set: *out is a plan with tables, verdict, refused, regions.  sw_region:
 * [n_switches], NULL: as set says.  *whole is the chain outside of regions.  Where they cannot
 * be composed the plan has no tables, its refused says why, and *whole becomes the chain to route
 * the fabric as one: that of the only region that has switches, or as it was.
 * FM_E_RESOURCE, FM_E_CONFIG. */
int compose(struct router *r, const struct region_set *set, const uint16_t *sw_region,
    struct snapshot *snap, const struct chain **whole, struct plan **out, struct fm_error *err);

#endif
