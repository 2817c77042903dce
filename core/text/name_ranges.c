/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the last number of the names to the first: those that differ in that
 * number alone become one, with its values in brackets.  A bracket counts as
 * the number that it took the place of.
 *
 *	sw-0-0 sw-0-1 sw-1-0 sw-1-1  ->  sw-0-[0-1] sw-1-[0-1]  ->  sw-[0-1]-[0-1]
 */
#include "core/text/name_ranges.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 18 /* longer ones are no numbers */

/* A name around one of its numbers. */
struct cut {
	const char *name;
	size_t before; /* letters before the number; all, when it is none */
	const char *after;
	uint64_t number;
	bool is_number;
};

static int
by_parts(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;
	size_t n = x->before < y->before ? x->before : y->before;
	int c = memcmp(x->name, y->name, n);

	if (c != 0)
		return c;
	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	if ((c = strcmp(x->after, y->after)) != 0)
		return c;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Where the number, or the bracket, that ends before `end` begins; NULL: none. */
static const char *
last_number(const char *name, const char *end, const char **behind)
{
	while (end > name && !isdigit((unsigned char)end[-1]) && end[-1] != ']')
		end--;
	*behind = end;
	if (end == name)
		return NULL;
	if (end[-1] == ']') {
		while (end > name && *end != '[')
			end--;
		return *end == '[' ? end : NULL;
	}
	while (end > name && isdigit((unsigned char)end[-1]))
		end--;
	return end;
}

/* Around the number that has `skip` others behind it. */
static struct cut
cut_name(const char *name, unsigned skip)
{
	size_t length = strlen(name);
	const char *at = name + length, *behind = at;
	struct cut cut = { .name = name, .before = length, .after = name + length };

	for (unsigned i = 0; i <= skip; i++)
		if ((at = last_number(name, at, &behind)) == NULL)
			return cut;
	if (*at == '[' || behind - at > MAX_DIGITS)
		return cut;
	cut.before = (size_t)(at - name);
	cut.after = behind;
	cut.number = strtoull(at, NULL, 10);
	cut.is_number = true;
	return cut;
}

/* The same but for the number; or the same name twice. */
static bool
are_alike(const struct cut *a, const struct cut *b)
{
	return a->is_number == b->is_number && a->before == b->before &&
	    memcmp(a->name, b->name, a->before) == 0 && strcmp(a->after, b->after) == 0;
}

/* 9 and 09 are one number and two names. */
static bool
is_one_name(const struct cut *cuts, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (strcmp(cuts[i].name, cuts[0].name) != 0)
			return false;
	return true;
}

/* n cuts that differ in the number alone, ascending, as one. */
static const char *
merge(const struct cut *cuts, size_t n, struct fm_arena *mem)
{
	size_t room = cuts->before + strlen(cuts->after) + n * (MAX_DIGITS + 2) + 3, at;
	char *text;

	if (is_one_name(cuts, n))
		return cuts[0].name;
	if ((text = fm_arena_alloc(mem, room)) == NULL)
		return NULL;
	at = (size_t)snprintf(text, room, "%.*s[", (int)cuts->before, cuts->name);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && cuts[k].number <= cuts[k - 1].number + 1; k++)
			;
		at += (size_t)snprintf(
		    text + at, room - at, "%s%" PRIu64, i > 0 ? "," : "", cuts[i].number);
		if (cuts[k - 1].number > cuts[i].number)
			at +=
			    (size_t)snprintf(text + at, room - at, "-%" PRIu64, cuts[k - 1].number);
	}
	snprintf(text + at, room - at, "]%s", cuts->after);
	return text;
}

/* Merge over the number with `skip` others behind it; *n shrinks.  *more: some
 * name has such a number. */
static bool
merge_all(const char **names, size_t *n, unsigned skip, struct cut *cuts, struct fm_arena *mem,
    bool *more)
{
	size_t to = 0;

	*more = false;
	for (size_t i = 0; i < *n; i++) {
		const char *at = names[i] + strlen(names[i]), *behind;

		for (unsigned s = 0; at != NULL && s <= skip; s++)
			at = last_number(names[i], at, &behind);
		*more |= at != NULL;
		cuts[i] = cut_name(names[i], skip);
	}
	qsort(cuts, *n, sizeof(*cuts), by_parts);
	for (size_t i = 0, k; i < *n; i = k) {
		for (k = i + 1; k < *n && are_alike(&cuts[i], &cuts[k]); k++)
			;
		names[to] = merge(&cuts[i], k - i, mem);
		if (names[to++] == NULL)
			return false;
	}
	*n = to;
	return true;
}

const char **
name_ranges(const char *const *names, size_t n, struct fm_arena *mem, size_t *n_patterns)
{
	const char **list = fm_arena_array(mem, n + 1, const char *);
	struct cut *cuts = fm_arena_array(mem, n + 1, struct cut);
	bool more = true;

	if (list == NULL || cuts == NULL)
		return NULL;
	if (n > 0)
		memcpy(list, names, n * sizeof(*list));
	for (unsigned skip = 0; more && skip < 8; skip++)
		if (!merge_all(list, &n, skip, cuts, mem, &more))
			return NULL;
	qsort(list, n, sizeof(*list), by_bytes);
	*n_patterns = n;
	return list;
}
