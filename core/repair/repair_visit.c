/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LID after LID, in ascending order: what goes back, what is chosen anew, what packets of ends that
 * are new depend on.  And the room for that.
 */
#include <stdlib.h>
#include <string.h>

#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_event.h"
#include "core/repair/repair_way.h"
#include "lib/bitset.h"

/* --------------------------------------------------------------------- room */

void
repair_room_free(struct repair_room *room)
{
	free(room->mark);
	free(room->spot_of);
	free(room->arrives);
	free(room->held);
	free(room->was);
	free(room->nominal);
	free(room->fails);
	free(room->carries);
	free(room->go);
	free(room->cover);
	free(room->cover_list);
	free(room->seen);
	free(room->column);
	memset(room, 0, sizeof(*room));
}

static bool
alloc_room(struct repair_room *room, const struct depend *g)
{
	uint32_t n = g->n_switches + 1, n_channels = g->n_channels + 1;

	room->mark = malloc(n * sizeof(*room->mark));
	room->spot_of = calloc(n, sizeof(*room->spot_of));
	room->arrives = malloc(n * sizeof(*room->arrives));
	room->held = malloc(n * sizeof(*room->held));
	room->was = malloc(n * sizeof(*room->was));
	room->nominal = malloc(n * sizeof(*room->nominal));
	room->fails = malloc(n * sizeof(*room->fails));
	room->carries = malloc(n * sizeof(*room->carries));
	room->cover = malloc(n * sizeof(*room->cover));
	room->cover_list = malloc(n_channels * sizeof(*room->cover_list));
	room->go = malloc(n_channels * sizeof(*room->go));
	room->seen = malloc(n * sizeof(*room->seen));
	room->column = malloc(n);
	if (room->mark != NULL && room->spot_of != NULL && room->arrives != NULL &&
	    room->held != NULL && room->was != NULL && room->nominal != NULL &&
	    room->fails != NULL && room->carries != NULL && room->cover != NULL &&
	    room->cover_list != NULL && room->go != NULL && room->seen != NULL &&
	    room->column != NULL)
		return true;
	repair_room_free(room);
	return false;
}

/* Where the channels lead now: they change by p->lost alone. */
static void
find_ways_on(struct repair *p, struct repair_room *room)
{
	memcpy(room->go, p->g->to, p->g->n_channels * sizeof(*room->go));
	FM_EACH_BIT (c, p->lost, p->g->n_channels)
		room->go[c] = FM_NONE;
	p->go = room->go;
}

bool
repair_take_room(struct repair *p, struct repair_room *room)
{
	uint32_t n = p->g->n_switches;

	if (room->mark == NULL && !alloc_room(room, p->g))
		return false;
	find_ways_on(p, room);
	memset(room->mark, 0, n * sizeof(*room->mark));
	memset(room->arrives, 0, n * sizeof(*room->arrives));
	memset(room->held, 0, n * sizeof(*room->held));
	memset(room->was, 0, n * sizeof(*room->was));
	memset(room->nominal, 0, n * sizeof(*room->nominal));
	memset(room->fails, 0, n * sizeof(*room->fails));
	memset(room->carries, 0, n * sizeof(*room->carries));
	for (uint32_t i = 0; i < n; i++)
		room->cover[i].changes = UINT64_MAX;
	p->number = p->carrying = 0;
	p->stamp = 1;
	p->mark = room->mark;
	p->spot_of = room->spot_of;
	p->arrives = room->arrives;
	p->held = room->held;
	p->was = room->was;
	p->nominal = room->nominal;
	p->fails = room->fails;
	p->carries = room->carries;
	p->cover = room->cover;
	p->cover_list = room->cover_list;
	p->seen = room->seen;
	p->own_column = room->column;
	return true;
}

/* ---------------------------------------------------------------- one LID */

/* A switch from which nobody sends, and whose entry is nominal and leads nowhere, were all
 * cables there: it needs none. */
static bool
never_led(const struct repair *p, fm_sw sw)
{
	if (p->sends[sw] || repair_nominal(p, sw) != p->column[sw])
		return false;
	for (uint32_t n = 0; sw != p->to && n <= p->g->n_switches; n++) {
		uint32_t c = repair_egress(p, sw);

		if (c == FM_NONE)
			return true;
		sw = p->g->to[c];
	}
	return false;
}

static void
add_spots(struct repair *p, const struct repair_event *ev)
{
	p->spots.n = 0;
	for (uint32_t i = ev->first[p->lid]; i < ev->first[p->lid + 1]; i++) {
		fm_sw sw = ev->sorted[i];
		struct repair_spot s = { .sw = sw, .old_port = p->column[sw] };

		if (sw == p->to || has_mark(p, sw, MARK_LOST) ||
		    repair_depth(p, sw) != REPAIR_FAR || never_led(p, sw))
			continue;
		s.old_depth = repair_old_depth(p, sw);
		if (!fm_vec_push(&p->spots, s))
			p->out_of_memory = true;
	}
	for (size_t i = 0; i < p->spots.n; i++)
		set_mark(p, p->spots.item[i].sw, MARK_LOST);
}

/* Packets to a LID that was away, and from switches that were, depend on what
 * the tables hold for them. */
static bool
insert_fresh(struct repair *p, const struct repair_event *ev)
{
	enum depend_result rc = DEPEND_HELD;

	if (ev->collected)
		return true;
	if (ev->is_fresh[p->lid])
		rc = repair_insert_lid(p, FM_NONE);
	for (size_t i = 0; rc < DEPEND_CYCLE && i < ev->senders.n; i++)
		rc = repair_insert_lid(p, ev->senders.item[i]);
	repair_note_result(p, rc);
	return rc < DEPEND_CYCLE;
}

static void
choose_anew(struct repair *p, const struct repair_event *ev, bool deviates)
{
	repair_new_marks(p);
	if (deviates && (ev->anything_back || ev->is_fresh[p->lid]))
		repair_back(p);
	if (p->out_of_memory)
		return;
	repair_new_marks(p);
	add_spots(p, ev);
	if (p->spots.n > 0 && p->deps != NULL)
		repair_lid_by_ports(p);
	else if (p->spots.n > 0)
		repair_lid(p);
}

/* Of which the event touches entries; dev: its deviations.  False: this cannot be repaired, or
 * memory is out. */
static bool
visit_lid(
    struct repair *p, const struct repair_event *ev, const struct plan_entry *dev, size_t n_dev)
{
	repair_take_column(p);
	p->to = p->fab->end_sw[p->fab->lid_end[p->lid]];
	p->to_switch = p->fab->end_kind[p->fab->lid_end[p->lid]] == FM_END_SWITCH;
	p->dev.n = 0;
	if (!fm_vec_append(&p->dev, dev, n_dev)) {
		p->out_of_memory = true;
		return false;
	}
	choose_anew(p, ev, n_dev > 0);
	if (!p->hopeless && !p->out_of_memory && !insert_fresh(p, ev))
		p->hopeless = true;
	if (!fm_vec_append(&p->deviations, p->dev.item, p->dev.n))
		p->out_of_memory = true;
	return !p->hopeless && !p->out_of_memory;
}

/* ---------------------------------------------------------------- all LIDs */

/* n_dev: its deviations. */
static inline bool
is_touched(const struct repair *p, const struct repair_event *ev, uint32_t lid, size_t n_dev)
{
	return (ev->first[lid] < ev->first[lid + 1] || (ev->anything_back && n_dev > 0) ||
		   ev->is_fresh[lid] || ev->senders.n > 0) &&
	    lid <= p->fab->max_lid && graph_has_owner(p->fab, lid);
}

static inline size_t
count_deviations(const struct repair_event *ev, size_t at, uint32_t lid)
{
	size_t n = 0;

	while (at + n < ev->deviations.n && ev->deviations.item[at + n].lid == lid)
		n++;
	return n;
}

/* The first LID from `from` on that may be touched, or n_lids. */
static inline uint32_t
next_lid(const struct repair_event *ev, uint32_t from)
{
	return (uint32_t)fm_bit_next(ev->concerns, ev->n_lids, from);
}

bool
repair_visit_lids(struct repair *p, const struct repair_event *ev)
{
	size_t at = 0, n;
	bool ok = true;

	for (uint32_t lid = next_lid(ev, 0), next; ok && lid < ev->n_lids; lid = next, at += n) {
		const struct plan_entry *dev;

		next = next_lid(ev, lid + 1);
		repair_fetch_column(p, next);
		n = count_deviations(ev, at, lid);
		dev = n > 0 ? ev->deviations.item + at : NULL;
		p->lid = (uint16_t)lid;
		ok = is_touched(p, ev, lid, n) ? visit_lid(p, ev, dev, n)
					       : fm_vec_append(&p->deviations, dev, n);
	}
	p->out_of_memory = p->out_of_memory || (!ok && !p->hopeless);
	return ok;
}
