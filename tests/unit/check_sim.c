/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated fabric as an SM sees it: attributes, ways, port states, M_Key.
 */

#include "lab/sim/pma.h"
#include "tests/run.h"
#include "tests/unit/sim_fixture.h"

#define M_KEY UINT64_C(0x1122334455667788)

/* ---- attributes */

START_TEST(test_bytes)
{
	static const struct {
		uint16_t attr;
		const char *name;
		unsigned byte;
	} rows[] = { { WIRE_ATTR_NODE_INFO, "node_guid", NODE_INFO_NODE_GUID },
		{ WIRE_ATTR_NODE_INFO, "port_guid", NODE_INFO_PORT_GUID },
		{ WIRE_ATTR_NODE_INFO, "local_port", NODE_INFO_LOCAL_PORT },
		{ WIRE_ATTR_SWITCH_INFO, "linear_fdb_top", SWITCH_INFO_TOP },
		{ WIRE_ATTR_SWITCH_INFO, "port_state_change", SWITCH_INFO_CHANGE },
		{ WIRE_ATTR_PORT_INFO, "m_key", PORT_INFO_M_KEY },
		{ WIRE_ATTR_PORT_INFO, "lid", PORT_INFO_LID },
		{ WIRE_ATTR_PORT_INFO, "master_sm_lid", PORT_INFO_SM_LID },
		{ WIRE_ATTR_PORT_INFO, "capability_mask", PORT_INFO_CAP_MASK },
		{ WIRE_ATTR_PORT_INFO, "m_key_lease_period_s", PORT_INFO_LEASE },
		{ WIRE_ATTR_PORT_INFO, "local_port", PORT_INFO_LOCAL_PORT },
		{ WIRE_ATTR_PORT_INFO, "link_width_enabled", PORT_INFO_WIDTH_ENABLED },
		{ WIRE_ATTR_PORT_INFO, "link_width_supported", PORT_INFO_WIDTH_SUPPORTED },
		{ WIRE_ATTR_PORT_INFO, "port_state", PORT_INFO_SPEED_SUPPORTED_STATE },
		{ WIRE_ATTR_PORT_INFO, "phys_state", PORT_INFO_PHYS_DEFAULT },
		{ WIRE_ATTR_PORT_INFO, "lmc", PORT_INFO_PROTECT_LMC },
		{ WIRE_ATTR_PORT_INFO, "link_speed_enabled", PORT_INFO_SPEED_ACTIVE_ENABLED },
		{ WIRE_ATTR_PORT_INFO, "neighbor_mtu", PORT_INFO_MTU_SMSL },
		{ WIRE_ATTR_PORT_INFO, "vl_cap", PORT_INFO_VLCAP_INIT },
		{ WIRE_ATTR_PORT_INFO, "mtu_cap", PORT_INFO_REPLY_MTUCAP },
		{ WIRE_ATTR_PORT_INFO, "operational_vls", PORT_INFO_VLS_ENFORCE },
		{ WIRE_ATTR_PORT_INFO, "m_key_violations", PORT_INFO_M_KEY_VIOLATIONS },
		{ WIRE_ATTR_PORT_INFO, "client_reregister", PORT_INFO_REREGISTER_TIMEOUT },
		{ WIRE_ATTR_PORT_INFO, "link_speed_ext_supported", PORT_INFO_EXT_ACTIVE_SUPPORTED },
		{ WIRE_ATTR_PORT_INFO, "link_speed_ext_enabled", PORT_INFO_EXT_ENABLED } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n, found = 0;
		const struct wire_field *f = wire_attr_fields(rows[i].attr, &n);

		for (size_t j = 0; j < n; j++)
			if (strcmp(f[j].name, rows[i].name) == 0 && ++found)
				ck_assert_msg(f[j].at / 8 == rows[i].byte, "%s is at byte %u",
				    rows[i].name, f[j].at / 8);
		ck_assert_msg(found == 1, "%s is not in wire.c", rows[i].name);
	}
}
END_TEST

START_TEST(test_node_info)
{
	struct wire_node_info ni;

	wire_node_info_get(get("", WIRE_ATTR_NODE_INFO, 0), &ni);
	ck_assert_uint_eq(ni.node_type, WIRE_NODE_CA);
	ck_assert_uint_eq(ni.node_guid, 0x1000);
	ck_assert_uint_eq(ni.port_guid, 0x1001);
	ck_assert_uint_eq(ni.local_port, 1);
	ck_assert_uint_eq(ni.n_ports, 2);
	wire_node_info_get(get("\1\4", WIRE_ATTR_NODE_INFO, 0), &ni);
	ck_assert_uint_eq(ni.node_type, WIRE_NODE_SWITCH);
	ck_assert_uint_eq(ni.node_guid, 0x200);
	ck_assert_uint_eq(ni.port_guid, 0x200);
	ck_assert_uint_eq(ni.local_port, 4);
	/* through the loopback cable back into the same switch */
	wire_node_info_get(get("\1\2\5", WIRE_ATTR_NODE_INFO, 0), &ni);
	ck_assert_uint_eq(ni.node_guid, 0x200);
	ck_assert_uint_eq(ni.local_port, 6);
	ck_assert_str_eq((const char *)get("\1", WIRE_ATTR_NODE_DESC, 0), "first switch");
	ck_assert_uint_eq(set("\1", WIRE_ATTR_NODE_DESC, 0, NULL), WIRE_STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_NODE_INFO, 0, NULL), WIRE_STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(
	    status_of(smp("\1", WIRE_GET, 0xff90, 0, NULL)), WIRE_STATUS_BAD_METHOD_ATTR);
}
END_TEST

START_TEST(test_switch_info)
{
	struct wire_switch_info si;
	uint8_t data[64];

	wire_switch_info_get(get("\1", WIRE_ATTR_SWITCH_INFO, 0), &si);
	ck_assert_uint_eq(si.linear_fdb_cap, SIM_LFT_CAP);
	ck_assert_uint_eq(si.port_state_change, 1);
	si.linear_fdb_top = 77;
	si.life_time_value = 9;
	si.port_state_change = 0; /* writing zero is ignored */
	si.linear_fdb_cap = 1;	  /* read only */
	wire_switch_info_put(data, &si);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_SWITCH_INFO, 0, data), 0);
	wire_switch_info_get(get("\1", WIRE_ATTR_SWITCH_INFO, 0), &si);
	ck_assert_uint_eq(si.linear_fdb_top, 77);
	ck_assert_uint_eq(si.life_time_value, 9);
	ck_assert_uint_eq(si.port_state_change, 1);
	ck_assert_uint_eq(si.linear_fdb_cap, SIM_LFT_CAP);
	wire_switch_info_put(data, &si);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_SWITCH_INFO, 0, data), 0);
	wire_switch_info_get(get("\1", WIRE_ATTR_SWITCH_INFO, 0), &si);
	ck_assert_uint_eq(si.port_state_change, 0);
	si.linear_fdb_top = SIM_LFT_CAP;
	wire_switch_info_put(data, &si);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_SWITCH_INFO, 0, data), WIRE_STATUS_BAD_VALUE);
	ck_assert_uint_eq(status_of(smp("", WIRE_GET, WIRE_ATTR_SWITCH_INFO, 0, NULL)),
	    WIRE_STATUS_BAD_METHOD_ATTR);
}
END_TEST

/* XDR does not fit LinkSpeedExtActive; a host is chosen before an aggregation node. */
START_TEST(test_xdr_and_default_place)
{
	static const char path[] = "check_sim-xdr.net";
	struct transport *t;
	struct wire_port_info pi;
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f,
	    "Switch 4 \"s\"\n[1] \"h\"[1] # 4xXDR\n[4] \"an\"[1] # 4xNDR\n"
	    "Ca 1 \"an\" # \"Mellanox Technologies Aggregation Node\"\n[1] \"s\"[4] # 4xNDR\n"
	    "Ca 1 \"h\"\n[1] \"s\"[1] # 4xXDR\n");
	fclose(f);
	ck_assert_msg(transport_open_sim("sim:check_sim-xdr.net", &t, &err) == 0, "%s", err.msg);
	remove(path);
	local = t;
	t->on_mad = on_mad;
	pi = get_port("", 1);
	ck_assert_uint_eq(wire_port_mbps(&pi), 800000);
	t->ops->close(t);
}
END_TEST

/* The second port of an adapter, by its own GUID; the node's GUID is the first one with a link. */
START_TEST(test_place_by_port_guid)
{
	static const struct {
		const char *guid;
		uint8_t port;
	} rows[] = { { "0xa00", 1 }, { "0xa01", 1 }, { "0xa02", 2 }, { "0x100", 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *top = getenv("srcdir");
		struct local_port at;
		struct transport *t;
		char spec[256];

		snprintf(spec, sizeof(spec), "sim:%s/tests/fabrics/dual-port.net,local=%s",
		    top != NULL ? top : "..", rows[i].guid);
		ck_assert_msg(transport_open_sim(spec, &t, &err) == 0, "%s", err.msg);
		ck_assert_int_eq(t->ops->local_port(t, &at, &err), 0);
		ck_assert_uint_eq(at.port, rows[i].port);
		t->ops->close(t);
	}
}
END_TEST

START_TEST(test_kinds_of_a_program)
{
	static const struct transport_kind *const one[] = { &transport_sim, NULL };
	static const struct transport_kind *const both[] = { &transport_umad, &transport_sim,
		NULL };
	struct transport *t;

	ck_assert_int_eq(transport_open(one, "umad", &t, &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "no transport is called \"umad\": it is sim:FABRIC");
	ck_assert_int_eq(transport_open(both, "simulator", &t, &err), FM_E_CONFIG);
	ck_assert_str_eq(
	    err.msg, "no transport is called \"simulator\": it is umad[:CA[:PORT]] or sim:FABRIC");
	ck_assert_int_eq(transport_open(both, "sim:/nonexistent", &t, &err), FM_E_CONFIG);
	ck_assert_int_eq(transport_open(both, "sim:x,adaptive=0", &t, &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "sim: adaptive=0: right would be a number of groups, 1..1024");
}
END_TEST

START_TEST(test_port_info_of_end)
{
	struct wire_port_info pi = get_port("\1\3", 0), was;

	ck_assert_uint_eq(pi.local_port, 1);
	ck_assert_uint_eq(pi.port_state, WIRE_PORT_INIT);
	ck_assert_uint_eq(pi.phys_state, WIRE_PHYS_LINK_UP);
	ck_assert_uint_eq(
	    wire_link_mbps(pi.link_width_active, pi.link_speed_active, pi.link_speed_ext_active),
	    100000);
	pi = edit_port("\1\3", 1);
	was = pi;
	pi.lid = 0x40;
	pi.lmc = 3;
	pi.master_sm_lid = 7;
	pi.master_sm_sl = 5;
	pi.gid_prefix = UINT64_C(0xfe80000000000000);
	pi.subnet_timeout = 18;
	pi.neighbor_mtu = 4;
	pi.operational_vls = 3;
	pi.m_key_lease_period_s = 60;
	pi.client_reregister = 1;
	pi.capability_mask = 0; /* read only */
	pi.hoq_life = 9;	/* of switches only */
	ck_assert_uint_eq(set_port("\1\3", 1, &pi), 0);
	ck_assert_uint_eq(fabric_port(sim_fabric(sim), H3, 1)->n_reregister, 1);
	pi = get_port("\1\3", 1);
	ck_assert_uint_eq(pi.lid, 0x40);
	ck_assert_uint_eq(pi.lmc, 3);
	ck_assert_uint_eq(pi.master_sm_lid, 7);
	ck_assert_uint_eq(pi.master_sm_sl, 5);
	ck_assert_uint_eq(pi.gid_prefix, UINT64_C(0xfe80000000000000));
	ck_assert_uint_eq(pi.subnet_timeout, 18);
	ck_assert_uint_eq(pi.neighbor_mtu, 4);
	ck_assert_uint_eq(pi.operational_vls, 3);
	ck_assert_uint_eq(pi.m_key_lease_period_s, 60);
	ck_assert_uint_eq(pi.client_reregister, 0);
	ck_assert_uint_eq(pi.capability_mask, was.capability_mask);
	ck_assert_uint_eq(pi.hoq_life, 0);
	ck_assert_uint_eq(pi.port_state, WIRE_PORT_INIT);
}
END_TEST

START_TEST(test_port_info_of_switch)
{
	struct wire_port_info pi = edit_port("\1", 2);

	pi.lid = 5; /* ports of a switch other than 0 have none */
	pi.hoq_life = 12;
	pi.vl_stall_count = 7;
	pi.neighbor_mtu = 5;
	pi.operational_vls = 4;
	pi.partition_enforce_in = 1;
	ck_assert_uint_eq(set_port("\1", 2, &pi), 0);
	pi = get_port("\1", 2);
	ck_assert_uint_eq(pi.lid, 0);
	ck_assert_uint_eq(pi.hoq_life, 12);
	ck_assert_uint_eq(pi.vl_stall_count, 7);
	ck_assert_uint_eq(pi.neighbor_mtu, 5);
	ck_assert_uint_eq(pi.operational_vls, 4);
	ck_assert_uint_eq(pi.partition_enforce_in, 1);
	pi = get_port("\1", 0);
	ck_assert_uint_eq(pi.port_state, WIRE_PORT_ACTIVE);
	ck_assert_uint_eq(get_port("\1", 7).port_state, WIRE_PORT_DOWN);
	ck_assert_uint_eq(get_port("\1", 7).phys_state, WIRE_PHYS_POLLING);
	/* bit 31 says that we know extended speeds */
	ck_assert_uint_eq(get_port("\1", 0x80000004).link_speed_active, 4);
	ck_assert_uint_eq(get_port("\1", 0x80000004).link_speed_ext_active, 0);
	ck_assert_uint_eq(
	    status_of(smp("\1", WIRE_GET, WIRE_ATTR_PORT_INFO, SWITCH_PORTS + 1, NULL)),
	    WIRE_STATUS_BAD_VALUE);
}
END_TEST

START_TEST(test_port_info_refused)
{
	static const struct {
		const char *what;
		uint16_t lid;
		uint8_t lmc, mtu, vls, width;
	} rows[] = { { "LID 0", 0, 0, 4, 1, 0 }, { "multicast LID", 0xc000, 0, 4, 1, 0 },
		{ "LID not aligned", 5, 1, 4, 1, 0 }, { "no MTU", 4, 0, 0, 1, 0 },
		{ "MTU above the cap", 4, 0, 6, 1, 0 }, { "VLs above the cap", 4, 0, 4, 5, 0 },
		{ "width not supported", 4, 0, 4, 1, 8 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wire_port_info pi = edit_port("\1\3", 1);

		pi.lid = rows[i].lid;
		pi.lmc = rows[i].lmc;
		pi.neighbor_mtu = rows[i].mtu;
		pi.operational_vls = rows[i].vls;
		pi.link_width_enabled = rows[i].width;
		pi.master_sm_lid = 9;
		ck_assert_msg(
		    set_port("\1\3", 1, &pi) == WIRE_STATUS_BAD_VALUE, "%s", rows[i].what);
		/* refused as a whole */
		ck_assert_uint_eq(get_port("\1\3", 1).master_sm_lid, 0);
	}
}
END_TEST

START_TEST(test_tables)
{
	uint8_t data[64], sl2vl[16] = { 0, 1, 2, 3 }, vl[16];
	uint16_t pkeys[32] = { 0 };
	uint64_t guids[8] = { 0 };
	int n = 0;

	for (int i = 0; i < 64; i++)
		data[i] = (uint8_t)i;
	ck_assert_uint_eq(get("\1", WIRE_ATTR_LFT, 5)[0], 255);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_LFT, 5, data), 0);
	ck_assert_mem_eq(get("\1", WIRE_ATTR_LFT, 5), data, 64);
	ck_assert_uint_eq(get("\1", WIRE_ATTR_LFT, 4)[0], 255);
	ck_assert_uint_eq(sim_lft(sim, S1, 5 * 64 + 33), 33);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_LFT, SIM_LFT_CAP / 64, data), WIRE_STATUS_BAD_VALUE);
	ck_assert_uint_eq(set("", WIRE_ATTR_LFT, 0, data), WIRE_STATUS_BAD_METHOD_ATTR);

	ck_assert_uint_eq(set("\1", WIRE_ATTR_MFT, 3, data), 0);
	ck_assert_mem_eq(get("\1", WIRE_ATTR_MFT, 3), data, 64);
	ck_assert_uint_eq(get("\1", WIRE_ATTR_MFT, 2)[5], 0);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_MFT, UINT32_C(1) << 28, data), WIRE_STATUS_BAD_VALUE);

	wire_pkeys_get(get("\1\3", WIRE_ATTR_PKEY_TABLE, 0), pkeys);
	ck_assert_uint_eq(pkeys[0], 0xffff);
	pkeys[1] = 0x8001;
	wire_pkeys_put(data, pkeys);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_PKEY_TABLE, 3 << 16 | 1, data), 0);
	ck_assert_mem_eq(get("\1", WIRE_ATTR_PKEY_TABLE, 3 << 16 | 1), data, 64);
	ck_assert_uint_eq(wire_get16(get("\1", WIRE_ATTR_PKEY_TABLE, 2 << 16 | 1) + 2), 0);
	ck_assert_uint_eq(
	    set("\1", WIRE_ATTR_PKEY_TABLE, SIM_PKEY_BLOCKS, data), WIRE_STATUS_BAD_VALUE);

	wire_sl2vl_put(data, sl2vl);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_SL2VL, 3 << 8 | 4, data), 0);
	wire_sl2vl_get(get("\1", WIRE_ATTR_SL2VL, 3 << 8 | 4), vl);
	ck_assert_mem_eq(vl, sl2vl, 16);
	wire_sl2vl_get(get("\1", WIRE_ATTR_SL2VL, 4 << 8 | 3), vl);
	ck_assert_uint_eq(vl[2], 0);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_SL2VL, 9 << 8, data), WIRE_STATUS_BAD_VALUE);
	ck_assert_uint_eq(set("\1\3", WIRE_ATTR_SL2VL, 0, data), 0);

	ck_assert_uint_eq(set("\1", WIRE_ATTR_VL_ARB, 2 << 16 | 4, data), 0);
	ck_assert_mem_eq(get("\1", WIRE_ATTR_VL_ARB, 2 << 16 | 4), data, 64);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_VL_ARB, 5 << 16 | 4, data), WIRE_STATUS_BAD_VALUE);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_VL_ARB, 4, data), WIRE_STATUS_BAD_VALUE);

	guids[0] = 99; /* the first cannot be changed */
	guids[1] = 0xabc;
	wire_guids_put(data, guids);
	ck_assert_uint_eq(set("\1\3", WIRE_ATTR_GUID_INFO, 0, data), 0);
	wire_guids_get(get("\1\3", WIRE_ATTR_GUID_INFO, 0), guids);
	ck_assert_uint_eq(guids[0], 0x3001);
	ck_assert_uint_eq(guids[1], 0xabc);
	for (int i = 0; i < 256; i++)
		n += sim_counts(sim)->sets_by_attr[i] > 0;
	ck_assert_int_eq(n, 6); /* LFT, MFT, P_Key, SL2VL, VLArb, GUIDInfo */
}
END_TEST

/* Ports 0..127 are told by block 0, by what their PortInfo says, and others are nobody's. */
START_TEST(test_port_states)
{
	uint8_t table[64], n_ports = sim_fabric(sim)->nodes[S1].n_ports;

	memcpy(table, get("\1", WIRE_ATTR_PORT_STATES, 0), 64);
	for (unsigned p = 0; p < WIRE_STATES_OF_BLOCK; p++)
		ck_assert_uint_eq(
		    wire_port_state_get(table, p), p <= n_ports ? get_port("\1", p).port_state : 0);
	ck_assert_uint_eq(
	    get_port("\1", 0).capability_mask2 & WIRE_CAP2_PORT_STATES, WIRE_CAP2_PORT_STATES);
	sim_unlink(sim, S1, 2);
	ck_assert_uint_eq(
	    wire_port_state_get(get("\1", WIRE_ATTR_PORT_STATES, 0), 2), WIRE_PORT_DOWN);
	ck_assert_uint_eq(
	    status_of(smp("\1", WIRE_GET, WIRE_ATTR_PORT_STATES, 1, NULL)), WIRE_STATUS_BAD_VALUE);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_PORT_STATES, 0, table), WIRE_STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(status_of(smp("", WIRE_GET, WIRE_ATTR_PORT_STATES, 0, NULL)),
	    WIRE_STATUS_BAD_METHOD_ATTR);
}
END_TEST

START_TEST(test_port_states_otherwise)
{
	sim_set_port_states(sim, S1, SIM_STATES_NONE);
	ck_assert_uint_eq(get_port("\1", 0).capability_mask2 & WIRE_CAP2_PORT_STATES, 0);
	ck_assert_uint_eq(status_of(smp("\1", WIRE_GET, WIRE_ATTR_PORT_STATES, 0, NULL)),
	    WIRE_STATUS_BAD_METHOD_ATTR);
	sim_set_port_states(sim, S1, SIM_STATES_REFUSED);
	ck_assert_uint_ne(get_port("\1", 0).capability_mask2 & WIRE_CAP2_PORT_STATES, 0);
	ck_assert_uint_eq(status_of(smp("\1", WIRE_GET, WIRE_ATTR_PORT_STATES, 0, NULL)),
	    WIRE_STATUS_BAD_METHOD_ATTR);
	sim_set_port_states(sim, S1, SIM_STATES_ZERO);
	for (unsigned i = 0; i < 64; i++)
		ck_assert_uint_eq(get("\1", WIRE_ATTR_PORT_STATES, 0)[i], 0);
	sim_set_port_states(sim, S1, SIM_STATES_STUCK);
	ck_assert_uint_eq(get_port("\1", 1).port_state, WIRE_PORT_INIT);
	ck_assert_uint_eq(
	    wire_port_state_get(get("\1", WIRE_ATTR_PORT_STATES, 0), 1), WIRE_PORT_ACTIVE);
}
END_TEST

START_TEST(test_versions_and_methods)
{
	struct mad m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL);

	m.bytes[2] = 9;
	ck_assert_uint_eq(status_of(ask(&m)), WIRE_STATUS_BAD_CLASS_VERSION);
	ck_assert_uint_eq(
	    status_of(smp("", 0x03, WIRE_ATTR_NODE_INFO, 0, NULL)), WIRE_STATUS_BAD_METHOD);
}
END_TEST

/* ---- ways */

START_TEST(test_directed)
{
	const struct mad *m = smp("\1\2\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL);
	struct wire_header h;
	uint64_t handled;

	ck_assert_uint_eq(status_of(m), 0);
	wire_header_get(m->bytes, &h);
	ck_assert(h.dr_return);
	ck_assert_uint_eq(h.hop_pointer, 0);
	ck_assert_uint_eq(h.tid, next_tid - 1);
	ck_assert_uint_eq(m->addr.lid, WIRE_LID_PERMISSIVE);
	ck_assert_mem_eq(m->bytes + WIRE_DR_RETURN_PATH_AT, "\0\1\1\1", 4);
	ck_assert_ptr_null(smp("\1\7", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)); /* no cable */
	handled = sim_counts(sim)->smps;
	ck_assert_ptr_null(smp("\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)); /* not our port */
	ck_assert_ptr_null(
	    smp("\1\3\1", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)); /* through a CA */
	ck_assert_uint_eq(sim_counts(sim)->smps, handled);
	ck_assert_uint_eq(sim_counts(sim)->no_way, 3);
	sim_unlink(sim, S1, 2);
	ck_assert_ptr_null(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
	ck_assert_uint_eq(status_of(smp("\1\4", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)), 0);
}
END_TEST

static const struct mad *
ask_lid(uint16_t lid, uint16_t attr)
{
	struct mad m = request(WIRE_CLASS_SMP_LID, WIRE_GET, attr, 0, NULL);

	m.addr.lid = lid;
	return ask(&m);
}

START_TEST(test_lid_routed)
{
	struct wire_node_info ni;
	struct sim_way way;

	ck_assert_ptr_null(ask_lid(2, WIRE_ATTR_NODE_INFO));
	configure(); /* all links stay in INIT: VL15 passes */
	for (unsigned lid = 1; lid <= 12; lid++) {
		static const uint64_t guids[13] = {
			[1] = 0x1000, [2] = 0x2000, [3] = 0x3000, [11] = 0x100, [12] = 0x200
		};
		const struct mad *m = ask_lid((uint16_t)lid, WIRE_ATTR_NODE_INFO);

		if (guids[lid] == 0) {
			ck_assert_ptr_null(m);
			continue;
		}
		ck_assert_uint_eq(status_of(m), 0);
		wire_node_info_get(m->bytes + WIRE_SMP_DATA_AT, &ni);
		ck_assert_uint_eq(ni.node_guid, guids[lid]);
		ck_assert_uint_eq(m->addr.lid, lid);
	}
	/* data does not pass before ACTIVE */
	ck_assert(!sim_walk(sim, (struct sim_place){ H1, 1 }, 3, &way));
	ck_assert_uint_eq(set_state("", 1, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("", 1, WIRE_PORT_ACTIVE, 0), 0);
	ck_assert_uint_eq(set_state("\1", 1, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1", 1, WIRE_PORT_ACTIVE, 0), 0);
	ck_assert_uint_eq(set_state("\1", 3, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1\3", 1, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1", 3, WIRE_PORT_ACTIVE, 0), 0);
	ck_assert(sim_walk(sim, (struct sim_place){ H1, 1 }, 3, &way));
	ck_assert_uint_eq(way.at.node, H3);
	ck_assert_uint_eq(way.n_hops, 2);
}
END_TEST

/* LinearFDBTop bounds what is forwarded, whatever the table says. */
START_TEST(test_linear_top)
{
	struct wire_switch_info si;
	uint8_t data[64];

	configure();
	ck_assert_uint_eq(status_of(ask_lid(12, WIRE_ATTR_NODE_INFO)), 0);
	wire_switch_info_get(get("\1", WIRE_ATTR_SWITCH_INFO, 0), &si);
	si.linear_fdb_top = 11;
	wire_switch_info_put(data, &si);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_SWITCH_INFO, 0, data), 0);
	ck_assert_ptr_null(ask_lid(12, WIRE_ATTR_NODE_INFO));
	ck_assert_uint_eq(status_of(ask_lid(11, WIRE_ATTR_NODE_INFO)), 0);
}
END_TEST

START_TEST(test_lid_loop)
{
	uint8_t block[64];

	configure();
	memset(block, 255, 64);
	block[1] = 1, block[5] = 2, block[11] = 0; /* LID 5: S1 -> S2 -> S1 ... */
	set_lft("\1", block);
	block[5] = 1, block[12] = 0;
	set_lft("\1\2", block);
	ck_assert_ptr_null(ask_lid(5, WIRE_ATTR_NODE_INFO)); /* and comes to an end */
}
END_TEST

/* An agent takes one SMP at a time; others do not wait for it. */
START_TEST(test_agent_is_busy)
{
	int64_t each_ns = 5000; /* the default of sim_options */

	n_arrived = 0;
	for (int i = 0; i < 11; i++) {
		struct mad m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL);

		direct(&m, i < 10 ? "\1" : "\1\3");
		ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	}
	local->ops->poll(local, 3 * each_ns / 2, &err);
	ck_assert_uint_eq(n_arrived, 2); /* the first of S1, and H3's */
	while (local->ops->poll(local, 10 * each_ns - 1, &err) > 0)
		;
	ck_assert_uint_eq(n_arrived, 10);
	while (local->ops->poll(local, 11 * each_ns, &err) > 0)
		;
	ck_assert_uint_eq(n_arrived, 11);
}
END_TEST

START_TEST(test_mixed)
{
	struct mad m;
	const struct mad *answer;
	struct wire_node_info ni;
	struct wire_header h;

	configure();
	/* by LID to S2, then out of its port 2 */
	m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL);
	direct(&m, "\2");
	wire_header_get(m.bytes, &h);
	h.dr_slid = 1;
	wire_header_put(m.bytes, &h);
	m.addr.lid = 12;
	answer = ask(&m);
	ck_assert_uint_eq(status_of(answer), 0);
	wire_node_info_get(answer->bytes + WIRE_SMP_DATA_AT, &ni);
	ck_assert_uint_eq(ni.node_guid, 0x2000);
	/* directed to S1, then by LID to H2 */
	m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL);
	direct(&m, "\1");
	wire_header_get(m.bytes, &h);
	h.dr_dlid = 2;
	wire_header_put(m.bytes, &h);
	answer = ask(&m);
	ck_assert_uint_eq(status_of(answer), 0);
	wire_node_info_get(answer->bytes + WIRE_SMP_DATA_AT, &ni);
	ck_assert_uint_eq(ni.node_guid, 0x2000);
	/* a LID of nobody */
	h.dr_dlid = 40;
	h.tid = next_tid++;
	wire_header_put(m.bytes, &h);
	ck_assert_ptr_null(ask(&m));
}
END_TEST

/* ---- states */

START_TEST(test_state_requests)
{
	static const struct {
		uint8_t now, asked, status;
	} rows[] = { { WIRE_PORT_INIT, WIRE_PORT_INIT, 1 }, { WIRE_PORT_INIT, WIRE_PORT_ACTIVE, 1 },
		{ WIRE_PORT_INIT, 5, 1 }, { WIRE_PORT_INIT, WIRE_PORT_ARMED, 0 },
		{ WIRE_PORT_ARMED, WIRE_PORT_ARMED, 0 }, { WIRE_PORT_ARMED, WIRE_PORT_INIT, 1 },
		{ WIRE_PORT_ARMED, WIRE_PORT_ACTIVE, 0 }, { WIRE_PORT_ACTIVE, WIRE_PORT_ARMED, 1 },
		{ WIRE_PORT_ACTIVE, WIRE_PORT_ACTIVE, 1 }, { WIRE_PORT_ACTIVE, 0, 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_uint_eq(get_port("\1", 2).port_state, rows[i].now);
		ck_assert_msg(set_state("\1", 2, rows[i].asked, 0) ==
			(rows[i].status ? WIRE_STATUS_BAD_VALUE : 0),
		    "row %zu", i);
	}
	/* physical state only of a port that goes down */
	ck_assert_uint_eq(set_state("\1", 2, 0, WIRE_PHYS_DISABLED), WIRE_STATUS_BAD_VALUE);
	ck_assert_uint_eq(get_port("\1", 2).port_state, WIRE_PORT_ACTIVE);
}
END_TEST

START_TEST(test_peer_follows_to_active)
{
	ck_assert_uint_eq(set_state("\1", 2, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1", 2, WIRE_PORT_ACTIVE, 0), 0);
	ck_assert_uint_eq(get_port("\1\2", 1).port_state, WIRE_PORT_INIT); /* not armed */
	ck_assert_uint_eq(set_state("\1", 4, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1\2", 4, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1", 4, WIRE_PORT_ACTIVE, 0), 0);
	ck_assert_uint_eq(get_port("\1\2", 4).port_state, WIRE_PORT_ACTIVE);
}
END_TEST

START_TEST(test_down_and_up_again)
{
	clear_change("\1");
	clear_change("\1\2");
	/* Set DOWN: tells the far switch, not ours; then it trains anew */
	ck_assert_uint_eq(set_state("\1", 4, WIRE_PORT_DOWN, 0), 0);
	ck_assert_uint_eq(get_port("\1", 4).port_state, WIRE_PORT_DOWN);
	ck_assert_uint_eq(get_port("\1\2", 4).port_state, WIRE_PORT_DOWN);
	ck_assert(!has_changed("\1"));
	ck_assert(has_changed("\1\2"));
	sim_run(sim, sim_now_ns(sim) + 2 * MS);
	ck_assert_uint_eq(get_port("\1", 4).port_state, WIRE_PORT_INIT);
	ck_assert(has_changed("\1"));
	/* disabled: stays down until it is told to poll */
	ck_assert_uint_eq(set_state("\1", 4, WIRE_PORT_DOWN, WIRE_PHYS_DISABLED), 0);
	sim_run(sim, sim_now_ns(sim) + 10 * MS);
	ck_assert_uint_eq(get_port("\1", 4).phys_state, WIRE_PHYS_DISABLED);
	ck_assert_uint_eq(get_port("\1\2", 4).phys_state, WIRE_PHYS_POLLING);
	ck_assert_uint_eq(set_state("\1", 4, 0, WIRE_PHYS_POLLING), 0);
	sim_run(sim, sim_now_ns(sim) + 2 * MS);
	ck_assert_uint_eq(get_port("\1", 4).port_state, WIRE_PORT_INIT);
	ck_assert_uint_eq(get_port("\1\2", 4).port_state, WIRE_PORT_INIT);
}
END_TEST

/* ---- M_Key */

START_TEST(test_m_key)
{
	for (uint8_t protect = 0; protect <= 3; protect++) {
		struct wire_port_info pi = edit_port("\1\3", 1);
		const struct mad *m;

		pi.lid = 3;
		pi.m_key = M_KEY;
		pi.m_key_protect = protect;
		ck_assert_uint_eq(set_port("\1\3", 1, &pi), 0);
		key = 0;
		m = smp("\1\3", WIRE_GET, WIRE_ATTR_PORT_INFO, 1, NULL);
		if (protect < 2) {
			ck_assert_uint_eq(status_of(m), 0);
			wire_port_info_get(m->bytes + WIRE_SMP_DATA_AT, &pi);
			ck_assert_uint_eq(pi.m_key, protect == 0 ? M_KEY : 0);
		} else {
			ck_assert_ptr_null(m);
		}
		ck_assert_ptr_null(smp("\1\3", WIRE_SET, WIRE_ATTR_PORT_INFO, 1, NULL));
		key = M_KEY;
		ck_assert_uint_eq(get_port("\1\3", 1).m_key, M_KEY);
	}
	ck_assert_uint_eq(get_port("\1\3", 1).m_key_violations, 6);
	key = 0;
}
END_TEST

START_TEST(test_m_key_lease)
{
	struct wire_port_info pi = edit_port("\1\3", 1);

	pi.lid = 3;
	pi.m_key = M_KEY;
	pi.m_key_protect = 2;
	pi.m_key_lease_period_s = 1;
	ck_assert_uint_eq(set_port("\1\3", 1, &pi), 0);
	ck_assert_ptr_null(smp("\1\3", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
	sim_run(sim, sim_now_ns(sim) + 2000 * MS); /* nobody who knows it comes */
	ck_assert_uint_eq(status_of(smp("\1\3", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)), 0);
	ck_assert_uint_eq(get_port("\1\3", 1).m_key_protect, 0);
}
END_TEST

/* ---- adaptive routing */

/* How often a packet from H1 to the LID leaves S1 by each port, of 200. */
static void
count_ways(uint16_t lid, unsigned by[SWITCH_PORTS + 1])
{
	uint32_t first = sim_fabric(sim)->nodes[S1].first_port;

	ck_assert(pma_start(sim_fabric(sim)));
	for (unsigned p = 0; p <= SWITCH_PORTS; p++)
		by[p] = 0;
	for (unsigned p = 1; p <= SWITCH_PORTS; p++)
		sim_fabric(sim)->counters[first + p][COUNT_XMIT_PACKETS] = 0;
	for (unsigned i = 0; i < 200; i++)
		ck_assert(sim_carry(sim, (struct sim_place){ H1, 1 }, lid, 256, 256));
	for (unsigned p = 1; p <= SWITCH_PORTS; p++)
		by[p] = (unsigned)sim_fabric(sim)->counters[first + p][COUNT_XMIT_PACKETS];
}

/* Group 3 of S1 is its two cables to S2; the LID of H2 is in it. */
START_TEST(test_adaptive)
{
	const uint8_t on[64] = { ADAPTIVE_VERSION, 1 }, off[64] = { ADAPTIVE_VERSION, 0 };
	uint8_t groups[64] = { 1 << 2 | 1 << 4 }, lids[64] = { 0 };
	unsigned by[SWITCH_PORTS + 1];
	struct wire_node_info ni;
	uint8_t port[254];
	uint16_t lid;

	configure();
	activate();
	set_state("\1", 4, WIRE_PORT_ARMED, 0);
	set_state("\1\2", 4, WIRE_PORT_ARMED, 0);
	set_state("\1", 4, WIRE_PORT_ACTIVE, 0);
	lid = get_port("\1\2\2", 1).lid;
	ck_assert_uint_eq(set("\1", ADAPTIVE_INFO, 0, on), WIRE_STATUS_BAD_METHOD_ATTR);
	ck_assert_int_eq(sim_set_adaptive(sim, S1, 3, &err), 0);
	wire_node_info_get(get("\1", WIRE_ATTR_NODE_INFO, 0), &ni);
	ck_assert_uint_eq(ni.vendor_id, ADAPTIVE_VENDOR_ID);
	ck_assert_uint_eq(ni.device_id, ADAPTIVE_DEVICE_ID);
	ck_assert_uint_eq(wire_get16(get("\1", ADAPTIVE_INFO, 0) + 2), 3);
	wire_put16(lids + (size_t)2 * lid, 4); /* there are three groups */
	ck_assert_uint_eq(set("\1", ADAPTIVE_TABLE, 0, lids), WIRE_STATUS_BAD_VALUE);
	wire_put16(lids + (size_t)2 * lid, 3);
	ck_assert_uint_eq(set("\1", ADAPTIVE_TABLE, 0, lids), 0);
	ck_assert_uint_eq(set("\1", ADAPTIVE_GROUPS, 1, groups), 0);
	ck_assert_uint_eq(set("\1", ADAPTIVE_GROUPS, 2, groups), WIRE_STATUS_BAD_VALUE);
	ck_assert_mem_eq(get("\1", ADAPTIVE_GROUPS, 1), groups, 64);
	ck_assert_mem_eq(get("\1", ADAPTIVE_TABLE, 0), lids, 64);
	count_ways(lid, by); /* off */
	ck_assert_uint_eq(by[2], 200);
	ck_assert_uint_eq(sim_ports_to(sim, S1, lid, port), 1);
	ck_assert_uint_eq(set("\1", ADAPTIVE_INFO, 0, on), 0);
	ck_assert_uint_eq(sim_ports_to(sim, S1, lid, port), 2);
	count_ways(lid, by);
	ck_assert_uint_eq(by[2] + by[4], 200);
	ck_assert(by[2] > 60 && by[4] > 60);
	sim_unlink(sim, S1, 2); /* the LFT's port: the other one of the group is left */
	count_ways(lid, by);
	ck_assert_uint_eq(by[4], 200);
	ck_assert_uint_eq(set("\1", ADAPTIVE_INFO, 0, off), 0);
	ck_assert(!sim_carry(sim, (struct sim_place){ H1, 1 }, lid, 256, 256));
	ck_assert_uint_eq(set("\1", ADAPTIVE_INFO, 0, on), 0);
	sim_reboot(sim, S1, MS);
	wait_ms(50);
	ck_assert_uint_eq(get("\1", ADAPTIVE_INFO, 0)[1], 0);
	memset(lids, 0, sizeof(lids));
	ck_assert_mem_eq(get("\1", ADAPTIVE_TABLE, 0), lids, 64);
	ck_assert_mem_eq(get("\1", ADAPTIVE_GROUPS, 1), lids, 64);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("sim");
	TCase *lax = tcase_create("lax");
	TCase *own = tcase_create("own");

	tcase_add_checked_fixture(lax, setup, teardown);
	tcase_add_test(lax, test_bytes);
	tcase_add_test(lax, test_node_info);
	tcase_add_test(lax, test_switch_info);
	tcase_add_test(lax, test_port_info_of_end);
	tcase_add_test(lax, test_port_info_of_switch);
	tcase_add_test(lax, test_port_info_refused);
	tcase_add_test(lax, test_tables);
	tcase_add_test(lax, test_port_states);
	tcase_add_test(lax, test_port_states_otherwise);
	tcase_add_test(lax, test_versions_and_methods);
	tcase_add_test(lax, test_directed);
	tcase_add_test(lax, test_lid_routed);
	tcase_add_test(lax, test_linear_top);
	tcase_add_test(lax, test_lid_loop);
	tcase_add_test(lax, test_agent_is_busy);
	tcase_add_test(lax, test_mixed);
	tcase_add_test(lax, test_state_requests);
	tcase_add_test(lax, test_peer_follows_to_active);
	tcase_add_test(lax, test_down_and_up_again);
	tcase_add_test(lax, test_m_key);
	tcase_add_test(lax, test_m_key_lease);
	tcase_add_test(lax, test_adaptive);
	suite_add_tcase(s, lax);
	tcase_add_test(own, test_xdr_and_default_place);
	tcase_add_test(own, test_place_by_port_guid);
	tcase_add_test(own, test_kinds_of_a_program);
	suite_add_tcase(s, own);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
