/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/view_find.c - questions to a view, and the place where the current
 * one is kept.
 */
#include "core/sa/view.h"

#define GID_PREFIX_DEFAULT UINT64_C(0xfe80000000000000)
#define PKEY_FULL 0x8000

uint32_t
sa_view_end_of_guid(const struct sa_view *v, uint64_t guid)
{
	return fm_hash_find(&v->end_by_guid, guid);
}

bool
sa_gid_is_ours(const struct sa_view *v, struct sa_gid gid)
{
	return gid.prefix == v->set.gid_prefix || gid.prefix == GID_PREFIX_DEFAULT;
}

uint32_t
sa_view_end_of_gid(const struct sa_view *v, struct sa_gid gid)
{
	return sa_gid_is_ours(v, gid) ? sa_view_end_of_guid(v, gid.guid) : FM_NONE;
}

/* A port may talk to itself by any key that it has. */
static uint16_t
common_key(const struct sa_pkeys *a, const struct sa_pkeys *b, uint16_t want, bool same_port)
{
	for (uint16_t i = 0; i < a->n; i++) {
		if (want != 0 && ((a->key[i] ^ want) & ~PKEY_FULL) != 0)
			continue;
		for (uint16_t k = 0; k < b->n; k++)
			if (((a->key[i] ^ b->key[k]) & ~PKEY_FULL) == 0 &&
			    (same_port || ((a->key[i] | b->key[k]) & PKEY_FULL) != 0))
				return a->key[i];
	}
	return 0;
}

uint16_t
sa_view_shared_pkey(const struct sa_view *v, uint32_t a, uint32_t b, uint16_t want)
{
	return common_key(
	    &v->pkeys.item[v->end[a].pkeys], &v->pkeys.item[v->end[b].pkeys], want, a == b);
}

/* -------------------------------------------------------------------- slot */

void
sa_slot_init(struct sa_slot *s)
{
	pthread_mutex_init(&s->lock, NULL);
	s->view = NULL;
}

void
sa_slot_fini(struct sa_slot *s)
{
	sa_view_put(s->view);
	pthread_mutex_destroy(&s->lock);
}

void
sa_slot_set(struct sa_slot *s, struct sa_view *v)
{
	struct sa_view *was;

	pthread_mutex_lock(&s->lock);
	was = s->view;
	s->view = v;
	pthread_mutex_unlock(&s->lock);
	sa_view_put(was);
}

struct sa_view *
sa_slot_get(struct sa_slot *s)
{
	struct sa_view *v;

	pthread_mutex_lock(&s->lock);
	v = s->view != NULL ? sa_view_get(s->view) : NULL;
	pthread_mutex_unlock(&s->lock);
	return v;
}
