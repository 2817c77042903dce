/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repair: hosts that come and go while cables do.  Whoever comes is reached by ways that
 * are there, and when all is back the tables are the first ones.  What is kept for the next
 * repair holds all that packets depend on.
 */
#include "config.h"

#include "core/repair/repair_state.h"
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

static const struct {
	const char *engine, *words;
} with_vls[] = { { "dfsssp", "torus 4x4 3" }, { "lash", "torus 4x4 3" }, { "nue", "torus 4x4 3" },
	{ "torus2qos", "torus 4x4 3" }, { "dragonfly", "dragonfly 4 2 2" } };

/* Does what is kept hold all that packets of the plan depend on?  How often nothing was kept is
 * counted. */
static void
look_at_held(const struct course *c, unsigned round, unsigned *n_looked)
{
	const struct repair_state *st = c->router.repair;
	struct depend *needed;

	if (st == NULL || st->tables != c->plan->tables || st->g->cyclic)
		return;
	needed = depend_build(&st->graph->fab, &c->plan->snap->fab, &c->plan->tables->t, st->lost,
	    plan_sl_model(&c->router, c->plan), c->router.workers);
	ck_assert_ptr_nonnull(needed);
	ck_assert_uint_eq(needed->n_vls, st->g->n_vls);
	for (size_t i = 0; i < (size_t)needed->n_channels * needed->n_vls * needed->words; i++)
		ck_assert_msg((needed->next[i] & ~st->g->next[i]) == 0,
		    "%s, round %u: a dependency is not held", c->entry.name, round);
	depend_free(needed);
	(*n_looked)++;
}

/* Some hosts go, and at times a cable; then the hosts are back. */
START_TEST(what_hosts_send_is_held)
{
	struct breaking b;
	struct course c;
	unsigned n_looked = 0;

	error_logged[0] = '\0';
	breaking_init(&b, with_vls[_i].words, 7);
	course_init(&c, with_vls[_i].engine, 1);
	go_on(&c, plan_for(&c, b.whole, false));
	for (unsigned round = 0; round < n_cases(24); round++) {
		uint64_t *ends = calloc(b.whole->fab.n_ends / 64 + 1, 8);
		struct snapshot_loss loss = { .links = b.links, .ends = ends };
		struct fm_error err = { 0 };
		struct snapshot *fewer;

		for (unsigned n = 1 + fm_rng_below(&b.rng, 4); n > 0; n--) {
			fm_end e = fm_rng_below(&b.rng, b.whole->fab.n_ends);

			if (is_ca(&b.whole->fab, e))
				fm_bit_set(ends, e);
		}
		if (round % 3 == 1)
			happen(&b, round % 2 ? LINK : ALL_BACK);
		ck_assert_int_eq(snapshot_without(b.whole, &loss, &fewer, &err), 0);
		go_on(&c, plan_for(&c, fewer, false));
		look_at_held(&c, round, &n_looked);
		repair_state_free(c.router.repair); /* what is made anew is without them */
		c.router.repair = NULL;
		go_on(&c, plan_for(&c, b.now, false));
		look_at_held(&c, round, &n_looked);
		snapshot_put(fewer);
		free(ends);
	}
	ck_assert_uint_gt(n_looked, 0);
	ck_assert_msg(error_logged[0] == '\0', "%s", error_logged);
	course_fini(&c);
	breaking_fini(&b);
}
END_TEST

/* A host has a VL of its own, for packets to it and its replies.  It goes, all that is kept is
 * made without it, and it is back.  Where replies are not proven nothing is collected again. */
START_TEST(a_host_in_another_vl_is_held)
{
	struct breaking b;
	struct course c;
	struct snapshot_loss loss = { 0 };
	struct snapshot *fewer;
	struct fm_error err = { 0 };
	struct fm_tables *t;
	unsigned n_looked = 0;
	fm_end host = 0;

	error_logged[0] = '\0';
	breaking_init(&b, "random 24 4 3 1", 7);
	course_init(&c, "dfsssp", 1);
	c.router.set.sl_model = _i == 0 ? VERIFY_BOTH : VERIFY_FORWARD;
	go_on(&c, plan_for(&c, b.whole, false));
	while (!is_ca(&b.whole->fab, host))
		host++;
	t = &c.plan->tables->t;
	ck_assert(t->sl_shape == FM_SL_BY_SW_DLID && t->sl2vl_shape == FM_SL2VL_MODULO);
	ck_assert_uint_lt(t->n_vls_used, 8);
	for (fm_sw sw = 0; sw < b.whole->fab.n_switches; sw++)
		t->sl[sw][b.whole->fab.end_lid[host]] = t->n_vls_used;
	t->n_vls_used++;
	loss.ends = calloc(b.whole->fab.n_ends / 64 + 1, 8);
	fm_bit_set((uint64_t *)loss.ends, host);
	ck_assert_int_eq(snapshot_without(b.whole, &loss, &fewer, &err), 0);
	go_on(&c, plan_for(&c, fewer, false));
	look_at_held(&c, 1, &n_looked);
	repair_state_free(c.router.repair);
	c.router.repair = NULL;
	go_on(&c, plan_for(&c, b.whole, false));
	look_at_held(&c, 2, &n_looked);
	ck_assert_uint_eq(n_looked, 2);
	ck_assert(c.plan->made == PLAN_KEPT && c.plan->verdict.credit_loops == 0);
	ck_assert_msg(error_logged[0] == '\0', "%s", error_logged);
	free((void *)loss.ends);
	snapshot_put(fewer);
	course_fini(&c);
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
	tcase_add_loop_test(tc, what_hosts_send_is_held, 0, 5);
	tcase_add_loop_test(tc, a_host_in_another_vl_is_held, 0, 2);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	failed = run_suite(suite);
	engine_set_fini(&set);
	return failed;
}
