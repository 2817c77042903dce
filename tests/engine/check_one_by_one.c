/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verify takes LIDs together where that tells the same as following each: tables of engines,
 * whole, on damaged fabrics and with entries spoilt by seeds, are judged both ways, to the
 * same verdict, witness and switches on the credit loop.
 */
#include <check.h>

#include "lib/rng.h"
#include "tests/engine/routed.h"
#include "tests/run.h"
#include "tests/unit/brute.h"

#define GROUPS 64 /* of adaptive routing */

extern const struct fm_engine updn_LTX_fm_engine, minhop_LTX_fm_engine, dfsssp_LTX_fm_engine,
    lash_LTX_fm_engine, fattree_LTX_fm_engine, torus2qos_LTX_fm_engine, dragonfly_LTX_fm_engine;

static const struct fm_engine *const engines[] = { &updn_LTX_fm_engine, &minhop_LTX_fm_engine,
	&dfsssp_LTX_fm_engine, &lash_LTX_fm_engine, &fattree_LTX_fm_engine,
	&torus2qos_LTX_fm_engine, &dragonfly_LTX_fm_engine };
#define N_ENGINES ((int)(sizeof(engines) / sizeof(*engines)))

static const struct fabric fabrics[] = {
	{ "pgft 3 5,4,4 1,4,4 1,1,1", 0, 0, 0, 0 },
	{ "pgft 3 3,3,4 1,2,2 1,1,2", 6, 1, 0, 0 },
	{ "torus 4x4x3 1", 0, 0, 0, 0 },
	{ "torus 5x5 2", 5, 1, 1, 0 },
	{ "hypercube 5 1", 0, 0, 0, 0 },
	{ "dragonfly 4 2 2", 0, 0, 0, 0 },
	{ "random 40 3 1 9", 0, 0, 0, 0 },
	{ "random 30 6 2 3", 10, 0, 0, 0 },
};
#define N_FABRICS ((int)(sizeof(fabrics) / sizeof(*fabrics)))

static void
spoil(const struct fm_fabric *fab, const struct fm_tables *t, struct fm_rng *r)
{
	fm_sw sw = fm_rng_below(r, fab->n_switches);
	uint32_t lid = 1 + fm_rng_below(r, fab->max_lid), kind = fm_rng_below(r, 8);

	if (kind == 0)
		t->lft[sw][lid] = FM_PORT_NONE;
	else if (kind == 1 && t->ar_group != NULL)
		t->ar_group[sw][lid] = (uint16_t)fm_rng_below(r, t->ar_n_groups[sw] + 1u);
	else if (kind == 2 && t->sl_shape != FM_SL_ZERO)
		t->sl[t->sl_shape == FM_SL_BY_DLID ? 0 : sw][lid] = (uint8_t)fm_rng_below(r, 18);
	else
		t->lft[sw][lid] = (uint8_t)fm_rng_below(r, fab->sw_n_ports[sw] + 2u);
}

static void
compare(
    const struct snapshot *snap, const struct fm_tables *t, struct fm_pool *workers, uint64_t seed)
{
	uint8_t *on_cycle = calloc(2, snap->fab.n_switches + 1u);
	struct verify_request req = { .n_vls = seed % 3 == 0 ? 2 : 8,
		.sl_model = seed % 2 == 0 ? VERIFY_BOTH : VERIFY_FORWARD,
		.on_cycle = on_cycle };
	struct verdict together, alone;
	struct fm_error err;

	ck_assert_ptr_nonnull(on_cycle);
	ck_assert_int_eq(verify_tables(snap, t, &req, workers, &together, &err), 0);
	req.one_by_one = true;
	req.on_cycle += snap->fab.n_switches;
	ck_assert_int_eq(verify_tables(snap, t, &req, NULL, &alone, &err), 0);
	same_verdict(&together, &alone, seed, true);
	ck_assert_mem_eq(on_cycle, req.on_cycle, snap->fab.n_switches);
	free(on_cycle);
}

static void
judge_engine(const struct fm_engine *engine, const struct fabric *f, uint16_t groups)
{
	struct snapshot *snap = make(f, false);
	struct tables *tables = NULL;
	struct router router;
	struct fm_arena mem;
	struct fm_error err;
	struct fm_rng r;
	void *opts;

	fm_arena_init(&mem, SIZE_MAX);
	ck_assert_int_eq(router_init(&router, 2, &err), 0);
	router.set.ar_max_groups = groups;
	ck_assert_int_eq(options_bind(engine, NULL, snap, &mem, &opts, &err), 0);
	fm_rng_seed(&r, 7);
	if (route_once(&router, engine, opts, &snap->fab, NULL, 0, &tables, &err) == 0)
		for (uint64_t seed = 0; seed < n_cases(24); seed++) {
			compare(snap, &tables->t, router.workers, seed);
			for (uint64_t i = 0; i < seed / 4; i++)
				spoil(&snap->fab, &tables->t, &r);
		}
	tables_put(tables);
	router_fini(&router);
	snapshot_put(snap);
	fm_arena_fini(&mem);
}

START_TEST(lids_together_are_judged_as_one_by_one)
{
	for (int i = 0; i < N_ENGINES; i++) {
		judge_engine(engines[i], &fabrics[_i], 0);
		judge_engine(engines[i], &fabrics[_i], GROUPS);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("one by one");
	TCase *tc = tcase_create("one by one");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, lids_together_are_judged_as_one_by_one, 0, N_FABRICS);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
