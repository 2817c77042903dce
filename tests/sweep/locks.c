/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/sweep/locks.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/sim/sma.h"
#include "lib/arena.h"
#include "lib/scc.h"
#include "lib/vec.h"

#define N_SLS 16u
#define N_VLS 16u
#define NO_SL 255u
#define EVER INT64_MAX
#define NEVER INT64_MIN

/* What an entry was, and when. */
struct past_entry {
	uint8_t port;
	int64_t from, to;
};

/* All maps of a switch. */
struct past_maps {
	uint8_t *vl; /* [in * (n_ports + 1) + out][8] as on the wire; NULL: zero */
	int64_t from, to;
};

/* SLs by which a host sends, of one plan. */
struct past_sls {
	uint8_t *sl;  /* [n_lids][n_lids] by LID of the host, LID; NO_SL: none; shared */
	bool replies; /* go under the SL of the request (else that is not promised) */
	int64_t from, to;
};

/* Packets of one LID and SL that may be on a link. */
struct packets {
	int64_t first; /* come by, at the earliest */
	int64_t sent;  /* at the latest */
};
#define NONE ((struct packets){ EVER, NEVER })

struct edge {
	uint32_t from, to; /* port * N_VLS + VL */
};

struct locks {
	struct rig *rig;
	uint32_t n_lids, n_ports;
	FM_VEC(struct past_entry) * entries; /* [n_nodes * n_lids] */
	FM_VEC(struct past_maps) * maps;     /* [n_nodes] */
	FM_VEC(struct past_sls) * sls;	     /* [n_lids] of hosts */
	FM_VEC(struct edge) * edges;	     /* [n_lids] */
	FM_VEC(uint8_t *) tables;	     /* of SLs, to be freed */
	struct sim_place *owner;	     /* [n_lids] */
	uint32_t *told;			     /* [n_nodes] */
	int64_t *awake;		  /* [n_ports] since when packets leave by it; EVER: they do not */
	struct packets *on;	  /* [n_ports * N_SLS] of the LID at hand */
	uint32_t *vls;		  /* [n_ports * N_SLS] a bit each, on which they are */
	bool *emptied;		  /* [n_lids] */
	const struct plan *named; /* by the SA */
	uint32_t n_reports, n_rings, n_looks;
	int64_t now, life;
};

static const struct sim_fabric *
fabric_of(const struct locks *k)
{
	return sim_fabric(k->rig->sim);
}

/* ------------------------------------------------------------------ the past */

static void
find_owners(struct locks *k)
{
	for (uint32_t lid = 0; lid < k->n_lids; lid++)
		k->owner[lid].node = SIM_NONE;
	for (uint32_t n = 0; n < k->rig->nl.n_nodes; n++) {
		struct wire_port_info info;
		unsigned p = rig_is_switch(k->rig, n) ? 0 : 1;

		sim_port_info(k->rig->sim, n, p, &info);
		if (info.lid != 0 && info.lid < k->n_lids)
			k->owner[info.lid] = (struct sim_place){ .node = n, .port = (uint8_t)p };
	}
}

static bool
is_host(const struct locks *k, uint32_t lid)
{
	return k->owner[lid].node != SIM_NONE && !rig_is_switch(k->rig, k->owner[lid].node);
}

/* The SA names the SLs of a plan: hosts may send by them from now on.  Of a host that the plan
 * does not know it names none, neither from it nor to it: such a host goes on as before. */
static void
name_sls(struct locks *k, const struct plan *p, int64_t from)
{
	const struct fm_fabric *fab = &p->snap->fab;
	bool replies = plan_sl_model(&k->rig->router, p) == VERIFY_BOTH;
	uint8_t *sl = malloc((size_t)k->n_lids * k->n_lids);

	ck_assert(sl != NULL && fm_vec_push(&k->tables, sl));
	memset(sl, NO_SL, (size_t)k->n_lids * k->n_lids);
	for (fm_end e = 0; e < fab->n_ends; e++) {
		uint32_t host = fab->end_lid[e];

		if (fab->end_kind[e] != FM_END_CA || fab->end_sw[e] == FM_NONE || !is_host(k, host))
			continue;
		for (uint32_t lid = 1; lid < k->n_lids && lid <= fab->max_lid; lid++)
			if (fab->lid_end[lid] != FM_NONE &&
			    fab->end_sw[fab->lid_end[lid]] != FM_NONE)
				sl[host * k->n_lids + lid] =
				    tables_sl(&p->tables->t, fab->end_sw[e], (uint16_t)lid);
		ck_assert(
		    fm_vec_push(&k->sls[host], ((struct past_sls){ sl, replies, from, EVER })));
	}
	k->named = p;
}

/* Who has been told asks, and sends by the newest only. */
static void
look_who_is_told(struct locks *k)
{
	for (uint32_t lid = 1; lid < k->n_lids; lid++) {
		uint32_t node = k->owner[lid].node, n;

		if (!is_host(k, lid))
			continue;
		n = fabric_port(fabric_of(k), node, 1)->n_reregister;
		for (size_t i = 0; n > k->told[node] && i + 1 < k->sls[lid].n; i++)
			if (k->sls[lid].item[i].to == EVER)
				k->sls[lid].item[i].to = k->now;
		k->told[node] = n;
	}
}

static void
look_at_sa(struct locks *k)
{
	const struct plan *p = sweeper_plan(k->rig->sweeper);

	if (k->n_reports == k->rig->n_reports)
		return;
	k->n_reports = k->rig->n_reports;
	if (k->rig->last.outcome == SWEEP_UP && p != k->named)
		name_sls(k, p, k->now);
}

/* True: some have come up or gone down. */
static bool
look_at_ports(struct locks *k)
{
	const struct sim_fabric *f = fabric_of(k);
	bool news = false;

	for (uint32_t port = 0; port < k->n_ports; port++) {
		uint32_t node = f->port_node[port];
		struct wire_port_info info;
		bool up;

		sim_port_info(k->rig->sim, node, port_number(f, port), &info);
		up = f->live[port] != SIM_NONE && info.port_state == WIRE_PORT_ACTIVE;
		if (up == (k->awake[port] != EVER))
			continue;
		k->awake[port] = up ? k->now : EVER;
		news = true;
	}
	return news;
}

/* True: it is another now. */
static bool
look_at_entry(struct locks *k, uint32_t node, uint32_t lid)
{
	size_t at = (size_t)node * k->n_lids + lid, n = k->entries[at].n;
	struct past_entry *e = k->entries[at].item;
	uint8_t now = sim_lft(k->rig->sim, node, (uint16_t)lid);

	if (n > 0 && e[n - 1].port == now)
		return false;
	if (n > 0)
		e[n - 1].to = k->now;
	ck_assert(fm_vec_push(
	    &k->entries[at], ((struct past_entry){ now, n > 0 ? k->now : NEVER, EVER })));
	return true;
}

static bool
look_at_maps(struct locks *k, uint32_t node)
{
	const struct sim_node *n = &fabric_of(k)->nodes[node];
	size_t bytes = ((size_t)n->n_ports + 1) * (n->n_ports + 1u) * 8, at = k->maps[node].n;
	struct past_maps m = { .from = at > 0 ? k->now : NEVER, .to = EVER };

	if (at > 0 && k->maps[node].item[at - 1].vl != NULL && n->sl2vl != NULL &&
	    memcmp(k->maps[node].item[at - 1].vl, n->sl2vl, bytes) == 0)
		return false;
	if (at > 0 && k->maps[node].item[at - 1].vl == NULL && n->sl2vl == NULL)
		return false;
	if (n->sl2vl != NULL) {
		m.vl = malloc(bytes);
		ck_assert_ptr_nonnull(m.vl);
		memcpy(m.vl, n->sl2vl, bytes);
	}
	if (at > 0)
		k->maps[node].item[at - 1].to = k->now;
	ck_assert(fm_vec_push(&k->maps[node], m));
	return true;
}

/* -------------------------------------------------------------- dependencies */

/* Since when packets may pass. */
static int64_t
awake_since(const struct locks *k, uint32_t node, unsigned in, unsigned out)
{
	const struct sim_fabric *f = fabric_of(k);
	uint32_t from = f->live[f->nodes[node].first_port + in];
	int64_t since = k->awake[f->nodes[node].first_port + out];

	return from != SIM_NONE && k->awake[from] > since ? k->awake[from] : since;
}

/* VLs, a bit each, on which packets may leave. */
static uint32_t
vls_at(const struct locks *k, uint32_t node, unsigned in, unsigned out, unsigned sl)
{
	unsigned side = fabric_of(k)->nodes[node].n_ports + 1u;
	int64_t since = awake_since(k, node, in, out);
	uint32_t vls = 0;

	for (size_t i = 0; i < k->maps[node].n; i++) {
		const struct past_maps *m = &k->maps[node].item[i];
		uint8_t two = m->vl != NULL ? m->vl[(in * side + out) * 8 + sl / 2] : 0;

		if (m->to == EVER || (m->to + k->life >= k->now && m->to > since))
			vls |= 1u << (sl % 2 == 0 ? two >> 4 : two & 15);
	}
	return vls;
}

/* Packets that come to a switch go on by an entry that it has had; NONE: they cannot, or are
 * gone by now. */
static struct packets
go_by(const struct locks *k, struct packets p, const struct past_entry *e)
{
	struct packets out = { p.first > e->from ? p.first : e->from,
		p.sent < e->to ? p.sent : e->to };

	if (p.first > e->to || out.sent == NEVER ||
	    (out.sent != EVER && (out.sent + k->life < k->now || out.sent + k->life < e->from)))
		return NONE;
	return out;
}

/* They leave by a link, having come in by a port.  True: more of them than was known. */
static bool
note_packets(struct locks *k, uint32_t link, unsigned sl, struct packets p, unsigned in)
{
	const struct sim_fabric *f = fabric_of(k);
	struct packets *on = &k->on[link * N_SLS + sl];
	bool news = p.first < on->first || p.sent > on->sent;

	on->first = p.first < on->first ? p.first : on->first;
	on->sent = p.sent > on->sent ? p.sent : on->sent;
	k->vls[link * N_SLS + sl] |= vls_at(k, f->port_node[link], in, port_number(f, link), sl);
	return news;
}

/* By which of our ports it leaves towards another switch; SIM_NONE: by none. */
static uint32_t
link_by(const struct locks *k, uint32_t node, uint8_t port)
{
	const struct sim_fabric *f = fabric_of(k);
	uint32_t here;

	if (port == 0 || port > f->nodes[node].n_ports)
		return SIM_NONE;
	here = f->nodes[node].first_port + port;
	return f->live[here] != SIM_NONE && k->awake[here] != EVER &&
		rig_is_switch(k->rig, f->port_node[f->live[here]])
	    ? here
	    : SIM_NONE;
}

static bool
is_none(struct packets p)
{
	return p.sent == NEVER;
}

static void
send_from(struct locks *k, uint32_t host, uint32_t lid, const struct past_sls *s, uint8_t sl)
{
	const struct sim_fabric *f = fabric_of(k);
	uint32_t far = f->live[f->nodes[k->owner[host].node].first_port + 1], node;

	if (sl == NO_SL || far == SIM_NONE || !rig_is_switch(k->rig, f->port_node[far]))
		return;
	node = f->port_node[far];
	for (size_t i = 0; i < k->entries[(size_t)node * k->n_lids + lid].n; i++) {
		const struct past_entry *e = &k->entries[(size_t)node * k->n_lids + lid].item[i];
		uint32_t link = link_by(k, node, e->port);
		struct packets p = go_by(k, (struct packets){ s->from, s->to }, e);

		if (link != SIM_NONE && !is_none(p) && p.first <= p.sent)
			note_packets(k, link, sl, p, port_number(f, far));
	}
}

/* All that hosts may send to a LID, and replies. */
static void
send_all(struct locks *k, uint32_t lid)
{
	for (uint32_t i = 0; i < k->n_ports * N_SLS; i++)
		k->on[i] = NONE;
	memset(k->vls, 0, k->n_ports * N_SLS * sizeof(*k->vls));
	for (uint32_t host = 1; host < k->n_lids; host++) {
		if (!is_host(k, host) || host == lid)
			continue;
		for (size_t i = 0; i < k->sls[host].n; i++)
			send_from(k, host, lid, &k->sls[host].item[i],
			    k->sls[host].item[i].sl[host * k->n_lids + lid]);
		for (size_t i = 0; is_host(k, lid) && i < k->sls[lid].n; i++)
			if (k->sls[lid].item[i].replies)
				send_from(k, host, lid, &k->sls[lid].item[i],
				    k->sls[lid].item[i].sl[lid * k->n_lids + host]);
	}
}

static bool
go_on_from(struct locks *k, uint32_t lid, uint32_t link, unsigned sl)
{
	const struct sim_fabric *f = fabric_of(k);
	uint32_t node = f->port_node[f->live[link]];
	bool news = false;

	for (size_t i = 0; i < k->entries[(size_t)node * k->n_lids + lid].n; i++) {
		const struct past_entry *e = &k->entries[(size_t)node * k->n_lids + lid].item[i];
		uint32_t out = link_by(k, node, e->port);
		struct packets p = go_by(k, k->on[link * N_SLS + sl], e);

		if (out != SIM_NONE && !is_none(p))
			news = note_packets(k, out, sl, p, port_number(f, f->live[link])) || news;
	}
	return news;
}

static void
push_edges(struct locks *k, uint32_t lid, uint32_t in, uint32_t vls_in, uint32_t out, uint32_t vls)
{
	for (unsigned a = 0; a < N_VLS; a++)
		for (unsigned b = 0; vls_in >> a & 1 && b < N_VLS; b++)
			if (vls >> b & 1)
				ck_assert(fm_vec_push(&k->edges[lid],
				    ((struct edge){ in * N_VLS + a, out * N_VLS + b })));
}

static void
list_edges(struct locks *k, uint32_t lid)
{
	const struct sim_fabric *f = fabric_of(k);

	k->edges[lid].n = 0;
	for (uint32_t link = 0; link < k->n_ports; link++)
		for (unsigned sl = 0; sl < N_SLS; sl++) {
			uint32_t node;

			if (is_none(k->on[link * N_SLS + sl]))
				continue;
			node = f->port_node[f->live[link]];
			for (size_t i = 0; i < k->entries[(size_t)node * k->n_lids + lid].n; i++) {
				const struct past_entry *e =
				    &k->entries[(size_t)node * k->n_lids + lid].item[i];
				uint32_t out = link_by(k, node, e->port);

				if (out == SIM_NONE ||
				    is_none(go_by(k, k->on[link * N_SLS + sl], e)))
					continue;
				push_edges(k, lid, link, k->vls[link * N_SLS + sl], out,
				    vls_at(k, node, port_number(f, f->live[link]),
					port_number(f, out), sl));
			}
		}
}

static void
follow(struct locks *k, uint32_t lid)
{
	bool again = true;

	send_all(k, lid);
	while (again) {
		again = false;
		for (uint32_t i = 0; i < k->n_ports * N_SLS; i++)
			if (!is_none(k->on[i]))
				again = go_on_from(k, lid, i / N_SLS, i % N_SLS) || again;
	}
	list_edges(k, lid);
}

static void
follow_all(struct locks *k)
{
	find_owners(k);
	for (uint32_t lid = 1; lid < k->n_lids; lid++)
		if (k->owner[lid].node != SIM_NONE)
			follow(k, lid);
		else
			k->edges[lid].n = 0;
}

static bool
has_ring(const struct locks *k)
{
	uint32_t n = k->n_ports * N_VLS, n_edges = 0, *first, *to, *component;
	struct fm_arena mem;
	bool ring;

	fm_arena_init(&mem, SIZE_MAX);
	for (uint32_t lid = 1; lid < k->n_lids; lid++)
		n_edges += (uint32_t)k->edges[lid].n;
	first = fm_arena_array(&mem, n + 2u, uint32_t);
	component = fm_arena_array(&mem, n + 1u, uint32_t);
	to = fm_arena_array(&mem, n_edges + 1u, uint32_t);
	ck_assert(first != NULL && component != NULL && to != NULL);
	for (uint32_t lid = 1; lid < k->n_lids; lid++)
		for (size_t i = 0; i < k->edges[lid].n; i++)
			first[k->edges[lid].item[i].from + 2]++;
	for (uint32_t i = 2; i < n + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t lid = 1; lid < k->n_lids; lid++)
		for (size_t i = 0; i < k->edges[lid].n; i++)
			to[first[k->edges[lid].item[i].from + 1]++] = k->edges[lid].item[i].to;
	ring = fm_scc(n, first, to, component, &mem) < n;
	fm_arena_fini(&mem);
	return ring;
}

/* ------------------------------------------------------------------- looking */

static void
look_whether_empty(struct locks *k, uint32_t lid)
{
	bool empty = true;

	for (uint32_t n = 0; empty && n < k->rig->nl.n_nodes; n++)
		empty = !rig_is_switch(k->rig, n) ||
		    link_by(k, n, sim_lft(k->rig->sim, n, (uint16_t)lid)) == SIM_NONE;
	k->emptied[lid] = k->emptied[lid] || empty;
}

/* What is left over from before may be gone by now. */
static void
judge(struct locks *k)
{
	k->n_looks++;
	if (!has_ring(k))
		return;
	follow_all(k);
	k->n_rings += has_ring(k);
}

static void
on_smp(void *arg, const struct sim_trace *e)
{
	struct locks *k = arg;
	const struct plan *named = k->named;
	bool news = false;

	k->now = e->at_ns;
	look_at_sa(k);
	look_who_is_told(k);
	if (look_at_ports(k) || k->named != named)
		follow_all(k);
	if (e->method == WIRE_SET && rig_is_switch(k->rig, e->node) && e->attr == WIRE_ATTR_LFT)
		for (uint32_t lid = e->modifier * 64; lid < e->modifier * 64 + 64; lid++)
			if (lid > 0 && lid < k->n_lids && look_at_entry(k, e->node, lid)) {
				follow(k, lid);
				look_whether_empty(k, lid);
				news = true;
			}
	if (e->method == WIRE_SET && rig_is_switch(k->rig, e->node) && e->attr == WIRE_ATTR_SL2VL &&
	    look_at_maps(k, e->node)) {
		follow_all(k);
		news = true;
	}
	if (news || k->named != named)
		judge(k);
}

struct locks *
locks_watch(struct rig *r, uint32_t n_lids)
{
	struct locks *k = calloc(1, sizeof(*k));
	const struct sim_fabric *f = sim_fabric(r->sim);
	uint32_t n = r->nl.n_nodes;

	ck_assert_ptr_nonnull(k);
	k->rig = r;
	k->n_lids = n_lids;
	k->life = r->set.packet_life_ms * 1000000;
	k->now = sim_now_ns(r->sim);
	for (uint32_t i = 0; i < n; i++)
		if (f->nodes[i].first_port + f->nodes[i].n_ports + 1u > k->n_ports)
			k->n_ports = f->nodes[i].first_port + f->nodes[i].n_ports + 1u;
	k->entries = calloc((size_t)n * n_lids, sizeof(*k->entries));
	k->maps = calloc(n, sizeof(*k->maps));
	k->sls = calloc(n_lids, sizeof(*k->sls));
	k->edges = calloc(n_lids, sizeof(*k->edges));
	k->owner = calloc(n_lids, sizeof(*k->owner));
	k->told = calloc(n, sizeof(*k->told));
	k->awake = malloc(k->n_ports * sizeof(*k->awake));
	k->on = calloc((size_t)k->n_ports * N_SLS, sizeof(*k->on));
	k->vls = calloc((size_t)k->n_ports * N_SLS, sizeof(*k->vls));
	k->emptied = calloc(n_lids, 1);
	ck_assert(k->entries && k->maps && k->sls && k->edges && k->owner && k->told && k->awake &&
	    k->on && k->vls && k->emptied);
	for (uint32_t port = 0; port < k->n_ports; port++)
		k->awake[port] = EVER;
	find_owners(k);
	look_at_ports(k);
	look_who_is_told(k);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t lid = 1; rig_is_switch(r, i) && lid < n_lids; lid++) {
			look_at_maps(k, i);
			look_at_entry(k, i, lid);
		}
	k->n_reports = r->n_reports;
	name_sls(k, sweeper_plan(r->sweeper), NEVER);
	follow_all(k);
	sim_set_trace(r->sim, on_smp, k);
	return k;
}

uint32_t
locks_n_rings(const struct locks *k)
{
	return k->n_rings;
}

uint32_t
locks_n_looks(const struct locks *k)
{
	return k->n_looks;
}

uint32_t
locks_n_emptied(const struct locks *k)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid < k->n_lids; lid++)
		n += k->emptied[lid];
	return n;
}

void
locks_fini(struct locks *k)
{
	if (k == NULL)
		return;
	for (uint32_t i = 0; i < k->rig->nl.n_nodes; i++) {
		for (uint32_t lid = 0; lid < k->n_lids; lid++)
			fm_vec_fini(&k->entries[(size_t)i * k->n_lids + lid]);
		for (size_t j = 0; j < k->maps[i].n; j++)
			free(k->maps[i].item[j].vl);
		fm_vec_fini(&k->maps[i]);
	}
	for (uint32_t lid = 0; lid < k->n_lids; lid++) {
		fm_vec_fini(&k->sls[lid]);
		fm_vec_fini(&k->edges[lid]);
	}
	for (size_t i = 0; i < k->tables.n; i++)
		free(k->tables.item[i]);
	fm_vec_fini(&k->tables);
	free(k->entries);
	free(k->maps);
	free(k->sls);
	free(k->edges);
	free(k->owner);
	free(k->told);
	free(k->awake);
	free(k->on);
	free(k->vls);
	free(k->emptied);
	free(k);
}
