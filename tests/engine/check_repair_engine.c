/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engines that repair by themselves (engine.h, repair()): updn with a repair() of this
 * file.  A good answer is taken as it is; one that fails, loops, closes a cycle, names
 * what is not there or does too little is not, and the generic repair, or none, leaves
 * the fabric as well connected.  What is told to the engine is right.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/plugin.h"
#include "core/graph/graph_diff.h"
#include "core/plan/plan.h"
#include "core/repair/repair.h"
#include "core/route/route.h"
#include "lab/judge/props.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/log.h"
#include "tests/engine/oracle.h"
#include "tests/engine/routed.h"
#include "tests/run.h"

#undef fail /* check.h has an old macro of this name */

#define TREE "pgft 2 4,4 1,4 1,2" /* two cables to each spine */

/* --------------------------------------------------------------- the engine */

static struct engine_set set;
static struct fm_engine engine; /* updn, but for repair() */
static unsigned n_calls, n_set;
static char warned[512];

static void
hear(void *arg, enum fm_log_level level, const char *subsystem, const char *text)
{
	if (level <= FM_LOG_WARN && warned[0] == '\0')
		snprintf(warned, sizeof(warned), "%s", text);
}

static bool
arrives(const struct fm_fabric *fab, uint8_t *const *lft, fm_sw sw, uint32_t lid)
{
	fm_sw to = fab->end_sw[fab->lid_end[lid]];

	for (uint32_t n = 0; n <= fab->n_switches && sw != to; n++) {
		fm_link l = fm_link_at(fab, sw, lft[sw][lid]);

		if (l == FM_NONE)
			return false;
		sw = fab->link_to[l];
	}
	return sw == to;
}

/* Where the cable that is lost led; FM_NONE: it is not one of sw. */
static fm_sw
old_neighbour(const struct fm_repair_request *req, fm_sw sw, uint8_t port)
{
	for (uint32_t i = 0; i < req->n_events; i++) {
		const struct fm_event *e = &req->events[i];

		if (e->sw == sw && e->port == port)
			return e->to;
		if (e->to == sw && e->to_port == port)
			return e->sw;
	}
	return FM_NONE;
}

/* Whose cable is lost takes the other one beside it, whose nominal way is there goes
 * back. */
static bool
repair_entry(const struct fm_fabric *fab, const struct fm_repair_request *req, fm_sw sw,
    uint32_t lid, struct fm_delta *out)
{
	uint8_t *const *lft = req->tables->lft, nominal = req->nominal->lft[sw][lid];
	fm_sw to = old_neighbour(req, sw, lft[sw][lid]);

	if (lft[sw][lid] != nominal && arrives(fab, req->nominal->lft, sw, lid))
		return ++n_set && out->set(out, sw, (uint16_t)lid, nominal);
	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		if (fab->link_to[l] == to && fm_link_at(fab, sw, lft[sw][lid]) == FM_NONE)
			return ++n_set && out->set(out, sw, (uint16_t)lid, fab->link_port[l]);
	return true;
}

static int
good(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_repair_request *req,
    const void *opts, struct fm_delta *out, struct fm_error *err)
{
	n_calls++;
	if (host->scratch(host, 100) == NULL)
		return host->fail(err, FM_E_RESOURCE, "no scratch memory");
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
			if (fab->lid_end[lid] != FM_NONE && !graph_is_gone(fab, sw) &&
			    !repair_entry(fab, req, sw, lid, out))
				return host->fail(err, FM_E_RESOURCE, "the host has no memory");
	return 0;
}

static int
fails(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_repair_request *req,
    const void *opts, struct fm_delta *out, struct fm_error *err)
{
	n_calls++;
	out->set(out, 0, 1, FM_PORT_NONE); /* half of something */
	return host->fail(err, FM_E_TOPOLOGY, "not such an event");
}

static int
does_nothing(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_repair_request *req, const void *opts, struct fm_delta *out,
    struct fm_error *err)
{
	n_calls++;
	return 0;
}

/* The first cable there is, to and fro, for a LID at neither side. */
static int
loops(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_repair_request *req,
    const void *opts, struct fm_delta *out, struct fm_error *err)
{
	fm_sw a = 0, b = fab->link_to[fab->sw_first_link[0]];
	uint16_t lid = fab->max_lid;

	good(host, fab, req, opts, out, err);
	while (lid > 1 &&
	    (fab->lid_end[lid] == FM_NONE || fab->end_sw[fab->lid_end[lid]] == a ||
		fab->end_sw[fab->lid_end[lid]] == b))
		lid--;
	out->set(out, a, lid, fab->link_port[fab->sw_first_link[0]]);
	out->set(out, b, lid, fab->link_port[fab->link_rev[fab->sw_first_link[0]]]);
	return 0;
}

static int
names_no_port(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_repair_request *req, const void *opts, struct fm_delta *out,
    struct fm_error *err)
{
	int rc = good(host, fab, req, opts, out, err);

	out->set(out, 0, fab->max_lid, 200);
	return rc;
}

/* On a ring: every LID two switches away by way of the next higher number. */
static int
goes_round(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_repair_request *req, const void *opts, struct fm_delta *out,
    struct fm_error *err)
{
	uint32_t hops[16];

	n_calls++;
	for (fm_sw to = 0; to < fab->n_switches; to++) {
		count_hops(fab, to, hops);
		for (fm_end e = fab->sw_first_end[to]; e < fab->sw_first_end[to + 1]; e++)
			for (fm_sw sw = 0; sw < fab->n_switches; sw++)
				for (fm_link l = fab->sw_first_link[sw];
				     l < fab->sw_first_link[sw + 1]; l++)
					if (fab->link_to[l] == (sw + 1) % fab->n_switches &&
					    hops[fab->link_to[l]] < hops[sw])
						out->set(
						    out, sw, fab->end_lid[e], fab->link_port[l]);
	}
	return 0;
}

/* ------------------------------------------------------------------- a course */

struct course {
	struct router router;
	struct chain chain;
	struct chain_entry entry;
	struct snapshot *whole, *now;
	struct plan *plan;
};

static struct plan *
plan_for(struct course *c, struct plan *prev)
{
	struct plan_request q = {
		.snap = c->now, .chain = &c->chain, .prev = prev, .linger_ms = 1000
	};
	struct fm_error err = { 0 };
	struct plan *p;

	ck_assert_msg(plan_make(&c->router, &q, &p, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(p->tables);
	return p;
}

static void
begin(struct course *c, const char *words, unsigned n_workers)
{
	struct fabric f = { .words = words };
	struct fm_error err = { 0 };

	memset(c, 0, sizeof(*c));
	n_calls = n_set = 0;
	warned[0] = '\0';
	ck_assert_int_eq(router_init(&c->router, n_workers, &err), 0);
	c->router.check_repairs = true;
	c->entry = (struct chain_entry){ .engine = &engine, .name = "updn" };
	c->chain = (struct chain){ .entries = &c->entry, .n_entries = 1, .fallback = true };
	c->whole = make(&f, false);
	c->now = snapshot_get(c->whole);
	c->plan = plan_for(c, NULL);
}

static void
end(struct course *c)
{
	plan_put(c->plan);
	snapshot_put(c->whole);
	snapshot_put(c->now);
	router_fini(&c->router);
}

/* Without link l, FM_NONE: whole. */
static struct plan *
lose(struct course *c, fm_link l)
{
	uint64_t *bits = calloc(c->whole->fab.n_links / 64 + 1, 8);
	struct snapshot_loss loss = { .links = bits };
	struct fm_error err = { 0 };

	if (l != FM_NONE)
		fm_bit_set(bits, l);
	snapshot_put(c->now);
	ck_assert_int_eq(snapshot_without(c->whole, &loss, 2, &c->now, &err), 0);
	free(bits);
	return plan_for(c, c->plan);
}

static void
go_on(struct course *c, struct plan *p)
{
	plan_put(c->plan);
	c->plan = p;
}

static void
assert_whole(const struct plan *p)
{
	ck_assert_uint_eq(p->verdict.unreachable_pairs, 0);
	ck_assert_uint_eq(p->verdict.loops, 0);
	ck_assert_uint_eq(p->verdict.credit_loops, 0);
	ck_assert_uint_gt(p->verdict.reachable_pairs, 0);
}

/* -------------------------------------------------------------------- the tests */

/* The delta is the engine's, also where the first verdict is from scratch and where it
 * is brought up to date; when the cable is back the tables are those before. */
START_TEST(a_good_repair_is_taken)
{
	struct course c;
	struct plan *first;
	struct fm_error err = { 0 };

	engine.repair = good;
	begin(&c, TREE, _i % 2 + 1u);
	first = plan_get(c.plan);
	if (_i >= 2)
		ck_assert_int_eq(repair_prepare(&c.router, c.plan, &err), 0);
	go_on(&c, lose(&c, 0));
	ck_assert_uint_eq(n_calls, 1);
	ck_assert(c.plan->repaired);
	ck_assert_uint_eq(c.plan->delta.n, n_set);
	ck_assert_uint_gt(n_set, 0);
	ck_assert_uint_eq(c.plan->deviations.n, n_set);
	assert_whole(c.plan);
	go_on(&c, lose(&c, FM_NONE));
	ck_assert_uint_eq(n_calls, 2);
	ck_assert_uint_eq(c.plan->deviations.n, 0);
	for (fm_sw sw = 0; sw < c.whole->fab.n_switches; sw++)
		ck_assert_mem_eq(
		    c.plan->tables->t.lft[sw], first->tables->t.lft[sw], c.whole->fab.max_lid + 1u);
	ck_assert_msg(warned[0] == '\0', "%s", warned);
	plan_put(first);
	end(&c);
}
END_TEST

static const struct {
	int (*repair)(const struct fm_host *, const struct fm_fabric *,
	    const struct fm_repair_request *, const void *, struct fm_delta *, struct fm_error *);
	const char *words, *warning; /* "": none */
} bad[] = {
	{ fails, TREE, "" },
	{ does_nothing, TREE, "a pair is left without a path" },
	{ loops, TREE, "round in a circle" },
	{ names_no_port, TREE, "no switch was ever behind the port" },
	{ goes_round, "torus 5 1 2", "closes a cycle of dependencies" },
};

START_TEST(a_bad_repair_is_not)
{
	struct course c;
	struct fm_error err = { 0 };

	engine.repair = bad[_i % 5].repair;
	begin(&c, bad[_i % 5].words, 2);
	if (_i >= 5)
		ck_assert_int_eq(repair_prepare(&c.router, c.plan, &err), 0);
	go_on(&c, lose(&c, 0));
	ck_assert_uint_eq(n_calls, 1);
	ck_assert(c.plan->repaired); /* by the core */
	assert_whole(c.plan);
	ck_assert_msg(bad[_i % 5].warning[0] == '\0' ? warned[0] == '\0'
						     : strstr(warned, bad[_i % 5].warning) != NULL,
	    "%s", warned);
	end(&c);
}
END_TEST

/* An engine of ABI 0.1 ends before repair(). */
START_TEST(an_engine_of_before_is_not_asked)
{
	struct course c;

	engine.repair = good;
	engine.size = offsetof(struct fm_engine, repair);
	ck_assert(!engine_repairs(&engine));
	begin(&c, TREE, 1);
	go_on(&c, lose(&c, 0));
	ck_assert_uint_eq(n_calls, 0);
	ck_assert(c.plan->repaired);
	engine.size = sizeof(engine);
	ck_assert(engine_repairs(&engine));
	end(&c);
}
END_TEST

static struct fm_event seen[8];
static uint32_t n_seen;

static int
look(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_repair_request *req,
    const void *opts, struct fm_delta *out, struct fm_error *err)
{
	n_seen = req->n_events;
	memcpy(seen, req->events, (n_seen < 8 ? n_seen : 8) * sizeof(*seen));
	ck_assert_uint_eq(req->size, sizeof(*req));
	return good(host, fab, req, opts, out, err);
}

START_TEST(events_are_told)
{
	struct course c;
	const struct fm_fabric *fab;

	engine.repair = look;
	begin(&c, TREE, 1);
	fab = &c.whole->fab;
	go_on(&c, lose(&c, 2));
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_uint_eq(seen[0].kind, FM_EVENT_CABLE_LOST);
	ck_assert_uint_eq(seen[0].sw, fab->link_to[fab->link_rev[2]]);
	ck_assert_uint_eq(seen[0].port, fab->link_port[2]);
	ck_assert_uint_eq(seen[0].to, fab->link_to[2]);
	ck_assert_uint_eq(seen[0].to_port, fab->link_port[fab->link_rev[2]]);
	go_on(&c, lose(&c, 3)); /* and 2 is back */
	ck_assert_uint_eq(n_seen, 2);
	ck_assert_uint_eq(seen[0].kind + seen[1].kind, FM_EVENT_CABLE_LOST + FM_EVENT_CABLE_BACK);
	end(&c);
}
END_TEST

/* Every scratch allocation failing: the core repairs. */
START_TEST(without_memory_the_core_repairs)
{
	struct course c;

	engine.repair = good;
	begin(&c, TREE, 1);
	c.router.scratch_fail_at = 1;
	go_on(&c, lose(&c, 0));
	ck_assert_uint_eq(n_set, 0);
	ck_assert_uint_eq(n_calls, 1);
	ck_assert(c.plan->repaired);
	assert_whole(c.plan);
	end(&c);
}
END_TEST

/* -------------------------------------------------- what fmd-engine-check sees */

static int
remembers(const struct fm_host *host, const struct fm_fabric *fab,
    const struct fm_repair_request *req, const void *opts, struct fm_delta *out,
    struct fm_error *err)
{
	int rc = good(host, fab, req, opts, out, err);
	fm_link l = fab->sw_first_link[0] + n_calls % 2;

	out->set(out, 0, fab->max_lid, fab->link_port[l]);
	return rc;
}

static enum props_outcome
check(int (*repair)(const struct fm_host *, const struct fm_fabric *,
	  const struct fm_repair_request *, const void *, struct fm_delta *, struct fm_error *),
    char *report, size_t room)
{
	struct fabric f = { .words = TREE };
	struct snapshot *snap = make(&f, false);
	struct props p = { .engine = &engine, .snap = snap, .n_vls = 8 };
	enum props_outcome outcome;
	uint64_t n_allocs;

	engine.repair = repair;
	outcome = props_check(&p, &n_allocs, report, room);
	snapshot_put(snap);
	return outcome;
}

START_TEST(the_property_check_sees_them)
{
	char report[640] = "";

	ck_assert_msg(check(good, report, sizeof(report)) == PROPS_HOLD, "%s", report);
	ck_assert_msg(check(fails, report, sizeof(report)) == PROPS_HOLD, "%s", report);
	ck_assert_int_eq(check(remembers, report, sizeof(report)), PROPS_BROKEN);
	ck_assert_msg(
	    strstr(report, "repair: other entries than before, workers=1") == report, "%s", report);
	ck_assert_msg(strstr(report, "; lost is the cable of switch ") != NULL, "%s", report);
	ck_assert_int_eq(check(names_no_port, report, sizeof(report)), PROPS_BROKEN);
	ck_assert_msg(strstr(report, " by port ") != NULL, "%s", report);
	ck_assert_int_eq(check(does_nothing, report, sizeof(report)), PROPS_BROKEN);
	ck_assert_msg(
	    strstr(report, "repair: a pair is left without a path") == report, "%s", report);
}
END_TEST

int
main(void)
{
	const char *dirs[] = { "plugins/engines/.libs", NULL };
	struct fm_error err = { 0 };
	Suite *suite = suite_create("repair_engine");
	TCase *tc = tcase_create("repair_engine");
	const struct fm_engine *updn;
	int failed;

	if (engine_set_load(&set, dirs, &err) != 0 || (updn = engine_find(&set, "updn")) == NULL) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	engine = *updn;
	engine.size = sizeof(engine);
	fm_log_set_sink(hear, NULL);
	tcase_add_loop_test(tc, a_good_repair_is_taken, 0, 4);
	tcase_add_loop_test(tc, a_bad_repair_is_not, 0, 10);
	tcase_add_test(tc, an_engine_of_before_is_not_asked);
	tcase_add_test(tc, events_are_told);
	tcase_add_test(tc, without_memory_the_core_repairs);
	tcase_add_test(tc, the_property_check_sees_them);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	failed = run_suite(suite);
	engine_set_fini(&set);
	return failed;
}
