/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where composing begins: the regions of the configuration and the first entries of their
 * chains; or, after an event, where the search before ended.
 *
 * The join, the entries and the merged regions of a plan are remembered with it, and with
 * them the fabric on which all joins were tried to find them.  As long as nothing is there
 * that was not there then, no cable and no end, that one join is tried alone: what was refused
 * on more would hardly do on less.  So losses and their return, in any order, find the same
 * joint.  All joins are tried where something is new, where the join will not do any more
 * or leaves a pair out, and where a full route is asked for.  Verify judges as ever.
 *
 * O(switches + cables + ends), beside the components and their order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/graph_diff.h"
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
	said->sw_level = calloc(c->fab->n_switches + 1, sizeof(*said->sw_level));
	if (said->region == NULL || said->sw_level == NULL)
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

/* ------------------------------------------------------ where to begin */

/* Is the first join by the first entries all that there was to find? */
static bool
is_the_first(const struct plan_regions *was)
{
	for (uint32_t i = 0; i < was->n; i++)
		if (was->region[i].entry > 0 || was->region[i].is_merged)
			return false;
	return was->join <= PLAN_FLAT;
}

/* May a search go on where that one ended? */
static int
may_go_on(
    const struct plan_request *q, const struct plan_regions *was, bool *may, struct fm_error *err)
{
	*may = was != NULL && was->searched != NULL && was->n == q->regions->n_regions &&
	    !is_the_first(was);
	return *may ? graph_is_part(&q->snap->fab, &was->searched->fab, may, err) : 0;
}

int
compose_find_start(
    const struct plan_request *q, const struct plan_regions **start, struct fm_error *err)
{
	bool starts_over = q->anew != PLAN_FROM_PREV || q->all_joins || q->prev == NULL ||
	    q->prev->mark != q->chain->mark;
	const struct plan *prev = starts_over ? NULL : q->prev;
	const struct plan *nominal = prev != NULL ? prev->nominal : NULL;
	const struct plan_regions *of[] = { prev != NULL ? prev->regions : NULL,
		nominal != NULL ? nominal->regions : NULL };
	bool may = false;
	int rc = 0;

	*start = NULL;
	for (unsigned i = 0; rc == 0 && *start == NULL && i < 2; i++) {
		rc = may_go_on(q, of[i], &may, err);
		if (may)
			*start = of[i];
	}
	return rc;
}

int
compose_take_refusals(struct composer *c, struct fm_error *err)
{
	const struct plan *prev = c->q->prev,
			  *from = prev->regions == c->was ? prev : prev->nominal;
	bool ok = true;

	for (size_t i = 0; ok && i < from->refused.n; i++)
		for (int join = PLAN_FLAT; ok && join < PLAN_WHOLE; join++)
			if (strcmp(from->refused.item[i].engine, plan_join_name(join)) == 0)
				ok = fm_vec_push(&c->p->refused, from->refused.item[i]);
	for (uint32_t i = 0; i < c->was->n; i++)
		for (size_t j = 0; ok && j < c->was->region[i].refused.n; j++)
			ok = fm_vec_push(
			    &c->p->regions->region[i].refused, c->was->region[i].refused.item[j]);
	return ok ? 0 : compose_no_memory(err);
}

int
compose_set_up_again(struct composer *c, bool *complete, struct fm_error *err)
{
	bool any = false;
	int rc = 0;

	for (uint32_t i = 0; i < c->was->n; i++) {
		c->region[i].at = c->was->region[i].entry;
		any |= c->was->region[i].is_merged;
	}
	if (any && (rc = compose_find_components(c, err)) == 0 && (rc = start_regions(c, err)) == 0)
		rc = compose_merge_regions_again(c, err);
	return rc == 0 ? compose_set_up(c, complete, err) : rc;
}
