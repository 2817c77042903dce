/* SPDX-License-Identifier: BSD-2-Clause */
#include "lab/judge/props.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/graph/cable_order.h"
#include "core/route/route.h"
#include "lab/judge/props_internal.h"
#include "lib/error.h"

#define SENTENCE_MIN 10	  /* characters of a reason, as engine.h says */
#define ALLOCS_MAX 100000 /* an engine that needs more is not tested to the end */

static enum props_outcome
check_verdict(const struct props *p, const struct verdict *v, char *report, size_t room)
{
	bool promised = (p->engine->traits & FM_PROMISES_NO_CREDIT_LOOPS) != 0;

	if (!verdict_is_safe(v, true))
		return props_broken(report, room, "verdict", v->witness);
	if (promised && v->credit_loops > 0)
		return props_broken(
		    report, room, "verdict: a credit loop, though it promises none", v->witness);
	if (v->unreachable_pairs > 0 && !p->pairs_may_lack)
		return props_broken(report, room, "verdict: a pair without a path", v->witness);
	return PROPS_HOLD;
}

/* Once more with so many workers, against the tables that one worker made before. */
static enum props_outcome
check_again(const struct props *p, const struct tables *before, uint64_t digest, unsigned n_workers,
    char *report, size_t room)
{
	struct tables *made = NULL;
	struct props_trial again = { .n_workers = n_workers, .keep = &made };
	enum props_outcome outcome = PROPS_HOLD;
	char what[64], where[256] = "";
	struct fm_error err;

	snprintf(what, sizeof(what), "pure: with %u worker%s", n_workers, n_workers > 1 ? "s" : "");
	props_trying(p, "%s", what);
	if (props_run_with(p, &again, &err) != 0)
		outcome = props_broken(report, room, what, err.msg);
	else if (again.digest != digest) {
		props_tell_difference(&p->snap->fab, &before->t, &made->t, where, sizeof(where));
		snprintf(
		    report, room, "%s: other bytes than with 1 worker before: %s", what, where);
		outcome = PROPS_BROKEN;
	}
	tables_put(made);
	return outcome;
}

static enum props_outcome
check_pure(
    const struct props *p, const struct tables *before, uint64_t digest, char *report, size_t room)
{
	static const unsigned workers[] = { 1, 1, 2, 8 };
	enum props_outcome outcome = PROPS_HOLD;

	for (size_t i = 0; outcome == PROPS_HOLD && i < sizeof(workers) / sizeof(*workers); i++)
		outcome = check_again(p, before, digest, workers[i], report, room);
	return outcome;
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
		return props_broken(report, room, "memory", err.msg);
	for (*n_allocs = 0; outcome == PROPS_HOLD && *n_allocs < ALLOCS_MAX; ++*n_allocs) {
		struct props_trial t = { .fail_at = *n_allocs + 1 };

		snprintf(
		    what, sizeof(what), "memory: scratch allocation %" PRIu64 " fails", t.fail_at);
		props_trying(p, "%s", what);
		rc = props_run(p, &r, &t, &err);
		if (rc == 0 && t.digest != digest)
			outcome =
			    props_broken(report, room, what, "it goes on and makes other bytes");
		else if (rc != 0 && rc != FM_E_RESOURCE)
			outcome = props_broken(report, room, what, err.msg);
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
	double d = a->avg_hops - b->avg_hops,
	       may = roughly		    ? 0.05 * a->avg_hops
	    : p->names == PROPS_NAMES_EQUAL ? 1e-9
					    : 0.001 * a->avg_hops;

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
compare_names(const struct props *p, const struct props_trial *a, const struct props_trial *b,
    char *report, size_t room)
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
	struct props_trial t[2] = { { .n_workers = 1, .verdict = &v[0], .metrics = &m[0] },
		{ .n_workers = 1, .verdict = &v[1], .metrics = &m[1] } };
	struct props other = *p;
	struct fm_error err;

	if (p->renamed == NULL)
		return PROPS_HOLD;
	other.snap = p->renamed;
	props_trying(p, "names");
	if (props_run_with(p, &t[0], &err) != 0)
		return props_broken(report, room, "names", err.msg);
	if (props_run_with(&other, &t[1], &err) != 0)
		return props_broken(report, room, "names: under other names", err.msg);
	if (check_verdict(&other, &v[1], report, room) != PROPS_HOLD)
		return PROPS_BROKEN;
	return compare_names(p, &t[0], &t[1], report, room);
}

/* ------------------------------------------------------------ being stopped */

static enum props_outcome
check_stop(const struct props *p, uint64_t digest, char *report, size_t room)
{
	struct props_trial t = { .n_workers = 2, .stopped = true };
	struct fm_error err = { 0 };
	int rc;

	props_trying(p, "stop");
	rc = props_run_with(p, &t, &err);
	if (rc == FM_E_CANCELLED)
		return PROPS_HOLD;
	if (rc != 0)
		return props_broken(
		    report, room, "stop: another error than FM_E_CANCELLED", err.msg);
	return t.digest == digest
	    ? PROPS_HOLD
	    : props_broken(report, room, "stop: other bytes when told to stop", "");
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
	if (strlen(err->msg) < SENTENCE_MIN || strpbrk(err->msg, "\r\n") != NULL) {
		snprintf(report, room,
		    "refusal: a sentence is one line of %d characters or more, this is '%s'",
		    SENTENCE_MIN, err->msg);
		return PROPS_BROKEN;
	}
	for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++) {
		struct props_trial again = { .n_workers = workers[i] };
		struct fm_error other = { 0 };

		props_trying(p, "refusal: with %u workers", workers[i]);
		if (props_run_with(p, &again, &other) == 0 || other.kind != err->kind ||
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
		struct props_trial t = { .n_workers = 1, .fail_at = *n_allocs + 1 };
		struct fm_error other = { 0 };
		int rc;

		snprintf(
		    what, sizeof(what), "refusal: scratch allocation %" PRIu64 " fails", t.fail_at);
		props_trying(p, "%s", what);
		rc = props_run_with(p, &t, &other);
		if (rc != 0 && strcmp(other.msg, err->msg) == 0)
			break;
		if (rc == FM_E_RESOURCE)
			continue;
		return props_broken(report, room, what, rc == 0 ? "it makes tables" : other.msg);
	}
	return PROPS_REFUSED;
}

enum props_outcome
props_check_quick(const struct props *p, struct verdict *verdict, char *report, size_t room)
{
	struct props_trial first = { .n_workers = 1, .verdict = verdict },
			   again = { .n_workers = 8 };
	struct fm_error err = { 0 };
	enum props_outcome outcome;

	if (props_run_with(p, &first, &err) != 0)
		return check_refusal(p, &err, report, room);
	outcome = check_verdict(p, verdict, report, room);
	if (outcome == PROPS_HOLD && props_run_with(p, &again, &err) != 0)
		return props_broken(report, room, "pure: with 8 workers", err.msg);
	if (outcome == PROPS_HOLD && again.digest != first.digest)
		return props_broken(
		    report, room, "pure: other bytes with 8 workers than with 1", "");
	return outcome;
}

/* Two LIDs a host: verdict, the same bytes, refusal. */
static enum props_outcome
check_lmc(const struct props *p, char *report, size_t room)
{
	struct props other = *p;
	struct verdict verdict;
	char what[600];

	if (p->with_lmc == NULL)
		return PROPS_HOLD;
	other.snap = p->with_lmc;
	props_trying(p, "lmc");
	if (props_check_quick(&other, &verdict, what, sizeof(what)) != PROPS_BROKEN)
		return PROPS_HOLD;
	return props_broken(report, room, "lmc: with 2 LIDs a host", what);
}

/* All that can be asked of an engine that has made the tables of `first`. */
static enum props_outcome
check_routed(const struct props *p, const struct props_trial *first, uint64_t *n_allocs,
    char *report, size_t room)
{
	enum props_outcome outcome = check_verdict(p, first->verdict, report, room);

	if (outcome == PROPS_HOLD)
		outcome = check_pure(p, *first->keep, first->digest, report, room);
	if (outcome == PROPS_HOLD)
		outcome = props_check_rows(p, first->digest, report, room);
	if (outcome == PROPS_HOLD)
		outcome = props_check_bounds(p, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_memory(p, first->digest, n_allocs, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_stop(p, first->digest, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_names(p, report, room);
	if (outcome == PROPS_HOLD)
		outcome = check_lmc(p, report, room);
	return outcome;
}

enum props_outcome
props_check(const struct props *p, uint64_t *n_allocs, char *report, size_t room)
{
	struct verdict verdict;
	struct tables *tables = NULL;
	struct props_trial first = { .n_workers = 1, .verdict = &verdict, .keep = &tables };
	struct fm_error err = { 0 };
	enum props_outcome outcome;

	*n_allocs = 0;
	props_trying(p, "route");
	if (props_run_with(p, &first, &err) != 0) {
		outcome = check_refusal(p, &err, report, room);
		return outcome != PROPS_REFUSED
		    ? outcome
		    : check_refusal_memory(p, &err, n_allocs, report, room);
	}
	if (p->found != NULL)
		p->found->verdict = verdict;
	outcome = check_routed(p, &first, n_allocs, report, room);
	tables_put(tables);
	return outcome;
}
