/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/repair_event.h - an event from its entries to its verdict.
 */
#ifndef CORE_REPAIR_REPAIR_EVENT_H
#define CORE_REPAIR_REPAIR_EVENT_H

#include "core/repair/repair_internal.h"

struct repair_event {
	FM_VEC(struct repair_item) items; /* entries that may lead nowhere */
	uint32_t *first;		  /* [n_lids + 1] into sorted */
	fm_sw *sorted;			  /* [items.n] switches by LID */
	uint32_t n_lids;
	bool anything_back;
	bool counted;	   /* the loads are of the ends there are now */
	uint8_t *is_fresh; /* [n_lids] the LID had no owner at the event before */
	bool has_fresh;
	bool collected;			      /* what fresh LIDs depend on is held already */
	uint64_t *concerns;		      /* [n_lids] bits: LIDs that may be touched */
	FM_VEC(fm_sw) senders;		      /* switches from which nobody sent then */
	FM_VEC(struct plan_entry) deviations; /* to begin with, by LID and switch */
};

/* repair_visit.c: all LIDs.  False: this cannot be repaired, or memory is out. */
bool repair_visit_lids(struct repair *p, const struct repair_event *ev);
/* Room for p.  False: out of memory. */
bool repair_take_room(struct repair *p, struct repair_room *room);

/* repair_event.c: entries that may lead nowhere, by LID.  False: out of memory. */
bool repair_find_items(struct repair *p, struct repair_event *ev);
/* Does each end with a fresh LID send in VLs in which ends of its switch sent before, so that of
 * what it sends nothing is news? */
bool repair_fresh_send_alike(const struct repair *p, const struct repair_event *ev);
void repair_event_fini(struct repair_event *ev);

/* The verdict of p's plan, by its dirty LIDs.  False: it has to be judged as a whole. */
int repair_judge(struct repair *p, bool *judged, struct fm_error *err);

#endif
