/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Node items to members of a snapshot.
 *
 * GUIDs and names without a pattern are sorted once and every node looks itself
 * up, so that a list of all hosts costs n log n; patterns are few and tried on
 * every name.  A list as
 * one set is resolved in runs of items of one sign: items of a run may be
 * taken in any order.  A group is a set of its own, found once per call.
 */
#include <stdlib.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/nodes/groups.h"
#include "core/nodes/nodes.h"
#include "lib/algo/search.h"
#include "lib/bitset.h"
#include "lib/error.h"

struct guid_key {
	uint64_t guid;
	size_t item;
};

struct name_key {
	const char *name;
	size_t item;
};

/* What one call has found out. */
struct finding {
	const struct snapshot *snap;
	struct fm_arena *mem;
	uint32_t *level, top;	   /* level NULL: not yet asked for */
	struct node_target *known; /* [groups], sw NULL: not yet */
};

/* One batch of items. */
struct resolver {
	const struct node_item *items;
	const struct node_target *targets;
	bool *hit; /* [n] items that name something; may be NULL */
	struct guid_key *guids, *systems;
	struct name_key *names; /* those that are no patterns */
	size_t n, n_guids, n_systems, n_names;
};

static int resolve_set(struct finding *f, const struct node_item *items, size_t n,
    const struct node_target *to, bool *hit, struct fm_error *err);

static int
out_of_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while resolving node names");
}

bool
node_target_new(const struct snapshot *snap, struct fm_arena *mem, struct node_target *t)
{
	t->sw = fm_arena_array(mem, FM_BITSET_WORDS(snap->fab.n_switches) + 1, uint64_t);
	t->end = fm_arena_array(mem, FM_BITSET_WORDS(snap->fab.n_ends) + 1, uint64_t);
	return t->sw != NULL && t->end != NULL;
}

static void
add_switch(const struct resolver *r, size_t item, fm_sw s)
{
	fm_bit_set(r->targets[item].sw, s);
	if (r->hit != NULL)
		r->hit[item] = true;
}

static void
add_end(const struct resolver *r, size_t item, fm_end e)
{
	fm_bit_set(r->targets[item].end, e);
	if (r->hit != NULL)
		r->hit[item] = true;
}

/* ------------------------------------------------------------------- GUIDs */

static int
by_guid(const void *a, const void *b)
{
	const struct guid_key *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* The first key of guid or above. */
static size_t
first_guid(const struct guid_key *keys, size_t n, uint64_t guid)
{
	size_t at;

	fm_lower_bound(at, n, i, keys[i].guid < guid);
	return at;
}

static void
mark_switch(
    const struct resolver *r, const struct guid_key *keys, size_t n, uint64_t guid, fm_sw sw)
{
	for (size_t i = first_guid(keys, n, guid); i < n && keys[i].guid == guid; i++)
		add_switch(r, keys[i].item, sw);
}

static void
mark_end(const struct resolver *r, const struct guid_key *keys, size_t n, uint64_t guid, fm_end end)
{
	for (size_t i = first_guid(keys, n, guid); i < n && keys[i].guid == guid; i++)
		add_end(r, keys[i].item, end);
}

static void
mark_guids(const struct resolver *r, const struct fm_fabric *fab)
{
	for (fm_sw s = 0; s < fab->n_switches; s++) {
		mark_switch(r, r->guids, r->n_guids, fab->sw_guid[s], s);
		mark_switch(r, r->systems, r->n_systems, fab->sw_system_guid[s], s);
	}
	for (fm_end e = 0; e < fab->n_ends; e++) {
		mark_end(r, r->guids, r->n_guids, fab->end_guid[e], e);
		mark_end(r, r->guids, r->n_guids, fab->end_node_guid[e], e);
		mark_end(r, r->systems, r->n_systems, fab->end_system_guid[e], e);
	}
}

/* ----------------------------------------------------- names, ports, levels */

/* By its name, or by what it says of itself; one string where these are the same. */
static bool
is_called(const char *pattern, const char *name, const char *desc)
{
	return node_name_match(pattern, name) || (desc != name && node_name_match(pattern, desc));
}

static void
mark_pattern(const struct resolver *r, size_t item, const struct snapshot *snap)
{
	const struct fm_fabric *fab = &snap->fab;
	const char *name = r->items[item].name;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		if (is_called(name, fab->sw_name[s], snap->sw_desc[s]))
			add_switch(r, item, s);
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (is_called(name, fab->end_name[e], snap->end_desc[e]))
			add_end(r, item, e);
}

static int
by_name(const void *a, const void *b)
{
	const struct name_key *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c != 0 ? c : x->item < y->item ? -1 : x->item > y->item;
}

/* The first key of this name or behind it. */
static size_t
first_name(const struct resolver *r, const char *name)
{
	size_t at;

	fm_lower_bound(at, r->n_names, i, strcmp(r->names[i].name, name) < 0);
	return at;
}

static void
mark_switch_name(const struct resolver *r, const char *name, fm_sw sw)
{
	for (size_t i = first_name(r, name); i < r->n_names && strcmp(r->names[i].name, name) == 0;
	     i++)
		add_switch(r, r->names[i].item, sw);
}

static void
mark_end_name(const struct resolver *r, const char *name, fm_end e)
{
	for (size_t i = first_name(r, name); i < r->n_names && strcmp(r->names[i].name, name) == 0;
	     i++)
		add_end(r, r->names[i].item, e);
}

static void
mark_names(const struct resolver *r, const struct snapshot *snap)
{
	const struct fm_fabric *fab = &snap->fab;

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		mark_switch_name(r, fab->sw_name[s], s);
		if (snap->sw_desc[s] != fab->sw_name[s])
			mark_switch_name(r, snap->sw_desc[s], s);
	}
	for (fm_end e = 0; e < fab->n_ends; e++) {
		mark_end_name(r, fab->end_name[e], e);
		if (snap->end_desc[e] != fab->end_name[e])
			mark_end_name(r, snap->end_desc[e], e);
	}
}

/* A switch's port 0 goes with it, an aggregator is a CA. */
static void
mark_type(const struct resolver *r, size_t item, const struct fm_fabric *fab)
{
	enum node_type type = (enum node_type)r->items[item].number;

	for (fm_sw s = 0; type == NODE_TYPE_SWITCH && s < fab->n_switches; s++)
		add_switch(r, item, s);
	for (fm_end e = 0; e < fab->n_ends; e++) {
		enum node_type its = fab->end_kind[e] == FM_END_SWITCH ? NODE_TYPE_SWITCH
		    : fab->end_kind[e] == FM_END_ROUTER		       ? NODE_TYPE_ROUTER
								       : NODE_TYPE_CA;

		if (its == type)
			add_end(r, item, e);
	}
}

/* What is cabled to the ports of one switch. */
static void
mark_ports(const struct resolver *r, size_t item, const struct snapshot *snap)
{
	const struct fm_fabric *fab = &snap->fab;
	const char *ports = r->items[item].name;
	fm_sw s = fm_hash_find(&snap->sw_by_guid, r->items[item].number);

	if (s == FM_HASH_NONE)
		return;
	for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
		if (node_in_ranges(ports, fab->link_port[l]))
			add_switch(r, item, fab->link_to[l]);
	for (fm_end e = fab->sw_first_end[s]; e < fab->sw_first_end[s + 1]; e++)
		if (node_in_ranges(ports, fab->end_port[e]))
			add_end(r, item, e);
}

/* level[sw] = hops to the nearest switch with a host, FM_NONE where none is
 * reached; the highest one is the top. */
static int
find_levels(struct finding *f, struct fm_error *err)
{
	const struct fm_fabric *fab = &f->snap->fab;
	uint32_t *level = fm_arena_array(f->mem, fab->n_switches + 1, uint32_t), n_queue = 0;
	fm_sw *queue = fm_arena_array(f->mem, fab->n_switches + 1, fm_sw);

	if (level == NULL || queue == NULL)
		return out_of_memory(err);
	memset(level, 0xff, fab->n_switches * sizeof(*level));
	for (fm_end e = 0; e < fab->n_ends; e++) {
		fm_sw s = fab->end_sw[e];

		if (fab->end_kind[e] == FM_END_CA && s != FM_NONE && level[s] == FM_NONE) {
			level[s] = 0;
			queue[n_queue++] = s;
		}
	}
	for (uint32_t i = 0; i < n_queue; i++) {
		fm_sw s = queue[i];

		f->top = level[s];
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			if (level[fab->link_to[l]] == FM_NONE) {
				level[fab->link_to[l]] = level[s] + 1;
				queue[n_queue++] = fab->link_to[l];
			}
	}
	f->level = level;
	return 0;
}

static int
mark_level(struct finding *f, const struct resolver *r, size_t item, struct fm_error *err)
{
	uint64_t want = r->items[item].number;
	int rc = f->level == NULL ? find_levels(f, err) : 0;

	if (rc != 0)
		return rc;
	if (want == NODE_LEVEL_TOP)
		want = f->top;
	for (fm_sw s = 0; s < f->snap->fab.n_switches; s++)
		if (f->level[s] == want)
			add_switch(r, item, s);
	return 0;
}

/* ------------------------------------------------------------------ groups */

static void
take_words(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t w = 0; w < FM_BITSET_WORDS(n); w++)
		to[w] &= ~from[w];
}

/* The set of a group, found when first asked for. */
static int
find_group(struct finding *f, const struct node_item *item, const struct node_target **found,
    struct fm_error *err)
{
	const struct node_group *group = item->group;
	struct node_target *set;

	if (group == NULL)
		return fm_fail(err, FM_E_CONFIG, "'%s': no groups are known here", item->text);
	if (f->known == NULL)
		f->known = fm_arena_array(f->mem, group->of->n, struct node_target);
	if (f->known == NULL)
		return out_of_memory(err);
	*found = set = &f->known[group->number];
	if (set->sw != NULL)
		return 0;
	if (!node_target_new(f->snap, f->mem, set))
		return out_of_memory(err);
	/* It does not come back here: groups are not nested in circles, see groups.h. */
	return resolve_set(f, group->items, group->n, set, NULL, err);
}

static int
mark_group(struct finding *f, const struct resolver *r, size_t item, struct fm_error *err)
{
	const struct fm_fabric *fab = &f->snap->fab;
	const struct node_target *set = NULL;
	int rc = find_group(f, &r->items[item], &set, err);

	if (rc != 0)
		return rc;
	FM_EACH_BIT (s, set->sw, fab->n_switches)
		add_switch(r, item, (fm_sw)s);
	FM_EACH_BIT (e, set->end, fab->n_ends)
		add_end(r, item, (fm_end)e);
	return 0;
}

/* --------------------------------------------------------------- the lists */

static int
resolve_one(struct finding *f, struct resolver *r, size_t i, struct fm_error *err)
{
	const struct node_item *item = &r->items[i];

	switch (item->kind) {
	case NODE_GUID:
		r->guids[r->n_guids++] = (struct guid_key){ item->number, i };
		return 0;
	case NODE_SYSTEM:
		r->systems[r->n_systems++] = (struct guid_key){ item->number, i };
		return 0;
	case NODE_NAME:
		if (strpbrk(item->name, "*?[") == NULL)
			r->names[r->n_names++] = (struct name_key){ item->name, i };
		else
			mark_pattern(r, i, f->snap);
		return 0;
	case NODE_TYPE:
		mark_type(r, i, &f->snap->fab);
		return 0;
	case NODE_PORTS:
		mark_ports(r, i, f->snap);
		return 0;
	case NODE_LEVEL:
		return mark_level(f, r, i, err);
	case NODE_GROUP:
		return mark_group(f, r, i, err);
	}
	return 0;
}

static int
resolve_items(struct finding *f, const struct node_item *items, const struct node_target *targets,
    size_t n, bool *hit, struct fm_error *err)
{
	struct resolver r = { .items = items, .targets = targets, .hit = hit, .n = n };
	int rc = 0;

	r.guids = fm_arena_array(f->mem, n + 1, struct guid_key);
	r.systems = fm_arena_array(f->mem, n + 1, struct guid_key);
	r.names = fm_arena_array(f->mem, n + 1, struct name_key);
	if (r.guids == NULL || r.systems == NULL || r.names == NULL)
		return out_of_memory(err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = resolve_one(f, &r, i, err);
	qsort(r.guids, r.n_guids, sizeof(*r.guids), by_guid);
	qsort(r.systems, r.n_systems, sizeof(*r.systems), by_guid);
	qsort(r.names, r.n_names, sizeof(*r.names), by_name);
	if (rc == 0 && r.n_guids + r.n_systems > 0)
		mark_guids(&r, &f->snap->fab);
	if (rc == 0 && r.n_names > 0)
		mark_names(&r, f->snap);
	return rc;
}

/* Items of one sign: added to *to, or taken out of it. */
static int
resolve_run(struct finding *f, const struct node_item *items, size_t n,
    const struct node_target *to, bool *hit, struct fm_error *err)
{
	struct node_target *targets = fm_arena_array(f->mem, n, struct node_target), taken = *to;
	int rc;

	if (targets == NULL || (items[0].minus && !node_target_new(f->snap, f->mem, &taken)))
		return out_of_memory(err);
	for (size_t i = 0; i < n; i++)
		targets[i] = taken;
	rc = resolve_items(f, items, targets, n, hit, err);
	if (items[0].minus) {
		take_words(to->sw, taken.sw, f->snap->fab.n_switches);
		take_words(to->end, taken.end, f->snap->fab.n_ends);
	}
	return rc;
}

static int
resolve_set(struct finding *f, const struct node_item *items, size_t n,
    const struct node_target *to, bool *hit, struct fm_error *err)
{
	int rc = 0;

	for (size_t i = 0, k; rc == 0 && i < n; i = k) {
		for (k = i + 1; k < n && items[k].minus == items[i].minus; k++)
			;
		rc = resolve_run(f, &items[i], k - i, to, hit != NULL ? &hit[i] : NULL, err);
	}
	return rc;
}

int
node_items_resolve(const struct node_item *items, const struct node_target *targets, size_t n,
    const struct snapshot *snap, struct fm_arena *mem, struct fm_error *err)
{
	struct finding f = { .snap = snap, .mem = mem };

	return resolve_items(&f, items, targets, n, NULL, err);
}

int
node_set_resolve(const struct node_item *items, size_t n, const struct node_target *to, bool *hit,
    const struct snapshot *snap, struct fm_arena *mem, struct fm_error *err)
{
	struct finding f = { .snap = snap, .mem = mem };

	return resolve_set(&f, items, n, to, hit, err);
}

int
node_find(const struct snapshot *snap, struct fm_hash *ends, struct fm_node_value *row,
    struct fm_error *err)
{
	const struct fm_fabric *fab = &snap->fab;

	row->end = FM_NONE;
	row->sw = fm_hash_find(&snap->sw_by_guid, row->guid);
	if (row->sw != FM_NONE)
		return 0;
	if (ends->n == 0)
		for (fm_end e = 0; e < fab->n_ends; e++)
			if (!fm_hash_put(ends, fab->end_guid[e], e))
				return fm_fail(
				    err, FM_E_RESOURCE, "out of memory while resolving GUIDs");
	row->end = fm_hash_find(ends, row->guid);
	return 0;
}
