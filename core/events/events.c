/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/ctl/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/text/json_text.h"

struct event_entry {
	uint64_t n; /* from 1; 0 = never used */
	struct timespec at;
	enum fm_log_level level;
	char subsystem[16];
	char text[1300]; /* a sentence of news, by what, and the outcome */
	json_t *facts;
};

/* Event n lies in ring[n % EVENTS_MAX]. */
struct events {
	uint64_t last; /* number of the newest */
	struct event_entry ring[EVENTS_MAX];
};

struct events *
events_new(void)
{
	return calloc(1, sizeof(struct events));
}

void
events_free(struct events *e)
{
	if (e == NULL)
		return;
	for (size_t i = 0; i < EVENTS_MAX; i++)
		json_decref(e->ring[i].facts);
	free(e);
}

void
events_add(struct events *e, enum fm_log_level level, const char *subsystem, json_t *facts,
    const char *fmt, ...)
{
	struct event_entry *new = &e->ring[++e->last % EVENTS_MAX];
	va_list ap;

	json_decref(new->facts);
	new->n = e->last;
	new->level = level;
	new->facts = facts;
	clock_gettime(CLOCK_REALTIME, &new->at);
	snprintf(new->subsystem, sizeof(new->subsystem), "%s", subsystem);
	va_start(ap, fmt);
	vsnprintf(new->text, sizeof(new->text), fmt, ap);
	va_end(ap);
	fm_log(level, subsystem, "%s", new->text);
}

static json_t *
entry_json(const struct event_entry *entry)
{
	static const char *const levels[] = { "err", "warn", "notice", "info", "debug" };
	struct tm tm;
	char time[40];
	size_t n;

	gmtime_r(&entry->at.tv_sec, &tm);
	n = strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(time + n, sizeof(time) - n, ".%03ldZ", entry->at.tv_nsec / 1000000);
	return json_pack("{s:I, s:s, s:s, s:s, s:o, s:O*}", "n", (json_int_t)entry->n, "time", time,
	    "level", levels[entry->level], "subsystem", entry->subsystem, "text",
	    json_text(entry->text), "facts", entry->facts);
}

json_t *
events_json(const struct events *e, uint64_t after, size_t max)
{
	uint64_t first = e->last > EVENTS_MAX ? e->last - EVENTS_MAX + 1 : 1;
	json_t *all = json_array();

	if (after + 1 > first)
		first = after + 1;
	if (max > 0 && e->last >= first && e->last - first + 1 > max)
		first = e->last - max + 1;
	for (uint64_t n = first; all != NULL && n <= e->last; n++)
		if (json_array_append_new(all, entry_json(&e->ring[n % EVENTS_MAX])) != 0) {
			json_decref(all);
			return NULL;
		}
	return all;
}
