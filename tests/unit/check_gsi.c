/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is no SMP, between places of the fixture's fabric: counters that follow
 * it, keys that it must have, and the traps that tell of wrong ones.
 * LIDs: H1 = 1 (where we are, and the SM), H2 = 2, S1 = 11, S2 = 12.
 */
#include <stdlib.h>

#include "lab/fmsim/console.h"
#include "lab/sim/net.h"
#include "lab/sim/pma.h"
#include "tests/run.h"
#include "tests/unit/sim_fixture.h"

#define PERFORMANCE 0x04
#define PORT_COUNTERS 0x12
#define EXTENDED 0x1D
#define PMA_DATA 64
#define QP1_QKEY 0x80010000

static void
setup_active(void)
{
	setup();
	configure();
	activate();
	ck_assert(pma_start(sim_fabric(sim)));
	wait_ms(500); /* the traps of all this */
	n_arrived = 0;
}

static struct mad
pma_request(uint16_t lid, uint8_t method, uint16_t attr, uint8_t port, uint16_t select)
{
	struct mad m = request(PERFORMANCE, method, attr, 0, NULL);

	m.addr = (struct mad_addr){ .lid = lid, .qpn = 1, .qkey = QP1_QKEY };
	memset(m.bytes + 24, 0, MAD_BYTES - 24);
	m.bytes[PMA_DATA + 1] = port;
	wire_put16(m.bytes + PMA_DATA + 2, select);
	return m;
}

static const uint8_t *
counters_of(uint16_t lid, uint8_t port, uint16_t attr)
{
	struct mad m = pma_request(lid, WIRE_GET, attr, port, 0);
	const struct mad *a = ask(&m);

	ck_assert_uint_eq(status_of(a), 0);
	return a->bytes + PMA_DATA;
}

/* A trap of this number that has come to us, or NULL. */
static const uint8_t *
trap_numbered(uint16_t number, struct wire_notice *w)
{
	wait_ms(30);
	for (unsigned i = 0; i < n_arrived; i++) {
		const uint8_t *b = arrived[i].bytes;

		if (b[MAD_METHOD] != WIRE_TRAP)
			continue;
		wire_notice_get(b + WIRE_SMP_DATA_AT, w);
		if (w->trap_number == number)
			return b;
	}
	return NULL;
}

/* ------------------------------------------------------------------ counters */

START_TEST(counters_follow_packets)
{
	uint32_t sent = wire_get32(counters_of(2, 1, PORT_COUNTERS) + 32), received;
	struct mad m = pma_request(2, WIRE_GET, PORT_COUNTERS, 1, 0);

	for (int i = 0; i < 10; i++)
		ck_assert_ptr_nonnull(ask(&m));
	/* ten answers more, and that to the first question; 72 words each */
	ck_assert_uint_eq(wire_get32(counters_of(2, 1, PORT_COUNTERS) + 32), sent + 11);
	received = wire_get32(counters_of(2, 1, PORT_COUNTERS) + 36);
	ck_assert_uint_eq(wire_get32(counters_of(2, 1, PORT_COUNTERS) + 28), (received + 1) * 72);
	/* on the way, too, at both ends of the link between the switches */
	ck_assert_uint_ge(wire_get64(counters_of(11, 2, EXTENDED) + 24), 13);
	ck_assert_uint_ge(wire_get64(counters_of(12, 1, EXTENDED) + 32), 13);
	/* not on the parallel link */
	ck_assert_uint_eq(wire_get64(counters_of(11, 4, EXTENDED) + 24), 0);
}
END_TEST

START_TEST(counters_are_set_and_stick)
{
	struct mad m = pma_request(2, WIRE_SET, PORT_COUNTERS, 1, 0x0003);
	uint64_t *c = sim_fabric(sim)->counters[sim_fabric(sim)->nodes[H2].first_port + 1];
	const uint8_t *data;

	wire_put16(m.bytes + PMA_DATA + 4, 0xfffe);
	m.bytes[PMA_DATA + 6] = 7;
	m.bytes[PMA_DATA + 7] = 9; /* not selected */
	ck_assert_uint_eq(status_of(ask(&m)), 0);
	ck_assert_uint_eq(c[COUNT_SYMBOL_ERRORS], 0xfffe);
	ck_assert_uint_eq(c[COUNT_LINK_RECOVERED], 7);
	ck_assert_uint_eq(c[COUNT_LINK_DOWNED], 0);
	c[COUNT_SYMBOL_ERRORS] += 100;
	c[COUNT_LINK_INTEGRITY] = 3;
	c[COUNT_BUFFER_OVERRUN] = 99;
	c[COUNT_XMIT_DATA] = UINT64_C(1) << 40;
	data = counters_of(2, 1, PORT_COUNTERS);
	ck_assert_uint_eq(wire_get16(data + 4), 0xffff);
	ck_assert_uint_eq(data[19], 0x3f);
	ck_assert_uint_eq(wire_get32(data + 24), UINT32_MAX);
	ck_assert_uint_ge(wire_get64(counters_of(2, 1, EXTENDED) + 8), UINT64_C(1) << 40);
}
END_TEST

START_TEST(counters_of_all_ports_and_of_none)
{
	struct mad m = pma_request(11, WIRE_GET, PORT_COUNTERS, 9, 0);
	uint64_t sum = 0, one;

	ck_assert_uint_eq(status_of(ask(&m)), WIRE_STATUS_BAD_VALUE);
	m = pma_request(11, WIRE_GET, 0x77, 1, 0);
	ck_assert_uint_eq(status_of(ask(&m)), WIRE_STATUS_BAD_METHOD_ATTR);
	sim_unlink(sim, S1, 4);
	sim_unlink(sim, S1, 3);
	for (uint8_t port = 0; port <= SWITCH_PORTS; port++) {
		one = counters_of(11, port, PORT_COUNTERS)[7];
		ck_assert_uint_eq(one, port == 3 || port == 4);
		sum += one;
	}
	ck_assert_uint_eq(counters_of(11, 255, PORT_COUNTERS)[7], sum);
}
END_TEST

/* ---------------------------------------------------------------------- keys */

static void
set_pkeys(const char *hops, uint32_t port, uint16_t first, uint16_t second)
{
	uint16_t keys[32] = { first, second };
	uint8_t data[64];

	wire_pkeys_put(data, keys);
	ck_assert_uint_eq(set(hops, WIRE_ATTR_PKEY_TABLE, port << 16, data), 0);
}

START_TEST(partitions_are_apart)
{
	static const struct {
		uint16_t ours, his;
		bool passes;
	} rows[] = { { 0xffff, 0xffff, true }, { 0xffff, 0x7fff, true }, { 0x7fff, 0xffff, true },
		{ 0x7fff, 0x7fff, false }, { 0x8001, 0x8001, true }, { 0x8001, 0x8002, false },
		{ 0x8001, 0x0001, true }, { 0x0001, 0x0001, false }, { 0, 0xffff, false } };
	struct mad m = pma_request(2, WIRE_GET, PORT_COUNTERS, 1, 0);
	struct wire_notice w;

	set_pkeys("", 0, rows[_i].ours, 0);
	set_pkeys("\1\2\2", 0, rows[_i].his, 0);
	ck_assert_int_eq(ask(&m) != NULL, rows[_i].passes);
	if (rows[_i].passes || rows[_i].ours == 0)
		return;
	ck_assert_ptr_nonnull(trap_numbered(257, &w));
	ck_assert_uint_eq(w.type, 2);
	ck_assert_uint_eq(w.issuer_lid, 2);
	ck_assert_uint_eq(wire_get16(w.details + 2), 1); /* from LID, to LID, key */
	ck_assert_uint_eq(wire_get16(w.details + 4), 2);
	ck_assert_uint_eq(wire_get32(w.details + 6), rows[_i].ours);
	ck_assert_uint_eq(get_port("\1\2\2", 1).p_key_violations, 1);
}
END_TEST

/* The second key of the table, by its index; the answer comes by the place the
 * key has at the other side. */
START_TEST(pkey_index)
{
	struct mad m = pma_request(2, WIRE_GET, PORT_COUNTERS, 1, 0);
	const struct mad *a;

	set_pkeys("", 0, 0x8005, 0x8001);
	set_pkeys("\1\2\2", 0, 0x8001, 0);
	ck_assert_ptr_null(ask(&m));
	m.addr.pkey_index = 1;
	a = ask(&m);
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->addr.pkey_index, 1);
	m.addr.pkey_index = 2; /* an empty row */
	ck_assert_ptr_null(ask(&m));
}
END_TEST

/* Ends that have the key, switches between them that do not. */
START_TEST(switches_enforce)
{
	struct wire_port_info pi = edit_port("\1\2", 2);
	struct mad m = pma_request(2, WIRE_GET, PORT_COUNTERS, 1, 0);
	struct wire_notice w;

	set_pkeys("\1\2", 2, 0x8001, 0); /* S2, to H2 */
	ck_assert_ptr_nonnull(ask(&m));
	if (_i == 0)
		pi.partition_enforce_out = 1;
	else
		pi.partition_enforce_in = 1;
	ck_assert_uint_eq(set_port("\1\2", 2, &pi), 0);
	ck_assert_ptr_null(ask(&m));
	ck_assert_ptr_nonnull(trap_numbered(259, &w));
	ck_assert_uint_eq(w.issuer_lid, 12);
	ck_assert_uint_eq(wire_get16(w.details + 6), 0xffff);
	ck_assert_uint_eq(wire_get16(w.details + 48), 12);
	ck_assert_uint_eq(w.details[50], 2);
	ck_assert_uint_eq(counters_of(12, 2, PORT_COUNTERS)[16 + _i], 1);
	/* SMPs pass */
	ck_assert_ptr_nonnull(get("\1\2\2", WIRE_ATTR_NODE_INFO, 0));
	set_pkeys("\1\2", 2, 0x8001, 0x7fff); /* the lower 15 bits are enough here */
	ck_assert_ptr_nonnull(ask(&m));
	set_pkeys("", 0, 0x7fff, 0);
	ck_assert_ptr_nonnull(ask(&m));
}
END_TEST

START_TEST(q_key)
{
	struct mad m = pma_request(2, WIRE_GET, PORT_COUNTERS, 1, 0);
	struct wire_notice w;

	m.addr.qkey = 0x1234;
	ck_assert_ptr_null(ask(&m));
	ck_assert_ptr_nonnull(trap_numbered(258, &w));
	ck_assert_uint_eq(wire_get32(w.details + 6), 0x1234);
	ck_assert_uint_eq(get_port("\1\2\2", 1).q_key_violations, 1);
}
END_TEST

START_TEST(m_key)
{
	struct wire_port_info pi = edit_port("\1\2\2", 1);
	struct wire_notice w;

	pi.m_key = 0x4711;
	pi.m_key_protect = 1;
	ck_assert_uint_eq(set_port("\1\2\2", 1, &pi), 0);
	n_arrived = 0;
	key = 0xbad;
	ck_assert_ptr_null(smp("\1\2\2", WIRE_SET, WIRE_ATTR_PORT_INFO, 1, NULL));
	key = 0;
	ck_assert_ptr_nonnull(trap_numbered(256, &w));
	ck_assert_uint_eq(w.details[6], WIRE_SET);
	ck_assert_uint_eq(wire_get16(w.details + 8), WIRE_ATTR_PORT_INFO);
	ck_assert_uint_eq(wire_get32(w.details + 10), 1);
	ck_assert_uint_eq(wire_get64(w.details + 14), 0xbad);
	ck_assert_uint_eq(w.details[23], 0x80 | 3);
	/* three hops: into H2, S2, S1 by these ports */
	ck_assert_mem_eq(w.details + 25, "\1\1\1", 3);
}
END_TEST

/* Traps of ports and of the system GUID, repeated until they are repressed. */
START_TEST(other_traps)
{
	static const struct {
		enum sim_trap_slot slot;
		uint16_t number;
	} rows[] = { { SIM_TRAP_INTEGRITY, 129 }, { SIM_TRAP_OVERRUN, 130 },
		{ SIM_TRAP_WATCHDOG, 131 } };
	struct wire_notice w;

	for (int i = 0; i < 3; i++) {
		notice_port(sim_fabric(sim), (struct sim_place){ S2, 4 }, rows[i].slot);
		ck_assert_ptr_nonnull(trap_numbered(rows[i].number, &w));
		ck_assert_uint_eq(wire_get16(w.details + 2), 12);
		ck_assert_uint_eq(w.details[4], 4);
	}
	notice_system_guid(sim_fabric(sim), H2, 0xabcdef);
	ck_assert_ptr_nonnull(trap_numbered(145, &w));
	ck_assert_uint_eq(wire_get64(w.details + 6), 0xabcdef);
	ck_assert_uint_eq(wire_get64(get("\1\2\2", WIRE_ATTR_NODE_INFO, 0) + 4), 0xabcdef);
}
END_TEST

/* ----------------------------------------------------------------- multicast */

static void
set_mft(const char *hops, uint16_t mlid, uint16_t ports)
{
	uint8_t data[64] = { 0 };

	wire_put16(data + 2 * ((mlid - 0xC000) % 32), ports);
	ck_assert_uint_eq(set(hops, WIRE_ATTR_MFT, (mlid - 0xC000u) / 32, data), 0);
}

START_TEST(multicast_follows_tables)
{
	struct sim_place at[4], h1 = { H1, 1 }, h2 = { H2, 1 };
	struct mad m = request(0x09, 5, 0x1234, 0, NULL);
	struct transport *there;

	ck_assert_uint_eq(sim_walk_multicast(sim, h1, 0xC021, at, 4), 0);
	set_mft("\1", 0xC021, 1 << 1 | 1 << 2);
	set_mft("\1\2", 0xC021, 1 << 1 | 1 << 2 | 1 << 0);
	ck_assert_uint_eq(sim_walk_multicast(sim, h1, 0xC021, at, 4), 2); /* S2 itself, H2 */
	ck_assert_uint_eq(sim_walk_multicast(sim, h2, 0xC021, at, 4), 2); /* S2, H1; not back */
	ck_assert_uint_eq(sim_walk_multicast(sim, h1, 0xC020, at, 4), 0);
	/* a MAD goes that way, and is counted as multicast */
	ck_assert_int_eq(sim_attach(sim, H2, 1, &there, &err), 0);
	there->on_mad = on_mad;
	m.addr = (struct mad_addr){ .lid = 0xC021, .qpn = 1, .qkey = QP1_QKEY };
	m.timeout_ms = 0;
	n_arrived = 0;
	ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	wait_ms(10);
	there->ops->poll(there, sim_now_ns(sim) + 1, &err);
	ck_assert_uint_eq(n_arrived, 1);
	ck_assert_uint_eq(arrived[0].addr.lid, 1);
	ck_assert_uint_eq(wire_get64(counters_of(2, 1, EXTENDED) + 64), 1);
	there->ops->close(there);
}
END_TEST

START_TEST(multicast_loops_are_seen)
{
	struct sim_place at[4], h1 = { H1, 1 };

	/* S1 and S2 send to each other by both of their cables */
	ck_assert_uint_eq(set_state("\1", 4, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1\2", 4, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1", 4, WIRE_PORT_ACTIVE, 0), 0);
	set_mft("\1", 0xC000, 1 << 1 | 1 << 2 | 1 << 4);
	set_mft("\1\2", 0xC000, 1 << 1 | 1 << 2 | 1 << 4);
	ck_assert_uint_eq(sim_walk_multicast(sim, h1, 0xC000, at, 4), SIZE_MAX);
}
END_TEST

/* Payload beyond NeighborMTU does not leave a port. */
START_TEST(traffic_and_mtu)
{
	struct wire_port_info pi;
	struct sim_place h1 = { H1, 1 };
	uint64_t before = wire_get64(counters_of(2, 1, EXTENDED) + 16);

	ck_assert(!sim_carry(sim, h1, 2, 1000000, 2048)); /* 256 at power-on */
	ck_assert_uint_eq(wire_get16(counters_of(1, 1, PORT_COUNTERS) + 14), 1);
	pi = edit_port("", 1);
	pi.neighbor_mtu = 4;
	ck_assert_uint_eq(set_port("", 1, &pi), 0);
	ck_assert(!sim_carry(sim, h1, 2, 1000000, 2048));
	ck_assert_uint_eq(wire_get16(counters_of(11, 2, PORT_COUNTERS) + 14), 1);
	ck_assert(sim_carry(sim, h1, 2, 1000000, 256));
	ck_assert_uint_ge(wire_get64(counters_of(2, 1, EXTENDED) + 16), before + 250000);
	ck_assert_uint_eq(wire_get64(counters_of(11, 2, EXTENDED) + 24) / 3907, 1);
}
END_TEST

/* ------------------------------------------------------------------ commands */

static bool
does(const char *command, const char *words)
{
	char *answer = NULL;
	bool found;

	ck_assert_int_eq(console_do(sim, command, &answer), CONSOLE_GO_ON);
	ck_assert_ptr_nonnull(answer);
	found = strstr(answer, words) != NULL;
	if (!found)
		fprintf(stderr, "%s: %s", command, answer);
	free(answer);
	return found;
}

START_TEST(console)
{
	struct mad m = pma_request(2, WIRE_GET, PORT_COUNTERS, 1, 0);
	char *answer;

	ck_assert(does("help", "unlink NODE[PORT]"));
	ck_assert(does("dump S1", "[1] ACTIVE"));
	ck_assert(does("route H1 \"H2\"", "3 links"));
	ck_assert(does("route H1 H3", "error: lost"));
	ck_assert(does("attached", "H1 port 1"));
	ck_assert(does("Unlink \"S2\"[2]", "ok"));
	ck_assert_ptr_null(ask(&m));
	ck_assert(does("ReLink S2[2]", "ok"));
	ck_assert(does("clear S2[2]", "ok"));
	wait_ms(10);
	ck_assert(does("dump S2", "[2] DOWN lid 0 lmc 0 smlid 0\n"));
	ck_assert(does("link S2[7] H2[1]", "ok"));
	wait_ms(10);
	ck_assert(does("dump H2", "[1] INIT lid 2 lmc 0 smlid 1 -- \"S2\"[7]"));
	ck_assert(does("guid H3 0x777", "ok"));
	ck_assert(does("dump 0x777", "error")); /* the index is of the start */
	ck_assert(does("dump H3", "0x0000000000000777"));
	ck_assert(does("BaseLid H2 9", "ok"));
	ck_assert(does("dump H2", "lid 9"));
	ck_assert(does("trap S1[3] 129", "ok"));
	ck_assert(does("trap S1[3] 128", "error: console:1: the number is none of those"));
	ck_assert(does("error H2[1] 1.5", "the share is missing or none"));
	ck_assert(does("unlink S1", "the port is missing; right would be: unlink NODE[PORT]"));
	ck_assert(does("frobnicate S1", "this verb is unknown"));
	ck_assert_int_eq(console_do(sim, "quit", &answer), CONSOLE_QUIT);
}
END_TEST

START_TEST(errors_of_a_port)
{
	struct mad m = pma_request(2, WIRE_GET, PORT_COUNTERS, 1, 0);

	ck_assert(does("error H2[1] 100%", "ok"));
	ck_assert_ptr_null(ask(&m));
	ck_assert(does("error H2[1] 0%", "ok"));
	ck_assert_uint_eq(wire_get16(counters_of(2, 1, PORT_COUNTERS) + 8), 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("gsi");
	TCase *t = tcase_create("gsi");

	tcase_add_checked_fixture(t, setup_active, teardown);
	tcase_add_test(t, counters_follow_packets);
	tcase_add_test(t, counters_are_set_and_stick);
	tcase_add_test(t, counters_of_all_ports_and_of_none);
	tcase_add_loop_test(t, partitions_are_apart, 0, 9);
	tcase_add_test(t, pkey_index);
	tcase_add_loop_test(t, switches_enforce, 0, 2);
	tcase_add_test(t, q_key);
	tcase_add_test(t, m_key);
	tcase_add_test(t, other_traps);
	tcase_add_test(t, multicast_follows_tables);
	tcase_add_test(t, multicast_loops_are_seen);
	tcase_add_test(t, traffic_and_mtu);
	tcase_add_test(t, console);
	tcase_add_test(t, errors_of_a_port);
	suite_add_tcase(s, t);
	return run_suite(s);
}
