/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/picture/cable.h"

struct cable_end
cable_end(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);

	return (struct cable_end){ slot, port, n, &n->ports[port] };
}

bool
cable_is_told_at(const struct inventory *inv, const struct cable_end *e)
{
	const struct inv_node *far;

	if (e->at->stopped && e->at->edge == EDGE_NONE)
		return true;
	switch ((enum inv_edge)e->at->edge) {
	case EDGE_NONE:
	case EDGE_WAS:
	case EDGE_ASKED:
		return false;
	case EDGE_SILENT:
	case EDGE_DUPLICATE:
		return true;
	case EDGE_LOOP:
		return e->port <= e->at->peer_port;
	case EDGE_LINKED:
		break;
	}
	far = inv_node(inv, e->at->peer);
	if (inv_is_switch(e->node) != inv_is_switch(far))
		return inv_is_switch(e->node);
	return e->slot != e->at->peer ? e->slot < e->at->peer : e->port < e->at->peer_port;
}

struct cable
cable_of(const struct inventory *inv, const struct todo_list *todo, const struct cable_end *e)
{
	struct cable c = { .near = *e, .why = todo_known(todo, e->slot, e->port) };
	unsigned far_port;
	uint32_t far;

	if (e->at->edge == EDGE_LINKED || e->at->edge == EDGE_LOOP)
		c.far = cable_end(
		    inv, e->at->edge == EDGE_LOOP ? e->slot : e->at->peer, e->at->peer_port);
	else if (todo_far(inv, c.why, e->slot, e->port, &far, &far_port))
		c.far = cable_end(inv, far, far_port);
	if (c.far.node != NULL && c.why == TODO_DONE)
		c.why = todo_known(todo, c.far.slot, c.far.port);
	c.rate = inv_rate(e->node, e->port);
	c.best = inv_best_rate(inv, e->slot, e->port);
	return c;
}

bool
cable_is_degraded(const struct cable *c)
{
	return c->rate.lanes < c->best.lanes || c->rate.lane_mbps < c->best.lane_mbps;
}

const struct inv_port *
cable_worse(const struct cable *c)
{
	return c->far.at != NULL && c->far.at->info.port_state < c->near.at->info.port_state
	    ? c->far.at
	    : c->near.at;
}

uint8_t
cable_port_state(const struct inv_port *port)
{
	uint8_t state = port->info.port_state;

	return port->known && state >= WIRE_PORT_DOWN && state <= WIRE_PORT_ACTIVE ? state : 0;
}
