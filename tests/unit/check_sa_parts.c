/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_sa_parts - which LIDs make paths (the listings of the CN5000 manual,
 * and all LMCs against sets worked out by hand), whose turn it is, and where
 * other subnets are.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/server/share.h"
#include "core/subnet/prefix_routes.h"
#include "core/view/path_pairs.h"
#include "lib/rng.h"
#include "lib/vec.h"
#include "tests/run.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ------------------------------------------------------------------ pairs */

/* "1/1 2/2 ...": LIDs from 1. */
static const char *
listing(enum sa_path_select select, unsigned lmc_s, int s, unsigned lmc_d, int d)
{
	static char text[4096];
	struct sa_pairs p;
	size_t n = 0;
	unsigned a, b;

	text[0] = '\0';
	sa_pairs_start(&p, select, lmc_s, s, lmc_d, d);
	while (sa_pairs_next(&p, &a, &b))
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, "%s%u/%u", n ? " " : "", a + 1, b + 1);
	return text;
}

START_TEST(manual_listings)
{
	ck_assert_str_eq(listing(SA_MINIMAL, 1, -1, 2, -1), "1/1 2/2");
	ck_assert_str_eq(listing(SA_PAIRWISE, 1, -1, 2, -1), "1/1 2/2 1/3 2/4");
	ck_assert_str_eq(listing(SA_ORDER_ALL, 1, -1, 2, -1), "1/1 2/2 1/3 2/4 1/2 1/4 2/1 2/3");
	ck_assert_str_eq(listing(SA_SRC_DST_ALL, 1, -1, 2, -1), "1/1 1/2 1/3 1/4 2/1 2/2 2/3 2/4");
}
END_TEST

START_TEST(fixed_lids)
{
	ck_assert_str_eq(listing(SA_MINIMAL, 1, 1, 2, -1), "2/2");
	ck_assert_str_eq(listing(SA_PAIRWISE, 1, 1, 2, -1), "2/2 2/4");
	ck_assert_str_eq(listing(SA_ORDER_ALL, 1, 1, 2, -1), "2/2 2/4 2/1 2/3");
	ck_assert_str_eq(listing(SA_SRC_DST_ALL, 1, 1, 2, -1), "2/1 2/2 2/3 2/4");
	ck_assert_str_eq(listing(SA_MINIMAL, 1, -1, 2, 2), "1/3");
	ck_assert_str_eq(listing(SA_PAIRWISE, 1, -1, 2, 3), "2/4");
	ck_assert_str_eq(listing(SA_ORDER_ALL, 1, -1, 2, 3), "2/4 1/4");
	for (int select = SA_MINIMAL; select <= SA_SRC_DST_ALL; select++)
		ck_assert_str_eq(listing((enum sa_path_select)select, 1, 1, 2, 2), "2/3");
}
END_TEST

/* Each pair once, all or as many as the mode says, fixed sides kept. */
START_TEST(every_lmc)
{
	static uint8_t seen[128 * 128];

	for (unsigned s = 0; s <= 7; s++)
		for (unsigned d = 0; d <= 7; d++)
			for (int select = SA_MINIMAL; select <= SA_SRC_DST_ALL; select++) {
				unsigned S = 1u << s, D = 1u << d, n = 0, a, b;
				unsigned least = S < D ? S : D, most = S < D ? D : S;
				unsigned want = select == SA_MINIMAL ? least
				    : select == SA_PAIRWISE	     ? most
								     : S * D;
				struct sa_pairs p;

				memset(seen, 0, sizeof(seen));
				sa_pairs_start(&p, (enum sa_path_select)select, s, -1, d, -1);
				while (sa_pairs_next(&p, &a, &b)) {
					ck_assert_uint_lt(a, S);
					ck_assert_uint_lt(b, D);
					ck_assert_uint_eq(seen[a * 128 + b]++, 0);
					n++;
				}
				ck_assert_uint_eq(n, want);
			}
}
END_TEST

/* ------------------------------------------------------------------ share */

static bool
put(struct sa_share *s, uint16_t lid, uint8_t what)
{
	struct mad_addr from = { .lid = lid };

	return sa_share_put(s, &from, &what, 1);
}

/* Who is next; 0: nobody. */
static uint16_t
take(struct sa_share *s, uint8_t *what)
{
	struct mad_addr from;
	const uint8_t *bytes;
	size_t n;

	if (!sa_share_take(s, &from, &bytes, &n))
		return 0;
	ck_assert_uint_eq(n, 1);
	*what = bytes[0];
	return from.lid;
}

START_TEST(turns)
{
	struct sa_share_limits l = { 100, 10, 1000, 1000 };
	struct sa_share *s = sa_share_new(&l);
	static const uint16_t order[] = { 7, 9, 12, 7, 12, 7, 0 };
	uint8_t what;

	for (uint8_t i = 0; i < 3; i++)
		ck_assert(put(s, 7, i));
	ck_assert(put(s, 9, 50));
	ck_assert(put(s, 12, 60));
	ck_assert(put(s, 12, 61));
	for (size_t i = 0; i < N_OF(order); i++)
		ck_assert_uint_eq(take(s, &what), order[i]);
	/* in the order they came */
	for (uint8_t i = 0; i < 5; i++)
		ck_assert(put(s, 7, i));
	for (uint8_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(take(s, &what), 7);
		ck_assert_uint_eq(what, i);
	}
	sa_share_free(s);
}
END_TEST

/* Who had much sits out; alone it is served at once all the same. */
START_TEST(debts)
{
	struct sa_share_limits l = { 1000, 500, 10000, 10000 };
	struct sa_share *s = sa_share_new(&l);
	unsigned n[10] = { 0 };
	uint8_t what;

	for (int i = 0; i < 200; i++) {
		ck_assert(put(s, 1, 0));
		ck_assert(put(s, 2, 0));
	}
	for (int i = 0; i < 110; i++) {
		uint16_t lid = take(s, &what);

		n[lid]++;
		sa_share_charge(s, lid == 1 ? 10 : 1);
	}
	ck_assert_uint_ge(n[1], 9);
	ck_assert_uint_le(n[1], 11);
	while (take(s, &what) != 0)
		sa_share_charge(s, 1000);
	ck_assert_uint_eq(sa_share_waiting(s), 0);
	ck_assert(put(s, 1, 3));
	ck_assert_uint_eq(take(s, &what), 1);
	sa_share_free(s);
}
END_TEST

START_TEST(bounds)
{
	struct sa_share_limits l = { 20, 5, 1000, 992 };
	struct sa_share *s = sa_share_new(&l);
	struct mad_addr from = { .lid = 3 };
	static uint8_t big[990];
	uint8_t what;

	for (int i = 0; i < 5; i++)
		ck_assert(put(s, 1, 0));
	ck_assert(!put(s, 1, 0)); /* its share */
	ck_assert(put(s, 2, 0));  /* others have theirs */
	ck_assert(!sa_share_put(s, &from, big, sizeof(big) + 10));
	ck_assert(sa_share_put(s, &from, big, sizeof(big)));
	ck_assert(!sa_share_put(s, &from, big, 3)); /* its share of the bytes */
	for (uint16_t lid = 10; lid < 40; lid++)
		put(s, lid, 0);
	ck_assert_uint_le(sa_share_waiting(s), 20);
	ck_assert_uint_eq(take(s, &what), 1);
	sa_share_free(s); /* with what still waits */
}
END_TEST

/* Nobody starves: random clients, each is served within a round of turns. */
START_TEST(nobody_starves)
{
	struct sa_share_limits l = { 4096, 64, 1u << 20, 1u << 20 };
	struct sa_share *s = sa_share_new(&l);
	unsigned waiting[300] = { 0 }, since[300] = { 0 }, n_all = 0;
	struct fm_rng rng;
	uint8_t what;

	fm_rng_seed(&rng, 2);
	for (int step = 0; step < 200000; step++) {
		uint16_t lid;

		if (fm_rng_below(&rng, 2)) {
			lid = (uint16_t)(1 + fm_rng_below(&rng, 299));
			if (fm_rng_below(&rng, 4))
				lid = 1; /* the greedy one */
			if (put(s, lid, 0)) {
				if (waiting[lid]++ == 0)
					since[lid] = 0;
				n_all++;
			}
			continue;
		}
		lid = take(s, &what);
		ck_assert_uint_eq(lid == 0, n_all == 0);
		if (lid == 0)
			continue;
		ck_assert_uint_gt(waiting[lid], 0);
		waiting[lid]--;
		n_all--;
		since[lid] = 0;
		for (unsigned c = 1; c < 300; c++)
			if (c != lid && waiting[c] > 0)
				ck_assert_uint_le(++since[c], 300);
	}
	sa_share_free(s);
}
END_TEST

/* ----------------------------------------------------------------- routes */

START_TEST(routes_are_read)
{
	static const char text[] = "# routers\n"
				   "0xfec0000000000001 0x0002c902000a1b2c\n"
				   "\n"
				   "  FEC0000000000002\t2c90200 # plain hexadecimal\r\n"
				   "*\t*\n";
	struct prefix_routes r;
	struct fm_error err = { 0 };

	ck_assert_int_eq(prefix_routes_parse("f", text, sizeof(text) - 1, &r, NULL, &err), 0);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_uint_eq(r.item[0].prefix, 0xfec0000000000001);
	ck_assert_uint_eq(r.item[0].guid, 0x0002c902000a1b2c);
	ck_assert(!r.item[0].any_prefix && !r.item[0].any_guid);
	ck_assert_uint_eq(r.item[1].guid, 0x2c90200);
	ck_assert(r.item[2].any_prefix && r.item[2].any_guid);
	fm_vec_fini(&r);
}
END_TEST

START_TEST(wrong_routes)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "0xfec0\n", "f:1: a GUID is to be" },
		{ "\n0xfec0 xyz\n", "f:2: a GUID is to be" },
		{ "fec0x 1\n", "f:1: a prefix is to be" },
		{ "11111111111111111 1\n", "f:1: a prefix is to be" },
		{ "1 2 3\n", "f:1: more than" },
		{ "** 1\n", "f:1: a prefix" },
		{ "0x 1\n", "f:1: a prefix" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct prefix_routes r;
		struct fm_error err = { 0 };

		ck_assert_int_eq(
		    prefix_routes_parse("f", rows[i].text, strlen(rows[i].text), &r, NULL, &err),
		    FM_E_CONFIG);
		ck_assert_msg(
		    strstr(err.msg, rows[i].words) != NULL, "\"%s\" for %s", err.msg, rows[i].text);
		ck_assert_ptr_null(r.item);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sa_parts");
	TCase *tc = tcase_create("sa_parts");

	suite_add_tcase(s, tc);
	tcase_add_test(tc, manual_listings);
	tcase_add_test(tc, fixed_lids);
	tcase_add_test(tc, every_lmc);
	tcase_add_test(tc, turns);
	tcase_add_test(tc, debts);
	tcase_add_test(tc, bounds);
	tcase_add_test(tc, nobody_starves);
	tcase_add_test(tc, routes_are_read);
	tcase_add_test(tc, wrong_routes);
	return run_suite(s);
}
