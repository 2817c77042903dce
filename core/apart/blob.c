/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A mapping of much address space, of which only what is put takes memory.
 */
#include "config.h"

#include "core/apart/blob.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/pages.h"

#define ROOM ((size_t)1 << 32)
/* Where a child has nothing: below its program, libraries and stack. */
#define BASE (UINT64_C(1) << 45)
#define N_BASES (UINT64_C(1) << 20) /* of 2 MB: 2 TB */
#define BEHIND (UINT64_C(1) << 42)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* since Linux 6.1 */
#endif

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* NULL: no memory. */
static unsigned char *
map_aligned(int fd)
{
	size_t n = ROOM + FM_PAGES_HUGE_BYTES;
	unsigned char *all =
	    mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;
	void *at;

	if (all == MAP_FAILED)
		return NULL;
	before = (FM_PAGES_HUGE_BYTES - (uintptr_t)all % FM_PAGES_HUGE_BYTES) % FM_PAGES_HUGE_BYTES;
	if (before > 0)
		munmap(all, before);
	if (before < FM_PAGES_HUGE_BYTES)
		munmap(all + before + ROOM, FM_PAGES_HUGE_BYTES - before);
	at = mmap(all + before, ROOM, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

/* The seals: nobody makes it shorter, which would end in SIGBUS here, and nobody else writes;
 * kernels before 5.1 do not know the latter, where the child harms itself alone. */
static void
map(struct blob *b)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = 0; /* so early that there is none: a place like any other */
	b->input_at = BASE + random % N_BASES * FM_PAGES_HUGE_BYTES;
	b->tables_at = b->input_at + BEHIND;
	b->huge = 0;
	b->fd = memfd_create("fmd-input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (b->fd >= 0 && ftruncate(b->fd, (off_t)ROOM) == 0)
		b->at = map_aligned(b->fd);
	b->failed = b->at == NULL || fcntl(b->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0;
	if (!b->failed)
		(void)fcntl(b->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
}

void
blob_begin(struct blob *b)
{
	b->used = 64; /* offset 0 is none */
	b->places.n = 0;
	b->failed = false;
	if (b->at == NULL) {
		blob_fini(b);
		map(b);
	}
}

void
blob_fini(struct blob *b)
{
	if (b->at != NULL)
		munmap(b->at, ROOM);
	if (b->fd >= 0)
		close(b->fd);
	b->at = NULL;
	b->fd = -1;
	fm_vec_fini(&b->places);
}

static uint64_t
append_bytes(struct blob *b, const void *data, size_t n)
{
	uint64_t at = b->used;

	if (b->failed || n > ROOM - b->used) {
		b->failed = true;
		return 0;
	}
	if (data != NULL)
		memcpy(b->at + at, data, n);
	else
		memset(b->at + at, 0, n);
	b->used += n;
	return at;
}

uint64_t
blob_put(struct blob *b, const void *data, size_t n)
{
	size_t aligned = (b->used + 7) / 8 * 8;

	b->failed |= aligned > ROOM;
	if (!b->failed)
		b->used = aligned;
	return append_bytes(b, data, n);
}

uint64_t
blob_put_text(struct blob *b, const char *text)
{
	return append_bytes(b, text, strlen(text) + 1);
}

static void
point(struct blob *b, uint64_t place, uint64_t to, uint64_t flag)
{
	uint64_t listed = place | flag;

	to += flag != 0 ? b->tables_at : b->input_at;
	if (b->failed)
		return;
	memcpy(b->at + place, &to, sizeof(to));
	b->failed = !fm_vec_push(&b->places, listed);
}

void
blob_point(struct blob *b, uint64_t place, uint64_t to)
{
	point(b, place, to, 0);
}

void
blob_point_into_tables(struct blob *b, uint64_t place, uint64_t to)
{
	point(b, place, to, BLOB_IN_TABLES);
}

void
blob_end(struct blob *b)
{
	size_t n = (b->used + FM_PAGES_HUGE_BYTES - 1) / FM_PAGES_HUGE_BYTES * FM_PAGES_HUGE_BYTES;

	if (b->failed || n <= b->huge)
		return;
	(void)madvise(b->at, n, MADV_COLLAPSE); /* else they stay small */
	b->huge = n;
}
