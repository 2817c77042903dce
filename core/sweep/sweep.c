/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/sweep.c - the road of a sweep, phase by phase.
 *
 * sweeper_step() goes on while nothing is out: it calls the feed of the
 * phase, and when that is dry and every answer is in, starts the next phase.
 * It never waits, so SMInfo and traps are served meanwhile; while a plan is
 * being made on the worker's thread it returns at once.
 */
#include "core/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/agents/agents.h"
#include "core/ask/late.h"
#include "core/audit/audit.h"
#include "core/events/kinds.h"
#include "core/plan/keep.h"
#include "core/plan/plan_file.h"
#include "core/route/route.h"
#include "core/sweep/internal.h"
#include "lib/faultpoint.h"

#define NS_PER_MS 1e6

/* A sweeper, and what its rooms behind all others keep in it. */
struct whole {
	struct sweeper s;
	struct sweep_discovery disc;
	struct sweep_asked asked;
	struct todo_list todo;
	struct traps traps;
};

static struct sweeper *
new_whole(void)
{
	struct fm_arena mem;
	struct whole *w;

	fm_arena_init(&mem, SIZE_MAX);
	w = fm_arena_alloc(&mem, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->s.mem = mem;
	w->s.disc = &w->disc;
	w->s.asked = &w->asked;
	w->s.todo = &w->todo;
	w->s.traps = &w->traps;
	todo_clear(&w->todo);
	TAILQ_INIT(&w->s.reading.out);
	TAILQ_INIT(&w->s.reading.come);
	inv_init(&w->s.inv);
	return &w->s;
}

struct sweeper *
sweeper_new(
    const struct sweep_parts *parts, const struct sweep_settings *settings, struct fm_error *err)
{
	struct local_port local;
	struct sweeper *s;

	if (parts->transport->ops->local_port(parts->transport, &local, err) != 0)
		return NULL;
	s = new_whole();
	if (s == NULL) {
		fm_fail(err, FM_E_RESOURCE, "out of memory for the sweep");
		return NULL;
	}
	s->p = *parts;
	s->report.number = parts->n_sweeps;
	s->set = *settings;
	s->inv.names = settings->names;
	s->local = local;
	s->ways.epoch = 1; /* no node is of it */
	s->logs.traps = s->logs.silent = s->logs.refused =
	    (struct fm_log_bucket){ .burst = 20, .every_ms = 1000 };
	s->logs.silent.kind = EVENT_NO_REPLY;
	s->logs.refused.kind = EVENT_NODE_REFUSES;
	s->logs.control = (struct fm_log_bucket){ .burst = 1, .every_ms = 60000 };
	if (!program_new(s) || !sms_new(s) || !ar_new(s) || !audit_new(s) || !agents_new(s)) {
		fm_fail(err, FM_E_RESOURCE, "out of memory for the sweep");
		sweeper_free(s);
		return NULL;
	}
	sms_configured(s);
	return s;
}

const struct sweep_would *
sweeper_would(const struct sweeper *s, size_t *n)
{
	*n = s->would.n;
	return s->would.item;
}

void
sweeper_free(struct sweeper *s)
{
	struct fm_arena mem;

	if (s == NULL)
		return;
	program_free(s);
	sms_free(s);
	audit_free(s);
	agents_free(s);
	ar_free(s);
	plan_put(s->next);
	plan_put(s->plan);
	inv_fini(&s->inv);
	fm_vec_fini(&s->reading.doubted);
	fm_vec_fini(&s->would);
	todo_clear(s->todo);
	fm_hash_fini(&s->disc->newcomers);
	traps_fini(s->traps);
	plan_weighed_put(&s->asked->weighed);
	mem = s->mem;
	fm_arena_fini(&mem);
}

void
sweeper_configure(struct sweeper *s, const struct sweep_settings *settings,
    const struct chain *chain, const struct region_set *regions)
{
	s->set = *settings;
	inv_rename(&s->inv, settings->names);
	s->p.chain = chain;
	s->p.regions = regions;
	s->asked->chain_changed = true;
	links_configured(s);
	sms_configured(s);
	agents_configured(s);
}

/* What is read back is no sweep; both begin when the answers are in that are out. */
static int64_t
idle_until_ms(const struct sweeper *s)
{
	int64_t at_ms, agents_ms = agents_due_ms(s), ar_ms = ar_due_ms(s);

	if (s->run.pending > 0)
		return INT64_MAX;
	at_ms = sweeper_is_due_between(s) ? LONG_AGO_MS : wake_next(s).at_ms;
	at_ms = agents_ms < at_ms ? agents_ms : at_ms;
	at_ms = ar_ms < at_ms ? ar_ms : at_ms;
	return audit_due_ms(s) < at_ms ? audit_due_ms(s) : at_ms;
}

/* Has something happened that the plan does not know, while reads are out? */
static bool
may_go_on_beside(const struct sweeper *s)
{
	bool lost = s->inv.n_unlinked != s->disc->n_unlinked_before;

	if (!sweeper_was_up(s) || s->plan == NULL || s->run.failed || s->run.pending == 0)
		return false;
	switch (s->run.phase) {
	case PHASE_DISCOVER:
		return s->reading.doubted.n > 0;
	case PHASE_REREAD:
		return s->reading.doubted.n > 0 || lost ||
		    (s->report.scope != SWEEP_HEAVY && s->disc->changed);
	default:
		return false;
	}
}

static int64_t
sweep_due_ns(const struct sweeper *s)
{
	int64_t now_ns = s->p.transport->ops->now_ns(s->p.transport), until_ns;

	if (s->run.phase == PHASE_IDLE) {
		int64_t at_ms = idle_until_ms(s);

		return at_ms == INT64_MAX ? INT64_MAX : at_ms * 1000000;
	}
	if (may_go_on_beside(s))
		return late_since_ns(s);
	until_ns = s->run.phase == PHASE_TABLES ? apply_waits_until_ns(s) : 0;
	if (until_ns == 0)
		return INT64_MAX;
	/* What is over waits for an answer that is still out. */
	return now_ns < until_ns || s->run.pending == 0 ? until_ns : INT64_MAX;
}

/* Other SMs, and our own port, are looked at in whatever phase. */
int64_t
sweeper_due_ns(const struct sweeper *s)
{
	int64_t sweep_ns = sweep_due_ns(s), sms_ms = sms_due_ms(s);

	return sms_ms < sweep_ns / 1000000 ? sms_ms * 1000000 : sweep_ns;
}

void
sweeper_drain(struct sweeper *s)
{
	s->asked->drain_once = s->asked->chain_changed = true;
	sweeper_request(s, SWEEP_HEAVY, "drain");
}

void
sweeper_offer(struct sweeper *s, const struct plan_weighed *weighed)
{
	plan_weighed_put(&s->asked->weighed);
	s->asked->weighed = *weighed;
	sweeper_request(s, SWEEP_LIGHT, "auto has weighed");
}

bool
sweeper_idle(const struct sweeper *s)
{
	return s->run.phase == PHASE_IDLE && s->run.pending == 0 && !wake_is_due(s) &&
	    !sweeper_is_due_between(s);
}

const struct sweep_report *
sweeper_report(const struct sweeper *s)
{
	return &s->report;
}

enum sweep_phase
sweeper_phase(const struct sweeper *s)
{
	return s->run.phase;
}

bool
sweeper_is_up(const struct sweeper *s)
{
	return sweeper_was_up(s);
}

const struct plan *
sweeper_plan(const struct sweeper *s)
{
	return s->plan;
}

const struct inventory *
sweeper_inventory(const struct sweeper *s)
{
	return &s->inv;
}

uint64_t
sweeper_n_requests(const struct sweeper *s)
{
	return s->reading.seq;
}

const struct todo_list *
sweeper_todo(const struct sweeper *s)
{
	return s->todo;
}

void
sweeper_on_done(struct sweeper *s, sweep_done done, void *arg)
{
	s->done = done;
	s->done_arg = arg;
}

void
sweeper_ask_of_standbys(struct sweeper *s, const struct sweep_standbys *standbys)
{
	s->p.standbys = *standbys;
}

/* --------------------------------------------------------------- summary */

static void
count_smps(struct sweeper *s)
{
	const struct txn_counts *now = txn_counts(s->p.txn), *was = &s->run.counts_at_start;
	struct sweep_report *r = &s->report;

	r->gets = r->sets = 0;
	for (unsigned i = 0; i < 256; i++) {
		r->gets_by_attr[i] = now->gets_by_attr[i] - was->gets_by_attr[i];
		r->sets_by_attr[i] = now->sets_by_attr[i] - was->sets_by_attr[i];
		r->gets += r->gets_by_attr[i];
		r->sets += r->sets_by_attr[i];
	}
	r->retries = now->retries - was->retries;
	r->timeouts = now->timeouts - was->timeouts;
	r->refused = now->refused - was->refused;
}

/* What this sweep leaves unfinished. */
static void
note_todo(struct sweeper *s, enum sweep_outcome outcome)
{
	struct sweep_report *r = &s->report;
	const char *failed = s->todo->text[TODO_FAILED - TODO_FIRST_OF_FABRIC];
	char before[TODO_TEXT];
	bool ours = outcome != SWEEP_STANDBY && outcome != SWEEP_NO_LINK &&
	    (sweeper_was_up(s) || outcome == SWEEP_UP);

	if (!ours)
		late_forget(s, INV_NONE);
	snprintf(before, sizeof(before), "%s", failed);
	todo_scan(s, ours);
	r->failed_again = s->todo->n_of[TODO_FAILED] > 0 && strcmp(before, failed) == 0;
	/* what is still in doubt is on the list, and waits for its turn; but for what a sweep is
	 * wanted for already, as traps have named it meanwhile */
	if (s->run.wanted != SWEEP_NAMED)
		doubt_nothing(s);
	r->n_troubles = todo_n_waiting(s->todo);
	r->n_duplicates = s->todo->n_of[TODO_TWIN_GUID];
	r->n_loops = s->todo->n_of[TODO_LOOP];
}

static void
end_sweep(struct sweeper *s, enum sweep_outcome outcome)
{
	struct sweep_report *r = &s->report;

	s->run.phase = PHASE_IDLE;
	sms_serve_held(s);
	s->run.feed = NULL;
	s->run.quiet = false;
	s->asked->chain_changed =
	    s->asked->chain_changed || s->asked->asked_anew; /* the next is to come to it */
	s->asked->drain_once = s->asked->drain_once || s->asked->asked_drain;
	s->asked->asked_anew = s->asked->asked_drain = false;
	plan_weighed_put(&s->asked->weighed);
	mcast_sweep_ended(s);
	if (s->run.failed)
		outcome = SWEEP_FAILED;
	r->outcome = outcome;
	s->run.ended_ms = sweeper_clock_ms(s);
	if (s->run.looks_at_all)
		s->run.looked_ms = s->run.ended_ms;
	r->total_ms = (double)(sweep_wall_ns() - s->run.started_ns) / NS_PER_MS;
	count_smps(s);
	links_count(s);
	note_todo(s, outcome);
	if (outcome == SWEEP_UP) {
		s->rule.up = UP_NOW;
		links_settings_written(s);
		links_are_told(s);
		mkeys_commit(s);
	} else if (outcome == SWEEP_STANDBY || outcome == SWEEP_NO_LINK) {
		s->rule.up = s->rule.up == UP_NEVER ? UP_NEVER : UP_NO_MORE;
		s->rule.others = OTHERS_RULED;
	}
	if (outcome == SWEEP_NO_LINK)
		sms_no_link(s);
	plan_put(s->next);
	s->next = NULL;
	if (s->done != NULL)
		s->done(s->done_arg, r);
	if (outcome == SWEEP_UP)
		repath_tell(s);
	if (outcome == SWEEP_UP)
		program_keep(s);
	if (outcome == SWEEP_UP && s->p.worker != NULL && s->plan != NULL)
		plan_worker_prepare(s->p.worker, s->plan);
}

/* ---------------------------------------------------------------- phases */

/* Why the sweep begins, and how much is asked anew. */
static void
say_why(struct sweeper *s, struct sweep_report *r)
{
	static const char *const reasons[] = { [WAKE_DOUBT] = "what has changed meanwhile",
		[WAKE_LATE] = "what nodes have answered late",
		[WAKE_TRAPS] = "traps that were put off",
		[WAKE_BROKEN_OFF] = "what has changed while tables were written",
		[WAKE_IN_VAIN] = "the sweep before came to nothing",
		[WAKE_INTERVAL] = "interval",
		[WAKE_LOST] = "nothing else was due" };
	struct wake w = wake_next(s);

	if (w.why == WAKE_ASKED) {
		r->scope = s->run.wanted;
		snprintf(r->reason, sizeof(r->reason), "%s", s->run.wanted_reason);
		return;
	}
	r->scope = w.why == WAKE_INTERVAL || w.why == WAKE_IN_VAIN ? SWEEP_LIGHT : SWEEP_NAMED;
	if (w.why == WAKE_LOST || (r->scope == SWEEP_LIGHT && s->set.sweep.force_heavy))
		r->scope = SWEEP_HEAVY;
	if (w.why == WAKE_UNFINISHED)
		todo_reason(s, r->reason, sizeof(r->reason));
	else
		snprintf(r->reason, sizeof(r->reason), "%s", reasons[w.why]);
	if (w.why == WAKE_LOST)
		log_err("sweep",
		    "the subnet is not as it is to be, and nothing was due that would change it: "
		    "this is a bug of fmd, please report it; everything is looked at now");
}

/* All is to be discovered; who has a copy of the master that is gone may rule before. */
static void
begin_discovery(struct sweeper *s)
{
	if (sms_ask_before_rule(s))
		sweep_enter(s, PHASE_TAKE_OVER);
	else
		discover_start(s);
}

static void
start_sweep(struct sweeper *s)
{
	struct sweep_report *r = &s->report, next = { .number = r->number + 1 };

	say_why(s, &next);
	if (!sweeper_was_up(s))
		next.scope = SWEEP_HEAVY; /* what has not come up once has to be seen whole */
	*r = next;
	s->would.n = 0;
	s->run.looks_at_all = r->scope == SWEEP_LIGHT || r->scope == SWEEP_HEAVY;
	s->run.wanted = SWEEP_NONE;
	if (s->rule.others != OTHERS_NOT_THERE)
		program_forget(s);
	s->rule.others = OTHERS_NOT_THERE;
	s->run.failed = false;
	program_start(s);
	s->disc->changed = s->disc->fell_silent = s->disc->looked_twice = false;
	s->disc->todo_work = false;
	s->disc->n_doubts = 0;
	s->ways.epoch++;
	lid_route_reopen(s);
	s->run.counts_at_start = *txn_counts(s->p.txn);
	s->run.started_ns = s->run.phase_ns = sweep_wall_ns();
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		struct inv_node *n = inv_node(&s->inv, i);

		n->n_reads = 0;
		n->was_silent = n->silent;
		n->warned = n->warned && (n->silent || n->quiet);
		n->quiet = n->n_late > 0 && !n->silent;
	}
	s->disc->n_unlinked_before = s->inv.n_unlinked;
	sweep_enter(s, PHASE_DISCOVER);
	late_take(s);
	switch (r->scope) {
	case SWEEP_NONE:
		break;
	case SWEEP_LIGHT:
		light_start(s);
		break;
	case SWEEP_NAMED:
		sweep_enter(s, PHASE_REREAD);
		todo_take_up(s, false);
		discover_reread(s);
		break;
	case SWEEP_HEAVY:
		todo_try(s);
		doubt_nothing(s);
		late_forget(s, INV_NONE);
		traps_settle(s);
		begin_discovery(s);
		break;
	}
}

static void
after_discovery(struct sweeper *s)
{
	if (s->report.scope == SWEEP_LIGHT) {
		bool news = s->disc->changed || s->reading.doubted.n > 0 || s->disc->todo_work ||
		    s->disc->fell_silent || model_drops(s);

		s->run.quiet = !news &&
		    (s->asked->weighed.found != NULL ||
			plan_wants_quiet_pass(
			    s->plan, s->p.chain, &s->set.routing, s->set.transition.rebalance));
		news = news || s->run.quiet;
		if (!sms_decide(s) || !news) {
			end_sweep(s,
			    s->report.outcome == SWEEP_STANDBY ? SWEEP_STANDBY : SWEEP_UNCHANGED);
			return;
		}
		s->report.scope = SWEEP_NAMED;
	}
	if (!sms_has_link(s)) {
		end_sweep(s, SWEEP_NO_LINK);
		return;
	}
	discover_compare_ends(s);
	sweep_enter(s, PHASE_REREAD);
	discover_reread(s);
}

/* From our port on, once: a switch that a plan leaves out and that forwards all the same is not in
 * its proofs, so it is to be one that truly does not answer. */
static void
look_at_all(struct sweeper *s)
{
	s->disc->looked_twice = true;
	s->report.scope = SWEEP_HEAVY;
	s->report.n_silent = 0;
	doubt_nothing(s);
	late_forget(s, INV_NONE);
	sweep_enter(s, PHASE_DISCOVER);
	discover_start(s);
}

static void
after_reread(struct sweeper *s)
{
	discover_compare_ends(s);
	if (s->reading.doubted.n > 0) {
		discover_reread(s);
		if (s->run.pending > 0)
			return;
	}
	if (!sms_has_link(s)) {
		end_sweep(s, SWEEP_NO_LINK);
		return;
	}
	discover_finish(s);
	if (s->report.scope != SWEEP_HEAVY && discover_retry(s)) {
		discover_reread(s);
		return; /* and here again, with what they said */
	}
	if (discover_lost_sight(s)) {
		look_at_all(s);
		return;
	}
	sweep_enter(s, PHASE_OTHER_SMS);
	sms_start(s);
}

static void
after_routing(struct sweeper *s, enum routing_end end)
{
	if (end == ROUTING_NO_TABLES) {
		end_sweep(s, SWEEP_NOT_ROUTED);
	} else if (end == ROUTING_DONE) {
		sweep_enter(s, PHASE_SWITCHES);
		program_switches(s);
	}
}

static void
commit_plan(struct sweeper *s)
{
	if (program_commit(s))
		s->asked->asked_anew = s->asked->asked_drain = false;
}

/* All is written that will be. */
static void
commit(struct sweeper *s)
{
	commit_plan(s);
	sweep_enter(s, PHASE_MCAST);
	aliases_start(s, true);
	mcast_start(s, true);
}

static void
after_tables(struct sweeper *s)
{
	if (sweeper_has_found(s)) {
		commit_plan(s);
		if (!s->run.failed)
			owed_start(s); /* and once more from what is known now */
	} else if (sweeper_breaks_off(s)) {
		commit_plan(s);
		end_sweep(s, SWEEP_BROKEN_OFF);
	} else if (s->writing.cold == COLD_WRITTEN) {
		commit(s);
	} else {
		sweep_enter(s, PHASE_PORTS);
		links_ports(s);
	}
}

static void
after_activation(struct sweeper *s)
{
	if (apply_again(s)) {
		sweep_enter(s, PHASE_TABLES);
		s->run.feed = apply_feed;
	} else if (!s->run.failed && !mkeys_change(s) && !mkeys_bar_us(s)) {
		commit(s);
	}
}

/* The phase is over and all its answers are in: the next one. */
static void
advance(struct sweeper *s)
{
	switch (s->run.phase) {
	case PHASE_IDLE:
		if (wake_is_due(s)) {
			start_sweep(s);
		} else {
			s->run.failed = false; /* of the sweep before */
			s->run.phase = PHASE_MCAST;
			aliases_start(s, false);
			mcast_start(s, false);
		}
		return;
	case PHASE_TAKE_OVER:
		if (s->p.ha->state != WIRE_SM_MASTER && sms_rule_at_once(s) && s->run.pending > 0)
			return; /* till hosts have been told */
		sweep_enter(s, PHASE_DISCOVER);
		discover_start(s);
		return;
	case PHASE_DISCOVER:
		after_discovery(s);
		return;
	case PHASE_REREAD:
		after_reread(s);
		return;
	case PHASE_OTHER_SMS:
		if (!sms_decide(s))
			end_sweep(s, SWEEP_STANDBY);
		else
			owed_start(s);
		return;
	case PHASE_ROUTE:
		if (owed_end(s))
			after_routing(s, routing_start(s));
		return;
	case PHASE_SWITCHES:
		sweep_enter(s, PHASE_TABLES);
		program_tables(s);
		return;
	case PHASE_TABLES:
		after_tables(s);
		return;
	case PHASE_PORTS:
		sweep_enter(s, PHASE_ACTIVATE);
		links_activate(s);
		return;
	case PHASE_ACTIVATE:
		after_activation(s);
		return;
	case PHASE_MCAST:
		if (mcast_finish(s))
			sweep_enter(s, PHASE_DONE);
		else
			s->run.phase = PHASE_IDLE; /* it was by itself */
		return;
	case PHASE_DONE:
	case N_PHASES:
		end_sweep(s, SWEEP_UP);
		return;
	}
}

/* Answers are waited for and no request is out that could bring them: a bug of fmd, which must not
 * make it wait for ever. */
static void
stop_waiting_in_vain(struct sweeper *s)
{
	if (s->run.pending == 0 || txn_outstanding(s->p.txn) > 0)
		return;
	log_err("sweep",
	    "the sweep waits for %u answers, and no request is out: this is a bug of fmd, please "
	    "report it; everything is looked at now",
	    s->run.pending);
	s->run.pending = 0;
	sweeper_request(s, SWEEP_HEAVY, "answers that could not come");
	if (s->run.phase != PHASE_IDLE)
		sweep_fail(s, FM_E_SYSTEM, "the sweep waited for answers that could not come");
}

/* A sweep goes on, or another is to begin.  Else what is beside sweeps is done. */
static bool
has_more_to_do(struct sweeper *s)
{
	if (s->run.phase != PHASE_IDLE || wake_is_due(s) || sweeper_is_due_between(s))
		return true;
	ar_step(s);
	agents_step(s);
	return audit_step(s);
}

void
sweeper_step(struct sweeper *s)
{
	stop_waiting_in_vain(s);
	/* What is lost may be more of a switch that is being written and does not answer. */
	txn_impatient(s->p.txn,
	    s->run.phase == PHASE_TABLES && s->run.wanted >= SWEEP_NAMED && !ask_is_lossy(s));
	sms_step(s);
	for (;;) {
		if (s->run.routing) {
			enum routing_end end = routing_take(s);

			if (end == ROUTING_RUNS)
				return;
			after_routing(s, end);
			continue;
		}
		if (s->run.failed && s->run.phase != PHASE_IDLE) {
			if (s->run.pending > 0)
				return;
			commit_plan(s);
			end_sweep(s, SWEEP_FAILED);
			continue;
		}
		if (s->run.feed != NULL && s->run.feed(s))
			return;
		s->run.feed = NULL;
		if (s->run.phase == PHASE_IDLE)
			traps_step(s);
		if (may_go_on_beside(s) &&
		    s->p.transport->ops->now_ns(s->p.transport) >= late_since_ns(s))
			discover_let_go(s);
		if (s->run.pending > 0 || !has_more_to_do(s))
			return;
		advance(s);
	}
}
