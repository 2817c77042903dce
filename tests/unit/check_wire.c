/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_wire - MAD formats: every field round trips with random neighbours
 * and stands where its row says, no two fields share a bit, and every row is
 * where libibmad's table has it.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_IBMAD
#include <infiniband/mad.h>
#endif

#include "core/wire/wire.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/wire_bits.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define STRUCT_ROOM 512

#define PUT_GET(type) \
	static void put_##type(uint8_t *at, const void *v) \
	{ \
		wire_##type##_put(at, v); \
	} \
	static void get_##type(const uint8_t *at, void *v) \
	{ \
		wire_##type##_get(at, v); \
	}
PUT_GET(header)
PUT_GET(node_info)
PUT_GET(switch_info)
PUT_GET(port_info)
PUT_GET(sm_info)
PUT_GET(notice)

static const struct format {
	uint16_t attr;	    /* 0: a header ... */
	uint8_t mgmt_class; /* ... of this class */
	uint8_t n_bytes;    /* that put writes */
	size_t struct_bytes;
	void (*put)(uint8_t *at, const void *v);
	void (*get)(const uint8_t *at, void *v);
} formats[] = {
	{ 0, WIRE_CLASS_SA, 24, sizeof(struct wire_header), put_header, get_header },
	{ 0, WIRE_CLASS_SMP_LID, 32, sizeof(struct wire_header), put_header, get_header },
	{ 0, WIRE_CLASS_SMP_DR, 40, sizeof(struct wire_header), put_header, get_header },
	{ WIRE_ATTR_NODE_INFO, 0, 64, sizeof(struct wire_node_info), put_node_info, get_node_info },
	{ WIRE_ATTR_SWITCH_INFO, 0, 64, sizeof(struct wire_switch_info), put_switch_info,
	    get_switch_info },
	{ WIRE_ATTR_PORT_INFO, 0, 64, sizeof(struct wire_port_info), put_port_info, get_port_info },
	{ WIRE_ATTR_SM_INFO, 0, 64, sizeof(struct wire_sm_info), put_sm_info, get_sm_info },
	{ WIRE_ATTR_NOTICE, 0, 64, sizeof(struct wire_notice), put_notice, get_notice },
};

static const struct wire_field *
fields_of(const struct format *f, size_t *n)
{
	return f->attr ? wire_attr_fields(f->attr, n) : wire_header_fields(f->mgmt_class, n);
}

/* Random values that fit their fields; a header keeps its class. */
static void
fill(const struct format *f, void *v, struct fm_rng *rng)
{
	size_t n;
	const struct wire_field *row = fields_of(f, &n);

	memset(v, 0, STRUCT_ROOM);
	for (size_t i = 0; i < n; i++)
		set_member(v, &row[i], fm_rng_next(rng) & low_bits(row[i].width));
	if (f->attr == 0)
		((struct wire_header *)v)->mgmt_class = f->mgmt_class;
	if (f->attr == WIRE_ATTR_NOTICE)
		for (int i = 0; i < 54; i++)
			((struct wire_notice *)v)->details[i] = (uint8_t)fm_rng_next(rng);
}

START_TEST(round_trip)
{
	const struct format *f = &formats[_i];
	_Alignas(8) uint8_t v[STRUCT_ROOM], back[STRUCT_ROOM];
	uint8_t wire[WIRE_MAD_BYTES];
	struct fm_rng rng;
	size_t n;
	const struct wire_field *row = fields_of(f, &n);

	fm_rng_seed(&rng, 11 + (uint64_t)_i);
	for (int round = 0; round < 1000; round++) {
		fill(f, v, &rng);
		memset(wire, 0xa5, sizeof(wire));
		f->put(wire, v);
		for (size_t i = 0; i < n; i++)
			ck_assert_msg(bits_at(wire, &row[i]) == get_member(v, &row[i]),
			    "%s is not at bit %u", row[i].name, row[i].at);
		for (size_t i = f->n_bytes; i < sizeof(wire); i++)
			ck_assert_uint_eq(wire[i], 0xa5);
		memset(back, 0, sizeof(back));
		f->get(wire, back);
		ck_assert_mem_eq(v, back, f->struct_bytes);
	}
}
END_TEST

/* Bits no row names are 0 on the wire, and a value too wide harms no neighbour. */
START_TEST(reserved_bits)
{
	const struct format *f = &formats[_i];
	_Alignas(8) uint8_t v[STRUCT_ROOM];
	uint8_t wire[WIRE_MAD_BYTES] = { 0 }, named[WIRE_MAD_BYTES] = { 0 };
	size_t n;
	const struct wire_field *row = fields_of(f, &n);

	memset(v, 0xff, sizeof(v));
	for (size_t i = 0; i < n; i++)
		for (unsigned bit = row[i].at; bit < (unsigned)row[i].at + row[i].width; bit++)
			named[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	if (f->attr == 0) {
		((struct wire_header *)v)->mgmt_class = f->mgmt_class;
		named[1] = f->mgmt_class;
	}
	if (f->attr == WIRE_ATTR_NOTICE)
		memset(named + 10, 0xff, 54);
	memset(wire, 0xff, f->n_bytes);
	f->put(wire, v);
	ck_assert_mem_eq(wire, named, sizeof(wire));
}
END_TEST

START_TEST(rows_are_disjoint)
{
	size_t n;
	const struct wire_field *row = fields_of(&formats[_i], &n);
	uint8_t taken[8 * WIRE_MAD_BYTES] = { 0 };

	ck_assert_uint_gt(n, 0);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_le((size_t)row[i].at + row[i].width, 8u * formats[_i].n_bytes);
		ck_assert_uint_le(row[i].width, 8u * row[i].member_bytes);
		for (unsigned b = 0; b < row[i].width; b++)
			ck_assert_msg(!taken[row[i].at + b]++, "%s overlaps", row[i].name);
	}
}
END_TEST

#ifdef HAVE_IBMAD
/* The attribute (0xffff: header), our name, libibmad's.  A row not in this
 * list fails the test, so does a line without a row. */
static const struct peer_row {
	uint16_t attr;
	const char *name;
	enum MAD_FIELDS field;
} peer_rows[] = {
#define HEADER 0xffff
	{ HEADER, "base_version", IB_MAD_BASEVER_F },
	{ HEADER, "mgmt_class", IB_MAD_MGMTCLASS_F },
	{ HEADER, "class_version", IB_MAD_CLASSVER_F },
	{ HEADER, "dr_return", IB_DRSMP_DIRECTION_F },
	{ HEADER, "hop_pointer", IB_DRSMP_HOPPTR_F },
	{ HEADER, "hop_count", IB_DRSMP_HOPCNT_F },
	{ HEADER, "tid", IB_MAD_TRID_F },
	{ HEADER, "attr", IB_MAD_ATTRID_F },
	{ HEADER, "modifier", IB_MAD_ATTRMOD_F },
	{ HEADER, "m_key", IB_MAD_MKEY_F },
	{ HEADER, "dr_slid", IB_DRSMP_DRSLID_F },
	{ HEADER, "dr_dlid", IB_DRSMP_DRDLID_F },
#define P(name, field) \
	{ \
		WIRE_ATTR_PORT_INFO, #name, IB_PORT_##field##_F \
	}
	P(m_key, MKEY),
	P(gid_prefix, GID_PREFIX),
	P(lid, LID),
	P(master_sm_lid, SMLID),
	P(capability_mask, CAPMASK),
	P(diag_code, DIAG),
	P(m_key_lease_period_s, MKEY_LEASE),
	P(local_port, LOCAL_PORT),
	P(link_width_enabled, LINK_WIDTH_ENABLED),
	P(link_width_supported, LINK_WIDTH_SUPPORTED),
	P(link_width_active, LINK_WIDTH_ACTIVE),
	P(link_speed_supported, LINK_SPEED_SUPPORTED),
	P(port_state, STATE),
	P(phys_state, PHYS_STATE),
	P(down_default_state, LINK_DOWN_DEF),
	P(m_key_protect, MKEY_PROT_BITS),
	P(lmc, LMC),
	P(link_speed_active, LINK_SPEED_ACTIVE),
	P(link_speed_enabled, LINK_SPEED_ENABLED),
	P(neighbor_mtu, NEIGHBOR_MTU),
	P(master_sm_sl, SMSL),
	P(vl_cap, VL_CAP),
	P(init_type, INIT_TYPE),
	P(vl_high_limit, VL_HIGH_LIMIT),
	P(vl_arb_high_cap, VL_ARBITRATION_HIGH_CAP),
	P(vl_arb_low_cap, VL_ARBITRATION_LOW_CAP),
	P(init_type_reply, INIT_TYPE_REPLY),
	P(mtu_cap, MTU_CAP),
	P(vl_stall_count, VL_STALL_COUNT),
	P(hoq_life, HOQ_LIFE),
	P(operational_vls, OPER_VLS),
	P(partition_enforce_in, PART_EN_INB),
	P(partition_enforce_out, PART_EN_OUTB),
	P(filter_raw_in, FILTER_RAW_INB),
	P(filter_raw_out, FILTER_RAW_OUTB),
	P(m_key_violations, MKEY_VIOL),
	P(p_key_violations, PKEY_VIOL),
	P(q_key_violations, QKEY_VIOL),
	P(guid_cap, GUID_CAP),
	P(client_reregister, CLIENT_REREG),
	P(mcast_pkey_trap_suppression, MCAST_PKEY_SUPR_ENAB),
	P(subnet_timeout, SUBN_TIMEOUT),
	P(resp_time_value, RESP_TIME_VAL),
	P(local_phys_errors, LOCAL_PHYS_ERR),
	P(overrun_errors, OVERRUN_ERR),
	P(max_credit_hint, MAX_CREDIT_HINT),
	P(link_round_trip_latency, LINK_ROUND_TRIP),
	P(capability_mask2, CAPMASK2),
	P(link_speed_ext_active, LINK_SPEED_EXT_ACTIVE),
	P(link_speed_ext_supported, LINK_SPEED_EXT_SUPPORTED),
	P(link_speed_ext_enabled, LINK_SPEED_EXT_ENABLED),
#define N(name, field) \
	{ \
		WIRE_ATTR_NODE_INFO, #name, IB_NODE_##field##_F \
	}
	N(base_version, BASE_VERS),
	N(class_version, CLASS_VERS),
	N(node_type, TYPE),
	N(n_ports, NPORTS),
	N(system_guid, SYSTEM_GUID),
	N(node_guid, GUID),
	N(port_guid, PORT_GUID),
	N(partition_cap, PARTITION_CAP),
	N(device_id, DEVID),
	N(revision, REVISION),
	N(local_port, LOCAL_PORT),
	N(vendor_id, VENDORID),
#define S(name, field) \
	{ \
		WIRE_ATTR_SWITCH_INFO, #name, IB_SW_##field##_F \
	}
	S(linear_fdb_cap, LINEAR_FDB_CAP),
	S(random_fdb_cap, RANDOM_FDB_CAP),
	S(mcast_fdb_cap, MCAST_FDB_CAP),
	S(linear_fdb_top, LINEAR_FDB_TOP),
	S(default_port, DEF_PORT),
	S(default_mcast_primary, DEF_MCAST_PRIM),
	S(default_mcast_not_primary, DEF_MCAST_NOT_PRIM),
	S(life_time_value, LIFE_TIME),
	S(port_state_change, STATE_CHANGE),
	S(optimized_slvl, OPT_SLTOVL_MAPPING),
	S(lids_per_port, LIDS_PER_PORT),
	S(partition_enforcement_cap, PARTITION_ENFORCE_CAP),
	S(inbound_enforcement_cap, PARTITION_ENF_INB),
	S(outbound_enforcement_cap, PARTITION_ENF_OUTB),
	S(filter_raw_inbound_cap, FILTER_RAW_INB),
	S(filter_raw_outbound_cap, FILTER_RAW_OUTB),
	S(enhanced_port0, ENHANCED_PORT0),
	S(mcast_fdb_top, MCAST_FDB_TOP),
#define M(name, field) \
	{ \
		WIRE_ATTR_SM_INFO, #name, IB_SMINFO_##field##_F \
	}
	M(guid, GUID),
	M(sm_key, KEY),
	M(act_count, ACT),
	M(priority, PRIO),
	M(state, STATE),
#define T(name, field) \
	{ \
		WIRE_ATTR_NOTICE, #name, IB_NOTICE_##field##_F \
	}
	T(generic, IS_GENERIC),
	T(type, TYPE),
	T(producer_type, PRODUCER),
	T(trap_number, TRAP_NUMBER),
	T(issuer_lid, ISSUER_LID),
	T(toggle, TOGGLE),
	T(toggle_count, COUNT),
};

static enum MAD_FIELDS
peer_of(const struct format *f, const char *name)
{
	uint16_t attr = f->attr ? f->attr : HEADER;

	/* libibmad splits these two: 1 + 7 bits, and by class. */
	if (attr == HEADER && strcmp(name, "status") == 0)
		return f->mgmt_class == WIRE_CLASS_SMP_DR ? IB_DRSMP_STATUS_F : IB_MAD_STATUS_F;
	for (size_t i = 0; i < N_OF(peer_rows); i++)
		if (peer_rows[i].attr == attr && strcmp(peer_rows[i].name, name) == 0)
			return peer_rows[i].field;
	return IB_NO_FIELD;
}

static uint64_t
peer_get(uint8_t *wire, enum MAD_FIELDS field, unsigned width)
{
	return width == 64 ? mad_get_field64(wire, 0, field) : mad_get_field(wire, 0, field);
}

START_TEST(same_as_libibmad)
{
	const struct format *f = &formats[_i];
	_Alignas(8) uint8_t v[STRUCT_ROOM];
	uint8_t wire[WIRE_MAD_BYTES];
	struct fm_rng rng;
	size_t n;
	const struct wire_field *row = fields_of(f, &n);

	fm_rng_seed(&rng, 42);
	for (int round = 0; round < 100; round++) {
		fill(f, v, &rng);
		memset(wire, 0, sizeof(wire));
		f->put(wire, v);
		for (size_t i = 0; i < n; i++) {
			bool is_method = f->attr == 0 && strcmp(row[i].name, "method") == 0;
			enum MAD_FIELDS field = peer_of(f, row[i].name);
			uint64_t ours = get_member(v, &row[i]);

			if (is_method) { /* 1 + 7 bits there */
				ck_assert_uint_eq(
				    ours >> 7, mad_get_field(wire, 0, IB_MAD_RESPONSE_F));
				ck_assert_uint_eq(
				    ours & 127, mad_get_field(wire, 0, IB_MAD_METHOD_F));
				continue;
			}
			if (strcmp(row[i].name, "link_speed_ext_active2") == 0)
				continue; /* younger than libibmad */
			ck_assert_msg(field != IB_NO_FIELD, "%s is not compared", row[i].name);
			ck_assert_msg(peer_get(wire, field, row[i].width) == ours,
			    "%s: 0x%jx here, 0x%jx in libibmad", row[i].name, (uintmax_t)ours,
			    (uintmax_t)peer_get(wire, field, row[i].width));
		}
	}
}
END_TEST

/* What libibmad writes as wide as it can, we read whole: widths agree too. */
START_TEST(same_widths_as_libibmad)
{
	const struct format *f = &formats[_i];
	_Alignas(8) uint8_t v[STRUCT_ROOM];
	uint8_t wire[WIRE_MAD_BYTES];
	size_t n;
	const struct wire_field *row = fields_of(f, &n);

	for (size_t i = 0; i < n; i++) {
		enum MAD_FIELDS field = peer_of(f, row[i].name);

		if (field == IB_NO_FIELD || field == IB_MAD_MGMTCLASS_F)
			continue; /* see above; the class chooses the layout */
		memset(wire, 0, sizeof(wire));
		if (row[i].width == 64)
			mad_set_field64(wire, 0, field, UINT64_MAX);
		else
			mad_set_field(wire, 0, field, (uint32_t)low_bits(row[i].width));
		if (f->attr == 0)
			wire[1] = f->mgmt_class;
		memset(v, 0, sizeof(v));
		f->get(wire, v);
		ck_assert_msg(get_member(v, &row[i]) == low_bits(row[i].width),
		    "%s is narrower than in libibmad", row[i].name);
	}
}
END_TEST
#endif

START_TEST(tables)
{
	uint8_t wire[64], wire2[64], vl[16], vl2[16];
	uint16_t pkeys[32];
	uint64_t guids[8];
	struct fm_rng rng;

	fm_rng_seed(&rng, 7);
	for (int i = 0; i < 64; i++)
		wire[i] = (uint8_t)fm_rng_next(&rng);
	wire_pkeys_get(wire, pkeys);
	ck_assert_uint_eq(pkeys[31], (unsigned)(wire[62] << 8 | wire[63]));
	wire_pkeys_put(wire2, pkeys);
	ck_assert_mem_eq(wire, wire2, 64);

	wire_guids_get(wire, guids);
	ck_assert_uint_eq(guids[7] & 0xff, wire[63]);
	memset(wire2, 0, 64);
	wire_guids_put(wire2, guids);
	ck_assert_mem_eq(wire, wire2, 64);

	for (int i = 0; i < 16; i++)
		vl[i] = (uint8_t)(15 - i);
	wire_sl2vl_put(wire2, vl);
	ck_assert_uint_eq(wire2[0], 0xfe);
	ck_assert_uint_eq(wire2[7], 0x10);
	ck_assert_uint_eq(wire2[8], 0);
	wire_sl2vl_get(wire2, vl2);
	ck_assert_mem_eq(vl, vl2, 16);

	memset(wire2, 0, 64);
	for (unsigned p = 128; p < 256; p++) /* of block 1 */
		wire_port_state_put(wire2, p, wire_port_state_get(wire, p));
	ck_assert_mem_eq(wire, wire2, 64);
	ck_assert_uint_eq(wire_port_state_get(wire, 0), wire[0] >> 4);
	ck_assert_uint_eq(wire_port_state_get(wire, 127), wire[63] & 0xf);
	ck_assert_uint_eq(wire_port_state_get(wire, 129), wire[0] & 0xf);
}
END_TEST

START_TEST(rates)
{
	static const struct {
		uint8_t width, speed, ext;
		uint32_t mbps;
	} rows[] = {
		{ 1, 1, 0, 2000 },
		{ 2, 1, 0, 8000 },
		{ 2, 2, 0, 16000 },
		{ 2, 4, 0, 32000 },
		{ 8, 1, 0, 24000 },
		{ 2, 4, 1, 54560 },
		{ 2, 4, 2, 100000 },
		{ 2, 4, 4, 200000 },
		{ 2, 4, 8, 400000 },
		{ 2, 4, 16, 800000 },
		{ 16, 4, 4, 100000 },
		{ 16, 4, 8, 200000 },
		{ 4, 4, 2, 200000 },
		{ 0, 0, 0, 2000 },
		{ 255, 255, 0, 16000 },
		{ 2, 4, 3, 100000 },
	};

	for (size_t i = 0; i < N_OF(rows); i++)
		ck_assert_uint_eq(
		    wire_link_mbps(rows[i].width, rows[i].speed, rows[i].ext), rows[i].mbps);
}
END_TEST

START_TEST(xdr)
{
	struct wire_port_info p = { .link_width_active = 2,
		.link_speed_active = 4,
		.link_speed_ext_active = 8,
		.link_speed_ext_active2 = 1 };

	ck_assert_uint_eq(wire_port_mbps(&p), 400000);
	p.capability_mask = WIRE_CAP_MASK2;
	p.capability_mask2 = WIRE_CAP2_EXT_SPEEDS2;
	ck_assert_uint_eq(wire_port_mbps(&p), 800000);
	p.link_speed_ext_active2 = 0;
	ck_assert_uint_eq(wire_port_mbps(&p), 400000);
}
END_TEST

START_TEST(names)
{
	ck_assert_str_eq(wire_attr_name(WIRE_ATTR_PORT_INFO), "PortInfo");
	ck_assert_str_eq(wire_attr_name(WIRE_ATTR_SM_INFO), "SMInfo");
	ck_assert_ptr_null(wire_attr_name(0x7777));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("wire");
	TCase *t = tcase_create("wire");

	tcase_add_loop_test(t, round_trip, 0, (int)N_OF(formats));
	tcase_add_loop_test(t, reserved_bits, 0, (int)N_OF(formats));
	tcase_add_loop_test(t, rows_are_disjoint, 0, (int)N_OF(formats));
#ifdef HAVE_IBMAD
	tcase_add_loop_test(t, same_as_libibmad, 0, (int)N_OF(formats));
	tcase_add_loop_test(t, same_widths_as_libibmad, 0, (int)N_OF(formats));
#endif
	tcase_add_test(t, tables);
	tcase_add_test(t, rates);
	tcase_add_test(t, xdr);
	tcase_add_test(t, names);
	suite_add_tcase(s, t);
	return run_suite(s);
}
