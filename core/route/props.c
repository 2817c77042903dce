/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/route/props.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/route/cable_order.h"
#include "core/route/host.h"
#include "core/route/metrics.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/hash.h"

#define ALLOCS_MAX 100000 /* an engine that needs more is not tested to the end */
#define GROUPS 64	  /* of adaptive routing, asked of engines that have it */
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

static uint64_t
mix_groups(uint64_t h, const struct fm_fabric *fab, const struct fm_tables *t)
{
	for (fm_sw s = 0; t->ar_max_groups > 0 && s < fab->n_switches; s++) {
		h = mix_bytes(h, t->ar_group[s], ((size_t)fab->max_lid + 1) * sizeof(uint16_t));
		h = mix_bytes(h, tables_ar_ports(t, s, 1), (size_t)t->ar_max_groups * 32);
	}
	return h + t->ar_dropped;
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
	if (t->order != NULL)
		h = mix_bytes(h, t->order, lids * sizeof(*t->order));
	if (t->sl2vl_shape == FM_SL2VL_BY_OUT)
		h = mix_bytes(h, t->sl2vl, (size_t)fab->n_links * 16);
	if (t->sl2vl_shape == FM_SL2VL_BY_IN_OUT)
		h = mix_bytes(h, t->sl2vl, (size_t)t->sl2vl_first[fab->n_switches] * 16);
	return mix_groups(h, fab, t);
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
	struct metrics *metrics; /* NULL: not wanted */
	struct entry *unwritten; /* NULL: not wanted */
	bool poison;		 /* leave the rows full of POISON behind */
	bool stopped;		 /* should_stop() is true from the start */
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

static void
poison(const struct fm_engine *engine, const struct fm_fabric *fab, const struct fm_tables *t)
{
	bool sls = t->sl != NULL && (engine->traits & FM_WRITES_WHOLE_SLS) != 0;

	for (fm_sw s = 0; s < fab->n_switches; s++) {
		memset(t->lft[s], POISON, t->lft_stride);
		if (sls)
			memset(t->sl[s], POISON, t->lft_stride);
	}
	if (sls)
		memset(t->sl2vl, POISON, (size_t)t->sl2vl_first[fab->n_switches] * 16);
}

static const struct metrics_request few_samples = { .ebb_samples = 1, .seed = 1 };

static int
run_routed(const struct props *p, struct router *r, const void *opts, struct trial *t,
    struct fm_error *err)
{
	struct verify_request req = { .n_vls = p->n_vls, .sl_model = r->sl_model };
	const struct fm_fabric *fab = &p->snap->fab;
	struct tables *tables;
	int rc;

	r->n_vls = p->n_vls;
	r->ar_max_groups = GROUPS;
	r->scratch_fail_at = t->fail_at;
	rc = route_once(r, p->engine, opts, fab, NULL, 0, &tables, err);
	if (rc != 0)
		return rc;
	t->digest = props_digest(fab, &tables->t);
	if (t->unwritten != NULL)
		*t->unwritten = find_unwritten(fab, &tables->t);
	if (t->verdict != NULL)
		rc = verify_tables(p->snap, &tables->t, &req, r->workers, t->verdict, err);
	if (rc == 0 && t->metrics != NULL && verdict_is_safe(t->verdict, true))
		rc =
		    metrics_compute(p->snap, &tables->t, &few_samples, r->workers, t->metrics, err);
	if (t->poison)
		poison(p->engine, fab, &tables->t);
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

void
props_routers_fini(struct props_routers *r)
{
	for (size_t i = 0; i < sizeof(r->made) / sizeof(*r->made); i++)
		if (r->n_workers[i] != 0)
			router_fini(&r->made[i]);
	memset(r, 0, sizeof(*r));
}

/* The kept router of so many workers; NULL when there is no place for one more. */
static int
kept_router(struct props_routers *r, unsigned n_workers, struct router **out, struct fm_error *err)
{
	*out = NULL;
	for (size_t i = 0; i < sizeof(r->made) / sizeof(*r->made) && *out == NULL; i++) {
		int rc = r->n_workers[i] == 0 ? router_init(&r->made[i], n_workers, err) : 0;

		if (rc != 0)
			return rc;
		if (r->n_workers[i] == 0)
			r->n_workers[i] = n_workers;
		if (r->n_workers[i] == n_workers)
			*out = &r->made[i];
	}
	return 0;
}

/* The same with a kept router or one of its own: who is told to stop stays so. */
static int
run_with(const struct props *p, struct trial *t, struct fm_error *err)
{
	struct router own, *kept = NULL;
	int rc = 0;

	if (p->routers != NULL && !t->stopped)
		rc = kept_router(p->routers, t->n_workers, &kept, err);
	if (rc == 0 && kept != NULL)
		return run(p, kept, t, err);
	if (rc != 0 || (rc = router_init(&own, t->n_workers, err)) != 0)
		return rc;
	if (t->stopped)
		route_host_cancel(own.host);
	rc = run(p, &own, t, err);
	router_fini(&own);
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
	if (v->unreachable_pairs > 0 && !p->pairs_may_lack)
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

/* Does an engine that need not be asked first give the same answer when it is? */
static enum props_outcome
check_probe(const struct props *p, bool refuses, char *report, size_t room)
{
	struct fm_engine asked = *p->engine;
	struct props q = *p;
	struct trial t = { .n_workers = 1 };
	struct fm_error err;

	if ((p->engine->traits & FM_ROUTE_PROBES) == 0)
		return PROPS_HOLD;
	asked.traits &= ~(uint32_t)FM_ROUTE_PROBES;
	q.engine = &asked;
	if ((run_with(&q, &t, &err) != 0) != refuses)
		return broken(report, room, "probe: it does not tell what route() does", "");
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

	if ((p->engine->traits & (FM_WRITES_WHOLE_ROWS | FM_WRITES_WHOLE_SLS)) == 0)
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
	int rc;

	if (p->memory_suffices)
		return PROPS_HOLD;
	if (router_init(&r, 1, &err) != 0)
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

/* ------------------------------------------------------- under other names */

/* Off trees the worst shift is one of hosts in the order of their switches' numbers, so
 * of names; on trees they are in that of the pods. */
static bool
loads_alike(const struct props *p, const struct metrics *a, const struct metrics *b)
{
	uint64_t more = a->load_max > b->load_max ? a->load_max : b->load_max;
	uint64_t less = a->load_max > b->load_max ? b->load_max : a->load_max;

	if (p->names == PROPS_NAMES_EQUAL)
		return more == less && a->load_min == b->load_min &&
		    (a->sp_max == b->sp_max || !cable_order_is_tree(&p->snap->fab));
	return (p->names == PROPS_NAMES_ROUGHLY ? 4 : 10) * (more - less) <= more;
}

static bool
hops_alike(const struct props *p, const struct verdict *a, const struct verdict *b)
{
	bool roughly = p->names == PROPS_NAMES_ROUGHLY;
	double d = a->avg_hops - b->avg_hops, may = roughly ? 0.05 * a->avg_hops : 1e-9;

	return d <= may && d >= -may && (roughly || a->max_hops == b->max_hops);
}

static bool
verdicts_alike(const struct verdict *a, const struct verdict *b)
{
	return a->unreachable_pairs == b->unreachable_pairs &&
	    a->disjoint_pairs == b->disjoint_pairs &&
	    a->switch_pairs_unrouted == b->switch_pairs_unrouted &&
	    (a->credit_loops > 0) == (b->credit_loops > 0) && a->fault == b->fault;
}

static enum props_outcome
compare_names(
    const struct props *p, const struct trial *a, const struct trial *b, char *report, size_t room)
{
	const struct verdict *v = a->verdict, *w = b->verdict;

	if (v->reachable_pairs != w->reachable_pairs)
		snprintf(report, room,
		    "names: %" PRIu64 " pairs have a path, under other names %" PRIu64,
		    v->reachable_pairs, w->reachable_pairs);
	else if (p->names != PROPS_NAMES_MATTER && !hops_alike(p, v, w))
		snprintf(report, room,
		    "names: %.6f hops on average and %u at most, under other names %.6f and %u",
		    v->avg_hops, v->max_hops, w->avg_hops, w->max_hops);
	else if (p->names != PROPS_NAMES_MATTER && !verdicts_alike(v, w))
		snprintf(report, room,
		    "names: %" PRIu64 " pairs without a path, %" PRIu64 " of switches, %" PRIu64
		    " credit loops, under other names %" PRIu64 ", %" PRIu64 " and %" PRIu64,
		    v->unreachable_pairs, v->switch_pairs_unrouted, (uint64_t)v->credit_loops,
		    w->unreachable_pairs, w->switch_pairs_unrouted, (uint64_t)w->credit_loops);
	else if (p->names != PROPS_NAMES_MATTER && !loads_alike(p, a->metrics, b->metrics))
		snprintf(report, room,
		    "names: loads %" PRIu64 "..%" PRIu64
		    ", worst shift %u; under other names %" PRIu64 "..%" PRIu64 ", worst shift %u",
		    a->metrics->load_min, a->metrics->load_max, a->metrics->sp_max,
		    b->metrics->load_min, b->metrics->load_max, b->metrics->sp_max);
	else
		return PROPS_HOLD;
	return PROPS_BROKEN;
}

static enum props_outcome
check_names(const struct props *p, char *report, size_t room)
{
	struct verdict v[2];
	struct metrics m[2] = { 0 };
	struct trial t[2] = { { .n_workers = 1, .verdict = &v[0], .metrics = &m[0] },
		{ .n_workers = 1, .verdict = &v[1], .metrics = &m[1] } };
	struct props other = *p;
	struct fm_error err;

	if (p->renamed == NULL)
		return PROPS_HOLD;
	other.snap = p->renamed;
	if (run_with(p, &t[0], &err) != 0)
		return broken(report, room, "names", err.msg);
	if (run_with(&other, &t[1], &err) != 0)
		return broken(report, room, "names: under other names", err.msg);
	if (check_verdict(&other, &v[1], report, room) != PROPS_HOLD)
		return PROPS_BROKEN;
	return compare_names(p, &t[0], &t[1], report, room);
}

/* ------------------------------------------------------------ being stopped */

static enum props_outcome
check_stop(const struct props *p, uint64_t digest, char *report, size_t room)
{
	struct trial t = { .n_workers = 2, .stopped = true };
	struct fm_error err = { 0 };
	int rc = run_with(p, &t, &err);

	if (rc == FM_E_CANCELLED)
		return PROPS_HOLD;
	if (rc != 0)
		return broken(report, room, "stop: another error than FM_E_CANCELLED", err.msg);
	return t.digest == digest ? PROPS_HOLD
				  : broken(report, room, "stop: other bytes when told to stop", "");
}

/* ------------------------------------------------------------------ refusals */

/* The refusal err: by its kind, and alike with any number of workers. */
static enum props_outcome
check_refusal(const struct props *p, const struct fm_error *err, char *report, size_t room)
{
	static const unsigned workers[] = { 2, 8 };

	if (err->kind != FM_E_TOPOLOGY && err->kind != FM_E_RESOURCE) {
		snprintf(
		    report, room, "refusal: of kind %s: %s", fm_error_word(err->kind), err->msg);
		return PROPS_BROKEN;
	}
	if (strlen(err->msg) < 10)
		return broken(report, room, "refusal: without a sentence", err->msg);
	for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++) {
		struct trial again = { .n_workers = workers[i] };
		struct fm_error other = { 0 };

		if (run_with(p, &again, &other) == 0 || other.kind != err->kind ||
		    strcmp(other.msg, err->msg) != 0) {
			snprintf(report, room, "refusal: %s; with %u workers: %s", err->msg,
			    workers[i], other.msg);
			return PROPS_BROKEN;
		}
	}
	snprintf(report, room, "%s: %s", fm_error_word(err->kind), err->msg);
	return PROPS_REFUSED;
}

/* Each allocation failing on the way to the refusal err. */
static enum props_outcome
check_refusal_memory(const struct props *p, const struct fm_error *err, uint64_t *n_allocs,
    char *report, size_t room)
{
	char what[80];

	for (*n_allocs = 0; !p->memory_suffices && *n_allocs < ALLOCS_MAX; ++*n_allocs) {
		struct trial t = { .n_workers = 1, .fail_at = *n_allocs + 1 };
		struct fm_error other = { 0 };
		int rc = run_with(p, &t, &other);

		if (rc != 0 && strcmp(other.msg, err->msg) == 0)
			break;
		if (rc == FM_E_RESOURCE)
			continue;
		snprintf(
		    what, sizeof(what), "refusal: scratch allocation %" PRIu64 " fails", t.fail_at);
		return broken(report, room, what, rc == 0 ? "it makes tables" : other.msg);
	}
	return PROPS_REFUSED;
}

enum props_outcome
props_check_quick(const struct props *p, struct verdict *verdict, char *report, size_t room)
{
	struct trial first = { .n_workers = 1, .verdict = verdict }, again = { .n_workers = 8 };
	struct fm_error err = { 0 };
	enum props_outcome outcome;

	if (run_with(p, &first, &err) != 0)
		return check_refusal(p, &err, report, room);
	outcome = check_verdict(p, verdict, report, room);
	if (outcome == PROPS_HOLD && run_with(p, &again, &err) != 0)
		return broken(report, room, "pure: with 8 workers", err.msg);
	if (outcome == PROPS_HOLD && again.digest != first.digest)
		return broken(report, room, "pure: other bytes with 8 workers than with 1", "");
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
		if (err.kind == FM_E_TOPOLOGY && check_probe(p, true, report, room) != PROPS_HOLD)
			return PROPS_BROKEN;
		outcome = check_refusal(p, &err, report, room);
		return outcome != PROPS_REFUSED
		    ? outcome
		    : check_refusal_memory(p, &err, n_allocs, report, room);
	}
	outcome = check_verdict(p, &verdict, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_probe(p, false, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_pure(p, first.digest, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_rows(p, first.digest, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_memory(p, first.digest, n_allocs, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_stop(p, first.digest, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_names(p, report, room);
	if (outcome == PROPS_HOLD)
		outcome = props_check_repair(p, report, room);
	return outcome;
}
