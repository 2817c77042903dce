/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/events/tell.h - something has happened: a line in the log, and an event (events.h).
 *
 * Any room, any thread: as with the log, there is one of a process.  Where nobody keeps events (a
 * test, another program) it is a line in the log and nothing else.
 */
#ifndef CORE_EVENTS_TELL_H
#define CORE_EVENTS_TELL_H

#include <jansson.h>

#include "core/events/kinds.h"
#include "lib/log.h"

struct telling {
	enum event_kind kind;
	uint64_t ends; /* number of the event whose end this is; 0: of none */
	json_t *facts; /* an object, whose reference is taken over; NULL: none */
	bool unlogged; /* the log has told of it in other words */
};

/* The number of the event; 0: there is none, as nobody keeps events. */
uint64_t event_tell(const struct telling *t, enum fm_log_level level, const char *subsystem,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Likewise, with a line in the log. */
uint64_t events_add(enum event_kind kind, enum fm_log_level level, const char *subsystem,
    json_t *facts, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* What began as event n is so no more: an event, without a line in the log.  n 0: nothing has
 * begun, and nothing is told. */
void event_end(uint64_t n, enum event_kind kind, const char *subsystem, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* A line at any level that is no event: another one tells of it. */
void log_beside(enum fm_log_level level, const char *subsystem, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What a telling is to who watches the log: fm_log_as.more. */
struct told {
	const struct telling *telling;
	uint64_t n; /* its number, which who watches fills in */
};

#endif
