/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/states.c - what the table of the states of its ports that a switch has
 * (SwitchPortStateTable, IBA 14.2.5) says of what is known of them.
 *
 * Where the states of its ports are in doubt (doubt.h) a switch is asked for the table first,
 * which says whose PortInfo is to be read.  The table spares reads, and nothing of it is believed:
 * what is known of a port is what its PortInfo said.  All ports are read
 *
 *	where the switch says that ports have changed, and its table shows none;
 *	where the table shows another state of a port than its PortInfo does then;
 *	where the switch has no table, or does not answer as one that has it, which is told once;
 *	in each heavy sweep, and where the audit finds that it does not hold what it held.
 *
 * Cost: O(ports), no request.
 */
#include <stdio.h>

#include "core/sweep/internal.h"

static void
note_missed(struct sweeper *s, uint32_t node, bool may_be_chance, const char *what)
{
	struct inv_node *n = inv_node(&s->inv, node);
	char name[128];

	if (doubt_missed_states(n, may_be_chance))
		fm_log_rl(&s->logs.refused, FM_LOG_WARN, "sweep",
		    "%s offers a table of the states of its ports (SwitchPortStateTable) and %s: "
		    "its ports are read one by one",
		    inv_name(n, name, sizeof(name)), what);
}

/* What is wrong with this block of the table, in words; false: nothing. */
static bool
is_nonsense(const struct inv_node *n, unsigned block, const uint8_t *table, char *buf, size_t size)
{
	unsigned first = block * WIRE_STATES_OF_BLOCK;

	for (unsigned p = first > 0 ? first : 1;
	     p <= n->n_ports && p < first + WIRE_STATES_OF_BLOCK; p++) {
		uint8_t state = wire_port_state_get(table, p);

		if (state >= WIRE_PORT_DOWN && state <= WIRE_PORT_ACTIVE)
			continue;
		snprintf(
		    buf, size, "says that port %u is in state %u, which does not exist", p, state);
		return true;
	}
	return false;
}

/* Its record is as the table has it, and a read would lead to nothing else: ports on their way up,
 * and such as lead to nobody, are looked at whenever their switch is. */
static bool
is_spared(const struct inv_port *p, uint8_t state)
{
	if (!observe_port_is_fresh(p) || p->info.port_state != state)
		return false;
	return state == WIRE_PORT_DOWN
	    ? !p->stopped
	    : state == WIRE_PORT_ACTIVE && (p->edge == EDGE_LINKED || p->edge == EDGE_LOOP);
}

/* Doubt ports that are otherwise than they are known, or to be looked at anyhow. */
static enum states_say
take(struct sweeper *s, struct inv_node *n, unsigned block, const uint8_t *table)
{
	unsigned first = block * WIRE_STATES_OF_BLOCK;
	enum states_say say = STATES_AS_KNOWN;

	for (unsigned p = first > 0 ? first : 1;
	     p <= n->n_ports && p < first + WIRE_STATES_OF_BLOCK; p++) {
		uint8_t state = wire_port_state_get(table, p);

		if (!n->ports[p].known || n->ports[p].info.port_state != state)
			say = STATES_HAVE_CHANGED;
		if (!is_spared(&n->ports[p], state))
			n->ports[p].doubt_seq = s->reading.seq;
	}
	return say;
}

enum states_say
states_judge(
    struct sweeper *s, uint32_t node, unsigned block, enum txn_status status, const uint8_t *table)
{
	struct inv_node *n = inv_node(&s->inv, node);
	char what[80];

	if (status != TXN_OK) {
		if (status != TXN_CANCELLED)
			note_missed(s, node, status == TXN_TIMEOUT,
			    status == TXN_TIMEOUT ? "does not answer for it" : "refuses it");
		return STATES_NONE;
	}
	if (is_nonsense(n, block, table, what, sizeof(what))) {
		note_missed(s, node, false, what);
		return STATES_NONE;
	}
	return take(s, n, block, table);
}

void
states_compare(struct sweeper *s, uint32_t node, bool is_so)
{
	struct inv_node *n = inv_node(&s->inv, node);

	if (is_so) {
		n->n_states_missed = 0;
		return;
	}
	note_missed(s, node, true, "tells other states in it than its ports do");
	observe_doubt_ports(s, n);
	observe_want_read(s, node);
}
