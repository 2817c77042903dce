/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A GUID that somebody else has: who was there stays, the newcomer is left out and told of,
 * and all is well when the wrong GUID goes.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/run.h"
#include "tests/sweep/rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define AGES 400 /* ms: traps have been answered to by then */

static struct rig rig;

/* Who is who in "pgft 2 4,4 1,2 1,1": four leaves of four hosts, two spines. */
enum who { SM_HOST, NEAR_HOST, HOST, OTHER_HOST, SM_LEAF, LEAF, OTHER_LEAF, SPINE, OTHER_SPINE };

static uint32_t
leaf_of(uint32_t host)
{
	return netlist_port(&rig.nl, host, 1)->peer_node;
}

static uint32_t
spine_of(uint32_t leaf, unsigned nth)
{
	for (unsigned p = 1; p <= rig.nl.nodes[leaf].n_ports; p++) {
		uint32_t far = netlist_port(&rig.nl, leaf, p)->peer_node;

		if (far != NETLIST_NONE && rig_is_switch(&rig, far) && nth-- == 0)
			return far;
	}
	ck_abort_msg("no spine");
	return 0;
}

static uint32_t
node_of(enum who who)
{
	switch (who) {
	case SM_HOST:
		return rig.place;
	case NEAR_HOST:
		return rig_host(&rig, 2);
	case HOST:
		return rig_host(&rig, 13);
	case OTHER_HOST:
		return rig_host(&rig, 6);
	case SM_LEAF:
		return leaf_of(rig.place);
	case LEAF:
		return leaf_of(rig_host(&rig, 13));
	case OTHER_LEAF:
		return leaf_of(rig_host(&rig, 6));
	case SPINE:
		return spine_of(leaf_of(rig.place), 0);
	case OTHER_SPINE:
		return spine_of(leaf_of(rig.place), 1);
	}
	return 0;
}

/* `thief` takes the GUID of `owner`. */
static const struct kind {
	const char *what;
	enum who thief, owner;
	uint8_t n_ports; /* that it says it has; 0: its own number; 1: as many as the owner */
} kinds[] = {
	{ "a host, the GUID of the SM's leaf", HOST, SM_LEAF, 0 },
	{ "... with as many ports", HOST, SM_LEAF, 1 },
	{ "... with more", HOST, SM_LEAF, 64 },
	{ "a neighbour of the SM, the GUID of the SM's leaf", NEAR_HOST, SM_LEAF, 0 },
	{ "... with as many ports", NEAR_HOST, SM_LEAF, 1 },
	{ "a host, the GUID of its own leaf", HOST, LEAF, 0 },
	{ "... with as many ports", HOST, LEAF, 1 },
	{ "... with more", HOST, LEAF, 254 },
	{ "a host, the GUID of a spine", HOST, SPINE, 0 },
	{ "... with as many ports", HOST, SPINE, 1 },
	{ "... with more", HOST, SPINE, 64 },
	{ "a neighbour of the SM, the GUID of a spine", NEAR_HOST, SPINE, 0 },
	{ "... with as many ports", NEAR_HOST, SPINE, 1 },
	{ "a host, the GUID of the SM's host", HOST, SM_HOST, 0 },
	{ "... with other ports", HOST, SM_HOST, 2 },
	{ "a neighbour of the SM, the GUID of the SM's host", NEAR_HOST, SM_HOST, 0 },
	{ "... with other ports", NEAR_HOST, SM_HOST, 7 },
	{ "a host, the GUID of another host", HOST, OTHER_HOST, 0 },
	{ "... with other ports", HOST, OTHER_HOST, 2 },
	{ "a leaf, the GUID of another leaf", LEAF, OTHER_LEAF, 0 },
	{ "... with other ports", LEAF, OTHER_LEAF, 8 },
	{ "a leaf, the GUID of the SM's leaf", LEAF, SM_LEAF, 0 },
	{ "... with more ports", LEAF, SM_LEAF, 12 },
	{ "a leaf, the GUID of a spine", LEAF, SPINE, 0 },
	{ "... with more ports", LEAF, SPINE, 40 },
	{ "a leaf, the GUID of a host", LEAF, OTHER_HOST, 0 },
	{ "a leaf, the GUID of the SM's host", LEAF, SM_HOST, 0 },
	{ "a spine, the GUID of the other spine", OTHER_SPINE, SPINE, 0 },
	{ "... with more ports", OTHER_SPINE, SPINE, 40 },
	{ "a spine, the GUID of the SM's leaf", OTHER_SPINE, SM_LEAF, 0 },
};

static uint64_t
guid_of(uint32_t node)
{
	return rig.nl.nodes[node].guid;
}

static void
setup_fabric(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
}

static void
steal(const struct kind *k)
{
	uint32_t thief = node_of(k->thief), owner = node_of(k->owner);
	uint8_t n = k->n_ports == 1 ? rig.nl.nodes[owner].n_ports : k->n_ports;

	sim_set_guid(rig.sim, thief, guid_of(owner));
	if (n != 0)
		sim_claim_ports(rig.sim, thief, n);
}

static void
give_back(const struct kind *k)
{
	uint32_t thief = node_of(k->thief);

	sim_set_guid(rig.sim, thief, guid_of(thief));
	sim_claim_ports(rig.sim, thief, rig.nl.nodes[thief].n_ports);
}

static unsigned
n_warnings(const char *what)
{
	unsigned n = 0;

	for (const char *at = rig_log; (at = strstr(at, what)) != NULL; at += strlen(what))
		n++;
	return n;
}

/* As it was made by the last sweep that found anything to do. */
static void
expect_up(void)
{
	if (rig.last.outcome == SWEEP_UNCHANGED)
		rig.last.outcome = SWEEP_UP;
	rig_expect_up(&rig);
}

/* All is there but the thief, and the hosts that are cabled to nobody else. */
static void
expect_left_out(const struct kind *k)
{
	bool leaf = k->thief == LEAF, spine = k->thief == OTHER_SPINE;

	expect_up();
	ck_assert_msg(rig.last.n_switches == 6u - (leaf || spine) &&
		rig.last.n_cas ==
		    16u -
			(leaf		? 4
				: spine ? 0
					: 1),
	    "%s: %u switches, %u CAs\n%s", k->what, rig.last.n_switches, rig.last.n_cas, rig_log);
	ck_assert_msg(rig.last.n_duplicates ==
		(leaf		? 2u
			: spine ? 4u
				: 1u),
	    "%s: %u told\n%s", k->what, rig.last.n_duplicates, rig_log);
	ck_assert_ptr_nonnull(strstr(rig_log, "duplicate GUID"));
}

static void
expect_whole(const struct kind *k)
{
	expect_up();
	ck_assert_msg(rig.last.n_switches == 6 && rig.last.n_cas == 16 && rig.last.n_links == 24,
	    "%s: %u switches, %u CAs, %u links\n%s", k->what, rig.last.n_switches, rig.last.n_cas,
	    rig.last.n_links, rig_log);
	ck_assert_uint_eq(rig.last.n_duplicates, 0);
}

/* A sweep, as a person or the clock asks for it, and what follows from it. */
static void
sweep(enum sweep_scope scope)
{
	rig_run(&rig, scope);
	rig_let_pass(&rig, AGES);
}

/* It was so from the start. */
START_TEST(from_the_start)
{
	const struct kind *k = &kinds[_i];
	unsigned told;

	setup_fabric();
	steal(k);
	rig_start(&rig);
	sweep(SWEEP_HEAVY);
	if (k->thief == LEAF && k->owner == OTHER_HOST) { /* both are new: the switch it is */
		ck_assert_uint_eq(rig.last.n_switches, 6);
		ck_assert_uint_eq(rig.last.n_cas, 15);
		ck_assert_uint_eq(rig.last.n_duplicates, 1);
		return;
	}
	expect_left_out(k);
	told = n_warnings("duplicate GUID");
	sweep(SWEEP_LIGHT);
	sweep(SWEEP_HEAVY);
	sweep(SWEEP_LIGHT);
	expect_left_out(k);
	ck_assert_msg(n_warnings("duplicate GUID") == told, "%s", rig_log);
	give_back(k);
	sweep(SWEEP_LIGHT);
	expect_whole(k);
}
END_TEST

/* It comes to be while all is up, by a reboot or at once, and is found by a trap or by a
 * sweep of whatever kind. */
static void
later(const struct kind *k, bool reboot, enum sweep_scope found_by)
{
	uint32_t thief;
	unsigned told;

	setup_fabric();
	thief = node_of(k->thief);
	rig_bring_up(&rig);
	steal(k);
	if (reboot) {
		sim_reboot(rig.sim, thief, INT64_C(20000000));
		rig_let_pass(&rig, AGES);
	} else {
		sweep(found_by);
	}
	expect_left_out(k);
	told = n_warnings("duplicate GUID");
	sweep(SWEEP_HEAVY);
	sweep(SWEEP_LIGHT);
	expect_left_out(k);
	ck_assert_msg(n_warnings("duplicate GUID") == told, "%s", rig_log);
	give_back(k);
	if (reboot) {
		sim_reboot(rig.sim, thief, INT64_C(20000000));
		rig_let_pass(&rig, AGES);
	} else {
		sweep(SWEEP_LIGHT);
	}
	expect_whole(k);
}

START_TEST(by_reboot)
{
	later(&kinds[_i], true, SWEEP_NONE);
}
END_TEST

START_TEST(between_sweeps)
{
	later(&kinds[_i], false, SWEEP_HEAVY);
}
END_TEST

/* The one who was there goes: the newcomer is the node now. */
START_TEST(the_owner_goes)
{
	const struct kind *k = &kinds[_i];
	const struct inventory *inv;
	uint32_t owner, thief, slot;

	if (k->owner == SM_HOST || k->owner == SM_LEAF || k->thief == LEAF || k->owner == LEAF)
		return; /* it takes the thief with it, or us */
	setup_fabric();
	owner = node_of(k->owner);
	thief = node_of(k->thief);
	rig_bring_up(&rig);
	steal(k);
	sweep(SWEEP_HEAVY);
	expect_left_out(k);
	for (unsigned p = 1; p <= rig.nl.nodes[owner].n_ports; p++)
		if (netlist_port(&rig.nl, owner, p)->peer_node != NETLIST_NONE)
			sim_unlink(rig.sim, owner, p);
	rig_let_pass(&rig, AGES);
	sweep(SWEEP_LIGHT);
	inv = sweeper_inventory(rig.sweeper);
	slot = inv_find(inv, guid_of(owner));
	ck_assert_msg(slot != INV_NONE && inv_node(inv, slot)->present, "%s\n%s", k->what, rig_log);
	ck_assert_uint_eq(inv_node(inv, slot)->type,
	    rig_is_switch(&rig, thief) ? WIRE_NODE_SWITCH : WIRE_NODE_CA);
	ck_assert_uint_eq(rig.last.n_duplicates, 0);
}
END_TEST

/* ------------------------------------------------------------ port GUIDs */

/* The thief's port says that it has the GUID of the owner's. */
static const struct kind port_kinds[] = {
	{ "a host, that of the SM's port", HOST, SM_HOST, 0 },
	{ "a neighbour of the SM, that of the SM's port", NEAR_HOST, SM_HOST, 0 },
	{ "a host, that of the SM's leaf", HOST, SM_LEAF, 0 },
	{ "a neighbour of the SM, that of the SM's leaf", NEAR_HOST, SM_LEAF, 0 },
	{ "a host, that of its leaf", HOST, LEAF, 0 },
	{ "a host, that of another host", HOST, OTHER_HOST, 0 },
	{ "a host, that of a spine", HOST, SPINE, 0 },
	{ "a neighbour of the SM, that of a spine", NEAR_HOST, SPINE, 0 },
	{ "a leaf, that of another leaf", LEAF, OTHER_LEAF, 0 },
	{ "a leaf, that of the SM's leaf", LEAF, SM_LEAF, 0 },
};

static uint64_t
port_guid_of(enum who who)
{
	uint32_t node = node_of(who);

	return rig_is_switch(&rig, node) ? guid_of(node) : netlist_port(&rig.nl, node, 1)->guid;
}

static void
set_port_guid(enum who who, uint64_t guid)
{
	uint32_t node = node_of(who);

	sim_set_port_guid(rig.sim, node, rig_is_switch(&rig, node) ? 0 : 1, guid);
}

static void
expect_own_lids(void)
{
	uint32_t seen[0xc000] = { 0 };

	for (uint32_t n = 0; n < rig.nl.n_nodes; n++) {
		struct wire_port_info info;

		sim_port_info(rig.sim, n, rig_is_switch(&rig, n) ? 0 : 1, &info);
		ck_assert_uint_lt(info.lid, 0xc000);
		ck_assert_msg(info.lid == 0 || seen[info.lid] == 0, "LID %u twice", info.lid);
		seen[info.lid] = 1;
	}
}

START_TEST(port_from_the_start)
{
	const struct kind *k = &port_kinds[_i];

	setup_fabric();
	set_port_guid(k->thief, port_guid_of(k->owner));
	rig_start(&rig);
	sweep(SWEEP_HEAVY);
	expect_left_out(k);
	expect_own_lids();
	sweep(SWEEP_LIGHT);
	sweep(SWEEP_HEAVY);
	expect_left_out(k);
	set_port_guid(k->thief, port_guid_of(k->thief));
	sweep(SWEEP_LIGHT);
	expect_whole(k);
	expect_own_lids();
}
END_TEST

START_TEST(port_later)
{
	const struct kind *k = &port_kinds[_i];

	setup_fabric();
	rig_bring_up(&rig);
	set_port_guid(k->thief, port_guid_of(k->owner));
	sim_reboot(rig.sim, node_of(k->thief), INT64_C(20000000));
	rig_let_pass(&rig, AGES);
	expect_left_out(k);
	expect_own_lids();
	set_port_guid(k->thief, port_guid_of(k->thief));
	sim_reboot(rig.sim, node_of(k->thief), INT64_C(20000000));
	rig_let_pass(&rig, AGES);
	expect_whole(k);
	expect_own_lids();
}
END_TEST

/* ------------------------------------------------- who is another one by right */

/* Firmware that says another number of ports, of a host and of switches. */
START_TEST(other_firmware)
{
	static const enum who whose[] = { HOST, NEAR_HOST, LEAF, SPINE, SM_LEAF };
	uint32_t node, at;
	const struct inventory *inv;

	setup_fabric();
	node = node_of(whose[_i % 5]);
	rig_bring_up(&rig);
	for (unsigned i = 0; i < 3; i++) { /* and back */
		/* fewer than there are would be nonsense, more have to answer: none of that here */
		sim_claim_ports(rig.sim, node, (uint8_t)(rig.nl.nodes[node].n_ports + 1 - i % 2));
		if (_i < 5)
			sim_reboot(rig.sim, node, INT64_C(20000000));
		rig_let_pass(&rig, AGES);
		sweep(SWEEP_HEAVY);
		inv = sweeper_inventory(rig.sweeper);
		at = inv_find(inv, guid_of(node));
		ck_assert(at != INV_NONE && inv_node(inv, at)->present);
		ck_assert_uint_eq(
		    inv_node(inv, at)->n_ports, rig.nl.nodes[node].n_ports + 1u - i % 2);
		ck_assert_uint_eq(rig.last.n_duplicates, 0);
	}
	ck_assert_uint_le(sweeper_inventory(rig.sweeper)->nodes.n, 22 + 1);
	sim_claim_ports(rig.sim, node, rig.nl.nodes[node].n_ports);
	sweep(SWEEP_HEAVY);
	sweep(SWEEP_HEAVY);
	expect_whole(&(struct kind){ .what = "firmware" });
}
END_TEST

static void
teardown(void)
{
	rig_fini(&rig);
}

int
main(void)
{
	Suite *suite = suite_create("foreign GUIDs");
	TCase *t = tcase_create("node GUIDs");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, from_the_start, 0, N_OF(kinds));
	tcase_add_loop_test(t, by_reboot, 0, N_OF(kinds));
	tcase_add_loop_test(t, between_sweeps, 0, N_OF(kinds));
	tcase_add_loop_test(t, the_owner_goes, 0, N_OF(kinds));
	suite_add_tcase(suite, t);
	t = tcase_create("others");
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, port_from_the_start, 0, N_OF(port_kinds));
	tcase_add_loop_test(t, port_later, 0, N_OF(port_kinds));
	tcase_add_loop_test(t, other_firmware, 0, 10);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
