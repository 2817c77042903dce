/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab/adaptive/adaptive.h - the adaptive routing of a switch of a vendor that does not exist.
 *
 * InfiniBand names no attributes for it, and those of real vendors are not public.  These do what
 * such switches do: a packet to a LID that has a group leaves by any of the group's ports whose
 * link is ACTIVE; where none is, and where the LID has no group, by the LFT.  SMP attributes, Get
 * and Set, 64 bytes:
 *
 *	0xFFE0	AdaptiveInfo	byte 0: 1, the version; bit 0 of byte 1: on; bytes 2 and 3:
 *				how many groups it can have, read only
 *	0xFFE1	AdaptiveGroups	modifier: a block of two groups, the first of group 1; of each 32
 *				bytes, port p is bit p % 8 of byte p / 8
 *	0xFFE2	AdaptiveTable	modifier: a block of 32 LIDs; two bytes each, its group, 0: none
 *
 * A switch that has been without power is off, and has no groups.
 */
#ifndef LAB_ADAPTIVE_ADAPTIVE_H
#define LAB_ADAPTIVE_ADAPTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"

#define ADAPTIVE_VENDOR_ID 0x02fd5a /* a locally administered OUI */
#define ADAPTIVE_DEVICE_ID 0xad01
#define ADAPTIVE_VERSION 1
#define ADAPTIVE_PORT_BYTES 32
#define ADAPTIVE_BLOCK_GROUPS 2
#define ADAPTIVE_BLOCK_LIDS 32
#define ADAPTIVE_LIDS 49152 /* all unicast LIDs */
#define ADAPTIVE_MOST_GROUPS 1024

enum adaptive_attr {
	ADAPTIVE_INFO = 0xffe0,
	ADAPTIVE_GROUPS = 0xffe1,
	ADAPTIVE_TABLE = 0xffe2,
};

struct adaptive {
	bool on;
	uint16_t n_groups;		       /* that it can have: 1 and on */
	uint8_t (*ports)[ADAPTIVE_PORT_BYTES]; /* [n_groups + 1] */
	uint16_t *group;		       /* [ADAPTIVE_LIDS] of each LID */
};

/* Of a switch without power, in the arena; NULL: no memory. */
struct adaptive *adaptive_new(struct fm_arena *mem, uint16_t n_groups);
void adaptive_forget(struct adaptive *a); /* NULL is fine */
/* The ports of the LID's group, [ADAPTIVE_PORT_BYTES]; NULL: the LFT says where.  a may be NULL. */
const uint8_t *adaptive_ports(const struct adaptive *a, uint16_t lid);
/* One of the attributes above, into data[64], by which Set writes; the MAD status.  a may be
 * NULL. */
uint16_t adaptive_answer(
    struct adaptive *a, uint16_t attr, uint32_t modifier, bool is_set, uint8_t *data);

#endif
