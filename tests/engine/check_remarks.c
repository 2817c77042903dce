/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What engines tell an administrator: names in options that are not in the fabric, lines of
 * files that do not fit it, are warned of, and parts that are no tree are refused.
 */
#include "lib/log.h"
#include "tests/engine/routed.h"
#include "tests/folder.h"
#include "tests/run.h"

extern const struct fm_engine minhop_LTX_fm_engine, updn_LTX_fm_engine, dnup_LTX_fm_engine,
    fattree_LTX_fm_engine, dgshortestpath_LTX_fm_engine, file_LTX_fm_engine, sssp_LTX_fm_engine,
    dfsssp_LTX_fm_engine;

static const char tree[] = "pgft 2 4,4 1,4 1,1";

struct heard {
	const char *text;
	unsigned n; /* warnings that contain it */
};

static void
hear(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	struct heard *h = arg;

	(void)subsystem;
	h->n += level == FM_LOG_WARN && strstr(line, h->text) != NULL;
}

/* Route, and count the warnings that contain the text. */
static unsigned
warnings_of(const struct fm_engine *engine, struct snapshot *snap, const struct setting *settings,
    size_t n, const char *text, int rc)
{
	struct heard h = { .text = text };
	struct routed r;

	fm_log_set_sink(hear, &h);
	route_with(&r, engine, snap, settings, n);
	fm_log_set_sink(NULL, NULL);
	ck_assert_msg(r.rc == rc, "%s: %s", engine->name, r.err.msg);
	routed_fini(&r);
	return h.n;
}

/* ------------------------------------------------------------- names of nobody */

static const struct {
	const struct fm_engine *engine;
	struct setting set;
	const char *text;
} strange[] = {
	{ &updn_LTX_fm_engine, { "roots", { "spine-1", "0xdead" } },
	    "1 of 2 roots match no switch of this fabric" },
	{ &updn_LTX_fm_engine, { "ids", { "0xdead 3" } },
	    "ids: 1 of 1 rows name no switch of this fabric" },
	{ &dnup_LTX_fm_engine, { "ignore_guids", { "0xdead 3" } },
	    "ignore_guids: 1 of 1 rows name no cabled port of this fabric" },
	{ &minhop_LTX_fm_engine, { "hop_weights", { "0xdead 3 4" } },
	    "hop_weights: 1 of 1 rows name no link between switches of this fabric" },
	{ &minhop_LTX_fm_engine, { "guid_routing_order", { "nobody", "host-1-1" } },
	    "guid_routing_order: 1 of 2 entries match no end of this fabric" },
	{ &minhop_LTX_fm_engine,
	    { "port_search_order", { "0xdead 3 4", "0x200f40000000100 8 7 1" } },
	    "port_search_order: 1 of 2 rows name no switch of this fabric" },
	{ &sssp_LTX_fm_engine, { "compute_nodes", { "spine-1" } },
	    "compute_nodes name no host of this fabric" },
	{ &dfsssp_LTX_fm_engine, { "io_nodes", { "0xdead" } },
	    "io_nodes name no host of this fabric" },
	{ &fattree_LTX_fm_engine, { "route_last", { "nobody" } },
	    "fattree: route_last names no host of this fabric" },
	{ &fattree_LTX_fm_engine, { "io", { "0xdead" } },
	    "fattree: io names no host of this fabric" },
	{ &dgshortestpath_LTX_fm_engine, { "routing_order", { "nobody", "All" } },
	    "group 1 of routing_order has no member in this fabric" },
};
#define N_STRANGE (sizeof(strange) / sizeof(*strange))

START_TEST(names_of_nobody_are_warned_of)
{
	struct fabric f = { .words = tree };

	ck_assert_uint_eq(warnings_of(strange[_i].engine, make(&f, false), &strange[_i].set, 1,
			      strange[_i].text, 0),
	    1);
}
END_TEST

/* Tops that are not named are no leaves; all of them, or none named, is right. */
START_TEST(too_few_roots_are_warned_of)
{
	static const struct {
		const char *words;
		struct setting set;
		const char *text;
		unsigned n;
	} lists[] = {
		{ "pgft 2 4,4 1,4 1,1", { "roots", { "spine-1" } },
		    "roots names 1 top switches, and the tree looks as if it had 4", 1 },
		{ "pgft 2 4,4 1,4 1,1", { "roots", { "spine-[1-3]" } },
		    "roots names 3 top switches, and the tree looks as if it had 4: those that are "
		    "not named, as spine-4, carry nothing",
		    1 },
		{ "pgft 2 4,4 1,4 1,1", { "roots", { "spine-*" } }, "roots", 0 },
	};
	struct fabric f = { .words = lists[_i].words };

	ck_assert_uint_eq(warnings_of(&fattree_LTX_fm_engine, make(&f, false), &lists[_i].set, 1,
			      lists[_i].text, 0),
	    lists[_i].n);
}
END_TEST

/* Two roots far apart, and nothing led another way. */
START_TEST(pairs_left_out_are_warned_of)
{
	struct fabric f = { .words = "torus 4x4 2" };
	struct setting set[] = { { "roots", { "sw-0-0", "sw-2-2" } },
		{ "calculate_missing_routes", { "no" } } };

	ck_assert_uint_eq(warnings_of(&updn_LTX_fm_engine, make(&f, false), set, 2,
			      "updn: no path without a credit loop for", 0),
	    1);
}
END_TEST

/* ------------------------------------------------------------- lines of nobody */

static const char *
write_file(char path[FOLDER_ROOM + 8], const char *folder, const char *name, const char *text)
{
	snprintf(path, FOLDER_ROOM + 8, "%s/%s", folder, name);
	folder_write(folder, name, text);
	return path;
}

/* One entry of the first switch, so that the engine has a table. */
static void
write_lfts(const struct fm_fabric *fab, char *text, size_t room)
{
	snprintf(text, room,
	    "Unicast lids [0-9] of switch Lid 1 guid 0x%llx (a):\n0x%04x 000 : (Switch)\n",
	    (unsigned long long)fab->sw_guid[0], fab->end_lid[fab->sw_first_end[0]]);
}

static const struct {
	const char *key, *lines, *text;
	unsigned n;
} unfit[] = {
	{ "path_sl", "0xdead 1 3\n", "f:1: node 0x000000000000dead is not in this fabric: left out",
	    1 },
	{ "path_sl", "# c\n%h 40000 3\n", "f:2: LID 40000 is nobody's: left out", 1 },
	{ "path_sl", "%h 0 3\r\n", "f:1: LID 0 is nobody's: left out", 1 },
	{ "path_sl", "%h 1 3\n", "left out", 0 },
	{ "sl2vl", "0xdead 1 2 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00\n",
	    "f:1: switch 0x000000000000dead is not in this fabric: left out", 1 },
	{ "sl2vl", "%s 1 77 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00\n",
	    "f:1: port 77 of switch leaf-1, which has 8 ports: left out", 1 },
	{ "sl2vl", "%s 0 2 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00\n", "left out", 0 },
	{ "path_sl",
	    "0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n"
	    "0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n",
	    "left out", 10 },
	{ "path_sl",
	    "0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n"
	    "0x1 1 3\n0x1 1 3\n0x1 1 3\n0x1 1 3\n",
	    "f: 12 lines in all do not fit this fabric", 1 },
};
#define N_UNFIT (sizeof(unfit) / sizeof(*unfit))

/* %s: GUID of the first switch, %h: of the first host. */
static void
fill_in(const struct fm_fabric *fab, const char *lines, char *out, size_t room)
{
	fm_end host = 0;
	size_t n = 0;

	while (!is_ca(fab, host))
		host++;
	for (; *lines != '\0' && n + 20 < room; lines++) {
		if (*lines != '%') {
			out[n++] = *lines;
			continue;
		}
		n += (size_t)snprintf(out + n, room - n, "0x%llx",
		    (unsigned long long)(*++lines == 's' ? fab->sw_guid[0]
							 : fab->end_node_guid[host]));
	}
	out[n] = '\0';
}

START_TEST(lines_of_nobody_are_warned_of)
{
	struct fabric f = { .words = tree };
	struct snapshot *snap = make(&f, false);
	char folder[FOLDER_ROOM], path[2][FOLDER_ROOM + 8], text[512];
	struct setting set[2] = { { .key = "lfts" }, { .key = unfit[_i].key } };

	folder_make(folder);
	write_lfts(&snap->fab, text, sizeof(text));
	set[0].items[0] = write_file(path[0], folder, "lfts", text);
	fill_in(&snap->fab, unfit[_i].lines, text, sizeof(text));
	set[1].items[0] = write_file(path[1], folder, "f", text);
	ck_assert_uint_eq(
	    warnings_of(&file_LTX_fm_engine, snap, set, 2, unfit[_i].text, 0), unfit[_i].n);
	folder_remove(folder);
}
END_TEST

/* ----------------------------------------------------------------- parts of trees */

/* Beside a large tree a torus is a small part of the hosts, and still no tree. */
START_TEST(every_part_has_to_be_a_tree)
{
	struct fabric f = { .words = "join a=pgft:2:8,8:1,8:1,1 b=torus:4x4:1" };
	struct routed r;

	route_with(&r, &fattree_LTX_fm_engine, make(&f, false), NULL, 0);
	ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
	ck_assert_msg(strstr(r.err.msg, "are joined though both are switches with hosts") != NULL &&
		strstr(r.err.msg, "b-sw-") != NULL,
	    "%s", r.err.msg);
	routed_fini(&r);
}
END_TEST

/* Two switches with hosts, cut off from the tree and joined by a cable: a tree by themselves. */
START_TEST(a_part_without_a_cycle_is_a_tree)
{
	struct fabric f = { .words = "join a=pgft:2:4,4:1,4:1,1 b=mesh:2:4" };
	struct routed r;
	struct verdict v;

	route(&r, &fattree_LTX_fm_engine, make(&f, false));
	v = judge(&r, 8);
	ck_assert_uint_eq(v.unreachable_pairs, 0);
	ck_assert_uint_eq(v.credit_loops, 0);
	routed_fini(&r);
}
END_TEST

/* ------------------------------------------------------------- numbers of 65 bits */

static const struct setting too_large[] = {
	{ "scatter_ports", { "99999999999999999999" } },
	{ "scatter_ports", { "-99999999999999999999" } },
	{ "hop_weights", { "0x10 3 99999999999999999999" } },
	{ "ignore_guids", { "0x10 -99999999999999999999" } },
};
#define N_TOO_LARGE (sizeof(too_large) / sizeof(*too_large))

START_TEST(numbers_of_too_many_bits_are_refused)
{
	struct option_table table = option_table_of(&minhop_LTX_fm_engine);
	struct option_origin origin = { 0 };
	struct option_values *values;
	struct fm_arena mem;
	struct fm_error err = { 0 };

	fm_arena_init(&mem, SIZE_MAX);
	values = option_values_new(&mem, &table, "minhop");
	ck_assert_int_eq(
	    option_values_set(values, too_large[_i].key, too_large[_i].items, 1, &origin, &err),
	    FM_E_CONFIG);
	ck_assert_msg(strstr(err.msg, "99999999999999999999") != NULL, "%s", err.msg);
	fm_arena_fini(&mem);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("remarks");
	TCase *tc = tcase_create("remarks");

	tcase_add_loop_test(tc, names_of_nobody_are_warned_of, 0, (int)N_STRANGE);
	tcase_add_loop_test(tc, too_few_roots_are_warned_of, 0, 3);
	tcase_add_test(tc, pairs_left_out_are_warned_of);
	tcase_add_loop_test(tc, lines_of_nobody_are_warned_of, 0, (int)N_UNFIT);
	tcase_add_test(tc, every_part_has_to_be_a_tree);
	tcase_add_test(tc, a_part_without_a_cycle_is_a_tree);
	tcase_add_loop_test(tc, numbers_of_too_many_bits_are_refused, 0, (int)N_TOO_LARGE);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
