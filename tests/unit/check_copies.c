/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A master's log and the copies of its standbys, without sockets: what is in sync, how long an
 * answer waits, and that no standby ever believes more than it has.
 */
#include <check.h>
#include <event2/event.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/standby/copies.h"
#include "core/standby/mirror.h"
#include "core/registry/saver.h"
#include "core/text/files.h"
#include "lib/faultpoint.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"

#define TERM 42
#define N_SEEDS 60

static struct copies *c;
static char dir[FOLDER_ROOM];

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
	folder_make(dir);
	fm_log_set_sink(drop_line, NULL);
	c = copies_new(NULL);
	ck_assert_ptr_nonnull(c);
	copies_rule(c, TERM);
}

static void
teardown(void)
{
	copies_free(c);
	folder_remove(dir);
}

/* ---------------------------------------------------------------------- a standby */

struct standby {
	struct mirror *m;
	struct store *store;
	struct evbuffer *in;
	unsigned place;
	char path[LINK_FILES][64];
};

/* keeps: on disk, in a folder of its own; else in memory. */
static void
standby_open(struct standby *s, unsigned id, bool keeps)
{
	const char *paths[LINK_FILES];
	struct fm_error err = { 0 };
	char sub[64];

	snprintf(sub, sizeof(sub), "%s/%u", dir, id);
	if (keeps)
		ck_assert_msg(store_open(sub, &s->store, &err) == 0, "%s", err.msg);
	else
		ck_assert_msg(store_open_to_read(sub, &s->store, &err) == 0, "%s", err.msg);
	for (unsigned i = 0; i < LINK_FILES; i++) {
		snprintf(s->path[i], sizeof(s->path[i]), "%.40s/file%u", sub, i);
		paths[i] = s->path[i];
	}
	ck_assert_msg(mirror_new(s->store, paths, &s->m, &err) == 0, "%s", err.msg);
	s->in = evbuffer_new();
	s->place = COPIES_MAX;
}

static void
standby_close(struct standby *s)
{
	mirror_free(s->m);
	store_close(s->store);
	if (s->in != NULL)
		evbuffer_free(s->in);
	*s = (struct standby){ .place = COPIES_MAX };
}

/* The master's loop comes by, and knows that it rules. */
static bool
have(uint64_t number, int64_t now_ms)
{
	copies_ruling(c, now_ms);
	return copies_have(c, number, now_ms);
}

/* Each frame that has come is taken. */
static int
take_all(struct standby *s, int64_t now_ms)
{
	struct fm_error err = { 0 };
	struct link_frame f;
	int rc = 0, got = 0;

	while (rc == 0 && (got = link_get(s->in, &f, &err)) == 1) {
		rc = mirror_take(s->m, &f, now_ms, &err);
		link_drop(s->in, &f);
	}
	ck_assert_int_ge(got, 0);
	return rc;
}

/* What is sent arrives at once; the standby does not answer. */
static void
deliver(struct standby *s, int64_t now_ms)
{
	ck_assert(copies_send(c, s->place, s->in));
	ck_assert_int_eq(take_all(s, now_ms), 0);
}

static void
acknowledge(struct standby *s, int64_t now_ms)
{
	struct fm_error err = { 0 };

	ck_assert_msg(copies_on_have(c, s->place, mirror_seq(s->m), now_ms, now_ms, &err) == 0,
	    "%s", err.msg);
}

static void
tell_alive(struct standby *s, int64_t now_ms)
{
	copies_alive(c, s->place, s->in, now_ms);
	ck_assert_int_eq(take_all(s, now_ms), 0);
}

static uint64_t
put_mark(uint64_t mark, int64_t now_ms)
{
	struct evbuffer *data = evbuffer_new();
	struct link_marks marks = { mark, 1, false };
	uint64_t number;

	ck_assert(link_add_marks(data, &marks));
	copies_ruling(c, now_ms);
	number = copies_put(c, LINK_MARKS, data, now_ms);
	evbuffer_free(data);
	return number;
}

/* All there is, which is a mark. */
static void
fill(struct standby *s, uint64_t mark)
{
	struct evbuffer *data = evbuffer_new();
	struct link_marks marks = { mark, 1, false };

	ck_assert(link_add_marks(data, &marks));
	copies_put_to(c, s->place, LINK_MARKS, data);
	copies_put_to(c, s->place, LINK_WHOLE, data);
	evbuffer_free(data);
}

static enum copy_state
state_of(const struct standby *s)
{
	struct copy_status st;

	copies_status(c, s->place, &st);
	return st.state;
}

static void
bring_in_sync(struct standby *s, unsigned id, int64_t now_ms)
{
	standby_open(s, id, false);
	s->place = copies_begin(c);
	ck_assert_uint_lt(s->place, COPIES_MAX);
	fill(s, 0);
	deliver(s, now_ms);
	acknowledge(s, now_ms);
	tell_alive(s, now_ms);
	ck_assert_uint_eq(state_of(s), COPY_IN_SYNC);
	ck_assert(mirror_in_sync(s->m, now_ms));
}

/* -------------------------------------------------------------------------- states */

START_TEST(where_nobody_has_a_copy_nobody_waits)
{
	struct standby s;

	ck_assert_uint_eq(put_mark(1, 0), 0);
	ck_assert(have(0, 0));
	ck_assert(have(1, 0));
	ck_assert_int_eq(copies_tick(c, 0), INT64_MAX);
	standby_open(&s, 0, false); /* one that is filling is not waited for */
	s.place = copies_begin(c);
	ck_assert_uint_eq(put_mark(2, 0), 2);
	ck_assert(have(2, 0));
	ck_assert_uint_eq(state_of(&s), COPY_FILLING);
	standby_close(&s);
}
END_TEST

START_TEST(states_follow_what_is_acknowledged)
{
	struct standby s;
	uint64_t number;

	standby_open(&s, 0, false);
	s.place = copies_begin(c);
	ck_assert_uint_eq(s.place, 0);
	deliver(&s, 0);
	acknowledge(&s, 0);
	ck_assert_uint_eq(state_of(&s), COPY_FILLING); /* WELCOME is not all */
	ck_assert(!mirror_is_whole(s.m));
	put_mark(7, 0); /* a change before it is whole */
	fill(&s, 8);
	deliver(&s, 0);
	ck_assert_uint_eq(state_of(&s), COPY_FILLING);
	ck_assert(mirror_is_whole(s.m) && !mirror_in_sync(s.m, 0));
	acknowledge(&s, 0);
	ck_assert_uint_eq(state_of(&s), COPY_IN_SYNC);
	tell_alive(&s, 100); /* it counts from the last HAVE */
	ck_assert(mirror_in_sync(s.m, LINK_BELIEF_MS - 1));
	ck_assert(!mirror_in_sync(s.m, LINK_BELIEF_MS));

	number = put_mark(9, 110);
	ck_assert(!have(number, 110));
	ck_assert_int_eq(copies_tick(c, 110), 110 + COPIES_ANSWER_MS);
	deliver(&s, 111);
	acknowledge(&s, 112);
	ck_assert(have(number, 112));
	ck_assert_uint_eq(store_mark(s.store), 9);

	number = put_mark(10, 120); /* it does not answer */
	ck_assert(!have(number, 120 + COPIES_ANSWER_MS - 1));
	ck_assert_uint_eq(state_of(&s), COPY_IN_SYNC);
	ck_assert(!have(number, 120 + COPIES_ANSWER_MS));
	ck_assert_uint_eq(state_of(&s), COPY_BEHIND);
	ck_assert_int_eq(copies_tick(c, 130), 100 + LINK_LEASE_MS);
	tell_alive(&s, 150);
	ck_assert(!mirror_in_sync(s.m, 150)); /* it has been told */
	ck_assert(!have(number, 100 + LINK_LEASE_MS - 1));
	ck_assert(have(number, 100 + LINK_LEASE_MS));
	ck_assert(have(
	    put_mark(11, 100 + LINK_LEASE_MS), 100 + LINK_LEASE_MS)); /* no answer waits any more */

	deliver(&s, 900);
	acknowledge(&s, 900);
	ck_assert_uint_eq(state_of(&s), COPY_IN_SYNC);
	ck_assert(!have(put_mark(12, 900), 900));
	standby_close(&s);
}
END_TEST

/* The loop stands still, or doubts that it rules: another may have taken the subnet with all that
 * is here, also when it has left since. */
START_TEST(nothing_is_promised_where_it_is_open_who_rules)
{
	struct evbuffer *data = evbuffer_new();
	struct standby s;
	uint64_t number;
	int64_t late = 5000;

	bring_in_sync(&s, 0, 0);
	number = put_mark(5, 10);
	ck_assert(!copies_have(c, number, late)); /* no lease is left */
	copies_end(c, s.place, _i != 0);
	ck_assert(!copies_have(c, number, late));
	ck_assert(evbuffer_add(data, "x", 1) == 0);
	number = copies_put(c, LINK_MARKS, data, late);
	ck_assert_uint_ne(number, 0);
	ck_assert(!copies_have(c, number, late));
	ck_assert(have(number, late)); /* we do */
	evbuffer_free(data);
	standby_close(&s);
}
END_TEST

START_TEST(nobody_has_what_was_not_sent)
{
	struct standby s;
	struct fm_error err = { 0 };

	bring_in_sync(&s, 0, 0);
	ck_assert_int_eq(copies_on_have(c, s.place, 4, 0, 0, &err), FM_E_SYSTEM);
	ck_assert_int_eq(copies_on_have(c, s.place, 2, 0, 0, &err), FM_E_SYSTEM);
	ck_assert_int_eq(copies_on_have(c, s.place, 3, 0, 0, &err), 0); /* said twice */
	ck_assert_int_eq(copies_on_have(c, COPIES_MAX - 1, 1, 0, 0, &err), FM_E_SYSTEM);
	standby_close(&s);
}
END_TEST

START_TEST(places_are_few)
{
	for (unsigned i = 0; i < COPIES_MAX; i++)
		ck_assert_uint_eq(copies_begin(c), i);
	ck_assert_uint_eq(copies_begin(c), COPIES_MAX);
	copies_end(c, 1, false);
	ck_assert_uint_eq(copies_begin(c), 1);
}
END_TEST

START_TEST(who_is_gone_is_waited_for_till_its_lease_ends)
{
	struct standby s;
	uint64_t number;

	bring_in_sync(&s, 0, 0);
	number = put_mark(5, 10);
	copies_end(c, s.place, _i != 0);
	ck_assert(have(number, 20) == (_i != 0)); /* after BYE at once */
	ck_assert((put_mark(6, 20) != 0) == (_i == 0));
	ck_assert_int_eq(copies_tick(c, 20), _i != 0 ? INT64_MAX : LINK_LEASE_MS);
	ck_assert(have(number, LINK_LEASE_MS));
	ck_assert_int_eq(copies_tick(c, LINK_LEASE_MS), INT64_MAX);
	standby_close(&s);
}
END_TEST

/* Its place may be another's by then, who has everything. */
START_TEST(who_is_gone_is_waited_for_also_when_another_comes)
{
	struct standby gone, other;
	uint64_t number;

	bring_in_sync(&gone, 0, 0);
	number = put_mark(5, 10);
	copies_end(c, gone.place, false);
	bring_in_sync(&other, 1, 20);
	ck_assert(mirror_in_sync(gone.m, 20) && store_mark(gone.store) != 5);
	ck_assert(!have(number, 20));
	ck_assert(have(number, LINK_LEASE_MS));
	standby_close(&gone);
	standby_close(&other);
}
END_TEST

/* An answer may wait for one that is gone, while another comes. */
START_TEST(what_was_before_a_standby_is_in_what_it_has)
{
	struct standby s;

	for (unsigned i = 1; i <= 50; i++)
		put_mark(i, 0);
	bring_in_sync(&s, 0, 0);
	for (unsigned i = 1; i <= 50; i++)
		ck_assert(have(i, 0));
	ck_assert_uint_eq(put_mark(51, 0), 51);
	ck_assert(have(50, 0));
	ck_assert(!have(51, 0));
	standby_close(&s);
}
END_TEST

/* Many changes at once, of which a standby acknowledges one now and then. */
START_TEST(who_is_slow_falls_behind)
{
	struct standby s;
	struct fm_error err = { 0 };
	uint64_t seq;
	int64_t now_ms = 0;

	bring_in_sync(&s, 0, 0);
	seq = mirror_seq(s.m);
	for (unsigned i = 0; i < 100; i++)
		put_mark(i, now_ms);
	while (state_of(&s) == COPY_IN_SYNC && now_ms < 200) {
		now_ms += COPIES_ANSWER_MS - 1;
		ck_assert(!have(100, now_ms));
		ck_assert_int_eq(copies_on_have(c, s.place, ++seq, now_ms, now_ms, &err), 0);
	}
	ck_assert_int_lt(now_ms, 3 * COPIES_ANSWER_MS); /* it is looked at as it acknowledges */
	standby_close(&s);
}
END_TEST

/* Changes without a pause, each acknowledged in time but after the next: it stays in sync, and what
 * it owes does not add up. */
START_TEST(who_is_in_time_stays_in_sync)
{
	static uint8_t bytes[1 << 20];
	struct evbuffer *data = evbuffer_new(), *out = evbuffer_new();
	struct standby s;
	struct fm_error err = { 0 };
	uint64_t seq;

	bring_in_sync(&s, 0, 0);
	seq = mirror_seq(s.m);
	for (unsigned i = 0; i < 100; i++) {
		evbuffer_add_reference(data, bytes, sizeof(bytes), NULL, NULL);
		copies_put(c, LINK_RECORDS, data, i);
		if (i > 0)
			ck_assert_int_eq(copies_on_have(c, s.place, ++seq, i, i, &err), 0);
		ck_assert(copies_send(c, s.place, out));
		evbuffer_drain(out, evbuffer_get_length(out));
		copies_tick(c, i);
		ck_assert_uint_eq(state_of(&s), COPY_IN_SYNC);
	}
	evbuffer_free(data);
	evbuffer_free(out);
	standby_close(&s);
}
END_TEST

START_TEST(who_owes_too_much_begins_anew)
{
	static uint8_t bytes[1 << 20];
	struct evbuffer *data = evbuffer_new(), *out = evbuffer_new();
	struct standby s;
	uint64_t number = 0;
	unsigned n = 0;

	if (_i == 0) {
		bring_in_sync(&s, 0, 0);
	} else { /* what there was before does not count, however much it was */
		standby_open(&s, 0, false);
		s.place = copies_begin(c);
		for (unsigned i = 0; i < 40; i++) {
			evbuffer_add_reference(data, bytes, sizeof(bytes), NULL, NULL);
			copies_put_to(c, s.place, LINK_RECORDS, data);
		}
		if (_i == 2)
			fill(&s, 0);
	}
	while (copies_send(c, s.place, out) && n < 100) {
		evbuffer_drain(out, evbuffer_get_length(out));
		evbuffer_add_reference(data, bytes, sizeof(bytes), NULL, NULL);
		number = copies_put(c, LINK_RECORDS, data, 10);
		n++;
	}
	ck_assert_uint_eq(n, COPIES_LOG_MAX / sizeof(bytes) + 1);
	number = put_mark(1, 11);
	ck_assert(
	    have(number, LINK_LEASE_MS - 1) == (_i != 0)); /* nobody waits for one that fills */
	ck_assert(have(number, LINK_LEASE_MS));
	evbuffer_free(data);
	evbuffer_free(out);
	standby_close(&s);
}
END_TEST

/* -------------------------------------------------------------------------- memory */

/* Allocations of evbuffers fail from the n-th on; 0: none does. */
static unsigned n_allocs, fail_at;

static void *
may_fail(size_t n)
{
	n_allocs++;
	return fail_at != 0 && n_allocs >= fail_at ? NULL : malloc(n);
}

/* A change for which there is no memory is had by nobody: the copy ends, its lease does not. */
START_TEST(without_memory_nobody_has_a_change)
{
	struct evbuffer *data = evbuffer_new(), *out = evbuffer_new();
	struct link_marks marks = { 5, 1, false };
	struct standby s;
	uint64_t number;
	unsigned n = 0;
	bool sent = false;

	for (unsigned at = 1; !sent && at < 50; at++, n++) {
		bring_in_sync(&s, 0, 0);
		ck_assert(link_add_marks(data, &marks));
		n_allocs = 0;
		fail_at = at;
		number = copies_put(c, LINK_MARKS, data, 10);
		fail_at = 0;
		sent = copies_send(c, s.place, out);
		ck_assert(!have(number, 10));
		ck_assert(!have(put_mark(6, 11), 11));
		ck_assert(have(number, LINK_LEASE_MS));
		copies_end(c, s.place, true);
		standby_close(&s);
	}
	ck_assert_uint_gt(n, 2);
	ck_assert(sent);
	evbuffer_free(data);
	evbuffer_free(out);
}
END_TEST

/* ------------------------------------------------------------------------- threads */

#define N_PUTS 20000

static atomic_bool all_put;

static void *
put_marks(void *arg)
{
	struct evbuffer *data = evbuffer_new();

	(void)arg;
	for (uint64_t i = 1; i <= N_PUTS; i++) {
		struct link_marks marks = { i, 1, false };

		link_add_marks(data, &marks);
		copies_put(c, LINK_MARKS, data, 0);
	}
	evbuffer_free(data);
	atomic_store(&all_put, true);
	return NULL;
}

/* One thread puts, the loop sends and frees what it has sent. */
START_TEST(any_thread_may_put)
{
	struct standby s[2];
	pthread_t thread;
	bool last;

	for (unsigned i = 0; i < 2; i++)
		bring_in_sync(&s[i], i, 0);
	atomic_store(&all_put, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, put_marks, NULL), 0);
	do {
		last = atomic_load(&all_put);
		for (unsigned i = 0; i < 2; i++) {
			deliver(&s[i], 0);
			acknowledge(&s[i], 0);
		}
	} while (!last);
	pthread_join(thread, NULL);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(store_mark(s[i].store), N_PUTS);
		standby_close(&s[i]);
	}
}
END_TEST

/* --------------------------------------------------------------------------- files */

static void
free_bytes(const uint8_t *bytes, size_t n)
{
	ck_assert(n == 0 || bytes != NULL);
	free((void *)(uintptr_t)bytes);
}

/* The first bytes say which file it is. */
static void
put_file(enum link_file which, unsigned version, size_t n)
{
	uint8_t *bytes = malloc(n + 1);

	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 1000 + version);
	copies_put_file(c, which, bytes, n, free_bytes);
}

static void
expect_file(struct standby *s, enum link_file which, unsigned version, size_t n)
{
	struct fm_error err = { 0 };
	size_t n_same = 0;
	struct stat st;
	FILE *f;

	ck_assert_msg(mirror_settle(s->m, &err) == 0, "%s", err.msg);
	f = fopen(s->path[which], "rb");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fstat(fileno(f), &st), 0);
	ck_assert_uint_eq((size_t)st.st_size, n);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	for (size_t i = 0; i < n; i++)
		n_same += fgetc(f) == (uint8_t)(i * 7 + i / 1000 + version);
	ck_assert_uint_eq(n_same, n);
	fclose(f);
}

/* A part, then a change; false: there are no more parts. */
static bool
send_part(struct standby *s, uint64_t mark)
{
	bool more = copies_send_part(c, s->place, s->in);

	put_mark(mark, 0);
	deliver(s, 0);
	ck_assert_uint_eq(store_mark(s->store), mark);
	return more;
}

static void
begin_whole(struct standby *s, unsigned id)
{
	standby_open(s, id, true);
	s->place = copies_begin(c);
	ck_assert(!copies_send_part(c, s->place, s->in)); /* what an answer waits for is first */
	fill(s, 1);
	deliver(s, 0);
}

START_TEST(files_come_in_parts_between_changes)
{
	struct standby s, later;
	struct copy_status st;
	uint64_t mark = 10;

	put_file(LINK_TABLES, 1, 5 * LINK_PART_BYTES + 1);
	put_file(LINK_ISOLATED, 2, 100);
	begin_whole(&s, 0);
	for (unsigned i = 0; i < 3; i++)
		ck_assert(send_part(&s, mark++));
	copies_status(c, s.place, &st);
	ck_assert(st.sends_files);
	put_file(LINK_TABLES, 3, 2 * LINK_PART_BYTES); /* while it is sent */
	ck_assert(send_part(&s, mark++));
	put_file(LINK_TABLES, 4, 3 * LINK_PART_BYTES);
	begin_whole(&later, 1);
	while (send_part(&s, mark++))
		;
	expect_file(&s, LINK_TABLES, 4, 3 * LINK_PART_BYTES);
	expect_file(&s, LINK_ISOLATED, 2, 100);
	ck_assert_int_ne(access(s.path[LINK_NODES], F_OK), 0);
	copies_status(c, s.place, &st);
	ck_assert(!st.sends_files);
	while (send_part(&later, mark++))
		;
	expect_file(&later, LINK_TABLES, 4, 3 * LINK_PART_BYTES);
	expect_file(&later, LINK_ISOLATED, 2, 100);
	put_file(LINK_ISOLATED, 5, 1); /* and so it goes on */
	while (send_part(&s, mark++))
		;
	expect_file(&s, LINK_ISOLATED, 5, 1);
	standby_close(&s);
	standby_close(&later);
}
END_TEST

START_TEST(a_file_without_bytes_is_none)
{
	struct standby s;
	struct fm_error err = { 0 };
	uint64_t mark = 10;

	begin_whole(&s, 0);
	put_file(LINK_NODES, 1, 10);
	put_file(LINK_TABLES, 1, 2 * LINK_PART_BYTES);
	ck_assert(send_part(&s, mark++));
	copies_put_file(c, LINK_TABLES, NULL, 0, NULL); /* while it is sent */
	while (send_part(&s, mark++))
		;
	expect_file(&s, LINK_NODES, 1, 10);
	ck_assert_int_ne(access(s.path[LINK_TABLES], F_OK), 0);
	copies_put_file(c, LINK_NODES, NULL, 0, NULL);
	while (send_part(&s, mark++))
		;
	ck_assert_int_eq(mirror_settle(s.m, &err), 0);
	ck_assert_int_ne(access(s.path[LINK_NODES], F_OK), 0);
	standby_close(&s);
}
END_TEST

/* The same bytes but for a few, and longer than the one before by as many as its version. */
static uint8_t *
like_file(unsigned version, size_t *n)
{
	struct fm_rng rng;
	uint8_t *bytes;

	*n = 3 * LINK_PART_BYTES + version;
	bytes = malloc(*n);
	ck_assert_ptr_nonnull(bytes);
	fm_rng_seed(&rng, 1);
	memset(bytes, 0x77, version);
	for (size_t i = version; i < *n; i++)
		bytes[i] = (uint8_t)fm_rng_next(&rng);
	for (size_t i = 1; i < 10; i++)
		bytes[*n / 10 * i] = (uint8_t)version;
	return bytes;
}

static void
put_like(unsigned version)
{
	size_t n;
	uint8_t *bytes = like_file(version, &n);

	ck_assert(copies_put_file(c, LINK_TABLES, bytes, n, free_bytes));
}

static void
expect_like(struct standby *s, unsigned version)
{
	struct fm_error err = { 0 };
	size_t n, n_there;
	uint8_t *bytes = like_file(version, &n);
	const uint8_t *there;

	ck_assert_msg(mirror_settle(s->m, &err) == 0, "%s", err.msg);
	there = fm_file_map(s->path[LINK_TABLES], &n_there);
	ck_assert_uint_eq(n_there, n);
	ck_assert_mem_eq(there, bytes, n);
	fm_file_unmap(there, n_there);
	free(bytes);
}

/* All that is to be sent of files, to its end; how many bytes that were. */
static size_t
send_files(struct standby *s)
{
	size_t n = 0;

	deliver(s, 0);
	while (copies_send_part(c, s->place, s->in))
		;
	n = evbuffer_get_length(s->in);
	ck_assert_int_eq(take_all(s, 0), 0);
	return n;
}

START_TEST(a_file_that_has_changed_is_sent_as_what_differs)
{
	struct standby s, later;
	struct fm_error err = { 0 };

	put_like(0);
	begin_whole(&s, 0);
	ck_assert_uint_gt(send_files(&s), 3 * LINK_PART_BYTES);
	expect_like(&s, 0);
	for (unsigned v = 1; v < 4; v++) {
		put_like(v);
		ck_assert_uint_lt(send_files(&s), 300);
		expect_like(&s, v);
	}
	begin_whole(&later, 1); /* who has none gets all of it, beside one that has */
	put_like(9);
	ck_assert_uint_gt(send_files(&later), 3 * LINK_PART_BYTES);
	put_like(10);
	ck_assert_uint_lt(send_files(&s), 300);
	ck_assert_uint_lt(send_files(&later), 3 * LINK_PART_BYTES + 600); /* from another one */
	expect_like(&s, 10);
	expect_like(&later, 10);
	copies_put_file(c, LINK_TABLES, NULL, 0, NULL);
	send_files(&s);
	ck_assert_int_eq(mirror_settle(s.m, &err), 0);
	ck_assert_int_ne(access(s.path[LINK_TABLES], F_OK), 0);
	put_like(11); /* of nothing nothing can be made */
	ck_assert_uint_gt(send_files(&s), 3 * LINK_PART_BYTES);
	expect_like(&s, 11);
	standby_close(&s);
	standby_close(&later);
}
END_TEST

/* What has been begun is sent to its end, then what the newest differs by from that. */
START_TEST(who_is_in_the_middle_of_a_file_gets_the_newest)
{
	struct standby s;
	size_t n;

	put_like(0);
	begin_whole(&s, 0);
	ck_assert(copies_send_part(c, s.place, s.in));
	put_like(1);
	put_like(2);
	n = send_files(&s);
	ck_assert_uint_gt(n, 2 * LINK_PART_BYTES);
	ck_assert_uint_lt(n, 2 * LINK_PART_BYTES + 600);
	expect_like(&s, 2);
	standby_close(&s);
}
END_TEST

static struct {
	void (*fn)(void *job); /* NULL: nothing is to be done */
	void *job;
	unsigned n;
} slow_worker;

static bool
run_later(void *arg, void (*fn)(void *job), void *job)
{
	(void)arg;
	ck_assert_ptr_null(slow_worker.fn); /* one at a time */
	slow_worker.fn = fn;
	slow_worker.job = job;
	slow_worker.n++;
	return true;
}

static void
let_worker_end(void)
{
	ck_assert_ptr_nonnull(slow_worker.fn);
	slow_worker.fn(slow_worker.job);
	slow_worker.fn = NULL;
}

/* Changes go on meanwhile, and so do other files; a newer file that has come is sent instead. */
START_TEST(what_differs_is_found_beside_the_loop)
{
	struct standby s;

	copies_free(c);
	memset(&slow_worker, 0, sizeof(slow_worker));
	c = copies_new(&(struct copies_worker){ run_later, NULL });
	copies_rule(c, TERM);
	put_like(0);
	begin_whole(&s, 0);
	send_files(&s);
	put_like(1);
	ck_assert(!send_part(&s, 7));
	ck_assert(!send_part(&s, 8));
	put_file(LINK_NODES, 3, 2000);
	ck_assert(send_part(&s, 9));
	ck_assert(!send_part(&s, 10));
	expect_file(&s, LINK_NODES, 3, 2000);
	expect_like(&s, 0);
	if (_i > 0)
		put_like(2);
	ck_assert(!send_part(&s, 11));
	let_worker_end();
	if (_i > 0) {
		ck_assert(!send_part(&s, 12));
		let_worker_end();
	}
	ck_assert_uint_lt(send_files(&s), 300);
	expect_like(&s, _i > 0 ? 2 : 1);
	ck_assert_uint_eq(slow_worker.n, _i > 0 ? 2 : 1);
	if (_i > 1) { /* it ends while something is being found */
		put_like(3);
		ck_assert(!send_part(&s, 13));
		let_worker_end();
	}
	standby_close(&s);
}
END_TEST

/* Its own file is not what the master believes: it stays, and nothing more is taken. */
START_TEST(a_difference_to_another_file_is_refused)
{
	struct fm_error err = { 0 };
	struct standby s;
	FILE *f;

	put_like(0);
	begin_whole(&s, 0);
	send_files(&s);
	expect_like(&s, 0);
	f = fopen(s.path[LINK_TABLES], "r+");
	ck_assert_ptr_nonnull(f);
	if (_i == 0)
		fputc('x', f);
	else
		ck_assert_int_eq(ftruncate(fileno(f), _i == 1 ? 0 : LINK_PART_BYTES), 0);
	fclose(f);
	put_like(1);
	send_files(&s);
	ck_assert_int_eq(mirror_settle(s.m, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, s.path[LINK_TABLES]));
	ck_assert_ptr_nonnull(strstr(err.msg, "difference"));
	put_mark(2, 0);
	ck_assert(copies_send(c, s.place, s.in));
	ck_assert_int_eq(take_all(&s, 0), FM_E_SYSTEM);
	copies_end(c, s.place, true);
	standby_close(&s);
	begin_whole(&s, 0); /* anew */
	ck_assert_uint_gt(send_files(&s), 3 * LINK_PART_BYTES);
	expect_like(&s, 1);
	standby_close(&s);
}
END_TEST

/* --------------------------------------------------------------- what a mirror refuses */

static int
take_one(
    struct standby *s, enum link_type type, uint64_t term, uint64_t seq, const char *data, size_t n)
{
	struct link_frame f = { type, term, seq, (const uint8_t *)data, n };
	struct fm_error err = { 0 };
	int rc = mirror_take(s->m, &f, 0, &err);

	ck_assert((rc != 0) == (err.msg[0] != '\0'));
	return rc;
}

#define NUMBER_0 "\0\0\0\0\0\0\0\0"
#define NUMBER_1 "\0\0\0\0\0\0\0\1"
#define NUMBER_2 "\0\0\0\0\0\0\0\2"

static const struct wrong_frame {
	enum link_type type;
	uint64_t term, seq;
	const char *data;
	size_t n;
} wrong_frames[] = {
	{ LINK_WHOLE, TERM, 3, "", 0 },	    /* one is missing */
	{ LINK_WHOLE, TERM, 1, "", 0 },	    /* once more */
	{ LINK_WHOLE, TERM - 1, 2, "", 0 }, /* of another term */
	{ LINK_HAVE, TERM, 2, "", 0 },	    /* a master has nothing */
	{ LINK_HELLO, TERM, 2, "", 0 },
	{ LINK_ALIVE, TERM, 0, "", 0 },
	{ LINK_ALIVE, TERM, 0, "\2\0\0\0\0\0\0\0\0", 9 },
	{ LINK_ALIVE, TERM, 0, "\1\x80\0\0\0\0\0\0\0", 9 },
	{ LINK_ALIVE, TERM, 0, "\1\0\0\0\0\0\0\x10\0", 9 }, /* never sent */
	{ LINK_ALIVE, TERM + 1, 0, "\1\0\0\0\0\0\0\0\0", 9 },
	{ LINK_RECORDS, TERM, 2, "\0\0\0\0\1\1\0\1Zv", 10 }, /* none of the registry */
	{ LINK_RECORDS, TERM, 2, "\0\0\0\0\2\1\0\1Z", 9 },
	{ LINK_LIDS, TERM, 2, "\0\0\0\0\0\0\0\1\0\0\0", 11 },	/* LID 0 */
	{ LINK_LIDS, TERM, 2, "\0\0\0\0\0\0\0\1\xc0\0\0", 11 }, /* of a group */
	{ LINK_LIDS, TERM, 2, "\0\0\0\0\0\0\0\1\0\1\10", 11 },	/* LMC 8 */
	{ LINK_MARKS, TERM, 2, "\0\0\0\0", 4 },
	/* file, number, base, at, n_all: in the middle, nothing, of one that is not here */
	{ LINK_PART, TERM, 0, "\0" NUMBER_1 NUMBER_0 NUMBER_1 NUMBER_2 "x", 34 },
	{ LINK_PART, TERM, 0, "\0" NUMBER_1 NUMBER_0 NUMBER_0 NUMBER_2, 33 },
	{ LINK_PART, TERM, 0, "\0" NUMBER_2 NUMBER_1 NUMBER_0 NUMBER_1 "x", 34 },
};

/* Nothing more is taken after it, and nobody believes that it is in sync. */
START_TEST(a_mirror_refuses_what_is_wrong)
{
	const struct wrong_frame *w = &wrong_frames[_i];
	struct standby s;

	standby_open(&s, 0, false);
	ck_assert_int_eq(take_one(&s, LINK_WHOLE, TERM, 1, "", 0), FM_E_SYSTEM);
	standby_close(&s);
	standby_open(&s, 0, false);
	ck_assert_int_eq(take_one(&s, LINK_WELCOME, TERM, 1, "", 0), 0);
	ck_assert_uint_eq(mirror_term(s.m), TERM);
	ck_assert_int_eq(take_one(&s, w->type, w->term, w->seq, w->data, w->n), FM_E_SYSTEM);
	ck_assert_uint_eq(mirror_seq(s.m), 1);
	ck_assert_int_ne(take_one(&s, LINK_WHOLE, TERM, 2, "", 0), 0);
	ck_assert_int_ne(take_one(&s, LINK_ALIVE, TERM, 0, "\1\0\0\0\0\0\0\0\0", 9), 0);
	ck_assert(!mirror_is_whole(s.m));
	standby_close(&s);
}
END_TEST

START_TEST(what_cannot_be_written_is_told)
{
	struct standby s;
	struct fm_error err = { 0 };

	begin_whole(&s, 0);
	ck_assert_int_eq(mkdir(s.path[LINK_NODES], 0700), 0);
	folder_write(s.path[LINK_NODES], "inside", "x");
	put_file(LINK_NODES, 1, 10);
	copies_send_part(c, s.place, s.in);
	ck_assert_int_eq(take_all(&s, 0), 0);
	ck_assert_int_eq(mirror_settle(s.m, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, s.path[LINK_NODES]));
	put_mark(2, 0);
	ck_assert(copies_send(c, s.place, s.in));
	ck_assert_int_eq(take_all(&s, 0), FM_E_SYSTEM);
	standby_close(&s);
}
END_TEST

/* ------------------------------------------------------- never a false belief (model) */

#define N_STANDBYS 4 /* one more than there are places */
#define MODEL_MS 2500
#define N_FLIGHTS 2048
#define MOST_MS (3 * LINK_LEASE_MS) /* on the way: longer than any lease */

struct flight {
	int64_t due_ms;
	uint64_t n; /* bytes to the standby, or a frame that it has */
	int64_t sent_ms;
};
struct way {
	struct flight flight[N_FLIGHTS];
	unsigned first, n;
	int64_t last_ms; /* nothing overtakes */
};

struct player {
	struct standby s;
	struct evbuffer *wire;
	struct way to, from;
	bool stands_still, leaves;
	bool is_cut;	  /* the master does not see that it has gone, and has its place still */
	int64_t until_ms; /* to begin; lost then, when it stands still */
	uint64_t told;	  /* frames that it has acknowledged */
};

static struct model {
	struct fm_rng rng;
	struct player p[N_STANDBYS];
	int64_t now_ms;
	uint64_t mark;	/* changes */
	uint64_t first; /* none before is waited for */
	int seed;
	unsigned per_mille;
} model;

static bool
happens(unsigned per_mille)
{
	return fm_rng_below(&model.rng, 1000) < per_mille;
}

/* Mostly at once, now and then as late as it may be. */
static void
send_off(struct way *w, uint64_t n)
{
	int64_t due = model.now_ms + fm_rng_below(&model.rng, happens(10) ? MOST_MS : 2);

	ck_assert_uint_lt(w->n, N_FLIGHTS);
	w->last_ms = due > w->last_ms ? due : w->last_ms;
	w->flight[(w->first + w->n++) % N_FLIGHTS] = (struct flight){ w->last_ms, n, model.now_ms };
}

static bool
arrives(struct way *w, uint64_t *n, int64_t *sent_ms)
{
	if (w->n == 0 || w->flight[w->first].due_ms > model.now_ms)
		return false;
	*n = w->flight[w->first].n;
	*sent_ms = w->flight[w->first].sent_ms;
	w->first = (w->first + 1) % N_FLIGHTS;
	w->n--;
	return true;
}

static void
join_master(struct player *p)
{
	unsigned place = copies_begin(c);
	unsigned id = (unsigned)(p - model.p);

	p->until_ms = model.now_ms + 50;
	if (place == COPIES_MAX)
		return;
	standby_close(&p->s); /* what it believed before ends here */
	standby_open(&p->s, id, false);
	p->s.place = place;
	p->told = 0;
	p->to = p->from = (struct way){ 0 };
	evbuffer_drain(p->wire, evbuffer_get_length(p->wire));
	p->stands_still = p->leaves = false;
	fill(&p->s, model.mark);
}

/* What is on its way to it may arrive all the same. */
static void
lose(struct player *p, bool said)
{
	copies_end(c, p->s.place, said);
	p->s.place = COPIES_MAX;
	p->from.n = 0;
	if (p->stands_still || happens(500))
		p->to.n = 0;
	p->until_ms = model.now_ms + fm_rng_below(&model.rng, 600);
}

static void
send_bytes(struct player *p)
{
	size_t n = evbuffer_get_length(p->wire), one;

	ck_assert(copies_send(c, p->s.place, p->wire));
	if (model.now_ms % LINK_ALIVE_MS == 0)
		copies_alive(c, p->s.place, p->wire, model.now_ms);
	n = evbuffer_get_length(p->wire) - n;
	one = n > 0 ? fm_rng_below(&model.rng, (uint32_t)n + 1) : 0;
	if (one > 0)
		send_off(&p->to, one);
	if (n > one)
		send_off(&p->to, n - one);
}

static void
receive(struct player *p)
{
	int64_t sent_ms;
	bool any = false;
	uint64_t n;

	while (!p->stands_still && arrives(&p->to, &n, &sent_ms)) {
		any = true;
		ck_assert_int_eq(evbuffer_remove_buffer(p->wire, p->s.in, (size_t)n), (int)n);
	}
	ck_assert_int_eq(take_all(&p->s, model.now_ms), 0);
	if (p->s.place == COPIES_MAX || p->leaves || !any || mirror_seq(p->s.m) == 0)
		return;
	p->told = mirror_seq(p->s.m);
	send_off(&p->from, p->told);
}

static void
acknowledged(struct player *p)
{
	struct fm_error err = { 0 };
	int64_t sent_ms;
	uint64_t seq;

	while (arrives(&p->from, &seq, &sent_ms)) {
		if (seq == 0) { /* BYE */
			lose(p, true);
			return;
		}
		ck_assert_int_eq(
		    copies_on_have(c, p->s.place, seq, sent_ms, model.now_ms, &err), 0);
	}
}

/* BYE: from here on it believes nothing. */
static void
leave(struct player *p)
{
	struct fm_error err = { 0 };

	p->leaves = true;
	ck_assert_int_eq(mirror_settle(p->s.m, &err), 0);
	mirror_free(p->s.m);
	p->s.m = NULL;
	send_off(&p->from, 0);
}

/* Its HELLO ends its place, as if it had said BYE; WELCOME comes later. */
static void
play_cut(struct player *p)
{
	if (model.now_ms % LINK_ALIVE_MS == 0) /* to nobody */
		copies_alive(c, p->s.place, p->wire, model.now_ms);
	if (model.now_ms < p->until_ms)
		return;
	copies_end(c, p->s.place, true);
	p->s.place = COPIES_MAX;
	p->is_cut = false;
	p->to.n = p->from.n = 0;
	p->until_ms = model.now_ms + fm_rng_below(&model.rng, 600);
}

static void
play(struct player *p)
{
	if (p->is_cut) {
		play_cut(p);
		return;
	}
	if (p->s.place == COPIES_MAX) {
		if (p->s.m != NULL && !p->leaves)
			receive(p); /* what was under way */
		if (model.now_ms >= p->until_ms)
			join_master(p);
		return;
	}
	if (!p->leaves) {
		send_bytes(p);
		receive(p);
	}
	acknowledged(p);
	if (p->s.place == COPIES_MAX || p->leaves)
		return;
	if (p->stands_still ? model.now_ms >= p->until_ms : happens(2)) {
		lose(p, false);
	} else if (!p->stands_still && happens(1)) {
		p->stands_still = true;
		p->until_ms = model.now_ms + 100 + fm_rng_below(&model.rng, 1000);
	} else if (!p->stands_still && happens(1)) {
		leave(p);
	} else if (!p->stands_still && happens(1)) { /* it connects anew */
		p->is_cut = true;
		p->until_ms = model.now_ms + LINK_BELIEF_MS;
	}
}

/* The answers that may leave now, and what each standby believes. */
static void
look_at_promises(void)
{
	while (model.first <= model.mark && have(model.first, model.now_ms))
		model.first++;
	for (unsigned i = 0; i < N_STANDBYS; i++) {
		struct player *p = &model.p[i];

		if (p->s.m != NULL && mirror_in_sync(p->s.m, model.now_ms))
			ck_assert_msg(store_mark(p->s.store) + 1 >= model.first,
			    "seed %d, %jd ms: standby %u believes that it is in sync, has change "
			    "%ju of %ju that were promised",
			    model.seed, (intmax_t)model.now_ms, i,
			    (uintmax_t)store_mark(p->s.store), (uintmax_t)model.first - 1);
	}
	if (model.first <= model.mark) /* who waits is woken */
		ck_assert_int_le(copies_tick(c, model.now_ms), model.now_ms + LINK_LEASE_MS);
}

START_TEST(no_standby_believes_more_than_it_has)
{
	unsigned n_in_sync = 0;

	memset(&model, 0, sizeof(model));
	fm_rng_seed(&model.rng, (uint64_t)_i);
	model.seed = _i;
	model.per_mille = 5 + fm_rng_below(&model.rng, 200);
	model.first = 1;
	for (unsigned i = 0; i < N_STANDBYS; i++) {
		model.p[i].wire = evbuffer_new();
		model.p[i].s.place = COPIES_MAX;
		model.p[i].until_ms = fm_rng_below(&model.rng, 300);
	}
	for (model.now_ms = 1; model.now_ms < MODEL_MS; model.now_ms++) {
		if (happens(model.per_mille))
			put_mark(++model.mark, model.now_ms);
		look_at_promises();
		for (unsigned i = 0; i < N_STANDBYS; i++) {
			play(&model.p[i]);
			look_at_promises();
			n_in_sync +=
			    model.p[i].s.m != NULL && mirror_in_sync(model.p[i].s.m, model.now_ms);
		}
	}
	ck_assert_uint_gt(n_in_sync, MODEL_MS / 10);
	for (unsigned i = 0; i < N_STANDBYS; i++) {
		standby_close(&model.p[i].s);
		evbuffer_free(model.p[i].wire);
	}
}
END_TEST

/* -------------------------------------------------------------------- equal stores */

#define PREFIX UINT64_C(0xfe80000000000000)
#define MASK_JOIN \
	(SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE | SA_MCR_QKEY | SA_MCR_PKEY | \
	    SA_MCR_TCLASS | SA_MCR_SL | SA_MCR_FLOW_LABEL)
#define MASK_LEAVE (SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE)
#define MASK_SERVICE (SA_SR_ID | SA_SR_GID | SA_SR_PKEY | SA_SR_LEASE | SA_SR_KEY | SA_SR_NAME)

static int64_t clock_ms;

static int64_t
wall_s(void)
{
	return 50000 + clock_ms / 1000;
}

static bool
has_pkey(void *arg, uint64_t port, uint16_t pkey)
{
	(void)arg;
	(void)port;
	return pkey == 0xffff;
}

static void
change_group(struct registry *r, uint64_t low, uint64_t port, bool join)
{
	struct sa_mc_member_record want = { .mgid = { UINT64_C(0xff12a01c00000000), low },
		.port_gid = { PREFIX, port },
		.qkey = 7,
		.pkey = 0xffff,
		.join_state = JOIN_FULL },
				   got;
	struct group_caller caller = {
		.requester = port, .port = port, .mtu = 5, .rate = 7, .has_pkey = has_pkey
	};

	if (join)
		groups_join(registry_groups(r), &want, MASK_JOIN, &caller, &got);
	else
		groups_leave(registry_groups(r), &want, MASK_LEAVE, &caller, &got);
}

static void
change_service(struct registry *r, uint64_t id, uint64_t port, bool set, uint32_t lease_s)
{
	struct sa_service_record want = { .id = id,
		.gid = { PREFIX, port },
		.pkey = 0xffff,
		.lease_s = lease_s },
				 got;

	snprintf((char *)want.name, sizeof(want.name), "service %u", (unsigned)id);
	if (set)
		registry_set_service(r, &want, MASK_SERVICE, port, false, clock_ms, &got);
	else
		registry_delete_service(r, &want, MASK_SERVICE, port, false, clock_ms, &got);
}

/* Anything that a host may ask for, or a port's end. */
static void
change_something(struct registry *r, struct fm_rng *rng)
{
	uint64_t port = 1 + fm_rng_below(rng, 12), low = 1 + fm_rng_below(rng, 8);
	struct mad_addr from = { .lid = (uint16_t)(port + fm_rng_below(rng, 2)), .qpn = 1 };
	struct sa_inform_info info = { .lid_begin = 1,
		.lid_end = (uint16_t)low,
		.is_generic = 1,
		.trap_number = 64,
		.subscribe = fm_rng_below(rng, 3) > 0 };
	uint64_t guid[8] = { 0 };
	bool more = fm_rng_below(rng, 3) > 0;

	switch (fm_rng_below(rng, 12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		change_group(r, low, port, more);
		break;
	case 4:
	case 5:
	case 6:
		change_service(r, low, port, more, low % 2 == 0 ? UINT32_MAX : (uint32_t)low * 5);
		break;
	case 7:
	case 8:
		registry_inform(r, &info, port, (struct sa_gid){ PREFIX, port }, &from);
		break;
	case 9:
	case 10:
		guid[low % 7 + 1] = 0xa00 + fm_rng_below(rng, 40);
		if (more)
			registry_set_aliases(
			    r, port, (uint8_t)(low % 3), 1u << (low % 7 + 1), guid);
		else
			registry_delete_aliases(r, port, (uint8_t)(low % 3), 1u << (low % 7 + 1));
		break;
	default:
		if (fm_rng_below(rng, 4) == 0)
			registry_drop_port(r, port);
	}
}

static uint64_t
put_records(void *arg, const struct store_record *r, uint32_t n, bool anew)
{
	struct evbuffer *data = evbuffer_new();
	uint64_t number;

	(void)arg;
	ck_assert(link_add_records(data, r, n, anew));
	number = copies_put(c, LINK_RECORDS, data, clock_ms);
	evbuffer_free(data);
	return number;
}

static bool
have_records(void *arg, uint64_t number)
{
	(void)arg;
	return have(number, clock_ms);
}

static const struct saver_copy to_copies = { put_records, have_records, NULL };

/* A standby begins, of whose life before something is left in its store. */
static void
begin_with_copy(struct standby *s, unsigned id, struct registry *r)
{
	static const uint8_t key[10] = { 'A', 9 }, value[64] = { 1 };
	struct store_record old = { key, value, sizeof(key), sizeof(value) };
	struct registry_batch *b = NULL;
	struct evbuffer *data = evbuffer_new();
	struct fm_error err = { 0 };
	struct store_record *records;
	uint32_t n;
	bool anew;

	standby_open(s, id, true);
	ck_assert_int_eq(store_put(s->store, &old, 1, false, &err), 0);
	s->place = copies_begin(c);
	ck_assert_msg(registry_copy(r, clock_ms, wall_s(), &b, &err) == 0, "%s", err.msg);
	records = registry_batch_records(b, &n, &anew);
	ck_assert(anew);
	ck_assert(link_add_records(data, records, n, anew));
	copies_put_to(c, s->place, LINK_RECORDS, data);
	fill(s, 1);
	free(records);
	registry_batch_free(b);
	evbuffer_free(data);
}

struct bytes {
	uint8_t *at;
	size_t n;
	unsigned n_records;
};

static bool
add_to_bytes(void *arg, const struct store_record *r)
{
	struct bytes *b = arg;

	b->at = realloc(b->at, b->n + r->n_key + r->n_value + 2);
	b->at[b->n++] = (uint8_t)r->n_key;
	b->at[b->n++] = (uint8_t)r->n_value;
	memcpy(b->at + b->n, r->key, r->n_key);
	memcpy(b->at + b->n + r->n_key, r->value, r->n_value);
	b->n += r->n_key + r->n_value;
	b->n_records++;
	return true;
}

static struct bytes
all_of(struct store *s)
{
	struct bytes b = { 0 };
	struct fm_error err = { 0 };
	uint32_t n_aside;

	ck_assert_msg(store_each(s, add_to_bytes, &b, &n_aside, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(n_aside, 0);
	return b;
}

static void
expect_equal(struct store *a, struct store *b)
{
	struct bytes of_a = all_of(a), of_b = all_of(b);

	ck_assert_uint_gt(of_a.n, 0);
	ck_assert_uint_eq(of_a.n, of_b.n);
	ck_assert_mem_eq(of_a.at, of_b.at, of_a.n);
	free(of_a.at);
	free(of_b.at);
}

/* What a registry makes of both. */
static void
expect_same_loaded(struct store *a, struct store *b, const struct registry_settings *set)
{
	struct registry *of_a = registry_new(set), *of_b = registry_new(set);
	struct fm_error err = { 0 };

	ck_assert_int_eq(registry_load(of_a, a, clock_ms, wall_s(), &err), 0);
	ck_assert_int_eq(registry_load(of_b, b, clock_ms, wall_s(), &err), 0);
	ck_assert(!registry_lacks(of_b));
	ck_assert_uint_eq(registry_n_services(of_a), registry_n_services(of_b));
	ck_assert_uint_eq(registry_n_subscriptions(of_a), registry_n_subscriptions(of_b));
	ck_assert_uint_eq(groups_count(registry_groups(of_a)), groups_count(registry_groups(of_b)));
	registry_free(of_a);
	registry_free(of_b);
}

static void
finish(struct saver *s, struct standby *to, unsigned n)
{
	struct fm_error err = { 0 };

	for (unsigned i = 0; i < 60000 && saver_tick(s, clock_ms) != INT64_MAX; i++) {
		clock_ms += 1000;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	for (unsigned i = 0; i < n; i++) {
		deliver(&to[i], clock_ms);
		acknowledge(&to[i], clock_ms);
		ck_assert_msg(mirror_settle(to[i].m, &err) == 0, "%s", err.msg);
	}
	ck_assert(saver_may_send(s, saver_number(s)));
	saver_free(s);
}

/* Standbys begin early and late; the master writes by a thread, or by its ticks. */
START_TEST(stores_are_equal)
{
	struct standby to[COPIES_MAX];
	struct registry_settings set;
	struct fm_error err = { 0 };
	struct store *store;
	struct registry *r;
	struct saver *saver;
	struct fm_rng rng;
	char sub[64];
	unsigned n = 0;

	clock_ms = 1000;
	fm_rng_seed(&rng, (uint64_t)_i);
	registry_settings_default(&set);
	r = registry_new(&set);
	snprintf(sub, sizeof(sub), "%s/master", dir);
	ck_assert_msg(store_open(sub, &store, &err) == 0, "%s", err.msg);
	saver = saver_new(r, store, wall_s, _i % 2 == 0);
	saver_set_copy(saver, &to_copies);
	for (unsigned i = 0; i < 200; i++) {
		if (i % 60 == 20) {
			begin_with_copy(&to[n], n, r);
			n++;
		}
		for (unsigned k = fm_rng_below(&rng, 5); k > 0; k--)
			change_something(r, &rng);
		if (fm_rng_below(&rng, 3) > 0)
			saver_tick(saver, clock_ms);
		if (n > 0 && fm_rng_below(&rng, 2) > 0)
			deliver(&to[fm_rng_below(&rng, n)], clock_ms);
		if (i % 8 == 0)
			clock_ms += 1000;
		registry_tick(r, clock_ms);
	}
	ck_assert_uint_eq(n, 3);
	finish(saver, to, n);
	for (unsigned i = 0; i < n; i++) {
		expect_equal(store, to[i].store);
		expect_same_loaded(store, to[i].store, &set);
		standby_close(&to[i]);
	}
	ck_assert(registry_clear(r)); /* the store stays as it is */
	ck_assert(!registry_is_dirty(r));
	ck_assert_uint_eq(registry_n_services(r) + groups_count(registry_groups(r)), 0);
	ck_assert_int_eq(registry_save(r, store, clock_ms, wall_s(), &err), 0);
	ck_assert_int_eq(registry_load(r, store, clock_ms, wall_s(), &err), 0);
	ck_assert_uint_gt(registry_n_services(r) + groups_count(registry_groups(r)), 0);
	registry_free(r);
	store_close(store);
}
END_TEST

static atomic_uint n_commits;
static sem_t gate;

static void
on_commit(const char *what, const char *which)
{
	if (strcmp(what, "commit") == 0 && strcmp(which, "records") == 0 &&
	    atomic_fetch_add(&n_commits, 1) == 0)
		sem_wait(&gate);
}

static void
put_lids(const struct store_lid *lids, uint32_t n)
{
	struct evbuffer *data = evbuffer_new();

	ck_assert(link_add_lids(data, lids, n));
	copies_put(c, LINK_LIDS, data, 0);
	evbuffer_free(data);
}

/* Also those of its life before go, which may be another's now. */
START_TEST(lids_are_those_of_the_master)
{
	static const struct store_lid before[] = { { 1, 5, 0 }, { 2, 6, 0 }, { 3, 7, 0 } },
				      now[] = { { 2, 6, 0 }, { 4, 5, 0 } };
	struct fm_error err = { 0 };
	struct standby s;

	standby_open(&s, 0, true);
	ck_assert_int_eq(store_put_lids(s.store, before, 3, &err), 0);
	s.place = copies_begin(c);
	put_lids(now, 2);
	deliver(&s, 0);
	ck_assert_uint_eq(store_n_lids(s.store), 2);
	ck_assert_uint_eq(store_lid(s.store, 1), 0);
	ck_assert_uint_eq(store_lid(s.store, 2), 6);
	ck_assert_uint_eq(store_lid(s.store, 4), 5);
	put_lids(now, 0);
	deliver(&s, 0);
	ck_assert_uint_eq(store_n_lids(s.store), 0);
	standby_close(&s);
}
END_TEST

/* What has gathered while the disk was slow costs one commit, the last word of each key counts, and
 * what comes anew leaves nothing of what there was. */
START_TEST(frames_that_wait_are_one_commit)
{
	static const uint8_t gone[10] = { 'A', 9 }, value[64] = { 1 };
	struct store_record old = { gone, value, sizeof(gone), sizeof(value) };
	struct registry_settings set;
	struct fm_error err = { 0 };
	struct registry *r;
	struct standby s;
	struct bytes all;

	clock_ms = 0;
	registry_settings_default(&set);
	r = registry_new(&set);
	standby_open(&s, 0, true);
	ck_assert_int_eq(store_put(s.store, &old, 1, false, &err), 0);
	atomic_store(&n_commits, 0);
	sem_init(&gate, 0, 0);
	fm_fault_point_hook(on_commit);
	s.place = copies_begin(c);
	for (unsigned i = 0; i < 40; i++) {
		struct registry_batch *b = NULL;
		struct store_record *records;
		uint32_t n;
		bool anew;

		change_service(r, 1, 1, i % 2 == 0, UINT32_MAX);
		change_service(r, 2 + i, 1, true, UINT32_MAX);
		if (i == 20) { /* everything, in which this one is not */
			change_service(r, 5, 1, false, 0);
			registry_not_kept(r);
		}
		ck_assert_int_eq(registry_collect(r, 0, wall_s(), &b, &err), 0);
		records = registry_batch_records(b, &n, &anew);
		put_records(NULL, records, n, anew);
		free(records);
		registry_batch_free(b);
		if (i == 0) {
			deliver(&s, 0);
			while (atomic_load(&n_commits) == 0)
				nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		}
	}
	deliver(&s, 0);
	sem_post(&gate);
	ck_assert_msg(mirror_settle(s.m, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(atomic_load(&n_commits), 2);
	all = all_of(s.store);
	ck_assert_uint_eq(all.n_records, 39);
	free(all.at);
	registry_free(r);
	r = registry_new(&set);
	ck_assert_int_eq(registry_load(r, s.store, 0, wall_s(), &err), 0);
	ck_assert_uint_eq(registry_n_services(r), 39);
	registry_free(r);
	fm_fault_point_hook(NULL);
	sem_destroy(&gate);
	standby_close(&s);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("copies");
	TCase *t = tcase_create("copies");

	event_set_mem_functions(may_fail, realloc, free); /* before the first evbuffer */
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, where_nobody_has_a_copy_nobody_waits);
	tcase_add_test(t, states_follow_what_is_acknowledged);
	tcase_add_test(t, nobody_has_what_was_not_sent);
	tcase_add_loop_test(t, nothing_is_promised_where_it_is_open_who_rules, 0, 2);
	tcase_add_test(t, places_are_few);
	tcase_add_loop_test(t, who_is_gone_is_waited_for_till_its_lease_ends, 0, 2);
	tcase_add_test(t, who_is_gone_is_waited_for_also_when_another_comes);
	tcase_add_test(t, what_was_before_a_standby_is_in_what_it_has);
	tcase_add_test(t, who_is_slow_falls_behind);
	tcase_add_test(t, who_is_in_time_stays_in_sync);
	tcase_add_loop_test(t, who_owes_too_much_begins_anew, 0, 3);
	tcase_add_test(t, without_memory_nobody_has_a_change);
	tcase_add_test(t, any_thread_may_put);
	tcase_add_test(t, files_come_in_parts_between_changes);
	tcase_add_test(t, a_file_without_bytes_is_none);
	tcase_add_test(t, a_file_that_has_changed_is_sent_as_what_differs);
	tcase_add_test(t, who_is_in_the_middle_of_a_file_gets_the_newest);
	tcase_add_loop_test(t, what_differs_is_found_beside_the_loop, 0, 3);
	tcase_add_loop_test(t, a_difference_to_another_file_is_refused, 0, 3);
	tcase_add_loop_test(t, a_mirror_refuses_what_is_wrong, 0,
	    (int)(sizeof(wrong_frames) / sizeof(wrong_frames[0])));
	tcase_add_test(t, what_cannot_be_written_is_told);
	tcase_add_loop_test(t, no_standby_believes_more_than_it_has, 0, (int)n_cases(N_SEEDS));
	tcase_add_loop_test(t, stores_are_equal, 0, (int)n_cases(12));
	tcase_add_test(t, lids_are_those_of_the_master);
	tcase_add_test(t, frames_that_wait_are_one_commit);
	suite_add_tcase(s, t);
	return run_suite(s);
}
