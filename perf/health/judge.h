/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/health/judge.h - how a cable is, by what the counters at its two ends have added.
 *
 *	readings --> pending --> the last hour, by counter and end --> grade --> ok, watch, bad
 *	               |
 *	               `--> dropped, where an end was booted
 *
 * A grade is at once as bad as the evidence of the last hour (evidence.h); it gets better by one
 * step when both ends have shown nothing of the kind for two hours, and not while a counter that
 * has accused the cable stands at its end, where nobody can say whether it counts on.
 *
 * A host that is booted takes its link down, and so does a switch.  What is read is therefore
 * pending until both ends have been read again.  It is dropped if the link went down and meanwhile
 * the counters of an end were cleared, as those of a device that was booted are, or the link of a
 * host was away for longer than JUDGE_AWAY_MS.  What comes within JUDGE_BOOT_MS after that is no
 * evidence either.  Counters that somebody has cleared without the link going down are read on.  An
 * end that has been silent for an hour is waited for no longer, unless the link has gone down; a
 * cable whose two ends have not been read for a day is forgotten.
 *
 * A cable is a record only while there is something to remember of it (about 700 bytes).  All times
 * are the caller's: ms of a clock that does not jump.  Nothing here knows of MADs, files or
 * sockets.
 */
#ifndef PERF_HEALTH_JUDGE_H
#define PERF_HEALTH_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf/health/evidence.h"

#define JUDGE_HOUR_MS INT64_C(3600000)
#define JUDGE_QUIET_MS (2 * JUDGE_HOUR_MS)
#define JUDGE_BOOT_MS INT64_C(120000)
#define JUDGE_AWAY_MS INT64_C(30000) /* beyond one and a half intervals */
#define JUDGE_FORGET_MS (24 * JUDGE_HOUR_MS)

enum health { HEALTH_OK, HEALTH_WATCH, HEALTH_BAD };
/* "ok", "watch", "bad" */
const char *health_word(enum health h);

enum suspect { SUSPECT_CABLE, SUSPECT_FIRST, SUSPECT_SECOND }; /* the cable, or one of its ends */

struct health_end {
	uint64_t guid; /* of the node */
	uint8_t port;
	bool is_host; /* it is no switch */
};

/* What one reading of a port has added. */
struct health_reading {
	struct health_end at, far;
	const uint64_t *added; /* [N_COUNTERS] since the reading before (meaning.h) */
	uint32_t at_end;       /* bits of the counters that stand at their ends */
	bool was_reset;
	bool far_is_silent; /* the other end has never been read, and is not waited for */
	int64_t span_ms;    /* since the reading before; 0: it was the first */
};

struct health_verdict {
	struct health_end end[2]; /* the one with the lower GUID, then port, first */
	enum health health;
	enum suspect suspect;
	int64_t since_s;		  /* UTC: when it became so */
	uint64_t per_hour[2][N_EVIDENCE]; /* counted in the last hour, at each end */
	uint32_t at_end[2];		  /* bits of rows that accuse it and stand at their ends */
};

struct judge;

struct judge *judge_new(void); /* NULL: out of memory */
void judge_free(struct judge *j);
/* A sweep over all ports begins, the next after interval_ms. */
void judge_begin(struct judge *j, int64_t now_ms, uint32_t interval_ms);
/* False: out of memory, and the reading is lost.  O(1). */
bool judge_hear(struct judge *j, const struct health_reading *r);
/* The sweep has ended: verdicts follow.  O(records). */
void judge_end(struct judge *j, int64_t now_ms, int64_t utc_s);
/* A cable was found to be so before our time; since_s: UTC.  False: out of memory.  One that is
 * known already stays as it is. */
bool judge_believe(struct judge *j, const struct health_end end[2], enum health health,
    int64_t since_s, int64_t now_ms);

/* Cables that are so. */
uint32_t judge_count(const struct judge *j, enum health health);
/* The verdicts that are to be told, bad ones first: those that are new, and, of cables that are not
 * ok, those whose numbers have changed.  Up to most; how many.  mark[]: for judge_told(). */
uint32_t judge_news(const struct judge *j, struct health_verdict *v, uint32_t *mark, uint32_t most);
/* They have been told, and nothing was called meanwhile. */
void judge_told(struct judge *j, const uint32_t *mark, uint32_t n);
/* Who is told has forgotten all: every cable that is not ok is to be told anew. */
void judge_tell_all(struct judge *j);

#endif
