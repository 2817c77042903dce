/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/repair_entry.h - entries of the LID at hand: what is known of them, and how they are
 * read and written.
 */
#ifndef CORE_REPAIR_REPAIR_ENTRY_H
#define CORE_REPAIR_REPAIR_ENTRY_H

#include <string.h>

#include "core/repair/repair_internal.h"

static inline bool
has_mark(const struct repair *p, fm_sw sw, enum repair_mark mark)
{
	return p->mark[sw] == (p->number << 3 | mark);
}

static inline void
set_mark(struct repair *p, fm_sw sw, enum repair_mark mark)
{
	p->mark[sw] = p->number << 3 | mark;
	p->stamp += mark != MARK_LOST;
}

/* Marks of the LID, or of the step, before count no longer. */
static inline void
repair_new_marks(struct repair *p)
{
	p->number++;
	p->stamp++;
}

/* The channel by which sw sends the LID on, FM_NONE when there is no cable. */
static inline uint32_t
repair_egress(const struct repair *p, fm_sw sw)
{
	uint32_t c = depend_channel(p->g, sw, p->column[sw]);

	return c == FM_NONE || p->g->back[c] == FM_NONE ? FM_NONE : c;
}

/* The channel by which the switch behind channel c sends the LID here, over a cable that is
 * there; FM_NONE: it does not. */
static inline uint32_t
repair_sender(const struct repair *p, uint32_t c)
{
	fm_sw there = p->go[c];

	return there == FM_NONE || p->column[there] != p->g->back_port[c] ? FM_NONE : p->g->back[c];
}

/* The entry is this one from now on. */
static inline void
repair_write(struct repair *p, fm_sw sw, uint8_t port)
{
	p->t->lft[sw][p->lid] = port;
	p->column[sw] = port;
}

/* What did not go in. */
static inline void
repair_note_result(struct repair *p, enum depend_result rc)
{
	p->out_of_memory = p->out_of_memory || rc == DEPEND_NOMEM;
}

/* Does the spot wait for a way that there may be? */
static inline bool
repair_is_open(const struct repair *p, const struct repair_spot *s)
{
	const uint32_t *component = p->k->snap->sw_component;

	return has_mark(p, s->sw, MARK_LOST) && component[s->sw] == component[p->to];
}

/* Has a spot that packets need no way yet? */
static inline bool
repair_packet_is_left(const struct repair *p)
{
	for (size_t i = 0; i < p->spots.n; i++)
		if (!p->spots.item[i].idle && repair_is_open(p, &p->spots.item[i]))
			return true;
	return false;
}

static inline bool
repair_may_go(const struct repair *p, uint32_t c)
{
	return p->go[c] != FM_NONE && !has_mark(p, p->go[c], MARK_LOST);
}

/* Unless it is seen at once, as often: the way by channel c comes to a switch that is lost, or
 * has no cable to go on by. */
static inline bool
repair_may_arrive(const struct repair *p, uint32_t c)
{
	fm_sw there = p->go[c];
	uint32_t next;

	if (there == FM_NONE || has_mark(p, there, MARK_LOST) || p->fails[there] == p->stamp)
		return false;
	if (there == p->to)
		return true;
	next = depend_channel(p->g, there, p->column[there]);
	return next != FM_NONE && p->go[next] != FM_NONE && !has_mark(p, p->go[next], MARK_LOST);
}

/* p->column is that of the LID at hand. */
void repair_take_column(struct repair *p);
/* It will be soon. */
void repair_fetch_column(const struct repair *p, uint32_t lid);

#endif
