/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/picture/crossing.h - whose routes cross a link: how many from the hosts of each switch, and
 * to those of each.
 *
 * Cost: O(LIDs that leave by the link x switches), 2 ms a link at 11,664 hosts.
 */
#ifndef CORE_PICTURE_CROSSING_H
#define CORE_PICTURE_CROSSING_H

#include "core/graph/snapshot.h"

/* Routes from CA port to CA port, by their base LIDs, that arrive.  from, to: [n_switches], all of
 * one sum, which is what link_loads() (gauge.h) has for the link.  FM_E_RESOURCE. */
int link_crossing(const struct snapshot *snap, const struct fm_tables *tables, fm_link link,
    uint32_t *from, uint32_t *to, struct fm_error *err);

#endif
