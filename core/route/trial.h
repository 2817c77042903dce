/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/route/trial.h - a plan that is made to be looked at, and put away: what would the fullest
 * link be, would an engine of this chain route?
 *
 * It is made on the thread of all plans, after those that are asked for; one that is asked for
 * meanwhile waits until it has been made.
 */
#ifndef CORE_ROUTE_TRIAL_H
#define CORE_ROUTE_TRIAL_H

#include "core/route/worker.h"
#include "lib/error.h"

struct trial;

/* The directed link with the most routes from host to host. */
struct trial_link {
	uint64_t routes; /* 0: no link has any */
	uint8_t port;	 /* of from */
	char from[65], to[65];
};

#define TRIAL_REFUSALS 8

struct trial_result {
	int rc; /* 0, or what went wrong, with err */
	struct fm_error err;
	struct trial_link before, after; /* by q->prev, and by what would be made */
	uint64_t unreachable_pairs;	 /* after */
	char engine[64];
	const char *how;    /* "kept", "repaired", "routed anew" */
	bool no_engine;	    /* of the chain routes: the plan is a mended one, or has no tables */
	uint32_t n_refused; /* the first engines that did not */
	struct plan_refusal refused[TRIAL_REFUSALS];
};

/* q->snap is routed after q->prev, which has tables.  References are taken to both, and the route
 * settings are copied; chain and regions are borrowed until trial_free().  NULL and
 * FM_E_RESOURCE. */
struct trial *trial_start(struct plan_worker *w, struct router *router,
    const struct plan_request *q, struct fm_error *err);
/* NULL: it is not made yet. */
const struct trial_result *trial_result(const struct trial *t);
/* Of one that is made, or when its worker has been freed.  NULL is fine. */
void trial_free(struct trial *t);

#endif
