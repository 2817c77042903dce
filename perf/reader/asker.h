/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/reader/asker.h - which agent is asked what next, and what becomes of its answers.
 *
 *	agents --> ready --> request --(the network)--> answer --> meaning --> book
 *	             ^                       |
 *	             `------- lost ----------'
 *
 * An agent is the one of a switch, for all its ports, or of a port of a host.  It has one request
 * under way, all together ASKER_SLOTS: simulators and kernels drop what is beyond their queues
 * without a word, so nobody is relied on to say that a request is lost.  A request is tried
 * ASKER_TRIES times; an agent that leaves two of them unanswered is left for this sweep, and, where
 * it said nothing at all, asked again in the tenth sweep from then.  A port counts as read when all
 * that its agent has was read; else nothing of it is taken, and the next sweep has the whole
 * difference.
 *
 * What is read: ClassPortInfo once, and anew after a reset; PortCountersExtended where it has
 * them; PortCounters unless those have all; PortExtendedSpeedsCounters in one of the first 30
 * sweeps, then once an hour, and in each sweep while they move.
 *
 * Time is the caller's, and so is the network: no call here waits.
 */
#ifndef PERF_READER_ASKER_H
#define PERF_READER_ASKER_H

#include "core/mad/transport.h"
#include "perf/book/book.h"
#include "perf/reader/topology.h"

#define ASKER_SLOTS 256
#define ASKER_TRIES 3
#define ASKER_SILENT_SWEEPS 10
#define ASKER_KEPT_SWEEPS 10000

struct asker;
struct judge;
struct asker_request {
	struct mad_addr to;
	uint8_t bytes[MAD_BYTES];
	uint32_t timeout_ms; /* then it is taken for lost */
};

/* Both are borrowed; book has a node for each of t, in its order, and its rows are filled from
 * `before`, who has asked till now, where that knows the port; NULL: nobody has.  A port that t
 * does not have, as that of a host that is being booted, is remembered for ASKER_KEPT_SWEEPS.
 * FM_E_RESOURCE. */
int asker_new(const struct topology *t, struct book *book, const struct asker *before,
    struct asker **out, struct fm_error *err);
void asker_free(struct asker *a); /* NULL is fine */
/* It hears of each port with a cable what was added (perf/health/judge.h); borrowed. */
void asker_set_judge(struct asker *a, struct judge *j);

/* A sweep begins: everything is asked once.  interval_ms: between its beginning and the next. */
void asker_begin(struct asker *a, uint64_t sweep, int64_t now_ms, uint32_t interval_ms);
/* The next request; false: none can leave now. */
bool asker_next(struct asker *a, int64_t now_ms, struct asker_request *r);
/* Something that came from a LID.  utc_ms: when. */
void asker_hear(
    struct asker *a, uint16_t lid, const uint8_t *bytes, size_t n, int64_t now_ms, int64_t utc_ms);
/* What was asked too long ago is lost. */
void asker_expire(struct asker *a, int64_t now_ms);
/* Requests that are still to be made, about; 0: nothing is left, nor under way. */
uint32_t asker_left(const struct asker *a);
/* It ends, whatever is left: that is missing. */
void asker_end(struct asker *a);

struct asker_counts {			    /* of the last sweep */
	uint32_t n_wanted, n_read;	    /* ports */
	uint32_t n_silent;		    /* agents */
	uint32_t n_refusing;		    /* agents that give no counters */
	uint32_t n_at_end;		    /* ports with a counter that has stuck at its end */
	uint64_t n_sent, n_lost, n_strange; /* MADs; strange: they answer nothing */
};
const struct asker_counts *asker_counts(const struct asker *a);

#endif
