/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repair() of an engine: a few cables, one after the other, are lost and come back.
 * It names the same entries twice and with 1, 2 and 8 workers, answers a failing
 * allocation with FM_E_RESOURCE, and what it names is taken: no repair of the core
 * instead.  An event it declines is no fault.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/repair/repair.h"
#include "core/route/route.h"
#include "lab/judge/props_internal.h"
#include "lib/arena.h"
#include "lib/bitset.h"
#include "lib/error.h"
#include "lib/hash.h"

#define N_CABLES 4
#define ALLOCS_MAX 1000

struct named {
	uint64_t digest;
	uint32_t n;
};

static bool
count_entry(struct fm_delta *d, fm_sw sw, uint16_t lid, uint8_t port)
{
	struct named *named = d->self;

	named->digest = fm_mix64(named->digest ^ ((uint64_t)sw << 32 | lid << 8u | port)) + 1;
	named->n++;
	return true;
}

/* One call on a router of its own. */
struct call {
	const struct props *p;
	struct snapshot *now;
	const struct fm_repair_request *request;
	unsigned n_workers;
	uint64_t fail_at;
	struct named named;
};

static int
call_repair(struct call *c, struct fm_error *err)
{
	struct repair_job job = {
		.engine = c->p->engine, .fab = &c->now->fab, .request = c->request
	};
	struct fm_delta delta = { .size = sizeof(delta), .self = &c->named, .set = count_entry };
	struct fm_arena mem;
	struct router r;
	void *opts = NULL;
	int rc = router_init(&r, c->n_workers, err);

	if (rc != 0)
		return rc;
	fm_arena_init(&mem, SIZE_MAX);
	r.scratch_fail_at = c->fail_at;
	c->named = (struct named){ 0 };
	rc = options_bind(c->p->engine, c->p->values, c->now, &mem, &opts, err);
	job.opts = opts;
	if (rc == 0)
		rc = route_repair(&r, &job, &delta, err);
	fm_arena_fini(&mem);
	router_fini(&r);
	return rc;
}

static enum props_outcome
broken(char *report, size_t room, const char *what)
{
	return props_broken(report, room, "repair", what);
}

/* Each allocation failing in turn, up to the call that needs no more. */
static enum props_outcome
check_poor(const struct call *first, char *report, size_t room)
{
	struct fm_error err;
	char what[360];

	for (uint64_t at = 1; !first->p->memory_suffices && at < ALLOCS_MAX; at++) {
		struct call poor = *first;
		int rc;

		poor.fail_at = at;
		props_trying(first->p, "repair: scratch allocation %" PRIu64 " fails", at);
		rc = call_repair(&poor, &err);
		if (rc == FM_E_RESOURCE)
			continue;
		if (rc == 0 && memcmp(&poor.named, &first->named, sizeof(first->named)) == 0)
			break;
		snprintf(what, sizeof(what), "scratch allocation %" PRIu64 " fails: %s", at,
		    rc == 0 ? "it names other entries" : err.msg);
		return broken(report, room, what);
	}
	return PROPS_HOLD;
}

/* The same again, with more workers, and with less memory. */
static enum props_outcome
check_calls(const struct props *p, struct snapshot *now, const struct fm_repair_request *request,
    bool *declined, char *report, size_t room)
{
	static const unsigned workers[] = { 1, 2, 8 };
	struct call first = { .p = p, .now = now, .request = request, .n_workers = 1 };
	struct fm_error err = { 0 };
	char what[360];
	int rc;

	props_trying(p, "repair");
	rc = call_repair(&first, &err);
	*declined = rc != 0;
	for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++) {
		struct fm_error other = { .msg = "none" };
		struct call again = first;

		again.n_workers = workers[i];
		props_trying(p, "repair: with %u workers", workers[i]);
		if (call_repair(&again, &other) != rc)
			snprintf(what, sizeof(what), "another answer than before, workers=%u: %s",
			    workers[i], other.msg);
		else if (rc == 0 && memcmp(&again.named, &first.named, sizeof(first.named)) != 0)
			snprintf(what, sizeof(what),
			    "other entries than before, workers=%u: %" PRIu32
			    " named, before %" PRIu32,
			    workers[i], again.named.n, first.named.n);
		else
			continue;
		return broken(report, room, what);
	}
	return rc == 0 ? check_poor(&first, report, room) : PROPS_HOLD;
}

/* Is what it names what the new plan has? */
static enum props_outcome
check_taken(const struct props *p, struct router *r, const struct plan_request *q,
    struct plan **next, char *report, size_t room)
{
	struct fm_error err = { 0 };
	uint64_t n_before = r->n_engine_repairs;
	const struct plan_entry *at = &r->engine_repair.at;
	size_t n;

	r->engine_repair.fault = NULL;
	if (plan_repair(r, q, next, &err) != 0)
		return broken(report, room, err.msg);
	if (r->n_engine_repairs != n_before)
		return PROPS_HOLD;
	broken(report, room,
	    r->engine_repair.fault != NULL ? r->engine_repair.fault : "what it names is not used");
	n = strlen(report);
	if (r->engine_repair.fault != NULL && at->lid != 0 && at->sw < p->snap->fab.n_switches)
		snprintf(report + n, room - n, ": LID %u by port %u of switch %s", at->lid,
		    at->port, p->snap->fab.sw_name[at->sw]);
	return PROPS_BROKEN;
}

/* From prev to a plan for now: *next, or NULL. */
static enum props_outcome
check_event(const struct props *p, struct router *r, const struct chain *chain, struct plan *prev,
    struct snapshot *now, const struct fm_event *event, struct plan **next, char *report,
    size_t room)
{
	struct plan_request q = { .snap = now, .chain = chain, .prev = prev, .linger_ms = 1000 };
	struct fm_repair_request request = { .size = sizeof(request),
		.n_vls = p->n_vls,
		.tables = &prev->tables->t,
		.nominal = &prev->tables->t,
		.events = event,
		.n_events = 1 };
	bool declined;
	enum props_outcome outcome = check_calls(p, now, &request, &declined, report, room);

	*next = NULL;
	return outcome != PROPS_HOLD || declined ? outcome
						 : check_taken(p, r, &q, next, report, room);
}

/* Cable l goes. */
static enum props_outcome
check_cable(const struct props *p, struct router *r, const struct chain *chain, struct plan *plan,
    fm_link l, char *report, size_t room)
{
	const struct fm_fabric *fab = &p->snap->fab;
	uint64_t *bits = calloc(FM_BITSET_WORDS(fab->n_links) + 1, sizeof(*bits));
	struct snapshot_loss loss = { .links = bits };
	struct fm_event event = { .kind = FM_EVENT_CABLE_LOST,
		.sw = fab->link_to[fab->link_rev[l]],
		.port = fab->link_port[l],
		.to_port = fab->link_port[fab->link_rev[l]],
		.to = fab->link_to[l] };
	enum props_outcome outcome = PROPS_HOLD;
	struct fm_error err = { 0 };
	struct snapshot *now = NULL;
	struct plan *next = NULL;
	size_t n;

	if (bits == NULL)
		return broken(report, room, "out of memory");
	fm_bit_set(bits, l);
	if (snapshot_without(p->snap, &loss, 2, &now, &err) != 0)
		outcome = broken(report, room, err.msg);
	else if (now->n_components == p->snap->n_components)
		outcome = check_event(p, r, chain, plan, now, &event, &next, report, room);
	n = strlen(report);
	if (outcome == PROPS_BROKEN && n < room)
		snprintf(report + n, room - n,
		    "; lost is the cable of switch %s port %u and %s port %u",
		    fab->sw_name[event.sw], event.port, fab->sw_name[event.to], event.to_port);
	plan_put(next);
	snapshot_put(now);
	free(bits);
	return outcome;
}

enum props_outcome
props_check_repair(const struct props *p, char *report, size_t room)
{
	const struct chain_entry entry = {
		.engine = p->engine, .values = p->values, .name = p->engine->name
	};
	const struct chain chain = {
		.entries = &entry, .n_entries = 1, .allow_credit_loops = true
	};
	struct plan_request q = { .snap = p->snap, .chain = &chain, .linger_ms = 1000 };
	uint32_t n_links = p->snap->fab.n_links;
	enum props_outcome outcome = PROPS_HOLD;
	struct fm_error err = { 0 };
	struct plan *plan = NULL;
	struct router r;

	if (!engine_repairs(p->engine) || n_links == 0)
		return PROPS_HOLD;
	if (router_init(&r, 1, &err) != 0)
		return broken(report, room, err.msg);
	r.set.n_vls = p->n_vls;
	if (plan_make(&r, &q, &plan, &err) != 0)
		outcome = broken(report, room, err.msg);
	for (uint32_t i = 0;
	     plan != NULL && plan->tables != NULL && outcome == PROPS_HOLD && i < N_CABLES; i++)
		outcome = check_cable(
		    p, &r, &chain, plan, (fm_link)((uint64_t)n_links * i / N_CABLES), report, room);
	plan_put(plan);
	router_fini(&r);
	return outcome;
}
