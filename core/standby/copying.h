/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/standby/copying.h - standbys that have a copy of what outlives this fmd, and ours of the
 * master, over Unix sockets.
 */
#ifndef CORE_STANDBY_COPYING_H
#define CORE_STANDBY_COPYING_H

#include <jansson.h>

#include "core/standby/link.h"

struct conf;
struct event_base;
struct ha;
struct sa;
struct sa_server;
struct sweeper;

/* What it works with; all is borrowed. */
struct copying_parts {
	struct event_base *base;
	struct sa_server *sa;
	struct store *store;
	struct sweeper *sweeper;
	const struct ha *ha;
	struct conf *const *conf;	/* the one in force */
	const char *file[LINK_FILES];	/* paths */
	int64_t (*clock_ms)(void *arg); /* of the SA */
	/* Where the SA runs: its registry is empty, and what is in the store stays; false: out of
	 * memory.  Then: it is what the store has. */
	bool (*clear)(void *arg, struct sa *sa);
	void (*load)(void *arg, struct sa *sa);
	/* The master may be gone, and the files are what it left: what is to be loaded then may be
	 * loaded beside the loop.  And: nothing of that is to be used, and when this returns the
	 * store and the files are not read any more. */
	void (*prepare)(void *arg);
	void (*forget)(void *arg);
	/* The store and the files are those of the master that was; in_sync: as it left them. */
	void (*taken_over)(void *arg, bool in_sync);
	void (*wake)(void *arg); /* the loop is to look at its work */
	void *arg;
};

struct copying;
/* By copy_socket and copy_from; *out NULL where neither is set.  After the SA has started. */
int copying_open(const struct copying_parts *p, struct copying **out, struct fm_error *err);
/* After the SA has stopped; NULL is fine. */
void copying_close(struct copying *c);
/* The loop comes by: our role may be another, and something may have changed.  NULL is fine. */
void copying_follow(struct copying *c);
/* Who has a copy, and what we have, into a status.  NULL is fine. */
void copying_add_json(struct copying *c, json_t *status);

#endif
