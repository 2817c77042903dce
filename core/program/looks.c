/* SPDX-License-Identifier: BSD-2-Clause */
/* core/program/looks.c - LIDs and LinearFDBTop, forwarding tables; the rows. */
#include "core/program/looks.h"

#include "core/program/apply_internal.h"

#define TOP_AT 6  /* LinearFDBTop in SwitchInfo, IBA 14.2.5.4 */
#define LID_AT 16 /* LID and MasterSMLID in PortInfo, 14.2.5.6 */

/* Of a switch PortInfo of port 0, then SwitchInfo; else PortInfo by port. */
static uint32_t
count_state(const struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	return inv_is_switch(n) ? 2 : n->n_ports + 1u;
}

static bool
look_at_state(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };

	if (inv_is_switch(n) && i == 1) {
		*out = (struct look){ .attr = WIRE_ATTR_SWITCH_INFO, .at = TOP_AT, .n_bytes = 2 };
		wire_switch_info_put(data, &n->sw);
	} else if (port_wants_lid(&s->inv, slot, i)) {
		*out = (struct look){ .attr = WIRE_ATTR_PORT_INFO,
			.modifier = i,
			.port = (uint8_t)i,
			.at = LID_AT,
			.n_bytes = 4 };
		wire_port_info_put(data, &n->ports[i].info);
	} else {
		return false;
	}
	memcpy(out->bytes, data + out->at, out->n_bytes);
	return !inv_is_switch(n) || n->lft == LFT_OURS;
}

/* A switch may have been without power, a host have met another SM. */
static void
doubt_state(struct sweeper *s, uint32_t slot, uint32_t i)
{
	if (inv_is_switch(inv_node(&s->inv, slot)))
		doubt_node(s, slot);
	else
		doubt_port(s, slot, i);
}

/* ------------------------------------------------------------ forwarding tables */

static uint32_t
count_lft(const struct sweeper *s, uint32_t slot)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	return inv_is_switch(n) && n->sw_index < fabric_of(s->plan)->n_switches ? n_blocks(s->plan)
										: 0;
}

/* Behind the last LID there may be anything. */
static bool
look_at_lft(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out)
{
	const uint8_t *known = apply_known_block(s, inv_node(&s->inv, slot), i);
	uint32_t n = s->plan->top_lid + 1u - i * LFT_BLOCK_LIDS;

	if (known == NULL)
		return false;
	*out = (struct look){ .attr = WIRE_ATTR_LFT,
		.modifier = i,
		.n_bytes = (uint8_t)(n < LFT_BLOCK_LIDS ? n : LFT_BLOCK_LIDS) };
	memcpy(out->bytes, known, out->n_bytes);
	return true;
}

/* Who has written one block may have written all, and packets follow them: the next sweep looks at
 * the whole switch, and orders what it writes from what it finds. */
static void
forget_lft(struct sweeper *s, uint32_t slot, uint32_t i)
{
	(void)i;
	inv_node(&s->inv, slot)->lft = LFT_FOREIGN;
}

/* --------------------------------------------------------- adaptive routing */

/* Place 0 is whether it is on. */
static uint32_t
count_groups(const struct sweeper *s, uint32_t slot)
{
	uint32_t n = ar_n_blocks(s, slot);

	return n > 0 ? n + 1 : 0;
}

static bool
look_at_groups(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out)
{
	struct fm_vendor_smp smp;

	if (i == 0 ? !ar_info(s, slot, &smp) : !ar_block(s, slot, i - 1, &smp))
		return false;
	*out = (struct look){
		.attr = smp.attr, .modifier = smp.modifier, .n_bytes = WIRE_SMP_DATA_BYTES
	};
	memcpy(out->bytes, smp.data, sizeof(out->bytes));
	for (unsigned k = 0; k < sizeof(out->any); k++)
		out->any[k] = (uint8_t)~smp.mask[k];
	return true;
}

bool
look_is_met(const struct look *l, const uint8_t *data)
{
	for (unsigned i = 0; i < l->n_bytes; i++)
		if (((l->bytes[i] ^ data[l->at + i]) & ~l->any[i] & 0xff) != 0)
			return false;
	return true;
}

const struct look_row look_rows[N_LOOK_KINDS] = {
	[LOOK_STATE] = { "state", "LID, SM LID or LinearFDBTop", "LIDs, SM LIDs or LinearFDBTop",
	    count_state, look_at_state, doubt_state },
	[LOOK_LFT] = { "tables", "block of its forwarding table", "blocks of its forwarding table",
	    count_lft, look_at_lft, forget_lft },
	[LOOK_MFT] = { "multicast", "block of its multicast table", "blocks of its multicast table",
	    mcast_n_looks, mcast_look, mcast_forget },
	[LOOK_PKEYS] = { "pkeys", "block of P_Keys", "blocks of P_Keys", pkeys_n_looks, pkeys_look,
	    pkeys_forget },
	[LOOK_SL2VL] = { "sl2vl", "SL-to-VL map", "SL-to-VL maps", qos_n_maps, qos_look_at_map,
	    qos_forget_map },
	[LOOK_VL_ARB] = { "vlarb", "table of VL arbitration", "tables of VL arbitration",
	    qos_n_arbs, qos_look_at_arb, qos_forget_arb },
	[LOOK_GROUPS] = { "adaptive", "block of adaptive routing", "blocks of adaptive routing",
	    count_groups, look_at_groups, ar_doubt },
};
