/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/picture/picture.h"
#include "core/sweep/well.h"
#include "tests/sweep/storm_internal.h"
#include "tests/sweep/storm_truth.h"
#include "lib/log.h"

#define CALM_NS (5000 * NS_PER_MS)
#define SLICE_NS (NS_PER_MS / 2)     /* of time for each of two fmd in turn */
#define IDLE_NS (50 * NS_PER_MS)     /* an event that waits for SMPs comes after so long */
#define MOMENT_NS (4000 * NS_PER_MS) /* ... one that waits for a plan, after so long */
#define STEPS_MAX 400000	     /* a storm that takes more goes in circles */

/* The next event has its turn; those that are left out take theirs without effect. */
static void
next_event(struct storm *s)
{
	if ((s->without >> s->next & 1) == 0)
		storm_happen(s);
	s->next++;
	s->n_smps = 0;
	s->since_ns = sim_now_ns(s->rig.sim);
}

static void
on_smp(void *arg, const struct sim_trace *e)
{
	struct storm *s = arg;

	if (s->locks != NULL)
		locks_look(s->locks, e);
	if (e->attr !=
	    WIRE_ATTR_SM_INFO) /* two SMs show one another numbers that nobody foresees */
		s->smps = fm_hash_bytes(s->smps ^ (uint64_t)e->at_ns, e->mad, MAD_BYTES);
	s->n_smps++;
	while (s->has_begun && s->next < s->n_events && s->events[s->next].when == AFTER_SMPS &&
	    s->n_smps >= s->events[s->next].n_smps && s->asked == NULL)
		next_event(s);
}

/* Events that wait for a state of fmd, or for SMPs that do not come. */
static void
look_for_event(struct storm *s)
{
	int64_t waited = sim_now_ns(s->rig.sim) - s->since_ns;
	const struct event *e = &s->events[s->next];
	bool idle = sweeper_idle(s->rig.sweeper), now = false;

	if (s->next == s->n_events || s->asked != NULL)
		return;
	switch (e->when) {
	case AFTER_SMPS:
		now = idle && waited > IDLE_NS;
		break;
	case IN_ROUTING:
		now = sweeper_phase(s->rig.sweeper) == PHASE_ROUTE || waited > MOMENT_NS;
		break;
	case IN_WAIT:
		now = (!idle && sweeper_due_ns(s->rig.sweeper) != INT64_MAX) || waited > MOMENT_NS;
		break;
	case WHEN_IDLE:
	case N_WHENS:
		now = idle;
		break;
	}
	if (now)
		next_event(s);
}

/* ------------------------------------------------------------------- time */

static void
hold(void *arg)
{
	struct storm *s = arg;

	sem_wait(&s->go_on);
}

/* A sweep has ended: what the routing thread would do before the next plan is not done. */
static void
hold_worker(void *arg, const struct plan *p)
{
	struct storm *s = arg;

	if (s->starves && !s->is_held)
		s->is_held = plan_worker_run(s->rig.worker, hold, s);
}

static void
let_worker_go(struct storm *s)
{
	if (!s->is_held)
		return;
	sem_post(&s->go_on);
	sem_wait(&s->rig.woken); /* by that, not by a plan */
	s->is_held = false;
}

/* The plan is taken up when the drawn time has passed on the simulator's clock. */
static bool
may_take_plan(void *arg)
{
	struct storm *s = arg;

	if (!s->plan_is_made) {
		let_worker_go(s);
		sem_wait(&s->rig.woken);
		s->plan_is_made = true;
		s->plan_ns = sim_now_ns(s->rig.sim) + storm_between(&s->rng, 0, s->plan_max_ns);
	}
	if (sim_now_ns(s->rig.sim) < s->plan_ns)
		return false;
	s->plan_is_made = false;
	s->plan_ns = INT64_MAX;
	return true;
}

static void
start(struct storm *s, bool anew, bool bare)
{
	s->plan_is_made = false;
	s->plan_ns = INT64_MAX;
	more_open_store(s, bare);
	rig_start(&s->rig);
	s->has_picture = false; /* keys are of one run */
	wishes_tell(s, !anew || s->remembers);
	sim_set_trace(s->rig.sim, on_smp, s);
	sweeper_request(s->rig.sweeper, SWEEP_HEAVY, "start");
}

static void
do_what_was_asked(struct storm *s)
{
	const struct event *e = s->asked;

	if (e == NULL)
		return;
	s->asked = NULL;
	switch (e->what) {
	case KILL:
	case KILL_BARE:
		let_worker_go(s);
		rig_stop(&s->rig);
		if (s->locks != NULL)
			locks_mute(s->locks);
		start(s, true, e->what == KILL_BARE);
		break;
	case CHANGE_MIND:
		wishes_change_mind(s, e);
		break;
	case SECOND_SM:
		second_toggle(s, e);
		break;
	case ISOLATE:
		more_isolate(s, e);
		break;
	default:
		sweeper_request(
		    s->rig.sweeper, e->what == LIGHT ? SWEEP_LIGHT : SWEEP_HEAVY, "test");
		break;
	}
}

static int64_t
earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* When there is something to do at the latest, but for MADs that come. */
static int64_t
due_ns(const struct storm *s, const struct rig *rig)
{
	int64_t due = sweeper_due_ns(rig->sweeper);

	if (rig == &s->rig)
		due = earliest(due, s->plan_ns);
	if (!sweeper_idle(rig->sweeper) && txn_outstanding(rig->txn) == 0 &&
	    sweeper_due_ns(rig->sweeper) == INT64_MAX &&
	    (rig != &s->rig || s->plan_ns == INT64_MAX))
		due = sim_now_ns(rig->sim); /* it has more to do at once */
	return due;
}

static bool
is_busy(const struct rig *r)
{
	return !sweeper_idle(r->sweeper) || txn_outstanding(r->txn) > 0;
}

/* Time goes on, and what comes meanwhile is taken. */
static void
poll(struct storm *s, int64_t until_ns)
{
	bool two = s->second.sweeper != NULL, busy;
	int64_t now = sim_now_ns(s->rig.sim), stop = earliest(until_ns, due_ns(s, &s->rig));
	struct fm_error err = { 0 };

	if (two) {
		busy = is_busy(&s->rig) || is_busy(&s->second);
		stop = earliest(stop, due_ns(s, &s->second));
		stop = earliest(stop, now + (busy ? SLICE_NS : IDLE_NS));
	}
	ck_assert_msg(txn_poll(s->rig.txn, stop, &err) >= 0, "%s", err.msg);
	if (!two)
		return;
	now = sim_now_ns(s->rig.sim);
	ck_assert_msg(txn_poll(s->second.txn, now, &err) >= 0, "%s", err.msg);
}

/* Between sweeps the picture of the inventory (core/picture) is another one only if its key is. */
static void
look_at_picture(struct storm *s)
{
	static const struct todo_list nothing;
	static const struct isolated none;
	const struct picture_of of = {
		.inv = sweeper_inventory(s->rig.sweeper), .todo = &nothing, .isolated = &none
	};
	struct fm_error err = { 0 };
	uint64_t key, generation;
	struct picture p;

	if (sweeper_phase(s->rig.sweeper) != PHASE_IDLE)
		return;
	key = picture_key(&of);
	ck_assert_msg(picture_make(&of, &p, &err) == 0, "%s", err.msg);
	generation = p.generation;
	picture_fini(&p);
	ck_assert_msg(!s->has_picture || s->picture_key != key || s->picture == generation,
	    "the picture is another one and its key is not, at %" PRIi64 " ns",
	    sim_now_ns(s->rig.sim));
	s->has_picture = true;
	s->picture_key = key;
	s->picture = generation;
}

/* Is it said that the plan is of another fabric where it is, and nowhere else? */
static void
look_at_plan(const struct storm *s)
{
	char text[TODO_TEXT];
	struct sweep_heard heard;

	sweeper_heard(s->rig.sweeper, &heard);
	ck_assert_msg(heard.plan_is_old ==
		well_lacks(s->rig.sweeper, TODO_OLD_PLAN, true, text, sizeof(text)),
	    "the plan is said to be %s, at %" PRIi64 " ns: %s", heard.plan_is_old ? "old" : "new",
	    sim_now_ns(s->rig.sim), text);
}

/* As the daemon's loop, till the clock says so or (storm) the last event has come.  False:
 * it goes in circles. */
static bool
pump(struct storm *s, int64_t until_ns, bool storm)
{
	while (sim_now_ns(s->rig.sim) < until_ns && !(storm && s->next == s->n_events)) {
		if (++s->n_steps > STEPS_MAX)
			return false;
		do_what_was_asked(s);
		wishes_look_who_registers(s);
		sweeper_step(s->rig.sweeper);
		if (s->second.sweeper != NULL)
			sweeper_step(s->second.sweeper);
		look_at_picture(s);
		look_at_plan(s);
		if (storm)
			look_for_event(s);
		if (s->asked == NULL)
			poll(s,
			    storm ? earliest(until_ns, sim_now_ns(s->rig.sim) + IDLE_NS)
				  : until_ns);
	}
	do_what_was_asked(s);
	return true;
}

/* ------------------------------------------------------------------- play */

static bool
run(struct storm *s)
{
	int64_t far = INT64_C(60000) * NS_PER_MS;

	/* plain storms were found with events that come after SMPs of the bring-up */
	s->has_begun = s->is_plain || s->from_start;
	start(s, false, true);
	if (!s->from_start && !pump(s, sim_now_ns(s->rig.sim) + CALM_NS, false))
		return false;
	if (!s->from_start)
		more_watch(s);
	sim_set_trace(s->rig.sim, on_smp, s);
	s->has_begun = true;
	s->n_smps = 0;
	s->since_ns = sim_now_ns(s->rig.sim);
	if (!pump(s, sim_now_ns(s->rig.sim) + far, true))
		return false;
	storm_calm_down(s);
	if (s->relinks && isolated_any(&s->isolated)) {
		s->isolated.items.n = 0;
		sweeper_request(s->rig.sweeper, SWEEP_NAMED, "fmctl restore");
	}
	if (!pump(s, sim_now_ns(s->rig.sim) + CALM_NS, false))
		return false;
	/* two light sweeps, and what they take */
	if (!pump(s, sim_now_ns(s->rig.sim) + 2 * SWEEP_INTERVAL_NS + CALM_NS, false))
		return false;
	/* what waits for old packets, or for a node that is gone, ends */
	return (sweeper_idle(s->rig.sweeper) &&
		   (s->second.sweeper == NULL || sweeper_idle(s->second.sweeper))) ||
	    pump(s, sim_now_ns(s->rig.sim) + CALM_NS, false);
}

/* What is wrong first, into text; "": nothing is. */
static void
judge(struct storm *s, bool ended, char text[STORM_TEXT_BYTES])
{
	struct rig *ruler = second_who_rules(s, text, STORM_TEXT_BYTES);

	if (!ended)
		snprintf(
		    text, STORM_TEXT_BYTES, "fmd goes in circles: %u sweeps", s->rig.n_reports);
	else if (s->locks != NULL && locks_n_rings(s->locks) > 0)
		snprintf(text, STORM_TEXT_BYTES, "%u moments with a ring, first %s",
		    locks_n_rings(s->locks), locks_first(s->locks));
	else if (ruler != NULL)
		storm_is_true(s, ruler, text, STORM_TEXT_BYTES);
	if (text[0] != '\0')
		storm_describe(s, text);
}

/* What both fmd log, by the simulator's clock: STORM_LOG=1. */
static void
print_log(void *arg, enum fm_log_level level, const char *subsystem, const char *line)
{
	const struct storm *s = arg;

	if (level <= FM_LOG_INFO)
		printf("%9.3f %s: %s\n", (double)sim_now_ns(s->rig.sim) / 1e9, subsystem, line);
}

static void
play(struct storm *s, const struct storm_place *place, uint64_t seed, char text[STORM_TEXT_BYTES])
{
	text[0] = '\0';
	sem_init(&s->go_on, 0, 0);
	storm_draw(s, place, seed);
	if (getenv("STORM_LOG") != NULL)
		fm_log_set_sink(print_log, s);
	s->rig.set.isolated = &s->isolated;
	s->rig.off_loop = true;
	s->rig.may_take_plan = may_take_plan;
	s->rig.may_take_plan_arg = s;
	s->rig.on_up = hold_worker;
	s->rig.on_up_arg = s;
	judge(s, run(s), text);
	sim_set_trace(s->rig.sim, NULL, NULL);
	let_worker_go(s);
	more_fini(s);
	rig_fini(&s->rig);
	isolated_fini(&s->isolated);
	sem_destroy(&s->go_on);
}

uint32_t
storm_play(
    const struct storm_place *place, uint64_t seed, uint32_t without, char text[STORM_TEXT_BYTES])
{
	struct storm s = { .without = without };

	play(&s, place, seed, text);
	return s.has | ((1u << s.n_events) - 1);
}

uint64_t
storm_smps(const struct storm_place *place, uint64_t seed, bool starves)
{
	struct storm s = { .starves = starves };
	char text[STORM_TEXT_BYTES];

	play(&s, place, seed, text);
	return s.smps;
}

bool
storm_passes(const struct storm_place *place, uint64_t seed, char text[STORM_TEXT_BYTES])
{
	char fewer[STORM_TEXT_BYTES];
	uint32_t without = 0, parts = storm_play(place, seed, 0, text);

	if (text[0] == '\0')
		return true;
	for (uint32_t part = 1; part < PARTS_END; part <<= 1) {
		if ((parts & part) == 0)
			continue;
		storm_play(place, seed, without | part, fewer);
		if (fewer[0] == '\0')
			continue;
		without |= part;
		memcpy(text, fewer, STORM_TEXT_BYTES);
	}
	return false;
}
