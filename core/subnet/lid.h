/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/lid.h - who gets which LIDs.
 *
 * Fresh LIDs go leaf by leaf (the ends of one switch get consecutive LIDs,
 * neighbouring leaves follow one another), which puts the entries that one
 * event changes into few 64-LID blocks (a third of scattered LIDs).  A leaf
 * begins at the next block where it would lie in more blocks than it needs, as
 * long as all LIDs lie in a twelfth more blocks than they have to: a cable of a
 * leaf is one block to write then in most switches, while tables are hardly
 * longer.  What is left free gets switches without hosts, and those of leaves of
 * 16, 32 or 64 hosts, which fill blocks by themselves.
 */
#ifndef CORE_SUBNET_LID_H
#define CORE_SUBNET_LID_H

#include <stdbool.h>
#include <stdint.h>

#include <fmd/engine.h>

#define LID_UNICAST_MAX 0xBFFF

/* One end-port that wants LIDs.  The array is given in the order in which fresh
 * LIDs should be handed out; those of one leaf follow one another in it. */
struct lid_want {
	uint64_t guid;	  /* port GUID */
	const char *name; /* of its node, borrowed; NULL: it is not there */
	uint32_t leaf;	  /* stands for the switch that it is or hangs on; 0: none */
	bool is_switch;
	uint8_t lmc;	  /* wants 2^lmc LIDs, aligned */
	uint16_t stored;  /* base LID of the store or guid2lid file, 0 = none */
	uint16_t present; /* base LID in the port now, 0 = none */
	uint8_t present_lmc;
	uint16_t lid; /* out: base LID */
};

/* Order of trust: stored, then present (aligned, not promised to another), then
 * fresh: leaves of which no host has a LID, in want order, then the first fit for
 * all others, in a block of their leaf if there is room.  Conflicts are resolved in
 * favour of the stored, then the earlier in GUID order, and logged, as is in one line
 * what does not fit its LMC.  Fails with FM_E_RESOURCE when unicast LIDs run out,
 * naming how many were wanted.  O(48K * LIDs of a leaf + n * ends of a leaf). */
int lid_assign(struct lid_want *wants, uint32_t n, bool honour_present, struct fm_error *err);
/* The same of what is only thought of: nothing is logged. */
int lid_foretell(struct lid_want *wants, uint32_t n, bool honour_present, struct fm_error *err);

#endif
