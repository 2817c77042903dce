/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Node items to members of a snapshot.
 *
 * GUIDs are sorted once and every node looks itself up, so that a list of all
 * hosts costs n log n; patterns are few and tried on every name.
 */
#include "core/conf/nodes.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/route/snapshot.h"
#include "lib/bitset.h"
#include "lib/error.h"

/* ---------------------------------------------------------------- parsing */

bool
node_guid_parse(const char *text, uint64_t *guid)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*guid = strtoull(text, &end, 0);
	return *end == '\0' && end != text && errno == 0 && *guid != 0;
}

static int
parse_guid_item(const char *guid, struct node_item *item, struct fm_error *err)
{
	if (!node_guid_parse(guid, &item->number))
		return fm_fail(err, FM_E_CONFIG,
		    "'%s' is no GUID: write 0x and up to 16 hex digits, or name:%s for a node's "
		    "name",
		    guid, guid);
	return 0;
}

static int
parse_level(const char *level, struct node_item *item, struct fm_error *err)
{
	char *end;

	if (strcmp(level, "top") == 0) {
		item->number = NODE_LEVEL_TOP;
		return 0;
	}
	item->number = strtoull(level, &end, 10);
	if (!isdigit((unsigned char)level[0]) || *end != '\0' || item->number > 255)
		return fm_fail(err, FM_E_CONFIG,
		    "level:%s: write level:0 (leaves) to level:255, or level:top", level);
	return 0;
}

/* [a-b,c] must close and hold numbers. */
static int
check_pattern(const char *p, struct fm_error *err)
{
	for (const char *q = p; (q = strchr(q, '[')) != NULL;) {
		size_t n = strspn(q + 1, "0123456789-,");
		bool ok = n > 0 && q[n + 1] == ']' && isdigit((unsigned char)q[1]) &&
		    isdigit((unsigned char)q[n]);

		for (size_t i = 1; ok && i < n; i++)
			ok = isdigit((unsigned char)q[i]) || isdigit((unsigned char)q[i + 1]);
		if (!ok)
			return fm_fail(
			    err, FM_E_CONFIG, "'%s': brackets hold numbers: [1-18] or [1-4,7]", p);
		q += n + 2;
	}
	if (*p == '\0')
		return fm_fail(err, FM_E_CONFIG, "an empty name matches no node");
	return 0;
}

static const char *
after_prefix(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

int
node_item_parse(const char *text, struct node_item *item, struct fm_error *err)
{
	const char *rest;

	*item = (struct node_item){ .text = text };
	if ((rest = after_prefix(text, "system:")) != NULL) {
		item->kind = NODE_SYSTEM;
		return parse_guid_item(rest, item, err);
	}
	if ((rest = after_prefix(text, "level:")) != NULL) {
		item->kind = NODE_LEVEL;
		return parse_level(rest, item, err);
	}
	if (text[0] == '@')
		return fm_fail(
		    err, FM_E_CONFIG, "'%s': this fmd knows no groups; list the members", text);
	if (isdigit((unsigned char)text[0])) {
		item->kind = NODE_GUID;
		return parse_guid_item(text, item, err);
	}
	rest = after_prefix(text, "name:");
	item->kind = NODE_NAME;
	item->name = rest != NULL ? rest : strcmp(text, "All") == 0 ? "*" : text;
	return check_pattern(item->name, err);
}

/* --------------------------------------------------------------- matching */

/* Is number one of "1-4,7]"? */
static bool
in_ranges(const char *list, uint64_t number)
{
	for (;;) {
		char *end;
		uint64_t low = strtoull(list, &end, 10), high = low;

		if (*end == '-')
			high = strtoull(end + 1, &end, 10);
		if (number >= low && number <= high)
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
}

/* One position of the pattern matched at *name?  Steps both on.  A bracket
 * takes a whole run of digits, so that [1-18] matches neither the 18 of 181
 * nor the 2 of 32; a digit written before it may begin the run. */
static bool
match_one(const char **pattern, const char **name, bool first)
{
	char *end;

	if (**pattern == '[') {
		const char *list = *pattern + 1;

		if (!isdigit((unsigned char)**name) || !in_ranges(list, strtoull(*name, &end, 10)))
			return false;
		if (!first && isdigit((unsigned char)(*name)[-1]) &&
		    !isdigit((unsigned char)list[-2]))
			return false;
		*name = end;
		*pattern = strchr(list, ']') + 1;
		return true;
	}
	if (**name == '\0' || (**pattern != '?' && **pattern != **name))
		return false;
	(*pattern)++;
	(*name)++;
	return true;
}

/* Greedy with one point to go back to: the last star.  O(|pattern| |name|). */
bool
node_name_match(const char *pattern, const char *name)
{
	const char *const start = name, *star = NULL, *resume = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = name;
		} else if (*pattern == '\0' && *name == '\0') {
			return true;
		} else if (*pattern == '\0' || !match_one(&pattern, &name, name == start)) {
			if (star == NULL || *resume == '\0')
				return false;
			pattern = star;
			name = ++resume;
		}
	}
}

/* -------------------------------------------------------------- resolving */

struct guid_key {
	uint64_t guid;
	size_t item;
};

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
lower_bound(const struct guid_key *keys, size_t n, uint64_t guid)
{
	size_t low = 0;

	while (n > 0) {
		size_t half = n / 2;

		if (keys[low + half].guid < guid) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

struct resolver {
	const struct node_item *items;
	const struct node_target *targets;
	struct guid_key *guids, *systems;
	size_t n, n_guids, n_systems;
};

static void
mark_switch(
    const struct resolver *r, const struct guid_key *keys, size_t n, uint64_t guid, fm_sw sw)
{
	for (size_t i = lower_bound(keys, n, guid); i < n && keys[i].guid == guid; i++)
		fm_bit_set(r->targets[keys[i].item].sw, sw);
}

static void
mark_end(const struct resolver *r, const struct guid_key *keys, size_t n, uint64_t guid, fm_end end)
{
	for (size_t i = lower_bound(keys, n, guid); i < n && keys[i].guid == guid; i++)
		fm_bit_set(r->targets[keys[i].item].end, end);
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

static void
mark_name(const struct node_item *item, const struct node_target *to, const struct fm_fabric *fab)
{
	for (fm_sw s = 0; s < fab->n_switches; s++)
		if (node_name_match(item->name, fab->sw_name[s]))
			fm_bit_set(to->sw, s);
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (node_name_match(item->name, fab->end_name[e]))
			fm_bit_set(to->end, e);
}

/* levels[sw] = hops to the nearest switch with a host, FM_NONE where none is
 * reached; the highest one is returned in *top. */
static int
find_levels(const struct fm_fabric *fab, struct fm_arena *mem, uint32_t **levels, uint32_t *top,
    struct fm_error *err)
{
	uint32_t *level = fm_arena_array(mem, fab->n_switches + 1, uint32_t), n_queue = 0;
	fm_sw *queue = fm_arena_array(mem, fab->n_switches + 1, fm_sw);

	if (level == NULL || queue == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory while resolving node names");
	memset(level, 0xff, fab->n_switches * sizeof(*level));
	for (fm_end e = 0; e < fab->n_ends; e++) {
		fm_sw s = fab->end_sw[e];

		if (fab->end_kind[e] == FM_END_CA && s != FM_NONE && level[s] == FM_NONE) {
			level[s] = 0;
			queue[n_queue++] = s;
		}
	}
	*top = 0;
	for (uint32_t i = 0; i < n_queue; i++) {
		fm_sw s = queue[i];

		*top = level[s];
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			if (level[fab->link_to[l]] == FM_NONE) {
				level[fab->link_to[l]] = level[s] + 1;
				queue[n_queue++] = fab->link_to[l];
			}
	}
	*levels = level;
	return 0;
}

static int
mark_levels(const struct resolver *r, const struct fm_fabric *fab, struct fm_arena *mem,
    struct fm_error *err)
{
	uint32_t *level = NULL, top = 0;
	int rc;

	for (size_t i = 0; i < r->n; i++) {
		uint64_t want = r->items[i].number;

		if (r->items[i].kind != NODE_LEVEL)
			continue;
		if (level == NULL && (rc = find_levels(fab, mem, &level, &top, err)) != 0)
			return rc;
		if (want == NODE_LEVEL_TOP)
			want = top;
		for (fm_sw s = 0; s < fab->n_switches; s++)
			if (level[s] == want)
				fm_bit_set(r->targets[i].sw, s);
	}
	return 0;
}

int
node_items_resolve(const struct node_item *items, const struct node_target *targets, size_t n,
    const struct snapshot *snap, struct fm_arena *mem, struct fm_error *err)
{
	struct resolver r = { .items = items, .targets = targets, .n = n };

	r.guids = fm_arena_array(mem, n + 1, struct guid_key);
	r.systems = fm_arena_array(mem, n + 1, struct guid_key);
	if (r.guids == NULL || r.systems == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory while resolving node names");
	for (size_t i = 0; i < n; i++) {
		if (items[i].kind == NODE_GUID)
			r.guids[r.n_guids++] = (struct guid_key){ items[i].number, i };
		else if (items[i].kind == NODE_SYSTEM)
			r.systems[r.n_systems++] = (struct guid_key){ items[i].number, i };
		else if (items[i].kind == NODE_NAME)
			mark_name(&items[i], &targets[i], &snap->fab);
	}
	qsort(r.guids, r.n_guids, sizeof(*r.guids), by_guid);
	qsort(r.systems, r.n_systems, sizeof(*r.systems), by_guid);
	if (r.n_guids + r.n_systems > 0)
		mark_guids(&r, &snap->fab);
	return mark_levels(&r, &snap->fab, mem, err);
}

int
node_find(const struct snapshot *snap, struct fm_hash *ends, uint64_t guid, uint32_t *index,
    struct fm_error *err)
{
	const struct fm_fabric *fab = &snap->fab;

	*index = fm_hash_find(&snap->sw_by_guid, guid);
	if (*index != FM_HASH_NONE)
		return 0;
	if (ends->n == 0)
		for (fm_end e = 0; e < fab->n_ends; e++)
			if (!fm_hash_put(ends, fab->end_guid[e], e))
				return fm_fail(
				    err, FM_E_RESOURCE, "out of memory while resolving GUIDs");
	*index = fm_hash_find(ends, guid);
	return 0;
}
