/* SPDX-License-Identifier: BSD-2-Clause */
/* core/audit/found.h - blocks that are not what fmd believes, and who has had such before. */
#ifndef CORE_AUDIT_FOUND_H
#define CORE_AUDIT_FOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/vec.h"

struct sweeper;

struct found_block {
	uint32_t slot, i; /* look_row */
	uint8_t kind;	  /* enum look_kind */
};
struct found_node {
	uint32_t slot;
	uint32_t n_turns; /* in a row */
};
struct found {
	FM_VEC(struct found_block) blocks;     /* not told yet */
	FM_VEC(struct found_node) now, before; /* this turn's, the last one's */
};

/* They are in doubt from now on, and told, a line a node; those of a turn of its own that nobody
 * asked for not in each turn of a row.  How many nodes. */
uint32_t found_settle(struct sweeper *s, struct found *f, bool is_asked_for);
/* Nodes from this slot on are read again. */
void found_drop(struct found *f, uint32_t slot);
void found_end_turn(struct found *f);
void found_fini(struct found *f);

#endif
