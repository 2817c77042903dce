/* SPDX-License-Identifier: BSD-2-Clause */
/* core/ask/internal.h - what the choice of a way and the trials of ways share. */
#ifndef CORE_ASK_INTERNAL_H
#define CORE_ASK_INTERNAL_H

#include "core/ask/ask.h"
#include "core/ask/lid_route.h"
#include "core/ask/sweeper.h"

#define NEAR_HOPS 2 /* directed: there is a switch that need not pass it on */

enum road { ROAD_NONE, ROAD_ACTIVE, ROAD_INACTIVE };
/* To an end-port with a LID and back; of switches remembered for as long as it holds. */
enum road lid_road_to(const struct sweeper *s, uint32_t slot, unsigned port);
bool lid_road_is_open(const struct sweeper *s, enum road road);
/* Make of a route one by LID; of a directed one one that is mixed, turning directed at `via`. */
void lid_route_make(struct smp_route *route, uint16_t lid);
void lid_route_make_mixed(const struct sweeper *s, struct smp_route *route, uint32_t via);
/* Such SMPs are not sent for some sweeps.  Logged once, unless it has been open since. */
void lid_route_close(struct sweeper *s, enum smp_way way, const char *what);

/* ask.c: on the wire, by its route. */
void ask_send(struct ask *a);

#endif
