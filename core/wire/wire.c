/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/wire.c - one packer and one unpacker for all attributes.
 *
 * The wire is a row of bits, the most significant first.  A layout lists its
 * fields as rows (where on the wire, where in the struct); the wire is seen
 * as big-endian 64-bit words, loaded into the host's order once:
 *
 *	bit 0 ..................... 63 | 64 .................... 127
 *	|        word[0]               |          word[1]          |
 *	    ^at, width                ^--- a field may cross once
 *
 * so a field is one shift and mask, or two when it crosses into the next
 * word.  Bits that no row names are reserved: written as zero, read as nothing.
 * The layouts are constants and both functions are unrolled over them, so that
 * nothing of the tables is left at run time: a PortInfo costs tens of ns.
 *
 * Offsets: IBA 13.4.2 (header), 13.4.8.2 (Notice), 14.2.1 (directed route),
 * 14.2.5 (attributes).
 */
#include "core/wire/wire.h"

#include <string.h>

#include "core/wire/wire_rows.h"

#define MAX_WORDS (WIRE_SMP_DATA_BYTES / 8)
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
#define ROW(type, m, at, width, component) WIRE_FIELD(type, m, at, width)
#define LAYOUT(rows, words) {rows, N_OF(rows), words}
/* clang-format on */

/* Fold a constant layout into the code: five to ten times faster than the loop. */
#define ALWAYS_INLINE inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

struct layout {
	const struct wire_field *row; /* [n_rows] */
	uint8_t n_rows;
	uint8_t n_words; /* 8-byte words of the wire these rows own */
};

#define H(m, at, width) ROW(wire_header, m, at, width, 0)
#define COMMON_HEADER \
	H(base_version, 0, 8), H(mgmt_class, 8, 8), H(class_version, 16, 8), H(method, 24, 8), \
	    H(tid, 64, 64), H(attr, 128, 16), H(modifier, 160, 32)

static const struct wire_field plain_header_rows[] = { COMMON_HEADER, H(status, 32, 16) };
static const struct wire_field lid_header_rows[] = { COMMON_HEADER, H(status, 32, 16),
	H(m_key, 192, 64) };
static const struct wire_field dr_header_rows[] = { COMMON_HEADER, H(dr_return, 32, 1),
	H(status, 33, 15), H(hop_pointer, 48, 8), H(hop_count, 56, 8), H(m_key, 192, 64),
	H(dr_slid, 256, 16), H(dr_dlid, 272, 16) };
#undef H
static const struct layout plain_header = LAYOUT(plain_header_rows, 3);
static const struct layout lid_header = LAYOUT(lid_header_rows, 4);
static const struct layout dr_header = LAYOUT(dr_header_rows, 5);

static const struct wire_field node_info_rows[] = { WIRE_NODE_INFO_ROWS(ROW, wire_node_info) };

static const struct wire_field switch_info_rows[] = { WIRE_SWITCH_INFO_ROWS(
    ROW, wire_switch_info) };

static const struct wire_field port_info_rows[] = { WIRE_PORT_INFO_ROWS(ROW, wire_port_info) };

static const struct wire_field sm_info_rows[] = { WIRE_SM_INFO_ROWS(ROW, wire_sm_info) };

static const struct wire_field notice_rows[] = { WIRE_NOTICE_ROWS(ROW, wire_notice) };

static const struct layout node_info = LAYOUT(node_info_rows, MAX_WORDS);
static const struct layout switch_info = LAYOUT(switch_info_rows, MAX_WORDS);
static const struct layout port_info = LAYOUT(port_info_rows, MAX_WORDS);
static const struct layout sm_info = LAYOUT(sm_info_rows, MAX_WORDS);
static const struct layout notice = LAYOUT(notice_rows, MAX_WORDS);

static ALWAYS_INLINE void
unpack(const struct layout *l, const uint8_t *at, void *v)
{
	uint64_t word[MAX_WORDS];

	for (unsigned i = 0; i < l->n_words; i++)
		word[i] = wire_get64(at + 8 * i);
	UNROLL
	for (unsigned i = 0; i < l->n_rows; i++) {
		const struct wire_field *f = &l->row[i];

		wire_store(v, f, wire_bits_get(word, f->at, f->width));
	}
}

static ALWAYS_INLINE void
pack(const struct layout *l, uint8_t *at, const void *v)
{
	uint64_t word[MAX_WORDS] = { 0 };

	UNROLL
	for (unsigned i = 0; i < l->n_rows; i++) {
		const struct wire_field *f = &l->row[i];

		wire_bits_put(word, f->at, f->width, wire_load(v, f));
	}
	for (unsigned i = 0; i < l->n_words; i++)
		wire_put64(at + 8 * i, word[i]);
}

void
wire_header_get(const uint8_t *mad, struct wire_header *h)
{
	*h = (struct wire_header){ 0 };
	switch (mad[1]) {
	case WIRE_CLASS_SMP_DR:
		unpack(&dr_header, mad, h);
		break;
	case WIRE_CLASS_SMP_LID:
		unpack(&lid_header, mad, h);
		break;
	default:
		unpack(&plain_header, mad, h);
	}
}

void
wire_header_put(uint8_t *mad, const struct wire_header *h)
{
	switch (h->mgmt_class) {
	case WIRE_CLASS_SMP_DR:
		pack(&dr_header, mad, h);
		break;
	case WIRE_CLASS_SMP_LID:
		pack(&lid_header, mad, h);
		break;
	default:
		pack(&plain_header, mad, h);
	}
}

void
wire_node_info_get(const uint8_t *at, struct wire_node_info *v)
{
	unpack(&node_info, at, v);
}

void
wire_node_info_put(uint8_t *at, const struct wire_node_info *v)
{
	pack(&node_info, at, v);
}

void
wire_switch_info_get(const uint8_t *at, struct wire_switch_info *v)
{
	unpack(&switch_info, at, v);
}

void
wire_switch_info_put(uint8_t *at, const struct wire_switch_info *v)
{
	pack(&switch_info, at, v);
}

void
wire_port_info_get(const uint8_t *at, struct wire_port_info *v)
{
	unpack(&port_info, at, v);
}

void
wire_port_info_put(uint8_t *at, const struct wire_port_info *v)
{
	pack(&port_info, at, v);
}

void
wire_sm_info_get(const uint8_t *at, struct wire_sm_info *v)
{
	unpack(&sm_info, at, v);
}

void
wire_sm_info_put(uint8_t *at, const struct wire_sm_info *v)
{
	pack(&sm_info, at, v);
}

void
wire_bad_m_key_get(const uint8_t details[54], struct wire_bad_m_key *v)
{
	v->lid = wire_get16(details + 2);
	v->method = details[6];
	v->attr = wire_get16(details + 8);
	v->m_key = wire_get64(details + 14);
	v->directed = (details[23] & 0x80) != 0;
	v->n_hops = details[23] & 0x3f;
}

void
wire_notice_get(const uint8_t *at, struct wire_notice *v)
{
	unpack(&notice, at, v);
	memcpy(v->details, at + WIRE_NOTICE_DETAILS_AT, sizeof(v->details));
}

void
wire_notice_put(uint8_t *at, const struct wire_notice *v)
{
	pack(&notice, at, v);
	memcpy(at + WIRE_NOTICE_DETAILS_AT, v->details, sizeof(v->details));
}

/* 32 numbers of 16 bits, which is what a block of several tables is. */
static void
get_words(const uint8_t *at, uint16_t *words)
{
	for (int i = 0; i < 32; i++)
		words[i] = wire_get16(at + 2 * i);
}

static void
put_words(uint8_t *at, const uint16_t *words)
{
	for (int i = 0; i < 32; i++)
		wire_put16(at + 2 * i, words[i]);
}

void
wire_pkeys_get(const uint8_t *at, uint16_t *pkeys)
{
	get_words(at, pkeys);
}

void
wire_pkeys_put(uint8_t *at, const uint16_t *pkeys)
{
	put_words(at, pkeys);
}

void
wire_mft_get(const uint8_t *at, uint16_t *ports)
{
	get_words(at, ports);
}

void
wire_mft_put(uint8_t *at, const uint16_t *ports)
{
	put_words(at, ports);
}

void
wire_guids_get(const uint8_t *at, uint64_t *guids)
{
	for (int i = 0; i < 8; i++)
		guids[i] = wire_get64(at + 8 * i);
}

void
wire_guids_put(uint8_t *at, const uint64_t *guids)
{
	for (int i = 0; i < 8; i++)
		wire_put64(at + 8 * i, guids[i]);
}

/* IBA 14.2.5.8: a nibble per SL, SL 0 in the upper half of the first byte. */
void
wire_sl2vl_get(const uint8_t *at, uint8_t *vl)
{
	for (int i = 0; i < 8; i++) {
		vl[2 * i] = at[i] >> 4;
		vl[2 * i + 1] = at[i] & 0xf;
	}
}

void
wire_sl2vl_put(uint8_t *at, const uint8_t *vl)
{
	memset(at, 0, WIRE_SMP_DATA_BYTES);
	for (int i = 0; i < 8; i++)
		at[i] = (uint8_t)(vl[2 * i] << 4 | (vl[2 * i + 1] & 0xf));
}

struct code {
	uint8_t code;
	uint32_t value;
};

/* The value of the greatest code listed that is not above `code`; 0 below all. */
static uint32_t
nearest_below(const struct code *c, size_t n, uint8_t code)
{
	uint32_t value = 0;

	for (size_t i = 0; i < n && c[i].code <= code; i++)
		value = c[i].value;
	return value;
}

#define SPEED_EXT_XDR 16

/* Rates are those of the data, behind 8b/10b or 64b/66b coding.  XDR does not
 * fit the 4 bits of LinkSpeedExtActive: its code here continues the row. */
static struct wire_rate
rate_of(uint8_t width, uint8_t speed, uint8_t speed_ext)
{
	static const struct code lanes[] = { { 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 } };
	static const struct code lane_mbps[] = { { 1, 2000 }, { 2, 4000 }, { 4, 8000 } };
	static const struct code ext_lane_mbps[] = { { 1, 13640 }, { 2, 25000 }, { 4, 50000 },
		{ 8, 100000 }, { SPEED_EXT_XDR, 200000 } };
	uint32_t n = nearest_below(lanes, N_OF(lanes), width);
	uint32_t mbps = nearest_below(ext_lane_mbps, N_OF(ext_lane_mbps), speed_ext);

	if (mbps == 0)
		mbps = nearest_below(lane_mbps, N_OF(lane_mbps), speed);
	return (struct wire_rate){ (uint8_t)(n ? n : 1), mbps ? mbps : lane_mbps[0].value };
}

uint32_t
wire_link_mbps(uint8_t width_active, uint8_t speed_active, uint8_t speed_ext_active)
{
	return wire_rate_mbps(rate_of(width_active, speed_active, speed_ext_active));
}

struct wire_rate
wire_rate_active(const struct wire_port_info *p)
{
	bool knows_xdr = (p->capability_mask & WIRE_CAP_MASK2) != 0 &&
	    (p->capability_mask2 & WIRE_CAP2_EXT_SPEEDS2) != 0;
	uint8_t ext = p->link_speed_ext_active;

	if (knows_xdr && p->link_speed_ext_active2 == 1)
		ext = SPEED_EXT_XDR;
	return rate_of(p->link_width_active, p->link_speed_active, ext);
}

uint8_t
wire_port_state_get(const uint8_t *at, unsigned port)
{
	uint8_t two = at[port % WIRE_STATES_OF_BLOCK / 2];

	return port % 2 == 0 ? two >> 4 : two & 0xf;
}

void
wire_port_state_put(uint8_t *at, unsigned port, uint8_t state)
{
	uint8_t *two = &at[port % WIRE_STATES_OF_BLOCK / 2];

	*two = port % 2 == 0 ? (uint8_t)(state << 4 | (*two & 0xf))
			     : (uint8_t)((*two & 0xf0) | (state & 0xf));
}

uint32_t
wire_port_mbps(const struct wire_port_info *p)
{
	return wire_rate_mbps(wire_rate_active(p));
}

static uint8_t
highest_bit(uint8_t mask)
{
	return mask == 0 ? 0 : (uint8_t)(1u << (31 - __builtin_clz(mask)));
}

/* Width codes by rising width: 1x, 2x (16), 4x, 8x, 12x. */
static uint8_t
widest(uint8_t mask)
{
	return mask == 16 || mask == 17 ? 16 : highest_bit(mask & 15);
}

struct wire_rate
wire_rate_best(const struct wire_port_info *a, const struct wire_port_info *b)
{
	uint8_t ext = highest_bit(a->link_speed_ext_supported & b->link_speed_ext_supported);
	uint8_t speed = highest_bit(a->link_speed_supported & b->link_speed_supported & 7);

	return rate_of(widest(a->link_width_supported & b->link_width_supported), speed, ext);
}

/* What an attribute is called and, if it is packed by rows, how it is laid out. */
static const struct attr_entry {
	uint16_t attr;
	const char *name;
	const struct layout *layout;
} attrs[] = {
	{ WIRE_ATTR_NOTICE, "Notice", &notice },
	{ WIRE_ATTR_NODE_DESC, "NodeDescription", NULL },
	{ WIRE_ATTR_NODE_INFO, "NodeInfo", &node_info },
	{ WIRE_ATTR_SWITCH_INFO, "SwitchInfo", &switch_info },
	{ WIRE_ATTR_GUID_INFO, "GUIDInfo", NULL },
	{ WIRE_ATTR_PORT_INFO, "PortInfo", &port_info },
	{ WIRE_ATTR_PKEY_TABLE, "P_KeyTable", NULL },
	{ WIRE_ATTR_SL2VL, "SLtoVLMappingTable", NULL },
	{ WIRE_ATTR_VL_ARB, "VLArbitrationTable", NULL },
	{ WIRE_ATTR_LFT, "LinearForwardingTable", NULL },
	{ WIRE_ATTR_MFT, "MulticastForwardingTable", NULL },
	{ WIRE_ATTR_SM_INFO, "SMInfo", &sm_info },
	{ WIRE_ATTR_PORT_STATES, "SwitchPortStateTable", NULL },
};

static const struct attr_entry *
find_attr(uint16_t attr)
{
	for (size_t i = 0; i < N_OF(attrs); i++)
		if (attrs[i].attr == attr)
			return &attrs[i];
	return NULL;
}

const char *
wire_attr_name(uint16_t attr)
{
	const struct attr_entry *e = find_attr(attr);

	return e ? e->name : NULL;
}

static const struct wire_field *
rows_of(const struct layout *l, size_t *n)
{
	*n = l ? l->n_rows : 0;
	return l ? l->row : NULL;
}

const struct wire_field *
wire_attr_fields(uint16_t attr, size_t *n)
{
	const struct attr_entry *e = find_attr(attr);

	return rows_of(e ? e->layout : NULL, n);
}

static const struct layout *
header_layout(uint8_t mgmt_class)
{
	switch (mgmt_class) {
	case WIRE_CLASS_SMP_DR:
		return &dr_header;
	case WIRE_CLASS_SMP_LID:
		return &lid_header;
	default:
		return &plain_header;
	}
}

const struct wire_field *
wire_header_fields(uint8_t mgmt_class, size_t *n)
{
	return rows_of(header_layout(mgmt_class), n);
}
