/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/sweep/trouble.h - what is wrong in the fabric, cable by cable and node by node.
 *
 * Nothing is kept for it but since when: what is wrong is seen from the inventory.  A finding is at
 * a port of a node; at port 0 where it is of the node as a whole.
 */
#ifndef CORE_SWEEP_TROUBLE_H
#define CORE_SWEEP_TROUBLE_H

#include "core/sweep/inventory.h"

enum trouble {
	TROUBLE_NONE,
	TROUBLE_DUPLICATE, /* what is cabled here has a GUID that another one has */
	TROUBLE_LOOPBACK,  /* the cable leads back to the same node; at one of its two ends */
	TROUBLE_NO_ANSWER, /* the link is up, and nobody answers behind it */
	TROUBLE_SILENT,	   /* the node does not answer what must be known of it */
	TROUBLE_M_KEY,	   /* the port is under an M_Key that is not ours */
	N_TROUBLES
};
/* "duplicate-guid"; for programs, so that it stays. */
const char *trouble_name(enum trouble t);

/* O(1). */
enum trouble trouble_at(const struct inventory *inv, uint32_t slot, unsigned port);
/* The other end: who has the GUID, the loop's other port, the neighbour.  False: nobody knows. */
bool trouble_far(
    const struct inventory *inv, uint32_t slot, unsigned port, uint32_t *far, unsigned *far_port);
/* A sentence; buf is returned.  TROUBLE_NONE: "". */
const char *trouble_say(
    const struct inventory *inv, uint32_t slot, unsigned port, char *buf, size_t size);

#endif
