/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/take_over.c - the master is gone, and all that it had is here: we rule before anything
 * is discovered.
 *
 * A discovery of a large fabric takes seconds, in which nobody would answer hosts.  So who has a
 * copy of the master (core/standby) asks only the SMs that it knows or the master knew, and its own
 * port.  It rules at once where each of them answers, none of them rules, and none is better.  Else
 * it is as without a copy: all is discovered first.  Discovery follows in either case, and meets an
 * SM that nobody knew of.
 *
 * One round trip, O(SMs).
 */
#include "core/sms/internal.h"

#define ANSWER_MS 100 /* who is slower than that is looked for by discovery */

static bool
has_succeeded(const struct sweeper *s)
{
	const struct ha *h = s->p.ha;

	return h->state == WIRE_SM_DISCOVERING &&
	    (h->handed_over || sms_is_dead(s, h->master.node, h->master.port));
}

static void
on_sm_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct ha_other o;

	if (status != TXN_OK)
		return;
	sm_judge(a, reply, &o);
	sm_note_asked(a->s, &o);
}

static void
on_own_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct wire_port_info info;

	if (status != TXN_OK)
		return;
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
	s->sm->rules_by = info.port_state == WIRE_PORT_ACTIVE ? info.lid : 0;
}

static bool
ask_one(struct sweeper *s, uint32_t node, uint8_t port, uint16_t attr, ask_done done)
{
	struct ask *a = ask_new(s, node, port);
	struct smp_route route;

	if (a == NULL)
		return false;
	if (!inv_route(&s->inv, node, port, &route)) {
		ask_drop(a);
		return false;
	}
	route.wait_ms = ANSWER_MS;
	if (attr == WIRE_ATTR_SM_INFO)
		sm_fill_question(s, a);
	ask_get(a, &route, attr, attr == WIRE_ATTR_SM_INFO ? 0 : port, done);
	return true;
}

/* The SM at a port, if it is neither ours nor the one that is dead; at INV_NONE: where we have met
 * nobody, so that all has to be discovered. */
static void
ask_sm(struct sweeper *s, uint32_t node, uint8_t port)
{
	if (node != INV_NONE &&
	    (sms_is_dead(s, node, port) || (node == s->inv.local && port == s->inv.local_port)))
		return;
	s->sm->n_to_answer++;
	if (node != INV_NONE)
		ask_one(s, node, port, WIRE_ATTR_SM_INFO, on_sm_info);
}

static bool
is_known(const struct sweeper *s, uint32_t node, uint8_t port)
{
	for (size_t i = 0; i < s->sm->others.n; i++)
		if (s->sm->others.item[i].node == node && s->sm->others.item[i].port == port)
			return true;
	return false;
}

/* Those that we know, and those besides that the master knew. */
static void
ask_sms(struct sweeper *s)
{
	const struct sweep_standbys *c = &s->p.standbys;
	const uint64_t *guid;
	size_t n = c->sms(c->arg, &guid);

	for (size_t i = 0; i < s->sm->others.n; i++)
		ask_sm(s, s->sm->others.item[i].node, s->sm->others.item[i].port);
	for (size_t i = 0; i < n; i++) {
		uint8_t port;
		uint32_t node = inv_find_port(&s->inv, guid[i], &port);

		if (!is_known(s, node, port))
			ask_sm(s, node, port);
	}
}

bool
sms_ask_before_rule(struct sweeper *s)
{
	if (s->p.standbys.has_copy == NULL || !has_succeeded(s) || s->inv.local == INV_NONE ||
	    !s->p.standbys.has_copy(s->p.standbys.arg) ||
	    !ask_one(s, s->inv.local, s->inv.local_port, WIRE_ATTR_PORT_INFO, on_own_port))
		return false;
	s->sm->rules_by = 0;
	s->sm->n_to_answer = 0;
	s->sm->asked_sms.n = 0;
	ask_sms(s);
	return true;
}

bool
sms_rule_at_once(struct sweeper *s)
{
	const struct sm_list *all = &s->sm->asked_sms;
	struct ha trial = *s->p.ha;
	uint32_t whom;

	if (!has_succeeded(s) || s->sm->rules_by == 0 || all->n < s->sm->n_to_answer)
		return false;
	for (size_t i = 0; i < all->n; i++)
		if (all->item[i].info.state == WIRE_SM_MASTER)
			return false;
	if (ha_decide(&trial, all->item, (uint32_t)all->n, &whom) != HA_MASTER)
		return false;
	inv_node(&s->inv, s->inv.local)->ports[s->inv.local_port].info.lid = s->sm->rules_by;
	return sms_decide(s);
}
