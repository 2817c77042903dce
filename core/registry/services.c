/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services: by ServiceID, GID and P_Key, with a lease, IBA 15.2.5.14.  Who registered one,
 * who shows its key, and who is trusted may change it.
 */
#include <string.h>

#include "core/registry/registry_internal.h"
#include "core/wire/ip_service.h"

#define NEEDED (SA_SR_ID | SA_SR_GID)
#define MS_PER_S 1000

static uint64_t
key_of(const struct sa_service_record *r)
{
	return fm_mix64(r->id ^ fm_mix64(r->gid.guid ^ fm_mix64(r->gid.prefix ^ r->pkey)));
}

static bool
is_same(const struct sa_service_record *a, const struct sa_service_record *b)
{
	return a->id == b->id && a->gid.prefix == b->gid.prefix && a->gid.guid == b->gid.guid &&
	    a->pkey == b->pkey;
}

/* Two of one hash are as good as never: then the list is searched. */
struct service *
services_find(const struct registry *r, const struct sa_service_record *rec)
{
	uint32_t at = fm_hash_find(&r->of_service, key_of(rec));

	if (at == FM_HASH_NONE)
		return NULL;
	if (is_same(&r->services.item[at].rec, rec))
		return &r->services.item[at];
	for (size_t i = 0; i < r->services.n; i++)
		if (is_same(&r->services.item[i].rec, rec))
			return &r->services.item[i];
	return NULL;
}

static void
look_at(struct registry *r, const struct service *s)
{
	if (s->ends_ms < r->services_due_ms)
		r->services_due_ms = s->ends_ms;
}

void
services_expire(struct registry *r, int64_t now_ms)
{
	r->services_due_ms = INT64_MAX;
	for (size_t i = r->services.n; i-- > 0;) {
		struct service *s = &r->services.item[i];

		if (s->ends_ms <= now_ms)
			services_remove(r, s);
		else
			look_at(r, s);
	}
}

/* A record of an address comes, goes or is another. */
static void
note_claim(struct registry *r, const struct sa_service_record *rec)
{
	if (ip_service_is(rec->id))
		r->claims_are_told = false;
}

/* Does it tell what the other did, but for the lease? */
static bool
is_renewal(const struct sa_service_record *a, const struct sa_service_record *b)
{
	return memcmp(a->data8, b->data8, sizeof(a->data8)) == 0 &&
	    memcmp(a->data16, b->data16, sizeof(a->data16)) == 0 &&
	    memcmp(a->data32, b->data32, sizeof(a->data32)) == 0;
}

bool
services_add(struct registry *r, const struct service *s)
{
	look_at(r, s);
	note_claim(r, &s->rec);
	if (!fm_vec_push(&r->services, *s))
		return false;
	if (fm_hash_put(&r->of_service, key_of(&s->rec), (uint32_t)r->services.n - 1))
		return true;
	r->services.n--;
	return false;
}

void
services_remove(struct registry *r, struct service *s)
{
	uint32_t at = (uint32_t)(s - r->services.item), of;

	registry_note_service(r, &s->rec);
	note_claim(r, &s->rec);
	if (fm_hash_find(&r->of_service, key_of(&s->rec)) == at)
		fm_hash_remove(&r->of_service, key_of(&s->rec));
	*s = r->services.item[--r->services.n];
	of = (uint32_t)r->services.n;
	if (at < of && fm_hash_find(&r->of_service, key_of(&s->rec)) == of)
		fm_hash_put(&r->of_service, key_of(&s->rec), at); /* in its place */
}

static bool
may_change(const struct service *s, const struct sa_service_record *want, uint64_t mask,
    uint64_t client, bool trusted)
{
	static const uint8_t none[sizeof(want->key)];

	if (trusted || s->client == client)
		return true;
	return (mask & SA_SR_KEY) && memcmp(s->rec.key, none, sizeof(none)) != 0 &&
	    memcmp(s->rec.key, want->key, sizeof(none)) == 0;
}

static void
answer(const struct service *s, int64_t now_ms, struct sa_service_record *got)
{
	*got = s->rec;
	if (s->ends_ms == FOR_EVER)
		got->lease_s = UINT32_MAX;
	else
		got->lease_s = s->ends_ms <= now_ms
		    ? 0
		    : (uint32_t)((s->ends_ms - now_ms + MS_PER_S - 1) / MS_PER_S);
}

static uint32_t
n_held_by(const struct registry *r, uint64_t client)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->services.n; i++)
		n += r->services.item[i].client == client;
	return n;
}

uint16_t
registry_set_service(struct registry *r, const struct sa_service_record *want, uint64_t mask,
    uint64_t client, bool trusted, int64_t now_ms, struct sa_service_record *got)
{
	struct service *old, fresh = { .rec = *want, .client = client, .ends_ms = FOR_EVER };

	if ((mask & NEEDED) != NEEDED)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (!(mask & SA_SR_PKEY))
		fresh.rec.pkey = 0xffff;
	if ((mask & SA_SR_LEASE) && want->lease_s == 0)
		return SA_REQ_INVALID;
	if ((mask & SA_SR_LEASE) && want->lease_s != UINT32_MAX)
		fresh.ends_ms = now_ms + (int64_t)want->lease_s * MS_PER_S;
	old = services_find(r, &fresh.rec);
	if (old != NULL && !may_change(old, want, mask, client, trusted))
		return SA_REQ_INVALID;
	if (old != NULL) {
		fresh.client = old->client;
		if (!is_renewal(&old->rec, &fresh.rec))
			note_claim(r, &fresh.rec);
		look_at(r, &fresh);
		*old = fresh;
	} else if (r->services.n >= r->set.max_services_all ||
	    n_held_by(r, client) >= r->set.max_services || !services_add(r, &fresh)) {
		return SA_NO_RESOURCES;
	}
	registry_note_service(r, &fresh.rec);
	answer(&fresh, now_ms, got);
	return SA_OK;
}

/* Without an id and GID: the only one that the template under the mask asks for. */
static uint16_t
find_alike(
    struct registry *r, const struct sa_service_record *want, uint64_t mask, struct service **found)
{
	const struct sa_record *kind = sa_record_of(SA_SERVICE_RECORD);

	*found = NULL;
	if (mask == 0)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	for (size_t i = 0; i < r->services.n; i++) {
		struct service *s = &r->services.item[i];

		if (!sa_record_matches(kind, want, mask & ~SA_SR_LEASE, &s->rec))
			continue;
		if (*found != NULL)
			return SA_TOO_MANY_RECORDS;
		*found = s;
	}
	return SA_OK;
}

uint16_t
registry_delete_service(struct registry *r, const struct sa_service_record *want, uint64_t mask,
    uint64_t client, bool trusted, int64_t now_ms, struct sa_service_record *got)
{
	struct sa_service_record which = *want;
	struct service *s;
	uint16_t status;

	if (!(mask & SA_SR_PKEY))
		which.pkey = 0xffff;
	if ((mask & NEEDED) == NEEDED)
		s = services_find(r, &which);
	else if ((status = find_alike(r, want, mask, &s)) != SA_OK)
		return status;
	if (s == NULL)
		return SA_NO_RECORDS;
	if (!may_change(s, want, mask, client, trusted))
		return SA_REQ_INVALID;
	answer(s, now_ms, got);
	services_remove(r, s);
	return SA_OK;
}

uint32_t
registry_n_services(const struct registry *r)
{
	return (uint32_t)r->services.n;
}

struct sa_service_record
registry_service(const struct registry *r, uint32_t i, int64_t now_ms)
{
	struct sa_service_record got;

	answer(&r->services.item[i], now_ms, &got);
	return got;
}
