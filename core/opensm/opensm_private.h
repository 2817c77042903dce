/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/opensm/opensm_private.h - what readers of lines and their translation share.
 */
#ifndef CORE_OPENSM_OPENSM_PRIVATE_H
#define CORE_OPENSM_OPENSM_PRIVATE_H

#include "core/opensm/opensm.h"

/* A mistake in a line, a line without a counterpart, one whose file OpenSM would not miss and that
 * is not there: the sentence without its place. */
void opensm_bad(struct opensm *o, const struct opensm_line *l, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void opensm_stray(struct opensm *o, const struct opensm_line *l, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void opensm_absent(struct opensm *o, const struct opensm_line *l, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Is the line at its manager's default? */
bool opensm_says_nothing(const struct opensm *o, const struct opensm_line *l);
/* Settings of a line; text and items live in o->mem; text NULL: memory is out. */
void opensm_set(struct opensm *o, const struct opensm_line *l, const struct fm_engine *engine,
    const char *to, const char *text);
void opensm_set_items(struct opensm *o, const struct opensm_line *l, const struct fm_engine *engine,
    const char *to, const char *const *items, size_t n);
/* A time, "8ms" or "infinite", as the next code of 4.096 us * 2^n, max and what is longer as max,
 * to .to and .or_to. */
void opensm_set_life(
    struct opensm *o, const struct opensm_line *l, unsigned max, bool may_be_infinite);
/* What a line comes to whose fate is not of its own rules alone; chain: "a, b". */
void opensm_translate_line(struct opensm *o, const struct opensm_line *l, const char *chain);

#endif
