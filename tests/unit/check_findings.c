/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fmd keeps of cables that fmd-perf tells of: calls that make no sense change nothing, who
 * begins anew on either side learns all, and what is kept is bounded.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/health/findings.h"
#include "core/health/quarantine.h"
#include "perf/health/tell.h"
#include "tests/run.h"

static struct findings *f;
static struct fm_error err;
static int64_t now;

static void
set_up(void)
{
	f = findings_new();
	ck_assert_ptr_nonnull(f);
	now = 1000000;
}

static void
tear_down(void)
{
	findings_free(f);
}

/* The answer to these arguments, which are taken over; NULL: it was refused. */
static json_t *
take(json_t *args)
{
	json_t *answer = NULL;
	int rc;

	ck_assert_ptr_nonnull(args);
	rc = findings_take(f, args, now, &answer, &err);
	json_decref(args);
	ck_assert((rc == 0) == (answer != NULL));
	return answer;
}

static char *
name_of_list(void)
{
	json_t *answer = take(json_pack("{s:f, s:[]}", "interval_s", 10.0, "cables"));
	char *name = strdup(json_string_value(json_object_get(answer, "list")));

	ck_assert(json_is_false(json_object_get(answer, "taken")));
	json_decref(answer);
	return name;
}

static json_t *
cable(unsigned n, const char *health)
{
	return json_pack("{s:o, s:i, s:o, s:i, s:s, s:i, s:s, s:[{s:s, s:s, s:i}]}", "guid",
	    json_sprintf("0x%x", 0x1000 + n), "port", 3, "peer_guid",
	    json_sprintf("0x%x", 0x900000 + n), "peer_port", 4, "health", health, "since", 77,
	    "suspect", "far", "evidence", "counter", "symbol_errors", "end", "near", "per_hour",
	    500);
}

static json_t *
call_with(const char *list, json_t *one)
{
	return json_pack("{s:s, s:f, s:[o]}", "list", list, "interval_s", 10.0, "cables", one);
}

static bool
is_taken(json_t *answer)
{
	bool taken = json_is_true(json_object_get(answer, "taken"));

	json_decref(answer);
	return taken;
}

START_TEST(kept)
{
	char *list = name_of_list();
	const struct finding *is;

	ck_assert_int_eq(findings_age_ms(f, now), -1);
	ck_assert(!findings_are_fresh(f, now));
	ck_assert(is_taken(take(call_with(list, cable(1, "bad")))));
	is = findings_at(f, 0x1001, 3);
	ck_assert(is != NULL && is == findings_at(f, 0x900001, 4));
	ck_assert(is->health == CABLE_BAD && is->suspect == FINDING_FAR && is->since_s == 77);
	ck_assert_ptr_null(findings_at(f, 0x1001, 4));
	ck_assert(is_taken(take(call_with(list, cable(2, "watch")))));
	ck_assert_uint_eq(findings_n(f), 2);
	ck_assert(is_taken(take(call_with(list, cable(1, "ok")))));
	ck_assert_uint_eq(findings_n(f), 1);
	ck_assert(findings_at(f, 0x1002, 3)->health == CABLE_WATCH);
	ck_assert(findings_are_fresh(f, now + 30000));
	ck_assert(!findings_are_fresh(f, now + 40000));
	ck_assert_int_eq(findings_age_ms(f, now + 40000), 40000);
	findings_begin(f);
	ck_assert_uint_eq(findings_n(f), 0);
	ck_assert(!is_taken(take(call_with(list, cable(1, "bad"))))); /* of the list before */
	ck_assert_uint_eq(findings_n(f), 0);
	free(list);
}
END_TEST

/* Another cable at a port takes the place of the one that was there. */
START_TEST(other_cable)
{
	char *list = name_of_list();
	json_t *other = cable(1, "watch");

	json_object_set_new(other, "peer_port", json_integer(9));
	ck_assert(is_taken(take(call_with(list, cable(1, "bad")))));
	ck_assert(is_taken(take(call_with(list, cable(5, "bad")))));
	ck_assert(is_taken(take(call_with(list, other))));
	ck_assert_uint_eq(findings_n(f), 2);
	ck_assert_ptr_null(findings_at(f, 0x900001, 4));
	ck_assert(findings_at(f, 0x900001, 9)->health == CABLE_WATCH);
	ck_assert(findings_at(f, 0x900005, 4)->end[0].guid == 0x1005);
	free(list);
}
END_TEST

START_TEST(bounded)
{
	char *list = name_of_list();

	for (unsigned i = 0; i < FINDINGS_MOST + 5; i++)
		ck_assert(is_taken(take(call_with(list, cable(i, "bad")))));
	ck_assert_uint_eq(findings_n(f), FINDINGS_MOST);
	ck_assert(findings_is_full(f));
	free(list);
}
END_TEST

/* A key of the second of two cables is another: nothing of the call counts. */
START_TEST(no_sense)
{
	static const struct {
		const char *key, *value, *says;
	} bad[] = { { "guid", "\"x\"", "node GUIDs" }, { "guid", "5", "node GUIDs" },
		{ "port", "0", "from 1 to 254" }, { "port", "255", "from 1 to 254" },
		{ "peer_port", "\"1\"", "from 1 to 254" }, { "peer_guid", "null", "node GUIDs" },
		{ "health", "\"good\"", "ok, watch or bad" },
		{ "suspect", "1", "cable, near or far" }, { "since", "-1", "seconds since 1970" },
		{ "since", "1.5", "seconds since 1970" },
		{ "evidence", "{}", "evidence is a list" },
		{ "evidence", "[1]", "evidence is a list" },
		{ "evidence", "[{\"counter\":\"A b\",\"end\":\"near\",\"per_hour\":1}]",
		    "list of 32" },
		{ "evidence", "[{\"counter\":\"a\",\"end\":\"left\",\"per_hour\":1}]",
		    "list of 32" },
		{ "evidence", "[{\"counter\":\"a\",\"end\":\"far\",\"per_hour\":-1}]",
		    "list of 32" } };
	char *list = name_of_list();

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *one = cable(2, "bad"), *args = call_with(list, cable(1, "bad"));

		json_object_set_new(
		    one, bad[i].key, json_loads(bad[i].value, JSON_DECODE_ANY, NULL));
		json_array_append_new(json_object_get(args, "cables"), one);
		ck_assert_ptr_null(take(args));
		ck_assert_int_eq(err.kind, FM_E_CONFIG);
		ck_assert_msg(strncmp(err.msg, "cables[1]: ", 11) == 0 &&
			strstr(err.msg, bad[i].says) != NULL,
		    "%s: %s", bad[i].value, err.msg);
		ck_assert_uint_eq(findings_n(f), 0);
	}
	ck_assert_ptr_null(take(json_pack("{s:i, s:[]}", "interval_s", 0, "cables")));
	ck_assert_ptr_null(take(json_pack("{s:s, s:[]}", "interval_s", "1", "cables")));
	ck_assert_ptr_null(take(json_pack("{s:i}", "interval_s", 1)));
	ck_assert_ptr_null(
	    take(json_pack("{s:i, s:i, s:[]}", "list", 1, "interval_s", 1, "cables")));
	free(list);
}
END_TEST

/* What was decided of a cable stays while it is not ok, and with that cable. */
START_TEST(decisions)
{
	char *list = name_of_list();
	const struct finding_end end[2] = { { 0x1007, 3 }, { 0x900007, 4 } };

	ck_assert(findings_believe(f, end, 5));
	ck_assert(findings_at(f, 0x1007, 3)->health == CABLE_BAD);
	ck_assert(is_taken(take(call_with(list, cable(1, "bad")))));
	ck_assert(findings_believe(f, findings_at(f, 0x1001, 3)->end, 5));
	ck_assert_int_eq(findings_at(f, 0x1001, 3)->since_s, 77); /* it was known */
	findings_spare(f, 0x900001, 4);
	ck_assert(findings_refuse(f, 1, 9, "no room"));
	ck_assert(!findings_refuse(f, 1, 10, "no room"));
	ck_assert(is_taken(take(call_with(list, cable(1, "watch")))));
	ck_assert(findings_at(f, 0x1001, 3)->is_spared);
	ck_assert_uint_eq(findings_at(f, 0x1001, 3)->refused_plan, 10);
	ck_assert_str_eq(findings_at(f, 0x1001, 3)->why_not, "no room");
	ck_assert(is_taken(take(call_with(list, cable(1, "ok")))));
	ck_assert(is_taken(take(call_with(list, cable(1, "bad")))));
	ck_assert(!findings_at(f, 0x1001, 3)->is_spared);
	free(list);
}
END_TEST

/* A tenth more is what the fullest link may carry. */
START_TEST(what_may_be)
{
	struct trial_result r = { .after = { .routes = 110 }, .unreachable_pairs = 3 };
	char why[160];

	ck_assert_ptr_null(quarantine_why_not(&r, 100, 3, why, sizeof(why)));
	ck_assert_ptr_nonnull(quarantine_why_not(&r, 99, 3, why, sizeof(why)));
	ck_assert_str_eq(
	    why, "the fullest link would carry 110 routes, more than a tenth beyond 99");
	ck_assert_ptr_nonnull(quarantine_why_not(&r, 100, 2, why, sizeof(why)));
	ck_assert_str_eq(why, "3 pairs would have no path");
	r.no_engine = true;
	ck_assert_ptr_nonnull(quarantine_why_not(&r, 100, 3, why, sizeof(why)));
	r.rc = FM_E_RESOURCE;
	ck_assert_ptr_nonnull(quarantine_why_not(&r, 100, 3, why, sizeof(why)));
}
END_TEST

/* ------------------------------------------------------------- both sides at once */

static void
hear(struct judge *j, unsigned n, uint64_t n_errors)
{
	uint64_t added[N_COUNTERS] = { [COUNTER_SYMBOL_ERRORS] = n_errors };

	ck_assert(judge_hear(j,
	    &(struct health_reading){ .at = { .guid = 0x2000 + n, .port = 1 },
		.far = { .guid = 0x1000 + n, .port = 2 },
		.added = added,
		.far_is_silent = true,
		.span_ms = 10000 }));
}

static void
pass_sweep(struct judge *j, unsigned n_cables, uint64_t n_errors)
{
	now += 10000;
	judge_begin(j, now, 10000);
	for (unsigned i = 0; i < n_cables; i++)
		hear(j, i, n_errors);
	judge_end(j, now, 1700000000 + now / 1000);
}

/* How many calls it takes till nothing more is to be told. */
static unsigned
tell_all(struct teller *t, struct judge *j)
{
	unsigned n = 0;

	for (bool more = true; more; n++) {
		json_t *args = tell_next(t, j, 10000), *answer;
		char *text = json_dumps(args, JSON_COMPACT);

		ck_assert_uint_lt(strlen(text), 65536 - 100);
		free(text);
		answer = take(args);
		ck_assert_msg(answer != NULL, "%s", err.msg);
		ck_assert_int_eq(tell_take(t, j, answer, now, &more, &err), 0);
		json_decref(answer);
	}
	return n;
}

START_TEST(told)
{
	struct judge *j = judge_new();
	struct teller t = { .list = "" };
	const struct finding *is;

	pass_sweep(j, 70, 500);
	pass_sweep(j, 70, 0);
	ck_assert_uint_eq(tell_all(&t, j), 4); /* the name, then 32, 32, 6 */
	ck_assert_uint_eq(findings_n(f), 70);
	is = findings_at(f, 0x2001, 1);
	ck_assert(is->health == CABLE_BAD && is->end[1].guid == 0x2001);
	ck_assert_int_eq(is->suspect, FINDING_NEAR); /* who sends what the far end receives */
	ck_assert_uint_eq(json_array_size(is->evidence), 1);
	pass_sweep(j, 70, 0);
	ck_assert_uint_eq(tell_all(&t, j), 1); /* that we are there */
	findings_begin(f);		       /* fmd has begun anew */
	ck_assert_uint_eq(tell_all(&t, j), 4);
	ck_assert_uint_eq(findings_n(f), 70);
	judge_free(j); /* fmd-perf has */
	t = (struct teller){ .list = "" };
	j = judge_new();
	ck_assert_uint_eq(tell_all(&t, j), 4);
	ck_assert_uint_eq(judge_count(j, HEALTH_BAD), 70);
	ck_assert_uint_eq(findings_n(f), 70);
	now += 3 * JUDGE_HOUR_MS;
	pass_sweep(j, 70, 0);
	now += 3 * JUDGE_HOUR_MS;
	pass_sweep(j, 70, 0);
	tell_all(&t, j);
	ck_assert_uint_eq(findings_n(f), 0);
	judge_free(j);
}
END_TEST

START_TEST(bad_answers)
{
	static const char *const bad[] = { "{}", "[]", "{\"list\":\"\"}", "{\"list\":5}",
		"{\"list\":\"a\",\"taken\":false,\"cables\":[{}]}",
		("{\"list\":\"a\",\"cables\":[{\"guid\":\"0x1\",\"port\":300,\"peer_guid\":\"0x2\","
		 "\"peer_port\":1,\"health\":\"bad\",\"since\":1}]}"),
		"{\"list\":\"0123456789012345678901234567890123456789\"}" };
	struct judge *j = judge_new();
	struct teller t = { .list = "" };
	bool more;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *answer = json_loads(bad[i], 0, NULL);

		ck_assert_ptr_nonnull(answer);
		ck_assert_int_eq(tell_take(&t, j, answer, now, &more, &err), FM_E_TOPOLOGY);
		ck_assert_str_eq(t.list, "");
		json_decref(answer);
	}
	judge_free(j);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("findings");
	TCase *t = tcase_create("findings");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, kept);
	tcase_add_test(t, other_cable);
	tcase_add_test(t, bounded);
	tcase_add_test(t, no_sense);
	tcase_add_test(t, decisions);
	tcase_add_test(t, what_may_be);
	tcase_add_test(t, told);
	tcase_add_test(t, bad_answers);
	suite_add_tcase(s, t);
	return run_suite(s);
}
