/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/events/query.h - which events are asked for, in the words of fmctl events.
 */
#ifndef CORE_EVENTS_QUERY_H
#define CORE_EVENTS_QUERY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"

#define EVENTS_SHOWN 100 /* where neither last nor max is given */
#define EVENTS_MOST 1000 /* of an answer */

struct events_query {
	bool has_after;
	uint64_t after;	   /* those with higher numbers, where has_after */
	int64_t since_ms;  /* those of that time (UTC) or later; INT64_MIN: any */
	const char *kinds; /* names with a comma between, borrowed of args; NULL: any */
	size_t last,
	    first; /* so many of them at most, up to EVENTS_MOST: the newest, or the oldest; one
		    * of them is 0 */
};

/* The keys of a command: after, since, kind, last, max.  since is a time (2026-11-29T18:00:00Z;
 * without Z in the time zone of fmd), how long ago (45s, 30m, 2h, 3d), or the number of an event.
 * FM_E_CONFIG with what would be right. */
int events_read_query(
    const json_t *args, int64_t now_ms, struct events_query *q, struct fm_error *err);

/* Is the kind one of names with a comma between? */
bool events_have_kind(const char *kinds, const char *kind);

/* "2026-11-29T18:00:00.123Z" as events have it. */
#define EVENTS_TIME 32
void events_say_time(int64_t ms, char text[EVENTS_TIME]);
/* Such a time, or one without parts of a second, with a blank in the place of T, without Z (the
 * time zone of fmd), or a day alone.  False: it is none. */
bool events_read_time(const char *text, int64_t *ms);

#endif
