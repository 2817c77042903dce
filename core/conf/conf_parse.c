/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One configuration text through libConfuse.
 *
 * libConfuse does the grammar only, of a text that conf_scan() has freed of mistakes: every key
 * is a string or a list of strings to it.  What conf_scan() has found to be set is then taken out
 * of its tree, in the order written, into the value store; the tree is thrown away.
 */
#include "config.h"

#include <confuse.h>
#include <stdio.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/conf/conf_private.h"
#include "core/text/readfile.h"
#include "lib/error.h"
#include "lib/log.h"

/* A key with its values, on the way into the store. */
struct entry {
	struct conf_private *self;
	const char *path;
	cfg_t *section;
	const char *key;
	const char **items; /* [n] */
	const unsigned *lines;
	size_t n;
	struct fm_error *err;
};

struct instance *
conf_need_instance(struct conf_private *self, const struct fm_engine *engine, const char *title)
{
	struct instance *found = conf_find_instance(self, engine, title), i = { .engine = engine };
	struct option_table table = option_table_of(engine), entry = entry_option_table();
	char name[160];

	if (found != NULL)
		return found;
	snprintf(name, sizeof(name), "%s%s%s", engine->name, *title != '\0' ? " " : "", title);
	i.title = fm_arena_strdup(&self->mem, title);
	i.values = option_values_new(&self->mem, &table, name);
	i.entry = option_values_new(&self->mem, &entry, name);
	if (i.title == NULL || i.values == NULL || i.entry == NULL ||
	    !fm_vec_push(&self->instances, i))
		return NULL;
	return &self->instances.item[self->instances.n - 1];
}

static struct titled *
need_titled(struct conf_private *self, const struct conf_section *section, const char *title)
{
	struct option_table table = conf_section_table(section);
	struct titled t = { .section = section };
	char name[160];

	for (size_t i = 0; i < self->titled.n; i++)
		if (self->titled.item[i].section == section &&
		    strcmp(self->titled.item[i].title, title) == 0)
			return &self->titled.item[i];
	snprintf(name, sizeof(name), "%s %s", section->name, title);
	t.title = fm_arena_strdup(&self->mem, title);
	t.values = option_values_new(&self->mem, &table, name);
	if (t.title == NULL || t.values == NULL || !fm_vec_push(&self->titled, t))
		return NULL;
	return &self->titled.item[self->titled.n - 1];
}

/* ------------------------------------------------------------------- values */

/* Is it a key of all engines' sections, which this engine does not have itself? */
static bool
is_entry_key(const struct fm_engine *engine, const char *key)
{
	struct option_table own = option_table_of(engine), entry = entry_option_table();

	return option_find(&own, key) == NULL && option_find(&entry, key) != NULL;
}

/* Where a key of this section goes, and the daemon's rows it is one of: NULL for
 * an engine's.  A section counts though it be empty.  NULL: no memory. */
static struct option_values *
values_of(const struct entry *e, const struct conf_row **rows)
{
	const struct conf_section *section = conf_section_find(cfg_name(e->section));
	const struct fm_engine *engine = engine_find(e->self->engines, cfg_name(e->section));
	struct instance *i;
	struct titled *t;

	*rows = conf_row(0);
	if (cfg_title(e->section) == NULL || (section == NULL && engine == NULL))
		return e->self->own;
	if (section != NULL) {
		*rows = section->rows;
		t = need_titled(e->self, section, cfg_title(e->section));
		if (t == NULL)
			return NULL;
		t->file = e->path;
		t->line = e->lines[0];
		return t->values;
	}
	*rows = NULL;
	i = conf_need_instance(e->self, engine, cfg_title(e->section));
	if (i == NULL)
		return NULL;
	i->file = e->path;
	i->line = e->lines[0];
	return e->key != NULL && is_entry_key(engine, e->key) ? i->entry : i->values;
}

static bool
is_key_of(const char *name, const char *section, const char *key)
{
	size_t n = name != NULL ? conf_section_bytes(name) : 0;

	return n > 0 && strncmp(name, section, n) == 0 && section[n] == '\0' &&
	    strcmp(name + n + 1, key) == 0;
}

/* The row's name of a key of the daemon: "enable" in adaptive_routing { } is
 * "adaptive_routing.enable". */
static const char *
own_name(const struct entry *e)
{
	const char *section = cfg_name(e->section);
	const struct conf_row *row;

	for (size_t i = 0; (row = conf_row(i)) != NULL; i++)
		if (is_key_of(row->option.name, section, e->key) ||
		    is_key_of(row->alias, section, e->key))
			return row->option.name;
	return e->key;
}

/* The same in a section with a title, where the other word is told of. */
static const char *
titled_name(const struct entry *e, const struct conf_row *rows)
{
	for (const struct conf_row *row = rows; row->option.type != FM_OPT_END; row++) {
		if (row->alias == NULL || strcmp(row->alias, e->key) != 0)
			continue;
		log_warn("conf", "%s:%u: %s %s: %s is taken for %s, which is what fmd calls it",
		    e->path, e->lines[0], cfg_name(e->section), cfg_title(e->section), e->key,
		    row->option.name);
		return row->option.name;
	}
	return e->key;
}

static int
store(struct entry *e)
{
	const struct conf_row *rows;
	struct option_values *values = values_of(e, &rows);
	struct option_origin origin = { e->path, e->n > 0 ? e->lines[0] : 0, e->lines,
		e->self->all };
	const struct option_origin *old;

	if (values == NULL)
		return conf_out_of_memory(e->err);
	if (e->key == NULL)
		return 0;
	if (values == e->self->own)
		e->key = own_name(e);
	else if (rows != NULL)
		e->key = titled_name(e, rows);
	old = option_values_origin(values, e->key);
	if (old != NULL && old->file == e->path)
		return conf_fail_at(e->err, e->path, origin.line,
		    "%s is set twice, first in line %u: keep one of them", e->key, old->line);
	if (rows != NULL)
		return conf_set(e->self, values, rows, e->key, e->items, e->n, &origin, e->err);
	return option_values_set(values, e->key, e->items, e->n, &origin, e->err);
}

/* The values as libConfuse has read them. */
static int
store_setting(struct entry *e, cfg_t *cfg, const struct setting *s)
{
	cfg_opt_t *opt;

	e->section = s->section != NULL ? cfg_getnsec(cfg, s->section->name, s->nth) : cfg;
	e->key = s->key != NULL ? s->key->name : NULL;
	e->lines = s->lines;
	e->n = s->n;
	e->items = fm_arena_array(&e->self->mem, s->n + 1, const char *);
	if (e->items == NULL)
		return conf_out_of_memory(e->err);
	opt = s->n > 0 ? cfg_getopt(e->section, e->key) : NULL;
	if (opt != NULL && cfg_opt_size(opt) != s->n)
		return conf_fail_at(e->err, e->path, s->lines[0],
		    "the value of %s cannot be read: put it in quotes", e->key);
	for (unsigned i = 0; i < s->n; i++)
		e->items[i] = cfg_opt_getnstr(opt, i);
	return store(e);
}

/* ------------------------------------------------------- libConfuse's tables */

/* A list of options that grows; CFG_END() is behind the last. */
struct opts {
	cfg_opt_t *item;
	size_t n, room;
};

/* False: no memory. */
static bool
add(struct fm_arena *mem, struct opts *to, cfg_opt_t opt)
{
	cfg_opt_t *more;

	if (to->n + 2 > to->room) {
		to->room = to->room > 0 ? 2 * to->room : 8;
		more = fm_arena_array(mem, to->room, cfg_opt_t);
		if (more == NULL)
			return false;
		if (to->n > 0)
			memcpy(more, to->item, to->n * sizeof(*more));
		to->item = more;
	}
	to->item[to->n++] = opt;
	to->item[to->n] = (cfg_opt_t)CFG_END();
	return true;
}

static bool
add_key(struct fm_arena *mem, struct opts *to, const char *name, bool is_list)
{
	return name == NULL ||
	    add(mem, to,
		is_list ? (cfg_opt_t)CFG_STR_LIST(name, NULL, CFGF_NODEFAULT)
			: (cfg_opt_t)CFG_STR(name, NULL, CFGF_NODEFAULT));
}

/* fattree "pods" { ... } and the like. */
static bool
add_titled(struct fm_arena *mem, struct opts *to, const char *name, const struct opts *sub)
{
	return add(mem, to,
	    (cfg_opt_t)CFG_SEC(name, sub->item, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES));
}

/* An engine under each of its names. */
static bool
add_engine(struct fm_arena *mem, struct opts *to, const struct engine_set *engines,
    const struct fm_engine *engine)
{
	struct option_table table = option_table_of(engine), entry = entry_option_table();
	const char *const *a = engine->aliases;
	const struct fm_option *row;
	struct opts sub = { 0 };
	bool ok = true;

	for (size_t i = 0; (row = option_row(&table, i)) != NULL; i++)
		ok &= add_key(mem, &sub, row->name, option_is_list(row));
	for (size_t i = 0; (row = option_row(&entry, i)) != NULL; i++)
		if (is_entry_key(engine, row->name))
			ok &= add_key(mem, &sub, row->name, option_is_list(row));
	ok = ok && add_titled(mem, to, engine->name, &sub);
	for (; ok && a != NULL && *a != NULL; a++)
		if (engine_find(engines, *a) == engine)
			ok = add_titled(mem, to, *a, &sub);
	return ok;
}

/* region "pods" { ... } and the like. */
static bool
add_section(struct fm_arena *mem, struct opts *to, const struct conf_section *section)
{
	struct opts sub = { 0 };
	bool ok = true;

	for (const struct conf_row *row = section->rows; row->option.type != FM_OPT_END; row++) {
		bool is_list = row->words || option_is_list(&row->option);

		ok = ok && add_key(mem, &sub, row->option.name, is_list) &&
		    add_key(mem, &sub, row->alias, is_list);
	}
	return ok && add_titled(mem, to, section->name, &sub);
}

/* A section of the daemon's without titles, unless it is there: first is the name, or the alias, of
 * a row in it. */
static bool
add_own_section(struct fm_arena *mem, struct opts *to, const char *first)
{
	size_t n = first != NULL ? conf_section_bytes(first) : 0;
	char *name = fm_arena_alloc(mem, n + 1);
	const struct conf_row *row;
	struct opts sub = { 0 };
	bool ok = name != NULL;

	if (!ok || n == 0)
		return ok;
	memcpy(name, first, n);
	for (size_t i = 0; i < to->n; i++)
		if (strcmp(to->item[i].name, name) == 0)
			return true;
	for (size_t i = 0; ok && (row = conf_row(i)) != NULL; i++) {
		if (strncmp(row->option.name, first, n + 1) == 0)
			ok = add_key(mem, &sub, row->option.name + n + 1, row->words);
		else if (row->alias != NULL && strncmp(row->alias, first, n + 1) == 0)
			ok = add_key(mem, &sub, row->alias + n + 1, row->words);
	}
	return ok && add(mem, to, (cfg_opt_t)CFG_SEC(name, sub.item, CFGF_NONE));
}

/* All keys and sections: the daemon's rows, each engine under each of its names.  NULL: no
 * memory. */
static cfg_opt_t *
all_opts(struct fm_arena *mem, const struct engine_set *engines)
{
	const struct conf_section *section;
	const struct conf_row *row;
	struct opts all = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && (row = conf_row(i)) != NULL; i++)
		if (conf_section_bytes(row->option.name) == 0)
			ok = add_key(mem, &all, row->option.name, row->words);
		else
			ok = add_own_section(mem, &all, row->option.name) &&
			    add_own_section(mem, &all, row->alias);
	for (size_t i = 0; ok && (section = conf_section(i)) != NULL; i++)
		ok = add_section(mem, &all, section);
	for (uint32_t i = 0; ok && i < engines->n_engines; i++)
		ok = add_engine(mem, &all, engines, engines->engines[i].engine);
	return ok ? all.item : NULL;
}

/* ---------------------------------------------------------------- one text */

/* What libConfuse itself finds wrong, for all that conf_scan() has left out. */
static _Thread_local char said[160];

static void __attribute__((format(printf, 2, 0))) on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	int n = snprintf(said, sizeof(said), "%d: ", cfg->line);

	vsnprintf(said + n, sizeof(said) - (size_t)n, fmt, ap);
}

/* A mistake in a value is noted, and the next one is stored. */
static int
store_all(struct conf_private *self, const char *path, cfg_t *cfg, const struct scanned *found,
    struct fm_error *err)
{
	struct entry e = { .self = self, .path = path, .err = err };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < found->settings.n; i++)
		if (store_setting(&e, cfg, &found->settings.item[i]) != 0)
			rc = conf_note(self, err);
	return rc;
}

static int
parse(struct conf_private *self, const char *path, cfg_opt_t *opts, const struct scanned *found,
    struct fm_error *err)
{
	cfg_t *cfg = cfg_init(opts, CFGF_NONE);
	int rc;

	if (cfg == NULL)
		return conf_out_of_memory(err);
	cfg_set_error_function(cfg, on_error);
	if (cfg_parse_buf(cfg, found->text) == CFG_SUCCESS) {
		rc = store_all(self, path, cfg, found, err);
	} else {
		fm_fail(err, FM_E_CONFIG, "%s:%s", path, said);
		rc = conf_note(self, err);
	}
	cfg_free(cfg);
	return rc;
}

int
conf_parse_text(
    struct conf_private *self, const char *path, const char *text, size_t n, struct fm_error *err)
{
	cfg_opt_t *opts = all_opts(&self->mem, self->engines);
	struct scanned found = { 0 };
	int rc;

	if (opts == NULL || conf_scan(self, path, opts, text, n, &found) != 0)
		rc = conf_out_of_memory(err);
	else
		rc = parse(self, path, opts, &found, err);
	fm_vec_fini(&found.settings);
	return rc;
}
