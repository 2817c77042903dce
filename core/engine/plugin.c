/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading engines with libltdl.
 *
 * The directories (folders.h) are gone through one after the other.  An
 * engine NAME is the file NAME.so exporting NAME_LTX_fm_engine; lt_dlsym()
 * adds the infix from the file's name, so a renamed file does not fit.
 *
 * Handles stay open as long as the set lives: descriptors, option tables and
 * help texts lie in the modules.
 *
 * An engine that is to run in a process of its own is never loaded here: children are
 * started for all such files of a folder, then asked what they have loaded.
 */
#include "config.h"

#include "core/engine/plugin.h"

#include <ltdl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/plugin_check.h"
#include "core/engine/auto.h"
#include "core/engine/folders.h"
#include "core/engine/plugin_image.h"
#include "core/text/suggest.h"
#include "lib/arena.h"
#include "lib/error.h"
#include "lib/vec.h"

struct engine_set_private {
	atomic_uint refs;
	struct fm_arena mem; /* paths */
	struct apart_settings apart;
	lt_dladvise advise;
	FM_VEC(lt_dlhandle) handles;
	FM_VEC(struct apart *) aparts;
	FM_VEC(struct engine_file) loading; /* of one folder: children that have not said yet */
	FM_VEC(struct engine_file) engines;
	FM_VEC(struct engine_refusal) refused;
};

/* ------------------------------------------------------------- one module */

static int
out_of_memory(struct fm_error *err)
{
	return fm_fail(err, FM_E_RESOURCE, "out of memory while loading engines");
}

static int
refuse(
    struct engine_set_private *self, const char *path, const char *sentence, struct fm_error *err)
{
	struct engine_refusal r = { .path = path };

	strncat(r.reason, sentence, sizeof(r.reason) - 1);
	return fm_vec_push(&self->refused, r) ? 0 : out_of_memory(err);
}

static const struct engine_file *
find_loaded(const struct engine_set_private *self, const char *name)
{
	for (size_t i = 0; i < self->engines.n; i++)
		if (strcmp(self->engines.item[i].engine->name, name) == 0)
			return &self->engines.item[i];
	return NULL;
}

/* Is e, found in path, one we take?  checked: engine_check() has seen it. */
static int
check_engine(struct engine_set_private *self, const struct fm_engine *e, const char *path,
    bool checked, struct fm_error *err)
{
	const char *base = plugin_base(path, &self->mem);
	const struct engine_file *twin;
	int rc;

	if (base == NULL)
		return out_of_memory(err);
	if (e == NULL)
		return fm_fail(
		    err, FM_E_CONFIG, "%s: it does not export %s_LTX_fm_engine", path, base);
	if (!checked && (rc = engine_check(e, path, err)) != 0)
		return rc;
	if (strcmp(e->name, base) != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: it calls itself '%s' (ABI %u.%u, this fmd %d.%d): .name and the file's "
		    "name must "
		    "be the same",
		    path, e->name, e->abi_major, e->abi_minor, FM_ABI_MAJOR, FM_ABI_MINOR);
	if ((twin = find_loaded(self, e->name)) != NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: a second engine '%s' (ABI %u.%u; the one of %s, ABI %u.%u, came first and "
		    "is "
		    "used): remove one of them",
		    path, e->name, e->abi_major, e->abi_minor, twin->path, twin->engine->abi_major,
		    twin->engine->abi_minor);
	return 0;
}

/* Into this process. */
static int
load_here(struct engine_set_private *self, const struct engine_file *file, struct fm_error *err)
{
	struct engine_file loaded = *file;
	struct fm_error bad;
	lt_dlhandle h;

	if (plugin_file_check_linking(file->path, &bad) != 0)
		return refuse(self, file->path, bad.msg, err);
	h = lt_dlopenadvise(file->path, self->advise);
	if (h == NULL) {
		fm_fail(&bad, FM_E_CONFIG, "%s: cannot be loaded: %s", file->path, lt_dlerror());
		return refuse(self, file->path, bad.msg, err);
	}
	loaded.engine = lt_dlsym(h, "fm_engine");
	if (check_engine(self, loaded.engine, file->path, false, &bad) != 0) {
		lt_dlclose(h);
		return refuse(self, file->path, bad.msg, err);
	}
	if (!fm_vec_push(&self->handles, h) || !fm_vec_push(&self->engines, loaded))
		return out_of_memory(err);
	return 0;
}

/* Into a child, which is asked later. */
static int
load_apart(struct engine_set_private *self, const struct engine_file *file, const char *base,
    int image, enum plugin_owner owner, struct fm_error *err)
{
	struct engine_file loading = *file;
	struct apart_settings apart = self->apart;
	struct fm_error bad;

	apart.must_hide = owner == PLUGIN_OF_OTHERS && apart.who != APART_UNHIDDEN;
	if (!apart_is_built()) {
		fm_fail(&bad, FM_E_CONFIG,
		    "%s: this fmd was built without libseccomp and runs no engines of others: "
		    "engine_isolation = none has them run in fmd itself",
		    file->path);
		return refuse(self, file->path, bad.msg, err);
	}
	if (!fm_vec_reserve(&self->aparts, self->aparts.n + 1) ||
	    !fm_vec_reserve(&self->loading, self->loading.n + 1))
		return out_of_memory(err);
	if (apart_new(&apart, base, file->path, image, &loading.apart, &bad) != 0)
		return refuse(self, file->path, bad.msg, err);
	self->aparts.item[self->aparts.n++] = loading.apart;
	self->loading.item[self->loading.n++] = loading;
	return 0;
}

static int
take_loaded(struct engine_set_private *self, struct engine_file *file, struct fm_error *err)
{
	struct fm_error bad;

	if (apart_describe(file->apart, &file->engine, &bad) != 0 ||
	    check_engine(self, file->engine, file->path, true, &bad) != 0)
		return refuse(self, file->path, bad.msg, err);
	return fm_vec_push(&self->engines, *file) ? 0 : out_of_memory(err);
}

static int
load_file(struct engine_set_private *self, const char *dir, const char *path,
    enum plugin_owner owner, struct fm_error *err)
{
	struct engine_file file = { .path = path };
	const char *base = plugin_base(path, &self->mem);
	struct plugin_image image;
	struct fm_error bad;
	int rc;

	if (base == NULL)
		return out_of_memory(err);
	if (plugin_image_read(dir, path, owner != PLUGIN_OF_BUILD_TREE, &image, &bad) != 0)
		return refuse(self, path, bad.msg, err);
	if (plugin_file_check(&plugin_engine, path, base, image.bytes, image.n_bytes, &bad) != 0)
		rc = refuse(self, path, bad.msg, err);
	else {
		file.mark = owner == PLUGIN_OF_OTHERS ? plugin_image_mark(&image) : 0;
		rc = plugin_runs_apart(self->apart.who, owner)
		    ? load_apart(self, &file, base, image.fd, owner, err)
		    : load_here(self, &file, err);
	}
	plugin_image_close(&image);
	return rc;
}

/* The engine that has this alias of another as its name, or NULL. */
static const struct engine_file *
find_namesake(const struct engine_set_private *self, const struct fm_engine *e, const char **alias)
{
	const struct engine_file *found = NULL;

	for (const char *const *a = e->aliases; found == NULL && a != NULL && *a != NULL; a++)
		if (strcmp(*a, e->name) != 0 && (found = find_loaded(self, *a)) != NULL)
			*alias = *a;
	return found;
}

/* Whoever came first: an alias never hides behind a name. */
static int
refuse_aliases(struct engine_set_private *self, struct fm_error *err)
{
	for (size_t i = 0; i < self->engines.n;) {
		const struct engine_file *file = &self->engines.item[i], *other;
		const char *alias = "";
		struct fm_error bad;

		other = find_namesake(self, file->engine, &alias);
		if (other == NULL) {
			i++;
			continue;
		}
		fm_fail(&bad, FM_E_CONFIG,
		    "%s: its alias '%s' is the name of the engine of %s: take another", file->path,
		    alias, other->path);
		if (refuse(self, file->path, bad.msg, err) != 0)
			return FM_E_RESOURCE;
		self->engines.n--;
		memmove(&self->engines.item[i], &self->engines.item[i + 1],
		    (self->engines.n - i) * sizeof(*file));
	}
	return 0;
}

/* ------------------------------------------------------------ directories */

static int
load_names(
    struct engine_set_private *self, const struct plugin_folder *folder, struct fm_error *err)
{
	struct plugin_files files = { 0 };
	int rc = plugin_files(folder->path, &self->mem, &files, err);

	for (size_t i = 0; rc == 0 && i < files.list.n; i++)
		rc = load_file(self, folder->path, files.list.item[i], folder->owner, err);
	fm_vec_fini(&files.list);
	for (size_t i = 0; rc == 0 && i < self->loading.n; i++)
		rc = take_loaded(self, &self->loading.item[i], err);
	self->loading.n = 0;
	return rc;
}

/* A folder that others can write into is refused as a whole. */
static int
load_folder(
    struct engine_set_private *self, const struct plugin_folder *folder, struct fm_error *err)
{
	struct fm_error bad;

	if (folder->owner != PLUGIN_OF_BUILD_TREE && plugin_folder_check(folder->path, &bad) != 0)
		return refuse(self, folder->path, bad.msg, err);
	return load_names(self, folder, err);
}

static int
load_all(struct engine_set_private *self, const char *const *dirs, struct fm_error *err)
{
	struct plugin_folders folders = { 0 };
	int rc = plugin_folders(dirs, &self->mem, &folders, err);

	for (size_t i = 0; rc == 0 && i < folders.list.n; i++)
		rc = load_folder(self, &folders.list.item[i], err);
	fm_vec_fini(&folders.list);
	return rc;
}

/* -------------------------------------------------------------- the set */

static int
by_name(const void *a, const void *b)
{
	const struct engine_file *x = a, *y = b;

	return strcmp(x->engine->name, y->engine->name);
}

int
engine_set_load(struct engine_set *set, const char *const *dirs, struct fm_error *err)
{
	return engine_set_load_apart(set, dirs, &APART_NOTHING, err);
}

int
engine_set_load_apart(struct engine_set *set, const char *const *dirs,
    const struct apart_settings *apart, struct fm_error *err)
{
	struct engine_set_private *self = calloc(1, sizeof(*self));
	const struct engine_file built_in = { .engine = &auto_engine, .path = "built in" };
	int rc;

	memset(set, 0, sizeof(*set));
	if (self == NULL)
		return out_of_memory(err);
	if (lt_dlinit() != 0) {
		free(self);
		return fm_fail(err, FM_E_SYSTEM, "libltdl does not start: %s", lt_dlerror());
	}
	set->self = self;
	atomic_init(&self->refs, 1);
	self->apart = *apart;
	fm_arena_init(&self->mem, SIZE_MAX);
	if (lt_dladvise_init(&self->advise) != 0 || lt_dladvise_local(&self->advise) != 0)
		rc = fm_fail(err, FM_E_SYSTEM, "libltdl does not start: %s", lt_dlerror());
	else if (!fm_vec_push(&self->engines, built_in))
		rc = out_of_memory(err);
	else
		rc = load_all(self, dirs, err);
	if (rc == 0)
		rc = refuse_aliases(self, err);
	if (rc != 0) {
		engine_set_fini(set);
		return rc;
	}
	if (self->engines.n > 1)
		qsort(self->engines.item, self->engines.n, sizeof(*self->engines.item), by_name);
	set->engines = self->engines.item;
	set->n_engines = (uint32_t)self->engines.n;
	set->refused = self->refused.item;
	set->n_refused = (uint32_t)self->refused.n;
	return 0;
}

void
engine_set_fini(struct engine_set *set)
{
	struct engine_set_private *self = set->self;

	memset(set, 0, sizeof(*set));
	if (self == NULL || atomic_fetch_sub(&self->refs, 1) != 1)
		return;
	for (size_t i = 0; i < self->handles.n; i++)
		lt_dlclose(self->handles.item[i]);
	for (size_t i = 0; i < self->aparts.n; i++)
		apart_free(self->aparts.item[i]);
	fm_vec_fini(&self->handles);
	fm_vec_fini(&self->aparts);
	fm_vec_fini(&self->loading);
	fm_vec_fini(&self->engines);
	fm_vec_fini(&self->refused);
	fm_arena_fini(&self->mem);
	lt_dladvise_destroy(&self->advise);
	lt_dlexit();
	free(self);
}

void
engine_set_copy(struct engine_set *to, const struct engine_set *from)
{
	*to = *from;
	if (to->self != NULL)
		atomic_fetch_add(&to->self->refs, 1);
}

const struct engine_file *
engine_file_of(const struct engine_set *set, const struct fm_engine *engine)
{
	for (uint32_t i = 0; i < set->n_engines; i++)
		if (set->engines[i].engine == engine)
			return &set->engines[i];
	return NULL;
}

const struct fm_engine *
engine_find(const struct engine_set *set, const char *name)
{
	for (uint32_t i = 0; i < set->n_engines; i++)
		if (strcmp(set->engines[i].engine->name, name) == 0)
			return set->engines[i].engine;
	for (uint32_t i = 0; i < set->n_engines; i++) {
		const char *const *a = set->engines[i].engine->aliases;

		for (; a != NULL && *a != NULL; a++)
			if (strcmp(*a, name) == 0)
				return set->engines[i].engine;
	}
	return NULL;
}

const char *
engine_nearest(const struct engine_set *set, const char *name)
{
	struct suggestion s;

	suggest_init(&s, name);
	for (uint32_t i = 0; i < set->n_engines; i++) {
		const char *const *a = set->engines[i].engine->aliases;

		suggest_offer(&s, set->engines[i].engine->name);
		for (; a != NULL && *a != NULL; a++)
			suggest_offer(&s, *a);
	}
	return suggest_best(&s);
}
