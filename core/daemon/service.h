/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/service.h - what the service manager is told (sd_notify(3)); without
 * one, or without libsystemd, nothing.
 */
#ifndef CORE_DAEMON_SERVICE_H
#define CORE_DAEMON_SERVICE_H

#include <event2/event.h>

#include "core/server/server.h"
#include "core/sweep/sweep.h"

void service_tell(const char *state);
/* A sweep has ended.  The service is ready after the first sweep, even if that has failed: fmd
 * tries again by itself, and a restart would not help.  The status says how the sweep ended. */
void service_tell_outcome(const struct sweeper *s);

/* Feed the service manager's watchdog (WatchdogSec=) from base, as long as both the loop and the SA
 * make turns.  Engines that work or hang do not count: they have limits of their own.  *out is NULL
 * where nobody watches. */
struct service_watch;
int service_watch(struct event_base *base, struct sa_server *sa, struct service_watch **out,
    struct fm_error *err);
void service_unwatch(struct service_watch *w); /* after the SA has stopped; NULL is fine */

#endif
