/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The store: what is put in is there after a restart; a file that is damaged
 * or not ours is set aside, and a new one takes its place.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/store/store_internal.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"

#define N_LIDS 3000

static char dir[FOLDER_ROOM], file[80], said[1024];

static void
keep_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	(void)arg;
	(void)level;
	(void)subsystem;
	snprintf(said, sizeof(said), "%s", line);
}

static void
setup(void)
{
	folder_make(dir);
	snprintf(file, sizeof(file), "%s/data.mdb", dir);
	said[0] = '\0';
	fm_log_set_sink(keep_log, NULL);
}

static void
teardown(void)
{
	folder_remove(dir);
}

static struct store *
open_store(void)
{
	struct fm_error err = { 0 };
	struct store *s = NULL;

	ck_assert_msg(store_open(dir, &s, &err) == 0, "%s", err.msg);
	return s;
}

static void
fill(void)
{
	static struct store_lid lids[N_LIDS];
	struct fm_error err = { 0 };
	struct store *s = open_store();

	for (unsigned i = 0; i < N_LIDS; i++)
		lids[i] = (struct store_lid){ UINT64_C(0x0002c90000000000) + i,
			(uint16_t)(4 * i + 4), 2 };
	ck_assert_int_eq(store_put_lids(s, lids, N_LIDS, &err), 0);
	ck_assert_int_eq(store_put_mark(s, UINT64_C(0x8123456789abcdef), &err), 0);
	ck_assert(!store_untold(s));
	ck_assert_int_eq(store_put_untold(s, true, &err), 0);
	store_close(s);
}

START_TEST(test_keeps)
{
	struct fm_error err = { 0 };
	struct store *s;

	fill();
	s = open_store();
	ck_assert_uint_eq(store_n_lids(s), N_LIDS);
	for (unsigned i = 0; i < N_LIDS; i++)
		ck_assert_uint_eq(store_lid(s, UINT64_C(0x0002c90000000000) + i), 4 * i + 4);
	ck_assert_uint_eq(store_lids(s)[0].lmc, 2);
	ck_assert_uint_eq(store_lid(s, 1), 0);
	ck_assert(store_mark(s) == UINT64_C(0x8123456789abcdef));
	ck_assert(store_untold(s));
	ck_assert_int_eq(store_put_untold(s, false, &err), 0);
	ck_assert(!store_untold(s));
	ck_assert_str_eq(said, "");
	store_close(s);
}
END_TEST

/* What is no LID is not believed, and that is told; the others are there. */
START_TEST(test_unsound)
{
	static const struct store_lid lids[] = { { 1, 7, 200 }, { 2, 0xc000, 0 }, { 3, 0xbfff, 1 },
		{ 4, 0, 0 }, { 5, 8, 3 }, { 6, 0xbfff, 0 }, { 7, 1, 8 } };
	struct fm_error err = { 0 };
	struct store *s = open_store();

	ck_assert_int_eq(store_put_lids(s, lids, 7, &err), 0);
	store_close(s);
	s = open_store();
	ck_assert_uint_eq(store_n_lids(s), 2);
	ck_assert_uint_eq(store_lid(s, 5), 8);
	ck_assert_uint_eq(store_lid(s, 6), 0xbfff);
	ck_assert_msg(strstr(said, "5 kept LIDs") != NULL, "%s", said);
	store_close(s);
}
END_TEST

/* Those are kept, and no others. */
START_TEST(test_sets)
{
	static const struct store_lid lids[] = { { UINT64_C(0x0002c90000000007), 9, 0 },
		{ 1, 8, 1 }, { UINT64_C(0x0002c90000000003), 16, 2 } };
	struct fm_error err = { 0 };
	uint64_t n_changes;
	struct store *s;

	fill();
	s = open_store();
	n_changes = store_n_lid_changes(s);
	ck_assert_int_eq(store_set_lids(s, lids, 3, &err), 0);
	ck_assert_uint_eq(store_n_lid_changes(s), n_changes + N_LIDS - 2 + 2);
	for (unsigned turn = 0; turn < 2; turn++) {
		ck_assert_uint_eq(store_n_lids(s), 3);
		for (unsigned i = 0; i < 3; i++)
			ck_assert_uint_eq(store_lid(s, lids[i].guid), lids[i].lid);
		ck_assert_uint_eq(store_lid(s, UINT64_C(0x0002c90000000004)), 0);
		store_close(s);
		s = open_store();
	}
	n_changes = store_n_lid_changes(s);
	ck_assert_int_eq(store_set_lids(s, lids, 3, &err), 0); /* as it is */
	ck_assert_uint_eq(store_n_lid_changes(s), n_changes);
	ck_assert_int_eq(store_set_lids(s, lids, 0, &err), 0);
	ck_assert_uint_eq(store_n_lids(s), 0);
	ck_assert_int_eq(store_set_lids(s, lids + 1, 1, &err), 0);
	ck_assert_uint_eq(store_lid(s, 1), 8);
	store_close(s);
}
END_TEST

START_TEST(test_changes_one)
{
	struct store_lid l = { UINT64_C(0x0002c90000000007), 9, 0 };
	struct fm_error err = { 0 };
	struct store *s;

	fill();
	s = open_store();
	ck_assert_int_eq(store_put_lids(s, &l, 1, &err), 0);
	store_close(s);
	s = open_store();
	ck_assert_uint_eq(store_n_lids(s), N_LIDS);
	ck_assert_uint_eq(store_lid(s, l.guid), 9);
	store_close(s);
}
END_TEST

static void
overwrite(off_t at, const void *bytes, size_t n)
{
	int fd = open(file, O_WRONLY | O_CREAT, 0640);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, n, at), (ssize_t)n);
	close(fd);
}

static void
cut_at(off_t bytes)
{
	ck_assert_int_eq(truncate(file, bytes), 0);
}

static void
cut_in_half(void)
{
	struct stat st;

	ck_assert_int_eq(stat(file, &st), 0);
	cut_at(st.st_size / 2 / 4096 * 4096);
}

static void
cut_to_metas(void)
{
	cut_at(8192);
}

static void
cut_to_nothing(void)
{
	cut_at(0);
}

static void
cut_in_meta(void)
{
	cut_at(100);
}

static void
spoil_magic(void)
{
	overwrite(16, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
}

static void
be_text(void)
{
	char text[9000];

	memset(text, 'x', sizeof(text));
	cut_at(0);
	overwrite(0, text, sizeof(text));
}

static void (*const damages[])(
    void) = { cut_in_half, cut_to_metas, cut_in_meta, cut_to_nothing, spoil_magic, be_text };

START_TEST(test_damage)
{
	struct store_lid l = { 7, 8, 0 };
	struct fm_error err = { 0 };
	char aside[100];
	struct store *s;

	fill();
	damages[_i]();
	s = open_store();
	ck_assert_uint_eq(store_n_lids(s), 0);
	ck_assert(store_mark(s) == 0);
	ck_assert_ptr_nonnull(strstr(said, "set aside"));
	ck_assert_ptr_nonnull(strstr(said, file));
	snprintf(aside, sizeof(aside), "%s.bad-1", file);
	ck_assert_int_eq(access(aside, F_OK), 0);
	ck_assert_int_eq(store_put_lids(s, &l, 1, &err), 0);
	store_close(s);
	/* and once more: the first one set aside stays */
	damages[_i]();
	store_close(open_store());
	snprintf(aside, sizeof(aside), "%s.bad-2", file);
	ck_assert_int_eq(access(aside, F_OK), 0);
}
END_TEST

static uint8_t *
read_file(size_t *n)
{
	FILE *f = fopen(file, "r");
	struct stat st;
	uint8_t *bytes;

	ck_assert(f != NULL && fstat(fileno(f), &st) == 0);
	*n = (size_t)st.st_size;
	bytes = malloc(*n);
	ck_assert_uint_eq(fread(bytes, 1, *n, f), *n);
	fclose(f);
	return bytes;
}

/* Put in and taken out again: records, and values so long that they have pages of their own. */
static void
change(struct store *s, struct fm_rng *rng)
{
	static char bytes[20000];
	char name[16];
	struct fm_error err = { 0 };
	MDB_txn *txn;

	mdb_env_set_flags(s->env, MDB_NOSYNC, 1); /* no power fails here */
	for (unsigned i = 1 + fm_rng_below(rng, 20); i > 0; i--) {
		size_t n_name = (size_t)snprintf(name, sizeof(name), "%u", fm_rng_below(rng, 300));
		bool is_out = fm_rng_below(rng, 3) == 0;
		struct store_record r = { name, is_out ? NULL : bytes, n_name, n_name };
		MDB_val key = { n_name, name }, value = { fm_rng_below(rng, 20000), bytes };

		ck_assert_msg(store_put(s, &r, 1, false, &err) == 0, "%s", err.msg);
		ck_assert_int_eq(mdb_txn_begin(s->env, NULL, 0, &txn), 0);
		if (is_out)
			mdb_del(txn, s->aside_db, &key, NULL);
		else
			ck_assert_int_eq(mdb_put(txn, s->aside_db, &key, &value, 0), 0);
		ck_assert_int_eq(mdb_txn_commit(txn), 0);
	}
}

/* What LMDB writes is never taken for damaged. */
START_TEST(test_sound)
{
	struct fm_rng rng;
	struct store *s;

	ck_assert_int_eq(store_check(dir, NULL), 0); /* nothing there */
	fill();
	fm_rng_seed(&rng, 1);
	for (unsigned i = 0; i < n_cases(100); i++) {
		s = open_store();
		change(s, &rng);
		ck_assert_int_eq(store_check(dir, NULL), 0);
		store_close(s);
	}
	ck_assert_str_eq(said, "");
}
END_TEST

/* Does the file end before the last page that LMDB counts? */
static bool
is_short(struct store *s)
{
	MDB_envinfo info;
	struct stat st;

	ck_assert_int_eq(mdb_env_info(s->env, &info), 0);
	ck_assert_int_eq(stat(file, &st), 0);
	return (size_t)st.st_size / 4096 <= info.me_last_pgno;
}

/* A thousand records come and a thousand go at once: of the pages that such a transaction takes
 * it gives some back, which are never written.  The file is sound. */
START_TEST(test_short)
{
	enum { N = 1000 };
	static struct store_record r[3 * N]; /* some, others, none of the first any more */
	static char name[2 * N][8];
	struct fm_error err = { 0 };
	struct store *s;

	fill();
	for (unsigned i = 0; i < 3 * N; i++) {
		char *key = name[i % (2 * N)];
		size_t n = (size_t)snprintf(key, sizeof(name[0]), "%u", i % (2 * N));

		r[i] = (struct store_record){ key, i < 2 * N ? key : NULL, n, n };
	}
	s = open_store();
	for (unsigned i = 0; i < 20 && !is_short(s); i++) {
		ck_assert_int_eq(store_put(s, r, N, false, &err), 0);
		ck_assert_int_eq(store_put(s, r + N, 2 * N, false, &err), 0);
	}
	ck_assert(is_short(s));
	store_close(s);
	s = open_store();
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(store_n_lids(s), N_LIDS);
	ck_assert_int_eq(store_put(s, r, 2 * N, false, &err), 0);
	ck_assert_int_eq(store_check(dir, NULL), 0);
	store_close(s);
}
END_TEST

static bool
visit(void *arg, const struct store_record *r)
{
	unsigned *sum = arg;

	for (size_t i = 0; i < r->n_value; i++)
		*sum += ((const uint8_t *)r->value)[i];
	return true;
}

/* Bytes spoilt anywhere: the file is set aside or used, for reading and for writing. */
START_TEST(test_spoilt)
{
	unsigned n_sound = 0, n_aside = 0, sum = 0;
	struct fm_error err = { 0 };
	struct fm_rng rng;
	struct store *s;
	uint8_t *bytes;
	uint32_t n;
	size_t size;

	fill();
	fm_rng_seed(&rng, 1);
	s = open_store();
	change(s, &rng);
	store_close(s);
	bytes = read_file(&size);
	for (unsigned i = 0; i < n_cases(400); i++) {
		char command[300];

		snprintf(command, sizeof(command), "rm -f %s/*", dir);
		ck_assert_int_eq(system(command), 0);
		overwrite(0, bytes, size);
		for (unsigned k = 1u << fm_rng_below(&rng, 8); k > 0; k--) {
			/* the first bytes of a page are what LMDB goes by */
			uint32_t page = fm_rng_below(&rng, (uint32_t)(size / 4096));
			uint32_t at = fm_rng_below(&rng, fm_rng_below(&rng, 2) == 0 ? 64 : 4096);
			uint8_t byte = (uint8_t)fm_rng_next(&rng);

			overwrite((off_t)page * 4096 + at, &byte, 1);
		}
		said[0] = '\0';
		s = open_store();
		n_aside += strstr(said, "set aside as") != NULL;
		n_sound += said[0] == '\0';
		ck_assert_int_eq(store_each(s, visit, &sum, &n, &err), 0);
		change(s, &rng);
		store_close(s);
	}
	free(bytes);
	ck_assert_uint_gt(n_aside, n_cases(400) / 4);
	ck_assert_uint_gt(n_sound, 0);
}
END_TEST

/* A process opens the store, marks what it is told, and is gone: killed, or by closing it. */
static void
live_and_die(const char *marks, bool closes)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct store *s = open_store();

		for (; *marks != '\0'; marks++)
			store_set_pending(s, *marks == '+');
		if (closes)
			store_close(s);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool
was_cut_off(void)
{
	struct store *s = open_store();
	bool was = store_was_cut_off(s);

	store_close(s);
	return was;
}

START_TEST(test_cut_off)
{
	char path[300], byte = 'x';
	int fd;

	ck_assert(!was_cut_off()); /* a new one */
	live_and_die("+", false);
	ck_assert(was_cut_off());
	ck_assert(!was_cut_off()); /* that has been said */
	live_and_die("+-", false);
	ck_assert(!was_cut_off());
	live_and_die("-+", true); /* it could not write it */
	ck_assert(was_cut_off());
	live_and_die("-", false);
	snprintf(path, sizeof(path), "%s/pending", dir);
	fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, &byte, 1), 1); /* another boot */
	close(fd);
	ck_assert(was_cut_off());
	live_and_die("-", true);
	fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, &byte, 1), 1);
	close(fd);
	ck_assert(!was_cut_off());
}
END_TEST

/* The other process holds it and waits to be killed. */
static void
hold(int told)
{
	open_store();
	ck_assert_int_eq(write(told, "x", 1), 1);
	for (;;)
		pause();
}

/* One process has the directory, and another as soon as that is gone, however it came. */
START_TEST(test_in_use)
{
	struct fm_error err = { 0 };
	struct store *s = NULL;
	char expected[100], byte;
	int told[2];
	pid_t child;

	ck_assert_int_eq(pipe(told), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		hold(told[1]);
	ck_assert_int_eq(read(told[0], &byte, 1), 1);
	ck_assert_int_eq(store_open(dir, &s, &err), FM_E_SYSTEM);
	snprintf(expected, sizeof(expected), "%s is in use by process %d", dir, (int)child);
	ck_assert_msg(strstr(err.msg, expected) != NULL, "%s", err.msg);
	ck_assert_int_eq(store_open(dir, &s, &err), FM_E_SYSTEM); /* having looked is no hold */
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	store_close(open_store());
	close(told[0]);
	close(told[1]);
}
END_TEST

static struct store *
open_to_read(void)
{
	struct fm_error err = { 0 };
	struct store *s = NULL;

	ck_assert_msg(store_open_to_read(dir, &s, &err) == 0, "%s", err.msg);
	return s;
}

static void
look(void)
{
	struct store_lid l = { 7, 8, 0 };
	struct fm_error err = { 0 };
	struct store *s = open_to_read();

	ck_assert_uint_eq(store_n_lids(s), N_LIDS);
	ck_assert(store_mark(s) == UINT64_C(0x8123456789abcdef));
	ck_assert_int_eq(store_put_lids(s, &l, 1, &err), 0);
	ck_assert_uint_eq(store_lid(s, 7), 8);
	store_close(s);
	ck_assert_str_eq(said, "");
}

/* Who reads sees what is kept, keeps nothing, and takes nothing from who has it open. */
START_TEST(test_reads)
{
	struct store *s;
	pid_t child;
	int status;

	fill();
	s = open_store();
	store_set_pending(s, true);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		look();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	store_close(s);
	s = open_store();
	ck_assert_uint_eq(store_lid(s, 7), 0);
	ck_assert(store_was_cut_off(s)); /* as it has not said otherwise */
	store_close(s);
}
END_TEST

START_TEST(test_reads_damaged)
{
	char aside[100];
	struct store *s;

	fill();
	cut_in_half();
	s = open_to_read();
	ck_assert_uint_eq(store_n_lids(s), 0);
	ck_assert_msg(strstr(said, file) != NULL && strstr(said, "damaged") != NULL, "%s", said);
	store_close(s);
	snprintf(aside, sizeof(aside), "%s.bad-1", file);
	ck_assert(access(aside, F_OK) != 0 && access(file, F_OK) == 0);
}
END_TEST

START_TEST(test_reads_nothing)
{
	struct store_lid l = { 7, 8, 0 };
	struct fm_error err = { 0 };
	struct store *s;

	ck_assert_int_eq(rmdir(dir), 0);
	s = open_to_read();
	ck_assert_uint_eq(store_n_lids(s), 0);
	ck_assert_int_eq(store_put_lids(s, &l, 1, &err), 0);
	ck_assert_uint_eq(store_lid(s, 7), 8);
	store_close(s);
	ck_assert(access(dir, F_OK) != 0);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
}
END_TEST

/* On a disk of our own that is full, with a store of a version before marks; exit code: 0 it is
 * opened, 77 there is no such disk to be had (but by root). */
static void
open_on_full_disk(void)
{
	static const char zeros[4096];
	char path[300];
	int fd;

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", dir, "tmpfs", 0, "size=256k") != 0)
		_exit(77);
	store_close(open_store());
	snprintf(path, sizeof(path), "%s/pending", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/other", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
	said[0] = '\0';
	store_close(open_store());
	_exit(strstr(said, "No space left") == NULL);
}

START_TEST(test_full_disk)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		open_on_full_disk();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
	ck_assert(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
}
END_TEST

static struct store *
open_without(const char *why)
{
	struct store *s = open_store();

	if (strstr(said, why) == NULL || strstr(said, "runs without a store") == NULL ||
	    store_why_none(s) == NULL || strstr(store_why_none(s), why) == NULL)
		_exit(3);
	return s;
}

/* All that is put is there, as long as we are. */
static void
use_without(struct store *s)
{
	static const struct store_record r = { "key", "value", 3, 5 };
	struct store_lid l = { 7, 8, 0 };
	struct fm_error err = { 0 };
	unsigned sum = 0;
	uint32_t n;

	store_set_pending(s, true);
	if (store_put_lids(s, &l, 1, &err) != 0 || store_lid(s, 7) != 8 ||
	    store_put_mark(s, 5, &err) != 0 || store_mark(s) != 5 ||
	    store_put(s, &r, 1, true, &err) != 0 || store_each(s, visit, &sum, &n, &err) != 0)
		_exit(4);
	store_close(s);
}

/* The disk has been full since before fmd first ran on it. */
static void
begin_on_full_disk(void)
{
	static const char zeros[4096];
	char path[300];
	int fd;

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", dir, "tmpfs", 0, "size=16k,mode=0750") != 0)
		_exit(77);
	snprintf(path, sizeof(path), "%s/other", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
	use_without(open_without("No space left"));
	unlink(path);
	said[0] = '\0';
	store_close(open_store()); /* started again, with room */
	_exit(said[0] == '\0' ? 0 : 5);
}

/* Nor may a file be longer than so much, whatever that is. */
static void
begin_with_limit(void)
{
	static const rlim_t limits[] = { 0, 1, 4096, 8192, 12288, 16384, 65536 };

	signal(SIGXFSZ, SIG_IGN);
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit l = { limits[i], RLIM_INFINITY };
		struct store *s;

		if (setrlimit(RLIMIT_FSIZE, &l) != 0)
			_exit(2);
		s = limits[i] < 8192 ? open_without("") : open_store();
		if (store_why_none(s) != NULL)
			use_without(s);
		else
			store_close(s);
	}
	_exit(0);
}

static void (*const without[])(void) = { begin_on_full_disk, begin_with_limit };

START_TEST(test_without)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		without[_i]();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
	ck_assert_msg(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77, "exit code %d",
	    WEXITSTATUS(status));
}
END_TEST

/* A link that somebody has put there is not followed, and what it leads to stays as it is. */
START_TEST(test_links)
{
	static const char *const names[] = { "lock", "data.mdb", "pending" };
	struct fm_error err = { 0 };
	struct store *s = NULL;
	char path[300], target[300];
	struct stat st;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", dir, names[_i]);
	snprintf(target, sizeof(target), "%s/elsewhere", dir);
	ck_assert_int_eq(symlink(target, path), 0);
	rc = store_open(dir, &s, &err);
	ck_assert_int_ne(stat(target, &st), 0);
	ck_assert_msg(
	    strstr(rc != 0 ? err.msg : said, "symbolic link") != NULL, "%s%s", err.msg, said);
	if (rc == 0)
		store_close(s);
}
END_TEST

START_TEST(test_open_to_all)
{
	ck_assert_int_eq(chmod(dir, 0777), 0);
	store_close(open_store());
	ck_assert_msg(strstr(said, "chmod o-w") != NULL, "%s", said);
}
END_TEST

START_TEST(test_no_directory)
{
	struct fm_error err = { 0 };
	struct store *s = NULL;

	ck_assert_int_eq(store_open("/nonexistent/fmd/state", &s, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/fmd/state"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("store");
	TCase *t = tcase_create("store");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_keeps);
	tcase_add_test(t, test_changes_one);
	tcase_add_test(t, test_sets);
	tcase_add_test(t, test_unsound);
	tcase_add_loop_test(t, test_damage, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_test(t, test_sound);
	tcase_add_test(t, test_short);
	tcase_add_test(t, test_spoilt);
	tcase_add_test(t, test_no_directory);
	tcase_add_test(t, test_cut_off);
	tcase_add_test(t, test_in_use);
	tcase_add_test(t, test_reads);
	tcase_add_test(t, test_reads_damaged);
	tcase_add_test(t, test_reads_nothing);
	tcase_add_test(t, test_full_disk);
	tcase_add_test(t, test_open_to_all);
	tcase_add_loop_test(t, test_without, 0, sizeof(without) / sizeof(without[0]));
	tcase_add_loop_test(t, test_links, 0, 3);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
