/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building a fabric by hand: nodes own runs of one port array, cables are
 * two ports that name each other.  Invariant: ports[a].peer == b if and only
 * if ports[b].peer == a.  All operations O(1) amortised.
 */
#include "core/netlist/netlist.h"

#include <assert.h>
#include <string.h>

#include "lib/vec.h"

/* Locally administered, so that no invented GUID meets a real one; the low
 * byte is left to the ports. */
#define INVENTED_GUID UINT64_C(0x0200f40000000000)

void
netlist_fini(struct netlist *nl)
{
	free(nl->nodes);
	free(nl->ports);
	fm_hash_fini(&nl->by_guid);
	fm_arena_fini(&nl->strings);
	memset(nl, 0, sizeof(*nl));
}

static bool
add_ports(struct netlist *nl, unsigned n_ports)
{
	size_t first = nl->n_ports_total, to = first + n_ports + 1;

	if (to > UINT32_MAX ||
	    !fm_vec_grow((void **)&nl->ports, &nl->ports_room, to, sizeof(*nl->ports)))
		return false;
	memset(&nl->ports[first], 0, (n_ports + 1) * sizeof(*nl->ports));
	for (size_t p = first; p < to; p++)
		nl->ports[p].peer_node = NETLIST_NONE;
	nl->n_ports_total = to;
	return true;
}

static const char *
copy(struct netlist *nl, const char *text, size_t len)
{
	char *to = len == 0 ? NULL : fm_arena_alloc(&nl->strings, len + 1);

	if (len == 0)
		return "";
	if (to != NULL)
		memcpy(to, text, len);
	return to;
}

uint32_t
netlist_add_bare(struct netlist *nl, enum netlist_node_type type, const char *id, size_t id_len,
    const char *desc, size_t desc_len, unsigned n_ports)
{
	uint32_t index = nl->n_nodes;
	struct netlist_node *n;

	assert(n_ports >= 1 && n_ports <= 254);
	if (nl->strings.budget == 0)
		fm_arena_init(&nl->strings, SIZE_MAX);
	if (!fm_vec_grow(
		(void **)&nl->nodes, &nl->nodes_room, (size_t)index + 1, sizeof(*nl->nodes)))
		return NETLIST_NONE;
	n = &nl->nodes[index];
	memset(n, 0, sizeof(*n));
	n->type = (uint8_t)type;
	n->n_ports = (uint8_t)n_ports;
	n->first_port = (uint32_t)nl->n_ports_total;
	n->id = copy(nl, id, id_len);
	n->desc = desc == id && desc_len == id_len ? n->id : copy(nl, desc, desc_len);
	if (n->id == NULL || n->desc == NULL || !add_ports(nl, n_ports))
		return NETLIST_NONE;
	nl->n_nodes++;
	return index;
}

/* wish, or the next one above that no other node has. */
static uint64_t
free_guid(const struct netlist *nl, uint32_t node, uint64_t wish)
{
	uint32_t owner;

	while ((owner = fm_hash_find(&nl->by_guid, wish)) != FM_HASH_NONE && owner != node)
		wish += 1u << 16;
	return wish;
}

bool
netlist_name_node(struct netlist *nl, uint32_t node)
{
	struct netlist_node *n = &nl->nodes[node];
	unsigned last = n->type == NETLIST_SWITCH ? 0 : n->n_ports;

	n->guid_is_made = n->guid == 0;
	if (n->guid_is_made)
		n->guid = free_guid(nl, node, INVENTED_GUID + ((uint64_t)(node + 1) << 8));
	if (!fm_hash_put(&nl->by_guid, n->guid, node))
		return false;
	if (n->type == NETLIST_SWITCH && nl->ports[n->first_port].guid == 0)
		nl->ports[n->first_port].guid = n->guid;
	for (unsigned p = n->type == NETLIST_SWITCH ? 0 : 1; p <= last; p++) {
		struct netlist_port *port = &nl->ports[n->first_port + p];

		if (port->guid == 0)
			port->guid = free_guid(nl, node, n->guid + p);
		if (!fm_hash_put(&nl->by_guid, port->guid, node))
			return false;
	}
	return true;
}

void
netlist_forget_guids(struct netlist *nl, uint32_t node)
{
	const struct netlist_node *n = &nl->nodes[node];

	fm_hash_remove(&nl->by_guid, n->guid);
	for (unsigned p = 0; p <= n->n_ports; p++)
		if (nl->ports[n->first_port + p].guid != 0)
			fm_hash_remove(&nl->by_guid, nl->ports[n->first_port + p].guid);
}

uint32_t
netlist_add(struct netlist *nl, enum netlist_node_type type, const char *id, const char *desc,
    uint64_t guid, unsigned n_ports)
{
	uint32_t node = netlist_add_bare(nl, type, id, strlen(id), desc, strlen(desc), n_ports);

	if (node == NETLIST_NONE)
		return NETLIST_NONE;
	nl->nodes[node].guid = guid;
	return netlist_name_node(nl, node) ? node : NETLIST_NONE;
}

void
netlist_cable(struct netlist *nl, uint32_t node_a, unsigned port_a, uint32_t node_b,
    unsigned port_b, uint32_t lane_mbps)
{
	struct netlist_port *a = netlist_port(nl, node_a, port_a);
	struct netlist_port *b = netlist_port(nl, node_b, port_b);

	assert(port_a >= 1 && port_a <= nl->nodes[node_a].n_ports && a->peer_node == NETLIST_NONE);
	assert(port_b >= 1 && port_b <= nl->nodes[node_b].n_ports && b->peer_node == NETLIST_NONE);
	a->peer_node = node_b;
	a->peer_port = (uint8_t)port_b;
	b->peer_node = node_a;
	b->peer_port = (uint8_t)port_a;
	a->width = b->width = NETLIST_WIDTH;
	a->lane_mbps = b->lane_mbps = lane_mbps;
}

void
netlist_uncable(struct netlist *nl, uint32_t node, unsigned port)
{
	struct netlist_port *a = netlist_port(nl, node, port), *b;

	if (a->peer_node == NETLIST_NONE)
		return;
	b = netlist_port(nl, a->peer_node, a->peer_port);
	a->peer_node = b->peer_node = NETLIST_NONE;
	a->peer_port = b->peer_port = 0;
}
