/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/route/trial.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/gauge/gauge.h"
#include "core/route/route.h"
#include "lib/error.h"

struct trial {
	struct router *router;
	struct plan_request q; /* holds references to snap and prev */
	struct route_settings set;
	struct trial_result result;
	atomic_bool done;
};

static int
find_fullest(
    const struct plan *p, struct fm_pool *workers, struct trial_link *out, struct fm_error *err)
{
	const struct fm_fabric *fab = &p->snap->fab;
	uint64_t *load = calloc(fab->n_links + 1, sizeof(*load));
	fm_link fullest = 0;
	int rc = load != NULL ? link_loads(p->snap, &p->tables->t, workers, load, err)
			      : fm_fail(err, FM_E_RESOURCE, "out of memory for loads of links");

	*out = (struct trial_link){ 0 };
	for (fm_link l = 0; rc == 0 && l < fab->n_links; l++)
		if (load[l] > load[fullest])
			fullest = l;
	if (rc == 0 && load[fullest] > 0) {
		out->routes = load[fullest];
		out->port = fab->link_port[fullest];
		snprintf(out->from, sizeof(out->from), "%s",
		    fab->sw_name[fab->link_to[fab->link_rev[fullest]]]);
		snprintf(out->to, sizeof(out->to), "%s", fab->sw_name[fab->link_to[fullest]]);
	}
	free(load);
	return rc;
}

static int
compare(struct trial *t, const struct plan *plan)
{
	struct trial_result *r = &t->result;
	int rc;

	r->no_engine = plan->tables == NULL || plan->mended;
	for (; r->n_refused < plan->refused.n && r->n_refused < TRIAL_REFUSALS; r->n_refused++)
		r->refused[r->n_refused] = plan->refused.item[r->n_refused];
	if (plan->tables == NULL)
		return fm_fail(
		    &r->err, FM_E_TOPOLOGY, "no engine of the chain could route what is left");
	rc = find_fullest(t->q.prev, t->router->workers, &r->before, &r->err);
	if (rc == 0)
		rc = find_fullest(plan, t->router->workers, &r->after, &r->err);
	r->unreachable_pairs = plan->verdict.unreachable_pairs;
	r->how = plan->made == PLAN_KEPT  ? "kept"
	    : plan->made == PLAN_REPAIRED ? "repaired"
					  : "routed anew";
	snprintf(r->engine, sizeof(r->engine), "%s", plan->engine);
	return rc;
}

/* On the worker's thread. */
static void
make(void *arg)
{
	struct trial *t = arg;
	struct plan *plan = NULL;

	t->result.rc = plan_make(t->router, &t->q, &plan, &t->result.err);
	if (t->result.rc == 0)
		t->result.rc = compare(t, plan);
	plan_put(plan);
	atomic_store(&t->done, true);
}

struct trial *
trial_start(struct plan_worker *w, struct router *router, const struct plan_request *q,
    struct fm_error *err)
{
	struct trial *t = calloc(1, sizeof(*t));

	if (t != NULL) {
		t->router = router;
		t->q = *q;
		t->set = *q->set;
		t->q.set = &t->set;
		snapshot_get(q->snap);
		plan_get(q->prev);
		if (plan_worker_run(w, make, t))
			return t;
		trial_free(t);
	}
	fm_fail(err, FM_E_RESOURCE, "out of memory for a trial of other routes");
	return NULL;
}

const struct trial_result *
trial_result(const struct trial *t)
{
	return atomic_load(&t->done) ? &t->result : NULL;
}

void
trial_free(struct trial *t)
{
	if (t == NULL)
		return;
	snapshot_put(t->q.snap);
	plan_put(t->q.prev);
	free(t);
}
