/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What counters mean that are read one after the other: differences, ends, rounds, resets; by
 * cases, and by histories of devices whose true counts are known.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/wire.h"
#include "lib/rng.h"
#include "perf/reader/meaning.h"
#include "tests/run.h"

#define END(bits) ((bits) == 64 ? UINT64_MAX : (UINT64_C(1) << (bits)) - 1)

static struct meaning m;
static struct meaning_news news;

/* One counter of an answer, the others of which are as they are. */
static void
show(struct pma_reading *r, enum counter c, uint8_t bits, uint64_t value)
{
	r->has |= 1u << c;
	r->bits[c] = bits;
	r->value[c] = value;
	r->at_end &= ~(1u << c);
	if (value == END(bits))
		r->at_end |= 1u << c;
}

static uint64_t
add(enum counter c, uint8_t bits, uint64_t value)
{
	struct pma_reading r = { 0 };

	show(&r, c, bits, value);
	meaning_take(&m, &r, &news);
	return news.added[c];
}

START_TEST(differences)
{
	m = (struct meaning){ 0 };
	ck_assert_uint_eq(add(COUNTER_RCV_ERRORS, 16, 500), 0); /* nobody knows since when */
	ck_assert_uint_eq(add(COUNTER_RCV_ERRORS, 16, 500), 0);
	ck_assert_uint_eq(add(COUNTER_RCV_ERRORS, 16, 507), 7);
	ck_assert(!news.was_reset && news.at_end == 0);
	/* the same counter by another attribute is another counter */
	ck_assert_uint_eq(add(COUNTER_RCV_ERRORS, 64, 9000), 0);
	ck_assert_uint_eq(add(COUNTER_RCV_ERRORS, 64, 9001), 1);
	ck_assert_uint_eq(add(COUNTER_RCV_ERRORS, 16, 1), 0);
}
END_TEST

/* It sticks, and says "at least"; when it has been cleared it counts again. */
START_TEST(ends)
{
	m = (struct meaning){ 0 };
	add(COUNTER_LINK_DOWNED, 8, 250);
	ck_assert_uint_eq(add(COUNTER_LINK_DOWNED, 8, 255), 5);
	ck_assert_uint_eq(news.at_end, 1u << COUNTER_LINK_DOWNED);
	ck_assert_uint_eq(add(COUNTER_LINK_DOWNED, 8, 255), 0);
	ck_assert_uint_eq(news.at_end, 1u << COUNTER_LINK_DOWNED);
	ck_assert_uint_eq(add(COUNTER_LINK_DOWNED, 8, 3), 3);
	ck_assert(news.was_reset && news.at_end == 0);
}
END_TEST

/* An error counter that fell was cleared: it has not counted 65,000 errors. */
START_TEST(errors_that_fell)
{
	m = (struct meaning){ 0 };
	add(COUNTER_SYMBOL_ERRORS, 16, 60000);
	ck_assert_uint_eq(add(COUNTER_SYMBOL_ERRORS, 16, 12), 12);
	ck_assert(news.was_reset);
	add(COUNTER_XMIT_DATA, 64, UINT64_MAX - 5);
	ck_assert_uint_eq(add(COUNTER_XMIT_DATA, 64, 12), 12);
	ck_assert(news.was_reset);
}
END_TEST

START_TEST(rounds)
{
	struct pma_reading r = { 0 };

	m = (struct meaning){ 0 };
	add(COUNTER_XMIT_DATA, 32, 0xfffffff0);
	ck_assert_uint_eq(add(COUNTER_XMIT_DATA, 32, 0x10), 0x20);
	ck_assert(!news.was_reset);
	/* one that had stuck has not gone round */
	add(COUNTER_RCV_DATA, 32, UINT32_MAX);
	ck_assert_uint_eq(add(COUNTER_RCV_DATA, 32, 5), 5);
	ck_assert(news.was_reset);
	/* a small one that is smaller */
	ck_assert_uint_eq(add(COUNTER_XMIT_DATA, 32, 7), 7);
	ck_assert(news.was_reset);
	/* LinkDowned says that it was booted */
	m = (struct meaning){ 0 };
	show(&r, COUNTER_XMIT_DATA, 32, 0xfffffff0);
	show(&r, COUNTER_RCV_DATA, 32, 100);
	show(&r, COUNTER_LINK_DOWNED, 8, 2);
	meaning_take(&m, &r, &news);
	show(&r, COUNTER_XMIT_DATA, 32, 5);
	show(&r, COUNTER_RCV_DATA, 32, 200);
	show(&r, COUNTER_LINK_DOWNED, 8, 0);
	meaning_take(&m, &r, &news);
	ck_assert(news.was_reset);
	ck_assert_uint_eq(news.added[COUNTER_XMIT_DATA], 5);
	ck_assert_uint_eq(news.added[COUNTER_RCV_DATA], 100);
	/* all fell at once, though each of them could have gone round */
	show(&r, COUNTER_XMIT_DATA, 32, 0xfffffff0);
	show(&r, COUNTER_RCV_DATA, 32, 0xfffffff0);
	meaning_take(&m, &r, &news);
	show(&r, COUNTER_XMIT_DATA, 32, 5);
	show(&r, COUNTER_RCV_DATA, 32, 6);
	meaning_take(&m, &r, &news);
	ck_assert(news.was_reset);
	ck_assert_uint_eq(news.added[COUNTER_XMIT_DATA], 5);
}
END_TEST

/* ------------------------------------------------------------------ histories */

struct device {
	uint64_t shown[N_COUNTERS], truth[N_COUNTERS]; /* since it was first read */
	uint8_t bits[N_COUNTERS];
	bool goes_round; /* its counters of data of 32 bits do */
	bool was_cleared;
};

static void
make_device(struct device *d, struct fm_rng *rng)
{
	static const uint8_t narrow[] = { 16, 8, 8, 16, 16, 16, 16, 8, 8, 4, 4, 16, 16 };
	bool wide_data = fm_rng_below(rng, 2) != 0, wide = wide_data && fm_rng_below(rng, 2) != 0;

	*d = (struct device){ .goes_round = fm_rng_below(rng, 2) != 0 };
	for (unsigned c = 0; c <= COUNTER_XMIT_WAIT; c++) {
		d->bits[c] = c < COUNTER_XMIT_DATA ? narrow[c] : 32;
		if (wide || (wide_data && c >= COUNTER_XMIT_DATA && c < COUNTER_XMIT_WAIT))
			d->bits[c] = 64;
		d->shown[c] = fm_rng_next(rng) >> 32 & END(d->bits[c]);
	}
}

static void
count(struct device *d, enum counter c, uint64_t n)
{
	uint64_t end = END(d->bits[c]), room = end - d->shown[c];

	d->truth[c] += n;
	if (n <= room)
		d->shown[c] += n;
	else
		d->shown[c] = d->goes_round && c >= COUNTER_XMIT_DATA ? n - room - 1 : end;
}

/* Data grows by less than half a round between two reads, errors seldom and little. */
static void
live(struct device *d, struct fm_rng *rng)
{
	for (unsigned c = 0; c <= COUNTER_XMIT_WAIT; c++)
		if (c >= COUNTER_XMIT_DATA)
			count(d, c, fm_rng_below(rng, 1u << 31));
		else if (fm_rng_below(rng, 4) == 0)
			count(d, c, fm_rng_below(rng, 9));
}

/* Booted, or the errors cleared. */
static void
clear(struct device *d, struct fm_rng *rng)
{
	unsigned first = 0,
		 behind = fm_rng_below(rng, 2) != 0 ? COUNTER_XMIT_WAIT + 1 : COUNTER_XMIT_DATA;

	d->was_cleared = true;
	for (unsigned c = first; c < behind; c++)
		d->shown[c] = 0;
}

static void
read_device(const struct device *d, struct pma_reading *r)
{
	*r = (struct pma_reading){ 0 };
	for (unsigned c = 0; c <= COUNTER_XMIT_WAIT; c++)
		show(r, c, d->bits[c], d->shown[c]);
}

/* Never more than there was; where nothing was cleared and nothing has stuck, all. */
START_TEST(histories)
{
	uint64_t sum[N_COUNTERS] = { 0 };
	uint32_t at_end = 0;
	bool clears = _i % 2 != 0;
	struct pma_reading r;
	struct fm_rng rng;
	struct device d;

	fm_rng_seed(&rng, (uint64_t)_i);
	make_device(&d, &rng);
	m = (struct meaning){ 0 };
	read_device(&d, &r);
	meaning_take(&m, &r, &news);
	at_end = news.at_end;
	for (int step = 0; step < 300; step++) {
		live(&d, &rng);
		if (clears && fm_rng_below(&rng, 40) == 0) {
			clear(&d, &rng);
			if (fm_rng_below(&rng, 2) != 0)
				live(&d, &rng);
		}
		read_device(&d, &r);
		meaning_take(&m, &r, &news);
		at_end |= news.at_end;
		for (unsigned c = 0; c <= COUNTER_XMIT_WAIT; c++) {
			sum[c] += news.added[c];
			ck_assert_msg(d.was_cleared && d.goes_round && d.bits[c] == 32 &&
				    c >= COUNTER_XMIT_DATA
				? true
				: sum[c] <= d.truth[c],
			    "%s: %ju for %ju, step %d", counter_name(c), (uintmax_t)sum[c],
			    (uintmax_t)d.truth[c], step);
			if (!d.was_cleared && (at_end >> c & 1) == 0)
				ck_assert_msg(sum[c] == d.truth[c], "%s: %ju, not %ju, step %d",
				    counter_name(c), (uintmax_t)sum[c], (uintmax_t)d.truth[c],
				    step);
		}
	}
}
END_TEST

/* ------------------------------------------------------------------ the wire */

START_TEST(only_questions)
{
	uint8_t mad[MAD_BYTES];

	for (unsigned attr = 0; attr < PMA_ATTRS; attr++)
		for (unsigned port = 0; port < 256; port++) {
			pma_get(mad, attr, (uint8_t)port, 0x1234567);
			ck_assert_uint_eq(mad[3], WIRE_GET);
			ck_assert_uint_eq(mad[1], PMA_CLASS);
			for (unsigned i = 66; i < MAD_BYTES; i++)
				ck_assert_uint_eq(mad[i], 0); /* no counter is selected */
		}
}
END_TEST

START_TEST(answers)
{
	uint8_t mad[MAD_BYTES];
	struct pma_info info = { .has_wait = true };
	struct pma_answer a;
	struct pma_reading r;

	pma_get(mad, PMA_PORT_COUNTERS, 7, 0x1234567);
	ck_assert(!pma_parse(mad, sizeof(mad), &a)); /* a question is no answer */
	mad[3] = WIRE_GET_RESP;
	ck_assert(!pma_parse(mad, sizeof(mad) - 1, &a));
	ck_assert(pma_parse(mad, sizeof(mad), &a));
	ck_assert(a.tid == 0x1234567 && a.port == 7 && a.attr == PMA_PORT_COUNTERS);
	mad[64 + 19] = 0xf3;
	wire_put32(mad + 64 + 40, 99);
	pma_parse_counters(mad, a.attr, &info, &r);
	ck_assert_uint_eq(r.value[COUNTER_LINK_INTEGRITY], 15);
	ck_assert_uint_eq(r.value[COUNTER_BUFFER_OVERRUN], 3);
	ck_assert_uint_eq(r.at_end, 1u << COUNTER_LINK_INTEGRITY);
	ck_assert_uint_eq(r.value[COUNTER_XMIT_WAIT], 99);
	info.has_wait = false;
	pma_parse_counters(mad, a.attr, &info, &r);
	ck_assert_uint_eq(r.has >> COUNTER_XMIT_WAIT & 1, 0);
	/* lanes are added, one at its end is enough */
	memset(mad + 64, 0, MAD_BYTES - 64);
	wire_put32(mad + 64 + 44, UINT32_MAX);
	wire_put32(mad + 64 + 44 + 4 * 11, 2);
	pma_parse_counters(mad, PMA_SPEEDS, &info, &r);
	ck_assert_uint_eq(r.value[COUNTER_FEC_CORRECTED], UINT64_C(0x100000001));
	ck_assert_uint_eq(r.at_end, 1u << COUNTER_FEC_CORRECTED);
}
END_TEST

START_TEST(who_it_says_it_is)
{
	uint8_t mad[MAD_BYTES] = { 0 };
	struct pma_info info;

	wire_put16(mad + 64 + 2, 0x1200);
	wire_put32(mad + 64 + 4, 2u << 5 | 18);
	pma_parse_info(mad, &info);
	ck_assert(info.has_64 && info.has_ietf && info.has_wait && info.has_errors_64);
	ck_assert(!info.redirects && !info.has_qp1);
	wire_put16(mad + 64 + 28, 77);
	wire_put32(mad + 64 + 32, 0xff100003);
	wire_put32(mad + 64 + 36, 5);
	mad[64 + 25] = 0x30;
	pma_parse_info(mad, &info);
	ck_assert(info.redirects && info.to.lid == 77 && info.to.qpn == 0x100003);
	ck_assert(info.to.qkey == 5 && info.to.sl == 3);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("meaning");
	TCase *t = tcase_create("meaning");

	tcase_add_test(t, differences);
	tcase_add_test(t, ends);
	tcase_add_test(t, errors_that_fell);
	tcase_add_test(t, rounds);
	tcase_add_loop_test(t, histories, 0, 400);
	tcase_add_test(t, only_questions);
	tcase_add_test(t, answers);
	tcase_add_test(t, who_it_says_it_is);
	suite_add_tcase(s, t);
	return run_suite(s);
}
