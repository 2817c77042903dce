/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/json_text.h - any text, or a GUID, as a JSON string.
 *
 * A node may call itself anything, and a sentence with its name may have been cut
 * off within a letter; JSON takes UTF-8 only, and what json_pack("s") refuses would
 * take the whole answer with it.
 */
#ifndef CORE_TEXT_JSON_TEXT_H
#define CORE_TEXT_JSON_TEXT_H

#include <jansson.h>
#include <stdint.h>

/* A new string; where the text is no UTF-8, as fm_printable() makes it.
 * NULL: out of memory. */
json_t *json_text(const char *text);
/* "0x0002c90300a1b2c3", a new string; NULL: out of memory. */
json_t *json_guid(uint64_t guid);

#endif
