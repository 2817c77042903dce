/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_sa_wire - SA records: fields stand where their rows say and share no
 * bit, round trips keep them, a template asks for what its mask names and
 * nothing else; positions are those of libibmad where it knows the field, and
 * of a list by hand for the rest.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_IBMAD
#include <infiniband/mad.h>
#endif

#include "core/wire/sa_wire.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/wire_bits.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static const uint16_t attrs[] = { SA_CLASS_PORT_INFO, SA_NOTICE, SA_INFORM_INFO, SA_NODE_RECORD,
	SA_PORT_INFO_RECORD, SA_SL2VL_RECORD, SA_SWITCH_INFO_RECORD, SA_LFT_RECORD, SA_MFT_RECORD,
	SA_SM_INFO_RECORD, SA_LINK_RECORD, SA_GUID_INFO_RECORD, SA_SERVICE_RECORD, SA_PKEY_RECORD,
	SA_PATH_RECORD, SA_VL_ARB_RECORD, SA_MC_MEMBER_RECORD, SA_TRACE_RECORD,
	SA_MULTI_PATH_RECORD, SA_INFORM_INFO_RECORD };

static struct wire_field
nth(const struct sa_field *f, unsigned i)
{
	struct wire_field one = f->f;

	one.at = (uint16_t)(one.at + i * one.width);
	one.member_at = (uint16_t)(one.member_at + i * one.member_bytes);
	return one;
}

static uint64_t
bits_of(const struct sa_field *f, unsigned i)
{
	return f->each ? f->component << i : f->component;
}

/* Run body for each single field `one` of record r, which is the i-th of row f. */
#define FOR_FIELDS(r, f, i, one) \
	for (const struct sa_field *f = (r)->field; f < (r)->field + (r)->n_fields; f++) \
		for (unsigned i = 0; i < f->count; i++) \
			for (struct wire_field one = nth(f, i), *once = &one; once != NULL; \
			     once = NULL)

static void
fill(const struct sa_record *r, union sa_any *v, struct fm_rng *rng)
{
	memset(v, 0, sizeof(*v));
	FOR_FIELDS(r, f, i, one)
	set_member(v, &one, fm_rng_next(rng) & low_bits(one.width));
}

static void
round_trip_of(const struct sa_record *r, uint64_t seed)
{
	union sa_any v, back;
	uint8_t wire[256];
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	for (int round = 0; round < 40; round++) {
		fill(r, &v, &rng);
		memset(wire, 0xa5, sizeof(wire));
		sa_record_put(r, wire, &v);
		FOR_FIELDS(r, f, i, one)
		ck_assert_msg(bits_at(wire, &one) == get_member(&v, &one), "%s %s[%u] is not there",
		    r->name, one.name, i);
		for (size_t i = 8u * sa_record_words(r); i < sizeof(wire); i++)
			ck_assert_uint_eq(wire[i], 0xa5);
		memset(&back, 0, sizeof(back));
		/* not a byte behind the record is read */
		uint8_t *exact = malloc(r->bytes);
		ck_assert_ptr_nonnull(exact);
		memcpy(exact, wire, r->bytes);
		sa_record_get(r, exact, &back);
		free(exact);
		ck_assert_mem_eq(&v, &back, r->struct_bytes);
	}
}

START_TEST(round_trip)
{
	for (size_t i = 0; i < N_OF(attrs); i++)
		round_trip_of(sa_record_of(attrs[i]), i + 1);
}
END_TEST

static void
fields_are_disjoint_of(const struct sa_record *r, uint64_t seed)
{
	uint8_t taken[8 * 256] = { 0 }, member[sizeof(union sa_any)] = { 0 };

	ck_assert_uint_le(r->struct_bytes, sizeof(union sa_any));
	FOR_FIELDS(r, f, i, one)
	{
		ck_assert_uint_le((size_t)one.at + one.width, 8u * r->bytes);
		ck_assert_uint_le((size_t)one.member_at + one.member_bytes, r->struct_bytes);
		ck_assert_uint_le(one.width, 8u * one.member_bytes);
		for (unsigned b = 0; b < one.width; b++)
			ck_assert_msg(!taken[one.at + b]++, "%s %s overlaps", r->name, one.name);
		for (unsigned b = 0; b < one.member_bytes; b++)
			ck_assert_msg(!member[one.member_at + b]++, "%s %s: member taken twice",
			    r->name, one.name);
	}
}

START_TEST(fields_are_disjoint)
{
	for (size_t i = 0; i < N_OF(attrs); i++)
		fields_are_disjoint_of(sa_record_of(attrs[i]), i + 1);
}
END_TEST

/* A field that differs is seen exactly under the masks that name it. */
static void
template_of(const struct sa_record *r, uint64_t seed)
{
	union sa_any v, want;
	struct fm_rng rng;
	uint64_t all = 0;

	fm_rng_seed(&rng, seed);
	fill(r, &v, &rng);
	FOR_FIELDS(r, f, i, one)
	all |= bits_of(f, i);
	ck_assert(sa_record_matches(r, &v, UINT64_MAX, &v));
	FOR_FIELDS(r, f, i, one)
	{
		uint64_t bits = bits_of(f, i);

		want = v;
		set_member(&want, &one, get_member(&v, &one) ^ 1);
		ck_assert(sa_record_matches(r, &want, all & ~bits, &v));
		for (unsigned b = 0; b < 64; b++)
			ck_assert_msg(
			    sa_record_matches(r, &want, SA_BIT(b), &v) == ((bits & SA_BIT(b)) == 0),
			    "%s %s under bit %u", r->name, one.name, b);
	}
}

START_TEST(template)
{
	for (size_t i = 0; i < N_OF(attrs); i++)
		template_of(sa_record_of(attrs[i]), i + 1);
}
END_TEST

#ifdef HAVE_IBMAD
static const struct peer_row {
	uint16_t attr; /* 0: the header */
	const char *name;
	enum MAD_FIELDS field;
} peer_rows[] = {
	{ 0, "rmpp_version", IB_SA_RMPP_VERS_F },
	{ 0, "rmpp_type", IB_SA_RMPP_TYPE_F },
	{ 0, "rmpp_resp_time", IB_SA_RMPP_RESP_F },
	{ 0, "rmpp_flags", IB_SA_RMPP_FLAGS_F },
	{ 0, "rmpp_status", IB_SA_RMPP_STATUS_F },
	{ 0, "rmpp_data1", IB_SA_RMPP_SEGNUM_F },
	{ 0, "rmpp_data2", IB_SA_RMPP_LEN_F },
	{ 0, "tid", IB_MAD_TRID_F },
	{ 0, "attr", IB_MAD_ATTRID_F },
	{ 0, "modifier", IB_MAD_ATTRMOD_F },
	{ 0, "status", IB_MAD_STATUS_F },
	{ 0, "sm_key", IB_SA_MKEY_F },
	{ 0, "attr_words", IB_SA_ATTROFFS_F },
	{ 0, "mask", IB_SA_COMPMASK_F },
	{ SA_PATH_RECORD, "dlid", IB_SA_PR_DLID_F },
	{ SA_PATH_RECORD, "slid", IB_SA_PR_SLID_F },
	{ SA_PATH_RECORD, "n_paths", IB_SA_PR_NPATH_F },
	{ SA_PATH_RECORD, "sl", IB_SA_PR_SL_F },
	{ SA_MULTI_PATH_RECORD, "n_paths", IB_SA_MP_NPATH_F },
	{ SA_MULTI_PATH_RECORD, "n_sgids", IB_SA_MP_NSRC_F },
	{ SA_MULTI_PATH_RECORD, "n_dgids", IB_SA_MP_NDEST_F },
	{ SA_MC_MEMBER_RECORD, "qkey", IB_SA_MCM_QKEY_F },
	{ SA_MC_MEMBER_RECORD, "mlid", IB_SA_MCM_MLID_F },
	{ SA_MC_MEMBER_RECORD, "sl", IB_SA_MCM_SL_F },
	{ SA_MC_MEMBER_RECORD, "mtu", IB_SA_MCM_MTU_F },
	{ SA_MC_MEMBER_RECORD, "rate", IB_SA_MCM_RATE_F },
	{ SA_MC_MEMBER_RECORD, "tclass", IB_SA_MCM_TCLASS_F },
	{ SA_MC_MEMBER_RECORD, "pkey", IB_SA_MCM_PKEY_F },
	{ SA_MC_MEMBER_RECORD, "flow_label", IB_SA_MCM_FLOW_LABEL_F },
	{ SA_MC_MEMBER_RECORD, "join_state", IB_SA_MCM_JOIN_STATE_F },
	{ SA_MC_MEMBER_RECORD, "proxy_join", IB_SA_MCM_PROXY_JOIN_F },
	{ SA_SERVICE_RECORD, "id", IB_SA_SR_ID_F },
	{ SA_SERVICE_RECORD, "pkey", IB_SA_SR_PKEY_F },
	{ SA_SERVICE_RECORD, "lease_s", IB_SA_SR_LEASE_F },
	{ SA_GUID_INFO_RECORD, "lid", IB_SA_GIR_LID_F },
	{ SA_GUID_INFO_RECORD, "block", IB_SA_GIR_BLOCKNUM_F },
	{ SA_GUID_INFO_RECORD, "guid", IB_SA_GIR_GUID0_F },
	{ SA_NODE_RECORD, "lid", IB_SA_NR_LID_F },
	{ SA_NODE_RECORD, "base_version", IB_SA_NR_BASEVER_F },
	{ SA_NODE_RECORD, "node_type", IB_SA_NR_TYPE_F },
	{ SA_NODE_RECORD, "n_ports", IB_SA_NR_NPORTS_F },
	{ SA_NODE_RECORD, "system_guid", IB_SA_NR_SYSTEM_GUID_F },
	{ SA_NODE_RECORD, "node_guid", IB_SA_NR_GUID_F },
	{ SA_NODE_RECORD, "port_guid", IB_SA_NR_PORT_GUID_F },
	{ SA_NODE_RECORD, "local_port", IB_SA_NR_LOCAL_PORT_F },
	{ SA_NODE_RECORD, "vendor_id", IB_SA_NR_VENDORID_F },
};

/* One field of ours holds random bits; libibmad reads the same. */
static void
compare(const struct peer_row *p, const struct wire_field *f, uint64_t ours, uint8_t *wire)
{
	uint64_t theirs =
	    f->width == 64 ? mad_get_field64(wire, 0, p->field) : mad_get_field(wire, 0, p->field);

	ck_assert_msg(ours == theirs, "%s: 0x%jx here, 0x%jx in libibmad", p->name, (uintmax_t)ours,
	    (uintmax_t)theirs);
}

static void
compare_row(const struct peer_row *p, uint64_t seed)
{
	const struct sa_record *r = sa_record_of(p->attr);
	struct sa_header h = { 0 };
	union sa_any v;
	uint8_t wire[256] = { 0 };
	struct fm_rng rng;
	size_t n, i = 0;
	const struct wire_field *row = sa_header_fields(&n);

	fm_rng_seed(&rng, seed);
	if (p->attr == 0) {
		while (i < n && strcmp(row[i].name, p->name) != 0)
			i++;
		ck_assert_msg(i < n, "%s is not in the header", p->name);
		for (size_t k = 0; k < n; k++)
			set_member(&h, &row[k], fm_rng_next(&rng) & low_bits(row[k].width));
		sa_header_put(wire, &h);
		compare(p, &row[i], get_member(&h, &row[i]), wire);
		return;
	}
	while (i < r->n_fields && strcmp(r->field[i].f.name, p->name) != 0)
		i++;
	ck_assert_msg(i < r->n_fields, "%s is not in %s", p->name, r->name);
	fill(r, &v, &rng);
	sa_record_put(r, wire, &v);
	compare(p, &r->field[i].f, get_member(&v, &r->field[i].f), wire);
}

START_TEST(same_as_libibmad)
{
	for (size_t i = 0; i < N_OF(peer_rows); i++)
		compare_row(&peer_rows[i], i);
}
END_TEST
#endif

/* What libibmad has no field for: first bits and mask bits by IBA 15.2.5. */
static const struct known_row {
	uint16_t attr;
	const char *name;
	uint16_t at;
	int component; /* bit, -1: none */
} known_rows[] = {
	{ SA_PATH_RECORD, "service_id", 0, 0 },
	{ SA_PATH_RECORD, "dgid", 64, 2 },
	{ SA_PATH_RECORD, "sgid", 192, 3 },
	{ SA_PATH_RECORD, "dlid", 320, 4 },
	{ SA_PATH_RECORD, "slid", 336, 5 },
	{ SA_PATH_RECORD, "raw_traffic", 352, 6 },
	{ SA_PATH_RECORD, "flow_label", 356, 8 },
	{ SA_PATH_RECORD, "hop_limit", 376, 9 },
	{ SA_PATH_RECORD, "tclass", 384, 10 },
	{ SA_PATH_RECORD, "reversible", 392, 11 },
	{ SA_PATH_RECORD, "n_paths", 393, 12 },
	{ SA_PATH_RECORD, "pkey", 400, 13 },
	{ SA_PATH_RECORD, "qos_class", 416, 14 },
	{ SA_PATH_RECORD, "sl", 428, 15 },
	{ SA_PATH_RECORD, "mtu", 434, 17 },
	{ SA_PATH_RECORD, "rate", 442, 19 },
	{ SA_PATH_RECORD, "life", 450, 21 },
	{ SA_MULTI_PATH_RECORD, "pkey", 48, 7 },
	{ SA_MULTI_PATH_RECORD, "sl", 76, 9 },
	{ SA_MULTI_PATH_RECORD, "mtu", 82, 11 },
	{ SA_MULTI_PATH_RECORD, "rate", 90, 13 },
	{ SA_MULTI_PATH_RECORD, "life", 98, 15 },
	{ SA_MULTI_PATH_RECORD, "service_id_8msb", 104, 16 },
	{ SA_MULTI_PATH_RECORD, "service_id_56lsb", 136, 21 },
	{ SA_MC_MEMBER_RECORD, "port_gid", 128, 1 },
	{ SA_MC_MEMBER_RECORD, "scope", 384, 15 },
	{ SA_MC_MEMBER_RECORD, "join_state", 388, 16 },
	{ SA_MC_MEMBER_RECORD, "hop_limit", 376, 14 },
	{ SA_NODE_RECORD, "desc", 352, 14 },
	{ SA_NODE_RECORD, "vendor_id", 328, 13 },
	{ SA_PORT_INFO_RECORD, "capability_mask", 192, 7 },
	{ SA_PORT_INFO_RECORD, "lid", 0, 0 },
	{ SA_PORT_INFO_RECORD, "port_state", 292, 15 },
	{ SA_PORT_INFO_RECORD, "lmc", 309, 20 },
	{ SA_PORT_INFO_RECORD, "link_speed_ext_enabled", 539, 57 },
	{ SA_SM_INFO_RECORD, "guid", 32, 2 },
	{ SA_SM_INFO_RECORD, "state", 196, 6 },
	{ SA_LINK_RECORD, "to_lid", 32, 3 },
	{ SA_LINK_RECORD, "to_port", 24, 2 },
	{ SA_MFT_RECORD, "block", 23, 3 },
	{ SA_PKEY_RECORD, "port", 32, 2 },
	{ SA_PKEY_RECORD, "block", 16, 1 },
	{ SA_VL_ARB_RECORD, "block", 24, 2 },
	{ SA_SL2VL_RECORD, "out_port", 24, 2 },
	{ SA_SERVICE_RECORD, "gid", 64, 1 },
	{ SA_SERVICE_RECORD, "key", 256, 5 },
	{ SA_SERVICE_RECORD, "name", 384, 6 },
	{ SA_SERVICE_RECORD, "data8", 896, 7 },
	{ SA_SERVICE_RECORD, "data64", 1280, 35 },
	{ SA_INFORM_INFO, "trap_number", 208, 10 },
	{ SA_INFORM_INFO, "qpn", 224, 11 },
	{ SA_INFORM_INFO, "producer_type", 264, 15 },
	{ SA_INFORM_INFO_RECORD, "number", 128, 1 },
	{ SA_INFORM_INFO_RECORD, "info. subscribe", 376, 8 },
	{ SA_GUID_INFO_RECORD, "guid", 64, 4 },
	{ SA_TRACE_RECORD, "exit_port", 360, -1 },
	{ SA_CLASS_PORT_INFO, "trap_qkey", 544, -1 },
	{ SA_NOTICE, "issuer", 512, -1 },
};

static void
check_row(const struct known_row *k)
{
	const struct sa_record *r = sa_record_of(k->attr);
	size_t i = 0;

	while (i < r->n_fields && strcmp(r->field[i].f.name, k->name) != 0)
		i++;
	ck_assert_msg(i < r->n_fields, "%s is not in %s", k->name, r->name);
	ck_assert_msg(r->field[i].f.at == k->at, "%s %s is at bit %u, not %u", r->name, k->name,
	    r->field[i].f.at, k->at);
	if (k->component < 0)
		ck_assert_uint_eq(r->field[i].component, 0);
	else
		ck_assert_msg((r->field[i].component & SA_BIT(k->component)) != 0,
		    "%s %s is not asked for by bit %d", r->name, k->name, k->component);
}

START_TEST(known_positions)
{
	for (size_t i = 0; i < N_OF(known_rows); i++)
		check_row(&known_rows[i]);
}
END_TEST

START_TEST(header_round_trip)
{
	struct sa_header h, back;
	uint8_t wire[64];
	struct fm_rng rng;
	size_t n;
	const struct wire_field *row = sa_header_fields(&n);

	fm_rng_seed(&rng, 1);
	for (int round = 0; round < 300; round++) {
		memset(&h, 0, sizeof(h));
		memset(&back, 0, sizeof(back));
		for (size_t i = 0; i < n; i++)
			set_member(&h, &row[i], fm_rng_next(&rng) & low_bits(row[i].width));
		memset(wire, 0xa5, sizeof(wire));
		sa_header_put(wire, &h);
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(bits_at(wire, &row[i]), get_member(&h, &row[i]));
		ck_assert_uint_eq(wire[SA_DATA_AT], 0xa5);
		sa_header_get(wire, &back);
		ck_assert_mem_eq(&h, &back, sizeof(h));
	}
}
END_TEST

/* Every width and speed there is has its code, and what is unknown the one below. */
START_TEST(rates)
{
	static const struct {
		uint8_t width, speed, ext, code;
	} rows[] = {
		{ 1, 1, 0, 2 },
		{ 2, 1, 0, 3 },
		{ 8, 1, 0, 4 },
		{ 1, 2, 0, 5 },
		{ 2, 2, 0, 6 },
		{ 2, 4, 0, 7 },
		{ 8, 2, 0, 8 },
		{ 4, 4, 0, 9 },
		{ 8, 4, 0, 10 },
		{ 1, 4, 1, 11 },
		{ 2, 4, 1, 12 },
		{ 4, 4, 1, 13 },
		{ 8, 4, 1, 14 },
		{ 1, 4, 2, 15 },
		{ 2, 4, 2, 16 },
		{ 4, 4, 2, 17 },
		{ 8, 4, 2, 18 },
		{ 16, 4, 1, 19 },
		{ 16, 4, 2, 20 },
		{ 2, 4, 4, 17 },
		{ 4, 4, 4, 21 },
		{ 8, 4, 4, 22 },
		{ 2, 4, 8, 21 },
		{ 4, 4, 8, 23 },
		{ 8, 4, 8, 24 },
		{ 2, 4, 16, 23 },
		{ 4, 4, 16, 25 },
		{ 0, 0, 0, 2 },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		uint32_t mbps = wire_link_mbps(rows[i].width, rows[i].speed, rows[i].ext);

		ck_assert_msg(sa_rate_code(mbps) == rows[i].code, "%u Mbit/s: %u, not %u", mbps,
		    sa_rate_code(mbps), rows[i].code);
		ck_assert_uint_le(sa_rate_mbps(rows[i].code), mbps);
	}
	ck_assert_uint_eq(sa_rate_code(UINT32_MAX), 25);
	ck_assert_uint_eq(sa_rate_mbps(63), 0);
	ck_assert_uint_eq(sa_rate_mbps(16), 100000);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sa_wire");
	TCase *tc = tcase_create("sa_wire");

	suite_add_tcase(s, tc);
	tcase_add_test(tc, round_trip);
	tcase_add_test(tc, fields_are_disjoint);
	tcase_add_test(tc, template);
#ifdef HAVE_IBMAD
	tcase_add_test(tc, same_as_libibmad);
#endif
	tcase_add_test(tc, known_positions);
	tcase_add_test(tc, header_round_trip);
	tcase_add_test(tc, rates);
	return run_suite(s);
}
