/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grammar of option values, by type of row, and its messages.
 *
 * Scalars end as one number, lists as node items or table lines.  What a
 * parser finds wrong is a reason without a subject ("is outside 1..64 hops");
 * the key and the text are put before it in one place.
 */
#include "core/abi/option_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/mistakes.h"
#include "core/text/readfile.h"
#include "lib/error.h"
#include "lib/log.h"

int
option_out_of_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while reading options");
}

bool
option_is_list(const struct fm_option *row)
{
	return row->type == FM_OPT_NODES || row->type == FM_OPT_NODES_LIST ||
	    row->type == FM_OPT_NODE_VALUES;
}

static bool
is_any_64_bits(const struct fm_option *row)
{
	return row->min == INT64_MIN && row->max == INT64_MAX;
}

/* ---------------------------------------------------------------- scalars */

static int
parse_bool(const char *text, int64_t *value, struct fm_error *err)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (int i = 0; i < 8; i++)
		if (strcmp(text, words[i]) == 0) {
			*value = i & 1;
			return 0;
		}
	return fm_fail(err, FM_E_CONFIG, "is neither yes nor no");
}

static int
is_outside(const struct fm_option *row, struct fm_error *err)
{
	char range[128];

	option_describe(row, range, sizeof(range));
	return fm_fail(err, FM_E_CONFIG, "is outside %s", range);
}

static int
check_range(const struct fm_option *row, int64_t value, struct fm_error *err)
{
	return value >= row->min && value <= row->max ? 0 : is_outside(row, err);
}

static int
parse_int(const struct fm_option *row, const char *text, int64_t *value, struct fm_error *err)
{
	bool wide = is_any_64_bits(row);
	char *end, range[128];

	if (wide && text[0] == '-')
		return fm_fail(err, FM_E_CONFIG, "is less than 0: write a number of up to 64 bits");
	errno = 0;
	*value = wide ? (int64_t)strtoull(text, &end, 0) : strtoll(text, &end, 0);
	if (end == text || *end != '\0' || isspace((unsigned char)text[0])) {
		option_describe(row, range, sizeof(range));
		if (wide && *text != '\0' && text[strspn(text, "0123456789abcdefABCDEF")] == '\0')
			return fm_fail(err, FM_E_CONFIG,
			    "is no number: hexadecimal is written with 0x, as 0x%.40s", text);
		return fm_fail(err, FM_E_CONFIG, "is no number: write %s", range);
	}
	if (errno == ERANGE && is_any_64_bits(row))
		return fm_fail(err, FM_E_CONFIG, "is more than 64 bits");
	if (errno == ERANGE) /* cut down to 64 bits, which may be what is allowed */
		return is_outside(row, err);
	return check_range(row, *value, err);
}

static const struct duration_unit {
	const char *name;
	int64_t ms;
} duration_units[] = { { "ms", 1 }, { "s", 1000 }, { "min", 60000 }, { "h", 3600000 } };

static int
parse_duration(const struct fm_option *row, const char *text, int64_t *value, struct fm_error *err)
{
	char *end;
	int64_t n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || errno != 0)
		return fm_fail(
		    err, FM_E_CONFIG, "is no duration: write a number and ms, s, min or h");
	if (n == 0 && *end == '\0')
		return *value = 0, check_range(row, 0, err);
	for (size_t i = 0; i < sizeof(duration_units) / sizeof(*duration_units); i++)
		if (strcmp(end, duration_units[i].name) == 0) {
			if (__builtin_mul_overflow(n, duration_units[i].ms, value))
				*value = INT64_MAX;
			return check_range(row, *value, err);
		}
	return fm_fail(
	    err, FM_E_CONFIG, "has no unit that fits: write a number and ms, s, min or h");
}

static int
parse_enum(const struct fm_option *row, const char *text, int64_t *value, struct fm_error *err)
{
	char choices[160];

	for (int i = 0; row->choices[i] != NULL; i++)
		if (strcmp(row->choices[i], text) == 0) {
			*value = i;
			return 0;
		}
	option_describe(row, choices, sizeof(choices));
	return fm_fail(err, FM_E_CONFIG, "is none of %s", choices);
}

static void
print_duration(int64_t ms, char *out, size_t room)
{
	int unit = 3;

	if (ms == 0) {
		snprintf(out, room, "0");
		return;
	}
	while (unit > 0 && ms % duration_units[unit].ms != 0)
		unit--;
	snprintf(
	    out, room, "%" PRId64 "%s", ms / duration_units[unit].ms, duration_units[unit].name);
}

static void
describe_choices(const struct fm_option *row, char *out, size_t room)
{
	size_t n = 0;

	for (int i = 0; row->choices[i] != NULL && n < room; i++)
		n +=
		    (size_t)snprintf(out + n, room - n, "%s%s", i > 0 ? ", " : "", row->choices[i]);
}

void
option_describe(const struct fm_option *row, char *out, size_t room)
{
	const char *unit = row->unit != NULL ? row->unit : "", *space = *unit ? " " : "";
	char low[32], high[32];

	switch (row->type) {
	case FM_OPT_END:
		out[0] = '\0';
		return;
	case FM_OPT_BOOL:
		snprintf(out, room, "yes or no");
		return;
	case FM_OPT_INT:
		if (is_any_64_bits(row))
			snprintf(out, room, "any 64 bits%s%s", space, unit);
		else
			snprintf(out, room, "%" PRId64 "..%" PRId64 "%s%s", row->min, row->max,
			    space, unit);
		return;
	case FM_OPT_DURATION:
		print_duration(row->min, low, sizeof(low));
		print_duration(row->max, high, sizeof(high));
		snprintf(out, room, "%s..%s", low, high);
		return;
	case FM_OPT_ENUM:
		describe_choices(row, out, room);
		return;
	case FM_OPT_STRING:
		snprintf(out, room, "%s", *unit ? unit : "text");
		return;
	case FM_OPT_NODES:
		snprintf(out, room, "a set of nodes");
		return;
	case FM_OPT_NODES_LIST:
		snprintf(out, room, "nodes in order");
		return;
	case FM_OPT_NODE_VALUES:
		snprintf(out, room, "rows \"NODE %s\"", *unit ? unit : "value");
		return;
	case FM_OPT_FILE:
		snprintf(out, room, "a file");
		return;
	}
}

/* ------------------------------------------------------------------ lists */

bool
option_grow(struct fm_arena *mem, void *array, size_t n, size_t *room, size_t size)
{
	size_t to = *room ? *room * 2 : 4;
	void *from, *p;

	if (n < *room)
		return true;
	memcpy(&from, array, sizeof(from));
	p = fm_arena_alloc_array(mem, to, size);
	if (p == NULL)
		return false;
	if (n > 0)
		memcpy(p, from, n * size);
	memcpy(array, &p, sizeof(p));
	*room = to;
	return true;
}

/* Where a list is being read. */
struct list_place {
	const char *file; /* NULL: on the command line */
	unsigned line;
	bool minus; /* all of it is taken out */
};

/* What is taken out must have been named before. */
static int
check_sign(const struct option_value *v, const struct node_item *item,
    const struct list_place *place, struct fm_error *err)
{
	if (!item->minus && !place->minus)
		return 0;
	if (v->row->type == FM_OPT_NODES_LIST)
		return fm_fail(err, FM_E_CONFIG,
		    "'%s': out of an ordered list nothing is taken; leave it out", item->text);
	if (item->minus && place->minus)
		return fm_fail(err, FM_E_CONFIG,
		    "'%s': this file is taken out as a whole, with !file:; write its lines without "
		    "!",
		    item->text);
	if (v->n == 0)
		return fm_fail(err, FM_E_CONFIG,
		    "'%s' takes out of nothing: before it stands what it is taken out of, All if "
		    "need be",
		    item->text);
	return 0;
}

static int
add_node_item(struct option_value *v, struct fm_arena *mem, const char *text,
    const struct list_place *place, struct fm_error *err)
{
	struct node_item *item;
	int rc;

	if (!option_grow(mem, &v->items, v->n, &v->room, sizeof(*v->items)))
		return option_out_of_memory(err);
	item = &v->items[v->n];
	if ((rc = node_item_parse(text, item, err)) != 0 ||
	    (rc = check_sign(v, item, place, err)) != 0)
		return rc;
	item->minus |= place->minus;
	item->file = place->file;
	item->line = place->line;
	v->n++;
	return 0;
}

/* How many numbers follow the node in a row: the words of the unit. */
static void
table_columns(const struct fm_option *row, size_t *n_numbers, bool *any)
{
	const char *u = row->unit != NULL ? row->unit : "value";

	*any = strstr(u, "...") != NULL;
	for (*n_numbers = 0; *u != '\0'; u += strspn(u, " ")) {
		(*n_numbers)++;
		u += strcspn(u, " ");
	}
}

static int
wrong_table_row(const struct fm_option *row, const char *text, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG, "row '%s' is not \"GUID %s\", the GUID written 0x...",
	    text, row->unit != NULL ? row->unit : "value");
}

static int
push_line(
    struct option_value *v, struct fm_arena *mem, struct table_line line, struct fm_error *err)
{
	char range[128];

	option_describe(
	    &(struct fm_option){ .type = FM_OPT_INT, .min = v->row->min, .max = v->row->max },
	    range, sizeof(range));
	if (v->row->min < v->row->max && (line.value < v->row->min || line.value > v->row->max))
		return fm_fail(err, FM_E_CONFIG, "%" PRId64 " is outside %s", line.value, range);
	if (!option_grow(mem, &v->lines, v->n, &v->room, sizeof(*v->lines)))
		return option_out_of_memory(err);
	v->lines[v->n++] = line;
	return 0;
}

#define TABLE_NUMBERS_MAX 255 /* ports of a switch */

/* "0x... n ...": the numbers mean what the words of the unit say. */
static int
add_table_line(struct option_value *v, struct fm_arena *mem, const char *text, struct fm_error *err)
{
	struct table_line line = { 0 };
	int64_t number[TABLE_NUMBERS_MAX];
	size_t n = 0, want, first = strcspn(text, " \t");
	char guid[32], *end;
	bool any;
	int rc = 0;

	table_columns(v->row, &want, &any);
	snprintf(guid, sizeof(guid), "%.*s", (int)(first < 31 ? first : 31), text);
	if (!node_guid_parse(guid, &line.guid))
		return wrong_table_row(v->row, text, err);
	for (const char *p = text + first + strspn(text + first, " \t"); *p != '\0'; p = end) {
		if (n == TABLE_NUMBERS_MAX)
			return wrong_table_row(v->row, text, err);
		errno = 0;
		number[n++] = strtoll(p, &end, 0);
		if (errno != 0 || end == p || (*end != '\0' && *end != ' ' && *end != '\t'))
			return wrong_table_row(v->row, text, err);
		end += strspn(end, " \t");
	}
	if (n == 0 || (!any && n != want))
		return wrong_table_row(v->row, text, err);
	for (size_t i = 0; i < n; i++)
		if ((any || (n == 2 && i == 0)) && (number[i] < 0 || number[i] > 254))
			return fm_fail(err, FM_E_CONFIG, "row '%s': %" PRId64 " is no port, 0..254",
			    text, number[i]);
	for (size_t i = 0; any && rc == 0 && i < n; i++) {
		line.port = (uint32_t)number[i];
		line.value = (int64_t)i;
		rc = push_line(v, mem, line, err);
	}
	if (any)
		return rc;
	line.port = n == 2 ? (uint32_t)number[0] : 0;
	line.value = number[n - 1];
	return push_line(v, mem, line, err);
}

static int
add_list_item(struct option_value *v, struct fm_arena *mem, const char *text,
    const struct list_place *place, struct fm_error *err)
{
	return v->row->type == FM_OPT_NODE_VALUES ? add_table_line(v, mem, text, err)
						  : add_node_item(v, mem, text, place, err);
}

/* A relative path is one beside the file that names it. */
static const char *
path_beside(const char *path, const char *file, struct fm_arena *mem)
{
	const char *slash = file != NULL && path[0] != '/' ? strrchr(file, '/') : NULL;
	size_t n = slash != NULL ? (size_t)(slash + 1 - file) : 0, bytes = n + strlen(path) + 1;
	char *joined = fm_arena_alloc(mem, bytes);

	if (joined != NULL)
		snprintf(joined, bytes, "%.*s%s", (int)n, n > 0 ? file : "", path);
	return joined;
}

/* One line of a file.  Behind a GUID OpenSM's lists may say anything. */
static int
add_line(struct option_value *v, struct fm_arena *mem, char *line, const struct list_place *place,
    struct fm_error *err)
{
	if (v->row->type != FM_OPT_NODE_VALUES && isdigit((unsigned char)line[*line == '!']))
		line[strcspn(line, " \t")] = '\0';
	return add_list_item(v, mem, line, place, err);
}

int
option_blame(const char *name, const struct option_origin *at, struct fm_error *err)
{
	const char *colon = *name != '\0' ? ": " : "";

	if (at == NULL || at->file == NULL)
		return fm_context(err, "command line%s%s", colon, name);
	return fm_context(err, "%s:%u%s%s", at->file, at->line, colon, name);
}

/* A mistake in an item that stands in this line of the configuration is noted, if anybody
 * gathers them: 0, and the next may be read. */
static int
note_item(const struct option_value *v, unsigned line, struct fm_error *err)
{
	struct option_origin at = v->origin;

	if (at.all == NULL || err->kind != FM_E_CONFIG)
		return (int)err->kind;
	at.line = line;
	fm_context(err, "%s", v->row->name);
	option_blame(v->name, &at, err);
	return mistakes_note(at.all, err);
}

/* file:PATH: one item a line, in OpenSM's GUID lists too. */
static int
add_list_file(struct option_value *v, struct fm_arena *mem, const char *name,
    const struct list_place *at, struct fm_error *err)
{
	const char *path = path_beside(name, v->origin.file, mem), *bytes;
	struct list_place place = { path, 0, at->minus };
	struct conf_lines lines;
	char *line;
	size_t n, n_before = v->n;
	int rc;

	if (path == NULL)
		return option_out_of_memory(err);
	if ((rc = conf_read_file(path, mem, &bytes, &n, err)) != 0)
		return rc;
	conf_lines_init(&lines, bytes, n);
	while ((line = conf_lines_next(&lines, mem)) != NULL) {
		place.line = lines.line;
		if (add_line(v, mem, line, &place, err) == 0)
			continue;
		fm_context(err, "%s:%u", path, lines.line);
		if (note_item(v, at->line, err) != 0)
			return (int)err->kind;
	}
	if (v->n == n_before && place.line == 0)
		log_warn("conf", "%s: no node stands in this file, which %s%s%s names", path,
		    v->name != NULL ? v->name : "", v->name != NULL && *v->name != '\0' ? ": " : "",
		    v->row->name);
	return lines.out_of_memory ? option_out_of_memory(err) : 0;
}

static int
parse_list(struct option_value *v, struct fm_arena *mem, const char *const *items, size_t n_items,
    struct fm_error *err)
{
	const unsigned *lines = v->origin.item_lines;
	bool nodes = v->row->type != FM_OPT_NODE_VALUES;
	int rc = 0;

	v->none = n_items == 0;
	for (size_t i = 0; rc == 0 && i < n_items; i++) {
		const char *text = fm_arena_strdup(mem, items[i]);
		bool minus = nodes && text != NULL && strncmp(text, "!file:", 6) == 0;
		struct list_place place = { v->origin.file,
			lines != NULL ? lines[i] : v->origin.line, false };

		if (text == NULL)
			return option_out_of_memory(err);
		if (strncmp(text + minus, "file:", 5) == 0)
			rc = add_list_file(v, mem, text + minus + 5,
			    &(struct list_place){ place.file, place.line, minus }, err);
		else
			rc = add_list_item(v, mem, text, &place, err);
		if (rc != 0)
			rc = note_item(v, place.line, err);
		v->bad = i;
	}
	return rc;
}

static int
parse_file(struct option_value *v, struct fm_arena *mem, const char *name, struct fm_error *err)
{
	if (*name == '\0') {
		v->text = NULL;
		return 0;
	}
	v->text = path_beside(name, v->origin.file, mem);
	if (v->text == NULL)
		return option_out_of_memory(err);
	return conf_read_file(v->text, mem, &v->bytes, &v->n_bytes, err);
}

/* ------------------------------------------------------------- one value */

/* Put "key = text " before the reason that a scalar parser gave. */
static int
blame_scalar(const struct fm_option *row, const char *text, struct fm_error *err)
{
	char reason[sizeof(err->msg)];

	if (err == NULL || err->kind != FM_E_CONFIG)
		return err != NULL ? (int)err->kind : FM_E_CONFIG;
	memcpy(reason, err->msg, sizeof(reason));
	return fm_fail(err, FM_E_CONFIG, "%s = %.80s %s", row->name, text, reason);
}

static int
parse_scalar(struct option_value *v, const char *text, struct fm_error *err)
{
	switch (v->row->type) {
	case FM_OPT_BOOL:
		return parse_bool(text, &v->number, err);
	case FM_OPT_INT:
		return parse_int(v->row, text, &v->number, err);
	case FM_OPT_DURATION:
		return parse_duration(v->row, text, &v->number, err);
	case FM_OPT_ENUM:
		return parse_enum(v->row, text, &v->number, err);
	default:
		return fm_fail(err, FM_E_BUG, "option %s has no known type", v->row->name);
	}
}

int
option_value_parse(struct option_value *v, struct fm_arena *mem, const char *const *items,
    size_t n_items, struct fm_error *err)
{
	struct fm_error local = { 0 };

	if (option_is_list(v->row)) {
		if (parse_list(v, mem, items, n_items, err) != 0)
			return fm_context(err, "%s", v->row->name);
		return 0;
	}
	if (n_items != 1)
		return fm_fail(
		    err, FM_E_CONFIG, "%s takes one value, not %zu", v->row->name, n_items);
	if (v->row->type == FM_OPT_FILE) {
		if (parse_file(v, mem, items[0], err) != 0)
			return fm_context(err, "%s", v->row->name);
		return 0;
	}
	if (v->row->type == FM_OPT_STRING) {
		v->text = fm_arena_strdup(mem, items[0]);
		return v->text != NULL ? 0 : option_out_of_memory(err);
	}
	if (parse_scalar(v, items[0], &local) == 0)
		return 0;
	if (err != NULL)
		*err = local;
	return blame_scalar(v->row, items[0], err);
}

int
option_value_parse_default(struct option_value *v, struct fm_arena *mem, struct fm_error *err)
{
	const char *def = v->row->def != NULL ? v->row->def : "";
	bool empty_list = option_is_list(v->row) && *def == '\0';

	return option_value_parse(v, mem, &def, empty_list ? 0 : 1, err);
}
