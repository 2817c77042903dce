/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An order of writing by one graph, which holds what packets in the fabric depend on.
 *
 * Where repair made the new tables its own graph does: it holds all that repairs have needed since
 * it was built, old tables and new, and the mixtures that were put beside them for every change
 * since (base).  Else a graph is built from the tables before (reconfig_build.c).
 *
 * Then LID after LID is inserted with the mixtures of its change.  The first rule that fits is its
 * own; who has none conflicts.  What has gathered in repair's graph goes when it is needed no more
 * (repair_let_go()).  LIDs of switches without hosts, which may hold the way for those of hosts,
 * come last.  Who conflicts then waits till the others are written and their older packets gone.
 *
 * Packets of plans before the last two may meet new entries of LIDs that have changed in between,
 * too.  So LIDs that change twice within a packet's life time wait, and where the graph does not
 * hold what all packets in the fabric depend on all LIDs do.
 *
 * Cost: that of mixtures.c in one VL; with several VLs O(switches x SLs) for each LID that changes.
 */
#include <stdlib.h>
#include <string.h>

#include "core/repair/repair_state.h"
#include "core/transition/mixtures.h"
#include "core/transition/reconfig_internal.h"
#include "core/transition/transition.h"
#include "lib/bitset.h"

struct order {
	struct reconfig *c;
	struct mixtures *mixtures;	   /* in one VL */
	FM_VEC(struct plan_entry) entries; /* that change, with the ports before, by LID */
};

/* ------------------------------------------------------------------- what changes */

/* Packets to a LID that nobody owns any more are as much in the way as others (linger.h). */
static bool
note_entry(struct order *o, fm_sw sw, uint32_t lid, uint8_t was)
{
	bool matters = graph_has_owner(o->c->fab, lid) ||
	    (o->c->n_vls == 1 && o->c->p->tables->t.lft[sw][lid] != FM_PORT_NONE);

	return !matters ||
	    fm_vec_push(&o->entries, ((struct plan_entry){ sw, (uint16_t)lid, was }));
}

static uint8_t
port_before(const struct order *o, fm_sw sw, uint32_t lid)
{
	if (sw >= o->c->prev->snap->fab.n_switches || lid > o->c->prev->top_lid)
		return FM_PORT_NONE;
	return o->c->prev->tables->t.lft[sw][lid];
}

static bool
compare_tables(struct order *o)
{
	const struct plan *p = o->c->p;
	bool ok = true;

	for (fm_sw sw = 0; sw < p->snap->fab.n_switches; sw++)
		for (uint32_t lid = 1; ok && lid <= p->top_lid; lid++) {
			uint8_t was = port_before(o, sw, lid);

			if (was != p->tables->t.lft[sw][lid])
				ok = note_entry(o, sw, lid, was);
		}
	return ok;
}

static bool
find_entries(struct order *o)
{
	const struct plan *p = o->c->p;
	bool ok = true;

	if (p->delta_base != o->c->prev->number)
		ok = compare_tables(o);
	else
		for (size_t i = 0; ok && i < p->delta.n; i++) {
			fm_sw sw = p->delta.item[i].sw;
			uint16_t lid = p->delta.item[i].lid;

			ok = note_entry(o, sw, lid, port_before(o, sw, lid));
		}
	if (ok && o->entries.n > 0)
		qsort(o->entries.item, o->entries.n, sizeof(o->entries.item[0]), plan_entry_by_lid);
	return ok;
}

/* ------------------------------------------------------------------- one LID */

/* Entries first .. end - 1, which are of one LID: all that the mode says, or nothing. */
static enum depend_result
insert_lid(struct order *o, size_t first, size_t end, enum deps_mode mode)
{
	struct depend *g = o->c->g;
	size_t n = g->added.n;
	enum depend_result rc;

	rc = o->mixtures != NULL
	    ? mixtures_insert(o->mixtures, g, first, end, mode)
	    : depend_insert_deps(g, o->c->fab, o->c->deps, o->entries.item[first].lid, mode);
	if (rc >= DEPEND_CYCLE)
		depend_undo(g, n);
	return rc;
}

/* DEPEND_CYCLE: no rule fits. */
static enum depend_result
try_rules(struct order *o, size_t first, size_t end)
{
	struct reconfig *c = o->c;
	uint16_t lid = o->entries.item[first].lid;
	enum depend_result rc = insert_lid(o, first, end, DEPS_ALL);

	c->mark[lid] = ANY_ORDER;
	if (rc != DEPEND_CYCLE)
		return rc;
	rc = insert_lid(o, first, end, DEPS_ORDERED);
	c->mark[lid] = NEXT_HOP_FIRST;
	if (rc != DEPEND_CYCLE)
		c->rules[lid] = TRANSITION_NEXT_HOP_FIRST;
	else /* by its old entries packets come from ends that did not send before, too */
		c->mark[lid] =
		    insert_lid(o, first, end, DEPS_OLD) < DEPEND_CYCLE ? CONFLICTING : MUST_DRAIN;
	return rc;
}

/* ------------------------------------------------------------------- all of them */

static size_t
end_of_lid(const struct order *o, size_t at)
{
	uint16_t lid = o->entries.item[at].lid;

	while (at < o->entries.n && o->entries.item[at].lid == lid)
		at++;
	return at;
}

/* The new tables of all LIDs.  DEPEND_CYCLE: nothing has changed. */
static enum depend_result
insert_new(struct order *o)
{
	struct depend *g = o->c->g;
	enum depend_result rc = DEPEND_HELD;

	g->added.n = 0;
	for (size_t at = 0, end; rc < DEPEND_CYCLE && at < o->entries.n; at = end) {
		end = end_of_lid(o, at);
		rc = insert_lid(o, at, end, DEPS_NEW);
	}
	if (rc == DEPEND_CYCLE)
		depend_undo(g, 0);
	return rc;
}

/* Is the LID that of a switch without hosts, or nobody's? */
static bool
is_spare(const struct order *o, uint16_t lid)
{
	const struct fm_fabric *fab = o->c->fab;

	if (!graph_has_owner(fab, lid))
		return true;
	return fab->end_kind[fab->lid_end[lid]] == FM_END_SWITCH &&
	    !o->c->sends[fab->end_sw[fab->lid_end[lid]]];
}

/* Nobody has paths to lose: it is emptied first. */
static void
drain_absent(struct reconfig *c, uint16_t lid)
{
	c->mark[lid] = ANY_ORDER;
	c->rules[lid] = TRANSITION_DRAIN;
}

/* A rule for each LID, or for those that are spare, or for the others.  False: out of memory. */
static bool
find_rules(struct order *o, bool spare, bool others)
{
	struct reconfig *c = o->c;
	enum depend_result rc = DEPEND_HELD;

	for (size_t at = 0, end; rc <= DEPEND_CYCLE && at < o->entries.n; at = end) {
		uint16_t lid = o->entries.item[at].lid;

		end = end_of_lid(o, at);
		if (!(is_spare(o, lid) ? spare : others))
			continue;
		c->rules[lid] = 0;
		rc = try_rules(o, at, end);
		if (rc == DEPEND_CYCLE && !graph_has_owner(c->fab, lid))
			drain_absent(c, lid);
		else
			c->n_conflicting += rc == DEPEND_CYCLE;
	}
	return rc <= DEPEND_CYCLE;
}

/* LIDs that conflict are written when all others are new and their older packets gone.  Packets
 * that are under way till then are not in the graph any more. */
static bool
write_later(struct order *o)
{
	struct reconfig *c = o->c;
	uint8_t step = c->in_flight ? DEFERRED + 1 : DEFERRED;
	enum depend_result rc;

	depend_undo(c->g, 0);
	rc = insert_new(o);
	c->g->base = o->c->p->number;
	for (size_t at = 0, end; rc <= DEPEND_CYCLE && at < o->entries.n; at = end) {
		uint16_t lid = o->entries.item[at].lid;

		end = end_of_lid(o, at);
		if (!reconfig_conflicts(c, lid))
			continue;
		rc = try_rules(o, at, end);
		if (rc < DEPEND_CYCLE)
			c->rules[lid] |= step;
		c->n_conflicting -= rc < DEPEND_CYCLE;
	}
	return rc <= DEPEND_CYCLE;
}

/* New paths to switches without hosts give way to the mixtures of hosts, and wait.  g->added is
 * what came since the tables before: what repair has added, too.  Entries that change need all of
 * that, where no end sends that did not. */
static bool
have_hosts_first(struct order *o)
{
	depend_undo(o->c->g, 0);
	o->c->n_conflicting = 0;
	if (!find_rules(o, false, true) || !find_rules(o, true, false))
		return false;
	return o->c->n_conflicting == 0 || write_later(o);
}

static bool
list_lids(struct order *o, bool *any_spare)
{
	bool ok = true;

	*any_spare = false;
	for (size_t at = 0; ok && at < o->entries.n; at = end_of_lid(o, at)) {
		ok = fm_vec_push(&o->c->lids, o->entries.item[at].lid);
		*any_spare = *any_spare || is_spare(o, o->entries.item[at].lid);
	}
	return ok;
}

static bool
visit_lids(struct order *o)
{
	struct reconfig *c = o->c;
	enum depend_result fit = DEPEND_HELD; /* the new tables beside those before */
	bool any_spare;

	if (!list_lids(o, &any_spare))
		return false;
	if (!c->at_hand)
		fit = insert_new(o);
	if (fit > DEPEND_CYCLE)
		return false;
	if (!any_spare || fit == DEPEND_CYCLE ||
	    !graph_same_ends(&o->c->prev->snap->fab, &o->c->p->snap->fab))
		return find_rules(o, true, true);
	return have_hosts_first(o);
}

/* ------------------------------------------------------------------- older packets */

/* LIDs that have changed since the oldest packets in the fabric were sent wait for them. */
static void
defer_recent(struct reconfig *c, uint64_t recent[REPAIR_RECENT_WORDS])
{
	if (!c->in_flight)
		memset(recent, 0, REPAIR_RECENT_WORDS * sizeof(*recent));
	for (size_t i = 0; i < c->lids.n; i++) {
		uint16_t lid = c->lids.item[i];

		if (fm_bit_test(recent, lid) && !reconfig_conflicts(c, lid))
			c->rules[lid] |= DEFERRED;
		fm_bit_set(recent, lid);
	}
}

bool
reconfig_order(struct reconfig *c)
{
	struct repair_state *st = c->at_hand ? c->r->repair : NULL;
	struct order o = { .c = c };
	bool ok = find_entries(&o);

	if (ok && c->n_vls == 1) {
		o.mixtures = mixtures_new(c->fab->n_switches, &c->p->tables->t,
		    st != NULL ? st->lost : NULL, c->sends, o.entries.item);
		if (o.mixtures != NULL && c->choices == CHOICES_HELD)
			mixtures_let_choose(o.mixtures, c->prev);
		ok = o.mixtures != NULL;
	}
	ok = ok && visit_lids(&o);
	if (ok && st != NULL) {
		st->gathered = st->gathered || c->g->added.n > 0;
		defer_recent(c, st->recent);
	}
	c->g->added.n = 0;
	mixtures_free(o.mixtures);
	fm_vec_fini(&o.entries);
	return ok;
}
