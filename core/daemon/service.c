/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/daemon/service.h"

#include "config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "core/sweep/well.h"

void
service_tell(const char *state)
{
#ifdef HAVE_SYSTEMD
	sd_notify(0, state);
#else
	(void)state;
#endif
}

/* ---------------------------------------------------------------- watchdog */

struct service_watch {
	struct sa_server *sa;
	struct event *timer;
	struct timeval every;
	atomic_bool turned; /* the SA has run what was posted */
};

/* Microseconds within which it wants to hear of us; 0: it does not. */
static uint64_t
watchdog_us(void)
{
#ifdef HAVE_SYSTEMD
	uint64_t us;

	return sd_watchdog_enabled(0, &us) > 0 ? us : 0;
#else
	return 0;
#endif
}

static void
on_turn(void *arg, struct sa *sa)
{
	struct service_watch *w = arg;

	(void)sa;
	atomic_store(&w->turned, true);
}

/* That this runs says that the loop does. */
static void
on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct service_watch *w = arg;
	struct fm_error err;

	if (atomic_exchange(&w->turned, false)) {
		service_tell("WATCHDOG=1");
		if (sa_server_post(w->sa, on_turn, w, &err) != 0)
			atomic_store(&w->turned, true); /* asked next time */
	}
	event_add(w->timer, &w->every);
}

int
service_watch(
    struct event_base *base, struct sa_server *sa, struct service_watch **out, struct fm_error *err)
{
	uint64_t us = watchdog_us() / 4; /* a turn of each may take half the time there is */
	struct service_watch *w;

	*out = NULL;
	if (us == 0)
		return 0;
	w = calloc(1, sizeof(*w));
	if (w != NULL)
		w->timer = evtimer_new(base, on_watch, w);
	if (w == NULL || w->timer == NULL) {
		free(w);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the watchdog");
	}
	w->sa = sa;
	w->every = (struct timeval){ (time_t)(us / 1000000), (suseconds_t)(us % 1000000) };
	atomic_init(&w->turned, true);
	event_add(w->timer, &w->every);
	*out = w;
	return 0;
}

void
service_unwatch(struct service_watch *w)
{
	if (w == NULL)
		return;
	event_free(w->timer);
	free(w);
}

void
service_tell_outcome(const struct sweeper *s)
{
	static char told[512]; /* what has not changed is not told again */
	const struct sweep_report *r = sweeper_report(s);
	char state[sizeof(r->error.msg) + sizeof(r->other)];

	if (r->outcome == SWEEP_STANDBY)
		snprintf(state, sizeof(state), "READY=1\nSTATUS=%s: %s",
		    *r->other != '\0' ? "standby" : "not active", r->other);
	else if (r->outcome == SWEEP_NO_LINK)
		snprintf(state, sizeof(state), "READY=1\nSTATUS=waiting for a link");
	else if (!sweeper_is_up(s))
		snprintf(state, sizeof(state), "READY=1\nSTATUS=not up: %s", r->error.msg);
	else if (sweeper_is_well(s))
		snprintf(state, sizeof(state), "READY=1\nSTATUS=SUBNET UP, converged");
	else if (sweeper_todo(s)->n == 0)
		snprintf(state, sizeof(state), "READY=1\nSTATUS=SUBNET UP, a sweep is under way");
	else
		snprintf(state, sizeof(state),
		    "READY=1\nSTATUS=SUBNET UP, unfinished: %zu (fmctl trouble)",
		    sweeper_todo(s)->n);
	if (strcmp(told, state) == 0)
		return;
	snprintf(told, sizeof(told), "%s", state);
	service_tell(state);
}
