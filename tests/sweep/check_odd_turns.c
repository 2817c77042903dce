/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that turn up again at a leaf of a tree, and tables that are written while these are
 * still under way, or stand in the switches since a sweep that failed: legal turns, up and then
 * down, do not include them.  Each plan by itself is proven; the judge of locks.h
 * sees a ring of waiting packets where such turns are forgotten.
 *
 * Four leaves, four spines, two hosts a leaf.  All go to leaf i by spine i, but for those that
 * a test leads elsewhere.
 */
#include <check.h>
#include <string.h>

#include <fmd/engine.h>

#include "core/sweep/internal.h"
#include "tests/run.h"
#include "tests/sweep/locks.h"

/* At a switch packets for a host go on to another switch. */
struct detour {
	const char *at, *host, *to;
};
#define DETOURS_MAX 16

static struct rig rig;
static struct locks *locks;
static struct detour detours[DETOURS_MAX];
static unsigned n_detours;
static uint8_t n_vls;

static fm_sw
find_switch(const struct fm_fabric *fab, const char *name, char number)
{
	size_t n = strlen(name) - (number != '\0');

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		if (strncmp(fab->sw_name[sw], name, n) == 0 &&
		    strlen(fab->sw_name[sw]) == strlen(name) && fab->sw_name[sw][n] == number)
			return sw;
	ck_abort_msg("no switch %s", name);
	return FM_NONE;
}

static uint8_t
port_between(const struct fm_fabric *fab, fm_sw from, fm_sw to)
{
	for (fm_link l = fab->sw_first_link[from]; l < fab->sw_first_link[from + 1]; l++)
		if (fab->link_to[l] == to)
			return fab->link_port[l];
	return FM_PORT_NONE;
}

/* A spine's LIDs are reached by way of the first leaf. */
static fm_sw
next_to(const struct fm_fabric *fab, fm_sw at, fm_sw home)
{
	const char *name = fab->sw_name[home];
	bool spine = name[0] == 's';

	if (fab->sw_name[at][0] == 's')
		return spine ? find_switch(fab, "leaf-1", '1') : home;
	return spine ? home : find_switch(fab, "spine-1", name[strlen(name) - 1]);
}

static int
route_tree(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	(void)host;
	(void)req;
	(void)opts;
	(void)err;
	for (uint16_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_end end = fab->lid_end[lid];

		for (fm_sw s = 0; end != FM_NONE && s < fab->n_switches; s++)
			out->lft[s][lid] = s == fab->end_sw[end]
			    ? fab->end_port[end]
			    : port_between(fab, s, next_to(fab, s, fab->end_sw[end]));
		for (unsigned i = 0; end != FM_NONE && i < n_detours; i++)
			if (fab->end_kind[end] == FM_END_CA &&
			    strcmp(fab->end_name[end], detours[i].host) == 0) {
				fm_sw at = find_switch(fab, detours[i].at, '\0');

				out->lft[at][lid] =
				    port_between(fab, at, find_switch(fab, detours[i].to, '\0'));
			}
	}
	out->sl_shape = FM_SL_ZERO;
	out->n_vls_used = n_vls;
	return 0;
}

static const struct fm_engine engine = { .magic = FM_ABI_MAGIC,
	.abi_major = FM_ABI_MAJOR,
	.abi_minor = FM_ABI_MINOR,
	.size = sizeof(struct fm_engine),
	.option_row_size = sizeof(struct fm_option),
	.name = "detours",
	.traits = FM_PROVIDES_LFT | FM_PROVIDES_SL,
	.route = route_tree };

static void
lead(const char *at, const char *host, const char *to)
{
	ck_assert_uint_lt(n_detours, DETOURS_MAX);
	detours[n_detours++] = (struct detour){ at, host, to };
}

static void
bring_up(uint64_t seed)
{
	rig_generate(&rig.nl, "pgft 2 2,4 1,4 1,1");
	rig_sim_overtaking(&rig, seed);
	rig_use(&rig, &engine);
	rig.set.transition.drain = PLAN_DRAIN_ALWAYS;
	rig_bring_up(&rig);
	locks = locks_watch(&rig);
}

static void
setup(void)
{
	n_detours = 0;
	n_vls = 1;
}

static void
teardown(void)
{
	locks_fini(locks);
	locks = NULL;
	rig_fini(&rig);
}

static void
expect_no_rings(void)
{
	rig_run(&rig, SWEEP_HEAVY);
	rig_let_pass(&rig, 3000);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_str_eq(sweeper_plan(rig.sweeper)->engine, "detours");
	ck_assert_msg(locks_n_rings(locks) == 0, "%u rings in %u moments", locks_n_rings(locks),
	    locks_n_looks(locks));
	ck_assert_uint_gt(locks_n_looks(locks), 0);
}

/* host-3-1 by leaf 1, spine 1, leaf 2, spine 2: one turn up at a leaf. */
static void
lead_third_round(void)
{
	lead("leaf-1", "host-3-1", "spine-1");
	lead("spine-1", "host-3-1", "leaf-2");
	lead("leaf-2", "host-3-1", "spine-2");
}

/* To the hosts of leaf 4 from spine 2 by leaf 1: the one by way of spine 3 first and spine 1
 * then, so to say, and the other way about.  Whatever is written first, at spine 2 or at leaf 1,
 * packets for one of them go from spine 2 to leaf 1 and spine 1. */
static void
lead_fourth_before(void)
{
	lead("leaf-2", "host-4-1", "spine-2");
	lead("leaf-2", "host-4-2", "spine-2");
	lead("leaf-1", "host-4-1", "spine-1");
	lead("leaf-1", "host-4-2", "spine-3");
	lead("spine-2", "host-4-2", "leaf-1");
}

static void
lead_fourth_after(void)
{
	lead("leaf-2", "host-4-1", "spine-2");
	lead("leaf-2", "host-4-2", "spine-2");
	lead("leaf-1", "host-4-1", "spine-3");
	lead("leaf-1", "host-4-2", "spine-1");
	lead("spine-2", "host-4-1", "leaf-1");
}

/* So many blocks are written, and nothing else is. */
static void
run_to_written(unsigned n)
{
	const struct sweeper *s = rig.sweeper;
	struct fm_error err = { 0 };

	do {
		sweeper_step(rig.sweeper);
		ck_assert_int_ge(txn_poll(rig.txn, sim_now_ns(rig.sim) + 1000, &err), 0);
		ck_assert(!sweeper_idle(s));
	} while (s->writing.transition == NULL ||
	    transition_counts(s->writing.transition)->writes < n || s->run.pending > 0);
}

/* All is written and then the sweep fails: what it has written is in the switches, and the plan
 * does not have it. */
START_TEST(turns_of_a_sweep_that_has_failed)
{
	lead_fourth_before();
	bring_up(100 + (uint64_t)_i);
	lead_third_round();
	rig_route_anew(&rig);
	run_to_written(3); /* of leaf 1, spine 1, leaf 2 */
	sweep_fail(rig.sweeper, FM_E_RESOURCE, "out of memory, says a test");
	rig_run(&rig, SWEEP_NONE);
	ck_assert_int_eq(rig.last.outcome, SWEEP_FAILED);
	ck_assert_uint_gt(rig.sweeper->writing.unwritten.n, 0);
	rig_let_pass(&rig, 3000);
	n_detours = 0;
	lead_third_round();
	lead_fourth_after();
	rig_route_anew(&rig);
	expect_no_rings();
}
END_TEST

/* ... what it has written over is under way still. */
START_TEST(turns_written_over_by_a_sweep_that_has_failed)
{
	lead_third_round();
	lead_fourth_before();
	bring_up(400 + (uint64_t)_i);
	n_detours = 0;
	lead_fourth_before();
	rig_route_anew(&rig);
	run_to_written(3);
	sweep_fail(rig.sweeper, FM_E_RESOURCE, "out of memory, says a test");
	rig_run(&rig, SWEEP_NONE);
	ck_assert_int_eq(rig.last.outcome, SWEEP_FAILED);
	n_detours = 0;
	lead_fourth_after();
	rig_route_anew(&rig);
	expect_no_rings();
}
END_TEST

/* ... or is over, and its packets are under way. */
START_TEST(turns_of_packets_under_way)
{
	lead_third_round();
	lead_fourth_before();
	bring_up(200 + (uint64_t)_i);
	n_detours = 0;
	lead_fourth_before();
	rig_route_anew(&rig);
	rig_run_to_wait(&rig);
	n_detours = 0;
	lead_fourth_after();
	rig_route_anew(&rig);
	expect_no_rings();
}
END_TEST

/* Two turns up at leaves that do not go together with all turns down, but with those there are.
 * When they have been taken back a turn down is added that does not go together with them.  With
 * a VL more before, what all LIDs depend on is not counted, and levels have the say. */
START_TEST(turns_that_levels_did_not_know)
{
	lead("leaf-4", "host-3-1", "spine-1");
	lead("spine-1", "host-3-1", "leaf-2");
	lead("leaf-2", "host-3-1", "spine-2");
	lead("leaf-3", "host-4-1", "spine-2");
	lead("spine-2", "host-4-1", "leaf-1");
	lead("leaf-1", "host-4-1", "spine-1");
	lead("leaf-2", "host-1-2", "spine-2");
	n_vls = 1 + _i % 2;
	bring_up(300 + (uint64_t)_i);
	n_detours = 0;
	n_vls = 1;
	lead("leaf-2", "host-1-2", "spine-2");
	rig_route_anew(&rig);
	rig_run_to_wait(&rig);
	lead("leaf-4", "host-2-2", "spine-1"); /* who comes between makes no difference */
	if (_i >= 2) {
		rig_route_anew(&rig);
		rig_run_to_wait(&rig);
	}
	lead("leaf-1", "host-2-1", "spine-1");
	rig_route_anew(&rig);
	expect_no_rings();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("odd turns");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, turns_of_a_sweep_that_has_failed, 0, 4);
	tcase_add_loop_test(t, turns_written_over_by_a_sweep_that_has_failed, 0, 4);
	tcase_add_loop_test(t, turns_of_packets_under_way, 0, 4);
	tcase_add_loop_test(t, turns_that_levels_did_not_know, 0, 4);
	suite_add_tcase(s, t);
	return run_suite(s);
}
