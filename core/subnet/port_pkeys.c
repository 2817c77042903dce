/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/port_pkeys.c - the lists of P_Keys of all ports.
 *
 * Ports by the thousand have few different lists, so a list is kept once and a
 * port has its number.
 */
#include "core/subnet/partitions_internal.h"
#include "lib/hash.h"

struct port_pkeys {
	atomic_uint refs;
	struct fm_arena mem;	   /* keys */
	struct fm_hash by_guid;	   /* port GUID -> number in lists */
	struct fm_hash by_content; /* hash of the keys -> number; the first of its hash */
	FM_VEC(struct pkey_list) lists;
};

struct port_pkeys_builder {
	const struct partitions *parts;
	struct port_pkeys *out;
	uint16_t *keys; /* [room] */
	size_t room;
};

/* ------------------------------------------------------------- all ports */

struct port_pkeys *
port_pkeys_get(struct port_pkeys *p)
{
	if (p != NULL)
		atomic_fetch_add(&p->refs, 1);
	return p;
}

void
port_pkeys_put(struct port_pkeys *p)
{
	if (p == NULL || atomic_fetch_sub(&p->refs, 1) != 1)
		return;
	fm_hash_fini(&p->by_guid);
	fm_hash_fini(&p->by_content);
	fm_vec_fini(&p->lists);
	fm_arena_fini(&p->mem);
	free(p);
}

struct pkey_list
port_pkeys_find(const struct port_pkeys *p, uint64_t guid)
{
	uint32_t at = fm_hash_find(&p->by_guid, guid);

	return at != FM_HASH_NONE ? p->lists.item[at] : (struct pkey_list){ 0 };
}

bool
port_pkeys_share(const struct port_pkeys *p, uint64_t guid_a, uint64_t guid_b)
{
	struct pkey_list a = port_pkeys_find(p, guid_a), b = port_pkeys_find(p, guid_b);

	if (guid_a == guid_b)
		return a.n > 0;
	return pkeys_share(&a, &b);
}

/* -------------------------------------------------------------- building */

struct port_pkeys_builder *
port_pkeys_begin(const struct partitions *p)
{
	struct port_pkeys_builder *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->parts = p;
	b->room = 2 * p->defs.n;
	b->keys = calloc(b->room, sizeof(*b->keys));
	b->out = calloc(1, sizeof(*b->out));
	if (b->keys == NULL || b->out == NULL) {
		free(b->keys);
		free(b->out);
		free(b);
		return NULL;
	}
	atomic_init(&b->out->refs, 1);
	fm_arena_init(&b->out->mem, SIZE_MAX);
	return b;
}

/* The number of the list b->keys[n], new or old; FM_HASH_NONE: no memory. */
static uint32_t
intern(struct port_pkeys_builder *b, size_t n)
{
	struct port_pkeys *p = b->out;
	uint64_t hash = fm_hash_bytes(0, b->keys, n * sizeof(*b->keys));
	uint32_t at = fm_hash_find(&p->by_content, hash);
	struct pkey_list list = { .n = (uint32_t)n };
	uint16_t *keys;

	if (at != FM_HASH_NONE && p->lists.item[at].n == n &&
	    memcmp(p->lists.item[at].keys, b->keys, n * sizeof(*keys)) == 0)
		return at;
	keys = fm_arena_array(&p->mem, n + 1, uint16_t);
	if (keys == NULL)
		return FM_HASH_NONE;
	memcpy(keys, b->keys, n * sizeof(*keys));
	list.keys = keys;
	if (!fm_vec_push(&p->lists, list) ||
	    !fm_hash_put(&p->by_content, hash, (uint32_t)p->lists.n - 1))
		return FM_HASH_NONE;
	return (uint32_t)p->lists.n - 1;
}

bool
port_pkeys_add(struct port_pkeys_builder *b, const struct part_port *port, struct pkey_list *list)
{
	size_t n = partitions_keys(b->parts, port, b->keys, b->room);
	uint32_t at = intern(b, n);

	if (at == FM_HASH_NONE || !fm_hash_put(&b->out->by_guid, port->guid, at))
		return false;
	*list = b->out->lists.item[at];
	return true;
}

struct port_pkeys *
port_pkeys_end(struct port_pkeys_builder *b)
{
	struct port_pkeys *out = b->out;

	free(b->keys);
	free(b);
	return out;
}
