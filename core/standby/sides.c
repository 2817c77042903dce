/* SPDX-License-Identifier: BSD-2-Clause */
/* core/standby/sides.c - what both sides of a copy need. */
#include <string.h>

#include "core/standby/internal.h"
#include "lib/hash.h"

/* A bufferevent keeps others from the front of what it is to send. */
static bool
send_now(struct bufferevent *io)
{
	struct evbuffer *out = bufferevent_get_output(io);
	int n;

	evbuffer_unfreeze(out, 1);
	n = evbuffer_write(out, bufferevent_getfd(io));
	evbuffer_freeze(out, 1);
	return n >= 0;
}

void
standby_say_bye(struct bufferevent *io, const char *why)
{
	struct evbuffer *data = evbuffer_new();

	if (data == NULL || evbuffer_add(data, why, strlen(why)) != 0 ||
	    !link_put(bufferevent_get_output(io), LINK_BYE, 0, 0, data) || !send_now(io))
		log_debug("ha", "BYE is not sent: %s", why);
	if (data != NULL)
		evbuffer_free(data);
}

/* ------------------------------------------------------------- what must be equal */

static uint64_t
hash_file(uint64_t h, const struct fm_file *f)
{
	return f->bytes == NULL ? h : fm_hash_bytes(h, f->bytes, f->n_bytes);
}

static uint64_t
hash_number(uint64_t h, uint64_t v)
{
	return fm_hash_bytes(h, &v, sizeof(v));
}

static uint64_t
hash_qos(const struct conf *c)
{
	uint64_t h = hash_file(hash_number(0, c->qos.enable), &c->qos.policy_file);

	return c->qos.tables == NULL ? h : fm_hash_bytes(h, c->qos.tables, sizeof(*c->qos.tables));
}

/* Their hash, not the keys. */
static uint64_t
hash_keys(const struct conf *c)
{
	return hash_number(hash_number(hash_number(1, c->sm.key), c->sa.key), c->m_key.key);
}

void
standby_hash_conf(const struct conf *c, uint64_t hash[LINK_GROUPS])
{
	hash[LINK_PARTITIONS] =
	    hash_file(hash_number(0, (uint64_t)c->partitions.enforce), &c->partitions.file);
	if (c->partitions.vfabrics.n > 0)
		hash[LINK_PARTITIONS] =
		    hash_number(hash[LINK_PARTITIONS], partitions_mark(c->partitions.all));
	hash[LINK_QOS] = hash_qos(c);
	hash[LINK_ROUTING] = c->routing.chain.mark;
	hash[LINK_PREFIX] = c->addresses.subnet_prefix;
	hash[LINK_LMC] = (uint64_t)(c->addresses.lmc << 8 | c->addresses.switch_lmc);
	hash[LINK_KEYS] = hash_keys(c);
}
