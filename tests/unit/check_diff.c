/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file as what differs from an earlier one: it comes to the same bytes, costs what has changed,
 * and a difference that lies makes no file.
 */
#include <check.h>
#include <string.h>

#include "core/standby/diff.h"
#include "lib/rng.h"
#include "tests/run.h"

#define N_SEEDS 12
#define N_TURNS 25 /* of each */
#define ROWS 60
#define ROW 900 /* bytes, of which 8 say whose it is */
#define MOST (ROWS * ROW * 2)

static uint8_t *old, *now, *made;
static size_t n_old, n_now, n_made;
static struct diff diff;
static struct fm_rng rng;

static void
setup(void)
{
	old = malloc(MOST);
	now = malloc(MOST);
	made = NULL;
	diff = (struct diff){ 0 };
	ck_assert(old != NULL && now != NULL);
}

static void
teardown(void)
{
	free(old);
	free(now);
	free(made);
	free(diff.item);
}

/* Rows that are much alike, as those of tables are. */
static void
make_rows(void)
{
	n_old = ROWS * ROW;
	for (size_t i = 0; i < n_old; i++) {
		size_t row = i / ROW, at = i % ROW;

		old[i] = at < 7 ? 0x55 : at == 7 ? (uint8_t)row : (uint8_t)(at % 18);
		if (at / 18 == row % 40)
			old[i] = (uint8_t)row;
	}
	memcpy(now, old, n_old);
	n_now = n_old;
}

static void
put_in(size_t at, size_t n)
{
	ck_assert_uint_le(n_now + n, MOST);
	memmove(now + at + n, now + at, n_now - at);
	for (size_t i = 0; i < n; i++)
		now[at + i] = (uint8_t)fm_rng_next(&rng);
	n_now += n;
}

static void
take_out(size_t at, size_t n)
{
	n = n < n_now - at ? n : n_now - at;
	memmove(now + at, now + at + n, n_now - at - n);
	n_now -= n;
}

static int
apply(const uint8_t *bytes, size_t n, struct fm_error *err)
{
	/* in memory that ends there, so that ASan sees what is read beyond */
	uint8_t *copy = malloc(n > 0 ? n : 1), *base = malloc(n_old > 0 ? n_old : 1);
	int rc;

	memcpy(copy, bytes, n);
	memcpy(base, old, n_old);
	free(made);
	rc = diff_apply(base, n_old, copy, n, &made, &n_made, err);
	ck_assert((rc == 0) == (made != NULL));
	ck_assert((rc != 0) == (err->msg[0] != '\0'));
	free(copy);
	free(base);
	return rc;
}

static void
there_and_back(size_t most)
{
	struct fm_error err = { 0 };

	free(diff.item);
	ck_assert(diff_make(old, n_old, now, n_now, MOST, &diff));
	ck_assert_uint_le(diff.n, most);
	ck_assert_msg(apply(diff.item, diff.n, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(n_made, n_now);
	ck_assert_mem_eq(made, now, n_now);
}

/* --------------------------------------------------------------- there and back */

static void
change_something(void)
{
	size_t at = fm_rng_below(&rng, (uint32_t)n_now);
	size_t n = fm_rng_below(&rng, fm_rng_below(&rng, 3) == 0 ? 3 * ROW : 20);

	switch (fm_rng_below(&rng, 4)) {
	case 0:
		put_in(at, n);
		break;
	case 1:
		take_out(at, n);
		break;
	case 2: /* rows change places */
		n = n < n_now - at ? n : n_now - at;
		memmove(now + fm_rng_below(&rng, (uint32_t)(n_now - n + 1)), now + at, n);
		break;
	default:
		now[at] ^= 0xff;
	}
}

START_TEST(any_changes_come_to_the_same_bytes)
{
	fm_rng_seed(&rng, (uint64_t)_i);
	for (unsigned turn = 0; turn < N_TURNS; turn++) {
		make_rows();
		if (turn % 5 == 0) {
			take_out(0, fm_rng_below(&rng, ROW));
			memcpy(old, now, n_now);
			n_old = n_now;
		}
		for (unsigned k = fm_rng_below(&rng, 20); k > 0 && n_now > 0; k--)
			change_something();
		if (n_now / 2 <= n_old)
			there_and_back(MOST);
	}
}
END_TEST

START_TEST(short_files_and_none)
{
	make_rows();
	for (size_t a = 0; a < 140; a++)
		for (size_t b = 0; b <= 2 * a; b += 1 + b / 9) {
			n_old = a;
			n_now = b;
			memcpy(now, old + 1, b);
			there_and_back(MOST);
		}
	n_old = 0;
	n_now = 2;
	free(diff.item);
	ck_assert(!diff_make(old, n_old, now, n_now, MOST, &diff));
	ck_assert_ptr_null(diff.item);
}
END_TEST

/* ------------------------------------------------------------------ what it costs */

START_TEST(it_costs_what_has_changed)
{
	fm_rng_seed(&rng, 1);
	make_rows();
	there_and_back(20); /* nothing */
	for (size_t row = 0; row < ROWS; row++)
		now[row * ROW + 300] = 0xee;
	there_and_back(ROWS * 7 + 20);
	make_rows();
	put_in(5000, 16);
	put_in(100, 3);
	take_out(
	    20 * ROW, ROW); /* the rows behind are other rows, and not those that stood there */
	now[30 * ROW] = 0xee;
	there_and_back(100);
}
END_TEST

START_TEST(a_file_that_is_another_is_refused)
{
	fm_rng_seed(&rng, 1);
	make_rows();
	n_now = 0;
	put_in(0, ROWS * ROW);
	ck_assert(!diff_make(old, n_old, now, n_now, n_now / 2, &diff));
	ck_assert_ptr_null(diff.item);
	n_now = 0;
	put_in(0, 1);
	there_and_back(20);
}
END_TEST

/* ----------------------------------------------------------------- what lies */

static void
make_one(void)
{
	fm_rng_seed(&rng, 1);
	make_rows();
	put_in(777, 5);
	take_out(3000, 10);
	now[9000] ^= 1;
	there_and_back(MOST);
}

START_TEST(what_is_cut_makes_nothing)
{
	make_one();
	for (size_t n = 0; n < diff.n; n++) {
		struct fm_error err = { 0 };

		ck_assert_int_eq(apply(diff.item, n, &err), FM_E_SYSTEM);
	}
}
END_TEST

/* Also where it makes so many bytes, they are others. */
START_TEST(another_file_is_told_by_its_sum)
{
	struct fm_error err = { 0 };

	make_one();
	old[n_old - 1] ^= 1;
	ck_assert_int_eq(apply(diff.item, diff.n, &err), FM_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "is to another file than is here"));
	n_old -= 100;
	ck_assert_int_eq(apply(diff.item, diff.n, &err), FM_E_SYSTEM);
}
END_TEST

START_TEST(other_bytes_make_nothing_or_the_same)
{
	make_one();
	fm_rng_seed(&rng, (uint64_t)_i);
	for (unsigned turn = 0; turn < N_TURNS * 40; turn++) {
		struct fm_error err = { 0 };
		size_t at;

		if (turn % 40 == 0)
			there_and_back(MOST);
		at = fm_rng_below(&rng, (uint32_t)diff.n);
		diff.item[at] = (uint8_t)fm_rng_next(&rng);
		if (apply(diff.item, diff.n, &err) == 0)
			ck_assert(n_made == n_now && memcmp(made, now, n_now) == 0);
	}
}
END_TEST

#define HUGE_NUMBER 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1

static const struct liar {
	const char *why;
	uint8_t bytes[32];
	size_t n;
} liars[] = {
	{ "has no head", { 1 }, 1 },
	{ "has no head", { 1, HUGE_NUMBER }, 11 }, /* of a length that nobody has */
	{ "has no head", { HUGE_NUMBER, 0xff, 0xff, 0xff, 0xff, 1 }, 15 },
	{ "has no head", { 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 }, 12 },
	{ "ends within a step", { 1, 10, 0, 1 }, 4 },
	{ "ends within a step", { 1, 10, 0, 0, 2, 'x' }, 6 },
	{ "ends within a step", { 1, 10, 0, 0, HUGE_NUMBER }, 14 },
	{ "copies from beyond", { 1, 10, 0, 101, 0 }, 5 },
	{ "copies from beyond", { 1, 10, 0, HUGE_NUMBER, 0 }, 14 },
	{ "copies from beyond", { 1, 10, 200, 1, 1, 0 }, 6 },
	{ "copies from beyond", { 1, 10, HUGE_NUMBER, 1, 0 }, 14 },
	{ "copies from beyond", { 1, 10, 3, 1, 0 }, 5 }, /* before it */
	{ "makes more", { 1, 10, 0, 11, 0 }, 5 },
	{ "makes more", { 1, 3, 0, 0, 4, 1, 2, 3, 4 }, 9 },
	{ "makes more", { 1, 3, 0, 3, 1, 'x' }, 6 },
	{ "makes nothing", { 1, 10, 0, 0, 0 }, 5 },
	{ "another file", { 1, 10, 0, 9, 0 }, 5 },
	{ "another file", { 1, 10, 0, 10, 0 }, 5 },
	{ "another file", { 1, 10 }, 2 },
};

START_TEST(those_that_lie_are_refused)
{
	make_rows();
	n_old = 100;
	for (unsigned i = 0; i < sizeof(liars) / sizeof(liars[0]); i++) {
		struct fm_error err = { 0 };

		ck_assert_int_eq(apply(liars[i].bytes, liars[i].n, &err), FM_E_SYSTEM);
		ck_assert_msg(strstr(err.msg, liars[i].why) != NULL, "%u: %s", i, err.msg);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("diff");
	TCase *t = tcase_create("diff");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, any_changes_come_to_the_same_bytes, 0, (int)n_cases(N_SEEDS));
	tcase_add_test(t, short_files_and_none);
	tcase_add_test(t, it_costs_what_has_changed);
	tcase_add_test(t, a_file_that_is_another_is_refused);
	tcase_add_test(t, what_is_cut_makes_nothing);
	tcase_add_test(t, another_file_is_told_by_its_sum);
	tcase_add_loop_test(t, other_bytes_make_nothing_or_the_same, 0, (int)n_cases(N_SEEDS));
	tcase_add_test(t, those_that_lie_are_refused);
	suite_add_tcase(s, t);
	return run_suite(s);
}
