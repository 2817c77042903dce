/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups among themselves: a depth-first search over "@name" finds circles,
 * and leaves a group after all that it names, so that marks can be summed up
 * on the way back.  O(items + groups).
 */
#include "core/nodes/groups.h"

#include <stdio.h>
#include <string.h>

#include "core/text/mistakes.h"
#include "core/text/suggest.h"
#include "lib/error.h"

enum { UNSEEN, OPEN, DONE };

/* "fmd.conf:3: group a" before the sentence. */
static int
blame(const struct node_item *item, const char *what, struct fm_error *err)
{
	if (item->file == NULL)
		return fm_context(err, "%s", what);
	return fm_context(err, "%s:%u: %s", item->file, item->line, what);
}

static struct node_group *
find_group(const struct node_groups *groups, const char *name)
{
	for (uint32_t i = 0; i < groups->n; i++)
		if (strcmp(groups->group[i].name, name) == 0)
			return &groups->group[i];
	return NULL;
}

static int
unknown_group(const struct node_groups *groups, const char *name, struct fm_error *err)
{
	struct suggestion s;
	const char *near;

	suggest_init(&s, name);
	for (uint32_t i = 0; i < groups->n; i++)
		suggest_offer(&s, groups->group[i].name);
	near = suggest_best(&s);
	if (near != NULL)
		return fm_fail(err, FM_E_CONFIG, "'@%s': there is no group %s: did you mean @%s?",
		    name, name, near);
	return fm_fail(err, FM_E_CONFIG,
	    "'@%s': there is no group %s: write group \"%s\" { members = { ... } }", name, name,
	    name);
}

int
groups_bind_items(const struct node_groups *groups, struct node_item *items, size_t n,
    const char *what, struct fm_error *err)
{
	for (size_t i = 0; i < n; i++) {
		struct node_group *group;

		if (items[i].kind != NODE_GROUP)
			continue;
		group = find_group(groups, items[i].name);
		if (group == NULL) {
			unknown_group(groups, items[i].name, err);
			blame(&items[i], what, err);
			if (mistakes_note(groups->all, err) != 0)
				return (int)err->kind;
			continue;
		}
		group->used = true;
		items[i].group = group;
	}
	return 0;
}

uint64_t
node_items_mark(const struct node_item *items, size_t n)
{
	uint64_t h = fm_mix64(n);

	for (size_t i = 0; i < n; i++) {
		h = fm_hash_bytes(h + items[i].minus, items[i].text, strlen(items[i].text));
		if (items[i].group != NULL)
			h = fm_mix64(h ^ items[i].group->mark);
	}
	return h;
}

/* Why item, which leads on from the last group of the way, must not. */
static int
check_step(const struct node_item *item, struct node_group *const *way, uint32_t depth,
    struct fm_error *err)
{
	char what[96];

	snprintf(what, sizeof(what), "group %s: members", way[depth - 1]->name);
	if (item->group->visited == OPEN)
		fm_fail(err, FM_E_CONFIG,
		    "'%s' leads back to group %s of line %u: a group cannot hold itself",
		    item->text, item->group->name, item->group->line);
	else if (depth == GROUPS_MAX_DEPTH || item->group->n_levels >= GROUPS_MAX_DEPTH)
		fm_fail(err, FM_E_CONFIG, "'%s': groups are nested more than %d deep", item->text,
		    GROUPS_MAX_DEPTH);
	else
		return 0;
	return blame(item, what, err);
}

/* way[0..depth-1]: how we came to the group at its end. */
static int
visit(struct node_group **way, uint32_t depth, struct fm_error *err)
{
	struct node_group *group = way[depth - 1];
	int rc = 0;

	group->visited = OPEN;
	group->n_levels = 1;
	for (size_t i = 0; rc == 0 && i < group->n; i++) {
		const struct node_item *item = &group->items[i];

		if (item->group == NULL)
			continue;
		if (check_step(item, way, depth, err) != 0) {
			if ((rc = mistakes_note(group->of->all, err)) != 0)
				return rc;
			continue;
		}
		way[depth] = &item->group->of->group[item->group->number];
		if (way[depth]->visited == UNSEEN)
			rc = visit(way, depth + 1, err);
		if (group->n_levels < way[depth]->n_levels + 1)
			group->n_levels = way[depth]->n_levels + 1;
	}
	group->mark = node_items_mark(group->items, group->n);
	group->visited = DONE;
	return rc;
}

int
groups_bind(struct node_groups *groups, struct fm_error *err)
{
	struct node_group *way[GROUPS_MAX_DEPTH];
	char what[96];
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < groups->n; i++) {
		struct node_group *g = &groups->group[i];

		g->of = groups;
		g->number = i;
		g->visited = UNSEEN;
		snprintf(what, sizeof(what), "group %s: members", g->name);
		rc = groups_bind_items(groups, g->items, g->n, what, err);
	}
	for (uint32_t i = 0; rc == 0 && i < groups->n; i++) {
		way[0] = &groups->group[i];
		if (groups->group[i].visited == UNSEEN)
			rc = visit(way, 1, err);
	}
	return rc;
}
