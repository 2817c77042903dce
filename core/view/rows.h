/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/rows.h - what every path of the subnet can carry, a byte a path.
 *
 * Forwarding is by destination LID alone, so the path from a switch to a LID is
 * the first link and the path from there: the paths to one LID are a tree, and
 * what they carry (least MTU, least rate) takes one step a switch.  There are
 * few different answers, so that an answer is a byte, its class:
 *
 *	block b = LIDs 64 b .. 64 b + 63
 *	block[b]->cls[leaf][k]		class of the path from that switch to LID 64 b + k
 *
 * Only switches with ends on their ports have rows.  A source adds its own link: a path from
 * an end is the class of its switch, and its link's, combined.  SLs are not in
 * here: the plan's tables answer for them at once (tables_sl()).
 *
 * Rows never change.  An update makes new ones that share the blocks in which
 * nothing changed.  Memory: a byte per (switch with ends, LID).
 */
#ifndef CORE_VIEW_ROWS_H
#define CORE_VIEW_ROWS_H

#include <stdatomic.h>

#include <fmd/engine.h>

#include "lib/pool.h"

#define ROWS_BLOCK_LIDS 64

/* What a link, or a path, can carry. */
struct path_attr {
	uint8_t mtu;   /* as PortInfo has it: 1 = 256 bytes .. 5 = 4096 */
	uint32_t mbps; /* data rate */
};

enum {
	ROWS_NO_PATH = 0, /* a dead end, a loop, or the port of another */
	ROWS_MOST_ATTRS = 64
};

struct rows_block;

struct rows {
	atomic_uint refs;
	uint32_t n_switches, n_leaves, n_blocks, n_classes;
	uint32_t *leaf; /* [n_switches] its row, FM_NONE: nothing hangs off it */
	/* [n_classes] by class; that of ROWS_NO_PATH is all 0 */
	struct path_attr attr[256];
	/* [ROWS_MOST_ATTRS][256] class of a link of this attribute and then a path of that class */
	uint8_t (*join)[256];
	struct rows_block **block; /* [n_blocks] */
	uint64_t n_loops;	   /* (switch with ends, LID) whose path runs in circles */
};

struct rows_request {
	const struct fm_fabric *fab;
	const struct fm_tables *tables;
	const struct path_attr *attrs; /* [n_attrs], at most ROWS_MOST_ATTRS */
	uint32_t n_attrs;
	const uint8_t *link_attr; /* [n_links] index into attrs */
	const uint8_t *end_attr;  /* [n_ends] of the link an end hangs by; of port 0 its own */
	/* NULL, or rows of before and [blocks] bitset of those that changed: valid while the
	 * switches with ends, the links and all attributes are what they were */
	const struct rows *prev;
	const uint64_t *dirty;
};

/* One reference in *out.  O(blocks to do * switches * 64), on all workers.
 * FM_E_RESOURCE: memory, or more than 254 different answers. */
int rows_build(
    const struct rows_request *q, struct fm_pool *workers, struct rows **out, struct fm_error *err);
struct rows *rows_get(struct rows *r);
void rows_put(struct rows *r); /* NULL is fine */

/* The class of the path from switch sw, which has ends, to lid; O(1). */
uint8_t rows_class(const struct rows *r, fm_sw sw, uint16_t lid);

#endif
