/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is asked what, against agents that are narrow, lossy, silent, redirected or refuse; and the
 * file that comes of it, as its readers find it.
 *
 * The fabric: N_NODES switches of N_PORTS ports, node i of LID i + 1, each port cabled to the next.
 */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/wire/wire.h"
#include "lib/rng.h"
#include "lib/vec.h"
#include "perf/book/book_words.h"
#include "perf/reader/asker.h"
#include "perf/reader/pace.h"
#include "perf/reader/pma.h"
#include "tests/folder.h"
#include "tests/run.h"

#define N_NODES 20
#define N_PORTS 8
#define REDIRECTED_QP 0x4711

struct agent {
	bool is_silent, is_narrow, has_errors_64, refuses, says_nothing_of_itself,
	    answers_other_port;
	uint16_t elsewhere;	     /* LID that it is to be asked at; 0: here */
	uint32_t data[N_PORTS + 1];  /* PortXmitData */
	uint8_t errors[N_PORTS + 1]; /* LinkDowned */
	bool has_fec;
	uint32_t fec[N_PORTS + 1]; /* corrected blocks of lane 2 */
	uint32_t n_asked;
	bool is_asked_now;
};

static char folder[FOLDER_ROOM], path[64];
static struct agent agent[N_NODES];
static struct topology *t;
static struct book *book;
static struct asker *asker;
static struct fm_rng rng;
static double loss;
static int64_t now = 1000;
static uint64_t sweep;
static uint32_t most_out, interval_ms = 10000;
static FM_VEC(struct asker_request) net; /* requests under way */

/* ------------------------------------------------------------------ the fabric */

static json_t *
make_fabric(const char *generation, uint32_t n_nodes)
{
	json_t *f = json_pack("{s:s, s:b, s:[], s:[], s:[], s:[], s:[], s:[[s,s,i],[s,s,i]], s:[]}",
	    "generation", generation, "master", 1, "names", "guids", "types", "lids", "ports",
	    "rates", "0x", "", 0, "4x", "EDR", 100000, "cables");
	char text[32];

	ck_assert_ptr_nonnull(f);
	for (uint32_t i = 0; i < n_nodes; i++) {
		snprintf(text, sizeof(text), "switch-%u", i);
		json_array_append_new(json_object_get(f, "names"), json_string(text));
		snprintf(text, sizeof(text), "0x%016x", 0x1000 + i);
		json_array_append_new(json_object_get(f, "guids"), json_string(text));
		json_array_append_new(json_object_get(f, "types"), json_integer(2));
		json_array_append_new(json_object_get(f, "lids"), json_integer(i + 1));
		json_array_append_new(json_object_get(f, "ports"), json_integer(N_PORTS));
		for (int port = 1; port < N_PORTS; port += 2)
			json_array_append_new(json_object_get(f, "cables"),
			    json_pack("[i,i,i,i,i,i,i,i,i]", i, port, (i + 1) % n_nodes, port + 1,
				1, 1, 10, 20, 4));
	}
	return f;
}

static void
take_fabric(const char *generation, uint32_t n_nodes)
{
	struct asker *before = asker;
	struct topology *was = t;
	struct book *old = book;
	struct fm_error err = { 0 };
	json_t *f = make_fabric(generation, n_nodes);

	ck_assert_msg(topology_read(f, &t, &err) == 0, "%s", err.msg);
	ck_assert_msg(
	    book_make(path, t->nodes, t->n_nodes, (gid_t)-1, &book, &err) == 0, "%s", err.msg);
	ck_assert_msg(asker_new(t, book, before, &asker, &err) == 0, "%s", err.msg);
	ck_assert_msg(book_show(book, &err) == 0, "%s", err.msg);
	if (old != NULL)
		book_retire(old);
	asker_free(before);
	book_close(old);
	topology_free(was);
	json_decref(f);
}

static void
set_up(void)
{
	folder_make(folder);
	snprintf(path, sizeof(path), "%s/counters", folder);
	memset(agent, 0, sizeof(agent));
	fm_rng_seed(&rng, 1);
	loss = 0;
	take_fabric("a", N_NODES);
}

static void
tear_down(void)
{
	asker_free(asker);
	book_close(book);
	topology_free(t);
	fm_vec_fini(&net);
	folder_remove(folder);
}

/* ------------------------------------------------------------------- its agents */

static void
put_info(const struct agent *a, uint16_t at_lid, uint8_t *mad)
{
	wire_put16(mad + 64 + 2, a->is_narrow ? 0x1000 : 0x1200);
	wire_put32(mad + 64 + 4, a->has_errors_64 ? 2u << 5 : 0);
	if (a->elsewhere == 0)
		return;
	wire_put16(mad + 64 + 28, a->elsewhere);
	wire_put32(mad + 64 + 32, REDIRECTED_QP);
	if (at_lid != a->elsewhere)
		wire_put16(mad + 4, PMA_STATUS_REDIRECT);
}

static void
put_counters(const struct agent *a, uint8_t port, uint8_t *mad)
{
	uint16_t attr = wire_get16(mad + 16);

	if (attr == 0x1f) {
		wire_put32(mad + 64 + 52, a->fec[port]);
	} else if (attr == 0x1d) {
		wire_put64(mad + 64 + 8, a->data[port]);
		wire_put64(mad + 64 + 88, a->has_errors_64 ? a->errors[port] : 0);
	} else {
		wire_put32(mad + 64 + 24, a->data[port]);
		mad[64 + 7] = a->errors[port];
	}
}

/* Who takes a request to this LID and queue pair. */
static struct agent *
agent_at(const struct mad_addr *to)
{
	for (uint32_t i = 0; i < N_NODES; i++)
		if (agent[i].elsewhere == to->lid && to->qpn == REDIRECTED_QP)
			return &agent[i];
	return to->lid > 0 && to->lid <= N_NODES && to->qpn == 1 ? &agent[to->lid - 1] : NULL;
}

/* The answer in the place of the question; false: there is none. */
static bool
answer(struct asker_request *r)
{
	uint16_t attr = wire_get16(r->bytes + 16);
	struct agent *a = agent_at(&r->to);
	uint8_t port = r->bytes[64 + 1];

	ck_assert_uint_eq(r->bytes[3], WIRE_GET);
	if (a == NULL || a->is_silent)
		return false;
	r->bytes[3] = WIRE_GET_RESP;
	if (a->answers_other_port && port > 0)
		r->bytes[64 + 1] = port + 1;
	if (attr == 1 && a->says_nothing_of_itself)
		wire_put16(r->bytes + 4, WIRE_STATUS_BAD_METHOD_ATTR);
	else if (attr == 1 || (a->elsewhere != 0 && r->to.lid != a->elsewhere))
		put_info(a, r->to.lid, r->bytes);
	else if (a->refuses || (attr == 0x1d && a->is_narrow) || (attr == 0x1f && !a->has_fec))
		wire_put16(r->bytes + 4, WIRE_STATUS_BAD_METHOD_ATTR);
	else
		put_counters(a, port, r->bytes);
	return true;
}

static void
send_all(void)
{
	struct asker_request r;

	while (asker_next(asker, now, &r)) {
		struct agent *a = agent_at(&r.to);

		if (a != NULL) {
			a->n_asked++;
			ck_assert_msg(!a->is_asked_now, "two requests to one agent");
			a->is_asked_now = true;
		}
		ck_assert(fm_vec_push(&net, r));
		if (net.n > most_out)
			most_out = (uint32_t)net.n;
	}
}

/* All that is under way arrives, but for what is lost; then time passes. */
static void
turn(void)
{
	struct asker_request r;

	send_all();
	while (net.n > 0) {
		r = net.item[--net.n];
		if (agent_at(&r.to) != NULL)
			agent_at(&r.to)->is_asked_now = false;
		if (fm_rng_unit(&rng) >= loss && answer(&r))
			asker_hear(asker, r.to.lid, r.bytes, sizeof(r.bytes), now, now + 5000000);
	}
	now += 10;
	asker_expire(asker, now);
	now += asker_left(asker) > 0 ? 100 : 0;
	asker_expire(asker, now);
}

static const struct asker_counts *
run_sweep(void)
{
	asker_begin(asker, ++sweep, now, interval_ms);
	for (int i = 0; i < 2000 && asker_left(asker) > 0; i++)
		turn();
	asker_end(asker);
	return asker_counts(asker);
}

/* All counters of all agents go on. */
static void
live(uint32_t data, uint8_t errors)
{
	for (uint32_t i = 0; i < N_NODES; i++)
		for (unsigned port = 1; port <= N_PORTS; port++) {
			agent[i].data[port] += data;
			agent[i].errors[port] = (uint8_t)(agent[i].errors[port] + errors);
		}
}

static struct book_port
port_at(uint32_t node, uint32_t port)
{
	struct book_port p;

	book_see_port(book, node * N_PORTS + port - 1, &p);
	return p;
}

static struct book_node
node_of(uint32_t node)
{
	struct book_reader *r;
	struct fm_error err;
	struct book_node n;

	ck_assert_int_eq(book_open(path, &r, &err), 0);
	ck_assert(book_read_node(r, node, &n));
	book_reader_free(r);
	return n;
}

/* ------------------------------------------------------------------------ tests */

START_TEST(sums)
{
	const struct asker_counts *c;

	agent[3].is_narrow = true;
	agent[4].has_errors_64 = true;
	agent[5].says_nothing_of_itself = true;
	live(1000, 7);
	c = run_sweep();
	ck_assert_uint_eq(c->n_wanted, N_NODES * N_PORTS);
	ck_assert_uint_eq(c->n_read, N_NODES * N_PORTS);
	ck_assert_uint_eq(port_at(3, 1).sum[COUNTER_XMIT_DATA], 0);
	live(500, 2);
	c = run_sweep();
	ck_assert_uint_eq(c->n_lost, 0);
	for (uint32_t i = 0; i < N_NODES; i++)
		for (uint32_t port = 1; port <= N_PORTS; port++) {
			struct book_port p = port_at(i, port);

			ck_assert_uint_eq(p.sum[COUNTER_XMIT_DATA], 500);
			ck_assert_uint_eq(p.sum[COUNTER_LINK_DOWNED], 2);
			ck_assert(p.flags == 0 && p.span_ms > 0 && p.mbps == 100000);
			ck_assert_uint_eq(p.planned, port % 2 == 1 ? 10 : 20);
		}
	/* the narrow ones are told, and one request a port where all is of 64 bits */
	ck_assert_uint_eq(node_of(3).flags, BOOK_NARROW);
	ck_assert_uint_eq(node_of(5).flags, BOOK_NARROW);
	ck_assert_uint_eq(node_of(2).flags, 0);
	ck_assert_uint_lt(agent[4].n_asked + N_PORTS, agent[2].n_asked);
	ck_assert_uint_le(most_out, ASKER_SLOTS);
}
END_TEST

START_TEST(silent_agents_are_asked_seldom)
{
	uint32_t n;

	agent[7].is_silent = true;
	ck_assert_uint_eq(run_sweep()->n_read, (N_NODES - 1) * N_PORTS);
	ck_assert_uint_eq(asker_counts(asker)->n_silent, 1);
	ck_assert_uint_eq(agent[7].n_asked, ASKER_TRIES);
	ck_assert_uint_eq(node_of(7).flags, BOOK_SILENT);
	ck_assert_uint_eq(port_at(7, 1).flags, BOOK_MISSING | BOOK_NEVER);
	for (int i = 1; i < ASKER_SILENT_SWEEPS; i++)
		run_sweep();
	ck_assert_uint_eq(agent[7].n_asked, ASKER_TRIES);
	agent[7].is_silent = false;
	n = run_sweep()->n_read;
	ck_assert_uint_eq(n, N_NODES * N_PORTS);
	ck_assert_uint_eq(node_of(7).flags, 0);
	/* one that falls silent later: its ports are missing, and what it had stays */
	live(5, 1);
	run_sweep();
	agent[8].is_silent = true;
	run_sweep();
	ck_assert_uint_eq(port_at(8, 2).flags, BOOK_MISSING);
	ck_assert_uint_eq(port_at(8, 2).sum[COUNTER_LINK_DOWNED], 1);
	ck_assert_uint_eq(node_of(8).flags, BOOK_SILENT);
}
END_TEST

/* Nothing is counted twice, and nothing is missed, whatever was lost. */
START_TEST(losses)
{
	uint64_t n_read = 0;

	loss = 0.3;
	for (int i = 0; i < 30; i++) {
		live(1000, 1);
		n_read += run_sweep()->n_read;
	}
	ck_assert_uint_gt(n_read, 30 * N_NODES * N_PORTS / 2);
	loss = 0;
	for (int i = 0; i <= ASKER_SILENT_SWEEPS; i++)
		run_sweep();
	for (uint32_t i = 0; i < N_NODES; i++)
		for (uint32_t port = 1; port <= N_PORTS; port++) {
			struct book_port p = port_at(i, port);

			ck_assert_uint_eq(
			    p.sum[COUNTER_XMIT_DATA], 1000 * p.sum[COUNTER_LINK_DOWNED]);
			ck_assert_uint_ge(p.sum[COUNTER_LINK_DOWNED], 20);
			ck_assert_uint_eq(p.flags, 0);
		}
}
END_TEST

/* Seldom, but in each sweep while it moves. */
START_TEST(forward_error_correction)
{
	uint32_t n_before;

	agent[1].has_fec = true;
	interval_ms = 600000;
	for (int i = 0; i < 31; i++)
		run_sweep();
	agent[1].fec[4] = 5;
	for (int i = 0; i < 6; i++)
		run_sweep();
	ck_assert_uint_eq(port_at(1, 4).sum[COUNTER_FEC_CORRECTED], 5);
	ck_assert_uint_ne(port_at(2, 4).unread >> COUNTER_FEC_CORRECTED & 1, 0);
	n_before = agent[1].n_asked;
	for (int i = 0; i < 30; i++) {
		agent[1].fec[4]++;
		run_sweep();
	}
	n_before = agent[1].n_asked - n_before - 30 * 2 * N_PORTS;
	ck_assert_uint_le(
	    n_before, 30 + 5 * (N_PORTS - 1)); /* besides data and errors of all ports */
	for (int i = 0; i < 6; i++)
		run_sweep();
	ck_assert_uint_eq(port_at(1, 4).sum[COUNTER_FEC_CORRECTED], 35);
	interval_ms = 10000;
}
END_TEST

START_TEST(redirected_and_refusing)
{
	agent[2].elsewhere = 11;
	agent[6].elsewhere = 0xffff; /* no LID of a port */
	agent[9].refuses = true;
	agent[10].answers_other_port = true;
	run_sweep();
	live(1, 1);
	ck_assert_uint_eq(run_sweep()->n_refusing, 3);
	ck_assert_uint_eq(port_at(2, 3).sum[COUNTER_LINK_DOWNED], 1);
	ck_assert_uint_eq(node_of(2).flags, BOOK_REDIRECTED);
	ck_assert_uint_eq(port_at(6, 3).flags, BOOK_MISSING | BOOK_NEVER);
	ck_assert_uint_eq(node_of(6).flags, BOOK_REFUSES);
	ck_assert_uint_eq(port_at(9, 3).flags, BOOK_MISSING | BOOK_NEVER);
	ck_assert_uint_eq(port_at(10, 3).flags, BOOK_MISSING | BOOK_NEVER);
	ck_assert_uint_eq(asker_counts(asker)->n_read, (N_NODES - 3) * N_PORTS);
}
END_TEST

/* What answers nothing is counted, and changes nothing. */
START_TEST(strangers)
{
	struct asker_request r = { 0 };

	asker_begin(asker, ++sweep, now, 10000);
	ck_assert(asker_next(asker, now, &r));
	ck_assert(answer(&r));
	asker_hear(asker, (uint16_t)(r.to.lid + 1), r.bytes, sizeof(r.bytes), now, now);
	wire_put32(r.bytes + WIRE_TID_AT + 4, wire_get32(r.bytes + WIRE_TID_AT + 4) + 256);
	asker_hear(asker, r.to.lid, r.bytes, sizeof(r.bytes), now, now);
	asker_hear(asker, r.to.lid, r.bytes, 24, now, now);
	ck_assert_uint_eq(asker_counts(asker)->n_strange, 3);
	for (int i = 0; i < 20000; i++) {
		for (size_t k = 0; k < sizeof(r.bytes); k++)
			r.bytes[k] = k < 4 && i % 2 == 0 ? (const uint8_t[]){ 1, 4, 1, 0x81 }[k]
							 : (uint8_t)fm_rng_next(&rng);
		r.bytes[WIRE_TID_AT + 6] = r.bytes[WIRE_TID_AT + 4] = r.bytes[WIRE_TID_AT + 5] = 0;
		asker_hear(asker, (uint16_t)fm_rng_below(&rng, N_NODES + 2), r.bytes,
		    sizeof(r.bytes), now, now);
		asker_next(asker, now++, &r);
	}
	asker_end(asker);
}
END_TEST

/* Another fabric: who is there still keeps its sums, and readers of the old file are told. */
START_TEST(another_fabric)
{
	struct book_reader *r;
	struct book_head h;
	struct fm_error err;

	run_sweep();
	live(100, 3);
	run_sweep();
	ck_assert_int_eq(book_open(path, &r, &err), 0);
	ck_assert(book_read_head(r, &h) && !h.is_old);
	take_fabric("b", N_NODES - 5);
	ck_assert(book_read_head(r, &h) && h.is_old);
	book_reader_free(r);
	live(100, 1);
	ck_assert_uint_eq(run_sweep()->n_wanted, (N_NODES - 5) * N_PORTS);
	ck_assert_uint_eq(port_at(3, 2).sum[COUNTER_XMIT_DATA], 200);
	ck_assert_uint_eq(port_at(3, 2).sum[COUNTER_LINK_DOWNED], 4);
	take_fabric("c", N_NODES);
	run_sweep();
	ck_assert_uint_eq(port_at(3, 2).sum[COUNTER_XMIT_DATA], 200);
	/* who was away is who it was, with what it has counted meanwhile */
	ck_assert_uint_eq(port_at(N_NODES - 1, 2).sum[COUNTER_XMIT_DATA], 200);
}
END_TEST

/* --------------------------------------------------------------------- the file */

START_TEST(what_is_written_is_read)
{
	static const struct book_head put = { 7, 1000, 2000, 3000, 10000, 70, 69, 1, 2, false };
	struct book_head h;
	struct book_port p = { .at_end = 5, .unread = 6, .flags = 7, .read_ms = 8, .span_ms = 9 };
	struct book_port ports[N_PORTS];
	struct book_reader *r;
	struct book_node n;
	struct fm_error err;

	for (int i = 0; i < N_COUNTERS; i++)
		p.sum[i] = UINT64_C(1) << 33 | (unsigned)i;
	p.xmit_rate = 10;
	p.rcv_rate = 11;
	p.wait_rate = 12;
	p.error_rate = 13;
	p.peer = 3;
	p.peer_port = 14;
	p.mbps = 400000;
	p.planned = 15;
	book_put_head(book, &put);
	book_begin(book, 4);
	book_put_port(book, 4 * N_PORTS + 2, &p);
	book_end(book, 4);
	ck_assert_int_eq(book_open(path, &r, &err), 0);
	ck_assert(book_read_head(r, &h));
	ck_assert(h.sweep == 7 && h.began_ms == 1000 && h.sweep_began_ms == 2000 &&
	    h.sweep_ended_ms == 3000 && h.interval_ms == 10000 && h.n_wanted == 70 &&
	    h.n_read == 69 && h.n_silent == 1 && h.n_late == 2 && !h.is_old);
	ck_assert(book_read_node(r, 4, &n));
	ck_assert_str_eq(n.name, "switch-4");
	ck_assert_uint_eq(n.guid, 0x1004);
	ck_assert(book_read_ports(r, 4, &n, ports));
	ck_assert_mem_eq(ports[2].sum, p.sum, sizeof(p.sum));
	ck_assert(ports[2].at_end == 5 && ports[2].unread == 6 && ports[2].flags == 7 &&
	    ports[2].read_ms == 8 && ports[2].span_ms == 9 && ports[2].xmit_rate == 10 &&
	    ports[2].rcv_rate == 11 && ports[2].wait_rate == 12 && ports[2].error_rate == 13 &&
	    ports[2].peer == 3 && ports[2].peer_port == 14 && ports[2].mbps == 400000 &&
	    ports[2].planned == 15);
	ck_assert(!book_read_node(r, N_NODES, &n));
	/* a writer that has died in the midst of it */
	book_begin(book, 4);
	ck_assert(!book_read_ports(r, 4, &n, ports));
	ck_assert(book_read_ports(r, 5, &n, ports));
	book_end(book, 4);
	book_reader_free(r);
	ck_assert(!book_is_gone(book));
	unlink(path);
	ck_assert(book_is_gone(book));
}
END_TEST

/* Of bytes of an enemy nothing but a refusal or a row comes. */
START_TEST(hostile_files)
{
	static uint64_t words[BOOK_HEAD_WORDS + 4 * BOOK_NODE_WORDS + 8 * BOOK_PORT_WORDS];
	struct book_port ports[254];
	struct book_reader *r;
	struct fm_error err;
	struct book_node n;
	int fd;

	for (int i = 0; i < 300; i++) {
		for (size_t k = 0; k < sizeof(words) / 8; k++)
			words[k] = fm_rng_below(&rng, 3) == 0
			    ? fm_rng_next(&rng)
			    : book_pair(fm_rng_below(&rng, 5), fm_rng_below(&rng, 1000));
		words[HEAD_MAGIC] = BOOK_MAGIC;
		words[HEAD_ROWS] = book_pair(BOOK_NODE_WORDS, BOOK_PORT_WORDS);
		words[HEAD_NODES] = i % 7 == 0 ? fm_rng_next(&rng) : 4;
		words[HEAD_PORTS] = i % 5 == 0 ? fm_rng_next(&rng) : 8;
		words[HEAD_BYTES] = i % 3 == 0 ? fm_rng_next(&rng) : sizeof(words);
		for (int k = 0; k < 4; k++)
			words[book_node_at((uint32_t)k) + NODE_SEQ] = fm_rng_below(&rng, 20) * 2;
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		ck_assert_int_eq(write(fd, words, sizeof(words)), sizeof(words));
		if (book_open(path, &r, &err) == 0) {
			ck_assert_int_eq(
			    ftruncate(fd, i % 2 == 0 ? (off_t)sizeof(words) : 3000), 0);
			for (uint32_t k = 0; k < book_n_nodes(r); k++)
				if (book_read_node(r, k, &n) && book_read_ports(r, k, &n, ports))
					for (uint32_t port = 0; port < n.n_ports; port++)
						ck_assert(ports[port].peer < 4 ||
						    ports[port].peer == BOOK_NOBODY);
			book_reader_free(r);
		} else {
			ck_assert_ptr_nonnull(strstr(err.msg, "it "));
		}
		close(fd);
	}
	unlink(path);
	ck_assert_int_eq(book_open(path, &r, &err), FM_E_SYSTEM);
	ck_assert_int_eq(book_open(folder, &r, &err), FM_E_TOPOLOGY);
}
END_TEST

/* ----------------------------------------------------------------- the topology */

static const struct {
	const char *key, *value;
} nonsense[] = { { "generation", "7" }, { "names", "[1]" }, { "guids", "[\"0xg\"]" },
	{ "types", "[]" }, { "types", "[9]" }, { "ports", "[-1]" }, { "ports", "[255]" },
	{ "lids", "[65536]" }, { "lids", "[[1]]" }, { "cables", "[[0,1,0,2,1,1,0,0]]" },
	{ "cables", "[[0,9,0,2,1,1,0,0,4]]" }, { "cables", "[[7,1,0,2,1,1,0,0,4]]" },
	{ "cables", "[[0,1,0,2,1,1,-1,0,4]]" }, { "cables", "7" }, { "rates", "null" } };

START_TEST(fabrics_that_make_no_sense)
{
	json_t *f = make_fabric("a", 1),
	       *value = json_loads(nonsense[_i].value, JSON_DECODE_ANY, NULL);
	struct topology *other = NULL;
	struct fm_error err;

	ck_assert_ptr_nonnull(value);
	json_object_set_new(f, nonsense[_i].key, value);
	ck_assert_int_eq(topology_read(f, &other, &err), FM_E_TOPOLOGY);
	ck_assert_ptr_null(other);
	json_decref(f);
}
END_TEST

/* Requests that leave in a sweep in which fmd writes in some slots; the most in a slot. */
static uint32_t
pass_paced(uint32_t n, int64_t from, int64_t to, uint32_t *most, uint32_t *most_then)
{
	struct pace p = pace_begin(10000, n, false);
	uint32_t left = n;

	*most = *most_then = 0;
	for (int64_t slot = 0; slot < 10000 / PACE_SLOT_MS; slot++) {
		bool writes = slot >= from && slot < to;
		uint32_t budget = pace_budget(&p, slot, left, writes);
		uint32_t *of = writes ? most_then : most;

		*of = budget > *of ? budget : *of;
		left -= budget < left ? budget : left;
	}
	return n - left;
}

/* Who waits has all in as few slots as may be, but while fmd writes. */
START_TEST(who_waits_has_no_pace)
{
	uint32_t n = 140000, even = n / 800;
	struct pace p = pace_begin(10000, n, true);

	ck_assert_uint_eq(pace_budget(&p, 0, n, false), PACE_MOST);
	ck_assert_uint_eq(pace_budget(&p, 0, 3, false), 3);
	ck_assert_uint_eq(pace_budget(&p, 0, n, true), (even + 1) / 2);
}
END_TEST

/* All leave, at half the pace while fmd writes; where it writes all the time, half of what the
 * whole interval has room for. */
START_TEST(what_fmd_writes_goes_first)
{
	uint32_t most, then, n = 140000, even = n / 800;

	ck_assert_uint_eq(pass_paced(n, 0, 0, &most, &then), n);
	ck_assert_uint_eq(most, even);
	ck_assert_uint_eq(pass_paced(n, 100, 300, &most, &then), n);
	ck_assert_uint_eq(then, (even + 1) / 2);
	ck_assert_uint_le(most, 2 * even);
	ck_assert_uint_lt(pass_paced(n, 0, 1000, &most, &then), n * 2 / 3);
	ck_assert_uint_eq(then, (even + 1) / 2);
	ck_assert_uint_eq(pass_paced(3, 0, 1000, &most, &then), 3);
	ck_assert_uint_eq(pass_paced(0, 0, 1000, &most, &then), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("asker");
	TCase *tc = tcase_create("asker");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, sums);
	tcase_add_test(tc, silent_agents_are_asked_seldom);
	tcase_add_test(tc, losses);
	tcase_add_test(tc, forward_error_correction);
	tcase_add_test(tc, redirected_and_refusing);
	tcase_add_test(tc, strangers);
	tcase_add_test(tc, another_fabric);
	tcase_add_test(tc, what_is_written_is_read);
	tcase_add_test(tc, hostile_files);
	tcase_add_test(tc, what_fmd_writes_goes_first);
	tcase_add_test(tc, who_waits_has_no_pace);
	tcase_add_loop_test(
	    tc, fabrics_that_make_no_sense, 0, (int)(sizeof(nonsense) / sizeof(nonsense[0])));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
