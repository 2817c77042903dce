/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/reader/perf.c - fmd-perf: reads the counters of all ports, again and again, into a file.
 *
 * What there is to be read fmd tells, on its control socket; the file lies beside that, and who may
 * look there may read it.  One thread: a sweep is cut into slots (pace.h), and each asks its
 * share, so that answers come one after the other and not at once.  While fmd is gone the fabric is
 * the one that it told last; while it rules nothing, nothing is read.  After each sweep cables are
 * judged by what was counted, and fmd is told (perf/health).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/conf/cli.h"
#include "core/ctl/ctl.h"
#include "core/mad/umad_agent.h"
#include "core/text/standard.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "perf/book/history.h"
#include "perf/health/judge.h"
#include "perf/health/tell.h"
#include "perf/reader/asker.h"
#include "perf/reader/pace.h"
#include "perf/reader/pma.h"

#define bad_usage(...) fm_standard_refuse("fmd-perf", FMD_EXIT_USAGE, __VA_ARGS__)

#define FMD_S 5 /* that fmd is waited for */
#define NAP_MS 100
#define LOOK_MS 1000 /* between two looks at what fmd does */
#define LOOK_S 1     /* that it is waited for then */

struct perf {
	const char *socket, *port; /* port NULL: fmd's */
	char file[PATH_MAX];
	uint32_t interval_ms;
	bool once;
	struct umad_agent *agent; /* NULL: none is open */
	char generation[32];	  /* of what fmd has told last; "": nothing, or all is asked anew */
	bool waits;		  /* ... that it is not master */
	struct topology *fabric;  /* NULL: fmd has not told it yet */
	struct book *book;	  /* of it */
	struct asker *asker;	  /* of both */
	struct history *history;  /* of it; NULL: readings are not kept */
	bool is_unkept;		  /* ... which has been said */
	struct judge *judge;
	struct teller teller;
	int64_t looked_ms; /* at what fmd does; INT64_MAX: not again in this sweep */
	bool fmd_writes;   /* to switches, as seen last */
	bool was_slowed;   /* ... at some time in this sweep */
	bool is_untold;	   /* why fmd cannot be told of cables has been said */
	struct book_head head;
	uint32_t told_missing, told_silent, told_refusing; /* of the last sweep, as told */
	char told[256]; /* what was wrong, as told last; "": nothing */
	struct fm_log_bucket sends, losses;
};

static const struct umad_agent_class perf_class = { .mgmt_class = PMA_CLASS, .class_version = 1 };
static volatile sig_atomic_t is_ending;

static void
on_signal(int signal)
{
	(void)signal;
	is_ending = 1;
}

static int64_t
now_ms(void)
{
	return fm_clock_ms(CLOCK_MONOTONIC);
}

static void
sleep_until(int64_t then_ms)
{
	while (!is_ending && now_ms() < then_ms) {
		int64_t left = then_ms - now_ms();
		struct timespec t = { .tv_nsec = (left < NAP_MS ? left : NAP_MS) * 1000000 };

		nanosleep(&t, NULL);
	}
}

/* The same sentence is told once. */
static void
say_wrong(struct perf *p, const char *what)
{
	if (strcmp(p->told, what) != 0)
		log_warn("perf", "%s", what);
	snprintf(p->told, sizeof(p->told), "%s", what);
}

/* -------------------------------------------------------------------- the device */

/* The port that fmd is on: "umad:mlx5_0:1". */
static int
find_port(const struct perf *p, char *spec, size_t size, struct fm_error *err)
{
	json_t *status = NULL;
	const char *transport;
	int rc;

	if (p->port != NULL) {
		snprintf(spec, size, "umad:%s", p->port);
		return 0;
	}
	rc = ctl_call(p->socket, "status", NULL, FMD_S, &status, err);
	transport = json_string_value(json_object_get(status, "transport"));
	if (rc == 0 && (transport == NULL || strncmp(transport, "umad", 4) != 0))
		rc = fm_fail(err, FM_E_CONFIG,
		    "fmd is on %.60s, where no agent beside it can be: name a port by --port",
		    transport != NULL ? transport : "nothing");
	else if (rc == 0)
		snprintf(spec, size, "%s", transport);
	json_decref(status);
	return rc;
}

static int
open_device(struct perf *p, struct fm_error *err)
{
	char spec[128];
	int rc = find_port(p, spec, sizeof(spec), err);

	if (rc == 0)
		rc = umad_agent_open(spec, &perf_class, &p->agent, err);
	if (rc == 0)
		log_info("perf", "asks through %s", spec);
	return rc;
}

static void
close_device(struct perf *p)
{
	umad_agent_close(p->agent);
	p->agent = NULL;
}

/* --------------------------------------------------------------------- the fabric */

/* Who may talk to fmd may read. */
static gid_t
group_of(const struct perf *p)
{
	struct stat st;

	return stat(p->socket, &st) == 0 && (st.st_mode & S_IWGRP) != 0 ? st.st_gid : (gid_t)-1;
}

static int
make_book(struct perf *p, const struct topology *t, struct book **out, struct fm_error *err)
{
	gid_t group = group_of(p);
	int rc = book_make(p->file, t->nodes, t->n_nodes, group, out, err);

	if (rc == 0 || group == (gid_t)-1)
		return rc;
	if (book_make(p->file, t->nodes, t->n_nodes, (gid_t)-1, out, err) != 0)
		return (int)err->kind;
	say_wrong(p,
	    "the file cannot be given to the group of fmd's control socket: is fmd-perf's user a "
	    "member (SupplementaryGroups= of its unit)?");
	return 0;
}

static void
forget_fabric(struct perf *p)
{
	if (p->book != NULL)
		book_retire(p->book);
	asker_free(p->asker);
	book_close(p->book);
	topology_free(p->fabric);
	p->asker = NULL;
	p->book = NULL;
	p->fabric = NULL;
}

static void
say_kept(struct perf *p, int rc, const struct fm_error *err)
{
	if (rc != 0 && !p->is_unkept)
		log_warn("perf", "%s", err->msg);
	else if (rc == 0 && p->is_unkept)
		log_notice("perf", "readings are kept again");
	p->is_unkept = rc != 0;
}

static void
make_history(struct perf *p, const struct topology *t)
{
	char path[PATH_MAX + sizeof(HISTORY_SUFFIX)];
	struct fm_error err = { 0 };

	history_close(p->history);
	snprintf(path, sizeof(path), "%s" HISTORY_SUFFIX, p->file);
	say_kept(p, history_make(path, t->nodes, t->n_nodes, group_of(p), &p->history, &err), &err);
}

/* The fabric is this one from now on; what was counted stays.  t is the callee's. */
static int
take_fabric(struct perf *p, struct topology *t, struct fm_error *err)
{
	struct book *book = NULL;
	struct asker *asker = NULL;
	int rc = make_book(p, t, &book, err);

	if (rc == 0)
		rc = asker_new(t, book, p->asker, &asker, err);
	if (rc == 0) {
		asker_set_judge(asker, p->judge);
		book_put_head(book, &p->head);
		rc = book_show(book, err);
	}
	if (rc != 0) {
		asker_free(asker);
		book_close(book);
		topology_free(t);
		return rc;
	}
	forget_fabric(p);
	p->fabric = t;
	p->book = book;
	p->asker = asker;
	if (!p->once)
		make_history(p, t);
	log_info("perf", "%u nodes with %u ports are read each %g s into %s", t->n_nodes,
	    t->n_ports, p->interval_ms / 1000.0, p->file);
	return 0;
}

static int
say_waits(const struct perf *p, struct fm_error *err)
{
	return fm_fail(err, FM_E_TOPOLOGY,
	    "fmd at %.100s is not master: the counters are for the fmd-perf beside the master",
	    p->socket);
}

static int
read_fabric(struct perf *p, const json_t *answer, struct fm_error *err)
{
	struct topology *t = NULL;
	int rc = topology_read(answer, &t, err);

	if (rc != 0)
		return rc;
	memcpy(p->generation, t->generation, sizeof(p->generation));
	p->waits = !t->is_master;
	if (!p->waits)
		return take_fabric(p, t, err);
	topology_free(t);
	return say_waits(p, err);
}

/* Has anything changed?  A file that somebody has removed is made again. */
static int
follow_fabric(struct perf *p, struct fm_error *err)
{
	json_t *args, *answer = NULL;
	int rc;

	if (p->book != NULL && book_is_gone(p->book))
		p->generation[0] = '\0';
	args = p->generation[0] != '\0' ? json_pack("{s:s}", "generation", p->generation)
					: json_object();
	rc = ctl_call(p->socket, "fabric", args, FMD_S, &answer, err);
	if (rc == 0 && json_is_true(json_object_get(answer, "same")))
		rc = p->waits ? say_waits(p, err) : 0;
	else if (rc == 0 && (rc = read_fabric(p, answer, err)) != 0 && !p->waits)
		p->generation[0] = '\0';
	json_decref(args);
	json_decref(answer);
	return rc;
}

/* ------------------------------------------------------------------------ a sweep */

/* An fmd that does not answer writes nothing, and is not waited for once more. */
static void
look_at_fmd(struct perf *p)
{
	static const char *const writing[] = { "switches", "tables", "ports", "activate" };
	json_t *answer = NULL;
	const char *phase;
	struct fm_error err;

	if (now_ms() - p->looked_ms < LOOK_MS)
		return;
	p->looked_ms = now_ms();
	p->fmd_writes = false;
	if (ctl_call(p->socket, "progress", NULL, LOOK_S, &answer, &err) != 0)
		p->looked_ms = INT64_MAX;
	phase = json_string_value(json_object_get(answer, "phase"));
	for (size_t i = 0; phase != NULL && i < sizeof(writing) / sizeof(writing[0]); i++)
		p->fmd_writes = p->fmd_writes || strcmp(phase, writing[i]) == 0;
	p->was_slowed = p->was_slowed || p->fmd_writes;
	json_decref(answer);
}

/* Up to so many requests; how many were sent. */
static uint32_t
ask(struct perf *p, uint32_t most)
{
	struct asker_request r;
	struct fm_error err;
	uint32_t n = 0;

	for (; n < most && asker_next(p->asker, now_ms(), &r); n++)
		if (umad_agent_send(
			p->agent, &r.to, r.bytes, sizeof(r.bytes), (int)r.timeout_ms, 0, &err) != 0)
			fm_log_rl(
			    &p->sends, FM_LOG_WARN, "perf", "nothing can be asked: %s", err.msg);
	return n;
}

/* Answers till the slot ends, and on with who has given one.  False: the device is gone. */
static bool
pass_slot(struct perf *p, int64_t end_ms, uint32_t budget)
{
	struct umad_message m;
	uint32_t n_sent = ask(p, budget);

	for (;;) {
		int64_t left = end_ms - now_ms();
		int rc = umad_agent_receive(p->agent, left > 0 ? (int)left : 0, &m);

		if (rc < 0) {
			log_warn("perf", "the device does not answer: %s", strerror(-rc));
			return false;
		}
		if (rc > 0 && m.status == 0)
			asker_hear(p->asker, m.addr.lid, m.bytes, m.n_bytes, now_ms(),
			    fm_clock_ms(CLOCK_REALTIME));
		if (is_ending || (rc == 0 && now_ms() >= end_ms))
			return true;
		if (n_sent < budget)
			n_sent += ask(p, budget - n_sent);
	}
}

static void
say_missing(struct perf *p, bool is_late)
{
	const struct asker_counts *c = asker_counts(p->asker);
	uint32_t missing = c->n_wanted - c->n_read;

	log_debug("perf",
	    "sweep %ju: %u of %u ports, %ju MADs, %ju lost, %ju strange, %u ports at an end%s",
	    (uintmax_t)p->head.sweep, c->n_read, c->n_wanted, (uintmax_t)c->n_sent,
	    (uintmax_t)c->n_lost, (uintmax_t)c->n_strange, c->n_at_end,
	    is_late ? ", out of time" : "");
	if (missing == p->told_missing && c->n_silent == p->told_silent &&
	    c->n_refusing == p->told_refusing)
		return;
	if (missing == 0)
		log_notice("perf", "all %u ports are read", c->n_wanted);
	else
		fm_log_rl(&p->losses, FM_LOG_WARN, "perf",
		    "%u of %u ports are not read: %u agents do not answer, %u give no "
		    "counters%s",
		    missing, c->n_wanted, c->n_silent, c->n_refusing,
		    !is_late		? ""
			: p->was_slowed ? ", and fmd wrote to switches, which goes first"
					: ", and the interval was too short");
	p->told_missing = missing;
	p->told_silent = c->n_silent;
	p->told_refusing = c->n_refusing;
}

static void
end_sweep(struct perf *p, int64_t began_utc_ms, bool is_late)
{
	const struct asker_counts *c = asker_counts(p->asker);
	struct fm_error err = { 0 };

	asker_end(p->asker);
	p->head.sweep++;
	p->head.sweep_began_ms = began_utc_ms;
	p->head.sweep_ended_ms = fm_clock_ms(CLOCK_REALTIME);
	p->head.n_wanted = c->n_wanted;
	p->head.n_read = c->n_read;
	p->head.n_silent = c->n_silent;
	p->head.n_late += is_late;
	book_put_head(p->book, &p->head);
	if (p->history != NULL)
		say_kept(p, history_put(p->history, p->book, p->head.sweep_ended_ms, &err), &err);
	say_missing(p, is_late);
}

static int
tell_once(struct perf *p, bool *more, struct fm_error *err)
{
	json_t *args = tell_next(&p->teller, p->judge, p->interval_ms), *answer = NULL;
	int rc;

	if (args == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	rc = ctl_call(p->socket, "report", args, FMD_S, &answer, err);
	if (rc == 0)
		rc = tell_take(&p->teller, p->judge, answer, now_ms(), more, err);
	json_decref(args);
	json_decref(answer);
	return rc;
}

/* fmd hears how cables are, also that nothing has changed. */
static void
tell_fmd(struct perf *p)
{
	struct fm_error err = { 0 };
	bool more = true;
	int rc = 0;

	for (int i = 0; more && rc == 0 && i < TELL_CALLS; i++)
		rc = tell_once(p, &more, &err);
	if (rc != 0 && !p->is_untold)
		log_warn("perf", "fmd is not told of the health of cables: %s", err.msg);
	p->is_untold = rc != 0;
}

/* All ports once, till the next sweep is due at most. */
static void
sweep(struct perf *p, int64_t began_ms)
{
	int64_t end_ms = began_ms + p->interval_ms, began_utc_ms = fm_clock_ms(CLOCK_REALTIME);
	bool goes_on = true;
	struct pace pace;

	p->looked_ms = began_ms;
	p->fmd_writes = p->was_slowed = false;
	asker_begin(p->asker, p->head.sweep + 1, began_ms, p->interval_ms);
	pace = pace_begin(p->interval_ms, asker_left(p->asker), p->once);
	judge_begin(p->judge, began_ms, p->interval_ms);
	while (
	    goes_on && !is_ending && asker_left(p->asker) > 0 && now_ms() < end_ms - PACE_SLOT_MS) {
		int64_t slot;

		look_at_fmd(p);
		slot = (now_ms() - began_ms) / PACE_SLOT_MS;
		goes_on = pass_slot(p, began_ms + (slot + 1) * PACE_SLOT_MS,
		    pace_budget(&pace, slot, asker_left(p->asker), p->fmd_writes));
		asker_expire(p->asker, now_ms());
	}
	if (is_ending)
		return;
	end_sweep(p, began_utc_ms, asker_left(p->asker) > 0);
	judge_end(p->judge, now_ms(), p->head.sweep_ended_ms / 1000);
	if (!p->once)
		tell_fmd(p);
	if (!goes_on)
		close_device(p);
}

/* One interval; 0 where a sweep was made.  The first begins when there is something to be read. */
static int
pass_interval(struct perf *p, int64_t *began_ms, struct fm_error *err)
{
	bool is_first = p->fabric == NULL;
	int rc = follow_fabric(p, err);

	if (rc == 0)
		p->told[0] = '\0';
	else if (p->fabric == NULL || p->waits)
		return rc;
	else
		say_wrong(p, err->msg); /* and on with what was told last */
	if (p->agent == NULL && (rc = open_device(p, err)) != 0)
		return rc;
	if (is_first)
		*began_ms = now_ms();
	sweep(p, *began_ms);
	return 0;
}

static enum fmd_exit
run(struct perf *p)
{
	int64_t began_ms = now_ms();

	while (!is_ending) {
		struct fm_error err = { 0 };
		int rc = pass_interval(p, &began_ms, &err);

		if (rc != 0)
			say_wrong(p, err.msg);
		if (p->once)
			return rc != 0	      ? exit_code_of(&err)
			    : is_ending	      ? FMD_EXIT_SYSTEM
			    : p->told_missing ? FMD_EXIT_TROUBLE
					      : FMD_EXIT_OK;
		began_ms += p->interval_ms;
		if (began_ms < now_ms()) /* we have stood still: no sweep is made up for */
			began_ms = now_ms();
		sleep_until(began_ms);
	}
	return FMD_EXIT_OK;
}

/* -------------------------------------------------------------------------- start */

/* Two that write one file would spoil it. */
static int
lock_file(const struct perf *p, struct fm_error *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX + 8];
	int fd;

	snprintf(path, sizeof(path), "%s.lock", p->file);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fm_fail(err, FM_E_SYSTEM, "cannot write %.200s: %s", path, strerror(errno));
	if (fcntl(fd, F_SETLK, &lock) == 0)
		return 0; /* till we end */
	close(fd);
	return fm_fail(err, FM_E_SYSTEM, "another fmd-perf writes %.200s", p->file);
}

static void
usage(FILE *out)
{
	fputs("usage: fmd-perf [options]\n"
	      "\n"
	      "Reads the counters of all ports that fmd knows, again and again, into a file that\n"
	      "fmctl counters and fmctl top read.  It never changes a counter.\n"
	      "\n"
	      "  -i, --interval=SECONDS  between two readings, 1..3600 (10)\n"
	      "  -s, --socket=PATH       fmd's control socket (" RUN_DIR "/fmd.sock)\n"
	      "      --state-dir=DIR     that of an fmd started with --state-dir: DIR/fmd.sock\n"
	      "  -f, --file=PATH         the file (counters, in the folder of the socket)\n"
	      "  -p, --port=CA[:PORT]    of this host, to ask through (the one that fmd is on)\n"
	      "  -1, --once              read once: 0 all ports, 5 some are missing, 1 none\n"
	      "  -v, --verbose           say what is done\n"
	      "  -h, --help              this text\n"
	      "  -V, --version           the version\n"
	      "\n"
	      "Exit codes: 0 ended by a signal, 1 something is not there, 2 usage.\n",
	    out);
}

static int
take_interval(struct perf *p, const char *text)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end != '\0' || !(s >= 1 && s <= 3600))
		return bad_usage("--interval=%s: expected 1..3600 seconds", text);
	p->interval_ms = (uint32_t)(s * 1000);
	return 0;
}

static int
take_path(char *path, const char *folder, const char *name)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s%s", folder, name) < PATH_MAX - 8)
		return 0;
	return bad_usage("%.60s...: the path is too long", folder);
}

static char state_socket[PATH_MAX];

static int
take_option(struct perf *p, int c)
{
	switch (c) {
	case 'i':
		return take_interval(p, optarg);
	case 's':
		p->socket = optarg;
		return 0;
	case 'd':
		p->socket = state_socket;
		return take_path(state_socket, optarg, "/fmd.sock");
	case 'f':
		return take_path(p->file, optarg, "");
	case 'p':
		p->port = optarg;
		return 0;
	case '1':
		p->once = true;
		return 0;
	case 'v':
		fm_log_set_level(FM_LOG_DEBUG);
		return 0;
	default:
		return bad_usage("there is no such option, or it lacks its value");
	}
}

static const struct option options[] = { { "interval", required_argument, NULL, 'i' },
	{ "socket", required_argument, NULL, 's' }, { "state-dir", required_argument, NULL, 'd' },
	{ "file", required_argument, NULL, 'f' }, { "port", required_argument, NULL, 'p' },
	{ "once", no_argument, NULL, '1' }, { "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, { 0 } };

/* The file lies beside the socket. */
static int
name_file(struct perf *p)
{
	const char *slash = strrchr(p->socket, '/');
	char folder[PATH_MAX];

	if (p->file[0] != '\0')
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - p->socket + 1) : 0,
	    p->socket);
	return take_path(p->file, folder, "counters");
}

/* -1: go on; else the exit code. */
static int
take_words(struct perf *p, int argc, char **argv)
{
	int c, rc;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "i:s:f:p:1vhV", options, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			return FMD_EXIT_OK;
		}
		if (c == 'V') {
			puts("fmd-perf " PACKAGE_VERSION);
			return FMD_EXIT_OK;
		}
		if ((rc = take_option(p, c)) != 0)
			return rc;
	}
	if (optind < argc)
		return bad_usage("unexpected argument %.60s", argv[optind]);
	rc = name_file(p);
	return rc != 0 ? rc : -1;
}

int
main(int argc, char **argv)
{
	static struct perf p = { .socket = RUN_DIR "/fmd.sock",
		.interval_ms = 10000,
		.sends = { .burst = 3, .every_ms = 60000 },
		.losses = { .burst = 5, .every_ms = 60000 } };
	struct sigaction end = { .sa_handler = on_signal };
	struct fm_error err = { 0 };
	int rc;

	fm_standard_claim();
	rc = take_words(&p, argc, argv);
	if (rc >= 0)
		return rc == 0 && fm_standard_flush(&err) != 0 ? FMD_EXIT_SYSTEM : rc;
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	if (lock_file(&p, &err) != 0) {
		fprintf(stderr, "fmd-perf: %s\n", err.msg);
		return exit_code_of(&err);
	}
	p.judge = judge_new();
	if (p.judge == NULL) {
		fputs("fmd-perf: out of memory\n", stderr);
		return FMD_EXIT_SYSTEM;
	}
	p.head.began_ms = fm_clock_ms(CLOCK_REALTIME);
	p.head.interval_ms = p.interval_ms;
	rc = (int)run(&p);
	judge_free(p.judge);
	asker_free(p.asker);
	history_close(p.history);
	book_close(p.book);
	topology_free(p.fabric);
	close_device(&p);
	return rc;
}
