/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/vec.h - growing arrays: FM_VEC(uint32_t) v = {0}; fm_vec_push(&v, 7).
 *
 *	+------+---+------+
 *	| item | n | room |	item[0..n-1] are in use
 *	+------+---+------+
 *
 * push is O(1) amortised.  Growth that fails returns false and leaves the
 * vector as it was.
 */
#ifndef FM_LIB_VEC_H
#define FM_LIB_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FM_VEC(type) \
	struct { \
		type *item; \
		size_t n, room; \
	}

/* Room for at least n items; false when memory is out. */
#define fm_vec_reserve(v, want) \
	fm_vec_grow((void **)&(v)->item, &(v)->room, (want), sizeof(*(v)->item))

/* Append; false when memory is out. */
#define fm_vec_push(v, value) \
	(fm_vec_reserve((v), (v)->n + 1) && ((v)->item[(v)->n++] = (value), true))

/* Append count items from memory at src, which may be NULL when there are none. */
#define fm_vec_append(v, src, count) \
	((count) == 0 || \
	    (fm_vec_reserve((v), (v)->n + (count)) && \
		(memcpy((v)->item + (v)->n, (src), (count) * sizeof(*(v)->item)), \
		    (v)->n += (count), true)))

#define fm_vec_fini(v) (free((v)->item), (v)->item = NULL, (v)->n = (v)->room = 0)

static inline bool
fm_vec_grow(void **item, size_t *room, size_t want, size_t size)
{
	size_t to = *room ? *room : 8;
	void *p;

	if (want <= *room)
		return true;
	while (to < want)
		to *= 2;
	p = reallocarray(*item, to, size);
	if (p == NULL)
		return false;
	*item = p;
	*room = to;
	return true;
}

#endif
