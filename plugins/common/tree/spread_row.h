/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/tree/spread_row.h - what the parts of spread.c share; not installed.
 *
 *	spread.c		rows, one like the other where they may be
 *	spread_columns.c	the columns of one row
 *	spread_main.c		main paths, and the numbers they change
 *
 * The idea stands at the head of spread.c.
 */
#ifndef PLUGINS_COMMON_TREE_SPREAD_ROW_H
#define PLUGINS_COMMON_TREE_SPREAD_ROW_H

#include <string.h>

#include "plugins/common/tree/spread.h"

#define PATTERN_MAX 16384 /* slots times cables of the widest: at most 128 * 127 of 254 ports */

struct moved {
	uint32_t position, number;
};

struct spread {
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_tree *tree;
	const struct fm_reach *reach;
	const struct fm_lids *lids;
	const struct fm_tables *out;
	struct moved *moved; /* [n_moved] ascending positions: case 1 */
	uint32_t n_moved;
	uint32_t *number; /* [n_positions] after the moves */
	/* case 3: positions of hosts by leaf that are more than its ways up can share; 0: none */
	uint32_t leaf_hosts, leaf_main, leaf_ways;
	uint32_t *col_of; /* [n_switches] */
	struct row *rows; /* [n_workers] */
};

/* Division by a number that stays the same for a row (Lemire, Kaser, Kurz 2019:
 * exact for 32 bits). */
struct divisor {
	uint64_t inverse; /* 2^64 / by, rounded up; unused for 1 */
	uint32_t by;
};

/* One bit a port.  Never passed by value, like fm_lanes. */
typedef uint64_t port_set __attribute__((vector_size(32)));

struct way {
	fm_arc arc;
	uint8_t port;
};

/* What a worker needs for the row in hand. */
struct row {
	const struct spread *s;
	fm_sw sw;
	uint8_t *ports;	  /* [n_positions] the row by position */
	uint8_t *pattern; /* [PATTERN_MAX] */
	struct divisor n_pattern, divider, lower_width, lower_divider;
	bool by_slot;	  /* the pattern goes by slots of the plane above */
	fm_arc *up_steps; /* [256] arcs up that have a slot: the ways up */
	uint32_t n_up_steps;
	bool has_all_slots;
	fm_arc *steps; /* [256] next steps of the columns in hand */
	uint32_t n_steps;
	struct way *ways; /* [n_ways] cables of up_steps */
	uint32_t n_ways;
	port_set all_ways;
	port_set *closed; /* [FM_LANES] ways that do not lead to a column of the block */
	uint8_t *open;	  /* [256] ports of the ways for the column in hand, when listed */
	uint32_t n_open;
	int32_t load[256]; /* by port: more than the pattern's share; FM_PORT_NONE too */
	bool displaced;	   /* anything in this row */
	fm_lanes *changed; /* [n_blocks] columns not as in the row before */
};

static inline void
set_divisor(struct divisor *d, uint32_t by)
{
	d->by = by;
	d->inverse = by > 1 ? UINT64_MAX / by + 1 : 0;
}

static inline uint32_t
quotient(const struct divisor *d, uint32_t x)
{
	return d->by == 1 ? x : (uint32_t)(((unsigned __int128)d->inverse * x) >> 64);
}

static inline uint32_t
rest(const struct divisor *d, uint32_t x)
{
	return x - quotient(d, x) * d->by;
}

static inline bool
is_empty(const fm_lanes *set)
{
	const uint64_t *word = (const uint64_t *)set;
	uint64_t any = 0;

	for (unsigned w = 0; w < FM_LANES / 64; w++)
		any |= word[w];
	return any == 0;
}

/* The next run of consecutive members at or after i; false at the end. */
static inline bool
next_run(const fm_lanes *set, uint32_t *i, uint32_t *stop)
{
	const uint64_t *word = (const uint64_t *)set;
	uint32_t w = *i / 64;
	uint64_t bits;

	if (*i >= FM_LANES)
		return false;
	bits = word[w] >> (*i % 64) << (*i % 64);
	while (bits == 0) {
		if (++w == FM_LANES / 64)
			return false;
		bits = word[w];
	}
	*i = w * 64 + (uint32_t)__builtin_ctzll(bits);
	bits = ~(bits | (((uint64_t)1 << (*i % 64)) - 1));
	while (bits == 0) {
		if (++w == FM_LANES / 64) {
			*stop = FM_LANES;
			return true;
		}
		bits = ~word[w];
	}
	*stop = w * 64 + (uint32_t)__builtin_ctzll(bits);
	return true;
}

static inline void
add_port(port_set *set, uint8_t port)
{
	((uint64_t *)set)[port / 64] |= (uint64_t)1 << (port % 64);
}

/* Is it one of the hosts that are too many for its leaf's ways up? */
static inline bool
is_surplus(const struct spread *s, uint32_t position)
{
	return s->leaf_hosts > 0 && position < s->lids->space[FM_OTHERS].start &&
	    position % s->leaf_hosts >= s->leaf_main;
}

/* spread_columns.c: the columns of a block that are in only. */
void fm_spread_block(struct row *r, uint32_t block, const fm_lanes *only);
/* Columns col..stop-1 all by one port. */
void fm_spread_one_port(struct row *r, uint32_t col, uint32_t stop, uint8_t port);

/* spread_main.c: number[] and moved[].  FM_E_RESOURCE. */
int fm_spread_settle(const struct fm_host *host, struct spread *s, struct fm_error *err);

#endif
