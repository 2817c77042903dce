/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traps, such as 128 (link state of a switch changed) and 144 (something local
 * of a CA, router or switch changed), to the MasterSMLID of the sender, again and again
 * until TrapRepress names its TID or SIM_TRAP_TRIES are spent (a real agent
 * would go on; a virtual clock must come to rest).  What happens while a
 * trap waits rides on it, under a new TID, so that a TrapRepress of the old
 * one does not silence the news.  IBA 13.4.8, 13.4.9, 14.2.5.1.
 */
#include "lab/sim/net.h"

#include <string.h>

#define SIM_TRAP_TRIES 10
#define HOLD_NS INT64_C(10000)		/* changes at one moment make one trap */
#define REPEAT_MIN_NS INT64_C(10000000) /* however short SubnetTimeOut is */
#define SUBNET_TIMEOUT_UNIT_NS 4096	/* times 2^SubnetTimeOut */
#define TYPE_URGENT 1
#define TYPE_SECURITY 2
#define TYPE_INFORMATIONAL 4

static const struct {
	uint16_t number;
	uint8_t type;
} kinds[SIM_TRAP_SLOTS] = { [SIM_TRAP_LINK] = { 128, TYPE_URGENT },
	[SIM_TRAP_LOCAL] = { 144, TYPE_INFORMATIONAL },
	[SIM_TRAP_INTEGRITY] = { 129, TYPE_URGENT },
	[SIM_TRAP_OVERRUN] = { 130, TYPE_URGENT },
	[SIM_TRAP_WATCHDOG] = { 131, TYPE_URGENT },
	[SIM_TRAP_SYSTEM_GUID] = { 145, TYPE_INFORMATIONAL },
	[SIM_TRAP_M_KEY] = { 256, TYPE_SECURITY },
	[SIM_TRAP_P_KEY] = { 257, TYPE_SECURITY },
	[SIM_TRAP_Q_KEY] = { 258, TYPE_SECURITY },
	[SIM_TRAP_SWITCH_P_KEY] = { 259, TYPE_SECURITY } };

/* Offsets in DataDetails. */
#define LINK_LID 0
#define LOCAL_LID 2
#define LOCAL_CAP_MASK 6
#define LOCAL_CHANGES 10

static void
schedule(struct sim *s, uint32_t node, enum sim_trap_slot slot, int64_t due_ns)
{
	s->fabric.nodes[node].traps[slot].due_ns = due_ns;
	events_push(&s->events, due_ns, EVENT_TRAP, (uintptr_t)node * SIM_TRAP_SLOTS + slot);
}

void
trap_raise(void *sim, uint32_t node, enum sim_trap_slot slot)
{
	struct sim *s = sim;
	struct sim_trap *t = &s->fabric.nodes[node].traps[slot];
	int64_t due_ns = s->fabric.now_ns + HOLD_NS;
	bool is_waiting = t->left > 0 && t->due_ns >= s->fabric.now_ns && t->due_ns <= due_ns;

	t->tid = ++s->n_traps;
	t->left = SIM_TRAP_TRIES;
	if (!is_waiting)
		schedule(s, node, slot, due_ns);
}

/* The port a node's traps leave by, whose MasterSMLID they go to. */
static uint8_t
trap_port(const struct sim_fabric *f, uint32_t node)
{
	const struct sim_node *n = &f->nodes[node];

	if (n->type == WIRE_NODE_SWITCH)
		return 0;
	for (unsigned p = 1; p <= n->n_ports; p++)
		if (f->live[n->first_port + p] != SIM_NONE)
			return (uint8_t)p;
	return 1;
}

static void
fill_notice(struct wire_notice *w, const struct sim_node *n, enum sim_trap_slot slot,
    const struct sim_port *p)
{
	uint16_t lid = wire_get16(&p->info[PORT_INFO_LID]);

	*w = (struct wire_notice){ .generic = true,
		.type = kinds[slot].type,
		.producer_type = n->type,
		.trap_number = kinds[slot].number,
		.issuer_lid = lid };
	if (slot == SIM_TRAP_LINK) {
		wire_put16(w->details + LINK_LID, lid);
	} else if (slot != SIM_TRAP_LOCAL) {
		memcpy(w->details, n->details[slot], sizeof(w->details));
	} else {
		wire_put16(w->details + LOCAL_LID, lid);
		memcpy(w->details + LOCAL_CAP_MASK, &p->info[PORT_INFO_CAP_MASK], 4);
		wire_put16(w->details + LOCAL_CHANGES, n->local_changes);
	}
}

static void
send_trap(struct sim *s, uint32_t node, enum sim_trap_slot slot, struct sim_place from)
{
	const struct sim_node *n = &s->fabric.nodes[node];
	const struct sim_port *p = fabric_port(&s->fabric, node, from.port);
	struct sim_packet *packet = packet_new(s);
	struct wire_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SMP_LID,
		.class_version = 1,
		.method = WIRE_TRAP,
		.tid = n->traps[slot].tid,
		.attr = WIRE_ATTR_NOTICE,
		.m_key = wire_get64(&p->info[PORT_INFO_M_KEY]) };
	struct wire_notice notice;

	if (packet == NULL)
		return;
	memset(packet, 0, sizeof(*packet));
	wire_header_put(packet->mad.bytes, &h);
	fill_notice(&notice, n, slot, p);
	wire_notice_put(packet->mad.bytes + WIRE_SMP_DATA_AT, &notice);
	packet->mad.addr.lid = wire_get16(&p->info[PORT_INFO_SM_LID]);
	s->counts.traps++;
	net_send(s, from, packet);
}

void
trap_due(struct sim *s, uint32_t node, enum sim_trap_slot slot, int64_t due_ns)
{
	struct sim_place from = { node, trap_port(&s->fabric, node) };
	const struct sim_port *p = fabric_port(&s->fabric, node, from.port);
	struct sim_node *n = &s->fabric.nodes[node];
	struct sim_trap *t = &n->traps[slot];
	uint8_t timeout = p->info[PORT_INFO_REREGISTER_TIMEOUT] & 0x1f;
	int64_t repeat_ns = (int64_t)SUBNET_TIMEOUT_UNIT_NS << timeout;

	if (t->left == 0 || t->due_ns != due_ns)
		return;
	if (n->off || n->silent || wire_get16(&p->info[PORT_INFO_SM_LID]) == 0) {
		t->left = 0;
		return;
	}
	t->left--;
	send_trap(s, node, slot, from);
	if (t->left > 0)
		schedule(s, node, slot,
		    s->fabric.now_ns + (repeat_ns > REPEAT_MIN_NS ? repeat_ns : REPEAT_MIN_NS));
}
