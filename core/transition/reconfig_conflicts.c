/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The LIDs that found no rule.  Those whose old paths are whole may keep them; the others are
 * drained, if their new paths agree with what is kept.  Where nothing is lost no LID is drained:
 * the tables that there are stay, with new switches as stubs of them (stub.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/repair/repair.h"
#include "core/transition/reconfig_internal.h"
#include "core/transition/transition.h"
#include "lib/error.h"

/* A plan for this fabric with all tables of the last one: *out, or NULL where these are not safe or
 * join fewer pairs than c->p. */
static int
stay(const struct reconfig *c, struct plan **out, struct fm_error *err)
{
	const struct plan *prev = reconfig_last(c);
	struct verify_request req = { .n_vls = c->r->set.n_vls,
		.sl_model = plan_sl_model(c->r, prev) };
	struct snapshot *snap = c->p->snap;
	struct plan *p;
	int rc;

	*out = NULL;
	if (prev->top_lid < snap->fab.max_lid ||
	    prev->snap->fab.n_switches != snap->fab.n_switches ||
	    prev->tables->t.sl2vl_shape == FM_SL2VL_BY_OUT)
		return 0;
	p = plan_new(snap, err);
	if (p == NULL)
		return FM_E_RESOURCE;
	p->graph = snapshot_get(prev->graph);
	p->tables = tables_get(prev->tables);
	if (!stub_copy_attributes(c, p)) {
		plan_put(p);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	}
	rc = verify_tables(p->snap, &p->tables->t, &req, c->r->workers, &p->verdict, err);
	if (rc == 0 && verdict_is_safe(&p->verdict, c->allow_credit_loops) &&
	    p->verdict.unreachable_pairs <= c->p->verdict.unreachable_pairs) {
		*out = p;
		return 0;
	}
	plan_put(p);
	return rc;
}

static void
swap_bytes(uint8_t *a, uint8_t *b)
{
	uint8_t c = *a;

	*a = *b;
	*b = c;
}

/* Exchange the columns of the LIDs that keep their old entries with the copies: entries and SLs,
 * kept[lids][2 * n_switches]. */
static void
swap_kept(const struct reconfig *c, struct fm_tables *t, uint8_t *kept)
{
	uint32_t n = c->fab->n_switches, sl_rows = 0;

	if (t->sl_shape != FM_SL_ZERO)
		sl_rows = t->sl_shape == FM_SL_BY_DLID ? 1 : n;
	for (size_t i = 0; i < c->lids.n; i++) {
		uint16_t lid = c->lids.item[i];

		for (uint32_t k = 0; c->mark[lid] == KEEPS_OLD && k < n; k++)
			swap_bytes(&t->lft[k][lid], &kept[i * 2 * n + k]);
		for (uint32_t k = 0; c->mark[lid] == KEEPS_OLD && k < sl_rows; k++)
			swap_bytes(&t->sl[k][lid], &kept[i * 2 * n + n + k]);
	}
}

static uint8_t *
copy_columns(const struct reconfig *c)
{
	uint32_t n = c->fab->n_switches, sl_rows = 0;
	const struct fm_tables *t = &c->prev->tables->t;
	uint8_t *kept = malloc(c->lids.n * 2 * n + 1);

	if (t->sl_shape != FM_SL_ZERO)
		sl_rows = t->sl_shape == FM_SL_BY_DLID ? 1 : n;
	for (size_t i = 0; kept != NULL && i < c->lids.n; i++) {
		uint16_t lid = c->lids.item[i];

		if (c->mark[lid] == KEEPS_OLD)
			reconfig_keep_old_path(c, lid, &kept[i * 2 * n]);
		for (uint32_t k = 0; k < sl_rows && k < c->prev->snap->fab.n_switches; k++)
			kept[i * 2 * n + n + k] = t->sl[k][lid];
	}
	return kept;
}

static bool
may_mix(const struct plan *x, const struct plan *y)
{
	const struct fm_tables *a = &x->tables->t, *b = &y->tables->t;

	if (a->sl_shape == FM_SL_BY_SW_DLID && (x->regions != NULL || y->regions != NULL) &&
	    !(y->made == PLAN_REPAIRED && reconfig_same_sls(x, y)))
		return false; /* switches share rows of SLs */
	return a->sl_shape == b->sl_shape && x->snap->fab.n_switches == y->snap->fab.n_switches &&
	    plan_same_vls(x, y);
}

/* Did the interrupted writing leave entries of the LID unwritten? */
static bool
is_partly_written(const struct reconfig *c, uint16_t lid)
{
	const struct plan *old = c->prev;

	for (fm_sw sw = 0; c->target != NULL && sw < old->snap->fab.n_switches; sw++)
		if (lid > old->top_lid ||
		    old->tables->t.lft[sw][lid] != c->target->tables->t.lft[sw][lid])
			return true;
	return false;
}

/* May the LID keep its old entries?  Its old paths have to be whole; where a return is repaired,
 * what leads nowhere, as of a switch that is back, becomes new. */
static bool
may_keep(struct reconfig *c, uint16_t lid)
{
	if (c->mark[lid] != CONFLICTING || is_partly_written(c, lid))
		return false;
	if (reconfig_old_path_is_whole(c, lid))
		return true;
	if (c->p->change.kind == PLAN_LOSS || c->p->made != PLAN_REPAIRED || !c->same_vls ||
	    !reconfig_keep_old_path(c, lid, NULL))
		return false;
	c->keeps_parts = true;
	return true;
}

/* Conflicting LIDs whose old paths serve are to keep them.  The number of the others that had an
 * owner before. */
static uint32_t
mark_kept(struct reconfig *c)
{
	uint32_t n = 0;

	for (size_t i = 0; i < c->lids.n; i++) {
		uint16_t lid = c->lids.item[i];

		if (!reconfig_conflicts(c, lid))
			continue;
		c->mark[lid] = may_keep(c, lid) ? KEEPS_OLD : CONFLICTING;
		n += c->mark[lid] == CONFLICTING && graph_has_owner(&c->prev->snap->fab, lid);
	}
	return n;
}

static uint32_t
count_marked(const struct reconfig *c, enum mark mark)
{
	uint32_t n = 0;

	for (size_t i = 0; i < c->lids.n; i++)
		n += c->mark[c->lids.item[i]] == mark;
	return n;
}

/* LIDs so marked depend on what the new tables of deps say, too.  *fits: beside the rest. */
static bool
insert_marked(struct reconfig *c, struct deps *deps, enum mark mark, bool *fits)
{
	enum depend_result rc = DEPEND_HELD;

	for (size_t i = 0; rc < DEPEND_CYCLE && i < c->lids.n; i++)
		if (c->mark[c->lids.item[i]] == mark)
			rc = depend_insert_deps(c->g, c->fab, deps, c->lids.item[i], DEPS_NEW);
	*fits = rc < DEPEND_CYCLE;
	return rc <= DEPEND_CYCLE;
}

/* The other conflicting LIDs are to be drained.  By one set of SLs their new paths are proven with
 * all others (verify); by two, hosts that have not been told send on them under old SLs.  *fits:
 * that agrees with the rest. */
static bool
fit_drained(struct reconfig *c, bool *fits)
{
	*fits = true;
	return c->same_vls || insert_marked(c, c->deps, CONFLICTING, fits);
}

/* c->p has old columns by now.  As soon as the SA names its SLs, packets under them also come by
 * old entries that are kept: replies, whose SLs are of the columns of others; and so do packets by
 * new entries where an old one led nowhere.  *fits: they agree with the rest. */
static bool
fit_kept(struct reconfig *c, bool *fits)
{
	struct deps *deps;
	bool ok;

	*fits = true;
	if (c->same_vls && !c->keeps_parts)
		return true;
	deps = reconfig_deps(c);
	ok = deps != NULL && insert_marked(c, deps, KEEPS_OLD, fits);
	deps_free(deps);
	return ok;
}

/* Take entries that are kept out of what the plan says it has repaired.  False: out of memory. */
static bool
tell_repair(const struct reconfig *c)
{
	uint8_t *left = calloc(c->p->top_lid + 1u, 1);
	bool ok = left != NULL;

	for (size_t i = 0; ok && i < c->lids.n; i++)
		left[c->lids.item[i]] = c->mark[c->lids.item[i]] == KEEPS_OLD;
	ok = ok && repair_revert(c->r, c->p, reconfig_last(c), left);
	free(left);
	return ok;
}

/* *done: c->p has the old columns of the LIDs that keep them, and is proven with them. */
static int
keep_some(struct reconfig *c, bool *done, struct fm_error *err)
{
	struct verify_request req = { .n_vls = c->r->set.n_vls, .sl_model = c->model };
	struct plan *p = c->p;
	struct verdict v;
	uint8_t *kept;
	int rc = 0;

	kept = copy_columns(c);
	if (kept == NULL || !fit_drained(c, done)) {
		free(kept);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	}
	if (*done && count_marked(c, KEEPS_OLD) == 0) { /* the tables are those that are proven */
		free(kept);
		p->change.sls_clash = false; /* and agree with the rest under old SLs as well */
		return 0;
	}
	swap_kept(c, &p->tables->t, kept);
	if (*done && !fit_kept(c, done))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	if (rc == 0 && *done)
		rc = verify_tables(p->snap, &p->tables->t, &req, c->r->workers, &v, err);
	*done = *done && rc == 0 && verdict_is_safe(&v, c->allow_credit_loops) &&
	    v.unreachable_pairs <= p->verdict.unreachable_pairs;
	if (*done) {
		p->verdict = v;
		p->change.sls_clash = false;
	} else {
		swap_kept(c, &p->tables->t, kept);
	}
	free(kept);
	return *done && !tell_repair(c)
	    ? fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables")
	    : rc;
}

/* Drain the conflicting LIDs that do not keep their old entries.  If LIDs were parted nothing
 * new, no SL-to-VL map and no SL, is proven with packets to the drained: it waits until these
 * are gone. */
static void
drain_them(struct reconfig *c)
{
	bool waive = c->drain == PLAN_DRAIN_NEVER;
	struct plan *p = c->p;
	uint32_t n = count_marked(c, CONFLICTING) + count_marked(c, MUST_DRAIN);

	for (size_t i = 0; !waive && i < c->lids.n; i++)
		if (reconfig_conflicts(c, c->lids.item[i]))
			c->rules[c->lids.item[i]] =
			    c->parted ? TRANSITION_DRAIN_COLUMN | DEFERRED : TRANSITION_DRAIN;
	p->change.n_waived = waive ? n : 0;
	p->change.n_drained = waive ? 0 : n;
	p->change.n_kept_old = count_marked(c, KEEPS_OLD);
	p->change.whole_columns = c->parted && p->change.n_drained > 0;
	p->change.n_cut = waive ? 0 : c->n_cut;
}

static void
say_waiting(const struct reconfig *c, struct plan *stays)
{
	const struct plan *prev = reconfig_last(c), *p = c->p;
	uint32_t n_stubs = stays->change.n_stubs;
	uint32_t n_leaves = prev->change.n_stubs + prev->change.n_leaves;
	char *text = stays->change.waiting;
	size_t size = sizeof(stays->change.waiting), n;

	stays->change = p->change;
	stays->change.n_stubs = n_stubs;
	stays->change.n_leaves = n_leaves;
	stays->rebalance_tried = false;
	if (n_stubs > 0)
		return; /* the next sweep goes on from there */
	snprintf(text, size,
	    "the tables of engine %s are not taken up: no order of writing them is free of "
	    "deadlocks, so the entries of %" PRIu32 " of %zu LIDs would be emptied for the life "
	    "time of a packet; \"fmctl drain\" does it",
	    p->engine, c->n_conflicting, c->lids.n);
	n = strlen(text);
	if (n_leaves > 0)
		snprintf(text + n, size - n,
		    n_leaves == 1 ? "; %" PRIu32 " switch has one cable till then"
				  : "; %" PRIu32 " switches have one cable each till then",
		    n_leaves);
}

static void
unmark_kept(struct reconfig *c)
{
	for (size_t i = 0; i < c->lids.n; i++)
		if (c->mark[c->lids.item[i]] == KEEPS_OLD)
			c->mark[c->lids.item[i]] = CONFLICTING;
}

/* A plan with the tables that the switches have, so that nothing is emptied.  *stays NULL: there is
 * none, or nothing would be emptied anyway. */
static int
stay_somehow(const struct reconfig *c, struct plan **stays, struct fm_error *err)
{
	int rc = stay(c, stays, err);

	if (rc != 0 || *stays != NULL || c->drain == PLAN_DRAIN_NEVER)
		return rc;
	return stub_attach(c, stays, err);
}

/* Only a loss may cost paths: after any other change no LID that had paths is drained where the
 * tables that there are serve as well. */
int
reconfig_resolve_conflicts(struct reconfig *c, struct plan **stays, struct fm_error *err)
{
	bool engine = c->p->change.kind == PLAN_ENGINE, loss = c->p->change.kind == PLAN_LOSS;
	bool may_leave = !engine && !c->parted && may_mix(c->prev, c->p), done = false;
	bool at_once = may_leave && (mark_kept(c) == 0 || loss);
	int rc = 0;

	*stays = NULL;
	if (at_once)
		rc = keep_some(c, &done, err);
	if (rc == 0 && !done && !loss && (!engine || c->drain == PLAN_DRAIN_LOSS))
		rc = stay_somehow(c, stays, err);
	if (rc == 0 && *stays == NULL && may_leave && !at_once)
		rc = keep_some(c, &done, err);
	if (rc != 0)
		return rc;
	if (!done)
		unmark_kept(c);
	if (*stays == NULL)
		drain_them(c);
	else
		say_waiting(c, *stays);
	return 0;
}
