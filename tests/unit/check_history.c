/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last readings of each port: told as they were, within the steps of a byte, oldest first; kept
 * by port where nodes change; and whatever is found in the file is bad input like any other.
 */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/rng.h"
#include "perf/book/history.h"
#include "tests/folder.h"
#include "tests/run.h"

#define N_NODES 5
#define N_PORTS 35 /* 1 + 4 + 7 + 10 + 13 */
#define MBPS 100000
#define BEGUN INT64_C(1795975200000)

static char dir[FOLDER_ROOM], path[64], book_path[64];
static struct book_node nodes[N_NODES];

static void
set_up(void)
{
	uint32_t first = 0;

	folder_make(dir);
	snprintf(path, sizeof(path), "%s/counters.history", dir);
	snprintf(book_path, sizeof(book_path), "%s/counters", dir);
	for (uint32_t i = 0; i < N_NODES; i++) {
		nodes[i] = (struct book_node){
			.guid = 0x100 + i, .first_port = first, .n_ports = 1 + 3 * i
		};
		first += nodes[i].n_ports;
	}
}

static void
tear_down(void)
{
	folder_remove(dir);
}

static struct book *
make_book(const struct book_node *of, uint32_t n)
{
	struct fm_error err = { 0 };
	struct book *b;

	ck_assert_msg(book_make(book_path, of, n, (gid_t)-1, &b, &err) == 0, "%s", err.msg);
	return b;
}

static struct history *
make(const struct book_node *of, uint32_t n)
{
	struct fm_error err = { 0 };
	struct history *h;

	ck_assert_msg(history_make(path, of, n, (gid_t)-1, &h, &err) == 0, "%s", err.msg);
	return h;
}

/* What each port of each reading is to have: a function of both. */
static double
load_at(uint64_t guid, unsigned port, unsigned reading)
{
	return (reading % 7) * (double)(guid % 16 + port) / 200.0;
}

static uint64_t
wait_at(uint64_t guid, unsigned port, unsigned reading)
{
	return reading % 3 == 0 ? 0 : (guid * 1000 + port) * reading;
}

static void
put(struct history *h, struct book *b, const struct book_node *of, uint32_t n, unsigned reading)
{
	struct fm_error err = { 0 };

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t p = 1; p <= of[i].n_ports; p++) {
			struct book_port port = { .mbps = MBPS,
				.span_ms = 10000,
				.flags = (reading + p) % 10 == 9 ? BOOK_MISSING : 0,
				.xmit_rate =
				    (uint64_t)(load_at(of[i].guid, p, reading) * MBPS * 1e6 / 8),
				.wait_rate = wait_at(of[i].guid, p, reading) };

			book_put_port(b, of[i].first_port + p - 1, &port);
		}
	ck_assert_msg(history_put(h, b, BEGUN + reading * 10000, &err) == 0, "%s", err.msg);
}

/* Is it what was put, within a step? */
static void
check_point(const struct history_point *p, uint64_t guid, unsigned port, unsigned reading)
{
	double load = load_at(guid, port, reading), wait = (double)wait_at(guid, port, reading);

	ck_assert_int_eq(p->ended_ms, BEGUN + reading * 10000);
	if ((reading + port) % 10 == 9) {
		ck_assert(p->load < 0 && p->wait < 0);
		return;
	}
	ck_assert_msg(fabs(p->load - load) <= 0.02 * load, "load %g, not %g", p->load, load);
	ck_assert_msg(fabs(p->wait - wait) <= 0.05 * wait, "wait %g, not %g", p->wait, wait);
}

/* Readings first to last of each port of the nodes. */
static void
check_all(const struct book_node *of, uint32_t n, unsigned first, unsigned last)
{
	struct history_point points[HISTORY_SLOTS];
	struct fm_error err = { 0 };
	uint32_t found;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t p = 1; p <= of[i].n_ports; p++) {
			ck_assert_msg(history_read(path, of[i].guid, p, points, &found, &err) == 0,
			    "%s", err.msg);
			ck_assert_uint_eq(found, last - first + 1);
			for (uint32_t k = 0; k < found; k++)
				check_point(&points[k], of[i].guid, p, first + k);
		}
}

START_TEST(readings_are_told_as_they_were)
{
	struct book *b = make_book(nodes, N_NODES);
	struct history *h = make(nodes, N_NODES);

	for (unsigned r = 1; r <= 5; r++)
		put(h, b, nodes, N_NODES, r);
	check_all(nodes, N_NODES, 1, 5);
	for (unsigned r = 6; r <= HISTORY_SLOTS + 40; r++)
		put(h, b, nodes, N_NODES, r);
	check_all(nodes, N_NODES, 41, HISTORY_SLOTS + 40);
	history_close(h);
	book_close(b);
}
END_TEST

/* What a byte of load tells. */
static double
load_of(uint8_t byte)
{
	return byte == 1 ? 0 : pow(1.04, byte - 255);
}

/* By the points of each port; those that are 0 where nothing was read. */
static void
check_hour(const struct book_node *node, const uint8_t *bytes)
{
	struct history_point points[HISTORY_SLOTS];
	struct fm_error err;
	uint32_t n;

	for (uint32_t p = 0; p < node->n_ports; p++) {
		const uint8_t *of = bytes + (size_t)(node->first_port + p) * HISTORY_PORT_BYTES;
		double sum = 0, wait = -1;
		unsigned known = 0;

		ck_assert_int_eq(history_read(path, node->guid, p + 1, points, &n, &err), 0);
		for (uint32_t k = 0; k < n; k++) {
			known += points[k].load >= 0;
			sum += points[k].load >= 0 ? points[k].load : 0;
			wait = fmax(wait, points[k].wait);
		}
		ck_assert(known > 0 && of[0] > 0 && of[1] > 0);
		ck_assert_msg(fabs(load_of(of[0]) - sum / known) <= 0.02 * sum / known,
		    "load %g, not %g", load_of(of[0]), sum / known);
		ck_assert_msg(fabs(pow(1.1, of[1] - 2) - wait) <= 1e-6 * wait, "wait");
	}
}

START_TEST(an_hour_is_that_of_its_readings)
{
	struct book *b = make_book(nodes, N_NODES);
	struct history *h = make(nodes, N_NODES);
	struct book_node other[N_NODES];
	uint8_t bytes[HISTORY_PORT_BYTES * 64];
	struct fm_error err = { 0 };

	memset(bytes, 9, sizeof(bytes));
	ck_assert_int_eq(history_hour(path, nodes, N_NODES, bytes, &err), 0);
	for (uint32_t i = 0; i < HISTORY_PORT_BYTES * N_PORTS; i++)
		ck_assert_uint_eq(bytes[i], 0); /* nothing was read */
	for (unsigned r = 1; r <= HISTORY_SLOTS + 5; r++)
		put(h, b, nodes, N_NODES, r);
	ck_assert_int_eq(history_hour(path, nodes, N_NODES, bytes, &err), 0);
	for (uint32_t i = 0; i < N_NODES; i++)
		check_hour(&nodes[i], bytes);
	ck_assert_uint_eq(bytes[HISTORY_PORT_BYTES * N_PORTS], 9); /* and not beyond */
	memcpy(other, nodes, sizeof(other));
	other[2].guid++;
	ck_assert_int_eq(history_hour(path, other, N_NODES, bytes, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "has other nodes than the counters"));
	ck_assert_int_eq(history_hour(path, nodes, N_NODES - 1, bytes, &err), FM_E_SYSTEM);
	history_close(h);
	book_close(b);
}
END_TEST

START_TEST(bytes_have_an_end)
{
	struct book_node one = { .guid = 1, .n_ports = 3 };
	struct book *b = make_book(&one, 1);
	struct history *h = make(&one, 1);
	struct history_point points[HISTORY_SLOTS];
	struct fm_error err;
	uint32_t n;

	book_put_port(b, 0,
	    &(struct book_port){
		.mbps = 1, .span_ms = 1, .xmit_rate = UINT64_MAX, .wait_rate = UINT64_MAX });
	book_put_port(b, 1,
	    &(struct book_port){ .mbps = MBPS, .span_ms = 1, .xmit_rate = 1, .wait_rate = 1 });
	book_put_port(b, 2, &(struct book_port){ .mbps = 0, .span_ms = 1, .xmit_rate = 1 });
	ck_assert_int_eq(history_put(h, b, 1, &err), 0);
	ck_assert(history_read(path, 1, 1, points, &n, &err) == 0 && n == 1);
	ck_assert(points[0].load == 1 && points[0].wait > 1e10);
	ck_assert(history_read(path, 1, 2, points, &n, &err) == 0 && n == 1);
	ck_assert(points[0].load > 0 && points[0].load < 1e-4 && points[0].wait == 1);
	ck_assert(history_read(path, 1, 3, points, &n, &err) == 0 && n == 1);
	ck_assert(points[0].load == 0 && points[0].wait == 0);
	history_close(h);
	book_close(b);
}
END_TEST

/* Nodes in another order, one gone and a new one: a port is who it was. */
START_TEST(ports_keep_what_was_read_of_them)
{
	struct book_node other[N_NODES];
	struct history_point points[HISTORY_SLOTS];
	struct book *b = make_book(nodes, N_NODES);
	struct history *h = make(nodes, N_NODES);
	struct fm_error err;
	uint32_t first = 0, n;

	for (unsigned r = 1; r <= HISTORY_SLOTS + 3; r++)
		put(h, b, nodes, N_NODES, r);
	history_close(h);
	book_close(b);
	for (uint32_t i = 0; i < N_NODES; i++) {
		other[i] = nodes[N_NODES - 1 - i];
		if (i == 2)
			other[i].guid = 0x999;
		other[i].first_port = first;
		first += other[i].n_ports;
	}
	b = make_book(other, N_NODES);
	h = make(other, N_NODES);
	put(h, b, other, N_NODES, HISTORY_SLOTS + 4);
	check_all(other, 2, 5, HISTORY_SLOTS + 4);
	check_all(other + 3, 2, 5, HISTORY_SLOTS + 4);
	ck_assert(history_read(path, 0x999, 1, points, &n, &err) == 0 && n == HISTORY_SLOTS);
	for (uint32_t k = 0; k + 1 < n; k++)
		ck_assert(points[k].load < 0);
	check_point(&points[n - 1], 0x999, 1, HISTORY_SLOTS + 4);
	ck_assert_int_eq(history_read(path, nodes[2].guid, 1, points, &n, &err), FM_E_SYSTEM);
	ck_assert_int_eq(history_read(path, nodes[0].guid, 2, points, &n, &err), FM_E_SYSTEM);
	ck_assert_int_eq(history_read(path, nodes[0].guid, 0, points, &n, &err), FM_E_SYSTEM);
	history_close(h);
	book_close(b);
}
END_TEST

/* What is no such file has a sentence, and is written anew. */
START_TEST(what_is_no_such_file_is_refused)
{
	struct history_point points[HISTORY_SLOTS];
	struct fm_error err;
	uint32_t n;

	ck_assert_int_eq(history_read(path, 1, 1, points, &n, &err), FM_E_SYSTEM);
	folder_write(dir, "counters.history", "what is this?");
	ck_assert_int_eq(history_read(path, 1, 1, points, &n, &err), FM_E_TOPOLOGY);
	ck_assert_ptr_nonnull(strstr(err.msg, "it does not begin as one"));
	history_close(make(nodes, N_NODES));
	ck_assert(truncate(path, 1000) == 0);
	ck_assert_int_eq(history_read(path, 1, 1, points, &n, &err), FM_E_TOPOLOGY);
	ck_assert_ptr_nonnull(strstr(err.msg, "another size"));
	ck_assert(unlink(path) == 0 && mkfifo(path, 0600) == 0);
	ck_assert_int_eq(history_read(path, 1, 1, points, &n, &err), FM_E_TOPOLOGY);
	history_close(make(nodes, N_NODES));
	ck_assert(history_read(path, nodes[0].guid, 1, points, &n, &err) == 0 && n == 0);
}
END_TEST

/* Any bytes of it are others: a sentence, or points, and it can be taken over. */
START_TEST(any_bytes_may_be_others)
{
	struct book *b = make_book(nodes, N_NODES);
	struct history *h = make(nodes, N_NODES);
	struct history_point points[HISTORY_SLOTS];
	struct fm_error err;
	struct fm_rng rng;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint8_t hour[HISTORY_PORT_BYTES * N_PORTS];
	uint32_t n;

	fm_rng_seed(&rng, 1);
	for (unsigned r = 1; r <= 20; r++)
		put(h, b, nodes, N_NODES, r);
	history_close(h);
	for (int i = 0; i < 400; i++) {
		static const uint64_t odd[] = { 0, UINT64_MAX, 1, UINT64_C(1) << 63, 360, 361 };
		uint64_t was, at = 8 * fm_rng_below(&rng, i % 2 ? 24 : 800);
		uint64_t word = i % 3 ? odd[fm_rng_below(&rng, 6)] : fm_rng_next(&rng);

		ck_assert(pread(fd, &was, 8, (off_t)at) == 8);
		ck_assert(pwrite(fd, &word, 8, (off_t)at) == 8);
		if (history_read(path, nodes[3].guid, 2, points, &n, &err) == 0)
			ck_assert_uint_le(n, HISTORY_SLOTS);
		if (history_hour(path, nodes, N_NODES, hour, &err) != 0)
			ck_assert(err.msg[0] != '\0');
		if (i % 20 == 0) {
			history_close(make(nodes, N_NODES));
			close(fd);
			fd = open(path, O_RDWR | O_CLOEXEC);
		} else {
			ck_assert(pwrite(fd, &was, 8, (off_t)at) == 8);
		}
	}
	close(fd);
	book_close(b);
}
END_TEST

/* The greatest number that there is, in its slot. */
START_TEST(numbers_do_not_begin_anew)
{
	uint64_t slot = (UINT64_MAX - 1) % HISTORY_SLOTS, words[] = { UINT64_MAX, 1 };
	struct book_node one = { .guid = 1, .n_ports = 1 };
	struct history_point points[HISTORY_SLOTS];
	struct fm_error err;
	uint32_t n;
	int fd;

	history_close(make(&one, 1));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert(pwrite(fd, words, 16, (off_t)(8 * (8 + 2) + slot * 24)) == 16);
	close(fd);
	ck_assert(history_read(path, 1, 1, points, &n, &err) == 0 && n == 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("history");
	TCase *t = tcase_create("history");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, readings_are_told_as_they_were);
	tcase_add_test(t, an_hour_is_that_of_its_readings);
	tcase_add_test(t, bytes_have_an_end);
	tcase_add_test(t, ports_keep_what_was_read_of_them);
	tcase_add_test(t, what_is_no_such_file_is_refused);
	tcase_add_test(t, any_bytes_may_be_others);
	tcase_add_test(t, numbers_do_not_begin_anew);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
