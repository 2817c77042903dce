/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dependencies of a LID against each packet followed by itself, on random fabrics with random
 * SLs and maps: as many where requests are asked for; with replies none is missing, and there may
 * be more, as all ends of a switch are taken to reply by the same SLs.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/cdg/deps.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/brute.h"

static struct brute_deps by_hand, by_deps;

/* A packet from an end to the LID, link after link. */
static void
send(const struct box *x, fm_end from, uint32_t lid, uint32_t sl)
{
	const struct fm_fabric *fab = &x->snap->fab;
	const struct fm_tables *t = &x->tables->t;
	uint32_t in = fab->end_port[from], last = UINT32_MAX;
	fm_sw sw = fab->end_sw[from];

	for (fm_link l; (l = fm_link_at(fab, sw, t->lft[sw][lid])) != FM_NONE;) {
		uint32_t v = l * 16 + brute_vl(fab, t, sw, in, l, sl);

		brute_step(&by_hand, last, v);
		last = v;
		in = fab->link_port[fab->link_rev[l]];
		sw = fab->link_to[l];
	}
}

static void
send_all(const struct box *x, uint32_t lid, enum verify_sl_model model)
{
	const struct fm_fabric *fab = &x->snap->fab;
	fm_sw to = fab->end_sw[fab->lid_end[lid]];

	for (fm_end e = 0; e < fab->n_ends; e++) {
		if (fab->end_kind[e] == FM_END_SWITCH || fab->end_sw[e] == FM_NONE)
			continue;
		send(x, e, lid, brute_sl(&x->tables->t, fab->end_sw[e], lid) % 16);
		for (uint32_t i = 0;
		     model == VERIFY_BOTH && fab->end_lid[e] != 0 && i < 1u << fab->end_lmc[e]; i++)
			send(x, e, lid, brute_sl(&x->tables->t, to, fab->end_lid[e] + i) % 16);
	}
}

static void
list_all(const struct box *x, uint32_t lid, enum verify_sl_model model)
{
	struct deps_side side = { &x->snap->fab, &x->tables->t, x->snap->fab.max_lid };
	struct deps *d = deps_new(side, side, model);
	uint32_t n_vls = deps_n_vls(d);
	const struct dep *list;
	size_t n;

	ck_assert(deps_of(d, (uint16_t)lid, DEPS_NEW, &list, &n));
	for (size_t i = 0; i < n; i++)
		by_deps.dep[list[i].from / n_vls * 16 + list[i].from % n_vls]
			   [list[i].to / n_vls * 16 + list[i].to % n_vls] = true;
	deps_free(d);
}

/* How many dependencies there are. */
static uint32_t
compare(const struct box *x, uint32_t lid, enum verify_sl_model model, uint64_t seed)
{
	uint32_t n_vertices = x->snap->fab.n_links * 16, n = 0;

	memset(by_hand.dep, 0, n_vertices * sizeof(by_hand.dep[0]));
	memset(by_deps.dep, 0, n_vertices * sizeof(by_deps.dep[0]));
	send_all(x, lid, model);
	list_all(x, lid, model);
	for (uint32_t i = 0; i < n_vertices; i++)
		for (uint32_t j = 0; j < n_vertices; j++) {
			bool is = by_deps.dep[i][j], should = by_hand.dep[i][j];

			n += should;
			ck_assert_msg(is == should || (is && model == VERIFY_BOTH),
			    "seed %llu, LID %u: dependency of %u/%u on %u/%u: %d, should be %d",
			    (unsigned long long)seed, lid, j / 16, j % 16, i / 16, i % 16, is,
			    should);
		}
	return n;
}

START_TEST(test_random)
{
	uint32_t n = 0;

	for (uint64_t seed = 1; seed <= n_cases(200); seed++) {
		struct box x = { 0 };
		struct fm_rng r;
		uint32_t n_maps;

		fm_rng_seed(&r, seed);
		random_fabric(&x, &r);
		shortest_tables(&x, &r);
		random_sls(&x, &r);
		if (x.tables->t.sl2vl_shape != FM_SL2VL_MODULO)
			x.tables->t.n_vls_used = 15;
		n_maps = x.tables->t.sl2vl_first[x.snap->fab.n_switches];
		n_maps = n_maps > x.snap->fab.n_links ? n_maps : x.snap->fab.n_links;
		for (uint32_t i = 0; i < n_maps * 16; i++)
			x.tables->t.sl2vl[i] %= 15;
		for (uint32_t lid = 1; lid <= x.snap->fab.max_lid; lid++) {
			fm_end e = x.snap->fab.lid_end[lid];

			if (e == FM_NONE || x.snap->fab.end_sw[e] == FM_NONE)
				continue;
			n += compare(&x, lid, VERIFY_FORWARD, seed);
			n += compare(&x, lid, VERIFY_BOTH, seed);
		}
		drop(&x);
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

static void
setup(void)
{
	pool = table_pool_new();
	ck_assert_ptr_nonnull(pool);
}

static void
teardown(void)
{
	table_pool_free(pool);
}

int
main(void)
{
	Suite *s = suite_create("deps");
	TCase *c = tcase_create("deps");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, test_random);
	suite_add_tcase(s, c);
	return run_suite(s);
}
