/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_readback - tables are read out of switches and judged: what was changed
 * behind our back is counted, a loop is found, silence is told, what differs is written
 * again, and who gives up half-way leaves nothing behind.
 */
#include <check.h>
#include <string.h>

#include "core/daemon/readback.h"
#include "lab/sim/fabric.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

static struct rig rig;
static bool mends; /* what differs is written again */
static const struct verify_request how = { .n_vls = 8 };

static void
bring_up(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
}

static struct readback *
begin(void)
{
	struct fm_error err = { 0 };
	struct readback *r = readback_start(rig.txn, sweeper_inventory(rig.sweeper),
	    (struct plan *)(uintptr_t)sweeper_plan(rig.sweeper), &how, &err);

	ck_assert_msg(r != NULL, "%s", err.msg);
	ck_assert(!readback_is_done(r) || txn_outstanding(rig.txn) == 0);
	return r;
}

static json_t *
finish(struct readback *r)
{
	struct fm_error err = { 0 };
	json_t *o;

	ck_assert_int_eq(txn_drain(rig.txn, NULL, NULL, &err), 0);
	while (!readback_is_done(r))
		;
	if (mends)
		readback_mend(r, rig.sweeper);
	o = readback_json(r);
	ck_assert_ptr_nonnull(o);
	ck_assert_str_eq(json_string_value(json_object_get(o, "state")), "done");
	readback_free(r);
	return o;
}

static json_int_t
number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	ck_assert_msg(json_is_integer(v), "no %s", key);
	return json_integer_value(v);
}

static uint32_t
find_switch(const char *desc)
{
	uint32_t i = sim_find(rig.sim, desc);

	ck_assert_uint_ne(i, SIM_NONE);
	return i;
}

START_TEST(as_written)
{
	json_t *o;

	bring_up();
	o = finish(begin());
	ck_assert_int_eq(number(o, "entries_that_differ"), 0);
	ck_assert_int_eq(number(o, "blocks_silent"), 0);
	ck_assert_int_eq(number(o, "unreachable_pairs"), 0);
	ck_assert_int_gt(number(o, "reachable_pairs"), 200);
	ck_assert_int_eq(number(o, "blocks"), number(o, "blocks_read"));
	json_decref(o);
	rig_fini(&rig);
}
END_TEST

/* Two switches send a host's LID to each other. */
START_TEST(changed_behind_our_back)
{
	struct wire_port_info host;
	uint32_t leaf, spine, place = 0;
	unsigned up = 0;
	json_t *o;

	bring_up();
	while (rig.nl.nodes[place].type != NETLIST_CA || place == rig.place)
		place++;
	sim_port_info(rig.sim, place, 1, &host);
	leaf = netlist_port(&rig.nl, place, 1)->peer_node;
	do
		spine = netlist_port(&rig.nl, leaf, ++up)->peer_node;
	while (rig.nl.nodes[spine].type != NETLIST_SWITCH);
	sim_fabric(rig.sim)->nodes[leaf].lft.item[host.lid] = (uint8_t)up;
	o = finish(begin());
	ck_assert_int_eq(number(o, "entries_that_differ"), 1);
	ck_assert_int_eq(number(o, "switches_that_differ"), 1);
	ck_assert_int_gt(number(o, "loops"), 0);
	ck_assert_str_ne(json_string_value(json_object_get(o, "witness")), "");
	json_decref(o);
	sim_fabric(rig.sim)->nodes[leaf].lft.item[host.lid] = 255;
	o = finish(begin());
	ck_assert_int_eq(number(o, "loops"), 0);
	ck_assert_int_gt(number(o, "unreachable_pairs"), 0);
	json_decref(o);
	rig_fini(&rig);
}
END_TEST

/* What a switch has lost is written again, with no turn of the audit. */
START_TEST(what_differs_is_written)
{
	uint16_t lid;
	uint32_t spine;

	rig.set.sweep.audit_ms = 0;
	bring_up();
	lid = rig_host_lid(&rig, 5);
	spine = find_switch("spine-1");
	mends = true;
	sim_fabric(rig.sim)->nodes[spine].lft.item[lid] = 255;
	json_decref(finish(begin()));
	rig_let_pass(&rig, 1000);
	ck_assert_uint_ne(sim_lft(rig.sim, spine, lid), 255);
	ck_assert_ptr_nonnull(strstr(rig_log,
	    "holds something else than fmd has written: 1 block "
	    "of its forwarding table; it is written again"));
	rig_log_clear();
	json_decref(finish(begin()));
	rig_let_pass(&rig, 1000);
	ck_assert_str_eq(rig_log, "");
	mends = false;
	rig_fini(&rig);
}
END_TEST

START_TEST(a_silent_switch)
{
	json_t *o;

	bring_up();
	sim_silence(rig.sim, find_switch("spine-1"), true);
	o = finish(begin());
	ck_assert_int_gt(number(o, "blocks_silent"), 0);
	ck_assert_int_eq(
	    number(o, "blocks_silent") + number(o, "blocks_read"), number(o, "blocks"));
	json_decref(o);
	rig_fini(&rig);
}
END_TEST

START_TEST(given_up)
{
	struct readback *r;

	bring_up();
	r = begin();
	ck_assert_uint_gt(txn_outstanding(rig.txn), 0);
	readback_free(r);
	rig_fini(&rig); /* its requests end here */
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("readback");
	TCase *tc = tcase_create("readback");

	suite_add_tcase(s, tc);
	tcase_add_test(tc, as_written);
	tcase_add_test(tc, changed_behind_our_back);
	tcase_add_test(tc, what_differs_is_written);
	tcase_add_test(tc, a_silent_switch);
	tcase_add_test(tc, given_up);
	return run_suite(s);
}
