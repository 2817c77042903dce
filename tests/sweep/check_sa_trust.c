/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may ask the SA what: a table of requests by who sends them and what key they show, and
 * what programs of hosts need, by name.
 */
#include <check.h>
#include <string.h>

#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define SA_KEY 1
#define PREFIX UINT64_C(0xfe80000000000000)

static struct rig rig;
static struct sa_rig sa;

static uint32_t
host(uint32_t n)
{
	return rig_host(&rig, n);
}

static uint16_t
lid_of(uint32_t node)
{
	struct wire_port_info info;

	sim_port_info(rig.sim, node, 1, &info);
	return info.lid;
}

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
	sa_tick(sa.sa, 0);
	sa.from.lid = lid_of(host(0));
}

static void
teardown(void)
{
	sa_rig_fini(&sa);
	rig_fini(&rig);
}

/* ---------------------------------------------------------------- alias GUIDs */

#define ONE_GUID (SA_GIR_LID | SA_GIR_BLOCK | SA_GIR_GUID0 << 1)

/* An alias GUID is an identity: nobody gives one to another's port, or takes it away. */
START_TEST(alias_guids_of_another)
{
	struct sa_guid_info_record mine = { .lid = lid_of(host(0)), .guid = { 0, 0xabc } },
				   other = { .lid = lid_of(host(1)), .guid = { 0, 0xdef } }, got;

	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &other), SA_REQ_DENIED);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_OK);
	sa.from.lid = lid_of(host(1));
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_DELETE, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_REQ_DENIED);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_GUID_INFO_RECORD, SA_GIR_LID | SA_GIR_BLOCK, &mine), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.guid[1], 0xabc);
	/* what is denied says nothing of the port */
	other.lid = lid_of(host(0));
	other.block = 31;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &other), SA_REQ_DENIED);
	/* a key that is not ours changes nothing: no answer */
	sa.sm_key = 99;
	sa_rig_ask_in_vain(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine);
	/* an administrator may */
	sa.sm_key = SA_KEY;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_DELETE, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_OK);
	mine.guid[1] = 0x123;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.guid[1], 0x123);
	/* LIDs of nobody and blocks that a port has not are not there */
	mine.lid = 0xbff0;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_NO_RECORDS);
	mine.lid = lid_of(host(1));
	mine.block = 31;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_NO_RECORDS);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sa_trust");
	TCase *t = tcase_create("sa_trust");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, alias_guids_of_another);
	suite_add_tcase(s, t);
	return run_suite(s);
}
