/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/wire/pkeys.h - by which P_Key may two ports talk to one another?
 *
 * Of a key 15 bits are the partition, the highest says full member (IBA 10.9.1.1).  Two ports may
 * talk when they are in one partition and at least one is full (IBA 10.9.3).
 */
#ifndef CORE_WIRE_PKEYS_H
#define CORE_WIRE_PKEYS_H

#include <stdbool.h>
#include <stdint.h>

#define PKEY_FULL 0x8000
#define PKEY_BASE 0x7fff    /* the bits of the partition */
#define PKEY_DEFAULT 0x7fff /* partition of all ports; the SM's port is full in it */

/* The keys of a port, ascending by partition, full ones first. */
struct pkey_list {
	const uint16_t *keys; /* [n] */
	uint32_t n;
};
/* May the two talk to one another at all, by whatever key? */
bool pkeys_share(const struct pkey_list *a, const struct pkey_list *b);
/* By this one (bit PKEY_FULL does not count)? */
bool pkeys_share_this(const struct pkey_list *a, const struct pkey_list *b, uint16_t pkey);
/* The key for a packet from a to b: a's own in the lowest partition by which they may
 * talk (the default partition is the highest); 0 = none. */
uint16_t pkeys_common(const struct pkey_list *a, const struct pkey_list *b);
/* Is the port in this partition; which key has it (full before limited)?  0 = none. */
uint16_t pkeys_of(const struct pkey_list *a, uint16_t pkey);

#endif
