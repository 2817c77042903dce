/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever happens and whenever: once the fabric is quiet, fmd's view, its tables and every port
 * state are the truth within two light sweeps (storm.h).  No trap is needed for it, no heavy
 * sweep and no person.
 *
 * 2,800 storms on five places, half of them of all kinds; FMD_LONG=1: 120,000.  A process that
 * ends before its time is said to, with the storm it was at.
 *
 *	STORM_SEEDS=FIRST-LAST	these seeds on every place; those that end wrong are printed,
 *				shrunk to the events that matter
 *	STORM_PLACE=N		... on the N-th place only, from 0
 *	STORM_LOG=1		what fmd logs meanwhile, by the simulator's clock
 *	STORM_AUDIT_MS=MS	fmd looks at its own port each second, and reads back all
 *				that nodes hold in so long; in production 3600000.  Without it
 *				it does neither: seeds stay the storms that they were
 *	STORM_JOBS=N		so many processes play side by side (1; FMD_LONG=1: one a CPU)
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/run.h"
#include "tests/sweep/rig.h"
#include "tests/sweep/storm.h"

extern const struct fm_engine fattree_LTX_fm_engine, updn_LTX_fm_engine, dfsssp_LTX_fm_engine,
    minhop_LTX_fm_engine, nue_LTX_fm_engine;

enum place_name { TREE, TORUS, RANDOM, DEEP_TREE, RANDOM_NUE, N_PLACES };
static const struct storm_place places[N_PLACES] = {
	[TREE] = { "pgft 2 4,4 1,2 1,1", &fattree_LTX_fm_engine },
	[TORUS] = { "torus 3x3 1", &updn_LTX_fm_engine },
	[RANDOM] = { "random 8 3 12 1", &dfsssp_LTX_fm_engine },
	[DEEP_TREE] = { "pgft 3 2,2,2 1,2,2 1,1,2", &minhop_LTX_fm_engine },
	[RANDOM_NUE] = { "random 10 3 14 2", &nue_LTX_fm_engine },
};

/* Storms that have ended wrong.  One that is MENDED ends right for ever; one that is WRONG is not
 * held yet (doc/design.md), and when it is, this list is to say so. */
enum how { MENDED, WRONG };
#define KNOWN_MAX 64
static const struct known {
	enum place_name place;
	enum how how;
	unsigned seeds[KNOWN_MAX]; /* 0: there are no more */
} known[] = {
	{ TREE, MENDED,
	    { 64, 72, 151, 191, 288, 396, 1006, 1027, 1043, 1064, 1068, 1072, 1163, 1164, 1166,
		1187, 1194, 1019, 1065, 1410, 1545, 1701, 1862, 3699, 3926 } },
	{ TREE, WRONG, { 801397, 801639 } },
	{ TORUS, MENDED,
	    { 80, 81, 460, 1004, 1019, 1020, 1027, 1047, 1065, 1069, 1120, 1129, 1158, 1167, 1198,
		1011, 1093, 1156, 1173, 1215, 1256, 1339, 1412, 1463, 1557, 1821, 1835, 1887, 1965,
		1970, 3282, 1000022, 1000111, 800857, 801294, 801669, 802732, 803458, 1305 } },
	{ TORUS, WRONG, { 803892, 801732, 802014, 802255, 803791 } },
	{ RANDOM, MENDED,
	    { 29, 99, 170, 202, 253, 271, 272, 335, 868, 1038, 1059, 1063, 1072, 1085, 1086, 1097,
		1107, 1115, 1148, 1165, 1182, 1187, 1200, 1523, 1676, 1759, 1762, 1859, 1000001,
		1000008, 1000022, 1000027, 1000042, 1000047, 800658, 800805, 803491, 803756 } },
	{ RANDOM, WRONG, { 803296 } },
	{ DEEP_TREE, MENDED,
	    { 520, 1008, 1113, 1126, 1145, 1158, 1164, 1189, 1197, 1544, 1570, 1603, 1708, 1750,
		1867, 1931, 1999, 1221, 1000055 } },
	{ DEEP_TREE, WRONG, { 1052, 1663, 3001052 } },
	{ RANDOM_NUE, MENDED,
	    { 74, 99, 131, 170, 248, 253, 307, 1016, 1030, 1062, 1068, 1109, 1112, 1122, 1131, 1135,
		1163, 1166, 1179, 1187, 1189, 1372, 1412, 1522, 1649, 1651, 1800, 1862, 1991,
		1000027, 1000043, 1000045, 1000058, 1000167, 800033 } },
	{ RANDOM_NUE, WRONG, { 1929, 803961 } },
};
#define N_KNOWN (sizeof(known) / sizeof(*known))

/* On each place; of a long run the numbers behind them. */
#define N_PLAIN 200
#define N_MORE 200    /* from STORM_PLAIN_MAX on */
#define N_ISOLATED 40 /* from STORM_MORE_MAX on */
#define N_FLAPS 40    /* from STORM_ISOLATED_MAX on */
#define N_STATES 40   /* from STORM_FLAPS_MAX on, plain ones and as many of all kinds */
#define N_PLAIN_LONG STORM_PLAIN_MAX
#define N_MORE_LONG 19000
#define N_ISOLATED_LONG 1000
#define N_FLAPS_LONG 1000
#define N_STATES_LONG 1000
#define JOBS_MAX 64

struct range {
	unsigned long first, last;
	unsigned place, n_places; /* from the first on */
	unsigned n_jobs;
	bool all; /* those known to end wrong, too */
};

/* What a process that plays tells the row: at which storm it is. */
struct job {
	unsigned long seed;
	unsigned place;
	unsigned long n_wrong;
};

static bool
is_known_wrong(unsigned place, unsigned long seed)
{
	for (size_t i = 0; i < N_KNOWN; i++)
		for (unsigned k = 0; k < KNOWN_MAX && known[i].seeds[k] != 0; k++)
			if (known[i].how == WRONG && known[i].place == place &&
			    known[i].seeds[k] == seed)
				return true;
	return false;
}

static void
tell(unsigned place, unsigned long seed, const char *what)
{
	printf("%s by %s, seed %lu: %s\n", places[place].words, places[place].engine->name, seed,
	    what);
	fflush(stdout); /* who fails ends at once */
}

/* Every n_jobs-th storm of the range, from the i-th on. */
static void
play_share(const struct range *r, unsigned i, struct job *j)
{
	static char text[STORM_TEXT_BYTES];
	unsigned long n = (r->last - r->first + 1) * r->n_places;

	for (unsigned long at = i; at < n; at += r->n_jobs) {
		j->seed = r->first + at / r->n_places;
		j->place = r->place + (unsigned)(at % r->n_places);
		if (!r->all && is_known_wrong(j->place, j->seed))
			continue;
		if (storm_passes(&places[j->place], j->seed, text))
			continue;
		j->n_wrong++;
		tell(j->place, j->seed, text);
	}
}

static bool
may_fork(void)
{
	const char *fork = getenv("CK_FORK");

	return fork == NULL || fork[0] != 'n';
}

/* How many storms of the range end wrong; one of which the process ends is one. */
static unsigned long
play(const struct range *r)
{
	struct job *jobs = mmap(NULL, JOBS_MAX * sizeof(*jobs), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned long n_wrong = 0;
	pid_t pids[JOBS_MAX];

	ck_assert(jobs != MAP_FAILED && r->n_jobs >= 1 && r->n_jobs <= JOBS_MAX);
	fflush(NULL);
	for (unsigned i = 0; i < r->n_jobs; i++) {
		pids[i] = may_fork() ? fork() : 0;
		ck_assert_int_ge(pids[i], 0);
		if (pids[i] == 0)
			play_share(r, i, &jobs[i]);
		if (pids[i] == 0 && may_fork())
			_exit(0);
	}
	for (unsigned i = 0; i < r->n_jobs; i++) {
		bool ended = !may_fork();
		int status = 0;

		if (!ended)
			ended = waitpid(pids[i], &status, 0) == pids[i] && status == 0;
		n_wrong += jobs[i].n_wrong;
		if (ended)
			continue;
		n_wrong++;
		tell(jobs[i].place, jobs[i].seed,
		    WIFSIGNALED(status) ? "a signal ends the process" : "the process ends");
	}
	munmap(jobs, JOBS_MAX * sizeof(*jobs));
	return n_wrong;
}

static bool
is_long(void)
{
	return getenv("FMD_LONG") != NULL;
}

static unsigned
n_jobs(void)
{
	const char *said = getenv("STORM_JOBS");
	long n = said != NULL ? strtol(said, NULL, 10)
	    : is_long()	      ? sysconf(_SC_NPROCESSORS_ONLN)
			      : 1;

	return n < 1 ? 1 : n > JOBS_MAX ? JOBS_MAX : (unsigned)n;
}

/* From a seed on so many, on one place. */
static void
play_row(unsigned place, unsigned long first, unsigned long n)
{
	struct range r = { .first = first,
		.last = first + n - 1,
		.place = place,
		.n_places = 1,
		.n_jobs = n_jobs() };
	unsigned long n_wrong = play(&r);

	ck_assert_msg(
	    n_wrong == 0, "%lu of %lu storms end wrong on %s", n_wrong, n, places[place].words);
}

START_TEST(storms_end_in_the_truth)
{
	play_row((unsigned)_i, 1, is_long() ? N_PLAIN_LONG : n_cases(N_PLAIN));
}
END_TEST

START_TEST(storms_of_all_kinds_end_in_the_truth)
{
	play_row((unsigned)_i, STORM_PLAIN_MAX + 1, is_long() ? N_MORE_LONG : n_cases(N_MORE));
}
END_TEST

START_TEST(storms_with_isolated_cables_end_in_the_truth)
{
	play_row(
	    (unsigned)_i, STORM_MORE_MAX + 1, is_long() ? N_ISOLATED_LONG : n_cases(N_ISOLATED));
}
END_TEST

START_TEST(storms_with_flaps_end_in_the_truth)
{
	play_row((unsigned)_i, STORM_ISOLATED_MAX + 1, is_long() ? N_FLAPS_LONG : n_cases(N_FLAPS));
}
END_TEST

START_TEST(storms_with_tables_of_states_end_in_the_truth)
{
	unsigned long n = is_long() ? N_STATES_LONG : n_cases(N_STATES);

	play_row((unsigned)_i, STORM_FLAPS_MAX + 1, n);
	play_row((unsigned)_i, STORM_FLAPS_MAX + STORM_PLAIN_MAX + 1, n);
}
END_TEST

/* Of the storms that are known as this, those that end otherwise. */
static unsigned
count_others(enum how how)
{
	static char text[STORM_TEXT_BYTES];
	unsigned n = 0;

	for (size_t i = 0; i < N_KNOWN; i++)
		for (unsigned k = 0; known[i].how == how && k < KNOWN_MAX && known[i].seeds[k] != 0;
		     k++) {
			storm_play(&places[known[i].place], known[i].seeds[k], 0, text);
			if ((text[0] == '\0') == (how == MENDED))
				continue;
			n++;
			tell(known[i].place, known[i].seeds[k],
			    how == MENDED ? text
					  : "it ends right: take it off the list of WRONG ones, "
					    "known[] in check_converge.c says MENDED");
		}
	return n;
}

START_TEST(mended_storms_stay_mended)
{
	unsigned n = count_others(MENDED);

	ck_assert_msg(n == 0, "%u storms end wrong that did not any more", n);
}
END_TEST

/* A storm is a function of its seed: what threads get done meanwhile decides nothing. */
START_TEST(storms_are_functions_of_their_seeds)
{
	const struct {
		unsigned long first, n;
	} rows[] = { { 1, n_cases(40) }, { STORM_PLAIN_MAX + 1, n_cases(20) }, { 1339, 1 } };

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (unsigned long seed = rows[i].first; seed < rows[i].first + rows[i].n; seed++)
			ck_assert_msg(storm_smps(&places[_i], seed, true) ==
				storm_smps(&places[_i], seed, false),
			    "%s, seed %lu: other SMPs where the routing thread gets no time",
			    places[_i].words, seed);
}
END_TEST

/* What is not held is told truly: a list that nobody shortens would hide what comes anew. */
START_TEST(wrong_storms_are_still_wrong)
{
	unsigned n = count_others(WRONG);

	ck_assert_msg(n == 0, "%u storms end right that are said to end wrong", n);
}
END_TEST

/* A search by hand: all seeds of a range, whatever fails. */
START_TEST(test_range)
{
	struct range r = { .n_places = N_PLACES, .n_jobs = n_jobs(), .all = true };
	unsigned long n_wrong;

	ck_assert_int_eq(sscanf(getenv("STORM_SEEDS"), "%lu-%lu", &r.first, &r.last), 2);
	ck_assert_uint_le(r.first, r.last);
	if (getenv("STORM_PLACE") != NULL) {
		r.place = (unsigned)strtoul(getenv("STORM_PLACE"), NULL, 10);
		r.n_places = 1;
		ck_assert_uint_lt(r.place, N_PLACES);
	}
	n_wrong = play(&r);
	ck_assert_msg(n_wrong == 0, "%lu of %lu storms end wrong", n_wrong,
	    (r.last - r.first + 1) * r.n_places);
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
		if (is_long())
			tcase_set_timeout(t, 3600);
		tcase_add_loop_test(t, storms_end_in_the_truth, 0, N_PLACES);
		tcase_add_loop_test(t, storms_of_all_kinds_end_in_the_truth, 0, N_PLACES);
		tcase_add_loop_test(t, storms_with_isolated_cables_end_in_the_truth, 0, N_PLACES);
		tcase_add_loop_test(t, storms_with_flaps_end_in_the_truth, 0, N_PLACES);
		tcase_add_loop_test(t, storms_with_tables_of_states_end_in_the_truth, 0, N_PLACES);
		tcase_add_loop_test(t, storms_are_functions_of_their_seeds, 0, N_PLACES);
		tcase_add_test(t, mended_storms_stay_mended);
		tcase_add_test(t, wrong_storms_are_still_wrong);
	}
	suite_add_tcase(s, t);
	return run_suite(s);
}
