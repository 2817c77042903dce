/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each input of wrong_inputs.txt with all that is said about it.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/conf.h"
#include "core/text/mistakes.h"
#include "lib/log.h"
#include "tests/folder.h"
#include "tests/run.h"

static struct engine_set engines;
static char folder[FOLDER_ROOM], conf_path[96];

static void
silence(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
}

static void
set_up(void)
{
	const char *dirs[] = { folder, NULL };
	struct fm_error err;
	char cmd[128];

	folder_make(folder);
	snprintf(conf_path, sizeof(conf_path), "%s/fmd.conf", folder);
	snprintf(cmd, sizeof(cmd), "cp tests/modules/.libs/good.so %s", folder);
	ck_assert_int_eq(system(cmd), 0);
	ck_assert_msg(engine_set_load(&engines, dirs, &err) == 0, "%s", err.msg);
	fm_log_set_sink(silence, NULL);
}

static void
tear_down(void)
{
	engine_set_fini(&engines);
	folder_remove(folder);
}

/* The sentences, a line each, without the folder's name. */
static void
join(const struct mistakes *all, char *out)
{
	size_t skip = strlen(folder) + 1;

	for (size_t i = 0; i < all->n; i++) {
		for (const char *p = all->sentence[i]; *p != '\0';)
			if (strncmp(p, folder, skip - 1) == 0)
				p += skip;
			else
				*out++ = *p++;
		*out++ = '\n';
	}
	*out = '\0';
}

static size_t
load(struct mistakes *all, struct fm_error *err)
{
	struct conf_source source = { .path = conf_path };
	struct conf *conf = NULL;

	ck_assert_int_eq(conf_load_all(&source, &engines, all, &conf, err), FM_E_CONFIG);
	ck_assert_ptr_null(conf); /* nothing is half applied */
	return all->n;
}

/* FILE:LINE: before each. */
static void
check_places(const char *says)
{
	for (const char *at = says; *at != '\0'; at = strchr(at, '\n') + 1) {
		size_t file = strcspn(at, ":"), line = strspn(at + file + 1, "0123456789");

		ck_assert_msg(file > 0 && line > 0 && at[file + 1] != '0' &&
			strncmp(at + file + 1 + line, ": ", 2) == 0,
		    "%s", at);
	}
}

static void
check_case(const char *says, unsigned line)
{
	struct mistakes all = { 0 };
	struct fm_error err = { 0 };
	char said[4096];

	ck_assert_uint_gt(load(&all, &err), 0);
	ck_assert_int_eq(strncmp(err.msg, all.sentence[0], strnlen(all.sentence[0], 200)), 0);
	ck_assert_int_eq(strstr(err.msg, "(the first of") != NULL, all.n > 1);
	join(&all, said);
	ck_assert_msg(strcmp(said, says) == 0,
	    "before line %u of wrong_inputs.txt: said\n%snot\n%s", line, said, says);
	check_places(says);
	mistakes_fini(&all);
}

/* What was gathered is a file of this name, or the sentences that end a case. */
static void
end_part(const char *name, const char *text, unsigned line, unsigned *n_cases)
{
	if (*name != '\0') {
		folder_write(folder, name, text);
		return;
	}
	check_case(text, line);
	++*n_cases;
}

/* "STATE_DIR" in a line becomes the folder's name. */
static void
add_line(char *text, size_t room, const char *line)
{
	const char *at = strstr(line, "STATE_DIR");
	size_t n = strlen(text);

	if (at == NULL)
		snprintf(text + n, room - n, "%s", line);
	else
		snprintf(text + n, room - n, "%.*s%s%s", (int)(at - line), line, STATE_DIR, at + 9);
}

START_TEST(all_are_told)
{
	const char *dir = getenv("srcdir");
	char path[256], line[512], name[64] = "", text[4096] = "";
	unsigned number = 0, n_cases = 0;
	bool begun = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/unit/wrong_inputs.txt", dir != NULL ? dir : ".");
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		number++;
		if (*line != '@') {
			if (begun)
				add_line(text, sizeof(text), line);
			continue;
		}
		if (begun)
			end_part(name, text, number, &n_cases);
		begun = true;
		text[0] = name[0] = '\0';
		sscanf(line, "@file %60s", name);
	}
	end_part(name, text, number, &n_cases);
	fclose(f);
	ck_assert_uint_ge(n_cases, 60);
}
END_TEST

START_TEST(no_more_than_are_read)
{
	struct mistakes all = { 0 };
	struct fm_error err = { 0 };
	char text[4096] = "";

	for (unsigned i = 0; i < MISTAKES_MAX + 20; i++)
		snprintf(text + strlen(text), 16, "colour%u = 1\n", i);
	folder_write(folder, "fmd.conf", text);
	ck_assert_uint_eq(load(&all, &err), MISTAKES_MAX);
	ck_assert_uint_eq(all.n_more, 20);
	mistakes_fini(&all);
}
END_TEST

/* A name of the log that is not in the list could not be debugged. */
START_TEST(every_subsystem_has_a_name)
{
	const char *dir = getenv("srcdir");
	char cmd[512], name[64];
	FILE *found;

	snprintf(cmd, sizeof(cmd),
	    "cd %s && grep -rhoE '(fm_log_rl|fm_log|log_[a-z]+)\\([^;\"]*\"[a-z_-]+\",' "
	    "--include=*.c core lib lab plugins tools | sed 's/.*\"\\(.*\\)\",$/\\1/' | sort -u",
	    dir != NULL ? dir : ".");
	found = popen(cmd, "r");
	ck_assert_ptr_nonnull(found);
	while (fgets(name, sizeof(name), found) != NULL) {
		bool known = false;

		name[strcspn(name, "\n")] = '\0';
		for (const char *const *s = fm_log_subsystems; *s != NULL; s++)
			known |= strcmp(*s, name) == 0;
		ck_assert_msg(known, "%s is not in fm_log_subsystems", name);
	}
	pclose(found);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mistakes");
	TCase *tc = tcase_create("mistakes");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, all_are_told);
	tcase_add_test(tc, no_more_than_are_read);
	tcase_add_test(tc, every_subsystem_has_a_name);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
