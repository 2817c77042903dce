/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mcast/mft_rows.h - multicast tables as the switches have acknowledged them, to be
 * read by other threads.
 *
 *	rows --> the row of a switch --> its blocks that are not empty
 *
 * Immutable, shared by reference count.  What is written makes new rows that share
 * those of all switches that it did not touch: O(switches) counts, and the blocks of
 * the switches it did touch.
 */
#ifndef CORE_MCAST_MFT_ROWS_H
#define CORE_MCAST_MFT_ROWS_H

#include <stdatomic.h>

#include "core/mcast/mcast_write.h"

struct mft_row {
	atomic_uint refs;
	uint32_t n;
	struct mft_block block[]; /* [n] ascending block, then position; none is empty */
};

struct mft_rows {
	atomic_uint refs;
	uint32_t n_switches;
	struct mft_row *row[]; /* [n_switches] NULL: it holds nothing */
};

/* By switch, block and position. */
int mft_block_order(const void *a, const void *b);
/* prev (NULL: nothing is held) with these blocks in place of what it has there: in
 * mft_block_order(), none twice.  One reference; NULL: out of memory. */
struct mft_rows *mft_rows_update(
    const struct mft_rows *prev, const struct mft_block *changed, size_t n_changed);
struct mft_rows *mft_rows_get(struct mft_rows *r); /* NULL is fine */
void mft_rows_put(struct mft_rows *r);		   /* NULL is fine */

/* NULL: the block is empty.  r NULL: so are all. */
const struct mft_block *mft_rows_find(
    const struct mft_rows *r, fm_sw sw, uint32_t block, uint32_t position);
/* Blocks up to the last that is not empty. */
uint32_t mft_rows_n_blocks(const struct mft_rows *r, fm_sw sw);

/* Blocks of 16 ports that the entries of a switch have (port 0 is one). */
static inline uint32_t
mft_n_positions(uint32_t n_ports)
{
	return n_ports / MFT_BLOCK_PORTS + 1;
}

#endif
