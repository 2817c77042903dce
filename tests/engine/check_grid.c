/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torus2qos, dor and hyperx: whole, under other names, with cables and switches
 * missing.  Judged by verify (replies included), by breadth first search for
 * hops, and by SLs before and after a failure.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <fmd/own.h>

#include "core/abi/host.h"
#include "core/abi/options.h"
#include "core/graph/tables_vls.h"
#include "core/plan/plan.h"
#include "core/route/route.h"
#include "lab/judge/props.h"
#include "lab/topo/netlist.h"
#include "lib/algo/scc.h"
#include "lib/log.h"
#include "plugins/engines/torus2qos/torus2qos.h"
#include "tests/engine/oracle.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

extern const struct fm_engine torus2qos_LTX_fm_engine, dor_LTX_fm_engine, hyperx_LTX_fm_engine;

struct fabric {
	const char *words;
	struct netlist_faults faults;
	uint64_t shuffle; /* seed, 0: as generated */
	uint8_t lmc;
	uint8_t n_vls; /* of links; 0 = 8 */
};

/* Kept from case to case: its memory is warm. */
static struct router router;

struct routed {
	struct fm_arena mem;
	struct snapshot *snap;
	struct tables *tables;
	struct fm_error err;
	void *opts;
	int rc;
};

static struct snapshot *
make(const struct fabric *f)
{
	struct netlist_view view = { .n_vls = f->n_vls ? f->n_vls : 8, .ca_lmc = f->lmc };
	struct netlist plain = { 0 }, other = { 0 };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };
	uint32_t n_links, n_switches;

	ck_assert_msg(generate_words(f->words, &plain, &err) == 0, "%s: %s", f->words, err.msg);
	if (f->shuffle != 0)
		ck_assert_int_eq(netlist_shuffle(&plain, f->shuffle, &other, &err), 0);
	ck_assert_int_eq(
	    netlist_fail(f->shuffle ? &other : &plain, &f->faults, &n_links, &n_switches, &err), 0);
	ck_assert_msg(netlist_snapshot(f->shuffle ? &other : &plain, &view, &snap, &err) == 0,
	    "%s: %s", f->words, err.msg);
	netlist_fini(&plain);
	netlist_fini(&other);
	return snap;
}

static void
route_with(
    struct routed *r, const struct fm_engine *engine, struct snapshot *snap, const void *opts)
{
	memset(r, 0, sizeof(*r));
	fm_arena_init(&r->mem, SIZE_MAX);
	if (router.workers == NULL)
		ck_assert_int_eq(router_init(&router, 2, &r->err), 0);
	r->snap = snap;
	ck_assert_int_eq(options_bind(engine, NULL, snap, &r->mem, &r->opts, &r->err), 0);
	r->rc = route_once(&router, engine, opts != NULL ? opts : r->opts, &snap->fab, NULL, 0,
	    &r->tables, &r->err);
}

static void
route(struct routed *r, const struct fm_engine *engine, const struct fabric *f)
{
	route_with(r, engine, make(f), NULL);
}

static void
routed_fini(struct routed *r)
{
	if (r->rc == 0)
		tables_put(r->tables);
	snapshot_put(r->snap);
	fm_arena_fini(&r->mem);
}

static void
judge(struct routed *r, const char *words, bool loops_allowed, uint8_t most_vls)
{
	struct verify_request req = { .n_vls = 8 };
	struct verdict v;

	ck_assert_msg(r->rc == 0, "%s: %s", words, r->err.msg);
	ck_assert_int_eq(
	    verify_tables(r->snap, &r->tables->t, &req, router.workers, &v, &r->err), 0);
	ck_assert_msg(verdict_is_safe(&v, loops_allowed), "%s: %s", words, v.witness);
	ck_assert_msg(
	    v.unreachable_pairs == 0 && v.switch_pairs_unrouted == 0, "%s: %s", words, v.witness);
	ck_assert_uint_gt(v.reachable_pairs, 0);
	ck_assert_msg(v.vls <= most_vls, "%s: %u VLs", words, v.vls);
}

/* Links walked from sw to lid, each counted into load[]. */
static uint32_t
walk(const struct routed *r, fm_sw sw, uint32_t lid, uint32_t n, uint32_t *load)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t hops = 0;

	while (sw != fab->end_sw[fab->lid_end[lid]]) {
		fm_link l = fm_link_at(fab, sw, r->tables->t.lft[sw][lid]);

		ck_assert_uint_ne(l, FM_NONE);
		ck_assert_uint_lt(hops++, 200);
		if (load != NULL)
			load[l] += n;
		sw = fab->link_to[l];
	}
	return hops;
}

static void
check_shortest(const struct routed *r, const char *words)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t *hops = calloc(fab->n_switches, sizeof(*hops));

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		if (fab->lid_end[lid] == FM_NONE)
			continue;
		count_hops(fab, fab->end_sw[fab->lid_end[lid]], hops);
		for (fm_sw u = 0; u < fab->n_switches; u++)
			ck_assert_msg(
			    walk(r, u, lid, 0, NULL) == hops[u], "%s: %u to LID %u", words, u, lid);
	}
	free(hops);
}

/* Largest load of a link by 1000 average loads, all hosts to all hosts. */
static uint32_t
max_over_avg(const struct routed *r)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint32_t *load = calloc(fab->n_links, sizeof(*load)), max = 0;
	uint64_t sum = 0;

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		fm_end d = fab->lid_end[lid];

		if (d == FM_NONE || fab->end_kind[d] != FM_END_CA)
			continue;
		for (fm_end e = 0; e < fab->n_ends; e++)
			if (fab->end_kind[e] == FM_END_CA && e != d)
				walk(r, fab->end_sw[e], lid, 1, load);
	}
	for (fm_link l = 0; l < fab->n_links; l++) {
		sum += load[l];
		max = load[l] > max ? load[l] : max;
	}
	free(load);
	return (uint32_t)((uint64_t)max * 1000 * fab->n_links / sum);
}

/* ------------------------------------------------------------ whole */

static const struct {
	const char *words;
	uint8_t torus2qos, dor, hyperx; /* VLs, 0: refused */
} whole[] = {
	{ "torus 5x6 2", 2, 2, 0 },
	{ "torus 4x4x4 1", 2, 1, 1 },
	{ "torus 8x8 1", 2, 2, 0 },
	{ "torus 3x4x5 1", 2, 2, 0 },
	{ "torus 6 2", 2, 2, 0 },
	{ "torus 3x3x3 2", 1, 1, 1 },
	{ "torus 5x2x4 1 2", 2, 2, 0 },
	{ "torus 3x4x3x4 1", 2, 1, 1 },
	{ "mesh 4x5 2", 1, 1, 0 },
	{ "mesh 3x3x3 1 3", 1, 1, 0 },
	{ "hypercube 5 2", 2, 1, 1 },
	{ "hypercube 1 2", 1, 1, 1 },
	{ "hyperx 4x5 2", 0, 1, 1 },
	{ "hyperx 4x3x2 2", 0, 1, 1 },
	{ "hyperx 7 3", 0, 1, 1 },
	{ "torus 1 3", 1, 1, 1 },
};
#define N_WHOLE (int)(sizeof(whole) / sizeof(*whole))

static const struct fm_engine *const engines[] = { &torus2qos_LTX_fm_engine, &dor_LTX_fm_engine,
	&hyperx_LTX_fm_engine };

START_TEST(whole_grids)
{
	const uint8_t vls[] = { whole[_i].torus2qos, whole[_i].dor, whole[_i].hyperx };

	for (unsigned i = 0; i < 3; i++)
		for (uint64_t shuffle = 0; shuffle < 3; shuffle++) {
			struct fabric f = { .words = whole[_i].words,
				.shuffle = shuffle,
				.lmc = shuffle == 2 ? 2 : 0 };
			struct routed r;

			route(&r, engines[i], &f);
			if (vls[i] == 0) {
				ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
			} else {
				/* A shuffled hypercube is a torus as well. */
				judge(&r, f.words, false, vls[i]);
				check_shortest(&r, f.words);
			}
			routed_fini(&r);
		}
}
END_TEST

static const struct {
	const char *words;
	unsigned engine;
	bool datelines;
	uint8_t lmc;
	uint32_t most; /* max / avg in thousandths */
} loads[] = {
	{ "torus 8x8 2", 0, true, 0, 1125 },
	{ "torus 6x6x6 1", 0, true, 0, 1112 },
	{ "torus 8x8 2", 1, false, 0, 1000 },
	{ "torus 6x8 1", 1, false, 0, 1000 + 1000 },
	{ "torus 8x8 2 2", 0, true, 0, 1125 },
	{ "torus 5x5 2 2", 0, true, 0, 1000 },
	{ "torus 5x5 3 2", 0, true, 0, 1334 },
	{ "torus 5x5 2 2", 1, true, 1, 1000 },
	{ "hypercube 6 1", 1, true, 0, 1000 },
	{ "hypercube 6 1", 0, true, 0, 1500 },
	{ "hyperx 6x6 2", 2, true, 0, 1000 },
};
#define N_LOADS (int)(sizeof(loads) / sizeof(*loads))

struct dor_options {
	bool datelines;
};

START_TEST(load_is_even)
{
	struct fabric f = { .words = loads[_i].words, .lmc = loads[_i].lmc };
	struct dor_options o = { .datelines = loads[_i].datelines };
	struct routed r;
	uint32_t got;

	route_with(&r, engines[loads[_i].engine], make(&f), loads[_i].engine == 1 ? &o : NULL);
	ck_assert_msg(r.rc == 0, "%s", r.err.msg);
	got = max_over_avg(&r);
	ck_assert_msg(got <= loads[_i].most, "%s: %u", f.words, got);
	routed_fini(&r);
}
END_TEST

/* ------------------------------------------------------------ damaged */

static const struct netlist_faults faults[] = {
	{ .n_links = 1 },
	{ .links_pct = 1 },
	{ .links_pct = 5 },
	{ .links_pct = 20 },
	{ .n_switches = 1 },
	{ .n_switches = 2 },
	{ .n_links = 1, .n_switches = 1 },
};
#define N_FAULTS (sizeof(faults) / sizeof(*faults))

static const struct {
	const char *words;
	unsigned engine;
	unsigned single_link, single_switch; /* of 20 seeds, at least so many are routed */
} damaged[] = {
	{ "torus 5x6 1", 0, 20, 20 },
	{ "torus 4x5x3 1", 0, 20, 20 },
	{ "torus 4x4x4 1", 0, 20, 20 },
	{ "torus 6x6 1 2", 0, 20, 20 },
	{ "hypercube 4 1", 0, 20, 20 },
	{ "torus 3x3x3x3 1", 0, 20, 20 },
	{ "mesh 4x4 1", 0, 0, 0 },
	{ "torus 5x6 1", 1, 20, 20 },
	{ "mesh 5x5 1", 1, 20, 20 },
	{ "torus 4x5x3 1 2", 1, 20, 20 },
	{ "hypercube 5 1", 1, 20, 20 },
	{ "hyperx 6x6 2", 2, 20, 20 },
	{ "hyperx 4x4x4 1", 2, 20, 10 },
	{ "hyperx 5x3x2 1", 2, 0, 0 },
};
#define N_DAMAGED (int)(sizeof(damaged) / sizeof(*damaged))

START_TEST(damaged_grids)
{
	const struct fm_engine *engine = engines[damaged[_i].engine];
	unsigned n_routed[N_FAULTS] = { 0 };

	for (size_t k = 0; k < N_FAULTS; k++)
		for (uint64_t seed = 1; seed <= (k == 0 || k == 4 ? 20 : 6); seed++) {
			struct fabric f = {
				.words = damaged[_i].words, .faults = faults[k], .shuffle = seed % 2
			};
			struct routed r;

			f.faults.seed = seed;
			route(&r, engine, &f);
			if (r.rc == 0) {
				judge(&r, f.words, damaged[_i].engine == 1, 8);
				n_routed[k]++;
			} else {
				ck_assert_msg(r.rc == FM_E_TOPOLOGY && strlen(r.err.msg) > 20,
				    "%s: %s", f.words, r.err.msg);
			}
			routed_fini(&r);
		}
	ck_assert_msg(n_routed[0] >= damaged[_i].single_link, "%s: %u with a link less",
	    damaged[_i].words, n_routed[0]);
	ck_assert_msg(n_routed[4] >= damaged[_i].single_switch, "%s: %u with a switch less",
	    damaged[_i].words, n_routed[4]);
}
END_TEST

/* ------------------------------------------------------------ SLs through failures */

static fm_sw
find_switch(const struct fm_fabric *fab, uint64_t guid)
{
	for (fm_sw u = 0; u < fab->n_switches; u++)
		if (fab->sw_guid[u] == guid)
			return u;
	return FM_NONE;
}

static uint32_t
count_changed_sls(const struct routed *a, const struct routed *b)
{
	const struct fm_fabric *x = &a->snap->fab, *y = &b->snap->fab;
	uint32_t n = 0, n_pairs = 0;

	for (fm_sw u = 0; u < y->n_switches; u++) {
		fm_sw was = find_switch(x, y->sw_guid[u]);

		for (fm_sw v = 0; v < y->n_switches; v++) {
			fm_sw far = find_switch(x, y->sw_guid[v]);
			uint16_t lid = y->end_lid[y->sw_first_end[v]];
			uint16_t lid_was = x->end_lid[x->sw_first_end[far]];

			n_pairs++;
			n += tables_sl(&a->tables->t, was, lid_was) !=
			    tables_sl(&b->tables->t, u, lid);
		}
	}
	ck_assert_uint_gt(n_pairs, 0);
	return n;
}

START_TEST(failures_change_no_sl)
{
	static const char *const words[] = { "torus 5x6 1", "torus 4x4x4 1", "torus 6x6 1 2",
		"torus 3x4x5 1", "hypercube 6 1" };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fabric f = { .words = words[_i] };
		struct routed before, after;

		route(&before, &torus2qos_LTX_fm_engine, &f);
		f.faults = seed % 2 ? (struct netlist_faults){ .n_links = 1, .seed = seed }
				    : (struct netlist_faults){ .n_switches = 1, .seed = seed };
		route(&after, &torus2qos_LTX_fm_engine, &f);
		ck_assert_msg(after.rc == 0, "%s: %s", f.words, after.err.msg);
		ck_assert_msg(count_changed_sls(&before, &after) == 0, "%s, seed %u", f.words,
		    (unsigned)seed);
		routed_fini(&before);
		routed_fini(&after);
	}
}
END_TEST

/* With ports and GUIDs in no order: links never, nearly no switch. */
START_TEST(failures_change_no_sl_of_shuffled_grids)
{
	unsigned n_changed = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fabric f = { .words = "torus 5x6x3 1", .shuffle = seed };
		struct routed before, after;
		uint32_t n;

		route(&before, &torus2qos_LTX_fm_engine, &f);
		f.faults = seed % 2 ? (struct netlist_faults){ .n_links = 1, .seed = seed }
				    : (struct netlist_faults){ .n_switches = 1, .seed = seed };
		route(&after, &torus2qos_LTX_fm_engine, &f);
		ck_assert_msg(after.rc == 0, "%s: %s", f.words, after.err.msg);
		n = count_changed_sls(&before, &after);
		ck_assert_msg(n == 0 || f.faults.n_switches > 0, "seed %u", (unsigned)seed);
		n_changed += n > 0;
		routed_fini(&before);
		routed_fini(&after);
	}
	ck_assert_uint_le(n_changed, 2);
}
END_TEST

START_TEST(sls_are_the_same_both_ways)
{
	struct fabric f = { .words = "torus 6x4x8 1" };
	struct routed r;
	const struct fm_fabric *fab;

	route(&r, &torus2qos_LTX_fm_engine, &f);
	ck_assert_int_eq(r.rc, 0);
	fab = &r.snap->fab;
	for (fm_end a = 0; a < fab->n_ends; a++)
		for (fm_end b = 0; b < fab->n_ends; b++)
			ck_assert_uint_eq(tables_sl(&r.tables->t, fab->end_sw[a], fab->end_lid[b]),
			    tables_sl(&r.tables->t, fab->end_sw[b], fab->end_lid[a]));
	routed_fini(&r);
}
END_TEST

START_TEST(too_few_vls_are_refused)
{
	struct fabric f = { .words = "torus 5x5 1", .n_vls = 1 };
	struct routed r;

	route(&r, &torus2qos_LTX_fm_engine, &f);
	ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
	ck_assert_ptr_nonnull(strstr(r.err.msg, "needs 2 VLs"));
	routed_fini(&r);
	f.n_vls = 2;
	f.faults.n_switches = 1;
	route(&r, &torus2qos_LTX_fm_engine, &f);
	ck_assert_int_eq(r.rc, FM_E_TOPOLOGY);
	ck_assert_ptr_nonnull(strstr(r.err.msg, "needs 4 VLs"));
	routed_fini(&r);
	f.n_vls = 4;
	route(&r, &torus2qos_LTX_fm_engine, &f);
	judge(&r, f.words, false, 4);
	routed_fini(&r);
}
END_TEST

/* One turn that is not mapped like the others, or a path of the second level: there are none. */
static void
expect_levels_lost(const struct routed *r)
{
	const struct fm_fabric *fab = &r->snap->fab;
	struct fm_tables *t = &r->tables->t;
	uint8_t *vl = (uint8_t *)tables_vl_row(fab, t, 3, 1, fab->sw_first_link[3]);

	vl[11] ^= 1;
	ck_assert(!tables_has_levels(fab, t));
	vl[11] ^= 1;
	ck_assert(tables_has_levels(fab, t));
	t->sl[4][fab->end_lid[0]] += 8;
	ck_assert(!tables_has_levels(fab, t));
}

/* The second level has VLs of its own where there are 8. */
START_TEST(levels_of_quality)
{
	for (uint8_t n_vls = 4; n_vls <= 8; n_vls += 4) {
		struct fabric f = { .words = "torus 5x5 1", .n_vls = n_vls };
		struct routed r;

		route(&r, &torus2qos_LTX_fm_engine, &f);
		ck_assert_int_eq(r.rc, 0);
		for (fm_sw u = 0; u < r.snap->fab.n_switches; u++)
			for (fm_link l = r.snap->fab.sw_first_link[u];
			     l < r.snap->fab.sw_first_link[u + 1]; l++)
				for (uint8_t sl = 0; sl < 8; sl++)
					ck_assert_uint_eq(
					    tables_vl(&r.snap->fab, &r.tables->t, u, 0, l, sl + 8),
					    tables_vl(&r.snap->fab, &r.tables->t, u, 0, l, sl) +
						(n_vls == 8 ? 4 : 0));
		ck_assert_int_eq(tables_has_levels(&r.snap->fab, &r.tables->t), n_vls == 8);
		if (n_vls == 8)
			expect_levels_lost(&r);
		routed_fini(&r);
	}
}
END_TEST

/* ------------------------------------------------------------ multicast */

struct deps {
	uint8_t *edge; /* [n][n] */
	uint32_t n;
};

static void
add_dep(struct deps *d, fm_link a, uint8_t vl_a, fm_link b, uint8_t vl_b)
{
	d->edge[(size_t)(a * 8 + vl_a) * d->n + b * 8 + vl_b] = 1;
}

/* Every switch to every switch, under the SL. */
static void
add_unicast(const struct routed *r, struct deps *d)
{
	const struct fm_fabric *fab = &r->snap->fab;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (fm_sw t = 0; t < fab->n_switches; t++) {
			uint16_t lid = fab->end_lid[fab->sw_first_end[t]];
			uint8_t sl = tables_sl(&r->tables->t, s, lid), in = 0, vl, vl_before = 0;
			fm_link before = FM_NONE;

			for (fm_sw u = s; u != t;) {
				fm_link l = fm_link_at(fab, u, r->tables->t.lft[u][lid]);

				vl = tables_vl(fab, &r->tables->t, u, in, l, sl);
				if (before != FM_NONE)
					add_dep(d, before, vl_before, l, vl);
				in = fab->link_port[fab->link_rev[l]];
				before = l;
				vl_before = vl;
				u = fab->link_to[l];
			}
		}
}

/* From itself, a host, or a cable of the tree. */
static bool
may_enter(const struct fm_fabric *fab, fm_sw sw, unsigned port, const uint8_t *on_tree)
{
	fm_link l = fm_link_at(fab, sw, (uint8_t)port);

	return l == FM_NONE || on_tree[l];
}

/* At every switch of the tree from each of its cables to each other.  The VL that a
 * packet came in with depends on the turn before: all of those. */
static void
add_multicast(const struct routed *r, const fm_link *parent, uint8_t sl, struct deps *d)
{
	const struct fm_fabric *fab = &r->snap->fab;
	uint8_t *on_tree = calloc(fab->n_links, 1);

	for (fm_sw u = 0; u < fab->n_switches; u++)
		if (parent[u] != FM_NONE)
			on_tree[parent[u]] = on_tree[fab->link_rev[parent[u]]] = 1;
	for (fm_sw u = 0; u < fab->n_switches; u++)
		for (fm_link in = fab->sw_first_link[u]; in < fab->sw_first_link[u + 1]; in++)
			for (fm_link out = fab->sw_first_link[u]; out < fab->sw_first_link[u + 1];
			     out++) {
				fm_link here = fab->link_rev[in];
				fm_sw from = fab->link_to[in];

				if (!on_tree[in] || !on_tree[out] || in == out)
					continue;
				for (unsigned p = 0; p <= fab->sw_n_ports[from]; p++)
					if (p != fab->link_port[here] &&
					    may_enter(fab, from, p, on_tree))
						add_dep(d, here,
						    tables_vl(fab, &r->tables->t, from, (uint8_t)p,
							here, sl),
						    out,
						    tables_vl(fab, &r->tables->t, u,
							fab->link_port[in], out, sl));
			}
	free(on_tree);
}

static void
check_acyclic(const struct deps *d, const char *words)
{
	uint32_t *first = calloc(d->n + 1, sizeof(*first)), n = 0, n_edges = 0;
	uint32_t *component = calloc(d->n, sizeof(*component)), *to;
	struct fm_arena mem;

	for (size_t i = 0; i < (size_t)d->n * d->n; i++)
		n_edges += d->edge[i];
	to = calloc(n_edges + 1, sizeof(*to));
	for (uint32_t a = 0; a < d->n; a++) {
		first[a] = n;
		for (uint32_t b = 0; b < d->n; b++)
			if (d->edge[(size_t)a * d->n + b])
				to[n++] = b;
	}
	first[d->n] = n;
	fm_arena_init(&mem, SIZE_MAX);
	ck_assert_msg(fm_scc(d->n, first, to, component, &mem) == d->n, "%s: a cycle", words);
	fm_arena_fini(&mem);
	free(first);
	free(component);
	free(to);
}

static void
check_tree(const struct routed *r, const fm_link *parent, fm_sw root)
{
	const struct fm_fabric *fab = &r->snap->fab;

	for (fm_end e = 0; e < fab->n_ends; e++) {
		fm_sw u = fab->end_sw[e];
		uint32_t steps = 0;

		while (u != root) {
			ck_assert_uint_ne(parent[u], FM_NONE);
			ck_assert_uint_lt(steps++, fab->n_switches);
			u = fab->link_to[parent[u]];
		}
	}
	ck_assert_uint_eq(parent[root], FM_NONE);
}

START_TEST(multicast_and_unicast_have_no_cycle)
{
	static const struct fabric fabrics[] = {
		{ .words = "torus 5x6 1" },
		{ .words = "torus 4x5 1", .faults = { .n_links = 1, .seed = 3 } },
		{ .words = "torus 5x6 1", .faults = { .n_switches = 1, .seed = 2 } },
		{ .words = "torus 5x6 1", .faults = { .n_switches = 1, .seed = 5 } },
		{ .words = "torus 3x4x3 1" },
		{ .words = "torus 3x4x3 1", .faults = { .n_switches = 1, .seed = 1 } },
		{ .words = "mesh 4x4 1" },
	};
	/* as in the daemon the compiler does not see which descriptor it is, nor how large */
	const struct fm_engine *volatile engine = &torus2qos_LTX_fm_engine;
	const struct fabric *f = &fabrics[_i];
	struct routed r;
	struct fm_mcast_request req = { 0 };
	struct route_host *services;
	struct route_call call = { .budget_bytes = (size_t)1 << 30, .name = "mcast" };
	struct deps d;
	fm_link *parent;
	fm_end *members;
	fm_sw root = 0;

	route(&r, &torus2qos_LTX_fm_engine, f);
	judge(&r, f->words, false, 4);
	members = calloc(r.snap->fab.n_ends, sizeof(*members));
	parent = calloc(r.snap->fab.n_switches, sizeof(*parent));
	for (fm_end e = 0; e < r.snap->fab.n_ends; e++)
		members[req.n_members++] = e;
	req.members = members;
	services = route_host_new(router.workers, &r.err);
	ck_assert_msg(fm_own_mcast_tree(engine)(route_host_begin(services, &call), &r.snap->fab,
			  &r.tables->t, &req, r.opts, parent, &r.err) == 0,
	    "%s: %s", f->words, r.err.msg);
	route_host_end(services);
	route_host_free(services);
	for (uint32_t i = 0; i < r.snap->fab.n_switches && parent[root] != FM_NONE; i++)
		root = r.snap->fab.link_to[parent[root]];
	check_tree(&r, parent, root);
	d.n = r.snap->fab.n_links * 8;
	d.edge = calloc(d.n, d.n);
	add_unicast(&r, &d);
	check_acyclic(&d, f->words);
	/* With a switch missing only on VLs of its own: mcast.c. */
	add_multicast(&r, parent, f->faults.n_switches > 0 ? 8 : 0, &d);
	check_acyclic(&d, f->words);
	free(d.edge);
	free(members);
	free(parent);
	routed_fini(&r);
}
END_TEST

/* ------------------------------------------------------------ torus-2QoS.conf */

/* GUIDs of a torus of ours by coordinates in its names, into %0 %1 ... of the text,
 * decimal ones into &0 &1 ... */
static void
write_conf(
    const struct fm_fabric *fab, const char *const *names, const char *text, char *out, size_t room)
{
	size_t n = 0;

	for (; *text != '\0' && n + 20 < room; text++) {
		if (*text != '%' && *text != '&') {
			out[n++] = *text;
			continue;
		}
		for (fm_sw u = 0; u < fab->n_switches; u++)
			if (strcmp(fab->sw_name[u], names[text[1] - '0']) == 0)
				n += (size_t)snprintf(out + n, room - n,
				    *text == '%' ? "0x%llx" : "%llu",
				    (unsigned long long)fab->sw_guid[u]);
		text++;
	}
	out[n] = '\0';
}

static void
route_conf(struct routed *r, const struct fabric *f, const char *const *names, const char *text)
{
	struct snapshot *snap = make(f);
	struct torus_options o = { .qos_levels = 2 };
	char conf[4096];

	write_conf(&snap->fab, names, text, conf, sizeof(conf));
	o.torus_config =
	    (struct fm_file){ .path = "t.conf", .bytes = conf, .n_bytes = strlen(conf) };
	route_with(r, &torus2qos_LTX_fm_engine, snap, &o);
}

static const char *const names[] = { "sw-0-0", "sw-1-0", "sw-3-0", "sw-0-1", "sw-0-4", "sw-2-2",
	"sw-3-2", "sw-1-2", "sw-2-3" };

/* SL of the path between two switches by name. */
static uint8_t
sl_between(const struct routed *r, const char *a, const char *b)
{
	const struct fm_fabric *fab = &r->snap->fab;
	fm_sw from = FM_NONE;
	uint16_t lid = 0;

	for (fm_sw u = 0; u < fab->n_switches; u++) {
		if (strcmp(fab->sw_name[u], a) == 0)
			from = u;
		if (strcmp(fab->sw_name[u], b) == 0)
			lid = fab->end_lid[fab->sw_first_end[u]];
	}
	return tables_sl(&r->tables->t, from, lid);
}

START_TEST(conf_names_dimensions_and_datelines)
{
	struct fabric f = { .words = "torus 4x5 1" };
	struct routed r;

	/* x is our second dimension, y our first; the x dateline lies before sw-0-1. */
	route_conf(&r, &f, names,
	    "# a comment\ntorus 5 4 1\nxp_link %0 &3\nyp_link &0 %1 # up\nym_link %0 %2\n"
	    "x_dateline 1\nport_order 3 1 2\nportgroup_max_ports 20\nmax_changes 3\n");
	judge(&r, f.words, false, 2);
	check_shortest(&r, f.words);
	ck_assert_uint_eq(sl_between(&r, "sw-0-0", "sw-0-1"), 1);
	ck_assert_uint_eq(sl_between(&r, "sw-0-4", "sw-0-0"), 0);
	ck_assert_uint_eq(sl_between(&r, "sw-3-2", "sw-0-2"), 2);
	ck_assert_uint_eq(sl_between(&r, "sw-1-2", "sw-2-2"), 0);
	routed_fini(&r);
	/* The other way up, the first seed gone: its switch has no such link. */
	route_conf(&r, &f, names,
	    "mesh 4t 5T 1\nxp_link %0 %5\nyp_link %0 %3\nnext_seed\nxm_link %5 %6\nxp_link %5 %7\n"
	    "yp_link %5 %8\nx_dateline 1\n");
	judge(&r, f.words, false, 2);
	ck_assert_uint_eq(sl_between(&r, "sw-3-2", "sw-0-2"), 0);
	ck_assert_uint_eq(sl_between(&r, "sw-2-2", "sw-3-2"), 0);
	ck_assert_uint_eq(sl_between(&r, "sw-1-2", "sw-2-2"), 1);
	routed_fini(&r);
}
END_TEST

static const struct {
	const char *text, *message;
	int rc;
} bad_confs[] = {
	{ "", "t.conf:1: no torus or mesh", FM_E_CONFIG },
	{ "xp_link %0 %1\n", "t.conf:1: the first statement", FM_E_CONFIG },
	{ "torus 4 5\n", "t.conf:1: torus wants three sizes", FM_E_CONFIG },
	{ "torus 4 5x 1\n", "not \"5x\"", FM_E_CONFIG },
	{ "torus 4 5 1\nxp_link %0\n", "t.conf:2: xp_link wants the node GUIDs", FM_E_CONFIG },
	{ "torus 4 5 1\nxp_link 200f40000000100 %1\n", "not \"200f40000000100\"", FM_E_CONFIG },
	{ "torus 4 5 1\nxp_link 99999999999999999999 %1\n", "not \"99999999999999999999\"",
	    FM_E_CONFIG },
	{ "torus 4 5 1\nxp_link -1 %1\n", "not \"-1\"", FM_E_CONFIG },
	{ "torus 4 5 1\nxp_link %0 %1\nyp_link %1 %0\n", "t.conf:3: all links of a seed",
	    FM_E_CONFIG },
	{ "torus 4 5 1\nxp_link %0 %1\nxp_link %0 %2\n", "t.conf:3: xp_link was given",
	    FM_E_CONFIG },
	{ "torus 4 5 1\nx_dateline many\n", "t.conf:2: x_dateline wants a number", FM_E_CONFIG },
	{ "torus 4 5 1\nnext_seed\n", "t.conf:2: next_seed", FM_E_CONFIG },
	{ "torus 4 5 1\n\nport_order\n", "t.conf:3: port_order wants", FM_E_CONFIG },
	{ "torus 4 5 1\nseed 4\n", "t.conf:2: unknown keyword \"seed\"", FM_E_CONFIG },
	{ "torus 4 5 1\nxp_link %0 %1\nyp_link %0 %3\n", "wants both xp_link and xm_link",
	    FM_E_CONFIG },
	{ "torus 4 6 1\nxp_link %0 %1\nxm_link %0 %2\nyp_link %0 %3\n",
	    "t.conf:1: y is a ring of 6 here, but a ring of 5", FM_E_TOPOLOGY },
	{ "torus 4 5 1\nxp_link %0 %1\nxm_link %0 %2\n", "none of the 1 seeds", FM_E_TOPOLOGY },
	{ "torus 4 5 1\nxp_link 0x99 0x98\nyp_link 0x99 0x97\n", "none of the 1 seeds",
	    FM_E_TOPOLOGY },
	{ "torus 1 5 1\nyp_link %0 %3\n", "t.conf:1: 1 dimensions here, 3 in the fabric",
	    FM_E_TOPOLOGY },
	{ "torus 2 2 5\nxp_link %0 %1\nyp_link %0 %1\nzp_link %0 %3\n",
	    "the links for y lie in the dimension of another axis", FM_E_TOPOLOGY },
};

START_TEST(bad_confs_get_a_sentence)
{
	struct fabric f = { .words = "torus 4x5 1" };
	struct routed r;

	route_conf(&r, &f, names, bad_confs[_i].text);
	ck_assert_int_eq(r.rc, bad_confs[_i].rc);
	ck_assert_msg(strstr(r.err.msg, bad_confs[_i].message) != NULL, "%s instead of %s",
	    r.err.msg, bad_confs[_i].message);
	routed_fini(&r);
}
END_TEST

/* ------------------------------------------------------------ properties */

START_TEST(properties)
{
	static const struct {
		unsigned engine;
		struct fabric f;
	} cases[] = {
		{ 0, { .words = "torus 4x5 1" } },
		{ 0, { .words = "torus 5x5 1 2", .faults = { .n_switches = 1, .seed = 3 } } },
		{ 1, { .words = "torus 4x5 2" } },
		{ 1, { .words = "mesh 4x4 1", .faults = { .n_links = 1, .seed = 3 } } },
		{ 2, { .words = "hyperx 4x4 2", .faults = { .n_links = 3, .seed = 2 } } },
	};
	char report[640] = "";
	uint64_t n_allocs;
	struct props p = {
		.engine = engines[cases[_i].engine], .snap = make(&cases[_i].f), .n_vls = 8
	};

	ck_assert_msg(props_check(&p, &n_allocs, report, sizeof(report)) == PROPS_HOLD, "%s: %s",
	    cases[_i].f.words, report);
	snapshot_put(p.snap);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("grid");
	TCase *tc = tcase_create("grid");

	fm_log_set_level(FM_LOG_ERR);
	tcase_add_loop_test(tc, whole_grids, 0, N_WHOLE);
	tcase_add_loop_test(tc, load_is_even, 0, N_LOADS);
	tcase_add_loop_test(tc, damaged_grids, 0, N_DAMAGED);
	tcase_add_loop_test(tc, failures_change_no_sl, 0, 5);
	tcase_add_test(tc, failures_change_no_sl_of_shuffled_grids);
	tcase_add_test(tc, sls_are_the_same_both_ways);
	tcase_add_test(tc, too_few_vls_are_refused);
	tcase_add_test(tc, levels_of_quality);
	tcase_add_loop_test(tc, multicast_and_unicast_have_no_cycle, 0, 7);
	tcase_add_test(tc, conf_names_dimensions_and_datelines);
	tcase_add_loop_test(
	    tc, bad_confs_get_a_sentence, 0, (int)(sizeof(bad_confs) / sizeof(*bad_confs)));
	tcase_add_loop_test(tc, properties, 0, 5);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
