/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/inventory.c - nodes, ports and cables as last seen.
 *
 * Invariant: ports a and b are EDGE_LINKED both or neither, and each names
 * the other.  A switch has one directed route, the shortest one known; a CA
 * port is reached through the switch it is cabled to, so its route is that
 * of its peer and one hop more.
 */
#include "core/inventory/inventory.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/nodes/name_map.h"
#include "core/subnet/pkey_table.h"
#include "lib/printable.h"

void
inv_init(struct inventory *inv)
{
	memset(inv, 0, sizeof(*inv));
	fm_arena_init(&inv->mem, SIZE_MAX);
	inv->local = INV_NONE;
}

/* What ports refer to outside of the arena. */
static void
drop_tables(struct inv_node *n)
{
	for (unsigned p = 0; n->ports != NULL && p <= n->n_ports; p++) {
		pkey_held_put(n->ports[p].pkeys);
		n->ports[p].pkeys = NULL;
	}
}

void
inv_fini(struct inventory *inv)
{
	for (uint32_t i = 0; i < inv->nodes.n; i++)
		drop_tables(inv_node(inv, i));
	fm_vec_fini(&inv->nodes);
	fm_vec_fini(&inv->switches);
	fm_vec_fini(&inv->flaps);
	fm_hash_fini(&inv->by_guid);
	fm_hash_fini(&inv->by_port);
	fm_hash_fini(&inv->lid_owner);
	fm_arena_fini(&inv->mem);
}

static void
call(const struct inventory *inv, struct inv_node *n)
{
	const char *name = name_map_find(inv->names, n->guid);

	snprintf(n->name, sizeof(n->name), "%s", name != NULL ? name : n->desc);
}

void
inv_rename(struct inventory *inv, const struct name_map *names)
{
	inv->names = names;
	for (uint32_t i = 0; i < inv->nodes.n; i++)
		call(inv, inv_node(inv, i));
}

void
inv_describe(struct inventory *inv, uint32_t slot, const uint8_t *desc)
{
	struct inv_node *n = inv_node(inv, slot);

	memcpy(n->desc, desc, 64);
	n->desc[64] = '\0';
	fm_printable(n->desc);
	call(inv, n);
}

uint32_t
inv_find(const struct inventory *inv, uint64_t guid)
{
	return fm_hash_find(&inv->by_guid, guid);
}

/* A node of which nothing is known yet; its ports are used again where it has some. */
static bool
start_node(struct inventory *inv, struct inv_node *n, const struct wire_node_info *info)
{
	struct inv_node fresh = { .guid = info->node_guid,
		.type = info->node_type,
		.n_ports = info->n_ports,
		.ports = n->ports,
		.sw_index = n->sw_index,
		.generation = n->generation + 1,
		.older = n->older };

	drop_tables(n);
	if (fresh.ports == NULL)
		fresh.ports = fm_arena_array(&inv->mem, (size_t)info->n_ports + 1, struct inv_port);
	if (fresh.ports == NULL)
		return false;
	*n = fresh;
	memset(n->ports, 0, ((size_t)n->n_ports + 1) * sizeof(*n->ports));
	for (unsigned p = 0; p <= n->n_ports; p++)
		n->ports[p].peer = INV_NONE;
	call(inv, n);
	return true;
}

/* A slot more, for a node whose GUID `older` has or had; INV_NONE: memory is out. */
static uint32_t
new_slot(struct inventory *inv, const struct wire_node_info *info, uint32_t older)
{
	struct inv_node fresh = { .sw_index = INV_NONE, .older = older };

	if (!start_node(inv, &fresh, info) || !fm_vec_push(&inv->nodes, fresh))
		return INV_NONE;
	return (uint32_t)inv->nodes.n - 1;
}

/* A slot that was this node's before `head` had its GUID, out of the row of those; INV_NONE. */
static uint32_t
take_older(struct inventory *inv, uint32_t head, const struct wire_node_info *info)
{
	for (uint32_t at = head, next; (next = inv_node(inv, at)->older) != INV_NONE; at = next)
		if (inv_is(inv, next, info)) {
			inv_node(inv, at)->older = inv_node(inv, next)->older;
			inv_node(inv, next)->older = head;
			return next;
		}
	return INV_NONE;
}

/* The node in the slot is gone; one of its GUID but of another kind has come. */
static uint32_t
replace(struct inventory *inv, uint32_t slot, const struct wire_node_info *info)
{
	uint32_t to = take_older(inv, slot, info);
	struct inv_node *n, *was;

	if (to == INV_NONE)
		to = new_slot(inv, info, slot);
	else if (!start_node(inv, inv_node(inv, to), info))
		return INV_NONE;
	if (to == INV_NONE)
		return INV_NONE;
	n = inv_node(inv, to);
	was = inv_node(inv, slot);
	inv_unlink_all(inv, slot);
	was->present = false;
	was->generation++;
	if (inv_is_switch(n) && n->sw_index == INV_NONE && was->sw_index != INV_NONE) {
		n->sw_index = was->sw_index;
		was->sw_index = INV_NONE;
		inv->switches.item[n->sw_index] = to;
	}
	return to;
}

uint32_t
inv_add(struct inventory *inv, const struct wire_node_info *info)
{
	uint32_t was = inv_find(inv, info->node_guid), slot = was;

	if (was == INV_NONE)
		slot = new_slot(inv, info, INV_NONE);
	else if (!inv_is(inv, was, info))
		slot = replace(inv, was, info);
	if (slot == INV_NONE)
		return INV_NONE;
	if (slot != was && !fm_hash_put(&inv->by_guid, info->node_guid, slot))
		return INV_NONE;
	inv_node(inv, slot)->info = *info;
	inv_node(inv, slot)->system_guid = info->system_guid;
	return slot;
}

uint32_t
inv_find_port(const struct inventory *inv, uint64_t guid, uint8_t *port)
{
	uint32_t at = fm_hash_find(&inv->by_port, guid), slot = at / 256;

	*port = (uint8_t)at;
	if (at == FM_HASH_NONE || !inv_node(inv, slot)->present ||
	    inv_node(inv, slot)->ports[*port].guid != guid)
		return INV_NONE;
	return slot;
}

bool
inv_set_port_guid(struct inventory *inv, uint32_t node, uint8_t port, uint64_t guid)
{
	inv_node(inv, node)->ports[port].guid = guid;
	return fm_hash_put(&inv->by_port, guid, node * 256 + port);
}

const char *
inv_disbelief_text(enum inv_disbelief why)
{
	static const char *const texts[N_DISBELIEFS] = {
		[BELIEVED] = "nothing",
		[CLAIMS_NO_GUID] = "a node GUID of 0",
		[CLAIMS_NO_PORT_GUID] = "a port GUID of 0",
		[CLAIMS_NO_TYPE] = "an unknown node type",
		[CLAIMS_NO_PORTS] = "an impossible number of ports",
		[CLAIMS_NO_SUCH_PORT] = "a local port that it does not have",
		[CLAIMS_NEW_GUIDS] = "ever new GUIDs, too many within an hour",
	};

	return texts[why];
}

void
inv_link(struct inventory *inv, uint32_t a, uint8_t a_port, uint32_t b, uint8_t b_port)
{
	struct inv_port *pa = &inv_node(inv, a)->ports[a_port],
			*pb = &inv_node(inv, b)->ports[b_port];

	pa->edge = pb->edge = EDGE_LINKED;
	pa->disbelief = pb->disbelief = BELIEVED;
	pa->peer = b;
	pa->peer_port = b_port;
	pb->peer = a;
	pb->peer_port = a_port;
}

void
inv_unlink(struct inventory *inv, uint32_t node, uint8_t port, enum inv_edge edge)
{
	struct inv_port *p = &inv_node(inv, node)->ports[port];

	if (p->edge == EDGE_LINKED) {
		struct inv_port *far = &inv_node(inv, p->peer)->ports[p->peer_port];

		far->edge = EDGE_NONE;
		far->peer = INV_NONE;
		inv->n_unlinked++;
	}
	p->edge = (uint8_t)edge;
	p->peer = INV_NONE;
}

void
inv_age_links(struct inventory *inv, uint32_t node)
{
	struct inv_node *n = inv_node(inv, node);

	for (unsigned p = 0; p <= n->n_ports; p++) {
		struct inv_port *port = &n->ports[p];

		if (port->edge == EDGE_LINKED)
			inv_node(inv, port->peer)->ports[port->peer_port].edge = EDGE_WAS;
		if (port->edge == EDGE_LINKED || port->edge == EDGE_WAS)
			port->edge = EDGE_WAS;
		else if (port->edge == EDGE_SILENT)
			port->edge = EDGE_NONE; /* and who was there is remembered */
		else
			inv_unlink(inv, node, (uint8_t)p, EDGE_NONE);
	}
}

void
inv_unlink_all(struct inventory *inv, uint32_t node)
{
	struct inv_node *n = inv_node(inv, node);

	for (unsigned p = 0; p <= n->n_ports; p++)
		inv_unlink(inv, node, (uint8_t)p, EDGE_NONE);
}

bool
inv_route(const struct inventory *inv, uint32_t node, uint8_t port, struct smp_route *route)
{
	const struct inv_node *n = inv_node(inv, node), *sw = n;
	uint8_t last = 0;

	if (!inv_is_switch(n) && (node != inv->local || port != inv->local_port)) {
		const struct inv_port *p = &n->ports[port];

		if (p->edge != EDGE_LINKED)
			return false;
		sw = inv_node(inv, p->peer);
		last = p->peer_port;
		if (!inv_is_switch(sw) && (p->peer != inv->local || last != inv->local_port))
			return false;
	}
	if (sw->n_hops + (last != 0) > DR_MAX_HOPS)
		return false;
	route->directed = true;
	route->beyond = route->brief = route->aside = false;
	route->lid = WIRE_LID_PERMISSIVE;
	route->slid = 0;
	route->max_tries = 0;
	route->wait_ms = 0;
	route->m_key = n->ports[inv_is_switch(n) ? 0 : port].m_key;
	route->n_hops = sw->n_hops;
	memcpy(route->path, sw->path, (size_t)sw->n_hops + 1);
	if (last != 0)
		route->path[++route->n_hops] = last;
	return true;
}

bool
inv_route_beyond(const struct inventory *inv, uint32_t node, uint8_t port, struct smp_route *route)
{
	if (!inv_route(inv, node, port, route) || route->n_hops == DR_MAX_HOPS)
		return false;
	route->path[++route->n_hops] = port;
	route->beyond = true;
	route->m_key = 0;
	return true;
}

uint32_t
inv_before(const struct inventory *inv, uint32_t node, uint8_t port)
{
	const struct inv_node *n = inv_node(inv, node);

	if (!inv_is_switch(n))
		return n->ports[port].edge == EDGE_LINKED &&
			inv_is_switch(inv_node(inv, n->ports[port].peer))
		    ? n->ports[port].peer
		    : INV_NONE;
	for (unsigned p = 1; n->n_hops > 0 && p <= n->n_ports; p++) {
		const struct inv_port *to = &n->ports[p];
		const struct inv_node *far;

		if (to->edge != EDGE_LINKED || to->peer_port != n->path[n->n_hops])
			continue;
		far = inv_node(inv, to->peer);
		if (inv_is_switch(far) && far->n_hops + 1 == n->n_hops &&
		    memcmp(far->path, n->path, n->n_hops) == 0)
			return to->peer;
	}
	return INV_NONE;
}

/* Give what hangs on port p of n a route, when it has none; true = a switch
 * whose own ports are to be walked. */
static bool
reach(struct inventory *inv, const struct inv_node *n, unsigned p, uint32_t mark)
{
	struct inv_node *far = inv_node(inv, n->ports[p].peer);

	if (far->seen_in == mark || n->n_hops == DR_MAX_HOPS)
		return false;
	far->seen_in = mark;
	if (!inv_is_switch(far))
		return false;
	memcpy(far->path, n->path, (size_t)n->n_hops + 1);
	far->n_hops = (uint8_t)(n->n_hops + 1);
	far->path[far->n_hops] = (uint8_t)p;
	return true;
}

/* Switches whose ports are to be walked; those that do not answer come last, when nothing else
 * is left: what lies behind them is reached by another way where there is one. */
struct walk {
	uint32_t *queue, head, tail;
	uint32_t *silent, n_silent;
};

static void
walk(struct inventory *inv, struct walk *w, uint32_t mark)
{
	while (w->head < w->tail) {
		const struct inv_node *n = inv_node(inv, w->queue[w->head++]);
		unsigned first = inv_is_switch(n) ? 1 : inv->local_port;
		unsigned last = inv_is_switch(n) ? n->n_ports : inv->local_port;

		for (unsigned p = first; p <= last; p++) {
			uint32_t far = n->ports[p].peer;

			if (n->ports[p].edge != EDGE_LINKED || !reach(inv, n, p, mark))
				continue;
			if (inv_node(inv, far)->silent)
				w->silent[w->n_silent++] = far;
			else
				w->queue[w->tail++] = far;
		}
	}
}

/* False: there are none. */
static bool
take_silent(struct walk *w)
{
	if (w->n_silent == 0)
		return false;
	w->head = w->tail = 0;
	while (w->n_silent > 0)
		w->queue[w->tail++] = w->silent[--w->n_silent];
	return true;
}

static void
drop_unseen(struct inventory *inv, uint32_t mark, const uint32_t *seen_before)
{
	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		struct inv_node *n = inv_node(inv, i);

		if (n->present && n->seen_in != mark) {
			n->present = false;
			n->generation++; /* or what it asks for by now would be linked to it */
			inv_unlink_all(inv, i);
		}
		n->seen_in = seen_before[i];
	}
}

bool
inv_find_routes(struct inventory *inv)
{
	uint32_t n_nodes = (uint32_t)inv->nodes.n, mark = UINT32_MAX;
	struct walk w = { 0 };
	struct fm_arena mem;
	uint32_t *seen_before;

	fm_arena_init(&mem, SIZE_MAX);
	w.queue = fm_arena_array(&mem, (size_t)n_nodes + 1, uint32_t);
	w.silent = fm_arena_array(&mem, (size_t)n_nodes + 1, uint32_t);
	seen_before = fm_arena_array(&mem, (size_t)n_nodes + 1, uint32_t);
	if (w.queue == NULL || w.silent == NULL || seen_before == NULL || inv->local == INV_NONE) {
		fm_arena_fini(&mem);
		return inv->local == INV_NONE;
	}
	for (uint32_t i = 0; i < n_nodes; i++)
		seen_before[i] = inv_node(inv, i)->seen_in;
	inv_node(inv, inv->local)->seen_in = mark;
	w.queue[w.tail++] = inv->local;
	do
		walk(inv, &w, mark);
	while (take_silent(&w));
	drop_unseen(inv, mark, seen_before);
	fm_arena_fini(&mem);
	return true;
}

/* The capabilities of a switch's ports stand in its port 0. */
struct wire_rate
inv_rate(const struct inv_node *n, unsigned port)
{
	struct wire_port_info info = n->ports[port].info;

	if (inv_is_switch(n)) {
		info.capability_mask = n->ports[0].info.capability_mask;
		info.capability_mask2 = n->ports[0].info.capability_mask2;
	}
	return wire_rate_active(&info);
}

struct wire_rate
inv_best_rate(const struct inventory *inv, uint32_t slot, unsigned port)
{
	const struct inv_node *n = inv_node(inv, slot);
	const struct inv_port *p = &n->ports[port], *far;
	struct wire_rate best, rate = inv_rate(n, port);

	if (p->edge != EDGE_LINKED || !p->known)
		return (struct wire_rate){ 0 };
	far = &inv_node(inv, p->peer)->ports[p->peer_port];
	if (!far->known)
		return (struct wire_rate){ 0 };
	best = wire_rate_best(&p->info, &far->info);
	if (best.lane_mbps < rate.lane_mbps) /* XDR */
		best.lane_mbps = rate.lane_mbps;
	return best;
}

const char *
inv_name(const struct inv_node *n, char *buf, size_t size)
{
	snprintf(buf, size, "\"%s\" (0x%016" PRIx64 ")", n->name[0] ? n->name : "?", n->guid);
	return buf;
}

void
inv_count_ports(const struct inventory *inv, uint32_t *n_active, uint32_t *n_not_active)
{
	*n_active = *n_not_active = 0;
	for (uint32_t i = 0; i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		for (unsigned p = 1; n->present && p <= n->n_ports; p++) {
			const struct inv_port *port = &n->ports[p];

			if (port->edge != EDGE_LINKED)
				continue;
			if (port->known && port->info.port_state == WIRE_PORT_ACTIVE)
				++*n_active;
			else
				++*n_not_active;
		}
	}
}
