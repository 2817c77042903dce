/* SPDX-License-Identifier: BSD-2-Clause */
/* core/ask/doubt.c - which records are in doubt.  Cost: O(1), for a node O(ports). */
#include "core/ask/doubt.h"

#include "core/ask/sweeper.h"

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
