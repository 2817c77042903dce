/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One configuration text into the values of its sections:
 *
 *	file:		{ setting | section }
 *	section:	NAME [ "TITLE" ] { { setting } }
 *	setting:	KEY = VALUE | KEY = { VALUE, ... }
 *
 * Which names there are, and which take lists, is in the rows of the daemon, of its sections and
 * of the engines.  Engines have sections under each of their names.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "core/abi/entry_options.h"
#include "core/conf/conf_private.h"
#include "core/conf/conf_words.h"
#include "core/text/readfile.h"
#include "core/text/suggest.h"
#include "lib/error.h"

/* A section with a title of this file, also of none: it stands there once. */
struct begun {
	const char *name, *title;
};

struct parse {
	struct conf_private *self;
	const char *path;
	const struct conf_word *at; /* the next one */
	FM_VEC(struct begun) begun;
	struct fm_error *err;
};

/* Where settings stand: in the file itself, in a section of the daemon's own, in one that it
 * knows by titles, or in one of an engine. */
struct place {
	const char *name; /* of the section; NULL: the file */
	const struct conf_section *section;
	const struct fm_engine *engine;
	struct option_values *values, *entry; /* entry: of all engines' sections */
	const char **file;		      /* where it ends is noted here, and */
	unsigned *line;			      /* here; NULL: nowhere */
};

/* A name that may stand there. */
struct key {
	const char *name; /* NULL: none, but there are more */
	const char *kept; /* under which name the values have it */
	struct option_values *values;
	bool is_list;
};

/* ---------------------------------------------------------- what is expected */

/* Row i of the daemon's own as it is named in this place: "enable" in adaptive_routing { } is
 * "adaptive_routing.enable". */
static bool
own_key(const struct place *p, size_t i, struct key *k)
{
	const struct conf_row *row = conf_row(i);
	const char *names[] = { row != NULL ? row->option.name : NULL,
		row != NULL ? row->alias : NULL };

	if (row == NULL)
		return false;
	*k = (struct key){ NULL, row->option.name, p->values, row->words };
	if (p->name == NULL && conf_section_bytes(row->option.name) == 0)
		k->name = row->option.name;
	for (unsigned a = 0; p->name != NULL && k->name == NULL && a < 2; a++) {
		size_t n = names[a] != NULL ? conf_section_bytes(names[a]) : 0;

		if (n > 0 && strlen(p->name) == n && memcmp(names[a], p->name, n) == 0)
			k->name = names[a] + n + 1;
	}
	return true;
}

/* Of an engine, and behind them those of all engines, which it may have itself. */
static bool
engine_key(const struct place *p, size_t i, struct key *k)
{
	struct option_table table = option_table_of(p->engine), entry = entry_option_table();
	const struct fm_option *row;
	size_t n = 0;

	while (option_row(&table, n) != NULL)
		n++;
	row = i < n ? option_row(&table, i) : option_row(&entry, i - n);
	if (row == NULL)
		return false;
	*k =
	    (struct key){ row->name, row->name, i < n ? p->values : p->entry, option_is_list(row) };
	if (i >= n && option_find(&table, row->name) != NULL)
		k->name = NULL;
	return true;
}

/* Key i of a place; false: there are no more. */
static bool
key_of(const struct place *p, size_t i, struct key *k)
{
	const struct conf_row *row;

	if (p->engine != NULL)
		return engine_key(p, i, k);
	if (p->section == NULL)
		return own_key(p, i, k);
	row = &p->section->rows[i];
	*k = (struct key){ row->option.name, row->option.name, p->values,
		row->words || option_is_list(&row->option) };
	return row->option.type != FM_OPT_END;
}

static bool
find_key(const struct place *p, const char *name, struct key *k)
{
	for (size_t i = 0; key_of(p, i, k); i++)
		if (k->name != NULL && strcmp(k->name, name) == 0)
			return true;
	return false;
}

/* A section of the daemon's own has names: those that rows 0, 1, ... begin with, and their
 * aliases.  How many letters of *from name i is; 0: the row has none; -1: there are no more. */
static int
own_section_name(size_t i, const char **from)
{
	const struct conf_row *row = conf_row(i / 2);

	if (row == NULL)
		return -1;
	*from = i % 2 == 0 ? row->option.name : row->alias;
	return *from != NULL ? (int)conf_section_bytes(*from) : 0;
}

static bool
is_own_section(const char *name)
{
	const char *own;
	int n;

	for (size_t i = 0; (n = own_section_name(i, &own)) >= 0; i++)
		if (n > 0 && strncmp(name, own, (size_t)n) == 0 && name[n] == '\0')
			return true;
	return false;
}

static bool
is_section(const struct parse *p, const char *name)
{
	return is_own_section(name) || conf_section_find(name) != NULL ||
	    engine_find(p->self->engines, name) != NULL;
}

/* ------------------------------------------------------------------ mistakes */

static bool
is_sign(const struct conf_word *w, char sign)
{
	return w->kind == CONF_SIGN && *w->text == sign;
}

static int
unexpected(const struct parse *p)
{
	if (p->at->kind == CONF_END)
		return conf_fail_at(
		    p->err, p->path, p->at->line, "the file ends where a value is expected");
	return conf_fail_at(p->err, p->path, p->at->line, "unexpected token '%.40s'", p->at->text);
}

static void
offer_sections(const struct parse *p, struct suggestion *s)
{
	const struct engine_set *set = p->self->engines;
	const struct conf_section *section;
	const char *own;
	int n;

	for (size_t i = 0; (n = own_section_name(i, &own)) >= 0; i++) {
		char *name = n > 0 ? fm_arena_strdup(&p->self->mem, own) : NULL;

		if (name != NULL) {
			name[n] = '\0';
			suggest_offer(s, name);
		}
	}
	for (size_t i = 0; (section = conf_section(i)) != NULL; i++)
		suggest_offer(s, section->name);
	for (uint32_t i = 0; i < set->n_engines; i++) {
		const struct fm_engine *e = set->engines[i].engine;

		suggest_offer(s, e->name);
		for (const char *const *a = e->aliases; a != NULL && *a != NULL; a++)
			suggest_offer(s, *a);
	}
}

/* Does the word at this place begin a section: NAME { or NAME "TITLE" { ? */
static bool
begins_section(const struct conf_word *w)
{
	return is_sign(&w[1], '{') ||
	    (w[1].kind == CONF_TEXT && w[1].line == w->line && is_sign(&w[2], '{'));
}

/* A section of nothing that is known is meant for an engine. */
static int
no_engine(const struct parse *p, const struct conf_word *word)
{
	conf_no_engine(p->self, word->text, p->err);
	strncat(p->err->msg, ", --plugin-dir=DIR adds a folder",
	    sizeof(p->err->msg) - strlen(p->err->msg) - 1);
	return fm_context(p->err, "%s:%u", p->path, word->line);
}

static int
unknown_key(const struct parse *p, const struct place *place, const struct conf_word *word)
{
	const char *section = place->section != NULL || place->engine != NULL ? place->name : NULL;
	struct suggestion s;
	struct key k;

	suggest_init(&s, word->text);
	for (size_t i = 0; key_of(place, i, &k); i++)
		if (k.name != NULL)
			suggest_offer(&s, k.name);
	if (place->name == NULL)
		offer_sections(p, &s);
	if (suggest_best(&s) != NULL)
		return conf_fail_at(p->err, p->path, word->line,
		    "unknown key %s%s%s: did you mean %s?", word->text,
		    section != NULL ? " of " : "", section != NULL ? section : "",
		    suggest_best(&s));
	if (place->name == NULL && begins_section(word))
		return no_engine(p, word);
	if (section != NULL)
		return conf_fail_at(p->err, p->path, word->line,
		    "unknown key %s of %s: fmd --help=%s lists them", word->text, section, section);
	return conf_fail_at(
	    p->err, p->path, word->line, "unknown key %s: fmd --help lists them", word->text);
}

static int
second_section(const struct parse *p, const struct conf_word *word, const char *title)
{
	if (*title != '\0')
		return conf_fail_at(p->err, p->path, word->line,
		    "a second section %s \"%s\": put its keys into the first, or give it another "
		    "title",
		    word->text, title);
	return conf_fail_at(p->err, p->path, word->line,
	    "a second section %s without a title: put its keys into the first, or give it a title; "
	    "%s \"x\" { } is for the entry %s:x of the chain",
	    word->text, word->text, word->text);
}

/* ------------------------------------------------------------------ settings */

/* Put a key with its items where it belongs; lines[i] is that of item i, lines[0] of an empty list
 * that of its end. */
static int
keep(const struct parse *p, const struct place *place, const struct key *k,
    const char *const *items, size_t n, const unsigned *lines)
{
	struct option_origin origin = { p->path, lines[0], lines };
	const struct option_origin *old = option_values_origin(k->values, k->kept);

	if (old != NULL && old->file == p->path)
		return conf_fail_at(p->err, p->path, origin.line,
		    "%s is set twice, first in line %u", k->kept, old->line);
	if (place->engine != NULL)
		return option_values_set(k->values, k->kept, items, n, &origin, p->err);
	return conf_set(p->self, k->values,
	    place->section != NULL ? place->section->rows : conf_row(0), k->kept, items, n, &origin,
	    p->err);
}

/* The values of a list from behind its brace on: how many, or a negative kind. */
static int
count_items(struct parse *p)
{
	const struct conf_word *from = p->at;
	int n = 0;

	for (; !is_sign(p->at, '}'); p->at += is_sign(p->at, ',')) {
		if (p->at->kind != CONF_TEXT)
			return unexpected(p);
		p->at++;
		n++;
		if (!is_sign(p->at, ',') && !is_sign(p->at, '}'))
			return unexpected(p);
	}
	p->at = from;
	return n;
}

static int
read_list(struct parse *p, const struct place *place, const struct key *k)
{
	int n = count_items(p);
	const char **items;
	unsigned *lines;

	if (n < 0)
		return n;
	items = fm_arena_array(&p->self->mem, (size_t)n + 1, const char *);
	lines = fm_arena_array(&p->self->mem, (size_t)n + 1, unsigned);
	if (items == NULL || lines == NULL)
		return conf_out_of_memory(p->err);
	for (int i = 0; i < n; i++, p->at += 1 + is_sign(&p->at[1], ',')) {
		items[i] = p->at->text;
		lines[i] = p->at->line;
	}
	if (n == 0)
		lines[0] = p->at->line;
	p->at++;
	return keep(p, place, k, items, (size_t)n, lines);
}

/* From the key on. */
static int
read_setting(struct parse *p, const struct place *place, const struct key *k)
{
	const struct conf_word *key = p->at++;

	if (!is_sign(p->at, '='))
		return conf_fail_at(
		    p->err, p->path, key->line, "missing equal sign after option '%s'", key->text);
	p->at++;
	if (k->is_list && is_sign(p->at, '{')) {
		p->at++;
		return read_list(p, place, k);
	}
	if (p->at->kind != CONF_TEXT)
		return unexpected(p);
	p->at++;
	return keep(p, place, k, &p->at[-1].text, 1, &p->at[-1].line);
}

/* Past a setting or section of which nothing is known; braces have their ends. */
static void
skip(struct parse *p)
{
	unsigned depth = 0;

	p->at++;
	if (is_sign(p->at, '='))
		p->at++;
	if (p->at->kind == CONF_TEXT)
		p->at++;
	if (!is_sign(p->at, '{'))
		return;
	do {
		depth += is_sign(p->at, '{');
		depth -= is_sign(p->at, '}');
		p->at++;
	} while (depth > 0);
}

/* ------------------------------------------------------------------ sections */

static struct instance *
need_instance(struct conf_private *self, const struct fm_engine *engine, const char *title)
{
	struct instance *found = conf_find_instance(self, engine, title), i = { .engine = engine };
	struct option_table table = option_table_of(engine), entry = entry_option_table();
	char name[160];

	if (found != NULL)
		return found;
	snprintf(name, sizeof(name), "%s%s%s", engine->name, *title != '\0' ? " " : "", title);
	i.title = title;
	i.values = option_values_new(&self->mem, &table, name);
	i.entry = option_values_new(&self->mem, &entry, name);
	if (i.values == NULL || i.entry == NULL || !fm_vec_push(&self->instances, i))
		return NULL;
	return &self->instances.item[self->instances.n - 1];
}

static struct titled *
need_titled(struct conf_private *self, const struct conf_section *section, const char *title)
{
	struct option_table table = conf_section_table(section);
	struct titled t = { .section = section, .title = title };
	char name[160];

	for (size_t i = 0; i < self->titled.n; i++)
		if (self->titled.item[i].section == section &&
		    strcmp(self->titled.item[i].title, title) == 0)
			return &self->titled.item[i];
	snprintf(name, sizeof(name), "%s %s", section->name, title);
	t.values = option_values_new(&self->mem, &table, name);
	if (t.values == NULL || !fm_vec_push(&self->titled, t))
		return NULL;
	return &self->titled.item[self->titled.n - 1];
}

/* The place that a section with a title is; it counts though it be empty. */
static int
open_titled(struct parse *p, const char *name, const char *title, struct place *place)
{
	const struct conf_section *section = conf_section_find(name);
	struct instance *i;
	struct titled *t;

	*place = (struct place){ .name = name, .section = section };
	if (section != NULL) {
		if ((t = need_titled(p->self, section, title)) == NULL)
			return conf_out_of_memory(p->err);
		place->values = t->values;
		place->file = &t->file;
		place->line = &t->line;
		return 0;
	}
	place->engine = engine_find(p->self->engines, name);
	if ((i = need_instance(p->self, place->engine, title)) == NULL)
		return conf_out_of_memory(p->err);
	place->values = i->values;
	place->entry = i->entry;
	place->file = &i->file;
	place->line = &i->line;
	return 0;
}

static int
note_begun(struct parse *p, const struct conf_word *word, const char *title)
{
	struct begun b = { word->text, title };

	for (size_t i = 0; i < p->begun.n; i++)
		if (strcmp(p->begun.item[i].name, b.name) == 0 &&
		    strcmp(p->begun.item[i].title, title) == 0)
			return second_section(p, word, title);
	return fm_vec_push(&p->begun, b) ? 0 : conf_out_of_memory(p->err);
}

static int read_settings(struct parse *p, const struct place *place);

/* From its name on; the title may be left out. */
static int
read_section(struct parse *p)
{
	const struct conf_word *word = p->at++;
	struct place place = { .name = word->text, .values = p->self->own };
	bool is_own = is_own_section(word->text);
	const char *title = "";
	int rc = 0;

	if (!is_own && p->at->kind == CONF_TEXT)
		title = p->at++->text;
	if (!is_sign(p->at, '{'))
		return conf_fail_at(p->err, p->path, p->at->line,
		    "missing opening brace for section '%s'", word->text);
	p->at++;
	if (!is_own && (rc = note_begun(p, word, title)) == 0)
		rc = open_titled(p, word->text, title, &place);
	if (rc == 0)
		rc = read_settings(p, &place);
	if (rc == 0 && place.file != NULL) {
		*place.file = p->path;
		*place.line = p->at->line;
	}
	p->at++;
	return rc;
}

/* Up to the brace that ends the section, or the end of the file. */
static int
read_settings(struct parse *p, const struct place *place)
{
	struct key k;
	int rc = 0;

	while (rc == 0 && p->at->kind != CONF_END && !is_sign(p->at, '}')) {
		if (p->at->kind != CONF_TEXT)
			return unexpected(p);
		if (find_key(place, p->at->text, &k))
			rc = read_setting(p, place, &k);
		else if (place->name == NULL && is_section(p, p->at->text))
			rc = read_section(p);
		else if (p->self->peeks)
			skip(p);
		else
			rc = unknown_key(p, place, p->at);
	}
	return rc;
}

int
conf_parse_text(
    struct conf_private *self, const char *path, const char *text, size_t n, struct fm_error *err)
{
	struct parse p = { .self = self, .path = path, .err = err };
	const struct place file = { .values = self->own };
	int rc = conf_words(path, text, n, &self->mem, &p.at, err);

	if (rc == 0)
		rc = read_settings(&p, &file);
	if (rc == 0 && p.at->kind != CONF_END)
		rc = conf_fail_at(err, path, p.at->line, "unexpected closing brace");
	fm_vec_fini(&p.begun);
	return rc;
}
