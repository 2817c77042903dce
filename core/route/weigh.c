/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/route/weigh.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/gauge/gauge.h"
#include "core/route/rivals.h"
#include "lib/error.h"

/* The rivals of an entry of `auto` are asked where the fullest link bears so much more than the
 * mean, or ends have several LIDs. */
#define RIVAL_EVEN 1.05

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
is_asked(const struct search *s, const struct chain_entry *e, size_t i)
{
	const struct fm_fabric *fab = &s->p->snap->fab;

	return (uint64_t)fab->n_ends * fab->n_links <= e->rival[i].most;
}

int
weigh_rivals(struct search *s, struct candidate *own, struct fm_error *err)
{
	const struct chain_entry *e = own->entry;
	struct contest all = {
		.of = { *own }, .n = 1, .route_ms = own->route_ms, .verify_ms = own->verify_ms
	};
	size_t best;
	int rc;

	if (e->n_rivals == 0 || !is_asked(s, e, e->n_rivals - 1))
		return 0;
	rc = rivals_measure(s->p->snap, &own->tables->t, s->r->workers, &all.is[0], err);
	if (rc != 0 ||
	    ((double)all.is[0].most <= RIVAL_EVEN * all.is[0].mean &&
		!gauge_has_several_lids(&s->p->snap->fab)))
		return rc;
	all.is[0].n_vls = own->verdict.vls;
	for (uint32_t i = 0; rc == 0 && i < e->n_rivals; i++)
		if (is_asked(s, e, i))
			rc = add_rival(s, &all, &e->rival[i].entry, err);
	if (all.n > 1)
		say_weighed(s->p, &all);
	best = rivals_choose(all.is, all.n);
	*own = all.of[best];
	own->route_ms = all.route_ms;
	own->verify_ms = all.verify_ms;
	all.of[best].tables = NULL;
	for (size_t i = 0; i < all.n; i++)
		tables_put(all.of[i].tables);
	return rc;
}
