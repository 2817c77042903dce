/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What notices say: DataDetails of each trap (IBA 13.4.8.2, 14.2.5.1), kept at
 * the node until trap.c sends them.  Counting violations is part of it.
 */
#include <string.h>

#include "lab/sim/fabric.h"

/* Offsets in DataDetails. */
enum {
	LID_AT = 2, /* of the node or port that tells */
	PORT_AT = 4,
	SYSTEM_GUID_AT = 6,
	/* 256 */
	M_KEY_DR_SLID = 4,
	M_KEY_METHOD = 6,
	M_KEY_ATTR = 8,
	M_KEY_MODIFIER = 10,
	M_KEY_KEY = 14,
	M_KEY_HOPS = 23,
	M_KEY_PATH = 24,
	/* 257, 258 */
	KEY_LID1 = 2,
	KEY_LID2 = 4,
	KEY_KEY = 6,
	KEY_SL_QP1 = 10,
	KEY_QP2 = 14,
	KEY_GID1 = 18,
	KEY_GID2 = 34,
	/* 259 */
	SWITCH_VALID = 0,
	SWITCH_KEY = 6,
	SWITCH_SL_QP1 = 8,
	SWITCH_QP2 = 12,
	SWITCH_LID = 48,
	SWITCH_PORT = 50
};
#define M_KEY_PATH_BYTES 30
#define M_KEY_DIRECTED 0x80
#define SWITCH_VALID_LIDS_KEY_PORT 0x000f

/* Zeroed, or NULL: no memory, the notice is not told. */
static uint8_t *
details_of(struct sim_fabric *f, uint32_t node, enum sim_trap_slot slot)
{
	struct sim_node *n = &f->nodes[node];

	if (n->details == NULL)
		n->details = fm_arena_alloc(&f->arena, SIM_TRAP_SLOTS * sizeof(*n->details));
	if (n->details == NULL)
		return NULL;
	memset(n->details[slot], 0, SIM_DETAILS_BYTES);
	return n->details[slot];
}

static void
tell_observer(struct sim_fabric *f, uint32_t node, enum sim_trap_slot slot)
{
	if (f->hooks.notice != NULL)
		f->hooks.notice(f->hooks.arg, node, slot);
}

static void
violation(struct sim_port *p, unsigned at)
{
	uint16_t n = wire_get16(&p->info[at]);

	if (n != 0xffff)
		wire_put16(&p->info[at], (uint16_t)(n + 1));
}

void
notice_m_key(struct sim_fabric *f, struct sim_place at, const uint8_t *mad)
{
	uint8_t *d = details_of(f, at.node, SIM_TRAP_M_KEY), hops = mad[MAD_HOP_COUNT];

	if (d == NULL)
		return;
	wire_put16(d + LID_AT, place_lid(f, at));
	d[M_KEY_METHOD] = mad[MAD_METHOD];
	memcpy(d + M_KEY_ATTR, mad + MAD_ATTR, 2);
	memcpy(d + M_KEY_MODIFIER, mad + MAD_MODIFIER, 4);
	memcpy(d + M_KEY_KEY, mad + MAD_M_KEY, 8);
	if (mad[MAD_CLASS] == WIRE_CLASS_SMP_DR) {
		memcpy(d + M_KEY_DR_SLID, mad + MAD_DR_SLID, 2);
		if (hops >= M_KEY_PATH_BYTES)
			hops = M_KEY_PATH_BYTES - 1;
		d[M_KEY_HOPS] = (uint8_t)(M_KEY_DIRECTED | hops);
		memcpy(d + M_KEY_PATH, mad + WIRE_DR_RETURN_PATH_AT, hops + 1u);
	}
	tell_observer(f, at.node, SIM_TRAP_M_KEY);
}

void
notice_bad_key(
    struct sim_fabric *f, struct sim_place at, enum sim_trap_slot slot, const struct sim_bad_key *k)
{
	uint8_t *d = details_of(f, at.node, slot);

	violation(fabric_port(f, at.node, at.port),
	    slot == SIM_TRAP_P_KEY ? PORT_INFO_P_KEY_VIOLATIONS : PORT_INFO_Q_KEY_VIOLATIONS);
	if (d == NULL)
		return;
	wire_put16(d + KEY_LID1, k->slid);
	wire_put16(d + KEY_LID2, k->dlid);
	wire_put32(d + KEY_KEY, k->key);
	wire_put32(d + KEY_SL_QP1, (uint32_t)k->sl << 28 | k->qpn);
	wire_put32(d + KEY_QP2, k->qpn);
	tell_observer(f, at.node, slot);
}

void
notice_switch_p_key(struct sim_fabric *f, struct sim_place at, const struct sim_bad_key *k)
{
	uint8_t *d = details_of(f, at.node, SIM_TRAP_SWITCH_P_KEY);

	if (d == NULL)
		return;
	wire_put16(d + SWITCH_VALID, SWITCH_VALID_LIDS_KEY_PORT);
	wire_put16(d + KEY_LID1, k->slid);
	wire_put16(d + KEY_LID2, k->dlid);
	wire_put16(d + SWITCH_KEY, (uint16_t)k->key);
	wire_put32(d + SWITCH_SL_QP1, (uint32_t)k->sl << 28 | k->qpn);
	wire_put32(d + SWITCH_QP2, k->qpn);
	wire_put16(d + SWITCH_LID, place_lid(f, at));
	d[SWITCH_PORT] = at.port;
	tell_observer(f, at.node, SIM_TRAP_SWITCH_P_KEY);
}

void
notice_port(struct sim_fabric *f, struct sim_place at, enum sim_trap_slot slot)
{
	uint8_t *d = details_of(f, at.node, slot);

	if (d == NULL)
		return;
	wire_put16(d + LID_AT, place_lid(f, at));
	d[PORT_AT] = at.port;
	tell_observer(f, at.node, slot);
}

void
notice_system_guid(struct sim_fabric *f, uint32_t node, uint64_t guid)
{
	uint8_t *d = details_of(f, node, SIM_TRAP_SYSTEM_GUID);
	unsigned port = f->nodes[node].type == WIRE_NODE_SWITCH ? 0 : 1;

	wire_put64(f->nodes[node].node_info + NODE_INFO_SYSTEM_GUID, guid);
	if (d == NULL)
		return;
	wire_put16(d + LID_AT, place_lid(f, (struct sim_place){ node, (uint8_t)port }));
	wire_put64(d + SYSTEM_GUID_AT, guid);
	tell_observer(f, node, SIM_TRAP_SYSTEM_GUID);
}
