/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/above.h - a relay tells the one above that it is there, and who is below it.
 *
 * Redis knows who follows it, and not who follows those: where a relay below a relay dies, nobody
 * at the SM would hear of it.  So fmd-agent --relay calls itself "fmd-relay:NAME,NAME..." at the
 * Redis above: its own name first, then all that call themselves so at its own.  Each level passes
 * on what is told to it, each second, and keeps nothing; who was there and is no more, fmd finds at
 * the first of the chain (core/dist/followers.h).  Those who tell have a subscription, by which
 * Redis lists them without the thousands of agents that it may have besides.
 */
#ifndef HOST_AGENT_ABOVE_H
#define HOST_AGENT_ABOVE_H

#include "core/redis/redis.h"

#define ABOVE_NAMES_ROOM 32768 /* of 500 names of hosts; more are left out */

struct above {
	const char *name;		 /* of this relay; NULL: that of the host */
	const struct relay_login *login; /* to the one above; NULL: none */
	struct redis *redis;		 /* NULL: not connected */
	char where[300];		 /* HOST:PORT of it */
	char untold[256];		 /* the failure that was told last, "" none */
	char names[ABOVE_NAMES_ROOM];	 /* scratch */
};

/* own: the Redis of this host, which follows that at where.  What fails is logged, once. */
void above_tell(struct above *a, struct redis *own, const char *where);
/* There is none above at present. */
void above_leave(struct above *a);

#endif
