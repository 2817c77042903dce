/* SPDX-License-Identifier: BSD-2-Clause */
/* core/blobs/blobs.c - blobs to structures and back; O(1). */
#include "core/blobs/blobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool
blob_subnet_get(const uint8_t *blob, size_t n, struct blob_subnet *s)
{
	if (n != BLOB_SUBNET_BYTES)
		return false;
	*s = (struct blob_subnet){ .schema = blob_get32(blob),
		.flags = blob_get32(blob + 4),
		.gid_prefix = blob_get64(blob + 8),
		.sm_guid = blob_get64(blob + 16),
		.lid_top = blob_get16(blob + 24),
		.n_leaves = blob_get16(blob + 26),
		.life = blob[28] };
	return s->schema == BLOB_SCHEMA && s->lid_top <= BLOB_MOST_LID;
}

void
blob_subnet_put(uint8_t *blob, const struct blob_subnet *s)
{
	memset(blob, 0, BLOB_SUBNET_BYTES);
	blob_put32(blob, s->schema);
	blob_put32(blob + 4, s->flags);
	blob_put64(blob + 8, s->gid_prefix);
	blob_put64(blob + 16, s->sm_guid);
	blob_put16(blob + 24, s->lid_top);
	blob_put16(blob + 26, s->n_leaves);
	blob[28] = s->life;
}

void
blob_attr_get(const uint8_t *b, struct blob_attr *a)
{
	*a = (struct blob_attr){ .mtu = b[0], .sl = b[2], .mbps = blob_get32(b + 4) };
}

void
blob_attr_put(uint8_t *b, const struct blob_attr *a)
{
	b[0] = a->mtu;
	b[1] = 0;
	b[2] = a->sl;
	b[3] = 0;
	blob_put32(b + 4, a->mbps);
}

void
blob_port_get(const uint8_t *b, struct blob_port *p)
{
	*p = (struct blob_port){ .guid = blob_get64(b),
		.leaf = blob_get16(b + 8),
		.pkset = blob_get16(b + 10),
		.link = b[12],
		.lmc = b[13],
		.flags = b[14] };
}

void
blob_port_put(uint8_t *b, const struct blob_port *p)
{
	blob_put64(b, p->guid);
	blob_put16(b + 8, p->leaf);
	blob_put16(b + 10, p->pkset);
	b[12] = p->link;
	b[13] = p->lmc;
	b[14] = p->flags;
	b[15] = 0;
}

void
blob_reg_get(const uint8_t *b, struct blob_reg *r)
{
	memcpy(r->ip, b, sizeof(r->ip));
	r->guid = blob_get64(b + 16);
	r->hardware = blob_get32(b + 24);
	r->pkey = blob_get16(b + 28);
	r->lid = blob_get16(b + 30);
}

void
blob_reg_put(uint8_t *b, const struct blob_reg *r)
{
	memcpy(b, r->ip, sizeof(r->ip));
	blob_put64(b + 16, r->guid);
	blob_put32(b + 24, r->hardware);
	blob_put16(b + 28, r->pkey);
	blob_put16(b + 30, r->lid);
}

size_t
blob_names_end(const uint8_t *b, size_t n)
{
	size_t at = 0;

	for (int k = 0; k < BLOB_BLOCK_LIDS && at < n; k++)
		at += 1u + b[at];
	return at < n ? at : n;
}

static const char *const kinds[BLOB_KINDS] = { "subnet", "link", "class", "leaf", "pkset", "pksl",
	"addr", "port:", "name:", "row:", "hops:" };

size_t
blob_most_bytes(enum blob_kind kind)
{
	static const size_t most[BLOB_KINDS] = { [BLOB_SUBNET] = BLOB_SUBNET_BYTES,
		[BLOB_LINK] = BLOB_MOST_LINKS * BLOB_ATTR_BYTES,
		[BLOB_CLASS] = BLOB_MOST_CLASSES * BLOB_ATTR_BYTES,
		[BLOB_LEAF] = BLOB_NO_LEAF * 8,
		[BLOB_PKSET] = 4u << 20,
		[BLOB_PKSL] = 32768 * BLOB_PKSL_BYTES,
		[BLOB_ADDR] = BLOB_MOST_ADDRS * BLOB_ADDR_BYTES,
		[BLOB_PORT] = BLOB_BLOCK_LIDS * BLOB_PORT_BYTES,
		[BLOB_NAME] =
		    BLOB_BLOCK_LIDS * (1 + BLOB_MOST_NAME) + BLOB_MOST_REG * BLOB_REG_BYTES,
		[BLOB_ROW] = 65536,
		[BLOB_HOPS] = BLOB_NO_LEAF };

	return most[kind];
}

void
blob_key(char *key, enum blob_kind kind, uint64_t number)
{
	if (blob_is_of_leaf(kind))
		snprintf(key, BLOB_KEY_BYTES, "%s%016" PRIx64, kinds[kind], number);
	else if (kind == BLOB_PORT || kind == BLOB_NAME)
		snprintf(key, BLOB_KEY_BYTES, "%s%" PRIu64, kinds[kind], number);
	else
		snprintf(key, BLOB_KEY_BYTES, "%s", kinds[kind]);
}

bool
blob_key_parse(const char *key, enum blob_kind *kind, uint64_t *number)
{
	char again[BLOB_KEY_BYTES];

	for (int k = 0; k < BLOB_KINDS; k++) {
		size_t n = strlen(kinds[k]);

		if (strncmp(key, kinds[k], n) != 0)
			continue;
		*kind = (enum blob_kind)k;
		*number = strtoull(key + n, NULL, blob_is_of_leaf(*kind) ? 16 : 10);
		blob_key(again, *kind, *number);
		if (strcmp(again, key) == 0)
			return true;
	}
	return false;
}
