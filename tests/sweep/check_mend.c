/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chain of which no engine can route, fallback = no: what is cut is mended all the same, the
 * plan says so, and the chain is tried again when the fabric changes.  The truth is the
 * simulator's: all hosts that have a cable reach each other by what switches hold.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fmd/engine.h>

#include "core/engine/fallback.h"
#include "core/plan/plan_cut.h"
#include "core/wire/wire.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

extern const struct fm_engine fattree_LTX_fm_engine, torus2qos_LTX_fm_engine;

static struct rig rig;
static char plan_path[64];
static bool fits; /* what `moody` thinks of the fabric */

static int
moody_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	if (!fits)
		return (host->fail)(host, err, FM_E_TOPOLOGY, "not today");
	return fallback_engine.route(host, fab, req, opts, out, err);
}

static struct fm_engine moody;

static void
setup(void)
{
	moody = fallback_engine;
	moody.name = "moody";
	moody.route = moody_route;
	fits = false;
	snprintf(plan_path, sizeof(plan_path), "check_mend.%d.tables", (int)getpid());
}

static void
teardown(void)
{
	rig_fini(&rig);
	unlink(plan_path);
}

/* fallback = no, from here on. */
static void
use_only(const struct fm_engine *engine)
{
	rig_use(&rig, engine);
	rig.chain.fallback = false;
	rig.chain.mark++;
	rig_route_anew(&rig);
	rig_let_pass(&rig, 1000);
}

static void
bring_up_then_use(const struct fm_engine *engine)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.plan_path = plan_path;
	rig_use(&rig, &fattree_LTX_fm_engine);
	rig_bring_up(&rig);
	use_only(engine);
}

static void
expect_mended(const char *engine, const char *refused)
{
	const struct plan *p = sweeper_plan(rig.sweeper);

	rig_expect_up(&rig);
	ck_assert(p->mended);
	ck_assert_str_eq(p->engine, engine);
	ck_assert_uint_eq(p->verdict.unreachable_pairs, 0);
	ck_assert_uint_eq(p->verdict.credit_loops, 0);
	ck_assert_uint_eq(p->refused.n, 1);
	ck_assert_str_eq(p->refused.item[0].engine, refused);
}

static uint32_t
node_of(const char *name)
{
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		if (strcmp(rig.nl.nodes[n].id, name) == 0)
			return n;
	ck_abort_msg("no node is called %s", name);
	return 0;
}

static void
unlink_all(const char *name, bool back)
{
	uint32_t n = node_of(name);

	for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++) {
		if (netlist_port(&rig.nl, n, p)->peer_node == NETLIST_NONE)
			continue;
		if (back)
			sim_relink(rig.sim, n, p);
		else
			sim_unlink(rig.sim, n, p);
	}
}

/* What there is is mended: a host's cable, a leaf's to a spine, a spine, and all of it is back. */
/* What passes is shorter than to the next light sweep, which would end as unchanged. */
START_TEST(what_is_cut_is_mended)
{
	static const struct {
		const char *name;
		unsigned port; /* 0: all */
	} cuts[] = { { "host-2-3", 1 }, { "leaf-2", 6 }, { "spine-2", 0 } };

	bring_up_then_use(&torus2qos_LTX_fm_engine);
	expect_mended("fattree", "torus2qos");
	ck_assert_ptr_nonnull(strstr(rig_log, "the tables of engine fattree are mended"));
	rig_log_clear();
	if (cuts[_i].port != 0)
		sim_unlink(rig.sim, node_of(cuts[_i].name), cuts[_i].port);
	else
		unlink_all(cuts[_i].name, false);
	rig_let_pass(&rig, 3000);
	expect_mended("fattree", "torus2qos");
	if (cuts[_i].port != 0)
		sim_relink(rig.sim, node_of(cuts[_i].name), cuts[_i].port);
	else
		unlink_all(cuts[_i].name, true);
	rig_let_pass(&rig, 3000);
	expect_mended("fattree", "torus2qos");
	ck_assert_ptr_null(strstr(rig_log, "are mended")); /* that is no news */
	use_only(&fattree_LTX_fm_engine);
	rig_expect_up(&rig);
	ck_assert(!sweeper_plan(rig.sweeper)->mended);
	ck_assert_ptr_nonnull(strstr(rig_log, "engine fattree routes the fabric, as configured"));
}
END_TEST

/* The engine that has routed refuses after a loss; repair is off, so up/down has to do it. */
START_TEST(where_tables_cannot_be_mended_up_down_routes)
{
	fits = true;
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	unlink_all("leaf-3", false);
	rig_use(&rig, &fattree_LTX_fm_engine);
	rig_bring_up(&rig);
	fits = false;
	use_only(&moody);
	expect_mended("fattree", "moody");
	unlink_all("leaf-3", true); /* new to these tables */
	rig_let_pass(&rig, 5000);
	expect_mended("fallback", "moody");
	ck_assert_ptr_nonnull(strstr(rig_log, "the tables of engine fattree do not serve"));
	ck_assert_uint_eq(rig.last.n_cas, 16);
}
END_TEST

START_TEST(the_chain_is_tried_again_when_the_fabric_changes)
{
	bring_up_then_use(&moody);
	expect_mended("fattree", "moody");
	fits = true;
	sim_unlink(rig.sim, node_of("leaf-2"), 6);
	rig_let_pass(&rig, 5000);
	rig_expect_up(&rig);
	ck_assert(!sweeper_plan(rig.sweeper)->mended);
	ck_assert_str_eq(sweeper_plan(rig.sweeper)->engine, "moody");
}
END_TEST

START_TEST(mended_tables_outlive_a_restart)
{
	uint64_t sets;

	bring_up_then_use(&torus2qos_LTX_fm_engine);
	expect_mended("fattree", "torus2qos");
	sim_unlink(rig.sim, node_of("leaf-2"), 6);
	rig_let_pass(&rig, 5000);
	expect_mended("fattree", "torus2qos");
	rig_stop(&rig);
	sets = sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_LFT];
	rig_start(&rig);
	rig.chain.fallback = false;
	rig_run(&rig, SWEEP_HEAVY);
	expect_mended("fattree", "torus2qos");
	ck_assert_uint_eq(sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_LFT], sets);
}
END_TEST

/* The administrator has said fallback = no: nothing is written, and it is said why. */
START_TEST(without_tables_nothing_comes_up)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig_use(&rig, &torus2qos_LTX_fm_engine);
	rig_start(&rig);
	rig.chain.fallback = false;
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_NOT_ROUTED);
	ck_assert_ptr_nonnull(strstr(rig.last.error.msg, "and fallback = no: torus2qos: "));
	ck_assert(!sweeper_is_up(rig.sweeper));
	ck_assert_uint_eq(sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_LFT], 0);
}
END_TEST

/* An engine that forgets a host at one switch. */
static int
forgetful_route(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_request *req, const void *opts, struct fm_tables *out, struct fm_error *err)
{
	int rc = fallback_engine.route(host, fab, req, opts, out, err);

	for (fm_end e = 0; rc == 0 && e < fab->n_ends; e++)
		if (strcmp(fab->end_name[e], "host-2-3") == 0)
			for (fm_sw sw = 0; sw < fab->n_switches; sw++)
				if (strcmp(fab->sw_name[sw], "leaf-1") == 0)
					out->lft[sw][fab->end_lid[e]] = FM_PORT_NONE;
	return rc;
}

START_TEST(who_is_left_out_is_named)
{
	struct plan_cut cut;

	bring_up_then_use(&moody);
	ck_assert(plan_find_cut(sweeper_plan(rig.sweeper), &cut));
	ck_assert_uint_eq(cut.ends.n, 0);
	moody.route = forgetful_route;
	use_only(&moody);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->verdict.unreachable_pairs, 4);
	ck_assert(plan_find_cut(sweeper_plan(rig.sweeper), &cut));
	ck_assert_uint_eq(cut.ends.n, 1);
	ck_assert_str_eq(
	    sweeper_plan(rig.sweeper)->snap->fab.end_name[cut.ends.item[0]], "host-2-3");
	fm_vec_fini(&cut.ends);
	moody.route = moody_route; /* what it has left out is mended, too */
	use_only(&moody);
	expect_mended("fallback", "moody");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mend");
	TCase *t = tcase_create("mend");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, what_is_cut_is_mended, 0, 3);
	tcase_add_test(t, where_tables_cannot_be_mended_up_down_routes);
	tcase_add_test(t, the_chain_is_tried_again_when_the_fabric_changes);
	tcase_add_test(t, mended_tables_outlive_a_restart);
	tcase_add_test(t, who_is_left_out_is_named);
	tcase_add_test(t, without_tables_nothing_comes_up);
	suite_add_tcase(s, t);
	return run_suite(s);
}
