/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of QoS keys: what is read, what is refused, and how tables are fitted
 * to ports of few VLs and short tables.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/subnet/qos.h"
#include "tests/run.h"

#undef fail /* check.h has an old macro of this name */

static const struct qos_text unsaid = { .high_limit = -1 };
static struct fm_error err;

static struct qos_tables
tables_of(const struct qos_text *own, const struct qos_text *common)
{
	struct qos_tables t;

	ck_assert_msg(qos_tables_parse(own, common, &t, &err) == 0, "%s", err.msg);
	return t;
}

START_TEST(test_defaults)
{
	struct qos_tables t = tables_of(&unsaid, &unsaid);

	ck_assert_uint_eq(t.max_vls, 15);
	ck_assert_uint_eq(t.high_limit, 0);
	for (unsigned sl = 0; sl < 15; sl++) {
		ck_assert_uint_eq(t.sl2vl[sl], sl);
		ck_assert_uint_eq(t.high[sl].vl, sl);
		ck_assert_uint_eq(t.high[sl].weight, sl == 0 ? 4 : 0);
		ck_assert_uint_eq(t.low[sl].weight, sl == 0 ? 0 : 4);
	}
	ck_assert_uint_eq(t.sl2vl[15], 7);
	ck_assert_uint_eq(t.low[15].weight, 0);
}
END_TEST

START_TEST(test_own_before_common)
{
	struct qos_text common = { 4, 10, "0:1", "1:2", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0" };
	struct qos_text own = { 0, -1, "", " 2 : 0x10 , 3:255", NULL };
	struct qos_tables t = tables_of(&own, &common);

	ck_assert_uint_eq(t.max_vls, 4);
	ck_assert_uint_eq(t.high_limit, 10);
	ck_assert(t.high[0].vl == 0 && t.high[0].weight == 1);
	ck_assert(t.low[0].vl == 2 && t.low[0].weight == 16);
	ck_assert(t.low[1].vl == 3 && t.low[1].weight == 255);
	ck_assert(t.low[2].vl == 0 && t.low[2].weight == 0);
	ck_assert_uint_eq(t.sl2vl[14], 0);
	own = (struct qos_text){ 8, 0, "5:5", NULL, "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,15" };
	t = tables_of(&own, &common);
	ck_assert_uint_eq(t.max_vls, 8);
	ck_assert_uint_eq(t.high_limit, 0);
	ck_assert_uint_eq(t.high[0].vl, 5);
	ck_assert_uint_eq(t.low[0].vl, 1);
	ck_assert_uint_eq(t.sl2vl[14], 1);
	ck_assert_uint_eq(t.sl2vl[15], QOS_VL_DROP);
}
END_TEST

static const struct {
	const char *high, *sl2vl, *sentence;
} mistakes[] = {
	{ "0", NULL, "vlarb_high: \"0\" is no list" },
	{ "0:", NULL, "vlarb_high: \"0:\"" },
	{ "15:1", NULL, "VL 0..14" },
	{ "0:256", NULL, "WEIGHT 0..255" },
	{ "0:1,", NULL, "vlarb_high" },
	{ "0:1 1:2", NULL, "vlarb_high" },
	{ "0,1", NULL, "vlarb_high" },
	{ "a:1", NULL, "vlarb_high" },
	{ NULL, "0", "sl2vl: \"0\" is no list of 16 VLs" },
	{ NULL, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14", "sl2vl" },
	{ NULL, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7,0", "sl2vl" },
	{ NULL, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,16", "sl2vl" },
	{ NULL, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,-1", "sl2vl" },
	{ NULL, "0:1,1,2,3,4,5,6,7,8,9,10,11,12,13,14,1", "sl2vl" },
};

START_TEST(test_mistakes)
{
	struct qos_text own = { 0, -1, mistakes[_i].high, NULL, mistakes[_i].sl2vl };
	struct qos_tables t;

	ck_assert_int_eq(qos_tables_parse(&own, &unsaid, &t, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, mistakes[_i].sentence) != NULL, "%s", err.msg);
}
END_TEST

START_TEST(test_too_long)
{
	char list[QOS_ARB_MAX * 4 + 8];
	struct qos_text own = { 0, -1, list, NULL, NULL };
	struct qos_tables t;

	for (unsigned i = 0; i < QOS_ARB_MAX; i++)
		snprintf(list + 4 * i, sizeof(list) - 4 * i, "%s3:7", i > 0 ? "," : " ");
	ck_assert_uint_eq(tables_of(&own, &unsaid).high[63].weight, 7);
	snprintf(list + 4 * QOS_ARB_MAX, 8, ",3:7");
	ck_assert_int_eq(qos_tables_parse(&own, &unsaid, &t, &err), FM_E_CONFIG);
}
END_TEST

/* No VL that is not there, whatever the port has. */
START_TEST(test_fit)
{
	static const uint8_t vls[] = { 1, 2, 4, 8, 15 };
	uint8_t n_vls = vls[_i], vl[16];
	struct qos_text own = { 6, -1, NULL, NULL, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15" };
	struct qos_tables t = tables_of(&own, &unsaid);
	uint8_t limit = n_vls < 6 ? n_vls : 6;
	struct qos_arb arb[QOS_ARB_BLOCK];

	qos_fit_sl2vl(&t, n_vls, vl);
	for (unsigned sl = 0; sl < 15; sl++)
		ck_assert_uint_eq(vl[sl], sl % limit);
	ck_assert_uint_eq(vl[15], QOS_VL_DROP);
	for (int high = 0; high < 2; high++) {
		qos_fit_arb(&t, high, 0, 10, n_vls, 0, arb);
		for (unsigned i = 0; i < QOS_ARB_BLOCK; i++) {
			ck_assert_uint_eq(arb[i].vl, i < 10 ? i % limit : 0);
			ck_assert_uint_eq(
			    arb[i].weight, i >= 10 || (high != 0) != (i == 0) ? 0 : 4);
		}
	}
}
END_TEST

/* VLs from max_vls on fold, in maps as in weights. */
START_TEST(test_folded_vls_have_weight)
{
	static const uint8_t vls[] = { 1, 2, 4, 8, 15 };
	struct qos_text none = { .high_limit = -1 }, own = { .high_limit = -1 };
	struct qos_tables t;

	for (size_t i = 0; i < sizeof(vls); i++) {
		own.max_vls = vls[i];
		ck_assert_int_eq(qos_tables_parse(&own, &none, &t, &err), 0);
		ck_assert_uint_eq(qos_without_weight(&t), 0);
	}
	own = (struct qos_text){ .max_vls = 8,
		.high_limit = -1,
		.vlarb_high = "0:4",
		.vlarb_low = "1:4",
		.sl2vl = "0,9,2,3,0,0,0,0,0,0,0,0,0,0,0,15" };
	ck_assert_int_eq(qos_tables_parse(&own, &none, &t, &err), 0);
	ck_assert_uint_eq(qos_without_weight(&t), 1u << 2 | 1u << 3);
}
END_TEST

/* Who is in use and has no weight would wait for ever. */
START_TEST(test_starved)
{
	struct qos_text own = { 0, -1, "0:4", "1:4,2:0,3:0", NULL };
	struct qos_tables t = tables_of(&own, &unsaid);
	struct qos_arb arb[QOS_ARB_BLOCK];
	uint16_t starved = qos_starved(&t, 8, 0x0f);

	ck_assert_uint_eq(starved, 0x0c);
	ck_assert_uint_eq(qos_starved(&t, 2, 0x03), 0);
	qos_fit_arb(&t, false, 0, 8, 8, starved, arb);
	ck_assert(arb[0].vl == 1 && arb[0].weight == 4);
	ck_assert(arb[7].vl == 2 && arb[7].weight == 1);
	ck_assert(arb[6].vl == 3 && arb[6].weight == 1);
	ck_assert_uint_eq(arb[8].weight, 0);
	/* two entries in all: the last gives way */
	qos_fit_arb(&t, false, 0, 2, 8, 0x04, arb);
	ck_assert(arb[0].vl == 1 && arb[0].weight == 4);
	ck_assert(arb[1].vl == 2 && arb[1].weight == 1);
	qos_fit_arb(&t, true, 0, 8, 8, starved, arb);
	ck_assert_uint_eq(arb[7].weight, 0);
}
END_TEST

START_TEST(test_second_block)
{
	struct qos_text own = { 0, -1, NULL, NULL, NULL };
	struct qos_tables t = tables_of(&own, &unsaid);
	struct qos_arb arb[QOS_ARB_BLOCK];

	t.low[40] = (struct qos_arb){ 9, 9 };
	qos_fit_arb(&t, false, 1, 64, 8, 0, arb);
	ck_assert(arb[8].vl == 1 && arb[8].weight == 9);
	qos_fit_arb(&t, false, 1, 40, 8, 0, arb);
	ck_assert_uint_eq(arb[8].weight, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("qos");
	TCase *t = tcase_create("qos");

	tcase_add_test(t, test_defaults);
	tcase_add_test(t, test_own_before_common);
	tcase_add_loop_test(t, test_mistakes, 0, (int)(sizeof(mistakes) / sizeof(mistakes[0])));
	tcase_add_test(t, test_too_long);
	tcase_add_loop_test(t, test_fit, 0, 5);
	tcase_add_test(t, test_starved);
	tcase_add_test(t, test_folded_vls_have_weight);
	tcase_add_test(t, test_second_block);
	suite_add_tcase(s, t);
	return run_suite(s);
}
