/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What hosts register with the SA of a swept subnet, by MADs: joins, services,
 * subscriptions, alias GUIDs; who sees what; and events to those who have asked.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sa/notices.h"
#include "core/subnet/partitions.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define MASK_JOIN (SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE)
#define MASK_CREATE \
	(MASK_JOIN | SA_MCR_QKEY | SA_MCR_PKEY | SA_MCR_TCLASS | SA_MCR_SL | SA_MCR_FLOW_LABEL)
#define PREFIX UINT64_C(0xfe80000000000000)

static struct rig rig;
static struct sa_rig sa;
static uint32_t apart; /* a node in a partition of its own */
static const struct partitions *partitions;

static uint32_t
host(uint32_t n)
{
	return rig_host(&rig, n);
}

static uint64_t
guid_of(uint32_t node)
{
	return netlist_port(&rig.nl, node, 1)->guid;
}

static uint16_t
lid_of(uint32_t node)
{
	struct wire_port_info info;

	sim_port_info(rig.sim, node, 1, &info);
	return info.lid;
}

/* All are full members of the default partition but two, limited ones, one of which has a
 * partition of its own. */
static void
partition(void)
{
	static const struct part_options options;
	struct fm_error err = { 0 };
	char text[4096];
	size_t n = (size_t)snprintf(text, sizeof(text), "Default=0x7fff :");

	for (uint32_t i = 0; i < 14; i++)
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, " 0x%jx=full,", (uintmax_t)guid_of(host(i)));
	snprintf(text + n - 1, sizeof(text) - n, ";\nOther=0x5 : 0x%jx=full;\n",
	    (uintmax_t)guid_of(apart));
	ck_assert_msg(
	    partitions_parse("test", text, strlen(text), &options, &partitions, NULL, &err) == 0,
	    "%s", err.msg);
	rig.set.partitions.all = partitions;
}

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	apart = host(15);
	partition();
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
	sa_tick(sa.sa, 0);
}

static void
teardown(void)
{
	sa_rig_fini(&sa);
	rig_fini(&rig);
	partitions_put(partitions);
	partitions = NULL;
}

static void
as(uint32_t node)
{
	sa.from.lid = lid_of(node);
}

static struct sa_mc_member_record
member(uint64_t low, uint32_t node, unsigned state)
{
	return (struct sa_mc_member_record){ .mgid = { UINT64_C(0xff12a01c00000000), low },
		.port_gid = { PREFIX, guid_of(node) },
		.qkey = 0xb1b,
		.pkey = 0xffff,
		.join_state = (uint8_t)state };
}

static uint16_t
join(uint64_t low, uint32_t node, unsigned state)
{
	struct sa_mc_member_record want = member(low, node, state);

	as(node);
	return sa_rig_ask(&sa, SA_SET, SA_MC_MEMBER_RECORD, MASK_CREATE, &want);
}

static uint16_t
join_in(uint16_t pkey, uint64_t low, uint32_t node, unsigned state)
{
	struct sa_mc_member_record want = member(low, node, state);

	as(node);
	want.pkey = pkey;
	return sa_rig_ask(&sa, SA_SET, SA_MC_MEMBER_RECORD, MASK_CREATE, &want);
}

static uint16_t
leave(uint64_t low, uint32_t node, unsigned state)
{
	struct sa_mc_member_record want = member(low, node, state);

	as(node);
	return sa_rig_ask(&sa, SA_DELETE, SA_MC_MEMBER_RECORD, MASK_JOIN, &want);
}

/* ------------------------------------------------------------------- multicast */

START_TEST(hosts_join_and_leave)
{
	struct sa_mc_member_record got;
	struct wire_port_info info;

	ck_assert_uint_eq(join(1, host(0), JOIN_FULL), SA_OK);
	sa_rig_record(&sa, 0, &got);
	sim_port_info(rig.sim, host(0), 1, &info);
	ck_assert_uint_eq(got.mlid, 0xc000);
	ck_assert_uint_eq(got.join_state, JOIN_FULL);
	ck_assert_uint_eq(got.rate, sa_rate_code(wire_port_mbps(&info)));
	ck_assert_uint_eq(join(1, host(1), JOIN_NON), SA_OK);
	ck_assert_uint_eq(join(2, host(1), JOIN_NON), SA_REQ_INVALID);
	ck_assert_uint_eq(leave(1, host(0), JOIN_FULL), SA_OK);
	ck_assert_uint_eq(leave(1, host(1), JOIN_NON), SA_REQ_INVALID); /* it is gone */
	ck_assert_uint_eq(
	    join_in(0x8005, 1, host(0), JOIN_FULL), SA_REQ_INVALID); /* not its partition */
	sa.from.lid = 0xbff0;					     /* nobody */
	sa.n_answers = 0;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_TABLE, SA_MC_MEMBER_RECORD, 0, NULL), SA_REQ_INVALID);
}
END_TEST

START_TEST(members_are_shown_to_the_trusted)
{
	struct sa_mc_member_record want = member(1, host(0), 0), got;

	ck_assert_uint_eq(join(1, host(0), JOIN_FULL), SA_OK);
	ck_assert_uint_eq(join(1, host(1), JOIN_SEND_ONLY_NON), SA_OK);
	ck_assert_uint_eq(join(2, host(2), JOIN_FULL), SA_OK);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_MC_MEMBER_RECORD, 0, NULL), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 2);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.port_gid.guid, 0);
	ck_assert_uint_eq(got.join_state, 0);
	ck_assert_uint_eq(got.mtu_selector, SA_EXACTLY);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_MC_MEMBER_RECORD, SA_MCR_MGID, &want), SA_OK);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_MC_MEMBER_RECORD, SA_MCR_PKEY, &want), SA_TOO_MANY_RECORDS);
	want.mlid = 0xc777;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_MC_MEMBER_RECORD, SA_MCR_MLID, &want), SA_NO_RECORDS);
	ck_assert_uint_eq(join_in(0x8005, 5, apart, JOIN_FULL), SA_OK);
	as(host(1));
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_MC_MEMBER_RECORD, 0, NULL), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 2); /* of its partitions */
	sa.sm_key = 1;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_MC_MEMBER_RECORD, 0, NULL), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 4);
	want = member(1, host(1), JOIN_SEND_ONLY_NON);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_MC_MEMBER_RECORD,
			      SA_MCR_PORT_GID | SA_MCR_JOIN_STATE, &want),
	    SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.port_gid.guid, guid_of(host(1)));
}
END_TEST

/* What is joined by MADs is forwarded by switches: all the way. */
static void
to_sweeper(void *arg, const struct group_event *e, bool lost)
{
	unsigned roles = (e->state & JOIN_RECEIVES ? 1u : 0) | (e->state != 0 ? 2u : 0);

	(void)arg;
	ck_assert(!lost);
	if (e->kind == GROUP_MEMBER)
		ck_assert(sweeper_set_member(rig.sweeper, e->mlid, e->sl, e->port, roles));
}

/* Is a record what the switch holds?  How many ports it names. */
static uint32_t
check_mft(const struct sa_mft_record *r)
{
	struct sa_view *v = sa.slot.view;
	uint64_t guid = v->end[sa_view_end_of_lid(v, r->lid)].guid;
	const uint8_t *mft = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		if (rig.nl.nodes[i].type == NETLIST_SWITCH &&
		    netlist_port(&rig.nl, i, 0)->guid == guid)
			mft = sim_fabric(rig.sim)->nodes[i].mft;
	ck_assert_ptr_nonnull(mft);
	mft += ((size_t)r->position * (SIM_MCAST_CAP / 32) + r->block) * 64;
	for (unsigned i = 0; i < 32; i++) {
		ck_assert_uint_eq(r->mask[i], wire_get16(mft + (size_t)2 * i));
		n += (uint32_t)__builtin_popcount(r->mask[i]);
	}
	return n;
}

/* As they are in switches, by table and one by one. */
static void
check_mfts(void)
{
	struct sa_mft_record got = { 0 }, one = { 0 }, want = { 0 };
	uint32_t n, n_ports = 0;

	sa_slot_set_mfts(&sa.slot, sweeper_mfts(rig.sweeper));
	sa.sm_key = 1; /* switches are in nobody's partition */
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_MFT_RECORD, 0, &want), SA_OK);
	n = sa_rig_n(&sa);
	ck_assert_uint_gt(n, 2);
	for (uint32_t i = 0; i < n; i++) {
		sa_rig_record(&sa, i, &got);
		n_ports += check_mft(&got);
	}
	ck_assert_uint_gt(n_ports, 8);
	want.lid = got.lid;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_MFT_RECORD, SA_BIT(0), &want), SA_OK);
	ck_assert_uint_lt(sa_rig_n(&sa), n);
	want = got;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_MFT_RECORD, SA_BIT(0) | SA_BIT(1) | SA_BIT(3), &want),
	    SA_OK);
	sa_rig_record(&sa, 0, &one);
	ck_assert_mem_eq(&one, &got, sizeof(got));
	want.block = 511;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_MFT_RECORD, SA_BIT(0) | SA_BIT(3), &want), SA_NO_RECORDS);
	want.lid = lid_of(host(0)); /* has none */
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_MFT_RECORD, SA_BIT(0), &want), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 0);
	sa.sm_key = 0;
}

/* No group is made within a partition that carries more than its paths. */
START_TEST(groups_are_limited)
{
	static const struct part_more more = { .name = "v", .pkey = 0x7fff, .mtu = 3, .rate = 5 };
	static const struct part_options o = { .more = &more, .n_more = 1 };
	struct sa_mc_member_record want = member(1, host(1), JOIN_FULL), got;
	const struct partitions *limited = NULL;
	struct fm_error err = { 0 };

	ck_assert_int_eq(partitions_default(&o, &limited, NULL, &err), 0);
	sa.set.partitions = limited;
	sa_rig_publish(&sa);
	partitions_put(limited);
	as(host(1));
	want.mtu_selector = want.rate_selector = SA_EXACTLY;
	want.mtu = 4;
	want.rate = 3;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_MC_MEMBER_RECORD,
			      MASK_CREATE | SA_MCR_MTU_SELECTOR | SA_MCR_MTU, &want),
	    SA_REQ_INVALID);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_MC_MEMBER_RECORD,
			      MASK_CREATE | SA_MCR_RATE_SELECTOR | SA_MCR_RATE, &want),
	    SA_REQ_INVALID);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_MC_MEMBER_RECORD, MASK_CREATE, &want), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.mtu, 3);
	ck_assert_uint_eq(got.rate, 5);
	sa.set.partitions = NULL;
}
END_TEST

START_TEST(joins_reach_the_switches)
{
	uint64_t before;

	sa_on_group(sa.sa, to_sweeper, NULL);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_uint_eq(join(1, host(2 * i < 15 ? 2 * i : 0), JOIN_FULL), SA_OK);
	rig_let_pass(&rig, 1);
	before = sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_MFT];
	ck_assert_uint_gt(before, 0);
	check_mfts();
	ck_assert_uint_eq(join(1, host(1), JOIN_FULL), SA_OK);
	rig_let_pass(&rig, 1);
	ck_assert_uint_eq(sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_MFT], before + 1);
	ck_assert_uint_eq(leave(1, host(1), JOIN_FULL), SA_OK);
	rig_let_pass(&rig, 1);
	ck_assert_uint_eq(sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_MFT], before + 2);
	check_mfts();
}
END_TEST

/* -------------------------------------------------------------------- services */

START_TEST(services_are_asked_for)
{
	struct sa_service_record want = { .id = 7,
		.gid = { PREFIX, guid_of(host(0)) },
		.pkey = 0xffff,
		.lease_s = 30,
		.key = { 9 },
		.name = "a service" },
				 got;
	uint64_t mask = SA_SR_ID | SA_SR_GID | SA_SR_PKEY | SA_SR_LEASE | SA_SR_KEY | SA_SR_NAME;

	as(host(0));
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_SERVICE_RECORD, mask, &want), SA_OK);
	want.id = 8;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_SERVICE_RECORD, mask, &want), SA_OK);
	as(host(1));
	sa.now_ms = 10000;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_TABLE, SA_SERVICE_RECORD, SA_SR_NAME, &want), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 2);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_SERVICE_RECORD, SA_SR_ID, &want), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.lease_s, 20);
	ck_assert_uint_eq(got.key[0], 0); /* for the trusted only */
	want.key[0] = 8;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_DELETE, SA_SERVICE_RECORD, mask, &want), SA_REQ_INVALID);
	want.pkey = 0x8005;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_SERVICE_RECORD, mask, &want), SA_REQ_INVALID);
	as(apart);
	want.id = 9;
	want.gid.guid = guid_of(apart);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_SERVICE_RECORD, mask, &want), SA_OK);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_SERVICE_RECORD, SA_SR_ID, &want), SA_OK);
	as(host(1)); /* has not its P_Key */
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_SERVICE_RECORD, SA_SR_ID, &want), SA_NO_RECORDS);
	want.id = 8;
	as(host(1));
	sa.now_ms = 30000; /* the leases are over */
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_SERVICE_RECORD, SA_SR_ID, &want), SA_NO_RECORDS);
}
END_TEST

/* ---------------------------------------------------------------- alias GUIDs */

START_TEST(alias_guids_are_given)
{
	struct sa_guid_info_record want = { .block = 0, .guid = { 0, 0xabc } }, got;
	uint64_t mask = SA_GIR_LID | SA_GIR_BLOCK | SA_GIR_GUID0 << 1;
	struct sa_mc_member_record m;

	want.lid = lid_of(host(0));
	as(host(0));
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, mask, &want), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.guid[0], guid_of(host(0)));
	ck_assert_uint_eq(got.guid[1], 0xabc);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_GUID_INFO_RECORD, SA_GIR_LID | SA_GIR_BLOCK, &want), SA_OK);
	/* a join under the alias is one of the port */
	m = member(1, host(0), JOIN_FULL);
	m.port_gid.guid = 0xabc;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_MC_MEMBER_RECORD, MASK_CREATE, &m), SA_OK);
	sa_rig_record(&sa, 0, &m);
	ck_assert_uint_eq(m.port_gid.guid, 0xabc);
	ck_assert_uint_eq(m.proxy_join, 0);
	want.guid[1] = guid_of(host(1)); /* that is somebody's */
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, mask, &want), SA_REQ_INVALID);
	want.block = 31; /* behind the GUIDCap */
	want.guid[1] = 0xdef;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, mask, &want), SA_NO_RECORDS);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, SA_GIR_LID, &want),
	    SA_REQ_INSUFFICIENT_COMPONENTS);
	want.block = 0;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_DELETE, SA_GUID_INFO_RECORD, mask, &want), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.guid[1], 0);
}
END_TEST

static void
to_ports(void *arg, uint64_t port, uint8_t block, const uint64_t guid[8])
{
	(void)arg;
	ck_assert(sweeper_set_aliases(rig.sweeper, port, block, guid));
}

static uint64_t
guid_in_port(uint32_t node, unsigned i)
{
	const struct sim_port *p = fabric_port(sim_fabric(rig.sim), node, 1);

	return p->tables == NULL ? 0 : wire_get64(p->tables->guids[0] + (size_t)8 * i);
}

/* Alias i of a host: guid, or, 0, one that the SA makes, told. */
static uint64_t
give_alias(uint32_t node, unsigned i, uint64_t guid, uint8_t method)
{
	struct sa_guid_info_record want = { .lid = lid_of(node) }, got;

	want.guid[i] = guid;
	as(node);
	ck_assert_uint_eq(sa_rig_ask(&sa, method, SA_GUID_INFO_RECORD,
			      SA_GIR_LID | SA_GIR_BLOCK | SA_GIR_GUID0 << i, &want),
	    SA_OK);
	sa_rig_record(&sa, 0, &got);
	return got.guid[i];
}

static uint64_t
guid_sets(void)
{
	return sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_GUID_INFO];
}

/* Registered, they are written into the port, by difference; and again when it has lost them. */
START_TEST(alias_guids_reach_ports)
{
	uint32_t a = host(2), b = host(5), n_reports = rig.n_reports;
	uint64_t made, none[8] = { 0 };

	sa_on_alias(sa.sa, to_ports, NULL);
	ck_assert_uint_eq(give_alias(a, 1, 0xabc, SA_SET), 0xabc);
	made = give_alias(a, 2, 0, SA_SET);
	ck_assert_uint_ne(made, 0);
	ck_assert_uint_ne(give_alias(b, 2, 0, SA_SET), made);
	rig_let_pass(&rig, 1);
	ck_assert_uint_eq(guid_in_port(a, 0), guid_of(a));
	ck_assert_uint_eq(guid_in_port(a, 1), 0xabc);
	ck_assert_uint_eq(guid_in_port(a, 2), made);
	ck_assert_uint_ne(guid_in_port(b, 2), 0);
	ck_assert_uint_eq(guid_sets(), 2);
	ck_assert_uint_eq(give_alias(a, 1, 0, SA_DELETE), 0);
	rig_let_pass(&rig, 1);
	ck_assert_uint_eq(guid_in_port(a, 1), 0);
	ck_assert_uint_eq(guid_in_port(a, 2), made);
	ck_assert_uint_eq(guid_sets(), 3);
	ck_assert_uint_eq(rig.n_reports, n_reports); /* no sweep for it */
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(guid_sets(), 3);
	sim_reboot(rig.sim, a, 5000000);
	rig_let_pass(&rig, 50);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(guid_in_port(a, 2), made);
	ck_assert_uint_eq(guid_sets(), 4);
	/* a port that is away keeps what it has; it is written when it is back */
	sim_silence(rig.sim, b, true);
	ck_assert(sweeper_set_aliases(rig.sweeper, guid_of(b), 0, none));
	rig_let_pass(&rig, 5000);
	ck_assert_uint_ne(guid_in_port(b, 2), 0);
	sim_silence(rig.sim, b, false);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(guid_in_port(b, 2), 0);
}
END_TEST

/* Another process that is told what was registered: read, and right; or not. */
START_TEST(alias_guids_after_a_restart)
{
	uint32_t a = host(2), b = host(5);
	uint64_t guid[8] = { 0, 0xabc }, sets;

	sa_on_alias(sa.sa, to_ports, NULL);
	give_alias(a, 1, 0xabc, SA_SET);
	give_alias(b, 1, 0xdef, SA_SET);
	rig_let_pass(&rig, 1);
	ck_assert_uint_eq(guid_in_port(b, 1), 0xdef);
	sets = guid_sets();
	rig_stop(&rig);
	rig_start(&rig);
	ck_assert(sweeper_set_aliases(rig.sweeper, guid_of(a), 0, guid));
	guid[1] = 0;
	guid[3] = 0x123; /* came too late for the port */
	ck_assert(sweeper_set_aliases(rig.sweeper, guid_of(b), 0, guid));
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(guid_in_port(a, 1), 0xabc);
	ck_assert_uint_eq(guid_in_port(b, 1), 0);
	ck_assert_uint_eq(guid_in_port(b, 3), 0x123);
	ck_assert_uint_eq(guid_sets(), sets + 1);
}
END_TEST

/* ----------------------------------------------------------------- register again */

static void
expect_asked(uint32_t times)
{
	for (uint32_t i = 0; i < 16; i++)
		ck_assert_uint_eq(
		    fabric_port(sim_fabric(rig.sim), host(i), 1)->n_reregister, times);
}

/* After a restart that has lost nothing nobody is asked; after one that has all are, once. */
START_TEST(hosts_are_asked_when_all_is_lost)
{
	uint32_t rebooted = host(3);

	expect_asked(0);
	rig_stop(&rig);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	expect_asked(0);
	rig_stop(&rig);
	rig_start(&rig);
	sweeper_lost(rig.sweeper, 0);
	rig_run(&rig, SWEEP_HEAVY);
	expect_asked(1);
	sim_reboot(rig.sim, rebooted, 5000000);
	rig_let_pass(&rig, 50);
	rig_run(&rig, SWEEP_HEAVY);
	rig_run(&rig, SWEEP_HEAVY);
	expect_asked(1); /* one that comes up registers by itself */
	rig_stop(&rig);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	sweeper_lost(rig.sweeper, 0); /* told late: a sweep for it */
	rig_let_pass(&rig, 1);
	expect_asked(2);
}
END_TEST

static void
on_lost(void *arg, uint64_t port)
{
	(void)arg;
	sweeper_lost(rig.sweeper, port);
}

/* One that was away for so long that its registrations were dropped, its link up all the time. */
START_TEST(a_host_is_asked_when_its_own_is_lost)
{
	uint32_t away = host(3);

	sa_on_lost(sa.sa, on_lost, NULL);
	ck_assert_uint_eq(join(1, away, JOIN_FULL), SA_OK);
	sim_silence(rig.sim, away, true);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_publish(&sa);
	sa_tick(sa.sa, 1000);
	sim_silence(rig.sim, away, false);
	rig_run(&rig, SWEEP_HEAVY);
	expect_asked(0); /* not lost yet */
	sim_silence(rig.sim, away, true);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_publish(&sa);
	sa_tick(sa.sa, 2000);
	sa_tick(sa.sa, 200000);
	ck_assert_uint_eq(groups_count(registry_groups(sa.registry)), 0);
	sim_silence(rig.sim, away, false);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(fabric_port(sim_fabric(rig.sim), away, 1)->n_reregister, 1);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(fabric_port(sim_fabric(rig.sim), away, 1)->n_reregister, 1);
	ck_assert_uint_eq(fabric_port(sim_fabric(rig.sim), host(4), 1)->n_reregister, 0);
}
END_TEST

/* ---------------------------------------------------------------------- events */

static void
subscribe(uint32_t node, uint16_t trap, uint8_t on)
{
	struct sa_inform_info want = { .lid_begin = 0xffff,
		.is_generic = 1,
		.subscribe = on,
		.type = 0xffff,
		.trap_number = trap,
		.producer_type = 0xffffff };

	as(node);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_INFORM_INFO, 0, &want), SA_OK);
}

static void
answer_report(void)
{
	struct sa_header h = sa.report;
	uint8_t mad[WIRE_MAD_BYTES] = { 0 };

	h.method = SA_REPORT_RESP;
	h.tid |= UINT64_C(0xdead) << 48; /* the kernel's part */
	sa_header_put(mad, &h);
	sa_handle(sa.sa, &sa.report_to, mad, sizeof(mad), sa.now_ms);
}

START_TEST(groups_made_and_gone_are_told)
{
	subscribe(host(0), NOTICE_GROUP_MADE, 1);
	ck_assert_uint_eq(join_in(0x8005, 5, apart, JOIN_FULL), SA_OK);
	ck_assert_uint_eq(sa.n_reports, 0); /* has not its P_Key */
	ck_assert_uint_eq(join(1, host(1), JOIN_FULL), SA_OK);
	ck_assert_uint_eq(sa.n_reports, 1);
	ck_assert_uint_eq(sa.report_to.lid, lid_of(host(0)));
	ck_assert_uint_eq(sa.report_to.qpn, 1);
	ck_assert_uint_eq(sa.notice.n.trap_number, NOTICE_GROUP_MADE);
	ck_assert_uint_eq(sa.notice.n.producer_type, 4);
	ck_assert_uint_eq(sa_gid_get(sa.notice.n.details + 6).prefix, UINT64_C(0xff12a01c00000000));
	answer_report();
	ck_assert_uint_eq(join(1, host(2), JOIN_FULL), SA_OK); /* it is there */
	ck_assert_uint_eq(leave(1, host(1), JOIN_FULL), SA_OK);
	ck_assert_uint_eq(sa.n_reports, 1);
	subscribe(host(0), NOTICE_GROUP_GONE, 1);
	ck_assert_uint_eq(leave(1, host(2), JOIN_FULL), SA_OK);
	ck_assert_uint_eq(sa.n_reports, 2);
	ck_assert_uint_eq(sa.notice.n.trap_number, NOTICE_GROUP_GONE);
	answer_report();
	subscribe(host(0), NOTICE_GROUP_MADE, 0);
	ck_assert_uint_eq(join(2, host(1), JOIN_FULL), SA_OK);
	ck_assert_uint_eq(sa.n_reports, 2);
}
END_TEST

START_TEST(ports_that_come_and_go_are_told)
{
	uint32_t node = host(5);
	uint64_t guid = guid_of(node);

	subscribe(host(0), 0xffff, 1);
	ck_assert_uint_eq(join(1, node, JOIN_FULL), SA_OK);
	answer_report();
	sa.n_reports = 0;
	sim_unlink(rig.sim, node, 1);
	rig_let_pass(&rig, 50);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_publish(&sa);
	sa.now_ms = 1000;
	sa_tick(sa.sa, 1000);
	ck_assert_uint_eq(sa.n_reports, 1);
	ck_assert_uint_eq(sa.notice.n.trap_number, NOTICE_PORT_OUT);
	ck_assert_uint_eq(sa_gid_get(sa.notice.n.details + 6).guid, guid);
	answer_report();
	ck_assert_uint_eq(
	    groups_count(sa.registry != NULL ? registry_groups(sa.registry) : NULL), 1);
	sim_relink(rig.sim, node, 1);
	rig_let_pass(&rig, 50);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_publish(&sa);
	sa_tick(sa.sa, 2000);
	ck_assert_uint_eq(sa.n_reports, 2);
	ck_assert_uint_eq(sa.notice.n.trap_number, NOTICE_PORT_IN);
	answer_report();
	sa_tick(sa.sa, 100000); /* it is back: it stays in its group */
	ck_assert_uint_eq(groups_count(registry_groups(sa.registry)), 1);
	sim_unlink(rig.sim, node, 1);
	rig_let_pass(&rig, 50);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_publish(&sa);
	sa_tick(sa.sa, 200000);
	answer_report();
	sa_tick(sa.sa, 259000);
	ck_assert_uint_eq(groups_count(registry_groups(sa.registry)), 1);
	sa_tick(sa.sa, 260000); /* away for too long */
	ck_assert_uint_eq(groups_count(registry_groups(sa.registry)), 0);
}
END_TEST

/* Who does not answer is asked again, and then no more. */
START_TEST(dead_subscribers_are_dropped)
{
	int64_t due;

	subscribe(host(0), NOTICE_GROUP_MADE, 1);
	subscribe(host(3), NOTICE_GROUP_MADE, 1);
	ck_assert_uint_eq(registry_n_subscriptions(sa.registry), 2);
	ck_assert_uint_eq(join(1, host(1), JOIN_FULL), SA_OK);
	ck_assert_uint_eq(sa.n_reports, 2);
	ck_assert_uint_eq(sa.report_to.lid, lid_of(host(0)));
	answer_report();	      /* the second */
	for (int i = 0; i < 4; i++) { /* after 1, 2, 4, 8 s */
		due = sa_tick(sa.sa, sa.now_ms);
		ck_assert_int_ge(due, sa.now_ms + (1000 << i));
		ck_assert_int_lt(due, sa.now_ms + (1000 << i) + 64);
		sa.now_ms = due;
		sa_tick(sa.sa, sa.now_ms);
		ck_assert_uint_eq(sa.n_reports, 3u + (uint32_t)i);
	}
	sa_tick(sa.sa, sa_tick(sa.sa, sa.now_ms));
	ck_assert_uint_eq(registry_n_subscriptions(sa.registry), 1);
	ck_assert_uint_eq(registry_subscription(sa.registry, 0)->client, guid_of(host(0)));
	sa.n_reports = 0;
	ck_assert_uint_eq(join(2, host(1), JOIN_FULL), SA_OK);
	ck_assert_uint_eq(sa.n_reports, 1);
}
END_TEST

static struct wire_notice
trap(uint16_t number, uint32_t node)
{
	struct wire_notice n = { .generic = true,
		.type = 1,
		.producer_type = 1,
		.trap_number = number,
		.issuer_lid = lid_of(node) };

	return n;
}

START_TEST(traps_are_passed_on_once)
{
	struct wire_notice n = trap(256, host(2)), other = trap(257, apart);

	subscribe(host(0), 0xffff, 1);
	sa_tell(sa.sa, &n, 0);
	ck_assert_uint_eq(sa.n_reports, 1);
	ck_assert_uint_eq(sa.notice.issuer.guid, guid_of(host(2)));
	ck_assert_uint_eq(sa.notice.n.trap_number, 256);
	n.toggle_count = 7;
	sa_tell(sa.sa, &n, 1000);
	ck_assert_uint_eq(sa.n_reports, 1);
	sa_tell(sa.sa, &n, 6000);
	ck_assert_uint_eq(sa.n_reports, 2);
	answer_report();
	subscribe(host(0), 0xffff, 0);
	subscribe(host(14), 0xffff, 1); /* a limited member as well */
	sa_tell(sa.sa, &other, 6000);
	ck_assert_uint_eq(sa.n_reports, 2);
	subscribe(host(0), 0xffff, 1);
	other.toggle_count++;
	sa_tell(sa.sa, &other, 12000);
	ck_assert_uint_eq(sa.n_reports, 3);
	ck_assert_uint_eq(sa.report_to.lid, lid_of(host(0)));
}
END_TEST

/* Every trap there is, to who shares a partition with its sender and asked for that range of
 * LIDs, and to no other (IBA 13.4.9, o13-17.1.1). */
START_TEST(every_trap_is_passed_on)
{
	static const uint16_t numbers[] = { 128, 129, 130, 131, 144, 145, 256, 257, 258, 259 };
	struct sa_inform_info want = { .lid_begin = lid_of(apart),
		.lid_end = lid_of(apart),
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xffff,
		.trap_number = 0xffff,
		.producer_type = 0xffffff };

	as(host(3));
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_INFORM_INFO, 0, &want), SA_OK);
	as(host(14)); /* a limited member, as is who sends */
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_INFORM_INFO, 0, &want), SA_OK);
	for (uint32_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct wire_notice n = trap(numbers[i], apart), beside = trap(numbers[i], host(4));

		sa.n_reports = 0;
		sa_tell(sa.sa, &beside, 0); /* out of the range */
		ck_assert_uint_eq(sa.n_reports, 0);
		sa_tell(sa.sa, &n, 0);
		ck_assert_uint_eq(sa.n_reports, 1); /* not to the other limited one */
		ck_assert_uint_eq(sa.report_to.lid, lid_of(host(3)));
		ck_assert_uint_eq(sa.notice.n.trap_number, numbers[i]);
		ck_assert_uint_eq(sa.notice.n.issuer_lid, lid_of(apart));
		answer_report();
	}
}
END_TEST

START_TEST(subscriptions_choose_by_lid_and_number)
{
	struct wire_notice n = trap(128, host(2));
	struct sa_inform_info want = { .lid_begin = lid_of(host(2)),
		.lid_end = lid_of(host(2)),
		.is_generic = 1,
		.subscribe = 1,
		.type = 1,
		.trap_number = 129,
		.producer_type = 1 };
	struct sa_inform_info_record rec;

	as(host(14));
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_INFORM_INFO, 0, &want), SA_OK);
	sa_tell(sa.sa, &n, 0);
	ck_assert_uint_eq(sa.n_reports, 0);
	n.trap_number = 129;
	n.issuer_lid = lid_of(host(3));
	sa_tell(sa.sa, &n, 0);
	ck_assert_uint_eq(sa.n_reports, 0);
	n.issuer_lid = lid_of(host(2));
	sa_tell(sa.sa, &n, 0);
	ck_assert_uint_eq(sa.n_reports, 1);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_INFORM_INFO_RECORD, 0, NULL), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 1);
	sa_rig_record(&sa, 0, &rec);
	ck_assert_uint_eq(rec.subscriber.guid, guid_of(host(14)));
	ck_assert_uint_eq(rec.info.trap_number, 129);
	as(apart);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_INFORM_INFO_RECORD, 0, NULL), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 0);
}
END_TEST

/* Anything for a record, from anybody: an answer each time, and bounds hold. */
START_TEST(storms_are_answered)
{
	static const uint16_t attrs[] = { SA_MC_MEMBER_RECORD, SA_SERVICE_RECORD, SA_INFORM_INFO,
		SA_INFORM_INFO_RECORD, SA_GUID_INFO_RECORD };
	static const uint8_t methods[] = { SA_GET, SA_SET, SA_GET_TABLE, SA_DELETE };
	struct registry_settings limits;
	struct fm_rng rng;

	registry_settings_default(&limits);
	limits.groups.max_joins = limits.max_services = limits.max_subscriptions = 20;
	registry_configure(sa.registry, &limits);
	fm_rng_seed(&rng, 3);
	for (int i = 0; i < 20000; i++) {
		struct sa_header h = { .base_version = 1,
			.mgmt_class = WIRE_CLASS_SA,
			.class_version = SA_CLASS_VERSION,
			.method = methods[fm_rng_below(&rng, 4)],
			.attr = attrs[fm_rng_below(&rng, 5)],
			.tid = (uint64_t)i,
			.mask = fm_rng_below(&rng, 2) ? UINT64_MAX : fm_rng_next(&rng) };
		uint8_t mad[WIRE_MAD_BYTES];
		uint32_t before = sa.n_answers;

		as(host(fm_rng_below(&rng, 16)));
		for (unsigned b = 0; b < sizeof(mad); b++)
			mad[b] = fm_rng_below(&rng, 3) ? 0 : (uint8_t)fm_rng_next(&rng);
		sa_header_put(mad, &h);
		mad[SA_DATA_AT] |= h.attr == SA_MC_MEMBER_RECORD ? 0xff : 0;
		sa_handle(sa.sa, &sa.from, mad, sizeof(mad), i);
		ck_assert_uint_eq(sa.n_answers, before + 1);
		if (i % 100 == 0)
			sa_tick(sa.sa, i);
	}
	ck_assert_uint_le(registry_n_services(sa.registry), 16 * 20);
	ck_assert_uint_le(registry_n_subscriptions(sa.registry), 16 * 20);
	for (uint32_t h = 0; h < 16; h++)
		ck_assert_uint_le(
		    groups_n_joins(registry_groups(sa.registry), guid_of(host(h))), 20);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("registered");
	TCase *t = tcase_create("registered");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, hosts_join_and_leave);
	tcase_add_test(t, members_are_shown_to_the_trusted);
	tcase_add_test(t, joins_reach_the_switches);
	tcase_add_test(t, groups_are_limited);
	tcase_add_test(t, services_are_asked_for);
	tcase_add_test(t, alias_guids_are_given);
	tcase_add_test(t, alias_guids_reach_ports);
	tcase_add_test(t, alias_guids_after_a_restart);
	tcase_add_test(t, hosts_are_asked_when_all_is_lost);
	tcase_add_test(t, a_host_is_asked_when_its_own_is_lost);
	tcase_add_test(t, groups_made_and_gone_are_told);
	tcase_add_test(t, ports_that_come_and_go_are_told);
	tcase_add_test(t, dead_subscribers_are_dropped);
	tcase_add_test(t, traps_are_passed_on_once);
	tcase_add_test(t, every_trap_is_passed_on);
	tcase_add_test(t, subscriptions_choose_by_lid_and_number);
	tcase_add_test(t, storms_are_answered);
	suite_add_tcase(s, t);
	return run_suite(s);
}
