/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/sa_wire.c - one packer, one unpacker, one matcher for all records.
 *
 * As in wire.c a record is a row of bits, loaded as 64-bit words.  Here a row
 * may stand for many equal fields side by side (the ports of an LFT block,
 * the characters of a name), and has the component mask bits that ask for it.
 * A GID is two rows with one bit.  Records that carry an attribute of SMPs
 * have that attribute's rows (wire_rows.h), moved.  O(fields).
 */
#include "core/wire/sa_wire.h"

#include <string.h>

#include "core/wire/wire_rows.h"

#define MAX_WORDS (SA_RECORD_MOST_BYTES / 8 + 1) /* wire_bits_*() may touch one more */
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define SIZE_OF(type, m) ((uint8_t)sizeof(((struct type *)0)->m))
#define AT_OF(type, m) offsetof(struct type, m)

/* clang-format off */
/* One field; a GID; count equal ones under one bit, or each under its own, from `component` on. */
#define F(T, m, at, width, component) {WIRE_FIELD(T, m, at, width), 1, false, component}
#define GID(T, m, at, component) \
	{{#m, at, 64, 8, AT_OF(T, m.prefix)}, 1, false, component}, \
	{{#m, (at) + 64, 64, 8, AT_OF(T, m.guid)}, 1, false, component}
#define MANY(T, m, at, width, n, each, component) \
	{{#m, at, width, SIZE_OF(T, m[0]), AT_OF(T, m)}, n, each, component}
/* A field of the attribute that the record carries in member `info` or `n`. */
#define MOVED(T, outer, from, m, at, width, component) \
	{{#m, (from) + (at), width, SIZE_OF(T, outer.m), AT_OF(T, outer.m)}, 1, false, component}
#define OF_NODE(T, m, at, width, component) MOVED(T, info, 32, m, at, width, component)
#define OF_NOTICE(T, m, at, width, component) MOVED(T, n, 0, m, at, width, component)

static const struct sa_field class_port_info_fields[] = {
#define R(m, at, width) F(sa_class_port_info, m, at, width, 0)
	R(base_version, 0, 8), R(class_version, 8, 8), R(cap_mask, 16, 16),
	R(cap_mask2, 32, 27), R(resp_time, 59, 5),
	GID(sa_class_port_info, redirect_gid, 64, 0),
	R(redirect_tclass, 192, 8), R(redirect_sl, 200, 4), R(redirect_flow, 204, 20),
	R(redirect_lid, 224, 16), R(redirect_pkey, 240, 16), R(redirect_qpn, 264, 24),
	R(redirect_qkey, 288, 32),
	GID(sa_class_port_info, trap_gid, 320, 0),
	R(trap_tclass, 448, 8), R(trap_sl, 456, 4), R(trap_flow, 460, 20),
	R(trap_lid, 480, 16), R(trap_pkey, 496, 16), R(trap_hop_limit, 512, 8),
	R(trap_qpn, 520, 24), R(trap_qkey, 544, 32),
#undef R
};

static const struct sa_field notice_fields[] = {
	WIRE_NOTICE_ROWS(OF_NOTICE, sa_notice),
	{{"details", 8 * WIRE_NOTICE_DETAILS_AT, 8, 1, AT_OF(sa_notice, n.details)},
	 SIZE_OF(sa_notice, n.details), false, 0},
	GID(sa_notice, issuer, 512, 0),
};

/* InformInfo has no component mask of its own: the bits are InformInfoRecord's. */
#define INFORM_INFO(T, in, from) \
	GID(T, in gid, (from), SA_BIT(3)), \
	F(T, in lid_begin, (from) + 128, 16, SA_BIT(4)), \
	F(T, in lid_end, (from) + 144, 16, SA_BIT(5)), \
	F(T, in is_generic, (from) + 176, 8, SA_BIT(7)), \
	F(T, in subscribe, (from) + 184, 8, SA_BIT(8)), \
	F(T, in type, (from) + 192, 16, SA_BIT(9)), \
	F(T, in trap_number, (from) + 208, 16, SA_BIT(10)), \
	F(T, in qpn, (from) + 224, 24, SA_BIT(11)), \
	F(T, in resp_time, (from) + 251, 5, SA_BIT(13)), \
	F(T, in producer_type, (from) + 264, 24, SA_BIT(15))
static const struct sa_field inform_info_fields[] = { INFORM_INFO(sa_inform_info, , 0) };
static const struct sa_field inform_info_record_fields[] = {
	GID(sa_inform_info_record, subscriber, 0, SA_IIR_SUBSCRIBER),
	F(sa_inform_info_record, number, 128, 16, SA_IIR_NUMBER),
	INFORM_INFO(sa_inform_info_record, info., 192),
};

static const struct sa_field node_record_fields[] = {
	F(sa_node_record, lid, 0, 16, SA_BIT(0)),
	WIRE_NODE_INFO_ROWS(OF_NODE, sa_node_record),
	MANY(sa_node_record, desc, 352, 8, 64, false, SA_BIT(14)),
};
static const struct sa_field port_info_record_fields[] = {
	F(sa_port_info_record, lid, 0, 16, SA_PIR_LID),
	F(sa_port_info_record, port, 16, 8, SA_PIR_PORT),
	F(sa_port_info_record, options, 24, 8, 0), /* bit 2 says how to compare, not what */
	WIRE_PORT_INFO_ROWS(OF_NODE, sa_port_info_record),
};
static const struct sa_field switch_info_record_fields[] = {
	F(sa_switch_info_record, lid, 0, 16, SA_BIT(0)),
	WIRE_SWITCH_INFO_ROWS(OF_NODE, sa_switch_info_record),
};
static const struct sa_field sm_info_record_fields[] = {
	F(sa_sm_info_record, lid, 0, 16, SA_BIT(0)),
	WIRE_SM_INFO_ROWS(OF_NODE, sa_sm_info_record),
};
static const struct sa_field link_record_fields[] = {
	F(sa_link_record, from_lid, 0, 16, SA_BIT(0)),
	F(sa_link_record, from_port, 16, 8, SA_BIT(1)),
	F(sa_link_record, to_port, 24, 8, SA_BIT(2)),
	F(sa_link_record, to_lid, 32, 16, SA_BIT(3)),
};
static const struct sa_field lft_record_fields[] = {
	F(sa_lft_record, lid, 0, 16, SA_BIT(0)),
	F(sa_lft_record, block, 16, 16, SA_BIT(1)),
	MANY(sa_lft_record, port, 64, 8, 64, false, 0),
};
static const struct sa_field mft_record_fields[] = {
	F(sa_mft_record, lid, 0, 16, SA_BIT(0)),
	F(sa_mft_record, position, 16, 4, SA_BIT(1)),
	F(sa_mft_record, block, 23, 9, SA_BIT(3)),
	MANY(sa_mft_record, mask, 64, 16, 32, false, 0),
};
static const struct sa_field sl2vl_record_fields[] = {
	F(sa_sl2vl_record, lid, 0, 16, SA_BIT(0)),
	F(sa_sl2vl_record, in_port, 16, 8, SA_BIT(1)),
	F(sa_sl2vl_record, out_port, 24, 8, SA_BIT(2)),
	MANY(sa_sl2vl_record, vl, 64, 4, 16, false, 0),
};
static const struct sa_field vl_arb_record_fields[] = {
	F(sa_vl_arb_record, lid, 0, 16, SA_BIT(0)),
	F(sa_vl_arb_record, port, 16, 8, SA_BIT(1)),
	F(sa_vl_arb_record, block, 24, 8, SA_BIT(2)),
	MANY(sa_vl_arb_record, entry, 64, 8, 64, false, 0),
};
static const struct sa_field pkey_record_fields[] = {
	F(sa_pkey_record, lid, 0, 16, SA_BIT(0)),
	F(sa_pkey_record, block, 16, 16, SA_BIT(1)),
	F(sa_pkey_record, port, 32, 8, SA_BIT(2)),
	MANY(sa_pkey_record, pkey, 64, 16, 32, false, 0),
};
static const struct sa_field guid_info_record_fields[] = {
	F(sa_guid_info_record, lid, 0, 16, SA_GIR_LID),
	F(sa_guid_info_record, block, 16, 8, SA_GIR_BLOCK),
	MANY(sa_guid_info_record, guid, 64, 64, 8, true, SA_GIR_GUID0),
};

/* In each request: unpacked and packed without the table, too (path_record_get()). */
#define PATH_RECORD_ROWS(R, G) \
	R(service_id, 0, 64, SA_PR_SERVICE_ID) G(dgid, 64, SA_PR_DGID) G(sgid, 192, SA_PR_SGID) \
	R(dlid, 320, 16, SA_PR_DLID) R(slid, 336, 16, SA_PR_SLID) \
	R(raw_traffic, 352, 1, SA_PR_RAW_TRAFFIC) R(flow_label, 356, 20, SA_PR_FLOW_LABEL) \
	R(hop_limit, 376, 8, SA_PR_HOP_LIMIT) R(tclass, 384, 8, SA_PR_TCLASS) \
	R(reversible, 392, 1, SA_PR_REVERSIBLE) R(n_paths, 393, 7, SA_PR_N_PATHS) \
	R(pkey, 400, 16, SA_PR_PKEY) R(qos_class, 416, 12, SA_PR_QOS_CLASS) \
	R(sl, 428, 4, SA_PR_SL) \
	R(mtu_selector, 432, 2, SA_PR_MTU_SELECTOR) R(mtu, 434, 6, SA_PR_MTU) \
	R(rate_selector, 440, 2, SA_PR_RATE_SELECTOR) R(rate, 442, 6, SA_PR_RATE) \
	R(life_selector, 448, 2, SA_PR_LIFE_SELECTOR) R(life, 450, 6, SA_PR_LIFE) \
	R(preference, 456, 8, 0)
static const struct sa_field path_record_fields[] = {
#define R(m, at, width, component) F(sa_path_record, m, at, width, component),
#define G(m, at, component) GID(sa_path_record, m, at, component),
	PATH_RECORD_ROWS(R, G)
#undef R
#undef G
};
static const struct sa_field multi_path_record_fields[] = {
#define R(m, at, width, component) F(sa_multi_path_record, m, at, width, component)
	R(raw_traffic, 0, 1, SA_MPR_RAW_TRAFFIC), R(flow_label, 4, 20, SA_MPR_FLOW_LABEL),
	R(hop_limit, 24, 8, SA_MPR_HOP_LIMIT), R(tclass, 32, 8, SA_MPR_TCLASS),
	R(reversible, 40, 1, SA_MPR_REVERSIBLE), R(n_paths, 41, 7, SA_MPR_N_PATHS),
	R(pkey, 48, 16, SA_MPR_PKEY), R(qos_class, 64, 12, SA_MPR_QOS_CLASS),
	R(sl, 76, 4, SA_MPR_SL),
	R(mtu_selector, 80, 2, SA_MPR_MTU_SELECTOR), R(mtu, 82, 6, SA_MPR_MTU),
	R(rate_selector, 88, 2, SA_MPR_RATE_SELECTOR), R(rate, 90, 6, SA_MPR_RATE),
	R(life_selector, 96, 2, SA_MPR_LIFE_SELECTOR), R(life, 98, 6, SA_MPR_LIFE),
	R(service_id_8msb, 104, 8, SA_BIT(16)), R(independence, 112, 2, SA_MPR_INDEPENDENCE),
	R(n_sgids, 120, 8, SA_MPR_N_SGIDS), R(n_dgids, 128, 8, SA_MPR_N_DGIDS),
	R(service_id_56lsb, 136, 56, SA_BIT(21)),
#undef R
};
static const struct sa_field trace_record_fields[] = {
#define R(m, at, width) F(sa_trace_record, m, at, width, 0)
	R(gid_prefix, 0, 64), R(generation, 64, 16), R(node_type, 88, 8), R(node_id, 96, 64),
	R(chassis_id, 160, 64), R(entry_port_id, 224, 64), R(exit_port_id, 288, 64),
	R(entry_port, 352, 8), R(exit_port, 360, 8),
#undef R
};
static const struct sa_field mc_member_record_fields[] = {
#define R(m, at, width, component) F(sa_mc_member_record, m, at, width, component)
	GID(sa_mc_member_record, mgid, 0, SA_MCR_MGID),
	GID(sa_mc_member_record, port_gid, 128, SA_MCR_PORT_GID),
	R(qkey, 256, 32, SA_MCR_QKEY), R(mlid, 288, 16, SA_MCR_MLID),
	R(mtu_selector, 304, 2, SA_MCR_MTU_SELECTOR), R(mtu, 306, 6, SA_MCR_MTU),
	R(tclass, 312, 8, SA_MCR_TCLASS), R(pkey, 320, 16, SA_MCR_PKEY),
	R(rate_selector, 336, 2, SA_MCR_RATE_SELECTOR), R(rate, 338, 6, SA_MCR_RATE),
	R(life_selector, 344, 2, SA_MCR_LIFE_SELECTOR), R(life, 346, 6, SA_MCR_LIFE),
	R(sl, 352, 4, SA_MCR_SL), R(flow_label, 356, 20, SA_MCR_FLOW_LABEL),
	R(hop_limit, 376, 8, SA_MCR_HOP_LIMIT), R(scope, 384, 4, SA_MCR_SCOPE),
	R(join_state, 388, 4, SA_MCR_JOIN_STATE), R(proxy_join, 392, 1, SA_MCR_PROXY_JOIN),
#undef R
};
static const struct sa_field service_record_fields[] = {
	F(sa_service_record, id, 0, 64, SA_SR_ID),
	GID(sa_service_record, gid, 64, SA_SR_GID),
	F(sa_service_record, pkey, 192, 16, SA_SR_PKEY),
	F(sa_service_record, lease_s, 224, 32, SA_SR_LEASE),
	MANY(sa_service_record, key, 256, 8, 16, false, SA_SR_KEY),
	MANY(sa_service_record, name, 384, 8, 64, false, SA_SR_NAME),
	MANY(sa_service_record, data8, 896, 8, 16, true, SA_BIT(7)),
	MANY(sa_service_record, data16, 1024, 16, 8, true, SA_BIT(23)),
	MANY(sa_service_record, data32, 1152, 32, 4, true, SA_BIT(31)),
	MANY(sa_service_record, data64, 1280, 64, 2, true, SA_BIT(35)),
};

/* clang-format on */

#define RECORD(attr, bytes, type, name) \
	{ \
		attr, bytes, sizeof(struct sa_##type), N_OF(type##_fields), name, type##_fields \
	}
static const struct sa_record records[] = {
	RECORD(SA_PATH_RECORD, 64, path_record, "PathRecord"),
	RECORD(SA_CLASS_PORT_INFO, 72, class_port_info, "ClassPortInfo"),
	RECORD(SA_NOTICE, 80, notice, "Notice"),
	RECORD(SA_INFORM_INFO, 36, inform_info, "InformInfo"),
	RECORD(SA_NODE_RECORD, 108, node_record, "NodeRecord"),
	RECORD(SA_PORT_INFO_RECORD, 68, port_info_record, "PortInfoRecord"),
	RECORD(SA_SL2VL_RECORD, 16, sl2vl_record, "SLtoVLMappingTableRecord"),
	RECORD(SA_SWITCH_INFO_RECORD, 24, switch_info_record, "SwitchInfoRecord"),
	RECORD(SA_LFT_RECORD, 72, lft_record, "LinearForwardingTableRecord"),
	RECORD(SA_MFT_RECORD, 72, mft_record, "MulticastForwardingTableRecord"),
	RECORD(SA_SM_INFO_RECORD, 25, sm_info_record, "SMInfoRecord"),
	RECORD(SA_LINK_RECORD, 6, link_record, "LinkRecord"),
	RECORD(SA_GUID_INFO_RECORD, 72, guid_info_record, "GUIDInfoRecord"),
	RECORD(SA_SERVICE_RECORD, 176, service_record, "ServiceRecord"),
	RECORD(SA_PKEY_RECORD, 72, pkey_record, "P_KeyTableRecord"),
	RECORD(SA_VL_ARB_RECORD, 72, vl_arb_record, "VLArbitrationTableRecord"),
	RECORD(SA_MC_MEMBER_RECORD, 52, mc_member_record, "MCMemberRecord"),
	RECORD(SA_TRACE_RECORD, 46, trace_record, "TraceRecord"),
	RECORD(SA_MULTI_PATH_RECORD, SA_MULTI_PATH_GIDS_AT, multi_path_record, "MultiPathRecord"),
	RECORD(SA_INFORM_INFO_RECORD, 60, inform_info_record, "InformInfoRecord"),
};

const struct sa_record *
sa_record_of(uint16_t attr)
{
	for (size_t i = 0; i < N_OF(records); i++)
		if (records[i].attr == attr)
			return &records[i];
	return NULL;
}

/* The i-th of the fields that a row stands for. */
static inline struct wire_field
nth(const struct sa_field *f, unsigned i)
{
	struct wire_field one = f->f;

	one.at = (uint16_t)(one.at + i * one.width);
	one.member_at = (uint16_t)(one.member_at + i * one.member_bytes);
	return one;
}

/* What all hosts ask for at once, without the table: a fifth of the instructions. */
static void
path_record_get(const uint64_t *word, struct sa_path_record *p)
{
#define R(m, at, width, component) p->m = wire_bits_get(word, at, width);
#define G(m, at, component) \
	p->m = (struct sa_gid){ wire_bits_get(word, at, 64), wire_bits_get(word, (at) + 64, 64) };
	PATH_RECORD_ROWS(R, G)
#undef R
#undef G
}

static void
path_record_put(uint64_t *word, const struct sa_path_record *p)
{
#define R(m, at, width, component) wire_bits_put(word, at, width, p->m);
#define G(m, at, component) \
	wire_bits_put(word, at, 64, p->m.prefix); \
	wire_bits_put(word, (at) + 64, 64, p->m.guid);
	PATH_RECORD_ROWS(R, G)
#undef R
#undef G
}

static void
rows_get(const struct sa_record *r, const uint64_t *word, void *v)
{
	for (const struct sa_field *f = r->field; f < r->field + r->n_fields; f++)
		for (unsigned i = 0; i < f->count; i++) {
			struct wire_field one = nth(f, i);

			wire_store(v, &one, wire_bits_get(word, one.at, one.width));
		}
}

static void
rows_put(const struct sa_record *r, uint64_t *word, const void *v)
{
	for (const struct sa_field *f = r->field; f < r->field + r->n_fields; f++)
		for (unsigned i = 0; i < f->count; i++) {
			struct wire_field one = nth(f, i);

			wire_bits_put(word, one.at, one.width, wire_load(v, &one));
		}
}

void
sa_record_get(const struct sa_record *r, const uint8_t *at, void *v)
{
	uint64_t word[MAX_WORDS] = { 0 };
	uint8_t last[8] = { 0 };
	unsigned n = r->bytes / 8;

	for (unsigned i = 0; i < n; i++)
		word[i] = wire_get64(at + 8 * i);
	memcpy(last, at + 8 * n, r->bytes % 8);
	word[n] = wire_get64(last);
	if (r->attr == SA_PATH_RECORD)
		path_record_get(word, v);
	else
		rows_get(r, word, v);
}

void
sa_record_put(const struct sa_record *r, uint8_t *at, const void *v)
{
	uint64_t word[MAX_WORDS] = { 0 };

	if (r->attr == SA_PATH_RECORD)
		path_record_put(word, v);
	else
		rows_put(r, word, v);
	for (unsigned i = 0; i < sa_record_words(r); i++)
		wire_put64(at + 8 * i, word[i]);
}

/* Members are compared as they are in the struct: a template that was unpacked
 * has no more bits than its field. */
static bool
field_matches(const struct sa_field *f, const void *want, uint64_t mask, const void *v)
{
	size_t size = f->f.member_bytes;
	const char *a = (const char *)want + f->f.member_at, *b = (const char *)v + f->f.member_at;

	if (!f->each)
		return (f->component & mask) == 0 || memcmp(a, b, size * f->count) == 0;
	for (unsigned i = 0; i < f->count; i++)
		if ((f->component << i & mask) != 0 &&
		    memcmp(a + i * size, b + i * size, size) != 0)
			return false;
	return true;
}

bool
sa_record_matches(const struct sa_record *r, const void *want, uint64_t mask, const void *v)
{
	if (mask == 0)
		return true;
	for (const struct sa_field *f = r->field; f < r->field + r->n_fields; f++)
		if (!field_matches(f, want, mask, v))
			return false;
	return true;
}

/* ---- the header */

/* clang-format off */
#define HEADER_ROWS(R) \
	R(base_version, 0, 8) R(mgmt_class, 8, 8) R(class_version, 16, 8) R(method, 24, 8) \
	R(status, 32, 16) R(tid, 64, 64) R(attr, 128, 16) R(modifier, 160, 32) \
	R(rmpp_version, 192, 8) R(rmpp_type, 200, 8) R(rmpp_resp_time, 208, 5) \
	R(rmpp_flags, 213, 3) R(rmpp_status, 216, 8) R(rmpp_data1, 224, 32) \
	R(rmpp_data2, 256, 32) R(sm_key, 288, 64) R(attr_words, 352, 16) R(mask, 384, 64)
/* clang-format on */
#define R(m, at, width) WIRE_FIELD(sa_header, m, at, width),
static const struct wire_field header_rows[] = { HEADER_ROWS(R) };
#undef R
#define HEADER_WORDS (SA_DATA_AT / 8)

void
sa_header_get(const uint8_t *mad, struct sa_header *h)
{
	uint64_t word[HEADER_WORDS];

	for (unsigned i = 0; i < HEADER_WORDS; i++)
		word[i] = wire_get64(mad + 8 * i);
#define R(m, at, width) h->m = wire_bits_get(word, at, width);
	HEADER_ROWS(R)
#undef R
}

void
sa_header_put(uint8_t *mad, const struct sa_header *h)
{
	uint64_t word[HEADER_WORDS] = { 0 };

#define R(m, at, width) wire_bits_put(word, at, width, h->m);
	HEADER_ROWS(R)
#undef R
	for (unsigned i = 0; i < HEADER_WORDS; i++)
		wire_put64(mad + 8 * i, word[i]);
}

const struct wire_field *
sa_header_fields(size_t *n)
{
	*n = N_OF(header_rows);
	return header_rows;
}

bool
sa_key_is(uint64_t shown, uint64_t key)
{
	return shown != 0 && (shown == key || __builtin_bswap64(shown) == key);
}

struct sa_gid
sa_gid_get(const uint8_t *at)
{
	return (struct sa_gid){ wire_get64(at), wire_get64(at + 8) };
}

void
sa_gid_put(uint8_t *at, struct sa_gid g)
{
	wire_put64(at, g.prefix);
	wire_put64(at + 8, g.guid);
}

const char *
sa_status_words(uint16_t status)
{
	switch (status) {
	case SA_OK:
		return "answered";
	case WIRE_STATUS_BUSY:
		return "busy";
	case WIRE_STATUS_BAD_CLASS_VERSION:
		return "class version not supported";
	case WIRE_STATUS_BAD_METHOD:
		return "method not supported";
	case WIRE_STATUS_BAD_METHOD_ATTR:
		return "attribute not supported with this method";
	case WIRE_STATUS_BAD_VALUE:
		return "invalid value";
	case SA_NO_RESOURCES:
		return "no resources";
	case SA_REQ_INVALID:
		return "request invalid";
	case SA_NO_RECORDS:
		return "no records match";
	case SA_TOO_MANY_RECORDS:
		return "too many records match";
	case SA_REQ_INVALID_GID:
		return "invalid GID";
	case SA_REQ_INSUFFICIENT_COMPONENTS:
		return "not enough components";
	case SA_REQ_DENIED:
		return "denied";
	case SA_PRIORITY_SUGGESTED:
		return "priority suggested";
	}
	return NULL;
}

/* ---- rates */

/* What a link carries behind its coding, and the code that names its signalling rate.
 * Ascending; where two codes carry about as much the newer speed has its own row. */
static const struct rate {
	uint32_t mbps;
	uint8_t code;
} rates[] = {
	{ 2000, 2 },	 /* 1x SDR */
	{ 4000, 5 },	 /* 1x DDR */
	{ 8000, 3 },	 /* 4x SDR, 1x QDR, 2x DDR */
	{ 13640, 11 },	 /* 1x FDR */
	{ 16000, 6 },	 /* 4x DDR, 8x SDR, 2x QDR */
	{ 24000, 4 },	 /* 12x SDR */
	{ 25000, 15 },	 /* 1x EDR */
	{ 27280, 19 },	 /* 2x FDR */
	{ 32000, 7 },	 /* 4x QDR, 8x DDR */
	{ 48000, 8 },	 /* 12x DDR */
	{ 50000, 20 },	 /* 2x EDR, 1x HDR */
	{ 54560, 12 },	 /* 4x FDR */
	{ 64000, 9 },	 /* 8x QDR */
	{ 96000, 10 },	 /* 12x QDR */
	{ 100000, 16 },	 /* 4x EDR, 2x HDR, 1x NDR */
	{ 109120, 13 },	 /* 8x FDR */
	{ 163680, 14 },	 /* 12x FDR */
	{ 200000, 17 },	 /* 8x EDR, 4x HDR, 2x NDR, 1x XDR */
	{ 300000, 18 },	 /* 12x EDR */
	{ 400000, 21 },	 /* 8x HDR, 4x NDR, 2x XDR */
	{ 600000, 22 },	 /* 12x HDR */
	{ 800000, 23 },	 /* 8x NDR, 4x XDR */
	{ 1200000, 24 }, /* 12x NDR */
	{ 1600000, 25 }, /* 8x XDR */
};

uint8_t
sa_rate_code(uint32_t mbps)
{
	return sa_rate_code_most(mbps, UINT8_MAX);
}

uint8_t
sa_rate_code_most(uint32_t mbps, uint8_t most)
{
	uint8_t code = rates[0].code;

	for (size_t i = 0; i < N_OF(rates) && rates[i].mbps <= mbps; i++)
		if (rates[i].code <= most)
			code = rates[i].code;
	return code;
}

uint32_t
sa_rate_mbps(uint8_t code)
{
	for (size_t i = 0; i < N_OF(rates); i++)
		if (rates[i].code == code)
			return rates[i].mbps;
	return 0;
}
