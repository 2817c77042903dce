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

struct redis_replica {
	char name[160]; /* HOST:PORT, [HOST]:PORT, or "/..." of one that came by a socket */
	bool online;	/* it has all that it needs to be told changes alone */
	long lag_s;	/* since it has acknowledged anything */
};

/* The i-th replica that the text has, counted from 0; false: there are fewer. */
bool redis_info_replica(const char *info, unsigned i, struct redis_replica *out);

#endif
