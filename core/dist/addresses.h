/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/dist/addresses.h - the administrator's file of IP addresses of the subnet's ports.
 *
 *	ADDRESS OWNER
 *
 * a line; '#' begins a comment.  ADDRESS is of IPv4 or IPv6, OWNER the name of a host (the first
 * word of its NodeDescription) that has one port here, a port GUID (0x...) or a GID.
 */
#ifndef CORE_DIST_ADDRESSES_H
#define CORE_DIST_ADDRESSES_H

#include "core/blobs/blobs.h"
#include "lib/vec.h"

struct address {
	uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d */
	unsigned line;	/* of the file */
	uint64_t guid;	/* 0: of a name */
	char name[64];
	bool told; /* that its host has several ports */
};

struct addresses {
	const char *path;	     /* borrowed */
	bool quiet;		     /* mistakes are not told: another reader tells them */
	FM_VEC(struct address) item; /* ascending by address, each once */
	int64_t mtime_ns;
	uint64_t size;
};

void addresses_fini(struct addresses *a);
/* The file as it is now, if it is another than before; *changed: whether.  A line that is wrong
 * is told and left out.  A file that cannot be read is told; the addresses stay as they were. */
void addresses_read(struct addresses *a, const char *path, bool *changed);

/* The first word of a NodeDescription, printable; name[64]. */
void addresses_host_name(const uint8_t desc[64], char *name);

#endif
