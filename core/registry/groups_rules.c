/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a join or leave must say, and what is made of it: IBA 15.2.5.17, compliance
 * statements o15-0.1.3 to o15-0.1.14 and o15-0.2.1 to o15-0.2.4.
 */
#include "core/registry/groups_internal.h"

#define MASK_JOIN (SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE)
#define MASK_CREATE (SA_MCR_QKEY | SA_MCR_PKEY | SA_MCR_TCLASS | SA_MCR_SL | SA_MCR_FLOW_LABEL)

#define MTU_LEAST 1 /* 256 */
#define MTU_MOST 5  /* 4096 */
#define RATE_LAST 63
#define SCOPE_LINK_LOCAL 2
#define PKEY_BITS 0x7fff

/* ---------------------------------------------------------------- selectors */

/* Rates in their codes are in no order, so Mbit/s are compared; codes are their own order
 * for MTU and life time. */
static uint32_t
size_of(bool is_rate, uint8_t code)
{
	return is_rate ? sa_rate_mbps(code) : code;
}

static bool
selector_fits(uint8_t selector, uint8_t asked, uint8_t have, bool is_rate)
{
	uint32_t a = size_of(is_rate, asked), h = size_of(is_rate, have);

	switch (selector) {
	case SA_GREATER:
		return h > a;
	case SA_LESS:
		return h < a;
	case SA_EXACTLY:
		return have == asked;
	default:
		return true;
	}
}

/* Both components have to be in the mask to ask for something. */
static bool
is_asked(uint64_t mask, uint64_t selector, uint64_t value)
{
	return (mask & selector) && (mask & value);
}

bool
groups_matches(
    const struct sa_mc_member_record *want, uint64_t mask, const struct sa_mc_member_record *have)
{
	static const uint64_t by_selector = SA_MCR_MTU_SELECTOR | SA_MCR_MTU |
	    SA_MCR_RATE_SELECTOR | SA_MCR_RATE | SA_MCR_LIFE_SELECTOR | SA_MCR_LIFE;
	const struct sa_record *r = sa_record_of(SA_MC_MEMBER_RECORD);

	if (is_asked(mask, SA_MCR_MTU_SELECTOR, SA_MCR_MTU) &&
	    !selector_fits(want->mtu_selector, want->mtu, have->mtu, false))
		return false;
	if (is_asked(mask, SA_MCR_RATE_SELECTOR, SA_MCR_RATE) &&
	    !selector_fits(want->rate_selector, want->rate, have->rate, true))
		return false;
	if (is_asked(mask, SA_MCR_LIFE_SELECTOR, SA_MCR_LIFE) &&
	    !selector_fits(want->life_selector, want->life, have->life, false))
		return false;
	return sa_record_matches(r, want, mask & ~by_selector, have);
}

/* The largest known rate below code that the port can, 0: none. */
static uint8_t
rate_below(uint8_t code, uint8_t port)
{
	uint32_t limit = sa_rate_mbps(code), most = sa_rate_mbps(port), best = 0;
	uint8_t rate = 0;

	for (uint8_t i = 1; i <= RATE_LAST; i++) {
		uint32_t mbps = sa_rate_mbps(i);

		if (mbps > best && mbps < limit && mbps <= most) {
			best = mbps;
			rate = i;
		}
	}
	return rate;
}

/* What a new group gets for what was asked: as much as the port can, 0: impossible. */
static uint8_t
realize_rate(uint8_t selector, uint8_t asked, uint8_t port)
{
	switch (selector) {
	case SA_GREATER:
		return sa_rate_mbps(asked) != 0 && sa_rate_mbps(asked) < sa_rate_mbps(port) ? port
											    : 0;
	case SA_LESS:
		return rate_below(asked, port);
	case SA_EXACTLY:
		return sa_rate_mbps(asked) != 0 && sa_rate_mbps(asked) <= sa_rate_mbps(port) ? asked
											     : 0;
	default:
		return port;
	}
}

static uint8_t
realize_mtu(uint8_t selector, uint8_t asked, uint8_t port)
{
	switch (selector) {
	case SA_GREATER:
		return asked < port ? port : 0;
	case SA_LESS:
		return asked <= MTU_LEAST ? 0 : asked > port ? port : (uint8_t)(asked - 1);
	case SA_EXACTLY:
		return asked >= MTU_LEAST && asked <= port ? asked : 0;
	default:
		return port;
	}
}

/* False: no such life time. */
static bool
realize_life(
    const struct groups *g, const struct sa_mc_member_record *want, uint64_t mask, uint8_t *life)
{
	*life = g->set.life;
	if (!is_asked(mask, SA_MCR_LIFE_SELECTOR, SA_MCR_LIFE))
		return true;
	switch (want->life_selector) {
	case SA_GREATER:
		if (*life <= want->life)
			*life = (uint8_t)(want->life + 1);
		return *life <= 63;
	case SA_LESS:
		if (want->life == 0)
			return false;
		if (*life >= want->life)
			*life = (uint8_t)(want->life - 1);
		return true;
	case SA_EXACTLY:
		*life = want->life;
		return true;
	default:
		return true;
	}
}

/* ------------------------------------------------------------------------ MGIDs */

static uint16_t
signature_of(struct sa_gid id)
{
	return (uint16_t)(id.prefix >> 32);
}

static bool
is_ipoib(struct sa_gid id) /* RFC 4391 4: of IPv4, of IPv6 */
{
	return signature_of(id) == 0x401b || signature_of(id) == 0x601b;
}

static uint8_t
scope_of(struct sa_gid id)
{
	return (uint8_t)(id.prefix >> 48 & 0xf);
}

/* May a group be made with this MGID? IBA 4.1.1; o15-0.1.5: 0xA01B of link-local scope is
 * for those that we make.  What IPoIB makes has the P_Key in it. */
static bool
mgid_is_fit(struct sa_gid id, uint16_t pkey)
{
	if (!sa_gid_is_multicast(id))
		return false;
	if (is_ipoib(id))
		return ((id.prefix >> 16 ^ pkey) & PKEY_BITS) == 0;
	if (id.prefix >> 52 & 0xe)
		return false;
	return signature_of(id) != 0xa01b || scope_of(id) != SCOPE_LINK_LOCAL;
}

/* 0xff 0x1S 0xa0 0x1b, the subnet's prefix, a number. */
static struct sa_gid
make_mgid(struct groups *g, uint8_t scope)
{
	struct sa_gid id;

	do {
		id.prefix =
		    UINT64_C(0xff10a01b00000000) | (uint64_t)scope << 48 | g->set.gid_prefix >> 32;
		id.guid = g->set.gid_prefix << 32 | ++g->mgids_made;
	} while (groups_by_mgid(g, id) != NULL);
	return id;
}

/* ------------------------------------------------------------------------- join */

static bool
has_pkey(const struct group_caller *c, uint64_t port, uint16_t pkey)
{
	return (pkey & PKEY_BITS) != 0 && c->has_pkey(c->arg, port, pkey);
}

/* The record of the group that this join would make. */
static uint16_t
draft(struct groups *g, const struct sa_mc_member_record *want, uint64_t mask,
    const struct group_caller *c, struct sa_mc_member_record *rec)
{
	bool wants_mtu = is_asked(mask, SA_MCR_MTU_SELECTOR, SA_MCR_MTU);
	bool wants_rate = is_asked(mask, SA_MCR_RATE_SELECTOR, SA_MCR_RATE);
	bool ours = want->mgid.prefix == 0 && want->mgid.guid == 0;

	*rec = *want;
	if (!has_pkey(c, c->port, want->pkey) || !has_pkey(c, c->requester, want->pkey))
		return SA_REQ_INVALID;
	if (!ours && !mgid_is_fit(want->mgid, want->pkey))
		return SA_REQ_INVALID;
	rec->mtu = realize_mtu(wants_mtu ? want->mtu_selector : SA_LARGEST, want->mtu, c->mtu);
	rec->rate =
	    realize_rate(wants_rate ? want->rate_selector : SA_LARGEST, want->rate, c->rate);
	if (rec->mtu == 0 || rec->mtu > MTU_MOST || rec->rate == 0 ||
	    !realize_life(g, want, mask, &rec->life))
		return SA_REQ_INVALID;
	if (!(mask & SA_MCR_HOP_LIMIT))
		rec->hop_limit = 0;
	if (!(mask & SA_MCR_MLID))
		rec->mlid = 0;
	if (ours)
		rec->mgid = make_mgid(g, mask & SA_MCR_SCOPE ? want->scope : SCOPE_LINK_LOCAL);
	rec->scope = scope_of(rec->mgid);
	return SA_OK;
}

static uint16_t
create(struct groups *g, const struct sa_mc_member_record *want, uint64_t mask,
    const struct group_caller *c, struct group **made)
{
	struct sa_mc_member_record rec;
	uint16_t status;

	if (!(want->join_state & JOIN_KEEPS))
		return SA_REQ_INVALID; /* o15-0.1.9 */
	if ((mask & MASK_CREATE) != MASK_CREATE)
		return SA_REQ_INSUFFICIENT_COMPONENTS; /* o15-0.1.3 */
	status = draft(g, want, mask, c, &rec);
	if (status == SA_OK)
		*made = groups_make(g, &rec, c->requester, &status);
	return status;
}

/* o15-0.2.1: who may change what is there already? */
static bool
may_change(const struct group *m, const struct group_member *k, const struct group_caller *c)
{
	return k->proxy ? has_pkey(c, c->requester, m->rec.pkey) : c->requester == c->port;
}

/* o15-0.2.4: is the group what was asked for, and can the port follow it? */
static bool
may_join(const struct group *m, const struct sa_mc_member_record *want, uint64_t mask,
    const struct group_caller *c)
{
	static const uint64_t own = SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE |
	    SA_MCR_PROXY_JOIN | SA_MCR_SCOPE | SA_MCR_PKEY;
	const struct group_member *k = groups_member_of(m, c->port);

	if ((mask & SA_MCR_PKEY) && ((want->pkey ^ m->rec.pkey) & PKEY_BITS) != 0)
		return false;
	if (!groups_matches(want, mask & ~own, &m->rec))
		return false;
	if (c->mtu < m->rec.mtu || sa_rate_mbps(c->rate) < sa_rate_mbps(m->rec.rate))
		return false;
	if (!has_pkey(c, c->port, m->rec.pkey) || !has_pkey(c, c->requester, m->rec.pkey))
		return false;
	return k == NULL || may_change(m, k, c);
}

static void
answer(const struct group *m, uint64_t port, struct sa_mc_member_record *got)
{
	const struct group_member *k = groups_member_of(m, port);

	*got = m->rec;
	if (k == NULL)
		return;
	got->port_gid = k->gid;
	got->join_state = k->state;
	got->proxy_join = k->proxy;
}

uint16_t
groups_join(struct groups *g, const struct sa_mc_member_record *want, uint64_t mask,
    const struct group_caller *c, struct sa_mc_member_record *got)
{
	struct group *m = groups_by_mgid(g, want->mgid);
	struct group_member k = { .gid = want->port_gid,
		.port = c->port,
		.requester = c->requester,
		.state = want->join_state,
		.proxy = c->requester != c->port };
	uint16_t status = SA_OK;

	if ((mask & MASK_JOIN) != MASK_JOIN)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (want->join_state == 0 || want->join_state > JOIN_ALL || c->port == 0)
		return SA_REQ_INVALID;
	if (g->set.closed)
		return SA_REQ_DENIED;
	if ((m == NULL || groups_member_of(m, c->port) == NULL) &&
	    groups_n_joins(g, c->requester) >= g->set.max_joins)
		return SA_NO_RESOURCES;
	if (m == NULL)
		status = create(g, want, mask, c, &m);
	else if (!may_join(m, want, mask, c))
		return SA_REQ_INVALID;
	if (status != SA_OK)
		return status;
	if (!groups_put_member(g, m, &k)) {
		groups_bury(g, m);
		return SA_NO_RESOURCES;
	}
	answer(m, c->port, got);
	return SA_OK;
}

uint16_t
groups_leave(struct groups *g, const struct sa_mc_member_record *want, uint64_t mask,
    const struct group_caller *c, struct sa_mc_member_record *got)
{
	struct group *m = groups_by_mgid(g, want->mgid);
	const struct group_member *k = m == NULL ? NULL : groups_member_of(m, c->port);
	uint8_t left;

	if ((mask & MASK_JOIN) != MASK_JOIN)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	/* o15-0.1.14: bits that are there, at least one and no other */
	if (k == NULL || want->join_state == 0 || (want->join_state & ~k->state) != 0 ||
	    !may_change(m, k, c))
		return SA_REQ_INVALID;
	answer(m, c->port, got);
	left = (uint8_t)(k->state & ~want->join_state);
	groups_take_member(g, m, c->port, want->join_state);
	got->join_state = left;
	return SA_OK;
}
