/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ctl/events.h - the last things that happened, for fmctl events.
 *
 * A ring of sentences, each with its time, level and facts; the oldest ones
 * are overwritten.  The loop's thread only.
 */
#ifndef CORE_CTL_EVENTS_H
#define CORE_CTL_EVENTS_H

#include <jansson.h>

#include "lib/log.h"

#define EVENTS_MAX 1000

struct events;

struct events *events_new(void); /* NULL: memory is out */
void events_free(struct events *e);

/* Remember, and log the sentence under subsystem.  facts: an object whose
 * reference is taken over, or NULL. */
void events_add(struct events *e, enum fm_log_level level, const char *subsystem, json_t *facts,
    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Events with numbers above `after` (0 = all that are kept), oldest first, the
 * last `max` of them: [{"n", "time", "level", "subsystem", "text", "facts"}].
 * A new reference, NULL when memory is out. */
json_t *events_json(const struct events *e, uint64_t after, size_t max);

#endif
