/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/fmctl_follow.c - events as they happen.
 *
 * The newest one that was shown is asked for again each time: where it is another one by now, or
 * gone, fmd was started anew.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "tools/fmctl.h"

#define POLL_MS 300
#define MOST 1000 /* events that fmd keeps */

static void
show_event(const struct ask *a, const json_t *e)
{
	if (a->json) {
		json_dumpf(e, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
		putchar('\n');
		return;
	}
	printf("%5" JSON_INTEGER_FORMAT "  %s  %-6s  %s\n", fmctl_number(e, "n"),
	    fmctl_string(e, "time"), fmctl_string(e, "level"), fmctl_string(e, "text"));
}

static bool
is_same(const json_t *a, const json_t *b)
{
	return fmctl_number(a, "n") == fmctl_number(b, "n") &&
	    strcmp(fmctl_string(a, "time"), fmctl_string(b, "time")) == 0;
}

/* Those of `events` behind *newest, which becomes the last; it is NULL or one that was shown. */
static int
show_new(const struct ask *a, const json_t *events, json_t **newest, struct fm_error *err)
{
	const json_t *first = json_array_get(events, 0);
	size_t n = json_array_size(events);
	bool gone = fmctl_number(first, "n") > fmctl_number(*newest, "n");

	if (*newest != NULL && !gone && !is_same(first, *newest))
		return fm_fail(err, FM_E_SYSTEM, "fmd was started anew meanwhile");
	for (size_t i = *newest != NULL && !gone ? 1 : 0; i < n; i++)
		show_event(a, json_array_get(events, i));
	fflush(stdout);
	if (n == 0)
		return 0;
	json_decref(*newest);
	*newest = json_incref(json_array_get(events, n - 1));
	return 0;
}

static int
ask_new(const struct ask *a, const json_t *newest, json_t **events, struct fm_error *err)
{
	json_int_t n = fmctl_number(newest, "n");
	json_t *args = json_pack("{s:I, s:i}", "after", n > 0 ? n - 1 : 0, "last", MOST);
	int rc = fmctl_ask(a, "events", args, events, err);

	json_decref(args);
	return rc;
}

int
fmctl_follow(const struct ask *a, const json_t *shown, struct fm_error *err)
{
	static const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	json_t *newest = NULL, *events = NULL;
	int rc = show_new(a, shown, &newest, err);

	while (rc == 0 && ferror(stdout) == 0) {
		nanosleep(&pause, NULL);
		rc = ask_new(a, newest, &events, err);
		if (rc == 0)
			rc = show_new(a, events, &newest, err);
		json_decref(events);
		events = NULL;
	}
	json_decref(newest);
	return rc;
}
