/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast on a simulated fabric: what is in the switches carries a packet of a
 * group from each who sends to all who receive, after joins, leaves, lost cables, resets
 * and restarts; and an unchanged fabric is written nothing.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/ask/sweeper.h"
#include "core/inventory/isolated.h"
#include "core/mcast/mft_rows.h"
#include "core/sweep/well.h"
#include "lib/bitset.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

#define MLID 0xc003
#define N_BLOCKS 32 /* that any test writes to */
#define BOTH (MCAST_RECEIVES | MCAST_SENDS)

static struct rig rig;
static struct isolated isolated;
static uint8_t *roles; /* [n_nodes] */
static uint32_t *copies;
static uint32_t n_hops;

static void
prepare(const char *words)
{
	rig_generate(&rig.nl, words);
	rig_sim(&rig, NULL);
	rig_start(&rig);
	roles = calloc(rig.nl.n_nodes, 1);
	copies = calloc(rig.nl.n_nodes, sizeof(*copies));
}

static void
teardown(void)
{
	rig_fini(&rig);
	isolated_fini(&isolated);
	free(roles);
	free(copies);
}

/* A block as it is in a switch, NULL: nothing was ever written. */
static const uint8_t *
block_of(uint32_t node, uint32_t block, uint32_t position)
{
	const uint8_t *mft = sim_fabric(rig.sim)->nodes[node].mft;

	return mft == NULL ? NULL : mft + ((size_t)position * (SIM_MCAST_CAP / 32) + block) * 64;
}

static bool
sends_by(uint32_t node, uint16_t mlid, unsigned port)
{
	uint32_t i = mlid - MCAST_MLID_FIRST;
	const uint8_t *at = block_of(node, i / 32, port / 16);

	return at != NULL && (wire_get16(at + i % 32 * 2) >> (port % 16) & 1);
}

/* What others are told of the tables is what the switches hold. */
static void
check_rows(void)
{
	const struct inventory *inv = sweeper_inventory(rig.sweeper);
	const struct mft_rows *rows = sweeper_mfts(rig.sweeper);
	static const uint8_t empty[64];

	for (uint32_t node = 0; node < rig.nl.n_nodes; node++) {
		uint32_t slot = inv_find(inv, rig.nl.nodes[node].guid);

		if (rig.nl.nodes[node].type != NETLIST_SWITCH)
			continue;
		for (uint32_t i = 0; i < N_BLOCKS * mft_n_positions(rig.nl.nodes[node].n_ports);
		     i++) {
			const struct mft_block *told = mft_rows_find(
			    rows, inv_node(inv, slot)->sw_index, i % N_BLOCKS, i / N_BLOCKS);
			const uint8_t *held = block_of(node, i % N_BLOCKS, i / N_BLOCKS);
			uint8_t bytes[64] = { 0 };

			if (told != NULL)
				wire_mft_put(bytes, told->ports);
			ck_assert_mem_eq(bytes, held != NULL ? held : empty, sizeof(bytes));
			ck_assert(told == NULL || memcmp(bytes, empty, sizeof(bytes)) != 0);
		}
	}
}

/* Switches whose row is another object. */
static uint32_t
n_new_rows(const struct mft_rows *a, const struct mft_rows *b)
{
	uint32_t n = 0;

	for (fm_sw sw = 0; sw < b->n_switches; sw++)
		n += sw >= a->n_switches || a->row[sw] != b->row[sw];
	return n;
}

static void
pour(uint32_t node, unsigned in)
{
	struct sim_fabric *f = sim_fabric(rig.sim);

	ck_assert_uint_lt(n_hops++, 4 * rig.nl.n_nodes);
	for (unsigned p = 1; p <= rig.nl.nodes[node].n_ports; p++) {
		const struct netlist_port *to = netlist_port(&rig.nl, node, p);

		if (p == in || !sends_by(node, MLID, p) ||
		    port_state(fabric_port(f, node, p)) != WIRE_PORT_ACTIVE)
			continue;
		if (rig.nl.nodes[to->peer_node].type == NETLIST_SWITCH)
			pour(to->peer_node, to->peer_port);
		else
			copies[to->peer_node]++;
	}
}

/* From every sender to all receivers, once, and to nobody else. */
static void
check_group(void)
{
	for (uint32_t s = 0; s < rig.nl.n_nodes; s++) {
		const struct netlist_port *at = netlist_port(&rig.nl, s, 1);

		if (!(roles[s] & MCAST_SENDS))
			continue;
		memset(copies, 0, rig.nl.n_nodes * sizeof(*copies));
		n_hops = 0;
		pour(at->peer_node, at->peer_port);
		for (uint32_t d = 0; d < rig.nl.n_nodes; d++)
			ck_assert_uint_eq(copies[d], d != s && (roles[d] & MCAST_RECEIVES));
	}
	check_rows();
}

static void
set(uint32_t node, unsigned what)
{
	roles[node] = (uint8_t)what;
	ck_assert(
	    sweeper_set_member(rig.sweeper, MLID, 0, netlist_port(&rig.nl, node, 1)->guid, what));
}

static void
step(void)
{
	rig_let_pass(&rig, 1);
}

static void
join_some(unsigned every)
{
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		if (rig.nl.nodes[i].type == NETLIST_CA && i % every == 0)
			set(i, i % (3 * every) == 0 ? MCAST_SENDS : BOTH);
}

static uint64_t
mft_sets(void)
{
	return sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_MFT];
}

static uint64_t
mft_gets(void)
{
	return sim_counts(rig.sim)->gets_by_attr[WIRE_ATTR_MFT];
}

static const char *const fabrics[] = { "pgft 3 3,3,3 1,3,3 1,1,1", "torus 4x4 2",
	"random 12 4 3 3" };
#define N_FABRICS (int)(sizeof(fabrics) / sizeof(*fabrics))

/* A table that is on its way is not held yet. */
static void
check_not_well(void *arg, const struct sim_trace *e)
{
	(void)arg;
	if (e->method == WIRE_SET && e->attr == WIRE_ATTR_MFT)
		ck_assert(!sweeper_is_well(rig.sweeper));
}

START_TEST(members_come_and_go)
{
	struct fm_rng rng;

	fm_rng_seed(&rng, 2);
	prepare(fabrics[_i]);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(mft_gets() + mft_sets(), 0); /* nobody asked for multicast */
	sim_set_trace(rig.sim, check_not_well, NULL);
	join_some(2);
	ck_assert(!sweeper_is_well(rig.sweeper));
	step();
	ck_assert(sweeper_is_well(rig.sweeper));
	check_group();
	for (int i = 0; i < 60; i++) {
		uint32_t node = fm_rng_below(&rng, rig.nl.n_nodes), was = rig.n_reports;
		uint64_t sets = mft_sets();
		struct mft_rows *before;

		if (rig.nl.nodes[node].type != NETLIST_CA)
			continue;
		before = mft_rows_get(sweeper_mfts(rig.sweeper));
		set(node, roles[node] != MCAST_OUT ? MCAST_OUT : BOTH);
		step();
		check_group();
		ck_assert_uint_eq(rig.n_reports, was); /* no sweep for it */
		ck_assert_uint_le(mft_sets() - sets, 12);
		ck_assert_uint_le(n_new_rows(before, sweeper_mfts(rig.sweeper)), mft_sets() - sets);
		mft_rows_put(before);
	}
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		if (roles[i] != MCAST_OUT)
			set(i, MCAST_OUT);
	step();
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		for (unsigned p = 0; p <= rig.nl.nodes[i].n_ports; p++)
			ck_assert(!sends_by(i, MLID, p));
	check_rows();
}
END_TEST

START_TEST(cables_and_switches_fail)
{
	struct fm_rng rng;
	uint64_t sets;

	fm_rng_seed(&rng, 7);
	prepare(fabrics[_i]);
	join_some(1); /* before the subnet is up */
	rig_run(&rig, SWEEP_HEAVY);
	rig_run(&rig, SWEEP_NAMED);
	check_group();
	for (int i = 0; i < 12; i++) {
		uint32_t node = fm_rng_below(&rng, rig.nl.n_nodes);
		unsigned p;

		if (rig.nl.nodes[node].type != NETLIST_SWITCH)
			continue;
		p = 1 + fm_rng_below(&rng, rig.nl.nodes[node].n_ports);
		if (netlist_port(&rig.nl, node, p)->peer_node == NETLIST_NONE ||
		    rig.nl.nodes[netlist_port(&rig.nl, node, p)->peer_node].type != NETLIST_SWITCH)
			continue;
		rig_let_pass(&rig, 20);
		rig_run(&rig, SWEEP_LIGHT); /* who was out of reach for a moment */
		check_group();
		rig_let_pass(&rig, 20);
		rig_run(&rig, SWEEP_LIGHT); /* who was out of reach for a moment */
		check_group();
	}
	sets = mft_sets();
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(mft_sets(), sets);
}
END_TEST

/* A packet of each sender, now: it goes round nowhere, and nobody gets it twice. */
static void
on_mft_set(void *arg, const struct sim_trace *e)
{
	(void)arg;
	if (e->method != WIRE_SET || e->attr != WIRE_ATTR_MFT)
		return;
	for (uint32_t s = 0; s < rig.nl.n_nodes; s++) {
		const struct netlist_port *at = netlist_port(&rig.nl, s, 1);

		if (!(roles[s] & MCAST_SENDS))
			continue;
		memset(copies, 0, rig.nl.n_nodes * sizeof(*copies));
		n_hops = 0;
		pour(at->peer_node, at->peer_port);
		for (uint32_t d = 0; d < rig.nl.n_nodes; d++)
			ck_assert_uint_le(copies[d], 1);
	}
}

/* Old entries send over isolated cables till they are written. */
START_TEST(isolated_cables_close_no_circle)
{
	struct fm_rng rng;

	fm_rng_seed(&rng, 100 + (uint64_t)_i);
	prepare(fabrics[_i % N_FABRICS]);
	rig_stop(&rig);
	rig.set.isolated = &isolated;
	rig_start(&rig);
	join_some(1);
	rig_run(&rig, SWEEP_HEAVY);
	rig_run(&rig, SWEEP_NAMED);
	check_group();
	sim_set_trace(rig.sim, on_mft_set, NULL);
	for (int i = 0; i < 12; i++) {
		uint32_t node = fm_rng_below(&rng, rig.nl.n_nodes);
		unsigned p = 1 + fm_rng_below(&rng, rig.nl.nodes[node].n_ports);
		uint32_t far = netlist_port(&rig.nl, node, p)->peer_node;

		if (far == NETLIST_NONE || rig.nl.nodes[node].type != NETLIST_SWITCH ||
		    rig.nl.nodes[far].type != NETLIST_SWITCH)
			continue;
		if (isolated.items.n > 1)
			isolated.items.n = 0;
		else
			ck_assert(isolated_add(&isolated, rig.nl.nodes[node].guid, (uint8_t)p));
		rig_run(&rig, SWEEP_NAMED);
		rig_run(&rig, SWEEP_NAMED);
		check_group();
		ck_assert(isolated.items.n == 0 || !sends_by(node, MLID, p));
	}
}
END_TEST

/* Who joins while the trees are being made is in them, or on them right after: no sweep more.  A
 * group of another SL needs one. */
START_TEST(trees_are_made_once_for_a_crowd)
{
	uint32_t was, node, n_late = 0;
	struct fm_error err = { 0 };

	prepare(fabrics[0]);
	rig_run(&rig, SWEEP_HEAVY);
	was = rig.n_reports;
	node = rig.nl.n_nodes - 1;
	set(node, BOTH);
	for (int i = 0; i < 100000 && !sweeper_idle(rig.sweeper); i++) {
		sweeper_step(rig.sweeper);
		do
			node = (node + 1) % rig.nl.n_nodes;
		while (rig.nl.nodes[node].type != NETLIST_CA);
		if (sweeper_phase(rig.sweeper) > PHASE_ROUTE && roles[node] == MCAST_OUT) {
			set(node, BOTH);
			n_late++;
		}
		if (_i != 0 && n_late == 1)
			ck_assert(sweeper_set_member(
			    rig.sweeper, MLID + 1, 3, netlist_port(&rig.nl, node, 1)->guid, BOTH));
		ck_assert(txn_poll(rig.txn, sim_now_ns(rig.sim) + 1000, &err) >= 0);
	}
	ck_assert_uint_gt(n_late, 2);
	step();
	check_group();
	ck_assert_uint_eq(rig.n_reports, was + 1 + (_i != 0));
	ck_assert_uint_eq(sweeper_plan(rig.sweeper)->mcast->sls, _i != 0 ? 1u << 3 | 1 : 1);
}
END_TEST

/* The table is gone with the power: it is written again. */
START_TEST(a_switch_is_reset)
{
	uint32_t node = 0;

	prepare(fabrics[0]);
	rig_run(&rig, SWEEP_HEAVY);
	join_some(1);
	step();
	check_group();
	while (rig.nl.nodes[node].type != NETLIST_SWITCH)
		node++;
	sim_reboot(rig.sim, node, 5000000);
	rig_let_pass(&rig, 50);
	rig_run(&rig, SWEEP_HEAVY);
	check_group();
}
END_TEST

/* Another process: what is in the switches is read, and right. */
START_TEST(a_restart_writes_nothing)
{
	uint64_t sets;

	prepare(fabrics[_i]);
	rig_run(&rig, SWEEP_HEAVY);
	join_some(2);
	step();
	check_group();
	sets = mft_sets();
	rig_stop(&rig);
	rig_start(&rig);
	join_some(2);
	rig_run(&rig, SWEEP_HEAVY);
	step();
	check_group();
	ck_assert_uint_gt(mft_gets(), 0);
	ck_assert_uint_eq(mft_sets(), sets);
	set(rig.nl.n_nodes - 1, roles[rig.nl.n_nodes - 1] ^ BOTH); /* and goes on from there */
	step();
	check_group();
}
END_TEST

/* Switches with a MulticastFDBTop have it above what is in use, before it is used. */
START_TEST(the_top_is_above_what_is_used)
{
	struct wire_switch_info si;
	struct sim_fabric *f;
	uint32_t node = 0;

	prepare(fabrics[0]);
	f = sim_fabric(rig.sim);
	while (rig.nl.nodes[node].type != NETLIST_SWITCH)
		node++;
	{
		struct sim_port *p = fabric_port(f, node, 0);
		struct wire_port_info info;

		wire_port_info_get(p->info, &info);
		info.capability_mask |= WIRE_CAP_MULTICAST_FDB_TOP;
		wire_port_info_put(p->info, &info);
	}
	rig_run(&rig, SWEEP_HEAVY);
	wire_switch_info_get(f->nodes[node].switch_info, &si);
	ck_assert_uint_eq(si.mcast_fdb_top, 0); /* no groups: left alone */
	join_some(1);
	step();
	wire_switch_info_get(f->nodes[node].switch_info, &si);
	ck_assert_uint_ge(si.mcast_fdb_top, MLID);
	ck_assert_uint_lt(si.mcast_fdb_top, MLID + 200);
	ck_assert(sweeper_set_member(
	    rig.sweeper, 0xc300, 0, netlist_port(&rig.nl, rig.place, 1)->guid, BOTH));
	step();
	wire_switch_info_get(f->nodes[node].switch_info, &si);
	ck_assert_uint_ge(si.mcast_fdb_top, 0xc300);
	wire_switch_info_get(f->nodes[node == 0 ? 1 : node + 1].switch_info, &si);
	ck_assert_uint_eq(si.mcast_fdb_top, 0); /* has none */
}
END_TEST

/* Packets are lost: what was in doubt is right after another sweep. */
START_TEST(losses_are_made_good)
{
	prepare(fabrics[0]);
	rig_run(&rig, SWEEP_HEAVY);
	join_some(1);
	step();
	sim_set_loss(rig.sim, 0.1);
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		if (rig.nl.nodes[i].type == NETLIST_CA && i % 2) {
			set(i, MCAST_OUT);
			step();
		}
	sim_set_loss(rig.sim, 0);
	rig_run(&rig, SWEEP_HEAVY);
	check_group();
}
END_TEST

/* Who joins after a sweep that has failed is a member, and fmd goes on. */
START_TEST(joins_after_a_failed_sweep)
{
	prepare(fabrics[0]);
	rig_run(&rig, SWEEP_HEAVY);
	join_some(3);
	step();
	sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
	sweeper_step(rig.sweeper);
	sweep_fail(rig.sweeper, FM_E_SYSTEM, "test");
	step();
	ck_assert_int_eq(rig.last.outcome, SWEEP_FAILED);
	join_some(1);
	step();
	check_group();
}
END_TEST

/* ... and what another SM has taken out, while it ruled. */
START_TEST(another_sm_has_ruled)
{
	struct sim_fabric *f;
	struct fm_error err;
	uint32_t sm;

	prepare(fabrics[0]);
	rig_run(&rig, SWEEP_HEAVY);
	join_some(1);
	step();
	sm = rig.nl.n_nodes - 1;
	while (rig.nl.nodes[sm].type != NETLIST_CA)
		sm--;
	ck_assert_int_eq(sim_set_sm(rig.sim, sm, 9, WIRE_SM_STANDBY, &err), 0);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_int_eq(rig.last.outcome, SWEEP_STANDBY);
	f = sim_fabric(rig.sim);
	for (uint32_t n = 0; n < f->n_nodes; n++)
		if (f->nodes[n].mft != NULL)
			memset(f->nodes[n].mft, 0, (size_t)SIM_MCAST_CAP * 2);
	ck_assert_int_eq(sim_set_sm(rig.sim, sm, 9, WIRE_SM_NOT_ACTIVE, &err), 0);
	rig_run(&rig, SWEEP_HEAVY);
	check_group();
}
END_TEST

START_TEST(a_dry_run_writes_nothing)
{
	prepare(fabrics[0]);
	rig_stop(&rig);
	rig.set.dry_run = true;
	rig_start(&rig);
	join_some(1);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(mft_sets(), 0);
}
END_TEST

START_TEST(the_smallest_table_counts)
{
	prepare(fabrics[0]);
	ck_assert_uint_eq(sweeper_last_mlid(rig.sweeper), 0);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(sweeper_last_mlid(rig.sweeper), 0xc000 + SIM_MCAST_CAP - 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("groups in switches");
	TCase *t = tcase_create("groups in switches");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, members_come_and_go, 0, N_FABRICS);
	tcase_add_loop_test(t, cables_and_switches_fail, 0, N_FABRICS);
	tcase_add_loop_test(t, isolated_cables_close_no_circle, 0, 20 * N_FABRICS);
	tcase_add_loop_test(t, trees_are_made_once_for_a_crowd, 0, 2);
	tcase_add_test(t, a_switch_is_reset);
	tcase_add_loop_test(t, a_restart_writes_nothing, 0, N_FABRICS);
	tcase_add_test(t, the_top_is_above_what_is_used);
	tcase_add_test(t, losses_are_made_good);
	tcase_add_test(t, joins_after_a_failed_sweep);
	tcase_add_test(t, another_sm_has_ruled);
	tcase_add_test(t, a_dry_run_writes_nothing);
	tcase_add_test(t, the_smallest_table_counts);
	suite_add_tcase(s, t);
	return run_suite(s);
}
