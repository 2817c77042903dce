/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PortCounters and PortCountersExtended are two views of one array per port:
 * rows say where a counter stands in the attribute, how wide it is there, and
 * which bit of CounterSelect names it in a Set.  Narrow views stick at their
 * maximum (IBA 16.1.3.5); PortSelect 255 is the sum of all ports of a node.
 */
#include "lab/sim/pma.h"

#include <string.h>

#define DATA_AT 64 /* in the MAD, class 0x04 */
#define PORT_SELECT 1
#define COUNTER_SELECT 2
#define ALL_PORTS 255
#define CAP_ALL_PORT_SELECT 0x0100
#define CAP_EXTENDED_WIDTH 0x0200
#define RESPONSE_TIME 18 /* 1 s */

enum pma_attr {
	PMA_CLASS_PORT_INFO = 0x0001,
	PMA_PORT_COUNTERS = 0x0012,
	PMA_PORT_COUNTERS_EXTENDED = 0x001D
};

struct view {
	uint8_t at, bits; /* bytes from the start of the attribute; bits: 4 = at + half */
	uint8_t select;	  /* bit; 16.. are those of CounterSelect2 */
	uint8_t counter;  /* enum sim_counter */
	bool low_half;
};

static const struct view port_counters[] = { /* table 199 */
	{ 4, 16, 0, COUNT_SYMBOL_ERRORS, false }, { 6, 8, 1, COUNT_LINK_RECOVERED, false },
	{ 7, 8, 2, COUNT_LINK_DOWNED, false }, { 8, 16, 3, COUNT_RCV_ERRORS, false },
	{ 10, 16, 4, COUNT_REMOTE_PHYSICAL, false }, { 12, 16, 5, COUNT_RELAY_ERRORS, false },
	{ 14, 16, 6, COUNT_XMIT_DISCARDS, false }, { 16, 8, 7, COUNT_XMIT_CONSTRAINT, false },
	{ 17, 8, 8, COUNT_RCV_CONSTRAINT, false }, { 19, 4, 9, COUNT_LINK_INTEGRITY, false },
	{ 19, 4, 10, COUNT_BUFFER_OVERRUN, true }, { 22, 16, 11, COUNT_VL15_DROPPED, false },
	{ 24, 32, 12, COUNT_XMIT_DATA, false }, { 28, 32, 13, COUNT_RCV_DATA, false },
	{ 32, 32, 14, COUNT_XMIT_PACKETS, false }, { 36, 32, 15, COUNT_RCV_PACKETS, false },
	{ 40, 32, 16, COUNT_XMIT_WAIT, false }
};
#define N_PORT_COUNTERS (sizeof(port_counters) / sizeof(port_counters[0]))

static const struct view extended[] = { { 8, 64, 0, COUNT_XMIT_DATA, false },
	{ 16, 64, 1, COUNT_RCV_DATA, false }, { 24, 64, 2, COUNT_XMIT_PACKETS, false },
	{ 32, 64, 3, COUNT_RCV_PACKETS, false }, { 40, 64, 4, COUNT_UNICAST_XMIT, false },
	{ 48, 64, 5, COUNT_UNICAST_RCV, false }, { 56, 64, 6, COUNT_MULTICAST_XMIT, false },
	{ 64, 64, 7, COUNT_MULTICAST_RCV, false } };
#define N_EXTENDED (sizeof(extended) / sizeof(extended[0]))

bool
pma_start(struct sim_fabric *f)
{
	if (f->counters == NULL)
		f->counters = fm_arena_alloc(&f->arena, f->n_ports * sizeof(*f->counters));
	return f->counters != NULL;
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
select_ports(const struct sim_fabric *f, struct sim_place at, uint8_t select, struct range *r)
{
	const struct sim_node *n = &f->nodes[at.node];
	bool is_switch = n->type == WIRE_NODE_SWITCH;

	*r = (struct range){ n->first_port + select, n->first_port + select };
	if (select == ALL_PORTS)
		*r = (struct range){ n->first_port + !is_switch, n->first_port + n->n_ports };
	else if (select > n->n_ports || (select == 0 && !is_switch))
		return false;
	return f->counters != NULL;
}

static void
set_counters(struct sim_fabric *f, const uint8_t *data, const struct view *views, size_t n,
    const struct range *r)
{
	uint32_t selected = wire_get16(data + COUNTER_SELECT);

	if (views == port_counters)
		selected |= (uint32_t)data[18] << 16;
	for (uint32_t port = r->first; port <= r->last; port++)
		for (size_t i = 0; i < n; i++)
			if (selected >> views[i].select & 1)
				f->counters[port][views[i].counter] = get(data, &views[i]);
}

static uint16_t
counters(struct sim_fabric *f, struct sim_place at, uint8_t *data, bool is_set,
    const struct view *views, size_t n)
{
	struct range r;

	if (!select_ports(f, at, data[PORT_SELECT], &r))
		return WIRE_STATUS_BAD_VALUE;
	if (is_set)
		set_counters(f, data, views, n, &r);
	for (size_t i = 0; i < n; i++) {
		uint64_t sum = 0;

		for (uint32_t port = r.first; port <= r.last; port++)
			sum += f->counters[port][views[i].counter];
		put_counter(data, &views[i], sum);
	}
	return 0;
}

static uint16_t
class_port_info(uint8_t *data)
{
	memset(data, 0, WIRE_MAD_BYTES - DATA_AT);
	data[0] = data[1] = 1; /* versions */
	wire_put16(data + 2, CAP_ALL_PORT_SELECT | CAP_EXTENDED_WIDTH);
	data[7] = RESPONSE_TIME;
	return 0;
}

bool
pma_handle(struct sim_fabric *f, struct sim_place at, uint8_t *mad)
{
	uint8_t method = mad[MAD_METHOD], *data = mad + DATA_AT;
	bool is_set = method == WIRE_SET;
	uint16_t attr = wire_get16(mad + MAD_ATTR), status = WIRE_STATUS_BAD_METHOD_ATTR;

	if (method != WIRE_GET && method != WIRE_SET)
		return false;
	if (mad[MAD_BASE_VERSION] != 1 || mad[MAD_CLASS_VERSION] != 1)
		status = WIRE_STATUS_BAD_CLASS_VERSION;
	else if (attr == PMA_CLASS_PORT_INFO && !is_set)
		status = class_port_info(data);
	else if (attr == PMA_PORT_COUNTERS)
		status = counters(f, at, data, is_set, port_counters, N_PORT_COUNTERS);
	else if (attr == PMA_PORT_COUNTERS_EXTENDED)
		status = counters(f, at, data, is_set, extended, N_EXTENDED);
	mad[MAD_METHOD] = WIRE_GET_RESP;
	wire_put16(mad + MAD_STATUS, status);
	return true;
}
