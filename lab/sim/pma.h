/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/sim/pma.h - the performance management agent of a simulated node, and
 * the counters of its ports (IBA 16.1.3).
 *
 * Counters follow what the model carries: every packet counts at both ends of
 * every link that it crosses, every drop where it happens.  They cost memory
 * and time, so there are none until pma_start().  Each is of 64 bits and stays
 * at its end; agents differ in what they show of it.
 */
#ifndef LAB_SIM_PMA_H
#define LAB_SIM_PMA_H

#include "lab/sim/fabric.h"

/* What an agent has of 64 bits; each has all that those before it have. */
enum pma_width {
	PMA_NARROW,    /* nothing: no PortCountersExtended */
	PMA_NO_IETF,   /* data and packets */
	PMA_WIDE,      /* packets by unicast and multicast */
	PMA_ERRORS_64, /* errors and PortXmitWait */
	PMA_WIDTHS
};

/* How the agent of a node is. */
struct sim_pma {
	uint8_t width;	   /* enum pma_width */
	bool silent;	   /* it does not answer; the SMA does */
	bool no_wait;	   /* it has no PortXmitWait */
	bool no_fec;	   /* ... no PortExtendedSpeedsCounters */
	bool rs_fec;	   /* ... in these the totals of a port under RS-FEC */
	uint32_t tick_ns;  /* of PortXmitWait */
	uint32_t redirect; /* node at whose LID it is to be asked; SIM_NONE: here */
	int64_t each_ns;   /* time per request, one at a time, beside that of the SMA */
	int64_t busy_until_ns;
};
#define PMA_AS_MOST ((struct sim_pma){ .width = PMA_WIDE, .tick_ns = 8, .redirect = SIM_NONE })

/* Zero for all ports from now on.  False when memory is out. */
bool pma_start(struct sim_fabric *f);
/* All counters of a node are zero, as after a reboot. */
void pma_forget(struct sim_fabric *f, uint32_t node);

/* "PortXmitWait", "FECCorrectableBlockCtrLane3": as perfquery calls them, in any case;
 * SIM_COUNTERS: there is none. */
unsigned pma_find_counter(const char *name);
/* How the agent of the node is. */
struct sim_pma pma_of(const struct sim_fabric *f, uint32_t node);
/* Whose agent takes requests to this queue pair at a node: its own, or one that is redirected to
 * it; SIM_NONE: nobody's. */
uint32_t pma_agent_at(const struct sim_fabric *f, uint32_t node, uint32_t qpn);
/* Handle the request in mad, which is to the queue pair at this place, and turn it into its
 * answer.  False: nothing is answered. */
bool pma_handle(struct sim_fabric *f, struct sim_place at, uint32_t qpn, uint8_t *mad);

/* A counter does not go beyond its end. */
static inline void
pma_add(uint64_t *counter, uint64_t n)
{
	*counter = n > UINT64_MAX - *counter ? UINT64_MAX : *counter + n;
}

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
	pma_add(&out[COUNT_XMIT_DATA], bytes / 4);
	pma_add(&in[COUNT_RCV_DATA], bytes / 4);
	pma_add(&out[COUNT_XMIT_PACKETS], packets);
	pma_add(&in[COUNT_RCV_PACKETS], packets);
	pma_add(&out[multicast ? COUNT_MULTICAST_XMIT : COUNT_UNICAST_XMIT], packets);
	pma_add(&in[multicast ? COUNT_MULTICAST_RCV : COUNT_UNICAST_RCV], packets);
}

static inline void
pma_count(const struct sim_fabric *f, uint32_t port, enum sim_counter what, uint64_t n)
{
	if (f->counters != NULL)
		pma_add(&f->counters[port][what], n);
}

#endif
