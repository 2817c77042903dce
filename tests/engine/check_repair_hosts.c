/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repair: hosts that come and go while cables do.  Whoever comes is reached by ways that
 * are there, and when all is back the tables are the first ones.
 */
#include "config.h"

#include "tests/engine/breaking.h"
#include "tests/run.h"

/* A leaf goes, a cable goes, the leaf comes back, the cable comes back: hosts that
 * were away meanwhile are reached by ways that are there, and all is nominal at last. */
START_TEST(hosts_come_back_to_repaired_tables)
{
	struct breaking b;
	struct course c;
	fm_sw leaf;

	error_logged[0] = '\0';
	breaking_init(&b, "pgft 2 4,6 1,4 1,1", 5);
	course_init(&c, tree_engines[_i], 2);
	go_on(&c, plan_for(&c, b.whole, false));
	leaf = b.whole->fab.end_sw[0];
	fm_bit_set(b.switches, leaf);
	look(&b);
	go_on(&c, plan_for(&c, b.now, false));
	ck_assert_uint_gt(c.plan->absent.n, 0);
	fm_bit_set(b.links, b.whole->fab.sw_first_link[leaf]);
	fm_bit_set(b.links, b.whole->fab.sw_first_link[leaf + 1]);
	look(&b);
	go_on(&c, plan_for(&c, b.now, false));
	fm_bit_clear(b.switches, leaf);
	look(&b);
	go_on(&c, plan_for(&c, b.now, false));
	ck_assert(c.plan->made == PLAN_REPAIRED);
	ck_assert_uint_eq(c.plan->absent.n, 0);
	assert_well_connected(&c, c.plan, "a leaf is back");
	happen(&b, ALL_BACK);
	go_on(&c, plan_for(&c, b.now, false));
	assert_same_rows(c.plan, c.first, c.first->top_lid + 1u, "all is back");
	ck_assert_uint_eq(c.plan->deviations.n, 0);
	ck_assert_msg(error_logged[0] == '\0', "%s", error_logged);
	course_fini(&c);
	breaking_fini(&b);
}
END_TEST

/* A new host comes as a cable goes, and more cables go: what is prepared knows of it. */
START_TEST(new_hosts_come_to_prepared_tables)
{
	uint64_t *ends;
	struct snapshot_loss without = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *young;
	struct breaking b;
	struct course two, one;
	fm_end host = 0;

	error_logged[0] = '\0';
	breaking_init(&b, "pgft 2 4,6 1,4 1,1", 5);
	without.ends = ends = calloc(b.whole->fab.n_ends / 64 + 1, 8);
	while (!is_ca(&b.whole->fab, host))
		host++;
	fm_bit_set(ends, host);
	ck_assert_int_eq(snapshot_without(b.whole, &without, &young, &err), 0);
	free(ends);
	ck_assert_uint_lt(b.whole->fab.end_lid[host], young->fab.max_lid);
	course_init(&two, tree_engines[_i], 2);
	course_init(&one, tree_engines[_i], 1);
	go_on(&two, plan_for(&two, young, false));
	go_on(&one, plan_for(&one, young, false));
	for (unsigned i = 0; i < 10; i++) {
		struct plan *p, *q;

		prepare(&two);
		happen(&b, LINK);
		p = plan_for(&two, b.now, false);
		q = plan_for(&one, b.now, false);
		ck_assert(i > 0 || (p->made == PLAN_REPAIRED && p->n_joined == 1));
		assert_same_rows(p, q, p->top_lid + 1u, "a new host");
		go_on(&two, p);
		go_on(&one, q);
	}
	course_fini(&two);
	course_fini(&one);
	snapshot_put(young);
	breaking_fini(&b);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("repair_hosts");
	TCase *tc = tcase_create("repair_hosts");
	int failed;

	if (!breaking_begin())
		return 1;
	tcase_add_loop_test(tc, hosts_come_back_to_repaired_tables, 0, 3);
	tcase_add_loop_test(tc, new_hosts_come_to_prepared_tables, 0, 3);
	suite_add_tcase(suite, tc);
	failed = run_suite(suite);
	engine_set_fini(&set);
	return failed;
}
