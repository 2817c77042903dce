/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One configuration text through libConfuse.
 *
 * libConfuse does the grammar only, of a text that conf_scan() has freed of mistakes: every key
 * is a string or a list of strings to it, and goes into the value store from its callback, where
 * the line is known.  Its own tree is thrown away.  The callbacks take no
 * argument, hence the one pointer per thread to the parse under way.
 */
#include "config.h"

#include <confuse.h>
#include <stdio.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/conf/conf_private.h"
#include "lib/error.h"
#include "lib/log.h"

/* One item of a list: of which key, and where. */
struct item {
	const cfg_opt_t *opt;
	unsigned line;
};

struct parse {
	struct conf_private *self;
	const char *path;
	FM_VEC(struct item) items; /* of lists, as they are read */
	struct fm_error *err;
	bool failed;
};

/* What a list holds until it is written, so that { } is told from absence. */
#define UNSET "\001unset"

static _Thread_local struct parse *current;

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

/* --------------------------------------------------- libConfuse's callbacks */

/* One item was read: note its line.*/
static int
on_item(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result)
{
	const char **to = result;
	struct item item = { opt, (unsigned)cfg->line };

	*to = text;
	if (current == NULL || (opt->flags & CFGF_LIST) == 0 || strcmp(text, UNSET) == 0)
		return 0;
	if (fm_vec_push(&current->items, item))
		return 0;
	conf_out_of_memory(current->err);
	current->failed = true;
	return -1;
}

/* Is it a key of all engines' sections, which this engine does not have itself? */
static bool
is_entry_key(const struct fm_engine *engine, const char *key)
{
	struct option_table own = option_table_of(engine), entry = entry_option_table();

	return option_find(&own, key) == NULL && option_find(&entry, key) != NULL;
}

/* Where a key of this section goes, and the daemon's rows it is one of: NULL for
 * an engine's. */
static struct option_values *
values_of(cfg_t *cfg, const char *key, const struct conf_row **rows)
{
	const struct conf_section *section = conf_section_find(cfg_name(cfg));
	const struct fm_engine *engine = engine_find(current->self->engines, cfg_name(cfg));
	struct instance *i;
	struct titled *t;

	*rows = conf_row(0);
	if (cfg_title(cfg) == NULL || (section == NULL && engine == NULL))
		return current->self->own;
	if (section != NULL) {
		*rows = section->rows;
		t = need_titled(current->self, section, cfg_title(cfg));
		return t != NULL ? t->values : NULL;
	}
	*rows = NULL;
	i = conf_need_instance(current->self, engine, cfg_title(cfg));
	if (i == NULL)
		return NULL;
	return is_entry_key(engine, key) ? i->entry : i->values;
}

/* A mistake in a value is noted, and reading goes on. */
static int
note(int rc)
{
	if (rc == 0 || conf_note(current->self, current->err) == 0)
		return 0;
	current->failed = true;
	return -1;
}

static int
refuse_second(const char *key, unsigned line, const struct option_origin *first)
{
	return fm_fail(current->err, FM_E_CONFIG,
	    "%s:%u: %s is set twice, first in line %u: keep one of them", current->path, line, key,
	    first->line);
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
own_name(cfg_t *cfg, const char *key)
{
	const struct conf_row *row;

	for (size_t i = 0; (row = conf_row(i)) != NULL; i++)
		if (is_key_of(row->option.name, cfg_name(cfg), key) ||
		    is_key_of(row->alias, cfg_name(cfg), key))
			return row->option.name;
	return key;
}

/* The same in a section with a title, where the other word is told of. */
static const char *
titled_name(cfg_t *cfg, const struct conf_row *rows, const char *key, unsigned line)
{
	for (const struct conf_row *row = rows; row->option.type != FM_OPT_END; row++) {
		if (row->alias == NULL || strcmp(row->alias, key) != 0)
			continue;
		log_warn("conf", "%s:%u: %s %s: %s is taken for %s, which is what fmd calls it",
		    current->path, line, cfg_name(cfg), cfg_title(cfg), key, row->option.name);
		return row->option.name;
	}
	return key;
}

/* Put a key with its items into the store. */
static int
keep(cfg_t *cfg, const char *key, const char *const *items, size_t n, const unsigned *lines)
{
	const struct conf_row *rows;
	struct option_values *values = values_of(cfg, key, &rows);
	struct option_origin origin = { current->path, n > 0 ? lines[0] : 0, lines,
		current->self->all };
	const struct option_origin *old;

	if (values == NULL)
		return conf_out_of_memory(current->err);
	if (values == current->self->own)
		key = own_name(cfg, key);
	else if (rows != NULL)
		key = titled_name(cfg, rows, key, origin.line);
	old = option_values_origin(values, key);
	if (old != NULL && old->file == current->path)
		return refuse_second(key, origin.line, old);
	if (rows != NULL)
		return conf_set(current->self, values, rows, key, items, n, &origin, current->err);
	return option_values_set(values, key, items, n, &origin, current->err);
}

/* A single value is complete. */
static int
on_value(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *text = cfg_opt_getnstr(opt, 0);
	unsigned line = (unsigned)cfg->line;

	return note(keep(cfg, opt->name, &text, 1, &line));
}

static int
keep_list(cfg_t *cfg, cfg_opt_t *opt)
{
	unsigned n = cfg_opt_size(opt), n_items = 0, n_seen = 0;
	const char **items = fm_arena_array(&current->self->mem, n + 1, const char *);
	unsigned *lines = fm_arena_array(&current->self->mem, n + 1, unsigned);

	if (items == NULL || lines == NULL)
		return conf_out_of_memory(current->err);
	for (unsigned i = 0; i < n; i++)
		if (strcmp(cfg_opt_getnstr(opt, i), UNSET) != 0)
			items[n_items++] = cfg_opt_getnstr(opt, i);
	if (n_items == 0 && n > 0)
		return 0;
	for (size_t i = 0; i < current->items.n; i++) {
		if (current->items.item[i].opt != opt)
			continue;
		if (n_seen == n_items) /* these were read before and replaced */
			return refuse_second(opt->name, current->items.item[i].line,
			    &(struct option_origin){ .line = lines[0] });
		lines[n_seen++] = current->items.item[i].line;
	}
	return keep(cfg, opt->name, items, n_items, lines);
}

/* The lists of a section, or of the file: libConfuse tells of every item, but
 * not of the end of a list. */
static int
keep_lists(cfg_t *cfg)
{
	int rc = 0;

	for (cfg_opt_t *opt = cfg->opts; rc == 0 && opt->name != NULL; opt++)
		if (opt->type == CFGT_STR && (opt->flags & CFGF_LIST) != 0)
			rc = note(keep_list(cfg, opt));
	return rc;
}

/* A section that the daemon knows by titles is complete. */
static int
on_titled(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct titled *t =
	    need_titled(current->self, conf_section_find(opt->name), cfg_title(section));

	if (t == NULL) {
		conf_out_of_memory(current->err);
		current->failed = true;
		return -1;
	}
	t->file = current->path;
	t->line = (unsigned)cfg->line;
	return keep_lists(section) == 0 ? 0 : -1;
}

/* A section of an engine is complete: it counts though it be empty. */
static int
on_section(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	const struct fm_engine *engine = engine_find(current->self->engines, opt->name);
	struct instance *i = conf_need_instance(current->self, engine, cfg_title(section));

	if (i == NULL) {
		conf_out_of_memory(current->err);
		current->failed = true;
		return -1;
	}
	i->file = current->path;
	i->line = (unsigned)cfg->line;
	return keep_lists(section) == 0 ? 0 : -1;
}

/* What libConfuse itself finds wrong, for all that conf_scan() has left out. */
static void __attribute__((format(printf, 2, 0))) on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	char message[160];

	if (current == NULL || current->failed)
		return;
	current->failed = true;
	vsnprintf(message, sizeof(message), fmt, ap);
	fm_fail(current->err, FM_E_CONFIG, "%s:%d: %s", current->path, cfg->line, message);
	(void)conf_note(current->self, current->err);
}

/* ------------------------------------------------------- libConfuse's tables */

static cfg_opt_t
key_opt(const char *name, bool list)
{
	cfg_opt_t opt = CFG_STR((char *)(uintptr_t)name, NULL, CFGF_NODEFAULT);

	if (list)
		opt = (cfg_opt_t)CFG_STR_LIST(
		    (char *)(uintptr_t)name, (char *)(uintptr_t) "{\"" UNSET "\"}", CFGF_NONE);
	else
		opt.validcb = on_value;
	opt.parsecb = on_item;
	return opt;
}

/* The keys of one engine's section. */
static cfg_opt_t *
engine_opts(struct fm_arena *mem, const struct fm_engine *engine)
{
	struct option_table table = option_table_of(engine), entry = entry_option_table();
	const struct fm_option *row;
	size_t n = 0, n_entry = 0, k = 0;
	cfg_opt_t *opts;

	while (option_row(&table, n) != NULL)
		n++;
	while (option_row(&entry, n_entry) != NULL)
		n_entry++;
	opts = fm_arena_array(mem, n + n_entry + 1, cfg_opt_t);
	if (opts == NULL)
		return NULL;
	for (size_t i = 0; (row = option_row(&table, i)) != NULL; i++)
		opts[k++] = key_opt(row->name, option_is_list(row));
	for (size_t i = 0; (row = option_row(&entry, i)) != NULL; i++)
		if (is_entry_key(engine, row->name))
			opts[k++] = key_opt(row->name, option_is_list(row));
	opts[k] = (cfg_opt_t)CFG_END();
	return opts;
}

static bool
add_section(struct fm_arena *mem, cfg_opt_t *opt, const char *name, const struct fm_engine *engine)
{
	cfg_opt_t *sub = engine_opts(mem, engine);

	*opt = (cfg_opt_t)CFG_SEC(
	    (char *)(uintptr_t)name, sub, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES);
	opt->validcb = on_section;
	return sub != NULL;
}

/* region "pods" { ... } and the like. */
static bool
add_titled(struct fm_arena *mem, cfg_opt_t *opt, const struct conf_section *section)
{
	size_t n = 0;
	cfg_opt_t *sub;

	for (const struct conf_row *row = section->rows; row->option.type != FM_OPT_END; row++)
		n += row->alias != NULL ? 2 : 1;
	sub = fm_arena_array(mem, n + 1, cfg_opt_t);
	if (sub == NULL)
		return false;
	n = 0;
	for (const struct conf_row *row = section->rows; row->option.type != FM_OPT_END; row++) {
		bool is_list = row->words || option_is_list(&row->option);

		sub[n++] = key_opt(row->option.name, is_list);
		if (row->alias != NULL)
			sub[n++] = key_opt(row->alias, is_list);
	}
	sub[n] = (cfg_opt_t)CFG_END();
	*opt = (cfg_opt_t)CFG_SEC(
	    (char *)(uintptr_t)section->name, sub, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES);
	opt->validcb = on_titled;
	return true;
}

/* A section of the daemon's, by the name or by the alias of its first row. */
static bool
add_own_section(struct fm_arena *mem, cfg_opt_t *opt, const char *first)
{
	size_t n = conf_section_bytes(first), n_rows = 0, k = 0;
	char *name = fm_arena_alloc(mem, n + 1);
	const struct conf_row *row;
	cfg_opt_t *sub;

	while (conf_row(n_rows) != NULL)
		n_rows++;
	sub = fm_arena_array(mem, n_rows + 1, cfg_opt_t);
	if (name == NULL || sub == NULL)
		return false;
	memcpy(name, first, n);
	for (size_t i = 0; (row = conf_row(i)) != NULL; i++) {
		if (strncmp(row->option.name, first, n + 1) == 0)
			sub[k++] = key_opt(row->option.name + n + 1, row->words);
		else if (row->alias != NULL && strncmp(row->alias, first, n + 1) == 0)
			sub[k++] = key_opt(row->alias + n + 1, row->words);
	}
	sub[k] = (cfg_opt_t)CFG_END();
	*opt = (cfg_opt_t)CFG_SEC(name, sub, CFGF_NONE);
	return true;
}

static bool
is_added(const cfg_opt_t *opts, size_t n, const char *first)
{
	size_t bytes = conf_section_bytes(first);

	for (size_t i = 0; i < n; i++)
		if (strncmp(opts[i].name, first, bytes) == 0 && opts[i].name[bytes] == '\0')
			return true;
	return false;
}

/* The daemon's keys, and its sections under each of their names; how many, or 0. */
static size_t
own_opts(struct fm_arena *mem, cfg_opt_t *opts)
{
	const struct conf_row *row;
	size_t k = 0;

	for (size_t i = 0; (row = conf_row(i)) != NULL; i++) {
		const char *names[] = { row->option.name, row->alias };

		if (conf_section_bytes(row->option.name) == 0)
			opts[k++] = key_opt(row->option.name, row->words);
		else
			for (unsigned a = 0; a < 2; a++)
				if (names[a] != NULL && !is_added(opts, k, names[a]) &&
				    !add_own_section(mem, &opts[k++], names[a]))
					return 0;
	}
	return k;
}

/* All keys and sections: the daemon's rows, each engine under each of its names. */
static cfg_opt_t *
all_opts(struct fm_arena *mem, const struct engine_set *engines)
{
	size_t n = 1, n_sections = 0, k = 0;
	cfg_opt_t *opts;

	while (conf_row(n - 1) != NULL)
		n++;
	n *= 2; /* a section may have two names */
	while (conf_section(n_sections) != NULL)
		n_sections++;
	n += n_sections;
	for (uint32_t i = 0; i < engines->n_engines; i++) {
		const char *const *a = engines->engines[i].engine->aliases;

		for (n++; a != NULL && *a != NULL; a++)
			n++;
	}
	opts = fm_arena_array(mem, n, cfg_opt_t);
	if (opts == NULL || (k = own_opts(mem, opts)) == 0)
		return NULL;
	for (size_t i = 0; i < n_sections; i++)
		if (!add_titled(mem, &opts[k++], conf_section(i)))
			return NULL;
	for (uint32_t i = 0; i < engines->n_engines; i++) {
		const struct fm_engine *e = engines->engines[i].engine;

		if (!add_section(mem, &opts[k++], e->name, e))
			return NULL;
		for (const char *const *a = e->aliases; a != NULL && *a != NULL; a++)
			if (engine_find(engines, *a) == e && !add_section(mem, &opts[k++], *a, e))
				return NULL;
	}
	opts[k] = (cfg_opt_t)CFG_END();
	return opts;
}

/* ---------------------------------------------------------------- one text */

static int
parse(struct conf_private *self, const char *path, const char *text, cfg_opt_t *opts,
    struct fm_error *err)
{
	struct parse p = { .self = self, .path = path, .err = err };
	cfg_t *cfg = cfg_init(opts, CFGF_NONE);
	int rc;

	if (cfg == NULL)
		return conf_out_of_memory(err);
	cfg_set_error_function(cfg, on_error);
	current = &p;
	rc = cfg_parse_buf(cfg, text);
	if (rc == CFG_SUCCESS && !p.failed)
		keep_lists(cfg);
	current = NULL;
	cfg_free(cfg);
	fm_vec_fini(&p.items);
	if (p.failed)
		return conf_note(self, err);
	return rc == CFG_SUCCESS ? 0 : fm_fail(err, FM_E_CONFIG, "%s: cannot be parsed", path);
}

int
conf_parse_text(
    struct conf_private *self, const char *path, const char *text, size_t n, struct fm_error *err)
{
	cfg_opt_t *opts = all_opts(&self->mem, self->engines);
	char *clean;

	if (opts == NULL || conf_scan(self, path, opts, text, n, &clean) != 0)
		return conf_out_of_memory(err);
	return parse(self, path, clean, opts, err);
}
