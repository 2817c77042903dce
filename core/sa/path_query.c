/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/path_query.c - PathRecord: who is meant, what is asked, which paths.
 *
 * Source and destination are each one end, or, where nothing names them, all
 * (half world, full world).  For every pair the selection tells LIDs
 * (path_pairs.h); each path comes out of the rows in O(1) and is held against
 * what was asked (IBA 15.2.5.16).
 *
 * MTU and rate that are asked for lower than the path's are promised as asked:
 * it carries them.  A packet's life time is what it is.
 */
#include "core/sa/path_query.h"

#include "core/registry/registry.h"
#include "core/sa/path_qos.h"

#include <string.h>

#define HOP_LIMIT_ABROAD 0xff
#define MOST_PATHS (4u << 20) /* looked at for one query */
#define PATHS_PER_PAIR 127    /* what NumbPath can say */

/* ---------------------------------------------------------------- who */

/* False: FM_NONE. */
static bool
one_end(uint32_t end, struct path_ends *out)
{
	out->first = end == FM_NONE ? 0 : end;
	out->last = end == FM_NONE ? 0 : end + 1;
	return end != FM_NONE;
}

/* The router that leads to a GID of another subnet, FM_NONE. */
static uint32_t
router_for(const struct sa_view *v, struct sa_gid gid)
{
	for (uint32_t i = 0; i < v->set.n_routes; i++) {
		const struct sa_prefix_route *r = &v->set.route[i];

		if (!r->any_prefix && r->prefix != gid.prefix)
			continue;
		if (!r->any_guid)
			return sa_view_end_of_guid(v, r->guid);
		for (uint32_t e = 0; e < v->n_ends; e++)
			if (v->node[v->end[e].node]->info.node_type == WIRE_NODE_ROUTER)
				return e;
	}
	return FM_NONE;
}

/* The end that goes by an alias GUID, FM_NONE. */
static uint32_t
end_of_alias(const struct sa_query *q, struct sa_gid gid)
{
	uint64_t port = q->registry != NULL ? registry_alias_port(q->registry, gid.guid) : 0;

	return port != 0 ? sa_view_end_of_guid(q->view, port) : FM_NONE;
}

uint16_t
path_ends_of_gid(const struct sa_query *q, struct sa_gid gid, struct path_ends *out)
{
	uint32_t end = sa_view_end_of_gid(q->view, gid);

	*out = (struct path_ends){ .offset = -1 };
	if (end == FM_NONE && sa_gid_is_ours(q->view, gid)) {
		end = end_of_alias(q, gid);
		out->gid = (struct sa_gid){ q->view->set.gid_prefix, gid.guid };
	} else if (end == FM_NONE) {
		end = router_for(q->view, gid);
		out->gid = gid;
		out->abroad = true;
	}
	return one_end(end, out) ? SA_OK : SA_REQ_INVALID_GID;
}

/* By GID, by LID, by both if they agree, or all. */
static uint16_t
who(const struct path_query *p, bool by_gid, struct sa_gid gid, bool by_lid, uint16_t lid,
    struct path_ends *out)
{
	uint32_t end = sa_view_end_of_lid(p->view, lid);
	uint16_t status = SA_OK;

	*out = (struct path_ends){ .last = p->view->n_ends, .offset = -1 };
	if (by_gid)
		status = path_ends_of_gid(p->q, gid, out);
	if (status != SA_OK || !by_lid)
		return status;
	if (by_gid && end != out->first)
		return SA_NO_RECORDS;
	if (!by_gid && !one_end(end, out))
		status = SA_NO_RECORDS;
	if (status == SA_OK)
		out->offset = lid - p->view->end[end].lid;
	return status;
}

uint16_t
path_ends_source(const struct path_query *p, struct path_ends *out)
{
	uint16_t status = who(p, (p->mask & SA_PR_SGID) != 0, p->want.sgid,
	    (p->mask & SA_PR_SLID) != 0, p->want.slid, out);

	return status == SA_OK && out->abroad ? SA_REQ_INVALID_GID : status;
}

uint16_t
path_ends_dest(const struct path_query *p, struct path_ends *out)
{
	return who(p, (p->mask & SA_PR_DGID) != 0, p->want.dgid, (p->mask & SA_PR_DLID) != 0,
	    p->want.dlid, out);
}

/* ---------------------------------------------------------------- what */

/* Bring *has, of which a path has more than enough, to what is wanted; false: it cannot be.
 * For MTU codes and rates in Mbit/s alike. */
static bool
select_most(uint32_t *has, uint8_t selector, uint32_t want)
{
	switch ((enum sa_selector)selector) {
	case SA_GREATER:
		return *has > want;
	case SA_LESS:
		if (*has >= want)
			*has = want == 0 ? 0 : want - 1;
		return *has > 0;
	case SA_EXACTLY:
		if (*has < want)
			return false;
		*has = want;
		return true;
	case SA_LARGEST:
		return true;
	}
	return false;
}

static bool
select_life(uint8_t has, uint8_t selector, uint8_t want)
{
	switch ((enum sa_selector)selector) {
	case SA_GREATER:
		return has > want;
	case SA_LESS:
		return has < want;
	case SA_EXACTLY:
		return has == want;
	case SA_LARGEST:
		return true;
	}
	return false;
}

/* A rate that nobody knows yet is more than any that we do. */
static uint32_t
rate_wanted(uint8_t code)
{
	uint32_t mbps = sa_rate_mbps(code);

	return mbps == 0 ? UINT32_MAX : mbps;
}

static bool
asks(const struct path_query *p, uint64_t components)
{
	return (p->mask & components) == components;
}

static bool
carries_enough(const struct path_query *p, struct sa_path_record *r, struct path_attr has)
{
	uint8_t most = p->view->set.max_rate != 0 ? p->view->set.max_rate : UINT8_MAX;
	bool by_rate = asks(p, SA_PR_RATE_SELECTOR | SA_PR_RATE);
	uint32_t mtu = has.mtu, mbps = has.mbps;

	if (most != UINT8_MAX)
		mbps = sa_rate_mbps(sa_rate_code_most(mbps, most));
	if (asks(p, SA_PR_MTU_SELECTOR | SA_PR_MTU) &&
	    !select_most(&mtu, p->want.mtu_selector, p->want.mtu))
		return false;
	if (by_rate && !select_most(&mbps, p->want.rate_selector, rate_wanted(p->want.rate)))
		return false;
	if (asks(p, SA_PR_LIFE_SELECTOR | SA_PR_LIFE) &&
	    !select_life(r->life, p->want.life_selector, p->want.life))
		return false;
	r->mtu = (uint8_t)mtu;
	if (by_rate && p->want.rate_selector == SA_EXACTLY)
		most = UINT8_MAX; /* who asks for it knows it */
	r->rate = sa_rate_code_most(mbps, most);
	return mbps >= sa_rate_mbps(r->rate);
}

/* ---------------------------------------------------------------- paths */

static struct sa_gid
gid_of(const struct sa_view *v, uint32_t end)
{
	return (struct sa_gid){ v->set.gid_prefix, v->end[end].guid };
}

bool
path_record(const struct path_query *p, uint32_t src, uint16_t slid, uint32_t dst, uint16_t dlid,
    struct sa_path_record *r)
{
	const struct sa_view *v = p->view;
	struct path_service s;
	struct sa_path path;

	if (!sa_path_find(v, src, slid, dlid, &path))
		return false;
	if (asks(p, SA_PR_REVERSIBLE) && p->want.reversible && !path.reversible)
		return false;
	if (asks(p, SA_PR_PKEY) && (p->want.pkey & PKEY_BASE) == 0)
		return false; /* is none (IBA 10.9.1.1) */
	/* to itself: on no wire */
	s = (struct path_service){ path.attr, path.sl, src == dst ? 0 : v->set.path_life, 0 };
	if (!path_qos(
		p, src, dst, dlid - v->end[dst].lid, asks(p, SA_PR_PKEY) ? p->want.pkey : 0, &s))
		return false;
	if (asks(p, SA_PR_SL) && p->want.sl != s.sl)
		return false;
	*r = (struct sa_path_record){ .dgid = gid_of(v, dst),
		.sgid = gid_of(v, src),
		.dlid = dlid,
		.slid = slid,
		.reversible = path.reversible,
		.pkey = s.pkey,
		.sl = s.sl,
		.mtu_selector = SA_EXACTLY,
		.rate_selector = SA_EXACTLY,
		.life_selector = SA_EXACTLY,
		.life = s.life };
	r->tclass = asks(p, SA_PR_TCLASS) ? p->want.tclass : 0;
	r->flow_label = asks(p, SA_PR_FLOW_LABEL) ? p->want.flow_label : 0;
	r->qos_class = asks(p, SA_PR_QOS_CLASS) ? p->want.qos_class : 0;
	return carries_enough(p, r, s.attr);
}

static uint32_t
most_looks(const struct path_query *p)
{
	return p->view->set.most_paths != 0 ? p->view->set.most_paths : MOST_PATHS;
}

/* Nobody keeps the SA to itself for long. */
static bool
may_look(const struct path_query *p)
{
	if (++p->q->n_looked_at > most_looks(p))
		p->q->full = true;
	return !p->q->full;
}

bool
path_between(const struct path_query *p, uint32_t src, const struct path_ends *from, uint32_t dst,
    const struct path_ends *to, path_each each, void *arg)
{
	const struct sa_end *a = &p->view->end[src], *b = &p->view->end[dst];
	struct sa_path_record r;
	struct sa_pairs pairs;
	unsigned s, d, found = 0;

	sa_pairs_start(&pairs, p->view->set.path_select, a->lmc, from->offset, b->lmc, to->offset);
	while (found < p->most && sa_pairs_next(&pairs, &s, &d)) {
		if (!may_look(p))
			return false;
		if (!path_record(p, src, (uint16_t)(a->lid + s), dst, (uint16_t)(b->lid + d), &r))
			continue;
		if (from->gid.guid != 0)
			r.sgid = from->gid;
		if (to->abroad || to->gid.guid != 0)
			r.dgid = to->gid;
		if (to->abroad)
			r.hop_limit = HOP_LIMIT_ABROAD;
		r.preference = (uint8_t)found++;
		if (!each(arg, &r))
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- PathRecord */

static bool
add_path(void *arg, const struct sa_path_record *r)
{
	return sa_add(arg, r);
}

static uint64_t
n_seen(const struct path_query *p, const struct path_ends *e)
{
	uint64_t n = 0;

	for (uint32_t i = e->first; i < e->last; i++)
		n += sa_may_see(p->q, i);
	return n;
}

/* Each pair would be looked at: too many are refused before the first. */
static bool
are_too_many(const struct path_query *p, const struct path_ends *from, const struct path_ends *to)
{
	uint64_t n = (uint64_t)(from->last - from->first) * (to->last - to->first);

	return n > most_looks(p) && n_seen(p, from) * n_seen(p, to) > most_looks(p);
}

/* Both sides are bounded by who asks: it sees only ends of its own partitions.  The pair
 * (s, d) is step s * width + d of a table that is made in slices. */
static void
add_all(const struct path_query *p, const struct path_ends *from, const struct path_ends *to)
{
	uint64_t width = to->last - to->first, at = p->q->at;
	uint32_t s, d;

	if (width == 0)
		return;
	if (at == 0 && are_too_many(p, from, to)) {
		p->q->full = true;
		return;
	}
	s = from->first + (uint32_t)(at / width);
	d = to->first + (uint32_t)(at % width);
	for (; s < from->last; s++, d = to->first) {
		at = (uint64_t)(s - from->first) * width;
		if (!sa_may_see(p->q, s))
			continue;
		for (; d < to->last && !sa_pause(p->q, at + (d - to->first)); d++)
			if (sa_may_see(p->q, d) && !path_between(p, s, from, d, to, add_path, p->q))
				return;
		if (p->q->paused)
			return;
	}
}

static bool
names_one(const struct path_ends *e)
{
	return e->last - e->first == 1;
}

/* To a multicast group: what the group is, for a source that has its P_Key.  There is no
 * way back. */
static uint16_t
add_group_path(const struct path_query *p, const struct path_ends *from)
{
	const struct groups *all = p->q->registry != NULL ? registry_groups(p->q->registry) : NULL;
	uint32_t i = all != NULL ? groups_find(all, p->want.dgid) : UINT32_MAX;
	struct sa_mc_member_record g;
	struct sa_path_record r;

	if (i == UINT32_MAX)
		return SA_NO_RECORDS;
	g = groups_record(all, i);
	if (!sa_may_see(p->q, from->first) ||
	    sa_view_shared_pkey(p->view, from->first, from->first, g.pkey) == 0 ||
	    (asks(p, SA_PR_PKEY) && ((p->want.pkey ^ g.pkey) & PKEY_BASE) != 0) ||
	    (asks(p, SA_PR_SL) && p->want.sl != g.sl) ||
	    (asks(p, SA_PR_REVERSIBLE) && p->want.reversible))
		return SA_NO_RECORDS;
	r = (struct sa_path_record){ .dgid = g.mgid,
		.sgid = gid_of(p->view, from->first),
		.dlid = g.mlid,
		.slid = (uint16_t)(p->view->end[from->first].lid +
		    (from->offset < 0 ? 0 : from->offset)),
		.flow_label = g.flow_label,
		.hop_limit = g.hop_limit,
		.tclass = g.tclass,
		.pkey = g.pkey,
		.sl = g.sl,
		.mtu_selector = SA_EXACTLY,
		.rate_selector = SA_EXACTLY,
		.life_selector = SA_EXACTLY,
		.life = g.life };
	if (!carries_enough(p, &r, (struct path_attr){ g.mtu, sa_rate_mbps(g.rate) }))
		return SA_NO_RECORDS;
	sa_add(p->q, &r);
	return SA_OK;
}

uint16_t
sa_get_paths(struct sa_query *q)
{
	struct path_query p = { .q = q,
		.view = q->view,
		.want = q->want.path,
		.mask = q->h.mask,
		.most = PATHS_PER_PAIR };
	struct path_ends from, to;
	uint16_t status;

	if (asks(&p, SA_PR_N_PATHS))
		p.most = p.want.n_paths;
	if (q->h.method == SA_GET)
		p.most = 1;
	if (asks(&p, SA_PR_RAW_TRAFFIC) && p.want.raw_traffic)
		return SA_NO_RECORDS; /* raw packets find no way here */
	status = path_ends_source(&p, &from);
	if (status == SA_OK && asks(&p, SA_PR_DGID) && sa_gid_is_multicast(p.want.dgid))
		return names_one(&from) ? add_group_path(&p, &from)
					: SA_REQ_INSUFFICIENT_COMPONENTS;
	if (status == SA_OK)
		status = path_ends_dest(&p, &to);
	if (status != SA_OK)
		return status;
	q->one = q->h.method == SA_GET;
	if (q->one && (!names_one(&from) || !names_one(&to)))
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	add_all(&p, &from, &to);
	return SA_OK;
}
