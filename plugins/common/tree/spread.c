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
 *     no way for it, is displaced (spread_columns.c).
 *
 * Where the hosts of every leaf are more than its ways up and no multiple of them:
 *  3. Those that are too many share the ways of all: they have numbers of their own, a
 *     row of ways each, and every leaf leads them up by another way.
 *
 * Siblings have the same cables into the same slots, and where next steps are the
 * same too, so are the entries.  So a row begins as a copy of the one before it in
 * the tree's order, and only the columns whose next steps differ are filled.  Not
 * where something was displaced: that depends on all columns of the row.
 */
#include "plugins/common/tree/spread_row.h"

#define TASK_ROWS 32 /* a task's first row is filled column by column */

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
		fm_spread_block(r, b, &all);
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

static bool
leads_surplus(const struct spread *s, fm_sw sw)
{
	return s->leaf_hosts > 0 && s->tree->rank[sw] == 0;
}

/* The row of sw from the one before; false if it must be made from nothing. */
static bool
row_like(struct row *r, fm_sw before, fm_sw sw)
{
	const struct spread *s = r->s;
	uint8_t *lft = s->out->lft[sw];

	if (leads_surplus(s, sw) || !are_siblings(s, before, sw) ||
	    find_changed(r, before, sw) > s->reach->n_columns / 4)
		return false;
	start_row(r, sw);
	for (uint32_t b = 0, stop; b < s->reach->n_blocks; b++) {
		if (is_empty(&r->changed[b]))
			continue;
		for (uint32_t i = 0; next_run(&r->changed[b], &i, &stop); i = stop)
			fm_spread_one_port(r, b * FM_LANES + i, b * FM_LANES + stop, FM_PORT_NONE);
		fm_spread_block(r, b, &r->changed[b]);
	}
	if (r->displaced)
		return false;
	memcpy(lft, s->out->lft[before], (size_t)s->fab->max_lid + 1);
	for (uint32_t b = 0, stop; b < s->reach->n_blocks; b++)
		for (uint32_t i = 0; next_run(&r->changed[b], &i, &stop); i = stop)
			fm_lids_put_columns(
			    s->lids, s->fab, r->ports, b * FM_LANES + i, b * FM_LANES + stop, lft);
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

static uint32_t
hosts_of_column(const struct fm_lids *lids, uint32_t col)
{
	return lids->space[FM_HOSTS].first[col + 1] - lids->space[FM_HOSTS].first[col];
}

static bool
has_wide_ways(const struct spread *s, fm_sw sw)
{
	for (fm_arc a = s->arcs->first[sw]; a < s->arcs->first[sw + 1]; a++)
		if (fm_arc_width(s->arcs, a) > 1)
			return true;
	return false;
}

/* Case 3, if all leaves are alike. */
static void
look_for_surplus(struct spread *s)
{
	const struct fm_lid_space *space = &s->lids->space[FM_HOSTS];
	uint32_t n_hosts = 0, ways = 0;

	for (uint32_t col = 0; col < s->lids->n_columns; col++) {
		fm_sw sw = s->lids->column_sw[col];
		uint32_t n = hosts_of_column(s->lids, col);

		if (n == 0)
			continue;
		if (n_hosts == 0) {
			n_hosts = n;
			ways = s->tree->width[sw];
		}
		if (n != n_hosts || s->tree->width[sw] != ways || has_wide_ways(s, sw))
			return;
	}
	if (space->n_offsets > 1 || ways < 2 || n_hosts < ways || n_hosts % ways == 0)
		return;
	s->leaf_hosts = n_hosts;
	s->leaf_ways = ways;
	s->leaf_main = n_hosts / ways * ways;
}

static uint32_t
number_of(const struct spread *s, uint32_t i, uint32_t o)
{
	uint32_t leaf = s->leaf_hosts > 0 ? i / s->leaf_hosts : 0,
		 place = s->leaf_hosts > 0 ? i % s->leaf_hosts : 0;

	if (s->leaf_hosts == 0)
		return i + o;
	if (place < s->leaf_main)
		return leaf * s->leaf_main + place;
	return (leaf * (s->leaf_hosts - s->leaf_main) + place - s->leaf_main) * s->leaf_ways;
}

static int
list_numbers(const struct fm_host *host, struct spread *s, struct fm_error *err)
{
	s->number = fm_scratch_array(host, s->lids->n_positions, uint32_t);
	s->col_of = fm_scratch_array(host, s->fab->n_switches, uint32_t);
	if (s->number == NULL || s->col_of == NULL)
		return fm_no_scratch(host, "numbers of destinations", err);
	look_for_surplus(s);
	for (unsigned which = 0; which < FM_SPACES; which++) {
		const struct fm_lid_space *space = &s->lids->space[which];

		for (uint32_t o = 0; o < space->n_offsets; o++)
			for (uint32_t i = 0; i < space->n; i++)
				s->number[space->start + o * space->n + i] =
				    which == FM_HOSTS ? number_of(s, i, o) : i + o;
	}
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

	if (rc == 0)
		rc = list_numbers(host, &s, err);
	if (rc == 0 && (!tree->complete || s.leaf_hosts > 0))
		rc = fm_spread_settle(host, &s, err);
	if (rc != 0)
		return rc;
	host->parallel_for(host, (fab->n_switches + TASK_ROWS - 1) / TASK_ROWS, fill_rows, &s);
	return 0;
}
