/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmctl handover, between two and three fmd on one fabric: the subnet goes there and back, exactly
 * one writes, and what cannot be is refused with a sentence.
 */
#include <check.h>
#include <string.h>

#include "core/ask/sweeper.h"
#include "tests/run.h"
#include "tests/sweep/several.h"

#define KEY UINT64_C(0x5ec7e75ec7e75ec7)
#define POLL_MS 100
#define OTHER 9 /* hosts: of b, of c, of one that plays an SM */
#define THIRD 12
#define EVIL 5

static struct rig a, b, c;
static struct rig *all[] = { &a, &b, &c };
static unsigned n_rigs;
static struct forger evil;

static void
setup(void)
{
	memset(&b, 0, sizeof(b));
	memset(&c, 0, sizeof(c));
	memset(&evil, 0, sizeof(evil));
	n_rigs = 0;
	rig_generate(&a.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&a, NULL);
	a.set.sm.key = KEY;
	a.set.sm.patience_ms = 3000;
	a.set.sm.priority = 5;
	a.set.sm.master_priority = 14;
	b.set = c.set = a.set;
}

static void
teardown(void)
{
	if (evil.t != NULL)
		forger_stop(&evil);
	if (c.sweeper != NULL)
		rig_stop(&c);
	if (b.sweeper != NULL)
		rig_stop(&b);
	rig_fini(&a);
}

/* Sets to agents of the fabric, all together. */
static uint64_t
written_by(const struct rig *r)
{
	const uint64_t *by_attr = txn_counts(r->txn)->sets_by_attr;
	uint64_t n = 0;

	for (unsigned i = 0; i < 256; i++)
		n += i != (WIRE_ATTR_SM_INFO & 0xff) ? by_attr[i] : 0;
	return n;
}

static unsigned
n_masters(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_rigs; i++)
		n += all[i]->ha.state == WIRE_SM_MASTER;
	return n;
}

/* So long, in short turns; at no moment two rule. */
static void
watch(unsigned ms)
{
	for (unsigned i = 0; i < ms; i++) {
		several_run(all, n_rigs, 1, POLL_MS);
		ck_assert_uint_le(n_masters(), 1);
	}
}

static void
sweeps(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < n_rigs; k++)
			if (all[k]->ha.state == WIRE_SM_MASTER)
				sweeper_request(all[k]->sweeper,
				    sweeper_is_up(all[k]->sweeper) ? SWEEP_LIGHT : SWEEP_HEAVY,
				    "test");
		watch(300);
	}
}

static void
start_a(void)
{
	rig_start(&a);
	n_rigs = 1;
	sweeper_request(a.sweeper, SWEEP_HEAVY, "test");
	sweeps(2);
}

static void
join(struct rig *r, uint32_t host, uint8_t priority)
{
	r->set.sm.priority = priority;
	several_join(r, &a, host);
	n_rigs++;
	sweeper_request(r->sweeper, SWEEP_HEAVY, "test");
	sweeps(3);
}

static void
start_both(void)
{
	start_a();
	join(&b, OTHER, 3);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
}

static const struct ha_other *
seen_by(const struct rig *r, uint64_t guid)
{
	for (uint32_t i = 0; i < sweeper_n_other_sms(r->sweeper); i++)
		if (sweeper_other_sm(r->sweeper, i)->info.guid == guid)
			return sweeper_other_sm(r->sweeper, i);
	ck_abort_msg("it has not met that SM");
}

static void
ask(struct rig *r, const struct ha_other *to)
{
	struct fm_error err = { 0 };

	ck_assert_msg(sweeper_hand_over(r->sweeper, to, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(sweeper_order(r->sweeper)->state, ORDER_WAITS);
}

static void
await_end(const struct rig *r)
{
	for (unsigned i = 0; i < 20000 &&
	     (sweeper_order(r->sweeper)->state == ORDER_WAITS ||
		 sweeper_order(r->sweeper)->state == ORDER_SENT);
	     i++)
		watch(1);
}

static void
refused(struct rig *r, const struct ha_other *to, const char *why)
{
	uint32_t number = sweeper_order(r->sweeper)->number;
	struct fm_error err = { 0 };

	ck_assert_int_eq(sweeper_hand_over(r->sweeper, to, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, why) != NULL, "%s", err.msg);
	ck_assert_uint_eq(sweeper_order(r->sweeper)->number, number);
	ck_assert_uint_eq(r->ha.heir, 0);
}

static void
rules_alone(struct rig *r)
{
	for (unsigned i = 0; i < n_rigs; i++)
		ck_assert_int_eq(all[i]->ha.state, all[i] == r ? WIRE_SM_MASTER : WIRE_SM_STANDBY);
	several_expect_up(r);
	ck_assert_uint_eq(r->ha.heir, 0);
}

/* ------------------------------------------------------------- there and back */

/* At any moment: between sweeps, or with one under way, light or heavy; named or not. */
START_TEST(there_and_back)
{
	uint64_t n_sets;

	start_both();
	for (unsigned turn = 0; turn < 4; turn++) {
		struct rig *from = turn % 2 ? &b : &a, *to = turn % 2 ? &a : &b;
		uint32_t n_handovers = to->ha.n_handovers;

		if (_i % 3 > 0) {
			sweeper_request(
			    from->sweeper, _i % 3 == 1 ? SWEEP_LIGHT : SWEEP_HEAVY, "test");
			for (int k = 0; k < _i; k++)
				several_turn(all, n_rigs, 5000);
		}
		ask(from, turn < 2 ? NULL : seen_by(from, to->ha.guid));
		await_end(from);
		ck_assert_msg(sweeper_order(from->sweeper)->state == ORDER_DONE, "%s",
		    sweeper_order(from->sweeper)->says);
		ck_assert_uint_eq(sweeper_order(from->sweeper)->number, turn / 2 + 1);
		ck_assert_int_eq(from->ha.state, WIRE_SM_STANDBY);
		n_sets = written_by(from);
		watch(1500);
		sweeps(10);
		rules_alone(to);
		ck_assert_uint_eq(to->ha.n_handovers, n_handovers + 1);
		ck_assert_uint_eq(written_by(from), n_sets);
	}
}
END_TEST

/* A third stands by for the new master and does not step in between. */
START_TEST(with_a_third)
{
	start_both();
	join(&c, THIRD, 1 + (uint8_t)_i);
	ask(&a, seen_by(&a, b.ha.guid));
	await_end(&a);
	ck_assert_int_eq(sweeper_order(a.sweeper)->state, ORDER_DONE);
	watch(1500);
	sweeps(10);
	rules_alone(&b);
	ck_assert_uint_eq(c.ha.master.info.guid, b.ha.guid);
}
END_TEST

/* -------------------------------------------------------------------- refused */

START_TEST(no_standby)
{
	start_a();
	refused(&a, NULL, "there is no standby of ours: no other SM is on the subnet");
	b.set.sm.key = KEY + 1;
	join(&b, OTHER, 3);
	refused(&a, NULL, "does not show that it has our sm_key");
	refused(&a, seen_by(&a, b.ha.guid), "does not show that it has our sm_key");
	rules_alone(&a);
}
END_TEST

START_TEST(not_master)
{
	start_both();
	refused(&b, NULL, "this fmd is standby: the master hands over");
	ask(&a, NULL);
	ck_assert_int_eq(sweeper_hand_over(a.sweeper, NULL, &(struct fm_error){ 0 }), FM_E_CONFIG);
	await_end(&a);
	refused(&a, NULL, "this fmd is standby: the master hands over");
}
END_TEST

/* It would find us better, as far as we know, and give the subnet back. */
START_TEST(it_would_come_back)
{
	start_both();
	a.ha.master_priority = (uint8_t[]){ 0, 4 }[_i];
	refused(&a, NULL, "would hand the subnet straight back");
	a.ha.master_priority = 6;
	ask(&a, NULL);
	await_end(&a);
	ck_assert_int_eq(sweeper_order(a.sweeper)->state, ORDER_DONE);
}
END_TEST

/* The other one has no such priority, which nobody can know before: it gives the subnet back, and
 * the log says what to do. */
START_TEST(it_comes_back)
{
	b.set.sm.master_priority = 0;
	start_both();
	rig_log_clear();
	ask(&a, NULL);
	await_end(&a);
	ck_assert_int_eq(sweeper_order(a.sweeper)->state, ORDER_DONE);
	watch(1000);
	sweeps(10);
	rules_alone(&a);
	ck_assert_ptr_nonnull(strstr(rig_log, "does not raise its priority as master"));
}
END_TEST

START_TEST(a_better_one_waits)
{
	start_both();
	join(&c, THIRD, 9);
	refused(&a, seen_by(&a, b.ha.guid), "is better than both of us");
	ask(&a, NULL);
	await_end(&a);
	ck_assert_int_eq(sweeper_order(a.sweeper)->state, ORDER_DONE);
	watch(1500);
	sweeps(10);
	rules_alone(&c);
}
END_TEST

static unsigned n_asked, n_let;

static int
not_now(void *arg, const struct ha_other *heir, bool by_order, struct fm_error *err)
{
	(void)arg;
	if (!by_order)
		return 0;
	ck_assert_uint_eq(heir->info.guid, b.ha.guid);
	return n_asked++ < n_let ? 0 : fm_fail(err, FM_E_CONFIG, "it is not in sync");
}

/* Whoever runs the sweeper may refuse as well: when it is asked for, and before it is sent. */
START_TEST(the_caller_refuses)
{
	start_both();
	n_asked = 0;
	n_let = (unsigned)_i;
	a.sweeper->p.standbys.may_have = not_now;
	if (_i == 0) {
		refused(&a, NULL, "it is not in sync");
	} else {
		ask(&a, NULL);
		await_end(&a);
		ck_assert_int_eq(
		    sweeper_order(a.sweeper)->state, _i == 1 ? ORDER_FAILED : ORDER_DONE);
		if (_i == 1)
			ck_assert_str_eq(sweeper_order(a.sweeper)->says, "it is not in sync");
	}
	watch(1500);
	sweeps(3);
	rules_alone(_i == 2 ? &b : &a);
}
END_TEST

/* --------------------------------------------------------------- what fails */

/* An SM at a host of its own making, that says this of itself for ever. */
static void
play(uint8_t priority, uint8_t state)
{
	struct wire_sm_info shown = { .sm_key = KEY, .priority = priority, .state = state };

	forger_play(&evil, &a, EVIL, KEY, &shown);
	sweeps(3);
}

/* One that does not take HANDOVER, or takes it and then does nothing: we rule on. */
START_TEST(one_that_does_not_take_it)
{
	start_a();
	play(3, WIRE_SM_STANDBY);
	evil.takes_sets = _i;
	ask(&a, NULL);
	await_end(&a);
	ck_assert_int_eq(sweeper_order(a.sweeper)->state, ORDER_FAILED);
	ck_assert_ptr_nonnull(strstr(sweeper_order(a.sweeper)->says,
	    _i == 0 ? "it did not take our HANDOVER" : "it has not acknowledged our HANDOVER"));
	ck_assert_uint_gt(evil.n_sets, 0);
	evil.n_sets = 0;
	sweeps(10);
	rules_alone(&a);
	ck_assert_uint_eq(evil.n_sets, 0);
}
END_TEST

/* It was discovering when it was read last, and still is, or stands by since. */
START_TEST(one_that_is_discovering)
{
	start_a();
	play(3, WIRE_SM_DISCOVERING);
	ask(&a, NULL);
	if (_i == 1)
		evil.shown.state = WIRE_SM_STANDBY;
	await_end(&a);
	ck_assert_int_eq(sweeper_order(a.sweeper)->state, ORDER_FAILED);
	ck_assert_ptr_nonnull(strstr(sweeper_order(a.sweeper)->says,
	    _i == 0 ? "is discovering" : "it did not take our HANDOVER"));
	ck_assert_int_eq(evil.n_sets > 0, _i == 1);
}
END_TEST

/* It changes, or goes, after it was asked for and before the discovery. */
START_TEST(one_that_changes_meanwhile)
{
	struct fm_error err = { 0 };

	start_a();
	play(3, WIRE_SM_STANDBY);
	ask(&a, NULL);
	if (_i == 0)
		evil.shown.state = WIRE_SM_NOT_ACTIVE;
	else if (_i == 1)
		evil.shown.sm_key = 0;
	else
		evil.plays_sm = false;
	await_end(&a);
	ck_assert_int_eq(sweeper_order(a.sweeper)->state, ORDER_FAILED);
	ck_assert_ptr_nonnull(strstr(sweeper_order(a.sweeper)->says,
	    ((const char *const[]){ "is not active", "does not show that it has our sm_key",
		"does not answer any more" })[_i]));
	evil.t->ops->set_is_sm(evil.t, false, &err);
	sweeps(20);
	rules_alone(&a);
}
END_TEST

/* It dies with HANDOVER taken: the subnet is ours again. */
START_TEST(one_that_dies)
{
	struct rig *left[] = { &a };
	struct fm_error err = { 0 };

	start_both();
	ask(&a, NULL);
	while (b.ha.state == WIRE_SM_STANDBY)
		several_turn(all, n_rigs, 1000);
	b.transport->ops->set_is_sm(b.transport, false, &err);
	rig_stop(&b);
	memset(&b, 0, sizeof(b));
	n_rigs = 1;
	several_run(left, 1, 20000, POLL_MS);
	ck_assert_int_ne(sweeper_order(a.sweeper)->state, ORDER_WAITS);
	ck_assert_int_ne(sweeper_order(a.sweeper)->state, ORDER_SENT);
	sweeps(5);
	rules_alone(&a);
}
END_TEST

/* Answers and ACKNOWLEDGE are lost at random: one rules in the end, and the order has an end. */
static struct fm_rng loss_rng;

static enum sim_fate
lose_some(void *arg, const struct sim_arrival *what, int64_t *late_ns)
{
	struct wire_header h;

	(void)arg;
	(void)late_ns;
	wire_header_get(what->mad, &h);
	return h.attr == WIRE_ATTR_SM_INFO && fm_rng_below(&loss_rng, 2) ? SIM_IS_LOST : SIM_COMES;
}

START_TEST(with_losses)
{
	a.set.sm.patience_ms = b.set.sm.patience_ms = 0; /* nobody is given up */
	start_both();
	fm_rng_seed(&loss_rng, (uint64_t)_i);
	ask(&a, NULL);
	sim_set_fate(a.sim, lose_some, NULL);
	several_run(all, n_rigs, 15000, POLL_MS);
	sim_set_fate(a.sim, NULL, NULL);
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned k = 0; k < n_rigs; k++)
			if (all[k]->ha.state == WIRE_SM_MASTER)
				sweeper_request(all[k]->sweeper, SWEEP_HEAVY, "test");
		several_run(all, n_rigs, 1000, POLL_MS);
	}
	ck_assert_int_ge(sweeper_order(a.sweeper)->state, ORDER_DONE);
	rules_alone(a.ha.state == WIRE_SM_MASTER ? &a : &b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("hand_over");
	TCase *t = tcase_create("hand_over");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, there_and_back, 0, 45);
	tcase_add_loop_test(t, with_a_third, 0, 4);
	tcase_add_test(t, no_standby);
	tcase_add_test(t, not_master);
	tcase_add_loop_test(t, it_would_come_back, 0, 2);
	tcase_add_test(t, it_comes_back);
	tcase_add_test(t, a_better_one_waits);
	tcase_add_loop_test(t, the_caller_refuses, 0, 3);
	tcase_add_loop_test(t, one_that_does_not_take_it, 0, 2);
	tcase_add_loop_test(t, one_that_is_discovering, 0, 2);
	tcase_add_loop_test(t, one_that_changes_meanwhile, 0, 3);
	tcase_add_test(t, one_that_dies);
	tcase_add_loop_test(t, with_losses, 0, n_cases(100));
	suite_add_tcase(s, t);
	return run_suite(s);
}
