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
 *  2. At a source.  What the pattern cannot place is displaced: after the rest
 *     of the row, it takes the port with the fewest destinations, counting
 *     those that can pass here at all: a parent sees only what its children
 *     send to its slot.  (Counting all of them aliases: a round robin over
 *     every LID meets only one residue class of those that pass.)
 */
#include "plugins/common/spread.h"

#include <string.h>

#define PATTERN_MAX 16384 /* slots times cables of the widest: at most 128 * 127 of 254 ports */
#define CLASSES_MAX 6 /* groups of columns looked for in a block before going column by column */
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
	struct row *rows; /* [n_workers] */
};

/* What a worker needs for the row in hand. */
struct row {
	const struct spread *s;
	fm_sw sw;
	uint8_t *ports;	  /* [n_positions] the row by position */
	uint8_t *pattern; /* [PATTERN_MAX] */
	uint32_t n_pattern;
	bool holes;    /* the pattern has FM_PORT_NONE in it */
	bool by_slot;  /* the pattern goes by slots of the plane above */
	fm_arc *steps; /* [256] next steps of the columns in hand */
	uint32_t n_steps;
	uint32_t *displaced;	    /* [n_positions] case 2 */
	uint32_t *displaced_column; /* [n_positions] */
	uint32_t n_displaced;
	uint32_t load[256]; /* by port */
};

/* ---------------------------------------------------------------- patterns */

static uint8_t
port_of(const struct row *r, fm_arc a, uint32_t cable)
{
	const struct fm_arcs *arcs = r->s->arcs;

	return r->s->fab->link_port[arcs->link[a] + cable % fm_arc_width(arcs, a)];
}

/* Only up arcs that have a slot, if there is any such next step: a path that
 * goes down and up again is as short, but makes credit loops. */
static void
prefer_up(struct row *r)
{
	const struct fm_tree *tree = r->s->tree;
	uint32_t n = 0;

	r->by_slot = false;
	for (uint32_t i = 0; i < r->n_steps; i++) {
		fm_sw to = r->s->arcs->to[r->steps[i]];

		if (tree->rank[to] == tree->rank[r->sw] + 1 && tree->slot[to] != FM_SLOT_NONE)
			r->steps[n++] = r->steps[i];
	}
	if (n == 0)
		return;
	r->n_steps = n;
	r->by_slot = n > 1;
}

/* pattern[i]: the port of destinations with (t / divider) mod n_pattern == i. */
static void
make_pattern(struct row *r)
{
	const struct fm_tree *tree = r->s->tree;
	uint32_t n, cables = 1;

	prefer_up(r);
	n = r->by_slot ? tree->width[r->sw] : r->n_steps;
	for (uint32_t i = 0; i < r->n_steps; i++) {
		uint32_t width = fm_arc_width(r->s->arcs, r->steps[i]);

		cables = width > cables ? width : cables;
	}
	while ((uint64_t)n * cables > PATTERN_MAX)
		cables--;
	r->n_pattern = n * cables;
	r->holes = r->by_slot && r->n_steps < n;
	if (r->holes)
		memset(r->pattern, FM_PORT_NONE, r->n_pattern);
	for (uint32_t i = 0; i < r->n_steps; i++) {
		uint32_t slot = r->by_slot ? tree->slot[r->s->arcs->to[r->steps[i]]] : i;

		for (uint32_t c = 0; c < cables; c++)
			r->pattern[c * n + slot] = port_of(r, r->steps[i], c);
	}
}

/* ports[p..stop-1] of numbers p + shift ... by the pattern. */
static void
lay_pattern(const struct row *r, uint8_t *ports, uint32_t p, uint32_t stop, uint32_t shift)
{
	uint32_t divider = r->s->tree->divider[r->sw];
	uint32_t q = (p + shift) / divider, i = q % r->n_pattern, begin = p;
	uint64_t next = (uint64_t)(q + 1) * divider - shift,
		 period = (uint64_t)divider * r->n_pattern;
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
		i = i + 1 < r->n_pattern ? i + 1 : 0;
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

static void
note_displaced(struct row *r, uint32_t p, uint32_t stop, uint32_t column)
{
	for (; p < stop; p++)
		if (r->ports[p] == FM_PORT_NONE) {
			r->displaced[r->n_displaced] = p;
			r->displaced_column[r->n_displaced++] = column;
		}
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
			if (!r->by_slot)
				continue;
			for (uint32_t i = moved_from(s, plane + first);
			     i < s->n_moved && s->moved[i].position < plane + last; i++)
				r->ports[s->moved[i].position] = r->pattern[s->moved[i].number /
				    s->tree->divider[r->sw] % r->n_pattern];
			for (uint32_t c = col; r->holes && c < stop; c++)
				note_displaced(
				    r, plane + space->first[c], plane + space->first[c + 1], c);
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
		make_pattern(r);
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

static void
list_steps(struct row *r, uint32_t block, uint32_t column)
{
	const struct fm_arcs *arcs = r->s->arcs;

	r->n_steps = 0;
	for (fm_arc a = arcs->first[r->sw]; a < arcs->first[r->sw + 1]; a++)
		if (fm_lane_test(fm_towards(r->s->reach, arcs, block, a), column))
			r->steps[r->n_steps++] = a;
}

/* Columns with several next steps, class by class, then one by one. */
static void
fill_several(struct row *r, uint32_t block, fm_lanes *set)
{
	uint32_t base = block * FM_LANES, i = 0, stop;

	for (unsigned n = 0; n < CLASSES_MAX; n++) {
		fm_lanes class = *set;

		i = 0;
		if (!next_run(set, &i, &stop))
			return;
		find_class(r, block, i, &class);
		make_pattern(r);
		for (; next_run(&class, &i, &stop); i = stop)
			fill_columns(r, base + i, base + stop);
		*set &= ~class;
	}
	for (i = 0; next_run(set, &i, &stop);)
		for (; i < stop; i++) {
			list_steps(r, block, i);
			make_pattern(r);
			fill_columns(r, base + i, base + i + 1);
		}
}

FM_WIDE static void
fill_block(struct row *r, uint32_t block)
{
	const struct fm_arcs *arcs = r->s->arcs;
	fm_lanes once = { 0 }, twice = { 0 }, single;

	for (fm_arc a = arcs->first[r->sw]; a < arcs->first[r->sw + 1]; a++) {
		const fm_lanes *t = fm_towards(r->s->reach, arcs, block, a);

		twice |= once & *t;
		once |= *t;
	}
	for (fm_arc a = arcs->first[r->sw]; a < arcs->first[r->sw + 1]; a++) {
		single = *fm_towards(r->s->reach, arcs, block, a) & ~twice;
		fill_single(r, block, a, &single);
	}
	fill_several(r, block, &twice);
}

/* --------------------------------------------------------- displaced (case 2) */

static uint32_t
number_at(const struct spread *s, uint32_t position)
{
	return s->number[position];
}

/* Do the children send this destination here when all cables are there? */
static uint32_t
transit_weight(const struct row *r, uint32_t position)
{
	const struct fm_tree *tree = r->s->tree;
	uint32_t width = tree->lower_width[r->sw];

	if (position >= r->s->lids->space[FM_OTHERS].start)
		return 1;
	if (width == 0 ||
	    number_at(r->s, position) / tree->lower_divider[r->sw] % width == tree->slot[r->sw])
		return WEIGHT_TRANSIT;
	return 1;
}

static uint8_t
least_loaded(struct row *r, uint32_t position)
{
	const struct fm_arcs *arcs = r->s->arcs;
	uint32_t best = UINT32_MAX, turn = number_at(r->s, position) + r->sw;
	uint8_t port = FM_PORT_NONE;

	for (uint32_t i = 0; i < r->n_steps; i++) {
		fm_arc a = r->steps[(i + turn) % r->n_steps];

		for (fm_link l = arcs->link[a]; l < arcs->link[a + 1]; l++)
			if (r->load[r->s->fab->link_port[l]] < best) {
				port = r->s->fab->link_port[l];
				best = r->load[port];
			}
	}
	return port;
}

static void
place_displaced(struct row *r)
{
	uint32_t column = FM_NONE, n_hosts = r->s->lids->space[FM_OTHERS].start;

	memset(r->load, 0, sizeof(r->load));
	for (uint32_t p = 0; p < n_hosts; p++)
		r->load[r->ports[p]] += transit_weight(r, p);
	for (uint32_t i = 0; i < r->n_displaced; i++) {
		uint32_t p = r->displaced[i];
		uint8_t port;

		if (r->displaced_column[i] != column) {
			column = r->displaced_column[i];
			list_steps(r, column / FM_LANES, column % FM_LANES);
			prefer_up(r);
		}
		port = least_loaded(r, p);
		r->ports[p] = port;
		r->load[port] += transit_weight(r, p);
	}
}

static void
one_row(void *arg, uint32_t i, unsigned worker)
{
	const struct spread *s = arg;
	struct row *r = &s->rows[worker];

	r->sw = i;
	r->n_displaced = 0;
	memset(r->ports, FM_PORT_NONE, s->lids->n_positions);
	for (uint32_t b = 0; b < s->reach->n_blocks; b++)
		fill_block(r, b);
	if (r->n_displaced > 0)
		place_displaced(r);
	fm_lids_scatter(s->lids, r->ports, s->out->lft[i]);
	fm_lids_local(s->fab, i, s->out->lft[i]);
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
	if (s->number == NULL)
		return fm_no_scratch(host, "numbers of destinations", err);
	for (unsigned which = 0; which < FM_SPACES; which++) {
		const struct fm_lid_space *space = &s->lids->space[which];

		for (uint32_t o = 0; o < space->n_offsets; o++)
			for (uint32_t i = 0; i < space->n; i++)
				s->number[space->start + o * space->n + i] = i + o;
	}
	for (uint32_t i = 0; i < s->n_moved; i++)
		s->number[s->moved[i].position] = s->moved[i].number;
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
		r->displaced = fm_scratch_array(host, n_positions, uint32_t);
		r->displaced_column = fm_scratch_array(host, n_positions, uint32_t);
		if (r->ports == NULL || r->pattern == NULL || r->steps == NULL ||
		    r->displaced == NULL || r->displaced_column == NULL)
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
	host->parallel_for(host, fab->n_switches, one_row, &s);
	return 0;
}
