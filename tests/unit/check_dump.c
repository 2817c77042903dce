/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables to files and back: what the dump writes, the engine `file` reads to
 * the same bytes, also when every LID has changed since; OpenSM's formats;
 * files that do not fit and files that are wrong.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#undef fail /* check.h has an old macro of this name */

#include "core/daemon/dump.h"
#include "core/graph/link_speed.h"
#include "core/mcast/mft_rows.h"
#include "core/plan/plan.h"
#include "core/route/route.h"
#include "lib/log.h"
#include "plugins/common/updown/updown.h"
#include "plugins/engines/file/file.c"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

static char logged[8192], dir[] = "check_dump.XXXXXX";
static struct router router;
static struct snapshot *snap;
static struct tables *tables;
static struct mft_rows *mfts;

static void
keep_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	size_t at = strlen(logged);

	snprintf(logged + at, sizeof(logged) - at, "%s\n", line);
}

static int
route_updn(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct fm_shape shape;
	struct fm_missing left;
	int rc = fm_shape_build(host, fab, &shape, err);

	return rc != 0
	    ? rc
	    : fm_route_updown(host, fab, &shape, &(struct fm_updown){ 0 }, out, &left, err);
}
FM_ENGINE(up, .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR, .route = route_updn);

static struct snapshot *
make(const char *words, uint8_t switch_lmc, uint8_t ca_lmc)
{
	struct netlist_view view = { .n_vls = 8, .ca_lmc = ca_lmc, .switch_lmc = switch_lmc };
	struct netlist nl = { 0 };
	struct snapshot *made;
	struct fm_error err;

	ck_assert_int_eq(generate_words(words, &nl, &err), 0);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &made, &err), 0);
	netlist_fini(&nl);
	return made;
}

/* Groups of two switches. */
static const struct mft_block blocks[] = {
	{ .sw = 1, .ports = { 1 << 3 | 1 << 0, 0, 1 << 15 } },
	{ .sw = 1, .position = 1, .ports = { 0, 0, 1 << 2 } },
	{ .sw = 4, .block = 2, .ports = { [31] = 1 << 1 } },
};

static void
setup(void)
{
	struct fm_error err;

	logged[0] = '\0';
	fm_log_set_sink(keep_log, NULL);
	ck_assert_int_eq(router_init(&router, 1, &err), 0);
	router.set.ar_max_groups = 20;
	snap = make("torus 3x3x2 2", 0, 1);
	ck_assert_msg(
	    route_once(&router, &up_LTX_fm_engine, NULL, &snap->fab, NULL, 0, &tables, &err) == 0,
	    "%s", err.msg);
	mfts = mft_rows_update(NULL, blocks, sizeof(blocks) / sizeof(blocks[0]));
	ck_assert_ptr_nonnull(mfts);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_msg(dump_tables(dir, snap, &tables->t, mfts, &err) == 0, "%s", err.msg);
}

static void
teardown(void)
{
	static const char *const names[] = { "lfts", "opensm-subnet.lst", "opensm.fdbs",
		"opensm.mcfdbs", "sl2vl", "path-sl", "ar-groups" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		ck_assert_int_eq(unlink(path), 0);
	}
	rmdir(dir);
	tables_put(tables);
	mft_rows_put(mfts);
	snapshot_put(snap);
	router_fini(&router);
}

/* A file of the dump (the caller frees .bytes). */
static struct fm_file
slurp(const char *name)
{
	char path[128], *text = NULL;
	size_t n = 0;
	FILE *in, *mem = open_memstream(&text, &n);
	int c;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	while ((c = getc(in)) != EOF)
		putc(c, mem);
	fclose(in);
	fclose(mem);
	return (struct fm_file){ "dumped", text, n };
}

static int
load(const struct snapshot *into, const struct file_options *o, struct tables **out,
    struct fm_error *err)
{
	return route_once(&router, &file_LTX_fm_engine, o, &into->fab, NULL, 0, out, err);
}

START_TEST(test_dump_and_load)
{
	static const char *const names[] = { "lfts", "opensm.fdbs" };
	struct file_options o = { .lfts = slurp(names[_i]) };
	struct tables *again;
	struct fm_error err;

	ck_assert_msg(load(snap, &o, &again, &err) == 0, "%s", err.msg);
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
		ck_assert_mem_eq(again->t.lft[sw], tables->t.lft[sw], snap->fab.max_lid + 1u);
	ck_assert_ptr_nonnull(strstr(logged, "left_out=0"));
	tables_put(again);
	free((char *)(uintptr_t)o.lfts.bytes);
}
END_TEST

/* The same fabric under other LIDs: entries follow their ports. */
START_TEST(test_remap)
{
	struct snapshot *other = make("torus 3x3x2 2", 1, 1);
	struct file_options o = { .lfts = slurp("lfts") };
	struct tables *again;
	struct fm_error err;
	uint32_t n_moved = 0;

	ck_assert_msg(load(other, &o, &again, &err) == 0, "%s", err.msg);
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
		for (fm_end e = 0; e < snap->fab.n_ends; e++)
			for (uint32_t k = 0; k < 1u << snap->fab.end_lmc[e]; k++) {
				ck_assert_uint_eq(again->t.lft[sw][other->fab.end_lid[e] + k],
				    tables->t.lft[sw][snap->fab.end_lid[e] + k]);
				n_moved += other->fab.end_lid[e] != snap->fab.end_lid[e];
			}
	ck_assert_uint_gt(n_moved, 0);
	tables_put(again);
	snapshot_put(other);
	free((char *)(uintptr_t)o.lfts.bytes);
}
END_TEST

START_TEST(test_other_fabric)
{
	struct snapshot *other = make("torus 3x3 2", 0, 0);
	struct file_options o = { .lfts = slurp("lfts") };
	struct tables *again;
	struct fm_error err;

	ck_assert_msg(load(other, &o, &again, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(strstr(logged, "is not in this fabric: left out"));
	ck_assert_ptr_nonnull(strstr(logged, "lines in all do not fit this fabric"));
	tables_put(again);
	snapshot_put(other);
	free((char *)(uintptr_t)o.lfts.bytes);
}
END_TEST

/* Two switches, two cables between them, as OpenSM writes their matrix. */
static const char matrix[] = "Switch: guid 0x0200f40000000100\n"
			     "0x0001: 00 ff ff ff # portguid 0x0200f40000000100\n"
			     "0x0007: 01 ff 01 01 # portguid 0x0200f40000000200\n"
			     "Switch: guid 0x0200f40000000200\n"
			     "0x0001: 01 ff 01 01 # portguid 0x0200f40000000100\n"
			     "0x0007: 00 ff ff ff # portguid 0x0200f40000000200\n";

START_TEST(test_matrix)
{
	struct snapshot *two = make("mesh 2 1 2", 0, 1);
	struct file_options o = { .lid_matrix = { "matrix", matrix, sizeof(matrix) - 1 } };
	struct tables *t;
	struct fm_error err;
	fm_end far = two->fab.sw_first_end[1] + 1;
	const uint8_t *row;

	ck_assert_msg(load(two, &o, &t, &err) == 0, "%s", err.msg);
	row = t->t.lft[0];
	ck_assert_uint_eq(row[two->fab.end_lid[0]], 0);
	ck_assert_uint_eq(row[two->fab.end_lid[1]], 1);
	ck_assert_uint_eq(row[two->fab.end_lid[far]] + row[two->fab.end_lid[far] + 1], 2 + 3);
	tables_put(t);
	snapshot_put(two);
}
END_TEST

#define HEAD "Unicast lids [0-6] of switch Lid 2 guid 0x0200f40000000100 ('sw'):\n"
static const struct {
	const char *text;
	enum fm_error_kind kind;
	const char *expected; /* in the error, or, for kind 0, in the log */
} odd[] = {
	{ "", FM_E_CONFIG, "t:0: no switch in the file" },
	{ "0x0001 001 # x\n", FM_E_CONFIG, "t:1: an entry before any switch" },
	{ "Unicast lids of switch\n", FM_E_CONFIG,
	    "t:1: a switch's heading without \" guid 0x...\"" },
	{ "Unicast lids guid 0xZ\n", FM_E_CONFIG, "is not followed by a GUID" },
	{ HEAD "hello\n", FM_E_CONFIG, "t:2: \"hello\" is no line of a table" },
	{ HEAD "0xC000 001\n", FM_E_CONFIG, "is no line of a table" },
	{ HEAD "0x0001 x\n", FM_E_CONFIG, "t:2: the LID is not followed by a port in 0..254" },
	{ HEAD "0x0001 256\n", FM_E_CONFIG, "a port in 0..254" },
	{ HEAD "0x0001 001 # portguid zzz\n", FM_E_CONFIG,
	    "t:2: portguid is not followed by a GUID" },
	{ HEAD, FM_E_TOPOLOGY, "no entry of the tables fits this fabric" },
	{ HEAD "0x0001 000 :\n0x0002 099 :\n*** WARNING ***: replaced\n", 0,
	    "t:3: port 99 of switch sw-0-0-0, which has 7 ports: left out" },
	{ HEAD "0x0001 000 :\n0x0002 003 : (portguid 0x1: 'x')\n", 0,
	    "t:3: port 0x0000000000000001 is not in this fabric: left out" },
	{ HEAD "0x0001 000 :\n0x7777 003 :\n", 0, "t:3: LID 30583 belongs to no port" },
	{ HEAD "0x0000 255 :\n0x0001 000 :\n", 0, "t:2: LID 0 is nobody's: left out" },
	{ HEAD "0x0001 000 :\nSwitch: guid 0x7\n0x0002 003 :\n", 0,
	    "t:3: switch 0x0000000000000007 is not in" },
};

START_TEST(test_odd_files)
{
	struct file_options o = { .lfts = { "t", odd[_i].text, strlen(odd[_i].text) } };
	struct tables *t = NULL;
	struct fm_error err = { 0 };
	int rc = load(snap, &o, &t, &err);

	ck_assert_msg(rc == (int)odd[_i].kind, "\"%s\": %d %s", odd[_i].text, rc, err.msg);
	ck_assert_msg(strstr(rc != 0 ? err.msg : logged, odd[_i].expected) != NULL,
	    "\"%s\" gave: %s %s", odd[_i].text, err.msg, logged);
	if (rc == 0)
		tables_put(t);
}
END_TEST

/* Read back as fmroute(1) describes it, the groups are those of the tables. */
START_TEST(test_groups)
{
	struct fm_file f = slurp("ar-groups");
	const struct fm_fabric *fab = &snap->fab;
	uint64_t ports[21][4];
	uint32_t sw = FM_NONE, n_entries = 0;
	char *at = (char *)(uintptr_t)f.bytes;

	for (char *line; (line = strsep(&at, "\n")) != NULL && *line != '\0';) {
		unsigned long first, last, g;

		if (strncmp(line, "switch 0x", 9) == 0) {
			sw++;
			ck_assert_uint_eq(strtoull(line + 7, NULL, 16), fab->sw_guid[sw]);
			memset(ports, 0, sizeof(ports));
		} else if (strncmp(line, "group ", 6) == 0) {
			g = strtoul(line + 6, &line, 10);
			while (*line == ' ') {
				unsigned long port = strtoul(line, &line, 10);

				ports[g][port / 64] |= (uint64_t)1 << (port % 64);
			}
		} else if (strncmp(line, "lids ", 5) == 0) {
			first = strtoul(line + 5, &line, 10);
			last = strtoul(line + 1, &line, 10);
			g = strtoul(line, &line, 10);
			for (; first <= last; first++, n_entries++) {
				uint16_t group = tables->t.ar_group[sw][first];

				ck_assert_uint_ne(group, 0);
				ck_assert_mem_eq(
				    tables->t.ar_ports[sw][group], ports[g], sizeof(ports[g]));
			}
		} else {
			ck_assert_int_eq(line[0], '#');
		}
	}
	ck_assert_uint_eq(sw, fab->n_switches - 1);
	ck_assert_uint_gt(n_entries, 100);
	ck_assert_uint_eq(n_entries, tables->adaptive.n_adaptive);
	free((void *)(uintptr_t)f.bytes);
}
END_TEST

/* And the engine reads the same groups. */
START_TEST(test_groups_again)
{
	struct file_options o = { .lfts = slurp("lfts"), .ar_groups = slurp("ar-groups") };
	struct tables *again;
	struct fm_error err;

	ck_assert_msg(load(snap, &o, &again, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(again->adaptive.n_adaptive, tables->adaptive.n_adaptive);
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++)
		for (uint32_t lid = 0; lid <= snap->fab.max_lid; lid++) {
			uint16_t a = tables->t.ar_group[sw][lid], b = again->t.ar_group[sw][lid];

			if (snap->fab.lid_end[lid] == FM_NONE)
				continue;
			ck_assert_uint_eq(a, b);
			ck_assert_mem_eq(tables->t.ar_ports[sw][a], again->t.ar_ports[sw][b],
			    4 * sizeof(uint64_t));
		}
	tables_put(again);
	free((char *)(uintptr_t)o.lfts.bytes);
	free((char *)(uintptr_t)o.ar_groups.bytes);
}
END_TEST

static const char *const odd_groups[][2] = {
	{ "group 1 2\n", "t:1: the first line is not that of a switch" },
	{ "switch nobody\n", "t:1: \"switch\" is followed by its node GUID" },
	{ "# a comment\nswitch 0x1 x\ngroup 0 1\n", "t:3: \"group\" is followed by its number" },
	{ "switch 0x1\ngroup 65535 1\n", "t:2: the number of the group is beyond max_groups" },
	{ "switch 0x1\ngroup 1 255\n", "t:2: a port is a number up to 254" },
	{ "switch 0x1\nlids 4 1\n", "t:2: \"lids\" is followed by a range and a group" },
	{ "switch 0x1\nlids 9-4 1\n", "t:2: \"lids\" is followed by a range and a group" },
	{ "switch 0x1\nports 4\n", "t:2: a line begins with switch, group or lids" },
};

START_TEST(test_odd_groups)
{
	const char *text = odd_groups[_i][0];
	struct file_options o = { .lfts = slurp("lfts"), .ar_groups = { "t", text, strlen(text) } };
	struct tables *again = NULL;
	struct fm_error err = { 0 };

	ck_assert_int_eq(load(snap, &o, &again, &err), FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, odd_groups[_i][1]) != NULL, "\"%s\": %s", text, err.msg);
	free((char *)(uintptr_t)o.lfts.bytes);
}
END_TEST

/* As OpenSM writes it: switches that forward something, a line a group. */
START_TEST(test_groups_of_multicast)
{
	struct fm_file f = slurp("opensm.mcfdbs");
	char want[512];

	snprintf(want, sizeof(want),
	    "\nSwitch 0x%016jx\nLID    : Out Port(s)\n"
	    "0xC000 : 0x000  0x003 \n"
	    "0xC002 : 0x00F  0x012 \n"
	    "\nSwitch 0x%016jx\nLID    : Out Port(s)\n"
	    "0xC05F : 0x001 \n",
	    (uintmax_t)snap->fab.sw_guid[1], (uintmax_t)snap->fab.sw_guid[4]);
	ck_assert_uint_eq(f.n_bytes, strlen(want));
	ck_assert_mem_eq(f.bytes, want, f.n_bytes);
	free((char *)(uintptr_t)f.bytes);
}
END_TEST

/* Links that somebody has put under the names of what is written: what they lead to stays. */
START_TEST(test_links)
{
	static const char *const names[] = { "lfts", "lfts.new", "sl2vl", "path-sl.new" };
	char path[128], target[128];
	struct fm_error err;
	struct stat st;

	snprintf(target, sizeof(target), "%s/target", dir);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
		ck_assert_int_eq(symlink(target, path), 0);
	}
	ck_assert_msg(dump_tables(dir, snap, &tables->t, mfts, &err) == 0, "%s", err.msg);
	ck_assert_int_ne(lstat(target, &st), 0);
	snprintf(path, sizeof(path), "%s/lfts", dir);
	ck_assert(lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0);
	snprintf(path, sizeof(path), "%s/lfts.new", dir);
	ck_assert_int_ne(lstat(path, &st), 0);
}
END_TEST

START_TEST(test_no_directory)
{
	struct fm_error err;

	ck_assert_int_eq(dump_tables("/nowhere/at/all", snap, &tables->t, NULL, &err), FM_E_SYSTEM);
	ck_assert_str_eq(
	    err.msg, "cannot make directory /nowhere/at/all: No such file or directory");
}
END_TEST

/* As OpenSM writes cables: lanes and the signalling rate of one. */
START_TEST(speeds_are_in_opensms_words)
{
	static const struct {
		uint32_t mbps;
		uint8_t lanes;
		const char *signal;
	} rates[] = { { 2000, 1, "2.5" }, { 8000, 4, "2.5" }, { 16000, 4, "5" }, { 32000, 4, "10" },
		{ 40000, 4, "FDR10" }, { 54560, 4, "14" }, { 100000, 4, "25" }, { 200000, 4, "50" },
		{ 400000, 4, "100" }, { 800000, 4, "200" }, { 25000, 1, "25" },
		{ 300000, 12, "25" }, { 0, 0, NULL }, { 12345, 0, NULL } };

	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		uint8_t lanes = link_speed_lanes(rates[i].mbps);

		ck_assert_uint_eq(lanes, rates[i].lanes);
		if (lanes > 0)
			ck_assert_str_eq(link_speed_signal(rates[i].mbps / lanes), rates[i].signal);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dump");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_dump_and_load, 0, 2);
	tcase_add_test(tc, test_groups);
	tcase_add_test(tc, test_groups_again);
	tcase_add_loop_test(tc, test_odd_groups, 0, sizeof(odd_groups) / sizeof(*odd_groups));
	tcase_add_test(tc, test_remap);
	tcase_add_test(tc, test_other_fabric);
	tcase_add_test(tc, test_matrix);
	tcase_add_loop_test(tc, test_odd_files, 0, sizeof(odd) / sizeof(odd[0]));
	tcase_add_test(tc, test_groups_of_multicast);
	tcase_add_test(tc, test_links);
	tcase_add_test(tc, speeds_are_in_opensms_words);
	tcase_add_test(tc, test_no_directory);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
