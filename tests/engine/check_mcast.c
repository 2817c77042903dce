/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast: trees go together with unicast, groups reach whom they should and
 * nobody else while members come and go, and no moment of writing sends a packet
 * round in a circle.  The judge of it all is a flood: copies of one packet followed
 * port by port through the rows.
 */
#include <check.h>

#include "core/cdg/deps.h"
#include "core/mcast/mcast_internal.h"
#include "core/mcast/mcast_net.h"
#include "core/mcast/mcast_write.h"
#include "lib/algo/scc.h"
#include "lib/bitset.h"
#include "lib/rng.h"
#include "tests/engine/mcast_judge.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

extern const struct fm_engine updn_LTX_fm_engine, minhop_LTX_fm_engine, torus2qos_LTX_fm_engine,
    dfsssp_LTX_fm_engine, nue_LTX_fm_engine, fattree_LTX_fm_engine, dor_LTX_fm_engine;

struct planned {
	struct routed r;
	struct plan *plan;
	struct mcast_trees *trees;
	void *opts;
};

static void
plan_of(struct planned *p, const struct fm_engine *engine, const struct fabric *f)
{
	struct fm_error err = { 0 };

	memset(p, 0, sizeof(*p));
	route(&p->r, engine, make(f, false));
	p->plan = plan_new(p->r.snap, &err);
	ck_assert_ptr_nonnull(p->plan);
	p->plan->tables = tables_get(p->r.tables);
	p->plan->graph = snapshot_get(p->r.snap);
	p->plan->top_lid = p->r.snap->fab.max_lid;
	ck_assert_int_eq(options_bind(engine, NULL, p->r.snap, &p->r.mem, &p->opts, &err), 0);
}

static void
trees_of(struct planned *p, const struct fm_engine *engine, uint16_t sls, unsigned n)
{
	struct mcast_wish wish = { .sls = sls,
		.n_trees = (uint8_t)n,
		.engine = engine,
		.opts = p->opts,
		.prev = p->trees };
	struct mcast_trees *old = p->trees;
	struct fm_error err = { 0 };

	ck_assert_msg(
	    mcast_trees_make(&p->r.router, p->plan, &wish, &p->trees, &err) == 0, "%s", err.msg);
	mcast_trees_put(old);
}

static void
planned_fini(struct planned *p)
{
	mcast_trees_put(p->trees);
	plan_put(p->plan);
	routed_fini(&p->r);
}

/* ------------------------------------------------------------ dependencies */

struct edges {
	FM_VEC(struct dep) e;
	uint32_t n;
};

static void
add_edge(struct edges *all, uint32_t from, uint32_t to)
{
	struct dep e = { from, to };

	ck_assert(fm_vec_push(&all->e, e));
}

static bool
is_on(const struct fm_fabric *fab, const fm_link *parent, const bool *used, fm_link l)
{
	fm_sw from = fab->link_to[fab->link_rev[l]], to = fab->link_to[l];

	return (parent[from] == l && used[from]) || (parent[to] == fab->link_rev[l] && used[to]);
}

/* Brute force: every host's packet, all the way over the tree. */
static void
add_tree(
    const struct planned *p, const fm_link *parent, unsigned sl, uint32_t n_vls, struct edges *all)
{
	const struct fm_fabric *fab = &p->r.snap->fab;
	bool *used = calloc(fab->n_switches + 1, sizeof(*used));
	FM_VEC(struct dep) stack = { 0 }; /* from: link + 1 or 0, to: vertex before */
	bool *seen = calloc((size_t)fab->n_links * n_vls + 1, sizeof(*seen));

	for (fm_end e = 0; e < fab->n_ends; e++)
		for (fm_sw at = fab->end_sw[e];
		     fab->end_kind[e] != FM_END_SWITCH && at != FM_NONE && !used[at];
		     at = parent[at] == FM_NONE ? at : fab->link_to[parent[at]])
			used[at] = true;
	for (fm_end e = 0; e < fab->n_ends; e++) {
		struct dep start = { fab->end_sw[e], fab->end_port[e] };

		if (fab->end_kind[e] == FM_END_SWITCH || fab->end_sw[e] == FM_NONE)
			continue;
		for (fm_link l = fab->sw_first_link[start.from];
		     l < fab->sw_first_link[start.from + 1]; l++) {
			uint32_t vl = tables_vl(
			    fab, &p->r.tables->t, start.from, (uint8_t)start.to, l, (uint8_t)sl);
			struct dep s = { l, vl };

			if (is_on(fab, parent, used, l) && !seen[l * n_vls + vl]) {
				seen[l * n_vls + vl] = true;
				ck_assert(fm_vec_push(&stack, s));
			}
		}
	}
	while (stack.n > 0) {
		struct dep s = stack.item[--stack.n];
		fm_sw at = fab->link_to[s.from];
		uint8_t in = fab->link_port[fab->link_rev[s.from]];

		for (fm_link l = fab->sw_first_link[at]; l < fab->sw_first_link[at + 1]; l++) {
			uint32_t vl = tables_vl(fab, &p->r.tables->t, at, in, l, (uint8_t)sl);
			struct dep next = { l, vl };

			if (fab->link_port[l] == in || !is_on(fab, parent, used, l))
				continue;
			add_edge(all, s.from * n_vls + s.to, l * n_vls + vl);
			if (!seen[l * n_vls + vl]) {
				seen[l * n_vls + vl] = true;
				ck_assert(fm_vec_push(&stack, next));
			}
		}
	}
	fm_vec_fini(&stack);
	free(seen);
	free(used);
}

static bool
has_cycle(const struct edges *all)
{
	uint32_t *first = calloc(all->n + 2u, sizeof(*first)),
		 *to = malloc((all->e.n + 1) * sizeof(*to));
	uint32_t *component = malloc((all->n + 1) * sizeof(*component)), n;
	struct fm_arena mem;

	fm_arena_init(&mem, SIZE_MAX);
	for (size_t i = 0; i < all->e.n; i++)
		first[all->e.item[i].from + 2]++;
	for (uint32_t v = 0; v < all->n; v++)
		first[v + 2] += first[v + 1];
	for (size_t i = 0; i < all->e.n; i++)
		to[first[all->e.item[i].from + 1]++] = all->e.item[i].to;
	n = fm_scc(all->n, first, to, component, &mem);
	fm_arena_fini(&mem);
	free(first);
	free(to);
	free(component);
	return n != all->n;
}

static bool
cycles(const struct planned *p, uint16_t sls)
{
	struct deps *d = deps_new(deps_side(p->plan), deps_side(p->plan), VERIFY_BOTH);
	struct edges all = { .n = deps_n_vertices(d) };
	const struct fm_fabric *fab = &p->r.snap->fab;
	const struct dep *list;
	bool found;
	size_t n;

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		if (fab->lid_end[lid] == FM_NONE)
			continue;
		ck_assert(deps_of(d, (uint16_t)lid, DEPS_NEW, &list, &n));
		for (size_t i = 0; i < n; i++)
			add_edge(&all, list[i].from, list[i].to);
	}
	ck_assert(!has_cycle(&all)); /* or there is nothing to be proven */
	for (unsigned k = 0; k < p->trees->n; k++)
		for (unsigned sl = 0; sl < 16; sl++)
			if (sls >> sl & 1)
				add_tree(p, p->trees->tree[k].parent, sl, deps_n_vls(d), &all);
	found = has_cycle(&all);
	fm_vec_fini(&all.e);
	deps_free(d);
	return found;
}

static const struct grown {
	const struct fm_engine *engine;
	struct fabric f;
	unsigned least; /* trees */
	bool unsafe;	/* may be: then it is told */
} grown[] = {
	{ &fattree_LTX_fm_engine, { .words = "pgft 3 3,3,4 1,3,3 1,1,1" }, 4, false },
	{ &updn_LTX_fm_engine, { .words = "pgft 3 3,3,4 1,3,3 1,1,1", .links_pct = 20 }, 1, false },
	{ &updn_LTX_fm_engine, { .words = "pgft 2 4,6 1,4 1,2" }, 4, false },
	{ &updn_LTX_fm_engine, { .words = "random 24 5 2 7" }, 1, true },
	{ &dfsssp_LTX_fm_engine, { .words = "torus 4x5 1" }, 1, true },
	{ &dfsssp_LTX_fm_engine, { .words = "random 20 4 2 3" }, 1, true },
	{ &nue_LTX_fm_engine, { .words = "torus 4x4 1" }, 1, true },
	{ &dor_LTX_fm_engine, { .words = "mesh 4x4 1" }, 1, false },
	{ &torus2qos_LTX_fm_engine, { .words = "torus 5x6 1" }, 1, false },
	{ &torus2qos_LTX_fm_engine, { .words = "torus 5x6 1", .n_switches = 1, .seed = 2 }, 1,
	    true },
};

static void
check_trees(const struct planned *p)
{
	const struct fm_fabric *fab = &p->r.snap->fab;

	for (unsigned k = 0; k < p->trees->n; k++) {
		fm_sw root_of[16];

		memset(root_of, 0xff, sizeof(root_of));
		for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
			const fm_link *parent = p->trees->tree[k].parent;
			uint32_t c = p->r.snap->sw_component[sw], n = 0;
			fm_sw at = sw;

			if (c >= p->r.snap->n_components)
				continue;
			while (parent[at] != FM_NONE) {
				ck_assert_uint_lt(n++, fab->n_switches);
				at = fab->link_to[parent[at]];
			}
			ck_assert(root_of[c] == FM_NONE || root_of[c] == at);
			root_of[c] = at;
		}
	}
}

START_TEST(trees_go_together_with_unicast)
{
	const struct grown *t = &grown[_i];
	struct planned p;

	plan_of(&p, t->engine, &t->f);
	trees_of(&p, t->engine, 1, 4);
	check_trees(&p);
	ck_assert_uint_ge(p.trees->n, t->least);
	if (p.trees->safe_sls & 1) {
		ck_assert_msg(!cycles(&p, 1), "%s %s", t->engine->name, t->f.words);
	} else {
		ck_assert_msg(t->unsafe, "%s %s: %s", t->engine->name, t->f.words, p.trees->told);
		ck_assert_str_ne(p.trees->told, "");
	}
	planned_fini(&p);
}
END_TEST

/* The torus' own tree is used where it is sound, and given up where it is not. */
START_TEST(an_engine_supplies_the_tree)
{
	const struct fabric whole = { .words = "torus 5x6 1" };
	struct planned p;

	plan_of(&p, &torus2qos_LTX_fm_engine, &whole);
	trees_of(&p, &torus2qos_LTX_fm_engine, 1, 4);
	ck_assert(p.trees->by_engine);
	ck_assert_uint_eq(p.trees->n, 1);
	ck_assert_uint_eq(p.trees->safe_sls, 1);
	planned_fini(&p);
}
END_TEST

START_TEST(a_holed_torus_needs_the_second_level)
{
	const struct fabric holed = { .words = "torus 5x6 1", .n_switches = 1, .seed = 2 };
	struct planned p;

	plan_of(&p, &torus2qos_LTX_fm_engine, &holed);
	trees_of(&p, &torus2qos_LTX_fm_engine, 1, 4);
	ck_assert(!p.trees->by_engine);
	trees_of(&p, &torus2qos_LTX_fm_engine, 1 << 8, 4);
	ck_assert(p.trees->by_engine);
	ck_assert_uint_eq(p.trees->safe_sls, 1 << 8);
	ck_assert(!cycles(&p, 1 << 8));
	planned_fini(&p);
}
END_TEST

/* Trees of one plan use different cables. */
START_TEST(trees_spread_over_cables)
{
	const struct fabric f = { .words = "pgft 2 4,6 1,4 1,1" };
	struct planned p;
	unsigned n_shared = 0, n = 0;

	plan_of(&p, &updn_LTX_fm_engine, &f);
	trees_of(&p, &updn_LTX_fm_engine, 1, 4);
	ck_assert_uint_eq(p.trees->n, 4);
	for (fm_sw sw = 0; sw < p.r.snap->fab.n_switches; sw++) {
		if (!mcast_has_hosts(&p.r.snap->fab, sw))
			continue;
		n++;
		n_shared += p.trees->tree[0].parent[sw] == p.trees->tree[1].parent[sw];
	}
	ck_assert_uint_eq(n, 6);
	ck_assert_uint_eq(n_shared, 0);
	planned_fini(&p);
}
END_TEST

/* ----------------------------------------------------------------- flooding */

struct flood {
	const struct fm_fabric *fab;
	const struct mcast_net *net;
	uint16_t mlid;
	uint32_t *copies; /* [n_ends] */
	uint32_t n_hops;
};

static void
pour(struct flood *f, fm_sw sw, uint8_t in)
{
	struct mcast_ports row = mcast_net_row(f->net, f->mlid, sw);

	ck_assert_msg(f->n_hops++ < 4 * f->fab->n_switches, "a packet goes round");
	for (unsigned p = 0; p < 255; p++) {
		fm_link l;

		if (p == in || !fm_bit_test(row.bits, p))
			continue;
		l = fm_link_at(f->fab, sw, p);
		if (l != FM_NONE) {
			pour(f, f->fab->link_to[l], f->fab->link_port[f->fab->link_rev[l]]);
			continue;
		}
		for (fm_end e = f->fab->sw_first_end[sw]; e < f->fab->sw_first_end[sw + 1]; e++)
			if (f->fab->end_port[e] == p)
				f->copies[e]++;
	}
}

/* roles[end] are the members: who sends reaches all who receive, once, and nobody else. */
static void
check_group(
    const struct planned *p, const struct mcast_net *net, uint16_t mlid, const uint8_t *roles)
{
	const struct fm_fabric *fab = &p->r.snap->fab;
	struct flood f = { .fab = fab, .net = net, .mlid = mlid };
	char why[256] = "";

	ck_assert_msg(mcast_net_judge(net, mlid, why, sizeof(why)), "%s", why);
	f.copies = calloc(fab->n_ends + 1, sizeof(*f.copies));
	for (fm_end s = 0; s < fab->n_ends; s++) {
		if (!(roles[s] & MCAST_SENDS))
			continue;
		memset(f.copies, 0, fab->n_ends * sizeof(*f.copies));
		f.n_hops = 0;
		pour(&f, fab->end_sw[s], fab->end_port[s]);
		for (fm_end e = 0; e < fab->n_ends; e++)
			ck_assert_uint_eq(f.copies[e], e != s && (roles[e] & MCAST_RECEIVES));
	}
	free(f.copies);
}

/* Members at random; some only send. */
static void
shake(struct planned *p, struct mcast_net *net, uint16_t mlid, uint8_t *roles, struct fm_rng *rng)
{
	const struct fm_fabric *fab = &p->r.snap->fab;
	static const uint8_t some[] = { MCAST_OUT, MCAST_OUT, MCAST_SENDS,
		MCAST_SENDS | MCAST_RECEIVES, MCAST_SENDS | MCAST_RECEIVES };
	fm_end e = fm_rng_below(rng, fab->n_ends);

	roles[e] = some[fm_rng_below(rng, 5)];
	ck_assert(mcast_net_set(net, mlid, 0, fab->end_guid[e], roles[e]));
}

START_TEST(groups_reach_their_members)
{
	static const struct fabric fabrics[] = { { .words = "pgft 3 2,2,2 1,2,2 1,1,1" },
		{ .words = "random 12 4 2 5" }, { .words = "torus 3x4 1" } };
	struct fm_rng rng;
	struct planned p;
	struct mcast_net *net = mcast_net_new();
	uint8_t *roles[3];

	fm_rng_seed(&rng, 11);
	plan_of(&p, &updn_LTX_fm_engine, &fabrics[_i]);
	trees_of(&p, NULL, 1, 4);
	ck_assert(mcast_net_use(net, p.trees));
	for (int g = 0; g < 3; g++)
		roles[g] = calloc(p.r.snap->fab.n_ends, 1);
	for (int step = 0; step < 300; step++) {
		int g = step % 3;

		shake(&p, net, (uint16_t)(0xc000 + 5 * g), roles[g], &rng);
		check_group(&p, net, (uint16_t)(0xc000 + 5 * g), roles[g]);
		if (step % 100 == 99) { /* other trees: the same members */
			trees_of(&p, NULL, 1, 1 + (unsigned)step % 3);
			ck_assert(mcast_net_use(net, p.trees));
		}
	}
	for (int g = 0; g < 3; g++) {
		check_group(&p, net, (uint16_t)(0xc000 + 5 * g), roles[g]);
		for (fm_end e = 0; e < p.r.snap->fab.n_ends; e++)
			ck_assert(mcast_net_set(net, (uint16_t)(0xc000 + 5 * g), 0,
			    p.r.snap->fab.end_guid[e], MCAST_OUT));
		free(roles[g]);
	}
	ck_assert_uint_eq(mcast_net_top(net), 0);
	for (fm_sw sw = 0; sw < p.r.snap->fab.n_switches; sw++) {
		struct mcast_ports row = mcast_net_row(net, 0xc000, sw);

		ck_assert(mcast_ports_empty(&row));
	}
	mcast_net_free(net);
	planned_fini(&p);
}
END_TEST

/* SLs in use and the highest MLID, against a list of groups. */
START_TEST(sls_and_top_follow_the_groups)
{
	enum { N = 6, PORTS = 4 };
	static const uint16_t mlid[N] = { 0xc000, 0xc001, 0xc03f, 0xc040, 0xd000, MCAST_MLID_LAST };
	struct mcast_net *net = mcast_net_new();
	uint8_t sl[N] = { 0 }, in[N] = { 0 };
	struct fm_rng rng;

	fm_rng_seed(&rng, 5);
	ck_assert_uint_eq(mcast_net_top(net), 0);
	for (int step = 0; step < 2000; step++) {
		uint32_t g = fm_rng_below(&rng, N), port = fm_rng_below(&rng, PORTS);
		bool joins = fm_rng_below(&rng, 3) == 0;
		uint16_t sls = 0, top = 0;

		if (joins)
			sl[g] = (uint8_t)fm_rng_below(&rng, 16);
		ck_assert(mcast_net_set(
		    net, mlid[g], sl[g], 100 + port, joins ? MCAST_RECEIVES : MCAST_OUT));
		in[g] = (uint8_t)(joins ? in[g] | 1u << port : in[g] & ~(1u << port));
		for (uint32_t i = 0; i < N; i++)
			if (in[i] != 0) {
				sls |= (uint16_t)(1u << sl[i]);
				top = mlid[i];
			}
		ck_assert_uint_eq(mcast_net_sls(net), sls);
		ck_assert_uint_eq(mcast_net_top(net), top);
	}
	mcast_net_free(net);
}
END_TEST

/* What is dirty after a change is all that has changed, and little. */
START_TEST(a_join_touches_its_branch)
{
	const struct fabric f = { .words = "pgft 3 4,4,4 1,4,4 1,1,1" };
	struct planned p;
	struct mcast_net *net = mcast_net_new();
	const struct fm_fabric *fab;
	struct mcast_ports *was;
	struct fm_rng rng;
	uint8_t *roles;

	plan_of(&p, &updn_LTX_fm_engine, &f);
	fab = &p.r.snap->fab;
	trees_of(&p, NULL, 1, 4);
	ck_assert(mcast_net_use(net, p.trees));
	was = calloc(fab->n_switches, sizeof(*was));
	roles = calloc(fab->n_ends, 1);
	fm_rng_seed(&rng, 3);
	for (int step = 0; step < 400; step++) {
		const struct mcast_spot *spot;
		uint32_t n;

		mcast_net_clear(net);
		shake(&p, net, 0xc001, roles, &rng);
		n = mcast_net_dirty(net, &spot);
		ck_assert_uint_le(n, 24);
		for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
			struct mcast_ports row = mcast_net_row(net, 0xc001, sw);
			bool dirty = false;

			for (uint32_t i = 0; i < n; i++)
				dirty = dirty || spot[i].sw == sw;
			ck_assert(dirty || memcmp(&row, &was[sw], sizeof(row)) == 0);
			was[sw] = row;
		}
	}
	free(was);
	free(roles);
	mcast_net_free(net);
	planned_fini(&p);
}
END_TEST

/* A tree of before is kept where its cables are. */
START_TEST(trees_stay_as_they_were)
{
	const struct fabric f = { .words = "pgft 2 4,6 1,4 1,2" };
	struct planned p;
	struct mcast_trees *before;

	plan_of(&p, &updn_LTX_fm_engine, &f);
	trees_of(&p, NULL, 1, 3);
	before = mcast_trees_get(p.trees);
	trees_of(&p, NULL, 1, 3);
	for (unsigned k = 0; k < 3; k++)
		ck_assert_mem_eq(before->tree[k].parent, p.trees->tree[k].parent,
		    p.r.snap->fab.n_switches * sizeof(fm_link));
	mcast_trees_put(before);
	planned_fini(&p);
}
END_TEST

/* ------------------------------------------------------------------ writing */

#define N_MLIDS 3
#define FLYING_MAX 64

/* Switches as they are, and what is on its way to them. */
struct world {
	struct planned p;
	struct mcast_net *net;
	struct mft *mft;
	struct mcast_ports *row[N_MLIDS]; /* [n_switches] */
	uint8_t *roles[N_MLIDS];	  /* [n_ends] */
	struct mft_block flying[FLYING_MAX];
	bool taken[FLYING_MAX]; /* it has, but nobody knows yet */
	uint32_t n_flying;
	uint64_t *can;
	struct fm_rng rng;
	uint32_t n_turns, n_looped, n_writes, n_two_rounds, n_lost;
};

static void
take(struct world *w, const struct mft_block *b)
{
	for (unsigned k = 0; k < N_MLIDS; k++)
		for (unsigned p = 0; p < 16; p++) {
			uint64_t *bits = w->row[k][b->sw].bits;

			if (b->ports[k] >> p & 1)
				fm_bit_set(bits, 16 * b->position + p);
			else
				fm_bit_clear(bits, 16 * b->position + p);
		}
}

/* Copies of a packet, as switches are now; false when it goes round. */
static bool
pour_now(struct world *w, unsigned k, fm_sw sw, unsigned in, uint32_t *n_hops, uint32_t *copies)
{
	const struct fm_fabric *fab = &w->p.r.snap->fab;

	if (++*n_hops > 4 * fab->n_switches)
		return false;
	FM_EACH_BIT (p, w->row[k][sw].bits, 255) {
		fm_link l = fm_link_at(fab, sw, (uint32_t)p);

		if (p == in)
			continue;
		if (l == FM_NONE) {
			for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
				copies[e] += fab->end_port[e] == p;
		} else if (!pour_now(w, k, fab->link_to[l], fab->link_port[fab->link_rev[l]],
			       n_hops, copies)) {
			return false;
		}
	}
	return true;
}

/* From every host: never round, never twice. */
static void
look_now(struct world *w)
{
	const struct fm_fabric *fab = &w->p.r.snap->fab;
	uint32_t *copies = calloc(fab->n_ends + 1, sizeof(*copies));

	for (unsigned k = 0; k < N_MLIDS; k++) {
		fm_end e = fm_rng_below(&w->rng, fab->n_ends);
		uint32_t n_hops = 0;

		memset(copies, 0, fab->n_ends * sizeof(*copies));
		if (!pour_now(w, k, fab->end_sw[e], fab->end_port[e], &n_hops, copies))
			w->n_looped++;
		for (fm_end d = 0; d < fab->n_ends; d++)
			w->n_looped += copies[d] > 1;
	}
	free(copies);
}

/* One of those on their way is taken, answered or lost. */
static void
happen(struct world *w, unsigned lost_percent)
{
	uint32_t i = fm_rng_below(&w->rng, w->n_flying);
	bool lost = fm_rng_below(&w->rng, 100) < lost_percent;

	if (!w->taken[i] && !(lost && fm_rng_below(&w->rng, 2))) {
		take(w, &w->flying[i]);
		w->taken[i] = true;
		look_now(w);
		if (fm_rng_below(&w->rng, 2))
			return;
	}
	if (lost)
		mft_lost(w->mft, &w->flying[i]);
	else
		mft_done(w->mft, &w->flying[i]);
	w->n_lost += lost;
	w->flying[i] = w->flying[--w->n_flying];
	w->taken[i] = w->taken[w->n_flying];
}

static void
write_out(struct world *w, bool all, unsigned lost_percent)
{
	struct mft_block b;

	ck_assert(mft_begin(w->mft, w->net, w->can, all));
	mcast_net_clear(w->net);
	for (;;) {
		enum mft_step step = w->n_flying < FLYING_MAX && fm_rng_below(&w->rng, 3)
		    ? mft_next(w->mft, &b)
		    : MFT_BUSY;

		if (step == MFT_OVER)
			break;
		if (step == MFT_SEND) {
			ck_assert(fm_bit_test(w->can, b.sw));
			w->flying[w->n_flying] = b;
			w->taken[w->n_flying++] = false;
			w->n_writes++;
		} else if (w->n_flying > 0) {
			happen(w, lost_percent);
		}
	}
	w->n_two_rounds += mft_counts(w->mft)->two_rounds;
}

static void
start_world(struct world *w, const char *words)
{
	const struct fabric f = { .words = words };

	memset(w, 0, sizeof(*w));
	fm_rng_seed(&w->rng, 9);
	plan_of(&w->p, &updn_LTX_fm_engine, &f);
	trees_of(&w->p, NULL, 1, 4);
	w->net = mcast_net_new();
	w->mft = mft_new();
	ck_assert(mcast_net_use(w->net, w->p.trees));
	for (unsigned k = 0; k < N_MLIDS; k++) {
		w->row[k] = calloc(w->p.r.snap->fab.n_switches, sizeof(*w->row[k]));
		w->roles[k] = calloc(w->p.r.snap->fab.n_ends, 1);
	}
	w->can = malloc(FM_BITSET_WORDS(w->p.r.snap->fab.n_switches) * 8 + 8);
	memset(w->can, 0xff, FM_BITSET_WORDS(w->p.r.snap->fab.n_switches) * 8);
}

static void
end_world(struct world *w)
{
	for (unsigned k = 0; k < N_MLIDS; k++) {
		free(w->row[k]);
		free(w->roles[k]);
	}
	free(w->can);
	mft_free(w->mft);
	mcast_net_free(w->net);
	planned_fini(&w->p);
}

static void
check_written(const struct world *w)
{
	for (unsigned k = 0; k < N_MLIDS; k++)
		for (fm_sw sw = 0; sw < w->p.r.snap->fab.n_switches; sw++) {
			struct mcast_ports row = mcast_net_row(w->net, (uint16_t)(0xc000 + k), sw);

			ck_assert_mem_eq(&row, &w->row[k][sw], sizeof(row));
		}
}

static void
shake_world(struct world *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned k = fm_rng_below(&w->rng, N_MLIDS);

		shake(&w->p, w->net, (uint16_t)(0xc000 + k), w->roles[k], &w->rng);
	}
}

/* Trees that have nothing to do with those of before: other roots. */
static void
other_trees(struct world *w)
{
	struct mcast_trees *t = w->p.trees;
	struct mcast_tree was[MCAST_TREES_MAX];

	w->p.trees = NULL;
	trees_of(&w->p, NULL, 1, 4);
	w->n_turns++;
	memcpy(was, w->p.trees->tree, sizeof(was));
	for (unsigned k = 0; k < w->p.trees->n; k++)
		w->p.trees->tree[k] = was[(k + w->n_turns) % w->p.trees->n];
	mcast_trees_put(t);
	ck_assert(mcast_net_use(w->net, w->p.trees));
}

START_TEST(no_moment_sends_a_packet_round)
{
	struct world w;

	start_world(&w, "pgft 2 4,6 1,4 1,1");
	for (int step = 0; step < 60; step++) {
		bool moved = step % 4 == 3;

		shake_world(&w, 1 + fm_rng_below(&w.rng, 6));
		if (moved)
			other_trees(&w);
		write_out(&w, moved, 0);
		check_written(&w);
		ck_assert(!mft_in_doubt(w.mft));
	}
	ck_assert_uint_eq(w.n_looped, 0);
	ck_assert_uint_gt(w.n_two_rounds, 0);
	end_world(&w);
}
END_TEST

/* Answers are lost, switches are out of reach; in the end all is as it should be. */
START_TEST(silence_sends_no_packet_round)
{
	struct world w;

	start_world(&w, "pgft 2 4,6 1,4 1,1");
	for (int step = 0; step < 80; step++) {
		fm_sw away = fm_rng_below(&w.rng, w.p.r.snap->fab.n_switches);

		shake_world(&w, 3);
		if (step % 3 == 2)
			other_trees(&w);
		if (step % 5 < 3)
			fm_bit_clear(w.can, away);
		write_out(&w, true, 20);
		fm_bit_set(w.can, away);
	}
	ck_assert_uint_eq(w.n_looped, 0);
	ck_assert_uint_gt(w.n_lost, 20);
	for (int i = 0; i < 3 && mft_in_doubt(w.mft); i++)
		write_out(&w, true, 0);
	check_written(&w);
	ck_assert(!mft_in_doubt(w.mft));
	end_world(&w);
}
END_TEST

/* Written in any order it does happen: or the two tests above see nothing. */
START_TEST(carelessness_is_seen)
{
	struct world w;

	start_world(&w, "pgft 2 4,6 1,4 1,1");
	mft_careless(w.mft);
	for (int step = 0; step < 60; step++) {
		shake_world(&w, 6);
		other_trees(&w);
		write_out(&w, true, 0);
	}
	check_written(&w);
	ck_assert_uint_gt(w.n_looped, 0);
	end_world(&w);
}
END_TEST

/* A join is written where it changes something and nowhere else. */
START_TEST(a_join_costs_its_branch)
{
	struct world w;
	const struct fm_fabric *fab;

	start_world(&w, "pgft 3 4,4,4 1,4,4 1,1,1");
	fab = &w.p.r.snap->fab;
	for (fm_end e = 0; e < fab->n_ends; e++) {
		if (fab->end_kind[e] != FM_END_CA)
			continue;
		ck_assert(mcast_net_set(
		    w.net, 0xc000, 0, fab->end_guid[e], MCAST_RECEIVES | MCAST_SENDS));
		w.n_writes = 0;
		write_out(&w, false, 0);
		ck_assert_uint_le(w.n_writes, 6); /* three levels, up and down again */
	}
	check_written(&w);
	w.n_writes = 0;
	write_out(&w, true, 0);
	ck_assert_uint_eq(w.n_writes, 0);
	end_world(&w);
}
END_TEST

/* What is read from switches counts: stale entries go, right ones are not written. */
START_TEST(what_is_read_is_held)
{
	struct world w;
	struct mft_block b = { .sw = 2, .block = 0, .position = 0, .ports = { 0, 0, 6 } };
	struct mft *other = mft_new();

	start_world(&w, "pgft 2 4,6 1,4 1,1");
	shake_world(&w, 20);
	write_out(&w, true, 0);
	mft_free(w.mft);
	w.mft = other; /* after a restart */
	for (fm_sw sw = 0; sw < w.p.r.snap->fab.n_switches; sw++)
		for (uint32_t pos = 0; pos < 2; pos++) {
			b.sw = sw;
			b.position = pos;
			for (unsigned k = 0; k < N_MLIDS; k++)
				b.ports[k] = (uint16_t)(w.row[k][sw].bits[0] >> (16 * pos));
			b.ports[9] = pos == 0 && sw == 3 ? 7 : 0; /* nobody's group */
			ck_assert(mft_read(w.mft, &b));
		}
	w.n_writes = 0;
	write_out(&w, true, 0);
	ck_assert_uint_eq(w.n_writes, 1);
	check_written(&w);
	end_world(&w);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mcast");
	TCase *trees = tcase_create("trees"), *groups = tcase_create("groups");
	TCase *writing = tcase_create("writing");

	tcase_add_loop_test(
	    trees, trees_go_together_with_unicast, 0, (int)(sizeof(grown) / sizeof(grown[0])));
	tcase_add_test(trees, an_engine_supplies_the_tree);
	tcase_add_test(trees, a_holed_torus_needs_the_second_level);
	tcase_add_test(trees, trees_spread_over_cables);
	tcase_add_test(trees, trees_stay_as_they_were);
	suite_add_tcase(s, trees);
	tcase_add_loop_test(groups, groups_reach_their_members, 0, 3);
	tcase_add_test(groups, sls_and_top_follow_the_groups);
	tcase_add_test(groups, a_join_touches_its_branch);
	suite_add_tcase(s, groups);
	tcase_add_test(writing, no_moment_sends_a_packet_round);
	tcase_add_test(writing, silence_sends_no_packet_round);
	tcase_add_test(writing, carelessness_is_seen);
	tcase_add_test(writing, a_join_costs_its_branch);
	tcase_add_test(writing, what_is_read_is_held);
	suite_add_tcase(s, writing);
	return run_suite(s);
}
