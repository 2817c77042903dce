/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/redis/info.h - what a Redis says of itself and of its replicas: the text that INFO answers.
 */
#ifndef CORE_REDIS_INFO_H
#define CORE_REDIS_INFO_H

#include <stdbool.h>
#include <stddef.h>

/* What stands behind "KEY:" in a line of the text, cut to the room there is; "": no such line. */
void redis_info(const char *info, const char *key, char *buf, size_t size);

/* The first Redis of a chain says something every 10 s (repl-ping-replica-period), which all below
 * pass on and nobody else says: who has heard nothing for three times that is cut off. */
#define REDIS_SILENT_MOST_S 30

enum redis_link {    /* of a Redis to the one above */
	REDIS_FIRST, /* it follows nobody */
	REDIS_LINK_UP,
	REDIS_LINK_FILLING, /* all that the one above has is being copied */
	REDIS_LINK_DOWN,
	REDIS_LINK_SILENT /* it is there, and nothing has come for REDIS_SILENT_MOST_S */
};

/* *silent_s: how long nothing has come over the link, 0 where it is down, or there is none. */
enum redis_link redis_info_link(const char *info, unsigned *silent_s);

struct redis_replica {
	char name[160]; /* HOST:PORT, [HOST]:PORT, or "/..." of one that came by a socket */
	bool online;	/* it has all that it needs to be told changes alone */
	long lag_s;	/* since it has acknowledged anything */
};

/* The i-th replica that the text has, counted from 0; false: there are fewer. */
bool redis_info_replica(const char *info, unsigned i, struct redis_replica *out);

/* Relays that tell of themselves and of those below them (host/agent/above.h): each name in the
 * text that the question answers, more than once where several tell of it.  Who has told nothing
 * for a while is passed over, and so is what is no name. */
#define REDIS_ASK_RELAYS "CLIENT LIST TYPE pubsub"
#define REDIS_RELAY_CHANNEL "fmd:relays"
#define REDIS_RELAY_KEY "fmd-relay:"
#define REDIS_RELAY_NAME 64 /* bytes of a name, its NUL as well */
#define REDIS_RELAY_SILENT_S 10
void redis_info_relays(const char *clients, void (*each)(void *arg, const char *name), void *arg);

#endif
