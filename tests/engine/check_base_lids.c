/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fullest link bears hangs on the cables alone, with every engine on every kind of
 * fabric.  Base LIDs carry nearly all traffic: with alternates beside them (LMC 1 and 2) it bears
 * what it bears without, but for a twentieth; and under other names, but for a tenth.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>

#include "lab/judge/metrics.h"
#include "plugins/common/sssp/local_search.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

extern const struct fm_engine updn_LTX_fm_engine, dnup_LTX_fm_engine, minhop_LTX_fm_engine,
    fattree_LTX_fm_engine, sssp_LTX_fm_engine, dfsssp_LTX_fm_engine, lash_LTX_fm_engine,
    nue_LTX_fm_engine, dor_LTX_fm_engine, torus2qos_LTX_fm_engine, hyperx_LTX_fm_engine,
    dragonfly_LTX_fm_engine, shortestpath_LTX_fm_engine, dgshortestpath_LTX_fm_engine;

enum kind { TREE = 1, TORUS = 2, CUBE = 4, HYPERX = 8, DRAGONFLY = 16, OTHER = 32, ANY = 63 };

/* An engine refuses kinds that are not its own. */
static const struct {
	const struct fm_engine *engine;
	unsigned kinds;
} engines[] = {
	{ &updn_LTX_fm_engine, ANY },
	{ &dnup_LTX_fm_engine, ANY },
	{ &minhop_LTX_fm_engine, ANY },
	{ &sssp_LTX_fm_engine, ANY },
	{ &dfsssp_LTX_fm_engine, ANY },
	{ &lash_LTX_fm_engine, ANY },
	{ &nue_LTX_fm_engine, ANY },
	{ &shortestpath_LTX_fm_engine, ANY },
	{ &dgshortestpath_LTX_fm_engine, ANY },
	{ &fattree_LTX_fm_engine, TREE },
	{ &dor_LTX_fm_engine, TORUS | CUBE | HYPERX },
	{ &torus2qos_LTX_fm_engine, TORUS | CUBE },
	{ &hyperx_LTX_fm_engine, CUBE | HYPERX },
	{ &dragonfly_LTX_fm_engine, DRAGONFLY | HYPERX },
};
#define N_ENGINES (sizeof(engines) / sizeof(*engines))

/* Leaves of eight hosts and two spines with three or four cables to each: a route of a whole leaf
 * more or less on one cable is a fifth of what it bears, and which cable of those to a neighbour a
 * destination gets goes by numbers on trees. */
#define FEW_LEAVES "pgft 2 8,4 1,2 1,4"

static const struct {
	const char *words;
	double links_pct;
	enum kind kind;
} fabrics[] = {
	{ "tree3 4 4 4 2 4 6 storage=2 seed=1", 0, TREE },
	{ "tree3 4 7 10 5 14 20", 0, TREE },
	{ "pods 4 6 2 3 6 6", 0, TREE },
	{ "pods 3 8 8 0 8 6", 0, TREE },
	{ "director 24 8 20 8 4 8 seed=1", 0, TREE },
	{ "pgft 2 6,6 1,4 1,1", 0, TREE },
	{ "pgft 3 6,6,6 1,6,6 1,1,1", 5, TREE },
	{ FEW_LEAVES, 5, TREE },
	{ "random 30 6 4 3", 0, OTHER },
	{ "kautz 3 2 7 2", 0, OTHER },
	{ "slimfly 5 3", 0, OTHER },
	{ "torus 4x4x4 2", 0, CUBE },	/* a ring of four is a square */
	{ "torus 4x4x3 4 4", 0, CUBE }, /* rings of three and four; cables are dealt to LIDs */
	{ "torus 5x5 3", 4, TORUS },
	{ "hypercube 5 3", 0, CUBE },
	{ "hyperx 6x4 4", 0, HYPERX },
	{ "dragonfly 4 2 2", 0, DRAGONFLY },
	{ "dragonfly 6 3 3 7", 0, DRAGONFLY },
	{ "dragonfly 6 3 3 7", 4, DRAGONFLY },
};
#define N_FABRICS (sizeof(fabrics) / sizeof(*fabrics))

/* What may be more than that, in percent of the lesser; 0: as all. */
static const struct {
	const struct fm_engine *engine; /* NULL: any */
	const char *words;
	unsigned lmc_pct, names_pct;
} exceptions[] = {
	{ NULL, FEW_LEAVES, 0, 120 },
	/* With more LIDs there are more trees to fit into the VLs; one leaf's routes more. */
	{ &dfsssp_LTX_fm_engine, "kautz 3 2 7 2", 109, 0 },
	/* Arithmetic deals boards by number, and only what is beyond half as much again as the
	 * mean is led round it. */
	{ &fattree_LTX_fm_engine, "director 24 8 20 8 4 8 seed=1", 0, 117 },
};

/* Which engine on which fabric. */
struct run {
	size_t e, i;
};

static struct run
run_of(int i)
{
	return (struct run){ (size_t)i / N_FABRICS, (size_t)i % N_FABRICS };
}

static bool
is_taken(struct run run)
{
	return (engines[run.e].kinds & fabrics[run.i].kind) != 0;
}

static unsigned
bound(struct run run, bool names)
{
	for (size_t k = 0; k < sizeof(exceptions) / sizeof(*exceptions); k++)
		if ((exceptions[k].engine == NULL ||
			exceptions[k].engine == engines[run.e].engine) &&
		    strcmp(exceptions[k].words, fabrics[run.i].words) == 0) {
			unsigned pct = names ? exceptions[k].names_pct : exceptions[k].lmc_pct;

			if (pct != 0)
				return pct;
		}
	return names ? 110 : 105;
}

/* seed: of other names; 0: as made. */
static uint64_t
fullest(struct run run, uint8_t lmc, uint64_t seed)
{
	const struct fabric f = { .words = fabrics[run.i].words,
		.links_pct = fabrics[run.i].links_pct };
	struct metrics_request how = { .ebb_samples = 1 };
	struct netlist plain = { 0 }, other = { 0 };
	struct fm_error err = { 0 };
	struct metrics m = { 0 };
	struct routed r;

	make_netlist(&f, &plain);
	ck_assert_int_eq(netlist_rename(&plain, seed, &other, &err), 0);
	route_with(
	    &r, engines[run.e].engine, snapshot_of(seed != 0 ? &other : &plain, lmc), NULL, 0);
	ck_assert_msg(r.rc == (is_taken(run) ? 0 : FM_E_TOPOLOGY), "%s on %s: %s",
	    engines[run.e].engine->name, fabrics[run.i].words, r.err.msg);
	if (r.rc == 0) {
		ck_assert_uint_eq(judge(&r, 8).unreachable_pairs, 0);
		ck_assert_int_eq(
		    metrics_compute(r.snap, &r.tables->t, &how, r.router.workers, &m, &err), 0);
	}
	routed_fini(&r);
	netlist_fini(&plain);
	netlist_fini(&other);
	return m.load_max;
}

START_TEST(alternates_leave_base_lids_alone)
{
	struct run run = run_of(_i);
	uint64_t alone = fullest(run, 0, 0);

	for (uint8_t lmc = 1; is_taken(run) && lmc <= 2; lmc++) {
		uint64_t beside = fullest(run, lmc, 0);

		ck_assert_msg(100 * beside <= bound(run, false) * alone || beside <= alone + 1,
		    "%s on %s: %" PRIu64 " routes on the fullest link, with LMC %u %" PRIu64,
		    engines[run.e].engine->name, fabrics[run.i].words, alone, lmc, beside);
	}
}
END_TEST

START_TEST(names_choose_nothing)
{
	struct run run = run_of(_i);
	uint64_t less = UINT64_MAX, more = 0;

	for (uint64_t seed = 0; is_taken(run) && seed <= 3; seed++) {
		uint64_t most = fullest(run, 0, seed);

		less = most < less ? most : less;
		more = most > more ? most : more;
	}
	ck_assert_msg(100 * more <= bound(run, true) * less || more <= less + 1,
	    "%s on %s: %" PRIu64 " to %" PRIu64 " routes on the fullest link by names",
	    engines[run.e].engine->name, fabrics[run.i].words, less, more);
}
END_TEST

/* Bounds of work are those of LMC 0, too. */
START_TEST(as_much_work_is_spent)
{
	enum { N_ENDS = 3000, N_LINKS = FM_LOCAL_SEARCH_MOST / N_ENDS };
	static uint8_t kind[N_ENDS], lmc[N_ENDS];
	static uint16_t lid[N_ENDS];
	struct fm_fabric base = { .n_ends = N_ENDS,
		.n_links = N_LINKS,
		.max_lid = 4 * N_ENDS,
		.end_kind = kind,
		.end_lmc = lmc,
		.end_lid = lid };

	for (unsigned e = 0; e < N_ENDS; e++)
		lid[e] = (uint16_t)(4 * e + 1);
	ck_assert(fm_local_search_applies(&base));
	base.n_links++;
	ck_assert(!fm_local_search_applies(&base));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("base_lids");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, alternates_leave_base_lids_alone, 0, (int)(N_ENGINES * N_FABRICS));
	tcase_add_loop_test(t, names_choose_nothing, 0, (int)(N_ENGINES * N_FABRICS));
	tcase_add_test(t, as_much_work_is_spent);
	suite_add_tcase(s, t);
	return run_suite(s);
}
