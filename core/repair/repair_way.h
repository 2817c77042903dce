/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/repair_way.h - ways of the LID at hand: followed, inserted, written.
 */
#ifndef CORE_REPAIR_REPAIR_WAY_H
#define CORE_REPAIR_REPAIR_WAY_H

#include "core/repair/repair_internal.h"

/* repair_way.c */
struct way {
	uint32_t depth; /* links */
	bool held;	/* all its dependencies are */
};
/* The way by channel c, of at most limit links; held: give up at a dependency that is not. */
struct way repair_follow(
    const struct repair *p, uint32_t c, uint16_t vls, uint32_t limit, bool held);
bool repair_holds_all(const struct depend *g, uint32_t in, uint32_t out, uint16_t vls);
/* VLs of what the ends of sw send to the LID. */
uint16_t repair_own_vls(const struct repair *p, fm_sw sw);
/* Is there an edge in any VL from this in-port to the channel? */
bool repair_comes_from(const struct depend *g, uint32_t channel, unsigned in_port);
/* VLs that come into sw by channel `in` (a bit mask), when the LID goes that way. */
uint16_t repair_vls_from(struct repair *p, uint32_t in);
/* Insert what packets of these VLs that leave by channel c depend on, down to the LID. */
enum depend_result repair_insert_way(struct repair *p, uint32_t c, uint16_t vls);
/* Insert all that packets to the LID depend on, from the ends of `from` (FM_NONE: of all). */
enum depend_result repair_insert_lid(struct repair *p, fm_sw from);
/* One VL: is the way by channel c so long, and are all its dependencies held? */
bool repair_way_is_held(const struct repair *p, uint32_t c, uint32_t depth);
/* Mark all switches that packets to the LID come through, from each sender on as far as they
 * get. */
void repair_mark_carriers(struct repair *p);
static inline bool
repair_carries(const struct repair *p, fm_sw sw)
{
	return p->carries[sw] == p->carrying;
}
/* Write an entry, with all that is counted of it. */
void repair_set(struct repair *p, fm_sw sw, uint8_t port);
/* Links from sw to the LID over cables that are there, REPAIR_FAR when it does not arrive. */
uint32_t repair_depth(const struct repair *p, fm_sw sw);
/* The same of a LID that is not at hand, to a switch, for who asks LID after LID. */
uint32_t repair_depth_of(const struct repair *p, fm_sw sw, uint32_t lid, fm_sw to);
/* The same over those that are lost, too. */
uint32_t repair_old_depth(const struct repair *p, fm_sw sw);
/* As repair_depth(), for who asks of many switches before any entry of the LID changes. */
uint32_t repair_links(const struct repair *p, fm_sw sw);

#endif
