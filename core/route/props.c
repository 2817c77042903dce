/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/route/props.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/route/verify.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/hash.h"

#define ALLOCS_MAX 100000 /* an engine that needs more is not tested to the end */
#define POISON 254	  /* no port of any switch but those with all 254 */

static uint64_t
mix_bytes(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = fm_mix64(h ^ word) + 1;
	}
	for (; n > 0; n--, p++)
		h = fm_mix64(h ^ *p) + 1;
	return h;
}

uint64_t
props_digest(const struct fm_fabric *fab, const struct fm_tables *t)
{
	uint64_t h = t->n_vls_used + 16 * (uint64_t)t->sl_shape + 256 * (uint64_t)t->sl2vl_shape;
	size_t lids = (size_t)fab->max_lid + 1;

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		h = mix_bytes(h, t->lft[s], lids);
		if (t->sl_shape == FM_SL_BY_SW_DLID)
			h = mix_bytes(h, t->sl[s], lids);
	}
	if (t->sl_shape == FM_SL_BY_DLID)
		h = mix_bytes(h, t->sl[0], lids);
	if (t->sl2vl_shape == FM_SL2VL_BY_OUT)
		h = mix_bytes(h, t->sl2vl, (size_t)fab->n_links * 16);
	if (t->sl2vl_shape == FM_SL2VL_BY_IN_OUT)
		h = mix_bytes(h, t->sl2vl, (size_t)t->sl2vl_first[fab->n_switches] * 16);
	return h;
}

struct entry {
	fm_sw sw; /* FM_NONE: there is none */
	uint32_t lid;
};

/* One call on its own router; the digest, and the tables if wanted. */
struct trial {
	unsigned n_workers;
	uint64_t fail_at;
	uint64_t digest;
	struct verdict *verdict; /* NULL: not wanted */
	struct entry *unwritten; /* NULL: not wanted */
	bool poison;		 /* leave the rows full of POISON behind */
};

/* The first entry that is still POISON. */
static struct entry
find_unwritten(const struct fm_fabric *fab, const struct fm_tables *t)
{
	for (fm_sw s = 0; s < fab->n_switches; s++)
		for (uint32_t lid = 0; lid <= fab->max_lid; lid++)
			if (t->lft[s][lid] == POISON && fab->sw_n_ports[s] < POISON)
				return (struct entry){ s, lid };
	return (struct entry){ FM_NONE, 0 };
}

static int
run_routed(const struct props *p, struct router *r, const void *opts, struct trial *t,
    struct fm_error *err)
{
	struct verify_request req = { .n_vls = p->n_vls, .sl_model = r->sl_model };
	const struct fm_fabric *fab = &p->snap->fab;
	struct tables *tables;
	int rc;

	r->n_vls = p->n_vls;
	r->scratch_fail_at = t->fail_at;
	rc = route_once(r, p->engine, opts, fab, NULL, 0, &tables, err);
	if (rc != 0)
		return rc;
	t->digest = props_digest(fab, &tables->t);
	if (t->unwritten != NULL)
		*t->unwritten = find_unwritten(fab, &tables->t);
	if (t->verdict != NULL)
		rc = verify_tables(p->snap, &tables->t, &req, r->workers, t->verdict, err);
	for (fm_sw s = 0; t->poison && s < fab->n_switches; s++)
		memset(tables->t.lft[s], POISON, tables->t.lft_stride);
	tables_put(tables);
	return rc;
}

static int
run(const struct props *p, struct router *r, struct trial *t, struct fm_error *err)
{
	struct fm_arena mem;
	void *opts;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	rc = options_bind(p->engine, p->values, p->snap, &mem, &opts, err);
	if (rc == 0)
		rc = run_routed(p, r, opts, t, err);
	fm_arena_fini(&mem);
	return rc;
}

/* The same with a router of its own. */
static int
run_with(const struct props *p, struct trial *t, struct fm_error *err)
{
	struct router r;
	int rc = router_init(&r, t->n_workers, err);

	if (rc != 0)
		return rc;
	rc = run(p, &r, t, err);
	router_fini(&r);
	return rc;
}

static enum props_outcome
broken(char *report, size_t room, const char *what, const char *detail)
{
	snprintf(report, room, "%s%s%s", what, *detail != '\0' ? ": " : "", detail);
	return PROPS_BROKEN;
}

static enum props_outcome
check_verdict(const struct props *p, const struct verdict *v, char *report, size_t room)
{
	bool promised = (p->engine->traits & FM_PROMISES_NO_CREDIT_LOOPS) != 0;

	if (!verdict_is_safe(v, true))
		return broken(report, room, "verdict", v->witness);
	if (promised && v->credit_loops > 0)
		return broken(
		    report, room, "verdict: a credit loop, though it promises none", v->witness);
	if (v->unreachable_pairs > 0)
		return broken(report, room, "verdict: a pair without a path", v->witness);
	return PROPS_HOLD;
}

static enum props_outcome
check_pure(const struct props *p, uint64_t digest, char *report, size_t room)
{
	static const unsigned workers[] = { 1, 1, 2, 8 };
	char what[64];
	struct fm_error err;

	for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++) {
		struct trial again = { .n_workers = workers[i] };

		snprintf(what, sizeof(what), "pure: with %u workers", workers[i]);
		if (run_with(p, &again, &err) != 0)
			return broken(report, room, what, err.msg);
		if (again.digest != digest)
			return broken(report, room, what, "other bytes than with 1 worker before");
	}
	return PROPS_HOLD;
}

/* The first tables are poisoned and let go; the second get the same memory. */
static enum props_outcome
check_rows(const struct props *p, uint64_t digest, char *report, size_t room)
{
	struct entry left;
	struct trial first = { .poison = true }, second = { .unwritten = &left };
	struct router r;
	struct fm_error err;
	int rc;

	if ((p->engine->traits & FM_WRITES_WHOLE_ROWS) == 0)
		return PROPS_HOLD;
	rc = router_init(&r, 1, &err);
	if (rc != 0)
		return broken(report, room, "rows", err.msg);
	if ((rc = run(p, &r, &first, &err)) == 0)
		rc = run(p, &r, &second, &err);
	router_fini(&r);
	if (rc != 0)
		return broken(report, room, "rows", err.msg);
	if (left.sw != FM_NONE) {
		snprintf(report, room,
		    "rows: the entry of LID %" PRIu32
		    " at switch %s is not written, though the engine promises whole rows",
		    left.lid, p->snap->fab.sw_name[left.sw]);
		return PROPS_BROKEN;
	}
	if (second.digest != digest)
		return broken(report, room, "rows: other bytes in memory that was used before", "");
	return PROPS_HOLD;
}

/* One worker, so that the n-th allocation is the same one each time. */
static enum props_outcome
check_memory(const struct props *p, uint64_t digest, uint64_t *n_allocs, char *report, size_t room)
{
	char what[80];
	struct router r;
	struct fm_error err;
	enum props_outcome outcome = PROPS_HOLD;
	int rc = router_init(&r, 1, &err);

	if (rc != 0)
		return broken(report, room, "memory", err.msg);
	for (*n_allocs = 0; outcome == PROPS_HOLD && *n_allocs < ALLOCS_MAX; ++*n_allocs) {
		struct trial t = { .fail_at = *n_allocs + 1 };

		rc = run(p, &r, &t, &err);
		snprintf(
		    what, sizeof(what), "memory: scratch allocation %" PRIu64 " fails", t.fail_at);
		if (rc == 0 && t.digest != digest)
			outcome = broken(report, room, what, "it goes on and makes other bytes");
		else if (rc != 0 && rc != FM_E_RESOURCE)
			outcome = broken(report, room, what, err.msg);
		else if (rc == 0)
			break;
	}
	router_fini(&r);
	return outcome;
}

enum props_outcome
props_check(const struct props *p, uint64_t *n_allocs, char *report, size_t room)
{
	struct verdict verdict;
	struct trial first = { .n_workers = 1, .verdict = &verdict };
	struct fm_error err = { 0 };
	enum props_outcome outcome;

	*n_allocs = 0;
	if (run_with(p, &first, &err) != 0) {
		snprintf(report, room, "%s: %s", fm_error_word(err.kind), err.msg);
		return err.kind == FM_E_TOPOLOGY ? PROPS_REFUSED : PROPS_BROKEN;
	}
	outcome = check_verdict(p, &verdict, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_pure(p, first.digest, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_rows(p, first.digest, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_memory(p, first.digest, n_allocs, report, room);
	return outcome;
}
