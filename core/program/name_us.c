/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/program/name_us.c - end ports are told who rules now, before anything is discovered.
 *
 * Till a host knows the LID of the new master its questions and traps go to the dead one.  So when
 * a standby that has a copy takes over, each end port in the copy is asked for its PortInfo and
 * given it back with our LID, and nothing else is changed.  A port that is not as the copy has it,
 * or does not answer, is left to the sweep, which begins then: its questions would come between.
 *
 * Two SMPs a port.
 */
#include "core/program/internal.h"

#define TRIES 2

static void
on_named(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	(void)a;
	(void)status;
	(void)reply;
}

static struct ask *
new_ask(struct sweeper *s, uint16_t lid)
{
	struct ask *a = ask_new(s, INV_NONE, 0);

	if (a == NULL)
		return NULL;
	a->index = lid;
	return a;
}

/* The LID is the one that the copy has for the port. */
static void
on_port(struct ask *a, enum txn_status status, const uint8_t *reply)
{
	const struct inv_node *us = inv_node(&a->s->inv, a->s->inv.local);
	uint16_t our_lid = us->ports[a->s->inv.local_port].info.lid;
	uint8_t data[WIRE_SMP_DATA_BYTES] = { 0 };
	struct wire_port_info info;
	struct ask *set;

	if (status != TXN_OK)
		return;
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (info.lid != a->index || info.master_sm_lid == our_lid ||
	    (set = new_ask(a->s, info.lid)) == NULL)
		return;
	info.master_sm_lid = our_lid;
	info.port_state = info.phys_state = 0; /* no change */
	info.client_reregister = 0;
	wire_port_info_put(data, &info);
	ask_set(set, &a->route, WIRE_ATTR_PORT_INFO, a->modifier, data, on_named);
}

void
sweeper_name_us(struct sweeper *s, const struct inventory *known)
{
	for (uint32_t i = 0; i < known->nodes.n; i++) {
		const struct inv_node *n = inv_node(known, i);
		unsigned last = inv_is_switch(n) ? 0 : n->n_ports;

		for (unsigned p = inv_is_switch(n) ? 0 : 1; n->present && p <= last; p++) {
			struct smp_route route;
			struct ask *a;

			if (n->ports[p].lid == 0 || !inv_route(known, i, (uint8_t)p, &route) ||
			    (a = new_ask(s, n->ports[p].lid)) == NULL)
				continue;
			route.max_tries = TRIES;
			ask_get(a, &route, WIRE_ATTR_PORT_INFO, p, on_port);
		}
	}
}
