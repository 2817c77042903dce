/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/nodes/nodes.h - naming switches and end-ports in options.
 *
 *	0x0002c903000abcd0	node GUID of a switch or host, or port GUID
 *	system:0x0002c9...	all nodes of one SystemImageGUID
 *	name:leaf-[1-18]	node description; * and ? match as in a shell, [1-4,7] a
 *				whole number with or without leading zeros, a range
 *				at most a million long; the
 *				prefix may be left out
 *	All			every node (the device group that opa-fm knows; name:All
 *				is a node of that name)
 *	type:ca, type:switch	all of a kind (IBA's NodeType); type:router
 *	level:0, level:top	switches so many hops above the nearest host-bearing one
 *	0x0002c9.../1-18,20	what the cables on those ports of the switch of that
 *				GUID lead to: switches and end-ports
 *	@pods			the members of a group (groups.h)
 *	!ITEM			what ITEM names is taken out of what was named before it
 */
#ifndef CORE_NODES_NODES_H
#define CORE_NODES_NODES_H

#include <fmd/engine.h>

#include "lib/arena.h"
#include "lib/hash.h"

struct snapshot;

struct node_group;

enum node_item_kind {
	NODE_GUID,
	NODE_SYSTEM,
	NODE_NAME,
	NODE_TYPE,
	NODE_LEVEL,
	NODE_PORTS,
	NODE_GROUP
};
enum node_type { NODE_TYPE_CA, NODE_TYPE_SWITCH, NODE_TYPE_ROUTER };
#define NODE_LEVEL_TOP UINT64_MAX

struct node_item {
	enum node_item_kind kind;
	bool minus;	  /* taken out of what stands before it */
	uint64_t number;  /* GUID, level, or enum node_type */
	const char *name; /* pattern, list of ports, name of the group; borrowed from text */
	const char *text; /* as written, borrowed */
	const struct node_group *group; /* of NODE_GROUP, once bound */
	const char *file;		/* where it was written, borrowed; NULL: nowhere */
	unsigned line;
};

/* text must live as long as the item.  FM_E_CONFIG with what would be right. */
int node_item_parse(const char *text, struct node_item *item, struct fm_error *err);

/* Is number one of "1-4,7"?  The list ends at the first other letter. */
bool node_in_ranges(const char *list, uint64_t number);

/* "0x..." in full, or what OpenSM's GUID lists may hold: octal or decimal. */
bool node_guid_parse(const char *text, uint64_t *guid);

bool node_name_match(const char *pattern, const char *name);

/* Where members go; several items may share bitsets. */
struct node_target {
	uint64_t *sw, *end; /* bitsets [n_switches], [n_ends] */
};
/* Empty bitsets in mem; false when memory is out. */
bool node_target_new(const struct snapshot *snap, struct fm_arena *mem, struct node_target *t);
/* Each item for itself, whatever its sign: the members of items[i] are added to
 * targets[i].  O((switches + ends) (patterns + log other items)), each group once; mem
 * for scratch.  Items that match nothing set nothing; a group that is not bound
 * is FM_E_CONFIG. */
int node_items_resolve(const struct node_item *items, const struct node_target *targets, size_t n,
    const struct snapshot *snap, struct fm_arena *mem, struct fm_error *err);
/* The list as one set, added to *to: item after item, added or taken out.  hit[i]
 * (hit may be NULL, else [n] of false) tells that items[i] names something. */
int node_set_resolve(const struct node_item *items, size_t n, const struct node_target *to,
    bool *hit, const struct snapshot *snap, struct fm_arena *mem, struct fm_error *err);

/* row->sw and row->end of row->guid.  *ends begins empty and is filled when first needed. */
int node_find(const struct snapshot *snap, struct fm_hash *ends, struct fm_node_value *row,
    struct fm_error *err);

#endif
