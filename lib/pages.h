/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/pages.h - large blocks of memory on huge pages.
 *
 * A table of 88 MB on 4 KiB pages spends more time on address translation
 * than on routing.  The kernel gives huge pages only to ranges that are
 * aligned to them, which plain mmap() does not promise.
 */
#ifndef FM_LIB_PAGES_H
#define FM_LIB_PAGES_H

#include <stddef.h>

#define FM_PAGES_HUGE_BYTES ((size_t)2 << 20)

/* A zeroed mapping of n_bytes, aligned to FM_PAGES_HUGE_BYTES when it is that
 * large, or NULL.  Untouched parts cost nothing. */
void *fm_pages_map(size_t n_bytes);
void fm_pages_unmap(void *at, size_t n_bytes); /* the same n_bytes; NULL is fine */

#endif
