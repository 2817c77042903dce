/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where composing begins: the regions of the configuration and the first entries of their
 * chains.
 *
 * What is composed follows from the fabric and the configuration alone, whatever there was before:
 * what is lost and comes back finds the tables as they were, and so does a restart, a standby and
 * `fmroute`.
 *
 * O(switches + cables + ends), beside the components and their order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/regions/compose_gateways.h"
#include "core/regions/compose_steps.h"

/* ------------------------------------------------------------- setting up */

/* Whose credit loops are nobody else's business. */
static int
list_allowed(struct composer *c, struct plan_regions *said, struct fm_error *err)
{
	bool any = false;

	for (uint32_t i = 0; i < c->set->n_regions; i++)
		any |= c->set->region[i].chain.allow_credit_loops;
	free(said->loops_within);
	said->loops_within = NULL;
	if (!any)
		return 0;
	said->loops_within = calloc(said->n_switches + 1, sizeof(*said->loops_within));
	if (said->loops_within == NULL)
		return compose_no_memory(err);
	for (fm_sw sw = 0; sw < said->n_switches; sw++)
		if (c->sw_component[sw] != FM_NONE && compose_allows_loops(c, c->sw_region[sw]))
			said->loops_within[sw] = (uint16_t)(c->sw_region[sw] + 1u);
	return 0;
}

static int
start_regions(struct composer *c, struct fm_error *err)
{
	uint32_t n = c->set->n_regions;
	struct plan_regions *said = calloc(1, sizeof(*said));

	if (said == NULL)
		return compose_no_memory(err);
	atomic_init(&said->refs, 1);
	c->p->regions = said;
	said->n = n;
	said->n_switches = c->fab->n_switches;
	said->region = calloc(n, sizeof(*said->region));
	if (said->region == NULL)
		return compose_no_memory(err);
	for (uint32_t i = 0; i < n; i++)
		snprintf(said->region[i].name, sizeof(said->region[i].name), "%s",
		    c->set->region[i].name);
	return 0;
}

static int
room_for_gateways(struct composer *c, struct fm_error *err)
{
	struct fm_arena *mem = &c->mem;
	size_t k = c->n_components;

	c->gateway = fm_arena_array(mem, k * c->n_lid_room, uint16_t);
	c->island = fm_arena_array(mem, k, uint8_t);
	c->on_cycle = fm_arena_array(mem, c->fab->n_switches + 1, uint8_t);
	c->flat_cycle = fm_arena_array(mem, c->fab->n_switches + 1, uint8_t);
	c->lid_ingress = fm_arena_array(mem, c->n_lid_room, uint32_t);
	return c->gateway == NULL || c->island == NULL || c->on_cycle == NULL ||
		c->flat_cycle == NULL || c->lid_ingress == NULL
	    ? compose_no_memory(err)
	    : 0;
}

int
compose_look_at_regions(struct composer *c, uint32_t *only, struct fm_error *err)
{
	const struct fm_fabric *fab = c->fab;
	uint16_t *regions = fm_arena_array(&c->mem, fab->n_switches + 1, uint16_t);
	int rc = 0;

	*only = FM_NONE;
	c->region = fm_arena_array(&c->mem, c->set->n_regions, struct region_state);
	if (regions == NULL || c->region == NULL)
		return compose_no_memory(err);
	c->sw_region = c->sw_named = regions;
	if (c->q->sw_region != NULL)
		memcpy(regions, c->q->sw_region, fab->n_switches * sizeof(*regions));
	else
		rc = regions_resolve(c->set, c->snap, false, regions, err);
	for (fm_sw sw = 0; rc == 0 && sw < fab->n_switches; sw++) {
		if (c->snap->sw_component[sw] == FM_NONE)
			continue; /* gone */
		if (regions[sw] >= c->set->n_regions)
			return fm_fail(err, FM_E_BUG, "there is no region %u", regions[sw]);
		c->region[regions[sw]].n_switches++;
	}
	*only = 0;
	for (uint32_t i = 0, n = 0; i < c->set->n_regions; i++)
		if (c->region[i].n_switches > 0)
			*only = n++ == 0 ? i : FM_NONE;
	return rc;
}

static void
count_components(struct composer *c)
{
	for (uint32_t i = 0; i < c->set->n_regions; i++)
		c->region[i].n_components = c->region[i].n_routed = 0;
	for (uint32_t x = 0; x < c->n_components; x++) {
		c->region[c->component[x].region].n_components++;
		c->region[c->component[x].region].n_routed += c->component[x].n > 1;
	}
}

int
compose_set_up(struct composer *c, bool *complete, struct fm_error *err)
{
	int rc = compose_find_components(c, err);

	if (rc != 0)
		return rc;
	count_components(c);
	if (c->p->regions == NULL && (rc = start_regions(c, err)) != 0)
		return rc;
	if ((rc = list_allowed(c, c->p->regions, err)) != 0 ||
	    (rc = compose_find_order(c, complete, err)) != 0)
		return rc;
	return room_for_gateways(c, err);
}
