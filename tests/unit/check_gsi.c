/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is no SMP, between places of the fixture's fabric: counters that follow
 * it, keys that it must have, and the traps that tell of wrong ones.
 * LIDs: H1 = 1 (where we are, and the SM), H2 = 2, S1 = 11, S2 = 12.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lab/fmsim/console.h"
#include "lab/sim/net.h"
#include "lab/sim/pma.h"
#include "tests/run.h"
#include "tests/unit/sim_fixture.h"

#define PERFORMANCE 0x04
#define PORT_COUNTERS 0x12
#define EXTENDED 0x1D
#define EXTENDED_SPEEDS 0x1F
#define CLASS_PORT_INFO 0x01
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
	ck_assert_uint_eq(wire_get16(counters_of(1, 1, PORT_COUNTERS) + 14), 489);
	pi = edit_port("", 1);
	pi.neighbor_mtu = 4;
	ck_assert_uint_eq(set_port("", 1, &pi), 0);
	ck_assert(!sim_carry(sim, h1, 2, 1000000, 2048));
	ck_assert_uint_eq(wire_get16(counters_of(11, 2, PORT_COUNTERS) + 14), 489);
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

/* ------------------------------------------------------------------ counters by command */

/* As libibmad has them: the attribute, where, and how wide. */
static const struct place_of {
	const char *name;
	uint16_t attr;
	uint8_t at, bytes;
} places[] = { { "SymbolErrorCounter", PORT_COUNTERS, 4, 2 },
	{ "LinkErrorRecoveryCounter", PORT_COUNTERS, 6, 1 },
	{ "LinkDownedCounter", PORT_COUNTERS, 7, 1 }, { "PortRcvErrors", PORT_COUNTERS, 8, 2 },
	{ "PortRcvRemotePhysicalErrors", PORT_COUNTERS, 10, 2 },
	{ "PortRcvSwitchRelayErrors", PORT_COUNTERS, 12, 2 },
	{ "PortXmitDiscards", PORT_COUNTERS, 14, 2 },
	{ "PortXmitConstraintErrors", PORT_COUNTERS, 16, 1 },
	{ "PortRcvConstraintErrors", PORT_COUNTERS, 17, 1 }, { "QP1Dropped", PORT_COUNTERS, 20, 2 },
	{ "VL15Dropped", PORT_COUNTERS, 22, 2 }, { "PortXmitData", PORT_COUNTERS, 24, 4 },
	{ "PortRcvData", PORT_COUNTERS, 28, 4 }, { "PortXmitPkts", PORT_COUNTERS, 32, 4 },
	{ "PortRcvPkts", PORT_COUNTERS, 36, 4 }, { "PortXmitWait", PORT_COUNTERS, 40, 4 },
	{ "portxmitdata", EXTENDED, 8, 8 }, { "PortRcvData", EXTENDED, 16, 8 },
	{ "PortXmitPkts", EXTENDED, 24, 8 }, { "PortRcvPkts", EXTENDED, 32, 8 },
	{ "PortUnicastXmitPkts", EXTENDED, 40, 8 }, { "PortUnicastRcvPkts", EXTENDED, 48, 8 },
	{ "PortMulticastXmitPkts", EXTENDED, 56, 8 }, { "PortMulticastRcvPkts", EXTENDED, 64, 8 },
	{ "SymbolErrorCounter", EXTENDED, 72, 8 }, { "LinkErrorRecoveryCounter", EXTENDED, 80, 8 },
	{ "LinkDownedCounter", EXTENDED, 88, 8 }, { "PortRcvErrors", EXTENDED, 96, 8 },
	{ "PortRcvRemotePhysicalErrors", EXTENDED, 104, 8 },
	{ "PortRcvSwitchRelayErrors", EXTENDED, 112, 8 }, { "PortXmitDiscards", EXTENDED, 120, 8 },
	{ "PortXmitConstraintErrors", EXTENDED, 128, 8 },
	{ "PortRcvConstraintErrors", EXTENDED, 136, 8 },
	{ "LocalLinkIntegrityErrors", EXTENDED, 144, 8 },
	{ "ExcessiveBufferOverrunErrors", EXTENDED, 152, 8 }, { "VL15Dropped", EXTENDED, 160, 8 },
	{ "PortXmitWait", EXTENDED, 168, 8 }, { "QP1Dropped", EXTENDED, 176, 8 },
	{ "SyncHeaderErrorCounter", EXTENDED_SPEEDS, 16, 2 },
	{ "UnknownBlockCounter", EXTENDED_SPEEDS, 18, 2 },
	{ "ErrorDetectionCounterLane0", EXTENDED_SPEEDS, 20, 2 },
	{ "ErrorDetectionCounterLane11", EXTENDED_SPEEDS, 42, 2 },
	{ "FECCorrectableBlockCtrLane0", EXTENDED_SPEEDS, 44, 4 },
	{ "FECCorrectableBlockCtrLane11", EXTENDED_SPEEDS, 88, 4 },
	{ "FECUncorrectableBlockCtrLane0", EXTENDED_SPEEDS, 92, 4 },
	{ "FECUncorrectableBlockCtrLane11", EXTENDED_SPEEDS, 136, 4 },
	{ "PortFECCorrectableBlockCtr", EXTENDED_SPEEDS, 140, 4 },
	{ "PortFECUncorrectableBlockCtr", EXTENDED_SPEEDS, 144, 4 },
	{ "PortFECCorrectedSymbolCtr", EXTENDED_SPEEDS, 148, 4 } };

static uint64_t
number_at(const uint8_t *data, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | data[i];
	return value;
}

/* Of a port that carries nothing: S1[4]. */
static uint64_t
shown(const struct place_of *p)
{
	return number_at(counters_of(11, 4, p->attr) + p->at, p->bytes);
}

/* By the console. */
static void
set_counter(const char *name, const char *plus, uint64_t n)
{
	char command[128];

	snprintf(command, sizeof(command), "count S1[4] %s %s%" PRIu64, name, plus, n);
	ck_assert(does(command, "ok"));
}

START_TEST(each_counter_stands_where_it_is_to)
{
	const struct place_of *p = &places[_i];
	uint64_t most = p->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * p->bytes) - 1;

	ck_assert(does("pma S1 errors64 rsfec", "ok"));
	ck_assert(does("count S1[4] all 0", "ok"));
	set_counter(p->name, "", 100);
	ck_assert_uint_eq(shown(p), 100);
	set_counter(p->name, "+", 28);
	ck_assert_uint_eq(shown(p), 128);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		ck_assert_uint_eq(
		    shown(&places[i]), strcasecmp(places[i].name, p->name) == 0 ? 128 : 0);
	set_counter(p->name, "", most - 1);
	ck_assert_uint_eq(shown(p), most - 1);
	set_counter(p->name, "+", 7); /* and there it stays */
	ck_assert_uint_eq(shown(p), most);
	ck_assert(does("count S1 all 0", "ok"));
	ck_assert_uint_eq(shown(p), 0);
}
END_TEST

START_TEST(halves_of_a_byte)
{
	ck_assert(does("count S1[4] LocalLinkIntegrityErrors 14", "ok"));
	ck_assert(does("count S1[4] ExcessiveBufferOverrunErrors 3", "ok"));
	ck_assert_uint_eq(counters_of(11, 4, PORT_COUNTERS)[19], 0xe3);
	ck_assert(does("count S1[4] LocalLinkIntegrityErrors +5", "ok"));
	ck_assert_uint_eq(counters_of(11, 4, PORT_COUNTERS)[19], 0xf3);
}
END_TEST

/* Set clears what CounterSelect names, and nothing else. */
START_TEST(selected_counters_are_cleared)
{
	static const struct {
		uint16_t attr;
		uint8_t select_at, select_bytes;
		uint64_t select;
		uint8_t cleared_at, cleared_bytes, kept_at;
	} rows[] = { { PORT_COUNTERS, 2, 2, 1 << 6, 14, 2, 8 },
		{ PORT_COUNTERS, 2, 2, 1 << 12, 24, 4, 28 },
		{ PORT_COUNTERS, 18, 1, 1 << 0, 40, 4, 20 },
		{ PORT_COUNTERS, 18, 1, 1 << 1, 20, 2, 22 }, { EXTENDED, 2, 2, 1 << 0, 8, 8, 16 },
		{ EXTENDED, 2, 2, 1 << 7, 64, 8, 56 }, { EXTENDED, 4, 4, 1 << 0, 72, 8, 80 },
		{ EXTENDED, 4, 4, 1 << 12, 168, 8, 160 }, { EXTENDED, 4, 4, 1 << 13, 176, 8, 168 },
		{ EXTENDED_SPEEDS, 8, 8, 1 << 1, 18, 2, 16 },
		{ EXTENDED_SPEEDS, 8, 8, 1 << 13, 42, 2, 40 },
		{ EXTENDED_SPEEDS, 8, 8, 1 << 14, 44, 4, 48 },
		{ EXTENDED_SPEEDS, 8, 8, UINT64_C(1) << 37, 136, 4, 132 },
		{ EXTENDED_SPEEDS, 8, 8, UINT64_C(1) << 39, 144, 4, 140 } };

	ck_assert(does("pma S1 errors64 rsfec", "ok"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mad m = pma_request(11, WIRE_SET, rows[i].attr, 4, 0);
		const uint8_t *data;

		ck_assert(does("count S1[4] all 9", "ok"));
		for (unsigned b = 0; b < rows[i].select_bytes; b++)
			m.bytes[PMA_DATA + rows[i].select_at + rows[i].select_bytes - 1 - b] =
			    (uint8_t)(rows[i].select >> 8 * b);
		ck_assert_uint_eq(status_of(ask(&m)), 0);
		data = counters_of(11, 4, rows[i].attr);
		ck_assert_uint_eq(number_at(data + rows[i].cleared_at, rows[i].cleared_bytes), 0);
		ck_assert_uint_ne(data[rows[i].kept_at + rows[i].cleared_bytes - 1], 0);
		ck_assert_uint_eq(counters_of(11, 3, PORT_COUNTERS)[4], 0);
	}
}
END_TEST

START_TEST(a_reboot_zeroes_counters)
{
	const struct sim_fabric *f = sim_fabric(sim);
	uint32_t first = f->nodes[S2].first_port;

	ck_assert(does("count S2 all 5", "ok"));
	ck_assert(does("count S1 all 5", "ok"));
	ck_assert(does("reboot S2 for 2ms", "ok"));
	wait_ms(10);
	for (uint32_t p = first; p <= first + SWITCH_PORTS; p++)
		for (unsigned c = 0; c < SIM_COUNTERS; c++)
			ck_assert_uint_eq(f->counters[p][c], 0);
	/* the other end has seen it go */
	ck_assert_uint_eq(f->counters[f->nodes[S1].first_port + 2][COUNT_LINK_DOWNED], 6);
	ck_assert_uint_eq(f->counters[f->nodes[S1].first_port + 2][COUNT_SYMBOL_ERRORS], 5);
}
END_TEST

/* ------------------------------------------------------------------ agents that differ */

static uint16_t
caps(uint16_t lid, uint32_t *caps2)
{
	const uint8_t *data = counters_of(lid, 0, CLASS_PORT_INFO);

	*caps2 = wire_get32(data + 4) >> 5;
	return wire_get16(data + 2);
}

START_TEST(agents_have_more_or_less)
{
	static const struct {
		const char *command;
		uint16_t caps;
		uint32_t caps2;
		uint16_t extended, speeds; /* status */
		bool has_ietf, has_errors, has_wait;
	} rows[] = { { "pma S1 plain", 0x9300, 0, 0, 0, true, false, true },
		{ "pma S1 narrow", 0x9100, 0, WIRE_STATUS_BAD_METHOD_ATTR, 0, false, false, true },
		{ "pma S1 noietf", 0x9500, 0, 0, 0, false, false, true },
		{ "pma S1 errors64", 0x9300, 2, 0, 0, true, true, true },
		{ "pma S1 nowait", 0x8300, 0, 0, 0, true, false, false },
		{ "pma S1 rsfec", 0xd300, 0, 0, 0, true, false, true },
		{ "pma S1 nofec", 0x9300, 0, 0, WIRE_STATUS_BAD_METHOD_ATTR, true, false, true } };
	uint32_t caps2;

	ck_assert(does("count S1 all 1", "ok"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mad m = pma_request(11, WIRE_GET, EXTENDED, 4, 0);
		const struct mad *a;

		ck_assert(does(rows[i].command, "ok"));
		ck_assert_uint_eq(caps(11, &caps2), rows[i].caps);
		ck_assert_uint_eq(caps2, rows[i].caps2);
		ck_assert_uint_eq(counters_of(11, 4, PORT_COUNTERS)[43], rows[i].has_wait);
		a = ask(&m);
		ck_assert_uint_eq(status_of(a), rows[i].extended);
		if (rows[i].extended == 0) {
			ck_assert_uint_eq(a->bytes[PMA_DATA + 39], 1);
			ck_assert_uint_eq(a->bytes[PMA_DATA + 47], rows[i].has_ietf);
			ck_assert_uint_eq(a->bytes[PMA_DATA + 79], rows[i].has_errors);
		}
		m = pma_request(11, WIRE_GET, EXTENDED_SPEEDS, 4, 0);
		ck_assert_uint_eq(status_of(ask(&m)), rows[i].speeds);
	}
}
END_TEST

START_TEST(silent_and_slow_agents)
{
	struct mad m = pma_request(2, WIRE_GET, PORT_COUNTERS, 1, 0);
	int64_t before_ns;

	ck_assert(does("pma H2 silent", "ok"));
	ck_assert_ptr_null(ask(&m));
	ck_assert_uint_eq(get_port("\1\2\2", 1).lid, 2); /* the SMA lives */
	ck_assert(does("pma H2 delay 10ms", "ok"));
	before_ns = sim_now_ns(sim);
	ck_assert_ptr_nonnull(ask(&m));
	ck_assert_int_ge(sim_now_ns(sim) - before_ns, 10 * MS);
	/* one at a time: two at once take twice as long */
	before_ns = sim_now_ns(sim);
	n_arrived = 0;
	for (int i = 0; i < 2; i++) {
		m = pma_request(2, WIRE_GET, PORT_COUNTERS, 1, 0);
		ck_assert_int_eq(local->ops->send(local, &m, &err), 0);
	}
	while (n_arrived < 2 && sim_now_ns(sim) < before_ns + 100 * MS)
		local->ops->poll(local, before_ns + 100 * MS, &err);
	ck_assert_uint_eq(n_arrived, 2);
	ck_assert_int_ge(sim_now_ns(sim) - before_ns, 20 * MS);
	ck_assert(does("pma H2 plain", "ok"));
	before_ns = sim_now_ns(sim);
	ck_assert_ptr_nonnull(ask(&m));
	ck_assert_int_lt(sim_now_ns(sim) - before_ns, MS);
}
END_TEST

/* S2 is to be asked at H2's LID; its own keeps answering with where. */
START_TEST(redirected_agents)
{
	struct mad m = pma_request(12, WIRE_GET, PORT_COUNTERS, 4, 0);
	const struct mad *a;
	uint32_t qpn;

	ck_assert(does("count S2[4] PortRcvErrors 77", "ok"));
	ck_assert(does("pma S2 redirect H2", "ok"));
	a = ask(&m);
	ck_assert_uint_eq(status_of(a), WIRE_STATUS_REDIRECT);
	ck_assert_uint_eq(wire_get16(a->bytes + MAD_ATTR), CLASS_PORT_INFO);
	ck_assert_uint_eq(wire_get16(a->bytes + PMA_DATA + 28), 2);
	ck_assert_uint_eq(wire_get32(a->bytes + PMA_DATA + 36), QP1_QKEY);
	qpn = wire_get32(a->bytes + PMA_DATA + 32);
	m = pma_request(2, WIRE_GET, PORT_COUNTERS, 4, 0);
	m.addr.qpn = qpn;
	a = ask(&m);
	ck_assert_uint_eq(status_of(a), 0);
	ck_assert_uint_eq(wire_get16(a->bytes + PMA_DATA + 8), 77);
	m.addr.qpn = qpn + 1; /* nobody's */
	ck_assert_ptr_null(ask(&m));
	counters_of(2, 1, PORT_COUNTERS); /* H2's own */
	ck_assert(does("pma S2 plain", "ok"));
	counters_of(12, 4, PORT_COUNTERS);
	m.addr.qpn = qpn;
	ck_assert_ptr_null(ask(&m));
}
END_TEST

START_TEST(wrong_counters_flows_and_agents)
{
	ck_assert(does("count S1[4] PortXmitWaits 5", "\"PortXmitWaits\" is no counter; they are"));
	ck_assert(does("count S1[4] FECCorrectableBlockCtrLane12 5", "is no counter"));
	ck_assert(does("count S1[4] FECCorrectableBlockCtrLane 5", "is no counter"));
	ck_assert(does("count S1[4] FECCorrectableBlockCtrLane1x 5", "is no counter"));
	ck_assert(does("count S1[4] PortXmitWait",
	    "the number is missing or none; right would be: "
	    "count NODE[PORT] COUNTER|all NUMBER|+NUMBER"));
	ck_assert(does("count S1[4] PortXmitWait -5", "the number is missing or none"));
	ck_assert(does("count S1[4] PortXmitWait ++5", "the number is missing or none"));
	ck_assert(does("count S1[99] PortXmitWait 5", "no port 99"));
	ck_assert(does("count S1[4]", "the counter is missing"));
	ck_assert(does("flow H1 H2", "the bytes a second are missing or none"));
	ck_assert(does("flow H1 H2 1T", "the bytes a second are missing or none"));
	ck_assert(does("flow H1 H2 2000G", "more than 1000G"));
	ck_assert(does("flow H1 H9 5", "no node \"H9\""));
	ck_assert(does("pma S1", "what the agent is like is missing"));
	ck_assert(does("pma S1 blue", "\"blue\" is none of what an agent can be like"));
	ck_assert(does("pma S1 narrow errors64", "\"errors64\" is none"));
	ck_assert(does("pma S1 plain silent", "\"plain silent\" is none"));
	ck_assert(does("pma S1 delay", "\"delay\" is none"));
	ck_assert(does("pma S1 tick 0", "\"tick 0\" is none"));
	ck_assert(does("pma S1 redirect H9", "\"redirect H9\" is none"));
	ck_assert(does("pma S1[3] narrow", "a port is named"));
}
END_TEST

/* ------------------------------------------------------------------ flows */

static uint64_t
counted(uint32_t node, unsigned port, enum sim_counter what)
{
	const struct sim_fabric *f = sim_fabric(sim);

	return f->counters[f->nodes[node].first_port + port][what];
}

/* So long without anything but flows, with counters that begin at 0. */
static void
let_flow(int64_t ms)
{
	flows_count(sim);
	for (uint32_t n = 0; n < N_NODES; n++)
		pma_forget(sim_fabric(sim), n);
	sim_run(sim, sim_now_ns(sim) + ms * MS);
	flows_count(sim);
}

static void
setup_flows(void)
{
	setup_active();
	ck_assert_uint_eq(set_state("\1", 3, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1\3", 1, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1", 3, WIRE_PORT_ACTIVE, 0), 0);
	ck_assert_uint_eq(set_state("\1", 4, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1\2", 4, WIRE_PORT_ARMED, 0), 0);
	ck_assert_uint_eq(set_state("\1", 4, WIRE_PORT_ACTIVE, 0), 0);
	wait_ms(10);
}

/* Links take 12.5 GB/s.  H1 asks for 20 of them to H2, H3 for 2.5: between the switches H3 has its
 * 2.5, H1 the other 10. */
START_TEST(flows_share_a_link)
{
	ck_assert(does("flow H1 H2 20G", "ok"));
	ck_assert(does("flow H3 H2 2500M", "ok"));
	let_flow(1000);
	ck_assert_uint_eq(counted(H1, 1, COUNT_XMIT_PACKETS), 39062500);
	ck_assert_uint_eq(counted(H1, 1, COUNT_XMIT_DATA), 2500000000);
	ck_assert_uint_eq(counted(S1, 1, COUNT_RCV_PACKETS), 39062500);
	ck_assert_uint_eq(counted(H3, 1, COUNT_XMIT_PACKETS), 9765625);
	ck_assert_uint_eq(counted(S1, 2, COUNT_XMIT_PACKETS), 48828125);
	ck_assert_uint_eq(counted(S1, 2, COUNT_UNICAST_XMIT), 48828125);
	ck_assert_uint_eq(counted(H2, 1, COUNT_RCV_DATA), 3125000000);
	ck_assert_uint_eq(counted(S1, 4, COUNT_XMIT_PACKETS), 0);
	/* 10 of 22.5 are held back at S1, 10 of 20 at H1; a tick is 8 ns */
	ck_assert_uint_eq(counted(S1, 2, COUNT_XMIT_WAIT), 55555500);
	ck_assert_uint_eq(counted(H1, 1, COUNT_XMIT_WAIT), 62500000);
	ck_assert_uint_eq(counted(H3, 1, COUNT_XMIT_WAIT), 0);
	ck_assert_uint_eq(counted(S2, 2, COUNT_XMIT_WAIT), 0);
	/* both want more than half: 6.25 each, 24,414,062 packets and a half */
	ck_assert(does("flow H3 H2 20G", "ok"));
	ck_assert(does("pma S1 tick 32ns", "ok"));
	let_flow(1000);
	ck_assert_uint_eq(counted(H1, 1, COUNT_XMIT_PACKETS), 24414062);
	ck_assert_uint_eq(counted(H3, 1, COUNT_XMIT_PACKETS), 24414062);
	ck_assert_uint_eq(counted(S1, 2, COUNT_XMIT_WAIT), 1000000000 / 32 * 27.5 / 40);
	let_flow(1000); /* ... the halves are not lost */
	ck_assert_uint_eq(counted(S1, 2, COUNT_XMIT_PACKETS), 48828126);
	/* alone, H3 is bound by its own link */
	ck_assert(does("flow H1 H2 0", "ok"));
	let_flow(1000);
	ck_assert_uint_eq(counted(H3, 1, COUNT_XMIT_DATA), 3125000000);
	ck_assert_uint_eq(counted(H3, 1, COUNT_XMIT_WAIT), 1000000000 / 8 * 7.5 / 20);
	ck_assert_uint_eq(counted(S1, 2, COUNT_XMIT_WAIT), 0);
	ck_assert(does("flow H3 H2 0", "ok"));
	let_flow(1000);
	ck_assert_uint_eq(counted(H3, 1, COUNT_XMIT_DATA), 0);
}
END_TEST

/* Ports that wait are a tree with the full link as its root; who goes elsewhere does not wait. */
START_TEST(flows_wait_back_to_their_source)
{
	ck_assert(does("flow H1 H2 10G", "ok"));
	ck_assert(does("flow H3 H2 10G", "ok"));
	ck_assert(does("flow H2 H1 10G", "ok"));
	let_flow(8);
	ck_assert_uint_eq(counted(S1, 2, COUNT_XMIT_WAIT), 1000000 * 3.75 / 10);
	ck_assert_uint_eq(counted(H1, 1, COUNT_XMIT_WAIT), 1000000 * 3.75 / 10);
	ck_assert_uint_eq(counted(H3, 1, COUNT_XMIT_WAIT), 1000000 * 3.75 / 10);
	ck_assert_uint_eq(counted(H2, 1, COUNT_XMIT_WAIT), 0);
	ck_assert_uint_eq(counted(S2, 1, COUNT_XMIT_WAIT), 0);
	ck_assert_uint_eq(counted(S2, 2, COUNT_XMIT_WAIT), 0);
}
END_TEST

/* The tables and links as they are, whoever has made them so. */
START_TEST(flows_follow_the_tables)
{
	uint8_t lft[64];

	memcpy(lft, get("\1", WIRE_ATTR_LFT, 0), 64);
	ck_assert(does("flow H1 H2 20G", "ok"));
	lft[2] = 4; /* the slower cable: 4 GB/s */
	ck_assert_uint_eq(set("\1", WIRE_ATTR_LFT, 0, lft), 0);
	wait_ms(2);
	let_flow(1000);
	ck_assert_uint_eq(counted(S1, 4, COUNT_XMIT_PACKETS), 15625000);
	ck_assert_uint_eq(counted(S1, 2, COUNT_XMIT_PACKETS), 0);
	ck_assert_uint_eq(counted(S1, 4, COUNT_XMIT_WAIT), 125000000 * 0.8);
	ck_assert(does("unlink S2[4]", "ok"));
	wait_ms(2);
	let_flow(1000); /* all that H1's link takes is dropped where the cable is gone */
	ck_assert_uint_eq(counted(S1, 1, COUNT_RCV_PACKETS), 48828125);
	ck_assert_uint_eq(counted(S1, 4, COUNT_XMIT_DISCARDS), 48828125);
	ck_assert_uint_eq(counted(S1, 4, COUNT_XMIT_PACKETS), 0);
	lft[2] = 255;
	ck_assert_uint_eq(set("\1", WIRE_ATTR_LFT, 0, lft), 0);
	wait_ms(2);
	let_flow(1000);
	ck_assert_uint_eq(counted(S1, 1, COUNT_RELAY_ERRORS), 48828125);
	ck_assert_uint_eq(counted(S1, 4, COUNT_XMIT_DISCARDS), 0);
	lft[2] = 2;
	ck_assert_uint_eq(set("\1", WIRE_ATTR_LFT, 0, lft), 0);
	wait_ms(2);
	let_flow(1000);
	ck_assert_uint_eq(counted(H2, 1, COUNT_RCV_PACKETS), 48828125);
	ck_assert_uint_eq(counted(S1, 1, COUNT_RELAY_ERRORS), 0);
}
END_TEST

/* A reader sees what has flowed up to then, and long times do not wrap. */
START_TEST(flows_are_counted_when_read)
{
	uint64_t before, hour = UINT64_C(3600) * 12500000000 / 4;

	ck_assert(does("flow H1 H2 12500M", "ok"));
	before = wire_get64(counters_of(2, 1, EXTENDED) + 16);
	sim_run(sim, sim_now_ns(sim) + INT64_C(3600000) * MS);
	ck_assert_uint_ge(wire_get64(counters_of(2, 1, EXTENDED) + 16), before + hour);
	ck_assert_uint_lt(
	    wire_get64(counters_of(2, 1, EXTENDED) + 16), before + hour + hour / 1000);
	ck_assert(does("count H2[1] PortRcvData 0xfffffffffffffff0", "ok"));
	sim_run(sim, sim_now_ns(sim) + 1000 * MS);
	ck_assert_uint_eq(wire_get64(counters_of(2, 1, EXTENDED) + 16), UINT64_MAX);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("gsi");
	TCase *t = tcase_create("gsi"), *flows = tcase_create("flows");

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
	tcase_add_loop_test(
	    t, each_counter_stands_where_it_is_to, 0, sizeof(places) / sizeof(places[0]));
	tcase_add_test(t, halves_of_a_byte);
	tcase_add_test(t, selected_counters_are_cleared);
	tcase_add_test(t, a_reboot_zeroes_counters);
	tcase_add_test(t, agents_have_more_or_less);
	tcase_add_test(t, silent_and_slow_agents);
	tcase_add_test(t, redirected_agents);
	tcase_add_test(t, wrong_counters_flows_and_agents);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(flows, setup_flows, teardown);
	tcase_add_test(flows, flows_share_a_link);
	tcase_add_test(flows, flows_wait_back_to_their_source);
	tcase_add_test(flows, flows_follow_the_tables);
	tcase_add_test(flows, flows_are_counted_when_read);
	suite_add_tcase(s, flows);
	return run_suite(s);
}
