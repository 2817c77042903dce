/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/abi/options.h - option rows (struct fm_option) to values.
 *
 * Everything an option has follows from its row: the parser, the range check
 * and its message, the help, the commented example, the man page.
 *
 *	BOOL		yes no true false on off 1 0
 *	INT		decimal or 0x..., within min..max; min = INT64_MIN and max =
 *			INT64_MAX: any 64 bits (keys, GUID prefixes)
 *	DURATION	a number with a unit: 250ms 10s 5min 1h
 *	ENUM		one of .choices
 *	NODES(_LIST)	items of nodes.h, or "file:PATH" with one a line; NODES is the
 *			set that is left when "!" has taken out what it names
 *	NODE_VALUES	rows "NODE number ...", or "file:PATH" with one a line; the words
 *			of .unit name the numbers: "id" or "weight" is a value,
 *			"port weight" a port and a value, "ports..." any number of
 *			ports whose values are their places, from 0
 *	FILE		a path, read when the configuration is read
 */
#ifndef CORE_ABI_OPTIONS_H
#define CORE_ABI_OPTIONS_H

#include <stdio.h>

#include <fmd/engine.h>

#include "lib/arena.h"

struct mistakes;
struct node_groups;
struct node_item;
struct snapshot;

/* A table of rows as an engine or the daemon declares it. */
struct option_table {
	const char *name;	      /* leads messages: "minhop"; "" for the daemon's own */
	const struct fm_option *rows; /* ends with FM_OPT_END, or NULL */
	size_t stride; /* bytes from row to row: sizeof(struct fm_option) of its builder */
	size_t bytes;  /* of the struct that the offsets point into */
};
struct option_table option_table_of(const struct fm_engine *engine);
/* Row i, or NULL behind the last. */
const struct fm_option *option_row(const struct option_table *t, size_t i);
const struct fm_option *option_find(const struct option_table *t, const char *key);
/* Are the rows sound?  0, or FM_E_CONFIG: "option x: ...". */
int option_table_check(const struct option_table *t, struct fm_error *err);

/* What may be written: "1..64 hops", "refuse, warn", "a duration, 1s..1h". */
void option_describe(const struct fm_option *row, char *out, size_t room);
/* Is a value written as a list? */
bool option_is_list(const struct fm_option *row);

/* The options of one engine instance as the administrator wrote them, checked
 * for type and range; opaque, owned by the configuration. */
struct option_values;

/* Empty values for table, in mem; name leads messages ("fattree pods").  NULL
 * when memory is out. */
struct option_values *option_values_new(
    struct fm_arena *mem, const struct option_table *table, const char *name);

/* The same values, to be changed apart; what they point to is shared, so v's memory
 * must outlive them.  NULL when memory is out. */
struct option_values *option_values_copy(struct fm_arena *mem, const struct option_values *v);

/* Where a value was written. */
struct option_origin {
	const char *file; /* borrowed for as long as the values live; NULL: on the command line */
	unsigned line;
	const unsigned *item_lines; /* [n_items] of a list in several lines, or NULL */
	struct mistakes *all;	    /* NULL: the first mistake in a list ends it */
};
/* Set key to items, replacing what it had.  FM_E_CONFIG with "FILE:LINE: NAME:
 * key = ..." and what would be right, also for an unknown key.  Files are
 * read now; a relative path is one beside the configuration file. */
int option_values_set(struct option_values *v, const char *key, const char *const *items,
    size_t n_items, const struct option_origin *origin, struct fm_error *err);
/* The items of a NODES value, NULL when it was not set. */
struct node_item *option_values_items(const struct option_values *v, const char *key, size_t *n);
/* The i-th of the values that name nodes: its items, its key; NULL behind the last. */
const struct node_item *option_values_nodes(
    const struct option_values *v, size_t i, const char **key, size_t *n);
/* What leads messages, as it was given. */
const char *option_values_name(const struct option_values *v);
/* The text of a STRING value, NULL when it was not set. */
const char *option_values_text(const struct option_values *v, const char *key);
/* The number of a BOOL, INT, DURATION or ENUM value, `unset` when it was not set. */
int64_t option_values_number(const struct option_values *v, const char *key, int64_t unset);
/* Point "@name" in all values at the groups of that name; before the mark is
 * taken and anything is resolved.  FM_E_CONFIG with "FILE:LINE: ..." */
int option_values_bind_groups(
    struct option_values *v, const struct node_groups *groups, struct fm_error *err);
/* Stands for what was written, however and wherever: equal marks, equal options. */
uint64_t option_values_mark(const struct option_values *v);
/* Where key was set, or NULL when it was not. */
const struct option_origin *option_values_origin(const struct option_values *v, const char *key);

/* Values and defaults into a struct of table->bytes at *to (zeroed before).
 * snap may be NULL where the table has no NODES or NODE_VALUES rows. */
int option_values_store(const struct option_table *table, const struct option_values *v,
    const struct snapshot *snap, struct fm_arena *mem, void *to, struct fm_error *err);

/* The struct that route() gets: options_size bytes in mem, defaults
 * filled in, node sets and tables resolved against fab.  values NULL = all
 * defaults.  *opts is NULL for an engine without options.  Errors name the
 * file and line of the value. */
int options_bind(const struct fm_engine *engine, const struct option_values *values,
    const struct snapshot *snap, struct fm_arena *mem, void **opts, struct fm_error *err);

/* What every section of an engine may say beside the engine's own options. */
struct entry_options {
	int64_t time_limit_ms;
};
struct option_table entry_option_table(void);

#endif
