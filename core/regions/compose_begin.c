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
compose_begin(struct composer *c, struct router *r, const struct region_set *set,
    const uint16_t *sw_region, const struct chain *outside, struct plan *p, struct fm_error *err)
{
	*c = (struct composer){ .r = r,
		.set = set,
		.outside = outside,
		.snap = p->snap,
		.fab = &p->snap->fab,
		.p = p,
		.sw_region = sw_region,
		.sw_named = sw_region,
		.n_lid_room = (size_t)p->snap->fab.max_lid + 1,
		.core = FM_NONE,
		.merged = FM_NONE,
		.blamed = FM_NONE };
	fm_arena_init(&c->mem, SIZE_MAX);
	fm_arena_fail_at(&c->mem, r->scratch_fail_at);
	c->region = fm_arena_array(&c->mem, set->n_regions, struct region_state);
	if (c->region == NULL)
		return compose_no_memory(err);
	for (fm_sw sw = 0; sw < c->fab->n_switches; sw++) {
		if (c->snap->sw_component[sw] == FM_NONE)
			continue; /* gone */
		if (sw_region[sw] >= set->n_regions)
			return fm_fail(err, FM_E_BUG, "there is no region %u", sw_region[sw]);
		c->region[sw_region[sw]].n_switches++;
	}
	return 0;
}

void
compose_end(struct composer *c)
{
	for (uint32_t i = 0; c->component != NULL && i < c->set->n_regions; i++)
		compose_forget_region(c, i);
	tables_put(c->tables);
	tables_put(c->other);
	fm_vec_fini(&c->soft_holes);
	fm_arena_fini(&c->mem);
}

uint32_t
compose_only_region(const struct composer *c)
{
	uint32_t only = 0;

	for (uint32_t i = 0, n = 0; i < c->set->n_regions; i++)
		if (c->region[i].n_switches > 0)
			only = n++ == 0 ? i : FM_NONE;
	return only;
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
