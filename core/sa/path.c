/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/sa/path.h"

/* The link from a switch by a port, FM_NONE. */
static fm_link
link_by(const struct sa_view *v, fm_sw sw, uint8_t port)
{
	return fm_link_at(&v->plan->snap->fab, sw, port);
}

static struct path_attr
lesser(struct path_attr a, struct path_attr b)
{
	return (
	    struct path_attr){ a.mtu < b.mtu ? a.mtu : b.mtu, a.mbps < b.mbps ? a.mbps : b.mbps };
}

static bool
is_routed(const struct sa_view *v, const struct sa_end *e)
{
	return v->plan != NULL && e->sw < v->plan->snap->fab.n_switches;
}

/* The hop's switch has been entered; where does it go on?  The switch behind, or FM_NONE. */
static fm_sw
leave(const struct sa_view *v, uint16_t dlid, struct sa_hop *hop)
{
	const struct fm_tables *t = &v->tables;
	const struct fm_fabric *fab = &v->plan->snap->fab;
	fm_link l;

	hop->out_port = dlid < t->lft_stride ? t->lft[hop->sw][dlid] : FM_PORT_NONE;
	l = hop->out_port == FM_PORT_NONE ? FM_NONE : link_by(v, hop->sw, hop->out_port);
	if (l == FM_NONE)
		return FM_NONE;
	hop->attr = v->attr[v->link_attr[l]];
	return fab->link_to[l];
}

/* VL of an SL on the link that the hop leaves by. */
static uint8_t
vl_by(const struct sa_view *v, const struct sa_hop *hop, uint8_t sl)
{
	uint32_t node = v->sw_node[hop->sw];
	uint8_t vl[16];

	if (node == FM_NONE)
		return 0;
	sa_view_sl2vl(v, node, hop->in_port, hop->out_port, vl);
	return vl[sl & 15];
}

/* The port by which a switch is entered from the hop before. */
static uint8_t
entered_by(const struct sa_view *v, const struct sa_hop *from)
{
	const struct fm_fabric *fab = &v->plan->snap->fab;

	return fab->link_port[fab->link_rev[link_by(v, from->sw, from->out_port)]];
}

bool
sa_path_walk(const struct sa_view *v, uint32_t src, uint16_t dlid, struct sa_hop *hop, unsigned *n)
{
	const struct sa_end *from = &v->end[src], *to;
	uint32_t dst = sa_view_end_of_lid(v, dlid);
	uint8_t sl;
	fm_sw next;

	*n = 0;
	if (dst == FM_NONE || !is_routed(v, from))
		return false;
	to = &v->end[dst];
	sl = tables_sl(&v->tables, from->sw, dlid);
	hop[0] = (struct sa_hop){ .sw = from->sw, .in_port = from->sw_port };
	for (*n = 1; *n <= SA_MOST_HOPS; (*n)++) {
		struct sa_hop *at = &hop[*n - 1];

		next = leave(v, dlid, at);
		if (at->sw == to->sw && at->out_port == to->sw_port) {
			at->attr = v->attr[to->attr];
			at->vl = to->is_switch ? 0 : vl_by(v, at, sl);
			return true;
		}
		if (next == FM_NONE || *n == SA_MOST_HOPS)
			return false;
		at->vl = vl_by(v, at, sl);
		hop[*n] = (struct sa_hop){ .sw = next, .in_port = entered_by(v, at) };
	}
	return false;
}

/* What packets of an end to a LID find: by the rows, or step by step. */
static bool
carries(const struct sa_view *v, uint32_t src, uint16_t dlid, struct path_attr *attr)
{
	const struct sa_end *e = &v->end[src];
	struct sa_hop hop[SA_MOST_HOPS];
	unsigned n;
	uint8_t c;

	if (!is_routed(v, e) || v->rows == NULL)
		return false;
	if (v->rows->leaf[e->sw] != FM_NONE) {
		c = rows_class(v->rows, e->sw, dlid);
		*attr = v->rows->attr[v->rows->join[e->attr][c]];
		return c != ROWS_NO_PATH;
	}
	if (!sa_path_walk(v, src, dlid, hop, &n))
		return false;
	*attr = v->attr[e->attr];
	for (unsigned i = 0; i < n; i++)
		*attr = lesser(*attr, hop[i].attr);
	return true;
}

/* Two ends cabled to each other, without a switch. */
static bool
is_direct(const struct sa_view *v, const struct sa_end *a, const struct sa_end *b)
{
	const struct sa_port *p = &v->node[a->node]->port[a->port];

	return a->sw == FM_NONE && p->peer == b->node && p->peer_port == b->port;
}

/* Ports 0 of switches without hosts are no sources in the proof (verify.h). */
static bool
is_source(const struct sa_view *v, const struct sa_end *e)
{
	return !e->is_switch || v->rows->leaf[e->sw] != FM_NONE;
}

/* May packets return under the same SL?  Where only the forward direction is proven, if
 * it is the SL of the way back.  Between switches nothing is proven unless hosts send the same
 * ways. */
static bool
returns(const struct sa_view *v, const struct sa_end *a, uint16_t slid, const struct sa_end *b,
    uint16_t dlid, uint32_t dst)
{
	const struct fm_tables *t = &v->tables;
	struct path_attr attr;

	if (!carries(v, dst, slid, &attr))
		return false;
	if (a != b && a->is_switch && b->is_switch && !(is_source(v, a) && is_source(v, b)))
		return false;
	return !v->plan->forward_only || tables_sl(t, a->sw, dlid) == tables_sl(t, b->sw, slid);
}

bool
sa_path_find(
    const struct sa_view *v, uint32_t src, uint16_t slid, uint16_t dlid, struct sa_path *out)
{
	uint32_t dst = sa_view_end_of_lid(v, dlid);
	const struct sa_end *a = &v->end[src], *b;

	if (dst == FM_NONE)
		return false;
	b = &v->end[dst];
	if (is_direct(v, a, b) || (a->sw == FM_NONE && src == dst)) {
		*out = (struct sa_path){ .attr = v->attr[a->attr], .reversible = true };
		return true;
	}
	if (!carries(v, src, dlid, &out->attr))
		return false;
	out->sl = tables_sl(&v->tables, a->sw, dlid);
	out->reversible = returns(v, a, slid, b, dlid, dst);
	return true;
}
