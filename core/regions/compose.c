/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The joins, and the chains of the regions between them.
 *
 *	flat		one VL; fat trees cut anywhere along their levels pass
 *	islands		one VL and one SL more, round a core that fits flat
 *
 * The first that verifies is taken.  A region whose engine refuses, leaves holes or
 * has a credit loop by itself goes on to the next entry of its chain, and the joins
 * are tried anew; so does, where no join has enough SLs or VLs, the region whose
 * engine takes the most.  In the end one engine routes the whole.
 *
 * Replies: CM and GMPs answer under the SL of the request.  So both ways are judged, unless
 * replies = ignore.
 */
#include "core/regions/compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/regions/compose_gateways.h"
#include "core/regions/compose_steps.h"
#include "core/repair/repair_complete.h"
#include "core/verify/verify.h"
#include "lib/log.h"

enum outcome { OUT_TAKEN, OUT_BLAMED, OUT_FAILED };

/* -------------------------------------------------------------- refusals */

static int
refuse_join(struct composer *c, enum plan_join join, const char *reason, struct fm_error *err)
{
	struct plan_refusal r = { .by_auto = false };

	snprintf(r.engine, sizeof(r.engine), "%s", plan_join_name(join));
	snprintf(r.reason, sizeof(r.reason), "%s", reason);
	log_debug("route", "regions cannot be joined %s: %s", r.engine, r.reason);
	return fm_vec_push(&c->p->refused, r) ? 0 : compose_no_memory(err);
}

/* The region's engine is refused; *left false: it was the last. */
static int
advance(struct composer *c, uint32_t region, const char *reason, bool *left, struct fm_error *err)
{
	struct plan_region *said = &c->p->regions->region[region];
	struct plan_refusal r = { .by_auto = false };
	struct chain_entry e;

	*left = compose_entry(c, region, &e);
	snprintf(r.engine, sizeof(r.engine), "%s", *left ? e.name : "");
	snprintf(r.reason, sizeof(r.reason), "%s", reason);
	r.by_auto = *left && e.because != NULL;
	log_debug("route", "region %s: %s is refused: %s", said->name, r.engine, r.reason);
	if (!fm_vec_push(&said->refused, r))
		return compose_no_memory(err);
	compose_forget_region(c, region);
	c->region[region].at++;
	*left = *left && compose_entry(c, region, &e);
	return 0;
}

/* ------------------------------------------------------------- one join */

static enum verify_sl_model
model_of(const struct composer *c)
{
	return c->set->replies == REPLIES_IGNORE ? VERIFY_FORWARD : c->r->set.sl_model;
}

/* A component that is not safe by itself: its region's engine is to blame. */
static int
find_culprit(struct composer *c, struct fm_error *err)
{
	for (uint32_t x = 0; x < c->n_components; x++) {
		struct component *p = &c->component[x];
		struct chain_entry e;
		struct verdict v, one_way;
		int rc;

		if (p->n == 1 || !compose_entry(c, p->region, &e))
			continue;
		rc = compose_judge_component(c, x, model_of(c), &v, err);
		if (rc != 0)
			return rc;
		if (verdict_is_safe(&v, compose_allows_loops(c, p->region)))
			continue;
		c->blamed = p->region;
		one_way = v;
		if (promise_is_broken(e.engine, &v) && model_of(c) != VERIFY_FORWARD)
			rc = compose_judge_component(c, x, VERIFY_FORWARD, &one_way, err);
		promise_explain(e.engine, &v, &one_way, c->blame, sizeof(c->blame));
		return rc;
	}
	return 0;
}

static int
judge_whole(struct composer *c, enum plan_join join, bool *safe, struct fm_error *err)
{
	struct verify_request req = { .n_vls = c->r->set.n_vls,
		.sl_model = model_of(c),
		.loops_within = c->p->regions->loops_within,
		.on_cycle = join == PLAN_FLAT ? c->flat_cycle : c->on_cycle };
	double start = plan_now_ms();
	int rc = verify_tables(c->snap, &c->tables->t, &req, c->r->workers, &c->p->verdict, err);

	c->p->verify_ms += plan_now_ms() - start;
	*safe = rc == 0 && verdict_is_safe(&c->p->verdict, c->outside->allow_credit_loops);
	return rc;
}

/* The join is proven: with ways to all switches, if the whole is still safe then. */
static int
complete(struct composer *c, enum plan_join join, struct fm_error *err)
{
	struct repair_entries undo = { 0 };
	bool good = true;
	int rc = 0;

	if (c->soft_holes.n > 0)
		rc = compose_complete(c, &undo, err);
	if (rc == 0 && undo.e.n > 0)
		rc = judge_whole(c, join, &good, err);
	if (rc == 0 && !good) {
		while (undo.e.n > 0) {
			const struct plan_entry *e = &undo.e.item[--undo.e.n];

			c->tables->t.lft[e->sw][e->lid] = e->port;
		}
		rc = judge_whole(c, join, &good, err);
	}
	fm_vec_fini(&undo.e);
	return rc;
}

/* Route, merge and judge; who is in the way is in c->blamed, what is in c->reason. */
static int
route_and_judge(
    struct composer *c, enum plan_join join, enum outcome *outcome, struct fm_error *err)
{
	bool good;
	int rc = compose_route(c, err);

	*outcome = OUT_BLAMED;
	if (rc != 0 || c->blamed != FM_NONE)
		return rc;
	rc = compose_sl_tables(c, &good, c->reason, sizeof(c->reason), err);
	if (rc == 0 && good) {
		rc = judge_whole(c, join, &good, err);
		snprintf(c->reason, sizeof(c->reason), "%s", c->p->verdict.witness);
		if (rc == 0 && !good && !c->islands)
			rc = find_culprit(c, err);
	}
	if (rc != 0 || c->blamed != FM_NONE)
		return rc;
	*outcome = good ? OUT_TAKEN : OUT_FAILED;
	return good ? complete(c, join, err) : 0;
}

static int
need_tables(struct composer *c, struct fm_error *err)
{
	if (c->tables != NULL)
		return 0;
	return tables_new(c->r->tables, c->r->workers, c->fab, FM_PROVIDES_LFT | FM_PROVIDES_SL, 0,
	    &c->tables, err);
}

/* Tables for one kind of join, and the order that it goes by. */
static int
turn_to(struct composer *c, enum plan_join join, struct fm_error *err)
{
	bool islands = join == PLAN_ISLANDS;

	if (islands != c->islands)
		compose_swap(c);
	c->islands = islands;
	c->order = islands ? &c->inner : &c->whole;
	if (join == PLAN_FLAT)
		memset(c->flat_cycle, 0, c->fab->n_switches);
	return need_tables(c, err);
}

/* Islands, chosen in one way after the other.  What stands in the way of one may not in
 * that of the next. */
static int
try_islands(struct composer *c, enum outcome *outcome, struct fm_error *err)
{
	bool complete, any = false;
	int rc = 0;

	snprintf(c->reason, sizeof(c->reason),
	    "no choice of regions leaves a core that hangs together, whose engines take a single "
	    "VL, and islands that touch nothing else");
	for (unsigned attempt = 0; rc == 0 && *outcome == OUT_FAILED; attempt++) {
		if (!compose_choose_islands(c, attempt)) {
			if (attempt > 1)
				break;
			continue;
		}
		memset(c->on_cycle, 0, c->fab->n_switches);
		if ((rc = compose_order_core(c, &complete, err)) != 0)
			return rc;
		if (!complete) {
			if (!any)
				snprintf(c->reason, sizeof(c->reason),
				    "no order of the islands' core joins all that it has to join");
			continue;
		}
		any = true;
		if ((rc = turn_to(c, PLAN_ISLANDS, err)) == 0)
			rc = route_and_judge(c, PLAN_ISLANDS, outcome, err);
		/* an engine that cannot serve islands as they must be may do well otherwise */
		if (rc == 0 && *outcome == OUT_BLAMED) {
			snprintf(c->reason, sizeof(c->reason), "%s", c->blame);
			c->blamed = FM_NONE;
			*outcome = OUT_FAILED;
		}
	}
	return rc;
}

static int
try_join(struct composer *c, enum plan_join join, enum outcome *outcome, struct fm_error *err)
{
	int rc;

	*outcome = OUT_FAILED;
	if (c->r->skip_joins >> join & 1)
		return 0;
	if (join == PLAN_ISLANDS)
		rc = try_islands(c, outcome, err);
	else if ((rc = turn_to(c, join, err)) == 0)
		rc = route_and_judge(c, join, outcome, err);
	return rc == 0 && *outcome == OUT_FAILED ? refuse_join(c, join, c->reason, err) : rc;
}

/* ---------------------------------------------------------- all the joins */

/* The region to go on in its chain when no join will do: that of the islands' core, for as long
 * as it has engines; else the one whose engine takes the most VLs.  FM_NONE: none is left. */
static uint32_t
next_to_go(struct composer *c)
{
	uint32_t found = FM_NONE,
		 core = c->core != FM_NONE ? c->component[c->core].region : FM_NONE;
	struct chain_entry e;

	if (core != FM_NONE) {
		c->region[core].at++;
		found = compose_entry(c, core, &e) ? core : FM_NONE;
		c->region[core].at--;
		if (found != FM_NONE)
			return found;
	}
	for (uint32_t i = 0; i < c->set->n_regions; i++) {
		const struct region_state *s = &c->region[i];

		if (s->n_routed == 0)
			continue;
		if (found == FM_NONE || s->most_vls > c->region[found].most_vls)
			found = i;
	}
	return found;
}

/* Each join once; *join is the one that was taken, or c->blamed is set.  A region that has
 * no route to the gateways there are may have one to those that islands leave. */
static int
try_joins(struct composer *c, enum plan_join *join, struct fm_error *err)
{
	enum outcome outcome = OUT_FAILED;
	uint32_t blamed = FM_NONE;
	char blame[sizeof(c->blame)];
	int rc = 0;

	*join = PLAN_WHOLE;
	c->by_order = false;
	for (int i = PLAN_FLAT; rc == 0 && outcome == OUT_FAILED && i <= PLAN_ISLANDS; i++) {
		c->blamed = FM_NONE;
		rc = try_join(c, (enum plan_join)i, &outcome, err);
		if (rc == 0 && outcome == OUT_BLAMED && i == PLAN_FLAT && c->by_order) {
			blamed = c->blamed;
			memcpy(blame, c->blame, sizeof(blame));
			outcome = OUT_FAILED;
			c->blamed = FM_NONE;
		}
		if (outcome == OUT_TAKEN)
			*join = (enum plan_join)i;
	}
	if (blamed != FM_NONE && outcome != OUT_TAKEN) {
		c->blamed = blamed;
		memcpy(c->blame, blame, sizeof(blame));
	}
	return rc;
}

static int
try_all(struct composer *c, enum plan_join *join, struct fm_error *err)
{
	bool left = true;
	int rc = 0;

	*join = PLAN_WHOLE;
	while (rc == 0 && left && *join == PLAN_WHOLE) {
		rc = try_joins(c, join, err);
		if (rc != 0 || *join != PLAN_WHOLE)
			break;
		if (c->blamed == FM_NONE && (c->blamed = next_to_go(c)) != FM_NONE)
			snprintf(c->blame, sizeof(c->blame),
			    "regions cannot be joined with what it needs: %.500s",
			    c->p->refused.n > 0 ? c->p->refused.item[c->p->refused.n - 1].reason
						: "no way is left");
		if (c->blamed == FM_NONE)
			break;
		rc = advance(c, c->blamed, c->blame, &left, err);
	}
	return rc;
}

/* ------------------------------------------------------------ the result */

static void
take_join(struct composer *c)
{
	struct plan *p = c->p;

	p->tables = tables_get(c->tables);
	p->forward_only = model_of(c) == VERIFY_FORWARD && c->r->set.sl_model == VERIFY_BOTH &&
	    c->tables->t.sl_shape != FM_SL_ZERO;
	if (p->verdict.loops_allowed > 0)
		log_warn("route",
		    "packets can wait for one another in a circle in regions that allow it "
		    "(credit_loops = warn), circles=%u: %s",
		    p->verdict.loops_allowed, p->verdict.witness);
	if (c->r->set.ar_max_groups > 0)
		snprintf(p->adaptive_given_up, sizeof(p->adaptive_given_up),
		    "routes between regions are static: one gateway for each LID");
	compose_name_engines(c);
}

/* -------------------------------------------------------------- the whole */

/* All joins for the regions as they are; where none will do, for those that may be islands
 * while all others are one. */
static int
try_cuts(struct composer *c, enum plan_join *join, struct fm_error *err)
{
	bool complete, any = true;
	int rc = compose_set_up(c, &complete, err);

	if (rc == 0 && complete)
		rc = try_all(c, join, err);
	else if (rc == 0)
		rc = refuse_join(
		    c, PLAN_FLAT, "no order of the regions joins every source with every LID", err);
	if (rc != 0 || *join != PLAN_WHOLE || c->r->skip_joins >> PLAN_ISLANDS & 1)
		return rc;
	if ((rc = compose_merge_regions(c, &any, err)) != 0 || !any)
		return rc;
	if ((rc = compose_set_up(c, &complete, err)) == 0 && complete)
		rc = try_all(c, join, err);
	return rc;
}

static int
compose_all(struct composer *c, const struct chain **whole, struct fm_error *err)
{
	enum plan_join join = PLAN_WHOLE;
	uint32_t only = compose_only_region(c);
	int rc;

	if (only != FM_NONE) {
		*whole = &c->set->region[only].chain;
		return 0;
	}
	rc = try_cuts(c, &join, err);
	if (rc == 0)
		rc = compose_report(c, join, err);
	if (rc == 0 && join != PLAN_WHOLE)
		take_join(c);
	if (rc == 0 && join != PLAN_WHOLE)
		rc = compose_find_congestion(c, err);
	return rc;
}

/* A plan, perhaps without tables.  soft: holes to switches refuse nobody. */
static int
compose_once(bool soft, struct router *r, const struct region_set *set, const uint16_t *sw_region,
    struct snapshot *snap, const struct chain **whole, struct plan **out, struct fm_error *err)
{
	struct composer c;
	int rc;

	if ((*out = plan_new(snap, err)) == NULL)
		return FM_E_RESOURCE;
	rc = compose_begin(&c, r, set, sw_region, *whole, *out, err);
	c.soft = soft;
	if (rc == 0)
		rc = compose_all(&c, whole, err);
	compose_end(&c);
	return rc;
}

/* Where pairs are left without a path: are there fewer where each hole refuses an engine?  If that
 * makes no tables, one engine may join all. */
static int
compose_best(struct router *r, const struct region_set *set, const uint16_t *sw_region,
    struct snapshot *snap, const struct chain **whole, struct plan **out, struct fm_error *err)
{
	struct plan *strict = NULL, *soft = NULL;
	double verify_ms;
	int rc = compose_once(true, r, set, sw_region, snap, whole, &soft, err);

	*out = soft;
	if (rc != 0 || soft->regions == NULL ||
	    (soft->tables != NULL && soft->verdict.unreachable_pairs == 0))
		return rc;
	rc = compose_once(false, r, set, sw_region, snap, whole, &strict, err);
	if (strict == NULL)
		return rc;
	verify_ms = soft->verify_ms + strict->verify_ms;
	if (soft->tables == NULL || strict->tables == NULL ||
	    strict->verdict.unreachable_pairs < soft->verdict.unreachable_pairs)
		*out = strict;
	plan_put(*out == strict ? soft : strict);
	(*out)->verify_ms = verify_ms;
	return rc;
}

int
compose(struct router *r, const struct region_set *set, const uint16_t *sw_region,
    struct snapshot *snap, const struct chain **whole, struct plan **out, struct fm_error *err)
{
	uint16_t *resolved = NULL;
	double start_ms = plan_now_ms();
	int rc = 0;

	*out = NULL;
	if (sw_region == NULL) {
		rc = regions_find(set, snap, &resolved, err);
		sw_region = resolved;
	}
	if (rc == 0)
		rc = compose_best(r, set, sw_region, snap, whole, out, err);
	if (rc == 0)
		(*out)->route_ms = plan_now_ms() - start_ms - (*out)->verify_ms;
	free(resolved);
	return rc;
}
