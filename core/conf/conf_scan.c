/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a configuration file before libConfuse reads it.
 *
 * libConfuse ends at the first mistake, tells some of them where they have no meaning any more
 * and passes over others; so one pass finds all statements, tells each that is not right with
 * its own line, and leaves it out:
 *
 *	KEY = VALUE	KEY = { VALUE, ... }	SECTION { ... }	SECTION "TITLE" { ... }
 *
 * What is left is a text that libConfuse reads to the end, line for line the same: comments are
 * blanks, because it counts their lines twice, and the title "" stands in every section that may
 * have one and does not.  O(letters) beside the search for words.
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

/* A section that has been seen in this file. */
struct seen {
	const cfg_opt_t *opt;
	const char *title;
	size_t n;
};

struct cursor {
	struct conf_private *self;
	const char *path;
	const char *at, *end;
	char *to;
	unsigned line;
	unsigned n_wrong; /* mistakes so far */
	FM_VEC(struct seen) seen;
};

/* The keys and sections that may stand here. */
struct scope {
	const cfg_opt_t *opts;
	const struct scope *outer; /* NULL: the file */
	const char *name;	   /* of the section */
	bool is_own;		   /* the daemon's, without titles */
};

static void __attribute__((format(printf, 3, 4)))
wrong(struct cursor *c, unsigned line, const char *fmt, ...)
{
	char sentence[sizeof(((struct fm_error *)0)->msg)];
	struct fm_error err;
	va_list ap;

	c->n_wrong++;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	fm_fail(&err, FM_E_CONFIG, "%s:%u: %s", c->path, line, sentence);
	(void)mistakes_note(c->self->all, &err);
}

/* ------------------------------------------------------------------ letters */

static bool
is_over(const struct cursor *c)
{
	return c->at >= c->end;
}

static void
copy_one(struct cursor *c)
{
	c->line += *c->at == '\n';
	*c->to++ = *c->at++;
}

static void
copy_blanks(struct cursor *c, size_t n)
{
	for (; n > 0 && !is_over(c); n--) {
		copy_one(c);
		if (c->to[-1] != '\n')
			c->to[-1] = ' ';
	}
}

/* Leave out what was copied since from. */
static void
blank(struct cursor *c, char *from)
{
	for (; from < c->to; from++)
		if (*from != '\n')
			*from = ' ';
}

static bool
begins_comment(const char *at)
{
	return *at == '#' || (at[0] == '/' && (at[1] == '/' || at[1] == '*'));
}

static void
blank_comment(struct cursor *c)
{
	unsigned begin = c->line;
	const char *stop;

	if (c->at[1] != '*' || *c->at == '#') {
		copy_blanks(c, strcspn(c->at, "\n"));
		return;
	}
	stop = strstr(c->at + 2, "*/");
	copy_blanks(c, stop != NULL ? (size_t)(stop + 2 - c->at) : (size_t)(c->end - c->at));
	if (stop == NULL)
		wrong(c, begin,
		    "the comment that begins here is never closed: it ends with */, one line with "
		    "# or // in front needs no end");
}

/* Blanks and comments. */
static void
pass_gap(struct cursor *c)
{
	while (!is_over(c) && (isspace((unsigned char)*c->at) || begins_comment(c->at)))
		if (begins_comment(c->at))
			blank_comment(c);
		else
			copy_one(c);
}

static bool
is_letter(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_' || ch == '-';
}

static size_t
word_bytes(const char *at)
{
	size_t n = 0;

	while (is_letter(at[n]))
		n++;
	return n;
}

static bool
is_quote(char ch)
{
	return ch == '"' || ch == '\'';
}

/* Of a value without quotes. */
static size_t
value_bytes(const char *at)
{
	return strcspn(at, " \t\r\n\"'={}(),+#");
}

static void
copy_some(struct cursor *c, size_t n)
{
	while (n-- > 0 && !is_over(c))
		copy_one(c);
}

/* "${NAME}" or "${NAME:-default}" at c->at. */
static void
check_variable(struct cursor *c)
{
	const char *name = c->at + 2;
	size_t n = strcspn(name, "}:\"\n");
	char word[128];

	if (n >= sizeof(word) || name[n] != '}')
		return;
	memcpy(word, name, n);
	word[n] = '\0';
	if (getenv(word) == NULL)
		wrong(c, c->line,
		    "the variable ${%s} is not set; to mean the text itself use single quotes",
		    word);
}

static void
copy_string(struct cursor *c)
{
	char quote = *c->at;
	unsigned begin = c->line;

	copy_one(c);
	while (!is_over(c) && *c->at != quote && *c->at != '\n') {
		if (quote == '"' && *c->at == '$' && c->at[1] == '{')
			check_variable(c);
		if (*c->at == '\\' && c->at + 1 < c->end)
			copy_one(c);
		copy_one(c);
	}
	if (!is_over(c) && *c->at == quote)
		copy_one(c);
	else
		wrong(c, begin, "the string that begins here has no closing %c in its line", quote);
}

/* ---------------------------------------------------- statements passed over */

/* Does a key with its =, or a section with its brace or title, begin here? */
static bool
begins_statement(const char *at)
{
	size_t n = word_bytes(at);

	if (n == 0 || isdigit((unsigned char)*at))
		return false;
	at += n;
	at += strspn(at, " \t");
	return *at == '=' || *at == '{' || (at[0] == '+' && at[1] == '=') || is_quote(*at);
}

/* From '{' to behind its '}'. */
static void
pass_braces(struct cursor *c)
{
	unsigned depth = 0, begin = c->line;

	do {
		if (is_quote(*c->at)) {
			copy_string(c);
		} else {
			depth += *c->at == '{';
			depth -= *c->at == '}';
			copy_one(c);
		}
		pass_gap(c);
	} while (depth > 0 && !is_over(c));
	if (depth > 0)
		wrong(c, begin, "the brace that opens here is never closed: a } is missing");
}

/* To the end of the line, or of the section in it. */
static void
pass_line(struct cursor *c)
{
	while (!is_over(c) && *c->at != '\n' && *c->at != '}')
		if (*c->at == '{')
			pass_braces(c);
		else if (is_quote(*c->at))
			copy_string(c);
		else if (begins_comment(c->at))
			blank_comment(c);
		else
			copy_one(c);
}

static bool
is_assignment(const char *at)
{
	return *at == '=' || (at[0] == '+' && at[1] == '=');
}

/* NAME { or NAME "TITLE" {, behind the NAME. */
static bool
opens_section(const char *at)
{
	at += strspn(at, " \t\r\n");
	if (is_quote(*at)) {
		const char *close = strchr(at + 1, *at);

		at = close != NULL ? close + 1 : at;
		at += strspn(at, " \t\r\n");
	}
	return *at == '{';
}

/* Behind the =. */
static void
pass_value(struct cursor *c)
{
	unsigned line = c->line;

	pass_gap(c);
	if (is_over(c) || (c->line > line && begins_statement(c->at)))
		return;
	if (*c->at == '{')
		pass_braces(c);
	else if (is_quote(*c->at))
		copy_string(c);
	else
		copy_some(c, value_bytes(c->at));
	if (!begins_statement(c->at + strspn(c->at, " \t")))
		pass_line(c);
}

/* What stands behind a word that nobody knows. */
static void
pass_statement(struct cursor *c)
{
	if (is_assignment(c->at + strspn(c->at, " \t\r\n"))) {
		pass_gap(c);
		copy_some(c, *c->at == '+' ? 2 : 1);
		pass_value(c);
	} else if (opens_section(c->at)) {
		pass_gap(c);
		if (is_quote(*c->at))
			copy_string(c);
		pass_gap(c);
		if (!is_over(c))
			pass_braces(c);
	} else {
		pass_line(c);
	}
}

/* ------------------------------------------------------------------- values */

/* What the daemon's key takes, else where that is said. */
static void
describe_key(const struct scope *s, const char *key, char *out, size_t room)
{
	const struct option_table table = conf_option_table();
	const struct fm_option *row = s->outer == NULL ? option_find(&table, key) : NULL;
	size_t n;

	if (row == NULL) {
		snprintf(out, room, "fmd --help%s%s tells what it takes",
		    s->outer != NULL && !s->is_own ? "=" : "",
		    s->outer != NULL && !s->is_own ? s->name : "");
		return;
	}
	n = (size_t)snprintf(out, room, "it takes ");
	option_describe(row, out + n, room - n);
}

static void
lacks_value(struct cursor *c, const struct scope *s, const char *key, unsigned line)
{
	char takes[120];

	describe_key(s, key, takes, sizeof(takes));
	wrong(c, line, "%s = has no value: %s; leave the line out for the default", key, takes);
}

/* KEY = */
static bool
begins_key(const char *at)
{
	size_t n = word_bytes(at);

	return n > 0 && at[n + strspn(at + n, " \t")] == '=';
}

/* An item of a list, or a mistake in its place. */
static void
copy_item(struct cursor *c, const char *key)
{
	size_t n = value_bytes(c->at);

	if (is_quote(*c->at)) {
		copy_string(c);
	} else if (n > 0) {
		copy_some(c, n);
	} else {
		wrong(c, c->line, "%c cannot stand in the list of %s: put the value in quotes",
		    *c->at, key);
		copy_one(c);
	}
}

static void
copy_list(struct cursor *c, const char *key)
{
	unsigned begin = c->line;
	bool has_item = false;

	copy_one(c);
	for (;;) {
		pass_gap(c);
		if (is_over(c)) {
			wrong(c, begin,
			    "the list of %s that begins here is never closed: a } is "
			    "missing",
			    key);
			return;
		}
		if (*c->at == '}')
			break;
		if (*c->at == ',' && !has_item)
			wrong(c, c->line,
			    "a comma with no value before it in the list of %s: take "
			    "it out",
			    key);
		if (*c->at == ',') {
			has_item = false;
			copy_one(c);
			continue;
		}
		if (begins_key(c->at)) {
			wrong(c, begin, "the list of %s that begins here has no } before line %u",
			    key, c->line);
			return;
		}
		if (has_item)
			wrong(c, c->line, "a comma is missing between two values of %s", key);
		copy_item(c, key);
		has_item = true;
	}
	copy_one(c);
}

/* Behind a value its line ends, or the next statement begins. */
static void
check_rest(struct cursor *c, const char *key, bool is_list)
{
	const char *at = c->at + strspn(c->at, " \t\r");
	int n = (int)strcspn(at, "\r\n}#");

	if (at >= c->end || *at == '\n' || *at == '}' || begins_comment(at) || begins_statement(at))
		return;
	if (is_list)
		wrong(c, c->line,
		    "%s: \"%.*s\" stands behind its value: several values stand in braces, with "
		    "commas between, as in { \"a\", \"b\" }",
		    key, n < 30 ? n : 30, at);
	else
		wrong(c, c->line,
		    "%s takes one value: \"%.*s\" behind it is too much; a value with blanks "
		    "stands in quotes",
		    key, n < 30 ? n : 30, at);
	pass_line(c);
}

static void
copy_value(struct cursor *c, const struct scope *s, const cfg_opt_t *opt, unsigned line)
{
	bool is_list = (opt->flags & CFGF_LIST) != 0;

	copy_some(c, *c->at == '+' ? 2 : 1);
	pass_gap(c);
	if (is_over(c) || *c->at == '}' || (c->line > line && begins_statement(c->at))) {
		lacks_value(c, s, opt->name, line);
		return;
	}
	if (*c->at == '{' && !is_list) {
		wrong(c, c->line, "%s takes one value: write it without braces", opt->name);
		pass_braces(c);
	} else if (*c->at == '{') {
		copy_list(c, opt->name);
	} else if (is_quote(*c->at)) {
		copy_string(c);
	} else if (value_bytes(c->at) > 0) {
		copy_some(c, value_bytes(c->at));
	} else {
		wrong(c, c->line, "'%c' cannot stand where the value of %s is: put it in quotes",
		    *c->at, opt->name);
		pass_line(c);
	}
	check_rest(c, opt->name, is_list);
}

/* ----------------------------------------------------------------- sections */

static const cfg_opt_t *
find_word(const cfg_opt_t *opts, const char *word, size_t n)
{
	for (; opts->name != NULL; opts++)
		if (strlen(opts->name) == n && memcmp(opts->name, word, n) == 0)
			return opts;
	return NULL;
}

static bool
is_section(const cfg_opt_t *opt)
{
	return opt->type == CFGT_SEC;
}

static void
unknown_word(struct cursor *c, const struct scope *s, const char *name, unsigned line)
{
	const char *near, *of = s->outer != NULL && !s->is_own ? s->name : NULL;
	const struct opensm_key *key = s->outer == NULL ? opensm_key_find(name) : NULL;
	struct suggestion best;
	struct fm_error err;
	char means[200];

	if (c->self->peeks) /* it may be an engine's */
		return;
	if (key != NULL) {
		opensm_key_means(key, means, sizeof(means));
		wrong(c, line, "unknown key %s: it is OpenSM's, here %s", name, means);
		return;
	}
	suggest_init(&best, name);
	for (const cfg_opt_t *opt = s->opts; opt->name != NULL; opt++)
		suggest_offer(&best, opt->name);
	near = suggest_best(&best);
	if (near != NULL)
		wrong(c, line, "unknown key %s%s%s: did you mean %s?", name, of ? " of " : "",
		    of ? of : "", near);
	else if (s->outer == NULL && opens_section(c->at)) {
		(void)conf_no_engine(c->self, name, &err);
		wrong(c, line, "%.180s, --plugin-dir=DIR adds a folder", err.msg);
	} else
		wrong(c, line, "unknown key %s%s%s: fmd --help%s%s lists them", name,
		    of ? " of " : "", of ? of : "", of ? "=" : "", of ? of : "");
}

static void
check_second(struct cursor *c, const cfg_opt_t *opt, const char *title, size_t n, unsigned line)
{
	const struct seen one = { opt, title, n };
	int k = (int)n;

	for (size_t i = 0; i < c->seen.n; i++) {
		const struct seen *s = &c->seen.item[i];

		if (s->opt != opt || s->n != n || memcmp(s->title, title, n) != 0)
			continue;
		if (n > 0)
			wrong(c, line,
			    "a second section %s \"%.*s\": put its keys into the first, or give it "
			    "another title",
			    opt->name, k, title);
		else
			wrong(c, line,
			    "a second section %s without a title: put its keys into the first, or "
			    "give it a title; %s \"x\" { } is for the entry %s:x of the chain",
			    opt->name, opt->name, opt->name);
		return;
	}
	if (!fm_vec_push(&c->seen, one))
		wrong(c, line, "there is no memory for this section");
}

/* "TITLE", or none: then "" where there may be one. */
static void
copy_title(struct cursor *c, const cfg_opt_t *opt, unsigned line)
{
	const char *title = c->at;
	size_t n = 0;
	bool may = (opt->flags & CFGF_TITLE) != 0;

	if (is_quote(*c->at)) {
		copy_string(c);
		title++;
		n = (size_t)(c->at - title) - (c->at > title);
	} else if ((n = value_bytes(c->at)) > 0) {
		copy_some(c, n);
	} else if (may) {
		memcpy(c->to, " \"\"", 3);
		c->to += 3;
	}
	if (may)
		check_second(c, opt, title, n, line);
	else if (c->at > title)
		wrong(c, line, "the section %s has no title: %s { ... }", opt->name, opt->name);
	pass_gap(c);
}

static bool copy_statement(struct cursor *c, const struct scope *s);

/* Its statements are judged one by one; false: it cannot be told where it is to end. */
static bool
copy_section(struct cursor *c, const struct scope *outer, const cfg_opt_t *opt, unsigned line)
{
	struct scope s = { opt->subopts, outer, opt->name, (opt->flags & CFGF_TITLE) == 0 };
	unsigned before = c->n_wrong, open;
	bool is_titled;

	copy_title(c, opt, line);
	is_titled = c->n_wrong == before;
	if (is_over(c) || *c->at != '{') {
		wrong(c, line, "%s is a section: write %s { ... }", opt->name, opt->name);
		pass_statement(c);
		return false;
	}
	open = c->line;
	copy_one(c);
	for (pass_gap(c); !is_over(c) && *c->at != '}'; pass_gap(c))
		if (!copy_statement(c, &s)) {
			wrong(c, open, "the section %s that opens here has no } before line %u",
			    opt->name, c->line);
			return false;
		}
	if (!is_over(c)) {
		copy_one(c);
		return is_titled;
	}
	wrong(c, open, "the brace that opens here is never closed: a } is missing");
	return false;
}

/* --------------------------------------------------------------- statements */

/* What is neither a word nor the end of a section. */
static void
pass_stray(struct cursor *c)
{
	if (*c->at == '}') {
		wrong(c, c->line, "this } closes nothing: take it out");
		copy_one(c);
		return;
	}
	wrong(c, c->line,
	    "a line begins with a key or a section, as in lmc = 1, not with '%c': # begins a "
	    "comment",
	    *c->at);
	copy_one(c);
	pass_line(c);
}

static void
copy_key(struct cursor *c, const struct scope *s, const cfg_opt_t *opt, unsigned line)
{
	struct cursor here = *c;

	pass_gap(c);
	if (!is_over(c) && is_assignment(c->at)) {
		copy_value(c, s, opt, line);
		return;
	}
	*c = here;
	wrong(c, line, "an = is missing between %s and its value", opt->name);
	pass_statement(c);
}

static void
copy_known(struct cursor *c, const struct scope *s, const cfg_opt_t *opt, unsigned line)
{
	unsigned before = c->n_wrong;
	char *from = c->to;
	bool ok;

	copy_some(c, strlen(opt->name));
	if (is_section(opt)) {
		pass_gap(c);
		ok = copy_section(c, s, opt, line);
	} else {
		copy_key(c, s, opt, line);
		ok = c->n_wrong == before;
	}
	if (!ok)
		blank(c, from);
}

/* One statement with all that is in it; what is wrong is left out.  False: a section of the file
 * begins, so that the one it would stand in has not been closed. */
static bool
copy_statement(struct cursor *c, const struct scope *s)
{
	size_t n = word_bytes(c->at);
	const cfg_opt_t *opt = n > 0 ? find_word(s->opts, c->at, n) : NULL, *outer;
	unsigned line = c->line;
	char *from = c->to, name[64];

	if (opt != NULL) {
		copy_known(c, s, opt, line);
		return true;
	}
	outer = n > 0 && s->outer != NULL ? find_word(s->outer->opts, c->at, n) : NULL;
	if (outer != NULL && is_section(outer) && opens_section(c->at + n))
		return false;
	if (n > 0) {
		snprintf(name, sizeof(name), "%.*s", (int)n, c->at);
		copy_some(c, n);
		unknown_word(c, s, name, line);
		pass_statement(c);
	} else {
		pass_stray(c);
	}
	blank(c, from);
	return true;
}

int
conf_scan(struct conf_private *self, const char *path, const struct cfg_opt_t *opts,
    const char *text, size_t n, char **out)
{
	struct cursor c = { .self = self, .path = path, .at = text, .end = text + n, .line = 1 };
	const struct scope file = { .opts = opts };
	const char *nul = memchr(text, '\0', n);

	/* A section takes two bytes at least and gains three. */
	*out = c.to = fm_arena_alloc(&self->mem, n * 3 + 2);
	if (c.to == NULL)
		return FM_E_RESOURCE;
	if (nul != NULL) {
		for (const char *p = text; p < nul; p++)
			c.line += *p == '\n';
		wrong(&c, c.line, "a NUL byte: this is no text file");
		return 0;
	}
	for (pass_gap(&c); !is_over(&c); pass_gap(&c))
		(void)copy_statement(&c, &file);
	*c.to++ = '\n';
	fm_vec_fini(&c.seen);
	return 0;
}
