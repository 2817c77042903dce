/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host that shows ever new GUIDs at its port: so many within an hour are taken for nodes, then
 * what is cabled there is left out and told of once, and what fmd keeps of those who are gone does
 * not grow.
 */
#include <check.h>
#include <string.h>

#include "core/ask/sweeper.h"
#include "core/sweep/todo.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

#define MOST 32 /* newcomers by a port within an hour, of whom the host itself was one */
#define HOUR_MS (3600 * 1000)

static struct rig rig;
static uint32_t host, leaf;
static unsigned port;

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_bring_up(&rig);
	host = rig_host(&rig, 13);
	leaf = netlist_port(&rig.nl, host, 1)->peer_node;
	port = netlist_port(&rig.nl, host, 1)->peer_port;
}

static void
teardown(void)
{
	rig_fini(&rig);
}

/* The host is unplugged, and plugged in again as another one. */
static void
come_as(uint64_t guid, uint64_t port_guid)
{
	sim_unlink(rig.sim, leaf, port);
	rig_let_pass(&rig, 400);
	rig_run(&rig, SWEEP_LIGHT);
	sim_set_guid(rig.sim, host, guid);
	sim_set_port_guid(rig.sim, host, 1, port_guid);
	sim_relink(rig.sim, leaf, port);
	rig_let_pass(&rig, 400);
	rig_run(&rig, SWEEP_LIGHT);
}

static void
come_anew(unsigned from, unsigned n)
{
	for (unsigned i = from; i < from + n; i++)
		come_as(UINT64_C(0xbad000000000) + 16 * i, UINT64_C(0xbad000000001) + 16 * i);
}

static unsigned
count_in_log(const char *words)
{
	unsigned n = 0;

	for (const char *at = rig_log; (at = strstr(at, words)) != NULL; at++)
		n++;
	return n;
}

/* The sentence of fmctl trouble for the port that the host hangs on; "": there is none. */
static const char *
trouble_of_port(char *buf, size_t size)
{
	const struct todo_list *list = rig.sweeper->todo;
	uint32_t slot = inv_find(&rig.sweeper->inv, rig.nl.nodes[leaf].guid);

	buf[0] = '\0';
	for (size_t i = 0; i < list->n; i++)
		if (list->item[i].slot == slot && list->item[i].port == port)
			todo_say(&rig.sweeper->inv, list, &list->item[i], buf, size);
	return buf;
}

START_TEST(slots_do_not_grow)
{
	size_t before = rig.sweeper->inv.nodes.n;
	char text[900];

	come_anew(0, MOST - 1);
	ck_assert_uint_eq(rig.sweeper->inv.nodes.n, before + MOST - 1);
	ck_assert_str_eq(trouble_of_port(text, sizeof(text)), "");
	rig_log_clear();
	come_anew(MOST, 3 * MOST);
	ck_assert_uint_eq(rig.sweeper->inv.nodes.n, before + MOST - 1);
	ck_assert_uint_eq(count_in_log("ever new GUIDs"), 1);
	ck_assert_ptr_nonnull(strstr(trouble_of_port(text, sizeof(text)), "ever new GUIDs"));
	ck_assert_ptr_null(strstr(rig_log, "nobody answers"));
}
END_TEST

START_TEST(others_are_served_meanwhile)
{
	uint32_t other = rig_host(&rig, 14), at = netlist_port(&rig.nl, other, 1)->peer_node;
	unsigned at_port = netlist_port(&rig.nl, other, 1)->peer_port;
	uint64_t guid = rig.nl.nodes[host].guid, port_guid = netlist_port(&rig.nl, host, 1)->guid;

	come_anew(0, MOST + 4);
	sim_unlink(rig.sim, at, at_port);
	rig_let_pass(&rig, 400);
	rig_run(&rig, SWEEP_LIGHT);
	sim_relink(rig.sim, at, at_port);
	rig_let_pass(&rig, 400);
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_uint_eq(rig.sweeper->todo->n, 1);
	come_as(guid, port_guid); /* whom fmd knows is taken again at once */
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
	ck_assert_uint_eq(rig.sweeper->todo->n, 0);
}
END_TEST

START_TEST(each_hour_has_its_own)
{
	size_t before = rig.sweeper->inv.nodes.n;

	come_anew(0, MOST + 4);
	ck_assert_uint_eq(rig.sweeper->inv.nodes.n, before + MOST - 1);
	rig_let_pass(&rig, HOUR_MS);
	rig_run(&rig, SWEEP_LIGHT); /* of which a light sweep sees that it answers */
	rig_run(&rig, SWEEP_LIGHT);
	ck_assert_uint_eq(rig.sweeper->inv.nodes.n, before + MOST);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
}
END_TEST

/* It answers, so that it is not said that nobody does. */
START_TEST(who_is_not_believed_is_said_to_answer)
{
	char text[900];

	rig_log_clear();
	come_as(0, UINT64_C(0xbad000000001));
	ck_assert_ptr_nonnull(strstr(trouble_of_port(text, sizeof(text)), "a node GUID of 0"));
	ck_assert_uint_eq(count_in_log("a node GUID of 0"), 1);
	ck_assert_ptr_null(strstr(rig_log, "nobody answers"));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("newcomers");
	TCase *t = tcase_create("newcomers");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, slots_do_not_grow);
	tcase_add_test(t, others_are_served_meanwhile);
	tcase_add_test(t, each_hour_has_its_own);
	tcase_add_test(t, who_is_not_believed_is_said_to_answer);
	suite_add_tcase(s, t);
	return run_suite(s);
}
