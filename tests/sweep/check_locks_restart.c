/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As check_locks.c, where fmd is killed while entries are empty, or being emptied, since hosts
 * have to be told of other SLs: the one that is started after it knows what the store and the
 * kept tables say, and no more.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/store/store.h"
#include "core/wire/wire.h"
#include "lab/sim/sma.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/sweep/locks.h"

#define LOSSES_MAX 40

extern const struct fm_engine dfsssp_LTX_fm_engine, lash_LTX_fm_engine, updn_LTX_fm_engine,
    fattree_LTX_fm_engine;

static struct rig rig;
static struct locks *locks;
static struct fm_rng rng;
static char folder[FOLDER_ROOM], plan_path[64];

static const struct place {
	const char *words;
	const struct fm_engine *engine;
} places[] = {
	{ "random 16 4 1 3", &dfsssp_LTX_fm_engine }, { "random 16 4 1 5", &lash_LTX_fm_engine },
	{ "torus 5x5 1", &dfsssp_LTX_fm_engine }, /* VLs go by ports */
};
#define N_PLACES ((int)(sizeof(places) / sizeof(*places)))

static void
bring_up(const struct place *p, uint64_t seed)
{
	struct fm_error err = { 0 };

	folder_make(folder);
	snprintf(plan_path, sizeof(plan_path), "%s/tables", folder);
	ck_assert_int_eq(store_open(folder, &rig.store, &err), 0);
	rig.plan_path = plan_path;
	rig_generate(&rig.nl, p->words);
	rig_sim_overtaking(&rig, seed);
	rig_use(&rig, p->engine);
	rig_bring_up(&rig);
	fm_rng_seed(&rng, seed);
	locks = locks_watch(&rig);
}

static void
teardown(void)
{
	locks_fini(locks);
	locks = NULL;
	rig_fini(&rig);
	folder_remove(folder);
}

static uint32_t
n_told(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		if (!rig_is_switch(&rig, i))
			n += fabric_port(sim_fabric(rig.sim), i, 1)->n_reregister;
	return n;
}

static uint64_t
lft_sets(void)
{
	return sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_LFT];
}

/* Till the sweep that is asked for ends, or n blocks have been written.  True: it has ended; what
 * it asked for has begun. */
static bool
run_one_sweep(uint64_t n)
{
	uint64_t end = lft_sets() + n;
	uint32_t n_reports = rig.n_reports;
	struct fm_error err = { 0 };

	for (;;) {
		bool waits;

		sweeper_step(rig.sweeper);
		if (rig.n_reports > n_reports || lft_sets() >= end)
			return rig.n_reports > n_reports;
		waits = txn_outstanding(rig.txn) == 0;
		ck_assert_int_ge(
		    txn_poll(rig.txn, waits ? sweeper_due_ns(rig.sweeper) : INT64_MAX, &err), 0);
	}
}

static bool
leaves_entries_empty(void)
{
	return strstr(rig_log, "have empty entries until the hosts have been told") != NULL;
}

/* Cables go, and come back, until upon one entries are left empty. */
static void
lose_until_empty(void)
{
	for (unsigned i = 0; i < LOSSES_MAX; i++) {
		struct sim_place c = rig_lose_a_cable(&rig, &rng);

		rig_log_clear();
		rig_route_anew(&rig);
		ck_assert(run_one_sweep(UINT64_MAX / 2));
		if (leaves_entries_empty())
			return;
		rig_settle(&rig);
		sim_relink(rig.sim, c.node, c.port);
		rig_settle(&rig);
	}
	ck_abort_msg("upon no loss entries are left empty");
}

static void
start_over(void)
{
	struct fm_error err = { 0 };

	rig_stop(&rig);
	locks_mute(locks);
	store_close(rig.store);
	rig.store = NULL;
	ck_assert_int_eq(store_open(folder, &rig.store, &err), 0);
	rig_log_clear();
	rig_start(&rig);
}

static void
expect_no_rings(void)
{
	ck_assert_msg(locks_n_rings(locks) == 0, "%u rings in %u moments; the first %s",
	    locks_n_rings(locks), locks_n_looks(locks), locks_first(locks));
}

/* ... and who is started after that tells nobody, and writes nothing. */
static void
expect_quiet(void)
{
	uint32_t n = n_told();
	uint64_t sets;

	ck_assert(!store_untold(rig.store));
	start_over();
	sets = rig_sets(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	ck_assert_uint_eq(n_told(), n);
}

START_TEST(killed_while_entries_are_empty)
{
	bring_up(&places[_i], 100 + (uint64_t)_i);
	lose_until_empty();
	expect_no_rings();
	ck_assert(store_untold(rig.store));
	start_over();
	rig_run(&rig, SWEEP_HEAVY);
	expect_no_rings();
	rig_expect_up(&rig);
	rig_settle(&rig);
	expect_no_rings();
	expect_quiet();
}
END_TEST

/* Cables go, one after another, and each time fmd is killed on the way to the new tables. */
START_TEST(killed_while_entries_are_emptied)
{
	unsigned n_killed = 0;

	bring_up(&places[_i], 200 + (uint64_t)_i);
	for (unsigned i = 0; i < (getenv("FMD_LONG") != NULL ? 40 : 6); i++) {
		struct sim_place c = rig_lose_a_cable(&rig, &rng);

		rig_route_anew(&rig);
		run_one_sweep(1 + fm_rng_below(&rng, 20));
		if (store_untold(rig.store)) {
			n_killed++;
			start_over();
			rig_run(&rig, SWEEP_HEAVY);
			rig_expect_up(&rig);
		}
		rig_settle(&rig);
		expect_no_rings();
		sim_relink(rig.sim, c.node, c.port);
		rig_settle(&rig);
		expect_no_rings();
		rig_expect_up(&rig);
	}
	ck_assert_uint_gt(n_killed, 0);
	expect_quiet();
}
END_TEST

/* Without store and tables, as after a loss of the disk, or one that takes over: what the switches
 * hold is all that is known. */
static const struct place bare_places[] = {
	{ "torus 4x4 1", &updn_LTX_fm_engine },
	{ "random 16 4 1 7", &updn_LTX_fm_engine },
	{ "pgft 2 4,4 1,4 1,1", &fattree_LTX_fm_engine },
	{ "random 16 4 1 3", &dfsssp_LTX_fm_engine },
};
#define N_BARE_PLACES ((int)(sizeof(bare_places) / sizeof(*bare_places)))

/* A cable is lost, and sometimes one that was is back, while no fmd runs. */
START_TEST(started_over_with_nothing)
{
	const struct place *p = &bare_places[_i % N_BARE_PLACES];
	struct sim_place lost[2];

	folder_make(folder); /* for teardown() */
	rig_generate(&rig.nl, p->words);
	rig_sim_overtaking(&rig, (uint64_t)_i);
	rig_use(&rig, p->engine);
	rig_bring_up(&rig);
	fm_rng_seed(&rng, (uint64_t)_i);
	locks = locks_watch(&rig);
	for (unsigned i = 0; i < 4; i++) {
		rig_stop(&rig);
		locks_mute(locks);
		if (i % 2 == 0 || fm_rng_below(&rng, 2))
			lost[i % 2] = rig_lose_a_cable(&rig, &rng);
		if (i % 2 == 1)
			sim_relink(rig.sim, lost[0].node, lost[0].port);
		rig_log_clear();
		rig_start(&rig);
		rig_run(&rig, SWEEP_HEAVY);
		rig_settle(&rig);
		expect_no_rings();
		rig_expect_up(&rig);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("locks_restart");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 3000);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, killed_while_entries_are_empty, 0, N_PLACES);
	tcase_add_loop_test(t, killed_while_entries_are_emptied, 0, N_PLACES);
	tcase_add_loop_test(t, started_over_with_nothing, 0, n_cases(10 * N_BARE_PLACES));
	suite_add_tcase(s, t);
	return run_suite(s);
}
