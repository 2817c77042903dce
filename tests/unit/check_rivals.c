/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_rivals - which of several tables auto takes: the first that is as good as the best by both
 * figures and needs at most one VL more than the fewest of such, else the nearest.
 */
#include <check.h>

#include "core/route/rivals.h"
#include "lib/rng.h"
#include "tests/run.h"

#define SEEDS 2000

static const struct {
	const char *what;
	struct measured m[3];
	size_t n, chosen;
} cases[] = {
	{ "alone", { { 10, 5, .5, 8 } }, 1, 0 },
	{ "as good: the first", { { 104, 0, .5, 1 }, { 100, 0, .504, 1 } }, 2, 0 },
	{ "fuller", { { 106, 0, .5, 1 }, { 100, 0, .5, 1 } }, 2, 1 },
	{ "slower", { { 100, 0, .49, 1 }, { 104, 0, .5, 1 } }, 2, 1 },
	{ "two VLs more", { { 100, 0, .5, 4 }, { 103, 0, .5, 2 } }, 2, 1 },
	{ "one VL more", { { 100, 0, .5, 3 }, { 103, 0, .5, 2 } }, 2, 0 },
	{ "fewer VLs are no reason to be worse", { { 100, 0, .5, 6 }, { 150, 0, .5, 1 } }, 2, 0 },
	{ "none is both: the nearest", { { 200, 0, .51, 1 }, { 100, 0, .504, 3 } }, 2, 1 },
	{ "the nearest of three",
	    { { 1440, 0, .567, 1 }, { 1136, 0, .579, 4 }, { 708, 0, .566, 3 } }, 3, 2 },
	{ "more over all LIDs", { { 100, 0, .5, 1, .5 }, { 103, 0, .5, 3, .6 } }, 2, 1 },
	{ "hardly more over all LIDs", { { 100, 0, .5, 1, .5 }, { 100, 0, .5, 1, .504 } }, 2, 0 },
	{ "more over all LIDs, by five VLs", { { 100, 0, .5, 1, .5 }, { 100, 0, .5, 5, .6 } }, 2,
	    0 },
	{ "more over all LIDs, and worse", { { 100, 0, .5, 1, .5 }, { 110, 0, .5, 2, .9 } }, 2, 0 },
	{ "several paths, and less over all LIDs",
	    { { 100, 0, .5, 1, .5, .74 }, { 103, 0, .5, 4, .48, .75 } }, 2, 1 },
	{ "both have several paths", { { 100, 0, .5, 1, .5, .8 }, { 103, 0, .5, 4, .48, .9 } }, 2,
	    0 },
	{ "several paths that come first, by two VLs more",
	    { { 100, 0, .5, 4, .48, .8 }, { 103, 0, .5, 2, .5, .1 } }, 2, 0 },
	{ "several paths, by five VLs", { { 100, 0, .5, 5, .5, .8 }, { 103, 0, .5, 2, .5, .1 } }, 2,
	    1 },
	{ "several paths, and worse", { { 100, 0, .5, 1, .5, 0 }, { 110, 0, .5, 1, .5, 1 } }, 2,
	    0 },
	{ "no links bear anything", { { 0, 0, 1, 1 }, { 0, 0, 1, 1 } }, 2, 0 },
};

START_TEST(chooses)
{
	ck_assert_msg(rivals_choose(cases[_i].m, cases[_i].n) == cases[_i].chosen, "%s: %zu",
	    cases[_i].what, rivals_choose(cases[_i].m, cases[_i].n));
}
END_TEST

/* Whatever the figures: nothing that was left is better by both, and as good with fewer VLs. */
START_TEST(nothing_better_is_left)
{
	struct measured m[RIVALS_MOST];
	struct fm_rng rng;
	size_t n, chosen;

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	n = 1 + fm_rng_below(&rng, RIVALS_MOST);
	for (size_t i = 0; i < n; i++)
		m[i] = (struct measured){ .most = 100 + fm_rng_below(&rng, 20),
			.ebb = .5 + .001 * fm_rng_below(&rng, 20),
			.n_vls = 1 + fm_rng_below(&rng, 8) };
	chosen = rivals_choose(m, n);
	ck_assert_uint_lt(chosen, n);
	for (size_t i = 0; i < n; i++) {
		bool fuller = (double)m[chosen].most > RIVALS_FULLER * (double)m[i].most + 1e-9;
		bool slower = m[chosen].ebb < m[i].ebb - RIVALS_EBB - 1e-9;

		ck_assert(!(fuller && slower));
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("rivals");
	TCase *c = tcase_create("rivals");

	tcase_add_loop_test(c, chooses, 0, sizeof(cases) / sizeof(*cases));
	tcase_add_loop_test(c, nothing_better_is_left, 0, (int)n_cases(SEEDS));
	suite_add_tcase(s, c);
	return run_suite(s);
}
