/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process of its own costs an engine:
 *
 *	apart_time [-p PLUGIN_DIR] [-n RUNS] [-w WORKERS] ENGINE KIND ARGS...
 *
 * routes in this process and in one of its own by turns, and prints the medians in ms of
 * both and of their differences, pair by pair.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/options.h"
#include "core/engine/plugin.h"
#include "core/plan/plan.h"
#include "core/route/route.h"
#include "lab/topo/netlist.h"
#include "lib/algo/median.h"
#include "lib/error.h"

#define MAX_RUNS 1001

enum where { HERE, APART };

struct bench {
	int runs;
	unsigned workers;
	const char *name;
	struct engine_set set[2];
	struct router router;
	struct netlist nl;
	struct snapshot *snap;
	struct fm_arena mem;
};

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static int
route(struct bench *b, enum where where, double *ms, struct fm_error *err)
{
	const struct fm_engine *engine = engine_find(&b->set[where], b->name);
	struct tables *t = NULL;
	void *opts = NULL;
	double start;
	int rc =
	    engine != NULL ? options_bind(engine, NULL, b->snap, &b->mem, &opts, err) : FM_E_CONFIG;

	start = now_ms();
	if (rc == 0)
		rc = route_once(&b->router, engine, opts, &b->snap->fab, NULL, 600000, &t, err);
	*ms = now_ms() - start;
	tables_put(t);
	return rc;
}

static int
run(struct bench *b, struct fm_error *err)
{
	/* what lies between two plans at least: the next child loads */
	static const struct timespec pause = { .tv_nsec = 30000000 };
	static double ms[2][MAX_RUNS], more[MAX_RUNS];
	int rc = 0;

	for (int i = -3; rc == 0 && i < b->runs; i++)
		for (int k = 0; rc == 0 && k < 2; k++) {
			enum where where = (k + i) & 1 ? APART : HERE;
			int at = i < 0 ? 0 : i;

			nanosleep(&pause, NULL);
			rc = route(b, where, &ms[where][at], err);
			more[at] = ms[APART][at] - ms[HERE][at];
		}
	if (rc != 0)
		return rc;
	printf("%-14s %8.2f ms here %8.2f ms apart %8.2f ms more\n", b->name,
	    fm_median(ms[HERE], (size_t)b->runs), fm_median(ms[APART], (size_t)b->runs),
	    fm_median(more, (size_t)b->runs));
	return 0;
}

static int
prepare(struct bench *b, const char *dir, int argc, char *argv[], struct fm_error *err)
{
	const char *dirs[] = { dir, NULL };
	struct apart_settings apart = {
		.who = APART_ALL, .memory_bytes = (size_t)4 << 30, .load_ms = 60000
	};
	struct netlist_view view = { .n_vls = 8, .fresh_lids = true };
	int rc;

	if ((rc = engine_set_load(&b->set[HERE], dirs, err)) != 0 ||
	    (rc = engine_set_load_apart(&b->set[APART], dirs, &apart, err)) != 0 ||
	    (rc = netlist_generate(argc, argv, &b->nl, err)) != 0 ||
	    (rc = netlist_snapshot(&b->nl, &view, &b->snap, err)) != 0)
		return rc;
	return router_init(&b->router, b->workers, err);
}

int
main(int argc, char *argv[])
{
	struct bench b = { .runs = 21 };
	const char *dir = "plugins/engines/.libs";
	struct fm_error err = { 0 };
	int c, rc;

	while ((c = getopt(argc, argv, "+p:n:w:")) != -1) {
		long n = strtol(optarg != NULL ? optarg : "", NULL, 10);

		if (c == 'p')
			dir = optarg;
		else if (c == 'n' && n > 0 && n <= MAX_RUNS)
			b.runs = (int)n;
		else if (c == 'w')
			b.workers = (unsigned)n;
		else
			return 2;
	}
	if (argc - optind < 2)
		return 2;
	b.name = argv[optind];
	fm_arena_init(&b.mem, SIZE_MAX);
	rc = prepare(&b, dir, argc - optind - 1, argv + optind + 1, &err);
	if (rc == 0)
		rc = run(&b, &err);
	if (rc != 0)
		fprintf(stderr, "apart_time: %s\n", err.msg);
	router_fini(&b.router);
	snapshot_put(b.snap);
	netlist_fini(&b.nl);
	for (int i = 0; i < 2; i++)
		engine_set_fini(&b.set[i]);
	fm_arena_fini(&b.mem);
	return rc != 0;
}
