/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The console: a word, and a function that prints its answer.  What is no
 * command of its own goes to the verbs of scripts, so that a fault is written
 * the same way in both.
 */
#include "core/sim/console.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/sim/net.h"

static const char help[] = "unlink NODE[PORT]    pull the cable; relink NODE[PORT] puts it back\n"
			   "flap NODE[PORT] [for TIME]   both\n"
			   "reboot NODE [for TIME]       all it knew is gone\n"
			   "silence NODE         its agents do not answer; wake NODE\n"
			   "describe NODE \"TEXT\" NodeDescription, with trap 144\n"
			   "loss 10%             of packets from now on\n"
			   "attached             programs and where they sit\n"
			   "counts               of MADs\n"
			   "quit\n";

static void
print_counts(struct sim *s, FILE *out)
{
	const struct sim_counts *c = sim_counts(s);

	fprintf(out,
	    "handled %" PRIu64 ", lost %" PRIu64 ", no way %" PRIu64 ", ignored %" PRIu64
	    ", overrun %" PRIu64 ", unexpected %" PRIu64 ", refused %" PRIu64 ", traps %" PRIu64
	    "\n",
	    c->smps, c->lost, c->no_way, c->ignored, c->overrun, c->unexpected, c->bad_sends,
	    c->traps);
}

static void
print_attached(struct sim *s, FILE *out)
{
	for (const struct sim_client *c = s->clients; c != NULL; c = c->next)
		fprintf(out, "%s port %u\n", s->fabric.nodes[c->at.node].id, c->at.port);
}

static void
print_help(struct sim *s, FILE *out)
{
	fputs(help, out);
}

static const struct command {
	const char *name;
	void (*print)(struct sim *s, FILE *out);
} commands[] = {
	{ "help", print_help },
	{ "?", print_help },
	{ "counts", print_counts },
	{ "attached", print_attached },
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static bool
run_command(struct sim *s, const char *line, FILE *out)
{
	size_t n = strcspn(line, " \t\r");

	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strlen(commands[i].name) == n && strncasecmp(line, commands[i].name, n) == 0) {
			commands[i].print(s, out);
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
