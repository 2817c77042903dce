/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl_wait.c - until the sweep that was asked for has ended; events as they happen.
 *
 * The daemon says which sweep that is, and then, ten times a second, which one ended last and how.
 * It knows nothing of who waits: to stop waiting (Ctrl-C) changes nothing there.
 */
#include "core/ctl/ctl.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/conf/cli.h"
#include "core/events/query.h"
#include "lib/clock.h"
#include "tools/fmctl.h"

#define ANSWER_S 30 /* for each question */
#define POLL_MS 100
#define FOLLOW_MS 300

struct wait {
	const struct ask *a;
	json_int_t sweep; /* the one to wait for */
	json_int_t last;  /* the highest number that was seen */
	int64_t start_ms;
};

static int64_t
now_ms(void)
{
	return fm_clock_ms(CLOCK_MONOTONIC);
}

/* On a terminal only, in one line that is written over; text NULL: that is over. */
static void
show_line(const char *text)
{
	if (isatty(STDERR_FILENO) == 0)
		return;
	fprintf(stderr, "\r\033[K%s", text != NULL ? text : "");
	fflush(stderr);
}

static void
show_progress(const struct wait *w, const json_t *p)
{
	char text[128];

	snprintf(text, sizeof(text), "sweep %" JSON_INTEGER_FORMAT ": %s, %.1f s",
	    fmctl_number(p, "sweep"), fmctl_string(p, "phase"),
	    (double)(now_ms() - w->start_ms) / 1000);
	show_line(text);
}

/* How the sweep ended: a row of what progress says of it. */
static const struct ending {
	const char *outcome;
	enum fmd_exit code;
	const char *sentence;
} endings[] = {
	{ "up", FMD_EXIT_OK, "the subnet is up" },
	{ "unchanged", FMD_EXIT_OK, "nothing has changed" },
	{ "standby", FMD_EXIT_OTHER_MASTER, "another SM is master" },
	{ "not-routed", FMD_EXIT_NOT_ROUTED, "the fabric could not be routed" },
	{ "no-link", FMD_EXIT_SYSTEM, "our port has no link" },
	{ "failed", FMD_EXIT_SYSTEM, "the sweep failed" },
};

/* Is it over?  Then how. */
static bool
is_over(const struct wait *w, const json_t *p, int *code, const char **sentence)
{
	const struct ending *e = NULL;

	if (fmctl_number(p, "ended") < w->sweep)
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcmp(endings[i].outcome, fmctl_string(p, "outcome")) == 0)
			e = &endings[i];
	if (e == NULL)
		return false;
	*code = e->code;
	*sentence = e->sentence;
	if (e->code != FMD_EXIT_OK)
		return true;
	if (fmctl_number(p, "unreachable_pairs") > 0) {
		*code = FMD_EXIT_NOT_ROUTED;
		*sentence = "the subnet is up, but pairs that cables join have no path";
	} else if (fmctl_number(p, "unfinished") > 0) {
		*code = FMD_EXIT_TROUBLE;
		*sentence = "the subnet is up, but not all is as it should be (fmctl trouble)";
		return !json_is_true(json_object_get(p, "tries_again"));
	}
	return true;
}

static int
ask_progress(struct wait *w, json_t **p, struct fm_error *err)
{
	json_t *none = json_object();
	int rc = ctl_call(w->a->socket, "progress", none, ANSWER_S, p, err);

	json_decref(none);
	if (rc != 0)
		return rc;
	if (fmctl_number(*p, "sweep") < w->last)
		return fm_fail(err, FM_E_SYSTEM, "fmd was started anew meanwhile");
	w->last = fmctl_number(*p, "sweep");
	return 0;
}

static int
wait_for(struct wait *w, int *code, const char **sentence, json_t **p, struct fm_error *err)
{
	static const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	int rc;

	while ((rc = ask_progress(w, p, err)) == 0 && !is_over(w, *p, code, sentence)) {
		show_progress(w, *p);
		if (w->a->timeout_s > 0 && now_ms() - w->start_ms > w->a->timeout_s * INT64_C(1000))
			return fm_fail(err, FM_E_SYSTEM,
			    "not over after %u s: sweep %" JSON_INTEGER_FORMAT
			    " is in phase %s; fmd goes on",
			    w->a->timeout_s, fmctl_number(*p, "sweep"), fmctl_string(*p, "phase"));
		json_decref(*p);
		*p = NULL;
		nanosleep(&pause, NULL);
	}
	return rc;
}

int
fmctl_wait(
    const struct ask *a, const json_t *begun, int *code, json_t **result, struct fm_error *err)
{
	struct wait w = { .a = a, .sweep = fmctl_number(begun, "sweep"), .start_ms = now_ms() };
	const char *sentence = "";
	json_t *p = NULL;
	int rc;

	if (json_object_get(begun, "sweep") == NULL)
		return fm_fail(err, FM_E_CONFIG, "this fmd does not say what to wait for");
	rc = wait_for(&w, code, &sentence, &p, err);
	show_line(NULL);
	if (rc == 0)
		*result = json_pack("{s:O?, s:O?, s:s, s:f, s:O*}", "sweep",
		    json_object_get(p, "ended"), "outcome", json_object_get(p, "outcome"), "says",
		    sentence, "seconds", (double)(now_ms() - w.start_ms) / 1000, "needs_restart",
		    json_object_get(begun, "needs_restart"));
	json_decref(p);
	return rc;
}

/* ------------------------------------------------------------ tables read back */

/* Of what was read, and of what it led to. */
static void
judge_tables(const json_t *p, const json_t *turn, int *code, const char **sentence)
{
	bool differed = fmctl_number(turn, "blocks_that_differ") > 0;

	*code = FMD_EXIT_TROUBLE;
	if (differed && fmctl_number(json_object_get(p, "audit"), "not_written") > 0)
		*sentence = "not all of what differs is written again (fmctl trouble)";
	else if (fmctl_number(turn, "blocks_silent") > 0)
		*sentence = "some nodes have not answered (fmctl trouble)";
	else {
		*code = FMD_EXIT_OK;
		*sentence = differed ? "what differs is written again"
				     : "all nodes hold what fmd has written";
	}
}

/* Is the turn over?  A turn that nobody reads any more never will be: another SM is master. */
static int
look_at_turn(const json_t *p, json_int_t turn, bool *over, struct fm_error *err)
{
	const json_t *audit = json_object_get(p, "audit");

	*over = fmctl_number(json_object_get(audit, "last"), "turn") >= turn;
	if (*over || json_is_true(json_object_get(audit, "at_once")))
		return 0;
	return fm_fail(
	    err, FM_E_SYSTEM, "fmd has stopped to read tables back, as it is not master any more");
}

static void
show_turn(const json_t *p)
{
	const json_t *audit = json_object_get(p, "audit");
	char text[128];

	snprintf(text, sizeof(text),
	    "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " places looked at",
	    fmctl_number(audit, "passed"), fmctl_number(audit, "places"));
	show_line(text);
}

static int
wait_for_turn(struct wait *w, json_int_t turn, json_t **p, struct fm_error *err)
{
	static const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	bool over = false;
	int rc;

	while ((rc = ask_progress(w, p, err)) == 0 &&
	    (rc = look_at_turn(*p, turn, &over, err)) == 0 && !over) {
		show_turn(*p);
		if (w->a->timeout_s > 0 && now_ms() - w->start_ms > w->a->timeout_s * INT64_C(1000))
			return fm_fail(err, FM_E_SYSTEM, "not all is read after %u s; fmd goes on",
			    w->a->timeout_s);
		json_decref(*p);
		*p = NULL;
		nanosleep(&pause, NULL);
	}
	return rc;
}

int
fmctl_wait_tables(
    const struct ask *a, const json_t *begun, int *code, json_t **result, struct fm_error *err)
{
	struct wait w = { .a = a, .start_ms = now_ms() };
	const char *sentence = "";
	json_t *p = NULL;
	int rc = wait_for_turn(&w, fmctl_number(begun, "turn"), &p, err);

	show_line(NULL);
	if (rc == 0) {
		*result = json_deep_copy(json_object_get(json_object_get(p, "audit"), "last"));
		judge_tables(p, *result, code, &sentence);
		json_object_set_new(*result, "says", json_string(sentence));
		json_object_set_new(
		    *result, "seconds", json_real((double)(now_ms() - w.start_ms) / 1000));
	}
	json_decref(p);
	return rc;
}

/* ------------------------------------------------------------------ a handover */

static bool
is_handed_over(const json_t *h, int *code)
{
	const char *state = fmctl_string(h, "state");

	if (strcmp(state, "done") == 0)
		*code = FMD_EXIT_OK;
	else if (strcmp(state, "failed") == 0)
		*code = FMD_EXIT_SYSTEM;
	else
		return false;
	return true;
}

int
fmctl_wait_handover(
    const struct ask *a, const json_t *begun, int *code, json_t **result, struct fm_error *err)
{
	static const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	json_t *args = json_pack("{s:I}", "number", fmctl_number(begun, "handover"));
	int64_t start_ms = now_ms();
	json_t *h = NULL;
	int rc;

	while ((rc = ctl_call(a->socket, "handover", args, ANSWER_S, &h, err)) == 0 &&
	    !is_handed_over(h, code)) {
		show_line(strcmp(fmctl_string(h, "state"), "sent") == 0
			? "HANDOVER is sent: waiting for ACKNOWLEDGE"
			: "waiting for the next discovery");
		json_decref(h);
		h = NULL;
		if (a->timeout_s > 0 && now_ms() - start_ms > a->timeout_s * INT64_C(1000)) {
			rc = fm_fail(err, FM_E_SYSTEM,
			    "not over after %u s; fmd goes on, and fmctl events tells how it ends",
			    a->timeout_s);
			break;
		}
		nanosleep(&pause, NULL);
	}
	show_line(NULL);
	json_decref(args);
	if (rc == 0)
		json_object_set_new(h, "seconds", json_real((double)(now_ms() - start_ms) / 1000));
	*result = h;
	return rc;
}

/* ------------------------------------------------------------------ events */

/* What the end of an event says, or what stands in the place of events that are missing, is a
 * sentence like the others. */
static json_t *
sentence_of(const json_t *event)
{
	if (json_object_get(event, "gap") != NULL)
		return json_sprintf("%" JSON_INTEGER_FORMAT
				    " events were lost here: fmd has them no more",
		    fmctl_number(event, "gap"));
	if (json_object_get(event, "ends") != NULL)
		return json_sprintf("%s (the end of %" JSON_INTEGER_FORMAT ")",
		    fmctl_string(event, "text"), fmctl_number(event, "ends"));
	return json_incref(json_object_get(event, "text"));
}

void
fmctl_show_events(const struct ask *a, const json_t *result, FILE *out)
{
	static const struct column columns[] = { { "N", "n", NULL, true },
		{ "TIME", "time", NULL, false }, { "KIND", "kind", NULL, false },
		{ "LEVEL", "level", NULL, false }, { "WHAT", "sentence", NULL, false } };
	json_t *rows = json_deep_copy(result);

	for (size_t i = 0; i < json_array_size(rows); i++)
		json_object_set_new(
		    json_array_get(rows, i), "sentence", sentence_of(json_array_get(result, i)));
	fmctl_table(rows, columns, sizeof(columns) / sizeof(columns[0]), false, out);
	json_decref(rows);
}

/* ------------------------------------------------------------ those that come */

static void
show_event(const struct ask *a, const json_t *e)
{
	json_t *sentence;

	if (a->json) {
		json_dumpf(e, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
		putchar('\n');
		return;
	}
	sentence = sentence_of(e);
	if (json_object_get(e, "gap") != NULL)
		printf("%s\n", json_string_value(sentence));
	else
		printf("%5" JSON_INTEGER_FORMAT "  %s  %-16s  %-6s  %s\n", fmctl_number(e, "n"),
		    fmctl_string(e, "time"), fmctl_string(e, "kind"), fmctl_string(e, "level"),
		    json_string_value(sentence));
	json_decref(sentence);
}

/* Is it of the kinds that are asked for? */
static bool
is_wanted(const struct ask *a, const json_t *e)
{
	const char *kinds = json_string_value(json_object_get(a->args, "kind"));

	return kinds == NULL || json_object_get(e, "gap") != NULL ||
	    events_have_kind(kinds, fmctl_string(e, "kind"));
}

/* *newest: the number of the last one, from now on. */
static void
show_new(const struct ask *a, const json_t *events, json_int_t *newest)
{
	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *e = json_array_get(events, i);

		if (is_wanted(a, e))
			show_event(a, e);
		if (json_object_get(e, "n") != NULL)
			*newest = fmctl_number(e, "n");
	}
	fflush(stdout);
}

/* All behind newest, of any kind: the numbers between them say what was lost. */
static int
ask_new(const struct ask *a, json_int_t newest, json_t **events, struct fm_error *err)
{
	json_t *args = json_pack(
	    "{s:i, s:O*}", "max", EVENTS_MOST, "since", json_object_get(a->args, "since"));
	int rc;

	if (newest > 0)
		json_object_set_new(args, "after", json_integer(newest));
	rc = fmctl_ask(a, "events", args, events, err);
	json_decref(args);
	return rc;
}

int
fmctl_follow(const struct ask *a, const json_t *shown, struct fm_error *err)
{
	static const struct timespec pause = { .tv_nsec = FOLLOW_MS * 1000000L };
	json_t *events = NULL;
	json_int_t newest = 0;
	int rc = 0;

	show_new(a, shown, &newest);
	while (rc == 0 && ferror(stdout) == 0) {
		nanosleep(&pause, NULL);
		rc = ask_new(a, newest, &events, err);
		if (rc == 0)
			show_new(a, events, &newest);
		json_decref(events);
		events = NULL;
	}
	return rc;
}
