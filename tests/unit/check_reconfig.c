/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No deadlock between tables: what reconfig_plan() says is checked against dependencies
 * counted here, one VL, destination by destination, at each step: those that are
 * settled by new tables, those of the step by all steps it allows, those of later
 * ones and the stuck by old tables.  All together they have no cycle.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan.h"
#include "core/repair/repair.h"
#include "core/route/route.h"
#include "core/transition/reconfig.h"
#include "core/transition/transition.h"
#include "lib/algo/scc.h"
#include "lib/bitset.h"
#include "lib/log.h"
#include "lib/rng.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

extern const struct fm_engine minhop_LTX_fm_engine, updn_LTX_fm_engine, dor_LTX_fm_engine,
    fattree_LTX_fm_engine, dfsssp_LTX_fm_engine, torus2qos_LTX_fm_engine;

static struct router router;
static unsigned n_errors;
static bool anew;	/* plans to come are not repaired */
static unsigned n_bare; /* switches of the fabrics to come that have no hosts */
static unsigned n_few;	/* the last switches, which they do not have */
static unsigned n_told; /* of tables that wait */
static bool gone;	/* ... any more: they keep their numbers */

static void
hear(void *arg, enum fm_log_level level, const char *subsystem, const char *text)
{
	(void)arg;
	(void)subsystem;
	(void)text;
	n_errors += level == FM_LOG_ERR;
}

static void
setup(void)
{
	struct fm_error err = { 0 };

	ck_assert_int_eq(router_init(&router, 1, &err), 0);
	router.check_repairs = true; /* what is found wrong is logged */
	n_errors = n_bare = n_few = 0;
	anew = gone = false;
	fm_log_set_sink(hear, NULL);
}

static void
teardown(void)
{
	ck_assert_uint_eq(n_errors, 0);
	router_fini(&router);
}

static void
copy_parts(const struct fm_fabric *f, struct snapshot_builder *b)
{
	for (fm_sw sw = 0; sw < f->n_switches; sw++)
		ck_assert(fm_vec_push(&b->switches,
		    ((struct snapshot_switch){ f->sw_guid[sw], f->sw_system_guid[sw],
			f->sw_name[sw], f->sw_n_ports[sw] })));
	for (fm_end e = 0; e < f->n_ends; e++)
		ck_assert(fm_vec_push(&b->ends,
		    ((struct snapshot_end){ f->end_guid[e], f->end_node_guid[e],
			f->end_system_guid[e], f->end_name[e], f->end_sw[e], f->end_lid[e],
			f->end_port[e], f->end_lmc[e], f->end_kind[e], f->end_n_vls[e] })));
	for (fm_link l = 0; l < f->n_links; l++)
		if (l < f->link_rev[l])
			ck_assert(fm_vec_push(&b->cables,
			    ((struct snapshot_cable){
				.sw = { f->link_to[f->link_rev[l]], f->link_to[l] },
				.port = { f->link_port[l], f->link_port[f->link_rev[l]] },
				.n_vls = f->link_n_vls[l],
				.mbps = f->link_mbps[l],
				.nominal_mbps = f->link_nominal_mbps[l] })));
}

static void
take_hosts(struct snapshot_builder *b, struct fm_rng *rng)
{
	for (unsigned n = 0; n < n_bare; n++) {
		fm_sw sw = fm_rng_below(rng, (uint32_t)b->switches.n);
		size_t left = 0;

		for (size_t i = 0; i < b->ends.n; i++)
			if (b->ends.item[i].sw != sw || b->ends.item[i].kind == FM_END_SWITCH)
				b->ends.item[left++] = b->ends.item[i];
		b->ends.n = left;
	}
}

/* The last switches have not come yet. */
static void
take_switches(struct snapshot_builder *b)
{
	uint32_t n = (uint32_t)b->switches.n - n_few;
	size_t left = 0;

	if (!gone)
		b->switches.n = n;
	for (size_t i = 0; i < b->ends.n; i++)
		if (b->ends.item[i].sw < n)
			b->ends.item[left++] = b->ends.item[i];
	b->ends.n = left;
	left = 0;
	for (size_t i = 0; i < b->cables.n; i++)
		if (b->cables.item[i].sw[0] < n && b->cables.item[i].sw[1] < n)
			b->cables.item[left++] = b->cables.item[i];
	b->cables.n = left;
}

/* The fabric without some cables, all else, LIDs too, as it was. */
static struct snapshot *
fabric(const char *words, unsigned n_down, uint64_t seed)
{
	struct fabric f = { .words = words };
	struct snapshot *whole = make(&f, false), *snap = NULL;
	struct snapshot_builder b = { 0 };
	struct fm_error err = { 0 };
	struct fm_rng rng;

	fm_rng_seed(&rng, seed);
	copy_parts(&whole->fab, &b);
	for (; n_down > 0; n_down--) {
		uint32_t i = fm_rng_below(&rng, (uint32_t)b.cables.n);

		b.cables.item[i] = b.cables.item[--b.cables.n];
	}
	take_hosts(&b, &rng);
	take_switches(&b);
	ck_assert_msg(snapshot_build(&b, &snap, &err) == 0, "%s", err.msg);
	snapshot_builder_fini(&b);
	snapshot_put(whole);
	return snap;
}

/* Blocks of prev that the switches do not hold yet. */
struct held_blocks {
	const struct plan_installed *item;
	size_t n;
};

static struct plan *
make_plan_from(const struct fm_engine *engine, const char *words, unsigned n_down, uint64_t seed,
    struct plan *prev, enum plan_drain drain, struct held_blocks held)
{
	struct chain_entry entry = { .engine = engine, .name = engine->name };
	struct chain chain = { .entries = &entry, .n_entries = 1 };
	struct plan_request q = { .chain = &chain,
		.prev = prev,
		.drain = drain,
		.flight = { .installed = held.item, .n_installed = held.n } };
	struct fm_error err = { 0 };
	struct plan *p;

	q.snap = fabric(words, n_down, seed);
	q.anew = anew || (prev != NULL && strcmp(prev->engine, engine->name) != 0);
	ck_assert_msg(plan_make(&router, &q, &p, &err) == 0, "%s", err.msg);
	ck_assert_msg(
	    p->tables != NULL, "%s: %s", words, p->refused.n > 0 ? p->refused.item[0].reason : "");
	snapshot_put(q.snap);
	return p;
}

static struct plan *
make_plan(const struct fm_engine *engine, const char *words, unsigned n_down, uint64_t seed,
    struct plan *prev, enum plan_drain drain)
{
	return make_plan_from(
	    engine, words, n_down, seed, prev, drain, (struct held_blocks){ NULL, 0 });
}

/* ------------------------------------------------------- dependencies, anew */

enum { OLD = 1, NEW = 2, CUT = 4 /* what is both */ };

struct graph {
	const struct fm_fabric *fab;
	uint32_t n_vls, vl; /* of the packets at hand */
	uint8_t *dep;	    /* [n_links * n_vls][n_links * n_vls] */
};

static size_t
dep_at(const struct graph *g, fm_link in, fm_link out)
{
	return ((size_t)in * g->n_vls + g->vl) * g->fab->n_links * g->n_vls +
	    (size_t)out * g->n_vls + g->vl;
}

static fm_link
way(const struct fm_fabric *fab, const struct plan *p, fm_sw sw, uint16_t lid)
{
	return lid > p->top_lid || sw >= p->snap->fab.n_switches
	    ? FM_NONE
	    : fm_link_at(fab, sw, p->tables->t.lft[sw][lid]);
}

/* Depth first from a switch that got packets by link `in`, an entry of kind. */
static void
spread(struct graph *g, const struct plan *old, const struct plan *new, uint16_t lid, fm_sw sw,
    fm_link in, unsigned kind, unsigned modes, bool ordered, uint8_t *seen)
{
	fm_link a = modes & OLD ? way(g->fab, old, sw, lid) : FM_NONE;
	fm_link b = modes & (NEW | CUT) ? way(g->fab, new, sw, lid) : FM_NONE;

	if (modes & CUT && way(g->fab, old, sw, lid) != b)
		b = FM_NONE;

	for (unsigned i = 0; i < 2; i++) {
		fm_link out = i == 0 ? a : b;
		unsigned of = a == b ? OLD | NEW : i == 0 ? OLD : NEW;

		if (out == FM_NONE || (i == 1 && a == b))
			continue;
		if (in != FM_NONE && ordered && kind == NEW && of == OLD)
			continue;
		if (in != FM_NONE)
			g->dep[dep_at(g, in, out)] = 1;
		if (seen[out])
			continue;
		seen[out] = 1;
		spread(g, old, new, lid, g->fab->link_to[out], out, of, modes, ordered, seen);
	}
}

static void
add_lid(struct graph *g, const struct plan *old, const struct plan *new, uint16_t lid,
    unsigned modes, bool ordered)
{
	uint8_t *seen = calloc(g->fab->n_links + 1u, 1);

	for (fm_end e = 0; e < g->fab->n_ends; e++)
		if (is_ca(g->fab, e))
			spread(g, old, new, lid, g->fab->end_sw[e], FM_NONE, OLD | NEW, modes,
			    ordered, seen);
	free(seen);
}

static bool
has_cycle(const struct graph *g)
{
	uint32_t n = g->fab->n_links * g->n_vls, *first, *to, *component, n_edges = 0;
	struct fm_arena mem;
	bool cyclic;

	fm_arena_init(&mem, SIZE_MAX);
	first = fm_arena_array(&mem, n + 1u, uint32_t);
	component = fm_arena_array(&mem, n + 1u, uint32_t);
	to = fm_arena_array(&mem, (size_t)n * 64 + 1, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		first[i] = n_edges;
		for (uint32_t j = 0; j < n; j++)
			if (g->dep[(size_t)i * n + j])
				to[n_edges++] = j;
	}
	first[n] = n_edges;
	cyclic = fm_scc(n, first, to, component, &mem) < n;
	fm_arena_fini(&mem);
	return cyclic;
}

/* By the first of the switches. */
static bool
changes_on(const struct plan *old, const struct plan *new, uint16_t lid, uint32_t n_switches)
{
	if (lid > old->top_lid)
		return true;
	for (fm_sw sw = 0; sw < n_switches; sw++)
		if (old->tables->t.lft[sw][lid] != new->tables->t.lft[sw][lid])
			return true;
	return false;
}

static bool
changes(const struct plan *old, const struct plan *new, uint16_t lid)
{
	return changes_on(old, new, lid, old->snap->fab.n_switches);
}

/* What a LID's packets may do in this step; emptied: drained ones are so. */
static void
add_in_step(struct graph *g, const struct plan *old, const struct plan *new, uint16_t lid,
    unsigned step, bool emptied)
{
	uint8_t rule = new->rules != NULL ? new->rules[lid] : 0;
	unsigned of = rule & TRANSITION_STEP;

	if (!changes(old, new, lid))
		add_lid(g, old, new, lid, NEW, false);
	else if (rule & TRANSITION_DRAIN)
		add_lid(g, old, new, lid, emptied ? NEW : OLD, false);
	else if (of < step)
		add_lid(g, old, new, lid, NEW, false);
	else if (of > step)
		add_lid(g, old, new, lid, OLD, false);
	else
		add_lid(g, old, new, lid, OLD | NEW, (rule & TRANSITION_NEXT_HOP_FIRST) != 0);
}

/* Writing `to` over `from` got through its first step. */
struct broken_off {
	const struct plan *from, *to;
};

/* Packets of it that may be under way. */
static void
add_older(struct graph *g, const struct broken_off *b, uint16_t lid)
{
	uint8_t rule = b->to->rules != NULL ? b->to->rules[lid] : 0;

	if (!changes(b->from, b->to, lid))
		return;
	if (rule & TRANSITION_DRAIN)
		add_lid(g, b->from, b->to, lid, OLD, false);
	else if ((rule & TRANSITION_STEP) == 0)
		add_lid(g, b->from, b->to, lid, OLD | NEW, (rule & TRANSITION_NEXT_HOP_FIRST) != 0);
}

static unsigned
last_step(const struct plan *p)
{
	unsigned last = 0;

	for (uint32_t lid = 1; p->rules != NULL && lid <= p->top_lid; lid++)
		if ((p->rules[lid] & TRANSITION_STEP) > last)
			last = p->rules[lid] & TRANSITION_STEP;
	return last;
}

/* naive: the same without any rule.  older: NULL, or what came before old. */
static bool
is_safe_after(
    const struct broken_off *older, const struct plan *old, const struct plan *new, bool naive)
{
	const struct fm_fabric *fab = &new->snap->fab;
	struct graph g = { .fab = fab, .n_vls = 1 };
	bool ok = true;

	g.dep = malloc((size_t)fab->n_links * fab->n_links + 1);
	for (unsigned step = 0; ok && step < (naive ? 1u : 18u); step++) {
		memset(g.dep, 0, (size_t)fab->n_links * fab->n_links);
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
			if (fab->lid_end[lid] == FM_NONE)
				continue;
			if (older != NULL && step == 0)
				add_older(&g, older, (uint16_t)lid);
			if (naive)
				add_lid(&g, old, new, (uint16_t)lid, OLD | NEW, false);
			else
				add_in_step(&g, old, new, (uint16_t)lid, step, step == 17);
		}
		ok = !has_cycle(&g);
	}
	free(g.dep);
	return ok;
}

static bool
is_safe(const struct plan *old, const struct plan *new, bool naive)
{
	return is_safe_after(NULL, old, new, naive);
}

/* -------------------------------------------------------------------- tests */

static const char *const fabrics[] = { "torus 4x4 1", "random 24 4 1 3", "dragonfly 4 1 2",
	"random 30 5 1 5", "mesh 5x5 1", "torus 3x3x3 1" };
#define N_FABRICS ((int)(sizeof(fabrics) / sizeof(*fabrics)))

/* Down and back under updn: dependencies of old and new tables alone have no
 * cycle, those of the mixtures often have. */
START_TEST(links_go_and_come_back)
{
	unsigned n_cyclic = 0;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		unsigned n_down = seed % 3 == 0 ? 6 : 1;
		struct plan *a = make_plan(&updn_LTX_fm_engine, fabrics[_i], 0, 0, NULL, 0);
		struct plan *b = make_plan(&updn_LTX_fm_engine, fabrics[_i], n_down, seed, a, 0);
		struct plan *c = make_plan(&updn_LTX_fm_engine, fabrics[_i], 0, 0, b, 0);

		ck_assert_int_eq(b->change.kind, b->made == PLAN_KEPT ? PLAN_FIRST : PLAN_LOSS);
		ck_assert(is_safe(a, b, false));
		ck_assert(is_safe(b, c, false));
		ck_assert_uint_eq(c->change.n_drained, 0);
		ck_assert_uint_eq(c->verdict.credit_loops + c->verdict.loops, 0);
		n_cyclic += !is_safe(a, b, true) + !is_safe(b, c, true);
		if (b->rules != NULL) /* nothing is asked where nothing is needed */
			ck_assert(!is_safe(a, b, true));
		plan_put(a);
		plan_put(b);
		plan_put(c);
	}
	if (_i < 3)
		ck_assert_uint_gt(n_cyclic, 0);
}
END_TEST

/* While tables wait it is told what the switches that have joined lack till then, again and
 * again. */
static void
expect_told(const struct plan *p, unsigned n)
{
	char told[64];

	snprintf(told, sizeof(told),
	    n == 1 ? "; %u switch has one cable till then"
		   : "; %u switches have one cable each till then",
	    n);
	if (p->change.waiting[0] == '\0')
		return;
	n_told++;
	ck_assert_uint_eq(p->change.n_leaves, n);
	ck_assert_msg(strstr(p->change.waiting, told) != NULL, "%s", p->change.waiting);
}

/* Switches that were never there, or that are back: no way that there was is lost for them,
 * neither at once nor when all is routed with them. */
START_TEST(switches_join)
{
	static const struct fm_engine *const engines[] = { &updn_LTX_fm_engine,
		&dfsssp_LTX_fm_engine };
	const struct fm_engine *engine = engines[_i % 2];
	const char *words = fabrics[_i / 4];
	struct plan *a, *b, *c, *d;

	n_told = 0;
	gone = _i % 4 >= 2;
	for (unsigned n = 1; n <= 4; n++) {
		n_few = n;
		a = make_plan(engine, words, 0, 0, NULL, 0);
		n_few = 0;
		b = make_plan(engine, words, 0, 0, a, 0);
		c = make_plan(engine, words, 0, 0, b, 0);
		ck_assert_int_eq(b->change.kind, PLAN_RECOVERY);
		ck_assert_uint_eq(b->change.n_drained + c->change.n_drained, 0);
		ck_assert_uint_eq(b->verdict.unreachable_pairs + b->verdict.credit_loops, 0);
		ck_assert_uint_eq(c->verdict.unreachable_pairs + c->verdict.credit_loops, 0);
		ck_assert_uint_eq(c->change.n_stubs, 0);
		if (b->change.n_stubs > 0) { /* else all of it was written at once */
			ck_assert_uint_eq(b->change.n_stubs, n);
			for (uint32_t lid = 1; lid <= a->top_lid; lid++)
				ck_assert(a->snap->fab.lid_end[lid] == FM_NONE ||
				    !changes_on(a, b, (uint16_t)lid, b->snap->fab.n_switches - n));
			ck_assert_ptr_null(b->rules);
			d = make_plan(engine, words, 0, 0, c, 0);
			expect_told(c, n);
			expect_told(d, n);
			plan_put(d);
		}
		if (engine == &updn_LTX_fm_engine) {
			ck_assert(is_safe(a, b, false));
			ck_assert(is_safe(b, c, false));
			ck_assert_str_eq(c->change.waiting, "");
		}
		plan_put(a);
		plan_put(b);
		plan_put(c);
	}
	if (engine == &dfsssp_LTX_fm_engine && words != fabrics[N_FABRICS - 1])
		ck_assert_uint_gt(n_told, 0);
}
END_TEST

static void
forget_repairs(void)
{
	repair_state_free(router.repair);
	router.repair = NULL;
}

/* The tables lead from one switch, through which no others send, nowhere. */
static void
cut_off(struct plan *p, uint16_t lid)
{
	const struct fm_fabric *fab = &p->snap->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		bool ends = sw != fab->end_sw[fab->lid_end[lid]];

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			ends = ends && way(fab, p, fab->link_to[l], lid) != fab->link_rev[l];
		if (ends) {
			p->tables->t.lft[sw][lid] = FM_PORT_NONE;
			return;
		}
	}
}

/* Cables come, and a way comes back to a LID that the old tables do not lead to from everywhere:
 * they cannot stay, and its new ways go together with the old ones of the others. */
static const struct cut {
	const char *words;
	unsigned n_down;
	uint16_t lid; /* and the seed */
} cuts[] = { { "dragonfly 4 1 2", 2, 7 }, { "random 24 4 1 3", 4, 26 },
	{ "torus 3x3x3 1", 5, 27 } };
#define N_CUTS ((int)(sizeof(cuts) / sizeof(*cuts)))

START_TEST(who_is_whole_is_not_drained)
{
	const struct cut *cut = &cuts[_i];
	struct plan *a, *b;

	a = make_plan(&updn_LTX_fm_engine, cut->words, cut->n_down, cut->lid, NULL, 0);
	cut_off(a, cut->lid);
	forget_repairs();
	b = make_plan(&updn_LTX_fm_engine, cut->words, 0, 0, a, 0);
	ck_assert_int_eq(b->change.kind, PLAN_RECOVERY);
	ck_assert_uint_eq(b->verdict.unreachable_pairs + b->verdict.credit_loops, 0);
	ck_assert_uint_eq(b->change.n_drained, 1);
	ck_assert_uint_ne(b->rules[cut->lid] & TRANSITION_DRAIN, 0);
	ck_assert_uint_gt(b->change.n_kept_old, 0);
	ck_assert(is_safe(a, b, false));
	plan_put(a);
	plan_put(b);
}
END_TEST

START_TEST(fat_trees_need_nothing)
{
	const char *words = "pgft 3 3,3,4 1,3,3 1,1,1";

	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct plan *a = make_plan(&fattree_LTX_fm_engine, words, 0, 0, NULL, 0);
		struct plan *b = make_plan(&updn_LTX_fm_engine, words, 0, 0, a, 0);
		struct plan *c = make_plan(&updn_LTX_fm_engine, words, 3, seed, b, 0);

		ck_assert_ptr_null(b->rules);
		ck_assert(is_safe(a, b, true));
		ck_assert(is_safe(b, c, c->rules == NULL));
		plan_put(a);
		plan_put(b);
		plan_put(c);
	}
}
END_TEST

static struct plan *
make_rooted_by(uint32_t root, struct plan *prev, enum plan_drain drain, enum plan_anew how,
    bool quiet, bool older)
{
	struct option_table table = option_table_of(&updn_LTX_fm_engine);
	char guid[24];
	struct setting setting = { "roots", { guid } };
	struct plan_request q = { .prev = prev,
		.drain = drain,
		.anew = how,
		.rebalance = PLAN_REBALANCE_NEVER,
		.quiet = quiet,
		.flight.older = older };
	struct chain_entry entry = { .engine = &updn_LTX_fm_engine, .name = "updn" };
	struct chain chain = { .entries = &entry, .n_entries = 1 };
	struct fm_error err = { 0 };
	struct option_values *values;
	struct fm_arena mem;
	struct plan *p;

	fm_arena_init(&mem, SIZE_MAX);
	q.chain = &chain;
	q.snap = fabric("torus 4x4 1", 0, 0);
	snprintf(guid, sizeof(guid), "0x%llx", (unsigned long long)q.snap->fab.sw_guid[root]);
	entry.values = values = option_values_new(&mem, &table, "updn");
	set_options(values, &setting, 1);
	ck_assert_msg(plan_make(&router, &q, &p, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(p->tables);
	snapshot_put(q.snap);
	fm_arena_fini(&mem);
	return p;
}

static struct plan *
make_rooted(uint32_t root, struct plan *prev, enum plan_drain drain)
{
	return make_rooted_by(root, prev, drain, PLAN_BY_CHAIN, false, false);
}

/* Another root is as another engine: up and down change places. */
START_TEST(another_engine_waits_for_a_word)
{
	struct plan *a = make_rooted(0, NULL, PLAN_DRAIN_LOSS);
	struct plan *b = make_rooted(10, a, PLAN_DRAIN_LOSS);
	struct plan *c = make_rooted(10, b, PLAN_DRAIN_ALWAYS);
	struct plan *d = make_rooted(10, a, PLAN_DRAIN_NEVER);

	ck_assert_ptr_nonnull(strstr(b->change.waiting, "fmctl drain"));
	ck_assert(b->tables == a->tables);
	ck_assert_int_eq(c->change.kind, PLAN_ENGINE);
	ck_assert_uint_gt(c->change.n_drained, 0);
	ck_assert(c->tables != a->tables);
	ck_assert(is_safe(b, c, false));
	ck_assert(!is_safe(b, c, true));
	ck_assert_uint_gt(d->change.n_waived, 0);
	ck_assert_uint_eq(d->change.n_drained, 0);
	plan_put(a);
	plan_put(b);
	plan_put(c);
	plan_put(d);
}
END_TEST

/* Nobody has to say "fmctl drain" when what was in the way has gone: here the root is the old one
 * again.  Tables that are still not to be had are tried no more, unless packets of older tables
 * were under way. */
START_TEST(what_waits_is_tried_again)
{
	struct plan *a = make_rooted(0, NULL, PLAN_DRAIN_LOSS);
	struct plan *b = make_rooted(10, a, PLAN_DRAIN_LOSS);
	struct plan *kept = make_rooted_by(10, b, PLAN_DRAIN_LOSS, PLAN_FROM_PREV, false, false);
	struct plan *older = make_rooted_by(10, b, PLAN_DRAIN_LOSS, PLAN_FROM_PREV, true, true);
	struct plan *again = make_rooted_by(10, b, PLAN_DRAIN_LOSS, PLAN_FROM_PREV, true, false);
	struct plan *c = make_rooted_by(0, b, PLAN_DRAIN_LOSS, PLAN_FROM_PREV, true, false);

	ck_assert(plan_wants_quiet_pass(b, NULL, &ROUTE_SETTINGS_DEFAULT, PLAN_REBALANCE_NEVER));
	ck_assert_str_eq(kept->change.waiting, b->change.waiting);
	ck_assert(plan_wants_quiet_pass(kept, NULL, &ROUTE_SETTINGS_DEFAULT, PLAN_REBALANCE_NEVER));
	ck_assert_str_eq(older->change.waiting, b->change.waiting);
	ck_assert(
	    plan_wants_quiet_pass(older, NULL, &ROUTE_SETTINGS_DEFAULT, PLAN_REBALANCE_NEVER));
	ck_assert_str_eq(again->change.waiting, b->change.waiting);
	ck_assert(
	    !plan_wants_quiet_pass(again, NULL, &ROUTE_SETTINGS_DEFAULT, PLAN_REBALANCE_NEVER));
	ck_assert_str_eq(c->change.waiting, "");
	ck_assert_uint_eq(c->change.n_drained, 0);
	ck_assert_int_eq(c->made, PLAN_ROUTED);
	plan_put(a);
	plan_put(b);
	plan_put(kept);
	plan_put(older);
	plan_put(again);
	plan_put(c);
}
END_TEST

/* What the switches hold after the first step from a to b. */
struct half_way {
	struct plan plan;
	struct tables tables;
	uint8_t **row; /* [n_switches] */
	FM_VEC(struct plan_installed) held;
};

static void
go_half_way(struct half_way *h, const struct plan *a, const struct plan *b)
{
	const struct fm_fabric *fab = &b->snap->fab;
	size_t row = (b->top_lid / 64 + 1) * 64;

	memset(h, 0, sizeof(*h));
	h->plan.snap = b->snap;
	h->plan.top_lid = b->top_lid;
	h->plan.tables = &h->tables;
	h->row = calloc(fab->n_switches, sizeof(*h->row));
	h->tables.t.lft = h->row;
	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		uint8_t *now = h->row[sw] = malloc(row);

		memcpy(now, b->tables->t.lft[sw], row);
		for (uint32_t lid = 1; b->rules != NULL && lid <= b->top_lid; lid++) {
			uint8_t was = a->tables->t.lft[sw][lid];

			if (b->rules[lid] & TRANSITION_DRAIN)
				now[lid] = was != now[lid] ? FM_PORT_NONE : was;
			else if (b->rules[lid] & TRANSITION_STEP)
				now[lid] = was;
		}
		for (uint32_t block = 0; block < row / 64; block++) {
			struct plan_installed held = { .sw = sw, .block = block };

			memcpy(held.bytes, now + (size_t)block * 64, 64);
			if (memcmp(held.bytes, b->tables->t.lft[sw] + (size_t)block * 64, 64) != 0)
				ck_assert(fm_vec_push(&h->held, held));
		}
	}
}

static void
free_half_way(struct half_way *h)
{
	for (fm_sw sw = 0; sw < h->plan.snap->fab.n_switches; sw++)
		free(h->row[sw]);
	free(h->row);
	fm_vec_fini(&h->held);
}

/* A loss, and before its second step a loss of more. */
START_TEST(writing_is_broken_off)
{
	unsigned n_broken = 0, n_naive = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		const char *words = fabrics[_i];
		struct plan *a = make_plan(&updn_LTX_fm_engine, words, 0, 0, NULL, 0), *b, *c;
		struct broken_off older;
		struct half_way h;

		b = make_plan(&updn_LTX_fm_engine, words, 1 + seed % 4, seed, a, 0);
		go_half_way(&h, a, b);
		if (h.held.n > 0) {
			n_broken++;
			c = make_plan_from(&updn_LTX_fm_engine, words, 5 + seed % 4, seed, b, 0,
			    (struct held_blocks){ h.held.item, h.held.n });
			older = (struct broken_off){ a, b };
			ck_assert(is_safe_after(&older, &h.plan, c, false));
			n_naive += !is_safe_after(&older, &h.plan, c, true);
			ck_assert_uint_eq(c->verdict.credit_loops + c->verdict.loops, 0);
			plan_put(c);
		}
		free_half_way(&h);
		plan_put(a);
		plan_put(b);
	}
	ck_assert_uint_gt(n_broken, 0);
	ck_assert_uint_gt(n_naive, 0);
}
END_TEST

/* ------------------------------------------------------------------- other SLs */

/* SLs of packets that an end of sw sends to the LID, replies too, when paths are those of p. */
static unsigned
sls_sent(const struct plan *p, fm_end e, uint16_t lid)
{
	const struct fm_fabric *fab = &p->snap->fab;
	fm_sw to = fab->end_sw[fab->lid_end[lid]];

	return 1u << tables_sl(&p->tables->t, fab->end_sw[e], lid) |
	    1u << tables_sl(&p->tables->t, to, fab->end_lid[e]);
}

/* sls: of the paths of old ones, of new ones or of both. */
static void
add_sls(struct graph *g, const struct plan *old, const struct plan *new, uint16_t lid, unsigned sls,
    unsigned modes, bool ordered)
{
	const struct fm_fabric *fab = g->fab;
	uint8_t *seen = calloc(fab->n_links + 1u, 1);

	for (fm_end e = 0; e < fab->n_ends; e++) {
		unsigned sent = 0;

		if (!is_ca(fab, e))
			continue;
		sent |= sls & OLD ? sls_sent(old, e, lid) : 0;
		sent |= sls & NEW ? sls_sent(new, e, lid) : 0;
		for (unsigned sl = 0; sl < 16; sl++) {
			if (!(sent >> sl & 1))
				continue;
			for (unsigned side = 0; side < 2; side++) {
				memset(seen, 0, fab->n_links + 1u);
				g->vl = sl % (side == 0 ? old : new)->tables->t.n_vls_used;
				spread(g, old, new, lid, fab->end_sw[e], FM_NONE, OLD | NEW, modes,
				    ordered, seen);
			}
		}
	}
	free(seen);
}

/* Until hosts are told: old SLs in each step, then (step 17) new ones as well, while the
 * entries of the drained are empty and packets of the last step on their way, or (18) filled
 * in spite of that. */
static void
add_sls_in_step(
    struct graph *g, const struct plan *old, const struct plan *new, uint16_t lid, unsigned step)
{
	uint8_t rule = new->rules != NULL ? new->rules[lid] : 0;
	unsigned of = rule & TRANSITION_STEP;
	bool whole = (rule & TRANSITION_DRAIN_COLUMN) == TRANSITION_DRAIN_COLUMN;

	if (whole && step > 0 && step < 18)
		return; /* its packets are gone */
	if (step >= 17)
		add_sls(g, old, new, lid, OLD | NEW,
		    rule & TRANSITION_DRAIN && step == 17 ? CUT : NEW, false);
	if (step == 17)
		step = last_step(new);
	if (step == 18)
		return;
	if (rule & TRANSITION_DRAIN)
		add_sls(g, old, new, lid, OLD, step > 0 ? CUT : OLD, false);
	else if (of != step)
		add_sls(g, old, new, lid, OLD, of < step ? NEW : OLD, false);
	else
		add_sls(g, old, new, lid, OLD, OLD | NEW,
		    (rule & TRANSITION_NEXT_HOP_FIRST) != 0 && !whole);
}

static bool
is_cyclic_in(const struct plan *old, const struct plan *new, unsigned step)
{
	const struct fm_fabric *fab = &new->snap->fab;
	uint32_t n_old = old->tables->t.n_vls_used, n_new = new->tables->t.n_vls_used;
	struct graph g = { .fab = fab, .n_vls = n_old > n_new ? n_old : n_new };
	size_t n = (size_t)fab->n_links * g.n_vls;
	bool cyclic;

	g.dep = calloc(n * n + 1, 1);
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		if (fab->lid_end[lid] != FM_NONE)
			add_sls_in_step(&g, old, new, (uint16_t)lid, step);
	cyclic = has_cycle(&g);
	free(g.dep);
	return cyclic;
}

/* Where the old SLs are not safe on new entries these stay empty till hosts are told:
 * until then nothing closes a cycle, under SLs that were handed out before or after. */
START_TEST(old_sls_end_at_empty_entries)
{
	static const char *const words[] = { "random 24 4 1 3", "random 20 5 1 9" };
	unsigned n_held = 0, n_cyclic = 0;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		const char *of = words[_i];
		struct plan *a = make_plan(&dfsssp_LTX_fm_engine, of, 0, 0, NULL, 0);
		struct plan *b = make_plan(&dfsssp_LTX_fm_engine, of, 1 + seed % 3, seed, a, 0);

		ck_assert(b->made == PLAN_REPAIRED);
		ck_assert_int_eq(b->change.sls_clash, reconfig_awaits_hosts(b));
		for (unsigned step = 0; step <= 17; step++)
			ck_assert_msg(!is_cyclic_in(a, b, step), "%s, seed %u, step %u", of,
			    (unsigned)seed, step);
		n_held += b->change.sls_clash;
		n_cyclic += b->change.sls_clash && is_cyclic_in(a, b, 18);
		ck_assert(
		    b->change.sls_clash || b->change.n_drained > 0 || !is_cyclic_in(a, b, 18));
		plan_put(a);
		plan_put(b);
	}
	ck_assert_uint_gt(n_held, 0);
	ck_assert_uint_eq(n_cyclic, n_held);
}
END_TEST

/* Of whom the tables say that they were cut off though their ways were whole, there are as many
 * as they say: each host and switch still got to them by the old entries. */
static void
assert_cut_as_told(const struct plan *a, const struct plan *b)
{
	const struct fm_fabric *fab = &b->snap->fab;
	unsigned n_whole = 0;

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		bool whole = (b->rules[lid] & TRANSITION_DRAIN_COLUMN) == TRANSITION_DRAIN_COLUMN;

		for (fm_sw sw = 0; whole && sw < fab->n_switches; sw++)
			whole = sw == fab->end_sw[fab->lid_end[lid]] ||
			    way(fab, a, sw, (uint16_t)lid) != FM_NONE;
		n_whole += whole;
	}
	ck_assert_uint_eq(n_whole, b->change.n_cut);
}

/* A layered engine routes anew after a loss, and all SLs are others: who would close a cycle
 * is drained, with all entries; the others are written when its packets are gone. */
START_TEST(anew_after_a_loss)
{
	static const char *const words[] = { "random 24 4 1 3", "random 20 5 1 9",
		"random 32 4 1 11", "dragonfly 4 1 2" };
	const char *of = words[_i];
	unsigned n_drained = 0, n_cut = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct plan *a, *b;

		anew = false;
		a = make_plan(&dfsssp_LTX_fm_engine, of, 0, 0, NULL, 0);
		anew = true;
		b = make_plan(&dfsssp_LTX_fm_engine, of, 1 + seed % 3, seed, a, 0);
		ck_assert_int_eq(b->change.kind, PLAN_LOSS);
		for (unsigned step = 0; step <= 17; step++)
			ck_assert_msg(!is_cyclic_in(a, b, step), "%s, seed %u, step %u", of,
			    (unsigned)seed, step);
		ck_assert(is_cyclic_in(a, b, 18)); /* without a drain */
		ck_assert(b->change.whole_columns && reconfig_awaits_hosts(b));
		ck_assert_uint_lt(b->change.n_drained, b->change.n_lids);
		n_drained += b->change.n_drained;
		n_cut += b->change.n_cut;
		assert_cut_as_told(a, b);
		plan_put(a);
		plan_put(b);
	}
	ck_assert_uint_lt(2 * n_cut, n_drained);
}
END_TEST

/* SLs and VLs: it ends, and what it leaves is proven. */
START_TEST(layered_engines_have_their_steps_too)
{
	static const struct fm_engine *const engines[] = { &dfsssp_LTX_fm_engine,
		&torus2qos_LTX_fm_engine };
	const struct fm_engine *engine = engines[_i];

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct plan *a = make_plan(engine, "torus 4x4 1", 0, 0, NULL, 0);
		struct plan *b = make_plan(engine, "torus 4x4 1", 1, seed, a, 0);
		struct plan *c = make_plan(engine, "torus 4x4 1", 0, 0, b, 0);

		ck_assert_str_eq(b->engine, engine->name);
		ck_assert_uint_eq(b->verdict.credit_loops, 0);
		ck_assert_uint_eq(c->verdict.credit_loops, 0);
		ck_assert(c->change.n_drained == 0 || c->change.kind == PLAN_LOSS);
		plan_put(a);
		plan_put(b);
		plan_put(c);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("reconfig");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 600);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, links_go_and_come_back, 0, N_FABRICS);
	tcase_add_loop_test(t, switches_join, 0, 4 * N_FABRICS);
	tcase_add_loop_test(t, who_is_whole_is_not_drained, 0, N_CUTS);
	tcase_add_test(t, fat_trees_need_nothing);
	tcase_add_test(t, another_engine_waits_for_a_word);
	tcase_add_test(t, what_waits_is_tried_again);
	tcase_add_loop_test(t, writing_is_broken_off, 0, N_FABRICS);
	tcase_add_loop_test(t, old_sls_end_at_empty_entries, 0, 2);
	tcase_add_loop_test(t, anew_after_a_loss, 0, 4);
	tcase_add_loop_test(t, layered_engines_have_their_steps_too, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
