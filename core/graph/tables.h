/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/graph/tables.h - allocating, sharing and re-using struct fm_tables.
 *
 * Rows lie in one mapping, the stride padded to an odd number of 64-byte
 * lines so that equal columns of neighbouring rows do not share a cache set.
 * Mappings that are let go return to the pool and stay resident, because the
 * first touch of 88 MB costs more than routing into it.
 */
#ifndef CORE_GRAPH_TABLES_H
#define CORE_GRAPH_TABLES_H

#include <stdatomic.h>

#include <fmd/engine.h>

#include "lib/pool.h"

struct table_pool; /* resident mappings for re-use; thread-safe */
struct table_pool *table_pool_new(void);
/* Mappings that another process can be handed (lib/pages.h). */
struct table_pool *table_pool_new_shared(void);
/* No more tables are taken; those that are held may be put later. */
void table_pool_free(struct table_pool *p);

/* Adaptive routing: an entry is a (switch, LID in use behind another switch)
 * with a route. */
struct adaptive_counts {
	uint64_t n_groups;	       /* in use, over all switches */
	uint32_t most_groups;	       /* of one switch */
	uint64_t n_adaptive, n_static; /* entries with a group and without */
	uint64_t n_ports;	       /* of the adaptive entries, added up */
	uint64_t n_dropped;	       /* entries left static because a switch had no group left */
};

/* An entry of the LFT. */
struct plan_entry {
	fm_sw sw;
	uint16_t lid;
	uint8_t port;
};

struct tables {
	struct fm_tables t;
	struct adaptive_counts adaptive; /* adaptive_check(); all 0 without groups */
	atomic_uint refs;
	struct table_pool *home;
	struct tables_memory *mem;
};

/* Tables for fabric, every array that traits announce allocated and
 * initialised (LFT to FM_PORT_NONE, order to FM_NONE, the rest to 0), in parallel on workers;
 * with FM_WRITES_WHOLE_ROWS, of the LFT only what lies behind max_lid, with
 * FM_WRITES_WHOLE_SLS the same of the SLs, and SL2VL not at all.
 * ar_max_groups: of each switch, where it can hold so many; 0: no adaptive routing wanted. */
int tables_new(struct table_pool *pool, struct fm_pool *workers, const struct fm_fabric *fab,
    uint32_t traits, uint16_t ar_max_groups, struct tables **out, struct fm_error *err);
/* The same for a fabric that is a part of another: switch i's row is row rows[i] of
 * `of`, which must outlive these.  as_is: what the rows hold stays. */
int tables_over(struct tables *of, const fm_sw *rows, struct fm_pool *workers,
    const struct fm_fabric *fab, uint32_t traits, bool as_is, struct tables **out,
    struct fm_error *err);
/* Tables of the same shape with the same contents, but for groups of adaptive routing, which they
 * have not; of FM_SL2VL_BY_OUT for a fabric with the same links.  Rows in parallel on workers. */
int tables_clone(struct table_pool *pool, struct fm_pool *workers, const struct fm_fabric *fab,
    const struct tables *from, struct tables **out, struct fm_error *err);
/* Groups for tables that have none, all entries static: of each switch as many as max_groups, where
 * it can hold so many. */
int tables_add_groups(
    struct tables *t, const struct fm_fabric *fab, uint16_t max_groups, struct fm_error *err);
/* Of tables of a shared pool: the mapping that all their arrays lie in, and its file. */
unsigned char *tables_shared(const struct tables *t, size_t *n_bytes, int *fd);
struct tables *tables_get(struct tables *t);
void tables_put(struct tables *t); /* NULL is fine */

/* Switches may share a row of SLs: from now on switch i has that of row_of[i], which has
 * its own (row_of[row_of[i]] == row_of[i]).  Rows that nobody has cost nothing. */
void tables_share_sl(struct tables *t, const fm_sw *row_of /* [n_switches] */, uint32_t n_switches);
/* The same the other way: whose row has each? */
void tables_sl_rows(const struct tables *t, uint32_t n_switches, fm_sw *row_of /* [n_switches] */);
/* SLs of the first n LIDs, shared as in `from`.  Both of a fabric of n_switches, with
 * FM_PROVIDES_SL. */
void tables_copy_sl(struct tables *to, const struct tables *from, uint32_t n_switches, size_t n);

/* Are all packets in VL 0, whatever their SLs are? */
static inline bool
tables_have_one_vl(const struct fm_tables *t)
{
	return t->n_vls_used <= 1 ||
	    (t->sl_shape == FM_SL_ZERO && t->sl2vl_shape == FM_SL2VL_MODULO);
}

static inline bool
tables_are_adaptive(const struct fm_tables *t)
{
	return t->ar_group != NULL;
}

/* SL of the path from an end on switch ssw to dlid. */
static inline uint8_t
tables_sl(const struct fm_tables *t, fm_sw ssw, uint16_t dlid)
{
	switch (t->sl_shape) {
	case FM_SL_ZERO:
		return 0;
	case FM_SL_BY_DLID:
		return t->sl[0][dlid];
	case FM_SL_BY_SW_DLID:
		return t->sl[ssw][dlid];
	}
	return 0;
}

/* VL on switch link `out` of switch sw for a packet of SL sl that came in by port in_port. */
uint8_t tables_vl(const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw, uint8_t in_port,
    fm_link out, uint8_t sl);
/* The VLs of all SLs, [16], there; NULL: FM_SL2VL_MODULO. */
const uint8_t *tables_vl_row(
    const struct fm_fabric *fab, const struct fm_tables *t, fm_sw sw, uint8_t in_port, fm_link out);

#endif
