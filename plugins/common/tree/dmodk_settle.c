/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Main paths: where the slots that a host's number asks for have no cable on the way
 * down to it, it gets a number whose digits name slots that have one, so that all
 * sources agree on the detour.  O(LIDs * ranks).
 */
#include "plugins/common/tree/dmodk_tree.h"

/* Cables by slot of a switch with parents. */
static const fm_link *
links_of(const struct fm_dmodk_routes *ft, fm_sw sw)
{
	return &ft->slot_link[ft->slot_first[sw]];
}

static const struct ft_bundle *
bundle_of(const struct fm_dmodk_routes *ft, fm_sw sw)
{
	return ft->bundle_of[sw] != FM_NONE ? &ft->bundles[ft->bundle_of[sw]] : NULL;
}

/* The slot asked for when it is there and the number is still where it belongs; else
 * the least loaded, from the one asked for onwards.  FM_NONE: no cable up. */
static uint32_t
main_slot(
    const struct fm_dmodk_routes *ft, fm_sw sw, uint32_t asked, bool free, const uint32_t *load)
{
	const fm_link *link = links_of(ft, sw);
	uint32_t n = bundle_of(ft, sw)->n_nominal, best = FM_NONE;

	if (!free && link[asked] != FM_NONE)
		return asked;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = (asked + i) % n;

		if (link[slot] != FM_NONE &&
		    (best == FM_NONE || load[link[slot]] < load[link[best]]))
			best = slot;
	}
	return best;
}

/* Walk the main path of a number up from its leaf, adding one to the load of
 * each cable.  Where it is broken the number changes to name the slots taken instead;
 * from there on it goes by load, as nothing else is counting on its digits. */
static void
repair_main_path(const struct fm_dmodk_routes *ft, fm_sw sw, uint32_t *number, uint32_t *load)
{
	const struct ft_bundle *b;
	bool free = false;

	while ((b = bundle_of(ft, sw)) != NULL) {
		uint32_t asked = *number / b->divider % b->n_nominal;
		uint32_t slot = main_slot(ft, sw, asked, free, load);

		if (slot == FM_NONE)
			return;
		free |= slot != asked;
		*number += (slot - asked) * b->divider;
		load[links_of(ft, sw)[slot]]++;
		sw = b->slots[slot].to;
	}
}

static bool
is_main_path_whole(const struct fm_dmodk_routes *ft, fm_sw sw, uint32_t number)
{
	const struct ft_bundle *b;

	while ((b = bundle_of(ft, sw)) != NULL) {
		uint32_t slot = number / b->divider % b->n_nominal;

		if (links_of(ft, sw)[slot] == FM_NONE)
			return false;
		sw = b->slots[slot].to;
	}
	return true;
}

static void
settle_lid(struct fm_dmodk_routes *ft, fm_sw sw, uint16_t lid, uint32_t *load)
{
	struct ft_moved was = { lid, ft->number[lid] };

	repair_main_path(ft, sw, &ft->number[lid], load);
	if (ft->number[lid] != was.number)
		ft->moved[ft->n_moved++] = was;
}

/* Those whose path is whole, or the others. */
static void
settle_columns(struct fm_dmodk_routes *ft, bool whole, uint32_t *load)
{
	const struct fm_fabric *fab = ft->fab;

	for (uint32_t c = 0; c < ft->n; c++) {
		fm_sw sw = ft->col_sw[c];

		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++) {
			uint32_t lid = fab->end_lid[e], last = lid + (1u << fab->end_lmc[e]) - 1;

			for (; fm_is_host(fab, e) && lid != 0 && lid <= last && lid < ft->n_lids;
			     lid++)
				if (is_main_path_whole(ft, sw, ft->number[lid]) == whole)
					settle_lid(ft, sw, (uint16_t)lid, load);
		}
	}
}

int
ft_settle(struct fm_dmodk_routes *ft, struct fm_error *err)
{
	uint32_t *load, n = ft->slot_first[ft->n], missing = 0;

	for (uint32_t i = 0; i < n; i++)
		missing += ft->slot_link[i] == FM_NONE;
	if (missing == 0)
		return 0;
	load = ft_alloc(ft, ft->fab->n_links, sizeof(*load));
	ft->moved = ft_alloc(ft, ft->n_lids, sizeof(*ft->moved));
	if (load == NULL || ft->moved == NULL)
		return ft_out_of_memory(ft, err);
	settle_columns(ft, true, load);
	settle_columns(ft, false, load);
	return 0;
}
