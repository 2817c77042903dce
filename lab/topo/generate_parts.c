/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts that generators share: reading arguments, names, hosts.  O(ports).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/topo/generate.h"
#include "lib/error.h"

/* ------------------------------------------------------------- arguments */

static int
refuse(const struct gen *g, const struct gen_param *p, const char *text, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG, "%s: %s is \"%.40s\", not a number in %u..%u", g->argv[0],
	    p->what, text, p->min, p->max);
}

/* Numbers as p says, at most GEN_MAX_DIMS. */
static int
read_list(const struct gen *g, const struct gen_param *p, const char *text, uint32_t *values,
    uint32_t *n, struct fm_error *err)
{
	const char *at = text;

	for (*n = 0; *n < GEN_MAX_DIMS; at++) {
		unsigned long v;
		char *end;

		errno = 0;
		v = strtoul(at, &end, 10);
		if (*at < '0' || *at > '9' || errno != 0 || v < p->min || v > p->max)
			return refuse(g, p, at, err);
		values[(*n)++] = (uint32_t)v;
		at = end;
		if (*at == '\0')
			return 0;
		if (p->sep == '\0')
			return refuse(g, p, text, err);
		if (*at != p->sep)
			break;
	}
	return fm_fail(err, FM_E_CONFIG,
	    "%s: %s is \"%.40s\", not 1 to %u numbers separated by \"%c\"", g->argv[0], p->what,
	    text, GEN_MAX_DIMS, p->sep);
}

int
gen_value(const struct gen *g, const char *text, const char *what, uint32_t min, uint32_t max,
    uint32_t *value, struct fm_error *err)
{
	const struct gen_param p = { what, min, max };
	uint32_t values[GEN_MAX_DIMS], n;
	int rc = read_list(g, &p, text, values, &n, err);

	if (rc == 0)
		*value = values[0];
	return rc;
}

int
gen_read(struct gen *g, const struct gen_param *params, struct fm_error *err)
{
	int rc = 0;

	for (int i = 0; i < GEN_MAX_ARGS && params[i].what != NULL && rc == 0; i++) {
		g->list[i][0] = params[i].def;
		if (i + 1 < g->argc)
			rc = read_list(
			    g, &params[i], g->argv[i + 1], g->list[i], &g->n_list[i], err);
		g->v[i] = g->list[i][0];
	}
	return rc;
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
