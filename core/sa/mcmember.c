/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MCMemberRecords asked for and set: the rules are groups.h's; here is what they need to
 * know of the fabric.  Who is not trusted sees groups, not members (IBA 15.2.5.17).
 */
#include "core/registry/registry.h"
#include "core/sa/sa.h"

static bool
has_pkey(void *arg, uint64_t port, uint16_t pkey)
{
	const struct sa_view *v = arg;
	uint32_t end = sa_view_end_of_guid(v, port);

	return end != FM_NONE && pkeys_of(&v->pkeys.item[v->end[end].pkeys], pkey) != 0;
}

/* The end behind a PortGID, an alias or not. */
static uint32_t
end_of_port_gid(const struct sa_query *q, struct sa_gid gid)
{
	uint64_t port = registry_alias_port(q->registry, gid.guid);

	if (port != 0 && sa_gid_is_ours(q->view, gid))
		return sa_view_end_of_guid(q->view, port);
	return sa_view_end_of_gid(q->view, gid);
}

/* No group is made within a partition that carries more than its paths. */
static void
limit_by_partition(const struct sa_query *q, struct group_caller *c)
{
	const struct partition *part =
	    (q->h.mask & SA_MCR_PKEY) != 0 && q->view->set.partitions != NULL
	    ? partitions_find(q->view->set.partitions, q->want.mc_member.pkey & PKEY_BASE)
	    : NULL;

	if (part != NULL && part->mtu != 0 && part->mtu < c->mtu)
		c->mtu = part->mtu;
	if (part != NULL && part->rate != 0 && sa_rate_mbps(part->rate) < sa_rate_mbps(c->rate))
		c->rate = part->rate;
}

/* False: the requester is nobody we know. */
static bool
find_caller(const struct sa_query *q, struct group_caller *c)
{
	const struct sa_view *v = q->view;
	uint32_t end = end_of_port_gid(q, q->want.mc_member.port_gid);

	*c = (struct group_caller){ .has_pkey = has_pkey, .arg = q->view };
	if (q->requester == FM_NONE || v->n_attrs == 0)
		return false;
	c->requester = v->end[q->requester].guid;
	if (end == FM_NONE)
		return true; /* for nobody: the rules refuse that */
	c->port = v->end[end].guid;
	c->mtu = v->attr[v->end[end].attr].mtu;
	c->rate = sa_rate_code(v->attr[v->end[end].attr].mbps);
	limit_by_partition(q, c);
	return true;
}

/* Whom groups_join() or groups_leave() lets in or out, as the answer. */
static uint16_t
change(struct sa_query *q,
    uint16_t (*how)(struct groups *, const struct sa_mc_member_record *, uint64_t,
	const struct group_caller *, struct sa_mc_member_record *))
{
	struct sa_mc_member_record got;
	struct group_caller c;
	uint16_t status;

	if (!find_caller(q, &c))
		return SA_REQ_INVALID;
	status = how(registry_groups(q->registry), &q->want.mc_member, q->h.mask, &c, &got);
	if (status == SA_OK)
		sa_add(q, &got);
	return status;
}

uint16_t
sa_set_mc_member(struct sa_query *q)
{
	return change(q, groups_join);
}

uint16_t
sa_delete_mc_member(struct sa_query *q)
{
	return change(q, groups_leave);
}

/* Members of a group that match; false: no more fit. */
static bool
offer_members(struct sa_query *q, const struct groups *g, uint32_t i)
{
	uint64_t port, requester;

	q->n_looked_at += groups_n_members(g, i);
	for (uint32_t k = 0; k < groups_n_members(g, i); k++) {
		struct sa_mc_member_record r = groups_member(g, i, k, &port, &requester);

		if (groups_matches(&q->want.mc_member, q->h.mask, &r) && !sa_add(q, &r))
			return false;
	}
	return true;
}

/* One record for the group; asked for by a member, if that is one. */
static bool
offer_group(struct sa_query *q, const struct groups *g, uint32_t i)
{
	static const uint64_t of_member = SA_MCR_PORT_GID | SA_MCR_JOIN_STATE | SA_MCR_PROXY_JOIN;
	struct sa_mc_member_record r = groups_record(g, i);
	uint32_t end;

	if (q->h.mask & SA_MCR_PORT_GID) {
		end = end_of_port_gid(q, q->want.mc_member.port_gid);
		if (end == FM_NONE ||
		    groups_find_member(g, i, q->view->end[end].guid) == UINT32_MAX)
			return true;
	}
	if (!groups_matches(&q->want.mc_member, q->h.mask & ~of_member, &r))
		return true;
	return sa_add(q, &r);
}

uint16_t
sa_get_mc_members(struct sa_query *q)
{
	const struct groups *g = registry_groups(q->registry);
	const struct sa_mc_member_record *want = &q->want.mc_member;
	uint32_t first = 0, end = groups_count(g);
	bool more = true;

	if (q->requester == FM_NONE && !q->trusted)
		return SA_REQ_INVALID;
	if (q->h.mask & SA_MCR_MGID) {
		first = groups_find(g, want->mgid);
		end = first == UINT32_MAX ? first : first + 1;
	}
	for (uint32_t i = first; i < end && more; i++) {
		uint16_t pkey = groups_record(g, i).pkey;

		q->n_looked_at++;
		if (!q->trusted && !has_pkey(q->view, q->view->end[q->requester].guid, pkey))
			continue;
		more = q->trusted ? offer_members(q, g, i) : offer_group(q, g, i);
	}
	return SA_OK;
}
