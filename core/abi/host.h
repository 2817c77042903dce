/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/abi/host.h - the services an engine is handed (struct fm_host).
 */
#ifndef CORE_ABI_HOST_H
#define CORE_ABI_HOST_H

#include <fmd/engine.h>
#include <stdatomic.h>

#include "lib/pool.h"

/* Scratch memory of the calling thread and of each worker, kept warm between calls. */
struct route_host *route_host_new(struct fm_pool *workers, struct fm_error *err);
void route_host_free(struct route_host *h);

struct route_call {
	size_t budget_bytes;
	uint64_t fail_at;      /* the n-th scratch allocation and all later fail; 0 = never */
	int64_t time_limit_ms; /* 0 = none */
	const char *name;      /* of the engine, for its log lines */
	bool is_ended;	       /* whoever does not stop in time is ended from outside: no warning */
};
/* Begin a call: scratch empty, clock started.  The services stay valid until
 * the next begin; end gives the scratch memory back. */
const struct fm_host *route_host_begin(struct route_host *h, const struct route_call *call);
void route_host_end(struct route_host *h);
/* Scratch memory of a call so far: of the calling thread, and the most of one worker. */
struct route_scratch {
	uint64_t main_bytes, worker_bytes;
};
struct route_scratch route_host_used(const struct route_host *h);
/* Between calls: have so much ready, so that the next call touches no fresh pages. */
void route_host_warm(struct route_host *h, const struct route_scratch *scratch);
/* Is the call's time over? */
bool route_host_is_late(const struct route_host *h);
/* Has the engine asked should_stop() since the call began? */
bool route_host_was_asked(const struct route_host *h);
/* From any thread, for good: this call and all later ones are to stop. */
void route_host_cancel(struct route_host *h);
/* Likewise, till it is taken back; not while another thread may cancel. */
void route_host_give_up(struct route_host *h, bool given_up);
/* Are calls to stop, by either? */
bool route_host_is_cancelled(const struct route_host *h);
/* The same for who judges what engines make; it lives as long as h. */
const atomic_bool *route_host_given_up(const struct route_host *h);

#endif
