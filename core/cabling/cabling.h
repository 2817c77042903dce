/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/cabling/cabling.h - a fabric as it is to be against one as it is.
 *
 * A node is the same by its GUID, else by its name (whole, as netlist_topo_name() writes it, or its
 * first word), else by its place: more than half of its cables lead to where that node's are to
 * lead.  What is of another GUID or name then is a note and no difference.  A cable is the same
 * where both its ends are.  Of what remains
 *
 *	a node with all its cables		is one difference
 *	a cable that leads elsewhere by one end	is one (moved), by both if it joins the same nodes
 *	two that have each other's far ends	are one (swapped)
 *
 * and a cable is slower where it has fewer lanes times speed than the file says.
 * O(ports), and ports again for each round in which nodes are known by their places.
 */
#ifndef CORE_CABLING_CABLING_H
#define CORE_CABLING_CABLING_H

#include <jansson.h>

#include "core/netlist/netlist.h"
#include "lib/vec.h"

enum cabling_kind {
	CABLING_NODE_MISSING,
	CABLING_NODE_EXTRA,
	CABLING_SWAPPED,
	CABLING_MOVED,
	CABLING_MISSING,
	CABLING_EXTRA,
	CABLING_SLOWER,
	/* notes */
	CABLING_REPLACED,
	CABLING_RENAMED,
	N_CABLING_KINDS
};
#define CABLING_FIRST_NOTE CABLING_REPLACED

struct cabling_end {
	const struct netlist *in; /* as it is to be, or as it is */
	uint32_t node;
	uint8_t port; /* 0: the node as a whole */
};

struct cabling_item {
	enum cabling_kind kind;
	/* nodes: [0], of notes [0] as it is to be and [1] as it is; missing, extra, slower: both
	 * ends; moved: [0][1] as it is to be, [2][3] as it is, [0] and [2] the same end if there is
	 * one; swapped: [0][1] and [2][3] as they are to be, they are [0][3] and [2][1] */
	struct cabling_end end[4];
	uint32_t n_cables; /* of a node */
};

struct cabling {
	FM_VEC(struct cabling_item) items; /* by kind */
	uint32_t n_of[N_CABLING_KINDS];
	uint32_t n_same; /* cables */
};

/* Both are borrowed until cabling_fini(), which is right in any case.  FM_E_RESOURCE. */
int cabling_compare(const struct netlist *want, const struct netlist *found, struct cabling *c,
    struct fm_error *err);
void cabling_fini(struct cabling *c);
uint32_t cabling_n_differences(const struct cabling *c);

/* "missing-node", "moved"; for programs */
const char *cabling_word(enum cabling_kind kind);
#define CABLING_TEXT 640
/* A sentence; buf is returned. */
const char *cabling_say(const struct cabling_item *item, char *buf, size_t size);
/* {"same", "differences", "notes", "counts": {KIND: N}, "list": [{"kind", "text", "ends"}]}, of
 * `most` rows at most; a new reference, NULL: out of memory. */
json_t *cabling_json(const struct cabling *c, size_t most);

struct inventory;
/* The nodes that are there and their cables; FM_E_RESOURCE.  netlist_fini() in any case. */
int cabling_of_inventory(const struct inventory *inv, struct netlist *nl, struct fm_error *err);

#endif
