/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that means harm: what it can have is bounded, and others are served as before.
 * Counted in entries, bytes and turns, never in time.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry/held.h"
#include "core/rmpp/rmpp_port.h"
#include "core/sa/notices.h"
#include "core/server/server.h"
#include "core/server/share.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define N_HOSTS 16
#define PREFIX UINT64_C(0xfe80000000000000)
#define NS_PER_MS INT64_C(1000000)

static struct rig rig;
static struct sa_rig sa;

static uint64_t
guid_of(uint32_t n)
{
	return netlist_port(&rig.nl, rig_host(&rig, n), 1)->guid;
}

static uint16_t
lid_of(uint32_t n)
{
	return rig_host_lid(&rig, n);
}

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
	sa_tick(sa.sa, 0);
}

static void
teardown(void)
{
	sa_rig_fini(&sa);
	rig_fini(&rig);
}

/* ----------------------------------------------------- reports that nobody answers */

#define N_EVENTS 600
#define MOST_WAITING (65536 / 2 + 64)

struct heard {
	struct notices *n;
	uint16_t good_lid;
	uint32_t n_good, n_bad;	 /* Reports, with those repeated */
	uint64_t owed[N_EVENTS]; /* TIDs that the good one will answer */
	unsigned n_owed;
};

static void
hear(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	struct heard *h = arg;
	struct sa_header head;

	ck_assert_uint_eq(n_bytes, WIRE_MAD_BYTES);
	sa_header_get(bytes, &head);
	ck_assert_uint_eq(head.method, SA_REPORT);
	if (to->lid != h->good_lid) {
		h->n_bad++;
		return;
	}
	h->n_good++;
	h->owed[h->n_owed++] = head.tid;
}

static void
subscribe(uint32_t n, uint32_t qpn)
{
	struct sa_inform_info want = { .lid_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xffff,
		.trap_number = 0xffff,
		.qpn = qpn,
		.producer_type = 0xffffff };
	struct mad_addr from = { .lid = lid_of(n), .qpn = 1 };

	ck_assert_uint_eq(registry_inform(sa.registry, &want, guid_of(n),
			      (struct sa_gid){ PREFIX, guid_of(n) }, &from),
	    SA_OK);
}

static void
happen(struct heard *h, uint32_t i, int64_t now_ms)
{
	struct sa_notice e = { .n = { .generic = true,
				   .type = 1,
				   .producer_type = 1,
				   .trap_number = 256,
				   .issuer_lid = lid_of(3) } };

	e.n.details[20] = (uint8_t)i;
	e.n.details[21] = (uint8_t)(i >> 8);
	notices_tick(h->n, now_ms);
	notices_tell(h->n, sa.slot.view, &e, now_ms);
	while (h->n_owed > 0)
		notices_answered(h->n, guid_of(1), h->owed[--h->n_owed], now_ms);
}

/* One client has as many subscriptions as it may and answers nothing.  Who answers is told of
 * each event at once; the other holds a part of the memory, costs a part of each turn, and is
 * dropped in the end. */
START_TEST(reports_that_nobody_answers)
{
	struct heard h = { .good_lid = lid_of(1) };
	struct sa_out out = { hear, &h };
	const struct sa_report_counts *c;
	uint32_t n_turns = 0;
	int64_t now_ms = 0;

	h.n = notices_new(sa.registry, &out);
	c = notices_counts(h.n);
	for (uint32_t q = 0; q < 256; q++)
		subscribe(0, 2 + q);
	subscribe(1, 0);
	for (uint32_t i = 0; i < N_EVENTS; i++) {
		happen(&h, i, now_ms);
		ck_assert_uint_eq(h.n_good, i + 1);
		ck_assert_uint_le(c->waiting, MOST_WAITING);
	}
	ck_assert_uint_gt(c->waiting, 30000);
	ck_assert_uint_gt(c->untold, 0);
	while (registry_n_subscriptions(sa.registry) > 1 && n_turns++ < 10000) {
		uint32_t before = h.n_bad;
		int64_t due_ms = notices_tick(h.n, now_ms);

		ck_assert_uint_le(h.n_bad - before, 300);
		now_ms = due_ms > now_ms ? due_ms : now_ms;
		happen(&h, N_EVENTS + n_turns, now_ms);
		ck_assert_uint_eq(h.n_good, N_EVENTS + n_turns);
	}
	ck_assert_uint_eq(registry_n_subscriptions(sa.registry), 1);
	ck_assert_uint_eq(registry_subscription(sa.registry, 0)->client, guid_of(1));
	ck_assert_uint_eq(c->waiting, 0);
	ck_assert_uint_eq(c->dropped, 256);
	notices_free(h.n);
}
END_TEST

/* --------------------------------------------------- registrations without end */

/* Each host registers all it may; what a question looks at is counted, so that who asks it
 * pays with its turns. */
START_TEST(services_without_end)
{
	struct sa_service_record want = { .pkey = 0xffff, .name = "nobody" }, got;
	uint64_t before;
	uint32_t n;

	for (uint32_t h = 0; h < N_HOSTS; h++) {
		want.gid = (struct sa_gid){ PREFIX, guid_of(h) };
		for (n = 0; n < 2000; n++) {
			want.id = n;
			if (registry_set_service(sa.registry, &want, SA_SR_ID | SA_SR_GID,
				guid_of(h), false, 0, &got) != SA_OK)
				break;
		}
		ck_assert_uint_eq(n, 1024);
	}
	before = sa_counts(sa.sa)->looked_at;
	memset(want.name, 'x', sizeof(want.name));
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET_TABLE, SA_SERVICE_RECORD, SA_SR_NAME, &want), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 0);
	ck_assert_uint_eq(sa_counts(sa.sa)->looked_at - before, N_HOSTS * 1024);
}
END_TEST

/* A lease is over when it is over, among many that are not, however they were set. */
START_TEST(leases_among_many)
{
	struct sa_service_record want = { .pkey = 0xffff,
		.gid = { PREFIX, guid_of(0) },
		.lease_s = UINT32_MAX },
				 got;
	uint64_t mask = SA_SR_ID | SA_SR_GID | SA_SR_LEASE;

	for (want.id = 1; want.id <= 100; want.id++) {
		want.lease_s = want.id == 50 ? 10 : (uint32_t)(1000 + want.id);
		ck_assert_uint_eq(
		    registry_set_service(sa.registry, &want, mask, guid_of(0), false, 0, &got),
		    SA_OK);
	}
	ck_assert_int_eq(registry_tick(sa.registry, 9999), 10000);
	ck_assert_uint_eq(registry_n_services(sa.registry), 100);
	ck_assert_int_eq(registry_tick(sa.registry, 10000), 1001000);
	ck_assert_uint_eq(registry_n_services(sa.registry), 99);
	want.id = 70; /* shorter now */
	want.lease_s = 20;
	ck_assert_uint_eq(
	    registry_set_service(sa.registry, &want, mask, guid_of(0), false, 10000, &got), SA_OK);
	ck_assert_int_eq(registry_tick(sa.registry, 10000), 30000);
	registry_tick(sa.registry, 30000);
	ck_assert_uint_eq(registry_n_services(sa.registry), 98);
	ck_assert_int_eq(registry_tick(sa.registry, INT64_MAX - 1), INT64_MAX);
	ck_assert_uint_eq(registry_n_services(sa.registry), 0);
}
END_TEST

/* The same alias set and taken away for ever is one piece of news. */
START_TEST(aliases_without_end)
{
	uint64_t guid[8] = { 0 }, port;
	uint32_t n = 0;
	uint8_t block;

	for (int i = 0; i < 100000; i++) {
		guid[1 + i % 7] = 0;
		ck_assert_uint_eq(registry_set_aliases(sa.registry, guid_of(0), (uint8_t)(i % 2),
				      1u << (1 + i % 7), guid),
		    SA_OK);
		ck_assert_uint_eq(registry_delete_aliases(
				      sa.registry, guid_of(0), (uint8_t)(i % 2), 1u << (1 + i % 7)),
		    SA_OK);
	}
	while (registry_next_alias_block(sa.registry, &port, &block)) {
		ck_assert_uint_eq(port, guid_of(0));
		n++;
	}
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(registry_set_aliases(sa.registry, guid_of(0), 0, 2, guid), SA_OK);
	ck_assert(registry_next_alias_block(sa.registry, &port, &block));
}
END_TEST

/* ------------------------------------------------------------- half transfers */

/* A transport that counts what leaves, by LID, and takes no part in RMPP. */
static struct {
	struct transport t;
	struct sa_server *server;
	int64_t now_ns;
	uint64_t tid;
	struct {
		uint32_t n_first, n_plain, n_stop; /* first segments, whole answers, refusals */
		uint16_t status;		   /* of the last whole answer */
	} to[0xc000];
} wire;

static int
wire_send(struct transport *t, const struct mad *m, struct fm_error *err)
{
	struct sa_header h;

	(void)t;
	(void)err;
	sa_header_get(m->bytes, &h);
	if (!rmpp_is_active(m->bytes)) {
		wire.to[m->addr.lid].n_plain++;
		wire.to[m->addr.lid].status = h.status;
	} else if (h.rmpp_type == RMPP_STOP || h.rmpp_type == RMPP_ABORT) {
		wire.to[m->addr.lid].n_stop++;
	} else if (h.rmpp_type == RMPP_DATA && h.rmpp_data1 == 1) {
		wire.to[m->addr.lid].n_first++;
	}
	return 0;
}

static int64_t
wire_now(struct transport *t)
{
	(void)t;
	return wire.now_ns;
}

static int
wire_fd(struct transport *t)
{
	(void)t;
	return -1;
}

static void
open_wire(void)
{
	static const struct transport_ops ops = {
		.name = "wire", .send = wire_send, .now_ns = wire_now, .fd = wire_fd
	};
	struct fm_error err = { 0 };

	memset(&wire, 0, sizeof(wire));
	wire.t.ops = &ops;
	ck_assert_msg(sa_server_start(&wire.t, "", NULL, &wire.server, &err) == 0, "%s", err.msg);
	sa_server_publish(wire.server, sa_view_get(sa.slot.view));
}

static void
ask_wire(uint16_t lid, uint8_t method, uint16_t attr, bool half)
{
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = method,
		.attr = attr,
		.tid = ++wire.tid };
	struct mad m = { .addr = { .lid = lid, .qpn = 1 } };

	if (half) { /* the first segment of a request that never goes on */
		h.rmpp_version = 1;
		h.rmpp_type = RMPP_DATA;
		h.rmpp_flags = RMPP_ACTIVE | RMPP_FIRST;
		h.rmpp_data1 = 1;
		h.rmpp_data2 = 4000;
	}
	sa_header_put(m.bytes, &h);
	ck_assert(sa_server_on_mad(wire.server, &m));
}

static void
let_pass(int64_t ms)
{
	wire.now_ns += ms * NS_PER_MS;
	for (int i = 0; i < 10; i++)
		sa_server_step(wire.server);
}

/* Tables asked for and never acknowledged: so many are held for one, then it is refused; others
 * get theirs, and it again when its own are given up. */
START_TEST(tables_never_acknowledged)
{
	uint16_t bad = lid_of(0), good = lid_of(1);

	open_wire();
	for (int i = 0; i < 5000; i++)
		ask_wire(bad, SA_GET_TABLE, SA_PATH_RECORD, false);
	ck_assert_uint_eq(wire.to[bad].n_first + wire.to[bad].n_plain, 5000);
	ck_assert_uint_le(wire.to[bad].n_first, 256);
	ck_assert_uint_ne(wire.to[bad].status, SA_OK);
	ask_wire(good, SA_GET_TABLE, SA_PATH_RECORD, false);
	ck_assert_uint_eq(wire.to[good].n_first, 1);
	ask_wire(good, SA_GET, SA_CLASS_PORT_INFO, false);
	ck_assert_uint_eq(wire.to[good].n_plain, 1);
	ck_assert_uint_eq(wire.to[good].status, SA_OK);
	ask_wire(bad, SA_GET, SA_CLASS_PORT_INFO, false); /* it is not banned */
	ck_assert_uint_eq(wire.to[bad].status, SA_OK);
	for (int i = 0; i < 10; i++)
		let_pass(10000);
	wire.to[bad].n_first = 0;
	ask_wire(bad, SA_GET_TABLE, SA_PATH_RECORD, false);
	ck_assert_uint_eq(wire.to[bad].n_first, 1);
	sa_server_stop(wire.server);
}
END_TEST

/* Long ones: what is held is bounded in bytes before it is in number. */
START_TEST(long_tables_never_acknowledged)
{
	uint16_t bad, good;
	size_t each;

	teardown();
	rig_generate(&rig.nl, "pgft 2 8,8 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, 0, NULL), SA_OK);
	each = sa.n_bytes;
	ck_assert_uint_gt(each, 300000);
	bad = lid_of(0);
	good = lid_of(1);
	open_wire();
	for (int i = 0; i < 1000; i++)
		ask_wire(bad, SA_GET_TABLE, SA_PATH_RECORD, false);
	ck_assert_uint_le(wire.to[bad].n_first * each, (64u << 20) + each);
	ck_assert_uint_gt(wire.to[bad].n_first * each, 60u << 20);
	ck_assert_uint_eq(wire.to[bad].status, WIRE_STATUS_BUSY);
	ask_wire(good, SA_GET_TABLE, SA_PATH_RECORD, false);
	ck_assert_uint_eq(wire.to[good].n_first, 1);
	sa_server_stop(wire.server);
}
END_TEST

/* Requests begun and never ended: sixteen of one are kept waiting for their rest. */
START_TEST(half_requests)
{
	uint16_t bad = lid_of(0), good = lid_of(1);

	open_wire();
	for (int i = 0; i < 5000; i++)
		ask_wire(bad, SA_GET_MULTI, SA_MULTI_PATH_RECORD, true);
	ck_assert_uint_eq(wire.to[bad].n_stop, 5000 - 16);
	ask_wire(good, SA_GET_MULTI, SA_MULTI_PATH_RECORD, true);
	ck_assert_uint_eq(wire.to[good].n_stop, 0);
	ask_wire(bad, SA_GET, SA_CLASS_PORT_INFO, false);
	ck_assert_uint_eq(wire.to[bad].status, SA_OK);
	for (int i = 0; i < 10; i++)
		let_pass(10000);
	wire.to[bad].n_stop = 0;
	ask_wire(bad, SA_GET_MULTI, SA_MULTI_PATH_RECORD, true);
	ck_assert_uint_eq(wire.to[bad].n_stop, 0);
	sa_server_stop(wire.server);
}
END_TEST

/* What is held for one and for all wears off; memory is bounded whoever asks whenever. */
START_TEST(what_is_held_wears_off)
{
	struct sa_held_limits l = { .client_max = 10000, .all_max = 40000, .hold_ms = 10000 };
	struct sa_held *h = sa_held_new(&l);
	uint64_t given[3] = { 0 }, of_all = 0;
	struct fm_rng rng;

	sa_held_add(h, 1, 9000, 0);
	ck_assert(sa_held_may(h, 1, 0));
	sa_held_add(h, 1, 9000, 0);
	ck_assert(!sa_held_may(h, 1, 0));
	ck_assert(sa_held_may(h, 2, 0));
	ck_assert(!sa_held_may(h, 1, 8000));
	ck_assert(sa_held_may(h, 1, 9000));
	sa_held_free(h);
	/* in any 10 s at most what the header says, by one and by all */
	h = sa_held_new(&l);
	fm_rng_seed(&rng, 1);
	for (int64_t ms = 0; ms < 100000; ms++) {
		uint16_t lid = (uint16_t)(ms % 50 == 0 ? 2 : 3 + fm_rng_below(&rng, 1000));

		if (ms % 10000 == 0) {
			ck_assert_uint_le(given[2], 2 * 10000 + 5000 + 256);
			ck_assert_uint_le(of_all, 2 * 40000 + 5000 + 256);
			given[2] = of_all = 0;
		}
		if (!sa_held_may(h, lid, ms))
			continue;
		sa_held_add(h, lid, 5000, ms);
		of_all += 5000;
		given[2] += lid == 2 ? 5000 : 0;
	}
	ck_assert_uint_gt(of_all, 20000);
	sa_held_free(h);
}
END_TEST

/* More paths than may be looked at for one question are refused before the first is. */
START_TEST(paths_of_the_whole_world)
{
	uint32_t n = sa.slot.view->n_ends;
	uint64_t before;

	sa.set.most_paths = n * n;
	sa_rig_publish(&sa);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, 0, NULL), SA_OK);
	sa.set.most_paths = n * n - 1;
	sa_rig_publish(&sa);
	before = sa_counts(sa.sa)->looked_at;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, 0, NULL), SA_NO_RESOURCES);
	ck_assert_uint_eq(sa_counts(sa.sa)->looked_at, before);
	sa.from.lid = 0xbffe; /* who sees nothing has nothing to look at */
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_PATH_RECORD, 0, NULL), SA_OK);
	ck_assert_uint_eq(sa_rig_n(&sa), 0);
}
END_TEST

/* --------------------------------------------------------------- every question */

/* Each method of each attribute, known or not, under no mask, all of it, each bit and some
 * at random, over nothing and over anything: one answer to each that has one, by whoever asks. */
START_TEST(every_attribute_method_and_mask)
{
	static const uint8_t methods[] = { 0, SA_GET, SA_SET, 3, 5, SA_REPORT, SA_GET_TABLE,
		SA_GET_TRACE_TABLE, SA_GET_MULTI, SA_DELETE, 0x7f };
	struct registry_settings limits;
	struct fm_rng rng;
	uint32_t n = 0;

	fm_rng_seed(&rng, 11 + (uint64_t)_i);
	registry_settings_default(&limits);
	limits.max_services = limits.max_subscriptions = limits.groups.max_joins = 10;
	registry_configure(sa.registry, &limits);
	for (uint32_t attr = 0; attr < 0x100; attr++)
		for (uint32_t k = 0; k < N_OF(methods) * 68; k++) {
			unsigned bit = k / (uint32_t)N_OF(methods);
			struct sa_header h = { .base_version = 1,
				.mgmt_class = WIRE_CLASS_SA,
				.class_version = SA_CLASS_VERSION,
				.method = methods[k % N_OF(methods)],
				.attr = (uint16_t)attr,
				.modifier = (uint32_t)fm_rng_next(&rng),
				.sm_key = fm_rng_below(&rng, 2),
				.tid = n,
				.mask = bit < 64 ? SA_BIT(bit)
				    : bit == 64	 ? 0
						 : fm_rng_next(&rng) };
			uint8_t mad[WIRE_MAD_BYTES] = { 0 };
			bool expected;

			if (bit == 65)
				h.mask = UINT64_MAX;
			if (sa_record_of(h.attr) == NULL && bit > 1)
				continue;
			for (unsigned b = SA_DATA_AT; b < sizeof(mad) && _i > 0; b++)
				mad[b] = fm_rng_below(&rng, (uint32_t)_i + 1)
				    ? 0
				    : (uint8_t)fm_rng_next(&rng);
			sa_header_put(mad, &h);
			sa.from.lid = lid_of(fm_rng_below(&rng, N_HOSTS));
			sa.n_answers = 0;
			sa_handle(sa.sa, &sa.from, mad, sizeof(mad), n);
			/* Send and Trap have none (IBA 13.4.5) */
			expected = h.method != WIRE_SEND && h.method != WIRE_TRAP;
			ck_assert_msg(sa.n_answers == expected,
			    "attribute 0x%x method 0x%x mask 0x%jx: %u", attr, h.method,
			    (uintmax_t)h.mask, sa.n_answers);
			if (expected)
				ck_assert_uint_eq(sa.h.tid, n);
			n++;
		}
	ck_assert_uint_gt(n, 15000);
	ck_assert_uint_le(registry_n_services(sa.registry), N_HOSTS * 10);
	ck_assert_uint_le(registry_n_subscriptions(sa.registry), N_HOSTS * 10);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("hostile");
	TCase *t = tcase_create("hostile");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, reports_that_nobody_answers);
	tcase_add_test(t, services_without_end);
	tcase_add_test(t, leases_among_many);
	tcase_add_test(t, aliases_without_end);
	tcase_add_test(t, tables_never_acknowledged);
	tcase_add_test(t, long_tables_never_acknowledged);
	tcase_add_test(t, half_requests);
	tcase_add_test(t, what_is_held_wears_off);
	tcase_add_test(t, paths_of_the_whole_world);
	tcase_add_loop_test(t, every_attribute_method_and_mask, 0, 3);
	suite_add_tcase(s, t);
	return run_suite(s);
}
