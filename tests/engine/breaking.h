/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/engine/breaking.h - a fabric whose cables and switches go and come back, by seed,
 * and courses of plans that follow it.
 */
#ifndef TESTS_ENGINE_BREAKING_H
#define TESTS_ENGINE_BREAKING_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/plugin.h"
#include "core/plan/plan.h"
#include "core/repair/repair.h"
#include "core/route/route.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/engine/routed.h"

#undef fail /* check.h has an old macro of this name */

#define MOST_BURST 50

static struct engine_set set;
static char error_logged[512];

static inline void
hear(void *arg, enum fm_log_level level, const char *subsystem, const char *text)
{
	if (getenv("FMD_REPAIR_TELL") != NULL)
		printf("%s\n", text);
	if (level == FM_LOG_ERR && error_logged[0] == '\0')
		snprintf(error_logged, sizeof(error_logged), "%s", text);
}

static inline const struct fm_engine *
engine_named(const char *name)
{
	for (uint32_t i = 0; i < set.n_engines; i++)
		if (strcmp(set.engines[i].engine->name, name) == 0)
			return set.engines[i].engine;
	ck_abort_msg("no engine %s", name);
	return NULL;
}

static const char *const tree_engines[] = { "fattree", "minhop", "updn" };

/* ------------------------------------------------------------ a fabric that breaks */

struct breaking {
	struct snapshot *whole, *now;
	uint64_t *links, *switches; /* bits: gone */
	struct fm_rng rng;
	uint32_t n_gone;
};

static inline void
breaking_init(struct breaking *b, const char *words, uint64_t seed)
{
	struct fabric f = { .words = words };

	memset(b, 0, sizeof(*b));
	b->whole = make(&f, false);
	b->now = snapshot_get(b->whole);
	b->links = calloc(b->whole->fab.n_links / 64 + 1, 8);
	b->switches = calloc(b->whole->fab.n_switches / 64 + 1, 8);
	fm_rng_seed(&b->rng, seed);
}

static inline void
breaking_fini(struct breaking *b)
{
	snapshot_put(b->whole);
	snapshot_put(b->now);
	free(b->links);
	free(b->switches);
}

static inline void
look(struct breaking *b)
{
	struct snapshot_loss loss = { .links = b->links, .switches = b->switches };
	struct fm_error err = { 0 };

	snapshot_put(b->now);
	ck_assert_int_eq(snapshot_without(b->whole, &loss, &b->now, &err), 0);
}

static inline void
lose_link(struct breaking *b)
{
	fm_bit_set(b->links, fm_rng_below(&b->rng, b->whole->fab.n_links));
	b->n_gone++;
}

static inline void
lose_switch(struct breaking *b)
{
	fm_bit_set(b->switches, fm_rng_below(&b->rng, b->whole->fab.n_switches));
	b->n_gone++;
}

/* About half of what is gone is back, or all. */
static inline void
give_back(struct breaking *b, bool all)
{
	FM_EACH_BIT (l, b->links, b->whole->fab.n_links)
		if (all || fm_rng_below(&b->rng, 2) == 0)
			fm_bit_clear(b->links, l);
	FM_EACH_BIT (s, b->switches, b->whole->fab.n_switches)
		if (all || fm_rng_below(&b->rng, 2) == 0)
			fm_bit_clear(b->switches, s);
	b->n_gone = (uint32_t)(fm_bit_count(b->links, b->whole->fab.n_links) +
	    fm_bit_count(b->switches, b->whole->fab.n_switches));
}

enum { LINK, SWITCH, BURST, BACK, ALL_BACK, N_KINDS };

static inline int
draw_kind(struct breaking *b)
{
	uint32_t x = fm_rng_below(&b->rng, 10);

	if (b->n_gone > 60)
		return ALL_BACK;
	return x < 5 ? LINK : x < 7 ? SWITCH : x < 8 ? BURST : x < 9 ? BACK : ALL_BACK;
}

static inline void
happen(struct breaking *b, int kind)
{
	uint32_t n = kind == BURST ? 2 + fm_rng_below(&b->rng, MOST_BURST / 4) : 1;

	for (uint32_t i = 0; i < n && kind <= BURST; i++)
		if (kind == SWITCH || (kind == BURST && i % 8 == 7))
			lose_switch(b);
		else
			lose_link(b);
	if (kind >= BACK)
		give_back(b, kind == ALL_BACK);
	look(b);
}

/* ----------------------------------------------------------------- plans */

struct course {
	struct router router;
	struct chain chain;
	struct chain_entry entry;
	struct plan *plan, *first;
};

static inline void
course_init(struct course *c, const char *engine, unsigned n_workers)
{
	struct fm_error err = { 0 };

	memset(c, 0, sizeof(*c));
	ck_assert_int_eq(router_init(&c->router, n_workers, &err), 0);
	c->router.check_repairs = true;
	c->entry = (struct chain_entry){ .engine = engine_named(engine), .name = engine };
	c->chain = (struct chain){ .entries = &c->entry,
		.n_entries = 1,
		.fallback = true,
		.allow_credit_loops = strcmp(engine, "minhop") == 0 };
}

static inline struct plan *
plan_for(struct course *c, struct snapshot *snap, bool anew)
{
	struct plan_request q = {
		.snap = snap, .chain = &c->chain, .prev = c->plan, .anew = anew, .linger_ms = 1000
	};
	struct fm_error err = { 0 };
	struct plan *p;

	ck_assert_msg(plan_make(&c->router, &q, &p, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(p->tables);
	return p;
}

static inline void
go_on(struct course *c, struct plan *p)
{
	plan_put(c->plan);
	c->plan = p;
	if (c->first == NULL || p->made == PLAN_ROUTED) { /* routed anew: that is nominal now */
		plan_put(c->first);
		c->first = plan_get(p);
	}
}

/* As the daemon does after each sweep. */
static inline void
prepare(struct course *c)
{
	struct fm_error err = { 0 };

	ck_assert_msg(repair_prepare(&c->router, c->plan, &err) == 0, "%s", err.msg);
}

static inline void
course_fini(struct course *c)
{
	plan_put(c->plan);
	plan_put(c->first);
	router_fini(&c->router);
}

static inline void
assert_same_rows(const struct plan *a, const struct plan *b, uint32_t n_lids, const char *what)
{
	for (fm_sw s = 0; s < a->snap->fab.n_switches; s++)
		for (uint32_t lid = 1; lid < n_lids; lid++)
			ck_assert_msg(a->tables->t.lft[s][lid] == b->tables->t.lft[s][lid],
			    "%s: switch %u LID %u: port %u, not %u", what, s, lid,
			    a->tables->t.lft[s][lid], b->tables->t.lft[s][lid]);
}

/* As many pairs as a fresh route joins, and no more switches without a way. */
static inline void
assert_well_connected(struct course *c, const struct plan *p, const char *what)
{
	struct plan *fresh = plan_for(c, p->snap, true);

	ck_assert_msg(p->verdict.reachable_pairs == fresh->verdict.reachable_pairs &&
		p->verdict.unreachable_pairs == fresh->verdict.unreachable_pairs &&
		p->verdict.disjoint_pairs == fresh->verdict.disjoint_pairs,
	    "%s: %lu pairs, %lu lost, %lu apart; anew %lu, %lu, %lu", what,
	    p->verdict.reachable_pairs, p->verdict.unreachable_pairs, p->verdict.disjoint_pairs,
	    fresh->verdict.reachable_pairs, fresh->verdict.unreachable_pairs,
	    fresh->verdict.disjoint_pairs);
	ck_assert_msg(p->verdict.switch_pairs_unrouted <=
		fresh->verdict.switch_pairs_unrouted + fresh->verdict.switch_pairs_unrouted / 10,
	    "%s: %lu switch pairs lack a way, anew %lu", what, p->verdict.switch_pairs_unrouted,
	    fresh->verdict.switch_pairs_unrouted);
	plan_put(fresh);
}

/* All engines, and what is logged; false: they cannot be loaded. */
static inline bool
breaking_begin(void)
{
	const char *dirs[] = { "plugins/engines/.libs", NULL };
	struct fm_error err = { 0 };

	if (engine_set_load(&set, dirs, &err) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		return false;
	}
	fm_log_set_sink(hear, NULL);
	if (getenv("FMD_REPAIR_TELL") != NULL)
		fm_log_set_debug("route");
	return true;
}

#endif
