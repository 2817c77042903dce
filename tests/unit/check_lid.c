/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Giving out LIDs: order of trust, conflicts, alignment, exhaustion; and the
 * walk of the switches; OpenSM's guid2lid.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/subnet/guid2lid.h"
#include "core/graph/switch_order.h"
#include "core/subnet/lid.h"
#include "lib/log.h"
#include "tests/run.h"

static char logged[2048];

static void
keep_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	snprintf(logged, sizeof(logged), "%s", line);
}

static void
setup(void)
{
	logged[0] = '\0';
	fm_log_set_sink(keep_log, NULL);
}

START_TEST(test_fresh)
{
	struct lid_want w[] = { { .guid = 9 }, { .guid = 3, .lmc = 2 }, { .guid = 5 },
		{ .guid = 1, .lmc = 1 } };
	struct fm_error err;

	ck_assert_int_eq(lid_assign(w, 4, true, &err), 0);
	ck_assert_uint_eq(w[0].lid, 1);
	ck_assert_uint_eq(w[1].lid, 4);
	ck_assert_uint_eq(w[2].lid, 2);
	ck_assert_uint_eq(w[3].lid, 8);
	ck_assert_str_eq(logged, "");
}
END_TEST

START_TEST(test_order_of_trust)
{
	struct lid_want w[] = { { .guid = 1, .present = 7 }, { .guid = 2, .stored = 7 },
		{ .guid = 3, .stored = 8, .present = 9 }, { .guid = 4, .present = 9 } };
	struct fm_error err;

	ck_assert_int_eq(lid_assign(w, 4, true, &err), 0);
	ck_assert_uint_eq(w[1].lid, 7);
	ck_assert_uint_eq(w[0].lid, 1);
	ck_assert_uint_eq(w[2].lid, 8);
	ck_assert_uint_eq(w[3].lid, 9);
	ck_assert_ptr_nonnull(
	    strstr(logged, "LID 7 is claimed by two ports: port 0x0000000000000002 keeps it"));
	ck_assert_int_eq(lid_assign(w, 4, false, &err), 0);
	ck_assert_uint_eq(w[3].lid, 2);
}
END_TEST

START_TEST(test_conflicts_by_guid)
{
	struct lid_want w[] = { { .guid = 5, .stored = 4, .lmc = 2 }, { .guid = 3, .stored = 6 },
		{ .guid = 4, .stored = 6 } };
	struct fm_error err;

	ck_assert_int_eq(lid_assign(w, 3, true, &err), 0);
	ck_assert_uint_eq(w[1].lid, 6); /* the smallest GUID */
	ck_assert_uint_eq(w[0].lid, 8); /* evicted, then first fit */
	ck_assert_uint_eq(w[2].lid, 1);
}
END_TEST

START_TEST(test_unusable)
{
	struct lid_want w[] = { { .guid = 1, .present = 6, .lmc = 2 },
		{ .guid = 2, .stored = 0xC000 }, { .guid = 3, .stored = 0xBFFF } };
	struct fm_error err;

	ck_assert_int_eq(lid_assign(w, 3, true, &err), 0);
	ck_assert_uint_eq(w[0].lid, 4);
	ck_assert_uint_eq(w[1].lid, 1);
	ck_assert_uint_eq(w[2].lid, 0xBFFF);
	ck_assert_str_eq(logged,
	    "the LIDs of 2 ports do not fit their LMCs, and they get others: LID 49152 of port "
	    "0x0000000000000002 (LMC 0), LID 6 of port 0x0000000000000001 (LMC 2)");
}
END_TEST

START_TEST(test_exhausted)
{
	uint32_t n = LID_UNICAST_MAX + 1u;
	struct lid_want *w = calloc(n, sizeof(*w));
	struct fm_error err;

	for (uint32_t i = 0; i < n; i++)
		w[i].guid = i + 1;
	ck_assert_int_eq(lid_assign(w, n - 1, true, &err), 0);
	ck_assert_uint_eq(w[n - 2].lid, LID_UNICAST_MAX);
	ck_assert_int_eq(lid_assign(w, n, true, &err), FM_E_RESOURCE);
	ck_assert_ptr_nonnull(strstr(err.msg, "want 49152 LIDs, 49151 exist"));
	free(w);
}
END_TEST

/* Two pods of two leaves, numbered crosswise, one aggregation switch each,
 * one spine: 0,2 pod A; 1,3 pod B; 4,5 aggregation; 6 spine; 7 alone. */
START_TEST(test_switch_order)
{
	static const uint32_t first[] = { 0, 1, 2, 3, 4, 7, 10, 12, 12 };
	static const uint32_t to[] = { 4, 5, 4, 5, 0, 2, 6, 1, 3, 6, 4, 5 };
	static const uint8_t is_leaf[] = { 1, 1, 1, 1, 0, 0, 0, 0 };
	static const uint32_t expected[] = { 0, 2, 1, 3, 4, 6, 5, 7 };
	uint32_t order[8];
	struct fm_error err;

	ck_assert_int_eq(switch_order(8, first, to, is_leaf, order, &err), 0);
	ck_assert_mem_eq(order, expected, sizeof(expected));
	ck_assert_int_eq(switch_order(0, first, to, is_leaf, order, &err), 0);
}
END_TEST

static const char remembered[] = "0x0200f40000002f01 0x002f 0x002f\n\n"
				 "0x0200f40000000100 0x0004 0x0007\r\n\n# by hand\n 2c90 0x1 1";

START_TEST(test_guid2lid)
{
	struct guid2lid g = { 0 };
	struct fm_error err;

	ck_assert_msg(guid2lid_parse("g", remembered, sizeof(remembered) - 1, &g, NULL, &err) == 0,
	    "%s", err.msg);
	ck_assert_uint_eq(g.entries.n, 3);
	ck_assert_uint_eq(guid2lid_find(&g, 0x0200f40000002f01)->lid, 0x2f);
	ck_assert_uint_eq(guid2lid_find(&g, 0x0200f40000000100)->lid, 4);
	ck_assert_uint_eq(guid2lid_find(&g, 0x0200f40000000100)->lmc, 2);
	ck_assert_uint_eq(guid2lid_find(&g, 0x2c90)->lid, 1);
	ck_assert_ptr_null(guid2lid_find(&g, 0x2c91));
	guid2lid_fini(&g);
	ck_assert_int_eq(guid2lid_parse("g", "", 0, &g, NULL, &err), 0);
	ck_assert_ptr_null(guid2lid_find(&g, 1));
}
END_TEST

static const struct {
	const char *text, *expected;
} bad_guid2mkey[] = {
	{ "0x1 0x2\n\n0x3\n", "g:3: a line is a port GUID and an M_Key" },
	{ "0 0x2\n", "g:1: a line" },
	{ "0x1 0x2 0x3\n", "g:1: a line" },
	{ "0x1 key\n", "g:1: a line" },
	{ "0x1 0x12345678901234567\n", "g:1: a line" },
	{ "0x1 0x2\n0x01 0x3\n", "g: port 0x0000000000000001 is given twice" },
};

START_TEST(test_guid2mkey)
{
	struct fm_error err = { 0 };
	struct guid2mkey g;
	char many[4096];
	size_t n = 0;

	ck_assert_int_eq(guid2mkey_parse("g", "", 0, &g, NULL, &err), 0);
	ck_assert_uint_eq(guid2mkey_find(&g, 1), 0);
	for (unsigned i = 20; i > 0; i--)
		n += (size_t)snprintf(many + n, sizeof(many) - n, "0x%016x 0x%016x\n\n", i,
		    i % 3 == 0 ? 0 : 0xa0 + i % 3);
	ck_assert_msg(guid2mkey_parse("g", many, n, &g, NULL, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(g.n_kinds, 2);
	ck_assert_uint_eq(guid2mkey_find(&g, 20), 0xa2);
	ck_assert_uint_eq(guid2mkey_find(&g, 18), 0);
	ck_assert_uint_eq(guid2mkey_find(&g, 1), 0xa1);
	ck_assert_uint_eq(guid2mkey_find(&g, 21), 0);
	guid2mkey_fini(&g);
	for (size_t i = 0; i < sizeof(bad_guid2mkey) / sizeof(bad_guid2mkey[0]); i++) {
		const char *text = bad_guid2mkey[i].text;

		ck_assert_int_eq(
		    guid2mkey_parse("g", text, strlen(text), &g, NULL, &err), FM_E_CONFIG);
		ck_assert_msg(strstr(err.msg, bad_guid2mkey[i].expected) != NULL, "\"%s\" gave: %s",
		    text, err.msg);
	}
}
END_TEST

static const struct {
	const char *text, *expected;
} bad_guid2lid[] = {
	{ "0x1 0x4\n", "g:1: the last LID is not a hexadecimal number in 1..0xbfff" },
	{ "\n0x1 0xC000 0xC000\n", "g:2: the first LID is not" },
	{ "0x0 0x1 0x1\n", "g:1: the GUID is not" },
	{ "hello\n", "g:1: the GUID is not" },
	{ "0x12345678901234567 1 1\n", "g:1: the GUID is not" },
	{ "0x1 0x4 0x6\n", "g:1: LIDs 0x4..0x6 are no range of an LMC" },
	{ "0x1 0x6 0x9\n", "g:1: LIDs 0x6..0x9 are no range of an LMC" },
	{ "0x1 0x9 0x8\n", "g:1: LIDs 0x9..0x8 are no range" },
	{ "0x1 0x100 0x1ff\n", "are no range" },
	{ "0x1 0x4 0x4 0x4\n", "g:1: more than a GUID and two LIDs" },
	{ "0x1 0x4 0x7\n0x2 0x6 0x6\n",
	    "g:2: LID 0x6 is given twice, first in line 1: keep one of them" },
	{ "0x1 0x4 0x4\n0x1 0x6 0x6\n",
	    "port 0x0000000000000001 is given twice, in line 1 too: keep one of them" },
};

START_TEST(test_bad_guid2lid)
{
	struct guid2lid g = { 0 };
	struct fm_error err = { 0 };

	ck_assert_int_eq(guid2lid_parse("g", bad_guid2lid[_i].text, strlen(bad_guid2lid[_i].text),
			     &g, NULL, &err),
	    FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, bad_guid2lid[_i].expected) != NULL, "\"%s\" gave: %s",
	    bad_guid2lid[_i].text, err.msg);
	ck_assert_ptr_null(g.entries.item);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("lid");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_fresh);
	tcase_add_test(tc, test_order_of_trust);
	tcase_add_test(tc, test_conflicts_by_guid);
	tcase_add_test(tc, test_unusable);
	tcase_add_test(tc, test_exhausted);
	tcase_add_test(tc, test_switch_order);
	tcase_add_test(tc, test_guid2lid);
	tcase_add_test(tc, test_guid2mkey);
	tcase_add_loop_test(
	    tc, test_bad_guid2lid, 0, sizeof(bad_guid2lid) / sizeof(bad_guid2lid[0]));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
