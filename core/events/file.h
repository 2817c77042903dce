/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/events/file.h - events in a file, a line of JSON each, and in the one before it, PATH.1.
 *
 * A line is written whole or, where the disk is full, not at all.  What a crash has left behind its
 * last whole line is cut off by who writes next.
 */
#ifndef CORE_EVENTS_FILE_H
#define CORE_EVENTS_FILE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/events/query.h"

struct event_file {
	char path[PATH_MAX]; /* "": none */
	uint64_t max_bytes;
	int fd; /* -1: it is opened by the next write */
};

/* An event of the file, whose reference is given away; its number is more than that before it. */
typedef void (*event_file_take)(void *arg, json_t *event);

/* The last `most` events of PATH.1 and PATH, oldest first.  What is none is passed over, with a
 * warning for each file; FM_E_SYSTEM: one is there and cannot be read. */
int event_file_read(
    const char *path, size_t most, event_file_take take, void *arg, struct fm_error *err);

/* What is asked for of events that are older than number `below`; times are in the order of
 * numbers. */
struct event_search {
	const struct events_query *q;
	uint64_t below;
	size_t most;	 /* of q->last: so many are wanted yet; else 0 */
	uint64_t before; /* found: numbers up to this one are not asked for; 0: none is there */
	/* In their order.  event: NULL, it is there and of another kind; else its reference is
	 * given away.  False: no more. */
	bool (*give)(void *arg, uint64_t n, json_t *event);
	void *arg;
};
/* Of PATH.1 and PATH; FM_E_SYSTEM, FM_E_RESOURCE.  O(bytes of lines that are newer), 12 ms for 8 MB
 * on a loaded core, and O(what is given), 3 us each. */
int event_file_find(const char *path, struct event_search *s, struct fm_error *err);

void event_file_init(struct event_file *f, const char *path, uint64_t max_bytes);
/* Whole lines, [n].  FM_E_SYSTEM or FM_E_RESOURCE (fm_file_kind()): none of them is in the file. */
int event_file_write(struct event_file *f, const char *lines, size_t n, struct fm_error *err);
void event_file_close(struct event_file *f);

#endif
