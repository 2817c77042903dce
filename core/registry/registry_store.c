/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry in the store, a record a thing:
 *
 *	key				value
 *	G mgid				kept, MCMemberRecord without a member
 *	M mgid port			requester, MCMemberRecord
 *	S id gid pkey			client, end of the lease (seconds since 1970), ServiceRecord
 *	I id				client, address of reports, InformInfoRecord
 *	A port block			8 GUIDs
 *
 * Numbers are written most significant first, records as they go over the wire.  A change
 * is noted by its key; saving looks up what is there by then: a value, or nothing.
 * Groups come before members, so that a load finds them (store_each() is in key order).
 */
#include <stdlib.h>
#include <string.h>

#include "core/registry/registry_internal.h"
#include "lib/log.h"

#define MS_PER_S 1000
#define MOST_SECONDS (UINT64_C(1) << 50) /* since 1970; a lease ends earlier, or never */
#define MOST_ID (UINT32_MAX / 2)	 /* of a subscription: no process makes so many */
#define VALUE_ROOM 256
#define WORD 8

struct bytes {
	size_t n;
	uint8_t at[VALUE_ROOM];
};

/* Changes on their way to the store. */
struct registry_batch {
	size_t n;
	struct dirty *dirty;  /* [n] keys */
	struct bytes *values; /* [n] of no bytes: to be taken out */
	bool anew;	      /* there are no others */
};

struct saving {
	const struct registry *r;
	int64_t now_ms, wall_s;
};

struct loading {
	struct registry *r;
	int64_t now_ms, wall_s;
	uint32_t n_read;
};

static void
add64(struct bytes *b, uint64_t v)
{
	store_put_number(b->at + b->n, v);
	b->n += WORD;
}

static void
add_record(struct bytes *b, uint16_t attr, const void *v)
{
	const struct sa_record *r = sa_record_of(attr);

	sa_record_put(r, b->at + b->n, v);
	b->n += (size_t)sa_record_words(r) * WORD;
}

static struct sa_gid
gid_at(const uint8_t *at)
{
	return (struct sa_gid){ store_get_number(at), store_get_number(at + WORD) };
}

/* --------------------------------------------------------------------- values */

static bool
group_value(const struct saving *s, const uint8_t *key, uint64_t port, struct bytes *v)
{
	uint32_t i = groups_find(s->r->groups, gid_at(key)), k;
	struct sa_mc_member_record rec;
	uint64_t found, requester = 0;

	if (i == UINT32_MAX)
		return false;
	if (port == 0) {
		rec = groups_record(s->r->groups, i);
		add64(v, groups_is_kept(s->r->groups, i));
	} else {
		k = groups_find_member(s->r->groups, i, port);
		if (k == UINT32_MAX)
			return false;
		rec = groups_member(s->r->groups, i, k, &found, &requester);
		add64(v, requester);
	}
	add_record(v, SA_MC_MEMBER_RECORD, &rec);
	return true;
}

static bool
service_value(const struct saving *s, const uint8_t *key, struct bytes *v)
{
	struct sa_service_record which = { .id = store_get_number(key),
		.gid = gid_at(key + WORD),
		.pkey = (uint16_t)store_get_number(key + 3 * WORD) };
	const struct service *at = services_find(s->r, &which);

	if (at == NULL)
		return false;
	add64(v, at->client);
	add64(v,
	    at->ends_ms == FOR_EVER ? UINT64_MAX
				    : (uint64_t)(s->wall_s + (at->ends_ms - s->now_ms) / MS_PER_S));
	add_record(v, SA_SERVICE_RECORD, &at->rec);
	return true;
}

static bool
subscription_value(const struct saving *s, uint32_t id, struct bytes *v)
{
	uint32_t i = fm_hash_find(&s->r->of_subscription, id);
	const struct subscription *at = i == FM_HASH_NONE ? NULL : &s->r->subscriptions.item[i];
	struct sa_inform_info_record rec;

	if (at == NULL)
		return false;
	rec = (struct sa_inform_info_record){ at->gid, at->number, at->info };
	add64(v, at->client);
	add64(v,
	    (uint64_t)at->to.lid << 48 | (uint64_t)at->to.sl << 40 |
		(uint64_t)at->to.path_bits << 32 | at->to.qpn);
	add64(v, (uint64_t)at->to.qkey << 32 | at->to.pkey_index);
	add_record(v, SA_INFORM_INFO_RECORD, &rec);
	return true;
}

static bool
alias_value(const struct saving *s, const uint8_t *key, struct bytes *v)
{
	uint64_t guid[8];

	if (!registry_aliases(s->r, store_get_number(key), key[WORD], guid))
		return false;
	for (int i = 0; i < 8; i++)
		add64(v, guid[i]);
	return true;
}

/* What stands under this key now; false: nothing does. */
static bool
value_of(const struct saving *s, const struct dirty *d, struct bytes *v)
{
	const uint8_t *key = d->key + 1;

	v->n = 0;
	switch (d->key[0]) {
	case 'G':
		return group_value(s, key, 0, v);
	case 'M':
		return group_value(s, key, store_get_number(key + 2 * WORD), v);
	case 'S':
		return service_value(s, key, v);
	case 'I':
		return subscription_value(s, (uint32_t)store_get_number(key), v);
	default:
		return alias_value(s, key, v);
	}
}

/* --------------------------------------------------------------------- saving */

static void
note_everything(struct registry *r)
{
	r->dirty.n = 0;
	for (uint32_t i = 0; i < groups_count(r->groups); i++) {
		struct sa_mc_member_record rec = groups_record(r->groups, i);

		registry_note_group(r, rec.mgid, 0);
		for (uint32_t k = 0; k < groups_n_members(r->groups, i); k++) {
			uint64_t port, requester;

			groups_member(r->groups, i, k, &port, &requester);
			registry_note_group(r, rec.mgid, port);
		}
	}
	for (size_t i = 0; i < r->services.n; i++)
		registry_note_service(r, &r->services.item[i].rec);
	for (size_t i = 0; i < r->subscriptions.n; i++)
		registry_note_subscription(r, r->subscriptions.item[i].id);
	for (size_t i = 0; i < r->aliases.n; i++)
		registry_note_alias(r, r->aliases.item[i].port, r->aliases.item[i].block);
}

void
registry_batch_free(struct registry_batch *b)
{
	if (b == NULL)
		return;
	free(b->dirty);
	free(b->values);
	free(b);
}

bool
registry_is_dirty(struct registry *r)
{
	registry_pull(r);
	return r->all_dirty || r->dirty.n > 0;
}

/* What is noted as dirt, which is moved into it. */
static int
make_batch(struct registry *r, int64_t now_ms, int64_t wall_s, bool anew,
    struct registry_batch **out, struct fm_error *err)
{
	struct saving w = { .r = r, .now_ms = now_ms, .wall_s = wall_s };
	struct registry_batch *b = calloc(1, sizeof(*b));

	if (b != NULL)
		b->values = malloc((r->dirty.n + 1) * sizeof(*b->values));
	if (b == NULL || b->values == NULL) {
		registry_batch_free(b);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the store");
	}
	for (size_t i = 0; i < r->dirty.n; i++)
		if (!value_of(&w, &r->dirty.item[i], &b->values[i]))
			b->values[i].n = 0;
	b->anew = anew;
	b->n = r->dirty.n;
	b->dirty = r->dirty.item;
	memset(&r->dirty, 0, sizeof(r->dirty));
	*out = b;
	return 0;
}

int
registry_collect(struct registry *r, int64_t now_ms, int64_t wall_s, struct registry_batch **out,
    struct fm_error *err)
{
	bool anew;
	int rc;

	*out = NULL;
	if (!registry_is_dirty(r))
		return 0;
	anew = r->all_dirty;
	r->all_dirty = false;
	if (anew)
		note_everything(r);
	if (r->all_dirty)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the store");
	rc = make_batch(r, now_ms, wall_s, anew, out, err);
	r->all_dirty = r->all_dirty || (rc != 0 && anew);
	return rc;
}

int
registry_copy(struct registry *r, int64_t now_ms, int64_t wall_s, struct registry_batch **out,
    struct fm_error *err)
{
	struct registry was;
	int rc;

	*out = NULL;
	registry_pull(r);
	was = *r;
	memset(&r->dirty, 0, sizeof(r->dirty));
	r->all_dirty = false;
	note_everything(r);
	rc = r->all_dirty ? fm_fail(err, FM_E_RESOURCE, "out of memory for a copy of the registry")
			  : make_batch(r, now_ms, wall_s, true, out, err);
	fm_vec_fini(&r->dirty);
	r->dirty = was.dirty;
	r->all_dirty = was.all_dirty;
	return rc;
}

struct store_record *
registry_batch_records(const struct registry_batch *b, uint32_t *n, bool *anew)
{
	struct store_record *records = malloc((b->n + 1) * sizeof(*records));

	for (size_t i = 0; records != NULL && i < b->n; i++)
		records[i] = (struct store_record){ b->dirty[i].key,
			b->values[i].n > 0 ? b->values[i].at : NULL, b->dirty[i].n_key,
			b->values[i].n };
	*n = (uint32_t)b->n;
	*anew = b->anew;
	return records;
}

int
registry_batch_put(const struct registry_batch *b, struct store *s, struct fm_error *err)
{
	uint32_t n;
	bool anew;
	struct store_record *records = registry_batch_records(b, &n, &anew);
	int rc;

	if (records == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the store");
	rc = store_put(s, records, n, anew, err);
	free(records);
	return rc;
}

bool
registry_batch_join(struct registry_batch *b, struct registry_batch *next)
{
	size_t n = next->anew ? next->n : b->n + next->n;
	struct registry_batch both = *next;

	if (!next->anew) {
		both = *b;
		both.dirty = reallocarray(b->dirty, n + 1, sizeof(*both.dirty));
		if (both.dirty == NULL)
			return false;
		b->dirty = both.dirty;
		both.values = reallocarray(b->values, n + 1, sizeof(*both.values));
		if (both.values == NULL)
			return false;
		memcpy(both.dirty + b->n, next->dirty, next->n * sizeof(*both.dirty));
		memcpy(both.values + b->n, next->values, next->n * sizeof(*both.values));
		both.n = n;
		free(next->dirty);
		free(next->values);
	} else {
		free(b->dirty);
		free(b->values);
	}
	*b = both;
	free(next);
	return true;
}

void
registry_not_kept(struct registry *r)
{
	r->all_dirty = true;
}

int
registry_save(
    struct registry *r, struct store *s, int64_t now_ms, int64_t wall_s, struct fm_error *err)
{
	struct registry_batch *b;
	int rc = registry_collect(r, now_ms, wall_s, &b, err);

	if (rc == 0 && b != NULL && (rc = registry_batch_put(b, s, err)) != 0)
		registry_not_kept(r);
	registry_batch_free(b);
	if (rc == 0)
		store_set_pending(s, false);
	return rc;
}

/* -------------------------------------------------------------------- loading */

static size_t
record_bytes(uint16_t attr)
{
	return (size_t)sa_record_words(sa_record_of(attr)) * WORD;
}

static bool
load_group(struct loading *l, const uint8_t *key, const uint8_t *v, bool member)
{
	struct sa_mc_member_record rec;
	uint64_t port = member ? store_get_number(key + 2 * WORD) : 0, first = store_get_number(v);

	sa_record_get(sa_record_of(SA_MC_MEMBER_RECORD), v + WORD, &rec);
	if (rec.mgid.prefix != store_get_number(key) ||
	    rec.mgid.guid != store_get_number(key + WORD))
		return false;
	return groups_restore(l->r->groups, &rec, port, member ? first : 0, !member && first != 0);
}

static bool
load_service(struct loading *l, const uint8_t *key, const uint8_t *v)
{
	struct service s = { .client = store_get_number(v), .ends_ms = FOR_EVER };
	uint64_t ends_s = store_get_number(v + WORD);
	struct dirty own;

	sa_record_get(sa_record_of(SA_SERVICE_RECORD), v + 2 * WORD, &s.rec);
	own = registry_service_key(&s.rec);
	if (memcmp(own.key + 1, key, own.n_key - 1u) != 0)
		return false;
	if (ends_s != UINT64_MAX && ends_s > MOST_SECONDS)
		return false;
	if (ends_s != UINT64_MAX)
		s.ends_ms = l->now_ms + ((int64_t)ends_s - l->wall_s) * MS_PER_S;
	return services_add(l->r, &s);
}

static bool
load_subscription(struct loading *l, uint64_t id, const uint8_t *v)
{
	struct sa_inform_info_record rec;
	struct subscription s = { .id = (uint32_t)id, .client = store_get_number(v) };
	uint64_t a = store_get_number(v + WORD), b = store_get_number(v + 2 * WORD);

	if (id > MOST_ID)
		return false;
	sa_record_get(sa_record_of(SA_INFORM_INFO_RECORD), v + 3 * WORD, &rec);
	s.gid = rec.subscriber;
	s.number = rec.number;
	s.info = rec.info;
	s.to = (struct mad_addr){ .lid = (uint16_t)(a >> 48),
		.sl = (uint8_t)(a >> 40),
		.path_bits = (uint8_t)(a >> 32),
		.qpn = (uint32_t)a,
		.qkey = (uint32_t)(b >> 32),
		.pkey_index = (uint16_t)b };
	if (id > l->r->last_subscription)
		l->r->last_subscription = s.id;
	return subscriptions_add(l->r, &s);
}

static bool
load_alias(struct loading *l, const uint8_t *key, const uint8_t *v)
{
	struct alias_block b = { .port = store_get_number(key), .block = key[WORD] };

	for (int i = 0; i < 8; i++) {
		b.guid[i] = store_get_number(v + (size_t)i * WORD);
		if (b.guid[i] != 0 && fm_hash_find(&l->r->of_alias, b.guid[i]) != FM_HASH_NONE)
			return false;
	}
	if (b.block >= REGISTRY_BLOCKS || !aliases_add(l->r, &b))
		return false;
	aliases_tell(l->r, b.port, b.block);
	return true;
}

static const struct record_kind {
	char kind;
	uint8_t n_key;	 /* after the kind */
	uint8_t n_words; /* before the record */
	uint16_t attr;
} kinds[] = {
	{ 'A', WORD + 1, 8, 0 },
	{ 'G', 2 * WORD, 1, SA_MC_MEMBER_RECORD },
	{ 'I', WORD, 3, SA_INFORM_INFO_RECORD },
	{ 'M', 3 * WORD, 1, SA_MC_MEMBER_RECORD },
	{ 'S', 4 * WORD, 2, SA_SERVICE_RECORD },
};

bool
registry_is_record(const struct store_record *r)
{
	const uint8_t *key = r->key;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (r->n_key == kinds[i].n_key + 1u && kinds[i].kind == key[0])
			return r->value == NULL ||
			    r->n_value ==
			    (size_t)kinds[i].n_words * WORD +
				(kinds[i].attr != 0 ? record_bytes(kinds[i].attr) : 0);
	return false;
}

static bool
load(void *arg, const struct store_record *r)
{
	struct loading *l = arg;
	const uint8_t *key = r->key, *v = r->value;

	if (!registry_is_record(r) || v == NULL)
		return false;
	l->n_read++;
	switch (key[0]) {
	case 'A':
		return load_alias(l, key + 1, v);
	case 'G':
		return load_group(l, key + 1, v, false);
	case 'M':
		return load_group(l, key + 1, v, true);
	case 'S':
		return load_service(l, key + 1, v);
	default:
		return load_subscription(l, store_get_number(key + 1), v);
	}
}

int
registry_load(
    struct registry *r, struct store *s, int64_t now_ms, int64_t wall_s, struct fm_error *err)
{
	struct loading l = { .r = r, .now_ms = now_ms, .wall_s = wall_s };
	uint32_t n_aside = 0;
	int rc = store_each(s, load, &l, &n_aside, err);

	registry_pull(r);
	r->lacks = rc != 0 || n_aside > 0;
	r->dirty.n = 0;
	if (rc == 0 && l.n_read > 0)
		log_info("sa",
		    "%u multicast groups, %zu services, %zu subscriptions and %zu blocks of alias "
		    "GUIDs as before the restart",
		    groups_count(r->groups), r->services.n, r->subscriptions.n, r->aliases.n);
	return rc;
}
