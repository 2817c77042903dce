/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/opensm/opensm_private.h - what the reader of lines and their translation share.
 */
#ifndef CORE_OPENSM_OPENSM_PRIVATE_H
#define CORE_OPENSM_OPENSM_PRIVATE_H

#include "core/opensm/opensm.h"

/* A mistake in a line, and a line without a counterpart: the sentence without its place. */
void opensm_bad(struct opensm *o, const struct opensm_line *l, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void opensm_stray(struct opensm *o, const struct opensm_line *l, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
