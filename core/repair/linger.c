/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of absent LIDs that close a cycle are found, and emptied.
 */
#include "core/repair/linger.h"

#include <stdlib.h>

#include "core/graph/graph_diff.h"
#include "core/plan/plan_absent.h"
#include "core/repair/repair_entry.h"
#include "lib/error.h"
#include "lib/log.h"

/* Does p say which entries differ from those before? */
static bool
lists_delta(const struct plan *p)
{
	return p->made == PLAN_REPAIRED || p->delta_base != 0;
}

static bool
empty_column(struct plan *p, uint16_t lid)
{
	struct fm_tables *t = &p->tables->t;

	for (fm_sw sw = 0; sw < p->snap->fab.n_switches; sw++) {
		if (t->lft[sw][lid] == FM_PORT_NONE)
			continue;
		t->lft[sw][lid] = FM_PORT_NONE;
		if (lists_delta(p) &&
		    !fm_vec_push(&p->delta, ((struct plan_entry){ sw, lid, FM_PORT_NONE })))
			return false;
	}
	return true;
}

static bool
is_dropped(const struct absent_lids *dropped, uint16_t lid)
{
	for (size_t i = 0; i < dropped->lids.n; i++)
		if (dropped->lids.item[i] == lid)
			return true;
	return false;
}

/* They are absent no more, and nothing of theirs is to go back. */
static void
forget(struct plan *p, const struct absent_lids *dropped)
{
	size_t n_absent = 0, n = 0;

	for (size_t i = 0; i < p->absent.n; i++)
		if (!is_dropped(dropped, p->absent.item[i].lid))
			p->absent.item[n_absent++] = p->absent.item[i];
	for (size_t i = 0; i < p->deviations.n; i++)
		if (!is_dropped(dropped, p->deviations.item[i].lid))
			p->deviations.item[n++] = p->deviations.item[i];
	p->absent.n = n_absent;
	p->deviations.n = n;
}

/* What repairs keep is let go; tables that others have as well are copied first. */
static int
empty_columns(
    struct router *r, struct plan *p, const struct absent_lids *dropped, struct fm_error *err)
{
	struct tables *own;
	bool ok = true;
	int rc;

	repair_state_free(r->repair);
	r->repair = NULL;
	if (atomic_load(&p->tables->refs) != 1) {
		rc = tables_clone(r->tables, r->workers, &p->snap->fab, p->tables, &own, err);
		if (rc != 0)
			return rc;
		tables_put(p->tables);
		p->tables = own;
	}
	for (size_t i = 0; ok && i < dropped->lids.n; i++)
		ok = empty_column(p, dropped->lids.item[i]);
	if (!ok)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for absent LIDs");
	if (p->delta.n > 0)
		qsort(p->delta.item, p->delta.n, sizeof(p->delta.item[0]), plan_entry_by_switch);
	p->delta_blocks = plan_count_blocks(p);
	forget(p, dropped);
	log_info("route",
	    "entries of LIDs that have gone are emptied before their time, as they would close a "
	    "credit loop with those of others, lids=%zu first=%u",
	    dropped->lids.n, dropped->lids.item[0]);
	return 0;
}

/* -------------------------------------------------------------- which of them */

/* Dependencies of all LIDs that have an owner. */
static struct depend *
collect(struct router *r, const struct plan *p, struct fm_error *err)
{
	struct graph_diff diff = { 0 };
	struct depend *g = NULL;
	uint64_t *lost = NULL;

	if (graph_compare(&p->graph->fab, &p->snap->fab, &diff, err) == 0) {
		lost = repair_lost_of(&p->graph->fab, &diff);
		if (lost != NULL)
			g = depend_build(&p->graph->fab, &p->snap->fab, &p->tables->t, lost,
			    plan_sl_model(r, p), r->workers);
	}
	graph_diff_fini(&diff);
	free(lost);
	return g;
}

static bool
find_dropped(
    struct router *r, const struct plan *p, struct absent_lids *dropped, struct fm_error *err)
{
	struct repair_state *st = r->repair;
	bool at_hand = st != NULL && st->tables == p->tables && st->graph == p->graph, ok;
	struct depend *g;

	if (at_hand && st->holds_absent)
		return true;
	g = at_hand ? st->g : collect(r, p, err);
	ok = g != NULL && plan_insert_absent(g, p, dropped);
	if (at_hand)
		st->holds_absent = ok;
	else
		depend_free(g);
	return ok;
}

int
linger_settle(struct router *r, struct plan *p, struct fm_error *err)
{
	struct absent_lids dropped = { 0 };
	int rc = 0;

	if (p->absent.n == 0 || p->tables == NULL || p->graph == NULL ||
	    p->verdict.credit_loops > 0 || !depend_applies(&p->tables->t))
		return 0;
	if (!find_dropped(r, p, &dropped, err))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory for absent LIDs");
	else if (dropped.lids.n > 0)
		rc = empty_columns(r, p, &dropped, err);
	fm_vec_fini(&dropped.lids);
	return rc;
}
