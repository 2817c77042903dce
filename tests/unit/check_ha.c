/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SMInfo state machine, IBA 14.4: who is master, and what controls do.
 */
#include <check.h>

#include "core/ha/ha.h"
#include "core/wire/sm_proof.h"
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
		.trust = HA_OURS };

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
	{ WIRE_SM_NOT_ACTIVE, 1, 9, WIRE_SM_MASTER, HA_INACTIVE, WIRE_SM_NOT_ACTIVE },
	{ WIRE_SM_NOT_ACTIVE, 1, 0, WIRE_SM_STANDBY, HA_INACTIVE, WIRE_SM_NOT_ACTIVE },
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

/* Our priority is 5, as master 9.  Each shows what it has in its state, and both compare that. */
static const struct {
	uint8_t our_state;
	uint64_t guid;
	uint8_t priority, state;
	enum ha_verdict verdict;
	uint8_t then;
} raised[] = {
	/* a master keeps the subnet from all that are not above what it shows */
	{ WIRE_SM_MASTER, 1, 8, WIRE_SM_STANDBY, HA_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 200, 9, WIRE_SM_STANDBY, HA_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 1, 9, WIRE_SM_STANDBY, HA_GIVE_WAY, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 200, 10, WIRE_SM_STANDBY, HA_GIVE_WAY, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 1, 8, WIRE_SM_DISCOVERING, HA_MASTER, WIRE_SM_MASTER },
	/* two masters meet */
	{ WIRE_SM_MASTER, 1, 8, WIRE_SM_MASTER, HA_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 200, 9, WIRE_SM_MASTER, HA_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 1, 9, WIRE_SM_MASTER, HA_GIVE_WAY, WIRE_SM_MASTER },
	{ WIRE_SM_MASTER, 200, 10, WIRE_SM_MASTER, HA_GIVE_WAY, WIRE_SM_MASTER },
	/* before we rule we have 5: a master that shows more is no lesser one */
	{ WIRE_SM_DISCOVERING, 200, 6, WIRE_SM_MASTER, HA_STANDBY, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 200, 5, WIRE_SM_MASTER, HA_AWAIT_HANDOVER, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 200, 6, WIRE_SM_STANDBY, HA_STANDBY, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 200, 6, WIRE_SM_DISCOVERING, HA_STANDBY, WIRE_SM_STANDBY },
	{ WIRE_SM_DISCOVERING, 200, 5, WIRE_SM_DISCOVERING, HA_MASTER, WIRE_SM_MASTER },
	{ WIRE_SM_STANDBY, 200, 6, WIRE_SM_MASTER, HA_STANDBY, WIRE_SM_STANDBY },
};

START_TEST(test_raised)
{
	struct ha_other o = other(raised[_i].guid, raised[_i].priority, raised[_i].state);
	uint32_t whom;

	ha.master_priority = 9;
	ha.state = raised[_i].our_state;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), raised[_i].verdict);
	ck_assert_int_eq(ha.state, raised[_i].then);
}
END_TEST

/* One that is lower than our own counts for nothing, and it is shown by a master alone. */
START_TEST(test_raised_is_shown)
{
	static const uint8_t as_master[] = { 0, 4, 5, 6, 15 }, shown[] = { 5, 5, 5, 6, 15 };
	struct wire_sm_info info;

	for (unsigned i = 0; i < sizeof(shown); i++)
		for (uint8_t state = 0; state <= WIRE_SM_MASTER; state++) {
			ha.master_priority = as_master[i];
			ha.state = state;
			ha_info(&ha, &info);
			ck_assert_uint_eq(info.state, state);
			ck_assert_uint_eq(
			    info.priority, state == WIRE_SM_MASTER ? shown[i] : ha.priority);
		}
}
END_TEST

/* As standby: a master is of lower rank by what it shows, not by what it had before it ruled; and
 * only so long as it is, without a break. */
START_TEST(test_raised_master_is_polled)
{
	struct ha_other o = other(200, 3, WIRE_SM_MASTER);
	uint32_t whom;

	ha.master_priority = 9;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_AWAIT_HANDOVER);
	for (unsigned i = 1; i <= 3; i++) {
		ck_assert(!ha_on_poll(&ha, &o, 4));
		ck_assert_uint_eq(ha.n_lesser_polls, i);
	}
	o.info.priority = 6; /* it was reloaded */
	ck_assert(!ha_on_poll(&ha, &o, 4));
	ck_assert_uint_eq(ha.n_lesser_polls, 0);
	ck_assert_int_eq(ha.state, WIRE_SM_STANDBY);
}
END_TEST

/* Two that obey one another's numbers, whatever these are: of a master and one that comes to it, of
 * two masters, exactly one is master in the end, and none gives the subnet back. */
START_TEST(test_raised_agree)
{
	static const uint8_t levels[] = { 0, 5, 9 };
	bool both_rule = _i % 2;
	uint64_t guid = _i / 2 % 2 ? US - 1 : US + 1;
	struct ha peer;

	for (unsigned k = 0; k < 81; k++) {
		uint32_t whom, n_given = 0;
		struct ha *h[2] = { &ha, &peer };

		ha_init(&ha, US, levels[k % 3], 1);
		ha_init(&peer, guid, levels[k / 3 % 3], 1);
		ha.master_priority = levels[k / 9 % 3];
		peer.master_priority = levels[k / 27];
		ha.state = WIRE_SM_MASTER;
		peer.state = both_rule ? WIRE_SM_MASTER : WIRE_SM_DISCOVERING;
		for (unsigned turn = 1; turn < 12; turn++) {
			struct ha *me = h[turn % 2], *you = h[1 - turn % 2];
			struct ha_other to_you = { .trust = HA_OURS }, to_me = { .trust = HA_OURS };

			ha_info(you, &to_me.info);
			if (ha_decide(me, &to_me, 1, &whom) != HA_GIVE_WAY)
				continue;
			n_given++;
			ha_info(me, &to_you.info);
			ha_offer(me, &to_me);
			if (ha_on_set(you, WIRE_SM_HANDOVER, &to_you) != HA_BECOME_MASTER)
				continue; /* it does not know yet that we rule */
			ck_assert_int_eq(
			    ha_on_set(me, WIRE_SM_ACKNOWLEDGE, &to_me), HA_BECOME_STANDBY);
			ha_decide(you, &to_you, 1, &whom);
		}
		ck_assert_uint_le(n_given, 1);
		ck_assert_int_eq((ha.state == WIRE_SM_MASTER) + (peer.state == WIRE_SM_MASTER), 1);
		ck_assert_int_eq(
		    (ha.state == WIRE_SM_STANDBY) + (peer.state == WIRE_SM_STANDBY), 1);
	}
}
END_TEST

/* Nobody else is there, and still it does not rule until it is told to. */
START_TEST(test_not_active)
{
	uint32_t whom;

	ha.state = WIRE_SM_NOT_ACTIVE;
	ck_assert_int_eq(ha_decide(&ha, NULL, 0, &whom), HA_INACTIVE);
	ck_assert_int_eq(ha.state, WIRE_SM_NOT_ACTIVE);
	ha_activate(&ha);
	ck_assert_int_eq(ha_decide(&ha, NULL, 0, &whom), HA_MASTER);
	ha_activate(&ha);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
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
	ck_assert(!ha_on_poll(&ha, &o, 4));
	ck_assert_uint_eq(ha.n_lesser_polls, 1);
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_HANDOVER, &o), HA_BECOME_MASTER);
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_MASTER);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	ck_assert(!ha.handed_over);
	/* one that ruled besides us */
	ck_assert_uint_eq(ha.n_handovers, 1);
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_HANDOVER, &o), HA_BECOME_MASTER);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	ck_assert_uint_eq(ha.n_handovers, 2);
}
END_TEST

START_TEST(test_master_dies)
{
	struct ha_other o = other(1, 9, WIRE_SM_MASTER);
	uint32_t whom;

	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_STANDBY);
	ck_assert(!ha_on_poll(&ha, NULL, 3));
	ck_assert(!ha_on_poll(&ha, NULL, 3));
	ck_assert(!ha_on_poll(&ha, &o, 3)); /* alive after all: the count starts anew */
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
	ck_assert(ha_on_poll(&ha, &o, 3));
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
	struct ha_other from = other(1, 9, WIRE_SM_MASTER);

	ha.state = controls[_i].state;
	ha.master = from;
	ck_assert_int_eq(ha_on_set(&ha, controls[_i].control, &from), controls[_i].event);
	ck_assert_int_eq(ha.state, controls[_i].then);
}
END_TEST

/* Whoever is not a master that we know, by what was read at its port, commands nobody; in whatever
 * state. */
START_TEST(test_who_may_not)
{
	uint8_t state = controls[_i].state;
	struct ha_other from = other(1, 9, WIRE_SM_MASTER);

	for (int how = 0; how < 8; how++) {
		from = other(1, 9, WIRE_SM_MASTER);
		ha.state = state;
		ha.master = from;
		if (how < 4)
			from.trust = how + (how >= HA_OURS); /* all but HA_OURS */
		else if (how == 4)
			from.info.state = WIRE_SM_STANDBY;
		else if (how == 5)
			from.info.state = WIRE_SM_DISCOVERING;
		else if (how == 6 && state == WIRE_SM_STANDBY)
			from.info.guid = ++ha.master.info.guid + 1; /* it waits for another one */
		if (controls[_i].event == HA_NOTHING || (how == 6 && state != WIRE_SM_STANDBY))
			continue;
		ck_assert_int_eq(
		    ha_on_set(&ha, controls[_i].control, how == 7 ? NULL : &from), HA_REFUSE);
		ck_assert_int_eq(ha.state, state);
	}
}
END_TEST

/* HANDOVER sent: master until it is acknowledged by whom it went to. */
START_TEST(test_giving_way)
{
	struct ha_other o = other(1, 9, WIRE_SM_STANDBY);
	struct ha_other stranger = other(77, 9, WIRE_SM_STANDBY);
	uint32_t whom;

	ha.state = WIRE_SM_MASTER;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_GIVE_WAY);
	ha_offer(&ha, &o);
	ha_taken(&ha);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_ACKNOWLEDGE, &stranger), HA_NOTHING);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_ACKNOWLEDGE, &o), HA_BECOME_STANDBY);
	ck_assert_int_eq(ha.state, WIRE_SM_STANDBY);
	ck_assert_int_eq(ha.handover, HANDOVER_NONE);
}
END_TEST

/* The acknowledgement was lost: the other one is seen to be master, in a
 * sweep or in a poll. */
START_TEST(test_acknowledge_lost)
{
	struct ha_other o = other(1, 9, WIRE_SM_STANDBY);
	uint32_t whom;

	ha.state = WIRE_SM_MASTER;
	ha_offer(&ha, &o);
	ha_taken(&ha);
	ck_assert(!ha_on_poll(&ha, &o, 3));
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	o.info.state = WIRE_SM_MASTER;
	if (_i == 0)
		ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_STANDBY);
	else
		ck_assert(!ha_on_poll(&ha, &o, 3));
	ck_assert_int_eq(ha.state, WIRE_SM_STANDBY);
	ck_assert_int_eq(ha.handover, HANDOVER_NONE);
}
END_TEST

/* It took HANDOVER and begins to discover, and a sweep of ours finds it so before its ACKNOWLEDGE
 * is here. */
START_TEST(test_heir_discovers)
{
	struct ha_other o = other(1, 9, WIRE_SM_STANDBY);
	uint32_t whom;

	ha.state = WIRE_SM_MASTER;
	ha_offer(&ha, &o);
	if (_i == 1)
		ha_taken(&ha);
	o.info.state = WIRE_SM_DISCOVERING;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_GIVE_WAY);
	ck_assert_uint_eq(whom, 0);
	ck_assert_int_ne(ha.handover, HANDOVER_NONE);
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_ACKNOWLEDGE, &o), HA_BECOME_STANDBY);
	ck_assert_int_eq(ha.state, WIRE_SM_STANDBY);
}
END_TEST

/* It took HANDOVER and died: the subnet is ours again. */
START_TEST(test_heir_dies)
{
	struct ha_other o = other(1, 9, WIRE_SM_STANDBY);

	ha.state = WIRE_SM_MASTER;
	ha_offer(&ha, &o);
	ha_taken(&ha);
	ck_assert(!ha_on_poll(&ha, NULL, 2));
	ck_assert(ha_on_poll(&ha, NULL, 2));
	ck_assert_int_eq(ha.state, WIRE_SM_DISCOVERING);
	ck_assert_int_eq(ha.handover, HANDOVER_NONE);
}
END_TEST

/* ------------------------------------------------------ by the administrator */

/* Our priority, before and as master, and a standby: may it have the subnet? */
static const struct {
	uint8_t ours, ours_as_master;
	uint64_t guid;
	uint8_t priority, state, trust;
	enum ha_heir verdict;
} heirs[] = {
	{ 5, 14, 200, 3, WIRE_SM_STANDBY, HA_OURS, HEIR_FITS },
	{ 5, 6, 200, 3, WIRE_SM_STANDBY, HA_OURS, HEIR_FITS },
	{ 5, 14, 200, 9, WIRE_SM_STANDBY, HA_OURS, HEIR_FITS },
	{ 5, 0, 200, 6, WIRE_SM_STANDBY, HA_OURS, HEIR_FITS }, /* better as it is */
	{ 5, 0, 1, 5, WIRE_SM_STANDBY, HA_OURS, HEIR_FITS },
	{ 5, 0, 200, 5, WIRE_SM_STANDBY, HA_OURS, HEIR_RETURNS },
	{ 5, 5, 200, 3, WIRE_SM_STANDBY, HA_OURS, HEIR_RETURNS },
	{ 5, 5, 1, 3, WIRE_SM_STANDBY, HA_OURS, HEIR_FITS }, /* then by the GUID */
	{ 5, 4, 1, 3, WIRE_SM_STANDBY, HA_OURS, HEIR_RETURNS },
	{ 5, 14, 200, 3, WIRE_SM_MASTER, HA_OURS, HEIR_NO_STANDBY },
	{ 5, 14, 200, 3, WIRE_SM_DISCOVERING, HA_OURS, HEIR_NO_STANDBY },
	{ 5, 14, 200, 3, WIRE_SM_NOT_ACTIVE, HA_OURS, HEIR_NO_STANDBY },
	{ 5, 14, 200, 3, WIRE_SM_STANDBY, HA_FOREIGN, HEIR_NO_STANDBY },
	{ 5, 14, 200, 3, WIRE_SM_STANDBY, HA_GIVEN_UP, HEIR_NO_STANDBY },
	{ 5, 14, 200, 3, WIRE_SM_STANDBY, HA_IMPOSTOR, HEIR_NO_STANDBY },
	{ 5, 14, 200, 3, WIRE_SM_STANDBY, HA_NOT_ALLOWED, HEIR_NO_STANDBY },
};

START_TEST(test_heirs)
{
	struct ha_other o = other(heirs[_i].guid, heirs[_i].priority, heirs[_i].state);
	uint32_t better;

	o.trust = heirs[_i].trust;
	ha.priority = heirs[_i].ours;
	ha.master_priority = heirs[_i].ours_as_master;
	ha.state = WIRE_SM_MASTER;
	ck_assert_int_eq(ha_judge_heir(&ha, &o, 1, 0, &better), heirs[_i].verdict);
	ck_assert_uint_eq(ha_best_heir(&o, 1),
	    heirs[_i].verdict == HEIR_NO_STANDBY && o.info.state != WIRE_SM_DISCOVERING ? 1 : 0);
}
END_TEST

/* One that stands by comes before a better one that is discovering. */
START_TEST(test_best_heir)
{
	struct ha_other o[] = { other(1, 9, WIRE_SM_DISCOVERING), other(2, 3, WIRE_SM_STANDBY),
		other(3, 8, WIRE_SM_DISCOVERING) };

	ck_assert_uint_eq(ha_best_heir(o, 3), 1);
	o[1].info.state = WIRE_SM_NOT_ACTIVE;
	ck_assert_uint_eq(ha_best_heir(o, 3), 0);
}
END_TEST

/* A third: it steps in where it is better than both, and counts at all. */
START_TEST(test_heirs_with_a_third)
{
	static const struct {
		uint8_t priority, state, trust;
		enum ha_heir verdict;
	} thirds[] = { { 2, WIRE_SM_STANDBY, HA_OURS, HEIR_FITS },
		{ 4, WIRE_SM_STANDBY, HA_OURS, HEIR_FITS }, /* we are better and stand by */
		{ 6, WIRE_SM_STANDBY, HA_OURS, HEIR_OUTRANKED },
		{ 6, WIRE_SM_DISCOVERING, HA_OURS, HEIR_OUTRANKED },
		{ 6, WIRE_SM_NOT_ACTIVE, HA_OURS, HEIR_FITS },
		{ 6, WIRE_SM_STANDBY, HA_FOREIGN, HEIR_FITS },
		{ 6, WIRE_SM_STANDBY, HA_NOT_ALLOWED, HEIR_FITS } };
	uint32_t better;

	ha.master_priority = 14;
	ha.state = WIRE_SM_MASTER;
	for (unsigned i = 0; i < sizeof(thirds) / sizeof(thirds[0]); i++) {
		struct ha_other o[2] = { other(200, 3, WIRE_SM_STANDBY),
			other(300, thirds[i].priority, thirds[i].state) };

		o[1].trust = thirds[i].trust;
		ck_assert_int_eq(ha_judge_heir(&ha, o, 2, 0, &better), thirds[i].verdict);
		if (thirds[i].verdict == HEIR_OUTRANKED)
			ck_assert_uint_eq(better, 1);
	}
}
END_TEST

/* Given to a lesser one: it takes it, discovers and rules, and in whatever of these states a sweep
 * of ours finds it we do not rule on. */
START_TEST(test_heir_by_order)
{
	struct ha_other o[2] = { other(200, 3, WIRE_SM_STANDBY), other(300, 2, WIRE_SM_STANDBY) };
	uint32_t whom;

	ha.master_priority = 14;
	ha.state = WIRE_SM_MASTER;
	ck_assert_int_eq(ha_decide(&ha, o, 2, &whom), HA_MASTER);
	ha.heir = 200;
	ck_assert_int_eq(ha_decide(&ha, o, 2, &whom), HA_GIVE_WAY);
	ck_assert_uint_eq(whom, 0);
	ha_offer(&ha, &o[0]);
	if (_i % 2)
		ha_taken(&ha);
	o[0].info.state = WIRE_SM_DISCOVERING;
	ck_assert_int_eq(ha_decide(&ha, o, 2, &whom), HA_GIVE_WAY);
	ck_assert_uint_eq(whom, 0);
	if (_i < 2) {
		ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_ACKNOWLEDGE, &o[0]), HA_BECOME_STANDBY);
	} else { /* that was lost */
		o[0].info.state = WIRE_SM_MASTER;
		ck_assert_int_eq(ha_decide(&ha, o, 2, &whom), HA_STANDBY);
	}
	ck_assert_int_eq(ha.state, WIRE_SM_STANDBY);
	ck_assert_uint_eq(ha.master.info.guid, 200);
	ck_assert_int_eq(ha.handover, HANDOVER_NONE);
	if (_i >= 2)
		return;
	/* whatever makes us look before it rules, we do not take the subnet from it */
	if (_i == 1)
		ha_give_up(&ha);
	o[0].info.state = WIRE_SM_DISCOVERING;
	ck_assert_int_eq(ha_decide(&ha, o, 2, &whom), HA_STANDBY);
	ck_assert_uint_eq(ha.master.info.guid, 200);
	o[0].info.state = WIRE_SM_STANDBY; /* it does not want it */
	ck_assert_int_eq(ha_decide(&ha, o, 2, &whom), HA_MASTER);
}
END_TEST

/* It is not there, or not to be trusted, any more: we rule on. */
START_TEST(test_heir_is_gone)
{
	struct ha_other o = other(200, 3, WIRE_SM_STANDBY);
	uint32_t whom;

	ha.state = WIRE_SM_MASTER;
	ha.heir = 200;
	o.trust = HA_FOREIGN;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_MASTER);
	o.trust = HA_OURS;
	o.info.state = WIRE_SM_DISCOVERING; /* by itself */
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_MASTER);
	ck_assert_int_eq(ha_decide(&ha, NULL, 0, &whom), HA_MASTER);
}
END_TEST

/* It has ruled by an order and gives the subnet back before its ACKNOWLEDGE is here. */
START_TEST(test_heir_gives_it_back)
{
	struct ha_other o = other(200, 3, WIRE_SM_STANDBY);

	ha.state = WIRE_SM_MASTER;
	ha.heir = 200;
	ha_offer(&ha, &o);
	ha_taken(&ha);
	o.info.state = WIRE_SM_MASTER;
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_HANDOVER, &o), HA_BECOME_MASTER);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
	ck_assert_uint_eq(ha.heir, 0);
	ck_assert_int_eq(ha.handover, HANDOVER_NONE);
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

	o.trust = HA_FOREIGN;
	ha.state = foreigners[_i].our_state;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), foreigners[_i].verdict);
	ha.state = WIRE_SM_STANDBY;
	ha.master = o;
	ha.master.info.state = o.info.state = WIRE_SM_MASTER;
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_HANDOVER, &o), HA_REFUSE);
	o.trust = HA_OURS;
	ck_assert_int_eq(ha_on_set(&ha, WIRE_SM_HANDOVER, &o), HA_BECOME_MASTER);
}
END_TEST

/* Whom the administrator does not allow, who shows another's GUID, and who was given up keeps
 * nobody from anything, whatever it says of itself. */
START_TEST(test_who_does_not_count)
{
	static const uint8_t trusts[] = { HA_GIVEN_UP, HA_IMPOSTOR, HA_NOT_ALLOWED };
	struct ha_other o = other(1, 15, _i % 4);
	uint32_t whom;

	o.trust = trusts[_i / 8];
	ha.state = _i / 4 % 2 ? WIRE_SM_MASTER : WIRE_SM_DISCOVERING;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_MASTER);
	ck_assert_int_eq(ha.state, WIRE_SM_MASTER);
}
END_TEST

START_TEST(test_given_up)
{
	struct ha_other o = other(1, 9, WIRE_SM_MASTER);
	uint32_t whom;

	ha_decide(&ha, &o, 1, &whom);
	ck_assert_int_eq(ha.state, WIRE_SM_STANDBY);
	ha_give_up(&ha);
	ck_assert_int_eq(ha.state, WIRE_SM_DISCOVERING);
	o.trust = HA_GIVEN_UP;
	ck_assert_int_eq(ha_decide(&ha, &o, 1, &whom), HA_MASTER);
}
END_TEST

/* Another SM answers at the master's port. */
START_TEST(test_another_at_its_port)
{
	struct ha_other o = other(1, 9, WIRE_SM_MASTER), now;
	uint32_t whom;

	ha_decide(&ha, &o, 1, &whom);
	now = o;
	if (_i == 0)
		now.info.guid = 2;
	else
		now.trust = HA_NOT_ALLOWED;
	ck_assert(ha_on_poll(&ha, &now, 3));
	ck_assert_int_eq(ha.state, WIRE_SM_DISCOVERING);
}
END_TEST

/* ------------------------------------------------------------------- proof */

/* The reference vector of SipHash-2-4: bytes 0, 1, 2... under the key 0, 1, 2... */
START_TEST(test_siphash)
{
	uint8_t bytes[16];

	for (uint8_t i = 0; i < 16; i++)
		bytes[i] = i;
	ck_assert_uint_eq(
	    siphash(bytes, 15, UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)),
	    UINT64_C(0xa129ca6149be45e5));
}
END_TEST

/* The sum of an answer, and what it does not hold for. */
START_TEST(test_proof)
{
	struct wire_sm_info info = { .guid = 7, .priority = 3, .state = WIRE_SM_STANDBY };
	uint8_t asked[64] = { 0 }, other_asked[64] = { 0 }, answer[64] = { 0 };

	proof_ask(asked, 1234);
	proof_ask(other_asked, 1235);
	wire_sm_info_put(answer, &info);
	proof_give(answer, asked, US);
	ck_assert(proof_holds(answer, asked, US));
	ck_assert(!proof_holds(answer, other_asked, US));
	ck_assert(!proof_holds(answer, asked, US + 1));
	ck_assert(!proof_holds(answer, asked, 0));
	for (unsigned i = 0; i < 56; i++) {
		bool counts = i < 8 || (i >= 16 && i < 21) || i >= 32; /* not the SM_Key shown */

		answer[i] ^= 1;
		ck_assert_msg(proof_holds(answer, asked, US) != counts, "byte %u", i);
		answer[i] ^= 1;
	}
}
END_TEST

/* Who was not asked for a proof shows none, nor who has no key. */
START_TEST(test_no_proof)
{
	uint8_t asked[64] = { 0 }, answer[64] = { 0 }, empty[64] = { 0 };

	proof_give(answer, asked, US);
	ck_assert_mem_eq(answer, empty, sizeof(empty));
	ck_assert(!proof_holds(answer, asked, US));
	proof_ask(asked, 5);
	proof_give(answer, asked, 0);
	ck_assert_mem_eq(answer, empty, sizeof(empty));
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
	tcase_add_loop_test(t, test_raised, 0, sizeof(raised) / sizeof(raised[0]));
	tcase_add_test(t, test_raised_is_shown);
	tcase_add_test(t, test_raised_master_is_polled);
	tcase_add_loop_test(t, test_raised_agree, 0, 4);
	tcase_add_test(t, test_alone);
	tcase_add_test(t, test_not_active);
	tcase_add_test(t, test_handover);
	tcase_add_test(t, test_master_dies);
	tcase_add_test(t, test_master_steps_down);
	tcase_add_loop_test(t, test_controls, 0, sizeof(controls) / sizeof(controls[0]));
	tcase_add_test(t, test_giving_way);
	tcase_add_loop_test(t, test_acknowledge_lost, 0, 2);
	tcase_add_loop_test(t, test_heir_discovers, 0, 2);
	tcase_add_test(t, test_heir_dies);
	tcase_add_test(t, test_best_heir);
	tcase_add_loop_test(t, test_heirs, 0, sizeof(heirs) / sizeof(heirs[0]));
	tcase_add_test(t, test_heirs_with_a_third);
	tcase_add_loop_test(t, test_heir_by_order, 0, 4);
	tcase_add_test(t, test_heir_is_gone);
	tcase_add_test(t, test_heir_gives_it_back);
	tcase_add_loop_test(t, test_foreign_key, 0, sizeof(foreigners) / sizeof(foreigners[0]));
	tcase_add_loop_test(t, test_who_may_not, 0, sizeof(controls) / sizeof(controls[0]));
	tcase_add_loop_test(t, test_who_does_not_count, 0, 24);
	tcase_add_test(t, test_given_up);
	tcase_add_loop_test(t, test_another_at_its_port, 0, 2);
	tcase_add_test(t, test_siphash);
	tcase_add_test(t, test_proof);
	tcase_add_test(t, test_no_proof);
	suite_add_tcase(s, t);
	return run_suite(s);
}
