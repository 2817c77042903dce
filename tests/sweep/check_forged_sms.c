/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A compute host sends SMInfo of every kind to fmd, as master, standby and while it discovers: it
 * learns no key, and changes nothing.
 */
#include <check.h>
#include <string.h>

#include "tests/run.h"
#include "tests/sweep/several.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define KEY UINT64_C(0x5ec7e75ec7e75ec7)
#define POLL_MS 100
#define EVIL 5 /* the host that forges */

static struct rig a, b; /* b is lesser */
static struct forger evil;

static void
setup(void)
{
	rig_generate(&a.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&a, NULL);
	a.set.sm.key = KEY;
	a.set.sm.priority = 5;
	b.set = a.set;
	b.set.sm.priority = 3;
	rig_start(&a);
}

static void
teardown(void)
{
	forger_stop(&evil);
	if (b.sweeper != NULL)
		rig_stop(&b);
	rig_fini(&a);
	memset(&b, 0, sizeof(b));
}

static uint64_t
guid_of(const struct rig *r)
{
	return netlist_port(&r->nl, r->place, r->port)->guid;
}

/* Bring a up, and b beside it as standby. */
static void
bring_both_up(void)
{
	struct rig *both[] = { &a, &b };

	rig_run(&a, SWEEP_HEAVY);
	rig_expect_up(&a);
	several_join(&b, &a, 9);
	sweeper_request(b.sweeper, SWEEP_HEAVY, "test");
	several_run(both, 2, 2000, POLL_MS);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
}

/* ------------------------------------------------------------ by a stranger */

static const uint8_t methods[] = { WIRE_GET, WIRE_SET, WIRE_GET_RESP };
static const uint32_t controls[] = { 0, WIRE_SM_HANDOVER, WIRE_SM_ACKNOWLEDGE, WIRE_SM_DISABLE,
	WIRE_SM_STANDBY_REQ, WIRE_SM_DISCOVER, 77 };
static const uint64_t keys[] = { KEY, 0, 1 };

/* Send what is left of the cases; each is to change nothing in `victim`. */
static void
forge_all(struct rig *victim, struct rig **all, unsigned n)
{
	uint64_t guids[] = { guid_of(&a), netlist_port(&a.nl, rig_host(&a, 9), 1)->guid,
		netlist_port(&a.nl, rig_host(&a, EVIL), 1)->guid, 0x1234, 0 };
	uint8_t state = victim->ha.state;
	uint32_t n_sweeps = victim->n_reports;

	for (uint32_t i = 0;
	     i < N_OF(methods) * N_OF(controls) * N_OF(keys) * N_OF(guids) * 4 * N_FORGED_WAYS;
	     i++) {
		uint32_t x = i;
		enum forged_way way = x % N_FORGED_WAYS;
		uint8_t method = methods[(x /= N_FORGED_WAYS) % N_OF(methods)];
		uint32_t control = controls[(x /= N_OF(methods)) % N_OF(controls)];
		struct wire_sm_info info = { .act_count = i, .priority = 15 };

		info.sm_key = keys[(x /= N_OF(controls)) % N_OF(keys)];
		info.guid = guids[(x /= N_OF(keys)) % N_OF(guids)];
		info.state = (uint8_t)(x / N_OF(guids));
		forger_send(&evil, victim, way, method, control, &info);
		several_run(all, n, 1, 0);
		forger_listen(&evil);
		ck_assert_msg(evil.n_told == 0,
		    "the key is told: method 0x%02x control %u guid %016lx key %lx state %u way %u",
		    method, control, (unsigned long)info.guid, (unsigned long)info.sm_key,
		    info.state, way);
		ck_assert_msg(victim->ha.state == state && victim->n_reports == n_sweeps &&
			sweeper_idle(victim->sweeper),
		    "state %u, not %u, %u sweeps: method 0x%02x control %u guid %016lx key %lx "
		    "state %u way %u",
		    victim->ha.state, state, victim->n_reports - n_sweeps, method, control,
		    (unsigned long)info.guid, (unsigned long)info.sm_key, info.state, way);
	}
	ck_assert_uint_gt(evil.n_answers, 0);
}

/* A stranger, or an SM that does not have the key, or shows the GUID of ours. */
static void
enter_the_forger(int as)
{
	struct fm_error err = { 0 };

	forger_start(&evil, &a, EVIL, KEY);
	if (as == 0)
		return;
	evil.plays_sm = evil.takes_sets = true;
	evil.shown = (struct wire_sm_info){
		.guid = as == 3 ? guid_of(&a) : netlist_port(&a.nl, rig_host(&a, EVIL), 1)->guid,
		.sm_key = as == 1 ? 0 : 1,
		.priority = 15,
		.state = as == 1 ? WIRE_SM_MASTER : WIRE_SM_STANDBY
	};
	ck_assert_int_eq(evil.t->ops->set_is_sm(evil.t, true, &err), 0);
}

/* The sweeps that its arrival sets off. */
static void
let_it_be_seen(struct rig **all, unsigned n)
{
	several_run(all, n, 3000, POLL_MS);
	sweeper_request(a.sweeper, SWEEP_LIGHT, "test");
	several_run(all, n, 3000, POLL_MS);
}

START_TEST(to_a_master)
{
	struct rig *both[] = { &a, &b };

	bring_both_up();
	enter_the_forger(_i);
	let_it_be_seen(both, 2);
	forge_all(&a, both, 2);
	ck_assert_int_eq(b.ha.state, WIRE_SM_STANDBY);
}
END_TEST

START_TEST(to_a_standby)
{
	struct rig *both[] = { &a, &b };

	bring_both_up();
	enter_the_forger(_i);
	let_it_be_seen(both, 2);
	forge_all(&b, both, 2);
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
}
END_TEST

/* Before it has discovered anything. */
START_TEST(to_one_that_discovers)
{
	struct rig *one[] = { &a };

	forger_start(&evil, &a, EVIL, KEY);
	forge_all(&a, one, 1);
	ck_assert_int_eq(a.ha.state, WIRE_SM_DISCOVERING);
}
END_TEST

/* At random all the while that the subnet is brought up. */
START_TEST(while_one_discovers)
{
	struct rig *one[] = { &a };
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	enter_the_forger(_i % 2 * 2);
	sweeper_request(a.sweeper, SWEEP_HEAVY, "test");
	for (unsigned i = 0; i < 2000 && a.last.outcome != SWEEP_UP; i++) {
		struct wire_sm_info info = { .priority = 15,
			.guid = fm_rng_below(&rng, 2) ? guid_of(&a) : evil.shown.guid,
			.sm_key = keys[fm_rng_below(&rng, N_OF(keys))],
			.state = (uint8_t)fm_rng_below(&rng, 4) };

		forger_send(&evil, &a, (enum forged_way)fm_rng_below(&rng, N_FORGED_WAYS),
		    methods[fm_rng_below(&rng, 2)], controls[fm_rng_below(&rng, N_OF(controls))],
		    &info);
		several_run(one, 1, 1, 0);
		forger_listen(&evil);
	}
	ck_assert_int_eq(a.ha.state, WIRE_SM_MASTER);
	rig_expect_up(&a);
	ck_assert_uint_eq(a.n_reports, 1);
	ck_assert_uint_eq(evil.n_told, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("forged_sms");
	TCase *t = tcase_create("forged_sms");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, to_a_master, 0, 4);
	tcase_add_loop_test(t, to_a_standby, 0, 4);
	tcase_add_test(t, to_one_that_discovers);
	tcase_add_loop_test(t, while_one_discovers, 0, n_cases(40));
	suite_add_tcase(s, t);
	return run_suite(s);
}
