/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is registered on its way to the disk: who answers does not wait for it, what
 * changes meanwhile is one commit, and what could not be written is written later.
 */
#include <check.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/registry/saver.h"
#include "lib/faultpoint.h"
#include "lib/log.h"
#include "tests/folder.h"
#include "tests/run.h"

#define MASK_SERVICE (SA_SR_ID | SA_SR_GID | SA_SR_PKEY | SA_SR_LEASE | SA_SR_KEY | SA_SR_NAME)
#define PATIENCE_MS 60000

static struct registry_settings set;
static struct registry *r;
static struct store *store;
static char dir[FOLDER_ROOM];
static atomic_uint n_commits, n_committed;
static sem_t gate; /* of commits, while it is shut */
static atomic_bool shut;

static void
on_commit(const char *what, const char *which)
{
	if (strcmp(which, "records") != 0)
		return;
	if (strcmp(what, "committed") == 0) {
		atomic_fetch_add(&n_committed, 1);
		return;
	}
	atomic_fetch_add(&n_commits, 1);
	if (atomic_load(&shut))
		sem_wait(&gate);
}

static void
drop_line(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	(void)arg;
	(void)level;
	(void)subsystem;
	(void)line;
}

static void
setup(void)
{
	struct fm_error err = { 0 };

	folder_make(dir);
	fm_log_set_sink(drop_line, NULL);
	sem_init(&gate, 0, 0);
	atomic_store(&shut, false);
	atomic_store(&n_commits, 0);
	atomic_store(&n_committed, 0);
	fm_fault_point_hook(on_commit);
	ck_assert_msg(store_open(dir, &store, &err) == 0, "%s", err.msg);
	registry_settings_default(&set);
	r = registry_new(&set);
	ck_assert_ptr_nonnull(r);
}

static void
teardown(void)
{
	registry_free(r);
	store_close(store);
	fm_fault_point_hook(NULL);
	sem_destroy(&gate);
	folder_remove(dir);
}

static int64_t
wall_s(void)
{
	return 50000;
}

static void
register_one(uint64_t id)
{
	struct sa_service_record want = { .id = id,
		.gid = { UINT64_C(0xfe80000000000000), id },
		.pkey = 0xffff,
		.lease_s = UINT32_MAX },
				 got;

	snprintf((char *)want.name, sizeof(want.name), "%u", (unsigned)id);
	ck_assert_uint_eq(registry_set_service(r, &want, MASK_SERVICE, id, false, 0, &got), SA_OK);
}

static void
pause_a_little(void)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

static void
await(atomic_uint *what, unsigned n)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(what) < n; i++)
		pause_a_little();
	ck_assert_uint_eq(atomic_load(what), n);
}

/* Ticks from *now_ms on, one each ms, until nothing is left to write. */
static void
tick_until_written(struct saver *s, int64_t *now_ms)
{
	for (int i = 0; i < PATIENCE_MS && saver_tick(s, ++*now_ms) != INT64_MAX; i++)
		pause_a_little();
	ck_assert_int_eq(saver_tick(s, ++*now_ms), INT64_MAX);
}

/* What another process would find. */
static void
expect_in_store(uint32_t n)
{
	struct fm_error err = { 0 };
	struct registry *other = registry_new(&set);

	ck_assert(registry_load(other, store, 0, wall_s(), &err) == 0);
	ck_assert_uint_eq(registry_n_services(other), n);
	registry_free(other);
}

START_TEST(ticks_do_not_wait_for_the_disk)
{
	struct saver *s = saver_new(r, store, wall_s, true);
	int64_t now_ms = 1000;

	atomic_store(&shut, true);
	register_one(1);
	saver_tick(s, now_ms);
	await(&n_commits, 1); /* and there it hangs */
	for (uint64_t id = 2; id <= 100; id++) {
		register_one(id);
		now_ms += 50;
		ck_assert_int_lt(saver_tick(s, now_ms), INT64_MAX); /* returns */
	}
	ck_assert_uint_eq(atomic_load(&n_commits), 1);
	ck_assert_uint_eq(atomic_load(&n_committed), 0);
	atomic_store(&shut, false);
	sem_post(&gate);
	tick_until_written(s, &now_ms);
	ck_assert_uint_eq(atomic_load(&n_committed), 2); /* 99 of them in one */
	saver_free(s);
	expect_in_store(100);
}
END_TEST

START_TEST(a_crowd_is_few_commits)
{
	struct saver *s = saver_new(r, store, wall_s, true);
	int64_t now_ms = 1000;
	unsigned n;

	for (uint64_t id = 1; id <= 200; id++) { /* in 100 ms */
		register_one(id);
		now_ms += id & 1;
		saver_tick(s, now_ms);
	}
	n = atomic_load(&n_commits);
	ck_assert_uint_le(n, 11);
	tick_until_written(s, &now_ms);
	saver_free(s);
	expect_in_store(200);
}
END_TEST

/* How the store would be found by the next process, were this one killed now. */
static uint8_t
state_in_file(void)
{
	char path[300];
	uint8_t bytes[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/pending", dir);
	f = fopen(path, "rb");
	ck_assert_ptr_nonnull(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	ck_assert_uint_ge(n, 49);
	return bytes[48];
}

START_TEST(what_is_answered_is_pending_until_it_is_written)
{
	enum { KEPT = 1, PENDING = 2 };
	struct saver *s = saver_new(r, store, wall_s, _i == 0);
	int64_t now_ms = 0;

	saver_note(s);
	ck_assert_uint_eq(state_in_file(), KEPT);
	register_one(1);
	saver_note(s);
	ck_assert_uint_eq(state_in_file(), PENDING);
	if (_i == 0) {
		atomic_store(&shut, true);
		saver_tick(s, ++now_ms);
		await(&n_commits, 1);
		saver_tick(s, ++now_ms);
		ck_assert_uint_eq(state_in_file(), PENDING);
		atomic_store(&shut, false);
		sem_post(&gate);
	}
	tick_until_written(s, &now_ms);
	ck_assert_uint_eq(state_in_file(), KEPT);
	saver_free(s);
}
END_TEST

START_TEST(what_is_in_hand_is_written_at_the_end)
{
	struct saver *s = saver_new(r, store, wall_s, true);

	register_one(1);
	saver_tick(s, 1000);
	register_one(2); /* not in hand: registry_save() has it */
	saver_free(s);
	ck_assert(registry_is_dirty(r));
	expect_in_store(1);
}
END_TEST

/* No file grows: Check's own do not either, so nothing is asserted meanwhile. */
static void
fill_disk(bool full)
{
	static struct rlimit was;
	struct rlimit none;

	signal(SIGXFSZ, SIG_IGN);
	if (full)
		getrlimit(RLIMIT_FSIZE, &was);
	none = was;
	none.rlim_cur = 1;
	setrlimit(RLIMIT_FSIZE, full ? &none : &was);
}

/* Ticks without time passing until the next is due in a second, as after a failure. */
static void
tick_until_failed(struct saver *s, int64_t now_ms)
{
	for (int i = 0; i < PATIENCE_MS && saver_tick(s, now_ms) != now_ms + 1000; i++)
		pause_a_little();
}

START_TEST(what_fails_is_tried_again)
{
	struct saver *s = saver_new(r, store, wall_s, _i != 0);
	int64_t now_ms = 1000;

	for (uint64_t id = 1; id <= 50; id++)
		register_one(id);
	fill_disk(true);
	tick_until_failed(s, now_ms);
	for (int i = 0; i < 200; i++) { /* less than the second that it is given */
		saver_tick(s, now_ms += 4);
		pause_a_little();
	}
	fill_disk(false);
	ck_assert_uint_eq(atomic_load(&n_commits), 1);
	expect_in_store(0);
	now_ms += 1000;
	tick_until_written(s, &now_ms);
	ck_assert_uint_eq(atomic_load(&n_commits), 2);
	saver_free(s);
	expect_in_store(50);
}
END_TEST

START_TEST(a_failure_at_the_end_is_not_forgotten)
{
	struct saver *s = saver_new(r, store, wall_s, true);
	struct fm_error err = { 0 };

	register_one(1);
	fill_disk(true);
	saver_tick(s, 1000);
	saver_free(s);
	fill_disk(false);
	expect_in_store(0);
	ck_assert_int_eq(registry_save(r, store, 2000, wall_s(), &err), 0);
	expect_in_store(1);
}
END_TEST

/* ----------------------------------------------------- where somebody has a copy */

static uint64_t n_put;
static uint64_t n_had;
static uint32_t n_records; /* of all that were put */
static uint32_t n_anew;	   /* times that this was everything */

static uint64_t
put(void *arg, const struct store_record *records, uint32_t n, bool anew)
{
	(void)arg;
	ck_assert_ptr_nonnull(records);
	n_records = anew ? n : n_records + n;
	n_anew += anew;
	return ++n_put;
}

static bool
have(void *arg, uint64_t number)
{
	(void)arg;
	return number <= n_had;
}

static struct saver *
saver_with_copy(bool apart)
{
	struct saver_copy copy = { put, have, NULL };
	struct saver *s = saver_new(r, store, wall_s, apart);

	n_put = n_had = 0;
	n_records = n_anew = 0;
	saver_set_copy(s, &copy);
	return s;
}

/* While the disk is busy each tick tells them, and what they got is then written as one. */
START_TEST(a_copy_does_not_wait_for_the_disk)
{
	struct saver *s = saver_with_copy(true);
	int64_t now_ms = 1000;

	atomic_store(&shut, true);
	register_one(1);
	ck_assert(saver_note(s));
	saver_tick(s, now_ms);
	await(&n_commits, 1);
	for (uint64_t id = 2; id <= 100; id++) {
		register_one(id);
		ck_assert(saver_note(s));
		ck_assert_int_lt(saver_tick(s, ++now_ms), INT64_MAX);
		ck_assert_uint_eq(saver_number(s), id);
		ck_assert_uint_eq(n_records, id);
		ck_assert(!saver_may_send(s, id));
		n_had = id;
		ck_assert(saver_may_send(s, id));
	}
	ck_assert_uint_eq(atomic_load(&n_committed), 0);
	atomic_store(&shut, false);
	sem_post(&gate);
	tick_until_written(s, &now_ms);
	ck_assert_uint_eq(atomic_load(&n_committed), 2);
	saver_free(s);
	expect_in_store(100);
}
END_TEST

/* A disk that does not come back: what waits for it does not grow for ever. */
START_TEST(what_waits_for_the_disk_is_bounded)
{
	struct saver *s = saver_with_copy(true);
	int64_t now_ms = 1000;

	atomic_store(&shut, true);
	register_one(1);
	saver_tick(s, now_ms);
	await(&n_commits, 1);
	for (unsigned i = 0; i < 140; i++) {
		for (uint64_t id = 1; id <= 1000; id++)
			register_one(id);
		saver_tick(s, ++now_ms);
	}
	ck_assert_uint_eq(n_anew, 2);
	ck_assert_uint_lt(n_records, 70000);
	atomic_store(&shut, false);
	sem_post(&gate);
	tick_until_written(s, &now_ms);
	ck_assert_uint_eq(atomic_load(&n_committed), 2);
	saver_free(s);
	expect_in_store(1000);
}
END_TEST

/* Of the same service that comes and goes the last word is written. */
START_TEST(the_last_change_of_a_key_is_written)
{
	struct saver *s = saver_with_copy(true);
	struct sa_service_record which = {
		.id = 2, .gid = { UINT64_C(0xfe80000000000000), 2 }, .pkey = 0xffff
	};
	struct sa_service_record got;
	int64_t now_ms = 1000;

	atomic_store(&shut, true);
	register_one(1);
	saver_tick(s, now_ms);
	await(&n_commits, 1);
	for (unsigned i = 0; i < 5; i++) {
		register_one(2);
		saver_tick(s, ++now_ms);
		ck_assert_uint_eq(registry_delete_service(r, &which,
				      SA_SR_ID | SA_SR_GID | SA_SR_PKEY, 2, false, 0, &got),
		    SA_OK);
		saver_tick(s, ++now_ms);
	}
	register_one(3);
	atomic_store(&shut, false);
	sem_post(&gate);
	tick_until_written(s, &now_ms);
	saver_free(s);
	expect_in_store(2);
}
END_TEST

/* What was told to a copy, and is to be written in a second. */
START_TEST(what_a_copy_has_is_not_forgotten_at_the_end)
{
	struct saver *s = saver_with_copy(_i != 0);
	struct fm_error err = { 0 };

	register_one(1);
	fill_disk(true);
	tick_until_failed(s, 1000);
	saver_tick(s, 1001); /* everything, once more */
	saver_free(s);
	fill_disk(false);
	expect_in_store(0);
	ck_assert(registry_is_dirty(r));
	ck_assert_int_eq(registry_save(r, store, 2000, wall_s(), &err), 0);
	expect_in_store(1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("saver");
	TCase *t = tcase_create("saver");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, ticks_do_not_wait_for_the_disk);
	tcase_add_test(t, a_crowd_is_few_commits);
	tcase_add_loop_test(t, what_is_answered_is_pending_until_it_is_written, 0, 2);
	tcase_add_test(t, what_is_in_hand_is_written_at_the_end);
	tcase_add_loop_test(t, what_fails_is_tried_again, 0, 2);
	tcase_add_test(t, a_failure_at_the_end_is_not_forgotten);
	tcase_add_test(t, a_copy_does_not_wait_for_the_disk);
	tcase_add_test(t, what_waits_for_the_disk_is_bounded);
	tcase_add_test(t, the_last_change_of_a_key_is_written);
	tcase_add_loop_test(t, what_a_copy_has_is_not_forgotten_at_the_end, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
