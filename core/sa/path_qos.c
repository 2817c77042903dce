/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Without a policy a path has the SL that is asked for or that of its partition, unless the
 * engine says which, or all of it but the level of quality; with one the first rule that
 * matches gives a level (qos_policy.h).  The limits of the partition hold beside those of a level.
 */
#include "core/sa/path_qos.h"

#include "core/graph/tables_vls.h"
#include "core/subnet/qos_policy.h"

static enum part_kind
kind_of(const struct sa_node *n)
{
	switch ((enum wire_node_type)n->info.node_type) {
	case WIRE_NODE_SWITCH:
		return PART_SWITCH;
	case WIRE_NODE_ROUTER:
		return PART_ROUTER;
	case WIRE_NODE_CA:
		break;
	}
	return PART_CA;
}

static struct qos_end
end_for_rules(const struct sa_view *v, uint32_t end, char *desc)
{
	const struct sa_end *e = &v->end[end];
	const struct sa_node *n = v->node[e->node];

	memcpy(desc, n->desc, sizeof(n->desc));
	desc[sizeof(n->desc)] = '\0';
	return (struct qos_end){
		.port = { .guid = e->guid, .kind = kind_of(n), .self = end == v->self },
		.number = e->port,
		.desc = desc,
		.keys = v->pkeys.item[e->pkeys]
	};
}

static const struct qos_level *
find_level(const struct path_query *p, uint32_t src, uint32_t dst, uint16_t pkey)
{
	const struct sa_view *v = p->view;
	char src_desc[65], dst_desc[65];
	struct qos_end a, b;
	struct qos_query q = { .source = &a,
		.dest = &b,
		.has_service_id = (p->mask & SA_PR_SERVICE_ID) == SA_PR_SERVICE_ID,
		.has_qos_class = (p->mask & SA_PR_QOS_CLASS) != 0,
		.has_pkey = pkey != 0,
		.service_id = p->want.service_id,
		.qos_class = p->want.qos_class,
		.pkey = pkey };

	if (v->set.policy == NULL)
		return NULL;
	a = end_for_rules(v, src, src_desc);
	b = end_for_rules(v, dst, dst_desc);
	return qos_policy_match(v->set.policy, &q);
}

/* Another P_Key of the source that the two share and the level allows; 0: none. */
static uint16_t
key_of_level(const struct sa_view *v, uint32_t src, uint32_t dst, const struct qos_level *l)
{
	const struct pkey_list *keys = &v->pkeys.item[v->end[src].pkeys];
	uint16_t key = 0;

	for (uint32_t i = 0; key == 0 && i < keys->n; i++)
		if (qos_level_allows(l, keys->keys[i]))
			key = sa_view_shared_pkey(v, src, dst, keys->keys[i]);
	return key;
}

bool
path_sl_is_free(const struct sa_view *v)
{
	const struct fm_tables *t = v->plan != NULL ? &v->plan->tables->t : NULL;

	return t == NULL || (t->sl_shape == FM_SL_ZERO && t->sl2vl_shape == FM_SL2VL_MODULO);
}

/* Do the administrator's tables drop packets of an SL? */
static bool
sl_is_dropped(const struct sa_view *v, uint8_t sl)
{
	for (int kind = 0; v->set.qos != NULL && kind < QOS_PORTS; kind++)
		if (v->set.qos->port[kind].sl2vl[sl & 15] == QOS_VL_DROP)
			return true;
	return false;
}

/* That of the level, else the partition's, where it is firm, else the one asked for, since packets
 * of all SLs go the same way, else the partition's, else the path's. */
static uint8_t
sl_wanted(const struct path_query *p, const struct qos_level *l, const struct path_service *s)
{
	const struct sa_view *v = p->view;
	const struct partition *part;

	if (v->set.qos_sls && l != NULL && l->has_sl)
		return l->sl;
	part = v->set.qos_sls && v->set.partitions != NULL
	    ? partitions_find(v->set.partitions, s->pkey & PKEY_BASE)
	    : NULL;
	if (part != NULL && part->sl_is_firm)
		return part->sl;
	if ((p->mask & SA_PR_SL) != 0 && !sl_is_dropped(v, p->want.sl))
		return p->want.sl;
	return part != NULL ? part->sl : s->sl;
}

/* Where the engine leaves SLs free, or the level of quality. */
static void
set_sl(const struct path_query *p, const struct qos_level *l, struct path_service *s)
{
	if (path_sl_is_free(p->view))
		s->sl = sl_wanted(p, l, s);
	else if (p->view->levels)
		s->sl |= sl_wanted(p, l, s) & TABLES_LEVEL;
}

/* What the partition of the path allows at most. */
static void
limit_by_partition(const struct sa_view *v, struct path_service *s)
{
	const struct partition *part = v->set.partitions != NULL
	    ? partitions_find(v->set.partitions, s->pkey & PKEY_BASE)
	    : NULL;

	if (part != NULL && part->mtu != 0 && part->mtu < s->attr.mtu)
		s->attr.mtu = part->mtu;
	if (part != NULL && part->rate != 0 && sa_rate_mbps(part->rate) < s->attr.mbps)
		s->attr.mbps = sa_rate_mbps(part->rate);
}

bool
path_qos(const struct path_query *p, uint32_t src, uint32_t dst, unsigned d, uint16_t want_pkey,
    struct path_service *s)
{
	const struct sa_view *v = p->view;
	const struct qos_level *l;

	s->pkey = sa_view_shared_pkey(v, src, dst, want_pkey);
	if (s->pkey == 0)
		return false;
	l = find_level(p, src, dst, s->pkey);
	if (l != NULL && !qos_level_allows(l, s->pkey))
		s->pkey = want_pkey == 0 ? key_of_level(v, src, dst, l) : 0;
	if (s->pkey == 0)
		return false;
	set_sl(p, l, s);
	limit_by_partition(v, s);
	if (l == NULL)
		return true;
	if (l->has_path_bits && !fm_bit(l->path_bits, d))
		return false;
	if (l->has_mtu && l->mtu_limit < s->attr.mtu)
		s->attr.mtu = l->mtu_limit;
	if (l->has_rate && sa_rate_mbps(l->rate_limit) < s->attr.mbps)
		s->attr.mbps = sa_rate_mbps(l->rate_limit);
	if (l->has_life)
		s->life = l->packet_life;
	return true;
}
