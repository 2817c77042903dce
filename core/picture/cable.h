/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/cable.h - a cable as the inventory has it, with its two ends.
 *
 * Each cable of which something is known at an end is told at one of its ends.
 */
#ifndef CORE_PICTURE_CABLE_H
#define CORE_PICTURE_CABLE_H

#include "core/inventory/inventory.h"
#include "core/sweep/todo.h"

struct cable_end {
	uint32_t slot; /* of the node */
	unsigned port;
	const struct inv_node *node;
	const struct inv_port *at;
};

/* far.node NULL: what is at its other end is not known. */
struct cable {
	struct cable_end near, far;
	struct wire_rate rate, best; /* best: 0 lanes where it is not known */
	enum todo_why why;	     /* what is unfinished of it, at either end */
};

struct cable_end cable_end(const struct inventory *inv, uint32_t slot, unsigned port);
/* Is there a cable, and is it told at this end?  A switch goes before a host, then by place in the
 * inventory. */
bool cable_is_told_at(const struct inventory *inv, const struct cable_end *e);
/* That at an end where it is told. */
struct cable cable_of(
    const struct inventory *inv, const struct todo_list *todo, const struct cable_end *e);
/* Is it narrower or slower than both ends support? */
bool cable_is_degraded(const struct cable *c);
/* The port that is further from ACTIVE. */
const struct inv_port *cable_worse(const struct cable *c);
/* enum wire_port_state, 0: it is not known. */
uint8_t cable_port_state(const struct inv_port *port);

#endif
