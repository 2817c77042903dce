/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/standby/internal.h - what the two sides of a copy share.  Each calls only those above it:
 *
 *	link.c		frames and their data
 *	diff.c		what makes a file of another
 *	copies.c	the master's log to each standby
 *	mirror.c	the standby's copy
 *	sides.c		what both sides need: what must be equal, BYE
 *	giving.c	the master's sockets
 *	taking.c	the standby's socket, and the take-over
 *	copying.c	which of the two we are
 */
#ifndef CORE_STANDBY_INTERNAL_H
#define CORE_STANDBY_INTERNAL_H

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/stat.h>
#include <time.h>

#include "core/conf/conf.h"
#include "core/ha/ha.h"
#include "core/standby/copies.h"
#include "core/standby/copying.h"
#include "core/standby/giving.h"
#include "core/standby/mirror.h"
#include "lib/clock.h"
#include "lib/log.h"

/* A file that is copied, as it was last seen. */
struct watched {
	char path[4096];
	struct timespec changed;
	ino_t inode;
	off_t size;
	bool seen;
};

/* As standby. */
struct taking {
	struct bufferevent *io; /* to the master; NULL: none */
	struct mirror *mirror;
	size_t next; /* of copy_from */
	char from[SOCKET_PATH_MAX];
	int64_t again_ms; /* connect not before */
	int64_t heard_ms; /* of the master's log */
	bool has_spoken;  /* the other side, since we have connected */
	bool was_in_sync; /* when we were last seen to stand by */
	bool prepares;	  /* to take over */
	char why[256];	  /* there is no copy; "": there is */
	struct fm_log_bucket bucket;
};

struct copying {
	struct copying_parts p;
	struct watched file[LINK_FILES];
	struct event *ev_alive;
	uint64_t term; /* the highest that was seen, or ours */
	struct giving g;
	struct taking t;
};

static inline int64_t
standby_now_ms(void)
{
	return fm_clock_ms(CLOCK_MONOTONIC);
}

/* copying_follow() is called in LINK_ALIVE_MS. */
static inline void
standby_arm(struct copying *c)
{
	struct timeval tv = { .tv_usec = LINK_ALIVE_MS * 1000 };

	if (!evtimer_pending(c->ev_alive, NULL))
		event_add(c->ev_alive, &tv);
}

/* sides.c */
/* BYE with the sentence, at once as far as the socket takes it: then it may be closed. */
void standby_say_bye(struct bufferevent *io, const char *why);
/* What must be equal, by group. */
void standby_hash_conf(const struct conf *c, uint64_t hash[LINK_GROUPS]);

/* taking.c */
void taking_close(struct copying *c);
void taking_follow(struct copying *c);
/* Is all here that the master had, up to its end? */
bool taking_has_all(const struct copying *c);
/* As mirror_sms(). */
size_t taking_sms(const struct copying *c, const uint64_t **guid);
/* We rule from now on. */
void taking_take_over(struct copying *c);
void taking_add_json(struct copying *c, json_t *status);

#endif
