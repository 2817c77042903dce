/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has changed since the last save, by the keys of registry_store.c.
 */
#include "core/registry/registry_internal.h"

#define DIRTY_MAX (1u << 20)

static void
add64(struct dirty *k, uint64_t v)
{
	store_put_number(k->key + k->n_key, v);
	k->n_key = (uint8_t)(k->n_key + sizeof(v));
}

static void
add_gid(struct dirty *k, struct sa_gid g)
{
	add64(k, g.prefix);
	add64(k, g.guid);
}

static void
note(struct registry *r, const struct dirty *key)
{
	if (r->all_dirty)
		return;
	if (r->dirty.n >= DIRTY_MAX || !fm_vec_push(&r->dirty, *key))
		r->all_dirty = true;
}

struct dirty
registry_service_key(const struct sa_service_record *rec)
{
	struct dirty k = { .n_key = 1, .key = { 'S' } };

	add64(&k, rec->id);
	add_gid(&k, rec->gid);
	add64(&k, rec->pkey);
	return k;
}

static struct dirty
member_key(struct sa_gid mgid, uint64_t port)
{
	struct dirty k = { .n_key = 1, .key = { port != 0 ? 'M' : 'G' } };

	add_gid(&k, mgid);
	if (port != 0)
		add64(&k, port);
	return k;
}

static struct dirty
number_key(char kind, uint64_t a)
{
	struct dirty k = { .n_key = 1, .key = { (uint8_t)kind } };

	add64(&k, a);
	return k;
}

static struct dirty
alias_key(uint64_t port, uint8_t block)
{
	struct dirty k = number_key('A', port);

	k.key[k.n_key++] = block;
	return k;
}

void
registry_note_service(struct registry *r, const struct sa_service_record *rec)
{
	struct dirty k = registry_service_key(rec);

	note(r, &k);
}

void
registry_note_subscription(struct registry *r, uint32_t id)
{
	struct dirty k = number_key('I', id);

	note(r, &k);
}

void
registry_note_alias(struct registry *r, uint64_t port, uint8_t block)
{
	struct dirty k = alias_key(port, block);

	note(r, &k);
}

void
registry_note_group(struct registry *r, struct sa_gid mgid, uint64_t port)
{
	struct dirty k = member_key(mgid, port);

	note(r, &k);
}

void
registry_pull(struct registry *r)
{
	struct group_event e;

	while (groups_next_event(r->groups, &e)) {
		if (e.kind == GROUP_STORED || e.kind == GROUP_GONE || e.kind == GROUP_BORN)
			registry_note_group(r, e.mgid, e.port);
		if (e.kind == GROUP_STORED || e.kind == GROUP_GONE)
			continue;
		if (!fm_vec_push(&r->news, e))
			r->news_lost = true;
	}
	if (groups_lost(r->groups))
		r->news_lost = r->all_dirty = true;
}
