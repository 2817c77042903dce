/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/error.h - wording failures.  O(1).
 */
#ifndef FM_LIB_ERROR_H
#define FM_LIB_ERROR_H

#include <stdarg.h>

#include <fmd/error.h>

/* The callee words the fact, a caller may add context once, the top logs once. */
struct fm_error {
	enum fm_error_kind kind;
	char msg[256]; /* one sentence, no newline, no prefix */
};

/* Fill *err (which may be NULL) and return kind, so that a failure is one
 * statement: return fm_fail(err, FM_E_SYSTEM, "cannot open %s: %s", ...). */
int fm_fail(struct fm_error *err, enum fm_error_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int fm_vfail(struct fm_error *err, enum fm_error_kind kind, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* Put context before the sentence already in *err: "context: sentence".
 * Returns err->kind, so that a caller can return it. */
int fm_context(struct fm_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "configuration", "topology", ...: the word for a kind. */
const char *fm_error_word(enum fm_error_kind kind);

#endif
