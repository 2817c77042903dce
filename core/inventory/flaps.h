/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/inventory/flaps.h - cables between switches that go down again and again (flap_still).
 *
 * Each time that a cable is lost and each time that it is back, forwarding tables change.  One that
 * goes down thrice within a minute is left out of them until it has not gone down for flap_still,
 * twice as long each time that it is so again, FLAP_STILL_MOST_MS at most.  The second time within
 * a minute it waits for FLAP_HOLD_MS, which is longer than a change of tables takes, so that what
 * is going to be the third time costs nothing.  Its ports are brought up as ever: that a port is
 * not ACTIVE any more is how a fall is seen.
 *
 *	       2 falls          3 falls
 *	 ─► PAST ────► HELD ─────────────► OUT ──┐
 *	     ▲          │                        │   until_ms is over, and moves
 *	     └──────────┴────────────────────────┘   with each fall
 *
 * Cables of hosts are never left out, nor is a cable without which what is joined by cables would
 * be in two parts: it is the only way.  Nothing of this outlives the process, and a take-over by
 * another fmd begins without.
 *
 * Cost: O(1) a fall and a question; flaps_decide() O(ports) while a cable is held or out.
 */
#ifndef CORE_INVENTORY_FLAPS_H
#define CORE_INVENTORY_FLAPS_H

#include "core/inventory/inventory.h"

#define FLAP_WITHIN_MS 60000
#define FLAP_HOLD_MS 10000
#define FLAP_STILL_MOST_MS 3600000
#define FLAP_FORGOTTEN_MS 3600000 /* so long after it was used again the next time is the first */

struct isolated;

/* The link at a port of a switch has gone down; before it is taken out of the inventory.  still_ms:
 * flap_still, more than 0; now_ms by the clock of the transport, more than 0. */
void flaps_fell(
    struct inventory *inv, uint32_t slot, unsigned port, int64_t still_ms, int64_t now_ms);
/* What is known of the cable at a port that is held or out; NULL: it is used like any other. */
const struct inv_flap *flaps_at(const struct inventory *inv, uint32_t slot, unsigned port);
/* Is the cable at a port to be left out of forwarding tables? */
bool flaps_leave_out(const struct inventory *inv, uint32_t slot, unsigned port);
/* Is any? */
bool flaps_any_left_out(const struct inventory *inv);
/* The most falls that were seen at one end, since it was last used like any other. */
uint32_t flap_falls(const struct inv_flap *f);
/* Those whose time is over are used again (is_on false: all), and which of the others are the only
 * way is found anew.  Without memory for that none is left out. */
void flaps_decide(
    struct inventory *inv, const struct isolated *isolated, bool is_on, int64_t now_ms);
/* The cable at a port is used again, as if it had never gone down.  False: it was not left out. */
bool flaps_end(struct inventory *inv, uint32_t slot, unsigned port);

#endif
