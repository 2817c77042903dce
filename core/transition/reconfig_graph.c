/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dependencies of one LID go into the graph, or out of it again.  The graph counts how many
 * LIDs have a dependency, so what one LID leaves behind is still there for the others.
 *
 * Where packets go up and then down (levels.h) the graph has all legal turns from the start, and
 * only the prohibited ones are added.
 */
#include <stdlib.h>
#include <string.h>

#include "core/transition/reconfig_internal.h"

#define KEPT_BYTES (64u << 20)

/* A copy of what deps_of() says: where levels say the rest, of the prohibited turns only. */
static bool
keep_deps(struct reconfig *c, struct kept_deps *k, const struct dep *list, size_t n)
{
	FM_VEC(struct dep) kept = { 0 };
	bool ok = fm_vec_reserve(&kept, c->turns == NULL ? n + 1 : 1);

	for (size_t i = 0; ok && i < n; i++)
		if (c->turns == NULL ||
		    turn_graph_is_prohibited(c->turns, list[i].from, list[i].to))
			ok = fm_vec_push(&kept, list[i]);
	k->list = kept.item;
	k->n = (uint32_t)kept.n;
	c->n_kept_bytes += (kept.n + 1) * sizeof(*list);
	return ok;
}

/* LIDs that change are asked for a few times each; by levels all that are asked for do. */
bool
reconfig_list_deps(
    struct reconfig *c, uint16_t lid, enum deps_mode mode, const struct dep **list, size_t *n)
{
	bool keeps = c->kept != NULL && (c->turns != NULL || deps_changes(c->deps, lid));
	struct kept_deps *k = keeps ? &c->kept[lid * 4u + mode] : NULL;

	if (k == NULL || k->list == NULL) {
		if (!deps_of(c->deps, lid, mode, list, n))
			return false;
		if (k == NULL || c->n_kept_bytes + (*n + 1) * sizeof(**list) > KEPT_BYTES)
			return true;
		if (!keep_deps(c, k, *list, *n))
			return false;
	}
	*list = k->list;
	*n = k->n;
	return true;
}

void
reconfig_free_kept(struct reconfig *c)
{
	for (size_t i = 0; c->kept != NULL && i < (c->fab->max_lid + 1u) * 4u; i++)
		free(c->kept[i].list);
	free(c->kept);
	c->kept = NULL;
}

/* The same in a graph that has all legal turns already. */
static bool
insert_turns(struct reconfig *c, const struct dep *list, size_t n, bool *fits)
{
	bool any = false, ok = true;

	for (size_t i = 0; ok && i < n; i++)
		if (turn_graph_is_prohibited(c->turns, list[i].from, list[i].to)) {
			ok = turn_graph_add(c->turns, list[i].from, list[i].to);
			any = true;
		}
	*fits = !any || turn_graph_is_acyclic(c->turns);
	for (size_t i = 0; !*fits && i < n; i++)
		if (turn_graph_is_prohibited(c->turns, list[i].from, list[i].to))
			turn_graph_remove(c->turns, list[i].from, list[i].to);
	return ok;
}

bool
reconfig_insert(struct reconfig *c, uint16_t lid, enum deps_mode mode, bool *fits)
{
	const struct dep *list;
	size_t n, i;

	if (!reconfig_list_deps(c, lid, mode, &list, &n))
		return false;
	if (c->turns != NULL)
		return insert_turns(c, list, n, fits);
	*fits = true;
	for (i = 0; *fits && i < n; i++)
		switch (fm_acyclic_insert(c->graph, list[i].from, list[i].to)) {
		case FM_ACYCLIC_ADDED:
		case FM_ACYCLIC_HELD:
			break;
		case FM_ACYCLIC_CYCLE:
			*fits = false;
			break;
		case FM_ACYCLIC_NOMEM:
			return false;
		}
	for (i -= !*fits; !*fits && i-- > 0;)
		fm_acyclic_remove(c->graph, list[i].from, list[i].to);
	return true;
}

bool
reconfig_remove(struct reconfig *c, uint16_t lid, enum deps_mode mode)
{
	const struct dep *list;
	size_t n;

	if (!reconfig_list_deps(c, lid, mode, &list, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (c->turns == NULL)
			fm_acyclic_remove(c->graph, list[i].from, list[i].to);
		else if (turn_graph_is_prohibited(c->turns, list[i].from, list[i].to))
			turn_graph_remove(c->turns, list[i].from, list[i].to);
	return true;
}
