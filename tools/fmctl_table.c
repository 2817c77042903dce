/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/fmctl_table.c - JSON as a person reads it: tables, keys and values. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/fmctl.h"

/* ------------------------------------------------------------------ values */

const json_t *
fmctl_find(const json_t *object, const char *key)
{
	const char *dot;

	while ((dot = strchr(key, '.')) != NULL) {
		char head[64];

		snprintf(head, sizeof(head), "%.*s", (int)(dot - key), key);
		object = json_object_get(object, head);
		key = dot + 1;
	}
	return json_object_get(object, key);
}

json_int_t
fmctl_number(const json_t *object, const char *key)
{
	return json_integer_value(fmctl_find(object, key));
}

const char *
fmctl_string(const json_t *object, const char *key)
{
	const char *text = json_string_value(fmctl_find(object, key));

	return text != NULL ? text : "";
}

static void
say_scalar(const json_t *v, char *buf, size_t size)
{
	if (json_is_string(v))
		snprintf(buf, size, "%s", json_string_value(v));
	else if (json_is_integer(v))
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		snprintf(buf, size, "%.3f", json_real_value(v));
	else
		snprintf(buf, size, "%s", json_is_true(v) ? "yes" : json_is_false(v) ? "no" : "-");
}

void
fmctl_print_scalar(const json_t *v, FILE *out)
{
	char buf[64];

	if (json_is_string(v))
		fputs(json_string_value(v), out);
	else {
		say_scalar(v, buf, sizeof(buf));
		fputs(buf, out);
	}
}

/* --------------------------------------------------------- keys and values */

static void print_value(const json_t *value, int depth, FILE *out);

static bool
is_nested(const json_t *v)
{
	return (json_is_object(v) && json_object_size(v) > 0) ||
	    (json_is_array(v) && json_array_size(v) > 0);
}

static void
print_object(const json_t *object, int depth, FILE *out)
{
	size_t width = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value) width =
	    strlen(key) > width ? strlen(key) : width;
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		if (is_nested(value))
			fprintf(out, "%*s%s\n", depth * 2, "", key);
		else
			fprintf(out, "%*s%-*s  ", depth * 2, "", (int)width, key);
		print_value(value, depth + 1, out);
	}
}

static void
print_array(const json_t *array, int depth, FILE *out)
{
	size_t i;
	json_t *value;

	json_array_foreach(array, i, value)
	{
		if (i > 0 && is_nested(value))
			fputc('\n', out);
		if (!is_nested(value))
			fprintf(out, "%*s", depth * 2, "");
		print_value(value, depth, out);
	}
}

/* A value and its line end; nested ones begin on a line of their own. */
static void
print_value(const json_t *value, int depth, FILE *out)
{
	if (json_is_object(value) && is_nested(value)) {
		print_object(value, depth, out);
	} else if (json_is_array(value) && is_nested(value)) {
		print_array(value, depth, out);
	} else {
		fmctl_print_scalar(value, out);
		fputc('\n', out);
	}
}

void
fmctl_print(const json_t *value, FILE *out)
{
	print_value(value, 0, out);
}

/* ------------------------------------------------------------------ tables */

#define CELL_MAX 1024
#define COLUMNS_MAX 16

/* Signs, not bytes, of UTF-8. */
static int
width_of(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

struct row {
	char *cell[COLUMNS_MAX];
};

static int
by_cells(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	for (size_t i = 0; i < COLUMNS_MAX && x->cell[i] != NULL && y->cell[i] != NULL; i++) {
		int order = strverscmp(x->cell[i], y->cell[i]);

		if (order != 0)
			return order;
	}
	return 0;
}

static void
fill(struct row *r, const json_t *row, const struct column *columns, size_t n_columns)
{
	for (size_t i = 0; i < n_columns; i++) {
		char buf[CELL_MAX] = "";

		if (columns[i].say != NULL)
			columns[i].say(row, buf, sizeof(buf));
		else
			say_scalar(fmctl_find(row, columns[i].key), buf, sizeof(buf));
		r->cell[i] = strdup(buf);
	}
}

static void
print_row(const struct row *r, const struct column *columns, size_t n_columns, const int *width,
    FILE *out)
{
	int blanks = 0; /* owed: none end a line */

	for (size_t i = 0; i < n_columns; i++) {
		const char *text = r == NULL ? columns[i].heading
		    : r->cell[i] != NULL     ? r->cell[i]
					     : "";
		int pad = width[i] - width_of(text);

		blanks += columns[i].right ? pad : 0;
		if (*text != '\0') {
			fprintf(out, "%*s%s", blanks, "", text);
			blanks = 0;
		}
		blanks += (columns[i].right ? 0 : pad) + 2;
	}
	fputc('\n', out);
}

void
fmctl_table(
    const json_t *rows, const struct column *columns, size_t n_columns, bool sorted, FILE *out)
{
	size_t n = json_array_size(rows);
	struct row *row = calloc(n + 1, sizeof(*row));
	int width[COLUMNS_MAX];

	if (n == 0 || row == NULL) {
		fputs(n == 0 ? "none\n" : "out of memory\n", out);
		free(row);
		return;
	}
	for (size_t i = 0; i < n_columns; i++)
		width[i] = width_of(columns[i].heading);
	for (size_t k = 0; k < n; k++) {
		fill(&row[k], json_array_get(rows, k), columns, n_columns);
		for (size_t i = 0; i < n_columns; i++)
			if (row[k].cell[i] != NULL && width_of(row[k].cell[i]) > width[i])
				width[i] = width_of(row[k].cell[i]);
	}
	if (sorted)
		qsort(row, n, sizeof(*row), by_cells);
	print_row(NULL, columns, n_columns, width, out);
	for (size_t k = 0; k < n; k++) {
		print_row(&row[k], columns, n_columns, width, out);
		for (size_t i = 0; i < n_columns; i++)
			free(row[k].cell[i]);
	}
	free(row);
}
