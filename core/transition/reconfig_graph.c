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

/* As deps_of(); of LIDs that change they are kept, for each is asked for a few times. */
bool
reconfig_list_deps(struct reconfig *c, uint16_t lid, enum deps_mode mode, const struct dep **list, size_t *n)
{
	struct kept_deps *k = NULL;
	size_t bytes;

	if (c->kept != NULL && deps_changes(c->deps, lid)) {
		k = &c->kept[lid * 4u + mode];
		*list = k->list;
		*n = k->n;
		if (k->list != NULL)
			return true;
	}
	if (!deps_of(c->deps, lid, mode, list, n))
		return false;
	bytes = (*n + 1) * sizeof(**list);
	if (k == NULL || c->n_kept_bytes + bytes > KEPT_BYTES)
		return true;
	k->list = malloc(bytes);
	if (k->list == NULL)
		return false;
	if (*n > 0)
		memcpy(k->list, *list, *n * sizeof(**list));
	k->n = (uint32_t)*n;
	c->n_kept_bytes += bytes;
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

/* The same in a graph that has all turns but the odd ones already. */
static bool
insert_odd(struct reconfig *c, const struct dep *list, size_t n, bool *fits)
{
	bool any = false, ok = true;

	for (size_t i = 0; ok && i < n; i++)
		if (odd_graph_is_odd(c->odd, list[i].from, list[i].to)) {
			ok = odd_graph_add(c->odd, list[i].from, list[i].to);
			any = true;
		}
	*fits = !any || odd_graph_acyclic(c->odd);
	for (size_t i = 0; !*fits && i < n; i++)
		if (odd_graph_is_odd(c->odd, list[i].from, list[i].to))
			odd_graph_remove(c->odd, list[i].from, list[i].to);
	return ok;
}

bool
reconfig_insert(struct reconfig *c, uint16_t lid, enum deps_mode mode, bool *fits)
{
	const struct dep *list;
	size_t n, i;

	if (!reconfig_list_deps(c, lid, mode, &list, &n))
		return false;
	if (c->odd != NULL)
		return insert_odd(c, list, n, fits);
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
		if (c->odd == NULL)
			fm_acyclic_remove(c->graph, list[i].from, list[i].to);
		else if (odd_graph_is_odd(c->odd, list[i].from, list[i].to))
			odd_graph_remove(c->odd, list[i].from, list[i].to);
	return true;
}
