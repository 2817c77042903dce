/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Old and new SLs that have a cycle together before a step is taken: an engine that gives SLs to
 * paths has routed anew, and entries that do not change at all carry packets under both.  Then no
 * order of writing helps, nor does it help to empty the entries that change.
 *
 * The LIDs are parted.  Those whose packets, by old and new entries, under old and new SLs, have no
 * cycle together go on.  All others are drained with all their entries.  In time:
 *
 *	at once			the drained are emptied; that only takes dependencies away
 *	a life time later	their packets are gone; the LIDs that go on are written
 *	then			the SA names the new SLs: still only what was proven together
 *	when hosts know		the drained are filled: by new SLs alone, as verify has proven
 *
 * Greedy: first LIDs that lose no path by the new tables, so that those that are emptied were
 * rather cut off already.  Not the fewest, which is NP-hard (feedback sets).
 *
 * Cost: dependencies of all LIDs, once or twice, inserted one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "core/transition/reconfig_internal.h"
#include "core/transition/transition.h"

/* Beside those that are in; nothing, or DEPEND_CYCLE. */
static enum depend_result
insert(struct reconfig *c, uint16_t lid, enum deps_mode mode)
{
	size_t n = c->g->added.n;
	enum depend_result rc = depend_insert_deps(c->g, c->fab, c->deps, lid, mode);

	if (rc >= DEPEND_CYCLE)
		depend_undo(c->g, n);
	return rc;
}

/* By all that may become of its packets.  DEPEND_CYCLE: it is to be drained. */
static enum depend_result
try_lid(struct reconfig *c, uint16_t lid)
{
	bool changes = deps_changes(c->deps, lid);
	enum depend_result rc = insert(c, lid, changes ? DEPS_ALL : DEPS_NEW);

	c->mark[lid] = ANY_ORDER;
	c->rules[lid] = changes ? DEFERRED : 0;
	if (rc == DEPEND_CYCLE && changes) {
		rc = insert(c, lid, DEPS_ORDERED);
		c->mark[lid] = NEXT_HOP_FIRST;
		c->rules[lid] = TRANSITION_NEXT_HOP_FIRST | DEFERRED;
	}
	if (rc == DEPEND_CYCLE) {
		c->mark[lid] = CONFLICTING;
		c->rules[lid] = 0;
	}
	return rc;
}

/* Those whose old ways are whole, or the others. */
static bool
try_lids(struct reconfig *c, bool whole)
{
	for (uint32_t i = 1; i <= c->fab->max_lid; i++) {
		uint16_t lid = (uint16_t)i;
		enum depend_result rc;

		if (!graph_has_owner(c->fab, lid) ||
		    (!deps_changes(c->deps, lid) || reconfig_old_path_is_whole(c, lid)) != whole)
			continue;
		rc = try_lid(c, lid);
		if (rc > DEPEND_CYCLE ||
		    ((rc == DEPEND_CYCLE || deps_changes(c->deps, lid)) &&
			!fm_vec_push(&c->lids, lid)))
			return false;
		c->n_conflicting += rc == DEPEND_CYCLE;
		c->n_cut += rc == DEPEND_CYCLE && whole;
	}
	return true;
}

bool
reconfig_partition(struct reconfig *c)
{
	c->parted = true;
	depend_free(c->g);
	c->g = depend_new(c->fab, c->n_vls, c->model);
	return c->g != NULL && try_lids(c, true) && try_lids(c, false);
}
