/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/arena.h - memory by lifetime.
 *
 * Blocks are bump-allocated, zeroed, 64-byte aligned when 64 bytes or larger
 * (16 otherwise), and freed as a whole.  A budget bounds the sum of all blocks; fail_at
 * makes the n-th allocation fail, for tests.  One thread at a time.
 * alloc O(bytes), reset and fini O(chunks).
 */
#ifndef FM_LIB_ARENA_H
#define FM_LIB_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct fm_arena {
	struct fm_arena_chunk *chunks; /* newest first */
	size_t used;		       /* bytes handed out since the last reset */
	size_t budget;		       /* bytes; SIZE_MAX = no limit */
	size_t next_chunk;	       /* size of the next chunk: what the last round needed */
	uint64_t n_allocs;	       /* since init or fm_arena_fail_at() */
	uint64_t fail_at;	       /* this allocation and all later fail; 0 = never */
};

void fm_arena_init(struct fm_arena *a, size_t budget_bytes);
/* Gives every block back.  One chunk as large as all of this round's is kept or
 * made for the next, so that equal rounds touch fresh memory once. */
void fm_arena_reset(struct fm_arena *a);
void fm_arena_fini(struct fm_arena *a);
/* The n-th allocation from now (1 = the next) and all after it fail; 0 = never. */
void fm_arena_fail_at(struct fm_arena *a, uint64_t n);

/* Zeroed block of n bytes, or NULL when the budget is spent or memory is. */
void *fm_arena_alloc(struct fm_arena *a, size_t n_bytes);
char *fm_arena_strdup(struct fm_arena *a, const char *s);

/* An array of n zeroed elements of type, or NULL. */
#define fm_arena_array(a, n, type) ((type *)fm_arena_alloc_array((a), (n), sizeof(type)))
void *fm_arena_alloc_array(struct fm_arena *a, size_t n, size_t size);

#endif
