/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One engine call: fresh tables, route.  The engine's cost plus a memset of its tables.
 */
#include "core/engine/router.h"

#include "core/abi/host.h"
#include "core/engine/renumber.h"
#include "core/engine/route_apart.h"
#include "core/graph/adaptive.h"
#include "core/apart/apart.h"
#include "lib/error.h"
#include "lib/log.h"

/* What the engine wrote beside the rows must make sense before anyone indexes by it. */
static int
check_output(
    const struct fm_engine *engine, const struct fm_tables *t, uint8_t n_vls, struct fm_error *err)
{
	if (!(engine->traits & FM_PROVIDES_SL) &&
	    (t->sl_shape != FM_SL_ZERO || t->sl2vl_shape != FM_SL2VL_MODULO))
		return fm_fail(
		    err, FM_E_BUG, "engine %s writes SLs without FM_PROVIDES_SL", engine->name);
	if ((unsigned)t->sl_shape > FM_SL_BY_SW_DLID ||
	    (unsigned)t->sl2vl_shape > FM_SL2VL_BY_IN_OUT)
		return fm_fail(err, FM_E_BUG,
		    "engine %s names an unknown shape of SL or SL2VL tables", engine->name);
	if (t->n_vls_used < 1 || t->n_vls_used > n_vls)
		return fm_fail(err, FM_E_BUG,
		    "engine %s answers n_vls_used = %u, beyond the budget of %u VLs", engine->name,
		    t->n_vls_used, n_vls);
	return 0;
}

/* Likewise the groups of adaptive routing, where they were asked for. */
static int
check_groups(const struct router *r, const struct fm_engine *engine, const struct fm_fabric *fab,
    struct tables *tables, struct fm_error *err)
{
	int rc;

	if (!tables_are_adaptive(&tables->t))
		return 0;
	rc = adaptive_check(fab, &tables->t, r->workers, &tables->adaptive, err);
	return rc != 0 ? fm_context(err, "engine %s", engine->name) : 0;
}

static int
make_tables(
    struct router *r, const struct route_job *job, struct tables **out, struct fm_error *err)
{
	if (apart_of(job->engine) != NULL)
		return route_apart_room(r, job, out, err);
	if (job->into != NULL)
		return tables_over(job->into, job->rows, r->workers, job->fab, job->engine->traits,
		    job->as_is, out, err);
	return tables_new(
	    r->tables, r->workers, job->fab, job->engine->traits, r->set.ar_max_groups, out, err);
}

/* Here, or in its own process. */
static int
call_route(struct router *r, const struct route_call_args *c, struct fm_error *err)
{
	if (apart_of(c->job->engine) != NULL)
		return route_apart_call(r, c, err);
	return c->job->engine->route(c->host, c->fab, c->req, c->opts, c->t, err);
}

/* With the switches in an order that names have no part in. */
static int
call_by_cables(struct router *r, const struct route_call_args *c, struct fm_error *err)
{
	struct route_call_args call = *c;
	struct renumbered by;
	int rc = renumber_begin(&by, c->job->engine, c->opts, c->fab, c->t, err);

	if (rc != 0)
		return rc;
	call.fab = &by.fab;
	call.opts = by.opts;
	call.t = &by.t;
	rc = call_route(r, &call, err);
	if (rc == 0)
		rc = renumber_take(&by, c->fab, c->t, err);
	renumber_end(&by);
	return rc;
}

static int
call_engine(struct router *r, const struct fm_host *host, const struct route_job *job,
    struct tables **out, struct fm_error *err)
{
	const struct fm_engine *engine = job->engine;
	struct fm_request req = { .size = sizeof(req),
		.n_vls = job->n_vls != 0 ? job->n_vls : r->set.n_vls };
	struct route_call_args call = {
		.job = job, .host = host, .fab = job->fab, .req = &req, .opts = job->opts
	};
	struct tables *t;
	int rc = make_tables(r, job, &t, err);

	if (rc != 0)
		return rc;
	if ((engine->traits & FM_USES_PREV) && job->prev != NULL)
		req.prev_lft = (const uint8_t *const *)job->prev->lft;
	call.tables = t;
	call.t = &t->t;
	rc = renumber_is_due(engine, job->fab) ? call_by_cables(r, &call, err)
					       : call_route(r, &call, err);
	if (rc == 0)
		rc = check_output(engine, &t->t, req.n_vls, err);
	if (rc == 0)
		rc = check_groups(r, engine, job->fab, t, err);
	if (rc == 0 && apart_of(engine) != NULL && job->into != NULL)
		rc = route_apart_take(r, job, &t, err);
	if (rc != 0) {
		tables_put(t);
		return rc;
	}
	*out = t;
	return 0;
}

/* The answer of an engine that fails: with a reason, and one of the kinds.  Why: of kind BUG
 * where it has none. */
static int
check_answer(int rc, struct fm_error *why)
{
	const struct fm_error said = *why;

	if (rc > 0 || rc < FM_E_BUG)
		return fm_fail(why, FM_E_BUG,
		    "the engine answers %d%s%.120s: 0, or return host->fail(host, err, "
		    "FM_E_TOPOLOGY, "
		    "\"...\") would be right",
		    rc, said.msg[0] != '\0' ? " and " : " without a reason", said.msg);
	if (rc != 0 && said.msg[0] == '\0')
		fm_fail(why, FM_E_BUG,
		    "the engine answers %d without a reason: return host->fail(host, err, ...) "
		    "gives one",
		    rc);
	return rc;
}

/* Why it stopped, and what became of one that was late and yet has tables:
 * these are there, and the next engine would only take longer. */
static int
tell_time(const struct router *r, const char *name, int64_t limit_ms, int rc, struct fm_error *why)
{
	bool seconds = limit_ms % 1000 == 0;

	if (limit_ms <= 0 || !route_host_is_late(r->host) || route_host_is_cancelled(r->host))
		return rc;
	if (rc == FM_E_CANCELLED)
		return fm_context(why, "its time limit of %lld%s is over",
		    (long long)(seconds ? limit_ms / 1000 : limit_ms), seconds ? "s" : "ms");
	if (rc == 0)
		log_warn("route",
		    "engine %s took more than its time limit; its tables are used, as they are "
		    "there, limit_ms=%lld",
		    name, (long long)limit_ms);
	return rc;
}

int
route_run(struct router *r, const struct route_job *job, struct tables **out, struct fm_error *err)
{
	struct fm_error why = { 0 };
	const struct fm_host *host = route_host_begin(r->host,
	    &(struct route_call){ .budget_bytes = r->scratch_budget_bytes,
		.fail_at = r->scratch_fail_at,
		.time_limit_ms = job->time_limit_ms,
		.name = job->engine->name,
		.is_ended = apart_of(job->engine) != NULL });
	int rc = check_answer(call_engine(r, host, job, out, &why), &why);

	rc = tell_time(r, job->engine->name, job->time_limit_ms, rc, &why);
	route_host_end(r->host);
	if (rc != 0 && err != NULL)
		*err = why;
	return rc;
}

int
route_once(struct router *r, const struct fm_engine *engine, const void *opts,
    const struct fm_fabric *fab, const struct fm_tables *prev, int64_t time_limit_ms,
    struct tables **out, struct fm_error *err)
{
	return route_run(r,
	    &(struct route_job){ .engine = engine,
		.opts = opts,
		.fab = fab,
		.prev = prev,
		.time_limit_ms = time_limit_ms },
	    out, err);
}
