/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/events/events.h - the last things that happened, for fmctl events.
 *
 * Every warning and error of the log is an event, and so is what is told by tell.h: on the thread
 * where it happens it gets its number and waits; events_step(), on the loop's thread, takes what
 * waits into a ring, in which the oldest are overwritten, and into a file that outlives the process
 * (file.h).  Numbers go on from there.  Where more wait than there is room for, events are lost,
 * and their numbers are missing.
 *
 *	any thread: log_warn(), event_tell()		the loop
 *	  number, time ---> what waits ---> events_step() ---> ring ---> events_json()
 *						  `----> PATH, PATH.1: lines of JSON
 */
#ifndef CORE_EVENTS_EVENTS_H
#define CORE_EVENTS_EVENTS_H

#include <jansson.h>
#include <stdint.h>

#include "core/events/query.h"
#include "core/events/tell.h"

#define EVENTS_MAX 1000	    /* in the ring; what is older is looked for in the file */
#define EVENTS_WAITING 4096 /* at most */
#define EVENTS_FILE_BYTES (4 << 20)

struct events;

/* From now on what is logged and told is taken; one of a process.  wake: something waits for
 * events_step(), on any thread.  NULL: memory is out. */
struct events *events_new(void (*wake)(void *arg), void *arg);
/* What waits is taken first.  No other thread logs any more. */
void events_free(struct events *e);

/* Events are kept in the file at path, max_bytes at most, and as many in PATH.1: those there are
 * come first in the ring, and numbers go on behind them.  Once, before events_step().  What cannot
 * be read or written is told as a warning, and fmd goes on without. */
void events_open(struct events *e, const char *path, uint64_t max_bytes);

/* What waits, into the ring and the file; O(what waits), with one write(). */
void events_step(struct events *e);

/* Those that q asks for, oldest first, also of the file: [{"n", "time", "level", "subsystem",
 * "kind", "text", "ends", "facts"}], the last two where there are any.  Where numbers are missing
 * between two of them, or behind q->after, or where what is there begins later than q->since_ms,
 * {"gap": how many} stands there.  A new reference.  FM_E_CONFIG: q asks for numbers that are yet
 * to come; FM_E_RESOURCE.  Cost: of what is given, and of the file where that is looked into
 * (file.h). */
int events_json(
    const struct events *e, const struct events_query *q, json_t **out, struct fm_error *err);

/* How many there were of each kind since the start, of those that happened; NULL: memory is out. */
json_t *events_counts_json(const struct events *e);

#endif
