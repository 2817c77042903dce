/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics against a walk of every pair of every shift, on random fabrics with
 * shortest-path tables, whole and with entries missing; and against the
 * values that theory gives for intact trees.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/metrics.h"
#include "core/picture/crossing.h"
#include "core/graph/tables.h"
#include "core/graph/switch_order.h"
#include "lib/rng.h"
#include "tests/run.h"
#include "tests/unit/pgft.h"

#define MAX_HOSTS 64
#define MAX_LINKS 512

static struct table_pool *pool;
static struct fm_pool *two;

struct brute {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	fm_end host[MAX_HOSTS];
	uint32_t n_hosts;
	uint64_t load[MAX_LINKS];
};

/* The links of a route, or none when it does not arrive. */
static uint32_t
walk(const struct brute *b, fm_end from, fm_end to, fm_link *path)
{
	const struct fm_fabric *fab = b->fab;
	fm_sw sw = fab->end_sw[from];

	for (uint32_t n = 0; n < 64;) {
		uint8_t port = b->t->lft[sw][fab->end_lid[to]];
		fm_link l = fab->sw_first_link[sw];

		while (l < fab->sw_first_link[sw + 1] && fab->link_port[l] != port)
			l++;
		if (l == fab->sw_first_link[sw + 1])
			return sw == fab->end_sw[to] && port == fab->end_port[to] ? n : 0;
		path[n++] = l;
		sw = fab->link_to[l];
	}
	return 0;
}

static void
find_hosts(struct brute *b)
{
	const struct fm_fabric *fab = b->fab;
	uint8_t is_leaf[256] = { 0 };
	uint32_t order[256];
	struct fm_error err;

	for (fm_end e = 0; e < fab->n_ends; e++)
		is_leaf[fab->end_sw[e]] |= fab->end_kind[e] == FM_END_CA;
	ck_assert(switch_order(fab->n_switches, fab->sw_first_link, fab->link_to, is_leaf, order,
		      &err) == 0);
	for (uint32_t i = 0; i < fab->n_switches; i++)
		for (fm_end e = 0; e < fab->n_ends; e++)
			if (fab->end_sw[e] == order[i] && fab->end_kind[e] == FM_END_CA)
				b->host[b->n_hosts++] = e;
}

static uint64_t
fullest(const struct brute *b)
{
	uint64_t max = 0;

	for (fm_link l = 0; l < b->fab->n_links; l++)
		max = b->load[l] > max ? b->load[l] : max;
	return max;
}

static void
add_route(struct brute *b, uint32_t from, uint32_t to)
{
	fm_link path[64];
	uint32_t n = walk(b, b->host[from], b->host[to], path);

	while (n-- > 0)
		b->load[path[n]]++;
}

static uint64_t
worst_shift(struct brute *b)
{
	uint64_t worst = 0;

	for (uint32_t k = 1; k < b->n_hosts; k++) {
		memset(b->load, 0, sizeof(b->load));
		for (uint32_t i = 0; i < b->n_hosts; i++)
			add_route(b, i, (i + k) % b->n_hosts);
		worst = fullest(b) > worst ? fullest(b) : worst;
	}
	return worst;
}

static void
all_to_all(struct brute *b)
{
	memset(b->load, 0, sizeof(b->load));
	for (uint32_t i = 0; i < b->n_hosts; i++)
		for (uint32_t k = 0; k < b->n_hosts; k++)
			if (i != k)
				add_route(b, i, k);
}

/* What the flow gets in the matching whose loads are in b->load; 0: does not arrive. */
static double
share_of(const struct brute *b, uint32_t from, uint32_t to)
{
	fm_link path[64];
	uint32_t n = walk(b, b->host[from], b->host[to], path);
	uint64_t max = 1;
	bool near = b->fab->end_sw[b->host[from]] == b->fab->end_sw[b->host[to]];

	for (uint32_t i = 0; i < n; i++)
		max = b->load[path[i]] > max ? b->load[path[i]] : max;
	return n > 0 || near ? 1.0 / (double)max : 0;
}

/* The mean over all perfect matchings of the hosts that are not yet taken. */
static void
match_all(struct brute *b, uint32_t *partner, double *sum, uint32_t *n)
{
	uint32_t first = 0;

	while (first < b->n_hosts && partner[first] != UINT32_MAX)
		first++;
	for (uint32_t k = first + 1; k < b->n_hosts; k++) {
		if (partner[k] != UINT32_MAX)
			continue;
		partner[first] = k;
		partner[k] = first;
		match_all(b, partner, sum, n);
		partner[first] = partner[k] = UINT32_MAX;
	}
	if (first < b->n_hosts)
		return;
	memset(b->load, 0, sizeof(b->load));
	for (uint32_t i = 0; i < b->n_hosts; i++)
		add_route(b, i, partner[i]);
	for (uint32_t i = 0; i < b->n_hosts; i++)
		*sum += share_of(b, i, partner[i]) / b->n_hosts;
	++*n;
}

/* Who crosses each link, against every pair. */
static void
compare_crossing(struct brute *b, const struct snapshot *snap)
{
	uint32_t from[256], to[256], want_from[256], want_to[256];
	struct fm_error err;

	for (fm_link l = 0; l < snap->fab.n_links; l++) {
		memset(want_from, 0, sizeof(want_from));
		memset(want_to, 0, sizeof(want_to));
		for (uint32_t i = 0; i < b->n_hosts; i++)
			for (uint32_t k = 0; k < b->n_hosts; k++) {
				fm_link path[64];
				uint32_t n = i != k ? walk(b, b->host[i], b->host[k], path) : 0;

				while (n > 0 && path[n - 1] != l)
					n--;
				want_from[snap->fab.end_sw[b->host[i]]] += n > 0;
				want_to[snap->fab.end_sw[b->host[k]]] += n > 0;
			}
		ck_assert(link_crossing(snap, b->t, l, from, to, &err) == 0);
		for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++) {
			ck_assert_uint_eq(from[sw], want_from[sw]);
			ck_assert_uint_eq(to[sw], want_to[sw]);
		}
	}
}

static void
compare(const struct snapshot *snap, const struct fm_tables *t, uint64_t seed)
{
	static struct brute b;
	struct metrics_request req = { .ebb_samples = 4000, .seed = seed };
	struct metrics m, m1;
	struct fm_error err;
	uint64_t min = UINT64_MAX, sum = 0;

	memset(&b, 0, sizeof(b));
	b.fab = &snap->fab;
	b.t = t;
	find_hosts(&b);
	ck_assert(metrics_compute(snap, t, &req, two, &m, &err) == 0);
	req.max_ranges = 1 + seed * 37 % 400; /* chunk by chunk, or flow by flow */
	ck_assert(metrics_compute(snap, t, &req, NULL, &m1, &err) == 0);
	all_to_all(&b);
	for (fm_link l = 0; l < b.fab->n_links; l++) {
		min = b.load[l] < min ? b.load[l] : min;
		sum += b.load[l];
	}
	compare_crossing(&b, snap);
	ck_assert_uint_eq(m.load_max, fullest(&b));
	ck_assert_uint_eq(m.load_min, b.fab->n_links ? min : 0);
	ck_assert(fabs(m.load_avg * b.fab->n_links - (double)sum) < 1e-6 * (double)(sum + 1));
	ck_assert_msg(m.sp_max == worst_shift(&b), "seed %u: worst shift %u, should be %u",
	    (unsigned)seed, m.sp_max, (unsigned)worst_shift(&b));
	ck_assert(m1.ebb == m.ebb && m1.sp_max == m.sp_max && m1.load_max == m.load_max);
	if (b.n_hosts % 2 == 0 && b.n_hosts > 0 && b.n_hosts <= 8) {
		uint32_t partner[8], n = 0;
		double mean = 0;

		memset(partner, 0xff, sizeof(partner));
		match_all(&b, partner, &mean, &n);
		ck_assert_msg(fabs(m.ebb - mean / n) < 0.03, "seed %u: ebb %g, mean %g",
		    (unsigned)seed, m.ebb, mean / n);
	}
}

/* Breadth-first tables of a random graph; holes: entries that are missing or point anywhere. */
static void
random_case(uint64_t seed, bool holes)
{
	char kind[] = "random", degree[] = "3", sw[8], hosts[8], number[24];
	char *argv[] = { kind, sw, degree, hosts, number };
	struct netlist nl = { 0 };
	struct netlist_view view = { .n_vls = 8, .fresh_lids = true };
	struct snapshot *snap;
	struct tables *t;
	struct fm_error err;
	struct fm_rng r;
	fm_sw queue[256];

	fm_rng_seed(&r, seed);
	snprintf(sw, sizeof(sw), "%u", 8 + 2 * fm_rng_below(&r, 4));
	snprintf(hosts, sizeof(hosts), "%u", 1 + fm_rng_below(&r, 4));
	snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
	ck_assert_msg(netlist_generate(5, argv, &nl, &err) == 0, "%s", err.msg);
	ck_assert(netlist_snapshot(&nl, &view, &snap, &err) == 0);
	ck_assert(tables_new(pool, NULL, &snap->fab, 0, 0, &t, &err) == 0);
	for (fm_end e = 0; e < snap->fab.n_ends; e++) {
		pgft_route_switch(
		    &snap->fab, snap->fab.end_sw[e], snap->fab.end_lid[e], queue, &t->t);
		t->t.lft[snap->fab.end_sw[e]][snap->fab.end_lid[e]] = snap->fab.end_port[e];
	}
	for (uint32_t n_holes = holes ? 1 + fm_rng_below(&r, 60) : 0; n_holes > 0; n_holes--)
		t->t.lft[fm_rng_below(&r, snap->fab.n_switches)]
			[1 + fm_rng_below(&r, snap->fab.max_lid)] =
		    fm_rng_below(&r, 2) ? FM_PORT_NONE : (uint8_t)(1 + fm_rng_below(&r, 6));
	compare(snap, &t->t, seed);
	tables_put(t);
	snapshot_put(snap);
	netlist_fini(&nl);
}

START_TEST(test_random)
{
	for (uint64_t seed = 1; seed <= 25; seed++) {
		random_case(seed, false);
		random_case(seed + 100, true);
		random_case(seed + 200, true);
	}
}
END_TEST

static const struct {
	const char *argv[5];
	double max_a2a, ebb;
} trees[] = {
	{ { "pgft", "2", "18,36", "1,18", "1,1" }, 1.0, 0.665 },
	{ { "pgft", "3", "8,8,16", "1,8,8", "1,1,1" }, 1.03, 0.532 },
	{ { "pgft", "2", "4,6", "1,2", "1,2" }, 1.0, 0 },
};

/* D-mod-K on an intact tree: no shift puts two flows on a link (Zahavi 2010). */
START_TEST(test_tree)
{
	struct pgft tree;
	struct tables *t;
	struct metrics m;
	struct fm_error err;
	struct metrics_request req = { .ebb_samples = 100, .seed = 1 };

	ck_assert(pgft_make(&tree, (char *const *)(uintptr_t)trees[_i].argv));
	ck_assert(tables_new(pool, NULL, &tree.snap->fab, 0, 0, &t, &err) == 0);
	pgft_route(&tree, &t->t);
	ck_assert(metrics_compute(tree.snap, &t->t, &req, two, &m, &err) == 0);
	ck_assert_uint_eq(m.sp_max, 1);
	ck_assert_msg(
	    m.a2a_max_over_avg <= trees[_i].max_a2a + 0.005, "max/avg %g", m.a2a_max_over_avg);
	if (trees[_i].ebb > 0)
		ck_assert_msg(fabs(m.ebb - trees[_i].ebb) < 0.01, "ebb %g", m.ebb);
	if (tree.snap->fab.max_lid < 64)
		compare(tree.snap, &t->t, 1);
	tables_put(t);
	snapshot_put(tree.snap);
}
END_TEST

static void
setup(void)
{
	pool = table_pool_new();
	two = fm_pool_new(2);
	ck_assert(pool != NULL && two != NULL);
}

static void
teardown(void)
{
	fm_pool_free(two);
	table_pool_free(pool);
}

int
main(void)
{
	Suite *s = suite_create("metrics");
	TCase *c = tcase_create("metrics");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, test_random);
	tcase_add_loop_test(c, test_tree, 0, sizeof(trees) / sizeof(trees[0]));
	suite_add_tcase(s, c);
	return run_suite(s);
}
