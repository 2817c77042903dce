/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/web.c - fmd-web: what fmd and fmd-perf know, by HTTP: a page, Prometheus, programs.
 *
 * It is the only process of fmd's that reads what strangers send by HTTP, and it can do nothing: it
 * has no device, and what changes something it does not pass on, whoever it runs as.
 */
#include "config.h"

#include <event2/event.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/conf/cli.h"
#include "core/text/standard.h"
#include "lib/log.h"
#include "web/serve/listen.h"
#include "web/serve/site.h"

#define bad_usage(...) fm_standard_refuse("fmd-web", FMD_EXIT_USAGE, __VA_ARGS__)

#define LISTEN "127.0.0.1:9690"

struct words {
	const char *listen, *names;
	char socket[PATH_MAX], file[PATH_MAX];
};

static void
usage(FILE *out)
{
	fputs(
	    "usage: fmd-web [options]\n"
	    "\n"
	    "Answers HTTP on this host: / is a page for browsers, /metrics and /metrics/ports are "
	    "for\n"
	    "Prometheus, /api/v1/COMMAND for programs; /help lists all.  It can change nothing.\n"
	    "\n"
	    "  -l, --listen=WHERE   127.0.0.1:PORT, [::1]:PORT or the path of a socket (" LISTEN
	    ")\n"
	    "  -H, --host=NAME      the name by which a proxy asks for it; several: NAME,NAME\n"
	    "  -s, --socket=PATH    fmd's control socket (" RUN_DIR "/fmd.sock)\n"
	    "      --state-dir=DIR  that of an fmd started with --state-dir: DIR/fmd.sock\n"
	    "  -f, --file=PATH      the file of fmd-perf (counters, in the folder of the socket)\n"
	    "  -v, --verbose        say what is done\n"
	    "  -h, --help           this text\n"
	    "  -V, --version        the version\n"
	    "\n"
	    "Users and TLS are for a proxy before it (fmd-web(8)).\n"
	    "Exit codes: 0 ended by a signal, 1 something is not there, 2 usage.\n",
	    out);
}

static int
take_path(char path[PATH_MAX], const char *folder, const char *name)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s%s", folder, name) < PATH_MAX)
		return 0;
	return bad_usage("the path is too long: %.60s", folder);
}

static int
take_option(struct words *w, int c, const char *word)
{
	switch (c) {
	case 'l':
		w->listen = optarg;
		return 0;
	case 'H':
		w->names = optarg;
		return listen_are_names(optarg)
		    ? 0
		    : bad_usage("--host=%.60s: expected a name as fmd.example.org, or several with "
				"commas between, without scheme, port and path",
			  optarg);
	case 's':
		return take_path(w->socket, optarg, "");
	case 'd':
		return take_path(w->socket, optarg, "/fmd.sock");
	case 'f':
		return take_path(w->file, optarg, "");
	case 'v':
		fm_log_set_level(FM_LOG_DEBUG);
		return 0;
	default:
		return bad_usage("there is no such option, or it lacks its value: %.60s", word);
	}
}

/* The file of fmd-perf lies beside the socket. */
static int
name_file(struct words *w)
{
	const char *slash = strrchr(w->socket, '/');
	char folder[PATH_MAX];

	if (w->file[0] != '\0')
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - w->socket + 1) : 0,
	    w->socket);
	return take_path(w->file, folder, "counters");
}

static const struct option options[] = { { "listen", required_argument, NULL, 'l' },
	{ "host", required_argument, NULL, 'H' }, { "socket", required_argument, NULL, 's' },
	{ "state-dir", required_argument, NULL, 'd' }, { "file", required_argument, NULL, 'f' },
	{ "verbose", no_argument, NULL, 'v' }, { "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' }, { 0 } };

/* -1: go on; else the exit code. */
static int
take_words(struct words *w, int argc, char **argv)
{
	int c, rc;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "l:H:s:f:vhV", options, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			return FMD_EXIT_OK;
		}
		if (c == 'V') {
			puts("fmd-web " PACKAGE_VERSION);
			return FMD_EXIT_OK;
		}
		if ((rc = take_option(w, c, argv[optind - 1])) != 0)
			return rc;
	}
	if (optind < argc)
		return bad_usage("unexpected argument %.60s", argv[optind]);
	rc = name_file(w);
	return rc != 0 ? rc : -1;
}

static void
on_signal(evutil_socket_t signal, short what, void *arg)
{
	event_base_loopbreak(arg);
}

static int
run(struct event_base *base, const struct words *w, struct fm_error *err)
{
	struct event *term = evsignal_new(base, SIGTERM, on_signal, base),
		     *interrupt = evsignal_new(base, SIGINT, on_signal, base);
	struct site *site = NULL;
	int rc = term == NULL || interrupt == NULL
	    ? fm_fail(err, FM_E_RESOURCE, "out of memory")
	    : site_open(base, w->listen, w->names, w->socket, w->file, &site, err);

	if (rc == 0) {
		event_add(term, NULL);
		event_add(interrupt, NULL);
		log_info("web", "listens at %s, asks fmd at %s, reads %s", w->listen, w->socket,
		    w->file);
		event_base_dispatch(base);
	}
	site_close(site);
	if (term != NULL)
		event_free(term);
	if (interrupt != NULL)
		event_free(interrupt);
	return rc;
}

int
main(int argc, char **argv)
{
	static struct words w = { .listen = LISTEN, .socket = RUN_DIR "/fmd.sock" };
	struct fm_error err = { 0 };
	struct event_base *base;
	int rc;

	fm_standard_claim();
	rc = take_words(&w, argc, argv);
	if (rc >= 0)
		return rc == 0 && fm_standard_flush(&err) != 0 ? FMD_EXIT_SYSTEM : rc;
	signal(SIGPIPE, SIG_IGN);
	base = event_base_new();
	if (base == NULL)
		rc = fm_fail(&err, FM_E_RESOURCE, "out of memory");
	else
		rc = run(base, &w, &err);
	if (rc != 0)
		fprintf(stderr, "fmd-web: %s\n", err.msg);
	if (base != NULL)
		event_base_free(base);
	return rc == 0 ? FMD_EXIT_OK : (int)exit_code_of(&err);
}
