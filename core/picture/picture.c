/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/picture/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/graph/switch_groups.h"
#include "core/picture/cable.h"
#include "lib/error.h"

#define MOST_RATES 250

struct making {
	const struct picture_of *of;
	struct picture *p;
	uint32_t *number; /* [nodes of the inventory] in the picture; INV_NONE: absent */
	uint32_t *level;  /* [n_switches of the plan] of snapshot_find_levels(); NULL: no plan */
	uint32_t *group;  /* [n_switches of the plan] NULL: none */
};

/* ------------------------------------------------------------------- groups */

static bool
name_groups(struct making *m, const struct switch_groups *g)
{
	const struct fm_fabric *fab = &m->of->plan->snap->fab;

	for (uint32_t i = 0; i < g->n; i++) {
		const char *name = fab->sw_name[g->first[i]];
		char *stem = fm_arena_strdup(&m->p->mem, name);

		if (stem == NULL)
			return false;
		if (g->by == GROUPED_BY_NAMES)
			stem[switch_group_stem(name)] = '\0';
		if (!fm_vec_push(&m->p->groups, stem))
			return false;
	}
	return true;
}

static int
find_groups(struct making *m, struct fm_error *err)
{
	static const char *const by[] = { [GROUPED_BY_CHASSIS] = "chassis",
		[GROUPED_BY_LEVELS] = "levels",
		[GROUPED_BY_NAMES] = "names" };
	struct switch_groups g;

	if (switch_groups_find(&m->of->plan->snap->fab, m->level, &m->p->mem, &g, err) != 0)
		return (int)err->kind;
	m->group = g.group;
	m->p->grouped_by = by[g.by];
	return name_groups(m, &g) ? 0 : fm_fail(err, FM_E_RESOURCE, "out of memory for groups");
}

static int
find_regions(struct making *m, struct fm_error *err)
{
	const struct region_set *set = m->of->regions;
	uint32_t n = m->of->plan->snap->fab.n_switches;
	uint16_t *region;

	m->group = fm_arena_array(&m->p->mem, (size_t)n + 1, uint32_t);
	if (m->group == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for regions");
	if (regions_find(set, m->of->plan->snap, &region, err) != 0)
		return (int)err->kind;
	for (fm_sw sw = 0; sw < n; sw++)
		m->group[sw] = region[sw];
	free(region);
	m->p->grouped_by = "regions";
	for (uint32_t i = 0; i < set->n_regions; i++)
		if (!fm_vec_push(&m->p->groups, set->region[i].name))
			return fm_fail(err, FM_E_RESOURCE, "out of memory for regions");
	return 0;
}

static int
find_places(struct making *m, struct fm_error *err)
{
	const struct fm_fabric *fab;
	fm_sw *queue;

	m->p->grouped_by = "none";
	if (m->of->plan == NULL)
		return 0;
	fab = &m->of->plan->snap->fab;
	queue = fm_arena_array(&m->p->mem, (size_t)fab->n_switches + 1, fm_sw);
	m->level = fm_arena_array(&m->p->mem, (size_t)fab->n_switches + 1, uint32_t);
	if (queue == NULL || m->level == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for levels");
	snapshot_find_levels(fab, m->level, queue);
	return m->of->regions != NULL && m->of->regions->n_regions > 1 ? find_regions(m, err)
								       : find_groups(m, err);
}

/* -------------------------------------------------------------------- nodes */

/* The switch that a node is or hangs off, in the plan's fabric; FM_NONE. */
static fm_sw
home_switch(const struct making *m, const struct inv_node *n)
{
	for (unsigned i = 1; !inv_is_switch(n) && i <= n->n_ports; i++)
		if (n->ports[i].edge == EDGE_LINKED) {
			n = inv_node(m->of->inv, n->ports[i].peer);
			break;
		}
	return inv_is_switch(n) && m->level != NULL &&
		n->sw_index < m->of->plan->snap->fab.n_switches
	    ? n->sw_index
	    : FM_NONE;
}

static uint16_t
level_of(const struct making *m, const struct inv_node *n, fm_sw home)
{
	if (!inv_is_switch(n))
		return 0;
	return home == FM_NONE || m->level[home] >= UINT16_MAX - 1 ? UINT16_MAX
								   : (uint16_t)(m->level[home] + 1);
}

/* Of a switch its port 0; else of each port, 0: it has none. */
static bool
add_lids(struct picture *p, const struct inv_node *n)
{
	unsigned first = inv_is_switch(n) ? 0 : 1, last = inv_is_switch(n) ? 0 : n->n_ports;
	bool ok = true;

	for (unsigned i = first; ok && i <= last; i++)
		ok = fm_vec_push(&p->lids, n->ports[i].lid);
	return ok;
}

static bool
add_node(struct making *m, uint32_t slot)
{
	const struct inv_node *n = inv_node(m->of->inv, slot);
	struct picture *p = m->p;
	fm_sw home = home_switch(m, n);
	struct picture_node row = { .guid = n->guid,
		.name = n->name,
		.first_lid = (uint32_t)p->lids.n,
		.group = home != FM_NONE && m->group != NULL ? m->group[home] : FM_NONE,
		.level = level_of(m, n, home),
		.type = n->type,
		.n_ports = n->n_ports };

	m->number[slot] = (uint32_t)p->nodes.n;
	if (!add_lids(p, n))
		return false;
	row.n_lids = (uint16_t)(p->lids.n - row.first_lid);
	return fm_vec_push(&p->nodes, row);
}

static bool
add_nodes(struct making *m)
{
	const struct inventory *inv = m->of->inv;
	bool ok = true;

	m->number = fm_arena_array(&m->p->mem, inv->nodes.n + 1, uint32_t);
	if (m->number == NULL)
		return false;
	memset(m->number, 0xff, (inv->nodes.n + 1) * sizeof(*m->number));
	for (uint32_t i = 0; ok && i < inv->nodes.n; i++)
		if (inv_node(inv, i)->present)
			ok = add_node(m, i);
	return ok;
}

/* ------------------------------------------------------------------- cables */

/* Beyond MOST_RATES different ones (there are a few dozen) a rate is not told. */
static bool
number_rate(struct picture *p, struct wire_rate r, uint8_t *number)
{
	size_t i = 0;

	while (i < p->rates.n &&
	    (p->rates.item[i].lanes != r.lanes || p->rates.item[i].lane_mbps != r.lane_mbps))
		i++;
	*number = i < MOST_RATES ? (uint8_t)i : 0;
	return i < p->rates.n || i >= MOST_RATES || fm_vec_push(&p->rates, r);
}

static uint32_t
most_32(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Between switches, where the plan has the cable as it is. */
static void
find_load(const struct making *m, const struct cable *c, struct picture_cable *row)
{
	const struct snapshot *snap;
	fm_link l;

	if (m->of->load == NULL || c->far.node == NULL || !inv_is_switch(c->near.node) ||
	    !inv_is_switch(c->far.node))
		return;
	snap = m->of->plan->snap;
	if (c->near.node->sw_index >= snap->fab.n_switches)
		return;
	l = snapshot_link_at(snap, c->near.node->sw_index, c->near.port);
	if (l == FM_NONE || snap->fab.link_to[l] != c->far.node->sw_index)
		return;
	row->load[0] = most_32(m->of->load[l]);
	row->load[1] = most_32(m->of->load[snap->fab.link_rev[l]]);
}

static bool
add_cable(struct making *m, const struct cable *c)
{
	const struct cable_end *a = &c->near, *b = &c->far;
	bool is_isolated = isolated_is_cable(m->of->isolated, m->of->inv, a->slot, a->port);
	struct picture_cable row = { .node = { m->number[a->slot],
					 b->node != NULL ? m->number[b->slot] : INV_NONE },
		.port = { (uint8_t)a->port, (uint8_t)b->port },
		.flags = cable_port_state(cable_worse(c)) |
		    (cable_is_degraded(c) ? PICTURE_DEGRADED : 0) |
		    (is_isolated ? PICTURE_ISOLATED : 0) |
		    (c->why != TODO_DONE ? PICTURE_TROUBLE : 0) };

	find_load(m, c, &row);
	return number_rate(m->p, c->rate, &row.rate) && number_rate(m->p, c->best, &row.best) &&
	    fm_vec_push(&m->p->cables, row);
}

/* The far ends of a switch lie anywhere in memory: waited for together, not one after the other.
 * That is half of the time that a picture takes. */
static void
fetch_far_ends(const struct inventory *inv, const struct inv_node *n)
{
	for (unsigned port = 1; port <= n->n_ports; port++)
		if (n->ports[port].edge == EDGE_LINKED)
			__builtin_prefetch(&inv_node(inv, n->ports[port].peer)->ports);
	for (unsigned port = 1; port <= n->n_ports; port++) {
		const struct inv_port *p = &n->ports[port];
		const char *far;

		if (p->edge != EDGE_LINKED)
			continue;
		far = (const char *)&inv_node(inv, p->peer)->ports[p->peer_port];
		for (size_t at = 0; at < sizeof(*p); at += 64)
			__builtin_prefetch(far + at);
	}
}

static bool
add_cables(struct making *m)
{
	const struct inventory *inv = m->of->inv;
	bool ok = fm_vec_push(&m->p->rates, (struct wire_rate){ 0 });

	for (uint32_t i = 0; ok && i < inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(inv, i);

		if (n->present && inv_is_switch(n))
			fetch_far_ends(inv, n);
		for (unsigned port = 1; ok && n->present && port <= n->n_ports; port++) {
			struct cable_end e = cable_end(inv, i, port);

			if (cable_is_told_at(inv, &e)) {
				struct cable c = cable_of(inv, m->of->todo, &e);

				ok = add_cable(m, &c);
			}
		}
	}
	return ok;
}

/* --------------------------------------------------------------- generation */

static uint64_t
hash_text(uint64_t hash, const char *text)
{
	return fm_hash_bytes(hash, text, strlen(text));
}

static uint64_t
hash_node(uint64_t hash, const struct picture_node *n)
{
	const uint64_t words[] = { n->guid, (uint64_t)n->first_lid << 32 | n->group,
		(uint64_t)n->n_lids << 32 | (uint64_t)n->level << 16 | (uint64_t)n->type << 8 |
		    n->n_ports };

	return hash_text(fm_hash_bytes(hash, words, sizeof(words)), n->name);
}

/* Of every field that the text is written from. */
static uint64_t
hash_picture(const struct picture *p)
{
	const uint64_t head[] = { p->is_master, p->knows_loads, p->groups.n, p->nodes.n,
		p->rates.n };
	uint64_t hash = hash_text(fm_hash_bytes(0, head, sizeof(head)), p->grouped_by);

	for (size_t i = 0; i < p->groups.n; i++)
		hash = hash_text(hash, p->groups.item[i]);
	for (size_t i = 0; i < p->nodes.n; i++)
		hash = hash_node(hash, &p->nodes.item[i]);
	for (size_t i = 0; i < p->rates.n; i++)
		hash = fm_mix64(
		    hash ^ ((uint64_t)p->rates.item[i].lane_mbps << 8 | p->rates.item[i].lanes));
	hash = fm_hash_bytes(hash, p->lids.item, p->lids.n * sizeof(*p->lids.item));
	return fm_hash_bytes(hash, p->cables.item, p->cables.n * sizeof(*p->cables.item));
}

static uint64_t
mix(uint64_t hash, uint64_t word)
{
	return fm_mix64(hash ^ word);
}

/* What cables are told of (cable.c) and LIDs. */
static uint64_t
mix_port(uint64_t key, const struct inv_port *p)
{
	const struct wire_port_info *i = &p->info;

	key = mix(key,
	    (uint64_t)p->peer << 32 | (uint64_t)p->peer_port << 24 | (uint64_t)p->edge << 16 |
		(uint64_t)p->known << 9 | (uint64_t)p->stopped << 8 | i->port_state);
	key = mix(key,
	    (uint64_t)p->lid << 48 | (uint64_t)i->link_width_active << 40 |
		(uint64_t)i->link_width_supported << 32 | (uint64_t)i->link_speed_active << 24 |
		(uint64_t)i->link_speed_supported << 16 | (uint64_t)i->link_speed_ext_active << 8 |
		i->link_speed_ext_active2);
	return mix(key,
	    (uint64_t)i->capability_mask << 32 | (uint64_t)i->capability_mask2 << 16 |
		i->link_speed_ext_supported);
}

static uint64_t
mix_node(uint64_t key, const struct inv_node *n)
{
	key = mix(key, n->guid);
	key = mix(key, (uint64_t)n->sw_index << 32 | (uint64_t)n->type << 16 | n->n_ports);
	key = hash_text(key, n->name);
	for (unsigned p = 0; p <= n->n_ports; p++)
		key = mix_port(key, &n->ports[p]);
	return key;
}

uint64_t
picture_key(const struct picture_of *of)
{
	uint64_t key = mix(0, of->plan != NULL ? of->plan->number : 0);

	key = mix(key, (uint64_t)of->is_master << 1 | (of->load != NULL));
	for (uint32_t i = 0; i < of->inv->nodes.n; i++) {
		const struct inv_node *n = inv_node(of->inv, i);

		if (n->present)
			key = mix_node(mix(key, i), n);
	}
	for (size_t i = 0; i < of->todo->n; i++) {
		const struct todo *t = &of->todo->item[i];

		key = mix(key, (uint64_t)t->slot << 16 | (uint64_t)t->port << 8 | t->why);
	}
	for (size_t i = 0; i < of->isolated->items.n; i++)
		key = mix(
		    mix(key, of->isolated->items.item[i].guid), of->isolated->items.item[i].port);
	return key;
}

void
picture_generation(const struct picture *p, char text[PICTURE_GENERATION_BYTES])
{
	snprintf(text, PICTURE_GENERATION_BYTES, "%016" PRIx64, p->generation);
}

_Static_assert(sizeof(struct picture_cable) == 24, "holes would be hashed");

int
picture_make(const struct picture_of *of, struct picture *p, struct fm_error *err)
{
	struct making m = { .of = of, .p = p };
	int rc;

	*p = (struct picture){ .is_master = of->is_master, .knows_loads = of->load != NULL };
	fm_arena_init(&p->mem, SIZE_MAX);
	if ((rc = find_places(&m, err)) != 0)
		return rc;
	if (!add_nodes(&m) || !add_cables(&m))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the picture of the fabric");
	p->generation = hash_picture(p);
	return 0;
}

void
picture_fini(struct picture *p)
{
	fm_vec_fini(&p->nodes);
	fm_vec_fini(&p->lids);
	fm_vec_fini(&p->cables);
	fm_vec_fini(&p->rates);
	fm_vec_fini(&p->groups);
	fm_arena_fini(&p->mem);
}
