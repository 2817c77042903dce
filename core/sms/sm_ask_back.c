/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sms/sm_ask_back.c - a port that we know of no SM at asks who we are: who is it?
 *
 * OpenSM of late (3.3.23) shows its SM_Key to everybody and takes no notice of an SM that does not
 * show the same; one that has just been started asks us before we have asked it.  So its question
 * waits while we ask its port: PortInfo, whether there is an SM (IsSM), and that SM its SMInfo.
 * Another fmd wants a sum for an answer, which anybody may have, and does not wait: two that waited
 * for one another would not be answered.  It is asked all the same, since it may be all that tells
 * us that there is another master: trap 144 goes to the one whose LID is in the port.
 *
 * A port is asked ten times a second at most, and so many at a time; who asks beyond that is a
 * stranger.
 */
#include "core/sms/internal.h"

#define ASK_AGAIN_MS 100

/* One that waits for what is asked at the port; NULL: nothing is being asked there. */
static struct sm_guest *
guest_at(struct sweeper *s, uint32_t node, uint8_t port)
{
	for (unsigned i = 0; i < SM_GUESTS; i++) {
		struct sm_guest *g = &s->sm->guests[i];

		if (g->waits && g->node == node && g->port == port)
			return g;
	}
	return NULL;
}

static void
answer(struct sweeper *s, struct sm_guest *g, const struct ha_other *from)
{
	struct wire_header h;

	g->waits = false;
	if (g->answered)
		return;
	wire_header_get(g->mad.bytes, &h);
	sm_answer(s, &g->mad, &h, from, 0);
}

/* All who wait for what was asked at the port. */
static void
serve(struct sweeper *s, uint32_t node, uint8_t port, const struct ha_other *from)
{
	struct sm_guest *g;

	while ((g = guest_at(s, node, port)) != NULL)
		answer(s, g, from);
}

/* The port is not any more where it was asked: discovery, which has found that, will tell. */
static void
put_off(struct sweeper *s, uint32_t node, uint8_t port)
{
	struct sm_guest *g;

	while ((g = guest_at(s, node, port)) != NULL)
		if (!g->answered && sm_will_look(s))
			g->node = INV_NONE;
		else
			answer(s, g, NULL);
}

/* Two rule: one may be gone, and leave what it has written, before a sweep by itself finds it. */
static void
look_whether_it_rules(struct sweeper *s, const struct ha_other *o)
{
	if (s->p.ha->state != WIRE_SM_MASTER || o->trust != HA_OURS ||
	    o->info.state != WIRE_SM_MASTER)
		return;
	s->rule.others = OTHERS_RULED;
	sweeper_request(s, SWEEP_HEAVY, "another master is on the subnet");
}

static void
on_sm_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct ha_other o;

	if (status == TXN_CANCELLED) {
		put_off(a->s, a->node, a->port);
		return;
	}
	if (status != TXN_OK) {
		serve(a->s, a->node, a->port, NULL);
		return;
	}
	sm_judge(a, reply, &o);
	sm_note(a->s, &o);
	look_whether_it_rules(a->s, &o);
	serve(a->s, a->node, a->port, &o);
}

static void
on_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	uint32_t node = a->node;
	uint8_t port = a->port;
	struct wire_port_info info;
	struct smp_route route;

	if (status == TXN_CANCELLED) {
		put_off(s, node, port);
		return;
	}
	if (status == TXN_OK) {
		wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
		/* it may have told another master of it (trap 144) */
		inv_node(&s->inv, node)->ports[port].info.capability_mask = info.capability_mask;
	}
	if (status == TXN_OK && (info.capability_mask & WIRE_CAP_IS_SM) != 0 &&
	    (a = sm_ask_beside(s, node, port, &route)) != NULL) {
		sm_fill_question(s, a);
		ask_get(a, &route, WIRE_ATTR_SM_INFO, 0, on_sm_info);
	} else {
		serve(s, node, port, NULL);
	}
}

bool
sm_will_look(const struct sweeper *s)
{
	return s->run.phase == PHASE_IDLE ? s->run.wanted != SWEEP_NONE
					  : s->run.phase <= PHASE_OTHER_SMS;
}

bool
sm_hold(struct sweeper *s, const struct mad *m)
{
	for (unsigned i = 0; i < SM_GUESTS && !s->sm->serves_early; i++)
		if (!s->sm->guests[i].waits) {
			s->sm->guests[i] =
			    (struct sm_guest){ .mad = *m, .node = INV_NONE, .waits = true };
			return true;
		}
	return false;
}

/* A place for one that asks from the port; NULL: there is none, or the port was asked just now. */
static struct sm_guest *
find_room(struct sweeper *s, uint32_t node, uint8_t port)
{
	bool is_asked = guest_at(s, node, port) != NULL;
	int64_t now = sweeper_clock_ms(s);
	struct sm_guest *room = NULL;

	for (unsigned i = 0; i < SM_GUESTS; i++) {
		struct sm_guest *g = &s->sm->guests[i];

		if (g->waits)
			continue;
		if (!g->used || now - g->asked_ms >= ASK_AGAIN_MS)
			room = g;
		else if (!is_asked && g->node == node && g->port == port)
			return NULL;
	}
	return room;
}

/* The same question once more: it gets the answer to the first. */
static bool
is_repeated(struct sweeper *s, const struct mad *m, uint32_t node, uint8_t port)
{
	struct wire_header now, was;

	wire_header_get(m->bytes, &now);
	for (unsigned i = 0; i < SM_GUESTS; i++) {
		const struct sm_guest *g = &s->sm->guests[i];

		wire_header_get(g->mad.bytes, &was);
		if (g->waits && !g->answered && g->node == node && g->port == port &&
		    was.tid == now.tid)
			return true;
	}
	return false;
}

bool
sm_ask_back(struct sweeper *s, const struct mad *m, uint32_t node, uint8_t port, bool answered)
{
	bool is_asked = guest_at(s, node, port) != NULL;
	struct sm_guest *room;
	struct smp_route route;
	struct ask *a;

	if (is_asked && (answered || is_repeated(s, m, node, port)))
		return true;
	room = find_room(s, node, port);
	if (room == NULL)
		return false;
	*room = (struct sm_guest){ .mad = *m,
		.node = node,
		.port = port,
		.asked_ms = sweeper_clock_ms(s),
		.waits = true,
		.used = true,
		.answered = answered };
	if (is_asked)
		return true;
	a = sm_ask_beside(s, node, port, &route);
	if (a == NULL)
		room->waits = false;
	else
		ask_get(a, &route, WIRE_ATTR_PORT_INFO,
		    inv_is_switch(inv_node(&s->inv, node)) ? 0 : port, on_port);
	return a != NULL;
}
