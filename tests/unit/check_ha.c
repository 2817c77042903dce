/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SMInfo state machine, IBA 14.4: who is master, and what controls do.
 */
#include <check.h>

#include "core/ha/ha.h"
#include "tests/run.h"

#define US 100 /* our GUID */

static struct ha ha;

static void
setup(void)
{
	ha_init(&ha, US, 5, 1);
}

static struct ha_other
other(uint64_t guid, uint8_t priority, uint8_t state)
{
	struct ha_other o = { .info = { .guid = guid, .priority = priority, .state = state },
		.seen = true };

	return o;
}

START_TEST(test_rank)
{
	ck_assert(ha_is_better(6, 9, 5, 1));
	ck_assert(!ha_is_better(5, 9, 6, 1));
	ck_assert(ha_is_better(5, 1, 5, 9));
	ck_assert(!ha_is_better(5, 9, 5, 1));
}
END_TEST

/* Our state, one other SM, what follows. */
static const struct {
	uint8_t our_state;
	uint64_t guid;
	uint8_t priority, state;
	enum ha_verdict verdict;
	uint8_t then;
} meetings[] = {
	{ WIRE_SM_DISCOVERING, 1, 9, WIRE_SM_MASTER, HA_STANDBY, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 1, 5, WIRE_SM_MASTER, HA_STANDBY, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 200, 5, WIRE_SM_MASTER, HA_AWAIT_HANDOVER, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 1, 0, WIRE_SM_MASTER, HA_AWAIT_HANDOVER, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 1, 9, WIRE_SM_STANDBY, HA_STANDBY, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 1, 9, WIRE_SM_DISCOVERING, HA_STANDBY, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 1, 0, WIRE_SM_STANDBY, HA_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_DISCOVERING, 1, 9, WIRE_SM_NOT_ACTIVE, HA_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 1, 0, WIRE_SM_STANDBY, HA_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 1, 0, WIRE_SM_MASTER, HA_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 1, 9, WIRE_SM_MASTER, HA_GIVE_WAY, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 1, 9, WIRE_SM_STANDBY, HA_GIVE_WAY, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 1, 9, WIRE_SM_DISCOVERING, HA_MASTER, WIRE_SM_MASTER },
};

START_TEST(test_meetings)
{
	struct ha_other o = other(meetings[_i].guid, meetings[_i].priority, meetings[_i].state);
	uint32_t whom;

	ha.state = meetings[_i].our_state;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), meetings[_i].verdict);
	ck_assert_int_eq(ha.state, meetings[_i].then);
}
END_TEST

START_TEST(test_alone)
{
	uint32_t whom;

	ck_assert_int_eq(ha_decide(&ha, NULL, 0, &whom), HA_MASTER);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
}
END_TEST

/* A lesser master rules, hands over, and is not deferred to again. */
START_TEST(test_handover)
{
	struct ha_other o = other(200, 1, WIRE_SM_MASTER);
	uint32_t whom;

	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_AWAIT_HANDOVER);
	ck_assert(!ha_on_poll(&ha, &o.info, 4));
	ck_assert_uint_eq(ha.n_lesser_polls, 1);
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_HANDOVER, &o.info), HA_BECOME_MASTER);
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_MASTER);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	ck_assert(!ha.handed_over);
}
END_TEST

START_TEST(test_master_dies)
{
	struct ha_other o = other(1, 9, WIRE_SM_MASTER);
	uint32_t whom;

	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_STANDBY);
	ck_assert(!ha_on_poll(&ha, NULL, 3));
	ck_assert(!ha_on_poll(&ha, NULL, 3));
	ck_assert(!ha_on_poll(&ha, &o.info, 3)); /* alive after all: the count starts anew */
	ck_assert(!ha_on_poll(&ha, NULL, 3));
	ck_assert(!ha_on_poll(&ha, NULL, 3));
	ck_assert(ha_on_poll(&ha, NULL, 3));
	ck_assert_int_eq(ha.state, WIRE_SM_DISCOVERING);
}
END_TEST

START_TEST(test_master_steps_down)
{
	struct ha_other o = other(1, 9, WIRE_SM_MASTER);
	uint32_t whom;

	ha_decide(&ha, &o, 1, &whom);
	o.info.state = WIRE_SM_NOT_ACTIVE;
	ck_assert(ha_on_poll(&ha, &o.info, 3));
}
END_TEST

static const struct {
	uint8_t state;
	uint32_t control;
	enum ha_event event;
	uint8_t then;
} controls[] = {
	{ WIRE_SM_DISCOVERING, WIRE_SM_HANDOVER, HA_REFUSE, WIRE_SM_DISCOVERING },
	{ WIRE_SM_NOT_ACTIVE, WIRE_SM_HANDOVER, HA_REFUSE, WIRE_SM_NOT_ACTIVE },
	{ WIRE_SM_MASTER, WIRE_SM_HANDOVER, HA_BECOME_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, WIRE_SM_ACKNOWLEDGE, HA_NOTHING, WIRE_SM_MASTER },
	{ WIRE_SM_STANDBY, WIRE_SM_ACKNOWLEDGE, HA_NOTHING, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, WIRE_SM_ACKNOWLEDGE, HA_REFUSE, WIRE_SM_DISCOVERING },
	{ WIRE_SM_STANDBY, WIRE_SM_DISABLE, HA_STOP, WIRE_SM_NOT_ACTIVE },
	{ WIRE_SM_MASTER, WIRE_SM_DISABLE, HA_REFUSE, WIRE_SM_MASTER },
	{ WIRE_SM_NOT_ACTIVE, WIRE_SM_STANDBY_REQ, HA_BECOME_STANDBY, WIRE_SM_STANDBY },
	{ WIRE_SM_MASTER, WIRE_SM_STANDBY_REQ, HA_REFUSE, WIRE_SM_MASTER },
	{ WIRE_SM_STANDBY, WIRE_SM_DISCOVER, HA_REDISCOVER, WIRE_SM_DISCOVERING },
	{ WIRE_SM_MASTER, WIRE_SM_DISCOVER, HA_REFUSE, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 77, HA_REFUSE, WIRE_SM_MASTER },
};

START_TEST(test_controls)
{
	struct wire_sm_info from = { .guid = 1, .priority = 9, .state = WIRE_SM_MASTER };

	ha.state = controls[_i].state;
	ck_assert_int_eq(ha_on_set(&ha, controls[_i].control, &from), controls[_i].event);
	ck_assert_int_eq(ha.state, controls[_i].then);
}
END_TEST

/* HANDOVER sent: master until it is acknowledged by whom it went to. */
START_TEST(test_giving_way)
{
	struct ha_other o = other(1, 9, WIRE_SM_STANDBY);
	struct wire_sm_info stranger = { .guid = 77, .priority = 9, .state = WIRE_SM_STANDBY };
	uint32_t whom;

	ha.state = WIRE_SM_MASTER;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_GIVE_WAY);
	ha_handed_to(&ha, &o);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_ACKNOWLEDGE, &stranger), HA_NOTHING);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_ACKNOWLEDGE, &o.info), HA_BECOME_STANDBY);
	ck_assert_int_eq(ha.state, WIRE_SM_STANDBY);
	ck_assert(!ha.awaits_ack);
}
END_TEST

/* The acknowledgement was lost: the other one is seen to be master, in a
 * sweep or in a poll. */
START_TEST(test_acknowledge_lost)
{
	struct ha_other o = other(1, 9, WIRE_SM_STANDBY);
	uint32_t whom;

	ha.state = WIRE_SM_MASTER;
	ha_handed_to(&ha, &o);
	ck_assert(!ha_on_poll(&ha, &o.info, 3));
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	o.info.state = WIRE_SM_MASTER;
	if (_i == 0)
		ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_STANDBY);
	else
		ck_assert(!ha_on_poll(&ha, &o.info, 3));
	ck_assert_int_eq(ha.state, WIRE_SM_STANDBY);
	ck_assert(!ha.awaits_ack);
}
END_TEST

/* It took HANDOVER and died: the subnet is ours again. */
START_TEST(test_heir_dies)
{
	struct ha_other o = other(1, 9, WIRE_SM_STANDBY);

	ha.state = WIRE_SM_MASTER;
	ha_handed_to(&ha, &o);
	ck_assert(!ha_on_poll(&ha, NULL, 2));
	ck_assert(ha_on_poll(&ha, NULL, 2));
	ck_assert_int_eq(ha.state, WIRE_SM_DISCOVERING);
	ck_assert(!ha.awaits_ack);
}
END_TEST

static const struct {
	uint8_t our_state, state;
	enum ha_verdict verdict;
} foreigners[] = {
	{ WIRE_SM_DISCOVERING, WIRE_SM_MASTER, HA_STANDBY },
	{ WIRE_SM_DISCOVERING, WIRE_SM_STANDBY, HA_MASTER },
	{ WIRE_SM_MASTER, WIRE_SM_STANDBY, HA_MASTER },
	{ WIRE_SM_MASTER, WIRE_SM_MASTER, HA_MASTER },
};

/* Better than we are, but of another SM_Key. */
START_TEST(test_foreign_key)
{
	struct ha_other o = other(1, 9, foreigners[_i].state);
	uint32_t whom;

	o.info.sm_key = 2;
	ha.state = foreigners[_i].our_state;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), foreigners[_i].verdict);
	ha.state = WIRE_SM_STANDBY;
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_HANDOVER, &o.info), HA_REFUSE);
	o.info.sm_key = 1;
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_HANDOVER, &o.info), HA_BECOME_MASTER);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("ha");
	TCase *t = tcase_create("ha");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, test_rank);
	tcase_add_loop_test(t, test_meetings, 0, sizeof(meetings) / sizeof(meetings[0]));
	tcase_add_test(t, test_alone);
	tcase_add_test(t, test_handover);
	tcase_add_test(t, test_master_dies);
	tcase_add_test(t, test_master_steps_down);
	tcase_add_loop_test(t, test_controls, 0, sizeof(controls) / sizeof(controls[0]));
	tcase_add_test(t, test_giving_way);
	tcase_add_loop_test(t, test_acknowledge_lost, 0, 2);
	tcase_add_test(t, test_heir_dies);
	tcase_add_loop_test(t, test_foreign_key, 0, sizeof(foreigners) / sizeof(foreigners[0]));
	suite_add_tcase(s, t);
	return run_suite(s);
}
