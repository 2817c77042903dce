/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/repair_state.h - what repair keeps between plans: the dependencies of the tables,
 * loads, sums of the verdict, tables turned round, room.
 */
#ifndef CORE_REPAIR_REPAIR_STATE_H
#define CORE_REPAIR_REPAIR_STATE_H

#include "core/cdg/depend.h"
#include "core/repair/repair.h"
#include "lib/vec.h"

#define REPAIR_RECENT_WORDS 1024u /* a bit for each LID */

/* Of a switch: which of its channels hold all turns into one of its ports. */
struct repair_cover {
	uint32_t n; /* in cover_list from the switch's first channel on */
	uint8_t port;
	uint64_t changes; /* of the dependencies, by then; UINT64_MAX: never looked at */
};

/* Room to choose in, kept between events. */
struct repair_room {
	/* [n_switches] each */
	uint32_t *mark, *spot_of, *arrives, *held, *was, *nominal, *fails, *carries;
	struct repair_cover *cover; /* [n_switches] */
	uint32_t *cover_list;	    /* [n_channels] */
	fm_sw *go;		    /* [n_channels] */
	uint16_t *seen;		    /* [n_switches] */
	uint8_t *column;	    /* [n_switches] */
};

/* The tables turned round. */
struct repair_columns {
	uint8_t *at;   /* [n][stride] by LID and switch */
	uint32_t n;    /* LIDs */
	size_t stride; /* whole lines of the cache */
	size_t n_bytes;
};

/* Of the tables of one plan, on the graph an engine made them for. */
struct repair_state {
	struct tables *tables;	/* one reference */
	struct snapshot *graph; /* one reference */
	struct depend *g;
	bool gathered;	     /* g holds more than the tables need */
	struct depend *lean; /* no more than they need, in place of g; NULL: not made */
	bool lean_holds_absent;
	/* bits: LIDs that have changed since the oldest packets in the fabric were sent */
	uint64_t recent[REPAIR_RECENT_WORDS];
	uint32_t *load; /* [n_channels] LIDs that leave by it */
	/* A copy of older tables and what has changed since: the next plan's. */
	struct tables *spare; /* NULL: none */
	FM_VEC(struct plan_entry) lag;
	struct lid_sums *sums; /* [n_sums] by LID; NULL: not known */
	uint32_t n_sums;
	struct repair_columns *columns; /* of tables; NULL: not made */
	struct snapshot *sums_snap;	/* one reference: the ends they count */
	/* Whom the dependencies and entries are right for. */
	uint8_t *served; /* [n_served] by LID */
	uint32_t n_served;
	uint8_t *sends;	       /* [n_switches] */
	bool serves_snap;      /* these are the ends of snap */
	bool holds_absent;     /* g has what packets to the absent LIDs of the plan depend on */
	bool unsure;	       /* of entries that could go back: look at all of them */
	struct snapshot *snap; /* one reference: of the plan these are the tables of */
	uint64_t *lost;	       /* [n_channels] bits: cables that snap lacks */
	struct repair_room room;
};

/* repair_visit.c */
void repair_room_free(struct repair_room *room);

/* repair_columns.c; NULL: out of memory. */
struct repair_columns *repair_columns_make(
    const struct fm_fabric *fab, const struct fm_tables *t, struct fm_pool *workers);
void repair_columns_free(struct repair_columns *c); /* NULL is fine */

/* repair_state.c: bits of channels that a graph lacks, malloced; NULL: out of memory. */
uint64_t *repair_lost_bits(const struct depend *g, const struct graph_diff *diff);
/* The same before there are any dependencies. */
uint64_t *repair_lost_of(const struct fm_fabric *graph, const struct graph_diff *diff);
/* The state of prev in r, made if need be; with diff anew, without the dependencies
 * of what that says is lost.  n_vls: with room for so many, 0: as the tables have.
 * FM_E_RESOURCE. */
int repair_state_for(struct router *r, const struct plan *prev, const struct graph_diff *diff,
    uint32_t n_vls, struct fm_error *err);
/* No packets live that are older than prev: g gives way to what the tables of prev need, if
 * it has gathered.  FM_E_RESOURCE. */
int repair_let_go(struct router *r, const struct plan *prev, struct fm_error *err);
/* Tables equal to st->tables, to be changed: one reference. */
int repair_take_spare(struct router *r, struct repair_state *st, const struct fm_fabric *fab,
    struct tables **out, struct fm_error *err);
/* Whom the tables serve from now on.  False: out of memory. */
bool repair_note_served(struct repair_state *st, const struct fm_fabric *ends);
bool repair_count_loads(struct repair_state *st, const struct fm_fabric *fab,
    const struct fm_tables *t, struct fm_pool *workers);

/* repair_verdict.c */
bool repair_sums_apply(const struct snapshot *snap, const struct fm_tables *t);
int repair_sums_build(struct repair_state *st, struct snapshot *snap, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers, struct fm_error *err);

#endif
