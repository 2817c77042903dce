/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ask/late.h - reads that nobody waits for any more.
 *
 * A plan is made when all that is to be read has been read.  Something that has happened does not
 * wait for hosts that do not answer: late_let_go() has the phase go on without what is out of them.
 * Of such a host, which is late (inv_node.n_late), the plan believes what was last read, and
 * nothing is written to it.  Its answer, or that there is none, is kept till records may change
 * again: at once while a sweep reads, else by the next sweep, which it begins.
 *
 * Switches are waited for: one that does not answer may have lost its tables, and a plan that takes
 * them for what they were has packets go in circles.
 */
#ifndef CORE_ASK_LATE_H
#define CORE_ASK_LATE_H

#include "core/ask/ask.h"

/* Reads that are waited for, and may be let go; in the order in which they were put. */
#define LATE_EACH(a, s) TAILQ_FOREACH(a, &(s)->reading.out, in)

/* No answer has come, and nothing was asked, for so long that what is out is late.  Transport
 * clock; INT64_MAX: nothing is out that can be let go. */
int64_t late_since_ns(const struct sweeper *s);
/* None of the reads that are out is waited for but those about switches.  The host that a read is
 * about (ask.about) is late by it, unless it was silent before: then it is silent still.  They are
 * marked to go on aside, for ask_set_aside(). */
void late_let_go(struct sweeper *s);
/* A late read has ended; reply: NULL without an answer.  a belongs to it from now on. */
void late_end(struct ask *a, enum txn_status status, const uint8_t *reply);
/* Has one that the next sweep is to take? */
bool late_is_due(const struct sweeper *s);
/* Records may change: what late reads have brought. */
void late_take(struct sweeper *s);
/* A node, INV_NONE: all nodes, is asked anew: what is late of it does not count. */
void late_forget(struct sweeper *s, uint32_t slot);

#endif
