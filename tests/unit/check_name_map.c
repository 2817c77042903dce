/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of node names: what it may look like, and each mistake with its line. */
#include <check.h>
#include <string.h>

#include "core/nodes/name_map.h"
#include "lib/error.h"
#include "tests/run.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static int
parse(const char *text, struct name_map **map, struct fm_error *err)
{
	*err = (struct fm_error){ 0 };
	*map = NULL;
	return name_map_parse("names", text, strlen(text), map, err);
}

START_TEST(names_of_opensm_and_diags)
{
	static const char text[] = "# IB node name map\n"
				   "\n"
				   "0x0002c9030000a1b2 \"leaf-1, rack 7\"\n"
				   "  0x2c9030000a1b3\t\"spine #1\"  # the first\r\n"
				   "0x0002c9030000A1B4 bare words # and a comment\n"
				   "0x0002c9030000a1b2 \"leaf-1, rack 7\"\n"
				   "0x1 \"no newline at the end\"";
	struct name_map *map;
	struct fm_error err;

	ck_assert_msg(parse(text, &map, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(name_map_find(map, 0x0002c9030000a1b2), "leaf-1, rack 7");
	ck_assert_str_eq(name_map_find(map, 0x2c9030000a1b3), "spine #1");
	ck_assert_str_eq(name_map_find(map, 0x0002c9030000a1b4), "bare words");
	ck_assert_str_eq(name_map_find(map, 1), "no newline at the end");
	ck_assert_ptr_null(name_map_find(map, 2));
	ck_assert_ptr_null(name_map_find(NULL, 1));
	name_map_free(map);
}
END_TEST

static const struct {
	const char *text, *says;
} mistakes[] = {
	{ "leaf-1 0x1\n",
	    "names:1: \"leaf-1\" is no GUID of a node: 0x0002c9030000a1b2 \"leaf-1\"" },
	{ "\n0x \"a\"\n", "names:2: \"0x\" is no GUID" },
	{ "0 \"a\"\n", "names:1: \"0\" is no GUID" },
	{ "0x0 \"a\"\n", "names:1: \"0x0\" is no GUID" },
	{ "0x12345678901234567 \"a\"\n", "names:1: \"0x12345678901234567\" is no GUID" },
	{ "0x1\n", "names:1: there is no name behind the GUID" },
	{ "0x1 # a\n", "names:1: there is no name behind the GUID" },
	{ "0x1 \"\"\n", "names:1: there is no name behind the GUID" },
	{ "0x1 \"a\n0x2 \"b\"\n", "names:1: the name has no quotation mark at its end" },
	{ "0x1 \"a\" b\n", "names:1: \"b\" stands behind the name" },
	{ "0x1 \"a\"\n0x2 \"b\"\n0x1 \"c\"\n",
	    "names:3: 0x0000000000000001 is \"a\" already, in line "
	    "1" },
	{ "0x1 \"12345678901234567890123456789012345678901234567890123456789012345\"\n",
	    "names:1: \"12345678901234567890123456789012...\" has 65 bytes: a name has 64 at "
	    "most" },
};

START_TEST(mistakes_are_told_by_line)
{
	struct name_map *map;
	struct fm_error err;

	ck_assert_int_eq(parse(mistakes[_i].text, &map, &err), FM_E_CONFIG);
	ck_assert_msg(strncmp(err.msg, mistakes[_i].says, strlen(mistakes[_i].says)) == 0,
	    "\"%s\", not \"%s\"", err.msg, mistakes[_i].says);
	ck_assert_ptr_null(map);
}
END_TEST

/* A terminal is not to obey what a file holds. */
START_TEST(names_are_printable)
{
	struct name_map *map;
	struct fm_error err;

	ck_assert_int_eq(parse("0x1 \"a\033[31mb\"\n", &map, &err), 0);
	ck_assert_ptr_null(strchr(name_map_find(map, 1), '\033'));
	name_map_free(map);
	ck_assert_int_eq(name_map_parse("names", "0x1 \"a\0b\"", 9, &map, &err), FM_E_CONFIG);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("node name map");
	TCase *tc = tcase_create("node name map");

	tcase_add_test(tc, names_of_opensm_and_diags);
	tcase_add_loop_test(tc, mistakes_are_told_by_line, 0, (int)N_OF(mistakes));
	tcase_add_test(tc, names_are_printable);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
