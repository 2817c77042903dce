/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/sim/sma.h - the subnet management agent of a simulated node.
 */
#ifndef LAB_SIM_SMA_H
#define LAB_SIM_SMA_H

#include "lab/sim/fabric.h"

/* Handle the request in mad, which came in at this place, and turn it into its
 * answer.  False: nothing is answered (M_Key, TrapRepress, not a request).
 * O(1), but for Sets that move links. */
bool sma_handle(struct sim_fabric *f, struct sim_place at, uint8_t *mad);

/* The 64 bytes that a Get would return; false where it would be refused. */
bool sma_peek(
    struct sim_fabric *f, struct sim_place at, uint16_t attr, uint32_t modifier, uint8_t *data);

/* Which components of PortInfo Set writes: called once, by fabric_init(). */
void sma_init(struct sim_fabric *f);

#endif
