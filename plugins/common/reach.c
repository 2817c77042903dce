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
#include "plugins/common/reach.h"

#include <string.h>

struct search {
	const struct fm_host *host;
	const struct fm_arcs *arcs;
	const struct fm_order *order; /* NULL = no directions */
	const fm_sw *column_sw;
	uint32_t n_columns;
	fm_lanes *towards; /* [n_blocks][n_arcs] */
	fm_lanes *met;	   /* [n_blocks][n_switches] */
	fm_lanes *room;	   /* [n_workers][ROOMS][n_switches] */
	unsigned *hops;	   /* [n_blocks] */
};

enum { ALL, ASIDE, MASKS };
enum { DOWN, DOWN_NEXT, DOWN_SEEN, UP, UP_NEXT, UP_SEEN, ROOMS };

static inline __attribute__((always_inline)) bool
takes(const struct search *s, fm_arc a, bool up)
{
	return s->order == NULL || (s->order->way[a] & FM_ARC_UP) == up;
}

/* The columns an arc may be used for. */
static inline __attribute__((always_inline)) const fm_lanes *
only(const struct search *s, fm_arc a, bool up, const fm_lanes *masks)
{
	return &masks[!up && s->order != NULL && s->order->way[a] & FM_ARC_ASIDE ? ASIDE : ALL];
}

/* One round for one switch.  What is met anew is stored in next; the arcs
 * that brought it are marked.  Returns whether there was anything. */
static inline __attribute__((always_inline)) bool
meet(const struct search *s, fm_lanes *towards, fm_sw u, bool up, const fm_lanes *masks,
    const fm_lanes *from, const fm_lanes *from2, const fm_lanes *closed, const fm_lanes *closed2,
    fm_lanes *next)
{
	const struct fm_arcs *arcs = s->arcs;
	fm_lanes x = { 0 };
	uint64_t any = 0;

	for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
		if (takes(s, a, up)) {
			x |= from[arcs->to[a]] & *only(s, a, up, masks);
			if (from2 != NULL)
				x |= from2[arcs->to[a]];
		}
	x &= ~closed[u];
	if (closed2 != NULL)
		x &= ~closed2[u];
	for (unsigned i = 0; i < FM_LANES / 64; i++)
		any |= x[i];
	next[u] = x;
	if (any == 0)
		return false;
	if (towards == NULL)
		return true;
	for (fm_arc a = arcs->first[u]; a < arcs->first[u + 1]; a++)
		if (takes(s, a, up)) {
			fm_lanes y = from[arcs->to[a]] & *only(s, a, up, masks);

			if (from2 != NULL)
				y |= from2[arcs->to[a]];
			towards[a] |= y & x;
		}
	return true;
}

static inline __attribute__((always_inline)) void
add_to(fm_lanes *seen, const fm_lanes *next, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		seen[i] |= next[i];
}

static void
start(const struct search *s, uint32_t block, fm_lanes *front, fm_lanes *seen)
{
	uint32_t n = s->arcs->n_switches, col = block * FM_LANES;

	memset(front, 0, n * sizeof(*front));
	for (uint32_t i = 0; i < FM_LANES && col + i < s->n_columns; i++)
		((uint64_t *)&front[s->column_sw[col + i]])[i / 64] |= (uint64_t)1 << (i % 64);
	memcpy(seen, front, n * sizeof(*front));
}

static void
swap(fm_lanes **a, fm_lanes **b)
{
	fm_lanes *t = *a;

	*a = *b;
	*b = t;
}

/* All that can be met going down only; leaves it in room[DOWN_SEEN]. */
FM_WIDE static void
close_down(const struct search *s, uint32_t block, fm_lanes **room, const fm_lanes *masks)
{
	uint32_t n = s->arcs->n_switches;
	bool any = true;

	start(s, block, room[DOWN], room[DOWN_SEEN]);
	while (any) {
		any = false;
		for (fm_sw u = 0; u < n; u++)
			any |= meet(s, NULL, u, false, masks, room[DOWN], NULL, room[DOWN_SEEN],
			    NULL, room[DOWN_NEXT]);
		add_to(room[DOWN_SEEN], room[DOWN_NEXT], n);
		swap(&room[DOWN], &room[DOWN_NEXT]);
	}
}

/* Both kinds in step.  met[] collects "down", room[UP_SEEN] the other kind. */
FM_WIDE static unsigned
search_block(
    const struct search *s, uint32_t block, fm_lanes **room, const fm_lanes *masks, fm_lanes *met)
{
	fm_lanes *towards = s->towards + (size_t)block * s->arcs->n_arcs;
	uint32_t n = s->arcs->n_switches;
	unsigned level = 0;
	bool any = true;

	start(s, block, room[DOWN], met);
	if (s->order != NULL) {
		memset(room[UP], 0, n * sizeof(fm_lanes));
		memset(room[UP_SEEN], 0, n * sizeof(fm_lanes));
	}
	while (any && !s->host->should_stop(s->host)) {
		any = false;
		for (fm_sw u = 0; u < n; u++) {
			any |= meet(s, towards, u, false, masks, room[DOWN], NULL, met, NULL,
			    room[DOWN_NEXT]);
			if (s->order != NULL)
				any |= meet(s, towards, u, true, masks, room[DOWN], room[UP],
				    room[DOWN_SEEN], room[UP_SEEN], room[UP_NEXT]);
		}
		level += any;
		add_to(met, room[DOWN_NEXT], n);
		swap(&room[DOWN], &room[DOWN_NEXT]);
		if (s->order != NULL) {
			add_to(room[UP_SEEN], room[UP_NEXT], n);
			swap(&room[UP], &room[UP_NEXT]);
		}
	}
	if (s->order != NULL)
		add_to(met, room[UP_SEEN], n);
	return level;
}

/* Columns for any arc, and those for aside arcs. */
static void
find_masks(const struct search *s, uint32_t block, fm_lanes *masks)
{
	const fm_sw *column_sw = s->column_sw + (size_t)block * FM_LANES;
	uint32_t n = s->n_columns - block * FM_LANES;

	memset(&masks[ALL], 0xff, sizeof(masks[ALL]));
	memset(&masks[ASIDE], 0, sizeof(masks[ASIDE]));
	for (uint32_t i = 0; s->order != NULL && i < n && i < FM_LANES; i++)
		((uint64_t *)&masks[ASIDE])[i / 64] |= (uint64_t)s->order->aside[column_sw[i]]
		    << (i % 64);
}

static void
one_block(void *arg, uint32_t block, unsigned worker)
{
	struct search *s = arg;
	uint32_t n = s->arcs->n_switches;
	fm_lanes *room[ROOMS], masks[MASKS];

	find_masks(s, block, masks);

	for (unsigned i = 0; i < ROOMS; i++)
		room[i] = s->room + ((size_t)worker * ROOMS + i) * n;
	if (s->order != NULL)
		close_down(s, block, room, masks);
	s->hops[block] = search_block(s, block, room, masks, s->met + (size_t)block * n);
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
		.towards = fm_scratch_array(host, (size_t)n_blocks * arcs->n_arcs, fm_lanes),
		.met = fm_scratch_array(host, (size_t)n_blocks * arcs->n_switches, fm_lanes),
		.room = fm_scratch_array(
		    host, (size_t)host->n_workers(host) * ROOMS * arcs->n_switches, fm_lanes),
		.hops = fm_scratch_array(host, n_blocks, unsigned) };

	if (s.towards == NULL || s.met == NULL || s.room == NULL || s.hops == NULL)
		return fm_no_scratch(host, "sets of shortest paths", err);
	host->parallel_for(host, n_blocks, one_block, &s);
	if (host->should_stop(host))
		return host->fail(err, FM_E_CANCELLED, "stopped while paths were searched");
	*out = (struct fm_reach){ .n_columns = n_columns,
		.n_blocks = n_blocks,
		.column_sw = column_sw,
		.towards = s.towards,
		.met = s.met };
	for (uint32_t b = 0; b < n_blocks; b++)
		if (s.hops[b] > out->max_hops)
			out->max_hops = s.hops[b];
	return 0;
}
