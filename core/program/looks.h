/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/looks.h - what nodes hold as far as fmd knows, block by block, for who reads it back
 * while no sweep runs.
 *
 * Nothing here asks or writes.  A block of which fmd does not know what it holds has no look: the
 * next sweep is to read it anyhow.
 */
#ifndef CORE_PROGRAM_LOOKS_H
#define CORE_PROGRAM_LOOKS_H

#include "core/wire/wire.h"

struct sweeper;

enum look_kind {
	LOOK_STATE, /* LID, SM LID, LinearFDBTop: who was switched off has lost them */
	LOOK_LFT,
	LOOK_MFT,
	LOOK_PKEYS,
	LOOK_SL2VL,
	LOOK_VL_ARB,
	LOOK_GROUPS, /* of adaptive routing, and whether it is on */
	N_LOOK_KINDS
};

/* What to ask a node for, and what it holds in these of the 64 bytes of the answer. */
struct look {
	uint16_t attr;
	uint32_t modifier;
	uint8_t port; /* a CA's or router's that the way goes to; of switches any */
	uint8_t at, n_bytes;
	uint8_t bytes[WIRE_SMP_DATA_BYTES];
	uint8_t any[WIRE_SMP_DATA_BYTES]; /* bits of these that may be anything */
};

struct look_row {
	const char *name; /* for programs, so that it stays */
	const char *one, *many;
	/* So many places for blocks a node of this slot has, some without a look.  O(1) */
	uint32_t (*count)(const struct sweeper *s, uint32_t slot);
	/* False: at place i there is nothing, or nothing is known of it. */
	bool (*look)(const struct sweeper *s, uint32_t slot, uint32_t i, struct look *out);
	/* It holds something else: the next sweep reads it, and writes what differs. */
	void (*forget)(struct sweeper *s, uint32_t slot, uint32_t i);
};
extern const struct look_row look_rows[N_LOOK_KINDS];

/* Does an answer, its 64 bytes, show what the look says? */
bool look_is_met(const struct look *l, const uint8_t *data);

#endif
