/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/regexp.h - extended regular expressions from files, on names from the wire.
 *
 * libc's take all the memory there is: "a++++...", as each + copies what is before it, and
 * "(a|b)*a[ab][ab]..." in names of 64 bytes, as each makes states of its own.  These are steps of
 * a machine, one to three a character, all that hold walked along the name together:
 * O(|expression|) memory and O(|expression| |name|) time, whatever they are.
 */
#ifndef CORE_TEXT_REGEXP_H
#define CORE_TEXT_REGEXP_H

#include <stdbool.h>

#include "lib/error.h"

#define REGEXP_MAX 255 /* bytes */

struct regexp;

/* POSIX's, by bytes: . [] [^a-z[:alpha:]] () | * + ? ^ $ and \ before any other sign; besides
 * \w \W \s \S.  Not counts in braces, nor back-references.  FM_E_CONFIG names what is wrong. */
int regexp_new(const char *text, struct regexp **out, struct fm_error *err);
void regexp_free(struct regexp *r); /* NULL is fine */
/* Does it match somewhere in text? */
bool regexp_match(const struct regexp *r, const char *text);

#endif
