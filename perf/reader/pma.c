/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/reader/pma.h"

#include <string.h>

#include "core/wire/wire.h"

#define DATA_AT 64
#define PORT_SELECT 1
#define CAP_EXT_WIDTH 0x0200
#define CAP_EXT_WIDTH_NO_IETF 0x0400
#define CAP_XMIT_WAIT 0x1000
#define CAP_RS_FEC 0x4000
#define CAP_QP1_DROPPED 0x8000
#define CAP2_ERRORS_64 0x0002
#define LANES 12

static const uint16_t numbers[PMA_ATTRS] = { [PMA_CLASS_PORT_INFO] = 0x0001,
	[PMA_PORT_COUNTERS] = 0x0012,
	[PMA_EXTENDED] = 0x001d,
	[PMA_SPEEDS] = 0x001f };

/* Of what a counter needs that its agent has it. */
enum need { ALWAYS, IETF, ERRORS_64, WAIT, QP1, QP1_64, LANE_FEC, RS_FEC };

struct field {
	uint8_t at, bits; /* bytes from the start of the attribute; of 4 bits: the upper half */
	uint8_t counter;
	uint8_t need; /* enum need */
	uint8_t n;    /* so many in a row, which are added; 0: one */
	bool lower;   /* of 4 bits: the lower half */
};

static const struct field port_counters[] = { { 4, 16, COUNTER_SYMBOL_ERRORS, ALWAYS },
	{ 6, 8, COUNTER_LINK_RECOVERIES, ALWAYS }, { 7, 8, COUNTER_LINK_DOWNED, ALWAYS },
	{ 8, 16, COUNTER_RCV_ERRORS, ALWAYS }, { 10, 16, COUNTER_REMOTE_PHYSICAL, ALWAYS },
	{ 12, 16, COUNTER_RELAY_ERRORS, ALWAYS }, { 14, 16, COUNTER_XMIT_DISCARDS, ALWAYS },
	{ 16, 8, COUNTER_XMIT_CONSTRAINT, ALWAYS }, { 17, 8, COUNTER_RCV_CONSTRAINT, ALWAYS },
	{ 19, 4, COUNTER_LINK_INTEGRITY, ALWAYS },
	{ 19, 4, COUNTER_BUFFER_OVERRUN, ALWAYS, 0, true }, { 20, 16, COUNTER_QP1_DROPPED, QP1 },
	{ 22, 16, COUNTER_VL15_DROPPED, ALWAYS }, { 24, 32, COUNTER_XMIT_DATA, ALWAYS },
	{ 28, 32, COUNTER_RCV_DATA, ALWAYS }, { 32, 32, COUNTER_XMIT_PACKETS, ALWAYS },
	{ 36, 32, COUNTER_RCV_PACKETS, ALWAYS }, { 40, 32, COUNTER_XMIT_WAIT, WAIT } };

static const struct field extended[] = { { 8, 64, COUNTER_XMIT_DATA, ALWAYS },
	{ 16, 64, COUNTER_RCV_DATA, ALWAYS }, { 24, 64, COUNTER_XMIT_PACKETS, ALWAYS },
	{ 32, 64, COUNTER_RCV_PACKETS, ALWAYS }, { 40, 64, COUNTER_UNICAST_XMIT, IETF },
	{ 48, 64, COUNTER_UNICAST_RCV, IETF }, { 56, 64, COUNTER_MULTICAST_XMIT, IETF },
	{ 64, 64, COUNTER_MULTICAST_RCV, IETF }, { 72, 64, COUNTER_SYMBOL_ERRORS, ERRORS_64 },
	{ 80, 64, COUNTER_LINK_RECOVERIES, ERRORS_64 }, { 88, 64, COUNTER_LINK_DOWNED, ERRORS_64 },
	{ 96, 64, COUNTER_RCV_ERRORS, ERRORS_64 }, { 104, 64, COUNTER_REMOTE_PHYSICAL, ERRORS_64 },
	{ 112, 64, COUNTER_RELAY_ERRORS, ERRORS_64 }, { 120, 64, COUNTER_XMIT_DISCARDS, ERRORS_64 },
	{ 128, 64, COUNTER_XMIT_CONSTRAINT, ERRORS_64 },
	{ 136, 64, COUNTER_RCV_CONSTRAINT, ERRORS_64 },
	{ 144, 64, COUNTER_LINK_INTEGRITY, ERRORS_64 },
	{ 152, 64, COUNTER_BUFFER_OVERRUN, ERRORS_64 },
	{ 160, 64, COUNTER_VL15_DROPPED, ERRORS_64 }, { 168, 64, COUNTER_XMIT_WAIT, ERRORS_64 },
	{ 176, 64, COUNTER_QP1_DROPPED, QP1_64 } };

static const struct field speeds[] = { { 16, 16, COUNTER_SYNC_HEADER, ALWAYS },
	{ 18, 16, COUNTER_UNKNOWN_BLOCK, ALWAYS }, { 20, 16, COUNTER_LANE_ERRORS, ALWAYS, LANES },
	{ 44, 32, COUNTER_FEC_CORRECTED, LANE_FEC, LANES },
	{ 92, 32, COUNTER_FEC_UNCORRECTED, LANE_FEC, LANES },
	{ 140, 32, COUNTER_FEC_CORRECTED, RS_FEC }, { 144, 32, COUNTER_FEC_UNCORRECTED, RS_FEC },
	{ 148, 32, COUNTER_FEC_SYMBOLS, RS_FEC } };

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))

/* The one MAD that there is. */
void
pma_get(uint8_t mad[MAD_BYTES], enum pma_attr attr, uint8_t port, uint32_t tid)
{
	memset(mad, 0, MAD_BYTES);
	mad[0] = 1; /* BaseVersion */
	mad[1] = PMA_CLASS;
	mad[2] = 1; /* ClassVersion */
	mad[3] = WIRE_GET;
	wire_put32(mad + WIRE_TID_AT + 4, tid);
	wire_put16(mad + 16, numbers[attr]);
	mad[DATA_AT + PORT_SELECT] = attr != PMA_CLASS_PORT_INFO ? port : 0;
}

bool
pma_parse(const uint8_t *mad, size_t n, struct pma_answer *a)
{
	uint16_t number;

	if (n < MAD_BYTES || mad[0] != 1 || mad[1] != PMA_CLASS || mad[3] != WIRE_GET_RESP)
		return false;
	number = wire_get16(mad + 16);
	*a = (struct pma_answer){ .tid = wire_get32(mad + WIRE_TID_AT + 4),
		.status = wire_get16(mad + 4),
		.attr = PMA_CLASS_PORT_INFO,
		.port = mad[DATA_AT + PORT_SELECT] };
	while (a->attr < PMA_ATTRS && numbers[a->attr] != number)
		a->attr++;
	return true;
}

void
pma_parse_info(const uint8_t mad[MAD_BYTES], struct pma_info *info)
{
	const uint8_t *data = mad + DATA_AT;
	uint16_t cap = wire_get16(data + 2), lid = wire_get16(data + 28);
	uint32_t cap2 = wire_get32(data + 4) >> 5;
	bool has_gid = wire_get64(data + 8) != 0 || wire_get64(data + 16) != 0;

	*info = (struct pma_info){ .has_64 = (cap & (CAP_EXT_WIDTH | CAP_EXT_WIDTH_NO_IETF)) != 0,
		.has_ietf = (cap & CAP_EXT_WIDTH) != 0,
		.has_wait = (cap & CAP_XMIT_WAIT) != 0,
		.has_qp1 = (cap & CAP_QP1_DROPPED) != 0,
		.has_rs_fec = (cap & CAP_RS_FEC) != 0,
		.redirects = lid != 0 || has_gid };
	info->has_errors_64 = info->has_64 && (cap2 & CAP2_ERRORS_64) != 0;
	if (info->redirects)
		info->to = (struct mad_addr){ .lid = lid,
			.sl = data[25] >> 4,
			.qpn = wire_get32(data + 32) & 0xffffff,
			.qkey = wire_get32(data + 36) };
}

/* ---------------------------------------------------------------- counters */

static bool
is_there(enum need need, const struct pma_info *info)
{
	switch (need) {
	case ALWAYS:
		return true;
	case IETF:
		return info->has_ietf;
	case ERRORS_64:
		return info->has_errors_64;
	case WAIT:
		return info->has_wait;
	case QP1:
		return info->has_qp1;
	case QP1_64:
		return info->has_qp1 && info->has_errors_64;
	case LANE_FEC:
		return !info->has_rs_fec;
	case RS_FEC:
		return info->has_rs_fec;
	}
	return false;
}

static uint64_t
value_of(const uint8_t *at, const struct field *f)
{
	switch (f->bits) {
	case 4:
		return f->lower ? *at & 0xf : *at >> 4;
	case 8:
		return *at;
	case 16:
		return wire_get16(at);
	case 32:
		return wire_get32(at);
	default:
		return wire_get64(at);
	}
}

static void
take(const uint8_t *data, const struct field *f, struct pma_reading *r)
{
	uint64_t end = f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;

	r->has |= 1u << f->counter;
	r->bits[f->counter] = f->bits;
	for (unsigned i = 0; i < (f->n > 0 ? f->n : 1u); i++) {
		uint64_t value = value_of(data + f->at + i * f->bits / 8, f);

		r->value[f->counter] += value;
		if (value == end)
			r->at_end |= 1u << f->counter;
	}
}

void
pma_parse_counters(const uint8_t mad[MAD_BYTES], enum pma_attr attr, const struct pma_info *info,
    struct pma_reading *r)
{
	const struct field *fields = port_counters;
	size_t n = N_OF(port_counters);

	if (attr == PMA_EXTENDED) {
		fields = extended;
		n = N_OF(extended);
	} else if (attr == PMA_SPEEDS) {
		fields = speeds;
		n = N_OF(speeds);
	}
	*r = (struct pma_reading){ 0 };
	for (size_t i = 0; i < n; i++)
		if (is_there(fields[i].need, info))
			take(mad + DATA_AT, &fields[i], r);
}
