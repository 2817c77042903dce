/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/readfile.h - whole files and their lines.
 */
#ifndef CORE_TEXT_READFILE_H
#define CORE_TEXT_READFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/text/mistakes.h"
#include "lib/arena.h"
#include "lib/error.h"

/* The file's bytes in mem, without a byte order mark, with a NUL behind them that *n does not
 * count. FM_E_CONFIG naming the path when it cannot be opened, is no regular file or
 * larger than 8 GiB; FM_E_SYSTEM when reading fails. */
int conf_read_file(
    const char *path, struct fm_arena *mem, const char **bytes, size_t *n, struct fm_error *err);

/* The lines of a text that hold something: '#' comments and blanks around
 * are cut off, empty lines passed over. */
struct conf_lines {
	const char *at;
	size_t left;
	unsigned line; /* number of the last line returned, from 1 */
	bool out_of_memory;
};
void conf_lines_init(struct conf_lines *l, const char *bytes, size_t n);
/* A copy in mem, or NULL at the end (or, see out_of_memory, of memory). */
char *conf_lines_next(struct conf_lines *l, struct fm_arena *mem);

/* Where the reader of a file stands. */
struct conf_place {
	const char *path;
	unsigned line; /* from 1 */
	struct fm_error *err;
	struct mistakes *all; /* NULL: the first one ends it */
};
/* FM_E_CONFIG: "FILE:LINE: sentence". */
int conf_bad(const struct conf_place *at, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* What at->err tells is noted, and reading goes on: 0; else its kind. */
int conf_note_bad(const struct conf_place *at);
/* FM_E_RESOURCE: "FILE: out of memory". */
int conf_no_memory(const struct conf_place *at);
/* FM_E_CONFIG: "FILE:LINE: sentence". */
int conf_fail_at(struct fm_error *err, const char *path, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* "a, b" cut up in place: the next word without the blanks around it, NULL behind
 * the last; "" stands between two commas. */
char *conf_next_item(char **at);
/* Without the blanks around it, in place. */
char *conf_trim(char *text);

#endif
