/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/adaptive/adaptive.h - groups of adaptive routing, brought to the switches that have them.
 *
 * A plan with groups is proven over all choices among their ports, and by its forwarding tables
 * alone; so any of its switches may route adaptively while others do not.  What is not proven is a
 * mixture of two plans with choices.  Hence the order, in which no packet ever chooses by groups of
 * one plan and meets entries of another:
 *
 *	in a sweep	before the first entry of a forwarding table is written: all switches that
 *			may route adaptively are turned off, and have answered (ar_turn_off()).
 *			The order of writing reckons with packets that have chosen until then
 *			(plan_flight.choices), or waits for them to be gone
 *	between sweeps	all tables are written: which blocks differ from what the plan says?  If any
 *			does, all are turned off; the blocks are written; when all packets of before
 *			are gone, each switch that holds its groups is turned on (ar_step())
 *
 * So a switch without a programmer, one that does not answer and one that refuses stay static and
 * hold up none.  What a switch holds is known by its answers: of a switch that is met, or has lost
 * its power, or of which the audit finds something else, all blocks are read; after that it is
 * those of the plan that was written last.
 *
 * Cost: a sweep asks each switch that has a programmer one attribute; a plan that changes no groups
 * costs no Set; one whose forwarding tables change, two Sets a switch.
 */
#ifndef CORE_ADAPTIVE_ADAPTIVE_H
#define CORE_ADAPTIVE_ADAPTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <fmd/vendor.h>

struct ask;
struct sweeper;

enum ar_state {
	AR_ABSENT,   /* it has no programmer, or says that it has no such attribute or no groups */
	AR_STRANGE,  /* it has the attribute, and no programmer knows how it is to be written: what
		      * another SM may have left there is not known */
	AR_UNKNOWN,  /* it has not said whether it routes adaptively, or not since a Set was lost */
	AR_STATIC,   /* it does not */
	AR_ADAPTIVE, /* it does */
	AR_STATES
};
/* "static", "adaptive"; for programs. */
const char *ar_state_word(enum ar_state state);

bool ar_new(struct sweeper *s); /* false: no memory */
void ar_free(struct sweeper *s);

/* Has the switch a programmer, so that it is asked what it is while the fabric is read?  False also
 * when out of memory. */
bool ar_is_asked(struct sweeper *s, uint32_t slot);
/* Put that question. */
void ar_ask(struct ask *a);
/* What its blocks hold is not known any more. */
void ar_forget(struct sweeper *s, uint32_t slot);
/* The same of all. */
void ar_forget_all(struct sweeper *s);
/* Groups that it can hold; 0: it is static. */
uint16_t ar_groups(const struct sweeper *s, uint32_t slot);
enum ar_state ar_state_of(const struct sweeper *s, uint32_t slot);
/* By which groups may packets have been sent till now? */
enum ar_use {
	AR_USES_NONE,
	AR_USES_PLAN, /* those of s->plan alone */
	AR_USES_OTHERS
};
enum ar_use ar_in_use(const struct sweeper *s);
/* Turn off all that may, in a sweep.  True: there is more to send or to wait for. */
bool ar_turn_off(struct sweeper *s);
/* Has ar_turn_off() met one that may have been on?  Asked once, when it is done. */
bool ar_was_on(struct sweeper *s);

/* No sweep runs or is due: go on with what is to be done beside them. */
void ar_step(struct sweeper *s);
/* When it has to be called though nothing has come, by the clock of the transport; INT64_MAX:
 * then only. */
int64_t ar_due_ms(const struct sweeper *s);

/* What is read back.  So many blocks a switch that holds the groups of the plan has, 0: it does
 * not, or it is not known.  O(1) */
uint32_t ar_n_blocks(const struct sweeper *s, uint32_t slot);
/* Block i of them, and what it has said of itself; false: that is not known.  O(1), but once a
 * switch O(its LIDs). */
bool ar_block(const struct sweeper *s, uint32_t slot, uint32_t i, struct fm_vendor_smp *out);
bool ar_info(const struct sweeper *s, uint32_t slot, struct fm_vendor_smp *out);
/* It holds something else, or (i = 0) says something else of itself. */
void ar_doubt(struct sweeper *s, uint32_t slot, uint32_t i);

struct ar_report {
	uint32_t switches[AR_STATES];
	uint32_t n_holding;	 /* hold the groups of the plan */
	uint32_t n_refused;	 /* did not take, or not answer, what they were sent last */
	uint64_t n_gets, n_sets; /* between sweeps, and Sets in them, since the start */
};
/* O(switches) */
void sweeper_adaptive(const struct sweeper *s, struct ar_report *out);

#endif
