/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading engines: what is found, in which order, and the sentence of every
 * refusal.  The modules are built in tests/modules; each case copies what it
 * needs into a folder of its own.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmd/own.h>

#include "core/abi/plugin_check.h"
#include "core/engine/plugin.h"
#include "lib/error.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"

#define MODULES "tests/modules/.libs/"

static char folder[2][FOLDER_ROOM];

static void
make_folders(void)
{
	for (int i = 0; i < 2; i++)
		folder_make(folder[i]);
}

static void
remove_folders(void)
{
	for (int i = 0; i < 2; i++)
		folder_remove(folder[i]);
}

/* Copy at most n_bytes of a module under another name. */
static void
copy(const char *module, const char *to_folder, const char *as, size_t n_bytes)
{
	static char bytes[1 << 20];
	char from[256], to[256];
	size_t n;
	FILE *f;

	snprintf(from, sizeof(from), MODULES "%s", module);
	f = fopen(from, "rb");
	ck_assert_msg(f != NULL, "cannot open %s", from);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	snprintf(to, sizeof(to), "%s/%s", to_folder, as);
	f = fopen(to, "wb");
	ck_assert_ptr_nonnull(f);
	n = n < n_bytes ? n : n_bytes;
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void
load(struct engine_set *set)
{
	const char *dirs[] = { folder[0], folder[1], NULL };
	struct fm_error err;

	ck_assert_msg(engine_set_load(set, dirs, &err) == 0, "%s", err.msg);
}

/* The refusal of NAME in folder i. */
static const struct engine_refusal *
refusal(const struct engine_set *set, int i, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder[i], name);
	for (uint32_t r = 0; r < set->n_refused; r++)
		if (strcmp(set->refused[r].path, path) == 0)
			return &set->refused[r];
	ck_abort_msg("%s was not refused", path);
	return NULL;
}

static const struct {
	const char *module, *as;
	size_t n_bytes;
	const char *says[3]; /* each must be in the sentence */
} bad[] = {
	{ "bad_magic.so", "bad_magic.so", SIZE_MAX,
	    { "magic 0x12345678 is not 0x464d4431 (ABI 1.0)", "another machine" } },
	{ "bad_major.so", "bad_major.so", SIZE_MAX,
	    { "engine ABI 8.3, this fmd has 1.0", "rebuild the engine" } },
	{ "bad_minor.so", "bad_minor.so", SIZE_MAX,
	    { "engine ABI 1.1 is newer than the 1.0 of this fmd", "update fmd" } },
	{ "bad_size.so", "bad_size.so", SIZE_MAX,
	    { "descriptor of 40 bytes, engine ABI 1.0 has 64", "this fmd 1.0", ".size was set" } },
	{ "bad_route.so", "bad_route.so", SIZE_MAX,
	    { "no route callback", "ABI 1.0, this fmd 1.0" } },
	{ "bad_name.so", "bad_name.so", SIZE_MAX,
	    { "calls itself 'someone_else'", "must be the same" } },
	{ "bad_symbol.so", "bad_symbol.so", SIZE_MAX,
	    { "undefined symbol: nobody_defines_this", "other headers", "ABI 1.0" } },
	{ "bad_library.so", "bad_library.so", SIZE_MAX,
	    { "does not export bad_library_LTX_fm_engine", "FM_ENGINE(bad_library, ...)" } },
	{ "bad_option.so", "bad_option.so", SIZE_MAX,
	    { "option depth: default: depth = 99 is outside 1..64 hops" } },
	{ "bad_alias.so", "bad_alias.so", SIZE_MAX,
	    { "its alias 'good' is the name of the engine of ", "take another" } },
	{ "good.so", "renamed.so", SIZE_MAX,
	    { "it holds the engine 'good'", "looks for 'renamed'", "call it good.so" } },
	{ "good.so", "good2.so", 100, { "the file ends before its contents", "cut short" } },
	{ "good.so", "short.so", 3000, { "cannot be loaded", "cut short", "ABI 1.0" } },
	{ "good.so", "empty.so", 0, { "the file is empty", "cut short" } },
	{ "../../../Makefile", "text.so", SIZE_MAX, { "no ELF image", "not a shared object" } },
};

START_TEST(refusals_say_why)
{
	struct engine_set set;
	const struct engine_refusal *r;

	copy(bad[_i].module, folder[0], bad[_i].as, bad[_i].n_bytes);
	copy("good.so", folder[0], "good.so", SIZE_MAX);
	load(&set);
	r = refusal(&set, 0, bad[_i].as);
	ck_assert_msg(
	    strncmp(r->reason, r->path, strlen(r->path)) == 0, "no path leads: %s", r->reason);
	for (int k = 0; k < 3 && bad[_i].says[k] != NULL; k++)
		ck_assert_msg(strstr(r->reason, bad[_i].says[k]) != NULL, "'%s' is not in: %s",
		    bad[_i].says[k], r->reason);
	ck_assert_uint_eq(set.n_refused, 1);
	ck_assert_ptr_nonnull(engine_find(&set, "good"));
	engine_set_fini(&set);
}
END_TEST

/* ------------------------------------------------------- descriptors, one by one */

struct opts {
	int64_t depth;
	bool strict;
	struct fm_nodeset roots;
};
#define DEPTH .type = FM_OPT_INT, .def = "1", .max = 9, .help = "Depth."
#define STRICT .type = FM_OPT_BOOL, .offset = offsetof(struct opts, strict), .help = "Strict."
#define ROOTS .type = FM_OPT_NODES, .help = "Roots."
#define END \
	{ \
		.type = FM_OPT_END \
	}
static const struct fm_option misaligned[] = { { .name = "depth", .offset = 4, DEPTH }, END };
static const struct fm_option odd_roots[] = { { .name = "roots", .offset = 9, ROOTS }, END };
static const struct fm_option overlapping[] = { { .name = "roots", .offset = 0, ROOTS },
	{ .name = "depth", .offset = 16, DEPTH }, END };
static const struct fm_option twice[] = { { .name = "depth", DEPTH }, { .name = "depth", DEPTH },
	END };
static const struct fm_option blanks[] = { { .name = "the depth", DEPTH }, END };
static const struct fm_option reserved[] = { { .name = "time_limit", DEPTH }, END };
static const struct fm_option no_default[] = { { .name = "strict", STRICT }, END };
static const struct {
	struct fm_option row[1];
	uintptr_t behind[sizeof(struct fm_option) / sizeof(uintptr_t)];
} no_end = { { { .name = "depth", DEPTH } }, { 8, FM_OPT_BOOL } };
static const struct fm_option sound[] = { { .name = "depth", DEPTH },
	{ .name = "strict", .def = "no", STRICT },
	{ .name = "roots", .offset = offsetof(struct opts, roots), ROOTS }, END };

static int
route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	return 0;
}

static const struct {
	uint16_t major, minor;
	uint32_t size, traits, option_row_size;
	const struct fm_option *options;
	const char *says; /* NULL: it is taken */
} descriptors[] = {
	{ 1, 0, 64, FM_PROVIDES_LFT, 64, sound, NULL },
	{ 1, 0, 64, FM_PROVIDES_LFT | FM_PROVIDES_SL, 0, NULL, NULL },
	{ 0, 2, 64, FM_PROVIDES_LFT, 64, sound,
	    "engine ABI 0.2, this fmd has 1.0 and needs the same" },
	{ 2, 0, 64, FM_PROVIDES_LFT, 64, sound,
	    "engine ABI 2.0, this fmd has 1.0 and needs the same" },
	{ 1, 1, 64, FM_PROVIDES_LFT, 64, sound,
	    "engine ABI 1.1 is newer than the 1.0 of this fmd" },
	{ 1, 0, 63, FM_PROVIDES_LFT, 64, sound, "descriptor of 63 bytes, engine ABI 1.0 has 64" },
	{ 1, 0, 72, FM_PROVIDES_LFT, 64, sound, "descriptor of 72 bytes, engine ABI 1.0 has 64" },
	{ 1, 0, 4000, FM_PROVIDES_LFT, 64, sound, "descriptor of 4000 bytes" },
	{ 1, 0, 64, 0, 64, sound, ".traits lacks FM_PROVIDES_LFT" },
	{ 1, 0, 64, FM_PROVIDES_SL, 64, sound, ".traits lacks FM_PROVIDES_LFT" },
	{ 1, 0, 64, FM_PROVIDES_LFT | 1u << 30, 64, sound, ".traits has bits 0x40000000" },
	{ 1, 0, 64, FM_PROVIDES_LFT, 8, sound, "option rows of 8 bytes, engine ABI 1.0 has " },
	{ 1, 0, 64, FM_PROVIDES_LFT, 128, sound, "option rows of 128 bytes" },
	{ 1, 0, 64, FM_PROVIDES_LFT, 64, misaligned, "option depth: offset 4 is no multiple of 8" },
	{ 1, 0, 64, FM_PROVIDES_LFT, 64, odd_roots, "option roots: offset 9 is no multiple of 8" },
	{ 1, 0, 64, FM_PROVIDES_LFT, 64, overlapping,
	    "option depth: offset 16, 8 bytes: there is option roots" },
	{ 1, 0, 64, FM_PROVIDES_LFT, 64, twice, "option depth: declared twice" },
	{ 1, 0, 64, FM_PROVIDES_LFT, 64, blanks, "option 'the depth': a name is letters" },
	{ 1, 0, 64, FM_PROVIDES_LFT, 64, reserved, "option time_limit: every engine's section" },
	{ 1, 0, 64, FM_PROVIDES_LFT, 64, no_default, "option strict: no .def" },
	{ 1, 0, 64, FM_PROVIDES_LFT, 64, no_end.row,
	    "option row 1 is none: { .type = FM_OPT_END }" },
};

START_TEST(descriptors_are_judged)
{
	const struct fm_engine e = { .magic = FM_ABI_MAGIC,
		.abi_major = descriptors[_i].major,
		.abi_minor = descriptors[_i].minor,
		.size = descriptors[_i].size,
		.name = "some",
		.summary = "Some engine.",
		.traits = descriptors[_i].traits,
		.option_row_size = descriptors[_i].option_row_size,
		.options = descriptors[_i].options,
		.options_size = sizeof(struct opts),
		.route = route };
	struct fm_error err = { 0 };
	int rc = engine_check(&e, "some.so", &err);

	if (descriptors[_i].says == NULL) {
		ck_assert_msg(rc == 0, "%s", err.msg);
		return;
	}
	ck_assert_int_eq(rc, FM_E_CONFIG);
	ck_assert_msg(strncmp(err.msg, "some.so: ", 9) == 0, "%s", err.msg);
	ck_assert_msg(strstr(err.msg, descriptors[_i].says) != NULL, "%s", err.msg);
}
END_TEST

/* A larger descriptor, and bits of .traits that others have not. */
START_TEST(what_is_for_fmds_own_engines_is_refused_of_others)
{
	struct fm_own_engine own = { .engine = { .magic = FM_ABI_MAGIC,
					 .abi_major = FM_ABI_MAJOR,
					 .size = sizeof(struct fm_engine),
					 .name = "some",
					 .summary = "Some engine.",
					 .traits = FM_PROVIDES_LFT | FM_WRITES_WHOLE_ROWS,
					 .route = route },
		.layout = FM_OWN_LAYOUT };
	struct fm_error err = { 0 };

	ck_assert_int_eq(engine_check(&own.engine, "some.so", &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, ".traits has bits 0x2000000, which") != NULL, "%s", err.msg);
	own.engine.size = sizeof(own);
	ck_assert_msg(engine_check(&own.engine, "some.so", &err) == 0, "%s", err.msg);
	own.layout++;
	ck_assert_int_eq(engine_check(&own.engine, "some.so", &err), FM_E_CONFIG);
	ck_assert_msg(
	    strstr(err.msg, "it is part of another version of fmd") != NULL, "%s", err.msg);
}
END_TEST

/* The layout that 1.0 had while it was written: a tree behind route(). */
START_TEST(a_draft_of_this_version_is_refused)
{
	struct fm_engine e = { .magic = FM_ABI_MAGIC,
		.abi_major = 1,
		.size = 72,
		.option_row_size = 72,
		.name = "some",
		.summary = "Some engine.",
		.traits = FM_PROVIDES_LFT,
		.route = route };
	struct fm_error err = { 0 };

	ck_assert_int_eq(engine_check(&e, "some.so", &err), FM_E_CONFIG);
	ck_assert_msg(
	    strstr(err.msg, "some.so: descriptor of 72 bytes, engine ABI 1.0 has 64") != NULL, "%s",
	    err.msg);
}
END_TEST

START_TEST(second_of_a_name_is_refused)
{
	struct engine_set set;

	copy("good.so", folder[0], "good.so", SIZE_MAX);
	copy("good.so", folder[1], "good.so", SIZE_MAX);
	load(&set);
	ck_assert_uint_eq(set.n_engines, 2); /* and auto */
	ck_assert(strncmp(set.engines[1].path, folder[0], strlen(folder[0])) == 0);
	ck_assert_ptr_nonnull(strstr(refusal(&set, 1, "good.so")->reason, folder[0]));
	ck_assert_ptr_nonnull(strstr(refusal(&set, 1, "good.so")->reason, "came first"));
	engine_set_fini(&set);
}
END_TEST

START_TEST(alias_and_nearest)
{
	struct engine_set set;

	copy("good.so", folder[0], "good.so", SIZE_MAX);
	load(&set);
	ck_assert_ptr_eq(engine_find(&set, "fine"), engine_find(&set, "good"));
	ck_assert_ptr_null(engine_find(&set, "god"));
	ck_assert_str_eq(engine_nearest(&set, "god"), "good");
	ck_assert_str_eq(engine_nearest(&set, "fien"), "fine");
	ck_assert_ptr_null(engine_nearest(&set, "torus2qos"));
	engine_set_fini(&set);
}
END_TEST

START_TEST(other_files_are_not_looked_at)
{
	struct engine_set set;

	copy("good.so", folder[0], "good.so.bak", SIZE_MAX);
	copy("good.so", folder[0], ".good.so", SIZE_MAX);
	load(&set);
	ck_assert_uint_eq(set.n_engines, 1); /* auto, which is no file */
	ck_assert_str_eq(set.engines[0].path, "built in");
	ck_assert_uint_eq(set.n_refused, 0);
	engine_set_fini(&set);
}
END_TEST

/* Who can write to a file, or owns it, can have fmd run what he likes. */
static const struct {
	const char *command, *says; /* run in the folder; NULL: good.so is taken */
	bool as_root;
} owners[] = {
	{ "chmod 755 good.so", NULL, false },
	{ "chmod 777 good.so", "everybody may write to the file (mode 0777): chmod o-w it", false },
	{ "chmod 775 good.so", NULL, false }, /* its group is ours */
	{ "chgrp 12345 good.so; chmod 775 good.so", "group 12345 may write to the file (mode 0775)",
	    true },
	{ "chown 12345 good.so",
	    "the file is owned by user 12345: a plugin runs only from files and folders of root "
	    "or "
	    "of the user that fmd runs as",
	    true },
	{ "chmod 777 .", "everybody may write to the folder (mode 0777): chmod o-w it", false },
	{ "chown 12345 .", "the folder is owned by user 12345", true },
	{ "mkdir sub; mv good.so sub; ln -s sub/good.so good.so",
	    "a symlink that leads out of its folder, to ", false },
	{ "mv good.so good; ln -s good good.so", NULL, false },
	{ "rm good.so; ln -s /dev/zero good.so", "a symlink that leads out", false },
	{ "rm good.so; mkfifo good.so", "no file of at most 256 MiB", false },
	{ "rm good.so; ln -s nothing good.so", "No such file or directory", false },
};

START_TEST(owners_and_modes)
{
	struct engine_set set;
	char command[512];

	if (owners[_i].as_root && geteuid() != 0)
		return;
	copy("good.so", folder[0], "good.so", SIZE_MAX);
	snprintf(command, sizeof(command), "cd %s && { %s; }", folder[0], owners[_i].command);
	ck_assert_int_eq(system(command), 0);
	load(&set);
	if (owners[_i].says == NULL) {
		ck_assert_ptr_nonnull(engine_find(&set, "good"));
		ck_assert_uint_eq(set.n_refused, 0);
	} else {
		ck_assert_ptr_null(engine_find(&set, "good"));
		ck_assert_uint_eq(set.n_refused, 1);
		ck_assert_msg(strstr(set.refused[0].reason, owners[_i].says) != NULL, "%s",
		    set.refused[0].reason);
	}
	engine_set_fini(&set);
}
END_TEST

/* A file that is damaged in any byte ends in a sentence before it is run, or may be an engine; it
 * never ends this program. */
START_TEST(damaged_images)
{
	static char bytes[1 << 20], mad[1 << 20];
	struct fm_rng rng = { 0 };
	char path[256];
	size_t n, n_mad;
	FILE *f;

	snprintf(path, sizeof(path), MODULES "good.so");
	f = fopen(path, "rb");
	ck_assert_ptr_nonnull(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	fm_rng_seed(&rng, 7 + (uint64_t)_i);
	for (uint32_t k = 0; k < n_cases(2000); k++) {
		struct fm_error err = { 0 };
		uint32_t changes = 1 + fm_rng_below(&rng, 8);
		int rc;

		memcpy(mad, bytes, n);
		n_mad = k % 4 == 0 ? fm_rng_below(&rng, (uint32_t)n) : n;
		for (uint32_t c = 0; c < changes; c++) {
			/* headers of the file and of its sections, or anywhere */
			size_t at = fm_rng_below(&rng, 3) == 0 ? fm_rng_below(&rng, 512)
							       : n - 1 -
				fm_rng_below(&rng, (uint32_t)(fm_rng_below(&rng, 2) ? 4096 : n));

			mad[at] = (char)fm_rng_below(&rng, 256);
		}
		rc = plugin_file_check(&plugin_engine, "mad.so", "good", mad, n_mad, &err);
		ck_assert(rc == 0 || (rc == FM_E_CONFIG && strlen(err.msg) > 10));
	}
}
END_TEST

START_TEST(missing_directory)
{
	const char *dirs[] = { "/nonexistent/fmd", NULL };
	struct engine_set set;
	struct fm_error err;

	ck_assert_int_eq(engine_set_load(&set, dirs, &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "plugin directory /nonexistent/fmd: No such file or directory");
	engine_set_fini(&set); /* harmless */
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("plugin");
	TCase *tc = tcase_create("load");

	tcase_add_checked_fixture(tc, make_folders, remove_folders);
	tcase_add_loop_test(tc, refusals_say_why, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_loop_test(
	    tc, descriptors_are_judged, 0, sizeof(descriptors) / sizeof(*descriptors));
	tcase_add_test(tc, what_is_for_fmds_own_engines_is_refused_of_others);
	tcase_add_test(tc, a_draft_of_this_version_is_refused);
	tcase_add_test(tc, second_of_a_name_is_refused);
	tcase_add_test(tc, alias_and_nearest);
	tcase_add_test(tc, other_files_are_not_looked_at);
	tcase_add_loop_test(tc, owners_and_modes, 0, sizeof(owners) / sizeof(*owners));
	tcase_add_loop_test(tc, damaged_images, 0, 4);
	tcase_add_test(tc, missing_directory);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
