/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * minhop, updn and the core's fallback on every kind of fabric: whole,
 * damaged, several LIDs an end, edge cases.  Balance by walking all pairs.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <fmd/own.h>

#include "core/engine/fallback.h"
#include "lab/judge/metrics.h"
#include "lab/judge/props.h"
#include "lib/error.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

extern const struct fm_engine minhop_LTX_fm_engine, updn_LTX_fm_engine;

static const struct fm_engine *const engines[] = { &minhop_LTX_fm_engine, &updn_LTX_fm_engine,
	&fallback_engine };
#define N_ENGINES (sizeof(engines) / sizeof(*engines))

static const struct fabric fabrics[] = {
	{ "pgft 2 4,4 1,2 1,2", 0, 0 },
	{ "pgft 2 6,6 1,6 1,1", 20, 0 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", 0, 0 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", 1, 0 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", 5, 1 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", 20, 0 },
	{ "pgft 3 4,4,4 1,2,2 1,1,2", 5, 0 },
	{ "pgft 2 3,3 1,3 1,1", 0, 7 },
	{ "torus 5x4 2", 0, 0 },
	{ "torus 3x3x3 1 2", 10, 2 },
	{ "mesh 4x4 2", 0, 0 },
	{ "hypercube 4 2", 0, 0 },
	{ "dragonfly 4 2 2", 0, 0 },
	{ "dragonfly 4 2 2", 5, 3 },
	{ "random 24 5 3 7", 0, 0 },
	{ "random 40 3 2 9", 20, 0 },
};
#define N_FABRICS (sizeof(fabrics) / sizeof(*fabrics))

/* The verdict, and whatever cables join is joined: hosts and switches, to either. */
START_TEST(every_engine_is_safe_on_every_fabric)
{
	const struct fabric *f = &fabrics[_i];

	for (size_t i = 0; i < N_ENGINES; i++) {
		struct routed r;
		struct verdict v;
		struct fm_error err = { 0 };
		struct verify_request req = { .n_vls = 8 };
		const struct fm_fabric *fab;

		route(&r, engines[i], make(f, false));
		fab = &r.snap->fab;
		ck_assert_int_eq(
		    verify_tables(r.snap, &r.tables->t, &req, r.router.workers, &v, &err), 0);
		ck_assert_msg(verdict_is_safe(&v, i == 0), "%s, %s: %s", f->words, engines[i]->name,
		    v.witness);
		ck_assert_uint_gt(v.reachable_pairs, 0);
		ck_assert_msg(
		    v.unreachable_pairs == 0, "%s, %s: %s", f->words, engines[i]->name, v.witness);
		ck_assert_uint_eq(v.switch_pairs_unrouted, 0);
		for (fm_end e = 0; e < fab->n_ends; e++)
			for (fm_sw s = 0; fab->end_sw[e] != FM_NONE && s < fab->n_switches; s++)
				ck_assert_msg(r.snap->sw_component[s] !=
					    r.snap->sw_component[fab->end_sw[e]] ||
					walk(&r, s, fab->end_lid[e], 0, NULL) != FM_NONE,
				    "%s, %s: switch %u to end %u", f->words, engines[i]->name, s,
				    e);
		routed_fini(&r);
	}
}
END_TEST

START_TEST(minhop_paths_are_shortest)
{
	const struct fabric *f = &fabrics[_i];
	struct routed r;
	const struct fm_fabric *fab;
	uint32_t *hops;

	route(&r, &minhop_LTX_fm_engine, make(f, false));
	fab = &r.snap->fab;
	hops = calloc(fab->n_switches, sizeof(*hops));
	for (fm_sw d = 0; d < fab->n_switches; d++) {
		count_hops(fab, d, hops);
		for (fm_end e = fab->sw_first_end[d]; e < fab->sw_first_end[d + 1]; e++)
			for (uint32_t i = 0; i < 1u << fab->end_lmc[e]; i++)
				for (fm_sw s = 0; s < fab->n_switches; s++)
					ck_assert_msg(walk(&r, s, (uint16_t)(fab->end_lid[e] + i),
							  0, NULL) == hops[s],
					    "%s: switch %u to LID %u", f->words, s,
					    fab->end_lid[e] + i);
	}
	free(hops);
	routed_fini(&r);
}
END_TEST

/* The same bytes at any number of workers, and each allocation failing. */
START_TEST(engines_have_the_properties)
{
	for (size_t i = 0; i < N_ENGINES; i++) {
		struct props p = {
			.engine = engines[i], .snap = make(&fabrics[_i], false), .n_vls = 8
		};
		uint64_t n_allocs;
		char report[512];

		ck_assert_msg(props_check(&p, &n_allocs, report, sizeof(report)) == PROPS_HOLD,
		    "%s, %s: %s", fabrics[_i].words, engines[i]->name, report);
		ck_assert_uint_gt(n_allocs, 10);
		snapshot_put(p.snap);
	}
}
END_TEST

/* Routes well but leaves one entry as it was. */
static int
leave_one(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	uint8_t before = out->lft[1][0];
	int rc = fallback_engine.route(host, fab, req, opts, out, err);

	out->lft[1][0] = before;
	return rc;
}

START_TEST(an_entry_that_is_not_written_is_found)
{
	struct fm_engine engine = fallback_engine;
	struct props p = { .engine = &engine, .snap = make(&fabrics[0], false), .n_vls = 8 };
	uint64_t n_allocs;
	char report[512];

	engine.route = leave_one;
	ck_assert_int_eq(props_check(&p, &n_allocs, report, sizeof(report)), PROPS_BROKEN);
	ck_assert_msg(
	    strstr(report, "rows: the entry of LID 0 at switch ") == report, "%s", report);
	engine.traits &= ~(uint32_t)FM_WRITES_WHOLE_ROWS;
	ck_assert_msg(
	    props_check(&p, &n_allocs, report, sizeof(report)) == PROPS_HOLD, "%s", report);
	snapshot_put(p.snap);
}
END_TEST

/* ------------------------------------------- engines that are wrong in one way each */

#define ROUTE(name) \
	static int name(const struct fm_host *host, const struct fm_fabric *fab, \
	    const struct fm_request *req, const void *opts, struct fm_tables *out, \
	    struct fm_error *err)
#define WELL minhop_LTX_fm_engine.route(host, fab, req, opts, out, err)

ROUTE(writes_beside)
{
	int rc = WELL;

	out->lft[0][out->lft_stride] = 1;
	return rc;
}

ROUTE(takes_more_vls)
{
	int rc = WELL;

	out->n_vls_used = req->n_vls + 1;
	return rc;
}

ROUTE(counts)
{
	static uint8_t n;
	int rc = WELL;

	out->lft[2][0] = n++ % 2;
	return rc;
}

ROUTE(knows_one_lid)
{
	int rc = WELL;

	for (fm_end e = 0; e < fab->n_ends; e++)
		for (fm_sw s = 0; fab->end_lmc[e] > 0 && s < fab->n_switches; s++)
			out->lft[s][fab->end_lid[e] + 1] = FM_PORT_NONE;
	return rc;
}

ROUTE(loses_one)
{
	int rc = WELL;

	for (fm_end e = fab->sw_first_end[1]; e < fab->sw_first_end[2]; e++)
		if (fab->end_kind[e] == FM_END_CA)
			out->lft[0][fab->end_lid[e]] = FM_PORT_NONE;
	return rc;
}

ROUTE(says_no)
{
	return fm_fail(err, FM_E_TOPOLOGY, "sorry, this is none of mine\n");
}

ROUTE(says_five)
{
	return 5;
}

ROUTE(says_nothing)
{
	return FM_E_TOPOLOGY;
}

static const struct {
	int (*route)(const struct fm_host *, const struct fm_fabric *, const struct fm_request *,
	    const void *, struct fm_tables *, struct fm_error *);
	const char *words, *begins, *has; /* of the fabric; of the report */
} wrong[] = {
	{ writes_beside, "pgft 2 4,4 1,2 1,2", "bounds: lft[s][", "is written, at switch" },
	{ takes_more_vls, "pgft 2 4,4 1,2 1,2", "refusal: of kind ",
	    "n_vls_used = 9, beyond the budget of 8 VLs" },
	{ counts, "pgft 2 4,4 1,2 1,2", "pure: with 1 worker: other bytes ", "LID 0 has port " },
	{ knows_one_lid, "pgft 2 4,4 1,2 1,2", "lmc: with 2 LIDs a host: verdict: a pair without",
	    "cannot reach" },
	{ loses_one, "torus 6 1", "verdict: a pair without a path: ", "cannot reach" },
	{ says_no, "torus 6 1", "refusal: a sentence is one line of ", "none of mine" },
	{ says_five, "torus 6 1",
	    "refusal: of kind bug: the engine answers 5 without a reason: 0, or", "host->fail(" },
	{ says_nothing, "torus 6 1",
	    "refusal: of kind bug: the engine answers -2 without a reason: ", "host->fail(" },
};

START_TEST(wrong_engines_are_found)
{
	const struct fabric f = { .words = wrong[_i].words }, two_lids = { wrong[_i].words, 0, 1 };
	struct fm_engine engine = minhop_LTX_fm_engine;
	struct props p = { .engine = &engine,
		.snap = make(&f, false),
		.with_lmc = make(&two_lids, false),
		.n_vls = 8 };
	uint64_t n_allocs;
	char report[1024];

	engine.traits &= ~(uint32_t)FM_PROVIDES_AR;
	ck_assert_msg(
	    props_check(&p, &n_allocs, report, sizeof(report)) == PROPS_HOLD, "%s", report);
	engine.route = wrong[_i].route;
	ck_assert_int_eq(props_check(&p, &n_allocs, report, sizeof(report)), PROPS_BROKEN);
	ck_assert_msg(
	    strncmp(report, wrong[_i].begins, strlen(wrong[_i].begins)) == 0, "%s", report);
	ck_assert_msg(strstr(report, wrong[_i].has) != NULL, "%s", report);
	ck_assert_msg(strstr(report, "credit loop") == NULL, "%s", report);
	snapshot_put(p.snap);
	snapshot_put(p.with_lmc);
}
END_TEST

/* ----------------------------------------------------------------- balance */

struct balance {
	uint32_t max;
	double max_over_avg;
	uint32_t shift_max;
};

static uint32_t
largest(const uint32_t *load, uint32_t n, uint64_t *sum)
{
	uint32_t max = 0;

	for (uint32_t i = 0; i < n; i++) {
		max = load[i] > max ? load[i] : max;
		if (sum != NULL)
			*sum += load[i];
	}
	return max;
}

/* All to all, and every shift of the hosts in the order of their ends. */
static struct balance
measure(const struct routed *r)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t *load = calloc(fab->n_links, sizeof(*load)),
		 *shift = calloc(fab->n_links, sizeof(*shift));
	fm_end *host = calloc(fab->n_ends, sizeof(*host));
	struct balance b = { 0 };
	uint32_t n = 0;
	uint64_t sum = 0;

	for (fm_end e = 0; e < fab->n_ends; e++)
		if (is_ca(fab, e))
			host[n++] = e;
	for (uint32_t k = 1; k < n; k++) {
		memset(shift, 0, fab->n_links * sizeof(*shift));
		for (uint32_t i = 0; i < n; i++)
			walk(r, fab->end_sw[host[i]], fab->end_lid[host[(i + k) % n]], 1, shift);
		for (fm_link l = 0; l < fab->n_links; l++)
			load[l] += shift[l];
		b.shift_max = largest(shift, fab->n_links, NULL) > b.shift_max
		    ? largest(shift, fab->n_links, NULL)
		    : b.shift_max;
	}
	b.max = largest(load, fab->n_links, &sum);
	b.max_over_avg = (double)b.max * fab->n_links / (double)sum;
	free(load);
	free(shift);
	free(host);
	return b;
}

static struct balance
balance_of(const struct fm_engine *engine, const char *words, double links_pct, bool shuffled)
{
	struct fabric f = { words, links_pct, 0 };
	struct routed r;
	struct balance b;

	route(&r, engine, make(&f, shuffled));
	b = measure(&r);
	routed_fini(&r);
	return b;
}

START_TEST(intact_trees_are_ideal)
{
	static const char *const trees[] = { "pgft 2 6,6 1,6 1,1", "pgft 3 4,4,4 1,4,4 1,1,1",
		"pgft 2 4,8 1,2 1,2", "pgft 3 4,4,8 1,4,4 1,1,1" };

	for (size_t i = 0; i < N_ENGINES; i++) {
		struct balance b = balance_of(engines[i], trees[_i], 0, false);
		struct balance other = balance_of(engines[i], trees[_i], 0, true);

		ck_assert_msg(b.shift_max == 1, "%s on %s: %u flows of a shift on one link",
		    engines[i]->name, trees[_i], b.shift_max);
		ck_assert_msg(b.max_over_avg <= 1.12, "%s on %s: %f", engines[i]->name, trees[_i],
		    b.max_over_avg);
		ck_assert_msg(other.max == b.max, "%s on %s: %u, under other names %u",
		    engines[i]->name, trees[_i], b.max, other.max);
	}
}
END_TEST

/* Hosts of a leaf beyond a multiple of its cables up are dealt to all of them. */
START_TEST(more_hosts_than_cables_up_are_shared)
{
	static const char *const trees[] = { "pgft 2 5,8 1,4 1,1", "pgft 3 5,4,4 1,4,4 1,1,1",
		"pgft 3 7,6,6 1,6,6 1,1,1" };

	for (size_t i = 0; i < N_ENGINES; i++) {
		struct balance b = balance_of(engines[i], trees[_i], 0, false);
		struct balance other = balance_of(engines[i], trees[_i], 0, true);

		ck_assert_msg(b.max_over_avg <= 1.15, "%s on %s: %f", engines[i]->name, trees[_i],
		    b.max_over_avg);
		ck_assert_msg(other.max == b.max, "%s on %s: %u, under other names %u",
		    engines[i]->name, trees[_i], b.max, other.max);
	}
}
END_TEST

/* The bounds are those of the balanced cases measured plus a tenth. */
START_TEST(others_are_balanced)
{
	static const struct {
		const char *words;
		double links_pct, minhop, updn;
	} cases[] = {
		{ "pgft 3 4,4,8 1,4,4 1,1,1", 5, 2.2, 2.2 },
		{ "random 40 6 4 1", 0, 1.3, 1.35 },
		{ "torus 4x4x4 2", 0, 1.2, 2.05 },
		{ "hypercube 5 2", 0, 1.2, 1.55 },
	};
	double minhop =
	    balance_of(&minhop_LTX_fm_engine, cases[_i].words, cases[_i].links_pct, false)
		.max_over_avg;
	double updn = balance_of(&updn_LTX_fm_engine, cases[_i].words, cases[_i].links_pct, false)
			  .max_over_avg;

	ck_assert_msg(minhop <= cases[_i].minhop, "minhop on %s: %f", cases[_i].words, minhop);
	ck_assert_msg(updn <= cases[_i].updn, "updn on %s: %f", cases[_i].words, updn);
}
END_TEST

/* Several LIDs of a host leave every other leaf by as many switches as there are. */
START_TEST(lids_of_one_host_take_different_switches)
{
	static const struct fabric cases[] = { { "pgft 2 4,4 1,4 1,1", 0, 2 },
		{ "pgft 3 4,4,4 1,4,4 1,1,1", 0, 2 }, { "hyperx 3x3 2", 0, 1 } };

	for (size_t i = 0; i < N_ENGINES; i++) {
		struct routed r;
		const struct fm_fabric *fab;

		if (i > 0 && _i == 2)
			continue; /* a root per leaf pair: not as many paths */
		route(&r, engines[i], make(&cases[_i], false));
		fab = &r.snap->fab;
		for (fm_end e = 0; e < fab->n_ends; e++)
			for (fm_sw s = 0; is_ca(fab, e) && s < fab->n_switches; s++) {
				uint64_t ports[4] = { 0 };
				uint32_t hops = walk(&r, s, fab->end_lid[e], 0, NULL), n = 0;

				if (hops < 2 || fab->sw_first_end[s + 1] - fab->sw_first_end[s] < 2)
					continue;
				for (uint32_t k = 0; k < 1u << cases[_i].lmc; k++) {
					uint8_t port = r.tables->t.lft[s][fab->end_lid[e] + k];

					ports[port / 64] |= (uint64_t)1 << (port % 64);
				}
				for (int w = 0; w < 4; w++)
					n += (uint32_t)__builtin_popcountll(ports[w]);
				ck_assert_msg(n == 1u << cases[_i].lmc,
				    "%s on %s: %u ports at switch %u to end %u", engines[i]->name,
				    cases[_i].words, n, s, e);
			}
		routed_fini(&r);
	}
}
END_TEST

/* ----------------------------------------------------------------- options */

struct result {
	int rc;
	uint64_t digest;
	struct verdict v;
};

/* Route with these settings, judged by the verdict. */
static struct result
result_of(
    const struct fm_engine *engine, struct snapshot *snap, const struct setting *settings, size_t n)
{
	struct result res = { 0 };
	struct routed r;

	route_with(&r, engine, snapshot_get(snap), settings, n);
	res.rc = r.rc;
	if (res.rc == 0) {
		res.digest = props_digest(&snap->fab, &r.tables->t);
		res.v = judge(&r, 1);
		ck_assert_msg(
		    verdict_is_safe(&res.v, !(engine->traits & FM_PROMISES_NO_CREDIT_LOOPS)), "%s",
		    res.v.witness);
	}
	routed_fini(&r);
	return res;
}

START_TEST(limits_and_levels_refuse)
{
	struct fabric f = { "pgft 3 4,4,4 1,4,4 1,1,1", 0, 0 };
	struct snapshot *snap = make(&f, false);
	struct setting three = { "max_hops", { "3" } }, four = { "max_hops", { "4" } };
	struct setting top = { "level", { "2" } }, middle = { "level", { "1" } },
		       none = { "level", { "3" } };
	struct result plain = result_of(&updn_LTX_fm_engine, snap, NULL, 0), r;

	ck_assert_int_eq(result_of(&minhop_LTX_fm_engine, snap, &three, 1).rc, FM_E_TOPOLOGY);
	ck_assert_int_eq(result_of(&minhop_LTX_fm_engine, snap, &four, 1).rc, 0);
	ck_assert_int_eq(result_of(&updn_LTX_fm_engine, snap, &none, 1).rc, FM_E_TOPOLOGY);
	ck_assert_int_eq(plain.v.switch_pairs_unrouted, 0);
	r = result_of(&updn_LTX_fm_engine, snap, &top, 1);
	ck_assert_int_eq(r.v.unreachable_pairs, 0);
	ck_assert_uint_gt(r.v.switch_pairs_unrouted, 0); /* the tops are roots: not turned */
	ck_assert_uint_ne(result_of(&updn_LTX_fm_engine, snap, &middle, 1).digest, r.digest);
	snapshot_put(snap);
}
END_TEST

/* Two roots have no legal path to one another; the options give them one. */
START_TEST(given_roots_stay_roots)
{
	struct fabric f = { "pgft 2 4,4 1,4 1,1", 0, 0 }, cut = { "pgft 2 6,6 1,6 1,1", 20, 0 };
	struct snapshot *snap = make(&f, false), *damaged = make(&cut, false);
	struct setting level = { "level", { "1" } }, connect = { "connect_roots", { "true" } },
		       leave = { "calculate_missing_routes", { "false" } };
	struct setting both[2] = { level, connect }, without[2] = { level, leave };
	struct result r = result_of(&updn_LTX_fm_engine, snap, &level, 1);
	uint64_t mended, not_mended;

	ck_assert_uint_gt(r.v.switch_pairs_unrouted, 0);
	ck_assert_uint_lt(result_of(&updn_LTX_fm_engine, snap, both, 2).v.switch_pairs_unrouted,
	    r.v.switch_pairs_unrouted);
	mended = result_of(&updn_LTX_fm_engine, damaged, &level, 1).v.unreachable_pairs;
	not_mended = result_of(&updn_LTX_fm_engine, damaged, without, 2).v.unreachable_pairs;
	ck_assert_uint_lt(mended, not_mended);
	snapshot_put(snap);
	snapshot_put(damaged);
}
END_TEST

/* Each has an effect, ids only on switches that tie with a neighbour. */
START_TEST(roots_and_ids_order_the_switches)
{
	struct fabric f = { "torus 5x4 1", 0, 0 };
	struct snapshot *snap = make(&f, false);
	char guid[2][32], id[32];
	struct setting root[2] = { { "roots", { guid[0] } }, { "roots", { guid[1] } } };
	struct setting ids[2] = { root[0], { "ids", { id } } };
	struct result first, second;
	uint32_t n_changed = 0;

	for (unsigned i = 0; i < 2; i++)
		snprintf(guid[i], sizeof(guid[i]), "0x%016llx",
		    (unsigned long long)snap->fab.sw_guid[i * 7]);
	first = result_of(&updn_LTX_fm_engine, snap, &root[0], 1);
	second = result_of(&updn_LTX_fm_engine, snap, &root[1], 1);
	ck_assert_int_eq(first.v.unreachable_pairs + second.v.unreachable_pairs, 0);
	ck_assert_uint_ne(first.digest, second.digest);
	for (fm_sw sw = 0; sw < snap->fab.n_switches; sw++) {
		snprintf(id, sizeof(id), "0x%016llx 0", (unsigned long long)snap->fab.sw_guid[sw]);
		n_changed += result_of(&updn_LTX_fm_engine, snap, ids, 2).digest != first.digest;
	}
	ck_assert_uint_gt(n_changed, 0); /* a ring of 5: two switches tie */
	ck_assert_uint_lt(n_changed, snap->fab.n_switches);
	snapshot_put(snap);
}
END_TEST

/* Routes on the fullest link for each on the average one. */
static double
crowding_of(const struct fm_engine *engine, struct snapshot *snap, const struct setting *setting)
{
	struct metrics_request how = { .ebb_samples = 1 };
	struct fm_error err = { 0 };
	struct metrics m = { 0 };
	struct routed r;

	route_with(&r, engine, snapshot_get(snap), setting, 1);
	ck_assert_int_eq(r.rc, 0);
	ck_assert_int_eq(
	    metrics_compute(r.snap, &r.tables->t, &how, r.router.workers, &m, &err), 0);
	routed_fini(&r);
	return (double)m.load_max / m.load_avg;
}

/* As OpenSM's does, a seed chooses among the least loaded: trees stay as balanced as without. */
START_TEST(scatter_ports_keeps_the_balance)
{
	static const struct fabric trees[] = { { "pgft 2 12,12 1,12 1,1", 0, 0 },
		{ "pgft 3 6,6,6 1,6,6 1,1,1", 0, 0 } };
	static const char *const seeds[] = { "7", "8", "11", "13" };

	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++) {
		struct snapshot *snap = make(&trees[i], false);

		for (size_t k = 0; k < sizeof(seeds) / sizeof(*seeds); k++) {
			struct setting seed = { "scatter_ports", { seeds[k] } };

			for (size_t e = 0; e < 2; e++) {
				double crowding = crowding_of(engines[e], snap, &seed);

				ck_assert_msg(crowding <= 1.1, "%s by %s, seed %s: %.3f",
				    trees[i].words, engines[e]->name, seeds[k], crowding);
			}
		}
		snapshot_put(snap);
	}
}
END_TEST

START_TEST(scatter_ports_is_a_seed)
{
	struct fabric f = { "pgft 3 4,4,4 1,4,4 1,1,1", 0, 1 };
	struct snapshot *snap = make(&f, false);
	struct setting off = { "scatter_ports", { "0" } }, one = { "scatter_ports", { "1" } },
		       two = { "scatter_ports", { "2" } };

	for (size_t i = 0; i < 2; i++) {
		struct result plain = result_of(engines[i], snap, NULL, 0);
		struct result a = result_of(engines[i], snap, &one, 1);

		ck_assert_uint_eq(a.v.unreachable_pairs, 0);
		ck_assert_uint_eq(result_of(engines[i], snap, &off, 1).digest, plain.digest);
		ck_assert_uint_ne(a.digest, plain.digest);
		ck_assert_uint_eq(result_of(engines[i], snap, &one, 1).digest, a.digest);
		ck_assert_uint_ne(result_of(engines[i], snap, &two, 1).digest, a.digest);
		ck_assert_int_eq(a.v.max_hops, plain.v.max_hops);
	}
	snapshot_put(snap);
}
END_TEST

/* ----------------------------------------------------------- edges by hand */

/* n switches without a cable between them; hosts on each; LIDs from 1. */
static struct snapshot *
apart(uint32_t n_switches, uint32_t n_hosts)
{
	struct netlist_view view = { .n_vls = 1 };
	struct netlist nl = { 0 };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };

	for (uint32_t s = 0; s < n_switches; s++) {
		char name[32];
		uint32_t sw;

		snprintf(name, sizeof(name), "sw-%u", s);
		sw = netlist_add(&nl, NETLIST_SWITCH, name, name, 0, 8);
		for (uint32_t h = 0; h < n_hosts; h++) {
			snprintf(name, sizeof(name), "host-%u-%u", s, h);
			netlist_cable(&nl, sw, h + 1,
			    netlist_add(&nl, NETLIST_CA, name, name, 0, 1), 1, 25000);
		}
	}
	ck_assert_msg(netlist_snapshot(&nl, &view, &snap, &err) == 0, "%s", err.msg);
	netlist_fini(&nl);
	return snap;
}

START_TEST(edge_fabrics_are_routed)
{
	static const uint32_t sizes[][2] = { { 1, 0 }, { 1, 1 }, { 1, 5 }, { 2, 2 }, { 3, 0 } };

	for (size_t i = 0; i < N_ENGINES; i++) {
		struct routed r;
		const struct fm_fabric *fab;

		route(&r, engines[i], apart(sizes[_i][0], sizes[_i][1]));
		fab = &r.snap->fab;
		for (fm_end e = 0; e < fab->n_ends; e++)
			for (fm_sw s = 0; s < fab->n_switches; s++)
				ck_assert_uint_eq(r.tables->t.lft[s][fab->end_lid[e]],
				    s == fab->end_sw[e] ? fab->end_port[e] : FM_PORT_NONE);
		routed_fini(&r);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engines");
	TCase *c = tcase_create("engines");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, every_engine_is_safe_on_every_fabric, 0, (int)N_FABRICS);
	tcase_add_loop_test(c, minhop_paths_are_shortest, 0, (int)N_FABRICS);
	tcase_add_loop_test(c, engines_have_the_properties, 0, (int)n_cases(N_FABRICS));
	tcase_add_test(c, an_entry_that_is_not_written_is_found);
	tcase_add_loop_test(c, wrong_engines_are_found, 0, sizeof(wrong) / sizeof(*wrong));
	tcase_add_loop_test(c, intact_trees_are_ideal, 0, 4);
	tcase_add_loop_test(c, more_hosts_than_cables_up_are_shared, 0, 3);
	tcase_add_loop_test(c, others_are_balanced, 0, 4);
	tcase_add_loop_test(c, lids_of_one_host_take_different_switches, 0, 3);
	tcase_add_loop_test(c, edge_fabrics_are_routed, 0, 5);
	tcase_add_test(c, limits_and_levels_refuse);
	tcase_add_test(c, given_roots_stay_roots);
	tcase_add_test(c, roots_and_ids_order_the_switches);
	tcase_add_test(c, scatter_ports_is_a_seed);
	tcase_add_test(c, scatter_ports_keeps_the_balance);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
