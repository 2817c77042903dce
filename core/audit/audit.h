/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/audit/audit.h - what nodes hold is read back while no sweep runs.
 *
 * Somebody else may write to a switch, or a switch may lose what it was given, and tell nobody.  So
 * all that fmd believes of them (core/program/looks.h) is asked for, node by node:
 *
 *	at a rate	one turn over all nodes takes conf_sweep.audit_ms; so many Gets a second
 *			at most, in batches, so that a fabric at rest is not woken for each
 *	one node	where an answer is not what fmd believes, the node is read again at once
 *	one table	the forwarding table of a switch is read at once, with audit_ms 0, too:
 *			when one that lost its power has been written, for it counts as empty and
 *			may have taken Sets before its loss was seen; and where fmctl verify
 *			--readback has met entries that are not the plan's; again while it does
 *			not answer and no sweep has found it silent
 *	all		when that is asked for (fmctl sweep --tables)
 *
 * An answer counts only if nothing was written and no sweep has begun since its question: else the
 * node is read again.  What differs is no longer believed (look_row.forget), which is what makes it
 * unfinished (core/sweep/todo.h), and a sweep is asked for: it reads the switch, writes it in the
 * proven order, and the audit goes on behind it.  So a switch that somebody writes over again and
 * again is written once a turn.
 */
#ifndef CORE_AUDIT_AUDIT_H
#define CORE_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#define AUDIT_LEAST_MS 10000 /* a turn */

struct sweeper;

struct audit_turn {
	uint64_t number;       /* 1, 2, ...; 0: there was none */
	uint64_t n_read;       /* blocks that were compared */
	uint64_t n_unanswered; /* Gets; the rest of such a node is left to the next turn */
	uint64_t n_differ;     /* blocks */
	uint32_t n_nodes;      /* that they are in */
	uint64_t sweep;	       /* that writes the last of them; 0: none differed */
	int64_t begun_ms;      /* clock of the transport */
};
struct audit_report {
	struct audit_turn now, last; /* last: it went over all nodes */
	uint64_t at, n_places;	     /* how far the turn of now is */
	bool at_once;		     /* it was asked for, or such a one will begin */
};

bool audit_new(struct sweeper *s); /* false: no memory */
void audit_free(struct sweeper *s);
/* Nothing else is to be done: read on.  True: something differs, and a sweep is asked for. */
bool audit_step(struct sweeper *s);
/* When it has to be called though nothing has come, by the clock of the transport; INT64_MAX:
 * never.  O(1) */
int64_t audit_due_ms(const struct sweeper *s);

/* The forwarding table of the switch of this slot may hold what fmd does not know of.
 * O(tables that are to be read) */
void audit_table(struct sweeper *s, uint32_t slot);

/* A turn over all nodes begins as soon as no sweep runs, as fast as they answer; its number. */
uint64_t sweeper_audit(struct sweeper *s);
/* O(nodes) */
void sweeper_audited(const struct sweeper *s, struct audit_report *out);

#endif
