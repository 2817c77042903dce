/* SPDX-License-Identifier: BSD-2-Clause */
/* Which relay an agent goes to: the nearest that has not failed; a thousand hosts with one list. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "host/agent/relays.h"
#include "lib/rng.h"
#include "tests/run.h"

#define NOW (INT64_C(1000) * 3600 * 1000)
#define SEEDS 2000

static struct relays relays;
static char words[RELAYS_MOST + 1][64];

static void
setup(void)
{
	memset(&relays, 0, sizeof(relays));
}

static struct relay_entry *
add(const char *word)
{
	struct fm_error err = { 0 };
	char *own = words[relays.n];

	snprintf(own, sizeof(words[0]), "%s", word);
	ck_assert_msg(relays_add(&relays, own, &err) == 0, "%s", err.msg);
	return &relays.item[relays.n - 1];
}

static void
add_n(unsigned n)
{
	char word[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(word, sizeof(word), "redis:127.0.0.1:%u", 6391 + i);
		add(word);
	}
}

START_TEST(a_word_may_say_where_a_relay_runs)
{
	static const struct {
		const char *word, *place, *node;
	} cases[] = {
		{ "redis:127.0.0.1:6391", "redis:127.0.0.1:6391", NULL },
		{ "redis:127.0.0.1:6391@host-1", "redis:127.0.0.1:6391", "host-1" },
		{ "redis:[::1]:6391@0x2c903000abcde", "redis:[::1]:6391", "0x2c903000abcde" },
		{ "redis:unix:/run/a.sock@17", "redis:unix:/run/a.sock", "17" },
		{ "redis:unix:/run/a@b/c.sock", "redis:unix:/run/a@b/c.sock", NULL },
		{ "redis:unix:/run/a@b/c.sock@d", "redis:unix:/run/a@b/c.sock", "d" },
		{ "redis:unix:/run/a@b.sock@", "redis:unix:/run/a@b.sock", NULL },
		{ "files:/cluster@home", "files:/cluster@home", NULL },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct relay_entry *e = add(cases[i].word);

		ck_assert_str_eq(e->word, cases[i].place);
		if (cases[i].node == NULL)
			ck_assert_ptr_null(e->node);
		else
			ck_assert_str_eq(e->node, cases[i].node);
	}
}
END_TEST

START_TEST(there_is_an_end_of_the_list)
{
	struct fm_error err = { 0 };
	char word[] = "redis:127.0.0.1:1";

	add_n(RELAYS_MOST);
	ck_assert_int_eq(relays_add(&relays, word, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, "too many relays at \"redis:127.0.0.1:1\": 64 are possible"),
	    "%s", err.msg);
	ck_assert_uint_eq(relays.n, RELAYS_MOST);
}
END_TEST

/* Is a to be gone to before b, whatever the lot says?  By what the head of relays.h has. */
static bool
must_be_before(const struct relay_entry *a, const struct relay_entry *b)
{
	bool a_failed = a->failed_ms > NOW - RELAYS_FORGET_MS,
	     b_failed = b->failed_ms > NOW - RELAYS_FORGET_MS;

	if (a_failed || b_failed)
		return a_failed != b_failed ? b_failed : a->failed_ms < b->failed_ms;
	return a->hops != 0 && (b->hops == 0 || a->hops < b->hops);
}

/* One that nothing is before; and nearer only what has not failed and is so. */
START_TEST(the_best_is_before_all)
{
	struct fm_rng rng;
	unsigned best, nearer, n_failed = 0, n_nearer = 0;

	fm_rng_seed(&rng, 1);
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		setup();
		relays.host = fm_rng_next(&rng);
		add_n(1 + fm_rng_below(&rng, 6));
		for (unsigned i = 0; i < relays.n; i++) {
			relays.item[i].hops = 2 * fm_rng_below(&rng, 3);
			if (fm_rng_below(&rng, 2) == 0)
				relays.item[i].failed_ms = NOW -
				    (int64_t)fm_rng_below(&rng, 2 * (uint32_t)RELAYS_FORGET_MS);
		}
		best = relays_best(&relays, NOW);
		for (unsigned i = 0; i < relays.n; i++) {
			const struct relay_entry *e = &relays.item[i];

			ck_assert(!must_be_before(e, &relays.item[best]));
			nearer = relays_nearer(&relays, i, NOW);
			if (nearer == relays.n)
				continue;
			ck_assert_uint_eq(nearer, best);
			ck_assert_uint_ne(relays.item[nearer].hops, 0);
			ck_assert(e->hops == 0 || relays.item[nearer].hops < e->hops);
			ck_assert(NOW - relays.item[nearer].failed_ms >= RELAYS_FORGET_MS);
			n_nearer++;
		}
		n_failed += relays.item[best].failed_ms > NOW - RELAYS_FORGET_MS;
	}
	ck_assert_uint_gt(n_failed, SEEDS / 20);
	ck_assert_uint_gt(n_nearer, SEEDS / 20);
}
END_TEST

/* While all fail, each is asked before one is asked twice. */
START_TEST(all_are_asked_in_turn)
{
	unsigned asked[5] = { 0 }, best;

	add_n(5);
	relays.item[2].hops = 1;
	relays.item[3].hops = 5;
	for (unsigned i = 0; i < 15; i++) {
		best = relays_best(&relays, NOW + i);
		if (i < 2)
			ck_assert_uint_eq(best, 2 + i);
		ck_assert_uint_eq(asked[best]++, i / 5);
		relays.item[best].failed_ms = NOW + i;
	}
}
END_TEST

/* A failure is forgotten, and the nearest is the best again. */
START_TEST(a_failure_is_forgotten)
{
	add_n(2);
	relays.item[0].hops = 1;
	relays.item[1].hops = 3;
	relays.item[0].failed_ms = NOW;
	ck_assert_uint_eq(relays_best(&relays, NOW + RELAYS_FORGET_MS - 1), 1);
	ck_assert_uint_eq(relays_nearer(&relays, 1, NOW + RELAYS_FORGET_MS - 1), relays.n);
	ck_assert_uint_eq(relays_best(&relays, NOW + RELAYS_FORGET_MS), 0);
	ck_assert_uint_eq(relays_nearer(&relays, 1, NOW + RELAYS_FORGET_MS), 0);
}
END_TEST

/* Hosts with one list, 3000: over three of four that are as near, and the two that are left. */
START_TEST(hosts_spread_evenly)
{
	unsigned n[4] = { 0 }, left[4] = { 0 }, best;

	add_n(4);
	for (unsigned i = 0; i < 4; i++)
		relays.item[i].hops = i == 1 ? 5 : 3;
	for (unsigned host = 0; host < 3000; host++) {
		relays.host = UINT64_C(0x2c90300abc000) + host;
		relays.item[2].failed_ms = 0;
		best = relays_best(&relays, NOW);
		n[best]++;
		relays.item[2].failed_ms = NOW;
		if (best == 2)
			left[relays_best(&relays, NOW)]++;
		else
			ck_assert_uint_eq(relays_best(&relays, NOW), best);
	}
	ck_assert_uint_eq(n[1] + left[1] + left[2], 0);
	for (unsigned i = 0; i < 4; i++)
		ck_assert(i == 1 || (n[i] > 900 && n[i] < 1100));
	ck_assert(left[0] > n[2] * 4 / 10 && left[3] > n[2] * 4 / 10);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("relays");
	TCase *tc = tcase_create("relays");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_word_may_say_where_a_relay_runs);
	tcase_add_test(tc, there_is_an_end_of_the_list);
	tcase_add_test(tc, the_best_is_before_all);
	tcase_add_test(tc, all_are_asked_in_turn);
	tcase_add_test(tc, a_failure_is_forgotten);
	tcase_add_test(tc, hosts_spread_evenly);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
