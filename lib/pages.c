/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* since Linux 6.1 */
#endif

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

/* Address space for n_bytes that begins at a huge page, mapped as map() does. */
static unsigned char *
map_aligned(size_t n)
{
	size_t before, after;
	unsigned char *at = map(n + FM_PAGES_HUGE_BYTES), *aligned;

	if (at == NULL)
		return NULL;
	aligned = (unsigned char *)round_up((uintptr_t)at, FM_PAGES_HUGE_BYTES);
	before = (size_t)(aligned - at);
	after = FM_PAGES_HUGE_BYTES - before;
	if (before > 0)
		munmap(at, before);
	if (after > 0)
		munmap(aligned + n, after);
	return aligned;
}

void *
fm_pages_map(size_t n_bytes)
{
	size_t n = round_up(n_bytes, 4096);
	unsigned char *aligned;

	if (n_bytes < FM_PAGES_HUGE_BYTES)
		return map(n);
	aligned = map_aligned(n);
	if (aligned != NULL)
		madvise(aligned, n, MADV_HUGEPAGE);
	return aligned;
}

/* By default the kernel gives shared memory small pages, and huge ones where it is asked to
 * put small ones together: one of each is touched, so that there are any.  Where it does not,
 * they stay small. */
static void
collapse(volatile unsigned char *at, size_t n)
{
	for (size_t i = 0; i < n; i += FM_PAGES_HUGE_BYTES)
		at[i] = 0;
	for (int again = 0; again < 3; again++) /* EAGAIN: a page was busy */
		if (madvise((void *)(uintptr_t)at, n, MADV_COLLAPSE) == 0 || errno != EAGAIN)
			return;
}

void *
fm_pages_map_shared(size_t n_bytes, int *fd)
{
	size_t n = round_up(n_bytes, FM_PAGES_HUGE_BYTES);
	void *at = map_aligned(n), *shared = MAP_FAILED;

	*fd = memfd_create("fmd-tables", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (at != NULL && *fd >= 0 && ftruncate(*fd, (off_t)n) == 0 &&
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		shared = mmap(at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, *fd, 0);
	if (shared != MAP_FAILED) {
		collapse(shared, n);
		return shared;
	}
	if (at != NULL)
		munmap(at, n);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return NULL;
}

/* A hole in a huge page would split it. */
void
fm_pages_clear_shared(void *at, int fd, size_t from, size_t n_bytes)
{
	size_t whole = round_up(from, FM_PAGES_HUGE_BYTES) - from;

	if (whole >= n_bytes ||
	    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(from + whole),
		(off_t)(n_bytes - whole)) != 0)
		whole = n_bytes;
	memset((unsigned char *)at + from, 0, whole);
}

void
fm_pages_unmap(void *at, size_t n_bytes)
{
	if (at != NULL)
		munmap(at, round_up(n_bytes, 4096));
}
