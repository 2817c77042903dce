/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/prefix_routes.h - OpenSM's prefix-routes file: which router leads to
 * which other subnet.
 *
 *	# PREFIX           GUID of the router's port; "*": any
 *	0xfec0000000000001 0x0002c902000a1b2c
 *	*                  *
 *
 * The first line that fits a GID's prefix holds.
 */
#ifndef CORE_SUBNET_PREFIX_ROUTES_H
#define CORE_SUBNET_PREFIX_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/mistakes.h"
#include "lib/error.h"

/* GIDs of other subnets with this prefix leave by the router port of this GUID. */
struct sa_prefix_route {
	uint64_t prefix, guid;
	bool any_prefix, any_guid; /* any_guid: a router of ours, whichever */
};

struct prefix_routes {
	struct sa_prefix_route *item;
	size_t n, room;
}; /* as FM_VEC: fm_vec_fini() */

/* FM_E_CONFIG with "FILE:LINE: ..." and what would be right; routes are then empty.  Where
 * `all` gathers mistakes, lines with one are noted and left out. */
int prefix_routes_parse(const char *path, const char *bytes, size_t n_bytes,
    struct prefix_routes *routes, struct mistakes *all, struct fm_error *err);

#endif
