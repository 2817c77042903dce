/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/standard.h - standard input, output and error of a program.
 *
 * A program may be started with one of them closed.  The first file it opens then
 * gets that number, and what is meant for the terminal is written into it; so the
 * places are taken before.  And what is printed may not arrive (a full disk, a pipe
 * nobody reads): a program that says nothing of it has lied with its exit code.
 */
#ifndef FM_TEXT_STANDARD_H
#define FM_TEXT_STANDARD_H

#include <stdarg.h>
#include <stdio.h>

#include "lib/error.h"

/* Call it first of all: using a descriptor that was closed fails, as it should. */
void fm_standard_claim(void);
/* 0 when all that was printed has been written, else FM_E_SYSTEM. */
int fm_standard_flush(struct fm_error *err);

/* A command line makes no sense: "PROGRAM: why; PROGRAM --help tells more" at standard error; the
 * exit code is returned. */
__attribute__((format(printf, 3, 4))) static inline int
fm_standard_refuse(const char *program, int code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, format, ap);
	fprintf(stderr, "; %s --help tells more\n", program);
	va_end(ap);
	return code;
}

#endif
