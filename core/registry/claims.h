/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/registry/claims.h - the IP addresses and alias GUIDs that ports have registered as theirs.
 *
 * A claim is a ServiceRecord of core/wire/ip_service.h, or an entry of a GUIDInfoRecord; what is
 * here is a copy of them at one moment, for who publishes it from another thread.  Two ports may
 * claim one address: who gets it is not decided here.
 *
 * O(services log services) for a list.
 */
#ifndef CORE_REGISTRY_CLAIMS_H
#define CORE_REGISTRY_CLAIMS_H

#include <stdatomic.h>

#include "core/registry/registry.h"

struct ip_claim {
	uint8_t ip[16];	   /* all 0: an alias GUID alone */
	uint64_t port;	   /* GUID of the port that has registered it */
	uint64_t guid;	   /* of the GID that goes with it: the port's, or an alias of it */
	uint32_t hardware; /* flags << 24 | QPN; 0: of an alias GUID alone */
	uint16_t pkey;
};
struct ip_claims {
	atomic_uint refs;
	size_t n;
	struct ip_claim item[]; /* ascending by address, port and GUID; (address, port) once */
};

/* What is registered now; one reference.  NULL: out of memory. */
struct ip_claims *registry_claims(const struct registry *r);
struct ip_claims *ip_claims_get(struct ip_claims *c);
void ip_claims_put(struct ip_claims *c); /* NULL is fine */
/* Is the list another than when registry_claims_told() was called?  That of a new registry is. */
bool registry_claims_are_news(const struct registry *r);
void registry_claims_told(struct registry *r);

#endif
