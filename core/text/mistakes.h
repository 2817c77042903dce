/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/mistakes.h - what an administrator wrote wrong, gathered, so that all of it is
 * told at once.
 *
 *	if ((rc = read_line(...)) != 0 && (rc = mistakes_note(all, err)) != 0)
 *		return rc;	no mistake of his, or nobody gathers: this ends it
 */
#ifndef CORE_TEXT_MISTAKES_H
#define CORE_TEXT_MISTAKES_H

#include <stddef.h>

#include "lib/error.h"

#define MISTAKES_MAX 100 /* sentences kept; a file of another kind has one a line */

struct mistakes {
	char *sentence[MISTAKES_MAX]; /* "FILE:LINE: ...", in the order found */
	size_t n;
	size_t n_more; /* that are not kept */
};

/* Keep the sentence of err, once: 0.  err->kind when it is not FM_E_CONFIG, or all is NULL. */
int mistakes_note(struct mistakes *all, const struct fm_error *err);
/* How many have been found, kept or not; all NULL: 0. */
size_t mistakes_count(const struct mistakes *all);
/* Its memory goes; empty again. */
void mistakes_fini(struct mistakes *all);

#endif
