/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words, strings and signs of a configuration file:
 *
 *	# a comment		also behind //, and as C has it in several lines
 *	word		letters up to a blank, a comment or one of { } ( ) = + , " '
 *	"string"	\n \t \" \101 \x41 ... stand for letters, a line may end with \
 *	'string'	only \' and \\ do
 *	${NAME}		in words and "strings" a variable of the environment;
 *	${NAME:-text}	text where it is not set
 *
 * O(letters).
 */
#include "core/conf/conf_words.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/readfile.h"
#include "lib/vec.h"

#define SIGNS "{}()=+,"

struct reader {
	const char *path, *at;
	unsigned line;
	unsigned n_open, opened; /* braces, and the line of the outermost */
	FM_VEC(char) letters;	 /* of the word that is read */
	FM_VEC(struct conf_word) words;
	struct fm_arena *mem;
	struct fm_error *err;
};

static int
no_memory(struct reader *r)
{
	return fm_fail(r->err, FM_E_RESOURCE, "%s: out of memory", r->path);
}

static int
put_letters(struct reader *r, const char *letters, size_t n)
{
	return fm_vec_append(&r->letters, letters, n) ? 0 : no_memory(r);
}

/* The letter at r->at as it is. */
static int
take_letter(struct reader *r)
{
	r->line += *r->at == '\n';
	return put_letters(r, r->at++, 1);
}

static int
put_word(struct reader *r, enum conf_word_kind kind)
{
	struct conf_word w = { kind, NULL, r->line };

	if (put_letters(r, "", 1) != 0 ||
	    (w.text = fm_arena_strdup(r->mem, r->letters.item)) == NULL ||
	    !fm_vec_push(&r->words, w))
		return no_memory(r);
	r->letters.n = 0;
	return 0;
}

static bool
is_comment(const char *at)
{
	return at[0] == '#' || (at[0] == '/' && (at[1] == '/' || at[1] == '*'));
}

static void
skip_comment(struct reader *r)
{
	bool is_line = r->at[1] != '*' || *r->at == '#';
	const char *end = strstr(is_line ? r->at : r->at + 2, is_line ? "\n" : "*/");

	if (end == NULL)
		end = r->at + strlen(r->at);
	else if (!is_line)
		end += 2;
	for (; r->at < end; r->at++)
		r->line += *r->at == '\n';
}

/* ------------------------------------------------------------------ strings */

/* "${NAME}" or "${NAME:-text}" at r->at. */
static int
take_variable(struct reader *r)
{
	const char *name = r->at + 2, *text, *end, *value;
	size_t n = strcspn(name, "}:\"\n");
	char word[128];

	text = name[n] == ':' && name[n + 1] == '-' ? name + n + 2 : NULL;
	end = text != NULL ? text + strcspn(text, "}\"\n") : name + n;
	if (*end != '}' || n >= sizeof(word))
		return take_letter(r);
	memcpy(word, name, n);
	word[n] = '\0';
	value = getenv(word);
	if (value == NULL && text == NULL)
		return conf_fail_at(r->err, r->path, r->line,
		    "the variable ${%s} is not set; to mean the text itself use single quotes",
		    word);
	r->at = end + 1;
	return value != NULL ? put_letters(r, value, strlen(value))
			     : put_letters(r, text, (size_t)(end - text));
}

/* \101 or \x41, the digits at r->at. */
static int
take_number(struct reader *r, int base)
{
	char digits[4] = "", *end;
	unsigned long number;
	char letter;

	strncpy(digits, r->at, base == 16 ? 2 : 3);
	number = strtoul(digits, &end, base);
	if (number == 0 || number > UCHAR_MAX)
		return conf_fail_at(r->err, r->path, r->line,
		    "\\%s%.*s is no letter: write \\\\ for a backslash", base == 16 ? "x" : "",
		    (int)(end - digits), digits);
	letter = (char)number;
	r->at += end - digits;
	return put_letters(r, &letter, 1);
}

/* What a backslash within "..." stands before. */
static int
take_escape(struct reader *r)
{
	static const char names[] = "nrbfaetv", letters[] = "\n\r\b\f\a\033\t\v";
	const char *found;

	r->at++;
	if (*r->at == '\n') {
		r->line++;
		r->at++;
		return 0;
	}
	if (*r->at == 'x' && isxdigit((unsigned char)r->at[1])) {
		r->at++;
		return take_number(r, 16);
	}
	if (*r->at >= '0' && *r->at <= '7')
		return take_number(r, 8);
	found = *r->at != '\0' ? strchr(names, *r->at) : NULL;
	if (found == NULL)
		return *r->at != '\0' ? take_letter(r) : 0;
	r->at++;
	return put_letters(r, &letters[found - names], 1);
}

/* Within '...'. */
static int
take_plain_escape(struct reader *r)
{
	if (r->at[1] == '\n') {
		r->line++;
		r->at += 2;
		return 0;
	}
	if (r->at[1] == '\\' || r->at[1] == '\'')
		r->at++;
	return take_letter(r);
}

static int
take_string(struct reader *r)
{
	char quote = *r->at++;
	unsigned begin = r->line;
	int rc = 0;

	while (rc == 0 && *r->at != quote && *r->at != '\0') {
		if (*r->at == '\\')
			rc = quote == '"' ? take_escape(r) : take_plain_escape(r);
		else if (quote == '"' && r->at[0] == '$' && r->at[1] == '{')
			rc = take_variable(r);
		else
			rc = take_letter(r);
	}
	if (rc != 0)
		return rc;
	if (*r->at == '\0')
		return conf_fail_at(r->err, r->path, begin,
		    "the string that begins here has no closing %c", quote);
	r->at++;
	return put_word(r, CONF_TEXT);
}

/* -------------------------------------------------------------------- words */

static int
take_word(struct reader *r)
{
	int rc = 0;

	while (rc == 0 && strchr(" \t\r\n\"'" SIGNS, *r->at) == NULL && !is_comment(r->at))
		rc = r->at[0] == '$' && r->at[1] == '{' ? take_variable(r) : take_letter(r);
	return rc == 0 ? put_word(r, CONF_TEXT) : rc;
}

static int
take_sign(struct reader *r)
{
	if (*r->at == '{' && r->n_open++ == 0)
		r->opened = r->line;
	if (*r->at == '}' && r->n_open > 0)
		r->n_open--;
	return take_letter(r) != 0 ? (int)r->err->kind : put_word(r, CONF_SIGN);
}

static int
take_all(struct reader *r)
{
	int rc = 0;

	while (rc == 0 && *r->at != '\0') {
		if (isspace((unsigned char)*r->at))
			r->line += *r->at++ == '\n';
		else if (is_comment(r->at))
			skip_comment(r);
		else if (*r->at == '"' || *r->at == '\'')
			rc = take_string(r);
		else if (strchr(SIGNS, *r->at) != NULL)
			rc = take_sign(r);
		else
			rc = take_word(r);
	}
	if (rc == 0 && r->n_open > 0)
		rc = conf_fail_at(r->err, r->path, r->opened,
		    "the brace that opens here is never closed");
	return rc == 0 ? put_word(r, CONF_END) : rc;
}

static int
nul_byte(struct reader *r, const char *nul)
{
	for (; r->at < nul; r->at++)
		r->line += *r->at == '\n';
	return conf_fail_at(r->err, r->path, r->line, "a NUL byte: this is no text file");
}

int
conf_words(const char *path, const char *text, size_t n, struct fm_arena *mem,
    const struct conf_word **out, struct fm_error *err)
{
	struct reader r = { .path = path, .at = text, .line = 1, .mem = mem, .err = err };
	const char *nul = memchr(text, '\0', n);
	struct conf_word *words = NULL;
	int rc = nul != NULL ? nul_byte(&r, nul) : take_all(&r);

	if (rc == 0) {
		words = fm_arena_array(mem, r.words.n, struct conf_word);
		rc = words == NULL ? no_memory(&r) : 0;
	}
	if (rc == 0)
		memcpy(words, r.words.item, r.words.n * sizeof(*words));
	fm_vec_fini(&r.letters);
	fm_vec_fini(&r.words);
	*out = words;
	return rc;
}
