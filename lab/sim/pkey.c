/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * P_Keys of ports and who may talk to whom: two match when their lower 15 bits
 * do and one of them is a full member's (IBA 10.9.3).  A switch port that
 * enforces has the table of the host behind it, so there the lower 15 bits
 * decide: else no limited member could send.  A table that nobody has written
 * holds the default, full.
 */
#include "lab/sim/fabric.h"

#define DEFAULT_FULL 0xffff
#define BASE 0x7fff
#define FULL 0x8000
#define N_KEYS (SIM_PKEY_BLOCKS * 32)

uint16_t
port_pkey(const struct sim_fabric *f, uint32_t port, unsigned index)
{
	const struct sim_port_tables *t = f->ports[port].tables;

	if (index >= N_KEYS)
		return 0;
	if (t == NULL)
		return index == 0 ? DEFAULT_FULL : 0;
	return wire_get16(&t->pkeys[index / 32][2 * (index % 32)]);
}

int
port_find_pkey(const struct sim_fabric *f, uint32_t port, uint16_t pkey)
{
	for (unsigned i = 0; i < N_KEYS; i++) {
		uint16_t own = port_pkey(f, port, i);

		if ((own & BASE) != 0 && ((own ^ pkey) & BASE) == 0 && ((own | pkey) & FULL))
			return (int)i;
	}
	return -1;
}

bool
port_passes_pkey(const struct sim_fabric *f, uint32_t port, uint16_t pkey)
{
	return port_find_pkey(f, port, pkey | FULL) >= 0;
}
