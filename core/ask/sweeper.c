/* SPDX-License-Identifier: BSD-2-Clause */
/* core/ask/sweeper.c - a sweep is asked for, enters a phase, fails. */
#include "core/ask/sweeper.h"

#include <stdio.h>
#include <time.h>

#include "lib/faultpoint.h"

#define NS_PER_MS 1e6

const char *const sweep_phase_names[N_PHASES] = { "idle", "take-over", "discover", "reread",
	"other-sms", "route", "switches", "tables", "ports", "activate", "multicast", "done" };

const char *
sweep_scope_name(enum sweep_scope scope)
{
	switch (scope) {
	case SWEEP_NONE:
		return "no";
	case SWEEP_LIGHT:
		return "light";
	case SWEEP_NAMED:
		return "named";
	case SWEEP_HEAVY:
		return "heavy";
	}
	return "";
}

void
sweeper_request(struct sweeper *s, enum sweep_scope scope, const char *reason)
{
	if (scope == SWEEP_LIGHT && s->set.sweep.force_heavy)
		scope = SWEEP_HEAVY;
	if (scope <= s->run.wanted)
		return;
	s->run.wanted = scope;
	snprintf(s->run.wanted_reason, sizeof(s->run.wanted_reason), "%s", reason);
}

/* Wall time also on a simulated fabric, whose clock stands still while we compute. */
int64_t
sweep_wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void
sweep_enter(struct sweeper *s, enum sweep_phase phase)
{
	int64_t now = sweep_wall_ns();

	fm_fault_point("phase", sweep_phase_names[phase]);
	s->report.phase_ms[s->run.phase] += (double)(now - s->run.phase_ns) / NS_PER_MS;
	s->run.phase_ns = now;
	s->run.phase = phase;
	s->run.feed = NULL;
}

int64_t
sweeper_clock_ms(const struct sweeper *s)
{
	return s->p.transport->ops->now_ns(s->p.transport) / 1000000;
}

void
sweep_fail(struct sweeper *s, enum fm_error_kind kind, const char *sentence)
{
	if (s->run.failed)
		return;
	s->run.failed = true;
	fm_fail(&s->report.error, kind, "%s", sentence);
}

const char *
sweep_outcome_name(enum sweep_outcome outcome)
{
	static const char *const names[] = { [SWEEP_RUNNING] = "running",
		[SWEEP_UP] = "up",
		[SWEEP_UNCHANGED] = "unchanged",
		[SWEEP_BROKEN_OFF] = "broken-off",
		[SWEEP_STANDBY] = "standby",
		[SWEEP_NOT_ROUTED] = "not-routed",
		[SWEEP_NO_LINK] = "no-link",
		[SWEEP_FAILED] = "failed" };

	return names[outcome];
}
