/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/switch_order.h - the switches in an order in which near ones follow one another.
 *
 * LIDs are given out in it, and the hosts of a shift are numbered by it.
 */
#ifndef CORE_GRAPH_SWITCH_ORDER_H
#define CORE_GRAPH_SWITCH_ORDER_H

#include <stdint.h>

#include <fmd/engine.h>

/* A walk of the switches so that near ones follow one another: order[] gets
 * switch indices, leaves first and grouped by pod.  Adjacency given as CSR.
 * O(switches + links). */
int switch_order(uint32_t n_switches, const uint32_t *first_link, const uint32_t *link_to,
    const uint8_t *is_leaf, uint32_t *order, struct fm_error *err);

#endif
