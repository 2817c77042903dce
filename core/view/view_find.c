/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/view/view_find.c - questions to a view.
 */
#include "core/view/view.h"

#define GID_PREFIX_DEFAULT UINT64_C(0xfe80000000000000)

uint32_t
sa_view_end_of_guid(const struct sa_view *v, uint64_t guid)
{
	return fm_hash_find(&v->end_by_guid, guid);
}

bool
sa_gid_is_ours(const struct sa_view *v, struct sa_gid gid)
{
	return gid.prefix == v->set.gid_prefix || gid.prefix == GID_PREFIX_DEFAULT;
}

uint32_t
sa_view_end_of_gid(const struct sa_view *v, struct sa_gid gid)
{
	return sa_gid_is_ours(v, gid) ? sa_view_end_of_guid(v, gid.guid) : FM_NONE;
}

const struct qos_tables *
sa_view_qos(const struct sa_view *v, uint32_t node, unsigned port)
{
	const struct qos *q = v->set.qos;

	if (q == NULL)
		return NULL;
	switch ((enum wire_node_type)v->node[node]->info.node_type) {
	case WIRE_NODE_SWITCH:
		return &q->port[port == 0 ? QOS_SWITCH0 : QOS_SWITCH];
	case WIRE_NODE_ROUTER:
		return &q->port[QOS_ROUTER];
	case WIRE_NODE_CA:
		break;
	}
	return &q->port[QOS_CA];
}

void
sa_view_sl2vl(const struct sa_view *v, uint32_t node, unsigned in, unsigned out, uint8_t *vl)
{
	const struct sa_node *n = v->node[node];
	const struct qos_tables *t = sa_view_qos(v, node, out);
	uint8_t n_vls = wire_data_vls(n->port[out].info.operational_vls);
	const struct snapshot *snap = v->plan != NULL ? v->plan->snap : NULL;
	fm_link link = FM_NONE;

	if (snap != NULL && out != 0 && n->sw_index < snap->fab.n_switches)
		link = snapshot_link_at(snap, n->sw_index, out);
	if (link == FM_NONE || (t != NULL && v->tables.n_vls_used <= 1)) {
		qos_host_sl2vl(t, v->levels, n_vls, vl);
		return;
	}
	for (uint8_t sl = 0; sl < 16; sl++)
		vl[sl] = tables_vl(&snap->fab, &v->tables, n->sw_index, (uint8_t)in, link, sl);
}

uint16_t
sa_view_shared_pkey(const struct sa_view *v, uint32_t a, uint32_t b, uint16_t want)
{
	const struct pkey_list *x = &v->pkeys.item[v->end[a].pkeys],
			       *y = &v->pkeys.item[v->end[b].pkeys];

	if (a == b) /* to itself by any that it has */
		return want != 0 ? pkeys_of(x, want) : x->n > 0 ? x->keys[0] : 0;
	if (want == 0)
		return pkeys_common(x, y);
	return pkeys_share_this(x, y, want) ? pkeys_of(x, want) : 0;
}
