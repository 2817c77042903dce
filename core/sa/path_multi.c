/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sa/path_multi.c - MultiPathRecord: paths between several ports, as far
 * apart as can be, and GetTraceTable: what a path leads through.
 *
 * With IndependenceSelector paths are taken one by one, each time the one that
 * shares least with those taken: a host (system, node, port) weighs more than a
 * switch, a switch more than a cable.  O(paths wanted * candidates * hops).
 */
#include <stdlib.h>

#include "core/sa/path_query.h"
#include "lib/vec.h"

#define MOST_CANDIDATES 1024 /* a share for each pair of ports: 32 x 32 is the most of MOST_GIDS */
#define MOST_GIDS 64
#define ALL_GIDS 127
#define WEIGHT_SYSTEM 65536
#define WEIGHT_NODE 16384
#define WEIGHT_PORT 4096
#define WEIGHT_SWITCH 64
#define WEIGHT_CABLE 1

struct candidate {
	struct sa_path_record r;
	uint32_t src, dst;
	uint32_t shared; /* with those taken */
	bool taken;
	unsigned n_hops;
	struct sa_hop hop[SA_MOST_HOPS];
};

struct choice {
	FM_VEC(struct candidate *) all;
	const struct sa_view *view;
	uint32_t src, dst; /* of what is being added */
	bool no_memory;
};

/* ---------------------------------------------------------------- candidates */

static bool
keep(void *arg, const struct sa_path_record *r)
{
	struct choice *c = arg;
	struct candidate *one = calloc(1, sizeof(*one));

	if (one == NULL || !fm_vec_push(&c->all, one)) {
		free(one);
		c->no_memory = true;
		return false;
	}
	one->r = *r;
	one->src = c->src;
	one->dst = c->dst;
	sa_path_walk(c->view, c->src, r->dlid, one->hop, &one->n_hops);
	return c->all.n < MOST_CANDIDATES;
}

static void
forget(struct choice *c)
{
	for (size_t i = 0; i < c->all.n; i++)
		free(c->all.item[i]);
	fm_vec_fini(&c->all);
}

/* ---------------------------------------------------------------- independence */

static uint32_t
shared_end(const struct sa_view *v, uint32_t a, uint32_t b)
{
	const struct wire_node_info *x = &v->node[v->end[a].node]->info,
				    *y = &v->node[v->end[b].node]->info;
	uint32_t n = 0;

	if (a == b)
		n += WEIGHT_PORT;
	if (x->node_guid == y->node_guid)
		n += WEIGHT_NODE;
	if (x->system_guid == y->system_guid)
		n += WEIGHT_SYSTEM;
	return n;
}

static uint32_t
shared_way(const struct candidate *a, const struct candidate *b)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < a->n_hops; i++)
		for (unsigned k = 0; k < b->n_hops; k++)
			if (a->hop[i].sw == b->hop[k].sw)
				n += WEIGHT_SWITCH +
				    (a->hop[i].out_port == b->hop[k].out_port ? WEIGHT_CABLE : 0);
	return n;
}

/* The one that shares least; the first of equals.  NULL: all are taken. */
static struct candidate *
most_apart(const struct choice *c)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < c->all.n; i++)
		if (!c->all.item[i]->taken &&
		    (best == NULL || c->all.item[i]->shared < best->shared))
			best = c->all.item[i];
	return best;
}

static void
choose_candidate(struct choice *c, struct candidate *one)
{
	one->taken = true;
	for (size_t i = 0; i < c->all.n; i++) {
		struct candidate *o = c->all.item[i];

		if (!o->taken)
			o->shared += shared_end(c->view, one->src, o->src) +
			    shared_end(c->view, one->dst, o->dst) + shared_way(one, o);
	}
}

/* ---------------------------------------------------------------- MultiPathRecord */

/* What a MultiPathRecord asks, as a PathRecord template. */
static void
as_path_query(struct sa_query *q, struct path_query *p)
{
	static const struct {
		uint64_t theirs, ours;
	} bits[] = { { SA_MPR_REVERSIBLE, SA_PR_REVERSIBLE }, { SA_MPR_PKEY, SA_PR_PKEY },
		{ SA_MPR_QOS_CLASS, SA_PR_QOS_CLASS }, { SA_MPR_SL, SA_PR_SL },
		{ SA_MPR_MTU_SELECTOR, SA_PR_MTU_SELECTOR }, { SA_MPR_MTU, SA_PR_MTU },
		{ SA_MPR_RATE_SELECTOR, SA_PR_RATE_SELECTOR }, { SA_MPR_RATE, SA_PR_RATE },
		{ SA_MPR_LIFE_SELECTOR, SA_PR_LIFE_SELECTOR }, { SA_MPR_LIFE, SA_PR_LIFE },
		{ SA_MPR_TCLASS, SA_PR_TCLASS }, { SA_MPR_FLOW_LABEL, SA_PR_FLOW_LABEL },
		{ SA_MPR_SERVICE_ID, SA_PR_SERVICE_ID } };
	const struct sa_multi_path_record *m = &q->want.multi_path;

	*p = (struct path_query){ .q = q,
		.view = q->view,
		.most = MOST_CANDIDATES / ((unsigned)m->n_sgids * m->n_dgids) };
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if ((q->h.mask & bits[i].theirs) == bits[i].theirs)
			p->mask |= bits[i].ours;
	p->want = (struct sa_path_record){ .reversible = m->reversible,
		.pkey = m->pkey,
		.qos_class = m->qos_class,
		.sl = m->sl,
		.mtu_selector = m->mtu_selector,
		.mtu = m->mtu,
		.rate_selector = m->rate_selector,
		.rate = m->rate,
		.life_selector = m->life_selector,
		.life = m->life,
		.tclass = m->tclass,
		.flow_label = m->flow_label,
		.service_id = (uint64_t)m->service_id_8msb << 56 | m->service_id_56lsb };
}

/* The ends of n GIDs from the i-th in the request on. */
static uint16_t
read_gids(const struct sa_query *q, unsigned i, unsigned n, struct path_ends *ends)
{
	for (unsigned k = 0; k < n; k++) {
		struct sa_gid gid = sa_gid_get(q->data + SA_MULTI_PATH_GIDS_AT + 16u * (i + k));
		uint16_t status = path_ends_of_gid(q, gid, &ends[k]);

		if (status != SA_OK)
			return status;
	}
	return SA_OK;
}

static void
collect(const struct path_query *p, const struct path_ends *from, unsigned n_from,
    const struct path_ends *to, unsigned n_to, struct choice *c)
{
	for (unsigned s = 0; s < n_from; s++)
		for (unsigned d = 0; d < n_to; d++) {
			c->src = from[s].first;
			c->dst = to[d].first;
			if (from[s].abroad || !sa_may_see(p->q, c->src) ||
			    !sa_may_see(p->q, c->dst))
				continue;
			if (!path_between(p, c->src, &from[s], c->dst, &to[d], keep, c))
				return;
		}
}

uint16_t
sa_get_multi_paths(struct sa_query *q)
{
	const struct sa_multi_path_record *m = &q->want.multi_path;
	struct path_ends ends[MOST_GIDS];
	struct choice c = { .view = q->view };
	struct path_query p;
	uint32_t most = ALL_GIDS;
	uint16_t status;

	if ((q->h.mask & (SA_MPR_N_SGIDS | SA_MPR_N_DGIDS)) != (SA_MPR_N_SGIDS | SA_MPR_N_DGIDS) ||
	    m->n_sgids == 0 || m->n_dgids == 0)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (m->n_sgids + m->n_dgids > MOST_GIDS ||
	    q->n_data < SA_MULTI_PATH_GIDS_AT + 16u * (m->n_sgids + m->n_dgids))
		return SA_REQ_INVALID;
	if ((q->h.mask & SA_MPR_N_PATHS) != 0)
		most = m->n_paths;
	status = read_gids(q, 0, m->n_sgids + m->n_dgids, ends);
	if (status != SA_OK)
		return status;
	as_path_query(q, &p);
	collect(&p, ends, m->n_sgids, ends + m->n_sgids, m->n_dgids, &c);
	q->answer = sa_record_of(SA_PATH_RECORD);
	while (!c.no_memory && q->n_records < most) {
		struct candidate *one = most_apart(&c);

		if (one == NULL)
			break;
		one->r.preference = (uint8_t)q->n_records;
		if (!sa_add(q, &one->r))
			break;
		if ((q->h.mask & SA_MPR_INDEPENDENCE) != 0 && m->independence != 0)
			choose_candidate(&c, one);
		one->taken = true;
		q->n_looked_at += (uint32_t)c.all.n;
	}
	forget(&c);
	return c.no_memory ? SA_NO_RESOURCES : SA_OK;
}

/* ---------------------------------------------------------------- TraceRecord */

static uint64_t
port_id(const struct sa_node *n, unsigned port)
{
	return n->info.node_type == WIRE_NODE_SWITCH ? n->info.port_guid : n->port[port].guid;
}

static bool
add_trace(struct sa_query *q, uint32_t slot, unsigned in, unsigned out)
{
	const struct sa_node *n = q->view->node[slot];
	struct sa_trace_record r = { .gid_prefix = q->view->set.gid_prefix,
		.generation = (uint16_t)q->view->number,
		.node_type = n->info.node_type,
		.node_id = n->info.node_guid,
		.chassis_id = n->info.system_guid,
		.entry_port_id = in != 0 ? port_id(n, in) : 0,
		.exit_port_id = out != 0 ? port_id(n, out) : 0,
		.entry_port = (uint8_t)in,
		.exit_port = (uint8_t)out };

	return sa_add(q, &r);
}

static uint16_t
trace(struct sa_query *q, uint32_t src, uint32_t dst, uint16_t dlid)
{
	const struct sa_view *v = q->view;
	const struct sa_end *a = &v->end[src], *b = &v->end[dst];
	struct sa_hop hop[SA_MOST_HOPS];
	struct sa_path path;
	unsigned n = 0;

	if (!sa_path_find(v, src, a->lid, dlid, &path))
		return SA_NO_RECORDS;
	if (a->sw != FM_NONE && !sa_path_walk(v, src, dlid, hop, &n))
		return SA_NO_RECORDS;
	q->answer = sa_record_of(SA_TRACE_RECORD);
	if (!a->is_switch && !add_trace(q, a->node, 0, a->port))
		return SA_OK;
	for (unsigned i = 0; i < n; i++)
		if (!add_trace(q, v->sw_node[hop[i].sw], hop[i].in_port, hop[i].out_port))
			return SA_OK;
	if (!b->is_switch)
		add_trace(q, b->node, b->port, 0);
	return SA_OK;
}

/* The query is a PathRecord that names one path. */
uint16_t
sa_get_traces(struct sa_query *q)
{
	struct path_query p = {
		.q = q, .view = q->view, .want = q->want.path, .mask = q->h.mask, .most = 1
	};
	struct path_ends from, to;
	uint16_t status = path_ends_source(&p, &from);

	if (status == SA_OK)
		status = path_ends_dest(&p, &to);
	if (status != SA_OK)
		return status;
	if (to.last - to.first != 1 || from.last - from.first != 1)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (!sa_may_see(q, from.first) || !sa_may_see(q, to.first) ||
	    sa_view_shared_pkey(q->view, from.first, to.first, 0) == 0)
		return SA_NO_RECORDS;
	return trace(q, from.first, to.first,
	    (uint16_t)(q->view->end[to.first].lid + (to.offset < 0 ? 0 : to.offset)));
}
