/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of one row.  Single next steps are runs of one port.  Several, none
 * of them up, are patterns class by class.  Several ways up: one pattern of all ways
 * up of the row, whatever each column lacks; only what is displaced is looked at by
 * itself.
 *
 * Displaced is what the pattern cannot place, or places where there is no way for it.
 * It goes to the port that carries least beyond its share of the pattern, counting those
 * that can pass here at all: a parent sees only what its children send to its slot.
 * (Counting all of them aliases: a round robin over every LID meets only one residue
 * class of those that pass.)
 */
#include "plugins/common/tree/spread_row.h"

#define CLASSES_MAX 6 /* groups of columns looked for in a block before going column by column */
#define WEIGHT_TRANSIT 64 /* of a destination that can pass, against 1 for one that should not */

/* ---------------------------------------------------------------- patterns */

static uint8_t
port_of(const struct row *r, fm_arc a, uint32_t cable)
{
	const struct fm_arcs *arcs = r->s->arcs;

	return r->s->fab->link_port[arcs->link[a] + cable % fm_arc_width(arcs, a)];
}

/* pattern[i]: the port of destinations with (t / divider) mod n_pattern == i. */
static void
make_pattern(struct row *r, bool by_slot)
{
	const struct fm_tree *tree = r->s->tree;
	uint32_t n = by_slot ? tree->width[r->sw] : r->n_steps, cables = 1;

	for (uint32_t i = 0; i < r->n_steps; i++) {
		uint32_t width = fm_arc_width(r->s->arcs, r->steps[i]);

		cables = width > cables ? width : cables;
	}
	while ((uint64_t)n * cables > PATTERN_MAX)
		cables--;
	r->by_slot = by_slot;
	set_divisor(&r->n_pattern, n * cables);
	if (by_slot && r->n_steps < n)
		memset(r->pattern, FM_PORT_NONE, n * cables);
	for (uint32_t i = 0; i < r->n_steps; i++) {
		uint32_t slot = by_slot ? tree->slot[r->s->arcs->to[r->steps[i]]] : i;

		for (uint32_t c = 0; c < cables; c++)
			r->pattern[c * n + slot] = port_of(r, r->steps[i], c);
	}
}

/* ports[p..stop-1] of numbers p + shift ... by the pattern. */
static void
lay_pattern(const struct row *r, uint8_t *ports, uint32_t p, uint32_t stop, uint32_t shift)
{
	uint32_t divider = r->divider.by;
	uint32_t q = quotient(&r->divider, p + shift), i = rest(&r->n_pattern, q), begin = p;
	uint64_t next = (uint64_t)(q + 1) * divider - shift,
		 period = (uint64_t)divider * r->n_pattern.by;
	uint32_t written, limit = stop - p < period ? stop : (uint32_t)(p + period);

	while (p < limit) {
		uint32_t to = next < limit ? (uint32_t)next : limit;
		uint8_t port = r->pattern[i];

		if (to - p == 1)
			ports[p] = port;
		else
			memset(ports + p, port, to - p);
		p = to;
		next += divider;
		i = i + 1 < r->n_pattern.by ? i + 1 : 0;
	}
	for (written = limit - begin; begin + written < stop; written *= 2) {
		uint32_t n = stop - begin - written < written ? stop - begin - written : written;

		memcpy(ports + begin + written, ports + begin, n);
	}
}

/* First moved entry at or after a position. */
static uint32_t
moved_from(const struct spread *s, uint32_t position)
{
	uint32_t lo = 0, hi = s->n_moved;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->moved[mid].position < position)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Do the children send this destination here when all cables are there? */
static int32_t
transit_weight(const struct row *r, uint32_t position)
{
	uint32_t digit;

	if (position >= r->s->lids->space[FM_OTHERS].start)
		return 1;
	if (r->lower_width.by == 0)
		return WEIGHT_TRANSIT;
	digit = rest(&r->lower_width, quotient(&r->lower_divider, r->s->number[position]));
	return digit == r->s->tree->slot[r->sw] ? WEIGHT_TRANSIT : 1;
}

static void
place(struct row *r, uint32_t position, int32_t weight, uint8_t port)
{
	r->load[r->ports[position]] -= weight;
	r->load[port] += weight;
	r->ports[position] = port;
}

/* At leaves, what is too many for the ways up goes by another one from each. */
static uint32_t
number_here(const struct row *r, const struct moved *m)
{
	const struct spread *s = r->s;

	if (s->tree->rank[r->sw] > 0 || !is_surplus(s, m->position))
		return m->number;
	return m->number / s->leaf_ways + s->col_of[r->sw];
}

/* Columns col..stop-1, whose next steps the pattern holds. */
static void
fill_columns(struct row *r, uint32_t col, uint32_t stop)
{
	const struct spread *s = r->s;

	for (unsigned which = 0; which < FM_SPACES; which++) {
		const struct fm_lid_space *space = &s->lids->space[which];
		uint32_t first = space->first[col], last = space->first[stop];

		for (uint32_t o = 0; first < last && o < space->n_offsets; o++) {
			uint32_t plane = space->start + o * space->n;

			lay_pattern(r, r->ports + plane, first, last, o);
			if (!r->by_slot || s->n_moved == 0)
				continue;
			for (uint32_t i = moved_from(s, plane + first);
			     i < s->n_moved && s->moved[i].position < plane + last; i++)
				place(r, s->moved[i].position,
				    transit_weight(r, s->moved[i].position),
				    r->pattern[rest(&r->n_pattern,
					quotient(&r->divider, number_here(r, &s->moved[i])))]);
		}
	}
}

/* A single next step over a single cable: no pattern to make. */
void
fm_spread_one_port(struct row *r, uint32_t col, uint32_t stop, uint8_t port)
{
	for (unsigned which = 0; which < FM_SPACES; which++) {
		const struct fm_lid_space *space = &r->s->lids->space[which];
		uint32_t first = space->first[col], n = space->first[stop] - first;

		for (uint32_t o = 0; n > 0 && o < space->n_offsets; o++) {
			uint8_t *to = r->ports + space->start + o * space->n + first;

			if (n == 1)
				*to = port;
			else
				memset(to, port, n);
		}
	}
}

/* ------------------------------------------------------- columns of a block */

/* Columns with the one next step a. */
static void
fill_single(struct row *r, uint32_t block, fm_arc a, const fm_lanes *set)
{
	bool one_cable = fm_arc_width(r->s->arcs, a) == 1;
	uint32_t base = block * FM_LANES, i = 0, stop;

	if (!one_cable) {
		r->steps[0] = a;
		r->n_steps = 1;
		make_pattern(r, false);
	}
	for (; next_run(set, &i, &stop); i = stop) {
		if (one_cable)
			fm_spread_one_port(r, base + i, base + stop, port_of(r, a, 0));
		else
			fill_columns(r, base + i, base + stop);
	}
}

/* The columns of set with just the next steps of column; leaves the steps in r. */
FM_WIDE static void
find_class(struct row *r, uint32_t block, uint32_t column, fm_lanes *set)
{
	const struct fm_arcs *arcs = r->s->arcs;

	r->n_steps = 0;
	for (fm_arc a = arcs->first[r->sw]; a < arcs->first[r->sw + 1]; a++) {
		const fm_lanes *t = fm_towards(r->s->reach, arcs, block, a);

		if (fm_lane_test(t, column)) {
			r->steps[r->n_steps++] = a;
			*set &= *t;
		} else
			*set &= ~*t;
	}
}

/* Of some arcs those that are next steps for the column into steps[]. */
static void
list_steps(struct row *r, uint32_t block, uint32_t column, const fm_arc *arc, uint32_t n_arcs)
{
	const fm_lanes *towards = fm_towards(r->s->reach, r->s->arcs, block, 0);

	r->n_steps = 0;
	for (uint32_t i = 0; i < n_arcs; i++) {
		r->steps[r->n_steps] = arc[i];
		r->n_steps += fm_lane_test(&towards[arc[i]], column);
	}
}

/* One column by steps[], position by position. */
static void
fill_one_column(struct row *r, uint32_t col)
{
	for (unsigned which = 0; which < FM_SPACES; which++) {
		const struct fm_lid_space *space = &r->s->lids->space[which];

		for (uint32_t o = 0; o < space->n_offsets; o++)
			for (uint32_t t = space->first[col]; t < space->first[col + 1]; t++) {
				uint32_t q = quotient(&r->divider, t + o);

				r->ports[space->start + o * space->n + t] =
				    port_of(r, r->steps[q % r->n_steps], q / r->n_steps);
			}
	}
}

/* Columns with several next steps, none of them up: class by class, then one
 * by one. */
static void
fill_several(struct row *r, uint32_t block, fm_lanes *set)
{
	uint32_t base = block * FM_LANES, i = 0, stop, n_all = 0;
	fm_arc all[256];

	for (unsigned n = 0; n < CLASSES_MAX; n++) {
		fm_lanes class = *set;

		i = 0;
		if (!next_run(set, &i, &stop))
			return;
		find_class(r, block, i, &class);
		make_pattern(r, false);
		for (; next_run(&class, &i, &stop); i = stop)
			fill_columns(r, base + i, base + stop);
		*set &= ~class;
	}
	for (fm_arc a = r->s->arcs->first[r->sw]; a < r->s->arcs->first[r->sw + 1]; a++)
		all[n_all++] = a;
	for (i = 0; next_run(set, &i, &stop);)
		for (; i < stop; i++) {
			list_steps(r, block, i, all, n_all);
			fill_one_column(r, base + i);
		}
}

/* -------------------------------------------------------------- several ways up */

static inline bool
has_port(const port_set *set, uint8_t port)
{
	return ((const uint64_t *)set)[port / 64] >> (port % 64) & 1;
}

/* For each of holes the ways that do not lead there: a sparse walk. */
static void
close_ways(struct row *r, uint32_t block, const fm_lanes *holes)
{
	const fm_lanes *towards = fm_towards(r->s->reach, r->s->arcs, block, 0);
	uint32_t i, stop;

	for (uint32_t w = 0; w < r->n_ways; w++) {
		fm_lanes closed = *holes & ~towards[r->ways[w].arc];

		for (i = 0; next_run(&closed, &i, &stop);)
			for (; i < stop; i++)
				add_port(&r->closed[i], r->ways[w].port);
	}
}

static void
list_open(struct row *r, const port_set *set)
{
	r->n_open = 0;
	for (unsigned w = 0; w < 4; w++)
		for (uint64_t bits = ((const uint64_t *)set)[w]; bits != 0; bits &= bits - 1)
			r->open[r->n_open++] = (uint8_t)(w * 64 + (unsigned)__builtin_ctzll(bits));
}

static uint8_t
least_loaded(const struct row *r, uint32_t turn)
{
	uint8_t port = r->open[turn];

	for (uint32_t i = turn + 1; i < r->n_open; i++)
		port = r->load[r->open[i]] < r->load[port] ? r->open[i] : port;
	for (uint32_t i = 0; i < turn; i++)
		port = r->load[r->open[i]] < r->load[port] ? r->open[i] : port;
	return port;
}

/* One destination, which the pattern led where there is no way for it.  What
 * should not pass here takes turns. */
static void
displace(struct row *r, uint32_t position)
{
	uint32_t turn = (r->s->number[position] + r->sw) % r->n_open;
	int32_t weight = transit_weight(r, position);

	r->displaced = true;
	place(r, position, weight, weight == 1 ? r->open[turn] : least_loaded(r, turn));
}

/* What of a column is not on one of these ports, which all lead there. */
static void
displace_column(struct row *r, uint32_t col, const port_set *set)
{
	r->n_open = 0;
	for (unsigned which = 0; which < FM_SPACES; which++) {
		const struct fm_lid_space *space = &r->s->lids->space[which];
		uint32_t first = space->first[col], n = space->first[col + 1] - first;

		for (uint32_t o = 0; n > 0 && o < space->n_offsets; o++) {
			uint32_t plane = space->start + o * space->n + first;

			for (uint32_t p = plane; p < plane + n; p++)
				if (!has_port(set, r->ports[p])) {
					if (r->n_open == 0)
						list_open(r, set);
					displace(r, p);
				}
		}
	}
}

/* Columns with a way up among several next steps.  Only ways up are taken: a
 * path that goes down and up again is as short, but makes credit loops.  holes:
 * those for which not all ways up lead. */
static void
fill_up(struct row *r, uint32_t block, const fm_lanes *set, const fm_lanes *holes)
{
	uint32_t base = block * FM_LANES, i = 0, stop;
	fm_lanes whole = *set & ~*holes;

	if (!next_run(set, &i, &stop))
		return;
	memcpy(r->steps, r->up_steps, r->n_up_steps * sizeof(*r->steps));
	r->n_steps = r->n_up_steps;
	make_pattern(r, true);
	for (; next_run(set, &i, &stop); i = stop)
		fill_columns(r, base + i, base + stop);
	for (i = 0; !r->has_all_slots && next_run(&whole, &i, &stop);)
		for (; i < stop; i++)
			displace_column(r, base + i, &r->all_ways);
	close_ways(r, block, holes);
	for (i = 0; next_run(holes, &i, &stop);)
		for (; i < stop; i++) {
			port_set open = r->all_ways & ~r->closed[i];

			displace_column(r, base + i, &open);
			r->closed[i] = (port_set){ 0 };
		}
}

FM_WIDE void
fm_spread_block(struct row *r, uint32_t block, const fm_lanes *only)
{
	const struct fm_arcs *arcs = r->s->arcs;
	const fm_lanes *towards = fm_towards(r->s->reach, arcs, block, 0);
	fm_lanes once = { 0 }, twice = { 0 }, up = { 0 }, all_up = ~once, set, holes;

	for (fm_arc a = arcs->first[r->sw]; a < arcs->first[r->sw + 1]; a++) {
		twice |= once & towards[a];
		once |= towards[a];
	}
	for (uint32_t i = 0; i < r->n_up_steps; i++) {
		up |= towards[r->up_steps[i]];
		all_up &= towards[r->up_steps[i]];
	}
	up &= *only;
	for (fm_arc a = arcs->first[r->sw]; a < arcs->first[r->sw + 1]; a++) {
		set = towards[a] & ~twice & *only;
		if (!is_empty(&set))
			fill_single(r, block, a, &set);
	}
	set = twice & up;
	holes = set & ~all_up;
	fill_up(r, block, &set, &holes);
	set = twice & ~up & *only;
	fill_several(r, block, &set);
}
