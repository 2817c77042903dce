/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of switches: chassis, parts below the top and parts of the top, names up to their last
 * number; who has gone is in none.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/switch_groups.h"
#include "lib/error.h"
#include "tests/run.h"

#define MOST 16

struct fabric {
	struct snapshot_builder b;
	char name[MOST][16];
	uint8_t next_port[MOST];
	struct snapshot *snap;
	uint32_t level[MOST];
	struct fm_arena mem;
	struct switch_groups g;
};

static uint32_t
add_switch(struct fabric *f, const char *name, uint64_t chassis)
{
	uint32_t sw = (uint32_t)f->b.switches.n;

	snprintf(f->name[sw], sizeof(f->name[sw]), "%s", name);
	ck_assert(fm_vec_push(&f->b.switches,
	    ((struct snapshot_switch){
		.guid = 100 + sw, .system_guid = chassis, .name = f->name[sw], .n_ports = 36 })));
	return sw;
}

static void
cable(struct fabric *f, uint32_t a, uint32_t b)
{
	struct snapshot_cable c = { .sw = { a, b },
		.port = { ++f->next_port[a], ++f->next_port[b] },
		.n_vls = 1,
		.mbps = 100000,
		.nominal_mbps = 100000 };

	ck_assert(fm_vec_push(&f->b.cables, c));
}

static void
add_host(struct fabric *f, uint32_t sw)
{
	struct snapshot_end e = { .guid = 1000 + f->b.ends.n,
		.name = "host",
		.sw = sw,
		.port = ++f->next_port[sw],
		.lid = (uint16_t)(f->b.ends.n + 1),
		.kind = FM_END_CA,
		.n_vls = 1 };

	ck_assert(fm_vec_push(&f->b.ends, e));
}

static void
group(struct fabric *f)
{
	struct fm_error err = { 0 };
	fm_sw queue[MOST];

	ck_assert_msg(snapshot_build(&f->b, &f->snap, &err) == 0, "%s", err.msg);
	snapshot_find_levels(&f->snap->fab, f->level, queue);
	fm_arena_init(&f->mem, SIZE_MAX);
	ck_assert_int_eq(switch_groups_find(&f->snap->fab, f->level, &f->mem, &f->g, &err), 0);
}

static void
end(struct fabric *f)
{
	fm_arena_fini(&f->mem);
	snapshot_put(f->snap);
	snapshot_builder_fini(&f->b);
}

/* Two pods of two leaves and two switches above, and two spines that join one switch of each. */
static void
add_pods(struct fabric *f, uint64_t chassis)
{
	static const char *const names[] = { "leaf-1", "leaf-2", "leaf-3", "leaf-4", "agg-1",
		"agg-2", "agg-3", "agg-4", "spine-1", "spine-2" };

	for (uint32_t i = 0; i < 10; i++)
		add_switch(f, names[i], chassis != 0 ? chassis + i / 5 : 100 + i);
	for (uint32_t leaf = 0; leaf < 4; leaf++) {
		add_host(f, leaf);
		cable(f, leaf, 4 + leaf / 2 * 2);
		cable(f, leaf, 5 + leaf / 2 * 2);
	}
	for (uint32_t agg = 4; agg < 8; agg++)
		cable(f, agg, 8 + agg % 2);
}

START_TEST(pods_and_planes)
{
	static const uint32_t want[] = { 0, 0, 1, 1, 0, 0, 1, 1, 2, 3 };
	struct fabric f = { 0 };

	add_pods(&f, 0);
	add_switch(&f, "gone", 42);
	group(&f);
	ck_assert_int_eq(f.g.by, GROUPED_BY_LEVELS);
	ck_assert_uint_eq(f.g.n, 4);
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(f.g.group[i], want[i]);
	ck_assert_uint_eq(f.g.group[10], FM_NONE);
	ck_assert_uint_eq(f.g.first[1], 2);
	ck_assert_uint_eq(f.g.first[3], 9);
	end(&f);
}
END_TEST

/* Two boxes of five go before levels. */
START_TEST(boxes)
{
	struct fabric f = { 0 };

	add_pods(&f, 7);
	group(&f);
	ck_assert_int_eq(f.g.by, GROUPED_BY_CHASSIS);
	ck_assert_uint_eq(f.g.n, 2);
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(f.g.group[i], i / 5);
	end(&f);
}
END_TEST

/* A ring where each switch has hosts: no level is above another. */
START_TEST(names_up_to_their_last_number)
{
	static const char *const names[] = { "r1s1", "r1s2", "r2s1", "r2s10", "7", "edge" };
	static const uint32_t want[] = { 0, 0, 1, 1, 2, 3 };
	struct fabric f = { 0 };

	for (uint32_t i = 0; i < 6; i++)
		add_host(&f, add_switch(&f, names[i], 0));
	for (uint32_t i = 0; i < 6; i++)
		cable(&f, i, (i + 1) % 6);
	group(&f);
	ck_assert_int_eq(f.g.by, GROUPED_BY_NAMES);
	ck_assert_uint_eq(f.g.n, 4);
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_uint_eq(f.g.group[i], want[i]);
	end(&f);
}
END_TEST

START_TEST(stems)
{
	ck_assert_uint_eq(switch_group_stem("rack3-sw17"), 8);
	ck_assert_uint_eq(switch_group_stem("rack3-sw17 B"), 8);
	ck_assert_uint_eq(switch_group_stem("12"), 2);
	ck_assert_uint_eq(switch_group_stem("spine"), 5);
	ck_assert_uint_eq(switch_group_stem(""), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("switch groups");
	TCase *t = tcase_create("switch groups");

	tcase_add_test(t, pods_and_planes);
	tcase_add_test(t, boxes);
	tcase_add_test(t, names_up_to_their_last_number);
	tcase_add_test(t, stems);
	suite_add_tcase(s, t);
	return run_suite(s);
}
