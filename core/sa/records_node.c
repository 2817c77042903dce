/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/records_node.c - what nodes and ports say of themselves: NodeRecord,
 * PortInfoRecord, SwitchInfoRecord, SMInfoRecord, P_KeyTableRecord (IBA 15.2.5),
 * and the SA's own ClassPortInfo.
 *
 * A query that names a LID looks at one end; others at all.
 */
#include <string.h>

#include "core/sa/sa.h"
#include "core/subnet/pkey_table.h"

/* AttributeModifier of a PortInfoRecord query: the CapabilityMask (CapabilityMask2)
 * asked for is a set of bits that must be there, not a value (IBA 15.2.5.3). */
#define MATCH_CAPS (1u << 31)
#define MATCH_CAPS2 (1u << 30)
#define PIR_CAP_MASK2 SA_BIT(53)
#define GSI_QKEY 0x80010000 /* of QP 1 */
#define RESP_TIME 0x10	    /* 4.096 us * 2^16 = 268 ms */

uint16_t
sa_get_class_port_info(struct sa_query *q)
{
	struct sa_class_port_info v = { .base_version = 1,
		.class_version = SA_CLASS_VERSION,
		/* not SA_CAP_OPTIONAL_RECORDS: there are no RandomForwardingTableRecords and no
		 * ServiceAssociationRecords */
		.cap_mask = SA_CAP_MULTI_PATH | SA_CAP_PORT_INFO_MATCH,
		.cap_mask2 = SA_CAP2_FULL_PORT_INFO | SA_CAP2_EXT_SPEEDS |
		    SA_CAP2_PORT_INFO_MATCH2 | SA_CAP2_LINK_WIDTH_2X | SA_CAP2_LINK_SPEED_HDR,
		.resp_time = RESP_TIME,
		.redirect_qpn = 1,
		.redirect_qkey = GSI_QKEY,
		.trap_qkey = GSI_QKEY };

	if (q->h.method != SA_GET)
		return WIRE_STATUS_BAD_METHOD_ATTR;
	if (q->view->set.qos_sls)
		v.cap_mask2 |= SA_CAP2_QOS;
	if (q->registry != NULL) {
		v.cap_mask |= SA_CAP_UD_MULTICAST;
		v.cap_mask2 |=
		    SA_CAP2_SEND_ONLY_FULL_MEMBER | SA_CAP2_ALIAS_GUIDS | SA_CAP2_MULTICAST_TOP;
	}
	sa_add(q, &v);
	return SA_OK;
}

uint16_t
sa_get_nodes(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	uint32_t i, last;

	sa_ends_asked(q, SA_BIT(0), q->want.node.lid, &i, &last);
	for (; i < last && !sa_pause(q, i); i++) {
		const struct sa_end *e = &v->end[i];
		const struct sa_node *n = v->node[e->node];
		struct sa_node_record r = { .lid = e->lid, .info = n->info };

		r.info.port_guid = e->guid;
		r.info.local_port = e->port;
		memcpy(r.desc, n->desc, sizeof(r.desc));
		if (sa_may_see(q, i) && !sa_offer(q, &r))
			break;
	}
	return SA_OK;
}

/* As sa_record_matches(), but that capabilities may be asked for bit by bit. */
static bool
port_matches(const struct sa_query *q, const struct sa_port_info_record *r)
{
	const struct wire_port_info *want = &q->want.port_info.info;
	uint64_t mask = q->h.mask;
	uint32_t caps = want->capability_mask;
	uint16_t caps2 = want->capability_mask2;

	if ((q->h.modifier & MATCH_CAPS) != 0 && (mask & SA_PIR_CAP_MASK) != 0) {
		if ((r->info.capability_mask & caps) != caps)
			return false;
		mask &= ~SA_PIR_CAP_MASK;
	}
	if ((q->h.modifier & MATCH_CAPS2) != 0 && (mask & PIR_CAP_MASK2) != 0) {
		if ((r->info.capability_mask2 & caps2) != caps2)
			return false;
		mask &= ~PIR_CAP_MASK2;
	}
	return sa_record_matches(q->answer, &q->want, mask, r);
}

/* Of one port of an end's node.  The M_Key is nobody's business (IBA 14.2.4). */
static bool
offer_port(struct sa_query *q, const struct sa_end *e, unsigned port)
{
	const struct sa_port *p = &q->view->node[e->node]->port[port];
	struct sa_port_info_record r = { .lid = e->lid, .port = (uint8_t)port, .info = p->info };

	if (!p->known)
		return true;
	if (!q->trusted)
		r.info.m_key = 0;
	q->n_looked_at++;
	return !port_matches(q, &r) || sa_add(q, &r);
}

uint16_t
sa_get_port_infos(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	uint32_t i, last;
	bool more = true;

	sa_ends_asked(q, SA_PIR_LID, q->want.port_info.lid, &i, &last);
	for (; more && i < last && !sa_pause(q, i); i++) {
		const struct sa_end *e = &v->end[i];
		unsigned from = e->is_switch ? 0 : e->port;
		unsigned to = e->is_switch ? v->node[e->node]->n_ports : e->port;

		if (!sa_may_see(q, i))
			continue;
		for (unsigned p = from; more && p <= to; p++)
			more = offer_port(q, e, p);
	}
	return SA_OK;
}

uint16_t
sa_get_switch_infos(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	uint32_t i, last;

	sa_ends_asked(q, SA_BIT(0), q->want.switch_info.lid, &i, &last);
	for (; i < last && !sa_pause(q, i); i++) {
		const struct sa_end *e = &v->end[i];
		struct sa_switch_info_record r = { .lid = e->lid, .info = v->node[e->node]->sw };

		if (e->is_switch && sa_may_see(q, i) && !sa_offer(q, &r))
			break;
	}
	return SA_OK;
}

uint16_t
sa_get_sm_infos(struct sa_query *q)
{
	const struct sa_view *v = q->view;

	for (uint32_t i = 0; i < v->n_sms; i++) {
		struct sa_sm_info_record r = { .lid = v->sm[i].lid, .info = v->sm[i].info };
		uint32_t end = sa_view_end_of_lid(v, r.lid);

		if (!q->trusted)
			r.info.sm_key = 0;
		if ((end == FM_NONE || sa_may_see(q, end)) && !sa_offer(q, &r))
			break;
	}
	return SA_OK;
}

/* The blocks of a table; false: no more fit. */
static bool
offer_pkeys(struct sa_query *q, uint16_t lid, unsigned port, const uint16_t *keys, unsigned n)
{
	for (unsigned b = 0; b * PKEYS_PER_BLOCK < n; b++) {
		unsigned left = n - b * PKEYS_PER_BLOCK;
		struct sa_pkey_record r = {
			.lid = lid, .block = (uint16_t)b, .port = (uint8_t)port
		};

		memcpy(r.pkey, keys + (size_t)b * PKEYS_PER_BLOCK,
		    (left < PKEYS_PER_BLOCK ? left : PKEYS_PER_BLOCK) * sizeof(r.pkey[0]));
		if (!sa_offer(q, &r))
			return false;
	}
	return true;
}

/* IBA 15.2.5.11: for trusted requests only.  Tables as they are in ports, with their places; of
 * a port with a LID that was not looked at what it is to hold; of ports of switches those that
 * enforce partitions. */
uint16_t
sa_get_pkeys(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	uint32_t i, last;

	if (!q->trusted)
		return SA_REQ_INVALID;
	sa_ends_asked(q, SA_BIT(0), q->want.pkey.lid, &i, &last);
	for (; i < last && !sa_pause(q, i); i++) {
		const struct sa_end *e = &v->end[i];
		const struct pkey_list *keys = &v->pkeys.item[e->pkeys];
		const struct sa_node *n = v->node[e->node];
		unsigned to = e->is_switch ? n->n_ports : e->port;

		if (n->port[e->port].pkeys == NULL &&
		    !offer_pkeys(q, e->lid, e->port, keys->keys, keys->n))
			return SA_OK;
		for (unsigned p = e->port; p <= to; p++) {
			const struct pkey_held *held = n->port[p].pkeys;

			if (held != NULL && !offer_pkeys(q, e->lid, p, held->key, held->n_slots))
				return SA_OK;
		}
	}
	return SA_OK;
}
