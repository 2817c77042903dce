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
/* The same of memory that another process can map by *fd (memfd, CLOEXEC), which nobody can
 * make shorter; on huge pages where the kernel has them for it. */
void *fm_pages_map_shared(size_t n_bytes, int *fd);
/* n_bytes of zeros behind at + from, to the end of the mapping; untouched, most of them cost
 * nothing again. */
void fm_pages_clear_shared(void *at, int fd, size_t from, size_t n_bytes);
void fm_pages_unmap(void *at, size_t n_bytes); /* the same n_bytes; NULL is fine */

#endif
