/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/traps.h - what traps may set off.
 *
 * A trap is answered with TrapRepress at once (IBA 13.4.9), whatever it is.  It is believed when
 * it came by LID, from a LID of the port that it names as its issuer, and tells of what a node
 * may tell of.  It names what to read again: 128 (link state of a switch) its ports, 144
 * (capabilities, description) the node.  Events that come while a sweep discovers are read within
 * that sweep, later ones start the next.
 *
 * Bounds, so that nobody keeps the sweep busy; reading is put off by them and never forgotten:
 *
 *	alike, of one source	10 in a row, till it has been quiet for 3 s, are passed on, and have
 *				the node read as often, those not counted that come while it is
 *				to be read anyhow; beyond that the node is read after 1 s, then
 *				2, 4, 8, and each 10 s
 *	of all			4096 nodes to read at once, then 512 a second; the first of a
 *				row is always acted upon
 *	a LID that is nobody's	all is looked at, once in an interval between sweeps
 *	passed on		1024 at once, then 125 a second; the rest is not
 */
#ifndef CORE_SWEEP_TRAPS_H
#define CORE_SWEEP_TRAPS_H

#include "core/mad/talkers.h"
#include "core/sweep/sweep.h"
#include "lib/tokens.h"

#define BABBLE_MOST 250 /* traps of errors alike in a row, of one port: it babbles */

struct trap_row {
	uint64_t key; /* source, number; of errors the port, too */
	int64_t last_ms;
	int64_t owed_ms; /* its node is to be read then; 0: it has been */
	uint32_t n;	 /* in a row */
	uint8_t n_reads; /* for it */
	uint8_t n_held;	 /* reading was put off so many times */
};

struct traps {
	struct sweep_trap_counts counts;
	struct talkers talkers; /* of all MADs that answer no question of ours */
	FM_VEC(struct trap_row) rows;
	struct fm_hash of_key;
	size_t purge_at;  /* rows */
	int64_t owed_ms;  /* nothing is owed before; 0: nothing at all */
	int64_t heavy_ms; /* for a LID that is nobody's; not before */
	int64_t say_ms;	  /* not before */
	struct fm_tokens reads, relays;
};

void traps_fini(struct traps *t);
/* The port babbles; it is disabled where that harms nobody else (babble.c). */
void babble_stop(struct sweeper *s, uint32_t slot, unsigned port, uint16_t trap);
/* No sweep runs: one is asked for where what was put off is due. */
void traps_step(struct sweeper *s);
/* All is about to be read. */
void traps_settle(struct sweeper *s);

#endif
