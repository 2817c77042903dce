/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adaptive routing as engines give it: every equally good port and no other, by
 * breadth first search; safe over the union, whole and damaged; the static
 * tables as without; tables of groups that are too small.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/engine/fallback.h"
#include "core/plan/plan.h"
#include "core/route/route.h"
#include "lab/topo/netlist.h"
#include "lib/log.h"
#include "tests/engine/oracle.h"
#include "tests/run.h"
#include "tests/unit/generate_words.h"

#undef fail /* check.h has an old macro of this name */

extern const struct fm_engine minhop_LTX_fm_engine, updn_LTX_fm_engine, fattree_LTX_fm_engine,
    dnup_LTX_fm_engine, dragonfly_LTX_fm_engine;

static const struct fm_engine *const engines[] = { &fattree_LTX_fm_engine, &updn_LTX_fm_engine,
	&dnup_LTX_fm_engine, &fallback_engine, &minhop_LTX_fm_engine, &dragonfly_LTX_fm_engine };
#define N_ENGINES (sizeof(engines) / sizeof(*engines))
#define N_TREE_ENGINES (N_ENGINES - 1)

static struct router router;

static struct snapshot *
make(const char *words, double links_pct, uint64_t seed, uint8_t lmc)
{
	struct netlist_view view = { .n_vls = 8, .ca_lmc = lmc };
	struct netlist_faults faults = { .links_pct = links_pct, .seed = seed };
	struct netlist nl = { 0 };
	struct snapshot *snap = NULL;
	struct fm_error err = { 0 };
	uint32_t n_links, n_switches;

	ck_assert_msg(generate_words(words, &nl, &err) == 0, "%s: %s", words, err.msg);
	if (links_pct > 0)
		ck_assert_int_eq(netlist_fail(&nl, &faults, &n_links, &n_switches, &err), 0);
	ck_assert_msg(netlist_snapshot(&nl, &view, &snap, &err) == 0, "%s: %s", words, err.msg);
	netlist_fini(&nl);
	return snap;
}

/* NULL: the engine refuses the fabric. */
static struct tables *
route(const struct fm_engine *engine, struct snapshot *snap, uint16_t max_groups)
{
	struct fm_error err = { 0 };
	struct tables *t = NULL;
	struct fm_arena mem;
	void *opts;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	router.set.ar_max_groups = max_groups;
	ck_assert_int_eq(options_bind(engine, NULL, snap, &mem, &opts, &err), 0);
	rc = route_once(&router, engine, opts, &snap->fab, NULL, 0, &t, &err);
	ck_assert_msg(rc == 0 || rc == FM_E_TOPOLOGY, "%s: %s", engine->name, err.msg);
	fm_arena_fini(&mem);
	return t;
}

static struct verdict
judge(struct snapshot *snap, const struct tables *t)
{
	struct verify_request req = { .n_vls = 8 };
	struct fm_error err = { 0 };
	struct verdict v;

	ck_assert_int_eq(verify_tables(snap, &t->t, &req, router.workers, &v, &err), 0);
	return v;
}

/* All ports to switches that are one hop nearer. */
static void
nearer_ports(const struct fm_fabric *fab, fm_sw sw, const uint32_t *hops, uint64_t ports[4])
{
	memset(ports, 0, 4 * sizeof(*ports));
	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		if (hops[fab->link_to[l]] + 1 == hops[sw])
			ports[fab->link_port[l] / 64] |= (uint64_t)1 << (fab->link_port[l] % 64);
}

/* Ports from which a packet for lid may choose. */
static uint32_t
choice(const struct tables *t, fm_sw sw, uint32_t lid, uint64_t ports[4])
{
	uint16_t g = t->t.ar_group[sw][lid];
	uint8_t port = t->t.lft[sw][lid];
	uint32_t n = 0;

	memset(ports, 0, 4 * sizeof(*ports));
	if (g == 0)
		ports[port / 64] |= (uint64_t)1 << (port % 64);
	else
		memcpy(ports, t->t.ar_ports[sw][g], 4 * sizeof(*ports));
	for (unsigned w = 0; w < 4; w++)
		n += (uint32_t)__builtin_popcountll(ports[w]);
	return n;
}

static const struct {
	const char *words;
	uint8_t lmc;
} trees[] = { { "pgft 2 6,6 1,6 1,1", 0 }, { "pgft 2 4,4 1,2 1,3", 2 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", 0 }, { "pgft 3 4,4,4 1,2,2 1,1,2", 1 } };
#define N_TREES (sizeof(trees) / sizeof(*trees))

/* To hosts: exactly the ports that are one hop nearer, wherever it is. */
START_TEST(whole_trees_use_every_shortest_way_to_hosts)
{
	struct snapshot *snap = make(trees[_i].words, 0, 0, trees[_i].lmc);
	const struct fm_fabric *fab = &snap->fab;
	uint32_t *hops = calloc(fab->n_switches, sizeof(*hops));

	for (size_t i = 0; i < N_TREE_ENGINES; i++) {
		struct tables *t = route(engines[i], snap, 64);
		uint64_t want[4], got[4];
		uint32_t several = 0;

		ck_assert_ptr_nonnull(t);
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
			fm_end e = fab->lid_end[lid];

			if (e == FM_NONE || fab->end_kind[e] == FM_END_SWITCH)
				continue;
			count_hops(fab, fab->end_sw[e], hops);
			for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
				if (sw == fab->end_sw[e]) {
					ck_assert_uint_eq(t->t.ar_group[sw][lid], 0);
					continue;
				}
				nearer_ports(fab, sw, hops, want);
				/* a top of a turned tree may know one way only */
				several += choice(t, sw, lid, got) > 1;
				ck_assert_msg(memcmp(want, got, sizeof(got)) == 0,
				    "%s, %s: switch %u, LID %u: %llx, should be %llx",
				    trees[_i].words, engines[i]->name, sw, lid,
				    (unsigned long long)got[0], (unsigned long long)want[0]);
			}
		}
		ck_assert_uint_gt(several, 0);
		ck_assert_uint_eq(t->adaptive.n_dropped, 0);
		tables_put(t);
	}
	free(hops);
	snapshot_put(snap);
}
END_TEST

static const char *const fabrics[] = { "pgft 3 4,4,4 1,4,4 1,1,1", "pgft 3 4,4,4 1,2,2 1,1,2",
	"pgft 2 6,6 1,6 1,1", "torus 4x4x3 1", "mesh 5x4 2", "hypercube 4 2", "dragonfly 4 2 2",
	"dragonfly 4 2 4 4", "dragonfly 6 1 3 3", "random 24 5 3 7" };
#define N_FABRICS (sizeof(fabrics) / sizeof(*fabrics))
static const double damages[] = { 0, 1, 5, 20 };

/* What engines promise they promise over all alternatives; all pairs that have
 * a route have it whatever is chosen; the forwarding tables are those of ever. */
START_TEST(the_union_is_safe_whole_and_damaged)
{
	const char *words = fabrics[_i];
	uint64_t n_adaptive = 0;

	for (uint64_t seed = 0; seed < n_cases(20); seed++) {
		struct snapshot *snap = make(words, damages[seed % 4], seed, seed % 5 == 4);

		for (size_t i = 0; i < N_ENGINES; i++) {
			struct tables *t = route(engines[i], snap, 64), *plain;
			bool promised = (engines[i]->traits & FM_PROMISES_NO_CREDIT_LOOPS) != 0;
			struct verdict v, w;

			if (t == NULL)
				continue;
			plain = route(engines[i], snap, 0);
			v = judge(snap, t);
			w = judge(snap, plain);
			ck_assert_msg(verdict_is_safe(&v, !promised), "%s, seed %llu, %s: %s",
			    words, (unsigned long long)seed, engines[i]->name, v.witness);
			ck_assert_uint_eq(v.unreachable_pairs, w.unreachable_pairs);
			ck_assert_uint_eq(v.reachable_pairs, w.reachable_pairs);
			ck_assert_uint_ge(v.max_hops, w.max_hops);
			for (fm_sw s = 0; s < snap->fab.n_switches; s++)
				ck_assert_mem_eq(
				    t->t.lft[s], plain->t.lft[s], snap->fab.max_lid + 1u);
			ck_assert_ptr_null(plain->t.ar_group);
			n_adaptive += t->adaptive.n_adaptive;
			tables_put(t);
			tables_put(plain);
		}
		snapshot_put(snap);
	}
	ck_assert_uint_gt(n_adaptive, 0);
}
END_TEST

/* Three groups of six switches, six cables between any two groups: to another
 * group a switch with cables has these, the others their neighbours. */
START_TEST(dragonflies_use_all_gateways)
{
	struct snapshot *snap = make("dragonfly 6 1 3 3", 0, 0, 0);
	const struct fm_fabric *fab = &snap->fab;
	struct tables *t = route(&dragonfly_LTX_fm_engine, snap, 64);
	uint32_t *hops = calloc(fab->n_switches, sizeof(*hops)), n_several = 0, n_wrong = 0;

	ck_assert_ptr_nonnull(t);
	for (fm_end e = 0; e < fab->n_ends; e++) {
		count_hops(fab, fab->end_sw[e], hops);
		for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
			uint64_t nearer[4], got[4];

			if (sw == fab->end_sw[e])
				continue;
			nearer_ports(fab, sw, hops, nearer);
			n_several += choice(t, sw, fab->end_lid[e], got) > 1;
			for (unsigned w = 0; w < 4; w++)
				n_wrong += (got[w] & ~nearer[w]) != 0;
		}
	}
	ck_assert_uint_eq(n_wrong, 0);
	ck_assert_uint_gt(n_several, 200);
	ck_assert_int_eq(judge(snap, t).fault, VERIFY_OK);
	tables_put(t);
	free(hops);
	snapshot_put(snap);
}
END_TEST

/* Damaged trees: minhop's alternatives close no credit loop where its static
 * tables have none. */
START_TEST(minhop_keeps_damaged_trees_free_of_credit_loops)
{
	uint32_t n_free = 0;

	for (uint64_t seed = 0; seed < 30; seed++) {
		struct snapshot *snap = make("pgft 3 4,4,4 1,4,4 1,1,1", seed % 2 ? 2 : 5, seed, 0);
		struct tables *t = route(&minhop_LTX_fm_engine, snap, 64);
		struct tables *plain = route(&minhop_LTX_fm_engine, snap, 0);

		if (judge(snap, plain).credit_loops == 0) {
			struct verdict v = judge(snap, t);

			n_free++;
			ck_assert_msg(v.credit_loops == 0, "seed %llu: %s",
			    (unsigned long long)seed, v.witness);
			ck_assert_uint_gt(2 * t->adaptive.n_adaptive, t->adaptive.n_static);
		}
		tables_put(t);
		tables_put(plain);
		snapshot_put(snap);
	}
	ck_assert_uint_gt(n_free, 10);
}
END_TEST

/* Entries of each group of a switch. */
static void
count_group_entries(const struct fm_fabric *fab, const struct tables *t, fm_sw sw, uint32_t *n)
{
	memset(n, 0, 1024 * sizeof(*n));
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		n[t->t.ar_group[sw][lid]]++;
}

/* Of more groups than a switch can hold those with most entries stay, with
 * their ports; the other entries are static, and counted. */
START_TEST(too_small_tables_keep_the_groups_that_serve_most)
{
	struct snapshot *snap = make("torus 5x5 2", 0, 0, 0);
	const struct fm_fabric *fab = &snap->fab;
	struct tables *all = route(&updn_LTX_fm_engine, snap, 1000), *few;
	uint32_t n_all[1024], n_few[1024], most;

	ck_assert_uint_gt(all->adaptive.most_groups, 3);
	for (uint16_t max = 1; max <= 3; max++) {
		few = route(&updn_LTX_fm_engine, snap, max);
		ck_assert_uint_eq(few->adaptive.most_groups, max);
		ck_assert_uint_gt(few->adaptive.n_dropped, 0);
		ck_assert_uint_eq(
		    few->adaptive.n_adaptive + few->adaptive.n_dropped, all->adaptive.n_adaptive);
		ck_assert_uint_eq(
		    few->adaptive.n_static - few->adaptive.n_dropped, all->adaptive.n_static);
		for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
			uint32_t left = 0, kept = 0;

			count_group_entries(fab, all, sw, n_all);
			count_group_entries(fab, few, sw, n_few);
			for (unsigned g = 1; g <= max; g++)
				kept += n_few[g];
			for (unsigned k = 0; k < max; k++) {
				most = 1;
				for (unsigned g = 1; g < 1024; g++)
					most = n_all[g] > n_all[most] ? g : most;
				left += n_all[most];
				n_all[most] = 0;
			}
			ck_assert_uint_eq(kept, left);
			for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
				uint64_t a[4], b[4];

				if (choice(few, sw, lid, a) > 1) {
					choice(all, sw, lid, b);
					ck_assert_mem_eq(a, b, sizeof(a));
				}
			}
		}
		ck_assert_int_eq(judge(snap, few).fault, VERIFY_OK);
		tables_put(few);
	}
	tables_put(all);
	snapshot_put(snap);
}
END_TEST

/* Each switch as many as it can hold itself, in whatever order it stands. */
START_TEST(each_switch_has_the_groups_that_it_can_hold)
{
	struct snapshot *snap = make("torus 5x5 2", 0, 0, 0);
	const struct fm_fabric *fab = &snap->fab;
	uint16_t *can = (uint16_t *)(uintptr_t)fab->sw_ar_groups;
	struct tables *few[4] = { NULL }, *mixed;
	uint16_t most = 0;

	for (uint16_t n = 1; n < 4; n++)
		few[n] = route(&updn_LTX_fm_engine, snap, n);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		can[sw] = (uint16_t)(sw % 4);
	mixed = route(&updn_LTX_fm_engine, snap, 1000);
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		ck_assert_uint_eq(mixed->t.ar_n_groups[sw], sw % 4);
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
			uint64_t a[4], b[4];

			ck_assert_uint_le(mixed->t.ar_group[sw][lid], sw % 4);
			if (mixed->t.ar_group[sw][lid] > most)
				most = mixed->t.ar_group[sw][lid];
			if (sw % 4 == 0)
				continue;
			choice(mixed, sw, lid, a);
			choice(few[sw % 4], sw, lid, b);
			ck_assert_mem_eq(a, b, sizeof(a));
		}
	}
	ck_assert_uint_gt(most, 1);
	ck_assert_uint_eq(mixed->adaptive.most_groups, most);
	ck_assert_int_eq(judge(snap, mixed).fault, VERIFY_OK);
	for (uint16_t n = 1; n < 4; n++)
		tables_put(few[n]);
	tables_put(mixed);
	snapshot_put(snap);
}
END_TEST

static void
setup(void)
{
	struct fm_error err;

	fm_log_set_level(FM_LOG_ERR);
	ck_assert_int_eq(router_init(&router, 2, &err), 0);
}

static void
teardown(void)
{
	router_fini(&router);
}

int
main(void)
{
	Suite *s = suite_create("alternatives");
	TCase *t = tcase_create("alternatives");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, whole_trees_use_every_shortest_way_to_hosts, 0, N_TREES);
	tcase_add_loop_test(t, the_union_is_safe_whole_and_damaged, 0, N_FABRICS);
	tcase_add_test(t, dragonflies_use_all_gateways);
	tcase_add_test(t, minhop_keeps_damaged_trees_free_of_credit_loops);
	tcase_add_test(t, too_small_tables_keep_the_groups_that_serve_most);
	tcase_add_test(t, each_switch_has_the_groups_that_it_can_hold);
	suite_add_tcase(s, t);
	return run_suite(s);
}
