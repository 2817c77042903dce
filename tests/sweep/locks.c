/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lab/adaptive/adaptive.h"
#include "lib/algo/scc.h"
#include "lib/arena.h"
#include "tests/sweep/locks_internal.h"

/* -------------------------------------------------------------- dependencies */

/* Since when packets may pass: maps that were others by then have had none. */
static int64_t
up_since(const struct locks *k, uint32_t node, unsigned in, unsigned out)
{
	const struct sim_fabric *f = fabric_of(k);
	uint32_t from = f->live[f->nodes[node].first_port + in];
	int64_t since = k->up[f->nodes[node].first_port + out];

	return from != SIM_NONE && k->up[from] > since ? k->up[from] : since;
}

/* VLs, a bit each, on which packets may leave: by maps that there were when they came or since. */
static uint32_t
vls_at(
    const struct locks *k, uint32_t node, unsigned in, unsigned out, unsigned sl, struct packets p)
{
	unsigned side = fabric_of(k)->nodes[node].n_ports + 1u;
	int64_t since = up_since(k, node, in, out);
	uint32_t vls = 0;

	for (size_t i = 0; i < k->maps[node].n; i++) {
		const struct past_maps *m = &k->maps[node].item[i];
		uint8_t two = m->vl != NULL ? m->vl[(in * side + out) * 8 + sl / 2] : 0;

		if (m->to == EVER ||
		    (m->to + k->life >= k->now && m->to > since && m->to >= p.first))
			vls |= 1u << (sl % 2 == 0 ? two >> 4 : two & 15);
	}
	return vls;
}

static bool
is_none(struct packets p)
{
	return p.sent == NEVER;
}

/* By which of our ports packets leave towards another switch; SIM_NONE: by none. */
static uint32_t
link_by(const struct locks *k, uint32_t node, uint8_t port)
{
	const struct sim_fabric *f = fabric_of(k);
	uint32_t here;

	if (port == 0 || port > f->nodes[node].n_ports)
		return SIM_NONE;
	here = f->nodes[node].first_port + port;
	return k->up[here] != EVER && rig_is_switch(k->rig, f->port_node[f->live[here]]) ? here
											 : SIM_NONE;
}

/* Packets that come to a switch go on by an entry that it has had; NONE: they cannot, or are
 * gone by now. */
static struct packets
go_by(const struct locks *k, uint32_t node, struct packets p, const struct past_entry *e,
    uint32_t *link)
{
	struct packets out;
	int64_t from;

	*link = link_by(k, node, e->port);
	if (*link == SIM_NONE)
		return NONE;
	from = e->from > k->up[*link] ? e->from : k->up[*link];
	out = (struct packets){ p.first > from ? p.first : from, p.sent < e->to ? p.sent : e->to };
	if (out.first > e->to || out.sent == NEVER ||
	    (out.sent != EVER && (out.sent + k->life < k->now || out.sent + k->life < from)))
		return NONE;
	return out;
}

/* They leave by a link, having come in by a port.  True: more of them than was known.  Those of
 * each VL by themselves: who comes by once more, on another VL, comes later. */
static bool
note_packets(struct locks *k, uint32_t link, unsigned sl, struct packets p, unsigned in)
{
	const struct sim_fabric *f = fabric_of(k);
	uint32_t vls = vls_at(k, f->port_node[link], in, port_number(f, link), sl, p);
	bool news = false;

	for (; vls != 0; vls &= vls - 1) {
		uint32_t at = (link * N_VLS + (uint32_t)__builtin_ctz(vls)) * N_SLS + sl;
		struct packets *on = &k->on[at];

		news = news || p.first < on->first || p.sent > on->sent;
		if (is_none(*on))
			ck_assert(fm_vec_push(&k->reached, at));
		on->first = p.first < on->first ? p.first : on->first;
		on->sent = p.sent > on->sent ? p.sent : on->sent;
	}
	return news;
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
		uint32_t link;
		struct packets p = go_by(k, node, (struct packets){ s->from, s->to }, e, &link);

		if (!is_none(p))
			note_packets(k, link, sl, p, port_number(f, far));
	}
}

static void
begin(struct locks *k)
{
	for (size_t i = 0; i < k->reached.n; i++)
		k->on[k->reached.item[i]] = NONE;
	k->reached.n = 0;
}

/* The last moment at which a host could send: who has no link, or only a new one, knows no SLs. */
static int64_t
could_send_until(const struct locks *k, uint32_t host)
{
	int64_t until = NEVER;

	for (size_t i = 0; i < k->sls[host].n; i++)
		if (k->sls[host].item[i].to > until)
			until = k->sls[host].item[i].to;
	return until;
}

/* The host replies to requests that came under these SLs. */
static void
reply_from(struct locks *k, uint32_t host, uint32_t lid, struct past_sls s)
{
	int64_t until = could_send_until(k, host);

	if (s.to > until)
		s.to = until;
	if (s.replies && s.to != NEVER)
		send_from(k, host, lid, &s, s.sl[lid * k->n_lids + host]);
}

/* All that hosts may send to a LID, and replies. */
static void
send_all(struct locks *k, uint32_t lid)
{
	for (uint32_t host = 1; host < k->n_lids; host++) {
		if (!is_host(k, host) || host == lid)
			continue;
		for (size_t i = 0; i < k->sls[host].n; i++)
			send_from(k, host, lid, &k->sls[host].item[i],
			    k->sls[host].item[i].sl[host * k->n_lids + lid]);
		for (size_t i = 0; is_host(k, lid) && i < k->sls[lid].n; i++)
			reply_from(k, host, lid, k->sls[lid].item[i]);
	}
}

static void
push_edges(struct locks *k, uint32_t lid, uint32_t from, uint32_t out, uint32_t vls)
{
	for (; vls != 0; vls &= vls - 1)
		ck_assert(fm_vec_push(&k->edges[lid],
		    ((struct edge){ from, out * N_VLS + (uint32_t)__builtin_ctz(vls) })));
}

/* Those at k->on[at].  edges: what they depend on, else whom they become. */
static bool
go_on_from(struct locks *k, uint32_t lid, uint32_t at, bool edges)
{
	const struct sim_fabric *f = fabric_of(k);
	uint32_t vertex = at / N_SLS, far = f->live[vertex / N_VLS], node = f->port_node[far];
	unsigned sl = at % N_SLS, in = port_number(f, far);
	bool news = false;

	for (size_t i = 0; i < k->entries[(size_t)node * k->n_lids + lid].n; i++) {
		const struct past_entry *e = &k->entries[(size_t)node * k->n_lids + lid].item[i];
		uint32_t out;
		struct packets p = go_by(k, node, k->on[at], e, &out);

		if (is_none(p))
			continue;
		if (edges)
			push_edges(
			    k, lid, vertex, out, vls_at(k, node, in, port_number(f, out), sl, p));
		else
			news = note_packets(k, out, sl, p, in) || news;
	}
	return news;
}

static void
go_on(struct locks *k, uint32_t lid)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < k->reached.n; i++) /* that are more and more */
			again = go_on_from(k, lid, k->reached.item[i], false) || again;
	}
	k->edges[lid].n = 0;
	for (size_t i = 0; i < k->reached.n; i++)
		go_on_from(k, lid, k->reached.item[i], true);
}

void
locks_follow_one(struct locks *k, uint32_t host, uint32_t lid, const struct past_sls *s, uint8_t sl)
{
	begin(k);
	send_from(k, host, lid, s, sl);
	go_on(k, lid);
}

void
locks_follow(struct locks *k, uint32_t lid)
{
	begin(k);
	send_all(k, lid);
	go_on(k, lid);
}

static void
follow_all(struct locks *k)
{
	past_find_owners(k);
	past_forget(k);
	for (uint32_t lid = 1; lid < k->n_lids; lid++)
		if (k->owner[lid].node != SIM_NONE)
			locks_follow(k, lid);
		else
			k->edges[lid].n = 0;
}

/* tell: who is in it. */
static bool
has_ring(struct locks *k, bool tell)
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
	if (ring && tell)
		locks_tell(k, component);
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
	if (!has_ring(k, false))
		return;
	follow_all(k);
	k->n_rings += has_ring(k, k->n_rings == 0);
}

static bool
sets_entries(const struct locks *k, const struct sim_trace *e)
{
	return e->method == WIRE_SET && e->attr == WIRE_ATTR_LFT && rig_is_switch(k->rig, e->node);
}

static bool
sets_groups(const struct locks *k, const struct sim_trace *e)
{
	return e->method == WIRE_SET && e->attr >= ADAPTIVE_INFO && e->attr <= ADAPTIVE_TABLE &&
	    rig_is_switch(k->rig, e->node);
}

static void
look_whom_to_silence(struct locks *k, const struct sim_trace *e)
{
	if (k->silent != SIM_NONE && k->rig->n_reports != k->silent_till) {
		sim_silence(k->rig->sim, k->silent, false);
		k->silent = SIM_NONE;
	}
	if (k->silence == 0 || !sets_entries(k, e) || --k->silence > 0)
		return;
	k->silent = e->node;
	k->silent_till = k->rig->n_reports;
	sim_silence(k->rig->sim, e->node, true);
}

/* Who has been without power has forgotten all without a Set. */
static bool
look_who_has_rebooted(struct locks *k)
{
	const struct sim_fabric *f = fabric_of(k);
	bool news = false;

	for (uint32_t n = 0; n < f->n_nodes; n++) {
		bool was_off = k->off[n];

		k->off[n] = f->nodes[n].off;
		if (!was_off || k->off[n] || !rig_is_switch(k->rig, n))
			continue;
		news = past_look_at_maps(k, n) || news;
		for (uint32_t lid = 1; lid < k->n_lids; lid++)
			news = past_look_at_entry(k, n, lid) || news;
	}
	return news;
}

void
locks_look(struct locks *k, const struct sim_trace *e)
{
	bool news = k->renamed;

	k->now = e->at_ns;
	k->renamed = false;
	look_whom_to_silence(k, e);
	past_look_who_is_told(k);
	news = past_look_at_links(k) || news;
	news = look_who_has_rebooted(k) || news;
	if (news)
		follow_all(k);
	if (sets_entries(k, e))
		for (uint32_t lid = e->modifier * 64; lid < e->modifier * 64 + 64; lid++)
			if (lid > 0 && lid < k->n_lids && past_look_at_entry(k, e->node, lid)) {
				locks_follow(k, lid);
				look_whether_empty(k, lid);
				news = true;
			}
	if (sets_groups(k, e))
		for (uint32_t lid = 1; lid < k->n_lids; lid++)
			if (past_look_at_entry(k, e->node, lid)) {
				locks_follow(k, lid);
				news = true;
			}
	if (e->method == WIRE_SET && rig_is_switch(k->rig, e->node) && e->attr == WIRE_ATTR_SL2VL &&
	    past_look_at_maps(k, e->node)) {
		follow_all(k);
		news = true;
	}
	if (news)
		judge(k);
}

static void
on_smp(void *arg, const struct sim_trace *e)
{
	locks_look(arg, e);
}

/* End-ports, and LID 0, which is nobody's. */
static uint32_t
count_lids(const struct rig *r)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < r->nl.n_nodes; i++)
		n += rig_is_switch(r, i) ? 1 : r->nl.nodes[i].n_ports;
	return n;
}

struct locks *
locks_watch(struct rig *r)
{
	struct locks *k = calloc(1, sizeof(*k));
	const struct sim_fabric *f = sim_fabric(r->sim);
	uint32_t n = r->nl.n_nodes, n_lids = count_lids(r);

	ck_assert_ptr_nonnull(k);
	k->rig = r;
	k->n_lids = n_lids;
	k->life = r->set.transition.packet_life_ms * 1000000;
	k->now = sim_now_ns(r->sim);
	for (uint32_t i = 0; i < n; i++)
		if (f->nodes[i].first_port + f->nodes[i].n_ports + 1u > k->n_ports)
			k->n_ports = f->nodes[i].first_port + f->nodes[i].n_ports + 1u;
	k->entries = calloc((size_t)n * n_lids, sizeof(*k->entries));
	k->maps = calloc(n, sizeof(*k->maps));
	k->sls = calloc(n_lids, sizeof(*k->sls));
	k->edges = calloc(n_lids, sizeof(*k->edges));
	k->owner = calloc(n_lids, sizeof(*k->owner));
	k->up = malloc(k->n_ports * sizeof(*k->up));
	k->away = calloc(n, sizeof(*k->away));
	k->told = calloc(n, sizeof(*k->told));
	k->off = calloc(n, sizeof(*k->off));
	k->on = malloc((size_t)k->n_ports * N_VLS * N_SLS * sizeof(*k->on));
	k->emptied = calloc(n_lids, 1);
	ck_assert(k->entries && k->maps && k->sls && k->edges && k->owner && k->up && k->away &&
	    k->told && k->off && k->on && k->emptied);
	for (size_t i = 0; i < (size_t)k->n_ports * N_VLS * N_SLS; i++)
		k->on[i] = NONE;
	past_find_owners(k);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t lid = 1; rig_is_switch(r, i) && lid < n_lids; lid++) {
			past_look_at_maps(k, i);
			past_look_at_entry(k, i, lid);
		}
	k->silent = SIM_NONE;
	r->on_up = past_on_up;
	r->on_up_arg = k;
	past_name_sls(k, sweeper_plan(r->sweeper), NEVER);
	past_look_who_is_told(k);
	for (uint32_t i = 0; i < k->n_ports; i++)
		k->up[i] = EVER;
	past_look_at_links(k);
	for (uint32_t i = 0; i < k->n_ports; i++)
		k->up[i] = k->up[i] == EVER ? EVER : NEVER;
	follow_all(k);
	sim_set_trace(r->sim, on_smp, k);
	return k;
}

void
locks_silence(struct locks *k, unsigned n)
{
	k->silence = n;
}

void
locks_mute(struct locks *k)
{
	past_name_none(k);
}

uint32_t
locks_n_rings(const struct locks *k)
{
	return k->n_rings;
}

const char *
locks_first(const struct locks *k)
{
	return k->first;
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

uint32_t
locks_n_cleared(const struct locks *k)
{
	return k->n_cleared;
}

void
locks_fini(struct locks *k)
{
	if (k == NULL)
		return;
	k->rig->on_up = NULL;
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
	free(k->up);
	free(k->away);
	free(k->told);
	free(k->off);
	free(k->on);
	fm_vec_fini(&k->reached);
	free(k->emptied);
	free(k);
}
