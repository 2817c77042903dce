/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From files to struct conf.
 *
 *	fmd.conf, conf.d --scan--> conf_parse_text() --> option_values
 *	command line -------------------------------------/    |
 *	                                        resolve: struct conf
 *
 * Everything is read aside; a mistake anywhere throws the whole away.
 */
#include "config.h"

#include "core/conf/conf.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/conf_private.h"
#include "core/opensm/opensm.h"
#include "core/overlay/rchain.h"
#include "core/text/number.h"
#include "core/text/readfile.h"
#include "lib/error.h"
#include "lib/log.h"

#define DEFAULT_PATH SYSCONF_DIR "/fmd/fmd.conf"

/* ---------------------------------------------------------------- one file */

/* source: the file may be of OpenSM's form; NULL: it may not. */
static int
parse_file(struct conf_private *self, const struct conf_source *source, const char *path,
    struct fm_error *err)
{
	const char *bytes;
	size_t n;
	int rc;

	path = fm_arena_strdup(&self->mem, path);
	if (path == NULL)
		return conf_out_of_memory(err);
	if ((rc = conf_read_file(path, &self->mem, &bytes, &n, err)) != 0)
		return conf_note(self, err);
	if (source != NULL && opensm_is_form(bytes, n))
		return conf_parse_opensm(self, source, path, bytes, n, err);
	return conf_parse_text(self, path, bytes, n, err);
}

static int
is_conf(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && d->d_name[0] != '.' && strcmp(d->d_name + n - 5, ".conf") == 0;
}

static int
by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* conf.d beside the main file; it may be absent. */
static int
parse_conf_d(struct conf_private *self, const char *main_path, struct fm_error *err)
{
	const char *slash = strrchr(main_path, '/');
	char dir[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
	struct dirent **names;
	int n, rc = 0;

	snprintf(dir, sizeof(dir), "%.*sconf.d", slash != NULL ? (int)(slash + 1 - main_path) : 0,
	    main_path);
	n = scandir(dir, &names, is_conf, by_bytes);
	if (n < 0 && errno == ENOENT)
		return 0;
	if (n < 0) {
		fm_fail(err, FM_E_CONFIG, "%s: %s", dir, strerror(errno));
		return conf_note(self, err);
	}
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		free(names[i]);
		if (rc == 0)
			rc = parse_file(self, NULL, path, err);
	}
	free(names);
	return rc;
}

static int
read_all(struct conf_private *self, const struct conf_source *source, struct fm_error *err)
{
	const char *path = source->path != NULL ? source->path : DEFAULT_PATH;
	bool none = strcmp(path, "none") == 0;
	FILE *probe = source->path == NULL ? fopen(path, "r") : NULL;
	bool absent = source->path == NULL && probe == NULL && errno == ENOENT;
	int rc = 0;

	if (probe != NULL)
		fclose(probe);
	if (!absent && !none)
		rc = parse_file(self, source, path, err);
	if (rc == 0 && !none)
		rc = parse_conf_d(self, path, err);
	if (rc == 0)
		rc = conf_take_opensm_options(self, source, err);
	for (size_t i = 0; rc == 0 && i < source->n_overrides; i++) {
		const struct conf_override *o = &source->overrides[i];

		rc = conf_set(self, self->own, conf_row(0), o->key, o->items, o->n_items,
		    &(struct option_origin){ .all = self->all }, err);
		rc = rc != 0 ? conf_note(self, err) : 0;
	}
	return rc;
}

/* --------------------------------------------------------------- resolving */

static int
resolve_socket(struct conf_private *self, struct fm_error *err)
{
	struct conf_daemon *d = &self->conf->daemon;
	bool moved = option_values_origin(self->own, "state_dir") != NULL;
	const char *dir = moved ? d->state_dir : RUN_DIR;
	size_t bytes = strlen(dir) + sizeof("/fmd.sock");
	char *path;

	if (*d->control_socket != '\0')
		return 0;
	path = fm_arena_alloc(&self->mem, bytes);
	if (path == NULL)
		return conf_out_of_memory(err);
	snprintf(path, bytes, "%s/fmd.sock", dir);
	d->control_socket = path;
	return 0;
}

/* The default chain may name engines that are not installed; a written one not. */
static int
resolve_chain(struct conf_private *self, struct fm_error *err)
{
	const struct option_origin *at = option_values_origin(self->own, "chain");
	struct conf_routing *r = &self->conf->routing;
	char where[200];

	if (at != NULL && at->file != NULL && at->line == 0) /* an empty list */
		snprintf(where, sizeof(where), "%.150s: chain", at->file);
	else if (at != NULL && at->file != NULL)
		snprintf(where, sizeof(where), "%.150s:%u: chain", at->file, at->line);
	else
		snprintf(where, sizeof(where), "%s", at != NULL ? "command line: chain" : "chain");
	return conf_resolve_chain(self, r->chain_text, at != NULL, where, &r->chain, err);
}

static int
add_allowed_sm(struct conf_sm *sm, uint64_t *guids, const char *word, struct fm_error *err)
{
	uint64_t guid;

	if (!number_parse(word, &guid) || guid == 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%.40s is no port GUID: write it as in 0x0002c903000abcd1", word);
	for (uint32_t i = 0; i < sm->n_allowed; i++)
		if (guids[i] == guid)
			return fm_fail(
			    err, FM_E_CONFIG, "%.40s stands there twice: once is enough", word);
	guids[sm->n_allowed++] = guid;
	return 0;
}

static int
resolve_allowed_sms(struct conf_private *self, struct fm_error *err)
{
	struct conf_sm *sm = &self->conf->sm;
	const char *at = sm->allowed_guids_text, *word;
	uint64_t *guids = fm_arena_array(&self->mem, strlen(at) / 2 + 1, uint64_t);

	if (guids == NULL)
		return conf_out_of_memory(err);
	while ((word = conf_next_word(&self->mem, &at)) != NULL)
		if (conf_note_own(
			self, "allowed_sm_guids", add_allowed_sm(sm, guids, word, err), err) != 0)
			return (int)err->kind;
	sm->allowed = guids;
	return 0;
}

static void
warn_unused(const struct conf_private *self)
{
	for (size_t i = 0; i < self->instances.n; i++) {
		const struct instance *s = &self->instances.item[i];

		if (!s->used && *s->title != '\0')
			log_warn("conf", "%s:%u: the section %s \"%s\" is in no chain", s->file,
			    s->line, s->engine->name, s->title);
	}
}

/* Each step goes on behind the mistakes of those before. */
static int
resolve(struct conf_private *self, struct fm_error *err)
{
	static int (*const steps[])(struct conf_private *,
	    struct fm_error *) = { conf_resolve_groups, resolve_chain, conf_resolve_regions,
		conf_check_steps, conf_resolve_vfabrics, conf_resolve_policies, resolve_socket,
		resolve_allowed_sms, conf_check_daemon, conf_check_links, conf_resolve_local_port };
	struct option_table table = conf_option_table();
	int rc = option_values_store(&table, self->own, NULL, &self->mem, self->conf, err);

	self->conf->ar.algorithm %= CONF_AR_GREEDY_RANDOM + 1;
	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i](self, err) != 0)
			rc = conf_note(self, err);
	return rc;
}

/* --------------------------------------------------------------- life time */

static void
conf_free(struct conf_private *self)
{
	if (self->conf != NULL)
		conf_drop_policies(self->conf);
	if (self->rchain != NULL)
		rchain_fini(self->rchain);
	fm_vec_fini(&self->instances);
	fm_vec_fini(&self->titled);
	fm_arena_fini(&self->mem);
	engine_set_fini(&self->held);
	free(self);
}

/* NULL: no memory. */
static struct conf_private *
conf_new(const struct engine_set *engines)
{
	struct conf_private *self = calloc(1, sizeof(*self));
	struct option_table table = conf_option_table();

	if (self == NULL)
		return NULL;
	fm_arena_init(&self->mem, SIZE_MAX);
	atomic_init(&self->refs, 1);
	engine_set_copy(&self->held, engines);
	self->engines = &self->held;
	self->conf = fm_arena_alloc(&self->mem, sizeof(*self->conf));
	self->own = option_values_new(&self->mem, &table, "");
	if (self->conf == NULL || self->own == NULL) {
		conf_free(self);
		return NULL;
	}
	self->conf->self = self;
	return self;
}

/* The first mistake, for who tells one sentence. */
static int
tell_first(const struct mistakes *all, struct fm_error *err)
{
	const char *first = all->n > 0 ? all->sentence[0] : "out of memory";

	if (mistakes_count(all) <= 1)
		return fm_fail(err, FM_E_CONFIG, "%s", first);
	return fm_fail(
	    err, FM_E_CONFIG, "%.200s (the first of %zu mistakes)", first, mistakes_count(all));
}

int
conf_load_all(const struct conf_source *source, const struct engine_set *engines,
    struct mistakes *all, struct conf **out, struct fm_error *err)
{
	struct conf_private *self = conf_new(engines);
	size_t before = mistakes_count(all);
	int rc;

	if (self == NULL)
		return conf_out_of_memory(err);
	self->all = all;
	rc = read_all(self, source, err);
	if (rc == 0)
		rc = resolve(self, err);
	if (rc == 0 && mistakes_count(all) > before)
		rc = tell_first(all, err);
	if (rc != 0) {
		conf_free(self);
		return rc;
	}
	self->all = self->groups.all = NULL;
	warn_unused(self);
	conf_warn_keys(self);
	*out = self->conf;
	return 0;
}

int
conf_load(const struct conf_source *source, const struct engine_set *engines, struct conf **out,
    struct fm_error *err)
{
	struct mistakes all = { 0 };
	int rc = conf_load_all(source, engines, &all, out, err);

	for (size_t i = 0; all.n > 1 && i < all.n; i++)
		log_err("conf", "%s", all.sentence[i]);
	mistakes_fini(&all);
	return rc;
}

void
conf_peek_isolation(const struct conf_source *source, struct apart_settings *set)
{
	const struct engine_set none = { 0 };
	struct conf_private *self = conf_new(&none);
	struct mistakes all = { 0 };
	struct fm_error err;

	*set = (struct apart_settings){ .who = APART_FOREIGN,
		.memory_bytes = (size_t)APART_MEMORY_MIB << 20,
		.load_ms = APART_LOAD_MS };
	if (self == NULL)
		return;
	self->peeks = true;
	self->all = &all;
	if (read_all(self, source, &err) == 0 && mistakes_count(&all) == 0) {
		set->who = (enum apart_who)option_values_number(
		    self->own, "engine_isolation", APART_FOREIGN);
		set->memory_bytes =
		    (size_t)option_values_number(self->own, "engine_memory", APART_MEMORY_MIB)
		    << 20;
	}
	mistakes_fini(&all);
	conf_free(self);
}

struct conf *
conf_get(struct conf *c)
{
	atomic_fetch_add(&c->self->refs, 1);
	return c;
}

void
conf_put(struct conf *c)
{
	if (c != NULL && atomic_fetch_sub(&c->self->refs, 1) == 1)
		conf_free(c->self);
}
