/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeping, else the chain: each entry is bound, routed and verified; the first
 * whose tables are safe and join all pairs that cables join makes the plan, the others
 * leave their reason behind.  Where none joins all, the one that joins most does.
 * An entry of `auto` may have rivals: the best of all their tables are taken (rivals.h).
 * Where there are regions they are composed, each by its own chain (compose.h).
 * Cost: that of the entries tried, and one verification each.
 */
#include "core/route/route.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fmd/own.h>

#include "core/abi/host.h"
#include "core/engine/fallback.h"
#include "core/events/tell.h"
#include "core/graph/adaptive.h"
#include "core/graph/graph_diff.h"
#include "core/mcast/mcast.h"
#include "core/plan/keep.h"
#include "core/regions/compose.h"
#include "core/regions/regions.h"
#include "core/repair/linger.h"
#include "core/repair/repair.h"
#include "core/route/entry.h"
#include "core/route/rivals.h"
#include "core/route/weigh.h"
#include "core/transition/reconfig.h"
#include "core/verify/verify.h"
#include "lib/error.h"
#include "lib/log.h"

int
router_init(struct router *r, unsigned n_workers, struct fm_error *err)
{
	memset(r, 0, sizeof(*r));
	r->set = ROUTE_SETTINGS_DEFAULT;
	r->workers = fm_pool_new(n_workers);
	r->tables = table_pool_new();
	if (r->workers == NULL || r->tables == NULL) {
		router_fini(r);
		return fm_fail(
		    err, FM_E_RESOURCE, "cannot start %u workers for routing", n_workers);
	}
	r->host = route_host_new(r->workers, err);
	if (r->host == NULL) {
		router_fini(r);
		return FM_E_RESOURCE;
	}
	return 0;
}

void
router_fini(struct router *r)
{
	repair_state_free(r->repair);
	route_host_free(r->host);
	table_pool_free(r->tables);
	table_pool_free(r->shared);
	fm_pool_free(r->workers);
	memset(r, 0, sizeof(*r));
}

static int
refuse(struct plan *p, const struct chain_entry *e, const char *reason, struct fm_error *err)
{
	struct plan_refusal r = { .by_auto = e->because != NULL };

	snprintf(r.engine, sizeof(r.engine), "%s", e->name);
	snprintf(r.reason, sizeof(r.reason), "%s", reason);
	if (!fm_vec_push(&p->refused, r))
		return fm_fail(err, FM_E_RESOURCE, "out of memory while routing");
	return 0;
}

/* Why these tables may not be used, as a sentence. */
static int
explain_verdict(
    struct search *s, const struct candidate *c, char *reason, size_t size, struct fm_error *err)
{
	struct verify_request req = { .n_vls = s->r->set.n_vls, .sl_model = VERIFY_FORWARD };
	struct verdict one_way = c->verdict;
	int rc = 0;

	if (promise_is_broken(c->entry->engine, &c->verdict) &&
	    s->r->set.sl_model != VERIFY_FORWARD)
		rc = verify_tables(s->p->snap, &c->tables->t, &req, s->r->workers, &one_way, err);
	promise_explain(c->entry->engine, &c->verdict, &one_way, reason, size);
	return rc;
}

/* What is known of c is known of the plan; its tables are another matter. */
static void
use_verdict(struct plan *p, const struct candidate *c)
{
	p->verdict = c->verdict;
	p->route_ms = c->route_ms;
	p->verify_ms = c->verify_ms;
	memcpy(p->adaptive_given_up, c->adaptive_given_up, sizeof(p->adaptive_given_up));
}

static void
use_candidate(struct plan *p, struct candidate *c)
{
	use_verdict(p, c);
	snprintf(p->engine, sizeof(p->engine), "%s", c->entry->name);
	p->because = c->entry->because;
	p->tables = c->tables;
	c->tables = NULL;
}

/* Its reason among the refusals; of those whose tables are safe but leave pairs without a path,
 * *best is the one that leaves the fewest, the first of such. */
static int
hold(struct search *s, struct candidate *c, struct candidate *best, struct fm_error *err)
{
	const struct verdict *v = &c->verdict;
	char reason[640];
	int rc;

	c->refused = s->p->refused.n;
	snprintf(reason, sizeof(reason),
	    "it leaves pairs without a path that cables join, pairs=%" PRIu64 "%s%s",
	    v->unreachable_pairs, v->fault == VERIFY_UNREACHABLE ? ": " : "",
	    v->fault == VERIFY_UNREACHABLE ? v->witness : "");
	rc = refuse(s->p, c->entry, reason, err);
	if (best->tables == NULL || v->unreachable_pairs < best->verdict.unreachable_pairs) {
		tables_put(best->tables);
		*best = *c;
		c->tables = NULL;
	}
	return rc;
}

/* No entry joins all pairs: rather most of them than none. */
static void
take_second_best(struct plan *p, struct candidate *best)
{
	log_warn("route", "no engine of the chain joins all pairs; that of %s is used: %s",
	    best->entry->name, p->refused.item[best->refused].reason);
	use_candidate(p, best);
	memmove(&p->refused.item[best->refused], &p->refused.item[best->refused + 1],
	    (--p->refused.n - best->refused) * sizeof(*p->refused.item));
}

/* ---------------------------------------------------------------- the chain */

/* Try one entry: p->tables when it is taken. */
static int
try_entry(
    struct search *s, const struct chain_entry *e, struct candidate *best, struct fm_error *err)
{
	struct candidate c = { .entry = e };
	struct fm_error why = { 0 };
	char reason[640];
	int rc;

	if (entry_route(s, &c, &why) != 0)
		return refuse(s->p, e, why.msg, err);
	rc = entry_judge(s, &c, err);
	use_verdict(s->p, &c);
	if (rc == 0 && !verdict_is_safe(&c.verdict, s->allow_credit_loops)) {
		rc = explain_verdict(s, &c, reason, sizeof(reason), err);
		if (rc == 0)
			rc = refuse(s->p, e, reason, err);
	} else if (rc == 0 && c.verdict.unreachable_pairs > 0) {
		rc = hold(s, &c, best, err);
	} else if (rc == 0) {
		rc = weigh_rivals(s, &c, err);
		use_candidate(s->p, &c);
	}
	tables_put(c.tables);
	return rc;
}

static int
try_chain(struct router *r, struct plan *p, const struct chain *chain, const struct plan *prev,
    struct fm_error *err)
{
	const struct chain_entry last = { .engine = &fallback_engine,
		.name = fallback_engine.name };
	struct search s = { r, p, prev, chain->allow_credit_loops };
	uint32_t n = chain->n_entries + chain->fallback;
	struct candidate best = { 0 };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && p->tables == NULL && i < n; i++)
		rc = try_entry(&s, i < chain->n_entries ? &chain->entries[i] : &last, &best, err);
	if (rc == 0 && p->tables == NULL && best.tables != NULL)
		take_second_best(p, &best);
	tables_put(best.tables);
	return rc;
}

static int
route_anew(struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err)
{
	const struct chain *chain = q->chain;
	struct plan *p = NULL;
	int rc = 0;

	if (q->regions != NULL && q->regions->n_regions > 1)
		rc = compose(r, q->regions, q->sw_region, q->snap, &chain, &p, err);
	else if ((p = plan_new(q->snap, err)) == NULL)
		rc = FM_E_RESOURCE;
	if (rc == 0 && p->tables == NULL)
		rc = try_chain(r, p, chain, q->prev, err);
	if (rc != 0) {
		plan_put(p);
		return rc;
	}
	p->graph = snapshot_get(q->snap);
	p->top_lid = q->snap->fab.max_lid;
	p->mark = q->chain->mark;
	p->groups_tried = true;
	*out = p;
	return 0;
}

/* Pairs lack a way in tables that are kept: would a full route join more of them?  None on
 * the links that these tables are of, nor where it was tried before. */
static int
may_join_more(const struct plan_request *q, const struct plan *p, bool *may, struct fm_error *err)
{
	const struct fm_fabric *now = &p->snap->fab;
	struct graph_diff diff = { 0 };
	int rc = 0;

	*may = p->verdict.unreachable_pairs > 0 && p->graph->fab.n_links != now->n_links;
	if (*may && q->prev->anew_tried) {
		rc = graph_compare(&q->prev->snap->fab, now, &diff, err);
		*may = rc == 0 && (!diff.comparable || diff.lost.n > 0);
		graph_diff_fini(&diff);
	}
	return rc;
}

/* A full route in place of what is kept, if it joins more pairs. */
static int
try_to_join_more(
    struct router *r, const struct plan_request *q, struct plan **p, struct fm_error *err)
{
	struct plan *fresh = NULL;
	bool may = false;
	int rc;

	(*p)->anew_tried = q->prev->anew_tried;
	if ((rc = may_join_more(q, *p, &may, err)) != 0 || !may)
		return rc;
	rc = route_anew(r, q, &fresh, err);
	if (rc == 0 && fresh->tables != NULL &&
	    fresh->verdict.unreachable_pairs < (*p)->verdict.unreachable_pairs) {
		struct plan *kept = *p;

		*p = fresh;
		fresh = kept;
	}
	(*p)->anew_tried = rc == 0;
	plan_put(fresh);
	return rc;
}

/* ------------------------------------------------------------------ mending */

/* Are prev's tables to serve before any engine is asked?  Mended ones only where none of the chain
 * routes: each change of the fabric may make it fit. */
static bool
prev_goes_first(const struct plan_request *q)
{
	return q->anew == PLAN_FROM_PREV && (q->prev == NULL || !q->prev->mended);
}

/* prev's tables, repaired, taken back or kept.  Repairing keeps, too.  Which of the two comes
 * first must not depend on how far the routing thread has prepared repairs, since they may come to
 * different tables. */
static int
try_prev(struct keeping *k, bool keep_first, bool *done, struct fm_error *err)
{
	int rc = keep_first ? 0 : plan_repair(k, done, err);

	if (rc == 0 && !*done)
		rc = keep_go_back(k, false, done, err);
	if (rc == 0 && !*done)
		rc = keep_tables(k, done, err);
	if (rc == 0 && !*done && keep_first)
		rc = plan_repair(k, done, err);
	return rc;
}

/* *out, or NULL: prev's tables do not serve. */
static int
take_from_prev(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err)
{
	struct keeping k;
	bool done = false;
	int rc = keep_begin(&k, r, q, err);

	if (rc == 0 && k.p != NULL)
		rc = try_prev(&k, q->prev_is_loaded, &done, err);
	return keep_end(&k, rc, done, out);
}

/* The core's own up/down, which no chain asks for here. */
static int
route_by_fallback(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err)
{
	const struct chain alone = { .fallback = true,
		.allow_credit_loops = q->chain->allow_credit_loops };
	struct plan_request last = *q;

	last.chain = &alone;
	last.regions = NULL;
	return route_anew(r, &last, out, err);
}

static bool
joins_more(const struct plan *a, const struct plan *b)
{
	return a != NULL && a->tables != NULL &&
	    (b == NULL || a->verdict.unreachable_pairs < b->verdict.unreachable_pairs);
}

/* `found` stands for the chain that has failed, with what that says of its engines. */
static void
use_mended(struct plan *failed, struct plan *found)
{
	found->mended = true;
	found->mark = failed->mark;
	fm_vec_fini(&found->refused);
	memcpy(&found->refused, &failed->refused, sizeof(found->refused));
	memset(&failed->refused, 0, sizeof(failed->refused));
}

/* *p: no engine of the chain has routed, so that nothing would be written, and who is cut off would
 * stay so.  In its place what prev's tables come to; where they leave pairs without a path, or do
 * not serve, the whole of the core's up/down if that joins more: it is free of deadlocks by itself,
 * where columns of it among others would have to be proven with these.  Of prev's there are none:
 * what the chain says stands. */
static int
mend(struct router *r, const struct plan_request *q, struct plan **p, struct fm_error *err)
{
	struct plan *found = NULL, *last = NULL;
	int rc = 0;

	if ((*p)->tables != NULL || q->prev == NULL || q->prev->tables == NULL)
		return 0;
	if (!prev_goes_first(q) && q->anew != PLAN_WITHOUT_PREV)
		rc = take_from_prev(r, q, &found, err);
	if (rc == 0 && (found == NULL || found->verdict.unreachable_pairs > 0))
		rc = route_by_fallback(r, q, &last, err);
	if (rc == 0 && joins_more(last, found)) {
		plan_put(found);
		found = plan_get(last);
	}
	plan_put(last);
	if (rc != 0 || found == NULL)
		return rc;
	use_mended(*p, found);
	plan_put(*p);
	*p = found;
	return 0;
}

/* --------------------------------------------------------------- multicast */

/* The entry that made the tables, if it was one, for the whole fabric. */
static const struct chain_entry *
maker_of(const struct plan_request *q, const struct plan *p)
{
	for (uint32_t i = 0; p->regions == NULL && i < q->chain->n_entries; i++)
		if (q->chain->entries[i].overlay == NULL &&
		    strcmp(q->chain->entries[i].name, p->engine) == 0)
			return &q->chain->entries[i];
	return NULL;
}

/* Multicast trees, where there are groups. */
static int
add_trees(struct router *r, const struct plan_request *q, struct plan *p, struct fm_error *err)
{
	const struct chain_entry *e = p->tables != NULL ? maker_of(q, p) : NULL;
	struct mcast_wish wish = { .sls = q->mcast_sls,
		.n_trees = q->mcast_trees,
		.prev = q->prev != NULL ? q->prev->mcast : NULL };
	struct fm_arena mem;
	void *opts = NULL;
	int rc;

	if (p->tables == NULL || q->mcast_sls == 0 || p->mcast != NULL)
		return 0;
	fm_arena_init(&mem, SIZE_MAX);
	if (e != NULL && fm_own_mcast_tree(e->engine) != NULL &&
	    options_bind(e->engine, e->values, p->snap, &mem, &opts, err) == 0) {
		wish.engine = e->engine;
		wish.opts = opts;
	}
	rc = mcast_trees_make(r, p, &wish, &p->mcast, err);
	fm_arena_fini(&mem);
	return rc;
}

/* ------------------------------------------------------------- rebalancing */

/* Repairs of fattree stay as good as its routes (0.3 % of eBB, research). */
static bool
is_tree_engine(const struct plan *p, const struct chain *chain)
{
	for (uint32_t i = 0; i < chain->n_entries; i++)
		if (strcmp(chain->entries[i].name, p->engine) == 0 &&
		    chain->entries[i].engine != NULL &&
		    strcmp(chain->entries[i].engine->name, "fattree") == 0)
			return true;
	return false;
}

static bool
wants_rebalance(const struct plan *p, const struct chain *chain, enum plan_rebalance when)
{
	if (p == NULL || p->tables == NULL || p->deviations.n == 0 || p->rebalance_tried ||
	    when == PLAN_REBALANCE_NEVER)
		return false;
	return when != PLAN_REBALANCE_AUTO || !is_tree_engine(p, chain);
}

/* Tables that the chain asks for wait (reconfig.h).  Packets of older tables may have been the
 * reason. */
static bool
awaits_tables(const struct plan *p)
{
	return p != NULL && p->change.waiting[0] != '\0' && !p->rebalance_tried;
}

/* Tables that were repaired have none, nor have those that the engine had to give up. */
static bool
wants_groups(const struct plan *p, const struct route_settings *set)
{
	return p != NULL && p->tables != NULL && set->ar_max_groups > 0 && !p->groups_tried &&
	    !tables_are_adaptive(&p->tables->t);
}

bool
plan_wants_quiet_pass(const struct plan *p, const struct chain *chain,
    const struct route_settings *set, enum plan_rebalance when)
{
	return (p != NULL && p->may_go_back) || awaits_tables(p) ||
	    wants_rebalance(p, chain, when) || wants_groups(p, set);
}

/* A quiet pass after which no fewer entries are to go back is the last, once packets of older
 * tables are gone. */
static void
note_what_may_go_back(const struct plan_request *q, struct plan *p)
{
	bool was = q->prev != NULL && q->prev->may_go_back, goes_on;

	if (q->quiet)
		goes_on = was && (q->flight.older || p->deviations.n < q->prev->deviations.n);
	else
		goes_on = was || p->change.n_kept_old > 0;
	p->may_go_back = goes_on && p->deviations.n > 0;
}

/* A quiet pass has led no entry back: one of each LID, where the order of writing allows that. */
static int
go_back_by_entries(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err)
{
	struct plan *p = NULL;
	struct keeping k;
	bool done = false;
	int rc;

	if (!q->quiet || !q->prev->may_go_back || (*out)->delta.n > 0 || q->anew != PLAN_FROM_PREV)
		return 0;
	rc = keep_begin(&k, r, q, err);
	if (rc == 0 && k.p != NULL)
		rc = keep_go_back(&k, true, &done, err);
	rc = keep_end(&k, rc, done, &p);
	if (rc == 0 && p != NULL)
		rc = reconfig_plan(r, q, &p, err);
	if (rc == 0 && p != NULL && p->delta.n > 0 && p->change.n_drained == 0 &&
	    p->change.n_waived == 0 && p->change.waiting[0] == '\0') {
		plan_put(*out);
		*out = plan_get(p);
	}
	plan_put(p);
	return rc;
}

static int
is_better(struct router *r, const struct plan *p, const struct plan *fresh, bool *better,
    struct fm_error *err)
{
	uint64_t was, is;
	int rc = 0;

	*better = fresh->tables != NULL &&
	    fresh->verdict.unreachable_pairs <= p->verdict.unreachable_pairs;
	if (!*better || p->change.waiting[0] != '\0')
		return 0; /* tables that wait are wanted as they are */
	if ((rc = rivals_fullest(p->snap, &p->tables->t, r->workers, &was, err)) != 0 ||
	    (rc = rivals_fullest(fresh->snap, &fresh->tables->t, r->workers, &is, err)) != 0)
		return rc;
	*better = is * 100 <= was * REBALANCE_PERCENT;
	log_debug(
	    "route", "rebalance: routes on a link at most %" PRIu64 ", now %" PRIu64, is, was);
	return 0;
}

static int
order(struct router *r, const struct plan_request *q, struct plan **p, struct fm_error *err)
{
	double start = plan_now_ms();
	int rc = reconfig_plan(r, q, p, err);

	if (rc == 0)
		(*p)->order_ms = plan_now_ms() - start;
	return rc;
}

/* Can it be taken up as it is, without an entry that is emptied for it? */
static bool
costs_nothing(const struct plan_change *change)
{
	return change->n_drained == 0 && change->n_kept_old == 0 && change->n_waived == 0 &&
	    change->waiting[0] == '\0';
}

/* A full route in place of *p that was repaired, or that stays while other tables wait, if it is
 * worth it: *done, and it has been through order(). */
static int
try_to_rebalance(struct router *r, const struct plan_request *q, struct plan **p, bool *done,
    struct fm_error *err)
{
	struct plan *fresh = NULL;
	bool better = false;
	int rc;

	*done = false;
	if ((q->quiet && q->prev->may_go_back) ||
	    !(awaits_tables(*p) || wants_rebalance(*p, q->chain, q->rebalance)) ||
	    (q->rebalance != PLAN_REBALANCE_ALWAYS && !q->quiet))
		return 0;
	(*p)->rebalance_tried = !q->flight.older;
	rc = route_anew(r, q, &fresh, err);
	if (rc == 0)
		rc = is_better(r, *p, fresh, &better, err);
	if (rc == 0 && better && (rc = order(r, q, &fresh, err)) != 0)
		return rc; /* it is let go */
	*done = rc == 0 && better && costs_nothing(&fresh->change);
	if (*done) {
		plan_put(*p);
		*p = fresh;
	} else {
		plan_put(fresh);
	}
	return rc;
}

/* ------------------------------------------------------------------- rivals */

/* A plan of the tables that were found, proven on the fabric of today: *out, or NULL. */
static int
plan_as_found(struct router *r, const struct plan_request *q, const struct plan *p,
    struct plan **out, struct fm_error *err)
{
	const struct plan *found = q->weighed->found;
	struct verify_request req = { .n_vls = r->set.n_vls, .sl_model = r->set.sl_model };
	struct plan *fresh = plan_new(q->snap, err);
	int rc;

	*out = NULL;
	if (fresh == NULL)
		return FM_E_RESOURCE;
	plan_copy_maker(fresh, found);
	fresh->tables = tables_get(found->tables);
	fresh->graph = snapshot_get(q->snap);
	fresh->top_lid = q->snap->fab.max_lid;
	fresh->mark = q->chain->mark;
	fresh->groups_tried = fresh->rivals_asked = true;
	fresh->route_ms = found->route_ms;
	fresh->verify_ms = found->verify_ms;
	memcpy(
	    fresh->adaptive_given_up, found->adaptive_given_up, sizeof(fresh->adaptive_given_up));
	rc = verify_tables(q->snap, &fresh->tables->t, &req, r->workers, &fresh->verdict, err);
	if (rc == 0 && verdict_is_safe(&fresh->verdict, q->chain->allow_credit_loops) &&
	    fresh->verdict.unreachable_pairs <= p->verdict.unreachable_pairs)
		*out = fresh;
	else
		plan_put(fresh);
	return rc;
}

/* Better tables are there, and it may cost something to have them. */
static void
tell_of_better(struct plan *p, const struct plan *found)
{
	size_t at = strlen(p->weighed);

	events_add(EVENT_BETTER_TABLES, FM_LOG_NOTICE, "route", NULL,
	    "engine %s would route better than %s: %s; it needs %u VLs instead of %u, and is not "
	    "taken by itself, as entries may have to be emptied for a moment: chain = %s, fmctl "
	    "reload and fmctl drain take it",
	    found->engine, p->engine, p->weighed, found->verdict.vls, p->verdict.vls,
	    found->engine);
	snprintf(p->weighed + at, sizeof(p->weighed) - at,
	    "; %.40s is not taken by itself, as entries may have to be emptied", found->engine);
}

/* The tables that were found in place of *p, if no entry is emptied for them: *done, and it has
 * been through order().  Between tables of several VLs one has to be nearly always, and to find
 * that out takes seconds on a large fabric, in which an event would wait: they are not tried. */
static int
try_found(struct router *r, const struct plan_request *q, struct plan **p, bool *done,
    struct fm_error *err)
{
	struct plan *fresh = NULL;
	int rc;

	if (!tables_have_one_vl(&(*p)->tables->t) ||
	    !tables_have_one_vl(&q->weighed->found->tables->t))
		return 0;
	rc = plan_as_found(r, q, *p, &fresh, err);
	if (rc != 0 || fresh == NULL)
		return rc;
	if ((rc = order(r, q, &fresh, err)) != 0)
		return rc; /* it is let go */
	*done = fresh->tables == q->weighed->found->tables && costs_nothing(&fresh->change);
	if (*done) {
		plan_put(*p);
		*p = plan_get(fresh);
	}
	plan_put(fresh);
	return 0;
}

/* What rivals have come to, if it is quiet still: better tables are taken up if that costs
 * nothing, else told of. */
static int
take_weighed(struct router *r, const struct plan_request *q, struct plan **p, bool *done,
    struct fm_error *err)
{
	const struct plan *found = q->weighed != NULL ? q->weighed->found : NULL;
	int rc;

	if (found == NULL || !q->quiet || q->flight.n_installed > 0 || (*p)->made != PLAN_KEPT ||
	    q->prev->tables != q->weighed->was->tables ||
	    !graph_same_ends(&found->snap->fab, &q->snap->fab))
		return 0;
	memcpy((*p)->weighed, found->weighed, sizeof((*p)->weighed));
	(*p)->rivals_asked = true;
	if (found->tables == NULL)
		return 0;
	if ((rc = try_found(r, q, p, done, err)) != 0 || *done)
		return rc;
	(*p)->rivals_asked = !q->flight.older;
	if ((*p)->rivals_asked)
		tell_of_better(*p, found);
	return 0;
}

/* ------------------------------------------------------------------- groups */

/* The joined tables in place of p's, if all choices are proven. */
static int
use_groups(struct router *r, const struct plan_request *q, struct plan *p, struct tables *joined,
    struct fm_error *err)
{
	struct verify_request req = { .n_vls = r->set.n_vls, .sl_model = plan_sl_model(r, p) };
	struct verdict v;
	int rc = verify_tables(p->snap, &joined->t, &req, r->workers, &v, err);

	if (rc != 0)
		return rc;
	if (!verdict_is_safe(&v, q->chain->allow_credit_loops) ||
	    v.unreachable_pairs > p->verdict.unreachable_pairs) {
		snprintf(p->adaptive_given_up, sizeof(p->adaptive_given_up), "%s", v.witness);
		return 0;
	}
	tables_put(p->tables);
	p->tables = tables_get(joined);
	p->verdict = v;
	return 0;
}

/* In a quiet pass: tables that serve and have no groups get those that their engine would give
 * today, where its group has the port of the entry.  No entry changes. */
static int
give_groups(struct router *r, const struct plan_request *q, struct plan *p, struct fm_error *err)
{
	struct candidate c = { .entry = p->tables != NULL ? maker_of(q, p) : NULL };
	struct search s = { .r = r, .p = p };
	struct tables *joined = NULL;
	struct fm_error why;
	int rc = 0;

	if (!q->quiet || !wants_groups(p, &r->set) || p->delta.n > 0 ||
	    p->change.waiting[0] != '\0')
		return 0;
	p->groups_tried = true;
	p->adaptive_given_up[0] = '\0';
	if (c.entry == NULL || (c.entry->engine->traits & FM_PROVIDES_AR) == 0 ||
	    entry_route(&s, &c, &why) != 0)
		return 0;
	if (tables_are_adaptive(&c.tables->t))
		rc = adaptive_join(
		    r->tables, r->workers, &p->snap->fab, p->tables, c.tables, &joined, err);
	if (rc == 0 && joined != NULL)
		rc = use_groups(r, q, p, joined, err);
	tables_put(c.tables);
	tables_put(joined);
	return rc;
}

int
plan_make(struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err)
{
	bool done = false;
	int rc = 0;

	*out = NULL;
	if (q->set != NULL)
		r->set = *q->set;
	if (prev_goes_first(q))
		rc = take_from_prev(r, q, out, err);
	if (rc == 0 && *out != NULL)
		rc = try_to_join_more(r, q, out, err);
	if (rc == 0 && *out != NULL)
		rc = take_weighed(r, q, out, &done, err);
	if (rc == 0 && *out != NULL && !done)
		rc = try_to_rebalance(r, q, out, &done, err);
	else if (rc == 0 && *out == NULL)
		rc = route_anew(r, q, out, err);
	if (rc == 0)
		rc = mend(r, q, out, err);
	if (rc == 0 && !done)
		rc = order(r, q, out, err);
	if (rc == 0)
		rc = go_back_by_entries(r, q, out, err);
	if (rc == 0)
		rc = give_groups(r, q, *out, err);
	if (rc == 0)
		note_what_may_go_back(q, *out);
	if (rc == 0)
		rc = linger_settle(r, *out, err);
	if (rc == 0)
		rc = add_trees(r, q, *out, err);
	if (rc == 0)
		return 0;
	plan_put(*out);
	*out = NULL;
	return rc;
}
