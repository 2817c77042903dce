/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Base LIDs carry nearly all traffic: with alternates beside them (LMC 1 and 2) the fullest
 * link bears what it bears without, but for a twentieth.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>

#include "lab/judge/metrics.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

extern const struct fm_engine updn_LTX_fm_engine, minhop_LTX_fm_engine, fattree_LTX_fm_engine,
    sssp_LTX_fm_engine, dfsssp_LTX_fm_engine, lash_LTX_fm_engine, nue_LTX_fm_engine;

static const struct fm_engine *const engines[] = { &updn_LTX_fm_engine, &minhop_LTX_fm_engine,
	&sssp_LTX_fm_engine, &dfsssp_LTX_fm_engine, &lash_LTX_fm_engine, &nue_LTX_fm_engine,
	&fattree_LTX_fm_engine };
#define N_ENGINES (sizeof(engines) / sizeof(*engines))
#define FATTREE (N_ENGINES - 1)

static const struct {
	const char *words;
	double links_pct;
	bool is_tree;
} fabrics[] = {
	{ "tree3 4 4 4 2 4 6 storage=2 seed=1", 0, true },
	{ "tree3 4 7 10 5 14 20", 0, true },
	{ "pods 4 6 2 3 6 6", 0, true },
	{ "pods 3 8 8 0 8 6", 0, true },
	{ "director 24 8 20 8 4 8 seed=1", 0, true },
	{ "pgft 2 6,6 1,4 1,1", 0, true },
	{ "pgft 3 6,6,6 1,6,6 1,1,1", 5, true },
	{ "random 30 6 4 3", 0, false },
	{ "torus 4x4x4 2", 0, false },
	{ "torus 4x4x3 4 4", 0, false }, /* cables in parallel are dealt to LIDs */
	{ "pgft 2 8,4 1,2 1,4", 5, true },
};
#define N_FABRICS (sizeof(fabrics) / sizeof(*fabrics))

static uint64_t
fullest(const struct fm_engine *engine, size_t i, uint8_t lmc)
{
	const struct fabric f = {
		.words = fabrics[i].words, .links_pct = fabrics[i].links_pct, .lmc = lmc
	};
	struct metrics_request how = { .ebb_samples = 1 };
	struct fm_error err = { 0 };
	struct metrics m;
	struct routed r;

	route(&r, engine, make(&f, false));
	ck_assert_uint_eq(judge(&r, 8).unreachable_pairs, 0);
	ck_assert_int_eq(
	    metrics_compute(r.snap, &r.tables->t, &how, r.router.workers, &m, &err), 0);
	routed_fini(&r);
	return m.load_max;
}

START_TEST(alternates_leave_base_lids_alone)
{
	size_t e = (size_t)_i / N_FABRICS, i = (size_t)_i % N_FABRICS;
	uint64_t alone;

	if (e == FATTREE && !fabrics[i].is_tree)
		return;
	alone = fullest(engines[e], i, 0);
	for (uint8_t lmc = 1; lmc <= 2; lmc++) {
		uint64_t beside = fullest(engines[e], i, lmc);

		ck_assert_msg(100 * beside <= 105 * alone || beside <= alone + 1,
		    "%s on %s: %" PRIu64 " routes on the fullest link, with LMC %u %" PRIu64,
		    engines[e]->name, fabrics[i].words, alone, lmc, beside);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("base_lids");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, alternates_leave_base_lids_alone, 0, (int)(N_ENGINES * N_FABRICS));
	suite_add_tcase(s, t);
	return run_suite(s);
}
