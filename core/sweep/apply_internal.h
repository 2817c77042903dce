/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/apply_internal.h - what the parts of apply share.
 *
 *	apply.c		what is known of blocks, reading and writing them
 *	apply_order.c	what the order of writing has to reckon with
 */
#ifndef CORE_SWEEP_APPLY_INTERNAL_H
#define CORE_SWEEP_APPLY_INTERNAL_H

#include "core/sweep/internal.h"

#define LFT_BLOCK_LIDS TRANSITION_BLOCK_LIDS

static inline const struct fm_fabric *
fabric_of(const struct plan *p)
{
	return &p->snap->fab;
}

static inline uint32_t
n_blocks(const struct plan *p)
{
	return p->top_lid / LFT_BLOCK_LIDS + 1u;
}

/* The transition, made when the first block that differs is found.  NULL: no memory. */
struct transition *apply_transition(struct sweeper *s);
/* A block that can neither be written nor read: what it may hold. */
void apply_fix_block(struct sweeper *s, uint32_t slot, uint32_t block);
/* All blocks are added: in which order they are written. */
void apply_order(struct sweeper *s);

#endif
