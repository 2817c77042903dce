/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Option rows to values: the store of what was written.
 *
 * A value is parsed the moment it is set, while its file and line are known,
 * and kept in its final form; only what depends on the fabric (node sets,
 * tables) waits for option_values_store().  Defaults are parsed by the same
 * code from the row's text, so there is one grammar.
 */
#include "core/abi/options.h"

#include <string.h>

#include "core/abi/option_value.h"
#include "core/graph/snapshot.h"
#include "core/nodes/groups.h"
#include "core/text/suggest.h"
#include "lib/error.h"
#include "lib/hash.h"

struct option_values {
	struct fm_arena *mem;
	struct option_table table;
	const char *name;
	struct option_value *values; /* [n] in the order written */
	size_t n, room;
};

/* ----------------------------------------------------------------- tables */

struct option_table
option_table_of(const struct fm_engine *engine)
{
	return (struct option_table){
		.name = engine->name,
		.rows = engine->options,
		.stride = engine->option_row_size,
		.bytes = engine->options_size,
	};
}

const struct fm_option *
option_row(const struct option_table *t, size_t i)
{
	const struct fm_option *row;

	if (t->rows == NULL)
		return NULL;
	row = (const struct fm_option *)((const char *)t->rows + i * t->stride);
	return row->type == FM_OPT_END ? NULL : row;
}

const struct fm_option *
option_find(const struct option_table *t, const char *key)
{
	const struct fm_option *row;

	for (size_t i = 0; (row = option_row(t, i)) != NULL; i++)
		if (row->name != NULL && strcmp(row->name, key) == 0)
			return row;
	return NULL;
}

static size_t
size_of_value(enum fm_opt_type type)
{
	switch (type) {
	case FM_OPT_END:
		return 0;
	case FM_OPT_BOOL:
		return sizeof(bool);
	case FM_OPT_INT:
	case FM_OPT_DURATION:
		return sizeof(int64_t);
	case FM_OPT_ENUM:
		return sizeof(int);
	case FM_OPT_STRING:
		return sizeof(const char *);
	case FM_OPT_NODES:
		return sizeof(struct fm_nodeset);
	case FM_OPT_NODES_LIST:
		return sizeof(struct fm_nodeset_list);
	case FM_OPT_NODE_VALUES:
		return sizeof(struct fm_node_values);
	case FM_OPT_FILE:
		return sizeof(struct fm_file);
	}
	return 0;
}

/* Numbers and what holds pointers begin at multiples of their size, or of a pointer's. */
static size_t
align_of_value(enum fm_opt_type type)
{
	size_t bytes = size_of_value(type);

	return bytes < sizeof(void *)			    ? bytes
	    : type == FM_OPT_INT || type == FM_OPT_DURATION ? _Alignof(int64_t)
							    : _Alignof(void *);
}

/* Where a value lies in the options struct: within it, and no other's place. */
static int
check_place(const struct option_table *t, const struct fm_option *row, struct fm_error *err)
{
	size_t bytes = size_of_value(row->type), align = align_of_value(row->type);
	const struct fm_option *other;

	if (row->offset > t->bytes || bytes > t->bytes - row->offset)
		return fm_fail(err, FM_E_CONFIG,
		    "offset %u is beyond the options struct of %zu bytes", row->offset, t->bytes);
	if (row->offset % align != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "offset %u is no multiple of %zu, as this type needs: offsetof() gives the "
		    "right one",
		    row->offset, align);
	for (size_t i = 0; (other = option_row(t, i)) != row; i++)
		if (row->offset < other->offset + size_of_value(other->type) &&
		    other->offset < row->offset + bytes)
			return fm_fail(err, FM_E_CONFIG,
			    "offset %u, %zu bytes: there is option %s already", row->offset, bytes,
			    other->name);
	return 0;
}

static bool
needs_default(enum fm_opt_type type)
{
	return type == FM_OPT_BOOL || type == FM_OPT_INT || type == FM_OPT_DURATION ||
	    type == FM_OPT_ENUM;
}

static int
check_row(const struct option_table *t, const struct fm_option *row, struct fm_arena *mem,
    struct fm_error *err)
{
	struct option_value v = { .row = row };

	if (size_of_value(row->type) == 0)
		return fm_fail(err, FM_E_CONFIG, "unknown type %d", (int)row->type);
	if (option_find(t, row->name) != row)
		return fm_fail(err, FM_E_CONFIG, "declared twice");
	if (check_place(t, row, err) != 0)
		return FM_E_CONFIG;
	if (row->def == NULL && needs_default(row->type))
		return fm_fail(err, FM_E_CONFIG,
		    "no .def: the default as it would be written in the file is required");
	if (row->help == NULL || *row->help == '\0')
		return fm_fail(err, FM_E_CONFIG, "no help: one sentence is required");
	if (row->type == FM_OPT_ENUM && (row->choices == NULL || row->choices[0] == NULL))
		return fm_fail(err, FM_E_CONFIG, "an ENUM needs choices");
	if (option_value_parse_default(&v, mem, err) != 0)
		return fm_context(err, "default");
	return 0;
}

int
option_table_check(const struct option_table *t, struct fm_error *err)
{
	const struct fm_option *row;
	struct fm_arena mem;
	int rc = 0;

	fm_arena_init(&mem, SIZE_MAX);
	for (size_t i = 0; rc == 0 && (row = option_row(t, i)) != NULL; i++) {
		if (row->name == NULL || *row->name == '\0')
			rc = fm_fail(err, FM_E_CONFIG, "option row %zu has no name", i);
		else if (check_row(t, row, &mem, err) != 0)
			rc = fm_context(err, "option %s", row->name);
	}
	fm_arena_fini(&mem);
	return rc;
}

/* -------------------------------------------------------------- the store */

struct option_values *
option_values_new(struct fm_arena *mem, const struct option_table *table, const char *name)
{
	struct option_values *v = fm_arena_alloc(mem, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->mem = mem;
	v->table = *table;
	v->name = fm_arena_strdup(mem, name);
	return v->name != NULL ? v : NULL;
}

struct option_values *
option_values_copy(struct fm_arena *mem, const struct option_values *v)
{
	struct option_values *copy = option_values_new(mem, &v->table, v->name);

	if (copy == NULL)
		return NULL;
	copy->values = fm_arena_array(mem, v->n + 1, struct option_value);
	if (copy->values == NULL)
		return NULL;
	if (v->n > 0)
		memcpy(copy->values, v->values, v->n * sizeof(*v->values));
	copy->n = v->n;
	copy->room = v->n + 1;
	return copy;
}

static struct option_value *
find_value(const struct option_values *v, const char *key)
{
	for (size_t i = 0; v != NULL && i < v->n; i++)
		if (strcmp(v->values[i].row->name, key) == 0)
			return &v->values[i];
	return NULL;
}

static int
blame(const struct option_values *v, const struct option_origin *at, struct fm_error *err)
{
	return option_blame(v->name, at, err);
}

static int
unknown_key(const struct option_values *v, const char *key, struct fm_error *err)
{
	const struct fm_option *row;
	struct suggestion s;
	const char *near;

	suggest_init(&s, key);
	for (size_t i = 0; (row = option_row(&v->table, i)) != NULL; i++)
		suggest_offer(&s, row->name);
	near = suggest_best(&s);
	if (near != NULL)
		return fm_fail(err, FM_E_CONFIG, "unknown key %s: did you mean %s?", key, near);
	return fm_fail(err, FM_E_CONFIG, "unknown key %s: fmd --help%s%s lists them", key,
	    *v->table.name != '\0' ? "=" : "", v->table.name);
}

int
option_values_set(struct option_values *v, const char *key, const char *const *items,
    size_t n_items, const struct option_origin *origin, struct fm_error *err)
{
	struct option_value value = { .row = option_find(&v->table, key), .name = v->name }, *old;

	if (origin != NULL)
		value.origin = *origin;
	if (value.row == NULL) {
		unknown_key(v, key, err);
		return blame(v, origin, err);
	}
	if (option_value_parse(&value, v->mem, items, n_items, err) != 0) {
		if (origin != NULL && origin->item_lines != NULL && value.bad < n_items)
			value.origin.line = origin->item_lines[value.bad];
		return blame(v, &value.origin, err);
	}
	value.origin.item_lines = NULL;
	value.origin.all = NULL;
	old = find_value(v, key);
	if (old != NULL) {
		*old = value;
		return 0;
	}
	if (!option_grow(v->mem, &v->values, v->n, &v->room, sizeof(*v->values)))
		return option_out_of_memory(err);
	v->values[v->n++] = value;
	return 0;
}

static uint64_t
mark_value(const struct option_value *v)
{
	uint64_t h = fm_hash_bytes(1, v->row->name, strlen(v->row->name));

	h = fm_hash_bytes(h, &v->number, sizeof(v->number));
	if (v->text != NULL)
		h = fm_hash_bytes(h, v->text, strlen(v->text));
	if (v->bytes != NULL)
		h = fm_hash_bytes(h, v->bytes, v->n_bytes);
	if (v->items != NULL)
		h = fm_mix64(h ^ node_items_mark(v->items, v->n));
	for (size_t i = 0; v->lines != NULL && i < v->n; i++)
		h = fm_mix64(fm_mix64(fm_mix64(h ^ v->lines[i].guid) ^ v->lines[i].port) ^
		    (uint64_t)v->lines[i].value);
	return h;
}

uint64_t
option_values_mark(const struct option_values *v)
{
	uint64_t sum = 0; /* in whatever order they were written */

	for (size_t i = 0; v != NULL && i < v->n; i++)
		sum += mark_value(&v->values[i]);
	return fm_mix64(sum);
}

const struct option_origin *
option_values_origin(const struct option_values *v, const char *key)
{
	const struct option_value *value = find_value(v, key);

	return value != NULL ? &value->origin : NULL;
}

struct node_item *
option_values_items(const struct option_values *v, const char *key, size_t *n)
{
	const struct option_value *value = find_value(v, key);

	*n = value != NULL ? value->n : 0;
	return value != NULL ? value->items : NULL;
}

const struct node_item *
option_values_nodes(const struct option_values *v, size_t i, const char **key, size_t *n)
{
	for (size_t j = 0; j < v->n; j++) {
		if (v->values[j].items == NULL || i-- > 0)
			continue;
		*key = v->values[j].row->name;
		*n = v->values[j].n;
		return v->values[j].items;
	}
	return NULL;
}

const char *
option_values_name(const struct option_values *v)
{
	return v->name;
}

const char *
option_values_text(const struct option_values *v, const char *key)
{
	const struct option_value *value = find_value(v, key);

	return value != NULL ? value->text : NULL;
}

int64_t
option_values_number(const struct option_values *v, const char *key, int64_t unset)
{
	const struct option_value *value = find_value(v, key);

	return value != NULL ? value->number : unset;
}

int
option_values_bind_groups(
    struct option_values *v, const struct node_groups *groups, struct fm_error *err)
{
	char what[160];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < v->n; i++) {
		snprintf(what, sizeof(what), "%s: %s", v->name, v->values[i].row->name);
		if (v->values[i].items != NULL)
			rc = groups_bind_items(
			    groups, v->values[i].items, v->values[i].n, what, err);
	}
	return rc;
}

/* -------------------------------------------------------------- resolving */

static int
store_nodes(const struct option_value *v, const struct snapshot *snap, struct fm_arena *mem,
    struct fm_nodeset *to, bool given, struct fm_error *err)
{
	struct node_target set;

	if (!node_target_new(snap, mem, &set))
		return option_out_of_memory(err);
	*to = (struct fm_nodeset){ set.sw, set.end, given };
	return node_set_resolve(v->items, v->n, &set, NULL, snap, mem, err);
}

static int
store_nodes_list(const struct option_value *v, const struct snapshot *snap, struct fm_arena *mem,
    struct fm_nodeset_list *to, struct fm_error *err)
{
	struct node_target *targets = fm_arena_array(mem, v->n + 1, struct node_target);
	struct fm_nodeset *sets = fm_arena_array(mem, v->n + 1, struct fm_nodeset);

	if (targets == NULL || sets == NULL)
		return option_out_of_memory(err);
	for (size_t i = 0; i < v->n; i++) {
		if (!node_target_new(snap, mem, &targets[i]))
			return option_out_of_memory(err);
		sets[i] = (struct fm_nodeset){ targets[i].sw, targets[i].end, true };
	}
	*to = (struct fm_nodeset_list){ sets, (uint32_t)v->n };
	return node_items_resolve(v->items, targets, v->n, snap, mem, err);
}

static int
store_table(const struct option_value *v, const struct snapshot *snap, struct fm_arena *mem,
    struct fm_node_values *to, struct fm_error *err)
{
	struct fm_node_value *rows = fm_arena_array(mem, v->n + 1, struct fm_node_value);
	struct fm_hash ends = { 0 };
	int rc = 0;

	if (rows == NULL)
		return option_out_of_memory(err);
	for (size_t i = 0; rc == 0 && i < v->n; i++) {
		rows[i] = (struct fm_node_value){ .guid = v->lines[i].guid,
			.port = v->lines[i].port,
			.value = v->lines[i].value };
		rc = node_find(snap, &ends, &rows[i], err);
	}
	fm_hash_fini(&ends);
	*to = (struct fm_node_values){ rows, (uint32_t)v->n };
	return rc;
}

static int
store_value(const struct option_value *v, bool given, const struct snapshot *snap,
    struct fm_arena *mem, char *to, struct fm_error *err)
{
	switch (v->row->type) {
	case FM_OPT_END:
		break;
	case FM_OPT_BOOL:
		*(bool *)(void *)to = v->number != 0;
		break;
	case FM_OPT_INT:
	case FM_OPT_DURATION:
		*(int64_t *)(void *)to = v->number;
		break;
	case FM_OPT_ENUM:
		*(int *)(void *)to = (int)v->number;
		break;
	case FM_OPT_STRING:
		*(const char **)(void *)to = v->text;
		break;
	case FM_OPT_NODES:
		return store_nodes(v, snap, mem, (void *)to, given, err);
	case FM_OPT_NODES_LIST:
		return store_nodes_list(v, snap, mem, (void *)to, err);
	case FM_OPT_NODE_VALUES:
		return store_table(v, snap, mem, (void *)to, err);
	case FM_OPT_FILE:
		*(struct fm_file *)(void *)to = (struct fm_file){ v->text, v->bytes, v->n_bytes };
		break;
	}
	return 0;
}

int
option_values_store(const struct option_table *table, const struct option_values *v,
    const struct snapshot *snap, struct fm_arena *mem, void *to, struct fm_error *err)
{
	const struct fm_option *row;
	int rc;

	for (size_t i = 0; (row = option_row(table, i)) != NULL; i++) {
		const struct option_value *written = find_value(v, row->name);
		struct option_value def = { .row = row };

		if (snap == NULL && option_is_list(row))
			return fm_fail(err, FM_E_BUG, "option %s needs a fabric", row->name);
		if (written == NULL && option_value_parse_default(&def, mem, err) != 0)
			return fm_context(err, "%s: default", table->name);
		rc = store_value(written != NULL ? written : &def,
		    written != NULL && !written->none, snap, mem, (char *)to + row->offset, err);
		if (rc != 0)
			return written != NULL ? blame(v, &written->origin, err) : rc;
	}
	return 0;
}

int
options_bind(const struct fm_engine *engine, const struct option_values *values,
    const struct snapshot *snap, struct fm_arena *mem, void **opts, struct fm_error *err)
{
	struct option_table table = option_table_of(engine);
	void *to;
	int rc;

	if (option_row(&table, 0) == NULL) {
		*opts = NULL;
		return 0;
	}
	to = fm_arena_alloc(mem, table.bytes);
	if (to == NULL)
		return option_out_of_memory(err);
	rc = option_values_store(&table, values, snap, mem, to, err);
	if (rc == 0)
		*opts = to;
	return rc;
}

/* ------------------------------------------------- of every engine's section */

static const struct fm_option entry_rows[] = {
	{ .name = "time_limit",
	    .type = FM_OPT_DURATION,
	    .offset = offsetof(struct entry_options, time_limit_ms),
	    .def = "60s",
	    .min = 0,
	    .max = 24 * 3600 * INT64_C(1000),
	    .help = "How long this engine may compute before "
		    "the next one of the chain is asked, in "
		    "place of engine_time_limit; 0 = no "
		    "limit." },
	{ .type = FM_OPT_END }
};

struct option_table
entry_option_table(void)
{
	return (struct option_table){ "", entry_rows, sizeof(entry_rows[0]),
		sizeof(struct entry_options) };
}
