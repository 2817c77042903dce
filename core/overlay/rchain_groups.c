/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Port groups.  A group is kept as its rules; members are looked up in a fabric
 * when it is there, because nodes come and go (rchain_members.c).
 */
#include "core/overlay/rchain_groups.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/nodes/nodes.h"
#include "core/text/blocks.h"
#include "lib/bitset.h"

enum { KEY_NAME, KEY_USE, KEY_GUID, KEY_RANGE, KEY_PORT_NAME, KEY_REGEXP, KEY_UNION, KEY_SUBTRACT };
static const char *const keys[] = { "name", "use", "port-guid", "port-guid-range", "port-name",
	"port-regexp", "union-rule", "subtract-rule", NULL };
static const struct block_form form = { "port-group", keys, sizeof(*keys) };

#define MAX_DEPTH 100 /* of groups made of groups */

uint32_t
rchain_find_group(const struct rchain *rc, const char *name)
{
	for (size_t i = 0; i < rc->groups.n; i++)
		if (strcmp(rc->groups.item[i].name, name) == 0)
			return (uint32_t)i;
	return FM_NONE;
}

/* ------------------------------------------------------------------ the rules */

/* A number of digits within low..high, or 0. */
static unsigned
number(const char *text, unsigned high, char **end)
{
	unsigned long n;

	*end = (char *)(uintptr_t)text;
	if (!isdigit((unsigned char)*text))
		return 0;
	n = strtoul(text, end, 10);
	return n > high ? 0 : (unsigned)n;
}

/* "1", "1/5/7", "2-5/7" behind the @. */
static bool
read_ports(const char *text, struct rchain_guid *g)
{
	g->some = true;
	for (;;) {
		char *end;
		unsigned low = number(text, 254, &end), high = low;

		if (low == 0)
			return false;
		if (*end == '-')
			high = number(end + 1, 254, &end);
		for (unsigned p = low; p <= high; p++)
			fm_bit_set(g->ports, p);
		if (high < low || (*end != '/' && *end != '\0'))
			return false;
		if (*end == '\0')
			return true;
		text = end + 1;
	}
}

static int
by_guid(const void *a, const void *b)
{
	const struct rchain_guid *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static int
read_guids(struct rchain_reading *r, struct rchain_group *g, char *list)
{
	char *word;

	while ((word = conf_next_item(&list)) != NULL) {
		struct rchain_guid item = { 0 };
		char *at = strchr(word, '@');
		bool ok;

		if (at != NULL)
			*at = '\0';
		ok = node_guid_parse(word, &item.guid) && (at == NULL || read_ports(at + 1, &item));
		if (!ok)
			return conf_fail_at(r->err, r->path, g->rule_line,
			    "port-guid: \"%.40s%s%.40s\" is wrong: 0x281, 0x281@1 or 0x281@2-5/7 "
			    "is right",
			    word, at != NULL ? "@" : "", at != NULL ? at + 1 : "");
		if (!fm_vec_push(&g->guids, item))
			return rchain_no_memory(r->err);
	}
	qsort(g->guids.item, g->guids.n, sizeof(*g->guids.item), by_guid);
	return 0;
}

static int
read_range(struct rchain_reading *r, struct rchain_group *g, char *text)
{
	struct rchain_guid low = { 0 }, high = { 0 };
	char *dash = strchr(text, '-');

	if (dash != NULL)
		*dash = '\0';
	if (dash == NULL || !node_guid_parse(conf_trim(text), &low.guid) ||
	    !node_guid_parse(conf_trim(dash + 1), &high.guid) || low.guid > high.guid)
		return conf_fail_at(r->err, r->path, g->rule_line,
		    "port-guid-range: one range, the lower GUID first, is right: 0x281-0x28f");
	return fm_vec_push(&g->guids, low) && fm_vec_push(&g->guids, high)
	    ? 0
	    : rchain_no_memory(r->err);
}

static bool
read_field(struct rchain_name *n, const char *field, const char *value)
{
	bool is_port = strcmp(field, "port") == 0;
	uint32_t *to = is_port ? &n->port : &n->hca;
	char *end;

	if (strcmp(field, "hostname") == 0) {
		n->host = value;
		return *value != '\0';
	}
	*to = number(value, 254, &end);
	return (is_port || strcmp(field, "hca_idx") == 0) && *to > 0 && *end == '\0';
}

/* "hostname=h; port=p; hca_idx=i": the last two may be left out, and the manuals have
 * blanks for semicolons, too. */
static bool
read_name(char *at, struct rchain_name *n)
{
	while (*at != '\0') {
		char *field = at, *equals = strchr(at, '='), *value;

		if (equals == NULL)
			return false;
		*equals = '\0';
		value = equals + 1 + strspn(equals + 1, " \t");
		at = value + strcspn(value, "; \t");
		if (*at != '\0')
			*at++ = '\0';
		at += strspn(at, "; \t");
		if (!read_field(n, conf_trim(field), value))
			return false;
	}
	return n->host != NULL;
}

static int
read_names(struct rchain_reading *r, struct rchain_group *g, char *list)
{
	char *word;

	while ((word = conf_next_item(&list)) != NULL) {
		struct rchain_name n = { 0 };
		char shown[64];

		snprintf(shown, sizeof(shown), "%s", word);
		if (!read_name(word, &n))
			return conf_fail_at(r->err, r->path, g->rule_line,
			    "port-name: \"%s\" is wrong: hostname=h1; port=1; hca_idx=1 is right, "
			    "where port and hca_idx may be left out",
			    shown);
		if (!fm_vec_push(&g->names, n))
			return rchain_no_memory(r->err);
	}
	return 0;
}

/* "SW*" or "SW*:4": an extended regular expression on node descriptions. */
static int
read_regexp(struct rchain_reading *r, struct rchain_group *g, char *text)
{
	char *colon = strrchr(text, ':'), *end;
	struct fm_error why;

	if (colon != NULL) {
		g->port = number(colon + 1 + strspn(colon + 1, " \t"), 254, &end);
		if (g->port == 0 || *end != '\0')
			return conf_fail_at(r->err, r->path, g->rule_line,
			    "port-regexp: behind the colon stands a port 1..254, not \"%.40s\"",
			    colon + 1);
		*colon = '\0';
	}
	g->rule = RULE_REGEXP;
	if (regexp_new(text, &g->regexp, &why) == 0)
		return 0;
	return conf_fail_at(
	    r->err, r->path, g->rule_line, "port-regexp: \"%.60s\": %.150s", text, why.msg);
}

static int
read_parts(struct rchain_reading *r, struct rchain_group *g, const char *key, char *list)
{
	char *word;
	unsigned n = 0;

	while ((word = conf_next_item(&list)) != NULL && n < 3)
		if (n++ < 2)
			g->part_names[n - 1] = word;
	return n == 2 ? 0
		      : conf_fail_at(r->err, r->path, g->rule_line,
			    "%s takes exactly two groups: %s: g1, g2", key, key);
}

/* ------------------------------------------------------------------- a group */

static int
check_colon(struct rchain_reading *r, const struct block *b, int key)
{
	return strchr(b->value[key], ':') == NULL
	    ? 0
	    : conf_fail_at(r->err, r->path, b->value_line[key],
		  "%s: a colon cannot stand in a value", keys[key]);
}

static int
read_rule(struct rchain_reading *r, struct rchain_group *g, int rule, char *value)
{
	switch (rule) {
	case KEY_GUID:
		g->rule = RULE_GUIDS;
		return read_guids(r, g, value);
	case KEY_RANGE:
		g->rule = RULE_RANGE;
		return read_range(r, g, value);
	case KEY_PORT_NAME:
		g->rule = RULE_NAMES;
		return read_names(r, g, value);
	case KEY_REGEXP:
		return read_regexp(r, g, value);
	case KEY_UNION:
		g->rule = RULE_UNION;
		break;
	default:
		g->rule = RULE_SUBTRACT;
	}
	return read_parts(r, g, keys[rule], value);
}

static int
check_name(struct rchain_reading *r, const struct block *b)
{
	uint32_t same;

	if (b->value[KEY_NAME] == NULL)
		return conf_fail_at(r->err, r->path, b->line, "this port-group has no name");
	same = rchain_find_group(r->rc, b->value[KEY_NAME]);
	if (same == FM_NONE)
		return 0;
	if (r->rc->groups.item[same].line == 0)
		return conf_fail_at(r->err, r->path, b->value_line[KEY_NAME],
		    "%s is predefined and cannot be defined anew", b->value[KEY_NAME]);
	return conf_fail_at(r->err, r->path, b->value_line[KEY_NAME],
	    "there is a port-group %.60s already, in line %u", b->value[KEY_NAME],
	    r->rc->groups.item[same].line);
}

/* Rule k of a block: a group of that name, whose members those of *last have besides. */
static int
read_one(struct rchain_reading *r, const struct block *b, int k, uint32_t *last)
{
	struct rchain_group fresh = { .name = b->value[KEY_NAME],
		.line = b->line,
		.rule_line = b->value_line[k],
		.also = FM_NONE };
	uint32_t number = (uint32_t)r->rc->groups.n;
	int rc;

	if (k != KEY_REGEXP && (rc = check_colon(r, b, k)) != 0)
		return rc;
	if (!fm_vec_push(&r->rc->groups, fresh))
		return rchain_no_memory(r->err);
	if (*last != FM_NONE)
		r->rc->groups.item[*last].also = number;
	*last = number;
	return read_rule(r, &r->rc->groups.item[number], k, b->value[k]);
}

static int
read_group(struct rchain_reading *r, const struct block *b)
{
	uint32_t last = FM_NONE;
	int rc;

	if ((rc = check_name(r, b)) != 0 || (rc = check_colon(r, b, KEY_NAME)) != 0)
		return rc;
	for (int k = KEY_GUID; rc == 0 && k <= KEY_SUBTRACT; k++)
		if (b->value[k] != NULL)
			rc = read_one(r, b, k, &last);
	if (rc == 0 && last == FM_NONE)
		rc = conf_fail_at(r->err, r->path, b->line,
		    "this port-group has no rule: port-guid, port-guid-range, port-name, "
		    "port-regexp, union-rule or subtract-rule");
	return rc;
}

/* ------------------------------------------------- groups made of other groups */

static int
link_parts(struct rchain_reading *r, struct rchain_group *g)
{
	for (int i = 0; i < 2; i++) {
		g->part[i] = rchain_find_group(r->rc, g->part_names[i]);
		if (g->part[i] == FM_NONE)
			return conf_fail_at(r->err, r->path, g->rule_line,
			    "there is no port-group %.60s", g->part_names[i]);
	}
	return 0;
}

/* Depth first: a group that is met again while it is open contains itself. */
static int
check_nesting(struct rchain_reading *r, struct rchain_group *g, unsigned depth)
{
	enum { NEW, OPEN, DONE };
	const uint32_t within[] = { g->part[0], g->part[1], g->also };
	int rc = 0;

	if (g->mark == DONE)
		return 0;
	if (g->mark == OPEN)
		return conf_fail_at(
		    r->err, r->path, g->rule_line, "port-group %.60s is made of itself", g->name);
	g->mark = OPEN;
	for (int i = rchain_has_parts(g) ? 0 : 2; rc == 0 && i < 3; i++) {
		struct rchain_group *in;

		if (within[i] == FM_NONE)
			continue;
		in = &r->rc->groups.item[within[i]];
		if (depth < MAX_DEPTH)
			rc = check_nesting(r, in, depth + 1);
		if (rc == 0 && g->n_levels <= in->n_levels)
			g->n_levels = in->n_levels + 1;
		if (rc == 0 && (depth == MAX_DEPTH || g->n_levels >= MAX_DEPTH))
			rc = conf_fail_at(r->err, r->path, g->rule_line,
			    "port-groups are nested more than %d deep", MAX_DEPTH);
	}
	g->mark = DONE;
	return rc;
}

static int
predefine(struct rchain *rc, struct fm_error *err)
{
	static const struct rchain_group known[] = {
		{ .name = "ALL", .rule = RULE_ALL, .also = FM_NONE },
		{ .name = "ALL_SWITCHES", .rule = RULE_ALL_SWITCHES, .also = FM_NONE },
		{ .name = "ALL_CAS", .rule = RULE_ALL_CAS, .also = FM_NONE }
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!fm_vec_push(&rc->groups, known[i]))
			return rchain_no_memory(err);
	return 0;
}

int
rchain_read_groups(
    struct rchain *chain, const struct fm_file *file, struct mistakes *all, struct fm_error *err)
{
	struct rchain_reading r = { chain, file->path, all, false, err };
	size_t before = mistakes_count(all);
	struct block b;
	struct blocks t;
	int rc = predefine(chain, err);

	if (rc != 0 || file->path == NULL)
		return rc;
	blocks_init(&t, file->path, file->bytes, file->n_bytes, chain->mem, all, err);
	while ((rc = blocks_read(&t, &form, &b)) > 0)
		if (read_group(&r, &b) != 0 && (rc = mistakes_note(all, err)) != 0)
			return rc;
	if (mistakes_count(all) > before) /* of what is half read no parts can be told */
		return rc;
	for (size_t i = 0; rc == 0 && i < chain->groups.n; i++)
		if (rchain_has_parts(&chain->groups.item[i]) &&
		    link_parts(&r, &chain->groups.item[i]) != 0)
			rc = mistakes_note(all, err);
	for (size_t i = 0; rc == 0 && i < chain->groups.n; i++)
		rc = check_nesting(&r, &chain->groups.item[i], 1);
	return rc;
}
