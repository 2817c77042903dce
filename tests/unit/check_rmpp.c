/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RMPP: two agents joined by a wire that loses, doubles and overtakes.
 *
 * The property: what is sent arrives whole and once, or the sender is told
 * that it failed; nothing is held for longer than it lingers.
 */
#include "core/rmpp/rmpp_port.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/wire.h"
#include "lib/rng.h"
#include "lib/vec.h"
#include "tests/run.h"

#define MS INT64_C(1000000)
#define SA 0x03
#define SA_HEADER 56
#define SA_DATA 200
#define GET_TABLE_RESP 0x92
#define GET_MULTI 0x14
#define GET_MULTI_RESP 0x94

/* ---------------------------------------------------------------- the wire */

struct flight {
	int64_t at_ns;
	uint8_t mad[MAD_BYTES];
	struct mad_addr from;
	unsigned to; /* end */
};

struct end {
	struct wire *wire;
	unsigned number;
	struct rmpp_port *port;
	FM_VEC(uint8_t) got; /* the last message */
	unsigned n_got, n_sent, n_failed;
	uint8_t status;	       /* of the last failure */
	const uint8_t *answer; /* sent back, from the callback */
	size_t answer_length;
};

struct wire {
	struct end ends[2];
	FM_VEC(struct flight) flights;
	struct fm_rng rng;
	int64_t now_ns;
	double loss, dup;
	int64_t jitter_ns;
	unsigned n_flown, n_data;
	unsigned most_data; /* DATA segments under way at once */
	size_t most_bytes;  /* held by end 1 */
};

static void
put_on_wire(void *arg, const uint8_t *mad, const struct mad_addr *to)
{
	struct end *e = arg;
	struct wire *w = e->wire;
	struct flight f = { .to = 1 - e->number };
	unsigned copies = w->dup > 0 && fm_rng_unit(&w->rng) < w->dup ? 2 : 1, n_data = 0;

	w->n_flown++;
	w->n_data += mad[RMPP_TYPE] == RMPP_DATA;
	ck_assert_uint_eq(mad[RMPP_FLAGS] & RMPP_ACTIVE, RMPP_ACTIVE);
	memcpy(f.mad, mad, MAD_BYTES);
	f.from = *to;
	f.from.lid = (uint16_t)(e->number + 1);
	while (copies-- > 0) {
		if (w->loss > 0 && fm_rng_unit(&w->rng) < w->loss)
			continue;
		f.at_ns = w->now_ns + MS;
		if (w->jitter_ns > 0)
			f.at_ns += fm_rng_below(&w->rng, (uint32_t)w->jitter_ns);
		ck_assert(fm_vec_push(&w->flights, f));
	}
	for (size_t i = 0; i < w->flights.n; i++)
		n_data += w->flights.item[i].mad[RMPP_TYPE] == RMPP_DATA;
	if (n_data > w->most_data)
		w->most_data = n_data;
}

static void
take_message(void *arg, const uint8_t *message, size_t length, const struct mad_addr *from)
{
	struct end *e = arg;
	struct fm_error err;

	e->got.n = 0;
	ck_assert(fm_vec_append(&e->got, message, length));
	e->n_got++;
	if (e->answer != NULL)
		ck_assert_int_eq(rmpp_port_send(e->port, e->answer, e->answer_length, from, NULL, 7,
				     e->wire->now_ns, &err),
		    0);
}

static void
note_end(void *arg, uint64_t cookie, uint8_t status)
{
	struct end *e = arg;

	if (status == RMPP_OK) {
		e->n_sent++;
	} else {
		e->n_failed++;
		e->status = status;
	}
}

static void
open_wire(struct wire *w, uint64_t seed, const struct rmpp_port_limits *l)
{
	struct rmpp_port_limits defaults;

	rmpp_port_limits_default(&defaults);
	memset(w, 0, sizeof(*w));
	fm_rng_seed(&w->rng, seed);
	for (unsigned i = 0; i < 2; i++) {
		struct rmpp_port_ops ops = { put_on_wire, take_message, note_end, &w->ends[i] };

		w->ends[i].wire = w;
		w->ends[i].number = i;
		w->ends[i].port = rmpp_port_new(l ? l : &defaults, &ops);
		ck_assert_ptr_nonnull(w->ends[i].port);
	}
}

static void
close_wire(struct wire *w)
{
	for (unsigned i = 0; i < 2; i++) {
		rmpp_port_free(w->ends[i].port);
		fm_vec_fini(&w->ends[i].got);
	}
	fm_vec_fini(&w->flights);
}

/* The next thing that happens, up to a time.  False: nothing does. */
static bool
step(struct wire *w, int64_t until_ns)
{
	int64_t at_ns = until_ns;
	size_t next = SIZE_MAX;
	struct flight f;

	for (size_t i = 0; i < w->flights.n; i++)
		if (w->flights.item[i].at_ns <= at_ns) {
			at_ns = w->flights.item[i].at_ns - (next == SIZE_MAX);
			next = i;
		}
	for (unsigned i = 0; i < 2; i++)
		if (rmpp_port_due(w->ends[i].port) < at_ns) {
			w->now_ns = rmpp_port_due(w->ends[i].port);
			rmpp_port_tick(w->ends[i].port, w->now_ns);
			return true;
		}
	if (next == SIZE_MAX)
		return false;
	f = w->flights.item[next];
	w->flights.item[next] = w->flights.item[--w->flights.n];
	if (f.at_ns > w->now_ns)
		w->now_ns = f.at_ns;
	rmpp_port_take(w->ends[f.to].port, f.mad, &f.from, w->now_ns);
	if (rmpp_port_bytes(w->ends[1].port) > w->most_bytes)
		w->most_bytes = rmpp_port_bytes(w->ends[1].port);
	return true;
}

static void
run(struct wire *w, int64_t for_ns)
{
	int64_t until_ns = w->now_ns + for_ns;

	while (step(w, until_ns))
		;
	w->now_ns = until_ns;
}

/* A message of so many bytes, with a header of its own. */
static uint8_t *
make_message(size_t length, uint8_t method, uint64_t tid)
{
	uint8_t *m = malloc(length);

	ck_assert_ptr_nonnull(m);
	for (size_t i = 0; i < length; i++)
		m[i] = (uint8_t)(fm_mix64(i * 977 + tid) >> 5);
	m[0] = 1;
	m[1] = SA;
	m[2] = 2;
	m[3] = method;
	wire_put64(m + 8, tid);
	return m;
}

static int
send_from_0(struct wire *w, const uint8_t *m, size_t length, const struct rmpp_send_options *o)
{
	struct mad_addr to = { .lid = 2, .qpn = 1 };
	struct fm_error err;

	return rmpp_port_send(w->ends[0].port, m, length, &to, o, 1, w->now_ns, &err);
}

/* But for the RMPP header, which is the wire's. */
static bool
is_same(const struct end *e, const uint8_t *m, size_t length)
{
	return e->got.n == length && memcmp(e->got.item, m, RMPP_VERSION) == 0 &&
	    memcmp(e->got.item + 36, m + 36, length - 36) == 0;
}

/* ------------------------------------------------------------------- whole */

static const size_t lengths[] = { SA_HEADER, SA_HEADER + 1, SA_HEADER + SA_DATA - 1,
	SA_HEADER + SA_DATA, SA_HEADER + SA_DATA + 1, SA_HEADER + 64 * SA_DATA,
	SA_HEADER + 64 * SA_DATA + 1, SA_HEADER + 65 * SA_DATA, SA_HEADER + 65 * SA_DATA + 1,
	SA_HEADER + 129 * SA_DATA, SA_HEADER + 1000000 };
#define N_LENGTHS (int)(sizeof(lengths) / sizeof(lengths[0]))

START_TEST(arrives_whole)
{
	size_t length = lengths[_i];
	uint8_t *m = make_message(length, GET_TABLE_RESP, 0x1234);
	uint32_t n = rmpp_segments(SA, length);
	struct wire w;

	open_wire(&w, 1, NULL);
	ck_assert_int_eq(send_from_0(&w, m, length, NULL), 0);
	ck_assert_uint_eq(w.flights.n, 1); /* the first alone, IBA 13.6.6 */
	run(&w, 1000 * MS);
	ck_assert_uint_eq(w.ends[1].n_got, 1);
	ck_assert(is_same(&w.ends[1], m, length));
	ck_assert_uint_eq(w.ends[0].n_sent, 1);
	ck_assert_uint_eq(w.n_data, n); /* none twice */
	/* acknowledged: the first, each full window behind it, the last */
	ck_assert_uint_eq(w.n_flown - w.n_data, n <= 1 ? 1 : 2 + (n - 2) / 64);
	ck_assert_uint_le(w.most_data, 64);
	run(&w, 20000 * MS);
	ck_assert_uint_eq(rmpp_port_bytes(w.ends[0].port) + rmpp_port_bytes(w.ends[1].port), 0);
	ck_assert_int_eq(rmpp_port_due(w.ends[1].port), INT64_MAX);
	close_wire(&w);
	free(m);
}
END_TEST

/* Segments as IBA 13.6.2.4 has them, by hand: 450 bytes of data in three. */
START_TEST(segments_are_those_of_the_book)
{
	static const struct {
		uint8_t flags;
		uint32_t payload;
	} want[] = { { RMPP_ACTIVE | RMPP_FIRST, 450 + 3 * 20 }, { RMPP_ACTIVE, 0 },
		{ RMPP_ACTIVE | RMPP_LAST, 50 + 20 } };
	uint8_t *m = make_message(SA_HEADER + 450, GET_TABLE_RESP, 5), mad[MAD_BYTES];
	struct rmpp_limits l;
	struct rmpp_sender s;

	rmpp_limits_default(&l);
	rmpp_sender_init(&s, &l, m, SA_HEADER + 450, 3, false, 0);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(rmpp_sender_next(&s, 0, mad));
		ck_assert_uint_eq(mad[RMPP_VERSION], 1);
		ck_assert_uint_eq(mad[RMPP_TYPE], RMPP_DATA);
		ck_assert_uint_eq(mad[RMPP_FLAGS] & RMPP_FLAG_BITS, want[i].flags);
		ck_assert_uint_eq(wire_get32(mad + RMPP_SEGMENT), i + 1);
		ck_assert_uint_eq(wire_get32(mad + RMPP_LENGTH), want[i].payload);
		ck_assert_mem_eq(mad, m, RMPP_VERSION);
		ck_assert_mem_eq(mad + 36, m + 36, 20); /* SM_Key .. ComponentMask in each */
		ck_assert_mem_eq(mad + SA_HEADER, m + SA_HEADER + i * SA_DATA, i < 2 ? 200 : 50);
	}
	ck_assert_uint_eq(mad[SA_HEADER + 50], 0);
	ck_assert(!rmpp_sender_next(&s, 0, mad));
	free(m);
}
END_TEST

/* ------------------------------------------------------------ the property */

START_TEST(bad_wire)
{
	static const struct {
		double loss, dup;
		int64_t jitter_ns;
	} kinds[] = { { 0.05, 0, 0 }, { 0, 0.3, 0 }, { 0, 0, 40 * MS }, { 0.1, 0.1, 5 * MS },
		{ 0.3, 0.2, 20 * MS }, { 0.7, 0, 0 } };
	struct rmpp_port_limits l;
	unsigned n_whole = 0, n_failed = 0;

	rmpp_port_limits_default(&l);
	l.transfer.resend_ns = 30 * MS;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct wire w;
		size_t length;
		uint8_t *m;

		open_wire(&w, seed + 1000 * (uint64_t)_i, &l);
		w.loss = kinds[_i].loss;
		w.dup = kinds[_i].dup;
		w.jitter_ns = kinds[_i].jitter_ns;
		length = SA_HEADER + fm_rng_below(&w.rng, 60000);
		m = make_message(length, GET_TABLE_RESP, seed);
		ck_assert_int_eq(send_from_0(&w, m, length, NULL), 0);
		run(&w, 200000 * MS);
		ck_assert_uint_eq(w.ends[0].n_sent + w.ends[0].n_failed, 1);
		ck_assert_uint_le(w.ends[1].n_got, 1);
		if (w.ends[1].n_got)
			ck_assert(is_same(&w.ends[1], m, length));
		if (w.ends[0].n_sent)
			ck_assert_uint_eq(w.ends[1].n_got, 1);
		n_whole += w.ends[0].n_sent;
		n_failed += w.ends[0].n_failed;
		ck_assert_uint_le(w.most_bytes, 2 * length + 1024 + 64 * 200);
		ck_assert_uint_eq(rmpp_port_bytes(w.ends[0].port), 0);
		ck_assert_uint_eq(rmpp_port_bytes(w.ends[1].port), 0);
		close_wire(&w);
		free(m);
	}
	if (kinds[_i].loss <= 0.1)
		ck_assert_uint_ge(n_whole, 38);
	if (kinds[_i].loss >= 0.7)
		ck_assert_uint_gt(n_failed, 0);
}
END_TEST

/* ------------------------------------------------------------ double-sided */

START_TEST(double_sided)
{
	size_t length = SA_HEADER + 5000, answer_length = SA_HEADER + 9000;
	uint8_t *m = make_message(length, GET_MULTI, 9);
	uint8_t *answer = make_message(answer_length, GET_MULTI_RESP, 9);
	struct rmpp_send_options o = { .n_retries = -1, .double_sided = true };
	struct mad_addr to = { .lid = 1, .qpn = 1 };
	struct fm_error err;
	struct wire w;

	open_wire(&w, 1, NULL);
	ck_assert_int_eq(send_from_0(&w, m, length, &o), 0);
	run(&w, 100 * MS);
	ck_assert_uint_eq(w.ends[1].n_got, 1);
	/* The requester has turned round, so the answer begins with a window. */
	w.n_data = 0;
	ck_assert_int_eq(
	    rmpp_port_send(w.ends[1].port, answer, answer_length, &to, NULL, 1, w.now_ns, &err), 0);
	ck_assert_uint_eq(w.n_data, rmpp_segments(SA, answer_length));
	run(&w, 100 * MS);
	ck_assert(is_same(&w.ends[0], answer, answer_length));
	close_wire(&w);

	/* An answer that does not wait for the turn is right as well. */
	open_wire(&w, 2, NULL);
	w.ends[1].answer = answer;
	w.ends[1].answer_length = answer_length;
	ck_assert_int_eq(send_from_0(&w, m, length, &o), 0);
	run(&w, 100 * MS);
	ck_assert(is_same(&w.ends[1], m, length));
	ck_assert(is_same(&w.ends[0], answer, answer_length));
	close_wire(&w);
	free(m);
	free(answer);
}
END_TEST

/* ----------------------------------------------------------------- failures */

START_TEST(nobody_answers)
{
	uint8_t *m = make_message(3000, GET_TABLE_RESP, 1);
	struct wire w;

	open_wire(&w, 1, NULL);
	w.loss = 1;
	ck_assert_int_eq(send_from_0(&w, m, 3000, NULL), 0);
	run(&w, 60000 * MS);
	ck_assert_uint_eq(w.n_data, 4); /* once, and three retries */
	ck_assert_uint_eq(w.ends[0].status, RMPP_TOO_MANY_RETRIES);
	close_wire(&w);
	free(m);
}
END_TEST

/* The words by which a sender learns that it did wrong, or is sent away. */
START_TEST(bad_words_to_a_sender)
{
	static const struct {
		uint8_t version, type, status;
		uint32_t segment, window;
		uint8_t ends_with, says; /* says: type of the last word, 0 = none */
	} rows[] = {
		{ 2, RMPP_ACK, 0, 1, 64, RMPP_BAD_VERSION, RMPP_ABORT },
		{ 1, 9, 0, 1, 64, RMPP_BAD_TYPE, RMPP_ABORT },
		{ 1, RMPP_ACK, 5, 1, 64, RMPP_BAD_STATUS, RMPP_ABORT },
		{ 1, RMPP_ACK, 0, 2, 64, RMPP_SEGMENT_BIG, RMPP_ABORT },
		{ 1, RMPP_ACK, 0, 1, 0, RMPP_WINDOW_SMALL, RMPP_ABORT },
		{ 1, RMPP_STOP, RMPP_NO_RESOURCES, 0, 0, RMPP_NO_RESOURCES, 0 },
		{ 1, RMPP_ABORT, RMPP_UNSPECIFIED, 0, 0, RMPP_UNSPECIFIED, 0 },
	};
	uint8_t *m = make_message(3000, GET_TABLE_RESP, 1), mad[MAD_BYTES];
	struct rmpp_limits l;
	struct rmpp_sender s;

	rmpp_limits_default(&l);
	rmpp_sender_init(&s, &l, m, 3000, 1, false, 0);
	ck_assert(rmpp_sender_next(&s, 0, mad));
	mad[RMPP_VERSION] = rows[_i].version;
	mad[RMPP_TYPE] = rows[_i].type;
	mad[RMPP_STATUS] = rows[_i].status;
	wire_put32(mad + RMPP_SEGMENT, rows[_i].segment);
	wire_put32(mad + RMPP_LENGTH, rows[_i].window);
	rmpp_sender_take(&s, mad, 0);
	ck_assert_int_eq(s.state, RMPP_FAILED);
	ck_assert_uint_eq(s.status, rows[_i].ends_with);
	ck_assert_int_eq(rmpp_sender_next(&s, 0, mad), rows[_i].says != 0);
	if (rows[_i].says != 0) {
		ck_assert_uint_eq(mad[RMPP_TYPE], rows[_i].says);
		ck_assert_uint_eq(mad[RMPP_STATUS], rows[_i].ends_with);
	}
	ck_assert(!rmpp_sender_next(&s, 0, mad));
	free(m);
}
END_TEST

START_TEST(bad_segments_to_a_receiver)
{
	static const struct {
		uint8_t version, type, flags, status;
		uint32_t segment, payload;
		uint8_t says, why;
	} rows[] = {
		{ 3, RMPP_DATA, RMPP_FIRST, 0, 1, 0, RMPP_ABORT, RMPP_BAD_VERSION },
		{ 1, 7, RMPP_FIRST, 0, 1, 0, RMPP_ABORT, RMPP_BAD_TYPE },
		{ 1, RMPP_DATA, RMPP_FIRST, 3, 1, 0, RMPP_ABORT, RMPP_BAD_STATUS },
		{ 1, RMPP_DATA, 0, 0, 1, 0, RMPP_ABORT, RMPP_BAD_FIRST },
		{ 1, RMPP_DATA, RMPP_FIRST, 0, 0, 0, RMPP_ABORT, RMPP_BAD_FIRST },
		{ 1, RMPP_DATA, RMPP_FIRST | RMPP_LAST, 0, 1, 19, RMPP_ABORT, RMPP_BAD_LENGTH },
		{ 1, RMPP_DATA, RMPP_FIRST | RMPP_LAST, 0, 1, 221, RMPP_ABORT, RMPP_BAD_LENGTH },
		{ 1, RMPP_DATA, RMPP_FIRST | RMPP_LAST, 0, 1, 220, RMPP_ACK, 0 },
		{ 1, RMPP_DATA, RMPP_FIRST, 0, 1, UINT32_MAX, RMPP_ACK, 0 },
	};
	uint8_t *mad = make_message(MAD_BYTES, GET_TABLE_RESP, 1), reply[MAD_BYTES];
	struct rmpp_receiver r;
	struct rmpp_limits l;

	rmpp_limits_default(&l);
	rmpp_receiver_init(&r, &l, 0);
	mad[RMPP_VERSION] = rows[_i].version;
	mad[RMPP_TYPE] = rows[_i].type;
	mad[RMPP_FLAGS] = rows[_i].flags | RMPP_ACTIVE;
	mad[RMPP_STATUS] = rows[_i].status;
	wire_put32(mad + RMPP_SEGMENT, rows[_i].segment);
	wire_put32(mad + RMPP_LENGTH, rows[_i].payload);
	ck_assert(rmpp_receiver_take(&r, mad, 0, reply));
	ck_assert_uint_eq(reply[RMPP_TYPE], rows[_i].says);
	ck_assert_uint_eq(reply[RMPP_STATUS], rows[_i].why);
	ck_assert_uint_eq(reply[3], GET_TABLE_RESP ^ 0x80);
	ck_assert_int_eq(r.state == RMPP_FAILED, rows[_i].says == RMPP_ABORT);
	ck_assert_uint_le(r.room, 1024); /* whatever the header promises */
	rmpp_receiver_drop(&r);
	free(mad);
}
END_TEST

/* A peer that begins and does not go on holds n_peer_max transfers and not one
 * more; others are served; what it holds is let go in time. */
START_TEST(half_transfers)
{
	struct mad_addr bad = { .lid = 77, .qpn = 1 };
	struct rmpp_port_limits l;
	uint8_t mad[MAD_BYTES];
	struct wire w;

	rmpp_port_limits_default(&l);
	l.n_max = 64;
	open_wire(&w, 1, &l);
	for (uint64_t tid = 1; tid <= 1000; tid++) {
		uint8_t *m = make_message(MAD_BYTES, GET_TABLE_RESP, tid);

		memcpy(mad, m, MAD_BYTES);
		mad[RMPP_VERSION] = 1;
		mad[RMPP_TYPE] = RMPP_DATA;
		mad[RMPP_FLAGS] = RMPP_ACTIVE | RMPP_FIRST;
		mad[RMPP_STATUS] = 0;
		wire_put32(mad + RMPP_SEGMENT, 1);
		wire_put32(mad + RMPP_LENGTH, 100000);
		rmpp_port_take(w.ends[1].port, mad, &bad, w.now_ns);
		free(m);
	}
	ck_assert_uint_eq(rmpp_port_counts(w.ends[1].port)->refused, 1000 - l.n_peer_max);
	ck_assert_uint_le(rmpp_port_bytes(w.ends[1].port), l.n_peer_max * 1024);
	w.flights.n = 0;

	uint8_t *m = make_message(5000, GET_TABLE_RESP, 1);
	ck_assert_int_eq(send_from_0(&w, m, 5000, NULL), 0);
	run(&w, 1000 * MS);
	ck_assert(is_same(&w.ends[1], m, 5000));
	free(m);
	run(&w, 60000 * MS);
	ck_assert_uint_eq(rmpp_port_counts(w.ends[1].port)->failed, l.n_peer_max);
	ck_assert_uint_eq(rmpp_port_bytes(w.ends[1].port), 0);
	ck_assert_int_eq(rmpp_port_due(w.ends[1].port), INT64_MAX);
	close_wire(&w);
}
END_TEST

/* A message beyond max_bytes is stopped, not cut. */
START_TEST(too_long_for_us)
{
	struct rmpp_port_limits l;
	struct wire w;
	uint8_t *m = make_message(30000, GET_TABLE_RESP, 1);

	rmpp_port_limits_default(&l);
	l.transfer.max_bytes = 20000;
	open_wire(&w, 1, &l);
	ck_assert_int_eq(send_from_0(&w, m, 30000, NULL), 0);
	run(&w, 100 * MS);
	ck_assert_uint_eq(w.ends[1].n_got, 0);
	ck_assert_uint_eq(w.ends[0].status, RMPP_NO_RESOURCES);
	ck_assert_uint_le(w.most_bytes, 20000);
	close_wire(&w);
	free(m);
}
END_TEST

/* Sends: the same TID twice is refused, an ended one may be used again; what
 * is cancelled ends without a word. */
START_TEST(sends_have_names)
{
	uint8_t *m = make_message(3000, GET_TABLE_RESP, 1);
	struct wire w;

	open_wire(&w, 1, NULL);
	ck_assert_int_eq(send_from_0(&w, m, 3000, NULL), 0);
	ck_assert_int_eq(send_from_0(&w, m, 3000, NULL), FM_E_CONFIG);
	run(&w, 100 * MS);
	ck_assert_int_eq(send_from_0(&w, m, 3000, NULL), 0);
	rmpp_port_cancel(w.ends[0].port, 1);
	run(&w, 30000 * MS);
	ck_assert_uint_eq(w.ends[0].n_sent, 1);
	ck_assert_uint_eq(w.ends[0].n_failed, 0);
	ck_assert_int_eq(send_from_0(&w, m, 20, NULL), FM_E_CONFIG);
	close_wire(&w);
	free(m);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("rmpp");
	TCase *t = tcase_create("rmpp");

	tcase_add_loop_test(t, arrives_whole, 0, N_LENGTHS);
	tcase_add_test(t, segments_are_those_of_the_book);
	tcase_add_loop_test(t, bad_wire, 0, 6);
	tcase_add_test(t, double_sided);
	tcase_add_test(t, nobody_answers);
	tcase_add_loop_test(t, bad_words_to_a_sender, 0, 7);
	tcase_add_loop_test(t, bad_segments_to_a_receiver, 0, 9);
	tcase_add_test(t, half_transfers);
	tcase_add_test(t, too_long_for_us);
	tcase_add_test(t, sends_have_names);
	suite_add_tcase(s, t);
	return run_suite(s);
}
