/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The position of a destination is its number t.  A switch of divider P whose
 * plane above has w parents sends t to slot (t / P) mod w, and there over
 * cable (t / P / w) mod cables: consecutive hosts of a leaf go to different
 * parents, those that meet in one parent go to different grandparents, and
 * so on.  Along a run of destinations with the same next steps this is a
 * pattern of period P * w * cables, written once and then copied.
 *
 * Where cables are missing:
 *  1. On the way down to the destination.  The main path of t is walked up
 *     from its leaf; where the slot it asks for has no cable, t is given
 *     another number whose digit names a slot that has one (the least loaded
 *     by main paths).  All sources then agree on the detour.
 *  2. At a source.  What the pattern cannot place, or places where there is
 *     no way for it, is displaced to the port that carries least beyond its
 *     share of the pattern, counting those that can pass here at all: a parent
 *     sees only what its children send to its slot.  (Counting all of them
 *     aliases: a round robin over every LID meets only one residue class of
 *     those that pass.)
 *
 * Columns with several ways up thus are laid by one pattern of all ways up of
 * the row, whatever each lacks; only what is displaced is looked at by itself.
 *
 * Siblings have the same cables into the same slots, and where next steps are the
 * same too, so are the entries.  So a row begins as a copy of the one before it in
 * the tree's order, and only the columns whose next steps differ are filled.  Not
 * where something was displaced: that depends on all columns of the row.
 */
#include "plugins/common/spread.h"

#include <string.h>

#define PATTERN_MAX 16384 /* slots times cables of the widest: at most 128 * 127 of 254 ports */
#define CLASSES_MAX 6 /* groups of columns looked for in a block before going column by column */
#define TASK_ROWS 32  /* a task's first row is filled column by column */
#define WEIGHT_TRANSIT 64 /* of a destination that can pass, against 1 for one that should not */

struct moved {
	uint32_t position, number;
};

struct spread {
	const struct fm_fabric *fab;
	const struct fm_arcs *arcs;
	const struct fm_tree *tree;
	const struct fm_reach *reach;
	const struct fm_lids *lids;
	const struct fm_tables *out;
	struct moved *moved; /* [n_moved] ascending positions: case 1 */
	uint32_t n_moved;
	uint32_t *number; /* [n_positions] after the moves */
	uint32_t *col_of; /* [n_switches] */
	struct row *rows; /* [n_workers] */
};

/* Division by a number that stays the same for a row (Lemire, Kaser, Kurz 2019:
 * exact for 32 bits). */
struct divisor {
	uint64_t inverse; /* 2^64 / by, rounded up; unused for 1 */
	uint32_t by;
};

/* One bit a port.  Never passed by value, like fm_lanes. */
typedef uint64_t port_set __attribute__((vector_size(32)));

struct way {
	fm_arc arc;
	uint8_t port;
};

/* What a worker needs for the row in hand. */
struct row {
	const struct spread *s;
	fm_sw sw;
	uint8_t *ports;	  /* [n_positions] the row by position */
	uint8_t *pattern; /* [PATTERN_MAX] */
	struct divisor n_pattern, divider, lower_width, lower_divider;
	bool by_slot;	  /* the pattern goes by slots of the plane above */
	fm_arc *up_steps; /* [256] arcs up that have a slot: the ways up */
	uint32_t n_up_steps;
	bool has_all_slots;
	fm_arc *steps; /* [256] next steps of the columns in hand */
	uint32_t n_steps;
	struct way *ways; /* [n_ways] cables of up_steps */
	uint32_t n_ways;
	port_set all_ways;
	port_set *closed; /* [FM_LANES] ways that do not lead to a column of the block */
	uint8_t *open;	  /* [256] ports of the ways for the column in hand, when listed */
	uint32_t n_open;
	int32_t load[256]; /* by port: more than the pattern's share; FM_PORT_NONE too */
	bool displaced;	   /* anything in this row */
	fm_lanes *changed; /* [n_blocks] columns not as in the row before */
};

static inline void
set_divisor(struct divisor *d, uint32_t by)
{
	d->by = by;
	d->inverse = by > 1 ? UINT64_MAX / by + 1 : 0;
}

static inline uint32_t
quotient(const struct divisor *d, uint32_t x)
{
	return d->by == 1 ? x : (uint32_t)(((unsigned __int128)d->inverse * x) >> 64);
}

static inline uint32_t
rest(const struct divisor *d, uint32_t x)
{
	return x - quotient(d, x) * d->by;
}

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
				    r->pattern[rest(
					&r->n_pattern, quotient(&r->divider, s->moved[i].number))]);
		}
	}
}

/* A single next step over a single cable: no pattern to make. */
static void
fill_one_port(struct row *r, uint32_t col, uint32_t stop, uint8_t port)
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

/* The next run of consecutive members at or after i; false at the end. */
static bool
next_run(const fm_lanes *set, uint32_t *i, uint32_t *stop)
{
	const uint64_t *word = (const uint64_t *)set;
	uint32_t w = *i / 64;
	uint64_t bits;

	if (*i >= FM_LANES)
		return false;
	bits = word[w] >> (*i % 64) << (*i % 64);
	while (bits == 0) {
		if (++w == FM_LANES / 64)
			return false;
		bits = word[w];
	}
	*i = w * 64 + (uint32_t)__builtin_ctzll(bits);
	bits = ~(bits | (((uint64_t)1 << (*i % 64)) - 1));
	while (bits == 0) {
		if (++w == FM_LANES / 64) {
			*stop = FM_LANES;
			return true;
		}
		bits = ~word[w];
	}
	*stop = w * 64 + (uint32_t)__builtin_ctzll(bits);
	return true;
}

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
			fill_one_port(r, base + i, base + stop, port_of(r, a, 0));
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

static inline void
add_port(port_set *set, uint8_t port)
{
	((uint64_t *)set)[port / 64] |= (uint64_t)1 << (port % 64);
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

/* The columns of a block that are in only. */
FM_WIDE static void
fill_block(struct row *r, uint32_t block, const fm_lanes *only)
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
		fill_single(r, block, a, &set);
	}
	set = twice & up;
	holes = set & ~all_up;
	fill_up(r, block, &set, &holes);
	set = twice & ~up & *only;
	fill_several(r, block, &set);
}

static bool
is_way_up(const struct spread *s, fm_sw sw, fm_sw to)
{
	return s->tree->rank[to] == s->tree->rank[sw] + 1 && s->tree->slot[to] != FM_SLOT_NONE;
}

static void
add_ways(struct row *r, fm_arc a)
{
	const struct fm_arcs *arcs = r->s->arcs;

	r->up_steps[r->n_up_steps++] = a;
	for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++) {
		r->ways[r->n_ways++] = (struct way){ a, r->s->fab->link_port[l] };
		add_port(&r->all_ways, r->s->fab->link_port[l]);
	}
}

static void
start_row(struct row *r, fm_sw sw)
{
	const struct fm_tree *tree = r->s->tree;
	const struct fm_arcs *arcs = r->s->arcs;

	r->sw = sw;
	r->n_up_steps = r->n_ways = 0;
	r->all_ways = (port_set){ 0 };
	for (fm_arc a = arcs->first[sw]; a < arcs->first[sw + 1]; a++)
		if (is_way_up(r->s, sw, arcs->to[a]))
			add_ways(r, a);
	r->has_all_slots = r->n_up_steps == tree->width[sw];
	set_divisor(&r->divider, tree->divider[sw]);
	set_divisor(&r->lower_width, tree->lower_width[sw]);
	set_divisor(&r->lower_divider, tree->lower_divider[sw]);
	r->displaced = false;
	memset(r->load, 0, sizeof(r->load));
}

static void
whole_row(struct row *r, fm_sw sw)
{
	const struct spread *s = r->s;
	const fm_lanes all = ~(fm_lanes){ 0 };

	start_row(r, sw);
	memset(r->ports, FM_PORT_NONE, s->lids->n_positions);
	for (uint32_t b = 0; b < s->reach->n_blocks; b++)
		fill_block(r, b, &all);
	fm_lids_scatter(s->lids, r->ports, s->out->lft[sw]);
	fm_lids_local(s->fab, sw, s->out->lft[sw]);
}

/* ---------------------------------------------------------------- siblings */

/* Have both the same cables, port by port, and their ways up the same slots? */
static bool
are_siblings(const struct spread *s, fm_sw x, fm_sw y)
{
	const struct fm_arcs *arcs = s->arcs;
	const struct fm_tree *tree = s->tree;
	fm_arc a = arcs->first[x], b = arcs->first[y], end = arcs->first[x + 1];
	fm_link from = arcs->link[a];

	if (end - a != arcs->first[y + 1] - b || tree->width[x] != tree->width[y] ||
	    tree->divider[x] != tree->divider[y] ||
	    arcs->link[end] - from != arcs->link[arcs->first[y + 1]] - arcs->link[b] ||
	    memcmp(s->fab->link_port + from, s->fab->link_port + arcs->link[b],
		arcs->link[end] - from) != 0)
		return false;
	for (; a < end; a++, b++) {
		bool up = is_way_up(s, x, arcs->to[a]);

		if (fm_arc_width(arcs, a) != fm_arc_width(arcs, b) ||
		    is_way_up(s, y, arcs->to[b]) != up ||
		    (up && tree->slot[arcs->to[a]] != tree->slot[arcs->to[b]]))
			return false;
	}
	return true;
}

/* Columns whose next steps from sw are not those from before, and that of before,
 * whose own ends are in its row; how many. */
FM_WIDE static uint32_t
find_changed(struct row *r, fm_sw before, fm_sw sw)
{
	const struct fm_arcs *arcs = r->s->arcs;
	fm_arc first = arcs->first[sw], n = arcs->first[sw + 1] - first,
	       other = arcs->first[before];
	uint32_t own = r->s->col_of[before], count = 0;

	for (uint32_t block = 0; block < r->s->reach->n_blocks; block++) {
		const fm_lanes *towards = fm_towards(r->s->reach, arcs, block, 0);
		fm_lanes changed = { 0 };

		for (fm_arc i = 0; i < n; i++)
			changed |= towards[first + i] ^ towards[other + i];
		if (own / FM_LANES == block)
			((uint64_t *)&changed)[own % FM_LANES / 64] |= (uint64_t)1 << (own % 64);
		for (unsigned w = 0; w < FM_LANES / 64; w++)
			count += (uint32_t)__builtin_popcountll(changed[w]);
		r->changed[block] = changed;
	}
	return count;
}

/* Columns col..stop-1 from ports[] into the row of the LFT. */
static void
put_columns(const struct row *r, uint32_t col, uint32_t stop, uint8_t *lft)
{
	for (unsigned which = 0; which < FM_SPACES; which++) {
		const struct fm_lid_space *space = &r->s->lids->space[which];

		for (uint32_t i = space->first[col]; i < space->first[stop]; i++) {
			fm_end end = space->end[i];

			for (uint32_t o = 0; o < 1u << r->s->fab->end_lmc[end]; o++)
				lft[r->s->fab->end_lid[end] + o] =
				    r->ports[space->start + o * space->n + i];
		}
	}
}

/* The row of sw from the one before; false if it must be made from nothing. */
static bool
row_like(struct row *r, fm_sw before, fm_sw sw)
{
	const struct spread *s = r->s;
	uint8_t *lft = s->out->lft[sw];

	if (!are_siblings(s, before, sw) || find_changed(r, before, sw) > s->reach->n_columns / 4)
		return false;
	start_row(r, sw);
	for (uint32_t b = 0, stop; b < s->reach->n_blocks; b++) {
		for (uint32_t i = 0; next_run(&r->changed[b], &i, &stop); i = stop)
			fill_one_port(r, b * FM_LANES + i, b * FM_LANES + stop, FM_PORT_NONE);
		fill_block(r, b, &r->changed[b]);
	}
	if (r->displaced)
		return false;
	memcpy(lft, s->out->lft[before], (size_t)s->fab->max_lid + 1);
	for (uint32_t b = 0, stop; b < s->reach->n_blocks; b++)
		for (uint32_t i = 0; next_run(&r->changed[b], &i, &stop); i = stop)
			put_columns(r, b * FM_LANES + i, b * FM_LANES + stop, lft);
	fm_lids_local(s->fab, sw, lft);
	return true;
}

static void
fill_rows(void *arg, uint32_t task, unsigned worker)
{
	const struct spread *s = arg;
	struct row *r = &s->rows[worker];
	uint32_t n = s->fab->n_switches, stop = (task + 1) * TASK_ROWS;
	fm_sw before = FM_NONE;

	for (uint32_t i = task * TASK_ROWS; i < stop && i < n; i++) {
		fm_sw sw = s->lids->column_sw[i];

		if (before == FM_NONE || !row_like(r, before, sw))
			whole_row(r, sw);
		before = r->displaced ? FM_NONE : sw;
	}
}

/* ---------------------------------------------------- main paths (case 1) */

/* The slot t asks for when it is there and t is still where it belongs; else
 * the least loaded, from the one asked for onwards.  FM_SLOT_NONE: no cable up. */
static uint32_t
main_slot(const struct spread *s, fm_sw sw, uint32_t asked, bool free, const uint32_t *load)
{
	const fm_arc *arc = &s->tree->slot_arc[s->tree->slot_first[sw]];
	uint32_t width = s->tree->width[sw], best = FM_SLOT_NONE;

	if (!free && arc[asked] != FM_NONE)
		return asked;
	for (uint32_t i = 0; i < width; i++) {
		uint32_t slot = (asked + i) % width;

		if (arc[slot] != FM_NONE &&
		    (best == FM_SLOT_NONE || load[arc[slot]] < load[arc[best]]))
			best = slot;
	}
	return best;
}

/* Walk the main path of number t up from its leaf, adding one to the load of
 * each arc.  Where it is broken t changes to name the slots taken instead;
 * from there on it goes by load, as nothing else is counting on its digits. */
static void
repair_main_path(const struct spread *s, fm_sw sw, uint32_t *t, uint32_t *load)
{
	const struct fm_tree *tree = s->tree;
	bool free = false;

	while (tree->width[sw] > 0) {
		uint32_t asked = *t / tree->divider[sw] % tree->width[sw];
		uint32_t slot = main_slot(s, sw, asked, free, load);
		fm_arc a;

		if (slot == FM_SLOT_NONE)
			return;
		free |= slot != asked;
		*t += (slot - asked) * tree->divider[sw];
		a = tree->slot_arc[tree->slot_first[sw] + slot];
		load[a]++;
		sw = s->arcs->to[a];
	}
}

static bool
is_main_path_whole(const struct spread *s, fm_sw sw, uint32_t t)
{
	const struct fm_tree *tree = s->tree;

	while (tree->width[sw] > 0) {
		uint32_t slot = t / tree->divider[sw] % tree->width[sw];
		fm_arc a = tree->slot_arc[tree->slot_first[sw] + slot];

		if (a == FM_NONE)
			return false;
		sw = s->arcs->to[a];
	}
	return true;
}

/* Two passes over the hosts: those whose path is whole, then the others. */
static int
settle_main_paths(const struct fm_host *host, struct spread *s, struct fm_error *err)
{
	const struct fm_lid_space *space = &s->lids->space[FM_HOSTS];
	uint32_t *load = fm_scratch_array(host, s->arcs->n_arcs, uint32_t);

	s->moved = fm_scratch_array(host, (size_t)space->n * space->n_offsets, struct moved);
	if (load == NULL || s->moved == NULL)
		return fm_no_scratch(host, "main paths", err);
	for (uint32_t o = 0; o < space->n_offsets; o++)
		for (uint32_t i = 0; i < space->n; i++) {
			uint32_t t = i + o;
			fm_sw leaf = s->fab->end_sw[space->end[i]];

			if (is_main_path_whole(s, leaf, t))
				repair_main_path(s, leaf, &t, load);
			else
				s->moved[s->n_moved++] =
				    (struct moved){ space->start + o * space->n + i, t };
		}
	for (uint32_t i = 0; i < s->n_moved; i++) {
		uint32_t p = (s->moved[i].position - space->start) % space->n;

		repair_main_path(s, s->fab->end_sw[space->end[p]], &s->moved[i].number, load);
	}
	return 0;
}

static int
list_numbers(const struct fm_host *host, struct spread *s, struct fm_error *err)
{
	s->number = fm_scratch_array(host, s->lids->n_positions, uint32_t);
	s->col_of = fm_scratch_array(host, s->fab->n_switches, uint32_t);
	if (s->number == NULL || s->col_of == NULL)
		return fm_no_scratch(host, "numbers of destinations", err);
	for (unsigned which = 0; which < FM_SPACES; which++) {
		const struct fm_lid_space *space = &s->lids->space[which];

		for (uint32_t o = 0; o < space->n_offsets; o++)
			for (uint32_t i = 0; i < space->n; i++)
				s->number[space->start + o * space->n + i] = i + o;
	}
	for (uint32_t i = 0; i < s->n_moved; i++)
		s->number[s->moved[i].position] = s->moved[i].number;
	for (uint32_t col = 0; col < s->lids->n_columns; col++)
		s->col_of[s->lids->column_sw[col]] = col;
	return 0;
}

static int
take_rows(const struct fm_host *host, struct spread *s, struct fm_error *err)
{
	unsigned n = host->n_workers(host);
	uint32_t n_positions = s->lids->n_positions;

	s->rows = fm_scratch_array(host, n, struct row);
	for (unsigned i = 0; s->rows != NULL && i < n; i++) {
		struct row *r = &s->rows[i];

		r->s = s;
		r->ports = fm_scratch_array(host, (size_t)n_positions + FM_RUN_BYTES, uint8_t);
		r->pattern = fm_scratch_array(host, PATTERN_MAX, uint8_t);
		r->steps = fm_scratch_array(host, 256, fm_arc);
		r->up_steps = fm_scratch_array(host, 256, fm_arc);
		r->ways = fm_scratch_array(host, 256, struct way);
		r->open = fm_scratch_array(host, 256, uint8_t);
		r->closed = fm_scratch_array(host, FM_LANES, port_set);
		r->changed = fm_scratch_array(host, s->reach->n_blocks, fm_lanes);
		if (r->ports == NULL || r->pattern == NULL || r->steps == NULL ||
		    r->up_steps == NULL || r->ways == NULL || r->open == NULL ||
		    r->closed == NULL || r->changed == NULL)
			return fm_no_scratch(host, "rows in work", err);
	}
	return s->rows != NULL ? 0 : fm_no_scratch(host, "rows in work", err);
}

int
fm_spread(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_arcs *arcs,
    const struct fm_tree *tree, const struct fm_reach *reach, const struct fm_lids *lids,
    const struct fm_tables *out, struct fm_error *err)
{
	struct spread s = {
		.fab = fab, .arcs = arcs, .tree = tree, .reach = reach, .lids = lids, .out = out
	};
	int rc = take_rows(host, &s, err);

	if (rc == 0 && !tree->complete)
		rc = settle_main_paths(host, &s, err);
	if (rc == 0)
		rc = list_numbers(host, &s, err);
	if (rc != 0)
		return rc;
	host->parallel_for(host, (fab->n_switches + TASK_ROWS - 1) / TASK_ROWS, fill_rows, &s);
	return 0;
}
