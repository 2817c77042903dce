/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/apply_internal.h - what the parts of apply share.
 *
 *	apply.c		reading and writing blocks
 *	apply_known.c	what is known of them
 *	apply_order.c	what the order of writing has to reckon with
 *	apply_wait.c	what it waits for between two stages
 *	owed.c		what is found out before the next plan is made
 */
#ifndef CORE_PROGRAM_APPLY_INTERNAL_H
#define CORE_PROGRAM_APPLY_INTERNAL_H

#include "core/adaptive/adaptive.h"
#include "core/program/internal.h"

#define LFT_BLOCK_LIDS TRANSITION_BLOCK_LIDS

enum apply_stage { STAGE_READ, STAGE_PLAN, STAGE_STATIC, STAGE_WRITE, STAGE_MAPS, STAGE_OVER };

static inline const struct fm_fabric *
fabric_of(const struct plan *p)
{
	return &p->snap->fab;
}

/* Bit of a block in writing.visit and writing.settled: block by block, switch by switch, so that no
 * switch gets a burst. */
static inline size_t
visit_bit(const struct sweeper *s, fm_sw sw, uint32_t block)
{
	return (size_t)block * s->inv.switches.n + sw;
}

static inline uint32_t
n_blocks(const struct plan *p)
{
	return p->top_lid / LFT_BLOCK_LIDS + 1u;
}

static inline const uint8_t *
lft_block(const struct plan *plan, uint32_t sw, uint32_t block)
{
	return plan->tables->t.lft[sw] + (size_t)block * LFT_BLOCK_LIDS;
}

/* Are entries emptied that do not change?  Once: for a plan that stays they have been. */
static inline bool
empties_whole_columns(const struct sweeper *s)
{
	return s->next != s->plan && s->next->change.whole_columns;
}

void apply_fini(struct sweeper *s);
/* The transition, made when the first block that differs is found.  NULL: no memory. */
struct transition *apply_transition(struct sweeper *s);
/* What block `block` of the switch holds; NULL: not known. */
const uint8_t *apply_known_block(const struct sweeper *s, const struct inv_node *n, uint32_t block);
/* It has been read. */
void apply_forget_held(struct sweeper *s, uint32_t slot, uint32_t block);
/* Of blocks that are not what the plan says, what they may be instead.  False: no memory. */
bool apply_remember(struct sweeper *s, const struct transition *t);
/* Of blocks that hold something else than s->plan says, which stays, what that is.  False: no
 * memory. */
bool apply_remember_strayed(struct sweeper *s, const struct transition *t);
/* Blocks of writing.held that are known by now: where they are not what s->plan says, the next
 * plan starts from there.  False: no memory. */
bool apply_sort_held(struct sweeper *s);
/* A block that can neither be written nor read: what it may hold. */
void apply_fix_block(struct sweeper *s, uint32_t slot, uint32_t block);
/* Does the switch hold the entry that next says, and will it? */
bool apply_is_settled(const struct sweeper *s, const struct inv_node *n, uint16_t lid);
/* All blocks are added: in which order they are written. */
void apply_order(struct sweeper *s);
/* Have hosts been told of the SLs of s->plan, where they have to be before anything of the next
 * is written that is not proven under older ones?  False: not yet, or the sweep has failed. */
bool apply_hosts_are_told(struct sweeper *s);
/* Does this sweep end with what waits still empty, since hosts have to be told first of SLs that
 * they get with this plan, or a silent switch holds older entries? */
bool apply_ends_empty(struct sweeper *s);
/* A packet's life time has to pass.  True: it has. */
bool apply_has_waited(struct sweeper *s);
/* Does a switch route adaptively that could not be turned off?  Then the sweep has failed, for it
 * is to be looked for by another way; not for ever. */
bool apply_awaits_static(struct sweeper *s);
/* May anything be written?  What the process before us had proven, and for whom, is not known:
 * all hosts forget their paths first, and get no others before the subnet is up. */
bool apply_may_write(struct sweeper *s);
/* May SL-to-VL maps be written? */
bool apply_may_map(struct sweeper *s);

#endif
