/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/ask/doubt.h - what is known is fresh, or in doubt.
 *
 * Every request that is sent gets a number, one more than the one before (sweep_reading.seq).  A
 * record (SwitchInfo of a switch, PortInfo of a port) has
 *
 *	read_seq	the number of the request whose answer it holds
 *	doubt_seq	the number of the last request that had been sent when doubt arose
 *
 * and is fresh when read_seq > doubt_seq.  An answer to a request that was sent before the doubt
 * arose is taken in, and does not end the doubt.  So whatever happens while a record is read only
 * means one more read of it.
 *
 * Doubt arises from a trap, from PortStateChange, from an end of a cable that has come up anew
 * while the other was read before, from ends that contradict each other, from an answer that
 * shows another state than the inventory has while nothing can be changed any more.  A node with
 * a record in doubt is in the list `doubted`, and a sweep begins, or goes on, by reading it.
 *
 * A switch tells that ports of its have changed, and not which.  Where it has a table of their
 * states, the states alone are in doubt at first: what the table tells of a port that is otherwise
 * than its record casts doubt on that record, and all other records stay fresh
 * (core/sweep/states.c).
 */
#ifndef CORE_ASK_DOUBT_H
#define CORE_ASK_DOUBT_H

#include "core/inventory/inventory.h"

struct sweeper;

/* SwitchInfo, of a switch only; with PortStateChange in it all its ports are read as well. */
void doubt_switch(struct sweeper *s, uint32_t slot);
/* The states of its ports, and SwitchInfo; all records of one that has no table of them. */
void doubt_states(struct sweeper *s, uint32_t slot);
/* Does the switch say that it has a table of the states of its ports, and answers when asked? */
bool doubt_has_states(const struct inv_node *n);
/* It does not tell them as they are.  True: from now on it counts as one that has no table;
 * may_be_chance: the second time in a row. */
bool doubt_missed_states(struct inv_node *n, bool may_be_chance);
/* PortInfo of a port. */
void doubt_port(struct sweeper *s, uint32_t slot, unsigned port);
/* ... and of the port at the other end of its cable, and of each end that is a switch SwitchInfo:
 * the switch may have been without power, or tell of more ports. */
void doubt_link(struct sweeper *s, uint32_t slot, unsigned port);
/* All records of a node; of a CA or router those of the ports by which it is cabled. */
void doubt_node(struct sweeper *s, uint32_t slot);
/* What is in doubt of a node is to be read. */
void observe_want_read(struct sweeper *s, uint32_t slot);
/* PortInfo of all ports, of a node that is being read. */
void observe_doubt_ports(struct sweeper *s, struct inv_node *n);
/* ... and its SwitchInfo. */
void observe_doubt_all(struct sweeper *s, struct inv_node *n);
/* Nothing is to be read any more: another SM rules. */
void doubt_nothing(struct sweeper *s);

/* Is there a block of its forwarding table of which it is not known what the switch holds? */
static inline bool
doubt_has_a_block(const struct inv_node *n)
{
	uint64_t doubt = 0;

	for (size_t i = 0; i < sizeof(n->lft_doubt) / sizeof(n->lft_doubt[0]); i++)
		doubt |= n->lft_doubt[i];
	return doubt != 0;
}

bool observe_switch_is_fresh(const struct inv_node *n);
bool observe_port_is_fresh(const struct inv_port *p);

#endif
