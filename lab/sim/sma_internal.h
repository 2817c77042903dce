/* SPDX-License-Identifier: BSD-2-Clause */
/* lab/sim/sma_internal.h - one SMP on its way through the agent (sma.c). */
#ifndef LAB_SIM_SMA_INTERNAL_H
#define LAB_SIM_SMA_INTERNAL_H

#include "lab/sim/sma.h"

#define ATTR_OK 0
#define ATTR_UNANSWERED 0xffff /* no MAD status: nothing goes back */

struct request {
	struct sim_fabric *f;
	struct sim_node *n;
	struct sim_place at;
	uint32_t modifier;
	bool is_set;
	bool knows_key; /* M_Key right, or none set */
	uint8_t *data;	/* [64] in: of Set; out: of the answer */
};

static inline bool
is_switch(const struct sim_node *n)
{
	return n->type == WIRE_NODE_SWITCH;
}

/* Get or Set of PortInfo (sma_port_info.c); the MAD status. */
uint16_t sma_port_info(struct request *r);

#endif
