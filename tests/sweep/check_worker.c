/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routing off the loop: while an engine takes its time, SMInfo is answered
 * and a trap is remembered; stopping meanwhile is clean.  Rivals of `auto` that were weighed
 * on that thread are taken up by a sweep.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <fmd/engine.h>

#include "core/route/weigh.h"
#include "core/route/weighing.h"
#include "lib/log.h"
#include "tests/engine/slow.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

static struct rig rig;
static const struct chain_entry entries[] = { { .engine = &slow_engine, .name = "slow" } };

static void
setup(void)
{
	atomic_store(&slow_is_routing, false);
	atomic_store(&slow_may_go_on, false);
	atomic_store(&slow_was_cancelled, false);
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.off_loop = true;
	rig.chain = (struct chain){ .entries = entries, .n_entries = 1 };
	rig_start(&rig);
}

static void
teardown(void)
{
	rig_fini(&rig);
}

/* A sweep up to where the engine holds it. */
static void
run_until_routing(void)
{
	struct fm_error err = { 0 };

	sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
	while (sweeper_phase(rig.sweeper) != PHASE_ROUTE || txn_outstanding(rig.txn) > 0) {
		sweeper_step(rig.sweeper);
		if (txn_outstanding(rig.txn) > 0)
			ck_assert_int_ge(txn_poll(rig.txn, INT64_MAX, &err), 0);
	}
	sweeper_step(rig.sweeper);
	while (!atomic_load(&slow_is_routing))
		sched_yield();
}

static struct wire_sm_info got;
static bool is_answered;

static void
on_sm_info(void *arg, enum txn_status status, const uint8_t *reply)
{
	(void)arg;
	is_answered = status == TXN_OK;
	if (is_answered)
		wire_sm_info_get(reply + WIRE_SMP_DATA_AT, &got);
}

/* The neighbour on our leaf asks us for SMInfo. */
static void
expect_sm_info(void)
{
	struct txn_limits limits = { .timeout_ms = 50, .window_max = 4, .per_node_max = 4 };
	struct smp_route route = { .directed = true,
		.lid = WIRE_LID_PERMISSIVE,
		.n_hops = 2,
		.path = { 0, 1, netlist_port(&rig.nl, rig.place, 1)->peer_port } };
	struct transport *t;
	struct fm_error err = { 0 };
	struct txn_engine *e;

	ck_assert_int_eq(sim_attach(rig.sim, rig.place + 1, 1, &t, &err), 0);
	e = txn_new(t, &limits, 0);
	ck_assert_ptr_nonnull(e);
	is_answered = false;
	txn_smp(e, &route, WIRE_GET, WIRE_ATTR_SM_INFO, 0, NULL, 0, on_sm_info, NULL);
	for (int i = 0; i < 100 && !is_answered; i++) {
		int64_t next = sim_now_ns(rig.sim) + 10000;

		ck_assert_int_ge(txn_poll(rig.txn, next, &err), 0);
		sweeper_step(rig.sweeper);
		ck_assert_int_ge(txn_poll(e, next, &err), 0);
	}
	ck_assert(is_answered);
	ck_assert_uint_eq(got.guid, rig.ha.guid);
	txn_free(e);
	t->ops->close(t);
}

START_TEST(test_serves_while_routing)
{
	struct fm_error err = { 0 };
	uint32_t leaf = netlist_port(&rig.nl, rig.place, 1)->peer_node;

	/* Once up, so that switches know where to send traps; then routed anew. */
	atomic_store(&slow_may_go_on, true);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	atomic_store(&slow_may_go_on, false);
	atomic_store(&slow_is_routing, false);
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig.n_reports = 0;
	run_until_routing();
	expect_sm_info();
	ck_assert_uint_eq(got.state, WIRE_SM_MASTER);
	sim_unlink(rig.sim, leaf, netlist_port(&rig.nl, rig.place + 2, 1)->peer_port);
	for (int i = 0; i < 100; i++)
		ck_assert_int_ge(txn_poll(rig.txn, sim_now_ns(rig.sim) + 1000000, &err), 0);
	sweeper_step(rig.sweeper);
	ck_assert_int_eq(sweeper_phase(rig.sweeper), PHASE_ROUTE);
	ck_assert_uint_eq(rig.n_reports, 0);
	atomic_store(&slow_may_go_on, true);
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_uint_eq(rig.n_reports, 2);
	ck_assert_int_eq(rig.last.scope, SWEEP_NAMED);
	ck_assert_ptr_nonnull(strstr(rig.last.reason, "trap 128"));
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_cas, 15);
	ck_assert_ptr_nonnull(strstr(rig_log, "engine slow is passed over: slow, and in vain"));
}
END_TEST

/* A drain that is asked for while routes are computed is of the sweep after that. */
START_TEST(test_drain_while_routing)
{
	run_until_routing();
	sweeper_drain(rig.sweeper);
	rig.n_new_plans = 0;
	atomic_store(&slow_may_go_on, true);
	rig_run(&rig, SWEEP_LIGHT);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.n_reports, 2);
	ck_assert_uint_eq(rig.n_new_plans, 2);
}
END_TEST

START_TEST(test_stop_while_routing)
{
	run_until_routing();
	rig_stop(&rig);
	ck_assert(atomic_load(&slow_was_cancelled));
	ck_assert_uint_eq(rig.n_reports, 0);
}
END_TEST

/* Stopped after the plan is there and before it is taken. */
START_TEST(test_stop_with_a_plan)
{
	run_until_routing();
	atomic_store(&slow_may_go_on, true);
	sem_wait(&rig.woken);
	rig_stop(&rig);
	ck_assert(!atomic_load(&slow_was_cancelled));
}
END_TEST

/* Settings are of the next plan: what the worker still does for the last one has the old. */
START_TEST(test_configure_while_preparing)
{
	atomic_store(&slow_may_go_on, true);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	rig.set.routing.sl_model = VERIFY_FORWARD;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_int_eq(rig.router.set.sl_model, VERIFY_FORWARD);
}
END_TEST

/* The same sweep, question by question, as with routing in place. */
START_TEST(test_same_as_in_place)
{
	struct sweep_report apart;

	atomic_store(&slow_may_go_on, true);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	apart = rig.last;
	rig_fini(&rig);
	setup();
	rig_stop(&rig);
	rig.off_loop = false;
	atomic_store(&slow_may_go_on, true);
	rig_bring_up(&rig);
	ck_assert_mem_eq(apart.gets_by_attr, rig.last.gets_by_attr, sizeof(apart.gets_by_attr));
	ck_assert_mem_eq(apart.sets_by_attr, rig.last.sets_by_attr, sizeof(apart.sets_by_attr));
}
END_TEST

/* ------------------------------------------------------------------ other work */

static struct {
	atomic_uint n;
	int order[4];
	pthread_t thread;
} done;

static void
note(void *arg)
{
	done.thread = pthread_self();
	done.order[atomic_load(&done.n)] = *(const int *)arg;
	atomic_fetch_add(&done.n, 1);
}

START_TEST(test_other_work)
{
	static const int first = 1, second = 2, third = 3;

	atomic_store(&done.n, 0);
	ck_assert(plan_worker_run(rig.worker, note, (void *)(uintptr_t)&first));
	sem_wait(&rig.woken);
	ck_assert_uint_eq(atomic_load(&done.n), 1);
	ck_assert(!pthread_equal(done.thread, pthread_self()));
	run_until_routing(); /* the rest has to wait */
	ck_assert(plan_worker_run(rig.worker, note, (void *)(uintptr_t)&second));
	ck_assert(plan_worker_run(rig.worker, note, (void *)(uintptr_t)&third));
	ck_assert_uint_eq(atomic_load(&done.n), 1);
	atomic_store(&slow_may_go_on, true);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	while (atomic_load(&done.n) < 3)
		sem_wait(&rig.woken);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(done.order[i], i + 1);
}
END_TEST

static void
say(void *arg)
{
	(void)arg;
	log_debug("route", "heard by nobody");
}

/* A reload sets the log anew, whoever logs at that time. */
START_TEST(test_log_set_while_working)
{
	ck_assert(plan_worker_run(rig.worker, say, NULL));
	fm_log_set_level(FM_LOG_NOTICE);
	fm_log_set_debug("sweep");
	sem_wait(&rig.woken);
	fm_log_set_debug("");
}
END_TEST

/* What has not begun is forgotten. */
START_TEST(test_stop_with_other_work)
{
	static const int never = 1;

	atomic_store(&done.n, 0);
	run_until_routing();
	ck_assert(plan_worker_run(rig.worker, note, (void *)(uintptr_t)&never));
	rig_stop(&rig);
	ck_assert_uint_eq(atomic_load(&done.n), 0);
}
END_TEST

/* ---------------------------------------------------------------------- rivals */

extern const struct fm_engine fattree_LTX_fm_engine, updn_LTX_fm_engine;

static const struct chain_rival rivals[] = {
	{ { .engine = &updn_LTX_fm_engine, .name = "updn", .because = "ragged" }, 0 }
};
static const struct chain_entry ragged[] = { { .engine = &fattree_LTX_fm_engine,
    .name = "fattree",
    .because = "a tree",
    .rival = rivals,
    .n_rivals = 1 } };

/* What rivals have come to beside the tables in force. */
static struct plan_weighed
weigh_them(void)
{
	struct plan *p = (struct plan *)(uintptr_t)sweeper_plan(rig.sweeper);
	struct plan_weighed found = { 0 };
	struct weighing *w;

	ck_assert(weigh_is_due(p, &rig.chain, PLAN_REBALANCE_AUTO));
	w = weighing_start(rig.worker, &rig.router, p, &rig.chain, &rig.set.routing);
	ck_assert_ptr_nonnull(w);
	while (!weighing_has_ended(w))
		sem_wait(&rig.woken);
	ck_assert(weighing_take(w, &found));
	return found;
}

/* A sweep takes the tables up that a rival has made, if nothing else has happened (0); else (1)
 * what has happened is repaired, and they are of no use. */
START_TEST(test_rivals_are_taken_up)
{
	struct plan_weighed found;
	struct fm_rng rng;

	rig_generate(&rig.nl, "director 12 6 10 4 2 6 seed=1");
	rig_sim(&rig, NULL);
	rig.off_loop = true;
	rig.chain = (struct chain){ .entries = ragged, .n_entries = 1 };
	rig_bring_up(&rig);
	ck_assert_str_eq(sweeper_plan(rig.sweeper)->engine, "fattree");
	found = weigh_them();
	ck_assert_ptr_nonnull(found.found->tables);
	memset(rig.drained, 0, sizeof(rig.drained));
	fm_rng_seed(&rng, 1);
	if (_i == 1)
		rig_lose_a_cable(&rig, &rng);
	sweeper_offer(rig.sweeper, &found);
	rig_run(&rig, SWEEP_LIGHT);
	rig_expect_up(&rig);
	ck_assert_str_eq(sweeper_plan(rig.sweeper)->engine, _i == 0 ? "updn" : "fattree");
	ck_assert_int_eq(sweeper_plan(rig.sweeper)->rivals_asked, _i == 0);
	for (size_t i = 0; i < sizeof(rig.drained) / sizeof(rig.drained[0]); i++)
		ck_assert_uint_eq(rig.drained[i], 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("worker");
	TCase *t = tcase_create("worker");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_serves_while_routing);
	tcase_add_test(t, test_drain_while_routing);
	tcase_add_test(t, test_stop_while_routing);
	tcase_add_test(t, test_stop_with_a_plan);
	tcase_add_test(t, test_configure_while_preparing);
	tcase_add_test(t, test_same_as_in_place);
	tcase_add_test(t, test_other_work);
	tcase_add_test(t, test_log_set_while_working);
	tcase_add_test(t, test_stop_with_other_work);
	suite_add_tcase(suite, t);
	t = tcase_create("rivals");
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, test_rivals_are_taken_up, 0, 2);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
