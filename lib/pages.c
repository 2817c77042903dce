/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pages.h"

#include <stdint.h>
#include <sys/mman.h>

static void *
map(size_t n_bytes)
{
	void *at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

void *
fm_pages_map(size_t n_bytes)
{
	size_t n = round_up(n_bytes, 4096), before, after;
	unsigned char *at, *aligned;

	if (n_bytes < FM_PAGES_HUGE_BYTES)
		return map(n);
	at = map(n + FM_PAGES_HUGE_BYTES);
	if (at == NULL)
		return NULL;
	aligned = (unsigned char *)round_up((uintptr_t)at, FM_PAGES_HUGE_BYTES);
	before = (size_t)(aligned - at);
	after = FM_PAGES_HUGE_BYTES - before;
	if (before > 0)
		munmap(at, before);
	if (after > 0)
		munmap(aligned + n, after);
	madvise(aligned, n, MADV_HUGEPAGE);
	return aligned;
}

void
fm_pages_unmap(void *at, size_t n_bytes)
{
	if (at != NULL)
		munmap(at, round_up(n_bytes, 4096));
}
