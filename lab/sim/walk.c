/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a packet finds its way.  A directed route is a walk over live[], one
 * look-up a hop; a LID-routed one asks the LFT of every switch.  A mixed SMP
 * (IBA 14.2.2) is LID-routed to the switch that has its DLID when DrSLID is
 * not permissive, directed from there, and LID-routed on to DrDLID when that
 * is not permissive; the answer takes the parts backwards.
 *
 * P_Keys say who may talk to whom: two match when their lower 15 bits do and
 * one of them is a full member's (IBA 10.9.3).  A switch port that enforces has
 * the table of the host behind it, so there the lower 15 bits decide: else no
 * limited member could send.  A table that nobody has written holds the
 * default, full.
 */
#include "lab/sim/fabric.h"

#include "lab/sim/pma.h"

/* ---- P_Keys */

#define DEFAULT_FULL 0xffff
#define BASE 0x7fff
#define FULL 0x8000
#define N_KEYS (SIM_PKEY_BLOCKS * 32)

uint16_t
port_pkey(const struct sim_fabric *f, uint32_t port, unsigned index)
{
	const struct sim_port_tables *t = f->ports[port].tables;

	if (index >= N_KEYS)
		return 0;
	if (t == NULL)
		return index == 0 ? DEFAULT_FULL : 0;
	return wire_get16(&t->pkeys[index / 32][2 * (index % 32)]);
}

int
port_find_pkey(const struct sim_fabric *f, uint32_t port, uint16_t pkey)
{
	for (unsigned i = 0; i < N_KEYS; i++) {
		uint16_t own = port_pkey(f, port, i);

		if ((own & BASE) != 0 && ((own ^ pkey) & BASE) == 0 && ((own | pkey) & FULL))
			return (int)i;
	}
	return -1;
}

bool
port_passes_pkey(const struct sim_fabric *f, uint32_t port, uint16_t pkey)
{
	return port_find_pkey(f, port, pkey | FULL) >= 0;
}

/* ---- LIDs */

static uint16_t
port_lid(const struct sim_port *p)
{
	return wire_get16(&p->info[PORT_INFO_LID]);
}

static bool
has_lid(const struct sim_port *p, uint16_t lid)
{
	uint8_t lmc = p->info[PORT_INFO_PROTECT_LMC] & 7;
	uint16_t base = port_lid(p);

	return base != 0 && lid >= base && lid < base + (1u << lmc);
}

/* The port of the node whose LIDs a packet from here carries. */
static struct sim_port *
end_port(const struct sim_fabric *f, struct sim_place at)
{
	bool is_switch = f->nodes[at.node].type == WIRE_NODE_SWITCH;

	return fabric_port(f, at.node, is_switch ? 0 : at.port);
}

uint16_t
place_lid(const struct sim_fabric *f, struct sim_place at)
{
	return port_lid(end_port(f, at));
}

/* Out through a port, in at the other end; false when the link is not there. */
static inline bool
cross(const struct sim_fabric *f, struct sim_way *way, unsigned egress)
{
	const struct sim_node *n = &f->nodes[way->at.node];
	uint32_t peer;

	if (egress == 0 || egress > n->n_ports)
		return false;
	peer = f->live[n->first_port + egress];
	if (peer == SIM_NONE)
		return false;
	if (way->bytes > 0)
		pma_carry(
		    f, n->first_port + egress, peer, way->bytes, way->packets, way->is_multicast);
	if (way->out != NULL)
		way->out[way->n_hops] = n->first_port + egress;
	way->at.node = f->port_node[peer];
	way->at.port = (uint8_t)(peer - f->nodes[way->at.node].first_port);
	way->n_hops++;
	return true;
}

unsigned
switch_ports_to(
    const struct sim_fabric *f, const struct sim_node *n, uint16_t lid, uint8_t port[254])
{
	const uint8_t *ports = adaptive_ports(n->adaptive, lid);
	unsigned count = 0;

	for (unsigned p = 1; ports != NULL && p <= n->n_ports && p < 255; p++)
		if ((ports[p / 8] >> (p % 8) & 1) != 0 && f->live[n->first_port + p] != SIM_NONE &&
		    port_state(&f->ports[n->first_port + p]) == WIRE_PORT_ACTIVE)
			port[count++] = (uint8_t)p;
	return count;
}

/* The switch's way out for a LID: 0 = itself, 255 = nowhere. */
static uint8_t
forward(const struct sim_fabric *f, const struct sim_way *way, uint16_t lid)
{
	const struct sim_node *n = &f->nodes[way->at.node];
	uint8_t port[254];
	unsigned n_ports = way->draw != 0 ? switch_ports_to(f, n, lid, port) : 0;

	if (n_ports > 0)
		return port[fm_mix64(way->draw + way->n_hops) % n_ports];
	if (lid > wire_get16(&n->switch_info[SWITCH_INFO_TOP]) || lid >= n->lft.n)
		return 255;
	return n->lft.item[lid];
}

/* A cable that is crossed is in INIT at least, at both ends (link.c). */
static bool
has_state(const struct sim_fabric *f, struct sim_place at, uint8_t min_state)
{
	return min_state <= WIRE_PORT_INIT ||
	    port_state(fabric_port(f, at.node, at.port)) >= min_state;
}

/* NeighborMTU of the port it leaves by: codes 1..5 are 256..4096 bytes. */
static bool
fits(const struct sim_fabric *f, struct sim_place at, uint16_t mtu)
{
	if (mtu == 0)
		return true; /* an SMP: of most switches on its way this port is in no cache */
	return mtu <= 128u << (fabric_port(f, at.node, at.port)->info[PORT_INFO_MTU_SMSL] >> 4);
}

static void
drop(const struct sim_fabric *f, struct sim_way *way, struct sim_place at, enum sim_counter counter)
{
	way->dropped.port = f->nodes[at.node].first_port + at.port;
	way->dropped.counter = counter;
	if (way->bytes > 0)
		pma_count(f, way->dropped.port, counter, way->packets);
}

/* A switch port with a P_Key table of its own turns away what is not in it. */
static bool
is_turned_away(const struct sim_fabric *f, struct sim_place at, uint8_t which, struct sim_way *way)
{
	const struct sim_node *n = &f->nodes[at.node];
	const struct sim_port *p = fabric_port(f, at.node, at.port);

	if (way->pkey == 0 || n->type != WIRE_NODE_SWITCH || at.port == 0 ||
	    !(p->info[PORT_INFO_VLS_ENFORCE] & which) ||
	    port_passes_pkey(f, n->first_port + at.port, way->pkey))
		return false;
	way->bad_pkey = true;
	way->at = at;
	drop(f, way, at,
	    which == PORT_INFO_ENFORCE_IN ? COUNT_RCV_CONSTRAINT : COUNT_XMIT_CONSTRAINT);
	return true;
}

/* Out of a switch or an end; what cannot leave is counted where it is dropped. */
static bool
leave(const struct sim_fabric *f, struct sim_way *way, uint8_t egress, uint8_t min_state)
{
	struct sim_place from = way->at, out = { from.node, egress };

	if (egress <= f->nodes[from.node].n_ports && has_state(f, out, min_state) &&
	    fits(f, out, way->mtu)) {
		if (is_turned_away(f, out, PORT_INFO_ENFORCE_OUT, way))
			return false;
		if (cross(f, way, egress))
			return !is_turned_away(f, way->at, PORT_INFO_ENFORCE_IN, way);
	}
	if (egress > f->nodes[from.node].n_ports)
		drop(f, way, from, COUNT_RELAY_ERRORS);
	else
		drop(f, way, out, COUNT_XMIT_DISCARDS);
	return false;
}

bool
walk_lid(const struct sim_fabric *f, uint16_t lid, uint8_t min_state, struct sim_way *way)
{
	const struct sim_node *n = &f->nodes[way->at.node];
	uint8_t egress;

	way->slid = place_lid(f, way->at);
	way->dropped.port = SIM_NONE;
	if (has_lid(end_port(f, way->at), lid))
		return true; /* its own: never leaves the node */
	for (unsigned hop = 0; hop < SIM_LID_HOPS_MAX; hop++) {
		egress = n->type == WIRE_NODE_SWITCH ? forward(f, way, lid) : way->at.port;
		if (n->type == WIRE_NODE_SWITCH && egress == 0) {
			way->at.port = 0;
			return has_lid(fabric_port(f, way->at.node, 0), lid);
		}
		if (!leave(f, way, egress, min_state))
			return false;
		n = &f->nodes[way->at.node];
		if (!has_state(f, way->at, min_state))
			return false;
		if (n->type != WIRE_NODE_SWITCH)
			return has_lid(fabric_port(f, way->at.node, way->at.port), lid);
	}
	return false;
}

/* The directed part outward: egress ports are read, ingress ports written. */
static bool
walk_out(const struct sim_fabric *f, uint8_t *mad, struct sim_way *way)
{
	const uint8_t *initial = mad + WIRE_DR_INITIAL_PATH_AT;
	bool from_switch = f->nodes[way->at.node].type == WIRE_NODE_SWITCH;
	uint8_t *back = mad + WIRE_DR_RETURN_PATH_AT;
	unsigned n_hops = mad[MAD_HOP_COUNT];

	if (n_hops > SIM_DR_HOPS_MAX || mad[MAD_HOP_POINTER] != 0)
		return false;
	if (n_hops > 0 && !from_switch && initial[1] != way->at.port)
		return false; /* a CA sends on the port that it was given the SMP for */
	way->n_directed = n_hops;
	for (unsigned hop = 1; hop <= n_hops; hop++) {
		/* Only switches pass SMPs on. */
		if (hop > 1 && f->nodes[way->at.node].type != WIRE_NODE_SWITCH)
			return false;
		if (!cross(f, way, initial[hop]))
			return false;
		back[hop] = way->at.port;
	}
	mad[MAD_HOP_POINTER] = (uint8_t)(n_hops + 1);
	return true;
}

bool
walk_request(const struct sim_fabric *f, uint8_t *mad, uint16_t dlid, struct sim_way *way)
{
	uint16_t last;

	way->n_hops = way->n_directed = 0;
	way->slid = WIRE_LID_PERMISSIVE;
	if (mad[MAD_CLASS] != WIRE_CLASS_SMP_DR)
		return walk_lid(f, dlid, f->smp_state, way) &&
		    !(f->nodes[way->at.node].no_lid_smps && mad[MAD_METHOD] <= WIRE_SET);
	if (wire_get16(&mad[MAD_DR_SLID]) != WIRE_LID_PERMISSIVE &&
	    (f->no_mixed_smps || !walk_lid(f, dlid, f->smp_state, way) ||
		f->nodes[way->at.node].type != WIRE_NODE_SWITCH ||
		f->nodes[way->at.node].no_mixed_smps))
		return false;
	way->slid = WIRE_LID_PERMISSIVE;
	if (!walk_out(f, mad, way))
		return false;
	last = wire_get16(&mad[MAD_DR_DLID]);
	return last == WIRE_LID_PERMISSIVE || walk_lid(f, last, f->smp_state, way);
}

static bool
walk_back(const struct sim_fabric *f, uint8_t *mad, struct sim_way *way)
{
	const uint8_t *back = mad + WIRE_DR_RETURN_PATH_AT;

	if (mad[MAD_HOP_COUNT] > SIM_DR_HOPS_MAX)
		return false;
	way->n_directed = mad[MAD_HOP_COUNT];
	for (unsigned hop = mad[MAD_HOP_COUNT]; hop >= 1; hop--)
		if (!cross(f, way, back[hop]))
			return false;
	mad[MAD_HOP_POINTER] = 0;
	return true;
}

bool
walk_reply(const struct sim_fabric *f, uint8_t *mad, uint16_t dlid, struct sim_way *way)
{
	uint16_t home;

	way->n_hops = way->n_directed = 0;
	if (mad[MAD_CLASS] != WIRE_CLASS_SMP_DR)
		return walk_lid(f, dlid, f->smp_state, way);
	if (wire_get16(&mad[MAD_DR_DLID]) != WIRE_LID_PERMISSIVE &&
	    !walk_lid(f, dlid, f->smp_state, way))
		return false;
	way->slid = WIRE_LID_PERMISSIVE;
	if (!walk_back(f, mad, way))
		return false;
	home = wire_get16(&mad[MAD_DR_SLID]);
	return home == WIRE_LID_PERMISSIVE || walk_lid(f, home, f->smp_state, way);
}

/* ---- multicast */

#define MLID_FIRST 0xC000
#define COPIES_MAX 4 /* of a packet, per port of the fabric; more is a loop */

/* Does the switch send packets to the MLID out of this port? */
static bool
is_in_mft(const struct sim_node *n, uint16_t mlid, unsigned port)
{
	size_t n_blocks = SIM_MCAST_CAP / 32, index = mlid - MLID_FIRST;
	size_t block = (port / 16) * n_blocks + index / 32;

	return n->mft != NULL && index < SIM_MCAST_CAP &&
	    wire_get16(n->mft + block * 64 + 2 * (index % 32)) >> (port % 16) & 1;
}

struct copies {
	FM_VEC(struct sim_way) under_way;
	uint32_t left;
	bool failed; /* a loop, or no memory */
};

static void
send_copy(const struct sim_fabric *f, struct copies *c, const struct sim_way *from, uint8_t egress)
{
	struct sim_way way = *from;

	if (!leave(f, &way, egress, WIRE_PORT_ACTIVE) || !has_state(f, way.at, WIRE_PORT_ACTIVE))
		return;
	if (c->left-- == 0 || !fm_vec_push(&c->under_way, way))
		c->failed = true;
}

bool
walk_multicast(const struct sim_fabric *f, uint16_t mlid, const struct sim_way *from,
    walk_reach_fn reach, void *arg)
{
	struct copies c = { .left = COPIES_MAX * f->n_ports };
	struct sim_way start = *from;

	start.slid = place_lid(f, from->at);
	start.is_multicast = true;
	if (f->nodes[start.at.node].type == WIRE_NODE_SWITCH)
		c.failed = !fm_vec_push(&c.under_way, start);
	else
		send_copy(f, &c, &start, start.at.port);
	while (c.under_way.n > 0 && !c.failed) {
		struct sim_way way = c.under_way.item[--c.under_way.n];
		const struct sim_node *n = &f->nodes[way.at.node];

		if (n->type != WIRE_NODE_SWITCH) {
			reach(arg, &way);
			continue;
		}
		for (unsigned p = 1; p <= n->n_ports; p++)
			if (p != way.at.port && is_in_mft(n, mlid, p))
				send_copy(f, &c, &way, (uint8_t)p);
		if (way.n_hops > 0 && is_in_mft(n, mlid, 0)) {
			way.at.port = 0;
			reach(arg, &way);
		}
	}
	fm_vec_fini(&c.under_way);
	return !c.failed;
}
