/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as MADs.  The input is a row of records, one byte and up to 256
 * bytes of a MAD each (the last may be short).  Every MAD goes
 *
 *	through the readers of the wire formats: what was read, written and read
 *	again is the same;
 *	to the transaction engine as something received, with the TID of one of
 *	our requests if the byte says so: each request ends exactly once;
 *	to an agent of the sim, and through a sim as something a client sends.
 */
#include <errno.h>
#include <string.h>

#include "core/mad/transact.h"
#include "core/wire/wire.h"
#include "lab/sim/sim.h"
#include "lab/sim/sma.h"
#include "lab/topo/netlist.h"
#include "tests/fuzz/fuzz.h"

#define RECORD_BYTES (1 + MAD_BYTES)
#define REQUESTS 4
#define MS INT64_C(1000000)

enum { TID_OF_OURS = 1, TIMED_OUT = 2, AT_PORT = 4 }; /* bits of a record's first byte */

static const char fabric_text[] = "Switch 4 \"s\"\n[1] \"a\"[1]\n[2] \"b\"[1]\n[3] \"t\"[3]\n\n"
				  "Switch 4 \"t\"\n[1] \"c\"[1]\n[3] \"s\"[3]\n\n"
				  "Ca 2 \"a\"\n[1] \"s\"[1]\n\nCa 1 \"b\"\n[1] \"s\"[2]\n\n"
				  "Ca 1 \"c\"\n[1] \"t\"[1]\n";

/* ------------------------------------------------------------------ formats */

#define SAME_AGAIN(kind, at) \
	do { \
		struct wire_##kind one, two; \
		uint8_t again[MAD_BYTES] = { 0 }; \
\
		memset(&one, 0, sizeof(one)); \
		memset(&two, 0, sizeof(two)); \
		wire_##kind##_get(at, &one); \
		wire_##kind##_put(again, &one); \
		wire_##kind##_get(again, &two); \
		must(memcmp(&one, &two, sizeof(one)) == 0); \
	} while (0)

static void
read_formats(const uint8_t *mad)
{
	const uint8_t *at = mad + WIRE_SMP_DATA_AT;
	struct wire_port_info info;
	uint16_t pkeys[32];
	uint64_t guids[8];
	uint8_t vl[16];

	SAME_AGAIN(header, mad);
	SAME_AGAIN(node_info, at);
	SAME_AGAIN(switch_info, at);
	SAME_AGAIN(port_info, at);
	SAME_AGAIN(sm_info, at);
	SAME_AGAIN(notice, at);
	wire_pkeys_get(at, pkeys);
	wire_guids_get(at, guids);
	wire_sl2vl_get(at, vl);
	wire_port_info_get(at, &info);
	must(wire_port_mbps(&info) > 0);
}

/* ------------------------------------------------------- transaction engine */

struct wire_end {
	struct transport base;
	int64_t now_ns;
	struct mad sent[REQUESTS]; /* the first ones */
	unsigned n_sent;
};

static int
keep_sent(struct transport *t, const struct mad *m, struct fm_error *err)
{
	struct wire_end *w = (struct wire_end *)t;

	if (w->n_sent < REQUESTS)
		w->sent[w->n_sent++] = *m;
	return 0;
}

static int
pass_time(struct transport *t, int64_t until_ns, struct fm_error *err)
{
	struct wire_end *w = (struct wire_end *)t;

	w->now_ns = until_ns > w->now_ns ? until_ns : w->now_ns;
	return 0;
}

static int64_t
tell_time(struct transport *t)
{
	return ((struct wire_end *)t)->now_ns;
}

static const struct transport_ops wire_end_ops = {
	.name = "fuzz", .send = keep_sent, .poll = pass_time, .now_ns = tell_time
};

static void
count_end(void *arg, enum txn_status status, const uint8_t *reply)
{
	must((reply != NULL) == (status == TXN_OK || status == TXN_REFUSED));
	++*(unsigned *)arg;
}

static void
take_stranger(void *arg, const struct mad *m)
{
	struct txn_engine *e = *(struct txn_engine **)arg;
	struct fm_error err;

	txn_reply(e, m, &err);
}

/* The i-th MAD of the input, and how it is meant. */
static uint8_t
record(const uint8_t *data, size_t size, size_t i, struct mad *m)
{
	size_t at = i * RECORD_BYTES, n = size - at - 1;

	memset(m, 0, sizeof(*m));
	memcpy(m->bytes, data + at + 1, n < MAD_BYTES ? n : MAD_BYTES);
	m->addr.lid = wire_get16(m->bytes + 4);
	return data[at];
}

static size_t
n_records(size_t size)
{
	return (size + RECORD_BYTES - 1) / RECORD_BYTES;
}

static void
receive(const uint8_t *data, size_t size)
{
	struct txn_limits limits = {
		.timeout_ms = 10, .n_retries = 1, .window_max = 8, .per_node_max = 2, .tid_seed = 1
	};
	struct wire_end w = { .base = { .ops = &wire_end_ops, .max_window = 64 }, .now_ns = MS };
	struct smp_route route = { .directed = true, .n_hops = 1, .path = { 0, 1 } };
	unsigned ended[REQUESTS] = { 0 };
	struct txn_engine *e = txn_new(&w.base, &limits, 0);
	struct fm_error err;

	must(e != NULL);
	txn_set_unsolicited(e, take_stranger, &e);
	for (unsigned i = 0; i < REQUESTS; i++)
		txn_smp(e, &route, i & 1 ? WIRE_SET : WIRE_GET, WIRE_ATTR_PORT_INFO, i,
		    i & 1 ? (const uint8_t[WIRE_SMP_DATA_BYTES]){ 0 } : NULL, i, count_end,
		    &ended[i]);
	must(txn_poll(e, w.now_ns, &err) >= 0);
	for (size_t i = 0; i < n_records(size); i++) {
		struct mad m;
		uint8_t how = record(data, size, i, &m);

		if (how & TID_OF_OURS && w.n_sent > 0)
			memcpy(m.bytes + 12, w.sent[i % w.n_sent].bytes + 12, 4);
		m.status = how & TIMED_OUT ? ETIMEDOUT : 0;
		w.base.on_mad(w.base.on_mad_arg, &m);
		must(txn_poll(e, w.now_ns + MS, &err) >= 0);
	}
	must(txn_drain(e, NULL, NULL, &err) == 0);
	txn_free(e);
	for (unsigned i = 0; i < REQUESTS; i++)
		must(ended[i] == 1);
}

/* ---------------------------------------------------------------------- sim */

static void
ignore(void *arg, const struct mad *m)
{
	(void)arg;
}

static void
ask_agents(const uint8_t *data, size_t size)
{
	struct fm_error err = { 0 };
	struct sim_options o;
	struct transport *t;
	struct netlist nl;
	struct sim *sim;

	must(netlist_parse("fabric", fabric_text, sizeof(fabric_text) - 1, &nl, &err) == 0);
	sim_options_default(&o);
	must(sim_new(&nl, &o, &sim, &err) == 0);
	must(sim_attach(sim, sim_find(sim, "a"), 1, &t, &err) == 0);
	t->on_mad = ignore;
	for (size_t i = 0; i < n_records(size); i++) {
		struct mad m;
		uint8_t how = record(data, size, i, &m), copy[MAD_BYTES];
		struct sim_place at = { .node = (how >> 3) % nl.n_nodes,
			.port = how & AT_PORT ? 1 : 0 };

		memcpy(copy, m.bytes, sizeof(copy));
		if (at.port <= nl.nodes[at.node].n_ports &&
		    (at.port > 0 || nl.nodes[at.node].type == NETLIST_SWITCH))
			sma_handle(sim_fabric(sim), at, copy);
		m.timeout_ms = how & TIMED_OUT ? 10 : 0;
		t->ops->send(t, &m, &err);
	}
	must(t->ops->poll(t, sim_now_ns(sim) + 1000 * MS, &err) >= 0);
	sim_free(sim);
	netlist_fini(&nl);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_be_quiet();
	for (size_t i = 0; i < n_records(size); i++) {
		struct mad m;

		record(data, size, i, &m);
		read_formats(m.bytes);
	}
	receive(data, size);
	ask_agents(data, size);
	return 0;
}
