/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/trust.c - what who shows no key may ask for with untrusted = restrict: what concerns
 * itself, and what its programs cannot do without (doc/sa.md has the list).
 *
 * One row for each attribute and method that may be asked at all; the rule looks at whom the
 * request names.  What has no row is for the trusted.
 */
#include "core/registry/registry.h"
#include "core/sa/sa_internal.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define IS_DEVICE_MANAGEMENT (1u << 19) /* CapabilityMask, IBA 14.2.5.6 */
#define FIRST_SECURITY_TRAP 256		/* M_Key, P_Key and Q_Key violations, IBA 14.2.5.1 */
#define LID_COMPONENT SA_BIT(0)		/* of all records that begin with a LID */

bool
sa_is_own_gid(const struct sa_query *q, struct sa_gid gid)
{
	uint64_t own;

	if (q->requester == FM_NONE || !sa_gid_is_ours(q->view, gid))
		return false;
	own = q->view->end[q->requester].guid;
	return gid.guid == own ||
	    (q->registry != NULL && registry_alias_port(q->registry, gid.guid) == own);
}

static bool
is_own_lid(const struct sa_query *q, uint16_t lid)
{
	return q->requester != FM_NONE && sa_view_end_of_lid(q->view, lid) == q->requester;
}

static bool
names(const struct sa_query *q, uint64_t components)
{
	return (q->h.mask & components) == components;
}

/* A port that offers storage is there to be found. */
static bool
is_target(const struct sa_query *q, uint16_t lid)
{
	const struct sa_end *e;
	uint32_t end = sa_view_end_of_lid(q->view, lid);

	if (end == FM_NONE)
		return false;
	e = &q->view->end[end];
	return (q->view->node[e->node]->port[e->port].info.capability_mask &
		   IS_DEVICE_MANAGEMENT) != 0;
}

/* ------------------------------------------------------------------------ rules */

static bool
anyone(const struct sa_query *q)
{
	(void)q;
	return true;
}

/* Records that begin with a LID do so in host order, too. */
static bool
of_oneself(const struct sa_query *q)
{
	return names(q, LID_COMPONENT) && is_own_lid(q, q->want.node.lid);
}

static bool
of_oneself_or_a_target(const struct sa_query *q)
{
	return q->requester != FM_NONE && names(q, LID_COMPONENT) &&
	    (is_own_lid(q, q->want.node.lid) || is_target(q, q->want.node.lid));
}

/* ... or all targets, which is how srp_daemon finds them. */
static bool
ports(const struct sa_query *q)
{
	return of_oneself_or_a_target(q) ||
	    (q->requester != FM_NONE && names(q, SA_PIR_CAP_MASK) &&
		(q->want.port_info.info.capability_mask & IS_DEVICE_MANAGEMENT) != 0);
}

/* From oneself to one destination.  Ends may be named twice; all that is named counts. */
static bool
path(const struct sa_query *q)
{
	uint64_t mask = q->h.mask;

	if ((mask & (SA_PR_SGID | SA_PR_SLID)) == 0 || (mask & (SA_PR_DGID | SA_PR_DLID)) == 0)
		return false;
	if ((mask & SA_PR_SGID) && !sa_is_own_gid(q, q->want.path.sgid))
		return false;
	return (mask & SA_PR_SLID) == 0 || is_own_lid(q, q->want.path.slid);
}

/* Who joins or leaves.  Without a PortGID the rules of groups refuse it by themselves. */
static bool
join_of_oneself(const struct sa_query *q)
{
	return !names(q, SA_MCR_PORT_GID) || sa_is_own_gid(q, q->want.mc_member.port_gid);
}

/* What a group is, or whether oneself is in it; not who else. */
static bool
group(const struct sa_query *q)
{
	return (q->h.method == SA_GET || names(q, SA_MCR_MGID)) && join_of_oneself(q);
}

static bool
service_of_oneself(const struct sa_query *q)
{
	return !names(q, SA_SR_GID) || sa_is_own_gid(q, q->want.service.gid);
}

static bool
of_a_service(const struct sa_query *q)
{
	return (q->h.mask & (SA_SR_ID | SA_SR_GID | SA_SR_NAME)) != 0;
}

/* Not to who breaks into what; whoever has subscribed may end it. */
static bool
subscription(const struct sa_query *q)
{
	const struct sa_inform_info *i = &q->want.inform_info;

	return !i->subscribe || !i->is_generic || i->trap_number < FIRST_SECURITY_TRAP;
}

static bool
subscriptions_of_oneself(const struct sa_query *q)
{
	return names(q, SA_IIR_SUBSCRIBER) &&
	    sa_is_own_gid(q, q->want.inform_info_record.subscriber);
}

static const struct trust_row {
	uint16_t attr;
	uint8_t method;
	bool (*may)(const struct sa_query *q);
} rows[] = {
	{ SA_CLASS_PORT_INFO, SA_GET, anyone },
	{ SA_NODE_RECORD, SA_GET, of_oneself_or_a_target },
	{ SA_NODE_RECORD, SA_GET_TABLE, of_oneself_or_a_target },
	{ SA_PORT_INFO_RECORD, SA_GET, ports },
	{ SA_PORT_INFO_RECORD, SA_GET_TABLE, ports },
	{ SA_LINK_RECORD, SA_GET, of_oneself },
	{ SA_LINK_RECORD, SA_GET_TABLE, of_oneself },
	{ SA_SL2VL_RECORD, SA_GET, of_oneself },
	{ SA_SL2VL_RECORD, SA_GET_TABLE, of_oneself },
	{ SA_VL_ARB_RECORD, SA_GET, of_oneself },
	{ SA_VL_ARB_RECORD, SA_GET_TABLE, of_oneself },
	{ SA_GUID_INFO_RECORD, SA_GET, of_oneself },
	{ SA_GUID_INFO_RECORD, SA_GET_TABLE, of_oneself },
	{ SA_GUID_INFO_RECORD, SA_SET, of_oneself },
	{ SA_GUID_INFO_RECORD, SA_DELETE, of_oneself },
	{ SA_PATH_RECORD, SA_GET, path },
	{ SA_PATH_RECORD, SA_GET_TABLE, path },
	{ SA_MC_MEMBER_RECORD, SA_GET, group },
	{ SA_MC_MEMBER_RECORD, SA_GET_TABLE, group },
	{ SA_MC_MEMBER_RECORD, SA_SET, join_of_oneself },
	{ SA_MC_MEMBER_RECORD, SA_DELETE, join_of_oneself },
	{ SA_SERVICE_RECORD, SA_GET, of_a_service },
	{ SA_SERVICE_RECORD, SA_GET_TABLE, of_a_service },
	{ SA_SERVICE_RECORD, SA_SET, service_of_oneself },
	{ SA_SERVICE_RECORD, SA_DELETE, service_of_oneself },
	{ SA_INFORM_INFO, SA_SET, subscription },
	{ SA_INFORM_INFO_RECORD, SA_GET, subscriptions_of_oneself },
	{ SA_INFORM_INFO_RECORD, SA_GET_TABLE, subscriptions_of_oneself },
};

bool
sa_may_untrusted(const struct sa_query *q)
{
	for (size_t i = 0; i < N_OF(rows); i++)
		if (rows[i].attr == q->h.attr && rows[i].method == q->h.method)
			return rows[i].may(q);
	return false;
}
