/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_silence - nodes that do not answer, beside nodes that do.  Whatever their number, they
 * cost the time of one, and nobody who answers waits for them.
 *
 * The fabric here is a model: a node answers after TRIP_NS or is silent; its number is the
 * request's modifier.
 */
#include <check.h>
#include <stdlib.h>

#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/fake_transport.h"

#define TRIP_NS INT64_C(50000)
#define N_NODES 2000
#define N_HEALTHY 10
#define FIRST_SILENT 100
#define SWITCH 7 /* a healthy one */

/* As fmd.conf has them. */
static const struct txn_limits limits = {
	.timeout_ms = 200, .n_retries = 3, .window_max = 64, .per_node_max = 4
};
#define ONE_SILENT_NS ((200 + 400 + 800 + 1600) * MS)
#define SLACK_NS (50 * MS)

struct fabric {
	struct fake fake;
	struct txn_engine *engine;
	struct fm_rng rng;
	unsigned loss_pct;
	bool silent[N_NODES];
	bool all_silent;
	unsigned n_ok, n_silent_done;
	unsigned n_to_find;    /* silent ones; each answer of another leads to one */
	unsigned out[N_NODES]; /* not of those beyond */
	unsigned window_max;
};

static void
answer_or_not(struct fake *f, const struct mad *m)
{
	struct fabric *fab = (struct fabric *)f;
	uint32_t node = wire_get32(m->bytes + 20);
	struct mad r;

	if (fab->all_silent || fab->silent[node] || fm_rng_below(&fab->rng, 100) < fab->loss_pct)
		return;
	r = answer_to(m, 0);
	deliver(f, TRIP_NS + fm_rng_below(&fab->rng, TRIP_NS), &r);
}

static void
fabric_init(struct fabric *fab, const struct txn_limits *l, uint64_t seed)
{
	*fab = (struct fabric){ 0 };
	fake_init(&fab->fake);
	fab->fake.on_send = answer_or_not;
	fm_rng_seed(&fab->rng, seed);
	fab->engine = txn_new(&fab->fake.base, l, 0);
	ck_assert_ptr_nonnull(fab->engine);
}

static void
fabric_fini(struct fabric *fab)
{
	txn_free(fab->engine);
	fake_fini(&fab->fake);
}

static void ask(struct fabric *fab, uint32_t node, uint64_t key);

static void
count(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct fabric *fab = arg;

	fab->n_ok += status == TXN_OK;
	fab->n_silent_done += status == TXN_TIMEOUT;
	if (status == TXN_OK && fab->n_to_find > 0) {
		uint32_t node = wire_get32(reply + 20);
		uint32_t found = FIRST_SILENT + --fab->n_to_find;

		ask(fab, found, found);
		ask(fab, node, node);
	}
}

static void
ask(struct fabric *fab, uint32_t node, uint64_t key)
{
	static const struct smp_route route = { .directed = true, .n_hops = 1, .path = { 0, 1 } };

	txn_smp(fab->engine, &route, WIRE_GET, WIRE_ATTR_PORT_INFO, node, NULL, key, count, fab);
}

static void
ask_beyond(struct fabric *fab, uint32_t node, uint64_t key)
{
	static const struct smp_route route = {
		.directed = true, .n_hops = 2, .path = { 0, 1, 2 }, .beyond = true
	};

	txn_smp(fab->engine, &route, WIRE_GET, WIRE_ATTR_NODE_INFO, node, NULL, key, count, fab);
}

static void
poll_until(struct fabric *fab, int64_t until_ns)
{
	while (fab->fake.now_ns < until_ns)
		ck_assert_int_eq(txn_poll(fab->engine, until_ns, NULL), 0);
}

static void
drain(struct fabric *fab)
{
	struct fm_error err = { 0 };

	ck_assert_int_eq(txn_drain(fab->engine, NULL, NULL, &err), 0);
}

static void
silence(struct fabric *fab, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fab->silent[FIRST_SILENT + i] = true;
}

/* Until the window is as wide as it gets. */
static void
warm_up(struct fabric *fab)
{
	for (unsigned i = 0; i < 20000 && txn_window(fab->engine) < limits.window_max; i++) {
		ask(fab, 1 + i % N_HEALTHY, 0);
		if (txn_outstanding(fab->engine) > 2 * limits.window_max)
			ck_assert_int_eq(
			    txn_poll(fab->engine, fab->fake.now_ns + TRIP_NS, NULL), 0);
	}
	drain(fab);
	fab->n_ok = fab->n_silent_done = 0;
}

/* As a fabric is discovered: what answers leads to more, here to the n silent ones. */
static void
discover(struct fabric *fab, unsigned n)
{
	silence(fab, n);
	fab->n_to_find = n;
	for (uint32_t node = 1; node <= N_HEALTHY; node++)
		ask(fab, node, node);
}

static const unsigned numbers[] = { 1, 20, 100, 300, 1000 };

/* However many never answer, all is over when the tries of one are. */
START_TEST(many_cost_as_one)
{
	struct fabric fab;
	unsigned n = numbers[_i];
	int64_t start;

	fabric_init(&fab, &limits, 1);
	start = fab.fake.now_ns;
	discover(&fab, n);
	drain(&fab);
	ck_assert_uint_eq(fab.n_silent_done, n);
	ck_assert_uint_eq(fab.n_ok, n + N_HEALTHY);
	ck_assert_int_le(fab.fake.now_ns - start, ONE_SILENT_NS + SLACK_NS);
	ck_assert_uint_eq(txn_counts(fab.engine)->sent, n * (1 + 4) + N_HEALTHY);
	fabric_fini(&fab);
}
END_TEST

static const unsigned ports[] = { 1, 20, 64 };

/* So too where all of them are behind one switch, and its own answers do not wait. */
START_TEST(many_behind_one_switch)
{
	struct fabric fab;
	unsigned n = ports[_i];
	int64_t start;

	fabric_init(&fab, &limits, 1);
	silence(&fab, n);
	ask(&fab, SWITCH, SWITCH);
	drain(&fab);
	start = fab.fake.now_ns;
	for (unsigned i = 0; i < n; i++)
		ask_beyond(&fab, FIRST_SILENT + i, SWITCH);
	poll_until(&fab, start + 190 * MS);
	for (int k = 0; k < 30; k++) { /* on, into the retries */
		unsigned n_ok = fab.n_ok;

		ask(&fab, SWITCH, SWITCH);
		poll_until(&fab, fab.fake.now_ns + 2 * TRIP_NS);
		ck_assert_uint_eq(fab.n_ok, n_ok + 1);
		poll_until(&fab, fab.fake.now_ns + 1 * MS);
	}
	drain(&fab);
	ck_assert_uint_eq(fab.n_silent_done, n);
	ck_assert_int_le(fab.fake.now_ns - start, ONE_SILENT_NS + SLACK_NS);
	fabric_fini(&fab);
}
END_TEST

/* A request to a node that answers goes at once, whatever silent ones wait for. */
START_TEST(who_answers_never_waits)
{
	struct fabric fab;
	unsigned n = numbers[_i];

	fabric_init(&fab, &limits, 1);
	warm_up(&fab);
	discover(&fab, n);
	for (int k = 0; k < 200; k++) { /* till they are known to be late */
		ask(&fab, SWITCH, SWITCH);
		poll_until(&fab, fab.fake.now_ns + 1 * MS);
	}
	for (int k = 0; k < 2000 && txn_outstanding(fab.engine) > 0; k++) {
		size_t n_sent;
		unsigned n_ok = fab.n_ok;

		poll_until(&fab, fab.fake.now_ns + fm_rng_below(&fab.rng, 2 * MS));
		n_sent = fab.fake.sent.n;
		ask(&fab, 1 + (uint32_t)k % N_HEALTHY, 1 + (uint32_t)k % N_HEALTHY);
		ck_assert_uint_gt(fab.fake.sent.n, n_sent);
		poll_until(&fab, fab.fake.now_ns + 2 * TRIP_NS);
		ck_assert_uint_eq(fab.n_ok, n_ok + 1);
	}
	drain(&fab);
	ck_assert_uint_eq(txn_window(fab.engine), limits.window_max); /* no congestion */
	fabric_fini(&fab);
}
END_TEST

/* One loss of each node that had answered is a sign, and no more; of nodes without a key
 * nothing is known. */
START_TEST(what_narrows_the_window)
{
	struct fabric fab;

	fabric_init(&fab, &limits, 1);
	warm_up(&fab);
	silence(&fab, 3);
	ask(&fab, FIRST_SILENT, FIRST_SILENT);
	ask(&fab, FIRST_SILENT + 1, 0);
	ask_beyond(&fab, FIRST_SILENT + 2, SWITCH);
	drain(&fab);
	ck_assert_uint_eq(fab.n_silent_done, 3);
	ck_assert_uint_eq(txn_window(fab.engine), limits.window_max);
	ask(&fab, 1, 1);
	drain(&fab);
	fab.silent[1] = true;
	for (int i = 0; i < 3; i++) {
		ask(&fab, 1, 1);
		drain(&fab);
	}
	ck_assert_uint_eq(txn_window(fab.engine), limits.window_max / 2);
	fabric_fini(&fab);
}
END_TEST

/* When nothing at all is answered it is not the nodes that are silent: no flood. */
START_TEST(no_flood_into_a_stall)
{
	struct fabric fab;
	int64_t start;

	fabric_init(&fab, &limits, 1);
	warm_up(&fab);
	fab.all_silent = true;
	fab.fake.sent.n = 0;
	start = fab.fake.now_ns;
	for (uint32_t i = 0; i < 1000; i++)
		ask(&fab, 1 + i, 1 + i);
	poll_until(&fab, start + 199 * MS);
	ck_assert_uint_le(fab.fake.sent.n, 3 * limits.window_max);
	fab.all_silent = false;
	drain(&fab);
	ck_assert_uint_eq(fab.n_ok, 1000);
	ck_assert_int_le(fab.fake.now_ns - start, ONE_SILENT_NS);
	fabric_fini(&fab);
}
END_TEST

/* Who was silent before may be asked so that nobody waits for long, nor takes it for congestion. */
START_TEST(brief_ones)
{
	static const struct smp_route route = {
		.directed = true, .n_hops = 1, .path = { 0, 1 }, .brief = true
	};
	struct fabric fab;
	int64_t start;

	fabric_init(&fab, &limits, 1);
	warm_up(&fab);
	silence(&fab, 300);
	start = fab.fake.now_ns;
	fab.fake.sent.n = 0;
	for (uint32_t i = 0; i < 300; i++)
		txn_smp(fab.engine, &route, WIRE_GET, WIRE_ATTR_NODE_INFO, FIRST_SILENT + i, NULL,
		    1 + i % N_HEALTHY, count, &fab);
	txn_smp(
	    fab.engine, &route, WIRE_GET, WIRE_ATTR_NODE_INFO, SWITCH, NULL, SWITCH, count, &fab);
	drain(&fab);
	ck_assert_uint_eq(fab.n_silent_done, 300);
	ck_assert_uint_eq(fab.n_ok, 1);
	ck_assert_uint_eq(fab.fake.sent.n, 301);
	ck_assert_int_le(fab.fake.now_ns - start, 300 / N_HEALTHY / limits.per_node_max * 30 * MS);
	ck_assert_uint_eq(txn_window(fab.engine), limits.window_max);
	fabric_fini(&fab);
}
END_TEST

/* What arrived while the program was busy is taken before a try is called lost. */
START_TEST(answers_that_wait_are_no_losses)
{
	struct fabric fab;

	fabric_init(&fab, &limits, 1);
	warm_up(&fab);
	for (uint32_t i = 0; i < 50; i++)
		ask(&fab, 1 + i, 1 + i);
	fab.fake.now_ns += 300 * MS;
	drain(&fab);
	ck_assert_uint_eq(fab.n_ok, 50);
	ck_assert_uint_eq(txn_counts(fab.engine)->retries, 0);
	ck_assert_uint_eq(txn_window(fab.engine), limits.window_max);
	fabric_fini(&fab);
}
END_TEST

/* ---- random rounds */

#define N_REQUESTS 1500
#define STORM_NODES 300

struct asked {
	struct fabric *fab;
	uint32_t node;
	bool beyond;
	int n_calls;
};

static void
settle(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct asked *a = arg;

	a->n_calls++;
	ck_assert_int_eq(a->n_calls, 1);
	a->fab->out[a->node] -= !a->beyond;
	count(a->fab, status, reply);
}

static void
look_and_answer(struct fake *f, const struct mad *m)
{
	struct fabric *fab = (struct fabric *)f;
	struct txn_places p = txn_places(fab->engine);

	ck_assert_uint_le(p.window, fab->window_max);
	ck_assert_uint_le(p.lane, fab->window_max);
	ck_assert_uint_le(p.unproven, 2 * fab->window_max);
	ck_assert_uint_le(p.unproven, p.parked);
	ck_assert_uint_le(p.window + p.lane + p.parked, txn_outstanding(fab->engine));
	answer_or_not(f, m);
}

START_TEST(storms)
{
	struct asked *all = calloc(N_REQUESTS, sizeof(*all));
	struct txn_limits l = limits;
	struct fabric fab;
	unsigned silent_pct;

	fabric_init(&fab, &limits, (uint64_t)_i);
	txn_free(fab.engine);
	l.window_max = (uint16_t)(1 + fm_rng_below(&fab.rng, 128));
	l.per_node_max = (uint16_t)(1 + fm_rng_below(&fab.rng, 8));
	l.n_retries = (uint8_t)fm_rng_below(&fab.rng, 10);
	l.timeout_ms = 1 + (uint32_t)fm_rng_below(&fab.rng, 200);
	fab.engine = txn_new(&fab.fake.base, &l, 0);
	fab.window_max = l.window_max;
	fab.fake.on_send = look_and_answer;
	fab.loss_pct = (unsigned)fm_rng_below(&fab.rng, 30);
	silent_pct = (unsigned)fm_rng_below(&fab.rng, 100);
	for (uint32_t i = 0; i < STORM_NODES; i++)
		fab.silent[i] = fm_rng_below(&fab.rng, 100) < silent_pct;
	for (uint32_t i = 0; i < N_REQUESTS; i++) {
		struct smp_route route = { .directed = true, .n_hops = 1, .path = { 0, 1 } };
		uint64_t key = fm_rng_below(&fab.rng, 50);

		all[i] = (struct asked){ .fab = &fab,
			.node = (uint32_t)fm_rng_below(&fab.rng, STORM_NODES),
			.beyond = fm_rng_below(&fab.rng, 3) == 0 };
		route.beyond = all[i].beyond;
		route.brief = fm_rng_below(&fab.rng, 8) == 0;
		route.max_tries = fm_rng_below(&fab.rng, 10) == 0 ? 2 : 0;
		fab.out[all[i].node] += !all[i].beyond;
		txn_smp(fab.engine, &route, WIRE_GET, WIRE_ATTR_PORT_INFO, all[i].node, NULL, key,
		    settle, &all[i]);
		if (fm_rng_below(&fab.rng, 4) == 0)
			poll_until(
			    &fab, fab.fake.now_ns + fm_rng_below(&fab.rng, (uint32_t)(4 * MS)));
		if (fm_rng_below(&fab.rng, 100) == 0) /* some go silent, some come back */
			fab.silent[fm_rng_below(&fab.rng, STORM_NODES)] ^= true;
		if (fm_rng_below(&fab.rng, 200) == 0)
			txn_give_up(fab.engine, fm_rng_below(&fab.rng, 50));
		if (fm_rng_below(&fab.rng, 200) == 0)
			fab.fake.now_ns += fm_rng_below(&fab.rng, (uint32_t)(300 * MS));
	}
	if (_i % 5 != 4)
		drain(&fab);
	fabric_fini(&fab);
	for (uint32_t i = 0; i < N_REQUESTS; i++)
		ck_assert_int_eq(all[i].n_calls, 1);
	free(all);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("silence");
	TCase *t = tcase_create("silence");

	tcase_add_loop_test(t, many_cost_as_one, 0, 5);
	tcase_add_loop_test(t, many_behind_one_switch, 0, 3);
	tcase_add_loop_test(t, who_answers_never_waits, 0, 5);
	tcase_add_test(t, what_narrows_the_window);
	tcase_add_test(t, no_flood_into_a_stall);
	tcase_add_test(t, brief_ones);
	tcase_add_test(t, answers_that_wait_are_no_losses);
	tcase_add_loop_test(t, storms, 0, (int)n_cases(200));
	suite_add_tcase(s, t);
	return run_suite(s);
}
