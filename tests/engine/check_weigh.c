/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rivals of an entry of `auto` that were too slow to be waited for: weighed beside the tables in
 * force, taken up when it is quiet if no entry is emptied for that, else told of; given up for a
 * plan that is asked for meanwhile.
 */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "core/abi/host.h"
#include "core/route/weigh.h"
#include "core/route/weighing.h"
#include "lib/log.h"
#include "tests/engine/routed.h"
#include "tests/engine/slow.h"
#include "tests/run.h"

extern const struct fm_engine updn_LTX_fm_engine, minhop_LTX_fm_engine, fattree_LTX_fm_engine,
    dragonfly_LTX_fm_engine, dfsssp_LTX_fm_engine;

static char told[1024]; /* of better tables */

static void
hear(void *arg, enum fm_log_level level, const char *subsystem, const char *text)
{
	(void)arg;
	(void)level;
	if (strcmp(subsystem, "route") == 0 && strstr(text, " would route better than ") != NULL)
		snprintf(told, sizeof(told), "%s", text);
}

static const char of_shape[] = "as it is", of_rival[] = "uneven";

/* A chain of `auto` of one step, on a fabric. */
struct course {
	struct router router;
	struct chain_rival rivals[2];
	struct chain_entry entry;
	struct chain chain;
	struct route_settings set;
	struct plan *plan;
};

static struct plan *
plan_of(struct course *c, struct snapshot *snap, const struct plan_weighed *weighed)
{
	struct plan_request q = { .set = &c->set,
		.snap = snap,
		.chain = &c->chain,
		.prev = c->plan,
		.linger_ms = 1000,
		.quiet = c->plan != NULL && snap == c->plan->snap,
		.weighed = weighed };
	struct fm_error err = { 0 };
	struct plan *p;

	ck_assert_msg(plan_make(&c->router, &q, &p, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(p->tables);
	return p;
}

/* Routed by `own`; its rivals are asked on fabrics of at most so many LIDs * links. */
static void
begin(struct course *c, const struct fabric *f, const struct fm_engine *own,
    const struct fm_engine *const rivals[2], uint64_t most)
{
	struct snapshot *snap = make(f, false);
	struct fm_error err = { 0 };

	memset(c, 0, sizeof(*c));
	told[0] = '\0';
	ck_assert_int_eq(router_init(&c->router, 2, &err), 0);
	c->set = ROUTE_SETTINGS_DEFAULT;
	c->entry = (struct chain_entry){
		.engine = own, .name = own->name, .because = of_shape, .rival = c->rivals
	};
	for (int i = 0; i < 2 && rivals[i] != NULL; i++)
		c->rivals[c->entry.n_rivals++] = (struct chain_rival){
			{ .engine = rivals[i], .name = rivals[i]->name, .because = of_rival }, most
		};
	c->chain = (struct chain){ .entries = &c->entry, .n_entries = 1, .mark = 7 };
	c->plan = plan_of(c, snap, NULL);
	snapshot_put(snap);
}

static void
end(struct course *c)
{
	plan_put(c->plan);
	router_fini(&c->router);
}

static bool
is_due(const struct course *c)
{
	return weigh_is_due(c->plan, &c->chain, PLAN_REBALANCE_AUTO);
}

/* Weighed here; the next plan is made in a quiet pass from that. */
static void
weigh_and_go_on(struct course *c)
{
	struct plan_request q = { .set = &c->set, .chain = &c->chain, .prev = c->plan };
	struct plan_weighed w = { .was = plan_get(c->plan) };
	struct fm_error err = { 0 };
	struct plan *p;

	ck_assert_msg(weigh_beside(&c->router, &q, &w.found, &err) == 0, "%s", err.msg);
	p = plan_of(c, c->plan->snap, &w);
	plan_weighed_put(&w);
	plan_put(c->plan);
	c->plan = p;
}

static const struct fm_engine *const of_trees[2] = { &updn_LTX_fm_engine, &minhop_LTX_fm_engine };
static const struct fm_engine *const of_shapes[2] = { &dfsssp_LTX_fm_engine, NULL };

static const struct {
	struct fabric fabric;
	const struct fm_engine *own, *const *rivals;
	const char *taken; /* the engine afterwards */
	bool is_told;	   /* that another is better */
} cases[] = {
	{ { .words = "pods 3 20 20 0 20 18" }, &fattree_LTX_fm_engine, of_trees, "updn", false },
	{ { .words = "pgft 2 4,4 1,2 1,2" }, &fattree_LTX_fm_engine, of_trees, "fattree", false },
	{ { .words = "dragonfly 4 2 2", .links_pct = 5 }, &dragonfly_LTX_fm_engine, of_shapes,
	    "dragonfly", true },
};

/* What cost nothing to have is there, as if it had been waited for; the rest is told of; once. */
START_TEST(taken_or_told_of_once)
{
	bool is_other = strcmp(cases[_i].taken, cases[_i].own->name) != 0;
	struct course c;
	struct tables *was;

	begin(&c, &cases[_i].fabric, cases[_i].own, cases[_i].rivals, 0);
	ck_assert_str_eq(c.plan->engine, cases[_i].own->name);
	ck_assert_str_eq(c.plan->weighed, "");
	ck_assert(is_due(&c));
	ck_assert(!weigh_is_due(c.plan, &c.chain, PLAN_REBALANCE_NEVER));
	was = tables_get(c.plan->tables);
	weigh_and_go_on(&c);
	ck_assert_str_eq(c.plan->engine, cases[_i].taken);
	ck_assert(c.plan->because == (is_other ? of_rival : of_shape));
	ck_assert_int_eq(c.plan->tables != was, is_other);
	ck_assert_uint_eq(c.plan->change.n_drained + c.plan->change.n_kept_old, 0);
	ck_assert_uint_eq(c.plan->mark, 7);
	ck_assert_int_eq(told[0] != '\0', cases[_i].is_told);
	ck_assert_int_eq(c.plan->weighed[0] != '\0', is_other || cases[_i].is_told);
	ck_assert_int_eq(
	    strstr(c.plan->weighed, " is not taken by itself, as ") != NULL, cases[_i].is_told);
	ck_assert_msg(
	    !cases[_i].is_told || strstr(told, "dfsssp would route better") != NULL, "%s", told);
	ck_assert(!is_due(&c));
	tables_put(was);
	end(&c);
}
END_TEST

/* The same tables as where rivals are waited for. */
START_TEST(as_if_waited_for)
{
	struct course at_once, later;
	uint32_t n;

	begin(&at_once, &cases[0].fabric, cases[0].own, cases[0].rivals, UINT64_MAX);
	ck_assert(!is_due(&at_once));
	begin(&later, &cases[0].fabric, cases[0].own, cases[0].rivals, 0);
	weigh_and_go_on(&later);
	ck_assert_str_eq(at_once.plan->engine, later.plan->engine);
	n = at_once.plan->snap->fab.max_lid + 1u;
	for (fm_sw s = 0; s < at_once.plan->snap->fab.n_switches; s++)
		ck_assert_mem_eq(at_once.plan->tables->t.lft[s], later.plan->tables->t.lft[s], n);
	end(&at_once);
	end(&later);
}
END_TEST

/* One that is small enough is asked at once, wherever it stands. */
START_TEST(each_by_its_own_bound)
{
	struct course c;

	begin(&c, &cases[0].fabric, cases[0].own, cases[0].rivals, 0);
	plan_put(c.plan);
	c.plan = NULL;
	c.rivals[_i].most = UINT64_MAX;
	c.plan = plan_of(&c, make(&cases[0].fabric, false), NULL);
	snapshot_put(c.plan->snap);
	ck_assert_str_eq(c.plan->engine, of_trees[_i]->name);
	ck_assert(is_due(&c));
	weigh_and_go_on(&c);
	ck_assert_str_eq(c.plan->engine, of_trees[_i]->name);
	ck_assert(strncmp(c.plan->weighed, of_trees[_i]->name, strlen(of_trees[_i]->name)) == 0);
	ck_assert(strstr(c.plan->weighed, of_trees[1 - _i]->name) != NULL);
	ck_assert(!is_due(&c));
	end(&c);
}
END_TEST

/* Tables that an event has changed meanwhile are not those that rivals were compared with. */
START_TEST(of_other_tables_is_nothing)
{
	struct plan_weighed w = { 0 };
	struct plan_request q = { 0 };
	struct fm_error err = { 0 };
	struct course c, other;

	begin(&c, &cases[0].fabric, cases[0].own, cases[0].rivals, 0);
	begin(&other, &cases[0].fabric, cases[0].own, cases[0].rivals, 0);
	q = (struct plan_request){ .set = &other.set, .chain = &other.chain, .prev = other.plan };
	w.was = plan_get(other.plan);
	ck_assert_int_eq(weigh_beside(&other.router, &q, &w.found, &err), 0);
	ck_assert_ptr_nonnull(w.found->tables);
	plan_put(other.plan);
	other.plan = plan_of(&c, c.plan->snap, &w);
	ck_assert_str_eq(other.plan->engine, "fattree");
	ck_assert(!other.plan->rivals_asked);
	plan_weighed_put(&w);
	plan_put(other.plan);
	other.plan = NULL;
	end(&c);
	end(&other);
}
END_TEST

/* ------------------------------------------------------- a plan is asked for meanwhile */

static const struct fm_engine *const slow_ones[2] = { &slow_engine, &updn_LTX_fm_engine };

static void
wake(void *arg)
{
	(void)arg;
}

static void
note(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
}

static struct snapshot *
lose_link(struct snapshot *whole)
{
	uint64_t *gone = calloc(whole->fab.n_links / 64 + 1, 8),
		 *none = calloc(whole->fab.n_ends / 64 + 1, 8);
	struct snapshot_loss loss = { .links = gone, .switches = none };
	struct fm_error err = { 0 };
	struct snapshot *snap;

	gone[0] = 1;
	ck_assert_int_eq(snapshot_without(whole, &loss, &snap, &err), 0);
	free(gone);
	free(none);
	return snap;
}

/* An engine that would go on for ever holds nobody up: what is asked, a plan (0) or other work (1),
 * is done, and the weighing has ended without a result and is due still. */
START_TEST(given_up_for_what_is_asked)
{
	struct fm_error err = { 0 };
	struct plan_weighed found;
	struct plan_worker *worker;
	struct weighing *w;
	struct snapshot *snap;
	struct course c;
	struct plan *p = NULL;
	atomic_bool noted = false;
	int rc = 0;

	atomic_store(&slow_is_routing, false);
	atomic_store(&slow_may_go_on, false);
	begin(&c, &cases[0].fabric, cases[0].own, slow_ones, 0);
	snap = lose_link(c.plan->snap);
	ck_assert_int_eq(plan_worker_new(&c.router, wake, NULL, &worker, &err), 0);
	w = weighing_start(worker, &c.router, c.plan, &c.chain, &c.set);
	ck_assert_ptr_nonnull(w);
	while (!atomic_load(&slow_is_routing))
		sched_yield();
	ck_assert(!weighing_has_ended(w));
	if (_i == 0) {
		plan_worker_start(worker,
		    &(struct plan_request){ .set = &c.set,
			.snap = snap,
			.chain = &c.chain,
			.prev = c.plan,
			.linger_ms = 1000 });
		while (!plan_worker_take(worker, &rc, &p, &err))
			sched_yield();
		ck_assert_int_eq(rc, 0);
		ck_assert_int_eq(p->made, PLAN_REPAIRED); /* of the tables in force */
		ck_assert_str_eq(p->engine, "fattree");
		ck_assert(!p->rivals_asked);
		plan_put(c.plan);
		c.plan = p;
	} else {
		ck_assert(plan_worker_run(worker, note, &noted));
		while (!atomic_load(&noted))
			sched_yield();
	}
	ck_assert(weighing_has_ended(w));
	ck_assert(!weighing_take(w, &found));
	ck_assert(is_due(&c));

	/* and once more, when nobody asks for anything */
	atomic_store(&slow_may_go_on, true);
	w = weighing_start(worker, &c.router, c.plan, &c.chain, &c.set);
	ck_assert_ptr_nonnull(w);
	while (!weighing_has_ended(w))
		sched_yield();
	ck_assert(weighing_take(w, &found));
	ck_assert(strstr(found.found->weighed, "updn") != NULL);
	ck_assert(strstr(found.found->weighed, "slow") == NULL);
	plan_weighed_put(&found);
	plan_worker_free(worker);
	snapshot_put(snap);
	end(&c);
}
END_TEST

/* So does verification, of whatever tables; and a worker that ends waits for no weighing. */
START_TEST(given_up_at_the_end)
{
	struct verify_request req = { .n_vls = 8 };
	struct fm_error err = { 0 };
	struct plan_worker *worker;
	struct plan_weighed found;
	struct weighing *w;
	struct verdict v;
	struct course c;

	atomic_store(&slow_is_routing, false);
	atomic_store(&slow_may_go_on, false);
	begin(&c, &cases[2].fabric, cases[2].own, slow_ones, 0);
	ck_assert_int_eq(plan_worker_new(&c.router, wake, NULL, &worker, &err), 0);
	w = weighing_start(worker, &c.router, c.plan, &c.chain, &c.set);
	ck_assert_ptr_nonnull(w);
	while (!atomic_load(&slow_is_routing))
		sched_yield();
	plan_worker_free(worker);
	ck_assert(!weighing_take(w, &found));
	req.given_up = route_host_given_up(c.router.host); /* the worker has cancelled all */
	route_host_give_up(c.router.host, false);
	ck_assert_int_eq(
	    verify_tables(c.plan->snap, &c.plan->tables->t, &req, c.router.workers, &v, &err),
	    FM_E_CANCELLED);
	end(&c);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("weigh");
	TCase *t = tcase_create("all");

	fm_log_set_sink(hear, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, taken_or_told_of_once, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, as_if_waited_for);
	tcase_add_loop_test(t, each_by_its_own_bound, 0, 2);
	tcase_add_test(t, of_other_tables_is_nothing);
	tcase_add_loop_test(t, given_up_for_what_is_asked, 0, 2);
	tcase_add_test(t, given_up_at_the_end);
	suite_add_tcase(s, t);
	return run_suite(s);
}
