/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A component as the fabric its engine sees.
 *
 * Its own switches, renumbered in their order, the cables among them and its own
 * ends.  For each LID beyond one end of kind FM_END_PROXY on the gateway port
 * chosen for it (LIDs of one port with an LMC may leave by different gateways,
 * so each has a proxy of its own).  Where traffic comes in and nothing leaves
 * stands a proxy of LID 0.  LIDs keep their numbers, and so rows of tables their
 * shape: the engine writes where the whole wants it.
 *
 * Proxies have neither names nor GUIDs, so that nobody can mean one.
 * O(switches + links of the component + LIDs).
 */
#include <stdlib.h>
#include <string.h>

#include "core/regions/compose_steps.h"

struct building {
	struct composer *c;
	const struct component *p;
	uint32_t x;
	enum view_kind kind;
	struct snapshot *snap;
	uint32_t *n_proxies; /* [n_exits + 1] LIDs by exit, then where they begin */
	uint16_t *lids;	     /* by exit */
	uint8_t *enters;     /* [n_exits] traffic comes in */
	fm_end *first;	     /* [n + 1] */
	struct {
		uint64_t *guid, *node, *system;
		const char **name, **desc;
		fm_sw *sw;
		uint8_t *port, *lmc, *kind, *n_vls;
		uint16_t *lid;
		fm_end *owner;
	} end;
	uint32_t n_ends;
};

static bool
make_switches(struct building *b)
{
	const struct fm_fabric *from = b->c->fab;
	struct fm_fabric *fab = &b->snap->fab;
	struct fm_arena *mem = &b->snap->mem;
	uint32_t n = b->p->n;
	uint64_t *guid = fm_arena_array(mem, n, uint64_t), *sys = fm_arena_array(mem, n, uint64_t);
	const char **name = fm_arena_array(mem, n, const char *);
	const char **desc = fm_arena_array(mem, n, const char *);
	uint8_t *n_ports = fm_arena_array(mem, n, uint8_t);
	struct snapshot_kinds kinds;

	if (guid == NULL || sys == NULL || name == NULL || desc == NULL || n_ports == NULL ||
	    !snapshot_make_kinds(b->snap, n, &kinds) || !fm_hash_reserve(&b->snap->sw_by_guid, n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		fm_sw sw = b->p->sw[i];

		guid[i] = from->sw_guid[sw];
		sys[i] = from->sw_system_guid[sw];
		name[i] = from->sw_name[sw];
		desc[i] = b->c->snap->sw_desc[sw];
		n_ports[i] = from->sw_n_ports[sw];
		kinds.vendor_id[i] = from->sw_vendor_id[sw];
		kinds.device_id[i] = from->sw_device_id[sw];
		kinds.lft_entries[i] = from->sw_lft_entries[sw];
		kinds.ar_groups[i] = from->sw_ar_groups[sw];
		if (!fm_hash_put(&b->snap->sw_by_guid, guid[i], i))
			return false;
	}
	fab->n_switches = n;
	fab->sw_guid = guid;
	fab->sw_system_guid = sys;
	fab->sw_name = name;
	b->snap->sw_desc = desc;
	fab->sw_n_ports = n_ports;
	b->snap->sw_component = fm_arena_array(mem, n, uint32_t);
	b->snap->n_components = 1;
	return b->snap->sw_component != NULL;
}

/* Links keep their order, so they stay sorted: local numbers ascend as the others do. */
static bool
make_links(struct building *b)
{
	const struct fm_fabric *from = b->c->fab;
	uint32_t n = b->p->n, most = 0, at = 0;
	fm_link *number = b->c->link_number;
	struct snapshot_links to;

	for (uint32_t i = 0; i < n; i++)
		most += from->sw_first_link[b->p->sw[i] + 1] - from->sw_first_link[b->p->sw[i]];
	if (!snapshot_make_links(b->snap, n, most, &to))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		to.first[i] = at;
		for (fm_link l = from->sw_first_link[b->p->sw[i]];
		     l < from->sw_first_link[b->p->sw[i] + 1]; l++) {
			if (b->c->link_exit[l] != FM_NONE)
				continue;
			to.to[at] = b->c->sw_local[from->link_to[l]];
			to.rev[at] = from->link_rev[l];
			to.port[at] = from->link_port[l];
			to.n_vls[at] = from->link_n_vls[l];
			to.mbps[at] = from->link_mbps[l];
			to.nominal_mbps[at] = from->link_nominal_mbps[l];
			number[l] = at++;
		}
	}
	to.first[n] = at;
	for (fm_link l = 0; l < at; l++)
		to.rev[l] = number[to.rev[l]];
	snapshot_set_links(b->snap, &to, at);
	return snapshot_index_ports(b->snap);
}

/* ------------------------------------------------------------------- ends */

/* LIDs by the exit they leave by, and the exits where others come in. */
static bool
sort_proxies(struct building *b)
{
	struct composer *c = b->c;
	struct fm_arena *mem = &b->snap->mem;
	const uint16_t *row = gateways_of(c, b->x);
	uint32_t n = b->p->n_exits;

	b->n_proxies = fm_arena_array(mem, n + 2, uint32_t);
	b->lids = fm_arena_array(mem, c->n_lid_room, uint16_t);
	b->enters = fm_arena_array(mem, n + 1, uint8_t);
	if (b->n_proxies == NULL || b->lids == NULL || b->enters == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct exit *e = &b->p->exit[i];
		uint32_t back = c->link_exit[c->fab->link_rev[e->link]];

		/* islands send everything to their core, by all of their nearest gates */
		b->enters[i] = b->kind != VIEW_FOREIGN &&
		    (is_island(c, e->to) || c->component[e->to].exit[back].n_lids > 0);
	}
	if (b->kind == VIEW_ENTRANCES)
		return true;
	for (uint32_t lid = 0; lid < c->n_lid_room; lid++)
		if (row[lid] != NO_EXIT)
			b->n_proxies[row[lid] + 2]++;
	for (uint32_t i = 2; i < n + 2; i++)
		b->n_proxies[i] += b->n_proxies[i - 1];
	for (uint32_t lid = 0; lid < c->n_lid_room; lid++)
		if (row[lid] != NO_EXIT)
			b->lids[b->n_proxies[row[lid] + 1]++] = (uint16_t)lid;
	return true;
}

static bool
room_for_ends(struct building *b)
{
	struct fm_arena *mem = &b->snap->mem;
	uint32_t most = b->p->n_exits + b->n_proxies[b->p->n_exits] + 1;

	for (uint32_t i = 0; i < b->p->n; i++)
		most +=
		    b->c->fab->sw_first_end[b->p->sw[i] + 1] - b->c->fab->sw_first_end[b->p->sw[i]];
	b->first = fm_arena_array(mem, b->p->n + 1, fm_end);
	b->end.guid = fm_arena_array(mem, most, uint64_t);
	b->end.node = fm_arena_array(mem, most, uint64_t);
	b->end.system = fm_arena_array(mem, most, uint64_t);
	b->end.name = fm_arena_array(mem, most, const char *);
	b->end.desc = fm_arena_array(mem, most, const char *);
	b->end.sw = fm_arena_array(mem, most, fm_sw);
	b->end.port = fm_arena_array(mem, most, uint8_t);
	b->end.lmc = fm_arena_array(mem, most, uint8_t);
	b->end.kind = fm_arena_array(mem, most, uint8_t);
	b->end.n_vls = fm_arena_array(mem, most, uint8_t);
	b->end.lid = fm_arena_array(mem, most, uint16_t);
	b->end.owner = fm_arena_array(mem, b->c->n_lid_room, fm_end);
	return b->first != NULL && b->end.guid != NULL && b->end.node != NULL &&
	    b->end.system != NULL && b->end.name != NULL && b->end.desc != NULL &&
	    b->end.sw != NULL && b->end.port != NULL && b->end.lmc != NULL && b->end.kind != NULL &&
	    b->end.n_vls != NULL && b->end.lid != NULL && b->end.owner != NULL;
}

static void
add_own(struct building *b, uint32_t local, fm_end e)
{
	const struct fm_fabric *from = b->c->fab;
	uint32_t at = b->n_ends++;

	b->end.guid[at] = from->end_guid[e];
	b->end.node[at] = from->end_node_guid[e];
	b->end.system[at] = from->end_system_guid[e];
	b->end.name[at] = from->end_name[e];
	b->end.desc[at] = b->c->snap->end_desc[e];
	b->end.sw[at] = local;
	b->end.port[at] = from->end_port[e];
	b->end.lmc[at] = from->end_lmc[e];
	b->end.kind[at] = from->end_kind[e];
	b->end.n_vls[at] = from->end_n_vls[e];
	b->end.lid[at] = from->end_lid[e];
	for (uint32_t i = 0; from->end_lid[e] != 0 && i < 1u << from->end_lmc[e]; i++)
		b->end.owner[from->end_lid[e] + i] = at;
}

static void
add_proxy(struct building *b, uint32_t local, const struct exit *e, uint16_t lid)
{
	uint32_t at = b->n_ends++;

	b->end.name[at] = b->end.desc[at] = "";
	b->end.sw[at] = local;
	b->end.port[at] = b->c->fab->link_port[e->link];
	b->end.kind[at] = FM_END_PROXY;
	b->end.n_vls[at] = b->c->fab->link_n_vls[e->link];
	b->end.lid[at] = lid;
	if (lid != 0)
		b->end.owner[lid] = at;
}

/* What stands on a gateway port: the LIDs beyond, or an entrance. */
static void
add_gateway(struct building *b, uint32_t local, uint32_t number)
{
	const struct exit *e = &b->p->exit[number];
	uint32_t from = b->n_proxies[number], to = b->n_proxies[number + 1];

	for (uint32_t i = from; i < to; i++)
		add_proxy(b, local, e, b->lids[i]);
	if (from == to && b->enters[number])
		add_proxy(b, local, e, 0);
}

/* The ends of a switch by port, as in any snapshot. */
static void
add_ends_of(struct building *b, uint32_t local)
{
	const struct fm_fabric *from = b->c->fab;
	fm_sw sw = b->p->sw[local];
	fm_end e = from->sw_first_end[sw], last = from->sw_first_end[sw + 1];
	uint32_t exits[256];

	b->first[local] = b->n_ends;
	memset(exits, 0xff, sizeof(exits));
	for (fm_link l = from->sw_first_link[sw]; l < from->sw_first_link[sw + 1]; l++)
		exits[from->link_port[l]] = b->c->link_exit[l];
	for (uint32_t port = 0; port <= from->sw_n_ports[sw]; port++) {
		for (; e < last && from->end_port[e] == port; e++)
			if (b->kind != VIEW_FOREIGN)
				add_own(b, local, e);
		if (exits[port] != FM_NONE)
			add_gateway(b, local, exits[port]);
	}
}

static bool
make_ends(struct building *b)
{
	struct fm_fabric *fab = &b->snap->fab;

	if (!sort_proxies(b) || !room_for_ends(b))
		return false;
	memset(b->end.owner, 0xff, b->c->n_lid_room * sizeof(*b->end.owner));
	for (uint32_t i = 0; i < b->p->n; i++)
		add_ends_of(b, i);
	b->first[b->p->n] = b->n_ends;
	fab->n_ends = b->n_ends;
	fab->max_lid = b->c->fab->max_lid;
	fab->sw_first_end = b->first;
	fab->end_guid = b->end.guid;
	fab->end_node_guid = b->end.node;
	fab->end_system_guid = b->end.system;
	fab->end_name = b->end.name;
	b->snap->end_desc = b->end.desc;
	fab->end_sw = b->end.sw;
	fab->end_port = b->end.port;
	fab->end_lmc = b->end.lmc;
	fab->end_kind = b->end.kind;
	fab->end_n_vls = b->end.n_vls;
	fab->end_lid = b->end.lid;
	fab->lid_end = b->end.owner;
	return true;
}

int
compose_view(struct composer *c, uint32_t x, enum view_kind kind, struct snapshot **out,
    struct fm_error *err)
{
	struct building b = { .c = c, .p = &c->component[x], .x = x, .kind = kind };

	b.snap = calloc(1, sizeof(*b.snap));
	if (b.snap == NULL)
		return compose_no_memory(err);
	atomic_init(&b.snap->refs, 1);
	fm_arena_init(&b.snap->mem, SIZE_MAX);
	b.snap->fab.size = sizeof(b.snap->fab);
	if (!make_switches(&b) || !make_links(&b) || !make_ends(&b)) {
		snapshot_put(b.snap);
		return compose_no_memory(err);
	}
	*out = b.snap;
	return 0;
}
