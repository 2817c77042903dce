/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dragonfly: groups found, balance, VLs; lost cables and switches; what is no
 * dragonfly.  Loads by walking all pairs: the fabrics are small.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan.h"
#include "core/route/rivals.h"
#include "core/route/route.h"
#include "core/verify/verify.h"
#include "lab/judge/metrics.h"
#include "lab/judge/props.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

extern const struct fm_engine dragonfly_LTX_fm_engine;

struct fabric {
	const char *words;
	double links_pct;
	uint32_t n_switches;
	uint64_t seed;
	bool shuffled;
	uint8_t lmc;
};

static struct snapshot *
make(const struct fabric *f)
{
	struct netlist_view view = { .n_vls = 8, .ca_lmc = f->lmc };
	struct netlist plain = { 0 }, other = { 0 };
	struct netlist_faults faults = {
		.links_pct = f->links_pct, .n_switches = f->n_switches, .seed = f->seed
	};
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };
	uint32_t a = 0, b = 0;

	ck_assert_msg(generate_words(f->words, &plain, &err) == 0, "%s", err.msg);
	if (f->links_pct > 0 || f->n_switches > 0)
		ck_assert_int_eq(netlist_fail(&plain, &faults, &a, &b, &err), 0);
	if (f->shuffled)
		ck_assert_int_eq(netlist_shuffle(&plain, f->seed + 1, &other, &err), 0);
	ck_assert_msg(netlist_snapshot(f->shuffled ? &other : &plain, &view, &snap, &err) == 0,
	    "%s", err.msg);
	netlist_fini(&plain);
	netlist_fini(&other);
	return snap;
}

struct routed {
	struct router router;
	struct snapshot *snap;
	struct tables *tables;
	int rc;
	struct fm_error err;
};

static void
route_snapshot(struct routed *r, struct snapshot *snap, uint8_t n_vls)
{
	*r = (struct routed){ .snap = snap };
	ck_assert_int_eq(router_init(&r->router, 2, &r->err), 0);
	r->router.set.n_vls = n_vls;
	r->rc = route_once(&r->router, &dragonfly_LTX_fm_engine, NULL, &r->snap->fab, NULL, 0,
	    &r->tables, &r->err);
}

static void
route(struct routed *r, const struct fabric *f, uint8_t n_vls)
{
	route_snapshot(r, make(f), n_vls);
}

static void
routed_fini(struct routed *r)
{
	tables_put(r->tables);
	router_fini(&r->router);
	snapshot_put(r->snap);
}

/* All pairs joined, in both directions' SLs, within the VLs allowed. */
static struct verdict
judge(struct routed *r, const struct fabric *f)
{
	struct verify_request req = { .n_vls = r->router.set.n_vls };
	struct verdict v;

	ck_assert_msg(r->rc == 0, "%s: %s", f->words, r->err.msg);
	ck_assert_int_eq(
	    verify_tables(r->snap, &r->tables->t, &req, r->router.workers, &v, &r->err), 0);
	ck_assert_msg(verdict_is_safe(&v, false) && v.unreachable_pairs == 0, "%s seed %llu: %s",
	    f->words, (unsigned long long)f->seed, v.witness);
	ck_assert_uint_eq(v.switch_pairs_unrouted, 0);
	return v;
}

/* ---------------------------------------------------------------- balance */

/* Generated switches are sw-GROUP-MEMBER. */
static unsigned
group_of(const struct fm_fabric *fab, fm_sw s)
{
	return (unsigned)strtoul(fab->sw_name[s] + strlen("sw-"), NULL, 10);
}

static void
walk_all(const struct routed *r, uint32_t *load)
{
	const struct fm_fabric *fab = &r->snap->fab;
	fm_link *port_link = calloc((size_t)fab->n_switches * 256, sizeof(*port_link));

	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
			port_link[s * 256 + fab->link_port[l]] = l;
	for (fm_end from = 0; from < fab->n_ends; from++)
		for (fm_end to = 0; to < fab->n_ends; to++) {
			if (fab->end_kind[from] != FM_END_CA || fab->end_kind[to] != FM_END_CA)
				continue;
			for (fm_sw s = fab->end_sw[from]; s != fab->end_sw[to];) {
				fm_link l =
				    port_link[s * 256 + r->tables->t.lft[s][fab->end_lid[to]]];

				load[l]++;
				s = fab->link_to[l];
			}
		}
	free(port_link);
}

/* Most over average among the cables of all pairs of groups. */
static double
worst_pair(const struct fm_fabric *fab, const uint32_t *load)
{
	enum { MAX = 128 };
	static uint32_t sum[MAX][MAX], n[MAX][MAX], max[MAX][MAX];
	double worst = 0;

	memset(sum, 0, sizeof(sum));
	memset(n, 0, sizeof(n));
	memset(max, 0, sizeof(max));
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++) {
			unsigned i = group_of(fab, s), j = group_of(fab, fab->link_to[l]);

			sum[i][j] += load[l];
			n[i][j]++;
			max[i][j] = load[l] > max[i][j] ? load[l] : max[i][j];
		}
	for (unsigned i = 1; i < MAX; i++)
		for (unsigned j = 1; j < MAX; j++)
			if (i != j && n[i][j] > 0 && max[i][j] * n[i][j] > worst * sum[i][j])
				worst = (double)max[i][j] * n[i][j] / sum[i][j];
	return worst;
}

static uint32_t
max_load(const struct routed *r, double *worst)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t *load = calloc(fab->n_links + 1, sizeof(*load)), max = 0;

	walk_all(r, load);
	for (fm_link l = 0; l < fab->n_links; l++)
		max = load[l] > max ? load[l] : max;
	if (worst != NULL)
		*worst = worst_pair(fab, load);
	free(load);
	return max;
}

/* max: of OpenSM's best engine where measured, else what a global cable must
 * carry at least, or a local one: all is even then. */
static const struct {
	struct fabric f;
	uint32_t max;
	double worst_pair;
} whole[] = {
	{ { .words = "dragonfly 8 4 4" }, 1040, 1 },	    /* local: 512 out, 512 in, 16 within */
	{ { .words = "dragonfly 4 2 2" }, 68, 1 },	    /* 32 + 32 + 4 */
	{ { .words = "dragonfly 12 6 6 15" }, 1110, 1.02 }, /* OpenSM at best 1998 */
	{ { .words = "dragonfly 8 4 4 9" }, 272, 1.01 },    /* 256 over a global cable */
	{ { .words = "dragonfly 6 3 3 5" }, 100, 1.12 }, { { .words = "dragonfly 4 2 2 2" }, 8, 1 },
	{ { .words = "cascade" }, 3104, 1.02 }, /* 3072 over a global cable */
};
#define N_WHOLE (int)(sizeof(whole) / sizeof(*whole))

START_TEST(intact_ones_are_even_with_two_vls)
{
	struct fabric f = whole[_i].f;
	struct routed r;
	double worst;
	uint32_t max, other;

	route(&r, &f, 2);
	ck_assert_uint_eq(judge(&r, &f).vls, 2);
	ck_assert_int_eq(r.tables->t.sl_shape, FM_SL_ZERO);
	max = max_load(&r, &worst);
	ck_assert_msg(max <= whole[_i].max, "%s: %u", f.words, max);
	ck_assert_msg(worst <= whole[_i].worst_pair, "%s: %f", f.words, worst);
	routed_fini(&r);
	f.shuffled = true;
	route(&r, &f, 2);
	ck_assert_uint_eq(judge(&r, &f).vls, 2);
	other = max_load(&r, NULL);
	ck_assert_msg(other <= max + max / 10, "%s: %u, under other names %u", f.words, max, other);
	routed_fini(&r);
}
END_TEST

/* -------------------------------------------------------- rows and columns */

/* Groups of ROWS x COLUMNS switches, each joined to its row and its column; two
 * hosts a switch; one cable between two groups, at switches of their own. */
static struct snapshot *
make_of_grids(uint32_t rows, uint32_t columns, uint32_t groups)
{
	struct netlist_view view = { .n_vls = 2 };
	struct netlist nl = { 0 };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };
	uint32_t size = rows * columns;
	unsigned next_port[256] = { 0 };
	char name[32];

	for (uint32_t s = 0; s < groups * size; s++) {
		snprintf(name, sizeof(name), "sw-%u-%u", s / size + 1, s % size + 1);
		netlist_add(&nl, NETLIST_SWITCH, name, name, 0, 24);
	}
	for (uint32_t a = 0; a < groups * size; a++)
		for (uint32_t b = a + 1; b < groups * size; b++) {
			uint32_t i = a / size, j = b / size, u = a % size, v = b % size;
			bool global = i != j && u == j * 5 % size && v == i * 7 % size;
			bool local =
			    i == j && (u / columns == v / columns || u % columns == v % columns);

			if (global || local)
				netlist_cable(&nl, a, ++next_port[a], b, ++next_port[b], 25000);
		}
	for (uint32_t h = 0; h < groups * size * 2; h++) {
		snprintf(name, sizeof(name), "host-%u", h);
		netlist_cable(&nl, netlist_add(&nl, NETLIST_CA, name, name, 0, 1), 1, h / 2,
		    ++next_port[h / 2], 25000);
	}
	ck_assert_msg(netlist_snapshot(&nl, &view, &snap, &err) == 0, "%s", err.msg);
	netlist_fini(&nl);
	return snap;
}

START_TEST(rows_and_columns_need_two_vls)
{
	static const uint32_t sizes[][3] = { { 3, 4, 6 }, { 4, 4, 5 }, { 3, 3, 9 } };
	struct fabric f = { .words = "groups of rows and columns" };
	struct routed r;
	struct verdict v;

	route_snapshot(&r, make_of_grids(sizes[_i][0], sizes[_i][1], sizes[_i][2]), 2);
	v = judge(&r, &f);
	ck_assert_uint_eq(v.vls, 2);
	ck_assert_uint_eq(v.max_hops, 6); /* two, the cable, two: switches on the way */
	routed_fini(&r);
}
END_TEST

/* ------------------------------------------------------------------ faults */

static const struct fabric damaged[] = {
	{ .words = "dragonfly 8 4 4", .links_pct = 1 },
	{ .words = "dragonfly 8 4 4", .links_pct = 5 },
	{ .words = "dragonfly 6 3 3 8", .links_pct = 20 },
	{ .words = "dragonfly 6 3 3 8", .n_switches = 1 },
	{ .words = "dragonfly 4 2 2 5", .links_pct = 5, .n_switches = 1 },
	{ .words = "dragonfly 4 2 2", .links_pct = 5 },
};
#define N_DAMAGED (int)(sizeof(damaged) / sizeof(*damaged))

/* Routed and proven; refused, if ever, in a sentence that names a way out. */
START_TEST(damaged_ones_are_routed)
{
	enum { N_SEEDS = 20 };
	struct fabric f = damaged[_i];
	unsigned n_routed = 0;

	for (f.seed = 1; f.seed <= N_SEEDS; f.seed++) {
		struct routed r;

		f.shuffled = f.seed % 2;
		route(&r, &f, 8);
		if (r.rc == FM_E_TOPOLOGY) {
			ck_assert_msg(strstr(r.err.msg, "updn") != NULL, "%s", r.err.msg);
		} else {
			judge(&r, &f);
			n_routed++;
		}
		routed_fini(&r);
	}
	ck_assert_msg(n_routed >= N_SEEDS - 2, "%s: %u of %d", f.words, n_routed, N_SEEDS);
}
END_TEST

/* What went by a lost cable is parted among others, on VLs that few pairs have. */
static const struct {
	struct fabric f;
	double times; /* the fullest link of the whole one, at most */
} parted[] = {
	{ { .words = "dragonfly 6 3 3", .links_pct = 1 }, 1.25 },
	{ { .words = "dragonfly 6 3 3", .links_pct = 1, .lmc = 1 }, 1.25 },
	{ { .words = "dragonfly 8 4 4", .links_pct = 1 }, 1.25 },
	{ { .words = "dragonfly 6 3 3", .links_pct = 5 }, 1.5 },
};

START_TEST(a_lost_cable_does_not_double_another)
{
	struct fabric f = parted[_i].f, intact = { .words = f.words };
	struct routed r;
	uint32_t before, after;

	route(&r, &intact, 8);
	before = max_load(&r, NULL);
	routed_fini(&r);
	for (f.seed = 1; f.seed <= 3; f.seed++) {
		route(&r, &f, 8);
		ck_assert_uint_le(judge(&r, &f).vls, 4);
		after = max_load(&r, NULL);
		ck_assert_msg(after <= parted[_i].times * before, "%s seed %llu: %u, %u before",
		    f.words, (unsigned long long)f.seed, after, before);
		routed_fini(&r);
	}
}
END_TEST

/* Groups without a cable between them, and what little else does not fit. */
START_TEST(vls_of_their_own_are_for_detours_alone)
{
	struct fabric f = { .words = "dragonfly 8 4 4", .links_pct = 1, .seed = 3 };
	const struct fm_fabric *fab;
	struct routed r;
	uint64_t n = 0, n_own = 0;

	route(&r, &f, 8);
	ck_assert_uint_gt(judge(&r, &f).vls, 2);
	ck_assert_int_eq(r.tables->t.sl_shape, FM_SL_BY_SW_DLID);
	fab = &r.snap->fab;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_end e = 0; e < fab->n_ends; e++) {
			uint8_t sl = r.tables->t.sl[s][fab->end_lid[e]];
			fm_end back = fab->sw_first_end[s];

			n++;
			n_own += sl > 0;
			ck_assert_uint_eq(r.tables->t.sl[fab->end_sw[e]][fab->end_lid[back]], sl);
		}
	ck_assert_msg(n_own > 0 && n_own * 10 < n, "%llu of %llu", (unsigned long long)n_own,
	    (unsigned long long)n);
	routed_fini(&r);
}
END_TEST

static void
cut(struct netlist *nl, const char *a, const char *b)
{
	for (uint32_t i = 0; i < nl->n_nodes; i++) {
		const struct netlist_node *node = &nl->nodes[i];

		for (unsigned p = 1; strcmp(node->desc, a) == 0 && p <= node->n_ports; p++) {
			uint32_t peer = netlist_port(nl, i, p)->peer_node;

			if (peer != NETLIST_NONE && strcmp(nl->nodes[peer].desc, b) == 0) {
				netlist_uncable(nl, i, p);
				return;
			}
		}
	}
	ck_abort_msg("no cable from %s to %s", a, b);
}

/* Cables lost within groups are gone round with the same SL and two VLs. */
START_TEST(detours_in_a_group_need_no_vl)
{
	static const char *const pairs[][2] = { { "sw-1-1", "sw-1-2" }, { "sw-1-1", "sw-1-3" },
		{ "sw-1-2", "sw-1-4" }, { "sw-1-5", "sw-1-6" }, { "sw-1-3", "sw-1-8" },
		{ "sw-7-2", "sw-7-8" }, { "sw-9-1", "sw-9-8" }, { "sw-9-1", "sw-9-7" } };
	struct fabric f = { .words = "dragonfly 8 4 4" };
	struct netlist_view view = { .n_vls = 2 };
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *snap = NULL;
	struct routed r;

	ck_assert_int_eq(generate_words(f.words, &nl, &err), 0);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		cut(&nl, pairs[i][0], pairs[i][1]);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &snap, &err), 0);
	netlist_fini(&nl);
	route_snapshot(&r, snap, 2);
	ck_assert_uint_eq(judge(&r, &f).vls, 2);
	ck_assert_int_eq(r.tables->t.sl_shape, FM_SL_ZERO);
	routed_fini(&r);
}
END_TEST

/* Detours need VLs: refused with the pair's names when there are none. */
START_TEST(too_few_vls_are_refused)
{
	struct fabric whole_one = { .words = "dragonfly 4 2 2" };
	struct fabric cut = { .words = "dragonfly 8 4 4", .links_pct = 5, .seed = 1 };
	struct routed r;

	route(&r, &whole_one, 1);
	ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
	ck_assert_msg(strstr(r.err.msg, "needs 2 VLs, 1 is allowed") != NULL, "%s", r.err.msg);
	routed_fini(&r);
	route(&r, &cut, 2);
	ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
	ck_assert_msg(strstr(r.err.msg, "routes such as that from sw-") != NULL, "%s", r.err.msg);
	routed_fini(&r);
}
END_TEST

/* --------------------------------------------------------------------- LMC */

/* From each switch the alternates of a host leave for its group by cables of their own; its base
 * LID, which goes as if there were no others, by another where one lands at its switch, as for half
 * of them here, and for some of the rest. */
START_TEST(lids_of_one_host_take_different_cables)
{
	struct fabric f = { .words = "dragonfly 8 2 4 9", .lmc = 2, .shuffled = false };
	const struct fm_fabric *fab;
	unsigned n_pairs = 0, n_shared = 0;
	struct routed r;

	route(&r, &f, 2);
	judge(&r, &f);
	fab = &r.snap->fab;
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_end e = 0; e < fab->n_ends; e++) {
			fm_link cable[4];

			if (fab->end_kind[e] != FM_END_CA ||
			    group_of(fab, s) == group_of(fab, fab->end_sw[e]))
				continue;
			for (unsigned i = 0; i < 4; i++) {
				fm_sw at = s, from;

				do {
					uint8_t port = r.tables->t.lft[at][fab->end_lid[e] + i];

					cable[i] = fab->sw_first_link[at];
					while (fab->link_port[cable[i]] != port)
						cable[i]++;
					from = at;
					at = fab->link_to[cable[i]];
				} while (group_of(fab, at) == group_of(fab, from));
				for (unsigned k = 1; k < i; k++)
					ck_assert_uint_ne(cable[i], cable[k]);
				n_shared += i > 0 && cable[i] == cable[0];
			}
			n_pairs++;
		}
	ck_assert_msg(10 * n_shared <= 6 * n_pairs, "%u of %u", n_shared, n_pairs);
	routed_fini(&r);
}
END_TEST

static uint32_t
count_hops(const struct routed *r, fm_sw s, fm_end e, unsigned k)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t n = 0;

	for (; s != fab->end_sw[e]; n++) {
		fm_link l = fab->sw_first_link[s];

		while (fab->link_port[l] != r->tables->t.lft[s][fab->end_lid[e] + k])
			l++;
		s = fab->link_to[l];
	}
	return n;
}

/* Of all pairs; `auto` goes by a sample of flows. */
static struct metrics
measure(struct routed *r)
{
	struct metrics_request q = { .seed = 1, .ebb_samples = 100 };
	struct measured sampled;
	struct metrics m;

	ck_assert_int_eq(
	    metrics_compute(r->snap, &r->tables->t, &q, r->router.workers, &m, &r->err), 0);
	ck_assert_int_eq(
	    rivals_measure(r->snap, &r->tables->t, r->router.workers, &sampled, &r->err), 0);
	ck_assert_double_eq_tol(sampled.several, m.paths_several, .02);
	return m;
}

/* With one cable between two groups: to most hosts by other ways, a hop farther, few by two; base
 * LIDs as if there were no others. */
static const struct {
	const char *words;
	double several[2], apart[2]; /* at LMC 1 and 2 */
} lone[] = {
	{ "dragonfly 6 3 3", { .8, .85 }, { .25, .65 } },
	{ "dragonfly 8 4 4", { .8, .85 }, { .25, .65 } },
	{ "dragonfly 4 2 2", { .65, .7 }, { .25, .5 } },
	{ "dragonfly 6 3 3 12", { .75, .8 }, { .2, .5 } }, /* two cables between some groups */
};

START_TEST(alternates_go_round)
{
	struct fabric f = {
		.words = lone[_i / 4].words, .shuffled = _i / 2 % 2, .lmc = (uint8_t)(1 + _i % 2)
	};
	struct routed r, alone;
	const struct fm_fabric *fab, *fab0;
	uint32_t n = 0, n_far = 0;
	struct metrics m;

	route(&r, &f, 4);
	ck_assert_uint_eq(judge(&r, &f).vls, 4);
	ck_assert_int_eq(r.tables->t.sl_shape, FM_SL_ZERO);
	m = measure(&r);
	ck_assert_msg(m.paths_several >= lone[_i / 4].several[_i % 2],
	    "%s, LMC %u: several to %.3f", f.words, f.lmc, m.paths_several);
	ck_assert_msg(m.paths_apart >= lone[_i / 4].apart[_i % 2],
	    "%s, LMC %u: two without a common cable to %.3f", f.words, f.lmc, m.paths_apart);
	ck_assert_msg(m.ebb_striped >= .92 * m.ebb, "%s, LMC %u: %.3f by stripes, %.3f without",
	    f.words, f.lmc, m.ebb_striped, m.ebb);
	fab = &r.snap->fab;
	f.lmc = 0;
	route(&alone, &f, 4);
	ck_assert_uint_eq(judge(&alone, &f).vls, 2);
	fab0 = &alone.snap->fab;
	ck_assert_uint_eq(fab->n_ends, fab0->n_ends);
	for (fm_end e = 0; e < fab->n_ends; e++)
		for (fm_sw s = 0; s < fab->n_switches; s++) {
			uint32_t base = count_hops(&r, s, e, 0);

			ck_assert_uint_eq(r.tables->t.lft[s][fab->end_lid[e]],
			    alone.tables->t.lft[s][fab0->end_lid[e]]);
			for (unsigned k = 1; k < 1u << fab->end_lmc[e]; k++) {
				uint32_t hops = count_hops(&r, s, e, k);

				ck_assert_uint_le(hops, base + 2);
				n_far += hops > base + 1;
				n++;
			}
		}
	ck_assert_msg(n > 0 && n_far <= n / 10, "%s: %u of %u two hops farther", f.words, n_far, n);
	routed_fini(&r);
	routed_fini(&alone);
}
END_TEST

/* Where VLs are few or a cable is lost all LIDs go by the pattern. */
START_TEST(alternates_go_straight_without_vls)
{
	struct fabric f = { .words = "dragonfly 4 2 2", .lmc = 1 };
	struct routed r;

	route(&r, &f, 3);
	ck_assert_uint_eq(judge(&r, &f).vls, 2);
	ck_assert_double_eq(measure(&r).paths_several, 0);
	routed_fini(&r);
	for (uint64_t seed = 1; seed <= 10; seed++) {
		f.links_pct = 2;
		f.seed = seed;
		route(&r, &f, 8);
		judge(&r, &f);
		routed_fini(&r);
	}
}
END_TEST

/* -------------------------------------------------------------- properties */

START_TEST(the_engine_has_the_properties)
{
	static const struct fabric cases[] = {
		{ .words = "dragonfly 4 2 2" },
		{ .words = "dragonfly 4 2 2", .lmc = 2 },
		{ .words = "dragonfly 4 2 2 4", .links_pct = 8, .seed = 2, .lmc = 1 },
		{ .words = "dragonfly 5 1 2 6", .links_pct = 20, .seed = 4, .shuffled = true },
	};
	struct props p = {
		.engine = &dragonfly_LTX_fm_engine, .snap = make(&cases[_i]), .n_vls = 8
	};
	uint64_t n_allocs;
	char report[512];

	ck_assert_msg(props_check(&p, &n_allocs, report, sizeof(report)) == PROPS_HOLD, "%s: %s",
	    cases[_i].words, report);
	ck_assert_uint_gt(n_allocs, 20);
	snapshot_put(p.snap);
}
END_TEST

static const char *const others[] = { "pgft 3 4,4,4 1,4,4 1,1,1", "torus 6x5x4 2", "torus 4x4 2",
	"random 60 8 4 1", "hypercube 4 2", "kautz 3 3 2", "slimfly 5 4", "mesh 5x5 2",
	"hyperx 3x3x3 1" };
#define N_OTHERS (int)(sizeof(others) / sizeof(*others))

START_TEST(what_is_none_is_refused)
{
	struct fabric f = { .words = others[_i] };
	struct routed r;

	route(&r, &f, 8);
	ck_assert_msg(r.rc == FM_E_TOPOLOGY, "%s", f.words);
	ck_assert_msg(strstr(r.err.msg, "not a dragonfly: no groups") != NULL, "%s", r.err.msg);
	routed_fini(&r);
}
END_TEST

/* Whatever q is modulo 4, and with cables lost; of 18 switches, q = 3, only the whole is known. */
START_TEST(slim_flies_are_none)
{
	static const char *const words[] = { "slimfly 3 2", "slimfly 5 2", "slimfly 7 2",
		"slimfly 11 1", "slimfly 13 1", "slimfly 19 1" };
	static const int lost_pct[] = { 0, 1, 5, 10 };
	struct fabric f = { .words = words[_i / 4], .links_pct = lost_pct[_i % 4], .seed = 7 };
	struct routed r;

	if (_i / 4 == 0)
		f.links_pct = 0;
	route(&r, &f, 8);
	ck_assert_msg(r.rc == FM_E_TOPOLOGY, "%s less %d %%", f.words, lost_pct[_i % 4]);
	routed_fini(&r);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dragonfly");
	TCase *tc = tcase_create("dragonfly");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, intact_ones_are_even_with_two_vls, 0, N_WHOLE);
	tcase_add_loop_test(tc, rows_and_columns_need_two_vls, 0, 3);
	tcase_add_loop_test(tc, damaged_ones_are_routed, 0, N_DAMAGED);
	tcase_add_loop_test(tc, a_lost_cable_does_not_double_another, 0,
	    (int)(sizeof(parted) / sizeof(*parted)));
	tcase_add_test(tc, vls_of_their_own_are_for_detours_alone);
	tcase_add_test(tc, detours_in_a_group_need_no_vl);
	tcase_add_test(tc, too_few_vls_are_refused);
	tcase_add_test(tc, lids_of_one_host_take_different_cables);
	tcase_add_loop_test(tc, alternates_go_round, 0, 4 * (int)(sizeof(lone) / sizeof(*lone)));
	tcase_add_test(tc, alternates_go_straight_without_vls);
	tcase_add_loop_test(tc, the_engine_has_the_properties, 0, 4);
	tcase_add_loop_test(tc, what_is_none_is_refused, 0, N_OTHERS);
	tcase_add_loop_test(tc, slim_flies_are_none, 0, 24);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
