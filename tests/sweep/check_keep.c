/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables that are kept: hosts that reboot, leaves that go and come back, new
 * hosts, LIDs that stay away.  What counts is what reaches the switches.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/sweep/well.h"
#include "core/wire/wire.h"
#include "lib/hash.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

#define HOUR_NS INT64_C(3600000000000)

extern const struct fm_engine dfsssp_LTX_fm_engine, lash_LTX_fm_engine, updn_LTX_fm_engine;

static struct rig rig;
static uint64_t lft_sets_before;

static void
teardown(void)
{
	rig_fini(&rig);
}

static const char *const fabrics[] = { "pgft 2 8,8 1,4 1,1", "torus 4x4 5", "random 16 4 5 3" };
#define N_FABRICS (sizeof(fabrics) / sizeof(*fabrics))

static void
prepare(const char *words)
{
	rig_generate(&rig.nl, words);
	rig_sim(&rig, NULL);
	rig_start(&rig);
}

static uint32_t
last_host(void)
{
	uint32_t n = rig.nl.n_nodes;

	while (rig.nl.nodes[--n].type != NETLIST_CA)
		ck_assert_uint_ne(n, 0);
	ck_assert_uint_ne(n, rig.place);
	return n;
}

static uint32_t
switch_of(uint32_t host)
{
	return netlist_port(&rig.nl, host, 1)->peer_node;
}

static uint64_t
lft_sets(void)
{
	return sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_LFT];
}

/* LFT blocks written since the last settle(). */
static uint64_t
written(void)
{
	return lft_sets() - lft_sets_before;
}

static bool
is_kept(void)
{
	return sweeper_plan(rig.sweeper)->made == PLAN_KEPT;
}

/* What the traps have asked for is done. */
static void
settle(void)
{
	lft_sets_before = lft_sets();
	rig.n_reports = 0;
	rig_let_pass(&rig, 3000);
	ck_assert_uint_ge(rig.n_reports, 1);
	rig.last.outcome = rig.last.outcome == SWEEP_UNCHANGED ? SWEEP_UP : rig.last.outcome;
	rig_expect_up(&rig);
}

START_TEST(a_host_that_reboots_changes_nothing)
{
	uint32_t host;

	prepare(fabrics[_i]);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert(!is_kept());
	host = last_host();
	sim_unlink(rig.sim, host, 1);
	settle();
	ck_assert(is_kept());
	ck_assert_uint_eq(written(), 0);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->absent.n, 1);
	sim_relink(rig.sim, host, 1);
	settle();
	ck_assert(is_kept());
	ck_assert_uint_eq(written(), 0);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->absent.n, 0);
}
END_TEST

/* All LFT entries in the switches but in one. */
static uint64_t
tables_but_in(uint32_t leaf)
{
	uint64_t h = 1;

	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (unsigned lid = 1; rig.nl.nodes[n].type == NETLIST_SWITCH && n != leaf &&
		     lid <= sweeper_plan(rig.sweeper)->top_lid;
		     lid++)
			h = fm_mix64(h ^ sim_lft(rig.sim, n, (uint16_t)lid));
	return h;
}

START_TEST(a_leaf_that_reboots_is_written_and_no_other_switch)
{
	uint32_t leaf, n_blocks;
	uint64_t before;

	prepare("pgft 2 8,8 1,4 1,1");
	rig_run(&rig, SWEEP_HEAVY);
	leaf = switch_of(last_host());
	before = tables_but_in(leaf);
	n_blocks = sweeper_plan(rig.sweeper)->top_lid / 64 + 1u;
	sim_reboot(rig.sim, leaf, INT64_C(20000000000));
	settle();
	ck_assert(is_kept());
	ck_assert_uint_eq(written(), 0);
	ck_assert_uint_eq(rig.last.n_switches, 11);
	ck_assert_uint_eq(rig.last.n_cas, 56);
	rig_let_pass(&rig, 15000);
	settle();
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig.last.n_switches, 12);
	ck_assert_uint_eq(rig.last.n_cas, 64);
	ck_assert(is_kept());
	ck_assert_uint_eq(tables_but_in(leaf), before);
	ck_assert_uint_le(written(), n_blocks);
}
END_TEST

START_TEST(a_new_host_costs_a_block_per_switch)
{
	uint32_t host, n_switches;

	prepare(fabrics[_i]);
	host = last_host();
	sim_unlink(rig.sim, host, 1);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	n_switches = rig.last.n_switches;
	sim_relink(rig.sim, host, 1);
	settle();
	ck_assert(is_kept());
	ck_assert_uint_gt(written(), 0);
	ck_assert_uint_le(written(), n_switches);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->n_joined, 1);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->verdict.unreachable_pairs, 0);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->verdict.credit_loops, 0);
}
END_TEST

/* Who stays away is taken out, in a pass that a light sweep starts. */
START_TEST(a_host_that_stays_away_is_dropped)
{
	struct wire_port_info info;
	uint32_t host;

	prepare("pgft 2 8,8 1,4 1,1");
	rig_run(&rig, SWEEP_HEAVY);
	host = last_host();
	sim_port_info(rig.sim, host, 1, &info);
	sim_unlink(rig.sim, host, 1);
	settle();
	ck_assert_uint_ne(sim_lft(rig.sim, switch_of(rig.place), info.lid), 255);
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UNCHANGED);
	sim_run(rig.sim, sim_now_ns(rig.sim) + HOUR_NS);
	lft_sets_before = lft_sets();
	rig_run(&rig, SWEEP_LIGHT);
	rig_expect_up(&rig);
	ck_assert(is_kept());
	ck_assert_uint_eq(written(), 12); /* a block per switch */
	ck_assert_uint_eq(sim_lft(rig.sim, switch_of(rig.place), info.lid), 255);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->absent.n, 0);
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UNCHANGED);
	sim_relink(rig.sim, host, 1);
	settle();
	ck_assert(is_kept());
}
END_TEST

START_TEST(a_lost_cable_that_carries_traffic_is_routed_round)
{
	uint32_t leaf;

	prepare("pgft 2 8,8 1,4 1,1");
	rig_run(&rig, SWEEP_HEAVY);
	leaf = switch_of(last_host());
	for (unsigned p = 1; p <= rig.nl.nodes[leaf].n_ports; p++) {
		uint32_t far = netlist_port(&rig.nl, leaf, p)->peer_node;

		if (far != NETLIST_NONE && rig.nl.nodes[far].type == NETLIST_SWITCH) {
			sim_unlink(rig.sim, leaf, p);
			break;
		}
	}
	rig.n_new_plans = 0;
	settle();
	ck_assert_uint_gt(rig.n_new_plans, 0);
	ck_assert_uint_gt(written(), 0);
}
END_TEST

/* Power comes on: hosts one after the other, balanced in the end. */
START_TEST(first_hosts_of_a_leaf_are_routed_anew)
{
	prepare("pgft 2 8,8 1,4 1,1");
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		if (rig.nl.nodes[n].type == NETLIST_CA && switch_of(n) != switch_of(rig.place))
			sim_unlink(rig.sim, n, 1);
	rig_run(&rig, SWEEP_HEAVY);
	sim_relink(rig.sim, last_host(), 1);
	settle();
	ck_assert(!is_kept());
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		if (rig.nl.nodes[n].type == NETLIST_CA)
			sim_relink(rig.sim, n, 1);
	settle();
	ck_assert_uint_eq(rig.last.n_cas, 64);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->n_joined, 0);
}
END_TEST

/* ---------------------------------------------------------------- restart */

static char plan_path[64];

static void
start_over(void)
{
	rig_stop(&rig);
	rig_log_clear();
	rig_start(&rig);
	lft_sets_before = lft_sets();
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
}

/* Up with a host on a copied column, which no engine would give again. */
static void
bring_up_kept(const char *words)
{
	uint32_t host;

	snprintf(plan_path, sizeof(plan_path), "/tmp/fmd-check-tables-XXXXXX");
	ck_assert_int_ge(close(mkstemp(plan_path)), 0);
	unlink(plan_path);
	rig.plan_path = plan_path;
	rig_generate(&rig.nl, words);
	rig_sim(&rig, NULL);
	host = last_host();
	sim_unlink(rig.sim, host, 1);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	sim_relink(rig.sim, host, 1);
	settle();
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->n_joined, 1);
	ck_assert_int_eq(access(plan_path, R_OK), 0);
}

static void
remove_kept(void)
{
	char bad[80];

	snprintf(bad, sizeof(bad), "%s.bad", plan_path);
	unlink(plan_path);
	unlink(bad);
	rig_fini(&rig);
}

START_TEST(after_a_restart_no_engine_runs)
{
	bring_up_kept(fabrics[_i]);
	start_over();
	ck_assert(is_kept());
	ck_assert_uint_eq(written(), 0);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->n_joined, 1);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->verdict.unreachable_pairs, 0);
	ck_assert_uint_gt(sweeper_plan(rig.sweeper)->verdict.reachable_pairs, 0);
}
END_TEST

START_TEST(after_a_restart_an_absent_host_still_lingers)
{
	bring_up_kept(fabrics[0]);
	sim_unlink(rig.sim, last_host(), 1);
	settle();
	start_over();
	ck_assert(is_kept());
	ck_assert_uint_eq(written(), 0);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->absent.n, 1);
}
END_TEST

static void
lose_a_cable_of(uint32_t leaf)
{
	for (unsigned p = 1; p <= rig.nl.nodes[leaf].n_ports; p++) {
		uint32_t far = netlist_port(&rig.nl, leaf, p)->peer_node;

		if (far != NETLIST_NONE && rig_is_switch(&rig, far)) {
			sim_unlink(rig.sim, leaf, p);
			return;
		}
	}
}

START_TEST(another_fabric_or_chain_is_routed)
{
	uint32_t n_routed;

	bring_up_kept(fabrics[0]);
	rig.chain.mark++;
	start_over();
	ck_assert(!is_kept());
	rig.chain.mark--;
	lose_a_cable_of(switch_of(last_host()));
	n_routed = rig.n_new_plans;
	start_over(); /* the trap that comes meanwhile may break its writing off */
	ck_assert_uint_gt(rig.n_new_plans, n_routed);
	ck_assert_ptr_null(strstr(rig_log, "kept tables"));
}
END_TEST

/* A chain that waits for "fmctl drain": what is kept meanwhile is of the one before. */
START_TEST(what_waits_for_a_drain_comes_with_a_restart)
{
	rig_use(&rig, &dfsssp_LTX_fm_engine);
	bring_up_kept("random 16 4 20 3");
	rig_use(&rig, &lash_LTX_fm_engine);
	rig.chain.mark++;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_str_eq(rig.last.engine, "dfsssp");
	ck_assert_ptr_nonnull(strstr(rig_log, "are not taken up"));
	lose_a_cable_of(switch_of(last_host()));
	settle();
	ck_assert_str_eq(rig.last.engine, "dfsssp"); /* repaired, and kept */
	start_over();
	ck_assert_str_eq(rig.last.engine, "lash");
}
END_TEST

/* Found tables that have to be emptied lead to what the chain says: nothing waits for it. */
static const struct {
	const char *words;
	const struct fm_engine *was, *is;
} taken_over[] = {
	{ "torus 4x4 2", &updn_LTX_fm_engine, &lash_LTX_fm_engine },
	{ "torus 4x4 2", &lash_LTX_fm_engine, &updn_LTX_fm_engine },
	{ "random 16 4 5 3", &updn_LTX_fm_engine, &lash_LTX_fm_engine },
};
#define N_TAKEN_OVER (int)(sizeof(taken_over) / sizeof(*taken_over))

START_TEST(tables_of_another_sm_are_one_story)
{
	rig_use(&rig, taken_over[_i].was);
	prepare(taken_over[_i].words);
	rig_run(&rig, SWEEP_HEAVY);
	rig_use(&rig, taken_over[_i].is);
	start_over();
	ck_assert_ptr_nonnull(strstr(rig_log, "LIDs are emptied for"));
	ck_assert_ptr_null(strstr(rig_log, "are not taken up"));
	ck_assert_str_eq(sweeper_plan(rig.sweeper)->change.waiting, "");
	ck_assert_str_eq(rig.last.engine, rig.entry.engine->name);
	rig_let_pass(&rig, 3000);
	ck_assert(sweeper_is_well(rig.sweeper));
}
END_TEST

enum harm { TRUNCATED, ONE_BIT, EMPTIED, FOREIGN, N_HARMS };

static void
harm_file(enum harm harm)
{
	FILE *f = fopen(plan_path, "r+");
	long n;

	ck_assert_ptr_nonnull(f);
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	if (harm == TRUNCATED)
		ck_assert_int_eq(ftruncate(fileno(f), n - 1), 0);
	if (harm == EMPTIED)
		ck_assert_int_eq(ftruncate(fileno(f), 0), 0);
	fseek(f, harm == FOREIGN ? 0 : n / 2, SEEK_SET);
	if (harm == ONE_BIT || harm == FOREIGN) {
		int c = fgetc(f);

		fseek(f, -1, SEEK_CUR);
		fputc(c ^ 4, f);
	}
	fclose(f);
}

START_TEST(a_damaged_file_is_set_aside)
{
	char bad[80];

	bring_up_kept(fabrics[0]);
	harm_file((enum harm)_i);
	start_over();
	ck_assert(!is_kept());
	ck_assert_ptr_nonnull(strstr(rig_log, "set aside"));
	snprintf(bad, sizeof(bad), "%s.bad", plan_path);
	ck_assert_int_eq(access(bad, R_OK), 0);
	start_over(); /* and what was written since is good */
	ck_assert(is_kept());
}
END_TEST

static TCase *
restarts(void)
{
	TCase *t = tcase_create("restarts");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, remove_kept);
	tcase_add_loop_test(t, after_a_restart_no_engine_runs, 0, N_FABRICS);
	tcase_add_test(t, after_a_restart_an_absent_host_still_lingers);
	tcase_add_test(t, another_fabric_or_chain_is_routed);
	tcase_add_test(t, what_waits_for_a_drain_comes_with_a_restart);
	tcase_add_loop_test(t, a_damaged_file_is_set_aside, 0, N_HARMS);
	return t;
}

static Suite *
suite(void)
{
	Suite *s = suite_create("keep");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, a_host_that_reboots_changes_nothing, 0, N_FABRICS);
	tcase_add_test(t, a_leaf_that_reboots_is_written_and_no_other_switch);
	tcase_add_loop_test(t, a_new_host_costs_a_block_per_switch, 0, N_FABRICS);
	tcase_add_test(t, a_host_that_stays_away_is_dropped);
	tcase_add_test(t, a_lost_cable_that_carries_traffic_is_routed_round);
	tcase_add_test(t, first_hosts_of_a_leaf_are_routed_anew);
	tcase_add_loop_test(t, tables_of_another_sm_are_one_story, 0, N_TAKEN_OVER);
	suite_add_tcase(s, t);
	suite_add_tcase(s, restarts());
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
