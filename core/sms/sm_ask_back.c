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

static struct sm_guest *
guest_of(struct sweeper *s, const struct ask *a)
{
	for (unsigned i = 0; i < SM_GUESTS; i++) {
		struct sm_guest *g = &s->sm->guests[i];

		if (g->waits && g->node == a->node && g->port == a->port)
			return g;
	}
	return NULL;
}

static void
serve(struct sweeper *s, struct sm_guest *g, const struct ha_other *from)
{
	struct wire_header h;

	g->waits = false;
	if (g->answered)
		return;
	wire_header_get(g->mad.bytes, &h);
	sm_answer(s, &g->mad, &h, from, 0);
}

static struct ask *
ask_guest(struct sweeper *s, const struct sm_guest *g, struct smp_route *route)
{
	struct ask *a;

	if (!inv_route(&s->inv, g->node, g->port, route))
		return NULL;
	a = ask_new(s, g->node, g->port);
	if (a != NULL)
		a->nobody_waits = true;
	return a;
}

static void
on_sm_info(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sm_guest *g = guest_of(a->s, a);
	struct ha_other o;

	if (g == NULL)
		return;
	if (status == TXN_CANCELLED) {
		g->waits = false;
		return;
	}
	if (status != TXN_OK) {
		serve(a->s, g, NULL);
		return;
	}
	sm_judge(a, reply, &o);
	sm_note(a->s, &o);
	serve(a->s, g, &o);
}

static void
on_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct sweeper *s = a->s;
	struct sm_guest *g = guest_of(s, a);
	struct wire_port_info info;
	struct smp_route route;

	if (g == NULL)
		return;
	if (status == TXN_CANCELLED) { /* memory is out, or we end */
		g->waits = false;
		return;
	}
	if (status == TXN_OK) {
		wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
		/* it may have told another master of it (trap 144) */
		inv_node(&s->inv, a->node)->ports[a->port].info.capability_mask =
		    info.capability_mask;
	}
	if (status == TXN_OK && (info.capability_mask & WIRE_CAP_IS_SM) != 0 &&
	    (a = ask_guest(s, g, &route)) != NULL) {
		sm_fill_question(s, a);
		ask_get(a, &route, WIRE_ATTR_SM_INFO, 0, on_sm_info);
	} else {
		serve(s, g, NULL);
	}
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

bool
sm_ask_back(struct sweeper *s, const struct mad *m, uint32_t node, uint8_t port, bool answered)
{
	int64_t now = sweeper_clock_ms(s);
	struct sm_guest *room = NULL;
	struct smp_route route;
	struct ask *a;

	for (unsigned i = 0; i < SM_GUESTS; i++) {
		struct sm_guest *g = &s->sm->guests[i];
		bool is_old = !g->waits && (!g->used || now - g->asked_ms >= ASK_AGAIN_MS);

		if (!is_old && g->node == node && g->port == port)
			return g->waits; /* a repeated question gets the answer to the first */
		if (is_old)
			room = g;
	}
	if (room == NULL)
		return false;
	*room = (struct sm_guest){ .mad = *m,
		.node = node,
		.port = port,
		.asked_ms = now,
		.waits = true,
		.used = true,
		.answered = answered };
	a = ask_guest(s, room, &route);
	if (a == NULL)
		room->waits = false;
	else
		ask_get(a, &route, WIRE_ATTR_PORT_INFO,
		    inv_is_switch(inv_node(&s->inv, node)) ? 0 : port, on_port);
	return a != NULL;
}
