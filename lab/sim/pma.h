/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/sim/pma.h - the performance management agent of a simulated node, and
 * the counters of its ports (IBA 16.1.3).
 *
 * Counters follow what the model carries: every packet counts at both ends of
 * every link that it crosses, every drop where it happens.  They cost memory
 * and time, so there are none until pma_start().
 */
#ifndef LAB_SIM_PMA_H
#define LAB_SIM_PMA_H

#include "lab/sim/fabric.h"

/* Zero for all ports from now on.  False when memory is out. */
bool pma_start(struct sim_fabric *f);

/* Handle the request in mad, at this place, and turn it into its answer.
 * False: nothing is answered. */
bool pma_handle(struct sim_fabric *f, struct sim_place at, uint8_t *mad);

/* Bytes of one packet, or of many, over a link: port is where they leave. */
static inline void
pma_carry(const struct sim_fabric *f, uint32_t port, uint32_t peer, uint64_t bytes,
    uint64_t packets, bool multicast)
{
	uint64_t *out, *in;

	if (f->counters == NULL)
		return;
	out = f->counters[port];
	in = f->counters[peer];
	out[COUNT_XMIT_DATA] += bytes / 4;
	in[COUNT_RCV_DATA] += bytes / 4;
	out[COUNT_XMIT_PACKETS] += packets;
	in[COUNT_RCV_PACKETS] += packets;
	out[multicast ? COUNT_MULTICAST_XMIT : COUNT_UNICAST_XMIT] += packets;
	in[multicast ? COUNT_MULTICAST_RCV : COUNT_UNICAST_RCV] += packets;
}

static inline void
pma_count(const struct sim_fabric *f, uint32_t node, unsigned port, enum sim_counter what)
{
	if (f->counters != NULL)
		f->counters[f->nodes[node].first_port + port][what]++;
}

#endif
