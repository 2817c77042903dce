/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/opensm/opensm_private.h - what readers of lines and their translation share.
 */
#ifndef CORE_OPENSM_OPENSM_PRIVATE_H
#define CORE_OPENSM_OPENSM_PRIVATE_H

#include "core/opensm/opensm.h"

/* The sentence, without its place, to o->told[what]. */
void opensm_tell(struct opensm *o, enum opensm_told what, const struct opensm_line *l,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

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
