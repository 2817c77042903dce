/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alias GUIDs of ports, in blocks of 8 as GUIDInfo has them; entry 0 of block 0 is
 * the port's own and never ours.  An alias belongs to one port.
 */
#include <string.h>

#include "core/registry/registry_internal.h"
#include "lib/log.h"

/* Locally administered, and no manufacturer's: made by us. */
#define MADE_GUID UINT64_C(0x02fd6d0000000000)
#define MADE_BITS UINT64_C(0xffffffffff)

static uint64_t
key_of(uint64_t port, uint8_t block)
{
	return fm_mix64(port) + block;
}

struct alias_block *
aliases_find(const struct registry *r, uint64_t port, uint8_t block)
{
	uint32_t i = fm_hash_find(&r->of_block, key_of(port, block));

	return i == FM_HASH_NONE ? NULL : &r->aliases.item[i];
}

bool
aliases_add(struct registry *r, const struct alias_block *b)
{
	uint32_t at = (uint32_t)r->aliases.n;

	r->claims_are_told = false;
	if (!fm_vec_push(&r->aliases, *b))
		return false;
	if (!fm_hash_put(&r->of_block, key_of(b->port, b->block), at)) {
		r->aliases.n--;
		return false;
	}
	for (int i = 0; i < 8; i++)
		if (b->guid[i] != 0 && !fm_hash_put(&r->of_alias, b->guid[i], at))
			return false;
	return true;
}

void
aliases_tell(struct registry *r, uint64_t port, uint8_t block)
{
	struct alias_block news = { .port = port, .block = block };
	uint64_t key = key_of(port, block);

	if (fm_hash_find(&r->of_alias_news, key) != FM_HASH_NONE)
		return; /* told, and not taken yet */
	if (fm_hash_put(&r->of_alias_news, key, 0) && fm_vec_push(&r->alias_news, news))
		return;
	fm_hash_remove(&r->of_alias_news, key);
	log_err("sa", "out of memory: alias GUIDs of a port are not set in it");
}

static void
note(struct registry *r, uint64_t port, uint8_t block)
{
	registry_note_alias(r, port, block);
	aliases_tell(r, port, block);
	r->claims_are_told = false;
}

/* The block is empty: it goes, and the last takes its place. */
static void
remove_block(struct registry *r, struct alias_block *b)
{
	uint32_t at = (uint32_t)(b - r->aliases.item);

	fm_hash_remove(&r->of_block, key_of(b->port, b->block));
	*b = r->aliases.item[--r->aliases.n];
	if (at == r->aliases.n)
		return;
	fm_hash_put(&r->of_block, key_of(b->port, b->block), at); /* in its place, as these */
	for (int i = 0; i < 8; i++)
		if (b->guid[i] != 0)
			fm_hash_put(&r->of_alias, b->guid[i], at);
}

static bool
is_wanted(uint8_t block, unsigned which, int i)
{
	return (which >> i & 1) && (block > 0 || i > 0);
}

/* One that nobody has.  By port and entry, not by a count, so that after a loss of what was
 * registered ports get their own again, and not those that others still use. */
static uint64_t
make_guid(const struct registry *r, uint64_t port, uint8_t block, int i)
{
	uint64_t hash = fm_mix64(fm_mix64(port) + (uint64_t)block * 8 + (uint64_t)i), guid;

	do {
		guid = MADE_GUID | (hash & MADE_BITS);
		hash = fm_mix64(hash);
	} while (fm_hash_find(&r->of_alias, guid) != FM_HASH_NONE);
	return guid;
}

/* Each wanted one is new, or this very entry's already. */
static bool
are_free(
    const struct registry *r, uint64_t port, uint8_t block, unsigned which, const uint64_t guid[8])
{
	for (int i = 0; i < 8; i++) {
		uint32_t at = fm_hash_find(&r->of_alias, guid[i]);
		const struct alias_block *b = at == FM_HASH_NONE ? NULL : &r->aliases.item[at];

		if (!(which >> i & 1) || guid[i] == 0)
			continue;
		if (block == 0 && i == 0)
			return false;
		if (b != NULL && (b->port != port || b->block != block || b->guid[i] != guid[i]))
			return false;
		for (int k = 0; k < i; k++)
			if ((which >> k & 1) && guid[k] == guid[i])
				return false;
	}
	return true;
}

uint16_t
registry_set_aliases(
    struct registry *r, uint64_t port, uint8_t block, unsigned which, uint64_t guid[8])
{
	struct alias_block fresh = { .port = port, .block = block }, *b;
	bool ok = true;

	if (block >= REGISTRY_BLOCKS || (which & 0xff) == 0 ||
	    !are_free(r, port, block, which, guid))
		return SA_REQ_INVALID;
	if (aliases_find(r, port, block) == NULL && !aliases_add(r, &fresh))
		return SA_NO_RESOURCES;
	b = aliases_find(r, port, block);
	for (int i = 0; i < 8; i++) {
		if (!is_wanted(block, which, i))
			continue;
		if (guid[i] == 0)
			guid[i] = b->guid[i] != 0 ? b->guid[i] : make_guid(r, port, block, i);
		if (b->guid[i] != 0)
			fm_hash_remove(&r->of_alias, b->guid[i]);
		b->guid[i] = guid[i];
		ok = fm_hash_put(&r->of_alias, guid[i], (uint32_t)(b - r->aliases.item)) && ok;
	}
	note(r, port, block);
	return ok ? SA_OK : SA_NO_RESOURCES;
}

uint16_t
registry_delete_aliases(struct registry *r, uint64_t port, uint8_t block, unsigned which)
{
	struct alias_block *b = aliases_find(r, port, block);
	static const uint64_t none[8];

	if (block >= REGISTRY_BLOCKS || (which & 0xff) == 0)
		return SA_REQ_INVALID;
	if (b == NULL)
		return SA_OK;
	for (int i = 0; i < 8; i++)
		if (is_wanted(block, which, i) && b->guid[i] != 0) {
			fm_hash_remove(&r->of_alias, b->guid[i]);
			b->guid[i] = 0;
		}
	if (memcmp(b->guid, none, sizeof(none)) == 0)
		remove_block(r, b);
	note(r, port, block);
	return SA_OK;
}

bool
aliases_drop_port(struct registry *r, uint64_t port)
{
	bool any = false;

	for (unsigned block = 0; block < REGISTRY_BLOCKS; block++)
		if (aliases_find(r, port, (uint8_t)block) != NULL) {
			registry_delete_aliases(r, port, (uint8_t)block, 0xff);
			any = true;
		}
	return any;
}

bool
registry_aliases(const struct registry *r, uint64_t port, uint8_t block, uint64_t guid[8])
{
	const struct alias_block *b = aliases_find(r, port, block);

	memset(guid, 0, 8 * sizeof(*guid));
	if (b != NULL)
		memcpy(guid, b->guid, sizeof(b->guid));
	return b != NULL;
}

uint64_t
registry_alias_port(const struct registry *r, uint64_t guid)
{
	uint32_t i = fm_hash_find(&r->of_alias, guid);

	return i == FM_HASH_NONE ? 0 : r->aliases.item[i].port;
}

bool
registry_next_alias_block(struct registry *r, uint64_t *port, uint8_t *block)
{
	if (r->n_alias_taken == r->alias_news.n) {
		r->alias_news.n = r->n_alias_taken = 0;
		return false;
	}
	*port = r->alias_news.item[r->n_alias_taken].port;
	*block = r->alias_news.item[r->n_alias_taken++].block;
	fm_hash_remove(&r->of_alias_news, key_of(*port, *block));
	return true;
}

uint32_t
registry_n_alias_blocks(const struct registry *r)
{
	return (uint32_t)r->aliases.n;
}

void
registry_alias_block(const struct registry *r, uint32_t i, uint64_t *port, uint8_t *block)
{
	*port = r->aliases.item[i].port;
	*block = r->aliases.item[i].block;
}
