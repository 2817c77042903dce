/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Main paths: where the slots that a destination's number asks for have no cable on
 * the way down to it, it gets a number whose digits name slots that have one, so that
 * all sources agree on the detour.  O(destinations * ranks).
 */
#include "plugins/common/tree/spread_row.h"

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
int
fm_spread_settle(const struct fm_host *host, struct spread *s, struct fm_error *err)
{
	const struct fm_lid_space *space = &s->lids->space[FM_HOSTS];
	uint32_t n = space->n * space->n_offsets;
	uint32_t *load = fm_scratch_array(host, s->arcs->n_arcs, uint32_t);
	uint32_t *broken = fm_scratch_array(host, n, uint32_t), n_broken = 0;

	s->moved = fm_scratch_array(host, n, struct moved);
	if (load == NULL || broken == NULL || s->moved == NULL)
		return fm_no_scratch(host, "main paths", err);
	for (uint32_t i = 0; i < n; i++) {
		fm_sw leaf = s->fab->end_sw[space->end[i % space->n]];

		if (is_main_path_whole(s, leaf, s->number[space->start + i]))
			repair_main_path(s, leaf, &s->number[space->start + i], load);
		else
			broken[n_broken++] = i;
	}
	for (uint32_t i = 0; i < n_broken; i++)
		repair_main_path(s, s->fab->end_sw[space->end[broken[i] % space->n]],
		    &s->number[space->start + broken[i]], load);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t number = s->number[space->start + i];

		if (number != i % space->n + i / space->n)
			s->moved[s->n_moved++] = (struct moved){ space->start + i, number };
	}
	return 0;
}
