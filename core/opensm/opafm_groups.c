/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opa-fm's device groups as groups of fmd, those that routing and vfabrics use.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/opensm/opafm_private.h"
#include "core/opensm/opensm_private.h"
#include "core/text/number.h"

#define MAX_NAME 63	/* of a group of fmd's */
#define MAX_INCLUDED 32 /* one in another; opa-fm's own bound, too */

uint32_t
opafm_child(const struct opafm *x, uint32_t of, const char *name, uint32_t after)
{
	const struct opafm_element *e = x->elements.item;

	for (uint32_t i = after == 0 ? of + 1 : e[after].end; i < e[of].end; i = e[i].end)
		if (strcmp(e[i].name, name) == 0)
			return i;
	return 0;
}

/* ------------------------------------------------------------------- names */

static int
by_name(const void *a, const void *b)
{
	const struct opafm_name *l = a, *r = b;
	int order = strcmp(l->name, r->name);

	if (order == 0)
		order = l->is_common - r->is_common;
	return order != 0 ? order : (l->element > r->element) - (l->element < r->element);
}

static void
name_groups_of(struct opafm *x, uint32_t part, bool is_common)
{
	for (uint32_t s = 0; (s = opafm_child(x, part, "DeviceGroups", s)) != 0;)
		for (uint32_t g = 0; (g = opafm_child(x, s, "DeviceGroup", g)) != 0;) {
			uint32_t name = opafm_child(x, g, "Name", 0);

			x->o.out_of_memory |= name != 0 &&
			    !fm_vec_push(&x->names,
				((struct opafm_name){
				    x->elements.item[name].value, is_common, g }));
		}
}

void
opafm_name_groups(struct opafm *x)
{
	for (uint32_t i = 0; (i = opafm_child(x, 0, "Common", i)) != 0;)
		name_groups_of(x, i, true);
	if (x->fm != 0)
		name_groups_of(x, x->fm, false);
	if (x->names.n > 0)
		qsort(x->names.item, x->names.n, sizeof(*x->names.item), by_name);
}

/* The element of the group of that name; 0: none. */
static uint32_t
find_group(const struct opafm *x, const char *name)
{
	size_t low = 0, high = x->names.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(x->names.item[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < x->names.n && strcmp(x->names.item[low].name, name) == 0
	    ? x->names.item[low].element
	    : 0;
}

static const char *
spell(struct opafm *x, const char *lead, const char *text)
{
	size_t bytes = strlen(lead) + strlen(text) + 1;
	char *s = fm_arena_alloc(x->o.mem, bytes);

	x->o.out_of_memory |= s == NULL;
	if (s != NULL)
		snprintf(s, bytes, "%s%s", lead, text);
	return s;
}

static void
add_item(struct opafm_group *g, const char *item, unsigned line)
{
	if (item == NULL)
		return;
	g->items[g->n_items] = item;
	g->lines[g->n_items++] = line;
}

/* A group while it is filled. */
struct filling {
	struct opafm *x;
	struct opafm_group *g;
	const struct opensm_line *user;
	bool *seen; /* [elements.n]: each group is taken in once, circles end */
	int depth;
	bool left_out; /* and told: something that it has */
};

static void
add_guid(struct filling *f, const char *lead, const struct opafm_element *e)
{
	char text[24];
	uint64_t guid;

	if (!number_parse(e->value, &guid) || guid == 0) {
		opensm_tell(&f->x->o, OPENSM_BAD, f->user,
		    "%s %.40s of the device group %.60s is no GUID", e->name, e->value, f->g->said);
		return;
	}
	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	add_item(f->g, spell(f->x, lead, text), e->line);
}

/* "leaf[1-4]:[2-3]" is of ports, which no list of nodes here names by a description. */
static bool
names_ports(const char *desc)
{
	const char *colon = strrchr(desc, ':');

	return colon != NULL && (colon[1] == '[' || isdigit((unsigned char)colon[1]));
}

static void add_members(struct filling *f, uint32_t from);

static void
add_included(struct filling *f, const struct opafm_element *e)
{
	uint32_t from = find_group(f->x, e->value);

	if (from == 0) {
		opensm_tell(&f->x->o, OPENSM_BAD, f->user,
		    "the device group %.60s includes %.60s, which is not there", f->g->said,
		    e->value);
	} else if (f->depth == MAX_INCLUDED) {
		opensm_tell(&f->x->o, OPENSM_BAD, f->user,
		    "device groups are included more than %d deep: %.60s", MAX_INCLUDED, e->value);
	} else {
		f->depth++;
		add_members(f, from);
		f->depth--;
	}
}

/* One element of a group: an item, or told. */
static void
add_member(struct filling *f, const struct opafm_element *e)
{
	const struct opensm_key key = { .name = "DeviceGroup" };
	const struct opensm_line l = { .key = &key, .value = e->value, .line = e->line };

	if (strcmp(e->name, "Name") == 0)
		return;
	if (strcmp(e->name, "NodeGUID") == 0 || strcmp(e->name, "PortGUID") == 0)
		add_guid(f, "", e);
	else if (strcmp(e->name, "SystemImageGUID") == 0)
		add_guid(f, "system:", e);
	else if (strcmp(e->name, "NodeDesc") == 0 && !names_ports(e->value))
		add_item(f->g, spell(f->x, "name:", e->value), e->line);
	else if (strcmp(e->name, "Select") == 0 && strcasecmp(e->value, "All") == 0)
		add_item(f->g, "All", e->line);
	else if (strcmp(e->name, "Select") == 0 && strcasecmp(e->value, "SWE0") == 0)
		add_item(f->g, "type:switch", e->line); /* others have no P_Key table */
	else if (strcmp(e->name, "NodeType") == 0 && strcasecmp(e->value, "FI") == 0)
		add_item(f->g, "type:ca", e->line);
	else if (strcmp(e->name, "NodeType") == 0 && strcasecmp(e->value, "SW") == 0)
		add_item(f->g, "type:switch", e->line);
	else if (strcmp(e->name, "IncludeGroup") == 0)
		add_included(f, e);
	else {
		f->left_out = true;
		opensm_tell(&f->x->o, OPENSM_STRAY, &l,
		    "%.40s %.60s of the device group %.60s is left out: no list of nodes here can "
		    "name it",
		    e->name, e->value, f->g->said);
	}
}

static void
add_members(struct filling *f, uint32_t from)
{
	const struct opafm *x = f->x;

	if (f->seen[from])
		return;
	f->seen[from] = true;
	for (uint32_t i = from + 1; i < x->elements.item[from].end; i = x->elements.item[i].end)
		add_member(f, &x->elements.item[i]);
}

const char *
opafm_clean_name(struct opafm *x, const char *name)
{
	char *s = fm_arena_strdup(x->o.mem, name);

	x->o.out_of_memory |= s == NULL;
	if (s == NULL)
		return NULL;
	if (strlen(s) > MAX_NAME)
		s[MAX_NAME] = '\0';
	for (char *p = s; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr("_.-", *p) == NULL)
			*p = '_';
	return s;
}

static struct opafm_group *
make_group(struct opafm *x, const struct opensm_line *l, uint32_t at)
{
	struct opafm_group g = { .line = x->elements.item[at].line,
		.said = x->elements.item[opafm_child(x, at, "Name", 0)].value };
	struct filling f = { .x = x, .g = &g, .user = l };

	g.name = opafm_clean_name(x, g.said);
	g.items = fm_arena_array(x->o.mem, x->elements.n, const char *);
	g.lines = fm_arena_array(x->o.mem, x->elements.n, unsigned);
	f.seen = fm_arena_array(x->o.mem, x->elements.n, bool);
	if (g.name == NULL || g.items == NULL || g.lines == NULL || f.seen == NULL) {
		x->o.out_of_memory = true;
		return NULL;
	}
	for (size_t i = 0; i < x->groups.n; i++)
		if (strcmp(x->groups.item[i].name, g.name) == 0)
			opensm_tell(&x->o, OPENSM_BAD, l,
			    "the device groups %.60s and %.60s would both be the group %s: names "
			    "here are of letters, digits, _ . and -",
			    x->groups.item[i].said, g.said, g.name);
	add_members(&f, at);
	if (g.n_items == 0 && f.left_out)
		return NULL;
	if (g.n_items == 0 && x->o.told[OPENSM_BAD].n == 0)
		opensm_tell(&x->o, OPENSM_BAD, l, "the device group %.60s of line %u names nothing",
		    g.said, g.line);
	if (!fm_vec_push(&x->groups, g)) {
		x->o.out_of_memory = true;
		return NULL;
	}
	return &x->groups.item[x->groups.n - 1];
}

const char *
opafm_group_item(struct opafm *x, const struct opensm_line *l, const char *name)
{
	const struct opafm_group *g = NULL;
	uint32_t at;

	if (strcmp(name, "All") == 0)
		return "All";
	for (size_t i = 0; g == NULL && i < x->groups.n; i++)
		if (strcmp(x->groups.item[i].said, name) == 0)
			g = &x->groups.item[i];
	if (g == NULL && (at = find_group(x, name)) == 0)
		opensm_tell(
		    &x->o, OPENSM_BAD, l, "%s: there is no device group %.60s", l->key->name, name);
	else if (g == NULL)
		g = make_group(x, l, at);
	return g != NULL ? spell(x, "@", g->name) : NULL;
}
