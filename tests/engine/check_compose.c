/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of one fabric, each by its own engine: is the whole right?
 *
 * Verify judges in the code under test; walk_tables() of composed.h judges it here, by
 * taking every packet hop by hop.  FMD_LONG=1 makes 2,000 random compositions of 150,
 * FMD_SEED=n one of them; FMD_TELL=1 prints what became of each.
 */
#include "config.h"

#include "tests/engine/composed.h"
#include "tests/run.h"

static unsigned
used_sls(const struct composed *c)
{
	return count_sls(c->snap, &c->plan->tables->t);
}

/* ------------------------------------------------------- the counterexample */

START_TEST(a_cycle_of_trees)
{
	struct composed c;

	four_switches(&c, 2);
	route_composed(&c);
	tell(&c, "four switches");
	check_plan(&c, "four switches");
	ck_assert(is_refused(&c, "flat", "credit loop"));
	ck_assert_int_eq(c.plan->regions->join, PLAN_ISLANDS);
	ck_assert_uint_eq(c.plan->verdict.vls, 2);
	composed_fini(&c);
}
END_TEST

/* The flat tables do have the cycle: both judges see it. */
START_TEST(the_cycle_is_there)
{
	struct composed c;
	struct walked w;

	four_switches(&c, 1);
	c.router.skip_joins = 1u << PLAN_ISLANDS;
	for (uint32_t i = 0; i < 2; i++)
		c.region[i].chain.allow_credit_loops = true;
	route_composed(&c);
	ck_assert_int_eq(c.plan->regions->join, PLAN_FLAT);
	ck_assert_uint_gt(c.plan->verdict.credit_loops, 0);
	w = walk_tables(c.snap, &c.plan->tables->t, true, NULL);
	ck_assert_uint_eq(w.lost, 0);
	ck_assert_uint_gt(w.on_cycles, 0);
	composed_fini(&c);
}
END_TEST

/* -------------------------------------------------------------------- stars */

static const struct {
	struct star star;
	unsigned vls, sls; /* at most */
} stars[] = {
	{ { "pgft 2 4,4 1,4 1,1", "fattree", "mesh 3x2 1", "updn", 16, 2, PICK_LEAF }, 2, 2 },
	{ { "pgft 2 4,4 1,4 1,1", "fattree", "torus 3x3 1", "updn", 4, 2, PICK_LEAF }, 2, 2 },
	{ { "pgft 2 4,4 1,2 1,1", "fattree", "torus 5x5 1", "torus2qos", 2, 3, PICK_LEAF }, 3, 5 },
	{ { "pgft 2 4,4 1,2 1,1", "fattree", "torus 5x5 1", "torus2qos", 3, 2, PICK_LEAF }, 3, 5 },
	{ { "pgft 2 4,4 1,2 1,1", "fattree", "torus 5x5 1", "torus2qos", 5, 2, PICK_LEAF }, 3, 5 },
	{ { "pgft 2 4,4 1,2 1,1", "fattree", "torus 5x5 1", "torus2qos", 1, 3, PICK_LEAF }, 3, 5 },
	{ { "pgft 2 4,4 1,2 1,1", "fattree", "random 8 3 1 3", "lash", 4, 2, PICK_LEAF }, 3, 3 },
	{ { "pgft 2 4,4 1,4 1,1", "fattree", "torus 5x5 1", "torus2qos", 2, 4, PICK_SPINE }, 3, 5 },
};

START_TEST(islands_round_a_core)
{
	struct composed c;
	char what[96];

	snprintf(what, sizeof(what), "%u x %s", stars[_i].star.n_islands, stars[_i].star.island);
	make_star(&c, &stars[_i].star);
	c.router.skip_joins = 1u << PLAN_FLAT;
	c.set.replies = REPLIES_REQUIRE;
	route_composed(&c);
	tell(&c, what);
	check_plan(&c, what);
	ck_assert_int_eq(c.plan->regions->join, PLAN_ISLANDS);
	ck_assert(!c.plan->forward_only);
	ck_assert_uint_le(c.plan->verdict.vls, stars[_i].vls);
	ck_assert_uint_le(used_sls(&c), stars[_i].sls);
	ck_assert_str_eq(c.plan->regions->region[1].engine, stars[_i].star.island_engine);
	composed_fini(&c);
}
END_TEST

/* A tree of three levels beside storage on some of its spines.  From these there is no legal way
 * to the other spines' own LIDs: that refuses no engine, and ways are found all the same. */
START_TEST(spines_need_no_way_to_spines)
{
	struct composed c;
	struct part storage;
	uint32_t n = 0;

	composed_init(&c, 2);
	add_region(&c, "fattree,updn");
	add_part(&c, "pgft 3 4,4,3 1,2,2 1,2,1", 0);
	storage = add_part(&c, "hyperx 3 6", add_region(&c, "minhop,updn"));
	for (uint32_t node = 0; node < storage.first && n < 3; node++)
		if (c.nl.nodes[node].type == NETLIST_SWITCH && tier_of(&c, node) == 2)
			join_nodes(&c, node, pick_switch(&c, storage, PICK_ANY, n++));
	route_composed(&c);
	tell(&c, "a tree of three levels beside storage");
	check_plan(&c, "a tree of three levels beside storage");
	ck_assert_str_eq(c.plan->regions->region[0].engine, "fattree");
	ck_assert_int_eq(c.plan->regions->join, PLAN_FLAT);
	ck_assert_uint_eq(c.plan->verdict.vls, 1);
	composed_fini(&c);
}
END_TEST

/* Four meshes, each on a spine of its own: a tree has no way from spine to spine. */
START_TEST(spines_apart)
{
	static const struct star star = { "pgft 2 4,4 1,4 1,1", "fattree", "mesh 3x2 1", "updn", 4,
		1, PICK_SPINE };
	const struct plan_region *core;
	struct composed c;

	make_star(&c, &star);
	route_composed(&c);
	tell(&c, "spines apart");
	check_plan(&c, "spines apart");
	core = &c.plan->regions->region[0];
	ck_assert_str_ne(core->engine, "fattree");
	ck_assert_str_ne(core->engine, "");
	ck_assert_uint_gt(core->refused.n, 0);
	ck_assert_ptr_nonnull(strstr(core->refused.item[0].reason, "no route"));
	composed_fini(&c);
}
END_TEST

/* --------------------------------------------------------------- fat trees */

/* The busiest of the links between regions, as a multiple of their mean. */
static double
congestion(const struct composed *c)
{
	const struct fm_fabric *fab = &c->snap->fab;
	uint32_t *load = calloc(fab->n_links + 1, sizeof(*load)), most = 0, n = 0;
	uint64_t sum = 0;

	walk_tables(c->snap, &c->plan->tables->t, false, load);
	for (fm_sw u = 0; u < fab->n_switches; u++)
		for (fm_link l = fab->sw_first_link[u]; l < fab->sw_first_link[u + 1]; l++)
			if (c->sw_region[u] != c->sw_region[fab->link_to[l]]) {
				most = load[l] > most ? load[l] : most;
				sum += load[l];
				n++;
			}
	free(load);
	return (double)most * n / (double)sum;
}

START_TEST(pods_and_cores)
{
	struct composed c;

	cut_tree(
	    &c, _i == 0 ? "pgft 3 4,4,4 1,4,4 1,1,1" : "pgft 3 6,4,4 1,3,2 1,2,2", _i == 2 ? 1 : 2);
	c.set.replies = REPLIES_REQUIRE;
	route_composed(&c);
	tell(&c, "pods and cores");
	check_plan(&c, "pods and cores");
	ck_assert_int_eq(c.plan->regions->join, PLAN_FLAT);
	ck_assert_int_eq(c.plan->tables->t.sl_shape, FM_SL_ZERO);
	ck_assert_uint_eq(c.plan->verdict.vls, 1);
	ck_assert_uint_eq(used_sls(&c), 1);
	if (getenv("FMD_TELL") != NULL)
		printf("    congestion=%.2f\n", congestion(&c));
	ck_assert_msg(congestion(&c) < 1.35, "congestion %.2f", congestion(&c));
	composed_fini(&c);
}
END_TEST

/* Tori beside a tree that is cut itself: what they hang on is no component by itself, and the
 * tree's parts are a core together. */
static const struct {
	const char *tree, *torus, *engine;
	unsigned cut, n_tori, n_cables;
	enum pick at;
	unsigned vls, sls;
} beside[] = {
	{ "pgft 3 4,4,4 1,4,4 1,1,1", "torus 5x5 1", "torus2qos", 2, 1, 5, PICK_LEAF, 3, 5 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", "torus 5x5 1", "torus2qos", 2, 3, 4, PICK_LEAF, 3, 5 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", "torus 4x4 2", "updn", 2, 2, 4, PICK_LEAF, 2, 2 },
	{ "pgft 3 6,4,4 1,3,2 1,2,2", "torus 5x5 1", "torus2qos", 2, 2, 4, PICK_LEAF, 3, 5 },
	{ "pgft 3 6,4,4 1,3,2 1,2,2", "random 8 3 1 3", "lash", 1, 2, 3, PICK_LEAF, 3, 3 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", "mesh 4x4 1", "updn", 2, 3, 4, PICK_LEAF, 2, 2 },
};

static void
make_beside(struct composed *c, int i)
{
	struct part tree, torus;

	cut_tree(c, beside[i].tree, beside[i].cut);
	tree = (struct part){ 0, c->nl.n_nodes };
	for (unsigned t = 0; t < beside[i].n_tori; t++) {
		torus = add_part(c, beside[i].torus, add_region(c, beside[i].engine));
		for (unsigned j = 0; j < beside[i].n_cables; j++)
			join_nodes(c, pick_switch(c, tree, beside[i].at, t * 2 + j * 5),
			    pick_switch(c, torus, PICK_ANY, j * 7));
	}
}

START_TEST(islands_round_several_pieces)
{
	struct composed c;
	char what[96];

	snprintf(what, sizeof(what), "%u x %s beside %s", beside[_i].n_tori, beside[_i].torus,
	    beside[_i].tree);
	make_beside(&c, _i);
	c.set.replies = REPLIES_REQUIRE;
	route_composed(&c);
	tell(&c, what);
	check_plan(&c, what);
	ck_assert_int_eq(c.plan->regions->join, PLAN_ISLANDS);
	ck_assert(!c.plan->forward_only);
	ck_assert_uint_le(c.plan->verdict.vls, beside[_i].vls);
	ck_assert_uint_le(used_sls(&c), beside[_i].sls);
	if (beside[_i].cut == 2) /* else the upper part has no hosts to tell its tiers by */
		ck_assert_str_eq(c.plan->regions->region[0].engine, "fattree");
	ck_assert_str_eq(c.plan->regions->region[2].engine, beside[_i].engine);
	composed_fini(&c);
}
END_TEST

/* A ring of regions, and on two of them another: that cannot be joined so that replies are
 * safe, as it is cut.  With the ring as one region the two keep their engine. */
START_TEST(islands_round_a_merged_core)
{
	struct composed c;
	struct part part[6];

	make_ring(&c, "torus 4x3 1", "torus 5x5 1", "torus2qos", part);
	route_composed(&c);
	tell(&c, "islands round a merged core");
	check_plan(&c, "islands round a merged core");
	ck_assert(is_refused(&c, "islands", "are routed as one core"));
	ck_assert_int_eq(c.plan->regions->join, PLAN_ISLANDS);
	ck_assert(!c.plan->forward_only);
	ck_assert_uint_le(c.plan->verdict.vls, 3);
	ck_assert_uint_le(used_sls(&c), 5);
	/* of the ring one more can be an island: without it the others still hang together */
	for (uint32_t i = 0; i < 6; i++) {
		const struct plan_region *r = &c.plan->regions->region[i];
		bool in_core = i == 0 || i == 2 || i == 3;

		if (i >= 4)
			ck_assert_str_eq(r->engine, "torus2qos");
		ck_assert_int_eq(
		    strcmp(r->engine, c.plan->regions->region[0].engine) == 0, in_core);
	}
	composed_fini(&c);
}
END_TEST

/* A long row of switches, cabled at one end: who is last there carries nearly all. */
START_TEST(the_busiest_cable_is_told)
{
	struct composed c;
	struct part tree, row;
	uint32_t *load, most[2] = { 0 };
	uint64_t sum[2] = { 0 };
	fm_sw last;
	double times;

	composed_init(&c, 2);
	add_region(&c, "fattree");
	tree = add_part(&c, "pgft 2 4,4 1,4 1,1", 0);
	row = add_part(&c, "mesh 24 1", add_region(&c, "updn"));
	for (uint32_t i = 0; i < 4; i++)
		join_nodes(
		    &c, pick_switch(&c, tree, PICK_LEAF, i), pick_switch(&c, row, PICK_ANY, i));
	c.router.skip_joins = 1u << PLAN_FLAT;
	route_composed(&c);
	ck_assert_int_eq(c.plan->regions->join, PLAN_ISLANDS);
	load = calloc(c.snap->fab.n_links + 1, sizeof(*load));
	walk_tables(c.snap, &c.plan->tables->t, false, load);
	for (fm_sw u = 0; u < c.snap->fab.n_switches; u++)
		for (fm_link l = c.snap->fab.sw_first_link[u]; l < c.snap->fab.sw_first_link[u + 1];
		     l++) {
			bool in = c.sw_region[u] == 0;

			if (c.sw_region[u] == c.sw_region[c.snap->fab.link_to[l]])
				continue;
			sum[in] += load[l];
			most[in] = load[l] > most[in] ? load[l] : most[in];
		}
	free(load);
	last =
	    fm_hash_find(&c.snap->sw_by_guid, c.nl.nodes[pick_switch(&c, row, PICK_ANY, 3)].guid);
	times = most[0] * 4.0 / (double)sum[0];
	if (most[1] * 4.0 / (double)sum[1] > times)
		times = most[1] * 4.0 / (double)sum[1];
	ck_assert_double_eq_tol(c.plan->regions->region[1].busiest.times, times, 1e-9);
	ck_assert_double_gt(times, PLAN_CONGESTED);
	ck_assert_uint_eq(c.plan->regions->region[1].busiest.sw, last);
	composed_fini(&c);
}
END_TEST

/* Names of engines that do not fit are counted. */
START_TEST(many_engines_are_named)
{
	static const char *const parts[][2] = { { "updn", "mesh 3x2 1" }, { "dnup", "mesh 3x2 1" },
		{ "minhop", "mesh 3x2 1" }, { "lash", "mesh 3x2 1" }, { "nue", "mesh 3x2 1" },
		{ "dfsssp", "mesh 3x2 1" }, { "sssp", "mesh 3x2 1" }, { "dor", "mesh 3x2 1" },
		{ "torus2qos", "mesh 3x2 1" }, { "fattree", "pgft 2 3,3 1,2 1,1" },
		{ "hyperx", "hyperx 3x2 1" }, { "dragonfly", "dragonfly 2 1 1" } };
	const uint32_t n_parts = sizeof(parts) / sizeof(*parts);
	struct composed c;
	struct part core = { 0 }, part;
	unsigned more = 0;
	size_t n = 1, n_used = 0;

	composed_init(&c, 2);
	for (uint32_t i = 0; i < n_parts; i++) {
		part = add_part(&c, parts[i][1], add_region(&c, parts[i][0]));
		if (i > 0)
			join_nodes(&c, pick_switch(&c, core, PICK_ANY, i),
			    pick_switch(&c, part, PICK_ANY, 0));
		else
			core = part;
	}
	route_composed(&c);
	tell(&c, "many engines");
	check_plan(&c, "many engines");
	for (uint32_t i = 0; i < n_parts; i++) {
		uint32_t j = 0;

		while (strcmp(c.plan->regions->region[i].engine,
			   c.plan->regions->region[j].engine) != 0)
			j++;
		n_used += j == i;
	}
	for (const char *at = c.plan->engine; (at = strchr(at, '+')) != NULL; n++)
		if (sscanf(++at, "%u more", &more) == 1)
			n--;
	ck_assert_uint_gt(more, 0);
	ck_assert_uint_eq(n + more, n_used);
	composed_fini(&c);
}
END_TEST

/* Is every channel that a cycle passes between switches of region 1? */
static bool
all_within(const struct composed *c)
{
	const uint16_t *within = c->plan->regions->loops_within;

	for (fm_sw sw = 0; sw < c->snap->fab.n_switches; sw++)
		if ((within[sw] != 0) != (c->sw_region[sw] == 1))
			return false;
	return true;
}

/* A torus by shortest paths beside a tree: it may have its credit loops, and keeps its
 * engine; not without leave.  What is kept of it is not routed again. */
START_TEST(credit_loops_of_one_region)
{
	static const struct star star = { "pgft 2 4,4 1,4 1,1", "fattree", "torus 5x5 1", "minhop",
		1, 2, PICK_LEAF };
	struct composed c;
	struct walked w;

	make_star(&c, &star);
	route_composed(&c);
	ck_assert_str_ne(c.plan->regions->region[1].engine, "minhop");
	ck_assert_uint_eq(c.plan->verdict.credit_loops, 0);
	ck_assert_ptr_null(c.plan->regions->loops_within);
	plan_put(c.plan);
	c.plan = NULL;
	c.region[1].chain.allow_credit_loops = true;
	route_composed(&c);
	tell(&c, "credit loops of one region");
	ck_assert_str_eq(c.plan->regions->region[0].engine, "fattree");
	ck_assert_str_eq(c.plan->regions->region[1].engine, "minhop");
	ck_assert_uint_gt(c.plan->verdict.credit_loops, 0);
	ck_assert_uint_eq(c.plan->verdict.credit_loops, c.plan->verdict.loops_allowed);
	ck_assert(all_within(&c));
	w = walk_tables(c.snap, &c.plan->tables->t, true, NULL);
	ck_assert_uint_eq(w.lost, 0);
	ck_assert_uint_gt(w.on_cycles, 0);
	route_composed(&c);
	ck_assert(c.plan->made == PLAN_KEPT);
	ck_assert_str_eq(c.plan->regions->region[1].engine, "minhop");
	composed_fini(&c);
}
END_TEST

/* One that goes through both regions is neither's own. */
START_TEST(credit_loops_across_regions)
{
	struct composed c;

	four_switches(&c, 2);
	c.region[1].chain.allow_credit_loops = true;
	route_composed(&c);
	ck_assert(is_refused(&c, "flat", "credit loop"));
	check_plan(&c, "a loop through two regions");
	composed_fini(&c);
}
END_TEST

/* Fat trees whose leaves are joined by the leaves of another. */
START_TEST(trees_on_a_spine)
{
	struct composed c;
	struct part spine, tree;

	composed_init(&c, 2);
	add_region(&c, "fattree");
	spine = add_part(&c, "pgft 2 1,4 1,4 1,1", 0);
	for (uint32_t i = 0; i < 4; i++) {
		tree = add_part(&c, "pgft 2 3,4 1,3 1,1", add_region(&c, "fattree"));
		for (uint32_t j = 0; j < 3; j++)
			join_nodes(&c, pick_switch(&c, tree, PICK_SPINE, j),
			    pick_switch(&c, spine, PICK_LEAF, i));
	}
	route_composed(&c);
	tell(&c, "trees on a spine");
	check_plan(&c, "trees on a spine");
	ck_assert_int_eq(c.plan->regions->join, PLAN_FLAT);
	ck_assert_uint_eq(c.plan->verdict.vls, 1);
	composed_fini(&c);
}
END_TEST

/* ---------------------------------------------------------------- at random */

static const char *const shapes[] = { "pgft 2 3,3 1,2 1,1", "pgft 2 2,3 1,3 1,1", "torus 3x3 1",
	"torus 4x3 1", "mesh 3x3 1", "mesh 4 1", "hypercube 3 1", "hyperx 3x2 1", "random 8 3 1 4",
	"random 6 3 1 9", "mesh 2 1", "hyperx 4 1", "dragonfly 2 1 1" };
static const char *const choices[] = { "updn", "fattree,updn", "minhop", "lash", "nue", "dfsssp",
	"torus2qos,updn", "dor", "hyperx,nue", "dnup", "sssp" };
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))
#define N_CHOICES (sizeof(choices) / sizeof(*choices))

/* Regions that are one part each, joined as a random tree and some more. */
static void
random_parts(struct composed *c, struct fm_rng *rng, uint32_t n)
{
	struct part part[MOST_REGIONS];
	uint32_t extra = fm_rng_below(rng, n + 1);

	for (uint32_t i = 0; i < n; i++)
		part[i] = add_part(c, shapes[fm_rng_below(rng, N_SHAPES)],
		    add_region(c, choices[fm_rng_below(rng, N_CHOICES)]));
	for (uint32_t i = 1; i < n + extra; i++) {
		uint32_t a = i < n ? i : fm_rng_below(rng, n);
		uint32_t b = i < n ? fm_rng_below(rng, i) : fm_rng_below(rng, n);

		for (uint32_t j = 1 + fm_rng_below(rng, 3); a != b && j > 0; j--)
			join_nodes(c, pick_switch(c, part[a], PICK_ANY, fm_rng_below(rng, 99)),
			    pick_switch(c, part[b], PICK_ANY, fm_rng_below(rng, 99)));
	}
}

/* One graph whose switches belong to any region: many components, rings of them. */
static void
random_labels(struct composed *c, struct fm_rng *rng, uint32_t n)
{
	char words[64];
	struct part all;

	snprintf(words, sizeof(words), "random %u %u 1 %u", 16 + fm_rng_below(rng, 24),
	    3 + fm_rng_below(rng, 2) * 3, fm_rng_below(rng, 1000));
	for (uint32_t i = 0; i < n; i++)
		add_region(c, choices[fm_rng_below(rng, 5)]);
	all = add_part(c, words, 0);
	for (uint32_t i = all.first; i < all.first + all.n; i++)
		c->region_of.item[i] = (uint16_t)fm_rng_below(rng, n);
}

#define N_SEEDS 150
#define N_LONG 2000

static uint32_t n_joins[PLAN_WHOLE + 1];

static void
one_composition(uint64_t seed)
{
	struct composed c;
	struct fm_rng rng;
	char what[64];

	fm_rng_seed(&rng, seed);
	composed_init(&c, 1);
	if (seed % 3 == 0)
		random_labels(&c, &rng, 2 + fm_rng_below(&rng, 3));
	else
		random_parts(&c, &rng, 2 + fm_rng_below(&rng, seed % 10 == 1 ? 29 : 5));
	c.set.replies = (int)fm_rng_below(&rng, 3);
	c.set.reserved_sls = seed % 7 == 0 ? 0x8001 : 0;
	c.lmc = seed % 11 == 0;
	snprintf(what, sizeof(what), "seed %llu", (unsigned long long)seed);
	route_composed(&c);
	tell(&c, what);
	check_plan(&c, what);
	n_joins[c.plan->regions != NULL ? c.plan->regions->join : 0]++;
	composed_fini(&c);
}

START_TEST(random_compositions)
{
	uint32_t n = getenv("FMD_LONG") != NULL ? N_LONG : N_SEEDS;

	if (getenv("FMD_SEED") != NULL && _i == 0)
		one_composition(strtoull(getenv("FMD_SEED"), NULL, 10));
	if (getenv("FMD_SEED") != NULL)
		return;
	for (uint32_t i = (uint32_t)_i; i < n; i += 10)
		one_composition(i + 1);
	if (getenv("FMD_TELL") != NULL)
		printf("flat %u islands %u whole %u\n", n_joins[PLAN_FLAT],
		    n_joins[PLAN_ISLANDS], n_joins[PLAN_WHOLE]);
}
END_TEST

/* ------------------------------------------------------------------- suite */

static Suite *
compose_suite(void)
{
	Suite *s = suite_create("compose");
	TCase *t = tcase_create("compose");

	suite_add_tcase(s, t);
	tcase_set_timeout(t, getenv("FMD_LONG") != NULL ? 3600 : 60);
	tcase_add_test(t, a_cycle_of_trees);
	tcase_add_test(t, the_cycle_is_there);
	tcase_add_loop_test(t, islands_round_a_core, 0, sizeof(stars) / sizeof(*stars));
	tcase_add_test(t, spines_need_no_way_to_spines);
	tcase_add_test(t, spines_apart);
	tcase_add_loop_test(t, pods_and_cores, 0, 3);
	tcase_add_loop_test(t, islands_round_several_pieces, 0, sizeof(beside) / sizeof(*beside));
	tcase_add_test(t, islands_round_a_merged_core);
	tcase_add_test(t, the_busiest_cable_is_told);
	tcase_add_test(t, many_engines_are_named);
	tcase_add_test(t, credit_loops_of_one_region);
	tcase_add_test(t, credit_loops_across_regions);
	tcase_add_test(t, trees_on_a_spine);
	tcase_add_loop_test(t, random_compositions, 0, 10);
	return s;
}

int
main(void)
{
	return load_engines() ? run_suite(compose_suite()) : 1;
}
