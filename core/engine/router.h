/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/engine/router.h - one call of an engine, and what a router keeps between calls.
 */
#ifndef CORE_ENGINE_ROUTER_H
#define CORE_ENGINE_ROUTER_H

#include "core/cdg/sl_model.h"
#include "core/graph/tables.h"
#include "lib/pool.h"

/* What the administrator wants of all plans. */
struct route_settings {
	uint8_t n_vls; /* VL budget, 1..15 */
	enum verify_sl_model sl_model;
	uint16_t ar_max_groups; /* adaptive routing groups a switch may have; 0 = not wanted */
};
#define ROUTE_SETTINGS_DEFAULT ((struct route_settings){ .n_vls = 8 })

/* What routing needs and keeps between plans: workers, resident table
 * mappings and scratch memory.  One call at a time per router. */
struct repair_state;

struct router {
	struct fm_pool *workers;
	struct repair_state *repair; /* what repair.h keeps of the last plan, or NULL */
	bool check_repairs; /* tests: each repaired plan is judged from scratch too, and compared */
	struct table_pool *tables;
	struct table_pool *shared;   /* for engines in processes of their own; NULL: none yet */
	struct route_host *host;     /* core/abi/host.c */
	size_t scratch_budget_bytes; /* per call; 0 = 4 GiB */
	struct route_settings set;   /* of the plan that is made, or was made last */
	uint64_t scratch_fail_at;    /* tests: the n-th scratch allocation fails; 0 = never */
	unsigned skip_joins;	     /* tests: bit i: enum plan_join i is not tried */
	bool skip_repairs;	     /* tests: nothing is repaired */
};

/* One engine call on one fabric, without the chain. */
struct route_job {
	const struct fm_engine *engine;
	const void *opts; /* as from options_bind() */
	const struct fm_fabric *fab;
	const struct fm_tables *prev; /* NULL, or of as many switches and LIDs */
	int64_t time_limit_ms;	      /* 0 = none */
	uint8_t n_vls;		      /* 0 = the router's */
	/* NULL, or tables of a larger fabric: switch i of fab has row rows[i] of them */
	struct tables *into;
	const fm_sw *rows;
	bool as_is; /* what these rows hold stays where the engine writes nothing */
};

/* Tables, route, as plan_make() does for an entry before it verifies.
 * FM_E_RESOURCE when scratch memory ran out, FM_E_CANCELLED when the time limit did. */
int route_run(
    struct router *r, const struct route_job *job, struct tables **out, struct fm_error *err);
/* The same on a whole fabric. */
int route_once(struct router *r, const struct fm_engine *engine, const void *opts,
    const struct fm_fabric *fab, const struct fm_tables *prev, int64_t time_limit_ms,
    struct tables **out, struct fm_error *err);

#endif
