/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of generators, and the one that joins several fabrics into one, each of its parts
 * made by the table: what regions are tried on.  A fabric is a function of its arguments alone,
 * down to the GUIDs and the port numbers.
 *
 *	join ft=pgft:2:4,8:1,4:1,1 t=torus:4x4:1 ft-leaf-*~t-*~4
 *
 * A word with "=" is a part: a name and what it is, a kind of generator with
 * its arguments or file:PATH.  Its nodes are called NAME-ID.  A word with "~"
 * cables switches that two patterns name, the k-th cable from the k-th of
 * the left to the k-th of the right, each list beginning anew at its end; or
 * every left one with every right one.  Those cables get ports behind the
 * switch's own.  GUIDs are new and LIDs forgotten, so that two parts can be
 * the same fabric.  O(nodes (patterns) + ports).
 */
#include "lab/topo/generate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/nodes/nodes.h"
#include "lib/error.h"
#include "lib/vec.h"

#define MAX_JOIN_ARGS 1000
#define MAX_WORDS 8 /* of a part: the kind and its arguments */
#define MAX_COPIES 1000
#define NAME_BYTES 160

struct part {
	char name[32];
	struct netlist nl;
	uint32_t first; /* number of its first node in the whole */
};

struct bridge {
	uint32_t a, b; /* nodes of the whole */
};

struct join {
	struct gen *g;
	FM_VEC(struct part) parts;
	FM_VEC(struct bridge) bridges;
	FM_VEC(uint32_t) n_added; /* by node: ports for bridges */
	uint32_t n_nodes;
};

static int
out_of_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "no memory for the fabric");
}

/* ------------------------------------------------------------------- parts */

/* "KIND:ARG:ARG" or "file:PATH". */
static int
make_part(const char *what, struct netlist *nl, struct fm_error *err)
{
	char text[256], *words[MAX_WORDS], *at = text, *word;
	int n = 0;

	if (strncmp(what, "file:", 5) == 0)
		return netlist_read(what + 5, nl, err);
	if ((size_t)snprintf(text, sizeof(text), "%s", what) >= sizeof(text))
		return fm_fail(err, FM_E_CONFIG, "more than %zu letters", sizeof(text) - 1);
	while ((word = strsep(&at, ":")) != NULL) {
		if (n == MAX_WORDS)
			return fm_fail(err, FM_E_CONFIG, "no kind has so many arguments");
		words[n++] = word;
	}
	return netlist_generate(n, words, nl, err);
}

static int
add_part(struct join *j, const char *name, const char *what, struct fm_error *err)
{
	struct part part = { .first = j->n_nodes };
	int rc;

	snprintf(part.name, sizeof(part.name), "%s", name);
	for (size_t i = 0; i < j->parts.n; i++)
		if (strcmp(j->parts.item[i].name, name) == 0)
			return fm_fail(err, FM_E_CONFIG, "join: two parts are called %s", name);
	if ((rc = make_part(what, &part.nl, err)) != 0)
		return fm_context(err, "join: part %s", name);
	if (!fm_vec_push(&j->parts, part)) {
		netlist_fini(&part.nl);
		return out_of_memory(err);
	}
	j->n_nodes += part.nl.n_nodes;
	return gen_fits(j->g, 1, j->n_nodes, 0, err);
}

/* NAME, or NAME[FROM-TO] for so many alike: how many, 0 for what is no name. */
static uint32_t
read_name(const char *text, size_t n, char *name, size_t room, uint32_t *from)
{
	unsigned long to;
	size_t stem = 0;
	char *end;

	while (stem < n && (isalnum((unsigned char)text[stem]) || text[stem] == '_'))
		stem++;
	snprintf(name, room, "%.*s", (int)stem, text);
	if (stem == 0 || stem + 8 > room)
		return 0;
	*from = 0;
	if (stem == n)
		return 1;
	*from = (uint32_t)strtoul(text + stem + 1, &end, 10);
	if (text[stem] != '[' || *end != '-')
		return 0;
	to = strtoul(end + 1, &end, 10);
	return end + 1 == text + n && *end == ']' && *from >= 1 && to >= *from &&
		to - *from < MAX_COPIES
	    ? (uint32_t)to - *from + 1
	    : 0;
}

/* "ft=pgft:..." or "ft[1-3]=pgft:...". */
static int
read_part(struct join *j, const char *word, const char *equals, struct fm_error *err)
{
	char stem[24], name[32];
	uint32_t from, n = read_name(word, (size_t)(equals - word), stem, sizeof(stem), &from);
	int rc = 0;

	if (n == 0)
		return fm_fail(err, FM_E_CONFIG,
		    "join: \"%.60s\": a part is NAME=KIND:ARG:.. or NAME[1-3]=.., the name of "
		    "letters and digits",
		    word);
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		snprintf(name, sizeof(name), from > 0 ? "%s%u" : "%s", stem, from + i);
		rc = add_part(j, name, equals + 1, err);
	}
	return rc;
}

/* ----------------------------------------------------------------- bridges */

static void
name_node(const struct part *p, uint32_t node, bool desc, char *name)
{
	const struct netlist_node *n = &p->nl.nodes[node];

	snprintf(name, NAME_BYTES, "%s-%s", p->name, desc && *n->desc != '\0' ? n->desc : n->id);
}

/* The switches that a pattern names, in the order of the parts. */
static int
find_switches(struct join *j, const char *pattern, uint32_t **list, size_t *n, struct fm_error *err)
{
	FM_VEC(uint32_t) found = { 0 };
	struct node_item item;
	char name[NAME_BYTES];
	bool ok = true;
	int rc = node_item_parse(pattern, &item, err);

	if (rc == 0 && item.kind != NODE_NAME)
		rc = fm_fail(err, FM_E_CONFIG, "a cable joins switches by name: ft-leaf-*");
	for (size_t p = 0; rc == 0 && p < j->parts.n; p++)
		for (uint32_t i = 0; i < j->parts.item[p].nl.n_nodes; i++) {
			name_node(&j->parts.item[p], i, false, name);
			if (j->parts.item[p].nl.nodes[i].type == NETLIST_SWITCH &&
			    node_name_match(item.name, name))
				ok &= fm_vec_push(&found, j->parts.item[p].first + i);
		}
	if (!ok)
		rc = out_of_memory(err);
	else if (rc == 0 && found.n == 0)
		rc = fm_fail(err, FM_E_CONFIG,
		    "no switch is called %.60s; parts stand before the cables and their switches "
		    "are called NAME-ID, as in ft-leaf-1",
		    pattern);
	*list = found.item;
	*n = found.n;
	return rc;
}

static int
add_bridge(struct join *j, uint32_t a, uint32_t b, struct fm_error *err)
{
	struct bridge bridge = { a, b };

	if (a == b)
		return fm_fail(err, FM_E_CONFIG, "it would cable a switch with itself");
	if (!fm_vec_push(&j->bridges, bridge))
		return out_of_memory(err);
	return gen_fits(j->g, 1, j->bridges.n, 0, err);
}

/* count: how many cables as written, NULL for the longer side. */
static int
lay_bridges(struct join *j, const uint32_t *left, size_t n_left, const uint32_t *right,
    size_t n_right, const char *count, struct fm_error *err)
{
	bool all = count != NULL && strcmp(count, "all") == 0;
	size_t n = n_left > n_right ? n_left : n_right;
	char *end;
	int rc = 0;

	if (all) {
		n = n_left * n_right;
	} else if (count != NULL) {
		n = strtoul(count, &end, 10);
		if (!isdigit((unsigned char)*count) || *end != '\0' || n == 0)
			return fm_fail(err, FM_E_CONFIG,
			    "%.20s is no number of cables: write 1 or more, or all", count);
	}
	for (size_t k = 0; rc == 0 && k < n; k++)
		rc = add_bridge(j, left[all ? k / n_right : k % n_left], right[k % n_right], err);
	return rc;
}

/* "LEFT~RIGHT", "LEFT~RIGHT~N", "LEFT~RIGHT~all". */
static int
read_bridge(struct join *j, const char *word, struct fm_error *err)
{
	char text[256], *at = text, *names[2], *count;
	uint32_t *left = NULL, *right = NULL;
	size_t n_left, n_right;
	int rc;

	if ((size_t)snprintf(text, sizeof(text), "%s", word) >= sizeof(text))
		return fm_fail(
		    err, FM_E_CONFIG, "join: a word is longer than %zu letters", sizeof(text) - 1);
	names[0] = strsep(&at, "~");
	names[1] = strsep(&at, "~");
	count = at;
	rc = find_switches(j, names[0], &left, &n_left, err);
	if (rc == 0)
		rc = find_switches(j, names[1], &right, &n_right, err);
	if (rc == 0)
		rc = lay_bridges(j, left, n_left, right, n_right, count, err);
	free(left);
	free(right);
	return rc == 0 ? 0 : fm_context(err, "join: \"%.60s\"", word);
}

/* --------------------------------------------------------------- the whole */

static int
count_ports(struct join *j, struct fm_error *err)
{
	int rc = 0;

	if (!fm_vec_reserve(&j->n_added, j->n_nodes + 1))
		return out_of_memory(err);
	memset(j->n_added.item, 0, (j->n_nodes + 1) * sizeof(*j->n_added.item));
	for (size_t i = 0; i < j->bridges.n; i++) {
		j->n_added.item[j->bridges.item[i].a]++;
		j->n_added.item[j->bridges.item[i].b]++;
	}
	for (size_t p = 0; rc == 0 && p < j->parts.n; p++)
		for (uint32_t i = 0; rc == 0 && i < j->parts.item[p].nl.n_nodes; i++)
			rc = gen_fits(j->g,
			    j->parts.item[p].nl.nodes[i].n_ports +
				(uint64_t)j->n_added.item[j->parts.item[p].first + i],
			    j->n_nodes, 0, err);
	return rc;
}

static void
copy_nodes(struct join *j, const struct part *p)
{
	char id[NAME_BYTES], desc[NAME_BYTES];

	for (uint32_t i = 0; i < p->nl.n_nodes && !j->g->failed; i++) {
		const struct netlist_node *n = &p->nl.nodes[i];
		uint32_t node;

		name_node(p, i, false, id);
		name_node(p, i, true, desc);
		node = netlist_add(j->g->nl, (enum netlist_node_type)n->type, id, desc, 0,
		    n->n_ports + j->n_added.item[p->first + i]);
		if (node == NETLIST_NONE) {
			j->g->failed = true;
			return;
		}
		j->g->nl->nodes[node].enhanced_port0 = n->enhanced_port0;
		j->g->nl->nodes[node].aggregation = n->aggregation;
	}
}

static void
copy_cables(struct join *j, const struct part *p)
{
	for (uint32_t i = 0; i < p->nl.n_nodes; i++)
		for (unsigned at = 1; at <= p->nl.nodes[i].n_ports; at++) {
			const struct netlist_port *port = netlist_port(&p->nl, i, at);
			uint32_t a = p->first + i, b = p->first + port->peer_node;

			if (port->peer_node == NETLIST_NONE ||
			    netlist_port(j->g->nl, a, at)->peer_node != NETLIST_NONE)
				continue;
			netlist_cable(j->g->nl, a, at, b, port->peer_port, port->lane_mbps);
			netlist_port(j->g->nl, a, at)->width = port->width;
			netlist_port(j->g->nl, b, port->peer_port)->width = port->width;
		}
}

/* The first of the ports that a node got for bridges. */
static uint32_t
first_added(const struct join *j, uint32_t node)
{
	return j->g->nl->nodes[node].n_ports - j->n_added.item[node] + 1;
}

static int
assemble(struct join *j, struct fm_error *err)
{
	int rc = count_ports(j, err);

	if (rc != 0)
		return rc;
	for (size_t p = 0; p < j->parts.n; p++)
		copy_nodes(j, &j->parts.item[p]);
	for (size_t p = 0; p < j->parts.n && !j->g->failed; p++)
		copy_cables(j, &j->parts.item[p]);
	for (size_t i = 0; i < j->bridges.n && !j->g->failed; i++) {
		const struct bridge *b = &j->bridges.item[i];

		gen_cable(j->g, b->a, gen_free_port(j->g, b->a, first_added(j, b->a)), b->b,
		    gen_free_port(j->g, b->b, first_added(j, b->b)));
	}
	return 0;
}

/* Switches alone, to be cabled to other parts. */
static int
gen_switches(struct gen *g, struct fm_error *err)
{
	char name[32];

	(void)err;
	for (uint32_t i = 1; i <= g->v[0]; i++) {
		gen_name(name, sizeof(name), "sw", &i, 1);
		gen_switch(g, name, g->v[1]);
	}
	return 0;
}

static int
gen_join(struct gen *g, struct fm_error *err)
{
	struct join j = { .g = g };
	int rc = 0;

	for (int i = 1; rc == 0 && i < g->argc; i++) {
		const char *equals = strchr(g->argv[i], '=');

		if (equals != NULL)
			rc = read_part(&j, g->argv[i], equals, err);
		else if (strchr(g->argv[i], '~') != NULL)
			rc = read_bridge(&j, g->argv[i], err);
		else
			rc = fm_fail(err, FM_E_CONFIG,
			    "join: \"%.60s\" is neither a part, NAME=KIND:ARG:.., nor cables, "
			    "LEFT~RIGHT",
			    g->argv[i]);
	}
	if (rc == 0)
		rc = assemble(&j, err);
	for (size_t p = 0; p < j.parts.n; p++)
		netlist_fini(&j.parts.item[p].nl);
	fm_vec_fini(&j.parts);
	fm_vec_fini(&j.bridges);
	fm_vec_fini(&j.n_added);
	return rc;
}

/* ------------------------------------------------------------------- kinds */

/* Rows of struct gen_param. */
#define COUNT(of, min) "the number of " of, min, GEN_MAX_PORTS
#define DIMENSIONS "the list of dimensions", 1, GEN_MAX_NODES, 0, 'x'
#define HOSTS COUNT("hosts a switch", 0)
#define PARALLEL "the number of parallel cables", 1, 127, 1

static const struct kind {
	const char *name, *args, *help;
	int min_args, max_args;
	gen_fn fn;
	struct gen_param params[GEN_MAX_ARGS];
} kinds[] = {
	{ "pgft", "H M1,..,MH W1,..,WH P1,..,PH",
	    "parallel generalised fat tree of H switch levels: a node of level i has M children, "
	    "W parents below level i and P parallel cables to each",
	    4, 4, gen_pgft,
	    { { "the number of levels", 1, GEN_MAX_DIMS }, { "M", 1, GEN_MAX_PORTS, .sep = ',' },
		{ "W", 1, GEN_MAX_PORTS, .sep = ',' }, { "P", 1, GEN_MAX_PORTS, .sep = ',' } } },
	{ "torus", "D1xD2x.. HOSTS [PARALLEL]",
	    "torus, HOSTS a switch, PARALLEL cables between neighbours; a dimension of 2 has one "
	    "neighbour",
	    2, 3, gen_torus, { { DIMENSIONS }, { HOSTS }, { PARALLEL } } },
	{ "mesh", "D1xD2x.. HOSTS [PARALLEL]", "torus without the cables that wrap around", 2, 3,
	    gen_mesh, { { DIMENSIONS }, { HOSTS }, { PARALLEL } } },
	{ "hypercube", "D HOSTS", "2^D switches", 2, 2, gen_hypercube,
	    { { "the number of dimensions", 1, GEN_MAX_DIMS }, { HOSTS } } },
	{ "hyperx", "D1xD2x.. HOSTS",
	    "all switches of a row cabled to each other, in each dimension", 2, 2, gen_hyperx,
	    { { DIMENSIONS }, { HOSTS } } },
	{ "dragonfly", "A P H [G]",
	    "G groups (A*H+1 by default) of A switches with P hosts and H global cables each", 3, 4,
	    gen_dragonfly,
	    { { "A, the switches of a group,", 1, 250 }, { "P, the hosts of a switch,", 0, 250 },
		{ "H, the global cables of a switch,", 0, 250 } } },
	{ "cascade", "", "two groups of a Cascade: 2 x 96 switches, 8 hosts each", 0, 0,
	    gen_cascade },
	{ "kautz", "D K HOSTS [PARALLEL]", "Kautz graph of words of length K over D+1 letters", 3,
	    4, gen_kautz, { { "D", 1, 100 }, { "K", 1, GEN_MAX_DIMS }, { HOSTS }, { PARALLEL } } },
	{ "slimfly", "Q HOSTS", "McKay-Miller-Siran graph of 2*Q^2 switches, Q an odd prime", 2, 2,
	    gen_slimfly, { { "Q", 3, GEN_MAX_SLIMFLY }, { HOSTS } } },
	{ "random", "SWITCHES DEGREE HOSTS SEED", "connected random regular graph", 4, 4,
	    gen_random,
	    { { "the number of switches", 1, GEN_MAX_NODES }, { "the degree", 0, GEN_MAX_PORTS },
		{ HOSTS }, { "the seed", 0, UINT32_MAX } } },
	{ "director", "BOARDS SPINES LEAVES FANOUT WIDE HOSTS [FEATURE=N ..]",
	    "a partly cabled chassis, each board cabled to each spine: LEAVES leaves, FANOUT "
	    "cables "
	    "from each to a window of boards that moves on, WIDE more with half the HOSTS whose "
	    "cables are spread over all boards; for FEATURE see tree3",
	    6, 12, gen_director,
	    { { COUNT("boards", 1) }, { COUNT("spines", 1) }, { COUNT("leaves", 1) },
		{ COUNT("cables a leaf", 1) }, { COUNT("wide leaves", 0) },
		{ COUNT("hosts a leaf", 1) } } },
	{ "pods", "N LEAVES A B SPINES HOSTS [FEATURE=N ..]",
	    "N pods, of LEAVES leaves but for the last two, which have a half and a third of them; "
	    "A boards of each pod belong to one director of SPINES spines, B to another; for "
	    "FEATURE "
	    "see tree3",
	    6, 12, gen_pods,
	    { { COUNT("pods", 1) }, { COUNT("leaves a pod", 1) }, { "A", 0, GEN_MAX_PORTS },
		{ "B", 0, GEN_MAX_PORTS }, { COUNT("spines a director", 1) },
		{ COUNT("hosts a leaf", 1) } } },
	{ "tree3", "PODS LEAVES AGGS PLANES SPINES HOSTS [FEATURE=N ..]",
	    "PODS pods of LEAVES leaves, two cables from each to each of AGGS switches, which "
	    "belong "
	    "to PLANES planes of SPINES spines; features: storage=N (N switches between leaves and "
	    "spines have 5 hosts each), missing=N (N spines are not there), slow=N (the cables of "
	    "N "
	    "leaves are FDR), rails=2 (hosts have a second port, on the next leaf), aggregation=1 "
	    "(each switch has an aggregation node), seed=N (order of switches, cables and choices)",
	    6, 12, gen_tree3,
	    { { COUNT("pods", 1) }, { COUNT("leaves a pod", 1) }, { COUNT("aggs a pod", 1) },
		{ COUNT("planes", 1) }, { COUNT("spines a plane", 1) },
		{ COUNT("hosts a leaf", 1) } } },
	{ "switches", "N PORTS", "N switches without a cable, as parts of a join", 2, 2,
	    gen_switches,
	    { { "the number of switches", 1, GEN_MAX_NODES }, { COUNT("ports", 1) } } },
	{ "join", "NAME=KIND:ARG:.. .. LEFT~RIGHT[~N|~all] ..",
	    "the parts NAME, each a fabric of a kind (or file:PATH), with cables between switches "
	    "that the patterns name: ft=pgft:2:4,8:1,4:1,1 t=torus:4x4:1 'ft-leaf-*~t-*~4'",
	    1, MAX_JOIN_ARGS, gen_join },
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

void
netlist_generate_help(FILE *out)
{
	for (size_t i = 0; i < N_KINDS; i++)
		fprintf(out, "  %s %s\n        %s\n", kinds[i].name, kinds[i].args, kinds[i].help);
}

static const struct kind *
find_kind(const char *name)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static int
refuse_kind(const char *name, struct fm_error *err)
{
	char known[300] = "";
	size_t n = 0;

	for (size_t i = 0; i < N_KINDS && n < sizeof(known); i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s",
		    i == 0		  ? ""
			: i + 1 < N_KINDS ? ", "
					  : " or ",
		    kinds[i].name);
	return fm_fail(err, FM_E_CONFIG, "%.60s is no kind of fabric: write %s", name, known);
}

int
netlist_generate(int argc, char *const argv[], struct netlist *nl, struct fm_error *err)
{
	struct netlist made = { 0 };
	struct gen g = { .nl = &made, .argc = argc, .argv = argv };
	const struct kind *k = argc > 0 ? find_kind(argv[0]) : NULL;
	int rc;

	if (argc < 1)
		return fm_fail(
		    err, FM_E_CONFIG, "no kind of fabric given: one of pgft, torus, ...");
	if (k == NULL)
		return refuse_kind(argv[0], err);
	if (argc - 1 < k->min_args || argc - 1 > k->max_args)
		return fm_fail(err, FM_E_CONFIG, "%s takes the arguments \"%s\", %d given", k->name,
		    k->args, argc - 1);
	rc = gen_read(&g, k->params, err);
	if (rc == 0)
		rc = k->fn(&g, err);
	if (rc == 0 && g.failed)
		rc = fm_fail(err, FM_E_RESOURCE, "no memory for the fabric");
	if (rc != 0)
		netlist_fini(&made);
	else
		*nl = made;
	return rc;
}
