/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ask/ask.h - a question on the wire: who asks, about what.
 *
 * The counter `pending` (sweeper.h) is the number of asks out that somebody waits for; a phase is
 * over when it is 0 and the phase's feed, if it has one, has nothing more to send.  Reads that are
 * not answered can be let go (late.h).
 */
#ifndef CORE_ASK_ASK_H
#define CORE_ASK_ASK_H

#include <sys/queue.h>

#include "core/mad/transact.h"
#include "core/wire/wire.h"
#include "lib/log.h"

struct sweeper;
struct ask;
typedef void (*ask_done)(struct ask *a, enum txn_status status, const uint8_t *reply);

/* Who waits for the answer. */
enum ask_wait {
	ASK_HOLDS_UP,	 /* the phase; it is counted in `pending` */
	ASK_MAY_BE_LATE, /* likewise, a read, till it is let go (late.h) */
	ASK_IS_LATE,	 /* nobody; it is put again, and its answer counts */
	ASK_BESIDE	 /* nobody; it is not put again */
};

struct ask {
	struct sweeper *s;
	struct ask *next_free;
	TAILQ_ENTRY(ask) in; /* late.h */
	ask_done done;
	uint32_t node;
	uint32_t generation; /* of the node, when it was asked */
	uint64_t seq;	     /* number of the request (observe.h) */
	uint32_t index;	     /* table block and the like */
	uint32_t claim_node; /* discover.c: who has what the newcomer says is its own ... */
	uint32_t claim_generation;
	uint64_t m_key; /* ... and the key that opened that one's cable */
	uint8_t port, claim_port;
	uint8_t kind;		/* enum block_kind for tables */
	bool at_node;		/* put to the node itself, not to what lies beyond it */
	enum ask_wait wait;	/* set before it is put */
	enum txn_status status; /* late: how it has ended */
	uint32_t about;		/* late: who is, by it; INV_NONE: nobody */
	uint32_t via;		/* mixed: the switch to which it went by LID; else INV_NONE */
	/* the request, for another try */
	uint8_t method, n_tries;
	uint16_t attr;
	uint32_t modifier;
	struct smp_route route;
	uint8_t data[WIRE_SMP_DATA_BYTES]; /* Set */
	struct pkey_job *pkeys;		   /* pkeys.c */
	struct ar_job *groups;		   /* core/adaptive/job.c */
};

/* The callback is `done`; a is released after it.  An answer of a node that is another one by
 * now comes as TXN_CANCELLED.  Failing memory fails the sweep. */
struct ask *ask_new(struct sweeper *s, uint32_t node, uint8_t port);
void ask_get(
    struct ask *a, const struct smp_route *route, uint16_t attr, uint32_t modifier, ask_done done);
/* Send a Set, unless this is a dry run: then it is counted, and done is not called. */
void ask_set(struct ask *a, const struct smp_route *route, uint16_t attr, uint32_t modifier,
    const uint8_t *data, ask_done done);
/* Are packets lost by chance in this sweep, so that silence proves little? */
bool ask_is_lossy(const struct sweeper *s);
/* To the node itself: false when it has no route or is quiet (nothing is sent, a released). */
bool ask_get_at(struct ask *a, uint16_t attr, uint32_t modifier, ask_done done);
bool ask_set_at(
    struct ask *a, uint16_t attr, uint32_t modifier, const uint8_t *data, ask_done done);
/* Is the node not any more that which was asked? */
bool ask_is_stale(const struct ask *a);
/* It was not sent, or has ended. */
void ask_drop(struct ask *a);
/* Asks that are out of which route.aside has been set go on so. */
void ask_set_aside(struct sweeper *s);
/* How loud it is told that a request has failed: that a node does not answer at all is told once,
 * when the sweep ends (core/sweep/todo.h). */
static inline enum fm_log_level
ask_loudness(enum txn_status status)
{
	return status == TXN_TIMEOUT ? FM_LOG_INFO : FM_LOG_WARN;
}

#endif
