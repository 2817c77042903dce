/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of generators and the parts they share: reading arguments, names,
 * hosts.  A fabric is a function of its arguments alone, down to the GUIDs
 * and the port numbers.  O(ports).
 */
#include "lab/topo/generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

#define MAX_JOIN_ARGS 1000

static const struct kind {
	const char *name, *args, *help;
	int min_args, max_args;
	gen_fn fn;
} kinds[] = {
	{ "pgft", "H M1,..,MH W1,..,WH P1,..,PH",
	    "parallel generalised fat tree of H switch levels: a node of level i has M children, "
	    "W parents below level i and P parallel cables to each",
	    4, 4, gen_pgft },
	{ "torus", "D1xD2x.. HOSTS [PARALLEL]",
	    "torus, HOSTS a switch, PARALLEL cables between neighbours; a dimension of 2 has one "
	    "neighbour",
	    2, 3, gen_torus },
	{ "mesh", "D1xD2x.. HOSTS [PARALLEL]", "torus without the cables that wrap around", 2, 3,
	    gen_mesh },
	{ "hypercube", "D HOSTS", "2^D switches", 2, 2, gen_hypercube },
	{ "hyperx", "D1xD2x.. HOSTS",
	    "all switches of a row cabled to each other, in each dimension", 2, 2, gen_hyperx },
	{ "dragonfly", "A P H [G]",
	    "G groups (A*H+1 by default) of A switches with P hosts and H global cables each", 3, 4,
	    gen_dragonfly },
	{ "cascade", "", "two groups of a Cascade: 2 x 96 switches, 8 hosts each", 0, 0,
	    gen_cascade },
	{ "kautz", "D K HOSTS [PARALLEL]", "Kautz graph of words of length K over D+1 letters", 3,
	    4, gen_kautz },
	{ "slimfly", "Q HOSTS", "McKay-Miller-Siran graph of 2*Q^2 switches, Q an odd prime", 2, 2,
	    gen_slimfly },
	{ "random", "SWITCHES DEGREE HOSTS SEED", "connected random regular graph", 4, 4,
	    gen_random },
	{ "director", "BOARDS SPINES LEAVES FANOUT WIDE HOSTS [FEATURE=N ..]",
	    "a partly cabled chassis, each board cabled to each spine: LEAVES leaves, FANOUT "
	    "cables "
	    "from each to a window of boards that moves on, WIDE more with half the HOSTS whose "
	    "cables are spread over all boards; for FEATURE see tree3",
	    6, 12, gen_director },
	{ "pods", "N LEAVES A B SPINES HOSTS [FEATURE=N ..]",
	    "N pods, of LEAVES leaves but for the last two, which have a half and a third of them; "
	    "A boards of each pod belong to one director of SPINES spines, B to another; for "
	    "FEATURE "
	    "see tree3",
	    6, 12, gen_pods },
	{ "tree3", "PODS LEAVES AGGS PLANES SPINES HOSTS [FEATURE=N ..]",
	    "PODS pods of LEAVES leaves, two cables from each to each of AGGS switches, which "
	    "belong "
	    "to PLANES planes of SPINES spines; features: storage=N (N switches between leaves and "
	    "spines have 5 hosts each), missing=N (N spines are not there), slow=N (the cables of "
	    "N "
	    "leaves are FDR), rails=2 (hosts have a second port, on the next leaf), aggregation=1 "
	    "(each switch has an aggregation node), seed=N (order of switches, cables and choices)",
	    6, 12, gen_tree3 },
	{ "switches", "N PORTS", "N switches without a cable, as parts of a join", 2, 2,
	    gen_switches },
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
	rc = k->fn(&g, err);
	if (rc == 0 && g.failed)
		rc = fm_fail(err, FM_E_RESOURCE, "no memory for the fabric");
	if (rc != 0)
		netlist_fini(&made);
	else
		*nl = made;
	return rc;
}

/* ------------------------------------------------------------- arguments */

static int
number_at(const struct gen *g, const char *text, const char *what, uint32_t min, uint32_t max,
    uint32_t *value, const char **rest, struct fm_error *err)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (end == text || *text < '0' || *text > '9' || errno != 0 || v < min || v > max)
		return fm_fail(err, FM_E_CONFIG, "%s: %s is \"%.40s\", not a number in %u..%u",
		    g->argv[0], what, text, min, max);
	*value = (uint32_t)v;
	*rest = end;
	return 0;
}

int
gen_value(const struct gen *g, const char *text, const char *what, uint32_t min, uint32_t max,
    uint32_t *value, struct fm_error *err)
{
	const char *rest;
	int rc = number_at(g, text, what, min, max, value, &rest, err);

	if (rc == 0 && *rest != '\0')
		return fm_fail(err, FM_E_CONFIG, "%s: %s is \"%.40s\", not a number in %u..%u",
		    g->argv[0], what, text, min, max);
	return rc;
}

int
gen_number(const struct gen *g, int i, const char *what, uint32_t min, uint32_t max,
    uint32_t *value, struct fm_error *err)
{
	return gen_value(g, g->argv[i], what, min, max, value, err);
}

int
gen_list(const struct gen *g, int i, const char *what, char sep, uint32_t min, uint32_t max,
    uint32_t *values, uint32_t *n, struct fm_error *err)
{
	const char *at = g->argv[i];
	int rc;

	for (*n = 0; *n < GEN_MAX_DIMS;) {
		rc = number_at(g, at, what, min, max, &values[(*n)++], &at, err);
		if (rc != 0)
			return rc;
		if (*at == '\0')
			return 0;
		if (*at++ != sep)
			break;
	}
	return fm_fail(err, FM_E_CONFIG,
	    "%s: %s is \"%.40s\", not 1 to %u numbers separated by \"%c\"", g->argv[0], what,
	    g->argv[i], GEN_MAX_DIMS, sep);
}

int
gen_fits(const struct gen *g, uint64_t ports_per_switch, uint64_t n_switches, uint64_t n_hosts,
    struct fm_error *err)
{
	if (ports_per_switch < 1 || ports_per_switch > GEN_MAX_PORTS)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: a switch would have %llu ports, 1..%u are possible", g->argv[0],
		    (unsigned long long)ports_per_switch, GEN_MAX_PORTS);
	if (n_switches + n_hosts > GEN_MAX_NODES)
		return fm_fail(err, FM_E_CONFIG, "%s: %llu nodes are more than %u", g->argv[0],
		    (unsigned long long)(n_switches + n_hosts), GEN_MAX_NODES);
	return 0;
}

/* ------------------------------------------------------------ nodes, cables */

void
gen_name(char *name, size_t size, const char *prefix, const uint32_t *digits, uint32_t n)
{
	size_t at = (size_t)snprintf(name, size, "%s", prefix);

	for (uint32_t i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(name + at, size - at, "-%u", digits[i]);
}

uint32_t
gen_switch(struct gen *g, const char *name, uint32_t n_ports)
{
	uint32_t sw =
	    g->failed ? NETLIST_NONE : netlist_add(g->nl, NETLIST_SWITCH, name, name, 0, n_ports);

	if (sw == NETLIST_NONE)
		g->failed = true;
	return sw;
}

void
gen_cable(struct gen *g, uint32_t a, uint32_t port_a, uint32_t b, uint32_t port_b)
{
	if (!g->failed)
		netlist_cable(g->nl, a, port_a, b, port_b, GEN_LANE_MBPS);
}

uint32_t
gen_free_port(const struct gen *g, uint32_t node, uint32_t from)
{
	while (netlist_port(g->nl, node, from)->peer_node != NETLIST_NONE)
		from++;
	return from;
}

void
gen_cable_free(struct gen *g, uint32_t a, uint32_t b, uint32_t from)
{
	if (!g->failed)
		gen_cable(g, a, gen_free_port(g, a, from), b, gen_free_port(g, b, from));
}

void
gen_hosts(struct gen *g, uint32_t sw, uint32_t n)
{
	const char *tail = g->failed ? "" : strchr(g->nl->nodes[sw].id, '-');
	char name[96];
	uint32_t host;

	for (uint32_t i = 1; i <= n && !g->failed; i++) {
		snprintf(name, sizeof(name), "host%s-%u", tail != NULL ? tail : "", i);
		host = netlist_add(g->nl, NETLIST_CA, name, name, 0, 1);
		if (host == NETLIST_NONE)
			g->failed = true;
		gen_cable(g, sw, i, host, 1);
	}
}
