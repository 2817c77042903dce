/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repair: cables and switches that go and come back, by seed, on fabrics of many
 * kinds under engines of every class.  After each event must hold:
 *
 *	pairs	 as many reachable as after routing anew
 *	verdict	 the same as that of verify_tables() (router.check_repairs; a
 *		 difference is logged as an error, and no error may be logged)
 *	delta	 the entries that differ from the tables before, and no others
 *	nominal	 when all is back, the tables of the first route, byte for byte,
 *		 but for LIDs that would have to be drained (reconfig.h)
 *	workers	 the same bytes with one worker and with two, or eight
 *	prepared likewise with all that repair_prepare() makes, and without
 *	SLs	 no pair has another than before, unless what it sends goes another way
 *	restart	 repaired tables, and what they were, outlive the process
 *	few	 entries changed: at most 1.05 of those that have to change
 *
 * FMD_LONG=1: ten times as many events.  FMD_REPAIR_TELL=1 prints counts.
 */
#include "config.h"

#include <unistd.h>

#include "core/plan/plan_file.h"
#include "core/route/route.h"
#include "lab/judge/metrics.h"
#include "tests/engine/breaking.h"
#include "tests/engine/oracle.h"
#include "tests/run.h"

#define N_EVENTS 24

/* Has the LID come since, so that its column may be a copy that is no repair? */
static bool
has_come(const struct plan *was, const struct plan *now, uint32_t lid)
{
	return now->delta_base == 0 &&
	    (lid > was->snap->fab.max_lid || was->snap->fab.lid_end[lid] == FM_NONE);
}

static void
assert_delta(const struct plan *was, const struct plan *now, const char *what)
{
	size_t i = 0;

	if (now->made != PLAN_REPAIRED)
		return;
	ck_assert(now->delta_base == was->number || now->delta_base == 0);
	for (fm_sw s = 0; s < now->snap->fab.n_switches; s++)
		for (uint32_t lid = 0; lid < now->tables->t.lft_stride; lid++) {
			bool listed = i < now->delta.n && now->delta.item[i].sw == s &&
			    now->delta.item[i].lid == lid;

			ck_assert_msg(has_come(was, now, lid) ||
				(was->tables->t.lft[s][lid] != now->tables->t.lft[s][lid]) ==
				    listed,
			    "%s: entry of switch %u LID %u", what, s, lid);
			if (listed)
				ck_assert_uint_eq(
				    now->delta.item[i++].port, now->tables->t.lft[s][lid]);
		}
	ck_assert_uint_eq(i, now->delta.n);
}

/* Do packets from sw to the LID go another way? */
static bool
is_rerouted(const struct plan *was, const struct plan *now, fm_sw sw, uint32_t lid)
{
	const struct fm_fabric *fab = &now->snap->fab;

	for (uint32_t n = 0; n < fab->n_switches; n++) {
		uint8_t port = now->tables->t.lft[sw][lid];
		fm_link l = fm_link_at(fab, sw, port);

		if (was->tables->t.lft[sw][lid] != port)
			return true;
		if (l == FM_NONE)
			return false;
		sw = fab->link_to[l];
	}
	return false;
}

/* Of what the ends of the one switch send to those of the other. */
static bool
is_any_rerouted(const struct plan *was, const struct plan *now, fm_sw from, fm_sw to)
{
	const struct fm_fabric *fab = &now->snap->fab;

	for (fm_end e = fab->sw_first_end[to]; e < fab->sw_first_end[to + 1]; e++)
		for (uint32_t i = 0; i < 1u << fab->end_lmc[e]; i++)
			if (is_rerouted(was, now, from, fab->end_lid[e] + i))
				return true;
	return false;
}

/* Did the switch have ends, and the LID an owner?  Who was away has not been told of paths. */
static bool
was_there(const struct plan *was, fm_sw sw, uint32_t lid)
{
	const struct fm_fabric *fab = &was->snap->fab;

	return fab->sw_first_end[sw] < fab->sw_first_end[sw + 1] && lid <= fab->max_lid &&
	    fab->lid_end[lid] != FM_NONE;
}

/* (switch, LID) with other SLs than before: only where ways have changed, there or back. */
static uint32_t
count_moved(const struct plan *was, const struct plan *now, const char *what)
{
	const struct fm_fabric *fab = &now->snap->fab;
	uint64_t *switches = calloc(fab->n_switches / 64 + 1, 8);
	uint32_t n = 0;
	bool told;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
			fm_sw to;

			if (fab->lid_end[lid] == FM_NONE || !was_there(was, s, lid) ||
			    tables_sl(&was->tables->t, s, (uint16_t)lid) ==
				tables_sl(&now->tables->t, s, (uint16_t)lid))
				continue;
			to = fab->end_sw[fab->lid_end[lid]];
			ck_assert_msg(
			    is_any_rerouted(was, now, s, to) || is_any_rerouted(was, now, to, s),
			    "%s: switch %u to LID %u: SL %u, not %u", what, s, lid,
			    tables_sl(&now->tables->t, s, (uint16_t)lid),
			    tables_sl(&was->tables->t, s, (uint16_t)lid));
			n++;
		}
	told = plan_other_sls(was, now, switches) > 0;
	ck_assert_msg(n == 0 || told, "%s: nobody is told of other SLs", what);
	free(switches);
	return n;
}

static void
assert_same_sls(const struct plan *a, const struct plan *b, const char *what)
{
	const struct fm_tables *x = &a->tables->t, *y = &b->tables->t;

	ck_assert_int_eq(x->sl_shape, y->sl_shape);
	ck_assert_uint_eq(x->n_vls_used, y->n_vls_used);
	for (fm_sw s = 0; s < a->snap->fab.n_switches; s++)
		for (uint32_t lid = 1; lid <= a->top_lid; lid++)
			ck_assert_msg(
			    tables_sl(x, s, (uint16_t)lid) == tables_sl(y, s, (uint16_t)lid),
			    "%s: SLs of switch %u to LID %u differ", what, s, lid);
}

/* ----------------------------------------------------------------- courses */

static const struct run {
	const char *words, *engine;
	uint32_t least_repaired; /* of 100 events that are no recoveries to the whole */
} runs[] = {
	{ "pgft 2 6,6 1,6 1,1", "fattree", 60 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", "fattree", 60 },
	{ "pgft 3 4,4,4 1,4,4 1,1,1", "minhop", 60 },
	{ "pgft 3 3,3,4 1,2,2 1,1,2", "updn", 50 },
	{ "pgft 3 6,6,6 1,6,6 1,1,1", "fattree", 60 }, /* events of many entries, as the next */
	{ "torus 8x8 4", "updn", 50 },
	{ "torus 5x5 1", "updn", 60 },
	{ "torus 5x5 1", "minhop", 60 },
	{ "torus 4x4 1", "torus2qos", 60 },
	{ "random 24 5 2 7", "updn", 60 },
	{ "random 24 5 2 7", "dfsssp", 60 },
	{ "random 24 5 2 7", "lash", 60 },
	{ "random 24 5 2 7", "nue", 20 },
	{ "torus 4x4x3 1", "torus2qos", 60 },
	{ "dragonfly 4 2 2", "nue", 10 },
	{ "dragonfly 4 2 2", "dragonfly", 60 },
	{ "dragonfly 4 2 2", "updn", 60 },
	{ "dragonfly 4 2 2", "dfsssp", 60 },
	{ "dragonfly 4 2 2", "lash", 60 },
	{ "torus 4x4x4 1", "dfsssp", 60 },
	{ "torus 5x5 1", "lash", 10 },
};
#define N_RUNS ((int)(sizeof(runs) / sizeof(*runs)))

/* --------------------------------------------------------- few entries */

/* Entries that have to change where ways are to be shortest ones, and those that did. */
struct few {
	uint32_t must;	    /* packets: the first of a way that is on no shortest way now */
	uint32_t idle_must; /* no packets, and the port is dead */
	uint32_t n_idle;    /* LIDs that have such */
	uint32_t did, idle_did;
};

/* bad: on[sw] 2 where a way from some host on sw leaves the shortest ones first; else all
 * that packets come by: 1. */
static void
follow_hosts(const struct plan *p, const struct fm_fabric *fab, uint32_t lid, const uint32_t *hops,
    uint8_t *on)
{
	memset(on, 0, fab->n_switches);
	for (fm_end e = 0; e < fab->n_ends; e++) {
		fm_sw sw = fab->end_sw[e];

		for (uint32_t n = 0; is_ca(fab, e) && n < fab->n_switches && on[sw] == 0; n++) {
			fm_link l = fm_link_at(fab, sw, p->tables->t.lft[sw][lid]);
			bool ok =
			    hops == NULL || (l != FM_NONE && hops[fab->link_to[l]] + 1 == hops[sw]);

			if (sw == fab->end_sw[fab->lid_end[lid]])
				break;
			on[sw] = ok ? 1 : 2;
			if (!ok || l == FM_NONE)
				break;
			sw = fab->link_to[l];
		}
	}
}

static void
count_few(const struct plan *was, const struct plan *is, enum fm_end_kind kind, struct few *few)
{
	const struct fm_fabric *fab = &is->snap->fab;
	uint32_t *hops = malloc((fab->n_switches + 1) * sizeof(*hops));
	uint8_t *bad = malloc(fab->n_switches), *on = malloc(fab->n_switches);

	for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
		uint32_t n_idle = 0;

		if (fab->lid_end[lid] == FM_NONE || fab->end_kind[fab->lid_end[lid]] != kind)
			continue;
		count_hops(fab, fab->end_sw[fab->lid_end[lid]], hops);
		follow_hosts(was, fab, lid, hops, bad);
		follow_hosts(is, fab, lid, NULL, on);
		for (fm_sw s = 0; s < fab->n_switches; s++) {
			uint8_t port = was->tables->t.lft[s][lid];
			bool dead = fm_link_at(fab, s, port) == FM_NONE && hops[s] != FM_NONE &&
			    s != fab->end_sw[fab->lid_end[lid]];
			bool changed = is->tables->t.lft[s][lid] != port;

			few->must += bad[s] == 2;
			n_idle += dead && bad[s] != 2 && on[s] == 0;
			few->did += changed && on[s] != 0;
			few->idle_did += changed && on[s] == 0;
		}
		few->idle_must += n_idle;
		few->n_idle += n_idle > 0;
	}
	free(hops);
	free(bad);
	free(on);
}

/* To hosts: of entries that packets use at most 1.05 of those that have to change; where
 * there are no packets, of the dead ports, and one neighbour a LID that lends its way.
 * To switches, which are reached down and up again at times, only the sum is right. */
START_TEST(few_entries_change)
{
	struct breaking b;
	struct course c;

	breaking_init(&b, "pgft 3 5,5,5 1,5,5 1,1,1", 99);
	course_init(&c, tree_engines[_i], 2);
	go_on(&c, plan_for(&c, b.whole, false));
	for (uint32_t i = 0; i < 12; i++) {
		struct few few = { 0 }, switches = { 0 };
		struct plan *p;

		happen(&b, i % 3 == 2 ? SWITCH : LINK);
		p = plan_for(&c, b.now, false);
		ck_assert(p->made != PLAN_ROUTED);
		count_few(c.plan, p, FM_END_CA, &few);
		count_few(c.plan, p, FM_END_SWITCH, &switches);
		if (getenv("FMD_REPAIR_TELL") != NULL)
			printf("%s: %u of %u with packets, %u of %u (%u LIDs) without; of "
			       "switches %u of %u, %u of %u\n",
			    tree_engines[_i], few.did, few.must, few.idle_did, few.idle_must,
			    few.n_idle, switches.did, switches.must, switches.idle_did,
			    switches.idle_must);
		ck_assert_uint_eq(
		    few.did + few.idle_did + switches.did + switches.idle_did, p->delta.n);
		ck_assert_msg((double)few.did <= 1.05 * few.must,
		    "%s: %u entries that packets use change, %u have to", tree_engines[_i], few.did,
		    few.must);
		ck_assert_msg((double)few.idle_did <= 1.05 * (few.idle_must + few.n_idle),
		    "%s: %u other entries change, %u and %u have to", tree_engines[_i],
		    few.idle_did, few.idle_must, few.n_idle);
		go_on(&c, p);
		happen(&b, ALL_BACK);
		go_on(&c, plan_for(&c, b.now, false));
		ck_assert_uint_eq(c.plan->deviations.n, 0);
	}
	course_fini(&c);
	breaking_fini(&b);
}
END_TEST

/* What went by a lost cable is shared out evenly among the others. */
START_TEST(entries_are_shared_out)
{
	struct breaking b;
	struct course c;
	uint32_t load[256] = { 0 }, least = UINT32_MAX, most = 0;
	const struct fm_fabric *fab;
	fm_sw leaf;

	breaking_init(&b, "pgft 2 6,6 1,6 1,1", 5);
	course_init(&c, tree_engines[_i], 2);
	go_on(&c, plan_for(&c, b.whole, false));
	leaf = b.whole->fab.end_sw[0];
	fm_bit_set(b.links, b.whole->fab.sw_first_link[leaf]);
	look(&b);
	go_on(&c, plan_for(&c, b.now, false));
	ck_assert(c.plan->made == PLAN_REPAIRED);
	fab = &b.now->fab;
	for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
		load[c.plan->tables->t.lft[leaf][lid]] += fab->lid_end[lid] != FM_NONE;
	for (fm_link l = fab->sw_first_link[leaf]; l < fab->sw_first_link[leaf + 1]; l++) {
		uint32_t n = load[fab->link_port[l]];

		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	ck_assert_msg(most - least <= 1, "%s: %u to %u", tree_engines[_i], least, most);
	course_fini(&c);
	breaking_fini(&b);
}
END_TEST

/* LIDs whose changes are not taken up are as they were in what the plan says, too. */
START_TEST(changes_can_be_taken_back)
{
	struct breaking b;
	struct course c;
	struct plan *p;
	uint8_t *lids;
	uint32_t n = 0;

	breaking_init(&b, "pgft 2 4,6 1,4 1,1", 5);
	course_init(&c, "fattree", 1);
	go_on(&c, plan_for(&c, b.whole, false));
	fm_bit_set(b.links, 0);
	look(&b);
	p = plan_for(&c, b.now, false);
	lids = calloc(p->top_lid + 1u, 1);
	ck_assert_uint_gt(p->delta.n, 2);
	for (uint32_t lid = 0; lid <= p->top_lid; lid += 2)
		lids[lid] = 1;
	for (fm_sw s = 0; s < p->snap->fab.n_switches; s++)
		for (uint32_t lid = 0; lid <= p->top_lid; lid += 2)
			p->tables->t.lft[s][lid] = c.plan->tables->t.lft[s][lid];
	ck_assert(repair_revert(&c.router, p, c.plan, lids));
	assert_delta(c.plan, p, "taken back");
	for (size_t i = 0; i < p->deviations.n; i++)
		n += p->deviations.item[i].lid % 2 == 0;
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_eq(p->deviations.n, p->delta.n);
	go_on(&c, p);
	happen(&b, ALL_BACK);
	go_on(&c, plan_for(&c, b.now, false));
	assert_same_rows(c.plan, c.first, c.first->top_lid + 1u, "all is back");
	free(lids);
	course_fini(&c);
	breaking_fini(&b);
}
END_TEST

/* ------------------------------------------------------------- rebalancing */

static uint64_t
most_routes(struct course *c, const struct plan *p)
{
	struct metrics_request req = { .ebb_samples = 1, .seed = 1 };
	struct metrics m;
	struct fm_error err = { 0 };

	ck_assert_int_eq(
	    metrics_compute(p->snap, &p->tables->t, &req, c->router.workers, &m, &err), 0);
	return m.load_max;
}

/* A pass in which nothing has happened, or (quiet false) one in which something may have. */
static struct plan *
pass(struct course *c, struct snapshot *snap, enum plan_rebalance when, bool quiet)
{
	struct plan_request q = { .snap = snap,
		.chain = &c->chain,
		.prev = c->plan,
		.linger_ms = 1000,
		.rebalance = when,
		.quiet = quiet };
	struct fm_error err = { 0 };
	struct plan *p;

	ck_assert_msg(plan_make(&c->router, &q, &p, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(p->tables);
	return p;
}

static bool
is_routed(const struct plan *p)
{
	return p->made == PLAN_ROUTED;
}

static const struct {
	const char *words, *engine;
	bool quietly; /* by itself */
} balances[] = {
	{ "torus 6x6 2", "minhop", true },
	{ "random 24 5 2 7", "sssp", true },
	{ "torus 6x6 2", "updn", true },
	{ "pgft 2 6,6 1,6 1,1", "fattree", false },
};

/* Never while it is not asked for; else only when it is worth it, once for each repair,
 * and without a drain. */
START_TEST(repaired_tables_are_rebalanced)
{
	uint32_t n_taken = 0, n_left = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct breaking b;
		struct course c;
		struct plan *p;
		uint64_t most;
		bool at_once;

		breaking_init(&b, balances[_i].words, seed);
		course_init(&c, balances[_i].engine, 1);
		c.chain.allow_credit_loops = _i < 2;
		go_on(&c, plan_for(&c, b.whole, false));
		for (uint32_t i = 0; i < 5; i++)
			happen(&b, LINK);
		go_on(&c, plan_for(&c, b.now, false));
		p = pass(&c, b.now, PLAN_REBALANCE_AUTO, false);
		ck_assert(!is_routed(p));
		plan_put(p);
		p = pass(&c, b.now, PLAN_REBALANCE_NEVER, true);
		ck_assert(!is_routed(p));
		plan_put(p);
		ck_assert_int_eq(plan_wants_quiet_pass(c.plan, &c.chain, &ROUTE_SETTINGS_DEFAULT,
				     PLAN_REBALANCE_AUTO),
		    c.plan->deviations.n > 0 && balances[_i].quietly);
		most = most_routes(&c, c.plan);
		p = pass(&c, b.now, PLAN_REBALANCE_ALWAYS, false); /* does not wait for quiet */
		at_once = is_routed(p);
		plan_put(p);
		go_on(&c, pass(&c, b.now, PLAN_REBALANCE_AUTO, true));
		ck_assert(at_once == is_routed(c.plan) || !balances[_i].quietly);
		if (is_routed(c.plan)) {
			ck_assert(balances[_i].quietly);
			ck_assert_uint_le(100 * most_routes(&c, c.plan), 85 * most);
			ck_assert_uint_eq(c.plan->change.n_drained + c.plan->change.n_kept_old, 0);
			ck_assert_uint_eq(c.plan->deviations.n, 0);
			n_taken++;
		} else {
			ck_assert(!balances[_i].quietly || c.plan->rebalance_tried ||
			    c.plan->deviations.n == 0);
			n_left++;
		}
		ck_assert(!plan_wants_quiet_pass(
		    c.plan, &c.chain, &ROUTE_SETTINGS_DEFAULT, PLAN_REBALANCE_AUTO));
		course_fini(&c);
		breaking_fini(&b);
	}
	if (getenv("FMD_REPAIR_TELL") != NULL)
		printf("%s, %s: %u rebalanced, %u not\n", balances[_i].words, balances[_i].engine,
		    n_taken, n_left);
	ck_assert(_i >= 2 || n_taken > 0);
	ck_assert(_i != 3 || n_left > 0);
}
END_TEST

/* ---------------------------------------------------------------- a restart */

/* As another process finds it: the plan before comes from a file. */
static void
restart(struct course *c, struct snapshot *now)
{
	char path[] = "/tmp/fmd-check-repair-XXXXXX";
	int fd = mkstemp(path);
	struct fm_error err = { 0 };
	struct plan *kept = NULL;

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(plan_file_save(path, c->plan, 7, &err), 0);
	plan_put(c->plan);
	c->plan = NULL;
	repair_state_free(c->router.repair);
	c->router.repair = NULL;
	ck_assert_int_eq(plan_file_load(path, &c->router, now, 7, 0, &kept, &err), 0);
	ck_assert_ptr_nonnull(kept);
	c->plan = kept;
	unlink(path);
}

/* Cables that were lost before, and meanwhile: no engine runs; and what heals,
 * meanwhile or later, leads back to the first tables byte for byte. */
START_TEST(repairs_outlive_a_restart)
{
	struct breaking b;
	struct course c;
	struct plan *p;
	size_t n;

	breaking_init(&b, "pgft 3 4,4,4 1,4,4 1,1,1", 7);
	course_init(&c, tree_engines[_i], 2);
	go_on(&c, plan_for(&c, b.whole, false));
	for (uint32_t i = 0; i < 2; i++)
		happen(&b, LINK);
	go_on(&c, plan_for(&c, b.now, false));
	ck_assert_uint_gt(c.plan->deviations.n, 0);
	n = c.plan->deviations.n;
	restart(&c, b.now);
	ck_assert_uint_eq(c.plan->deviations.n, n);
	p = plan_for(&c, b.now, false); /* nothing new */
	ck_assert(p->made != PLAN_ROUTED);
	ck_assert_uint_eq(p->delta.n, 0);
	go_on(&c, p);
	restart(&c, b.now);
	happen(&b, LINK); /* one more meanwhile */
	p = plan_for(&c, b.now, false);
	ck_assert(p->made != PLAN_ROUTED);
	assert_well_connected(&c, p, "one more is lost");
	go_on(&c, p);
	restart(&c, b.whole);
	b.n_gone = 0;
	p = plan_for(&c, b.whole, false); /* all are back meanwhile */
	ck_assert(p->made == PLAN_REPAIRED);
	assert_same_rows(p, c.first, c.first->top_lid + 1u, "all is back");
	ck_assert_uint_eq(p->deviations.n, 0);
	go_on(&c, p);
	ck_assert_msg(error_logged[0] == '\0', "%s", error_logged);
	course_fini(&c);
	breaking_fini(&b);
}
END_TEST

/* ------------------------------------------------------------------- memory */

/* Allocations fail from the n-th on; counted in wrapped calls (tests/local.mk). */
static uint64_t n_allocs, fail_at;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

static bool
fails(void)
{
	n_allocs++;
	return fail_at != 0 && n_allocs >= fail_at;
}

void *
__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *
__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, n, size);
}

START_TEST(without_memory_the_old_plan_stays)
{
	struct breaking b;
	struct course c;
	uint64_t last, n_failed = 0;

	breaking_init(&b, "pgft 2 4,4 1,4 1,1", 5);
	course_init(&c, "fattree", 1);
	c.router.check_repairs = false;
	go_on(&c, plan_for(&c, b.whole, false));
	fm_bit_set(b.links, 0);
	look(&b);
	n_allocs = 0;
	plan_put(plan_for(&c, b.now, false));
	last = n_allocs;
	ck_assert_uint_gt(last, 20);
	for (uint64_t at = 1; at < last; at++) {
		struct plan_request q = {
			.snap = b.now, .chain = &c.chain, .prev = c.plan, .linger_ms = 1000
		};
		struct fm_error err = { 0 };
		struct plan *p = NULL;
		int rc;

		n_allocs = 0;
		fail_at = at;
		rc = plan_make(&c.router, &q, &p, &err);
		fail_at = 0;
		/* what is kept of an attempt before may have saved some */
		ck_assert_msg(n_allocs >= at ? rc == FM_E_RESOURCE && p == NULL : rc == 0,
		    "allocation %lu of %lu: %d", at, n_allocs, rc);
		n_failed += rc != 0;
		plan_put(p);
		assert_same_rows(c.plan, c.first, c.first->top_lid + 1u, "the old plan");
	}
	ck_assert_uint_gt(n_failed, last / 2);
	go_on(&c, plan_for(&c, b.now, false));
	ck_assert(c.plan->made == PLAN_REPAIRED);
	course_fini(&c);
	breaking_fini(&b);
}
END_TEST

/* ------------------------------------------------------------------ courses */

/* p is written, and where switches have come as leaves, what the next sweep makes of it. */
static struct plan *
take_up(struct course *c, struct plan *p)
{
	bool grafted = p->change.n_stubs > 0;

	go_on(c, p);
	if (!grafted)
		return p;
	p = plan_for(c, p->snap, false);
	ck_assert_uint_eq(p->change.n_stubs, 0);
	go_on(c, p);
	return p;
}

static uint32_t
n_events(void)
{
	return getenv("FMD_LONG") != NULL ? 10 * N_EVENTS : N_EVENTS;
}

START_TEST(events_are_repaired)
{
	const struct run *run = &runs[_i];
	struct breaking b;
	struct course two, one;
	uint32_t n_repaired = 0, n_anew = 0, n_entries = 0, n_moved = 0;
	char what[160];

	error_logged[0] = '\0';
	breaking_init(&b, run->words, 17 + (uint64_t)_i);
	course_init(&two, run->engine, 2);
	course_init(&one, run->engine, _i % 2 == 0 ? 1 : 8);
	go_on(&two, plan_for(&two, b.whole, false));
	go_on(&one, plan_for(&one, b.whole, false));
	for (uint32_t i = 0; i < n_events(); i++) {
		int kind = i + 1 == n_events() ? ALL_BACK : draw_kind(&b);
		struct plan *p, *q;

		prepare(&two);
		happen(&b, kind);
		snprintf(what, sizeof(what), "%s, %s, event %u of kind %d", run->words, run->engine,
		    i, kind);
		p = plan_for(&two, b.now, false);
		q = plan_for(&one, b.now, false);
		ck_assert_msg(error_logged[0] == '\0', "%s: %s", what, error_logged);
		assert_same_rows(p, q, p->top_lid + 1u, what);
		assert_same_sls(p, q, what);
		assert_delta(two.plan, p, what);
		if (p->made == PLAN_REPAIRED)
			n_moved += count_moved(two.plan, p, what);
		n_repaired += p->made == PLAN_REPAIRED;
		n_anew += p->made == PLAN_ROUTED;
		n_entries += (uint32_t)p->delta.n;
		p = take_up(&two, p);
		q = take_up(&one, q);
		assert_well_connected(&one, q, what);
		/* what no order of writing takes back without a drain stays (reconfig.h) */
		if (kind == ALL_BACK && two.first->snap == b.whole && p->change.n_kept_old == 0 &&
		    p->change.waiting[0] == '\0') {
			assert_same_rows(p, two.first, two.first->top_lid + 1u, what);
			ck_assert_uint_eq(p->deviations.n, 0);
		}
	}
	if (getenv("FMD_REPAIR_TELL") != NULL)
		printf("%s, %s: %u events, %u repaired, %u routed anew, %u entries, %u SLs\n",
		    run->words, run->engine, n_events(), n_repaired, n_anew, n_entries, n_moved);
	ck_assert_msg(n_repaired * 100 >= run->least_repaired * (n_repaired + n_anew),
	    "%s, %s: %u events repaired, %u routed anew", run->words, run->engine, n_repaired,
	    n_anew);
	course_fini(&two);
	course_fini(&one);
	breaking_fini(&b);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("repair");
	TCase *tc = tcase_create("repair");
	int failed;

	if (!breaking_begin())
		return 1;
	tcase_add_loop_test(tc, events_are_repaired, 0, N_RUNS);
	tcase_add_loop_test(tc, few_entries_change, 0, 3);
	tcase_add_loop_test(tc, entries_are_shared_out, 0, 3);
	tcase_add_loop_test(tc, repaired_tables_are_rebalanced, 0, 4);
	tcase_add_loop_test(tc, repairs_outlive_a_restart, 0, 3);
	tcase_add_test(tc, changes_can_be_taken_back);
	tcase_add_test(tc, without_memory_the_old_plan_stays);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	failed = run_suite(suite);
	engine_set_fini(&set);
	return failed;
}
