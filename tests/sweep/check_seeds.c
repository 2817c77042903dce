/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hundred seeds of loss, duplicates and reordering: the subnet comes up
 * whole.  With corrupted answers on top it ends.
 */
#include <check.h>
#include <stdlib.h>

#include "tests/run.h"
#include "tests/sweep/rig.h"

#define N_SEEDS 100
#define N_CORRUPT 40

static struct rig rig;

static void
teardown(void)
{
	rig_fini(&rig);
}

static const char *const fabrics[] = { "pgft 2 2,4 1,2 1,1", "torus 3x2x2 1", "random 6 3 12 3",
	"dragonfly 2 1 1", "pgft 3 2,2,2 1,2,2 1,1,2" };
static const double losses[] = { 0.01, 0.1, 0.3 };
static const double dups[] = { 0, 0.02, 0.2, 0.5 };

/* Every pair of loss and duplication occurs on every fabric. */
static void
place(unsigned seed, struct sim_options *o)
{
	sim_options_default(o);
	o->seed = 1000 + seed;
	o->loss = losses[seed % 3];
	o->dup = dups[seed % 4];
	o->delay_max_ns =
	    seed % 2 ? 2000000 : 50000; /* one SMP takes microseconds: they overtake */
	o->strict = seed % 7 == 0;
	rig_generate(&rig.nl, fabrics[seed % 5]);
	rig_sim(&rig, o);
	rig_start(&rig);
}

static void
expect_whole(void)
{
	if (rig.last.outcome == SWEEP_UNCHANGED)
		rig.last.outcome = SWEEP_UP; /* of a sweep before */
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_cas + rig.last.n_switches, rig.nl.n_nodes);
	ck_assert_uint_eq(rig.last.n_silent, 0);
	ck_assert_uint_eq(rig.last.n_ports_not_active, 0);
}

START_TEST(test_seed)
{
	struct sim_options o;

	place((unsigned)_i, &o);
	rig_run(&rig, SWEEP_HEAVY);
	for (unsigned i = 0; i < 2 && sweeper_todo(rig.sweeper)->n > 0; i++) {
		rig_let_pass(&rig, 3000); /* what was lost again and again is tried once more */
		rig_run(&rig, SWEEP_LIGHT);
	}
	expect_whole();
	ck_assert_uint_gt(sim_counts(rig.sim)->lost + sim_counts(rig.sim)->doubled, 0);
	if (o.loss > 0.01)
		ck_assert_uint_gt(rig.n_again, 0);
}
END_TEST

START_TEST(test_corrupted)
{
	struct sim_options o;

	place((unsigned)_i, &o);
	rig_stop(&rig);
	sim_free(rig.sim);
	o.corrupt = _i % 2 ? 0.02 : 0.3;
	rig_sim(&rig, &o);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY); /* ends, one way or another */
	ck_assert_uint_ge(rig.n_reports, 1);
	ck_assert_uint_gt(sim_counts(rig.sim)->corrupted + sim_counts(rig.sim)->lost, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("seeds");
	TCase *t = tcase_create("seeds");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, test_seed, 0, N_SEEDS);
	tcase_add_loop_test(t, test_corrupted, 0, N_CORRUPT);
	suite_add_tcase(s, t);
	return run_suite(s);
}
