/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/name_ranges.h - many names in few words, as the configuration
 * would name them: leaf-1 .. leaf-18 are leaf-[1-18].
 */
#ifndef CORE_TEXT_NAME_RANGES_H
#define CORE_TEXT_NAME_RANGES_H

#include "lib/arena.h"

/* Patterns in mem that match the n names (of which none has brackets of its own),
 * no others like them, sorted.  NULL when memory is out.  O(n log n) for each number in a name. */
const char **name_ranges(
    const char *const *names, size_t n, struct fm_arena *mem, size_t *n_patterns);

#endif
