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
#include <inttypes.h>

#include "core/sweep/internal.h"

#define DOUBTS_MAX(s) (256 + 4 * (s)->inv.nodes.n)
#define NEWCOMERS_MAX 32
#define NEWCOMERS_MS (3600 * 1000)

enum doubt {
	DOUBT_NONE,
	DOUBT_NODE = 1,
	DOUBT_PLACE = 2,
	DOUBT_LINK = 4,
	DOUBT_LOOP = 8,
	DOUBT_PORT = 16,
	IS_FOREIGN = 32,  /* there is no doubt */
	STILL_THERE = 64, /* a switch is where it was, and may be here as well, by another cable */
	DOUBT_WAY = 128
};

/* Somebody behind node:port. */
struct arrival {
	uint32_t node;
	uint8_t port;
	const uint8_t *data; /* NodeInfo as it came */
	uint64_t m_key;
	struct wire_node_info info;
	unsigned settled; /* of enum doubt */
	/* the one in doubt, and its port */
	uint32_t owner;
	uint8_t owner_port;
};

static void settle(struct sweeper *s, struct arrival *v);

static bool
is_local(const struct sweeper *s, uint32_t slot, uint8_t port)
{
	return slot == s->inv.local && port == s->inv.local_port;
}

/* ----------------------------------------------------------- who is left out */

void
arrive_leave_out(struct sweeper *s, uint32_t node, uint8_t port, uint32_t owner, uint8_t owner_port)
{
	struct inv_port *p = &inv_node(&s->inv, node)->ports[port];

	inv_unlink(&s->inv, node, port, EDGE_DUPLICATE);
	p->peer = owner;
	p->peer_port = owner_port;
}

/* Another node has been taken for this one: its other cables have to prove themselves. */
static void
on_audit(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	const struct inv_port *p = &inv_node(&s->inv, a->node)->ports[a->port];
	struct wire_node_info info = { 0 };
	uint32_t far = a->claim_node;
	uint8_t far_port = a->claim_port;

	if (status == TXN_CANCELLED || p->edge != EDGE_LINKED || p->peer != far ||
	    p->peer_port != far_port)
		return;
	if (status == TXN_OK)
		wire_node_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (inv_is(&s->inv, far, &info) && info.local_port == far_port)
		return;
	arrive_leave_out(s, far, far_port, a->node, a->port);
	discover_probe(s, a->node, a->port);
}

static void
audit(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	if (n->disputed_in == s->report.number || !inv_is_switch(n))
		return;
	n->disputed_in = s->report.number;
	for (unsigned p = 1; p <= n->n_ports; p++) {
		struct smp_route route;
		struct ask *a;

		if (n->ports[p].edge != EDGE_LINKED ||
		    !inv_route_beyond(&s->inv, slot, (uint8_t)p, &route))
			continue;
		a = ask_new(s, slot, (uint8_t)p);
		if (a == NULL)
			return;
		a->claim_node = n->ports[p].peer;
		a->claim_port = n->ports[p].peer_port;
		route.m_key =
		    inv_node(&s->inv, a->claim_node)
			->ports[inv_is_switch(inv_node(&s->inv, a->claim_node)) ? 0 : a->claim_port]
			.m_key;
		ask_get(a, &route, WIRE_ATTR_NODE_INFO, 0, on_audit);
	}
}

static void
note_loop(struct sweeper *s, uint32_t node, uint8_t port, uint8_t far_port)
{
	struct inv_node *n = inv_node(&s->inv, node);

	inv_unlink(&s->inv, node, far_port, EDGE_LOOP);
	inv_unlink(&s->inv, node, port, EDGE_LOOP);
	n->ports[port].peer = n->ports[far_port].peer = node;
	n->ports[port].peer_port = far_port;
	n->ports[far_port].peer_port = port;
}

/* ------------------------------------------------------------ who has come */

void
arrive_greet(struct sweeper *s, uint32_t slot, const struct smp_route *route)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	inv_age_links(&s->inv, slot);
	if (!n->present)
		n->first_in = s->report.number;
	n->seen_in = s->disc->mark;
	n->present = true;
	n->silent = n->quiet = false;
	n->n_reads = 0;
	observe_doubt_all(s, n);
	n->n_hops = route->n_hops;
	memcpy(n->path, route->path, (size_t)route->n_hops + 1);
}

void
arrive_ask_details(struct sweeper *s, uint32_t slot, uint8_t port)
{
	const struct inv_node *n = inv_node(&s->inv, slot);

	discover_ask_desc(s, slot, inv_is_switch(n) ? 0 : port);
	if (inv_is_switch(n))
		discover_ask_switch(s, slot);
}

/* The node is not at this port any more; what is there now is asked. */
static void
let_go(struct sweeper *s, uint32_t slot, unsigned port)
{
	struct inv_port *p = &inv_node(&s->inv, slot)->ports[port], *far;
	uint32_t peer = p->peer;
	uint8_t peer_port = p->peer_port;

	if (p->edge != EDGE_LINKED && p->edge != EDGE_WAS)
		return;
	inv_unlink(&s->inv, slot, (uint8_t)port, EDGE_NONE);
	far = &inv_node(&s->inv, peer)->ports[peer_port];
	if (far->edge == EDGE_WAS && far->peer == slot && far->peer_port == port)
		inv_unlink(&s->inv, peer, peer_port, EDGE_NONE);
	if (far->edge == EDGE_NONE && inv_node(&s->inv, peer)->present && inv_port_up(far) &&
	    observe_port_is_fresh(far) &&
	    (inv_is_switch(inv_node(&s->inv, peer)) || is_local(s, peer, peer_port)))
		discover_probe(s, peer, peer_port);
}

/* It is found elsewhere, or another one is in its stead: what it was asked where it was does
 * not count any more. */
static void
displace(struct sweeper *s, uint32_t slot)
{
	struct inv_node *n = inv_node(&s->inv, slot);

	n->generation++;
	n->by_lid.on_trial = false;
	n->present = false; /* till it is greeted */
	for (unsigned p = 0; p <= n->n_ports; p++)
		let_go(s, slot, p);
}

/* Who was known is not where it was. */
static void
clear_the_way(struct sweeper *s, const struct arrival *v)
{
	uint32_t known = inv_find(&s->inv, v->info.node_guid);

	if (known == INV_NONE || !inv_node(&s->inv, known)->present)
		return;
	if (v->settled & (DOUBT_NODE | DOUBT_PLACE | DOUBT_WAY))
		displace(s, known);
	else if ((v->settled & DOUBT_LINK) && !inv_is_switch(inv_node(&s->inv, known)))
		let_go(s, known, v->info.local_port);
}

/* The port that the switch has is cabled elsewhere, as was proven: what came by it first is another
 * one. */
static void
cast_out(struct sweeper *s, uint32_t slot, uint8_t port)
{
	const struct inv_port *p = &inv_node(&s->inv, slot)->ports[port];

	if (p->edge == EDGE_LINKED)
		arrive_leave_out(s, p->peer, p->peer_port, slot, port);
}

/* Nodes never seen before that this port has shown within the hour, with this one; 0: memory is
 * out. */
static uint32_t
count_newcomer(struct sweeper *s, uint32_t node, uint8_t port)
{
	struct fm_hash *counts = &s->disc->newcomers;
	uint64_t key = (uint64_t)node * 256 + port;
	int64_t now_ms = sweeper_clock_ms(s);
	uint32_t n;

	if (now_ms - s->disc->newcomers_ms >= NEWCOMERS_MS) {
		fm_hash_fini(counts);
		*counts = (struct fm_hash){ 0 };
		s->disc->newcomers_ms = now_ms;
	}
	n = fm_hash_find(counts, key);
	n = n == FM_HASH_NONE ? 1 : n + 1;
	return fm_hash_put(counts, key, n) ? n : 0;
}

/* Is it known, or may it be given a slot of the inventory?  If not it is left out. */
static bool
may_have_slot(struct sweeper *s, const struct arrival *v)
{
	uint32_t known = inv_find(&s->inv, v->info.node_guid), n;

	if (known != INV_NONE && inv_is(&s->inv, known, &v->info))
		return true;
	n = count_newcomer(s, v->node, v->port);
	if (n == 0)
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
	if (n > NEWCOMERS_MAX)
		discover_disbelieve(s, v->node, v->port, CLAIMS_NEW_GUIDS, n > NEWCOMERS_MAX + 1);
	return n <= NEWCOMERS_MAX;
}

static void
take(struct sweeper *s, const struct arrival *v)
{
	uint8_t far_port = v->info.local_port, end;
	struct smp_route route;
	struct inv_node *n;
	uint32_t slot;
	bool fresh;

	if (!inv_route_beyond(&s->inv, v->node, v->port, &route)) {
		inv_unlink(&s->inv, v->node, v->port, EDGE_NONE);
		return;
	}
	if (!may_have_slot(s, v))
		return;
	clear_the_way(s, v);
	slot = inv_add(&s->inv, &v->info);
	if (slot == INV_NONE) {
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
		return;
	}
	n = inv_node(&s->inv, slot);
	end = inv_is_switch(n) ? 0 : far_port;
	fresh = !n->present || n->seen_in != s->disc->mark;
	if (v->m_key != 0)
		n->ports[end].m_key = v->m_key;
	if (fresh)
		arrive_greet(s, slot, &route);
	else
		cast_out(s, slot, far_port);
	inv_link(&s->inv, v->node, v->port, slot, far_port);
	if ((fresh || end != 0) && !inv_set_port_guid(&s->inv, slot, end, v->info.port_guid))
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
	if (inv_is_switch(n) && route.n_hops < n->n_hops) {
		n->n_hops = route.n_hops;
		memcpy(n->path, route.path, (size_t)route.n_hops + 1);
	}
	if (fresh)
		arrive_ask_details(s, slot, far_port);
	else if (inv_is_switch(n) && s->report.scope != SWEEP_HEAVY)
		doubt_switch(s, slot); /* it may have been without power, or tell of more */
	if (!inv_is_switch(n))
		discover_ask_port(s, slot, far_port);
	s->disc->changed = true;
}

/* ---------------------------------------------------------------- doubts */

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

/* The next thing that is to be asked before the arrival is believed. */
static enum doubt
find_doubt(const struct sweeper *s, struct arrival *v)
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

/* Its links may just be asked anew.  False: the way to the switch is the cable of the arrival. */
static bool
way_of_its_own(const struct sweeper *s, const struct arrival *v, struct smp_route *route)
{
	struct smp_route here;

	return inv_route(&s->inv, v->owner, 0, route) &&
	    (!inv_route_beyond(&s->inv, v->node, v->port, &here) || route->n_hops != here.n_hops ||
		memcmp(route->path + 1, here.path + 1, here.n_hops) != 0);
}

/* Where to ask; false: there is nowhere, so that who was known is gone. */
static bool
place_of(const struct sweeper *s, enum doubt d, const struct arrival *v, struct smp_route *route)
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
		return inv_is_switch(n) && way_of_its_own(s, v, route);
	p = &n->ports[at];
	if (!is_elsewhere(p, v))
		return false;
	return inv_route_beyond(&s->inv, p->peer, p->peer_port, route);
}

/* Is the one in doubt where it was? */
static bool
is_still_there(const struct sweeper *s, enum doubt d, const struct arrival *v,
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

/* It has another port GUID now, or is gone. */
static void
free_port_guid(struct sweeper *s, const struct arrival *v, const struct wire_node_info *found)
{
	if (!inv_is(&s->inv, v->owner, found)) {
		let_go(s, v->owner, v->owner_port);
		inv_node(&s->inv, v->owner)->ports[v->owner_port].guid = 0;
	} else if (!inv_set_port_guid(&s->inv, v->owner, v->owner_port, found->port_guid)) {
		sweep_fail(s, FM_E_RESOURCE, "out of memory for the inventory");
	}
}

/* Both are new. */
static bool
goes_before(const struct sweeper *s, const struct arrival *v)
{
	const struct inv_node *n = inv_node(&s->inv, v->owner);

	return v->info.node_type == WIRE_NODE_SWITCH && !inv_is_switch(n) &&
	    n->first_in == s->report.number && v->owner != s->inv.local;
}

static void
cast_out_host(struct sweeper *s, const struct arrival *v)
{
	struct inv_node *n = inv_node(&s->inv, v->owner);

	for (unsigned p = 1; p <= n->n_ports; p++)
		cast_out(s, v->owner, (uint8_t)p);
}

/* The host (owner) whose port GUID the switch has, which has been taken by now. */
static void
cast_out_port(struct sweeper *s, const struct arrival *v)
{
	struct inv_port *p = &inv_node(&s->inv, v->owner)->ports[v->owner_port];
	uint32_t slot = inv_find(&s->inv, v->info.node_guid);

	if (slot == INV_NONE || p->edge != EDGE_LINKED)
		return;
	arrive_leave_out(s, p->peer, p->peer_port, slot, 0);
	p->guid = 0;
}

static void ask_there(
    struct sweeper *s, enum doubt d, const struct arrival *v, const struct smp_route *route);

/* Nobody answered behind the port of a switch that the arrival says to be: is the switch to be
 * reached at all?  True: that is being asked. */
static bool
doubts_way(struct sweeper *s, enum doubt d, const struct arrival *v,
    const struct wire_node_info *found, const struct smp_route *there)
{
	struct smp_route route;

	if (d != DOUBT_LINK || there == NULL || found->node_guid != 0 || v->owner == s->inv.local ||
	    !inv_is_switch(inv_node(&s->inv, v->owner)) || !way_of_its_own(s, v, &route))
		return false;
	ask_there(s, DOUBT_WAY, v, &route);
	return true;
}

/* The doubt is settled by who was found there. */
static void
judge(struct sweeper *s, enum doubt d, struct arrival *v, const struct wire_node_info *found,
    const struct smp_route *there)
{
	bool still = is_still_there(s, d, v, found);

	v->settled |= d;
	if (doubts_way(s, d, v, found, there))
		return;
	if (d == DOUBT_LOOP && !still) {
		note_loop(s, v->node, v->port, v->info.local_port);
	} else if (d == DOUBT_PLACE && still) {
		v->settled = (v->settled & ~(unsigned)d) | STILL_THERE;
		arrive_greet(s, v->owner, there);
		arrive_ask_details(s, v->owner, 0);
		settle(s, v);
	} else if (d == DOUBT_NODE && still && goes_before(s, v)) {
		cast_out_host(s, v);
		settle(s, v);
	} else if (d == DOUBT_PORT && still && goes_before(s, v)) {
		struct arrival before = *v;

		settle(s, v);
		cast_out_port(s, &before);
	} else if (still) {
		bool news = todo_known(s->todo, v->node, v->port) == TODO_DONE;

		arrive_leave_out(s, v->node, v->port, v->owner, v->owner_port);
		if ((d == DOUBT_LINK || d == DOUBT_WAY) && news)
			audit(s, v->owner);
	} else {
		if (d == DOUBT_PORT)
			free_port_guid(s, v, found);
		settle(s, v);
	}
}

static void
on_judged(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct arrival v = { .node = a->node,
		.port = a->port,
		.data = a->data,
		.m_key = a->m_key,
		.settled = a->index,
		.owner = a->claim_node,
		.owner_port = a->claim_port };
	struct wire_node_info found = { 0 };

	if (ask_is_stale(a) || inv_node(&s->inv, a->node)->ports[a->port].edge != EDGE_ASKED)
		return;
	wire_node_info_get(a->data, &v.info);
	if (status == TXN_CANCELLED) {
		inv_unlink(
		    &s->inv, a->node, a->port, EDGE_SILENT); /* asked again by a light sweep */
	} else if (inv_node(&s->inv, a->claim_node)->generation != a->claim_generation) {
		settle(s, &v);
	} else {
		if (status == TXN_OK)
			wire_node_info_get(reply + WIRE_SMP_DATA_AT, &found);
		judge(s, (enum doubt)a->kind, &v, &found, &a->route);
	}
}

static void
ask_there(struct sweeper *s, enum doubt d, const struct arrival *v, const struct smp_route *route)
{
	struct ask *a = ask_new(s, v->node, v->port);

	if (a == NULL)
		return;
	a->kind = (uint8_t)d;
	a->index = v->settled;
	a->m_key = v->m_key;
	a->claim_node = v->owner;
	a->claim_port = v->owner_port;
	a->claim_generation = inv_node(&s->inv, v->owner)->generation;
	memmove(a->data, v->data, sizeof(a->data));
	ask_get(a, route, WIRE_ATTR_NODE_INFO, 0, on_judged);
}

static void
settle(struct sweeper *s, struct arrival *v)
{
	static const struct wire_node_info nobody = { 0 };
	enum doubt d = find_doubt(s, v);
	struct smp_route route;

	if (d == DOUBT_NONE) {
		take(s, v);
	} else if (d == IS_FOREIGN || s->disc->n_doubts++ >= DOUBTS_MAX(s)) {
		arrive_leave_out(s, v->node, v->port, v->owner, v->owner_port);
	} else if (d == DOUBT_LOOP && v->info.local_port == v->port) {
		note_loop(s, v->node, v->port, v->port); /* a plug that is its own far end */
	} else if (place_of(s, d, v, &route)) {
		ask_there(s, d, v, &route);
	} else if (d == DOUBT_LOOP) {
		note_loop(s, v->node, v->port, v->info.local_port);
	} else {
		judge(s, d, v, &nobody, NULL);
	}
}

void
arrive(struct sweeper *s, uint32_t node, uint8_t port, const uint8_t *data, uint64_t m_key)
{
	struct arrival v = { .node = node, .port = port, .data = data, .m_key = m_key };

	wire_node_info_get(data, &v.info);
	settle(s, &v);
}
