/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/book/answer.h - what is asked of the file of counters, as JSON (fmctl(8), "top").
 */
#ifndef PERF_BOOK_ANSWER_H
#define PERF_BOOK_ANSWER_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/error.h"
#include "perf/book/book.h"

#define ANSWER_PATTERN "*?[" /* what has one of these is a pattern, and may be of many nodes */

/* Is a node called by this word: its whole name or the first word of it (which the word may be a
 * pattern of), or its GUID? */
bool answer_is_called(const char *word, const struct book_node *n);

/* The ports of nodes of a name (a pattern, or the first word of one, or a GUID), or "NAME:PORT";
 * a new reference.  FM_E_SYSTEM: no such file, node or port; FM_E_TOPOLOGY; FM_E_RESOURCE. */
int answer_counters(const char *path, const char *what, json_t **result, struct fm_error *err);
/* To such an answer of one port (else FM_E_CONFIG) how it was at the last readings (history.h), as
 * "history"; path: of the file of counters.  FM_E_SYSTEM, FM_E_TOPOLOGY, FM_E_RESOURCE. */
int answer_add_history(const char *path, json_t *answer, struct fm_error *err);
/* The first 20 ports, or all, by "load", "wait" or "errors" (else FM_E_CONFIG).  O(ports log
 * ports). */
int answer_top(const char *path, const char *by, bool all, json_t **result, struct fm_error *err);

/* An answer to "path": each cable on the way gets what was counted at the port by which packets
 * enter it, as "counted", where that is known.  No file, or one that does not hold: nothing. */
void answer_add_to_path(const char *path, json_t *answer);

#endif
