/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PortCounters, PortCountersExtended and PortExtendedSpeedsCounters are views
 * of one array per port: rows say where a counter stands in the attribute, how
 * wide it is there, and which bit of CounterSelect names it in a Set.  What is
 * narrow sticks at its maximum (IBA 16.1.3.5) till a Set clears it, in all views
 * at once; PortSelect 255 is the sum of all ports of a node.
 */
#include "lab/sim/pma.h"

#include <string.h>
#include <strings.h>

#define DATA_AT 64 /* in the MAD, class 0x04 */
#define PORT_SELECT 1
#define COUNTER_SELECT 2
#define COUNTER_SELECT2 18	 /* of PortCounters */
#define EXTENDED_SELECT2 4	 /* of PortCountersExtended */
#define EXTENDED_SPEEDS_SELECT 8 /* of PortExtendedSpeedsCounters */
#define ALL_PORTS 255
#define CAP_ALL_PORT_SELECT 0x0100
#define CAP_EXTENDED_WIDTH 0x0200
#define CAP_EXTENDED_NO_IETF 0x0400
#define CAP_XMIT_WAIT 0x1000
#define CAP_RS_FEC 0x4000
#define CAP_QP1_DROPPED 0x8000
#define CAP2_ERRORS_64 0x0002
#define RESPONSE_TIME 18       /* 1 s */
#define REDIRECTED_QP 0x100000 /* and the number of the node */
#define QP1_QKEY 0x80010000

enum pma_attr {
	PMA_CLASS_PORT_INFO = 0x0001,
	PMA_PORT_COUNTERS = 0x0012,
	PMA_PORT_COUNTERS_EXTENDED = 0x001D,
	PMA_PORT_EXTENDED_SPEEDS = 0x001F
};

struct view {
	uint8_t at, bits; /* bytes from the start of the attribute; bits: 4 = at + half */
	uint8_t select;	  /* bit; 16.. are those of CounterSelect2 */
	uint8_t counter;  /* enum sim_counter */
	bool low_half;
	uint8_t n; /* so many in a row, each the next of all these; 0 = one */
};

static const struct view port_counters[] = { /* table 199 */
	{ 4, 16, 0, COUNT_SYMBOL_ERRORS }, { 6, 8, 1, COUNT_LINK_RECOVERED },
	{ 7, 8, 2, COUNT_LINK_DOWNED }, { 8, 16, 3, COUNT_RCV_ERRORS },
	{ 10, 16, 4, COUNT_REMOTE_PHYSICAL }, { 12, 16, 5, COUNT_RELAY_ERRORS },
	{ 14, 16, 6, COUNT_XMIT_DISCARDS }, { 16, 8, 7, COUNT_XMIT_CONSTRAINT },
	{ 17, 8, 8, COUNT_RCV_CONSTRAINT }, { 19, 4, 9, COUNT_LINK_INTEGRITY },
	{ 19, 4, 10, COUNT_BUFFER_OVERRUN, true }, { 20, 16, 17, COUNT_QP1_DROPPED },
	{ 22, 16, 11, COUNT_VL15_DROPPED }, { 24, 32, 12, COUNT_XMIT_DATA },
	{ 28, 32, 13, COUNT_RCV_DATA }, { 32, 32, 14, COUNT_XMIT_PACKETS },
	{ 36, 32, 15, COUNT_RCV_PACKETS }, { 40, 32, 16, COUNT_XMIT_WAIT }
};
#define N_PORT_COUNTERS (sizeof(port_counters) / sizeof(port_counters[0]))

static const struct view extended[] = { { 8, 64, 0, COUNT_XMIT_DATA },
	{ 16, 64, 1, COUNT_RCV_DATA }, { 24, 64, 2, COUNT_XMIT_PACKETS },
	{ 32, 64, 3, COUNT_RCV_PACKETS }, { 40, 64, 4, COUNT_UNICAST_XMIT },
	{ 48, 64, 5, COUNT_UNICAST_RCV }, { 56, 64, 6, COUNT_MULTICAST_XMIT },
	{ 64, 64, 7, COUNT_MULTICAST_RCV }, { 72, 64, 16, COUNT_SYMBOL_ERRORS },
	{ 80, 64, 17, COUNT_LINK_RECOVERED }, { 88, 64, 18, COUNT_LINK_DOWNED },
	{ 96, 64, 19, COUNT_RCV_ERRORS }, { 104, 64, 20, COUNT_REMOTE_PHYSICAL },
	{ 112, 64, 21, COUNT_RELAY_ERRORS }, { 120, 64, 22, COUNT_XMIT_DISCARDS },
	{ 128, 64, 23, COUNT_XMIT_CONSTRAINT }, { 136, 64, 24, COUNT_RCV_CONSTRAINT },
	{ 144, 64, 25, COUNT_LINK_INTEGRITY }, { 152, 64, 26, COUNT_BUFFER_OVERRUN },
	{ 160, 64, 27, COUNT_VL15_DROPPED }, { 168, 64, 28, COUNT_XMIT_WAIT },
	{ 176, 64, 29, COUNT_QP1_DROPPED } };
#define N_EXTENDED (sizeof(extended) / sizeof(extended[0]))
static const uint8_t n_extended[PMA_WIDTHS] = {
	[PMA_NARROW] = 0, [PMA_NO_IETF] = 4, [PMA_WIDE] = 8, [PMA_ERRORS_64] = N_EXTENDED
};

static const struct view extended_speeds[] = { { 16, 16, 0, COUNT_SYNC_HEADER },
	{ 18, 16, 1, COUNT_UNKNOWN_BLOCK }, { 20, 16, 2, COUNT_LANE_ERRORS, false, SIM_LANES },
	{ 44, 32, 14, COUNT_FEC_CORRECTED, false, SIM_LANES },
	{ 92, 32, 26, COUNT_FEC_UNCORRECTED, false, SIM_LANES },
	{ 140, 32, 38, COUNT_PORT_FEC_CORRECTED }, { 144, 32, 39, COUNT_PORT_FEC_UNCORRECTED },
	{ 148, 32, 40, COUNT_PORT_FEC_SYMBOLS } };
#define N_EXTENDED_SPEEDS (sizeof(extended_speeds) / sizeof(extended_speeds[0]))
#define N_WITHOUT_RS_FEC 5

static const char *const names[SIM_COUNTERS] = { [COUNT_SYMBOL_ERRORS] = "SymbolErrorCounter",
	[COUNT_LINK_RECOVERED] = "LinkErrorRecoveryCounter",
	[COUNT_LINK_DOWNED] = "LinkDownedCounter",
	[COUNT_RCV_ERRORS] = "PortRcvErrors",
	[COUNT_REMOTE_PHYSICAL] = "PortRcvRemotePhysicalErrors",
	[COUNT_RELAY_ERRORS] = "PortRcvSwitchRelayErrors",
	[COUNT_XMIT_DISCARDS] = "PortXmitDiscards",
	[COUNT_XMIT_CONSTRAINT] = "PortXmitConstraintErrors",
	[COUNT_RCV_CONSTRAINT] = "PortRcvConstraintErrors",
	[COUNT_LINK_INTEGRITY] = "LocalLinkIntegrityErrors",
	[COUNT_BUFFER_OVERRUN] = "ExcessiveBufferOverrunErrors",
	[COUNT_VL15_DROPPED] = "VL15Dropped",
	[COUNT_XMIT_DATA] = "PortXmitData",
	[COUNT_RCV_DATA] = "PortRcvData",
	[COUNT_XMIT_PACKETS] = "PortXmitPkts",
	[COUNT_RCV_PACKETS] = "PortRcvPkts",
	[COUNT_XMIT_WAIT] = "PortXmitWait",
	[COUNT_UNICAST_XMIT] = "PortUnicastXmitPkts",
	[COUNT_UNICAST_RCV] = "PortUnicastRcvPkts",
	[COUNT_MULTICAST_XMIT] = "PortMulticastXmitPkts",
	[COUNT_MULTICAST_RCV] = "PortMulticastRcvPkts",
	[COUNT_QP1_DROPPED] = "QP1Dropped",
	[COUNT_SYNC_HEADER] = "SyncHeaderErrorCounter",
	[COUNT_UNKNOWN_BLOCK] = "UnknownBlockCounter",
	[COUNT_LANE_ERRORS] = "ErrorDetectionCounterLane",
	[COUNT_FEC_CORRECTED] = "FECCorrectableBlockCtrLane",
	[COUNT_FEC_UNCORRECTED] = "FECUncorrectableBlockCtrLane",
	[COUNT_PORT_FEC_CORRECTED] = "PortFECCorrectableBlockCtr",
	[COUNT_PORT_FEC_UNCORRECTED] = "PortFECUncorrectableBlockCtr",
	[COUNT_PORT_FEC_SYMBOLS] = "PortFECCorrectedSymbolCtr" };

bool
pma_start(struct sim_fabric *f)
{
	if (f->counters == NULL)
		f->counters = fm_arena_alloc(&f->arena, f->n_ports * sizeof(*f->counters));
	return f->counters != NULL;
}

void
pma_forget(struct sim_fabric *f, uint32_t node)
{
	const struct sim_node *n = &f->nodes[node];

	if (f->counters != NULL)
		memset(f->counters[n->first_port], 0, (n->n_ports + 1u) * sizeof(*f->counters));
}

/* The number behind the name of counters of lanes; SIM_LANES: it is none. */
static unsigned
lane(const char *text)
{
	unsigned n = 0;

	for (unsigned i = 0; text[i] >= '0' && text[i] <= '9' && i < 2; i++) {
		n = 10 * n + (unsigned)(text[i] - '0');
		if (text[i + 1] == '\0')
			return n < SIM_LANES ? n : SIM_LANES;
	}
	return SIM_LANES;
}

unsigned
pma_find_counter(const char *name)
{
	for (unsigned i = 0; i < SIM_COUNTERS; i++) {
		size_t length = names[i] != NULL ? strlen(names[i]) : 0;
		bool has_lanes = i + 1 < SIM_COUNTERS && names[i + 1] == NULL;

		if (length == 0 || strncasecmp(name, names[i], length) != 0)
			continue;
		if (has_lanes && lane(name + length) < SIM_LANES)
			return i + lane(name + length);
		if (!has_lanes && name[length] == '\0')
			return i;
	}
	return SIM_COUNTERS;
}

/* ---- agents */

struct sim_pma
pma_of(const struct sim_fabric *f, uint32_t node)
{
	return f->nodes[node].pma != NULL ? *f->nodes[node].pma : PMA_AS_MOST;
}

uint32_t
pma_agent_at(const struct sim_fabric *f, uint32_t node, uint32_t qpn)
{
	uint32_t agent = qpn - REDIRECTED_QP;

	if (qpn < REDIRECTED_QP)
		return node;
	return agent < f->n_nodes && pma_of(f, agent).redirect == node ? agent : SIM_NONE;
}

/* ---- one counter in an attribute */

static uint64_t
most(const struct view *v)
{
	return v->bits == 64 ? UINT64_MAX : (UINT64_C(1) << v->bits) - 1;
}

static void
put_counter(uint8_t *data, const struct view *v, uint64_t value)
{
	uint8_t *at = data + v->at;

	if (value > most(v))
		value = most(v);
	switch (v->bits) {
	case 4:
		*at = (uint8_t)(v->low_half ? (*at & 0xf0) | value : (*at & 0x0f) | value << 4);
		break;
	case 8:
		*at = (uint8_t)value;
		break;
	case 16:
		wire_put16(at, (uint16_t)value);
		break;
	case 32:
		wire_put32(at, (uint32_t)value);
		break;
	default:
		wire_put64(at, value);
	}
}

static uint64_t
get(const uint8_t *data, const struct view *v)
{
	const uint8_t *at = data + v->at;

	switch (v->bits) {
	case 4:
		return v->low_half ? *at & 0xf : *at >> 4;
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

/* ---- an attribute */

struct range {
	uint32_t first, last; /* ports, by index in the fabric */
};

/* The ports that PortSelect names; false: there are none. */
static bool
select_ports(const struct sim_fabric *f, uint32_t node, uint8_t select, struct range *r)
{
	const struct sim_node *n = &f->nodes[node];
	bool is_switch = n->type == WIRE_NODE_SWITCH;

	*r = (struct range){ n->first_port + select, n->first_port + select };
	if (select == ALL_PORTS)
		*r = (struct range){ n->first_port + !is_switch, n->first_port + n->n_ports };
	else if (select > n->n_ports || (select == 0 && !is_switch))
		return false;
	return f->counters != NULL;
}

/* An attribute of a node: its rows, and the bits of all its selects. */
struct table {
	const struct view *views;
	size_t n;
	uint64_t selected;
	bool no_wait;
};

static void
show(struct sim_fabric *f, const struct table *t, const struct view *v, const struct range *r,
    uint8_t *data, bool is_set)
{
	uint64_t sum = 0;

	for (uint32_t port = r->first; port <= r->last; port++) {
		uint64_t *counter = &f->counters[port][v->counter];

		if (is_set && t->selected >> v->select & 1)
			*counter = get(data, v);
		pma_add(&sum, *counter);
	}
	put_counter(data, v, v->counter == COUNT_XMIT_WAIT && t->no_wait ? 0 : sum);
}

static uint16_t
counters(struct sim_fabric *f, uint32_t node, uint8_t *data, bool is_set, const struct table *t)
{
	struct range r;

	if (!select_ports(f, node, data[PORT_SELECT], &r))
		return WIRE_STATUS_BAD_VALUE;
	for (size_t i = 0; i < t->n; i++) {
		struct view v = t->views[i];

		for (unsigned k = 0; k < (v.n > 0 ? v.n : 1u); k++) {
			show(f, t, &v, &r, data, is_set);
			v.at = (uint8_t)(v.at + v.bits / 8);
			v.select++;
			v.counter++;
		}
	}
	return 0;
}

/* Redirected: to itself, where else it is asked. */
static void
class_port_info(const struct sim_fabric *f, uint32_t node, uint8_t *data)
{
	struct sim_pma a = pma_of(f, node);
	uint16_t cap = CAP_ALL_PORT_SELECT | CAP_QP1_DROPPED;
	struct sim_place at;

	if (a.width != PMA_NARROW)
		cap |= a.width == PMA_NO_IETF ? CAP_EXTENDED_NO_IETF : CAP_EXTENDED_WIDTH;
	if (!a.no_wait)
		cap |= CAP_XMIT_WAIT;
	if (a.rs_fec)
		cap |= CAP_RS_FEC;
	memset(data, 0, WIRE_MAD_BYTES - DATA_AT);
	data[0] = data[1] = 1; /* versions */
	wire_put16(data + 2, cap);
	wire_put32(data + 4, (a.width == PMA_ERRORS_64 ? CAP2_ERRORS_64 : 0) << 5 | RESPONSE_TIME);
	if (a.redirect == SIM_NONE)
		return;
	at = (struct sim_place){ a.redirect, f->nodes[a.redirect].type != WIRE_NODE_SWITCH };
	wire_put16(data + 28, place_lid(f, at));
	wire_put16(data + 30, 0xffff); /* P_Key */
	wire_put32(data + 32, REDIRECTED_QP + node);
	wire_put32(data + 36, QP1_QKEY);
}

static uint16_t
handle(struct sim_fabric *f, uint32_t node, uint16_t attr, uint8_t *data, bool is_set)
{
	struct sim_pma a = pma_of(f, node);
	struct table t = { .selected = wire_get16(data + COUNTER_SELECT), .no_wait = a.no_wait };

	if (attr == PMA_CLASS_PORT_INFO && !is_set) {
		class_port_info(f, node, data);
		return 0;
	}
	if (attr == PMA_PORT_COUNTERS) {
		t.views = port_counters;
		t.n = N_PORT_COUNTERS;
		t.selected |= (uint64_t)data[COUNTER_SELECT2] << 16;
	} else if (attr == PMA_PORT_COUNTERS_EXTENDED) {
		t.views = extended;
		t.n = n_extended[a.width];
		t.selected |= (uint64_t)wire_get32(data + EXTENDED_SELECT2) << 16;
	} else if (attr == PMA_PORT_EXTENDED_SPEEDS && !a.no_fec) {
		t.views = extended_speeds;
		t.n = a.rs_fec ? N_EXTENDED_SPEEDS : N_WITHOUT_RS_FEC;
		t.selected = wire_get64(data + EXTENDED_SPEEDS_SELECT);
	}
	return t.n > 0 ? counters(f, node, data, is_set, &t) : WIRE_STATUS_BAD_METHOD_ATTR;
}

bool
pma_handle(struct sim_fabric *f, struct sim_place at, uint32_t qpn, uint8_t *mad)
{
	uint8_t method = mad[MAD_METHOD], *data = mad + DATA_AT;
	uint32_t node = pma_agent_at(f, at.node, qpn);
	uint16_t status;

	if ((method != WIRE_GET && method != WIRE_SET) || node == SIM_NONE ||
	    pma_of(f, node).silent)
		return false;
	if (mad[MAD_BASE_VERSION] != 1 || mad[MAD_CLASS_VERSION] != 1) {
		status = WIRE_STATUS_BAD_CLASS_VERSION;
	} else if (qpn < REDIRECTED_QP && pma_of(f, node).redirect != SIM_NONE) {
		class_port_info(f, node, data); /* IBA 13.5.2 */
		wire_put16(mad + MAD_ATTR, PMA_CLASS_PORT_INFO);
		status = WIRE_STATUS_REDIRECT;
	} else {
		status = handle(f, node, wire_get16(mad + MAD_ATTR), data, method == WIRE_SET);
	}
	mad[MAD_METHOD] = WIRE_GET_RESP;
	wire_put16(mad + MAD_STATUS, status);
	return true;
}
