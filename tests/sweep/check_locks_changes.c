/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As check_locks.c, where maps from SLs to VLs change with the entries: another engine is taken
 * up by "fmctl drain", switches come that were never seen, regions are joined by VLs that go by
 * links; beside cables that are lost, and while entries are empty.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep/internal.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/locks.h"

extern const struct fm_engine dfsssp_LTX_fm_engine, lash_LTX_fm_engine, updn_LTX_fm_engine,
    torus2qos_LTX_fm_engine, dragonfly_LTX_fm_engine, nue_LTX_fm_engine, fattree_LTX_fm_engine;

static struct rig rig;
static struct locks *locks;
static struct fm_rng rng;
static struct chain_entry entry;

static const struct place {
	const char *words;
	const struct fm_engine *engine[2];
} places[] = {
	{ "torus 5x5 1", { &updn_LTX_fm_engine, &torus2qos_LTX_fm_engine } },
	{ "torus 4x4 1", { &dfsssp_LTX_fm_engine, &torus2qos_LTX_fm_engine } },
	{ "dragonfly 4 1 1 5", { &dragonfly_LTX_fm_engine, &dfsssp_LTX_fm_engine } },
	{ "random 16 4 1 3", { &dfsssp_LTX_fm_engine, &lash_LTX_fm_engine } },
	{ "random 16 4 1 5", { &lash_LTX_fm_engine, &updn_LTX_fm_engine } },
	{ "torus 4x4 1", { &nue_LTX_fm_engine, &torus2qos_LTX_fm_engine } },
};
#define N_PLACES ((int)(sizeof(places) / sizeof(*places)))

static void
teardown(void)
{
	locks_fini(locks);
	locks = NULL;
	rig_fini(&rig);
}

static void
use(const struct fm_engine *engine)
{
	entry = (struct chain_entry){ .engine = engine, .name = engine->name };
	rig.chain.entries = &entry;
	rig.chain.n_entries = 1;
}

static void
start(const struct place *p, uint64_t seed)
{
	struct sim_options o;

	sim_options_default(&o);
	o.seed = seed;
	o.delay_max_ns = 200000; /* much more than one SMP takes: they overtake */
	fm_rng_seed(&rng, seed);
	rig_generate(&rig.nl, p->words);
	rig_sim(&rig, &o);
	use(p->engine[0]);
}

static void
bring_up(void)
{
	rig_start(&rig);
	rig.router.check_repairs = true; /* what is found wrong is logged */
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	ck_assert_str_eq(rig.last.engine, entry.name);
	locks = locks_watch(&rig);
}

static void
lose_switch(uint32_t n)
{
	for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++)
		if (netlist_port(&rig.nl, n, p)->peer_node != NETLIST_NONE)
			sim_unlink(rig.sim, n, p);
}

static void
give_switch(uint32_t n)
{
	for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++)
		if (netlist_port(&rig.nl, n, p)->peer_node != NETLIST_NONE)
			sim_relink(rig.sim, n, p);
}

static void
ask_for(const struct fm_engine *engine)
{
	use(engine);
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	sweeper_drain(rig.sweeper);
}

static void
expect_no_rings(const char *what)
{
	ck_assert_msg(locks_n_rings(locks) == 0, "%s: %u rings in %u moments, %s", what,
	    locks_n_rings(locks), locks_n_looks(locks), locks_first(locks));
	ck_assert_ptr_null(strstr(rig_log, "(a bug)"));
	rig_expect_maps(&rig);
}

/* By command; with all cables, and without one. */
START_TEST(another_engine_is_taken_up)
{
	start(&places[_i], 100 + (uint64_t)_i);
	bring_up();
	for (unsigned i = 0; i < n_rounds(4, 40); i++) {
		struct sim_place c = { 0 };

		if (i % 4 >= 2)
			c = rig_lose_a_cable(&rig, &rng);
		ask_for(places[_i].engine[1 - i % 2]);
		rig_settle(&rig);
		expect_no_rings(entry.name);
		ck_assert_str_eq(sweeper_plan(rig.sweeper)->engine, entry.name);
		rig_expect_up(&rig);
		if (i % 4 >= 2)
			sim_relink(rig.sim, c.node, c.port);
		rig_settle(&rig);
		expect_no_rings("recovery");
	}
	ck_assert_uint_gt(locks_n_looks(locks), 10);
}
END_TEST

/* While entries are empty, or wait, cables go. */
START_TEST(losses_come_meanwhile)
{
	start(&places[_i], 200 + (uint64_t)_i);
	bring_up();
	for (unsigned i = 0; i < n_rounds(4, 40); i++) {
		struct sim_place c[2];

		ask_for(places[_i].engine[1 - i % 2]);
		rig_run_to_wait(&rig);
		for (unsigned j = 0; j < 2; j++) {
			c[j] = rig_lose_a_cable(&rig, &rng);
			rig_run_to_wait(&rig);
		}
		rig_settle(&rig);
		expect_no_rings(entry.name);
		for (unsigned j = 0; j < 2; j++)
			sim_relink(rig.sim, c[j].node, c[j].port);
		rig_settle(&rig);
		expect_no_rings("recovery");
		rig_expect_up(&rig);
	}
}
END_TEST

/* One that was never seen: numbers of switches are more. */
START_TEST(a_switch_comes)
{
	const struct place *p = &places[_i / 2];
	struct sim_place c;
	uint32_t n;

	start(p, 300 + (uint64_t)_i);
	use(p->engine[_i % 2]);
	n = rig_random_switch(&rig, &rng);
	lose_switch(n);
	bring_up();
	c = rig_lose_a_cable(&rig, &rng);
	give_switch(n);
	rig_settle(&rig);
	expect_no_rings("a switch has come");
	sim_relink(rig.sim, c.node, c.port);
	rig_settle(&rig);
	expect_no_rings("recovery");
	sweeper_drain(rig.sweeper);
	rig_settle(&rig);
	expect_no_rings("drain");
	rig_expect_up(&rig);
}
END_TEST

/* Where a switch joins and nothing else happens. */
static const struct join {
	const char *words;
	const struct fm_engine *engine;
} joins[] = {
	{ "torus 5x5 1", &updn_LTX_fm_engine },
	{ "torus 5x5 1", &dfsssp_LTX_fm_engine },
	{ "torus 5x5 1", &lash_LTX_fm_engine },
	{ "torus 5x5 1", &torus2qos_LTX_fm_engine },
	{ "torus 4x4 1", &nue_LTX_fm_engine },
	{ "random 16 4 1 3", &updn_LTX_fm_engine },
	{ "random 16 4 1 3", &dfsssp_LTX_fm_engine },
	{ "random 16 4 1 5", &lash_LTX_fm_engine },
	{ "dragonfly 4 1 1 5", &dragonfly_LTX_fm_engine },
	{ "pgft 3 3,3,4 1,3,3 1,1,1", &fattree_LTX_fm_engine },
};
#define N_JOINS ((int)(sizeof(joins) / sizeof(*joins)))

static void
start_join(const struct join *j, uint64_t seed)
{
	const struct place p = { j->words, { j->engine, j->engine } };

	start(&p, seed);
}

static void
expect_joined(const char *what)
{
	rig_settle(&rig);
	expect_no_rings(what);
	ck_assert_msg(locks_n_cleared(locks) == 0, "%s: %u entries are emptied", what,
	    locks_n_cleared(locks));
	rig_expect_up(&rig);
}

/* One that was never seen: nobody loses a way for it. */
static void
join_a_switch(const struct join *j, uint64_t seed)
{
	uint32_t n;

	start_join(j, seed);
	n = rig_random_switch(&rig, &rng);
	lose_switch(n);
	bring_up();
	give_switch(n);
	expect_joined("a switch has joined");
	teardown();
}

/* One that the tables know no more, as all was routed anew without it. */
static void
bring_a_switch_back(const struct join *j, uint64_t seed)
{
	uint32_t n;

	start_join(j, seed);
	n = rig_random_switch(&rig, &rng);
	bring_up();
	lose_switch(n);
	rig_settle(&rig);
	ask_for(j->engine);
	rig_settle(&rig);
	locks_fini(locks);
	locks = locks_watch(&rig);
	give_switch(n);
	expect_joined("a switch is back");
	teardown();
}

START_TEST(a_switch_joins)
{
	for (unsigned i = 0; i < n_rounds(1, 20); i++)
		join_a_switch(&joins[_i], 400 + (uint64_t)_i + 100 * i);
}
END_TEST

START_TEST(a_switch_is_back)
{
	for (unsigned i = 0; i < n_rounds(1, 20); i++)
		bring_a_switch_back(&joins[_i], 500 + (uint64_t)_i + 100 * i);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("locks");
	TCase *t = tcase_create("changes"), *joining = tcase_create("joins");

	tcase_set_timeout(t, 3000);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, another_engine_is_taken_up, 0, N_PLACES);
	tcase_add_loop_test(t, losses_come_meanwhile, 0, N_PLACES);
	tcase_add_loop_test(t, a_switch_comes, 0, 2 * N_PLACES);
	suite_add_tcase(s, t);
	tcase_set_timeout(joining, 3000);
	tcase_add_checked_fixture(joining, NULL, teardown);
	tcase_add_loop_test(joining, a_switch_joins, 0, N_JOINS);
	tcase_add_loop_test(joining, a_switch_is_back, 0, N_JOINS);
	suite_add_tcase(s, joining);
	return run_suite(s);
}
