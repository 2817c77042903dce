/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long fattree takes on one fabric, against a memset and memcpy of its
 * tables in the same run.
 *
 *	fattree [-r REPEAT] [-w WORKERS] [-f LINKS_PCT] [-s SHUFFLE_SEED] [-v] KIND ARGS...
 *
 * -v judges the tables.  Figures are in milliseconds, minimum and median.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/plan/plan.h"
#include "core/route/route.h"
#include "core/verify/verify.h"
#include "lab/topo/netlist.h"
#include "lib/algo/median.h"
#include "lib/error.h"

extern const struct fm_engine fattree_LTX_fm_engine;

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double
cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
die(const struct fm_error *err)
{
	fprintf(stderr, "fattree: %s\n", err->msg);
	exit(1);
}

/* One memset and one memcpy of n bytes, on the workers. */
struct copy {
	uint8_t *to, *from;
	size_t n;
};

static void
copy_part(void *arg, uint32_t i, unsigned worker)
{
	struct copy *c = arg;
	size_t at = c->n / 64 * i;

	memset(c->to + at, 255, c->n / 64);
	memcpy(c->to + at, c->from + at, c->n / 64);
}

static double
floor_ms(struct fm_pool *pool, size_t n)
{
	struct copy c = { malloc(n), malloc(n), n };
	double best = 1e9;

	memset(c.from, 1, n);
	memset(c.to, 1, n);
	for (int i = 0; i < 7; i++) {
		double from = now_ms();

		fm_pool_for(pool, 64, copy_part, &c);
		from = now_ms() - from;
		best = from < best ? from : best;
	}
	free(c.to);
	free(c.from);
	return best;
}

struct options {
	int repeat, workers;
	double links_pct;
	uint64_t shuffle;
	bool verify;
};

static struct snapshot *
build(const struct options *o, int argc, char **argv)
{
	struct netlist plain = { 0 }, shuffled = { 0 }, *nl = &plain;
	struct netlist_view view = { .n_vls = 8 };
	struct netlist_faults faults = { .links_pct = o->links_pct, .seed = 1 };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };
	uint32_t n_links = 0, n_switches = 0;

	if (netlist_generate(argc, argv, &plain, &err) < 0)
		die(&err);
	if (o->links_pct > 0 && netlist_fail(&plain, &faults, &n_links, &n_switches, &err) < 0)
		die(&err);
	if (o->shuffle != 0) {
		if (netlist_shuffle(&plain, o->shuffle, &shuffled, &err) < 0)
			die(&err);
		nl = &shuffled;
	}
	if (netlist_snapshot(nl, &view, &snap, &err) < 0)
		die(&err);
	netlist_fini(&plain);
	netlist_fini(&shuffled);
	return snap;
}

static void
judge(const struct snapshot *snap, const struct tables *t, struct fm_pool *pool)
{
	struct verify_request req = { .n_vls = 1 };
	struct verdict v;
	struct fm_error err = { 0 };

	if (verify_tables(snap, &t->t, &req, pool, &v, &err) < 0)
		die(&err);
	printf("unreachable=%" PRIu64 " switch_pairs_unrouted=%" PRIu64
	       " loops=%u credit_loops=%u max_hops=%u avg_hops=%.3f %s\n",
	    v.unreachable_pairs, v.switch_pairs_unrouted, v.loops, v.credit_loops, v.max_hops,
	    v.avg_hops, v.witness);
}

static void
measure(const struct options *o, const struct snapshot *snap)
{
	struct router router;
	const struct fm_engine *engine = &fattree_LTX_fm_engine;
	void *opts = NULL; /* the defaults */
	double *ms = calloc((size_t)o->repeat, sizeof(*ms)), floor, median, cpu = 1e9;
	struct tables *t = NULL;
	struct fm_error err = { 0 };

	if (router_init(&router, (unsigned)o->workers, &err) < 0)
		die(&err);
	for (int i = -1; i < o->repeat; i++) {
		double from = now_ms(), cpu_from = cpu_ms();

		tables_put(t);
		if (route_once(&router, engine, opts, &snap->fab, NULL, 0, &t, &err) < 0)
			die(&err);
		if (i >= 0) {
			ms[i] = now_ms() - from;
			cpu_from = cpu_ms() - cpu_from;
			cpu = cpu_from < cpu ? cpu_from : cpu;
		}
	}
	median = fm_median(ms, (size_t)o->repeat);
	floor = floor_ms(router.workers, snap->fab.n_switches * t->t.lft_stride);
	printf("switches=%u ends=%u lids=%u route_ms min=%.2f median=%.2f cpu_ms=%.2f "
	       "memset+memcpy_ms=%.2f "
	       "ratio=%.2f\n",
	    snap->fab.n_switches, snap->fab.n_ends, snap->fab.max_lid, ms[0], median, cpu, floor,
	    median / floor);
	if (o->verify)
		judge(snap, t, router.workers);
	tables_put(t);
	router_fini(&router);
	free(ms);
}

int
main(int argc, char **argv)
{
	struct options o = { .repeat = 15, .workers = 2 };
	struct snapshot *snap;
	int c;

	while ((c = getopt(argc, argv, "+r:w:f:s:v")) != -1)
		switch (c) {
		case 'r':
			o.repeat = (int)strtol(optarg, NULL, 10);
			break;
		case 'w':
			o.workers = (int)strtol(optarg, NULL, 10);
			break;
		case 'f':
			o.links_pct = strtod(optarg, NULL);
			break;
		case 's':
			o.shuffle = strtoull(optarg, NULL, 10);
			break;
		case 'v':
			o.verify = true;
			break;
		default:
			return 2;
		}
	if (optind == argc || o.repeat < 1) {
		fprintf(
		    stderr, "usage: fattree [-r N] [-w N] [-f PCT] [-s SEED] [-v] KIND ARGS...\n");
		return 2;
	}
	snap = build(&o, argc - optind, argv + optind);
	measure(&o, snap);
	snapshot_put(snap);
	return 0;
}
