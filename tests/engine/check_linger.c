/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of hosts that have gone, while cables are lost and come back: with those of all
 * others they have no cycle of dependencies, on the cables that there are.
 *
 * The judge is verify_tables() on the same fabric with these hosts in it.  One host of each
 * switch stays, so it sees no sender that there is not.
 */
#include "config.h"

#include "tests/engine/breaking.h"
#include "tests/run.h"

#define N_STEPS 14

static const struct {
	const char *words, *engine;
} courses[] = {
	{ "torus 5x5 2", "updn" },
	{ "random 20 5 2 3", "updn" },
	{ "random 16 4 2 3", "dfsssp" },
	{ "torus 4x4 2", "lash" },
	{ "random 14 4 2 3", "nue" },
	{ "pgft 2 4,6 1,4 1,1", "minhop" },
	{ "pgft 2 4,6 1,4 1,1", "fattree" },
};

struct leaving {
	struct breaking b;
	uint64_t *ends; /* bits: gone */
	struct snapshot *now;
};

static void
see(struct leaving *l)
{
	struct snapshot_loss loss = { .links = l->b.links, .ends = l->ends };
	struct fm_error err = { 0 };

	snapshot_put(l->now);
	ck_assert_int_eq(snapshot_without(l->b.whole, &loss, &l->now, &err), 0);
}

/* The first host of a switch stays, and so does the highest LID. */
static bool
may_leave(const struct fm_fabric *fab, fm_end e)
{
	fm_end first = fab->sw_first_end[fab->end_sw[e]];

	if (!is_ca(fab, e))
		return false;
	while (!is_ca(fab, first))
		first++;
	return e != first && fab->end_lid[e] != fab->max_lid;
}

static void
draw(struct leaving *l)
{
	const struct fm_fabric *fab = &l->b.whole->fab;
	uint32_t what = fm_rng_below(&l->b.rng, 10);

	for (fm_end e = 0; e < fab->n_ends && what < 6; e++)
		if (may_leave(fab, e) && fm_rng_below(&l->b.rng, 4) == 0)
			fm_bit_set(l->ends, e);
	for (fm_end e = 0; e < fab->n_ends && what == 9; e++)
		if (fm_rng_below(&l->b.rng, 4) == 0)
			fm_bit_clear(l->ends, e);
	if (what >= 3 && what < 8 && l->b.n_gone < 8)
		happen(&l->b, LINK);
	else if (what >= 7)
		give_back(&l->b, what == 8);
	see(l);
}

/* False: a cycle that the lingering columns close. */
static bool
is_free_of_cycles(struct course *c, struct leaving *l, struct verdict *v)
{
	struct verify_request req = { .n_vls = 8, .sl_model = plan_sl_model(&c->router, c->plan) };
	struct snapshot_loss loss = { .links = l->b.links };
	struct fm_error err = { 0 };
	struct snapshot *all;

	if (c->plan->absent.n == 0 || c->plan->top_lid < l->b.whole->fab.max_lid ||
	    c->plan->verdict.credit_loops > 0)
		return true;
	/* replies are by the SLs of hosts that have gone, too: the judge would see theirs */
	if (c->plan->tables->t.sl_shape != FM_SL_ZERO)
		req.sl_model = VERIFY_FORWARD;
	ck_assert_int_eq(snapshot_without(l->b.whole, &loss, &all, &err), 0);
	ck_assert_int_eq(
	    verify_tables(all, &c->plan->tables->t, &req, c->router.workers, v, &err), 0);
	snapshot_put(all);
	return v->credit_loops == 0;
}

/* What has entries, has an owner or is known to linger. */
static void
assert_all_known(const struct plan *p)
{
	const struct fm_fabric *fab = &p->snap->fab;
	bool *known = calloc(p->top_lid + 1u, sizeof(*known));

	for (size_t i = 0; i < p->absent.n; i++)
		known[p->absent.item[i].lid] = true;
	for (uint32_t lid = 1; lid <= p->top_lid; lid++)
		for (fm_sw sw = 0; sw < fab->n_switches; sw++)
			ck_assert_msg(p->tables->t.lft[sw][lid] == FM_PORT_NONE || known[lid] ||
				(lid <= fab->max_lid && fab->lid_end[lid] != FM_NONE),
			    "switch %u has an entry of LID %u", sw, lid);
	free(known);
}

/* The delta says all that differs. */
static void
assert_delta_is_whole(const struct plan *was, const struct plan *p)
{
	uint32_t n = 0;

	if (p->delta_base != was->number)
		return;
	for (fm_sw sw = 0; sw < p->snap->fab.n_switches; sw++)
		for (uint32_t lid = 1; lid <= was->top_lid; lid++)
			n += p->tables->t.lft[sw][lid] != was->tables->t.lft[sw][lid];
	ck_assert_uint_eq(n, p->delta.n);
}

/* LIDs that were absent before, are still, and have no entries any more. */
static uint32_t
count_ended(const struct plan *was, const struct plan *p)
{
	const struct fm_fabric *fab = &p->snap->fab;
	size_t n_back = 0;

	for (size_t i = 0; i < was->absent.n; i++) {
		uint16_t lid = was->absent.item[i].lid;
		bool lingers = lid <= fab->max_lid && fab->lid_end[lid] != FM_NONE;

		for (size_t j = 0; j < p->absent.n && !lingers; j++)
			lingers = p->absent.item[j].lid == lid;
		n_back += lingers;
	}
	return p->made != PLAN_ROUTED ? (uint32_t)(was->absent.n - n_back) : 0;
}

START_TEST(lingering_columns_close_no_cycle)
{
	uint32_t n_bad = 0, n_lingering = 0, n_ended = 0;
	char witness[512] = "";

	for (uint64_t seed = 1; seed <= (getenv("FMD_LONG") != NULL ? 300 : 25); seed++) {
		struct leaving l = { 0 };
		struct course c;

		error_logged[0] = '\0';
		breaking_init(&l.b, courses[_i].words, seed);
		l.ends = calloc(l.b.whole->fab.n_ends / 64 + 1, 8);
		see(&l);
		course_init(&c, courses[_i].engine, 2);
		go_on(&c, plan_for(&c, l.now, false));
		for (unsigned i = 0; i < N_STEPS; i++) {
			struct verdict v = { 0 };
			struct plan *p;

			if (fm_rng_below(&l.b.rng, 2) == 0)
				prepare(&c);
			draw(&l);
			p = plan_for(&c, l.now, false);
			assert_all_known(p);
			assert_delta_is_whole(c.plan, p);
			n_ended += count_ended(c.plan, p);
			go_on(&c, p);
			n_lingering += c.plan->absent.n > 0;
			if (is_free_of_cycles(&c, &l, &v))
				continue;
			n_bad++;
			snprintf(witness, sizeof(witness), "seed %u step %u: %.400s",
			    (unsigned)seed, i, v.witness);
		}
		ck_assert_msg(error_logged[0] == '\0', "%s", error_logged);
		course_fini(&c);
		snapshot_put(l.now);
		free(l.ends);
		breaking_fini(&l.b);
	}
	if (getenv("FMD_REPAIR_TELL") != NULL)
		printf("%s, %s: %u plans with lingering LIDs, %u with a cycle, %u LIDs "
		       "ended\n",
		    courses[_i].words, courses[_i].engine, n_lingering, n_bad, n_ended);
	ck_assert_msg(n_bad == 0, "%s, %s: %u of %u plans: %s", courses[_i].words,
	    courses[_i].engine, n_bad, n_lingering, witness);
	ck_assert_uint_gt(n_lingering, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("linger");
	TCase *tc = tcase_create("linger");
	int failed;

	tcase_set_timeout(tc, getenv("FMD_LONG") != NULL ? 600 : 60);
	if (!breaking_begin())
		return 1;
	tcase_add_loop_test(
	    tc, lingering_columns_close_no_cycle, 0, (int)(sizeof(courses) / sizeof(courses[0])));
	suite_add_tcase(suite, tc);
	failed = run_suite(suite);
	engine_set_fini(&set);
	return failed;
}
