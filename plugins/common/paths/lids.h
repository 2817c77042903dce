/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins/common/paths/lids.h - destinations in the order a fabric is drawn.
 *
 * LIDs may be anything; routing wants the destinations of one switch, and of
 * neighbouring switches, side by side.  So they get positions: first all
 * hosts, then all other ends (switches, aggregation nodes, proxies), each
 * column by column (a column is a destination switch, in the order given).
 * An end with several LIDs (LMC) has one position in each of several planes:
 *
 *	| hosts, offset 0 | hosts, offset 1 | ... | others, offset 0 | ... |
 *
 * A row of the LFT is computed by position, where everything is a run, and
 * then laid out by LID: fm_lids_scatter().  What is the same for all LIDs of a
 * column needs no positions: fm_lids_lay_columns().
 */
#ifndef PLUGINS_COMMON_PATHS_LIDS_H
#define PLUGINS_COMMON_PATHS_LIDS_H

#include "plugins/common/paths/arcs.h"

enum { FM_HOSTS, FM_OTHERS, FM_SPACES };

struct fm_lid_space {
	uint32_t n;	       /* ends */
	uint32_t n_offsets;    /* 2^(largest LMC): planes of n positions each */
	uint32_t start;	       /* position of the first end's offset 0 */
	const uint32_t *first; /* [n_columns + 1] ends before this column */
	const fm_end *end;     /* [n] */
};

/* Consecutive positions that are consecutive LIDs.  A wide run may be copied
 * FM_RUN_BYTES at a time: what is written beyond it is written again by the
 * runs that follow, in ascending order of LIDs. */
#define FM_RUN_BYTES 32
struct fm_lid_run {
	uint32_t position;
	uint16_t lid, n;
	bool wide;
};

/* Columns with `each` consecutive LIDs each, all these LIDs in a row; the columns are
 * consecutive when they are counted by their first LIDs, from `place` on. */
struct fm_column_run {
	uint32_t place;
	uint16_t lid, n, each;
};

struct fm_lids {
	uint32_t n_columns;
	const fm_sw *column_sw; /* [n_columns] borrowed from the caller */
	struct fm_lid_space space[FM_SPACES];
	uint32_t n_positions;
	uint16_t max_lid;
	const struct fm_lid_run
	    *runs; /* [n_runs] consecutive positions that are consecutive LIDs */
	uint32_t n_runs;
	/* Where runs are short: [max_lid + 1] position of each LID, whatever for LIDs of
	 * nobody, which are the gaps; else NULL. */
	const uint16_t *position;
	const struct fm_lid_run *gaps; /* [n_gaps] lid and n */
	uint32_t n_gaps;
	const struct fm_column_run *column_runs; /* [n_column_runs] ascending LIDs */
	uint32_t n_column_runs;
	const uint32_t *column_at; /* [n_columns] column by place; NULL: they are the same */
};

/* O(LIDs).  FM_E_RESOURCE. */
int fm_lids_build(const struct fm_host *host, const struct fm_fabric *fab, const fm_sw *column_sw,
    uint32_t n_columns, struct fm_lids *out, struct fm_error *err);

/* by_position[n_positions + FM_RUN_BYTES] into a row of the LFT, all of its entries
 * up to max_lid: FM_PORT_NONE for LIDs of nobody. */
void fm_lids_scatter(const struct fm_lids *lids, const uint8_t *by_position, uint8_t *lft);

/* The same for any row of bytes, such as SLs: `nobody` for LIDs of nobody. */
void fm_lids_lay(
    const struct fm_lids *lids, const uint8_t *by_position, uint8_t nobody, uint8_t *row);

/* by_column[n_columns]: one value for all LIDs of a column.  room[n_columns] is written. */
void fm_lids_lay_columns(const struct fm_lids *lids, const uint8_t *by_column, uint8_t *room,
    uint8_t nobody, uint8_t *row);

/* Of by_position only what is behind columns col..stop-1 into a row of the LFT. */
void fm_lids_put_columns(const struct fm_lids *lids, const struct fm_fabric *fab,
    const uint8_t *by_position, uint32_t col, uint32_t stop, uint8_t *lft);

/* The switch's own ends: the port they hang off. */
void fm_lids_local(const struct fm_fabric *fab, fm_sw sw, uint8_t *lft);

#endif
