/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Option values against a fabric: node sets, tables, files, defaults.
 * The rows are those of tests/modules/good.
 *
 *	spine-1 --- leaf-1 --- h1 h2
 *	      \---- leaf-2 --- h3		GUIDs: spine 0x10, leaves 0x11 0x12,
 *						hosts 0x21..0x23, ports 0x31..0x33
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/options.h"
#include "core/engine/plugin.h"
#include "core/graph/snapshot.h"
#include "core/nodes/nodes.h"
#include "lib/error.h"
#include "tests/run.h"

/* As in tests/modules/good.c. */
struct opts {
	int64_t max_hops, key, wait;
	int balance;
	bool strict;
	const char *label;
	struct fm_nodeset roots;
	struct fm_nodeset_list order;
	struct fm_node_values weights, ids, ports;
	struct fm_file tables;
};

static struct engine_set engines;
static const struct fm_engine *good;
static struct snapshot *snap;
static struct fm_arena mem;
static struct option_values *values;
static struct fm_error err;

static void
build_snapshot(void)
{
	static const char *const names[] = { "spine-1", "leaf-1", "leaf-2" };
	struct snapshot_builder b = { 0 };

	for (uint64_t i = 0; i < 3; i++)
		fm_vec_push(&b.switches, ((struct snapshot_switch){ 0x10 + i, 0x10, names[i], 8 }));
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const hosts[] = { "h1", "h2", "h3" };

		fm_vec_push(&b.ends,
		    ((struct snapshot_end){ .guid = 0x31 + i,
			.node_guid = 0x21 + i,
			.system_guid = 0x21 + i,
			.name = hosts[i],
			.sw = i < 2 ? 1 : 2,
			.lid = (uint16_t)(i + 1),
			.port = (uint8_t)(i + 1),
			.kind = FM_END_CA,
			.n_vls = 8 }));
	}
	for (uint32_t i = 0; i < 2; i++)
		fm_vec_push(&b.cables,
		    ((struct snapshot_cable){ .sw = { 0, i + 1 },
			.port = { (uint8_t)(i + 1), 8 },
			.n_vls = 8,
			.mbps = 100000,
			.nominal_mbps = 100000 }));
	ck_assert_msg(snapshot_build(&b, &snap, &err) == 0, "%s", err.msg);
	snapshot_builder_fini(&b);
}

static void
set_up(void)
{
	static const char *const dirs[] = { "tests/modules/.libs", NULL };
	struct option_table table;

	ck_assert_msg(engine_set_load(&engines, dirs, &err) == 0, "%s", err.msg);
	good = engine_find(&engines, "good");
	ck_assert_ptr_nonnull(good);
	ck_assert_uint_eq(good->options_size, sizeof(struct opts));
	fm_arena_init(&mem, SIZE_MAX);
	build_snapshot();
	table = option_table_of(good);
	values = option_values_new(&mem, &table, "good a");
}

static void
tear_down(void)
{
	snapshot_put(snap);
	fm_arena_fini(&mem);
	engine_set_fini(&engines);
}

static void
set(const char *key, const char *const *items, size_t n)
{
	struct option_origin at = { "fmd.conf", 3, NULL };

	ck_assert_msg(option_values_set(values, key, items, n, &at, &err) == 0, "%s", err.msg);
}
#define SET(key, ...) \
	set(key, (const char *const[]){ __VA_ARGS__ }, \
	    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static const struct opts *
bind(const struct option_values *v)
{
	void *o = NULL;

	ck_assert_msg(options_bind(good, v, snap, &mem, &o, &err) == 0, "%s", err.msg);
	return o;
}

START_TEST(defaults_without_values)
{
	const struct opts *o = bind(NULL);

	ck_assert_int_eq(o->max_hops, 64);
	ck_assert_int_eq(o->wait, 10000);
	ck_assert_int_eq(o->balance, 1);
	ck_assert(o->strict);
	ck_assert_str_eq(o->label, "none");
	ck_assert(!o->roots.given);
	ck_assert_uint_eq(o->roots.sw[0], 0);
	ck_assert_uint_eq(o->order.n_sets, 0);
	ck_assert_uint_eq(o->weights.n_rows, 0);
	ck_assert_ptr_null(o->tables.path);
}
END_TEST

/* A default that is written out is a default. */
START_TEST(empty_lists_are_not_given)
{
	const struct opts *o;

	set("roots", NULL, 0);
	set("order", NULL, 0);
	set("ids", NULL, 0);
	o = bind(values);
	ck_assert(!o->roots.given);
	ck_assert_uint_eq(o->order.n_sets, 0);
	ck_assert_uint_eq(o->ids.n_rows, 0);
}
END_TEST

START_TEST(scalars)
{
	const struct opts *o;

	SET("max_hops", "0x10");
	SET("key", "0xffffffffffffffff");
	SET("wait", "250ms");
	SET("balance", "paths");
	SET("strict", "off");
	SET("label", "a b");
	o = bind(values);
	ck_assert_int_eq(o->max_hops, 16);
	ck_assert_int_eq(o->key, -1);
	ck_assert_int_eq(o->wait, 250);
	ck_assert_int_eq(o->balance, 0);
	ck_assert(!o->strict);
	ck_assert_str_eq(o->label, "a b");
	SET("max_hops", "3"); /* the later one counts */
	ck_assert_int_eq(bind(values)->max_hops, 3);
}
END_TEST

/* The switches (bits 0..2) and ends (4..6, in LID order) of a set. */
static uint64_t
members(const struct fm_nodeset *s)
{
	uint64_t m = s->sw[0];

	for (fm_end e = 0; e < snap->fab.n_ends; e++)
		if (fm_bit(s->end, e))
			m |= (uint64_t)8 << snap->fab.end_lid[e];
	return m;
}

static const struct {
	const char *item;
	uint64_t members;
} sets[] = {
	{ "0x11", 0x02 },	 /* a switch */
	{ "17", 0x02 },		 /* the same, decimal as OpenSM's lists may have it */
	{ "021", 0x02 },	 /* and octal */
	{ "0x22", 0x20 },	 /* a node of one host */
	{ "0x33", 0x40 },	 /* a port */
	{ "0x99", 0 },		 /* not there */
	{ "system:0x10", 0x07 }, /* a chassis */
	{ "name:leaf-*", 0x06 },
	{ "leaf-?", 0x06 },
	{ "name:*-1", 0x03 },
	{ "name:leaf-[2-18]", 0x04 },
	{ "leaf-[1,3]", 0x02 },
	{ "name:h[1-2]", 0x30 },
	{ "name:*[1-2]", 0x37 },
	{ "name:leaf", 0 },
	{ "type:switch", 0x07 },
	{ "type:ca", 0x70 },
	{ "type:router", 0 },
	{ "level:0", 0x06 },
	{ "level:1", 0x01 },
	{ "level:top", 0x01 },
	{ "level:2", 0 },
};

START_TEST(node_sets)
{
	const struct opts *o;

	SET("roots", sets[_i].item);
	o = bind(values);
	ck_assert(o->roots.given);
	ck_assert_msg(members(&o->roots) == sets[_i].members, "%s: %#llx", sets[_i].item,
	    (unsigned long long)members(&o->roots));
}
END_TEST

static const struct {
	const char *pattern, *name;
	bool match;
} names[] = {
	{ "*", "", true },
	{ "**a", "xa", true },
	{ "[1-18]", "18", true },
	{ "[1-18]", "018", true },
	{ "[1-18]", "181", false },
	{ "[1-18]", "19", false },
	{ "leaf*[1-4]", "leaf-32", false }, /* 32 is one number */
	{ "leaf*[1-4]", "leaf-32/4", true },
	{ "leaf3[1-4]", "leaf32", true },
	{ "[1-4]x[2]", "3x2", true },
	{ "a*b*c", "aXbYbZc", true },
	{ "a*b*c", "aXbYbZ", false },
	{ "?", "", false },
};

START_TEST(name_patterns)
{
	ck_assert_msg(node_name_match(names[_i].pattern, names[_i].name) == names[_i].match,
	    "%s %s", names[_i].pattern, names[_i].name);
}
END_TEST

START_TEST(ordered_sets)
{
	const struct opts *o;

	SET("order", "0x23", "name:h[1-2]", "0x99", "0x23");
	o = bind(values);
	ck_assert_uint_eq(o->order.n_sets, 4);
	ck_assert_uint_eq(members(&o->order.set[0]), 0x40);
	ck_assert_uint_eq(members(&o->order.set[1]), 0x30);
	ck_assert_uint_eq(members(&o->order.set[2]), 0);
	ck_assert_uint_eq(members(&o->order.set[3]), 0x40);
}
END_TEST

START_TEST(tables)
{
	const struct opts *o;

	SET("weights", "0x11 3 200", "0x31\t1  7", "0x77 1 1");
	SET("ids", "0x12 -5");
	SET("ports", "0x10 8 2 1");
	o = bind(values);
	ck_assert_uint_eq(o->weights.n_rows, 3);
	ck_assert_uint_eq(o->weights.row[0].sw, 1);
	ck_assert_uint_eq(o->weights.row[0].end, FM_NONE);
	ck_assert_uint_eq(o->weights.row[0].port, 3);
	ck_assert_int_eq(o->weights.row[0].value, 200);
	ck_assert_uint_eq(o->weights.row[1].sw, FM_NONE);
	ck_assert_uint_eq(snap->fab.end_guid[o->weights.row[1].end], 0x31);
	ck_assert_uint_eq(o->weights.row[2].sw, FM_NONE);
	ck_assert_uint_eq(o->weights.row[2].end, FM_NONE);
	ck_assert_uint_eq(o->ids.row[0].sw, 2);
	ck_assert_int_eq(o->ids.row[0].value, -5);
	ck_assert_uint_eq(o->ports.n_rows, 3);
	ck_assert_uint_eq(o->ports.row[0].port, 8);
	ck_assert_int_eq(o->ports.row[2].value, 2);
	ck_assert_uint_eq(o->ports.row[2].port, 1);
}
END_TEST

START_TEST(files)
{
	char path[] = "/tmp/fmd-check-options-XXXXXX", item[64];
	int fd = mkstemp(path);
	const struct opts *o;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "  0x11 # leaf\r\n\n\t0x12", 22), 22);
	close(fd);
	snprintf(item, sizeof(item), "file:%s", path);
	SET("roots", item, "name:spine-*");
	SET("tables", path);
	unlink(path); /* all was read when it was set */
	o = bind(values);
	ck_assert_uint_eq(members(&o->roots), 7);
	ck_assert_uint_eq(o->tables.n_bytes, 22);
	ck_assert_int_eq(memcmp(o->tables.bytes, "  0x11", 6), 0);
	ck_assert_str_eq(o->tables.path, path);
}
END_TEST

START_TEST(errors_name_place_and_instance)
{
	struct option_origin at = { "fmd.conf", 3, NULL };
	static const char *const two[] = { "1", "2" };

	ck_assert_int_eq(
	    option_values_set(values, "max_hops", (const char *const[]){ "99" }, 1, &at, &err),
	    FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "fmd.conf:3: good a: max_hops = 99 is outside 1..64 hops");
	ck_assert_int_eq(option_values_set(values, "max_hops", two, 2, NULL, &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "command line: good a: max_hops takes one value, not 2");
	ck_assert_int_eq(option_values_set(values, "max_hop", two, 1, NULL, &err), FM_E_CONFIG);
	ck_assert_str_eq(
	    err.msg, "command line: good a: unknown key max_hop: did you mean max_hops?");
}
END_TEST

/* Memory that runs out anywhere is an error, never a crash. */
START_TEST(memory_runs_out)
{
	struct fm_arena small;
	bool done = false;
	void *o;

	SET("roots", "0x11", "name:h*", "level:0");
	SET("order", "0x23", "0x22");
	SET("weights", "0x11 3 200");
	for (uint64_t n = 1; !done; n++) {
		ck_assert_uint_lt(n, 100);
		fm_arena_init(&small, SIZE_MAX);
		fm_arena_fail_at(&small, n);
		done = options_bind(good, values, snap, &small, &o, &err) == 0;
		ck_assert(done || err.kind == FM_E_RESOURCE);
		fm_arena_fini(&small);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("options");
	TCase *tc = tcase_create("bind");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, defaults_without_values);
	tcase_add_test(tc, empty_lists_are_not_given);
	tcase_add_test(tc, scalars);
	tcase_add_loop_test(tc, node_sets, 0, sizeof(sets) / sizeof(*sets));
	tcase_add_loop_test(tc, name_patterns, 0, sizeof(names) / sizeof(*names));
	tcase_add_test(tc, ordered_sets);
	tcase_add_test(tc, tables);
	tcase_add_test(tc, files);
	tcase_add_test(tc, errors_name_place_and_instance);
	tcase_add_test(tc, memory_runs_out);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
