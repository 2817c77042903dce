/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of paths against a walker that follows every pair by itself, on tables
 * of an engine, whole and spoilt; updates against rows made anew.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/fallback.h"
#include "core/view/rows.h"
#include "lib/bitset.h"
#include "lib/rng.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

static const struct path_attr attrs[] = { { 5, 100000 }, { 4, 40000 }, { 5, 8000 }, { 2, 200000 } };
#define N_ATTRS 4

static const struct fabric fabrics[] = {
	{ .words = "pgft 2 4,4 1,2 1,2" },
	{ .words = "pgft 3 4,4,4 1,2,2 1,1,1", .lmc = 2 },
	{ .words = "torus 4x4 2", .links_pct = 10 },
	{ .words = "random 24 5 3 7", .links_pct = 30 }, /* in several components */
	{ .words = "dragonfly 4 2 2", .n_switches = 3 },
};

struct rig {
	struct routed r;
	struct rows_request q;
	uint8_t *link_attr, *end_attr;
};

static void
set_up(struct rig *g, const struct fabric *f, struct fm_rng *rng)
{
	const struct fm_fabric *fab;

	route(&g->r, &fallback_engine, make(f, false));
	fab = &g->r.snap->fab;
	g->link_attr = malloc(fab->n_links + 1);
	g->end_attr = malloc(fab->n_ends + 1);
	for (fm_link l = 0; l < fab->n_links; l++)
		g->link_attr[l] = (uint8_t)fm_rng_below(rng, N_ATTRS);
	for (fm_end e = 0; e < fab->n_ends; e++)
		g->end_attr[e] = (uint8_t)fm_rng_below(rng, N_ATTRS);
	g->q = (struct rows_request){ .fab = fab,
		.tables = &g->r.tables->t,
		.attrs = attrs,
		.n_attrs = N_ATTRS,
		.link_attr = g->link_attr,
		.end_attr = g->end_attr };
}

static void
tear_down(struct rig *g)
{
	free(g->link_attr);
	free(g->end_attr);
	routed_fini(&g->r);
}

/* Any entry becomes any port: loops, dead ends, other people's ports. */
static void
spoil(struct rig *g, struct fm_rng *rng, uint32_t one_in)
{
	const struct fm_fabric *fab = g->q.fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
			if (fm_rng_below(rng, one_in) == 0)
				g->q.tables->lft[sw][lid] =
				    (uint8_t)fm_rng_below(rng, fab->sw_n_ports[sw] + 2u);
}

/* What the path carries, all 0 when there is none. */
static struct path_attr
walk_path(const struct rig *g, fm_sw sw, uint32_t lid)
{
	const struct fm_fabric *fab = g->q.fab;
	fm_end owner = fab->lid_end[lid];
	struct path_attr least = { 255, UINT32_MAX }, none = { 0, 0 };

	for (uint32_t hops = 0; owner != FM_NONE && hops <= fab->n_switches; hops++) {
		uint8_t port = g->q.tables->lft[sw][lid];
		fm_link l = fm_link_at(fab, sw, port);
		bool last = l == FM_NONE;
		const struct path_attr *a = &attrs[last ? g->end_attr[owner] : g->link_attr[l]];

		if (last && (fab->end_sw[owner] != sw || fab->end_port[owner] != port))
			return none;
		least.mtu = a->mtu < least.mtu ? a->mtu : least.mtu;
		least.mbps = a->mbps < least.mbps ? a->mbps : least.mbps;
		if (last)
			return least;
		sw = fab->link_to[l];
	}
	return none;
}

/* Returns how many paths there are. */
static uint32_t
compare(const struct rig *g, const struct rows *rows)
{
	const struct fm_fabric *fab = g->q.fab;
	uint32_t n_paths = 0;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 0; lid <= fab->max_lid && rows->leaf[sw] != FM_NONE; lid++) {
			struct path_attr a = walk_path(g, sw, lid);
			struct path_attr b = rows->attr[rows_class(rows, sw, (uint16_t)lid)];

			ck_assert_msg(a.mtu == b.mtu && a.mbps == b.mbps,
			    "switch %u to LID %u: MTU %u, rate %u, should be %u, %u", sw, lid,
			    b.mtu, b.mbps, a.mtu, a.mbps);
			n_paths += a.mtu != 0;
		}
	return n_paths;
}

START_TEST(rows_agree_with_a_walker)
{
	struct fm_error err = { 0 };
	struct rows *rows;
	struct fm_rng rng;
	struct rig g;

	fm_rng_seed(&rng, (uint64_t)_i);
	set_up(&g, &fabrics[_i], &rng);
	ck_assert_int_eq(rows_build(&g.q, g.r.router.workers, &rows, &err), 0);
	ck_assert_uint_gt(compare(&g, rows), 80);
	ck_assert_uint_eq(rows->n_loops, 0);
	rows_put(rows);
	for (uint32_t one_in = 200; one_in >= 2; one_in /= 10) {
		spoil(&g, &rng, one_in);
		ck_assert_int_eq(rows_build(&g.q, NULL, &rows, &err), 0);
		compare(&g, rows);
		rows_put(rows);
	}
	tear_down(&g);
}
END_TEST

START_TEST(loops_are_counted)
{
	struct fm_error err = { 0 };
	const struct fm_fabric *fab;
	struct rows *rows;
	struct fm_rng rng;
	struct rig g;
	fm_sw a = 0, b;
	uint16_t lid;

	fm_rng_seed(&rng, 1);
	set_up(&g, &fabrics[2], &rng);
	fab = g.q.fab;
	b = fab->link_to[fab->sw_first_link[a]];
	lid = fab->end_lid[fab->sw_first_end[fab->n_switches - 1]];
	g.q.tables->lft[a][lid] = fab->link_port[fab->sw_first_link[a]];
	g.q.tables->lft[b][lid] = fab->link_port[fab->link_rev[fab->sw_first_link[a]]];
	ck_assert_int_eq(rows_build(&g.q, NULL, &rows, &err), 0);
	ck_assert_uint_eq(rows->n_loops, 1);
	ck_assert_uint_eq(rows_class(rows, a, lid), ROWS_NO_PATH);
	rows_put(rows);
	tear_down(&g);
}
END_TEST

/* Only dirty blocks are looked at, and the rest is what it was. */
START_TEST(updates_agree_with_rows_made_anew)
{
	struct fm_error err = { 0 };
	struct rows *before, *after;
	uint64_t dirty[8] = { 0 };
	struct fm_rng rng;
	struct rig g;

	fm_rng_seed(&rng, 7 + (uint64_t)_i);
	set_up(&g, &fabrics[_i], &rng);
	ck_assert_uint_lt(g.q.fab->max_lid / ROWS_BLOCK_LIDS, 8 * 64);
	ck_assert_int_eq(rows_build(&g.q, NULL, &before, &err), 0);
	for (int change = 0; change < 20; change++) {
		uint32_t lid = 1 + fm_rng_below(&rng, g.q.fab->max_lid);
		fm_sw sw = fm_rng_below(&rng, g.q.fab->n_switches);

		g.q.tables->lft[sw][lid] = (uint8_t)fm_rng_below(&rng, 6);
		fm_bit_set(dirty, lid / ROWS_BLOCK_LIDS);
	}
	g.q.prev = before;
	g.q.dirty = dirty;
	ck_assert_int_eq(rows_build(&g.q, g.r.router.workers, &after, &err), 0);
	rows_put(before); /* what is shared stays */
	compare(&g, after);
	rows_put(after);
	tear_down(&g);
}
END_TEST

/* More kinds of links than a byte can tell apart are refused with their number. */
START_TEST(too_many_answers_are_refused)
{
	struct path_attr many[ROWS_MOST_ATTRS];
	struct fm_error err = { 0 };
	struct rows *rows = NULL;
	struct fm_rng rng;
	struct rig g;

	fm_rng_seed(&rng, 3);
	set_up(&g, &fabrics[0], &rng);
	for (uint32_t i = 0; i < ROWS_MOST_ATTRS; i++)
		many[i] = (struct path_attr){ (uint8_t)(1 + i % 5), 1000 * i };
	g.q.attrs = many;
	g.q.n_attrs = ROWS_MOST_ATTRS;
	ck_assert_int_eq(rows_build(&g.q, NULL, &rows, &err), FM_E_RESOURCE);
	ck_assert_str_eq(err.msg, "paths of 5 MTUs times 64 rates, 254 are possible");
	tear_down(&g);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("rows");
	TCase *t = tcase_create("rows");
	int n = sizeof(fabrics) / sizeof(fabrics[0]);

	tcase_add_loop_test(t, rows_agree_with_a_walker, 0, n);
	tcase_add_test(t, loops_are_counted);
	tcase_add_loop_test(t, updates_agree_with_rows_made_anew, 0, n);
	tcase_add_test(t, too_many_answers_are_refused);
	suite_add_tcase(s, t);
	return run_suite(s);
}
