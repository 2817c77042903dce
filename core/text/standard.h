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

#include "lib/error.h"

/* Call it first of all: using a descriptor that was closed fails, as it should. */
void fm_standard_claim(void);
/* 0 when all that was printed has been written, else FM_E_SYSTEM. */
int fm_standard_flush(struct fm_error *err);

#endif
