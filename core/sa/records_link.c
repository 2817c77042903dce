/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/records_link.c - how the fabric is cabled and programmed: LinkRecord,
 * LinearForwardingTableRecord, SLtoVLMappingTableRecord,
 * VLArbitrationTableRecord (IBA 15.2.5), as the committed plan has them;
 * MulticastForwardingTableRecord, as switches have acknowledged.
 */
#include <string.h>

#include "core/sa/sa.h"

#define LFT_BLOCK 64
#define VL_ARB_ENTRIES 32
#define VL_ARB_WEIGHT 4
#define MFT_BLOCK_ASKED SA_BIT(3)

/* The LID that a port of a node goes by, 0: none. */
static uint16_t
lid_at(const struct sa_view *v, uint32_t slot, unsigned port)
{
	const struct sa_node *n = v->node[slot];
	uint32_t end;

	if (n->info.node_type == WIRE_NODE_SWITCH)
		return n->lid;
	end = sa_view_end_of_guid(v, n->port[port].guid);
	return end == FM_NONE ? 0 : v->end[end].lid;
}

/* The link that leaves port p of end e's node; true: go on. */
static bool
offer_link(struct sa_query *q, const struct sa_end *e, unsigned port)
{
	const struct sa_view *v = q->view;
	const struct sa_port *p = &v->node[e->node]->port[port];
	struct sa_link_record r = { .from_lid = e->lid, .from_port = (uint8_t)port };
	uint32_t far;

	if (p->peer == INV_NONE || v->node[p->peer] == NULL)
		return true;
	r.to_lid = lid_at(v, p->peer, p->peer_port);
	r.to_port = p->peer_port;
	far = r.to_lid == 0 ? FM_NONE : sa_view_end_of_lid(v, r.to_lid);
	return far == FM_NONE || !sa_may_see(q, far) || sa_offer(q, &r);
}

uint16_t
sa_get_links(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	uint32_t i, last;
	bool more = true;

	sa_ends_asked(q, SA_BIT(0), q->want.link.from_lid, &i, &last);
	for (; more && i < last && !sa_pause(q, i); i++) {
		const struct sa_end *e = &v->end[i];
		unsigned to = e->is_switch ? v->node[e->node]->n_ports : e->port;

		if (!sa_may_see(q, i))
			continue;
		for (unsigned p = e->is_switch ? 1 : e->port; more && p <= to; p++)
			more = offer_link(q, e, p);
	}
	return SA_OK;
}

uint16_t
sa_get_lfts(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	const struct fm_tables *t = v->plan != NULL ? &v->tables : NULL;
	uint32_t i, last;

	sa_ends_asked(q, SA_BIT(0), q->want.lft.lid, &i, &last);
	for (; t != NULL && i < last && !sa_pause(q, i); i++) {
		const struct sa_end *e = &v->end[i];

		if (!e->is_switch || !sa_may_see(q, i) || e->sw >= v->plan->snap->fab.n_switches)
			continue;
		for (unsigned b = 0; b * LFT_BLOCK <= v->plan->top_lid; b++) {
			struct sa_lft_record r = { .lid = e->lid, .block = (uint16_t)b };

			memcpy(r.port, t->lft[e->sw] + (size_t)b * LFT_BLOCK, LFT_BLOCK);
			if (!sa_offer(q, &r))
				return SA_OK;
		}
	}
	return SA_OK;
}

/* All blocks of a switch up to the last that holds something. */
static bool
offer_mfts(struct sa_query *q, const struct mft_rows *rows, const struct sa_end *e)
{
	const struct sa_mft_record *want = &q->want.mft;
	uint32_t n_positions = mft_n_positions(q->view->node[e->node]->n_ports);
	uint32_t n_blocks = mft_rows_n_blocks(rows, e->sw);
	uint32_t block = 0;

	if (q->h.mask & MFT_BLOCK_ASKED) {
		block = want->block;
		n_blocks = block < n_blocks ? block + 1 : 0;
	}
	for (; block < n_blocks; block++)
		for (uint32_t p = 0; p < n_positions; p++) {
			const struct mft_block *held = mft_rows_find(rows, e->sw, block, p);
			struct sa_mft_record r = {
				.lid = e->lid, .block = (uint16_t)block, .position = (uint8_t)p
			};

			if (held != NULL)
				memcpy(r.mask, held->ports, sizeof(r.mask));
			if (!sa_offer(q, &r))
				return false;
		}
	return true;
}

uint16_t
sa_get_mfts(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	struct mft_rows *rows = sa_mfts(q);
	uint32_t i, last;

	sa_ends_asked(q, SA_BIT(0), q->want.mft.lid, &i, &last);
	for (; i < last && !sa_pause(q, i); i++)
		if (v->end[i].is_switch && sa_may_see(q, i) && !offer_mfts(q, rows, &v->end[i]))
			break;
	mft_rows_put(rows);
	return SA_OK;
}

static bool
is_up(const struct sa_view *v, const struct sa_port *p)
{
	return p->known && p->peer != INV_NONE && v->node[p->peer] != NULL;
}

static bool
offer_sl2vl(struct sa_query *q, const struct sa_end *e, unsigned in, unsigned out)
{
	struct sa_sl2vl_record r = {
		.lid = e->lid, .in_port = (uint8_t)in, .out_port = (uint8_t)out
	};

	sa_view_sl2vl(q->view, e->node, in, e->is_switch ? out : e->port, r.vl);
	return sa_offer(q, &r);
}

uint16_t
sa_get_sl2vls(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	uint32_t i, last;

	sa_ends_asked(q, SA_BIT(0), q->want.sl2vl.lid, &i, &last);
	for (; i < last && !sa_pause(q, i); i++) {
		const struct sa_end *e = &v->end[i];
		const struct sa_node *n = v->node[e->node];

		if (!sa_may_see(q, i))
			continue;
		if (!offer_sl2vl(q, e, 0, 0)) /* of hosts, and of port 0 */
			return SA_OK;
		for (unsigned out = 1; e->is_switch && out <= n->n_ports; out++)
			for (unsigned in = 0; is_up(v, &n->port[out]) && in <= n->n_ports; in++)
				if (in != out && (in == 0 || is_up(v, &n->port[in])) &&
				    !offer_sl2vl(q, e, in, out))
					return SA_OK;
	}
	return SA_OK;
}

/* Who says nothing: equal shares in the low-priority table for the VLs there are. */
static void
equal_arb(bool high, unsigned half, unsigned cap, unsigned n_vls, struct qos_arb *e)
{
	for (unsigned i = 0; !high && half == 0 && i < n_vls && i < cap && i < VL_ARB_ENTRIES; i++)
		e[i] = (struct qos_arb){ (uint8_t)i, VL_ARB_WEIGHT };
}

/* VLs that the engine needs between switches: they have some weight. */
static uint16_t
vls_needed(const struct sa_view *v, const struct sa_end *e, unsigned port)
{
	uint8_t n = v->plan != NULL ? v->plan->tables->t.n_vls_used : 0;

	if (n <= 1 || !e->is_switch || fm_link_at(&v->plan->snap->fab, e->sw, port) == FM_NONE)
		return 0;
	return (uint16_t)((1u << n) - 1);
}

/* Block 1..4: the halves of the low-priority table, then of the high one. */
static bool
offer_vl_arb(struct sa_query *q, const struct sa_end *e, unsigned port, unsigned block)
{
	const struct wire_port_info *info = &q->view->node[e->node]->port[port].info;
	const struct qos_tables *t = sa_view_qos(q->view, e->node, port);
	struct sa_vl_arb_record r = {
		.lid = e->lid, .port = (uint8_t)port, .block = (uint8_t)block
	};
	struct qos_arb entry[VL_ARB_ENTRIES] = { { 0 } };
	bool high = block > 2;
	uint8_t cap = high ? info->vl_arb_high_cap : info->vl_arb_low_cap;
	uint8_t n_vls = wire_data_vls(info->operational_vls);
	unsigned half = (block - 1) % 2;
	uint64_t mask = q->h.mask;

	if (half * VL_ARB_ENTRIES >= cap || (e->is_switch && port == 0))
		; /* it has no such block: no weights */
	else if (t != NULL)
		qos_fit_arb(t, high, half, cap, n_vls, vls_needed(q->view, e, port), entry);
	else
		equal_arb(high, half, cap, n_vls, entry);
	for (unsigned i = 0; i < VL_ARB_ENTRIES; i++) {
		r.entry[2 * i] = entry[i].vl;
		r.entry[2 * i + 1] = entry[i].weight;
	}
	/* The port number counts for switches alone: hosts have one port behind a LID. */
	if (!e->is_switch)
		mask &= ~SA_BIT(1);
	q->n_looked_at++;
	return !sa_record_matches(q->record, &q->want, mask, &r) || sa_add(q, &r);
}

uint16_t
sa_get_vl_arbs(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	uint32_t i, last;

	sa_ends_asked(q, SA_BIT(0), q->want.vl_arb.lid, &i, &last);
	for (; i < last && !sa_pause(q, i); i++) {
		const struct sa_end *e = &v->end[i];
		const struct sa_node *n = v->node[e->node];
		unsigned to = e->is_switch ? n->n_ports : e->port;

		if (!sa_may_see(q, i))
			continue;
		for (unsigned p = e->is_switch ? 0 : e->port; p <= to; p++)
			for (unsigned block = 1; (p == 0 || is_up(v, &n->port[p])) && block <= 4;
			     block++)
				if (!offer_vl_arb(q, e, p, block))
					return SA_OK;
	}
	return SA_OK;
}
