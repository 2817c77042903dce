/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/source.h - where an agent has its blobs from: a folder, or a relay.
 *
 * What goes wrong is told in *err and ends the use of the source: it is closed, and the next one
 * of the list is opened.  The replica stays what it is, and is brought up to date from there.
 */
#ifndef HOST_AGENT_SOURCE_H
#define HOST_AGENT_SOURCE_H

#include "core/text/relay.h"
#include "host/agent/replica.h"

/* What is looked at while a source waits; a failure of look() ends the wait, and the source. */
struct source_watch {
	unsigned every_ms;
	int (*look)(void *arg, struct fm_error *err);
	void *arg;
};

struct source_ops {
	/* where: what follows "files:" or "redis:"; login may be NULL. */
	int (*open)(const char *where, const struct relay_login *login, void **source,
	    struct fm_error *err);
	void (*close)(void *source); /* NULL is fine */
	/* Brings the replica to the newest epoch.  The first time, and when epochs have been
	 * missed, everything is fetched (*whole).  A relay that has lost who is above it fails. */
	int (*fetch)(void *source, struct replica *r, bool *whole, struct fm_error *err);
	/* May another host come?  FM_E_RESOURCE: what is left is for relays and who looks.  NULL:
	 * any may. */
	int (*room)(void *source, struct fm_error *err);
	/* Seconds before the last fetch that something came to it from who publishes; NULL: 0. */
	unsigned (*age_s)(const void *source);
	/* Until there is something newer, at most so long; both are no failure.  watch may be
	 * NULL. */
	int (*wait)(void *source, const struct replica *r, unsigned ms,
	    const struct source_watch *watch, struct fm_error *err);
	/* Where others look (fmctl dist peers), this agent is at this epoch. */
	int (*show)(void *source, uint64_t port_guid, struct paths_epoch at, struct fm_error *err);
};

extern const struct source_ops source_files;
extern const struct source_ops source_redis; /* only with hiredis */

#endif
