/* SPDX-License-Identifier: BSD-2-Clause */
/* core/daemon/copied.c - what outlives fmd, for the copies of standbys and ours of the master. */
#include "core/daemon/daemon.h"
#include "core/daemon/early.h"
#include "core/standby/copying.h"

static int64_t
sa_clock_ms(void *arg)
{
	return daemon_sa_clock_ms(arg);
}

static void
taken_over(void *arg, bool in_sync)
{
	daemon_take_registered(arg);
	daemon_reload_isolated(arg);
	if (in_sync)
		early_take_over(arg);
}

static void
wake(void *arg)
{
	daemon_wake(arg);
}

int
daemon_open_copying(struct daemon *d, struct fm_error *err)
{
	char nodes[4096];
	struct copying_parts p = { .base = d->base,
		.sa = d->sa,
		.store = d->store,
		.sweeper = d->sweeper,
		.ha = &d->ha,
		.conf = &d->conf,
		.file = { [LINK_TABLES] = d->plan_path,
		    [LINK_NODES] = nodes,
		    [LINK_ISOLATED] = d->isolated_path },
		.clock_ms = sa_clock_ms,
		.clear = daemon_clear_registry,
		.load = daemon_load_registry,
		.taken_over = taken_over,
		.wake = wake,
		.arg = d };

	daemon_nodes_path(d, nodes, sizeof(nodes));
	return copying_open(&p, &d->copying, err);
}
