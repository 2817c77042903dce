/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmsim: serve a simulated fabric to unmodified programs.
 */
#include "config.h"

#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/conf/cli.h"
#include "core/text/standard.h"
#include "lab/fmsim/server.h"
#include "lab/fmsim/umad_client.h"
#include "lab/sim/spec.h"

static const char usage[] =
    "usage: fmsim FABRIC[,key=value...] [--socket=PATH] [--key=value...]\n"
    "       fmsim --socket=PATH --tell COMMAND\n"
    "Serves the fabric to programs that run with LD_PRELOAD=libfmsim-umad.so, and\n"
    "takes commands on standard input (\"help\" lists them).  Keys: fmsim(1).\n";

struct job {
	char *spec;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *command; /* NULL: serve */
};

static int
complain(const struct fm_error *err)
{
	fprintf(stderr, "fmsim: %s\n", err->msg);
	return exit_code_of(err);
}

static void
on_signal(evutil_socket_t fd, short what, void *base)
{
	event_base_loopexit(base, NULL);
}

/* ------------------------------------------------------------------- serve */

static void
greet(struct sim *s, const char *path)
{
	const struct sim_fabric *f = sim_fabric(s);
	unsigned n_switches = 0;

	for (uint32_t n = 0; n < f->n_nodes; n++)
		n_switches += f->nodes[n].type == WIRE_NODE_SWITCH;
	printf("fmsim: %u switches and %u other nodes at %s\n", n_switches, f->n_nodes - n_switches,
	    path);
	fflush(stdout);
}

/* A file or /dev/null as standard input is no console. */
static bool
can_wait_on(int fd)
{
	struct stat st;

	return isatty(fd) ||
	    (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)));
}

static int
run_loop(struct sim *s, struct sim_place local, const char *path, struct event_base *base,
    struct fm_error *err)
{
	struct event *term = evsignal_new(base, SIGTERM, on_signal, base);
	struct event *intr = evsignal_new(base, SIGINT, on_signal, base);
	struct sim_server *v = NULL;
	int rc;

	if (term == NULL || intr == NULL || event_add(term, NULL) != 0 ||
	    event_add(intr, NULL) != 0)
		rc = fm_fail(err, FM_E_RESOURCE, "no memory for signals");
	else
		rc = sim_server_new(s, local, base, path, &v, err);
	if (rc == 0) {
		if (can_wait_on(STDIN_FILENO))
			sim_server_console(v, STDIN_FILENO, STDOUT_FILENO, err);
		greet(s, path);
		event_base_dispatch(base);
	}
	sim_server_free(v);
	if (term != NULL)
		event_free(term);
	if (intr != NULL)
		event_free(intr);
	return rc;
}

/* A descriptor for each program that attaches: as many as the system allows. */
static void
allow_many_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static int
serve_fabric(const struct job *job, struct fm_error *err)
{
	struct event_base *base;
	struct sim_place local;
	struct sim *s;
	int rc = spec_open(job->spec, &s, &local, err);

	if (rc != 0)
		return rc;
	allow_many_files();
	base = event_base_new();
	rc = base != NULL ? run_loop(s, local, job->path, base, err)
			  : fm_fail(err, FM_E_RESOURCE, "no memory for a loop");
	if (base != NULL)
		event_base_free(base);
	sim_free(s);
	return rc;
}

/* --------------------------------------------------------------- arguments */

static int
bad_usage(struct fm_error *err, const char *what)
{
	fputs(usage, stderr);
	return fm_fail(err, FM_E_CONFIG, "%s", what);
}

/* ",key=value" behind the fabric's name; "--strict" is a key alone. */
static bool
add_key(struct job *job, const char *option)
{
	char *longer;

	if (asprintf(&longer, "%s,%s", job->spec, option) < 0)
		return false;
	free(job->spec);
	job->spec = longer;
	return true;
}

static bool
set_fabric(struct job *job, const char *name)
{
	char *spec;

	/* keys that came before stay behind it; the clock is the wall's */
	if (asprintf(&spec, "%s,clock=wall%s", name, job->spec) < 0)
		return false;
	free(job->spec);
	job->spec = spec;
	return true;
}

static int
set_path(struct job *job, const char *path, struct fm_error *err)
{
	if (path[0] == '\0' || strlen(path) >= sizeof(job->path))
		return fm_fail(err, FM_E_CONFIG,
		    "socket \"%.40s\": a path of 1 to %zu bytes is right", path,
		    sizeof(job->path) - 1);
	memcpy(job->path, path, strlen(path) + 1);
	return 0;
}

static int
read_argument(struct job *job, const char *word, bool *has_fabric, struct fm_error *err)
{
	bool good = true;

	if (strncmp(word, "--socket=", 9) == 0)
		return set_path(job, word + 9, err);
	if (strncmp(word, "--", 2) == 0)
		good = add_key(job, word + 2);
	else if (*has_fabric)
		return bad_usage(err, "there are two fabrics");
	else
		good = *has_fabric = set_fabric(job, word);
	return good ? 0 : fm_fail(err, FM_E_RESOURCE, "no memory for arguments");
}

static int
read_arguments(struct job *job, int argc, char *argv[], struct fm_error *err)
{
	bool has_fabric = false;
	int rc = 0;

	job->spec = strdup("");
	if (job->spec == NULL)
		return fm_fail(err, FM_E_RESOURCE, "no memory for arguments");
	for (int i = 1; rc == 0 && i < argc; i++)
		if (strcmp(argv[i], "--tell") == 0 && i + 1 < argc)
			job->command = argv[++i];
		else
			rc = read_argument(job, argv[i], &has_fabric, err);
	if (rc == 0 && strcmp(argv[argc - 1], "--tell") == 0 && job->command == NULL)
		return bad_usage(err, "--tell wants a command, \"help\" for one");
	if (rc == 0 && !has_fabric && job->command == NULL)
		return bad_usage(err, "the fabric is missing");
	if (rc == 0 && has_fabric && job->command != NULL)
		return bad_usage(err, "--tell talks to an fmsim that serves a fabric already");
	if (rc == 0 && job->path[0] == '\0')
		rc = set_path(job, fmsim_default_path(), err);
	return rc;
}

int
main(int argc, char *argv[])
{
	struct fm_error err = { 0 };
	struct job job = { 0 };
	int rc = 0;

	fm_standard_claim();
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "--version") == 0)) {
		fputs(argv[1][2] == 'h' ? usage : "fmsim " PACKAGE_VERSION "\n", stdout);
		return fm_standard_flush(&err) != 0 ? complain(&err) : 0;
	}
	signal(SIGPIPE, SIG_IGN);
	if (read_arguments(&job, argc, argv, &err) != 0)
		rc = complain(&err);
	else if (job.command != NULL)
		rc = fmsim_tell(job.path, job.command, &err) != 0 ? complain(&err) : 0;
	else if (serve_fabric(&job, &err) != 0)
		rc = complain(&err);
	if (rc == 0 && job.command != NULL && fm_standard_flush(&err) != 0)
		rc = complain(&err);
	free(job.spec);
	return rc;
}
