/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layers of paths: the graph that is kept acyclic against a search for cycles
 * after each insertion; sssp, dfsssp and lash against a graph of dependencies
 * built by walking every path; their lanes and their balance.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/plan/plan.h"
#include "core/route/route.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "lib/rng.h"
#include "plugins/common/layers/channels.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

extern const struct fm_engine sssp_LTX_fm_engine, dfsssp_LTX_fm_engine, lash_LTX_fm_engine;

struct setting {
	const char *key, *value;
};

struct routed {
	struct router router;
	struct fm_arena mem;
	struct snapshot *snap;
	struct tables *tables;
	struct fm_error err;
	int rc;
};

/* Words of fmroute gen, and " - 5" behind them for 5 % of the links taken out. */
static struct snapshot *
make(const char *words, uint8_t lmc)
{
	struct netlist_view view = { .n_vls = 15, .ca_lmc = lmc };
	struct netlist net = { 0 };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };
	char *plain = strdup(words), *dash = strstr(plain, " - ");
	uint32_t n_links, n_switches;

	if (dash != NULL)
		*dash = '\0';
	ck_assert_msg(generate_words(plain, &net, &err) == 0, "%s: %s", words, err.msg);
	if (dash != NULL) {
		struct netlist_faults faults = { .links_pct = atof(dash + 3), .seed = 5 };

		ck_assert_int_eq(netlist_fail(&net, &faults, &n_links, &n_switches, &err), 0);
	}
	ck_assert_msg(netlist_snapshot(&net, &view, &snap, &err) == 0, "%s", err.msg);
	netlist_fini(&net);
	free(plain);
	return snap;
}

static void
route(struct routed *r, const struct fm_engine *engine, struct snapshot *snap, uint8_t n_vls,
    const struct setting *settings, size_t n)
{
	struct option_table table = option_table_of(engine);
	struct option_origin origin = { 0 };
	struct option_values *values;
	void *opts;

	memset(r, 0, sizeof(*r));
	fm_arena_init(&r->mem, SIZE_MAX);
	ck_assert_int_eq(router_init(&r->router, 2, &r->err), 0);
	r->router.set.n_vls = n_vls;
	r->snap = snap;
	values = option_values_new(&r->mem, &table, engine->name);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(option_values_set(values, settings[i].key, &settings[i].value, 1,
				  &origin, &r->err) == 0,
		    "%s", r->err.msg);
	ck_assert_int_eq(options_bind(engine, values, snap, &r->mem, &opts, &r->err), 0);
	r->rc = route_once(&r->router, engine, opts, &snap->fab, NULL, 0, &r->tables, &r->err);
}

static void
routed_fini(struct routed *r)
{
	tables_put(r->tables);
	router_fini(&r->router);
	snapshot_put(r->snap);
	fm_arena_fini(&r->mem);
}

static struct verdict
judge(const struct routed *r, bool forward)
{
	struct verify_request req = { .n_vls = r->router.set.n_vls,
		.sl_model = forward ? VERIFY_FORWARD : VERIFY_BOTH };
	struct fm_error err = { 0 };
	struct verdict v;

	ck_assert_int_eq(
	    verify_tables(r->snap, &r->tables->t, &req, r->router.workers, &v, &err), 0);
	return v;
}

/* ------------------------------------------------------------------ channels */

static bool
leads_to(const struct fm_arcs *arcs, const bool *edge, fm_arc from, fm_arc to, bool *seen)
{
	if (from == to)
		return true;
	if (seen[from])
		return false;
	seen[from] = true;
	for (fm_arc next = 0; next < arcs->n_arcs; next++)
		if (edge[from * arcs->n_arcs + next] && leads_to(arcs, edge, next, to, seen))
			return true;
	return false;
}

static void
check_order(const struct fm_channels *c, const struct fm_arcs *arcs, const bool *edge)
{
	for (fm_arc a = 0; a < arcs->n_arcs; a++) {
		ck_assert_uint_eq(c->order.at[c->order.position[a]], a);
		for (fm_arc b = 0; b < arcs->n_arcs; b++)
			ck_assert(!edge[a * arcs->n_arcs + b] ||
			    c->order.position[a] < c->order.position[b]);
	}
}

/* One insertion, or now and then a removal. */
static void
insert_one(struct fm_channels *c, const struct fm_channel_map *map, struct fm_rng *rng, bool *edge)
{
	const struct fm_arcs *arcs = map->arcs;
	fm_arc a = fm_rng_below(rng, arcs->n_arcs);
	fm_sw v = arcs->to[a];
	fm_arc b = arcs->first[v] + fm_rng_below(rng, arcs->first[v + 1] - arcs->first[v]);
	bool *held = &edge[a * arcs->n_arcs + b];
	bool *seen = calloc(arcs->n_arcs, sizeof(*seen));
	enum fm_channel_answer answer = fm_channels_insert(c, a, b);

	if (*held)
		ck_assert_int_eq(answer, FM_CHANNEL_HELD);
	else
		ck_assert_int_eq(answer,
		    leads_to(arcs, edge, b, a, seen) ? FM_CHANNEL_REFUSED : FM_CHANNEL_ADDED);
	*held |= answer == FM_CHANNEL_ADDED;
	if (*held && fm_rng_below(rng, 8) == 0) {
		fm_channels_remove(c, a, b);
		*held = false;
	}
	free(seen);
}

/* An engine only to be called with a host and a fabric. */
static int
try_channels(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	struct fm_rng rng;
	struct fm_arcs arcs;
	struct fm_channel_map map;
	struct fm_channels c;
	bool *edge;

	(void)req, (void)opts, (void)out;
	ck_assert_int_eq(fm_arcs_build(host, fab, &arcs, err), 0);
	ck_assert_int_eq(fm_channel_map_build(host, &arcs, &map, err), 0);
	ck_assert_int_eq(fm_channels_build(host, &map, &c, err), 0);
	edge = calloc((size_t)arcs.n_arcs * arcs.n_arcs, sizeof(*edge));
	fm_rng_seed(&rng, arcs.n_arcs);
	for (uint32_t i = 0; i < 40 * arcs.n_arcs; i++) {
		insert_one(&c, &map, &rng, edge);
		if (i % arcs.n_arcs == 0)
			check_order(&c, &arcs, edge);
	}
	ck_assert(fm_channels_sort(&c));
	check_order(&c, &arcs, edge);
	for (fm_arc a = 0; a < arcs.n_arcs; a++) /* all turns: any ring closes */
		for (fm_arc b = arcs.first[arcs.to[a]]; b < arcs.first[arcs.to[a] + 1]; b++)
			fm_channels_set(&c, a, b);
	ck_assert(!fm_channels_sort(&c));
	free(edge);
	return 0;
}

START_TEST(channels_stay_acyclic)
{
	static const char *const words[] = { "random 8 4 1 3", "torus 4x3 1", "random 5 4 1 1" };
	static const struct fm_engine engine = { .name = "channels",
		.route = try_channels,
		.size = sizeof(engine),
		.traits = FM_PROVIDES_LFT };
	struct routed r;

	route(&r, &engine, make(words[_i], 0), 8, NULL, 0);
	ck_assert_msg(r.rc == 0, "%s", r.err.msg);
	routed_fini(&r);
}
END_TEST

/* ------------------------------------------------------------------- oracle */

/* Dependencies among (link, VL), one bit each. */
struct oracle {
	const struct fm_fabric *fab;
	const struct fm_tables *t;
	uint32_t n; /* vertices: link * 16 + vl */
	bool *edge; /* [n][n] */
	uint8_t *color;
};

static void
walk(struct oracle *o, fm_sw s, uint16_t lid, uint8_t sl)
{
	const struct fm_fabric *fab = o->fab;
	fm_sw end = fab->end_sw[fab->lid_end[lid]];
	uint32_t before = FM_NONE;

	for (uint32_t hops = 0; s != end; hops++) {
		fm_link l = fm_link_at(fab, s, o->t->lft[s][lid]);
		uint32_t at;

		ck_assert_msg(l != FM_NONE && hops < 64, "no path to LID %u", lid);
		at = l * 16 + tables_vl(fab, o->t, s, 0, l, sl);
		if (before != FM_NONE)
			o->edge[(size_t)before * o->n + at] = true;
		before = at;
		s = fab->link_to[l];
	}
}

static bool
has_cycle(struct oracle *o, uint32_t v)
{
	o->color[v] = 1;
	for (uint32_t w = 0; w < o->n; w++)
		if (o->edge[(size_t)v * o->n + w] &&
		    (o->color[w] == 1 || (o->color[w] == 0 && has_cycle(o, w))))
			return true;
	o->color[v] = 2;
	return false;
}

/* Every path of every source under its own SL and, for replies, that of the way back. */
static bool
is_free_of_credit_loops(const struct routed *r, bool replies)
{
	const struct fm_fabric *fab = &r->snap->fab;
	struct oracle o = { .fab = fab, .t = &r->tables->t, .n = fab->n_links * 16 };
	bool found = false;

	o.edge = calloc((size_t)o.n * o.n, 1);
	o.color = calloc(o.n, 1);
	for (fm_end s = 0; s < fab->n_ends; s++)
		for (fm_end d = 0; d < fab->n_ends; d++) {
			fm_sw ssw = fab->end_sw[s], dsw = fab->end_sw[d];

			if (fab->end_kind[s] == FM_END_SWITCH ||
			    r->snap->sw_component[ssw] != r->snap->sw_component[dsw])
				continue;
			for (uint32_t i = 0; i < 1u << fab->end_lmc[d]; i++) {
				uint16_t lid = (uint16_t)(fab->end_lid[d] + i);

				walk(&o, ssw, lid, tables_sl(o.t, ssw, lid));
				for (uint32_t k = 0; replies && k < 1u << fab->end_lmc[s]; k++)
					walk(&o, ssw, lid,
					    tables_sl(o.t, dsw, (uint16_t)(fab->end_lid[s] + k)));
			}
		}
	for (uint32_t v = 0; !found && v < o.n; v++)
		found = o.color[v] == 0 && has_cycle(&o, v);
	free(o.edge);
	free(o.color);
	return !found;
}

static const char *const small[] = { "random 12 4 2 1", "random 12 4 1 2", "random 16 3 2 3",
	"torus 5x4 1", "torus 3x3 1 2", "dragonfly 3 1 1", "kautz 2 3 1", "random 12 4 2 4 - 20",
	"torus 5x4 1 - 10", "mesh 4x4 1", "hypercube 4 1", "pgft 2 4,4 1,2 1,2 - 10" };
#define N_SMALL (sizeof(small) / sizeof(*small))

START_TEST(no_path_closes_a_cycle)
{
	static const struct fm_engine *const engines[] = { &dfsssp_LTX_fm_engine,
		&lash_LTX_fm_engine };

	for (int mode = 0; mode < 8; mode++) {
		bool paired = mode & 1;
		uint8_t lmc = mode & 2 ? 1 : 0;
		struct setting settings[] = { { "paired", paired ? "true" : "false" },
			{ "balance_vls", mode & 4 ? "true" : "false" } };

		for (int e = 0; e < 2; e++) {
			struct routed r;
			struct verdict v;

			route(&r, engines[e], make(small[_i], lmc), 8, settings, 2);
			ck_assert_msg(
			    r.rc == 0, "%s on %s: %s", engines[e]->name, small[_i], r.err.msg);
			ck_assert_msg(is_free_of_credit_loops(&r, paired), "%s on %s, mode %d",
			    engines[e]->name, small[_i], mode);
			v = judge(&r, !paired);
			ck_assert_msg(verdict_is_safe(&v, false), "%s on %s: %s", engines[e]->name,
			    small[_i], v.witness);
			ck_assert_uint_eq(v.unreachable_pairs, 0);
			ck_assert_uint_le(r.tables->t.n_vls_used, 8);
			routed_fini(&r);
		}
	}
}
END_TEST

/* What the oracle is for: sssp has cycles on a ring, and it sees them. */
START_TEST(the_oracle_sees_cycles)
{
	struct routed r;

	route(&r, &sssp_LTX_fm_engine, make("torus 6 1", 0), 8, NULL, 0);
	ck_assert(!is_free_of_credit_loops(&r, false));
	routed_fini(&r);
}
END_TEST

/* -------------------------------------------------------------------- lanes */

/* (sw, HCA, channels) of the Nue paper's fabrics (Domke, Hoefler, Matsuoka, HPDC 2016). */
static const struct {
	const char *words;
	uint8_t paired; /* lanes when replies count */
} nue_fabrics[] = { { "random 125 16 8 1", 4 }, { "random 125 16 8 2", 4 },
	{ "torus 6x5x5 7 4", 2 }, { "kautz 5 3 7 2", 6 }, { "dragonfly 12 6 6 15", 5 },
	{ "cascade", 4 }, { "hyperx 12x8 7", 1 }, { "slimfly 5 4", 2 }, { "slimfly 13 9", 4 } };
#define N_NUE (sizeof(nue_fabrics) / sizeof(*nue_fabrics))

START_TEST(nue_fabrics_take_few_lanes)
{
	static const struct fm_engine *const engines[] = { &dfsssp_LTX_fm_engine,
		&lash_LTX_fm_engine };
	static const struct setting forward = { "paired", "false" };

	for (int i = 0; i < 4; i++) {
		struct routed r;
		uint8_t most = i < 2 ? nue_fabrics[_i].paired : 4;

		route(&r, engines[i % 2], make(nue_fabrics[_i].words, 0), most, &forward, i / 2);
		ck_assert_msg(r.rc == 0, "%s on %s within %u VLs: %s", engines[i % 2]->name,
		    nue_fabrics[_i].words, most, r.err.msg);
		routed_fini(&r);
	}
}
END_TEST

START_TEST(too_few_lanes_are_refused)
{
	struct routed r;

	for (uint8_t n = 1;; n++) {
		route(&r, &lash_LTX_fm_engine, make("random 30 5 2 1", 0), n, NULL, 0);
		if (r.rc == 0) {
			struct verdict v = judge(&r, false);

			ck_assert(verdict_is_safe(&v, false));
			ck_assert_uint_eq(v.vls, n);
			ck_assert_uint_gt(n, 1);
			routed_fini(&r);
			return;
		}
		ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
		ck_assert_msg(strstr(r.err.msg, "VLs, but") != NULL, "%s", r.err.msg);
		routed_fini(&r);
	}
}
END_TEST

START_TEST(the_first_lane_can_be_chosen)
{
	static const struct setting start = { "start_vl", "3" };
	static const char *const words[] = { "random 30 5 2 1", "pgft 2 4,4 1,2 1,2" };

	for (int i = 0; i < 2; i++) {
		struct routed r;
		struct verdict v;

		route(&r, &lash_LTX_fm_engine, make(words[i], 0), 8, &start, 1);
		ck_assert_msg(r.rc == 0, "%s", r.err.msg);
		for (fm_sw s = 0; s < r.snap->fab.n_switches; s++)
			for (fm_end e = 0; e < r.snap->fab.n_ends; e++)
				ck_assert_uint_ge(
				    tables_sl(&r.tables->t, s, r.snap->fab.end_lid[e]), 3);
		v = judge(&r, false);
		ck_assert_msg(verdict_is_safe(&v, false), "%s", v.witness);
		routed_fini(&r);
	}
}
END_TEST

/* With all lanes in use none bears more than twice its share. */
START_TEST(paths_spread_over_the_lanes)
{
	static const struct setting spread = { "balance_vls", "true" };
	uint32_t n[16] = { 0 }, sum = 0;
	struct routed r;

	route(&r, &dfsssp_LTX_fm_engine, make("random 40 6 2 3", 0), 8, &spread, 1);
	for (fm_sw s = 0; s < r.snap->fab.n_switches; s++)
		for (fm_end e = 0; e < r.snap->fab.n_ends; e++, sum++)
			n[tables_sl(&r.tables->t, s, r.snap->fab.end_lid[e])]++;
	for (int l = 0; l < 8; l++)
		ck_assert_msg(n[l] > 0 && n[l] <= 2 * sum / 8, "lane %d: %u of %u", l, n[l], sum);
	routed_fini(&r);
}
END_TEST

/* Of the lanes that lash needs none bears more than a tenth beyond its share of the pairs. */
START_TEST(lash_fills_its_lanes_evenly)
{
	static const struct {
		const char *words;
		struct setting set;
		uint8_t lmc;
	} cases[] = { { "random 60 8 4 1", { "start_vl", "0" }, 0 },
		{ "random 60 8 4 2", { "start_vl", "2" }, 1 },
		{ "random 60 8 4 3", { "paired", "false" }, 0 },
		{ "slimfly 5 2", { "start_vl", "0" }, 2 },
		{ "random 125 16 2 1", { "start_vl", "0" }, 0 },
		{ "kautz 4 3 1", { "start_vl", "0" }, 0 },
		{ "dragonfly 8 2 4", { "start_vl", "0" }, 0 } };
	uint32_t n[16] = { 0 }, sum = 0, used = 0;
	struct routed r;
	struct verdict v;

	route(&r, &lash_LTX_fm_engine, make(cases[_i].words, cases[_i].lmc), 8, &cases[_i].set, 1);
	ck_assert_msg(r.rc == 0, "%s: %s", cases[_i].words, r.err.msg);
	v = judge(&r, cases[_i].set.value[0] == 'f');
	ck_assert_msg(verdict_is_safe(&v, false), "%s: %s", cases[_i].words, v.witness);
	for (fm_sw s = 0; s < r.snap->fab.n_switches; s++)
		for (fm_end e = 0; e < r.snap->fab.n_ends; e++)
			if (r.snap->fab.end_kind[e] == FM_END_CA && r.snap->fab.end_sw[e] != s)
				n[tables_sl(&r.tables->t, s, r.snap->fab.end_lid[e])]++, sum++;
	for (int l = 0; l < 16; l++)
		used += n[l] > 0;
	ck_assert_uint_gt(used, 1);
	for (int l = 0; l < 16; l++)
		ck_assert_msg(n[l] <= 1.1 * sum / used, "%s: lane %d of %u: %u of %u",
		    cases[_i].words, l, used, n[l], sum);
	routed_fini(&r);
}
END_TEST

/* ------------------------------------------------------------------ balance */

static bool
is_ca(const struct fm_fabric *fab, fm_end e)
{
	return fab->end_kind[e] == FM_END_CA;
}

struct balance {
	uint32_t max;
	double over_avg;
};

/* All to all, host links apart. */
static struct balance
measure(const struct routed *r)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t *load = calloc(fab->n_links, sizeof(*load)), *at = calloc(fab->n_switches, 4);
	struct balance b = { 0 };
	uint64_t sum = 0;

	for (fm_end s = 0; s < fab->n_ends; s++)
		at[fab->end_sw[s]] += is_ca(fab, s);
	for (fm_end d = 0; d < fab->n_ends; d++)
		for (fm_sw s = 0; is_ca(fab, d) && s < fab->n_switches; s++)
			for (fm_sw u = s; at[s] > 0 && u != fab->end_sw[d];) {
				fm_link l =
				    fm_link_at(fab, u, r->tables->t.lft[u][fab->end_lid[d]]);

				load[l] += at[s];
				u = fab->link_to[l];
			}
	for (fm_link l = 0; l < fab->n_links; l++) {
		sum += load[l];
		b.max = load[l] > b.max ? load[l] : b.max;
	}
	b.over_avg = (double)b.max * fab->n_links / (double)sum;
	free(load);
	free(at);
	return b;
}

static struct balance
balance_of(const struct fm_engine *engine, const char *words)
{
	struct routed r;
	struct balance b;

	route(&r, engine, make(words, 0), 8, NULL, 0);
	ck_assert_msg(r.rc == 0, "%s: %s", words, r.err.msg);
	b = measure(&r);
	routed_fini(&r);
	return b;
}

START_TEST(routes_are_balanced)
{
	static const struct {
		const char *words;
		double sssp, dfsssp;
	} bars[] = {
		{ "pgft 2 18,36 1,18 1,1", 1.05, 1.05 },
		{ "pgft 3 6,6,12 1,6,6 1,1,1", 1.05, 1.05 },
		{ "torus 8x8x8 1", 1.15, 1.2 },
		{ "torus 6x5x5 7 4", 1.45, 1.45 },
		{ "hyperx 12x8 7", 1.26, 1.26 },
		{ "dragonfly 8 4 4", 1.1, 1.2 },
		{ "kautz 5 3 7 2", 1.3, 1.4 },
	};
	struct balance b = balance_of(&sssp_LTX_fm_engine, bars[_i].words);

	ck_assert_msg(b.over_avg <= bars[_i].sssp, "sssp on %s: %f", bars[_i].words, b.over_avg);
	b = balance_of(&dfsssp_LTX_fm_engine, bars[_i].words);
	ck_assert_msg(
	    b.over_avg <= bars[_i].dfsssp, "dfsssp on %s: %f", bars[_i].words, b.over_avg);
}
END_TEST

/* Shortest paths: the average is the lower bound of the maximum.  What the trees that the lanes
 * take leave too much on one link, 1.5 times the average, is led round it. */
START_TEST(random_fabrics_are_near_the_bound)
{
	double sssp = 0, dfsssp = 0;

	for (int seed = 1; seed <= 5; seed++) {
		char words[64];

		snprintf(words, sizeof(words), "random 125 16 8 %d", seed);
		sssp += balance_of(&sssp_LTX_fm_engine, words).over_avg / 5;
		dfsssp += balance_of(&dfsssp_LTX_fm_engine, words).over_avg / 5;
	}
	ck_assert_msg(sssp <= 1.15, "sssp: %f", sssp);
	ck_assert_msg(dfsssp <= 1.15, "dfsssp: %f", dfsssp);
}
END_TEST

/* Where the lanes take but one tree to a switch up/down is compared.  Beside: what the trees
 * leave on the fullest link. */
START_TEST(one_tree_is_compared)
{
	static const struct {
		const char *words;
		uint8_t n_vls, lmc;
		uint32_t most;
		unsigned vls;
	} cases[] = {
		{ "tree3 4 4 8 4 4 16 storage=24 seed=1", 2, 0, 1100, 1 }, /* 3552 */
		{ "tree3 4 4 8 4 4 16 storage=24 seed=1", 2, 1, 1100, 1 },
	};
	struct routed r;
	struct verdict v;
	struct balance b;

	route(&r, &dfsssp_LTX_fm_engine, make(cases[_i].words, cases[_i].lmc), cases[_i].n_vls,
	    NULL, 0);
	ck_assert_msg(r.rc == 0, "%s: %s", cases[_i].words, r.err.msg);
	v = judge(&r, false);
	ck_assert_msg(verdict_is_safe(&v, false), "%s: %s", cases[_i].words, v.witness);
	ck_assert_uint_eq(v.unreachable_pairs, 0);
	ck_assert_uint_le(v.vls, cases[_i].vls);
	b = measure(&r);
	ck_assert_msg(b.max <= cases[_i].most, "%s: %u", cases[_i].words, b.max);
	routed_fini(&r);
}
END_TEST

static Suite *
layers_suite(void)
{
	Suite *s = suite_create("layers");
	TCase *channels = tcase_create("channels"), *paths = tcase_create("paths"),
	      *lanes = tcase_create("lanes"), *balance = tcase_create("balance");

	tcase_set_timeout(channels, 60);
	tcase_add_loop_test(channels, channels_stay_acyclic, 0, 3);
	suite_add_tcase(s, channels);
	tcase_set_timeout(paths, 120);
	tcase_add_test(paths, the_oracle_sees_cycles);
	tcase_add_loop_test(paths, no_path_closes_a_cycle, 0, N_SMALL);
	suite_add_tcase(s, paths);
	tcase_set_timeout(lanes, 120);
	tcase_add_loop_test(lanes, nue_fabrics_take_few_lanes, 0, N_NUE);
	tcase_add_test(lanes, too_few_lanes_are_refused);
	tcase_add_test(lanes, the_first_lane_can_be_chosen);
	tcase_add_test(lanes, paths_spread_over_the_lanes);
	tcase_add_loop_test(lanes, lash_fills_its_lanes_evenly, 0, 7);
	suite_add_tcase(s, lanes);
	tcase_set_timeout(balance, 120);
	tcase_add_loop_test(balance, routes_are_balanced, 0, 7);
	tcase_add_test(balance, random_fabrics_are_near_the_bound);
	tcase_add_loop_test(balance, one_tree_is_compared, 0, 2);
	suite_add_tcase(s, balance);
	return s;
}

int
main(void)
{
	return run_suite(layers_suite());
}
