/* SPDX-License-Identifier: BSD-2-Clause */
/* Who follows a place and who did, look by look, with a clock of its own. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/dist/followers.h"
#include "lib/log.h"
#include "tests/run.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)

static struct followers followers;
static char last_line[1024];

static void
keep_line(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	snprintf(last_line, sizeof(last_line), "%s", line);
}

static void
setup(void)
{
	memset(&followers, 0, sizeof(followers));
	last_line[0] = '\0';
	fm_log_set_sink(keep_line, NULL);
}

static void
teardown(void)
{
	fm_log_set_sink(NULL, NULL);
	followers_fini(&followers);
}

/* A look, at which a word of each name is there. */
static void
look(int64_t at_ms, const char *names)
{
	char text[256], *save = NULL;

	snprintf(text, sizeof(text), "%s", names);
	followers_begin(&followers);
	for (char *name = strtok_r(text, " ", &save); name != NULL;
	     name = strtok_r(NULL, " ", &save))
		followers_count(&followers, name);
	followers_end(&followers, at_ms, "here");
}

static const struct follower *
named(const char *name)
{
	for (size_t i = 0; i < followers.item.n; i++)
		if (strcmp(followers.item.item[i].name, name) == 0)
			return &followers.item.item[i];
	return NULL;
}

static void
assert_told(const char *words)
{
	ck_assert_msg(strstr(last_line, words) != NULL, "no \"%s\" in \"%s\"", words, last_line);
	last_line[0] = '\0';
}

START_TEST(test_gone_and_back)
{
	look(1000, "a b");
	look(6000, "b");
	ck_assert(!named("a")->gone && named("a")->here == 0 && named("a")->most == 1);
	ck_assert_int_eq(named("a")->fewer_ms, 6000);
	look(20999, "b");
	ck_assert(!named("a")->gone);
	ck_assert_str_eq(last_line, "");
	look(21000, "b");
	ck_assert(named("a")->gone && !named("b")->gone);
	assert_told("a follows here no more (0 of 1 are there)");
	look(26000, "b");
	ck_assert_str_eq(last_line, "");
	look(31000, "a b");
	ck_assert(!named("a")->gone && named("a")->fewer_ms < 0);
	assert_told("a follows here again");
}
END_TEST

/* Who is missing for less than that, again and again, is never gone. */
START_TEST(test_a_moment)
{
	look(0, "a");
	for (int64_t at = 5000; at < 100000; at += 15000) {
		look(at, "");
		look(at + 10000, "a");
	}
	ck_assert(!named("a")->gone);
	ck_assert_str_eq(last_line, "");
}
END_TEST

START_TEST(test_several_of_a_name)
{
	look(0, "a a");
	look(5000, "a a a");
	look(10000, "a a");
	look(25000, "a");
	ck_assert(named("a")->gone && named("a")->here == 1 && named("a")->most == 3);
	assert_told("(1 of 3 are there)");
	look(30000, "a a a");
	ck_assert(!named("a")->gone);
}
END_TEST

START_TEST(test_a_day)
{
	look(0, "a b b");
	look(5000, "b");
	look(DAY_MS + 4999, "b");
	ck_assert(named("a")->gone && named("b")->gone);
	look(DAY_MS + 5000, "b");
	ck_assert_ptr_null(named("a"));
	ck_assert(!named("b")->gone && named("b")->most == 1);
	assert_told("b has not followed here for a day (1 of 2 are there): those that are missing "
		    "are forgotten");
}
END_TEST

/* Between begin and end: what has been counted so far. */
START_TEST(test_lack)
{
	ck_assert(!followers_lack(&followers));
	look(0, "a a");
	ck_assert(!followers_lack(&followers));
	followers_begin(&followers);
	followers_count(&followers, "a");
	ck_assert(followers_lack(&followers));
	followers_count(&followers, "a");
	ck_assert(!followers_lack(&followers));
	followers_end(&followers, 5000, "here");
}
END_TEST

/* Who tells of itself is there once, however often it is told. */
START_TEST(test_who_tells)
{
	for (int64_t at = 0; at < 40000; at += 5000) {
		followers_begin(&followers);
		for (int i = 0; at < 10000 && i < 3; i++)
			followers_note(&followers, "rack-1");
		followers_note(&followers, "rack-2");
		followers_end(&followers, at, "here");
		if (at == 20000)
			ck_assert(!named("rack-1")->gone);
	}
	ck_assert(named("rack-1")->gone && !named("rack-2")->gone);
	ck_assert_uint_eq(named("rack-1")->most, 1);
	assert_told("nothing is heard at here of the relay at rack-1 any more");
	followers_begin(&followers);
	followers_note(&followers, "rack-1");
	followers_end(&followers, 45000, "here");
	ck_assert(!named("rack-1")->gone);
}
END_TEST

START_TEST(test_too_many)
{
	char name[200];

	followers_begin(&followers);
	for (int i = 0; i < FOLLOWERS_MOST; i++) {
		snprintf(name, sizeof(name), "%d", i);
		followers_count(&followers, name);
	}
	ck_assert_str_eq(last_line, "");
	followers_count(&followers, "late");
	assert_told("late follows, and cannot be watched, as 512 names are");
	followers_count(&followers, "later");
	ck_assert_str_eq(last_line, "");
	followers_end(&followers, 0, "here");
	ck_assert_uint_eq(followers.item.n, FOLLOWERS_MOST);
}
END_TEST

/* A name longer than there is room for is one name, not a new one at each look. */
START_TEST(test_long_name)
{
	char name[250];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	look(0, name);
	look(5000, name);
	ck_assert_uint_eq(followers.item.n, 1);
	ck_assert_uint_eq(followers.item.item[0].here, 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("followers");
	TCase *tc = tcase_create("followers");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_gone_and_back);
	tcase_add_test(tc, test_a_moment);
	tcase_add_test(tc, test_several_of_a_name);
	tcase_add_test(tc, test_a_day);
	tcase_add_test(tc, test_lack);
	tcase_add_test(tc, test_who_tells);
	tcase_add_test(tc, test_too_many);
	tcase_add_test(tc, test_long_name);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
