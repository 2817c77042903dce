/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/exposition.h - a strict reader of the text that Prometheus reads, for tests.
 */
#ifndef TESTS_UNIT_EXPOSITION_H
#define TESTS_UNIT_EXPOSITION_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vec.h"

struct exposition {
	size_t n_series, n_families;
	char why[120]; /* "": it is as it has to be */
	size_t line;   /* of what is wrong, from 1 */
};

static inline size_t
exposition_name(const char *at)
{
	size_t n = 0;

	while (isalpha((unsigned char)at[n]) || at[n] == '_' ||
	    (n > 0 && isdigit((unsigned char)at[n])))
		n++;
	return n;
}

/* {a="b",c="d"}; its length, 0: it is none. */
static inline size_t
exposition_labels(const char *from)
{
	const char *at = from;

	do {
		size_t n = exposition_name(++at);

		if (n == 0 || at[n] != '=' || at[n + 1] != '"')
			return 0;
		for (at += n + 2; *at != '"'; at++)
			if (*at == '\0' || (*at == '\\' && strchr("\\\"n", *++at) == NULL))
				return 0;
		at++;
	} while (*at == ',');
	return *at == '}' ? (size_t)(at - from) + 1 : 0;
}

static inline int
exposition_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A family has one HELP and one TYPE before its series, all of which stand together. */
struct exposition_state {
	char family[128];
	bool is_counter;
	FM_VEC(char *) families, series;
};

static inline const char *
exposition_line(struct exposition_state *s, char *line)
{
	size_t n = exposition_name(line), n_labels;
	char *end, *value;

	if (strncmp(line, "# HELP ", 7) == 0) {
		n = exposition_name(line + 7);
		if (n == 0 || n >= sizeof(s->family) || line[7 + n] != ' ' || line[8 + n] == '\0')
			return "HELP has no name or no sentence";
		snprintf(s->family, sizeof(s->family), "%.*s", (int)n, line + 7);
		return fm_vec_push(&s->families, strdup(s->family)) ? NULL : "memory";
	}
	if (strncmp(line, "# TYPE ", 7) == 0) {
		n = exposition_name(line + 7);
		s->is_counter = strcmp(line + 7 + n, " counter") == 0;
		if (n != strlen(s->family) || memcmp(line + 7, s->family, n) != 0 ||
		    (!s->is_counter && strcmp(line + 7 + n, " gauge") != 0))
			return "TYPE is not that of the HELP before it";
		return s->is_counter == (n > 6 && strcmp(s->family + n - 6, "_total") == 0)
		    ? NULL
		    : "a counter ends in _total, and nothing else does";
	}
	if (n == 0 || n != strlen(s->family) || memcmp(line, s->family, n) != 0)
		return "a series does not stand with its family";
	n_labels = line[n] == '{' ? exposition_labels(line + n) : 0;
	if ((line[n] == '{' && n_labels == 0) || line[n + n_labels] != ' ')
		return "labels are not NAME=\"VALUE\"";
	value = line + n + n_labels + 1;
	(void)strtod(value, &end);
	if (end == value || *end != '\0')
		return "the value is no number";
	value[-1] = '\0';
	return fm_vec_push(&s->series, line) ? NULL : "memory";
}

/* text is changed. */
static inline struct exposition
exposition_read(char *text, size_t n)
{
	struct exposition_state s = { 0 };
	struct exposition x = { 0 };
	const char *why = NULL;

	if (n > 0 && text[n - 1] != '\n')
		why = "the last line does not end";
	if (memchr(text, '\0', n) != NULL)
		why = "there is a NUL in it";
	for (char *at = text, *end; why == NULL && at < text + n; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + n - at));
		*end = '\0';
		x.line++;
		why = exposition_line(&s, at);
	}
	if (s.series.n > 1)
		qsort(s.series.item, s.series.n, sizeof(char *), exposition_order);
	if (s.families.n > 1)
		qsort(s.families.item, s.families.n, sizeof(char *), exposition_order);
	for (size_t i = 1; i < s.series.n && why == NULL; i++)
		if (strcmp(s.series.item[i - 1], s.series.item[i]) == 0)
			why = "a series is told twice";
	for (size_t i = 1; i < s.families.n && why == NULL; i++)
		if (strcmp(s.families.item[i - 1], s.families.item[i]) == 0)
			why = "a family is told twice";
	for (size_t i = 0; i < s.families.n; i++)
		free(s.families.item[i]);
	x.n_series = s.series.n;
	x.n_families = s.families.n;
	snprintf(x.why, sizeof(x.why), "%s", why != NULL ? why : "");
	fm_vec_fini(&s.families);
	fm_vec_fini(&s.series);
	return x;
}

#endif
