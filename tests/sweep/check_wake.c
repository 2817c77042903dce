/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd goes on by itself, whatever the last sweep came to: nobody in these tests asks for a sweep
 * once the subnet has been brought up, time passes and that is all.
 */
#include <check.h>
#include <string.h>

#include "core/sweep/internal.h"
#include "lab/sim/sma.h"
#include "tests/run.h"
#include "tests/sweep/rig.h"

extern const struct fm_engine minhop_LTX_fm_engine;

static struct rig rig;

static void
bring_up(int64_t interval_ms)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_use(&rig, &minhop_LTX_fm_engine);
	rig.set.sweep.interval_ms = interval_ms;
	rig_bring_up(&rig);
}

static void
expect_up(void)
{
	if (rig.last.outcome == SWEEP_UNCHANGED)
		rig.last.outcome = SWEEP_UP;
	rig_expect_up(&rig);
}

static void
end(void)
{
	rig_fini(&rig);
}

/* What a sweep that was broken off, or failed, before the first UP leaves behind. */
static void
forget_all(enum sweep_outcome outcome)
{
	struct sweeper *s = rig.sweeper;

	s->rule.up = UP_NO_MORE;
	s->report.outcome = outcome;
	todo_clear(s->todo);
}

static const enum sweep_outcome in_vain[] = { SWEEP_BROKEN_OFF, SWEEP_NOT_ROUTED, SWEEP_NO_LINK,
	SWEEP_FAILED };
#define N_IN_VAIN ((int)(sizeof(in_vain) / sizeof(*in_vain)))

START_TEST(a_first_sweep_that_came_to_nothing_is_followed)
{
	bring_up(_i < N_IN_VAIN ? 10000 : 0);
	forget_all(in_vain[_i % N_IN_VAIN]);
	rig_let_pass(&rig, in_vain[_i % N_IN_VAIN] == SWEEP_BROKEN_OFF ? 100 : 3000);
	ck_assert(sweeper_is_up(rig.sweeper));
	rig_expect_up(&rig);
}
END_TEST

/* Every state that is not to last has a moment at which it ends. */
START_TEST(there_is_always_a_next_time)
{
	static const uint8_t states[] = { WIRE_SM_DISCOVERING, WIRE_SM_MASTER };

	bring_up(0);
	for (unsigned i = 0; i < sizeof(states); i++)
		for (unsigned o = SWEEP_UP; o <= SWEEP_FAILED; o++)
			for (unsigned up = 0; up < 2; up++) {
				struct wake w;

				rig.ha.state = states[i];
				rig.sweeper->report.outcome = (enum sweep_outcome)o;
				rig.sweeper->rule.up = up != 0 ? UP_NOW : UP_NO_MORE;
				w = wake_next(rig.sweeper);
				ck_assert_msg((w.at_ms == INT64_MAX) ==
					(states[i] == WIRE_SM_MASTER && up != 0 &&
					    (o == SWEEP_UP || o == SWEEP_UNCHANGED ||
						o == SWEEP_STANDBY)),
				    "state %u, outcome %u, up %u: due at %lld", states[i], o, up,
				    (long long)w.at_ms);
			}
	rig.ha.state = WIRE_SM_MASTER;
}
END_TEST

/* A host that does not answer, and is on the list for it. */
static uint32_t
have_a_silent_host(void)
{
	uint32_t host = rig_host(&rig, 3);

	sim_silence(rig.sim, host, true);
	rig_run(&rig, SWEEP_HEAVY);
	ck_assert_uint_gt(sweeper_todo(rig.sweeper)->n, 0);
	return host;
}

/* A node that is silent is asked again though there is no interval. */
START_TEST(what_waits_for_others_is_looked_at_without_an_interval)
{
	uint32_t host;

	bring_up(0);
	host = have_a_silent_host();
	sim_silence(rig.sim, host, false);
	rig_let_pass(&rig, 30000);
	ck_assert_uint_eq(sweeper_todo(rig.sweeper)->n, 0);
	rig_expect_up(&rig);
}
END_TEST

static unsigned n_looks;

static void
count_looks(void *arg, const struct plan *p)
{
	n_looks += rig.last.reason[0] != '\0' && strcmp(rig.last.reason, "interval") == 0;
}

/* Cables that go and come without end do not keep fmd from looking at all switches. */
START_TEST(the_interval_has_its_turn_beside_events)
{
	struct sim_place at;
	struct fm_rng rng;

	fm_rng_seed(&rng, 1);
	bring_up(10000);
	rig.on_up = count_looks;
	n_looks = 0;
	for (unsigned s = 0; s < 60; s++) {
		at = rig_lose_a_cable(&rig, &rng);
		rig_let_pass(&rig, 500);
		sim_relink(rig.sim, at.node, at.port);
		rig_let_pass(&rig, 500);
	}
	ck_assert_uint_ge(rig.n_reports, 60);
	ck_assert_uint_ge(n_looks, 1);
}
END_TEST

/* What somebody asks for is done, whatever has been due for longer. */
START_TEST(what_is_asked_for_comes_first)
{
	bring_up(10000);
	have_a_silent_host();
	rig.sweeper->todo->next_ms = 0;
	sweeper_request(rig.sweeper, SWEEP_HEAVY, "test");
	sweeper_step(rig.sweeper);
	ck_assert_int_eq(sweeper_report(rig.sweeper)->scope, SWEEP_HEAVY);
	ck_assert_str_eq(sweeper_report(rig.sweeper)->reason, "test");
}
END_TEST

/* Table entries as another SM may have left them. */
static void
overwrite_first_block(uint32_t node)
{
	struct wire_header h = { .base_version = 1,
		.class_version = 1,
		.mgmt_class = WIRE_CLASS_SMP_LID,
		.method = WIRE_SET,
		.attr = WIRE_ATTR_LFT };
	uint8_t mad[MAD_BYTES] = { 0 };

	wire_header_put(mad, &h);
	memset(mad + WIRE_SMP_DATA_AT, 255, WIRE_SMP_DATA_BYTES);
	ck_assert(sma_handle(sim_fabric(rig.sim), (struct sim_place){ .node = node }, mad));
}

/* While our port had no link another SM may have ruled, and be gone again without a trace in any
 * port.  The link is back before anybody has looked. */
START_TEST(what_another_wrote_while_we_had_no_link_is_found)
{
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i + 1);
	bring_up(10000);
	rig.sweeper->set.own_port_ms = _i % 2 == 0 ? 1000 : 0;
	sim_flap(rig.sim, rig.place, rig.port, 20000000);
	rig_let_pass(&rig, 10);
	overwrite_first_block(rig_random_switch(&rig, &rng));
	rig_let_pass(&rig, 15000);
	expect_up();
}
END_TEST

START_TEST(answers_that_cannot_come_are_not_waited_for)
{
	bring_up(10000);
	rig.sweeper->run.pending++;
	rig_let_pass(&rig, 100);
	ck_assert_uint_eq(rig.sweeper->run.pending, 0);
	ck_assert_ptr_nonnull(strstr(rig_log, "this is a bug of fmd"));
	rig_expect_up(&rig);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("wake");
	TCase *t = tcase_create("wake");

	tcase_add_checked_fixture(t, NULL, end);
	tcase_add_loop_test(t, a_first_sweep_that_came_to_nothing_is_followed, 0, 2 * N_IN_VAIN);
	tcase_add_test(t, there_is_always_a_next_time);
	tcase_add_test(t, what_waits_for_others_is_looked_at_without_an_interval);
	tcase_add_test(t, the_interval_has_its_turn_beside_events);
	tcase_add_test(t, what_is_asked_for_comes_first);
	tcase_add_loop_test(t, what_another_wrote_while_we_had_no_link_is_found, 0, 6);
	tcase_add_test(t, answers_that_cannot_come_are_not_waited_for);
	suite_add_tcase(s, t);
	return run_suite(s);
}
