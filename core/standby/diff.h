/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/standby/diff.h - what makes a file of another that is much like it.
 *
 * Bytes that both have are copied from the old file, wherever they are there now, so that what is
 * put in or taken out does not make the rest differ.  A difference is numbers (7 bits a byte, the
 * lowest first, 0x80: it goes on) and bytes:
 *
 *	sum, length	of the new file
 *	skip, copy, n	again and again: skip bytes of the old file (the lowest bit: back), copy
 *			so many, then n bytes follow, which stand for as many of the old file
 *
 * Of a difference nothing is believed, and what it makes is held against the sum.
 */
#ifndef CORE_STANDBY_DIFF_H
#define CORE_STANDBY_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct diff { /* as FM_VEC() */
	uint8_t *item;
	size_t n, room;
};

/* now[n_now] from old[n_old]; free out->item.  False: it would have more than `most` bytes, or
 * memory is out.  O(bytes): 22 MB took 45 to 160 ms on a busy machine. */
bool diff_make(const uint8_t *old, size_t n_old, const uint8_t *now, size_t n_now, size_t most,
    struct diff *out);
/* *out, malloced: what it makes of old[n_old], at most 2 * n_old + n bytes.  FM_E_SYSTEM: it is
 * none of this file, FM_E_RESOURCE. */
int diff_apply(const uint8_t *old, size_t n_old, const uint8_t *diff, size_t n, uint8_t **out,
    size_t *n_out, struct fm_error *err);

#endif
