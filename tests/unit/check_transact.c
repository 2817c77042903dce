/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_transact - the transaction engine over a scripted transport with a
 * clock of its own: what is sent is put on a list, and the test (or, in the
 * random rounds, a seed) decides what comes back and when.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/mad/slots.h"
#include "core/mad/window.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/fake_transport.h"

#define NODE_OF(modifier) ((modifier) % 7) /* 0: no per-node window */

struct outcome {
	int n_calls;
	enum txn_status status;
	uint32_t modifier; /* of the reply */
	struct fake *fake; /* not NULL: assert that no send is in progress */
};

static void
note(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct outcome *o = arg;

	o->n_calls++;
	o->status = status;
	o->modifier = reply ? wire_get32(reply + 20) : 0;
	ck_assert((reply != NULL) == (status == TXN_OK || status == TXN_REFUSED));
	if (o->fake)
		ck_assert(!o->fake->in_send);
}

static const struct txn_limits limits = {
	.timeout_ms = 100, .n_retries = 2, .window_max = 32, .per_node_max = 3
};
static const struct smp_route two_hops = { .directed = true, .n_hops = 2, .path = { 0, 3, 17 } };

static void
get(struct txn_engine *e, uint32_t modifier, uint64_t key, struct outcome *o)
{
	txn_smp(e, &two_hops, WIRE_GET, WIRE_ATTR_PORT_INFO, modifier, NULL, key, note, o);
}

static void
drain(struct txn_engine *e)
{
	struct fm_error err = { 0 };

	ck_assert_int_eq(txn_drain(e, NULL, NULL, &err), 0);
	ck_assert_uint_eq(txn_outstanding(e), 0);
}

START_TEST(what_is_sent)
{
	struct smp_route by_lid = { .lid = 0x1234 };
	uint8_t data[64];
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	struct wire_header h;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0x1122334455667788);
	memset(data, 0x5a, sizeof(data));
	txn_smp(e, &two_hops, WIRE_GET, WIRE_ATTR_NODE_INFO, 9, NULL, 1, note, &o);
	txn_smp(e, &by_lid, WIRE_SET, WIRE_ATTR_LFT, 3, data, 2, note, &o);
	ck_assert_uint_eq(f.sent.n, 2);
	ck_assert_uint_eq(txn_outstanding(e), 2);

	wire_header_get(f.sent.item[0].bytes, &h);
	ck_assert_uint_eq(h.base_version, 1);
	ck_assert_uint_eq(h.class_version, 1);
	ck_assert_uint_eq(h.mgmt_class, WIRE_CLASS_SMP_DR);
	ck_assert_uint_eq(h.method, WIRE_GET);
	ck_assert_uint_eq(h.attr, WIRE_ATTR_NODE_INFO);
	ck_assert_uint_eq(h.modifier, 9);
	ck_assert_uint_eq(h.hop_count, 2);
	ck_assert_uint_eq(h.hop_pointer, 0);
	ck_assert_uint_eq(h.dr_slid, 0xffff);
	ck_assert_uint_eq(h.dr_dlid, 0xffff);
	ck_assert_uint_eq(h.m_key, 0x1122334455667788);
	ck_assert_uint_eq(h.tid >> 32, 0);
	ck_assert_uint_eq(f.sent.item[0].addr.lid, 0xffff);
	ck_assert_uint_eq(f.sent.item[0].timeout_ms, 100);
	ck_assert_mem_eq(f.sent.item[0].bytes + WIRE_DR_INITIAL_PATH_AT, "\0\3\21\0", 4);

	wire_header_get(f.sent.item[1].bytes, &h);
	ck_assert_uint_eq(h.mgmt_class, WIRE_CLASS_SMP_LID);
	ck_assert_uint_eq(h.method, WIRE_SET);
	ck_assert_uint_eq(f.sent.item[1].addr.lid, 0x1234);
	ck_assert_mem_eq(f.sent.item[1].bytes + WIRE_SMP_DATA_AT, data, 64);
	ck_assert_uint_eq(txn_counts(e)->gets_by_attr[WIRE_ATTR_NODE_INFO], 1);
	ck_assert_uint_eq(txn_counts(e)->sets_by_attr[WIRE_ATTR_LFT], 1);

	txn_free(e);
	ck_assert_int_eq(o.n_calls, 2);
	ck_assert_int_eq(o.status, TXN_CANCELLED);
	fake_fini(&f);
}
END_TEST

/* By LID to a switch, two hops on from there; home by LID to us.  Half of the retries. */
START_TEST(mixed_ones)
{
	struct smp_route mixed = two_hops;
	struct wire_header h;
	struct outcome o = { 0 };
	struct txn_engine *e;
	struct fake f;
	unsigned window;

	mixed.lid = 0x1234;
	mixed.slid = 0x42;
	mixed.max_tries = 2;
	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	window = txn_window(e);
	txn_smp(e, &mixed, WIRE_GET, WIRE_ATTR_NODE_INFO, 9, NULL, 1, note, &o);
	wire_header_get(f.sent.item[0].bytes, &h);
	ck_assert_uint_eq(h.mgmt_class, WIRE_CLASS_SMP_DR);
	ck_assert_uint_eq(f.sent.item[0].addr.lid, 0x1234);
	ck_assert_uint_eq(h.dr_slid, 0x42);
	ck_assert_uint_eq(h.dr_dlid, 0xffff);
	ck_assert_uint_eq(h.hop_count, 2);
	ck_assert_uint_eq(h.hop_pointer, 0);
	ck_assert_mem_eq(f.sent.item[0].bytes + WIRE_DR_INITIAL_PATH_AT, "\0\3\21\0", 4);
	drain(e);
	ck_assert_int_eq(o.status, TXN_TIMEOUT);
	ck_assert_uint_eq(f.sent.n, 2);
	ck_assert_uint_eq(txn_window(e), window); /* that it is lost says nothing of others */
	txn_free(e);
	fake_fini(&f);
}
END_TEST

START_TEST(timeouts_double)
{
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	int64_t start;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	start = f.now_ns;
	get(e, 1, 1, &o);
	ck_assert_int_eq(txn_next_ns(e), start + 100 * MS);
	drain(e);
	ck_assert_int_eq(o.n_calls, 1);
	ck_assert_int_eq(o.status, TXN_TIMEOUT);
	ck_assert_uint_eq(f.sent.n, 3);
	ck_assert_int_eq(f.now_ns - start, (100 + 200 + 400) * MS);
	ck_assert_uint_eq(f.sent.item[2].timeout_ms, 400);
	ck_assert_uint_eq(txn_counts(e)->retries, 2);
	ck_assert_uint_eq(txn_counts(e)->timeouts, 1);
	ck_assert_int_eq(txn_next_ns(e), INT64_MAX);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* The answer to the first try is taken while the second is under way, or
 * even before it is sent; the second answer is a duplicate. */
/* One that says how long it waits has one try; others beside it keep their time. */
START_TEST(own_time)
{
	struct smp_route slow = two_hops, quick = two_hops;
	struct outcome o[3] = { 0 };
	struct fm_error err = { 0 };
	struct txn_engine *e;
	struct fake f;

	slow.wait_ms = 450;
	quick.wait_ms = 50;
	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	txn_smp(e, &slow, WIRE_GET, WIRE_ATTR_SM_INFO, 0, NULL, 0, note, &o[0]);
	txn_smp(e, &quick, WIRE_GET, WIRE_ATTR_SM_INFO, 0, NULL, 0, note, &o[1]);
	get(e, 1, 1, &o[2]);
	ck_assert_uint_eq(f.sent.item[0].timeout_ms, 450);
	ck_assert_int_eq(txn_next_ns(e), f.now_ns + 50 * MS);
	for (int64_t end = f.now_ns + 449 * MS; f.now_ns < end;)
		ck_assert_int_ge(txn_poll(e, f.now_ns + MS, &err), 0);
	ck_assert_int_eq(o[1].status, TXN_TIMEOUT);
	ck_assert_int_eq(o[0].n_calls, 0);
	drain(e);
	ck_assert_int_eq(o[0].n_calls, 1);
	ck_assert_int_eq(o[0].status, TXN_TIMEOUT);
	ck_assert_uint_eq(f.sent.n, 5); /* three of the last */
	txn_free(e);
	fake_fini(&f);
}
END_TEST

static void
set_lft(struct txn_engine *e, uint32_t block, uint64_t key, struct outcome *o)
{
	uint8_t data[64] = { 0 };

	txn_smp(e, &two_hops, WIRE_SET, WIRE_ATTR_LFT, block, data, key, note, o);
}

/* Held, what has no node leaves, no Set, and nothing that is due again.  Cancelled, all else ends,
 * and what is on the wire is not sent again. */
START_TEST(held_and_cancelled)
{
	struct outcome o[8] = { 0 };
	struct fm_error err = { 0 };
	struct txn_engine *e;
	struct mad reply;
	struct fake f;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	for (unsigned i = 0; i < 5; i++)
		set_lft(e, i, 1, &o[i]); /* three leave */
	ck_assert_uint_eq(f.sent.n, 3);
	txn_hold(e, true);
	get(e, 5, 0, &o[5]);
	set_lft(e, 6, 2, &o[6]);
	ck_assert_uint_eq(f.sent.n, 4);
	reply = answer_to(&f.sent.item[3], 0);
	deliver(&f, MS, &reply);
	for (int64_t end = f.now_ns + 150 * MS; f.now_ns < end;)
		ck_assert_int_ge(txn_poll(e, f.now_ns + MS, &err), 0);
	ck_assert_int_eq(o[5].status, TXN_OK);
	ck_assert_uint_eq(f.sent.n, 4); /* the three are due again */
	if (_i == 0) {
		txn_hold(e, false);
		ck_assert_uint_eq(f.sent.n, 4 + 3 + 1);
		drain(e);
		ck_assert_uint_eq(f.sent.n, 6 * 3 + 1);
	} else {
		set_lft(e, 7, 2, &o[7]);
		txn_cancel(e);
		for (unsigned i = 0; i < 8; i++)
			ck_assert(i == 5 || o[i].status == TXN_CANCELLED);
		txn_hold(e, false);
		ck_assert_uint_eq(txn_outstanding(e), 0);
		ck_assert_uint_eq(f.sent.n, 4);
		set_lft(e, 7, 2, &o[7]);
		txn_cancel(e);
		drain(e);
		ck_assert_uint_eq(f.sent.n, 5);
		ck_assert_int_eq(o[7].status, TXN_TIMEOUT);
	}
	txn_free(e);
	fake_fini(&f);
}
END_TEST

START_TEST(late_and_duplicate)
{
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 }, p = { 0 };
	struct mad r;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	get(e, 1, 1, &o);
	r = answer_to(&f.sent.item[0], 0);
	deliver(&f, 150 * MS, &r);
	drain(e);
	ck_assert_int_eq(o.status, TXN_OK);
	ck_assert_uint_eq(f.sent.n, 2);
	deliver(&f, 0, &r);
	get(e, 2, 1, &p); /* never answered */
	drain(e);
	ck_assert_uint_eq(txn_counts(e)->duplicates, 1);
	r = answer_to(&f.sent.item[2], 0);
	deliver(&f, 0, &r);
	get(e, 3, 1, &p);
	drain(e);
	ck_assert_uint_eq(txn_counts(e)->late, 1);
	ck_assert_int_eq(o.n_calls, 1);
	ck_assert_int_eq(p.n_calls, 2);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

START_TEST(kernel_returns_it)
{
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	struct mad r;
	int64_t start;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	start = f.now_ns;
	get(e, 1, 1, &o);
	r = returned(&f.sent.item[0]);
	deliver(&f, 1 * MS, &r); /* ends the first try ... */
	deliver(&f, 2 * MS, &r); /* ... but not the second */
	drain(e);
	ck_assert_int_eq(o.status, TXN_TIMEOUT);
	ck_assert_int_eq(f.now_ns - start, (1 + 200 + 400) * MS);
	ck_assert_uint_eq(f.sent.n, 3);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* ---- who is believed */

/* An answer to a directed request that differs from the true one in one thing. */
static const struct {
	const char *what;
	unsigned at; /* byte */
	uint8_t flip;
} wrong_answers[] = {
	{ "another TID", 15, 1 },
	{ "another TID", 14, 0x80 },
	{ "another TID", 13, 0x40 },
	{ "another TID", 12, 0x20 },
	{ "another attribute", 17, WIRE_ATTR_PORT_INFO ^ WIRE_ATTR_NODE_INFO },
	{ "another modifier", 23, 1 },
	{ "another class", 1, WIRE_CLASS_SMP_DR ^ WIRE_CLASS_SMP_LID },
	{ "another method", 3, WIRE_GET_RESP ^ 0x86 },
	{ "without the D bit", 4, 0x80 },
	{ "another hop count", 7, 1 },
	{ "another first hop", WIRE_DR_INITIAL_PATH_AT + 1, 1 },
	{ "another last hop", WIRE_DR_INITIAL_PATH_AT + 2, 4 },
};
#define N_WRONG (sizeof(wrong_answers) / sizeof(wrong_answers[0]))

START_TEST(strangers)
{
	struct txn_limits seeded = limits; /* one of thousands of TIDs is by chance one of before */
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	struct mad r;

	fake_init(&f);
	seeded.tid_seed = 1;
	e = txn_new(&f.base, &seeded, 0);
	get(e, 1, 1, &o);
	r = answer_to(&f.sent.item[0], 0);
	for (unsigned i = 0; i < N_WRONG; i++) {
		struct mad wrong = r;

		wrong.bytes[wrong_answers[i].at] ^= wrong_answers[i].flip;
		f.base.on_mad(f.base.on_mad_arg, &wrong);
		ck_assert_msg(o.n_calls == 0, "%s", wrong_answers[i].what);
		ck_assert_msg(txn_counts(e)->forged == i + 1, "%s", wrong_answers[i].what);
	}
	deliver(&f, 6 * MS, &r);
	drain(e);
	ck_assert_int_eq(o.n_calls, 1);
	ck_assert_int_eq(o.status, TXN_OK);
	ck_assert_int_eq(f.now_ns, (5 + 6) * MS);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* By LID an answer comes from the LID that was asked. */
START_TEST(strangers_by_lid)
{
	struct smp_route by_lid = { .lid = 0x1234 };
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	struct mad r;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	txn_smp(e, &by_lid, WIRE_GET, WIRE_ATTR_PORT_INFO, 1, NULL, 1, note, &o);
	r = answer_to(&f.sent.item[0], 0);
	r.addr.lid = 0x1235;
	f.base.on_mad(f.base.on_mad_arg, &r);
	ck_assert_int_eq(o.n_calls, 0);
	ck_assert_uint_eq(txn_counts(e)->forged, 1);
	r.addr.lid = 0x1234;
	f.base.on_mad(f.base.on_mad_arg, &r);
	drain(e);
	ck_assert_int_eq(o.status, TXN_OK);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* A try that has not been sent has no answer, whoever knows its TID. */
START_TEST(tries_to_come)
{
	struct txn_limits seeded = limits;
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	struct mad first, second;

	seeded.tid_seed = 5;
	fake_init(&f);
	e = txn_new(&f.base, &seeded, 0); /* what is to come, from an engine of the same seed */
	get(e, 1, 1, &o);
	drain(e);
	ck_assert_uint_eq(f.sent.n, 3);
	first = answer_to(&f.sent.item[0], 0);
	second = answer_to(&f.sent.item[1], 0);
	txn_free(e);
	o.n_calls = 0;
	e = txn_new(&f.base, &seeded, 0);
	get(e, 1, 1, &o);
	f.base.on_mad(f.base.on_mad_arg, &second);
	ck_assert_int_eq(o.n_calls, 0);
	ck_assert_uint_eq(txn_counts(e)->forged, 1);
	f.base.on_mad(f.base.on_mad_arg, &first);
	ck_assert_int_eq(o.n_calls, 1);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* A host is asked now and then, sees the TID, and before it answers forges answers to what others
 * are asked meanwhile, of which it knows all but the TID. */
#define N_VICTIMS 100
#define N_ROUNDS 2000
#define N_FORGED 500 /* in a round */

struct forger {
	struct fm_rng rng;
	uint32_t seen[N_ROUNDS];
	unsigned n_seen;
};

static uint32_t
guess(struct forger *g)
{
	uint32_t last = g->seen[g->n_seen - 1], before = g->seen[g->n_seen > 1 ? g->n_seen - 2 : 0];
	uint32_t x = fm_rng_below(&g->rng, 2 * N_VICTIMS);

	switch (fm_rng_below(&g->rng, 7)) {
	case 0: /* the next ones, the last ones */
		return last + x - N_VICTIMS;
	case 1: /* the same of another generation */
		return last + x + (fm_rng_below(&g->rng, 64) << SLOT_BITS);
	case 2: /* of another try */
		return (last + x) ^ fm_rng_below(&g->rng, TID_MAX_TRIES) << TID_TRY_SHIFT;
	case 3: /* as it went on before */
		return last + (last - before) / (N_VICTIMS + 1) * (x + 1);
	case 4: /* one that it saw */
		return g->seen[fm_rng_below(&g->rng, g->n_seen)];
	case 5: /* near to it */
		return last ^ 1u << fm_rng_below(&g->rng, 32) ^ 1u << fm_rng_below(&g->rng, 32);
	default:
		return (uint32_t)fm_rng_next(&g->rng);
	}
}

static void
answer_soon(struct fake *f, const struct mad *m)
{
	struct mad r = answer_to(m, 0);

	deliver(f, MS, &r);
}

/* Answers to what has been sent since the first, which is the forger's own. */
static void
forge(struct forger *g, struct fake *f, size_t first)
{
	uint32_t n_victims = (uint32_t)(f->sent.n - first - 1);

	g->seen[g->n_seen++] = wire_get32(f->sent.item[first].bytes + WIRE_TID_AT + 4);
	for (unsigned i = 0; i < N_FORGED; i++) {
		size_t at = first + 1 + fm_rng_below(&g->rng, n_victims);
		struct mad r = answer_to(&f->sent.item[at], 0);

		wire_put32(r.bytes + WIRE_TID_AT + 4, guess(g));
		f->base.on_mad(f->base.on_mad_arg, &r);
	}
}

static void
answer_all(struct txn_engine *e, struct fake *f, size_t first)
{
	size_t n = f->sent.n;

	f->on_send = answer_soon; /* what is sent from now on */
	for (size_t i = first; i < n; i++)
		answer_soon(f, &f->sent.item[i]);
	drain(e);
	f->on_send = NULL;
}

START_TEST(forged_answers)
{
	struct txn_limits wide = limits;
	struct outcome o[1 + N_VICTIMS] = { 0 };
	struct forger g = { 0 };
	struct txn_engine *e;
	struct fake f;

	wide.window_max = 128;
	wide.tid_seed = 1;
	fm_rng_seed(&g.rng, 1);
	fake_init(&f);
	e = txn_new(&f.base, &wide, 0);
	for (int round = 0; round < N_ROUNDS; round++) {
		size_t first = f.sent.n;

		for (uint32_t i = 0; i <= N_VICTIMS; i++)
			get(e, i, 0, &o[i]);
		ck_assert_uint_ge(f.sent.n, first + 2);
		forge(&g, &f, first);
		for (uint32_t i = 0; i <= N_VICTIMS; i++)
			ck_assert_int_eq(o[i].n_calls, round);
		answer_all(e, &f, first);
	}
	ck_assert_uint_gt(txn_counts(e)->forged, N_ROUNDS * N_FORGED * 8 / 10);
	ck_assert_uint_eq(txn_counts(e)->timeouts, 0);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

START_TEST(refused_and_busy)
{
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	struct mad r;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	get(e, 77, 1, &o);
	r = answer_to(&f.sent.item[0], WIRE_STATUS_BAD_METHOD_ATTR);
	deliver(&f, 1 * MS, &r);
	drain(e);
	ck_assert_int_eq(o.status, TXN_REFUSED);
	ck_assert_uint_eq(o.modifier, 77);
	ck_assert_uint_eq(f.sent.n, 1);
	ck_assert_uint_eq(txn_counts(e)->refused, 1);

	get(e, 78, 1, &o);
	r = answer_to(&f.sent.item[1], WIRE_STATUS_BUSY);
	deliver(&f, 1 * MS, &r);
	r = answer_to(&f.sent.item[1], 0);
	deliver(&f, 120 * MS, &r);
	drain(e);
	ck_assert_int_eq(o.status, TXN_OK);
	ck_assert_uint_eq(f.sent.n, 3);

	get(e, 79, 1, &o);
	for (int i = 0; i < 3; i++) { /* BUSY to the last */
		r = answer_to(&f.sent.item[3], WIRE_STATUS_BUSY);
		deliver(&f, 50 * MS + i * 100 * MS + (i == 2) * 150 * MS, &r);
	}
	drain(e);
	ck_assert_int_eq(o.status, TXN_REFUSED);
	ck_assert_uint_eq(f.sent.n, 6);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

START_TEST(failed_sends)
{
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	struct mad r;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	f.fail_sends = true;
	get(e, 1, 1, &o);
	ck_assert_int_eq(o.n_calls, 0);
	f.fail_sends = false;
	ck_assert_int_eq(txn_poll(e, f.now_ns + 150 * MS, NULL), 0);
	ck_assert_uint_eq(f.sent.n, 1);
	r = answer_to(&f.sent.item[0], 0);
	deliver(&f, 0, &r);
	drain(e);
	ck_assert_int_eq(o.status, TXN_OK);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* One node that does not answer holds three places, not the fabric. */
START_TEST(per_node_window)
{
	struct fake f;
	struct txn_engine *e;
	struct outcome o[20] = { 0 };

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	for (uint32_t i = 0; i < 10; i++)
		get(e, i, 1, &o[i]);
	ck_assert_uint_eq(f.sent.n, 3);
	for (uint32_t i = 10; i < 15; i++)
		get(e, i, 2, &o[i]);
	ck_assert_uint_eq(f.sent.n, 6);
	for (uint32_t i = 15; i < 20; i++)
		get(e, i, 0, &o[i]);
	ck_assert_uint_eq(f.sent.n, 11);
	ck_assert_uint_eq(txn_outstanding(e), 20);
	for (uint32_t i = 0; i < 3; i++) { /* first come, first served */
		struct mad r = answer_to(&f.sent.item[i], 0);

		ck_assert_uint_eq(wire_get32(f.sent.item[i].bytes + 20), i);
		deliver(&f, MS, &r);
		ck_assert_int_eq(txn_poll(e, f.now_ns + MS, NULL), 0);
		ck_assert_int_eq(o[i].n_calls, 1);
		ck_assert_uint_eq(f.sent.n, 12 + i);
	}
	txn_free(e);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(o[i].n_calls, 1);
	fake_fini(&f);
}
END_TEST

/* A node given up: what waits there ends at the next poll, unsent; what is on
 * the wire ends with its present try, or by its answer; other nodes go on;
 * the next request to it is a new one. */
START_TEST(given_up)
{
	struct fake f;
	struct txn_engine *e;
	struct outcome o[10] = { 0 }, other = { 0 }, fresh = { 0 };
	int64_t start;
	struct mad r;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	start = f.now_ns;
	for (uint32_t i = 0; i < 10; i++)
		get(e, i, 1, &o[i]);
	get(e, 10, 2, &other);
	ck_assert_uint_eq(f.sent.n, 4); /* three to node 1 */
	txn_give_up(e, 1);
	ck_assert_int_eq(o[9].n_calls, 0); /* never from within */
	r = answer_to(&f.sent.item[1], 0);
	deliver(&f, MS, &r);
	ck_assert_int_eq(txn_poll(e, start + 2 * MS, NULL), 0);
	for (int i = 3; i < 10; i++)
		ck_assert_int_eq(o[i].status, TXN_TIMEOUT);
	ck_assert_uint_eq(txn_counts(e)->given_up, 7);
	while (o[1].n_calls == 0)
		ck_assert_int_eq(txn_poll(e, start + 2 * MS, NULL), 0);
	ck_assert_int_eq(o[1].status, TXN_OK);
	while (o[0].n_calls == 0)
		ck_assert_int_eq(txn_poll(e, f.now_ns + 100 * MS, NULL), 0);
	ck_assert_int_eq(f.now_ns - start, 100 * MS);
	ck_assert_int_eq(o[0].status, TXN_TIMEOUT);
	ck_assert_int_eq(o[2].status, TXN_TIMEOUT);
	ck_assert_int_eq(other.n_calls, 0);
	get(e, 11, 1, &fresh);
	drain(e);
	ck_assert_int_eq(f.now_ns - start, (100 + 100 + 200 + 400) * MS);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(o[i].n_calls, 1);
	ck_assert_int_eq(other.n_calls, 1);
	ck_assert_int_eq(fresh.n_calls, 1);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* Given up while it waits to be sent again: over at the next poll; and the
 * engine may be closed before that. */
START_TEST(given_up_between_tries)
{
	struct txn_limits narrow = limits;
	struct fake f;
	struct txn_engine *e;
	struct outcome o[8] = { 0 };
	int n_ended = 0;

	narrow.window_max = narrow.per_node_max = 8;
	fake_init(&f);
	e = txn_new(&f.base, &narrow, 0);
	for (uint32_t i = 0; i < 8; i++)
		get(e, i, 1, &o[i]);
	f.now_ns += 100 * MS; /* all are lost, and the window is too small for all again */
	ck_assert_int_eq(txn_poll(e, f.now_ns, NULL), 0);
	txn_give_up(e, 1);
	if (_i == 0)
		ck_assert_int_eq(txn_poll(e, f.now_ns, NULL), 0);
	for (int i = 0; i < 8; i++)
		n_ended += o[i].n_calls;
	ck_assert_int_eq(n_ended, _i == 0 ? 8 - (int)txn_window(e) : 0);
	txn_free(e);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(o[i].n_calls, 1);
	fake_fini(&f);
}
END_TEST

static void
answer_at_once(struct fake *f, const struct mad *m)
{
	struct mad r = answer_to(m, 0);

	deliver(f, MS, &r);
}

/* More keys than are remembered; each still has its own window. */
START_TEST(many_keys)
{
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	int n_calls = 0;

	fake_init(&f);
	f.on_send = answer_at_once;
	e = txn_new(&f.base, &limits, 0);
	for (uint64_t key = 1; key < 40000; key += 13) {
		f.sent.n = 0;
		for (uint32_t i = 0; i < 14; i++) { /* one new key among those known */
			get(e, i, key + i, &o);
			get(e, i, key + i, &o);
		}
		drain(e);
		n_calls += 28;
		ck_assert_int_eq(o.n_calls, n_calls);
		ck_assert_int_eq(o.status, TXN_OK);
	}
	f.on_send = NULL;
	f.sent.n = 0;
	for (uint32_t i = 0; i < 10; i++)
		get(e, i, 5, &o);
	ck_assert_uint_eq(f.sent.n, 3);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

struct chain {
	struct txn_engine *engine;
	struct fake *fake;
	int n_left, n_done, n_cancelled;
};

/* A callback that starts the next request, as discovery does. */
static void
link_done(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct chain *c = arg;

	ck_assert(!c->fake->in_send);
	c->n_done++;
	c->n_cancelled += status == TXN_CANCELLED;
	if (c->n_left-- > 0)
		txn_smp(
		    c->engine, &two_hops, WIRE_GET, WIRE_ATTR_PORT_INFO, 0, NULL, 1, link_done, c);
}

START_TEST(callbacks_start_requests)
{
	struct fake f;
	struct chain c = { .fake = &f, .n_left = 1000 };

	fake_init(&f);
	f.on_send = answer_at_once;
	c.engine = txn_new(&f.base, &limits, 0);
	for (int i = 0; i < 5; i++)
		txn_smp(
		    c.engine, &two_hops, WIRE_GET, WIRE_ATTR_PORT_INFO, 0, NULL, 1, link_done, &c);
	drain(c.engine);
	ck_assert_int_eq(c.n_done, 1005);
	ck_assert_int_eq(c.n_cancelled, 0);

	/* Started while txn_free() cancels: cancelled as well. */
	f.on_send = NULL;
	c.n_left = 50;
	c.n_done = 0;
	for (int i = 0; i < 5; i++)
		txn_smp(
		    c.engine, &two_hops, WIRE_GET, WIRE_ATTR_PORT_INFO, 0, NULL, 1, link_done, &c);
	f.sent.n = 0;
	txn_free(c.engine);
	ck_assert_int_eq(c.n_done, 55);
	ck_assert_int_eq(c.n_cancelled, 55);
	ck_assert_uint_eq(f.sent.n, 0);
	ck_assert_ptr_null(f.base.on_mad);
	fake_fini(&f);
}
END_TEST

static void
answer_trap(void *arg, const struct mad *m)
{
	struct mad r = *m;

	r.bytes[3] = WIRE_TRAP_REPRESS;
	ck_assert_int_eq(txn_reply(*(struct txn_engine **)arg, &r, NULL), 0);
}

START_TEST(unsolicited)
{
	struct fake f;
	struct txn_engine *e;
	struct outcome o = { 0 };
	struct mad trap = { .addr = { .lid = 7 } };
	struct wire_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SMP_LID,
		.class_version = 1,
		.method = WIRE_TRAP,
		.tid = 99,
		.attr = WIRE_ATTR_NOTICE };

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	wire_header_put(trap.bytes, &h);
	deliver(&f, 0, &trap); /* no handler yet: dropped */
	ck_assert_int_eq(txn_poll(e, f.now_ns, NULL), 0);
	txn_set_unsolicited(e, answer_trap, &e);
	deliver(&f, 0, &trap);
	h.mgmt_class = trap.bytes[1] = WIRE_CLASS_SMP_DR;
	deliver(&f, 1, &trap);
	get(e, 1, 1, &o);
	ck_assert_int_eq(txn_poll(e, f.now_ns + MS, NULL), 0);
	ck_assert_int_eq(txn_poll(e, f.now_ns + MS, NULL), 0);
	ck_assert_uint_eq(f.sent.n, 3);
	ck_assert_uint_eq(f.sent.item[1].bytes[3], WIRE_TRAP_REPRESS);
	ck_assert_uint_eq(f.sent.item[1].bytes[4], 0);
	ck_assert_uint_eq(f.sent.item[1].timeout_ms, 0);
	ck_assert_uint_eq(f.sent.item[1].addr.lid, 7);
	ck_assert_uint_eq(f.sent.item[2].bytes[4], 0x80);
	ck_assert_int_eq(o.n_calls, 0);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* What has been out for eight round trips leaves its place in the window to others, and is still
 * waited for; a node that was silent from the start makes the window no smaller. */
START_TEST(silence_keeps_no_place)
{
	struct txn_limits wide = {
		.timeout_ms = 100, .n_retries = 1, .window_max = 40, .per_node_max = 40
	};
	struct outcome first = { 0 }, silent[16] = { 0 }, other = { 0 };
	struct txn_engine *e;
	struct fake f;
	struct mad r;

	fake_init(&f);
	e = txn_new(&f.base, &wide, 0);
	get(e, 100, 9, &first);
	r = answer_to(&f.sent.item[0], 0);
	deliver(&f, MS, &r); /* a round trip takes 1 ms */
	while (first.n_calls == 0)
		ck_assert_int_eq(txn_poll(e, f.now_ns + MS, NULL), 0);
	for (uint32_t i = 0; i < 16; i++)
		get(e, i, 1, &silent[i]);
	get(e, 101, 2, &other);
	ck_assert_uint_eq(txn_window(e), 16);
	ck_assert_uint_eq(f.sent.n, 1 + 16);
	ck_assert_int_eq(txn_poll(e, f.now_ns + 7 * MS, NULL), 0);
	ck_assert_uint_eq(f.sent.n, 1 + 16);
	ck_assert_int_le(txn_next_ns(e), f.now_ns + MS);
	ck_assert_int_eq(txn_poll(e, f.now_ns + MS, NULL), 0);
	ck_assert_uint_eq(f.sent.n, 1 + 16 + 1);
	r = answer_to(&f.sent.item[17], 0);
	deliver(&f, MS, &r);
	r = answer_to(&f.sent.item[1], 0); /* late, and taken */
	deliver(&f, 2 * MS, &r);
	drain(e);
	ck_assert_int_eq(other.status, TXN_OK);
	ck_assert_int_eq(silent[0].status, TXN_OK);
	for (int i = 1; i < 16; i++)
		ck_assert_int_eq(silent[i].status, TXN_TIMEOUT);
	ck_assert_uint_eq(txn_window(e), 8); /* node 1 has answered once */
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* A node that is late gets one request beside those that are out, till it answers. */
START_TEST(late_nodes_get_one)
{
	struct outcome o[10] = { 0 };
	struct txn_engine *e;
	struct fake f;
	struct mad r;

	fake_init(&f);
	e = txn_new(&f.base, &limits, 0);
	get(e, 0, 1, &o[0]);
	while (f.sent.n < 2) /* again, since the first try was lost */
		ck_assert_int_eq(txn_poll(e, f.now_ns + MS, NULL), 0);
	for (uint32_t i = 1; i < 10; i++)
		get(e, i, 1, &o[i]);
	ck_assert_uint_eq(f.sent.n, 2);
	r = answer_to(&f.sent.item[1], 0);
	deliver(&f, MS, &r);
	while (o[0].n_calls == 0)
		ck_assert_int_eq(txn_poll(e, f.now_ns + MS, NULL), 0);
	ck_assert_uint_eq(f.sent.n, 2 + limits.per_node_max);
	txn_free(e);
	fake_fini(&f);
}
END_TEST

/* ---- random rounds */

#define N_REQUESTS 600

struct storm {
	struct fake fake;
	struct txn_engine *engine;
	struct fm_rng rng;
	unsigned loss_pct, duplicate_pct, refuse_pct, busy_pct, return_pct;
	unsigned window_max, per_node_max;
	int64_t gone_ns[N_REQUESTS]; /* when the engine stops waiting for the present try */
	bool answered[N_REQUESTS], refused[N_REQUESTS];
	struct outcome outcome[N_REQUESTS];
};

static bool
chance(struct storm *s, unsigned pct)
{
	return fm_rng_below(&s->rng, 100) < pct;
}

static void
check_windows(struct storm *s, uint32_t id)
{
	struct txn_places places = txn_places(s->engine);
	unsigned n_node = 0;

	for (uint32_t i = 0; i < N_REQUESTS; i++)
		n_node += s->gone_ns[i] > s->fake.now_ns && s->outcome[i].n_calls == 0 &&
		    NODE_OF(i) == NODE_OF(id);
	ck_assert_uint_le(places.window, s->window_max);
	ck_assert_uint_le(places.lane, s->window_max);
	if (NODE_OF(id) != 0)
		ck_assert_uint_le(n_node, s->per_node_max);
}

static void
storm_answer(struct storm *s, const struct mad *m, uint32_t id)
{
	int64_t delay = (1 + fm_rng_below(&s->rng, 90)) * MS;
	struct mad r;

	if (chance(s, s->busy_pct)) {
		r = answer_to(m, WIRE_STATUS_BUSY);
		deliver(&s->fake, delay, &r);
		s->refused[id] = true; /* if it was the last try */
		return;
	}
	s->answered[id] = true;
	r = answer_to(m, chance(s, s->refuse_pct) ? WIRE_STATUS_BAD_VALUE : 0);
	s->refused[id] |= wire_get16(r.bytes + 4) & 0x7fff;
	deliver(&s->fake, delay, &r);
	if (chance(s, s->duplicate_pct))
		deliver(&s->fake, delay + fm_rng_below(&s->rng, 300) * MS, &r);
	if (chance(s, 5)) { /* a stranger */
		wire_put64(r.bytes + 8, fm_rng_next(&s->rng));
		wire_put16(r.bytes + 16, 0x7777);
		deliver(&s->fake, delay, &r);
	}
}

static void
storm_send(struct fake *f, const struct mad *m)
{
	struct storm *s = (struct storm *)f;
	uint32_t id = wire_get32(m->bytes + 20);

	ck_assert_uint_lt(id, N_REQUESTS);
	ck_assert_int_eq(s->outcome[id].n_calls, 0);
	s->gone_ns[id] = f->now_ns + m->timeout_ms * MS;
	check_windows(s, id);
	if (!chance(s, s->loss_pct))
		storm_answer(s, m, id);
	else if (chance(s, s->return_pct)) {
		struct mad r = returned(m);

		deliver(f, fm_rng_below(&s->rng, 150) * MS, &r);
	}
}

static void
storm_init(struct storm *s, uint64_t seed)
{
	fake_init(&s->fake);
	fm_rng_seed(&s->rng, seed);
	s->fake.on_send = storm_send;
	s->loss_pct = fm_rng_below(&s->rng, 60);
	s->duplicate_pct = fm_rng_below(&s->rng, 50);
	s->refuse_pct = fm_rng_below(&s->rng, 20);
	s->busy_pct = fm_rng_below(&s->rng, 20);
	s->return_pct = fm_rng_below(&s->rng, 100);
	s->window_max = 1 + fm_rng_below(&s->rng, 60);
	s->per_node_max = 1 + fm_rng_below(&s->rng, 8);
}

START_TEST(storms)
{
	struct storm *s = calloc(1, sizeof(*s));
	struct txn_limits l = limits;
	struct txn_engine *e;
	bool cut_short = _i % 5 == 4;

	storm_init(s, (uint64_t)_i);
	l.window_max = (uint16_t)s->window_max;
	l.per_node_max = (uint16_t)s->per_node_max;
	e = s->engine = txn_new(&s->fake.base, &l, 0);
	for (uint32_t i = 0; i < N_REQUESTS; i++) {
		s->outcome[i].fake = &s->fake;
		get(e, i, NODE_OF(i), &s->outcome[i]);
		if (chance(s, 30))
			ck_assert_int_eq(txn_poll(e, s->fake.now_ns, NULL), 0);
	}
	if (cut_short)
		ck_assert_int_eq(txn_poll(e, s->fake.now_ns + 50 * MS, NULL), 0);
	else
		drain(e);
	txn_free(e);
	for (uint32_t i = 0; i < N_REQUESTS; i++) {
		const struct outcome *o = &s->outcome[i];

		ck_assert_int_eq(o->n_calls, 1);
		ck_assert(cut_short || o->status != TXN_CANCELLED);
		if (o->status == TXN_OK)
			ck_assert(s->answered[i] && o->modifier == i);
		if (o->status == TXN_REFUSED)
			ck_assert(s->refused[i] && o->modifier == i);
	}
	fake_fini(&s->fake);
	free(s);
}
END_TEST

/* ---- the adaptive window, on models of a fabric */

/* A server that takes cost(window) ns per answer: where does the window settle? */
static unsigned
settle(struct window *w, int64_t (*cost_ns)(unsigned), int n_answers)
{
	static int64_t now;
	uint64_t sum = 0;

	for (int i = 0; i < n_answers; i++) {
		now += cost_ns(w->size);
		if (window_answer(w))
			window_judge(w, now);
		if (i >= n_answers / 2)
			sum += w->size;
	}
	return (unsigned)(sum / (uint64_t)(n_answers / 2));
}

static int64_t
long_round_trip(unsigned window)
{
	return 1000000 / window;
}

static int64_t
cliff_at_64(unsigned window)
{
	return window > 64 ? 3000 * (int64_t)(window - 60) / 4 : 3000 + 20000 / window;
}

static int64_t
everything_slow(unsigned window)
{
	return 50000;
}

START_TEST(window_adapts)
{
	struct window w;
	unsigned at;

	window_init(&w, 4, 128);
	ck_assert_uint_eq(settle(&w, long_round_trip, 20000), 128);

	window_init(&w, 4, 128);
	at = settle(&w, cliff_at_64, 200000);
	ck_assert_uint_ge(at, 40);
	ck_assert_uint_le(at, 72);

	/* Dearer answers that are not our doing leave the window as it was. */
	at = w.size;
	ck_assert_uint_ge(settle(&w, everything_slow, 1000), at);
}
END_TEST

START_TEST(window_falls_on_loss)
{
	struct window w;

	window_init(&w, 4, 128);
	settle(&w, long_round_trip, 20000);
	window_loss(&w, 1000, 2000);
	ck_assert_uint_eq(w.size, 64);
	window_loss(&w, 1500, 3000); /* sent before the cut */
	ck_assert_uint_eq(w.size, 64);
	for (int i = 1; i < 20; i++)
		window_loss(&w, 10000 * i, 10000 * i + 1);
	ck_assert_uint_eq(w.size, 4);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("transact");
	TCase *t = tcase_create("transact");

	tcase_add_test(t, what_is_sent);
	tcase_add_test(t, mixed_ones);
	tcase_add_test(t, timeouts_double);
	tcase_add_test(t, own_time);
	tcase_add_loop_test(t, held_and_cancelled, 0, 2);
	tcase_add_test(t, late_and_duplicate);
	tcase_add_test(t, kernel_returns_it);
	tcase_add_test(t, strangers);
	tcase_add_test(t, strangers_by_lid);
	tcase_add_test(t, tries_to_come);
	tcase_add_test(t, forged_answers);
	tcase_add_test(t, refused_and_busy);
	tcase_add_test(t, failed_sends);
	tcase_add_test(t, per_node_window);
	tcase_add_test(t, silence_keeps_no_place);
	tcase_add_test(t, late_nodes_get_one);
	tcase_add_test(t, given_up);
	tcase_add_loop_test(t, given_up_between_tries, 0, 2);
	tcase_add_test(t, many_keys);
	tcase_add_test(t, callbacks_start_requests);
	tcase_add_test(t, unsolicited);
	tcase_add_loop_test(t, storms, 0, 100);
	tcase_add_test(t, window_adapts);
	tcase_add_test(t, window_falls_on_loss);
	suite_add_tcase(s, t);
	return run_suite(s);
}
