/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/conf_scan.h - the text of a configuration file before libConfuse
 * reads it.
 */
#ifndef CORE_CONF_CONF_SCAN_H
#define CORE_CONF_CONF_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/error.h"

struct conf_scan {
	const char *path; /* for messages */
	/* May this word begin a section with a title? */
	bool (*is_section)(const void *arg, const char *word, size_t n);
	const void *arg;
};

/* A copy of text in mem with the title "" put into every section without one,
 * line for line the same.  Refuses what libConfuse would pass over silently:
 * NUL bytes and variables that are not set. */
int conf_scan(const struct conf_scan *scan, const char *text, size_t n, struct fm_arena *mem,
    char **out, struct fm_error *err);

#endif
