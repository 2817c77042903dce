/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows WORKERS KIND ARGS...: how long the path rows of a fabric routed by fattree
 * take, all and one block of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/plan/plan.h"
#include "core/route/route.h"
#include "core/view/rows.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"

extern const struct fm_engine fattree_LTX_fm_engine;

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* others may be at work, too */
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static double
best_of(const struct rows_request *q, struct fm_pool *workers, struct rows **rows)
{
	struct fm_error err;
	double best = 1e30;

	for (int i = 0; i < 9; i++) {
		double start = now_ms(), took;

		if (i > 0)
			rows_put(*rows);
		if (rows_build(q, workers, rows, &err) != 0)
			exit(1);
		took = now_ms() - start;
		best = took < best ? took : best;
	}
	return best;
}

static void
die(const struct fm_error *err)
{
	fprintf(stderr, "rows: %s\n", err->msg);
	exit(1);
}

static struct snapshot *
fabric(int argc, char **argv)
{
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };

	if (netlist_generate(argc, argv, &nl, &err) != 0 ||
	    netlist_snapshot(&nl, &view, &snap, &err) != 0)
		die(&err);
	netlist_fini(&nl);
	return snap;
}

static struct tables *
route(struct router *router, const struct snapshot *snap)
{
	struct tables *tables = NULL;
	struct fm_error err = { 0 };
	struct fm_arena mem;
	void *opts;

	fm_arena_init(&mem, SIZE_MAX);
	if (router_init(router, 0, &err) != 0 ||
	    options_bind(&fattree_LTX_fm_engine, NULL, snap, &mem, &opts, &err) != 0 ||
	    route_once(router, &fattree_LTX_fm_engine, opts, &snap->fab, NULL, 0, &tables, &err) !=
		0)
		die(&err);
	fm_arena_fini(&mem);
	return tables;
}

/* Two kinds of links, the second here and there. */
static void
measure(const struct rows_request *q, unsigned n_workers)
{
	struct fm_pool *workers = fm_pool_new(n_workers);
	struct rows_request update = *q;
	struct rows *rows, *again;
	uint64_t *dirty;

	printf("%u switches, %u LIDs, %u workers: all rows %.2f ms CPU", q->fab->n_switches,
	    q->fab->max_lid, n_workers, best_of(q, workers, &rows));
	dirty = calloc(rows->n_blocks / 64 + 1, sizeof(*dirty));
	dirty[0] = 2;
	update.prev = rows;
	update.dirty = dirty;
	printf(", one block %.3f ms, %.2f bytes per (switch, LID)\n",
	    best_of(&update, workers, &again), (double)rows->n_leaves / q->fab->n_switches);
	rows_put(again);
	rows_put(rows);
	free(dirty);
	fm_pool_free(workers);
}

int
main(int argc, char **argv)
{
	static const struct path_attr attrs[2] = { { 5, 100000 }, { 4, 40000 } };
	struct rows_request q = { .attrs = attrs, .n_attrs = 2 };
	struct snapshot *snap;
	struct tables *tables;
	struct router router;
	uint8_t *kinds;

	if (argc < 3) {
		fprintf(stderr, "usage: rows WORKERS KIND ARGS...\n");
		return 1;
	}
	snap = fabric(argc - 2, argv + 2);
	tables = route(&router, snap);
	q.fab = &snap->fab;
	q.tables = &tables->t;
	kinds = calloc(1, q.fab->n_links + q.fab->n_ends + 2u);
	for (uint32_t i = 0; i < q.fab->n_links + q.fab->n_ends; i += 1000)
		kinds[i] = 1;
	q.link_attr = kinds;
	q.end_attr = kinds + q.fab->n_links;
	measure(&q, (unsigned)strtoul(argv[1], NULL, 10));
	free(kinds);
	tables_put(tables);
	router_fini(&router);
	snapshot_put(snap);
	return 0;
}
