/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing that was interrupted between two steps.  The switches hold whole columns of the plan that
 * was being written (the target) and of the one before, and 255 where a column was to be drained.
 * All dependencies of these were in the graph that the step was proven with, and so were those of
 * packets in flight.
 */
#include "core/graph/tables_vls.h"
#include "core/transition/reconfig_internal.h"
#include "core/transition/transition.h"
#include "lib/bitset.h"
#include "lib/error.h"

#define BLOCK_LIDS TRANSITION_BLOCK_LIDS

bool
reconfig_may_interrupt(const struct plan *was, const struct plan *now)
{
	const struct fm_tables *a = &was->tables->t, *b = &now->tables->t;

	return now->change.kind != PLAN_ENGINE && a->sl2vl_shape == FM_SL2VL_MODULO &&
	    b->sl2vl_shape == FM_SL2VL_MODULO &&
	    was->snap->fab.n_switches == now->snap->fab.n_switches &&
	    a->n_vls_used == b->n_vls_used && reconfig_same_sls(was, now);
}

bool
reconfig_awaits_hosts(const struct plan *now)
{
	return now->change.sls_clash && now->change.n_drained > 0;
}

struct plan *
reconfig_resume(struct router *r, const struct plan *target, const struct plan_flight *flight,
    struct fm_error *err)
{
	struct plan *from = plan_new(target->snap, err);
	bool ok;

	if (from == NULL)
		return NULL;
	if (tables_clone(r->tables, r->workers, &target->snap->fab, target->tables, &from->tables,
		err) != 0) {
		plan_put(from);
		return NULL;
	}
	from->graph = snapshot_get(target->graph);
	plan_copy_maker(from, target);
	from->top_lid = target->top_lid;
	from->verdict = target->verdict;
	from->change = target->change;
	for (size_t i = 0; i < flight->n_installed; i++) {
		const struct plan_installed *h = &flight->installed[i];

		for (uint32_t k = 0; k < BLOCK_LIDS && h->block * BLOCK_LIDS + k <= from->top_lid;
		     k++)
			from->tables->t.lft[h->sw][h->block * BLOCK_LIDS + k] = h->bytes[k];
	}
	ok = fm_vec_append(&from->absent, target->absent.item, target->absent.n);
	if (ok)
		return from;
	plan_put(from);
	fm_fail(err, FM_E_RESOURCE, "out of memory for the order of tables");
	return NULL;
}
