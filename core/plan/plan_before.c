/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of the plan before and of the nominal plan: borrowed or copied, and each time
 * proven on the fabric as it is now.  Keeping borrows; going back to nominal copies.
 *
 * Cost: that of keeping (keep.h), and one verification.
 */
#include "core/plan/plan_before.h"

#include "core/graph/graph_diff.h"
#include "core/plan/keep.h"

int
plan_try_to_keep(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err)
{
	struct verify_request req = { .n_vls = r->set.n_vls, .sl_model = r->set.sl_model };
	double start = plan_now_ms();
	struct plan *p;
	int rc = plan_keep(r, q, &p, err);

	if (rc != 0 || p == NULL)
		return rc;
	req.sl_model = plan_sl_model(r, p);
	if (p->regions != NULL && p->regions->n_switches == p->snap->fab.n_switches)
		req.loops_within = p->regions->loops_within;
	p->route_ms = plan_now_ms() - start;
	start = plan_now_ms();
	rc = verify_tables(p->snap, &p->tables->t, &req, r->workers, &p->verdict, err);
	p->verify_ms = plan_now_ms() - start;
	if (rc == 0 && verdict_is_safe(&p->verdict, q->chain->allow_credit_loops) &&
	    p->verdict.unreachable_pairs <= q->prev->verdict.unreachable_pairs) {
		*out = p;
		return 0;
	}
	plan_put(p);
	return rc;
}

int
plan_keep_nominal(const struct plan_request *q, struct plan *p, struct fm_error *err)
{
	struct plan *nominal = q->anew != PLAN_FROM_PREV ? NULL : plan_nominal(q->prev);
	bool is = false;
	int rc = 0;

	if (nominal != NULL && p->regions != NULL && nominal->mark == p->mark)
		rc = graph_is_part(&p->snap->fab, &nominal->snap->fab, &is, err);
	if (is)
		p->nominal = plan_get(nominal);
	return rc;
}

int
plan_return_to_nominal(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err)
{
	struct plan_request back = *q;
	struct tables *t = NULL;
	int rc;

	back.prev = q->prev != NULL && q->anew == PLAN_FROM_PREV ? q->prev->nominal : NULL;
	rc = back.prev != NULL && back.prev->mark == q->chain->mark
	    ? plan_try_to_keep(r, &back, out, err)
	    : 0;
	if (rc != 0 || *out == NULL)
		return rc;
	rc = tables_clone(r->tables, r->workers, &q->snap->fab, (*out)->tables, &t, err);
	if (rc == 0) {
		tables_put((*out)->tables);
		(*out)->tables = t;
		(*out)->made = PLAN_ROUTED; /* the switches have others */
		return 0;
	}
	plan_put(*out);
	*out = NULL;
	return rc;
}
