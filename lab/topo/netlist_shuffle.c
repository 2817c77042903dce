/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same fabric told differently: nodes in random order, with new GUIDs and
 * names; shuffled, the ports of each switch renumbered, too.  What routes a fabric
 * well must route this one as well.  LIDs are dropped.  What was one system, by its
 * SystemImageGUID, is one still.  An aggregation node stays on the last port of its
 * switch, where it is recognised.  O(ports).
 */
#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "lib/hash.h"
#include "lib/rng.h"
#include "lib/vec.h"

struct shuffle {
	const struct netlist *in;
	struct netlist out;
	struct fm_rng rng;
	bool keeps_ports;
	FM_VEC(uint32_t) order; /* [n_nodes] old index of the new node */
	FM_VEC(uint32_t) at;	/* [n_nodes] new index of the old node */
	FM_VEC(uint8_t) port;	/* [n_ports_total] new number of the old port */
};

static bool
alloc_shuffle(struct shuffle *s)
{
	return fm_vec_reserve(&s->order, (size_t)s->in->n_nodes + 1) &&
	    fm_vec_reserve(&s->at, (size_t)s->in->n_nodes + 1) &&
	    fm_vec_reserve(&s->port, s->in->n_ports_total + 1);
}

static bool
has_aggregation(const struct netlist *nl, uint32_t node)
{
	uint32_t peer = netlist_port(nl, node, nl->nodes[node].n_ports)->peer_node;

	return peer != NETLIST_NONE && nl->nodes[peer].aggregation;
}

static void
draw_ports(struct shuffle *s, uint32_t node)
{
	const struct netlist_node *n = &s->in->nodes[node];
	uint8_t *port = &s->port.item[n->first_port];
	uint32_t n_free = n->n_ports;

	for (unsigned p = 0; p <= n->n_ports; p++)
		port[p] = (uint8_t)p;
	if (n->type != NETLIST_SWITCH || s->keeps_ports)
		return;
	n_free -= has_aggregation(s->in, node);
	for (uint32_t p = n_free; p > 1; p--) {
		uint32_t q = 1 + fm_rng_below(&s->rng, p);
		uint8_t held = port[p];

		port[p] = port[q];
		port[q] = held;
	}
}

static bool
add_nodes(struct shuffle *s)
{
	char name[32];

	for (uint32_t i = 0; i < s->in->n_nodes; i++) {
		uint32_t j = fm_rng_below(&s->rng, i + 1);

		s->order.item[i] = s->order.item[j];
		s->order.item[j] = i;
	}
	for (uint32_t i = 0; i < s->in->n_nodes; i++) {
		const struct netlist_node *n = &s->in->nodes[s->order.item[i]];

		snprintf(name, sizeof(name), "%s%u", n->aggregation ? "AN" : "node-", i + 1);
		if (netlist_add(&s->out, n->type, name, name, 0, n->n_ports) == NETLIST_NONE)
			return false;
		s->out.nodes[i].aggregation = n->aggregation;
		s->out.nodes[i].enhanced_port0 = n->enhanced_port0;
		s->at.item[s->order.item[i]] = i;
		draw_ports(s, s->order.item[i]);
	}
	return true;
}

/* A SystemImageGUID is called by the first of its nodes in the new order, which is as
 * good a name as any: systems are told apart by it, and by nothing else. */
static bool
name_systems(struct shuffle *s)
{
	struct fm_hash first = { 0 }; /* old SystemImageGUID -> new node */
	bool ok = fm_hash_reserve(&first, s->in->n_nodes);

	for (uint32_t i = 0; ok && i < s->in->n_nodes; i++) {
		const struct netlist_node *n = &s->in->nodes[s->order.item[i]];
		uint64_t was = n->system_guid != 0 ? n->system_guid : n->guid;
		uint32_t node = fm_hash_find(&first, was);

		if (node != FM_HASH_NONE)
			s->out.nodes[i].system_guid = s->out.nodes[node].guid;
		else
			ok = fm_hash_put(&first, was, i);
	}
	fm_hash_fini(&first);
	return ok;
}

static void
add_cables(struct shuffle *s)
{
	const struct netlist *in = s->in;

	for (uint32_t i = 0; i < in->n_nodes; i++)
		for (unsigned p = 1; p <= in->nodes[i].n_ports; p++) {
			const struct netlist_port *port = netlist_port(in, i, p);
			uint32_t peer = port->peer_node, a = s->at.item[i];
			unsigned near = s->port.item[in->nodes[i].first_port + p], far;

			if (peer == NETLIST_NONE ||
			    netlist_port(&s->out, a, near)->peer_node != NETLIST_NONE)
				continue;
			far = s->port.item[in->nodes[peer].first_port + port->peer_port];
			netlist_cable(&s->out, a, near, s->at.item[peer], far, port->lane_mbps);
			netlist_port(&s->out, a, near)->width = port->width;
			netlist_port(&s->out, s->at.item[peer], far)->width = port->width;
		}
}

static int
write_shuffled(struct shuffle *s, uint64_t seed, struct netlist *out, struct fm_error *err)
{
	int rc = 0;

	fm_rng_seed(&s->rng, seed);
	if (!alloc_shuffle(s) || !add_nodes(s) || !name_systems(s))
		rc = fm_fail(err, FM_E_RESOURCE, "no memory for the shuffled fabric");
	else
		add_cables(s);
	fm_vec_fini(&s->order);
	fm_vec_fini(&s->at);
	fm_vec_fini(&s->port);
	if (rc != 0)
		netlist_fini(&s->out);
	else
		*out = s->out;
	return rc;
}

int
netlist_shuffle(const struct netlist *in, uint64_t seed, struct netlist *out, struct fm_error *err)
{
	return write_shuffled(&(struct shuffle){ .in = in }, seed, out, err);
}

int
netlist_rename(const struct netlist *in, uint64_t seed, struct netlist *out, struct fm_error *err)
{
	return write_shuffled(&(struct shuffle){ .in = in, .keeps_ports = true }, seed, out, err);
}
