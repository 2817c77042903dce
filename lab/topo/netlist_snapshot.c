/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a netlist to the graph that engines see.
 *
 * Switches are added in ascending GUID order; a cabled CA or router port is
 * an end, so is every switch's port 0.  LIDs of the file are kept where they
 * can be; the others go leaf by leaf: switches in the order of
 * switch_order(), of each its own port first, then its ends by port.
 * O(ports + switches log switches).
 */
#include "lab/topo/netlist.h"

#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/graph/switch_order.h"
#include "core/subnet/lid.h"
#include "lib/error.h"

struct made {
	const struct netlist *nl;
	const struct netlist_view *view;
	struct fm_arena mem;
	struct snapshot_builder b;
	uint32_t *sw_of;   /* [n_nodes] switch index, FM_NONE for CAs and routers */
	uint32_t *sw_node; /* [n_switches] node index */
	uint32_t n_switches;
	uint32_t *first_link; /* [n_switches + 1] CSR of cables between switches */
	uint32_t *link_to;
	uint8_t *is_leaf; /* [n_switches] has a CA or router that is no aggregation node */
	uint32_t *order;  /* [n_switches] in which LIDs are handed out */
};

static int
no_memory(struct fm_error *err)
{
	return fm_fail(
	    err, FM_E_RESOURCE, "out of memory while building a snapshot of a fabric file");
}

struct guid_node {
	uint64_t guid;
	uint32_t node;
};

static int
by_guid(const void *a, const void *b)
{
	const struct guid_node *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static int
number_switches(struct made *m, struct fm_error *err)
{
	const struct netlist *nl = m->nl;
	struct guid_node *sorted =
	    fm_arena_array(&m->mem, (size_t)nl->n_nodes + 1, struct guid_node);
	uint32_t n = 0;

	m->sw_of = fm_arena_array(&m->mem, (size_t)nl->n_nodes + 1, uint32_t);
	m->sw_node = fm_arena_array(&m->mem, (size_t)nl->n_nodes + 1, uint32_t);
	if (sorted == NULL || m->sw_of == NULL || m->sw_node == NULL)
		return no_memory(err);
	for (uint32_t i = 0; i < nl->n_nodes; i++) {
		m->sw_of[i] = FM_NONE;
		if (nl->nodes[i].type == NETLIST_SWITCH)
			sorted[n++] = (struct guid_node){ nl->nodes[i].guid, i };
	}
	qsort(sorted, n, sizeof(*sorted), by_guid);
	for (uint32_t sw = 0; sw < n; sw++) {
		m->sw_node[sw] = sorted[sw].node;
		m->sw_of[sorted[sw].node] = sw;
	}
	m->n_switches = n;
	return 0;
}

static const char *
name_of(const struct netlist_node *n)
{
	return n->desc[0] != '\0' ? n->desc : n->id;
}

static uint64_t
system_of(const struct netlist_node *n)
{
	return n->system_guid != 0 ? n->system_guid : n->guid;
}

static int
add_switches(struct made *m, struct fm_error *err)
{
	for (uint32_t sw = 0; sw < m->n_switches; sw++) {
		const struct netlist_node *n = &m->nl->nodes[m->sw_node[sw]];
		struct snapshot_switch s = { .guid = n->guid,
			.system_guid = system_of(n),
			.name = name_of(n),
			.n_ports = n->n_ports,
			.vendor_id = n->vendor_id & 0xffffff,
			.device_id = (uint16_t)n->device_id,
			.ar_groups = SNAPSHOT_AR_UNKNOWN };

		if (!fm_vec_push(&m->b.switches, s))
			return no_memory(err);
	}
	return 0;
}

/* Neighbours of the switches, and which of them are leaves. */
static int
find_leaves(struct made *m, struct fm_error *err)
{
	uint32_t n_links = 0;

	m->first_link = fm_arena_array(&m->mem, (size_t)m->n_switches + 1, uint32_t);
	m->link_to = fm_arena_array(&m->mem, m->nl->n_ports_total + 1, uint32_t);
	m->is_leaf = fm_arena_array(&m->mem, (size_t)m->n_switches + 1, uint8_t);
	m->order = fm_arena_array(&m->mem, (size_t)m->n_switches + 1, uint32_t);
	if (m->first_link == NULL || m->link_to == NULL || m->is_leaf == NULL || m->order == NULL)
		return no_memory(err);
	for (uint32_t sw = 0; sw < m->n_switches; sw++) {
		for (unsigned p = 1; p <= m->nl->nodes[m->sw_node[sw]].n_ports; p++) {
			uint32_t peer = netlist_port(m->nl, m->sw_node[sw], p)->peer_node;

			if (peer == NETLIST_NONE)
				continue;
			if (m->sw_of[peer] != FM_NONE)
				m->link_to[n_links++] = m->sw_of[peer];
			else if (!m->nl->nodes[peer].aggregation)
				m->is_leaf[sw] = 1;
		}
		m->first_link[sw + 1] = n_links;
	}
	return switch_order(m->n_switches, m->first_link, m->link_to, m->is_leaf, m->order, err);
}

static uint32_t
port_mbps(const struct netlist_port *p)
{
	return p->width * p->lane_mbps;
}

static int
add_cables(struct made *m, struct fm_error *err)
{
	for (uint32_t sw = 0; sw < m->n_switches; sw++)
		for (unsigned p = 1; p <= m->nl->nodes[m->sw_node[sw]].n_ports; p++) {
			const struct netlist_port *port = netlist_port(m->nl, m->sw_node[sw], p);
			uint32_t far =
			    port->peer_node == NETLIST_NONE ? FM_NONE : m->sw_of[port->peer_node];
			struct snapshot_cable c = { .sw = { sw, far },
				.port = { (uint8_t)p, port->peer_port },
				.n_vls = m->view->n_vls,
				.mbps = port_mbps(port),
				.nominal_mbps = port_mbps(port) };

			if (far == FM_NONE || far < sw || (far == sw && port->peer_port < p))
				continue;
			if (!fm_vec_push(&m->b.cables, c))
				return no_memory(err);
		}
	return 0;
}

/* Port p of node as an end of switch sw (FM_NONE: behind no switch). */
static int
add_end(
    struct made *m, uint32_t node, unsigned p, uint32_t sw, uint8_t sw_port, struct fm_error *err)
{
	const struct netlist_node *n = &m->nl->nodes[node];
	const struct netlist_port *port = netlist_port(m->nl, node, p);
	uint8_t lmc = n->type == NETLIST_SWITCH ? m->view->switch_lmc : m->view->ca_lmc;
	struct snapshot_end e = { .guid = port->guid,
		.node_guid = n->guid,
		.system_guid = system_of(n),
		.name = name_of(n),
		.sw = sw,
		.port = sw_port,
		.lid = m->view->fresh_lids ? 0 : port->lid,
		.lmc = lmc,
		.n_vls = m->view->n_vls,
		.mbps = port_mbps(port) };

	if (e.lid != 0 && port->lmc > lmc)
		e.lmc = port->lmc;
	if (n->type == NETLIST_SWITCH)
		e.kind = FM_END_SWITCH;
	else if (n->aggregation)
		e.kind = FM_END_AGGREGATOR;
	else
		e.kind = n->type == NETLIST_ROUTER ? FM_END_ROUTER : FM_END_CA;
	return fm_vec_push(&m->b.ends, e) ? 0 : no_memory(err);
}

static int
add_ends_of_switch(struct made *m, uint32_t sw, struct fm_error *err)
{
	uint32_t node = m->sw_node[sw];
	int rc = m->nl->nodes[node].absent ? 0 : add_end(m, node, 0, sw, 0, err);

	for (unsigned p = 1; p <= m->nl->nodes[node].n_ports && rc == 0; p++) {
		const struct netlist_port *port = netlist_port(m->nl, node, p);

		if (port->peer_node != NETLIST_NONE && m->sw_of[port->peer_node] == FM_NONE)
			rc = add_end(m, port->peer_node, port->peer_port, sw, (uint8_t)p, err);
	}
	return rc;
}

/* Ends in the order in which LIDs are given; those without a switch last. */
static int
add_ends(struct made *m, struct fm_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->n_switches && rc == 0; i++)
		rc = add_ends_of_switch(m, m->order[i], err);
	for (uint32_t node = 0; node < m->nl->n_nodes; node++) {
		if (m->sw_of[node] != FM_NONE)
			continue;
		for (unsigned p = 1; p <= m->nl->nodes[node].n_ports && rc == 0; p++) {
			uint32_t peer = netlist_port(m->nl, node, p)->peer_node;

			if (peer != NETLIST_NONE && m->sw_of[peer] == FM_NONE)
				rc = add_end(m, node, p, FM_NONE, (uint8_t)p, err);
		}
	}
	return rc;
}

static int
give_lids(struct made *m, struct fm_error *err)
{
	uint32_t n = (uint32_t)m->b.ends.n;
	struct lid_want *wants = fm_arena_array(&m->mem, (size_t)n + 1, struct lid_want);
	int rc;

	if (wants == NULL)
		return no_memory(err);
	for (uint32_t i = 0; i < n; i++)
		wants[i] = (struct lid_want){ .guid = m->b.ends.item[i].guid,
			.lmc = m->b.ends.item[i].lmc,
			.present = m->b.ends.item[i].lid,
			.present_lmc = m->b.ends.item[i].lmc };
	rc = lid_assign(wants, n, true, err);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		m->b.ends.item[i].lid = wants[i].lid;
	return rc;
}

int
netlist_snapshot(const struct netlist *nl, const struct netlist_view *view, struct snapshot **out,
    struct fm_error *err)
{
	struct made m = { .nl = nl, .view = view };
	int rc;

	if (view->n_vls < 1 || view->n_vls > FM_MAX_VLS || view->ca_lmc > 7 || view->switch_lmc > 7)
		return fm_fail(err, FM_E_CONFIG,
		    "%u VLs and LMC %u and %u: 1..%u VLs and LMC 0..7 are possible", view->n_vls,
		    view->ca_lmc, view->switch_lmc, FM_MAX_VLS);
	fm_arena_init(&m.mem, SIZE_MAX);
	rc = number_switches(&m, err);
	if (rc == 0)
		rc = add_switches(&m, err);
	if (rc == 0)
		rc = find_leaves(&m, err);
	if (rc == 0)
		rc = add_cables(&m, err);
	if (rc == 0)
		rc = add_ends(&m, err);
	if (rc == 0)
		rc = give_lids(&m, err);
	if (rc == 0)
		rc = snapshot_build(&m.b, out, err);
	snapshot_builder_fini(&m.b);
	fm_arena_fini(&m.mem);
	return rc;
}

void
netlist_keep_lids(struct netlist *nl, const struct snapshot *snap)
{
	const struct fm_fabric *fab = &snap->fab;

	for (fm_end e = 0; e < fab->n_ends; e++) {
		uint32_t node = fm_hash_find(&nl->by_guid, fab->end_guid[e]);

		if (node == FM_HASH_NONE)
			continue;
		for (unsigned p = 0; p <= nl->nodes[node].n_ports; p++) {
			struct netlist_port *port = netlist_port(nl, node, p);

			if (port->guid != fab->end_guid[e])
				continue;
			port->lid = fab->end_lid[e];
			port->lmc = fab->end_lmc[e];
		}
	}
}
