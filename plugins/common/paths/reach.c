/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Breadth first search for 512 destinations at once.
 *
 * A bit per destination: front[u] holds the destinations that u met in the
 * last round.  u meets in this round what a neighbour met in the last and u
 * has not met before; the neighbour that brought it is a right next step.
 *
 * With directions there are two kinds of meeting, kept apart:
 *	down	by down arcs all the way
 *	up	by an up arc to a switch that met it either way, allowed only
 *		where going down never succeeds
 * so a first pass finds the whole of "down", and the second runs both in
 * step.  A path that has gone down once meets only "down" switches after,
 * which is the up/down rule for tables indexed by destination alone.
 */
#include "plugins/common/paths/reach.h"

#include <string.h>

/* The arcs that go up, or down, grouped by switch. */
struct half {
	fm_arc *first; /* [n_switches + 1] into arc[] */
	fm_arc *arc;
};

struct search {
	const struct fm_host *host;
	const struct fm_arcs *arcs;
	const struct fm_order *order; /* NULL = no directions */
	struct half half[2];	      /* with an order: down, up */
	const fm_sw *column_sw;
	uint32_t n_columns;
	const fm_lanes **towards; /* [n_blocks] made by the workers: zeroing them takes long */
	fm_lanes *met;		  /* [n_blocks][n_switches] */
	fm_lanes *room;		  /* [n_workers][ROOMS][n_switches] */
	uint8_t *room_on;	  /* [n_workers][ROOMS][n_switches] */
};

enum { DOWN, DOWN_NEXT, DOWN_SEEN, UP, UP_NEXT, UP_SEEN, ROOMS };

/* What switches met in one round.  Most meet nothing in most rounds: their sets are
 * neither read nor written. */
struct front {
	fm_lanes *met; /* [n_switches] */
	uint8_t *on;   /* [n_switches] it met anything; else met[] is whatever */
};

static inline __attribute__((always_inline)) bool
is_any(const fm_lanes *set)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < FM_LANES / 64; i++)
		any |= (*set)[i];
	return any != 0;
}

/* What one of the neighbours met that the switch did not before. */
struct meeting {
	const struct search *s;
	fm_lanes *towards;		  /* [n_arcs] or NULL */
	const fm_lanes *aside;		  /* columns that down arcs aside may be used for */
	const struct front *from, *from2; /* from2: NULL, or another one as good */
	const fm_lanes *closed, *closed2; /* [n_switches] met before; closed2: or NULL */
	const struct front *next;
};

/* What comes over an arc, if anything. */
static inline __attribute__((always_inline)) bool
brings(const struct meeting *m, fm_arc a, bool directed, bool up, fm_lanes *x)
{
	fm_sw v = m->s->arcs->to[a];
	bool on2 = m->from2 != NULL && m->from2->on[v];

	if (!m->from->on[v] && !on2)
		return false;
	*x = (fm_lanes){ 0 };
	if (m->from->on[v])
		*x = m->from->met[v];
	if (directed && !up && (m->s->order->way[a] & FM_ARC_ASIDE))
		*x &= *m->aside;
	if (on2)
		*x |= m->from2->met[v];
	return true;
}

/* One round for one switch.  What is met anew is stored in next; the arcs
 * that brought it are marked.  Returns whether there was anything. */
static inline __attribute__((always_inline)) bool
meet(const struct meeting *m, fm_sw u, bool directed, bool up)
{
	const fm_arc *first = directed ? m->s->half[up].first : m->s->arcs->first;
	const fm_arc *arc = m->s->half[up].arc;
	fm_lanes x = { 0 }, y;
	bool near = false;

	for (uint32_t i = first[u]; i < first[u + 1]; i++)
		if (brings(m, directed ? arc[i] : i, directed, up, &y)) {
			x |= y;
			near = true;
		}
	if (near) {
		x &= ~m->closed[u];
		if (m->closed2 != NULL)
			x &= ~m->closed2[u];
		near = is_any(&x);
	}
	m->next->on[u] = near;
	if (!near)
		return false;
	m->next->met[u] = x;
	for (uint32_t i = first[u]; m->towards != NULL && i < first[u + 1]; i++)
		if (brings(m, directed ? arc[i] : i, directed, up, &y)) {
			y &= x;
			if (is_any(&y))
				m->towards[directed ? arc[i] : i] |= y;
		}
	return true;
}

static inline __attribute__((always_inline)) void
add_to(fm_lanes *seen, const struct front *next, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (next->on[i])
			seen[i] |= next->met[i];
}

static void
start(const struct search *s, uint32_t block, const struct front *front, fm_lanes *seen)
{
	uint32_t n = s->arcs->n_switches, col = block * FM_LANES;

	memset(seen, 0, n * sizeof(*seen));
	memset(front->on, 0, n);
	for (uint32_t i = 0; i < FM_LANES && col + i < s->n_columns; i++) {
		fm_sw sw = s->column_sw[col + i];

		((uint64_t *)&seen[sw])[i / 64] |= (uint64_t)1 << (i % 64);
		front->met[sw] = seen[sw];
		front->on[sw] = 1;
	}
}

static void
swap(struct front *a, struct front *b)
{
	struct front t = *a;

	*a = *b;
	*b = t;
}

/* Without directions: one kind of meeting. */
FM_WIDE static void
search_all(
    const struct search *s, uint32_t block, struct front *room, fm_lanes *towards, fm_lanes *met)
{
	uint32_t n = s->arcs->n_switches;
	const struct meeting m = { .s = s,
		.towards = towards,
		.from = &room[DOWN],
		.closed = met,
		.next = &room[DOWN_NEXT] };

	start(s, block, &room[DOWN], met);
	for (bool any = true; any && !s->host->should_stop(s->host);) {
		any = false;
		for (fm_sw u = 0; u < n; u++)
			any |= meet(&m, u, false, false);
		add_to(met, &room[DOWN_NEXT], n);
		swap(&room[DOWN], &room[DOWN_NEXT]);
	}
}

/* All that can be met going down only; leaves it in room[DOWN_SEEN]. */
FM_WIDE static void
close_down(const struct search *s, uint32_t block, struct front *room, const fm_lanes *aside)
{
	uint32_t n = s->arcs->n_switches;
	const struct meeting m = { .s = s,
		.aside = aside,
		.from = &room[DOWN],
		.closed = room[DOWN_SEEN].met,
		.next = &room[DOWN_NEXT] };

	start(s, block, &room[DOWN], room[DOWN_SEEN].met);
	for (bool any = true; any;) {
		any = false;
		for (fm_sw u = 0; u < n; u++)
			any |= meet(&m, u, true, false);
		add_to(room[DOWN_SEEN].met, &room[DOWN_NEXT], n);
		swap(&room[DOWN], &room[DOWN_NEXT]);
	}
}

/* Both kinds in step.  met[] collects "down", room[UP_SEEN] the other kind. */
FM_WIDE static void
search_both(const struct search *s, uint32_t block, struct front *room, const fm_lanes *aside,
    fm_lanes *towards, fm_lanes *met)
{
	uint32_t n = s->arcs->n_switches;
	const struct meeting down = { .s = s,
		.towards = towards,
		.aside = aside,
		.from = &room[DOWN],
		.closed = met,
		.next = &room[DOWN_NEXT] };
	const struct meeting up = { .s = s,
		.towards = towards,
		.from = &room[DOWN],
		.from2 = &room[UP],
		.closed = room[DOWN_SEEN].met,
		.closed2 = room[UP_SEEN].met,
		.next = &room[UP_NEXT] };

	start(s, block, &room[DOWN], met);
	memset(room[UP].on, 0, n);
	memset(room[UP_SEEN].met, 0, n * sizeof(fm_lanes));
	for (bool any = true; any && !s->host->should_stop(s->host);) {
		any = false;
		for (fm_sw u = 0; u < n; u++) {
			any |= meet(&down, u, true, false);
			any |= meet(&up, u, true, true);
		}
		add_to(met, &room[DOWN_NEXT], n);
		swap(&room[DOWN], &room[DOWN_NEXT]);
		add_to(room[UP_SEEN].met, &room[UP_NEXT], n);
		swap(&room[UP], &room[UP_NEXT]);
	}
}

/* The columns of a block that aside arcs may be used for. */
static void
find_aside(const struct search *s, uint32_t block, fm_lanes *aside)
{
	const fm_sw *column_sw = s->column_sw + (size_t)block * FM_LANES;
	uint32_t n = s->n_columns - block * FM_LANES;

	memset(aside, 0, sizeof(*aside));
	for (uint32_t i = 0; i < n && i < FM_LANES; i++)
		((uint64_t *)aside)[i / 64] |= (uint64_t)s->order->aside[column_sw[i]] << (i % 64);
}

static void
one_block(void *arg, uint32_t block, unsigned worker)
{
	struct search *s = arg;
	uint32_t n = s->arcs->n_switches;
	fm_lanes *met = s->met + (size_t)block * n, aside;
	fm_lanes *towards = s->host->scratch_worker(
	    s->host, worker, ((size_t)s->arcs->n_arcs + 1) * sizeof(*towards));
	struct front room[ROOMS];

	s->towards[block] = towards;
	for (unsigned i = 0; i < ROOMS; i++)
		room[i] = (struct front){ s->room + ((size_t)worker * ROOMS + i) * n,
			s->room_on + ((size_t)worker * ROOMS + i) * n };
	if (towards == NULL)
		return;
	if (s->order == NULL) {
		search_all(s, block, room, towards, met);
		return;
	}
	find_aside(s, block, &aside);
	close_down(s, block, room, &aside);
	search_both(s, block, room, &aside, towards, met);
}

static int
split_arcs(struct search *s, struct fm_error *err)
{
	const struct fm_arcs *arcs = s->arcs;

	for (unsigned up = 0; up < 2; up++) {
		struct half *h = &s->half[up];
		uint32_t n = 0;

		h->first = fm_scratch_array(s->host, (size_t)arcs->n_switches + 1, fm_arc);
		h->arc = fm_scratch_array(s->host, arcs->n_arcs, fm_arc);
		if (h->first == NULL || h->arc == NULL)
			return fm_no_scratch(s->host, "arcs up and down", err);
		for (fm_sw u = 0; u < arcs->n_switches; u++) {
			h->first[u] = n;
			for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
				if (fm_goes_up(s->order, a) == (up != 0))
					h->arc[n++] = a;
		}
		h->first[arcs->n_switches] = n;
	}
	return 0;
}

int
fm_reach_build(const struct fm_host *host, const struct fm_arcs *arcs, const struct fm_order *order,
    const fm_sw *column_sw, uint32_t n_columns, struct fm_reach *out, struct fm_error *err)
{
	uint32_t n_blocks = (n_columns + FM_LANES - 1) / FM_LANES;
	struct search s = { .host = host,
		.arcs = arcs,
		.order = order,
		.column_sw = column_sw,
		.n_columns = n_columns,
		.towards = fm_scratch_array(host, n_blocks, const fm_lanes *),
		.met = fm_scratch_array(host, (size_t)n_blocks * arcs->n_switches, fm_lanes),
		.room = fm_scratch_array(
		    host, (size_t)host->n_workers(host) * ROOMS * arcs->n_switches, fm_lanes),
		.room_on = fm_scratch_array(
		    host, (size_t)host->n_workers(host) * ROOMS * arcs->n_switches, uint8_t) };

	if (s.towards == NULL || s.met == NULL || s.room == NULL || s.room_on == NULL)
		return fm_no_scratch(host, "sets of shortest paths", err);
	if (order != NULL && split_arcs(&s, err) != 0)
		return FM_E_RESOURCE;
	host->parallel_for(host, n_blocks, one_block, &s);
	for (uint32_t b = 0; b < n_blocks; b++)
		if (s.towards[b] == NULL)
			return fm_no_scratch(host, "sets of shortest paths", err);
	if (host->should_stop(host))
		return host->fail(host, err, FM_E_CANCELLED, "stopped while paths were searched");
	*out = (struct fm_reach){ .n_columns = n_columns,
		.n_blocks = n_blocks,
		.column_sw = column_sw,
		.towards = s.towards };
	return 0;
}
