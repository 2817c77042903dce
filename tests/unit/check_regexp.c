/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regular expressions: what libc says of them, and what would cost libc all memory or time.
 */
#include <check.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/text/regexp.h"
#include "lib/rng.h"
#include "tests/run.h"

#define ROOM ((rlim_t)64 << 20) /* bytes more than there are */

static bool
matches(const char *text, const char *name)
{
	struct fm_error err = { 0 };
	struct regexp *r = NULL;
	bool does;

	ck_assert_msg(regexp_new(text, &r, &err) == 0, "%s: %s", text, err.msg);
	does = regexp_match(r, name);
	regexp_free(r);
	return does;
}

static const struct {
	const char *text, *name;
	bool does;
} known[] = { { "SW*", "S-1", true }, { "^leaf", "leaf-1", true }, { "^leaf", "my leaf", false },
	{ "-1$", "leaf-1", true }, { "-1$", "leaf-12", false }, { "", "", true },
	{ "^(leaf|spine)\\-[1]$", "spine-1", true }, { "a+?b", "b", true },
	{ "^a?+$", "aaa", true }, { "^[^[:digit:]]+$", "ab", true },
	{ "^[^[:digit:]]+$", "a1", false }, { "[]x]", "a]", true }, { "[^]x]", "]x", false },
	{ "[a-]", "-", true }, { "^\\w\\W\\s$", "a  ", true }, { "a|", "zz", true },
	{ "()*x", "x", true }, { "(^|-)a", "b-a", true }, { "a$|b", "ab", true },
	{ ")", ")", true }, { "\\.", "ab", false }, { ".", "\303", true } };

START_TEST(test_known)
{
	ck_assert_msg(matches(known[_i].text, known[_i].name) == known[_i].does, "%s in %s",
	    known[_i].text, known[_i].name);
}
END_TEST

static const struct {
	const char *text, *why;
} wrong[] = { { "a[", "brackets do not close" }, { "[]", "brackets do not close" },
	{ "(a", "parentheses do not close" }, { "*a", "nothing before it" },
	{ "a|+", "nothing before it" }, { "^*", "nothing before it" },
	{ "a{2}", "counts in braces" }, { "(a)\\1", "back-references" }, { "a\\", "a \\ stands" },
	{ "\\b", "a \\ stands" }, { "[z-a]", "the lower one first" },
	{ "[[:letter:]]", "no such class" }, { "[[.a.]]", "in brackets is of bytes" } };

START_TEST(test_wrong)
{
	struct fm_error err = { 0 };
	struct regexp *r = NULL;

	ck_assert_int_eq(regexp_new(wrong[_i].text, &r, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, wrong[_i].why) != NULL, "%s: %s", wrong[_i].text, err.msg);
}
END_TEST

static void
write_random(struct fm_rng *rng, char *text, unsigned room, const char *letters)
{
	unsigned n = fm_rng_below(rng, room);

	for (unsigned i = 0; i < n; i++)
		text[i] = letters[fm_rng_below(rng, (uint32_t)strlen(letters))];
	text[n] = '\0';
}

/* What we take, libc takes and finds in the same names. */
START_TEST(test_libc)
{
	unsigned n_taken = 0, n_found = 0;
	struct fm_error err;
	struct fm_rng rng;

	fm_rng_seed(&rng, 1);
	for (unsigned i = 0; i < n_cases(40000); i++) {
		struct regexp *r = NULL;
		char text[13], name[9];
		regex_t theirs;

		write_random(&rng, text, sizeof(text), "aabb()()||*+?[]^$.-\\");
		if (regexp_new(text, &r, &err) != 0)
			continue;
		n_taken++;
		ck_assert_msg(
		    regcomp(&theirs, text, REG_EXTENDED | REG_NOSUB) == 0, "libc refuses %s", text);
		for (unsigned k = 0; k < 8; k++) {
			bool does;

			write_random(&rng, name, sizeof(name), "aabb-)]");
			does = regexec(&theirs, name, 0, NULL, 0) == 0;
			n_found += does;
			ck_assert_msg(regexp_match(r, name) == does, "%s in %s: libc says %d", text,
			    name, does);
		}
		regfree(&theirs);
		regexp_free(r);
	}
	ck_assert_uint_gt(n_taken, n_cases(40000) / 10);
	ck_assert_uint_gt(n_found, n_taken / 10);
}
END_TEST

/* As long as may be: unit, over and over, between head and tail. */
static const struct {
	const char *head, *unit, *tail;
} costly[] = { { "a", "+", "" }, { "(a|b)*a", "[ab]", "" }, { "(a|b)*a", "(a|b)", "" },
	{ "(", "(a*b*)*", ")*" }, { "", "a?", "" }, { "", "(a|b|ab)*", "c" } };

/* None costs more than its length in memory, nor in time: the test would not end. */
START_TEST(test_costly)
{
	static char text[REGEXP_MAX + 1];
	struct rlimit all = { 0 };
	struct fm_error err;
	struct regexp *r;
	struct fm_rng rng;
	char name[65];
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	ck_assert(f != NULL && fscanf(f, "%lu", &pages) == 1);
	fclose(f);
	snprintf(text, sizeof(text), "%s", costly[_i].head);
	while (strlen(text) + strlen(costly[_i].unit) + strlen(costly[_i].tail) <= REGEXP_MAX)
		strncat(text, costly[_i].unit, sizeof(text) - strlen(text) - 1);
	strncat(text, costly[_i].tail, sizeof(text) - strlen(text) - 1);
	all.rlim_cur = all.rlim_max = pages * 4096 + ROOM;
#if !defined(__SANITIZE_ADDRESS__)
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &all), 0);
#endif
	ck_assert_msg(regexp_new(text, &r, &err) == 0, "%s", err.msg);
	fm_rng_seed(&rng, 1);
	for (unsigned i = 0; i < n_cases(5000); i++) {
		write_random(&rng, name, sizeof(name), "ab");
		regexp_match(r, name);
	}
	regexp_free(r);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("regexp");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_known, 0, sizeof(known) / sizeof(known[0]));
	tcase_add_loop_test(t, test_wrong, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(t, test_libc);
	tcase_add_loop_test(t, test_costly, 0, sizeof(costly) / sizeof(costly[0]));
	suite_add_tcase(s, t);
	return run_suite(s);
}
