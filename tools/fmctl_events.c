/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl_events.c - what happened, and what happens.
 */
#include <stdio.h>
#include <time.h>

#include "core/events/query.h"
#include "tools/fmctl.h"

#define FOLLOW_MS 300
#define EVENTS_KEPT 1000 /* by fmd */

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
	    "{s:i, s:O*}", "max", EVENTS_KEPT, "since", json_object_get(a->args, "since"));
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
