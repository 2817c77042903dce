/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl/slurm.c - fmctl export slurm: the fabric as SLURM's topology.conf, and a site's file
 * against it.
 *
 * SLURM's tree has one parent a switch: the leaves are the switches that hosts hang off, above them
 * stand the groups that fmd tells of in "fabric" (pods of a fat tree), and above all one root for
 * each part of the fabric that is joined.  Spines have no place in such a tree.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/cli.h"
#include "core/graph/snapshot.h"
#include "core/wire/wire.h"
#include "lib/arena.h"
#include "lib/vec.h"
#include "tools/fmctl.h"
#include "tools/fmctl/hostlist.h"

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))
#define I JSON_INTEGER_FORMAT
#define NONE UINT32_MAX

struct host {
	const char *name;
	uint32_t leaf; /* number of the node in the answer */
};

struct leaf {
	const char *name;
	uint32_t node, group, part; /* group NONE: it has none */
	size_t first, n;	    /* in hosts */
};

struct tree {
	const json_t *fabric;
	uint32_t n;		   /* nodes of the answer */
	uint32_t *leaf_of, *part;  /* [n] NONE: none */
	uint8_t *by_port;	   /* [n] by which port of the host leaf_of is */
	FM_VEC(struct host) hosts; /* by leaf, then name */
	FM_VEC(struct leaf) leaves;
	FM_VEC(const char *) left_out; /* no names of hosts */
	size_t n_twice;		       /* adapters of hosts that are there by another one */
	struct fm_arena mem;
};

static json_int_t
number_at(const json_t *list, size_t i)
{
	return json_integer_value(json_array_get(list, i));
}

static const char *
name_at(const struct tree *t, uint32_t node)
{
	const char *name =
	    json_string_value(json_array_get(json_object_get(t->fabric, "names"), node));

	return name != NULL ? name : "";
}

static json_int_t
type_at(const struct tree *t, uint32_t node)
{
	return number_at(json_object_get(t->fabric, "types"), node);
}

/* --------------------------------------------------------------------- cables */

static uint32_t
find_part(struct tree *t, uint32_t node)
{
	while (t->part[node] != node)
		node = t->part[node] = t->part[t->part[node]];
	return node;
}

/* The host's leaf is that of its first port. */
static void
take_leaf(struct tree *t, uint32_t host, json_int_t port, uint32_t leaf)
{
	if (type_at(t, host) != WIRE_NODE_CA || type_at(t, leaf) != WIRE_NODE_SWITCH ||
	    (t->leaf_of[host] != NONE && t->by_port[host] <= port))
		return;
	t->leaf_of[host] = leaf;
	t->by_port[host] = (uint8_t)port;
}

static void
take_cables(struct tree *t)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(t->fabric, "cables"), i, row)
	{
		json_int_t a = number_at(row, 0), b = number_at(row, 2);

		if (a < 0 || b < 0 || a >= t->n || b >= t->n)
			continue;
		t->part[find_part(t, (uint32_t)a)] = find_part(t, (uint32_t)b);
		take_leaf(t, (uint32_t)a, number_at(row, 1), (uint32_t)b);
		take_leaf(t, (uint32_t)b, number_at(row, 3), (uint32_t)a);
	}
}

/* ---------------------------------------------------------------- hosts, leaves */

static bool
is_name(const char *name)
{
	return name[0] != '\0' &&
	    name[strspn(
		name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] == '\0';
}

static char *
first_word(struct tree *t, const char *text)
{
	size_t len = strcspn(text, " ");
	char *word = fm_arena_alloc(&t->mem, len + 1);

	return word != NULL ? memcpy(word, text, len) : NULL;
}

/* What SLURM takes for a name of a switch. */
static char *
switch_name(struct tree *t, const char *text)
{
	char *name = fm_arena_strdup(&t->mem, text);

	for (char *c = name; c != NULL && *c != '\0'; c++)
		if (!isalnum((unsigned char)*c) && strchr("-_.", *c) == NULL)
			*c = '_';
	return name;
}

static int
by_host(const void *a, const void *b)
{
	const struct host *x = a, *y = b;
	int order = strverscmp(x->name, y->name);

	return order != 0 ? order : x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

static int
by_leaf(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return x->leaf != y->leaf ? (x->leaf < y->leaf ? -1 : 1) : by_host(a, b);
}

static bool
take_hosts(struct tree *t)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		struct host h = { first_word(t, name_at(t, i)), t->leaf_of[i] };

		if (h.leaf == NONE || snapshot_is_aggregator(name_at(t, i)))
			continue;
		if (h.name == NULL ||
		    !(is_name(h.name) ? fm_vec_push(&t->hosts, h)
				      : fm_vec_push(&t->left_out, name_at(t, i))))
			return false;
	}
	if (t->hosts.n > 1)
		qsort(t->hosts.item, t->hosts.n, sizeof(struct host), by_host);
	for (size_t i = 0; i < t->hosts.n; i++)
		if (n == 0 || strcmp(t->hosts.item[n - 1].name, t->hosts.item[i].name) != 0)
			t->hosts.item[n++] = t->hosts.item[i];
	t->n_twice = t->hosts.n - n;
	t->hosts.n = n;
	if (n > 1)
		qsort(t->hosts.item, n, sizeof(struct host), by_leaf);
	return true;
}

static int
by_place(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return strverscmp(x->name, y->name);
}

static bool
take_leaves(struct tree *t)
{
	for (size_t i = 0; i < t->hosts.n; i++) {
		uint32_t node = t->hosts.item[i].leaf;
		json_int_t group = number_at(json_object_get(t->fabric, "group"), node);
		struct leaf l = { .name = switch_name(t, name_at(t, node)),
			.node = node,
			.group = group >= 0 ? (uint32_t)group : NONE,
			.part = find_part(t, node),
			.first = i };

		if (i == 0 || t->hosts.item[i - 1].leaf != node)
			if (l.name == NULL || !fm_vec_push(&t->leaves, l))
				return false;
		t->leaves.item[t->leaves.n - 1].n++;
	}
	if (t->leaves.n > 1)
		qsort(t->leaves.item, t->leaves.n, sizeof(struct leaf), by_place);
	return true;
}

static bool
make_tree(struct tree *t)
{
	fm_arena_init(&t->mem, SIZE_MAX);
	t->n = (uint32_t)json_array_size(json_object_get(t->fabric, "guids"));
	t->leaf_of = fm_arena_array(&t->mem, (size_t)t->n + 1, uint32_t);
	t->part = fm_arena_array(&t->mem, (size_t)t->n + 1, uint32_t);
	t->by_port = fm_arena_array(&t->mem, (size_t)t->n + 1, uint8_t);
	if (t->leaf_of == NULL || t->part == NULL || t->by_port == NULL)
		return false;
	for (uint32_t i = 0; i < t->n; i++) {
		t->leaf_of[i] = NONE;
		t->part[i] = i;
	}
	take_cables(t);
	return take_hosts(t) && take_leaves(t);
}

static void
free_tree(struct tree *t)
{
	fm_vec_fini(&t->hosts);
	fm_vec_fini(&t->leaves);
	fm_vec_fini(&t->left_out);
	fm_arena_fini(&t->mem);
}

/* --------------------------------------------------------------------- writing */

/* Its number stands behind where another leaf before this one is called the same, or what is above
 * leaves may be. */
static void
write_leaf_name(const struct tree *t, size_t i, FILE *out)
{
	const char *name = t->leaves.item[i].name;
	bool is_taken = strncmp(name, "group", 5) == 0 || strncmp(name, "fabric", 6) == 0;

	for (size_t j = 0; !is_taken && j < i; j++)
		is_taken = strcmp(t->leaves.item[j].name, name) == 0;
	fputs(name, out);
	if (is_taken)
		fprintf(out, ".%" PRIu32, t->leaves.item[i].node);
}

static void
write_leaves(const struct tree *t, FILE *out)
{
	const char **name = calloc(t->hosts.n + 1, sizeof(*name));

	for (size_t i = 0; name != NULL && i < t->leaves.n; i++) {
		const struct leaf *l = &t->leaves.item[i];

		for (size_t h = 0; h < l->n; h++)
			name[h] = t->hosts.item[l->first + h].name;
		fputs("SwitchName=", out);
		write_leaf_name(t, i, out);
		fputs(" Nodes=", out);
		hostlist_write(name, l->n, out);
		fputc('\n', out);
	}
	free(name);
}

/* Leaves from..to, which stand below one switch. */
static void
write_above(const struct tree *t, const char *name, size_t from, size_t to, FILE *out)
{
	fprintf(out, "SwitchName=%s Switches=", name);
	for (size_t i = from; i < to; i++) {
		fputs(i > from ? "," : "", out);
		write_leaf_name(t, i, out);
	}
	fputc('\n', out);
}

/* Do groups tell more than leaves and the root do? */
static bool
has_groups(const struct tree *t, size_t from, size_t to)
{
	size_t n = 1;

	for (size_t i = from + 1; i < to; i++)
		n += t->leaves.item[i].group != t->leaves.item[i - 1].group;
	return n > 1 && n < to - from;
}

/* One part of the fabric: its groups, if it has several, and its root. */
static void
write_part(
    const struct tree *t, size_t from, size_t to, unsigned *n_groups, unsigned *n_roots, FILE *out)
{
	unsigned first_group = *n_groups + 1;
	char name[40];

	snprintf(name, sizeof(name), "fabric%u", ++*n_roots);
	if (!has_groups(t, from, to)) {
		write_above(t, name, from, to, out);
		return;
	}
	for (size_t i = from, end; i < to; i = end) {
		char group[40];

		for (end = i + 1; end < to && t->leaves.item[end].group == t->leaves.item[i].group;)
			end++;
		snprintf(group, sizeof(group), "group%u", ++*n_groups);
		write_above(t, group, i, end, out);
	}
	fprintf(out, "SwitchName=%s Switches=group[%u-%u]\n", name, first_group, *n_groups);
}

static void
write_head(const struct tree *t, FILE *out)
{
	fputs("# Made by fmctl export slurm: switches that hosts hang off, groups of them, a root "
	      "for\n# each part of the fabric that is joined.\n",
	    out);
	if (t->n_twice > 0)
		fprintf(out, "# %zu more adapters of these hosts are left out.\n", t->n_twice);
	for (size_t i = 0; i < t->left_out.n; i++)
		fprintf(out, "# Left out, as its first word is no name of a host: \"%s\"\n",
		    t->left_out.item[i]);
}

static json_t *export(const struct tree *t)
{
	unsigned n_groups = 0, n_roots = 0;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	json_t *result;

	if (out == NULL)
		return NULL;
	write_head(t, out);
	write_leaves(t, out);
	for (size_t i = 0, end; i < t->leaves.n; i = end) {
		for (end = i + 1;
		     end < t->leaves.n && t->leaves.item[end].part == t->leaves.item[i].part;)
			end++;
		write_part(t, i, end, &n_groups, &n_roots, out);
	}
	fclose(out);
	result = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "text", text, "hosts",
	    (json_int_t)t->hosts.n, "leaves", (json_int_t)t->leaves.n, "groups",
	    (json_int_t)n_groups, "roots", (json_int_t)n_roots, "left_out",
	    (json_int_t)t->left_out.n);
	free(text);
	return result;
}

/* -------------------------------------------------------------- a site's own file */

/* A host as the file has it. */
struct placed {
	const char *name, *leaf; /* of the file */
	unsigned line;
};

struct site {
	struct tree *t;
	const char *path;
	FM_VEC(struct placed) hosts;
	const char *leaf; /* of the line */
	unsigned line;
	bool no_memory;
};

static bool
take_placed(void *arg, const char *name)
{
	struct site *s = arg;
	struct placed p = { fm_arena_strdup(&s->t->mem, name), s->leaf, s->line };

	s->no_memory = p.name == NULL || !fm_vec_push(&s->hosts, p);
	return !s->no_memory;
}

/* The value of KEY=VALUE in a line, NULL: it has none; *len bytes. */
static const char *
value_of(const char *line, const char *key, size_t *len)
{
	size_t n = strlen(key);

	for (const char *at = line; *at != '\0'; at += strcspn(at, " \t"), at += strspn(at, " \t"))
		if (strncasecmp(at, key, n) == 0 && at[n] == '=') {
			*len = strcspn(at + n + 1, " \t");
			return at + n + 1;
		}
	return NULL;
}

static int
site_line(struct site *s, char *line, struct fm_error *err)
{
	const char *name, *nodes;
	size_t n_name, n_nodes, n_below;
	char *leaf;

	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, " \t");
	if (*line == '\0')
		return 0;
	name = value_of(line, "SwitchName", &n_name);
	nodes = value_of(line, "Nodes", &n_nodes);
	if (name == NULL || n_name == 0 ||
	    (nodes == NULL && value_of(line, "Switches", &n_below) == NULL))
		return fm_fail(err, FM_E_CONFIG,
		    "%.100s:%u: \"%.40s\" is no line of topology.conf: SwitchName=NAME and "
		    "Nodes=LIST or Switches=LIST are right",
		    s->path, s->line, line);
	if (nodes == NULL)
		return 0;
	leaf = fm_arena_alloc(&s->t->mem, n_name + 1);
	if (leaf == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory while reading %.100s", s->path);
	memcpy(leaf, name, n_name);
	s->leaf = leaf;
	if (hostlist_each(nodes, n_nodes, take_placed, s))
		return 0;
	return s->no_memory
	    ? fm_fail(err, FM_E_RESOURCE, "out of memory while reading %.100s", s->path)
	    : fm_fail(err, FM_E_CONFIG,
		  "%.100s:%u: \"%.*s\" is no list of nodes: node[1-3,7] is right", s->path, s->line,
		  (int)(n_nodes > 40 ? 40 : n_nodes), nodes);
}

static int
by_placed(const void *a, const void *b)
{
	return strverscmp(((const struct placed *)a)->name, ((const struct placed *)b)->name);
}

static int
read_site(struct site *s, struct fm_error *err)
{
	FILE *in = fopen(s->path, "re");
	char *line = NULL;
	size_t room = 0;
	int rc = 0;

	if (in == NULL)
		return fm_fail(
		    err, FM_E_CONFIG, "cannot open %.100s: %s", s->path, strerror(errno));
	while (rc == 0 && getline(&line, &room, in) > 0) {
		s->line++;
		rc = site_line(s, line, err);
	}
	if (rc == 0 && ferror(in))
		rc = fm_fail(err, FM_E_SYSTEM, "cannot read %.100s: %s", s->path, strerror(errno));
	free(line);
	fclose(in);
	if (rc == 0 && s->hosts.n > 1)
		qsort(s->hosts.item, s->hosts.n, sizeof(struct placed), by_placed);
	return rc;
}

static void
add_row(json_t *list, const char *kind, json_t *text)
{
	json_array_append_new(list, json_pack("{s:s, s:o}", "kind", kind, "text", text));
}

/* Which switch most hosts of the file's are at: those of one leaf of the file, in hosts order. */
static const char *
where_most_are(const struct site *s, const char *leaf, const struct host *const *is)
{
	uint32_t best = NONE;
	size_t votes = 0;

	for (size_t i = 0; i < s->hosts.n; i++) {
		if (is[i] == NULL || strcmp(s->hosts.item[i].leaf, leaf) != 0)
			continue;
		if (votes == 0)
			best = is[i]->leaf;
		votes += is[i]->leaf == best ? 1 : (size_t)-1;
	}
	return best == NONE ? "" : name_at(s->t, best);
}

/* Both are by name. */
static void
compare_hosts(const struct site *s, const struct host **is, json_t *list)
{
	const struct tree *t = s->t;
	size_t h = 0;

	for (size_t i = 0; i < s->hosts.n; i++) {
		const struct placed *p = &s->hosts.item[i];

		for (; h < t->hosts.n && strverscmp(t->hosts.item[h].name, p->name) < 0; h++)
			add_row(list, "not-in-file",
			    json_sprintf("%s is at switch %s, and not in the file",
				t->hosts.item[h].name, name_at(t, t->hosts.item[h].leaf)));
		if (i > 0 && strcmp(s->hosts.item[i - 1].name, p->name) == 0) {
			add_row(list, "twice",
			    json_sprintf("%s is in the file twice, in lines %u and %u", p->name,
				s->hosts.item[i - 1].line, p->line));
			continue;
		}
		if (h < t->hosts.n && strcmp(t->hosts.item[h].name, p->name) == 0)
			is[i] = &t->hosts.item[h++];
		else
			add_row(list, "not-in-fabric",
			    json_sprintf("%s is in line %u of the file, and not in the fabric",
				p->name, p->line));
	}
	for (; h < t->hosts.n; h++)
		add_row(list, "not-in-file",
		    json_sprintf("%s is at switch %s, and not in the file", t->hosts.item[h].name,
			name_at(t, t->hosts.item[h].leaf)));
}

static json_t *
check(struct site *s)
{
	const struct host **is = calloc(s->hosts.n + 1, sizeof(*is));
	const char *leaf = NULL, *most = "";
	json_t *list = json_array();

	if (is == NULL) {
		json_decref(list);
		return NULL;
	}
	qsort(s->t->hosts.item, s->t->hosts.n, sizeof(struct host), by_host);
	compare_hosts(s, is, list);
	for (size_t i = 0; i < s->hosts.n; i++) {
		const struct placed *p = &s->hosts.item[i];

		if (p->leaf != leaf) /* neighbours by name are mostly of one line */
			most = where_most_are(s, leaf = p->leaf, is);
		if (is[i] != NULL && strcmp(most, name_at(s->t, is[i]->leaf)) != 0)
			add_row(list, "elsewhere",
			    json_sprintf(
				"%s is below %s in the file, whose nodes are at switch %s, "
				"and is at switch %s",
				p->name, p->leaf, most, name_at(s->t, is[i]->leaf)));
	}
	free(is);
	return json_pack("{s:I, s:I, s:o}", "hosts", (json_int_t)s->hosts.n, "differences",
	    (json_int_t)json_array_size(list), "list", list);
}

/* --------------------------------------------------------------------- command */

static int
check_file(struct tree *t, const char *path, json_t **result, struct fm_error *err)
{
	struct site s = { .t = t, .path = path };
	int rc = read_site(&s, err);

	if (rc == 0 && (*result = check(&s)) == NULL)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory while %.100s is compared", path);
	fm_vec_fini(&s.hosts);
	return rc;
}

int
fmctl_export(const struct ask *a, json_t **result, struct fm_error *err)
{
	json_t *args, *fabric = NULL;
	struct tree t = { 0 };
	int rc;

	if (a->part == NULL)
		return fm_fail(err, FM_E_CONFIG, "say export slurm");
	if (strcmp(a->part, "slurm") != 0)
		return fm_fail(err, FM_E_CONFIG, "export takes slurm, not \"%.40s\"", a->part);
	args = json_object();
	rc = fmctl_ask(a, "fabric", args, &fabric, err);
	json_decref(args);
	if (rc == 0 && !json_is_true(json_object_get(fabric, "master")))
		rc = fm_fail(err, FM_E_CONFIG, "this fmd is not master: ask the master's");
	t.fabric = fabric;
	if (rc == 0 && !make_tree(&t))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the tree");
	if (rc == 0 && a->check != NULL)
		rc = check_file(&t, a->check, result, err);
	else if (rc == 0 && (*result = export(&t)) == NULL)
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the file");
	free_tree(&t);
	json_decref(fabric);
	return rc;
}

void
fmctl_show_export(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "KIND", "kind", NULL, false },
		{ "WHAT", "text", NULL, false } };

	if (a->check == NULL) {
		fputs(fmctl_string(result, "text"), out);
		return;
	}
	fprintf(out, "%" I " nodes in the file, %" I " differences\n",
	    fmctl_number(result, "hosts"), fmctl_number(result, "differences"));
	if (fmctl_number(result, "differences") > 0)
		fmctl_table(json_object_get(result, "list"), columns, N_OF(columns), false, out);
}
