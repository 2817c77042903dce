/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random events on eight fabrics, five of them with regions, two of those with a merged core:
 * cables, switches and hosts, bursts of 1 to 50, some while a switch is silent.  After every
 * Set the judge of moments.h; after every event the plan is proven from scratch, reaches
 * whom tables made from nothing reach, is what the switches hold, and nothing was written
 * that was so before.  FMD_LONG=1: a thousand events, and how far loads have drifted.
 */
#include "config.h"

#include "core/route/route.h"
#include "lib/rng.h"
#include "tests/engine/composed.h"
#include "tests/run.h"
#include "tests/sweep/moments.h"

static struct composed composed;
static struct rig rig;
static struct moments moments;
static struct fm_rng rng;
static struct node_item items[MOST_REGIONS];
static struct region_members members[MOST_REGIONS];
static char patterns[MOST_REGIONS][32];
static bool *unplugged; /* [n_ports_total] by the test */
static uint32_t n_unplugged, n_cables;

static const struct place {
	const char *engines, *words;
	/* islands round it: */
	const char *island_engines, *island;
	uint32_t n_islands, n_cables;
	bool ring; /* four of `words` in a ring and two islands, whose core is merged of them */
} places[] = {
	{ .engines = "fattree", .words = "pgft 3 3,3,4 1,3,3 1,1,1" },
	{ .engines = "updn", .words = "random 24 4 2 7" },
	{ .engines = "dor,updn", .words = "torus 5x5 1" },
	{ "fattree", "pgft 2 4,4 1,2 1,1", "updn", "torus 4x4 1", 1, 3 },
	{ "fattree", "pgft 2 4,4 1,4 1,1", "updn", "random 8 3 1 3", 3, 2 },
	{ "updn", "mesh 4x4 1", "fattree", "pgft 2 3,3 1,2 1,1", 2, 3 },
	{ "updn", "torus 3x3 1", "updn", "torus 3x3 1", .n_islands = 2, .ring = true },
	{ "updn", "torus 3x3 1", "torus2qos", "torus 5x3 1", .n_islands = 2, .ring = true },
};
#define N_PLACES ((int)(sizeof(places) / sizeof(*places)))

static void
teardown(void)
{
	free(unplugged);
	unplugged = NULL;
	moments_fini(&moments);
	rig_fini(&rig);
	composed_fini(&composed);
}

/* By the names that add_part() gives. */
static void
name_members(uint16_t region, struct part p)
{
	struct fm_error err = { 0 };

	snprintf(patterns[region], sizeof(patterns[region]), "name:p%u-*", p.first);
	ck_assert_msg(node_item_parse(patterns[region], &items[region], &err) == 0, "%s", err.msg);
	members[region] = (struct region_members){ &items[region], 1, "test", region };
}

/* Regions of one part each. */
static void
build_ring(const struct place *p)
{
	struct part part[6];

	make_ring(&composed, p->words, p->island, p->island_engines, part);
	for (uint16_t region = 1; region < 6; region++)
		name_members(region, part[region]);
	composed.set.members = members;
}

static void
build(const struct place *p)
{
	struct part core;

	if (p->ring) {
		build_ring(p);
		return;
	}
	composed_init(&composed, 1);
	add_region(&composed, p->engines);
	core = add_part(&composed, p->words, 0);
	for (uint32_t i = 0; i < p->n_islands; i++) {
		uint16_t region = add_region(&composed, p->island_engines);
		struct part island = add_part(&composed, p->island, region);

		name_members(region, island);
		for (uint32_t j = 0; j < p->n_cables; j++)
			join_nodes(&composed,
			    pick_switch(&composed, core, PICK_ANY, i * p->n_cables + j),
			    pick_switch(&composed, island, PICK_ANY, j * 3));
	}
	composed.set.members = members;
}

static void
bring_up(const struct place *p, uint64_t seed)
{
	build(p);
	rig.nl = composed.nl;
	memset(&composed.nl, 0, sizeof(composed.nl));
	rig_sim_overtaking(&rig, seed);
	rig.chain = composed.region[0].chain;
	rig.regions = p->n_islands > 0 ? &composed.set : NULL;
	unplugged = calloc(rig.nl.n_ports_total, sizeof(*unplugged));
	n_unplugged = n_cables = 0;
	for (uint32_t i = 0; i < rig.nl.n_ports_total; i++)
		n_cables += rig.nl.ports[i].peer_node != NETLIST_NONE;
	n_cables /= 2;
	rig_bring_up(&rig);
	ck_assert(!p->ring || sweeper_plan(rig.sweeper)->regions->region[0].is_merged);
	fm_rng_seed(&rng, seed);
	moments_watch(&moments, &rig, sweeper_plan(rig.sweeper)->top_lid + 1u);
}

/* ---------------------------------------------------------------- events */

static bool *
plug_of(uint32_t node, unsigned port)
{
	return &unplugged[netlist_port(&rig.nl, node, port) - rig.nl.ports];
}

/* At most a quarter of the cables is out: there is to be something left to route. */
static void
toggle(uint32_t node, unsigned port)
{
	bool *out = plug_of(node, port);

	if (*out) {
		sim_relink(rig.sim, node, port);
		n_unplugged--;
	} else if (n_unplugged < n_cables / 4) {
		sim_unlink(rig.sim, node, port);
		n_unplugged++;
	} else {
		return;
	}
	*out = !*out;
}

/* A cable of a switch (never ours to the fabric), or of a host. */
static void
random_cable(bool to_host)
{
	for (;;) {
		uint32_t n = fm_rng_below(&rng, rig.nl.n_nodes);
		unsigned p = 1 + fm_rng_below(&rng, rig.nl.nodes[n].n_ports);
		uint32_t far = netlist_port(&rig.nl, n, p)->peer_node;

		if (far == NETLIST_NONE || !rig_is_switch(&rig, far) ||
		    rig_is_switch(&rig, n) == to_host || n == rig.place)
			continue;
		toggle(n, p);
		return;
	}
}

static void
plug_all(void)
{
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++)
			if (*plug_of(n, p))
				toggle(n, p);
}

static void
random_event(void)
{
	uint32_t kind = fm_rng_below(&rng, 10), n = 1, silent = UINT32_MAX;

	if (kind < 2) {
		moments_power_cycle(&moments, rig_random_switch(&rig, &rng));
		return;
	}
	if (kind == 2) { /* some fall silent half-way */
		silent = moments.silence_node = rig_random_switch(&rig, &rng);
		moments.silence_at = 1 + fm_rng_below(&rng, 8);
	} else if (kind < 6) {
		n = 1 + fm_rng_below(&rng, kind == 5 ? 50 : 10);
	}
	if (kind == 6)
		plug_all();
	for (uint32_t i = 0; kind != 6 && i < n; i++)
		random_cable(fm_rng_below(&rng, 3) == 0);
	moments_settle(&moments);
	if (silent == UINT32_MAX)
		return;
	moments.silence_at = 0;
	sim_silence(rig.sim, silent, false);
	moments_settle(&moments);
	moments_settle(&moments);
}

/* ---------------------------------------------------------------- judging */

/* The most loaded link, and the mean. */
static double
spread_of(const struct snapshot *snap, const struct fm_tables *t)
{
	uint32_t *load = calloc(snap->fab.n_links + 1, sizeof(*load)), most = 0;
	double sum = 0;

	walk_tables(snap, t, false, load);
	for (fm_link l = 0; l < snap->fab.n_links; l++) {
		most = load[l] > most ? load[l] : most;
		sum += load[l];
	}
	free(load);
	return sum > 0 ? most / (sum / snap->fab.n_links) : 1;
}

/* What is in the switches is the plan, entry by entry. */
static void
expect_plan(const struct plan *p)
{
	const struct fm_fabric *fab = &p->snap->fab;
	const struct inventory *inv = sweeper_inventory(rig.sweeper);

	for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
		uint32_t slot = inv_find(inv, rig.nl.nodes[n].guid);
		fm_sw sw;

		if (!rig_is_switch(&rig, n) || slot == INV_NONE || !inv_node(inv, slot)->present ||
		    !inv_node(inv, slot)->sw_known)
			continue; /* cut off */
		sw = inv_node(inv, slot)->sw_index;
		for (uint16_t lid = 1; sw < fab->n_switches && lid <= p->top_lid; lid++)
			ck_assert_msg(sim_lft(rig.sim, n, lid) == p->tables->t.lft[sw][lid],
			    "%s: LID %u leads to port %u, not %u", rig.nl.nodes[n].id, lid,
			    sim_lft(rig.sim, n, lid), p->tables->t.lft[sw][lid]);
	}
}

/* As good as if it had been made from nothing; the drift of the load. */
static double
expect_as_good(const struct plan *p)
{
	struct plan_request q = {
		.snap = p->snap, .chain = &rig.chain, .regions = rig.regions, .prev = NULL
	};
	struct verify_request v = { .n_vls = composed.router.set.n_vls,
		.sl_model = plan_sl_model(&composed.router, p) };
	struct plan *fresh = NULL;
	struct fm_error err = { 0 };
	struct verdict verdict;
	double drift;

	ck_assert_int_eq(
	    verify_tables(p->snap, &p->tables->t, &v, composed.router.workers, &verdict, &err), 0);
	ck_assert_msg(
	    verdict_is_safe(&verdict, rig.chain.allow_credit_loops), "%s", verdict.witness);
	ck_assert_int_eq(plan_make(&composed.router, &q, &fresh, &err), 0);
	ck_assert_ptr_nonnull(fresh->tables);
	ck_assert_uint_eq(verdict.reachable_pairs, fresh->verdict.reachable_pairs);
	ck_assert_uint_eq(verdict.unreachable_pairs, fresh->verdict.unreachable_pairs);
	drift = spread_of(p->snap, &p->tables->t) / spread_of(p->snap, &fresh->tables->t);
	plan_put(fresh);
	return drift;
}

static void
expect_clean(unsigned event)
{
	ck_assert_msg(moments.n_loops == 0 && moments.n_holes == 0,
	    "event %u: %u loops, %u holes in %llu Sets: %s", event, moments.n_loops,
	    moments.n_holes, (unsigned long long)moments.n_sets, moments.first);
	ck_assert_msg(moments.n_needless <= rig.n_again, /* whose answers were lost */
	    "event %u: %llu of %llu Sets changed nothing", event,
	    (unsigned long long)moments.n_needless, (unsigned long long)moments.n_sets);
}

START_TEST(random_events)
{
	unsigned n = getenv("FMD_LONG") != NULL ? 1000 / N_PLACES + 1 : 6;
	double worst = 0, sum = 0;

	bring_up(&places[_i], 600 + (uint64_t)_i);
	for (unsigned i = 0; i < n; i++) {
		const struct plan *p;
		double drift;

		random_event();
		expect_clean(i);
		ck_assert_msg(rig.last.outcome == SWEEP_UP || rig.last.outcome == SWEEP_UNCHANGED,
		    "event %u: outcome %d: %s", i, rig.last.outcome, rig.last.error.msg);
		p = sweeper_plan(rig.sweeper);
		expect_plan(p);
		drift = expect_as_good(p);
		worst = drift > worst ? drift : worst;
		sum += drift;
	}
	plug_all();
	moments_settle(&moments);
	rig_run(&rig, SWEEP_HEAVY);
	expect_clean(n);
	rig_expect_up(&rig);
	if (getenv("FMD_LONG") != NULL)
		printf("%s%s%s: %u events, %llu Sets; most loaded link over that of fresh tables: "
		       "mean %.2f, most %.2f; %u sweeps broken off\n",
		    places[_i].words, places[_i].n_islands > 0 ? " with islands " : "",
		    places[_i].n_islands > 0 ? places[_i].island : "", n,
		    (unsigned long long)moments.n_sets, sum / n, worst, rig.n_broken_off);
}
END_TEST

int
main(void)
{
	Suite *s;
	TCase *t;

	if (!load_engines())
		return 1;
	s = suite_create("events");
	t = tcase_create("all");
	tcase_set_timeout(t, 3000);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, random_events, 0, N_PLACES);
	suite_add_tcase(s, t);
	return run_suite(s);
}
