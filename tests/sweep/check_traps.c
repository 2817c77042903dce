/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traps that are not what they say, or do not end: what they set off is bounded, who sends them
 * is named, and a change that a true one tells of is found all the same.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lab/hosts/host.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

#define PRODUCER_CA 1
#define PRODUCER_SWITCH 2
#define PRODUCER_MANAGER 4

static struct rig rig;
static struct host_file *attacker; /* the program of host 3 */
static int agent;
static uint32_t n_notices; /* passed on to subscribers */
static struct wire_notice last_notice;
static uint32_t n_repressed;
static uint64_t tid;

static void
on_notice(void *arg, const struct wire_notice *notice)
{
	(void)arg;
	n_notices++;
	last_notice = *notice;
}

static bool
on_message(void *arg, const struct host_message *m)
{
	(void)arg;
	(void)m;
	return true;
}

static void
on_smp(void *arg, const struct sim_trace *e)
{
	(void)arg;
	n_repressed += e->method == WIRE_TRAP_REPRESS;
}

static void
open_attacker(void)
{
	struct sim_place at = { .node = rig_host(&rig, 3), .port = 1 };
	struct host_registration r = { .mgmt_class = WIRE_CLASS_SMP_LID, .class_version = 1 };

	attacker = host_open(rig.sim, at, on_message, NULL);
	ck_assert_ptr_nonnull(attacker);
	agent = host_register(attacker, &r);
	ck_assert_int_ge(agent, 0);
	sim_set_trace(rig.sim, on_smp, NULL);
}

static void
setup(void)
{
	n_notices = n_repressed = 0;
	tid = 0;
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig.on_notice = on_notice;
	rig_bring_up(&rig);
	rig_let_pass(&rig, 12000); /* what its own traps have set off is over */
	open_attacker();
	n_notices = 0;
	rig_log_clear();
}

static void
teardown(void)
{
	rig_fini(&rig);
}

static uint16_t
our_lid(void)
{
	struct wire_port_info info;

	sim_port_info(rig.sim, rig.place, rig.port, &info);
	return info.lid;
}

static uint16_t
switch_lid(uint32_t node)
{
	struct wire_port_info info;

	sim_port_info(rig.sim, node, 0, &info);
	return info.lid;
}

static uint32_t
leaf_of(uint32_t host)
{
	return netlist_port(&rig.nl, rig_host(&rig, host), 1)->peer_node;
}

static struct wire_notice
link_notice(uint16_t lid)
{
	struct wire_notice n = { .generic = true,
		.type = 1,
		.producer_type = PRODUCER_SWITCH,
		.trap_number = 128,
		.issuer_lid = lid };

	n.details[0] = (uint8_t)(lid >> 8);
	n.details[1] = (uint8_t)lid;
	return n;
}

static void
put_trap(uint8_t *mad, uint8_t mgmt_class, const struct wire_notice *n)
{
	struct wire_header h = { .base_version = 1,
		.mgmt_class = mgmt_class,
		.class_version = 1,
		.method = WIRE_TRAP,
		.tid = ++tid,
		.attr = WIRE_ATTR_NOTICE };

	wire_header_put(mad, &h);
	wire_notice_put(mad + WIRE_SMP_DATA_AT, n);
}

/* From host 3, over the fabric. */
static void
send_trap(const struct wire_notice *n)
{
	uint8_t mad[MAD_BYTES] = { 0 };
	struct host_message m = { .agent = (uint32_t)agent,
		.addr = { .lid = our_lid() },
		.bytes = mad,
		.length = sizeof(mad) };

	put_trap(mad, WIRE_CLASS_SMP_LID, n);
	ck_assert_int_ge(host_send(attacker, &m), 0);
}

/* As if it came from this LID. */
static void
deliver(uint16_t source, uint8_t mgmt_class, const struct wire_notice *n)
{
	struct mad m = { .addr = { .lid = source } };

	put_trap(m.bytes, mgmt_class, n);
	sweeper_on_mad(rig.sweeper, &m);
}

static void
expect_logged(const char *text)
{
	ck_assert_msg(
	    strstr(rig_log, text) != NULL, "\"%s\" is not in the log:\n%s", text, rig_log);
}

static unsigned
n_logged(const char *text)
{
	unsigned n = 0;

	for (const char *at = rig_log; (at = strstr(at, text)) != NULL; at++)
		n++;
	return n;
}

static const char *
id_of(uint32_t host)
{
	return rig.nl.nodes[rig_host(&rig, host)].id;
}

/* ---------------------------------------------------------------- who speaks */

/* A host that speaks for its leaf, or for another host, is not believed, and is named. */
START_TEST(forged_issuer)
{
	uint32_t before = rig.n_reports;
	struct wire_notice n = link_notice(switch_lid(leaf_of(3)));

	send_trap(&n);
	rig_let_pass(&rig, 100);
	n = link_notice(rig_host_lid(&rig, 5));
	n.trap_number = 144;
	send_trap(&n);
	rig_let_pass(&rig, 30000);
	ck_assert_uint_eq(rig.n_reports, before);
	ck_assert_uint_eq(n_notices, 0);
	ck_assert_uint_eq(n_repressed, 2);
	expect_logged(id_of(3));
}
END_TEST

/* Its own LID as the issuer's, and another's in what it tells. */
START_TEST(forged_details)
{
	static const uint16_t numbers[] = { 128, 129, 130, 131, 144, 145, 256, 259 };
	uint16_t mine = rig_host_lid(&rig, 3), other = switch_lid(leaf_of(3));
	uint32_t before = rig.n_reports;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		unsigned at = numbers[i] == 128 ? 0 : numbers[i] == 259 ? 48 : 2;
		struct wire_notice n = { .generic = true,
			.type = 1,
			.producer_type = PRODUCER_CA,
			.trap_number = numbers[i],
			.issuer_lid = mine };

		n.details[at] = (uint8_t)(other >> 8);
		n.details[at + 1] = (uint8_t)other;
		send_trap(&n);
		rig_let_pass(&rig, 100);
		ck_assert_uint_eq(n_notices, 0);
		ck_assert_uint_eq(rig.n_reports, before);
		n.details[at] = (uint8_t)(mine >> 8);
		n.details[at + 1] = (uint8_t)mine;
		send_trap(&n);
		rig_let_pass(&rig, 100);
		ck_assert_uint_eq(n_notices, 1);
		ck_assert_uint_eq(last_notice.trap_number, numbers[i]);
		n_notices = 0;
		before = rig.n_reports;
	}
}
END_TEST

/* 64 to 67, and whatever else a class manager would say, are ours to tell. */
START_TEST(notices_of_the_sm)
{
	struct wire_notice n = { .generic = true,
		.type = 3,
		.producer_type = PRODUCER_MANAGER,
		.issuer_lid = rig_host_lid(&rig, 3) };

	for (n.trap_number = 64; n.trap_number <= 67; n.trap_number++)
		for (n.producer_type = 0; n.producer_type <= 5; n.producer_type++)
			send_trap(&n);
	n.producer_type = PRODUCER_MANAGER;
	n.trap_number = 256;
	send_trap(&n);
	rig_let_pass(&rig, 100);
	ck_assert_uint_eq(n_repressed, 25);
	ck_assert_uint_eq(n_notices, 0);
	n.producer_type = PRODUCER_CA;
	send_trap(&n);
	rig_let_pass(&rig, 100);
	ck_assert_uint_eq(n_notices, 1);
	expect_logged(id_of(3));
}
END_TEST

/* A trap goes by LID, to the master's: one that came by a directed route is nobody's, as is one
 * from no LID at all. */
START_TEST(traps_of_nobody)
{
	uint16_t lid = switch_lid(leaf_of(3));
	struct wire_notice n = link_notice(lid);
	uint32_t before = rig.n_reports;

	deliver(lid, WIRE_CLASS_SMP_DR, &n);
	deliver(WIRE_LID_PERMISSIVE, WIRE_CLASS_SMP_DR, &n);
	deliver(WIRE_LID_PERMISSIVE, WIRE_CLASS_SMP_LID, &n);
	deliver(0, WIRE_CLASS_SMP_LID, &n);
	deliver(0xc001, WIRE_CLASS_SMP_LID, &n);
	n.issuer_lid = 0;
	deliver(0, WIRE_CLASS_SMP_LID, &n);
	rig_let_pass(&rig, 30000);
	ck_assert_uint_eq(rig.n_reports, before);
	ck_assert_uint_eq(n_notices, 0);
}
END_TEST

/* Each LID of a port may speak for any other of it. */
START_TEST(lids_of_one_port)
{
	uint16_t base;
	uint32_t before;

	teardown();
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig.set.addresses.lmc = 2;
	rig.on_notice = on_notice;
	rig_bring_up(&rig);
	rig_let_pass(&rig, 12000);
	base = rig_host_lid(&rig, 3);
	before = rig.n_reports;
	n_notices = 0;
	for (uint16_t from = 0; from < 4; from++)
		for (uint16_t to = 0; to < 4; to++) {
			struct wire_notice n = link_notice((uint16_t)(base + to));

			n.trap_number = (uint16_t)(144 + from);
			deliver((uint16_t)(base + from), WIRE_CLASS_SMP_LID, &n);
		}
	ck_assert_uint_eq(n_notices, 16);
	for (uint16_t from = 0; from < 4; from++) {
		struct wire_notice n = link_notice((uint16_t)(base + 4));

		deliver((uint16_t)(base + from), WIRE_CLASS_SMP_LID, &n);
	}
	ck_assert_uint_eq(n_notices, 16);
	rig_let_pass(&rig, 100);
	ck_assert_uint_gt(rig.n_reports, before); /* 144 */
}
END_TEST

/* ------------------------------------------------------------- without end */

#define MINUTES 2

/* A trap each millisecond, for two minutes, from a compute host: ten are acted upon, then some, and
 * then one in ten seconds; it is answered each time, and one line a minute tells of it. */
START_TEST(trap_without_end)
{
	struct wire_notice n = link_notice(rig_host_lid(&rig, 3));
	uint32_t before = rig.n_reports, n_sent = 0;

	n.trap_number = _i == 0 ? 128 : 144;
	n.details[2] = n.details[0];
	n.details[3] = n.details[1];
	for (int64_t ms = 0; ms < MINUTES * 60000; ms++) {
		send_trap(&n);
		n_sent++;
		rig_let_pass(&rig, 1);
	}
	ck_assert_uint_ge(n_repressed, n_sent - 1);
	ck_assert_uint_ge(rig.n_reports - before, 10 + MINUTES * 6);
	ck_assert_uint_le(rig.n_reports - before, 10 + 4 + MINUTES * 6);
	ck_assert_uint_le(n_notices, 10);
	expect_logged(id_of(3));
	ck_assert_uint_ge(n_logged("the busiest source"), MINUTES);
	ck_assert_uint_le(n_logged("the busiest source"), MINUTES + 1);
}
END_TEST

/* Of every number in turn: no more than for one is set off by each. */
START_TEST(traps_of_all_numbers)
{
	struct wire_notice n = link_notice(rig_host_lid(&rig, 3));
	uint32_t before = rig.n_reports;

	for (uint32_t i = 0; i < 60000; i++) {
		n.trap_number = (uint16_t)i;
		n.generic = i % 3 != 0;
		n.details[40] = (uint8_t)i; /* and never the same twice */
		n.details[41] = (uint8_t)(i >> 8);
		send_trap(&n);
		if (i % 10 == 0)
			rig_let_pass(&rig, 10);
	}
	rig_let_pass(&rig, 20000);
	ck_assert_uint_le(rig.n_reports - before, 40);
	ck_assert_uint_le(n_notices, 12 * 10 + 100);
}
END_TEST

/* From a LID that is nobody's: everything is looked at once in each interval of sweeps. */
START_TEST(unknown_lid_without_end)
{
	struct wire_notice n = link_notice(999);
	uint32_t before = rig.n_reports;

	rig.set.sweep.interval_ms = _i == 0 ? 10000 : 30000;
	rig_route_anew(&rig);
	rig_let_pass(&rig, 12000);
	before = rig.n_reports;
	deliver(999, WIRE_CLASS_SMP_LID, &n);
	rig_let_pass(&rig, 10);
	ck_assert_uint_eq(rig.n_reports, before + 1); /* the first at once */
	ck_assert_int_eq(rig.last.scope, SWEEP_HEAVY);
	for (int64_t ms = 0; ms < 60000; ms += 10) {
		n = link_notice((uint16_t)(999 + ms / 10 % 100));
		deliver(n.issuer_lid, WIRE_CLASS_SMP_LID, &n);
		rig_let_pass(&rig, 10);
	}
	ck_assert_uint_ge(rig.n_reports - before, _i == 0 ? 6 : 2);
	ck_assert_uint_le(rig.n_reports - before, _i == 0 ? 7 : 3);
	before = rig.n_reports;
	rig_let_pass(&rig, 60000); /* the last is not forgotten, and that is the end of it */
	ck_assert_uint_le(rig.n_reports - before, 1);
}
END_TEST

/* ---------------------------------------------------------------- and yet */

static bool
is_up(uint32_t node, unsigned port)
{
	const struct inventory *inv = sweeper_inventory(rig.sweeper);
	const struct inv_node *n = inv_node(inv, inv_find(inv, rig.nl.nodes[node].guid));

	return inv_port_up(&n->ports[port]);
}

/* A cable to a host goes out and in once a second, so that its leaf's traps are put off; the last
 * change is found though no sweep is asked for any more. */
START_TEST(last_change_is_found)
{
	uint32_t leaf = leaf_of(6);
	unsigned port = netlist_port(&rig.nl, rig_host(&rig, 6), 1)->peer_port;
	uint32_t before;

	for (unsigned i = 0; i < 41; i++) {
		if (i % 2 == 0)
			sim_unlink(rig.sim, leaf, port);
		else
			sim_relink(rig.sim, leaf, port);
		rig_let_pass(&rig, 1000);
		if (i < 8) /* the first ones, at once */
			ck_assert(is_up(leaf, port) == (i % 2 != 0));
	}
	rig_let_pass(&rig, 10000);
	ck_assert(!is_up(leaf, port));
	before = rig.n_reports;
	rig_let_pass(&rig, 60000);
	ck_assert_uint_le(rig.n_reports - before, 1);
	sim_relink(rig.sim, leaf, port); /* it has been quiet: at once again */
	rig_let_pass(&rig, 500);
	ck_assert(is_up(leaf, port));
	rig_expect_up(&rig);
}
END_TEST

/* All cables of a leaf go, one a millisecond, and it tells of each: in a second all is known. */
START_TEST(many_changes_of_one_switch)
{
	uint32_t leaf;

	teardown();
	rig_generate(&rig.nl, "pgft 2 36,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_bring_up(&rig);
	rig_let_pass(&rig, 12000);
	leaf = leaf_of(80);
	for (uint32_t h = 0; h < 36 * 4; h++)
		if (leaf_of(h) == leaf) {
			sim_unlink(rig.sim, rig_host(&rig, h), 1);
			rig_let_pass(&rig, 1);
		}
	rig_let_pass(&rig, 1100);
	for (uint32_t h = 0; h < 36 * 4; h++) {
		const struct netlist_port *p = netlist_port(&rig.nl, rig_host(&rig, h), 1);

		ck_assert(is_up(p->peer_node, p->peer_port) == (leaf_of(h) != leaf));
	}
}
END_TEST

/* While a host floods, its leaf is heard as before. */
START_TEST(others_are_heard)
{
	struct wire_notice n = link_notice(rig_host_lid(&rig, 3));
	uint32_t leaf = leaf_of(3);
	unsigned port = netlist_port(&rig.nl, rig_host(&rig, 1), 1)->peer_port;

	ck_assert_uint_eq(leaf_of(1), leaf);
	for (int64_t ms = 0; ms < 5000; ms++) {
		send_trap(&n);
		rig_let_pass(&rig, 1);
	}
	sim_unlink(rig.sim, leaf, port);
	for (int64_t ms = 0; ms < 100; ms++) {
		send_trap(&n);
		rig_let_pass(&rig, 1);
	}
	ck_assert(!is_up(leaf, port));
}
END_TEST

/* All switches tell of a change at one moment: all are read at once, and nothing is put off. */
START_TEST(all_at_once)
{
	uint32_t before, n_cut = 0;

	teardown();
	rig_generate(&rig.nl, "pgft 2 2,36 1,36 1,1");
	rig_sim(&rig, NULL);
	rig_bring_up(&rig);
	rig_let_pass(&rig, 12000);
	for (uint32_t h = 2; h < 72; h += 2) {
		sim_unlink(rig.sim, rig_host(&rig, h), 1);
		n_cut++;
	}
	ck_assert_uint_eq(n_cut, 35);
	before = rig.n_reports;
	rig_let_pass(&rig, 100);
	for (uint32_t h = 2; h < 72; h += 2) {
		const struct netlist_port *p = netlist_port(&rig.nl, rig_host(&rig, h), 1);

		ck_assert(!is_up(p->peer_node, p->peer_port));
	}
	ck_assert_uint_le(rig.n_reports - before, 4);
	before = rig.n_reports;
	rig_let_pass(&rig, 60000);
	ck_assert_uint_eq(rig.n_reports, before);
}
END_TEST

/* All hosts flood: so many nodes are read, what is put off is read when it is due, all of it
 * together, and then there is an end. */
START_TEST(all_hosts_flood)
{
	const struct sweep_trap_counts *c;
	uint32_t before, n_hosts = 24 * 24;
	int64_t start_ms, ms;

	teardown();
	rig_generate(&rig.nl, "pgft 2 24,24 1,4 1,1");
	rig_sim(&rig, NULL);
	rig_bring_up(&rig);
	rig_let_pass(&rig, 12000);
	c = sweeper_trap_counts(rig.sweeper);
	before = (uint32_t)c->acted;
	start_ms = sim_now_ns(rig.sim) / 1000000;
	for (unsigned k = 0; k < 20; k++) {
		for (uint32_t h = 0; h < n_hosts; h++) {
			struct wire_notice n = link_notice(rig_host_lid(&rig, h));

			deliver(n.issuer_lid, WIRE_CLASS_SMP_LID, &n);
		}
		rig_let_pass(&rig, 1);
	}
	ms = sim_now_ns(rig.sim) / 1000000 - start_ms;
	ck_assert_int_lt(ms, 1000);
	ck_assert_uint_ge(c->acted - before, n_hosts + 4096);
	ck_assert_uint_le(c->acted - before, n_hosts + 4096 + (uint64_t)ms / 2 + 1);
	ck_assert_uint_eq(c->postponed, n_hosts);
	before = rig.n_reports;
	for (int i = 0; i < 20; i++)
		rig_let_pass(&rig, 1000);
	ck_assert_uint_ge(rig.n_reports - before, 1);
	ck_assert_uint_le(rig.n_reports - before, 3);
	before = rig.n_reports;
	rig_let_pass(&rig, 60000);
	ck_assert_uint_eq(rig.n_reports, before);
	ck_assert_int_eq(sweeper_due_ns(rig.sweeper), INT64_MAX);
}
END_TEST

/* ---------------------------------------------------------------- babbling ports */

static void
babble(uint16_t lid, uint8_t port, unsigned times)
{
	struct wire_notice n = link_notice(lid);

	n.trap_number = 130;
	n.details[2] = n.details[0];
	n.details[3] = n.details[1];
	n.details[4] = port;
	for (unsigned i = 0; i < times; i++) {
		deliver(lid, WIRE_CLASS_SMP_LID, &n);
		rig_let_pass(&rig, 10);
	}
}

static void
set_policy(bool on)
{
	rig.set.sweep.babbling_port_policy = on;
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
}

static uint8_t
phys_of(uint32_t node, unsigned port)
{
	struct wire_port_info info;

	sim_port_info(rig.sim, node, port, &info);
	return info.phys_state;
}

/* So many ports are on the list of what is unfinished as stopped, each with what undoes it. */
static void
expect_stopped(unsigned n)
{
	const struct todo_list *list = sweeper_todo(rig.sweeper);
	char text[512];

	ck_assert_uint_eq(list->n_of[TODO_STOPPED], n);
	for (size_t i = 0; i < list->n; i++) {
		const struct todo *t = &list->item[i];

		if (t->why != TODO_STOPPED)
			continue;
		todo_say(sweeper_inventory(rig.sweeper), list, t, text, sizeof(text));
		ck_assert_msg(strstr(text, "babbling_port_policy") != NULL, "%s", text);
		ck_assert_msg(strstr(text, "\"ibportstate ") != NULL, "%s", text);
	}
}

/* As "ibportstate LID PORT enable" does. */
static void
enable(uint32_t node, unsigned port)
{
	struct sim_fabric *f = sim_fabric(rig.sim);

	fabric_change(f, f->nodes[node].first_port + port, WIRE_PORT_DOWN, WIRE_PHYS_POLLING);
}

/* A host's: the switch port it hangs on is disabled, at the 250th and not before. */
START_TEST(babbling_host)
{
	const struct netlist_port *p = netlist_port(&rig.nl, rig_host(&rig, 3), 1);

	babble(rig_host_lid(&rig, 3), 1, 600);
	ck_assert_uint_eq(phys_of(p->peer_node, p->peer_port), WIRE_PHYS_LINK_UP);
	rig_let_pass(&rig, 5000);
	set_policy(true);
	babble(rig_host_lid(&rig, 3), 1, 249);
	rig_let_pass(&rig, 100);
	ck_assert_uint_eq(phys_of(p->peer_node, p->peer_port), WIRE_PHYS_LINK_UP);
	babble(rig_host_lid(&rig, 3), 1, 1);
	rig_let_pass(&rig, 12000);
	ck_assert_uint_eq(phys_of(p->peer_node, p->peer_port), WIRE_PHYS_DISABLED);
	expect_logged("babbling_port_policy disables");
	rig_run(&rig, SWEEP_HEAVY); /* and it stays so */
	ck_assert_uint_eq(phys_of(p->peer_node, p->peer_port), WIRE_PHYS_DISABLED);
	rig_host_lid(&rig, 4);
	expect_stopped(1);
	enable(p->peer_node, p->peer_port);
	rig_run(&rig, SWEEP_LIGHT);
	expect_stopped(0);
	rig_run(&rig, SWEEP_HEAVY);
	expect_stopped(0);
}
END_TEST

/* Ports of one switch are counted apart. */
START_TEST(many_ports_that_do_not_babble)
{
	uint32_t leaf = leaf_of(3);

	set_policy(true);
	for (unsigned i = 0; i < 240; i++)
		for (uint8_t p = 1; p <= rig.nl.nodes[leaf].n_ports; p++)
			babble(switch_lid(leaf), p, 1);
	for (uint8_t p = 1; p <= rig.nl.nodes[leaf].n_ports; p++)
		ck_assert_uint_ne(phys_of(leaf, p), WIRE_PHYS_DISABLED);
}
END_TEST

/* Of a cable between switches the end nearer to us, and all goes on by the others. */
START_TEST(babbling_switch)
{
	uint32_t leaf = leaf_of(15);
	const struct netlist_port *p = NULL;
	uint8_t up = 0;

	while (p == NULL || p->peer_node == NETLIST_NONE || !rig_is_switch(&rig, p->peer_node))
		p = netlist_port(&rig.nl, leaf, ++up);
	set_policy(true);
	babble(switch_lid(leaf), up, 250);
	rig_let_pass(&rig, 12000);
	ck_assert_uint_eq(phys_of(p->peer_node, p->peer_port), WIRE_PHYS_DISABLED);
	ck_assert_uint_ne(phys_of(leaf, up), WIRE_PHYS_DISABLED);
	rig_run(&rig, SWEEP_HEAVY);
	rig_expect_up(&rig);
}
END_TEST

/* What others hang on, and we: told, and left. */
START_TEST(babbling_and_needed)
{
	uint32_t leaf;
	const struct netlist_port *p = NULL;
	uint8_t up = 0;

	teardown();
	rig_generate(&rig.nl, "pgft 2 4,4 1,1 1,1");
	rig_sim(&rig, NULL);
	rig_bring_up(&rig);
	rig_let_pass(&rig, 12000);
	leaf = leaf_of(15);
	while (p == NULL || p->peer_node == NETLIST_NONE || !rig_is_switch(&rig, p->peer_node))
		p = netlist_port(&rig.nl, leaf, ++up);
	set_policy(true);
	babble(switch_lid(leaf), up, 250);
	rig_let_pass(&rig, 1000);
	ck_assert_uint_eq(phys_of(p->peer_node, p->peer_port), WIRE_PHYS_LINK_UP);
	expect_logged("the only way to switches");
	babble(our_lid(), 1, 250);
	rig_let_pass(&rig, 1000);
	ck_assert_uint_eq(phys_of(rig.place, 1), WIRE_PHYS_LINK_UP);
	expect_logged("the link that we hang on");
	rig_expect_up(&rig);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("traps");
	TCase *t = tcase_create("traps");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, forged_issuer);
	tcase_add_test(t, forged_details);
	tcase_add_test(t, notices_of_the_sm);
	tcase_add_test(t, traps_of_nobody);
	tcase_add_test(t, lids_of_one_port);
	tcase_add_loop_test(t, trap_without_end, 0, 2);
	tcase_add_test(t, traps_of_all_numbers);
	tcase_add_loop_test(t, unknown_lid_without_end, 0, 2);
	tcase_add_test(t, last_change_is_found);
	tcase_add_test(t, many_changes_of_one_switch);
	tcase_add_test(t, others_are_heard);
	tcase_add_test(t, all_at_once);
	tcase_add_test(t, all_hosts_flood);
	tcase_add_test(t, babbling_host);
	tcase_add_test(t, many_ports_that_do_not_babble);
	tcase_add_test(t, babbling_switch);
	tcase_add_test(t, babbling_and_needed);
	suite_add_tcase(s, t);
	return run_suite(s);
}
