/* SPDX-License-Identifier: BSD-2-Clause */
/* core/ask/doubt.c - which records are in doubt.  Cost: O(1), for a node O(ports). */
#include "core/ask/doubt.h"

#include "core/ask/sweeper.h"

#define STATES_MISSED_MAX 2 /* a packet may be lost, a port change between two reads */

void
observe_want_read(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	if (n->doubted)
		return;
	n->doubted = fm_vec_push(&s->reading.doubted, slot);
	if (!n->doubted)
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the list of changed nodes");
}

void
doubt_switch(struct sweeper *s, uint32_t slot)
{
	if (!inv_is_switch(inv_node(&s->inv, slot)))
		return;
	inv_node(&s->inv, slot)->sw_doubt_seq = s->reading.seq;
	observe_want_read(s, slot);
}

void
doubt_port(struct sweeper *s, uint32_t slot, unsigned port)
{
	inv_node(&s->inv, slot)->ports[port].doubt_seq = s->reading.seq;
	observe_want_read(s, slot);
}

void
doubt_link(struct sweeper *s, uint32_t slot, unsigned port)
{
	const struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];

	doubt_port(s, slot, port);
	doubt_switch(s, slot);
	if (p->edge != EDGE_LINKED)
		return;
	doubt_port(s, p->peer, p->peer_port);
	doubt_switch(s, p->peer);
}

void
observe_doubt_ports(struct sweeper *s, struct inv_node *n)
{
	for (unsigned p = 0; p <= n->n_ports; p++)
		n->ports[p].doubt_seq = s->reading.seq;
	n->states_doubted = false; /* each is read, which tells its state */
}

void
observe_doubt_all(struct sweeper *s, struct inv_node *n)
{
	n->sw_doubt_seq = s->reading.seq;
	observe_doubt_ports(s, n);
}

void
doubt_node(struct sweeper *s, uint32_t slot)
{
	observe_doubt_all(s, inv_node(&s->inv, slot));
	observe_want_read(s, slot);
}

bool
doubt_has_states(const struct inv_node *n)
{
	const struct inv_port *p = &n->ports[0];

	return inv_is_switch(n) && p->known && (p->info.capability_mask & WIRE_CAP_MASK2) != 0 &&
	    (p->info.capability_mask2 & WIRE_CAP2_PORT_STATES) != 0 &&
	    n->n_states_missed < STATES_MISSED_MAX;
}

bool
doubt_missed_states(struct inv_node *n, bool may_be_chance)
{
	bool had = n->n_states_missed < STATES_MISSED_MAX;

	n->n_states_missed =
	    may_be_chance && had ? (uint8_t)(n->n_states_missed + 1) : STATES_MISSED_MAX;
	return had && n->n_states_missed == STATES_MISSED_MAX;
}

void
doubt_states(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	if (!doubt_has_states(n)) {
		doubt_node(s, slot);
		return;
	}
	n->states_doubted = true;
	doubt_switch(s, slot);
}

void
doubt_nothing(struct sweeper *s)
{
	for (size_t i = 0; i < s->reading.doubted.n; i++)
		inv_node(&s->inv, s->reading.doubted.item[i])->doubted = false;
	s->reading.doubted.n = 0;
}

bool
observe_switch_is_fresh(const struct inv_node *n)
{
	return n->sw_known && n->sw_read_seq > n->sw_doubt_seq;
}

bool
observe_port_is_fresh(const struct inv_port *p)
{
	return p->known && p->read_seq > p->doubt_seq;
}
