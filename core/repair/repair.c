/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One event: the entries it touches (repair_event.c), LID after LID in ascending
 * order what goes back (repair_back.c) and what is chosen anew (repair_lid.c), the
 * delta, the verdict (repair_verdict.c).
 *
 * Cost: the rows at the cables lost, and for each entry chosen anew a few
 * look-ups along its way.  With r->repair at hand (repair_prepare()) nothing is
 * proportional to switches x LIDs.
 */
#include "core/repair/repair.h"

#include <stdlib.h>
#include <string.h>

#include "core/repair/repair_choice.h"
#include "core/repair/repair_event.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/log.h"

#define DETOUR 2u	/* links, for a way without new dependencies */
#define LONG_DETOUR 64u /* the same, when that has led to none */

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while repairing tables");
}

/* ------------------------------------------------------------- deviations */

/* A copied column deviates as the one it was copied from. */
static bool
copy_deviations(struct repair_event *ev, size_t n, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < n; i++) {
		struct plan_entry e = ev->deviations.item[i];

		if (e.lid != from)
			continue;
		e.lid = (uint16_t)to;
		if (!fm_vec_push(&ev->deviations, e))
			return false;
	}
	return true;
}

/* Those of the plan before, as far as their columns are still what they were. */
static bool
take_deviations(const struct repair *p, struct repair_event *ev)
{
	const struct keeping *k = p->k;
	const struct fm_fabric *fab = p->fab;
	bool *anew = calloc(ev->n_lids + 1, sizeof(*anew)), ok = anew != NULL;
	size_t n;

	for (size_t i = 0; ok && i < k->dropped.n; i++)
		anew[k->dropped.item[i]] = true;
	for (size_t i = 0; ok && i < k->joiners.n; i++)
		for (uint32_t j = 0; j < 1u << fab->end_lmc[k->joiners.item[i].end]; j++)
			anew[fab->end_lid[k->joiners.item[i].end] + j] = true;
	for (size_t i = 0; ok && i < k->prev->deviations.n; i++)
		ok = anew[k->prev->deviations.item[i].lid] ||
		    fm_vec_push(&ev->deviations, k->prev->deviations.item[i]);
	free(anew);
	n = ev->deviations.n;
	for (size_t i = 0; ok && n > 0 && i < k->joiners.n; i++) {
		fm_end end = k->joiners.item[i].end, like = k->joiners.item[i].like;

		for (uint32_t j = 0; ok && j < 1u << fab->end_lmc[end]; j++)
			ok = copy_deviations(ev, n,
			    fab->end_lid[like] + j % (1u << fab->end_lmc[like]),
			    fab->end_lid[end] + j);
	}
	if (ev->deviations.n > n)
		qsort(ev->deviations.item, ev->deviations.n, sizeof(ev->deviations.item[0]),
		    plan_entry_by_lid);
	return ok;
}

/* ----------------------------------------------------------- the new plan */

/* By switch; LIDs came in ascending order. */
static struct plan_entry *
sort_delta(const struct repair *p)
{
	struct plan_entry *sorted = malloc((p->delta.n + 1) * sizeof(*sorted));
	uint32_t *first = calloc(p->fab->n_switches + 2, sizeof(*first)), sum = 0;

	for (size_t i = 0; sorted != NULL && first != NULL && i < p->delta.n; i++)
		first[p->delta.item[i].sw + 1]++;
	for (fm_sw sw = 0; first != NULL && sw < p->fab->n_switches; sw++)
		sum = first[sw] += sum;
	for (size_t i = 0; sorted != NULL && first != NULL && i < p->delta.n; i++)
		sorted[first[p->delta.item[i].sw]++] = p->delta.item[i];
	if (first == NULL) {
		free(sorted);
		sorted = NULL;
	}
	free(first);
	return sorted;
}

/* Each entry once, with what it has come to, if that is not what it was. */
static bool
settle_delta(struct repair *p)
{
	const struct fm_tables *was = &p->k->prev->tables->t;
	struct plan *plan = p->k->p;
	struct plan_entry *sorted = sort_delta(p), last = { .sw = FM_NONE };

	if (sorted == NULL || !fm_vec_reserve(&plan->delta, p->delta.n + 1) ||
	    !fm_vec_append(&plan->deviations, p->deviations.item, p->deviations.n)) {
		free(sorted);
		return false;
	}
	for (size_t i = 0; i < p->delta.n; i++) {
		struct plan_entry e = sorted[i];

		e.port = p->t->lft[e.sw][e.lid];
		if (e.port == was->lft[e.sw][e.lid] || (last.sw == e.sw && last.lid == e.lid))
			continue;
		fm_vec_push(&plan->delta, e);
		last = e;
	}
	free(sorted);
	plan->delta_blocks = plan_count_blocks(plan);
	return true;
}

/* The state describes the new tables now. */
static bool
pass_on(struct repair *p, bool copied)
{
	struct repair_state *st = p->st;
	struct plan *plan = p->k->p;

	tables_put(st->spare);
	st->spare = NULL;
	st->lag.n = 0;
	st->unsure = false;
	depend_free(st->lean); /* it was of other tables */
	st->lean = NULL;
	free(st->lost);
	st->lost = p->lost;
	p->lost = NULL;
	p->was_lost = NULL;
	snapshot_put(st->snap);
	st->snap = snapshot_get(p->k->snap);
	if (!p->same_ends && !repair_note_served(st, p->fab))
		return false;
	if (!copied && plan->delta.n == 0) { /* the same tables, then */
		st->spare = plan->tables;
		plan->tables = tables_get(st->tables);
		return true;
	}
	if (!copied && !fm_vec_append(&st->lag, plan->delta.item, plan->delta.n))
		return false;
	if (copied)
		tables_put(st->tables);
	else
		st->spare = st->tables;
	st->tables = tables_get(plan->tables);
	return true;
}

static int
update_verdict(struct repair *p, struct fm_error *err)
{
	struct verify_request req = { .n_vls = p->r->set.n_vls,
		.sl_model = plan_sl_model(p->r, p->k->prev) };
	struct plan *plan = p->k->p;
	double start = plan_now_ms();
	bool judged = false;
	int rc = repair_judge(p, &judged, err);

	if (rc == 0 && !judged) {
		rc = verify_tables(
		    p->k->snap, &plan->tables->t, &req, p->r->workers, &plan->verdict, err);
		free(p->st->sums); /* they are of the plan before; repair_prepare() makes others */
		p->st->sums = NULL;
	}
	plan->verify_ms = plan_now_ms() - start;
	return rc;
}

/* The verdict from scratch has to be the same. */
static int
check_verdict(struct repair *p, bool *same, struct fm_error *err)
{
	struct verify_request req = { .n_vls = p->r->set.n_vls,
		.sl_model = plan_sl_model(p->r, p->k->prev) };
	const struct verdict *a = &p->k->p->verdict;
	struct verdict b;
	int rc = verify_tables(p->k->snap, p->t, &req, p->r->workers, &b, err);

	if (rc != 0)
		return rc;
	*same = a->reachable_pairs == b.reachable_pairs &&
	    a->unreachable_pairs == b.unreachable_pairs && a->disjoint_pairs == b.disjoint_pairs &&
	    a->switch_pairs_unrouted == b.switch_pairs_unrouted && a->loops == b.loops &&
	    a->wrong_host == b.wrong_host && a->credit_loops == b.credit_loops &&
	    a->vl_errors == b.vl_errors && a->max_hops == b.max_hops && a->avg_hops == b.avg_hops &&
	    a->vls == b.vls && a->fault == b.fault;
	if (!*same)
		log_err("route",
		    "a repair was judged wrongly (a bug), the chain routes anew: %s; %llu pairs, "
		    "%llu "
		    "hold, %llu switch pairs lack, %llu do; longest %u, is %u",
		    b.witness, (unsigned long long)a->reachable_pairs,
		    (unsigned long long)b.reachable_pairs,
		    (unsigned long long)a->switch_pairs_unrouted,
		    (unsigned long long)b.switch_pairs_unrouted, a->max_hops, b.max_hops);
	return 0;
}

/* -------------------------------------------------------------- all of it */

static bool
alloc_repair(struct repair *p, struct repair_event *ev)
{
	const struct plan *plan = p->k->p, *prev = p->k->prev;

	ev->n_lids = (plan->top_lid > prev->top_lid ? plan->top_lid : prev->top_lid) + 1u;
	ev->n_lids = p->st->n_sums > ev->n_lids ? p->st->n_sums : ev->n_lids;
	p->lost = repair_lost_bits(p->g, &p->k->diff);
	p->was_lost = p->st->lost;
	p->load = p->st->load;
	p->same_ends = p->k->same_ends && p->st->serves_snap;
	p->sends = calloc(p->fab->n_switches + 1, 1);
	p->dirty = calloc(ev->n_lids + 1, 1);
	ev->is_fresh = calloc(ev->n_lids + 1, 1);
	return p->lost != NULL && p->sends != NULL && p->dirty != NULL && ev->is_fresh != NULL &&
	    repair_take_room(p, &p->st->room);
}

static void
free_repair(struct repair *p)
{
	free(p->lost);
	free(p->sends);
	free(p->dirty);
	deps_free(p->deps);
	fm_vec_fini(&p->spots);
	fm_vec_fini(&p->dev);
	fm_vec_fini(&p->stack);
	fm_vec_fini(&p->banned);
	fm_vec_fini(&p->idle);
	fm_vec_fini(&p->delta);
	fm_vec_fini(&p->deviations);
	fm_vec_fini(&p->shifts);
	fm_vec_fini(&p->moved);
}

/* Who sends.  False: an end stands where a cable was. */
static bool
look_around(struct repair *p)
{
	if (p->same_ends) {
		memcpy(p->sends, p->st->sends, p->fab->n_switches);
		return true;
	}
	for (fm_end e = 0; e < p->fab->n_ends; e++) {
		fm_sw sw = p->fab->end_sw[e];
		uint32_t c =
		    sw != FM_NONE ? depend_channel(p->g, sw, p->fab->end_port[e]) : FM_NONE;

		if (c != FM_NONE && p->g->to[c] != FM_NONE)
			return false;
		if (sw != FM_NONE && p->fab->end_kind[e] != FM_END_SWITCH)
			p->sends[sw] = 1;
	}
	return true;
}

/* VLs go by ports.  False: out of memory. */
static bool
look_by_ports(struct repair *p)
{
	p->deps = depend_deps(p->g, p->fab, p->t);
	FM_EACH_BIT (c, p->lost, p->g->n_channels)
		if (!fm_bit_test(p->was_lost, c))
			depend_cut(p->g, (uint32_t)c);
	p->st->holds_absent = false; /* the cables may be back */
	return p->deps != NULL;
}

/* The tables to be changed; *copied: not the spare ones, as columns come or go, or SLs change. */
static int
take_tables(struct repair *p, bool *copied, struct fm_error *err)
{
	struct keeping *k = p->k;
	int rc;

	*copied = k->joiners.n > 0 || k->dropped.n > 0 || p->may_move;
	rc = *copied ? keep_copy(k, err)
		     : repair_take_spare(p->r, p->st, &k->snap->fab, &k->p->tables, err);
	if (rc != 0)
		return rc;
	p->t = &k->p->tables->t;
	if (*copied) {
		repair_columns_free(p->st->columns);
		p->st->columns = NULL;
	}
	if (*copied && !repair_count_loads(p->st, p->fab, p->t, p->r->workers))
		return no_memory(err);
	if (depend_by_ports(p->t) && !look_by_ports(p))
		return no_memory(err);
	k->p->graph = snapshot_get(k->prev->graph);
	return 0;
}

/* Ends that are new to the tables reply in VLs that depend on the requester: where
 * there are several, and others of their switch do not send in the same, dependencies are collected
 * again.  False: out of memory. */
static bool
follow_replies(struct repair *p, struct repair_event *ev)
{
	if (ev->senders.n > 0) /* they may send to absent LIDs, too */
		p->st->holds_absent = false;
	if (p->g->n_vls == 1 || (!ev->has_fresh && ev->senders.n == 0))
		return true;
	if (ev->senders.n == 0 && repair_fresh_send_alike(p, ev))
		return true;
	ev->collected = true;
	depend_free(p->st->g);
	p->st->holds_absent = false;
	p->st->g = p->g = depend_build(&p->st->graph->fab, p->fab, p->t, p->lost,
	    plan_sl_model(p->r, p->k->prev), p->r->workers);
	p->hopeless = p->g == NULL || (p->g->cyclic && p->k->prev->verdict.credit_loops == 0);
	return p->g != NULL;
}

/* 0; *done: k->p is a plan with tables and a verdict. */
static int
repair_tables(struct repair *p, struct repair_event *ev, bool *done, struct fm_error *err)
{
	struct plan *plan = p->k->p;
	bool copied, ok;
	int rc;

	if (!alloc_repair(p, ev))
		return no_memory(err);
	if (!look_around(p))
		return 0;
	if ((rc = take_tables(p, &copied, err)) != 0)
		return rc;
	ev->counted = copied;
	if (p->may_move && !repair_begin_moves(p))
		return 0;
	ok = take_deviations(p, ev) && repair_find_items(p, ev) && follow_replies(p, ev) &&
	    !p->hopeless && repair_visit_lids(p, ev);
	if (!ok && !p->hopeless)
		return no_memory(err);
	if (!ok || (p->n_refused > 0 && p->k->diff.lost.n == 0)) {
		log_debug("route", "not repaired, lid=%u: %s", p->lid,
		    !ok ? "a pair has no way that closes no cycle"
			: "entries that go back would close a cycle with others");
		return 0;
	}
	if (!settle_delta(p))
		return no_memory(err);
	rc = update_verdict(p, err);
	if (rc == 0 && plan->verdict.unreachable_pairs > 0)
		log_debug("route", "not repaired: %s", plan->verdict.witness);
	if (rc != 0 || plan->verdict.unreachable_pairs > 0)
		return rc;
	*done = true;
	if (p->r->check_repairs)
		rc = check_verdict(p, done, err);
	if (rc == 0 && *done && !pass_on(p, copied))
		return no_memory(err);
	plan->delta_base = copied ? 0 : p->k->prev->number;
	plan->made = plan->delta.n > 0 || p->moved.n > 0 ? PLAN_REPAIRED : PLAN_KEPT;
	plan->rebalance_tried = plan->rebalance_tried && plan->made == PLAN_KEPT;
	plan->groups_tried = false;
	return rc;
}

/* May these tables be repaired at all? */
static bool
applies(const struct keeping *k)
{
	return !k->r->skip_repairs && depend_applies(&k->prev->tables->t) &&
	    (k->prev->verdict.credit_loops == 0 || k->allow_credit_loops);
}

struct attempt {
	uint32_t detour;
	bool may_move;
};

/* One try, by the state there is. */
static int
try_once(struct keeping *k, const struct attempt *how, bool *done, struct fm_error *err)
{
	struct router *r = k->r;
	struct repair p = { .r = r,
		.k = k,
		.fab = &k->snap->fab,
		.detour = how->detour,
		.may_move = how->may_move };
	struct repair_event ev = { 0 };
	int rc = 0;

	p.st = r->repair;
	p.g = p.st->g;
	p.g->added.n = 0; /* who orders the writing may undo what comes from here on, and no more */
	p.all_switches = k->prev->verdict.switch_pairs_unrouted == 0;
	if (!p.g->cyclic || k->prev->verdict.credit_loops > 0)
		rc = repair_tables(&p, &ev, done, err);
	else
		log_debug("route", "not repaired: what is not used closes a cycle");
	free_repair(&p);
	repair_event_fini(&ev);
	if (rc == 0 && *done)
		*done = verdict_is_safe(&k->p->verdict, k->allow_credit_loops);
	if (rc != 0 || !*done) { /* it is half-way to tables that nobody has */
		repair_state_free(r->repair);
		r->repair = NULL;
		keep_take_back(k);
	}
	return rc;
}

/* First by what is at hand; dependencies that have gathered there may be in the
 * way, so then by no more than the tables have, and sooner a detour than a new one; and where
 * that leads nowhere under other SLs. */
int
plan_repair(struct keeping *k, bool *done, struct fm_error *err)
{
	static const struct attempt at_hand = { .detour = DETOUR },
				    by_least = { .detour = LONG_DETOUR },
				    by_other_sls = { .detour = DETOUR, .may_move = true };
	struct router *r = k->r;
	uint32_t n_vls;
	int rc;

	if (!applies(k))
		return 0;
	rc = repair_state_for(r, k->prev, NULL, 0, err);
	if (rc == 0 && !k->older)
		rc = repair_let_go(r, k->prev, err);
	if (rc == 0)
		rc = try_once(k, &at_hand, done, err);
	if (rc == 0 && !*done)
		rc = repair_state_for(r, k->prev, &k->diff, 0, err);
	if (rc == 0 && !*done)
		rc = try_once(k, &by_least, done, err);
	if (rc != 0 || *done || !repair_may_move(r, k->prev, &k->snap->fab, &n_vls))
		return rc;
	rc = repair_state_for(r, k->prev, &k->diff, n_vls, err);
	return rc != 0 ? rc : try_once(k, &by_other_sls, done, err);
}
