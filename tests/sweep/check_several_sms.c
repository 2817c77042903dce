/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More than one SM on a fabric: who rules, who is asked, who is believed, and for how long.
 */
#include <check.h>
#include <string.h>

#include "core/ask/sweeper.h"
#include "tests/run.h"
#include "tests/sweep/several.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define KEY UINT64_C(0x5ec7e75ec7e75ec7)
#define POLL_MS 100
#define PATIENCE_MS 3000
#define OTHER 9 /* hosts: of b, of the one that plays an SM */
#define EVIL 5

static struct rig a, b;
static struct rig *both[] = { &a, &b };
static struct forger evil;

/* b, as a standby that has all the master had. */
static struct {
	bool has_copy, has_ruled;
	bool ruled_before_all; /* ... before a node was asked who it is */
	uint32_t n_not_named;  /* end ports, at that moment */
	bool asks;	       /* ... it has been */
	uint64_t sms[3];       /* that the copy has */
	size_t n_sms;
} heir;

static void
setup(void)
{
	memset(&b, 0, sizeof(b));
	memset(&heir, 0, sizeof(heir));
	memset(&evil, 0, sizeof(evil));
	rig_generate(&a.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&a, NULL);
	a.set.sm.key = KEY;
	a.set.sm.priority = 5;
	a.set.sm.patience_ms = PATIENCE_MS;
	b.set = a.set;
}

static void
teardown(void)
{
	if (evil.t != NULL)
		forger_stop(&evil);
	if (b.sweeper != NULL)
		rig_stop(&b);
	rig_fini(&a);
}

static void
start_a(void)
{
	rig_start(&a);
	several_tap(&a, KEY);
	sweeper_request(a.sweeper, SWEEP_HEAVY, "test");
}

static void
join_b(uint8_t priority)
{
	b.set.sm.priority = priority;
	several_join(&b, &a, OTHER);
	several_tap(&b, KEY);
	sweeper_request(b.sweeper, SWEEP_HEAVY, "test");
}

/* An SM at a host of its own making, that says this of itself for ever. */
static void
play(uint64_t key, uint8_t priority, uint8_t state)
{
	struct wire_sm_info shown = { .sm_key = key, .priority = priority, .state = state };

	forger_play(&evil, &a, EVIL, KEY, &shown);
}

/* So many sweeps, light ones, as the interval would have them. */
static void
sweeps(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < (b.sweeper != NULL ? 2u : 1u); k++)
			if (both[k]->ha.state == WIRE_SM_MASTER)
				sweeper_request(both[k]->sweeper,
				    sweeper_is_up(both[k]->sweeper) ? SWEEP_LIGHT : SWEEP_HEAVY,
				    "test");
		several_run(both, b.sweeper != NULL ? 2 : 1, 500, POLL_MS);
	}
}

/* ------------------------------------------------- two fmd with the same key */

static const uint8_t priorities[] = { 4, 5, 6 };

/* Whoever is better rules in the end, however they start; nobody has to tell the key for it. */
START_TEST(the_better_rules)
{
	uint8_t priority = priorities[_i / 2];
	bool together = _i % 2;
	struct rig *better, *lesser;

	start_a();
	if (!together)
		sweeps(2);
	join_b(priority);
	sweeps(10);
	better =
	    ha_is_better(5, several_guid_of(&a, 0), priority, several_guid_of(&a, OTHER)) ? &a : &b;
	lesser = better == &a ? &b : &a;
	ck_assert_int_eq(better->ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(lesser->ha.state, WIRE_SM_STANDBY);
	several_expect_up(better);
	ck_assert_uint_eq(several_n_told(), 0);
	ck_assert_ptr_null(strstr(rig_log, "sm_key"));
}
END_TEST

START_TEST(the_standby_takes_over)
{
	struct rig *left[] = { &b };

	start_a();
	sweeps(2);
	join_b(3);
	sweeps(3);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	a.transport->ops->set_is_sm(a.transport, false, &(struct fm_error){ 0 });
	rig_stop(&a);
	several_run(left, 1, 10000, POLL_MS);
	ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
	several_expect_up(&b);
	ck_assert_uint_eq(several_n_told(), 0);
}
END_TEST

/* Of all forwarding tables together. */
static uint64_t
lft_sets(const struct rig *r)
{
	return txn_counts(r->txn)->sets_by_attr[WIRE_ATTR_LFT & 0xff];
}

/* -------------------------------------------- a standby that has all the master had */

static bool
has_copy(void *arg)
{
	(void)arg;
	return heir.has_copy;
}

static size_t
sms_of_copy(void *arg, const uint64_t **guid)
{
	(void)arg;
	*guid = heir.sms;
	return heir.n_sms;
}

/* What the copy has is what is there. */
static void
on_rule(void *arg)
{
	struct inventory *inv = &b.sweeper->inv;

	(void)arg;
	heir.has_ruled = true;
	heir.ruled_before_all = !heir.asks;
	for (uint32_t i = 0; i < inv->nodes.n; i++)
		for (unsigned p = 0; p <= inv_node(inv, i)->n_ports; p++)
			inv_node(inv, i)->ports[p].lid = inv_node(inv, i)->ports[p].info.lid;
	sweeper_name_us(b.sweeper, inv);
}

static uint32_t
count_not_named(void)
{
	struct wire_port_info own, info;
	uint32_t n = 0;

	sim_port_info(a.sim, b.place, 1, &own);
	for (uint32_t i = 0; i < a.nl.n_nodes; i++) {
		if (i == a.place)
			continue;
		sim_port_info(a.sim, i, rig_is_switch(&a, i) ? 0 : 1, &info);
		n += info.master_sm_lid != own.lid;
	}
	return n;
}

static enum sim_fate
watch_heir(void *arg, const struct sim_arrival *what, int64_t *late_ns)
{
	struct wire_header h;

	(void)arg;
	(void)late_ns;
	wire_header_get(what->mad, &h);
	if (!what->by_agent)
		return SIM_COMES;
	if (h.attr == WIRE_ATTR_NODE_INFO && !heir.asks) {
		heir.asks = true;
		heir.n_not_named = count_not_named();
	}
	return SIM_COMES;
}

/* a is silent, with its host, and b, which has a copy or not, is left.  heir.sms are there. */
static void
lose_a(bool copy)
{
	struct rig *left[] = { &b };

	heir.has_copy = copy;
	b.sweeper->p.standbys =
	    (struct sweep_standbys){ .has_copy = has_copy, .sms = sms_of_copy, .on_rule = on_rule };
	sim_set_fate(a.sim, watch_heir, NULL);
	sim_silence(a.sim, a.place, true);
	for (unsigned i = 0; i < 10000 && !sweeper_is_up(b.sweeper); i++)
		several_run(left, 1, 1, POLL_MS);
}

START_TEST(who_has_a_copy_rules_at_once)
{
	start_a();
	sweeps(2);
	join_b(3);
	sweeps(3);
	several_run(both, 2, 600, POLL_MS);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	lose_a(_i == 0);
	ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
	ck_assert(sweeper_is_up(b.sweeper));
	ck_assert(heir.has_ruled && heir.asks);
	ck_assert_int_eq(heir.ruled_before_all, _i == 0);
	if (_i == 0)
		ck_assert_uint_eq(heir.n_not_named, 0);
	ck_assert_uint_eq(count_not_named(), 0);
}
END_TEST

static const struct {
	uint64_t key;
	uint8_t priority, state;
	bool answers, at_once;
} thirds[] = {
	{ KEY, 2, WIRE_SM_STANDBY, true, true },
	{ KEY, 2, WIRE_SM_STANDBY, false, false }, /* it may be another by now */
	{ KEY, 2, WIRE_SM_MASTER, true, false },
	{ KEY, 4, WIRE_SM_STANDBY, true, false }, /* it is better than b */
	{ 0, 9, WIRE_SM_MASTER, true, false },
	{ 0, 9, WIRE_SM_STANDBY, true, true }, /* it does not count */
};

/* ... but where another one that is known rules, is better, or does not answer. */
START_TEST(a_third_one)
{
	start_a();
	sweeps(2);
	play(thirds[_i].key, thirds[_i].priority, WIRE_SM_STANDBY);
	join_b(3);
	sweeps(3);
	several_run(both, 2, 600, POLL_MS);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	evil.shown.state = thirds[_i].state;
	evil.plays_sm = thirds[_i].answers;
	lose_a(true);
	ck_assert(heir.has_ruled == (thirds[_i].at_once || heir.asks));
	if (thirds[_i].at_once)
		ck_assert(heir.has_ruled && heir.ruled_before_all && sweeper_is_up(b.sweeper));
	else
		ck_assert(heir.asks && !heir.ruled_before_all);
}
END_TEST

static const struct {
	uint8_t priority;
	bool plays;  /* it runs an SM there */
	bool is_met; /* b has met the host */
	bool at_once;
} not_met[] = {
	{ 2, true, true, true },
	{ 4, true, true, false },
	{ 2, false, true, false },
	{ 2, true, false, false },
};

/* An SM has come since the standby read the fabric.  The master has met it, and says so. */
START_TEST(one_that_only_the_master_knew)
{
	start_a();
	sweeps(2);
	join_b(3);
	sweeps(3);
	several_run(both, 2, 600, POLL_MS);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	if (not_met[_i].plays)
		play(KEY, not_met[_i].priority, WIRE_SM_STANDBY);
	ck_assert_uint_eq(sweeper_n_other_sms(b.sweeper), 1);
	heir.sms[0] = several_guid_of(&b, OTHER);
	heir.sms[1] = not_met[_i].is_met ? several_guid_of(&a, EVIL) : UINT64_C(0x1234);
	heir.n_sms = 2;
	lose_a(true);
	ck_assert(heir.has_ruled == (not_met[_i].at_once || heir.asks));
	ck_assert_int_eq(heir.ruled_before_all, not_met[_i].at_once);
	ck_assert(heir.asks);
}
END_TEST

#define N_CASES_OF_COMING_BACK 4

/* The first dies, the second rules with the priority that masters have, the first comes back: it
 * stands by for ever, and nothing is written for it; but where it is above that, or there is none,
 * it takes the subnet back. */
START_TEST(the_first_comes_back)
{
	static const uint8_t as_master[N_CASES_OF_COMING_BACK] = { 14, 14, 0, 4 };
	static const bool keeps[N_CASES_OF_COMING_BACK] = { true, true, false, false };
	struct fm_error err = { 0 };
	struct rig *left[] = { &b };
	uint64_t n_written;

	a.set.sm.master_priority = b.set.sm.master_priority = as_master[_i];
	start_a();
	sweeps(2);
	join_b(3);
	sweeps(3);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	a.transport->ops->set_is_sm(a.transport, false, &err);
	rig_stop(&a);
	several_run(left, 1, 10000, POLL_MS);
	ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
	n_written = lft_sets(&b);
	if (_i == 1)
		sweeper_request(b.sweeper, SWEEP_HEAVY, "test"); /* both at once */
	start_a();
	for (unsigned i = 0; i < 300; i++) {
		several_run(both, 2, 10, POLL_MS);
		if (keeps[_i])
			ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
		ck_assert_int_ne(a.ha.state + b.ha.state, 2 * WIRE_SM_MASTER);
	}
	sweeps(40);
	ck_assert_int_eq(a.ha.state, keeps[_i] ? WIRE_SM_STANDBY : WIRE_SM_MASTER);
	ck_assert_int_eq(b.ha.state, keeps[_i] ? WIRE_SM_MASTER : WIRE_SM_STANDBY);
	several_expect_up(keeps[_i] ? &b : &a);
	ck_assert_uint_eq(lft_sets(&b), n_written);
	ck_assert_uint_eq(lft_sets(&a), 0);
	ck_assert_ptr_null(strstr(rig_log, "of lower rank than we are"));
}
END_TEST

/* As a reload has it: at once, without a sweep of the one that it is taken from. */
START_TEST(the_priority_as_master_changes)
{
	a.set.sm.master_priority = 14;
	start_a();
	sweeps(2);
	join_b(9);
	sweeps(5);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	a.ha.master_priority = 0;
	sweeps(5);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
	several_expect_up(&b);
}
END_TEST

/* What comes to an SM whose process does not run any more, on a host that lives. */
static struct {
	uint32_t n_questions;
	int64_t last_ns, least_apart_ns;
} unread;

static enum sim_fate
count_unread(void *arg, const struct sim_arrival *what, int64_t *late_ns)
{
	struct wire_header h;

	(void)arg;
	(void)late_ns;
	wire_header_get(what->mad, &h);
	if (what->by_agent || what->at.node != a.place || h.attr != WIRE_ATTR_SM_INFO)
		return SIM_COMES;
	if (unread.n_questions++ > 0 && sim_now_ns(a.sim) - unread.last_ns < unread.least_apart_ns)
		unread.least_apart_ns = sim_now_ns(a.sim) - unread.last_ns;
	unread.last_ns = sim_now_ns(a.sim);
	return SIM_COMES;
}

static const int64_t poll_intervals[] = { 100, 300, 1000, 5000, 10000 };

/* So many polls, one after the other, and it is not asked again before the other one rules. */
START_TEST(a_stopped_master)
{
	int64_t every_ms = poll_intervals[_i];
	struct rig *left[] = { &b };

	start_a();
	sweeps(2);
	join_b(3);
	sweeps(3);
	several_run(both, 2, 2 * every_ms, every_ms);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	unread.n_questions = 0;
	unread.least_apart_ns = INT64_MAX;
	sim_set_fate(a.sim, count_unread, NULL);
	several_run(left, 1, 3 * every_ms, every_ms);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	while (b.ha.state != WIRE_SM_MASTER && unread.n_questions < 10)
		several_run(left, 1, 1, every_ms);
	ck_assert_uint_eq(unread.n_questions, b.set.sm.polling_retries);
	ck_assert_int_ge(unread.least_apart_ns, every_ms * 1000000);
	ck_assert_int_le(sim_now_ns(a.sim) - unread.last_ns,
	    (every_ms < 2000 ? every_ms : 2000) * 1000000 + 10000000); /* it rules at once */
}
END_TEST

/* ... nor is its host waited for, which may be as silent, though its link is up. */
START_TEST(a_master_whose_host_is_silent)
{
	struct rig *left[] = { &b };
	int64_t since_ns;

	start_a();
	sweeps(2);
	join_b(3);
	sweeps(3);
	several_run(both, 2, 600, 300);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	sim_silence(a.sim, a.place, true);
	since_ns = sim_now_ns(a.sim);
	while (!sweeper_is_up(b.sweeper) && sim_now_ns(a.sim) - since_ns < INT64_C(10000000000))
		several_run(left, 1, 1, 300);
	ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
	ck_assert_int_le(sim_now_ns(a.sim) - since_ns, INT64_C(1600000000));
}
END_TEST

static uint32_t n_until_stop;
static bool a_is_stopped;

static enum sim_fate
stop_a(void *arg, const struct sim_arrival *what, int64_t *late_ns)
{
	(void)arg;
	(void)what;
	(void)late_ns;
	a_is_stopped = a_is_stopped || n_until_stop-- == 0;
	return SIM_COMES;
}

/* Answers that a does not get: none, those of other SMs, those of its own port (and of others). */
static const uint16_t withheld[] = { 0, WIRE_ATTR_SM_INFO, WIRE_ATTR_PORT_INFO };
static uint16_t withheld_attr;

static enum sim_fate
withhold(void *arg, const struct sim_arrival *what, int64_t *late_ns)
{
	struct wire_header h;

	(void)arg;
	(void)late_ns;
	wire_header_get(what->mad, &h);
	return !what->by_agent && what->at.node == a.place && h.method == WIRE_GET_RESP &&
		h.attr == withheld_attr
	    ? SIM_IS_LOST
	    : SIM_COMES;
}

#define STOPS 120

/* A master that stands still while it writes, and goes on when another rules: it writes nothing
 * before that one has handed the subnet over to it.  Either witness is enough for that. */
START_TEST(a_master_that_stood_still)
{
	struct rig *left[] = { &b };

	a.set.own_port_ms = b.set.own_port_ms = POLL_MS;
	start_a();
	sweeps(2);
	join_b(3);
	sweeps(3);
	a_is_stopped = false;
	n_until_stop = 4 * (uint32_t)(_i % STOPS);
	sim_set_fate(a.sim, stop_a, NULL);
	sim_reboot(a.sim, netlist_port(&a.nl, rig_host(&a, EVIL), 1)->peer_node, 1000000);
	sweeper_request(a.sweeper, SWEEP_HEAVY, "test");
	while (!a_is_stopped)
		several_turn(both, 2, 2000);
	several_run(left, 1, 3000, POLL_MS);
	ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER); /* it thinks */
	several_count_sets(&a);
	withheld_attr = withheld[_i / STOPS];
	sim_set_fate(a.sim, withhold, NULL);
	for (unsigned i = 0; i < 20000 && a.ha.state == WIRE_SM_MASTER; i++)
		several_run(both, 2, 1, POLL_MS);
	sim_set_fate(a.sim, NULL, NULL);
	for (unsigned i = 0; i < 20000 && a.ha.state != WIRE_SM_STANDBY; i++)
		several_run(both, 2, 1, POLL_MS);
	ck_assert_uint_eq(several_n_sets(), 0);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	if (withheld_attr != 0)
		return; /* what was not answered in time is offered again, or not: sm_patience */
	sweeps(4);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	several_expect_up(&a);
}
END_TEST

/* The clock of a, which stands still before its n-th MAD, inside a turn of its loop. */
static struct {
	struct transport_ops ops;
	const struct transport_ops *real;
	uint32_t n_until_stop, n_late;
	int64_t ahead_ns, stopped_ms;
} still;

static int64_t
still_now_ns(struct transport *t)
{
	return still.real->now_ns(t) + still.ahead_ns;
}

static int
still_send(struct transport *t, const struct mad *m, struct fm_error *err)
{
	struct wire_header h;

	wire_header_get(m->bytes, &h);
	if (still.ahead_ns != 0 && sms_awake_ms(a.sweeper) < still.stopped_ms)
		still.n_late += h.method == WIRE_SET;
	if (still.ahead_ns == 0 && still.n_until_stop-- == 0) {
		still.ahead_ns = INT64_C(3000000000);
		still.stopped_ms = still_now_ns(t) / 1000000;
	}
	return still.real->send(t, m, err);
}

/* What it was about to send is not sent before it knows whether it still rules. */
START_TEST(a_master_that_stood_still_inside_a_turn)
{
	a.set.own_port_ms = POLL_MS;
	start_a();
	sim_run(a.sim, 2000000); /* at 0 no turn has been yet */
	memset(&still, 0, sizeof(still));
	still.n_until_stop = 3 * (uint32_t)_i;
	still.real = a.transport->ops;
	still.ops = *still.real;
	still.ops.now_ns = still_now_ns;
	still.ops.send = still_send;
	a.transport->ops = &still.ops;
	several_run(both, 1, 500, POLL_MS);
	ck_assert_int_ne(still.ahead_ns, 0);
	ck_assert_uint_eq(still.n_late, 0);
	several_run(both, 1, 500, POLL_MS);
	ck_assert(!sms_doubts(a.sweeper));
	several_expect_up(&a);
}
END_TEST

/* It does not see that it stood still, but is told that another rules. */
START_TEST(a_master_that_is_told_of_another)
{
	struct rig *left[] = { &b };

	a.set.own_port_ms = 20000;
	b.set.own_port_ms = POLL_MS;
	start_a();
	sweeps(2);
	join_b(3);
	sweeps(3);
	sweeper_request(a.sweeper, SWEEP_HEAVY, "test");
	for (int i = 0; i < 40 * _i; i++)
		several_turn(both, 2, 2000);
	several_run(left, 1, 3000, POLL_MS);
	ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER); /* it thinks */
	rig_log_clear();
	several_count_sets(&a);
	sms_doubt(a.sweeper, "told by the test");
	ck_assert(sms_doubts(a.sweeper));
	for (unsigned i = 0; i < 20000 && a.ha.state == WIRE_SM_MASTER; i++)
		several_run(both, 2, 1, POLL_MS);
	ck_assert_ptr_null(strstr(rig_log, "stood still"));
	for (unsigned i = 0; i < 20000 && a.ha.state != WIRE_SM_STANDBY; i++)
		several_run(both, 2, 1, POLL_MS);
	ck_assert_uint_eq(several_n_sets(), 0);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	sms_doubt(a.sweeper, "who stands by sends nothing");
	ck_assert(!sms_doubts(a.sweeper));
}
END_TEST

/* Nobody has taken over: it goes on where it was, without a sweep. */
START_TEST(one_that_stood_still_alone)
{
	uint32_t n_reports;

	a.set.own_port_ms = _i == 0 ? POLL_MS : 20000;
	start_a();
	sweeps(2);
	sim_run(a.sim, sim_now_ns(a.sim) + INT64_C(5000000000));
	n_reports = a.n_reports;
	rig_log_clear();
	if (_i == 1)
		sms_doubt(a.sweeper, "it stood still for some time, as somebody says");
	several_run(both, 1, 1000, POLL_MS);
	ck_assert_ptr_nonnull(strstr(rig_log, "stood still for"));
	ck_assert(!sms_doubts(a.sweeper));
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_uint_eq(a.n_reports, n_reports);
	sweeps(1); /* nothing is held any more */
	ck_assert_uint_gt(a.n_reports, n_reports);
	several_expect_up(&a);
}
END_TEST

/* A master whose cable is pulled, between sweeps or in one, is master no more at once; what there
 * is when the cable is back is discovered. */
START_TEST(our_cable)
{
	uint32_t host;

	a.set.own_port_ms = b.set.own_port_ms = POLL_MS;
	start_a();
	host = rig_host(&a, 0);
	sweeps(2);
	join_b(3);
	sweeps(3);
	a_is_stopped = false;
	n_until_stop = (uint32_t)_i;
	sim_set_fate(a.sim, stop_a, NULL);
	if (_i > 0)
		sweeper_request(a.sweeper, SWEEP_HEAVY, "test");
	for (unsigned i = 0; i < 100 && _i > 0 && !a_is_stopped; i++)
		several_run(both, 2, 1, POLL_MS);
	sim_unlink(a.sim, host, 1);
	several_run(both, 2, 2 * POLL_MS, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_DISCOVERING);
	several_run(both, 2, 10000, POLL_MS);
	ck_assert_int_eq(a.last.outcome, SWEEP_NO_LINK);
	ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
	sim_relink(a.sim, host, 1);
	several_run(both, 2, 1000, POLL_MS); /* nobody asks for a sweep of it */
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	sweeps(4);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	several_expect_up(&a);
}
END_TEST

/* With another key neither takes anything from the other; who is there first rules. */
START_TEST(another_key)
{
	start_a();
	sweeps(2);
	b.set.sm.key = KEY + 1;
	join_b(9);
	sweeps(4);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	ck_assert_ptr_nonnull(strstr(rig_log, "the master does not show that it has our sm_key"));
	ck_assert_ptr_nonnull(strstr(rig_log, "an SM does not show that it has our sm_key"));
	several_run(both, 2, 3 * PATIENCE_MS, POLL_MS);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY); /* the subnet works */
	ck_assert_uint_eq(several_n_told(), 0);
}
END_TEST

/* ActCount goes up with what a master sends. */
START_TEST(act_count)
{
	struct wire_sm_info before, after;

	start_a();
	sweeps(1);
	sweeper_own_sm(a.sweeper, &before);
	ck_assert_uint_gt(before.act_count, 100);
	sweeps(1);
	sweeper_own_sm(a.sweeper, &after);
	ck_assert_uint_gt(after.act_count, before.act_count);
	ck_assert_uint_eq(after.sm_key, KEY);
}
END_TEST

/* ------------------------------------------------------ one that has the key */

/* It is told the key that it has shown, and only then.  (OpenSM asks for that.) */
START_TEST(who_has_shown_the_key_is_told)
{
	struct wire_sm_info nothing = { 0 };

	start_a();
	sweeps(2);
	play(_i == 0 ? KEY : 0, 2, WIRE_SM_STANDBY);
	forger_send(&evil, &a, FORGED_DIRECTED, WIRE_GET, 0, &nothing);
	several_run(both, 1, 100, 0);
	ck_assert_uint_eq(evil.n_answers, 1);
	ck_assert_uint_eq(evil.n_told, _i == 0);
	forger_send(&evil, &a, FORGED_BY_LID, WIRE_GET, 0, &nothing);
	several_run(both, 1, 100, 0);
	ck_assert_uint_eq(evil.n_answers, 2);
	ck_assert_uint_eq(evil.n_told, _i == 0 ? 2 : 0);
}
END_TEST

static const struct {
	uint64_t key;
	uint8_t state;
} idlers[] = {
	{ KEY, WIRE_SM_DISCOVERING },
	{ KEY, WIRE_SM_STANDBY },
	{ KEY, WIRE_SM_MASTER },
	{ 0, WIRE_SM_MASTER },
	{ KEY + 1, WIRE_SM_MASTER },
};

/* Better than we are, and does nothing: waited for, then given up, and the subnet is up. */
START_TEST(one_that_does_nothing)
{
	rig_log_clear();
	play(idlers[_i].key, 9, idlers[_i].state);
	start_a();
	several_run(both, 1, PATIENCE_MS - 500, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	several_run(both, 1, PATIENCE_MS, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	several_expect_up(&a);
	ck_assert_ptr_nonnull(strstr(rig_log, "it is given up"));
	sweeps(6);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	several_expect_up(&a);
}
END_TEST

START_TEST(for_ever)
{
	a.set.sm.patience_ms = 0;
	play(KEY, 9, WIRE_SM_MASTER);
	start_a();
	several_run(both, 1, 100 * PATIENCE_MS, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
}
END_TEST

/* Gone, it may come back and is waited for again. */
START_TEST(given_up_and_gone)
{
	play(KEY, 9, WIRE_SM_MASTER);
	start_a();
	several_run(both, 1, 2 * PATIENCE_MS, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	evil.t->ops->set_is_sm(evil.t, false, &(struct fm_error){ 0 });
	sweeps(2);
	evil.shown.state = WIRE_SM_STANDBY;
	evil.t->ops->set_is_sm(evil.t, true, &(struct fm_error){ 0 });
	evil.n_sets = 0;
	sweeps(2);
	ck_assert_uint_gt(evil.n_sets, 0); /* HANDOVER is offered */
}
END_TEST

/* As master: a better one that takes no HANDOVER, or takes it and does not acknowledge, is offered
 * it a few times; meanwhile and ever after the subnet is swept. */
START_TEST(one_that_takes_nothing)
{
	uint32_t n_sets, n_up = 0;

	start_a();
	sweeps(2);
	play(KEY, 9, WIRE_SM_STANDBY);
	evil.takes_sets = _i;
	for (unsigned i = 0; i < 60; i++) {
		sweeps(1);
		n_up += a.last.outcome == SWEEP_UP || a.last.outcome == SWEEP_UNCHANGED;
		ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	}
	ck_assert_uint_ge(n_up, 20);
	n_sets = evil.n_sets;
	ck_assert_uint_gt(n_sets, 0);
	ck_assert_uint_le(n_sets, 40); /* retries are of the transactions */
	sweeps(20);
	ck_assert_uint_eq(evil.n_sets, n_sets);
	ck_assert_ptr_nonnull(strstr(rig_log, "it is given up"));
	several_expect_up(&a);
}
END_TEST

/* --------------------------------------------------------- allowed_sm_guids */

START_TEST(not_allowed)
{
	uint64_t allowed[] = { several_guid_of(&a, 0), several_guid_of(&a, OTHER) };

	a.set.sm.allowed = allowed;
	a.set.sm.n_allowed = N_OF(allowed);
	b.set.sm.allowed = allowed;
	b.set.sm.n_allowed = N_OF(allowed);
	rig_log_clear();
	play(KEY, 15, idlers[_i].state);
	start_a();
	sweeps(3);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	several_expect_up(&a);
	ck_assert_uint_eq(sweeper_n_other_sms(a.sweeper), 1);
	ck_assert_int_eq(sweeper_other_sm(a.sweeper, 0)->trust, HA_NOT_ALLOWED);
	ck_assert_ptr_nonnull(strstr(rig_log, "an SM is not in allowed_sm_guids"));
	ck_assert_ptr_null(strstr(rig_log, "our own port"));
	rig_log_clear();
	join_b(9); /* which is */
	sweeps(5);
	ck_assert_int_eq(b.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	ck_assert_uint_eq(several_n_told(), 0);
	ck_assert_uint_eq(evil.n_told, 0);
}
END_TEST

/* A better SM of our key, that rules, waits or only discovers. */
START_TEST(ignored)
{
	a.set.sm.ignore_others = true;
	rig_log_clear();
	play(KEY, 15, idlers[_i].state);
	start_a();
	sweeps(3);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	several_expect_up(&a);
	ck_assert_uint_eq(evil.n_sets, 0);
	ck_assert_ptr_nonnull(strstr(rig_log, "an SM is ignored by ignore_other_sm"));
	ck_assert_ptr_null(strstr(rig_log, "our own port"));
}
END_TEST

static void
start_a_inactive(void)
{
	start_a();
	a.ha.state = WIRE_SM_NOT_ACTIVE;
	several_run(both, 1, 1000, POLL_MS);
	ck_assert_int_eq(a.last.outcome, SWEEP_STANDBY);
	sweeper_request(a.sweeper, SWEEP_HEAVY, "reload");
	several_run(both, 1, 1000, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_NOT_ACTIVE);
	ck_assert_uint_eq(rig_sets(&a), 0);
}

/* It looks and writes nothing, though it is alone. */
START_TEST(not_active)
{
	start_a_inactive();
	ha_activate(&a.ha);
	sweeper_request(a.sweeper, SWEEP_HEAVY, "reload");
	several_run(both, 1, 1000, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	several_expect_up(&a);
}
END_TEST

START_TEST(told_to_stand_by)
{
	play(KEY, 2, WIRE_SM_MASTER);
	start_a_inactive();
	forger_send(&evil, &a, FORGED_DIRECTED, WIRE_SET, WIRE_SM_STANDBY_REQ, &evil.shown);
	several_run(both, 1, 1000, 0);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	ck_assert_uint_eq(rig_sets(&a), 0);
}
END_TEST

/* A new list takes effect while we stand by. */
START_TEST(not_allowed_any_more)
{
	uint64_t allowed[] = { several_guid_of(&a, 0) };

	start_a();
	sweeps(2);
	a.set.sm.patience_ms = 0;
	join_b(9);
	sweeps(4);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	a.set.sm.allowed = allowed;
	a.set.sm.n_allowed = 1;
	b.set = a.set;
	sweeper_configure(b.sweeper, &b.set, &b.chain, b.regions);
	ck_assert_ptr_nonnull(strstr(rig_log, "our own port"));
	b.set.sm.n_allowed = 0;
	sweeper_configure(b.sweeper, &b.set, &b.chain, b.regions);
	sweeper_configure(a.sweeper, &a.set, &a.chain, a.regions);
	sweeper_request(a.sweeper, SWEEP_HEAVY, "reload");
	several_run(both, 2, 500, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_ptr_nonnull(strstr(rig_log, "two rule the subnet"));
}
END_TEST

/* ------------------------------------------------------------------- commands */

/* A master that we know tells us to discover, a hundred times in ten seconds: ten are heard.  One
 * with the same transaction ID is answered as it was. */
START_TEST(one_command_a_second)
{
	struct wire_sm_info info;
	uint32_t n_sweeps;

	play(KEY, 9, WIRE_SM_MASTER);
	a.set.sm.patience_ms = 0;
	start_a();
	several_run(both, 1, 500, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	n_sweeps = a.n_reports;
	info = evil.shown;
	for (int i = 0; i < 100; i++) {
		forger_send(&evil, &a, FORGED_DIRECTED, WIRE_SET, WIRE_SM_DISCOVER, &info);
		several_run(both, 1, 100, 0);
	}
	ck_assert_uint_ge(a.n_reports, n_sweeps + 9);
	ck_assert_uint_le(a.n_reports, n_sweeps + 11);
	ck_assert_uint_ge(sweeper_sm_counts(a.sweeper)->dropped, 85);
	several_run(both, 1, 2000, 0);
	evil.n_answers = 0;
	n_sweeps = a.n_reports;
	for (int i = 0; i < 3; i++) {
		evil.tid = 100000;
		forger_send(&evil, &a, FORGED_DIRECTED, WIRE_SET, WIRE_SM_DISCOVER, &info);
		several_run(both, 1, 100, 0);
	}
	ck_assert_uint_eq(evil.n_answers, 3);
	ck_assert_uint_eq(evil.status, 0);
	ck_assert_uint_eq(a.n_reports, n_sweeps + 1);
}
END_TEST

/* HANDOVER of the master is taken by both ways, and acknowledged by one in standby. */
START_TEST(handover_is_taken)
{
	play(KEY, 2, WIRE_SM_MASTER);
	evil.takes_sets = true;
	sim_set_lid(a.sim, rig_host(&a, EVIL), 1, 77);
	start_a();
	several_run(both, 1, 500, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	forger_send(&evil, &a, FORGED_DIRECTED, WIRE_SET, WIRE_SM_HANDOVER, &evil.shown);
	evil.shown.state = WIRE_SM_STANDBY;
	several_run(both, 1, 1000, 0);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_uint_eq(evil.n_sets, 1);
	several_expect_up(&a);
}
END_TEST

#define N_MOMENTS 60

/* At one moment of a sweep, by MADs that have been handled. */
static struct moment {
	uint32_t at, n_handled;
	uint8_t method;
	bool loses_traps;
} moment;

static enum sim_fate
send_at_that_moment(void *arg, const struct sim_arrival *what, int64_t *late_ns)
{
	uint32_t control = moment.method == WIRE_SET ? WIRE_SM_HANDOVER : 0;

	(void)arg;
	(void)late_ns;
	if (moment.n_handled++ == moment.at)
		forger_send(&evil, &a, FORGED_DIRECTED, moment.method, control, &evil.shown);
	return moment.loses_traps && what->mad[3] == WIRE_TRAP ? SIM_IS_LOST : SIM_COMES;
}

static void
await_moment(enum sweep_scope scope, uint8_t method, unsigned at)
{
	moment = (struct moment){ .at = at, .method = method };
	sim_set_fate(a.sim, send_at_that_moment, NULL);
	sweeper_request(a.sweeper, scope, "test");
}

/* So, too, while a sweep is under way, by which cables are not known to be where they were. */
START_TEST(handover_is_taken_meanwhile)
{
	play(KEY, 2, WIRE_SM_MASTER);
	evil.takes_sets = true;
	start_a();
	several_run(both, 1, 500, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	await_moment(SWEEP_HEAVY, WIRE_SET, 4 * (unsigned)_i);
	several_run(both, 1, 100, 0);
	if (moment.n_handled <= moment.at)
		return; /* nothing is handled so late */
	ck_assert_uint_eq(evil.n_answers, 1);
	ck_assert_uint_eq(evil.status, 0);
	evil.shown.state = WIRE_SM_STANDBY;
	several_run(both, 1, 1000, 0);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_uint_eq(evil.n_sets, 1);
	several_expect_up(&a);
}
END_TEST

/* A lesser master of which no trap has told asks who we are, in whatever sweep: it is known from
 * then on, and its HANDOVER is taken. */
START_TEST(handover_of_one_that_has_asked)
{
	start_a();
	sweeps(2);
	play(KEY, 2, WIRE_SM_MASTER);
	evil.wants_sum = evil.takes_sets = true;
	await_moment(SWEEP_LIGHT, WIRE_GET, (unsigned)_i);
	moment.loses_traps = true;
	several_run(both, 1, 100, 0);
	if (moment.n_handled <= moment.at)
		return; /* nothing is handled so late */
	forger_send(&evil, &a, FORGED_DIRECTED, WIRE_SET, WIRE_SM_HANDOVER, &evil.shown);
	several_run(both, 1, 1000, 0);
	ck_assert_uint_eq(evil.status, 0);
	ck_assert_uint_eq(evil.n_sets, 1); /* ACKNOWLEDGE */
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
}
END_TEST

/* A lesser master that asks is looked for at once, and what it may have written is read. */
START_TEST(a_master_that_asks_is_met)
{
	uint32_t n_reports;

	start_a();
	sweeps(2);
	n_reports = a.n_reports;
	play(KEY, 2, WIRE_SM_MASTER);
	moment = (struct moment){ .at = UINT32_MAX, .loses_traps = true };
	sim_set_fate(a.sim, send_at_that_moment, NULL);
	evil.wants_sum = true;
	forger_send(&evil, &a, FORGED_DIRECTED, WIRE_GET, 0, &evil.shown);
	several_run(both, 1, 1000, 0);
	ck_assert_uint_eq(a.n_reports, n_reports + 1);
	ck_assert_int_eq(a.last.scope, SWEEP_HEAVY);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
}
END_TEST

/* One that has ruled beside us, and that we have seen as standby only, hands over: what it may have
 * written is read. */
START_TEST(handover_of_one_not_seen_to_rule)
{
	uint32_t n_reports;

	play(KEY, 2, WIRE_SM_STANDBY);
	start_a();
	sweeps(2);
	n_reports = a.n_reports;
	forger_send(&evil, &a, FORGED_DIRECTED, WIRE_SET, WIRE_SM_HANDOVER, &evil.shown);
	several_run(both, 1, 1000, 0);
	ck_assert_uint_ne(evil.status, 0);
	ck_assert_uint_eq(a.n_reports, n_reports + 1);
	ck_assert_int_eq(a.last.scope, SWEEP_HEAVY);
	ck_assert_uint_gt(a.last.gets_by_attr[WIRE_ATTR_LFT & 0xff], 0);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
}
END_TEST

/* A better one that rules by now and did not take our HANDOVER is offered it soon again: two rule
 * till then. */
START_TEST(one_that_rules_is_offered_it_again)
{
	start_a();
	sweeps(2);
	a.set.sm.patience_ms = 0;
	rig_stop(&a);
	start_a();
	sweeps(2);
	play(KEY, 9, WIRE_SM_MASTER);
	sweeps(4); /* nothing is taken */
	evil.n_sets = 0;
	several_run(both, 1, 10000, 0);
	sweeps(1);
	ck_assert_uint_gt(evil.n_sets, 0);
}
END_TEST

/* ------------------------------------------------------------------ impostors */

/* An SM that shows the GUID of another port is nobody, whatever key it shows. */
START_TEST(an_impostor)
{
	play(KEY, 15, WIRE_SM_MASTER);
	evil.shown.guid = _i == 0 ? several_guid_of(&a, OTHER) : several_guid_of(&a, 0);
	start_a();
	sweeps(3);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(sweeper_other_sm(a.sweeper, 0)->trust, HA_IMPOSTOR);
	ck_assert_ptr_nonnull(strstr(rig_log, "which is not its port's"));
}
END_TEST

/* -------------------------------------------------- each question is answered */

#define N_POINTS 300 /* more MADs than anybody handles as we start and stand by */
#define N_QUESTIONS 6

struct question {
	uint32_t at; /* it is sent when so many MADs have been handled */
	bool with_sum;
	bool again; /* the one before it once more */
};

static struct {
	struct question question[N_QUESTIONS];
	uint32_t n_questions;
	uint32_t rename_at; /* so many, and its host gets another node GUID; 0: never */
	uint32_t n_handled;
	uint32_t n_came; /* questions that came to a */
} asking;

static void
ask_a(const struct question *q)
{
	struct wire_sm_info nothing = { 0 };

	if (q->again && evil.tid > 0)
		evil.tid--;
	evil.wants_sum = q->with_sum;
	forger_send(&evil, &a, FORGED_DIRECTED, WIRE_GET, 0, &nothing);
}

static enum sim_fate
ask_at_that_point(void *arg, const struct sim_arrival *what, int64_t *late_ns)
{
	struct wire_header h;

	(void)arg;
	(void)late_ns;
	wire_header_get(what->mad, &h);
	if (!what->by_agent && what->at.node == a.place && h.attr == WIRE_ATTR_SM_INFO &&
	    h.method == WIRE_GET)
		asking.n_came++;
	asking.n_handled++;
	for (uint32_t i = 0; i < asking.n_questions; i++)
		if (asking.question[i].at == asking.n_handled)
			ask_a(&asking.question[i]);
	if (asking.n_handled == asking.rename_at) {
		sim_set_guid(a.sim, rig_host(&a, EVIL), UINT64_C(0x77));
		sweeper_request(a.sweeper, SWEEP_HEAVY, "renamed");
	}
	return SIM_COMES;
}

/* A master with our key, OpenSM say, asks as `asking` has it, while we start. */
static void
start_and_be_asked(void)
{
	struct fm_error err = { 0 };

	play(KEY, 2, WIRE_SM_MASTER);
	a.set.sm.patience_ms = 0;
	sim_set_fate(a.sim, ask_at_that_point, NULL);
	start_a();
	for (uint32_t i = 0; i < asking.n_questions; i++)
		if (asking.question[i].at == 0)
			ask_a(&asking.question[i]);
	/* as in the daemon, what has come is taken before the first step */
	ck_assert_int_ge(txn_poll(a.txn, sim_now_ns(a.sim) + 1000000, &err), 0);
	several_run(both, 1, 500, POLL_MS);
	several_run(both, 1, 20, 0); /* the last question arrives */
}

/* Once and never again, at whatever point: it is answered, once, and shown the key.  OpenSM takes
 * no notice of one that shows another. */
START_TEST(asked_once_as_we_start)
{
	memset(&asking, 0, sizeof(asking));
	asking.question[0].at = (uint32_t)_i;
	asking.n_questions = 1;
	start_and_be_asked();
	if (asking.n_handled < (uint32_t)_i)
		return; /* nothing is handled so late */
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	ck_assert_uint_eq(asking.n_came, 1);
	ck_assert_uint_eq(evil.n_answers, 1);
	ck_assert_uint_eq(evil.n_told, 1);
}
END_TEST

/* At random, several times, in part with a sum, and its host may be taken for another one
 * meanwhile: so many answers as questions.  A repeated one may get the answer to the first. */
START_TEST(each_question_is_answered)
{
	uint32_t n_repeated = 0, n_answers;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	memset(&asking, 0, sizeof(asking));
	asking.n_questions = N_QUESTIONS;
	for (uint32_t i = 0, at = 0; i < N_QUESTIONS; i++) {
		at = fm_rng_below(&rng, 2) ? at + fm_rng_below(&rng, 8)
					   : fm_rng_below(&rng, N_POINTS);
		asking.question[i] = (struct question){ .at = at,
			.with_sum = fm_rng_below(&rng, 3) == 0,
			.again = fm_rng_below(&rng, 5) == 0 };
		n_repeated += asking.question[i].again;
	}
	if (fm_rng_below(&rng, 2))
		asking.rename_at = 1 + fm_rng_below(&rng, N_POINTS);
	start_and_be_asked();
	n_answers = (uint32_t)sweeper_sm_counts(a.sweeper)->answered;
	ck_assert_uint_le(n_answers, asking.n_came);
	ck_assert_uint_ge(n_answers + n_repeated, asking.n_came);
}
END_TEST

/* ------------------------------------------------------------ gone, and slow */

/* Who is gone is not named, not even by a sweep that finds nothing new. */
START_TEST(who_is_gone_is_not_named)
{
	struct fm_error err = { 0 };

	start_a();
	sweeps(1);
	play(KEY, 9, WIRE_SM_STANDBY);
	sweeps(3);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_uint_eq(sweeper_n_other_sms(a.sweeper), 1);
	ck_assert_ptr_nonnull(strstr(a.last.other, "priority 9"));
	evil.t->ops->set_is_sm(evil.t, false, &err);
	forger_stop(&evil);
	evil.t = NULL;
	sweeps(20); /* till a question has had all its tries */
	ck_assert_uint_eq(sweeper_n_other_sms(a.sweeper), 0);
	ck_assert_str_eq(a.last.other, "");
}
END_TEST

/* A master that is too busy to answer, until all tries of one question have gone, is one all the
 * same, and what is to be set in its host is set. */
START_TEST(a_master_that_is_slow_to_answer)
{
	play(KEY, 9, WIRE_SM_MASTER);
	evil.plays_sm = false;
	a.set.sm.patience_ms = 0;
	start_a();
	while (sweeper_phase(a.sweeper) <= PHASE_OTHER_SMS && !evil.plays_sm) {
		several_run(both, 1, 10, 0);
		if (txn_counts(a.txn)->timeouts > 0) /* the question as a whole */
			evil.plays_sm = true;
	}
	several_run(both, 1, 5000, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_STANDBY);
	ck_assert_uint_eq(rig_sets(&a), 0);
}
END_TEST

/* One that never answers is none. */
START_TEST(one_that_never_answers)
{
	play(KEY, 9, WIRE_SM_MASTER);
	evil.plays_sm = false;
	start_a();
	several_run(both, 1, 10000, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_str_eq(a.last.other, "");
	sweeps(1);
	several_expect_up(&a); /* its host, too */
	ck_assert_ptr_nonnull(strstr(rig_log, "does not answer SMInfo"));
}
END_TEST

/* -------------------------------------------- two masters, under forgery, long */

/* At random: Sets and Gets in the name of either, and of itself, by an SM of a host that does not
 * have the key.  Of the two that have it one is master all the time. */
START_TEST(one_master_all_the_time)
{
	static const uint8_t states[] = { 0, 1, 2, 3 };
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	start_a();
	sweeps(2);
	join_b(3);
	sweeps(3);
	play(0, 15, WIRE_SM_STANDBY);
	for (unsigned i = 0; i < 400; i++) {
		struct wire_sm_info info = { .priority = 15,
			.guid = several_guid_of(
			    &a, (uint32_t[]){ 0, OTHER, EVIL, 3 }[fm_rng_below(&rng, 4)]),
			.sm_key = fm_rng_below(&rng, 2) ? KEY : 0,
			.state = states[fm_rng_below(&rng, 4)] };

		evil.shown.state = states[fm_rng_below(&rng, 3)];
		evil.takes_sets = fm_rng_below(&rng, 2);
		forger_send(&evil, both[fm_rng_below(&rng, 2)],
		    (enum forged_way)fm_rng_below(&rng, N_FORGED_WAYS),
		    fm_rng_below(&rng, 4) ? WIRE_SET : WIRE_GET, fm_rng_below(&rng, 6), &info);
		several_run(both, 2, 1 + fm_rng_below(&rng, 50), POLL_MS);
		if (fm_rng_below(&rng, 20) == 0)
			sweeps(1);
		ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
		ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
	}
	ck_assert_uint_eq(evil.n_told, 0);
	ck_assert_uint_eq(several_n_told(), 0);
	several_expect_up(&a);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("several_sms");
	TCase *t = tcase_create("several_sms");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, the_better_rules, 0, 2 * N_OF(priorities));
	tcase_add_test(t, the_standby_takes_over);
	tcase_add_loop_test(t, who_has_a_copy_rules_at_once, 0, 2);
	tcase_add_loop_test(t, a_third_one, 0, N_OF(thirds));
	tcase_add_loop_test(t, one_that_only_the_master_knew, 0, N_OF(not_met));
	tcase_add_loop_test(t, the_first_comes_back, 0, N_CASES_OF_COMING_BACK);
	tcase_add_test(t, the_priority_as_master_changes);
	tcase_add_loop_test(t, a_stopped_master, 0, N_OF(poll_intervals));
	tcase_add_test(t, a_master_whose_host_is_silent);
	tcase_add_loop_test(t, a_master_that_stood_still, 0, STOPS * (int)N_OF(withheld));
	tcase_add_loop_test(t, a_master_that_stood_still_inside_a_turn, 0, n_cases(80));
	tcase_add_loop_test(t, a_master_that_is_told_of_another, 0, 12);
	tcase_add_loop_test(t, one_that_stood_still_alone, 0, 2);
	tcase_add_loop_test(t, our_cable, 0, 60);
	tcase_add_test(t, another_key);
	tcase_add_test(t, act_count);
	tcase_add_loop_test(t, who_has_shown_the_key_is_told, 0, 2);
	tcase_add_loop_test(t, one_that_does_nothing, 0, N_OF(idlers));
	tcase_add_test(t, for_ever);
	tcase_add_test(t, given_up_and_gone);
	tcase_add_loop_test(t, one_that_takes_nothing, 0, 2);
	tcase_add_loop_test(t, not_allowed, 0, 3);
	tcase_add_loop_test(t, ignored, 0, 3);
	tcase_add_test(t, not_active);
	tcase_add_test(t, told_to_stand_by);
	tcase_add_test(t, not_allowed_any_more);
	tcase_add_test(t, one_command_a_second);
	tcase_add_test(t, handover_is_taken);
	tcase_add_loop_test(t, handover_is_taken_meanwhile, 0, N_MOMENTS);
	tcase_add_loop_test(t, handover_of_one_that_has_asked, 0, N_MOMENTS);
	tcase_add_test(t, a_master_that_asks_is_met);
	tcase_add_test(t, handover_of_one_not_seen_to_rule);
	tcase_add_test(t, one_that_rules_is_offered_it_again);
	tcase_add_loop_test(t, an_impostor, 0, 2);
	tcase_add_loop_test(t, asked_once_as_we_start, 0, N_POINTS);
	tcase_add_loop_test(t, each_question_is_answered, 0, n_cases(1000));
	tcase_add_test(t, who_is_gone_is_not_named);
	tcase_add_test(t, a_master_that_is_slow_to_answer);
	tcase_add_test(t, one_that_never_answers);
	tcase_add_loop_test(t, one_master_all_the_time, 0, n_cases(20));
	suite_add_tcase(s, t);
	return run_suite(s);
}
