/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/query.h - what stands behind the question mark of an address.
 */
#ifndef WEB_SERVE_QUERY_H
#define WEB_SERVE_QUERY_H

#include <jansson.h>

#include "lib/error.h"

/* "after=12&name=leaf-1" is {"after": 12, "name": "leaf-1"}; text NULL: {}.  A value is a number
 * where it is one, as words of fmctl are, and a string between double quotes in any case; "" is
 * true.  FM_E_CONFIG: it makes no sense, or says a key twice. */
int query_read(const char *text, json_t **args, struct fm_error *err);

/* The same where no value is a number: each is a string as it stands, without double quotes at its
 * ends, as 16 digits of a generation may be decimal ones. */
int query_read_words(const char *text, json_t **args, struct fm_error *err);

/* FM_E_CONFIG where a key is none of words ("set group", a blank between). */
int query_check(const json_t *args, const char *words, struct fm_error *err);

#endif
