/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the sweep believes that forwarding tables hold is what they hold: the plan's entries,
 * but for blocks that wait or were left half-way (sweeper.unwritten, sweeper.held), when a
 * sweep has failed on the way, once and again, or leaves entries empty for hosts to be told.
 * The next plan is proven against that, and SMPs go by it.
 */
#include <check.h>
#include <string.h>

#include "core/sweep/internal.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

extern const struct fm_engine dfsssp_LTX_fm_engine, lash_LTX_fm_engine, updn_LTX_fm_engine;

#define BLOCK TRANSITION_BLOCK_LIDS

static struct rig rig;
static struct fm_rng rng;
static uint32_t silent_node;
static const char *const fabrics[] = { "random 16 4 20 3", "torus 5x5 10" };
#define N_SEEDS 6
#define N_FABRICS ((int)(sizeof(fabrics) / sizeof(*fabrics)))

static void
teardown(void)
{
	rig_fini(&rig);
}

static void
bring_up_by(const struct fm_engine *engine, const char *words, uint64_t seed)
{
	rig_generate(&rig.nl, words);
	rig_sim(&rig, NULL);
	rig_use(&rig, engine);
	rig_bring_up(&rig);
	fm_rng_seed(&rng, seed);
}

static void
bring_up(const char *words, uint64_t seed)
{
	bring_up_by(&dfsssp_LTX_fm_engine, words, seed);
}

/* A cable between switches, lost; all is to be routed again. */
static void
lose_a_cable(void)
{
	for (;;) {
		uint32_t n = rig_random_switch(&rig, &rng), far;
		unsigned p = 1 + fm_rng_below(&rng, rig.nl.nodes[n].n_ports);

		far = netlist_port(&rig.nl, n, p)->peer_node;
		if (far == NETLIST_NONE || !rig_is_switch(&rig, far))
			continue;
		sim_unlink(rig.sim, n, p);
		break;
	}
	rig_route_anew(&rig);
}

static bool
is_held(const struct sweeper *s, uint32_t slot, uint32_t block, const uint8_t *bytes)
{
	for (size_t i = 0; i < s->writing.held.n; i++) {
		const struct held_block *h = &s->writing.held.item[i];

		if (h->slot == slot && h->block == block)
			return memcmp(h->bytes[0], bytes, BLOCK) == 0 ||
			    memcmp(h->bytes[h->n - 1], bytes, BLOCK) == 0;
	}
	return false;
}

static const uint8_t *
believed(const struct sweeper *s, fm_sw sw, uint32_t block)
{
	for (size_t i = 0; i < s->writing.unwritten.n; i++)
		if (s->writing.unwritten.item[i].sw == sw &&
		    s->writing.unwritten.item[i].block == block)
			return s->writing.unwritten.item[i].bytes;
	return s->plan->tables->t.lft[sw] + (size_t)block * BLOCK;
}

static void
expect_believed(void)
{
	const struct sweeper *s = rig.sweeper;

	for (fm_sw sw = 0; sw < s->inv.switches.n; sw++) {
		uint32_t slot = s->inv.switches.item[sw], node = SIM_NONE;

		for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
			node = rig.nl.nodes[n].guid == inv_node(&s->inv, slot)->guid ? n : node;
		for (uint32_t block = 0; block <= s->plan->top_lid / BLOCK; block++) {
			uint8_t bytes[BLOCK];

			for (uint32_t i = 0; i < BLOCK; i++)
				bytes[i] = sim_lft(rig.sim, node, (uint16_t)(block * BLOCK + i));
			ck_assert_msg(is_held(s, slot, block, bytes) ||
				memcmp(bytes, believed(s, sw, block), BLOCK) == 0,
			    "switch %u block %u holds something else than is believed", sw, block);
		}
	}
	for (size_t i = 1; i < s->writing.unwritten.n; i++) {
		const struct plan_installed *a = &s->writing.unwritten.item[i - 1], *b = a + 1;

		ck_assert(a->block < b->block || (a->block == b->block && a->sw < b->sw));
	}
}

/* At the n-th wait for packets to be gone; false: it had ended by itself. */
static bool
fail_at_wait(unsigned n)
{
	struct fm_error err = { 0 };

	while (rig_run_to_wait(&rig) && --n > 0)
		ck_assert(txn_poll(rig.txn, sweeper_due_ns(rig.sweeper), &err) >= 0);
	if (n > 0)
		return false;
	rig.sweeper->run.wanted = SWEEP_NONE;
	sweep_fail(rig.sweeper, FM_E_RESOURCE, "out of memory, says a test");
	for (n = rig.n_reports; rig.n_reports == n;) {
		sweeper_step(rig.sweeper);
		ck_assert(txn_poll(rig.txn, sim_now_ns(rig.sim) + 1000000, &err) >= 0);
	}
	ck_assert_int_eq(rig.last.outcome, SWEEP_FAILED);
	return true;
}

START_TEST(sweeps_fail_one_after_another)
{
	unsigned n_failed = 0;

	bring_up(fabrics[_i % N_FABRICS], 1 + (uint64_t)_i);
	for (unsigned i = 0; i < 4; i++) {
		lose_a_cable();
		for (unsigned k = 0; k < 8 && fail_at_wait(1 + fm_rng_below(&rng, 4)); k++) {
			n_failed++;
			expect_believed();
			sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
		}
		rig_let_pass(&rig, 3000);
		rig_run(&rig, SWEEP_HEAVY);
		expect_believed();
		rig_expect_up(&rig);
	}
	ck_assert_uint_gt(n_failed, 0);
}
END_TEST

/* Another engine, and to drain for it, is what the next sweep wants as well. */
START_TEST(what_was_asked_for_is_not_forgotten)
{
	bring_up(fabrics[0], 1);
	rig_use(&rig, &lash_LTX_fm_engine);
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	sweeper_drain(rig.sweeper);
	ck_assert(fail_at_wait(1));
	rig_run(&rig, SWEEP_HEAVY);
	rig_let_pass(&rig, 3000);
	rig_expect_up(&rig);
	ck_assert_str_eq(rig.last.engine, "lash");
}
END_TEST

/* Entries that are emptied though they do not change are so once; client_reregister = no: they
 * do not wait for hosts. */
START_TEST(whole_columns_are_emptied_once)
{
	const uint64_t *sets;
	uint64_t before;

	bring_up(fabrics[0], 1);
	rig.set.ports.client_reregister = rig.set.sweep.on_trap = false;
	lose_a_cable();
	rig_let_pass(&rig, 3000);
	rig_expect_up(&rig);
	ck_assert(sweeper_plan(rig.sweeper)->change.whole_columns);
	sets = &sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_LFT];
	before = *sets;
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_uint_eq(*sets, before);
}
END_TEST

static void
silence_at_set(void *arg, const struct sim_trace *e)
{
	if (silent_node != SIM_NONE || e->method != WIRE_SET || e->attr != WIRE_ATTR_LFT ||
	    !rig_is_switch(&rig, e->node) ||
	    netlist_port(&rig.nl, rig.place, 1)->peer_node == e->node)
		return;
	silent_node = e->node;
	sim_silence(rig.sim, silent_node, true);
}

/* It is discovered, and does not say what it holds. */
static void
silence_when_asked(void *arg, const struct sim_trace *e)
{
	bool asked = sweeper_phase(rig.sweeper) >= PHASE_ROUTE;

	sim_silence(rig.sim, silent_node, asked);
}

/* The plan is made, nothing is written yet. */
static void
expect_known(void *arg, const struct sim_trace *e)
{
	bool *seen = arg;

	if (*seen || sweeper_phase(rig.sweeper) <= PHASE_ROUTE)
		return;
	*seen = true;
	expect_believed();
	ck_assert_uint_eq(rig.sweeper->writing.held.n, 0);
}

/* One that falls silent while it is written is asked what it holds before the next plan is made.
 * If it does not say so, nothing is written, but not for ever: three sweeps fail, and as many
 * where entries have been emptied. */
START_TEST(who_fell_silent_is_asked)
{
	uint32_t n_reports;
	bool seen = false;

	bring_up_by(&updn_LTX_fm_engine, fabrics[0], 1 + (uint64_t)_i);
	silent_node = SIM_NONE;
	sim_set_trace(rig.sim, silence_at_set, NULL);
	lose_a_cable();
	rig_run(&rig, SWEEP_HEAVY);
	expect_believed();
	ck_assert_uint_gt(rig.sweeper->writing.held.n, 1);

	sim_set_trace(rig.sim, silence_when_asked, NULL);
	n_reports = rig.n_reports;
	rig_run(&rig, SWEEP_HEAVY);
	expect_believed();
	ck_assert_uint_ge(rig.n_reports, n_reports + 4);
	ck_assert_uint_le(rig.n_reports, n_reports + 7);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);

	sim_set_trace(rig.sim, expect_known, &seen);
	sim_silence(rig.sim, silent_node, false);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert(seen);
	expect_believed();
	rig_expect_up(&rig);
}
END_TEST

/* Where SLs are not spread over VLs nobody owes maps, and no packets go by older ones. */
START_TEST(who_has_no_maps_owes_none)
{
	const struct sweeper *s;

	bring_up_by(&updn_LTX_fm_engine, fabrics[0], 1);
	s = rig.sweeper;
	silent_node = rig_random_switch(&rig, &rng);
	sim_set_trace(rig.sim, silence_when_asked, NULL);
	rig.set.ports.subnet_timeout--; /* in all ports */
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	ck_assert_uint_gt(rig.last.n_silent, 0);
	for (size_t i = 0; i < s->inv.switches.n; i++)
		ck_assert(!inv_node(&s->inv, s->inv.switches.item[i])->owes_maps);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("believed");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 600);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, sweeps_fail_one_after_another, 0, N_SEEDS * N_FABRICS);
	tcase_add_loop_test(t, who_fell_silent_is_asked, 0, N_SEEDS - 1);
	tcase_add_test(t, who_has_no_maps_owes_none);
	tcase_add_test(t, whole_columns_are_emptied_once);
	tcase_add_test(t, what_was_asked_for_is_not_forgotten);
	suite_add_tcase(s, t);
	return run_suite(s);
}
