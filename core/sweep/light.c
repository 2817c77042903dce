/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/light.c - noticing change without being told.
 *
 * A light sweep costs one SwitchInfo a switch and PortInfo of our own port, of which no switch
 * tells, and of port 0 of the switch that we hang on, which names its master; plus one NodeInfo
 * for each port behind which nobody answered, two where another one's GUID did, plus SMInfo of
 * other SMs.  Where a link is not ACTIVE both ends are read again.
 *
 * A switch that does not answer it is doubted: the neighbour through which it
 * was asked is read again, routes are found anew, and what is still there is
 * asked once more.  A switch that was switched off is thereby known to be
 * gone; only when one is silent though its cables are up does everything have
 * to be looked at.
 */
#include "core/sweep/internal.h"

static void
take_switch_info(struct ask *a, const uint8_t *reply)
{
	struct wire_switch_info now;

	wire_switch_info_get(reply + WIRE_SMP_DATA_AT, &now);
	if (!now.port_state_change)
		return;
	inv_node(&a->s->inv, a->node)->sw.port_state_change = 1;
	discover_name(a->s, a->node);
}

static void
on_light(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;

	if (status == TXN_OK)
		take_switch_info(a, reply);
	else if (status != TXN_CANCELLED && !fm_vec_push(&s->doubted, a->node))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the list of silent switches");
}

static void
on_light_again(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	char name[96], reason[128];

	if (status == TXN_OK)
		take_switch_info(a, reply);
	if (status == TXN_OK || status == TXN_CANCELLED)
		return;
	/* Its cables are up: what is wrong may lie anywhere on the way. */
	snprintf(reason, sizeof(reason), "%s does not answer",
	    inv_name(inv_node(&s->inv, a->node), name, sizeof(name)));
	sweeper_request(s, SWEEP_HEAVY, reason);
}

static void
ask_switch_info(struct sweeper *s, uint32_t slot, ask_done done)
{
	struct ask *a = ask_new(s, slot, 0);

	if (a != NULL)
		ask_get_at(a, WIRE_ATTR_SWITCH_INFO, 0, done);
}

void
light_doubt(struct sweeper *s)
{
	for (size_t i = 0; i < s->doubted.n; i++) {
		uint32_t before = inv_before(&s->inv, s->doubted.item[i], 0);

		if (before != INV_NONE && !inv_node(&s->inv, before)->quiet)
			discover_name(s, before);
	}
}

void
light_again(struct sweeper *s)
{
	for (size_t i = 0; i < s->doubted.n; i++) {
		struct inv_node *n = inv_node(&s->inv, s->doubted.item[i]);

		n->quiet = false;
		if (n->present)
			ask_switch_info(s, s->doubted.item[i], on_light_again);
	}
	s->doubted.n = 0;
}

/* Ports that wait for something: a silent neighbour, a link not yet active. */
static void
look_at_ports(struct sweeper *s, uint32_t slot)
{
	for (unsigned p = 1; p <= inv_node(&s->inv, slot)->n_ports; p++) {
		const struct inv_port *port = &inv_node(&s->inv, slot)->ports[p];

		if (port->edge == EDGE_SILENT || port->edge == EDGE_DUPLICATE)
			discover_probe(s, slot, (uint8_t)p);
		else if (port->edge == EDGE_LINKED && port->info.port_state != WIRE_PORT_ACTIVE) {
			discover_name(s, slot);
			discover_name(s, port->peer);
		}
	}
}

void
light_start(struct sweeper *s)
{
	s->doubted.n = 0;
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		struct inv_node *n = inv_node(&s->inv, i);

		if (!n->present)
			continue;
		if (n->silent || n->quiet) /* it did not answer in the sweep before */
			discover_name(s, i);
		n->quiet = false;
		look_at_ports(s, i);
		if (inv_is_switch(n))
			ask_switch_info(s, i, on_light);
	}
	discover_own_port(s);
	lid_route_try(s);
	other_sms_start(s);
}
