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

#include "lib/error.h"

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

void event_file_init(struct event_file *f, const char *path, uint64_t max_bytes);
/* Whole lines, [n].  FM_E_SYSTEM or FM_E_RESOURCE (fm_file_kind()): none of them is in the file. */
int event_file_write(struct event_file *f, const char *lines, size_t n, struct fm_error *err);
void event_file_close(struct event_file *f);

#endif
