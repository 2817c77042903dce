/* SPDX-License-Identifier: BSD-2-Clause */
/* core/cabling/of_inventory.c - the fabric that fmd has read, as a file would describe it. */
#include <stdlib.h>
#include <string.h>

#include "core/cabling/cabling.h"
#include "core/inventory/inventory.h"
#include "lib/error.h"

static enum netlist_node_type
type_of(const struct inv_node *n)
{
	return inv_is_switch(n)		  ? NETLIST_SWITCH
	    : n->type == WIRE_NODE_ROUTER ? NETLIST_ROUTER
					  : NETLIST_CA;
}

static bool
add_node(const struct inv_node *n, struct netlist *nl, uint32_t *node)
{
	char id[24];

	*node = NETLIST_NONE;
	if (!n->present || n->n_ports < 1 || n->n_ports > 254)
		return true;
	snprintf(id, sizeof(id), "%c-%016llx", "SHR"[type_of(n)], (unsigned long long)n -> guid);
	*node = netlist_add_bare(
	    nl, type_of(n), id, strlen(id), n->name, strlen(n->name), (unsigned)n->n_ports);
	if (*node == NETLIST_NONE)
		return false;
	nl->nodes[*node].guid = n->guid;
	nl->nodes[*node].system_guid = n->system_guid;
	return netlist_name_node(nl, *node);
}

static void
add_cables(const struct inventory *inv, uint32_t slot, const uint32_t *node, struct netlist *nl)
{
	const struct inv_node *n = inv_node(inv, slot);

	for (unsigned p = 1; p <= n->n_ports; p++) {
		const struct inv_port *port = &n->ports[p];
		uint32_t far = port->edge == EDGE_LOOP ? slot : port->peer;
		struct wire_rate rate = inv_rate(n, p);
		struct netlist_port *at[2];

		if ((port->edge != EDGE_LINKED && port->edge != EDGE_LOOP) || far < slot ||
		    node[far] == NETLIST_NONE || (far == slot && port->peer_port <= p) ||
		    port->peer_port < 1 || port->peer_port > inv_node(inv, far)->n_ports)
			continue;
		at[0] = netlist_port(nl, node[slot], p);
		at[1] = netlist_port(nl, node[far], port->peer_port);
		if (at[0]->peer_node != NETLIST_NONE || at[1]->peer_node != NETLIST_NONE)
			continue; /* the two ends do not agree: todo.h tells of it */
		netlist_cable(nl, node[slot], p, node[far], port->peer_port, rate.lane_mbps);
		at[0]->width = at[1]->width = rate.lanes;
	}
}

int
cabling_of_inventory(const struct inventory *inv, struct netlist *nl, struct fm_error *err)
{
	uint32_t *node = malloc(((size_t)inv->nodes.n + 1) * sizeof(*node));
	bool ok = node != NULL;

	*nl = (struct netlist){ 0 };
	for (uint32_t i = 0; ok && i < inv->nodes.n; i++)
		ok = add_node(inv_node(inv, i), nl, &node[i]);
	for (uint32_t i = 0; ok && i < inv->nodes.n; i++)
		if (node[i] != NETLIST_NONE)
			add_cables(inv, i, node, nl);
	free(node);
	return ok ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for the cables of the fabric");
}
