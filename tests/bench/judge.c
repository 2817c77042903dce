/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long verify and metrics take, beside a memset and memcpy of the same
 * tables in the same run: judge RUNS WORKERS pgft H M W P
 * prints ms: the least and the median of RUNS, and the least CPU time, which
 * a busy machine disturbs less.
 */
#include <time.h>

#include "core/graph/tables.h"
#include "core/verify/verify.h"
#include "lab/judge/metrics.h"
#include "tests/unit/pgft.h"

struct bench {
	struct pgft tree;
	struct tables *tables;
	struct fm_pool *workers;
	unsigned char *copy;
	size_t n_bytes;
	struct verdict verdict;
	struct metrics metrics;
};

static double
now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
copy_row(void *arg, uint32_t sw, unsigned worker)
{
	struct bench *b = arg;
	size_t stride = b->tables->t.lft_stride;

	memset(b->copy + sw * stride, FM_PORT_NONE, stride);
	memcpy(b->copy + sw * stride, b->tables->t.lft[sw], stride);
}

static void
run_copy(struct bench *b)
{
	fm_pool_for(b->workers, b->tree.snap->fab.n_switches, copy_row, b);
}

static void
run_verify(struct bench *b)
{
	struct verify_request req = { .n_vls = 8, .sl_model = VERIFY_BOTH };
	struct fm_error err;

	if (verify_tables(b->tree.snap, &b->tables->t, &req, b->workers, &b->verdict, &err) != 0)
		exit(1);
}

static void
run_metrics(struct bench *b)
{
	struct metrics_request req = { .seed = 1 };
	struct fm_error err;

	if (metrics_compute(b->tree.snap, &b->tables->t, &req, b->workers, &b->metrics, &err) != 0)
		exit(1);
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void
measure(struct bench *b, const char *what, unsigned n_runs, void (*run)(struct bench *))
{
	double ms[100], cpu_ms[100];

	run(b);
	for (unsigned i = 0; i < n_runs; i++) {
		double start = now_ms(CLOCK_MONOTONIC),
		       cpu_start = now_ms(CLOCK_PROCESS_CPUTIME_ID);

		run(b);
		ms[i] = now_ms(CLOCK_MONOTONIC) - start;
		cpu_ms[i] = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
	}
	qsort(ms, n_runs, sizeof(ms[0]), by_value);
	qsort(cpu_ms, n_runs, sizeof(cpu_ms[0]), by_value);
	printf("%-14s %9.2f %9.2f %9.2f\n", what, ms[0], ms[n_runs / 2], cpu_ms[0]);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct bench b = { 0 };
	struct table_pool *pool = table_pool_new();
	unsigned n_runs;
	struct fm_error err;

	if (argc != 8 || (n_runs = (unsigned)strtoul(argv[1], NULL, 10)) < 1 || n_runs > 100 ||
	    !pgft_make(&b.tree, argv + 3)) {
		fputs("usage: judge RUNS(1..100) WORKERS pgft H M W P\n", stderr);
		return 2;
	}
	b.workers = fm_pool_new((unsigned)strtoul(argv[2], NULL, 10));
	if (pool == NULL || b.workers == NULL ||
	    tables_new(pool, b.workers, &b.tree.snap->fab, 0, 0, &b.tables, &err) != 0)
		return 1;
	pgft_route(&b.tree, &b.tables->t);
	b.n_bytes = b.tree.snap->fab.n_switches * b.tables->t.lft_stride;
	b.copy = malloc(b.n_bytes);
	if (b.copy == NULL)
		return 1;
	printf("%zu bytes of tables, %u workers; ms: least, median, least CPU\n", b.n_bytes,
	    fm_pool_size(b.workers));
	measure(&b, "memset+memcpy", n_runs, run_copy);
	measure(&b, "verify", n_runs, run_verify);
	printf("  %s %llu pairs, %u credit loops, max %u avg %.3f hops\n", b.verdict.witness,
	    (unsigned long long)b.verdict.reachable_pairs, b.verdict.credit_loops,
	    b.verdict.max_hops, b.verdict.avg_hops);
	measure(&b, "metrics", n_runs > 3 ? 3 : n_runs, run_metrics);
	printf("  load %llu..%llu, max/avg %.3f, ebb %.3f, shift maximum %u\n",
	    (unsigned long long)b.metrics.load_min, (unsigned long long)b.metrics.load_max,
	    b.metrics.a2a_max_over_avg, b.metrics.ebb, b.metrics.sp_max);
	free(b.copy);
	tables_put(b.tables);
	snapshot_put(b.tree.snap);
	fm_pool_free(b.workers);
	table_pool_free(pool);
	return 0;
}
