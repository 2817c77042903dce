/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is logged and told becomes events, numbered; they outlive the process in a file that is
 * bounded, and whatever is found in it is bad input like any other.
 */
#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/events/events.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"

#define SMALL 4096 /* bytes of a file that is bounded */

static char dir[FOLDER_ROOM], path[64], before[64];
static int n_woken, n_logged;

static void
count_wake(void *arg)
{
	n_woken++;
}

static void
count_line(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	n_logged++;
}

static void
set_up(void)
{
	folder_make(dir);
	snprintf(path, sizeof(path), "%s/events.jsonl", dir);
	snprintf(before, sizeof(before), "%s/events.jsonl.1", dir);
	fm_log_set_sink(count_line, NULL);
	n_woken = n_logged = 0;
}

static void
tear_down(void)
{
	folder_remove(dir);
}

static struct events *
begin(void)
{
	struct events *e = events_new(count_wake, NULL);

	ck_assert_ptr_nonnull(e);
	return e;
}

/* ... as fmd starts, with the file. */
static struct events *
begin_kept(uint64_t max_bytes)
{
	struct events *e = begin();

	events_open(e, path, max_bytes);
	return e;
}

/* The answer to what the keys of a JSON object ask for. */
static json_t *
ask(struct events *e, const char *args)
{
	json_t *o = json_loads(args, 0, NULL), *all = NULL;
	struct events_query q;
	struct fm_error err = { 0 };

	ck_assert_ptr_nonnull(o);
	events_step(e);
	ck_assert_msg(events_read_query(o, INT64_C(1800000000000), &q, &err) == 0, "%s", err.msg);
	ck_assert_msg(events_json(e, &q, &all, &err) == 0, "%s", err.msg);
	json_decref(o);
	return all;
}

static const char *
text_of(const json_t *all, size_t i)
{
	return json_string_value(json_object_get(json_array_get(all, i), "text"));
}

static json_int_t
number_of(const json_t *all, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(all, i), key));
}

static const char *
kind_of(const json_t *all, size_t i)
{
	return json_string_value(json_object_get(json_array_get(all, i), "kind"));
}

/* A node may have any name, and a sentence may be cut off within a letter. */
START_TEST(texts_that_are_no_utf8)
{
	struct events *e = begin();
	json_t *all;

	events_add(EVENT_MOVED, FM_LOG_DEBUG, "test", NULL, "switch \"k\344se\" is gone");
	events_add(EVENT_MOVED, FM_LOG_DEBUG, "test", NULL, "switch \"k\303\244se\" is gone");
	all = ask(e, "{}");
	ck_assert_uint_eq(json_array_size(all), 2);
	ck_assert_str_eq(text_of(all, 0), "switch \"k?se\" is gone");
	ck_assert_str_eq(text_of(all, 1), "switch \"k\303\244se\" is gone");
	json_decref(all);
	events_free(e);
}
END_TEST

START_TEST(the_oldest_are_overwritten)
{
	struct events *e = begin();
	json_t *all;

	for (int i = 1; i <= EVENTS_MAX + 5; i++)
		events_add(EVENT_MOVED, FM_LOG_DEBUG, "test",
		    i == 1005 ? json_pack("{s:i}", "lid", 3) : NULL, "event %d", i);
	all = ask(e, "{\"last\": 1000}");
	ck_assert_uint_eq(json_array_size(all), EVENTS_MAX);
	ck_assert_str_eq(text_of(all, 0), "event 6");
	json_decref(all);
	all = ask(e, "{\"after\": 1000, \"last\": 2}");
	ck_assert_uint_eq(json_array_size(all), 2);
	ck_assert_int_eq(number_of(all, 0, "n"), 1004);
	ck_assert_int_eq(json_integer_value(json_object_get(
			     json_object_get(json_array_get(all, 1), "facts"), "lid")),
	    3);
	json_decref(all);
	all = ask(e, "{\"after\": 1005}");
	ck_assert_uint_eq(json_array_size(all), 0);
	json_decref(all);
	events_free(e);
}
END_TEST

START_TEST(warnings_are_events)
{
	struct events *e = begin();
	uint64_t n;
	json_t *all;

	fm_log_set_level(FM_LOG_ERR);
	log_warn("sweep", "a port does not answer");
	log_err("no such room", "this is worse");
	fm_log_set_level(FM_LOG_INFO);
	log_notice("sweep", "a cable has come");
	log_beside(FM_LOG_WARN, "sweep", "another event tells of it");
	n = events_add(EVENT_CAME_CABLES, FM_LOG_NOTICE, "fabric", NULL, "it has come");
	ck_assert_uint_eq(n, 3);
	n = event_tell(&(struct telling){ .kind = EVENT_SLOW, .unlogged = true }, FM_LOG_WARN,
	    "fabric", "it is slow");
	ck_assert_uint_eq(n, 4);
	ck_assert_int_eq(n_logged, 4); /* the error, two notices, what stands beside */
	all = ask(e, "{}");
	ck_assert_uint_eq(json_array_size(all), 4);
	ck_assert_str_eq(kind_of(all, 0), "warning-sweep");
	ck_assert_str_eq(kind_of(all, 1), "warning-other");
	ck_assert_str_eq(kind_of(all, 2), "came-cables");
	ck_assert_str_eq(kind_of(all, 3), "slow");
	ck_assert_int_eq(n_woken, 1);
	json_decref(all);
	events_free(e);
	ck_assert_uint_eq(events_add(EVENT_SLOW, FM_LOG_WARN, "fabric", json_object(), "x"), 0);
}
END_TEST

START_TEST(a_bucket_has_a_kind)
{
	struct fm_log_bucket bucket = {
		.burst = 2, .every_ms = 3600000, .kind = EVENT_NODE_REFUSES
	};
	struct fm_log_bucket other = bucket;
	struct events *e = begin();
	json_t *all;

	fm_log_rl(&other, FM_LOG_NOTICE, "sweep", "its kind is of warnings only");
	fm_log_set_level(FM_LOG_ERR);
	for (int i = 0; i < 5; i++)
		fm_log_rl(&bucket, FM_LOG_WARN, "sweep", "line %d", i);
	all = ask(e, "{}");
	ck_assert_uint_eq(json_array_size(all), 2);
	ck_assert_str_eq(kind_of(all, 1), "node-refuses");
	json_decref(all);
	events_free(e);
}
END_TEST

static void *
warn_often(void *arg)
{
	for (int i = 0; i < 200; i++)
		log_warn("sa", "%d", i);
	return NULL;
}

START_TEST(any_thread_may_warn)
{
	struct events *e = begin();
	pthread_t thread[4];
	json_t *all;

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, warn_often, NULL), 0);
	for (int i = 0; i < 50; i++)
		events_step(e);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	all = ask(e, "{\"after\": 0, \"max\": 1000}");
	ck_assert_uint_eq(json_array_size(all), 800);
	for (size_t i = 0; i < 800; i++)
		ck_assert_int_eq(number_of(all, i, "n"), (json_int_t)i + 1);
	json_decref(all);
	events_free(e);
}
END_TEST

START_TEST(a_gap_is_told)
{
	struct events *e = begin();
	json_t *all, *counts;

	for (int i = 0; i < EVENTS_WAITING + 10; i++)
		log_warn("sa", "%d", i);
	events_step(e);
	log_warn("sweep", "after the flood");
	all = ask(e, "{\"kind\": \"slow,warning-sweep\"}");
	ck_assert_uint_eq(json_array_size(all), 2);
	ck_assert_int_eq(number_of(all, 0, "gap"), 10);
	ck_assert_int_eq(number_of(all, 1, "n"), EVENTS_WAITING + 11);
	json_decref(all);
	/* of a number that is in the ring no more */
	all = ask(e, "{\"after\": 7, \"max\": 3}");
	ck_assert_int_eq(number_of(all, 0, "gap"), EVENTS_WAITING + 1 - EVENTS_MAX - 7);
	ck_assert_int_eq(number_of(all, 1, "n"), EVENTS_WAITING + 2 - EVENTS_MAX);
	ck_assert_uint_eq(json_array_size(all), 4);
	json_decref(all);
	counts = events_counts_json(e);
	ck_assert_int_eq(json_integer_value(json_object_get(counts, "warning-sa")), EVENTS_WAITING);
	ck_assert_int_eq(json_integer_value(json_object_get(counts, "warning-sweep")), 1);
	ck_assert_uint_eq(json_object_size(counts), 2);
	json_decref(counts);
	events_free(e);
}
END_TEST

START_TEST(an_end_names_what_began)
{
	struct events *e = begin();
	uint64_t n = events_add(EVENT_NO_LINK, FM_LOG_WARN, "sweep", NULL, "no link");
	json_t *all;

	event_end(n, EVENT_NO_LINK, "sweep", "a link");
	event_end(0, EVENT_NO_LINK, "sweep", "of what nobody has told");
	all = ask(e, "{}");
	ck_assert_uint_eq(json_array_size(all), 2);
	ck_assert_int_eq(number_of(all, 1, "ends"), 1);
	ck_assert_ptr_null(json_object_get(json_array_get(all, 0), "ends"));
	json_decref(all);
	events_free(e);
}
END_TEST

/* ------------------------------------------------------------------ the file */

START_TEST(numbers_go_on_over_a_restart)
{
	struct events *e = begin_kept(EVENTS_FILE_BYTES);
	uint64_t began;
	json_t *all;

	for (int i = 1; i <= 3; i++)
		events_add(EVENT_MOVED, FM_LOG_NOTICE, "test", json_pack("{s:i}", "i", i), "%d", i);
	events_free(e);
	e = begin();
	log_warn("conf", "told before the file is read");
	began = events_add(EVENT_NO_LINK, FM_LOG_WARN, "sweep", NULL, "likewise");
	event_end(began, EVENT_NO_LINK, "sweep", "and ended");
	events_open(e, path, EVENTS_FILE_BYTES);
	ck_assert_uint_eq(events_add(EVENT_MOVED, FM_LOG_NOTICE, "test", NULL, "new"), 7);
	all = ask(e, "{\"after\": 0}");
	ck_assert_uint_eq(json_array_size(all), 7);
	for (size_t i = 0; i < 7; i++)
		ck_assert_int_eq(number_of(all, i, "n"), (json_int_t)i + 1);
	ck_assert_str_eq(text_of(all, 2), "3");
	ck_assert_int_eq(number_of(all, 5, "ends"), 5);
	json_decref(all);
	events_free(e);
}
END_TEST

/* Each line of a file is an event with the next number; how many there are, from *n on. */
static size_t
check_lines(const char *name, json_int_t *n)
{
	FILE *f = fopen(name, "r");
	char line[2048];
	size_t lines = 0;

	ck_assert_ptr_nonnull(f);
	for (; fgets(line, sizeof(line), f) != NULL; lines++) {
		json_t *event = json_loads(line, 0, NULL);

		ck_assert_msg(event != NULL, "%s: %s", name, line);
		if (*n == 0)
			*n = json_integer_value(json_object_get(event, "n"));
		ck_assert_int_eq(json_integer_value(json_object_get(event, "n")), *n);
		++*n;
		json_decref(event);
	}
	fclose(f);
	return lines;
}

START_TEST(files_are_bounded)
{
	struct events *e = begin_kept(SMALL);
	struct stat st;
	json_int_t next = 0;
	json_t *all;
	size_t n;

	for (int i = 1; i <= 200; i++) {
		events_add(EVENT_MOVED, FM_LOG_NOTICE, "test", NULL, "event %d", i);
		events_step(e);
		ck_assert(stat(path, &st) == 0 && st.st_size <= SMALL);
		ck_assert(stat(before, &st) != 0 || st.st_size <= SMALL);
	}
	events_free(e);
	n = check_lines(before, &next);
	n += check_lines(path, &next);
	ck_assert_int_eq(next, 201);
	e = begin_kept(SMALL);
	all = ask(e, "{\"last\": 1000}");
	ck_assert_uint_eq(json_array_size(all), n);
	ck_assert_str_eq(text_of(all, n - 1), "event 200");
	json_decref(all);
	ck_assert_uint_eq(events_add(EVENT_MOVED, FM_LOG_NOTICE, "test", NULL, "x"), 201);
	events_free(e);
}
END_TEST

/* ------------------------------------------------------- older than the ring */

#define N_TOLD 3000

/* N_TOLD events, a minute between two of them, of which the ring has the last EVENTS_MAX; kinds by
 * turns: moved, slow, slow.  max_bytes: of the file. */
static struct events *
tell_many(uint64_t max_bytes)
{
	FILE *f = fopen(path, "w");
	struct events *e;

	ck_assert_ptr_nonnull(f);
	for (int i = 1; i <= N_TOLD; i++) {
		char time[EVENTS_TIME];

		events_say_time(INT64_C(1700000000000) + i * INT64_C(60000), time);
		fprintf(f,
		    "{\"n\":%d,\"time\":\"%s\",\"level\":\"warn\",\"subsystem\":\"x\",\"kind\":\"%"
		    "s\","
		    "\"text\":\"\\\"kind\\\":\\\"moved\\\" %d\"}\n",
		    i, time, i % 3 == 1 ? "moved" : "slow", i);
		if (i == N_TOLD / 2) {
			fclose(f);
			ck_assert_int_eq(rename(path, before), 0);
			f = fopen(path, "w");
			ck_assert_ptr_nonnull(f);
		}
	}
	fclose(f);
	e = begin_kept(max_bytes);
	return e;
}

static bool
is_meant(const struct events_query *q, json_int_t n)
{
	const char *kind = n % 3 == 1 ? "moved" : "slow";

	return (!q->has_after || (uint64_t)n > q->after) &&
	    INT64_C(1700000000000) + n * INT64_C(60000) >= q->since_ms &&
	    (q->kinds == NULL || events_have_kind(q->kinds, kind));
}

/* Each event that is asked for, and nothing else, against counting. */
static void
check_answer(struct events *e, const char *args)
{
	json_t *o = json_loads(args, 0, NULL), *all;
	struct events_query q;
	struct fm_error err = { 0 };
	json_int_t want[N_TOLD];
	size_t n = 0, from = 0;

	ck_assert(events_read_query(o, INT64_C(1800000000000), &q, &err) == 0);
	for (json_int_t i = 1; i <= N_TOLD; i++)
		if (is_meant(&q, i))
			want[n++] = i;
	if (q.last > 0 && n > q.last)
		from = n - q.last;
	if (q.first > 0 && n > q.first)
		n = q.first;
	all = ask(e, args);
	ck_assert_msg(json_array_size(all) == n - from, "%s: %zu, not %zu", args,
	    json_array_size(all), n - from);
	for (size_t i = from; i < n; i++)
		ck_assert_msg(number_of(all, i - from, "n") == want[i],
		    "%s: %zu-th is %" JSON_INTEGER_FORMAT ", not %" JSON_INTEGER_FORMAT, args,
		    i - from, number_of(all, i - from, "n"), want[i]);
	json_decref(all);
	json_decref(o);
}

START_TEST(older_ones_are_in_the_file)
{
	static const char *const kinds[] = { "", ", \"kind\": \"moved\"",
		", \"kind\": \"slow,renamed\"", ", \"kind\": \"renamed\"" };
	struct events *e = tell_many(EVENTS_FILE_BYTES);
	struct fm_rng rng;
	char args[160];

	fm_rng_seed(&rng, 25);
	for (int i = 0; i < 300; i++) {
		int n = snprintf(args, sizeof(args), "{\"%s\": %u%s", i % 2 ? "last" : "max",
		    1 + (unsigned)fm_rng_below(&rng, EVENTS_MOST), kinds[i / 2 % 4]);
		char time[EVENTS_TIME];

		if (i % 5 == 1)
			n += snprintf(args + n, sizeof(args) - (size_t)n, ", \"after\": %u",
			    (unsigned)fm_rng_below(&rng, N_TOLD));
		events_say_time(
		    INT64_C(1700000030000) + (int64_t)fm_rng_below(&rng, N_TOLD) * INT64_C(60000),
		    time);
		if (i % 5 > 2)
			n += snprintf(
			    args + n, sizeof(args) - (size_t)n, ", \"since\": \"%s\"", time);
		snprintf(args + n, sizeof(args) - (size_t)n, "}");
		check_answer(e, args);
	}
	events_free(e);
}
END_TEST

START_TEST(what_the_file_has_no_more_is_a_gap)
{
	struct events *e = tell_many(EVENTS_FILE_BYTES);
	json_t *all;

	ck_assert_int_eq(remove(before), 0); /* 1 to 1500 */
	all = ask(e, "{\"since\": \"2001-01-01\", \"max\": 2}");
	ck_assert_uint_eq(json_array_size(all), 3);
	ck_assert_int_eq(number_of(all, 0, "gap"), 1500);
	ck_assert_int_eq(number_of(all, 1, "n"), 1501);
	json_decref(all);
	all = ask(e, "{\"after\": 100, \"max\": 1, \"kind\": \"moved\"}");
	ck_assert_int_eq(number_of(all, 0, "gap"), 1400);
	ck_assert_int_eq(number_of(all, 1, "n"), 1501 + 1501 % 3 - 1);
	json_decref(all);
	all = ask(e, "{\"last\": 1000, \"kind\": \"slow\"}"); /* whatever was before */
	ck_assert_uint_eq(json_array_size(all), 1000);
	json_decref(all);
	events_free(e);
}
END_TEST

/* Lines that are none, and a folder in its place. */
START_TEST(older_ones_are_bad_input)
{
	struct events *e = tell_many(EVENTS_FILE_BYTES);
	json_t *all;

	folder_write(dir, "events.jsonl.1",
	    "{\"n\":\n{\"n\":99999999999999999999999,\"time\":\"\n{\"n\":5,\"time\":\"2023-11-"
	    "14T22:18:20.000Z\"\n"
	    "\n{\"n\":7,\"time\":\"2023-11-14T22:20:20.000Z\",\"level\":\"warn\",\"subsystem\":"
	    "\"x\",\"kind\":\"slow\","
	    "\"text\":\"whole\"}\n{\"n\":8,\"time\":\"2023-11-14T22:21:20.000Z\",\"kind\":"
	    "\"slow\"");
	all = ask(e, "{\"since\": \"2023-11-14\", \"max\": 1}");
	ck_assert_str_eq(text_of(all, 1), "whole");
	ck_assert_int_eq(number_of(all, 0, "gap"), 6);
	json_decref(all);
	ck_assert(remove(path) == 0 && mkdir(path, 0700) == 0);
	all = ask(e, "{\"since\": \"2023-11-14\", \"max\": 1}");
	ck_assert_int_eq(number_of(all, 0, "gap"), N_TOLD - EVENTS_MAX);
	json_decref(all);
	ck_assert_int_eq(rmdir(path), 0);
	events_free(e);
}
END_TEST

#define LINE(n) \
	"{\"n\":" n ",\"time\":\"2026-11-29T18:00:00.000Z\",\"level\":\"warn\",\"subsystem\":" \
	"\"sweep\",\"kind\":\"slow\",\"text\":\"it is slow\"}"

START_TEST(a_torn_line)
{
	json_int_t next = 41;
	struct events *e;
	json_t *all;

	folder_write(dir, "events.jsonl", LINE("41") "\n{\"n\":42,\"time\":\"20");
	e = begin_kept(EVENTS_FILE_BYTES);
	all = ask(e, "{}");
	ck_assert_uint_eq(json_array_size(all), 2);
	ck_assert_str_eq(kind_of(all, 1), "events-damaged");
	ck_assert_int_eq(number_of(all, 1, "n"), 42);
	ck_assert_ptr_nonnull(strstr(text_of(all, 1), "its last 18 bytes are left out"));
	json_decref(all);
	events_free(e);
	ck_assert_uint_eq(check_lines(path, &next), 2);
	e = begin_kept(EVENTS_FILE_BYTES); /* nothing is wrong any more */
	all = ask(e, "{}");
	ck_assert_uint_eq(json_array_size(all), 2);
	json_decref(all);
	events_free(e);
}
END_TEST

static const struct {
	const char *line, *why;
} wrong[] = { { "", "it is no object" }, { "[]", "it is no object" },
	{ "{\"n\":42", "it is no object" }, { LINE("0"), "it has no number" },
	{ LINE("\"42\""), "it has no number" }, { LINE("9007199254740993"), "it has no number" },
	{ LINE("-3"), "it has no number" }, { LINE("41"), "its number is not above" },
	{ "{\"n\":42,\"time\":7}", "it has no time" },
	{ "{\"n\":42,\"time\":\"soon\"}", "it has no time" },
	{ "{\"n\":42,\"time\":\"2026-11-29T18:00:00Z\"}", "it lacks its level" },
	{ "{\"n\":42,\"n\":43}", "it is no object" } };

/* A line that is no event is passed over, and told with its number. */
START_TEST(wrong_lines)
{
	char text[1024], where[128];
	struct events *e;
	json_t *all;

	snprintf(text, sizeof(text), "%s\n%s\n%s\n", LINE("41"), wrong[_i].line, LINE("50"));
	folder_write(dir, "events.jsonl", text);
	e = begin_kept(EVENTS_FILE_BYTES);
	all = ask(e, "{}");
	ck_assert_uint_eq(json_array_size(all), 4); /* with the gap between 41 and 50 */
	ck_assert_int_eq(number_of(all, 1, "gap"), 8);
	ck_assert_int_eq(number_of(all, 3, "n"), 51);
	snprintf(where, sizeof(where), "%s: line 2 is no event, as ", path);
	ck_assert_msg(strncmp(text_of(all, 3), where, strlen(where)) == 0 &&
		strstr(text_of(all, 3), wrong[_i].why) != NULL,
	    "%s", text_of(all, 3));
	json_decref(all);
	events_free(e);
}
END_TEST

/* The disk is full, and has room again. */
START_TEST(a_full_disk)
{
	struct events *e = begin_kept(EVENTS_FILE_BYTES);
	struct rlimit few = { 300, RLIM_INFINITY }, all_there_is = { RLIM_INFINITY, RLIM_INFINITY };
	json_int_t next = 0;
	json_t *all;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &few), 0); /* of Check's own file, too */
	for (int i = 1; i <= 10; i++) {
		events_add(EVENT_MOVED, FM_LOG_NOTICE, "test", NULL, "event %d", i);
		events_step(e);
	}
	setrlimit(RLIMIT_FSIZE, &all_there_is);
	all = ask(e, "{\"kind\": \"events-not-kept\"}");
	ck_assert_uint_eq(json_array_size(all), 1);
	json_decref(all);
	all = ask(e, "{}");
	ck_assert_uint_eq(json_array_size(all), 11);
	json_decref(all);
	ck_assert_uint_eq(check_lines(path, &next), 2); /* whole ones */
	events_add(EVENT_MOVED, FM_LOG_NOTICE, "test", NULL, "event 11");
	events_step(e);
	all = ask(e, "{\"kind\": \"events-not-kept\"}");
	ck_assert_uint_eq(json_array_size(all), 2);
	ck_assert_int_eq(number_of(all, 1, "ends"), number_of(all, 0, "n"));
	ck_assert_ptr_nonnull(strstr(text_of(all, 1), "it lacks 9"));
	json_decref(all);
	events_free(e);
	e = begin_kept(EVENTS_FILE_BYTES);
	all = ask(e, "{\"after\": 0}");
	ck_assert_uint_eq(json_array_size(all), 5);
	ck_assert_int_eq(number_of(all, 2, "gap"), 9);
	json_decref(all);
	events_free(e);
}
END_TEST

/* Somebody has removed it. */
START_TEST(a_file_that_is_gone)
{
	struct events *e = begin_kept(EVENTS_FILE_BYTES);
	json_int_t next = 2;

	events_add(EVENT_MOVED, FM_LOG_NOTICE, "test", NULL, "one");
	events_step(e);
	ck_assert_int_eq(unlink(path), 0);
	events_add(EVENT_MOVED, FM_LOG_NOTICE, "test", NULL, "two");
	events_step(e);
	ck_assert_uint_eq(check_lines(path, &next), 1);
	events_free(e);
}
END_TEST

/* What could not be read is told, and that nothing can be written; what it leads to stays. */
START_TEST(a_link_in_the_place_of_the_file)
{
	char other[64];
	struct events *e;
	struct stat st;
	json_t *all;

	folder_write(dir, "other", LINE("41") "\n");
	snprintf(other, sizeof(other), "%s/other", dir);
	ck_assert_int_eq(symlink(_i == 0 ? "/dev/zero" : other, path), 0);
	e = begin_kept(EVENTS_FILE_BYTES);
	events_step(e);
	all = ask(e, "{}");
	ck_assert_uint_eq(json_array_size(all), 2);
	ck_assert_ptr_nonnull(strstr(text_of(all, 0), "events of before are not known: "));
	ck_assert_str_eq(kind_of(all, 1), "events-not-kept");
	json_decref(all);
	events_free(e);
	ck_assert(stat(other, &st) == 0 && st.st_size == (off_t)strlen(LINE("41") "\n"));
}
END_TEST

/* --------------------------------------------------------- what is asked for */

static const struct {
	const char *args, *refused; /* NULL: it is taken */
	int64_t since_ms;	    /* INT64_MIN: any time */
	int64_t after;		    /* -1: any */
} queries[] = { { "{}", NULL, INT64_MIN, -1 },
	{ "{\"since\": \"2h\"}", NULL, INT64_C(1800000000000) - 7200000, -1 },
	{ "{\"since\": \"45s\"}", NULL, INT64_C(1800000000000) - 45000, -1 },
	{ "{\"since\": \"3d\"}", NULL, INT64_C(1800000000000) - 259200000, -1 },
	{ "{\"since\": \"2026-11-29T18:00:00Z\"}", NULL, INT64_C(1795975200000), -1 },
	{ "{\"since\": \"2026-11-29T18:00:00.250Z\"}", NULL, INT64_C(1795975200250), -1 },
	{ "{\"since\": \"2026-11-29\"}", NULL, INT64_C(1795910400000), -1 }, /* TZ=UTC */
	{ "{\"since\": \"2026-11-29 18:00\"}", NULL, INT64_C(1795975200000), -1 },
	{ "{\"since\": \"17\"}", NULL, INT64_MIN, 16 }, { "{\"since\": 17}", NULL, INT64_MIN, 16 },
	{ "{\"since\": 17, \"after\": 40}", NULL, INT64_MIN, 40 },
	{ "{\"since\": \"2 h\"}", "since=2 h is no time", 0, 0 },
	{ "{\"since\": \"2w\"}", "since=2w is no time", 0, 0 },
	{ "{\"since\": \"\"}", "since= is no time", 0, 0 },
	{ "{\"since\": \"2026-13-29\"}", "is no time", 0, 0 },
	{ "{\"since\": \"2026-11-29T18:00:00+01:00\"}", "is no time", 0, 0 },
	{ "{\"since\": \"99999999999999999999\"}", "is no time", 0, 0 },
	{ "{\"since\": true}", "is no time", 0, 0 }, { "{\"since\": -1}", "is no time", 0, 0 },
	{ "{\"after\": -1}", "after= is the number", 0, 0 },
	{ "{\"after\": \"x\"}", "after= is the number", 0, 0 },
	{ "{\"last\": 0}", "last= is how many", 0, 0 },
	{ "{\"max\": \"x\"}", "max= is how many", 0, 0 },
	{ "{\"max\": 3, \"last\": 3}", "give one of them", 0, 0 },
	{ "{\"kind\": \"slow,lost-cables\"}", NULL, INT64_MIN, -1 },
	{ "{\"kind\": \"slow,lost-cable\"}", "did you mean lost-cables?", 0, 0 },
	{ "{\"kind\": \"xyzzy-plugh-frotz\"}", "man fmd-events lists them", 0, 0 },
	{ "{\"kind\": \"\"}", "there is no kind \"\" of events", 0, 0 },
	{ "{\"kind\": \"slow,\"}", "there is no kind \"\" of events", 0, 0 },
	{ "{\"kind\": 3}", "kind= is a list", 0, 0 } };

START_TEST(words_of_a_query)
{
	json_t *args = json_loads(queries[_i].args, 0, NULL);
	struct fm_error err = { 0 };
	struct events_query q;
	int rc;

	setenv("TZ", "UTC", 1);
	rc = events_read_query(args, INT64_C(1800000000000), &q, &err);
	if (queries[_i].refused != NULL) {
		ck_assert_int_eq(rc, FM_E_CONFIG);
		ck_assert_msg(strstr(err.msg, queries[_i].refused) != NULL, "%s", err.msg);
	} else {
		ck_assert_msg(rc == 0, "%s", err.msg);
		ck_assert_int_eq(q.since_ms, queries[_i].since_ms);
		ck_assert_int_eq(q.has_after ? (int64_t)q.after : -1, queries[_i].after);
	}
	json_decref(args);
}
END_TEST

START_TEST(numbers_that_are_yet_to_come)
{
	struct events *e = begin();
	struct events_query q = { .has_after = true, .after = 2, .last = 1 };
	struct fm_error err = { 0 };
	json_t *all = NULL;

	log_warn("sa", "one");
	events_step(e);
	ck_assert_int_eq(events_json(e, &q, &all, &err), FM_E_CONFIG);
	ck_assert_ptr_nonnull(strstr(err.msg, "there is no event 2 yet: the last one is 1"));
	events_free(e);
}
END_TEST

/* Names stay, and are what is typed: each once, small letters and dashes, each with a sentence. */
START_TEST(kinds_have_names)
{
	for (unsigned k = EVENT_NONE + 1; k < N_EVENT_KINDS; k++) {
		const char *name = event_kind_name((enum event_kind)k);

		ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz2-"), strlen(name));
		ck_assert_uint_eq(event_kind_named(name), k);
		ck_assert(strchr(event_kind_means((enum event_kind)k), '.') != NULL);
	}
	for (size_t i = 0; fm_log_subsystems[i] != NULL; i++)
		ck_assert_msg(event_kind_of_subsystem(fm_log_subsystems[i]) != EVENT_WARNING_OTHER,
		    "%s", fm_log_subsystems[i]);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("event_ring");
	TCase *ring = tcase_create("ring"), *file = tcase_create("file");
	TCase *query = tcase_create("query");

	tcase_add_checked_fixture(ring, set_up, tear_down);
	tcase_add_test(ring, texts_that_are_no_utf8);
	tcase_add_test(ring, the_oldest_are_overwritten);
	tcase_add_test(ring, warnings_are_events);
	tcase_add_test(ring, a_bucket_has_a_kind);
	tcase_add_test(ring, any_thread_may_warn);
	tcase_add_test(ring, a_gap_is_told);
	tcase_add_test(ring, an_end_names_what_began);
	tcase_add_checked_fixture(file, set_up, tear_down);
	tcase_add_test(file, numbers_go_on_over_a_restart);
	tcase_add_test(file, files_are_bounded);
	tcase_add_test(file, older_ones_are_in_the_file);
	tcase_add_test(file, what_the_file_has_no_more_is_a_gap);
	tcase_add_test(file, older_ones_are_bad_input);
	tcase_add_test(file, a_torn_line);
	tcase_add_loop_test(file, wrong_lines, 0, sizeof(wrong) / sizeof(*wrong));
	tcase_add_test(file, a_full_disk);
	tcase_add_test(file, a_file_that_is_gone);
	tcase_add_loop_test(file, a_link_in_the_place_of_the_file, 0, 2);
	tcase_add_loop_test(query, words_of_a_query, 0, sizeof(queries) / sizeof(*queries));
	tcase_add_test(query, numbers_that_are_yet_to_come);
	tcase_add_test(query, kinds_have_names);
	suite_add_tcase(s, ring);
	suite_add_tcase(s, file);
	suite_add_tcase(s, query);
	return run_suite(s);
}
