/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs by LID from the first bring-up on: in waves, by way of what is written already; on
 * fabrics that take them, that do not, or only some; with answers lost; over tables that
 * another SM left.  No SMP may be sent by LID that does not arrive where it should: on the
 * simulated fabric it would count as one without a way.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sweep/internal.h"
#include "tests/run.h"
#include "tests/sweep/moments.h"

extern const struct fm_engine minhop_LTX_fm_engine, updn_LTX_fm_engine, fattree_LTX_fm_engine;

#define TREE "pgft 3 4,4,6 1,4,4 1,1,1" /* switches up to 5 hops away, 3 blocks each */

static struct rig rig;
static struct moments moments;
static struct fm_arena memory;

static void
setup(void)
{
	fm_arena_init(&memory, SIZE_MAX);
}

static void
teardown(void)
{
	if (moments.rig != NULL)
		moments_fini(&moments);
	rig_fini(&rig);
	fm_arena_fini(&memory);
}

static void
use(const struct fm_engine *engine)
{
	rig_use(&rig, engine);
	rig.chain.allow_credit_loops = true;
}

static void
fabric(const char *words, const struct fm_engine *engine, const struct sim_options *o)
{
	rig_generate(&rig.nl, words);
	rig_sim(&rig, o);
	use(engine);
}

static void
tree(const struct sim_options *o)
{
	fabric(TREE, &fattree_LTX_fm_engine, o);
}

static void
bring_up(void)
{
	rig_bring_up(&rig);
	ck_assert_uint_eq(rig.last.n_silent, 0);
}

/* All is as it should be: there is nothing to set. */
static void
expect_nothing_left(void)
{
	uint64_t sets = rig_sets(&rig);

	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig_sets(&rig), sets);
}

static uint64_t
table_sets(void)
{
	return sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_LFT];
}

/* Links that directed SMPs go from an empty fabric to SUBNET UP, without discovery. */
static uint64_t
cost_of_bring_up(bool by_lid, uint64_t *sets, uint64_t *tables)
{
	struct sim_options o;
	uint64_t seen;

	sim_options_default(&o);
	tree(&o);
	rig.set.sweep.lid_routed_smps = by_lid;
	bring_up();
	ck_assert_uint_eq(sim_counts(rig.sim)->no_way, 0);
	ck_assert_uint_eq(rig.last.timeouts + rig.last.by_lid.lost + rig.last.by_lid.mixed_lost, 0);
	*sets = rig.last.sets;
	*tables = table_sets();
	seen = sim_counts(rig.sim)->dr_hops;
	expect_nothing_left(); /* it costs what discovery costs, and reads of other things */
	seen -= sim_counts(rig.sim)->dr_hops - seen;
	return seen;
}

START_TEST(the_first_tables_travel_by_lid)
{
	uint64_t sets[2], tables[2], directed, by_lid;

	directed = cost_of_bring_up(false, &sets[0], &tables[0]);
	ck_assert_uint_eq(rig.last.by_lid.sent + rig.last.by_lid.mixed, 0);
	teardown();
	setup();
	by_lid = cost_of_bring_up(true, &sets[1], &tables[1]);
	ck_assert_uint_eq(tables[0], tables[1]);
	ck_assert_uint_le(sets[1], sets[0] + 1); /* our own LID comes before all else */
	ck_assert_uint_lt(2 * by_lid, directed);
	if (getenv("FMD_LONG") != NULL)
		printf("directed hops %llu instead of %llu\n", (unsigned long long)by_lid,
		    (unsigned long long)directed);
}
END_TEST

/* What of them arrives, and what is found out. */
static const struct surroundings {
	bool no_lid, no_cold, no_mixed;
	const char *told;
	bool by_lid, mixed; /* used at first bring-up */
} surroundings[] = {
	{ .by_lid = true, .mixed = true },
	{ .no_lid = true, .told = "LID-routed SMPs are not answered" },
	{ .no_cold = true, .told = "LID-routed SMPs are not answered over links" },
	{ .no_mixed = true, .told = "mixed SMPs are not answered", .by_lid = true },
	{ .no_cold = true,
	    .no_mixed = true,
	    .told = "LID-routed SMPs are not answered over links" },
};
#define N_SURROUNDINGS ((int)(sizeof(surroundings) / sizeof(*surroundings)))

/* Nobody waits for what is lost: the sweep takes less than one time-out. */
START_TEST(it_falls_back_by_itself)
{
	const struct surroundings *at = &surroundings[_i];
	struct sim_options o;
	int64_t start_ns;

	sim_options_default(&o);
	o.no_lid_smps = at->no_lid;
	o.cold_lid_smps_lost = at->no_cold;
	o.no_mixed_smps = at->no_mixed;
	tree(&o);
	start_ns = sim_now_ns(rig.sim);
	rig_start(&rig);
	sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
	while (rig.n_reports == 0) {
		struct fm_error err = { 0 };

		sweeper_step(rig.sweeper);
		ck_assert(rig.n_reports > 0 || txn_outstanding(rig.txn) > 0);
		if (rig.n_reports == 0)
			ck_assert_int_ge(txn_poll(rig.txn, INT64_MAX, &err), 0);
	}
	ck_assert_int_lt(sim_now_ns(rig.sim) - start_ns, 200000000);
	ck_assert_uint_eq(rig.last.by_lid.sent > 0, at->by_lid);
	ck_assert_uint_eq(rig.last.by_lid.mixed > 0, at->mixed);
	ck_assert_uint_eq(rig.last.timeouts + rig.last.by_lid.lost + rig.last.by_lid.mixed_lost, 0);
	rig_let_pass(&rig, 3000);
	rig_expect_up(&rig);
	ck_assert(at->told == NULL ? strstr(rig_log, "SMPs are not") == NULL
				   : strstr(rig_log, at->told) != NULL);
	expect_nothing_left();
}
END_TEST

/* Over ACTIVE links they are tried again, and then used. */
START_TEST(what_is_lost_in_init_is_used_when_active)
{
	struct sim_options o;

	sim_options_default(&o);
	o.cold_lid_smps_lost = true;
	tree(&o);
	bring_up();
	ck_assert_uint_eq(rig.last.by_lid.sent, 0);
	rig_run(&rig, SWEEP_LIGHT);
	use(&minhop_LTX_fm_engine);
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_NAMED);
	rig_expect_up(&rig);
	ck_assert_uint_gt(rig.last.by_lid.sent, table_sets() / 8);
	ck_assert_uint_eq(rig.last.by_lid.lost + rig.last.by_lid.mixed_lost, 0);
}
END_TEST

/* A switch of the n-th hop from our own leaf: 1 above it, 2 on top, 3 down again. */
static uint32_t
switch_at(unsigned hops)
{
	const struct inventory *inv = sweeper_inventory(rig.sweeper);

	for (uint32_t i = 0; i < inv->nodes.n; i++)
		if (inv_is_switch(inv_node(inv, i)) && inv_node(inv, i)->n_hops == hops + 1)
			for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
				if (rig.nl.nodes[n].guid == inv_node(inv, i)->guid)
					return n;
	ck_abort_msg("no switch is %u hops away", hops);
	return 0;
}

static void
light_sweeps(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		rig_run(&rig, SWEEP_LIGHT);
		ck_assert_int_eq(rig.last.outcome, SWEEP_UNCHANGED);
		rig_let_pass(&rig, 3000);
	}
}

/* Each time later: as many trials as the number of sweeps has bits. */
START_TEST(what_is_closed_is_tried_again_and_again)
{
	struct sim_options o;
	uint64_t lost;

	sim_options_default(&o);
	o.no_lid_smps = true;
	tree(&o);
	bring_up();
	lost = sim_counts(rig.sim)->no_way;
	light_sweeps(4);
	rig_log_clear();
	light_sweeps(60);
	ck_assert_uint_ge(sim_counts(rig.sim)->no_way, lost + 4 * 3);
	ck_assert_uint_le(sim_counts(rig.sim)->no_way, lost + 6 * 6);
	ck_assert_str_eq(rig_log, ""); /* it has been told */
}
END_TEST

/* Those that found out were lost by chance; then all switches lose power. */
START_TEST(what_was_lost_by_chance_is_used_later)
{
	tree(NULL);
	sim_refuse_lid_smps(rig.sim, true);
	bring_up();
	rig_let_pass(&rig, 3000);
	ck_assert_ptr_nonnull(strstr(rig_log, "LID-routed SMPs are not answered over links"));
	sim_refuse_lid_smps(rig.sim, false);
	light_sweeps(4);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		if (rig_is_switch(&rig, n))
			sim_reboot(rig.sim, n, 1000000000);
	rig_let_pass(&rig, 3000);
	rig.n_by_lid = rig.n_mixed = 0;
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_ptr_nonnull(strstr(rig_log, "over links that are not active are answered now"));
	ck_assert_uint_gt(rig.n_by_lid, 0);
	ck_assert_uint_gt(rig.n_mixed, 0);
}
END_TEST

/* Which switches there are, where: a look by another fmd that sets nothing. */
static void
look_around(void)
{
	rig.set.dry_run = true;
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
}

static void
forget(void)
{
	rig_stop(&rig);
	rig.set.dry_run = false;
}

/* All gets written, nobody is called silent, and it is remembered. */
START_TEST(one_switch_ignores_them)
{
	static const unsigned hops[] = { 1, 2, 3, 4 };
	unsigned which = (unsigned)_i / 2;
	bool mixed = _i % 2;
	uint32_t node;

	tree(NULL);
	look_around();
	node = switch_at(hops[which]);
	forget();
	sim_ignore_smps(rig.sim, node, !mixed, mixed);
	bring_up();
	ck_assert_uint_gt(rig.last.by_lid.sent, 0);
	ck_assert_uint_eq(mixed ? rig.last.by_lid.mixed_lost > 0 : rig.last.by_lid.lost, 1);
	use(&minhop_LTX_fm_engine);
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_NAMED);
	rig_expect_up(&rig);
	ck_assert_uint_gt(rig.last.by_lid.sent, 0);
	ck_assert_uint_eq(rig.last.timeouts + rig.last.by_lid.lost + rig.last.by_lid.mixed_lost, 0);
	expect_nothing_left();
}
END_TEST

/* A switch stops answering in the middle of a wave, and comes back. */
START_TEST(answers_are_lost_in_the_middle)
{
	uint32_t node;

	tree(NULL);
	look_around();
	node = switch_at(1 + (unsigned)_i % 4);
	forget();
	rig_start(&rig);
	moments_watch(&moments, &rig, 256);
	moments.silence_node = node;
	moments.silence_at = 1 + 7 * (unsigned)_i;
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(moments.n_loops, 0);
	sim_silence(rig.sim, node, false);
	rig_let_pass(&rig, 3000);
	rig_run(&rig, SWEEP_LIGHT);
	rig_let_pass(&rig, 3000);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_uint_eq(moments.n_needless, 0);
	ck_assert_uint_eq(moments.n_loops, 0);
	expect_nothing_left();
}
END_TEST

START_TEST(packets_are_lost_everywhere)
{
	struct sim_options o;

	sim_options_default(&o);
	o.seed = 7 + (uint64_t)_i;
	o.loss = 0.01;
	o.delay_max_ns = 100000;
	tree(&o);
	bring_up();
	sim_set_loss(rig.sim, 0);
	rig_let_pass(&rig, 3000);
	rig_run(&rig, SWEEP_HEAVY);
	expect_nothing_left();
}
END_TEST

/* ------------------------------------------------- over tables of another SM */

static const char *const places[] = { "torus 5x5 1", "random 24 4 2 7", "torus 3x3x3 1", TREE };
#define N_PLACES ((int)(sizeof(places) / sizeof(*places)))

/* The n-th switch is updn's root. */
static void
pin_root(uint32_t nth)
{
	struct option_table table = option_table_of(rig.entry.engine);
	struct option_values *values = option_values_new(&memory, &table, rig.entry.name);
	struct option_origin origin = { 0 };
	struct fm_error err = { 0 };
	const char *item;
	char guid[24];
	uint32_t n = 0;

	while (rig.nl.nodes[n].type != NETLIST_SWITCH || nth-- > 0)
		n++;
	snprintf(guid, sizeof(guid), "0x%llx", (unsigned long long)rig.nl.nodes[n].guid);
	item = guid;
	ck_assert_msg(
	    option_values_set(values, "roots", &item, 1, &origin, &err) == 0, "%s", err.msg);
	rig.entry.values = values;
}

/* Who comes after knows nothing; packets are under way all the time. */
static void
come_after(const char *words, bool careless)
{
	struct sim_options o;

	sim_options_default(&o);
	o.seed = 31;
	o.delay_max_ns = 200000;
	fabric(words, &updn_LTX_fm_engine, &o);
	pin_root(0);
	rig.set.sweep.lid_routed_smps = false;
	bring_up();
	rig_stop(&rig);
	rig.set.sweep.lid_routed_smps = true;
	rig.set.careless = careless;
	rig.set.transition.drain = PLAN_DRAIN_NEVER;
	pin_root(13);
	rig_start(&rig);
	moments_watch(&moments, &rig, 256);
	rig_run(&rig, SWEEP_HEAVY);
	moments_end(&moments);
	rig_expect_up(&rig);
	ck_assert_uint_gt(moments.n_sets, 0);
}

START_TEST(over_stale_tables_nothing_loops)
{
	come_after(places[_i], false);
	ck_assert_uint_gt(rig.last.by_lid.sent + rig.last.by_lid.mixed, 0);
	ck_assert_uint_eq(rig.last.by_lid.lost + rig.last.by_lid.mixed_lost, 0);
	ck_assert_uint_eq(sim_counts(rig.sim)->no_way, 0);
	ck_assert_msg(moments.n_loops == 0 && moments.n_holes == 0, "%u loops, %u holes: %s",
	    moments.n_loops, moments.n_holes, moments.first);
	ck_assert_uint_eq(moments.n_needless, 0);
	expect_nothing_left();
}
END_TEST

START_TEST(without_the_order_something_does)
{
	come_after(places[0], true);
	ck_assert_uint_gt(moments.n_loops, 0);
}
END_TEST

/* The tables are right already: all but the first blocks are read by LID, none written. */
START_TEST(who_comes_after_reads_by_lid)
{
	uint64_t tables;

	tree(NULL);
	bring_up();
	rig_stop(&rig);
	tables = table_sets();
	bring_up();
	ck_assert_uint_eq(table_sets(), tables);
	ck_assert_uint_gt(rig.last.by_lid.sent, 0);
	ck_assert_uint_eq(rig.last.by_lid.lost + rig.last.by_lid.mixed_lost, 0);
}
END_TEST

/* ------------------------------------------------------- while tables change */

/* A cable between two switches. */
static bool
pick_cable(struct fm_rng *rng, uint32_t *node, unsigned *port)
{
	for (unsigned tries = 0; tries < 1000; tries++) {
		const struct netlist_port *p;

		*node = fm_rng_below(rng, rig.nl.n_nodes);
		*port = 1 + fm_rng_below(rng, rig.nl.nodes[*node].n_ports);
		p = netlist_port(&rig.nl, *node, *port);
		if (rig_is_switch(&rig, *node) && p->peer_node != NETLIST_NONE &&
		    rig_is_switch(&rig, p->peer_node))
			return true;
	}
	return false;
}

/* Old entries lead into the cable that is gone: what goes by LID waits until they do not,
 * though the tables that are being written know of a way. */
START_TEST(nothing_goes_by_entries_still_to_be_written)
{
	struct sim_options o;
	struct fm_rng rng;

	sim_options_default(&o);
	o.seed = 5;
	o.delay_max_ns = 200000;
	fabric(places[_i], &updn_LTX_fm_engine, &o);
	pin_root(0);
	bring_up();
	fm_rng_seed(&rng, 11);
	rig.n_by_lid = rig.n_ways_lost = 0;
	for (unsigned i = 0; i < 12; i++) {
		uint32_t node;
		unsigned port;

		ck_assert(pick_cable(&rng, &node, &port));
		sim_unlink(rig.sim, node, port);
		rig_let_pass(&rig, 3000);
		sim_relink(rig.sim, node, port);
		rig_let_pass(&rig, 3000);
	}
	ck_assert_uint_gt(rig.n_by_lid, 0);
	ck_assert_uint_eq(rig.n_ways_lost, 0);
	expect_nothing_left();
}
END_TEST

/* A switch newly come gets its first blocks by way of its neighbour. */
START_TEST(a_switch_comes)
{
	uint64_t lost;
	uint32_t node;

	tree(NULL);
	bring_up();
	node = switch_at(3);
	moments_watch(&moments, &rig, sweeper_plan(rig.sweeper)->top_lid + 1u);
	rig.n_by_lid = rig.n_mixed = 0;
	lost = sim_counts(rig.sim)->no_way;
	moments_power_cycle(&moments, node);
	moments_settle(&moments);
	ck_assert_uint_eq(moments.n_loops + moments.n_holes, 0);
	ck_assert_uint_gt(rig.n_mixed, 0);
	ck_assert_uint_gt(rig.n_by_lid, 0);
	if (getenv("FMD_LONG") != NULL)
		printf("a switch comes: %llu by LID, %llu mixed, %llu without a way\n",
		    (unsigned long long)rig.n_by_lid, (unsigned long long)rig.n_mixed,
		    (unsigned long long)(sim_counts(rig.sim)->no_way - lost));
	expect_nothing_left();
}
END_TEST

/* Memory for its questions was out: a trial that was never sent is no trial. */
START_TEST(a_trial_that_was_not_sent_is_made_again)
{
	struct sim_options o;

	sim_options_default(&o);
	tree(&o);
	bring_up();
	for (unsigned i = 0; i < N_SMP_WAYS; i++)
		rig.sweeper->ways.way[i] = WAY_ON_TRIAL;
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_int_eq(rig.sweeper->ways.way[WAY_BY_LID], WAY_OPEN);
	ck_assert_int_eq(rig.sweeper->ways.way[WAY_MIXED], WAY_OPEN);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("waves");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_first_tables_travel_by_lid);
	tcase_add_loop_test(t, it_falls_back_by_itself, 0, N_SURROUNDINGS);
	tcase_add_test(t, what_is_lost_in_init_is_used_when_active);
	tcase_add_test(t, what_is_closed_is_tried_again_and_again);
	tcase_add_test(t, what_was_lost_by_chance_is_used_later);
	tcase_add_loop_test(t, one_switch_ignores_them, 0, 8);
	tcase_add_loop_test(t, answers_are_lost_in_the_middle, 0, 8);
	tcase_add_loop_test(t, packets_are_lost_everywhere, 0, 3);
	tcase_add_loop_test(t, over_stale_tables_nothing_loops, 0, N_PLACES);
	tcase_add_test(t, without_the_order_something_does);
	tcase_add_test(t, who_comes_after_reads_by_lid);
	tcase_add_loop_test(t, nothing_goes_by_entries_still_to_be_written, 0, N_PLACES);
	tcase_add_test(t, a_switch_comes);
	tcase_add_test(t, a_trial_that_was_not_sent_is_made_again);
	suite_add_tcase(s, t);
	return run_suite(s);
}
