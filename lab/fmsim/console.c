/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The console: a word, and a function that prints its answer.  What is no
 * command of its own goes to the verbs of scripts, so that a fault is written
 * the same way in both.
 */
#include "lab/fmsim/console.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lab/sim/net.h"
#include "lab/sim/spec.h"

static void
print_counts(struct sim *s, const char *rest, FILE *out)
{
	const struct sim_counts *c = sim_counts(s);

	fprintf(out,
	    "handled %" PRIu64 ", lost %" PRIu64 ", no way %" PRIu64 ", ignored %" PRIu64
	    ", overrun %" PRIu64 ", unexpected %" PRIu64 ", refused %" PRIu64 ", traps %" PRIu64
	    ", congestion asked %" PRIu64 ", written %" PRIu64 ", counters asked %" PRIu64
	    ", written %" PRIu64 "\n",
	    c->smps, c->lost, c->no_way, c->ignored, c->overrun, c->unexpected, c->bad_sends,
	    c->traps, c->cc_gets, c->cc_sets, c->pma_gets, c->pma_sets);
}

/* What agents have been asked for, by attribute. */
static void
print_smps(struct sim *s, const char *rest, FILE *out)
{
	const struct sim_counts *c = sim_counts(s);

	for (unsigned a = 0; a < 256; a++)
		if (c->gets_by_attr[a] + c->sets_by_attr[a] > 0)
			fprintf(out, "0x%04x gets %" PRIu64 " sets %" PRIu64 "\n", a,
			    c->gets_by_attr[a], c->sets_by_attr[a]);
}

/* How many end ports with a link obey which SM; how often hosts were asked to register again. */
static void
print_ends(struct sim *s, const char *rest, FILE *out)
{
	const struct sim_fabric *f = &s->fabric;
	uint32_t *n = calloc(UINT16_MAX + 1, sizeof(*n));
	uint64_t n_reregister = 0;

	for (uint32_t i = 0; n != NULL && i < f->n_nodes; i++) {
		bool is_switch = f->nodes[i].type == WIRE_NODE_SWITCH;

		for (unsigned p = !is_switch; p <= (is_switch ? 0u : f->nodes[i].n_ports); p++) {
			const struct sim_port *port = fabric_port(f, i, p);

			if (is_switch || port_state(port) > WIRE_PORT_DOWN)
				n[wire_get16(&port->info[PORT_INFO_SM_LID])]++;
			n_reregister += port->n_reregister;
		}
	}
	for (unsigned lid = 0; n != NULL && lid <= UINT16_MAX; lid++)
		if (n[lid] > 0)
			fprintf(out, "smlid %u: %u\n", lid, n[lid]);
	fprintf(out, "reregister: %" PRIu64 "\n", n_reregister);
	free(n);
}

/* Who has sent Sets to other nodes, and how often that changed from one to another. */
static void
print_setters(struct sim *s, const char *rest, FILE *out)
{
	const struct sim_fabric *f = &s->fabric;

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->ports[p].n_sets > 0)
			fprintf(out, "%s[%u] sets %u\n", f->nodes[f->port_node[p]].id,
			    port_number(f, p), f->ports[p].n_sets);
	fprintf(out, "turns: %" PRIu64 "\n", sim_counts(s)->setters);
}

static void
print_attached(struct sim *s, const char *rest, FILE *out)
{
	for (const struct sim_client *c = s->clients; c != NULL; c = c->next)
		fprintf(out, "%s port %u\n", s->fabric.nodes[c->at.node].id, c->at.port);
	if (s->clients == NULL)
		fputs("nobody\n", out);
}

/* A name, quoted or not, from *rest, which goes on behind it; SIM_NONE, told. */
static uint32_t
take_node(struct sim *s, const char **rest, FILE *out)
{
	const char *at = *rest + strspn(*rest, " \t");
	bool quoted = *at == '"';
	size_t n = strcspn(at + quoted, quoted ? "\"" : " \t\r");
	char name[128];
	uint32_t node;

	snprintf(name, sizeof(name), "%.*s", (int)n, at + quoted);
	*rest = at + quoted + n + (quoted && at[quoted + n] == '"');
	node = sim_find(s, name);
	if (node == SIM_NONE)
		fprintf(out, "error: the fabric has no node \"%s\"\n", name);
	return node;
}

static void
print_port(const struct sim_fabric *f, uint32_t node, unsigned port, FILE *out)
{
	static const char *const states[] = { "-", "DOWN", "INIT", "ARMED", "ACTIVE" };
	const struct sim_port *p = fabric_port(f, node, port);
	uint32_t peer = f->cable[f->nodes[node].first_port + port];

	fprintf(out, "  [%u] %s lid %u lmc %u smlid %u", port,
	    port_state(p) <= 4 ? states[port_state(p)] : "?", wire_get16(&p->info[PORT_INFO_LID]),
	    p->info[PORT_INFO_PROTECT_LMC] & 7, wire_get16(&p->info[PORT_INFO_SM_LID]));
	if (peer != SIM_NONE)
		fprintf(out, " -- \"%s\"[%u]%s", f->nodes[f->port_node[peer]].id,
		    port_number(f, peer), p->unplugged ? " (pulled)" : "");
	fputc('\n', out);
}

static void
print_node(struct sim *s, const char *rest, FILE *out)
{
	const struct sim_fabric *f = &s->fabric;
	uint32_t node = take_node(s, &rest, out);
	const struct sim_node *n;

	if (node == SIM_NONE)
		return;
	n = &f->nodes[node];
	fprintf(out, "\"%s\" 0x%016" PRIx64 "%s%s\n", n->id, n->guid, n->silent ? ", silent" : "",
	    n->off ? ", off" : "");
	for (unsigned p = n->type == WIRE_NODE_SWITCH ? 0 : 1; p <= n->n_ports; p++)
		print_port(f, node, p, out);
}

/* The way by the LFTs, from the first port of one node to that of another. */
static void
print_route(struct sim *s, const char *rest, FILE *out)
{
	uint32_t from = take_node(s, &rest, out), to;
	struct sim_place at, there;
	struct sim_way way;

	if (from == SIM_NONE || (to = take_node(s, &rest, out)) == SIM_NONE)
		return;
	at = (struct sim_place){ from, s->fabric.nodes[from].type != WIRE_NODE_SWITCH };
	there = (struct sim_place){ to, s->fabric.nodes[to].type != WIRE_NODE_SWITCH };
	if (sim_walk(s, at, place_lid(&s->fabric, there), &way))
		fprintf(out, "%u links\n", way.n_hops);
	else
		fprintf(out, "error: lost at \"%s\"[%u] after %u links\n",
		    s->fabric.nodes[way.at.node].id, way.at.port, way.n_hops);
}

static bool
is_host(const struct sim *s, uint32_t node)
{
	return s->fabric.nodes[node].type == WIRE_NODE_CA;
}

/* The pairs of hosts between whose first ports the LFTs do not lead, a line each. */
static void
print_lost(struct sim *s, const char *rest, FILE *out)
{
	uint32_t n = s->fabric.n_nodes;
	struct sim_way way;

	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = 0; b < n; b++) {
			struct sim_place at = { a, 1 }, there = { b, 1 };

			if (a == b || !is_host(s, a) || !is_host(s, b))
				continue;
			if (!sim_walk(s, at, place_lid(&s->fabric, there), &way))
				fprintf(
				    out, "%s %s\n", s->fabric.nodes[a].id, s->fabric.nodes[b].id);
		}
	}
}

/* "0x21 FILE": requests of that class go there from now on; nothing: no more. */
static void
do_record(struct sim *s, const char *rest, FILE *out)
{
	uint64_t mgmt_class;
	char number[8], path[4096];

	if (s->record != NULL)
		fclose(s->record);
	s->record = NULL;
	if (sscanf(rest, " %7s %4095s", number, path) == 2 &&
	    read_number(number, UINT8_MAX, &mgmt_class)) {
		s->record_class = (uint8_t)mgmt_class;
		s->record = fopen(path, "we");
		fputs(s->record != NULL ? "ok\n" : "error: the file cannot be written\n", out);
	} else {
		rest += strspn(rest, " \t\r");
		fputs(*rest == '\0' ? "ok\n" : "error: right would be: record [CLASS FILE]\n", out);
	}
}

static void print_help(struct sim *s, const char *rest, FILE *out);

static const struct command {
	const char *name, *usage;
	void (*print)(struct sim *s, const char *rest, FILE *out);
} commands[] = {
	{ "help", "help", print_help },
	{ "?", NULL, print_help },
	{ "counts", "counts", print_counts },
	{ "smps", "smps", print_smps },
	{ "ends", "ends", print_ends },
	{ "setters", "setters", print_setters },
	{ "attached", "attached", print_attached },
	{ "dump", "dump NODE", print_node },
	{ "route", "route NODE NODE", print_route },
	{ "lost", "lost", print_lost },
	{ "record", "record [CLASS FILE]", do_record },
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void
print_help(struct sim *s, const char *rest, FILE *out)
{
	const char *verb;

	for (size_t i = 0; i < N_COMMANDS; i++)
		if (commands[i].usage != NULL)
			fprintf(out, "%s\n", commands[i].usage);
	for (unsigned i = 0; (verb = sim_verb(i)) != NULL; i++)
		fprintf(out, "%s\n", verb);
	fputs("quit\n", out);
}

static bool
run_command(struct sim *s, const char *line, FILE *out)
{
	size_t n = strcspn(line, " \t\r");

	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strlen(commands[i].name) == n && strncasecmp(line, commands[i].name, n) == 0) {
			commands[i].print(s, line + n, out);
			return true;
		}
	return false;
}

enum console_result
console_do(struct sim *s, const char *line, char **answer)
{
	struct fm_error err;
	size_t n;
	FILE *out;

	*answer = NULL;
	line += strspn(line, " \t\r");
	if (*line == '\0' || *line == '#')
		return CONSOLE_GO_ON;
	if (strncasecmp(line, "quit", 4) == 0)
		return CONSOLE_QUIT;
	out = open_memstream(answer, &n);
	if (out == NULL)
		return CONSOLE_GO_ON;
	if (!run_command(s, line, out)) {
		if (sim_do(s, line, &err) != 0)
			fprintf(out, "error: %s\n", err.msg);
		else
			fputs("ok\n", out);
	}
	fclose(out);
	return CONSOLE_GO_ON;
}
