/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/engine/route_apart.h - one call of an engine that runs in a process of its own; for
 * router.c.
 */
#ifndef CORE_ENGINE_ROUTE_APART_H
#define CORE_ENGINE_ROUTE_APART_H

#include "core/engine/router.h"

/* What route() is called with: the job's own, or renumbered. */
struct route_call_args {
	const struct route_job *job;
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_request *req;
	const void *opts;
	struct tables *tables; /* whose rows t has, maybe in another order */
	struct fm_tables *t;
};

/* Tables that the process can be handed, initialised as tables_new() does or, of a job with
 * as_is, with what the rows hold. */
int route_apart_room(
    struct router *r, const struct route_job *job, struct tables **out, struct fm_error *err);
/* route() there; the rows are ours alone on return.  FM_E_BUG where anything was
 * written behind the rows. */
int route_apart_call(struct router *r, const struct route_call_args *call, struct fm_error *err);
/* A job into rows of other tables: *t, whose scalars have been checked, gives way to tables
 * over these rows with the same contents.  O(rows). */
int route_apart_take(
    struct router *r, const struct route_job *job, struct tables **t, struct fm_error *err);

#endif
