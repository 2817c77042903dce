/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/routing.c - the phase in which the plan is made: from the inventory to what is
 * to be written, here or on the worker's thread.
 *
 * What cannot be routed or proven ends the sweep: the old plan stays in the switches.
 */
#include <stdlib.h>

#include "core/plan/keep.h"
#include "core/plan/plan_file.h"
#include "core/regions/regions.h"
#include "core/route/route.h"
#include "core/sweep/internal.h"
#include "core/sweep/say.h"
#include "lib/bitset.h"

/* Nothing has been in force that could be mended. */
static void
explain_no_tables(const struct sweeper *s, struct fm_error *err)
{
	const struct plan *p = s->next;
	const struct plan_refusal *first = p->refused.n > 0 ? &p->refused.item[0] : NULL;

	fm_fail(err, FM_E_TOPOLOGY, "no engine of the chain can route the fabric%s%s%.30s%s%.110s",
	    s->p.chain->fallback ? "" : ", and fallback = no", first != NULL ? ": " : "",
	    first != NULL ? first->engine : "", first != NULL ? ": " : "",
	    first != NULL ? first->reason : "");
}

static enum routing_end
end_routing(struct sweeper *s, int rc)
{
	struct sweep_report *r = &s->report;

	if (rc != 0) {
		s->run.failed = true;
		return ROUTING_FAILED;
	}
	say_refusals(s->plan, s->next);
	if (s->set.routing.ar_max_groups > 0)
		say_adaptive(s->plan, s->next);
	if (s->next != NULL && s->next->tables == NULL) {
		explain_no_tables(s, &r->error);
		return ROUTING_NO_TABLES;
	}
	snprintf(r->engine, sizeof(r->engine), "%s", s->next != NULL ? s->next->engine : "none");
	/* once more, from what was found: it was routed, or not, the first time */
	if (sweeper_has_found(s) && s->next != NULL && s->next != s->plan &&
	    s->next->made == PLAN_KEPT && s->plan->made != PLAN_KEPT)
		s->next->made = PLAN_ROUTED;
	r->kept = s->next != NULL && (s->next == s->plan || s->next->made == PLAN_KEPT);
	r->n_unreachable = s->next != NULL ? s->next->verdict.unreachable_pairs : 0;
	say_choice(s->plan, s->next);
	say_mended(s->plan, s->next);
	say_credit_loops(s->plan, s->next);
	say_longer_paths(s->plan, s->next);
	say_change(s->plan, s->next, s->set.transition.packet_life_ms, apply_holds(s));
	if (s->next != NULL && s->next != s->plan) {
		r->change = s->next->change;
		r->tables_ms = s->next->route_ms + s->next->verify_ms;
		r->order_ms = s->next->order_ms;
	}
	r->repaired = s->next != NULL && s->next != s->plan && s->next->made == PLAN_REPAIRED;
	r->n_repaired_entries = r->repaired ? (uint32_t)s->next->delta.n : 0;
	r->n_repaired_blocks = r->repaired ? s->next->delta_blocks : 0;
	return ROUTING_DONE;
}

/* Components with a host. */
static uint32_t
count_hosting(const struct snapshot *snap, uint64_t *seen /* bits, zeroed */)
{
	const struct fm_fabric *fab = &snap->fab;
	uint32_t n = 0;

	for (fm_end e = 0; e < fab->n_ends; e++) {
		uint32_t c =
		    fab->end_sw[e] != FM_NONE ? snap->sw_component[fab->end_sw[e]] : FM_NONE;

		if (fab->end_kind[e] == FM_END_SWITCH || c >= snap->n_components ||
		    fm_bit_test(seen, c))
			continue;
		fm_bit_set(seen, c);
		n++;
	}
	return n;
}

/* Out of memory: so it is said, since tables that are made anew are right in any case. */
static bool
hosts_more(const struct snapshot *a, const struct snapshot *b)
{
	size_t words = FM_BITSET_WORDS(a->n_components) + 1;
	uint64_t *seen = calloc(words + FM_BITSET_WORDS(b->n_components) + 1, sizeof(*seen));
	bool more = seen == NULL || count_hosting(a, seen) > count_hosting(b, seen + words);

	free(seen);
	return more;
}

/* Are hosts isolated from others that q->prev joins?  Tables that are kept or mended leave entries
 * that have no other way as they were, and packets would go on by isolated cables. */
static bool
isolates_hosts(const struct plan_request *q)
{
	return q->wire != NULL && q->prev != NULL && hosts_more(q->snap, q->wire) &&
	    hosts_more(q->snap, q->prev->snap);
}

enum routing_end
routing_start(struct sweeper *s)
{
	struct plan_request q = { .set = &s->set.routing,
		.chain = s->p.chain,
		.regions = s->p.regions,
		.prev = s->plan,
		.anew = s->asked->chain_changed ? PLAN_BY_CHAIN : PLAN_FROM_PREV,
		.now_ms = sweeper_clock_ms(s),
		.linger_ms = s->set.addresses.lid_linger_ms,
		.rebalance = s->set.transition.rebalance,
		.quiet = s->run.quiet,
		.weighed = s->asked->weighed.found != NULL ? &s->asked->weighed : NULL,
		.drain = s->asked->drain_once ? PLAN_DRAIN_ALWAYS : s->set.transition.drain,
		.mcast_sls = mcast_make_trees(s),
		.mcast_trees = MCAST_TREES_DEFAULT };
	struct fm_error *err = &s->report.error;
	struct plan *thawed = NULL;
	int rc = model_build(s, &q.snap, err);

	q.wire = s->writing.wire;
	apply_request(s, &q);
	s->asked->asked_anew = s->asked->chain_changed;
	s->asked->asked_drain = s->asked->drain_once;
	s->asked->chain_changed = s->asked->drain_once =
	    false; /* asked for from here on: of the next */

	/* Later an overlap is only told of: nobody is to go without routes for it. */
	if (rc == 0 && q.snap != NULL && s->plan == NULL && s->p.regions != NULL)
		rc = regions_check(s->p.regions, q.snap, err);
	if (rc == 0 && q.snap != NULL && s->plan == NULL && s->p.plan_path != NULL) {
		rc = plan_file_load(
		    s->p.plan_path, s->p.router, q.snap, s->p.chain->mark, q.now_ms, &thawed, err);
		q.prev = thawed;
		q.prev_is_loaded = thawed != NULL;
	}
	if (rc == 0 && q.snap != NULL && isolates_hosts(&q))
		q.anew = PLAN_WITHOUT_PREV;
	apply_note_from(s, q.prev);
	if (rc == 0 && q.snap != NULL && s->p.worker != NULL) {
		plan_worker_start(s->p.worker, &q);
		s->run.routing = true;
	} else if (rc == 0 && q.snap != NULL) {
		rc = plan_make(s->p.router, &q, &s->next, err);
	}
	plan_put(thawed);
	snapshot_put(q.snap);
	return s->run.routing ? ROUTING_RUNS : end_routing(s, rc);
}

enum routing_end
routing_take(struct sweeper *s)
{
	int rc;

	if (s->p.may_take_plan != NULL && !s->p.may_take_plan(s->p.may_take_plan_arg))
		return ROUTING_RUNS;
	if (!plan_worker_take(s->p.worker, &rc, &s->next, &s->report.error))
		return ROUTING_RUNS;
	s->run.routing = false;
	return s->run.failed ? ROUTING_FAILED : end_routing(s, rc);
}
