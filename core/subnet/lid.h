/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/lid.h - who gets which LIDs.
 *
 * Fresh LIDs go leaf by leaf (the ends of one switch get consecutive LIDs,
 * neighbouring leaves follow one another), which puts the entries that one
 * event changes into few 64-LID blocks (a third of scattered LIDs).
 */
#ifndef CORE_SUBNET_LID_H
#define CORE_SUBNET_LID_H

#include <stdbool.h>
#include <stdint.h>

#include <fmd/engine.h>

#define LID_UNICAST_MAX 0xBFFF

/* One end-port that wants LIDs.  The array is given in the order in which
 * fresh LIDs should be handed out. */
struct lid_want {
	uint64_t guid;	  /* port GUID */
	const char *name; /* of its node, borrowed; NULL: it is not there */
	uint8_t lmc;	  /* wants 2^lmc LIDs, aligned */
	uint16_t stored;  /* base LID of the store or guid2lid file, 0 = none */
	uint16_t present; /* base LID in the port now, 0 = none */
	uint8_t present_lmc;
	uint16_t lid; /* out: base LID */
};

/* Order of trust: stored, then present (aligned, not promised to another),
 * then the first fit in want order.  Conflicts are resolved in favour of the
 * stored, then the earlier in GUID order, and logged, as is in one line what does not fit its LMC.
 * Fails with
 * FM_E_RESOURCE when unicast LIDs run out, naming how many were wanted.
 * O(n + 48K). */
int lid_assign(struct lid_want *wants, uint32_t n, bool honour_present, struct fm_error *err);
/* The same of what is only thought of: nothing is logged. */
int lid_foretell(struct lid_want *wants, uint32_t n, bool honour_present, struct fm_error *err);

#endif
