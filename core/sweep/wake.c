/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/wake.c - when the sweep goes on, and why.
 *
 * wake_next() is a pure function of the state: nobody arms a timer, so no way through a sweep can
 * forget to.  While a sweep runs it waits for answers, for the plan worker, or for packets of older
 * tables to be gone.  Between two sweeps the earliest of these counts:
 *
 *	asked for, doubted	at once
 *	answered late		at once: what reads have brought that nobody waited for (late.h)
 *	unfinished business	when its entry is due (todo.h)
 *	traps put off		when their node is to be read (traps.h)
 *	broken off		a sweep that stopped for what had changed is followed at once
 *	in vain			a sweep that came to nothing is tried again after RETRY_MS
 *	interval		all switches are looked at: so long after they were last
 *	nothing			not converged, and none of these: that is a bug of fmd.  It is
 *				told, and everything is looked at after RETRY_MS
 *
 * A standby and an SM that is not active begin no sweep by themselves.
 *
 * Cost: O(1).
 */
#include "core/ask/late.h"
#include "core/sweep/internal.h"

#define RETRY_MS 2000		  /* no link, not routed, failed: again */
#define UNFINISHED_EVERY_MS 10000 /* sweep_interval = 0, and something waits for others */

/* May it begin sweeps of its own accord, and has the first one ended? */
static bool
rules_itself(const struct sweeper *s)
{
	uint8_t state = s->p.ha->state;

	return s->report.number != 0 && state != WIRE_SM_STANDBY && state != WIRE_SM_NOT_ACTIVE;
}

/* How long after the last look at all switches the next one is due, in ms; 0: never. */
static int64_t
interval_ms(const struct sweeper *s)
{
	if (s->set.sweep.interval_ms > 0)
		return s->set.sweep.interval_ms;
	return s->todo->n > 0 || !sweeper_was_up(s) ? UNFINISHED_EVERY_MS : 0;
}

static void
sooner(struct wake *w, enum wake_why why, int64_t at_ms)
{
	if (at_ms < w->at_ms)
		*w = (struct wake){ why, at_ms };
}

/* What the end of the last sweep calls for. */
static void
look_at_last_sweep(const struct sweeper *s, struct wake *w)
{
	switch (s->report.outcome) {
	case SWEEP_BROKEN_OFF:
		sooner(w, WAKE_BROKEN_OFF, s->run.ended_ms);
		break;
	case SWEEP_NOT_ROUTED:
	case SWEEP_NO_LINK:
	case SWEEP_FAILED:
		sooner(w, WAKE_IN_VAIN, s->run.ended_ms + RETRY_MS);
		break;
	case SWEEP_RUNNING:
	case SWEEP_UP:
	case SWEEP_UNCHANGED:
	case SWEEP_STANDBY:
		break;
	}
	if (interval_ms(s) > 0)
		sooner(w, WAKE_INTERVAL, s->run.looked_ms + interval_ms(s));
}

struct wake
wake_next(const struct sweeper *s)
{
	struct wake w = { WAKE_NEVER, INT64_MAX };
	int64_t now_ms = sweeper_clock_ms(s);

	if (s->run.wanted != SWEEP_NONE) /* before all that has been due for longer */
		return (struct wake){ WAKE_ASKED, now_ms };
	if (s->reading.doubted.n > 0)
		sooner(&w, WAKE_DOUBT, now_ms);
	if (late_is_due(s))
		sooner(&w, WAKE_LATE, now_ms);
	sooner(&w, WAKE_UNFINISHED, todo_next_ms(s));
	if (s->traps->owed_ms != 0)
		sooner(&w, WAKE_TRAPS, s->traps->owed_ms);
	if (!rules_itself(s))
		return w;
	if (s->p.ha->state == WIRE_SM_DISCOVERING)
		sooner(&w, WAKE_IN_VAIN, s->run.ended_ms + RETRY_MS);
	look_at_last_sweep(s, &w);
	if (w.at_ms == INT64_MAX && (!sweeper_was_up(s) || s->todo->n > 0))
		sooner(&w, WAKE_LOST, s->run.ended_ms + RETRY_MS);
	return w;
}

bool
wake_is_due(const struct sweeper *s)
{
	return wake_next(s).at_ms <= sweeper_clock_ms(s);
}
