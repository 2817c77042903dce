/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan in the log.  Sweeps come often and plans are much alike: what the old
 * plan gave reason to say is not said again.
 */
#include "core/sweep/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/events/tell.h"
#include "lib/log.h"

static bool
has_refusal(const struct plan_refusal *refused, size_t n, const struct plan_refusal *r)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(refused[i].engine, r->engine) == 0 &&
		    strcmp(refused[i].reason, r->reason) == 0)
			return true;
	return false;
}

/* Of a composed plan some "engines" are ways to join regions: that the first of
 * them does not do is no news. */
static bool
is_join(const char *engine)
{
	for (int i = PLAN_FLAT; i <= PLAN_WHOLE; i++)
		if (strcmp(plan_join_name((enum plan_join)i), engine) == 0)
			return true;
	return false;
}

static void
say_refusal(const struct plan_refusal *r, const char *region)
{
	char where[80] = "";

	if (region == NULL && is_join(r->engine)) {
		log_info("sweep", "regions cannot be joined as %s: %s", r->engine, r->reason);
		return;
	}
	if (region != NULL)
		snprintf(where, sizeof(where), "region %s: ", region);
	fm_log(r->by_auto ? FM_LOG_INFO : FM_LOG_WARN, "sweep", "%sengine %s is passed over: %s",
	    where, r->engine, r->reason);
}

/* The region of this name, or NULL. */
static const struct plan_region *
find_region(const struct plan *p, const char *name)
{
	const struct plan_regions *r = p != NULL ? p->regions : NULL;

	for (uint32_t i = 0; r != NULL && i < r->n; i++)
		if (strcmp(r->region[i].name, name) == 0)
			return &r->region[i];
	return NULL;
}

void
say_refusals(const struct plan *old, const struct plan *p)
{
	if (p == NULL || p == old)
		return;
	for (size_t i = 0; i < p->refused.n; i++)
		if (old == NULL ||
		    !has_refusal(old->refused.item, old->refused.n, &p->refused.item[i]))
			say_refusal(&p->refused.item[i], NULL);
	for (uint32_t i = 0; p->regions != NULL && i < p->regions->n; i++) {
		const struct plan_region *r = &p->regions->region[i];
		const struct plan_region *before = find_region(old, r->name);

		for (size_t k = 0; k < r->refused.n; k++)
			if (before == NULL ||
			    !has_refusal(
				before->refused.item, before->refused.n, &r->refused.item[k]))
				say_refusal(&r->refused.item[k], r->name);
	}
}

/* Islands are left and entered by the nearest cable, whatever that one has to carry. */
static void
say_crowding(const struct plan *p, const struct plan_region *r)
{
	if (r->busiest.times > PLAN_CONGESTED)
		log_warn("sweep",
		    "region %s is an island or its core, and %s by switch %s port %u goes %.1f "
		    "times the mean of the region's cables to others: cables to other switches "
		    "would spread it",
		    r->name, r->busiest.in ? "in" : "out", p->snap->fab.sw_name[r->busiest.sw],
		    r->busiest.port, r->busiest.times);
}

static void
say_regions(const struct plan *old, const struct plan *p)
{
	const struct plan_regions *now = p->regions, *before = old != NULL ? old->regions : NULL;

	for (uint32_t i = 0; i < now->n; i++) {
		const struct plan_region *r = &now->region[i], *was = find_region(old, r->name);

		if (r->engine[0] != '\0' && (was == NULL || strcmp(was->engine, r->engine) != 0))
			log_notice("sweep", "region %s: engine %s%s%s", r->name, r->engine,
			    r->because != NULL ? ", auto: it is " : "",
			    r->because != NULL ? r->because : "");
	}
	for (uint32_t i = 0; now->join == PLAN_ISLANDS && i < now->n; i++)
		say_crowding(p, &now->region[i]);
	if (before == NULL || before->join != now->join)
		log_notice("sweep", "the regions are joined as %s", plan_join_name(now->join));
}

void
say_choice(const struct plan *old, const struct plan *p)
{
	if (p == NULL || p == old)
		return;
	if (p->because != NULL && (old == NULL || old->because != p->because))
		log_notice("sweep", "auto: engine %s, the fabric is %s%s%s", p->engine, p->because,
		    p->weighed[0] != '\0' ? "; " : "", p->weighed);
	if (p->regions != NULL && (old == NULL || old->regions != p->regions))
		say_regions(old, p);
}

void
say_mended(const struct plan *old, const struct plan *p)
{
	bool was = old != NULL && old->mended;

	if (p == NULL || p == old || p->tables == NULL)
		return;
	if (was && !p->mended)
		log_notice("sweep", "engine %s routes the fabric, as configured again", p->engine);
	else if (p->mended && old != NULL && strcmp(old->engine, p->engine) != 0)
		events_add(EVENT_MENDED, FM_LOG_WARN, "sweep", NULL,
		    "no engine of the chain can route the fabric, and the tables of engine %s do "
		    "not serve: the built-in up/down routes it till one can; fmctl routes tells "
		    "why",
		    old->engine);
	else if (p->mended && !was)
		events_add(EVENT_MENDED, FM_LOG_WARN, "sweep", NULL,
		    "no engine of the chain can route the fabric: the tables of engine %s are "
		    "mended till one can; fmctl routes tells why",
		    p->engine);
}

void
say_credit_loops(const struct plan *old, const struct plan *p)
{
	uint32_t n = p != NULL ? p->verdict.credit_loops - p->verdict.loops_allowed : 0;

	if (p == old || n == 0 ||
	    (old != NULL && old->verdict.credit_loops > 0 && strcmp(old->engine, p->engine) == 0))
		return;
	events_add(EVENT_DEADLOCK_RISK, FM_LOG_WARN, "sweep", NULL,
	    "the routes of engine %s may deadlock, as credit_loops = warn lets them: "
	    "credit_loops=%" PRIu32 "%s%s",
	    p->engine, n, p->verdict.fault == VERIFY_CREDIT_LOOP ? "; " : "",
	    p->verdict.fault == VERIFY_CREDIT_LOOP ? p->verdict.witness : "");
}

/* Paths count as longer where the longest has two switches more, as a path has that goes down and
 * up once more, or where the average has risen by a tenth.  Hosts that have come may be further
 * away than those there were: that is no news. */
void
say_longer_paths(const struct plan *old, const struct plan *p)
{
	const struct verdict *was, *now;

	if (old == NULL || old->tables == NULL || p == NULL || p == old)
		return;
	was = &old->verdict;
	now = &p->verdict;
	if (now->reachable_pairs / 11 * 10 > was->reachable_pairs ||
	    (now->max_hops < was->max_hops + 2 && now->avg_hops < was->avg_hops * 1.1))
		return;
	events_add(EVENT_LONGER_PATHS, FM_LOG_WARN, "sweep", NULL,
	    "paths have become longer: %.2f switches on average and at most %" PRIu32
	    ", before %.2f and %" PRIu32 ": are cables lost, or plugged in elsewhere?",
	    now->avg_hops, now->max_hops, was->avg_hops, was->max_hops);
}

void
say_adaptive(const struct plan *old, const struct plan *p)
{
	const struct adaptive_counts *n;

	if (p == NULL || p == old || p->tables == NULL)
		return;
	n = &p->tables->adaptive;
	if (tables_are_adaptive(&p->tables->t) && (old == NULL || old->tables != p->tables))
		log_notice("sweep",
		    "adaptive routing: groups=%" PRIu64 " adaptive=%" PRIu64 " static=%" PRIu64
		    " dropped=%" PRIu64,
		    n->n_groups, n->n_adaptive, n->n_static, n->n_dropped);
	else if (p->adaptive_given_up[0] != '\0' &&
	    (old == NULL || strcmp(old->adaptive_given_up, p->adaptive_given_up) != 0))
		log_warn("sweep", "engine %s: adaptive routing is given up: %s", p->engine,
		    p->adaptive_given_up);
	else if (p->made == PLAN_ROUTED && n->n_groups == 0 && p->adaptive_given_up[0] == '\0')
		log_warn("sweep", "engine %s gives no groups for adaptive routing", p->engine);
}

/* Where other tables wait it is said whose entries these are. */
static void
say_drain(const struct plan_change *c, int64_t packet_life_ms, bool holds)
{
	const char *first = c->waiting[0] != '\0'
	    ? "writing the tables before them was broken off; to end it "
	    : "";

	if (holds)
		events_add(EVENT_LIDS_EMPTIED, FM_LOG_WARN, "sweep", NULL,
		    "%sthe entries of %" PRIu32 " of %" PRIu32
		    " LIDs are emptied until the hosts have been told that their paths carry other "
		    "SLs: under the old ones no order of writing them is free of deadlocks",
		    first, c->n_drained, c->n_lids);
	else
		events_add(EVENT_LIDS_EMPTIED, FM_LOG_WARN, "sweep", NULL,
		    "%sthe entries of %" PRIu32 " of %" PRIu32 " LIDs are emptied for %" PRId64
		    " ms: no order of writing them is free of deadlocks",
		    first, c->n_drained, c->n_lids, packet_life_ms);
}

void
say_change(const struct plan *old, const struct plan *p, int64_t packet_life_ms, bool holds)
{
	const struct plan_change *c;

	if (p == NULL || p == old)
		return;
	c = &p->change;
	if (c->waiting[0] != '\0' && (old == NULL || strcmp(old->change.waiting, c->waiting) != 0))
		log_beside(FM_LOG_WARN, "sweep", "%s", c->waiting); /* todo.h has it */
	if (c->n_stubs > 0)
		log_notice("sweep",
		    "%" PRIu32
		    " switches join the tables there are, by one cable each, before others are "
		    "written",
		    c->n_stubs);
	if (c->n_drained > 0)
		say_drain(c, packet_life_ms, holds);
	if (c->n_cut > 0)
		events_add(EVENT_LIDS_EMPTIED, FM_LOG_WARN, "sweep", NULL,
		    "%s%" PRIu32
		    " of them, which the loss had left whole, are cut off for that time",
		    c->n_drained == c->n_lids ? "that is the whole fabric; " : "", c->n_cut);
	if (c->n_waived > 0)
		events_add(EVENT_DEADLOCK_RISK, FM_LOG_WARN, "sweep", NULL,
		    "%" PRIu32 " of %" PRIu32
		    " LIDs are rerouted at the risk of a deadlock (drain = never)",
		    c->n_waived, c->n_lids);
	if (c->sls_clash && !holds)
		events_add(EVENT_DEADLOCK_RISK, FM_LOG_WARN, "sweep", NULL,
		    "engine %s had to give paths other SLs: until all hosts have asked again, "
		    "packets under the old ones might deadlock with others",
		    p->engine);
	if (c->n_kept_old > 0)
		log_notice("sweep",
		    "%" PRIu32 " of %" PRIu32
		    " LIDs keep their routes: to change them, their entries would have to be "
		    "emptied first",
		    c->n_kept_old, c->n_lids);
}
