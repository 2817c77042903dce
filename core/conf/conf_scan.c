/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a configuration file before libConfuse reads it.
 *
 * libConfuse ends at the first mistake, tells some of them where they have no meaning any more
 * and passes over others; so the text is taken apart into words, strings and signs, each statement
 * of them that is not right is told with its own line and left out:
 *
 *	KEY = VALUE	KEY = { VALUE, ... }	SECTION { ... }	SECTION "TITLE" { ... }
 *
 * The others are put together again, each word in its line, as a text that libConfuse reads to the
 * end: without comments, because it counts their lines twice, and with the title "" in every
 * section that may have one and does not.  O(letters) beside the search for words, and O(settings)
 * a section and a key of the file, to find one that is written twice.
 */
#include "config.h"

#include <confuse.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/conf/conf_private.h"
#include "core/opensm/opensm.h"
#include "core/text/suggest.h"
#include "lib/error.h"

enum kind { END, SIGN, WORD, STRING };

/* A string has its quotes; END is behind all, and empty. */
struct token {
	enum kind kind;
	const char *at;
	size_t n;
	unsigned line;
	bool is_first; /* of its line */
	bool is_open;  /* STRING: it has no closing quote; END: a comment before it has no end */
};

struct scan {
	struct conf_private *self;
	const char *path;
	FM_VEC(struct token) tokens;
	const struct token *t; /* the next one */
	struct scanned *out;
	char *to; /* in out->text */
	unsigned line;
	unsigned n_wrong; /* mistakes so far */
	bool no_memory;
};

/* The keys and sections that may stand here. */
struct scope {
	const cfg_opt_t *opts;
	const struct scope *outer; /* NULL: the file */
	const char *of;		   /* the section, NULL: the daemon's, without titles */
	struct setting in;	   /* what is set here */
	size_t first;		   /* of the settings, one of which may be of the same key */
};

static void __attribute__((format(printf, 3, 4)))
wrong(struct scan *c, unsigned line, const char *fmt, ...)
{
	char sentence[sizeof(((struct fm_error *)0)->msg)];
	struct fm_error err;
	va_list ap;

	c->n_wrong++;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	fm_fail(&err, FM_E_CONFIG, "%s:%u: %s", c->path, line, sentence);
	(void)conf_note(c->self, &err);
}

/* ------------------------------------------------------------------- tokens */

static bool
begins_comment(const char *at)
{
	return *at == '#' || (at[0] == '/' && (at[1] == '/' || at[1] == '*'));
}

/* Where the comment ends; *is_open: it does not. */
static const char *
end_comment(const char *at, bool *is_open)
{
	const char *end;

	if (at[0] == '#' || at[1] == '/')
		return at + strcspn(at, "\n");
	end = strstr(at + 2, "*/");
	*is_open = end == NULL;
	return end != NULL ? end + 2 : at + strlen(at);
}

/* Of a string in one line; *is_open: it has no end there. */
static size_t
string_bytes(const char *at, bool *is_open)
{
	size_t n = 1;

	while (at[n] != *at && at[n] != '\n' && at[n] != '\0')
		n += at[n] == '\\' && at[n + 1] != '\0' ? 2 : 1;
	*is_open = at[n] != *at;
	return n + !*is_open;
}

static void
measure(struct token *t)
{
	t->kind = WORD;
	t->n = strcspn(t->at, " \t\r\n\"'={}(),+#");
	if (t->n > 0)
		return;
	t->kind = *t->at == '"' || *t->at == '\'' ? STRING : SIGN;
	if (t->kind == STRING)
		t->n = string_bytes(t->at, &t->is_open);
	else
		t->n = t->at[0] == '+' && t->at[1] == '=' ? 2 : 1;
}

static unsigned
count_lines(const char *at, size_t n)
{
	unsigned lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += at[i] == '\n';
	return lines;
}

/* False: no memory. */
static bool
take_apart(struct scan *c, const char *text)
{
	struct token t = { END, text, 0, 1, true, false };

	while (*t.at != '\0' && !t.is_open) {
		struct token next = { END, t.at + 1, 0, t.line, false, false };

		if (begins_comment(t.at)) {
			next.at = end_comment(t.at, &next.is_open);
			next.is_first = t.is_first;
		} else if (isspace((unsigned char)*t.at)) {
			next.is_first = t.is_first || *t.at == '\n';
		} else {
			measure(&t);
			if (!fm_vec_push(&c->tokens, t))
				return false;
			next.at = t.at + t.n;
		}
		if (!next.is_open)
			next.line += count_lines(t.at, (size_t)(next.at - t.at));
		t = next;
	}
	t.is_first = true;
	return fm_vec_push(&c->tokens, t);
}

static bool
is_value(const struct token *t)
{
	return t->kind == WORD || t->kind == STRING;
}

/* Bytes of the name that it begins with. */
static size_t
name_bytes(const struct token *t)
{
	size_t n = 0;

	while (isalnum((unsigned char)t->at[n]) || t->at[n] == '_' || t->at[n] == '-')
		n++;
	return n;
}

static bool
is_name(const struct token *t)
{
	return t->kind == WORD && name_bytes(t) == t->n;
}

/* "=" or "+=" */
static bool
is_assignment(const struct token *t)
{
	return t->kind == SIGN && t->at[t->n - 1] == '=';
}

/* Does a key with its =, or a section with its brace or title, begin here? */
static bool
begins_statement(const struct token *t)
{
	return is_name(t) && !isdigit((unsigned char)*t->at) && !t[1].is_first &&
	    (is_assignment(&t[1]) || t[1].at[0] == '{' || t[1].kind == STRING);
}

/* "{" or "TITLE" "{" */
static bool
opens_section(const struct token *t)
{
	return t[t->kind == STRING].at[0] == '{';
}

/* "${NAME}" or "${NAME:-default}" in a string. */
static void
check_variable(struct scan *c, const char *name)
{
	size_t n = strcspn(name, "}:\"\n");
	char word[128];

	if (n >= sizeof(word) || name[n] != '}')
		return;
	memcpy(word, name, n);
	word[n] = '\0';
	if (getenv(word) == NULL)
		wrong(c, c->t->line,
		    "the variable ${%s} is not set; to mean the text itself use single quotes",
		    word);
}

static void
pass(struct scan *c)
{
	const struct token *t = c->t;

	for (size_t i = 1; *t->at == '"' && i < t->n; i += t->at[i] == '\\' ? 2 : 1)
		if (t->at[i] == '$' && t->at[i + 1] == '{')
			check_variable(c, t->at + i + 2);
	if (t->is_open && t->kind != END)
		wrong(c, t->line, "the string that begins here has no closing %c in its line",
		    *t->at);
	c->t += t->kind != END;
}

/* What libConfuse is to read, in this line. */
static void
put(struct scan *c, const char *at, size_t n, unsigned line)
{
	*c->to++ = ' ';
	for (; c->line < line; c->line++)
		*c->to++ = '\n';
	memcpy(c->to, at, n);
	c->to += n;
	c->line += count_lines(at, n);
}

static void
put_token(struct scan *c, const struct token *t)
{
	put(c, t->at, t->n, t->line);
}

/* ---------------------------------------------------- statements passed over */

static void
never_closed(struct scan *c, unsigned line)
{
	wrong(c, line, "the brace that opens here is never closed: a } is missing");
}

/* From '{' to behind its '}'. */
static void
pass_braces(struct scan *c)
{
	unsigned depth = 0, begin = c->t->line;

	do {
		depth += *c->t->at == '{';
		depth -= *c->t->at == '}';
		pass(c);
	} while (depth > 0 && c->t->kind != END);
	if (depth > 0)
		never_closed(c, begin);
}

/* To the end of the line, or of the section in it. */
static void
pass_line(struct scan *c)
{
	while (!c->t->is_first && *c->t->at != '}')
		if (*c->t->at == '{')
			pass_braces(c);
		else
			pass(c);
}

/* Is there none behind the = before c->t? */
static bool
is_without_value(const struct scan *c)
{
	return c->t->kind == END || *c->t->at == '}' || (c->t->is_first && begins_statement(c->t));
}

/* What stands behind a word that nobody knows. */
static void
pass_statement(struct scan *c)
{
	if (is_assignment(c->t)) {
		pass(c);
		if (is_without_value(c))
			return;
		if (*c->t->at == '{')
			pass_braces(c);
		else if (is_value(c->t))
			pass(c);
		if (!begins_statement(c->t))
			pass_line(c);
	} else if (opens_section(c->t)) {
		if (c->t->kind == STRING)
			pass(c);
		pass_braces(c);
	} else {
		pass_line(c);
	}
}

/* ------------------------------------------------------------------- values */

/* The sentence says what a key of the daemon takes, of another where that is told. */
static void
lacks_value(struct scan *c, const struct scope *s, const char *key, unsigned line)
{
	const struct option_table table = conf_option_table();
	const struct fm_option *row = s->outer == NULL ? option_find(&table, key) : NULL;
	char takes[120];

	if (row != NULL) {
		option_describe(row, takes, sizeof(takes));
		wrong(c, line, "%s = has no value: it takes %s; leave the line out for the default",
		    key, takes);
	} else {
		wrong(c, line,
		    "%s = has no value: fmd --help%s%s tells what it takes; leave the line out for "
		    "the default",
		    key, s->of != NULL ? "=" : "", s->of != NULL ? s->of : "");
	}
}

/* From '{' to behind its '}'. */
static void
read_list(struct scan *c, const char *key)
{
	unsigned begin = c->t->line;
	bool has_item = false;

	for (pass(c); c->t->kind != END && *c->t->at != '}'; pass(c)) {
		if (is_name(c->t) && *c->t[1].at == '=' && !c->t[1].is_first) {
			wrong(c, begin, "the list of %s that begins here has no } before line %u",
			    key, c->t->line);
			return;
		}
		if (*c->t->at == ',' && !has_item)
			wrong(c, c->t->line,
			    "a comma with no value before it in the list of %s: take it out", key);
		else if (*c->t->at != ',' && has_item)
			wrong(c, c->t->line, "a comma is missing between two values of %s", key);
		has_item = *c->t->at != ',';
		if (has_item && !is_value(c->t))
			wrong(c, c->t->line,
			    "%c cannot stand in the list of %s: put the value in quotes", *c->t->at,
			    key);
	}
	if (c->t->kind == END)
		wrong(c, begin, "the list of %s that begins here is never closed: a } is missing",
		    key);
	pass(c);
}

/* The value of the key, or the end of the section, stands from there up to c->t. */
static void
add_setting(struct scan *c, const struct scope *s, const cfg_opt_t *key, const struct token *from)
{
	struct setting new = s->in;

	new.key = key;
	new.lines = fm_arena_array(&c->self->mem, (size_t)(c->t - from) + 1, unsigned);
	c->no_memory |= new.lines == NULL || !fm_vec_push(&c->out->settings, new);
	if (c->no_memory)
		return;
	new.lines[0] = from->line;
	for (; from < c->t; from++)
		if (is_value(from))
			new.lines[new.n++] = from->line;
	c->out->settings.item[c->out->settings.n - 1].n = new.n;
}

/* Behind a value its line ends, or the next statement begins. */
static void
check_rest(struct scan *c, const char *key, bool is_list)
{
	int n = (int)strcspn(c->t->at, "\r\n}#");

	if (c->t->is_first || *c->t->at == '}' || begins_statement(c->t))
		return;
	n = n < 30 ? n : 30;
	if (is_list)
		wrong(c, c->t->line,
		    "%s: \"%.*s\" stands behind its value: several values stand in braces, with "
		    "commas between, as in { \"a\", \"b\" }",
		    key, n, c->t->at);
	else
		wrong(c, c->t->line,
		    "%s takes one value: \"%.*s\" behind it is too much; a value with blanks "
		    "stands in quotes",
		    key, n, c->t->at);
	pass_line(c);
}

/* Behind the key. */
static void
read_value(struct scan *c, const struct scope *s, const cfg_opt_t *opt, unsigned line)
{
	bool is_list = (opt->flags & CFGF_LIST) != 0;

	pass(c);
	if (is_without_value(c)) {
		lacks_value(c, s, opt->name, line);
		return;
	}
	if (*c->t->at == '{' && !is_list) {
		wrong(c, c->t->line, "%s takes one value: write it without braces", opt->name);
		pass_braces(c);
	} else if (*c->t->at == '{') {
		read_list(c, opt->name);
	} else if (is_value(c->t)) {
		pass(c);
	} else {
		wrong(c, c->t->line, "'%c' cannot stand where the value of %s is: put it in quotes",
		    *c->t->at, opt->name);
		pass_line(c);
	}
	check_rest(c, opt->name, is_list);
}

/* ----------------------------------------------------------------- sections */

static const cfg_opt_t *
find_word(const cfg_opt_t *opts, const struct token *t)
{
	size_t n = name_bytes(t);

	for (; n > 0 && opts->name != NULL; opts++)
		if (strlen(opts->name) == n && memcmp(opts->name, t->at, n) == 0)
			return opts;
	return NULL;
}

/* c->t is behind it. */
static void
unknown_word(struct scan *c, const struct scope *s, const char *name, unsigned line)
{
	const struct opensm_key *key = s->outer == NULL ? opensm_key_find(name) : NULL;
	const char *near, *before = s->of != NULL ? " of " : "", *of = s->of != NULL ? s->of : "";
	struct suggestion best;
	struct fm_error err;
	char means[200];

	if (c->self->peeks) /* it may be an engine's */
		return;
	suggest_init(&best, name);
	for (const cfg_opt_t *opt = s->opts; opt->name != NULL; opt++)
		suggest_offer(&best, opt->name);
	near = suggest_best(&best);
	if (key != NULL) {
		opensm_key_means(key, means, sizeof(means));
		wrong(c, line, "unknown key %s: it is OpenSM's, here %s", name, means);
	} else if (near != NULL) {
		wrong(c, line, "unknown key %s%s%s: did you mean %s?", name, before, of, near);
	} else if (s->outer == NULL && opens_section(c->t)) {
		(void)conf_no_engine(c->self, name, &err);
		wrong(c, line, "%.180s, --plugin-dir=DIR adds a folder", err.msg);
	} else {
		wrong(c, line, "unknown key %s%s%s: fmd --help%s%s lists them", name, before, of,
		    s->of != NULL ? "=" : "", of);
	}
}

/* Number it among those of its name, and tell of one before with the same title. */
static void
check_second(struct scan *c, struct setting *one, unsigned line)
{
	const char *name = one->section->name;

	for (size_t i = 0; i < c->out->settings.n; i++) {
		const struct setting *s = &c->out->settings.item[i];

		if (s->section != one->section || s->key != NULL)
			continue;
		one->nth++;
		if (s->n_title != one->n_title || memcmp(s->title, one->title, s->n_title) != 0)
			continue;
		if (s->n_title > 0)
			wrong(c, line,
			    "a second section %s \"%.*s\": put its keys into the first, or give it "
			    "another title",
			    name, (int)s->n_title, s->title);
		else
			wrong(c, line,
			    "a second section %s without a title: put its keys into the first, or "
			    "give it a title; %s \"x\" { } is for the entry %s:x of the chain",
			    name, name, name);
	}
}

/* "TITLE", or none: then "" where there may be one. */
static void
read_title(struct scan *c, struct setting *one, unsigned line)
{
	bool may = (one->section->flags & CFGF_TITLE) != 0, has = is_value(c->t);
	const struct token *t = c->t;
	size_t quote = t->kind == STRING;

	one->title = t->at + quote;
	if (has) {
		one->n_title = t->n - quote - (t->is_open ? 0 : quote);
		put_token(c, t);
		pass(c);
	} else if (may) {
		put(c, "\"\"", 2, line);
	}
	if (may)
		check_second(c, one, line);
	else if (has)
		wrong(c, line, "the section %s has no title: %s { ... }", one->section->name,
		    one->section->name);
}

static bool read_statement(struct scan *c, const struct scope *s);

/* From '{' on; its statements are judged one by one.  False: it cannot be told where it is to
 * end. */
static bool
read_braces(struct scan *c, const struct scope *s, const char *name)
{
	unsigned open = c->t->line;

	put_token(c, c->t);
	for (pass(c); *c->t->at != '}';) {
		if (c->t->kind == END) {
			never_closed(c, open);
			return false;
		}
		if (!read_statement(c, s)) {
			wrong(c, open, "the section %s that opens here has no } before line %u",
			    name, c->t->line);
			return false;
		}
	}
	put_token(c, c->t);
	pass(c);
	return true;
}

/* Behind its name. */
static void
read_section(struct scan *c, const struct scope *outer, const cfg_opt_t *opt)
{
	const struct token *name = c->t - 1;
	bool may = (opt->flags & CFGF_TITLE) != 0, ok;
	struct scope s = { opt->subopts, outer, may ? opt->name : NULL, { .section = opt },
		may ? c->out->settings.n : 0 };
	struct scan before = *c;
	size_t n_settings = c->out->settings.n;

	put_token(c, name);
	read_title(c, &s.in, name->line);
	ok = c->n_wrong == before.n_wrong;
	if (*c->t->at == '{') {
		ok &= read_braces(c, &s, opt->name);
	} else {
		wrong(c, name->line, "%s is a section: write %s { ... }", opt->name, opt->name);
		pass_statement(c);
		ok = false;
	}
	if (!ok) {
		c->to = before.to;
		c->line = before.line;
		c->out->settings.n = n_settings;
	} else if (may) {
		add_setting(c, &s, NULL, c->t - 1);
	}
}

/* --------------------------------------------------------------- statements */

/* What is neither a word nor the end of a section. */
static void
pass_stray(struct scan *c)
{
	bool closes = *c->t->at == '}';

	if (closes)
		wrong(c, c->t->line, "this } closes nothing: take it out");
	else
		wrong(c, c->t->line,
		    "a line begins with a key or a section, as in lmc = 1, not with '%c': # begins "
		    "a comment",
		    *c->t->at);
	pass(c);
	if (!closes)
		pass_line(c);
}

/* libConfuse would pass over the first. */
static void
check_twice(struct scan *c, const struct scope *s, const cfg_opt_t *key, const struct token *value)
{
	bool is_own = s->outer != NULL && s->of == NULL;

	for (size_t i = s->first; i < c->out->settings.n; i++)
		if (c->out->settings.item[i].key == key)
			wrong(c, value[*value->at == '{' && is_value(&value[1])].line,
			    "%s%s%s is set twice, first in line %u: keep one of them",
			    is_own ? s->in.section->name : "", is_own ? "." : "", key->name,
			    c->out->settings.item[i].lines[0]);
}

/* Behind it. */
static void
read_key(struct scan *c, const struct scope *s, const cfg_opt_t *opt)
{
	const struct token *key = c->t - 1;
	unsigned n_wrong = c->n_wrong;

	if (is_name(key) && is_assignment(c->t)) {
		read_value(c, s, opt, key->line);
	} else {
		wrong(c, key->line, "an = is missing between %s and its value", opt->name);
		pass_statement(c);
	}
	if (c->n_wrong == n_wrong)
		check_twice(c, s, opt, key + 2);
	if (c->n_wrong != n_wrong)
		return;
	add_setting(c, s, opt, key + 2);
	for (const struct token *t = key; t < c->t; t++)
		put_token(c, t);
}

/* One statement with all that is in it.  False: a section of the file begins, so that the one it
 * would stand in has not been closed. */
static bool
read_statement(struct scan *c, const struct scope *s)
{
	const cfg_opt_t *opt = find_word(s->opts, c->t), *outer;
	const struct token *t = c->t;
	char name[64];

	outer = opt == NULL && s->outer != NULL ? find_word(s->outer->opts, t) : NULL;
	if (outer != NULL && outer->type == CFGT_SEC && opens_section(t + 1))
		return false;
	if (name_bytes(t) == 0) {
		pass_stray(c);
		return true;
	}
	pass(c);
	if (opt != NULL && opt->type == CFGT_SEC) {
		read_section(c, s, opt);
	} else if (opt != NULL) {
		read_key(c, s, opt);
	} else {
		snprintf(name, sizeof(name), "%.*s", (int)name_bytes(t), t->at);
		unknown_word(c, s, name, t->line);
		pass_statement(c);
	}
	return true;
}

static void
read_file(struct scan *c, const cfg_opt_t *opts)
{
	const struct scope file = { .opts = opts };

	for (c->t = c->tokens.item; c->t->kind != END;)
		(void)read_statement(c, &file);
	if (c->t->is_open)
		wrong(c, c->t->line,
		    "the comment that begins here is never closed: it ends with */, one line with "
		    "# or // in front needs no end");
	put(c, "\n", 2, c->line);
}

int
conf_scan(struct conf_private *self, const char *path, const cfg_opt_t *opts, const char *text,
    size_t n, struct scanned *out)
{
	struct scan c = { .self = self, .path = path, .out = out, .line = 1 };
	const char *nul = memchr(text, '\0', n);

	/* A word or sign gains a blank, a section three bytes more. */
	out->text = c.to = fm_arena_alloc(&self->mem, n * 5 + 3);
	c.no_memory = c.to == NULL;
	if (nul != NULL)
		wrong(&c, 1 + count_lines(text, (size_t)(nul - text)),
		    "a NUL byte: this is no text file");
	else if (!c.no_memory && take_apart(&c, text))
		read_file(&c, opts);
	else
		c.no_memory = true;
	fm_vec_fini(&c.tokens);
	return c.no_memory ? FM_E_RESOURCE : 0;
}
