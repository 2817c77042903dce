/* SPDX-License-Identifier: BSD-2-Clause */
/* core/standby/giving.h - what the master keeps of the standbys that get a copy (giving.c). */
#ifndef CORE_STANDBY_GIVING_H
#define CORE_STANDBY_GIVING_H

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <jansson.h>
#include <sys/un.h>

#include "core/ha/ha.h"
#include "core/standby/beside.h"
#include "core/standby/copies.h"

#define STANDBYS_MAX 8	  /* connected, with those that have not said HELLO */
#define NOBODY COPIES_MAX /* a place in copies */
#define SOCKET_PATH_MAX sizeof(((struct sockaddr_un *)0)->sun_path)

struct copying;

/* A standby at our socket. */
struct standby {
	struct copying *c;
	struct bufferevent *io; /* NULL: nobody */
	unsigned place;		/* in copies; NOBODY: it has not said HELLO */
	uint64_t guid;
	int64_t since_ms;
	int64_t behind_ms; /* since then, where it is behind; 0: it is not */
	uint64_t behind;   /* the event that told of it; 0: none */
};

/* As FM_VEC(). */
struct guids {
	uint64_t *item;
	size_t n, room;
};

/* A standby that has no copy any more, and which event told of that. */
struct lost_copy {
	uint64_t guid, event; /* event 0: none is lost */
};

/* As master. */
struct giving {
	bool rules;
	struct copies *copies;
	struct evconnlistener *listener; /* NULL: nobody gets a copy */
	char socket[SOCKET_PATH_MAX];
	struct standby standby[STANDBYS_MAX];
	struct lost_copy lost[COPIES_MAX]; /* of the last ones */
	struct beside beside;		   /* makes what differs of files */
	int wake_fd;			   /* another thread has put a change */
	struct event *ev_wake;
	uint64_t n_lid_changes;
	struct link_marks marks; /* as they were put last */
	struct guids sms;	 /* ... */
	uint64_t heir;		 /* a better SM that is to wait for its copy; 0: none */
	int64_t heir_ms;	 /* since then */
	bool heir_is_due;	 /* it has it, or has had its time */
};

int giving_open(struct copying *c, const char *path, struct fm_error *err);
void giving_close(struct copying *c);
/* The loop comes by. */
void giving_follow(struct copying *c);
/* LINK_ALIVE_MS are over. */
void giving_alive(struct copying *c);
/* As of struct sweep_parts. */
int giving_may_have(
    struct copying *c, const struct ha_other *heir, bool by_order, struct fm_error *err);
void giving_add_json(struct copying *c, json_t *status);

#endif
