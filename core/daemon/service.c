/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/daemon/service.h"

#include "config.h"

#include <stdio.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

void
service_tell(const char *state)
{
#ifdef HAVE_SYSTEMD
	sd_notify(0, state);
#else
	(void)state;
#endif
}

void
service_tell_outcome(const struct sweep_report *r)
{
	char state[sizeof(r->error.msg) + sizeof(r->other)] = "READY=1\nSTATUS=SUBNET UP";

	if (r->outcome == SWEEP_UNCHANGED)
		return;
	if (r->outcome == SWEEP_STANDBY)
		snprintf(state, sizeof(state), "READY=1\nSTATUS=standby: %s", r->other);
	else if (r->outcome == SWEEP_NO_LINK)
		snprintf(state, sizeof(state), "READY=1\nSTATUS=waiting for a link");
	else if (r->outcome != SWEEP_UP)
		snprintf(state, sizeof(state), "READY=1\nSTATUS=not up: %s", r->error.msg);
	service_tell(state);
}
