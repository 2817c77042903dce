/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programmers of adaptive routing of others, in processes of their own: the same answers as in
 * this one, and whatever one does, a call that fails with a sentence, with fmd as it was.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/apart/programmer.h"
#include "core/vendor/vendors.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/hostile/vendor.h"
#include "tests/run.h"

#define HOSTILE "tests/hostile/.libs"
#define MOST_LIDS 49152u
#define MOST_GROUPS 4096u

extern const struct fm_vendor example_LTX_fm_vendor;

static char folder[FOLDER_ROOM], logged[65536];
static struct vendors *set;
static const struct apart_settings apart = {
	.who = APART_FOREIGN, .memory_bytes = (size_t)256 << 20, .load_ms = 60000, .reply_ms = 60000
};

static void
on_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	size_t n = strlen(logged);

	snprintf(logged + n, sizeof(logged) - n, "%s: %s\n", subsystem, line);
}

static void
begin(void)
{
	char vendors[FOLDER_ROOM + 16];

	folder_make(folder);
	snprintf(vendors, sizeof(vendors), "%s/vendors", folder);
	ck_assert_int_eq(mkdir(vendors, 0755), 0);
	logged[0] = '\0';
	fm_log_set_sink(on_log, NULL);
}

static void
end(void)
{
	vendors_free(set);
	set = NULL;
	folder_remove(folder);
}

static void
run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

static void
load_all(const struct apart_settings *how)
{
	const char *dirs[] = { folder, NULL };
	struct fm_error err = { 0 };

	vendors_free(set);
	ck_assert_msg(vendors_load(&set, dirs, how, &err) == 0, "%s", err.msg);
}

/* NULL: it was refused. */
static const struct fm_vendor *
load(const char *from, const char *name, const struct apart_settings *how)
{
	char command[256];

	snprintf(command, sizeof(command), "cp --remove-destination %s/%s.so %s/vendors/", from,
	    name, folder);
	run(command);
	load_all(how);
	for (size_t i = 0; i < set->n_vendors; i++)
		if (strcmp(set->vendor[i]->name, name) == 0)
			return set->vendor[i];
	return NULL;
}

static void
expect_refusal(const char *words)
{
	for (size_t i = 0; i < set->n_refused; i++)
		if (strstr(set->refused[i].reason, words) != NULL)
			return;
	ck_abort_msg("%zu refused, none with '%s': %s", set->n_refused, words,
	    set->n_refused > 0 ? set->refused[0].reason : "");
}

/* ------------------------------------------------------------- as in this process */

static struct fm_rng rng;

static void
random_bytes(uint8_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)fm_rng_below(&rng, 256);
}

static void
same_blocks(const struct fm_vendor *there, const struct fm_vendor_rows *rows)
{
	struct fm_vendor_smp *a, *b;
	struct fm_error err = { 0 };
	uint32_t n_a, n_b;

	ck_assert_int_eq(vendor_blocks(&example_LTX_fm_vendor, rows, &a, &n_a, &err), 0);
	ck_assert_msg(vendor_blocks(there, rows, &b, &n_b, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(n_a, n_b);
	ck_assert_mem_eq(a, b, n_a * sizeof(*a));
	free(a);
	free(b);
}

static void
same_answers(const struct fm_vendor *there, const uint8_t info[FM_VENDOR_BYTES])
{
	struct fm_vendor_mode mode = { .size = sizeof(mode), .algorithm = FM_VENDOR_GREEDY };
	uint8_t a[FM_VENDOR_BYTES], b[FM_VENDOR_BYTES];
	struct fm_vendor_info x, y;

	ck_assert_int_eq(
	    vendor_read_info(&example_LTX_fm_vendor, info, &x), vendor_read_info(there, info, &y));
	ck_assert(x.n_groups == y.n_groups && x.is_on == y.is_on);
	for (int on = 0; on < 2; on++) {
		ck_assert(vendor_turn(&example_LTX_fm_vendor, info, on ? &mode : NULL, a));
		ck_assert(vendor_turn(there, info, on ? &mode : NULL, b));
		ck_assert_mem_eq(a, b, sizeof(a));
	}
}

START_TEST(answers_are_those_of_this_process)
{
	static uint8_t lft[MOST_LIDS], info[FM_VENDOR_BYTES];
	static uint16_t group[MOST_LIDS];
	static uint64_t ports[MOST_GROUPS][4];
	const struct fm_vendor *there = load("plugins/vendors/.libs", "example", &apart);
	struct fm_vendor_rows rows = {
		.size = sizeof(rows), .info = info, .lft = lft, .group = group, .ports = ports
	};

	ck_assert_msg(there != NULL, "%s", set->n_refused > 0 ? set->refused[0].reason : "");
	ck_assert_ptr_nonnull(programmer_of(there));
	ck_assert_ptr_null(programmer_of(&example_LTX_fm_vendor));
	ck_assert_str_eq(there->summary, example_LTX_fm_vendor.summary);
	ck_assert_uint_eq(there->info_attr, example_LTX_fm_vendor.info_attr);
	ck_assert_uint_eq(there->info_modifier, example_LTX_fm_vendor.info_modifier);
	ck_assert_ptr_eq(vendors_find(set, 0x02fd5a, 0xad01), there);
	ck_assert_ptr_null(vendors_find(set, 0x02fd5a, 0xad02));
	fm_rng_seed(&rng, 5);
	random_bytes(lft, sizeof(lft));
	random_bytes((uint8_t *)ports, sizeof(ports));
	for (uint32_t k = 0; k < n_cases(100); k++) {
		random_bytes(info, sizeof(info));
		info[0] = k % 4 != 0; /* one that it knows */
		rows.top_lid =
		    k == 0 ? MOST_LIDS - 1 : (uint16_t)(1 + fm_rng_below(&rng, MOST_LIDS - 1));
		rows.n_groups =
		    k == 0 ? MOST_GROUPS - 1 : (uint16_t)(1 + fm_rng_below(&rng, MOST_GROUPS - 1));
		rows.n_ports = (uint8_t)fm_rng_below(&rng, 255);
		for (uint32_t lid = 0; lid <= rows.top_lid; lid++)
			group[lid] = (uint16_t)fm_rng_below(&rng, rows.n_groups + 1u);
		same_answers(there, info);
		same_blocks(there, &rows);
	}
	ck_assert_str_eq(logged, "");
}
END_TEST

/* ------------------------------------------------------------------ hostile ones */

static const struct {
	enum vendor_deed deed;
	const char *says; /* NULL: it is no failure */
} deeds[] = {
	{ VENDOR_CRASH, "its process was killed by signal 11 (SIGSEGV)" },
	{ VENDOR_ABORT, "its process was killed by signal 6 (SIGABRT)" },
	{ VENDOR_EXIT, "its process exited with status 3" },
	{ VENDOR_SOCKET, "its process was killed by signal 31 (SIGSYS): it made a system call" },
	{ VENDOR_FORK, "its process was killed by signal 31 (SIGSYS)" },
	{ VENDOR_KILL, "its process was killed by signal 31 (SIGSYS)" },
	{ VENDOR_OPEN, NULL },
	{ VENDOR_JUNK, "what its process replies is no reply" },
	{ VENDOR_HANGUP, "its process hung up on fmd" },
	{ VENDOR_BABBLE, "it talks without end" },
	{ VENDOR_SPIN, "no reply within 300ms" },
};
#define N_DEEDS ((int)(sizeof(deeds) / sizeof(*deeds)))

static uint8_t info[FM_VENDOR_BYTES];

/* 0: it has answered; else *err has the sentence where the call has one. */
static int
ask(const struct fm_vendor *v, enum where where, enum vendor_deed deed, struct fm_error *err)
{
	static const uint8_t lft[8] = { 0 };
	static const uint16_t group[8] = { 0, 1, 1, 2 };
	static const uint64_t ports[3][4] = { { 0 }, { 6 }, { 24 } };
	const struct fm_vendor_rows rows = { .size = sizeof(rows),
		.n_groups = 2,
		.top_lid = 7,
		.n_ports = 8,
		.info = info,
		.lft = lft,
		.group = group,
		.ports = ports };
	const struct fm_vendor_mode mode = { .size = sizeof(mode) };
	uint8_t data[FM_VENDOR_BYTES];
	struct fm_vendor_info out;
	struct fm_vendor_smp *b;
	uint32_t n;
	int rc;

	info[AT_DEED] = (uint8_t)deed;
	info[AT_WHERE] = (uint8_t)where;
	err->msg[0] = '\0';
	if (where == IN_READ_INFO)
		return vendor_read_info(v, info, &out) ? 0 : FM_E_BUG;
	if (where == IN_TURN)
		return vendor_turn(v, info, &mode, data) ? 0 : FM_E_BUG;
	rc = vendor_blocks(v, &rows, &b, &n, err);
	if (rc == 0) {
		ck_assert_uint_eq(n, 2);
		free(b);
	}
	return rc;
}

START_TEST(whatever_it_does_has_a_sentence)
{
	enum where where = (enum where)(_i / N_DEEDS);
	enum vendor_deed deed = deeds[_i % N_DEEDS].deed;
	const char *says = deeds[_i % N_DEEDS].says;
	struct apart_settings how = apart;
	const struct fm_vendor *v;
	struct fm_error err;
	int rc;

	how.reply_ms = deed == VENDOR_SPIN ? 300 : 60000;
	v = load(HOSTILE, "vendor_hostile", &how);
	ck_assert_ptr_nonnull(v);
	ck_assert_str_eq(v->summary, "A programmer that means  no good.");
	rc = ask(v, where, deed, &err);
	if (says == NULL) {
		ck_assert_int_eq(rc, 0);
		ck_assert_str_eq(logged, "");
	} else {
		ck_assert_int_ne(rc, 0);
		ck_assert_msg(strstr(logged, says) != NULL, "%s", logged);
		ck_assert_msg(where < IN_N_BLOCKS || strstr(err.msg, says) != NULL, "%s", err.msg);
	}
	if (deed != VENDOR_SPIN) /* and the next question is answered */
		ck_assert_msg(ask(v, where, VENDOR_NOTHING, &err) == 0, "%s", logged);
}
END_TEST

static const struct {
	enum where where;
	enum vendor_deed deed;
	const char *says; /* NULL: it is believed */
} answers[] = {
	{ IN_N_BLOCKS, VENDOR_NONE, "gives 0 blocks, 1 to 65536 are allowed" },
	{ IN_N_BLOCKS, VENDOR_RANGE, "gives 65537 blocks" },
	{ IN_N_BLOCKS, VENDOR_REFUSE, "blocks, 1 to 65536 are allowed" },
	{ IN_BLOCK, VENDOR_IBA, "gives no block 1, or one of attribute 0x0019" },
	{ IN_BLOCK, VENDOR_NO_BLOCK, "gives no block 1" },
	{ IN_BLOCK, VENDOR_INPUT, "its process was killed by signal 11 (SIGSEGV)" },
	{ IN_N_BLOCKS, VENDOR_INPUT, "its process was killed by signal 11 (SIGSEGV)" },
	{ IN_READ_INFO, VENDOR_INPUT, NULL },
	{ IN_TURN, VENDOR_INPUT, NULL },
};

START_TEST(what_it_answers_is_held_to_limits)
{
	const struct fm_vendor *v = load(HOSTILE, "vendor_hostile", &apart);
	struct fm_error err;
	int rc = ask(v, answers[_i].where, answers[_i].deed, &err);

	if (answers[_i].says == NULL) {
		ck_assert_int_eq(rc, 0);
		ck_assert_str_eq(logged, "");
		return;
	}
	ck_assert_int_eq(rc, FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, answers[_i].says) != NULL, "%s", err.msg);
	ck_assert_msg(strstr(logged, answers[_i].says) != NULL, "%s", logged);
	ck_assert_int_eq(ask(v, IN_BLOCK, VENDOR_NOTHING, &err), 0);
}
END_TEST

/* Numbers of groups, whether it is on; and not to know a switch is no failure. */
START_TEST(info_is_held_to_limits)
{
	const struct fm_vendor *v = load(HOSTILE, "vendor_hostile", &apart);
	uint8_t data[FM_VENDOR_BYTES];
	struct fm_vendor_info out;

	info[AT_DEED] = VENDOR_RANGE;
	ck_assert(vendor_read_info(v, info, &out));
	ck_assert_uint_eq(out.n_groups, 0xfffe);
	ck_assert(out.is_on == true);
	info[AT_DEED] = VENDOR_REFUSE;
	for (int i = 0; i < 5; i++) {
		ck_assert(!vendor_read_info(v, info, &out));
		ck_assert(!vendor_turn(v, info, NULL, data));
	}
	ck_assert_str_eq(logged, "");
}
END_TEST

/* Blocks are copied, and only then looked at. */
START_TEST(nobody_writes_after_the_reply)
{
	static const uint8_t lft[8] = { 0 };
	static const uint16_t group[8] = { 0, 1 };
	static const uint64_t ports[2][4] = { { 0 }, { 6 } };
	const struct fm_vendor_rows rows = { .size = sizeof(rows),
		.n_groups = 1,
		.top_lid = 7,
		.info = info,
		.lft = lft,
		.group = group,
		.ports = ports };
	uint32_t n;

	for (int k = 0; k < 20; k++) {
		const struct fm_vendor *v = load(HOSTILE, "vendor_hostile", &apart);
		struct fm_vendor_smp *b;
		struct fm_error err;

		ck_assert_int_eq(ask(v, IN_READ_INFO, VENDOR_AFTERWARDS, &err), 0);
		info[AT_DEED] = VENDOR_NOTHING;
		if (vendor_blocks(v, &rows, &b, &n, &err) != 0) {
			ck_assert_msg(strstr(err.msg, "attribute 0x0019") != NULL, "%s", err.msg);
			continue;
		}
		ck_assert_uint_eq(n, FM_VENDOR_BLOCKS);
		for (uint32_t i = 0; i < n; i++)
			ck_assert_msg(b[i].attr == 0xffe1, "block %u", i);
		free(b);
	}
}
END_TEST

/* What it said to another question is no reply to this one. */
START_TEST(a_reply_is_to_one_question)
{
	const struct fm_vendor *v = load(HOSTILE, "vendor_hostile", &apart);
	struct fm_error err;

	ck_assert_int_eq(ask(v, IN_READ_INFO, VENDOR_TWICE, &err), 0);
	ck_assert_str_eq(logged, "");
	ck_assert_int_ne(ask(v, IN_READ_INFO, VENDOR_NOTHING, &err), 0);
	ck_assert_ptr_nonnull(strstr(logged, "what its process replies is no reply"));
	ck_assert_int_eq(ask(v, IN_READ_INFO, VENDOR_NOTHING, &err), 0);
}
END_TEST

/* Three times in a row, and it is left alone, which is said once. */
START_TEST(who_fails_is_left)
{
	const struct fm_vendor *v = load(HOSTILE, "vendor_hostile", &apart);
	const char *said;
	struct fm_error err;

	for (int i = 0; i < 2; i++)
		ck_assert_int_ne(ask(v, IN_TURN, VENDOR_EXIT, &err), 0);
	ck_assert_int_eq(ask(v, IN_TURN, VENDOR_NOTHING, &err), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_ne(ask(v, IN_BLOCK, VENDOR_EXIT, &err), 0);
	for (int i = 0; i < 5; i++) {
		ck_assert_int_ne(ask(v, IN_TURN, VENDOR_NOTHING, &err), 0);
		ck_assert_int_eq(ask(v, IN_BLOCK, VENDOR_NOTHING, &err), FM_E_CONFIG);
		ck_assert_ptr_nonnull(strstr(err.msg, "is not asked any more till fmctl reload"));
	}
	said = strstr(logged, "is not asked any more");
	ck_assert_ptr_nonnull(said);
	ck_assert_ptr_null(strstr(said + 1, "is not asked any more"));
	vendors_ask_again(set);
	ck_assert_int_eq(ask(v, IN_TURN, VENDOR_NOTHING, &err), 0);
	ck_assert_int_eq(ask(v, IN_BLOCK, VENDOR_NOTHING, &err), 0);
}
END_TEST

/* ------------------------------------------------------------------------ loading */

static const struct {
	const char *file, *says; /* NULL: it is taken */
} loads[] = {
	{ "vendor_abort", "its process was killed by signal 6 (SIGABRT) while it was loaded" },
	{ "vendor_spin", "it was not loaded within 500ms" },
	{ "vendor_newer", "vendor ABI 1.1, this fmd has 1.0" },
	{ "vendor_liar", ".ids names no switch, or does not end" },
	{ "hostile", "no fmd programmer of adaptive routing: it does not export" },
	{ "vendor_hostile", NULL },
};

START_TEST(what_is_loaded_there_has_a_sentence)
{
	struct apart_settings how = apart;
	const struct fm_vendor *v;

	how.load_ms = strcmp(loads[_i].file, "vendor_spin") == 0 ? 500 : 60000;
	v = load(HOSTILE, loads[_i].file, &how);
	if (loads[_i].says == NULL)
		ck_assert_ptr_nonnull(v);
	else {
		ck_assert_ptr_null(v);
		expect_refusal(loads[_i].says);
		expect_refusal(folder);
	}
}
END_TEST

START_TEST(files_and_folders_are_judged)
{
	char command[256];

#define RUN(...) \
	do { \
		snprintf(command, sizeof(command), __VA_ARGS__); \
		run(command); \
	} while (0)
	folder_write(folder, "vendors/junk.so", "junk");
	RUN("cp %s/vendor_hostile.so %s/vendors/other.so", HOSTILE, folder);
	load_all(&apart);
	ck_assert_uint_eq(set->n_vendors, 0);
	expect_refusal("junk.so: cannot be loaded (vendor ABI 1.0 wanted): no ELF image");
	expect_refusal("renamed: it holds the programmer of adaptive routing 'vendor_hostile'");
	RUN("mv %s/vendors/other.so %s/vendors/vendor_hostile.so; rm %s/vendors/junk.so", folder,
	    folder, folder);
	load_all(&apart);
	ck_assert_uint_eq(set->n_vendors, 1);
	RUN("chmod o+w %s/vendors/vendor_hostile.so", folder);
	load_all(&apart);
	ck_assert_uint_eq(set->n_vendors, 0);
	expect_refusal("everybody may write to the file");
	RUN("chmod o-w %s/vendors/*; chmod o+w %s/vendors", folder, folder);
	load_all(&apart);
	ck_assert_uint_eq(set->n_vendors, 0);
	expect_refusal("vendors: everybody may write to the folder");
	RUN("chmod o-w %s/vendors; chmod o+w %s", folder, folder);
	load_all(&apart);
	ck_assert_uint_eq(set->n_vendors, 0);
	expect_refusal("everybody may write to the folder");
	RUN("chmod o-w %s; rm -r %s/vendors", folder, folder);
	load_all(&apart);
	ck_assert_uint_eq(set->n_vendors, 0);
	ck_assert_uint_eq(set->n_refused, 0);
	RUN("mkdir %s/vendors", folder);
#undef RUN
}
END_TEST

/* engine_isolation = none: in this process. */
START_TEST(none_are_isolated)
{
	const struct fm_vendor *v = load(HOSTILE, "vendor_hostile", &APART_NOTHING);
	struct fm_error err;

	ck_assert_ptr_nonnull(v);
	ck_assert_ptr_null(programmer_of(v));
	ck_assert_int_eq(ask(v, IN_BLOCK, VENDOR_NOTHING, &err), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("programmers");
	TCase *tc = tcase_create("programmers");

	if (!apart_is_built())
		return 77; /* without libseccomp */
	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, answers_are_those_of_this_process);
	tcase_add_loop_test(tc, whatever_it_does_has_a_sentence, 0, 4 * N_DEEDS);
	tcase_add_loop_test(
	    tc, what_it_answers_is_held_to_limits, 0, sizeof(answers) / sizeof(*answers));
	tcase_add_test(tc, info_is_held_to_limits);
	tcase_add_test(tc, nobody_writes_after_the_reply);
	tcase_add_test(tc, a_reply_is_to_one_question);
	tcase_add_test(tc, who_fails_is_left);
	tcase_add_loop_test(
	    tc, what_is_loaded_there_has_a_sentence, 0, sizeof(loads) / sizeof(*loads));
	tcase_add_test(tc, files_and_folders_are_judged);
	tcase_add_test(tc, none_are_isolated);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
