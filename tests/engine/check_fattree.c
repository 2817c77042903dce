/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fattree: what it promises, on whole and damaged trees and on what is none.
 * Quality by walking all pairs: the fabrics are small.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/options.h"
#include "core/plan/plan.h"
#include "core/route/route.h"
#include "core/verify/verify.h"
#include "lab/judge/metrics.h"
#include "lab/topo/netlist.h"
#include "lib/algo/median.h"
#include "lib/log.h"
#include "tests/run.h"
#include "lib/rng.h"
#include "tests/unit/generate_words.h"

extern const struct fm_engine fattree_LTX_fm_engine;
extern const struct fm_engine updn_LTX_fm_engine;
extern const struct fm_engine dfsssp_LTX_fm_engine;

struct quality {
	uint32_t a2a_max; /* routes over the most loaded link between switches */
	double a2a_avg;
	uint32_t shift_max; /* flows of one shift on one link, all shifts */
};

static struct snapshot *
snapshot_of(struct netlist *nl, uint8_t ca_lmc)
{
	struct netlist_view view = { .n_vls = 8, .ca_lmc = ca_lmc };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };

	ck_assert_msg(netlist_snapshot(nl, &view, &snap, &err) == 0, "%s", err.msg);
	return snap;
}

/* KIND ARGS with links_pct of the cables and n_switches taken out, under other
 * names when shuffle is not 0. */
static struct snapshot *
fabric(const char *words, double links_pct, uint32_t n_switches, uint64_t seed, bool shuffle)
{
	struct netlist plain = { 0 }, other = { 0 };
	struct netlist_faults faults = {
		.links_pct = links_pct, .n_switches = n_switches, .seed = seed
	};
	struct fm_error err = { 0 };
	struct snapshot *snap;
	uint32_t a = 0, b = 0;

	ck_assert_msg(generate_words(words, &plain, &err) == 0, "%s", err.msg);
	if (links_pct > 0 || n_switches > 0)
		ck_assert_int_eq(netlist_fail(&plain, &faults, &a, &b, &err), 0);
	if (shuffle)
		ck_assert_int_eq(netlist_shuffle(&plain, seed + 1, &other, &err), 0);
	snap = snapshot_of(shuffle ? &other : &plain, 0);
	netlist_fini(&plain);
	netlist_fini(&other);
	return snap;
}

static int
route(struct router *r, const struct snapshot *snap, const struct fm_tables *prev,
    struct tables **out, struct fm_error *err)
{
	return route_once(r, &fattree_LTX_fm_engine, NULL, &snap->fab, prev, 0, out, err);
}

/* With key = items. */
static int
route_with(struct router *r, const struct snapshot *snap, const char *key, const char *const *items,
    size_t n_items, struct tables **out, struct fm_error *err)
{
	struct option_table table = option_table_of(&fattree_LTX_fm_engine);
	struct option_origin origin = { 0 };
	struct option_values *values;
	struct fm_arena mem;
	void *opts = NULL;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	values = option_values_new(&mem, &table, "fattree");
	ck_assert_msg(
	    option_values_set(values, key, items, n_items, &origin, err) == 0, "%s", err->msg);
	ck_assert_msg(options_bind(&fattree_LTX_fm_engine, values, snap, &mem, &opts, err) == 0,
	    "%s", err->msg);
	rc = route_once(r, &fattree_LTX_fm_engine, opts, &snap->fab, NULL, 0, out, err);
	fm_arena_fini(&mem);
	return rc;
}

static struct tables *
route_ok(struct router *r, const struct snapshot *snap)
{
	struct fm_error err = { 0 };
	struct tables *t = NULL;

	ck_assert_msg(route(r, snap, NULL, &t, &err) == 0, "%s", err.msg);
	return t;
}

static struct verdict
judge(struct router *r, const struct snapshot *snap, const struct tables *t)
{
	struct verify_request req = { .n_vls = 1 };
	struct fm_error err = { 0 };
	struct verdict v;

	ck_assert_int_eq(verify_tables(snap, &t->t, &req, r->workers, &v, &err), 0);
	ck_assert_msg(verdict_is_safe(&v, false), "%s", v.witness);
	return v;
}

static uint32_t
hosts_of(const struct fm_fabric *f, fm_end *hosts)
{
	uint32_t n = 0;

	for (fm_end e = 0; e < f->n_ends; e++)
		if (f->end_kind[e] == FM_END_CA)
			hosts[n++] = e;
	return n;
}

/* Counts one route on every link it takes. */
static void
walk(const struct fm_fabric *f, const struct fm_tables *t, fm_end from, uint16_t lid,
    fm_link *port_link, uint32_t *load)
{
	fm_sw sw = f->end_sw[from];
	fm_sw to = f->end_sw[f->lid_end[lid]];

	while (sw != to) {
		fm_link l = port_link[sw * 256 + t->lft[sw][lid]];

		load[l]++;
		sw = f->link_to[l];
	}
}

/* hosts[n]: freed here; the shifts are theirs in this order. */
static struct quality
measure_among(
    const struct fm_fabric *f, const struct fm_tables *t, bool shifts, fm_end *hosts, uint32_t n)
{
	fm_link *port_link = calloc((size_t)f->n_switches * 256, sizeof(*port_link));
	uint32_t *load = calloc(f->n_links + 1, sizeof(*load));
	struct quality q = { 0 };
	double sum = 0;

	for (fm_sw s = 0; s < f->n_switches; s++)
		for (fm_link l = f->sw_first_link[s]; l < f->sw_first_link[s + 1]; l++)
			port_link[s * 256 + f->link_port[l]] = l;
	for (uint32_t k = 1; k < n; k++) {
		for (uint32_t i = 0; i < n; i++)
			walk(f, t, hosts[i], f->end_lid[hosts[(i + k) % n]], port_link, load);
		if (!shifts)
			continue;
		for (fm_link l = 0; l < f->n_links; l++) {
			q.shift_max = load[l] > q.shift_max ? load[l] : q.shift_max;
			load[l] = 0;
		}
	}
	for (fm_link l = 0; l < f->n_links; l++) {
		sum += load[l];
		q.a2a_max = load[l] > q.a2a_max ? load[l] : q.a2a_max;
	}
	q.a2a_avg = sum / f->n_links;
	free(hosts);
	free(port_link);
	free(load);
	return q;
}

static struct quality
measure(const struct fm_fabric *f, const struct fm_tables *t, bool shifts)
{
	fm_end *hosts = calloc(f->n_ends, sizeof(*hosts));

	return measure_among(f, t, shifts, hosts, hosts_of(f, hosts));
}

/* best_max: the least possible load of the most loaded link, that is the
 * routes that must leave a leaf (or pod) over its up-links.  0: no links. */
static struct quality
measure_in_order(const struct fm_fabric *f, const struct fm_tables *t)
{
	fm_end *hosts = calloc(f->n_ends, sizeof(*hosts));
	uint32_t n = 0;

	for (uint32_t place = 0, left = f->n_ends; left > 0; place++) {
		ck_assert_uint_le(place, f->n_ends * 2);
		left = 0;
		for (fm_end e = 0; e < f->n_ends; e++) {
			uint32_t at = t->order[f->end_lid[e]];

			if (at == place)
				hosts[n++] = e;
			left += at != FM_NONE && at > place;
		}
	}
	return measure_among(f, t, true, hosts, n);
}

static const struct {
	const char *words;
	uint32_t best_max, best_shift;
} whole[] = {
	{ "pgft 2 18,36 1,18 1,1", 630, 1 },	     /* 18 hosts * 630 others / 18 */
	{ "pgft 3 8,8,16 1,8,8 1,1,1", 1016, 1 },    /* 8 * 1016 / 8 */
	{ "pgft 3 4,4,6 1,4,4 1,1,1", 92, 1 },	     /* 4 * 92 / 4 */
	{ "pgft 4 3,3,3,3 1,3,3,3 1,1,1,1", 78, 1 }, /* 3 * 78 / 3 */
	{ "pgft 2 12,24 1,6 1,2", 276, 1 },	     /* 12 * 276 / 12 */
	{ "pgft 3 4,4,4 1,2,2 1,2,2", 96, 2 },	     /* of a pod: 16 * 48 / 8 */
	{ "pgft 1 12 1 1", 0, 1 },
};
#define N_WHOLE (int)(sizeof(whole) / sizeof(whole[0]))

START_TEST(test_whole)
{
	struct router r;
	struct fm_error err = { 0 };

	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	for (int shuffled = 0; shuffled < 2; shuffled++) {
		struct snapshot *snap = fabric(whole[_i].words, 0, 0, 5, shuffled);
		struct tables *t = route_ok(&r, snap);
		struct verdict v = judge(&r, snap, t);
		struct quality q;

		ck_assert_uint_eq(v.unreachable_pairs, 0);
		ck_assert_uint_eq(v.switch_pairs_unrouted, 0);
		if (snap->fab.n_links > 0) {
			q = measure(&snap->fab, &t->t, false);
			ck_assert_uint_eq(q.a2a_max, whole[_i].best_max);
		}
		if (!shuffled) {
			q = measure(&snap->fab, &t->t, true);
			ck_assert_uint_le(q.shift_max, whole[_i].best_shift);
		}
		q = measure_in_order(&snap->fab, &t->t);
		ck_assert_uint_le(q.shift_max, whole[_i].best_shift);
		tables_put(t);
		snapshot_put(snap);
	}
	router_fini(&r);
}
END_TEST

/* Links and switches lost: every pair is still reached, nothing is refused. */
START_TEST(test_damaged)
{
	static const char *const trees[] = { "pgft 3 6,6,8 1,6,6 1,1,1",
		"pgft 4 4,4,4,4 1,4,4,4 1,1,1,1" };
	static const double pct[] = { 0.1, 1, 5, 10 };
	struct router r;
	struct fm_error err = { 0 };

	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	for (int i = 0; i < 4; i++)
		for (uint32_t switches = 0; switches < 2; switches++) {
			struct snapshot *snap =
			    fabric(trees[_i / 2], pct[i], switches, (uint64_t)_i, _i % 2);
			struct tables *t = route_ok(&r, snap);
			struct verdict v = judge(&r, snap, t);

			ck_assert_msg(v.unreachable_pairs == 0, "%s", v.witness);
			tables_put(t);
			snapshot_put(snap);
		}
	router_fini(&r);
}
END_TEST

/* 5 % of the links lost: the balance that is left, median of the seeds. */
START_TEST(test_balance)
{
	enum { N_SEEDS = 20 };
	struct metrics_request req = { .ebb_samples = 100, .seed = 1 };
	double ebb[N_SEEDS], a2a[N_SEEDS], median;
	struct router r;
	struct fm_error err = { 0 };

	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		struct snapshot *snap = fabric("pgft 3 8,8,16 1,8,8 1,1,1", 5, 0, seed, seed % 2);
		struct tables *t = route_ok(&r, snap);
		struct metrics m;

		ck_assert_int_eq(metrics_compute(snap, &t->t, &req, r.workers, &m, &err), 0);
		ebb[seed] = m.ebb;
		a2a[seed] = m.a2a_max_over_avg;
		tables_put(t);
		snapshot_put(snap);
	}
	median = fm_median(ebb, N_SEEDS);
	ck_assert_msg(median >= 0.47, "eBB %.3f", median);
	median = fm_median(a2a, N_SEEDS);
	ck_assert_msg(median <= 2.2, "max/avg %.3f", median);
	router_fini(&r);
}
END_TEST

static const char *const others[] = { "torus 6x5x4 2", "torus 4x4 2", "torus 8 2",
	"random 60 8 4 1", "dragonfly 8 4 4", "hypercube 4 2", "kautz 3 3 2", "slimfly 5 4",
	"hyperx 4x4 3", "mesh 5x5 2" };
#define N_OTHERS (int)(sizeof(others) / sizeof(others[0]))

START_TEST(test_refused)
{
	struct snapshot *snap = fabric(others[_i], 0, 0, 0, false);
	struct tables *t = NULL;
	struct router r;
	struct fm_error err = { 0 };

	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	ck_assert_int_eq(route(&r, snap, NULL, &t, &err), FM_E_TOPOLOGY);
	ck_assert_msg(strstr(err.msg, "are joined though both are") != NULL, "%s", err.msg);
	snapshot_put(snap);
	router_fini(&r);
}
END_TEST

static void
check_equal(const struct fm_fabric *f, const struct tables *a, const struct tables *b)
{
	for (fm_sw s = 0; s < f->n_switches; s++)
		ck_assert_mem_eq(a->t.lft[s], b->t.lft[s], a->t.lft_stride);
}

/* The same bytes at 1, 2 and 8 workers, and with its own output as history. */
START_TEST(test_pure)
{
	struct snapshot *snap = fabric("pgft 3 6,6,8 1,6,6 1,1,1", _i * 3, 0, 3, true);
	struct fm_error err = { 0 };
	struct router r1, r;
	struct tables *t1, *t;

	ck_assert_int_eq(router_init(&r1, 1, &err), 0);
	t1 = route_ok(&r1, snap);
	for (unsigned workers = 2; workers <= 8; workers *= 4) {
		ck_assert_int_eq(router_init(&r, workers, &err), 0);
		t = route_ok(&r, snap);
		check_equal(&snap->fab, t1, t);
		tables_put(t);
		ck_assert_int_eq(route(&r, snap, &t1->t, &t, &err), 0);
		check_equal(&snap->fab, t1, t);
		tables_put(t);
		router_fini(&r);
	}
	tables_put(t1);
	router_fini(&r1);
	snapshot_put(snap);
}
END_TEST

/* Every allocation made to fail once: RESOURCE, never a crash. */
START_TEST(test_memory)
{
	struct snapshot *snap = fabric("pgft 3 3,3,4 1,3,3 1,1,1", 4, 0, 1, false);
	struct fm_error err = { 0 };
	struct router r;
	struct tables *t = NULL;
	uint64_t at = 0;
	int rc;

	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	do {
		r.scratch_fail_at = ++at;
		rc = route(&r, snap, NULL, &t, &err);
		ck_assert(rc == 0 || rc == FM_E_RESOURCE);
	} while (rc != 0);
	ck_assert_uint_gt(at, 50);
	tables_put(t);
	router_fini(&r);
	snapshot_put(snap);
}
END_TEST

/* Switches between s and the leaf of lid, in via; how many. */
static int
route_via(const struct fm_fabric *f, const struct fm_tables *t, fm_sw s, uint16_t lid, fm_sw *via)
{
	fm_sw to = f->end_sw[f->lid_end[lid]];
	int n = 0;

	for (s = f->link_to[fm_link_at(f, s, t->lft[s][lid])]; s != to && n < 8;
	     s = f->link_to[fm_link_at(f, s, t->lft[s][lid])])
		via[n++] = s;
	return n;
}

/* The routes of two LIDs of one port have no switch between in common. */
static void
check_disjoint(
    const struct fm_fabric *f, const struct fm_tables *t, fm_sw s, uint16_t a, uint16_t b)
{
	fm_sw via_a[8], via_b[8];
	int n_a = route_via(f, t, s, a, via_a), n_b = route_via(f, t, s, b, via_b);

	for (int i = 0; i < n_a; i++)
		for (int j = 0; j < n_b; j++)
			ck_assert_uint_ne(via_a[i], via_b[j]);
}

/* The LIDs of one port are reached from a far leaf by different switches all
 * the way. */
START_TEST(test_lmc)
{
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *snap;
	struct tables *t;
	struct router r;
	const struct fm_fabric *f;

	ck_assert_int_eq(generate_words("pgft 3 4,4,4 1,4,4 1,1,1", &nl, &err), 0);
	snap = snapshot_of(&nl, 2);
	f = &snap->fab;
	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	t = route_ok(&r, snap);
	ck_assert_uint_eq(judge(&r, snap, t).unreachable_pairs, 0);
	for (fm_end e = 0; e < f->n_ends; e++)
		for (fm_sw s = 0; f->end_kind[e] == FM_END_CA && s < f->n_switches; s++) {
			bool leaf = f->sw_first_end[s + 1] - f->sw_first_end[s] > 1;
			const uint8_t *at = &t->t.lft[s][f->end_lid[e]];

			if (!leaf || f->end_sw[e] == s)
				continue;
			for (int i = 0; i < 4; i++)
				for (int j = 0; j < i; j++) {
					ck_assert_uint_ne(f->link_to[fm_link_at(f, s, at[i])],
					    f->link_to[fm_link_at(f, s, at[j])]);
					check_disjoint(f, &t->t, s, (uint16_t)(f->end_lid[e] + i),
					    (uint16_t)(f->end_lid[e] + j));
				}
		}
	tables_put(t);
	router_fini(&r);
	snapshot_put(snap);
	netlist_fini(&nl);
}
END_TEST

/* Routed, safe, and every pair joined. */
static void
check_routed(struct netlist *nl)
{
	struct snapshot *snap = snapshot_of(nl, 0);
	struct fm_error err = { 0 };
	struct tables *t;
	struct verdict v;
	struct router r;

	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	t = route_ok(&r, snap);
	v = judge(&r, snap, t);
	ck_assert_msg(v.unreachable_pairs == 0, "%s", v.witness);
	tables_put(t);
	snapshot_put(snap);
	router_fini(&r);
}

static uint32_t
node_named(const struct netlist *nl, const char *name)
{
	for (uint32_t i = 0; i < nl->n_nodes; i++)
		if (strcmp(nl->nodes[i].desc, name) == 0)
			return i;
	ck_abort_msg("no node %s", name);
	return 0;
}

/* A port of node made free. */
static unsigned
free_port(struct netlist *nl, const char *name)
{
	uint32_t node = node_named(nl, name);

	netlist_uncable(nl, node, 1);
	return 1;
}

static void
join(struct netlist *nl, const char *a, const char *b)
{
	unsigned port_a = free_port(nl, a), port_b = free_port(nl, b);

	netlist_cable(nl, node_named(nl, a), port_a, node_named(nl, b), port_b, 25000);
}

static void
plant(struct netlist *nl, enum netlist_node_type type, const char *name, const char *at)
{
	unsigned port = free_port(nl, at);
	uint32_t node = netlist_add(nl, type, name, name, 0, 1);

	netlist_cable(nl, node, 1, node_named(nl, at), port, 25000);
}

/* Storage and a router on spines: no leaf is made there. */
START_TEST(test_hosts_above)
{
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };

	ck_assert_int_eq(generate_words("pgft 3 4,4,4 1,4,4 1,1,1", &nl, &err), 0);
	plant(&nl, NETLIST_CA, "storage-1", "spine-1-1");
	plant(&nl, NETLIST_CA, "storage-2", "spine-2-3");
	plant(&nl, NETLIST_ROUTER, "router-1", "spine-4-4");
	plant(&nl, NETLIST_CA, "storage-3", "agg-2-2");
	check_routed(&nl);
	netlist_fini(&nl);
}
END_TEST

/* Storage on two switches of the second level: a tree all the same, in one VL, where no link
 * bears much more than the mean. */
START_TEST(test_storage)
{
	static const struct fm_engine *const engines[] = { &fattree_LTX_fm_engine,
		&updn_LTX_fm_engine, &dfsssp_LTX_fm_engine };
	static const char *const at[] = { "agg-4-1", "agg-4-3" };
	struct metrics_request req = { .ebb_samples = 10, .seed = 1 };
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };
	struct tables *t = NULL;
	struct snapshot *snap;
	struct fm_arena mem;
	void *opts = NULL;
	struct metrics m;
	struct router r;

	fm_arena_init(&mem, SIZE_MAX);
	ck_assert_int_eq(generate_words("pgft 3 8,5,4 1,4,4 1,2,1", &nl, &err), 0);
	for (unsigned i = 0; i < 6; i++) {
		static const char *const names[] = { "s1", "s2", "s3", "s4", "s5", "s6" };
		uint32_t sw = node_named(&nl, at[i % 2]), node;

		netlist_uncable(&nl, sw, 1 + i / 2);
		node = netlist_add(&nl, NETLIST_CA, names[i], names[i], 0, 1);
		netlist_cable(&nl, node, 1, sw, 1 + i / 2, 25000);
	}
	snap = snapshot_of(&nl, 0);
	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	ck_assert_int_eq(options_bind(engines[_i], NULL, snap, &mem, &opts, &err), 0);
	ck_assert_msg(
	    route_once(&r, engines[_i], opts, &snap->fab, NULL, 0, &t, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(t->t.n_vls_used, 1);
	judge(&r, snap, t);
	ck_assert_int_eq(metrics_compute(snap, &t->t, &req, r.workers, &m, &err), 0);
	ck_assert_msg(
	    m.a2a_max_over_avg <= 2.4, "%s: max/avg %.3f", engines[_i]->name, m.a2a_max_over_avg);
	fm_arena_fini(&mem);
	tables_put(t);
	snapshot_put(snap);
	router_fini(&r);
	netlist_fini(&nl);
}
END_TEST

static void
find_warning(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	(void)subsystem;
	if (level == FM_LOG_WARN && strstr(line, "1 cable between switches of one tier") != NULL &&
	    strstr(line, "spine-1-1 port 1") != NULL && strstr(line, "spine-2-2 port 1") != NULL)
		++*(int *)arg;
}

/* Leaves cabled to the wrong pod; two spines joined, which is said once. */
START_TEST(test_miswired)
{
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };
	int n_warnings = 0;

	ck_assert_int_eq(generate_words("pgft 3 4,4,4 1,4,4 1,1,1", &nl, &err), 0);
	join(&nl, "leaf-1-1", "agg-3-2");
	join(&nl, "leaf-3-2", "agg-1-4");
	fm_log_set_sink(find_warning, &n_warnings);
	check_routed(&nl);
	ck_assert_int_eq(n_warnings, 0);
	join(&nl, "spine-1-1", "spine-2-2");
	check_routed(&nl);
	ck_assert_int_eq(n_warnings, 1);
	fm_log_set_sink(NULL, NULL);
	netlist_fini(&nl);
}
END_TEST

/* ----------------------------------------------------------------- options */

/* One host of each leaf is no compute node, at another place in each: the others'
 * shifts are free of conflicts only if they are numbered without it. */
static bool
is_storage(const struct fm_fabric *f, fm_end e)
{
	fm_sw s = f->end_sw[e];

	return f->end_kind[e] == FM_END_CA && e - f->sw_first_end[s] == 1 + s * s % 6;
}

static uint32_t
shift_max_of_compute(const struct fm_fabric *f, const struct tables *t)
{
	fm_end *hosts = calloc(f->n_ends, sizeof(*hosts));
	uint32_t n = 0;

	for (fm_end e = 0; e < f->n_ends; e++)
		if (f->end_kind[e] == FM_END_CA && !is_storage(f, e))
			hosts[n++] = e;
	return measure_among(f, &t->t, true, hosts, n).shift_max;
}

/* cn, io, route_last; the second round from a file as OpenSM reads it. */
START_TEST(test_classes)
{
	static const char *const keys[] = { "cn", "io", "route_last" };
	struct snapshot *snap = fabric("pgft 2 6,7 1,6 1,1", 0, 0, 0, false);
	const struct fm_fabric *f = &snap->fab;
	char path[] = "/tmp/fmd-check-fattree-XXXXXX", file_item[64];
	char(*guid)[32] = calloc(f->n_ends, sizeof(*guid));
	const char **items = calloc(f->n_ends, sizeof(*items)), *file = file_item;
	FILE *list = fdopen(mkstemp(path), "w");
	struct fm_error err = { 0 };
	struct tables *plain, *t, *from_file;
	struct router r;
	size_t n = 0;

	for (fm_end e = 0; e < f->n_ends; e++) {
		if (f->end_kind[e] != FM_END_CA || is_storage(f, e) == (_i == 0))
			continue;
		snprintf(guid[n], sizeof(*guid), "0x%llx", (unsigned long long)f->end_guid[e]);
		items[n] = guid[n];
		fprintf(list, "%s%s # %s\n", n % 2 ? "  " : "", guid[n], f->end_name[e]);
		n++;
	}
	fclose(list);
	snprintf(file_item, sizeof(file_item), "file:%s", path);
	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	plain = route_ok(&r, snap);
	ck_assert_uint_gt(shift_max_of_compute(f, plain), 1);
	ck_assert_int_eq(route_with(&r, snap, keys[_i], items, n, &t, &err), 0);
	judge(&r, snap, t);
	ck_assert_uint_eq(shift_max_of_compute(f, t), 1);
	ck_assert_int_eq(route_with(&r, snap, keys[_i], &file, 1, &from_file, &err), 0);
	check_equal(f, t, from_file);
	unlink(path);
	tables_put(plain);
	tables_put(t);
	tables_put(from_file);
	router_fini(&r);
	snapshot_put(snap);
	free(guid);
	free(items);
}
END_TEST

/* n hosts, any of those that there are. */
static void
draw_group(const struct fm_fabric *f, struct fm_rng *rng, size_t n, fm_end *group)
{
	uint32_t n_hosts = 0;

	for (fm_end e = 0; e < f->n_ends; e++)
		if (f->end_kind[e] == FM_END_CA) {
			size_t at = n_hosts < n ? n_hosts : fm_rng_below(rng, n_hosts + 1);

			n_hosts++;
			if (at < n)
				group[at] = e;
		}
}

/* 0: leaf, 1: agg, 2: spine */
static unsigned
tier_of(const struct fm_fabric *f, fm_sw s)
{
	return f->sw_name[s][0] == 'l' ? 0 : f->sw_name[s][0] == 'a' ? 1 : 2;
}

/* The links up on the way from a leaf to a host: mask[link] |= bit. */
static void
mark_links_up(const struct fm_fabric *f, const struct tables *t, fm_sw s, fm_end e, uint32_t bit,
    uint32_t *mask)
{
	while (s != f->end_sw[e]) {
		fm_link l = fm_link_at(f, s, t->t.lft[s][f->end_lid[e]]);

		if (tier_of(f, f->link_to[l]) < tier_of(f, s))
			return;
		mask[l] |= bit;
		s = f->link_to[l];
	}
}

/* A link up to more of the hosts than `most[tier]`; FM_NONE: there is none. */
static fm_link
find_uneven(const struct fm_fabric *f, const struct tables *t, const fm_end *group, size_t n,
    const uint32_t most[2])
{
	uint32_t *mask = calloc(f->n_links, sizeof(*mask));
	fm_link found = FM_NONE;

	for (fm_sw s = 0; s < f->n_switches; s++)
		for (size_t i = 0; i < n && tier_of(f, s) == 0; i++)
			mark_links_up(f, t, s, group[i], UINT32_C(1) << i, mask);
	for (fm_sw s = 0; s < f->n_switches; s++)
		for (fm_link l = f->sw_first_link[s]; l < f->sw_first_link[s + 1]; l++)
			if (mask[l] != 0 &&
			    (uint32_t)__builtin_popcount(mask[l]) > most[tier_of(f, s)])
				found = l;
	free(mask);
	return found;
}

/* Few hosts, at any leaves: no link up has two of them before each has one. */
START_TEST(a_group_is_dealt)
{
	static const char *const keys[] = { "cn", "io", "route_last" };
	static const struct {
		const char *words;
		uint32_t ways;
	} fabrics[] = { { "pgft 2 6,12 1,6 1,1", 6 }, { "pgft 2 9,12 1,6 1,1", 6 },
		{ "pgft 3 4,4,6 1,4,4 1,1,1", 4 } };
	struct fm_rng rng;

	fm_rng_seed(&rng, 77 + (uint64_t)_i);
	for (unsigned round = 0; round < 36; round++) {
		struct snapshot *snap = fabric(fabrics[round % 3].words, 0, 0, 0, false);
		uint32_t n = 2 + (uint32_t)fm_rng_below(&rng, 19), ways = fabrics[round % 3].ways;
		uint32_t most[2] = { (n + ways - 1) / ways, 0 };
		struct fm_error err = { 0 };
		char guid[20][32];
		const char *items[20];
		fm_end group[20];
		struct tables *t;
		struct router r;

		most[1] = (most[0] + ways - 1) / ways;
		draw_group(&snap->fab, &rng, n, group);
		for (uint32_t i = 0; i < n; i++) {
			snprintf(guid[i], sizeof(guid[i]), "0x%llx",
			    (unsigned long long)snap->fab.end_guid[group[i]]);
			items[i] = guid[i];
		}
		ck_assert_int_eq(router_init(&r, 2, &err), 0);
		ck_assert_int_eq(route_with(&r, snap, keys[_i], items, n, &t, &err), 0);
		judge(&r, snap, t);
		ck_assert_msg(find_uneven(&snap->fab, t, group, n, most) == FM_NONE,
		    "%s, %u hosts in %s, round %u", fabrics[round % 3].words, n, keys[_i], round);
		tables_put(t);
		router_fini(&r);
		snapshot_put(snap);
	}
}
END_TEST

/* Nobody left to balance for: said, not guessed. */
START_TEST(test_no_compute_node)
{
	struct snapshot *snap = fabric("pgft 2 4,4 1,2 1,2", 0, 0, 0, false);
	const char *nobody = "name:no-such-host", *everybody = "name:*";
	struct fm_error err = { 0 };
	struct tables *t = NULL;
	struct router r;

	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	ck_assert_int_eq(route_with(&r, snap, "cn", &nobody, 1, &t, &err), FM_E_TOPOLOGY);
	ck_assert_ptr_nonnull(strstr(err.msg, "no host is left as a compute node"));
	ck_assert_int_eq(route_with(&r, snap, "io", &everybody, 1, &t, &err), FM_E_TOPOLOGY);
	ck_assert_int_eq(route_with(&r, snap, "io", &nobody, 1, &t, &err), 0);
	tables_put(t);
	router_fini(&r);
	snapshot_put(snap);
}
END_TEST

/* What is no tree by its hosts is one by its roots. */
START_TEST(test_roots)
{
	struct snapshot *snap = fabric("mesh 3x3 2", 0, 0, 0, false);
	const char *root = "name:sw-1-1", *nobody = "name:no-such-switch";
	struct fm_error err = { 0 };
	struct tables *t = NULL;
	struct router r;

	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	ck_assert_int_eq(route(&r, snap, NULL, &t, &err), FM_E_TOPOLOGY);
	ck_assert_msg(route_with(&r, snap, "roots", &root, 1, &t, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(judge(&r, snap, t).unreachable_pairs, 0);
	tables_put(t);
	ck_assert_int_eq(route_with(&r, snap, "roots", &nobody, 1, &t, &err), FM_E_TOPOLOGY);
	router_fini(&r);
	snapshot_put(snap);
}
END_TEST

/* Storage on two spines of different planes: two hops the wrong way. */
START_TEST(test_reverse_hops)
{
	static const char *const limits[] = { "0", "1", "2", "64" };
	struct netlist nl = { 0 };
	struct fm_error err = { 0 };
	struct snapshot *snap;
	struct tables *t = NULL;
	struct verdict v;
	struct router r;

	ck_assert_int_eq(generate_words("pgft 3 4,4,4 1,4,4 1,1,1", &nl, &err), 0);
	plant(&nl, NETLIST_CA, "storage-1", "spine-1-1");
	plant(&nl, NETLIST_CA, "storage-2", "spine-2-3");
	snap = snapshot_of(&nl, 0);
	ck_assert_int_eq(router_init(&r, 2, &err), 0);
	ck_assert_int_eq(route_with(&r, snap, "max_reverse_hops", &limits[_i], 1, &t, &err), 0);
	v = judge(&r, snap, t);
	ck_assert_uint_eq(v.unreachable_pairs, _i < 2 ? 2 : 0);
	tables_put(t);
	router_fini(&r);
	snapshot_put(snap);
	netlist_fini(&nl);
}
END_TEST

/* More tiers than OpenSM's eight. */
START_TEST(test_many_tiers)
{
	static const char *const trees[] = {
		"pgft 10 2,2,2,2,2,2,2,2,2,2 1,2,1,1,2,1,1,1,1,2 1,1,1,1,1,1,1,1,1,1",
		"pgft 12 2,2,2,1,1,1,1,1,1,1,1,2 1,1,2,1,1,1,2,1,1,1,1,1 1,1,1,1,1,1,1,1,1,1,1,2"
	};

	for (int damaged = 0; damaged < 2; damaged++) {
		struct snapshot *snap = fabric(trees[_i], damaged, 0, 3, damaged);
		struct fm_error err = { 0 };
		struct router r;
		struct tables *t;

		ck_assert_int_eq(router_init(&r, 2, &err), 0);
		t = route_ok(&r, snap);
		ck_assert_uint_eq(judge(&r, snap, t).unreachable_pairs, 0);
		tables_put(t);
		router_fini(&r);
		snapshot_put(snap);
	}
}
END_TEST

static uint32_t
add_numbered(
    struct netlist *nl, enum netlist_node_type type, const char *kind, int i, unsigned ports)
{
	char name[32];

	snprintf(name, sizeof(name), "%s-%d", kind, i);
	return netlist_add(nl, type, name, name, 0, ports);
}

/* A director with hosts on half of its line cards and leaves below the others:
 * counted from the hosts the spines are of two tiers at once. */
START_TEST(test_uneven_director)
{
	struct netlist nl = { 0 };
	uint32_t spine[2], line, leaf, host;

	for (int i = 0; i < 2; i++)
		spine[i] = add_numbered(&nl, NETLIST_SWITCH, "spine", i, 8);
	for (int i = 0; i < 6; i++) {
		line = add_numbered(&nl, NETLIST_SWITCH, "line", i, 8);
		for (unsigned j = 0; j < 2; j++)
			netlist_cable(&nl, line, j + 1, spine[j], (unsigned)i + 1, 25000);
		for (unsigned j = 3; j < 6; j++) {
			leaf = i < 3 ? add_numbered(&nl, NETLIST_SWITCH, "leaf", i * 8 + (int)j, 4)
				     : line;
			if (leaf != line)
				netlist_cable(&nl, leaf, 1, line, j, 25000);
			host = add_numbered(&nl, NETLIST_CA, "host", i * 8 + (int)j, 1);
			netlist_cable(&nl, host, 1, leaf, leaf != line ? 2 : j, 25000);
		}
	}
	check_routed(&nl);
	netlist_fini(&nl);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("fattree");
	TCase *tc = tcase_create("fattree");

	tcase_add_loop_test(tc, test_whole, 0, N_WHOLE);
	tcase_add_loop_test(tc, test_damaged, 0, 4);
	tcase_add_test(tc, test_balance);
	tcase_add_loop_test(tc, test_refused, 0, N_OTHERS);
	tcase_add_loop_test(tc, test_pure, 0, 3);
	tcase_add_test(tc, test_memory);
	tcase_add_test(tc, test_lmc);
	tcase_add_test(tc, test_hosts_above);
	tcase_add_loop_test(tc, test_storage, 0, 3);
	tcase_add_test(tc, test_miswired);
	tcase_add_test(tc, test_uneven_director);
	tcase_add_loop_test(tc, test_classes, 0, 3);
	tcase_add_loop_test(tc, a_group_is_dealt, 0, 3);
	tcase_add_test(tc, test_no_compute_node);
	tcase_add_test(tc, test_roots);
	tcase_add_loop_test(tc, test_reverse_hops, 0, 4);
	tcase_add_loop_test(tc, test_many_tiers, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
