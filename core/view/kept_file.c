/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes of a view as bytes, and back.  Nothing of a file is believed: each node, port, LID and
 * cable is looked at, and a cable has to be told of by both its ends.
 *
 *	head	struct sa_kept_head
 *	nodes	struct file_node, and its ports: struct file_port
 *
 * Of a switch only those ports are there that have a cable, and port 0; of a port what paths need.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/graph/graph_diff.h"
#include "core/view/kept.h"
#include "lib/error.h"
#include "lib/printable.h"

#define LID_UNICAST_END 0xC000

struct file_node {
	uint8_t info[WIRE_SMP_DATA_BYTES], desc[64]; /* NodeInfo, NodeDescription */
	uint16_t fdb_top, unused;		     /* switches: LinearFDBTop */
	uint32_t n_ports;			     /* so many of them follow */
};
struct file_port {
	uint64_t guid, peer; /* peer: GUID of the node, 0: none */
	uint32_t caps;
	uint16_t caps2, lid;
	uint8_t port, peer_port, lmc, state, mtu_cap, neighbor_mtu, width, speed, ext, ext2;
	uint8_t unused[6];
};

uint64_t
sa_kept_mark(const struct sa_settings *set)
{
	uint64_t mark = set->partitions != NULL ? partitions_mark(set->partitions) : 0;

	return fm_mix64(mark ^ fm_mix64(set->gid_prefix));
}

/* ------------------------------------------------------------------- save */

/* Switches that the plan has no use for are not in the file of its tables either. */
static bool
is_saved(const struct sa_view *v, uint32_t slot)
{
	const struct sa_node *n = slot < v->n_nodes ? v->node[slot] : NULL;
	const struct fm_fabric *fab = &v->plan->snap->fab;

	return n != NULL &&
	    (n->info.node_type != WIRE_NODE_SWITCH ||
		(n->sw_index < fab->n_switches && !graph_is_gone(fab, n->sw_index)));
}

static bool
is_cabled(const struct sa_view *v, const struct sa_port *p)
{
	return p->known && p->peer != INV_NONE && is_saved(v, p->peer);
}

static bool
is_saved_port(const struct sa_view *v, const struct sa_node *n, unsigned port)
{
	const struct sa_port *p = &n->port[port];

	return is_cabled(v, p) || (port == 0 && p->known && n->info.node_type == WIRE_NODE_SWITCH);
}

static uint32_t
count_ports(const struct sa_view *v, const struct sa_node *n)
{
	uint32_t n_ports = 0;

	for (unsigned p = 0; p <= n->n_ports; p++)
		n_ports += is_saved_port(v, n, p);
	return n_ports;
}

static size_t
bytes_of(const struct sa_view *v)
{
	size_t n = sizeof(struct sa_kept_head);

	for (uint32_t i = 0; i < v->n_nodes; i++)
		if (is_saved(v, i))
			n += sizeof(struct file_node) +
			    count_ports(v, v->node[i]) * sizeof(struct file_port);
	return n;
}

static uint8_t *
put_port(const struct sa_view *v, const struct sa_node *n, unsigned port, uint8_t *at)
{
	const struct sa_port *p = &n->port[port];
	struct file_port one = { .guid = p->guid,
		.caps = p->info.capability_mask,
		.caps2 = p->info.capability_mask2,
		.lid = p->lid,
		.port = (uint8_t)port,
		.lmc = p->lmc,
		.state = p->info.port_state,
		.mtu_cap = p->info.mtu_cap,
		.neighbor_mtu = p->info.neighbor_mtu,
		.width = p->info.link_width_active,
		.speed = p->info.link_speed_active,
		.ext = p->info.link_speed_ext_active,
		.ext2 = p->info.link_speed_ext_active2 };

	if (is_cabled(v, p)) {
		one.peer = v->node[p->peer]->info.node_guid;
		one.peer_port = p->peer_port;
	}
	memcpy(at, &one, sizeof(one));
	return at + sizeof(one);
}

static uint8_t *
put_node(const struct sa_view *v, const struct sa_node *n, uint8_t *at)
{
	struct file_node one = { .n_ports = count_ports(v, n) };

	wire_node_info_put(one.info, &n->info);
	one.fdb_top = n->info.node_type == WIRE_NODE_SWITCH ? n->sw.linear_fdb_top : 0;
	memcpy(one.desc, n->desc, sizeof(one.desc));
	memcpy(at, &one, sizeof(one));
	at += sizeof(one);
	for (unsigned p = 0; p <= n->n_ports; p++)
		if (is_saved_port(v, n, p))
			at = put_port(v, n, p, at);
	return at;
}

int
sa_kept_save(const char *path, const struct sa_view *v, uint64_t *sum, struct fm_error *err)
{
	struct sa_kept_head h = { .mark = sa_kept_mark(&v->set) };
	uint8_t *bytes, *at;
	size_t n;
	int rc = 0;

	if (v->plan == NULL) {
		unlink(path);
		*sum = 0;
		return 0;
	}
	n = bytes_of(v);
	bytes = malloc(n);
	if (bytes == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory to keep the nodes");
	memcpy(bytes, &h, sizeof(h));
	at = bytes + sizeof(h);
	for (uint32_t i = 0; i < v->n_nodes; i++)
		if (is_saved(v, i))
			at = put_node(v, v->node[i], at);
	fm_seal_put(bytes, n, SA_KEPT_MAGIC);
	memcpy(&h, bytes, sizeof(h));
	if (h.seal.sum != *sum)
		rc = fm_seal_write(path, "nodes", bytes, n, err);
	*sum = rc == 0 ? h.seal.sum : 0;
	free(bytes);
	return rc;
}

/* ------------------------------------------------------------------- read */

struct cursor {
	const uint8_t *at, *end;
	struct inventory *inv;
	bool no_memory;
};

static bool
read_bytes(struct cursor *c, void *to, size_t n)
{
	if ((size_t)(c->end - c->at) < n)
		return false;
	memcpy(to, c->at, n);
	c->at += n;
	return true;
}

static bool
is_lid(uint16_t lid, uint8_t lmc)
{
	return lid != 0 && lmc <= 7 && (lid & ((1u << lmc) - 1)) == 0 &&
	    lid + (1u << lmc) <= LID_UNICAST_END;
}

static bool
take_port(struct cursor *c, uint32_t slot)
{
	struct inv_node *n = inv_node(c->inv, slot);
	struct inv_port *p;
	struct file_port one;

	if (!read_bytes(c, &one, sizeof(one)) || one.port > n->n_ports ||
	    (one.port == 0 && !inv_is_switch(n)))
		return false;
	p = &n->ports[one.port];
	if (p->known || (one.peer != 0 && one.port == 0))
		return false;
	p->info = (struct wire_port_info){ .capability_mask = one.caps,
		.capability_mask2 = one.caps2,
		.port_state = one.state,
		.mtu_cap = one.mtu_cap,
		.neighbor_mtu = one.neighbor_mtu,
		.link_width_active = one.width,
		.link_speed_active = one.speed,
		.link_speed_ext_active = one.ext,
		.link_speed_ext_active2 = one.ext2,
		.operational_vls = 1 };
	p->known = true;
	if (inv_is_switch(n) && one.port != 0)
		return true;
	if (!is_lid(one.lid, one.lmc) || one.guid == 0)
		return one.lid == 0; /* it had none, and nobody is told of it */
	p->lid = one.lid;
	p->lmc = one.lmc;
	c->no_memory = !inv_set_port_guid(c->inv, slot, one.port, one.guid);
	return !c->no_memory;
}

static bool
take_node(struct cursor *c)
{
	struct wire_node_info info;
	struct file_node one;
	struct inv_node *n;
	uint32_t slot;

	if (!read_bytes(c, &one, sizeof(one)))
		return false;
	wire_node_info_get(one.info, &info);
	if (info.node_type < WIRE_NODE_CA || info.node_type > WIRE_NODE_ROUTER ||
	    info.n_ports == 0 || info.n_ports > INV_PORTS_MAX || info.node_guid == 0 ||
	    inv_find(c->inv, info.node_guid) != INV_NONE || one.n_ports > info.n_ports + 1u)
		return false;
	slot = inv_add(c->inv, &info);
	c->no_memory = slot == INV_NONE;
	if (c->no_memory)
		return false;
	n = inv_node(c->inv, slot);
	n->present = true;
	inv_describe(c->inv, slot, one.desc);
	if (inv_is_switch(n)) {
		n->sw.linear_fdb_top = one.fdb_top;
		n->sw_known = true;
		n->sw_index = (uint32_t)c->inv->switches.n;
		c->no_memory = !fm_vec_push(&c->inv->switches, slot);
	}
	for (uint32_t i = 0; i < one.n_ports && !c->no_memory; i++)
		if (!take_port(c, slot))
			return false;
	return !c->no_memory;
}

/* What each end says of the other, one after the other as they lie there. */
static bool
take_cables(struct cursor *c)
{
	for (uint32_t slot = 0; slot < c->inv->nodes.n; slot++) {
		struct file_node node;
		struct file_port one;

		if (!read_bytes(c, &node, sizeof(node)))
			return false;
		for (uint32_t i = 0; i < node.n_ports; i++) {
			struct inv_port *p;

			if (!read_bytes(c, &one, sizeof(one)))
				return false;
			p = &inv_node(c->inv, slot)->ports[one.port];
			if (one.peer == 0)
				continue;
			p->peer = inv_find(c->inv, one.peer);
			p->peer_port = one.peer_port;
			if (p->peer == INV_NONE || p->peer == slot ||
			    p->peer_port > inv_node(c->inv, p->peer)->n_ports)
				return false;
			p->edge = EDGE_LINKED;
		}
	}
	return true;
}

/* Do both ends of every cable say so? */
static bool
cables_fit(const struct inventory *inv)
{
	for (uint32_t i = 0; i < inv->nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(inv, i)->n_ports; p++) {
			const struct inv_port *a = &inv_node(inv, i)->ports[p], *b;

			if (a->edge != EDGE_LINKED)
				continue;
			b = &inv_node(inv, a->peer)->ports[a->peer_port];
			if (b->edge != EDGE_LINKED || b->peer != i || b->peer_port != p)
				return false;
		}
	return true;
}

bool
sa_kept_read(const uint8_t *bytes, size_t n, struct inventory *inv, bool *no_memory)
{
	const uint8_t *first = bytes + sizeof(struct sa_kept_head);
	struct cursor c = { .at = first, .end = bytes + n, .inv = inv };
	bool good = true;

	while (good && c.at < c.end)
		good = take_node(&c);
	c.at = first;
	good = good && take_cables(&c) && cables_fit(inv);
	*no_memory = c.no_memory;
	return good;
}
