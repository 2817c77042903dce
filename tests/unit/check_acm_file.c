/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_acm_file - the options of ibacm's provider, and when the file of paths is read again, is
 * too old, or is none.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/acm/acm_file.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/unit/paths_maker.h"

#define NOW 1800000000

static char folder[FOLDER_ROOM];
static struct acm_file f;
static struct paths_maker maker;
static struct fm_error err;

static void
setup(void)
{
	folder_make(folder);
	acm_file_defaults(&f.options);
	snprintf(f.options.path, sizeof(f.options.path), "%s/paths", folder);
	f.options.max_age_s = 100;
	maker_init(&maker);
}

static void
teardown(void)
{
	paths_free(f.paths);
	f = (struct acm_file){ 0 };
	maker_fini(&maker);
	folder_remove(folder);
}

static void
set_time(time_t mtime)
{
	struct timespec t[2] = { { .tv_sec = mtime }, { .tv_sec = mtime } };

	ck_assert_int_eq(utimensat(AT_FDCWD, f.options.path, t, 0), 0);
}

static void
write_file(uint64_t epoch, time_t mtime)
{
	struct paths_bytes section[PATHS_SECTIONS];

	maker_done(&maker, section);
	ck_assert_int_eq(
	    paths_write(f.options.path, (struct paths_epoch){ 1, epoch }, section, &err), 0);
	set_time(mtime);
}

/* Looked at, it has news or not, and a state. */
#define LOOK(now, news, state_) \
	do { \
		ck_assert_int_eq(acm_file_look(&f, now, &err), news); \
		ck_assert_int_eq(f.state, state_); \
		ck_assert_int_eq(f.state != ACM_FILE_NONE, f.paths != NULL); \
	} while (0)

START_TEST(test_comes_and_goes)
{
	struct paths *was;

	LOOK(NOW, true, ACM_FILE_NONE); /* that it is not there is news at first */
	ck_assert_str_eq(err.msg, "");
	LOOK(NOW, false, ACM_FILE_NONE);
	write_file(1, NOW);
	LOOK(NOW, true, ACM_FILE_FRESH);
	was = f.paths;
	LOOK(NOW, false, ACM_FILE_FRESH);
	ck_assert_ptr_eq(f.paths, was);
	write_file(2, NOW);
	LOOK(NOW, true, ACM_FILE_FRESH);
	ck_assert_uint_eq(paths_epoch(f.paths).epoch, 2);
	ck_assert_int_eq(unlink(f.options.path), 0);
	LOOK(NOW, true, ACM_FILE_NONE);
	ck_assert_str_eq(err.msg, "");
}
END_TEST

START_TEST(test_age)
{
	write_file(1, NOW);
	LOOK(NOW + 100, true, ACM_FILE_FRESH);
	LOOK(NOW + 101, true, ACM_FILE_STALE);
	LOOK(NOW + 102, false, ACM_FILE_STALE);
	set_time(NOW + 90); /* a sign of life */
	LOOK(NOW + 110, true, ACM_FILE_FRESH);
	set_time(NOW + 91);
	LOOK(NOW + 110, true, ACM_FILE_FRESH);
	/* the clock is set back: the file is of a time to come */
	LOOK(NOW - 9, false, ACM_FILE_FRESH);
	LOOK(NOW - 10, true, ACM_FILE_STALE);
}
END_TEST

START_TEST(test_cannot_be_read)
{
	folder_write(folder, "paths", "these are none");
	LOOK(NOW, true, ACM_FILE_NONE);
	ck_assert_ptr_nonnull(strstr(err.msg, "/paths: it is no file of paths"));
	LOOK(NOW, false, ACM_FILE_NONE); /* told once */
	write_file(1, NOW);
	LOOK(NOW, true, ACM_FILE_FRESH);
	/* what has been read goes with its file */
	folder_write(folder, "paths", "again");
	LOOK(NOW, true, ACM_FILE_NONE);
	ck_assert_ptr_nonnull(strstr(err.msg, "it is no file of paths"));
	snprintf(f.options.path, sizeof(f.options.path), "%s/paths/x", folder);
	LOOK(NOW, true, ACM_FILE_NONE);
	ck_assert_ptr_nonnull(strstr(err.msg, "Not a directory"));
	LOOK(NOW, false, ACM_FILE_NONE);
}
END_TEST

static int
option(const char *line)
{
	err.msg[0] = '\0';
	return acm_file_option(&f.options, line, &err);
}

START_TEST(test_options)
{
	acm_file_defaults(&f.options);
	ck_assert_str_eq(f.options.path, "/run/fmd-agent/paths");
	ck_assert_uint_eq(f.options.max_age_s, 180);
	ck_assert_int_eq(option("fmd_paths /var/lib/p\n"), 0);
	ck_assert_str_eq(f.options.path, "/var/lib/p");
	ck_assert_int_eq(option("  fmd_max_age   7  \n"), 0);
	ck_assert_uint_eq(f.options.max_age_s, 7);
	/* others' lines */
	ck_assert_int_eq(option("provider fmdacm default\n"), 0);
	ck_assert_int_eq(option("\n"), 0);
	ck_assert_int_eq(option("# fmd_max_age x\n"), 0);
	ck_assert_int_eq(option("sa_depth\n"), 0);
}
END_TEST

START_TEST(test_bad_options)
{
	static const char *const bad[][2] = { { "fmd_max_age 0", "1 to 31536000" },
		{ "fmd_max_age -1", "1 to 31536000" }, { "fmd_max_age 180s", "\"180s\"" },
		{ "fmd_max_age 99999999999999999999", "seconds" },
		{ "fmd_max_age 31536001", "seconds" }, { "fmd_max_age", "has no value" },
		{ "fmd_paths", "has no value" }, { "fmd_paths paths", "a whole path" },
		{ "fmd_maxage 9", "there is no option fmd_maxage" } };

	acm_file_defaults(&f.options);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(option(bad[i][0]), FM_E_CONFIG);
		ck_assert_msg(strstr(err.msg, bad[i][1]) != NULL, "%s", err.msg);
		ck_assert_str_eq(f.options.path, "/run/fmd-agent/paths");
		ck_assert_uint_eq(f.options.max_age_s, 180);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("acm file");
	TCase *t = tcase_create("acm file");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_comes_and_goes);
	tcase_add_test(t, test_age);
	tcase_add_test(t, test_cannot_be_read);
	tcase_add_test(t, test_options);
	tcase_add_test(t, test_bad_options);
	suite_add_tcase(s, t);
	return run_suite(s);
}
