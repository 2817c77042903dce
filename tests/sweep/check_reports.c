/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports: however many events and subscribers there are and whoever does not answer, each has
 * its part and requests have their turn.  Counted in Reports and turns, never in time.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/sa/notices.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define PREFIX UINT64_C(0xfe80000000000000)
#define N_HOSTS 16
#define DEAF_MS 31000

static struct rig rig;
static struct sa_rig sa;
static struct notices *notices;

struct sent {
	struct mad_addr to;
	uint64_t tid;
	uint16_t event;
};
static FM_VEC(struct sent) wire; /* Reports that have left, in order */

static uint64_t
guid_of(uint32_t host)
{
	return netlist_port(&rig.nl, rig_host(&rig, host), 1)->guid;
}

static void
on_send(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	struct sent s = { .to = *to };
	struct sa_notice e;
	struct sa_header h;

	(void)arg;
	ck_assert_uint_eq(n_bytes, WIRE_MAD_BYTES);
	sa_header_get(bytes, &h);
	ck_assert_uint_eq(h.method, SA_REPORT);
	sa_record_get(sa_record_of(SA_NOTICE), bytes + SA_DATA_AT, &e);
	s.tid = h.tid;
	s.event = (uint16_t)(e.n.details[20] << 8 | e.n.details[21]);
	ck_assert(fm_vec_push(&wire, s));
}

static void
setup(void)
{
	struct sa_out out = { on_send, NULL };

	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_bring_up(&rig);
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
	notices = notices_new(sa.registry, &out);
	ck_assert_ptr_nonnull(notices);
	notices_look(notices, sa.slot.view, 0);
	rig_log_clear();
}

static void
teardown(void)
{
	notices_free(notices);
	fm_vec_fini(&wire);
	sa_rig_fini(&sa);
	rig_fini(&rig);
}

static void
subscribe(uint32_t host, uint32_t qpn, uint16_t trap)
{
	struct sa_inform_info want = { .lid_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xffff,
		.trap_number = trap,
		.qpn = qpn,
		.producer_type = 0xffffff };
	struct mad_addr from = { .lid = rig_host_lid(&rig, host), .qpn = 1 };

	ck_assert_uint_eq(registry_inform(sa.registry, &want, guid_of(host),
			      (struct sa_gid){ PREFIX, guid_of(host) }, &from),
	    SA_OK);
}

/* Each is another one. */
static struct sa_notice
event(uint16_t i)
{
	struct sa_notice e = { .n = { .generic = true,
				   .type = 1,
				   .producer_type = 1,
				   .trap_number = 256,
				   .issuer_lid = rig_host_lid(&rig, 3) } };

	e.n.details[20] = (uint8_t)(i >> 8);
	e.n.details[21] = (uint8_t)i;
	return e;
}

static void
tell(uint16_t i, int64_t now_ms)
{
	struct sa_notice e = event(i);

	notices_tell(notices, sa.slot.view, &e, now_ms);
}

static void
answer(const struct sent *s, int64_t now_ms)
{
	uint32_t end = sa_view_end_of_lid(sa.slot.view, s->to.lid);

	notices_answered(notices, sa.slot.view->end[end].guid, s->tid, now_ms);
}

/* ------------------------------------------------------------- one subscriber */

/* It is sent so many and no more; one of them is repeated, ever more slowly; then it is dropped
 * with all that it subscribed to, and named. */
START_TEST(deaf_subscriber)
{
	const struct sa_report_counts *c = notices_counts(notices);
	int64_t now_ms = 0, due_ms;
	char name[32];

	for (uint32_t q = 0; q < 256; q++)
		subscribe(5, 2 + q, 0xffff);
	subscribe(6, 1, 64);
	for (uint16_t i = 0; i < 100; i++) {
		tell(i, now_ms);
		notices_tick(notices, now_ms);
		notices_tick(notices, now_ms);
	}
	ck_assert_uint_eq(wire.n, 32);
	for (;;) {
		due_ms = notices_tick(notices, now_ms);
		if (registry_n_subscriptions(sa.registry) == 1 || now_ms > 10 * DEAF_MS)
			break;
		now_ms = due_ms > now_ms ? due_ms : now_ms + 1;
	}
	ck_assert_uint_eq(registry_n_subscriptions(sa.registry), 1);
	ck_assert_int_ge(now_ms, DEAF_MS);
	ck_assert_int_le(now_ms, DEAF_MS + 500);
	ck_assert_uint_eq(wire.n, 36);
	ck_assert_uint_eq(c->dropped, 256);
	ck_assert_uint_eq(c->waiting, 0);
	snprintf(name, sizeof(name), "0x%016jx", (uintmax_t)guid_of(5));
	ck_assert_ptr_nonnull(strstr(rig_log, name));
	ck_assert_int_eq(notices_tick(notices, now_ms), INT64_MAX);
}
END_TEST

/* It answers one, late, and then no more: it is dropped as soon as one that never answered. */
START_TEST(deaf_after_a_while)
{
	int64_t now_ms = 0, due_ms, deaf_ms = 0;

	subscribe(5, 1, 0xffff);
	for (uint16_t i = 0; i < 100; i++)
		tell(i, now_ms);
	while (registry_n_subscriptions(sa.registry) > 0 && now_ms < 1000000) {
		due_ms = notices_tick(notices, now_ms);
		if (deaf_ms == 0 && now_ms > 10000)
			answer(&wire.item[31], deaf_ms = now_ms);
		if (due_ms != INT64_MAX)
			now_ms = due_ms > now_ms ? due_ms : now_ms + 1;
	}
	ck_assert_int_ge(now_ms - deaf_ms, DEAF_MS);
	ck_assert_int_le(now_ms - deaf_ms, DEAF_MS + 17000);
	ck_assert_uint_eq(notices_counts(notices)->waiting, 0);
}
END_TEST

/* Who answers is told of everything, in order, and never has more than so many to answer. */
START_TEST(no_more_than_it_can_take)
{
	int64_t now_ms = 0;
	size_t n_answered = 0;

	subscribe(5, 1, 0xffff);
	for (uint16_t i = 0; i < 3000; i++)
		tell(i, now_ms);
	while (n_answered < 3000) {
		notices_tick(notices, now_ms);
		ck_assert_uint_gt(wire.n, n_answered);
		ck_assert_uint_le(wire.n - n_answered, 32);
		ck_assert_uint_eq(wire.item[n_answered].event, n_answered);
		answer(&wire.item[n_answered++], now_ms);
		now_ms += n_answered % 16 == 0;
	}
	ck_assert_uint_eq(wire.n, 3000);
	ck_assert_uint_eq(notices_counts(notices)->untold, 0);
	ck_assert_uint_eq(registry_n_subscriptions(sa.registry), 1);
}
END_TEST

/* One of ten is lost, or its answer: all are told of, and nobody is dropped. */
START_TEST(reports_that_are_lost)
{
	bool told[500] = { 0 };
	int64_t now_ms = 0;
	size_t seen = 0;
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	subscribe(5, 1, 0xffff);
	for (uint16_t i = 0; i < 500; i++)
		tell(i, now_ms);
	while (notices_counts(notices)->waiting > 0) {
		notices_tick(notices, now_ms);
		for (; seen < wire.n; seen++) {
			told[wire.item[seen].event] = true;
			if (fm_rng_below(&rng, 10) > 0)
				answer(&wire.item[seen], now_ms);
		}
		now_ms += 50;
		ck_assert_int_lt(now_ms, 3600 * 1000);
	}
	ck_assert_uint_eq(registry_n_subscriptions(sa.registry), 1);
	for (unsigned i = 0; i < 500; i++)
		ck_assert(told[i]);
}
END_TEST

/* A program of a host has died and another lives: only the dead one's subscription goes. */
START_TEST(one_of_two_programs)
{
	const struct sa_report_counts *c = notices_counts(notices);
	int64_t now_ms = 0;
	size_t seen = 0, n_live = 0;
	uint16_t i = 0;

	subscribe(5, 7, 0xffff);
	subscribe(5, 9, 0xffff);
	while (registry_n_subscriptions(sa.registry) > 1) {
		if (now_ms % 2000 == 0)
			tell(i++, now_ms);
		notices_tick(notices, now_ms);
		for (; seen < wire.n; seen++)
			if (wire.item[seen].to.qpn == 9) {
				answer(&wire.item[seen], now_ms);
				n_live++;
			}
		now_ms += 100;
		ck_assert_int_le(now_ms, 4 * DEAF_MS);
	}
	ck_assert_uint_eq(registry_subscription(sa.registry, 0)->to.qpn, 9);
	ck_assert_uint_ge(n_live, i);
	ck_assert_uint_eq(c->dropped, 1);
	ck_assert_uint_eq(c->waiting, 0);
}
END_TEST

/* Another host answers for it: that is no answer. */
START_TEST(answers_of_another)
{
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = SA_REPORT_RESP,
		.attr = SA_NOTICE };
	struct wire_notice n = event(1).n;
	uint8_t mad[WIRE_MAD_BYTES] = { 0 };
	struct mad_addr from = { .qpn = 1 };

	subscribe(5, 1, 0xffff);
	sa_tick(sa.sa, 0);
	sa_tell(sa.sa, &n, 0);
	ck_assert_uint_eq(sa.n_reports, 1);
	h.tid = sa.report.tid;
	sa_header_put(mad, &h);
	from.lid = rig_host_lid(&rig, 6);
	sa_handle(sa.sa, &from, mad, sizeof(mad), 0);
	from.lid = 0xbfff;
	sa_handle(sa.sa, &from, mad, sizeof(mad), 0);
	sa_tick(sa.sa, 1);
	ck_assert_uint_eq(sa_counts(sa.sa)->told.waiting, 1);
	from.lid = rig_host_lid(&rig, 5);
	sa_handle(sa.sa, &from, mad, sizeof(mad), 2);
	sa_handle(sa.sa, &from, mad, sizeof(mad), 2); /* twice */
	sa_tick(sa.sa, 2);
	ck_assert_uint_eq(sa_counts(sa.sa)->told.waiting, 0);
	ck_assert_uint_eq(sa_counts(sa.sa)->told.answered, 1);
}
END_TEST

/* ------------------------------------------------------------ many of both */

/* Sixteen hosts have subscribed 256 times each to all there is, and 2,000 traps come at once: in
 * each turn so many subscriptions are looked at and so many Reports leave, and a question is
 * answered.  All hosts are told as much as their bounds let them. */
START_TEST(questions_have_their_turn)
{
	uint32_t n_before = 0, n_turns = 0, waiting = NOTICES_AT_ONCE;
	const struct sa_report_counts *c = &sa_counts(sa.sa)->told;
	struct wire_notice n;

	for (uint32_t host = 0; host < N_HOSTS; host++)
		for (uint32_t q = 0; q < 256; q++)
			subscribe(host, 2 + q, 0xffff);
	sa_tick(sa.sa, 0);
	for (uint16_t i = 0; i < 2000; i++) {
		n = event(i).n;
		sa_tell(sa.sa, &n, 0);
	}
	ck_assert_uint_le(sa.n_reports, 256);
	do {
		n_before = sa.n_reports;
		ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_CLASS_PORT_INFO, 0, NULL), SA_OK);
		sa_tick(sa.sa, 0);
		ck_assert_uint_le(sa.n_reports - n_before, 256);
		ck_assert_uint_le(c->waiting - waiting, 4096);
		waiting = c->waiting;
	} while (++n_turns < 2100);
	ck_assert_uint_eq(sa.n_reports, N_HOSTS * 32);
	ck_assert_uint_le(c->waiting, 65536);
	ck_assert_uint_gt(c->waiting, 60000);
	ck_assert_uint_gt(c->untold, 0);
	ck_assert_uint_eq(c->events, 2000);
}
END_TEST

/* While an event is told of, subscriptions come and go: who stays is told once. */
START_TEST(subscriptions_go_meanwhile)
{
	uint32_t told[8192] = { 0 }, n = 0, dropped = 0;
	int64_t now_ms = 0;
	struct fm_rng rng;
	size_t seen = 0;

	fm_rng_seed(&rng, (uint64_t)_i);
	for (uint32_t host = 0; host < N_HOSTS; host++)
		for (uint32_t q = 0; q < 256; q++)
			subscribe(host, 2 + q, 0xffff);
	tell(1, now_ms); /* uses up what may be looked at */
	tell(2, now_ms);
	while (notices_tick(notices, now_ms) == now_ms || notices_counts(notices)->waiting > 0) {
		for (unsigned k = 0; k < 20 && registry_n_subscriptions(sa.registry) > 1000; k++) {
			uint32_t i = fm_rng_below(&rng, registry_n_subscriptions(sa.registry));

			registry_drop_subscription(
			    sa.registry, registry_subscription(sa.registry, i)->id);
			dropped++;
		}
		for (; seen < wire.n; seen++) {
			uint32_t end = sa_view_end_of_lid(sa.slot.view, wire.item[seen].to.lid);

			if (wire.item[seen].event == 2)
				told[end % 32 * 256 + (wire.item[seen].to.qpn - 2)]++;
			answer(&wire.item[seen], now_ms);
		}
	}
	ck_assert_uint_gt(dropped, 100);
	for (uint32_t i = 0; i < registry_n_subscriptions(sa.registry); i++) {
		const struct subscription *s = registry_subscription(sa.registry, i);
		uint32_t end = sa_view_end_of_guid(sa.slot.view, s->client);

		n += told[end % 32 * 256 + (s->to.qpn - 2)] == 1;
	}
	ck_assert_uint_eq(n, registry_n_subscriptions(sa.registry));
	for (uint32_t i = 0; i < 8192; i++)
		ck_assert_uint_le(told[i], 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("reports");
	TCase *t = tcase_create("reports");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, deaf_subscriber);
	tcase_add_test(t, deaf_after_a_while);
	tcase_add_test(t, no_more_than_it_can_take);
	tcase_add_loop_test(t, reports_that_are_lost, 0, n_cases(20));
	tcase_add_test(t, one_of_two_programs);
	tcase_add_test(t, answers_of_another);
	tcase_add_test(t, questions_have_their_turn);
	tcase_add_loop_test(t, subscriptions_go_meanwhile, 0, n_cases(20));
	suite_add_tcase(s, t);
	return run_suite(s);
}
