/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/plan/plan_file_internal.h - the layout of a plan's file, for those that know it:
 * what writes it (plan_file.c), what reads it (plan_file_load.c), and the part that regions have.
 */
#ifndef CORE_PLAN_PLAN_FILE_INTERNAL_H
#define CORE_PLAN_PLAN_FILE_INTERNAL_H

#include <string.h>

#include "core/plan/plan_file.h"
#include "core/text/seal.h"
#include "lib/bitset.h"

#define PLAN_FILE_MAGIC "fmdplan8"
#define PLAN_FILE_WHAT "kept tables"

struct plan_file_head {
	struct fm_seal seal;
	uint64_t chain_mark, switches_mark, unreachable_pairs;
	uint32_t n_switches, n_joined, n_refused, n_cables, n_deviations;
	uint16_t top_lid;
	uint8_t sl_shape, sl2vl_shape, n_vls_used, forward_only;
	char engine[64];
	uint8_t mended, adaptive;
	char adaptive_given_up[640];
};

/* A cable of the graph the tables were made for, and an entry of the last full route. */
struct plan_file_cable {
	uint64_t guid[2];
	uint32_t mbps, nominal_mbps;
	uint8_t port[2], n_vls, unused[5];
};
struct plan_file_entry {
	uint64_t guid;
	uint16_t lid;
	uint8_t port, unused[5];
};

struct plan_file_cursor {
	const struct snapshot *snap;
	uint8_t *at, *end;     /* the bytes that are left to be read */
	bool out;	       /* parts are written behind the bytes that there are, else read */
	FM_VEC(uint8_t) bytes; /* written */
	bool no_memory;
	fm_sw *sl_row; /* [n_switches] whose row of SLs each has, where these differ by switch */
};

/* Equal for equal switches, however they are numbered; those that are gone are not kept.
 * *n: how many are. */
uint64_t plan_file_mark_switches(const struct fm_fabric *fab, uint32_t *n);
/* Copies n bytes out or in.  False: the bytes end here, or c->no_memory. */
static inline bool
plan_file_part(struct plan_file_cursor *c, void *bytes, size_t n)
{
	if (c->out) {
		c->no_memory = c->no_memory || !fm_vec_append(&c->bytes, (uint8_t *)bytes, n);
		return !c->no_memory;
	}
	if ((size_t)(c->end - c->at) < n)
		return false;
	if (n > 0)
		memcpy(bytes, c->at, n);
	c->at += n;
	return true;
}

/* Every byte of the tables, out or in.  False: as above, or they name a switch that is not. */
bool plan_file_tables(struct plan_file_cursor *c, const struct fm_tables *t, uint16_t top_lid);
/* The last part of the file: what became of regions, out or in; NULL: there are none.  Why `auto`
 * took an engine is not in it.  False: as above, or that is not what the bytes hold. */
bool plan_file_regions(struct plan_file_cursor *c, struct plan_regions **regions);

/* Of the set of LIDs in use. */
static inline size_t
plan_file_lids_bytes(uint16_t top_lid)
{
	return FM_BITSET_WORDS((size_t)top_lid + 1) * sizeof(uint64_t);
}

#endif
