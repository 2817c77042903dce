/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MLNX_OFED's three policy files: what they mean on a small tree, and a
 * sentence with file and line for whatever is wrong in them.
 */
#include <check.h>
#include <string.h>

#include "core/graph/snapshot.h"
#include "core/overlay/rchain.h"
#include "lib/bitset.h"
#include "lib/log.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

#undef fail /* check.h has an old macro of this name */

static struct fm_arena mem;
static struct snapshot *snap;
static struct rchain chain;
static struct fm_error err;
static char heard[1024];

static void
hear(void *arg, enum fm_log_level level, const char *subsystem, const char *text)
{
	snprintf(heard + strlen(heard), sizeof(heard) - strlen(heard), "%s\n", text);
}

/* 4 leaves with 4 hosts, 4 spines. */
static void
setup(void)
{
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };

	fm_arena_init(&mem, SIZE_MAX);
	ck_assert_int_eq(generate_words("pgft 2 4,4 1,4 1,1", &nl, &err), 0);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &snap, &err), 0);
	netlist_fini(&nl);
	heard[0] = '\0';
	fm_log_set_sink(hear, NULL);
}

static void
teardown(void)
{
	rchain_fini(&chain);
	snapshot_put(snap);
	fm_arena_fini(&mem);
	fm_log_set_sink(NULL, NULL);
}

static struct fm_file
file_of(const char *path, const char *text)
{
	return text == NULL ? (struct fm_file){ 0 } : (struct fm_file){ path, text, strlen(text) };
}

static int
read_chain(const char *groups, const char *topologies, const char *steps)
{
	struct rchain_files files = { file_of("pgrp", groups), file_of("topo", topologies),
		file_of("rch", steps) };

	return rchain_read(&chain, &files, &mem, NULL, &err);
}

#define STEP1 "unicast-step\nid: 1\nengine: minhop\nend-unicast-step\n"

/* Members of a group, as a topology of it as both. */
static char members_text[4096];

static const char *
members(const char *rule)
{
	char groups[2048];
	uint64_t sw[4] = { 0 }, end[4] = { 0 };
	const struct fm_fabric *fab = &snap->fab;
	size_t n = 0;

	rchain_fini(&chain);
	snprintf(groups, sizeof(groups),
	    "port-group\nname: leaves\nport-regexp: ^leaf\nend-port-group\n"
	    "port-group\nname: first\nport-regexp: -1$\nend-port-group\n"
	    "port-group\nname: it\nuse: of the test\n%s\nend-port-group\n",
	    rule);
	ck_assert_msg(read_chain(groups, "topology\nid: 7\nsw-grp: it\nhca-grp: it\nend-topology\n",
			  STEP1) == 0,
	    "%s", err.msg);
	ck_assert_int_eq(rchain_members(&chain, 1, snap, sw, end, &err), 0);
	members_text[0] = '\0';
	FM_EACH_BIT (i, sw, fab->n_switches)
		n += (size_t)snprintf(
		    members_text + n, sizeof(members_text) - n, "%s ", fab->sw_name[i]);
	FM_EACH_BIT (i, end, fab->n_ends)
		n += (size_t)snprintf(
		    members_text + n, sizeof(members_text) - n, "%s ", fab->end_name[i]);
	return members_text;
}

static uint64_t
guid_of(const char *name)
{
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
		if (strcmp(snap->fab.sw_name[sw], name) == 0)
			return snap->fab.sw_guid[sw];
	for (fm_end e = 0; e < snap->fab.n_ends; e++)
		if (strcmp(snap->fab.end_name[e], name) == 0)
			return snap->fab.end_guid[e];
	ck_abort_msg("no %s", name);
	return 0;
}

/* "port-guid: 0xA, 0xB@1" */
static const char *
with_guids(const char *key, const char *a, const char *between, const char *b, const char *after)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s: 0x%llx%s0x%llx%s", key, (unsigned long long)guid_of(a),
	    between, (unsigned long long)guid_of(b), after);
	return text;
}

START_TEST(every_rule_finds_its_members)
{
	ck_assert_str_eq(members("port-regexp: ^spine-[12]$"), "spine-1 spine-2 ");
	ck_assert_str_eq(
	    members("port-regexp: ^host-2-.:1"), "host-2-1 host-2-2 host-2-3 host-2-4 ");
	ck_assert_str_eq(members("port-regexp: ^host-2-.:2"), "");
	ck_assert_str_eq(
	    members(with_guids("port-guid", "leaf-3", ",\n ", "host-1-2", "")), "leaf-3 host-1-2 ");
	ck_assert_str_eq(members(with_guids("port-guid", "leaf-3", "@2-5/7, ", "spine-2", "@1")),
	    "leaf-3 spine-2 ");
	ck_assert_str_eq(members(with_guids("port-guid-range", "leaf-2", " - ", "leaf-3", "")),
	    "leaf-2 leaf-3 ");
	ck_assert_str_eq(
	    members("port-name: hostname=host-1-1; port=1; hca_idx=1, hostname=host-4-4"),
	    "host-1-1 host-4-4 ");
	ck_assert_str_eq(
	    members("port-name: hostname=host-1-1 port=1 hca_idx=1, hostname = host-4-4"),
	    "host-1-1 host-4-4 ");
	ck_assert_str_eq(members("port-name: hostname=host-1-1 port=2"), "");
	ck_assert_str_eq(members("port-name: hostname=host-1-1; hca_idx=2, hostname=host-1"), "");
	ck_assert_str_eq(members("union-rule: leaves, first"),
	    "leaf-1 leaf-2 leaf-3 leaf-4 spine-1 host-1-1 host-2-1 host-3-1 host-4-1 ");
	ck_assert_str_eq(members("port-regexp: ^(leaf|spine)\\-[1]$"), "leaf-1 spine-1 ");
	ck_assert_str_eq(members("subtract-rule: leaves, first"), "leaf-2 leaf-3 leaf-4 ");
	ck_assert_str_eq(
	    members("subtract-rule: ALL_SWITCHES, leaves"), "spine-1 spine-2 spine-3 spine-4 ");
	ck_assert_str_eq(members("subtract-rule: ALL, ALL_CAS"),
	    "leaf-1 leaf-2 leaf-3 leaf-4 spine-1 spine-2 spine-3 spine-4 ");
	/* several rules add up, in whatever order they stand */
	ck_assert_str_eq(members("subtract-rule: leaves, first\nport-regexp: ^host-1-[12]$\n"
				 "port-name: hostname=host-4-4"),
	    "leaf-2 leaf-3 leaf-4 host-1-1 host-1-2 host-4-4 ");
}
END_TEST

/* n groups, the next made of the one before, twice. */
static char *
nest(unsigned n)
{
	static char groups[16384];
	size_t at = (size_t)snprintf(groups, sizeof(groups),
	    "port-group\nname: g1\nport-regexp: ^leaf-[12]\nend-port-group\n");

	for (unsigned i = 2; i <= n; i++)
		at += (size_t)snprintf(groups + at, sizeof(groups) - at,
		    "port-group\nname: g%u\nunion-rule: g%u, g%u\nend-port-group\n", i, i - 1,
		    i - 1);
	ck_assert_uint_lt(at, sizeof(groups));
	return groups;
}

/* Each is looked up once: 2^99 times would take for ever. */
START_TEST(groups_are_nested_so_deep)
{
	uint64_t sw[1] = { 0 }, end[1] = { 0 };
	const char topology[] = "topology\nid: 1\nsw-grp: g100\nhca-grp: g100\nend-topology\n";

	ck_assert_msg(read_chain(nest(100), topology, STEP1) == 0, "%s", err.msg);
	ck_assert_int_eq(rchain_members(&chain, 1, snap, sw, end, &err), 0);
	ck_assert_uint_eq(fm_bit_count(sw, snap->fab.n_switches), 2);
	ck_assert_uint_eq(fm_bit_count(end, snap->fab.n_ends), 0);
	rchain_fini(&chain);
	ck_assert_int_eq(read_chain(nest(101), topology, STEP1), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "pgrp:403: port-groups are nested more than 100 deep");
}
END_TEST

/* A GUID a line, as many as a fabric has: room for the list a few times, not for each line
 * all of them before it. */
START_TEST(a_long_list_takes_little_room)
{
	enum { N_GUIDS = 10000 };
	static char groups[N_GUIDS * 24 + 100];
	size_t at = (size_t)snprintf(
	    groups, sizeof(groups), "port-group\nname: it\nport-guid: 0x%x", N_GUIDS);

	for (unsigned i = 1; i < N_GUIDS; i++)
		at += (size_t)snprintf(groups + at, sizeof(groups) - at, ",\n0x%08x", i);
	snprintf(groups + at, sizeof(groups) - at, "\nend-port-group\n");
	fm_arena_fini(&mem);
	fm_arena_init(&mem, 10 * sizeof(groups));
	ck_assert_msg(read_chain(groups, NULL, STEP1) == 0, "%s", err.msg);
}
END_TEST

START_TEST(steps_run_by_id_and_useless_fallbacks_are_left_out)
{
	const struct rchain_step *s;

	ck_assert_msg(
	    read_chain(NULL, NULL,
		"# chain\n"
		"unicast-step\nid: 30\nengine: ftree\npath-bit: 3 # of 4\nend-unicast-step\n"
		"unicast-step\nid: 10\nengine: updn\nuse: all: of it\n"
		"config: /etc/opensm/a:b.conf\nend-unicast-step\n"
		"unicast-step\nid: 40\nengine: minhop\nfallback-to: 30\npath-bit: 3\n"
		"end-unicast-step\n"
		"unicast-step\nid: 50\nengine: dor\nfallback-to: 40\nend-unicast-step\n"
		"unicast-step\nid: 60\nengine: dor\nfallback-to: 99\nend-unicast-step\n"
		"unicast-step\nid: 5\nengine: dor\nfallback-to: 10\nend-unicast-step\n") == 0,
	    "%s", err.msg);
	ck_assert_uint_eq(chain.steps.n, 3);
	s = chain.steps.item;
	ck_assert_uint_eq(s[0].id, 10);
	ck_assert_str_eq(s[0].engine, "updn");
	ck_assert_str_eq(s[0].config, "/etc/opensm/a:b.conf");
	ck_assert_uint_eq(s[0].fallback_to, FM_NONE);
	ck_assert_uint_eq(s[1].id, 30);
	ck_assert_uint_eq(s[1].path_bit, 3);
	ck_assert_uint_eq(s[2].id, 40);
	ck_assert_uint_eq(s[2].fallback_to, 1);
	ck_assert_msg(strstr(heard,
			  "rch:19: step 50 is left out: fallback-to 40: that step is a fallback "
			  "itself") != NULL,
	    "%s", heard);
	ck_assert_ptr_nonnull(
	    strstr(heard, "rch:24: step 60 is left out: fallback-to 99: there is no such step"));
	ck_assert_ptr_nonnull(strstr(
	    heard, "rch:29: step 5 is left out: fallback-to 10: that step does not run before"));
}
END_TEST

#define LONG "a+++++++++++++++++++++++++++++++++++++++++++++++++++++++++++"
#define PARENTHESES "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
#define GROUP(lines) "port-group\n" lines "end-port-group\n"
#define NAMED(rule) GROUP("name: a\n" rule "\n")
#define TOPOLOGY(lines) "topology\n" lines "end-topology\n"
#define STEP(lines) "unicast-step\n" lines "end-unicast-step\n"

static const struct {
	const char *groups, *topologies, *steps, *sentence;
} wrong[] = {
	/* the form */
	{ "name: a\n", NULL, STEP1,
	    "pgrp:1: \"name: a\" stands outside a block: port-group begins one" },
	{ "port-group\nname: a\n", NULL, STEP1, "pgrp:1: this port-group has no end-port-group" },
	{ "port-group\nname: a\nport-group\n", NULL, STEP1,
	    "pgrp:3: \"port-group\" is neither \"key: value\" nor end-port-group, which the block "
	    "of "
	    "line 1 lacks" },
	{ GROUP("name: a\nport-guild: 0x1\n"), NULL, STEP1,
	    "pgrp:3: unknown key port-guild: did you mean port-guid?" },
	{ GROUP("colour: red\n"), NULL, STEP1,
	    "pgrp:2: unknown key colour: a port-group has name, use, port-guid, port-guid-range" },
	{ GROUP("name: a\nname: b\n"), NULL, STEP1,
	    "pgrp:3: name is given twice, first in line 2" },
	{ GROUP("name:\n"), NULL, STEP1, "pgrp:2: name has no value" },
	{ "port-group\nname: a\nport-guid: 0x1,\n", NULL, STEP1,
	    "pgrp:3: the file ends after a comma, where a list goes on" },
	/* groups */
	{ GROUP("port-guid: 0x1\n"), NULL, STEP1, "pgrp:1: this port-group has no name" },
	{ GROUP("name: a\n"), NULL, STEP1, "pgrp:1: this port-group has no rule: port-guid, " },
	{ GROUP("name: a\nport-guid: 0x1\nport-guid: 0x2\n"), NULL, STEP1,
	    "pgrp:4: port-guid is given twice, first in line 3" },
	{ GROUP("name: a\nport-guid: 0x1\nunion-rule: a, ALL\n"), NULL, STEP1,
	    "pgrp:3: port-group a is made of itself" },
	{ NAMED("port-guid: 0x1") NAMED("port-guid: 0x1"), NULL, STEP1,
	    "pgrp:6: there is a port-group a already, in line 1" },
	{ GROUP("name: ALL_CAS\nport-guid: 0x1\n"), NULL, STEP1,
	    "pgrp:2: ALL_CAS is predefined and cannot be defined anew" },
	{ GROUP("name: a:b\nport-guid: 0x1\n"), NULL, STEP1,
	    "pgrp:2: name: a colon cannot stand in a value" },
	{ NAMED("port-guid: 0x1:2"), NULL, STEP1,
	    "pgrp:3: port-guid: a colon cannot stand in a value" },
	{ NAMED("port-guid: 0x1, leaf"), NULL, STEP1,
	    "pgrp:3: port-guid: \"leaf\" is wrong: 0x281, " },
	{ NAMED("port-guid: 0x1@"), NULL, STEP1, "pgrp:3: port-guid: \"0x1@\" is wrong" },
	{ NAMED("port-guid: 0x1@3-2"), NULL, STEP1, "pgrp:3: port-guid: \"0x1@3-2\" is wrong" },
	{ NAMED("port-guid: 0x1@255"), NULL, STEP1, "pgrp:3: port-guid: \"0x1@255\" is wrong" },
	{ NAMED("port-guid: 0x1,, 0x2"), NULL, STEP1, "pgrp:3: port-guid: \"\" is wrong" },
	{ NAMED("port-guid-range: 0x5"), NULL, STEP1, "pgrp:3: port-guid-range: one range, " },
	{ NAMED("port-guid-range: 0x5-0x3"), NULL, STEP1, "pgrp:3: port-guid-range: one range, " },
	{ NAMED("port-name: h1"), NULL, STEP1,
	    "pgrp:3: port-name: \"h1\" is wrong: hostname=h1; port=1; hca_idx=1 is right" },
	{ NAMED("port-name: hostname=h1; port=x"), NULL, STEP1, "pgrp:3: port-name: " },
	{ NAMED("port-name: hostname=h1; colour=1"), NULL, STEP1, "pgrp:3: port-name: " },
	{ NAMED("port-regexp: a["), NULL, STEP1, "pgrp:3: port-regexp: \"a[\": " },
	{ NAMED("port-regexp: a:x"), NULL, STEP1,
	    "pgrp:3: port-regexp: behind the colon stands a port 1..254, not \"x\"" },
	{ NAMED("port-regexp: a{200}{200}{200}"), NULL, STEP1,
	    "pgrp:3: port-regexp: \"a{200}{200}{200}\": counts in braces are not taken" },
	{ NAMED("port-regexp: a\\\\(.*)\\1"), NULL, STEP1,
	    "pgrp:3: port-regexp: \"a\\\\(.*)\\1\": back-references are not taken" },
	{ NAMED("port-regexp: " PARENTHESES PARENTHESES), NULL, STEP1,
	    "pgrp:3: port-regexp: \"" PARENTHESES "\": more than 100 parentheses in each other" },
	{ NAMED("port-regexp: " LONG LONG LONG LONG LONG), NULL, STEP1,
	    "pgrp:3: port-regexp: \"" LONG "\": 300 bytes are too many for a regular expression: "
	    "at most 255" },
	{ NAMED("union-rule: ALL"), NULL, STEP1,
	    "pgrp:3: union-rule takes exactly two groups: union-rule: g1, g2" },
	{ NAMED("subtract-rule: ALL, ALL_CAS, ALL"), NULL, STEP1,
	    "pgrp:3: subtract-rule takes exactly two groups" },
	{ NAMED("union-rule: ALL, nobody"), NULL, STEP1, "pgrp:3: there is no port-group nobody" },
	{ NAMED("union-rule: ALL, b") GROUP("name: b\nsubtract-rule: ALL, a\n"), NULL, STEP1,
	    "pgrp:3: port-group a is made of itself" },
	/* topologies */
	{ NULL, TOPOLOGY("sw-grp: ALL\nhca-grp: ALL\n"), STEP1, "topo:1: this topology has no id" },
	{ NULL, TOPOLOGY("id: 0\nsw-grp: ALL\nhca-grp: ALL\n"), STEP1,
	    "topo:2: id: 0: a number in 1..65535 is right" },
	{ NULL, TOPOLOGY("id: 1x\nsw-grp: ALL\nhca-grp: ALL\n"), STEP1,
	    "topo:2: id: 1x: a number in " },
	{ NULL, TOPOLOGY("id: 1\nhca-grp: ALL\n"), STEP1, "topo:1: this topology has no sw-grp" },
	{ NULL, TOPOLOGY("id: 1\nsw-grp: ALL\nhca-grp: some\n"), STEP1,
	    "topo:4: hca-grp: there is no port-group some" },
	{ NULL,
	    TOPOLOGY("id: 1\nsw-grp: ALL\nhca-grp: ALL\n")
		TOPOLOGY("id: 1\nsw-grp: ALL\nhca-grp: ALL\n"),
	    STEP1, "topo:7: there is a topology 1 already" },
	/* steps */
	{ NULL, NULL, "", "rch:1: there is no unicast-step" },
	{ NULL, NULL, STEP("engine: updn\n"), "rch:1: this unicast-step has no id" },
	{ NULL, NULL, STEP("id: 1\n"), "rch:1: this unicast-step has no engine" },
	{ NULL, NULL, STEP1 STEP1, "rch:6: there is a step 1 already, in line 1" },
	{ NULL, NULL, STEP("id: 1\nengine: updn\ntopology: 4\n"), "rch:4: there is no topology 4" },
	{ NULL, NULL, STEP("id: 1\nengine: updn\npath-bit: 128\n"),
	    "rch:4: path-bit: 128: a number in 0..127 is right" },
	{ NULL, NULL, STEP("id: 2\nengine: updn\npath-bit: 1\n"),
	    "rch:1: the first step, 2, has topology 0 and path-bit 0" },
	{ NULL, TOPOLOGY("id: 1\nsw-grp: ALL\nhca-grp: ALL\n"),
	    STEP("id: 2\nengine: updn\ntopology: 1\n") STEP("id: 3\nengine: updn\n"),
	    "rch:1: the first step, 2, has topology 0 and path-bit 0" },
};

START_TEST(what_is_wrong_is_told_with_its_line)
{
	ck_assert_int_eq(
	    read_chain(wrong[_i].groups, wrong[_i].topologies, wrong[_i].steps), FM_E_CONFIG);
	ck_assert_msg(strncmp(err.msg, wrong[_i].sentence, strlen(wrong[_i].sentence)) == 0,
	    "\"%s\" instead of \"%s\"", err.msg, wrong[_i].sentence);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rchain");
	TCase *t = tcase_create("rchain");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, every_rule_finds_its_members);
	tcase_add_test(t, groups_are_nested_so_deep);
	tcase_add_test(t, a_long_list_takes_little_room);
	tcase_add_test(t, steps_run_by_id_and_useless_fallbacks_are_left_out);
	tcase_add_loop_test(
	    t, what_is_wrong_is_told_with_its_line, 0, (int)(sizeof(wrong) / sizeof(*wrong)));
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_suite(suite());
}
