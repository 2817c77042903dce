/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the regions as they are cut cannot be joined: as many as may be stay, as
 * islands, and all others are routed as one region, their core.
 *
 * Theorem.  Let some region be no cut of the graph of components (of regions in one component each
 * there always are), and let the engines of all islands take LIDs from their nearest gates
 * by shortest paths.  Then this fits one VL and one SL more than these engines take, replies
 * included, whatever the graph.
 * Proof.  The core is one component, and the last entries of its chain are up/down, which takes
 * one VL and joins all there; so compose_islands.c has what it asks for.
 *
 * The price: the merged regions lose their engines, all to one by the chain outside of
 * regions.  Where one engine routes the whole, all do.  The largest regions are chosen
 * first, so that most switches keep theirs; whole regions only, for that is what the
 * administrator thinks in.
 *
 * O(regions^2 + components * cables between them).
 */
#include <stdio.h>
#include <string.h>

#include "core/regions/compose_gateways.h"
#include "core/regions/compose_steps.h"
#include "lib/log.h"

/* Those that are to be merged get the number of their first. */
static int
merge_regions(struct composer *c, struct fm_error *err)
{
	uint16_t *regions = fm_arena_array(&c->mem, c->fab->n_switches + 1, uint16_t);
	uint32_t first = 0;

	if (regions == NULL)
		return compose_no_memory(err);
	while (!c->region[first].is_merged)
		first++;
	for (fm_sw sw = 0; sw < c->fab->n_switches; sw++)
		regions[sw] =
		    c->region[c->sw_named[sw]].is_merged ? (uint16_t)first : c->sw_named[sw];
	c->sw_region = regions;
	c->merged = first;
	return 0;
}

/* Those that are not islands are to be one.  How many. */
static uint32_t
mark_merged(struct composer *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->set->n_regions; i++) {
		bool in_core = false;

		for (uint32_t x = 0; x < c->n_components; x++)
			in_core |= c->component[x].region == i && !c->island[x];
		c->region[i].is_merged = in_core;
		n += in_core;
	}
	return n;
}

static int
tell_merged(struct composer *c, uint32_t n_merged, struct fm_error *err)
{
	struct plan_refusal r = { .by_auto = false };

	snprintf(r.engine, sizeof(r.engine), "%s", plan_join_name(PLAN_ISLANDS));
	snprintf(r.reason, sizeof(r.reason),
	    "the regions as they are; %u of them, from %s on, are routed as one core of the others",
	    n_merged, c->set->region[c->merged].name);
	log_debug("route", "%s", r.reason);
	return fm_vec_push(&c->p->refused, r) ? 0 : compose_no_memory(err);
}

/* What was routed is of no use any more; islands begin their chains anew. */
static void
start_anew(struct composer *c)
{
	for (uint32_t i = 0; i < c->set->n_regions; i++) {
		compose_forget_region(c, i);
		c->region[i].at = 0;
		if (!c->region[i].is_merged)
			c->p->regions->region[i].refused.n = 0;
	}
	tables_put(c->tables);
	tables_put(c->other);
	c->tables = c->other = NULL;
	c->islands = false;
	c->core = c->blamed = FM_NONE;
	c->whole = (struct order){ 0 };
	c->inner = (struct order){ 0 };
}

int
compose_merge_regions(struct composer *c, bool *any, struct fm_error *err)
{
	uint32_t n_merged = 0;
	int rc;

	*any = compose_choose_leaves(c);
	if (*any)
		n_merged = mark_merged(c);
	*any = n_merged > 1;
	for (uint32_t i = 0; !*any && i < c->set->n_regions; i++)
		c->region[i].is_merged = false;
	if (!*any)
		return 0;
	if ((rc = merge_regions(c, err)) != 0)
		return rc;
	start_anew(c);
	return tell_merged(c, n_merged, err);
}
