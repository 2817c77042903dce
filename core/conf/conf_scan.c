/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libConfuse wants a title in every section of a kind that may have one; an
 * administrator writes "fattree { ... }" for the options of the plain engine.
 * One pass over comments, strings and words finds such places.  Comments are
 * blanked out on the way, because libConfuse counts their lines twice, and
 * braces counted, because it takes the end of a file for their end.
 */
#include "core/conf/conf_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
	const struct conf_scan *scan;
	const char *at, *end;
	char *to;
	unsigned line;
	unsigned depth, opened; /* braces open, and the line of the outermost */
};

static void
copy_one(struct cursor *c)
{
	c->line += *c->at == '\n';
	*c->to++ = *c->at++;
}

/* A comment up to stop becomes blanks, its line ends stay. */
static void
blank_until(struct cursor *c, const char *stop)
{
	size_t n = strlen(stop), k;

	while (c->at < c->end && ((size_t)(c->end - c->at) < n || memcmp(c->at, stop, n) != 0)) {
		copy_one(c);
		if (c->to[-1] != '\n')
			c->to[-1] = ' ';
	}
	for (k = 0; *stop != '\n' && k < n && c->at < c->end; k++) {
		copy_one(c);
		c->to[-1] = ' ';
	}
}

/* "${NAME}" or "${NAME:-default}" at c->at. */
static int
check_variable(const struct cursor *c, struct fm_error *err)
{
	const char *name = c->at + 2;
	size_t n = strcspn(name, "}:\"\n");
	char word[128];

	if (n >= sizeof(word) || name[n] != '}')
		return 0;
	memcpy(word, name, n);
	word[n] = '\0';
	if (getenv(word) != NULL)
		return 0;
	return fm_fail(err, FM_E_CONFIG,
	    "%s:%u: the variable ${%s} is not set; to mean the text itself use single quotes",
	    c->scan->path, c->line, word);
}

static int
copy_string(struct cursor *c, struct fm_error *err)
{
	char quote = *c->at;
	unsigned begin = c->line;

	copy_one(c);
	while (c->at < c->end && *c->at != quote) {
		if (quote == '"' && *c->at == '$' && c->at[1] == '{' && check_variable(c, err) != 0)
			return err->kind;
		if (*c->at == '\\' && c->at + 1 < c->end)
			copy_one(c);
		copy_one(c);
	}
	if (c->at >= c->end)
		return fm_fail(err, FM_E_CONFIG,
		    "%s:%u: the string that begins here has no closing %c", c->scan->path, begin,
		    quote);
	copy_one(c);
	return 0;
}

static bool
is_word(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_' || ch == '-';
}

static void
copy_word(struct cursor *c)
{
	const char *word = c->at;
	size_t n = 0, gap;

	while (c->at < c->end && is_word(*c->at))
		copy_one(c);
	n = (size_t)(c->at - word);
	gap = strspn(c->at, " \t\r\n");
	if (c->at[gap] != '{' || !c->scan->is_section(c->scan->arg, word, n))
		return;
	memcpy(c->to, " \"\"", 3);
	c->to += 3;
}

static void
count_brace(struct cursor *c)
{
	if (*c->at == '{' && c->depth++ == 0)
		c->opened = c->line;
	if (*c->at == '}' && c->depth > 0)
		c->depth--;
}

static int
copy_all(struct cursor *c, struct fm_error *err)
{
	while (c->at < c->end) {
		char next = c->at[1];
		int rc;

		if (*c->at == '#' || (*c->at == '/' && next == '/')) {
			blank_until(c, "\n");
		} else if (*c->at == '/' && next == '*') {
			blank_until(c, "*/");
		} else if (*c->at == '"' || *c->at == '\'') {
			if ((rc = copy_string(c, err)) != 0)
				return rc;
		} else if (is_word(*c->at)) {
			copy_word(c);
		} else {
			count_brace(c);
			copy_one(c);
		}
	}
	if (c->depth > 0)
		return fm_fail(err, FM_E_CONFIG, "%s:%u: the brace that opens here is never closed",
		    c->scan->path, c->opened);
	return 0;
}

int
conf_scan(const struct conf_scan *scan, const char *text, size_t n, struct fm_arena *mem,
    char **out, struct fm_error *err)
{
	struct cursor c = { .scan = scan, .at = text, .end = text + n, .line = 1 };
	const char *nul = memchr(text, '\0', n);
	char *copy;
	int rc;

	if (nul != NULL) {
		for (const char *p = text; p < nul; p++)
			c.line += *p == '\n';
		return fm_fail(err, FM_E_CONFIG, "%s:%u: a NUL byte: this is no text file",
		    scan->path, c.line);
	}
	/* A word and its brace take two bytes at least and gain three. */
	copy = fm_arena_alloc(mem, n * 3 + 2);
	if (copy == NULL)
		return fm_fail(err, FM_E_RESOURCE, "%s: out of memory", scan->path);
	c.to = copy;
	if ((rc = copy_all(&c, err)) != 0)
		return rc;
	*c.to++ = '\n';
	*out = copy;
	return 0;
}
