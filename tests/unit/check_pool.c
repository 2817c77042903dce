/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/pool: every item once, whatever the number of workers.  A program of its
 * own, so that ThreadSanitizer can watch it without the rest of lib.
 */
#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/pool.h"
#include "tests/run.h"

struct tally {
	atomic_uint calls[1000];
	atomic_bool bad_worker;
	unsigned n_workers;
};

static void
count_call(void *arg, uint32_t i, unsigned worker)
{
	struct tally *t = arg;

	atomic_fetch_add(&t->calls[i], 1);
	if (worker >= t->n_workers)
		atomic_store(&t->bad_worker, true);
}

START_TEST(pool_calls_each_item_once)
{
	unsigned n_workers = (unsigned)_i;
	struct fm_pool *p = fm_pool_new(n_workers);

	ck_assert_uint_eq(fm_pool_size(p), n_workers);
	for (uint32_t n = 0; n < 1000; n += 37) {
		struct tally t = { .n_workers = n_workers };

		fm_pool_for(p, n, count_call, &t);
		ck_assert(!t.bad_worker);
		for (uint32_t i = 0; i < 1000; i++)
			ck_assert_uint_eq(t.calls[i], i < n);
	}
	fm_pool_free(p);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("pool");
	TCase *t = tcase_create("pool");

	tcase_add_loop_test(t, pool_calls_each_item_once, 1, 9);
	suite_add_tcase(s, t);
	return run_suite(s);
}
