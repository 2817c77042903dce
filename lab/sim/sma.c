/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent that answers SMPs at every node: version, M_Key, then one small
 * function per attribute, which reads or writes the 64 bytes of data in place
 * and returns a MAD status.
 *
 * IBA 14.2.4 (M_Key), 14.2.5 (attributes), 13.4.7 (status).
 */
#include "lab/sim/sma_internal.h"

#include <string.h>

/* The port whose M_Key guards this node, seen from the port an SMP came in. */
static struct sim_port *
key_port(const struct sim_fabric *f, struct sim_place at)
{
	const struct sim_node *n = &f->nodes[at.node];
	unsigned port = is_switch(n) ? 0 : at.port;

	return fabric_port(f, at.node, port);
}

/* ---- NodeInfo, NodeDescription, SwitchInfo */

static uint16_t
node_description(struct request *r)
{
	if (r->is_set)
		return WIRE_STATUS_BAD_METHOD_ATTR;
	memcpy(r->data, r->n->desc, 64);
	return ATTR_OK;
}

static uint16_t
node_info(struct request *r)
{
	const struct sim_port *p = key_port(r->f, r->at);

	if (r->is_set)
		return WIRE_STATUS_BAD_METHOD_ATTR;
	memcpy(r->data, r->n->node_info, 64);
	wire_put64(r->data + NODE_INFO_PORT_GUID, p->guid);
	r->data[NODE_INFO_LOCAL_PORT] = r->at.port;
	return ATTR_OK;
}

static uint16_t
switch_info(struct request *r)
{
	struct wire_switch_info now, asked;

	if (!is_switch(r->n))
		return WIRE_STATUS_BAD_METHOD_ATTR;
	if (r->is_set) {
		wire_switch_info_get(r->n->switch_info, &now);
		wire_switch_info_get(r->data, &asked);
		if (asked.linear_fdb_top >= SIM_LFT_CAP)
			return WIRE_STATUS_BAD_VALUE;
		now.linear_fdb_top = asked.linear_fdb_top;
		now.default_port = asked.default_port;
		now.default_mcast_primary = asked.default_mcast_primary;
		now.default_mcast_not_primary = asked.default_mcast_not_primary;
		now.life_time_value = asked.life_time_value;
		now.mcast_fdb_top = asked.mcast_fdb_top;
		if (asked.port_state_change)
			now.port_state_change = 0; /* cleared by writing one */
		wire_switch_info_put(r->n->switch_info, &now);
	}
	memcpy(r->data, r->n->switch_info, 64);
	return ATTR_OK;
}

/* ---- tables */

static uint16_t
linear_table(struct request *r)
{
	size_t first = (size_t)r->modifier * 64, n = r->n->lft.n;

	if (!is_switch(r->n))
		return WIRE_STATUS_BAD_METHOD_ATTR;
	if (r->modifier >= SIM_LFT_CAP / 64)
		return WIRE_STATUS_BAD_VALUE;
	if (r->is_set && first + 64 > n) {
		if (!fm_vec_reserve(&r->n->lft, first + 64))
			return WIRE_STATUS_BUSY;
		memset(r->n->lft.item + n, 255, first + 64 - n);
		r->n->lft.n = first + 64;
	}
	if (r->is_set)
		memcpy(r->n->lft.item + first, r->data, 64);
	else if (first < n)
		memcpy(r->data, r->n->lft.item + first, 64);
	else
		memset(r->data, 255, 64);
	return ATTR_OK;
}

/* Read or write a row of n bytes of a table that is made at the first Set;
 * until then all of it is zero. */
static uint16_t
lazy_row(struct request *r, uint8_t **table, size_t table_bytes, size_t at, size_t n)
{
	if (r->is_set && *table == NULL)
		*table = fm_arena_alloc(&r->f->arena, table_bytes);
	if (r->is_set && *table == NULL)
		return WIRE_STATUS_BUSY;
	if (r->is_set)
		memcpy(*table + at, r->data, n);
	memset(r->data, 0, 64);
	if (*table != NULL)
		memcpy(r->data, *table + at, n);
	return ATTR_OK;
}

static uint16_t
multicast_table(struct request *r)
{
	uint32_t position = r->modifier >> 28, block = r->modifier & 0x1ff;
	uint32_t n_positions = r->n->n_ports / 16u + 1, n_blocks = SIM_MCAST_CAP / 32;

	if (!is_switch(r->n))
		return WIRE_STATUS_BAD_METHOD_ATTR;
	if (position >= n_positions || block >= n_blocks)
		return WIRE_STATUS_BAD_VALUE;
	return lazy_row(r, &r->n->mft, (size_t)n_positions * n_blocks * 64,
	    ((size_t)position * n_blocks + block) * 64, 64);
}

static struct sim_port_tables *
tables_of(struct sim_fabric *f, struct sim_port *p)
{
	struct sim_port_tables *t = p->tables;

	if (t != NULL)
		return t;
	t = p->tables = fm_arena_alloc(&f->arena, sizeof(*t));
	if (t != NULL) {
		wire_put16(t->pkeys[0], 0xffff); /* IBA 10.9.1: the default at power-on */
		wire_put64(t->guids[0], p->guid);
	}
	return t;
}

/* Read or write `n` bytes of a table of the port. */
static uint16_t
port_row(struct request *r, unsigned port, size_t at, size_t n)
{
	struct sim_port_tables *t = tables_of(r->f, fabric_port(r->f, r->at.node, port));

	if (t == NULL)
		return WIRE_STATUS_BUSY;
	if (r->is_set)
		memcpy((uint8_t *)t + at, r->data, n);
	memset(r->data, 0, 64);
	memcpy(r->data, (uint8_t *)t + at, n);
	return ATTR_OK;
}

/* A CA's table is that of the port the SMP came in by; a switch's is named. */
static bool
named_port(const struct request *r, uint32_t name, unsigned *port)
{
	*port = is_switch(r->n) ? name : r->at.port;
	return *port <= r->n->n_ports;
}

static uint16_t
pkey_table(struct request *r)
{
	uint32_t block = r->modifier & 0xffff;
	unsigned port;

	if (!named_port(r, r->modifier >> 16, &port) || block >= SIM_PKEY_BLOCKS)
		return WIRE_STATUS_BAD_VALUE;
	return port_row(r, port, offsetof(struct sim_port_tables, pkeys) + 64 * block, 64);
}

static uint16_t
guid_info(struct request *r)
{
	unsigned port;

	if (r->modifier >= SIM_GUID_BLOCKS || !named_port(r, 0, &port))
		return WIRE_STATUS_BAD_VALUE;
	if (r->is_set && r->modifier == 0) /* the first is the port's own for ever */
		wire_put64(r->data, fabric_port(r->f, r->at.node, port)->guid);
	return port_row(r, port, offsetof(struct sim_port_tables, guids) + 64 * r->modifier, 64);
}

static uint16_t
vl_arbitration(struct request *r)
{
	uint32_t block = r->modifier >> 16; /* 1, 2: low; 3, 4: high priority */
	unsigned port;

	if (!named_port(r, r->modifier & 0xffff, &port) || block < 1 || block > SIM_VL_ARB_BLOCKS)
		return WIRE_STATUS_BAD_VALUE;
	return port_row(r, port, offsetof(struct sim_port_tables, vl_arb) + 64 * (block - 1), 64);
}

/* OptimizedSLtoVLMapping, where SwitchInfo offers it: bit 17 of the modifier names
 * all inputs, bit 16 all outputs (IBA 14.2.5.8). */
static uint16_t
all_sl_to_vl(struct request *r, size_t side)
{
	unsigned last_out = (r->modifier & 0x10000) != 0 ? (unsigned)side - 1 : r->modifier & 0xff;
	unsigned first_out = (r->modifier & 0x10000) != 0 ? 0 : last_out;
	struct wire_switch_info si;
	uint8_t row[8];

	wire_switch_info_get(r->n->switch_info, &si);
	if (si.optimized_slvl != 1 || !r->is_set || (r->modifier & 0x20000) == 0 ||
	    r->modifier > 0x3ffff || last_out >= side)
		return WIRE_STATUS_BAD_VALUE;
	memcpy(row, r->data, sizeof(row));
	for (unsigned in = 0; in < side; in++)
		for (unsigned out = first_out; out <= last_out; out++) {
			memcpy(r->data, row, sizeof(row));
			if (lazy_row(r, &r->n->sl2vl, side * side * 8, (in * side + out) * 8, 8) !=
			    ATTR_OK)
				return WIRE_STATUS_BUSY;
		}
	return ATTR_OK;
}

static uint16_t
sl_to_vl(struct request *r)
{
	unsigned out = r->modifier & 0xff, in = (r->modifier >> 8) & 0xff;
	size_t side = r->n->n_ports + 1u;

	if (!is_switch(r->n))
		return port_row(r, r->at.port, offsetof(struct sim_port_tables, sl2vl), 8);
	if (r->modifier > 0xffff)
		return all_sl_to_vl(r, side);
	if (in >= side || out >= side)
		return WIRE_STATUS_BAD_VALUE;
	return lazy_row(r, &r->n->sl2vl, side * side * 8, (in * side + out) * 8, 8);
}

/* ---- the states of all ports */

static uint8_t
told_state(const struct request *r, unsigned port)
{
	if (r->n->port_states == SIM_STATES_ZERO)
		return 0;
	if (r->n->port_states == SIM_STATES_STUCK && port > 0)
		return r->f->cable[r->n->first_port + port] != SIM_NONE ? WIRE_PORT_ACTIVE
									: WIRE_PORT_DOWN;
	return port_state(fabric_port(r->f, r->at.node, port));
}

static uint16_t
port_states(struct request *r)
{
	unsigned first = r->modifier * WIRE_STATES_OF_BLOCK;

	if (!is_switch(r->n) || r->is_set || r->n->port_states == SIM_STATES_NONE ||
	    r->n->port_states == SIM_STATES_REFUSED)
		return WIRE_STATUS_BAD_METHOD_ATTR;
	if (r->n->port_states == SIM_STATES_SILENT)
		return ATTR_UNANSWERED;
	if (r->modifier > UINT8_MAX / WIRE_STATES_OF_BLOCK || first > r->n->n_ports)
		return WIRE_STATUS_BAD_VALUE;
	memset(r->data, 0, 64);
	for (unsigned p = first; p <= r->n->n_ports && p < first + WIRE_STATES_OF_BLOCK; p++)
		wire_port_state_put(r->data, p, told_state(r, p));
	return ATTR_OK;
}

/* ---- SMInfo */

static bool
may_control(const struct sim_sm *sm, uint32_t control)
{
	switch (control) { /* IBA 14.4.1 */
	case WIRE_SM_HANDOVER:
	case WIRE_SM_DISABLE:
	case WIRE_SM_DISCOVER:
		return sm->state == WIRE_SM_STANDBY;
	case WIRE_SM_ACKNOWLEDGE:
		return sm->state == WIRE_SM_MASTER;
	case WIRE_SM_STANDBY_REQ:
		return sm->state == WIRE_SM_NOT_ACTIVE;
	default:
		return false;
	}
}

static uint16_t
sm_info(struct request *r)
{
	static const uint8_t next[] = { [WIRE_SM_HANDOVER] = WIRE_SM_MASTER,
		[WIRE_SM_ACKNOWLEDGE] = WIRE_SM_STANDBY,
		[WIRE_SM_DISABLE] = WIRE_SM_NOT_ACTIVE,
		[WIRE_SM_STANDBY_REQ] = WIRE_SM_STANDBY,
		[WIRE_SM_DISCOVER] = WIRE_SM_DISCOVERING };
	struct sim_sm *sm = r->n->sm;
	struct wire_sm_info info;

	if (sm == NULL) /* it is for the SM's program, not for the agent */
		return ATTR_UNANSWERED;
	if (r->is_set && !may_control(sm, r->modifier))
		return WIRE_STATUS_BAD_VALUE;
	if (r->is_set)
		sm->state = next[r->modifier];
	info = (struct wire_sm_info){ .guid = key_port(r->f, r->at)->guid,
		.sm_key = sm->key,
		.act_count = ++sm->act_count,
		.priority = sm->priority,
		.state = sm->state };
	wire_sm_info_put(r->data, &info);
	return ATTR_OK;
}

/* ---- all of them */

static uint16_t
dispatch(struct request *r, uint16_t attr)
{
	switch (attr) {
	case WIRE_ATTR_LFT:
		return linear_table(r);
	case WIRE_ATTR_PORT_INFO:
		return sma_port_info(r);
	case WIRE_ATTR_NODE_INFO:
		return node_info(r);
	case WIRE_ATTR_NODE_DESC:
		return node_description(r);
	case WIRE_ATTR_SWITCH_INFO:
		return switch_info(r);
	case WIRE_ATTR_PKEY_TABLE:
		return pkey_table(r);
	case WIRE_ATTR_SL2VL:
		return sl_to_vl(r);
	case WIRE_ATTR_VL_ARB:
		return vl_arbitration(r);
	case WIRE_ATTR_MFT:
		return multicast_table(r);
	case WIRE_ATTR_GUID_INFO:
		return guid_info(r);
	case WIRE_ATTR_PORT_STATES:
		return port_states(r);
	case WIRE_ATTR_SM_INFO:
		return sm_info(r);
	default:
		return adaptive_answer(r->n->adaptive, attr, r->modifier, r->is_set, r->data);
	}
}

static void
expire_lease(struct sim_fabric *f, struct sim_port *p)
{
	if (p->lease_end_ns == 0 || f->now_ns < p->lease_end_ns)
		return;
	p->lease_end_ns = 0;
	p->info[PORT_INFO_PROTECT_LMC] &= 0x3f; /* the key stays, its protection ends */
}

/* IBA 14.2.4: who does not know the M_Key may read (protection 0 and 1) or do
 * nothing; what he may not do is dropped, counted, and starts the lease. */
static bool
passes_key(struct sim_fabric *f, struct sim_port *p, const uint8_t *mad, bool is_get, bool *knows)
{
	uint64_t key = wire_get64(&p->info[PORT_INFO_M_KEY]);
	uint8_t *violations = &p->info[PORT_INFO_M_KEY_VIOLATIONS];
	uint16_t lease_s = wire_get16(&p->info[PORT_INFO_LEASE]);
	uint8_t protect;

	*knows = true;
	if (key == 0)
		return true;
	expire_lease(f, p);
	protect = p->info[PORT_INFO_PROTECT_LMC] >> 6;
	if (key == wire_get64(mad + MAD_M_KEY)) {
		p->lease_end_ns = 0;
		return true;
	}
	*knows = protect == 0; /* may read it, with protection 0 */
	if (is_get && protect < 2)
		return true;
	if (wire_get16(violations) != 0xffff)
		wire_put16(violations, (uint16_t)(wire_get16(violations) + 1));
	if (lease_s != 0 && p->lease_end_ns == 0)
		p->lease_end_ns = f->now_ns + lease_s * INT64_C(1000000000);
	return false;
}

/* TrapRepress names the trap by its TID (IBA 13.4.9). */
static void
repress(struct sim_node *n, const uint8_t *mad)
{
	for (int i = 0; i < SIM_TRAP_SLOTS; i++)
		if (n->traps[i].left != 0 && n->traps[i].tid == wire_get64(mad + MAD_TID))
			n->traps[i].left = 0;
}

static void
answer(uint8_t *mad, uint16_t status)
{
	bool directed = mad[MAD_CLASS] == WIRE_CLASS_SMP_DR;

	mad[MAD_METHOD] = WIRE_GET_RESP;
	wire_put16(mad + MAD_STATUS, (uint16_t)(status | (directed ? 0x8000 : 0)));
}

bool
sma_handle(struct sim_fabric *f, struct sim_place at, uint8_t *mad)
{
	struct sim_node *n = &f->nodes[at.node];
	uint8_t method = mad[MAD_METHOD];
	uint16_t attr = wire_get16(mad + MAD_ATTR), status = WIRE_STATUS_BAD_METHOD;
	struct request r = { f, n, at, wire_get32(mad + MAD_MODIFIER), method == WIRE_SET, true,
		mad + WIRE_SMP_DATA_AT };

	if (method & WIRE_RESPONSE_BIT || method == WIRE_TRAP)
		return false;
	if (!passes_key(f, key_port(f, at), mad, method == WIRE_GET, &r.knows_key)) {
		notice_m_key(f, at, mad);
		return false;
	}
	if (method == WIRE_TRAP_REPRESS) {
		repress(n, mad);
		return false;
	}
	if (mad[MAD_BASE_VERSION] != 1 || mad[MAD_CLASS_VERSION] != 1)
		status = WIRE_STATUS_BAD_CLASS_VERSION;
	else if (method == WIRE_SET && n->refuses)
		status = WIRE_STATUS_BAD_VALUE;
	else if (method == WIRE_GET || method == WIRE_SET)
		status = dispatch(&r, attr);
	if (status == ATTR_UNANSWERED)
		return false;
	answer(mad, status);
	return true;
}

bool
sma_peek(struct sim_fabric *f, struct sim_place at, uint16_t attr, uint32_t modifier, uint8_t *data)
{
	struct request r = { f, &f->nodes[at.node], at, modifier, false, true, data };

	return dispatch(&r, attr) == ATTR_OK;
}
