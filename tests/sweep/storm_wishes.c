/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is wanted of the subnet beside paths: partitions of the administrator's, groups and alias
 * GUIDs of hosts.  Drawn, told to fmd, and looked for in the simulator's nodes in the end.
 *
 * What hosts have registered is told again to an fmd that is started anew: at once where it has
 * been kept, else by each host when it is asked by ClientReregister, or its port comes up.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/mcast/mcast_net.h"
#include "core/subnet/partitions.h"
#include "core/subnet/pkey_table.h"
#include "lab/sim/sma.h"
#include "tests/sweep/storm_internal.h"

#define FIRST_MLID 0xc000u
#define PARTITIONS_MAX 4
#define SLOTS (SIM_PKEY_BLOCKS * PKEYS_PER_BLOCK)
#define ALIASES 7 /* of a block, behind the port's own GUID */

static const struct sim_fabric *
fabric_of(const struct storm *s)
{
	return sim_fabric(s->rig.sim);
}

static bool
is_host(const struct storm *s, uint32_t node)
{
	return !rig_is_switch(&s->rig, node);
}

static uint64_t
guid_of(const struct storm *s, uint32_t node)
{
	return fabric_port(fabric_of(s), node, 1)->guid;
}

/* ---------------------------------------------------------------- drawing */

/* Each host is a full member, a limited one, or none. */
static size_t
write_partition(struct storm *s, unsigned i, char *text, size_t size)
{
	static const char *const kinds[] = { "", "=limited", "=full", "=full" };
	size_t at = (size_t)snprintf(text, size, "P%u=%u : SELF=full", i, i);

	for (uint32_t n = 0; n < s->rig.nl.n_nodes; n++) {
		unsigned kind = fm_rng_below(&s->more, 4);

		if (is_host(s, n) && kind != 0 && n != s->rig.place)
			at += (size_t)snprintf(
			    text + at, size - at, ", 0x%" PRIx64 "%s", guid_of(s, n), kinds[kind]);
	}
	return at + (size_t)snprintf(text + at, size - at, ";\n");
}

static void
draw_partitions(struct storm *s)
{
	struct part_options o = { 0 };
	struct fm_error err = { 0 };
	char text[32768];
	size_t at = (size_t)snprintf(text, sizeof(text), "Default : ALL=%s, SELF=full;\n",
	    fm_rng_below(&s->more, 2) ? "limited" : "full");
	unsigned n = 1 + fm_rng_below(&s->more, PARTITIONS_MAX);

	for (unsigned i = 1; i <= n; i++)
		at += write_partition(s, i, text + at, sizeof(text) - at);
	if (!storm_has(s, HAS_PARTITIONS))
		return;
	ck_assert_msg(
	    partitions_parse("storm", text, at, &o, &s->rig.set.partitions.all, NULL, &err) == 0,
	    "%s", err.msg);
}

static void
draw_group(struct storm *s, struct storm_group *g, unsigned i)
{
	g->mlid = (uint16_t)(FIRST_MLID + i * 40 + fm_rng_below(&s->more, 40));
	g->sl = fm_rng_below(&s->more, 3) == 0;
	for (uint32_t n = 0; n < s->rig.nl.n_nodes; n++) {
		unsigned role = fm_rng_below(&s->more, 6);

		if (is_host(s, n))
			g->roles[n] = role < 3 ? MCAST_RECEIVES | MCAST_SENDS
			    : role == 3	       ? MCAST_RECEIVES
			    : role == 4	       ? MCAST_SENDS
					       : MCAST_OUT;
	}
}

void
wishes_draw(struct storm *s)
{
	ck_assert_uint_le(s->rig.nl.n_nodes, STORM_NODES_MAX);
	draw_partitions(s);
	for (unsigned i = 0; i < STORM_GROUPS; i++)
		draw_group(s, &s->groups[i], i);
	for (uint32_t n = 0; n < s->rig.nl.n_nodes; n++)
		s->has_aliases[n] = fm_rng_below(&s->more, 2) && is_host(s, n);
}

void
wishes_fini(struct storm *s)
{
	partitions_put(s->rig.set.partitions.all);
	s->rig.set.partitions.all = NULL;
}

/* ---------------------------------------------------------------- telling fmd */

static void
fill_aliases(const struct storm *s, uint32_t node, uint64_t guid[8])
{
	guid[0] = guid_of(s, node);
	for (unsigned i = 1; i <= ALIASES; i++)
		guid[i] = i <= 1 + node % ALIASES ? UINT64_C(0xa11a500000000000) + node * 8 + i : 0;
}

static void
join(struct storm *s, const struct storm_group *g, uint32_t node)
{
	ck_assert(
	    sweeper_set_member(s->rig.sweeper, g->mlid, g->sl, guid_of(s, node), g->roles[node]));
}

/* All that a host wants. */
static void
register_host(struct storm *s, uint32_t node)
{
	uint64_t aliases[8];

	s->is_registered[node] = true;
	for (unsigned i = 0; storm_has(s, HAS_GROUPS) && i < STORM_GROUPS; i++)
		if (s->groups[i].roles[node] != MCAST_OUT)
			join(s, &s->groups[i], node);
	if (!storm_has(s, HAS_ALIASES) || !s->has_aliases[node])
		return;
	fill_aliases(s, node, aliases);
	ck_assert(sweeper_set_aliases(s->rig.sweeper, guid_of(s, node), 0, aliases));
}

static const struct sim_port *
port_of(const struct storm *s, uint32_t node)
{
	return fabric_port(fabric_of(s), node, 1);
}

void
wishes_tell(struct storm *s, bool kept)
{
	if (!kept && !s->is_plain)
		sweeper_lost(s->rig.sweeper, 0);
	for (uint32_t n = 0; n < s->rig.nl.n_nodes; n++) {
		s->is_registered[n] = false;
		if (!is_host(s, n))
			continue;
		s->n_asked[n] = port_of(s, n)->n_reregister;
		if (kept)
			register_host(s, n);
	}
}

void
wishes_look_who_registers(struct storm *s)
{
	if (!storm_has(s, HAS_GROUPS) && !storm_has(s, HAS_ALIASES))
		return;
	for (uint32_t n = 0; n < s->rig.nl.n_nodes; n++) {
		bool is_up;

		if (!is_host(s, n))
			continue;
		is_up = port_state(port_of(s, n)) == WIRE_PORT_ACTIVE;
		if (!s->is_registered[n] && is_up &&
		    (!s->was_up[n] || port_of(s, n)->n_reregister != s->n_asked[n]))
			register_host(s, n);
		s->was_up[n] = is_up;
	}
}

void
wishes_change_mind(struct storm *s, const struct event *e)
{
	struct storm_group *g = &s->groups[e->n % STORM_GROUPS];

	if (!storm_has(s, HAS_GROUPS))
		return;
	g->roles[e->node] =
	    g->roles[e->node] == MCAST_OUT ? MCAST_RECEIVES | MCAST_SENDS : MCAST_OUT;
	if (s->is_registered[e->node])
		join(s, g, e->node);
}

/* ---------------------------------------------------------------- in the end */

struct wish_look {
	struct storm *s;
	const bool *reached; /* [n_nodes] */
	char *wrong;
	size_t size;
};
#define SAY(l, ...) (snprintf((l)->wrong, (l)->size, __VA_ARGS__), false)

static const char *
name(const struct wish_look *l, uint32_t node)
{
	return l->s->rig.nl.nodes[node].id;
}

/* The keys that stand in the table of a port, rising; their number. */
static size_t
keys_at(const struct wish_look *l, uint32_t node, unsigned port, uint16_t keys[SLOTS])
{
	bool is_switch = rig_is_switch(&l->s->rig, node);
	struct sim_place at = { node, is_switch ? 0 : (uint8_t)port };
	uint16_t block[PKEYS_PER_BLOCK];
	uint8_t data[64] = { 0 };
	size_t n = 0;

	for (unsigned b = 0; b < SIM_PKEY_BLOCKS; b++) {
		ck_assert(sma_peek(sim_fabric(l->s->rig.sim), at, WIRE_ATTR_PKEY_TABLE,
		    is_switch ? port << 16 | b : b, data));
		wire_pkeys_get(data, block);
		for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++)
			if ((block[i] & PKEY_BASE) != 0)
				keys[n++] = block[i];
	}
	return n;
}

static bool
is_in(const uint16_t *keys, size_t n, uint16_t key)
{
	for (size_t i = 0; i < n; i++)
		if (keys[i] == key)
			return true;
	return false;
}

static bool
keys_are(struct wish_look *l, uint32_t node, unsigned port, const uint16_t *want, size_t n_want)
{
	uint16_t held[SLOTS];
	size_t n = keys_at(l, node, port, held);

	for (size_t i = 0; i < n_want; i++)
		if (!is_in(held, n, want[i]))
			return SAY(
			    l, "%s port %u has not the P_Key 0x%04x", name(l, node), port, want[i]);
	return n == n_want ||
	    SAY(l, "%s port %u has %zu P_Keys, not %zu", name(l, node), port, n, n_want);
}

/* The switch port before a host lets pass what the host is in. */
static bool
guard_is_true(struct wish_look *l, uint32_t far, const uint16_t *want, size_t n_want)
{
	const struct sim_fabric *f = fabric_of(l->s);
	uint32_t node = f->port_node[far];
	unsigned port = port_number(f, far);
	bool enforced = l->s->rig.set.partitions.all != NULL;
	struct wire_port_info info;

	sim_port_info(l->s->rig.sim, node, port, &info);
	if (info.partition_enforce_in != enforced || info.partition_enforce_out != enforced)
		return SAY(l, "%s port %u enforces partitions in %u, out %u", name(l, node), port,
		    info.partition_enforce_in, info.partition_enforce_out);
	return !enforced || keys_are(l, node, port, want, n_want);
}

static bool
host_keys_are_true(struct wish_look *l, uint32_t node)
{
	const struct sim_fabric *f = fabric_of(l->s);
	struct part_port port = { guid_of(l->s, node), PART_CA, node == l->s->rig.place };
	uint32_t far = f->live[f->nodes[node].first_port + 1];
	uint16_t want[2 * SLOTS] = { 0xffff };
	struct pkey_list told;
	size_t n = 1;

	if (l->s->rig.set.partitions.all != NULL)
		n = partitions_keys(l->s->rig.set.partitions.all, &port, want, SLOTS);
	told = port_pkeys_find(sweeper_pkeys(l->s->rig.sweeper), port.guid);
	if (told.n != n || memcmp(told.keys, want, n * sizeof(*want)) != 0)
		return SAY(l, "%s is not said to be in its partitions", name(l, node));
	return far == SIM_NONE ||
	    (keys_are(l, node, 1, want, n) &&
		(is_host(l->s, f->port_node[far]) || guard_is_true(l, far, want, n)));
}

static bool
aliases_are_true(struct wish_look *l, uint32_t node)
{
	uint64_t want[8];
	uint8_t data[64] = { 0 };

	if (!storm_has(l->s, HAS_ALIASES) || !l->s->has_aliases[node])
		return true;
	fill_aliases(l->s, node, want);
	ck_assert(sma_peek(sim_fabric(l->s->rig.sim), (struct sim_place){ node, 1 },
	    WIRE_ATTR_GUID_INFO, 0, data));
	for (unsigned i = 0; i < 8; i++)
		if (wire_get64(data + (size_t)8 * i) != want[i])
			return SAY(l, "%s has not its alias GUID %u", name(l, node), i);
	return true;
}

/* Every bit of every MLID: what the plan's trees say, and nothing beside the groups. */
static bool
multicast_row_is_true(struct wish_look *l, uint32_t node, unsigned mlid)
{
	const struct sim_node *n = &fabric_of(l->s)->nodes[node];
	const struct inventory *inv = sweeper_inventory(l->s->rig.sweeper);
	struct mcast_ports want = mcast_net_row(sweeper_groups(l->s->rig.sweeper), (uint16_t)mlid,
	    inv_node(inv, inv_find(inv, n->guid))->sw_index);
	unsigned i = mlid - FIRST_MLID;

	for (unsigned p = 0; p <= n->n_ports; p++) {
		const uint8_t *at = n->mft == NULL
		    ? NULL
		    : n->mft + ((p / 16) * (SIM_MCAST_CAP / 32) + i / 32) * 64 + i % 32 * 2;
		bool has = at != NULL && (wire_get16(at) >> (p % 16) & 1);

		if (has != (want.bits[p / 64] >> (p % 64) & 1))
			return SAY(l, "%s %s MLID 0x%x by port %u, other than the plan",
			    name(l, node), has ? "sends" : "does not send", mlid, p);
	}
	return true;
}

static bool
multicast_table_is_true(struct wish_look *l, uint32_t node)
{
	struct wire_switch_info si;
	uint8_t data[64] = { 0 };

	ck_assert(sma_peek(sim_fabric(l->s->rig.sim), (struct sim_place){ .node = node },
	    WIRE_ATTR_SWITCH_INFO, 0, data));
	wire_switch_info_get(data, &si);
	for (unsigned i = 0; storm_has(l->s, HAS_GROUPS) && i < STORM_GROUPS; i++)
		if (si.mcast_fdb_top != 0 && si.mcast_fdb_top < l->s->groups[i].mlid &&
		    mcast_net_n_members(sweeper_groups(l->s->rig.sweeper), l->s->groups[i].mlid) >
			0)
			return SAY(
			    l, "%s has MulticastFDBTop 0x%x", name(l, node), si.mcast_fdb_top);
	for (unsigned i = 0; i < STORM_GROUPS * 40; i++)
		if (!multicast_row_is_true(l, node, FIRST_MLID + i))
			return false;
	return true;
}

static bool
receives(const struct wish_look *l, const struct storm_group *g, uint32_t node)
{
	return is_host(l->s, node) && l->reached[node] && (g->roles[node] & MCAST_RECEIVES) != 0;
}

/* A packet from here comes to all who receive, once, and to nobody else. */
static bool
sender_is_heard(struct wish_look *l, const struct storm_group *g, uint32_t from)
{
	struct sim_place to[4 * STORM_NODES_MAX];
	uint8_t copies[STORM_NODES_MAX] = { 0 };
	size_t n = sim_walk_multicast(
	    l->s->rig.sim, (struct sim_place){ from, 1 }, g->mlid, to, 4 * STORM_NODES_MAX);

	if (n > 4 * STORM_NODES_MAX)
		return SAY(l, "packets of %s to MLID 0x%x go round", name(l, from), g->mlid);
	for (size_t i = 0; i < n; i++)
		copies[to[i].node]++;
	for (uint32_t node = 0; node < l->s->rig.nl.n_nodes; node++)
		if (copies[node] != (node != from && receives(l, g, node)))
			return SAY(l, "%u packets for one of %s to MLID 0x%x come to %s",
			    copies[node], name(l, from), g->mlid, name(l, node));
	return true;
}

static bool
group_is_true(struct wish_look *l, const struct storm_group *g)
{
	for (uint32_t n = 0; n < l->s->rig.nl.n_nodes; n++)
		if (l->reached[n] && is_host(l->s, n) && (g->roles[n] & MCAST_SENDS) != 0 &&
		    !sender_is_heard(l, g, n))
			return false;
	return true;
}

static bool
host_is_true(struct wish_look *l, uint32_t node)
{
	if ((storm_has(l->s, HAS_GROUPS) || storm_has(l->s, HAS_ALIASES)) &&
	    !l->s->is_registered[node])
		return SAY(l, "%s has not been asked to register again", name(l, node));
	return host_keys_are_true(l, node) && aliases_are_true(l, node);
}

bool
wishes_are_true(struct storm *s, const bool *reached, char *wrong, size_t size)
{
	struct wish_look l = { s, reached, wrong, size };

	for (uint32_t n = 0; n < s->rig.nl.n_nodes; n++)
		if (reached[n] &&
		    !(is_host(s, n) ? host_is_true(&l, n) : multicast_table_is_true(&l, n)))
			return false;
	for (unsigned i = 0; storm_has(s, HAS_GROUPS) && i < STORM_GROUPS; i++)
		if (!group_is_true(&l, &s->groups[i]))
			return false;
	return true;
}
