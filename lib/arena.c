/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A list of chunks, newest first; only the newest is filled.  Large chunks are
 * mappings of their own, zeroed by the kernel where they are touched.  Others come
 * from the heap, so that arenas that come and go use the same pages again, which costs
 * a third of fresh ones; they are zeroed per block, as is a chunk used before.
 *
 * Under ASan all of a chunk is poisoned but the blocks handed out, and behind each
 * lies a red zone: who writes beyond a block is found, though the chunk goes on.
 */
#include "lib/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pages.h"

#ifdef __SANITIZE_ADDRESS__
#define FM_HAS_RED_ZONES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FM_HAS_RED_ZONES 1
#endif
#endif

#ifdef FM_HAS_RED_ZONES
#include <sanitizer/asan_interface.h>
#define RED_ZONE_BYTES ((size_t)32) /* behind a piece */
#else
#define RED_ZONE_BYTES ((size_t)0)
#endif

/* From now on n bytes at p, which is 8-byte aligned, may not be touched, as ASan sees it. */
static void
red_zone_lay(const void *p, size_t n)
{
#ifdef FM_HAS_RED_ZONES
	__asan_poison_memory_region(p, n);
#else
	(void)p;
	(void)n;
#endif
}

/* ... may again. */
static void
red_zone_lift(const void *p, size_t n)
{
#ifdef FM_HAS_RED_ZONES
	__asan_unpoison_memory_region(p, n);
#else
	(void)p;
	(void)n;
#endif
}

#define CHUNK_BYTES (256u * 1024)
#define ALIGN_SMALL 16u
#define ALIGN_LARGE 64u

struct fm_arena_chunk {
	struct fm_arena_chunk *next;
	size_t size;	     /* bytes of data */
	size_t fill;	     /* bytes of data in use */
	bool fresh;	     /* data beyond fill is still zero */
	unsigned char *data; /* aligned to ALIGN_LARGE at least */
};

static bool
is_large(size_t size)
{
	return size >= FM_PAGES_HUGE_BYTES;
}

void
fm_arena_init(struct fm_arena *a, size_t budget_bytes)
{
	memset(a, 0, sizeof(*a));
	a->budget = budget_bytes;
}

void
fm_arena_fini(struct fm_arena *a)
{
	struct fm_arena_chunk *c = a->chunks, *next;

	for (; c != NULL; c = next) {
		next = c->next;
		red_zone_lift(c->data, c->size);
		if (is_large(c->size))
			fm_pages_unmap(c->data, c->size);
		else
			free(c->data);
		free(c);
	}
	a->chunks = NULL;
	a->used = 0;
}

void
fm_arena_reset(struct fm_arena *a)
{
	struct fm_arena_chunk *only = a->chunks;
	size_t total = 0;

	for (struct fm_arena_chunk *c = a->chunks; c != NULL; c = c->next)
		total += c->size;
	if (only != NULL && only->next == NULL) {
		only->fill = 0;
		only->fresh = false;
		red_zone_lay(only->data, only->size);
		a->used = 0;
		return;
	}
	fm_arena_fini(a);
	a->next_chunk = total;
}

void
fm_arena_fail_at(struct fm_arena *a, uint64_t n)
{
	a->n_allocs = 0;
	a->fail_at = n;
}

static struct fm_arena_chunk *
add_chunk(struct fm_arena *a, size_t n_bytes)
{
	size_t need = n_bytes + RED_ZONE_BYTES, size = need > CHUNK_BYTES ? need : CHUNK_BYTES;
	struct fm_arena_chunk *c = malloc(sizeof(*c));

	if (c == NULL)
		return NULL;
	if (size < a->next_chunk)
		size = a->next_chunk;
	a->next_chunk = 0;
	size = (size + ALIGN_LARGE - 1) & ~(size_t)(ALIGN_LARGE - 1);
	c->data = is_large(size) ? fm_pages_map(size) : aligned_alloc(ALIGN_LARGE, size);
	if (c->data == NULL) {
		free(c);
		return NULL;
	}
	c->size = size;
	c->fill = 0;
	c->fresh = is_large(size);
	c->next = a->chunks;
	a->chunks = c;
	red_zone_lay(c->data, c->size);
	return c;
}

void *
fm_arena_alloc(struct fm_arena *a, size_t n_bytes)
{
	size_t align = n_bytes >= ALIGN_LARGE ? ALIGN_LARGE : ALIGN_SMALL;
	struct fm_arena_chunk *c = a->chunks;
	size_t at;

	a->n_allocs++;
	if (a->fail_at != 0 && a->n_allocs >= a->fail_at)
		return NULL;
	if (n_bytes > a->budget - a->used || n_bytes > SIZE_MAX / 2)
		return NULL;
	at = c != NULL ? (c->fill + align - 1) & ~(align - 1) : 0;
	if (c == NULL || at > c->size || n_bytes + RED_ZONE_BYTES > c->size - at) {
		c = add_chunk(a, n_bytes);
		if (c == NULL)
			return NULL;
		at = 0;
	}
	c->fill = at + n_bytes + RED_ZONE_BYTES;
	a->used += n_bytes;
	red_zone_lift(c->data + at, n_bytes);
	if (!c->fresh)
		memset(c->data + at, 0, n_bytes);
	return c->data + at;
}

void *
fm_arena_alloc_array(struct fm_arena *a, size_t n, size_t size)
{
	size_t n_bytes;

	if (__builtin_mul_overflow(n, size, &n_bytes))
		return NULL;
	return fm_arena_alloc(a, n_bytes);
}

char *
fm_arena_strdup(struct fm_arena *a, const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = fm_arena_alloc(a, n);

	if (copy != NULL)
		memcpy(copy, s, n);
	return copy;
}
