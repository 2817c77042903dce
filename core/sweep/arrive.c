/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/arrive.c - who is it that answers behind a cable: somebody new, a node that is
 * known, or another one that has its GUID?
 *
 * Who was there first stays.  Where the newcomer cannot be the one who is known, or need not be,
 * that one is asked at its own place before anyone is believed:
 *
 *	DOUBT_NODE	same GUID, other type or number of ports: is the known one still there?
 *	DOUBT_PLACE	a switch, first seen in this discovery where it was not: likewise
 *	DOUBT_LINK	its port is cabled to another one already.  A switch: what lies behind that
 *			port, by the way to the switch that we know?  A CA forwards nothing: does it
 *			answer where it was?
 *	DOUBT_WAY	a switch behind whose port nobody answered for DOUBT_LINK: does it answer
 *			itself, by the way that we know?  If not, that way is lost and proves
 *			nothing
 *	DOUBT_LOOP	the very switch that we come from: does the way through its other port lead
 *			back?
 *	DOUBT_PORT	another node has this port GUID: is it still there?
 *
 * Each is settled once for an arrival.  Who is contradicted is left out: its cable is
 * EDGE_DUPLICATE, it is told of once (todo.h), and asked again by each light sweep.  Who was
 * not found any more is gone, and the newcomer is the node.  Of two that are both new a switch goes
 * before a host, for more hangs on it; our own node is never in doubt.
 *
 * A port that shows ever new nodes, none of which was ever seen before, is believed NEWCOMERS_MAX
 * of them within an hour, for each costs a slot of the inventory for good.
 *
 * In a fabric without such nodes nothing of this is asked, but for a switch that is met by a new
 * cable first.  Bounded: DOUBTS_MAX questions a sweep, and who comes then is left out.
 */
#include "core/sweep/arrive.h"
#include "core/sweep/internal.h"

/* Has the port a link, of now or of the discovery before, that is not this arrival's? */
static bool
is_elsewhere(const struct inv_port *p, const struct arrival *v)
{
	return (p->edge == EDGE_LINKED || p->edge == EDGE_WAS) &&
	    (p->peer != v->node || p->peer_port != v->port);
}

/* A port of the node by which it is known elsewhere, if there is one the nearest; 0: none. */
static unsigned
other_place(const struct sweeper *s, uint32_t slot, const struct arrival *v)
{
	const struct inv_node *n = inv_node(&s->inv, slot), *best_far = NULL;
	unsigned best = 0;

	for (unsigned p = 1; p <= n->n_ports; p++) {
		const struct inv_port *port = &n->ports[p];
		const struct inv_node *far;

		if (!is_elsewhere(port, v) || port->peer == slot)
			continue;
		far = inv_node(&s->inv, port->peer);
		if (!far->present ||
		    (!inv_is_switch(far) && !is_local(s, port->peer, port->peer_port)))
			continue;
		if (best_far != NULL && far->n_hops >= best_far->n_hops)
			continue;
		best = p;
		best_far = far;
	}
	return best;
}

static bool
doubts_link(const struct sweeper *s, uint32_t slot, const struct arrival *v)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *p = &n->ports[v->info.local_port];

	if (is_elsewhere(p, v))
		return true;
	if (p->edge == EDGE_LINKED)
		return false;
	if (is_local(s, slot, v->info.local_port) || (v->settled & STILL_THERE))
		return true;
	return inv_is_switch(n) &&
	    (n->disputed_in == s->report.number || p->edge == EDGE_SILENT ||
		p->edge == EDGE_DUPLICATE || p->edge == EDGE_LOOP);
}

static enum doubt
doubt_of(const struct sweeper *s, uint32_t slot, const struct arrival *v)
{
	const struct inv_node *n = inv_node(&s->inv, slot);
	const struct inv_port *p;

	if (slot == v->node)
		return inv_is(&s->inv, slot, &v->info) ? DOUBT_LOOP : IS_FOREIGN;
	if (!n->present)
		return DOUBT_NONE;
	if (!inv_is(&s->inv, slot, &v->info))
		return slot == s->inv.local ? IS_FOREIGN : DOUBT_NODE;
	p = &n->ports[v->info.local_port];
	if (n->seen_in != s->disc->mark && inv_is_switch(n))
		return p->edge == EDGE_WAS && !is_elsewhere(p, v) ? DOUBT_NONE : DOUBT_PLACE;
	return doubts_link(s, slot, v) ? DOUBT_LINK : DOUBT_NONE;
}

enum doubt
arrive_doubt(const struct sweeper *s, struct arrival *v)
{
	uint32_t slot = inv_find(&s->inv, v->info.node_guid), has;
	uint8_t end = v->info.node_type == WIRE_NODE_SWITCH ? 0 : v->info.local_port, port;
	enum doubt d = DOUBT_NONE;

	v->owner = slot;
	v->owner_port = v->info.local_port;
	if (slot != INV_NONE && !(v->settled & (DOUBT_NODE | DOUBT_LOOP | DOUBT_LINK)))
		d = doubt_of(s, slot, v);
	if (d != DOUBT_NONE && !(v->settled & d))
		return d;
	has = inv_find_port(&s->inv, v->info.port_guid, &port);
	if (has == INV_NONE || (has == slot && port == end) || (v->settled & DOUBT_PORT))
		return DOUBT_NONE;
	v->owner = has;
	v->owner_port = port;
	return has == s->inv.local && port == s->inv.local_port ? IS_FOREIGN : DOUBT_PORT;
}

/* Is what lies behind its port asked, for it is a switch, or our own port? */
static bool
is_asked_beyond(const struct sweeper *s, const struct arrival *v)
{
	return inv_is_switch(inv_node(&s->inv, v->owner)) ||
	    is_local(s, v->owner, v->info.local_port);
}

bool
arrive_own_way(const struct sweeper *s, const struct arrival *v, struct smp_route *route)
{
	struct smp_route here;

	return inv_route(&s->inv, v->owner, 0, route) &&
	    (!inv_route_beyond(&s->inv, v->node, v->port, &here) || route->n_hops != here.n_hops ||
		memcmp(route->path + 1, here.path + 1, here.n_hops) != 0);
}

bool
arrive_place(
    const struct sweeper *s, enum doubt d, const struct arrival *v, struct smp_route *route)
{
	const struct inv_node *n = inv_node(&s->inv, v->owner);
	const struct inv_port *p;
	unsigned at;

	if (d == DOUBT_LOOP || (d == DOUBT_LINK && is_asked_beyond(s, v)))
		return inv_route_beyond(&s->inv, v->owner, v->info.local_port, route);
	at = d == DOUBT_LINK ? v->info.local_port : other_place(s, v->owner, v);
	if (d == DOUBT_PORT && !inv_is_switch(n))
		at = v->owner_port;
	if (at == 0)
		return inv_is_switch(n) && arrive_own_way(s, v, route);
	p = &n->ports[at];
	if (!is_elsewhere(p, v))
		return false;
	return inv_route_beyond(&s->inv, p->peer, p->peer_port, route);
}

bool
arrive_is_still_there(const struct sweeper *s, enum doubt d, const struct arrival *v,
    const struct wire_node_info *found)
{
	bool is = inv_is(&s->inv, v->owner, found);

	switch (d) {
	case DOUBT_LINK:
		if (is_asked_beyond(s, v))
			return !inv_is(&s->inv, v->node, found) || found->local_port != v->port;
		return is && found->local_port == v->info.local_port;
	case DOUBT_LOOP:
		return !is || found->local_port != v->port;
	case DOUBT_PORT:
		return is && found->port_guid == v->info.port_guid;
	default:
		return is;
	}
}

bool
arrive_goes_before(const struct sweeper *s, const struct arrival *v)
{
	const struct inv_node *n = inv_node(&s->inv, v->owner);

	return v->info.node_type == WIRE_NODE_SWITCH && !inv_is_switch(n) &&
	    n->first_in == s->report.number && v->owner != s->inv.local;
}
