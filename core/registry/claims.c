/* SPDX-License-Identifier: BSD-2-Clause */
/* core/registry/claims.c - addresses and alias GUIDs of the registry as one list. */
#include "core/registry/claims.h"

#include <stdlib.h>
#include <string.h>

#include "core/registry/registry_internal.h"
#include "core/wire/ip_service.h"

#define GUIDS 8 /* of a block */

static size_t
most_claims(const struct registry *r)
{
	return r->services.n + r->aliases.n * GUIDS;
}

/* A record of before this fmd may be of any GID: who sets one now is asked for its own. */
static bool
claim_of(const struct registry *r, const struct service *s, struct ip_claim *c)
{
	struct ip_service of;

	if (!ip_service_is(s->rec.id) || ip_service_get(&s->rec, &of) != NULL)
		return false;
	if (of.gid.guid != s->client && registry_alias_port(r, of.gid.guid) != s->client)
		return false;
	*c = (struct ip_claim){
		.port = s->client, .guid = of.gid.guid, .hardware = of.hardware, .pkey = of.pkey
	};
	memcpy(c->ip, of.ip, sizeof(c->ip));
	return true;
}

static int
by_address(const void *x, const void *y)
{
	const struct ip_claim *a = x, *b = y;
	int d = memcmp(a->ip, b->ip, sizeof(a->ip));

	if (d == 0)
		d = (a->port > b->port) - (a->port < b->port);
	return d != 0 ? d : (a->guid > b->guid) - (a->guid < b->guid);
}

static bool
is_address(const struct ip_claim *c)
{
	return c->hardware != 0;
}

/* One of two of a port of the same address: the port has registered it in two partitions. */
static void
drop_doubles(struct ip_claims *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct ip_claim *one = &c->item[i],
				      *last = kept > 0 ? &c->item[kept - 1] : NULL;

		if (last == NULL || !is_address(one) || one->port != last->port ||
		    memcmp(one->ip, last->ip, sizeof(one->ip)) != 0)
			c->item[kept++] = *one;
	}
	c->n = kept;
}

struct ip_claims *
registry_claims(const struct registry *r)
{
	struct ip_claims *c = malloc(sizeof(*c) + most_claims(r) * sizeof(c->item[0]));

	if (c == NULL)
		return NULL;
	atomic_init(&c->refs, 1);
	c->n = 0;
	for (size_t i = 0; i < r->services.n; i++)
		c->n += claim_of(r, &r->services.item[i], &c->item[c->n]);
	for (size_t i = 0; i < r->aliases.n * GUIDS; i++) {
		const struct alias_block *b = &r->aliases.item[i / GUIDS];
		uint64_t guid = b->guid[i % GUIDS];

		if (guid != 0)
			c->item[c->n++] = (struct ip_claim){ .port = b->port, .guid = guid };
	}
	qsort(c->item, c->n, sizeof(c->item[0]), by_address);
	drop_doubles(c);
	return c;
}

struct ip_claims *
ip_claims_get(struct ip_claims *c)
{
	if (c != NULL)
		atomic_fetch_add(&c->refs, 1);
	return c;
}

void
ip_claims_put(struct ip_claims *c)
{
	if (c != NULL && atomic_fetch_sub(&c->refs, 1) == 1)
		free(c);
}

bool
registry_claims_are_news(const struct registry *r)
{
	return !r->claims_are_told;
}

void
registry_claims_told(struct registry *r)
{
	r->claims_are_told = true;
}
