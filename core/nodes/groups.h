/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/nodes/groups.h - named lists of nodes, which other lists take in as @NAME.
 *
 * A group may name other groups, but not come back to itself and not be nested
 * deeper than GROUPS_MAX_DEPTH.  What it names is found in the fabric when the
 * list that names it is resolved.
 */
#ifndef CORE_NODES_GROUPS_H
#define CORE_NODES_GROUPS_H

#include "core/nodes/nodes.h"

#define GROUPS_MAX_DEPTH 16

struct node_groups;

struct node_group {
	const char *name;
	struct node_item *items; /* [n] */
	size_t n;
	const struct node_groups *of; /* all of them */
	uint32_t number;	      /* among those */
	uint64_t mark;		      /* stands for all that it names, groups within too */
	const char *file;	      /* where it was written */
	unsigned line;
	bool used;	   /* somebody names it */
	int visited;	   /* while they are bound */
	uint32_t n_levels; /* of groups within it, itself too */
};

struct node_groups {
	struct node_group *group; /* [n] */
	uint32_t n;
	struct mistakes
	    *all; /* gathers what is wrong while they are bound; NULL: the first ends it */
};

/* Point the items at the groups they name.  FM_E_CONFIG with "FILE:LINE: what:
 * ..." for one that does not exist. */
int groups_bind_items(const struct node_groups *groups, struct node_item *items, size_t n,
    const char *what, struct fm_error *err);
/* The groups among themselves: names within, circles, marks.  Before others are
 * bound to them. */
int groups_bind(struct node_groups *groups, struct fm_error *err);
/* Equal marks, equal items: their texts, and those of the groups they are bound to. */
uint64_t node_items_mark(const struct node_item *items, size_t n);

#endif
