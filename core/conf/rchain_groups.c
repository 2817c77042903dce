/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Port groups.  A group is kept as its rule; members are looked up in a fabric
 * when it is there, because nodes come and go.  As a member of a topology a
 * switch counts whole, whichever of its ports a rule names.
 *
 * The number of an end-port within its host is not on the wire of a snapshot:
 * it is its place among the host's ports by GUID.
 */
#include "core/conf/rchain_groups.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/nodes.h"
#include "core/conf/rchain_text.h"
#include "core/route/snapshot.h"
#include "lib/bitset.h"

enum { KEY_NAME, KEY_USE, KEY_GUID, KEY_RANGE, KEY_PORT_NAME, KEY_REGEXP, KEY_UNION, KEY_SUBTRACT };
static const char *const keys[] = { "name", "use", "port-guid", "port-guid-range", "port-name",
	"port-regexp", "union-rule", "subtract-rule", NULL };
static const struct rchain_form form = { "port-group", keys };

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

/* "hostname=h; port=p; hca_idx=i": the last two may be left out. */
static bool
read_name(char *word, struct rchain_name *n)
{
	char *rest = word, *field;

	while ((field = strsep(&rest, ";")) != NULL) {
		char *value = strchr(field, '=');

		if (value == NULL)
			return false;
		*value = '\0';
		if (!read_field(n, conf_trim(field), conf_trim(value + 1)))
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
	char *colon = strrchr(text, ':'), *end, why[100];
	int code;

	if (colon != NULL) {
		g->port = number(colon + 1 + strspn(colon + 1, " \t"), 254, &end);
		if (g->port == 0 || *end != '\0')
			return conf_fail_at(r->err, r->path, g->rule_line,
			    "port-regexp: behind the colon stands a port 1..254, not \"%.40s\"",
			    colon + 1);
		*colon = '\0';
	}
	if (strchr(text, '{') != NULL) /* a few of them take all memory there is */
		return conf_fail_at(r->err, r->path, g->rule_line,
		    "port-regexp: \"%.60s\": counts in braces are not taken", text);
	code = regcomp(&g->regexp, text, REG_EXTENDED | REG_NOSUB);
	if (code == 0) {
		g->rule = RULE_REGEXP;
		return 0;
	}
	regerror(code, &g->regexp, why, sizeof(why));
	return conf_fail_at(r->err, r->path, g->rule_line, "port-regexp: \"%.60s\": %s", text, why);
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

/* The one rule of a block: its key's number. */
static int
find_rule(struct rchain_reading *r, const struct rchain_block *b, int *rule)
{
	*rule = -1;
	for (int k = KEY_GUID; k <= KEY_SUBTRACT; k++) {
		if (b->value[k] == NULL)
			continue;
		if (*rule >= 0)
			return conf_fail_at(r->err, r->path, b->value_line[k],
			    "a port-group has one rule, and %s was given in line %u", keys[*rule],
			    b->value_line[*rule]);
		*rule = k;
	}
	return *rule >= 0
	    ? 0
	    : conf_fail_at(r->err, r->path, b->line,
		  "this port-group has no rule: port-guid, port-guid-range, port-name, "
		  "port-regexp, union-rule or subtract-rule");
}

static int
check_colon(struct rchain_reading *r, const struct rchain_block *b, int key)
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
check_name(struct rchain_reading *r, const struct rchain_block *b)
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

static int
read_group(struct rchain_reading *r, const struct rchain_block *b)
{
	struct rchain_group *g, fresh = { .name = b->value[KEY_NAME], .line = b->line };
	int rule, rc;

	if ((rc = check_name(r, b)) != 0 || (rc = check_colon(r, b, KEY_NAME)) != 0 ||
	    (rc = find_rule(r, b, &rule)) != 0 ||
	    (rule != KEY_REGEXP && (rc = check_colon(r, b, rule)) != 0))
		return rc;
	fresh.rule_line = b->value_line[rule];
	if (!fm_vec_push(&r->rc->groups, fresh))
		return rchain_no_memory(r->err);
	g = &r->rc->groups.item[r->rc->groups.n - 1];
	return read_rule(r, g, rule, b->value[rule]);
}

/* ------------------------------------------------- groups made of other groups */

static bool
has_parts(const struct rchain_group *g)
{
	return g->rule == RULE_UNION || g->rule == RULE_SUBTRACT;
}

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
check_cycle(struct rchain_reading *r, struct rchain_group *g)
{
	enum { NEW, OPEN, DONE };
	int rc = 0;

	if (!has_parts(g) || g->mark == DONE)
		return 0;
	if (g->mark == OPEN)
		return conf_fail_at(
		    r->err, r->path, g->rule_line, "port-group %.60s is made of itself", g->name);
	g->mark = OPEN;
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = check_cycle(r, &r->rc->groups.item[g->part[i]]);
	g->mark = DONE;
	return rc;
}

static int
predefine(struct rchain *rc, struct fm_error *err)
{
	static const struct rchain_group known[] = { { .name = "ALL", .rule = RULE_ALL },
		{ .name = "ALL_SWITCHES", .rule = RULE_ALL_SWITCHES },
		{ .name = "ALL_CAS", .rule = RULE_ALL_CAS } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!fm_vec_push(&rc->groups, known[i]))
			return rchain_no_memory(err);
	return 0;
}

int
rchain_read_groups(struct rchain *chain, const struct fm_file *file, struct fm_error *err)
{
	struct rchain_reading r = { chain, file->path, err };
	struct rchain_block b;
	struct rchain_text t;
	int rc = predefine(chain, err);

	if (rc != 0 || file->path == NULL)
		return rc;
	rchain_text_init(&t, file, chain->mem);
	while ((rc = rchain_text_next(&t, &form, &b, err)) > 0)
		if ((rc = read_group(&r, &b)) != 0)
			return rc;
	for (size_t i = 0; rc == 0 && i < chain->groups.n; i++)
		if (has_parts(&chain->groups.item[i]))
			rc = link_parts(&r, &chain->groups.item[i]);
	for (size_t i = 0; rc == 0 && i < chain->groups.n; i++)
		rc = check_cycle(&r, &chain->groups.item[i]);
	return rc;
}

/* ------------------------------------------------------------------- members */

struct lookup {
	const struct rchain *rc;
	const struct fm_fabric *fab;
	uint8_t *number; /* [n_ends] of the port within its host, from 1 */
	struct fm_arena mem;
};

struct host_port {
	uint64_t node, guid;
	fm_end end;
};

static int
by_node(const void *a, const void *b)
{
	const struct host_port *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static bool
number_ports(struct lookup *l)
{
	const struct fm_fabric *fab = l->fab;
	struct host_port *ports = fm_arena_array(&l->mem, fab->n_ends + 1u, struct host_port);

	l->number = fm_arena_array(&l->mem, fab->n_ends + 1u, uint8_t);
	if (ports == NULL || l->number == NULL)
		return false;
	for (fm_end e = 0; e < fab->n_ends; e++)
		ports[e] = (struct host_port){ fab->end_node_guid[e], fab->end_guid[e], e };
	qsort(ports, fab->n_ends, sizeof(*ports), by_node);
	for (uint32_t i = 0, first = 0; i < fab->n_ends; i++) {
		if (ports[i].node != ports[first].node)
			first = i;
		l->number[ports[i].end] = (uint8_t)(i - first + 1);
	}
	return true;
}

static const struct rchain_guid *
find_guid(const struct rchain_group *g, uint64_t guid)
{
	struct rchain_guid want = { .guid = guid };

	return g->guids.n == 0 ? NULL
			       : bsearch(&want, g->guids.item, g->guids.n, sizeof(want), by_guid);
}

static bool
in_range(const struct rchain_group *g, uint64_t guid)
{
	return guid >= g->guids.item[0].guid && guid <= g->guids.item[1].guid;
}

/* "h1 HCA-2" and "h1 mlx5_1" are the second adapter of h1. */
static bool
is_adapter(const struct rchain_name *n, const char *description)
{
	size_t length = strlen(n->host);
	const char *rest = description + length, *digits;
	unsigned hca = 1;

	if (strncmp(description, n->host, length) != 0 || (*rest != '\0' && *rest != ' '))
		return false;
	if ((digits = strstr(rest, "HCA-")) != NULL)
		hca = (unsigned)strtoul(digits + 4, NULL, 10);
	else if (strstr(rest, "mlx") != NULL && (digits = strrchr(rest, '_')) != NULL)
		hca = (unsigned)strtoul(digits + 1, NULL, 10) + 1;
	return n->hca == 0 || n->hca == hca;
}

static bool
is_named(const struct lookup *l, const struct rchain_group *g, fm_end e)
{
	for (size_t i = 0; i < g->names.n; i++) {
		const struct rchain_name *n = &g->names.item[i];

		if (is_adapter(n, l->fab->end_name[e]) && (n->port == 0 || n->port == l->number[e]))
			return true;
	}
	return false;
}

static bool
switch_matches(const struct lookup *l, const struct rchain_group *g, fm_sw sw)
{
	switch (g->rule) {
	case RULE_ALL:
	case RULE_ALL_SWITCHES:
		return true;
	case RULE_GUIDS:
		return find_guid(g, l->fab->sw_guid[sw]) != NULL;
	case RULE_RANGE:
		return in_range(g, l->fab->sw_guid[sw]);
	case RULE_REGEXP:
		return regexec(&g->regexp, l->fab->sw_name[sw], 0, NULL, 0) == 0;
	case RULE_ALL_CAS:
	case RULE_NAMES:
	case RULE_UNION:
	case RULE_SUBTRACT:
		return false;
	}
	return false;
}

static bool
end_matches(const struct lookup *l, const struct rchain_group *g, fm_end e)
{
	const struct rchain_guid *host;

	switch (g->rule) {
	case RULE_ALL:
	case RULE_ALL_CAS:
		return true;
	case RULE_GUIDS:
		host = find_guid(g, l->fab->end_node_guid[e]);
		return find_guid(g, l->fab->end_guid[e]) != NULL ||
		    (host != NULL && host->some && fm_bit_test(host->ports, l->number[e]));
	case RULE_RANGE:
		return in_range(g, l->fab->end_guid[e]);
	case RULE_NAMES:
		return is_named(l, g, e);
	case RULE_REGEXP:
		return (g->port == 0 || g->port == l->number[e]) &&
		    regexec(&g->regexp, l->fab->end_name[e], 0, NULL, 0) == 0;
	case RULE_ALL_SWITCHES:
	case RULE_UNION:
	case RULE_SUBTRACT:
		return false;
	}
	return false;
}

static bool
collect_plain(const struct lookup *l, const struct rchain_group *g, uint64_t *sw, uint64_t *end)
{
	for (fm_sw s = 0; s < l->fab->n_switches; s++)
		if (switch_matches(l, g, s))
			fm_bit_set(sw, s);
	for (fm_end e = 0; e < l->fab->n_ends; e++)
		if (l->fab->end_kind[e] != FM_END_SWITCH && end_matches(l, g, e))
			fm_bit_set(end, e);
	return true;
}

static bool
collect(struct lookup *l, uint32_t group, uint64_t *sw, uint64_t *end)
{
	const struct rchain_group *g = &l->rc->groups.item[group];
	size_t n_sw = FM_BITSET_WORDS(l->fab->n_switches), n_end = FM_BITSET_WORDS(l->fab->n_ends);
	uint64_t *other_sw, *other_end;

	if (!has_parts(g))
		return collect_plain(l, g, sw, end);
	other_sw = fm_arena_array(&l->mem, n_sw + 1, uint64_t);
	other_end = fm_arena_array(&l->mem, n_end + 1, uint64_t);
	if (other_sw == NULL || other_end == NULL || !collect(l, g->part[0], sw, end) ||
	    !collect(l, g->part[1], other_sw, other_end))
		return false;
	for (size_t i = 0; i < n_sw; i++)
		sw[i] = g->rule == RULE_UNION ? sw[i] | other_sw[i] : sw[i] & ~other_sw[i];
	for (size_t i = 0; i < n_end; i++)
		end[i] = g->rule == RULE_UNION ? end[i] | other_end[i] : end[i] & ~other_end[i];
	return true;
}

int
rchain_group_members(const struct rchain *rc, uint32_t group, const struct snapshot *snap,
    uint64_t *sw, uint64_t *end, struct fm_error *err)
{
	struct lookup l = { .rc = rc, .fab = &snap->fab };
	bool ok;

	fm_arena_init(&l.mem, SIZE_MAX);
	ok = number_ports(&l) && collect(&l, group, sw, end);
	fm_arena_fini(&l.mem);
	return ok ? 0 : rchain_no_memory(err);
}
