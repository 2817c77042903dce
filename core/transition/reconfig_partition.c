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

/* Beside those that are in, by all that may become of its packets; *fits false: nothing. */
static bool
try_lid(struct reconfig *c, uint16_t lid, bool *fits)
{
	bool changes = deps_changes(c->deps, lid);

	if (!reconfig_insert(c, lid, changes ? DEPS_ALL : DEPS_NEW, fits))
		return false;
	if (*fits) {
		c->mark[lid] = ANY_ORDER;
		c->rules[lid] = changes ? 1 : 0;
	} else if (changes) {
		if (!reconfig_insert(c, lid, DEPS_ORDERED, fits))
			return false;
		c->mark[lid] = *fits ? NEXT_HOP_FIRST : CONFLICTING;
		c->rules[lid] = *fits ? TRANSITION_NEXT_HOP_FIRST | 1 : 0;
	}
	return true;
}

/* Those whose old ways are whole, or the others. */
static bool
try_lids(struct reconfig *c, const struct plan *prev, const struct plan *p, bool whole)
{
	for (uint32_t i = 1; i <= c->fab->max_lid; i++) {
		uint16_t lid = (uint16_t)i;
		bool fits;

		if (!reconfig_is_owned(c->fab, lid) ||
		    (!deps_changes(c->deps, lid) || reconfig_old_path_is_whole(c, prev, p, lid)) !=
			whole)
			continue;
		if (!try_lid(c, lid, &fits))
			return false;
		if (fits)
			continue;
		c->n_conflicting++;
		c->n_cut += whole;
		if (!deps_changes(c->deps, lid) && !fm_vec_push(&c->lids, lid))
			return false;
	}
	return true;
}

bool
reconfig_partition(struct reconfig *c, const struct plan *prev, const struct plan *p)
{
	c->parted = true;
	c->n_conflicting = c->n_cut = 0;
	c->graph = fm_acyclic_new(deps_n_vertices(c->deps), NULL);
	return c->graph != NULL && try_lids(c, prev, p, true) && try_lids(c, prev, p, false);
}
