/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cables that are taken out of routing while they carry packets: after every Set the judge of
 * moments.h, afterwards no table uses them, and when they are back the tables are what they were.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/inventory/isolated.h"
#include "tests/run.h"
#include "tests/sweep/locks.h"
#include "tests/sweep/moments.h"

extern const struct fm_engine fattree_LTX_fm_engine, updn_LTX_fm_engine, dor_LTX_fm_engine;

static struct rig rig;
static struct moments moments;
static struct locks *locks;
static struct isolated isolated;
static struct fm_rng rng;
static uint8_t *tables; /* [n_nodes][n_lids] before */
static uint32_t n_lids;
static char plan_path[64], kept_path[64];

static const struct place {
	const struct fm_engine *engine;
	const char *words;
} places[] = {
	{ &fattree_LTX_fm_engine, "pgft 2 4,4 1,4 1,1" },
	{ &fattree_LTX_fm_engine, "pgft 3 3,3,4 1,3,3 1,1,1" },
	{ &updn_LTX_fm_engine, "random 24 4 2 7" },
	{ &updn_LTX_fm_engine, "torus 4x4 1" },
	{ &dor_LTX_fm_engine, "mesh 4x4 1" },
};
#define N_PLACES ((int)(sizeof(places) / sizeof(*places)))

static void
teardown(void)
{
	free(tables);
	tables = NULL;
	moments_fini(&moments);
	locks_fini(locks);
	locks = NULL;
	rig_fini(&rig);
	isolated_fini(&isolated);
	unlink(plan_path);
	unlink(kept_path);
}

static void
start(const struct place *p, uint64_t seed)
{
	snprintf(plan_path, sizeof(plan_path), "check_isolate.%d.tables", (int)getpid());
	snprintf(kept_path, sizeof(kept_path), "check_isolate.%d.kept", (int)getpid());
	fm_rng_seed(&rng, seed);
	rig_generate(&rig.nl, p->words);
	rig_sim_overtaking(&rig, seed);
	rig.plan_path = plan_path;
	rig.set.isolated = &isolated;
	rig_use(&rig, p->engine);
	rig_bring_up(&rig);
	n_lids = sweeper_plan(rig.sweeper)->top_lid + 1u;
}

static void
bring_up(const struct place *p, uint64_t seed)
{
	start(p, seed);
	moments_watch(&moments, &rig, n_lids);
}

static void
remember_tables(void)
{
	tables = malloc((size_t)rig.nl.n_nodes * n_lids);
	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (uint32_t lid = 1; rig_is_switch(&rig, n) && lid < n_lids; lid++)
			tables[n * n_lids + lid] = sim_lft(rig.sim, n, (uint16_t)lid);
}

static uint32_t
n_entries_that_differ(void)
{
	uint32_t n_differ = 0;

	for (uint32_t n = 0; n < rig.nl.n_nodes; n++)
		for (uint32_t lid = 1; rig_is_switch(&rig, n) && lid < n_lids; lid++)
			n_differ += tables[n * n_lids + lid] != sim_lft(rig.sim, n, (uint16_t)lid);
	return n_differ;
}

static uint32_t
n_entries_over(uint32_t node, unsigned port)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid < n_lids; lid++)
		n += sim_lft(rig.sim, node, (uint16_t)lid) == port;
	return n;
}

/* A switch at one end of a cable between switches, and its port there. */
static uint32_t
random_cable(unsigned *port)
{
	for (;;) {
		uint32_t n = fm_rng_below(&rng, rig.nl.n_nodes);
		unsigned p = 1 + fm_rng_below(&rng, rig.nl.nodes[n].n_ports);
		uint32_t far = netlist_port(&rig.nl, n, p)->peer_node;

		if (!rig_is_switch(&rig, n) || far == NETLIST_NONE || !rig_is_switch(&rig, far))
			continue;
		*port = p;
		return n;
	}
}

static void
expect_unused(uint32_t node, unsigned port)
{
	const struct netlist_port *p = netlist_port(&rig.nl, node, port);
	struct wire_port_info info;

	ck_assert_uint_eq(n_entries_over(node, port), 0);
	ck_assert_uint_eq(n_entries_over(p->peer_node, p->peer_port), 0);
	sim_port_info(rig.sim, node, port, &info);
	ck_assert_uint_eq(info.port_state, WIRE_PORT_ACTIVE);
}

static void
expect_smooth(void)
{
	moments_end(&moments);
	ck_assert_msg(moments.n_loops == 0 && moments.n_holes == 0, "%u loops, %u holes: %s",
	    moments.n_loops, moments.n_holes, moments.first);
}

/* LIDs that find no step keep their entries till light sweeps have found them one; other tables may
 * wait. */
static void
expect_tables_back(void)
{
	for (int i = 0; i < 20; i++) {
		rig_let_pass(&rig, 1000);
		rig_run(&rig, SWEEP_LIGHT);
	}
	ck_assert(
	    n_entries_that_differ() == 0 || sweeper_plan(rig.sweeper)->change.waiting[0] != '\0');
}

START_TEST(a_cable_is_drained_and_comes_back)
{
	uint64_t guid;
	unsigned port;
	uint32_t node;

	bring_up(&places[_i % N_PLACES], (uint64_t)_i);
	remember_tables();
	node = random_cable(&port);
	guid = rig.nl.nodes[node].guid;
	ck_assert(isolated_add(&isolated, guid, (uint8_t)port));
	rig_run(&rig, SWEEP_NAMED);
	rig_expect_up(&rig);
	expect_unused(node, port);
	expect_smooth();
	rig_run(&rig, SWEEP_HEAVY);
	expect_unused(node, port);
	ck_assert(isolated_remove(&isolated, guid, (uint8_t)port));
	rig_run(&rig, SWEEP_NAMED);
	rig_expect_up(&rig);
	expect_smooth();
	expect_tables_back();
}
END_TEST

/* A switch that nobody has seen comes meanwhile: the plan before has no rows of it. */
START_TEST(a_switch_joins_meanwhile)
{
	uint32_t newcomer, node;
	unsigned port;

	fm_rng_seed(&rng, (uint64_t)_i);
	rig_generate(&rig.nl, places[_i % N_PLACES].words);
	rig_sim_overtaking(&rig, (uint64_t)_i);
	rig.set.isolated = &isolated;
	rig_use(&rig, places[_i % N_PLACES].engine);
	newcomer = rig_random_switch(&rig, &rng);
	for (unsigned p = 1; p <= rig.nl.nodes[newcomer].n_ports; p++)
		sim_unlink(rig.sim, newcomer, p);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	for (unsigned p = 1; p <= rig.nl.nodes[newcomer].n_ports; p++)
		if (netlist_port(&rig.nl, newcomer, p)->peer_node != NETLIST_NONE)
			sim_relink(rig.sim, newcomer, p);
	do
		node = random_cable(&port);
	while (node == newcomer || netlist_port(&rig.nl, node, port)->peer_node == newcomer);
	ck_assert(isolated_add(&isolated, rig.nl.nodes[node].guid, (uint8_t)port));
	rig_run(&rig, SWEEP_HEAVY);
	rig_settle(&rig);
	rig_expect_up(&rig);
	n_lids = sweeper_plan(rig.sweeper)->top_lid + 1u;
	expect_unused(node, port);
}
END_TEST

/* Several at once: packets that pass one of them may come round by the new entries of the others.
 * Whoever is cut off by that is so. */
START_TEST(several_cables_are_drained_and_come_back)
{
	uint32_t node[6], n = _i % 2 == 0 ? 3 : 6;
	unsigned port[6];

	bring_up(&places[_i % N_PLACES], 1000 + (uint64_t)_i);
	for (uint32_t i = 0; i < n; i++) {
		node[i] = random_cable(&port[i]);
		ck_assert(isolated_add(&isolated, rig.nl.nodes[node[i]].guid, (uint8_t)port[i]));
	}
	rig_run(&rig, SWEEP_NAMED);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UP);
	expect_smooth();
	for (uint32_t i = 0; i < n; i++)
		expect_unused(node[i], port[i]);
	isolated.items.n = 0;
	rig_run(&rig, SWEEP_NAMED);
	rig_expect_up(&rig);
	expect_smooth();
}
END_TEST

/* Packets on the cable that is isolated wait for others as those on any other. */
START_TEST(packets_never_wait_in_a_ring)
{
	unsigned port;
	uint32_t node;

	start(&places[_i % N_PLACES], 200 + (uint64_t)_i);
	locks = locks_watch(&rig);
	for (int i = 0; i < 6; i++) {
		node = random_cable(&port);
		if (!isolated_remove(&isolated, rig.nl.nodes[node].guid, (uint8_t)port))
			ck_assert(isolated_add(&isolated, rig.nl.nodes[node].guid, (uint8_t)port));
		rig_run(&rig, SWEEP_NAMED);
		rig_settle(&rig);
	}
	isolated_fini(&isolated);
	isolated = (struct isolated){ 0 };
	rig_run(&rig, SWEEP_NAMED);
	rig_settle(&rig);
	ck_assert_msg(locks_n_rings(locks) == 0, "%u rings in %u moments; the first %s",
	    locks_n_rings(locks), locks_n_looks(locks), locks_first(locks));
}
END_TEST

START_TEST(it_outlives_a_restart)
{
	struct fm_error err = { 0 };
	unsigned port;
	uint32_t node;

	bring_up(&places[_i], 40 + (uint64_t)_i);
	node = random_cable(&port);
	ck_assert(isolated_add(&isolated, rig.nl.nodes[node].guid, (uint8_t)port));
	rig_run(&rig, SWEEP_NAMED);
	rig_expect_up(&rig);
	ck_assert_int_eq(isolated_save(kept_path, &isolated, &err), 0);
	rig_stop(&rig);
	isolated_fini(&isolated);
	ck_assert_msg(isolated_load(kept_path, &isolated, &err) == 0, "%s", err.msg);
	rig_bring_up(&rig);
	expect_unused(node, port);
	expect_smooth();
}
END_TEST

/* The far ends of its cables send nothing there but what is for the switch itself. */
static void
expect_nothing_through(uint32_t node)
{
	struct wire_port_info info;

	sim_port_info(rig.sim, node, 0, &info);
	for (unsigned p = 1; p <= rig.nl.nodes[node].n_ports; p++) {
		const struct netlist_port *far = netlist_port(&rig.nl, node, p);

		if (far->peer_node == NETLIST_NONE)
			continue;
		for (uint32_t lid = 1; lid < n_lids; lid++)
			ck_assert(lid == info.lid ||
			    sim_lft(rig.sim, far->peer_node, (uint16_t)lid) != far->peer_port);
	}
}

/* A switch without hosts: nothing goes through it any more. */
START_TEST(a_switch_is_drained_and_comes_back)
{
	uint32_t node = 0, far;
	bool has_host = true;

	bring_up(&places[_i], 80 + (uint64_t)_i);
	remember_tables();
	for (uint32_t n = 0; has_host && n < rig.nl.n_nodes; n++) {
		has_host = !rig_is_switch(&rig, n);
		for (unsigned p = 1; p <= rig.nl.nodes[n].n_ports; p++) {
			far = netlist_port(&rig.nl, n, p)->peer_node;
			has_host = has_host || (far != NETLIST_NONE && !rig_is_switch(&rig, far));
		}
		node = n;
	}
	ck_assert(!has_host);
	ck_assert(isolated_add(&isolated, rig.nl.nodes[node].guid, 0));
	rig_run(&rig, SWEEP_NAMED);
	rig_expect_up(&rig);
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->verdict.unreachable_pairs, 0);
	expect_nothing_through(node);
	expect_smooth();
	ck_assert(isolated_remove(&isolated, rig.nl.nodes[node].guid, 0));
	rig_run(&rig, SWEEP_NAMED);
	rig_expect_up(&rig);
	expect_smooth();
	ck_assert_uint_eq(n_entries_that_differ(), 0);
}
END_TEST

static const char *const bad_lines[] = { "switch", "switch 0", "switch x", "link 0x10",
	"link 0x10 0", "link 0x10 255", "link 0x10 1 2", "switch 0x10 1", "host 0x10",
	"switch 0x10 spine-1", "link 0x10 1 \"", "link 0x10 \"spine-1\"", "quarantined 0x10 1",
	"quarantined 0x10 1 5 why", "quarantined 0x10 1 0 \"why\"", "quarantined 0x10 1 5 \"why",
	"quarantined 0x10 1 5 \"why\" spine-1" };

START_TEST(a_bad_line_is_refused_whole)
{
	struct fm_error err = { 0 };
	FILE *f;

	snprintf(kept_path, sizeof(kept_path), "check_isolate.%d.kept", (int)getpid());
	f = fopen(kept_path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "switch 0x11\n%s\n", bad_lines[_i]);
	fclose(f);
	ck_assert_int_eq(isolated_load(kept_path, &isolated, &err), FM_E_CONFIG);
	ck_assert_ptr_nonnull(strstr(err.msg, ":2: a line is"));
	ck_assert_uint_eq(isolated.items.n, 0);
}
END_TEST

/* What fmd has taken out is told apart, with whatever was the reason. */
START_TEST(quarantined_ones_are_kept)
{
	struct isolated read = { 0 };
	struct fm_error err = { 0 };
	const struct isolated_item *item;

	snprintf(kept_path, sizeof(kept_path), "check_isolate.%d.kept", (int)getpid());
	ck_assert(isolated_add(&isolated, 0x10, 0) && isolated_add(&isolated, 0x11, 7));
	isolated_name(&isolated, 0x11, 7, "leaf \"1\"");
	isolated_quarantine(&isolated, 0x11, 7, 1764437000, "9 of \"leaf # 1\"\n port 7");
	ck_assert_int_eq(isolated_save(kept_path, &isolated, &err), 0);
	ck_assert_msg(isolated_load(kept_path, &read, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(isolated_n_quarantined(&read), 1);
	item = isolated_at(&read, 0x11, 7);
	ck_assert_int_eq(item->quarantined_s, 1764437000);
	ck_assert_str_eq(item->reason, "9 of 'leaf ' 1'' port 7");
	ck_assert_str_eq(item->name, "leaf \"1\"");
	ck_assert_int_eq(isolated_at(&read, 0x10, 0)->quarantined_s, 0);
	isolated_fini(&read);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("isolate");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, quarantined_ones_are_kept);
	tcase_add_loop_test(t, a_cable_is_drained_and_comes_back, 0, 4 * N_PLACES);
	tcase_add_loop_test(t, a_switch_joins_meanwhile, 0, 8 * N_PLACES);
	tcase_add_loop_test(t, several_cables_are_drained_and_come_back, 0, n_cases(40 * N_PLACES));
	tcase_add_loop_test(t, packets_never_wait_in_a_ring, 0, n_cases(16 * N_PLACES));
	tcase_add_loop_test(t, it_outlives_a_restart, 0, N_PLACES);
	tcase_add_loop_test(t, a_switch_is_drained_and_comes_back, 0, 2);
	tcase_add_loop_test(
	    t, a_bad_line_is_refused_whole, 0, (int)(sizeof(bad_lines) / sizeof(*bad_lines)));
	suite_add_tcase(s, t);
	return run_suite(s);
}
