/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/records_link.c - how the fabric is cabled and programmed: LinkRecord,
 * LinearForwardingTableRecord, SLtoVLMappingTableRecord,
 * VLArbitrationTableRecord (IBA 15.2.5), as the committed plan has them.
 */
#include <string.h>

#include "core/sa/sa.h"

#define LFT_BLOCK 64
#define VL_ARB_LOW 1
#define VL_ARB_ENTRIES 32
#define VL_ARB_WEIGHT 4

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
	for (; more && i < last; i++) {
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
	const struct fm_tables *t = v->plan != NULL ? &v->plan->tables->t : NULL;
	uint32_t i, last;

	sa_ends_asked(q, SA_BIT(0), q->want.lft.lid, &i, &last);
	for (; t != NULL && i < last; i++) {
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

static bool
is_up(const struct sa_view *v, const struct sa_port *p)
{
	return p->known && p->peer != INV_NONE && v->node[p->peer] != NULL;
}

static void
fill_sl2vl(const struct sa_view *v, const struct sa_end *e, struct sa_sl2vl_record *r)
{
	const struct fm_fabric *fab = v->plan != NULL ? &v->plan->snap->fab : NULL;
	unsigned out = e->is_switch ? r->out_port : e->port;
	unsigned n_vls = wire_data_vls(v->node[e->node]->port[out].info.operational_vls);
	fm_link link = FM_NONE;

	if (e->is_switch && fab != NULL && e->sw < fab->n_switches)
		link = fm_link_at(fab, e->sw, out);
	for (unsigned sl = 0; sl < 16; sl++)
		r->vl[sl] = link != FM_NONE
		    ? tables_vl(fab, &v->plan->tables->t, e->sw, r->in_port, link, (uint8_t)sl)
		    : (uint8_t)(sl % n_vls);
}

static bool
offer_sl2vl(struct sa_query *q, const struct sa_end *e, unsigned in, unsigned out)
{
	struct sa_sl2vl_record r = {
		.lid = e->lid, .in_port = (uint8_t)in, .out_port = (uint8_t)out
	};

	fill_sl2vl(q->view, e, &r);
	return sa_offer(q, &r);
}

uint16_t
sa_get_sl2vls(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	uint32_t i, last;

	sa_ends_asked(q, SA_BIT(0), q->want.sl2vl.lid, &i, &last);
	for (; i < last; i++) {
		const struct sa_end *e = &v->end[i];
		const struct sa_node *n = v->node[e->node];

		if (!sa_may_see(q, i))
			continue;
		if (!e->is_switch && !offer_sl2vl(q, e, 0, 0))
			return SA_OK;
		for (unsigned out = 1; e->is_switch && out <= n->n_ports; out++)
			for (unsigned in = 0; is_up(v, &n->port[out]) && in <= n->n_ports; in++)
				if (in != out && (in == 0 || is_up(v, &n->port[in])) &&
				    !offer_sl2vl(q, e, in, out))
					return SA_OK;
	}
	return SA_OK;
}

/* Equal shares for the VLs in use, in the low-priority table. */
static bool
offer_vl_arb(struct sa_query *q, const struct sa_end *e, unsigned port)
{
	const struct sa_port *p = &q->view->node[e->node]->port[port];
	struct sa_vl_arb_record r = { .lid = e->lid, .port = (uint8_t)port, .block = VL_ARB_LOW };
	unsigned n_vls = wire_data_vls(p->info.operational_vls), cap = p->info.vl_arb_low_cap;

	for (unsigned i = 0; i < n_vls && i < cap && i < VL_ARB_ENTRIES; i++) {
		r.entry[2 * i] = (uint8_t)i;
		r.entry[2 * i + 1] = VL_ARB_WEIGHT;
	}
	return sa_offer(q, &r);
}

uint16_t
sa_get_vl_arbs(struct sa_query *q)
{
	const struct sa_view *v = q->view;
	uint32_t i, last;

	sa_ends_asked(q, SA_BIT(0), q->want.vl_arb.lid, &i, &last);
	for (; i < last; i++) {
		const struct sa_end *e = &v->end[i];
		const struct sa_node *n = v->node[e->node];
		unsigned to = e->is_switch ? n->n_ports : e->port;

		if (!sa_may_see(q, i))
			continue;
		for (unsigned p = e->is_switch ? 1 : e->port; p <= to; p++)
			if (is_up(v, &n->port[p]) && !offer_vl_arb(q, e, p))
				return SA_OK;
	}
	return SA_OK;
}
