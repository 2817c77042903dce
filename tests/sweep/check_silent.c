/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No event waits for hosts that do not answer: when the last table is written after cables are lost
 * while 100 or 600 hosts of 648 are silent, known or new; and how long packets find no way when a
 * switch loses all its cables.
 * By the simulator's clock, which stands still while fmd computes; only the rig's first bring-up
 * and the heavy sweep in which things happen are asked for by the test.
 */
#include <check.h>
#include <stdlib.h>

#include "tests/run.h"
#include "tests/sweep/rig.h"

extern const struct fm_engine fattree_LTX_fm_engine;

#define TREE "pgft 2 18,36 1,18 1,1"
#define N_LEAVES 36
#define N_PAIRS 300
#define NS_PER_MS 1000000LL
#define TICK_NS 1000000
#define IN_THE_SWEEP_NS (2 * NS_PER_MS)
#define LAST_SET_MS 150
#define HOLE_MS 300
#define FADING_HOLE_MS 3500 /* after the last cable */

static struct rig rig;
static int64_t last_lft_ns; /* the last Set of a forwarding block that a switch has answered */
static struct pair {
	uint32_t from, to;
} pairs[N_PAIRS];

static void
note_set(void *arg, const struct sim_trace *e)
{
	(void)arg;
	if (e->method == WIRE_SET && e->attr == WIRE_ATTR_LFT)
		last_lft_ns = e->at_ns;
}

static void
setup(void)
{
	struct fm_rng rng;

	rig_generate(&rig.nl, TREE);
	rig_sim(&rig, NULL);
	rig_use(&rig, &fattree_LTX_fm_engine);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	fm_rng_seed(&rng, 1);
	for (int i = 0; i < N_PAIRS; i++)
		pairs[i] = (struct pair){ rig_host(&rig, fm_rng_below(&rng, 648)),
			rig_host(&rig, fm_rng_below(&rng, 648)) };
	sim_set_trace(rig.sim, note_set, NULL);
}

static void
teardown(void)
{
	rig_fini(&rig);
}

/* fmd's own loop, till this moment at most. */
static void
turn(int64_t until_ns)
{
	struct fm_error err = { 0 };
	int64_t due;

	sweeper_step(rig.sweeper);
	due = sweeper_due_ns(rig.sweeper);
	ck_assert_msg(txn_poll(rig.txn, due < until_ns ? due : until_ns, &err) >= 0, "%s", err.msg);
}

static void
go_on(int64_t ns)
{
	int64_t end = sim_now_ns(rig.sim) + ns;

	while (sim_now_ns(rig.sim) < end)
		turn(end);
}

static bool
is_broken(const struct pair *p)
{
	struct sim_place from = { .node = p->from, .port = 1 };
	struct wire_port_info info;
	struct sim_way way;

	sim_port_info(rig.sim, p->to, 1, &info);
	return !sim_walk(rig.sim, from, info.lid, &way) || way.at.node != p->to;
}

/* For how long the last of the pairs has no way from now on, in ms. */
static double
hole_ms(void)
{
	int64_t start = sim_now_ns(rig.sim), last = start;
	unsigned most = 0;

	for (int64_t now = start; now < start + 8000 * NS_PER_MS; now = sim_now_ns(rig.sim)) {
		unsigned n = 0;

		for (int i = 0; i < N_PAIRS; i++)
			n += is_broken(&pairs[i]);
		most = n > most ? n : most;
		if (n > 0)
			last = now;
		if (n == 0 && now > start + 4000 * NS_PER_MS)
			break;
		go_on(TICK_NS);
	}
	ck_assert_uint_gt(most, 0);
	return (double)(last - start) / NS_PER_MS;
}

/* From the eleventh on, so hosts of our own leaf, too. */
static void
silence_hosts(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sim_silence(rig.sim, rig_host(&rig, 10 + i), true);
}

static uint32_t
find(const char *name)
{
	uint32_t node = sim_find(rig.sim, name);

	ck_assert_uint_ne(node, SIM_NONE);
	return node;
}

static const struct scene {
	const char *name;
	unsigned n_hosts;
	bool known;
	enum sweep_scope scope;
} scenes[] = {
	{ "100 known", 100, true, SWEEP_HEAVY },
	{ "600 known", 600, true, SWEEP_HEAVY },
	{ "100 new", 100, false, SWEEP_HEAVY },
	{ "600 new", 600, false, SWEEP_HEAVY },
	{ "100 known, light", 100, true, SWEEP_LIGHT },
	{ "600 known, light", 600, true, SWEEP_LIGHT },
};

START_TEST(a_cable_is_lost_beside_silent_nodes)
{
	const struct scene *sc = &scenes[_i];
	int64_t start;
	double ms;

	silence_hosts(sc->n_hosts);
	if (sc->known)
		rig_run(&rig, SWEEP_HEAVY);
	sweeper_request(rig.sweeper, sc->scope, "test");
	go_on(IN_THE_SWEEP_NS);
	start = last_lft_ns = sim_now_ns(rig.sim);
	sim_unlink(rig.sim, find("leaf-7"), 25);
	sim_unlink(rig.sim, find("leaf-8"), 25);
	go_on(8000 * NS_PER_MS);
	ms = (double)(last_lft_ns - start) / NS_PER_MS;
	ck_assert_msg(last_lft_ns > start && ms <= LAST_SET_MS,
	    "%s: the last Set of a forwarding block %.1f ms after the trap", sc->name, ms);
}
END_TEST

START_TEST(a_spine_that_loses_all_its_cables)
{
	uint32_t spine = find("spine-5");
	double ms;

	for (unsigned p = 1; p <= N_LEAVES; p++)
		sim_unlink(rig.sim, spine, p);
	ms = hole_ms();
	ck_assert_msg(ms <= HOLE_MS, "packets have no way for %.1f ms", ms);
}
END_TEST

static const int64_t gaps_ms[] = { 5, 20, 50 };

/* Each trap finds fmd at something else: writing the spine, which does not answer any more. */
START_TEST(a_spine_that_loses_its_cables_one_after_the_other)
{
	uint32_t spine = find("spine-5");
	double ms;

	for (unsigned p = 1; p <= N_LEAVES; p++) {
		sim_unlink(rig.sim, spine, p);
		go_on(gaps_ms[_i] * NS_PER_MS);
	}
	ms = hole_ms();
	ck_assert_msg(ms <= FADING_HOLE_MS, "packets have no way for %.1f ms", ms);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("silent");
	TCase *t = tcase_create("events");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(
	    t, a_cable_is_lost_beside_silent_nodes, 0, sizeof(scenes) / sizeof(scenes[0]));
	tcase_add_test(t, a_spine_that_loses_all_its_cables);
	tcase_add_loop_test(t, a_spine_that_loses_its_cables_one_after_the_other, 0,
	    sizeof(gaps_ms) / sizeof(gaps_ms[0]));
	suite_add_tcase(s, t);
	return run_suite(s);
}
