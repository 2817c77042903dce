/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated fabric in motion: traps, other SMs, faults, the kernel's rules,
 * chance, scripts and specs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/sim_fixture.h"

/* ---- traps */

static unsigned
count_traps(uint16_t number, struct wire_notice *last)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_arrived; i++) {
		struct wire_header h;
		struct wire_notice w;

		wire_header_get(arrived[i].bytes, &h);
		if (h.method != WIRE_TRAP)
			continue;
		wire_notice_get(arrived[i].bytes + WIRE_SMP_DATA_AT, &w);
		if (w.trap_number != number)
			continue;
		*last = w;
		n++;
	}
	return n;
}

START_TEST(test_trap_128)
{
	struct wire_notice notice;
	struct mad m;

	configure();
	wait_ms(1);
	n_arrived = 0;
	sim_unlink(sim, H2, 1);
	wait_ms(500);
	ck_assert_uint_eq(count_traps(128, &notice), 1);
	ck_assert(notice.generic);
	ck_assert_uint_eq(notice.producer_type, WIRE_NODE_SWITCH);
	ck_assert_uint_eq(notice.issuer_lid, 12);
	ck_assert_uint_eq(wire_get16(notice.details), 12);
	ck_assert_uint_eq(arrived[0].addr.lid, 12);
	wait_ms(1200); /* not repressed: again */
	ck_assert_uint_eq(count_traps(128, &notice), 2);
	m = arrived[0];
	m.bytes[3] = WIRE_TRAP_REPRESS;
	m.timeout_ms = 0;
	ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	wait_ms(5000);
	ck_assert_uint_eq(count_traps(128, &notice), 2);
}
END_TEST

START_TEST(test_trap_144)
{
	struct wire_notice notice;

	configure();
	sim_describe(sim, H3, "renamed");
	wait_ms(100);
	ck_assert_uint_eq(count_traps(144, &notice), 1);
	ck_assert_uint_eq(notice.issuer_lid, 3);
	ck_assert_uint_eq(wire_get16(notice.details + 2), 3);
	ck_assert_uint_eq(wire_get16(notice.details + 10), 1);
	ck_assert_str_eq((const char *)get("\1\3", WIRE_ATTR_NODE_DESC, 0), "renamed");
}
END_TEST

/* ---- other SMs */

START_TEST(test_sm_info)
{
	struct wire_sm_info info;
	uint8_t data[64] = { 0 };

	ck_assert_ptr_null(smp("\1\3", WIRE_GET, WIRE_ATTR_SM_INFO, 0, NULL));
	ck_assert_int_eq(sim_set_sm(sim, H3, 7, WIRE_SM_STANDBY, &err), 0);
	ck_assert_uint_ne(get_port("\1\3", 1).capability_mask & 2, 0);
	wire_sm_info_get(get("\1\3", WIRE_ATTR_SM_INFO, 0), &info);
	ck_assert_uint_eq(info.guid, 0x3001);
	ck_assert_uint_eq(info.priority, 7);
	ck_assert_uint_eq(info.state, WIRE_SM_STANDBY);
	ck_assert_uint_eq(
	    set("\1\3", WIRE_ATTR_SM_INFO, WIRE_SM_ACKNOWLEDGE, data), WIRE_STATUS_BAD_VALUE);
	ck_assert_uint_eq(set("\1\3", WIRE_ATTR_SM_INFO, WIRE_SM_HANDOVER, data), 0);
	wire_sm_info_get(get("\1\3", WIRE_ATTR_SM_INFO, 0), &info);
	ck_assert_uint_eq(info.state, WIRE_SM_MASTER);
}
END_TEST

START_TEST(test_two_transports)
{
	struct transport *other;
	struct mad m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_SM_INFO, 0, NULL);
	struct wire_header h;

	ck_assert_int_ne(sim_attach(sim, H1, 1, &other, &err), 0);
	ck_assert_int_ne(sim_attach(sim, S2, 3, &other, &err), 0);
	ck_assert_int_eq(sim_attach(sim, H3, 1, &other, &err), 0);
	other->on_mad = on_mad;
	direct(&m, "\1\3");
	ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	n_arrived = 0;
	ck_assert_int_eq(other->ops->poll(other, INT64_MAX, &err), 1);
	wire_header_get(arrived[0].bytes, &h);
	ck_assert_uint_eq(h.attr, WIRE_ATTR_SM_INFO);
	ck_assert_uint_eq(h.method, WIRE_GET);
	m = arrived[0]; /* the program there answers */
	h.method = WIRE_GET_RESP;
	h.dr_return = true;
	wire_header_put(m.bytes, &h);
	ck_assert_int_eq(other->ops->send(other, &m, &err), 0);
	n_arrived = 0;
	ck_assert_int_eq(local->ops->poll(local, INT64_MAX, &err), 1);
	ck_assert_uint_eq(status_of(&arrived[0]), 0);
	/* one that has left is not found, what was on its way is dropped */
	ck_assert_int_eq(local->ops->set_is_sm(local, true, &err), 0);
	m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_SM_INFO, 0, NULL);
	direct(&m, "\1\3");
	ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	other->ops->close(other);
	ck_assert_int_eq(local->ops->poll(local, INT64_MAX, &err), 0);
	ck_assert_ptr_null(ask(&m)); /* nor is anybody else asked for it */
	ck_assert_uint_eq(status_of(smp("\1\3", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)), 0);
}
END_TEST

/* A program that does not read: the agent answers for its node, and not for the SM.  A host without
 * power: nothing comes. */
START_TEST(test_silent_sms)
{
	struct transport *other;

	ck_assert_int_eq(sim_attach(sim, H3, 1, &other, &err), 0);
	other->on_mad = on_mad;
	ck_assert_int_eq(other->ops->set_is_sm(other, true, &err), 0);
	n_arrived = 0;
	ck_assert_ptr_null(smp("\1\3", WIRE_GET, WIRE_ATTR_SM_INFO, 0, NULL));
	ck_assert_uint_ne(get_port("\1\3", 1).capability_mask & 2, 0);
	sim_silence(sim, H3, true);
	ck_assert_int_eq(
	    other->ops->poll(other, sim_now_ns(sim), &err), 1); /* the question before */
	ck_assert_ptr_null(smp("\1\3", WIRE_GET, WIRE_ATTR_SM_INFO, 0, NULL));
	ck_assert_ptr_null(smp("\1\3", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
	ck_assert_int_eq(other->ops->poll(other, sim_now_ns(sim), &err), 0);
	other->ops->close(other);
}
END_TEST

/* ---- faults */

START_TEST(test_reboot)
{
	configure();
	sim_reboot(sim, S2, 10 * MS);
	ck_assert_ptr_null(
	    smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)); /* 50 ms of waiting */
	ck_assert_uint_eq(status_of(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)), 0);
	ck_assert_uint_eq(get_port("\1\2", 0).lid, 0);
	ck_assert_uint_eq(get("\1\2", WIRE_ATTR_LFT, 0)[1], 255);
	ck_assert(has_changed("\1\2"));
	ck_assert_uint_eq(get_port("\1\2\2", 1).lid, 2); /* its neighbours forget nothing */
	ck_assert_uint_eq(get_port("\1\2\2", 1).port_state, WIRE_PORT_INIT);
}
END_TEST

START_TEST(test_silence_and_flap)
{
	sim_silence(sim, S2, true);
	ck_assert_ptr_null(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
	ck_assert_uint_eq(get_port("\1", 2).port_state, WIRE_PORT_INIT);
	ck_assert_uint_eq(status_of(smp("\1\2\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)), 0);
	sim_silence(sim, S2, false);
	ck_assert_uint_eq(status_of(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)), 0);
	sim_flap(sim, S1, 2, 3 * MS);
	sim_run(sim, sim_now_ns(sim) + 2 * MS);
	ck_assert_uint_eq(get_port("\1", 2).port_state, WIRE_PORT_DOWN);
	sim_run(sim, sim_now_ns(sim) + 3 * MS);
	ck_assert_uint_eq(get_port("\1", 2).port_state, WIRE_PORT_INIT);
	/* pulled at one end, put back at the other */
	sim_unlink(sim, S1, 2);
	sim_relink(sim, S2, 1);
	sim_run(sim, sim_now_ns(sim) + 2 * MS);
	ck_assert_uint_eq(get_port("\1", 2).port_state, WIRE_PORT_INIT);
	sim_set_guid(sim, H2, 0x3000); /* two nodes of one GUID */
	ck_assert_uint_eq(
	    wire_get64(get("\1\2\2", WIRE_ATTR_NODE_INFO, 0) + NODE_INFO_NODE_GUID), 0x3000);
}
END_TEST

struct fate {
	enum sim_fate answer, request;
	int64_t late_ns;
	unsigned n_left; /* then all comes */
	unsigned n_asked;
};

static enum sim_fate
tell_fate(void *arg, const struct sim_arrival *a, int64_t *late_ns)
{
	struct fate *f = arg;

	ck_assert_uint_eq(a->by_agent, (a->mad[3] & WIRE_RESPONSE_BIT) == 0);
	ck_assert_uint_eq(a->at.node, a->by_agent ? S2 : H1);
	f->n_asked++;
	if (f->n_left == 0)
		return SIM_COMES;
	f->n_left -= (a->by_agent ? f->request : f->answer) != SIM_COMES;
	*late_ns = f->late_ns;
	return a->by_agent ? f->request : f->answer;
}

START_TEST(test_fate)
{
	struct fate f = { .request = SIM_IS_LOST, .n_left = 1 };
	uint64_t smps = sim_counts(sim)->smps;
	int64_t asked_ns;

	sim_set_fate(sim, tell_fate, &f);
	ck_assert_ptr_null(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
	ck_assert_uint_eq(sim_counts(sim)->smps, smps);
	f = (struct fate){ .answer = SIM_IS_LOST, .n_left = 1 };
	ck_assert_ptr_null(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
	ck_assert_uint_eq(sim_counts(sim)->smps, smps + 1);
	/* late: its fate is asked for once more */
	f = (struct fate){ .answer = SIM_IS_LATE, .late_ns = 7 * MS, .n_left = 2 };
	asked_ns = sim_now_ns(sim);
	ck_assert_ptr_nonnull(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
	ck_assert_int_ge(sim_now_ns(sim), asked_ns + 14 * MS);
	ck_assert_uint_eq(f.n_asked, 4);
	/* twice: the second is a request of its own */
	f = (struct fate){ .request = SIM_COMES_TWICE, .late_ns = 2 * MS, .n_left = 1 };
	smps = sim_counts(sim)->smps;
	n_arrived = 0;
	ck_assert_ptr_nonnull(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
	wait_ms(5);
	ck_assert_uint_eq(n_arrived, 2);
	ck_assert_uint_eq(sim_counts(sim)->smps, smps + 2);
	sim_set_fate(sim, NULL, NULL);
	ck_assert_ptr_nonnull(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
	ck_assert_uint_eq(f.n_asked, 4);
}
END_TEST

/* ---- strict */

START_TEST(test_strict_timeout)
{
	struct mad m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL);
	struct wire_header h;

	sim_silence(sim, S1, true);
	direct(&m, "\1");
	m.timeout_ms = 20;
	n_arrived = 0;
	ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	ck_assert_int_ne(local->ops->send(local, &m, &err), 0); /* pending already */
	ck_assert_int_eq(local->ops->poll(local, 19 * MS, &err), 0);
	ck_assert_int_eq(local->ops->poll(local, INT64_MAX, &err), 1);
	ck_assert_int_eq(arrived[0].status, ETIMEDOUT);
	ck_assert_mem_eq(arrived[0].bytes, m.bytes, MAD_BYTES); /* as we sent it */
	ck_assert_int_eq(sim_now_ns(sim), 20 * MS);
	sim_silence(sim, S1, false);
	ck_assert_int_eq(local->ops->send(local, &m, &err), 0); /* free again */
	n_arrived = 0;
	ck_assert_int_eq(local->ops->poll(local, INT64_MAX, &err), 1);
	wire_header_get(arrived[0].bytes, &h);
	ck_assert_uint_eq(h.method, WIRE_GET_RESP);
	ck_assert_uint_eq((uint32_t)h.tid, (uint32_t)(next_tid - 1));
	ck_assert_uint_ne(h.tid >> 32, 0); /* the upper half is not ours */
}
END_TEST

START_TEST(test_strict_timeouts_in_turn)
{
	n_arrived = 0;
	sim_silence(sim, S1, true);
	for (unsigned i = 0; i < 3; i++) {
		struct mad m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL);

		direct(&m, "\1");
		m.timeout_ms = 60 - 20 * i; /* the last sent is due first */
		ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	}
	for (unsigned i = 1; i <= 3; i++) {
		ck_assert_int_eq(local->ops->poll(local, INT64_MAX, &err), 1);
		ck_assert_int_eq(sim_now_ns(sim), 20 * i * MS);
		ck_assert_uint_eq(arrived[n_arrived - 1].timeout_ms, 20 * i);
	}
}
END_TEST

START_TEST(test_strict_late)
{
	struct mad m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL);

	sim_free(sim);
	struct sim_options o;
	sim_options_default(&o);
	o.strict = true;
	o.delay_min_ns = o.delay_max_ns = 3 * MS; /* each way */
	start(&o);
	direct(&m, "\1");
	m.timeout_ms = 5;
	ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	wait_ms(20);
	ck_assert_uint_eq(n_arrived, 1);
	ck_assert_int_eq(arrived[0].status, ETIMEDOUT);
	ck_assert_uint_eq(sim_counts(sim)->unexpected, 1);
	m.timeout_ms = 0; /* nobody waits for the answer */
	ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	wait_ms(20);
	ck_assert_uint_eq(n_arrived, 1);
	ck_assert_uint_eq(sim_counts(sim)->unexpected, 2);
}
END_TEST

START_TEST(test_strict_overrun)
{
	struct sim_options o;
	unsigned given_back = 0;

	sim_free(sim);
	sim_options_default(&o);
	o.strict = true;
	o.recv_queue = 4;
	o.recv_ns = 10000;
	o.sma_ns = 0;
	start(&o);
	for (int i = 0; i < 20; i++) {
		struct mad m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL);

		direct(&m, "\1");
		m.timeout_ms = 10;
		ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	}
	wait_ms(50);
	ck_assert_uint_gt(sim_counts(sim)->overrun, 10);
	ck_assert_uint_eq(n_arrived, 20); /* answered or given back: nothing vanishes */
	for (unsigned i = 0; i < n_arrived; i++)
		given_back += arrived[i].status == ETIMEDOUT;
	ck_assert_uint_eq(given_back, sim_counts(sim)->overrun);
}
END_TEST

/* ---- chance */

static void
hash_trace(void *arg, const struct sim_trace *e)
{
	uint64_t *h = arg;

	*h = fm_mix64(*h ^ (uint64_t)e->at_ns);
	*h = fm_mix64(*h ^ ((uint64_t)e->node << 32 | e->modifier));
	*h = fm_mix64(*h ^ ((uint64_t)e->attr << 32 | e->status << 16 | e->method << 8 | e->port));
}

/* 400 requests on a bad network; a hash of all that agents saw. */
static uint64_t
run_noisy(uint64_t seed, struct sim_counts *counts)
{
	static const char *const paths[] = { "\1", "\1\2", "\1\2\2", "\1\3" };
	struct sim_options o;
	uint64_t hash = 0;

	sim_options_default(&o);
	o.seed = seed;
	o.loss = 0.1;
	o.dup = 0.05;
	o.corrupt = 0.02;
	o.delay_max_ns = 100000;
	start(&o);
	sim_set_trace(sim, hash_trace, &hash);
	next_tid = 1;
	for (int i = 0; i < 400; i++) {
		struct mad m = request(WIRE_CLASS_SMP_DR, WIRE_GET, WIRE_ATTR_PORT_INFO, 1, NULL);

		direct(&m, paths[i % 4]);
		ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
		local->ops->poll(local, local->ops->now_ns(local) + 1000, &err);
		for (unsigned j = 0; j < n_arrived; j++)
			hash = fm_mix64(hash ^ wire_get64(arrived[j].bytes + 8));
		n_arrived = 0;
	}
	*counts = *sim_counts(sim);
	sim_free(sim);
	return hash;
}

START_TEST(test_seed)
{
	struct sim_counts a, b, c;
	uint64_t first = run_noisy(7, &a), again = run_noisy(7, &b), other = run_noisy(8, &c);

	ck_assert_uint_eq(first, again);
	ck_assert_mem_eq(&a, &b, sizeof(a));
	ck_assert_uint_ne(first, other);
	/* 400 requests and their answers at 10 %, 5 %, 2 %: five sigma either way */
	ck_assert_uint_gt(a.lost, 30);
	ck_assert_uint_lt(a.lost, 130);
	ck_assert_uint_gt(a.doubled, 5);
	ck_assert_uint_gt(a.corrupted, 0);
}
END_TEST

/* Whatever bytes a program sends: no crash, and the fabric still works. */
START_TEST(test_garbled)
{
	struct fm_rng rng;

	configure();
	fm_rng_seed(&rng, 1);
	local->on_mad = NULL;
	for (int i = 0; i < 20000; i++) {
		struct mad m = request(i % 2 ? WIRE_CLASS_SMP_DR : WIRE_CLASS_SMP_LID,
		    i % 3 ? WIRE_GET : WIRE_SET, (uint16_t)(0x10 + i % 17), fm_rng_below(&rng, 70),
		    NULL);

		direct(&m, "\1\2\2");
		m.addr.lid = (uint16_t)fm_rng_below(&rng, 14);
		for (uint32_t n = fm_rng_below(&rng, 6); n > 0; n--)
			m.bytes[fm_rng_below(&rng, MAD_BYTES)] = (uint8_t)fm_rng_next(&rng);
		ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
		local->ops->poll(local, local->ops->now_ns(local) + 10000, &err);
	}
	sim_run(sim, sim_now_ns(sim) + 10 * MS);
	ck_assert_uint_gt(sim_counts(sim)->no_way, 1000);
	ck_assert_uint_gt(sim_counts(sim)->smps, 1000);
	sim_reboot(sim, S1, MS);
	local->ops->poll(local, local->ops->now_ns(local) + 20 * MS, &err);
	local->on_mad = on_mad;
	ck_assert_uint_eq(status_of(smp("\1", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)), 0);
}
END_TEST

/* ---- scripts and specs */

START_TEST(test_refuses_sets)
{
	uint8_t data[64] = { 0, 3 };

	ck_assert_int_eq(sim_do(sim, "refuse S1", &err), 0);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_LFT, 0, data), WIRE_STATUS_BAD_VALUE);
	ck_assert_uint_ne(get("\1", WIRE_ATTR_LFT, 0)[1], 3);
	ck_assert_int_eq(sim_do(sim, "obey S1", &err), 0);
	ck_assert_uint_eq(set("\1", WIRE_ATTR_LFT, 0, data), 0);
	ck_assert_uint_eq(get("\1", WIRE_ATTR_LFT, 0)[1], 3);
}
END_TEST

START_TEST(test_script)
{
	ck_assert_int_eq(sim_script(sim, "script",
			     "# a comment\n"
			     "\n"
			     "at 1ms unlink S1[2]   # pulled\n"
			     "at 3ms relink \"S1\"[2]\n"
			     "at 5ms silence 0x200\n"
			     "at 6ms wake S2\n"
			     "at 7ms describe H2 \"new name # 1\"\n"
			     "at 8ms flap S1 [2] for 500us\n"
			     "at 12ms silence H3\nat 12ms wake H3\n" /* in this order */
			     "at 20ms reboot S2 for 1ms\n"
			     "at 30ms loss 100%\n",
			     &err),
	    0);
	sim_run(sim, 2 * MS);
	ck_assert_uint_eq(get_port("\1", 2).port_state, WIRE_PORT_DOWN);
	sim_run(sim, 4 * MS + MS / 2);
	ck_assert_uint_eq(get_port("\1", 2).port_state, WIRE_PORT_INIT);
	sim_run(sim, 5 * MS + MS / 2);
	ck_assert(sim_fabric(sim)->nodes[S2].silent);
	sim_run(sim, 7 * MS + MS / 2);
	ck_assert(!sim_fabric(sim)->nodes[S2].silent);
	ck_assert_str_eq((const char *)get("\1\2\2", WIRE_ATTR_NODE_DESC, 0), "new name # 1");
	sim_run(sim, 8 * MS + MS / 4);
	ck_assert_uint_eq(get_port("\1", 2).port_state, WIRE_PORT_DOWN);
	sim_run(sim, 10 * MS); /* 500 us and the training are over */
	ck_assert_uint_eq(get_port("\1", 2).port_state, WIRE_PORT_INIT);
	sim_run(sim, 15 * MS);
	ck_assert(!sim_fabric(sim)->nodes[H3].silent);
	sim_run(sim, 20 * MS + MS / 2);
	ck_assert(sim_fabric(sim)->nodes[S2].off);
	sim_run(sim, 31 * MS);
	ck_assert_ptr_null(smp("\1", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL));
}
END_TEST

START_TEST(test_script_errors)
{
	static const struct {
		const char *text, *says;
	} rows[] = { { "at 5ms unlink S1[2]\nat 5 unlink S1[2]\n", "x:2: \"5\" is no time" },
		{ "unlink S1[2]", "x:1: this is no action" },
		{ "at 5ms", "x:1: this is no action" }, { "at 5ms explode S1", "verb is unknown" },
		{ "at 5ms unlink S9[2]", "no node \"S9\"" },
		{ "at 5ms unlink S1", "port is missing" },
		{ "at 5ms unlink S1[9]", "has ports 1..8" },
		{ "at 5ms unlink S1[0]", "has ports 1..8" }, { "at 5ms unlink S1[x]", "no number" },
		{ "at 5ms unlink S1[2", "bracket is open" }, { "at 5ms reboot \"S1", "quote" },
		{ "at 5ms reboot S1[2]", "port is named" }, { "at 5ms reboot", "node is missing" },
		{ "at 5ms reboot S1 for ever", "no time" }, { "at 5ms wake S1 S2", "too much" },
		{ "at 5ms loss", "share is missing" }, { "at 5ms loss 200%", "share is missing" },
		{ "at 5ms describe S1", "text is missing" },
		{ "at 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "too many words" },
		{ "[", "bracket is open" },
		{ "at -5ms wake S1", "is no time" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_msg(
		    sim_script(sim, "x", rows[i].text, &err) == FM_E_CONFIG, "%s", rows[i].text);
		ck_assert_msg(
		    strstr(err.msg, rows[i].says) != NULL, "%s: %s", rows[i].text, err.msg);
	}
}
END_TEST

/* ---- fabrics at the edge */

static void
start_at(const struct netlist *nl, uint32_t node, unsigned port)
{
	ck_assert_int_eq(sim_new(nl, NULL, &sim, &err), 0);
	ck_assert_int_eq(sim_attach(sim, node, port, &local, &err), 0);
	local->on_mad = on_mad;
}

static uint64_t
guid_at(const char *hops)
{
	return wire_get64(get(hops, WIRE_ATTR_NODE_INFO, 0) + NODE_INFO_NODE_GUID);
}

START_TEST(test_back_to_back)
{
	struct netlist nl = { 0 };
	struct mad m = request(WIRE_CLASS_SMP_LID, WIRE_GET, WIRE_ATTR_NODE_DESC, 0, NULL);

	netlist_add(&nl, NETLIST_CA, "A", "a", 0x10, 1);
	netlist_add(&nl, NETLIST_ROUTER, "B", "b", 0x20, 2);
	netlist_cable(&nl, 0, 1, 1, 2, 25000);
	start_at(&nl, 0, 1);
	netlist_fini(&nl);
	ck_assert_uint_eq(guid_at(""), 0x10);
	ck_assert_uint_eq(guid_at("\1"), 0x20);
	give_lid("", 1, 1);
	give_lid("\1", 2, 2);
	m.addr.lid = 2;
	ck_assert_uint_eq(status_of(ask(&m)), 0);
	m.addr.lid = 3; /* arrives, but is not for it */
	ck_assert_ptr_null(ask(&m));
	sim_free(sim);
}
END_TEST

START_TEST(test_sm_on_switch)
{
	struct netlist nl = { 0 };
	struct mad m = request(WIRE_CLASS_SMP_LID, WIRE_GET, WIRE_ATTR_NODE_DESC, 0, NULL);
	struct wire_notice notice;
	uint8_t block[64];

	build(&nl);
	start_at(&nl, S1, 0);
	netlist_fini(&nl);
	ck_assert_uint_eq(guid_at(""), 0x100);
	ck_assert_uint_eq(guid_at("\2\2"), 0x2000);
	ck_assert_uint_eq(get("", WIRE_ATTR_NODE_INFO, 0)[NODE_INFO_LOCAL_PORT], 0);
	give_lid("", 0, 1);
	give_lid("\1", 1, 11);
	memset(block, 255, 64);
	block[1] = 0;
	block[11] = 1;
	set_lft("", block);
	m.addr.lid = 11; /* H1 */
	ck_assert_uint_eq(status_of(ask(&m)), 0);
	n_arrived = 0; /* its own traps reach it too */
	sim_unlink(sim, S1, 3);
	wait_ms(1);
	ck_assert_uint_eq(count_traps(128, &notice), 1);
	ck_assert_uint_eq(notice.issuer_lid, 1);
	sim_free(sim);
}
END_TEST

static char fabric_path[64];

static void
write_fabric(void)
{
	struct netlist nl = { 0 };
	FILE *out;
	int fd;

	snprintf(fabric_path, sizeof(fabric_path), "/tmp/check_sim.XXXXXX");
	fd = mkstemp(fabric_path);
	ck_assert_int_ge(fd, 0);
	out = fdopen(fd, "w");
	build(&nl);
	ck_assert_int_eq(netlist_write(&nl, out, &err), 0);
	fclose(out);
	netlist_fini(&nl);
}

START_TEST(test_spec)
{
	char spec[256];
	struct transport *t;
	struct local_port at;

	write_fabric();
	snprintf(spec, sizeof(spec), "sim:%s", fabric_path);
	ck_assert_msg(transport_open_sim(spec, &t, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(t->ops->local_port(t, &at, &err), 0);
	ck_assert_uint_eq(at.node_guid, 0x1000); /* the first CA with a cable */
	ck_assert_uint_eq(at.port, 1);
	ck_assert_int_eq(t->ops->fd(t), -1);
	t->ops->close(t);
	snprintf(spec, sizeof(spec),
	    "sim:%s,seed=7,loss=1%%,dup=0.5,delay_us=5-20,strict,local=S1,dead=H2,window=9,"
	    "sm=H3:5:master",
	    fabric_path);
	ck_assert_msg(transport_open_sim(spec, &t, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(t->ops->local_port(t, &at, &err), 0);
	ck_assert_uint_eq(at.node_guid, 0x100); /* an SM on a switch */
	ck_assert_uint_eq(at.port, 0);
	ck_assert_uint_eq(at.state, WIRE_PORT_ACTIVE);
	ck_assert_uint_eq(t->max_window, 9);
	ck_assert_ptr_nonnull(sim_of(t));
	ck_assert(sim_fabric(sim_of(t))->nodes[sim_find(sim_of(t), "H2")].silent);
	t->ops->close(t);
	unlink(fabric_path);
}
END_TEST

START_TEST(test_spec_errors)
{
	static const struct {
		const char *keys, *says;
	} rows[] = { { "colour=red", "no key \"colour\"; there are seed" },
		{ "loss=2", "1% or 0.01" }, { "loss", "1% or 0.01" }, { "seed=x", "a number" },
		{ "delay_us=5", "MIN-MAX" }, { "delay_us=9-5", "MIN-MAX" },
		{ "window=0", "1..1000000" }, { "clock=sun", "virtual or wall" },
		{ "strict=maybe", "yes, no" }, { "local=H9", "no node of this name" },
		{ "local=H1:5", "has ports 1..2" }, { "local=S1:3", "port 0" },
		{ "dead=zzz", "no node" }, { "sm=H1:3", "NODE:PRIORITY:STATE" },
		{ "sm=H1:16:master", "priority 0..15" }, { "sm=H1:3:king", "state notactive" },
		{ "script=/nonexistent", "cannot open" }, { "script=", "name of a file" } };
	char spec[256];
	struct transport *t;

	write_fabric();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(spec, sizeof(spec), "sim:%s,%s", fabric_path, rows[i].keys);
		ck_assert_msg(
		    transport_open_sim(spec, &t, &err) == FM_E_CONFIG, "%s", rows[i].keys);
		ck_assert_msg(
		    strstr(err.msg, rows[i].says) != NULL, "%s: %s", rows[i].keys, err.msg);
	}
	unlink(fabric_path);
	ck_assert_int_ne(transport_open_sim("sim:", &t, &err), 0);
	ck_assert_int_ne(transport_open_sim("sim:/nonexistent", &t, &err), 0);
}
END_TEST

START_TEST(test_wall_clock)
{
	struct sim_options o;
	int64_t before_ns;

	sim_options_default(&o);
	o.wall_clock = true;
	start(&o);
	ck_assert_int_ge(local->ops->fd(local), 0);
	before_ns = local->ops->now_ns(local);
	ck_assert_uint_eq(status_of(smp("\1\2", WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL)), 0);
	ck_assert_int_gt(local->ops->now_ns(local), before_ns);
	sim_free(sim);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("sim_faults");
	TCase *lax = tcase_create("lax");
	TCase *strict = tcase_create("strict");
	TCase *own = tcase_create("own");

	tcase_add_checked_fixture(lax, setup, teardown);
	tcase_add_test(lax, test_trap_128);
	tcase_add_test(lax, test_trap_144);
	tcase_add_test(lax, test_sm_info);
	tcase_add_test(lax, test_two_transports);
	tcase_add_test(lax, test_silent_sms);
	tcase_add_test(lax, test_reboot);
	tcase_add_test(lax, test_silence_and_flap);
	tcase_add_test(lax, test_fate);
	tcase_add_test(lax, test_garbled);
	tcase_add_test(lax, test_refuses_sets);
	tcase_add_test(lax, test_script);
	tcase_add_test(lax, test_script_errors);
	suite_add_tcase(s, lax);
	tcase_add_checked_fixture(strict, setup_strict, teardown);
	tcase_add_test(strict, test_strict_timeout);
	tcase_add_test(strict, test_strict_timeouts_in_turn);
	tcase_add_test(strict, test_strict_late);
	tcase_add_test(strict, test_strict_overrun);
	suite_add_tcase(s, strict);
	tcase_add_test(own, test_seed);
	tcase_add_test(own, test_back_to_back);
	tcase_add_test(own, test_sm_on_switch);
	tcase_add_test(own, test_spec);
	tcase_add_test(own, test_spec_errors);
	tcase_add_test(own, test_wall_clock);
	suite_add_tcase(s, own);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
