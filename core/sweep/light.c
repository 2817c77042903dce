/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/light.c - noticing change without being told.
 *
 * A light sweep costs one SwitchInfo a switch and PortInfo of our own port, of which no switch
 * tells, and of port 0 of the switch that we hang on, which names its master; plus what takes up
 * unfinished business (todo.h); plus SMInfo of other SMs.
 *
 * A switch that does not answer is sought: the neighbour through which it was asked is read again,
 * routes are found anew, and what is still there is asked once more (reread.c).  A switch that was
 * switched off is thereby known to be gone; only when one is silent though its cables are up does
 * everything have to be looked at.
 */
#include "core/sweep/internal.h"

static void
on_light(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	struct inv_node *n = inv_node(&a->s->inv, a->node);
	struct wire_switch_info now;

	if (status != TXN_OK) {
		if (n->sw_known)
			observe_silence(a, "SwitchInfo", status);
		return;
	}
	wire_switch_info_get(reply + WIRE_SMP_DATA_AT, &now);
	observe_changes(a->s, a->node, now.port_state_change);
	if (n->sw_known && now.linear_fdb_top < n->sw.linear_fdb_top)
		doubt_node(a->s, a->node);
	else if (now.port_state_change)
		doubt_states(a->s, a->node);
}

void
light_start(struct sweeper *s)
{
	s->disc->todo_work = todo_take_up(s, true);
	for (uint32_t i = 0; i < s->inv.nodes.n; i++) {
		const struct inv_node *n = inv_node(&s->inv, i);
		struct ask *a;

		if (n->present && inv_is_switch(n) && (a = ask_new(s, i, 0)) != NULL) {
			a->wait = ASK_MAY_BE_LATE;
			a->about = i;
			ask_get_at(a, WIRE_ATTR_SWITCH_INFO, 0, on_light);
		}
	}
	if (s->inv.local != INV_NONE)
		discover_ask_port(s, s->inv.local, s->inv.local_port);
	lid_route_try(s);
	sms_start(s);
}
