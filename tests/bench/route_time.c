/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long engines take, against the memory bound of the same run:
 *
 *	route_time [-p PLUGIN_DIR] [-n RUNS] [-w WORKERS] [-l LMC] [-f LINKS_PCT] [-s SEED]
 *		ENGINE KIND ARGS...
 *
 * prints the medians in ms of probe + route (tables' initialisation
 * included, warm) and of a memset + memcpy of the same tables on the same
 * workers, the median of verify of these tables, its least CPU time, which a busy
 * machine disturbs less, and the loads: over all (host, host LID) routes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/options.h"
#include "core/engine/fallback.h"
#include "core/engine/plugin.h"
#include "core/plan/plan.h"
#include "core/route/route.h"
#include "core/verify/verify.h"
#include "lab/topo/netlist.h"
#include "lib/algo/median.h"
#include "lib/error.h"

#define MAX_RUNS 101

struct bench {
	int runs, lmc;
	unsigned workers;
	struct netlist_faults faults;
	const struct fm_engine *engine;
	struct router router;
	struct netlist nl;
	struct snapshot *snap;
	struct fm_arena mem;
	void *opts;
};

static double
clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static double
now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

/* ------------------------------------------------------------- the floor */

struct floor {
	const struct fm_tables *from, *to;
};

static void
floor_row(void *arg, uint32_t i, unsigned worker)
{
	const struct floor *f = arg;

	memset(f->to->lft[i], FM_PORT_NONE, f->to->lft_stride);
	memcpy(f->to->lft[i], f->from->lft[i], f->from->lft_stride);
}

static int
measure_floor(struct bench *b, const struct tables *t, double *ms, struct fm_error *err)
{
	double times[MAX_RUNS];
	struct tables *to;
	struct floor f;

	if (tables_new(b->router.tables, b->router.workers, &b->snap->fab, FM_PROVIDES_LFT, 0, &to,
		err) != 0)
		return err->kind;
	f = (struct floor){ &t->t, &to->t };
	for (int i = 0; i < b->runs; i++) {
		double start = now_ms();

		fm_pool_for(b->router.workers, b->snap->fab.n_switches, floor_row, &f);
		times[i] = now_ms() - start;
	}
	tables_put(to);
	*ms = fm_median(times, (size_t)b->runs);
	return 0;
}

/* ------------------------------------------------------------- verify */

static int
measure_verify(struct bench *b, const struct tables *t, struct verdict *v, struct fm_error *err)
{
	struct verify_request req = { .n_vls = 8 };
	double times[MAX_RUNS], least = 0;
	int rc = 0;

	for (int i = 0; i < b->runs && rc == 0; i++) {
		double start = now_ms(), cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID);

		rc = verify_tables(b->snap, &t->t, &req, b->router.workers, v, err);
		times[i] = now_ms() - start;
		cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		least = i == 0 || cpu < least ? cpu : least;
	}
	if (rc == 0)
		printf("verify %.2f ms, CPU %.2f ms\n", fm_median(times, (size_t)b->runs), least);
	return rc;
}

/* ------------------------------------------------------------- the loads */

/* Routes of all hosts to one LID, added to load[] link by link. */
static uint64_t
add_tree(const struct fm_fabric *fab, const struct fm_tables *t, const uint32_t *port_link,
    uint16_t lid, uint64_t *load)
{
	fm_end dest = fab->lid_end[lid];
	uint64_t lost = 0;

	for (fm_end e = 0; e < fab->n_ends; e++) {
		fm_sw sw = fab->end_sw[e];
		int hops = 0;

		if (fab->end_kind[e] != FM_END_CA || e == dest || sw == FM_NONE)
			continue;
		for (; sw != fab->end_sw[dest] && hops < 65; hops++) {
			uint32_t l = port_link[sw * 256 + t->lft[sw][lid]];

			if (l == FM_NONE)
				break;
			load[l]++;
			sw = fab->link_to[l];
		}
		lost += sw != fab->end_sw[dest];
	}
	return lost;
}

static void
print_loads(const struct bench *b, const struct tables *t)
{
	const struct fm_fabric *fab = &b->snap->fab;
	uint64_t *load = calloc(fab->n_links + 1, sizeof(*load)), sum = 0, lost = 0, max = 0;
	uint32_t *port_link = malloc(fab->n_switches * 256 * sizeof(*port_link));

	if (load == NULL || port_link == NULL)
		abort();
	memset(port_link, 0xff, fab->n_switches * 256 * sizeof(*port_link));
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			port_link[s * 256 + fab->link_port[l]] = l;
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		if (fab->lid_end[lid] != FM_NONE && fab->end_kind[fab->lid_end[lid]] == FM_END_CA)
			lost += add_tree(fab, &t->t, port_link, (uint16_t)lid, load);
	for (fm_link l = 0; l < fab->n_links; l++) {
		sum += load[l];
		max = load[l] > max ? load[l] : max;
	}
	printf("load max %llu avg %.1f max/avg %.3f lost %llu\n", (unsigned long long)max,
	    (double)sum / fab->n_links, (double)max * fab->n_links / (double)(sum ? sum : 1),
	    (unsigned long long)lost);
	free(port_link);
	free(load);
}

static int
measure(struct bench *b, struct fm_error *err)
{
	double times[MAX_RUNS], ms, floor_ms = 0;
	struct tables *t = NULL;
	struct verdict v;
	int rc;

	for (int i = 0; i < b->runs; i++) {
		double start;

		tables_put(t);
		start = now_ms();
		rc = route_once(&b->router, b->engine, b->opts, &b->snap->fab, NULL, 0, &t, err);
		times[i] = now_ms() - start;
		if (rc != 0)
			return rc;
	}
	ms = fm_median(times, (size_t)b->runs);
	if ((rc = measure_floor(b, t, &floor_ms, err)) == 0 &&
	    (rc = measure_verify(b, t, &v, err)) == 0) {
		printf("%s: %u switches, %u ends, %u LIDs: %.2f ms, floor %.2f ms, ratio %.1f\n",
		    b->engine->name, b->snap->fab.n_switches, b->snap->fab.n_ends,
		    b->snap->fab.max_lid, ms, floor_ms, ms / floor_ms);
		printf("reachable %llu unreachable %llu switch pairs unrouted %llu loops %u credit "
		       "loops %u hops %u %s\n",
		    (unsigned long long)v.reachable_pairs, (unsigned long long)v.unreachable_pairs,
		    (unsigned long long)v.switch_pairs_unrouted, v.loops, v.credit_loops,
		    v.max_hops, v.fault != VERIFY_OK ? v.witness : "");
		if (b->snap->fab.n_ends < 4000 || getenv("LOADS") != NULL)
			print_loads(b, t);
	}
	tables_put(t);
	return rc;
}

static int
run(struct bench *b, int argc, char **argv, struct fm_error *err)
{
	struct netlist_view view = { .ca_lmc = (uint8_t)b->lmc, .n_vls = 8, .fresh_lids = true };
	uint32_t n_links, n_switches;
	int rc;

	rc = strcmp(argv[0], "file") == 0 ? netlist_read(argv[1], &b->nl, err)
					  : netlist_generate(argc, argv, &b->nl, err);
	if (rc != 0 || (rc = netlist_fail(&b->nl, &b->faults, &n_links, &n_switches, err)) != 0 ||
	    (rc = netlist_snapshot(&b->nl, &view, &b->snap, err)) != 0 ||
	    (rc = router_init(&b->router, b->workers, err)) != 0)
		return rc;
	fm_arena_init(&b->mem, SIZE_MAX);
	rc = options_bind(b->engine, NULL, b->snap, &b->mem, &b->opts, err);
	if (rc == 0)
		rc = measure(b, err);
	fm_arena_fini(&b->mem);
	router_fini(&b->router);
	snapshot_put(b->snap);
	netlist_fini(&b->nl);
	return rc;
}

int
main(int argc, char **argv)
{
	const char *dirs[] = { NULL, NULL };
	struct engine_set set;
	struct bench b = { .runs = 11 };
	struct fm_error err;
	int c;

	while ((c = getopt(argc, argv, "+p:n:w:l:f:s:")) != -1) {
		double value = strtod(optarg != NULL ? optarg : "", NULL);

		switch (c) {
		case 'p':
			dirs[0] = optarg;
			break;
		case 'n':
			b.runs = value < 1 || value > MAX_RUNS ? MAX_RUNS : (int)value;
			break;
		case 'w':
			b.workers = (unsigned)value;
			break;
		case 'l':
			b.lmc = (int)value;
			break;
		case 'f':
			b.faults.links_pct = value;
			break;
		case 's':
			b.faults.seed = (uint64_t)value;
			break;
		default:
			return 2;
		}
	}
	if (engine_set_load(&set, dirs[0] != NULL ? dirs : NULL, &err) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	if (optind + 1 < argc)
		b.engine = strcmp(argv[optind], "fallback") == 0 ? &fallback_engine
								 : engine_find(&set, argv[optind]);
	if (b.engine == NULL) {
		fputs("usage: route_time [-p PLUGIN_DIR] [-n RUNS] [-w WORKERS] [-l LMC] [-f "
		      "LINKS_PCT] [-s SEED] "
		      "ENGINE KIND ARGS...\n",
		    stderr);
		return 2;
	}
	if (run(&b, argc - optind - 1, argv + optind + 1, &err) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 3;
	}
	return 0;
}
