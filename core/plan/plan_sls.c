/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths that carry another SL than before.  Who has asked for a path goes on with the SL
 * it was told; so this is counted, and by switches it is kept who has to ask again.  After a
 * full route, or a repair that has moved pairs (repair_move.c).
 *
 * Time: a comparison of rows, and a look at each LID of those that differ.
 */
#include <string.h>

#include "core/graph/graph_diff.h"
#include "core/graph/tables_vls.h"
#include "core/plan/plan.h"
#include "lib/bitset.h"

bool
plan_same_vls(const struct plan *a, const struct plan *b)
{
	uint32_t n = b->snap->fab.n_switches;

	return a->tables == b->tables ||
	    (a->snap->fab.n_switches == n && tables_same_vls(&a->tables->t, &b->tables->t, n));
}

static uint32_t
count_sources(const struct fm_fabric *fab, fm_sw sw)
{
	uint32_t n = 0;

	for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
		n += fab->end_kind[e] != FM_END_SWITCH;
	return n;
}

static bool
has_another_sl(const struct plan *was, const struct plan *is, fm_sw sw, uint32_t lid)
{
	if (lid > is->top_lid)
		return graph_has_owner(&was->snap->fab, lid);
	return tables_sl(&was->tables->t, sw, (uint16_t)lid) !=
	    tables_sl(&is->tables->t, sw, (uint16_t)lid);
}

/* LIDs to which the ends of sw have, before and now, and to which the SL is another; *any:
 * there are some, be it of no end. */
static uint32_t
count_lids(const struct plan *was, const struct plan *is, fm_sw sw, bool *any)
{
	const struct fm_fabric *old = &was->snap->fab, *now = &is->snap->fab;
	uint32_t n = 0;

	*any = false;
	for (uint32_t lid = 1; lid <= was->top_lid; lid++) {
		if (!has_another_sl(was, is, sw, lid))
			continue;
		*any = true;
		n += graph_has_owner(old, lid) && graph_has_owner(now, lid) &&
		    now->end_sw[now->lid_end[lid]] != sw;
	}
	return n;
}

uint64_t
plan_other_sls(const struct plan *was, const struct plan *is, uint64_t *switches)
{
	const struct fm_fabric *old = &was->snap->fab, *now = &is->snap->fab;
	uint64_t n_pairs = 0;

	if (was->tables == is->tables || is->made == PLAN_KEPT ||
	    (is->made == PLAN_REPAIRED && is->delta_base == was->number))
		return 0;
	if (was->tables->t.sl_shape == FM_SL_ZERO && is->tables->t.sl_shape == FM_SL_ZERO)
		return 0;
	for (fm_sw sw = 0; sw < now->n_switches && sw < old->n_switches; sw++) {
		uint32_t n_sources = count_sources(old, sw) > 0 ? count_sources(now, sw) : 0;
		bool any;

		n_pairs += (uint64_t)count_lids(was, is, sw, &any) * n_sources;
		if (any)
			fm_bit_set(switches, sw);
	}
	return n_pairs;
}
