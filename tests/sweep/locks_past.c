/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What switches held and hosts knew, and when.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lab/adaptive/adaptive.h"
#include "lib/bitset.h"
#include "tests/sweep/locks_internal.h"

void
past_find_owners(struct locks *k)
{
	for (uint32_t lid = 0; lid < k->n_lids; lid++)
		k->owner[lid].node = SIM_NONE;
	for (uint32_t n = 0; n < k->rig->nl.n_nodes; n++) {
		struct wire_port_info info;
		unsigned p = rig_is_switch(k->rig, n) ? 0 : 1;

		sim_port_info(k->rig->sim, n, p, &info);
		ck_assert_uint_lt(info.lid, k->n_lids);
		if (info.lid != 0)
			k->owner[info.lid] = (struct sim_place){ .node = n, .port = (uint8_t)p };
	}
}

/* Do replies go under the SL of the request?  Else that is not promised. */
static bool
proves_replies(const struct locks *k, const struct plan *p)
{
	return plan_sl_model(&k->rig->router, p) == VERIFY_BOTH;
}

/* A table of SLs without any. */
static uint8_t *
add_table(struct locks *k)
{
	uint8_t *sl = malloc((size_t)k->n_lids * k->n_lids);

	ck_assert(sl != NULL && fm_vec_push(&k->tables, sl));
	memset(sl, NO_SL, (size_t)k->n_lids * k->n_lids);
	return sl;
}

void
past_name_none(struct locks *k)
{
	k->named = NO_PLAN;
	k->named_replies = false;
	add_table(k);
}

/* The SA names the SLs of a plan: hosts may send by them from now on.  Of a host that the plan
 * does not know it names none, neither from it nor to it: such a host goes on as before. */
void
past_name_sls(struct locks *k, const struct plan *p, int64_t from)
{
	const struct fm_fabric *fab = &p->snap->fab;
	uint8_t *sl = add_table(k);

	k->named = p->number;
	k->named_replies = proves_replies(k, p);
	for (fm_end e = 0; e < fab->n_ends; e++) {
		uint32_t host = fab->end_lid[e];

		if (fab->end_kind[e] != FM_END_CA || fab->end_sw[e] == FM_NONE || !is_host(k, host))
			continue;
		for (uint32_t lid = 1; lid < k->n_lids && lid <= fab->max_lid; lid++)
			if (fab->lid_end[lid] != FM_NONE &&
			    fab->end_sw[fab->lid_end[lid]] != FM_NONE)
				sl[host * k->n_lids + lid] =
				    tables_sl(&p->tables->t, fab->end_sw[e], (uint16_t)lid);
		ck_assert(fm_vec_push(
		    &k->sls[host], ((struct past_sls){ sl, k->named_replies, from, EVER })));
	}
}

/* A host goes on by what the SA names now, and by nothing else.  By nothing at all if it is not
 * in the plan. */
static void
ask(struct locks *k, uint32_t lid)
{
	uint8_t *newest = k->tables.item[k->tables.n - 1];
	bool knows = false;

	for (size_t i = 0; i < k->sls[lid].n; i++) {
		struct past_sls *s = &k->sls[lid].item[i];

		if (s->to == EVER && s->sl != newest)
			s->to = k->now;
		knows = knows || (s->to == EVER && s->sl == newest);
	}
	if (!knows)
		ck_assert(fm_vec_push(
		    &k->sls[lid], ((struct past_sls){ newest, k->named_replies, k->now, EVER })));
}

/* Who has been told asks, and sends by the newest only. */
void
past_look_who_is_told(struct locks *k)
{
	for (uint32_t lid = 1; lid < k->n_lids; lid++) {
		uint32_t node = k->owner[lid].node, n;

		if (!is_host(k, lid))
			continue;
		n = fabric_port(fabric_of(k), node, 1)->n_reregister;
		if (n > k->told[node])
			ask(k, lid);
		k->told[node] = n;
	}
}

void
past_on_up(void *arg, const struct plan *p)
{
	struct locks *k = arg;

	if (p == NULL || p->number == k->named)
		return;
	past_name_sls(k, p, sim_now_ns(k->rig->sim));
	k->renamed = true;
}

/* True: it is another now. */
bool
past_look_at_entry(struct locks *k, uint32_t node, uint32_t lid)
{
	size_t at = (size_t)node * k->n_lids + lid, n = k->entries[at].n;
	uint8_t lft = sim_lft(k->rig->sim, node, (uint16_t)lid);
	const uint8_t *group = adaptive_ports(fabric_of(k)->nodes[node].adaptive, (uint16_t)lid);
	uint64_t now[4] = { 0 };
	bool news = false;

	now[lft / 64] = UINT64_C(1) << (lft % 64);
	for (unsigned p = 0; group != NULL && p < 256; p++)
		now[p / 64] |= (uint64_t)(group[p / 8] >> (p % 8) & 1) << (p % 64);
	for (size_t i = 0; i < n; i++) {
		struct past_entry *e = &k->entries[at].item[i];

		if (e->to != EVER)
			continue;
		if (fm_bit_test(now, e->port)) {
			fm_bit_clear(now, e->port); /* as before */
			continue;
		}
		e->to = k->now;
		news = true;
	}
	FM_EACH_BIT (port, now, 256) {
		ck_assert(fm_vec_push(&k->entries[at],
		    ((struct past_entry){ (uint8_t)port, n > 0 ? k->now : NEVER, EVER })));
		k->n_cleared += n > 0 && port == FM_PORT_NONE;
		news = true;
	}
	return news;
}

bool
past_look_at_maps(struct locks *k, uint32_t node)
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

static bool
is_up(const struct sim_fabric *f, uint32_t port)
{
	return f->live[port] != SIM_NONE && port_state(&f->ports[port]) == WIRE_PORT_ACTIVE &&
	    port_state(&f->ports[f->live[port]]) >= WIRE_PORT_ARMED;
}

/* Who boots knows nothing. */
static void
look_at_host(struct locks *k, uint32_t lid)
{
	uint32_t node = k->owner[lid].node;
	unsigned state = port_state(fabric_port(fabric_of(k), node, 1));

	for (size_t i = 0; state < WIRE_PORT_ARMED && i < k->sls[lid].n; i++)
		if (k->sls[lid].item[i].to == EVER)
			k->sls[lid].item[i].to = k->now;
	if (k->away[node] && state == WIRE_PORT_ACTIVE)
		ask(k, lid);
	k->away[node] = state < WIRE_PORT_ARMED || (k->away[node] && state < WIRE_PORT_ACTIVE);
}

bool
past_look_at_links(struct locks *k)
{
	const struct sim_fabric *f = fabric_of(k);
	bool news = false;

	for (uint32_t i = 0; i < k->n_ports; i++) {
		bool was = k->up[i] != EVER, is = is_up(f, i);

		if (is && !was)
			k->up[i] = k->now;
		else if (!is)
			k->up[i] = EVER;
		news = news || (is && !was);
	}
	for (uint32_t lid = 1; lid < k->n_lids; lid++)
		if (is_host(k, lid))
			look_at_host(k, lid);
	return news;
}

#define FORGET(vec, at_forget) \
	do { \
		size_t n_left = 0; \
\
		for (size_t i_ = 0; i_ < (vec)->n; i_++) \
			if ((vec)->item[i_].to == EVER || (vec)->item[i_].to + k->life >= k->now) \
				(vec)->item[n_left++] = (vec)->item[i_]; \
			else \
				at_forget; \
		(vec)->n = n_left; \
	} while (0)

void
past_forget(struct locks *k)
{
	uint32_t n = k->rig->nl.n_nodes;

	for (size_t i = 0; i < (size_t)n * k->n_lids; i++)
		FORGET(&k->entries[i], (void)0);
	for (uint32_t i = 0; i < n; i++)
		FORGET(&k->maps[i], free(k->maps[i].item[i_].vl));
	for (uint32_t lid = 0; lid < k->n_lids; lid++)
		FORGET(&k->sls[lid], (void)0);
}
