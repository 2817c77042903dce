/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever happens and whenever: once the fabric is quiet, fmd's view, its tables and every port
 * state are the truth within two light sweeps (storm.h).  No trap is needed for it, no heavy
 * sweep and no person.
 *
 * STORM_SEEDS=FIRST-LAST plays these seeds on every place and prints those that end wrong,
 * shrunk to the events that matter.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/run.h"
#include "tests/sweep/rig.h"
#include "tests/sweep/storm.h"

extern const struct fm_engine fattree_LTX_fm_engine, updn_LTX_fm_engine, dfsssp_LTX_fm_engine,
    minhop_LTX_fm_engine, nue_LTX_fm_engine;

static const struct storm_place places[] = {
	{ "pgft 2 4,4 1,2 1,1", &fattree_LTX_fm_engine },
	{ "torus 3x3 1", &updn_LTX_fm_engine },
	{ "random 8 3 12 1", &dfsssp_LTX_fm_engine },
	{ "pgft 3 2,2,2 1,2,2 1,1,2", &minhop_LTX_fm_engine },
	{ "random 10 3 14 2", &nue_LTX_fm_engine },
};
#define N_PLACES (sizeof(places) / sizeof(*places))
#define N_SEEDS 60 /* on each place */
/* Not all is held yet (doc/design.md): of 300 storms so many may end wrong.  Each fix lowers it. */
#define N_WRONG_MAX 6

static char text[STORM_TEXT_BYTES];

START_TEST(storms_end_in_the_truth)
{
	unsigned n_wrong = 0;

	for (unsigned i = 0; i < n_cases(N_SEEDS) * N_PLACES; i++) {
		const struct storm_place *p = &places[i % N_PLACES];

		if (storm_passes(p, i / N_PLACES + 1, text))
			continue;
		n_wrong++;
		printf("%s by %s, seed %u: %s\n", p->words, p->engine->name,
		    i / (unsigned)N_PLACES + 1, text);
	}
	ck_assert_msg(n_wrong <= N_WRONG_MAX, "%u storms end wrong", n_wrong);
}
END_TEST

/* A search by hand: all seeds of a range, whatever fails. */
START_TEST(test_range)
{
	unsigned long first = 0, last = 0, n_wrong = 0;

	ck_assert_int_eq(sscanf(getenv("STORM_SEEDS"), "%lu-%lu", &first, &last), 2);
	for (unsigned long seed = first; seed <= last; seed++)
		for (unsigned i = 0; i < N_PLACES; i++)
			if (!storm_passes(&places[i], seed, text)) {
				n_wrong++;
				printf("%s by %s, seed %lu: %s\n", places[i].words,
				    places[i].engine->name, seed, text);
				fflush(stdout);
			}
	ck_assert_msg(
	    n_wrong == 0, "%lu of %lu storms end wrong", n_wrong, (last - first + 1) * N_PLACES);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("converge");
	TCase *t = tcase_create("storms");

	if (getenv("STORM_SEEDS") != NULL) {
		tcase_set_timeout(t, 0);
		tcase_add_test(t, test_range);
	} else {
		tcase_add_test(t, storms_end_in_the_truth);
	}
	suite_add_tcase(s, t);
	return run_suite(s);
}
