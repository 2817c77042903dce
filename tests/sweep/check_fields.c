/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The field table, row by row: what a port or switch of the simulated fabric
 * holds after bring-up is what the row says, for each kind of port; and a
 * port spoilt in one field is put right by one Set.
 *
 * The expected values are written here again, by name, so that a row that
 * vanishes or changes its meaning is noticed.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/inventory/fields.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

static struct rig rig;

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
	rig.set.m_key.key = 0x1122334455667788;
	rig.set.m_key.lease_period_s = 60;
	rig.set.addresses.subnet_prefix = UINT64_C(0xfec0000000000001);
	rig.set.ports.subnet_timeout = 17;
	rig.set.ports.head_of_queue_lifetime = 13;
	rig.set.ports.leaf_head_of_queue_lifetime = 12;
	rig.set.ports.vl_stall_count = 5;
	rig.set.ports.leaf_vl_stall_count = 4;
	rig.set.ports.local_phy_errors_threshold = 7;
	rig.set.ports.overrun_errors_threshold = 6;
	rig.set.ports.packet_life_time = 15;
	rig.set.ports.max_op_vls = 2; /* 4 data VLs */
	rig.set.addresses.lmc = 1;
	rig.set.sm.sl = 2;
	rig_bring_up(&rig);
}

static void
teardown(void)
{
	rig_fini(&rig);
}

/* Row, where, value; -1: not one constant, looked at below. */
static const struct expectation {
	const char *name;
	int64_t ca, port0, host_side, trunk;
} expectations[] = {
	{ "M_Key", 0x1122334455667788, 0x1122334455667788, -1, -1 },
	{ "GidPrefix", (int64_t)UINT64_C(0xfec0000000000001), (int64_t)UINT64_C(0xfec0000000000001),
	    -1, -1 },
	{ "LID", -1, -1, -1, -1 },
	{ "MasterSMLID", -1, -1, -1, -1 },
	{ "M_KeyLeasePeriod", 60, 60, -1, -1 },
	{ "M_KeyProtectBits", 0, 0, -1, -1 },
	{ "LMC", 1, 0, -1, -1 },
	{ "MasterSMSL", 2, 2, -1, -1 },
	{ "SubnetTimeOut", 17, 17, -1, -1 },
	{ "ClientReregister", -1, -1, -1, -1 },
	{ "NeighborMTU", -1, -1, -1, -1 },
	{ "OperationalVLs", 3, -1, 3, 3 },
	{ "VLHighLimit", -1, -1, -1, -1 },
	{ "HOQLife", -1, -1, 12, 13 },
	{ "VLStallCount", -1, -1, 4, 5 },
	{ "PartitionEnforcementInbound", -1, -1, 0, 0 },
	{ "PartitionEnforcementOutbound", -1, -1, 0, 0 },
	{ "LocalPhyErrors", 7, -1, 7, 7 },
	{ "OverrunErrors", 6, -1, 6, 6 },
	{ "LinkWidthEnabled", 3, -1, 3, 3 },
	{ "LinkSpeedEnabled", 7, -1, 7, 7 },
	{ "LinkSpeedExtEnabled", -1, -1, -1, -1 },
	{ "LinkDownDefaultState", 2, -1, 2, 2 },
	{ "PortState", WIRE_PORT_ACTIVE, -1, WIRE_PORT_ACTIVE, WIRE_PORT_ACTIVE },
	{ "LinearFDBTop", -1, -1, -1, -1 },
	{ "MulticastFDBTop", -1, -1, -1, -1 },
	{ "LifeTimeValue", -1, -1, -1, -1 },
};

START_TEST(test_every_row_is_expected)
{
	ck_assert_uint_eq(n_field_rows, sizeof(expectations) / sizeof(expectations[0]));
	for (unsigned i = 0; i < n_field_rows; i++) {
		ck_assert_str_eq(field_rows[i].name, expectations[i].name);
		ck_assert_ptr_nonnull(field_rows[i].iba);
		ck_assert_ptr_nonnull(field_rows[i].value);
		ck_assert_uint_ne(field_rows[i].where, 0);
	}
}
END_TEST

static const struct netlist_port *
peer_of(uint32_t node, unsigned port)
{
	return netlist_port(&rig.nl, node, port);
}

static bool
is_host(uint32_t node)
{
	return rig.nl.nodes[node].type != NETLIST_SWITCH;
}

START_TEST(test_ports)
{
	const struct field_row *row = &field_rows[_i];
	const struct expectation *e = &expectations[_i];

	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (unsigned p = is_host(n) ? 1 : 0; p <= rig.nl.nodes[n].n_ports; p++) {
			struct wire_port_info info;
			int64_t want;

			if (p > 0 && peer_of(n, p)->peer_node == NETLIST_NONE)
				continue;
			want = is_host(n)			? e->ca
			    : p == 0				? e->port0
			    : is_host(peer_of(n, p)->peer_node) ? e->host_side
								: e->trunk;
			if (want == -1)
				continue;
			sim_port_info(rig.sim, n, p, &info);
			ck_assert_msg(field_get(row, &info) == (uint64_t)want,
			    "%s of node %u port %u is 0x%lx, not 0x%lx", row->name, n, p,
			    (unsigned long)field_get(row, &info), (unsigned long)want);
		}
}
END_TEST

/* What depends on others: LIDs, the SM's LID, MTUs of both ends. */
START_TEST(test_relations)
{
	struct wire_port_info sm;
	uint8_t lids[49152] = { 0 };

	sim_port_info(rig.sim, rig.place, rig.port, &sm);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
		struct wire_port_info info, far;
		unsigned p = is_host(n) ? 1 : 0;

		sim_port_info(rig.sim, n, p, &info);
		ck_assert_uint_eq(info.master_sm_lid, sm.lid);
		ck_assert_uint_gt(info.lid, 0);
		for (unsigned i = 0; i < 1u << info.lmc; i++)
			ck_assert_uint_eq(lids[info.lid + i]++, 0);
		for (p = 1; p <= rig.nl.nodes[n].n_ports; p++) {
			if (peer_of(n, p)->peer_node == NETLIST_NONE)
				continue;
			sim_port_info(rig.sim, n, p, &info);
			sim_port_info(
			    rig.sim, peer_of(n, p)->peer_node, peer_of(n, p)->peer_port, &far);
			ck_assert_uint_eq(info.neighbor_mtu, far.neighbor_mtu);
			ck_assert_uint_eq(info.neighbor_mtu,
			    info.mtu_cap < far.mtu_cap ? info.mtu_cap : far.mtu_cap);
		}
	}
}
END_TEST

START_TEST(test_switches)
{
	const struct inventory *inv = sweeper_inventory(rig.sweeper);

	rig_run(&rig, SWEEP_HEAVY); /* reads back what is there */
	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		if (!inv_is_switch(n))
			continue;
		ck_assert_uint_eq(
		    n->sw.linear_fdb_top, sweeper_plan(rig.sweeper)->snap->fab.max_lid);
		ck_assert_uint_eq(n->sw.life_time_value, 15);
		ck_assert_uint_eq(n->sw.port_state_change, 0);
	}
}
END_TEST

/* A CA that another SM held in use is told to register again, once. */
START_TEST(test_reregister)
{
	struct wire_port_info info = { .capability_mask = 1u << 25,
		.port_state = WIRE_PORT_ACTIVE,
		.lid = 9,
		.master_sm_lid = 77 };
	struct inv_port port = { .lid = 9 };
	struct field_context c = { .set = &rig.set, .port = &port, .sm_lid = 5 };
	unsigned row = 0;

	while (strcmp(field_rows[row].name, "ClientReregister") != 0)
		row++;
	port.info = info;
	ck_assert_uint_eq(field_rows[row].want(&c, 0), 1);
	port.registration = REG_ASKED;
	ck_assert_uint_eq(field_rows[row].want(&c, 0), 0);
	port.registration = REG_NONE;
	port.info.master_sm_lid = 5;
	ck_assert_uint_eq(field_rows[row].want(&c, 0), 0);
	c.lost = true; /* it was ours, but we know nothing of it any more */
	ck_assert_uint_eq(field_rows[row].want(&c, 0), 1);
	c.lost = false;
	port.info.master_sm_lid = 77;
	port.info.port_state = WIRE_PORT_INIT;
	ck_assert_uint_eq(field_rows[row].want(&c, 0), 0);
	port.info.port_state = WIRE_PORT_ACTIVE;
	port.info.capability_mask = 0;
	ck_assert_uint_eq(field_rows[row].want(&c, 0), 0);
}
END_TEST

/* What a port does not take is noticed, by row. */
START_TEST(test_refused_rows)
{
	struct wire_port_info sent = { .hoq_life = 12, .subnet_timeout = 17 }, got = sent;

	got.hoq_life = 3;
	for (unsigned i = 0; i < n_field_rows; i++) {
		uint32_t refused = fields_refused(UINT32_C(1) << i, &sent, &got);

		ck_assert_uint_eq(refused != 0, strcmp(field_rows[i].name, "HOQLife") == 0);
	}
}
END_TEST

/* A threshold alone is no reason for a Set, along with another row or
 * insisted on it goes. */
START_TEST(test_riding_rows)
{
	const struct inv_node sw = { .type = WIRE_NODE_SWITCH };
	struct inv_port peer = { .known = true };
	struct inv_port port = { .info = { .port_state = WIRE_PORT_ACTIVE,
				     .hoq_life = rig.set.ports.head_of_queue_lifetime,
				     .vl_stall_count = rig.set.ports.vl_stall_count,
				     .down_default_state = 2 } };
	struct field_context c = {
		.set = &rig.set, .node = &sw, .port = &port, .peer = &peer, .peer_node = &sw
	};
	struct wire_port_info info = port.info;

	ck_assert_uint_eq(fields_apply(&c, FIELD_SW_PORT, 0, &info), 0);
	ck_assert_uint_eq(info.local_phys_errors, 0);
	port.info.hoq_life = info.hoq_life = 1;
	ck_assert_uint_ne(fields_apply(&c, FIELD_SW_PORT, 0, &info), 0);
	ck_assert_uint_eq(info.local_phys_errors, rig.set.ports.local_phy_errors_threshold);
	ck_assert_uint_eq(info.overrun_errors, rig.set.ports.overrun_errors_threshold);
	port.info.hoq_life = rig.set.ports.head_of_queue_lifetime;
	info = port.info;
	c.insist = true;
	ck_assert_uint_ne(fields_apply(&c, FIELD_SW_PORT, 0, &info), 0);
	ck_assert_uint_eq(info.local_phys_errors, rig.set.ports.local_phy_errors_threshold);
}
END_TEST

/* --------------------------------------------------- widths and speeds asked for */

static void
set_up_forced(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, NULL);
}

static void
spoil(uint32_t node, unsigned port, void (*how)(struct wire_port_info *i))
{
	struct sim_port *p = fabric_port(sim_fabric(rig.sim), node, port);
	struct wire_port_info info;

	wire_port_info_get(p->info, &info);
	how(&info);
	wire_port_info_put(p->info, &info);
}

/* All cabled ports have these enabled; 0: as the port supports. */
static void
expect_enabled(uint8_t width, uint8_t speed, uint8_t ext)
{
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++) {
			struct wire_port_info i;

			if (peer_of(n, p)->peer_node == NETLIST_NONE)
				continue;
			sim_port_info(rig.sim, n, p, &i);
			ck_assert_uint_eq(
			    i.link_width_enabled, width != 0 ? width : i.link_width_supported);
			ck_assert_uint_eq(
			    i.link_speed_enabled, speed != 0 ? speed : i.link_speed_supported);
			ck_assert_uint_eq(
			    i.link_speed_ext_enabled, ext != 0 ? ext : i.link_speed_ext_supported);
		}
}

START_TEST(test_forced_is_written_once)
{
	uint64_t sets;

	rig.set.ports.force_link_width = 2;	/* 4x */
	rig.set.ports.force_link_speed = 5;	/* SDR, QDR */
	rig.set.ports.force_link_speed_ext = 3; /* FDR, EDR */
	rig_bring_up(&rig);
	rig_expect_up(&rig);
	expect_enabled(2, 5, 3);
	sets = rig_sets(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	ck_assert_ptr_null(strstr(rig_log, "not asked for"));
}
END_TEST

/* They keep running as they do. */
START_TEST(test_no_link_is_taken_down)
{
	rig_bring_up(&rig);
	rig.set.ports.force_link_speed_ext = LINK_SPEED_EXT_NONE;
	rig_log_clear();
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	expect_enabled(0, 0, LINK_SPEED_EXT_NONE);
	ck_assert_ptr_nonnull(strstr(rig_log, "until their links come up anew"));
	rig_log_clear();
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_ptr_null(strstr(rig_log, "until their links come up anew")); /* once */
}
END_TEST

static void
limit_by_hand(struct wire_port_info *i)
{
	i->link_speed_enabled = 1;
	i->link_speed_ext_enabled = 1;
	i->link_width_enabled = 1;
}

START_TEST(test_all_that_is_supported)
{
	spoil(rig.place, 1, limit_by_hand);
	rig_bring_up(&rig);
	expect_enabled(0, 0, 0);
}
END_TEST

/* An agent that shows another value for ever costs no Set a start: all that is supported goes
 * along with what else a port gets, and to all once when something else was asked for before. */
START_TEST(test_all_is_no_reason)
{
	struct fm_error err = { 0 };
	char dir[FOLDER_ROOM];
	uint64_t sets;

	folder_make(dir);
	ck_assert_int_eq(store_open(dir, &rig.store, &err), 0);
	rig_bring_up(&rig);
	rig_stop(&rig);
	spoil(rig.place, 1, limit_by_hand);
	sets = rig_sets(&rig);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig_sets(&rig), sets);
	rig.set.ports.force_link_speed = 1;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	rig.set.ports.force_link_speed = LINK_SPEED_ALL;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	expect_enabled(0, 0, 0);
	rig_stop(&rig);
	store_close(rig.store);
	rig.store = NULL;
	folder_remove(dir);
}
END_TEST

START_TEST(test_left_as_it_is)
{
	struct wire_port_info i;

	spoil(rig.place, 1, limit_by_hand);
	rig.set.ports.force_link_speed = rig.set.ports.force_link_speed_ext =
	    rig.set.ports.force_link_width = 0;
	rig_bring_up(&rig);
	sim_port_info(rig.sim, rig.place, 1, &i);
	ck_assert_uint_eq(i.link_width_enabled, 1);
	ck_assert_uint_eq(i.link_speed_enabled, 1);
	ck_assert_uint_eq(i.link_speed_ext_enabled, 1);
}
END_TEST

static void
make_old(struct wire_port_info *i)
{
	i->link_speed_ext_supported = i->link_speed_ext_enabled = 1;
}

/* The far end of one cable has FDR at most: both ends would have no speed in common. */
START_TEST(test_nothing_in_common)
{
	const struct netlist_port *far = peer_of(rig.place, 1);
	struct wire_port_info i;

	spoil(rig.place, 1, make_old);
	rig.set.ports.force_link_speed_ext = 2; /* EDR */
	rig_bring_up(&rig);
	rig_expect_up(&rig);
	sim_port_info(rig.sim, rig.place, 1, &i);
	ck_assert_uint_eq(i.link_speed_ext_enabled, 1);
	sim_port_info(rig.sim, far->peer_node, far->peer_port, &i);
	ck_assert_uint_eq(i.link_speed_ext_enabled, i.link_speed_ext_supported);
	ck_assert_ptr_nonnull(strstr(rig_log, "2 ports are left with a width or speeds"));
}
END_TEST

/* None of the hosts' 1x is asked for, and nothing that an adapter does not support is sent. */
START_TEST(test_beyond_support)
{
	rig.set.ports.force_link_width = 16;
	rig.set.ports.force_link_speed_ext = 8; /* NDR */
	rig_bring_up(&rig);
	rig_expect_up(&rig);
	expect_enabled(0, 0, 0);
	ck_assert_uint_eq(rig.last.refused, 0);
	ck_assert_ptr_nonnull(strstr(rig_log, "ports are left with a width or speeds"));
}
END_TEST

/* What nodes have not taken is tried once more when it is asked for anew. */
START_TEST(test_refused_is_tried_again)
{
	const struct inventory *inv;
	uint64_t sets;

	rig_bring_up(&rig);
	inv = sweeper_inventory(rig.sweeper);
	for (uint32_t i = 0; i < inv->nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(inv, i)->n_ports; p++)
			inv_node(inv, i)->ports[p].refused = UINT32_MAX;
	sets = rig_sets(&rig);
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(rig_sets(&rig), sets); /* the same is asked for */
	rig.set.ports.force_link_speed_ext = 2;	 /* EDR */
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	expect_enabled(0, 0, 2);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("fields");
	TCase *t = tcase_create("fields");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_every_row_is_expected);
	tcase_add_loop_test(t, test_ports, 0, sizeof(expectations) / sizeof(expectations[0]));
	tcase_add_test(t, test_relations);
	tcase_add_test(t, test_switches);
	tcase_add_test(t, test_reregister);
	tcase_add_test(t, test_refused_rows);
	tcase_add_test(t, test_riding_rows);
	suite_add_tcase(s, t);
	t = tcase_create("forced");
	tcase_add_checked_fixture(t, set_up_forced, teardown);
	tcase_add_test(t, test_forced_is_written_once);
	tcase_add_test(t, test_no_link_is_taken_down);
	tcase_add_test(t, test_all_that_is_supported);
	tcase_add_test(t, test_all_is_no_reason);
	tcase_add_test(t, test_left_as_it_is);
	tcase_add_test(t, test_nothing_in_common);
	tcase_add_test(t, test_refused_is_tried_again);
	tcase_add_test(t, test_beyond_support);
	suite_add_tcase(s, t);
	return run_suite(s);
}
