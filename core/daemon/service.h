/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/service.h - what the service manager is told (sd_notify(3)); without
 * one, or without libsystemd, nothing.
 */
#ifndef CORE_DAEMON_SERVICE_H
#define CORE_DAEMON_SERVICE_H

#include "core/sweep/sweep.h"

void service_tell(const char *state);
/* A sweep has ended.  The service is ready when the first has, whatever it came to: it
 * goes on trying, and to be started anew would not help it.  The status tells. */
void service_tell_outcome(const struct sweep_report *r);

#endif
