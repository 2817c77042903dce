/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/route/entry.h"

#include <stdio.h>
#include <string.h>

#include "core/abi/host.h"
#include "core/graph/adaptive.h"
#include "core/overlay/overlay.h"

/* The last tables of this entry, if they still fit this fabric's shape. */
static const struct fm_tables *
prev_of(const struct plan *prev, const struct chain_entry *e, const struct snapshot *snap)
{
	if (prev == NULL || prev->tables == NULL || strcmp(prev->engine, e->name) != 0 ||
	    prev->snap->fab.n_switches != snap->fab.n_switches ||
	    prev->snap->fab.max_lid != snap->fab.max_lid)
		return NULL;
	return &prev->tables->t;
}

static int64_t
time_limit(const struct search *s, const struct chain_entry *e)
{
	bool is_less = e->time_limit_ms != 0 && e->time_limit_ms < s->most_ms;

	return s->most_ms == 0 || is_less ? e->time_limit_ms : s->most_ms;
}

int
entry_route(struct search *s, struct candidate *c, struct fm_error *why)
{
	const struct chain_entry *e = c->entry;
	struct snapshot *snap = s->p->snap;
	struct fm_arena mem;
	void *opts = NULL;
	double start = plan_now_ms();
	int rc;

	if (e->overlay != NULL) {
		rc = overlay_route(s->r, e->overlay, s->p, &c->tables, why);
		c->route_ms = plan_now_ms() - start;
		return rc;
	}
	fm_arena_init(&mem, SIZE_MAX);
	rc = options_bind(e->engine, e->values, snap, &mem, &opts, why);
	if (rc == 0)
		rc = route_once(s->r, e->engine, opts, &snap->fab, prev_of(s->prev, e, snap),
		    time_limit(s, e), &c->tables, why);
	c->route_ms = plan_now_ms() - start;
	fm_arena_fini(&mem);
	return rc;
}

/* Are the groups of adaptive routing all that stands in the way?  An engine
 * that promises no credit loops promised that over all alternatives. */
static bool
groups_are_to_blame(const struct candidate *c)
{
	return tables_are_adaptive(&c->tables->t) && c->verdict.fault == VERIFY_CREDIT_LOOP &&
	    !(c->entry->engine->traits & FM_PROMISES_NO_CREDIT_LOOPS) &&
	    verdict_is_safe(&c->verdict, true);
}

int
entry_judge(struct search *s, struct candidate *c, struct fm_error *err)
{
	struct verify_request req = { .n_vls = s->r->set.n_vls,
		.sl_model = s->r->set.sl_model,
		.given_up = route_host_given_up(s->r->host) };
	struct fm_tables *t = &c->tables->t;
	double start = plan_now_ms();
	int rc = verify_tables(s->p->snap, t, &req, s->r->workers, &c->verdict, err);

	if (rc == 0 && !verdict_is_safe(&c->verdict, s->allow_credit_loops) &&
	    groups_are_to_blame(c)) {
		snprintf(
		    c->adaptive_given_up, sizeof(c->adaptive_given_up), "%s", c->verdict.witness);
		adaptive_drop(c->tables);
		rc = verify_tables(s->p->snap, t, &req, s->r->workers, &c->verdict, err);
	}
	c->verify_ms = plan_now_ms() - start;
	return rc;
}
