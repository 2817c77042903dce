/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/props.h"

#include <string.h>

#include "lib/error.h"

static bool
is_refusal(const struct fm_error *why)
{
	return why->kind == FM_E_TOPOLOGY;
}

/* Route with so many workers and the n-th allocation failing (0 = none). */
static int
route(const struct prop_case *c, struct router *r, uint64_t fail_at, struct tables **out,
    struct fm_error *err)
{
	r->n_vls = c->n_vls;
	r->scratch_fail_at = fail_at;
	return route_once(r, c->engine, c->opts, &c->snap->fab, NULL, 0, out, err);
}

/* The first (switch, LID) in which two tables differ, SLs included; false: none. */
static bool
differ(const struct fm_fabric *fab, const struct fm_tables *a, const struct fm_tables *b,
    uint32_t *sw, uint32_t *lid)
{
	for (*sw = 0; *sw < fab->n_switches; ++*sw)
		for (*lid = 0; *lid <= fab->max_lid; ++*lid)
			if (a->lft[*sw][*lid] != b->lft[*sw][*lid] ||
			    (a->sl_shape == FM_SL_BY_SW_DLID &&
				a->sl[*sw][*lid] != b->sl[*sw][*lid]))
				return true;
	return a->sl_shape != b->sl_shape || a->sl2vl_shape != b->sl2vl_shape ||
	    a->n_vls_used != b->n_vls_used;
}

static int
compare_workers(
    const struct prop_case *c, const struct tables *first, unsigned n_workers, struct fm_error *err)
{
	struct router r;
	struct tables *t = NULL;
	uint32_t sw = 0, lid = 0;
	int rc = router_init(&r, n_workers, err);

	if (rc != 0)
		return rc;
	for (int again = 0; rc == 0 && again < 2; again++) {
		rc = route(c, &r, 0, &t, err);
		if (rc == 0 && differ(&c->snap->fab, &first->t, &t->t, &sw, &lid))
			rc = fm_fail(err, FM_E_BUG,
			    "%s: call %d with %u workers differs from the first call with one, "
			    "from switch "
			    "%u LID %u on",
			    c->engine->name, again + 1, n_workers, sw, lid);
		tables_put(t);
		t = NULL;
	}
	router_fini(&r);
	return rc;
}

int
prop_pure(const struct prop_case *c, bool *refused, struct fm_error *err)
{
	static const unsigned n_workers[] = { 1, 2, 8 };
	struct router r;
	struct tables *first = NULL;
	int rc = router_init(&r, 1, err);

	if (rc != 0)
		return rc;
	rc = route(c, &r, 0, &first, err);
	if (refused != NULL)
		*refused = rc != 0 && is_refusal(err);
	if (rc != 0 && is_refusal(err))
		rc = 0;
	for (size_t i = 0; first != NULL && rc == 0 && i < 3; i++)
		rc = compare_workers(c, first, n_workers[i], err);
	tables_put(first);
	router_fini(&r);
	return rc;
}

/* How many scratch allocations a call makes: the least n whose failure harms nobody. */
static uint64_t
count_allocations(const struct prop_case *c, struct router *r, struct fm_error *err)
{
	uint64_t lo = 1, hi = 1 << 20;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;
		struct tables *t = NULL;

		if (route(c, r, mid, &t, err) == 0)
			hi = mid;
		else
			lo = mid + 1;
		tables_put(t);
	}
	return lo - 1;
}

int
prop_survives_no_memory(const struct prop_case *c, uint32_t max_points, struct fm_error *err)
{
	struct router r;
	uint64_t n, step;
	int rc = router_init(&r, 2, err);

	if (rc != 0)
		return rc;
	n = count_allocations(c, &r, err);
	step = n / max_points + 1;
	for (uint64_t i = 1; rc == 0 && i <= n; i += step) {
		struct tables *t = NULL;
		struct fm_error why = { 0 };
		int got = route(c, &r, i, &t, &why);

		if (got != FM_E_RESOURCE || t != NULL || why.msg[0] == '\0')
			rc = fm_fail(err, FM_E_BUG,
			    "%s: with scratch allocation %llu of %llu failing it answers %s (%s)",
			    c->engine->name, (unsigned long long)i, (unsigned long long)n,
			    got == 0 ? "success" : fm_error_word((enum fm_error_kind)got), why.msg);
		tables_put(t);
	}
	router_fini(&r);
	return rc;
}

static int
judge(const struct prop_case *c, const struct verdict *v, struct fm_error *err)
{
	if (v->loops + v->wrong_host + v->vl_errors > 0)
		return fm_fail(err, FM_E_BUG, "%s: %s", c->engine->name, v->witness);
	if ((c->engine->traits & FM_PROMISES_NO_CREDIT_LOOPS) && v->credit_loops > 0)
		return fm_fail(
		    err, FM_E_BUG, "%s promises no credit loops: %s", c->engine->name, v->witness);
	return 0;
}

int
prop_safe(const struct prop_case *c, struct verdict *v, bool *refused, struct fm_error *err)
{
	struct verify_request req = { .n_vls = c->n_vls, .sl_model = VERIFY_BOTH };
	struct router r;
	struct tables *t = NULL;
	int rc = router_init(&r, 2, err);

	if (rc != 0)
		return rc;
	rc = route(c, &r, 0, &t, err);
	if (refused != NULL)
		*refused = rc != 0 && is_refusal(err);
	if (rc == 0)
		rc = verify_tables(c->snap, &t->t, &req, r.workers, v, err);
	else if (is_refusal(err))
		rc = 0;
	if (rc == 0 && t != NULL)
		rc = judge(c, v, err);
	tables_put(t);
	router_fini(&r);
	return rc;
}
