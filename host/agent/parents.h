/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/agent/parents.h - fmd-agent --relay: keeps the Redis of a relay below one of its parents.
 */
#ifndef HOST_AGENT_PARENTS_H
#define HOST_AGENT_PARENTS_H

#include "core/text/relay.h"

struct parents {
	const char *redis;			 /* of the relay, as relay_name_parse() takes it */
	const struct relay_login *login;	 /* to that; NULL: none */
	const struct relay_login *parents_login; /* to a parent, to tell it who is there */
	const char *name;    /* by which it is told of; NULL: that of the host */
	char *const *parent; /* [n] HOST:PORT, as the relay's Redis reaches them */
	unsigned n;
	unsigned patience_ms; /* until one that is gone is left */
};

/* Both names and all parents can be used, as FM_E_CONFIG tells: the Redis is of this host, and a
 * parent is an address; one beyond this host only with insecure. */
int parents_check(const struct parents *p, bool insecure, struct fm_error *err);
/* Looks each second, does not return.  It needs no more of its Redis than INFO, CLIENT LIST and
 * REPLICAOF. */
_Noreturn void parents_follow(const struct parents *p);

#endif
