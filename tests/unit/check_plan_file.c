/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables to a file and back: every shape of SL and SL2VL, byte for byte.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plan/plan_file.h"
#include "core/route/route.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

#define MARK 77

static struct router router;
static struct snapshot *snap;
static char path[64];

static void
setup(void)
{
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct fm_error err;

	ck_assert_int_eq(generate_words("torus 3x4 2", &nl, &err), 0);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &snap, &err), 0);
	netlist_fini(&nl);
	ck_assert_int_eq(router_init(&router, 1, &err), 0);
	snprintf(path, sizeof(path), "/tmp/fmd-check-plan-XXXXXX");
	ck_assert_int_ge(close(mkstemp(path)), 0);
}

static void
teardown(void)
{
	unlink(path);
	snapshot_put(snap);
	router_fini(&router);
}

#define GROUPS 5

static size_t
sl2vl_rows(const struct fm_tables *t)
{
	switch (t->sl2vl_shape) {
	case FM_SL2VL_MODULO:
		return 0;
	case FM_SL2VL_BY_OUT:
		return snap->fab.n_links;
	case FM_SL2VL_BY_IN_OUT:
		return t->sl2vl_first[snap->fab.n_switches];
	}
	return 0;
}

static uint32_t
sl_rows(const struct fm_tables *t)
{
	return t->sl_shape == FM_SL_ZERO   ? 0
	    : t->sl_shape == FM_SL_BY_DLID ? 1
					   : snap->fab.n_switches;
}

static void
fill(struct fm_rng *rng, uint8_t *row, size_t n, unsigned below)
{
	for (size_t i = 0; i < n; i++)
		row[i] = (uint8_t)fm_rng_below(rng, below);
}

/* Pairs of cabled ports as groups, and for each LID a group or none, with one of its ports. */
static void
fill_groups(struct fm_rng *rng, struct fm_tables *t, fm_sw sw, size_t n)
{
	fm_link first = snap->fab.sw_first_link[sw];
	uint32_t n_links = snap->fab.sw_first_link[sw + 1] - first;
	uint8_t ports[GROUPS + 1][2];

	for (unsigned g = 1; g <= GROUPS; g++) {
		uint32_t a = fm_rng_below(rng, n_links), b = fm_rng_below(rng, n_links - 1);

		ports[g][0] = snap->fab.link_port[first + a];
		ports[g][1] = snap->fab.link_port[first + b + (b >= a)];
		for (unsigned i = 0; i < 2; i++)
			t->ar_ports[sw][g][ports[g][i] / 64] |= UINT64_C(1) << (ports[g][i] % 64);
	}
	for (size_t lid = 0; lid < n; lid++) {
		uint16_t g = (uint16_t)fm_rng_below(rng, GROUPS + 1);

		t->ar_group[sw][lid] = g;
		if (g > 0)
			t->lft[sw][lid] = ports[g][fm_rng_below(rng, 2)];
	}
}

static struct plan *
random_plan(enum fm_sl_shape sl, enum fm_sl2vl_shape sl2vl)
{
	size_t n = (size_t)snap->fab.max_lid + 1;
	struct fm_error err;
	struct fm_tables *t;
	struct fm_rng rng;
	struct plan *p = plan_new(snap, &err);

	fm_rng_seed(&rng, 3);
	p->graph = snapshot_get(snap);
	p->top_lid = snap->fab.max_lid;
	p->n_joined = 2;
	p->verdict.unreachable_pairs = 5;
	snprintf(p->engine, sizeof(p->engine), "someone");
	ck_assert_int_eq(tables_new(router.tables, router.workers, &snap->fab,
			     FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROVIDES_AR,
			     router.set.ar_max_groups, &p->tables, &err),
	    0);
	t = &p->tables->t;
	t->sl_shape = sl;
	t->sl2vl_shape = sl2vl;
	t->n_vls_used = 6;
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
		fill(&rng, t->lft[sw], n, 256);
	for (fm_sw sw = 0; tables_are_adaptive(t) && sw < snap->fab.n_switches; sw++)
		fill_groups(&rng, t, sw, n);
	for (uint32_t i = 0; i < sl_rows(t); i++)
		fill(&rng, t->sl[i], n, 16);
	fill(&rng, t->sl2vl, sl2vl_rows(t) * 16, 15);
	return p;
}

static void
expect_equal(const struct plan *a, const struct plan *b)
{
	const struct fm_tables *x = &a->tables->t, *y = &b->tables->t;
	size_t n = (size_t)snap->fab.max_lid + 1;

	ck_assert_str_eq(a->engine, b->engine);
	ck_assert_uint_eq(a->n_joined, b->n_joined);
	ck_assert_uint_eq(a->verdict.unreachable_pairs, b->verdict.unreachable_pairs);
	ck_assert_uint_eq(x->n_vls_used, y->n_vls_used);
	ck_assert_int_eq(x->sl_shape, y->sl_shape);
	ck_assert_int_eq(x->sl2vl_shape, y->sl2vl_shape);
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
		ck_assert_mem_eq(x->lft[sw], y->lft[sw], n);
	for (uint32_t i = 0; i < sl_rows(x); i++)
		ck_assert_mem_eq(x->sl[i], y->sl[i], n);
	if (sl2vl_rows(x) > 0)
		ck_assert_mem_eq(x->sl2vl, y->sl2vl, sl2vl_rows(x) * 16);
	ck_assert_int_eq(tables_are_adaptive(x), tables_are_adaptive(y));
	for (fm_sw sw = 0; tables_are_adaptive(x) && sw < snap->fab.n_switches; sw++) {
		ck_assert_mem_eq(x->ar_group[sw], y->ar_group[sw], n * sizeof(uint16_t));
		ck_assert_mem_eq(
		    &x->ar_ports[sw][1], &y->ar_ports[sw][1], GROUPS * sizeof(*x->ar_ports[sw]));
	}
}

/* Groups of adaptive routing come back, too; what no cable leads to is not believed, nor are more
 * groups than a switch may have. */
START_TEST(groups_come_back)
{
	struct fm_error err;
	struct plan *p, *q = NULL;

	router.set.ar_max_groups = GROUPS;
	p = random_plan(FM_SL_BY_SW_DLID, FM_SL2VL_BY_OUT);
	snprintf(p->adaptive_given_up, sizeof(p->adaptive_given_up), "a reason");
	ck_assert_int_eq(plan_file_save(path, p, MARK, &err), 0);
	ck_assert_int_eq(plan_file_load(path, &router, snap, MARK, 9, &q, &err), 0);
	ck_assert_ptr_nonnull(q);
	expect_equal(p, q);
	ck_assert_uint_gt(q->tables->adaptive.n_adaptive, 0);
	ck_assert_str_eq(q->adaptive_given_up, "a reason");
	plan_put(q);
	router.set.ar_max_groups = GROUPS - 1;
	ck_assert_int_eq(plan_file_load(path, &router, snap, MARK, 9, &q, &err), 0);
	ck_assert_ptr_null(q);
	router.set.ar_max_groups = GROUPS;
	p->tables->t.ar_ports[1][1][3] = 1; /* port 192 */
	ck_assert_int_eq(plan_file_save(path, p, MARK, &err), 0);
	ck_assert_int_eq(plan_file_load(path, &router, snap, MARK, 9, &q, &err), 0);
	ck_assert_ptr_null(q);
	plan_put(p);
}
END_TEST

START_TEST(comes_back_as_it_was)
{
	struct plan *p = random_plan((enum fm_sl_shape)(_i % 3), (enum fm_sl2vl_shape)(_i / 3));
	struct plan *q = NULL;
	struct fm_error err;

	ck_assert_int_eq(plan_file_save(path, p, MARK, &err), 0);
	ck_assert_int_eq(plan_file_load(path, &router, snap, MARK, 9, &q, &err), 0);
	ck_assert_ptr_nonnull(q);
	expect_equal(p, q);
	plan_put(q);
	ck_assert_int_eq(plan_file_load(path, &router, snap, MARK + 1, 9, &q, &err), 0);
	ck_assert_ptr_null(q);
	plan_put(p);
}
END_TEST

START_TEST(no_file_is_no_plan)
{
	struct plan *q = NULL;
	struct fm_error err;

	unlink(path);
	ck_assert_int_eq(plan_file_load(path, &router, snap, MARK, 9, &q, &err), 0);
	ck_assert_ptr_null(q);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_named)
{
	struct plan *p = random_plan(FM_SL_ZERO, FM_SL2VL_MODULO);
	struct fm_error err;

	ck_assert_int_eq(plan_file_save("/nowhere/at/all", p, MARK, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nowhere/at/all"));
	plan_put(p);
}
END_TEST

/* A link that somebody has put where the new file is made: what it leads to stays. */
START_TEST(a_link_is_not_followed)
{
	struct plan *p = random_plan(FM_SL_ZERO, FM_SL2VL_MODULO);
	char fresh[80], target[80];
	struct fm_error err;
	struct stat st;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	snprintf(target, sizeof(target), "%s.target", path);
	ck_assert_int_eq(symlink(target, fresh), 0);
	ck_assert_int_eq(plan_file_save(path, p, MARK, &err), 0);
	ck_assert_int_ne(lstat(target, &st), 0);
	ck_assert_int_ne(lstat(fresh, &st), 0);
	ck_assert(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
	plan_put(p);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("plan_file");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, comes_back_as_it_was, 0, 9);
	tcase_add_test(t, groups_come_back);
	tcase_add_test(t, no_file_is_no_plan);
	tcase_add_test(t, a_link_is_not_followed);
	tcase_add_test(t, a_file_that_cannot_be_written_is_named);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
