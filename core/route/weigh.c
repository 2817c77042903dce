/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/route/weigh.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/abi/host.h"
#include "core/gauge/gauge.h"
#include "core/route/rivals.h"
#include "lib/error.h"

/* The rivals of an entry of `auto` are asked where the fullest link bears so much more than the
 * mean, where the entry needs more VLs, or where ends have several LIDs. */
#define RIVAL_EVEN 1.05
#define RIVAL_VLS 2

/* The tables of an entry of `auto` and of its rivals, the one in force first. */
struct contest {
	struct candidate of[RIVALS_MOST];
	struct measured is[RIVALS_MOST];
	size_t n;
	double route_ms, verify_ms; /* of all that were asked */
};

static void
say_weighed(struct plan *p, const struct contest *c)
{
	size_t at = 0;

	for (size_t i = 0; i < c->n && at < sizeof(p->weighed); i++)
		at += (size_t)snprintf(p->weighed + at, sizeof(p->weighed) - at,
		    i == 0 ? "%.40s has %" PRIu64
			     " routes on the fullest link and %.3f of a random bisection"
			   : ", %.40s %" PRIu64 " and %.3f",
		    c->of[i].entry->name, c->is[i].most, c->is[i].ebb);
}

static bool
is_in_force(const struct search *s, const struct chain_entry *e)
{
	return s->prev != NULL && strcmp(s->prev->engine, e->name) == 0;
}

/* What a rival makes, if verify lets it pass; that it refuses is no failure. */
static int
add_rival(
    struct search *s, struct contest *all, const struct chain_entry *rival, struct fm_error *err)
{
	struct candidate c = { .entry = rival };
	struct measured is = { 0 };
	struct fm_error why;
	size_t place = is_in_force(s, rival) ? 0 : all->n;
	int rc;

	if (all->n == RIVALS_MOST)
		return 0;
	rc = entry_route(s, &c, &why);
	all->route_ms += c.route_ms;
	if (rc != 0)
		return 0;
	rc = entry_judge(s, &c, err);
	all->verify_ms += c.verify_ms;
	if (rc == 0)
		rc = rivals_measure(s->p->snap, &c.tables->t, s->r->workers, &is, err);
	if (rc != 0 || !verdict_is_safe(&c.verdict, s->allow_credit_loops) ||
	    c.verdict.unreachable_pairs > 0) {
		tables_put(c.tables);
		return rc;
	}
	is.n_vls = c.verdict.vls;
	memmove(&all->of[place + 1], &all->of[place], (all->n - place) * sizeof(*all->of));
	memmove(&all->is[place + 1], &all->is[place], (all->n - place) * sizeof(*all->is));
	all->of[place] = c;
	all->is[place] = is;
	all->n++;
	return 0;
}

static bool
is_asked(const struct fm_fabric *fab, const struct chain_rival *rival)
{
	return (uint64_t)fab->n_ends * fab->n_links <= rival->most;
}

static bool
is_any_asked(const struct fm_fabric *fab, const struct chain_entry *e)
{
	for (uint32_t i = 0; i < e->n_rivals; i++)
		if (is_asked(fab, &e->rival[i]))
			return true;
	return false;
}

/* What is there already, and whether it leaves anything to be bettered. */
static int
begin_contest(struct search *s, const struct candidate *own, struct contest *all,
    bool *may_be_bettered, struct fm_error *err)
{
	int rc;

	*all = (struct contest){
		.of = { *own }, .n = 1, .route_ms = own->route_ms, .verify_ms = own->verify_ms
	};
	rc = rivals_measure(s->p->snap, &own->tables->t, s->r->workers, &all->is[0], err);
	all->is[0].n_vls = own->verdict.vls;
	*may_be_bettered = (double)all->is[0].most > RIVAL_EVEN * all->is[0].mean ||
	    all->is[0].n_vls > RIVAL_VLS || gauge_has_several_lids(&s->p->snap->fab);
	return rc;
}

/* The tables of the winner are *own's; the others' are let go. */
static void
end_contest(struct search *s, struct contest *all, struct candidate *own)
{
	size_t best = rivals_choose(all->is, all->n);

	if (all->n > 1)
		say_weighed(s->p, all);
	*own = all->of[best];
	own->route_ms = all->route_ms;
	own->verify_ms = all->verify_ms;
	all->of[best].tables = NULL;
	for (size_t i = 0; i < all->n; i++)
		tables_put(all->of[i].tables);
}

int
weigh_rivals(struct search *s, struct candidate *own, struct fm_error *err)
{
	const struct chain_entry *e = own->entry;
	const struct fm_fabric *fab = &s->p->snap->fab;
	struct contest all;
	bool may_be_bettered = false;
	int rc;

	if (!is_any_asked(fab, e))
		return 0;
	rc = begin_contest(s, own, &all, &may_be_bettered, err);
	if (rc != 0 || !may_be_bettered)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < e->n_rivals; i++)
		if (is_asked(fab, &e->rival[i]))
			rc = add_rival(s, &all, &e->rival[i].entry, err);
	end_contest(s, &all, own);
	return rc;
}

/* ------------------------------------------------------------ beside tables in force */

static bool
is_made_by(const struct plan *p, const struct chain_entry *e)
{
	return strcmp(p->engine, e->name) == 0 && (p->because == NULL || p->because == e->because);
}

/* The entry of the chain that has made the tables of p, or whose rival *maker has; NULL: none. */
static const struct chain_entry *
find_maker(const struct plan *p, const struct chain *chain, const struct chain_entry **maker)
{
	for (uint32_t i = 0; i < chain->n_entries; i++) {
		const struct chain_entry *e = &chain->entries[i];

		*maker = e;
		if (is_made_by(p, e))
			return e;
		for (uint32_t k = 0; k < e->n_rivals; k++) {
			*maker = &e->rival[k].entry;
			if (is_made_by(p, *maker))
				return e;
		}
	}
	return NULL;
}

bool
weigh_is_due(const struct plan *p, const struct chain *chain, enum plan_rebalance when)
{
	const struct chain_entry *e, *maker;

	if (p == NULL || p->tables == NULL || p->regions != NULL || p->mended || p->rivals_asked ||
	    p->change.waiting[0] != '\0' || when == PLAN_REBALANCE_NEVER)
		return false;
	e = find_maker(p, chain, &maker);
	for (uint32_t i = 0; e != NULL && i < e->n_rivals; i++)
		if (!is_asked(&p->snap->fab, &e->rival[i]))
			return true;
	return false;
}

/* All rivals but those whose tables are in force. */
static int
ask_all(struct search *s, const struct chain_entry *e, struct contest *all, struct fm_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < e->n_rivals; i++) {
		if (!is_made_by(s->prev, &e->rival[i].entry))
			rc = add_rival(s, all, &e->rival[i].entry, err);
		if (rc == 0 && route_host_is_cancelled(s->r->host))
			rc = fm_fail(err, FM_E_CANCELLED, "given up for what is asked meanwhile");
	}
	return rc;
}

/* p is of c, if its tables are others than those in force. */
static void
take_winner(struct plan *p, const struct plan *was, const struct candidate *c)
{
	if (c->tables == was->tables)
		return;
	snprintf(p->engine, sizeof(p->engine), "%s", c->entry->name);
	p->because = c->entry->because;
	p->forward_only = false;
	p->verdict = c->verdict;
	p->route_ms = c->route_ms;
	p->verify_ms = c->verify_ms;
	memcpy(p->adaptive_given_up, c->adaptive_given_up, sizeof(p->adaptive_given_up));
	p->tables = tables_get(c->tables);
}

/* c has the tables in force, and those of the winner afterwards. */
static int
contend(struct search *s, const struct chain_entry *e, struct candidate *c, struct fm_error *err)
{
	struct contest all;
	bool may_be_bettered = false;
	int rc = begin_contest(s, c, &all, &may_be_bettered, err);

	if (rc != 0 || !may_be_bettered)
		return rc;
	rc = ask_all(s, e, &all, err);
	end_contest(s, &all, c);
	return rc;
}

int
weigh_beside(
    struct router *r, const struct plan_request *q, struct plan **out, struct fm_error *err)
{
	struct plan *was = q->prev;
	struct candidate c = { .verdict = was->verdict };
	const struct chain_entry *e = find_maker(was, q->chain, &c.entry);
	struct search s = { .r = r,
		.p = plan_new(was->snap, err),
		.prev = was,
		.allow_credit_loops = q->chain->allow_credit_loops,
		.most_ms = WEIGH_BESIDE_MS };
	int rc;

	if (s.p == NULL)
		return FM_E_RESOURCE;
	r->set = *q->set;
	plan_copy_maker(s.p, was);
	c.tables = tables_get(was->tables);
	rc = contend(&s, e, &c, err);
	if (rc == 0)
		take_winner(s.p, was, &c);
	tables_put(c.tables);
	if (rc != 0)
		plan_put(s.p);
	else
		*out = s.p;
	return rc;
}
