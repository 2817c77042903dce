/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/overlay/rchain.h - routing chains as MLNX_OFED writes them, unchanged.
 *
 *	pgrp_policy_file	port groups: by GUID, range, host, expression, or from
 *				other groups; ALL, ALL_SWITCHES, ALL_CAS are there
 *	topo_policy_file	topologies: an id, a group of switches, one of hosts;
 *				0 is the whole fabric
 *	rch_policy_file		unicast steps: engine, topology, path-bit, fallback-to
 *
 * What the steps then do: core/overlay/overlay.h.
 */
#ifndef CORE_OVERLAY_RCHAIN_H
#define CORE_OVERLAY_RCHAIN_H

#include <fmd/engine.h>

#include "lib/arena.h"
#include "lib/vec.h"

struct mistakes;
struct snapshot;
struct rchain_group; /* rchain_groups.c */

struct rchain_topology {
	uint32_t id;
	uint32_t switches, hosts; /* group numbers */
};

struct rchain_step {
	uint32_t id;
	unsigned line;
	const char *engine; /* as written */
	const char *config; /* a file like opensm.conf for this step, or NULL */
	unsigned config_line;
	uint32_t topology;    /* index, not id; 0 = the whole fabric */
	uint32_t fallback_to; /* index of the step that must have failed; FM_NONE */
	uint8_t path_bit;
};

struct rchain {
	const char *path; /* of rch_policy_file */
	FM_VEC(struct rchain_group) groups;
	FM_VEC(struct rchain_topology) topologies; /* [0] the whole fabric */
	FM_VEC(struct rchain_step) steps; /* by ascending id; those that never run are out */
	struct fm_arena *mem;
};

struct rchain_files {
	struct fm_file groups, topologies, steps; /* path NULL: none of these */
};

/* FM_E_CONFIG: "FILE:LINE: sentence"; where `all` gathers them, mistakes are noted, and a file
 * that builds on one with mistakes is not read.  Steps that the original ignores (a fallback
 * of an unknown step, or of a fallback) are left out with a warning.  Everything
 * lives in mem, except what rchain_fini() lets go (after failure too). */
int rchain_read(struct rchain *rc, const struct rchain_files *files, struct fm_arena *mem,
    struct mistakes *all, struct fm_error *err);
void rchain_fini(struct rchain *rc);

/* The members of a topology in this fabric: bitsets [n_switches] and [n_ends],
 * zeroed, of hosts' and routers' ports.  A member that the fabric has not is
 * passed over.  O(groups (switches + ends)). */
int rchain_members(const struct rchain *rc, uint32_t topology, const struct snapshot *snap,
    uint64_t *sw, uint64_t *end, struct fm_error *err);

#endif
