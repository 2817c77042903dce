/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees that are not regular, as sites have them: what the fullest link bears and what many flows
 * at once get, and both under other names with other ports.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>

#include "lab/judge/metrics.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

extern const struct fm_engine updn_LTX_fm_engine, minhop_LTX_fm_engine, fattree_LTX_fm_engine;

static const struct fm_engine *const engines[] = { &updn_LTX_fm_engine, &minhop_LTX_fm_engine,
	&fattree_LTX_fm_engine };
#define N_ENGINES 3
#define FATTREE 2

/* Beside: OpenSM's best, or what digits alone give. */
static const struct {
	const char *words;
	uint64_t most;
	double ebb;
} fabrics[] = {
	{ "director 60 20 50 20 4 18 seed=1", 870, 0.61 }, /* digits 908, 0.576 */
	{ "director 24 9 22 9 3 8 seed=1", 170, 0.64 },	   /* with a leaf turned 234 */
	{ "pods 3 20 20 0 20 18", 600, 0.62 },		   /* digits 716, 0.603 */
	{ "pods 6 18 4 5 18 18", 3250, 0.33 },
	{ "tree3 8 7 10 5 14 20 storage=2", 1220, 0.52 }, /* trees 1220, 0.52 */
};
#define N_FABRICS 5

static struct metrics
measure(const struct fm_engine *engine, const char *words, bool shuffled)
{
	const struct fabric f = { .words = words };
	struct metrics_request how = { .ebb_samples = 200, .seed = 1 };
	struct fm_error err = { 0 };
	struct metrics m;
	struct routed r;

	route(&r, engine, make(&f, shuffled));
	ck_assert_uint_eq(judge(&r, 8).unreachable_pairs, 0);
	ck_assert_int_eq(
	    metrics_compute(r.snap, &r.tables->t, &how, r.router.workers, &m, &err), 0);
	routed_fini(&r);
	return m;
}

START_TEST(ragged_trees_are_balanced)
{
	int e = _i / N_FABRICS, i = _i % N_FABRICS;
	struct metrics m = measure(engines[e], fabrics[i].words, false),
		       other = measure(engines[e], fabrics[i].words, true);
	uint64_t more = m.load_max > other.load_max ? m.load_max : other.load_max,
		 less = m.load_max > other.load_max ? other.load_max : m.load_max;

	ck_assert_msg(e == FATTREE || (m.load_max <= fabrics[i].most && m.ebb >= fabrics[i].ebb),
	    "%s on %s: %" PRIu64 ", eBB %.3f", engines[e]->name, fabrics[i].words, m.load_max,
	    m.ebb);
	ck_assert_msg(10 * more <= 11 * less,
	    "%s on %s: %" PRIu64 ", eBB %.3f; under other names %" PRIu64 ", %.3f",
	    engines[e]->name, fabrics[i].words, m.load_max, m.ebb, other.load_max, other.ebb);
}
END_TEST

/* The fullest link of updn and of fattree by the names of a seed; 0: as made. */
static uint64_t
most_under(const struct fm_engine *engine, const char *words, uint64_t seed)
{
	const struct fabric f = { .words = words };
	struct metrics_request how = { .ebb_samples = 1, .seed = 1 };
	struct netlist plain = { 0 }, other = { 0 };
	struct fm_error err = { 0 };
	struct metrics m;
	struct routed r;

	make_netlist(&f, &plain);
	ck_assert_int_eq(netlist_shuffle(&plain, seed, &other, &err), 0);
	route(&r, engine, snapshot_of(seed != 0 ? &other : &plain, 0));
	ck_assert_int_eq(
	    metrics_compute(r.snap, &r.tables->t, &how, r.router.workers, &m, &err), 0);
	routed_fini(&r);
	netlist_fini(&plain);
	netlist_fini(&other);
	return m.load_max;
}

/* One switch turns upside down what is above it.  Which one is, must not hang on names: leaves
 * whose cables go to all boards cost half as much again, and any leaf of the third fabric does. */
START_TEST(names_choose_no_bad_switch_to_turn)
{
	static const struct {
		const char *words;
		uint64_t most;
	} trees[] = { { "director 8 4 6 3 2 3 seed=1", UINT64_MAX },
		{ "director 12 6 10 4 2 6 seed=1", UINT64_MAX },
		{ "director 24 9 22 9 3 8 seed=1", 180 } }; /* with a leaf turned 234 */
	const struct fm_engine *engine = engines[_i / 3 == 0 ? 0 : FATTREE];
	uint64_t less = UINT64_MAX, more = 0;

	for (uint64_t seed = 0; seed <= 12; seed++) {
		uint64_t most = most_under(engine, trees[_i % 3].words, seed);

		less = most < less ? most : less;
		more = most > more ? most : more;
	}
	ck_assert_msg(10 * more <= 11 * less && more <= trees[_i % 3].most,
	    "%s on %s: %" PRIu64 " to %" PRIu64 " by names", engine->name, trees[_i % 3].words,
	    less, more);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("ragged");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, ragged_trees_are_balanced, 0, N_ENGINES * N_FABRICS);
	tcase_add_loop_test(t, names_choose_no_bad_switch_to_turn, 0, 6);
	suite_add_tcase(s, t);
	return run_suite(s);
}
