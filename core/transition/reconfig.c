/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From one plan to the next: what packets depend on before, a rule for each LID that changes, and
 * what is done with the LIDs that found none.
 */
#include <stdlib.h>
#include <string.h>

#include "core/repair/repair_state.h"
#include "core/transition/reconfig_internal.h"
#include "core/transition/transition.h"
#include "lib/error.h"

/* ------------------------------------------------------------------- all of it */

static int
no_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
}

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

static void
use_rules(struct reconfig *c)
{
	struct plan *p = c->p;
	bool any = false;

	for (uint32_t lid = 1; lid <= p->top_lid; lid++)
		any = any || c->rules[lid] != 0;
	if (!any)
		return;
	p->rules = c->rules;
	c->rules = NULL;
}

/* LIDs wait that have no other time. */
static void
defer_all(struct reconfig *c)
{
	for (uint32_t lid = 1; lid <= c->p->top_lid; lid++)
		if ((c->rules[lid] & (TRANSITION_STEP | TRANSITION_DRAIN)) == 0)
			c->rules[lid] |= DEFERRED;
}

static void
free_reconfig(struct reconfig *c)
{
	if (!c->at_hand)
		depend_free(c->g);
	deps_free(c->deps);
	fm_vec_fini(&c->lids);
	free(c->sends);
	free(c->rules);
	free(c->mark);
	free(c->arrivals);
}

/* Does q->wire have cables that packets pass by old entries, and p not? */
static bool
has_cables_beside(const struct plan_request *q, const struct plan *p)
{
	const struct fm_fabric *wire, *was = &q->prev->snap->fab, *now = &p->snap->fab;

	if (q->wire == NULL)
		return false;
	if (q->flight.n_installed > 0 || q->flight.older)
		return true;
	wire = &q->wire->fab;
	for (fm_sw sw = 0; sw < wire->n_switches; sw++)
		for (fm_link l = wire->sw_first_link[sw]; l < wire->sw_first_link[sw + 1]; l++)
			if (!reconfig_has_link(now, sw, wire->link_to[l], wire->link_port[l]) &&
			    reconfig_has_link(was, sw, wire->link_to[l], wire->link_port[l]))
				return true;
	return false;
}

static void
note_vls(struct reconfig *c)
{
	const struct plan *prev = c->prev, *p = c->p;
	uint32_t was = prev->tables->t.n_vls_used, now = p->tables->t.n_vls_used;

	c->n_vls = was > now ? was : now;
	if (tables_have_one_vl(&prev->tables->t) && tables_have_one_vl(&p->tables->t))
		c->n_vls = 1;
	c->same_vls = c->n_vls == 1 || (reconfig_same_sls(prev, p) && plan_same_vls(prev, p));
}

/* Does repair hold what packets by prev and by p depend on? */
static bool
is_at_hand(const struct reconfig *c)
{
	const struct repair_state *st = c->r->repair;
	const struct plan *p = c->p;

	return c->fab == c->usable && c->same_vls && st != NULL && st->tables == p->tables &&
	    st->graph == p->graph && st->snap == p->snap && st->g->n_vls == c->n_vls &&
	    !st->g->cyclic && c->prev->snap->fab.n_switches == c->fab->n_switches &&
	    (c->target == NULL || st->g->base <= c->flight->oldest);
}

/* An end that does not answer is in the plan before only, and sends all the same. */
static void
note_senders(struct reconfig *c, const struct fm_fabric *ends)
{
	for (fm_end e = 0; e < ends->n_ends; e++)
		if (ends->end_sw[e] < c->fab->n_switches && ends->end_kind[e] != FM_END_SWITCH)
			c->sends[ends->end_sw[e]] = 1;
}

/* Entries that were found, of LIDs that nobody is known to have, lead to hosts that do not answer:
 * they may send. */
static void
note_unknown_senders(struct reconfig *c)
{
	const struct plan *found = c->prev;

	for (fm_sw sw = 0; sw < c->was.n_switches; sw++)
		for (uint32_t lid = 1; !c->sends[sw] && lid <= found->top_lid; lid++) {
			uint8_t port = found->tables->t.lft[sw][lid];

			c->sends[sw] = port != 0 && port <= c->was.sw_n_ports[sw] &&
			    !graph_has_owner(c->fab, lid) &&
			    fm_link_at(&c->was, sw, port) == FM_NONE;
		}
}

/* `from` is q->prev, or what the switches hold on the way there.  False: out of memory. */
static bool
start_reconfig(struct reconfig *c, struct router *r, const struct plan_request *q,
    const struct plan *from, struct plan *p)
{
	bool interrupted = from != q->prev;
	uint32_t n;

	*c = (struct reconfig){ .r = r,
		.prev = from,
		.p = p,
		.target = interrupted ? q->prev : NULL,
		.flight = &q->flight,
		.drain = q->drain,
		.allow_credit_loops = q->chain->allow_credit_loops,
		.now_ms = q->now_ms,
		.fab = has_cables_beside(q, p) ? &q->wire->fab : &p->snap->fab,
		.usable = &p->snap->fab,
		.model = plan_sl_model(r, p),
		.in_flight = interrupted || q->flight.older };
	n = c->fab->n_switches;
	c->was = *c->fab;
	if (c->was.n_switches > from->snap->fab.n_switches)
		c->was.n_switches = from->snap->fab.n_switches;
	c->rules = calloc(p->top_lid + 1u, 1);
	c->mark = calloc(p->top_lid + 1u, 1);
	c->arrivals = malloc(2 * n + 1);
	c->sends = calloc(n + 1, 1);
	return c->rules != NULL && c->mark != NULL && c->arrivals != NULL && c->sends != NULL;
}

/* What packets depend on before. */
static bool
find_graph(struct reconfig *c)
{
	note_senders(c, c->fab);
	note_senders(c, &c->prev->snap->fab);
	if (c->flight->found)
		note_unknown_senders(c);
	note_vls(c);
	c->at_hand = is_at_hand(c);
	if (c->n_vls > 1 && (c->deps = reconfig_deps(c)) == NULL)
		return false;
	c->g = c->at_hand ? c->r->repair->g : reconfig_build(c);
	if (c->flight->choices)
		c->choices =
		    c->at_hand && c->g->has_choices && tables_are_adaptive(&c->prev->tables->t)
		    ? CHOICES_HELD
		    : CHOICES_NOT_HELD;
	c->in_flight = c->in_flight || c->choices == CHOICES_NOT_HELD;
	return c->g != NULL;
}

/* Does c->g hold what all packets in the fabric depend on, those of older plans, too?  Who has
 * written tables whose packets make legal turns only is believed to have written such before. */
static bool
holds_older(const struct reconfig *c)
{
	if (c->choices == CHOICES_NOT_HELD)
		return false;
	return c->at_hand ? c->g->base <= c->flight->oldest
			  : c->flight->found && depend_is_by_levels(c->g);
}

/* Rules.  Where the tables before have credit loops already nothing is promised. */
static bool
find_rules(struct reconfig *c)
{
	bool ok = find_graph(c);

	if (ok && !c->g->cyclic) {
		ok = reconfig_order(c);
		/* drained LIDs get new paths, on which the old SLs are not safe */
		c->clashes = ok && c->n_conflicting > 0 && !c->same_vls;
	} else if (ok && !c->same_vls) {
		c->clashes = true;
		ok = reconfig_partition(c);
	}
	return ok;
}

/* *held: the graph of repair holds what comes of it. */
static int
order_writing(struct router *r, const struct plan_request *q, const struct plan *from,
    struct plan **plan, bool *held, struct fm_error *err)
{
	struct plan *p = *plan, *stays = NULL;
	struct reconfig c;
	bool deferred;
	int rc = 0;

	if (!start_reconfig(&c, r, q, from, p) || !find_rules(&c)) {
		free_reconfig(&c);
		return no_memory(err);
	}
	*held = c.at_hand;
	deferred = c.in_flight && !holds_older(&c);
	p->change.sls_clash = c.clashes;
	count(&c, &p->change);
	if (c.n_conflicting > 0)
		rc = reconfig_resolve_conflicts(&c, &stays, err);
	if (rc == 0 && stays == NULL) {
		if (deferred)
			defer_all(&c);
		use_rules(&c);
	}
	free_reconfig(&c);
	if (stays != NULL) {
		plan_put(p);
		*plan = stays;
	}
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
order_interrupted(struct router *r, const struct plan_request *q, struct plan **plan, bool *held,
    struct fm_error *err)
{
	struct plan *p = *plan, *from = reconfig_resume(r, q->prev, &q->flight, err);
	bool is_sound = true;
	int rc = 0;

	if (from == NULL)
		return FM_E_RESOURCE;
	if (q->flight.found)
		rc = judge_found(r, from, &is_sound, err);
	if (rc != 0 || !is_sound) {
		plan_put(from);
		return rc;
	}
	if (p->tables == q->prev->tables ||
	    ((from->change.kind == PLAN_LOSS || from->change.kind == PLAN_ENGINE) &&
		p->change.kind != PLAN_ENGINE))
		p->change.kind = PLAN_LOSS; /* a part of that is still to be written */
	rc = order_writing(r, q, from, plan, held, err);
	if (rc == 0 && *plan != p) {
		write_to_the_end(*plan);
		rc = order_writing(r, q, from, plan, held, err);
	}
	plan_put(from);
	return rc;
}

int
reconfig_plan(
    struct router *r, const struct plan_request *q, struct plan **plan, struct fm_error *err)
{
	struct plan *p = *plan;
	bool held = false;
	int rc;

	if (q->prev == NULL || q->prev->tables == NULL || p->tables == NULL)
		return 0;
	if (p->tables == q->prev->tables && q->flight.n_installed == 0)
		return 0;
	p->change.kind = reconfig_kind(q->prev, p, q->anew != PLAN_FROM_PREV);
	if (p->verdict.credit_loops > 0 || q->prev->verdict.credit_loops > 0)
		return 0; /* credit loops are allowed: nothing is promised */
	rc = q->flight.n_installed > 0 ? order_interrupted(r, q, plan, &held, err)
				       : order_writing(r, q, q->prev, plan, &held, err);
	if (rc != 0) {
		plan_put(*plan);
		*plan = NULL;
	} else if (!held && (*plan)->tables != q->prev->tables && r->repair != NULL &&
	    r->repair->tables == (*plan)->tables) {
		r->repair->g->base = (*plan)->number; /* it has gathered no mixtures */
	}
	return rc;
}
