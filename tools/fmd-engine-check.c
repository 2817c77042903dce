/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd-engine-check ENGINE.so FABRIC...: for the author of an engine, the
 * properties that fmd's own engines are tested for (lab/judge/props.h).
 */
#include "config.h"

#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/conf/cli.h"
#include "core/conf/conf.h"
#include "core/engine/plugin.h"
#include "core/text/number.h"
#include "core/text/standard.h"
#include "lab/judge/props.h"
#include "lab/topo/netlist.h"
#include "lib/log.h"

#define TIME_LIMIT_S 600u /* of one run of the engine */
#define QUIET_S 5	  /* then a line says what is tried */

static const char usage[] =
    "usage: fmd-engine-check [--config=FILE] [--time-limit=SECONDS] ENGINE.so FABRIC...\n"
    "Check an engine on fabrics (ibsim netlists, ibnetdiscover dumps; see fmroute gen):\n"
    "the same bytes twice and with 1, 2 and 8 workers; every scratch allocation\n"
    "failing in turn; whole rows written and no credit loops made where it promises\n"
    "so; nothing written beside the rows; every pair routed, with two LIDs a host and\n"
    "under other names too, no loops; refusals with a sentence.\n"
    "  --config=FILE         options from the engine's section in this fmd.conf\n"
    "  --time-limit=SECONDS  that one run may take (600), 0 = any\n"
    "Exit codes: 0 all hold, 2 usage or no engine, 3 a property is broken.\n";

struct task {
	const char *config; /* NULL: every option has its default */
	unsigned time_limit_s;
	struct engine_set set;
	const struct fm_engine *engine;
	struct conf *conf; /* NULL: none was given */
	const char *fabric;
	bool routed, asks; /* on any fabric */
	time_t said;	   /* when something was last printed of this fabric */
};

/* ------------------------------------------------------------ crash and delay */

/* What is being tried: a signal handler prints it. */
static char trying[512];

static void
print_stderr(const char *words)
{
	if (write(STDERR_FILENO, words, strlen(words)) < 0)
		return;
}

/* An engine that crashes takes this process along; one that never ends is ended so. */
static void
on_signal(int sig)
{
	bool late = sig == SIGALRM;

	print_stderr(late ? "fmd-engine-check: over the time limit: "
			  : "fmd-engine-check: the engine crashes: ");
	print_stderr(trying);
	print_stderr("\n");
	if (late)
		_exit(FMD_EXIT_NOT_ROUTED);
	raise(sig); /* SA_RESETHAND: the default now */
}

static void
watch_signals(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM };
	static char stack[65536];
	struct sigaction act = { .sa_handler = on_signal,
		.sa_flags = (int)SA_RESETHAND | SA_ONSTACK };
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&alternate, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &act, NULL);
}

static void
on_trying(void *arg, const char *what)
{
	struct task *t = arg;
	time_t now = time(NULL);

	snprintf(trying, sizeof(trying), "%s on %.300s, %s", t->engine->name, t->fabric, what);
	alarm(t->time_limit_s);
	if (now - t->said >= QUIET_S) {
		fprintf(stderr, "fmd-engine-check: %s ...\n", trying);
		t->said = now;
	}
}

/* --------------------------------------------------------------- the engine */

/* The engine of one file: its folder is loaded, the file's refusal is ours. */
static const struct fm_engine *
load_engine(const char *path, struct engine_set *set, struct fm_error *err)
{
	char real[PATH_MAX], copy[PATH_MAX];
	const char *dirs[] = { copy, NULL };

	if (realpath(path, real) == NULL) {
		snprintf(err->msg, sizeof(err->msg), "%s: no such file", path);
		return NULL;
	}
	snprintf(copy, sizeof(copy), "%s", real);
	dirs[0] = dirname(copy);
	if (engine_set_load(set, dirs, err) != 0)
		return NULL;
	for (uint32_t i = 0; i < set->n_engines; i++)
		if (strcmp(set->engines[i].path, real) == 0)
			return set->engines[i].engine;
	snprintf(
	    err->msg, sizeof(err->msg), "%s: no engine: the file must be called NAME.so", path);
	for (uint32_t i = 0; i < set->n_refused; i++)
		if (strcmp(set->refused[i].path, real) == 0)
			snprintf(err->msg, sizeof(err->msg), "%.250s", set->refused[i].reason);
	engine_set_fini(set);
	return NULL;
}

/* The options of a configuration; NULL: all defaults. */
static const struct option_values *
values_of(const struct task *t)
{
	return t->conf != NULL ? t->conf->routing.chain.entries[0].values : NULL;
}

static int
load_conf(struct task *t, struct fm_error *err)
{
	struct conf_override chain = { "chain", &t->engine->name, 1 };
	struct conf_source source = { .path = t->config, .overrides = &chain, .n_overrides = 1 };

	return t->config == NULL ? 0 : conf_load(&source, &t->set, &t->conf, err);
}

/* -------------------------------------------------------------- the fabrics */

/* One fabric three times: as it is, under other names, and with two LIDs a host. */
struct views {
	struct snapshot *plain, *renamed, *with_lmc;
};

static void
print_good(const char *fabric, uint64_t n_allocs, const struct verdict *v)
{
	if (v->credit_loops > 0)
		printf("ok       %s: pure, %" PRIu64
		       " failing allocations survived, has credit loops (not promised): %s\n",
		    fabric, n_allocs, v->witness);
	else
		printf("ok       %s: pure, %" PRIu64
		       " failing allocations survived, verdict good\n",
		    fabric, n_allocs);
}

static enum fmd_exit
check_views(struct task *t, const struct views *v)
{
	struct props_found found = { 0 };
	struct props props = { .engine = t->engine,
		.values = values_of(t),
		.snap = v->plain,
		.renamed = t->conf == NULL ? v->renamed : NULL, /* options may name nodes */
		.with_lmc = v->with_lmc,
		.names = PROPS_NAMES_MATTER, /* only its author knows how much */
		.n_vls = 8,
		.found = &found,
		.trying = on_trying,
		.arg = t };
	enum props_outcome outcome;
	uint64_t n_allocs;
	char report[1024];

	t->said = time(NULL);
	outcome = props_check(&props, &n_allocs, report, sizeof(report));
	alarm(0);
	t->routed |= outcome == PROPS_HOLD;
	t->asks |= found.asks;
	switch (outcome) {
	case PROPS_HOLD:
		print_good(t->fabric, n_allocs, &found.verdict);
		return FMD_EXIT_OK;
	case PROPS_REFUSED:
		printf("refused  %s: %s\n", t->fabric, report);
		return FMD_EXIT_OK;
	case PROPS_BROKEN:
		printf("BROKEN   %s: %s\n", t->fabric, report);
		return FMD_EXIT_NOT_ROUTED;
	}
	return FMD_EXIT_SYSTEM;
}

static int
make_views(const char *fabric, struct views *v, struct fm_error *err)
{
	/* LIDs of the file do not outlive the shuffling, so none of them keeps them. */
	struct netlist_view view = { .n_vls = 8, .fresh_lids = true };
	struct netlist_view with_lmc = { .n_vls = 8, .fresh_lids = true, .ca_lmc = 1 };
	struct netlist nl = { 0 }, other = { 0 };
	int rc;

	fm_log_set_level(FM_LOG_WARN);
	if ((rc = netlist_read(fabric, &nl, err)) == 0)
		rc = netlist_snapshot(&nl, &view, &v->plain, err);
	/* What is odd about the fabric has been said; what the engine logs it would say in
	 * every one of a hundred runs. */
	fm_log_set_level(FM_LOG_ERR);
	if (rc == 0 && (rc = netlist_shuffle(&nl, 1, &other, err)) == 0 &&
	    (rc = netlist_snapshot(&nl, &with_lmc, &v->with_lmc, err)) == 0)
		rc = netlist_snapshot(&other, &view, &v->renamed, err);
	netlist_fini(&nl);
	netlist_fini(&other);
	return rc;
}

static enum fmd_exit
check_fabric(struct task *t, const char *fabric)
{
	struct views v = { 0 };
	struct fm_error err = { 0 };
	enum fmd_exit code;

	t->fabric = fabric;
	if (make_views(fabric, &v, &err) == 0) {
		code = check_views(t, &v);
	} else {
		fprintf(stderr, "fmd-engine-check: %s\n", err.msg);
		code = exit_code_of(&err);
	}
	snapshot_put(v.plain);
	snapshot_put(v.renamed);
	snapshot_put(v.with_lmc);
	return code;
}

/* The exit code, unless what was printed has not arrived. */
static enum fmd_exit
flushed(enum fmd_exit code)
{
	struct fm_error err;

	if (fm_standard_flush(&err) == 0)
		return code;
	fprintf(stderr, "fmd-engine-check: %s\n", err.msg);
	return code != FMD_EXIT_OK ? code : exit_code_of(&err);
}

static enum fmd_exit
check_all(struct task *t, char *const fabrics[])
{
	enum fmd_exit worst = FMD_EXIT_OK;

	for (; *fabrics != NULL; fabrics++) {
		enum fmd_exit code = check_fabric(t, *fabrics);

		worst = code > worst ? code : worst;
	}
	if (t->routed && !t->asks)
		printf("note     %s never asks should_stop(): no time limit ends it, fmd waits\n",
		    t->engine->name);
	return worst;
}

/* False: the command line is wrong, or all is done. */
static bool
parse(int argc, char *argv[], struct task *t, enum fmd_exit *code)
{
	static const struct option options[] = { { "config", required_argument, NULL, 'c' },
		{ "time-limit", required_argument, NULL, 't' }, { "help", no_argument, NULL, 'h' },
		{ 0 } };
	uint64_t seconds;
	int c;

	*code = FMD_EXIT_OK;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return false;
		}
		if (c == 'c') {
			t->config = optarg;
		} else if (c == 't' && number_parse(optarg, &seconds) && seconds <= 86400) {
			t->time_limit_s = (unsigned)seconds;
		} else {
			if (c == 't')
				fprintf(stderr,
				    "fmd-engine-check: --time-limit=%s: 0..86400 seconds\n",
				    optarg);
			*code = FMD_EXIT_USAGE;
			return false;
		}
	}
	if (argc - optind >= 2)
		return true;
	fputs(usage, stderr);
	*code = FMD_EXIT_USAGE;
	return false;
}

int
main(int argc, char *argv[])
{
	struct task t = { .time_limit_s = TIME_LIMIT_S };
	struct fm_error err = { 0 };
	enum fmd_exit code;

	fm_standard_claim();
	setvbuf(stdout, NULL, _IOLBF, 0); /* what was found stays, should the engine crash */
	if (!parse(argc, argv, &t, &code))
		return flushed(code);
	t.engine = load_engine(argv[optind], &t.set, &err);
	if (t.engine == NULL || load_conf(&t, &err) != 0) {
		fprintf(stderr, "fmd-engine-check: %s\n", err.msg);
		engine_set_fini(&t.set);
		return FMD_EXIT_USAGE;
	}
	watch_signals();
	code = check_all(&t, argv + optind + 1);
	if (t.conf != NULL)
		conf_put(t.conf);
	engine_set_fini(&t.set);
	return flushed(code);
}
