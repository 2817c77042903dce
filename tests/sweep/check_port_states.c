/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an event asks of switches that tell the states of their ports in one table: counts of Gets
 * by attribute, and that nothing is missed where the table is wrong, silent, or a lie.
 */
#include <check.h>
#include <string.h>

#include "tests/run.h"
#include "tests/sweep/rig.h"

#define NS_PER_S INT64_C(1000000000)

static struct rig rig;

static void
teardown(void)
{
	rig_fini(&rig);
}

/* ----------------------------------------------------------------- a fabric */

static void
bring_up(const char *words, enum sim_port_states how)
{
	struct sim_options o;

	sim_options_default(&o);
	o.port_states = how;
	rig_generate(&rig.nl, words);
	rig_sim(&rig, &o);
	rig_bring_up(&rig);
	rig_let_pass(&rig, 3000);
	rig_run(&rig, SWEEP_LIGHT); /* what was brought up has not fallen since */
	rig_log_clear();
}

/* The switch of a host, which is the n-th. */
static uint32_t
leaf_of(uint32_t n)
{
	return netlist_port(&rig.nl, rig_host(&rig, n), 1)->peer_node;
}

static uint32_t
last_leaf(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		n += rig.nl.nodes[i].type == NETLIST_CA;
	return leaf_of(n - 1);
}

/* A switch without hosts: the last one. */
static uint32_t
last_spine(void)
{
	uint32_t found = NETLIST_NONE;

	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		if (rig_is_switch(&rig, i) && i != last_leaf())
			found = i;
	for (unsigned p = 1; p <= rig.nl.nodes[found].n_ports; p++)
		ck_assert(netlist_port(&rig.nl, found, p)->peer_node == NETLIST_NONE ||
		    rig_is_switch(&rig, netlist_port(&rig.nl, found, p)->peer_node));
	return found;
}

static void
cut_off(uint32_t node, bool out)
{
	for (unsigned p = 1; p <= rig.nl.nodes[node].n_ports; p++) {
		if (netlist_port(&rig.nl, node, p)->peer_node == NETLIST_NONE)
			continue;
		if (out)
			sim_unlink(rig.sim, node, p);
		else
			sim_relink(rig.sim, node, p);
	}
}

/* ------------------------------------------------------------------- counts */

struct gets {
	uint64_t all, port_info, switch_info, states, node_info;
};

static struct gets
gets_now(void)
{
	const uint64_t *by = sim_counts(rig.sim)->gets_by_attr;
	struct gets g = { .port_info = by[WIRE_ATTR_PORT_INFO],
		.switch_info = by[WIRE_ATTR_SWITCH_INFO],
		.states = by[WIRE_ATTR_PORT_STATES],
		.node_info = by[WIRE_ATTR_NODE_INFO] };

	for (unsigned i = 0; i < 256; i++)
		g.all += by[i];
	return g;
}

static struct gets
gets_since(struct gets before)
{
	struct gets now = gets_now();

	now.all -= before.all;
	now.port_info -= before.port_info;
	now.switch_info -= before.switch_info;
	now.states -= before.states;
	now.node_info -= before.node_info;
	return now;
}

/* Of an event: a node without cables, or with all of them again.  Who has lost its way to us tells
 * us of it once more after a second, and is read again for that: it does not count here. */
static struct gets
gets_of(uint32_t node, bool out)
{
	struct gets before = gets_now(), of;

	cut_off(node, out);
	rig_let_pass(&rig, 500);
	rig_expect_up(&rig);
	of = gets_since(before);
	rig_let_pass(&rig, 2500);
	rig_expect_up(&rig);
	printf(
	    "%s %s: %lu Gets, %lu of PortInfo, %lu of SwitchInfo, %lu of tables, %lu of NodeInfo\n",
	    rig.nl.nodes[node].id, out ? "lost" : "back", of.all, of.port_info, of.switch_info,
	    of.states, of.node_info);
	return of;
}

#define TREE_648 "pgft 2 18,36 1,18 1,1" /* 18 spines above 36 leaves */

/* Each of 18 spines: SwitchInfo, its table, the port that has lost its link. */
START_TEST(leaf_lost)
{
	struct gets g;

	bring_up(TREE_648, SIM_STATES_TRUE);
	g = gets_of(last_leaf(), true);
	ck_assert_uint_le(g.all, 60);
	ck_assert_uint_eq(g.states, 18);
	ck_assert_uint_eq(g.port_info, 18);
}
END_TEST

/* When it comes back: NodeInfo by each cable, and the ends of each are read as they are armed. */
START_TEST(spine_lost_and_back)
{
	struct gets g;

	bring_up(TREE_648, SIM_STATES_TRUE);
	g = gets_of(last_spine(), true);
	ck_assert_uint_le(g.all, 110);
	ck_assert_uint_eq(g.states, 36);
	ck_assert_uint_eq(g.port_info, 36);
	sim_reboot(
	    rig.sim, last_spine(), NS_PER_S); /* it comes back without a LID, and tells nothing */
	rig_let_pass(&rig, 3000);
	g = gets_of(last_spine(), false);
	ck_assert_uint_le(g.all, 235);
	ck_assert_uint_eq(g.states, 36);
	ck_assert_uint_eq(g.node_info, 36);
}
END_TEST

START_TEST(without_tables)
{
	struct gets g;

	bring_up(TREE_648, SIM_STATES_NONE);
	g = gets_of(last_leaf(), true);
	ck_assert_uint_le(g.all, 689);
	ck_assert_uint_eq(g.port_info, 18 * 37);
	cut_off(last_leaf(), false);
	rig_let_pass(&rig, 3000);
	rig_run(&rig, SWEEP_LIGHT);
	g = gets_of(last_spine(), true);
	ck_assert_uint_le(g.all, 1385);
	ck_assert_uint_ge(g.port_info, 36 * 37);
	ck_assert_uint_eq(gets_now().states, 0);
}
END_TEST

/* What a switch has brought up since its last word may have fallen with its power: port 0 tells. */
START_TEST(brought_up_just_now)
{
	struct sim_options o;
	struct gets g;

	sim_options_default(&o);
	rig_generate(&rig.nl, "pgft 2 4,4 1,4 1,1");
	rig_sim(&rig, &o);
	rig_bring_up(&rig);
	g = gets_of(last_leaf(), true);
	ck_assert_uint_eq(g.states, 4);
	ck_assert_uint_eq(g.port_info, 4 + 4);
}
END_TEST

/* Two blocks. */
START_TEST(many_ports)
{
	struct gets g;

	bring_up("pgft 1 200 1 1", SIM_STATES_TRUE);
	g = gets_of(rig_host(&rig, 150), true);
	ck_assert_uint_eq(g.states, 2);
	ck_assert_uint_eq(g.port_info, 1);
	g = gets_of(rig_host(&rig, 3), true);
	ck_assert_uint_eq(g.states, 2);
	ck_assert_uint_eq(g.port_info, 1);
	gets_of(rig_host(&rig, 150), false);
	ck_assert_uint_eq(rig.last.n_cas, 199);
}
END_TEST

/* ------------------------------------------------------------- tables that are none */

#define TREE_16 "pgft 2 4,4 1,4 1,1"

static uint32_t
in_log(const char *words)
{
	uint32_t n = 0;

	for (const char *at = rig_log; (at = strstr(at, words)) != NULL; at++)
		n++;
	return n;
}

/* The cable of a leaf's n-th port to a spine, in or out; 32 of them when all are in. */
static void
expect_links(uint32_t n)
{
	rig_let_pass(&rig, 3000);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.last.n_links, n);
}

static unsigned
up_port(uint32_t leaf, unsigned n)
{
	for (unsigned p = 1; p <= rig.nl.nodes[leaf].n_ports; p++)
		if (netlist_port(&rig.nl, leaf, p)->peer_node != NETLIST_NONE &&
		    rig_is_switch(&rig, netlist_port(&rig.nl, leaf, p)->peer_node) && n-- == 0)
			return p;
	ck_abort_msg("not so many cables up");
}

static const struct {
	enum sim_port_states how;
	const char *words;
	uint32_t n_events; /* till it is told */
} wrong[] = { { SIM_STATES_REFUSED, "and refuses it: its ports are read one by one", 1 },
	{ SIM_STATES_SILENT, "and does not answer for it: its ports are read one by one", 2 },
	{ SIM_STATES_ZERO,
	    "and says that port 1 is in state 0, which does not exist: its ports are read one by "
	    "one",
	    1 },
	{ SIM_STATES_STUCK,
	    "and tells other states in it than its ports do: its ports are read one by one", 4 } };

/* Each change is found at once, as without a table; that there is none is told once a switch, and
 * it is not asked for the table any more. */
START_TEST(wrong_table)
{
	uint32_t leaf, told = 0;
	struct gets before;

	bring_up(TREE_16, wrong[_i].how);
	leaf = last_leaf();
	for (uint32_t event = 1; event <= 8; event++) {
		unsigned port = up_port(leaf, 0);

		if (event % 2 == 1)
			sim_unlink(rig.sim, leaf, port);
		else
			sim_relink(rig.sim, leaf, port);
		expect_links(event % 2 == 1 ? 31 : 32);
		if (told == 0 && (told = in_log(wrong[_i].words)) > 0)
			ck_assert_uint_le(event, wrong[_i].n_events);
	}
	ck_assert_uint_gt(told, 0);
	ck_assert_uint_eq(in_log(wrong[_i].words), in_log("offers a table"));
	before = gets_now();
	sim_unlink(rig.sim, leaf, up_port(leaf, 0));
	expect_links(31);
	ck_assert_uint_eq(gets_since(before).states, 0);
}
END_TEST

/* What is hidden by a port of which the table is wrong, too, is found: two cables, one after the
 * other. */
START_TEST(hidden_change)
{
	uint32_t leaf;

	bring_up(TREE_16, SIM_STATES_TRUE);
	leaf = last_leaf();
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		if (rig_is_switch(&rig, i))
			sim_set_port_states(rig.sim, i, SIM_STATES_STUCK);
	for (unsigned n = 0; n < 3; n++) {
		sim_unlink(rig.sim, leaf, up_port(leaf, n));
		expect_links(31 - n);
	}
}
END_TEST

/* A heavy sweep reads each port, whatever tables say. */
START_TEST(heavy_sweep)
{
	struct gets before;
	uint64_t n_ports = 0;

	bring_up(TREE_16, SIM_STATES_STUCK);
	for (uint32_t i = 0; i < rig.nl.n_nodes; i++)
		n_ports += rig_is_switch(&rig, i) ? rig.nl.nodes[i].n_ports + 1u : 1u;
	before = gets_now();
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_eq(gets_since(before).port_info, n_ports);
	ck_assert_uint_eq(gets_since(before).states, 0);
}
END_TEST

/* One answer that is missed is chance, and so is another after one that came. */
START_TEST(missed_by_chance)
{
	uint32_t leaf;

	bring_up(TREE_16, SIM_STATES_TRUE);
	leaf = last_leaf();
	for (unsigned n = 0; n < 4; n++) {
		sim_set_port_states(
		    rig.sim, leaf, n % 2 == 0 ? SIM_STATES_SILENT : SIM_STATES_TRUE);
		sim_unlink(rig.sim, leaf, up_port(leaf, 0));
		expect_links(31);
		sim_set_port_states(rig.sim, leaf, SIM_STATES_TRUE);
		sim_relink(rig.sim, leaf, up_port(leaf, 0));
		expect_links(32);
	}
	ck_assert_uint_eq(in_log("offers a table"), 0);
}
END_TEST

/* A switch that was without power is asked again: it may have other firmware. */
START_TEST(asked_again)
{
	uint32_t leaf;
	struct gets before;

	bring_up(TREE_16, SIM_STATES_TRUE);
	leaf = last_leaf();
	sim_set_port_states(rig.sim, leaf, SIM_STATES_REFUSED);
	sim_unlink(rig.sim, leaf, up_port(leaf, 0));
	expect_links(31);
	ck_assert_uint_eq(in_log("and refuses it"), 1);
	sim_set_port_states(rig.sim, leaf, SIM_STATES_TRUE);
	sim_relink(rig.sim, leaf, up_port(leaf, 0));
	before = gets_now();
	expect_links(32);
	ck_assert_uint_eq(gets_since(before).states, 1); /* of the spine */
	sim_reboot(rig.sim, leaf, NS_PER_S / 2);
	rig_let_pass(&rig, 20000);
	rig_run(&rig, SWEEP_LIGHT);
	before = gets_now();
	sim_unlink(rig.sim, leaf, up_port(leaf, 0));
	expect_links(31);
	ck_assert_uint_eq(gets_since(before).states, 2);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("port states");
	TCase *t = tcase_create("counts");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, leaf_lost);
	tcase_add_test(t, spine_lost_and_back);
	tcase_add_test(t, without_tables);
	tcase_add_test(t, brought_up_just_now);
	tcase_add_test(t, many_ports);
	tcase_add_loop_test(t, wrong_table, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(t, hidden_change);
	tcase_add_test(t, heavy_sweep);
	tcase_add_test(t, missed_by_chance);
	tcase_add_test(t, asked_again);
	suite_add_tcase(s, t);
	return run_suite(s);
}
