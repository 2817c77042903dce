/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A configuration before its engines are known.
 *
 * Where engines run must be known before they are loaded, and what their sections may hold
 * only then: so sections that are not the daemon's own are blanked out, line for line, for
 * the one look at the daemon's own keys.  libConfuse passes over unknown keys, but not over
 * unknown sections with titles.  O(letters).
 */
#include "config.h"

#include <string.h>

#include "core/conf/conf_private.h"

static char *
skip_string(char *at)
{
	char quote = *at++;

	while (*at != '\0' && *at != quote)
		at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
	return *at != '\0' ? at + 1 : at;
}

/* Blanks and comments. */
static char *
skip_blank(char *at)
{
	for (;;) {
		at += strspn(at, " \t\r\n");
		if (at[0] == '#' || (at[0] == '/' && at[1] == '/')) {
			at += strcspn(at, "\n");
		} else if (at[0] == '/' && at[1] == '*') {
			char *end = strstr(at + 2, "*/");

			at = end != NULL ? end + 2 : at + strlen(at);
		} else {
			return at;
		}
	}
}

/* From '{' to behind its '}'. */
static char *
skip_braces(char *at)
{
	unsigned depth = 0;

	do {
		at = skip_blank(at);
		if (*at == '"' || *at == '\'') {
			at = skip_string(at);
			continue;
		}
		depth += *at == '{';
		depth -= *at == '}';
		at += *at != '\0';
	} while (depth > 0 && *at != '\0');
	return at;
}

static void
blank(char *from, const char *to)
{
	for (; from < to; from++)
		if (*from != '\n')
			*from = ' ';
}

void
conf_blank_sections(
    char *text, bool (*is_known)(const void *arg, const char *word, size_t n), const void *arg)
{
	for (char *at = skip_blank(text); *at != '\0'; at = skip_blank(at)) {
		size_t n = strcspn(at, " \t\r\n=+{}\"'#/");
		char *next = skip_blank(at + n);

		if (n == 0) {
			at = *at == '"' || *at == '\'' ? skip_string(at)
			    : *at == '{'	       ? skip_braces(at)
						       : at + 1;
			continue;
		}
		if (*next == '"' || *next == '\'')
			next = skip_blank(skip_string(next));
		if (*next != '{') {
			at += n;
			continue;
		}
		next = skip_braces(next);
		if (!is_known(arg, at, n))
			blank(at, next);
		at = next;
	}
}
