/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/cable_order.h - the switches in an order that follows cables, not names.
 *
 * Engines that choose by load give other tables when they meet the switches in another
 * order.  Switches are numbered by GUID, and GUIDs say nothing about a fabric.  Its cables
 * and the ports they are in do, and stay when GUIDs, names and LIDs change.
 */
#ifndef CORE_GRAPH_CABLE_ORDER_H
#define CORE_GRAPH_CABLE_ORDER_H

#include <fmd/engine.h>

/* Is it a tree by levels: do all cables join switches of neighbouring distances from the
 * hosts, which are not all 0?  There digits choose, whatever the order.  False too when
 * memory is out.  O(links). */
bool cable_order_is_tree(const struct fm_fabric *fab);

/* order[n_switches]: two fabrics that differ in names alone get the same one, but for
 * switches that nothing tells apart.  O(rounds * (links + switches log switches)), rounds
 * as few as tell one switch of each component from all others, and O(switches * ports).
 * FM_E_RESOURCE. */
int cable_order_find(const struct fm_fabric *fab, fm_sw *order, struct fm_error *err);

#endif
