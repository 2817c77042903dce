/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of the ladder.  Verification has shown that old and new tables are free
 * of cycles by themselves; where old ones are not (credit_loops = warn) there is
 * nothing to lose.
 */
#include <stdlib.h>
#include <string.h>

#include "core/route/ladder_internal.h"
#include "core/route/transition.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/scc.h"

#define STAGES_MAX 16
#define LARGE_ENTRIES 1000000 /* of forwarding tables: a third of a second */

/* ------------------------------------------------------- sets of dependencies */

static fm_sw
switch_after(const struct climb *c, uint32_t vertex)
{
	return c->fab->link_to[vertex / c->n_vls];
}

static bool
alloc_rows(struct climb *c)
{
	size_t words;

	c->row = ladder_rows(c->fab, c->n_vls);
	if (c->row == NULL)
		return false;
	words = c->row[deps_n_vertices(c->deps)];
	c->bits = calloc(words + 1, sizeof(*c->bits));
	c->staying = calloc(words + 1, sizeof(*c->staying));
	return c->bits != NULL && c->staying != NULL;
}

static bool
note_lid(struct climb *c, uint16_t lid, enum deps_mode mode)
{
	const struct dep *list;
	size_t n;

	if (!deps_of(c->deps, lid, mode, &list, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint32_t first = c->fab->sw_first_link[switch_after(c, list[i].from)];

		fm_bit_set(c->bits + c->row[list[i].from], list[i].to - first * c->n_vls);
	}
	return true;
}

/* Have the dependencies noted a cycle?  If not, position[] is an order of them. */
static bool
find_cycle(struct climb *c, bool *cyclic)
{
	uint32_t n = deps_n_vertices(c->deps), n_edges = 0, n_components, *first, *to;
	struct fm_arena mem;
	bool ok;

	fm_arena_init(&mem, SIZE_MAX);
	n_edges = (uint32_t)fm_bit_count(c->bits, c->row[n] * 64);
	first = fm_arena_array(&mem, (size_t)n + 1, uint32_t);
	to = fm_arena_array(&mem, (size_t)n_edges + 1, uint32_t);
	n_edges = 0;
	for (uint32_t v = 0; first != NULL && to != NULL && v < n; v++) {
		uint32_t base = c->fab->sw_first_link[switch_after(c, v)] * c->n_vls;

		first[v] = n_edges;
		FM_EACH_BIT (i, c->bits + c->row[v], (c->row[v + 1] - c->row[v]) * 64)
			to[n_edges++] = base + (uint32_t)i;
	}
	ok = first != NULL && to != NULL;
	if (ok) {
		first[n] = n_edges;
		n_components = fm_scc(n, first, to, c->position, &mem);
		ok = n_components != UINT32_MAX;
		*cyclic = n_components < n; /* no packet goes back by the link it came by */
		for (uint32_t v = 0; ok && v < n; v++)
			c->position[v] = n_components - 1 - c->position[v];
	}
	fm_arena_fini(&mem);
	return ok;
}

/* LIDs that do not change, into bits and staying. */
static bool
note_staying(struct climb *c, struct router *r, const struct plan *prev, const struct plan *p)
{
	size_t words = c->row[deps_n_vertices(c->deps)];
	bool noted, ok;

	memset(c->bits, 0, words * sizeof(*c->bits));
	ok = ladder_note_staying(r, prev, p, c, &noted);
	for (uint32_t lid = 1; ok && !noted && lid <= c->fab->max_lid; lid++)
		if (c->fab->lid_end[lid] != FM_NONE &&
		    c->fab->end_sw[c->fab->lid_end[lid]] != FM_NONE &&
		    !deps_changes(c->deps, (uint16_t)lid))
			ok = note_lid(c, (uint16_t)lid, DEPS_NEW);
	memcpy(c->staying, c->bits, words * sizeof(*c->bits));
	return ok;
}

static void
note_only_staying(struct climb *c)
{
	memcpy(c->bits, c->staying, c->row[deps_n_vertices(c->deps)] * sizeof(*c->bits));
}

static bool
note_changed(struct climb *c, enum deps_mode mode)
{
	bool ok = true;

	for (size_t i = 0; ok && i < c->lids.n; i++)
		ok = note_lid(c, c->lids.item[i], mode);
	return ok;
}

/* ------------------------------------------------------------------ the steps */

/* The same in a graph that has all turns but the odd ones already. */
static bool
insert_odd(struct climb *c, const struct dep *list, size_t n, bool *fits)
{
	bool any = false, ok = true;

	for (size_t i = 0; ok && i < n; i++)
		if (odd_graph_is_odd(c->odd, list[i].from, list[i].to)) {
			ok = odd_graph_add(c->odd, list[i].from, list[i].to);
			any = true;
		}
	*fits = !any || odd_graph_acyclic(c->odd);
	for (size_t i = 0; !*fits && i < n; i++)
		if (odd_graph_is_odd(c->odd, list[i].from, list[i].to))
			odd_graph_remove(c->odd, list[i].from, list[i].to);
	return ok;
}

bool
ladder_insert(struct climb *c, uint16_t lid, enum deps_mode mode, bool *fits)
{
	const struct dep *list;
	size_t n, i;

	if (!deps_of(c->deps, lid, mode, &list, &n))
		return false;
	if (c->odd != NULL)
		return insert_odd(c, list, n, fits);
	*fits = true;
	for (i = 0; *fits && i < n; i++)
		switch (fm_acyclic_insert(c->graph, list[i].from, list[i].to)) {
		case FM_ACYCLIC_ADDED:
		case FM_ACYCLIC_HELD:
			break;
		case FM_ACYCLIC_CYCLE:
			*fits = false;
			break;
		case FM_ACYCLIC_NOMEM:
			return false;
		}
	for (i -= !*fits; !*fits && i-- > 0;)
		fm_acyclic_remove(c->graph, list[i].from, list[i].to);
	return true;
}

bool
ladder_take_out(struct climb *c, uint16_t lid, enum deps_mode mode)
{
	const struct dep *list;
	size_t n;

	if (!deps_of(c->deps, lid, mode, &list, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (c->odd == NULL)
			fm_acyclic_remove(c->graph, list[i].from, list[i].to);
		else if (odd_graph_is_odd(c->odd, list[i].from, list[i].to))
			odd_graph_remove(c->odd, list[i].from, list[i].to);
	return true;
}

/* The graph of what is in the switches: destinations that stay once for all,
 * those that change each by itself, so that it can be taken out. */
static bool
start_graph(struct climb *c)
{
	uint32_t n = deps_n_vertices(c->deps);
	bool ok, fits = true;

	note_only_staying(c);
	ok = true;
	for (uint32_t v = 0; ok && v < n; v++) {
		uint32_t base = c->fab->sw_first_link[switch_after(c, v)] * c->n_vls;

		FM_EACH_BIT (i, c->bits + c->row[v], (c->row[v + 1] - c->row[v]) * 64)
			ok = ok &&
			    fm_acyclic_insert(c->graph, v, base + (uint32_t)i) <= FM_ACYCLIC_HELD;
	}
	for (size_t i = 0; ok && i < c->lids.n; i++)
		ok = ladder_insert(c, c->lids.item[i], DEPS_OLD, &fits) && fits;
	return ok;
}

static bool
place(struct climb *c, uint16_t lid, uint8_t stage, bool *moved)
{
	bool fits;

	if (!ladder_insert(c, lid, DEPS_ALL, &fits))
		return false;
	if (fits) {
		c->mark[lid] = PLACED_FREE;
	} else {
		if (!ladder_insert(c, lid, DEPS_ORDERED, &fits))
			return false;
		if (!fits)
			return true;
		c->mark[lid] = PLACED_ORDERED;
	}
	c->rules[lid] = stage;
	if (c->mark[lid] == PLACED_ORDERED)
		c->rules[lid] |= TRANSITION_ORDERED;
	c->n_unplaced--;
	*moved = true;
	return true;
}

/* It is written, and a packet's life time has passed. */
static bool
settle(struct climb *c, uint16_t lid)
{
	enum deps_mode mode = c->mark[lid] == PLACED_FREE ? DEPS_ALL : DEPS_ORDERED;
	bool fits;

	c->mark[lid] = SETTLED;
	return ladder_insert(c, lid, DEPS_NEW, &fits) && ladder_take_out(c, lid, mode) &&
	    ladder_take_out(c, lid, DEPS_OLD);
}

static bool
take_steps(struct climb *c)
{
	bool ok = true, moved = true;

	c->n_unplaced = (uint32_t)c->lids.n;
	for (uint8_t stage = c->aim != NULL; ok && moved && c->n_unplaced > 0 && stage < STAGES_MAX;
	     stage++) {
		moved = false;
		for (size_t i = 0; ok && i < c->lids.n; i++)
			if (c->mark[c->lids.item[i]] == UNPLACED)
				ok = place(c, c->lids.item[i], stage, &moved);
		for (size_t i = 0; ok && c->n_unplaced > 0 && i < c->lids.n; i++)
			if (c->mark[c->lids.item[i]] == PLACED_FREE ||
			    c->mark[c->lids.item[i]] == PLACED_ORDERED)
				ok = settle(c, c->lids.item[i]);
	}
	return ok;
}

/* ------------------------------------------------------------- what it is */

bool
ladder_has_link(const struct fm_fabric *fab, fm_sw sw, fm_sw to, uint8_t port)
{
	if (sw >= fab->n_switches)
		return false;
	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		if (fab->link_port[l] == port && fab->link_to[l] == to)
			return true;
	return false;
}

/* Has the one a link that the other has not?  Both list those of a switch in the same order. */
static bool
has_more_links(const struct fm_fabric *a, const struct fm_fabric *b)
{
	for (fm_sw sw = 0; sw < a->n_switches; sw++) {
		fm_link at = sw < b->n_switches ? b->sw_first_link[sw] : 0;
		fm_link end = sw < b->n_switches ? b->sw_first_link[sw + 1] : 0;

		for (fm_link l = a->sw_first_link[sw]; l < a->sw_first_link[sw + 1]; l++, at++) {
			while (at < end &&
			    (b->link_to[at] != a->link_to[l] ||
				b->link_port[at] != a->link_port[l]))
				at++;
			if (at == end)
				return true;
		}
	}
	return false;
}

static enum plan_change_kind
kind_of(const struct plan_request *q, const struct plan *p)
{
	const struct fm_fabric *was = &q->prev->snap->fab, *now = &p->snap->fab;

	if (has_more_links(was, now))
		return PLAN_LOSS;
	if (q->anew || strcmp(q->prev->engine, p->engine) != 0)
		return PLAN_ENGINE;
	return has_more_links(now, was) ? PLAN_RECOVERY : PLAN_REBALANCE;
}

const char *
plan_change_name(enum plan_change_kind kind)
{
	switch (kind) {
	case PLAN_FIRST:
		return "none";
	case PLAN_LOSS:
		return "loss";
	case PLAN_RECOVERY:
		return "recovery";
	case PLAN_REBALANCE:
		return "rebalance";
	case PLAN_ENGINE:
		return "engine";
	}
	return "";
}

/* ------------------------------------------------------------------- all of it */

static void
count(const struct climb *c, struct plan_change *change)
{
	change->n_lids = (uint32_t)c->lids.n;
	for (size_t i = 0; i < c->lids.n; i++) {
		uint8_t rule = c->rules[c->lids.item[i]];

		change->n_ordered += (rule & TRANSITION_ORDERED) != 0;
		change->n_later += (rule & TRANSITION_STAGE) != 0;
	}
}

static bool
list_lids(struct climb *c, uint16_t top_lid)
{
	for (uint32_t lid = 1; lid <= top_lid; lid++)
		if (deps_changes(c->deps, (uint16_t)lid) && !fm_vec_push(&c->lids, (uint16_t)lid))
			return false;
	return true;
}

/* Steps for all that change; *needed false: all are free. */
static bool
find_steps(
    struct climb *c, struct router *r, const struct plan *prev, const struct plan *p, bool *needed)
{
	uint32_t n = deps_n_vertices(c->deps);
	bool cyclic = false, ok;

	*needed = false;
	c->n_vls = deps_n_vls(c->deps);
	c->position = malloc((n + 1) * sizeof(*c->position));
	ok = c->position != NULL && alloc_rows(c) && note_staying(c, r, prev, p) &&
	    note_changed(c, DEPS_ALL) && find_cycle(c, &cyclic);
	if (!ok || !cyclic)
		return ok;
	note_only_staying(c);
	ok = note_changed(c, DEPS_OLD) && find_cycle(c, &cyclic);
	if (ok && cyclic && c->counted) { /* perhaps of packets that nobody sends any more */
		ladder_counts_forget(r);
		ok = note_staying(c, r, prev, p) && note_changed(c, DEPS_OLD) &&
		    find_cycle(c, &cyclic);
	}
	c->clashes = ok && cyclic && !ladder_same_sls(prev, p);
	if (!ok || cyclic)
		return ok; /* what is there has cycles already */
	*needed = true;
	c->graph = fm_acyclic_new(n, c->position);
	ok = c->graph != NULL && start_graph(c) && take_steps(c);
	/* who is drained gets new ways, on which the old SLs are not safe */
	c->clashes = ok && c->n_unplaced > 0 && !ladder_same_sls(prev, p);
	return ok;
}

/* From q->prev to p, where it differs. */
static bool
start_climb(struct climb *c, const struct plan_request *q, const struct plan *p)
{
	c->deps = deps_new(deps_side(q->prev), deps_side(p), c->model);
	c->rules = calloc(p->top_lid + 1u, 1);
	c->mark = calloc(p->top_lid + 1u, 1);
	return c->deps != NULL && c->rules != NULL && c->mark != NULL;
}

/* Is the graph of all dependencies more than can be looked at after each event? */
static bool
is_large(const struct climb *c)
{
	return (uint64_t)c->fab->n_switches * c->fab->max_lid > LARGE_ENTRIES;
}

/* Those that make odd turns only (levels.h).  *settled: all have their step, or are
 * left over where nothing better is to be had. */
static bool
take_odd_steps(struct climb *c, const struct odd_lids *lids, bool *settled)
{
	bool ok, fits = true;

	*settled = false;
	if (deps_n_vls(c->deps) != 1)
		return true;
	c->odd = odd_graph_new(c->fab);
	ok = c->odd != NULL;
	for (size_t i = 0; ok && fits && i < lids->stay.n; i++)
		ok = ladder_insert(c, lids->stay.item[i], DEPS_NEW, &fits);
	for (size_t i = 0; ok && fits && i < lids->changed.n; i++)
		ok = ladder_insert(c, lids->changed.item[i], DEPS_OLD, &fits) &&
		    fm_vec_push(&c->lids, lids->changed.item[i]);
	if (ok && fits)
		ok = take_steps(c);
	*settled = ok && fits && (c->n_unplaced == 0 || is_large(c));
	return ok;
}

/* Which LIDs are odd by the new tables? */
static bool
note_odd(struct climb *c, const struct odd_lids *lids, const struct plan *prev, struct plan *p)
{
	FM_VEC(uint16_t) odd = { 0 };
	bool ok = lids->stay.n == 0 || fm_vec_append(&odd, lids->stay.item, lids->stay.n);

	for (size_t i = 0; ok && i < lids->changed.n; i++) {
		const struct dep *list;
		bool is_odd = false;
		size_t n;

		/* who is left over may stay with old entries */
		ok = deps_of(c->deps, lids->changed.item[i],
		    c->mark[lids->changed.item[i]] == UNPLACED ? DEPS_ALL : DEPS_NEW, &list, &n);
		for (size_t k = 0; ok && !is_odd && k < n; k++)
			is_odd = odd_graph_is_odd(c->odd, list[k].from, list[k].to);
		ok = ok && (!is_odd || fm_vec_push(&odd, lids->changed.item[i]));
	}
	ok = ok && levels_note(p, prev, odd.item, odd.n);
	fm_vec_fini(&odd);
	return ok;
}

/* By levels.  *settled false: nothing has come of it. */
static bool
climb_by_levels(struct climb *c, const struct plan_request *q, struct plan *p, bool *settled)
{
	struct odd_lids lids = { 0 };
	bool ok = levels_find(q->prev, p, &lids, settled);

	if (ok && *settled)
		ok = start_climb(c, q, p) && take_odd_steps(c, &lids, settled);
	if (ok && *settled)
		ok = note_odd(c, &lids, q->prev, p);
	if (!ok || !*settled) {
		plan_levels_free(p->levels);
		p->levels = NULL;
	}
	fm_vec_fini(&lids.changed);
	fm_vec_fini(&lids.stay);
	return ok;
}

static void
use_rules(struct climb *c, struct plan *p)
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
climb_by_graph(struct router *r, const struct plan_request *q, struct climb *c, struct plan **plan,
    struct fm_error *err)
{
	struct plan *p = *plan;
	bool needed = false;
	int rc = 0;

	if (!start_climb(c, q, p) || !list_lids(c, p->top_lid))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	p->change.n_lids = (uint32_t)c->lids.n;
	if (c->lids.n > 0 && !find_steps(c, r, q->prev, p, &needed))
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	p->change.sls_clash = c->clashes;
	if (needed)
		count(c, &p->change);
	if (needed && c->n_unplaced > 0)
		rc = ladder_rest(r, q, c, plan, err);
	if (rc == 0 && *plan == p) {
		ladder_put_off(c, q->prev, p);
		use_rules(c, p);
	}
	return rc;
}

static void
free_climb(struct climb *c)
{
	deps_free(c->deps);
	fm_acyclic_free(c->graph);
	odd_graph_free(c->odd);
	fm_vec_fini(&c->lids);
	free(c->rules);
	free(c->mark);
	free(c->row);
	free(c->bits);
	free(c->staying);
	free(c->position);
}

static int
climb(struct router *r, const struct plan_request *q, const struct plan *aim, struct plan **plan,
    struct fm_error *err)
{
	struct plan *p = *plan;
	struct climb quick = { .fab = &p->snap->fab, .model = plan_sl_model(r, p), .aim = aim };
	struct climb whole = quick;
	bool settled;
	int rc = 0;

	if (!climb_by_levels(&quick, q, p, &settled)) {
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	} else if (settled) {
		p->change.by_levels = true;
		count(&quick, &p->change);
		if (quick.n_unplaced > 0)
			rc = ladder_rest(r, q, &quick, plan, err);
		if (rc == 0 && *plan == p) {
			ladder_put_off(&quick, q->prev, p);
			use_rules(&quick, p);
		}
	} else {
		rc = climb_by_graph(r, q, &whole, plan, err);
	}
	free_climb(&quick);
	free_climb(&whole);
	return rc;
}

/* The same where writing q->prev was broken off. */
static int
climb_on(struct router *r, const struct plan_request *q, struct plan **plan, struct fm_error *err)
{
	struct plan_request on = *q;
	struct plan *p = *plan;
	int rc;

	on.prev = ladder_resume(r, q, err);
	if (on.prev == NULL)
		return FM_E_RESOURCE;
	if (on.prev->change.kind == PLAN_LOSS && p->change.kind != PLAN_ENGINE)
		p->change.kind = PLAN_LOSS; /* there is still something of it to be written */
	rc = climb(r, &on, q->prev, plan, err);
	if (rc == 0 && *plan != p) { /* back to where it was to lead */
		(*plan)->change.kind = PLAN_LOSS;
		rc = climb(r, &on, q->prev, plan, err);
	}
	plan_put(on.prev);
	return rc;
}

int
ladder_climb(
    struct router *r, const struct plan_request *q, struct plan **plan, struct fm_error *err)
{
	struct plan *p = *plan;
	int rc;

	if (q->prev == NULL || q->prev->tables == NULL || p->tables == NULL)
		return 0;
	if (p->tables == q->prev->tables && q->n_held == 0) {
		ladder_counts_keep(r, q->prev, p);
		return 0;
	}
	p->change.kind = kind_of(q, p);
	if (p->verdict.credit_loops > 0 || q->prev->verdict.credit_loops > 0)
		return 0; /* allowed, so nothing is promised */
	rc = q->n_held > 0 ? climb_on(r, q, plan, err) : climb(r, q, NULL, plan, err);
	if (rc != 0) {
		plan_put(*plan);
		*plan = NULL;
	}
	ladder_counts_end(r, *plan);
	return rc;
}
