/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cables that go down again and again: how often tables change for it, when they are left out and
 * when used again, and which never are.  All by the simulator's clock.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/inventory/flaps.h"
#include "core/inventory/isolated.h"
#include "core/inventory/news.h"
#include "core/sweep/todo.h"
#include "core/sweep/well.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

extern const struct fm_engine fattree_LTX_fm_engine, minhop_LTX_fm_engine;

#define STILL_MS 30000
#define STEP_MS 50	  /* with which time passes: news are looked at as often */
#define LONG_STEP_MS 5000 /* ... where nothing is to happen for long */

static struct rig rig;
static struct isolated isolated;
static struct seen *seen;
static uint32_t leaf, spine; /* in the netlist */
static uint32_t n_flapping, n_still, n_other_news;
static char last_news[NEWS_TEXT];
static unsigned port; /* of the leaf: a cable to spine */

static void
teardown(void)
{
	seen_free(seen);
	seen = NULL;
	rig_fini(&rig);
	isolated_fini(&isolated);
	isolated = (struct isolated){ 0 };
}

static uint32_t
named(const char *name)
{
	uint32_t n = sim_find(rig.sim, name);

	ck_assert_uint_ne(n, SIM_NONE);
	return n;
}

/* A cable of `from` to `to`. */
static unsigned
cable_to(uint32_t from, uint32_t to)
{
	for (unsigned p = 1; p <= rig.nl.nodes[from].n_ports; p++)
		if (netlist_port(&rig.nl, from, p)->peer_node == to)
			return p;
	ck_abort_msg("no cable");
}

/* On the fabric in rig.nl. */
static void
start_there(const char *from, const char *to, const struct fm_engine *engine)
{
	rig_sim(&rig, NULL);
	rig.set.sweep.interval_ms = 10000;
	rig.set.isolated = &isolated;
	rig.set.sweep.flap_still_ms = STILL_MS;
	rig_use(&rig, engine);
	rig_bring_up(&rig);
	rig_let_pass(&rig, 5000);
	leaf = named(from);
	spine = named(to);
	port = cable_to(leaf, spine);
	seen = seen_make(sweeper_inventory(rig.sweeper), NULL, 1);
	n_flapping = n_still = n_other_news = 0;
	rig.n_new_plans = 0;
}

static void
start(const char *words, const char *from, const char *to, const struct fm_engine *engine)
{
	rig_generate(&rig.nl, words);
	start_there(from, to, engine);
}

static void
setup(void)
{
	start("pgft 2 4,4 1,4 1,1", "leaf-2", "spine-3", &fattree_LTX_fm_engine);
}

/* What the daemon would tell. */
static void
look_at_news(void)
{
	struct seen *now = seen_make(sweeper_inventory(rig.sweeper), seen, 2);
	struct news news;

	ck_assert(news_tell(seen, now, 2, &news));
	for (size_t i = 0; i < news.items.n; i++) {
		enum news_kind kind = news.items.item[i].kind;

		n_flapping += kind == NEWS_FLAPPING;
		n_still += kind == NEWS_STILL;
		n_other_news += kind != NEWS_FLAPPING && kind != NEWS_STILL;
		if (kind == NEWS_FLAPPING || kind == NEWS_STILL)
			memcpy(last_news, news.items.item[i].text, NEWS_TEXT);
	}
	news_fini(&news);
	seen_free(seen);
	seen = now;
}

static void
let_pass(int64_t ms)
{
	for (int64_t step; ms > 0; ms -= step) {
		uint32_t n = rig.n_reports;

		step = ms > 60000 ? LONG_STEP_MS : STEP_MS;
		rig_let_pass(&rig, step);
		if (rig.n_reports != n)
			look_at_news();
	}
}

static void
flap(int n, int64_t down_ms, int64_t up_ms)
{
	for (int i = 0; i < n; i++) {
		sim_unlink(rig.sim, leaf, port);
		let_pass(down_ms);
		sim_relink(rig.sim, leaf, port);
		let_pass(up_ms);
	}
}

static const struct inv_flap *
record(void)
{
	const struct inventory *inv = sweeper_inventory(rig.sweeper);

	return flaps_at(inv, inv_find(inv, rig.nl.nodes[leaf].guid), port);
}

static uint64_t
n_lft_sets(void)
{
	return sim_counts(rig.sim)->sets_by_attr[WIRE_ATTR_LFT];
}

static bool
is_used(void)
{
	uint32_t n = 0;

	for (uint16_t lid = 1; lid <= sweeper_plan(rig.sweeper)->top_lid; lid++)
		n += sim_lft(rig.sim, leaf, lid) == port;
	return n > 0;
}

/* What traps told last may be read seconds later; what there is then is the truth. */
static void
expect_up(void)
{
	let_pass(12000);
	rig_run(&rig, SWEEP_NAMED);
	rig_expect_up(&rig);
}

/* The only trouble that there is. */
static void
expect_trouble(const char *words)
{
	const struct todo_list *todo = sweeper_todo(rig.sweeper);
	const struct inventory *inv = sweeper_inventory(rig.sweeper);
	char text[512];
	unsigned far_port;
	uint32_t far;

	ck_assert_uint_eq(todo->n, 1);
	ck_assert_uint_eq(todo->n_of[TODO_FLAPPING], 1);
	ck_assert(
	    todo_far(inv, TODO_FLAPPING, todo->item[0].slot, todo->item[0].port, &far, &far_port));
	ck_assert_ptr_nonnull(
	    strstr(todo_say(inv, todo, &todo->item[0], text, sizeof(text)), words));
	ck_assert_ptr_nonnull(strstr(text, "leaf-2"));
	ck_assert_ptr_nonnull(strstr(text, "spine-3"));
	ck_assert(!todo_is_hastened(todo)); /* who waits for a sweep does not wait for this */
	ck_assert_uint_eq(todo_n_waiting(todo), 1);
}

/* Five times a second: lost, back, lost, and from then on nothing, till it has been still. */
static void
flap_fast(int n)
{
	uint64_t sets, loss, back;

	/* what one loss and one return cost */
	sets = n_lft_sets();
	sim_unlink(rig.sim, leaf, port);
	let_pass(1000);
	loss = n_lft_sets() - sets;
	sim_relink(rig.sim, leaf, port);
	let_pass(2 * FLAP_WITHIN_MS);
	back = n_lft_sets() - sets - loss;
	ck_assert(loss > 0 && back > 0 && is_used());
	rig.n_new_plans = n_other_news = 0;

	sets = n_lft_sets();
	flap(n, 100, 100);
	ck_assert_ptr_nonnull(record());
	ck_assert_int_eq(record()->state, FLAP_OUT);
	expect_up();
	ck_assert(!is_used());
	expect_trouble("is left out of the forwarding tables");
	ck_assert(sweeper_is_well(rig.sweeper));
	ck_assert_uint_eq(n_flapping, 1);
	ck_assert_ptr_nonnull(strstr(last_news, "went down 3 times"));
	ck_assert_uint_eq(n_still, 0);
	let_pass(STILL_MS + 15000);
	ck_assert_ptr_null(record());
	ck_assert(is_used());
	expect_up();
	ck_assert_uint_eq(sweeper_todo(rig.sweeper)->n, 0);
	ck_assert_uint_eq(n_flapping, 1);
	ck_assert_uint_eq(n_still, 1);
	ck_assert_ptr_nonnull(strstr(last_news, "flapping no more: cable"));
	ck_assert_uint_le(rig.n_new_plans, 4);
	ck_assert_uint_le(n_lft_sets() - sets, 2 * (loss + back));
	ck_assert_uint_le(n_other_news, 4); /* lost, back, twice */
}

START_TEST(forty_times_in_eight_seconds)
{
	flap_fast(40);
}
END_TEST

START_TEST(four_hundred_times_in_eighty_seconds)
{
	flap_fast(400);
}
END_TEST

/* Down and up so slowly that each is seen. */
START_TEST(three_times_within_a_minute)
{
	flap(2, 5000, 14000);
	ck_assert_ptr_null(record()); /* it was held for a moment */
	ck_assert(is_used());
	ck_assert_uint_eq(rig.n_new_plans, 4);
	sim_unlink(rig.sim, leaf, port);
	let_pass(5000);
	ck_assert_int_eq(record()->state, FLAP_OUT);
	expect_trouble("has gone down 3 times");
	sim_relink(rig.sim, leaf, port);
	let_pass(STILL_MS - 6000);
	ck_assert(!is_used());
	ck_assert_uint_eq(n_still, 0);
	ck_assert_int_eq(rig.last.outcome, SWEEP_UNCHANGED); /* light sweeps read nothing for it */
	let_pass(2000);
	ck_assert(is_used());
	ck_assert_uint_eq(n_flapping, 1);
	ck_assert_uint_eq(n_still, 1);
}
END_TEST

START_TEST(less_often_than_that)
{
	flap(6, 1000, 29500);
	ck_assert_ptr_null(record());
	ck_assert(is_used());
	ck_assert_uint_eq(n_flapping, 0);
}
END_TEST

/* A fall while it is out begins its time anew; each time that it is left out again is twice as
 * long, and after an hour without it is the first. */
START_TEST(it_takes_twice_as_long_each_time)
{
	flap(3, 100, 900);
	let_pass(20000);
	flap(1, 100, 900);
	let_pass(STILL_MS - 5000);
	ck_assert(!is_used());
	let_pass(10000);
	ck_assert(is_used());
	for (int64_t still_ms = 2 * STILL_MS; still_ms <= 8 * STILL_MS; still_ms *= 2) {
		flap(3, 100, 900);
		ck_assert_int_eq(record()->still_ms, still_ms);
		let_pass(still_ms - 5000);
		ck_assert(!is_used());
		let_pass(10000);
		ck_assert(is_used());
	}
	rig.set.sweep.flap_still_ms = FLAP_STILL_MOST_MS / 3;
	rig_route_anew(&rig);
	flap(3, 100, 900);
	ck_assert_int_eq(record()->still_ms, FLAP_STILL_MOST_MS);
	rig.set.sweep.flap_still_ms = STILL_MS;
	rig_route_anew(&rig);
	let_pass(record()->still_ms + 5000);
	ck_assert(is_used());
	let_pass(FLAP_FORGOTTEN_MS);
	flap(3, 100, 900);
	ck_assert_int_eq(record()->still_ms, STILL_MS);
}
END_TEST

/* It goes down for good: when it has been still it is lost like any other. */
START_TEST(it_stays_down)
{
	flap(3, 100, 900);
	sim_unlink(rig.sim, leaf, port);
	let_pass(STILL_MS + 15000);
	ck_assert_ptr_null(record());
	ck_assert_uint_eq(sweeper_todo(rig.sweeper)->n, 0);
	ck_assert_ptr_nonnull(strstr(last_news, "and is down"));
	sim_relink(rig.sim, leaf, port);
	let_pass(5000);
	ck_assert(is_used());
	expect_up();
}
END_TEST

/* One spine: all its cables are the only ways. */
START_TEST(the_only_way_is_used)
{
	teardown();
	start("pgft 2 2,3 1,1 1,1", "leaf-2", "spine-1", &fattree_LTX_fm_engine);
	flap(4, 200, 800);
	let_pass(1000);
	ck_assert_int_eq(record()->state, FLAP_OUT);
	ck_assert(record()->only_way);
	ck_assert(is_used());
	expect_up();
	ck_assert_ptr_nonnull(strstr(last_news, "used all the same, as the only way"));
	let_pass(STILL_MS + 15000);
	ck_assert_ptr_null(record());
	ck_assert_uint_eq(n_flapping, 1);
	ck_assert_uint_eq(n_still, 1);
	expect_up();
}
END_TEST

/* Packets do not pass a host that is cabled to both switches. */
START_TEST(a_host_is_no_way)
{
	struct netlist *nl = &rig.nl;
	uint32_t s[2], h[2], both;

	teardown();
	for (int i = 0; i < 2; i++) {
		s[i] = netlist_add(nl, NETLIST_SWITCH, i ? "S2" : "S1", "", 0x100u + i, 4);
		h[i] = netlist_add(nl, NETLIST_CA, i ? "H2" : "H1", "", 0x1000u + 16 * i, 1);
		netlist_cable(nl, h[i], 1, s[i], 1, 25000);
	}
	both = netlist_add(nl, NETLIST_CA, "H3", "", 0x2000, 2);
	netlist_cable(nl, s[0], 2, s[1], 2, 25000);
	netlist_cable(nl, both, 1, s[0], 3, 25000);
	netlist_cable(nl, both, 2, s[1], 3, 25000);
	start_there("S1", "S2", &minhop_LTX_fm_engine);
	flap(4, 200, 800);
	let_pass(1000);
	ck_assert_int_eq(record()->state, FLAP_OUT);
	ck_assert(record()->only_way);
	ck_assert(is_used());
}
END_TEST

/* All four cables of a leaf flap: one of them is used. */
START_TEST(of_several_only_ways_one_is_used)
{
	unsigned p, n = 0;

	for (int i = 0; i < 4; i++) {
		for (p = 1; p <= rig.nl.nodes[leaf].n_ports; p++)
			if (rig_is_switch(&rig, netlist_port(&rig.nl, leaf, p)->peer_node))
				sim_unlink(rig.sim, leaf, p);
		let_pass(200);
		for (p = 1; p <= rig.nl.nodes[leaf].n_ports; p++)
			sim_relink(rig.sim, leaf, p);
		let_pass(800);
	}
	let_pass(1000);
	for (p = 1; p <= rig.nl.nodes[leaf].n_ports; p++) {
		if (!rig_is_switch(&rig, netlist_port(&rig.nl, leaf, p)->peer_node))
			continue;
		port = p;
		ck_assert_int_eq(record()->state, FLAP_OUT);
		ck_assert(is_used() == record()->only_way);
		n += record()->only_way;
	}
	ck_assert_uint_eq(n, 1);
	expect_up();
	let_pass(STILL_MS + 15000);
	ck_assert_uint_eq(sweeper_todo(rig.sweeper)->n, 0);
	expect_up();
}
END_TEST

/* What is isolated is no other way. */
START_TEST(others_are_isolated)
{
	for (unsigned p = 1; p <= rig.nl.nodes[leaf].n_ports; p++)
		if (p != port && rig_is_switch(&rig, netlist_port(&rig.nl, leaf, p)->peer_node))
			ck_assert(isolated_add(&isolated, rig.nl.nodes[leaf].guid, (uint8_t)p));
	rig_run(&rig, SWEEP_NAMED);
	flap(4, 200, 800);
	let_pass(1000);
	ck_assert(record()->only_way);
	expect_up();
}
END_TEST

/* The cables of hosts, and those of a switch that reboots but once. */
START_TEST(hosts_and_reboots)
{
	uint32_t host = netlist_port(&rig.nl, leaf, 1)->peer_node;

	ck_assert(!rig_is_switch(&rig, host));
	port = 1;
	flap(10, 200, 800);
	ck_assert_ptr_null(record());
	expect_up();
	sim_reboot(rig.sim, spine, 200 * INT64_C(1000000));
	let_pass(5000);
	ck_assert_uint_eq(n_flapping, 0);
	expect_up();
}
END_TEST

START_TEST(an_administrator_takes_it_back)
{
	flap(3, 100, 900);
	ck_assert(!is_used());
	ck_assert(!sweeper_end_flapping(rig.sweeper, rig.nl.nodes[leaf].guid, 99));
	ck_assert(!sweeper_end_flapping(rig.sweeper, rig.nl.nodes[leaf].guid, 1));
	ck_assert(!sweeper_end_flapping(rig.sweeper, 0x77, 1));
	ck_assert(sweeper_end_flapping(rig.sweeper, rig.nl.nodes[leaf].guid, (uint8_t)port));
	ck_assert(!sweeper_end_flapping(rig.sweeper, rig.nl.nodes[leaf].guid, (uint8_t)port));
	rig_run(&rig, SWEEP_NAMED);
	ck_assert(is_used());
	ck_assert_uint_eq(sweeper_todo(rig.sweeper)->n, 0);
	flap(3, 100, 900);
	ck_assert_int_eq(record()->still_ms, STILL_MS); /* as if nothing had been */
}
END_TEST

START_TEST(it_is_turned_off)
{
	flap(3, 100, 900);
	ck_assert(!is_used());
	rig.set.sweep.flap_still_ms = 0;
	rig_route_anew(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert(is_used());
	flap(5, 100, 900);
	let_pass(5000);
	ck_assert_ptr_null(record());
	ck_assert(is_used());
}
END_TEST

/* A restart knows nothing of it. */
START_TEST(a_restart_forgets)
{
	flap(3, 100, 900);
	ck_assert(!is_used());
	rig_stop(&rig);
	rig_bring_up(&rig);
	ck_assert_ptr_null(record());
	ck_assert(is_used());
	expect_up();
}
END_TEST

/* Another cable at the port is another cable. */
START_TEST(another_cable_at_the_port)
{
	uint32_t spine2 = named("spine-2"), leaf3 = named("leaf-3");
	unsigned p2 = cable_to(leaf3, spine2), to;

	flap(3, 100, 900);
	ck_assert_int_eq(record()->state, FLAP_OUT);
	to = netlist_port(&rig.nl, leaf3, p2)->peer_port;
	fabric_cable(sim_fabric(rig.sim), sim_fabric(rig.sim)->nodes[leaf].first_port + port,
	    sim_fabric(rig.sim)->nodes[spine2].first_port + to);
	let_pass(5000);
	ck_assert_ptr_null(record());
	ck_assert(is_used());
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("flaps");
	TCase *t = tcase_create("flaps");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, forty_times_in_eight_seconds);
	tcase_add_test(t, four_hundred_times_in_eighty_seconds);
	tcase_add_test(t, three_times_within_a_minute);
	tcase_add_test(t, less_often_than_that);
	tcase_add_test(t, it_takes_twice_as_long_each_time);
	tcase_add_test(t, it_stays_down);
	tcase_add_test(t, the_only_way_is_used);
	tcase_add_test(t, a_host_is_no_way);
	tcase_add_test(t, of_several_only_ways_one_is_used);
	tcase_add_test(t, others_are_isolated);
	tcase_add_test(t, hosts_and_reboots);
	tcase_add_test(t, an_administrator_takes_it_back);
	tcase_add_test(t, it_is_turned_off);
	tcase_add_test(t, a_restart_forgets);
	tcase_add_test(t, another_cable_at_the_port);
	suite_add_tcase(s, t);
	return run_suite(s);
}
