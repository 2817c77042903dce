/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/nodes/name_map.h - names that the administrator gives to nodes.
 *
 * The file of OpenSM's node_name_map_name and of infiniband-diags' --node-name-map, a node a line:
 *
 *	# comment
 *	0x0002c9030000a1b2 "leaf-1, rack 7"
 */
#ifndef CORE_NODES_NAME_MAP_H
#define CORE_NODES_NAME_MAP_H

#include <stddef.h>
#include <stdint.h>

#include <fmd/error.h>

#define NAME_MAP_BYTES 64 /* of a name, at most */

struct name_map;

/* All or nothing: FM_E_CONFIG "FILE:LINE: ..." for a line that is none of these, a name that is
 * empty or too long, a GUID that has another name already.  Names are made printable. */
int name_map_parse(const char *path, const char *bytes, size_t n_bytes, struct name_map **out,
    struct fm_error *err);
void name_map_free(struct name_map *map); /* NULL is fine */
/* The name of a node by its GUID; NULL: it has none, or there is no map. */
const char *name_map_find(const struct name_map *map, uint64_t guid);

#endif
