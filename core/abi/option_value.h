/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/abi/option_value.h - one parsed value; shared by options.c (the store)
 * and option_parse.c (the grammar), for nobody else.
 */
#ifndef CORE_ABI_OPTION_VALUE_H
#define CORE_ABI_OPTION_VALUE_H

#include "core/abi/options.h"
#include "core/nodes/nodes.h"

/* A row of NODE_VALUES before its node is looked up. */
struct table_line {
	uint64_t guid;
	uint32_t port;
	int64_t value;
};

/* One option with its value, whatever its type. */
struct option_value {
	const struct fm_option *row;
	struct option_origin origin;
	const char *name;  /* whose it is, "fattree pods"; NULL where origin.all is */
	int64_t number;	   /* BOOL, INT, DURATION, ENUM */
	const char *text;  /* STRING, and the path of FILE */
	const char *bytes; /* FILE */
	size_t n_bytes;
	struct node_item *items;  /* NODES, NODES_LIST: [n] */
	struct table_line *lines; /* NODE_VALUES: [n] */
	size_t n, room;
	bool none;  /* NODES, NODES_LIST, NODE_VALUES: written as { }, so nothing is given */
	size_t bad; /* the item that could not be parsed */
};

/* "fmd.conf:3: fattree pods: " before the sentence in err, whose kind is returned. */
int option_blame(const char *name, const struct option_origin *at, struct fm_error *err);

/* v->row, v->origin and v->name are set; the rest is filled from items.  FM_E_CONFIG
 * with "KEY = ..." and what would be right; mistakes in items of a list are noted where
 * v->origin.all gathers them, and the others kept. */
int option_value_parse(struct option_value *v, struct fm_arena *mem, const char *const *items,
    size_t n_items, struct fm_error *err);
int option_value_parse_default(struct option_value *v, struct fm_arena *mem, struct fm_error *err);

/* Room for one more of size bytes in an array that lives in an arena;
 * *array is the pointer to it. */
bool option_grow(struct fm_arena *mem, void *array, size_t n, size_t *room, size_t size);
int option_out_of_memory(struct fm_error *err);

#endif
