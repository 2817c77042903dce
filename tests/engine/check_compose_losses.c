/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What regions lose and get back, however they are joined: cables, borders, gateways, what
 * held a region together, its last switch.  After each the whole is joined as well as from
 * nothing and proven by two judges, in as many entries as the loss is worth; when all is back
 * so are the tables.  And what composing remembers of the search before.
 */
#include "config.h"

#include "core/route/route.h"
#include "lib/bitset.h"
#include "lib/log.h"
#include "tests/engine/composed.h"
#include "tests/run.h"

static struct composed c;
static struct snapshot *whole; /* nothing is lost */
static uint64_t *out_links, *out_switches;
static uint32_t n_waiting; /* tables that were not taken up */

/* ------------------------------------------------------------------ places */

#define RUNG(x) (1u << PLAN_##x)

static const struct place {
	enum plan_join join;
	const char *name;
	/* a tree cut at tier 2; or a star, or a ring of those parts */
	const char *tree, *core, *ring, *part, *engine;
	unsigned skip;
	bool merged;
} places[] = {
	{ PLAN_FLAT, "flat", .tree = "pgft 3 2,3,3 1,2,2 1,1,1" },
	{ PLAN_ISLANDS, "islands", .core = "pgft 2 3,4 1,2 1,1", .part = "torus 4x3 1",
	    .engine = "updn" },
	{ PLAN_ISLANDS, "islands with SLs", .core = "pgft 2 3,4 1,2 1,1", .part = "torus 5x3 1",
	    .engine = "torus2qos" },
	{ PLAN_ISLANDS, "a merged core", .ring = "torus 3x3 1", .part = "torus 4x3 1",
	    .engine = "updn", .merged = true },
	{ PLAN_ISLANDS, "a merged core, SLs", .ring = "torus 3x3 1", .part = "torus 5x3 1",
	    .engine = "torus2qos", .merged = true },
	{ PLAN_WHOLE, "whole", .ring = "torus 3x3 1", .part = "torus 4x3 1", .engine = "updn",
	    .skip = RUNG(FLAT) | RUNG(ISLANDS) },
};
#define N_PLACES ((int)(sizeof(places) / sizeof(*places)))

static void
build(const struct place *p)
{
	struct part part[6];
	struct star star = { p->core, "fattree", p->part, p->engine, 2, 3, PICK_LEAF };

	if (p->tree != NULL)
		cut_tree(&c, p->tree, 2);
	else if (p->ring != NULL)
		make_ring(&c, p->ring, p->part, p->engine, part);
	else
		make_star(&c, &star);
	c.router.skip_joins = p->skip;
	look(&c);
	whole = snapshot_get(c.snap);
	out_links = calloc(FM_BITSET_WORDS(whole->fab.n_links) + 1, sizeof(*out_links));
	out_switches = calloc(FM_BITSET_WORDS(whole->fab.n_switches) + 1, sizeof(*out_switches));
}

static void
tear_down(void)
{
	snapshot_put(whole);
	free(out_links);
	free(out_switches);
	whole = NULL;
	composed_fini(&c);
}

/* The fabric without what is out. */
static void
look_again(void)
{
	struct snapshot_loss loss = { .links = out_links, .switches = out_switches };
	struct fm_error err = { 0 };

	snapshot_put(c.snap);
	ck_assert_int_eq(snapshot_without(whole, &loss, &c.snap, &err), 0);
}

/* ----------------------------------------------------------------- routing */

static struct plan *
plan_after(struct plan *prev)
{
	struct plan_request q = { .snap = c.snap,
		.chain = &c.region[0].chain,
		.regions = &c.set,
		.sw_region = c.sw_region,
		.prev = prev,
		.drain = PLAN_DRAIN_NEVER }; /* how tables are changed is judged elsewhere */
	struct fm_error err = { 0 };
	struct plan *p;

	ck_assert_msg(plan_make(&c.router, &q, &p, &err) == 0, "%s", err.msg);
	return p;
}

static void
route(void)
{
	struct plan *prev = c.plan;

	look_again();
	c.plan = plan_after(prev);
	plan_put(prev);
}

struct changes {
	uint32_t entries, blocks;
};

/* What is written to go from a to b, of LIDs that somebody has. */
static struct changes
changes_between(const struct plan *a, const struct plan *b)
{
	const struct fm_fabric *fab = &c.snap->fab;
	struct changes n = { 0 };

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 0, last = UINT32_MAX; lid <= fab->max_lid; lid++) {
			if (fab->lid_end[lid] == FM_NONE || fm_bit_test(out_switches, sw) ||
			    a->tables->t.lft[sw][lid] == b->tables->t.lft[sw][lid])
				continue;
			n.entries++;
			n.blocks += lid / 64 != last;
			last = lid / 64;
		}
	return n;
}

/* Entries of p that lead to what is out. */
static uint32_t
count_dead(const struct plan *p)
{
	const struct fm_fabric *was = &whole->fab, *now = &c.snap->fab;
	uint32_t n = 0;

	for (fm_sw sw = 0; sw < was->n_switches; sw++)
		for (fm_link l = was->sw_first_link[sw]; l < was->sw_first_link[sw + 1]; l++) {
			bool dead = fm_bit_test(out_links, l) ||
			    fm_bit_test(out_links, was->link_rev[l]) ||
			    fm_bit_test(out_switches, was->link_to[l]);

			for (uint32_t lid = 1;
			     dead && !fm_bit_test(out_switches, sw) && lid <= now->max_lid; lid++)
				n += now->lid_end[lid] != FM_NONE &&
				    p->tables->t.lft[sw][lid] == was->link_port[l];
		}
	return n;
}

/* Proven, and joined as well as from nothing. */
static void
expect_as_good(const char *what)
{
	struct plan *fresh = plan_after(NULL);

	check_plan(&c, what);
	ck_assert_msg(c.plan->verdict.reachable_pairs == fresh->verdict.reachable_pairs,
	    "%s: %llu pairs, from nothing %llu", what,
	    (unsigned long long)c.plan->verdict.reachable_pairs,
	    (unsigned long long)fresh->verdict.reachable_pairs);
	plan_put(fresh);
}

/* ------------------------------------------------------------------ losses */

enum loss {
	INNER_CABLE, /* within a region */
	INNER_SWITCH,
	BORDER,	    /* a cable to another region */
	GATEWAY,    /* a switch with such */
	TWO_PIECES, /* all that joins one half of a region with the other */
	BURST,
	LAST_SWITCH, /* half of a region, then all */
	N_LOSSES
};
static const char *const loss_names[] = { "a cable", "a switch", "a border", "a gateway",
	"two components", "a burst", "the last switch" };

static bool
crosses(fm_link l, fm_sw sw)
{
	return c.sw_region[sw] != c.sw_region[whole->fab.link_to[l]];
}

/* The first link, or the switch it is of, that leads out of a region, or does not. */
static fm_link
first_link(uint16_t region, bool out, fm_sw *sw)
{
	const struct fm_fabric *fab = &whole->fab;

	for (*sw = 0; *sw < fab->n_switches; (*sw)++)
		for (fm_link l = fab->sw_first_link[*sw]; l < fab->sw_first_link[*sw + 1]; l++)
			if (c.sw_region[*sw] == region && crosses(l, *sw) == out)
				return l;
	return FM_NONE; /* spines are not cabled to one another */
}

/* Is sw of the second half of its region? */
static bool
is_behind(fm_sw sw)
{
	uint32_t before = 0, n = 0;

	for (fm_sw u = 0; u < whole->fab.n_switches; u++) {
		n += c.sw_region[u] == c.sw_region[sw];
		before += u < sw && c.sw_region[u] == c.sw_region[sw];
	}
	return before * 2 >= n;
}

static void
cut_in_two(uint16_t region)
{
	const struct fm_fabric *fab = &whole->fab;

	for (fm_sw u = 0; u < fab->n_switches; u++)
		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++)
			if (c.sw_region[u] == region && !crosses(l, u) &&
			    is_behind(u) != is_behind(fab->link_to[l]))
				fm_bit_set(out_links, l);
}

static void
take_out(uint16_t region, bool all)
{
	for (fm_sw u = 0; u < whole->fab.n_switches; u++)
		if (c.sw_region[u] == region && (all || is_behind(u)))
			fm_bit_set(out_switches, u);
}

static void
lose(enum loss loss, uint16_t region, uint64_t seed)
{
	struct fm_rng rng;
	fm_link l;
	fm_sw sw;

	fm_rng_seed(&rng, seed);
	if (loss == TWO_PIECES) {
		cut_in_two(region);
	} else if (loss == LAST_SWITCH) {
		take_out(region, false);
	} else if (loss == BURST) {
		for (unsigned i = 0; i < 6; i++)
			fm_bit_set(out_links, fm_rng_below(&rng, whole->fab.n_links));
	} else {
		l = first_link(region, loss == BORDER || loss == GATEWAY, &sw);
		if (l == FM_NONE)
			return;
		if (loss == INNER_CABLE || loss == BORDER)
			fm_bit_set(out_links, l);
		else
			fm_bit_set(out_switches, loss == GATEWAY ? sw : whole->fab.link_to[l]);
	}
}

static void
get_back(void)
{
	memset(out_links, 0, FM_BITSET_WORDS(whole->fab.n_links) * sizeof(*out_links));
	memset(out_switches, 0, FM_BITSET_WORDS(whole->fab.n_switches) * sizeof(*out_switches));
}

/* What is written is in proportion: hardly more than what tables from nothing differ by, and for
 * one cable within a region at most two thirds of all blocks. */
static void
expect_few_changes(struct plan *nominal, enum loss loss, const char *what)
{
	const struct fm_fabric *fab = &c.snap->fab;
	struct plan *fresh = plan_after(NULL);
	struct changes n = changes_between(nominal, c.plan);
	struct changes most = changes_between(nominal, fresh);

	if (getenv("FMD_TELL") != NULL)
		printf("%s%s: %u entries, %u blocks, of %u dead; from nothing %u, %u\n", what,
		    c.plan->made == PLAN_REPAIRED ? " (repaired)" : "", n.entries, n.blocks,
		    count_dead(nominal), most.entries, most.blocks);
	ck_assert_uint_le(n.entries * 2, most.entries * 3);
	if (loss == INNER_CABLE)
		ck_assert_uint_le(n.blocks * 3, fab->n_switches * (fab->max_lid / 64u + 1) * 2);
	plan_put(fresh);
}

/* All is back: so are the tables, unless no order of writing them is free of deadlocks. */
static void
expect_nominal(struct plan *nominal, const char *what)
{
	check_plan(&c, what);
	finish_going_back(&c);
	check_plan(&c, what);
	if (c.plan->change.waiting[0] == '\0' && c.plan->change.n_kept_old == 0) {
		ck_assert_msg(
		    same_tables(&c, c.plan, nominal), "%s: not as before when all is back", what);
		return;
	}
	n_waiting++;
	plan_put(c.plan);
	c.plan = plan_get(nominal);
}

static void
one_loss(enum loss loss, uint16_t region)
{
	struct plan *nominal = plan_get(c.plan);
	char what[96];

	snprintf(what, sizeof(what), "%s of region %u lost", loss_names[loss], region);
	lose(loss, region, 7 + (uint64_t)loss);
	route();
	expect_as_good(what);
	expect_few_changes(nominal, loss, what);
	tell(&c, what);
	if (loss == LAST_SWITCH) {
		take_out(region, true);
		route();
		expect_as_good(what);
	}
	get_back();
	route();
	expect_nominal(nominal, what);
	plan_put(nominal);
}

/* Repaired as far as may be, then all composed anew.  Which regions: a leaf of the ring and,
 * where these are one, of the core too. */
START_TEST(losses)
{
	const struct place *p = &places[_i % N_PLACES];
	bool repaired = _i < N_PLACES;

	build(p);
	if (!repaired && p->join == PLAN_WHOLE)
		return; /* regions are not what is composed */
	if (!repaired)
		repair_nothing(&c);
	c.router.check_repairs = true;
	route();
	check_plan(&c, p->name);
	tell(&c, p->name);
	ck_assert_int_eq(c.plan->regions->join, p->join);
	for (enum loss loss = 0; loss < N_LOSSES; loss++)
		for (uint16_t region = 0; region < c.set.n_regions; region++)
			if (region == (uint16_t)(c.set.n_regions - 1) || region == 0)
				one_loss(loss, region);
	ck_assert_uint_le(n_waiting, 6);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("compose_losses");
	TCase *t = tcase_create("compose_losses");

	if (!load_engines())
		return 1;
	suite_add_tcase(s, t);
	tcase_set_timeout(t, 300); /* with sanitizers, beside other work */
	tcase_add_checked_fixture(t, NULL, tear_down);
	tcase_add_loop_test(t, losses, 0, 2 * N_PLACES);
	return run_suite(s);
}
