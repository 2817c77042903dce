/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LID after LID; after an event that touches many entries by all workers.
 *
 * The LIDs are cut into REPAIR_SHARDS ranges of about the same work, as many whatever
 * the number of workers.  Each is chosen for by itself, from the loads that were and
 * along dependencies that are held: none is inserted meanwhile, so that all may look at
 * them.  A LID that needs a new one is put back as it was, and its turn comes when all
 * ranges are done, one LID after another in ascending order.  So neither the number of
 * workers nor their pace changes what is chosen.  Where VLs go by ports nearly all LIDs
 * would have to wait for their turn, as where pairs get other SLs: there it is one after
 * another from the start.
 *
 * Columns are bytes of their own, as is what else is kept by LID.
 */
#include <stdlib.h>
#include <string.h>

#include "core/repair/repair_choice.h"
#include "core/repair/repair_entry.h"
#include "core/repair/repair_event.h"
#include "core/repair/repair_way.h"
#include "lib/algo/search.h"
#include "lib/bitset.h"

#define SHARD_LEAST 256u /* entries looked at: for fewer it is not worth it */

typedef FM_VEC(uint16_t) lid_list;

struct shard {
	struct repair p;
	const struct repair_event *ev;
	uint32_t from, to; /* LIDs */
	lid_list later;	   /* what needs new dependencies, ascending */
};

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
	free(room->load);
	free(room->owns);
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
	room->seen = malloc(n * sizeof(*room->seen));
	room->column = malloc(n);
	if (room->mark != NULL && room->spot_of != NULL && room->arrives != NULL &&
	    room->held != NULL && room->was != NULL && room->nominal != NULL &&
	    room->fails != NULL && room->carries != NULL && room->cover != NULL &&
	    room->cover_list != NULL && room->seen != NULL && room->column != NULL)
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
repair_take_room(struct repair *p, struct repair_room *room, bool load)
{
	uint32_t n = p->g->n_switches;
	size_t n_bytes = (p->g->n_channels + 1) * sizeof(*room->load);

	if (room->mark == NULL && !alloc_room(room, p->g))
		return false;
	if (load && room->load == NULL)
		room->load = malloc(n_bytes);
	if (load && room->owns == NULL)
		room->owns = malloc(n + 1);
	if (load && (room->load == NULL || room->owns == NULL))
		return false;
	if (!load && room->go == NULL)
		room->go = malloc((p->g->n_channels + 1) * sizeof(*room->go));
	if (!load && room->go == NULL)
		return false;
	if (!load)
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
	if (repair_stops(p))
		return;
	repair_new_marks(p);
	add_spots(p, ev);
	if (p->spots.n > 0 && p->deps != NULL)
		repair_lid_by_ports(p);
	else if (p->spots.n > 0)
		repair_lid(p);
}

/* Of which the event touches entries; dev: its deviations.  False: this cannot be repaired, memory
 * is out, or it is postponed. */
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
	if (!p->hopeless && !repair_stops(p) && !insert_fresh(p, ev))
		p->hopeless = true;
	if (!fm_vec_append(&p->deviations, p->dev.item, p->dev.n))
		p->out_of_memory = true;
	return !p->hopeless && !repair_stops(p);
}

/* ------------------------------------------------------------ a range of LIDs */

/* n_dev: its deviations. */
static inline bool
is_touched(const struct repair *p, const struct repair_event *ev, uint32_t lid, size_t n_dev)
{
	return (ev->first[lid] < ev->first[lid + 1] || (ev->anything_back && n_dev > 0) ||
		   ev->is_fresh[lid] || ev->senders.n > 0) &&
	    lid <= p->fab->max_lid && repair_is_owned(p->fab, lid);
}

/* The first deviation of a LID, or of a later one. */
static size_t
find_deviations(const struct repair_event *ev, uint32_t lid)
{
	size_t at;

	fm_lower_bound(at, ev->deviations.n, i, ev->deviations.item[i].lid < lid);
	return at;
}

static inline size_t
count_deviations(const struct repair_event *ev, size_t at, uint32_t lid)
{
	size_t n = 0;

	while (at + n < ev->deviations.n && ev->deviations.item[at + n].lid == lid)
		n++;
	return n;
}

/* The first LID from `from` on that may be touched, or to. */
static inline uint32_t
next_lid(const struct repair_event *ev, uint32_t from, uint32_t to)
{
	return (uint32_t)fm_bit_next(ev->concerns, to, from);
}

/* In a shard: what has to be postponed is as it was. */
static bool
try_lid(struct repair *p, const struct repair_event *ev, const struct plan_entry *dev, size_t n_dev,
    lid_list *later)
{
	size_t n_delta = p->delta.n, n_shifts = p->shifts.n, n_deviations = p->deviations.n;
	uint32_t n_refused = p->n_refused;
	uint8_t dirty = p->dirty[p->lid];
	bool ok;

	p->undo.n = 0;
	ok = visit_lid(p, ev, dev, n_dev);
	if (!p->postponed)
		return ok;
	repair_take_back(p);
	p->delta.n = n_delta;
	p->shifts.n = n_shifts;
	p->deviations.n = n_deviations;
	p->n_refused = n_refused;
	p->dirty[p->lid] = dirty;
	p->hopeless = p->postponed = false;
	return !p->out_of_memory && fm_vec_push(later, p->lid);
}

/* LIDs from `from` to `to` - 1. */
static bool
visit_range(
    struct repair *p, const struct repair_event *ev, uint32_t from, uint32_t to, lid_list *later)
{
	size_t at = find_deviations(ev, from), n;
	bool ok = true;

	for (uint32_t lid = next_lid(ev, from, to), next; ok && lid < to; lid = next, at += n) {
		const struct plan_entry *dev;

		next = next_lid(ev, lid + 1, to);
		repair_fetch_column(p, next);
		n = count_deviations(ev, at, lid);
		dev = n > 0 ? ev->deviations.item + at : NULL;
		p->lid = (uint16_t)lid;
		if (!is_touched(p, ev, lid, n))
			ok = fm_vec_append(&p->deviations, dev, n);
		else if (p->in_shard)
			ok = try_lid(p, ev, dev, n, later);
		else
			ok = visit_lid(p, ev, dev, n);
	}
	p->out_of_memory = p->out_of_memory || (!ok && !p->hopeless);
	return ok;
}

/* ------------------------------------------------------------------- shards */

/* work[n_lids], zeroed: entries looked at for a LID, or so.  Their sum. */
static uint64_t
find_work(const struct repair *p, const struct repair_event *ev, uint32_t *work)
{
	uint64_t sum = 0;
	size_t at = 0, n;

	for (uint32_t lid = next_lid(ev, 0, ev->n_lids); lid < ev->n_lids;
	     lid = next_lid(ev, lid + 1, ev->n_lids), at += n) {
		n = count_deviations(ev, at, lid);
		if (is_touched(p, ev, lid, n))
			work[lid] = 1 + ev->first[lid + 1] - ev->first[lid] +
			    (ev->anything_back ? (uint32_t)n : 0);
		sum += work[lid];
	}
	return sum;
}

static void
cut_ranges(const struct repair_event *ev, const uint32_t *work, uint64_t sum, struct shard *shards)
{
	uint64_t done = 0;
	uint32_t lid = 0;

	for (unsigned i = 0; i < REPAIR_SHARDS; i++) {
		shards[i].ev = ev;
		shards[i].from = lid;
		for (; lid < ev->n_lids && done * REPAIR_SHARDS < sum * (i + 1); lid++)
			done += work[lid];
		shards[i].to = lid;
	}
	shards[REPAIR_SHARDS - 1].to = ev->n_lids;
}

static void
run_shard(void *arg, uint32_t i, unsigned worker)
{
	struct shard *s = (struct shard *)arg + i;
	struct repair *p = &s->p;

	if (!repair_take_room(p, &p->st->shard_room[i], true)) {
		p->out_of_memory = true;
		return;
	}
	p->load = p->st->shard_room[i].load;
	p->owns = p->st->shard_room[i].owns;
	memset(p->owns, 0, p->g->n_switches);
	visit_range(p, s->ev, s->from, s->to, &s->later);
}

static void
end_shard(struct shard *s)
{
	fm_vec_fini(&s->p.spots);
	fm_vec_fini(&s->p.dev);
	fm_vec_fini(&s->p.stack);
	fm_vec_fini(&s->p.idle);
	fm_vec_fini(&s->p.banned);
	fm_vec_fini(&s->p.undo);
	fm_vec_fini(&s->p.delta);
	fm_vec_fini(&s->p.deviations);
	fm_vec_fini(&s->p.shifts);
	fm_vec_fini(&s->later);
}

/* What a shard has found, behind that of those before it. */
static bool
collect(struct repair *p, const struct shard *s)
{
	const struct repair *from = &s->p;

	p->n_refused += from->n_refused;
	p->out_of_memory = p->out_of_memory || from->out_of_memory;
	if (from->hopeless && !p->hopeless) {
		p->hopeless = true;
		p->lid = from->lid;
	}
	return fm_vec_append(&p->delta, from->delta.item, from->delta.n) &&
	    fm_vec_append(&p->deviations, from->deviations.item, from->deviations.n) &&
	    fm_vec_append(&p->shifts, from->shifts.item, from->shifts.n);
}

static bool
is_owned_by_any(const struct shard *shards, fm_sw sw)
{
	unsigned any = 0;

	for (unsigned i = 0; i < REPAIR_SHARDS; i++)
		any |= shards[i].p.owns[sw];
	return any != 0;
}

/* What the shards have moved: of a switch that has loads of its own in some. */
static void
add_loads(struct repair *p, const struct shard *shards)
{
	const uint32_t *first = p->g->first;
	uint32_t was[256 + 1];

	for (fm_sw sw = 0; sw < p->g->n_switches; sw++) {
		uint32_t n = first[sw + 1] - first[sw], *load = p->load + first[sw];

		if (!is_owned_by_any(shards, sw))
			continue;
		memcpy(was, load, n * sizeof(*was));
		for (unsigned i = 0; i < REPAIR_SHARDS; i++)
			for (uint32_t c = 0; shards[i].p.owns[sw] && c < n; c++)
				load[c] += shards[i].p.load[first[sw] + c] - was[c];
	}
}

/* ---------------------------------------------------- one LID after another */

/* Two lists, n_first in the first, each ascending by LID, become one; room: as long. */
static void
merge_by_lid(struct plan_entry *list, size_t n_first, size_t n, struct plan_entry *room)
{
	size_t a = 0, b = n_first;

	for (size_t i = 0; i < n; i++)
		room[i] =
		    b == n || (a < n_first && list[a].lid <= list[b].lid) ? list[a++] : list[b++];
	if (n > 0)
		memcpy(list, room, n * sizeof(*list));
}

static bool
visit_later(struct repair *p, const struct repair_event *ev, const struct shard *shards)
{
	size_t n_delta = p->delta.n, n_deviations = p->deviations.n, n;
	struct plan_entry *room;

	for (unsigned i = 0; i < REPAIR_SHARDS; i++)
		for (size_t j = 0; j < shards[i].later.n; j++) {
			size_t at = find_deviations(ev, shards[i].later.item[j]);

			p->lid = shards[i].later.item[j];
			n = count_deviations(ev, at, p->lid);
			if (!visit_lid(p, ev, n > 0 ? ev->deviations.item + at : NULL, n))
				return false;
		}
	if (p->delta.n == n_delta && p->deviations.n == n_deviations)
		return true;
	n = p->delta.n > p->deviations.n ? p->delta.n : p->deviations.n;
	room = malloc((n + 1) * sizeof(*room));
	if (room == NULL) {
		p->out_of_memory = true;
		return false;
	}
	merge_by_lid(p->delta.item, n_delta, p->delta.n, room);
	merge_by_lid(p->deviations.item, n_deviations, p->deviations.n, room);
	free(room);
	return true;
}

static bool
visit_in_shards(struct repair *p, const struct repair_event *ev, struct shard *shards)
{
	bool ok = true;

	for (unsigned i = 0; i < REPAIR_SHARDS; i++) {
		shards[i].p = *p; /* of its vectors none is in use yet */
		shards[i].p.in_shard = true;
	}
	p->g->frozen = true;
	fm_pool_for(p->r->workers, REPAIR_SHARDS, run_shard, shards);
	p->g->frozen = false;
	for (unsigned i = 0; i < REPAIR_SHARDS; i++)
		ok = collect(p, &shards[i]) && ok;
	p->out_of_memory = p->out_of_memory || !ok;
	if (p->out_of_memory || p->hopeless)
		return false;
	add_loads(p, shards);
	return visit_later(p, ev, shards);
}

bool
repair_visit_lids(struct repair *p, const struct repair_event *ev)
{
	struct shard *shards = calloc(REPAIR_SHARDS, sizeof(*shards));
	uint32_t *work = calloc(ev->n_lids + 1, sizeof(*work));
	uint64_t sum;
	bool ok = false;

	p->out_of_memory = shards == NULL || work == NULL;
	if (!p->out_of_memory) {
		sum = find_work(p, ev, work);
		cut_ranges(ev, work, sum, shards);
		if (p->deps == NULL && !p->may_move && sum >= SHARD_LEAST)
			ok = visit_in_shards(p, ev, shards);
		else
			ok = visit_range(p, ev, 0, ev->n_lids, NULL);
	}
	for (unsigned i = 0; shards != NULL && i < REPAIR_SHARDS; i++)
		end_shard(&shards[i]);
	free(shards);
	free(work);
	return ok;
}
