/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes between a master and its standbys: each kind of frame there and back, however it is cut
 * on its way, and what is no frame is refused without a look beyond its end.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/standby/internal.h"
#include "lib/rng.h"
#include "tests/run.h"

#define HEAD 21
#define N_SEEDS 200
#define NUMBER UINT64_C(0x0123456789abcdef)

/* What a frame holds, of any type. */
union data {
	struct link_hello hello;
	struct link_marks marks;
	struct link_records records;
	struct link_sms sms;
	struct link_lids lids;
	struct link_part part;
};

static struct evbuffer *wire, *in;

static void
setup(void)
{
	wire = evbuffer_new();
	in = evbuffer_new();
	ck_assert(wire != NULL && in != NULL);
}

static void
teardown(void)
{
	evbuffer_free(wire);
	evbuffer_free(in);
}

static const uint8_t a_file[] = "tables of a fabric";
static uint8_t long_value[600], long_key[STORE_KEY_MAX];

/* A frame of each type that has data, others are empty. */
static void
put_frame(enum link_type type)
{
	struct evbuffer *data = evbuffer_new();
	struct link_hello hello = { LINK_VERSION, NUMBER, 7, { 1, 2, 3, 4, 5, NUMBER } };
	struct link_marks marks = { NUMBER, 9, true };
	struct store_record records[] = { { "Gone", NULL, 4, 0 }, { "k", "value", 1, 5 },
		{ long_key, long_value, sizeof(long_key), sizeof(long_value) } };
	struct store_lid lids[] = { { NUMBER, 0xbfff, 7 }, { 2, 1, 0 } };
	uint64_t sms[] = { NUMBER, 3 };
	struct link_part part = { LINK_NODES, NUMBER, 6, 3, sizeof(a_file), 5, a_file + 3 };
	bool ok = true;

	memset(long_key, 'x', sizeof(long_key));
	memset(long_value, 0xff, sizeof(long_value));
	if (type == LINK_HELLO)
		ok = link_add_hello(data, &hello);
	else if (type == LINK_MARKS)
		ok = link_add_marks(data, &marks);
	else if (type == LINK_RECORDS)
		ok = link_add_records(data, records, 3, true);
	else if (type == LINK_LIDS)
		ok = link_add_lids(data, lids, 2);
	else if (type == LINK_SMS)
		ok = link_add_sms(data, sms, 2);
	else if (type == LINK_PART)
		ok = link_add_part(data, &part);
	else if (type == LINK_BYE)
		ok = evbuffer_add_printf(data, "it ends") > 0;
	ck_assert(ok);
	ck_assert(link_put(wire, type, NUMBER + type, type, data));
	ck_assert_uint_eq(evbuffer_get_length(data), 0);
	evbuffer_free(data);
}

static void
put_frames(void)
{
	for (unsigned t = LINK_HELLO; t < LINK_TYPES; t++)
		put_frame((enum link_type)t);
}

/* Read the data of any type of frame; the bytes that were malloced are freed. */
static int
read_data(const struct link_frame *f, union data *d, struct fm_error *err)
{
	char text[64];
	int rc = 0;

	memset(d, 0, sizeof(*d));
	switch (f->type) {
	case LINK_HELLO:
		return link_read_hello(f, &d->hello, err);
	case LINK_MARKS:
		return link_read_marks(f, &d->marks, err);
	case LINK_RECORDS:
		rc = link_read_records(f, &d->records, err);
		free(d->records.item);
		return rc;
	case LINK_LIDS:
		rc = link_read_lids(f, &d->lids, err);
		free(d->lids.item);
		return rc;
	case LINK_SMS:
		rc = link_read_sms(f, &d->sms, err);
		free(d->sms.guid);
		return rc;
	case LINK_PART:
		return link_read_part(f, &d->part, err);
	case LINK_BYE:
		link_read_bye(f, text, sizeof(text));
		return 0;
	default:
		return 0;
	}
}

/* ----------------------------------------------------------- there and back */

static void
expect_records(const struct link_frame *f)
{
	struct link_records r;
	struct fm_error err = { 0 };

	ck_assert_msg(link_read_records(f, &r, &err) == 0, "%s", err.msg);
	ck_assert(r.anew);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_uint_eq(r.item[0].n_key, 4);
	ck_assert_mem_eq(r.item[0].key, "Gone", 4);
	ck_assert_ptr_null(r.item[0].value);
	ck_assert_uint_eq(r.item[1].n_value, 5);
	ck_assert_mem_eq(r.item[1].value, "value", 5);
	ck_assert_uint_eq(r.item[2].n_key, sizeof(long_key));
	ck_assert_mem_eq(r.item[2].key, long_key, sizeof(long_key));
	ck_assert_uint_eq(r.item[2].n_value, sizeof(long_value));
	ck_assert_mem_eq(r.item[2].value, long_value, sizeof(long_value));
	free(r.item);
}

static void
expect_lids(const struct link_frame *f)
{
	struct link_lids l;
	struct fm_error err = { 0 };

	ck_assert_msg(link_read_lids(f, &l, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(l.n, 2);
	ck_assert_uint_eq(l.item[0].guid, NUMBER);
	ck_assert_uint_eq(l.item[0].lid, 0xbfff);
	ck_assert_uint_eq(l.item[0].lmc, 7);
	ck_assert_uint_eq(l.item[1].guid, 2);
	ck_assert_uint_eq(l.item[1].lid, 1);
	free(l.item);
}

static void
expect_hello(const struct link_frame *f)
{
	struct link_hello h;
	struct fm_error err = { 0 };

	ck_assert_msg(link_read_hello(f, &h, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(h.version, LINK_VERSION);
	ck_assert_uint_eq(h.guid, NUMBER);
	ck_assert_uint_eq(h.term, 7);
	for (unsigned g = 0; g < LINK_GROUPS; g++)
		ck_assert_uint_eq(h.hash[g], g + 1 < LINK_GROUPS ? g + 1 : NUMBER);
}

static void
expect_part_and_marks(const struct link_frame *f)
{
	struct link_marks m;
	struct link_part p;
	struct fm_error err = { 0 };

	if (f->type == LINK_MARKS) {
		ck_assert_msg(link_read_marks(f, &m, &err) == 0, "%s", err.msg);
		ck_assert_uint_eq(m.mark, NUMBER);
		ck_assert_uint_eq(m.m_key, 9);
		ck_assert(m.untold);
		return;
	}
	ck_assert_msg(link_read_part(f, &p, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(p.which, LINK_NODES);
	ck_assert_uint_eq(p.number, NUMBER);
	ck_assert_uint_eq(p.base, 6);
	ck_assert_uint_eq(p.at, 3);
	ck_assert_uint_eq(p.n_all, sizeof(a_file));
	ck_assert_uint_eq(p.n, 5);
	ck_assert_mem_eq(p.bytes, a_file + 3, 5);
}

static void
expect_sms(const struct link_frame *f)
{
	struct link_sms l;
	struct fm_error err = { 0 };

	ck_assert_msg(link_read_sms(f, &l, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(l.n, 2);
	ck_assert_uint_eq(l.guid[0], NUMBER);
	ck_assert_uint_eq(l.guid[1], 3);
	free(l.guid);
}

static void
expect_frame(const struct link_frame *f, unsigned type)
{
	char text[64];

	ck_assert_uint_eq(f->type, type);
	ck_assert_uint_eq(f->term, NUMBER + type);
	ck_assert_uint_eq(f->seq, type);
	if (type == LINK_HELLO) {
		expect_hello(f);
	} else if (type == LINK_RECORDS) {
		expect_records(f);
	} else if (type == LINK_LIDS) {
		expect_lids(f);
	} else if (type == LINK_SMS) {
		expect_sms(f);
	} else if (type == LINK_MARKS || type == LINK_PART) {
		expect_part_and_marks(f);
	} else if (type == LINK_BYE) {
		link_read_bye(f, text, sizeof(text));
		ck_assert_str_eq(text, "it ends");
	} else {
		ck_assert_uint_eq(f->n, 0);
	}
}

/* All frames that are whole are taken; *type: of the next. */
static void
take_frames(unsigned *type)
{
	struct link_frame f;
	struct fm_error err = { 0 };
	int rc;

	while ((rc = link_get(in, &f, &err)) == 1) {
		expect_frame(&f, *type);
		link_drop(in, &f);
		++*type;
	}
	ck_assert_msg(rc == 0, "%s", err.msg);
}

START_TEST(frames_come_in_any_pieces)
{
	struct fm_rng rng;
	unsigned type = LINK_HELLO;

	fm_rng_seed(&rng, (uint64_t)_i);
	put_frames();
	while (evbuffer_get_length(wire) > 0) {
		int n = _i == 0 ? 1 : 1 + (int)fm_rng_below(&rng, _i % 2 == 0 ? 40 : 400);

		ck_assert_int_gt(evbuffer_remove_buffer(wire, in, (size_t)n), 0);
		take_frames(&type);
	}
	ck_assert_uint_eq(type, LINK_TYPES);
	ck_assert_uint_eq(evbuffer_get_length(in), 0);
}
END_TEST

START_TEST(types_have_names)
{
	for (unsigned t = 0; t < 256; t++)
		ck_assert((link_type_name(t) != NULL) == (t >= LINK_HELLO && t < LINK_TYPES));
	for (unsigned g = 0; g < LINK_GROUPS; g++)
		ck_assert_ptr_nonnull(link_group_name((enum link_group)g));
}
END_TEST

/* --------------------------------------------------------------- what is wrong */

/* The bytes of a frame, malloced: so that ASan sees a read beyond its end. */
static uint8_t *
frame_bytes(unsigned type, size_t *n)
{
	uint8_t *bytes;

	put_frame((enum link_type)type);
	*n = evbuffer_get_length(wire);
	bytes = malloc(*n);
	ck_assert_int_eq(evbuffer_remove(wire, bytes, *n), (int)*n);
	return bytes;
}

/* The data of this frame cut to n, in memory that ends there. */
static int
read_cut(unsigned type, const uint8_t *data, size_t n, struct fm_error *err)
{
	struct link_frame f = { .type = (enum link_type)type, .n = n };
	uint8_t *copy = malloc(n > 0 ? n : 1);
	union data d;
	int rc;

	memcpy(copy, data, n);
	f.data = copy;
	rc = read_data(&f, &d, err);
	free(copy);
	return rc;
}

START_TEST(a_frame_that_is_cut_has_not_come)
{
	struct link_frame f;
	struct fm_error err = { 0 };

	for (unsigned t = LINK_HELLO; t < LINK_TYPES; t++) {
		size_t n;
		uint8_t *bytes = frame_bytes(t, &n);

		for (size_t k = 0; k < n; k++) {
			evbuffer_add(in, bytes, k);
			ck_assert_int_eq(link_get(in, &f, &err), 0);
			evbuffer_drain(in, k);
		}
		free(bytes);
	}
}
END_TEST

/* Does it end where a shorter one may? */
static bool
may_end(unsigned type, size_t n)
{
	return type == LINK_BYE || (type == LINK_LIDS && n % 11 == 0) ||
	    (type == LINK_SMS && n % 8 == 0) || (type == LINK_PART && n >= 33) ||
	    (type != LINK_HELLO && type != LINK_MARKS && type != LINK_RECORDS &&
		type != LINK_LIDS && type != LINK_SMS && type != LINK_PART);
}

START_TEST(data_that_are_cut_are_refused)
{
	for (unsigned t = LINK_HELLO; t < LINK_TYPES; t++) {
		size_t n;
		uint8_t *bytes = frame_bytes(t, &n);

		for (size_t k = 0; k < n - HEAD; k++) {
			struct fm_error err = { 0 };
			int rc = read_cut(t, bytes + HEAD, k, &err);

			ck_assert_msg(rc == (may_end(t, k) ? 0 : FM_E_SYSTEM),
			    "%s of %zu bytes: %d", link_type_name(t), k, rc);
			ck_assert((rc != 0) == (err.msg[0] != '\0'));
		}
		free(bytes);
	}
}
END_TEST

/* A byte more than its type has. */
START_TEST(data_that_go_on_are_refused)
{
	static const enum link_type types[] = { LINK_HELLO, LINK_MARKS, LINK_RECORDS, LINK_LIDS,
		LINK_SMS };

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct fm_error err = { 0 };
		size_t n;
		uint8_t *bytes = frame_bytes(types[i], &n);

		bytes = realloc(bytes, n + 1);
		bytes[n] = 1;
		ck_assert_int_eq(read_cut(types[i], bytes + HEAD, n + 1 - HEAD, &err), FM_E_SYSTEM);
		ck_assert_ptr_nonnull(strstr(err.msg, link_type_name(types[i])));
		free(bytes);
	}
}
END_TEST

/* Any bytes changed: an answer, and nothing beyond the end is read. */
START_TEST(data_with_other_bytes_come_to_an_end)
{
	struct fm_rng rng;

	fm_rng_seed(&rng, (uint64_t)_i);
	for (unsigned t = LINK_HELLO; t < LINK_TYPES; t++) {
		size_t n;
		uint8_t *bytes = frame_bytes(t, &n);

		for (unsigned k = 0; n > HEAD && k < 40; k++) {
			struct fm_error err = { 0 };
			int rc;

			bytes[HEAD + fm_rng_below(&rng, (uint32_t)(n - HEAD))] =
			    (uint8_t)fm_rng_next(&rng);
			rc = read_cut(t, bytes + HEAD, n - HEAD, &err);
			ck_assert(rc == 0 || rc == FM_E_SYSTEM);
		}
		free(bytes);
	}
}
END_TEST

static int
get_with(unsigned at, uint8_t byte, struct fm_error *err)
{
	struct link_frame f;
	size_t n;
	uint8_t *bytes = frame_bytes(LINK_RECORDS, &n);
	int rc;

	bytes[at] = byte;
	evbuffer_add(in, bytes, n);
	free(bytes);
	rc = link_get(in, &f, err);
	evbuffer_drain(in, evbuffer_get_length(in));
	return rc;
}

START_TEST(a_head_that_lies_is_refused)
{
	struct fm_error err = { 0 };

	for (unsigned t = 0; t < 256; t++)
		if (t < LINK_HELLO || t >= LINK_TYPES)
			ck_assert_int_eq(get_with(4, (uint8_t)t, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "255"));
	ck_assert_int_eq(get_with(0, 0xff, &err), FM_E_SYSTEM); /* beyond LINK_MOST_BYTES */
	ck_assert_ptr_nonnull(strstr(err.msg, "RECORDS"));
	ck_assert_int_eq(get_with(0, 0x0f, &err), 0); /* fewer than may be: not yet */
}
END_TEST

/* A refusal needs no more than the head, so that nobody has to keep what is too long. */
START_TEST(a_head_is_refused_before_its_data_come)
{
	static const uint8_t head[HEAD] = { 0x10, 0, 0, 1, LINK_RECORDS };
	struct link_frame f;
	struct fm_error err = { 0 };

	evbuffer_add(in, head, sizeof(head));
	ck_assert_int_eq(link_get(in, &f, &err), FM_E_SYSTEM);
}
END_TEST

START_TEST(records_that_lie_are_refused)
{
	static const struct {
		uint8_t data[80];
		size_t n;
		int rc;
	} cases[] = {
		{ { 0, 0, 0, 0, 0 }, 5, 0 },
		{ { 1, 0, 0, 0, 1, 1, 0, 0, 'k' }, 9, 0 },
		{ { 1, 0, 0, 0, 1, 1, 0, 2, 'k', 'v', 'v' }, 11, 0 },
		{ { 2, 0, 0, 0, 1, 1, 0, 0, 'k' }, 9, FM_E_SYSTEM },
		{ { 1, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 'k' }, 9, FM_E_SYSTEM },
		{ { 1, 0, 0, 0, 2, 1, 0, 0, 'k' }, 9, FM_E_SYSTEM },
		{ { 1, 0, 0, 0, 0, 1, 0, 0, 'k' }, 9, FM_E_SYSTEM },
		{ { 1, 0, 0, 0, 1, 0, 0, 1, 'v' }, 9, FM_E_SYSTEM }, /* no key */
		{ { 1, 0, 0, 0, 1, 2, 0, 0, 'k' }, 9, FM_E_SYSTEM }, /* key too long */
		{ { 1, 0, 0, 0, 1, 1, 0xff, 0xff, 'k' }, 9, FM_E_SYSTEM },
		{ { 1, 0, 0, 0, 1, 64 }, 8 + 64, 0 },
		{ { 1, 0, 0, 0, 1, 65 }, 8 + 65, FM_E_SYSTEM },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fm_error err = { 0 };

		ck_assert_msg(
		    read_cut(LINK_RECORDS, cases[i].data, cases[i].n, &err) == cases[i].rc,
		    "case %u: %s", i, err.msg);
	}
}
END_TEST

static int
read_part_of(uint64_t which, uint64_t at, uint64_t n_all, size_t n)
{
	uint8_t data[64] = { (uint8_t)which };
	struct fm_error err = { 0 };

	store_put_number(data + 1, 1);
	store_put_number(data + 17, at);
	store_put_number(data + 25, n_all);
	return read_cut(LINK_PART, data, 33 + n, &err);
}

START_TEST(parts_that_lie_are_refused)
{
	ck_assert_int_eq(read_part_of(0, 0, 0, 0), 0);
	ck_assert_int_eq(read_part_of(LINK_FILES - 1, 10, 20, 10), 0);
	ck_assert_int_eq(read_part_of(0, LINK_MOST_BYTES - 10, LINK_MOST_BYTES, 10), 0);
	ck_assert_int_eq(read_part_of(LINK_FILES, 10, 20, 10), FM_E_SYSTEM);
	ck_assert_int_eq(read_part_of(0, 11, 20, 10), FM_E_SYSTEM);
	ck_assert_int_eq(read_part_of(0, 21, 20, 0), FM_E_SYSTEM);
	ck_assert_int_eq(read_part_of(0, UINT64_MAX - 5, 20, 10), FM_E_SYSTEM);
	ck_assert_int_eq(read_part_of(0, UINT64_MAX - 5, UINT64_MAX, 5), FM_E_SYSTEM);
	ck_assert_int_eq(read_part_of(0, 0, LINK_MOST_BYTES + 1u, 10), FM_E_SYSTEM);
}
END_TEST

START_TEST(another_version_is_named)
{
	struct fm_error err = { 0 };
	uint8_t data[16] = { 0 };

	store_put_number(data, 4711);
	ck_assert_int_eq(read_cut(LINK_HELLO, data, sizeof(data), &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "version 4711 "));
	ck_assert_ptr_nonnull(strstr(err.msg, "version 3:"));
	store_put_number(data, UINT64_C(1) << 32 | LINK_VERSION);
	ck_assert_int_eq(read_cut(LINK_HELLO, data, sizeof(data), &err), FM_E_SYSTEM);
}
END_TEST

START_TEST(a_bye_is_printable_and_fits)
{
	struct link_frame f = {
		.type = LINK_BYE, .data = (const uint8_t *)"a\n\033[2Jb\200", .n = 8
	};
	char text[64], few[4];

	link_read_bye(&f, text, sizeof(text));
	ck_assert_str_eq(text, "a  [2Jb?");
	link_read_bye(&f, few, sizeof(few));
	ck_assert_uint_eq(strlen(few), 3);
	f.n = 0;
	link_read_bye(&f, text, sizeof(text));
	ck_assert_str_eq(text, "");
}
END_TEST

/* What waits to be sent goes before it, at once: who says it closes. */
START_TEST(a_bye_does_not_wait)
{
	struct event_base *base = event_base_new();
	struct bufferevent *io;
	struct link_frame f;
	struct fm_error err = { 0 };
	char text[64];
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	io = bufferevent_socket_new(base, fd[0], BEV_OPT_CLOSE_ON_FREE);
	ck_assert(link_put(bufferevent_get_output(io), LINK_ALIVE, 1, 0, NULL));
	standby_say_bye(io, "it ends");
	bufferevent_free(io);
	event_base_free(base);
	ck_assert_int_gt(evbuffer_read(in, fd[1], 4096), 0);
	close(fd[1]);
	ck_assert_int_eq(link_get(in, &f, &err), 1);
	ck_assert_int_eq(f.type, LINK_ALIVE);
	link_drop(in, &f);
	ck_assert_int_eq(link_get(in, &f, &err), 1);
	ck_assert_int_eq(f.type, LINK_BYE);
	link_read_bye(&f, text, sizeof(text));
	ck_assert_str_eq(text, "it ends");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("link");
	TCase *t = tcase_create("link");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, frames_come_in_any_pieces, 0, (int)n_cases(N_SEEDS));
	tcase_add_test(t, types_have_names);
	tcase_add_test(t, a_frame_that_is_cut_has_not_come);
	tcase_add_test(t, data_that_are_cut_are_refused);
	tcase_add_test(t, data_that_go_on_are_refused);
	tcase_add_loop_test(t, data_with_other_bytes_come_to_an_end, 0, (int)n_cases(N_SEEDS));
	tcase_add_test(t, a_head_that_lies_is_refused);
	tcase_add_test(t, a_head_is_refused_before_its_data_come);
	tcase_add_test(t, records_that_lie_are_refused);
	tcase_add_test(t, parts_that_lie_are_refused);
	tcase_add_test(t, another_version_is_named);
	tcase_add_test(t, a_bye_is_printable_and_fits);
	tcase_add_test(t, a_bye_does_not_wait);
	suite_add_tcase(s, t);
	return run_suite(s);
}
