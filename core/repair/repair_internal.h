/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/repair_internal.h - one event and the LID at hand, which the parts of repair share:
 *
 *	repair.c	 one LID, the plan
 *	repair_visit.c	 LID after LID
 *	repair_event.c	 which entries an event touches
 *	repair_lid.c	 the entries of one LID that lead nowhere
 *	repair_choice.c	 the channels that one of them may have
 *	repair_ports.c	 the same where VLs go by ports
 *	repair_lead.c	 over switches that had no entry, or that no packets come through
 *	repair_move.c	 the same under other SLs
 *	repair_idle.c	 those of them that no packets need
 *	repair_way.c	 following ways, changing entries
 *	repair_columns.c the entries of a LID side by side
 *	repair_back.c	 the entries of one LID that can go back
 *	repair_state.c	 what is kept between plans
 *	repair_verdict.c sums per LID, so that only what changed is judged
 *
 * What they call of each other: repair_event.h, repair_entry.h, repair_choice.h, repair_way.h and,
 * of what is kept between events, repair_state.h.
 */
#ifndef CORE_REPAIR_REPAIR_INTERNAL_H
#define CORE_REPAIR_REPAIR_INTERNAL_H

#include "core/repair/repair_state.h"

#define REPAIR_FAR UINT32_MAX /* does not arrive */

/* A LID's entry at a switch, before it is known what is wrong with it. */
struct repair_item {
	uint16_t lid;
	fm_sw sw;
};

enum repair_mark {
	MARK_NONE,
	MARK_LOST, /* leads nowhere now */
	MARK_SETTLED,
	MARK_BACK, /* nominal path leads on */
	MARK_DEAD  /* nominal path does not */
};

/* A switch of which entry is chosen anew. */
struct repair_spot {
	fm_sw sw;
	uint8_t old_port;
	uint32_t old_depth; /* links to the LID before; 0: it led nowhere then */
	uint32_t cost;	    /* of the shortest way now, with detours (repair_lid.c) */
	uint8_t nominal;    /* port, where that is known to be another one (repair_back.c) */
	bool idle;	    /* no packets come through, nor start here */
};

/* What the ends of a switch sent to a LID by another SL than now. */
struct repair_sl {
	fm_sw sw;
	uint16_t lid;
	uint8_t sl;
};

/* A switch that no packets come through, and what it sends to. */
struct repair_idle {
	fm_sw sw;
	uint32_t parent; /* index; the first has none */
	uint8_t was;	 /* its port */
	bool is_spot;	 /* it is among the spots */
};

/* What the ends of a switch send to a LID goes another number of links. */
struct repair_shift {
	uint16_t lid;
	fm_sw sw;
	uint32_t from, to;
};

/* One event. */
struct repair {
	struct router *r;
	struct keeping *k;
	struct repair_state *st;
	struct fm_tables *t;	     /* being changed */
	const struct fm_fabric *fab; /* now */
	struct depend *g;
	uint64_t *lost;	    /* [n_channels] bits: no cable now */
	fm_sw *go;	    /* [n_channels] where it leads now; FM_NONE: no cable, or it is lost */
	uint64_t *was_lost; /* likewise in the plan before; the state's */
	uint8_t *sends;	    /* [n_switches] some end there sends */
	uint32_t *load;	    /* [n_channels] LIDs that leave by it, by now */
	uint32_t detour;    /* links that a way may be longer to need no new dependencies */
	/* Where VLs go by ports: to be asked what packets to a LID depend on, by the tables as
	 * they are being changed.  NULL: they go by SLs alone */
	struct deps *deps;
	bool same_ends;	   /* as those that the state knows */
	bool all_switches; /* every switch had a way to every switch: so it shall be again */
	/* of the LID at hand */
	uint16_t lid;
	uint8_t *column;     /* [n_switches] their ports, as in t */
	uint8_t *own_column; /* [n_switches] room, where there are no columns */
	fm_sw to;
	bool to_switch;	 /* it is one of a switch: ways of switches that send nothing count */
	uint32_t *mark;	 /* [n_switches] number << 3 | enum repair_mark */
	uint32_t number; /* of the LID, so that marks need no clearing */
	FM_VEC(struct repair_spot) spots;
	uint32_t *spot_of; /* [n_switches] of those that are MARK_LOST */
	/* [n_switches] number << 8 | links, where known: of the way on from here; of one whose
	 * turns are held, from its first channel on (repair_way.c); of the way before */
	uint32_t *arrives, *held, *was;
	uint32_t
	    *nominal; /* [n_switches] number << 8 | port, where that is another (repair_back.c) */
	/* [n_switches] the stamp, where what goes on from here does not arrive; the stamp changes
	 * with each entry, and with each mark but MARK_LOST */
	uint32_t *fails, stamp;
	uint32_t *carries, carrying; /* [n_switches] the number, where packets to the LID come by */
	struct repair_cover *cover;  /* [n_switches] */
	uint32_t *cover_list;	     /* [n_channels] */
	uint16_t *seen;		     /* [n_switches] room */
	FM_VEC(struct plan_entry) dev; /* deviations of the LID, by switch */
	bool notes_undo;	       /* into undo: what entries were, one after another */
	FM_VEC(struct plan_entry) undo;
	FM_VEC(struct repair_item) stack;
	FM_VEC(struct repair_idle) idle;
	FM_VEC(uint32_t) banned; /* channels that closed a cycle */
	/* pairs may get other SLs, from least_sl on; VLs are those of the SLs */
	bool may_move;
	uint8_t least_sl;
	FM_VEC(struct repair_sl) moved;
	/* results */
	FM_VEC(struct plan_entry) delta;
	FM_VEC(struct plan_entry) deviations; /* of all LIDs so far */
	FM_VEC(struct repair_shift) shifts;
	uint8_t *dirty; /* [top_lid + 1] 1 = lengths or reachability may differ */
	bool hopeless;	/* some pair has no path any more */
	bool out_of_memory;
	uint32_t n_refused; /* LIDs that could not go back */
};

#endif
