/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups and regions: from the file to the switches of each, or to the exact
 * sentence.  The fabric is a tree of 4 leaves (two hosts each) and 2 spines
 * beside a torus of 3x3 switches, with 2 cables between.  In the texts
 * <NAME> stands for the GUID of that node.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/conf/conf.h"
#include "core/daemon/regions_json.h"
#include "core/graph/snapshot.h"
#include "core/text/name_ranges.h"
#include "lab/topo/netlist.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

#define FABRIC "join ft=pgft:2:2,4:1,2:1,1 t=torus:3x3:1 ft-leaf-1~t-sw-0-0~1 ft-leaf-2~t-sw-0-1~1"
#define FIFTEEN "abcdefghijklmno"
#define SIXTEEN FIFTEEN "p"
#define PODS "region \"pods\" { switches = { \"ft-*\" } }\n"

static struct engine_set engines;
static struct snapshot *snap;
static char folder[FOLDER_ROOM], conf_path[96], warned[4096];
static unsigned n_warned;
static uint16_t sw_region[64];

static void
note_warning(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	size_t at = strlen(warned);

	if (level != FM_LOG_WARN)
		return;
	n_warned++;
	snprintf(warned + at, sizeof(warned) - at, "%s\n", line);
}

static void
append(char *text, size_t room, const char *a, const char *b)
{
	size_t at = strlen(text);

	snprintf(text + at, room - at, "%s%s", a, b);
}

static struct snapshot *
make_fabric(const char *words)
{
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct snapshot *s = NULL;
	struct fm_error err;

	ck_assert_msg(generate_words(words, &nl, &err) == 0, "%s", err.msg);
	ck_assert_msg(netlist_snapshot(&nl, &view, &s, &err) == 0, "%s", err.msg);
	netlist_fini(&nl);
	return s;
}

static void
set_up(void)
{
	const char *dirs[] = { folder, NULL };
	char cmd[256];
	struct fm_error err;

	folder_make(folder);
	snprintf(conf_path, sizeof(conf_path), "%s/fmd.conf", folder);
	snprintf(cmd, sizeof(cmd), "cp tests/modules/.libs/good.so %s", folder);
	ck_assert_int_eq(system(cmd), 0);
	ck_assert_msg(engine_set_load(&engines, dirs, &err) == 0, "%s", err.msg);
	snap = make_fabric(FABRIC);
	fm_log_set_sink(note_warning, NULL);
	warned[0] = '\0';
	n_warned = 0;
}

static void
tear_down(void)
{
	snapshot_put(snap);
	engine_set_fini(&engines);
	folder_remove(folder);
}

static uint64_t
guid_of(const char *name, size_t n)
{
	const struct fm_fabric *fab = &snap->fab;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		if (strlen(fab->sw_name[s]) == n && strncmp(fab->sw_name[s], name, n) == 0)
			return fab->sw_guid[s];
	for (fm_end e = 0; e < fab->n_ends; e++)
		if (strlen(fab->end_name[e]) == n && strncmp(fab->end_name[e], name, n) == 0)
			return fab->end_guid[e];
	ck_abort_msg("no node %.*s", (int)n, name);
}

/* <NAME> to 0x... */
static const char *
expand(const char *text, char *out, size_t room)
{
	size_t at = 0;

	for (const char *p = text; *p != '\0'; p++) {
		size_t n = *p == '<' ? strcspn(p, ">\n") : 0;

		if (n > 0 && p[n] == '>') {
			at += (size_t)snprintf(
			    out + at, room - at, "0x%016" PRIx64, guid_of(p + 1, n - 1));
			p += n;
		} else {
			out[at++] = *p;
		}
		ck_assert_uint_lt(at, room - 32);
	}
	out[at] = '\0';
	return out;
}

static int
load_file(const char *text, struct conf **conf, struct fm_error *err)
{
	struct conf_source source = { .path = conf_path };
	char expanded[4096];

	folder_write(folder, "fmd.conf", expand(text, expanded, sizeof(expanded)));
	return conf_load(&source, &engines, conf, err);
}

static struct conf *
load(const char *text)
{
	struct conf *conf = NULL;
	struct fm_error err = { 0 };

	ck_assert_msg(load_file(text, &conf, &err) == 0, "%s", err.msg);
	return conf;
}

/* "pods: ft-leaf-[1-4]; torus: t-sw-[0-2]-[0-2]"; of the default nothing. */
static const char *
describe(const struct conf *conf)
{
	static char text[1024];
	const char *names[64], **patterns;
	struct fm_arena mem;
	size_t at = 0, n, k;

	fm_arena_init(&mem, SIZE_MAX);
	text[0] = '\0';
	for (uint32_t r = 1; r < conf->regions.set.n_regions; r++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s:", at > 0 ? "; " : "",
		    conf->regions.set.region[r].name);
		n = 0;
		for (fm_sw s = 0; s < snap->fab.n_switches; s++)
			if (sw_region[s] == r)
				names[n++] = snap->fab.sw_name[s];
		patterns = name_ranges(names, n, &mem, &k);
		for (size_t i = 0; i < k; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %s", patterns[i]);
	}
	fm_arena_fini(&mem);
	return text;
}

/* ---------------------------------------------------------------- members */

static const struct {
	const char *text, *members;
} good[] = {
	{ "", "" },
	{ PODS, "pods: ft-leaf-[1-4] ft-spine-[1-2]" },
	{ PODS "region \"torus\" { switches = { \"name:t-*\" } }",
	    "pods: ft-leaf-[1-4] ft-spine-[1-2]; torus: t-sw-[0-2]-[0-2]" },
	{ "region \"a\" { switches = { \"<ft-leaf-3>\", \"<t-sw-2-2>\" } }",
	    "a: ft-leaf-3 t-sw-2-2" },
	{ "region \"a\" { switches = { \"system:<ft-spine-2>\" } }", "a: ft-spine-2" },
	{ "region \"a\" { switches = { \"name:ft-leaf-[2-3,9]\" } }", "a: ft-leaf-[2-3]" },
	{ "region \"a\" { switches = { \"name:ft-leaf-[02-3,000000-000999999]\" } }",
	    "a: ft-leaf-[1-4]" },
	{ "region \"" SIXTEEN SIXTEEN SIXTEEN FIFTEEN
	  "\" { switches = { \"ft-leaf-[1-1,3-3,999999999999999999]\" } }",
	    SIXTEEN SIXTEEN SIXTEEN FIFTEEN ": ft-leaf-[1,3]" },
	{ "region \"a\" { switches = { \"name:t-sw-?-[1-2]\" } }", "a: t-sw-[0-2]-[1-2]" },
	{ "region \"a\" { switches = { \"level:1\" } }", "a: ft-spine-[1-2]" },
	{ "region \"a\" { switches = { \"level:top\" } }", "a: ft-spine-[1-2]" },
	{ "region \"a\" { switches = { \"All\" } }",
	    "a: ft-leaf-[1-4] ft-spine-[1-2] t-sw-[0-2]-[0-2]" },
	/* behind ports: leaves have hosts on 1..2, spines on 3..4, the torus on 5 */
	{ "region \"a\" { switches = { \"<ft-leaf-1>/3-4\" } }", "a: ft-spine-[1-2]" },
	{ "region \"a\" { switches = { \"<ft-leaf-1>/5\" } }", "a: t-sw-0-0" },
	{ "region \"a\" { switches = { \"<ft-spine-1>/1-2,4\" } }", "a: ft-leaf-[1-2,4]" },
	/* subtraction, in the order written */
	{ "region \"a\" { switches = { \"ft-*\", \"!ft-spine-*\" } }", "a: ft-leaf-[1-4]" },
	{ "region \"a\" { switches = { \"ft-*\", \"!ft-*-1\", \"ft-leaf-1\" } }",
	    "a: ft-leaf-[1-4] ft-spine-2" },
	{ "region \"a\" { switches = { \"All\", \"!level:0\" } }", "a: ft-spine-[1-2]" },
	{ "region \"a\" { switches = { \"ft-leaf-*\", \"!<ft-spine-1>/1-3\" } }", "a: ft-leaf-4" },
	{ "region \"a\" { switches = { \"All\", \"!name:t-*\", \"!<ft-leaf-2>\" } }",
	    "a: ft-leaf-[1,3-4] ft-spine-[1-2]" },
	/* groups */
	{ "group \"g\" { members = { \"ft-*\" } } region \"a\" { switches = { \"@g\" } }",
	    "a: ft-leaf-[1-4] ft-spine-[1-2]" },
	{ "region \"a\" { switches = { \"@g\" } } group \"g\" { members = { \"ft-spine-*\" } }",
	    "a: ft-spine-[1-2]" },
	{ "group \"l\" { members = { \"ft-leaf-*\", \"!ft-leaf-4\" } }\n"
	  "group \"s\" { members = { \"ft-spine-*\" } }\n"
	  "group \"both\" { members = { \"@l\", \"@s\" } }\n"
	  "region \"a\" { switches = { \"@both\", \"!ft-leaf-1\" } }",
	    "a: ft-leaf-[2-3] ft-spine-[1-2]" },
	/* a group is a set of its own: what it takes out, it takes out of itself */
	{ "group \"g\" { members = { \"ft-leaf-*\", \"!ft-leaf-1\" } }\n"
	  "region \"a\" { switches = { \"ft-leaf-1\", \"@g\" } }",
	    "a: ft-leaf-[1-4]" },
	{ "group \"g\" { members = { \"ft-leaf-*\" } }\n"
	  "region \"a\" { switches = { \"ft-*\", \"!@g\" } }",
	    "a: ft-spine-[1-2]" },
	{ "group \"g\" { members = { \"ft-host-*\" } } region \"a\" { switches = { \"@g\", "
	  "\"ft-spine-1\" } }",
	    "a: ft-spine-1" },
	/* files */
	{ "region \"a\" { switches = { \"file:list\" } }", "a: ft-leaf-[1-2] ft-spine-1" },
	{ "region \"a\" { switches = { \"ft-*\", \"!file:taken\" } }",
	    "a: ft-leaf-[1-2] ft-spine-1" },
	{ "group \"g\" { members = { \"file:list\" } } region \"a\" { switches = { \"@g\" } }",
	    "a: ft-leaf-[1-2] ft-spine-1" },
};

static void
write_lists(void)
{
	char text[512];

	folder_write(folder, "list",
	    expand("# what stands here\n<ft-leaf-1> and a remark\n\n  name:ft-leaf-2\n"
		   "ft-spine-*\n!<ft-spine-2> not this one\n",
		text, sizeof(text)));
	folder_write(folder, "taken", "ft-leaf-[3-4]\nft-spine-2\n");
	folder_write(folder, "twice", "ft-leaf-1\n!ft-leaf-2\n");
	folder_write(folder, "odd", "ft-leaf-1\n\nname:ft-leaf-[\n");
}

START_TEST(members)
{
	struct conf *conf;
	struct fm_error err = { 0 };

	write_lists();
	conf = load(good[_i].text);
	ck_assert_msg(regions_resolve(&conf->regions.set, snap, true, sw_region, &err) == 0,
	    "%s: %s", good[_i].text, err.msg);
	ck_assert_str_eq(describe(conf), good[_i].members);
	ck_assert_str_eq(warned, "");
	conf_put(conf);
}
END_TEST

/* -------------------------------------------------------------- sentences */

static const struct {
	const char *text, *says;
} bad[] = {
	/* without a fabric */
	{ "\nregion { switches = { \"ft-*\" } }",
	    "fmd.conf:2: a region has a name: region \"pods\" { switches = { \"@pods\" } chain = { "
	    "\"fattree\" } }" },
	{ "group { members = { \"ft-*\" } }",
	    "fmd.conf:1: a group has a name: group \"pods\" { members = { \"name:pod[1-4]-*\" } "
	    "}" },
	{ "credit_loops = warn\nregion \"a\" { switches = { \"ft-*\" }\ncredit_loops = refuse }",
	    "fmd.conf:3: region a: credit_loops: credit_loops = warn outside of regions allows "
	    "them "
	    "everywhere: set it in the regions that may have them" },
	{ "region \"a\" { switches = { \"ft-*\" }\ncredit_loops = maybe }",
	    "fmd.conf:2: region a: credit_loops = maybe is none of default, refuse, warn" },
	{ "region \"a b\" { switches = { \"ft-*\" } }",
	    "fmd.conf:1: region \"a b\": a name is of letters, digits, _ . and -" },
	{ "region \"default\" { switches = { \"ft-*\" } }",
	    "fmd.conf:1: region default: that is what no region claims, and its chain the one "
	    "outside of regions" },
	{ "region \"a\" {\n}\n",
	    "fmd.conf:2: region a names nothing: region \"pods\" { switches = { \"@pods\" } chain "
	    "= { \"fattree\" } }" },
	{ "\ngroup \"a\" {\nmembers = { }\n}\n",
	    "fmd.conf:4: group a names nothing: group \"pods\" { members = { \"name:pod[1-4]-*\" } "
	    "}" },
	{ PODS PODS,
	    "fmd.conf:2: a second section region \"pods\": put its keys into the first, or give "
	    "it another title" },
	{ "region \"a\" {\n\tswitches = { \"ft-*\" }\n\tswitchs = { \"t-*\" }\n}",
	    "fmd.conf:3: unknown key switchs of region: did you mean switches?" },
	{ "region \"a\" {\n\tswitches = { \"ft-*\",\n\t\t\"0xzz\" }\n}",
	    "fmd.conf:3: region a: switches: '0xzz' is no GUID: write 0x and up to 16 hex digits, "
	    "or name:0xzz for a node's name" },
	{ "region \"a\" { switches = { \"!ft-*\" } }",
	    "fmd.conf:1: region a: switches: '!ft-*' takes out of nothing: before it stands what "
	    "it is taken out of, All if need be" },
	{ "region \"a\" { switches = { \"\" } }",
	    "fmd.conf:1: region a: switches: an empty name matches no node" },
	{ "group \"a\" {\n members = { \"leaf-[0-1000000]\" } }",
	    "fmd.conf:2: group a: members: 'leaf-[0-1000000]': 0-1000000 is a range of "
	    "1000001 numbers, more than any fabric has: at most 1000000, or * for any" },
	{ "region \"a\" { switches = { \"leaf-[1-2,18-3]\" } }",
	    "fmd.conf:1: region a: switches: 'leaf-[1-2,18-3]': 18-3 runs backwards: write 3-18" },
	{ "region \"a\" { switches = { \"leaf-[1000000000000000000]\" } }",
	    "fmd.conf:1: region a: switches: 'leaf-[1000000000000000000]': numbers in brackets "
	    "have at most 18 digits" },
	{ "region \"a\" { switches = { \"leaf-[1-99999999999999999999]\" } }",
	    "fmd.conf:1: region a: switches: 'leaf-[1-99999999999999999999]': numbers in brackets "
	    "have at most 18 digits" },
	{ "region \"a\" { switches = { \"leaf-[]\" } }",
	    "fmd.conf:1: region a: switches: 'leaf-[]': brackets hold numbers: [1-18] or "
	    "[1-4,7]" },
	{ "region \"a\" { switches = { \"leaf-[1,]\" } }",
	    "fmd.conf:1: region a: switches: 'leaf-[1,]': brackets hold numbers: [1-18] or "
	    "[1-4,7]" },
	{ "region \"a\" { switches = { \"leaf-[3-]\" } }",
	    "fmd.conf:1: region a: switches: 'leaf-[3-]': brackets hold numbers: [1-18] or "
	    "[1-4,7]" },
	{ "region \"a\" { switches = { \"@\" } }",
	    "fmd.conf:1: region a: switches: '@' wants the name of a group: @pods" },
	{ "region \"a\" { switches = { \"0x12/0-3\" } }",
	    "fmd.conf:1: region a: switches: '0x12/0-3': behind the / of a switch's GUID stand its "
	    "ports, 1..254: 0x.../1-18,20" },
	{ "region \"a\" { switches = { \"0x12/3-1\" } }",
	    "fmd.conf:1: region a: switches: '0x12/3-1': behind the / of a switch's GUID stand its "
	    "ports, 1..254: 0x.../1-18,20" },
	{ "region \"a\" { switches = { \"0x12/1,\" } }",
	    "fmd.conf:1: region a: switches: '0x12/1,': behind the / of a switch's GUID stand its "
	    "ports, 1..254: 0x.../1-18,20" },
	{ "region \"a\" { switches = { \"0xq/1\" } }",
	    "fmd.conf:1: region a: switches: '0xq/1': 0xq is no GUID of a switch: write 0x and up "
	    "to 16 hex digits" },
	{ "region \"a\" {\n switches = { \"ft-*\",\n \"@podz\" } }\ngroup \"pods\" { members = { "
	  "\"ft-*\" } }",
	    "fmd.conf:3: region a: switches: '@podz': there is no group podz: did you mean "
	    "@pods?" },
	{ "region \"a\" { switches = { \"@pods\" } }",
	    "fmd.conf:1: region a: switches: '@pods': there is no group pods: write group \"pods\" "
	    "{ members = { ... } }" },
	{ "group \"a\" { members = { \"@b\" } }\ngroup \"b\" {\n members = { \"ft-*\", \"@a\" } }",
	    "fmd.conf:3: group b: members: '@a' leads back to group a of line 1: a group "
	    "cannot hold itself" },
	{ "group \"a\" { members = { \"@a\" } }",
	    "fmd.conf:1: group a: members: '@a' leads back to group a of line 1: a group "
	    "cannot hold itself" },
	{ "region \"a\" { switches = { \"file:none\" } }",
	    "fmd.conf:1: region a: switches: none: No such file or directory" },
	{ "region \"a\" { switches = { \"file:odd\" } }",
	    "fmd.conf:1: region a: switches: odd:3: 'ft-leaf-[': brackets hold numbers: [1-18] or "
	    "[1-4,7]" },
	{ "region \"a\" { switches = { \"ft-*\", \"!file:twice\" } }",
	    "fmd.conf:1: region a: switches: twice:2: '!ft-leaf-2': this file is taken out as a "
	    "whole, with !file:; write its lines without !" },
	{ "region \"a\" {\n switches = { \"ft-*\" }\n chain = { \"god\" } }",
	    "fmd.conf:3: region a: chain: no engine 'god': did you mean good?" },
	{ "region \"a\" { switches = { \"ft-*\" } chain = { \"good:x\" } }",
	    "fmd.conf:1: region a: chain: good:x: there is no section good \"x\" { ... }" },
	{ "fallback = no chain = { \"good\" }\nregion \"a\" { switches = { \"ft-*\" } chain = { } "
	  "}",
	    "fmd.conf:2: region a: chain: it names no engine: name one, or leave it out for that "
	    "of "
	    "region default" },
	{ "region \"a\" { switches = { \"ft-*\" }\nchain = { \"\" } }",
	    "fmd.conf:2: region a: chain: it names no engine: name one, or leave it out for that "
	    "of "
	    "region default" },
	{ "region \"" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "\" { switches = { \"ft-*\" } }",
	    "fmd.conf:1: region \"abcdefghijklmnopabcd...\": a name has at most 63 letters, this "
	    "one 64" },
	{ "good { order = { \"ft-*\", \"!ft-spine-1\" } }",
	    "fmd.conf:1: good: order: '!ft-spine-1': out of an ordered list nothing is taken; "
	    "leave "
	    "it out" },
	{ "\ngood { roots = { \"@roots\" } }",
	    "fmd.conf:2: good: roots: '@roots': there is no group roots: write group \"roots\" { "
	    "members = { ... } }" },
	{ PODS "region_order = { \"pods\", \"torus\" }",
	    "fmd.conf:2: region_order: there is no region torus: write region \"torus\" { "
	    "switches = { ... } }" },
	{ PODS "region_order = { \"podss\" }",
	    "fmd.conf:2: region_order: there is no region podss: did you mean pods?" },
	{ PODS "region_order = { \"pods\", \"default\", \"pods\" }",
	    "fmd.conf:2: region_order: pods stands there twice: once is enough" },
	{ "\nreserved_sls = { \"16\" }",
	    "fmd.conf:2: reserved_sls: 16 is no service level: write 0..15, single or as 4-7" },
	{ "reserved_sls = { \"4-\" }",
	    "fmd.conf:1: reserved_sls: 4- is no service level: write 0..15, single or as 4-7" },
	{ "reserved_sls = { \"0-15\" }",
	    "fmd.conf:1: reserved_sls: no service level is left: leave out one at least" },
	{ "replies = maybe", "fmd.conf:1: replies = maybe is none of prefer, require, ignore" },
	/* against the fabric */
	{ PODS "region \"b\" {\n switches = { \"t-*\",\n \"ft-leaf-1\" } }",
	    "fmd.conf:4: region b: 'ft-leaf-1' claims switch ft-leaf-1 (<ft-leaf-1>) as 'ft-*' of "
	    "region pods does in line 1: take it out of one with \"!\"" },
	{ "region \"a\" { switches = { \"file:list\" } }\nregion \"b\" { switches = { "
	  "\"ft-spine-1\" "
	  "} }",
	    "fmd.conf:2: region b: 'ft-spine-1' claims switch ft-spine-1 (<ft-spine-1>) as "
	    "'ft-spine-*' of region a does in list:5: take it out of one with \"!\"" },
	{ PODS "region \"b\" {\n switches = {\n \"t-*\", \"name:t-sw-3-3\" } }",
	    "fmd.conf:4: region b: 'name:t-sw-3-3' names nothing in this fabric: did you mean "
	    "t-sw-0-0?" },
	{ "region \"b\" { switches = { \"ft-*\", \"leaves-*\" } }",
	    "fmd.conf:1: region b: 'leaves-*' names nothing in this fabric" },
	{ "region \"b\" { switches = { \"ft-*\", \"!leaves-*\" } }",
	    "fmd.conf:1: region b: '!leaves-*' names nothing in this fabric" },
	{ "group \"g\" { members = { \"0x77\" } } region \"b\" { switches = { \"ft-*\", \"@g\" } }",
	    "fmd.conf:1: group g: '0x77' names nothing in this fabric" },
	{ "region \"b\" {\n switches = { \"ft-host-*\" } }",
	    "fmd.conf:2: region b holds no switch, though it names 8 end-ports: a region is made "
	    "of "
	    "switches, hosts belong to the one they are cabled to" },
	{ "region \"b\" {\n\n switches = { \"ft-leaf-1\", \"!ft-leaf-*\" } }",
	    "fmd.conf:3: region b holds no switch of this fabric" },
};

/* Without the folder's name. */
static const char *
shorten(const char *text)
{
	static char out[1024];
	size_t at = 0, skip = strlen(folder) + 1;

	while (*text != '\0')
		if (strncmp(text, folder, skip - 1) == 0)
			text += skip;
		else
			out[at++] = *text++;
	out[at] = '\0';
	return out;
}

START_TEST(sentences)
{
	struct conf *conf = NULL;
	struct fm_error err = { 0 };
	char says[1024];
	int rc;

	write_lists();
	rc = load_file(bad[_i].text, &conf, &err);
	if (rc == 0)
		rc = regions_resolve(&conf->regions.set, snap, true, sw_region, &err);
	ck_assert_msg(rc == FM_E_CONFIG, "%s: returned %d", bad[_i].text, rc);
	ck_assert_str_eq(shorten(err.msg), expand(bad[_i].says, says, sizeof(says)));
	conf_put(conf);
}
END_TEST

/* Twenty groups one in the other, from either end, and one too many. */
START_TEST(nesting)
{
	for (unsigned down = 0; down < 2; down++)
		for (unsigned n = 16; n <= 17; n++) {
			char text[4096];
			size_t at = 0;
			struct conf *conf = NULL;
			struct fm_error err = { 0 };

			for (unsigned k = 0; k < n; k++) {
				unsigned i = down ? n - 1 - k : k;

				at += (size_t)snprintf(text + at, sizeof(text) - at,
				    "group \"g%u\" { members = { \"%s%u\" } }\n", i,
				    i + 1 < n ? "@g" : "ft-leaf-", i + 1 < n ? i + 1 : 1);
			}
			snprintf(text + at, sizeof(text) - at,
			    "region \"a\" { switches = { \"@g0\" } }");
			if (n == 17) {
				ck_assert_int_eq(load_file(text, &conf, &err), FM_E_CONFIG);
				ck_assert_ptr_nonnull(strstr(err.msg, "nested more than 16 deep"));
				continue;
			}
			ck_assert_msg(load_file(text, &conf, &err) == 0, "%s", err.msg);
			ck_assert_int_eq(
			    regions_resolve(&conf->regions.set, snap, true, sw_region, &err), 0);
			ck_assert_str_eq(describe(conf), "a: ft-leaf-1");
			conf_put(conf);
		}
}
END_TEST

/* ------------------------------------------------------------ at run time */

/* What is not there is told once, and again when it is something else. */
START_TEST(absent_members_are_told_once)
{
	struct conf *conf = load("region \"a\" { switches = { \"ft-*\", \"gone-1\" } }\n"
				 "region \"b\" { switches = { \"gone-2\" } }\n");
	struct snapshot *other = make_fabric("join ft=pgft:2:2,4:1,2:1,1 gone=torus:3x3:1");
	struct fm_error err = { 0 };

	ck_assert_int_eq(regions_resolve(&conf->regions.set, snap, false, sw_region, &err), 0);
	ck_assert_str_eq(describe(conf), "a: ft-leaf-[1-4] ft-spine-[1-2]; b:");
	ck_assert_ptr_nonnull(strstr(warned, ":1: region a: 'gone-1' names nothing"));
	ck_assert_ptr_nonnull(strstr(warned, ":2: region b: 'gone-2' names nothing"));
	ck_assert_ptr_nonnull(strstr(warned, ":2: region b holds no switch of this fabric"));
	ck_assert_uint_eq(n_warned, 3);
	ck_assert_int_eq(regions_check(&conf->regions.set, snap, &err), 0);
	ck_assert_uint_eq(n_warned, 3);
	conf_put(conf);
	conf = load("region \"a\" { switches = { \"t-*\" } }\n");
	ck_assert_int_eq(regions_resolve(&conf->regions.set, other, false, sw_region, &err), 0);
	ck_assert_int_eq(regions_resolve(&conf->regions.set, snap, false, sw_region, &err), 0);
	ck_assert_uint_eq(n_warned, 5);
	ck_assert_int_eq(regions_resolve(&conf->regions.set, other, false, sw_region, &err), 0);
	ck_assert_uint_eq(n_warned, 7);
	conf_put(conf);
	/* of many, some and a count */
	warned[0] = '\0';
	n_warned = 0;
	conf = load("region \"a\" { switches = { \"t-*\", \"g1\", \"g2\", \"g3\", \"g4\", \"g5\", "
		    "\"g6\", \"g7\", \"g8\", \"g9\", \"!g10\" } }\n");
	ck_assert_int_eq(regions_resolve(&conf->regions.set, snap, false, sw_region, &err), 0);
	ck_assert_uint_eq(n_warned, 9);
	ck_assert_ptr_nonnull(strstr(warned, "region a: 2 more items name nothing in this fabric"));
	snapshot_put(other);
	conf_put(conf);
}
END_TEST

/* An overlap is refused in a new file, and only told of when it comes to be. */
START_TEST(overlap_at_run_time)
{
	struct conf *conf = load(PODS "region \"b\" { switches = { \"level:1\" } }");
	struct fm_error err = { 0 };

	ck_assert_int_eq(regions_check(&conf->regions.set, snap, &err), FM_E_CONFIG);
	ck_assert_msg(
	    strstr(err.msg, "region b: 'level:1' claims switch ft-spine-1") != NULL, "%s", err.msg);
	conf_put(conf);
}
END_TEST

/* ------------------------------------------------------------- the chains */

START_TEST(chains)
{
	const struct region_set *set;
	struct conf *conf;

	conf = load("chain = { \"good\" }\n"
		    "good { max_hops = 7 time_limit = 2s }\ngood \"pods\" { max_hops = 9 }\n"
		    "region \"a\" { switches = { \"ft-*\" } chain = { \"fine:pods\", \"good\" } }\n"
		    "region \"b\" { switches = { \"t-*\" } }\n"
		    "region_order = { \"b\", \"default\" }\n"
		    "replies = require reserved_sls = { 3, \"5-7\" }\n");
	set = &conf->regions.set;
	ck_assert_uint_eq(set->n_regions, 3);
	ck_assert_str_eq(set->region[0].name, "default");
	ck_assert_ptr_eq(set->region[0].chain.entries, conf->routing.chain.entries);
	ck_assert_uint_eq(set->region[0].chain.mark, conf->routing.chain.mark);
	ck_assert_str_eq(set->region[1].name, "a");
	ck_assert_uint_eq(set->region[1].chain.n_entries, 2);
	ck_assert_str_eq(set->region[1].chain.entries[0].name, "fine:pods");
	ck_assert_ptr_eq(
	    set->region[1].chain.entries[1].values, conf->routing.chain.entries[0].values);
	ck_assert_ptr_ne(
	    set->region[1].chain.entries[0].values, conf->routing.chain.entries[0].values);
	ck_assert_int_eq(set->region[1].chain.entries[1].time_limit_ms, 2000);
	ck_assert(set->region[1].chain.fallback);
	ck_assert_ptr_eq(set->region[2].chain.entries, conf->routing.chain.entries);
	ck_assert_uint_eq(set->n_order, 2);
	ck_assert_uint_eq(set->order[0], 2);
	ck_assert_uint_eq(set->order[1], 0);
	ck_assert_int_eq(set->replies, REPLIES_REQUIRE);
	ck_assert_uint_eq(set->reserved_sls, 0xe8);
	ck_assert_str_eq(warned, "");
	conf_put(conf);
}
END_TEST

/* What nobody names is told of; conf.d may say anew what a region is. */
START_TEST(files_after_the_first)
{
	struct fm_error err = { 0 };
	struct conf *conf;
	char dir[96];

	snprintf(dir, sizeof(dir), "%s/conf.d", folder);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	folder_write(folder, "conf.d/10.conf",
	    "region \"a\" { switches = { \"@g\" } }\ngroup \"idle\" { members = { \"All\" } }\n");
	conf = load("group \"g\" { members = { \"t-*\" } }\n"
		    "region \"a\" { switches = { \"ft-*\" } chain = { good } }\n");
	ck_assert_uint_eq(conf->regions.set.n_regions, 2);
	ck_assert_int_eq(regions_resolve(&conf->regions.set, snap, true, sw_region, &err), 0);
	ck_assert_str_eq(describe(conf), "a: t-sw-[0-2]-[0-2]");
	ck_assert_str_eq(conf->regions.set.region[1].chain.entries[0].name, "good");
	ck_assert_msg(strstr(warned, "conf.d/10.conf:2: the group idle is named nowhere") != NULL,
	    "%s", warned);
	ck_assert_uint_eq(n_warned, 1);
	conf_put(conf);
}
END_TEST

/* All that tables depend on is in the mark, and nothing else. */
START_TEST(marks)
{
	static const char *const texts[] = { "", PODS, "region \"pod\" { switches = { \"ft-*\" } }",
		"region \"pods\" { switches = { \"ft-*\", \"t-*\" } }",
		"region \"pods\" { switches = { \"ft-*\", \"!t-*\" } }",
		"region \"pods\" { switches = { \"ft-*\", \"file:taken\" } }",
		"region \"pods\" { switches = { \"ft-*\", \"!file:taken\" } }",
		PODS "region \"t\" { switches = { \"t-*\" } }", PODS "replies = ignore",
		PODS "reserved_sls = { 1 }", PODS "region_order = { \"pods\" }",
		PODS "region_order = { \"default\" }",
		"region \"pods\" { switches = { \"ft-*\" } chain = { \"good\" } }",
		"region \"pods\" { switches = { \"ft-*\" } chain = { \"good\" } } good { max_hops "
		"= 3 }",
		"group \"g\" { members = { \"ft-*\" } } region \"pods\" { switches = { \"@g\" } }",
		"group \"g\" { members = { \"t-*\" } } region \"pods\" { switches = { \"@g\" } }",
		"group \"g\" { members = { \"@h\" } } group \"h\" { members = { \"t-*\" } }"
		"region \"pods\" { switches = { \"@g\" } }",
		"group \"g\" { members = { \"@h\" } } group \"h\" { members = { \"ft-*\" } }"
		"region \"pods\" { switches = { \"@g\" } }",
		"chain = { good } good { roots = { \"@g\" } } group \"g\" { members = { \"t-*\" } "
		"}",
		"chain = { good } good { roots = { \"@g\" } } group \"g\" { members = { \"ft-*\" } "
		"}" };
	enum { N = sizeof(texts) / sizeof(*texts) };
	uint64_t mark[N];

	write_lists();
	for (int i = 0; i < N; i++) {
		struct conf *conf = load(texts[i]);

		mark[i] = conf->routing.chain.mark;
		conf_put(conf);
		conf = load(texts[i]);
		ck_assert_uint_eq(conf->routing.chain.mark, mark[i]);
		conf_put(conf);
		for (int k = 0; k < i; k++)
			ck_assert_msg(mark[k] != mark[i], "%s\n%s", texts[k], texts[i]);
	}
}
END_TEST

/* --------------------------------------------------------- engines' options */

START_TEST(groups_in_options_of_engines)
{
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
	struct conf *conf = load("group \"s\" { members = { \"ft-spine-*\", \"ft-host-1-1\" } }\n"
				 "chain = { good }\ngood { roots = { \"@s\", \"!ft-spine-2\" } "
				 "order = { \"ft-leaf-2\", \"@s\", \"<ft-leaf-2>/2-5\" } }");
	const struct fm_fabric *fab = &snap->fab;
	const struct opts *o;
	struct fm_arena mem;
	struct fm_error err = { 0 };
	void *opts;

	fm_arena_init(&mem, SIZE_MAX);
	ck_assert_msg(options_bind(conf->routing.chain.entries[0].engine,
			  conf->routing.chain.entries[0].values, snap, &mem, &opts, &err) == 0,
	    "%s", err.msg);
	o = opts;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		ck_assert_int_eq(
		    fm_bit(o->roots.sw, s), strcmp(fab->sw_name[s], "ft-spine-1") == 0);
	for (fm_end e = 0; e < fab->n_ends; e++)
		ck_assert_int_eq(fab->end_kind[e] == FM_END_CA && fm_bit(o->roots.end, e),
		    strcmp(fab->end_name[e], "ft-host-1-1") == 0);
	ck_assert_uint_eq(o->order.n_sets, 3);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		ck_assert_int_eq(
		    fm_bit(o->order.set[1].sw, s), strncmp(fab->sw_name[s], "ft-spine-", 9) == 0);
	/* one host of two, two spines, one switch of the torus */
	for (fm_end e = 0; e < fab->n_ends; e++)
		ck_assert_int_eq(
		    fm_bit(o->order.set[2].end, e), strcmp(fab->end_name[e], "ft-host-2-2") == 0);
	for (fm_sw s = 0; s < fab->n_switches; s++)
		ck_assert_int_eq(fm_bit(o->order.set[2].sw, s),
		    strncmp(fab->sw_name[s], "ft-spine-", 9) == 0 ||
			strcmp(fab->sw_name[s], "t-sw-0-1") == 0);
	fm_arena_fini(&mem);
	conf_put(conf);
}
END_TEST

/* Names in options that are nowhere are warned of, each once, in a file that is new; those of
 * another region are none. */
START_TEST(options_that_name_nothing)
{
	struct conf *conf =
	    load("group \"none\" { members = { \"0x77\" } }\n"
		 "good { roots = { \"nope-*\", \"ft-spine-1\", \"@none\" } }\n"
		 "good \"b\" {\n order = { \"t-sw-0-0\",\n \"ft-leaf-9\" } }\n"
		 "region \"a\" { switches = { \"ft-*\" } chain = { good, \"good:b\" } }\n"
		 "region \"b\" { switches = { \"t-*\" } chain = { good } }\n");
	struct fm_error err = { 0 };

	ck_assert_int_eq(regions_resolve(&conf->regions.set, snap, false, sw_region, &err), 0);
	ck_assert_uint_eq(n_warned, 1); /* of the group */
	ck_assert_int_eq(regions_check(&conf->regions.set, snap, &err), 0);
	ck_assert_uint_eq(n_warned, 3);
	ck_assert_ptr_nonnull(
	    strstr(warned, "fmd.conf:2: good: roots: 'nope-*' names nothing in this fabric\n"));
	ck_assert_ptr_nonnull(strstr(
	    warned, "fmd.conf:5: good b: order: 'ft-leaf-9' names nothing in this fabric\n"));
	conf_put(conf);
	/* and without any regions */
	conf = load("group \"few\" { members = { \"ft-spine-1\",\n \"ft-spine-9\" } }\n"
		    "chain = { good }\ngood { roots = { \"@few\", \"ft-spine-8\" } }\n");
	ck_assert_int_eq(regions_check(&conf->regions.set, snap, &err), 0);
	ck_assert_uint_eq(n_warned, 5);
	ck_assert_ptr_nonnull(
	    strstr(warned, "fmd.conf:2: group few: 'ft-spine-9' names nothing in this fabric\n"));
	ck_assert_ptr_nonnull(
	    strstr(warned, "fmd.conf:4: good: roots: 'ft-spine-8' names nothing in this fabric\n"));
	ck_assert_int_eq(
	    regions_resolve(&conf->regions.set, snap, true, sw_region, &err), FM_E_CONFIG);
	conf_put(conf);
	n_warned = 0;
	conf = load("good { roots = { \"n1\", \"n2\", \"n3\", \"n4\", \"n5\", \"n6\", \"n7\", "
		    "\"n8\", \"n9\", \"n10\" } }\n" PODS "chain = { good }\n");
	ck_assert_int_eq(regions_resolve(&conf->regions.set, snap, true, sw_region, &err), 0);
	ck_assert_uint_eq(n_warned, 9);
	ck_assert_ptr_nonnull(
	    strstr(warned, "good: roots: 2 more items name nothing in this fabric\n"));
	conf_put(conf);
}
END_TEST

/* Values that nobody bound to groups say so. */
START_TEST(a_group_without_groups)
{
	const struct fm_engine *engine = engine_find(&engines, "good");
	struct option_table table = option_table_of(engine);
	struct option_origin at = { "fmd.conf", 3, NULL };
	const char *items[] = { "@pods" };
	struct option_values *values;
	struct fm_error err = { 0 };
	struct fm_arena mem;
	void *opts;

	fm_arena_init(&mem, SIZE_MAX);
	values = option_values_new(&mem, &table, "good");
	ck_assert_int_eq(option_values_set(values, "roots", items, 1, &at, &err), 0);
	ck_assert_int_eq(options_bind(engine, values, snap, &mem, &opts, &err), FM_E_CONFIG);
	ck_assert_str_eq(err.msg, "fmd.conf:3: good: '@pods': no groups are known here");
	fm_arena_fini(&mem);
}
END_TEST

/* ------------------------------------------------------------- the report */

static const struct {
	const char *names[8], *patterns;
} ranges[] = {
	{ { NULL }, "" },
	{ { "a", NULL }, "a" },
	{ { "a", "a", NULL }, "a" },
	{ { "leaf-3", "leaf-1", "leaf-2", NULL }, "leaf-[1-3]" },
	{ { "leaf-01", "leaf-2", "leaf-9", "leaf-10", NULL }, "leaf-[1-2,9-10]" },
	{ { "leaf-09", "leaf-9", NULL }, "leaf-[9]" },
	{ { "t1s1", "t1s2", "t2s1", "t2s2", "t3s1", NULL }, "t3s1 t[1-2]s[1-2]" },
	{ { "a-1-1", "a-2-2", "a-2-3", NULL }, "a-1-1 a-2-[2-3]" },
	{ { "1x", "2x", "3", "x4", NULL }, "3 [1-2]x x4" },
	{ { "n12345678901234567890", "n12345678901234567891", NULL },
	    "n12345678901234567890 n12345678901234567891" },
};

START_TEST(names_in_ranges)
{
	struct fm_arena mem;
	const char **patterns;
	char text[256] = "";
	size_t n = 0, k;

	fm_arena_init(&mem, SIZE_MAX);
	while (ranges[_i].names[n] != NULL)
		n++;
	patterns = name_ranges(ranges[_i].names, n, &mem, &k);
	for (size_t i = 0; i < k; i++)
		append(text, sizeof(text), i > 0 ? " " : "", patterns[i]);
	ck_assert_str_eq(text, ranges[_i].patterns);
	for (size_t i = 0; i < n; i++) { /* each is matched by one of them */
		bool any = false;

		for (size_t p = 0; p < k; p++)
			any |= node_name_match(patterns[p], ranges[_i].names[i]);
		ck_assert_msg(any, "%s", ranges[_i].names[i]);
	}
	fm_arena_fini(&mem);
}
END_TEST

START_TEST(report)
{
	struct conf *conf =
	    load(PODS "region \"odd\" { switches = { \"t-sw-0-*\", \"t-sw-2-2\", \"!t-sw-0-1\" } "
		      "chain = { good } }");
	struct fm_error err = { 0 };
	json_t *list, *o, *b;
	char *text;

	ck_assert_int_eq(regions_resolve(&conf->regions.set, snap, true, sw_region, &err), 0);
	ck_assert_int_eq(
	    regions_json(&conf->regions.set, snap, sw_region, NULL, true, &list, &err), 0);
	ck_assert_uint_eq(json_array_size(list), 3);
	o = json_array_get(list, 2);
	b = json_object_get(o, "borders");
	text = json_dumps(b, JSON_COMPACT);
	/* sw-0-0 and sw-0-2 are neighbours, as are sw-0-2 and sw-2-2 */
	ck_assert_str_eq(text,
	    "[{\"to\":\"default\",\"cables\":8,\"routes\":0,\"switches\":[\"t-sw-0-[0,2]\",\"t-sw-"
	    "2-"
	    "2\"]}"
	    ",{\"to\":\"pods\",\"cables\":1,\"routes\":0,\"switches\":[\"t-sw-0-0\"]}]");
	free(text);
	ck_assert_uint_eq(json_array_size(json_object_get(o, "gateways")), 9);
	json_object_del(o, "gateways");
	json_object_del(o, "borders");
	text = json_dumps(o, JSON_COMPACT);
	ck_assert_str_eq(text,
	    "{\"region\":\"odd\",\"n_switches\":3,\"switches\":[\"t-sw-0-[0,2]\",\"t-sw-2-2\"],"
	    "\"hosts\":3,\"components\":1,\"chain\":[\"good\"]}");
	free(text);
	/* who wrote no chain has the default's, and that is told */
	ck_assert_str_eq(
	    json_string_value(json_object_get(json_array_get(list, 1), "chain_of")), "default");
	ck_assert_ptr_null(json_object_get(json_array_get(list, 0), "chain_of"));
	ck_assert_int_eq(
	    json_integer_value(json_object_get(json_array_get(list, 0), "components")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(list, 1), "hosts")), 8);
	json_decref(list);
	conf_put(conf);
}
END_TEST

/* ---------------------------------------------------------------- garbage */

/* Words of the grammar in any order: a region, or a sentence with a place. */
START_TEST(garbage)
{
	static const char *const words[] = { "region", "group", "\"a\"", "\"b\"", "{", "}", "{",
		"}", "=", "switches", "members", "chain", "\"@a\"", "\"@b\"", "\"!@a\"", "\"ft-*\"",
		"\"!ft-*\"", "\"file:list\"", "\"!file:list\"", "\"0x1/1-3\"", "\"good\"", ",",
		"\"\"", "\"level:top\"", "region_order", "\"default\"", "reserved_sls", "\"3-5\"",
		"\n" };
	struct fm_rng rng;
	unsigned n_good = 0;

	write_lists();
	fm_rng_seed(&rng, (uint64_t)_i + 1);
	for (unsigned k = 0; k < 300; k++) {
		char text[1024] = "region \"a\" { switches = { \"ft-*\" ";
		struct conf *conf = NULL;
		struct fm_error err = { 0 };
		int rc;

		for (uint32_t n = fm_rng_below(&rng, 20); n > 0; n--) {
			append(text, sizeof(text),
			    words[fm_rng_below(&rng, sizeof(words) / sizeof(*words))], " ");
		}
		append(text, sizeof(text), " } }", "");
		rc = load_file(text, &conf, &err);
		if (rc == 0)
			rc = regions_check(&conf->regions.set, snap, &err);
		ck_assert_msg(rc == 0 || (rc == FM_E_CONFIG && strstr(err.msg, "fmd.conf") != NULL),
		    "%s\n%s", text, err.msg);
		n_good += rc == 0;
		conf_put(conf);
	}
	ck_assert_uint_gt(n_good, 10);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("regions");
	TCase *tc = tcase_create("regions");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, members, 0, sizeof(good) / sizeof(*good));
	tcase_add_loop_test(tc, sentences, 0, sizeof(bad) / sizeof(*bad));
	tcase_add_test(tc, nesting);
	tcase_add_test(tc, absent_members_are_told_once);
	tcase_add_test(tc, overlap_at_run_time);
	tcase_add_test(tc, chains);
	tcase_add_test(tc, files_after_the_first);
	tcase_add_test(tc, marks);
	tcase_add_test(tc, groups_in_options_of_engines);
	tcase_add_test(tc, options_that_name_nothing);
	tcase_add_test(tc, a_group_without_groups);
	tcase_add_loop_test(tc, names_in_ranges, 0, sizeof(ranges) / sizeof(*ranges));
	tcase_add_test(tc, report);
	tcase_add_loop_test(tc, garbage, 0, 4);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
