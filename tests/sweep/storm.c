/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/sweep/storm_internal.h"
#include "tests/sweep/storm_truth.h"

#define SWEEP_INTERVAL_NS (10000 * NS_PER_MS)
#define RETRY_NS (2000 * NS_PER_MS) /* the daemon's timer after a sweep that came to nothing */
#define CALM_NS (5000 * NS_PER_MS)
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

	s->n_smps++;
	while (s->next < s->n_events && s->events[s->next].when == AFTER_SMPS &&
	    s->n_smps >= s->events[s->next].n_smps && !s->kill && !s->sweep)
		next_event(s);
}

/* Events that wait for a state of fmd, or for SMPs that do not come. */
static void
look_for_event(struct storm *s)
{
	int64_t waited = sim_now_ns(s->rig.sim) - s->since_ns;
	const struct event *e = &s->events[s->next];
	bool idle = sweeper_idle(s->rig.sweeper), now = false;

	if (s->next == s->n_events || s->kill || s->sweep)
		return;
	switch (e->when) {
	case AFTER_SMPS:
		now = idle && waited > IDLE_NS;
		break;
	case IN_ROUTING:
		now = sweeper_phase(s->rig.sweeper) == PHASE_ROUTE || waited > MOMENT_NS;
		break;
	case IN_WAIT:
		now = sweeper_due_ns(s->rig.sweeper) != INT64_MAX || waited > MOMENT_NS;
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

/* The plan is taken up when the drawn time has passed on the simulator's clock. */
static bool
may_take_plan(void *arg)
{
	struct storm *s = arg;

	if (!s->plan_is_made) {
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
start(struct storm *s)
{
	s->plan_is_made = false;
	s->plan_ns = INT64_MAX;
	rig_start(&s->rig);
	sim_set_trace(s->rig.sim, on_smp, s);
	sweeper_request(s->rig.sweeper, SWEEP_HEAVY, "start");
	s->timer_ns = INT64_MAX;
}

/* As the daemon does when a sweep has ended. */
static void
arm_timer(struct storm *s)
{
	enum sweep_outcome o = s->rig.last.outcome;
	bool again = o == SWEEP_NO_LINK || o == SWEEP_NOT_ROUTED || o == SWEEP_FAILED;

	if (s->rig.n_reports == s->n_reports)
		return;
	s->n_reports = s->rig.n_reports;
	if (o != SWEEP_BROKEN_OFF)
		s->timer_ns = sim_now_ns(s->rig.sim) + (again ? RETRY_NS : SWEEP_INTERVAL_NS);
}

static void
on_timer(struct storm *s)
{
	if (s->rig.ha.state == WIRE_SM_MASTER && sweeper_is_up(s->rig.sweeper))
		sweeper_request(s->rig.sweeper, SWEEP_LIGHT, "interval");
	else
		sweeper_request(s->rig.sweeper, SWEEP_HEAVY, "not up yet");
	s->timer_ns = INT64_MAX;
}

static void
do_what_was_asked(struct storm *s)
{
	if (s->kill) {
		rig_stop(&s->rig);
		start(s);
	} else if (s->sweep) {
		sweeper_request(s->rig.sweeper, s->scope, "test");
	}
	s->kill = s->sweep = false;
}

static int64_t
earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* As the daemon's loop, till the clock says so or (storm) the last event has come.  False:
 * it goes in circles. */
static bool
pump(struct storm *s, int64_t until_ns, bool storm)
{
	struct fm_error err = { 0 };

	while (sim_now_ns(s->rig.sim) < until_ns && !(storm && s->next == s->n_events)) {
		int64_t stop;

		if (++s->n_steps > STEPS_MAX)
			return false;
		do_what_was_asked(s);
		sweeper_step(s->rig.sweeper);
		arm_timer(s);
		stop = earliest(until_ns, s->timer_ns);
		if (storm)
			look_for_event(s);
		if (s->kill || s->sweep)
			continue;
		stop = earliest(stop, sweeper_due_ns(s->rig.sweeper));
		stop = earliest(stop, s->plan_ns);
		if (storm)
			stop = earliest(stop, sim_now_ns(s->rig.sim) + IDLE_NS);
		if (!sweeper_idle(s->rig.sweeper) && txn_outstanding(s->rig.txn) == 0 &&
		    sweeper_due_ns(s->rig.sweeper) == INT64_MAX && s->plan_ns == INT64_MAX)
			stop = sim_now_ns(s->rig.sim); /* it has more to do at once */
		ck_assert_msg(txn_poll(s->rig.txn, stop, &err) >= 0, "%s", err.msg);
		if (sim_now_ns(s->rig.sim) >= s->timer_ns)
			on_timer(s);
	}
	do_what_was_asked(s);
	return true;
}

/* ------------------------------------------------------------------- play */

static bool
run(struct storm *s)
{
	int64_t far = INT64_C(60000) * NS_PER_MS;

	start(s);
	if (!s->from_start && !pump(s, sim_now_ns(s->rig.sim) + CALM_NS, false))
		return false;
	s->n_smps = 0;
	s->since_ns = sim_now_ns(s->rig.sim);
	if (!pump(s, sim_now_ns(s->rig.sim) + far, true))
		return false;
	storm_calm_down(s);
	if (!pump(s, sim_now_ns(s->rig.sim) + CALM_NS, false))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		on_timer(s);
		if (!pump(s, sim_now_ns(s->rig.sim) + SWEEP_INTERVAL_NS, false))
			return false;
	}
	/* what waits for old packets, or for a node that is gone, ends */
	return sweeper_idle(s->rig.sweeper) || pump(s, sim_now_ns(s->rig.sim) + CALM_NS, false);
}

unsigned
storm_play(
    const struct storm_place *place, uint64_t seed, uint32_t without, char text[STORM_TEXT_BYTES])
{
	struct storm s = { .without = without };

	text[0] = '\0';
	storm_draw(&s, place, seed);
	s.rig.off_loop = true;
	s.rig.may_take_plan = may_take_plan;
	s.rig.may_take_plan_arg = &s;
	if (!run(&s))
		snprintf(text, STORM_TEXT_BYTES, "fmd goes in circles: %u sweeps", s.rig.n_reports);
	else
		storm_is_true(&s.rig, text, STORM_TEXT_BYTES);
	if (text[0] != '\0')
		storm_describe(&s, text);
	sim_set_trace(s.rig.sim, NULL, NULL);
	rig_fini(&s.rig);
	return s.n_events;
}

bool
storm_passes(const struct storm_place *place, uint64_t seed, char text[STORM_TEXT_BYTES])
{
	char fewer[STORM_TEXT_BYTES];
	uint32_t without = 0;
	unsigned n = storm_play(place, seed, 0, text);

	if (text[0] == '\0')
		return true;
	for (unsigned i = 0; i < n; i++) {
		storm_play(place, seed, without | 1u << i, fewer);
		if (fewer[0] == '\0')
			continue;
		without |= 1u << i;
		memcpy(text, fewer, STORM_TEXT_BYTES);
	}
	return false;
}
