/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/partitions_groups.c - the multicast groups of a partitions.conf:
 * flags, broadcast groups of IPoIB, lines "mgid=...".
 */
#include <arpa/inet.h>

#include "core/subnet/partitions_read.h"
#include "lib/log.h"

#define QKEY_IPOIB 0x0b1b /* of OpenSM's broadcast groups */

/* IPv4 broadcast of IPoIB, RFC 4391 section 4; the P_Key is filled in. */
static const uint8_t broadcast_mgid[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
	0xff, 0xff, 0xff, 0xff };

enum flag_id { FLAG_MTU, FLAG_RATE, FLAG_SCOPE, FLAG_QKEY, FLAG_TCLASS, FLAG_SL, FLAG_FLOW };

/* In the order in which OpenSM tries them: a short word means the first. */
static const struct flag_row {
	const char *name;
	uint64_t min, max;
} flag_rows[] = {
	[FLAG_MTU] = { "mtu", 1, 5 },
	[FLAG_RATE] = { "rate", 2, 63 },
	[FLAG_SCOPE] = { "scope", 1, 15 },
	[FLAG_QKEY] = { "Q_Key", 0, UINT32_MAX },
	[FLAG_TCLASS] = { "TClass", 0, 255 },
	[FLAG_SL] = { "sl", 0, 15 },
	[FLAG_FLOW] = { "FlowLabel", 0, 0xfffff },
};
#define N_FLAGS (sizeof(flag_rows) / sizeof(flag_rows[0]))

static void
put_flag(struct part_group_flags *f, enum flag_id id, uint64_t v)
{
	switch (id) {
	case FLAG_MTU:
		f->mtu = (uint8_t)v;
		break;
	case FLAG_RATE:
		f->rate = (uint8_t)v;
		break;
	case FLAG_SCOPE:
		f->scopes |= (uint16_t)(1u << v);
		break;
	case FLAG_QKEY:
		f->qkey = (uint32_t)v;
		break;
	case FLAG_TCLASS:
		f->tclass = (uint8_t)v;
		break;
	case FLAG_SL:
		f->sl = (uint8_t)v;
		f->has_sl = true;
		break;
	case FLAG_FLOW:
		f->flow_label = (uint32_t)v;
		break;
	}
}

int
part_read_group_flag(
    struct part_reader *r, struct part_group_flags *f, const char *name, const char *value)
{
	uint64_t v;

	for (unsigned i = 0; i < N_FLAGS; i++) {
		if (!part_is_short_for(name, flag_rows[i].name) &&
		    !(i == FLAG_QKEY && part_is_short_for(name, "qkey")))
			continue;
		if (part_read_number(
			r, flag_rows[i].name, value, flag_rows[i].min, flag_rows[i].max, &v) != 0)
			return FM_E_CONFIG;
		put_flag(f, (enum flag_id)i, v);
		return 1;
	}
	return 0;
}

static bool
same_group(const struct part_group *a, const struct part_group *b)
{
	return a->pkey == b->pkey && a->qkey == b->qkey && a->flow_label == b->flow_label &&
	    a->mtu == b->mtu && a->rate == b->rate && a->sl == b->sl && a->tclass == b->tclass;
}

/* The first of one MGID stays, as OpenSM has it. */
static int
add_group(struct part_reader *r, const struct part_group *g)
{
	uint64_t key = fm_hash_bytes(2, g->mgid, sizeof(g->mgid));
	uint32_t at;

	for (; (at = fm_hash_find(&r->groups, key)) != FM_HASH_NONE; key++) {
		const struct part_group *old = &r->p->groups.item[at];

		if (memcmp(old->mgid, g->mgid, sizeof(g->mgid)) != 0)
			continue;
		if (!same_group(old, g))
			log_warn("partitions",
			    "%s:%u: the multicast group is there already, from line %u, with "
			    "other attributes; the first one holds",
			    r->at.path, r->at.line, old->line);
		return 0;
	}
	if (!fm_hash_put(&r->groups, key, (uint32_t)r->p->groups.n) ||
	    !fm_vec_push(&r->p->groups, *g))
		return conf_no_memory(&r->at);
	return 0;
}

/* One group a scope; the scope is a nibble of the MGID too (IBA 4.1.1). */
static int
add_groups(
    struct part_reader *r, const uint8_t *mgid, const struct part_group_flags *f, bool broadcast)
{
	const struct partition *part = &r->p->defs.item[r->def].part;
	struct part_group g = { .pkey = part->pkey | PKEY_FULL,
		.qkey = f->qkey,
		.flow_label = f->flow_label,
		.mtu = f->mtu,
		.rate = f->rate,
		.sl = r->options->qos ? f->sl : 0,
		.tclass = f->tclass,
		.scope = mgid[1] & 0xf,
		.broadcast = broadcast,
		.partition = part->name,
		.line = r->at.line };
	int rc = 0;

	memcpy(g.mgid, mgid, sizeof(g.mgid));
	if (f->scopes == 0)
		return add_group(r, &g);
	for (uint8_t scope = 1; rc == 0 && scope < 16; scope++) {
		if ((f->scopes & (1u << scope)) == 0)
			continue;
		g.scope = scope;
		g.mgid[1] = (uint8_t)((g.mgid[1] & 0xf0) | scope);
		rc = add_group(r, &g);
	}
	return rc;
}

static void
put_pkey(uint8_t *mgid, uint16_t pkey)
{
	pkey |= PKEY_FULL;
	mgid[4] = (uint8_t)(pkey >> 8);
	mgid[5] = (uint8_t)pkey;
}

int
part_add_broadcast(struct part_reader *r)
{
	struct part_group_flags f = r->flags;
	uint8_t mgid[16];

	memcpy(mgid, broadcast_mgid, sizeof(mgid));
	put_pkey(mgid, r->p->defs.item[r->def].part.pkey);
	if (f.qkey == 0)
		f.qkey = QKEY_IPOIB;
	return add_groups(r, mgid, &f, true);
}

/* Groups of IP go with the broadcast group of their partition. */
static int
check_ip_group(struct part_reader *r, uint8_t *mgid, struct part_group_flags *f)
{
	uint16_t pkey = r->p->defs.item[r->def].part.pkey;
	uint16_t named = (uint16_t)(mgid[4] << 8 | mgid[5]);

	if (memcmp(mgid, broadcast_mgid, sizeof(broadcast_mgid)) != 0 && named != 0 &&
	    (named & PKEY_BASE) != pkey)
		return conf_bad(&r->at,
		    "mgid names P_Key 0x%04x, but the partition is 0x%04x: write it or 0000 there",
		    named, pkey);
	if (f->rate != r->flags.rate || f->mtu != r->flags.mtu)
		return conf_bad(&r->at,
		    "rate=%u, mtu=%u of this IP group differ from rate=%u, mtu=%u of the "
		    "partition's broadcast group: they must be equal",
		    f->rate, f->mtu, r->flags.rate, r->flags.mtu);
	put_pkey(mgid, pkey);
	if (f->qkey == 0)
		f->qkey = QKEY_IPOIB;
	return 0;
}

int
part_read_group(struct part_reader *r, const char *gid, char *rest)
{
	struct part_group_flags f = r->flags;
	uint8_t mgid[16];
	char *word, *value;
	int rc;

	if (gid == NULL || inet_pton(AF_INET6, gid, mgid) != 1 || mgid[0] != 0xff)
		return conf_bad(&r->at, "mgid=%.50s: not a multicast GID, such as ff12:401b::1",
		    gid != NULL ? gid : "");
	while ((word = conf_next_item(&rest)) != NULL) {
		word = part_split_value(word, &value);
		if (*word == '\0')
			continue;
		rc = part_read_group_flag(r, &f, word, value);
		if (rc < 0)
			return rc;
		if (rc == 0)
			return conf_bad(&r->at,
			    "\"%.40s\" says nothing of a group: rate, mtu, sl, scope, Q_Key, "
			    "TClass, FlowLabel; ports stand in a line of their own",
			    word);
	}
	/* IPv4 and IPv6 over InfiniBand, RFC 4391 section 4 */
	if ((mgid[2] == 0x40 || mgid[2] == 0x60) && mgid[3] == 0x1b &&
	    check_ip_group(r, mgid, &f) != 0)
		return FM_E_CONFIG;
	return add_groups(r, mgid, &f, false);
}
