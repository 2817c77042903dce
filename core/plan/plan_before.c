/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of the plan before: borrowed or copied, and each time proven on the fabric as it is now.
 * Keeping borrows; going back copies.
 *
 * A repair takes entries back LID after LID, beside what the others have not yet gone back from.
 * Where that closes a cycle and all cables are there, the tables as the engines made them are
 * free of cycles all the same: so all deviations are undone at once, and in which order they are
 * written is for reconfig_plan() to say.  Where it finds none for the entries of a LID together,
 * one after the other may go, with a packet's life time in between.
 *
 * Cost: that of keeping (keep.h), and one verification.
 */
#include "core/plan/plan_before.h"

#include <stdlib.h>

#include "core/graph/graph_diff.h"
#include "core/plan/keep.h"
#include "lib/error.h"

/* *serve: the tables of p join all that prev's did, and are free of loops. */
static int
prove(struct router *r, const struct plan_request *q, struct plan *p, bool *serve,
    struct fm_error *err)
{
	struct verify_request req = { .n_vls = r->set.n_vls, .sl_model = plan_sl_model(r, p) };
	double start = plan_now_ms();
	int rc;

	if (p->regions != NULL && p->regions->n_switches == p->snap->fab.n_switches)
		req.loops_within = p->regions->loops_within;
	rc = verify_tables(p->snap, &p->tables->t, &req, r->workers, &p->verdict, err);
	p->verify_ms = plan_now_ms() - start;
	*serve = rc == 0 && verdict_is_safe(&p->verdict, q->chain->allow_credit_loops) &&
	    p->verdict.unreachable_pairs <= q->prev->verdict.unreachable_pairs;
	return rc;
}

int
plan_try_to_keep(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err)
{
	double start = plan_now_ms();
	struct plan *p;
	bool serve;
	int rc = plan_keep(r, q, &p, err);

	if (rc != 0 || p == NULL)
		return rc;
	p->route_ms = plan_now_ms() - start;
	rc = prove(r, q, p, &serve, err);
	if (serve)
		*out = p;
	else
		plan_put(p);
	return rc;
}

/* ------------------------------------------------------------------- going back */

static int
by_switch(const void *x, const void *y)
{
	const struct plan_entry *a = x, *b = y;

	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return a->lid < b->lid ? -1 : a->lid > b->lid;
}

/* Does what leaves e.sw by the nominal port arrive, by entries as they are, without coming back
 * there? */
static bool
leads_home(const struct keeping *k, const struct plan_entry *e)
{
	const struct fm_fabric *fab = &k->snap->fab;
	fm_end end = e->lid <= fab->max_lid ? fab->lid_end[e->lid] : FM_NONE;
	fm_sw sw = snapshot_switch_at(k->snap, e->sw, e->port);

	for (uint32_t n = 0; end != FM_NONE && sw != FM_NONE && n < fab->n_switches; n++) {
		if (sw == fab->end_sw[end])
			return true;
		if (sw == e->sw)
			return false;
		sw = snapshot_switch_at(k->snap, sw, k->p->tables->t.lft[sw][e->lid]);
	}
	return false;
}

/* The tables with all deviations undone but those of LIDs that linger; or with one of each LID, the
 * others go to those of the plan.  Deviations are by LID. */
static int
undo_deviations(struct keeping *k, bool one_each, struct fm_error *err)
{
	const struct fm_fabric *fab = &k->snap->fab;
	const struct plan *prev = k->prev;
	uint16_t done = 0;
	struct plan *p = k->p;
	int rc = keep_copy(k, err);

	if (rc != 0)
		return rc;
	if (!fm_vec_reserve(&p->delta, prev->deviations.n) ||
	    !fm_vec_reserve(&p->deviations, prev->deviations.n))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for tables that go back");
	p->graph = snapshot_get(prev->graph);
	for (size_t i = 0; i < prev->deviations.n; i++) {
		struct plan_entry e = prev->deviations.item[i];

		if (p->tables->t.lft[e.sw][e.lid] == e.port)
			continue;
		if (e.lid > fab->max_lid || fab->lid_end[e.lid] == FM_NONE ||
		    (one_each && (done == e.lid || !leads_home(k, &e)))) {
			fm_vec_push(&p->deviations, e);
			continue;
		}
		done = e.lid;
		p->tables->t.lft[e.sw][e.lid] = e.port;
		fm_vec_push(&p->delta, e);
	}
	qsort(p->delta.item, p->delta.n, sizeof(*p->delta.item), by_switch);
	p->delta_base = prev->number;
	p->delta_blocks = plan_count_blocks(p);
	p->made = PLAN_REPAIRED;
	return 0;
}

int
plan_go_back(struct router *r, const struct plan_request *q, bool one_each, struct plan **out,
    struct fm_error *err)
{
	double start = plan_now_ms();
	struct keeping k;
	bool serve = false;
	int rc = keep_begin(&k, r, q, err);

	*out = NULL;
	if (rc == 0 && k.p != NULL && k.diff.comparable && k.diff.lost.n == 0 &&
	    q->prev->deviations.n > 0)
		rc = keep_ends(&k, q, &serve, err);
	serve = serve && k.joiners.n == 0 && k.dropped.n == 0;
	if (rc == 0 && serve)
		rc = undo_deviations(&k, one_each, err);
	if (rc == 0 && serve) {
		k.p->route_ms = plan_now_ms() - start;
		rc = prove(r, q, k.p, &serve, err);
	}
	return keep_end(&k, rc, serve, out);
}
