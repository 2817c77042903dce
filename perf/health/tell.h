/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf/health/tell.h - what fmd is told of cables, one call of "report" after the other.
 *
 *	{"list": "...", "interval_s": 10, "cables": [{"guid", "port", "peer_guid", "peer_port",
 *	    "health", "since", "suspect", "evidence": [{"counter", "end", "per_hour", "at_end"}]}]}
 *
 * fmd keeps a list of what it was told, and names it.  Who tells of cables by another name has told
 * them somebody who is gone: nothing is taken then, and all is told anew.  The answer has what that
 * list holds, which whoever has just begun believes.
 *
 *	-> no list, or another one	<- {"list": "...", "taken": false, "cables": [...]}
 *	-> {"list": "...", ...}		<- {"list": "...", "taken": true}
 */
#ifndef PERF_HEALTH_TELL_H
#define PERF_HEALTH_TELL_H

#include <jansson.h>

#include "lib/error.h"
#include "perf/health/judge.h"

#define TELL_CABLES 32 /* in a call: with all their evidence less than CTL_REQUEST_MAX */
#define TELL_CALLS 64  /* in a sweep: the rest is told with the next */

struct teller {
	char list[40]; /* ""; nothing has been told yet */
	uint32_t mark[TELL_CABLES], n;
};

/* The arguments of the next call, a new reference; NULL: out of memory. */
json_t *tell_next(struct teller *t, const struct judge *j, uint32_t interval_ms);
/* Its answer, borrowed.  *more: another call is to follow.  FM_E_TOPOLOGY: it makes no sense;
 * FM_E_RESOURCE. */
int tell_take(struct teller *t, struct judge *j, const json_t *answer, int64_t now_ms, bool *more,
    struct fm_error *err);

#endif
