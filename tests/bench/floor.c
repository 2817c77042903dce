/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The floor under any routing: the median time, in ms, of a memset and a
 * memcpy of N bytes of warm tables on two threads, as routing has them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/algo/median.h"
#include "lib/pool.h"

#define N_RUNS 15
#define SLICE_BYTES ((size_t)1 << 20)

struct tables {
	unsigned char *from, *to;
	size_t n_bytes;
};

static void
touch_slice(void *arg, uint32_t i, unsigned worker)
{
	const struct tables *t = arg;
	size_t at = i * SLICE_BYTES;
	size_t n = t->n_bytes - at < SLICE_BYTES ? t->n_bytes - at : SLICE_BYTES;

	memset(t->to + at, 0xff, n);
	memcpy(t->to + at, t->from + at, n);
}

static unsigned char *
map_bytes(size_t n_bytes)
{
	unsigned char *p =
	    mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, n_bytes, MADV_HUGEPAGE);
	memset(p, 1, n_bytes);
	return p;
}

int
main(int argc, char **argv)
{
	struct tables t = { .n_bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 0 };
	struct fm_pool *pool = fm_pool_new(0);
	struct timespec a, b;
	double ms[N_RUNS];

	if (t.n_bytes == 0 || pool == NULL || !(t.from = map_bytes(t.n_bytes)) ||
	    !(t.to = map_bytes(t.n_bytes))) {
		fprintf(stderr, "usage: floor BYTES\n");
		return 2;
	}
	for (int i = 0; i < N_RUNS; i++) {
		clock_gettime(CLOCK_MONOTONIC, &a);
		fm_pool_for(
		    pool, (uint32_t)((t.n_bytes + SLICE_BYTES - 1) / SLICE_BYTES), touch_slice, &t);
		clock_gettime(CLOCK_MONOTONIC, &b);
		ms[i] = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	}
	printf("%.3f\n", fm_median(ms, N_RUNS));
	fm_pool_free(pool);
	return 0;
}
