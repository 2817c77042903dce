/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout of the plugin ABI, 0.2, on a 64-bit machine.  An offset that
 * moves breaks every engine built before: then FM_ABI_MAJOR (or, for fields
 * appended, FM_ABI_MINOR) moves too, doc/abi.md says why, and this table gains
 * a version.
 */
#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <fmd/engine.h>

#include "tests/run.h"

#if UINTPTR_MAX == UINT64_MAX
#define AT(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field " moved")
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type " changed size")

AT(fm_fabric, size, 0);
AT(fm_fabric, n_switches, 4);
AT(fm_fabric, n_links, 8);
AT(fm_fabric, n_ends, 12);
AT(fm_fabric, max_lid, 16);
AT(fm_fabric, generation, 24);
AT(fm_fabric, sw_guid, 32);
AT(fm_fabric, sw_system_guid, 40);
AT(fm_fabric, sw_name, 48);
AT(fm_fabric, sw_n_ports, 56);
AT(fm_fabric, sw_first_link, 64);
AT(fm_fabric, sw_first_end, 72);
AT(fm_fabric, link_to, 80);
AT(fm_fabric, link_port, 88);
AT(fm_fabric, link_rev, 96);
AT(fm_fabric, link_mbps, 104);
AT(fm_fabric, link_nominal_mbps, 112);
AT(fm_fabric, link_n_vls, 120);
AT(fm_fabric, end_guid, 128);
AT(fm_fabric, end_node_guid, 136);
AT(fm_fabric, end_system_guid, 144);
AT(fm_fabric, end_name, 152);
AT(fm_fabric, end_sw, 160);
AT(fm_fabric, end_port, 168);
AT(fm_fabric, end_lid, 176);
AT(fm_fabric, end_lmc, 184);
AT(fm_fabric, end_kind, 192);
AT(fm_fabric, end_n_vls, 200);
AT(fm_fabric, end_weight, 208);
AT(fm_fabric, lid_end, 216);
SIZE(fm_fabric, 224);

AT(fm_request, size, 0);
AT(fm_request, flags, 4);
AT(fm_request, n_vls, 8);
AT(fm_request, prev, 16);
SIZE(fm_request, 24);

AT(fm_tables, size, 0);
AT(fm_tables, lft_stride, 8);
AT(fm_tables, lft, 16);
AT(fm_tables, sl_shape, 24);
AT(fm_tables, sl, 32);
AT(fm_tables, sl2vl_shape, 40);
AT(fm_tables, sl2vl_first, 48);
AT(fm_tables, sl2vl, 56);
AT(fm_tables, n_vls_used, 64);
AT(fm_tables, ar_max_groups, 66);
AT(fm_tables, ar_group, 72);
AT(fm_tables, ar_ports, 80);
AT(fm_tables, ar_dropped, 88);
AT(fm_tables, order, 96);
SIZE(fm_tables, 104);

AT(fm_mcast_request, size, 0);
AT(fm_mcast_request, members, 8);
AT(fm_mcast_request, n_members, 16);
AT(fm_mcast_request, sl, 20);
AT(fm_mcast_request, prev_parent, 24);
SIZE(fm_mcast_request, 32);

AT(fm_host, size, 0);
AT(fm_host, self, 8);
AT(fm_host, scratch, 16);
AT(fm_host, scratch_worker, 24);
AT(fm_host, parallel_for, 32);
AT(fm_host, n_workers, 40);
AT(fm_host, should_stop, 48);
AT(fm_host, progress, 56);
AT(fm_host, log, 64);
AT(fm_host, fail, 72);
SIZE(fm_host, 80);

AT(fm_nodeset, sw, 0);
AT(fm_nodeset, end, 8);
AT(fm_nodeset, given, 16);
SIZE(fm_nodeset, 24);

AT(fm_nodeset_list, set, 0);
AT(fm_nodeset_list, n_sets, 8);
SIZE(fm_nodeset_list, 16);

AT(fm_table_row, guid, 0);
AT(fm_table_row, index, 8);
AT(fm_table_row, port, 12);
AT(fm_table_row, value, 16);
SIZE(fm_table_row, 24);

AT(fm_table, row, 0);
AT(fm_table, n_rows, 8);
SIZE(fm_table, 16);

AT(fm_file, path, 0);
AT(fm_file, bytes, 8);
AT(fm_file, n_bytes, 16);
SIZE(fm_file, 24);

AT(fm_option, name, 0);
AT(fm_option, type, 8);
AT(fm_option, offset, 16);
AT(fm_option, def, 24);
AT(fm_option, min, 32);
AT(fm_option, max, 40);
AT(fm_option, choices, 48);
AT(fm_option, unit, 56);
AT(fm_option, help, 64);
SIZE(fm_option, 72);

AT(fm_engine, magic, 0);
AT(fm_engine, abi_major, 4);
AT(fm_engine, abi_minor, 6);
AT(fm_engine, size, 8);
AT(fm_engine, name, 16);
AT(fm_engine, aliases, 24);
AT(fm_engine, summary, 32);
AT(fm_engine, traits, 40);
AT(fm_engine, option_size, 44);
AT(fm_engine, options, 48);
AT(fm_engine, options_size, 56);
AT(fm_engine, probe, 64);
AT(fm_engine, route, 72);
AT(fm_engine, mcast_tree, 80);
SIZE(fm_engine, 88);

AT(fm_error, kind, 0);
AT(fm_error, msg, 4);
SIZE(fm_error, 260);
#endif

_Static_assert(FM_ABI_MAJOR == 0 && FM_ABI_MINOR == 2, "a new ABI version wants a new table here");
_Static_assert(FM_ABI_MAGIC == 0x464d4431u, "the magic never changes");

START_TEST(values_that_are_written_into_files_and_plugins_stay)
{
	ck_assert_int_eq(FM_E_TOPOLOGY, -2);
	ck_assert_int_eq(FM_E_RESOURCE, -3);
	ck_assert_int_eq(FM_E_BUG, -6);
	ck_assert_int_eq(FM_END_PROXY, 4);
	ck_assert_int_eq(FM_SL_BY_SW_DLID, 2);
	ck_assert_int_eq(FM_SL2VL_BY_IN_OUT, 2);
	ck_assert_int_eq(FM_OPT_FILE, 9);
	ck_assert_int_eq(FM_PROMISES_NO_CREDIT_LOOPS, 1 << 9);
	ck_assert_int_eq(FM_PROVIDES_ORDER, 1 << 4);
	ck_assert_int_eq(FM_WRITES_WHOLE_ROWS, 1 << 11);
	ck_assert_int_eq(FM_ROUTE_PROBES, 1 << 12);
	ck_assert_int_eq(FM_WRITES_WHOLE_SLS, 1 << 13);
	ck_assert_int_eq(FM_NUMBERED_BY_CABLES, 1 << 14);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("abi");
	TCase *t = tcase_create("abi");

	tcase_add_test(t, values_that_are_written_into_files_and_plugins_stay);
	suite_add_tcase(s, t);
	return run_suite(s);
}
