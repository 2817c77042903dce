/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From one plan to the next: by levels of switches where they suffice, else by the graph of all
 * dependencies; then what is done with the LIDs that found no step.
 */
#include <stdlib.h>
#include <string.h>

#include "core/transition/reconfig_internal.h"
#include "core/transition/transition.h"
#include "lib/error.h"

#define LARGE_ENTRIES 1000000 /* of forwarding tables: a third of a second */

/* ------------------------------------------------------------------- all of it */

static void
count(const struct reconfig *c, struct plan_change *change)
{
	change->n_lids = (uint32_t)c->lids.n;
	for (size_t i = 0; i < c->lids.n; i++) {
		uint8_t rule = c->rules[c->lids.item[i]];

		change->n_next_hop_first += (rule & TRANSITION_NEXT_HOP_FIRST) != 0;
		change->n_deferred += (rule & TRANSITION_STEP) != 0;
	}
}

static bool
list_lids(struct reconfig *c, uint16_t top_lid)
{
	for (uint32_t lid = 1; lid <= top_lid; lid++)
		if (deps_changes(c->deps, (uint16_t)lid) && !fm_vec_push(&c->lids, (uint16_t)lid))
			return false;
	return true;
}

/* A reconfiguration from q->prev to p, of which nothing is known yet. */
static bool
start_reconfig(struct reconfig *c, const struct plan_request *q, const struct plan *p)
{
	c->deps = reconfig_deps(c, q->prev, p);
	c->rules = calloc(p->top_lid + 1u, 1);
	c->mark = calloc(p->top_lid + 1u, 1);
	c->arrivals = malloc(2 * c->fab->n_switches + 1);
	return c->deps != NULL && c->rules != NULL && c->mark != NULL && c->arrivals != NULL;
}

/* Is the graph of all dependencies too large to be looked at after each event? */
static bool
is_large(const struct reconfig *c)
{
	return (uint64_t)c->fab->n_switches * c->fab->max_lid > LARGE_ENTRIES;
}

/* Steps for the LIDs that may make prohibited turns (core/plan/levels.h); all others may be written
 * in any order.  *settled: every LID has its step, or the graph of all dependencies is too large
 * to find more. */
static bool
take_turn_steps(struct reconfig *c, const struct turn_lids *lids, bool *settled)
{
	bool ok, fits = true;

	*settled = false;
	if (deps_n_vls(c->deps) != 1)
		return true;
	c->turns = turn_graph_new(c->fab);
	c->kept = calloc((c->fab->max_lid + 1u) * 4u, sizeof(*c->kept));
	ok = c->turns != NULL && c->kept != NULL;
	for (size_t i = 0; ok && fits && i < lids->stay.n; i++)
		ok = reconfig_insert(c, lids->stay.item[i], DEPS_NEW, &fits);
	for (size_t i = 0; ok && fits && i < lids->changed.n; i++)
		ok = reconfig_insert(c, lids->changed.item[i], DEPS_OLD, &fits) &&
		    fm_vec_push(&c->lids, lids->changed.item[i]);
	if (ok && fits)
		ok = reconfig_take_steps(c);
	*settled = ok && fits && (c->n_conflicting == 0 || is_large(c));
	return ok;
}

/* Which LIDs make prohibited turns by the new tables? */
static bool
note_prohibited(
    struct reconfig *c, const struct turn_lids *lids, const struct plan *prev, struct plan *p)
{
	FM_VEC(uint16_t) prohibited = { 0 };
	bool ok = lids->stay.n == 0 || fm_vec_append(&prohibited, lids->stay.item, lids->stay.n);

	for (size_t i = 0; ok && i < lids->changed.n; i++) {
		const struct dep *list;
		bool is_odd = false;
		size_t n;

		/* a conflicting LID may keep old entries */
		ok = reconfig_list_deps(c, lids->changed.item[i],
		    c->mark[lids->changed.item[i]] == CONFLICTING ? DEPS_ALL : DEPS_NEW, &list, &n);
		for (size_t k = 0; ok && !is_odd && k < n; k++)
			is_odd = turn_graph_is_prohibited(c->turns, list[k].from, list[k].to);
		ok = ok && (!is_odd || fm_vec_push(&prohibited, lids->changed.item[i]));
	}
	ok = ok && levels_note(p, prev, prohibited.item, prohibited.n);
	fm_vec_fini(&prohibited);
	return ok;
}

/* By levels.  *settled false: they do not suffice, and nothing is known. */
static bool
order_by_levels(struct reconfig *c, const struct plan_request *q, struct plan *p, bool *settled)
{
	struct turn_lids lids = { 0 };
	bool ok = levels_find(q->prev, p, &lids, settled);

	if (ok && *settled)
		ok = start_reconfig(c, q, p) && take_turn_steps(c, &lids, settled);
	if (ok && *settled)
		ok = note_prohibited(c, &lids, q->prev, p);
	if (!ok || !*settled) {
		plan_levels_free(p->levels);
		p->levels = NULL;
	}
	fm_vec_fini(&lids.changed);
	fm_vec_fini(&lids.stay);
	return ok;
}

static void
use_rules(struct reconfig *c, struct plan *p)
{
	bool any = false;

	for (uint32_t lid = 1; lid <= p->top_lid; lid++)
		any = any || c->rules[lid] != 0;
	if (!any)
		return;
	p->rules = c->rules;
	c->rules = NULL;
}

/* By the graph of all dependencies. */
static int
order_by_graph(struct router *r, const struct plan_request *q, struct reconfig *c,
    struct plan **plan, struct fm_error *err)
{
	struct plan *p = *plan;
	bool needed = false;
	int rc = 0;

	if (!start_reconfig(c, q, p) || !list_lids(c, p->top_lid))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	p->change.n_lids = (uint32_t)c->lids.n;
	if ((c->lids.n > 0 || !reconfig_same_sls(q->prev, p)) &&
	    !reconfig_find_steps(c, r, q->prev, p, &needed))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	p->change.sls_clash = c->clashes;
	if (needed)
		count(c, &p->change);
	if (needed && c->n_conflicting > 0)
		rc = reconfig_resolve_conflicts(r, q, c, plan, err);
	if (rc == 0 && c->local != NULL && !reconfig_entries_end(r, c, *plan, *plan != p))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	if (rc == 0 && *plan == p) {
		reconfig_defer_all(c, p);
		use_rules(c, p);
	}
	return rc;
}

static void
free_reconfig(struct reconfig *c)
{
	deps_free(c->deps);
	reconfig_entries_free(c->local);
	reconfig_free_kept(c);
	fm_acyclic_free(c->graph);
	turn_graph_free(c->turns);
	fm_vec_fini(&c->lids);
	free(c->rules);
	free(c->mark);
	free(c->arrivals);
	free(c->row);
	free(c->bits);
	free(c->staying);
	free(c->position);
}

/* Does q->wire have cables that packets pass by old entries, and p not? */
static bool
has_cables_beside(const struct plan_request *q, const struct plan *p)
{
	const struct fm_fabric *wire, *was = &q->prev->snap->fab, *now = &p->snap->fab;

	if (q->wire == NULL)
		return false;
	if (q->n_installed > 0 || q->in_flight)
		return true;
	wire = &q->wire->fab;
	for (fm_sw sw = 0; sw < wire->n_switches; sw++)
		for (fm_link l = wire->sw_first_link[sw]; l < wire->sw_first_link[sw + 1]; l++)
			if (!reconfig_has_link(now, sw, wire->link_to[l], wire->link_port[l]) &&
			    reconfig_has_link(was, sw, wire->link_to[l], wire->link_port[l]))
				return true;
	return false;
}

static int
order_writing(struct router *r, const struct plan_request *q, const struct plan *target,
    struct plan **plan, struct fm_error *err)
{
	struct plan *p = *plan;
	bool beside = has_cables_beside(q, p);
	struct reconfig quick = { .fab = beside ? &q->wire->fab : &p->snap->fab,
		.usable = &p->snap->fab,
		.model = plan_sl_model(r, p),
		.target = target,
		.in_flight = target != NULL || q->in_flight,
		/* who wrote tables that levels suffice for had such before, too */
		.in_flight_by_levels = q->found ||
		    ((target == NULL || q->prev->change.by_levels) &&
			(!q->in_flight || q->in_flight_by_levels)) };
	struct reconfig whole;
	/* there are counts only where levels do not suffice */
	bool counted = r->counts != NULL && r->counts->plan == q->prev->number, settled = false;
	int rc = 0;

	quick.was = *quick.fab;
	if (quick.was.n_switches > q->prev->snap->fab.n_switches)
		quick.was.n_switches = q->prev->snap->fab.n_switches;
	whole = quick;
	if (beside) /* counts and levels are of the cables that p has */
		reconfig_counts_forget(r);
	if (counted || beside) {
		plan_levels_free(p->levels);
		p->levels = NULL;
	}
	if (!counted && !beside && !order_by_levels(&quick, q, p, &settled)) {
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	} else if (settled) {
		p->change.by_levels = true;
		count(&quick, &p->change);
		if (quick.n_conflicting > 0)
			rc = reconfig_resolve_conflicts(r, q, &quick, plan, err);
		if (rc == 0 && *plan == p) {
			reconfig_defer_all(&quick, p);
			use_rules(&quick, p);
		}
	} else {
		rc = order_by_graph(r, q, &whole, plan, err);
	}
	free_reconfig(&quick);
	free_reconfig(&whole);
	return rc;
}

/* Entries that were found: is it worth while to look for a way from there?  Where packets may
 * deadlock already nothing is promised. */
static int
judge_found(struct router *r, const struct plan *from, bool *is_sound, struct fm_error *err)
{
	struct verify_request req = { .n_vls = r->set.n_vls, .sl_model = plan_sl_model(r, from) };
	struct verdict v;
	int rc = verify_tables(from->snap, &from->tables->t, &req, r->workers, &v, err);

	*is_sound = rc == 0 && v.credit_loops == 0 && v.loops == 0 && v.vl_errors == 0;
	return rc;
}

/* A plan that has not been taken up waits, and the target of the interrupted writing does not. */
static void
write_to_the_end(struct plan *stays)
{
	const struct plan_change was = stays->change;

	stays->change = (struct plan_change){
		.kind = PLAN_LOSS, .n_stubs = was.n_stubs, .n_leaves = was.n_leaves
	};
	memcpy(stays->change.waiting, was.waiting, sizeof(was.waiting));
}

/* The same where writing q->prev was interrupted. */
static int
order_interrupted(
    struct router *r, const struct plan_request *q, struct plan **plan, struct fm_error *err)
{
	struct plan_request on = *q;
	struct plan *p = *plan;
	bool is_sound = true;
	int rc = 0;

	on.prev = reconfig_resume(r, q, err);
	if (on.prev == NULL)
		return FM_E_RESOURCE;
	if (q->found)
		rc = judge_found(r, on.prev, &is_sound, err);
	if (rc != 0 || !is_sound) {
		plan_put(on.prev);
		return rc;
	}
	if (p->tables == q->prev->tables ||
	    ((on.prev->change.kind == PLAN_LOSS || on.prev->change.kind == PLAN_ENGINE) &&
		p->change.kind != PLAN_ENGINE))
		p->change.kind = PLAN_LOSS; /* a part of that is still to be written */
	rc = order_writing(r, &on, q->prev, plan, err);
	if (rc == 0 && *plan != p) {
		write_to_the_end(*plan);
		rc = order_writing(r, &on, q->prev, plan, err);
	}
	plan_put(on.prev);
	return rc;
}

int
reconfig_plan(
    struct router *r, const struct plan_request *q, struct plan **plan, struct fm_error *err)
{
	struct plan *p = *plan;
	int rc;

	if (q->prev == NULL || q->prev->tables == NULL || p->tables == NULL)
		return 0;
	if (p->tables == q->prev->tables && q->n_installed == 0) {
		reconfig_counts_keep(r, q->prev, p);
		return 0;
	}
	p->change.kind = reconfig_kind(q, p);
	if (p->verdict.credit_loops > 0 || q->prev->verdict.credit_loops > 0)
		return 0; /* credit loops are allowed: nothing is promised */
	/* What the routing thread has had no time for is done now: no order may depend on it. */
	rc = q->prev_is_loaded ? 0 : reconfig_prepare(r, q->prev, err);
	if (rc == 0)
		rc = q->n_installed > 0 ? order_interrupted(r, q, plan, err)
					: order_writing(r, q, NULL, plan, err);
	if (rc != 0) {
		plan_put(*plan);
		*plan = NULL;
	}
	reconfig_counts_end(r, *plan);
	return rc;
}
