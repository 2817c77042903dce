/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chain: who takes a fabric, what is recorded of those who do not, and
 * that nothing unproven comes out, on a ring of five switches, where walking
 * always to the right is connected, loop-free and a credit loop.
 */
#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan.h"
#include "core/route/route.h"
#include "lab/topo/netlist.h"
#include "lib/error.h"
#include "lib/log.h"
#include "tests/run.h"

#undef fail /* check.h has an old macro of this name */

#define N_RING 5

static struct router router;
static struct snapshot *ring;

static int
route_no(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	return h->fail(h, err, FM_E_TOPOLOGY, "this is no tree");
}

/* Every LID leaves by the link to the next switch in the order of numbers, unless it lives here. */
static int
route_right(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	fm_sw at = 0, from = FM_NONE;

	for (uint32_t step = 0; step < f->n_switches; step++) {
		fm_link l = f->sw_first_link[at];

		if (f->link_to[l] == from ||
		    (step == 0 && f->link_to[l] != f->link_to[f->sw_first_link[0]]))
			l++;
		memset(out->lft[at] + 1, f->link_port[l], f->max_lid);
		for (fm_end e = f->sw_first_end[at]; e < f->sw_first_end[at + 1]; e++)
			out->lft[at][f->end_lid[e]] = f->end_port[e];
		from = at;
		at = f->link_to[l];
	}
	return 0;
}

/* The same, but the first switch sends everything back: a loop. */
static int
route_loop(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	route_right(h, f, req, opts, out, err);
	for (fm_sw s = 0; s < 2; s++)
		for (fm_link l = f->sw_first_link[s]; l < f->sw_first_link[s + 1]; l++)
			if (f->link_to[l] < 2)
				memset(out->lft[s] + 1, f->link_port[l], f->max_lid);
	return 0;
}

/* Works until it is stopped. */
static int
route_slow(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	while (!h->should_stop(h))
		continue;
	return h->fail(h, err, FM_E_CANCELLED, "stopped");
}

/* Works until it has been warned of, and asks nobody. */
static atomic_bool warned;

static void
hear(void *arg, enum fm_log_level level, const char *subsystem, const char *text)
{
	if (strstr(text, "engine deaf is over its time limit and does not stop") != NULL)
		atomic_store(&warned, true);
}

static int
route_deaf(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	while (!atomic_load(&warned))
		continue;
	return route_right(h, f, req, opts, out, err);
}

static int
route_many_vls(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	out->n_vls_used = (uint8_t)(req->n_vls + 1);
	return 0;
}

/* Left or right, for each LID by its switch; the cable 4-0 carries 0 -> 4 only.
 * The ring closes leftwards when packets for 3 may go left at 0, and those for 4
 * at 1. */
static void
add_both(struct fm_tables *out, const struct fm_fabric *f, fm_sw s, uint16_t lid)
{
	for (fm_link l = f->sw_first_link[s]; out->ar_group != NULL && l < f->sw_first_link[s + 1];
	     l++)
		out->ar_ports[s][1][0] |= (uint64_t)1 << f->link_port[l];
	if (out->ar_group != NULL)
		out->ar_group[s][lid] = 1;
}

static int
route_both(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	for (fm_sw s = 0; s < N_RING; s++)
		for (fm_end e = 0; e < f->n_ends; e++) {
			fm_sw d = f->end_sw[e];
			bool right = s < d && !(s == 0 && d == 4);
			fm_sw next = right ? s + 1 : (s + N_RING - 1) % N_RING;
			fm_link l = f->sw_first_link[s];

			out->lft[s][f->end_lid[e]] = s == d
			    ? f->end_port[e]
			    : f->link_port[f->link_to[l] == next ? l : l + 1];
			if ((s == 0 && d == 3) || (s == 1 && d == 4))
				add_both(out, f, s, f->end_lid[e]);
		}
	return 0;
}

/* One alternative leads back. */
static int
route_back(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	route_both(h, f, req, opts, out, err);
	for (fm_end e = f->sw_first_end[4]; e < f->sw_first_end[5]; e++)
		add_both(out, f, 2, f->end_lid[e]);
	return 0;
}

static int
route_no_group(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	route_both(h, f, req, opts, out, err);
	if (out->ar_group != NULL)
		out->ar_group[2][1] = 99;
	return 0;
}

/* Along the line 0-1-2-3-4, never by the cable 4-0; perhaps the first switch has no way
 * to the hosts of the last. */
static unsigned n_lines;
static bool leaves_out;

static int
route_line(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	n_lines++;
	for (fm_sw s = 0; s < N_RING; s++)
		for (fm_end e = 0; e < f->n_ends; e++) {
			fm_sw d = f->end_sw[e], next = s < d ? s + 1 : s - 1;
			fm_link l = f->sw_first_link[s];

			while (s != d && f->link_to[l] != next)
				l++;
			out->lft[s][f->end_lid[e]] = s == d ? f->end_port[e] : f->link_port[l];
			if (leaves_out && s == 0 && d == 4 && f->end_kind[e] == FM_END_CA)
				out->lft[s][f->end_lid[e]] = FM_PORT_NONE;
		}
	return 0;
}

/* Nothing at all, as an engine that is only begun. */
static int
route_nothing(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	return 0;
}

/* Always to the right, by SL 0 where that is not past the cable 4-0, else by one SL for each
 * who sends: free of credit loops, but not if replies go under the SL of the request. */
static int
route_one_way(const struct fm_host *h, const struct fm_fabric *f, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	uint8_t at[N_RING] = { 0 };
	fm_sw sw = 0, was = FM_NONE;
	int rc = route_right(h, f, req, opts, out, err);

	for (uint8_t i = 0; i < N_RING; i++) {
		fm_link l = f->sw_first_link[sw];

		at[sw] = i;
		l += f->link_to[l] == was;
		was = sw;
		sw = f->link_to[l];
	}
	out->sl_shape = FM_SL_BY_SW_DLID;
	out->n_vls_used = N_RING;
	for (fm_sw s = 0; s < N_RING; s++)
		for (fm_end e = 0; e < f->n_ends; e++)
			out->sl[s][f->end_lid[e]] = at[s] > at[f->end_sw[e]] ? at[s] : 0;
	return rc;
}

FM_ENGINE(nothing, .route = route_nothing);
FM_ENGINE(line, .route = route_line);
FM_ENGINE(both, .route = route_both, .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR);
FM_ENGINE(bothliar, .route = route_both,
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR | FM_PROMISES_NO_CREDIT_LOOPS);
FM_ENGINE(back, .route = route_back, .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR);
FM_ENGINE(nogroup, .route = route_no_group, .traits = FM_PROVIDES_LFT | FM_PROVIDES_AR);
FM_ENGINE(no, .route = route_no);
FM_ENGINE(right, .route = route_right);
FM_ENGINE(liar, .route = route_right, .traits = FM_PROVIDES_LFT | FM_PROMISES_NO_CREDIT_LOOPS);
FM_ENGINE(oneway, .route = route_one_way,
    .traits = FM_PROVIDES_LFT | FM_PROVIDES_SL | FM_PROMISES_NO_CREDIT_LOOPS);
FM_ENGINE(loop, .route = route_loop);
FM_ENGINE(slow, .route = route_slow);
FM_ENGINE(deaf, .route = route_deaf);
FM_ENGINE(many, .route = route_many_vls);

#define ENTRY(id) \
	{ \
		.engine = &id##_LTX_fm_engine, .name = #id \
	}

static void
setup(void)
{
	static char kind[] = "torus", dims[] = "5", hosts[] = "1";
	char *const argv[] = { kind, dims, hosts, NULL };
	struct netlist_view view = { .n_vls = 8 };
	struct netlist nl = { 0 };
	struct fm_error err;

	ck_assert_int_eq(netlist_generate(3, argv, &nl, &err), 0);
	ck_assert_int_eq(netlist_snapshot(&nl, &view, &ring, &err), 0);
	ck_assert_uint_eq(ring->fab.n_switches, N_RING);
	netlist_fini(&nl);
	ck_assert_int_eq(router_init(&router, 2, &err), 0);
}

static void
teardown(void)
{
	snapshot_put(ring);
	router_fini(&router);
}

static struct plan *
make(const struct chain_entry *entries, uint32_t n, bool fallback, bool allow)
{
	struct chain chain = { .entries = entries,
		.n_entries = n,
		.fallback = fallback,
		.allow_credit_loops = allow };
	struct plan *p = NULL;
	struct fm_error err;

	struct plan_request q = { .snap = ring, .chain = &chain };

	ck_assert_int_eq(plan_make(&router, &q, &p, &err), 0);
	ck_assert_ptr_nonnull(p);
	return p;
}

/* Safe is not enough: pairs that cables join must be joined, if the chain has an engine for it. */
START_TEST(an_engine_that_leaves_pairs_out_is_passed_over)
{
	const struct chain_entry entries[] = { ENTRY(nothing), ENTRY(line) };
	struct plan *p = make(entries, 2, true, false);

	ck_assert_str_eq(p->engine, "line");
	ck_assert_uint_eq(p->verdict.unreachable_pairs, 0);
	ck_assert_uint_eq(p->refused.n, 1);
	ck_assert_msg(strstr(p->refused.item[0].reason, "pairs=45: ") != NULL &&
		strstr(p->refused.item[0].reason, "has no entry") != NULL,
	    "%s", p->refused.item[0].reason);
	plan_put(p);
	leaves_out = true;
	p = make(&entries[1], 1, true, false);
	ck_assert_str_eq(p->engine, "fallback");
	ck_assert_uint_eq(p->verdict.unreachable_pairs, 0);
	plan_put(p);
	leaves_out = false;
}
END_TEST

/* Where none joins all, the one that joins most is used; the others are refused. */
START_TEST(of_engines_that_leave_pairs_out_the_best_is_used)
{
	const struct chain_entry entries[] = { ENTRY(nothing), ENTRY(line), ENTRY(nothing),
		ENTRY(loop) };
	struct plan *p;

	leaves_out = true;
	p = make(entries, 4, false, false);
	leaves_out = false;
	ck_assert_ptr_nonnull(p->tables);
	ck_assert_str_eq(p->engine, "line");
	ck_assert_uint_eq(p->verdict.unreachable_pairs, 1);
	ck_assert_uint_eq(p->verdict.loops, 0);
	ck_assert_uint_eq(p->refused.n, 3);
	ck_assert_str_eq(p->refused.item[0].engine, "nothing");
	ck_assert_str_eq(p->refused.item[1].engine, "nothing");
	ck_assert_str_eq(p->refused.item[2].engine, "loop");
	plan_put(p);
}
END_TEST

START_TEST(the_chain_goes_on_until_a_safe_plan_and_remembers_why)
{
	const struct chain_entry entries[] = { ENTRY(no), ENTRY(loop), ENTRY(right), ENTRY(liar),
		ENTRY(many) };
	struct plan *p = make(entries, 5, true, false);

	ck_assert_ptr_nonnull(p->tables);
	ck_assert_uint_eq(p->verdict.credit_loops, 0);
	ck_assert_uint_eq(p->verdict.loops, 0);
	ck_assert_uint_eq(p->verdict.reachable_pairs, N_RING * (N_RING - 1) + N_RING * N_RING);
	ck_assert_uint_eq(p->refused.n, 5);
	ck_assert_str_eq(p->refused.item[0].engine, "no");
	ck_assert_str_eq(p->refused.item[0].reason, "this is no tree");
	ck_assert_msg(strstr(p->refused.item[1].reason, "go round in circles") != NULL, "%s",
	    p->refused.item[1].reason);
	ck_assert_ptr_nonnull(strstr(p->refused.item[2].reason, "credit"));
	ck_assert_ptr_nonnull(strstr(p->refused.item[3].reason, "its bug"));
	ck_assert_ptr_nonnull(strstr(p->refused.item[4].reason, "VLs"));
	plan_put(plan_get(p));
	plan_put(p);
}
END_TEST

/* No bug: options that leave replies out, where they count. */
START_TEST(a_promise_for_one_way_is_no_bug_of_the_engine)
{
	const struct chain_entry entries[] = { ENTRY(oneway) };
	struct plan *p = make(entries, 1, true, false);

	ck_assert_str_eq(p->engine, "fallback");
	ck_assert_uint_eq(p->refused.n, 1);
	ck_assert_ptr_null(strstr(p->refused.item[0].reason, "bug"));
	ck_assert_msg(
	    strstr(p->refused.item[0].reason,
		"only requests are free of credit loops, not replies, which go under the "
		"same SL (sl_model = both): set paired = yes") == p->refused.item[0].reason,
	    "%s", p->refused.item[0].reason);
	plan_put(p);
	router.set.sl_model = VERIFY_FORWARD;
	p = make(entries, 1, true, false);
	ck_assert_str_eq(p->engine, "oneway");
	plan_put(p);
}
END_TEST

START_TEST(a_plan_says_why_auto_took_its_engine)
{
	struct chain_entry entries[] = { ENTRY(no), ENTRY(right) };
	struct plan *p;

	entries[0].because = "a tree";
	entries[1].because = "a ring";
	p = make(entries, 2, false, true);
	ck_assert_str_eq(p->because, "a ring");
	ck_assert_uint_eq(p->refused.n, 1);
	ck_assert(p->refused.item[0].by_auto);
	plan_put(p);
	entries[0].because = entries[1].because = NULL;
	p = make(entries, 2, false, true);
	ck_assert_ptr_null(p->because);
	ck_assert(!p->refused.item[0].by_auto);
	plan_put(p);
}
END_TEST

START_TEST(credit_loops_pass_only_where_they_are_allowed)
{
	const struct chain_entry right = ENTRY(right), loop = ENTRY(loop);
	struct plan *p = make(&right, 1, false, true);

	ck_assert_ptr_nonnull(p->tables);
	ck_assert_str_eq(p->engine, "right");
	ck_assert_uint_gt(p->verdict.credit_loops, 0);
	plan_put(p);
	p = make(&right, 1, false, false);
	ck_assert_ptr_null(p->tables);
	ck_assert_uint_eq(p->refused.n, 1);
	plan_put(p);
	/* a loop is never allowed */
	p = make(&loop, 1, false, true);
	ck_assert_ptr_null(p->tables);
	plan_put(p);
}
END_TEST

START_TEST(a_time_limit_ends_a_slow_engine)
{
	struct chain_entry slow = ENTRY(slow);
	struct plan *p;

	slow.time_limit_ms = 10;
	p = make(&slow, 1, true, false);
	ck_assert_ptr_nonnull(p->tables);
	ck_assert_str_eq(p->refused.item[0].reason, "its time limit of 10ms is over: stopped");
	plan_put(p);
}
END_TEST

START_TEST(an_engine_that_does_not_ask_is_warned_of_and_its_tables_are_used)
{
	struct chain_entry entries[] = { ENTRY(deaf), ENTRY(no) };
	struct plan *p;

	atomic_store(&warned, false);
	fm_log_set_sink(hear, NULL);
	entries[0].time_limit_ms = 1;
	p = make(entries, 2, true, true);
	fm_log_set_sink(NULL, NULL);
	ck_assert(atomic_load(&warned));
	ck_assert_str_eq(p->engine, "deaf");
	ck_assert_uint_eq(p->refused.n, 0);
	plan_put(p);
}
END_TEST

/* Better the engine that is wanted without its alternatives than the next. */
START_TEST(alternatives_that_close_a_credit_loop_are_given_up)
{
	const struct chain_entry both = ENTRY(both), right = ENTRY(right);
	struct plan *p = make(&both, 1, false, false);

	ck_assert_str_eq(p->engine, "both"); /* not asked for: none */
	ck_assert_ptr_null(p->tables->t.ar_group);
	ck_assert_str_eq(p->adaptive_given_up, "");
	plan_put(p);
	router.set.ar_max_groups = 3;
	p = make(&both, 1, false, false);
	ck_assert_str_eq(p->engine, "both");
	ck_assert_uint_eq(p->verdict.credit_loops, 0);
	ck_assert_ptr_null(p->tables->t.ar_group);
	ck_assert_uint_eq(p->tables->adaptive.n_adaptive, 0);
	ck_assert_msg(strstr(p->adaptive_given_up, "credit loop over 5 links") != NULL, "%s",
	    p->adaptive_given_up);
	plan_put(p);
	p = make(&both, 1, false, true); /* unless credit loops are allowed */
	ck_assert_uint_eq(p->verdict.credit_loops, 1);
	ck_assert_uint_eq(p->tables->t.ar_n_groups[0], 3);
	ck_assert_uint_gt(p->tables->adaptive.n_adaptive, 0);
	ck_assert_str_eq(p->adaptive_given_up, "");
	plan_put(p);
	p = make(&right, 1, true, false); /* a fallback that has some of its own */
	ck_assert_str_eq(p->engine, "fallback");
	ck_assert_str_eq(p->adaptive_given_up, "");
	plan_put(p);
}
END_TEST

START_TEST(bad_alternatives_are_refused_and_the_chain_goes_on)
{
	const struct chain_entry entries[] = { ENTRY(bothliar), ENTRY(back), ENTRY(nogroup),
		ENTRY(both) };
	struct plan *p;

	router.set.ar_max_groups = 3;
	p = make(entries, 4, false, false);
	ck_assert_str_eq(p->engine, "both");
	ck_assert_uint_eq(p->refused.n, 3);
	ck_assert_msg(strstr(p->refused.item[0].reason, "its bug): credit loop") != NULL, "%s",
	    p->refused.item[0].reason);
	ck_assert_msg(strstr(p->refused.item[1].reason, "may go round in circles") != NULL, "%s",
	    p->refused.item[1].reason);
	ck_assert_msg(strstr(p->refused.item[2].reason,
			  "LID 1: adaptive routing group 99, the last is 3") != NULL,
	    "%s", p->refused.item[2].reason);
	plan_put(p);
}
END_TEST

/* Another plan on what is left. */
static struct plan *
go_on(struct plan *prev, struct snapshot *snap)
{
	const struct chain_entry line = ENTRY(line);
	struct chain chain = { .entries = &line, .n_entries = 1 };
	struct plan_request q = { .snap = snap, .chain = &chain, .prev = prev, .linger_ms = 1000 };
	struct plan *p = NULL;
	struct fm_error err;

	ck_assert_int_eq(plan_make(&router, &q, &p, &err), 0);
	plan_put(prev);
	return p;
}

static struct snapshot *
without_last_cable(void)
{
	uint64_t links[1] = { 0 };
	struct snapshot_loss loss = { .links = links };
	struct snapshot *less;
	struct fm_error err;

	for (fm_link l = ring->fab.sw_first_link[4]; l < ring->fab.n_links; l++)
		if (ring->fab.link_to[l] == 0)
			links[0] |= UINT64_C(1) << l;
	ck_assert_int_eq(snapshot_without(ring, &loss, &less, &err), 0);
	return less;
}

/* Tables that are kept lack a pair: a full route is made, once, and taken if it joins more. */
START_TEST(kept_tables_join_as_many_as_a_full_route)
{
	const struct chain_entry line = ENTRY(line);
	struct snapshot *less = without_last_cable();
	struct plan *p;

	leaves_out = true;
	p = make(&line, 1, false, false);
	ck_assert_uint_eq(p->verdict.unreachable_pairs, 1);
	n_lines = 0;
	p = go_on(p, ring);
	ck_assert(p->made == PLAN_KEPT);
	ck_assert_uint_eq(n_lines, 0); /* on the same links it is no use */
	leaves_out = _i == 0;
	p = go_on(p, less);
	ck_assert_uint_eq(n_lines, 1);
	ck_assert_int_eq(p->made == PLAN_KEPT, _i == 0);
	ck_assert_uint_eq(p->verdict.unreachable_pairs, _i == 0);
	p = go_on(p, less);
	ck_assert(p->made == PLAN_KEPT);
	ck_assert_uint_eq(n_lines, 1);
	plan_put(p);
	snapshot_put(less);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("plan");
	TCase *t = tcase_create("plan");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, an_engine_that_leaves_pairs_out_is_passed_over);
	tcase_add_test(t, of_engines_that_leave_pairs_out_the_best_is_used);
	tcase_add_test(t, the_chain_goes_on_until_a_safe_plan_and_remembers_why);
	tcase_add_test(t, a_promise_for_one_way_is_no_bug_of_the_engine);
	tcase_add_test(t, a_plan_says_why_auto_took_its_engine);
	tcase_add_test(t, credit_loops_pass_only_where_they_are_allowed);
	tcase_add_test(t, a_time_limit_ends_a_slow_engine);
	tcase_add_test(t, an_engine_that_does_not_ask_is_warned_of_and_its_tables_are_used);
	tcase_add_test(t, alternatives_that_close_a_credit_loop_are_given_up);
	tcase_add_test(t, bad_alternatives_are_refused_and_the_chain_goes_on);
	tcase_add_loop_test(t, kept_tables_join_as_many_as_a_full_route, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
