/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_agents - congestion control in switches and hosts: all hold what is wanted, and nothing is
 * sent where they do; what reboots is set again; a CC_Key that is not ours, and agents that answer
 * nothing or nonsense, cost two lines in the log and few MADs; no sweep has a MAD of it.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/agents/agents.h"
#include "core/ask/sweeper.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

#define NET "pgft 2 4,4 1,4 1,1"
#define HOSTS 16
#define SWITCHES 8
#define MINUTE 60000
#define HOUR (60 * MINUTE)
#define SEEDS 40

static struct rig rig;

/* A turn of the loop of the program; no MAD leaves while a sweep runs. */
static void
turn(int64_t end_ns)
{
	int64_t due = sweeper_due_ns(rig.sweeper);
	uint64_t sweep = sweeper_report(rig.sweeper)->number;
	bool sweeps = sweeper_phase(rig.sweeper) != PHASE_IDLE;
	struct agents_report before, after;
	struct fm_error err = { 0 };

	sweeper_agents(rig.sweeper, &before);
	ck_assert_msg(txn_poll(rig.txn, due < end_ns ? due : end_ns, &err) >= 0, "%s", err.msg);
	sweeper_step(rig.sweeper);
	sweeper_agents(rig.sweeper, &after);
	if (sweeps && sweeper_phase(rig.sweeper) != PHASE_IDLE &&
	    sweeper_report(rig.sweeper)->number == sweep)
		ck_assert_uint_eq(before.n_gets + before.n_sets, after.n_gets + after.n_sets);
}

static void
pass(int64_t ms)
{
	int64_t end = sim_now_ns(rig.sim) + ms * INT64_C(1000000);

	while (sim_now_ns(rig.sim) < end)
		turn(end);
}

/* Some of all that can be wanted; another k: other numbers. */
static void
want(unsigned k)
{
	static char table[2][100 * 8];
	struct conf_congestion *c = &rig.set.congestion;

	for (unsigned i = 0; i < 100; i++)
		snprintf(table[k % 2] + (i > 0 ? strlen(table[k % 2]) : 0), 9, "%s0:%u",
		    i > 0 ? "," : "", i + k);
	c->enable = true;
	c->max_outstanding = 500;
	c->text = (struct congestion_text){ .sw_control_map = 0x1f,
		.sw_threshold = 12,
		.sw_marking_rate = 9 + k,
		.ca_port_control = 1,
		.ca_control_map = 0x8001,
		.words = { [CONGESTION_VICTIM_MASK] = "0x1e",
		    [CONGESTION_CREDIT_MASK] = "0",
		    [CONGESTION_RETURN_DELAY] = "1:2",
		    [CONGESTION_CCTI_TIMER] = "0 100, 15 3",
		    [CONGESTION_CCTI_INCREASE] = "0 4",
		    [CONGESTION_TRIGGER_THRESHOLD] = "",
		    [CONGESTION_CCTI_MIN] = "",
		    [CONGESTION_CCT] = table[k % 2] } };
	congestion_make(&c->text, &c->blocks);
}

static void
configure(void)
{
	sweeper_configure(rig.sweeper, &rig.set, &rig.chain, NULL);
}

static void
prepare(uint64_t audit_ms)
{
	rig_generate(&rig.nl, NET);
	rig_sim(&rig, NULL);
	rig.set.sweep.interval_ms = 0;
	rig.set.sweep.audit_ms = (int64_t)audit_ms;
}

static void
bring_up(void)
{
	prepare(0);
	want(0);
	rig_bring_up(&rig);
	pass(1000);
	rig_log_clear();
}

static void
teardown(void)
{
	rig_fini(&rig);
}

static struct agents_report
seen(void)
{
	struct agents_report r;

	sweeper_agents(rig.sweeper, &r);
	return r;
}

static uint64_t
n_written(void)
{
	return sim_counts(rig.sim)->cc_sets;
}

static uint64_t
n_asked(void)
{
	return sim_counts(rig.sim)->cc_gets;
}

static struct cca *
agent_of(uint32_t node)
{
	return fabric_cca(sim_fabric(rig.sim),
	    (struct sim_place){ .node = node, .port = rig_is_switch(&rig, node) ? 0 : 1 });
}

/* What the simulator has, not what fmd thinks. */
static bool
holds(uint32_t node)
{
	const struct congestion_blocks *b = &rig.set.congestion.blocks;
	const struct cca *c = agent_of(node);
	bool is_switch = rig_is_switch(&rig, node);

	if (is_switch)
		return memcmp(c->sw, b->sw, sizeof(b->sw)) == 0;
	return memcmp(c->ca, b->ca, sizeof(b->ca)) == 0 &&
	    memcmp(c->table, b->table, sizeof(b->table)) == 0;
}

static uint32_t
n_nodes(void)
{
	return sim_fabric(rig.sim)->n_nodes;
}

static void
expect_all_hold(void)
{
	struct agents_report r = seen();

	for (uint32_t n = 0; n < n_nodes(); n++)
		ck_assert_msg(holds(n), "%s", rig.nl.nodes[n].id);
	ck_assert_uint_eq(r.switches[AGENT_HOLDS], SWITCHES);
	ck_assert_uint_eq(r.ports[AGENT_HOLDS], HOSTS);
	ck_assert_uint_eq(r.n_named, 0);
}

static void
say(uint32_t node, const char *word)
{
	ck_assert(cca_say(agent_of(node), word));
}

static unsigned
n_lines(const char *words)
{
	unsigned n = 0;

	for (const char *at = rig_log; (at = strstr(at, words)) != NULL; at++)
		n++;
	return n;
}

/* ---------------------------------------------------------------------------- */

/* A host: ClassPortInfo, CongestionInfo, CACongestionSetting, 2 blocks; a switch: ClassPortInfo,
 * SwitchCongestionSetting, SwitchPortCongestionSetting of up to 31 ports. */
START_TEST(all_hold_and_a_sweep_sets_nothing)
{
	bring_up();
	expect_all_hold();
	ck_assert_uint_eq(n_written(), 3 * HOSTS + SWITCHES);
	ck_assert_uint_eq(n_asked(), 5 * HOSTS + 3 * SWITCHES);
	rig_run(&rig, SWEEP_HEAVY);
	pass(1000);
	rig_run(&rig, SWEEP_LIGHT);
	pass(HOUR);
	ck_assert_uint_eq(n_written(), 3 * HOSTS + SWITCHES);
	ck_assert_uint_eq(n_asked(), 5 * HOSTS + 3 * SWITCHES);
	ck_assert_str_eq(rig_log, "");
}
END_TEST

START_TEST(off_sends_nothing)
{
	prepare(0);
	rig_bring_up(&rig);
	pass(MINUTE);
	ck_assert_uint_eq(n_written() + n_asked(), 0);
	ck_assert(!seen().enabled);
}
END_TEST

/* As another fmd, or another master, does. */
START_TEST(a_start_over_sets_nothing)
{
	uint64_t n;

	bring_up();
	n = n_written();
	rig_stop(&rig);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	pass(1000);
	expect_all_hold();
	ck_assert_uint_eq(n_written(), n);
}
END_TEST

START_TEST(a_reload_sends_what_differs)
{
	uint64_t n, n_gets;

	bring_up();
	n = n_written();
	n_gets = n_asked();
	configure(); /* the same */
	pass(1000);
	ck_assert_uint_eq(n_written() + n_asked(), n + n_gets);

	rig.set.congestion.text.sw_threshold = 3;
	congestion_make(&rig.set.congestion.text, &rig.set.congestion.blocks);
	configure();
	pass(1000);
	expect_all_hold();
	ck_assert_uint_eq(n_written(), n + SWITCHES);

	ck_assert_uint_eq(n_asked(),
	    n_gets + 3 * HOSTS + 2 * SWITCHES); /* neither ClassPortInfo nor CongestionInfo */
	want(1);				/* marking rate and both blocks */
	rig.set.congestion.text.sw_threshold = 3;
	congestion_make(&rig.set.congestion.text, &rig.set.congestion.blocks);
	configure();
	pass(1000);
	expect_all_hold();
	ck_assert_uint_eq(n_written(), n + 2 * SWITCHES + 2 * HOSTS);
}
END_TEST

START_TEST(off_by_reload_leaves_all)
{
	uint64_t n;

	bring_up();
	n = n_written() + n_asked();
	rig.set.congestion.enable = false;
	configure();
	sim_reboot(rig.sim, rig_host(&rig, 3), 1000000);
	pass(HOUR);
	ck_assert_uint_eq(n_written() + n_asked(), n);
	ck_assert_uint_eq(n_lines("congestion control is off"), 1);
	rig.set.congestion.enable = true;
	configure();
	pass(1000);
	expect_all_hold();
}
END_TEST

/* A node that has lost what it held gets it again, and nobody else anything. */
START_TEST(a_reboot_is_set_again)
{
	struct fm_rng rng;
	uint32_t node;
	uint64_t n;

	fm_rng_seed(&rng, (uint64_t)_i);
	bring_up();
	node = _i < 2 ? rig_host(&rig, _i == 0 ? 5 : 1) : rig_random_switch(&rig, &rng);
	n = n_written();
	sim_reboot(rig.sim, node, 1000000);
	pass(MINUTE);
	rig_run(&rig, SWEEP_HEAVY);
	pass(MINUTE);
	expect_all_hold();
	ck_assert_uint_eq(n_written(), n + (_i < 2 ? 3 : 1));
}
END_TEST

/* A port that was down for a moment, as its host was reset: nobody has seen it gone. */
START_TEST(a_port_that_was_down_is_read)
{
	uint32_t node;
	struct cca *c;

	bring_up();
	node = rig_host(&rig, 6);
	c = agent_of(node);
	cca_reboot(c);
	sim_flap(rig.sim, node, 1, 1000);
	pass(MINUTE);
	expect_all_hold();
	ck_assert_uint_eq(n_written(), 3 * HOSTS + SWITCHES + 3);
}
END_TEST

/* A switch that lost its power and shows it by LinearFDBTop alone. */
START_TEST(a_switch_that_lost_its_power)
{
	struct fm_rng rng;
	uint32_t node;

	fm_rng_seed(&rng, 1);
	bring_up();
	node = rig_random_switch(&rig, &rng);
	cca_reboot(agent_of(node));
	wire_put16(&sim_fabric(rig.sim)->nodes[node].switch_info[SWITCH_INFO_TOP], 0);
	rig_run(&rig, SWEEP_HEAVY);
	pass(1000);
	expect_all_hold();
	ck_assert_uint_eq(n_written(), 3 * HOSTS + SWITCHES + 1);
}
END_TEST

/* cc_cct does not fit: nothing of it is sent, and that is told. */
START_TEST(a_table_too_small)
{
	prepare(0);
	want(0);
	say(rig_host(&rig, 4), "blocks=1");
	rig_bring_up(&rig);
	pass(HOUR);
	ck_assert_uint_eq(seen().ports[AGENT_SMALL], 1);
	ck_assert_uint_eq(n_written(), 3 * (HOSTS - 1) + SWITCHES);
	ck_assert_uint_eq(n_lines("whose table is too small for cc_cct"), 1);
	rig.set.congestion.text.words[CONGESTION_CCT] = "0:1, 0:2";
	congestion_make(&rig.set.congestion.text, &rig.set.congestion.blocks);
	configure();
	pass(1000);
	ck_assert_uint_eq(seen().ports[AGENT_HOLDS], HOSTS);
	want(0); /* what it has told before was enough for less */
	configure();
	pass(1000);
	ck_assert_uint_eq(seen().ports[AGENT_SMALL], 1);
}
END_TEST

static unsigned wanted_next; /* by take_next(); 0: nothing */

/* As the program does that was told to read its configuration again while a sweep ran. */
static void
take_next(void *arg, const struct plan *p)
{
	if (wanted_next == 0)
		return;
	want(wanted_next);
	wanted_next = 0;
	configure();
}

/* Other settings while MADs of those before are out, and while answers wait for a sweep to end. */
START_TEST(a_reload_in_the_middle)
{
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	rig.on_up = take_next;
	bring_up();
	for (unsigned k = 1; k < 8; k++) {
		rig.set.congestion.max_outstanding = 1 + fm_rng_below(&rng, 20);
		want(k);
		rig.set.congestion.enable = fm_rng_below(&rng, 8) > 0;
		configure();
		for (unsigned n = fm_rng_below(&rng, 40); n > 0; n--)
			turn(INT64_MAX);
		if (fm_rng_below(&rng, 2) == 0) {
			sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
			wanted_next = 20 + k;
		}
		for (unsigned n = fm_rng_below(&rng, 40); n > 0; n--)
			turn(sim_now_ns(rig.sim) + 100000);
		while (sweeper_phase(rig.sweeper) != PHASE_IDLE)
			turn(sim_now_ns(rig.sim) + 100000);
	}
	want(9);
	configure();
	pass(MINUTE);
	expect_all_hold();
}
END_TEST

/* Somebody else has written: that is seen when it is read again. */
START_TEST(what_others_write_is_seen)
{
	uint64_t n;

	prepare(10 * MINUTE);
	want(0);
	rig_bring_up(&rig);
	pass(1000);
	expect_all_hold();
	n = n_written();
	memset(agent_of(rig_host(&rig, 7))->ca, 0, WIRE_CC_CA_BYTES);
	pass(11 * MINUTE);
	expect_all_hold();
	ck_assert_uint_eq(n_written(), n + 1);
}
END_TEST

/* A port of a switch that has a setting of its own: with the switch's it would not go by ours. */
START_TEST(ports_have_none_of_their_own)
{
	struct fm_rng rng;
	uint32_t node;
	struct cca *c;

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	prepare(10 * MINUTE);
	want(0);
	node = rig_random_switch(&rig, &rng);
	say(node, "own=2");
	say(node, "own=200"); /* which it has not */
	rig_bring_up(&rig);
	pass(1000);
	expect_all_hold();
	c = agent_of(node);
	ck_assert_uint_eq(c->ports[0][4 * 2], 0);
	ck_assert_uint_ne(c->ports[200 / 32][4 * (200 % 32)], 0);
	ck_assert_uint_eq(n_written(), 3 * HOSTS + SWITCHES + 1);
	say(node, "own=3");
	pass(11 * MINUTE);
	expect_all_hold();
	ck_assert_uint_eq(c->ports[0][4 * 3], 0);
	ck_assert_uint_eq(n_written(), 3 * HOSTS + SWITCHES + 2);
}
END_TEST

/* The log of a switch is what it has marked, all of it and once, whatever else is read. */
START_TEST(logs_are_summed)
{
	uint32_t node, slot = 0;
	uint64_t marked = 0, asked;
	const struct agent_log *log;
	struct fm_rng rng;
	char word[64];

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	prepare(fm_rng_below(&rng, 2) * 10 * MINUTE);
	want(0);
	rig.set.congestion.log_interval_ms = MINUTE;
	rig_bring_up(&rig);
	pass(1000);
	expect_all_hold();
	node = rig_random_switch(&rig, &rng);
	slot = inv_find(sweeper_inventory(rig.sweeper), rig.nl.nodes[node].guid);
	log = sweeper_congestion_log(rig.sweeper, slot);
	ck_assert_ptr_nonnull(log);
	ck_assert_uint_eq(log->n_events, 0);
	ck_assert_ptr_null(
	    sweeper_congestion_log(rig.sweeper, sweeper_inventory(rig.sweeper)->local));
	for (unsigned k = 0; k < 40; k++) {
		unsigned n = fm_rng_below(&rng, 3);

		for (unsigned i = 0; i < n; i++, marked++) {
			snprintf(word, sizeof(word), "marks=%u:%u:%u:3", 1 + k % 8, 1 + k, 2 + k);
			say(node, word);
		}
		if (fm_rng_below(&rng, 4) == 0)
			rig_run(&rig, SWEEP_HEAVY);
		pass(fm_rng_below(&rng, 2 * MINUTE));
	}
	say(node, "marks=5:7:9:4");
	pass(MINUTE + 1000);
	ck_assert_uint_eq(log->n_events, marked + 1);
	ck_assert(
	    wire_cc_mask_has(log->marked.ports, 5) && !wire_cc_mask_has(log->marked.ports, 0));
	ck_assert_uint_eq(log->marked.entry[0].slid, 7);
	ck_assert_uint_eq(log->marked.entry[0].dlid, 9);
	ck_assert_uint_eq(log->marked.entry[0].sl, 4);
	pass(2 * MINUTE); /* nothing more: the last is still shown */
	ck_assert_uint_eq(log->n_lately, 0);
	ck_assert_uint_eq(log->marked.entry[0].slid, 7);
	ck_assert_int_lt(log->marked_ms, log->read_ms);
	expect_all_hold();
	rig.set.congestion.log_interval_ms = 0;
	configure();
	pass(1000);
	asked = n_asked();
	pass(9 * MINUTE - 2000);
	ck_assert_uint_le(
	    n_asked() - asked, 2 * (SWITCHES + 2 * HOSTS)); /* no more than an audit */
	rig.set.congestion.log_interval_ms = 2 * MINUTE;
	configure();
	say(node, "marks=5:7:9:4");
	pass(2 * MINUTE);
	ck_assert_uint_eq(log->n_events, marked + 2);
}
END_TEST

/* Bits that count for nothing are what they like. */
START_TEST(reserved_bits_are_left)
{
	prepare(0);
	want(0);
	rig.set.congestion.enable = false;
	rig_bring_up(&rig);
	for (uint32_t n = 0; n < n_nodes(); n++) {
		struct cca *c = agent_of(n);
		const struct congestion_blocks *b = &rig.set.congestion.blocks;

		if (rig_is_switch(&rig, n)) {
			memcpy(c->sw, b->sw, sizeof(b->sw));
			c->sw[68] |= 0x0f;
			c->sw[71] = 0xff;
			c->sw[4] = 0x80; /* port 255 */
			continue;
		}
		memcpy(c->ca, b->ca, sizeof(b->ca));
		memset(c->ca + 4 + 8, 0xa5, 8); /* SL 1 is not in the map */
		memcpy(c->table, b->table, sizeof(b->table));
		memset(c->table[1] + 4 + 2 * 36, 0xa5, 8); /* beyond entry 99 */
	}
	rig.set.congestion.enable = true;
	configure();
	pass(1000);
	ck_assert_uint_eq(n_written(), 0);
	ck_assert_uint_eq(seen().ports[AGENT_HOLDS], HOSTS);
	ck_assert_uint_eq(seen().switches[AGENT_HOLDS], SWITCHES);
}
END_TEST

/* ---------------------------------------------------------------------- keys */

static void
lock(uint32_t node, const char *protect, const char *lease)
{
	say(node, "key=0x77");
	say(node, protect);
	say(node, lease);
}

/* All nodes but three: one line, one event, and few MADs in a day, whatever they answer. */
START_TEST(a_foreign_key_is_one_line)
{
	unsigned n_locked = 0;
	uint64_t n;

	prepare(0);
	want(0);
	rig.set.congestion.key = _i % 2 == 0 ? 0 : 0x11;
	for (uint32_t i = 3; i < n_nodes(); i++, n_locked++)
		lock(i, _i < 2 ? "protect=0" : "protect=1", "lease=0");
	rig_bring_up(&rig);
	rig_log_clear();
	pass(24 * (int64_t)HOUR);
	ck_assert_uint_eq(n_lines("CC_Key that is not ours"), 1);
	ck_assert_uint_eq(seen().switches[AGENT_FOREIGN] + seen().ports[AGENT_FOREIGN], n_locked);
	/* 7 tries in the first two hours, then one in 64 min: 28, of 9 MADs at most */
	n = n_written() + n_asked();
	ck_assert_uint_le(n, 28 * 9 * n_locked + 100);

	for (uint32_t i = 3; i < n_nodes(); i++)
		say(i, "key=0");
	pass(2 * (int64_t)HOUR);
	expect_all_hold();
	ck_assert_uint_eq(n_lines("CC_Key that is not ours any more"), 1);
	ck_assert_uint_eq(n_lines("CC_Key"), 2);
	ck_assert_uint_eq(n_lines("\n"), 4); /* and two: who holds at first, and in the end */
}
END_TEST

/* With the right key all is as without one. */
START_TEST(our_key_opens)
{
	prepare(0);
	want(0);
	rig.set.congestion.key = 0x77;
	for (uint32_t i = 0; i < n_nodes(); i++)
		lock(i, "protect=1", "lease=10");
	rig_bring_up(&rig);
	pass(1000);
	expect_all_hold();
	ck_assert_uint_eq(agent_of(1)->key.violations, 0);
}
END_TEST

static void
expect_keys(uint64_t key, bool protect, uint16_t lease_s)
{
	for (uint32_t i = 0; i < n_nodes(); i++) {
		const struct wire_cc_key_info *k = &agent_of(i)->key;

		ck_assert_uint_eq(k->key, key);
		ck_assert_int_eq(k->protect, protect);
		ck_assert_uint_eq(k->lease_s, lease_s);
	}
}

/* Keys that are written: one that shows is replaced, one that is hidden when its lease has run
 * out; ours for another one of ours at once; 0 takes it away. */
START_TEST(keys_are_written)
{
	uint64_t n;

	prepare(0);
	want(0);
	rig.set.congestion.key = 0x1234;
	rig.set.congestion.writes_key = rig.set.congestion.key_protected = true;
	rig.set.congestion.key_lease_s = 60;
	lock(2, "protect=0", "lease=0");
	lock(3, "protect=1", "lease=30");
	rig_bring_up(&rig);
	pass(5 * MINUTE);
	expect_all_hold();
	expect_keys(0x1234, true, 60);
	n = n_written();
	pass(HOUR);
	ck_assert_uint_eq(n_written(), n);

	rig.set.congestion.key = 0x4321;
	configure();
	pass(1000);
	expect_all_hold();
	expect_keys(0x4321, true, 60);
	ck_assert_uint_eq(n_written(), n + HOSTS + SWITCHES);

	rig.set.congestion.key = 0;
	configure();
	pass(1000);
	expect_all_hold();
	expect_keys(0, false, 60);
}
END_TEST

/* ------------------------------------------------------------- hostile agents */

/* A seed's share of the nodes is not sound; all others hold, two lines tell of them, and when they
 * are sound they hold, too. */
START_TEST(hostile_agents)
{
	static const char *const words[] = { "silent", "absent", "forgetful", "empty", "otherattr",
		"otherblock", "garbage", "blocks=1", "blocks=0" };
	unsigned n_bad = 0, n_hold;
	struct agents_report r;
	struct fm_rng rng;
	bool *is_bad;
	uint64_t n;

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	prepare(fm_rng_below(&rng, 2) * 10 * MINUTE);
	want(0);
	rig.set.congestion.key = fm_rng_below(&rng, 2) * 0x99;
	rig.set.congestion.log_interval_ms = fm_rng_below(&rng, 2) * 5 * MINUTE;
	rig.set.congestion.max_outstanding = fm_rng_below(&rng, 3) * 5;
	is_bad = calloc(n_nodes(), sizeof(*is_bad));
	ck_assert_ptr_nonnull(is_bad);
	for (uint32_t i = 0; i < n_nodes(); i++)
		if (fm_rng_below(&rng, 3) == 0) {
			const char *word = words[fm_rng_below(&rng, 9)];

			say(i, word);
			is_bad[i] = strncmp(word, "blocks", 6) != 0 || !rig_is_switch(&rig, i);
			/* one that says that it has done what it forgets is believed */
			n_bad += is_bad[i] && strcmp(word, "forgetful") != 0;
		}
	rig_bring_up(&rig);
	rig_log_clear();
	pass(2 * HOUR);
	r = seen();
	n_hold = r.switches[AGENT_HOLDS] + r.ports[AGENT_HOLDS];
	ck_assert_uint_le(n_lines("CC_Key"), 1); /* bytes of chance show one */
	ck_assert_uint_le(n_lines("do not hold what congestion control"), 1);
	for (uint32_t i = 0; i < n_nodes(); i++)
		ck_assert(is_bad[i] || holds(i));
	/* by chance bytes may say anything, but not that all is held */
	ck_assert_uint_eq(n_hold, n_nodes() - n_bad);
	ck_assert_uint_eq(r.n_named, n_bad < AGENTS_NAMED ? n_bad : AGENTS_NAMED);
	ck_assert_uint_le(n_written() + n_asked(), (uint64_t)n_bad * 10 * 12 + n_nodes() * 100);

	for (uint32_t i = 0; i < n_nodes(); i++) {
		say(i, "sound");
		say(i, "blocks=2");
	}
	pass(3 * HOUR);
	ck_assert_uint_eq(seen().switches[AGENT_HOLDS] + seen().ports[AGENT_HOLDS], n_nodes());
	want(1); /* those that lied are asked again */
	configure();
	pass(MINUTE);
	expect_all_hold();
	n = n_written();
	pass(3 * HOUR);
	ck_assert_uint_eq(n_written(), n);
	free(is_bad);
}
END_TEST

/* Events and lost packets beside it: in the end all hold. */
START_TEST(storms)
{
	struct sim_options o;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	sim_options_default(&o);
	o.seed = (uint64_t)_i + 1;
	rig_generate(&rig.nl, NET);
	rig_sim(&rig, &o);
	rig.set.sweep.interval_ms = 10000;
	rig.set.sweep.audit_ms = 10 * MINUTE;
	rig.set.congestion.log_interval_ms = 1000;
	want(0);
	rig_bring_up(&rig);
	sim_set_loss(rig.sim, 0.02 * fm_rng_below(&rng, 3));
	for (unsigned k = 0; k < 12; k++) {
		struct sim_place at;

		switch (fm_rng_below(&rng, 4)) {
		case 0:
			sim_reboot(rig.sim, rig_host(&rig, 1 + fm_rng_below(&rng, 15)), 1000000);
			break;
		case 1:
			sim_reboot(rig.sim, rig_random_switch(&rig, &rng), 1000000);
			break;
		case 2:
			want(k);
			if (sweeper_phase(rig.sweeper) == PHASE_IDLE)
				configure();
			break;
		default:
			at = rig_lose_a_cable(&rig, &rng);
			pass(fm_rng_below(&rng, 2000));
			sim_relink(rig.sim, at.node, at.port);
		}
		pass(fm_rng_below(&rng, 3000));
	}
	sim_set_loss(rig.sim, 0);
	pass(MINUTE);
	rig_run(&rig, SWEEP_HEAVY);
	configure();
	pass(3 * HOUR);
	expect_all_hold();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("agents");
	TCase *c = tcase_create("agents");

	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_set_timeout(c, 300);
	tcase_add_test(c, all_hold_and_a_sweep_sets_nothing);
	tcase_add_test(c, off_sends_nothing);
	tcase_add_test(c, a_start_over_sets_nothing);
	tcase_add_test(c, a_reload_sends_what_differs);
	tcase_add_test(c, off_by_reload_leaves_all);
	tcase_add_loop_test(c, a_reboot_is_set_again, 0, 4);
	tcase_add_test(c, a_port_that_was_down_is_read);
	tcase_add_test(c, a_switch_that_lost_its_power);
	tcase_add_test(c, a_table_too_small);
	tcase_add_loop_test(c, a_reload_in_the_middle, 0, (int)n_cases(SEEDS));
	tcase_add_test(c, what_others_write_is_seen);
	tcase_add_test(c, reserved_bits_are_left);
	tcase_add_loop_test(c, ports_have_none_of_their_own, 0, 4);
	tcase_add_loop_test(c, logs_are_summed, 0, (int)n_cases(SEEDS));
	tcase_add_loop_test(c, a_foreign_key_is_one_line, 0, 4);
	tcase_add_test(c, our_key_opens);
	tcase_add_test(c, keys_are_written);
	tcase_add_loop_test(c, hostile_agents, 0, (int)n_cases(SEEDS));
	tcase_add_loop_test(c, storms, 0, (int)n_cases(SEEDS));
	suite_add_tcase(s, c);
	return run_suite(s);
}
