/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads that publish, over a place that is made up: who leads and who follows, and that
 * nobody waits for a place that never answers.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/dist/dist.h"
#include "core/dist/place.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

extern const struct fm_engine updn_LTX_fm_engine;

/* In the place of core/dist/redis.c. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct place_epoch at, next;
	unsigned n_follows, n_leads, n_commits, n_hangs;
	uint64_t lead_term; /* ours, when we led last */
	char followed[64];
	bool fail_follow, overtaken; /* in its first commit */
	int hang;		     /* in this one */
} fake;
enum { HANG_NEVER, HANG_OPEN, HANG_COMMIT, HANG_FOLLOW };

static struct rig rig;
static struct sa_rig sa;
static struct dist *dist;

/* Under the lock, for ever. */
static void
hang(int where)
{
	if (fake.hang != where)
		return;
	fake.n_hangs++;
	pthread_cond_broadcast(&fake.changed);
	for (;;)
		pthread_cond_wait(&fake.changed, &fake.lock);
}

static int
fake_open(const struct place_at *at, void **place, struct fm_error *err)
{
	pthread_mutex_lock(&fake.lock);
	hang(HANG_OPEN);
	pthread_mutex_unlock(&fake.lock);
	*place = &fake;
	return 0;
}

static void
fake_close(void *place)
{
	(void)place;
}

static int
fake_lead(void *place, uint64_t term, struct fm_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&fake.lock);
	fake.n_leads++;
	fake.lead_term = term;
	pthread_cond_broadcast(&fake.changed);
	if (term != 0 && fake.at.term > term)
		rc = fm_fail(err, FM_E_CANCELLED, "another SM has published a later term");
	pthread_mutex_unlock(&fake.lock);
	return rc;
}

static int
fake_follow(const struct place_at *at, struct fm_error *err)
{
	int rc;

	pthread_mutex_lock(&fake.lock);
	hang(HANG_FOLLOW);
	fake.n_follows++;
	snprintf(fake.followed, sizeof(fake.followed), "%s", at->peer);
	rc = fake.fail_follow ? fm_fail(err, FM_E_SYSTEM, "it has no link to %s", at->peer) : 0;
	pthread_cond_broadcast(&fake.changed);
	pthread_mutex_unlock(&fake.lock);
	return rc;
}

static int
fake_load(void *place, struct place_epoch *at, place_each each, void *arg, struct fm_error *err)
{
	pthread_mutex_lock(&fake.lock);
	*at = fake.at;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int
fake_check(void *place, struct place_epoch at, struct fm_error *err)
{
	return 0;
}

static int
fake_begin(void *place, struct place_epoch was, struct place_epoch now, struct fm_error *err)
{
	fake.next = now;
	return 0;
}

static int
fake_blob(void *place, const char *key, const void *bytes, size_t n, struct fm_error *err)
{
	return 0;
}

static int
fake_commit(void *place, const struct place_changes *changes, struct fm_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&fake.lock);
	hang(HANG_COMMIT);
	if (fake.overtaken) {
		fake.overtaken = false;
		fake.at = (struct place_epoch){ fake.next.term + 5, 9 };
		rc = fm_fail(err, FM_E_SYSTEM, "the place has gone");
	} else {
		fake.at = fake.next;
		fake.n_commits++;
	}
	pthread_cond_broadcast(&fake.changed);
	pthread_mutex_unlock(&fake.lock);
	return rc;
}

const struct place_ops place_files = { .kind = "files" };
const struct place_ops place_redis = { .kind = "fake",
	.open = fake_open,
	.close = fake_close,
	.lead = fake_lead,
	.follow = fake_follow,
	.load = fake_load,
	.check = fake_check,
	.begin = fake_begin,
	.blob = fake_blob,
	.commit = fake_commit };

static void
setup(void)
{
	const struct dist_settings set = { .place = { [DIST_REDIS] = "somewhere" },
		.redis_peer = "other:6390" };
	struct fm_error err;

	memset(&fake, 0, sizeof(fake));
	pthread_mutex_init(&fake.lock, NULL);
	pthread_cond_init(&fake.changed, NULL);
	rig_log_clear();
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_use(&rig, &updn_LTX_fm_engine);
	rig_bring_up(&rig);
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
	ck_assert_int_eq(dist_start(&set, &dist, &err), 0);
}

static void
teardown(void)
{
	dist_stop(dist);
	dist = NULL;
	sa_rig_fini(&sa);
	rig_fini(&rig);
}

static void
publish(void)
{
	struct sa_view *v = sa_slot_get(&sa.slot);

	dist_publish(dist, v);
	sa_view_put(v);
}

/* Until *count is at least n. */
static void
await(const unsigned *count, unsigned n)
{
	pthread_mutex_lock(&fake.lock);
	while (*count < n)
		pthread_cond_wait(&fake.changed, &fake.lock);
	pthread_mutex_unlock(&fake.lock);
}

static struct dist_status
status(void)
{
	struct dist_status s;

	dist_status(dist, 0, &s);
	return s;
}

static void
a_moment(void)
{
	const struct timespec t = { .tv_nsec = 1000000 };

	nanosleep(&t, NULL);
}

/* -------------------------------------------------------------------------- */

START_TEST(nobody_waits_for_a_place_that_never_answers)
{
	fake.hang = _i;
	if (_i == HANG_FOLLOW)
		dist_stand_by(dist);
	else
		publish();
	await(&fake.n_hangs, 1);
	publish();
	ck_assert(status().is_master);
	dist_resign(dist);
	dist_stand_by(dist);
	ck_assert(!status().is_master);
	dist_stop(dist);
	dist = NULL;
	ck_assert(strstr(rig_log, "somewhere does not answer: it is not waited for") != NULL);
}
END_TEST

START_TEST(a_standby_follows_and_a_master_leads)
{
	ck_assert_ptr_null(status().follows);
	dist_stand_by(dist);
	await(&fake.n_follows, 1);
	ck_assert_str_eq(fake.followed, "other:6390");
	fake.at = (struct place_epoch){ 7, 30 }; /* that the other one published */
	publish();
	await(&fake.n_commits, 1);
	ck_assert_uint_eq(fake.lead_term, 0);
	ck_assert_uint_gt(fake.at.term, 7);
	ck_assert_uint_eq(fake.at.epoch, 31);
	while (status().epoch != 31)
		a_moment();
	ck_assert_ptr_null(status().follows);
	dist_stand_by(dist);
	await(&fake.n_follows, 2);
	ck_assert_str_eq(status().follows, "other:6390");
}
END_TEST

START_TEST(who_has_been_overtaken_does_not_lead_again)
{
	uint64_t term;

	fake.overtaken = true;
	publish();
	await(&fake.n_leads, 2); /* with its own term, which is not the latest */
	ck_assert_uint_ne(fake.lead_term, 0);
	while (strstr(rig_log, "nothing is published until this SM becomes master anew") == NULL)
		a_moment();
	ck_assert_uint_eq(fake.n_commits, 0);
	term = fake.at.term;
	if (_i == 0)
		dist_stand_by(dist);
	else
		dist_resign(dist); /* as at a HANDOVER to who is master */
	publish();
	await(&fake.n_commits, 1);
	ck_assert_uint_eq(fake.lead_term, 0);
	ck_assert_uint_gt(fake.at.term, term);
}
END_TEST

START_TEST(a_link_that_is_down_is_told)
{
	fake.fail_follow = true;
	dist_stand_by(dist);
	await(&fake.n_follows, 2); /* it is tried again */
	ck_assert_str_eq(status().error, "it has no link to other:6390");
	pthread_mutex_lock(&fake.lock);
	fake.fail_follow = false;
	pthread_mutex_unlock(&fake.lock);
	await(&fake.n_follows, 3);
	while (status().error[0] != '\0')
		a_moment();
	ck_assert(strstr(rig_log, "somewhere follows other:6390 again") != NULL);
}
END_TEST

int __real_pthread_create(
    pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *arg), void *arg);
int __wrap_pthread_create(
    pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *arg), void *arg);
static int thread_error;

int
__wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *arg), void *arg)
{
	errno = ENOENT; /* says nothing */
	return thread_error != 0 ? thread_error : __real_pthread_create(t, attr, fn, arg);
}

START_TEST(a_thread_that_does_not_start_is_told)
{
	const struct dist_settings set = { .place = { [DIST_REDIS] = "elsewhere" } };
	struct fm_error err = { 0 };
	struct dist *d;

	thread_error = EAGAIN;
	ck_assert_int_eq(dist_start(&set, &d, &err), FM_E_SYSTEM);
	thread_error = 0;
	ck_assert_ptr_null(d);
	ck_assert_msg(strstr(err.msg, strerror(EAGAIN)) != NULL, "%s", err.msg);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dist_thread");
	TCase *t = tcase_create("dist_thread");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(
	    t, nobody_waits_for_a_place_that_never_answers, HANG_OPEN, HANG_FOLLOW + 1);
	tcase_add_test(t, a_standby_follows_and_a_master_leads);
	tcase_add_loop_test(t, who_has_been_overtaken_does_not_lead_again, 0, 2);
	tcase_add_test(t, a_link_that_is_down_is_told);
	tcase_add_test(t, a_thread_that_does_not_start_is_told);
	suite_add_tcase(s, t);
	return run_suite(s);
}
