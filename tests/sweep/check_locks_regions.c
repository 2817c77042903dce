/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As check_locks.c, with regions whose engines have VLs, composed anew after each loss.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/composed.h"
#include "tests/run.h"
#include "tests/sweep/locks.h"

static struct composed composed;
static struct rig rig;
static struct locks *locks;
static struct fm_rng rng;
static char patterns[3][32];
static struct node_item items[3];
static struct region_members members[3]; /* the default region has none */

static const struct place {
	enum plan_join join;
	const char *core_engine, *core, *engine, *island;
	uint64_t seed;
} places[] = {
	{ PLAN_FLAT, "dfsssp", "torus 3x3 1", "dfsssp", "random 8 3 1 3", 100 },
	{ PLAN_FLAT, "dfsssp", "torus 4x4 1", "dfsssp", "torus 4x4 1", 101 },
	{ PLAN_ISLANDS, "updn", "torus 3x3 1", "dfsssp", "random 8 3 1 3", 100 },
	{ PLAN_ISLANDS, "updn", "random 8 4 1 3", "torus2qos", "torus 4x4 1", 202 },
	{ PLAN_FLAT, "lash", "random 8 4 1 3", "dfsssp", "random 8 3 1 3", 102 },
	{ PLAN_FLAT, "dfsssp", "torus 3x3 1", "dfsssp", "random 8 3 1 3", 400 },
	{ PLAN_FLAT, "lash", "random 8 4 1 3", "lash", "random 8 3 1 3", 202 },
	{ PLAN_FLAT, "lash", "torus 4x4 1", "lash", "torus 4x4 1", 302 },
	{ PLAN_FLAT, "dfsssp", "torus 5x5 1", "dfsssp", "mesh 3x3 1", 101 },
};
#define N_PLACES ((int)(sizeof(places) / sizeof(*places)))

static void
teardown(void)
{
	locks_fini(locks);
	locks = NULL;
	rig_fini(&rig);
	composed_fini(&composed);
}

/* Two regions round a core, joined to it and, unless they are islands, to one another. */
static void
bring_up(const struct place *p)
{
	struct part part[3];
	struct sim_options o;
	struct fm_error err = { 0 };

	composed_init(&composed, 1);
	for (uint16_t r = 0; r < 3; r++) {
		add_region(&composed, r == 0 ? p->core_engine : p->engine);
		part[r] = add_part(&composed, r == 0 ? p->core : p->island, r);
		snprintf(patterns[r], sizeof(patterns[r]), "name:p%u-*", part[r].first);
		ck_assert_int_eq(node_item_parse(patterns[r], &items[r], &err), 0);
		if (r > 0)
			members[r] = (struct region_members){ &items[r], 1, "test", r };
	}
	for (uint32_t i = 0; i < 6; i++)
		if (p->join != PLAN_ISLANDS || i % 3 != 1)
			join_nodes(&composed, pick_switch(&composed, part[i % 3], PICK_ANY, i),
			    pick_switch(&composed, part[(i + 1) % 3], PICK_ANY, 2 * i + 1));
	composed.set.members = members;
	if (p->join == PLAN_FLAT)
		composed.set.replies = REPLIES_IGNORE; /* else it is not safe */
	rig.nl = composed.nl;
	memset(&composed.nl, 0, sizeof(composed.nl));
	sim_options_default(&o);
	o.seed = p->seed;
	o.delay_max_ns = 200000; /* much more than one SMP takes: they overtake */
	fm_rng_seed(&rng, p->seed);
	rig_sim(&rig, &o);
	rig.chain = composed.region[0].chain;
	rig.regions = &composed.set;
	rig_start(&rig);
	rig.router.skip_repairs = true;
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_int_eq(sweeper_plan(rig.sweeper)->regions->join, p->join);
	locks = locks_watch(&rig);
}

static void
expect_no_rings(void)
{
	ck_assert_msg(locks_n_rings(locks) == 0, "%u rings in %u moments; the first %s",
	    locks_n_rings(locks), locks_n_looks(locks), locks_first(locks));
	rig_expect_maps(&rig);
}

START_TEST(losses_are_composed_anew)
{
	bring_up(&places[_i]);
	/* joined flat at least until entries have been emptied */
	for (unsigned i = 0; i < (locks_n_emptied(locks) == 0 ? 40 : n_slow_rounds(4, 40));) {
		uint32_t n = fm_rng_below(&rng, rig.nl.n_nodes);
		unsigned p = 1 + fm_rng_below(&rng, rig.nl.nodes[n].n_ports);
		uint32_t far = netlist_port(&rig.nl, n, p)->peer_node;

		if (!rig_is_switch(&rig, n) || far == NETLIST_NONE || !rig_is_switch(&rig, far))
			continue;
		i++;
		sim_unlink(rig.sim, n, p);
		rig_settle(&rig);
		expect_no_rings();
		sim_relink(rig.sim, n, p);
		rig_settle(&rig);
		expect_no_rings();
		rig_expect_up(&rig);
	}
	if (places[_i].join == PLAN_FLAT)
		ck_assert_uint_gt(locks_n_emptied(locks), 0);
}
END_TEST

/* Each while fmd waits: what comes back meanwhile is put off. */
START_TEST(losses_come_in_a_row)
{
	struct place p = places[1];

	p.seed = 1;
	bring_up(&p);
	for (unsigned i = 0; i < 2; i++) {
		struct sim_place c[3];

		for (unsigned j = 0; j < 3; j++) {
			c[j] = rig_lose_a_cable(&rig, &rng);
			rig_run_to_wait(&rig);
		}
		rig_settle(&rig);
		expect_no_rings();
		for (unsigned j = 0; j < 3; j++) {
			sim_relink(rig.sim, c[j].node, c[j].port);
			rig_run_to_wait(&rig);
		}
		rig_settle(&rig);
		expect_no_rings();
		rig_expect_up(&rig);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("locks");
	TCase *t = tcase_create("regions");

	if (!load_engines())
		return 1;
	tcase_set_timeout(t, 3000);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, losses_are_composed_anew, 0, (int)n_cases(N_PLACES));
	tcase_add_test(t, losses_come_in_a_row);
	suite_add_tcase(s, t);
	return run_suite(s);
}
