/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/seen.h - a picture of the inventory: what was there when events were last told.
 *
 * Two pictures are compared to tell what has happened (news.h).  A node has the same slot in all
 * pictures of an inventory.  What is gone keeps its name, its last cables and since when it is
 * gone.
 */
#ifndef CORE_INVENTORY_SEEN_H
#define CORE_INVENTORY_SEEN_H

#include "core/inventory/inventory.h"

struct seen_port {
	struct wire_rate rate, best; /* of the cable there is or was; 0 lanes: not known */
	uint32_t peer;		     /* slot at the other end, now or last; INV_NONE: never */
	uint32_t since_s;	     /* UTC: linked, or not, since then */
	uint32_t n_falls;	     /* inv_port.n_falls */
	uint32_t flaps;	  /* it is left out as it has gone down so often (flaps.h); 0: it is not */
	uint32_t still_s; /* ... until it has been still for so long */
	uint8_t peer_port;
	bool linked;
	bool only_way; /* ... it would be, and there is no other way */
};

struct seen_node {
	uint64_t guid, system_guid;
	struct seen_port *ports; /* [n_ports + 1] */
	uint32_t since_s;	 /* UTC: present, or not, since then */
	uint8_t type;		 /* enum wire_node_type */
	uint8_t n_ports;
	bool present;
	char name[65];
};

struct seen {
	struct seen_node *nodes; /* [n], by slot */
	uint32_t n;
	uint32_t first_s; /* UTC of the first picture: what is there since then may be older */
	struct fm_arena mem;
};

/* The inventory as it is at now_s, UTC.  before: the picture that was made last, or NULL for the
 * first; it stays the caller's.  NULL: memory is out.  O(ports). */
struct seen *seen_make(const struct inventory *inv, const struct seen *before, uint32_t now_s);
void seen_free(struct seen *s); /* NULL is fine */

/* Does a cable run below what both its ends support? */
static inline bool
seen_is_slow(const struct seen_port *p)
{
	return p->rate.lanes < p->best.lanes || p->rate.lane_mbps < p->best.lane_mbps;
}

#endif
