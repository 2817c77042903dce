/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/apart/blob.h - structs with pointers, laid out for another process.
 *
 * A pointer is written as the address that it has where this memory, and the tables, are
 * wanted to be mapped, and its place is listed: who has to map them elsewhere adds the
 * difference.  The wanted addresses are as random as others.  The memory is a memfd that can be
 * written through our mapping alone; it is used again for the next call.  One thread.
 */
#ifndef CORE_APART_BLOB_H
#define CORE_APART_BLOB_H

#include <stdbool.h>

#include "core/apart/wire.h"
#include "lib/vec.h"

#define BLOB_IN_TABLES (UINT64_C(1) << 63) /* a place that points into the tables */

struct blob {
	int fd;
	unsigned char *at; /* NULL: nothing was put yet */
	size_t used, huge; /* huge: bytes on huge pages, as far as the kernel has them */
	uint64_t input_at, tables_at;
	FM_VEC(uint64_t) places;
	bool failed; /* memory is out, once for all that is put */
};

/* Empty, with what it had before. */
void blob_begin(struct blob *b);
void blob_fini(struct blob *b);
/* Room for n bytes, aligned to 8; data NULL: zeros.  The offset. */
uint64_t blob_put(struct blob *b, const void *data, size_t n);
/* The same for a text, unaligned. */
uint64_t blob_put_text(struct blob *b, const char *text);
/* The pointer at offset `place` points to offset `to`. */
void blob_point(struct blob *b, uint64_t place, uint64_t to);
void blob_point_into_tables(struct blob *b, uint64_t place, uint64_t to);

/* All is put: on huge pages, so that it is mapped at once. */
void blob_end(struct blob *b);
/* The input of a call.  False: no memory. */
struct apart_call;
bool pack_call(struct blob *b, const struct apart_call *call, const struct fm_engine *engine,
    struct wire_call *wire);

#endif
