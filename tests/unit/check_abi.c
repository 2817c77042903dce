/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout of the plugin ABI, 1.0, on a 64-bit machine, and every value in it.  What is
 * here is never changed while the major is 1: an offset that moves breaks every engine built
 * before.  A field that is appended (doc/abi.md has how) gets a line behind the others of its
 * struct, and the struct a new size, marked with the minor.
 */
#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* No hole that a field of later could fill, or that a compiler could lay otherwise. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
#include <fmd/engine.h>
#include <fmd/vendor.h>
#pragma GCC diagnostic pop

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
AT(fm_fabric, zero, 18);
AT(fm_fabric, sw_guid, 24);
AT(fm_fabric, sw_system_guid, 32);
AT(fm_fabric, sw_name, 40);
AT(fm_fabric, sw_n_ports, 48);
AT(fm_fabric, sw_first_link, 56);
AT(fm_fabric, sw_first_end, 64);
AT(fm_fabric, sw_vendor_id, 72);
AT(fm_fabric, sw_device_id, 80);
AT(fm_fabric, sw_lft_entries, 88);
AT(fm_fabric, sw_ar_groups, 96);
AT(fm_fabric, link_to, 104);
AT(fm_fabric, link_port, 112);
AT(fm_fabric, link_rev, 120);
AT(fm_fabric, link_mbps, 128);
AT(fm_fabric, link_nominal_mbps, 136);
AT(fm_fabric, link_n_vls, 144);
AT(fm_fabric, end_guid, 152);
AT(fm_fabric, end_node_guid, 160);
AT(fm_fabric, end_system_guid, 168);
AT(fm_fabric, end_name, 176);
AT(fm_fabric, end_sw, 184);
AT(fm_fabric, end_port, 192);
AT(fm_fabric, end_lid, 200);
AT(fm_fabric, end_lmc, 208);
AT(fm_fabric, end_kind, 216);
AT(fm_fabric, end_n_vls, 224);
AT(fm_fabric, lid_end, 232);
SIZE(fm_fabric, 240);

AT(fm_request, size, 0);
AT(fm_request, n_vls, 4);
AT(fm_request, zero, 5);
AT(fm_request, prev_lft, 8);
SIZE(fm_request, 16);

AT(fm_tables, size, 0);
AT(fm_tables, n_vls_used, 4);
AT(fm_tables, zero, 5);
AT(fm_tables, lft_stride, 8);
AT(fm_tables, lft, 16);
AT(fm_tables, sl_shape, 24);
AT(fm_tables, sl2vl_shape, 28);
AT(fm_tables, sl, 32);
AT(fm_tables, sl2vl_first, 40);
AT(fm_tables, sl2vl, 48);
AT(fm_tables, ar_n_groups, 56);
AT(fm_tables, ar_group, 64);
AT(fm_tables, ar_ports, 72);
AT(fm_tables, ar_dropped, 80);
AT(fm_tables, order, 88);
SIZE(fm_tables, 96);

AT(fm_host, size, 0);
AT(fm_host, zero, 4);
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
AT(fm_nodeset, zero, 20);
SIZE(fm_nodeset, 24);

AT(fm_nodeset_list, set, 0);
AT(fm_nodeset_list, n_sets, 8);
AT(fm_nodeset_list, zero, 12);
SIZE(fm_nodeset_list, 16);

AT(fm_node_value, guid, 0);
AT(fm_node_value, value, 8);
AT(fm_node_value, sw, 16);
AT(fm_node_value, end, 20);
AT(fm_node_value, port, 24);
AT(fm_node_value, zero, 28);
SIZE(fm_node_value, 32);

AT(fm_node_values, row, 0);
AT(fm_node_values, n_rows, 8);
AT(fm_node_values, zero, 12);
SIZE(fm_node_values, 16);

AT(fm_file, path, 0);
AT(fm_file, bytes, 8);
AT(fm_file, n_bytes, 16);
SIZE(fm_file, 24);

AT(fm_option, name, 0);
AT(fm_option, type, 8);
AT(fm_option, offset, 12);
AT(fm_option, def, 16);
AT(fm_option, min, 24);
AT(fm_option, max, 32);
AT(fm_option, choices, 40);
AT(fm_option, unit, 48);
AT(fm_option, help, 56);
SIZE(fm_option, 64);

AT(fm_engine, magic, 0);
AT(fm_engine, abi_major, 4);
AT(fm_engine, abi_minor, 6);
AT(fm_engine, size, 8);
AT(fm_engine, option_row_size, 12);
AT(fm_engine, name, 16);
AT(fm_engine, aliases, 24);
AT(fm_engine, summary, 32);
AT(fm_engine, traits, 40);
AT(fm_engine, options_size, 44);
AT(fm_engine, options, 48);
AT(fm_engine, route, 56);
SIZE(fm_engine, 64);

AT(fm_vendor_id, vendor_id, 0);
AT(fm_vendor_id, first, 4);
AT(fm_vendor_id, last, 6);
SIZE(fm_vendor_id, 8);
AT(fm_vendor_smp, attr, 0);
AT(fm_vendor_smp, modifier, 4);
AT(fm_vendor_smp, data, 8);
AT(fm_vendor_smp, mask, 72);
SIZE(fm_vendor_smp, 136);
AT(fm_vendor_info, n_groups, 0);
AT(fm_vendor_info, is_on, 2);
SIZE(fm_vendor_info, 4);
AT(fm_vendor_mode, size, 0);
AT(fm_vendor_mode, algorithm, 4);
AT(fm_vendor_mode, frequency, 5);
AT(fm_vendor_mode, threshold, 6);
AT(fm_vendor_mode, lost_route_only, 7);
AT(fm_vendor_mode, fine_grained, 8);
SIZE(fm_vendor_mode, 12);
AT(fm_vendor_rows, size, 0);
AT(fm_vendor_rows, n_groups, 4);
AT(fm_vendor_rows, top_lid, 6);
AT(fm_vendor_rows, n_ports, 8);
AT(fm_vendor_rows, info, 16);
AT(fm_vendor_rows, lft, 24);
AT(fm_vendor_rows, group, 32);
AT(fm_vendor_rows, ports, 40);
SIZE(fm_vendor_rows, 48);
AT(fm_vendor, magic, 0);
AT(fm_vendor, abi_major, 4);
AT(fm_vendor, abi_minor, 6);
AT(fm_vendor, size, 8);
AT(fm_vendor, info_attr, 12);
AT(fm_vendor, info_modifier, 16);
AT(fm_vendor, name, 24);
AT(fm_vendor, summary, 32);
AT(fm_vendor, ids, 40);
AT(fm_vendor, read_info, 48);
AT(fm_vendor, turn, 56);
AT(fm_vendor, n_blocks, 64);
AT(fm_vendor, block, 72);
SIZE(fm_vendor, 80);
#endif

_Static_assert(FM_ABI_MAJOR == 1 && FM_ABI_MINOR == 0, "doc/abi.md says what a minor may append");

/* Types that arrays are of, and the arguments of callbacks: another type does not compile. */
#define IS(type, field, of) \
	_Static_assert(_Generic(((struct type *)0)->field, of : 1, default : 0), \
	    #type "." #field " has changed")
IS(fm_fabric, max_lid, uint16_t);
IS(fm_fabric, sw_guid, const uint64_t *);
IS(fm_fabric, sw_system_guid, const uint64_t *);
IS(fm_fabric, sw_name, const char *const *);
IS(fm_fabric, sw_n_ports, const uint8_t *);
IS(fm_fabric, sw_first_link, const uint32_t *);
IS(fm_fabric, sw_first_end, const uint32_t *);
IS(fm_fabric, sw_vendor_id, const uint32_t *);
IS(fm_fabric, sw_device_id, const uint16_t *);
IS(fm_fabric, sw_lft_entries, const uint16_t *);
IS(fm_fabric, sw_ar_groups, const uint16_t *);
IS(fm_fabric, link_to, const uint32_t *);
IS(fm_fabric, link_port, const uint8_t *);
IS(fm_fabric, link_rev, const uint32_t *);
IS(fm_fabric, link_mbps, const uint32_t *);
IS(fm_fabric, link_nominal_mbps, const uint32_t *);
IS(fm_fabric, link_n_vls, const uint8_t *);
IS(fm_fabric, end_guid, const uint64_t *);
IS(fm_fabric, end_node_guid, const uint64_t *);
IS(fm_fabric, end_system_guid, const uint64_t *);
IS(fm_fabric, end_name, const char *const *);
IS(fm_fabric, end_sw, const uint32_t *);
IS(fm_fabric, end_port, const uint8_t *);
IS(fm_fabric, end_lid, const uint16_t *);
IS(fm_fabric, end_lmc, const uint8_t *);
IS(fm_fabric, end_kind, const uint8_t *);
IS(fm_fabric, end_n_vls, const uint8_t *);
IS(fm_fabric, lid_end, const uint32_t *);
IS(fm_request, n_vls, uint8_t);
IS(fm_request, prev_lft, const uint8_t *const *);
IS(fm_tables, lft_stride, size_t);
IS(fm_tables, lft, uint8_t *const *);
IS(fm_tables, sl_shape, uint32_t);
IS(fm_tables, sl2vl_shape, uint32_t);
IS(fm_tables, sl, uint8_t *const *);
IS(fm_tables, sl2vl_first, const uint32_t *);
IS(fm_tables, sl2vl, uint8_t *);
IS(fm_tables, n_vls_used, uint8_t);
IS(fm_tables, ar_n_groups, const uint16_t *);
IS(fm_tables, ar_group, uint16_t *const *);
IS(fm_tables, ar_ports, uint64_t (*const *)[4]);
IS(fm_tables, ar_dropped, uint64_t);
IS(fm_tables, order, uint32_t *);
IS(fm_host, self, void *);
IS(fm_host, scratch, void *(*)(const struct fm_host *, size_t));
IS(fm_host, scratch_worker, void *(*)(const struct fm_host *, unsigned, size_t));
IS(fm_host, parallel_for,
    void (*)(const struct fm_host *, uint32_t, void (*)(void *, uint32_t, unsigned), void *));
IS(fm_host, n_workers, unsigned (*)(const struct fm_host *));
IS(fm_host, should_stop, bool (*)(const struct fm_host *));
IS(fm_host, progress, void (*)(const struct fm_host *, uint32_t, uint32_t));
IS(fm_host, log, void (*)(const struct fm_host *, int, const char *, ...));
IS(fm_host, fail,
    int (*)(const struct fm_host *, struct fm_error *, enum fm_error_kind, const char *, ...));
IS(fm_nodeset, sw, const uint64_t *);
IS(fm_nodeset, end, const uint64_t *);
IS(fm_nodeset, given, uint32_t);
IS(fm_nodeset_list, set, const struct fm_nodeset *);
IS(fm_node_value, guid, uint64_t);
IS(fm_node_value, sw, uint32_t);
IS(fm_node_value, end, uint32_t);
IS(fm_node_value, port, uint32_t);
IS(fm_node_value, value, int64_t);
IS(fm_node_values, row, const struct fm_node_value *);
IS(fm_file, path, const char *);
IS(fm_file, bytes, const char *);
IS(fm_file, n_bytes, size_t);
IS(fm_option, type, uint32_t);
IS(fm_option, offset, uint32_t);
IS(fm_option, min, int64_t);
IS(fm_option, max, int64_t);
IS(fm_option, choices, const char *const *);
IS(fm_engine, options, const struct fm_option *);
IS(fm_engine, traits, uint32_t);
IS(fm_engine, options_size, uint32_t);
IS(fm_engine, route,
    int (*)(const struct fm_host *, const struct fm_fabric *, const struct fm_request *,
	const void *, struct fm_tables *, struct fm_error *));

#define VALUE(name, value) _Static_assert((name) == (value), #name " has another value")

VALUE(FM_ABI_MAGIC, 0x464d4431u);
VALUE(FM_NONE, UINT32_MAX);
VALUE(FM_PORT_NONE, 255);
VALUE(FM_MAX_VLS, 15);

VALUE(FM_OK, 0);
VALUE(FM_E_CONFIG, -1);
VALUE(FM_E_TOPOLOGY, -2);
VALUE(FM_E_RESOURCE, -3);
VALUE(FM_E_SYSTEM, -4);
VALUE(FM_E_CANCELLED, -5);
VALUE(FM_E_BUG, -6);

VALUE(FM_END_CA, 0);
VALUE(FM_END_ROUTER, 1);
VALUE(FM_END_SWITCH, 2);
VALUE(FM_END_AGGREGATOR, 3);
VALUE(FM_END_PROXY, 4);

VALUE(FM_SL_ZERO, 0);
VALUE(FM_SL_BY_DLID, 1);
VALUE(FM_SL_BY_SW_DLID, 2);
VALUE(FM_SL2VL_MODULO, 0);
VALUE(FM_SL2VL_BY_OUT, 1);
VALUE(FM_SL2VL_BY_IN_OUT, 2);

VALUE(FM_PROVIDES_LFT, 1 << 0);
VALUE(FM_PROVIDES_SL, 1 << 1);
VALUE(FM_PROVIDES_AR, 1 << 2);
VALUE(FM_PROVIDES_ORDER, 1 << 3);
VALUE(FM_USES_PREV, 1 << 8);
VALUE(FM_PROMISES_NO_CREDIT_LOOPS, 1 << 9);

VALUE(FM_OPT_END, 0);
VALUE(FM_OPT_BOOL, 1);
VALUE(FM_OPT_INT, 2);
VALUE(FM_OPT_DURATION, 3);
VALUE(FM_OPT_ENUM, 4);
VALUE(FM_OPT_STRING, 5);
VALUE(FM_OPT_NODES, 6);
VALUE(FM_OPT_NODES_LIST, 7);
VALUE(FM_OPT_NODE_VALUES, 8);
VALUE(FM_OPT_FILE, 9);

/* The rest is judged by the compiler.  What a loader reads first, byte by byte. */
FM_ENGINE(some, .summary = "Some engine.");

START_TEST(a_descriptor_begins_as_it_always_did)
{
	static const uint16_t head[] = { 0x4431, 0x464d, 1, 0, 64, 0, 64, 0 };

	if (UINTPTR_MAX == UINT64_MAX)
		ck_assert_mem_eq(&some_LTX_fm_engine, head, sizeof(head));
	ck_assert_str_eq(some_LTX_fm_engine.name, "some");
	ck_assert_uint_eq(some_LTX_fm_engine.traits, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("abi");
	TCase *t = tcase_create("abi");

	tcase_add_test(t, a_descriptor_begins_as_it_always_did);
	suite_add_tcase(s, t);
	return run_suite(s);
}
