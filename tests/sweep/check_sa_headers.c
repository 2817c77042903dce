/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the SA answers by its headers: every attribute id x every method, whole and under a
 * class version that is not ours, with what IBA 13.4.7, 15.2.1 and 15.2.2 say of method, status,
 * AttributeOffset and RMPP.  tests/integration/fmsim_sa_wire.sh holds the same against OpenSM.
 */
#include <check.h>
#include <string.h>

#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define SA_KEY 1
#define MODIFIER 0x5a5a0000u
#define TID UINT64_C(0x1234567890abcdef)

static struct rig rig;
static struct sa_rig sa;

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
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
}

/* ------------------------------------------------------------------ by the book */

/* IBA 15.2.2, table 186; 13.4.5 for what a GSI may be sent at all. */
static const struct method_row {
	uint8_t method, response; /* 0: none */
} methods[] = {
	{ SA_GET, 0x81 }, { SA_SET, 0x81 }, { SA_REPORT, 0x86 }, { SA_GET_TABLE, 0x92 },
	{ SA_GET_TRACE_TABLE, 0x92 }, { SA_GET_MULTI, 0x94 }, { SA_DELETE, 0x95 },
	{ 0x03, 0 }, /* Send: has no response */
	{ 0x05, 0 }, /* Trap: is repressed, not answered, and by whom it is for */
	{ 0x07, 0 }, /* TrapRepress */
};

static uint8_t
response_to(unsigned method)
{
	for (size_t i = 0; i < N_OF(methods); i++)
		if (methods[i].method == method)
			return methods[i].response;
	return (method & 0x80) != 0 ? 0 : (uint8_t)(method | 0x80);
}

/* What the SA has, asked under no mask with an empty template by who is trusted. */
static const struct question_row {
	uint16_t attr;
	uint8_t method;
	uint16_t status, answer; /* answer: attribute of a good answer */
	bool some;		 /* there are records */
} questions[] = {
	{ SA_CLASS_PORT_INFO, SA_GET, SA_OK, SA_CLASS_PORT_INFO, true },
	{ SA_INFORM_INFO, SA_SET, SA_REQ_INVALID, 0, false },
	{ SA_NODE_RECORD, SA_GET, SA_TOO_MANY_RECORDS, 0, false },
	{ SA_NODE_RECORD, SA_GET_TABLE, SA_OK, SA_NODE_RECORD, true },
	{ SA_PORT_INFO_RECORD, SA_GET, SA_TOO_MANY_RECORDS, 0, false },
	{ SA_PORT_INFO_RECORD, SA_GET_TABLE, SA_OK, SA_PORT_INFO_RECORD, true },
	{ SA_SL2VL_RECORD, SA_GET, SA_TOO_MANY_RECORDS, 0, false },
	{ SA_SL2VL_RECORD, SA_GET_TABLE, SA_OK, SA_SL2VL_RECORD, true },
	{ SA_SWITCH_INFO_RECORD, SA_GET, SA_TOO_MANY_RECORDS, 0, false },
	{ SA_SWITCH_INFO_RECORD, SA_GET_TABLE, SA_OK, SA_SWITCH_INFO_RECORD, true },
	{ SA_LFT_RECORD, SA_GET, SA_TOO_MANY_RECORDS, 0, false },
	{ SA_LFT_RECORD, SA_GET_TABLE, SA_OK, SA_LFT_RECORD, true },
	{ SA_MFT_RECORD, SA_GET, SA_NO_RECORDS, 0, false },
	{ SA_MFT_RECORD, SA_GET_TABLE, SA_OK, SA_MFT_RECORD, false },
	{ SA_SM_INFO_RECORD, SA_GET, SA_OK, SA_SM_INFO_RECORD, true },
	{ SA_SM_INFO_RECORD, SA_GET_TABLE, SA_OK, SA_SM_INFO_RECORD, true },
	{ SA_LINK_RECORD, SA_GET, SA_TOO_MANY_RECORDS, 0, false },
	{ SA_LINK_RECORD, SA_GET_TABLE, SA_OK, SA_LINK_RECORD, true },
	{ SA_GUID_INFO_RECORD, SA_GET, SA_TOO_MANY_RECORDS, 0, false },
	{ SA_GUID_INFO_RECORD, SA_GET_TABLE, SA_OK, SA_GUID_INFO_RECORD, true },
	{ SA_GUID_INFO_RECORD, SA_SET, SA_REQ_INSUFFICIENT_COMPONENTS, 0, false },
	{ SA_GUID_INFO_RECORD, SA_DELETE, SA_REQ_INSUFFICIENT_COMPONENTS, 0, false },
	{ SA_SERVICE_RECORD, SA_GET, SA_NO_RECORDS, 0, false },
	{ SA_SERVICE_RECORD, SA_GET_TABLE, SA_OK, SA_SERVICE_RECORD, false },
	{ SA_SERVICE_RECORD, SA_SET, SA_REQ_INSUFFICIENT_COMPONENTS, 0, false },
	{ SA_SERVICE_RECORD, SA_DELETE, SA_REQ_INSUFFICIENT_COMPONENTS, 0, false },
	{ SA_PKEY_RECORD, SA_GET, SA_TOO_MANY_RECORDS, 0, false },
	{ SA_PKEY_RECORD, SA_GET_TABLE, SA_OK, SA_PKEY_RECORD, true },
	{ SA_PATH_RECORD, SA_GET, SA_REQ_INSUFFICIENT_COMPONENTS, 0, false },
	{ SA_PATH_RECORD, SA_GET_TABLE, SA_OK, SA_PATH_RECORD, true },
	{ SA_PATH_RECORD, SA_GET_TRACE_TABLE, SA_REQ_INSUFFICIENT_COMPONENTS, 0, false },
	{ SA_VL_ARB_RECORD, SA_GET, SA_TOO_MANY_RECORDS, 0, false },
	{ SA_VL_ARB_RECORD, SA_GET_TABLE, SA_OK, SA_VL_ARB_RECORD, true },
	{ SA_MC_MEMBER_RECORD, SA_GET, SA_NO_RECORDS, 0, false },
	{ SA_MC_MEMBER_RECORD, SA_GET_TABLE, SA_OK, SA_MC_MEMBER_RECORD, false },
	{ SA_MC_MEMBER_RECORD, SA_SET, SA_REQ_INSUFFICIENT_COMPONENTS, 0, false },
	{ SA_MC_MEMBER_RECORD, SA_DELETE, SA_REQ_INSUFFICIENT_COMPONENTS, 0, false },
	{ SA_MULTI_PATH_RECORD, SA_GET_MULTI, SA_REQ_INSUFFICIENT_COMPONENTS, 0, false },
	{ SA_INFORM_INFO_RECORD, SA_GET, SA_NO_RECORDS, 0, false },
	{ SA_INFORM_INFO_RECORD, SA_GET_TABLE, SA_OK, SA_INFORM_INFO_RECORD, false },
};

static const struct question_row *
find_question(unsigned attr, unsigned method)
{
	for (size_t i = 0; i < N_OF(questions); i++)
		if (questions[i].attr == attr && questions[i].method == method)
			return &questions[i];
	return NULL;
}

static bool
is_known_method(unsigned method)
{
	for (size_t i = 0; i < N_OF(questions); i++)
		if (questions[i].method == method)
			return true;
	return false;
}

static uint16_t
status_of(const struct question_row *q, unsigned method)
{
	if (q != NULL)
		return q->status;
	return is_known_method(method) ? WIRE_STATUS_BAD_METHOD_ATTR : WIRE_STATUS_BAD_METHOD;
}

/* o15-0.2.7: answers to a GetMulti of a MultiPathRecord are PathRecords, whatever they say. */
static uint16_t
attr_of(const struct question_row *q, unsigned attr, unsigned method)
{
	if (q != NULL && q->status == SA_OK)
		return q->answer;
	return attr == SA_MULTI_PATH_RECORD && method == SA_GET_MULTI ? SA_PATH_RECORD
								      : (uint16_t)attr;
}

/* --------------------------------------------------------------------- to the letter */

static struct sa_header
header_of(unsigned attr, unsigned method)
{
	return (struct sa_header){ .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = (uint8_t)method,
		.attr = (uint16_t)attr,
		.modifier = MODIFIER,
		.tid = TID,
		.sm_key = SA_KEY };
}

/* How many answers. */
static uint32_t
ask(const struct sa_header *h)
{
	uint8_t mad[WIRE_MAD_BYTES] = { 0 };
	uint32_t before = sa.n_answers;

	sa_header_put(mad, h);
	sa_handle(sa.sa, &sa.from, mad, sizeof(mad), 0);
	return sa.n_answers - before;
}

static void
expect_header(const struct sa_header *asked, uint16_t attr, uint16_t status, bool table, bool some)
{
	const struct sa_header *got = &sa.h;
	const struct sa_record *r = sa_record_of(attr);
	struct sa_header want = *asked;

	want.method = response_to(asked->method);
	want.attr = attr;
	want.status = status;
	want.sm_key = 0;
	want.attr_words = some ? sa_record_words(r) : 0;
	want.rmpp_version = table ? SA_RMPP_VERSION : 0;
	want.rmpp_type = table ? SA_RMPP_DATA : 0;
	want.rmpp_flags = table ? SA_RMPP_ACTIVE : 0;
#define SAME(field) \
	ck_assert_msg(got->field == want.field, \
	    "attribute 0x%x method 0x%02x: " #field " is 0x%jx, not 0x%jx", asked->attr, \
	    asked->method, (uintmax_t)got->field, (uintmax_t)want.field)
	SAME(base_version);
	SAME(mgmt_class);
	SAME(class_version);
	SAME(method);
	SAME(status);
	SAME(tid);
	SAME(attr);
	SAME(modifier);
	SAME(rmpp_version);
	SAME(rmpp_type);
	SAME(rmpp_flags);
	SAME(rmpp_status);
	SAME(rmpp_resp_time);
	SAME(rmpp_data1);
	SAME(rmpp_data2);
	SAME(sm_key);
	SAME(attr_words);
	SAME(mask);
#undef SAME
	ck_assert_uint_eq(sa.n_bytes < WIRE_MAD_BYTES && !table, 0);
}

static void
expect_answer(unsigned attr, unsigned method)
{
	const struct question_row *q = find_question(attr, method);
	struct sa_header h = header_of(attr, method);
	uint16_t status = status_of(q, method);
	bool table = status == SA_OK && (method == SA_GET_TABLE || method == SA_GET_MULTI);

	ck_assert_msg(ask(&h) == (response_to(method) != 0), "attribute 0x%x method 0x%02x: %s",
	    attr, method, response_to(method) != 0 ? "no answer" : "an answer");
	if (response_to(method) == 0)
		return;
	expect_header(&h, attr_of(q, attr, method), status, table, q != NULL && q->some);
}

START_TEST(every_attribute_and_method)
{
	static const uint16_t beyond[] = { 0x0100, 0x0111, 0xf300, 0xff00, 0xffff };

	for (unsigned method = 0; method < 0x100; method++) {
		for (unsigned attr = 0; attr < 0x100; attr++)
			expect_answer(attr, method);
		for (size_t i = 0; i < N_OF(beyond); i++)
			expect_answer(beyond[i], method);
	}
}
END_TEST

/* An answer to what is refused before it is looked at: another class version, a busy SA. */
START_TEST(refused_unread)
{
	struct sa_view *view = sa_slot_get(&sa.slot);

	for (unsigned method = 0; method < 0x80; method++) {
		struct sa_header h = header_of(SA_NODE_RECORD, method);

		h.class_version = 1;
		ck_assert_uint_eq(ask(&h), response_to(method) != 0);
		if (response_to(method) != 0)
			expect_header(
			    &h, SA_NODE_RECORD, WIRE_STATUS_BAD_CLASS_VERSION, false, false);
	}
	sa_slot_set(&sa.slot, NULL);
	for (unsigned method = 0; method < 0x80; method++) {
		struct sa_header h = header_of(SA_MULTI_PATH_RECORD, method);

		ck_assert_uint_eq(ask(&h), response_to(method) != 0);
		if (response_to(method) != 0)
			expect_header(
			    &h, attr_of(NULL, h.attr, method), WIRE_STATUS_BUSY, false, false);
	}
	sa_slot_set(&sa.slot, view);
}
END_TEST

/* What is registered is answered as what is asked for (IBA 15.2.2: Set by GetResp). */
START_TEST(good_sets_and_deletes)
{
	struct sa_inform_info inform = { .lid_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xffff,
		.trap_number = 64,
		.producer_type = 0xffffff };
	struct sa_guid_info_record guids = { .lid = sa.from.lid, .guid = { 0, 0xabc } };
	uint64_t alias = SA_GIR_LID | SA_GIR_BLOCK | SA_GIR_GUID0 << 1;

	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_INFORM_INFO, 0, &inform), SA_OK);
	ck_assert_uint_eq(sa.h.method, 0x81);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, alias, &guids), SA_OK);
	ck_assert_uint_eq(sa.h.method, 0x81);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_DELETE, SA_GUID_INFO_RECORD, alias, &guids), SA_OK);
	ck_assert_uint_eq(sa.h.method, 0x95);
}
END_TEST

/* ------------------------------------------------------------------------- claims */

#define SIGNATURE UINT64_C(0xff12a01c00000000)
#define CREATE \
	(SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE | SA_MCR_QKEY | SA_MCR_PKEY | \
	    SA_MCR_TCLASS | SA_MCR_SL | SA_MCR_FLOW_LABEL)

static struct sa_gid
gid_of_end(uint32_t end)
{
	const struct sa_view *v = sa.slot.view;

	return (struct sa_gid){ v->set.gid_prefix, v->end[end].guid };
}

static struct sa_gid
gid_of_me(void)
{
	return gid_of_end(sa_view_end_of_lid(sa.slot.view, sa.from.lid));
}

/* Another host than the one that asks. */
static struct sa_gid
gid_of_another(void)
{
	const struct sa_view *v = sa.slot.view;
	uint32_t end = v->n_ends - 1;

	while (v->end[end].is_switch || v->end[end].guid == gid_of_me().guid)
		end--;
	return gid_of_end(end);
}

static uint16_t
joins(uint64_t low, unsigned state)
{
	struct sa_mc_member_record want = { .mgid = { SIGNATURE, low },
		.port_gid = gid_of_me(),
		.qkey = 0xb1b,
		.pkey = 0xffff,
		.join_state = (uint8_t)state };

	return sa_rig_ask(&sa, SA_SET, SA_MC_MEMBER_RECORD, CREATE, &want);
}

static bool
has_multicast(void)
{
	return joins(1, 1) == SA_OK;
}

static bool
has_send_only_full_members(void)
{
	return joins(2, 8) == SA_OK;
}

static bool
has_multicast_top(void)
{
	struct sa_switch_info_record r;

	if (sa_rig_ask(&sa, SA_GET_TABLE, SA_SWITCH_INFO_RECORD, 0, NULL) != SA_OK)
		return false;
	sa_rig_record(&sa, 0, &r);
	return r.info.mcast_fdb_cap > 0; /* the field is behind it */
}

static bool
has_multi_paths(void)
{
	struct sa_multi_path_record want = { .n_sgids = 1, .n_dgids = 1 };
	struct sa_path_record pair = { .sgid = gid_of_me(), .dgid = gid_of_another() };
	bool ok;

	sa.n_gids = 2;
	sa.gid[0] = pair.sgid;
	sa.gid[1] = pair.dgid;
	ok = sa_rig_ask(&sa, SA_GET_MULTI, SA_MULTI_PATH_RECORD, SA_MPR_N_SGIDS | SA_MPR_N_DGIDS,
		 &want) == SA_OK &&
	    sa_rig_n(&sa) == 1;
	sa.n_gids = 0;
	return ok &&
	    sa_rig_ask(&sa, SA_GET_TRACE_TABLE, SA_PATH_RECORD, SA_PR_SGID | SA_PR_DGID, &pair) ==
	    SA_OK &&
	    sa.h.attr == SA_TRACE_RECORD;
}

/* Ports that have all of these bits. */
static uint32_t
n_ports_with(uint32_t modifier, uint64_t mask, uint32_t caps, uint16_t caps2)
{
	struct sa_port_info_record want = { .info = { .capability_mask = caps,
						.capability_mask2 = caps2 } };
	uint16_t status;

	sa.modifier = modifier;
	status = sa_rig_ask(&sa, SA_GET_TABLE, SA_PORT_INFO_RECORD, mask, &want);
	sa.modifier = 0;
	return status == SA_OK ? sa_rig_n(&sa) : UINT32_MAX;
}

static bool
has_capability_match(void)
{
	uint32_t all = n_ports_with(0, 0, 0, 0);

	return n_ports_with(1u << 31, SA_PIR_CAP_MASK, 0, 0) == all &&
	    n_ports_with(1u << 31, SA_PIR_CAP_MASK, 1u << 1, 0) < all;
}

static bool
has_capability_match2(void)
{
	uint32_t all = n_ports_with(0, 0, 0, 0);

	return n_ports_with(1u << 30, SA_BIT(53), 0, 0) == all &&
	    n_ports_with(1u << 30, SA_BIT(53), 0, 1u << 14) < all;
}

static bool
has_alias_guids(void)
{
	struct sa_guid_info_record want = { .lid = sa.from.lid, .guid = { 0, 0xabc } };

	return sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD,
		   SA_GIR_LID | SA_GIR_BLOCK | SA_GIR_GUID0 << 1, &want) == SA_OK;
}

/* Whole PortInfos, with the fields of extended speeds, 2x and HDR. */
static bool
has_full_port_infos(void)
{
	struct sa_port_info_record r;

	return sa_rig_ask(&sa, SA_GET_TABLE, SA_PORT_INFO_RECORD, 0, NULL) == SA_OK &&
	    sa_record_of(SA_PORT_INFO_RECORD)->bytes >= 4 + 64 && (sa_rig_record(&sa, 0, &r), true);
}

/* IBA 15.2.1.1: what the bits of ClassPortInfo say that the SA has; is_served is NULL where it has
 * not, and then the record is refused. */
static const struct claim_row {
	const char *name;
	unsigned word, bit;
	bool (*is_served)(void);
	uint16_t attr; /* record that it is about, if it is about one */
} claims[] = {
	{ "optional records: RandomForwardingTableRecord", 1, 8, NULL, 0x16 },
	{ "optional records: ServiceAssociationRecord", 1, 8, NULL, 0x3b },
	{ "UD multicast", 1, 9, has_multicast, 0 },
	{ "MultiPathRecord and TraceRecord", 1, 10, has_multi_paths, 0 },
	{ "PortInfo by capabilities", 1, 13, has_capability_match, 0 },
	{ "LinkSpeedWidthPairsTableRecord", 1, 14, NULL, 0x19 },
	{ "MulticastFDBTop", 2, 3, has_multicast_top, 0 },
	{ "HierarchyInfoRecord", 2, 4, NULL, 0x3c },
	{ "alias GUIDs", 2, 5, has_alias_guids, 0 },
	{ "all of PortInfo", 2, 6, has_full_port_infos, 0 },
	{ "extended speeds", 2, 7, has_full_port_infos, 0 },
	{ "CableInfoRecord", 2, 9, NULL, 0x3d },
	{ "PortInfo by capabilities 2", 2, 10, has_capability_match2, 0 },
	{ "PortInfoExtendedRecord", 2, 11, NULL, 0x3e },
	{ "send-only full members", 2, 12, has_send_only_full_members, 0 },
	{ "links of width 2", 2, 13, has_full_port_infos, 0 },
	{ "HDR", 2, 15, has_full_port_infos, 0 },
};

static const struct claim_row *
find_claim(unsigned word, unsigned bit)
{
	for (size_t i = 0; i < N_OF(claims); i++)
		if (claims[i].word == word && claims[i].bit == bit)
			return &claims[i];
	return NULL;
}

/* Each claimed bit is asked for; what is not claimed is refused as unknown. */
START_TEST(claims_are_true)
{
	struct sa_class_port_info got;
	const struct claim_row *c;
	uint32_t bits[3] = { 0 };

	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_CLASS_PORT_INFO, 0, NULL), SA_OK);
	sa_rig_record(&sa, 0, &got);
	bits[1] = got.cap_mask & ~0xffu; /* the lower ones are of any class (IBA 13.4.8.1) */
	bits[2] = got.cap_mask2;
	ck_assert_uint_eq(got.cap_mask & 0xff, 0);
	for (unsigned word = 1; word <= 2; word++)
		for (unsigned bit = 0; bit < 32; bit++) {
			if ((bits[word] >> bit & 1) == 0)
				continue;
			c = find_claim(word, bit);
			ck_assert_msg(
			    c != NULL, "bit %u of mask %u: claimed, and unknown", bit, word);
			ck_assert_msg(c->is_served != NULL && c->is_served(),
			    "%s: claimed and not served", c->name);
		}
	for (size_t i = 0; i < N_OF(claims); i++) {
		ck_assert_msg(
		    (bits[claims[i].word] >> claims[i].bit & 1) == (claims[i].is_served != NULL),
		    "%s: served and not claimed", claims[i].name);
		if (claims[i].attr != 0)
			ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, claims[i].attr, 0, NULL),
			    WIRE_STATUS_BAD_METHOD_ATTR);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sa_headers");
	TCase *t = tcase_create("sa_headers");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, every_attribute_and_method);
	tcase_add_test(t, refused_unread);
	tcase_add_test(t, good_sets_and_deletes);
	tcase_add_test(t, claims_are_true);
	suite_add_tcase(s, t);
	return run_suite(s);
}
